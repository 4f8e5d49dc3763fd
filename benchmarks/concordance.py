"""Time to compare metrics with people, with scipy as the baseline for bootstrap draws.

scipy computes the coefficient of one metric and one draw at a time, in a loop, on the same draws of
systems; both give the same values. A system that is drawn twice forms a tie with itself in scipy's
tau and no pair in ours, so tau is compared on draws of raters, where no system is drawn twice. Then
the steps of a complete comparison are timed, for which there is no baseline. Last, the command is
run on tables of three sizes, each in a process of its own, to show how time and memory grow.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy import stats

from earwitness.metaeval.ceiling import measure_ceilings
from earwitness.metaeval.coefficients import LEVELS, coefficient_names
from earwitness.metaeval.levels import ScoreRatingGrid, cell_means, evaluate_grid
from earwitness.metaeval.pairwise_accuracy import calibrate_ties
from earwitness.metaeval.resampling import resample_coefficients
from earwitness.metaeval.sample_size import coefficients_at_counts
from earwitness.metaeval.significance import SWAP_UNITS, swap_metrics
from earwitness.stats.arrays import Floats
from earwitness.stats.bootstrap import draw_weight_blocks
from earwitness.stats.votes import Votes

DRAWS = 1000
PEERS: dict[str, Callable[[Floats, Floats], tuple[float, float]]] = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall_b": stats.kendalltau,
}


def study(systems: int, items: int, raters: int, metrics: int) -> tuple[Floats, Votes]:
    """Return scores, and votes from 1 to 5."""
    rng = np.random.Generator(np.random.PCG64(0))
    true = rng.normal(size=(systems, 1)) + 0.5 * rng.normal(size=(systems, items))
    size = systems, items, raters
    bias = 0.3 * rng.normal(size=raters)
    votes = np.rint(3 + 0.7 * true[..., None] + bias + 0.6 * rng.normal(size=size))
    noise = np.linspace(0.2, 2, metrics)[:, None, None]
    scores = true + noise * rng.normal(size=(metrics, systems, items))
    places = [one.ravel() for one in np.indices(size)]
    return scores, Votes(np.clip(votes, 1, 5).ravel(), places[0], places[1], places[2], size)


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of one run, which depends little on other load."""
    start = time.process_time()
    work()
    return time.process_time() - start


def by_scipy(name: str, scores: Floats, votes: Votes, over: str) -> Floats:
    """Return coefficients by draw and metric, computed in a loop."""
    (drawn,) = draw_weight_blocks(votes.size, DRAWS, 0)
    found = np.empty((DRAWS, len(scores)))
    means = cell_means(votes, drawn[2] if over == "raters" else None).mean(axis=2).round(9)
    of_systems = scores.mean(axis=2)
    for draw in range(DRAWS):
        times = drawn[0][draw].astype(int) if over == "systems" else np.ones(len(means[0]), int)
        y = np.repeat(means[draw % len(means)], times)
        for metric, row in enumerate(of_systems):
            found[draw, metric] = PEERS[name](np.repeat(row, times), y)[0]
    return found


def beside_scipy(scores: Floats, votes: Votes) -> None:
    """Print the times of Earwitness and scipy on the same draws."""
    for name in PEERS:
        over = "raters" if name == "kendall_b" else "systems"
        found: list[Floats] = []

        def ours(name: str = name, over: str = over, found: list[Floats] = found) -> None:
            drawn = resample_coefficients(scores, votes, "system", [name], over=over, draws=DRAWS)
            found.append(drawn[0])

        def peer(name: str = name, over: str = over, found: list[Floats] = found) -> None:
            found.append(by_scipy(name, scores, votes, over))

        own, theirs = seconds(ours), seconds(peer)
        apart = float(np.nanmax(np.abs(found[0] - found[1])))
        print(
            f"{name}, systems, {DRAWS:,} draws of {over}: Earwitness {own:.3f} s, scipy "
            f"{theirs:.2f} s, ratio {theirs / own:.0f}, difference {apart:.0e}"
        )


