"""From recordings, or folders of them and their skims, to a study on the TC/SD plane."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import yaml
from examples.plane import make

from earwitness.audio.wav import wav_seconds
from earwitness.errors import BadAnswer, InputError, UsageError
from earwitness.report import apply_renderer
from earwitness.skims.run import skim
from earwitness.studies.analyse import study_analyse
from earwitness.studies.design.balance import check_balance
from earwitness.studies.design.plan import count_minutes, make_design
from earwitness.studies.design.report import study_check
from earwitness.studies.design.subset_balance import CLAIM_MISSED
from earwitness.studies.file.reader import read_study
from earwitness.studies.pages import pages, read_page
from earwitness.studies.plane_study import (
    PLANE_ANSWER_SECONDS,
    PLANE_METHODS,
    PLANE_ZS,
    REASONS_NOTE,
    study_plane,
)
from earwitness.studies.procedure import study_procedure
from earwitness.studies.simulate import study_simulate
from earwitness.studies.skim_folders import find_full_length, split_at_silences
from earwitness.studies.study import Study
from earwitness.studies.trials.plane import PlaneKind

RATE = 8000


def noise(seconds: float, seed: int = 0) -> np.ndarray:
    return 0.1 * np.random.default_rng(seed).standard_normal(round(seconds * RATE))


def write(path: Path, *parts: np.ndarray) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, np.concatenate(parts), RATE)
    return path


def test_long_silences_divide_a_file_and_short_ones_do_not() -> None:
    silence, short = np.zeros(35 * RATE), np.zeros(2 * RATE)
    sound = np.concatenate([noise(3), short, noise(1), silence, noise(2), silence])
    parts = [[start / RATE, end / RATE] for start, end in split_at_silences(sound, RATE)]
    assert np.allclose(parts, [[0, 6], [41, 43]], atol=0.06)
    assert split_at_silences(np.zeros((0, 1)), RATE) == []


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Two folders of the protocol: skims as files, and as one file."""
    silence = np.zeros(31 * RATE)
    write(tmp_path / "A" / "A_full-length.wav", noise(60))
    for number in (1, 2, 3):
        write(tmp_path / "A" / f"A-{number}.wav", noise(number / 4 + 1, number))
    write(tmp_path / "B" / "B_full_length.wav", noise(60))
    skims = [noise(1, 1), silence, noise(2, 2), silence, noise(3, 3)]
    write(tmp_path / "B" / "B_summaries.wav", *skims)
    return [tmp_path / "A", tmp_path / "B"]


def test_folders_with_skims_become_a_study_with_one_sitting_each(
    folders: list[Path], tmp_path: Path
) -> None:
    study_plane(folders, tmp_path / "study", practice=False, zone="Europe/Paris", listeners=3)
    study = read_study(tmp_path / "study" / "study.yaml")
    assert study.systems == ("1", "2", "3")
    assert [clip.name for clip in study.material] == ["A", "B"]
    lengths = [soundfile.info(tmp_path / "study" / study.file(item, "3")).duration for item in "AB"]
    assert lengths == pytest.approx([1.75, 3.0], abs=0.1)
    recording = study.recording("B")
    assert recording is not None
    assert (recording.files, recording.zone) == (("../B/B_full_length.wav",), "Europe/Paris")
    plan = make_design(study).plans[0]
    assert [[trial.item for trial in session] for session in plan.sessions] in (
        [["A"], ["B"]],
        [["B"], ["A"]],
    )
    assert plan.training == ()
    with pytest.raises(UsageError, match="already exists"):
        study_plane(folders, tmp_path / "study", practice=False)


def test_folders_must_have_the_same_number_of_skims(folders: list[Path], tmp_path: Path) -> None:
    (folders[0] / "A-1.wav").unlink()
    with pytest.raises(UsageError, match=r"same number of skims \(.*A: 2, .*B: 3\)"):
        study_plane(folders, tmp_path / "study", practice=False)
    (folders[1] / "B_full_length.wav").unlink()
    with pytest.raises(UsageError, match="B: has no file named full-length"):
        study_plane(folders, tmp_path / "other", practice=False)


