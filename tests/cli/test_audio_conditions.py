"""The command audio conditions: what it prints, and how it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
import soundfile
from click.testing import CliRunner, Result

from earwitness.cli.main import group
from helpers.flite import speak_chapters


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clips") / "anna.wav"
    spoken = speak_chapters([["The birch canoe slid on the planks."]])
    soundfile.write(path, spoken.samples // 2, spoken.rate)
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(group, ["audio", "conditions", *map(str, arguments)])


def test_measured_values_are_printed_per_condition(clip: Path, tmp_path: Path) -> None:
    result = run(clip, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "i03 noise at 12 dB SNR(A) 1 12.0" in lines
    assert lines[-1].startswith("i12 distortion level 1, noise at 0 dB SNR(A) 1 0.0 ")
    assert result.stderr == f"wrote 12 files into {tmp_path / 'out'}\n"
    assert (tmp_path / "out" / "ref" / "i12_anna.wav").is_file()


def test_mnru_takes_a_list_of_values(clip: Path, tmp_path: Path) -> None:
    result = run("--kind", "mnru", "--q", "8,24", clip, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "q08        modulated noise at Q = 8 dB       1     8.0" in result.stdout
    assert (tmp_path / "out" / "q24" / "anna.wav").is_file()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-o", "out"], "Missing argument"),
        (["a.wav", "--kind", "mnru", "--q", "5,x", "-o", "out"], "'5,x' is not a number"),
        (["none.wav", "-o", "out"], "none.wav: file does not exist"),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert told in result.output + str(result.exception)
    assert not (tmp_path / "out").exists()