def steps(scores: Floats, votes: Votes) -> None:
    """Print the time of each step of a comparison."""
    grid = ScoreRatingGrid(scores, cell_means(votes)[0])
    total = 0.0

    def told(what: str, work: Callable[[], object]) -> None:
        nonlocal total
        spent = seconds(work)
        total += spent
        print(f"  {what}: {spent:.2f} s")

    pairs = list(combinations(range(len(scores)), 2))
    for level in LEVELS:
        names = coefficient_names(level)
        told(f"{level}: all coefficients", partial(evaluate_grid, grid, level, names))
        resample = partial(resample_coefficients, scores, votes, level, names)
        told(f"{level}: bootstrap of all coefficients", resample)
        if level == "item":
            told(f"{level}: tie calibration", partial(calibrate_ties, grid))
        if level == "global":
            continue
        told(
            f"{level}: ceilings", partial(measure_ceilings, votes, level, names, splits=200, seed=0)
        )
        for what in SWAP_UNITS:
            work = partial(swap_metrics, scores, grid.people, pairs, level, "kendall_b", what)
            told(f"{level}: {len(pairs)} pairs of metrics, swap unit {what}", work)
        counts = [2, 4, 8, votes.size[2], 2 * votes.size[2]]
        for kind in ("raters", "items"):
            curve = partial(
                coefficients_at_counts, scores, votes, (level, "kendall_b"), kind, counts
            )
            told(f"{level}: curve over five numbers of {kind}", curve)
    print(f"  total: {total:.1f} s")


GROWTH_SYSTEMS, GROWTH_RATERS, GROWTH_METRICS = 10, 10, 30
GROWTH_ITEMS = (30, 300, 3_000)
MEGABYTE = 2**20


def write_tables(folder: Path, items: int) -> None:
    """Write scores.csv and ratings.csv of a study."""
    scores, votes = study(GROWTH_SYSTEMS, items, GROWTH_RATERS, GROWTH_METRICS)
    names = ",".join(f"metric{n}" for n in range(GROWTH_METRICS))
    with (folder / "scores.csv").open("w") as file:
        file.write(f"item,system,{names}\n")
        for item in range(items):
            for system, row in enumerate(scores[:, :, item].T):
                numbers = ",".join(f"{number:.6f}" for number in row)
                file.write(f"i{item},s{system},{numbers}\n")
    with (folder / "ratings.csv").open("w") as file:
        file.write("item,system,listener,MOS\n")
        columns = votes.items, votes.systems, votes.listeners, votes.values
        for item, system, listener, value in zip(*columns, strict=True):
            file.write(f"i{item},s{system},l{listener},{value:g}\n")


def run_agree(folder: Path, options: list[str]) -> tuple[float, float]:
    """Return CPU seconds and peak memory in MB of the command."""
    program = [sys.executable, "-m", "earwitness", "agree", "scores.csv", "ratings.csv", *options]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(program, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"agree failed with {status}")
    process.returncode = 0
    unit = 1 if sys.platform == "darwin" else 1024
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / MEGABYTE


def growth(options: list[str], sizes: tuple[int, ...]) -> None:
    """Print time and memory of the command by number of items, and their ratios."""
    size = f"{GROWTH_METRICS} metrics × {GROWTH_SYSTEMS} systems × {GROWTH_RATERS} raters"
    print(" ".join(["agree", *options]) + f": {size}")
    before: tuple[int, float, float] | None = None
    for items in sizes:
        with TemporaryDirectory() as name:
            write_tables(Path(name), items)
            spent, peak = run_agree(Path(name), options)
        ratios = (
            f"; {items / before[0]:.0f} × the items: {spent / before[1]:.1f} × the time, "
            f"{peak / before[2]:.1f} × the memory"
            if before
            else ""
        )
        print(f"  {items:,} items: {spent:.1f} s CPU, {peak:,.0f} MB{ratios}")
        before = items, spent, peak


def main() -> None:
    """Print all comparisons; with ``growth``, only the growth."""
    if "growth" not in sys.argv:
        compare()
    growth([], GROWTH_ITEMS)
    growth(["--at", "global"], GROWTH_ITEMS[:2])


def compare() -> None:
    """Print the comparisons with scipy and the time of each step."""
    for size in ((12, 20, 15, 5), (20, 200, 20, 10)):
        print("{} systems × {} items × {} raters × {} metrics".format(*size))
        scores, votes = study(*size)
        beside_scipy(scores, votes)
        steps(scores, votes)


if __name__ == "__main__":
    main()
