"""Simulated studies with known effects.

Votes from 1 to 5 have effects of system, item, both together, rater, and rater with system; metrics
have errors by system and by cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from earwitness.metaeval.levels import ScoreRatingGrid, evaluate_grid
from earwitness.stats.arrays import Floats
from earwitness.stats.votes import Votes

SIZE = 8, 10, 8  # systems, items, raters
ERRORS = np.array([[0.2, 0.3], [0.5, 0.8], [1.0, 1.0], [0.5, 0.8]])  # by system, by cell
KINDS = ("systems", "items", "raters")


@dataclass(frozen=True)
class World:
    """What systems, items and raters are like."""

    systems: Floats
    by_system: Floats
    items: Floats
    cells: Floats
    by_cell: Floats
    raters: Floats
    likings: Floats

    def study(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Scores, and votes (systems × items × raters)."""
        true = self.systems[:, None] + self.items + self.cells
        heard = true[..., None] + self.raters + self.likings[:, None]
        votes = np.rint(3 + heard + rng.normal(0, 0.7, SIZE))
        return true + self.by_system[..., None] + self.by_cell, np.clip(votes, 1, 5)

    def other(self, rng: np.random.Generator, over: str) -> World:
        """The same with other systems, items, raters, or all."""
        new = world(rng)
        cells = {"cells": new.cells, "by_cell": new.by_cell}
        systems = {"systems": new.systems, "by_system": new.by_system, "likings": new.likings}
        if over == "systems":
            return replace(self, **systems, **cells)
        if over == "items":
            return replace(self, items=new.items, **cells)
        return replace(self, raters=new.raters, likings=new.likings) if over == "raters" else new


def world(rng: np.random.Generator) -> World:
    systems, items, raters = SIZE
    return World(
        rng.normal(0, 0.7, systems),
        rng.normal(size=(len(ERRORS), systems)) * ERRORS[:, :1],
        rng.normal(0, 0.4, items),
        rng.normal(0, 0.4, (systems, items)),
        rng.normal(size=(len(ERRORS), systems, items)) * ERRORS[:, 1:, None],
        rng.normal(0, 0.4, raters),
        rng.normal(0, 0.3, (systems, raters)),
    )


def values(study: tuple[Floats, Floats], level: str, names: Sequence[str]) -> Floats:
    """Coefficients × metrics."""
    scores, votes = study
    return evaluate_grid(ScoreRatingGrid(scores, votes.mean(axis=2)), level, names).value


def votes_of(table: Floats) -> Votes:
    systems, items, raters = (one.ravel() for one in np.indices(table.shape))
    return Votes(table.ravel(), systems, items, raters, SIZE)
