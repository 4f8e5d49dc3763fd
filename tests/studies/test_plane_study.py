"""From recordings, or folders of them and their skims, to a study on the TC/SD plane."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import yaml

from earwitness.errors import BadAnswer, InputError, UsageError
from earwitness.studies.design.plan import count_minutes, make_design
from earwitness.studies.file.reader import read_study
from earwitness.studies.pages import pages, read_page
from earwitness.studies.plane_study import split_at_silences, study_plane
from earwitness.studies.simulate import study_simulate

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
    for number in (1, 2, 10):
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
    assert lengths == pytest.approx([3.5, 3.0], abs=0.1)
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
    study_plane(
        days, place, zs=(0, 0.5, 1), methods=("pareto",), practice=tmp_path / "X", **settings
    )
    study = read_study(place / "study.yaml")
    assert study.systems == ("pareto-z0", "pareto-z0.5", "pareto-z1")
    assert study.training_items == ("full-length",)
    expected = {(one.system, one.scale): one.value for one in study.gold}
    assert set(expected) == {(name, scale) for name in study.systems for scale in ("TC", "SD")}
    assert expected["pareto-z1", "SD"] == 1  # wind and car are heard
    [block] = yaml.safe_load((place / "study.yaml").read_text())["blocks"]
    assert block["parameters"]["examples"] == [
        {"sound": "skims/example_1.wav", "TC": 0.123, "SD": 1.0, "reason": "Wind only."}
    ]
    plan = make_design(study).plans[0]
    assert [trial.scales for trial in plan.training] == [("TC",), ("SD",), ("TC", "SD")]
    assert {trial.item for trial in plan.training} == {"full-length"}
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
    study_plane(
        folders, tmp_path / "study", practice=tmp_path / "X", methods=("pareto",), **settings
    )
    study = read_study(tmp_path / "study" / "study.yaml")
    assert study.systems == ("1", "2", "3")
    assert {one.system for one in study.gold} == {"1", "2", "3"}
    simulated = study_simulate(study, seed=1)
    columns, rows = simulated.make_tables()["ratings"]
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
    with pytest.raises(UsageError, match=r"practice.json is missing"):
        study_plane(folders, tmp_path / "study", practice=folders[0])
