"""The verb skim, as somebody in a shell sees it."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
import soundfile
from click.testing import CliRunner, Result

from earwitness.cli import main as verbs
from earwitness.cli import skim as verb
from earwitness.cli.main import group, main
from earwitness.models.cache import CACHE_FOLDER_VARIABLE
from earwitness.skims.options import SkimOptions
from earwitness.skims.run import skim
from earwitness.skims.types import SkimRun
from helpers.samples import hear_ctrl_c

RATE = 16_000
SMALL = ["--picks", "4", "--block", "0.4", "--overlap", "0.1", "--period", "10"]


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterable[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_FOLDER_VARIABLE, str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty seconds of noise, with a whistle that rises."""
    path = tmp_path_factory.mktemp("day and night") / "été 1.wav"
    time = np.arange(40 * RATE) / RATE
    noise = 0.01 * np.random.default_rng(0).standard_normal(len(time))
    soundfile.write(path, noise + 0.1 * np.sin(2 * np.pi * (300 + 40 * time) * time), RATE)
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(group, ["skim", *map(str, arguments), *SMALL])


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """What is told by a command that does not work."""
    with pytest.raises(SystemExit) as stop:
        main(["skim", *map(str, arguments)])
    assert stop.value.code == 2
    out, told = capsys.readouterr()
    assert not out
    assert "Traceback" not in told
    return told


def test_one_skim_is_told_with_all_its_files(day: Path, tmp_path: Path) -> None:
    done = run(day, "-o", tmp_path / "skim.flac", "--jobs", "2")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("été 1\n  system")
    assert "pareto-z0.5" in done.stdout
    assert done.stdout.count("signature: ") == 1
    wrote = done.stderr.splitlines()
    assert wrote[0] == f"wrote {tmp_path / 'skim.flac'}"
    assert len(wrote) == len(list(tmp_path.iterdir())) == 8
    again = run(day, "-o", tmp_path / "skim.flac")
    assert again.stderr == (
        "note: 1 skim with the same settings already exists — delete it to recreate it\n"
    )
    assert again.stdout == done.stdout


def test_what_is_skipped_is_listed_at_the_end(day: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.wav").write_bytes(b"")
    done = run(day, tmp_path / "empty.wav", "-o", tmp_path / "skims", "--on-error", "skip")
    assert done.exit_code == 0, done.output
    assert done.stderr.splitlines()[-2:] == [
        f"skipped: {tmp_path / 'empty.wav'}: is empty",
        "1 problem; all other recordings and files were used",
    ]


def test_a_length_that_whole_picks_cannot_have_is_told(day: Path, tmp_path: Path) -> None:
    # 7 picks of 4 s that overlap by 1 s last 22 s, 6 of them 19 s
    given = ["skim", day, "-o", tmp_path / "s.wav", "--block", 4, "--overlap", 1, "--quiet"]
    done = CliRunner().invoke(group, [*map(str, given), "--length", "21", "--picks", "1"])
    assert "--length and --picks cannot be combined" in str(done.exception)
    lengths = {
        "21": "note: --length 21: the skim lasts 22 s (7 picks of 4 s with an overlap of 1 s)",
        "22": "",
    }
    for length, told in lengths.items():
        done = CliRunner().invoke(group, [*map(str, given), "--length", length])
        assert done.exit_code == 0, done.output
        assert [one for one in done.stderr.splitlines() if "--length" in one] == [told] * bool(told)


def test_many_skims_are_told_in_short(day: Path, tmp_path: Path) -> None:
    folder = tmp_path / "skims"
    options = ["--z", "0,0.25,1", "--method", "pareto", "--method", "random", "--without", "page"]
    done = run(day, "-o", folder, *options)
    assert done.exit_code == 0, done.output
    assert done.stderr.splitlines() == [
        f"wrote 4 skims into {folder}, with audio, picks and further files",
        f"wrote {folder / 'outputs.jsonl'} and {folder / 'recordings.jsonl'}, for earwitness score",
    ]
    signatures = re.findall(r"signature: .*?\((.*?),picks", done.stdout)
    assert signatures == ["method=pareto,z=0|0.25|1", "method=random"]
    assert "corr(z, tc)" in done.stdout
    assert not list(folder.glob("*.html"))
    more = run(day, "-o", folder, "--z", "0,0.5", "--without", "page")
    assert more.stderr.splitlines()[:2] == [
        "note: 1 skim with the same settings already exists — delete it to recreate it",
        f"wrote 1 skim into {folder}, with audio, picks and further files",
    ]
    paged = run(day, "-o", folder, "--z", "0", "--match-levels", "--bits", "24")
    assert paged.stderr.splitlines()[-1] == f"wrote {folder / 'skims.html'}, a report on all skims"
    assert "levels=matched,bits=24" in paged.stdout


def test_notes_come_before_what_was_written(day: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "20250722_000000.wav").write_bytes(day.read_bytes())
    (folder / "readme.md").write_text("Recorded in a garden.")
    done = run(folder, "-o", tmp_path / "s.wav")
    assert done.stderr.splitlines()[0] == (
        f"note: {folder}: skipped files that are not audio: readme.md"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--z", "2"], "z must be from 0 (follow the day) to 1"),
        (["--z", "half"], "'half' is not a number or a list such as 1,3,10"),
        (["--z", "nan"], "z must be from 0 (follow the day) to 1"),
        (["--embedder", "codebok"], 'did you mean "codebook"?'),
        (["--picks", "0"], "picks must be at least 1, got 0"),
        (["--overlap", "5"], "overlap must be from 0 to half a block (4 s), got 5"),
        (["--block", "60"], "too short for one block of 60 s (longest passage: 40.0 s)"),
        (["--block", "0.1", "--overlap", "0"], "block must be at least"),
        (["--picks", "3", "--length", "30"], "--length and --picks cannot be combined"),
        (["--by-day"], "the start time is unknown, so it cannot be split into days — set --start"),
        (["--zone", "Paris"], "Paris"),
        (["--times", "nowhere.csv"], "nowhere.csv"),
        (["--method", "manual"], "--times and --method manual must be used together"),
        (["--z", "0,1"], "cannot write 2 skims to one file — choose a folder"),
    ],
)
def test_what_makes_no_sense_is_told_in_a_line(
    day: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    message: str,
) -> None:
    told = refused(capsys, day, "-o", tmp_path / "s.flac", *options)
    assert message in told
    assert not list(tmp_path.iterdir())


