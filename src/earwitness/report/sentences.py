"""What a matrix says, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

from earwitness.report.numbers import number
from earwitness.report.parts import Matrix
from earwitness.report.tables import verdict

NAMED = 4  # names that a sentence holds


def leader(matrix: Matrix) -> str:
    """The system with the best estimate; nobody where none is known, or none is better."""
    sign = {"high": 1, "low": -1, "none": 0}[matrix.value.best]
    known = [s for s, estimate in matrix.systems.items() if not isnan(estimate.value)]
    if not known or not sign:
        return ""
    return max(known, key=lambda system: sign * matrix.systems[system].value)


def sentences(matrix: Matrix) -> Iterator[str]:
    """Who leads, and whom that can be said of."""
    lead = leader(matrix)
    if not lead:
        return
    others = [system for system in matrix.systems if system != lead]
    beaten = [system for system in others if verdict(matrix, lead, system) == 1]
    level = [system for system in others if verdict(matrix, lead, system) == 0]
    told = f"{matrix.value.name}: {lead} leads ({number(matrix.systems[lead].value, matrix.value)})"
    if beaten:
        told += f", better than {listed(beaten)}"
    if level:
        told += f"; cannot be told apart from {listed(level)}"
    yield told


def listed(names: Sequence[str], most: int = NAMED) -> str:
    """Names in a sentence, the first few if they are many.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], 1)
    ('a, b and c', 'a and 2 more')
    """
    shown = list(names)
    if len(shown) > most:
        shown = [*shown[:most], f"{len(shown) - most} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
