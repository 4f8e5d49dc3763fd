"""Run tests with full counts and all benchmarks of one commit, and write docs/proof.md.

    python benchmarks/prove.py             run the parts without a result for this commit
    python benchmarks/prove.py PART …      run these parts, even if they have a result
    python benchmarks/prove.py --week      run the benchmark of 168 hours
    python benchmarks/prove.py --times     list the parts with the duration of their last run

Results are stored in out/prove, by commit, so an interrupted run resumes with the missing parts.
The page is written when all parts have a result for the same commit.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "proof.md"
RESULTS = ROOT / "out" / "prove"
SETTINGS = {
    "EARWITNESS_COUNTS": "full",
    "PYTHONUNBUFFERED": "1",
    "OPENBLAS_NUM_THREADS": "1",  # tests already use all cores
}
TESTS = ["-m", "pytest", "-q", "--dist", "worksteal", "-m", ""]  # including simulations
COUNTED = re.compile(r"^from (helpers\.samples|hypothesis) |mark\.simulation", re.M)
PARTS = {
    "Tests with full counts": [*TESTS, "-n", "2", "-o", "faulthandler_timeout=1200"],
    "Browser tests in Chromium": [*TESTS, "-n", "3", "browser"],
    "Chapter metrics compared with chunkseg": ["benchmarks/chapters.py"],
    "BERTScore of titles compared with bert-score": ["benchmarks/titles.py"],
    "Word networks compared with one pass": ["benchmarks/summaries.py"],
    "Experiment on the number of people": ["benchmarks/references_experiment.py"],
    "Search of compaction": ["benchmarks/compaction_speed.py"],
    "Summaries of the examples": ["benchmarks/compaction_gain.py"],
    "Designs compared with a plain shuffle": ["benchmarks/designs.py"],
    "Analysis of ratings": ["benchmarks/ratings.py"],
    "Coverage of intervals of mean ratings": ["benchmarks/intervals.py"],
    "Krippendorff's alpha compared with krippendorff": ["benchmarks/agreement.py"],
    "Database throughput by number of stored answers": ["benchmarks/store.py"],
    "Server with simultaneous listeners": ["benchmarks/served.py"],
    "Browser latency from click to sound": ["benchmarks/listen.py"],
    "Browsing of 24 hours by 50 people": ["benchmarks/browse.py"],
    "Comparison of metrics with people, compared with scipy": ["benchmarks/concordance.py"],
    "Import of workbooks compared with openpyxl": ["benchmarks/workbooks.py"],
    "MP3 decoding compared with soundfile": ["benchmarks/sound.py"],
    "Loudness compared with libebur128 and pyloudnorm": ["benchmarks/loudness.py"],
    "Recognition and alignment of speech": ["benchmarks/speech.py"],
    "Memory of alignment from a minute to two hours": ["benchmarks/speech.py", "--memory", "120"],
    "Skims of synthetic days with known truth": ["-P", "benchmarks/skim_days.py", "20"],
    "Log-mel frames compared with librosa": ["benchmarks/skims.py"],
    "Skims of a day compared with decoding": ["benchmarks/skims.py", "--hours", "24"],
}
WEEK = "Skims of a week compared with decoding"
COMMANDS = {**PARTS, WEEK: ["benchmarks/skims.py", "--hours", "24", "168"]}


# --- Results of parts ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """Output and exit status of a part."""

    title: str
    commit: str
    started: str
    status: int
    seconds: float
    output: str

    @property
    def place(self) -> Path:
        """Path of the result file."""
        return result_place(self.title, self.commit)

    def write(self) -> None:
        """Write the result file atomically."""
        self.place.parent.mkdir(parents=True, exist_ok=True)
        beside = self.place.with_suffix(".part")
        beside.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
        beside.replace(self.place)


def result_place(title: str, commit: str) -> Path:
    """Return the path of the result file of a part."""
    return RESULTS / commit / f"{re.sub(r'[^a-z0-9]+', '_', title.lower())}.json"


def read_results(commit: str) -> dict[str, Result]:
    """Return the results of a commit by title, in the order of the page."""
    places = {title: result_place(title, commit) for title in COMMANDS}
    return {
        title: Result(**json.loads(place.read_text(encoding="utf-8")))
        for title, place in places.items()
        if place.exists()
    }


def counted_tests() -> list[str]:
    """Return the test files whose counts are larger here; ``make test`` runs the others as well."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(path.relative_to(ROOT)) for path in paths if COUNTED.search(path.read_text())]


