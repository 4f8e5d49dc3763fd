"""Similarity of two segmentations as partitions of time, slow reference implementation.

Boundaries divide a recording into segments. Purity and coverage are weighted by duration; the other
metrics use frames, equally spaced points in time, as in mir_eval.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence


def edges(boundaries: Sequence[float], duration: float) -> list[float]:
    """Return the edges of segments: start, distinct inner boundaries, and end.

    >>> edges([30, 10, 10, -1, 99], 60)
    [0.0, 10, 30, 60]
    """
    return [0.0, *sorted({t for t in boundaries if 0 < t < duration}), duration]


def overlaps(output: list[float], reference: list[float]) -> dict[tuple[int, int], float]:
    """Return the overlap in seconds of segment i of the output and segment j of the reference.

    >>> overlaps([0, 10, 60], [0, 20, 60])
    {(0, 0): 10, (1, 0): 10, (1, 1): 40}
    """
    found = {}
    for i in range(len(output) - 1):
        for j in range(len(reference) - 1):
            start = max(output[i], reference[j])
            stop = min(output[i + 1], reference[j + 1])
            if stop > start:
                found[i, j] = stop - start
    return found


def purity(output: list[float], reference: list[float]) -> float:
    """Return the share of time in which output segments overlap their best reference segment.

    >>> purity([0, 10, 60], [0, 20, 60])  # 10 of 10, 40 of 50
    0.8333333333333334
    """
    common = overlaps(output, reference)
    best = [max(s for (i, _), s in common.items() if i == k) for k in {i for i, _ in common}]
    return sum(best) / reference[-1]


def frames(edges_: list[float], frame: float) -> list[int]:
    """Return the segment of every frame; frame k is the point in time k · frame.

    >>> frames([0, 0.25, 0.5], 0.1)
    [0, 0, 0, 1, 1]
    """
    count = math.floor(edges_[-1] / frame)
    inner = edges_[1:-1]
    return [sum(edge <= k * frame for edge in inner) for k in range(count)]


def pairs(counts: Sequence[int]) -> int:
    """Return the number of pairs of frames in the same group."""
    return sum(n * (n - 1) // 2 for n in counts)


def pairwise(output: list[int], reference: list[int]) -> tuple[float, float]:
    """Return precision and recall of pairs of frames in the same segment.

    If a side has no such pairs, its value is 1.

    >>> pairwise([0, 0, 1, 1], [0, 0, 0, 1])  # 2 and 3 pairs, 1 in common
    (0.5, 0.3333333333333333)
    """
    both = pairs(list(Counter(zip(output, reference, strict=True)).values()))
    mine, theirs = pairs(list(Counter(output).values())), pairs(list(Counter(reference).values()))
    if len(output) < 2:
        return math.nan, math.nan
    return both / mine if mine else 1.0, both / theirs if theirs else 1.0


def adjusted_rand(output: list[int], reference: list[int]) -> float:
    """Return the adjusted Rand index; 1 if both sides have a single segment."""
    both = pairs(list(Counter(zip(output, reference, strict=True)).values()))
    mine, theirs = pairs(list(Counter(output).values())), pairs(list(Counter(reference).values()))
    every = pairs([len(output)])
    if not every:
        return math.nan
    chance = mine * theirs / every
    most = (mine + theirs) / 2
    return 1.0 if most == chance else (both - chance) / (most - chance)


def entropy(counts: Sequence[int]) -> float:
    """Return the entropy of groups of frames, in nats."""
    total = sum(counts)
    return -sum(n / total * math.log(n / total) for n in counts)


def v_measure(output: list[int], reference: list[int]) -> tuple[float, float]:
    """Return homogeneity and completeness, from 0 to 1.

    Both measure how much one side determines the other. If a side has a single segment, its value
    is 1.
    """
    joint = entropy(list(Counter(zip(output, reference, strict=True)).values()))
    mine, theirs = (
        entropy(list(Counter(output).values())),
        entropy(list(Counter(reference).values())),
    )
    homogeneity = 1 - (joint - mine) / theirs if theirs else 1.0
    completeness = 1 - (joint - theirs) / mine if mine else 1.0
    return homogeneity, completeness
