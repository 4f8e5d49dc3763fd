"""Two lists of increasing positions: the fewest edits between them, without going through cells.

Positions that both have can all be matched, for both lists increase; where that costs more edits
than it saves, some are not. Neighbours on both sides are matched together or not at all. What lies
between two matches costs as many edits as the longer side has words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def edits_and_hits(labels: Sequence[int], path: Sequence[int]) -> tuple[int, int]:
    """The fewest edits, and the most right words that so few leave; a label of 0 matches nothing.

    >>> edits_and_hits((2, 3), (1, 2))
    (2, 1)
    >>> edits_and_hits((3, 4, 5), (1, 2, 3))
    (3, 0)
    """
    runs = _runs(labels, path)
    large = len(path) + 1  # an edit costs this, a right word gains 1
    ends = np.array([end for _, end, _ in runs], np.int64).T * large
    best = np.zeros(len(runs), np.int64)
    for index, ((mine, theirs), _, size) in enumerate(runs[1:], 1):
        apart = np.maximum(mine * large - ends[0, :index], theirs * large - ends[1, :index])
        best[index] = (best[:index] + apart).min() - large - size
    least = int(best[-1])
    edits = -(-least // large)
    return edits, edits * large - least


def _runs(labels: Sequence[int], path: Sequence[int]) -> list[tuple[list[int], list[int], int]]:
    """Matches one behind the other: where each run begins and ends on both sides, and its length.

    Before all stands a run of no length, and behind all another.
    """
    places = {position: place for place, position in enumerate(path)}
    runs: list[tuple[list[int], list[int], int]] = [([-1, -1], [-1, -1], 0)]
    for place, label in enumerate(labels):
        if label and label in places:
            here = [place, places[label]]
            begin, end, size = runs[-1]
            if size and here == [end[0] + 1, end[1] + 1]:
                runs[-1] = (begin, here, size + 1)
            else:
                runs.append((here, here, 1))
    last = [len(labels), len(path)]
    return [*runs, (last, last, 0)]
