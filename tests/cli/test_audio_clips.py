"""The commands audio clips and audio select, from recordings to the material of a study."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from helpers.command_line import Finished, run

RATE = 8_000
STARTS = (1.0, 6.0, 11.0, 16.0)  # of speech that lasts 3.25 s


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four recordings of two sessions in two rooms, and their annotation."""
    rng = np.random.default_rng(0)
    lines = ["recording,start,end"]
    (tmp_path / "rec").mkdir()
    for name in ("S01_hall", "S01_yard", "S21_hall", "S21_yard"):
        samples = rng.uniform(-0.1, 0.1, 21 * RATE)
        soundfile.write(tmp_path / "rec" / f"{name}.wav", samples, RATE)
        lines += [f"{name},{start},{start + 3.25}" for start in STARTS]
    (tmp_path / "speech.csv").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def cut(folder: Path, *options: str | int) -> Finished:
    fields: list[str | int] = [
        "--pattern",
        "{session}_{room}",
        "--annotation",
        "speech.csv",
        "--jobs",
        1,
    ]
    return run("audio", "clips", "rec", "-o", "clips", *fields, *options, folder=folder)


def test_recordings_become_the_material_of_a_study(folder: Path) -> None:
    done = cut(folder)
    assert done.returncode == 0, done.stderr
    settings = "seconds=4+5,min_speech=3,silence=0.25,gap=0,annotation=speech.csv"
    assert f"signature: clips({settings}," in done.stdout
    assert "16 clips from 4 recordings of 1.4 min, of which 62 % is speech." in done.stdout
    assert done.stderr.splitlines() == [
        "wrote 16 clips into clips",
        "open clips/review.html to review them",
    ]
    names = sorted(path.stem for path in (folder / "clips" / "audio").iterdir())
    lines = [f"{name},keep," for name in names[1:]] + [f"{names[0]},drop,cut word"]
    (folder / "review.csv").write_text("\n".join(["name,decision,reason", *lines]))
    options: list[str | int] = [
        "--count",
        8,
        "--balance",
        "session",
        "--balance",
        "room",
        "--number",
        "snr",
        "--panels",
        2,
    ]
    where = ["--review", "review.csv", "-o", "selected.csv"]
    done = run("audio", "select", "clips/clips.csv", *where, *options, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "8 of 16 clips are selected." in done.stdout
    assert "dropped: cut word       1" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["session", "S01", "7", "4", "2", "2"] in rows
    assert done.stderr == "wrote 8 clips to selected.csv\n"
    study = run("study", "new", "acr").stdout
    for old, new in (
        ("clips.csv", "selected.csv"),
        ("categories: []", "categories: [session, room]"),
        ("numbers: []", "numbers: [snr]"),
        ("panels: 4", "panels: 2"),
        ("clips: 32", "clips: 4"),
    ):
        study = study.replace(old, new)
    (folder / "study.yaml").write_text(study, encoding="utf-8")
    done = run("study", "check", "study.yaml", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "S21" in done.stdout


def test_bad_recordings_are_listed_and_skipped(folder: Path) -> None:
    (folder / "rec" / "S30_hall.wav").touch()
    (folder / "rec" / "S31.wav").write_bytes(b"RIFF")
    done = cut(folder)
    assert done.returncode == 2
    assert "S30_hall.wav: is empty" in done.stderr
    assert 'S31.wav: does not match the pattern "{session}_{room}"' in done.stderr
    assert "nothing was written" in done.stderr
    assert not (folder / "clips").exists()
    done = cut(folder, "--on-error", "skip", "--count", 4, "--balance", "room")
    assert done.returncode == 0, done.stderr
    assert "4 of 16 clips" in done.stdout
    assert "skipped: rec/S30_hall.wav: is empty" in done.stderr


def test_outputs_never_replace_inputs(folder: Path) -> None:
    cut(folder)
    table = folder / "clips" / "clips.csv"
    before = table.read_bytes()
    (folder / "link.csv").symlink_to(table)
    for output in ("clips/clips.csv", "link.csv"):
        done = run("audio", "select", "clips/clips.csv", "-o", output, folder=folder)
        assert done.returncode == 2
        assert "choose another file" in done.stderr
    assert table.read_bytes() == before
    done = cut(folder)
    assert done.returncode == 2
    assert "clips already exists" in done.stderr
    done = run("audio", "clips", "rec", "-o", "new", "--detector", "none", folder=folder)
    assert done.returncode == 2
    assert "use webrtc, or an .onnx file" in done.stderr
