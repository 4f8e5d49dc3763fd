"""A made day skimmed with several z, and the skims scored: what both commands print is the same."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from click.testing import CliRunner

from earwitness.cli.main import group
from earwitness.models.cache import CACHE_FOLDER_VARIABLE
from helpers.csv_results import read_results
from helpers.short_days import BLOCK, HOUR, write

BASELINES = ("downsampling", "random", "calibration_tc", "calibration_sd")
SAME = ["--block", f"{BLOCK:g}", "--period", f"{HOUR:g}"]


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterable[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_FOLDER_VARIABLE, str(tmp_path_factory.mktemp("cache")))
        yield


def run(*arguments: object) -> str:
    done = CliRunner().invoke(group, [*map(str, arguments), *SAME])
    assert done.exit_code == 0, done.output
    return done.stdout


def rows(printed: str, title: str) -> list[list[str]]:
    """The rows of a table, without its heading."""
    lines = printed[printed.index(f"{title}\n") :].splitlines()[2:]
    end = lines.index("") if "" in lines else len(lines)
    return [line.split() for line in lines[:end]]


@pytest.fixture(scope="module")
def skims(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder of skims, and what was printed with them."""
    folder = tmp_path_factory.mktemp("made")
    day = write(folder / "20250722_000000.flac")
    wanted = ["--z", "0,0.5,1", "--picks", "6", "--overlap", "1", "--without", "page"]
    methods = ["--method", "pareto", "--method", "published", "--method", "random"]
    return folder / "skims", run("skim", day, "-o", folder / "skims", *wanted, *methods)


def test_scoring_skims_prints_the_courses_that_skimming_printed(skims: tuple[Path, str]) -> None:
    folder, made = skims
    own = ["score", folder / "outputs.jsonl", folder / "recordings.jsonl", "--draws", "50"]
    asked = [option for name in BASELINES for option in ("--baseline", name)]
    printed = run(*own, *asked)
    told = rows(made, "20250722_000000: trade-off between tc and sd")
    assert [row[0] for row in told] == ["pareto", "published"]
    found = rows(printed, "trade-off between tc and sd")
    for (method, *numbers, _), (again, n, *cells) in zip(told, found, strict=True):
        assert (again, n) == (method, "1")
        assert cells == [part for number in numbers for part in (number, "[–,", "–]")]
    assert all(f"({name})" in printed for name in BASELINES)


def test_a_page_draws_the_courses_and_records_hold_them(skims: tuple[Path, str]) -> None:
    folder, _ = skims
    own = ["score", folder / "outputs.jsonl", folder / "recordings.jsonl", "--draws", "50"]
    page = run(*own, "--to", "html")
    assert "<h2>Trade-<wbr/>off between TC and SD</h2>" in page
    assert page.count('class="scatter ') == 1  # all methods in one plane
    courses = json.loads(run(*own, "--to", "json"))["courses"]
    _, table = read_results(run(*own, "--to", "csv"))
    areas = {row["system"]: float(row["value"]) for row in table if row["name"] == "area"}
    assert areas == {one["method"]: one["estimates"]["area"]["value"] for one in courses}
    assert r"\caption{trade-off between tc and sd}" in run(*own, "--to", "latex", "--table", "full")