def test_a_sitting_with_a_day_and_eight_skims_takes_about_twenty_minutes() -> None:
    assert len(PLANE_METHODS) * len(PLANE_ZS) == 8
    load = PlaneKind(hours=24).load(8)
    seconds = load.sounds * 63 + load.questions * PLANE_ANSWER_SECONDS + load.browsing
    assert 18 <= seconds / 60 <= 22


def write_practice(folder: Path) -> None:
    """A practice folder of a day of 80 s: wind, then wind and a car, and one example."""
    write(folder / "full-length.wav", noise(40), noise(40, 1) * 0.2)
    write(folder / "1.wav", noise(2))
    example = {"skim": 1, "audio": "1.wav", "tc": 0.1234567, "sd": 1.0, "reason": "Wind only."}
    (folder / "practice.json").write_text(json.dumps({"skims": [example]}))
    (folder / "truth.json").write_text(json.dumps({"seconds": 80.0, "hour": 20.0}))
    (folder / "labels.csv").write_text("start,end,source\n0,80,wind\n40,80,car\n")


def test_recordings_become_skims_a_practice_and_sittings(tmp_path: Path) -> None:
    write_practice(tmp_path / "X")
    days = [write(tmp_path / f"{name}.wav", noise(40, n), noise(40) * 0.1) for n, name in
            enumerate(("one", "two"))]  # fmt: skip
    settings: dict[str, Any] = {
        "embedder": "log-mel",
        "cache": tmp_path / "cache",
        "period": 20.0,
        "length": 18.0,
    }
    place = tmp_path / "study"
    notes = study_plane(
        days, place, z=(0, 0.5, 1), methods=("pareto",), practice=tmp_path / "X",
        speech="reverse", language="fr", **settings,
    )  # fmt: skip
    assert REASONS_NOTE in notes
    study = read_study(place / "study.yaml")
    recordings = [study.recording(item) for item in ("one", "two", "full-length")]
    assert [one.speech for one in recordings if one] == ["reverse", "reverse", "keep"]
    assert study.systems == ("pareto-z0", "pareto-z0.5", "pareto-z1")
    assert study.training_items == ("full-length",)
    expected = {(one.system, one.scale): one.value for one in study.gold}
    assert set(expected) == {(name, scale) for name in study.systems for scale in ("TC", "SD")}
    assert expected["pareto-z1", "SD"] == 1  # wind and car are heard
    [block] = yaml.safe_load((place / "study.yaml").read_text())["blocks"]
    assert block["parameters"]["examples"] == [
        {"sound": "skims/examples/1.wav", "TC": 0.123, "SD": 1.0, "reason": "Wind only."}
    ]
    plan = make_design(study).plans[0]
    assert [trial.scales for trial in plan.training] == [("TC",), ("SD",), ("TC", "SD")]
    assert {trial.item for trial in plan.training} == {"full-length"}
    assert "subset" not in str(study_procedure(study))  # practice is no part of the material
    assert [step.what for step in count_minutes(study)][-2:] == ["breaks", "total"]


def test_imported_skims_are_practised_with_skims_of_the_practice_day(
    folders: list[Path], tmp_path: Path
) -> None:
    write_practice(tmp_path / "X")
    settings: dict[str, Any] = {
        "embedder": "log-mel",
        "cache": tmp_path / "cache",
        "period": 20.0,
        "length": 18.0,
    }
    notes = study_plane(
        folders, tmp_path / "study", practice=tmp_path / "X", methods=("pareto",), **settings
    )
    assert any("--method, --z and --length apply only to skims made for" in note for note in notes)
    study = read_study(tmp_path / "study" / "study.yaml")
    assert study.systems == ("1", "2", "3")
    assert {one.system for one in study.gold} == {"1", "2", "3"}
    simulated = study_simulate(study, seed=1)
    columns, rows, *_ = apply_renderer(simulated, "tables")["ratings"]
    assert {row[columns.index("item")] for row in rows} == {"A", "B"}  # practice does not count


