"""Coefficients of concordance: one number for how well a metric orders things as people do.

All are taken from one ``Sample``, which counts pairs once for all of them. NaN where undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from earwitness.stats.concord import correlation
from earwitness.stats.concord.pairs import Pairs, counted
from earwitness.stats.exact import Bools, Floats
from earwitness.stats.student import ratio

LEVELS = ("system", "item", "global")


@dataclass(frozen=True)
class Sample:
    """Scores (groups × metrics × things), people and weights (groups × draws × things).

    People may have one row, which all draws share.

    What is not known has no weight; its number does not matter, but must be one. ``margins`` is one
    number, or groups × metrics: a difference of scores of at most this much is a tie. Only counts
    of pairs know of it, so correlations do not.
    """

    scores: Floats
    people: Floats
    weights: Floats
    margins: Floats | float = 0.0

    @cached_property
    def pairs(self) -> Pairs:
        """The weights of pairs, by kind."""
        return counted(self.scores, self.people, self.weights, self.margins)

    @cached_property
    def things(self) -> Floats:
        """How many things have a weight: groups × draws."""
        return np.asarray((self.weights > 0).sum(axis=2, dtype=np.float64))

    @cached_property
    def different(self) -> Floats:
        """The smaller number of different values, of the metric or of people."""
        people = correlation.different_drawn(self.people, self.weights)
        return np.minimum(correlation.different(self.scores, self.weights), people[:, :, None])

    @property
    def varied(self) -> Bools:
        """Whether both the metric and people have two different values."""
        return self.different >= 2


def pearson(sample: Sample) -> Floats:
    """Pearson's r."""
    found = correlation.pearson(sample.scores, sample.people, sample.weights)
    return np.where(sample.varied, found, np.nan)


def spearman(sample: Sample) -> Floats:
    """Pearson's r of midranks."""
    found = correlation.spearman(sample.scores, sample.people, sample.weights)
    return np.where(sample.varied, found, np.nan)


def kendall_b(sample: Sample) -> Floats:
    """(C − D) over the geometric mean of the pairs that either side tells apart."""
    pairs = sample.pairs
    below = np.sqrt(pairs.apart_metric * pairs.apart_people)
    return ratio(pairs.concordant - pairs.discordant, below)


def kendall_c(sample: Sample) -> Floats:
    """Stuart's: 2 (C − D) / (n² (m − 1) / m), with m the smaller number of different values."""
    pairs, fewer = sample.pairs, sample.different
    n = sample.weights.sum(axis=2)[:, :, None]
    below = n**2 * np.maximum(fewer - 1, 0) / np.maximum(fewer, 1)
    return ratio(2 * (pairs.concordant - pairs.discordant), below)


def acc_23(sample: Sample) -> Floats:
    """(C + T_both) / all."""
    pairs = sample.pairs
    return ratio(pairs.concordant + pairs.tied_both, pairs.all)


def tau_23(sample: Sample) -> Floats:
    """(C + T_both − D − T_metric − T_people) / all."""
    pairs = sample.pairs
    right = pairs.concordant + pairs.tied_both
    return ratio(2 * right - pairs.all, pairs.all)


def pairwise_accuracy(sample: Sample) -> Floats:
    """C / (C + D + T_metric)."""
    return ratio(sample.pairs.concordant, sample.pairs.apart_people)


@dataclass(frozen=True)
class Coefficient:
    """A coefficient, what it says, its range, and what a metric gets that knows nothing."""

    value: Callable[[Sample], Floats]
    says: str
    low: float
    high: float
    chance: float
    levels: tuple[str, ...] = LEVELS


COEFFICIENTS: dict[str, Coefficient] = {
    "pearson": Coefficient(
        pearson, "How close people's values lie to a straight line over the metric.", -1, 1, 0
    ),
    "spearman": Coefficient(
        spearman, "Pearson's correlation of ranks; ties share the mean of their ranks.", -1, 1, 0
    ),
    "kendall_b": Coefficient(
        kendall_b,
        "Pairs in the same order less pairs in the other, over the geometric mean of the pairs "
        "that the metric and that people tell apart.",
        -1,
        1,
        0,
    ),
    "kendall_c": Coefficient(
        kendall_c,
        "Pairs in the same order less pairs in the other, over the most that the smaller number of "
        "different values allows (Stuart).",
        -1,
        1,
        0,
    ),
    "tau_23": Coefficient(
        tau_23,
        "The share of pairs that the metric orders or ties as people do, less the share of others; "
        "chance is 0 only where nothing is tied.",
        -1,
        1,
        0,
    ),
    "acc_23": Coefficient(
        acc_23,
        "The share of pairs that the metric orders or ties as people do; chance is one half only "
        "where nothing is tied.",
        0,
        1,
        0.5,
    ),
    "pairwise_accuracy": Coefficient(
        pairwise_accuracy,
        "Of the pairs of systems that people tell apart, the share that the metric orders alike; a "
        "tie of the metric is wrong.",
        0,
        1,
        0.5,
        ("system",),
    ),
}


def names_at(level: str) -> tuple[str, ...]:
    """The coefficients that have a meaning at a level."""
    return tuple(name for name, one in COEFFICIENTS.items() if level in one.levels)


def values(sample: Sample, names: Sequence[str]) -> Floats:
    """Coefficients × groups × draws × metrics."""
    shape = *sample.weights.shape[:2], sample.scores.shape[1]
    found = np.empty((len(names), *shape))
    for place, name in enumerate(names):
        found[place] = COEFFICIENTS[name].value(sample)
    return found
