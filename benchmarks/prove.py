"""Full counts and benchmarks of one commit; what they print goes into docs/proof.md.

    python benchmarks/prove.py             run the parts that this commit has no result of
    python benchmarks/prove.py PART …      run these, whether they have one or not
    python benchmarks/prove.py --week      run the benchmark of 168 hours
    python benchmarks/prove.py --times     say which parts have a result, and how long they took

The result of a part is kept in out/prove, by commit: a run that was interrupted goes on with the
parts that are missing. The page is written when all parts have a result of the same commit.
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
    "OPENBLAS_NUM_THREADS": "1",  # tests share the cores already
}
TESTS = ["-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", "-m", ""]  # simulations, too
PARTS = {
    "All tests with full counts": [*TESTS, "--durations=12"],
    "Pages in Chromium": [*TESTS, "browser"],
    "Chapters against chunkseg": ["benchmarks/chapters.py"],
    "Titles against bert-score": ["benchmarks/titles.py"],
    "Word networks against one pass": ["benchmarks/summaries.py"],
    "Designs beside a plain shuffle": ["benchmarks/designs.py"],
    "Ratings to results": ["benchmarks/ratings.py"],
    "Intervals of mean ratings, by simulation": ["benchmarks/intervals.py"],
    "Alpha against krippendorff": ["benchmarks/agreement.py"],
    "The store, however much it holds": ["benchmarks/store.py"],
    "Listeners at once, over HTTP": ["benchmarks/served.py"],
    "From a click to the first sound": ["benchmarks/listen.py"],
    "Metrics beside people, beside scipy": ["benchmarks/concordance.py"],
    "Workbooks beside openpyxl": ["benchmarks/workbooks.py"],
    "MP3 against soundfile": ["benchmarks/sound.py"],
    "Skims of days of which the truth is known": ["-P", "benchmarks/skim_days.py", "20"],
    "Log-mel frames beside librosa": ["benchmarks/skims.py"],
    "Skims of a day beside decoding": ["benchmarks/skims.py", "--hours", "24"],
}
WEEK = "Skims of a week beside decoding"
COMMANDS = {**PARTS, WEEK: ["benchmarks/skims.py", "--hours", "24", "168"]}


# --- Results of parts ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """What a part printed, and how it ended."""

    title: str
    commit: str
    started: str
    status: int
    seconds: float
    output: str

    @property
    def place(self) -> Path:
        """Where it is kept."""
        return result_place(self.title, self.commit)

    def write(self) -> None:
        """Keep it, whole or not at all."""
        self.place.parent.mkdir(parents=True, exist_ok=True)
        beside = self.place.with_suffix(".part")
        beside.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
        beside.replace(self.place)


def result_place(title: str, commit: str) -> Path:
    """The file of a part's result."""
    return RESULTS / commit / f"{re.sub(r'[^a-z0-9]+', '_', title.lower())}.json"


def read_results(commit: str) -> dict[str, Result]:
    """Results of a commit, by title, in the order of the page."""
    places = {title: result_place(title, commit) for title in COMMANDS}
    return {
        title: Result(**json.loads(place.read_text(encoding="utf-8")))
        for title, place in places.items()
        if place.exists()
    }


def run_part(title: str, commit: str) -> Result:
    """Run a part, showing what it prints; a part that was stopped has no result."""
    started, start = datetime.now(UTC), time.monotonic()
    process = subprocess.Popen(
        [sys.executable, *COMMANDS[title]],
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
        sys.exit(f"{title}: ended by signal {-status}; the next run begins with this part")
    output = "".join(lines).replace(str(ROOT), ".").replace(sys.executable, "python").strip()
    result = Result(title, commit, f"{started:%Y-%m-%d %H:%M} UTC", status, seconds, output)
    result.write()
    return result


# --- The page ------------------------------------------------------------------------------------


class Bar(NamedTuple):
    """A figure that must reach something."""

    part: str
    what: str
    figure: str
    bar: str
    met: bool


BAR = re.compile(
    r"(?:^|[,;:] )"  # a figure follows a comma, semicolon or colon with a blank
    r"((?:[^,;:]|[,;:](?! ))*?) ?"
    r"\(bar ([^():]+)(?:: (\w+))?\)"
)


def bars(result: Result) -> Iterator[Bar]:
    """All bars of a part, as its lines have them.

    A line says ``what: …, figure (bar limit: met)``, where the verdict may be missing: then the
    part ends with 1 if the bar was missed. Tests have the bar that none fails.
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
    """Whether a bar is met, by what the line says or else by how the part ended."""
    return word.lower() == "met" if word else not result.status


def write_page(results: dict[str, Result]) -> None:
    """The page: bars first, then every part with its output."""
    machine = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"
    (commit,) = {result.commit for result in results.values()}
    minutes = sum(result.seconds for title, result in results.items() if title in PARTS) / 60
    rows = [bar for result in results.values() for bar in bars(result)]
    missed = [bar for bar in rows if not bar.met]
    lines = [
        "# Proof",
        "",
        f"What `make prove` prints of commit {commit}, part by part; {machine}, {minutes:.0f} min.",
        "",
        f"Bars: {len(rows) - len(missed)} met, {len(missed)} missed. Missed ones come first.",
        "",
        "| part | what | figure | bar | |",
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
    """The commit that is checked out; exits where files differ from it, but for the page."""
    changed = [line[3:] for line in git("status", "--porcelain").splitlines()]
    if others := [path for path in changed if path != PAGE.relative_to(ROOT).as_posix()]:
        sys.exit(
            f"{others[0]} and perhaps other files are not committed: commit them first,"
            " so that the page can name the commit"
        )
    return git("rev-parse", "--short=12", "HEAD").strip()


def git(*arguments: str) -> str:
    """What git prints."""
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def main(arguments: list[str]) -> int:
    """Run what is missing or named, and write the page; 1 if a bar was missed or a test failed."""
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
        sys.exit(f"there is no part {unknown[0]!r}: {', '.join(COMMANDS)}")
    for title in named or [title for title in PARTS if title not in results]:
        print(f"== {title}", flush=True)
        run_part(title, commit)
    results = read_results(commit)
    missing = [title for title in PARTS if title not in results]
    if missing:
        print(f"docs/proof.md is not written yet; missing: {', '.join(missing)}")
    else:
        write_page(results)
    return int(any(result.status for result in results.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
