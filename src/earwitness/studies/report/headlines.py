"""Main findings in sentences, warnings about votes, and listeners left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import isnan

from earwitness.core import Estimate
from earwitness.report.numbers import number, p_value
from earwitness.report.parts import Lines, Matrix
from earwitness.report.sentences import (
    better_sentences,
    comparison_sentences,
    competing_values,
    join_names,
    lead_sentences,
    leaders,
)
from earwitness.report.tables import verdict
from earwitness.stats.significance import holm
from earwitness.studies.analysis.means import MIN_LISTENERS_FOR_DIFFERENCE
from earwitness.studies.report.differences import against_others_only, further_short, matrix_of
from earwitness.studies.report.groups import depends
from earwitness.studies.report.rubric import judged_short
from earwitness.studies.report.screening import all_failed, failure, not_applied, unapplied
from earwitness.studies.results import (
    Effect,
    ListenerFigures,
    PairChoices,
    Results,
    ScaleResults,
    Who,
)

# --- Listeners left out --------------------------------------------------------------------------


MAX_NAMED_LISTENERS = 10


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
    return (
        f"listener{'s' * (len(who) != 1)} "
        f"{join_names([str(one) for one in who], MAX_NAMED_LISTENERS)}"
    )


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
    order = f"the order changes on {join_names(other)}" if other else "no system changes place"
    return (
        f"with all listeners {order}; the mean that moves most is that of {name} on "
        f"{scale.value.name}, by {number(most, scale.value)}"
    )


def _kept(scale: ScaleResults, controls: Sequence[str]) -> dict[str, Estimate]:
    return {name: rated.mean for name, rated in scale.systems.items() if name not in controls}


def _order(means: Mapping[str, Estimate], among: Mapping[str, Estimate] | None = None) -> list[str]:
    known = [n for n in among or means if n in means and not isnan(means[n].value)]
    return sorted(known, key=lambda name: means[name].value)


# --- Warnings about votes ------------------------------------------------------------------------


CONSTANT_VOTE_SHARE = 0.95  # share of one value from which on a listener hardly uses the scale
MIN_VOTES_FOR_CONSTANT_VOTE = 10  # votes from which on that means something
LOW_CORRELATION = 0.4  # correlation with the others, as P.808 has it
EFFECT_WORDING = {
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
        if p < 1 - results.plan.level and one.difference.n >= MIN_LISTENERS_FOR_DIFFERENCE:
            yield f"votes {_moved(scale, one)} ({scale.value.name})"


def _moved(scale: ScaleResults, effect: Effect) -> str:
    far = number(abs(effect.difference.value), scale.value)
    verb = "rise" if effect.difference.value > 0 else "fall"
    later, _, earlier = effect.what.partition(" less ")
    if effect.name in EFFECT_WORDING:
        return f"{verb} by {far} {EFFECT_WORDING[effect.name]}"
    return f"{verb} by {far} from {earlier} to {later}" if earlier else f"{verb} by {far}: {later}"


def _straight(scale: ScaleResults) -> Iterator[str]:
    """Listeners who nearly always gave the same vote; choices have no such value."""
    found = [
        one.listener
        for one in _rated(scale)
        if one.usual >= CONSTANT_VOTE_SHARE and one.votes >= MIN_VOTES_FOR_CONSTANT_VOTE
    ]
    if found:
        told = f"gave the same vote in at least {100 * CONSTANT_VOTE_SHARE:.0f} % of the trials"
        yield f"{people(found)} {told} ({scale.value.name})"


def _apart(results: Results) -> Iterator[str]:
    found: dict[Who, None] = {}
    scales: dict[str, None] = {}
    for scale in results.scales:
        for one in _rated(scale):
            if one.correlation < LOW_CORRELATION:
                found[one.listener] = scales[scale.value.name] = None
    if found:
        verb = "does" if len(found) == 1 else "do"
        where = f" on {join_names([*scales])}" if len(results.scales) > 1 else ""
        yield (
            f"no rule of screening was planned; {people([*found])} {verb} not go with the others "
            f"(correlation below {LOW_CORRELATION:g}{where})"
        )


def _rated(scale: ScaleResults) -> tuple[ListenerFigures, ...]:
    """Listeners of a scale; on a penalty most votes are 0, which says nothing about them."""
    return () if scale.choices or scale.value.high == 0 else scale.listeners


# --- Main findings -------------------------------------------------------------------------------


SAME_LISTENERS_CLAUSE = "where the same listeners heard both"


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
            yield from lead_sentences(matrix)
        elif against_others_only(scale):
            yield from better_sentences(matrix)
        else:
            yield from comparison_sentences(matrix, SAME_LISTENERS_CLAUSE)
            yield from _alike(matrix)
    if not few:
        yield from _planned(alone)


def _few(results: Results) -> str:
    """That so few listeners tell nothing apart, where that is so."""
    count = results.listeners - len(results.left)
    if not 0 < count < MIN_LISTENERS_FOR_DIFFERENCE:
        return ""
    who = "1 listener is" if count == 1 else f"{count} listeners are"
    return f"{who} too few to tell anything apart: it takes {MIN_LISTENERS_FOR_DIFFERENCE} or more"


def _everywhere(matrices: list[Matrix]) -> Iterator[str]:
    found = {tuple(leaders(one)) for one in matrices}
    if len(matrices) > 1 and len(found) == 1 and len(first := found.pop()) == 1:
        mean = any(_not_compared(one, first[0]) for one in matrices)
        yield f"{first[0]} leads on every scale{' by mean' * mean}."


def _not_compared(matrix: Matrix, one: str) -> bool:
    return any(name != one and not verdict(matrix, one, name) for name in competing_values(matrix))


def _planned(matrices: list[Matrix]) -> Iterator[str]:
    """Which pairs were tested, where not all were."""
    found: dict[tuple[str, ...], list[str]] = {}
    for one in matrices:
        pairs = [pair for pair in combinations(competing_values(one), 2) if verdict(one, *pair)]
        every = len(competing_values(one)) * (len(competing_values(one)) - 1) // 2
        if 0 < len(pairs) < every:
            told = f"{len(pairs):,} of {every:,} pairs of systems were compared"
            named = join_names([f"{a} – {b}" for a, b in pairs])
            found.setdefault((told, named), []).append(one.value.name)
    for (told, named), scales in found.items():
        where = f" on {join_names(scales)}" if len(scales) < len(matrices) else ""
        yield f"only {told}{where}: {named}; of all others nothing is said"


def _alike(matrix: Matrix) -> Iterator[str]:
    """Pairs without the leader, or a control, that cannot be told apart or tested."""
    lead = leaders(matrix)
    others = [c for c in matrix.contrasts if not {c.a, c.b} & {*lead, *matrix.controls}]
    for found, how in (("same", "told apart"), ("untested", "tested")):
        pairs = [f"{c.a} – {c.b}" for c in others if verdict(matrix, c.a, c.b) == found]
        whose = "of the others, " if lead else ""
        if pairs:
            yield f"{matrix.value.name}: {whose}these cannot be {how}: {join_names(pairs)}"


def _chosen(choice: PairChoices, results: Results) -> Iterator[str]:
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
    few = len(choice.listeners) < MIN_LISTENERS_FOR_DIFFERENCE
    over = "–" if few else p_value(choice.p_over_listeners)
    people = "not tested over listeners" if over == "–" else f"{over} over listeners"
    yield f"{what} ({100 * wins / total:.0f} %); p {exact}; {people}"
