"""How alike two segmentations are as partitions of time, the slow way.

Boundaries cut a recording into segments; each side says, for every moment, which segment it is in.
Purity and coverage weigh moments by time; the others look at frames, points in time that lie one
frame apart, as mir_eval does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence


def edges(boundaries: Sequence[float], duration: float) -> list[float]:
    """Where segments begin and end: inner boundaries, each once, with start and end.

    >>> edges([30, 10, 10, -1, 99], 60)
    [0.0, 10, 30, 60]
    """
    return [0.0, *sorted({t for t in boundaries if 0 < t < duration}), duration]


def overlaps(output: list[float], reference: list[float]) -> dict[tuple[int, int], float]:
    """Seconds that segment i of the output and segment j of the reference have in common.

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
    """Share of the time in which a segment of the output is in the one reference segment it mostly
    is in.

    >>> purity([0, 10, 60], [0, 20, 60])  # 10 of 10, 40 of 50
    0.8333333333333334
    """
    common = overlaps(output, reference)
    best = [max(s for (i, _), s in common.items() if i == k) for k in {i for i, _ in common}]
    return sum(best) / reference[-1]


def frames(edges_: list[float], frame: float) -> list[int]:
    """The segment of every frame; the frame k is the point in time k · frame.

    >>> frames([0, 0.25, 0.5], 0.1)
    [0, 0, 0, 1, 1]
    """
    count = math.floor(edges_[-1] / frame)
    inner = edges_[1:-1]
    return [sum(edge <= k * frame for edge in inner) for k in range(count)]


def pairs(counts: Sequence[int]) -> int:
    """How many pairs of frames are in the same group."""
    return sum(n * (n - 1) // 2 for n in counts)


def pairwise(output: list[int], reference: list[int]) -> tuple[float, float]:
    """Precision and recall of pairs of frames that are in the same segment.

    A side that joins no frames joins none wrongly.

    >>> pairwise([0, 0, 1, 1], [0, 0, 0, 1])  # 2 and 3 pairs, 1 in common
    (0.5, 0.3333333333333333)
    """
    both = pairs(list(Counter(zip(output, reference, strict=True)).values()))
    mine, theirs = pairs(list(Counter(output).values())), pairs(list(Counter(reference).values()))
    if len(output) < 2:
        return math.nan, math.nan
    return both / mine if mine else 1.0, both / theirs if theirs else 1.0


def adjusted_rand(output: list[int], reference: list[int]) -> float:
    """Agreement of pairs beyond chance; 1 where both sides have a single segment."""
    both = pairs(list(Counter(zip(output, reference, strict=True)).values()))
    mine, theirs = pairs(list(Counter(output).values())), pairs(list(Counter(reference).values()))
    every = pairs([len(output)])
    if not every:
        return math.nan
    chance = mine * theirs / every
    most = (mine + theirs) / 2
    return 1.0 if most == chance else (both - chance) / (most - chance)


def entropy(counts: Sequence[int]) -> float:
    """Entropy of groups of frames, in nats."""
    total = sum(counts)
    return -sum(n / total * math.log(n / total) for n in counts)


def v_measure(output: list[int], reference: list[int]) -> tuple[float, float]:
    """Homogeneity and completeness: how much each side says about the other, from 0 to 1.

    A side with a single segment leaves nothing open, and is fully known.
    """
    joint = entropy(list(Counter(zip(output, reference, strict=True)).values()))
    mine, theirs = (
        entropy(list(Counter(output).values())),
        entropy(list(Counter(reference).values())),
    )
    homogeneity = 1 - (joint - mine) / theirs if theirs else 1.0
    completeness = 1 - (joint - theirs) / mine if mine else 1.0
    return homogeneity, completeness