def test_practice_clips_must_be_in_the_material(folders: list[Path], tmp_path: Path) -> None:
    study_plane(folders, tmp_path / "study", practice=False)
    path = tmp_path / "study" / "study.yaml"
    text = path.read_text()
    path.write_text(text + "training: 3\ntraining_items: [C, C]\n")
    with pytest.raises(InputError) as error:
        read_study(path)
    assert 'training_items[0]: the material has no clip "C"' in str(error.value)
    assert 'training_items[1]: duplicate "C"' in str(error.value)
    path.write_text(text + "training_items: [A]\n")
    with pytest.raises(InputError, match="training_items: the study has no practice trials"):
        read_study(path)


def test_the_check_question_is_asked_until_it_is_right(folders: list[Path], tmp_path: Path) -> None:
    study_plane(folders, tmp_path / "study", practice=False)
    study = read_study(tmp_path / "study" / "study.yaml")
    shown = {page.name: page for page in pages(study, make_design(study).plans[0], lambda *_: "")}
    page = shown["plane.check"]
    wrong, right, _ = page.view["questions"][0]["options"]
    with pytest.raises(BadAnswer, match="the answer to the check question is wrong"):
        read_page(study, page, {"check": wrong["value"]}, 1)
    with pytest.raises(BadAnswer, match="check has no answer"):
        read_page(study, page, {}, 1)
    assert read_page(study, page, {"check": right["value"]}, 1) == []


def test_a_folder_that_is_no_practice_is_refused(folders: list[Path], tmp_path: Path) -> None:
    (tmp_path / "X").mkdir()
    with pytest.raises(UsageError, match="is not a practice folder"):
        study_plane(folders, tmp_path / "study", practice=tmp_path / "X")


@pytest.mark.parametrize("name", ["practice.json", "truth.json", "labels.csv"])
def test_an_incomplete_practice_folder_is_refused(
    folders: list[Path], tmp_path: Path, name: str
) -> None:
    write_practice(tmp_path / "study" / "practice")
    (tmp_path / "study" / "practice" / name).unlink()
    with pytest.raises(UsageError, match=f"practice: is not .* {name} is missing — rename"):
        study_plane(folders, tmp_path / "study")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("practice.json", b"[]"),
        ("practice.json", b'{"skims": [{"skim": 1, "audio": "1.wav"}]}'),
        ("practice.json", b'{"skims": [5]}'),
        ("practice.json", b'{"skims": [], "language": 5}'),
        ("truth.json", b'{"seconds": "x", "hour": 20}'),
        ("truth.json", b'{"seconds": 80, "hour": 1e-300}'),
        ("truth.json", b"\xff"),
        ("labels.csv", b"start,end\n0,1\n"),
        ("labels.csv", b"start,end,source\n0\n"),
        ("labels.csv", b"start,end,source\n0,nan,wind\n"),
    ],
)
def test_a_damaged_practice_folder_is_refused(
    folders: list[Path], tmp_path: Path, name: str, content: bytes
) -> None:
    write_practice(tmp_path / "X")
    (tmp_path / "X" / name).write_bytes(content)
    with pytest.raises(UsageError, match="X: is not a readable practice folder"):
        study_plane(folders, tmp_path / "study", practice=tmp_path / "X")


# --- Import --------------------------------------------------------------------------------------


def write_folder(folder: Path, *names: str, seconds: float = 1.0) -> Path:
    """A folder with a full-length recording and skims whose lengths tell them apart."""
    write(folder / f"{folder.name}_full-length.wav", noise(60))
    for number, name in enumerate(names, 1):
        write(folder / f"{folder.name}{name}.wav", noise(seconds + number / 4, number))
    return folder


def lengths(study: Path, item: str) -> dict[str, float]:
    """Length of each skim of an item, by system."""
    return {
        path.stem.removeprefix(f"{item}_"): round(soundfile.info(path).duration, 2)
        for path in sorted((study / "skims").glob(f"{item}_*.wav"))
    }


