"""Sentences that summarize a matrix of pairwise comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isclose, isnan

from earwitness.report.numbers import number
from earwitness.report.parts import Matrix
from earwitness.report.tables import verdict

MAX_NAMES_IN_SENTENCE = 4  # names that a sentence holds
MEAN_TOLERANCE = 1e-9  # means that differ by less are equal


def competing(matrix: Matrix) -> dict[str, float]:
    """Estimates that are known, without those of controls."""
    return {
        name: estimate.value
        for name, estimate in matrix.systems.items()
        if estimate is not None and not isnan(estimate.value) and name not in matrix.controls
    }


def leaders(matrix: Matrix) -> list[str]:
    """Systems with the best estimate; nobody where there is nobody else, or all are equal."""
    known, sign = competing(matrix), {"high": 1, "low": -1, "none": 0}[matrix.value.best]
    if len(known) < 2 or not sign:
        return []
    best = max(known.values(), key=lambda value: sign * value)
    found = [name for name, value in known.items() if isclose(value, best, abs_tol=MEAN_TOLERANCE)]
    return found if len(found) < len(known) else []


def sentences(matrix: Matrix, where: str = "on the same items") -> Iterator[str]:
    """Who leads, whom that can be said of, and where the controls lie.

    ``where`` says what both of two systems have in common that were compared.
    """
    known = competing(matrix)
    lead = leaders(matrix)
    if lead:
        told = _leading(matrix, lead, known, where)
    elif known and matrix.value.best != "none":
        name, value = next(iter(known.items()))
        said = number(value, matrix.value)
        told = f"{name} has {said}" if len(known) == 1 else f"all are equal ({said})"
    else:
        return
    yield f"{matrix.value.name}: {told}{_controls(matrix)}"


def _leading(matrix: Matrix, lead: list[str], known: dict[str, float], where: str) -> str:
    others = [name for name in known if name not in lead]
    found = {name: {verdict(matrix, one, name) for one in lead} for name in others}
    worse = [name for name in others if "worse" in found[name]]
    beaten = [name for name in others if found[name] == {"better"}]
    level = [n for n in others if "same" in found[n] and n not in worse]
    untested = [n for n in others if "untested" in found[n] and n not in (*worse, *level)]
    beside = [n for n in others if found[n] == {None}]
    told = _by_mean(matrix, lead, known, mean=bool(worse or beside))
    if worse:
        told += f", but {'is' if len(lead) == 1 else 'are'} worse than {listed(worse)} {where}"
    if beaten:
        told += f"{';' if worse else ','} better than {listed(beaten)}"
    if level:
        told += f"; cannot be told apart from {listed(level)}"
    if untested:
        it = "it" if len(lead) == 1 else "them"
        told += f"; {listed(untested)} cannot be tested against {it}"
    return f"{told}; not compared with {listed(beside)}" if beside else told


def _by_mean(matrix: Matrix, lead: list[str], known: dict[str, float], *, mean: bool) -> str:
    """Who leads, and whether ``mean`` alone says so."""
    verb = "leads" if len(lead) == 1 else "lead"
    said = number(known[lead[0]], matrix.value)
    return f"{listed(lead)} {verb}{' by mean' * mean} ({said})"


def by_mean(matrix: Matrix) -> Iterator[str]:
    """Who leads, where nothing can be told apart."""
    lead, known = leaders(matrix), competing(matrix)
    if lead:
        yield f"{matrix.value.name}: {_by_mean(matrix, lead, known, mean=True)}"


def _controls(matrix: Matrix) -> str:
    found = [
        f"{name} {number(estimate.value, matrix.value)}"
        for name, estimate in matrix.systems.items()
        if name in matrix.controls and estimate is not None
    ]
    return f"; controls: {', '.join(found)}" if found else ""


def against_others(matrix: Matrix) -> Iterator[str]:
    """Who is better than whom, where systems were only rated against others."""
    told = []
    for one in matrix.systems:
        beaten = [name for name in matrix.systems if verdict(matrix, one, name) == "better"]
        if beaten and one in matrix.controls:
            told.append(f"{listed(beaten)} {'is' if len(beaten) == 1 else 'are'} worse than {one}")
        elif beaten:
            told.append(f"{one} is better than {listed(beaten)}")
    told += _open(matrix, "same", "cannot be told apart")
    told += _open(matrix, "untested", "cannot be tested")
    if told:
        yield f"{matrix.value.name}: {'; '.join(told)}"


def _open(matrix: Matrix, found: str, how: str) -> list[str]:
    pairs = [f"{c.a} – {c.b}" for c in matrix.contrasts if verdict(matrix, c.a, c.b) == found]
    return [f"{listed(pairs)} {how}"] if pairs else []


def listed(names: Sequence[str], most: int = MAX_NAMES_IN_SENTENCE) -> str:
    """Names in a sentence, the first few if they are many.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], 1)
    ('a, b and c', 'a and 2 more')
    """
    shown = list(names)
    if len(shown) > most:
        shown = [*shown[:most], f"{len(shown) - most} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
