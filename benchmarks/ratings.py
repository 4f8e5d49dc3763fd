"""Time to analyse a table of 20,000 votes, compared with only reading the table.

Mixed models of large studies are fitted in separate processes, whose peak memory is shown: 25,000
votes of 400 listeners on 15,500 stimuli, with the same items for all systems and with other items
for each, and 50,000 votes of 1,000 listeners. So are complete analyses of crowds, with all result
files: 25,200 votes on 15,960 stimuli, and 25,440 votes on 1,272 stimuli, where each system has a
quarter of the items.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from earwitness.io.tables import records_csv
from earwitness.ratings.reader import read_ratings
from earwitness.stats.mixed_model import Components, fit_mixed_model
from earwitness.stats.votes import Votes
from earwitness.studies.analyse import result_files, study_analyse

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.vote_model import Points, crossed_design, simulate_votes

BAR = 10.0  # seconds, with bootstraps, without the mixed model
SCALES = "SIG", "BAK", "OVRL"
PARTS = Components(0.5, 0.4, 0.3, 0.3, 0.7)
MODELS = {  # systems, items, listeners, votes per listener, whether items differ; bars: seconds, MB
    "25,000 votes of 400 listeners on 15,500 stimuli": ((31, 500, 400, 63, False), 60.0, 1000.0),
    "the same with other items for each system": ((31, 500, 400, 63, True), 60.0, 1000.0),
    "50,000 votes of 1,000 listeners on 200 items": ((5, 200, 1000, 50, False), 15.0, 1000.0),
}
CROWDS = {  # systems, items, listeners, votes per listener, share of items per system; bars
    "25,200 votes of 400 listeners on 15,960 stimuli": ((28, 570, 400, 63, 1.0), 30.0, 500.0),
    "25,400 votes of 400 listeners, a quarter of the items per system": (
        (24, 212, 400, 256, 0.25),
        23.0,
        340.0,
    ),
}


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
    for what, studies in (("mixed model", MODELS), ("analysis and files", CROWDS)):
        for name, (_, seconds, megabytes) in studies.items():
            command = [sys.executable, __file__, name]
            printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            elapsed, memory = map(float, printed.split())
            slow, large = elapsed > seconds, memory > megabytes
            print(
                f"{what}, {name}: "
                f"{elapsed:.1f} s (bar {seconds:g}: {'MISSED' if slow else 'met'}), "
                f"{memory:,.0f} MB (bar {megabytes:,.0f}: {'MISSED' if large else 'met'})"
            )
            missed = missed or slow or large
    return int(missed)


def crowd_votes(systems: int, items: int, listeners: int, each: int, *, own_items: bool) -> Votes:
    """Return rounded votes of listeners on random stimuli."""
    rng = np.random.default_rng(1)
    listener = np.repeat(np.arange(listeners), each)
    draws = [rng.choice(systems * items, each, replace=False) for _ in range(listeners)]
    stimulus = np.concatenate(draws)
    item, system = np.divmod(stimulus, systems)
    values = (
        3
        + 0.1 * (system - systems / 2) / systems
        + rng.normal(0, PARTS.listener, listeners)[listener]
        + rng.normal(0, PARTS.item, items)[item]
        + rng.normal(0, PARTS.listener_system, (listeners, systems))[listener, system]
        + rng.normal(0, PARTS.item_system, systems * items)[stimulus]
        + rng.normal(0, PARTS.residual, len(stimulus))
    )
    number = stimulus if own_items else item
    size = systems, systems * items if own_items else items, listeners
    return Votes(np.clip(np.rint(values), 1, 5), system, number, listener, size)


def fit_large(name: str) -> None:
    """Fit the model of one large study; print seconds and peak megabytes."""
    systems, items, listeners, each, own_items = MODELS[name][0]
    votes = crowd_votes(systems, items, listeners, each, own_items=own_items)
    start = time.perf_counter()
    fitted = fit_mixed_model(votes)
    took = time.perf_counter() - start
    assert fitted.converged
    print(took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)


def analyse_crowd(name: str) -> None:
    """Analyse a study and make its files; print processor seconds and peak megabytes."""
    systems, items, listeners, each, share = CROWDS[name][0]
    votes = crowd_votes(systems, items, listeners, each, own_items=False)
    place = (votes.items + votes.systems * items // systems) % items
    votes = votes.select(place < share * items)
    columns = zip(votes.items, votes.systems, votes.listeners, votes.values, strict=True)
    rows = [
        {"item": f"i{i}", "system": f"C{s}", "listener": int(n), "scale": "MOS", "value": float(v)}
        for i, s, n, v in columns
    ]
    start = time.process_time()
    result_files(study_analyse(rows))
    took = time.process_time() - start
    print(took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in CROWDS:
        analyse_crowd(sys.argv[1])
    elif len(sys.argv) > 1:
        fit_large(sys.argv[1])
    else:
        sys.exit(main())
