"""Coefficients with fewer or more raters, items and references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from earwitness.core import Estimate, Score
from earwitness.metaeval.coefficients import COEFFICIENTS
from earwitness.metaeval.figures import ScaleComparison
from earwitness.metaeval.join import table_of
from earwitness.metaeval.levels import (
    ScoreRatingGrid,
    StudyDraws,
    at,
    people,
    steady,
    value,
    without_items,
)
from earwitness.metaeval.resampling import back, stretched
from earwitness.metaeval.results import Figure, SampleSizeCurve
from earwitness.stats.arrays import Floats
from earwitness.stats.bootstrap import MIN_CASES_FOR_INTERVAL, percentile_interval
from earwitness.stats.significance import ratio
from earwitness.stats.votes import Codes, Votes

# --- Extrapolation to more raters or items -------------------------------------------------------
# Noise in the means makes a correlation smaller: with k raters (or items) r² = ρ² k / (k + c), so
# 1/r² is a line in 1/k. It is drawn through half of them and all of them, and read off further on.
# Other coefficients are brought to the scale of r first, as if all were normal: r = sin(π τ / 2)
# for Kendall's, 2 sin(π ρ / 6) for Spearman's. At most, where all is noise, r grows with √k. Those
# that count ties as right or wrong do not follow this, since with more raters there are fewer ties:
# they are a line in 1/k themselves, which is careful.


TIE_COEFFICIENTS = ("acc_23", "tau_23")  # that ties of people change, not noise alone


def further(less: Floats, own: Floats, name: str, counts: tuple[int, int, int]) -> Floats:
    """The value with more, from that with fewer and with all; ``counts`` are these three numbers.

    >>> r = [np.array([np.sqrt(0.9 * k / (k + 2))]) for k in (2, 4, 8)]
    >>> bool(np.isclose(further(r[0], r[1], "pearson", (2, 4, 8)), r[2])[0])
    True
    """
    few, all_, more = counts
    steps = (1 / all_ - 1 / more) / (1 / few - 1 / all_)
    if name in TIE_COEFFICIENTS:
        one = COEFFICIENTS[name]
        return np.clip(own + steps * (own - less), one.low, one.high)
    first, second = _to_r(less, name), _to_r(own, name)
    alike = first * second > 0
    squares, lost = (np.where(alike, one, 1.0) ** -2.0 for one in (second, first))
    least = np.maximum(1.0, squares * all_ / more)
    reached = np.maximum(least, squares - steps * (lost - squares)) ** -0.5
    return np.where(alike, _from_r(np.sign(second) * reached, name), own)


def _middle(name: str) -> float:
    one = COEFFICIENTS[name]
    return (one.low + one.high) / 2


def _to_r(values: Floats, name: str) -> Floats:
    one = COEFFICIENTS[name]
    scaled = (values - _middle(name)) * 2 / (one.high - one.low)
    if name == "pearson":
        return scaled
    return 2 * np.sin(np.pi * scaled / 6) if name == "spearman" else np.sin(np.pi * scaled / 2)


def _from_r(r: Floats, name: str) -> Floats:
    one = COEFFICIENTS[name]
    by_rank = 6 * np.arcsin(r / 2) if name == "spearman" else 2 * np.arcsin(r)
    scaled = r if name == "pearson" else by_rank / np.pi
    return np.asarray(_middle(name) + scaled * (one.high - one.low) / 2)


# --- Fewer raters or items -----------------------------------------------------------------------
# With fewer: so many are drawn, each at most once, again and again, and the mean of the coefficient
# over draws is what studies with so many would have on the average. (Drawn with replacement, who
# counts twice brings the same noise twice, and the whole panel would seem half as large as it is.)
# An output that has fewer votes than are asked for keeps all. With all there are: the value itself.
#
# With more: extrapolated from the values with half of them and with all (see ``further``).
#
# How far studies with k of them spread: draws of k of n without replacement spread too little by
# √(1 − k / n), and are pulled apart by it; of all of them, and of more, it is that of half of them,
# less by the root of the numbers.


NUMBERS_IN_MEMORY = 2_000_000  # numbers laid out at a time
SAMPLE_UNITS = ("raters", "items")


class CoefficientsAtCount(NamedTuple):
    """With so many: the mean of a coefficient by metric, and draws × metrics about it."""

    value: Floats
    draws: Floats


def there_are(votes: Votes, what: str) -> int:
    """Items; or raters of an output, in the middle of all outputs."""
    if what not in SAMPLE_UNITS:
        raise ValueError(f"what: raters or items, got {what}")
    if what == "items":
        return votes.size[1]
    counts = np.bincount(votes.stimuli)
    return int(np.median(counts[counts > 0])) if len(counts) else 0


def with_counts(
    scores: Floats,
    votes: Votes,
    figure: tuple[str, str],
    what: str,
    counts: Sequence[int],
    *,
    draws: int = 200,
    seed: int = 0,
) -> list[CoefficientsAtCount]:
    """A coefficient of all metrics with each number of raters (of an output) or items.

    ``figure`` is its level and name. There must be two raters or items at least.
    """
    level, name = figure
    whole = there_are(votes, what)
    rng = np.random.Generator(np.random.PCG64((seed, SAMPLE_UNITS.index(what))))
    each = votes.size[2] if what == "raters" else whole
    orders = np.argsort(rng.random((draws, each)), axis=1, kind="stable")
    own = value(ScoreRatingGrid(scores, people(votes)[0]), level, [name]).value[0]
    half = _thinned(scores, votes, figure, what, orders, whole // 2)
    found = []
    for count in counts:
        if count < whole:
            some = _thinned(scores, votes, figure, what, orders, count)
            found.append(_about(mean(some), some, 1 / (1 - count / whole), name))
            continue
        more = further(mean(half), own, name, (whole // 2, whole, count))
        share = whole // 2 / count / (1 - whole // 2 / whole)
        found.append(_about(own if count == whole else more, half, share, name))
    return found


def _about(middle: Floats, draws: Floats, share: float, name: str) -> CoefficientsAtCount:
    """Draws brought to the middle, and their variance to a share, on the scale of intervals."""
    one, fisher = COEFFICIENTS[name], np.array(name == "pearson")
    centre, reach = (one.high + one.low) / 2, (one.high - one.low) / 2
    drawn = stretched((draws - centre) / reach, fisher)
    place = stretched((middle - centre) / reach, fisher) + (drawn - mean(drawn)) * np.sqrt(share)
    return CoefficientsAtCount(middle, centre + reach * back(place, fisher))


def _thinned(
    scores: Floats, votes: Votes, figure: tuple[str, str], what: str, orders: Codes, count: int
) -> Floats:
    """Draws × metrics, each with the first raters (of every output) or items of its order."""
    systems, items, _ = votes.size
    rows = max(1, NUMBERS_IN_MEMORY // max(1, items * systems * systems))
    said, found = people(votes), []
    for start in range(0, len(orders), rows):
        own = orders[start : start + rows]
        weights = np.ones((len(own), items))
        if what == "raters":
            said = _first(votes, own, count)
        else:
            weights = (own < count).astype(np.float64)
        drawn = StudyDraws(np.ones((len(own), systems)), weights, said)
        found.append(at(figure[0], scores, drawn, [figure[1]])[0][0])
    return np.concatenate(found)


def _first(votes: Votes, orders: Codes, count: int) -> Floats:
    """Draws × systems × items: means of votes of each cell's first raters; NaN without any."""
    systems, items, raters = votes.size
    cells = np.sort(votes.stimuli)
    kept = np.arange(len(cells)) - np.searchsorted(cells, cells) < count
    cells = cells[kept]
    n = np.bincount(cells, minlength=systems * items).astype(np.float64)
    total = np.empty((len(orders), systems * items))
    for draw, order in enumerate(orders):
        turns = np.argsort(votes.stimuli * raters + order[votes.listeners], kind="stable")[kept]
        total[draw] = np.bincount(cells, votes.values[turns], minlength=systems * items)
    means = ratio(total, np.broadcast_to(n, total.shape))
    if not np.array_equal(votes.values, np.rint(votes.values)):
        means = steady(means, np.abs(votes.values).max(initial=0))
    return means.reshape(len(orders), items, systems).swapaxes(1, 2)


