"""Bootstrap over systems, items and raters: intervals of coefficients and differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from earwitness.metaeval.coefficients import COEFFICIENTS
from earwitness.metaeval.levels import StudyDraws, at, people
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.bootstrap import blocks
from earwitness.stats.significance import ratio
from earwitness.stats.votes import Votes

# --- Bootstrap draws and intervals ---------------------------------------------------------------
# What is drawn says to what a value generalises: to other systems, to other items, to other raters
# of the same kinds. All metrics share the draws, so differences between metrics can be taken draw
# by draw. Each of the three has a stream of its own: the items of draw 7 are the same whether
# raters are drawn too or not.


NUMBERS_IN_MEMORY = 1_000_000  # numbers laid out at a time
MIN_DRAW_SPREAD = 1e-6  # a spread of draws that is of rounding alone
MAX_FISHER_R = 0.999  # Pearson's r beyond which Fisher's scale is cut off
RESAMPLED_AXES = {
    "systems": (True, False, False),
    "items": (False, True, False),
    "raters": (False, False, True),
    "all": (True, True, True),
}


class RaterResampler(Protocol):
    """People of whom more than mean votes is known: what they say when some count more often."""

    @property
    def raters(self) -> int: ...

    def drawn(self, raters: Floats, items: Floats) -> Floats:
        """Draws × systems × items, from how often each rater and each item counts."""


class Interval(NamedTuple):
    """Coefficients × metrics: both ends, and in how many draws there was no value."""

    low: Floats
    high: Floats
    undefined: Floats


def drawn_values(
    scores: Floats,
    votes: Votes | Floats | RaterResampler,
    level: str,
    names: Sequence[str],
    *,
    over: str = "all",
    draws: int = 1000,
    seed: int = 0,
    margins: Floats | float = 0.0,
) -> Floats:
    """Coefficients × draws × metrics.

    Instead of votes, people may be means (systems × items); raters can then not be drawn, and
    ``all`` draws systems and items. ``margins`` stay as they are in every draw.
    """
    if over == "raters" and isinstance(votes, np.ndarray):
        raise ValueError("raters can be drawn only where votes are known, not their means")
    found = [
        at(level, scores, some, names, margins)[0]
        for some in _drawn(scores, votes, RESAMPLED_AXES[over], draws, seed)
    ]
    return np.concatenate([np.empty((len(names), 0, len(scores))), *found], axis=1)


def _drawn(
    scores: Floats,
    votes: Votes | Floats | RaterResampler,
    over: tuple[bool, bool, bool],
    draws: int,
    seed: int,
) -> Iterator[StudyDraws]:
    """Blocks of draws that fit into memory; what is not drawn has weights of 1."""
    _, systems, items = scores.shape
    raters = 0 if isinstance(votes, np.ndarray) else voters(votes)
    rows = max(1, NUMBERS_IN_MEMORY // max(1, items * max(systems, len(scores))))
    for whole in blocks((systems, items, raters), draws, seed):
        for start in range(0, len(whole[0]), rows):
            part = [weights[start : start + rows] for weights in whole]
            part = [w if yes else np.ones_like(w) for w, yes in zip(part, over, strict=True)]
            yield StudyDraws(part[0], part[1], said(votes, part[2], part[1], over))


def voters(votes: Votes | RaterResampler) -> int:
    """How many raters there are."""
    return votes.size[2] if isinstance(votes, Votes) else votes.raters


def said(
    votes: Votes | Floats | RaterResampler,
    raters: Floats,
    items: Floats,
    over: tuple[bool, bool, bool],
) -> Floats:
    """What people say in every draw; one row where that is the same in all."""
    if isinstance(votes, np.ndarray):
        return votes[None]
    if isinstance(votes, Votes):
        return people(votes, raters if over[2] else None)
    moves = over[1] or over[2]
    return votes.drawn(raters, items) if moves else votes.drawn(raters[:1], items[:1])


def interval(
    points: Floats,
    drawn: Floats,
    names: Sequence[str],
    *,
    level: float = 0.95,
    count: int | None = None,
    difference: bool = False,
) -> Interval:
    """Both ends about each value (coefficients × metrics), from its draws (… × draws × metrics).

    What is meant to lie between is the mean of the coefficient over studies of the same sizes with
    other raters (items, systems) of the same kind. The value is one such study, so it is the
    middle. Draws are not: raters who count twice bring their noise twice, and draws lie lower. So
    only their spread is taken, with the range of the coefficient brought to −1 … 1 on a scale that
    evens it out and keeps the ends inside: Fisher's for Pearson, the arc sine for others, whose
    draws often reach 1, where Fisher's scale has no end. Percentiles of draws, which lie around
    the middle of the draws, missed up to three in five where raters are drawn, and reflected or
    bias-corrected ones more.

    ``count`` says of how many things the draws are, where one kind is drawn: few spread too little
    by √(n / (n − 1)), and the end is that of Student's t. Where all kinds are drawn noise counts
    several times, the spread is too wide already, and there is no such allowance (None).

    Where all draws are the same, as where every one is 1, they say nothing about how far the value
    may be from that of another study: there is no interval, rather than one without width.

    For a ``difference`` of two metrics' coefficients the range is twice as wide.
    """
    ranges = [(COEFFICIENTS[name].low, COEFFICIENTS[name].high) for name in names]
    low, high = np.array(ranges).T[:, :, None]
    reach = (high - low) if difference else (high - low) / 2
    middle = np.zeros_like(low) if difference else (high + low) / 2

    fisher = np.array([name == "pearson" for name in names])[:, None]
    spread = _deviation(stretched((drawn.swapaxes(0, 1) - middle) / reach, fisher))
    half = _times(level, count) * np.where(spread > MIN_DRAW_SPREAD, spread, np.nan)
    place = stretched((points - middle) / reach, fisher)
    ends = [middle + reach * back(place + side * half, fisher) for side in (-1, 1)]
    return Interval(
        np.minimum(ends[0], points),
        np.maximum(ends[1], points),
        np.isnan(drawn).sum(axis=1).astype(np.float64),
    )


def stretched(values: Floats, fisher: Bools) -> Floats:
    """Values from −1 to 1 on a scale that evens out their spread."""
    by_fisher = np.arctanh(np.clip(values, -MAX_FISHER_R, MAX_FISHER_R))
    return np.where(fisher, by_fisher, np.arcsin(np.clip(values, -1, 1)))


def back(values: Floats, fisher: Bools) -> Floats:
    """From that scale to values."""
    return np.where(fisher, np.tanh(values), np.sin(np.clip(values, -np.pi / 2, np.pi / 2)))


def _deviation(drawn: Floats) -> Floats:
    """Over draws with a value; NaN where fewer than two have one."""
    known = ~np.isnan(drawn)
    n = known.sum(axis=0).astype(np.float64)
    mean = ratio(np.where(known, drawn, 0).sum(axis=0), n)
    squares = np.where(known, drawn - mean, 0) ** 2
    return np.where(n > 1, np.sqrt(ratio(squares.sum(axis=0), n)), np.nan)


def _times(level: float, count: int | None) -> float:
    """How many standard deviations of draws there are to each side."""
    from scipy.special import ndtri, stdtrit

    if count is None:
        return float(ndtri((1 + level) / 2))
    if count < 2:
        return float("nan")
    return float(stdtrit(count - 1, (1 + level) / 2) * np.sqrt(count / (count - 1)))


# --- Intervals of differences between metrics ----------------------------------------------------
# The spread of differences draw by draw makes the width, as it does for one metric. That is not
# enough for Pearson's r where systems are drawn: a metric with a high r has a small spread and one
# with a lower r a large one, which is itself badly known from few systems, and by simulation one
# interval in ten missed. There the difference is put together from the intervals of both metrics,
# which know how skew they are, and from how draws of the two go together (Zou 2007).


def between(
    points: Floats,
    drawn: Floats,
    name: str,
    pairs: Sequence[tuple[int, int]],
    *,
    over: str,
    level: float = 0.95,
    count: int | None = None,
) -> Interval:
    """Ends for every pair (the first less the second), from values of metrics and their draws.

    ``points`` has a number a metric, ``drawn`` is draws × metrics; see ``interval`` for the rest.
    """
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    middle, apart = points[first] - points[second], drawn[:, first] - drawn[:, second]
    if name == "pearson" and RESAMPLED_AXES[over][0]:
        own = interval(points[None], drawn[None], [name], level=level, count=count)
        low, high = (points - own.low[0], own.high[0] - points)
        alike = _together(drawn[:, first], drawn[:, second])
        ends = (
            middle - _joined(low[first], high[second], alike),
            middle + _joined(high[first], low[second], alike),
        )
        return Interval(ends[0], ends[1], np.isnan(apart).sum(axis=0).astype(np.float64))
    found = interval(middle[None], apart[None], [name], level=level, count=count, difference=True)
    return Interval(found.low[0], found.high[0], found.undefined[0])


def _joined(one: Floats, other: Floats, alike: Floats) -> Floats:
    """How far the end is from the difference; a metric that never changes adds nothing."""
    unknown = np.isnan(one) & np.isnan(other)
    one, other = np.nan_to_num(one), np.nan_to_num(other)
    square = np.maximum(0, one**2 + other**2 - 2 * alike * one * other)
    return np.where(unknown, np.nan, np.sqrt(square))


def _together(first: Floats, second: Floats) -> Floats:
    """The correlation of two metrics over draws (draws × pairs) in which both have a value."""
    known = ~np.isnan(first) & ~np.isnan(second)
    fisher = np.ones((1, 1), bool)
    apart = []
    for side in (first, second):
        on_scale = np.where(known, stretched(np.where(known, side, 0), fisher), 0)
        mean = on_scale.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        apart.append(np.where(known, on_scale - mean, 0))
    lengths = np.sqrt((apart[0] ** 2).sum(axis=0) * (apart[1] ** 2).sum(axis=0))
    return np.nan_to_num(ratio((apart[0] * apart[1]).sum(axis=0), lengths))