def run_part(title: str, commit: str) -> Result:
    """Run a part and show its output; a part that is stopped has no result."""
    started, start = datetime.now(UTC), time.monotonic()
    process = subprocess.Popen(
        [sys.executable, *COMMANDS[title], *(counted_tests() if "counts" in title else ())],
        cwd=ROOT,
        env={**os.environ, **SETTINGS},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        print(line, end="", flush=True)
        lines.append(line)
    status, seconds = process.wait(), time.monotonic() - start
    if status < 0:
        sys.exit(f"{title}: stopped by signal {-status} — run again to resume with this part")
    output = "".join(lines).replace(str(ROOT), ".").replace(sys.executable, "python").strip()
    result = Result(title, commit, f"{started:%Y-%m-%d %H:%M} UTC", status, seconds, output)
    result.write()
    return result


# --- The page ------------------------------------------------------------------------------------


class Bar(NamedTuple):
    """Figure with a limit that it must meet."""

    part: str
    what: str
    figure: str
    bar: str
    met: bool


BAR = re.compile(
    r"(?:^|[,;:] )"  # a figure follows a comma, semicolon or colon and a space
    r"((?:[^,;:]|[,;:](?! ))*?) ?"
    r"\(bar ([^():]+)(?:: (\w+))?\)"
)


def bars(result: Result) -> Iterator[Bar]:
    """Yield all figures with limits in the output of a part.

    A line has the format ``what: …, figure (bar limit: met)``. Without a verdict, the limit is met
    if the exit status of the part is 0. For tests, the limit is that none fails.
    """
    if "pytest" in COMMANDS[result.title]:
        counts = re.findall(r"^(\d+ (?:failed|passed|error).*?) in ", result.output, re.M)
        count = counts[-1] if counts else "–"
        yield Bar(result.title, "tests", count, "none fails", not result.status)
        return
    for line in result.output.splitlines():
        what = line.partition(":")[0].strip()
        for match in BAR.finditer(line):
            yield Bar(result.title, what, match[1], match[2], verdict(match[3], result))
        if whole := re.search(r"\bbars?: (.+): (met|missed)$", line, re.I):
            yield Bar(result.title, "all of these", "", whole[1], verdict(whole[2], result))


def verdict(word: str | None, result: Result) -> bool:
    """Return whether a limit is met, by the line or else by the exit status of the part."""
    return word.lower() == "met" if word else not result.status


def write_page(results: dict[str, Result]) -> None:
    """Write the page: a table of limits, then every part with its output."""
    machine = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"
    (commit,) = {result.commit for result in results.values()}
    minutes = sum(result.seconds for title, result in results.items() if title in PARTS) / 60
    rows = [bar for result in results.values() for bar in bars(result)]
    missed = [bar for bar in rows if not bar.met]
    lines = [
        "# Test and benchmark results",
        "",
        f"Output of `make prove` for commit {commit}; {machine}, {minutes:.0f} min.",
        "",
        f"{len(rows) - len(missed)} limits are met, {len(missed)} are missed (listed first).",
        "",
        "| part | measurement | figure | limit | result |",
        "| --- | --- | --- | --- | --- |",
    ]
    for bar in [*missed, *(bar for bar in rows if bar.met)]:
        cells = (*bar[:4], "met" if bar.met else "**missed**")
        lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    for title, result in results.items():
        took = f"{result.started}, exit {result.status}, {result.seconds:.0f} s"
        lines += ["", f"## {title}", "", f"`{' '.join(COMMANDS[title])}`: {commit}, {took}"]
        lines += ["", "```text", result.output, "```"]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


# --- Commits -------------------------------------------------------------------------------------


def clean_commit() -> str:
    """Return the current commit; exit if files other than the page differ from it."""
    changed = [line[3:] for line in git("status", "--porcelain").splitlines()]
    if others := [path for path in changed if path != PAGE.relative_to(ROOT).as_posix()]:
        sys.exit(
            f"{others[0]}: uncommitted changes (files: {len(others)}) — commit them first,"
            " since the page names the commit"
        )
    return git("rev-parse", "--short=12", "HEAD").strip()


def git(*arguments: str) -> str:
    """Return the output of git."""
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def main(arguments: list[str]) -> int:
    """Run missing or named parts, and write the page; return 1 if a part failed."""
    commit = clean_commit()
    results = read_results(commit)
    if arguments == ["--times"]:
        for title in COMMANDS:
            print(
                f"{title}: {f'{results[title].seconds:.0f} s' if title in results else 'missing'}"
            )
        return 0
    named = [WEEK] if arguments == ["--week"] else arguments
    if unknown := [title for title in named if title not in COMMANDS]:
        sys.exit(f"unknown part {unknown[0]!r} — choose from: {', '.join(COMMANDS)}")
    for title in named or [title for title in PARTS if title not in results]:
        print(f"== {title}", flush=True)
        run_part(title, commit)
    results = read_results(commit)
    missing = [title for title in PARTS if title not in results]
    if missing:
        print(f"docs/proof.md is not written yet; parts without a result: {', '.join(missing)}")
    else:
        write_page(results)
    return int(any(result.status for result in results.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
