"""The command audio normalize."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from helpers.command_line import Finished, run

RATE = 16_000


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with three clips in two conditions; one clip has a high peak, one is silent."""
    rng = np.random.default_rng(0)
    for number, system in enumerate(("C0", "C1")):
        (tmp_path / "data" / system).mkdir(parents=True)
        for name in ("S01", "S02", "S03"):
            samples = rng.normal(0, 0.03 * (number + 1), RATE)
            if (name, system) == ("S02", "C1"):
                samples[100] = 1
            if name == "S03":
                samples[:] = 0
            soundfile.write(tmp_path / "data" / system / f"{name}.wav", samples, RATE)
    return tmp_path


def normalized(folder: Path, *arguments: str) -> Finished:
    return run("audio", "normalize", "data", "-o", "out", *arguments, folder=folder)


def test_a_summary_notes_and_files_are_written(data: Path) -> None:
    done = normalized(data, "--target", "-20", "--rename", "{system}/{number:03}", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    first, reduced, *more = done.stdout.splitlines()
    assert first == "6 files (3 clips in 2 conditions) at -20 LUFS, true peak at most -1 dBTP"
    assert reduced.startswith("clips reduced by the true-peak limit: 1 of 3, by up to ")
    assert reduced.endswith(" dB (S02)")
    assert more == ["silent files: 2", "files below 0.4 s: 0", "files of clipped sources: 0"]
    note, wrote = done.stderr.splitlines()
    assert note.endswith("there is no gain to the target: C0/003.wav, C1/003.wav")
    assert (note[:6], wrote) == ("note: ", "wrote 6 files and levels.csv into out")
    assert len((data / "out" / "levels.csv").read_text().splitlines()) == 7
    assert soundfile.info(data / "out" / "C1" / "002.wav").samplerate == RATE


def test_options_reach_the_files(data: Path) -> None:
    done = normalized(
        data,
        *["--measure", "active", "--target", "-26", "--peak", "-3", "--rate", "48000"],
        *["--channels", "stereo", "--fit", "trim", "--tolerance", "1", "--bits", "24"],
        *["--files", "{system}/{item}.wav", "--condition", "C1", "--quiet"],
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("3 files at -26 dBov, true peak at most -3 dBTP\n")
    info = soundfile.info(data / "out" / "C1" / "S01.wav")
    assert (info.samplerate, info.channels, info.subtype) == (48_000, 2, "PCM_24")
    assert not (data / "out" / "C0").exists()


def test_problems_end_the_command_or_skip_clips(data: Path) -> None:
    (data / "data" / "C1" / "S01.wav").unlink()
    done = normalized(data)
    assert (done.returncode, done.stdout) == (2, "")
    assert 'missing in C1, although C0 has this clip [item "S01"]' in done.stderr
    assert "1 problem; nothing was written" in done.stderr
    assert not (data / "out").exists()
    done = normalized(data, "--on-error", "skip")
    assert done.returncode == 0
    assert "skipped: data/C0/S01.wav: missing in C1" in done.stderr
