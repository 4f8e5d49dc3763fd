"""Who was left out, and what that changes, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan

from earwitness.data import Estimate, Results, ScaleResults, Who
from earwitness.report.methods.screened import all_failed, not_applied, unapplied
from earwitness.report.numbers import number
from earwitness.report.sentences import listed

MOST = 10  # listeners that are named


def left_out(results: Results) -> Iterator[str]:
    """Whom rules left out; that nobody was, if they were applied; which were not."""
    if results.left:
        told = "was" if len(results.left) == 1 else "were"
        count = f"{len(results.left):,} of {results.listeners:,}"
        yield f"{people(results.left)} {told} left out ({count})"
        changes = [scale for scale in results.scales if scale.everyone and scale.systems]
        if changes:
            yield _changed(changes, results.controls)
    elif results.screened and not all_failed(results):
        yield f"no listener of {results.listeners:,} was left out"
    if names := unapplied(results):
        yield f"{not_applied(names)}: see notes"


def people(who: Sequence[Who]) -> str:
    """Listeners by name.

    >>> people((1,)), people((1, "anna"))
    ('listener 1', 'listeners 1 and anna')
    """
    return f"listener{'s' * (len(who) != 1)} {listed([str(one) for one in who], MOST)}"


def _changed(scales: list[ScaleResults], controls: Sequence[str]) -> str:
    """Whether systems would stand in another order with all listeners, and how far means move."""
    kept = {s.value.name: _kept(s, controls) for s in scales}
    every = {s.value.name: s.everyone for s in scales}
    other = [name for name, own in kept.items() if _order(own) != _order(every[name], own)]
    moved = [
        (abs(estimate.value - scale.everyone[name].value), name, scale)
        for scale in scales
        for name, estimate in kept[scale.value.name].items()
        if name in scale.everyone and not isnan(estimate.value - scale.everyone[name].value)
    ]
    if not moved:
        return "what that changes is not known"
    most, name, scale = max(moved, key=lambda one: one[0])
    order = f"the order changes on {listed(other)}" if other else "no system changes place"
    return (
        f"with all listeners {order}; the mean that moves most is that of {name} on "
        f"{scale.value.name}, by {number(most, scale.value)}"
    )


def _kept(scale: ScaleResults, controls: Sequence[str]) -> dict[str, Estimate]:
    return {name: rated.mean for name, rated in scale.systems.items() if name not in controls}


def _order(means: Mapping[str, Estimate], among: Mapping[str, Estimate] | None = None) -> list[str]:
    known = [n for n in among or means if n in means and not isnan(means[n].value)]
    return sorted(known, key=lambda name: means[name].value)
