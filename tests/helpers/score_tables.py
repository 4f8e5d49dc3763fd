"""Scores and ratings that tests of concordance share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from earwitness.core import Estimate
from earwitness.io.tables import records_csv
from earwitness.metaeval.coefficients import LEVELS
from earwitness.metaeval.results import Concordance, Figure
from earwitness.stats.arrays import Floats
from earwitness.studies.agree import agree

QUICK: dict[str, Any] = {"at": LEVELS, "draws": 20, "permutations": 20, "splits": 10}


def people(systems: int = 6, items: int = 7, raters: int = 5, seed: int = 1) -> Floats:
    """Votes, systems × items × raters, no two alike."""
    rng = np.random.default_rng(seed)
    quality = 40 + 5 * np.arange(systems)[:, None, None]
    hard = rng.normal(0, 4, (1, items, 1))
    return np.asarray(quality + hard + rng.normal(0, 6, (systems, items, raters)))


def rating_rows(votes: Floats, scale: str = "Q") -> list[dict[str, Any]]:
    """A row a vote; NaN is no vote."""
    return [
        {"item": f"i{i}", "system": f"S{s}", "listener": f"r{r}", "scale": scale, "value": vote}
        for (s, i, r), vote in np.ndenumerate(votes)
        if not np.isnan(vote)
    ]


def score_rows(**metrics: Floats) -> list[dict[str, Any]]:
    """A row an output, a column a metric (systems × items); NaN is undefined."""
    shape = next(iter(metrics.values())).shape
    return [
        {"item": f"i{i}", "system": f"S{s}"}
        | {name: "" if np.isnan(own[s, i]) else own[s, i] for name, own in metrics.items()}
        for s, i in np.ndindex(shape)
    ]


def table(path: Path, rows: list[dict[str, Any]]) -> Path:
    """A file of rows."""
    path.write_text(records_csv(rows), encoding="utf-8")
    return path


def agreed(
    folder: Path, scores: list[dict[str, Any]], ratings: list[dict[str, Any]], **how: Any
) -> Concordance:
    """All of it, with few draws."""
    files = table(folder / "scores.csv", scores), table(folder / "ratings.csv", ratings)
    return agree(*files, **(QUICK | how))


def figure(found: Concordance, metric: str, level: str, coefficient: str) -> Estimate:
    """One number of the first scale."""
    [own] = [one for one in found.scales[0].metrics if one.metric == metric]
    return own.figures[Figure(level, coefficient)]
