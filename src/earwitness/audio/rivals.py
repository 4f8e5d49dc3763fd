"""Places that a part of a skim may come from.

Recordings repeat themselves: a machine runs on, a jingle comes again, and made days are put
together from clips. So a part has rivals, places that are alike at a low rate; a second of each is
laid over the skim, sample by sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.beside import Beside, bright, reach_of
from earwitness.audio.fades import EQUAL_POWER
from earwitness.audio.runs import Run, Ways

WIDEST = 400  # rivals of a part of which a second is laid over the skim
MOST = 48  # of these, those that are heard whole
WORSE = 0.1  # of a part's power by which these explain less than the best, at most
NEAR = 8  # samples around an offset at a low rate in which the exact one is looked for
AGREED = 0.01  # by which gains of parts may differ from the common one
AGREEING = 0.7  # share of parts that must agree
CLOSE = 0.01  # of a part's power: places that explain so nearly as much as the best are alike
FAINT = 1e-12  # power
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Part:
    """Where a part is heard, in samples, and for how long it fades in and out over neighbours."""

    first: int
    last: int
    rise: int = 0
    fall: int = 0
    law: str = EQUAL_POWER

    @property
    def middle(self) -> int:
        """Where it is heard best."""
        return (self.first + self.last) // 2


class Laid(NamedTuple):
    """A place moved to where its samples are most alike, and how loud the skim is beside it."""

    run: Run
    gain: float

    def share(self, gain: float | None) -> float:
        """What it explains of the skim's power, with a common gain or with its own."""
        off = 0.0 if gain is None else 1 - gain / max(self.gain, FAINT)
        return self.run.score**2 * (1 - min(1.0, off**2))


def laid(beside: Beside, run: Run, middle: int) -> Laid:
    """A second of the skim laid over a place and a few samples beside it."""
    half = beside.rate // 2
    first, last = max(0, middle - half), min(len(beside), middle + half)
    before = 2 * reach_of(beside.rate)  # samples of which too little is known
    own = beside.bright[first + before : last]
    there = bright(beside.along(run, first - NEAR, last + NEAR), beside.rate)[before:]
    windows = np.lib.stride_tricks.sliding_window_view(there, len(own))
    products = np.array([float(np.dot(window, own)) for window in windows])
    powers = np.square(np.concatenate([[0.0], there]), dtype=np.float64).cumsum()
    powers = np.maximum(powers[len(own) :] - powers[: -len(own)], FAINT)
    alike = products / np.sqrt(powers * max(float(np.dot(own, own)), FAINT))
    best = int(alike.argmax())
    moved = NEAR - best if run.turned else best - NEAR
    found = replace(run, offset=run.offset + moved, score=float(alike[best]))
    return Laid(found, max(0.0, float(products[best] / powers[best])))


def rivals_of(ways: Ways, inside: NDArray[np.bool_]) -> list[int]:
    """Offsets that explain most of some probes, the best first."""
    shares = np.nansum(np.square(ways.scores[inside]), axis=0)
    order = np.argsort(-shares, kind="stable")[:WIDEST]
    return [int(n) for n in order if shares[n] > 0]


def common_gain(parts: Sequence[Sequence[Laid]]) -> float | None:
    """The gain with which most parts are explained as well as with gains of their own.

    A part that is in the recording once has one gain; one that is there often may have many. None
    if parts were made louder or softer each by itself.
    """
    fitting = [_fitting(part) for part in parts if part]
    if not fitting:
        return None
    tried = np.unique(np.concatenate(fitting))
    near = [np.abs(tried[:, None] - one).min(axis=1) for one in fitting]
    counts = np.sum([away <= AGREED for away in near], axis=0)
    if counts.max() < AGREEING * len(fitting):
        return None
    return float(np.exp(np.median(tried[counts == counts.max()])))


def _fitting(part: Sequence[Laid]) -> Floats:
    """Logarithms of the gains of places that explain a part nearly as well as the best."""
    shares = np.array([one.share(None) for one in part])
    gains = np.array([max(one.gain, FAINT) for one in part])
    return np.asarray(np.log(gains[shares >= shares.max() - CLOSE]))


def likeliest(part: Sequence[Laid], gain: float | None) -> list[Run]:
    """The places of a part that explain most, each once."""
    ordered = sorted(part, key=lambda one: -one.share(gain))
    least = ordered[0].share(gain) - WORSE
    kept = [one.run for one in ordered if one.share(gain) >= least]
    return list({(run.offset, run.turned): run for run in kept}.values())[:MOST]
