"""Means over samples with chunkseg's bootstrap intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from earwitness.stats.arrays import Floats

COUNT_KEYS = ("num_segments", "reference/num_segments")
PICKS_IN_MEMORY = 1_000_000  # at a time


class ChunksegResults(dict[str, dict[str, float]]):
    """Results by key; ``model`` is the model for titles, if titles were compared."""

    model: str = ""


def aggregate(values: Mapping[str, Floats], draws: int) -> ChunksegResults:
    """Return one entry per key, in the order of the keys, followed by f1."""
    drawn = {
        name: _draw_means(column, draws)
        for name, column in values.items()
        if name not in COUNT_KEYS
    }
    results = ChunksegResults()
    if not values:
        return results
    lows, highs = np.percentile(list(drawn.values()), [2.5, 97.5], axis=1)
    ends = dict(zip(drawn, zip(lows.tolist(), highs.tolist(), strict=True), strict=True))
    for name, column in values.items():
        mean = float(np.mean(column))
        if name in COUNT_KEYS:
            results[name] = _sigma_band(mean, float(np.std(column)))
        else:
            low, high = ends[name]
            std = float(np.std(drawn[name]))
            results[name] = {"mean": mean, "std": std, "ci_lower": low, "ci_upper": high}
    if "precision" in results:
        results["f1"] = _f1_band(results["precision"], results["recall"])
    return results


def _draw_means(values: Floats, draws: int) -> Floats:
    """Return means of bootstrap samples, from the generator that chunkseg uses."""
    n = len(values)
    rows = max(1, PICKS_IN_MEMORY // n)
    blocks = [min(rows, draws - done) for done in range(0, draws, rows)]
    picked = (np.random.randint(0, n, (block, n)) for block in blocks)  # noqa: NPY002
    return np.concatenate([values[picks].mean(axis=1) for picks in picked])


def _sigma_band(mean: float, std: float) -> dict[str, float]:
    return {"mean": mean, "std": std, "ci_lower": mean - std, "ci_upper": mean + std}


def _f1_band(precision: Mapping[str, float], recall: Mapping[str, float]) -> dict[str, float]:
    """Return the F1 of the means, with one sigma by first-order propagation."""
    p, r = precision["mean"], recall["mean"]
    if p + r == 0:
        return _sigma_band(0.0, 0.0)
    f1 = 2 * (p * r) / (p + r)
    by_p = 2 * r / (p + r) - 2 * p * r / (p + r) ** 2
    by_r = 2 * p / (p + r) - 2 * p * r / (p + r) ** 2
    return _sigma_band(
        f1, math.sqrt(by_p**2 * precision["std"] ** 2 + by_r**2 * recall["std"] ** 2)
    )
