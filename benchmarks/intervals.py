"""Coverage of confidence intervals of mean votes: 12 items, 4 systems, 8 to 32 listeners.

Votes are simulated, with new items and listeners in every run. Two true means are computed: of
these items over all listeners, and of all items over all listeners. Coverage is averaged over the
four systems; its error is the Monte Carlo error over runs. `--quick` uses a tenth of the runs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from earwitness.core import Estimate
from earwitness.stats.arrays import Floats
from earwitness.stats.means import estimate_means
from earwitness.stats.mixed_model import Components, mixed_means
from earwitness.stats.votes import Votes

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.vote_model import Points, crossed_design, draw_votes, expected_vote, stimulus_qualities

RUNS = 1000
LISTENERS = 8, 16, 32
QUALITIES = 2.0, 2.8, 3.4, 4.2
COMPONENTS = Components.from_variances(
    listener=0.25, item=0.15, listener_system=0.08, item_system=0.08, residual=0.45
)
SCALES = {"five points": Points(), "continuous": None}
METHODS: dict[str, Callable[[Votes], list[Estimate]]] = {
    "naive_t": partial(estimate_means, method="naive_t"),
    "cluster_t": partial(estimate_means, method="cluster_t"),
    "cluster_bootstrap": partial(estimate_means, method="cluster_bootstrap", draws=1000),
    "two_way_bootstrap": partial(estimate_means, method="two_way_bootstrap", draws=1000),
}


ALL = {**METHODS, "mixed": mixed_means}  # slower, and tested separately


class Covered(NamedTuple):
    """Share of intervals that contain the true mean, its Monte Carlo error, and mean width."""

    these_items: float
    error: float
    all_items: float
    error_all: float
    width: float


def covered(
    listeners: int,
    points: Points | None,
    runs: int,
    seed: int = 1,
    methods: Mapping[str, Callable[[Votes], list[Estimate]]] = METHODS,
) -> dict[str, Covered]:
    """Return the coverage by method."""
    rng = np.random.Generator(np.random.PCG64(seed))
    design = crossed_design(len(QUALITIES), 12, listeners)
    variance = COMPONENTS.within_stimuli
    everywhere = expected_vote(QUALITIES, variance + COMPONENTS.between_items, points)
    found: dict[str, list[Floats]] = {method: [] for method in methods}
    for _ in range(runs):
        stimuli = stimulus_qualities(QUALITIES, 12, COMPONENTS, rng)
        here = expected_vote(stimuli, variance, points).mean(axis=1)
        values = draw_votes(design, stimuli, COMPONENTS, rng, points=points)[0]
        for name, method in methods.items():
            found[name].append(_held(method(replace(design, values=values)), here, everywhere))
    return {name: _summed(np.array(rows)) for name, rows in found.items()}


def _held(estimates: list[Estimate], here: Floats, everywhere: Floats) -> Floats:
    """Return the shares of systems whose interval contains each true mean, and the mean width."""
    low, high = np.array([(one.low, one.high) for one in estimates]).T
    held = [((low <= truth) & (truth <= high)).mean() for truth in (here, everywhere)]
    return np.array([*held, (high - low).mean()])


def _summed(rows: Floats) -> Covered:
    here, everywhere, width = rows.mean(axis=0).tolist()
    error, error_all, _ = (rows.std(axis=0, ddof=1) / np.sqrt(len(rows))).tolist()
    return Covered(here, error, everywhere, error_all, width)


def table(points: Points | None, runs: int) -> None:
    """Print one line per method and number of listeners."""
    print("  method             listeners  coverage, these items  coverage, all items  mean width")
    for listeners in LISTENERS:
        for name, one in covered(listeners, points, runs, methods=ALL).items():
            print(
                f"  {name:<18} {listeners:>9}"
                f"  {one.these_items:>14.1%} ± {one.error:.1%}"
                f"  {one.all_items:>12.1%} ± {one.error_all:.1%}  {one.width:>10.2f}"
            )


def main() -> None:
    """Print the tables of all scales."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    runs = RUNS // 10 if parser.parse_args().quick else RUNS
    for scale, points in SCALES.items():
        start = time.perf_counter()
        print(f"95 % confidence intervals of mean votes, {scale}, {runs:,} runs:")
        table(points, runs)
        print(f"  {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
