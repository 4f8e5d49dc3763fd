"""Study files from folders of audio files."""

from __future__ import annotations

import wave
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from earwitness.errors import EarwitnessWarning, InputError, UsageError
from earwitness.studies.design.plan import count_minutes
from earwitness.studies.design.report import study_check, study_design
from earwitness.studies.study import Design
from earwitness.studies.template import find_sounds, study_new
from helpers.command_line import run

PATTERN = "wavs/{system}/{item}.wav"


def write_sounds(
    folder: Path,
    systems: Iterable[str],
    items: Iterable[str],
    pattern: str = PATTERN,
    seconds: float = 0.5,
) -> None:
    rng = np.random.default_rng(0)
    for item in items:
        for number, system in enumerate(systems):
            samples = rng.integers(-8000, 8000, int(seconds * 8000), np.int16)
            path = folder / pattern.format(system=system, item=item)
            path.parent.mkdir(parents=True, exist_ok=True)
            with wave.open(str(path), "wb") as file:
                file.setparams((1, 2, 8000, 0, "NONE", ""))
                file.writeframes((samples // (number + 1)).tobytes())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(protocol: str, pattern: str = PATTERN, minutes: float | None = None) -> Design:
    """The design of a study of these files, as `study check` accepts it."""
    study_new(protocol, "study.yaml", files=pattern, minutes=minutes)
    return study_check("study.yaml")


@pytest.mark.parametrize("protocol", ["acr", "p835", "dcr", "ccr", "mushra", "bs1116", "ab", "abx"])
def test_a_small_study_has_one_session_of_all_clips(folder: Path, protocol: str) -> None:
    write_sounds(folder, ("A", "B", "ref"), "abcdef")
    study = checked(protocol).study
    [block] = study.blocks
    rated = ("A", "B") if study.reference else ("A", "B", "ref")
    assert (study.systems, study.reference) == (rated, "" if len(rated) == 3 else "ref")
    assert (block.clips, block.sessions, study.panels) == (6, 1, 1)
    assert all(step.minutes == 0 for step in count_minutes(study) if step.what == "breaks")


def test_many_clips_are_divided_into_panels_and_sessions(folder: Path) -> None:
    write_sounds(folder, "ABCDEFGH", map(str, range(200)), seconds=0.01)
    with pytest.warns(EarwitnessWarning, match=r"each listener rates 50 of 200 clips of 8 systems"):
        study = checked("acr").study
    [block] = study.blocks
    assert (study.listeners, study.panels, block.clips, block.sessions) == (32, 4, 50, 2)
    # 400 ratings of 4.01 s, a break of 5 minutes and 2 questions of 10 s
    assert count_minutes(study)[-1].minutes == pytest.approx(400 * 4.01 / 60 + 5 + 1 / 3)


def test_minutes_set_the_clips_of_a_listener(folder: Path) -> None:
    write_sounds(folder, "AB", "abcdefghij")
    # 2 questions of 10 s; 2 systems × 3 scales × (0.5 + 4) s = 27 s per clip
    with pytest.warns(EarwitnessWarning, match=r"rates 5 of 10 clips of 2 systems in about 3 min"):
        study = checked("p835", minutes=0.34 + 5 * 27 / 60).study
    assert (study.blocks[0].clips, study.panels) == (5, 2)
    with pytest.raises(UsageError, match="too short: one clip takes 1 minute "):
        study_new("p835", files=PATTERN, minutes=0.5)
    with pytest.raises(UsageError, match="minutes require files"):
        study_new("p835", minutes=5)


@pytest.mark.parametrize(
    "pattern",
    [
        "{system}_{item}.wav",
        "{item}_{system}.wav",
        "{item}/x-{system}.wav",
        "{system}/{item}_{system}.wav",
        "{item}.{system}.wav",
    ],
)
def test_names_that_contain_each_other_are_divided(folder: Path, pattern: str) -> None:
    write_sounds(folder, ("base", "new_base"), ("p_1", "p_2", "q"), f"in/{pattern}")
    (folder / "s").mkdir()
    study_new("acr", "s/study.yaml", files=f"in/{pattern}")
    study = study_check("s/study.yaml").study
    assert study.systems == ("base", "new_base")
    assert [clip.name for clip in study.material] == ["p_1", "p_2", "q"]
    assert study.files == f"../in/{pattern}"


def test_the_pattern_is_absolute_if_it_was(folder: Path) -> None:
    write_sounds(folder, ("1", "on"), "ab")
    study = checked("ab", f"{folder}/{PATTERN}").study
    assert (study.systems, study.files) == (("on", "1"), f"{folder}/{PATTERN}")


def test_anchors_are_those_that_exist(folder: Path) -> None:
    write_sounds(folder, ("A", "B", "Ref", "anchor35"), "ab")
    design = checked("mushra")
    [block] = design.study.blocks
    assert (block.systems, design.study.reference) == (("A", "B"), "Ref")
    assert block.parameters["anchors"] == ["anchor35"]


def test_missing_files_are_named_by_system(folder: Path) -> None:
    write_sounds(folder, "AB", "abcdef")
    for item in "abcd":
        (folder / "wavs" / "B" / f"{item}.wav").unlink()
    with pytest.raises(InputError) as caught:
        study_new("acr", "study.yaml", files=PATTERN)
    assert str(caught.value).splitlines()[0] == (
        "wavs/B/{item}.wav: 4 of 6 clips missing: a, b, c, … — "
        "add the files, or remove these clips of the other systems"
    )
    assert not Path("study.yaml").exists()


@pytest.mark.parametrize(
    ("protocol", "pattern", "message"),
    [
        ("acr", "none/{system}/{item}.wav", "no audio file matches this pattern"),
        ("acr", "wavs", r"must contain \{item\}"),
        (
            "dcr",
            PATTERN,
            r"dcr needs references, but the systems are A, B — rename that of the references",
        ),
        ("ab", "wavs/A/{item}.wav", r"must contain \{system\}"),
        ("words", PATTERN, "words studies have other files than audio of systems"),
        ("rubric", PATTERN, r"must not contain \{system\}: all captions of a clip share"),
        ("ab", "one/{system}/{item}.wav", "ab needs two systems or more"),
    ],
)
def test_what_is_missing_is_said(folder: Path, protocol: str, pattern: str, message: str) -> None:
    write_sounds(folder, "AB", "ab")
    write_sounds(folder, "A", "ab", "one/{system}/{item}.wav")
    with pytest.raises(UsageError, match=message):
        study_new(protocol, files=pattern)


def test_the_command_names_the_next_one(folder: Path) -> None:
    write_sounds(folder, "AB", "ab")
    done = run("study", "new", "acr", "--files", PATTERN, "-o", "study.yaml", "--minutes", "60")
    assert done.stderr.splitlines() == [
        "note: each listener rates all clips of 2 systems in about 1 minute (1 session)",
        "wrote study.yaml",
        "next: earwitness study check study.yaml",
    ]
    assert run("study", "check", "study.yaml").returncode == 0
    assert find_sounds(PATTERN)["A"]["a"] == "wavs/A/a.wav"


def test_a_study_of_captions_starts_from_its_clips_and_their_captions(folder: Path) -> None:
    write_sounds(folder, "x", ["p1", "p2", "p10"], "clips/{item}.wav")
    rows = [f"p{n},{who},{who} {n}" for n in (1, 2, 10) for who in ("human", "gpt")]
    (folder / "captions.csv").write_text("\n".join(["item,system,caption", *rows]) + "\n")
    study_new("rubric", "study.yaml", files="clips/{item}.wav")
    found = study_design("study.yaml").study
    names = {clip.name for clip in found.material}
    assert (found.systems, names) == (("human", "gpt"), {"p1", "p2", "p10"})
    assert (found.blocks[0].clips, found.blocks[0].sessions) == (3, 1)
    rows = ["clip,person,model 2", *(f"p{n},Birds {n}.,Rain {n}." for n in (1, 2, 10))]
    (folder / "captions.csv").write_text("\n".join(rows) + "\n")
    study_new("rubric", "wide.yaml", files="clips/{item}.wav")
    wide = study_design("wide.yaml").study
    [last] = [clip for clip in wide.material if clip.name == "p10"]
    assert last.captions["model 2"] == "Rain 10."
    (folder / "captions.csv").write_text("clip,text\np1,Birds.\np2,Rain.\n")
    with pytest.raises(InputError, match="one column per system — found: clip, text\n1 problem"):
        study_design("wide.yaml")
    (folder / "captions.csv").unlink()
    text = study_new("rubric", files="clips/{item}.wav")
    assert "systems: [person, model]\n" in text
