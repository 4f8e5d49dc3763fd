"""The proof page: limits, and results stored by commit."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import prove
from benchmarks.prove import Bar, Result, bars

ROOT = Path(__file__).parents[1]
DAY = "Skims of a day compared with decoding"


def result(title: str, output: str, status: int = 0, commit: str = "c1") -> Result:
    return Result(title, commit, "2026-11-16 12:00 UTC", status, 61.0, output)


@pytest.mark.parametrize(
    ("title", "line", "status", "wanted"),
    [
        (
            DAY,
            "24 h skimmed: 66.8 s (load 1.4), 1.6 × (bar 1.5: MISSED), 160 MB (bar 500: met)",
            0,
            [("24 h skimmed", "1.6 ×", "1.5", False), ("24 h skimmed", "160 MB", "500", True)],
        ),
        (
            "Word networks compared with one pass",
            "  fair, edits: SumACCY 0.863, 0.25 s: 1.68 × the pass of 0.15 s (bar 1.5 ×: missed)",
            0,
            [("fair, edits", "1.68 × the pass of 0.15 s", "1.5 ×", False)],
        ),
        (
            "Chapter metrics compared with chunkseg",
            "one hour: 3 µs a sample: 1,200 × (bar 1,000 ×)",
            1,
            [("one hour", "1,200 ×", "1,000 ×", False)],
        ),
        (
            "Server with simultaneous listeners",
            "sqlite: 2,400 answers; acknowledged: p50 7.6 ms, p99 23.9 ms (bar 100), max 41.7 ms",
            0,
            [("sqlite", "p99 23.9 ms", "100", True)],
        ),
        (
            "Analysis of ratings",
            "  bar: 10 s without the mixed model: met",
            0,
            [("all of these", "", "10 s without the mixed model", True)],
        ),
        (
            "Browser tests in Chromium",
            "....\n1 failed, 274 passed in 908.14s (0:15:08)",
            1,
            [("tests", "1 failed, 274 passed", "none fails", False)],
        ),
        ("Krippendorff's alpha compared with krippendorff", "ours 0.08 ms, ratio 1.1", 0, []),
    ],
)
def test_bars_are_those_of_the_lines(
    title: str, line: str, status: int, wanted: list[tuple[str, str, str, bool]]
) -> None:
    assert list(bars(result(title, line, status))) == [Bar(title, *row) for row in wanted]


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Titles of the parts that were run, for a clean commit; no part really runs."""
    done: list[str] = []

    def run_part(title: str, commit: str) -> Result:
        done.append(title)
        finished = result(title, f"x: 2 (bar 3: {'MISSED' if title == DAY else 'met'})", 0, commit)
        finished.write()
        return finished

    monkeypatch.setattr(prove, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(prove, "PAGE", tmp_path / "proof.md")
    monkeypatch.setattr(prove, "clean_commit", lambda: "c2")
    monkeypatch.setattr(prove, "run_part", run_part)
    return done


def test_a_run_goes_on_with_missing_parts_and_writes_the_page_at_the_end(
    results: list[str], tmp_path: Path
) -> None:
    first, second, *others = prove.PARTS
    result(first, "of another commit").write()
    prove.main([second])
    assert not (tmp_path / "proof.md").exists()
    prove.main([])
    assert results == [second, first, *others]
    page = (tmp_path / "proof.md").read_text(encoding="utf-8")
    assert "c1" not in page
    assert page.count(": c2, 2026-11-16 12:00 UTC, exit 0, 61 s") == len(prove.PARTS)
    assert f"| {DAY} | x | 2 | 3 | **missed** |" in page
    assert prove.WEEK not in page
    prove.main(["--week"])
    assert results[-1] == prove.WEEK
    assert f"## {prove.WEEK}" in (tmp_path / "proof.md").read_text(encoding="utf-8")


def test_every_part_is_a_file_that_there_is() -> None:
    named = [word for words in prove.COMMANDS.values() for word in words if word.endswith(".py")]
    assert all((ROOT / word).is_file() for word in named)
