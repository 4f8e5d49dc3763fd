"""The study file, and what is written from it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from earwitness.api.studies import rows, study_design, study_render, study_write
from earwitness.cli.group import group
from earwitness.errors import InputError, UsageError
from earwitness.formats.study import read_study
from earwitness.listening.kinds import KINDS

FILE = """\
title: Denoising
kind: p835
seed: 3
systems: [C0, C1, C2]
material: clips.csv
balance:
  categories: [place]
  numbers: [snr]
listeners: 4
panels: 2
clips: 6
sessions: 2
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    lines = ["name,seconds,place,snr"]
    lines += [f"clip{n},{4 + n / 10},{'kitchen' if n % 2 else 'hall'},{n}" for n in range(14)]
    (tmp_path / "clips.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "study.yaml").write_text(FILE)
    return tmp_path / "study.yaml"


def problems(study: Path) -> str:
    with pytest.raises(InputError) as error:
        read_study(study)
    return str(error.value).replace(f"{study.parent}/", "")


def test_a_study_is_read_with_defaults_and_a_digest(study: Path) -> None:
    found = read_study(study)
    assert (found.title, found.kind, found.systems) == ("Denoising", "p835", ("C0", "C1", "C2"))
    assert (found.rest_minutes, found.rating_seconds) == (5, 4)
    assert found.material[3].covariates == {"place": "kitchen", "snr": 3.0}
    study.write_text("# a comment\n" + FILE)
    assert read_study(study).digest == found.digest
    study.write_text(FILE.replace("seed: 3", "seed: 4"))
    assert read_study(study).digest != found.digest


def test_all_problems_are_told_at_once_with_their_lines(study: Path) -> None:
    text = FILE.replace("panels", "pannels").replace("seed: 3", "seed: -3")
    study.write_text(text.replace("kind: p835", "kind: p853").replace("title: Denoising\n", ""))
    found = problems(study)
    assert 'study.yaml:1: kind: there is no kind "p853" — known: acr, p835' in found
    assert "study.yaml:2: seed: must be a whole number from 0 on, got -3" in found
    assert 'study.yaml:9: pannels: unknown field — did you mean "panels"?' in found
    assert "title: missing" in found
    assert found.endswith("4 problems; nothing was planned")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("clips: 6", "clips: 8", "2 panels of 8 clips need 16, the material has 14"),
        ("listeners: 4", "listeners: 1", "1 listeners cannot fill 2 panels"),
        ("[place]", "[plaice]", "study.yaml:7: balance.categories[0]: the material has no column"),
        ("[snr]", "[place]", '"place" of clip0 is no number — name it a category'),
        ("[C0, C1, C2]", "[C0, C1, C0]", 'study.yaml:4: systems[2]: "C0" comes twice'),
        ("[C0, C1, C2]", "C0", "systems: must be a list"),
        ("sessions: 2", "sessions: 9", "more sessions than clips"),
        ("clips.csv", "clip.csv", "clip.csv: cannot be read"),
        ("seed: 3", "seed: 3\nseed: 4", "study.yaml:4: seed: comes twice — keep one"),
        ("title: Denoising", "title: [", "not YAML"),
        ("title: Denoising", "title: 5", "title: must be text, got 5"),
    ],
)
def test_a_mistake_is_named(study: Path, old: str, new: str, told: str) -> None:
    study.write_text(FILE.replace(old, new))
    assert told in problems(study)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            ["name,place", "a,hall"],
            "clips.csv:1: needs the columns name and seconds, lacks seconds",
        ),
        (["name,seconds"], "clips.csv:1: has no clip in it"),
        (["name,seconds", "a,4", "a,5"], 'clips.csv:3: name: "a" is also on line 2 — keep one'),
        (["name,seconds", "a,long"], 'clips.csv:2: seconds: must be a positive number, got "long"'),
        (["name,seconds", "a"], "clips.csv:2: needs 2 fields"),
    ],
)
def test_a_bad_table_of_clips_is_named(study: Path, lines: list[str], told: str) -> None:
    (study.parent / "clips.csv").write_text("\n".join(lines) + "\n")
    assert told in problems(study)


def test_files_of_a_design_are_those_of_the_published_test(study: Path) -> None:
    made = study_design(study)
    folder = study.parent / "design"
    names = study_write(made, folder)
    assert sorted(names) == sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()
    )
    with (folder / "csv" / "subject_2.csv").open() as file:
        table = list(csv.DictReader(file))
    assert list(table[0]) == ["subset", "session", "file", "scale"]
    assert len(table) == 6 * 3 * 3
    listed = json.loads((folder / "json" / "subject_2.json").read_text())
    assert [{key: str(value) for key, value in row.items()} for row in listed] == table
    assert listed == rows(made.plans[1])
    subset = (folder / "samples_subset_2.csv").read_text().splitlines()
    assert len(subset) == 7
    heard = {row["file"].split("/")[1].removesuffix(".wav") for row in table}
    assert heard == {line.split(",")[0] for line in subset[1:]}


def test_a_folder_that_is_there_is_left_alone(study: Path) -> None:
    with pytest.raises(UsageError, match="is there already — name a new folder"):
        study_write(study_design(study), study.parent)
    assert sorted(path.name for path in study.parent.iterdir()) == ["clips.csv", "study.yaml"]


def test_verbs_check_and_design(study: Path) -> None:
    run = CliRunner()
    checked = run.invoke(group, ["study", "check", str(study)])
    assert checked.exit_code == 0, checked.output
    assert "what the design keeps" in checked.stdout
    assert " NO" not in checked.stdout
    fewer = run.invoke(group, ["study", "check", str(study), "--minutes", "12"])
    assert "clips × 3 systems" in fewer.stdout
    short = run.invoke(group, ["study", "check", str(study), "--minutes", "1"])
    assert "too short for 2 sessions" in str(short.exception)
    done = run.invoke(group, ["study", "design", str(study), "-o", str(study.parent / "d")])
    assert done.exit_code == 0, done.output
    assert "<figure>" in (study.parent / "d" / "balance.html").read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_study_file_can_be_read(kind: str, study: Path) -> None:
    made = CliRunner().invoke(group, ["study", "new", "--protocol", kind])
    text = made.stdout.replace("clips: 32", "clips: 3").replace("listeners: 32", "listeners: 8")
    study.write_text(text.replace("sessions: 4", "sessions: 2"))
    found = read_study(study)
    assert found.kind == kind
    assert study_render(study_design(found))


def test_scales_are_worded_as_the_recommendations_do() -> None:
    p835 = KINDS["p835"]
    assert [scale.name for scale in p835.scales] == ["SIG", "BAK", "OVRL"]
    assert p835.scales[0].labels[0] == "Not distorted"
    assert p835.scales[1].labels[2] == "Noticeable but not intrusive"
    assert list(p835.scales[2].values) == [5, 4, 3, 2, 1]
    assert all(order[-1] == "OVRL" for order in p835.orders)
