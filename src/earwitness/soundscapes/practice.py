"""Seven practice skims of a synthetic day, for learning TC and SD."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.skims.types import Pick, Skim
from earwitness.soundscapes.scene import Scene
from earwitness.soundscapes.timetable import named_generator
from earwitness.soundscapes.truth import (
    BACKGROUND_SOURCE,
    MIN_HEARD_SECONDS,
    Matrix,
    Truth,
    total_variation,
)

# --- Course over hours ---------------------------------------------------------------------------
# Given the costs between hours and blocks, the optimal split and blocks are exact (Bellman).


NEW_SOURCE_WORTH = 0.35  # reduction of mean cost per hour for a new source


class HourCourse:
    """Costs of representing hours by blocks; a block may only represent hours around it."""

    def __init__(self, hours: Matrix, blocks: Matrix, hour_of: NDArray[Any]) -> None:
        self._count = len(hours)
        self._hour_of = hour_of.astype(int)
        costs = total_variation(hours, blocks)
        self._sums = np.concatenate([np.zeros((1, len(blocks))), np.cumsum(costs, axis=0)])

    def best_rows(self, picks: int) -> list[int]:
        """Return the rows of the blocks that follow the day best, in chronological order."""
        return [self._nearest(first, last) for first, last in self._parts(picks)]

    def balanced_rows(self, heard: NDArray[np.bool_], picks: int) -> list[int]:
        """Return rows for the same parts of the day, preferring blocks with new sources."""
        is_new, rows = np.ones(heard.shape[1], bool), list[int]()
        for first, last in self._parts(picks):
            inside = self._inside(first, last)
            mean_costs = (self._sums[last, inside] - self._sums[first, inside]) / (last - first)
            brings_new = np.minimum((heard[inside] & is_new).sum(1), 1)
            rows.append(int(inside[int(np.argmin(mean_costs - NEW_SOURCE_WORTH * brings_new))]))
            is_new &= ~heard[rows[-1]]
        return rows

    def _inside(self, first: int, last: int) -> NDArray[np.intp]:
        return np.flatnonzero((self._hour_of >= first) & (self._hour_of < last))

    def _nearest(self, first: int, last: int) -> int:
        inside = self._inside(first, last)
        return int(inside[int(np.argmin(self._sums[last, inside] - self._sums[first, inside]))])

    def _parts(self, picks: int) -> list[tuple[int, int]]:
        """Return the hours that each pick represents, with the lowest total cost."""
        count, picks = self._count, min(picks, self._count)
        cost = np.full((count + 1, count + 1), np.inf)
        for first in range(count):
            for last in range(first + 1, count + 1):
                row = self._nearest(first, last)
                cost[first, last] = self._sums[last, row] - self._sums[first, row]
        least, back = cost[0], list[NDArray[np.intp]]()
        for _ in range(picks - 1):
            sums = least[:, None] + cost
            back.append(sums.argmin(axis=0))
            least = sums.min(axis=0)
        ends = [count]
        for table in reversed(back):
            ends.append(int(table[ends[-1]]))
        edges = [0, *reversed(ends)]
        return list(pairwise(edges))


# --- Practice skims ------------------------------------------------------------------------------
# Practice skims are chosen with the truth about the day: one source in many variants; many sources;
# wind only; wind and quiet; the course of the day; a compromise; and the compromise in another
# order.


BlockRows = list[int]
PICKS_PER_SKIM, BLOCK_SECONDS, OVERLAP_SECONDS = 12, 8.0, 3.0
BIRD_SOURCES = ("birds", "chorus", "rooster", "owl", "cuckoo", "crow")
PRESENCE_TOLERANCE = 0.02  # blocks within this presence count as equal
TRIED_ORDERS = 200  # random orders tried to find the worst


@dataclass(frozen=True)
class PracticeSkim:
    """A practice skim with its title, true TC and SD, audible sources, and explanation."""

    title: str
    skim: Skim
    tc: float
    sd: float
    heard: tuple[str, ...]
    reason: str


class DayBlocks:
    """All blocks of a day, and the presence of sources in each."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.truth = scene, Truth(scene.events)
        self.starts = np.arange(0, scene.seconds - BLOCK_SECONDS + 1e-9, BLOCK_SECONDS)
        ends = self.starts + BLOCK_SECONDS
        self.presence = self.truth.presence(list(self.starts), list(ends))
        self.heard = self.truth.seconds(list(self.starts), list(ends)) >= MIN_HEARD_SECONDS
        self.names = (*self.truth.sources, BACKGROUND_SOURCE)
        hours = np.arange(0, scene.seconds - 1e-9, scene.hour)
        self.hours = self.truth.presence(list(hours), list(hours + scene.hour))
        self.course = HourCourse(self.hours, self.presence, self.starts // scene.hour)

    def share(self, *names: str) -> NDArray[np.float64]:
        """Return the share of each block taken up by these sources."""
        columns = [self.names.index(name) for name in names]
        return np.asarray(self.presence[:, columns].sum(1))

    def picks(self, rows: Sequence[int]) -> tuple[Pick, ...]:
        """Return the blocks in these rows as picks."""
        return tuple(Pick(float(self.starts[row]), BLOCK_SECONDS) for row in rows)

    def tc(self, rows: Sequence[int]) -> float:
        """Return the true TC of the blocks in these rows, in this order."""
        return self.truth.tc(self.picks(rows), self.scene.seconds, self.scene.hour)


def make_practice_skims(scene: Scene) -> tuple[PracticeSkim, ...]:
    """Return the seven practice skims, in the order of presentation."""
    blocks = DayBlocks(scene)
    main_sources, steady_source = _find_main_sources(blocks), _find_steady_source(blocks)
    balanced = blocks.course.balanced_rows(blocks.heard, PICKS_PER_SKIM)
    plans = [
        (
            f"{main_sources[0]} in many variants",
            _pick_forms(blocks, main_sources),
            _forms_reason(main_sources[0]),
        ),
        ("many sources", _pick_diverse(blocks), DIVERSE_REASON),
        (
            f"{steady_source} only",
            _pick_evenly(blocks.share(steady_source), PICKS_PER_SKIM),
            _steady_reason(steady_source),
        ),
        (
            f"{steady_source} and quiet",
            _pick_steady_and_quiet(blocks, steady_source),
            _quiet_reason(steady_source),
        ),
        ("the course of the day", blocks.course.best_rows(PICKS_PER_SKIM), COURSE_REASON),
        ("a compromise of both", balanced, BALANCED_REASON),
        ("the compromise, reordered", _find_worst_order(blocks, balanced), REORDERED_REASON),
    ]
    return tuple(_make_practice_skim(blocks, title, rows, reason) for title, rows, reason in plans)


def _make_practice_skim(
    blocks: DayBlocks, title: str, rows: BlockRows, reason: str
) -> PracticeSkim:
    picks = blocks.picks(rows)
    heard = blocks.truth.seconds([p.start for p in picks], [p.start + BLOCK_SECONDS for p in picks])
    audible = [
        n
        for n, seconds in zip(blocks.names, heard.sum(0), strict=False)
        if seconds >= MIN_HEARD_SECONDS
    ]
    sd = blocks.truth.sd(picks)
    return PracticeSkim(
        title, Skim(picks, OVERLAP_SECONDS), blocks.tc(rows), sd, tuple(audible), reason
    )


def _find_main_sources(blocks: DayBlocks) -> list[str]:
    """Return a source with many variants: birds, or else the most present source."""
    most_present = blocks.names[int(blocks.hours[:, :-1].sum(0).argmax())]
    return [name for name in BIRD_SOURCES if name in blocks.names] or [most_present]


def _pick_forms(blocks: DayBlocks, names: list[str]) -> BlockRows:
    """Return blocks of each variant, most of the first, with as little else as possible."""
    picks_per_form = PICKS_PER_SKIM // (len(names) + 1)
    rows = {row for name in names[1:] for row in _pick_evenly(blocks.share(name), picks_per_form)}
    score = blocks.share(names[0])
    score[list(rows)] = -1
    return sorted([*rows, *_pick_evenly(score, PICKS_PER_SKIM - len(rows))])


def _find_steady_source(blocks: DayBlocks) -> str:
    """Return wind, or else the least present continuous source."""
    lasting = [n for n in blocks.names[:-1] if blocks.scene.sources[n].lasts]
    by_share = sorted(lasting or blocks.names[:-1], key=lambda name: blocks.share(name).sum())
    enough = [
        name
        for name in by_share
        if (blocks.share(name) > 1 - PRESENCE_TOLERANCE).sum() >= PICKS_PER_SKIM
    ]
    return "wind" if "wind" in lasting else (enough or by_share[::-1])[0]


def _pick_evenly(score: NDArray[np.float64], count: int) -> BlockRows:
    """Return the best blocks, spread evenly over the day, in chronological order."""
    best = np.flatnonzero(score >= score.max() - PRESENCE_TOLERANCE)
    if len(best) < count:
        best = np.sort(np.argsort(-score, kind="stable")[:count])
    return [int(best[n]) for n in np.linspace(0, len(best) - 1, count).round().astype(int)]


def _pick_diverse(blocks: DayBlocks) -> BlockRows:
    """Return blocks that each add the most new sources, then the fullest blocks."""
    is_new, rows = np.ones(blocks.heard.shape[1], bool), list[int]()
    for _ in range(min(PICKS_PER_SKIM, len(blocks.heard))):
        worth = (blocks.heard & is_new).sum(1) + 0.01 * blocks.heard.sum(1)
        worth[rows] = -1
        rows.append(int(worth.argmax()))
        is_new &= ~blocks.heard[rows[-1]]
    return sorted(rows)


def _pick_steady_and_quiet(blocks: DayBlocks, steady: str) -> BlockRows:
    half = PICKS_PER_SKIM // 2
    wind, quiet = blocks.share(steady), blocks.share(BACKGROUND_SOURCE)
    return sorted(_pick_evenly(wind, half) + _pick_evenly(quiet, PICKS_PER_SKIM - half))


def _find_worst_order(blocks: DayBlocks, rows: BlockRows) -> BlockRows:
    """Return the order with the lowest TC of many random orders."""
    rng = named_generator(blocks.scene.seed, "orders")
    orders = [
        rows[::-1],
        *([rows[n] for n in rng.permutation(len(rows))] for _ in range(TRIED_ORDERS)),
    ]
    return min(orders, key=blocks.tc)


def _forms_reason(main: str) -> str:
    return (
        f"{main.capitalize()} are heard in many variants, which gives some SD, but the day has "
        f"other sources, too. TC is moderate: in some hours, such as many hours of the night, "
        f"{main} are not the most present source."
    )


def _steady_reason(steady: str) -> str:
    return (
        f"Only {steady} is heard, so SD is low. TC is low, too: in most hours, {steady} is not "
        "the most present source."
    )


def _quiet_reason(steady: str) -> str:
    return (
        f"{steady.capitalize()} and the quiet background. Some listeners hear slightly more "
        "diversity, but quiet is not a source, so the true SD does not change. TC is higher than "
        f"with {steady} only, since many hours are closer to quiet."
    )


DIVERSE_REASON = (
    "SD is high: many of the sources of the day are heard. TC is not: many of them are rare and "
    "not the most present source of their hour."
)
COURSE_REASON = (
    "TC is high: the most present source of each hour is heard, in the order of the day. Hours in "
    "which the day changes get more picks than hours that are alike."
)
BALANCED_REASON = (
    "A compromise: the skim follows the day and, in each part of it, prefers a block with a source "
    "that has not been heard yet."
)
REORDERED_REASON = (
    "SD is the same as that of the previous skim, since the blocks are the same. TC is lower, "
    "because they are not in the order of the day."
)
