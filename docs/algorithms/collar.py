"""Boundary matching in continuous time, slow reference implementation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median


def greedy(output: Sequence[float], reference: Sequence[float], collar: float) -> int:
    """Return the number of pairs if the closest are matched first.

    Ties are resolved by the lower reference index, then the lower output index. Greedy matching is
    not optimal: here 12 is nearer to 13 than to 10, and 15.5 remains unmatched.

    >>> greedy([12, 15.5], [10, 13], 3)
    1
    """
    pairs = sorted(
        (abs(theirs - mine), j, i)
        for j, theirs in enumerate(reference)
        for i, mine in enumerate(output)
        if abs(theirs - mine) <= collar
    )
    used_output: set[int] = set()
    used_reference: set[int] = set()
    for _, j, i in pairs:
        if i not in used_output and j not in used_reference:
            used_output.add(i)
            used_reference.add(j)
    return len(used_output)


def optimal(output: Sequence[float], reference: Sequence[float], collar: float) -> int:
    """Return the largest possible number of pairs, by augmenting paths.

    >>> optimal([12, 15.5], [10, 13], 3)
    2
    """
    partner: dict[int, int] = {}

    def find(i: int, asked: set[int]) -> bool:
        for j, theirs in enumerate(reference):
            if j not in asked and abs(theirs - output[i]) <= collar:
                asked.add(j)
                if j not in partner or find(partner[j], asked):
                    partner[j] = i
                    return True
        return False

    return sum(find(i, set()) for i in range(len(output)))


def r_value(hits: int, outputs: int, references: int) -> float:
    """Return Räsänen's R-value, which combines hit rate and over-segmentation.

    >>> r_value(4, 4, 4)
    1.0
    """
    hit_rate, over = hits / references, outputs / references - 1
    from_target = math.hypot(1 - hit_rate, over)
    from_line = (-over + hit_rate - 1) / math.sqrt(2)
    return 1 - (abs(from_target) + abs(from_line)) / 2


def median_distance(of: Sequence[float], to: Sequence[float]) -> float:
    """Return the median distance of boundaries to the nearest boundary of the other side.

    >>> median_distance([10, 20, 50], [12, 49])
    2
    """
    return median(min(abs(a - b) for b in to) for a in of)


def scores(output: Sequence[float], reference: Sequence[float], collar: float) -> dict[str, float]:
    """Return precision, recall and F1 of one case.

    >>> scores([], [], 3)
    {'collar_precision': 1.0, 'collar_recall': 1.0, 'collar_f1': 1.0}
    """
    mine, theirs = [t for t in output if t > 0], [t for t in reference if t > 0]
    if not mine and not theirs:
        precision = recall = 1.0
    elif not mine or not theirs:
        precision = recall = 0.0
    else:
        matches = greedy(mine, theirs, collar)
        precision, recall = matches / len(mine), matches / len(theirs)
    both = precision + recall
    f1 = 2 * precision * recall / both if both else 0.0
    return {"collar_precision": precision, "collar_recall": recall, "collar_f1": f1}
