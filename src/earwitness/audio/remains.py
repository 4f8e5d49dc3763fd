"""What parts leave of a skim, second by second: where there is sound that they do not explain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from earwitness.audio.beside import Beside, Samples, bright
from earwitness.audio.fades import gains
from earwitness.audio.rivals import Part
from earwitness.audio.runs import Run

STEP = 0.5  # seconds
MUCH = 0.5  # share of a step's power that is left where there is other sound
LONG = 2  # steps of other sound that are told
FAINT = 1e-10  # power of a sample below which nothing is heard


def remains(beside: Beside, parts: Sequence[Part], runs: Sequence[Run]) -> Samples:
    """The skim, bright, without what was recorded along its parts."""
    rest = beside.bright.astype(np.float64)
    for part, run in zip(parts, runs, strict=True):
        along = beside.along(run, part.first, part.last).astype(np.float64)
        faded = gains(len(along), part.rise, part.fall, beside.rate, part.law)
        made, alone = bright(faded * along, beside.rate), slice(part.rise, len(along) - part.fall)
        power = float(np.square(made[alone]).sum())
        own = beside.bright[part.first : part.last][alone]
        loud = float(own @ made[alone]) / power if power > 0 else 0.0
        rest[part.first : part.last] -= loud * made
    return rest


def other_sound(beside: Beside, rest: Samples) -> Iterator[tuple[int, int]]:
    """From where to where much of the skim is left."""
    step = round(STEP * beside.rate)
    count = len(rest) // step
    whole, left = (
        np.square(one[: count * step], dtype=np.float64).reshape(count, step).mean(axis=1)
        for one in (beside.bright, rest)
    )
    other = (left > MUCH * whole) & (whole > FAINT)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], other, [False]]).astype(np.int8)))
    for first, last in edges.reshape(-1, 2).tolist():
        if last - first >= LONG:
            yield first * step, last * step
