"""Boundaries matched one to one in continuous time, the slow way."""

from __future__ import annotations

from collections.abc import Sequence


def greedy(output: Sequence[float], reference: Sequence[float], collar: float) -> int:
    """How many pairs there are when the closest are matched first.

    Equal distances go to the lower reference index, then to the lower output index. Greedy is not
    the best that can be done: here 12 is nearer to 13 than to 10, and 15.5 is left alone.

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


def scores(output: Sequence[float], reference: Sequence[float], collar: float) -> dict[str, float]:
    """Precision, recall and F1 of one case.

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
