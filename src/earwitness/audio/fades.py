"""Pieces of sound laid one over the end of the other, and faded so that the power stays the same.

Where two pieces overlap, one fades out along a cosine and the other in along a sine. Sounds that
have nothing to do with each other add in power, and the squares of sine and cosine add to one, so
a skim is as loud in its fades as beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import UsageError

Samples = NDArray[Any]
Law = Callable[[NDArray[np.float64]], NDArray[np.float64]]
EQUAL_POWER = "equal power"
LAWS: Mapping[str, Law] = {  # how loud a sound is when so much of its rise is over
    EQUAL_POWER: lambda share: np.asarray(np.sin(np.pi / 2 * share)),
    "linear": lambda share: share,
    "raised cosine": lambda share: np.asarray(0.5 - 0.5 * np.cos(np.pi * share)),
}
EDGE = 0.01  # seconds in which sound comes and goes where nothing overlaps


def starts_of(lengths: Sequence[float], overlap: float) -> list[float]:
    """When each piece is first heard, if each lies over the end of the one before.

    >>> starts_of([8, 8, 8], 3)
    [0.0, 5.0, 10.0]
    """
    steps = (length - overlap for length in lengths[:-1])
    return [float(start) for start in accumulate(steps, initial=0.0)][: len(lengths)]


def render(pieces: Sequence[Samples], rate: int, overlap: float) -> Samples:
    """One sound of pieces: samples, or a column a channel, and as they are given.

    Pieces overlap by so many seconds. The first fades in and the last fades out in 10 ms, and so
    do all of them if nothing overlaps: there are no clicks. Pieces of mixed channels become mono.
    """
    if not pieces:
        raise UsageError("there is no sound to put together")
    columns = _alike(pieces)
    shared = round(overlap * rate)
    _refuse_short(columns, shared, rate)
    lengths = [len(piece) for piece in columns]
    starts = [round(start) for start in starts_of(lengths, shared)]
    whole = np.zeros((starts[-1] + lengths[-1], columns[0].shape[1]), np.float32)
    for number, (start, piece) in enumerate(zip(starts, columns, strict=True)):
        rise = shared if number else 0
        fall = shared if number + 1 < len(columns) else 0
        whole[start : start + len(piece)] += piece * gains(len(piece), rise, fall, rate)[:, None]
    return whole[:, 0] if all(piece.ndim == 1 for piece in pieces) else whole


def gains(
    frames: int, rise: int, fall: int, rate: int, law: str = EQUAL_POWER
) -> NDArray[np.float32]:
    """How loud each frame of a piece is; no rise and no fall mean those of 10 ms."""
    edge = min(round(EDGE * rate), frames // 2)
    rise, fall = rise or min(edge, frames - fall), fall or min(edge, frames - rise)
    made = np.ones(frames, np.float32)
    made[:rise] = _rising(rise, law)
    made[frames - fall :] *= _rising(fall, law)[::-1]
    return made


def _rising(frames: int, law: str) -> NDArray[np.float32]:
    """From silence to all of it; backwards it is what belongs to it: the cosine to the sine."""
    return np.asarray(LAWS[law]((np.arange(frames) + 0.5) / max(1, frames)), np.float32)


def _alike(pieces: Sequence[Samples]) -> list[Samples]:
    columns = [piece[:, None] if piece.ndim == 1 else piece for piece in pieces]
    if len({piece.shape[1] for piece in columns}) == 1:
        return columns
    return [piece.mean(axis=1, keepdims=True) for piece in columns]


def _refuse_short(pieces: Sequence[Samples], shared: int, rate: int) -> None:
    """Never do more than two sound at once."""
    if shared < 0:
        raise UsageError("overlap: must not be below 0")
    for number, piece in enumerate(pieces):
        fades = shared * ((number > 0) + (number + 1 < len(pieces)))
        if len(piece) < max(1, fades):
            raise UsageError(
                f"overlap: {shared / rate:g} s is too much for a piece of {len(piece) / rate:g} s"
                " — give at most half of a block"
            )
