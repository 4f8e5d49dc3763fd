"""Options of the command line: help by task, types, names and values to show."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from earwitness.cli.main import COMMANDS, group
from earwitness.cli.options import metric_parameters
from helpers.command_line import run
from helpers.csv_results import read_results

EXAMPLES = Path(__file__).parents[2] / "examples"
CHAPTERS = [EXAMPLES / "chapters" / f"{name}.jsonl" for name in ("outputs", "annotators")]
SUMMARIES = [EXAMPLES / "summaries" / f"{name}.jsonl" for name in ("outputs", "references")]
COLUMNS = 80


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command and subcommand, by what a user types."""
    context = click.Context(group)
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                one = command.get_command(context, inner)
                assert one is not None
                yield f"{name} {inner}", one


@pytest.mark.parametrize(
    "name",
    [name for name, command in commands() if any(one.name == "seed" for one in command.params)],
)
def test_a_negative_seed_is_an_error_of_every_command(name: str) -> None:
    done = run(*name.split(), "--seed", "-1")
    assert done.returncode == 2
    assert "seed must be a whole number from 0 to 2^64 - 1, got -1" in done.stderr


LOOPS = """
score loop | score loop loop | compare loop loop | people loop | network loop item
chunkseg loop | gather loop | agree loop loop | study check loop | study analyse loop
score samples --to csv -o loop | score samples -o loop/a.csv | chunkseg samples -o loop
"""


@pytest.mark.parametrize("line", LOOPS.strip().replace("\n", " | ").split(" | "))
def test_a_loop_of_symbolic_links_is_an_error(line: str, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "samples").write_text('{"hypothesis": [], "reference": [], "duration": 9}\n')
    done = run(*line.split(), folder=tmp_path)
    assert done.returncode == 2
    assert "loop" in done.stderr


@pytest.mark.parametrize("command", ["score", "chunkseg"])
@pytest.mark.parametrize("name", ["s.json", "./s.json", "link.json", "hard.json", "sub/../s.json"])
def test_a_result_never_replaces_an_input(command: str, name: str, tmp_path: Path) -> None:
    lines = '{"hypothesis": [], "reference": [], "duration": 9}\n'
    (tmp_path / "s.json").write_text(lines)
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.json").symlink_to("s.json")
    (tmp_path / "hard.json").hardlink_to(tmp_path / "s.json")
    done = run(command, "s.json", "-o", name, folder=tmp_path)
    assert done.returncode == 2
    assert f"{Path(name)} is named twice — choose another file for the result" in done.stderr
    assert (tmp_path / "s.json").read_text() == lines


# --- Help ----------------------------------------------------------------------------------------


def test_help_of_the_program_lists_commands_by_task_with_score_first() -> None:
    shown = run("--help").stdout
    assert [line for line in shown.splitlines() if line.endswith(":")] == [
        "Options:",
        "Score outputs:",
        "Run listening tests:",
        "Check metrics against human ratings:",
        "Recognize, align and summarize speech:",
        "Browse, condense and synthesize recordings:",
    ]
    assert next(iter(COMMANDS)) == "score"
    lists = shown.partition("Score outputs:")[2].splitlines()
    assert [line.split()[0] for line in lists if line.startswith("  ")] == list(COMMANDS)


def test_the_list_of_metrics_has_every_option_once_per_task() -> None:
    tasks = {name: run("metrics", name).stdout for name in ("chapters", "summaries", "skims")}
    for flag in metric_parameters():
        listed = [
            text.count(f"\n  {flag}:") + text.count(f"\n  {flag} ") for text in tasks.values()
        ]
        assert set(listed) <= {0, 1}, flag
        assert sum(listed) > 0, flag
    assert run("metrics").stdout == "\n".join(tasks.values())


def test_an_unknown_task_has_no_list_of_metrics() -> None:
    done = run("metrics", "chapter")
    assert done.returncode == 2
    assert 'unknown task "chapter" — did you mean "chapters"?' in done.stderr


@pytest.mark.parametrize("command", ["score", "compare", "people"])
def test_help_says_where_options_of_metrics_are(command: str) -> None:
    shown = run(command, "--help", width=COLUMNS).stdout
    assert max(map(len, shown.splitlines())) <= COLUMNS
    assert "earwitness metrics lists them" in " ".join(shown.split())
    assert "--collar FLOAT" not in shown


@pytest.mark.parametrize(("name", "command"), [*commands()], ids=[one for one, _ in commands()])
def test_every_command_and_option_is_described(name: str, command: click.Command) -> None:
    assert command.help, name
    first = command.help.splitlines()[0]
    assert first[0].isupper()
    assert first.endswith("."), first
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts}"
            assert sum(flag.startswith("--") for flag in parameter.opts) == 1, parameter.opts
            assert not parameter.help.startswith("["), f"{name} {parameter.opts}"


