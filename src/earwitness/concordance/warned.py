"""What one should know before believing a number of concordance."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from earwitness.concordance.figures import LEAST, Asked
from earwitness.stats.concord.draws import OVER
from earwitness.stats.concord.levels import value
from earwitness.stats.votes import Votes

FEW_SYSTEMS = 10
FEW_RATERS = 3
MANY_TIES = 0.25  # of pairs of outputs of an item


def warnings(asked: Asked) -> tuple[str, ...]:
    """Few systems, items or raters; ties; cells without a number; metrics that look turned."""
    return tuple(_warnings(asked))


def _warnings(asked: Asked) -> Iterator[str]:
    own, settings = asked.joined, asked.settings
    systems, items = len(own.systems), len(own.items)
    raters = asked.given.size[2]
    if systems < FEW_SYSTEMS and "system" in asked.levels:
        yield (
            f"{systems} systems are few: with them even a metric that knows nothing may seem to "
            "agree at the system level (see the row of chance)"
        )
    sizes = dict(zip(("systems", "items", "raters"), (systems, items, raters), strict=True))
    for (what, count), drawn in zip(sizes.items(), OVER[settings.over], strict=True):
        if drawn and count < LEAST[what]:
            others = [name for name in ("items", "raters") if sizes[name] >= LEAST[name]]
            remedy = f" — say --over {others[0]}" if others else ""
            yield f"{count} {what} are too few to draw anew: there are no intervals{remedy}"
    if isinstance(asked.given, Votes) and raters < FEW_RATERS:
        yield f"{raters} raters are too few to say how well people agree with people"
    yield from _gaps(asked)
    yield from _ties(asked)
    yield from _turned(asked)


def _gaps(asked: Asked) -> Iterator[str]:
    people = ~np.isnan(asked.grid.people)
    empty = int((~people).sum())
    if empty and isinstance(asked.given, Votes):
        yield f"{empty:,} of {people.size:,} outputs have no vote; they are left out"
    for metric, scores in zip(asked.joined.metrics, asked.joined.scores, strict=True):
        lost = int((np.isnan(scores) & people).sum())
        if lost:
            yield f"{metric.name} is undefined for {lost:,} of {int(people.sum()):,} rated outputs"
    unknown = [
        name
        for name, row in zip(asked.joined.systems, people, strict=True)
        if not row.any() and not isinstance(asked.given, Votes)
    ]
    if unknown:
        yield f"choices leave {', '.join(unknown)} without a finite ability; left out"


def _ties(asked: Asked) -> Iterator[str]:
    """How often people rate two outputs of an item alike."""
    if "item" not in asked.levels:
        return
    means = asked.grid.people
    same = pairs = 0
    for item in means.T:
        known = item[~np.isnan(item)]
        pairs += len(known) * (len(known) - 1) // 2
        _, counts = np.unique(known, return_counts=True)
        same += int((counts * (counts - 1) // 2).sum())
    if pairs and same / pairs > MANY_TIES:
        yield (
            f"people rate {100 * same / pairs:.0f} % of all pairs of outputs of an item alike: "
            "coefficients differ in what they make of ties (tau_23 and acc_23 count them)"
        )


def _turned(asked: Asked) -> Iterator[str]:
    """Metrics that say the opposite of people."""
    found = value(asked.grid, "system", ["spearman"])
    for place, metric in enumerate(asked.joined.metrics):
        if found.value[0, place] < -0.5 and not metric.baseline:
            told = "is" if metric.low_is_good else "seems"
            remedy = "" if metric.low_is_good else f" — say --low {metric.name} if low is good"
            yield f"{metric.name} {told} against people: where it is high, people rate low{remedy}"
