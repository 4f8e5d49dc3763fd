"""Anchors between a transcript and what was recognized: places at which both are equal.

A run of symbols (words, or letters) that occurs exactly once on both sides is an anchor. Of all
anchors, the longest sequence in the same order on both sides is kept, as in patience diff. Between
two neighbouring anchors the search is repeated, since a run that is frequent in the whole text may
be unique there, first with runs of the same length and then with shorter ones. Time and memory grow
with the number of symbols, not with its square. ``fill_gaps`` then finds the best alignment between
anchors, also in a text that repeats itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise

Anchor = tuple[int, int]  # place in the transcript, place in what was recognized


def find_anchors(
    expected: Sequence[Hashable], heard: Sequence[Hashable], sizes: Sequence[int]
) -> list[Anchor]:
    """Return places at which two sequences are equal, increasing on both sides.

    Parameters
    ----------
    expected, heard
        Symbols of the transcript, and symbols that were recognized.
    sizes
        Lengths of the runs to search, in descending order.

    Returns
    -------
    list of tuple
        Pairs of places.

    Examples
    --------
    >>> find_anchors("the cat sat".split(), "a the cat was sat".split(), (2, 1))
    [(0, 1), (1, 2), (2, 4)]
    """
    anchors = list[Anchor]()
    pending = [(0, len(expected), 0, len(heard), 0)]
    while pending:
        low, high, begin, end, level = pending.pop()
        size = sizes[level]
        chain = list[Anchor]()
        if min(high - low, end - begin) >= size:
            once = _index_unique(expected, low, high, size)
            once_heard = _index_unique(heard, begin, end, size)
            runs = [(place, once_heard[run]) for run, place in once.items() if run in once_heard]
            chain = _longest_chain(sorted(runs))
        if not chain:
            if level + 1 < len(sizes):
                pending.append((low, high, begin, end, level + 1))
            continue
        places = _expand_runs(chain, size)
        anchors += places
        # the gaps between consecutive anchors, and those at both ends
        edges = [(low - 1, begin - 1), *places, (high, end)]
        for (i, j), (next_i, next_j) in pairwise(edges):
            if next_i - i > 1 and next_j - j > 1:
                pending.append((i + 1, next_i, j + 1, next_j, level))
    return sorted(anchors)


def fill_gaps(
    expected: Sequence[Hashable],
    heard: Sequence[Hashable],
    anchors: Sequence[Anchor],
    min_run: int,
) -> list[Anchor]:
    """Return anchors with those between them: equal runs of the alignment with fewest edits.

    Parameters
    ----------
    expected, heard
        Symbols of the transcript, and symbols that were recognized.
    anchors
        Result of ``find_anchors``.
    min_run
        Length of the shortest runs; shorter ones are often equal by chance.

    Returns
    -------
    list of tuple
        Pairs of places, increasing on both sides.

    Examples
    --------
    >>> fill_gaps("abcabcabc", "abcabxabc", [], 2)[-3:]
    [(6, 6), (7, 7), (8, 8)]
    """
    from rapidfuzz.distance import Levenshtein

    filled = list[Anchor]()
    edges = [(-1, -1), *anchors, (len(expected), len(heard))]
    for (i, j), (next_i, next_j) in pairwise(edges):
        if next_i - i > min_run and next_j - j > min_run:
            own, other = expected[i + 1 : next_i], heard[j + 1 : next_j]
            for edit in Levenshtein.opcodes(own, other):
                size = edit.src_end - edit.src_start
                if edit.tag == "equal" and size >= min_run:
                    first, first_heard = i + 1 + edit.src_start, j + 1 + edit.dest_start
                    filled += [(first + step, first_heard + step) for step in range(size)]
        if next_i < len(expected):
            filled.append((next_i, next_j))
    return filled


def _index_unique(
    symbols: Sequence[Hashable], low: int, high: int, size: int
) -> dict[tuple[Hashable, ...], int]:
    runs = [tuple(symbols[place : place + size]) for place in range(low, high - size + 1)]
    counts = Counter(runs)
    return {run: place for place, run in enumerate(runs, low) if counts[run] == 1}


def _longest_chain(runs: Sequence[Anchor]) -> list[Anchor]:
    """Return the longest subsequence in which both places increase."""
    tops: list[int] = []  # smallest last place of a chain of each length
    indices = list[int]()
    before = list[int]()
    for index, (_, place) in enumerate(runs):
        length = bisect_left(tops, place)
        before.append(indices[length - 1] if length else -1)
        tops[length : length + 1] = [place]
        indices[length : length + 1] = [index]
    chain, index = [], indices[-1] if indices else -1
    while index >= 0:
        chain.append(runs[index])
        index = before[index]
    return chain[::-1]


def _expand_runs(chain: Sequence[Anchor], size: int) -> list[Anchor]:
    """Return all places of runs, without those that contradict an earlier run."""
    places = list[Anchor]()
    for first, first_heard in chain:
        for step in range(size):
            place = first + step, first_heard + step
            if not places or (place[0] > places[-1][0] and place[1] > places[-1][1]):
                places.append(place)
    return places
