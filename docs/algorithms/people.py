"""Several references per item and the human ceiling, slow reference implementation."""

from __future__ import annotations

from collections.abc import Callable

Times = list[float]
Compare = Callable[[Times, Times], float]  # value of an output and a reference; higher is better


def against(output: Times, references: list[Times], compare: Compare, how: str) -> float:
    """Return the mean over all references, or the best.

    >>> against([1], [[1], [2]], lambda a, b: float(a == b), "mean")
    0.5
    """
    found = [compare(output, reference) for reference in references]
    return max(found) if how == "best" else sum(found) / len(found)


def ceiling(references: list[Times], compare: Compare, how: str) -> float:
    """Return the mean over annotators, each compared with the others."""
    found = []
    for left_out, output in enumerate(references):
        others = [one for index, one in enumerate(references) if index != left_out]
        found.append(against(output, others, compare, how))
    return sum(found) / len(found)


def same_footing(output: Times, references: list[Times], compare: Compare, how: str) -> float:
    """Return the value of a system with one reference left out in turn, as for each annotator."""
    found = []
    for left_out in range(len(references)):
        others = [one for index, one in enumerate(references) if index != left_out]
        found.append(against(output, others, compare, how))
    return sum(found) / len(found)
