"""What browsers cannot show or play is found before people arrive, all at once."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest
import soundfile

from earwitness.studies.design.report import study_check, study_design, study_render
from earwitness.studies.file.page_checks import PageChecks, check_pages, has_browser_page
from earwitness.studies.file.reader import read_study
from earwitness.studies.trials.single import ACR
from helpers.command_line import run
from helpers.study_files import sound
from helpers.study_listener import study

TABLE_STUDY = """\
title: Test
systems: [C0, C1]
material: clips.csv
listeners: 2
blocks:
  - {kind: KIND, clips: 4}
"""


def pages_of(path: Path) -> PageChecks:
    return check_pages(study_design(read_study(path)), path)


def table_study(folder: Path, kind: str = "acr", more: str = "") -> Path:
    """A study whose clips are in a table, so that its files are looked for by the server only."""
    rows = "".join(f"{name},2\n" for name in "abcd")
    (folder / "clips.csv").write_text(f"name,seconds\n{rows}")
    path = folder / "study.yaml"
    path.write_text(TABLE_STUDY.replace("KIND", kind) + more)
    return path


def test_a_study_that_browsers_can_show_has_no_problems(folder: Path) -> None:
    assert pages_of(study(folder, "p835")) == PageChecks()


@pytest.mark.parametrize("name", ["", "nowhere", Path("trials/nowhere.js")])
def test_a_kind_without_a_page_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str | Path
) -> None:
    assert has_browser_page(ACR)
    monkeypatch.setattr(ACR, "renderer", name)
    path = study(folder, "acr")
    [problem] = pages_of(path).problems
    assert (problem.source, problem.field) == (str(path), "blocks[0].kind")
    assert problem.message.startswith('no browser page for trial kind "acr"')
    assert ("trials/nowhere.js does not exist" in problem.message) is bool(name)
    assert "p835" in problem.remedy


def test_a_digit_of_the_hearing_test_that_cannot_be_read_is_refused(folder: Path) -> None:
    for digit in range(10):
        sound(folder / "digits" / f"{digit}.wav")
    (folder / "digits" / "7.wav").write_bytes(b"RIFF")
    path = table_study(folder, more='hearing: {digits: "digits/{digit}.wav"}\n')
    [problem] = pages_of(path).problems
    assert (Path(problem.source).name, problem.message[:10]) == ("7.wav", "unreadable")


def test_missing_and_unreadable_files_and_texts_are_refused_at_once(folder: Path) -> None:
    path = table_study(folder)
    (folder / "C0" / "a.wav").unlink()
    (folder / "C0" / "b.wav").write_bytes(b"RIFF")
    with wave.open(str(folder / "C1" / "a.wav"), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
    soundfile.write(folder / "C1" / "b.wav", np.ones(100) / 2, 8000, subtype="DOUBLE")
    found = {
        Path(one.source).relative_to(folder).as_posix(): one.message
        for one in pages_of(path).problems
    }
    assert found["C0/a.wav"] == "missing audio file"
    assert found["C0/b.wav"].startswith("unreadable audio file: ")
    assert found["C1/a.wav"].endswith("without audio") or found["C1/a.wav"] == "contains no audio"
    assert found["C1/b.wav"] == "browsers cannot play this sample format"
    assert len(found) == 4


def test_a_text_that_a_language_lacks_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ACR, "fixed", (ACR.fixed[0].__class__("NOVELTY", 5, 1),))
    path = table_study(folder, more="language: fr\n")
    [problem] = pages_of(path).problems
    assert problem.message == """acr has no text 'NOVELTY' in language "fr\""""


def test_sounds_that_are_switched_need_one_sampling_rate(folder: Path) -> None:
    for name in "abcd":
        samples = np.sin(np.arange(4000) / 5) / 2
        soundfile.write(folder / "C1" / f"{name}.wav", samples, 8000)
    problems = pages_of(table_study(folder, "ab")).problems
    rates = sorted(one for one in problems if "rates" in one.message)
    assert len(rates) == 4
    assert rates[0].message.endswith("a: 1 kHz (C0) and 8 kHz (C1)")
    assert rates[0].remedy == "use earwitness audio normalize --rate 8000"
    assert not pages_of(table_study(folder, "acr")).problems  # the browser resamples each sound


@pytest.mark.parametrize(
    ("seconds", "policy", "told"),
    [
        (0.15, "pad", ""),
        (0.4, "pad", "0.3 s of silence is appended (b)"),
        (0.15, "allow", "file sizes reveal the system"),
    ],
)
def test_unequal_lengths_are_told_where_they_matter(
    folder: Path, seconds: float, policy: str, told: str
) -> None:
    sound(folder / "C1" / "b.wav", seconds)
    warnings = pages_of(table_study(folder, more=f"lengths: {policy}\n")).warnings
    assert [told in one for one in warnings] == [True] * bool(told)


def test_feedback_without_gold_is_told(folder: Path) -> None:
    [warning] = pages_of(study(folder, "acr", "feedback: true\n")).warnings
    assert warning.startswith("feedback is on, but the study has no gold answers")


def test_study_check_shows_what_serve_refuses(folder: Path) -> None:
    path = table_study(folder)
    assert "Browser" not in study_render(study_check(path))
    (folder / "C0" / "a.wav").unlink()
    shown = study_render(study_check(path), width=300)
    assert "problems: earwitness serve refuses this study" in shown
    assert "C0/a.wav: missing audio file" in shown


def test_study_check_fails_if_serve_refuses_files(folder: Path, tmp_path: Path) -> None:
    path = table_study(folder)
    assert run("study", "check", path).returncode == 0
    soundfile.write(folder / "C1" / "b.wav", np.ones(100) / 2, 8000, subtype="DOUBLE")
    done = run("study", "check", path, width=300)
    assert done.returncode == 2
    assert "browsers cannot play this sample format" in done.stdout
    page = run("study", "check", path, "-o", tmp_path / "plan.html")
    assert page.returncode == 2
    assert f"problem: {folder / 'C1' / 'b.wav'}: browsers cannot play this" in page.stderr
    assert run("study", "check", path, "--no-audio").returncode == 0