def test_systems_are_the_names_of_files_without_those_of_folders(tmp_path: Path) -> None:
    folders = [
        write_folder(tmp_path / "A", "_engineer_z0", "_engineer_z1", "_random"),
        write_folder(tmp_path / "B", "-random", "-engineer-z1.0", "-engineer-z0"),
    ]
    notes = study_plane(folders, tmp_path / "study", practice=False)
    study = read_study(tmp_path / "study" / "study.yaml")
    assert study.systems == ("engineer-z0", "engineer-z1", "random")
    assert lengths(tmp_path / "study", "A") == {
        "engineer-z0": 1.25, "engineer-z1": 1.5, "random": 1.75}  # fmt: skip
    assert lengths(tmp_path / "study", "B") == {
        "random": 1.25, "engineer-z1": 1.5, "engineer-z0": 1.75}  # fmt: skip
    assert notes == []
    lines = (tmp_path / "study" / "skims" / "outputs.jsonl").read_text().splitlines()
    assert json.loads(lines[2]) == {
        "item": "A", "system": "random", "output": {"audio": "A_random.wav"}}  # fmt: skip


def test_a_table_names_systems_of_files_and_of_parts_of_one_file(
    folders: list[Path], tmp_path: Path
) -> None:
    table = tmp_path / "skims.csv"
    rows = ["A,1,random,", "A,2,ours,0", "A,3,ours,1", "B,1,ours,1", "B,2,random,", "B,3,ours,0"]
    table.write_text("folder,number,method,z\n" + "\n".join(rows) + "\n")
    notes = study_plane(folders, tmp_path / "study", practice=False, skims=table)
    assert notes == []
    assert lengths(tmp_path / "study", "A") == {"random": 1.25, "ours-z0": 1.5, "ours-z1": 1.75}
    found = lengths(tmp_path / "study", "B")
    assert {name: round(value) for name, value in found.items()} == {
        "ours-z1": 1, "random": 2, "ours-z0": 3}  # fmt: skip
    table.write_text("folder,number,system,z\nA,1,x,2\nA,9,y,\nC,1,x,\nA,1,x,\n")
    with pytest.raises(InputError) as error:
        study_plane(folders, tmp_path / "other", practice=False, skims=table)
    for message in ('A has no skim "9"', 'unknown folder "C"', "this skim has another row"):
        assert message in str(error.value)
    assert not (tmp_path / "other").exists()


def test_rows_of_a_table_name_one_skim(tmp_path: Path) -> None:
    made = tmp_path / "made"
    records = [(item, system) for item in "ab" for system in "xy"]
    for item, system in records:
        write(made / f"{item}_{system}.wav", noise(1))
    (made / "outputs.jsonl").write_text("".join(
        f'{{"item": "{item}", "system": "{system}", "output": {{}}}}\n' for item, system in records
    ))  # fmt: skip
    (made / "recordings.jsonl").write_text("".join(
        f'{{"item": "{item}", "recording": "{item}_x.wav"}}\n' for item in "ab"
    ))  # fmt: skip
    folder = write_folder(tmp_path / "C", "-2", "-10", "-x")
    table = tmp_path / "skims.csv"
    table.write_text(f"folder,file,system\n{made},x,z\nC,3,z\nC,2,z\n")
    with pytest.raises(InputError) as error:
        study_plane([made, folder], tmp_path / "study", practice=False, skims=table)
    assert 'made" has several recordings — use the name of one of them: a, b' in str(error.value)
    assert 'C has no skim "3"' in str(error.value)
    assert error.value.count == 2


def test_numbers_that_may_be_different_methods_are_noted(
    folders: list[Path], tmp_path: Path
) -> None:
    [note] = study_plane(folders, tmp_path / "study", practice=False)
    assert "name their systems with --skims" in note
    others = [
        write_folder(tmp_path / "C", "-q10", "-q9", "-q8"),
        write_folder(tmp_path / "D", "-x", "-y", "-z"),
    ]
    [note] = study_plane(others, tmp_path / "other", practice=False)
    assert "name their systems with --skims" in note
    assert lengths(tmp_path / "other", "C") == {"1": 1.75, "2": 1.5, "3": 1.25}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("A_random", "B_pareto-z0", "B_pareto-z1"), 'A has "random", B has "A_random"'),
        (("B_randon", "B_pareto-z0", "B_paretto-z1"),
         'A has "pareto-z1", "random", B has "paretto-z1", "randon"'),
        (("B_x", "B_y", "B_z"), 'A has "pareto-z0", "pareto-z1", "random", B has "x", "y", "z"'),
    ],
)  # fmt: skip
def test_a_wrong_file_name_is_not_replaced_by_a_number(
    tmp_path: Path, names: tuple[str, ...], message: str
) -> None:
    folder = write_folder(tmp_path / "A", "_random", "_pareto-z0", "_pareto-z1")
    other = write_folder(tmp_path / "B")
    for name in names:
        write(other / f"{name}.wav", noise(1))
    with pytest.raises(UsageError, match=f"systems differ: {message} — rename files"):
        study_plane([folder, other], tmp_path / "study", practice=False)


