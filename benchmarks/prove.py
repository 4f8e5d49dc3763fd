"""Full counts and benchmarks; what they print goes, dated, into docs/proof.md."""

from __future__ import annotations

import os
import platform
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
COMMANDS = {
    "All tests with full counts": ["-m", "pytest", "-q", "-n", "2", "--durations=12"],
    "The report in Chromium": ["-m", "pytest", "-q", "browser"],
    "Chapters against chunkseg": ["benchmarks/chapters.py"],
    "Titles against bert-score": ["benchmarks/titles.py"],
    "Word networks against one pass": ["benchmarks/summaries.py"],
    "Designs beside a plain shuffle": ["benchmarks/designs.py"],
    "Ratings to results": ["benchmarks/ratings.py"],
    "Intervals of mean ratings, by simulation": ["benchmarks/coverage.py"],
    "Alpha against krippendorff": ["benchmarks/agreement.py"],
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


def main() -> None:
    """Run everything, write the page, exit 1 if anything failed."""
    now = datetime.now(UTC)
    machine = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"
    parts = ["# Proof", f"`make prove` on {now:%Y-%m-%d %H:%M} UTC; {machine}."]
    failed = 0
    for title, arguments in COMMANDS.items():
        start = time.monotonic()
        status, output = run(arguments)
        failed |= status
        took = f"exit {status}, {time.monotonic() - start:.0f} s"
        shown = output.replace(str(ROOT), ".").strip()
        parts += [f"## {title}", f"`{' '.join(arguments)}`: {took}", f"```text\n{shown}\n```"]
    PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    sys.exit(failed)


if __name__ == "__main__":
    main()