def mean(draws: Floats) -> Floats:
    """By metric, over draws with a value."""
    known = ~np.isnan(draws)
    return ratio(np.where(known, draws, 0).sum(axis=0), known.sum(axis=0).astype(np.float64))


def enough(counts: Sequence[int], means: Floats, halves: Floats, gain: float, spread: float) -> int:
    """The least count that is enough; 0 if none is.

    It is where twice as many would gain less than ``gain``, and half the range of draws is at most
    ``spread``. ``means`` and ``halves`` (half ranges) are those with each count. Between counts
    means are taken to change with the logarithm.

    >>> means, halves = np.array([0.5, 0.6, 0.63, 0.64]), np.array([0.3, 0.2, 0.1, 0.05])
    >>> enough([1, 2, 4, 8], means, halves, 0.02, 0.1)
    4
    >>> enough([1, 2, 4, 8], means, halves, 0.02, 0.08)
    0
    """
    at_counts = np.log2(np.asarray(counts, np.float64))
    for place, count in enumerate(counts):
        double = at_counts[place] + 1
        if double > at_counts[-1] + 1e-9:
            return 0
        gained = np.interp(double, at_counts, means) - means[place]
        if gained < gain and halves[place] <= spread:
            return count
    return 0


# --- Sample-size curves of a scale ---------------------------------------------------------------


