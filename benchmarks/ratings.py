"""Time to analyse a table of 20,000 votes, compared with only reading the table."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from earwitness.stats.mixed_model import Components
from earwitness.stats.power import Points, crossed_design, simulate_votes
from earwitness.studies.analyse import result_files, study_analyse
from earwitness.studies.design.report import records_csv
from earwitness.studies.ratings.reader import read_ratings

BAR = 10.0  # seconds, with bootstraps, without the mixed model
SCALES = "SIG", "BAK", "OVRL"
PARTS = Components(0.5, 0.4, 0.3, 0.3, 0.7)


def table(path: Path, listeners: int = 32, items: int = 168, panels: int = 4) -> int:
    """Write a long table of a panel design; return its number of votes."""
    rows = []
    for seed, scale in enumerate(SCALES):
        design = crossed_design(5, items, listeners, panels)
        votes = simulate_votes(design, [2.0, 2.6, 3.2, 3.8, 4.2], PARTS, seed=seed, points=Points())
        columns = zip(votes.items, votes.systems, votes.listeners, votes.values, strict=True)
        rows += [
            {"item": f"i{i}", "system": f"C{s}", "listener": int(n), "scale": scale, "value": v}
            for i, s, n, v in columns
        ]
    path.write_text(records_csv(rows), encoding="utf-8")
    return len(rows)


def main() -> int:
    """Print times and ratios to reading; return 1 if the limit is not met."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.csv"
        votes = table(path)
        took = {}
        for name, work in (
            ("reading", lambda: read_ratings(path)),
            ("without the mixed model", lambda: study_analyse(path, mixed=False)),
            ("with the mixed model", lambda: study_analyse(path)),
        ):
            start = time.perf_counter()
            found = work()
            took[name] = time.perf_counter() - start
        start = time.perf_counter()
        result_files(found)  # type: ignore[arg-type]
        took["report and tables"] = time.perf_counter() - start
    print(f"{votes:,} votes, two bootstraps with 2,000 draws on {len(SCALES)} scales")
    for name, seconds in took.items():
        print(f"  {name:<26} {seconds:6.2f} s   {seconds / took['reading']:6.1f} × reading")
    missed = took["without the mixed model"] > BAR
    print(f"  bar: {BAR:g} s without the mixed model: {'MISSED' if missed else 'met'}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
