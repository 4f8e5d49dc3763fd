"""How far measures move if log-mel bytes or picks move by the smallest step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from earwitness.audio.logmel import ABSENT_BYTE, Bytes, log_mel
from earwitness.models.base import BlockPlace, FrameBlocks
from earwitness.models.codebook import Codebook
from earwitness.models.frames import FrameFile
from earwitness.skims.day import Day, hear_picks
from earwitness.skims.measures import DayMeasures
from helpers.tones import RATE, sound

Picks = list[tuple[float, float]]
BLOCKS, BLOCK, PERIOD = 50, 8.0, 60.0
MEASURES: dict[str, Callable[..., float]] = {
    "TC": DayMeasures.tc,
    "SD": DayMeasures.sd,
    "coverage": DayMeasures.coverage,
    "msIoU": DayMeasures.agreement,
}


def embed_day(frames: Bytes) -> Day:
    """The blocks of frames."""
    starts, rows = np.arange(BLOCKS) * BLOCK, round(BLOCK * 50)
    places = tuple(BlockPlace(start, "x", start) for start in starts.tolist())
    found = Codebook().embed(FrameBlocks(places, rows, {"x": FrameFile((frames,))}))
    return Day.of(starts, BLOCK, found.vectors, found.classes)


def measure(day: Day, skims: list[Picks]) -> np.ndarray:
    """All measures (column) of skims (row)."""
    measures = DayMeasures(day, PERIOD)
    return np.array(
        [[one(measures, hear_picks(day, picks)) for one in MEASURES.values()] for picks in skims]
    )


def move_bytes(frames: Bytes, share: float, seed: int) -> Bytes:
    """Move a share of all bytes up or down by one unit."""
    rng = np.random.default_rng(seed)
    steps = (rng.random(frames.shape) < share) * rng.choice([-1, 1], frames.shape)
    return np.asarray(np.clip(frames + steps, 0, ABSENT_BYTE - 1), np.uint8)


# largest change by one unit in 1 of 10,000 bytes, by one unit in all bytes, and by a shift of the
# picks by 0.1 s, as docs/skims.md states them
STATED = {
    "TC": (0.02, 0.1, 0.03),
    "SD": (0.005, 0.3, 0.01),
    "coverage": (0.002, 0.2, 0.01),
    "msIoU": (0.01, 0.3, 0.02),
}


def test_measures_move_no_farther_than_stated_if_bytes_or_picks_move() -> None:
    frames = log_mel(sound(BLOCKS * BLOCK), RATE)
    day, rng = embed_day(frames), np.random.default_rng(0)
    ends = (BLOCKS - 2) * BLOCK
    skims = [
        [(float(start), BLOCK) for start in np.sort(rng.uniform(0, ends, count))]
        for count in (3, 6, 12)
        for _ in range(4)
    ]
    later = [[(start + 0.1, seconds) for start, seconds in picks] for picks in skims]
    values = measure(day, skims)
    others = [
        [measure(embed_day(move_bytes(frames, share, seed)), skims) for seed in range(2)]
        for share in (1e-4, 1.0)
    ]
    others.append([measure(day, later)])
    moved = np.array([abs(np.array(other) - values).max(axis=(0, 1)) for other in others]).T
    stated = np.array(list(STATED.values()))
    assert (moved <= stated).all(), moved
    assert (moved >= stated / 20).all(), moved  # what is stated says something


@pytest.mark.parametrize("name", STATED)
def test_the_manual_states_how_far_measures_move(name: str) -> None:
    row = f"| {name} | {' | '.join(f'{one:g}'.removeprefix('0') for one in STATED[name])} |"
    assert row in (Path(__file__).parents[2] / "docs" / "skims.md").read_text()
