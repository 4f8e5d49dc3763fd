"""The command line among pipes, devices, signals and full disks."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers.command_line import run
from helpers.samples import corpus, write_lines

PROGRAM = f"{sys.executable} -m earwitness"


def shell(command: str, folder: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    """A command line; E is the program."""
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "E": PROGRAM, **extra},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_lines(tmp_path / "s.jsonl", corpus(12, 600.0, 2, 9))
    return tmp_path


@pytest.mark.parametrize(
    ("verb", "unbuffered"),
    [("score s.jsonl", "1"), ("metrics", ""), ("metrics", "1"), ("score s.jsonl --to json", "")],
)
def test_a_reader_that_goes_away_is_no_error(verb: str, unbuffered: str, folder: Path) -> None:
    command = f"$E {verb} | true; exit ${{PIPESTATUS[0]}}"
    done = shell(command, folder, PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr) == (0, "")


def test_output_that_cannot_be_written_is_said(folder: Path) -> None:
    done = shell("$E score s.jsonl > /dev/full", folder)
    assert (done.returncode, done.stderr) == (
        1,
        "earwitness: cannot write: No space left on device\n",
    )


def test_a_full_disk_leaves_nothing_half_done(folder: Path) -> None:
    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    done = subprocess.run(
        [sys.executable, "-m", "earwitness", "score", "s.jsonl", "--to", "json", "-o", "r.json"],
        cwd=folder,
        preexec_fn=small_files,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "earwitness: r.json: cannot be written: File too large\n"
    assert [path.name for path in folder.iterdir()] == ["s.jsonl"]


def test_closed_streams_are_no_traceback(folder: Path) -> None:
    done = shell("$E score s.jsonl >&-", folder)
    assert (done.returncode, done.stderr) == (0, "")
    done = shell("$E score - <&-", folder)
    assert done.returncode == 2
    assert done.stderr == (
        "stdin: cannot be read: standard input is closed\n1 problem; nothing was scored\n"
    )


def test_a_terminal_of_few_characters_gets_what_it_can_show(folder: Path) -> None:
    done = shell("$E score s.jsonl", folder, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")


def test_pipes_and_links_stay_what_they_are(folder: Path) -> None:
    (folder / "target.md").write_text("old")
    (folder / "link.md").symlink_to("target.md")
    done = shell(
        "mkfifo pipe; cat pipe > copy.md & $E score s.jsonl --to md -o pipe && wait &&"
        " $E score s.jsonl --to md -o link.md && $E score s.jsonl -o /dev/null",
        folder,
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "pipe").is_fifo()
    assert (folder / "link.md").is_symlink()
    assert (folder / "copy.md").read_text() == (folder / "target.md").read_text() != "old"
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--to json -o s.jsonl --samples t.csv", "s.jsonl is named twice"),
        ("-o r.pdf", "r.pdf: unknown output format — use .csv, .htm"),
        ("--samples ./s.jsonl", "s.jsonl is named twice"),
        ("-o new.csv --samples new.csv", "new.csv is named twice"),
        ("-o nowhere/r.md --samples t.csv", "the folder nowhere does not exist"),
        ("-o . --samples t.csv", ". is a folder"),
    ],
)
def test_bad_places_for_results_are_refused_before_any_work(
    arguments: str, message: str, folder: Path
) -> None:
    before = (folder / "s.jsonl").read_bytes()
    done = run("score", "s.jsonl", *arguments.split(), folder=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert [path.name for path in folder.iterdir()] == ["s.jsonl"]
    assert (folder / "s.jsonl").read_bytes() == before


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_the_program(kind: signal.Signals, folder: Path) -> None:
    command = [sys.executable, "-m", "earwitness", "score", "-", "--jobs", "2"]
    process = subprocess.Popen(
        [*command, "--samples", "t.csv"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stderr is not None
    line = json.dumps({"hypothesis": [1.0] * 50, "reference": [2.0] * 50, "duration": 60}) + "\n"
    process.stdin.write((line * 5000).encode())
    process.stdin.flush()
    while len(_of_group(process.pid)) < 4:  # the program, a tracker and two workers
        time.sleep(0.05)
    process.send_signal(kind)
    process.wait(timeout=60)
    process.stdin.close()
    process.stderr.close()
    end = time.monotonic() + 30
    while _of_group(process.pid) and time.monotonic() < end:
        time.sleep(0.1)
    assert _of_group(process.pid) == []
    if kind == signal.SIGTERM:
        assert process.returncode == 143
        assert [path.name for path in folder.iterdir()] == ["s.jsonl"]


def _of_group(group: int) -> list[int]:
    """Living processes of a group."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            state, _, its_group = (entry / "stat").read_text().rsplit(")", 1)[1].split()[:3]
        except (OSError, IndexError):
            continue
        if int(its_group) == group and state != "Z":
            found.append(int(entry.name))
    return found


@pytest.mark.parametrize(
    ("words", "completion"),
    [
        ("earwitness stu", "plain,study"),
        ("earwitness study new ac", "plain,acr"),
        ("earwitness score --coll", "plain,--collar"),
        ("earwitness scor --nothing --", ""),
        ("earwitness score --nothing 3 --low", ""),
        ("earwitness study check --min", "plain,--minutes"),
    ],
)
def test_shells_complete_commands_and_options(words: str, completion: str, tmp_path: Path) -> None:
    last = str(len(words.split()) - 1)
    asked = {"_EARWITNESS_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": last}
    done = shell("$E", tmp_path, **asked)
    assert (done.returncode, done.stderr) == (0, "")
    assert completion in done.stdout.splitlines() or not completion


def test_the_script_of_a_shell_is_printed(tmp_path: Path) -> None:
    done = shell("$E", tmp_path, _EARWITNESS_COMPLETE="zsh_source")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("#compdef earwitness")
