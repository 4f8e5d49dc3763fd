"""The command browse as a process: where it can be reached, how it stops, and what it refuses."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from helpers.command_line import run
from helpers.tones import sound, written


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return written(tmp_path / "day.wav", sound(12))


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_recording_is_served_until_the_command_is_stopped(recording: Path, host: str) -> None:
    command = [sys.executable, "-m", "earwitness", "browse", str(recording), "--port", "0"]
    command += ["--host", host, "--cache", str(recording.parent / "cache")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.fullmatch(r"browse day at http://[\d.]+:(\d+)/ \(press Ctrl-C to stop\)\n", line)
        assert found, line
        with httpx2.Client(base_url=f"http://127.0.0.1:{found[1]}", timeout=60) as client:
            assert client.get("/recording/info").json()["name"] == "day"
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(60) == 0
    assert rest.endswith("Stopped.\n")
    assert ("warning: anyone who reaches 0.0.0.0" in rest) == (host == "0.0.0.0")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.flac"], "none.flac: file or folder does not exist"),
        (["day.wav", "--labels", "day.txt"], "1 problem; nothing was opened"),
        (["day.wav", "--speech", "mute", "--speech-model", "x"], 'unknown speech detector "x"'),
        (
            ["day.wav", "--speech", "mute", "--speech-model", "x.onnx"],
            "x.onnx: file does not exist",
        ),
        (["day.wav", "--shown", "UTC"], "that of the recording is unknown"),
        (["day.wav", "--host", "256.0.0.1"], "choose another --host or --port"),
        (["day.wav", "--cache-size", "-1"], "-1.0 is not in the range"),
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
