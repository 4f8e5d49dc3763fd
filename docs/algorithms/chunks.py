"""Chapter metrics in discrete time, slow reference implementation.

A recording of ``duration`` seconds has ``floor(duration / chunk_size)`` complete chunks. Output and
reference each become a row of zeros and ones, one per chunk.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def row(boundaries: Sequence[float], duration: float, chunk_size: float) -> list[int]:
    """Return a row with 1 for every chunk that contains a boundary.

    A boundary exactly at the end of the last chunk belongs to the last chunk.

    >>> row([0, 6, 13, 24, 99], 26, 6)
    [0, 1, 1, 1]
    """
    if duration <= 0:
        return []
    end = math.floor(duration / chunk_size) * chunk_size
    chunks = [0] * int(end / chunk_size)
    for time in boundaries:
        if 0 < time <= end and chunks:
            chunks[min(int(time / chunk_size), len(chunks) - 1)] = 1
    return chunks


def confusion(output: list[int], reference: list[int]) -> tuple[int, int, int, int]:
    """Return true positives, false positives, false negatives and true negatives.

    >>> confusion([1, 1, 0, 0], [1, 0, 1, 0])
    (1, 1, 1, 1)
    """
    pairs = list(zip(output, reference, strict=True))
    return pairs.count((1, 1)), pairs.count((1, 0)), pairs.count((0, 1)), pairs.count((0, 0))


def share(top: int, bottom: int) -> float:
    """Return a ratio, or 0 if the denominator is 0."""
    return top / bottom if bottom else 0.0


def window(reference: list[int]) -> int:
    """Return half the mean length of a reference segment; units are one more than chunks."""
    return max(2, round((len(reference) + 1) / (2 * (sum(reference) + 1))))


def pk(output: list[int], reference: list[int]) -> float:
    """Return the share of windows in which exactly one side has a boundary; 0 without windows.

    >>> pk([0, 1, 0, 0], [0, 0, 1, 0])  # windows of 2: 01|00, 10|01, 00|10
    0.6666666666666666
    """
    size = window(reference)
    starts = range(len(reference) + 1 - size)
    wrong = [any(output[i : i + size]) != any(reference[i : i + size]) for i in starts]
    return share(sum(wrong), len(wrong))


def window_diff(output: list[int], reference: list[int]) -> float:
    """Return the share of windows in which the sides have different numbers of boundaries.

    A single chunk has no window: the value is 0 if the sides are equal and 1 if not.
    """
    size = window(reference)
    starts = range(len(reference) + 1 - size)
    if not starts:
        return float(output != reference)
    wrong = [sum(output[i : i + size]) != sum(reference[i : i + size]) for i in starts]
    return share(sum(wrong), len(wrong))


def edits(output: list[int], reference: list[int]) -> tuple[int, int, int]:
    """Return the numbers of additions, shifts to the next chunk and matches, from left to right.

    >>> edits([1, 0, 1, 0], [0, 1, 1, 0])
    (0, 1, 1)
    """
    additions = swaps = matches = 0
    chunk = 0
    while chunk < len(output):
        here = (output[chunk], reference[chunk])
        after = (output[chunk + 1], reference[chunk + 1]) if chunk + 1 < len(output) else (0, 0)
        if here == (1, 1):
            matches += 1
        elif (here, after) in {((1, 0), (0, 1)), ((0, 1), (1, 0))}:
            swaps += 1
            chunk += 1  # both chunks are used up
        elif here != (0, 0):
            additions += 1
        chunk += 1
    return additions, swaps, matches


def boundary_similarity(output: list[int], reference: list[int]) -> float:
    """Return Fournier's B: 1 minus edits per pair; a shift to the next chunk is half an edit.

    >>> boundary_similarity([1, 0, 1, 0], [0, 1, 1, 0])  # one shift, one match: 1 - .5 / 2
    0.75
    """
    additions, swaps, matches = edits(output, reference)
    total = additions + swaps + matches
    return 1 - (additions + swaps / 2) / total if total else 1.0


def segmentation_similarity(output: list[int], reference: list[int]) -> float:
    """Return Fournier and Inkpen's S: 1 minus edits per possible position of a boundary.

    >>> segmentation_similarity([1, 0, 1, 0], [0, 1, 1, 0])  # one shift: 1 - .5 / 4
    0.875
    """
    additions, swaps, _ = edits(output, reference)
    return 1 - (additions + swaps / 2) / len(output)


def ghd(output: list[int], reference: list[int]) -> float:
    """Return the generalized Hamming distance: the least cost of turning one side into the other.

    Adding or removing a boundary costs 2, moving it costs 1 per chunk.

    >>> ghd([1, 0, 0, 0, 1], [0, 1, 0, 0, 0])  # move by 1, remove: 1 + 2
    3.0
    """
    mine = [i for i, flag in enumerate(output) if flag]
    theirs = [i for i, flag in enumerate(reference) if flag]
    cost = [[2.0 * (i + j) for j in range(len(theirs) + 1)] for i in range(len(mine) + 1)]
    for i, a in enumerate(mine, 1):
        for j, b in enumerate(theirs, 1):
            moved = cost[i - 1][j - 1] + abs(a - b)
            cost[i][j] = min(moved, cost[i - 1][j] + 2, cost[i][j - 1] + 2)
    return cost[-1][-1]


def scores(
    output: Sequence[float], reference: Sequence[float], duration: float, chunk_size: float
) -> dict[str, float]:
    """Return all values of one case by chunkseg's keys.

    They are empty if the case is shorter than a chunk, or has boundaries after its end, but none in
    a chunk.
    """
    mine, theirs = row(output, duration, chunk_size), row(reference, duration, chunk_size)
    has_later = any(time > duration for time in (*output, *reference))
    if not mine or (has_later and not any(mine + theirs)):
        return {}
    tp, fp, fn, tn = confusion(mine, theirs)
    return {
        "precision": share(tp, tp + fp),
        "recall": share(tp, tp + fn),
        "accuracy": share(tp + tn, len(mine)),
        "specificity": share(tn, tn + fp),
        "pk": pk(mine, theirs),
        "window_diff": window_diff(mine, theirs),
        "boundary_similarity": boundary_similarity(mine, theirs),
        "ghd": ghd(mine, theirs),
        "num_segments": sum(mine),
        "reference/num_segments": sum(theirs),
        "f1": share(2 * tp, 2 * tp + fp + fn),
        "f1_micro": share(2 * tp, 2 * tp + fp + fn),
        "f1_sample": share(2 * tp, 2 * tp + fp + fn),
    }
