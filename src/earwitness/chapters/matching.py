"""Matching of boundaries and titles in time, and common partitions of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from earwitness.chapters.cases import ChapterCases
from earwitness.core import BoundaryMatches, Titles
from earwitness.stats.arrays import Bools, Floats, Ints, Ragged, bounds, count_true, row_sums

# --- Matching of boundaries ----------------------------------------------------------------------


PAIRS_IN_MEMORY = 4_000_000
MAX_LISTED_PAIRS_PER_BOUNDARY = 16  # cases with more possible pairs are matched without a list
STEPS_BEFORE_SEARCH = 16  # steps to the end of a collar that are tried before a binary search
MIN_PARALLEL_CASES = 8  # fewer cases are traversed one after the other


def greedy_matches(output: Ragged, reference: Ragged, collar: float) -> Ints:
    """Return the number of matches of each output if the closest pairs are matched first.

    A pair can match if its distance is at most ``collar``. Of equal distances the lower reference
    index is matched first, then the lower output index.
    """
    order, out = _sorted_rows(output)
    low, high = _reach(out, reference, collar)
    pairs_before = np.concatenate([[0], np.cumsum(high - low)])[reference.offsets]
    counts, start = np.zeros(len(output), np.int64), 0
    most = MAX_LISTED_PAIRS_PER_BOUNDARY * (output.lengths + reference.lengths)
    is_dense = np.diff(pairs_before) > most
    if is_dense.any():
        for case in np.flatnonzero(is_dense).tolist():
            sides = output.row(case).tolist(), reference.row(case).tolist()
            counts[case] = len(greedy_pairs(*sides, collar))
        rest = np.flatnonzero(~is_dense)
        counts[rest] = greedy_matches(output.take(rest), reference.take(rest), collar)
        return counts
    while start < len(output):  # as many whole cases as fit into memory
        most_pairs = pairs_before[start] + PAIRS_IN_MEMORY
        stop = max(int(np.searchsorted(pairs_before, most_pairs, "right")) - 1, start + 1)
        span = slice(reference.offsets[start], reference.offsets[stop])
        matched = _match(out, order, reference, low, high, span)
        cut = reference.offsets[start : stop + 1] - reference.offsets[start]
        counts[start:stop] = row_sums(matched, cut)
        start = stop
    return counts


def _sorted_rows(boundaries: Ragged) -> tuple[Ints, Ragged]:
    """Return the boundaries with sorted rows, and the original index of every value."""
    steps, rows = np.diff(boundaries.values), boundaries.rows
    if not ((steps < 0) & (rows[1:] == rows[:-1])).any():
        return np.arange(len(rows)), boundaries
    order = np.lexsort((boundaries.values, rows))
    return order, Ragged(boundaries.values[order], boundaries.offsets)


def _reach(out: Ragged, reference: Ragged, collar: float) -> tuple[Ints, Ints]:
    """Return the range of output boundaries within the collar of every reference boundary."""
    rows, time = reference.rows, reference.values
    middle = _behind(out, reference)
    start, stop = out.offsets[rows], out.offsets[rows + 1]
    with np.errstate(invalid="ignore"):  # infinity minus infinity is never within a collar
        low = middle - _steps(
            middle - start, lambda k, at: time[at] - out.values[middle[at] - 1 - k] <= collar
        )
        high = middle + _steps(
            stop - middle, lambda k, at: out.values[middle[at] + k] - time[at] <= collar
        )
    return low, high


@lru_cache(maxsize=4)
def _behind(out: Ragged, reference: Ragged) -> Ints:
    """Return the first output boundary that is not before every reference boundary.

    Cached, since it is the same for every collar.
    """
    rows, time = reference.rows, reference.values
    start, stop = out.offsets[rows], out.offsets[rows + 1]
    return start + count_true(start, stop, lambda i: out.values[i] < time)


def _steps(most: Ints, test: Callable[[Ints | int, Ints], Bools]) -> Ints:
    """Return the number of steps that pass a test that, once false, stays false.

    ``test`` takes the number of steps done and the indices that are still active.
    """
    steps = np.zeros(len(most), np.int64)
    going = np.flatnonzero(most > 0)
    done = 0
    while len(going) and done < STEPS_BEFORE_SEARCH:
        going = going[test(done, going)]
        done += 1
        steps[going] = done
        going = going[most[going] > done]
    start = np.full(len(going), done)
    steps[going] += count_true(start, most[going], lambda step: test(step, going))
    return steps


def _match(
    out: Ragged, order: Ints, reference: Ragged, low: Ints, high: Ints, span: slice
) -> Bools:
    """Return which reference boundaries of the span are matched."""
    reach = high[span] - low[span]
    offsets = bounds(reach)
    ref = np.repeat(np.arange(len(reach)), reach)
    hyp = np.arange(offsets[-1]) + np.repeat(low[span] - offsets[:-1], reach)
    rivals = np.bincount(hyp)[hyp]
    matched = np.zeros(len(reach), np.bool_)
    contested = (reach[ref] > 1) | (rivals > 1)
    matched[ref[~contested]] = True
    ref, hyp = ref[contested], hyp[contested]
    distance = np.abs(reference.values[span][ref] - out.values[hyp])
    _take_closest(matched, ref, order[hyp], distance)
    return matched


def _take_closest(matched: Bools, ref: Ints, hyp: Ints, distance: Floats) -> None:
    """Match pairs with several candidates one by one, the closest first."""
    ranked = np.lexsort((hyp, ref, distance))
    taken, used = set[int](), set[int]()
    for r, h in zip(ref[ranked].tolist(), hyp[ranked].tolist(), strict=True):
        if r not in taken and h not in used:
            taken.add(r)
            used.add(h)
    matched[list(taken)] = True


def optimal_matches(output: Ragged, reference: Ragged, collar: float) -> Ints:
    """Return the largest possible number of matches with a distance of at most ``collar``.

    Both lists are sorted and traversed in parallel: the two first boundaries match, or the earlier
    one has no match. All cases are traversed at the same time.
    """
    out, ref = _sorted_rows(output)[1], _sorted_rows(reference)[1]
    i, j = out.offsets[:-1].copy(), ref.offsets[:-1].copy()
    counts = np.zeros(len(i), np.int64)
    going = np.flatnonzero((i < out.offsets[1:]) & (j < ref.offsets[1:]))
    while len(going) >= MIN_PARALLEL_CASES:
        mine, theirs = out.values[i[going]], ref.values[j[going]]
        with np.errstate(invalid="ignore"):
            pair = np.abs(theirs - mine) <= collar
        counts[going] += pair
        i[going] += pair | (mine < theirs)
        j[going] += pair | (mine >= theirs)
        going = going[(i[going] < out.offsets[going + 1]) & (j[going] < ref.offsets[going + 1])]
    for case in going.tolist():
        mine = out.values[i[case] : out.offsets[case + 1]]
        theirs = ref.values[j[case] : ref.offsets[case + 1]]
        counts[case] += len(optimal_pairs(mine.tolist(), theirs.tolist(), collar))
    return counts


def median_distance(of: Ragged, to: Ragged) -> Floats:
    """Return the median distance of boundaries to the nearest one of the other side, per case."""
    near = _sorted_rows(to)[1]
    rows, median = of.rows, np.full(len(of), np.nan)
    start, stop = near.offsets[rows], near.offsets[rows + 1]
    behind = _behind(near, of)
    distance = np.full(len(rows), np.inf)
    for index in (behind - 1, behind):
        there = (index >= start) & (index < stop)
        gap = np.abs(near.values[index[there]] - of.values[there])
        distance[there] = np.minimum(distance[there], gap)
    filled = np.flatnonzero((of.lengths > 0) & (near.lengths > 0))
    median[filled] = _medians(distance, of.offsets, filled)
    return median


def _medians(values: Floats, offsets: Ints, rows: Ints) -> Floats:
    """Return the median of each of these rows; rows of similar length are sorted together."""
    lengths = np.diff(offsets)[rows]
    sizes = np.ceil(np.log2(lengths)).astype(np.int64)
    medians = np.empty(len(rows))
    for size in np.unique(sizes):
        chosen = np.flatnonzero(sizes == size)
        length = lengths[chosen]
        place = np.arange(int(length.max()))
        inside = place < length[:, None]
        table = np.full(inside.shape, np.inf)
        table[inside] = values[(offsets[rows[chosen]][:, None] + place)[inside]]
        table.sort(axis=1)
        each = np.arange(len(chosen))
        medians[chosen] = table[each, (length - 1) // 2] / 2 + table[each, length // 2] / 2
    return medians


MATCHINGS = {"greedy": greedy_matches, "optimal": optimal_matches}


# --- Matched boundaries of one case --------------------------------------------------------------


Pair = tuple[int, int]  # index of the output, and of the reference


def greedy_pairs(output: Sequence[float], reference: Sequence[float], collar: float) -> list[Pair]:
    """Return the pairs that ``greedy_matches`` counts.

    >>> greedy_pairs([10.0, 12.0], [11.5, 40.0], 3.0)
    [(1, 0)]
    """
    equal_times = dict[float, tuple[list[int], list[int]]]()
    for side, times in enumerate((output, reference)):
        for place in reversed(range(len(times))):  # so that the lowest index is taken first
            if isfinite(times[place]):
                equal_times.setdefault(times[place], ([], []))[side].append(place)
    pairs = list[Pair]()
    for mine, theirs in equal_times.values():
        while mine and theirs:
            pairs.append((mine.pop(), theirs.pop()))
    groups = [
        (time, 1 if theirs else 0, mine or theirs)
        for time, (mine, theirs) in sorted(equal_times.items())
        if mine or theirs
    ]
    return pairs + _adjacent_pairs(groups, collar)


def _adjacent_pairs(groups: Sequence[tuple[float, int, list[int]]], collar: float) -> list[Pair]:
    """Match boundaries at distinct times, each time with one side, the closest pairs first.

    ``groups`` are times in order, their side (0 for the output, 1 for the reference) and their
    boundaries, the lowest index last. The closest pair always consists of neighbours, since
    whatever is between two boundaries is closer to one of them. So only neighbours are candidates,
    and when a time has no boundary left, its neighbours become neighbours of each other.
    """
    before, after = list(range(-1, len(groups) - 1)), [*range(1, len(groups)), -1]
    closest = list[tuple[float, int, int, int, int]]()

    def add(left: int, right: int) -> None:
        if left < 0 or right < 0 or groups[left][1] == groups[right][1]:
            return
        distance = groups[right][0] - groups[left][0]
        if distance <= collar:
            mine, theirs = (left, right) if groups[right][1] else (right, left)
            heads = groups[theirs][2][-1], groups[mine][2][-1]
            heappush(closest, (distance, *heads, mine, theirs))

    for right in range(1, len(groups)):
        add(right - 1, right)
    pairs = list[Pair]()
    while closest:
        _, their_head, my_head, mine, theirs = heappop(closest)
        left, right = min(mine, theirs), max(mine, theirs)
        if not (groups[left][2] and groups[right][2]):
            continue
        if (groups[mine][2][-1], groups[theirs][2][-1]) == (my_head, their_head):
            pairs.append((groups[mine][2].pop(), groups[theirs][2].pop()))
        if not groups[left][2]:
            left = before[left]
        if not groups[right][2]:
            right = after[right]
        if left >= 0:
            after[left] = right
        if right >= 0:
            before[right] = left
        add(left, right)
    return pairs


def optimal_pairs(output: Sequence[float], reference: Sequence[float], collar: float) -> list[Pair]:
    """Return the pairs that ``optimal_matches`` counts.

    >>> optimal_pairs([10.0, 12.0], [11.5, 40.0], 3.0)
    [(0, 0)]
    """
    mine = sorted(range(len(output)), key=lambda place: output[place])
    theirs = sorted(range(len(reference)), key=lambda place: reference[place])
    pairs = list[Pair]()
    i = j = 0
    while i < len(mine) and j < len(theirs):
        step = output[mine[i]] - reference[theirs[j]]
        if abs(step) <= collar:
            pairs.append((mine[i], theirs[j]))
            i, j = i + 1, j + 1
        elif step < 0:
            i += 1
        else:
            j += 1
    return pairs


PAIRINGS = {"greedy": greedy_pairs, "optimal": optimal_pairs}


def match_boundaries(
    output: Sequence[float],
    references: Mapping[str, Sequence[float]],
    duration: float,
    collar: float,
    matching: str,
    edge: float,
) -> BoundaryMatches:
    """Match the boundaries of an output with those of every annotator, as a metric counts them.

    Boundaries at or before 0, and within ``edge`` seconds of the ends, are ignored.
    """

    def counts(time: float) -> bool:
        return time > 0 and (not edge or edge < time < duration - edge)

    counted = [place for place, time in enumerate(output) if counts(time)]
    matched, missed = {place: list[str]() for place in counted}, {}
    for name, times in references.items():
        wanted = [time for time in times if counts(time)]
        pairs = PAIRINGS[matching]([output[place] for place in counted], wanted, collar)
        for mine, _ in pairs:
            matched[counted[mine]].append(name)
        found = {theirs for _, theirs in pairs}
        missed[name] = tuple(time for n, time in enumerate(wanted) if n not in found)
    names = (matched.get(place) for place in range(len(output)))
    return BoundaryMatches(tuple(None if name is None else tuple(name) for name in names), missed)


# --- Pairing of titles ---------------------------------------------------------------------------


Rule = Callable[[Titles, Titles, float, float], list[Pair]]


def by_start(output: Titles, reference: Titles, tolerance: float, _duration: float) -> list[Pair]:
    """Match each reference title with the nearest free output title within the tolerance.

    >>> by_start((("a", 1.0), ("b", 9.0)), (("c", 0.0), ("d", 30.0)), 5.0, 60.0)
    [(0, 0)]
    """

    def distance(mine: int, theirs: int) -> float:
        return abs(output[mine][1] - reference[theirs][1])

    return _pair_nearest(len(output), len(reference), distance, tolerance)


def by_start_and_end(
    output: Titles, reference: Titles, tolerance: float, duration: float
) -> list[Pair]:
    """Match titles whose start and end are within the tolerance; a title ends at the next start."""
    mine_ends, their_ends = _ends(output, duration), _ends(reference, duration)

    def distance(mine: int, theirs: int) -> float:
        start = abs(output[mine][1] - reference[theirs][1])
        end = abs(mine_ends[mine] - their_ends[theirs])
        return start + end if start <= tolerance and end <= tolerance else inf

    return _pair_nearest(len(output), len(reference), distance, 2 * tolerance)


TM_RULES: dict[str, Rule] = {"start": by_start, "start_end": by_start_and_end}


def _ends(titles: Titles, duration: float) -> Sequence[float]:
    return [*(time for _, time in titles[1:]), duration]


def _pair_nearest(
    n_output: int, n_reference: int, distance: Callable[[int, int], float], most: float
) -> list[Pair]:
    free, pairs = list(range(n_output)), []
    for theirs in range(n_reference):
        near = [(gap, mine) for mine in free if (gap := distance(mine, theirs)) <= most]
        if near:
            mine = min(near)[1]
            free.remove(mine)
            pairs.append((mine, theirs))
    return pairs


# --- Partitions of time --------------------------------------------------------------------------
# Between two neighbouring boundaries of any side, both sides stay in one segment; and two segments,
# one of each side, share at most one such piece. So pieces are the cells of the contingency table,
# and every measure of partitions is a sum over pieces.


FrameCounts = NDArray[np.float64]  # whole numbers with large products


@dataclass(frozen=True, slots=True)
class Partition:
    """Pieces of a batch: case, segment on either side, duration in seconds, and frames."""

    case: Ints
    of_output: Ints
    of_reference: Ints
    seconds: Floats
    frames: FrameCounts
    duration: Floats

    @classmethod
    def of(cls, cases: ChapterCases, frame: float) -> Partition:
        """Divide every case at the boundaries of both sides."""
        sides = [_inner(side, cases.duration) for side in (cases.output, cases.reference)]
        n = len(cases)
        row = np.concatenate([np.arange(n), *(side.rows for side in sides)])
        time = np.concatenate([np.zeros(n), *(side.values for side in sides)])
        side = np.repeat([0, 1, 2], [n, *(len(s.values) for s in sides)])
        order = np.lexsort((side, time, row))
        row, time, side = row[order], time[order], side[order]
        stop = np.roll(time, -1)
        last = np.append(row[1:] != row[:-1], True)[: len(row)]
        stop[last] = cases.duration[row[last]]
        whole = np.floor(cases.duration / frame)[row]
        frames = np.minimum(_before(stop, frame), whole) - np.minimum(_before(time, frame), whole)
        new = side == 0
        return cls(
            row,
            np.cumsum(new | (side == 1)) - 1,
            np.cumsum(new | (side == 2)) - 1,
            np.maximum(stop - time, 0),
            np.maximum(frames, 0),
            cases.duration,
        )

    def purity(self) -> tuple[Floats, Floats]:
        """Return purity and coverage."""
        return self._main_share(self.of_output), self._main_share(self.of_reference)

    def homogeneity(self) -> tuple[Floats, Floats]:
        """Return homogeneity and completeness."""
        total = self._per_case(self.frames)
        joint = self._entropy(self.frames, self.case, total)
        of_output = self._entropy(*self._grouped(self.of_output), total)
        of_reference = self._entropy(*self._grouped(self.of_reference), total)
        completeness = _explained_share(joint - of_reference, of_output)
        return _explained_share(joint - of_output, of_reference), completeness

    def pairs(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the pairs of frames joined on both sides, in output, in reference, and all."""
        joint = self._per_case(_count_pairs(self.frames))
        groups = map(self._grouped, (self.of_output, self.of_reference))
        own, other = (_sums(case, _count_pairs(size), len(self.duration)) for size, case in groups)
        return joint, own, other, _count_pairs(self._per_case(self.frames))

    def _per_case(self, values: Floats) -> Floats:
        return _sums(self.case, values, len(self.duration))

    def _grouped(self, segment: Ints) -> tuple[Floats, Ints]:
        """Return the number of frames and the case of every segment of a side."""
        first = np.flatnonzero(np.diff(segment, prepend=-1))
        return _sums(segment, self.frames), self.case[first]

    def _main_share(self, segment: Ints) -> Floats:
        share = np.full(len(self.duration), np.nan)
        if len(segment):
            first = np.flatnonzero(np.diff(segment, prepend=-1))
            main = np.maximum.reduceat(self.seconds, first)
            total = _sums(self.case[first], main, len(self.duration))
            np.divide(total, self.duration, out=share, where=self.duration > 0)
        return np.asarray(np.minimum(share, 1), np.float64)  # rounding may exceed 1

    def _entropy(self, size: Floats, case: Ints, total: Floats) -> Floats:
        share = np.divide(size, total[case], out=np.ones_like(size), where=size > 0)
        terms = _sums(case, -share * np.log(share), len(total))
        return np.where(total > 0, terms, np.nan)


