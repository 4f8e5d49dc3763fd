"""Skims given as sound, found in their recording by cross-correlation at a low rate.

A skim is cut into parts of half a block. Each part is laid along the whole recording: both are
decimated and whitened by one filter, and products are FFTs of overlapping blocks (overlap-save).
The product over the root of both energies is the likeness: 1 for the same sound, near 0 for any
other. Of each part the two best places are kept, and parts whose places follow each other are one
pick. The recording is read once for all skims, and again for those of which something is missing:
it may be played backwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.signal import Floats, factor_of, thinned, thinned_pieces
from earwitness.recordings.cut import sound_of
from earwitness.recordings.types import Recording
from earwitness.skims.types import Pick, Skim

MIN_SKIM_SECONDS = 2.1
MIN_PART_SECONDS, MAX_PART_SECONDS = 1.0, 4.0
MIN_LIKENESS = 0.3  # other sound reaches 0.2 by chance somewhere in a day
SAME_LIKENESS_RATIO = 0.95  # to the best place, from which on another may be the right one
DISTINCT_PLACE_SECONDS = 0.25  # between two places of a part
OFFSET_TOLERANCE_SECONDS = 0.005  # between parts of one pick
SILENCE_LEVEL = 1e-5  # of full scale, root of the mean square
MIN_FREQUENCY_HZ = 50.0  # rumble below is alike everywhere
SPECTRUM_FLOOR = 1e-4  # of the highest power, so that empty bands are not raised
WHITENING_TAPS = 256
FFT_SAMPLES = 1 << 16
READ_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class LocatedSkim:
    """Picks in the order in which they are heard, and from when on each is, in seconds.

    ``doubtful`` are the numbers of picks that may come from elsewhere.
    """

    skim: Skim
    heard: tuple[float, ...] = ()
    doubtful: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


class _Place(NamedTuple):
    """A place of a part in the recording, and the sound from half a part before to behind it."""

    likeness: float
    start: float
    sound: Floats


class _Seed(NamedTuple):
    """A part at a place that is told from others, or not; ``offset`` is their distance."""

    part: int
    place: _Place
    offset: float
    doubtful: bool


class _HeardPick(NamedTuple):
    """From where to where in the skim a pick is heard, and its start in the recording."""

    first: int
    last: int
    start: float
    doubtful: bool
    turned: bool = False


def locate_skims(
    sounds: Sequence[Floats], recording: Recording, *, block: float = 8.0
) -> list[LocatedSkim]:
    """Find skims of one channel and of the recording's rate; ``block`` are seconds of a pick."""
    factor = factor_of(recording.rate)
    rate = recording.rate / factor
    length = round(min(max(block / 2, MIN_PART_SECONDS), MAX_PART_SECONDS) * rate)
    skims = [thinned(sound, factor) for sound in sounds]
    found = _search(skims, recording, length)
    lost = [n for n, picks in enumerate(found) if _find_holes(picks, len(skims[n]), length // 2)]
    backwards = _search([skims[n][::-1] for n in lost], recording, length)
    for n, reversed_picks in zip(lost, backwards, strict=True):
        size = len(skims[n])
        holes = _find_holes(found[n], size, length // 2)
        for pick in reversed_picks:
            first, last = size - pick.last, size - pick.first
            if any(hole[0] <= (first + last) / 2 <= hole[1] for hole in holes):
                found[n].append(pick._replace(first=first, last=last, turned=True))
    return [
        _describe(sorted(picks), len(skim), length // 2, rate)
        for picks, skim in zip(found, skims, strict=True)
    ]


def _search(skims: Sequence[Floats], recording: Recording, length: int) -> list[list[_HeardPick]]:
    """Picks of all skims, in one pass over the recording."""
    from scipy.fft import rfft

    factor = factor_of(recording.rate)
    searches = [_SkimSearch(skim, length, recording.rate / factor) for skim in skims]
    if any(len(search.firsts) for search in searches):
        for start, sound in _read_overlapping(recording, factor, 2 * length):
            spectrum = rfft(sound)
            for search in searches:
                search.compare_block(start, spectrum)
    return [search.collect_picks() for search in searches]


def _read_overlapping(
    recording: Recording, factor: int, overlap: int
) -> Iterator[tuple[float, Floats]]:
    """Starts and blocks of the recording at a low rate; zeros stand around sound without a gap."""
    chunks = sound_of(recording, size=READ_SECONDS)
    pieces = ((round(time * recording.rate), chunk.samples) for time, chunk in chunks)
    zeros, step = np.zeros(FFT_SAMPLES, np.float32), FFT_SAMPLES - overlap
    waiting, start, end = zeros[:0], 0.0, -1
    for piece_start, samples in thinned_pieces(pieces, factor):
        if piece_start != end:
            if len(waiting):
                yield start, np.concatenate([waiting, zeros])[:FFT_SAMPLES]
            waiting, start = zeros[: overlap // 2], piece_start / factor - overlap // 2
        waiting, end = np.concatenate([waiting, samples]), piece_start + factor * len(samples)
        while len(waiting) >= FFT_SAMPLES:
            yield start, waiting[:FFT_SAMPLES]
            waiting, start = waiting[step:], start + step
    if len(waiting):
        yield start, np.concatenate([waiting, zeros])[:FFT_SAMPLES]


class _SkimSearch:
    """The parts of one skim, and their two best places so far; all times are low samples."""

    def __init__(self, skim: Floats, length: int, rate: float) -> None:
        from scipy.fft import rfft
        from scipy.signal import oaconvolve

        self._length, self._reach, self._rate, self._size = length, length // 2, rate, len(skim)
        skim = np.pad(skim, (0, max(0, length - len(skim))))
        taps = _make_whitening_taps(skim, rate)
        self._skim = np.pad(oaconvolve(skim, taps, "same"), self._reach)  # room at both ends
        firsts = np.array([*range(0, len(skim) - length, length), len(skim) - length])
        rows = np.stack([self._skim[first + self._reach :][:length] for first in firsts])
        levels = np.sqrt(np.square(rows).sum(axis=1))
        loud = levels > SILENCE_LEVEL * np.sqrt(length)
        self.firsts = firsts[loud].tolist()
        self._spectra = np.conj(rfft(rows[loud] / levels[loud, None], FFT_SAMPLES))
        self._filter = rfft(np.roll(np.pad(taps, (0, FFT_SAMPLES - len(taps))), -len(taps) // 2))
        self._places: list[list[_Place]] = [[] for _ in self.firsts]

    def compare_block(self, start: float, spectrum: NDArray[np.complex64]) -> None:
        """Lay all parts along a block of the recording that begins at ``start``."""
        from scipy.fft import irfft

        spectrum = spectrum * self._filter
        sound = irfft(spectrum)
        sums = np.concatenate([[0.0], np.cumsum(np.square(sound, dtype=np.float64))])
        inside = slice(self._reach, FFT_SAMPLES - self._length - self._reach + 1)
        energy = (sums[self._length :] - sums[: -self._length])[inside]
        scale = 1 / np.sqrt(energy + self._length * SILENCE_LEVEL**2).astype(np.float32)
        for places, part in zip(self._places, self._spectra, strict=True):
            likeness = np.abs(irfft(spectrum * part)[inside]) * scale
            for _ in range(2):
                peak = 1 + int(likeness[1:-1].argmax())
                if len(places) == 2 and likeness[peak] <= places[1].likeness:
                    break
                self._keep_place(places, likeness, peak, start, sound)

    def _keep_place(
        self, places: list[_Place], likeness: Floats, peak: int, start: float, sound: Floats
    ) -> None:
        """Take a peak, between samples (parabola), among two places; blank it out."""
        before, middle, behind = likeness[peak - 1 : peak + 2].tolist()
        bend = min(before + behind - 2 * middle, -1e-9)
        moved = min(max((before - behind) / (2 * bend), -0.5), 0.5)
        height = min(1.0, middle + moved * (behind - before) / 4)
        around = sound[peak : peak + self._length + 2 * self._reach].copy()
        place = _Place(height, start + self._reach + peak + moved, around)
        apart = round(DISTINCT_PLACE_SECONDS * self._rate)
        likeness[max(0, peak - apart) : peak + apart] = 0
        near = [n for n, other in enumerate(places) if abs(other.start - place.start) < apart]
        if not near:
            places.append(place)
        elif places[near[0]].likeness < height:
            places[near[0]] = place
        places.sort(key=lambda place: -place.likeness)
        del places[2:]

    def collect_picks(self) -> list[_HeardPick]:
        """Parts in a row at the same distance from their places are one pick.

        It is heard from the first to the last of them, as far as it is at least half as alike.
        """
        groups: list[list[_Seed]] = []
        for seed in self._find_seeds():
            for group in groups:
                if seed.part <= group[-1].part + 1 and self._agree(seed.offset, group[-1].offset):
                    group.append(seed)
                    break
            else:
                groups.append([seed])
        picks = []
        for group in groups:
            (first, _), (_, last) = self._measure_extent(group[0]), self._measure_extent(group[-1])
            doubtful = all(seed.doubtful for seed in group)
            picks.append(_HeardPick(first, last, group[0].offset + first, doubtful))
        return picks

    def _find_seeds(self) -> Iterator[_Seed]:
        """The best place of each part, and the second where it explains what the best leaves.

        A part may lie over two picks, or their fade. With likenesses a and b to two places that
        are alike by r, the second adds (b - ra) / sqrt(1 - r²), by least squares. If it adds
        nothing and is nearly as good, the recording repeats itself; then that place is taken which
        continues the part before.
        """
        offset = np.inf
        for part, (first, places) in enumerate(zip(self.firsts, self._places, strict=True)):
            if not places or places[0].likeness < MIN_LIKENESS:
                continue
            best, second = places[0], places[-1]
            both = np.stack([place.sound[self._reach :][: self._length] for place in places])
            alike = min(abs(float(np.corrcoef(both)[0, -1])), 1 - 1e-6) if len(places) > 1 else 0.0
            added = (second.likeness - alike * best.likeness) / np.sqrt(1 - alike**2)
            separate = len(places) > 1 and min(added, second.likeness) >= MIN_LIKENESS
            near = len(places) > 1 and second.likeness >= SAME_LIKENESS_RATIO * best.likeness
            doubtful = near and not separate
            if doubtful and self._agree(second.start - first, offset):
                best = second
            offset = best.start - first
            yield _Seed(part, best, offset, doubtful)
            if separate:
                yield _Seed(part, second, second.start - first, doubtful=False)

    def _agree(self, offset: float, other: float) -> bool:
        return abs(offset - other) <= OFFSET_TOLERANCE_SECONDS * self._rate

    def _measure_extent(self, seed: _Seed) -> tuple[int, int]:
        """From where to where in the skim a place is heard, around where it is most alike."""
        from scipy.ndimage import uniform_filter1d

        first, there = self.firsts[seed.part], seed.place.sound
        skim = self._skim[first : first + len(there)]
        product, energy, other_energy = (
            uniform_filter1d(values, self._length // 4, mode="constant")
            for values in (skim * there, np.square(skim), np.square(there))
        )
        likeness = np.abs(product) / np.sqrt(energy * other_energy + 1e-20)
        best = self._reach + int(likeness[self._reach :][: self._length].argmax())
        unlike = np.flatnonzero(likeness < likeness[best] / 2)
        low = int(unlike[unlike < best].max(initial=-1)) + 1
        high = int(unlike[unlike > best].min(initial=len(likeness)))
        return max(0, first - self._reach + low), min(self._size, first - self._reach + high)


def _make_whitening_taps(skim: Floats, rate: float) -> Floats:
    """A filter of zero phase that flattens the mean spectrum of a skim and keeps its level."""
    from scipy.signal import welch

    frequencies, powers = welch(skim, rate, nperseg=WHITENING_TAPS)
    gains = 1 / np.sqrt(powers + SPECTRUM_FLOOR * powers.max() + 1e-20)
    gains[frequencies < MIN_FREQUENCY_HZ] = 0
    gains *= np.sqrt(powers.sum() / max(float(powers @ np.square(gains)), 1e-20))
    taps = np.roll(np.fft.irfft(gains), WHITENING_TAPS // 2) * np.hanning(WHITENING_TAPS)
    return np.asarray(taps, np.float32)


def _find_holes(picks: Sequence[_HeardPick], size: int, shortest: int) -> list[tuple[int, int]]:
    """From where to where nothing of a skim was found, if that is longer than ``shortest``."""
    holes, end = [], 0
    for first, last in [*sorted((pick.first, pick.last) for pick in picks), (size, size)]:
        if first - end > shortest:
            holes.append((end, first))
        end = max(end, last)
    return holes


def _describe(
    picks: Sequence[_HeardPick], size: int, shortest_hole: int, rate: float
) -> LocatedSkim:
    """Picks in seconds, with notes about what was not found or is doubtful."""
    notes = [
        f"from {first / rate:.0f} to {last / rate:.0f} s of it, nothing was found"
        for first, last in _find_holes(picks, size, shortest_hole)
    ]
    doubtful = tuple(number for number, pick in enumerate(picks) if pick.doubtful)
    if doubtful:
        starts = ", ".join(f"{picks[number].first / rate:.0f}" for number in doubtful)
        sounds, they = ("sounds", "it") if len(doubtful) == 1 else ("sound", "they")
        notes.append(
            f"{len(doubtful)} of its {len(picks)} parts (from {starts} s on) {sounds} the same at"
            f" other times of the recording; {they} may come from there"
        )
    times = [
        (max(0.0, round(pick.start / rate, 3)), round((pick.last - pick.first) / rate, 3))
        for pick in picks
    ]
    skim = Skim(tuple(Pick(*time, pick.turned) for time, pick in zip(times, picks, strict=True)))
    heard = tuple(round(pick.first / rate, 3) for pick in picks)
    return LocatedSkim(skim, heard, doubtful, tuple(notes))
