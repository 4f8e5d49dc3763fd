"""``earwitness experiment``: references of more and more people, from the shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from examples.references import make

from earwitness.cli.main import group
from earwitness.errors import UsageError
from helpers.csv_results import read_results

FEW = ("--orders", "3", "--draws", "20", "--permutations", "20")
SIZES = {"items": 4, "people": 4, "systems": 3, "judges": 5}
TINY = [word for name, size in SIZES.items() for word in ("--simulate", f"{name}={size}")]


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, ["experiment", *map(str, arguments)])


def good(*arguments: str | Path) -> Result:
    done = run(*arguments)
    assert done.exit_code == 0, (done.output, done.exception)
    return done


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a simulated study."""
    folder = tmp_path_factory.mktemp("files") / "study"
    make.main(folder, **SIZES)
    return folder


@pytest.fixture(scope="module")
def measured(study: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The same files without the remark that they are simulated, as those of people."""
    folder = tmp_path_factory.mktemp("measured")
    lines = (study / "references.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    for place, record in enumerate(records):
        record["meta"] = {"accuracy": 0.8 + 0.05 * place}
    text = "".join(f"{json.dumps(record)}\n" for record in records)
    (folder / "references.jsonl").write_text(text, encoding="utf-8")
    return [study / "outputs.jsonl", folder / "references.jsonl"]


def test_figures_and_report_are_written(study: Path, measured: list[Path], tmp_path: Path) -> None:
    done = good(
        "references",
        *measured,
        *(study / "judgements.csv", "--sizes", "1,3", *FEW),
        *("-o", tmp_path / "report.html", "--cache", tmp_path / "parts"),
        *("--figures", tmp_path / "figures", "--metric", "sumaccy"),
    )
    assert f"wrote {tmp_path / 'report.html'}" in done.stderr
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "sumaccy ↑ by number of people" in page
    assert "share of misrecognized words is" in page
    assert "imulated" not in page
    endings = {path.suffix for path in (tmp_path / "figures").iterdir()}
    assert endings == {".svg", ".pdf", ".png"}


def test_files_of_the_simulator_are_called_simulated(study: Path) -> None:
    files = study / "outputs.jsonl", study / "references.jsonl"
    ratings = [study / "judgements.csv"]
    done = good("references", *files, *ratings, *FEW, "--sizes", "2", "--to", "csv")
    assert "simulated" in done.stdout


def test_data_are_simulated_without_files_and_the_title_says_so() -> None:
    arguments = (*TINY, *FEW, "--sizes", "2", "--metric", "sumaccy")
    done = good("references", *arguments, "--to", "md", "--title", "Mine")
    assert done.stdout.startswith("# Mine (simulated data)\n")
    assert "3 systems and 1 human, 4 items, 4 people, 5 judges" in done.stdout


def test_items_can_be_filtered(measured: list[Path]) -> None:
    done = good(
        "references", *measured, *FEW, "--sizes", "2", "--where", "accuracy>=0.9", "--to", "json"
    )
    settings = {row["name"]: row["setting"] for row in json.loads(done.stdout)["settings"]}
    assert settings["items"] == 2
    assert "|where(accuracy>=0.9)" in settings["signature"]
    assert "accuracy>=0.9 holds for 2 of 4 items" in done.stdout


def test_points_of_figures_are_written_as_a_table(study: Path, measured: list[Path]) -> None:
    ratings = [study / "judgements.csv"]
    options = (*FEW, "--sizes", "1,3", "--metric", "sumaccy", "--to", "csv")
    facts, rows = read_results(good("references", *measured, *ratings, *options).stdout)
    assert {row["people"] for row in rows if row["figure"] == "curve"} >= {"1", "3"}
    assert {row["value"] for row in rows} == {"sumaccy", "wsumaccy"}
    assert facts["signature"].startswith("earwitness=")
    assert not facts["signature"].endswith("|simulated")


def test_an_interrupted_experiment_is_resumed_with_the_same_result(
    measured: list[Path], tmp_path: Path
) -> None:
    options = (*FEW, "--sizes", "2", "--cache", str(tmp_path / "parts"), "--to", "csv")
    first = good("references", *measured, *options).stdout
    assert [*(tmp_path / "parts").iterdir()]
    assert good("references", *measured, *options).stdout == first


def test_systems_are_made_from_references(measured: list[Path], tmp_path: Path) -> None:
    made = tmp_path / "made.jsonl"
    arguments = [
        "summarizer",
        "systems",
        str(measured[1]),
        "--language-model",
        "none",
        "-o",
        str(made),
    ]
    done = CliRunner().invoke(group, arguments)
    assert done.exit_code == 0, done.output
    assert "without scores L, C and T, systems are left out: L, L+I, " in done.stderr
    outputs = [json.loads(line) for line in made.read_text(encoding="utf-8").splitlines()]
    assert {one["system"] for one in outputs} == {"I"}
    assert len(outputs) == 4
    good("references", made, measured[1], *FEW, "--metric", "sumaccy")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("references",), "OUTPUTS and REFERENCES are required — or use --simulate"),
        (("references", "a", "b", "--simulate", "items=3"), "--simulate reads no files"),
        (("references", "--simulate", "items=3", "--human", "anna"), "--simulate reads no files"),
        (("references", "--simulate", "item=3"), 'unknown number "item" — did you mean "items"?'),
        (("references", "--simulate", "items=2.5"), "items must be a whole number, got 2.5"),
    ],
)
def test_contradictions_are_refused_before_any_work(
    arguments: tuple[str, ...], message: str
) -> None:
    done = run(*arguments)
    assert isinstance(done.exception, UsageError)
    assert message in str(done.exception)


def test_an_unknown_command_is_refused_with_the_closest_name() -> None:
    done = run("reference")
    assert done.exit_code == 2
    assert 'unknown command "reference" — did you mean "references"?' in done.output