def _sums(group: Ints, values: Floats, groups: int = 0) -> Floats:
    """Return sums of values by group."""
    return np.bincount(group, values, groups).astype(np.float64)


def undivided(cases: ChapterCases) -> Bools:
    """Return the cases with boundaries after the end, but none inside the recording."""
    sides = (_inner(side, cases.duration) for side in (cases.output, cases.reference))
    return np.asarray((sum(side.lengths for side in sides) == 0) & cases.has_later)


def _inner(side: Ragged, duration: Floats) -> Ragged:
    return side.where((side.values > 0) & (side.values < duration[side.rows]))


def _before(time: Floats, frame: float) -> FrameCounts:
    """Return the number of frames before a time: the first k with k · frame ≥ time."""
    guess = np.ceil(time / frame)
    guess -= (guess - 1) * frame >= time
    guess += guess * frame < time
    return np.asarray(guess)


def _count_pairs(count: Floats) -> Floats:
    return count * (count - 1) / 2


def _explained_share(left: Floats, whole: Floats) -> Floats:
    """Return the explained share of the entropy; 1 if there is no entropy."""
    share = np.divide(left, whole, out=np.where(np.isnan(whole), np.nan, 0.0), where=whole > 0)
    return np.asarray(np.clip(1 - share, 0, 1), np.float64)
