"""Which columns of scores are metrics, which end of each is good, which only are to be beaten."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import isnan

from earwitness.concordance.joined import Metric
from earwitness.data import Score, Value
from earwitness.errors import UsageError, nearest
from earwitness.metrics import METRICS

TRIVIAL = ("length", "duration", "words")  # columns that are no metrics
Column = dict[object, float]


def metrics_of(
    scores: Sequence[Score], low: Collection[str] = (), baselines: Collection[str] = ()
) -> tuple[list[Metric], list[str]]:
    """Metrics, and what is said of columns that are left out."""
    columns = _columns(scores)
    for name in (*low, *baselines):
        if name not in columns:
            raise UsageError(f'there is no metric "{name}" — {nearest(name, list(columns))}')
    out = dict(_left_out(columns))
    found = [_metric(name, low, baselines) for name in columns if name not in out]
    return found, list(out.values())


def _columns(scores: Sequence[Score]) -> dict[str, Column]:
    found: dict[str, Column] = {}
    for one in scores:
        own = found.setdefault(one.metric, {})
        if (one.key, one.draw) in own:
            raise UsageError(f"{one.metric} stands in two files — keep one")
        own[one.key, one.draw] = one.value
    return found


def _left_out(columns: dict[str, Column]) -> Iterator[tuple[str, str]]:
    """Columns that say nothing, or the same as an earlier one, but for rounding."""
    seen: dict[frozenset[tuple[object, str]], str] = {}
    for name, own in columns.items():
        said = frozenset((key, f"{x:.10g}") for key, x in own.items())
        if said in seen:
            yield name, f"{name} says the same as {seen[said]} of every output; left out"
        elif len({x for x in own.values() if not isnan(x)}) < 2:
            yield name, f"{name} says the same of all outputs; left out"
        seen.setdefault(said, name)


def _metric(name: str, low: Collection[str], baselines: Collection[str]) -> Metric:
    """The program's own values say which end is good; what has no good end is a baseline."""
    known = _own_values().get(name.partition("@")[0].lower())
    best = "" if known is None else known.best
    trivial = name in baselines or name in TRIVIAL or best == "none"
    return Metric(name, name in low or best == "low", trivial)


def _own_values() -> dict[str, Value]:
    found = [value for kind in METRICS.values() for value in kind.values]
    return {one.name: one for one in found}
