"""Several references of one item, slowly: best, mean, and how well people do among themselves."""

from __future__ import annotations

from collections.abc import Callable

Times = list[float]
Compare = Callable[[Times, Times], float]  # an output and a reference to a value, high is good


def against(output: Times, references: list[Times], compare: Compare, how: str) -> float:
    """The mean over all references, or the best.

    >>> against([1], [[1], [2]], lambda a, b: float(a == b), "mean")
    0.5
    """
    found = [compare(output, reference) for reference in references]
    return max(found) if how == "best" else sum(found) / len(found)


def ceiling(references: list[Times], compare: Compare, how: str) -> float:
    """Each person in turn against the others; the mean over people."""
    found = []
    for left_out, output in enumerate(references):
        others = [one for index, one in enumerate(references) if index != left_out]
        found.append(against(output, others, compare, how))
    return sum(found) / len(found)


def same_footing(output: Times, references: list[Times], compare: Compare, how: str) -> float:
    """A system against as many references as each person had: one of them left out in turn."""
    found = []
    for left_out in range(len(references)):
        others = [one for index, one in enumerate(references) if index != left_out]
        found.append(against(output, others, compare, how))
    return sum(found) / len(found)
