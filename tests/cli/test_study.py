"""Study files that are written, checked as written, and plans that are written to files."""

from __future__ import annotations

from pathlib import Path

import pytest

from earwitness.studies.trials import KINDS
from helpers.command_line import run


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_study_passes_its_check_as_written(kind: str, tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    made = run("study", "new", kind, "-o", study)
    assert made == (0, "", f"wrote {study}\n")
    assert study.read_text() == run("study", "new", kind).stdout
    checked = run("study", "check", study)
    assert checked.returncode == 0, checked.stderr
    assert "note: clips.csv does not exist yet — the plan assumes " in checked.stderr
    assert ("captions.csv does not exist yet" in checked.stderr) == (kind == "rubric")
    assert KINDS[kind].title in checked.stdout or kind in checked.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["study.yaml"]


def test_a_study_file_is_not_overwritten(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text("title: mine\n")
    done = run("study", "new", "-o", study)
    assert done.returncode == 2
    assert done.stderr == f"earwitness: {study} already exists — choose another file\n"
    assert study.read_text() == "title: mine\n"


def test_only_the_check_works_without_the_table_of_clips(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    run("study", "new", "-o", study)
    done = run("study", "design", study, "-o", tmp_path / "design")
    assert done.returncode == 2
    assert "clips.csv" in done.stderr
    assert not (tmp_path / "design").exists()


def test_a_missing_table_is_an_error_where_files_are_named(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    text = run("study", "new").stdout.replace("# files:", "files:")
    study.write_text(text)
    done = run("study", "check", study)
    assert done.returncode == 2
    assert "clips.csv" in done.stderr


def test_the_plan_goes_to_a_file_in_the_format_of_its_ending(tmp_path: Path) -> None:
    study, page = tmp_path / "study.yaml", tmp_path / "plan.html"
    run("study", "new", "ab", "-o", study)
    done = run("study", "check", study, "-o", page)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert done.stderr.endswith(f"wrote {page}\n")
    assert page.read_text().startswith("<!DOCTYPE html>")
