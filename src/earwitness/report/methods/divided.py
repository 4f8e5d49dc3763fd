"""How results were divided by groups."""

from __future__ import annotations

from collections.abc import Iterator

from earwitness.data import Results
from earwitness.report.methods.words import ALL
from earwitness.report.sentences import listed

MIXED = "mixed"


def groups_told(results: Results) -> Iterator[str]:
    """Sentences of the paragraph."""
    every = [one for scale in results.scales for one in scale.groups]
    fields = {one.field: one.of for one in every}
    if not fields:
        return
    names = listed([f"{name} (of {of}s)" for name, of in fields.items()], ALL)
    told = f"Results were also divided by {names}"
    if any(one.interactions for one in every):
        told += "; how much differences depend on the group was tested as a difference of these"
        told += _how(results, {*fields.values()})
    yield f"{told}."


def _how(results: Results, sorts: set[str]) -> str:
    if results.plan.interval == MIXED:
        return ", by the mixed model of differences"
    ways = []
    if "item" in sorts:
        ways.append("within listeners for groups of items")
    if "listener" in sorts:
        ways.append("by Welch's t test between groups of listeners")
    beside = any(i.modelled for s in results.scales for g in s.groups for i in g.interactions)
    mixed = ", and by a mixed model of differences with random listeners and items" * beside
    return f", {listed(ways)}{mixed}"