def test_places_without_sound_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "s.flac"
    folder = tmp_path / "empty"
    folder.mkdir()
    assert "no audio files found" in refused(capsys, folder, "-o", output)
    text = tmp_path / "text.wav"
    text.write_text("This is no sound.")
    assert "text.wav" in refused(capsys, text, "-o", output)
    assert "file or folder does not exist" in refused(capsys, tmp_path / "no", "-o", output)
    assert not output.exists()


def test_who_stops_the_work_is_told_what_is_kept(
    day: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for stop, code, word in (
        (KeyboardInterrupt, 130, "interrupted"),
        (verbs.Termination, 143, "terminated"),
    ):

        def stopped(*_: object, stop: type[BaseException] = stop, **__: object) -> SkimRun:
            raise stop

        monkeypatch.setattr(verb, "skim", stopped)
        with pytest.raises(SystemExit) as ended:
            main(["skim", str(day), "-o", str(tmp_path / "s.flac")])
        assert ended.value.code == code
        assert f"{word}; {verb.INTERRUPTED_NOTE}" in capsys.readouterr().err


def test_a_run_that_is_killed_leaves_nothing_half_written(day: Path, tmp_path: Path) -> None:
    """A signal while a long file is read: its name is not there, and no other is."""
    long = tmp_path / "in" / "long.wav"
    long.parent.mkdir()
    samples, rate = soundfile.read(day, dtype="int16")
    soundfile.write(long, np.tile(samples, 90), rate)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "earwitness", "skim", str(long), "-o", str(out)]
    main_end, side = pty.openpty()  # so that there is a bar, which tells that it reads
    command += ["--cache", str(tmp_path / "cache")]
    with subprocess.Popen(command, stderr=side, preexec_fn=hear_ctrl_c) as work:
        os.close(side)
        seen = b""
        while b"real time" not in seen:
            seen += os.read(main_end, 1000)
        work.send_signal(signal.SIGINT)
        while True:
            try:
                more = os.read(main_end, 1000)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            seen += more
    os.close(main_end)
    assert work.returncode == 130
    assert b"Traceback" not in seen
    assert b"run it again to resume" in seen
    assert not out.exists()
    assert not list((tmp_path / "cache").rglob(".making-*"))


def test_progress_is_told_in_seconds_of_all_recordings(day: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []

    def progress(done: int, total: int | None, _: int) -> None:
        told.append((done, total))

    other = tmp_path / "other.wav"
    other.write_bytes(day.read_bytes())
    asked = SkimOptions(picks=2, block=2.0, overlap=0.0, period=10.0, cache=tmp_path / "cache")
    skim([day, other], tmp_path / "skims", asked, progress=progress)
    assert {total for _, total in told} == {80}
    done = [one for one, _ in told]
    assert done == sorted(done)
    assert done[-1] == 80
