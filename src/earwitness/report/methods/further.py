"""How differences were tested for other items too, and how equivalence was."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from earwitness.data import Results
from earwitness.report.methods.words import ALL, INTERVALS, corrected
from earwitness.report.sentences import listed

MIXED = "mixed"


def further_told(results: Results) -> Iterator[str]:
    """Sentences of the paragraph."""
    if any(scale.modelled for scale in results.scales):
        way = INTERVALS[MIXED]
        told = f"Beside these, differences were tested by {way.test}"
        yield f"{told}, which generalise to {way.scope}."
    margins = [
        f"{scale.value.name} ±{e.margin:g}"
        for scale in results.scales
        for e in scale.equivalences[:1]
        if not isnan(e.margin)
    ]
    if margins:
        test = "the mixed model" if results.plan.interval == MIXED else "the same method"
        yield (
            f"Equivalence was tested by two one-sided tests (TOST) by {test} at alpha "
            f"{1 - results.plan.level:.4g}, within margins of {listed(margins, ALL)}; p is the "
            f"larger of the two, {corrected(results)}."
        )