def test_skims_of_the_command_skim_keep_their_recordings_methods_and_clock(
    tmp_path: Path,
) -> None:
    days = [write(tmp_path / f"day{n}.wav", noise(40, n), noise(40) * 0.1) for n in (1, 2)]
    skim(days, tmp_path / "made", z=(0, 0.5), embedder="log-mel", cache=tmp_path / "cache",
         period=20.0, length=18.0, start="2025-07-22T00:00", zone="Europe/Paris")  # fmt: skip
    study_plane(tmp_path / "made", tmp_path / "study", practice=False)
    study = read_study(tmp_path / "study" / "study.yaml")
    assert study.systems == ("pareto-z0", "pareto-z0.5")
    recording = study.recording("day2")
    assert recording is not None
    assert (recording.files, recording.zone) == (("../day2.wav",), "Europe/Paris")
    # the same files in a folder of the protocol
    (tmp_path / "A").mkdir()
    (tmp_path / "day1.wav").rename(tmp_path / "A" / "A_full-length.wav")
    for path in (tmp_path / "made").glob("day1_pareto*"):
        path.rename(tmp_path / "A" / path.name.replace("day1_pareto-z", "number"))
    study_plane(tmp_path / "A", tmp_path / "other", practice=False)
    assert read_study(tmp_path / "other" / "study.yaml").systems == study.systems


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("recordings", '{"item": "a", "recording": "a.wav"}\n{"item"\n', "recordings.jsonl:2: "),
        ("recordings", '{"item": "a"}\n{"item": "b", "recording": 1}\n', "invalid value 1"),
        ("recordings", "", "recordings.jsonl: has no lines"),
        ("recordings", '{"item": "b", "recording": ["b.wav"]}', "the line of a is missing"),
        ("outputs", '{"item": "a", "output": {}}\n', "outputs.jsonl:1: system: missing"),
    ],
)
def test_damaged_lines_of_the_command_skim_are_refused(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    made = tmp_path / "made"
    write(made / "a.wav", noise(2))
    lines = [
        f'{{"item": "a", "system": "{system}", "output": {{"audio": "a_{system}.wav"}}}}\n'
        for system in "xy"
    ]
    for system in "xy":
        write(made / f"a_{system}.wav", noise(1))
    (made / "outputs.jsonl").write_text("".join(lines))
    (made / "recordings.jsonl").write_text('{"item": "a", "recording": "a.wav"}\n')
    study_plane(made, tmp_path / "study", practice=False)
    (made / f"{name}.jsonl").write_text(text)
    with pytest.raises((InputError, UsageError)) as error:
        study_plane(made, tmp_path / "other", practice=False)
    assert message in str(error.value)


def test_a_failed_import_leaves_nothing_and_a_second_one_is_refused(
    folders: list[Path], tmp_path: Path
) -> None:
    (folders[1] / "B_full_length.wav").write_bytes(b"no audio")
    with pytest.raises(InputError):
        study_plane(folders, tmp_path / "study", practice=False)
    assert not (tmp_path / "study").exists()
    write(folders[1] / "B_full_length.wav", noise(60))
    study_plane(folders, tmp_path / "study", practice=False)
    for name in ("study.yaml", "clips.csv", "skims"):
        with pytest.raises(UsageError, match=f"{name} already exists"):
            study_plane(folders, tmp_path / "study", practice=False)
        if name != "skims":
            (tmp_path / "study" / name).unlink()


@pytest.mark.parametrize("is_made_before", [True, False])
def test_a_failed_import_leaves_no_practice_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_made_before: bool
) -> None:
    monkeypatch.setattr(
        "earwitness.studies.plane_study.practice_write",
        lambda _, place, **_settings: write_practice(place),
    )
    folder = tmp_path / "full-length"
    for name in ("full-length", "x", "y"):
        write(folder / f"{name}.wav", noise(2))
    if is_made_before:
        write_practice(tmp_path / "study" / "practice")
    with pytest.raises(UsageError, match="have the same name"):
        study_plane(folder, tmp_path / "study")
    assert (tmp_path / "study" / "practice").exists() == is_made_before
    assert (tmp_path / "study").exists() == is_made_before


