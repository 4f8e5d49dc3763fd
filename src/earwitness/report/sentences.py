"""Sentences that summarize pairwise comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isclose, isnan

from earwitness.report.numbers import number
from earwitness.report.parts import Matrix
from earwitness.report.tables import verdict

MAX_NAMES_IN_SENTENCE = 4  # number of names listed in a sentence
MEAN_TOLERANCE = 1e-9  # means that differ by less are equal


def competing_values(matrix: Matrix) -> dict[str, float]:
    """Return the defined estimates by system, without controls."""
    return {
        name: estimate.value
        for name, estimate in matrix.systems.items()
        if estimate is not None and not isnan(estimate.value) and name not in matrix.controls
    }


def leaders(matrix: Matrix) -> list[str]:
    """Return the systems with the best estimate; empty for a single system or if all are equal."""
    values, sign = competing_values(matrix), {"high": 1, "low": -1, "none": 0}[matrix.value.best]
    if len(values) < 2 or not sign:
        return []
    best = max(values.values(), key=lambda value: sign * value)
    leading = [
        name for name, value in values.items() if isclose(value, best, abs_tol=MEAN_TOLERANCE)
    ]
    return leading if len(leading) < len(values) else []


def comparison_sentences(matrix: Matrix, where: str = "on the same items") -> Iterator[str]:
    """Yield the leader, the systems that differ significantly from it, and the controls.

    ``where`` names what both systems of a compared pair have in common.
    """
    values = competing_values(matrix)
    lead = leaders(matrix)
    if lead:
        sentence = _leader_sentence(matrix, lead, values, where)
    elif values and matrix.value.best != "none":
        name, value = next(iter(values.items()))
        formatted = number(value, matrix.value)
        sentence = f"{name} has {formatted}" if len(values) == 1 else f"all are equal ({formatted})"
    else:
        return
    yield f"{matrix.value.name}: {sentence}{_controls_phrase(matrix)}"


def _leader_sentence(matrix: Matrix, lead: list[str], values: dict[str, float], where: str) -> str:
    others = [name for name in values if name not in lead]
    verdicts = {name: {verdict(matrix, leader, name) for leader in lead} for name in others}
    worse = [name for name in others if "worse" in verdicts[name]]
    beaten = [name for name in others if verdicts[name] == {"better"}]
    level = [name for name in others if "same" in verdicts[name] and name not in worse]
    untested = [
        name for name in others if "untested" in verdicts[name] and name not in (*worse, *level)
    ]
    uncompared = [name for name in others if verdicts[name] == {None}]
    if all(pair_verdicts == {"same"} for pair_verdicts in verdicts.values()):
        formatted = number(values[lead[0]], matrix.value)
        verb = "leads" if len(lead) == 1 else "lead"
        return (
            f"no other system differs significantly from {join_names(lead)}, which {verb} "
            f"({formatted})"
        )
    sentence = _lead_phrase(matrix, lead, values, mean=bool(worse or uncompared))
    if worse:
        sentence += (
            f", but {'is' if len(lead) == 1 else 'are'} significantly worse than "
            f"{join_names(worse)} {where}"
        )
    if beaten:
        sentence += f"{';' if worse else ','} significantly better than {join_names(beaten)}"
    if level:
        sentence += f"; not significantly different from {join_names(level)}"
    if untested:
        sentence += f"; not testable against {join_names(untested)}"
    return f"{sentence}; not compared with {join_names(uncompared)}" if uncompared else sentence


def _lead_phrase(matrix: Matrix, lead: list[str], values: dict[str, float], *, mean: bool) -> str:
    """Return the leaders and their value; ``mean`` adds that only the mean is compared."""
    verb = "leads" if len(lead) == 1 else "lead"
    formatted = number(values[lead[0]], matrix.value)
    return f"{join_names(lead)} {verb}{' by mean' * mean} ({formatted})"


def lead_sentences(matrix: Matrix) -> Iterator[str]:
    """Yield the leader by mean, without significance tests."""
    lead, values = leaders(matrix), competing_values(matrix)
    if lead:
        yield f"{matrix.value.name}: {_lead_phrase(matrix, lead, values, mean=True)}"


def _controls_phrase(matrix: Matrix) -> str:
    controls = [
        f"{name} {number(estimate.value, matrix.value)}"
        for name, estimate in matrix.systems.items()
        if name in matrix.controls and estimate is not None
    ]
    return f"; controls: {', '.join(controls)}" if controls else ""


def better_sentences(matrix: Matrix) -> Iterator[str]:
    """Yield which systems are better, if systems were only rated relative to others."""
    clauses = []
    for system in matrix.systems:
        beaten = [name for name in matrix.systems if verdict(matrix, system, name) == "better"]
        if beaten and system in matrix.controls:
            clauses.append(
                f"{join_names(beaten)} {'is' if len(beaten) == 1 else 'are'} significantly worse "
                f"than {system}"
            )
        elif beaten:
            clauses.append(f"{system} is significantly better than {join_names(beaten)}")
    clauses += _undecided_phrases(matrix, "same", "not significantly different")
    clauses += _undecided_phrases(matrix, "untested", "not testable")
    if clauses:
        yield f"{matrix.value.name}: {'; '.join(clauses)}"


def _undecided_phrases(matrix: Matrix, wanted: str, label: str) -> list[str]:
    pairs = [
        f"{contrast.a}–{contrast.b}"
        for contrast in matrix.contrasts
        if verdict(matrix, contrast.a, contrast.b) == wanted
    ]
    return [f"{label}: {join_names(pairs)}"] if pairs else []


def join_names(
    names: Sequence[str], limit: int = MAX_NAMES_IN_SENTENCE, conjunction: str = "and"
) -> str:
    """Join names for a sentence; at most ``limit`` of them are listed.

    >>> join_names(["a", "b", "c"]), join_names(["a", "b", "c"], 1)
    ('a, b and c', 'a and 2 more')
    """
    shown = list(names)
    if len(shown) > limit:
        shown = [*shown[:limit], f"{len(shown) - limit} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {conjunction} {shown[-1]}"
