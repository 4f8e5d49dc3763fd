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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.along import Along, Matched
from earwitness.audio.beside import Beside, Cut
from earwitness.audio.cutting import cut as cut_out
from earwitness.audio.likeness import Places, places, probes_of
from earwitness.audio.reading import read_blocks
from earwitness.audio.resampling import resampled
from earwitness.audio.runs import Ways, way_through, ways_of
from earwitness.audio.sections import sections_of, together
from earwitness.audio.thinning import REACH, Floats, Thin, factor_of, thinned, thinned_pieces
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
    sections = [sections_of(sound, recording.rate) for sound in sounds]
    pieces = [
        (sound[first:last], first)
        for sound, own in zip(sounds, sections, strict=True)
        for first, last in own
    ]
    known = search.known([sound for sound, _ in pieces])
    found = iter(
        [search.matched(*one, ahead) for one, (_, ahead) in zip(known, pieces, strict=True)]
    )
    return [together([next(found) for _ in own], own, recording.rate) for own in sections]


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


class _Again(NamedTuple):
    """Places of a sound with the recording's colour, of the sound turned, and of it inverted."""

    filtered: Places
    turned: Places
    inverted: Places


class _Search:
    """Skims are looked for in one recording."""

    def __init__(self, recording: Recording, source: Source) -> None:
        self._recording, self._source = recording, source
        self._factor = factor_of(recording.rate)
        self._length = round(PROBE * recording.rate / self._factor)
        self._every = self._length // 2

    def known(self, sounds: Sequence[Floats]) -> list[tuple[Floats, Ways]]:
        """Every sound with its offsets.

        Where something is not found, a sound may have been filtered, turned or inverted: it is
        looked for again in all these ways, and comes back with the sign that it has.
        """
        counts = [self._count(sound) for sound in sounds]
        forwards = self._places(sounds)
        found = [
            (sound, ways_of([one], None, count))
            for sound, one, count in zip(sounds, forwards, counts, strict=True)
        ]
        lost = [number for number, (_, ways) in enumerate(found) if _share_lost(ways) > LOST]
        for number, more in zip(lost, self._again([sounds[one] for one in lost]), strict=True):
            flipped = more.turned._replace(probes=counts[number] - 1 - more.turned.probes)
            ways = ways_of([forwards[number], more.filtered], flipped, counts[number])
            inverted = ways_of([more.inverted], None, counts[number])
            if _share_lost(inverted) < _share_lost(ways):
                found[number] = -sounds[number], inverted
            else:
                found[number] = sounds[number], ways
        return found

    def _again(self, sounds: Sequence[Floats]) -> list[_Again]:
        """Places of sounds whatever was done to them."""
        if not sounds:
            return []
        every = [*sounds, *(one[::-1] for one in sounds), *(-one for one in sounds)]
        found, count = self._places(every, own_colour=True), len(sounds)
        return [_Again(*found[number::count]) for number in range(count)]

    def matched(self, sound: Floats, ways: Ways, ahead: int) -> Matched:
        """The picks of a sound whose offsets are known, and before which some is in the skim."""
        firsts = self._every * np.arange(len(ways.scores))
        middles = self._factor * (firsts + (self._length + REACH) // 2)
        beside = Beside(sound, self._recording, self._source.cut)
        return Along(beside, ways, middles.tolist(), self._factor, ahead).matched()

    def _count(self, sound: Floats) -> int:
        """How many probes a skim has."""
        low = len(sound) // self._factor - REACH + 1
        return max(0, (low - self._length) // self._every + 1)

    def _places(self, sounds: Sequence[Floats], *, own_colour: bool = False) -> list[Places]:
        """Places of the probes of each sound, by their numbers in it."""
        low = [thinned(sound, self._factor) for sound in sounds]
        probes = [probes_of(one, self._length, self._every) for one in low]
        if not any(len(one.rows) for one in probes):
            pieces: Iterable[Thin] = ()
        else:
            pieces = thinned_pieces(self._source.pieces(), self._factor)
        found = places(probes, pieces, self._factor, own_colour=own_colour)
        return [
            one._replace(probes=own.firsts[one.probes] // self._every)
            for one, own in zip(found, probes, strict=True)
        ]


def _share_lost(ways: Ways) -> float:
    found = sum(last - first + 1 for _, first, last in way_through(ways))
    return 1 - found / max(1, len(ways.scores))
