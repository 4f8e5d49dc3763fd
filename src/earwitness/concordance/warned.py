"""What one should know before believing a number of concordance."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from earwitness.concordance.asked import LEAST, Asked
from earwitness.stats.concord.draws import OVER
from earwitness.stats.concord.levels import value
from earwitness.stats.concord.swaps import all_swaps, least_p
from earwitness.stats.votes import Votes

FEW_SYSTEMS = 10
FEW_RATERS = 3
TURNED = 6  # systems from which on a metric may be said to be against people
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
    yield from _untellable(asked)
    yield from _unbalanced(asked)
    yield from _gaps(asked)
    yield from _silent(asked)
    yield from _ties(asked)
    yield from _turned(asked)


def _untellable(asked: Asked) -> Iterator[str]:
    """Whether any two metrics could be told apart at all."""
    settings, systems = asked.settings, len(asked.joined.systems)
    least = least_p(systems, settings.swap, settings.permutations)
    compared = len(asked.joined.metrics) - 1
    if compared and least * (compared if settings.correction != "none" else 1) >= settings.alpha:
        few = settings.swap == "systems" and all_swaps(systems) <= settings.permutations
        remedy = "name fewer metrics" if few else "raise --permutations"
        yield f"the best metric cannot be told from others here, however good it is — {remedy}"


def _unbalanced(asked: Asked) -> Iterator[str]:
    """Systems that were rated on other items, or by other people, than others."""
    if not isinstance(asked.given, Votes):
        return
    known = ~np.isnan(asked.given.table())
    by_item = known.reshape(asked.given.size[1], asked.given.size[0], -1)
    rated = np.asarray(by_item.any(axis=2), bool)
    if (rated != rated.any(axis=1, keepdims=True)).any():
        yield f"systems were not all rated on the same items: {_by_items(asked)}"
    some = by_item & rated[:, :, None]
    first = by_item.any(axis=1, keepdims=True) & rated[:, :, None]
    if (some != first).any():
        yield (
            "outputs of an item were not all rated by the same people: ratings differ by who gave "
            "them, too"
        )


def _by_items(asked: Asked) -> str:
    """What becomes of means of systems that have different items."""
    if asked.at("system") is not asked:
        return "means of systems are adjusted for their items"
    why = "" if asked.adjustable else ", and some share none, so means cannot be adjusted"
    return f"means of systems differ by their items, too{why} — the item level is safer"


def _silent(asked: Asked) -> Iterator[str]:
    """Metrics that say the same of all that was rated, or of all outputs of some items."""
    for level, what in (("system", "systems"), ("item", "items")):
        if level not in asked.levels:
            continue
        found = value(asked.at(level).grid, level, [asked.settings.coefficient])
        for place, metric in enumerate(asked.joined.metrics):
            n, whole = int(found.n[0, place]), int(found.n[0, place] + found.undefined[0, place])
            if np.isnan(found.value[0, place]):
                yield f"{metric.name} has no value over {what}: it says the same of all of them"
            elif level == "item" and n < whole:
                yield (
                    f"{metric.name} has a value on {n:,} of {whole:,} items only: on others it, or "
                    "people, say the same of all systems, or it is undefined"
                )


def _gaps(asked: Asked) -> Iterator[str]:
    people = ~np.isnan(asked.grid.people)
    empty = int((~people).sum())
    if empty and isinstance(asked.given, Votes):
        yield f"{empty:,} of {people.size:,} outputs have no vote; they are left out"
    gaps = np.isnan(asked.joined.scores) & people
    if (gaps != gaps[:1]).any():
        yield (
            "metrics are undefined for different outputs, so their values rest on different ones; "
            "tests between two metrics use those that both know"
        )
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
    if len(asked.joined.systems) < TURNED:
        return
    found = value(asked.at("system").grid, "system", ["spearman"])
    for place, metric in enumerate(asked.joined.metrics):
        if found.value[0, place] < -0.5 and not metric.baseline:
            end = "low" if metric.low_is_good else "high"
            remedy = "" if metric.low_is_good else f" — say --low {metric.name} if low is good"
            yield f"where {metric.name} is {end}, which is taken as good, people rate low{remedy}"
