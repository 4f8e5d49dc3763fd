"""The command browse as a process: where it can be reached, how it stops, and what it refuses."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
import soundfile

from helpers.command_line import run
from helpers.tones import RATE, sound, written


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return written(tmp_path / "day.wav", sound(12))


@contextmanager
def browsed(path: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], httpx2.Client]]:
    """The command browse as a process, and a client of its page."""
    command = [sys.executable, "-m", "earwitness", "browse", str(path), "--port", "0"]
    command += ["--cache", str(path.parent / "cache"), *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        address = r"browse day at http://[\d.]+:(\d+)/ \(press Ctrl-C to stop\)\n"
        found = next(filter(None, (re.fullmatch(address, line) for line in process.stderr)))
        try:
            with httpx2.Client(base_url=f"http://127.0.0.1:{found[1]}", timeout=60) as client:
                yield process, client
        finally:
            process.kill()


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_recording_is_served_until_the_command_is_stopped(recording: Path, host: str) -> None:
    with browsed(recording, "--host", host) as (process, client):
        assert client.get("/recording/info").json()["name"] == "day"
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        rest = process.stderr.read()
        assert process.wait(60) == 0
    assert rest.endswith("Stopped.\n")
    assert ("warning: anyone who reaches 0.0.0.0" in rest) == (host == "0.0.0.0")


def test_damaged_passages_are_printed(tmp_path: Path) -> None:
    path = tmp_path / "day.flac"
    soundfile.write(path, sound(12), RATE)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])
    with browsed(path) as (process, client):
        assert process.stderr is not None
        lines = filter(lambda line: "warning" in line, process.stderr)
        assert next(lines).startswith(f"warning: {path}: ")
        (damage,) = client.get("/recording/info").json()["damages"]
    assert 0 < damage < 12


def test_folders_of_the_cache_are_not_sent(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(recording.parent)
    (recording.parent / "private").touch()  # no folder
    with browsed(recording, "--cache", "private/cache") as (process, client):
        assert process.stderr is not None
        assert "cannot write to the cache" in next(process.stderr)
        assert "private" not in client.get("/recording/info").json()["message"]


def test_silences_between_hours_are_no_part_of_the_recording(tmp_path: Path) -> None:
    samples = sound(66)  # hours of 20 s
    for start in (20, 42):
        samples[start * RATE : (start + 2) * RATE] = 0
    path = written(tmp_path / "day.wav", samples)
    with browsed(path, "--hour-gap", "2") as (_, client):
        assert client.get("/recording/info").json()["seconds"] == pytest.approx(62, abs=0.01)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.flac"], "none.flac: file or folder does not exist"),
        (["day.wav", "--labels", "day.txt"], "1 problem; nothing was opened"),
        (["day.wav", "--speech", "mute", "--detector", "x"], 'unknown speech detector "x"'),
        (
            ["day.wav", "--speech", "mute", "--detector", "x.onnx"],
            "x.onnx: file does not exist",
        ),
        (["day.wav", "--shown", "UTC"], "that of the recording is unknown"),
        (["day.wav", "--host", "256.0.0.1"], "choose another --host or --port"),
    ],
)
def test_invalid_input_is_refused_before_anything_is_served(
    recording: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(recording.parent)
    done = run("browse", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
