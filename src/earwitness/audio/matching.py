"""Skims that are given as sound are found in their recording: which parts of them come from when.

Seconds of the skims are first looked for everywhere in the recording, at a low rate; all skims of a
recording in one pass over it. What runs along with it is then laid over its samples, exactly; and
where two parts meet, the fade between them tells when each begins and ends. Neither levels nor
lossy encoding matter much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.along import Along, Matched
from earwitness.audio.beside import Beside, Cut
from earwitness.audio.cutting import cut as cut_out
from earwitness.audio.likeness import Places, places, probes_of
from earwitness.audio.reading import read_blocks
from earwitness.audio.resampling import resampled
from earwitness.audio.runs import Ways, way_through, ways_of
from earwitness.audio.thinning import REACH, Floats, factor_of, thinned, thinned_pieces
from earwitness.data import Recording, Skim

Samples = NDArray[Any]
PROBE = 2.0  # seconds
LOST = 0.05  # of a skim that is not found before it is looked for backwards
PIECE = 120.0  # seconds that are read at once


@dataclass(frozen=True)
class Source:
    """What is asked of a recording.

    ``pieces`` gives all of its samples, one channel, each piece with its place, and ``cut`` so many
    seconds from a time on.
    """

    pieces: Callable[[], Iterable[tuple[int, Floats]]]
    cut: Cut


def find_picks(
    samples: Samples, rate: int, recording: Recording, *, source: Source | None = None
) -> Skim:
    """The picks of a skim that is given as sound; each has its ``confidence``, up to 1, as reason.

    Parts that are not in the recording are left out: ``match`` says which they are.
    """
    return match(samples, rate, recording, source=source).skim


def match(
    samples: Samples, rate: int, recording: Recording, *, source: Source | None = None
) -> Matched:
    """The same, with what was not found in words."""
    sound = one_channel(samples, rate, recording)
    [found] = match_all([sound], recording, source=source)
    return found


def one_channel(samples: Samples, rate: int, recording: Recording) -> Floats:
    """Sound of a skim as it is laid beside a recording: one channel, at its rate."""
    one = samples if samples.ndim == 1 else samples.mean(axis=1)
    return np.asarray(resampled(np.asarray(one, np.float32), rate, recording.rate))


def match_all(
    sounds: Sequence[Floats], recording: Recording, *, source: Source | None = None
) -> list[Matched]:
    """Many skims of a recording, which is read once for all of them, and of each one channel."""
    search = _Search(recording, source or source_of(recording))
    ways = search.ways(sounds)
    return [search.matched(*one) for one in zip(sounds, ways, strict=True)]


def source_of(recording: Recording) -> Source:
    """A recording as it is read from its files."""

    def pieces() -> Iterable[tuple[int, Floats]]:
        for one in recording.stretches:
            chunks = read_blocks(Path(one.path), at=one.at, seconds=one.seconds, size=PIECE)
            for chunk in chunks:
                start = one.start + chunk.position - one.at
                yield round(start * recording.rate), chunk.samples

    def cut(start: float, seconds: float) -> Samples:
        return np.asarray(cut_out(recording, start, seconds).mean(axis=1))

    return Source(pieces, cut)


class _Search:
    """Skims are looked for in one recording."""

    def __init__(self, recording: Recording, source: Source) -> None:
        self._recording, self._source = recording, source
        self._factor = factor_of(recording.rate)
        self._length = round(PROBE * recording.rate / self._factor)
        self._every = self._length // 2

    def ways(self, sounds: Sequence[Floats]) -> list[Ways]:
        """Offsets of every skim; backwards only for those of which something is not found."""
        counts = [self._count(sound) for sound in sounds]
        forwards = self._places(sounds)
        ways = [ways_of(one, None, count) for one, count in zip(forwards, counts, strict=True)]
        lost = [number for number, one in enumerate(ways) if _share_lost(one) > LOST]
        if lost:
            turned = self._places([sounds[number][::-1] for number in lost])
            for number, one in zip(lost, turned, strict=True):
                flipped = one._replace(probes=counts[number] - 1 - one.probes)
                ways[number] = ways_of(forwards[number], flipped, counts[number])
        return ways

    def matched(self, sound: Floats, ways: Ways) -> Matched:
        """The picks of a skim whose offsets are known."""
        firsts = self._every * np.arange(len(ways.scores))
        middles = self._factor * (firsts + (self._length + REACH) // 2)
        beside = Beside(sound, self._recording, self._source.cut)
        return Along(beside, ways, middles.tolist(), self._factor).matched()

    def _count(self, sound: Floats) -> int:
        """How many probes a skim has."""
        low = len(sound) // self._factor - REACH + 1
        return max(0, (low - self._length) // self._every + 1)

    def _places(self, sounds: Sequence[Floats]) -> list[Places]:
        """Places of the probes of each sound, by their numbers in it."""
        low = [thinned(sound, self._factor) for sound in sounds]
        probes = probes_of(low, self._length, self._every)
        pieces = thinned_pieces(self._source.pieces(), self._factor)
        found = places(probes, pieces, self._factor)
        split = [found.of(probes.owners == owner) for owner in range(len(sounds))]
        return [one._replace(probes=probes.firsts[one.probes] // self._every) for one in split]


def _share_lost(ways: Ways) -> float:
    found = sum(last - first + 1 for _, first, last in way_through(ways))
    return 1 - found / max(1, len(ways.scores))
