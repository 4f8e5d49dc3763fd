"""Bootstrap over systems, items and raters: intervals of coefficients and differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from earwitness.metaeval.coefficients import COEFFICIENTS
from earwitness.metaeval.levels import StudyDraws, cell_means, evaluate_draws
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.bootstrap import draw_weight_blocks
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

    def resample(self, raters: Floats, items: Floats) -> Floats:
        """Draws × systems × items, from how often each rater and each item counts."""


class Interval(NamedTuple):
    """Coefficients × metrics: both ends, and in how many draws there was no value."""

    low: Floats
    high: Floats
    undefined: Floats


def resample_coefficients(
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
    coefficients = [
        evaluate_draws(level, scores, study_draws, names, margins)[0]
        for study_draws in _study_draws(scores, votes, RESAMPLED_AXES[over], draws, seed)
    ]
    return np.concatenate([np.empty((len(names), 0, len(scores))), *coefficients], axis=1)


def _study_draws(
    scores: Floats,
    votes: Votes | Floats | RaterResampler,
    over: tuple[bool, bool, bool],
    draws: int,
    seed: int,
) -> Iterator[StudyDraws]:
    """Blocks of draws that fit into memory; what is not drawn has weights of 1."""
    _, systems, items = scores.shape
    raters = 0 if isinstance(votes, np.ndarray) else count_raters(votes)
    rows = max(1, NUMBERS_IN_MEMORY // max(1, items * max(systems, len(scores))))
    for weight_block in draw_weight_blocks((systems, items, raters), draws, seed):
        for start in range(0, len(weight_block[0]), rows):
            weights_by_unit = [weights[start : start + rows] for weights in weight_block]
            weights_by_unit = [
                unit_weights if is_drawn else np.ones_like(unit_weights)
                for unit_weights, is_drawn in zip(weights_by_unit, over, strict=True)
            ]
            yield StudyDraws(
                weights_by_unit[0],
                weights_by_unit[1],
                resampled_people(votes, weights_by_unit[2], weights_by_unit[1], over),
            )


def count_raters(votes: Votes | RaterResampler) -> int:
    """How many raters there are."""
    return votes.size[2] if isinstance(votes, Votes) else votes.raters


def resampled_people(
    votes: Votes | Floats | RaterResampler,
    raters: Floats,
    items: Floats,
    over: tuple[bool, bool, bool],
) -> Floats:
    """What people say in every draw; one row where that is the same in all."""
    if isinstance(votes, np.ndarray):
        return votes[None]
    if isinstance(votes, Votes):
        return cell_means(votes, raters if over[2] else None)
    varies = over[1] or over[2]
    return votes.resample(raters, items) if varies else votes.resample(raters[:1], items[:1])


def bootstrap_interval(
    points: Floats,
    draws: Floats,
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
    half_range = (high - low) if difference else (high - low) / 2
    middle = np.zeros_like(low) if difference else (high + low) / 2

    fisher = np.array([name == "pearson" for name in names])[:, None]
    spread = _draw_deviation(to_stable_scale((draws.swapaxes(0, 1) - middle) / half_range, fisher))
    half_width = _interval_factor(level, count) * np.where(spread > MIN_DRAW_SPREAD, spread, np.nan)
    centre = to_stable_scale((points - middle) / half_range, fisher)
    ends = [
        middle + half_range * from_stable_scale(centre + side * half_width, fisher)
        for side in (-1, 1)
    ]
    return Interval(
        np.minimum(ends[0], points),
        np.maximum(ends[1], points),
        np.isnan(draws).sum(axis=1).astype(np.float64),
    )


def to_stable_scale(values: Floats, fisher: Bools) -> Floats:
    """Values from −1 to 1 on a scale that evens out their spread."""
    by_fisher = np.arctanh(np.clip(values, -MAX_FISHER_R, MAX_FISHER_R))
    return np.where(fisher, by_fisher, np.arcsin(np.clip(values, -1, 1)))


def from_stable_scale(values: Floats, fisher: Bools) -> Floats:
    """From that scale to values."""
    return np.where(fisher, np.tanh(values), np.sin(np.clip(values, -np.pi / 2, np.pi / 2)))


def _draw_deviation(draws: Floats) -> Floats:
    """Over draws with a value; NaN where fewer than two have one."""
    is_defined = ~np.isnan(draws)
    n = is_defined.sum(axis=0).astype(np.float64)
    mean = ratio(np.where(is_defined, draws, 0).sum(axis=0), n)
    squares = np.where(is_defined, draws - mean, 0) ** 2
    return np.where(n > 1, np.sqrt(ratio(squares.sum(axis=0), n)), np.nan)


def _interval_factor(level: float, count: int | None) -> float:
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
# which know how skew they are, and from how draws of the two go together: MOVER, the method of
# variance estimates recovery (Zou 2007).


def difference_interval(
    points: Floats,
    draws: Floats,
    name: str,
    pairs: Sequence[tuple[int, int]],
    *,
    over: str,
    level: float = 0.95,
    count: int | None = None,
) -> Interval:
    """Ends for every pair (the first less the second), from values of metrics and their draws.

    ``points`` has a number a metric, ``draws`` is draws × metrics; see
    ``bootstrap_interval``.
    """
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    middle, differences = points[first] - points[second], draws[:, first] - draws[:, second]
    if name == "pearson" and RESAMPLED_AXES[over][0]:
        intervals = bootstrap_interval(points[None], draws[None], [name], level=level, count=count)
        low, high = (points - intervals.low[0], intervals.high[0] - points)
        correlation = _draw_correlation(draws[:, first], draws[:, second])
        ends = (
            middle - _mover_distance(low[first], high[second], correlation),
            middle + _mover_distance(high[first], low[second], correlation),
        )
        return Interval(ends[0], ends[1], np.isnan(differences).sum(axis=0).astype(np.float64))
    interval = bootstrap_interval(
        middle[None], differences[None], [name], level=level, count=count, difference=True
    )
    return Interval(interval.low[0], interval.high[0], interval.undefined[0])


def _mover_distance(first: Floats, second: Floats, correlation: Floats) -> Floats:
    """How far the end is from the difference; a metric that never changes adds nothing."""
    unknown = np.isnan(first) & np.isnan(second)
    first, second = np.nan_to_num(first), np.nan_to_num(second)
    square = np.maximum(0, first**2 + second**2 - 2 * correlation * first * second)
    return np.where(unknown, np.nan, np.sqrt(square))


def _draw_correlation(first: Floats, second: Floats) -> Floats:
    """The correlation of two metrics over draws (draws × pairs) in which both have a value."""
    is_defined = ~np.isnan(first) & ~np.isnan(second)
    fisher = np.ones((1, 1), bool)
    deviations = []
    for side in (first, second):
        on_scale = np.where(is_defined, to_stable_scale(np.where(is_defined, side, 0), fisher), 0)
        mean = on_scale.sum(axis=0) / np.maximum(is_defined.sum(axis=0), 1)
        deviations.append(np.where(is_defined, on_scale - mean, 0))
    lengths = np.sqrt((deviations[0] ** 2).sum(axis=0) * (deviations[1] ** 2).sum(axis=0))
    return np.nan_to_num(ratio((deviations[0] * deviations[1]).sum(axis=0), lengths))
