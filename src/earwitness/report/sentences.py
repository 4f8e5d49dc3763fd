"""Sentences that summarize a matrix of pairwise comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isclose, isnan

from earwitness.report.numbers import number
from earwitness.report.parts import Matrix
from earwitness.report.tables import verdict

MAX_NAMES_IN_SENTENCE = 4  # names that a sentence holds
MEAN_TOLERANCE = 1e-9  # means that differ by less are equal


def competing_values(matrix: Matrix) -> dict[str, float]:
    """Estimates that are known, without those of controls."""
    return {
        name: estimate.value
        for name, estimate in matrix.systems.items()
        if estimate is not None and not isnan(estimate.value) and name not in matrix.controls
    }


def leaders(matrix: Matrix) -> list[str]:
    """Systems with the best estimate; nobody where there is nobody else, or all are equal."""
    values, sign = competing_values(matrix), {"high": 1, "low": -1, "none": 0}[matrix.value.best]
    if len(values) < 2 or not sign:
        return []
    best = max(values.values(), key=lambda value: sign * value)
    leading = [
        name for name, value in values.items() if isclose(value, best, abs_tol=MEAN_TOLERANCE)
    ]
    return leading if len(leading) < len(values) else []


def comparison_sentences(matrix: Matrix, where: str = "on the same items") -> Iterator[str]:
    """Who leads, whom that can be said of, and where the controls lie.

    ``where`` says what both of two systems have in common that were compared.
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
    sentence = _lead_phrase(matrix, lead, values, mean=bool(worse or uncompared))
    if worse:
        sentence += (
            f", but {'is' if len(lead) == 1 else 'are'} worse than {join_names(worse)} {where}"
        )
    if beaten:
        sentence += f"{';' if worse else ','} better than {join_names(beaten)}"
    if level:
        sentence += f"; cannot be told apart from {join_names(level)}"
    if untested:
        it = "it" if len(lead) == 1 else "them"
        sentence += f"; {join_names(untested)} cannot be tested against {it}"
    return f"{sentence}; not compared with {join_names(uncompared)}" if uncompared else sentence


def _lead_phrase(matrix: Matrix, lead: list[str], values: dict[str, float], *, mean: bool) -> str:
    """Who leads, and whether ``mean`` alone says so."""
    verb = "leads" if len(lead) == 1 else "lead"
    formatted = number(values[lead[0]], matrix.value)
    return f"{join_names(lead)} {verb}{' by mean' * mean} ({formatted})"


def lead_sentences(matrix: Matrix) -> Iterator[str]:
    """Who leads, where nothing can be told apart."""
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
    """Who is better than whom, where systems were only rated against others."""
    clauses = []
    for system in matrix.systems:
        beaten = [name for name in matrix.systems if verdict(matrix, system, name) == "better"]
        if beaten and system in matrix.controls:
            clauses.append(
                f"{join_names(beaten)} {'is' if len(beaten) == 1 else 'are'} worse than {system}"
            )
        elif beaten:
            clauses.append(f"{system} is better than {join_names(beaten)}")
    clauses += _undecided_phrases(matrix, "same", "cannot be told apart")
    clauses += _undecided_phrases(matrix, "untested", "cannot be tested")
    if clauses:
        yield f"{matrix.value.name}: {'; '.join(clauses)}"


def _undecided_phrases(matrix: Matrix, wanted: str, predicate: str) -> list[str]:
    pairs = [
        f"{contrast.a} – {contrast.b}"
        for contrast in matrix.contrasts
        if verdict(matrix, contrast.a, contrast.b) == wanted
    ]
    return [f"{join_names(pairs)} {predicate}"] if pairs else []


def join_names(names: Sequence[str], limit: int = MAX_NAMES_IN_SENTENCE) -> str:
    """Names in a sentence, the first few if they are many.

    >>> join_names(["a", "b", "c"]), join_names(["a", "b", "c"], 1)
    ('a, b and c', 'a and 2 more')
    """
    shown = list(names)
    if len(shown) > limit:
        shown = [*shown[:limit], f"{len(shown) - limit} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
