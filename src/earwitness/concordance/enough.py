"""How many raters, items and references are enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from earwitness.concordance.asked import Asked
from earwitness.concordance.joined import table_of
from earwitness.data import Enough, Estimate, Figure, Score
from earwitness.stats.bootstrap import FEWEST, percentile_interval
from earwitness.stats.concord.adjusted import without_items
from earwitness.stats.concord.curves import WHAT, Counted, enough, mean, there_are, with_counts
from earwitness.stats.concord.levels import Grid, value
from earwitness.stats.exact import Floats
from earwitness.stats.votes import Votes

DRAWS = 200


def curves(
    asked: Asked, figure: Figure, scores: Sequence[Score], chance: Mapping[Figure, Estimate]
) -> list[Enough]:
    """By raters and items, and by references where scores say how many they rest on.

    Of fewer than five there is no curve. What could be ``chance`` has a curve, but no number is
    said to be enough for it.
    """
    found = []
    here = asked.at(figure.level)
    votes = here.given
    for what in WHAT if isinstance(votes, Votes) else ():
        assert isinstance(votes, Votes)
        have = there_are(votes, what)
        if have >= FEWEST:
            counts, seed = _counts(have), asked.settings.seed
            points = with_counts(
                here.joined.scores, votes, figure, what, counts, draws=DRAWS, seed=seed
            )
            found.append(_enough(asked, figure, what, have, dict(zip(counts, points, strict=True))))
    known = [*found, *_references(asked, figure, scores)]
    beyond = _beyond(asked, figure, chance.get(figure))
    return [
        replace(one, enough={name: n for name, n in one.enough.items() if name in beyond})
        for one in known
    ]


def _beyond(asked: Asked, figure: Figure, chance: Estimate | None) -> set[str]:
    """Metrics that agree better than chance."""
    values = value(asked.at(figure.level).grid, figure.level, [figure.coefficient]).value[0]
    least = -np.inf if chance is None else chance.high
    return {one.name for one, own in zip(asked.joined.metrics, values, strict=True) if own > least}


def _counts(have: int) -> list[int]:
    """Powers of two up to what there is, what there is, and twice as many."""
    powers = [2**n for n in range(20) if 2**n < have]
    return [*powers, have, 2 * have]


def _enough(
    asked: Asked,
    figure: Figure,
    what: str,
    have: int,
    counted: Mapping[int, Counted],
    names: Sequence[str] = (),
) -> Enough:
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
    return Enough(what, figure, have, tuple(points), least, *limits)


def _estimate(found: Counted, metric: int, level: float, count: int) -> Estimate:
    """The value with so many, and the range of most draws about it."""
    drawn = found.draws[:, metric]
    known = drawn[~np.isnan(drawn)]
    low, high = float("nan"), float("nan")
    if len(known) >= FEWEST:
        ends = percentile_interval(known[:, None], level)
        low, high = float(ends[0][0]), float(ends[1][0])
    missing = len(drawn) - len(known)
    return Estimate(float(found.value[metric]), low, high, level, count, missing, "draws")


def _references(asked: Asked, figure: Figure, scores: Sequence[Score]) -> list[Enough]:
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
            rows.append(value(Grid(table, people), figure.level, [figure.coefficient]).value[0])
        return np.array(rows)

    counted = {count: Counted(mean(own), own) for count in counts for own in [values(count)]}
    return [_enough(asked, figure, "references", counts[-1], counted, names)]
