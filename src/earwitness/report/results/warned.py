"""What is strange about votes: effects that should not be there, and how listeners voted."""

from __future__ import annotations

from collections.abc import Iterator

from earwitness.data import Effect, ListenerFigures, Results, ScaleResults, Who
from earwitness.listening.analysis.rated import TELLING
from earwitness.report.numbers import number
from earwitness.report.results.left import people
from earwitness.report.sentences import listed
from earwitness.stats.correction import holm

ALWAYS = 0.95  # share of one value from which on a listener hardly uses the scale
ENOUGH = 10  # votes from which on that means something
LOW = 0.4  # correlation with the others, as P.808 has it
WAYS = {
    "order": "from the first to the last trial of a session",
    "place": "from the first to the last place on a page",
}


def warnings(results: Results) -> Iterator[str]:
    """All of them."""
    yield from _effects(results)
    for scale in results.scales:
        yield from _straight(scale)
    if not results.rules and not results.screened:
        yield from _apart(results)


def _effects(results: Results) -> Iterator[str]:
    """Those with a low p, corrected over all effects on all scales; of three listeners or more."""
    every = [(scale, one) for scale in results.scales for one in scale.effects]
    corrected = holm([one.p for _, one in every])
    for (scale, one), p in zip(every, corrected, strict=True):
        if p < 1 - results.plan.level and one.difference.n >= TELLING:
            yield f"votes {_moved(scale, one)} ({scale.value.name})"


def _moved(scale: ScaleResults, effect: Effect) -> str:
    far = number(abs(effect.difference.value), scale.value)
    verb = "rise" if effect.difference.value > 0 else "fall"
    later, _, earlier = effect.what.partition(" less ")
    if effect.name in WAYS:
        return f"{verb} by {far} {WAYS[effect.name]}"
    return f"{verb} by {far} from {earlier} to {later}" if earlier else f"{verb} by {far}: {later}"


def _straight(scale: ScaleResults) -> Iterator[str]:
    """Listeners who nearly always gave the same vote; choices have no such value."""
    found = [one.listener for one in _rated(scale) if one.usual >= ALWAYS and one.votes >= ENOUGH]
    if found:
        told = f"gave the same vote in at least {100 * ALWAYS:.0f} % of the trials"
        yield f"{people(found)} {told} ({scale.value.name})"


def _apart(results: Results) -> Iterator[str]:
    found: dict[Who, None] = {}
    scales: dict[str, None] = {}
    for scale in results.scales:
        for one in _rated(scale):
            if one.correlation < LOW:
                found[one.listener] = scales[scale.value.name] = None
    if found:
        verb = "does" if len(found) == 1 else "do"
        where = f" on {listed([*scales])}" if len(results.scales) > 1 else ""
        yield (
            f"no rule of screening was planned; {people([*found])} {verb} not go with the others "
            f"(correlation below {LOW:g}{where})"
        )


def _rated(scale: ScaleResults) -> tuple[ListenerFigures, ...]:
    """Listeners of a scale; on a penalty most votes are 0, which says nothing about them."""
    return () if scale.choices or scale.value.high == 0 else scale.listeners
