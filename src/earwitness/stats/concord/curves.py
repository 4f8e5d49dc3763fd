"""Concordance with fewer raters, or with fewer items, and with more.

With fewer: so many are drawn, each at most once, again and again, and the mean of the coefficient
over draws is what studies with so many would have on the average. (Drawn with replacement, who
counts twice brings the same noise twice, and the whole panel would seem half as large as it is.)
An output that has fewer votes than are asked for keeps all. With all there are: the value itself.

With more: read off further on (see ``further``).

How far studies with k of them spread: draws of k of n without replacement spread too little by
√(1 − k / n), and are pulled apart by it; of all of them, and of more, it is that of half of them,
less by the root of the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from earwitness.stats.concord.coefficients import COEFFICIENTS
from earwitness.stats.concord.draws import back, stretched
from earwitness.stats.concord.further import further
from earwitness.stats.concord.levels import Drawn, Grid, at, people, steady, value
from earwitness.stats.exact import Floats
from earwitness.stats.student import ratio
from earwitness.stats.votes import Codes, Votes

HELD = 2_000_000  # numbers laid out at a time
WHAT = ("raters", "items")


class Counted(NamedTuple):
    """With so many: the mean of a coefficient by metric, and draws × metrics about it."""

    value: Floats
    draws: Floats


def there_are(votes: Votes, what: str) -> int:
    """Items; or raters of an output, in the middle of all outputs."""
    if what not in WHAT:
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
) -> list[Counted]:
    """A coefficient of all metrics with each number of raters (of an output) or items.

    ``figure`` is its level and name. There must be two raters or items at least.
    """
    level, name = figure
    whole = there_are(votes, what)
    rng = np.random.Generator(np.random.PCG64((seed, WHAT.index(what))))
    each = votes.size[2] if what == "raters" else whole
    orders = np.argsort(rng.random((draws, each)), axis=1, kind="stable")
    own = value(Grid(scores, people(votes)[0]), level, [name]).value[0]
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


def _about(middle: Floats, draws: Floats, share: float, name: str) -> Counted:
    """Draws brought to the middle, and their variance to a share, on the scale of intervals."""
    one, fisher = COEFFICIENTS[name], np.array(name == "pearson")
    centre, reach = (one.high + one.low) / 2, (one.high - one.low) / 2
    drawn = stretched((draws - centre) / reach, fisher)
    place = stretched((middle - centre) / reach, fisher) + (drawn - mean(drawn)) * np.sqrt(share)
    return Counted(middle, centre + reach * back(place, fisher))


def _thinned(
    scores: Floats, votes: Votes, figure: tuple[str, str], what: str, orders: Codes, count: int
) -> Floats:
    """Draws × metrics, each with the first raters (of every output) or items of its order."""
    systems, items, _ = votes.size
    rows = max(1, HELD // max(1, items * systems * systems))
    said, found = people(votes), []
    for start in range(0, len(orders), rows):
        own = orders[start : start + rows]
        weights = np.ones((len(own), items))
        if what == "raters":
            said = _first(votes, own, count)
        else:
            weights = (own < count).astype(np.float64)
        drawn = Drawn(np.ones((len(own), systems)), weights, said)
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
