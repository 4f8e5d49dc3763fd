"""Full counts and benchmarks; what they print goes, dated, into docs/proof.md."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "proof.md"
SETTINGS = {
    "EARWITNESS_COUNTS": "full",
    "PYTHONUNBUFFERED": "1",
    "OPENBLAS_NUM_THREADS": "1",  # tests share the cores already
}
TESTS = ["-m", "pytest", "-q", "-n", "2", "-m", ""]  # simulations, too
STORED = [
    "tests/store",
    "tests/web",
    "tests/audio",
    "tests/recordings",
    "tests/studies/test_admin.py",
    "tests/studies/test_device.py",
    "tests/cli/test_serve.py",
]
BESIDE = [
    "tests/metaeval",
    "tests/simulations/test_coefficient_coverage.py",
    "tests/scoring/test_measure_references.py",
]
JUDGED = [
    "tests/studies/test_analyse_captions.py",
    "tests/studies/test_analyse_rubric_tables.py",
    "tests/docs/test_caption_example.py",
    "tests/studies/ratings",
    "tests/studies/workbooks",
    "tests/studies/trials/test_rubric.py",
    "tests/studies/test_rubric_formula.py",
    "tests/studies/report/test_rubric_sections.py",
    "tests/simulations/test_rubric_sizes.py",
    "tests/stats/test_effects_correlations.py",
    "tests/stats/test_contrasts_equivalence.py",
    "tests/stats/test_contrasts_interactions.py",
    "tests/store/test_answers_changes.py",
    "tests/web/test_workbooks.py",
]
SKIMMED = [
    "tests/audio",
    "tests/models",
    "tests/soundscapes",
    "tests/recordings",
    "tests/skims",
    "tests/cli/test_skim_tradeoff.py",
    "tests/cli/test_skim.py",
]
NAMED = (  # what all tests have among them, and what needs many minutes and gigabytes
    "Store and server with full counts",
    "Metrics beside people with full counts",
    "Captions with full counts",
    "Skims with full counts",
    "Skims of a day and a week beside decoding",
)
COMMANDS = {
    "All tests with full counts": [*TESTS, "--durations=12"],
    "Store and server with full counts": [*TESTS, *STORED],
    "Metrics beside people with full counts": [*TESTS, *BESIDE],
    "Captions with full counts": [*TESTS, *JUDGED],
    "Skims with full counts": [*TESTS, *SKIMMED],
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
    "Skims of days of which the truth is known": ["-P", "benchmarks/skim_days.py"],
    "Log-mel frames beside librosa": ["benchmarks/skims.py"],
    "Skims of a day and a week beside decoding": ["benchmarks/skims.py", "--hours", "24", "168"],
}


def run(arguments: list[str]) -> tuple[int, str]:
    """A command's exit status and output, shown while it runs."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
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
    return process.wait(), "".join(lines)


def section(title: str) -> tuple[int, str]:
    """A command's exit status, and its dated part of the page."""
    arguments, now, start = COMMANDS[title], datetime.now(UTC), time.monotonic()
    status, output = run(arguments)
    took = f"{now:%Y-%m-%d %H:%M} UTC, exit {status}, {time.monotonic() - start:.0f} s"
    shown = output.replace(str(ROOT), ".").replace(sys.executable, "python").strip()
    return status, f"`{' '.join(arguments)}`: {took}\n\n```text\n{shown}\n```"


def known() -> dict[str, str]:
    """Parts of the page as it is."""
    if not PAGE.exists():
        return {}
    parts = re.split(r"^## (.+)\n\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], (part.strip() for part in parts[2::2]), strict=True))


def main() -> None:
    """Run everything, or what is named, and write the page; exit 1 if anything failed.

    Parts that are not run again stay as they are, with their dates; some run only if named.
    """
    chosen = sys.argv[1:] or [title for title in COMMANDS if title not in NAMED]
    if unknown := [title for title in chosen if title not in COMMANDS]:
        sys.exit(f"there is no part {unknown[0]!r}: {', '.join(COMMANDS)}")
    machine = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"
    parts, failed = known(), 0
    for title in chosen:
        status, parts[title] = section(title)
        failed |= status
        page = ["# Proof", f"What `make prove` prints, part by part; {machine}."]
        page += [f"## {name}\n\n{parts[name]}" for name in COMMANDS if name in parts]
        PAGE.write_text("\n\n".join(page) + "\n", encoding="utf-8")
    sys.exit(failed)


if __name__ == "__main__":
    main()
