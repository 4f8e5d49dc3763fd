"""Where a second of sound may come from in a day of frames, by how its bands rise and fall.

Frames of 20 ms are averaged to 100 ms, and a probe is a second of them. The mean of each band is
taken out, so that neither level nor colour matters, and the probe is correlated with every second
of the recording. Frames of probe and recording do not start at the same samples, so a probe comes
in five shifts of 20 ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

HOP = 0.02  # seconds between frames
COARSE = 5  # frames that are averaged
LONG = 10  # averages of a probe
SECOND = COARSE * LONG  # frames of a probe
EVERY = 25  # frames between probes
FLAT = 20.0  # added to squared lengths: what hardly moves is like nothing
ROWS = 4_096  # seconds of the recording that are compared at once
KEPT = 3  # places of a probe
ABSENT = 255  # levels of a frame that is not there

Floats = NDArray[np.float32]
Frames = NDArray[np.uint8]
Pieces = Iterable[tuple[float, Frames]]  # when a piece of the recording starts, and its frames


class Place(NamedTuple):
    """Where a probe may come from: ``time`` of the recording is ``heard`` in the skim."""

    probe: int
    heard: float
    time: float
    score: float


def places(skim: Frames, pieces: Pieces) -> list[Place]:
    """For every probe of a skim the few likeliest places in a recording, in one pass over it."""
    if not probe_count(skim):
        return []
    probes, firsts = _probes(skim)
    best: list[tuple[NDArray[np.float64], Floats]] = []
    for start, frames in pieces:
        for at, windows in _windows(frames):
            scores = (windows @ probes.T).reshape(len(windows), -1, COARSE)
            rows = scores.max(axis=2).argmax(axis=0)
            own = scores[rows, np.arange(len(rows))]
            times = start + HOP * (at + COARSE * rows) - HOP * own.argmax(axis=1)
            best.append((times, own.max(axis=1)))
    return [
        Place(number, HOP * float(firsts[number]), float(time), float(score))
        for number in range(len(firsts))
        for time, score in _likeliest(best, number)
    ]


def turned_places(skim: Frames, pieces: Pieces, window: float) -> list[Place]:
    """The same for a skim that is played backwards; ``window`` are the seconds of a frame.

    What is heard a second after ``heard`` was recorded a second before ``time``.
    """
    found, last = [], probe_count(skim) - 1
    for one in places(skim[::-1], pieces):
        heard = HOP * (len(skim) - 1) - one.heard  # of the probe's last frame, which came first
        begin = heard - HOP * (SECOND - 1)
        probe = min(last, max(0, round(begin / HOP / EVERY)))
        found.append(Place(probe, begin, one.time + window + heard - begin, one.score))
    return found


def probe_count(skim: Frames) -> int:
    """How many seconds of a skim are looked for."""
    return max(0, (len(skim) - SECOND - COARSE) // EVERY + 1)


def _likeliest(
    best: list[tuple[NDArray[np.float64], Floats]], number: int
) -> Iterator[tuple[float, float]]:
    every = sorted(((times[number], scores[number]) for times, scores in best), key=lambda x: -x[1])
    yield from every[:KEPT]


def _probes(skim: Frames) -> tuple[Floats, NDArray[np.int64]]:
    """Rows of probes, five shifts of each one behind the other, and the frame where each starts."""
    firsts = EVERY * np.arange(probe_count(skim))
    starts = (firsts[:, None] + np.arange(COARSE)).ravel()
    whole = skim[starts[:, None] + np.arange(SECOND)].astype(np.float32)
    rows = whole.reshape(len(starts), LONG, COARSE, -1).mean(axis=2)
    return _unit(rows), firsts


def _windows(frames: Frames) -> Iterator[tuple[int, Floats]]:
    """Every second of a piece from 100 ms to 100 ms; absent ones are like nothing."""
    count = len(frames) // COARSE
    parts = frames[: count * COARSE].reshape(count, COARSE, -1)
    rows = parts.mean(axis=1, dtype=np.float32)
    gone = (parts == ABSENT).all(axis=2).any(axis=1)
    for at in range(0, count - LONG + 1, ROWS):
        own = rows[at : at + ROWS + LONG - 1]
        windows = _unit(np.lib.stride_tricks.sliding_window_view(own, LONG, 0).swapaxes(1, 2))
        bad = np.convolve(gone[at : at + len(own)], np.ones(LONG), "valid") > 0
        windows[bad] = 0
        yield at * COARSE, windows


def _unit(rows: Floats) -> Floats:
    """Seconds with the mean of each band taken out and length 1, flattened."""
    moved = (rows - rows.mean(axis=1, keepdims=True)).reshape(len(rows), -1)
    lengths = np.sqrt(np.square(moved).sum(axis=1, keepdims=True) + FLAT)
    return np.asarray(moved / lengths, np.float32)