@pytest.mark.parametrize("is_made_before", [True, False])
def test_an_interrupted_command_leaves_only_what_existed_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_made_before: bool
) -> None:
    def interrupt(*_: object, **_settings: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "earwitness.studies.plane_study.practice_write",
        lambda _, place, **_settings: write_practice(place),
    )
    monkeypatch.setattr("earwitness.studies.plane_study.wav_seconds", interrupt)
    place = tmp_path / "new" / "study"
    if is_made_before:
        (place / "skims").mkdir(parents=True)
        (place / "skims" / "mine.txt").write_text("mine")
    settings: dict[str, Any] = {"cache": tmp_path / "cache", "period": 20.0, "length": 18.0}
    day = write(tmp_path / "one.wav", noise(80))
    with pytest.raises(KeyboardInterrupt):
        study_plane(day, place, z=(0, 1), methods=("pareto",), embedder="log-mel", **settings)
    left = [path.name for path in (tmp_path / "new").rglob("*")]
    assert left == (["study", "skims", "mine.txt"] if is_made_before else [])
    assert (tmp_path / "new").exists() == is_made_before


def test_a_second_command_in_the_same_folder_is_refused_and_removes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, seen = tmp_path / "study", list[str]()
    settings: dict[str, Any] = {"cache": tmp_path / "cache", "period": 20.0, "length": 18.0}
    settings |= {"z": (0, 1), "methods": ("pareto",), "embedder": "log-mel", "practice": False}
    day = write(tmp_path / "one.wav", noise(80))

    def second(path: Path) -> float:
        """The first command has its skims; now a second one starts, and is interrupted."""
        if not seen:
            seen.extend(sorted(one.name for one in place.rglob("*")))
            with monkeypatch.context() as patch:
                patch.setattr("earwitness.studies.plane_study.wav_seconds", interrupt)
                with pytest.raises(UsageError, match="study: another command writes into this"):
                    study_plane(day, place, **settings)
            assert sorted(one.name for one in place.rglob("*")) == seen
        return wav_seconds(path)

    def interrupt(*_: object) -> None:
        raise RuntimeError("the second command ran on")

    monkeypatch.setattr("earwitness.studies.plane_study.wav_seconds", second)
    study_plane(day, place, **settings)
    assert {"one_pareto-z0.wav", "one_pareto-z1.wav"} <= {*seen}
    assert read_study(place / "study.yaml").systems == ("pareto-z0", "pareto-z1")


@pytest.mark.parametrize("name", ["gold.csv", "clips.csv"])
def test_tables_of_others_are_neither_replaced_nor_removed(
    folders: list[Path], tmp_path: Path, name: str
) -> None:
    table = tmp_path / "study" / name
    table.parent.mkdir()
    table.write_text("mine")
    with pytest.raises(UsageError, match=f"{name} already exists — choose another folder"):
        study_plane(folders, tmp_path / "study", practice=False)
    assert [*table.parent.iterdir()] == [table]
    assert table.read_text() == "mine"


def test_a_folder_without_a_full_length_recording_is_one_recording_with_a_note(
    tmp_path: Path,
) -> None:
    for number in (1, 2):
        write(tmp_path / "A" / f"A-{number}.wav", noise(40, number))
    settings: dict[str, Any] = {"embedder": "log-mel", "cache": tmp_path / "cache", "period": 20.0}
    place = tmp_path / "study"
    notes = study_plane(tmp_path / "A", place, z=(0, 1), practice=False, **settings)
    assert any("A: all audio files are one recording of 1.3 min" in note for note in notes)
    (tmp_path / "A" / "A-1.wav").rename(tmp_path / "A" / "A_full.wav")
    with pytest.raises(UsageError, match="no silence of 30 s separates skims"):
        study_plane(tmp_path / "A", tmp_path / "other", practice=False)
    with pytest.raises(UsageError, match="too short"):
        study_plane(tmp_path / "A" / "A-2.wav", tmp_path / "other", practice=False, block=60.0)
    assert not (tmp_path / "other").exists()


