"""Results of ratings in a few sentences; each follows from the numbers below."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from earwitness.data import Choice, Results
from earwitness.listening.analysis.rated import TELLING
from earwitness.report.methods.screened import all_failed, failure
from earwitness.report.numbers import p_value
from earwitness.report.parts import Lines, Matrix
from earwitness.report.results.better import against_others_only, matrix_of
from earwitness.report.results.further import further_short
from earwitness.report.results.groups import depends
from earwitness.report.results.judged import judged_short
from earwitness.report.results.left import left_out
from earwitness.report.results.warned import warnings
from earwitness.report.sentences import (
    against_others,
    by_mean,
    competing,
    leaders,
    listed,
    sentences,
)
from earwitness.report.tables import verdict

WHERE = "where the same listeners heard both"


def in_short(results: Results) -> Lines:
    """Who leads, what cannot be told apart, who was left out and what that changes, and what is
    strange about votes."""
    lines = [*_first(results), *_systems(results)]
    for scale in results.scales:
        lines += [
            f"{scale.value.name}: {told}" for c in scale.choices for told in _chosen(c, results)
        ]
    lines += [*further_short(results), *depends(results), *judged_short(results)]
    return Lines("", (*lines, *left_out(results), *warnings(results)))


def _first(results: Results) -> Iterator[str]:
    """What one has to know before anything else."""
    if all_failed(results):
        yield failure(results)
    if results.simulated:
        yield "all listeners were simulated: nobody heard anything"
    yield from (f"other than the study had planned: {one}" for one in results.changed)


def _systems(results: Results) -> Iterator[str]:
    rated = [scale for scale in results.scales if scale.systems]
    alone = [matrix_of(results, s) for s in rated if not against_others_only(s)]
    if few := _few(results):
        yield few
    else:
        yield from _everywhere(alone)
    for scale in rated:
        matrix = matrix_of(results, scale)
        if few:
            yield from by_mean(matrix)
        elif against_others_only(scale):
            yield from against_others(matrix)
        else:
            yield from sentences(matrix, WHERE)
            yield from _alike(matrix)
    if not few:
        yield from _planned(alone)


def _few(results: Results) -> str:
    """That so few listeners tell nothing apart, where that is so."""
    count = results.listeners - len(results.left)
    if not 0 < count < TELLING:
        return ""
    who = "1 listener is" if count == 1 else f"{count} listeners are"
    return f"{who} too few to tell anything apart: it takes {TELLING} or more"


def _everywhere(matrices: list[Matrix]) -> Iterator[str]:
    found = {tuple(leaders(one)) for one in matrices}
    if len(matrices) > 1 and len(found) == 1 and len(first := found.pop()) == 1:
        mean = any(_not_compared(one, first[0]) for one in matrices)
        yield f"{first[0]} leads on every scale{' by mean' * mean}."


def _not_compared(matrix: Matrix, one: str) -> bool:
    return any(name != one and not verdict(matrix, one, name) for name in competing(matrix))


def _planned(matrices: list[Matrix]) -> Iterator[str]:
    """Which pairs were tested, where not all were."""
    found: dict[tuple[str, ...], list[str]] = {}
    for one in matrices:
        pairs = [pair for pair in combinations(competing(one), 2) if verdict(one, *pair)]
        every = len(competing(one)) * (len(competing(one)) - 1) // 2
        if 0 < len(pairs) < every:
            told = f"{len(pairs):,} of {every:,} pairs of systems were compared"
            named = listed([f"{a} – {b}" for a, b in pairs])
            found.setdefault((told, named), []).append(one.value.name)
    for (told, named), scales in found.items():
        where = f" on {listed(scales)}" if len(scales) < len(matrices) else ""
        yield f"only {told}{where}: {named}; of all others nothing is said"


def _alike(matrix: Matrix) -> Iterator[str]:
    """Pairs without the leader, or a control, that cannot be told apart or tested."""
    lead = leaders(matrix)
    others = [c for c in matrix.contrasts if not {c.a, c.b} & {*lead, *matrix.controls}]
    for found, how in (("same", "told apart"), ("untested", "tested")):
        pairs = [f"{c.a} – {c.b}" for c in others if verdict(matrix, c.a, c.b) == found]
        whose = "of the others, " if lead else ""
        if pairs:
            yield f"{matrix.value.name}: {whose}these cannot be {how}: {listed(pairs)}"


def _chosen(choice: Choice, results: Results) -> Iterator[str]:
    """How often the one that was chosen more often was, with both p."""
    total = choice.wins + choice.losses
    if not total:
        return
    a, b, wins = choice.a, choice.b, choice.wins
    if choice.sensitivity is not None:
        what = f"of {a} and {b} {wins:,} of {total:,} answers were right"
    else:
        a, b, wins = (b, a, choice.losses) if choice.losses > wins else (a, b, wins)
        what = f"{a} was chosen over {b} {wins:,} times of {total:,}"
    corrected = results.plan.correction != "none"
    exact = f"{p_value(choice.corrected if corrected else choice.p)} exact"
    exact += ", corrected" * corrected
    few = len(choice.listeners) < TELLING
    over = "–" if few else p_value(choice.p_over_listeners)
    people = "not tested over listeners" if over == "–" else f"{over} over listeners"
    yield f"{what} ({100 * wins / total:.0f} %); p {exact}; {people}"
