"""The command line as a user meets it."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import chunkseg.cli
import numpy as np
import pytest

import earwitness
from earwitness.cli.audio import audio_command
from earwitness.cli.experiment import experiment_command
from earwitness.cli.main import COMMANDS, STUDY_COMMANDS, main
from earwitness.io.source import READ_BLOCK_BYTES
from earwitness.output_formats import FORMS, render
from earwitness.scoring.score import score
from helpers.command_line import run
from helpers.csv_results import read_results
from helpers.samples import FULL, corpus, hear_ctrl_c, write_lines


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "samples.jsonl", corpus(12, 600.0, 2, 9))


def test_every_command_is_a_function_and_no_other_name_is_accepted() -> None:
    # another package, services, and groups; the functions of summarizer are in summaries.methods
    own = {"browse", "chunkseg", "serve", "audio", "study", "experiment", "summarizer"}
    study = {f"study_{name.replace('-', '_')}" for name in STUDY_COMMANDS}
    experiments = {f"{name}_experiment" for name in experiment_command.commands}
    audio = {f"audio_{name}" for name in audio_command.commands}
    grouped = audio | study | experiments | {"study_ratings_xlsx"}
    assert {*earwitness.FUNCTION_MODULES} == ({*COMMANDS} - own) | grouped | {
        "render",
        "Accumulator",
    }
    assert all(callable(getattr(earwitness, name)) for name in earwitness.FUNCTION_MODULES)
    with pytest.raises(AttributeError, match="scoree"):
        earwitness.scoree  # type: ignore[attr-defined]  # noqa: B018 - mypy must refuse it


def test_the_table_goes_to_standard_output_and_nothing_else_does(samples: Path) -> None:
    done = run("score", samples)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "collar_f1 ↑" in done.stdout
    assert "sha256" in done.stdout


def test_figures_go_to_a_new_folder_and_problems_are_reported_before_any_work(
    samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = samples.parent / "figures"
    done = run("score", samples, "--value", "collar_f1", "--to", "csv", "--figures", folder)
    assert done.stderr == f"wrote 6 files into {folder}\n"
    assert "\nsystem,name,value" in done.stdout
    assert (folder / "01-collar-f1-intervals.svg").is_file()
    again = run("score", "nowhere.jsonl", "--figures", folder)
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr == f"earwitness: {folder} already exists — choose another folder\n"
    for name in [name for name in sys.modules if name.startswith("earwitness.report.figures")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    without = run("score", "nowhere.jsonl", "--figures", samples.parent / "more")
    assert "saving figures needs matplotlib, which is not installed — run: pip" in without.stderr


def test_bad_input_ends_with_2_and_a_message_without_traceback(samples: Path) -> None:
    samples.write_text(samples.read_text() + "{\n")
    out = samples.parent / "out.json"
    done = run("score", samples, "--to", "json", "-o", out, "--samples", out.with_suffix(".csv"))
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"{samples}:13: not JSON" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(samples.parent.iterdir()) == [samples]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scroe"], 'unknown command "scroe" — did you mean "score"?'),
        (["score"], "Missing argument 'OUTPUTS'"),
        (["score", "-", "--colar", "3"], "--colar"),
        (["score", "-", "--collar", "wide"], "'wide' is not a number or a list such as 1,3,10"),
        (["score", "nowhere.jsonl"], "nowhere.jsonl: cannot be read: No such file"),
        (["score", "-", "--jobs", "0"], "jobs must be 1 or more"),
        (
            ["score", "-", "--chunk-size", "0"],
            "chunk_size must be a finite number of at least 0.001",
        ),
        (["score", "-", "--preset", "srtt"], "'srtt' is not one of"),
        (["score", "-", "--pattern", "("], "--pattern is not an option any more — use --custom-"),
        (["audio", "clips", "a", "-o", "b", "--margin", "1"], "use --silence SECONDS"),
        (["serve", "a.yaml", "--resume", "block"], "use --on-return resume|session|block"),
        (["score", "-", "--custom-pattern", "("], "pattern is not a regular expression"),
        (
            ["score", "-", "--metric", "title_bertscore", "--layer", "9"],
            "layer must be from 1 to 6",
        ),
        (["chunkseg", "-", "--num-bootstrap", "0"], "--num-bootstrap must be 1 or more"),
    ],
)
def test_bad_arguments_end_with_2_and_a_remedy(arguments: list[str], message: str) -> None:
    done = run(*arguments, stdin='{"hypothesis": [], "reference": [], "duration": 60}')
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_every_form_carries_signature_and_provenance(samples: Path) -> None:
    want = score(str(samples), worst=5)
    for form in FORMS:
        done = run("score", samples, "--to", form, "--table", "full", "--worst", "5")
        assert done.returncode == 0, form
        plain = done.stdout.replace("\\", "")
        assert want.signature in plain, form
        assert want.provenance.inputs[0].sha256 in plain, form
        assert done.stdout == render(want, form, table="full", width=80), form


def test_a_page_shows_some_of_the_worst_unless_told_otherwise(samples: Path) -> None:
    page = run("score", samples, "--to", "html").stdout
    assert page.count('<figure class="timeline"') == 5
    assert run("score", samples, "--to", "html", "--worst", "2").stdout.count("<figcaption>") < (
        page.count("<figcaption>")
    )


def test_json_holds_every_estimate(samples: Path) -> None:
    found = json.loads(run("score", samples, "--to", "json", "--worst", "2").stdout)
    want = score(samples, worst=2)
    assert found["systems"]["samples"]["pk"]["low"] == want.systems["samples"]["pk"].low
    assert found["provenance"]["cases"] == 12
    assert [one["item"] for one in found["worst"]] == [one.key.item for one in want.worst]


def test_csv_has_a_line_an_estimate_and_leaves_undefined_numbers_empty(samples: Path) -> None:
    write_lines(samples, [{"hypothesis": [], "reference": [], "duration": 1}])
    facts, rows = read_results(run("score", samples, "--to", "csv").stdout)
    assert [row["name"] for row in rows] == list(score(samples).systems["samples"])
    assert facts["signature"] == score(samples).signature
    assert facts["provenance"]["cases"] == 1
    assert (rows[0]["value"], rows[0]["n"], rows[0]["undefined"]) == ("", "0", "1")


def test_skipped_samples_are_listed_with_their_reason(samples: Path) -> None:
    samples.write_text(samples.read_text() + '{"id": "x|y"}\n' * 1)
    done = run("score", samples, "--on-error", "skip")
    assert done.returncode == 0
    assert "1 skipped\n  x|y (samples): " in done.stdout
    assert "duration: missing" in done.stdout
    assert "x\\|y" in run("score", samples, "--on-error", "skip", "--to", "md").stdout


def test_jobs_give_the_same_bytes(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "big.jsonl", corpus(1800, 3600.0, 10, 60))
    assert path.stat().st_size > 1.5 * READ_BLOCK_BYTES
    command = [sys.executable, "-m", "earwitness", "score", str(path), "--to", "json"]
    one, two = (
        subprocess.run([*command, "--jobs", jobs], capture_output=True, check=False)
        for jobs in ("1", "2")
    )
    assert one.returncode == two.returncode == 0, two.stderr
    assert one.stdout == two.stdout


def test_output_goes_to_a_file(samples: Path) -> None:
    out = samples.parent / "result.md"
    done = run("score", samples, "--to", "md", "-o", out)
    assert (done.returncode, done.stdout) == (0, "")
    assert out.read_text().startswith("# Scores\n")


@pytest.mark.parametrize("ending", ["json", "csv", "md", "txt", "html", "tex"])
def test_the_form_follows_the_ending_of_the_file(ending: str, samples: Path) -> None:
    out = samples.with_suffix(f".{ending}")
    table = samples.with_name("table.csv")
    done = run("score", samples, "-o", out, "--samples", table)
    note = "note: Check the times: 1 boundary lies before 0\n"
    assert done.stderr == f"wrote {table}\n{note}wrote {out}\n"
    starts = {"json": "{", "csv": "# earwitness ", "md": "# Scores", "txt": "Check the times"}
    starts |= {"html": "<!DOCTYPE", "tex": "% requires"}
    assert out.read_text().startswith(starts[ending])


def test_an_option_given_several_times_is_scored_with_each(samples: Path) -> None:
    done = run("score", samples, "--metric", "collar", "--collar", 1, "--collar", 5)
    assert done.returncode == 0, done.stderr
    assert "collar(against=mean,edge=0.0,collar=1.0,boundary_matching=greedy)" in done.stdout
    assert "collar_f1@5.0 ↑" in done.stdout


def test_the_drop_in_names_lines(samples: Path) -> None:
    samples.write_text(samples.read_text() + '\n{"hypothesis": ["1:30"], "duration": 60}\n')
    done = run("chunkseg", samples)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"{samples}:14: hypothesis[0]: must be a number, got '1:30'",
        f"{samples}:14: reference: missing",
        "2 problems; nothing was scored",
    ]


def test_many_systems_are_shown_in_groups_that_fit() -> None:
    rows = corpus(3, 600.0, 2, 9)
    systems = [f"a system with a long name, number {i}" for i in range(6)]
    references = [
        {"item": i, "duration": 600, "references": [{"boundaries": row["reference"]}]}
        for i, row in enumerate(rows)
    ]
    outputs = [
        {"item": i, "system": system, "output": {"boundaries": row["hypothesis"]}}
        for i, row in enumerate(rows)
        for system in systems
    ]
    scores = score(outputs, references)
    shown = render(scores, width=100).split("confidence intervals:")[0]
    assert max(map(len, shown.splitlines())) <= 100
    assert all(system in shown for system in systems)
    assert shown.count("pk ↓") == 3  # two systems side by side


def test_the_metrics_are_listed() -> None:
    done = run("metrics")
    assert "--chunk-size 6.0: Length of a chunk, in seconds" in done.stdout
    assert "pk ↓: Pk: windows" in done.stdout


def test_a_bar_with_rate_and_time_left_is_shown_on_a_terminal_only(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "big.jsonl", corpus(2000, 3600.0, 10, 60) * 4)
    main_end, program_end = pty.openpty()
    termios.tcsetwinsize(program_end, (24, 100))
    done = subprocess.Popen(
        [sys.executable, "-m", "earwitness", "score", str(path)],
        stdout=subprocess.DEVNULL,
        stderr=program_end,
    )
    os.close(program_end)
    shown = b""
    while True:
        try:
            piece = os.read(main_end, 65536)
        except OSError:  # the other end was closed
            break
        if not piece:
            break
        shown += piece
    os.close(main_end)
    assert done.wait() == 0
    assert b"B/s" in shown
    assert b"<00:0" in shown  # time left
    assert b"outputs" in shown


@pytest.mark.parametrize("pause", [0.0, 0.1, 0.3, 1.0] if FULL else [0.3])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_ends_at_once_and_leaves_nothing(jobs: str, pause: float, tmp_path: Path) -> None:
    out = tmp_path / "samples.csv"
    command = [sys.executable, "-m", "earwitness", "score", "-", "--samples", str(out)]
    process = subprocess.Popen(
        [*command, "--jobs", jobs],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=hear_ctrl_c,
    )
    assert process.stdin is not None
    line = json.dumps({"hypothesis": [1.0] * 50, "reference": [2.0] * 50, "duration": 60}) + "\n"
    process.stdin.write((line * 2000).encode())
    process.stdin.flush()  # the input never ends
    while not list(tmp_path.iterdir()):
        time.sleep(0.01)
    time.sleep(pause)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: all processes of the group
    output, message = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output == b""
    assert message == b"\nearwitness: interrupted; nothing was written\n"
    assert list(tmp_path.iterdir()) == []


def test_the_drop_in_prints_what_chunkseg_prints(
    samples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--chunk-size", "3", "--collar", "5", "--num-bootstrap", "20"]
    samples.write_text(samples.read_text() + "\n{bad\n")
    np.random.seed(1)  # noqa: NPY002 — what both draw from
    chunkseg.cli.main([str(samples), *flags])
    theirs = capsys.readouterr()
    np.random.seed(1)  # noqa: NPY002
    main(["chunkseg", str(samples), *flags])
    ours = capsys.readouterr()
    warning = "Warning: Check the times: 1 boundary lies before 0\n"
    assert (ours.out, ours.err) == (theirs.out, theirs.err + warning)
    assert "skipping invalid JSON on line 14" in ours.err


def test_the_drop_in_writes_what_chunkseg_writes(
    samples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, theirs = samples.with_name("mine.json"), samples.with_name("theirs.json")
    np.random.seed(1)  # noqa: NPY002
    chunkseg.cli.main([str(samples), "--output", str(theirs)])
    np.random.seed(1)  # noqa: NPY002
    main(["chunkseg", str(samples), "--output", str(mine)])
    printed = capsys.readouterr().out.splitlines()
    assert printed == [f"Results written to {theirs}", f"Results written to {mine}"]
    ours, want = json.loads(mine.read_text()), json.loads(theirs.read_text())
    assert list(ours) == list(want)
    for name, value in want.items():
        assert ours[name] == pytest.approx(value, abs=1e-12)


def test_the_drop_in_counts_unknown_fields(samples: Path) -> None:
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    write_lines(samples, [row | {"channel": "x", "id": 1} for row in rows])
    done = run("chunkseg", samples)
    assert done.returncode == 0
    assert done.stderr == (
        "Warning: ignored unknown fields: channel (12×)\n"
        "Warning: Check the times: 1 boundary lies before 0\n"
    )


def test_the_drop_in_has_chunksegs_flags() -> None:
    parser = chunkseg.cli._build_parser()
    theirs = {flag for action in parser._actions for flag in action.option_strings}
    shown = run("chunkseg", "--help").stdout
    assert {flag for flag in theirs if flag.startswith("--")} <= {*shown.split()}