def test_two_skims_cannot_have_the_same_file(tmp_path: Path) -> None:
    first, second = (write_folder(tmp_path / name, "-x", "-B_x") for name in ("A", "A_B"))
    with pytest.raises(UsageError, match=r"two skims would have the same file A_B_x\.wav"):
        study_plane([first, second], tmp_path / "study", practice=False)
    with pytest.raises(UsageError, match=r"two skims would have the same file A_B_x\.wav"):
        study_plane(first, tmp_path / "study", practice=second)


def test_json_files_of_other_programs_do_not_name_systems(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "A", "-x", "-y")
    (folder / "A-x.json").write_text('{"method": "fade", "z": "0.5"}')
    (folder / "A-y.json").write_text('["fade"]')
    study_plane(folder, tmp_path / "study", practice=False)
    assert read_study(tmp_path / "study" / "study.yaml").systems == ("x", "y")


def test_a_recording_is_told_from_a_folder_of_its_skims(tmp_path: Path) -> None:
    full, skims = tmp_path / "A" / "A_full-length.wav", tmp_path / "A" / "A_full-length_skims"
    for name in "xy":
        write(skims / f"{name}.wav", noise(1))
    write(full, noise(60))
    assert find_full_length(tmp_path / "A") == full
    folder = tmp_path / "B" / "full-length.2025"
    write(folder / "1_full-length.wav", noise(60))
    write(tmp_path / "B" / "full-length.2025_x.wav", noise(1))
    assert find_full_length(tmp_path / "B") == folder
    write(tmp_path / "B" / "B_full.wav", noise(60))
    with pytest.raises(UsageError, match=r"several .* full-length: full-length\.2025, B_full\.wav"):
        find_full_length(tmp_path / "B")


def test_audacity_projects_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "A" / "A_full-length.wav", noise(2))
    (tmp_path / "A" / "A_summaries.aup3").write_bytes(b"")
    with pytest.raises(UsageError, match="Audacity projects cannot be read"):
        study_plane(tmp_path / "A", tmp_path / "study", practice=False)


def test_any_number_of_skims_is_practised(tmp_path: Path) -> None:
    write_practice(tmp_path / "X")
    folder = write_folder(tmp_path / "A", *(f"-{n}" for n in range(1, 10)))
    study_plane(folder, tmp_path / "study", practice=tmp_path / "X", embedder="log-mel",
                cache=tmp_path / "cache", period=20.0, length=18.0)  # fmt: skip
    study = read_study(tmp_path / "study" / "study.yaml")
    assert len(study.systems) == 9
    assert len(study.gold) == 18


def test_own_practice_skims_are_examples_or_placed_with_feedback(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "A", "-1", "-2", "-3")
    practice = write_folder(tmp_path / "X", "-1", "-2", "-3", "-4", seconds=3.0)
    study_plane(folder, tmp_path / "plain", practice=practice, retest=True,
                parameters={"check": False})  # fmt: skip
    study = read_study(tmp_path / "plain" / "study.yaml")
    assert (study.training_items, study.feedback, study.quality.repeats) == (("X",), False, 0.5)
    assert lengths(tmp_path / "plain", "X") == {"1": 3.25, "2": 3.5, "3": 3.75}
    [block] = yaml.safe_load((tmp_path / "plain" / "study.yaml").read_text())["blocks"]
    assert block["parameters"] == {"check": False, "hours": 1}
    table = tmp_path / "skims.csv"
    table.write_text("folder;file;tc;sd;reason\nX;X-2.wav;0.5;0,25;Wind.\nX;X-3;1;0;\n")
    study_plane(folder, tmp_path / "placed", practice=practice, skims=table)
    study = read_study(tmp_path / "placed" / "study.yaml")
    assert lengths(tmp_path / "placed", "X") == {"1": 3.25, "2": 3.75, "3": 4.0}
    assert [(one.system, one.scale, one.value) for one in study.gold] == [
        ("2", "TC", 1.0), ("2", "SD", 0.0)]  # fmt: skip
    [block] = yaml.safe_load((tmp_path / "placed" / "study.yaml").read_text())["blocks"]
    [example] = block["parameters"]["examples"]
    assert (example["TC"], example["SD"], example["reason"]) == (0.5, 0.25, "Wind.")