DRAWS_PER_COUNT = 200


def curves(
    asked: ScaleComparison,
    figure: Figure,
    scores: Sequence[Score],
    chance: Mapping[Figure, Estimate],
) -> list[SampleSizeCurve]:
    """By raters and items, and by references where scores say how many they rest on.

    Of fewer than five there is no curve. What could be ``chance`` has a curve, but no number is
    said to be enough for it.
    """
    found = []
    here = asked.at(figure.level)
    votes = here.given
    for what in SAMPLE_UNITS if isinstance(votes, Votes) else ():
        assert isinstance(votes, Votes)
        have = there_are(votes, what)
        if have >= MIN_CASES_FOR_INTERVAL:
            counts, seed = _counts(have), asked.settings.seed
            points = with_counts(
                here.joined.scores, votes, figure, what, counts, draws=DRAWS_PER_COUNT, seed=seed
            )
            found.append(_enough(asked, figure, what, have, dict(zip(counts, points, strict=True))))
    known = [*found, *_references(asked, figure, scores)]
    beyond = _beyond(asked, figure, chance.get(figure))
    return [
        replace(one, enough={name: n for name, n in one.enough.items() if name in beyond})
        for one in known
    ]


def _beyond(asked: ScaleComparison, figure: Figure, chance: Estimate | None) -> set[str]:
    """Metrics that agree better than chance."""
    values = value(asked.at(figure.level).grid, figure.level, [figure.coefficient]).value[0]
    least = -np.inf if chance is None else chance.high
    return {one.name for one, own in zip(asked.joined.metrics, values, strict=True) if own > least}


def _counts(have: int) -> list[int]:
    """Powers of two up to what there is, what there is, and twice as many."""
    powers = [2**n for n in range(20) if 2**n < have]
    return [*powers, have, 2 * have]


def _enough(
    asked: ScaleComparison,
    figure: Figure,
    what: str,
    have: int,
    counted: Mapping[int, CoefficientsAtCount],
    names: Sequence[str] = (),
) -> SampleSizeCurve:
    """A curve of the metrics that have one: those named, or all."""
    points, means, halves = list[tuple[int, dict[str, Estimate]]](), [], []
    for count, each in counted.items():
        own = {
            one.name: _estimate(each, n, asked.settings.level, count)
            for n, one in enumerate(asked.joined.metrics)
            if not names or one.name in names
        }
        means.append([one.value for one in own.values()])
        halves.append([(one.high - one.low) / 2 for one in own.values()])
        points.append((count, own))
    limits = asked.settings.gain, asked.settings.spread
    table, half = np.array(means), np.array(halves)
    least = {
        name: enough([*counted], table[:, n], half[:, n], *limits)
        for n, name in enumerate(points[0][1])
        if not np.isnan(table[:, n]).all()
    }
    return SampleSizeCurve(what, figure, have, tuple(points), least, *limits)


def _estimate(found: CoefficientsAtCount, metric: int, level: float, count: int) -> Estimate:
    """The value with so many, and the range of most draws about it."""
    drawn = found.draws[:, metric]
    known = drawn[~np.isnan(drawn)]
    low, high = float("nan"), float("nan")
    if len(known) >= MIN_CASES_FOR_INTERVAL:
        ends = percentile_interval(known[:, None], level)
        low, high = float(ends[0][0]), float(ends[1][0])
    missing = len(drawn) - len(known)
    return Estimate(float(found.value[metric]), low, high, level, count, missing, "draws")


def _references(
    asked: ScaleComparison, figure: Figure, scores: Sequence[Score]
) -> list[SampleSizeCurve]:
    """From scores with fewer references, each draw of these by itself."""
    known: dict[str, set[int]] = {}
    for one in scores:
        if one.references:
            known.setdefault(one.metric, set()).add(one.references)
    names = [name for name, own in known.items() if len(own) > 1]
    if not names:
        return []
    counts = sorted({count for name in names for count in known[name]})
    joined, people = asked.joined, asked.at(figure.level).grid.people
    adjusted = asked.at(figure.level) is not asked

    def values(count: int) -> Floats:
        own = [one for one in scores if one.references == count]
        draws = sorted({one.draw for one in own})
        rows = []
        for draw in draws:
            here = [one for one in own if one.draw == draw]
            table = table_of(here, joined.metrics, joined.systems, joined.items)
            table = without_items(table, people) if adjusted else table
            rows.append(
                value(ScoreRatingGrid(table, people), figure.level, [figure.coefficient]).value[0]
            )
        return np.array(rows)

    counted = {
        count: CoefficientsAtCount(mean(own), own) for count in counts for own in [values(count)]
    }
    return [_enough(asked, figure, "references", counts[-1], counted, names)]
