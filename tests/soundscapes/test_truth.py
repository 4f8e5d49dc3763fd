"""The truth about days: presence, true SD and true TC, by hand and by brute force."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pytest

from earwitness.skims.types import Pick
from earwitness.soundscapes.scene import SoundEvent
from earwitness.soundscapes.truth import Truth, least_mean_path_cost
from helpers.random_scenes import make_random_day
from helpers.samples import many

Cell = tuple[int, int]
DAY = (  # four hours of ten seconds
    SoundEvent(0, 10, "wind"),
    SoundEvent(10, 15, "bird"),
    SoundEvent(12, 20, "car"),
    SoundEvent(25, 29.5, "dog"),  # for less than five seconds: none of the day's sources
    SoundEvent(35, 40, "bird"),
)


def true_sd(events: Iterable[SoundEvent], picks: Sequence[Pick], seconds: float) -> float:
    return Truth(events, seconds).sd(picks)


def true_tc(
    events: Iterable[SoundEvent], picks: Sequence[Pick], seconds: float, hour: float
) -> float:
    return Truth(events, seconds).tc(picks, hour)


def paths(rows: int, columns: int, row: int = 0, column: int = 0) -> Iterator[list[Cell]]:
    """All ways from a cell to the last one, by a step down, right or both."""
    if (row, column) == (rows - 1, columns - 1):
        yield [(row, column)]
        return
    for down, right in ((1, 0), (0, 1), (1, 1)):
        if row + down < rows and column + right < columns:
            for rest in paths(rows, columns, row + down, column + right):
                yield [(row, column), *rest]


def plain_presence(
    events: tuple[SoundEvent, ...], start: float, end: float, step: float
) -> list[float]:
    """Presence by looking every step; events and ends must lie on the grid of steps."""
    names = sorted({one.source for one in events})
    whole = {n: sum(e.end - e.start for e in events if e.source == n) for n in names}
    counted = [name for name in names if whole[name] >= 5]
    seen = dict.fromkeys([*counted, ""], 0)
    for time in np.arange(start + step / 2, end, step):
        sounding = {one.source for one in events if one.start <= time < one.end}
        for name in sounding & set(counted):
            seen[name] += 1
        seen[""] += not sounding
    total = sum(seen.values())
    return [n / total for n in seen.values()] if total else [0.0] * len(counted) + [1.0]


def test_presence_is_counted_by_hand() -> None:
    truth = Truth(DAY, 40)
    assert truth.names == truth.sources == ("bird", "car", "wind", "background")
    hours = truth.presence([0, 10, 20, 30], [10, 20, 30, 40])
    # second hour: bird 5 s, car 8 s, together 13; third: the dog does not count, the rest 5.5 s
    assert hours == pytest.approx(
        np.array([[0, 0, 1, 0], [5 / 13, 8 / 13, 0, 0], [0, 0, 0, 1], [0.5, 0, 0, 0.5]])
    )


def test_presence_is_that_of_looking_again_and_again() -> None:
    rng = random.Random(1)
    for _ in range(many(20, 300)):
        grid = [
            (s := rng.randrange(100), s + rng.randrange(1, 30), rng.choice("abc"))
            for _ in range(rng.randrange(1, 9))
        ]
        merged = _apart(grid)
        ends = [(s := rng.randrange(100), s + rng.randrange(1, 40)) for _ in range(4)]
        found = Truth(merged, 140).presence(*zip(*ends, strict=True))
        expected = [plain_presence(merged, *end, 0.5) for end in ends]
        assert found == pytest.approx(np.array(expected))


def _apart(grid: list[tuple[int, int, str]]) -> tuple[SoundEvent, ...]:
    """Events whose own do not overlap."""
    kept: list[SoundEvent] = []
    for start, end, source in grid:
        if all(e.source != source or end <= e.start or e.end <= start for e in kept):
            kept.append(SoundEvent(start, end, source))
    return tuple(kept)


def test_true_sd_is_the_share_of_sources_heard_for_a_second() -> None:
    # bird, car, wind and 10.5 s of background; the dog is too short
    assert true_sd(DAY, [Pick(0, 2)], 40) == pytest.approx(1 / 4)
    assert true_sd(DAY, [Pick(9, 4)], 40) == pytest.approx(3 / 4)  # wind 1 s, bird 3 s, car 1 s
    assert true_sd(DAY, [Pick(11.2, 1.7)], 40) == pytest.approx(1 / 4)  # the car for 0.9 s only
    assert true_sd(DAY, [Pick(25, 4)], 40) == 0
    # half a second twice is a second
    assert true_sd(DAY, [Pick(0, 0.5), Pick(5, 0.5)], 40) == pytest.approx(1 / 4)
    assert true_sd(DAY, [], 40) == 0
    assert np.isnan(true_sd((), [Pick(0, 2)], 0))


def test_the_background_is_a_source_where_nothing_sounds_for_five_seconds() -> None:
    assert true_sd(DAY, [Pick(20, 8)], 40) == pytest.approx(1 / 4)  # 5 s of background, dog
    assert true_sd(DAY, [Pick(24, 5.4)], 40) == pytest.approx(1 / 4)  # 1 s of background, dog
    assert true_sd(DAY, [Pick(24.1, 5.4)], 40) == 0  # 0.9 s of background, dog
    assert Truth(DAY, 40).heard([Pick(8, 3), Pick(20, 2)]) == ("bird", "wind", "background")
    # without the spans of background, 4.9 s are left at the end: not a source of the day
    filled = (*DAY, SoundEvent(20, 35, "car"))
    assert Truth(filled, 44.9).sources == ("bird", "car", "wind")
    assert true_sd(filled, [Pick(40, 4), Pick(0, 2)], 44.9) == pytest.approx(1 / 3)
    assert Truth(filled, 45).sources == ("bird", "car", "wind", "background")
    # a day on which nothing sounds has the background as its only source
    assert true_sd((), [Pick(0, 2)], 60) == 1


def test_true_tc_of_a_skim_that_has_every_hour_in_order_is_one() -> None:
    day = tuple(SoundEvent(10 * n, 10 * n + 10, name) for n, name in enumerate("abcd"))
    picks = [Pick(10 * n + 1, 2) for n in range(4)]
    assert true_tc(day, picks, 40, 10) == pytest.approx(1)
    # back to front: cells on the way all cost one but the one in which both meet
    assert true_tc(day, picks[::-1], 40, 10) < 0.4
    # one pick: one hour of four is right
    assert true_tc(day, picks[:1], 40, 10) == pytest.approx(0.25)
    assert np.isnan(true_tc(day, [], 40, 10))


def test_the_best_alignment_is_that_of_trying_all() -> None:
    rng = np.random.default_rng(2)
    for _ in range(many(30, 300)):
        rows, columns = (int(n) for n in rng.integers(1, 6, 2))
        costs = np.round(rng.random((rows, columns)), int(rng.integers(0, 3)))
        means = [np.mean([costs[cell] for cell in path]) for path in paths(rows, columns)]
        assert least_mean_path_cost(costs) == pytest.approx(min(means))


def test_order_changes_true_tc_and_leaves_true_sd() -> None:
    scene = make_random_day(0, 3, hour=60)
    truth = Truth(scene.events, scene.seconds)
    picks = [Pick(scene.seconds * n / 12 + 20, 8) for n in range(12)]
    other = [picks[n] for n in np.random.default_rng(0).permutation(12)]
    assert truth.sd(picks) == truth.sd(other)
    ordered, shuffled = (truth.tc(one, scene.hour) for one in (picks, other))
    assert shuffled < ordered