@pytest.mark.parametrize(("name", "command"), [*commands()], ids=[name for name, _ in commands()])
def test_progress_can_be_hidden(name: str, command: click.Command) -> None:
    assert command.callback is not None
    shows = "progress_bar(" in inspect.getsource(command.callback)
    assert not shows or "quiet" in {option.name for option in command.params}, name


def test_help_keeps_the_quotes_of_values_and_names_what_they_need() -> None:
    shown = " ".join(run("agree", "--help").stdout.split())
    assert 'or "length", that of outputs (needs --outputs)' in shown
    shown = " ".join(run("study", "plane", "--help").stdout.split())
    assert "--picks" not in shown


# --- Messages ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("score - --worst 0 --worst-by pk", "--worst-by requires items to show"),
        ("score - --level 2", "earwitness: --level must be between 0 and 1"),
        ("score - --interval-form none", "--interval-form requires the table for a paper"),
        ("study analyse ratings.csv --contrast a", '--contrast: write SYSTEM:SYSTEM, got "a"'),
        ("study analyse ratings.csv --margin 0.5", "'0.5' is not SCALE=POINTS"),
        ("study analyse ratings.csv --low-is-good EFFORT", '--low-is-good: no ratings on scale "'),
        ("study analyse ratings.csv --scale nosuch=1:5", '--scale: no ratings on scale "nosuch"'),
        (
            "study analyse ratings.csv --screening p808 --screening none",
            "--screening: none cannot be combined with rules",
        ),
        ("study analyse ratings.csv --column who=a", 'unknown role "who" — known: '),
        ("soundscape -o a.flac --practice p", "--output and --practice cannot be combined"),
        ("soundscape", "no output — set --output FILE or --practice FOLDER"),
        ("study take a", "take is not a command any more — use earwitness serve"),
        ("gather talk.txt --preset custom", "this preset requires --custom-pattern"),
    ],
)
def test_messages_name_options(line: str, message: str, tmp_path: Path) -> None:
    rows = [f"{item},{system},{who},3\n" for item in "ab" for system in "xy" for who in "pq"]
    (tmp_path / "ratings.csv").write_text("item,system,listener,MOS\n" + "".join(rows))
    (tmp_path / "talk.txt").write_text("One\n")
    done = run(*line.split(), folder=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr


def test_roles_of_columns_are_listed_with_that_of_sample_names(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text("item,system,listener,MOS\na,x,p,3\n")
    done = run("study", "analyse", "ratings.csv", "--column", "who=a", folder=tmp_path)
    assert ", sample" in done.stderr


# --- Types ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "row"),
    [
        ("score", "--worst INTEGER "),
        ("score", "--level FLOAT "),
        ("score", "--samples FILE "),
        ("score", "--reference-counts INTEGER,... "),
        ("compare", "--permutations INTEGER "),
        ("skim", "--z FLOAT,... "),
        ("skim", "--picks INTEGER "),
        ("serve", "--port INTEGER "),
        ("browse", "--detector NAME|FILE "),
    ],
)
def test_help_names_the_type_of_an_option(command: str, row: str) -> None:
    assert f"  {row}" in run(command, "--help", width=COLUMNS).stdout


@pytest.mark.parametrize(
    ("given", "values"),
    [
        (["--collar", "1,3"], {"collar": [1.0, 3.0]}),
        (["--collar=1", "--collar", "3"], {"collar": [1.0, 3.0]}),
        (
            ["--longest", "2", "--word-match", "surface"],
            {"longest": [2], "word_match": ["surface"]},
        ),
        (["--preset", "srt", "--preset", "markdown"], {"preset": "markdown"}),
        (["--force-alignment"], {"force_alignment": True}),
    ],
)
def test_options_of_metrics_may_stand_anywhere(given: list[str], values: dict[str, Any]) -> None:
    command = dict(commands())["score"]
    for line in ([*given, "a", "b"], ["a", *given, "b"], ["a", "b", *given]):
        context = command.make_context("score", [*line, "--draws", "5", "-o", "--metric"])
        assert {name: context.params[name] for name in values} == values
        chosen = [context.params[name] for name in ("outputs", "references", "draws", "output")]
        assert chosen == ["a", "b", 5, Path("--metric")]


def test_what_follows_two_dashes_is_no_option() -> None:
    context = dict(commands())["score"].make_context("score", ["--", "--collar", "--edge"])
    assert (context.params["outputs"], context.params["references"]) == ("--collar", "--edge")


@pytest.mark.parametrize(
    ("flag", "value", "message"),
    [
        ("--longest", "2.5", "'2.5' is not a whole number or a list such as 1,3,10"),
        ("--reference-counts", "1,x", "'1,x' is not a whole number or a list such as 1,3,10"),
        ("--collar", "1,wide", "'1,wide' is not a number or a list such as 1,3,10"),
        ("--preset", "utube", "'utube' is not one of"),
        ("--colar", "1", 'unknown option --colar — did you mean "--collar"?'),
        ("--drws", "1", 'unknown option --drws — did you mean "--draws"?'),
    ],
)
def test_wrong_types_are_refused(flag: str, value: str, message: str) -> None:
    done = run("score", "-", flag, value)
    assert done.returncode == 2
    assert message in done.stderr


def test_an_option_of_a_metric_needs_a_value() -> None:
    done = run("score", "-", "--collar")
    assert done.returncode == 2
    assert "--collar needs a value" in done.stderr


def test_whole_numbers_may_be_a_list() -> None:
    both = run("score", *SUMMARIES, "--metric", "word_strings", "--longest", "2,3", "--draws", "5")
    assert both.returncode == 0, both.stderr
    assert "longest=2)" in both.stdout
    assert "longest=3)" in both.stdout


# --- Names of options and levels -----------------------------------------------------------------


def test_a_level_of_headings_is_no_confidence_level() -> None:
    done = run("score", *CHAPTERS, "--level", "2")
    assert done.returncode == 2
    assert "level must be between 0 and 1, such as 0.95, got 2.0" in done.stderr


def test_the_list_of_metrics_has_the_new_names() -> None:
    shown = run("metrics").stdout
    assert "--boundary-matching greedy|optimal: " in shown
    assert "--word-match position|surface: " in shown
    assert "--match " not in shown


# --- Values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["score", "compare", "people"])
def test_values_to_show_are_selected_in_the_same_way(command: str) -> None:
    files = CHAPTERS[1:] if command == "people" else CHAPTERS
    few = ["--draws", "5", "--value", "pk", "--value", "collar_f1"]
    done = run(command, *files, *few, "--to", "csv")
    assert done.returncode == 0, done.stderr
    assert {row["name"] for row in read_results(done.stdout)[1]} == {"pk", "collar_f1"}
    wrong = run(command, *files, "--value", "pkk")
    assert wrong.returncode == 2
    assert 'value "pkk" — did you mean "pk"?' in wrong.stderr


def test_a_selected_value_has_the_numbers_that_it_has_among_all() -> None:
    command: list[str | int | Path] = ["score", *CHAPTERS]
    command += ["--draws", "20", "--by", "duration:900", "--to", "json"]
    every = json.loads(run(*command).stdout)
    pk = json.loads(run(*command, "--value", "pk").stdout)
    for system, estimates in every["systems"].items():
        assert pk["systems"][system] == {"pk": estimates["pk"]}
    assert set(pk["people"]["ceiling"]) == {"pk"}
    assert pk["signature"] == every["signature"]


# --- Output files --------------------------------------------------------------------------------


def test_every_command_with_output_has_the_short_option() -> None:
    without = {
        "metrics",
        "audio",
        "study",
        "experiment",
        "summarizer",
        "browse",
        "serve",
        "study anchors",
        "study restore",
    }  # have no file to name
    for name, command in commands():
        flags = {flag for parameter in command.params for flag in parameter.opts}
        assert ("--output" in flags) == (name not in without), name
        assert ("-o" in flags) == (name not in without), name


def test_the_drop_in_has_the_short_option(tmp_path: Path) -> None:
    samples = EXAMPLES / "chapters" / "samples.jsonl"
    out = tmp_path / "result.json"
    done = run("chunkseg", samples, "--num-bootstrap", "5", "-o", out)
    assert done.returncode == 0, done.stderr
    assert json.loads(out.read_text())


# --- Table for a paper ---------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["score", "compare", "people"])
def test_scoring_commands_write_the_table_for_a_paper(command: str, tmp_path: Path) -> None:
    files = CHAPTERS[1:] if command == "people" else CHAPTERS
    few = ["--draws", "5", "--metric", "collar"]
    printed = run(command, *files, *few, "--table", "paper", "--interval-form", "none")
    assert printed.returncode == 0, printed.stderr
    table = printed.stdout.partition("\n\n")[0]
    assert len([line for line in table.splitlines() if "0." in line]) == 4
    assert "[" not in table
    done = run(command, *files, *few, "-o", tmp_path / "table.tex")
    assert done.stderr.endswith(f"wrote {tmp_path / 'table.tex'}\n")
    assert (tmp_path / "table.tex").read_text().count("\\begin{table}") == 1
    refused = run(command, *files, "--table", "paper", "--to", "json")
    assert refused.returncode == 2
    assert "not available as JSON — use csv" in refused.stderr