@pytest.mark.parametrize("speech", ["reverse", "mute"])
def test_speech_of_imported_skims_cannot_be_changed(
    folders: list[Path], tmp_path: Path, speech: str
) -> None:
    reason = {"reverse": "it would become intelligible", "mute": "cannot be chosen again"}[speech]
    message = rf'A: speech cannot be changed .*{reason}.* add "speech: {speech}" to recordings'
    with pytest.raises(UsageError, match=message):
        study_plane(folders, tmp_path / "study", practice=False, speech=speech)
    day = folders[0] / "A_full-length.wav"
    with pytest.raises(UsageError, match=r"B: speech cannot be changed .* earwitness soundscape"):
        study_plane(day, tmp_path / "study", practice=folders[1], speech=speech)


# --- Order of recordings, and test–retest --------------------------------------------------------


@pytest.fixture
def four_days(tmp_path: Path) -> Study:
    folders = [write_folder(tmp_path / name, "-x", "-y", "-z") for name in "ABCD"]
    study_plane(folders, tmp_path / "study", practice=False, retest=True, listeners=4)
    return read_study(tmp_path / "study" / "study.yaml")


def test_recordings_rotate_over_experts_and_the_first_one_comes_again(four_days: Study) -> None:
    plans = make_design(four_days).plans
    orders = [[trial.item for (trial,) in plan.sessions] for plan in plans]
    for position in range(4):
        assert sorted(order[position] for order in orders) == list("ABCD")
    followed = {pair for order in orders for pair in pairwise(order[:4])}
    assert len(followed) == 12  # each recording follows each other one once
    for plan in plans:
        (first,), *_, (again,) = plan.sessions
        assert (again.item, again.role) == (first.item, "repeat")
        assert sorted(again.systems) == sorted(first.systems)
        assert all(a != b for a, b in zip(again.systems, first.systems, strict=True))
    claims = check_balance(make_design(four_days))
    assert {claim.what for claim in claims if "repeated" in claim.what} == {
        "repeated trials per listener, at the end",
        "times each clip is repeated, over all listeners",
    }
    assert [claim.what for claim in claims if claim.kept == CLAIM_MISSED] == []
    steps = {step.what: step for step in count_minutes(four_days)}
    assert steps["breaks"].how == "4 × 5 min"
    assert steps["quality control"].how.startswith("1 gold, trapping and repeated trials")


def test_a_recording_placed_twice_gives_test_retest_reliability(four_days: Study) -> None:
    simulated = study_simulate(four_days, seed=1)
    columns, rows, *_ = apply_renderer(simulated, "tables")["ratings"]
    table = [dict(zip(columns, row, strict=True)) for row in rows]
    assert len(table) == 4 * 5 * 3 * 2
    results = study_analyse(table)
    assert {one.scale: one.pairs for one in results.retests} == {"TC": 12, "SD": 12}


def test_the_example_has_eight_skims_per_day_and_seven_examples(tmp_path: Path) -> None:
    make.main(tmp_path)
    checked = study_check(tmp_path / "study.yaml", jobs=1)  # missing and silent skims are errors
    assert checked.audio is not None
    assert checked.audio.notes == ()
    assert len(checked.study.systems) == 8
    assert len(checked.study.material) == 3
    [block] = checked.study.blocks
    examples = block.parameters["examples"]
    assert len({(one["TC"], one["SD"]) for one in examples}) == 7
    assert all((tmp_path / one["sound"]).is_file() for one in examples)
    for scale in ("TC", "SD"):  # experts practise with skims that differ clearly
        places = [one.value for one in checked.study.gold if one.scale == scale]
        assert np.ptp(places) > 0.35
