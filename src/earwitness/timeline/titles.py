"""Titles that belong together: pairs of an output's and a reference's by their times."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from earwitness.data import Titles

Pair = tuple[int, int]
Rule = Callable[[Titles, Titles, float, float], list[Pair]]


def by_start(output: Titles, reference: Titles, tolerance: float, duration: float) -> list[Pair]:
    """For each title of the reference the nearest free one of the output, if it starts in time.

    >>> by_start((("a", 1.0), ("b", 9.0)), (("c", 0.0), ("d", 30.0)), 5.0, 60.0)
    [(0, 0)]
    """
    del duration
    starts = [time for _, time in output]

    def distance(mine: int, theirs: int) -> float:
        return abs(starts[mine] - reference[theirs][1])

    return _pairs(len(output), len(reference), distance, tolerance)


def by_start_and_end(
    output: Titles, reference: Titles, tolerance: float, duration: float
) -> list[Pair]:
    """The same, if it also ends in time; a title ends where the next in the list starts."""
    mine_ends, their_ends = _ends(output, duration), _ends(reference, duration)

    def distance(mine: int, theirs: int) -> float:
        start = abs(output[mine][1] - reference[theirs][1])
        end = abs(mine_ends[mine] - their_ends[theirs])
        return start + end if start <= tolerance and end <= tolerance else float("inf")

    return _pairs(len(output), len(reference), distance, 2 * tolerance)


TM_RULES: dict[str, Rule] = {"start": by_start, "start_end": by_start_and_end}


def _ends(titles: Titles, duration: float) -> Sequence[float]:
    return [*(time for _, time in titles[1:]), duration]


def _pairs(
    n_output: int, n_reference: int, distance: Callable[[int, int], float], most: float
) -> list[Pair]:
    free, pairs = list(range(n_output)), []
    for theirs in range(n_reference):
        near = [(distance(mine, theirs), mine) for mine in free]
        near = [one for one in near if one[0] <= most]
        if near:
            mine = min(near)[1]
            free.remove(mine)
            pairs.append((mine, theirs))
    return pairs
