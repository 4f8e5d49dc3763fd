"""How means and differences were estimated and tested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from earwitness.data import Results, ScaleResults
from earwitness.report.methods.words import (
    ALL,
    INTERVALS,
    corrected,
    several,
    share_words,
    sized,
    way,
)
from earwitness.report.sentences import listed
from earwitness.report.tables import tested


def means_told(results: Results) -> Iterator[str]:
    """Sentences about means and shares."""
    rated = [r for scale in results.scales for r in scale.systems.values()]
    if not rated:
        return
    name = way(results)
    by = INTERVALS[name].about if name in INTERVALS else f"the method {name}"
    yield f"Intervals of means ({_level(results)}) are by {by}."
    shares = [s for r in rated for s in (r.good, r.poor) if s is not None]
    if shares:
        method = listed(sorted({s.method for s in shares}), ALL)
        yield (
            f"Beside the means stand the shares of votes of {_kinds(results.scales)}, every "
            "listener counting once, with intervals by "
            f"{INTERVALS[method].name if method in INTERVALS else method}."
        )


def _level(results: Results) -> str:
    return f"{100 * results.plan.level:.4g} %"


def _kinds(scales: Sequence[ScaleResults]) -> str:
    """What shares are called, with the scales if they are called differently."""
    found: dict[str, list[str]] = {}
    for scale in scales:
        if any(r.good or r.poor for r in scale.systems.values()):
            words = share_words(scale.value.name)
            found.setdefault(f"{words['good']} and {words['poor']}", []).append(scale.value.name)
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(f"{words} ({listed(names, ALL)})" for words, names in found.items())


def contrasts_told(results: Results) -> Iterator[str]:
    """Sentences about differences."""
    compared = [scale for scale in results.scales if scale.contrasts]
    if not compared:
        return
    name, alpha = results.plan.interval, 1 - results.plan.level
    test = INTERVALS[name].test if name in INTERVALS else f"the method {name}"
    yield (
        f"{_pairs(compared)} compared on each scale by {test}, at alpha {alpha:.4g}; "
        f"{_correction(results, compared)}."
    )
    sizes = {sized(c.effect.method) for s in compared for c in s.contrasts if c.effect is not None}
    if sizes:
        names = listed(sorted(sizes), ALL)
        yield f"Effect sizes are given as {names}, with {_level(results)} intervals."


def _pairs(scales: Sequence[ScaleResults]) -> str:
    counts = {scale.value.name: len(scale.contrasts) for scale in scales}
    return _by_scale(counts, "pair of systems was", "pairs of systems were")


def _correction(results: Results, scales: Sequence[ScaleResults]) -> str:
    """Within what, over how many; and how many could not be tested."""
    counts = {scale.value.name: sum(map(tested, scale.contrasts)) for scale in scales}
    every = [len(scale.contrasts) for scale in scales]
    told = f"p values are {corrected(results)}"
    if results.plan.correction != "none":
        told += f", within each scale over {_by_scale(counts, 'pair', 'pairs')}"
    if sum(counts.values()) < sum(every):
        of = several(sum(every), "pair", "pairs")
        told += f"; {sum(counts.values()):,} of {of} could be tested, and only those count"
    return told


def _by_scale(counts: dict[str, int], one: str, more: str) -> str:
    if len({*counts.values()}) == 1:
        return several(next(iter(counts.values())), one, more)
    return f"{', '.join(f'{count:,} ({name})' for name, count in counts.items())} {more}"
