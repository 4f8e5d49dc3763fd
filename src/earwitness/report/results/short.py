"""Results of ratings in a few sentences; each follows from the numbers below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isnan

from earwitness.data import Choice, Estimate, Results, ScaleResults
from earwitness.report.numbers import number, p_value
from earwitness.report.parts import Lines, Matrix
from earwitness.report.results.better import matrix_of
from earwitness.report.sentences import leader, listed, sentences


def in_short(results: Results) -> Lines:
    """Who leads, what cannot be told apart, who was left out and what that changes."""
    matrices = [matrix_of(results, scale) for scale in results.scales if scale.systems]
    lines = [*_everywhere(matrices)]
    for one in matrices:
        lines += [*sentences(one), *_alike(one)]
    for scale in results.scales:
        lines += [f"{scale.value.name}: {told}" for c in scale.choices for told in _chosen(c)]
    return Lines("", (*lines, *_left(results)))


def _everywhere(matrices: list[Matrix]) -> Iterator[str]:
    leaders = {leader(one) for one in matrices}
    if len(matrices) > 1 and len(leaders) == 1 and "" not in leaders:
        yield f"{leaders.pop()} leads on every scale."


def _alike(matrix: Matrix) -> Iterator[str]:
    """Pairs without the leader that cannot be told apart."""
    lead = leader(matrix)
    alike = [c for c in matrix.contrasts if not c.better and lead not in (c.a, c.b)]
    if lead and alike:
        pairs = listed([f"{c.a} – {c.b}" for c in alike])
        yield f"{matrix.value.name}: of the others, these cannot be told apart: {pairs}"


def _chosen(choice: Choice) -> Iterator[str]:
    """How often the one that was chosen more often was, with p."""
    total = choice.wins + choice.losses
    if not total:
        return
    a, b, wins = choice.a, choice.b, choice.wins
    if choice.sensitivity is not None:
        what = f"of {a} and {b} {wins:,} of {total:,} answers were right"
    else:
        a, b, wins = (b, a, choice.losses) if choice.losses > wins else (a, b, wins)
        what = f"{a} was chosen over {b} {wins:,} times of {total:,}"
    yield f"{what} ({100 * wins / total:.0f} %; p {p_value(choice.p)})"


def _left(results: Results) -> Iterator[str]:
    if not results.left:
        if results.screened:
            yield f"No listener of {results.listeners:,} was left out."
        return
    names = listed([str(who) for who in results.left], 10)
    told = "was" if len(results.left) == 1 else "were"
    yield f"{len(results.left):,} of {results.listeners:,} listeners {told} left out: {names}"
    changes = [scale for scale in results.scales if scale.everyone and scale.systems]
    if changes:
        yield _changed(changes)


def _changed(scales: list[ScaleResults]) -> str:
    """Whether systems would stand in another order with all listeners, and how far means move."""
    other = [s.value.name for s in scales if _order(_kept(s)) != _order(s.everyone, _kept(s))]
    moved = [
        (abs(estimate.value - scale.everyone[name].value), name, scale)
        for scale in scales
        for name, estimate in _kept(scale).items()
        if name in scale.everyone and not isnan(estimate.value - scale.everyone[name].value)
    ]
    if not moved:
        return "What that changes is not known."
    most, name, scale = max(moved, key=lambda one: one[0])
    order = f"the order changes on {listed(other)}" if other else "no system changes place"
    return (
        f"With all listeners {order}; the mean that moves most is that of {name} on "
        f"{scale.value.name}, by {number(most, scale.value)}"
    )


def _kept(scale: ScaleResults) -> dict[str, Estimate]:
    return {name: rated.mean for name, rated in scale.systems.items()}


def _order(means: Mapping[str, Estimate], among: Mapping[str, Estimate] | None = None) -> list[str]:
    known = [n for n in among or means if n in means and not isnan(means[n].value)]
    return sorted(known, key=lambda name: means[name].value)
