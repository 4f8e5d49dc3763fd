"""How many raters, items and references are enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from earwitness.concordance.figures import Asked
from earwitness.concordance.joined import table_of
from earwitness.data import Enough, Estimate, Figure, Score
from earwitness.stats.bootstrap import FEWEST, percentile_interval
from earwitness.stats.concord.curves import enough, with_count
from earwitness.stats.concord.levels import Grid, value
from earwitness.stats.exact import Floats
from earwitness.stats.votes import Votes

DRAWS = 200


def curves(asked: Asked, figure: Figure, scores: Sequence[Score]) -> list[Enough]:
    """By raters and items, and by references where scores say how many they rest on."""
    found = []
    votes, settings = asked.given, asked.settings
    if isinstance(votes, Votes):
        for what, have in (("raters", votes.size[2]), ("items", len(asked.joined.items))):

            def values(count: int, what: str = what) -> Floats:
                return with_count(
                    asked.joined.scores,
                    votes,
                    figure.level,
                    figure.coefficient,
                    what,
                    count,
                    draws=DRAWS,
                    seed=settings.seed,
                )

            found.append(_enough(asked, figure, what, have, _counts(have), values))
    return [*found, *_references(asked, figure, scores)]


def _counts(have: int) -> list[int]:
    """Powers of two up to what there is, what there is, and twice as many."""
    powers = [2**n for n in range(20) if 2**n < have]
    return [*powers, have, 2 * have]


def _enough(
    asked: Asked,
    figure: Figure,
    what: str,
    have: int,
    counts: Sequence[int],
    values: Callable[[int], Floats],
    names: Sequence[str] = (),
) -> Enough:
    """A curve of the metrics that have one: those named, or all."""
    points, means, halves = list[tuple[int, dict[str, Estimate]]](), [], []
    for count in counts:
        drawn = values(count)
        level = asked.settings.level
        own = {
            one.name: _estimate(drawn[:, n], level, count)
            for n, one in enumerate(asked.joined.metrics)
            if not names or one.name in names
        }
        means.append([one.value for one in own.values()])
        halves.append([np.nan_to_num((one.high - one.low) / 2) for one in own.values()])
        points.append((count, own))
    limits = asked.settings.gain, asked.settings.spread
    table, half = np.array(means), np.array(halves)
    least = {
        name: enough(counts, table[:, n], half[:, n], *limits)
        for n, name in enumerate(points[0][1])
        if not np.isnan(table[:, n]).all()
    }
    return Enough(what, figure, have, tuple(points), least, *limits)


def _estimate(drawn: Floats, level: float, count: int) -> Estimate:
    """The mean over draws, and the range of most of them."""
    known = drawn[~np.isnan(drawn)]
    value_, low, high = float("nan"), float("nan"), float("nan")
    if len(known):
        value_ = float(known.mean())
    if len(known) >= FEWEST:
        ends = percentile_interval(known[:, None], level)
        low, high = float(ends[0][0]), float(ends[1][0])
    return Estimate(value_, low, high, level, count, len(drawn) - len(known), "draws")


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
    joined, people = asked.joined, asked.grid.people

    def values(count: int) -> Floats:
        own = [one for one in scores if one.references == count]
        draws = sorted({one.draw for one in own})
        rows = []
        for draw in draws:
            here = [one for one in own if one.draw == draw]
            table = table_of(here, joined.metrics, joined.systems, joined.items)
            rows.append(value(Grid(table, people), figure.level, [figure.coefficient]).value[0])
        return np.array(rows)

    return [_enough(asked, figure, "references", counts[-1], counts, values, names)]
