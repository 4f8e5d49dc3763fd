"""Skims given as sound, found in their recording by cross-correlation at a low rate.

A skim is cut into parts of half a block. Each part is laid along the whole recording: both are
decimated and whitened by one filter, and products are FFTs of overlapping blocks (overlap-save).
The product over the root of both energies is the likeness: 1 for the same sound, near 0 for any
other. Of each part the best places are kept, and parts whose places follow each other are one
pick. The recording is read once for all skims, and again for those of which something is missing:
it may be played backwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.signal import Floats, decimate, decimate_pieces, decimation_factor
from earwitness.recordings.cut import read_recording
from earwitness.recordings.types import Recording
from earwitness.skims.types import Pick, Skim

# --- Entry point ---------------------------------------------------------------------------------


MIN_SKIM_SECONDS = 2.1
MIN_PART_SECONDS, MAX_PART_SECONDS = 1.0, 4.0
MIN_LIKENESS = 0.45  # tones may reach 0.4 with others, and noise 0.2 somewhere in a day
SAME_LIKENESS_RATIO = 0.95  # to the best place, from which on another may be the right one
DISTINCT_PLACE_SECONDS = 0.25  # between two places of a part
OFFSET_TOLERANCE_SECONDS = 0.005  # between parts of one pick
SILENCE_LEVEL = 1e-5  # of full scale, root of the mean square
MIN_FREQUENCY_HZ = 50.0  # rumble below is alike everywhere
SPECTRUM_FLOOR = 1e-4  # of the highest power, so that empty bands are not raised
WHITENING_TAPS = 256
PLACES_PER_PART = 3  # two of a fade, and one that tells whether either comes again
PEAKS_PER_BLOCK = 4  # that are measured of each part
MAX_PEAK_LOSS = 0.8  # of a peak that lies between samples
PEAK_MARGIN, PEAK_STEPS = 8, 10  # samples beside a peak, and steps in a sample
PEAK_SAMPLES = 2 * PEAK_MARGIN + 1
LOW_RATES_HZ = (1_000, 2_000, 4_000, 8_000)  # of which the lowest that will do is taken
MIN_POWER_SHARE = 1e-3  # of a skim that is left at a low rate; less if rumble was filtered out
FFT_SECONDS = 65.536
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
    """A place of a part: its distance from the part, and its sound with half a part around it."""

    likeness: float
    offset: float
    sound: Floats


class _HeardPick(NamedTuple):
    """From where to where in the skim a pick is heard, and where it is from."""

    first: int
    last: int
    start: float
    doubtful: bool
    turned: bool = False


def locate_skims(
    sounds: Sequence[Floats], recording: Recording, *, block: float = 8.0
) -> list[LocatedSkim]:
    """Find skims of one channel and of the recording's rate; ``block`` are seconds of a pick."""
    factor = _choose_factor(sounds, recording.rate)
    rate = recording.rate / factor
    length = round(min(max(block / 2, MIN_PART_SECONDS), MAX_PART_SECONDS) * rate)
    skims = [decimate(sound, factor) for sound in sounds]
    picks_of_skims = _search(skims, recording, factor, length)
    lost = [
        n
        for n, picks in enumerate(picks_of_skims)
        if _find_holes(picks, len(skims[n]), length // 2)
    ]
    backwards = _search([skims[n][::-1] for n in lost], recording, factor, length)
    for n, reversed_picks in zip(lost, backwards, strict=True):
        size = len(skims[n])
        holes = _find_holes(picks_of_skims[n], size, length // 2)
        for pick in reversed_picks:
            first, last = size - pick.last, size - pick.first
            if any(hole[0] <= (first + last) / 2 <= hole[1] for hole in holes):
                picks_of_skims[n].append(pick._replace(first=first, last=last, turned=True))
    return [
        _describe(sorted(picks), len(skim), length // 2, rate)
        for picks, skim in zip(picks_of_skims, skims, strict=True)
    ]


def _choose_factor(sounds: Sequence[Floats], rate: int) -> int:
    """That of the lowest rate at which all skims keep enough of their power."""
    powers = [float(np.square(sound, dtype=np.float64).mean()) for sound in sounds if len(sound)]
    for low_rate in LOW_RATES_HZ:
        factor = decimation_factor(rate, low_rate)
        low = [np.square(decimate(sound, factor)) for sound in sounds if len(sound)]
        shares = [
            values.mean() >= MIN_POWER_SHARE * power
            for values, power in zip(low, powers, strict=True)
            if len(values)
        ]
        if all(shares):
            break
    return factor


def _search(
    skims: Sequence[Floats], recording: Recording, factor: int, length: int
) -> list[list[_HeardPick]]:
    """Picks of all skims, in one pass over the recording."""
    from scipy.fft import rfft

    rate = recording.rate / factor
    size = round(FFT_SECONDS * rate)
    searches = [_SkimSearch(skim, length, rate, size) for skim in skims]
    if any(len(search.firsts) for search in searches):
        for start, sound in _read_overlapping(recording, factor, size, 2 * length):
            spectrum = rfft(sound)
            for search in searches:
                search.compare_block(start, spectrum)
    return [search.collect_picks() for search in searches]


def _read_overlapping(
    recording: Recording, factor: int, size: int, overlap: int
) -> Iterator[tuple[float, Floats]]:
    """Starts and blocks of the recording at a low rate; zeros stand around sound without a gap."""
    chunks = read_recording(recording, size=READ_SECONDS)
    pieces = ((round(time * recording.rate), chunk.samples) for time, chunk in chunks)
    zeros, step = np.zeros(size, np.float32), size - overlap
    waiting, start, end = zeros[:0], 0.0, -1
    for piece_start, samples in decimate_pieces(pieces, factor):
        if piece_start != end:
            if len(waiting):
                yield start, np.concatenate([waiting, zeros])[:size]
            waiting, start = zeros[: overlap // 2], piece_start / factor - overlap // 2
        waiting, end = np.concatenate([waiting, samples]), piece_start + factor * len(samples)
        while len(waiting) >= size:
            yield start, waiting[:size]
            waiting, start = waiting[step:], start + step
    if len(waiting):
        yield start, np.concatenate([waiting, zeros])[:size]


# --- Search for one skim -------------------------------------------------------------------------


class _SkimSearch:
    """The parts of one skim, and their best places so far; all times are low samples."""

    def __init__(self, skim: Floats, length: int, rate: float, fft_samples: int) -> None:
        from scipy.fft import rfft
        from scipy.signal import oaconvolve

        self._length, self._reach, self._rate, self._size = length, length // 2, rate, len(skim)
        self._fft_samples = fft_samples
        skim = np.pad(skim, (0, max(0, length - len(skim))))
        taps = _make_whitening_taps(skim, rate)
        self._skim = np.pad(oaconvolve(skim, taps, "same"), self._reach)  # room at both ends
        firsts = np.array([*range(0, len(skim) - length, length), len(skim) - length])
        rows = np.stack([self._skim[first + self._reach :][:length] for first in firsts])
        levels = np.sqrt(np.square(rows).sum(axis=1))
        loud = np.median(np.abs(rows), axis=1) > SILENCE_LEVEL  # in most of a part
        self.firsts: list[int] = firsts[loud].tolist()
        self._spectra = np.conj(rfft(rows[loud] / levels[loud, None], fft_samples))
        self._filter = rfft(
            np.roll(np.pad(taps, (0, fft_samples - len(taps))), -((len(taps) - 1) // 2))
        )
        self._places: list[list[_Place]] = [[] for _ in self.firsts]

    def compare_block(self, start: float, spectrum: NDArray[np.complex64]) -> None:
        """Lay all parts along a block of the recording that begins at ``start``."""
        from scipy.fft import irfft

        spectrum = spectrum * self._filter
        sound = irfft(spectrum, self._fft_samples)
        sums = np.concatenate([[0.0], np.cumsum(np.square(sound, dtype=np.float64))])
        inside = slice(
            self._reach - PEAK_MARGIN, self._fft_samples - self._length - self._reach + PEAK_MARGIN
        )
        energy = (sums[self._length :] - sums[: -self._length])[inside]
        scale = 1 / np.sqrt(energy + self._length * SILENCE_LEVEL**2).astype(np.float32)
        apart = round(DISTINCT_PLACE_SECONDS * self._rate)
        for part, first in enumerate(self.firsts):
            products = irfft(spectrum * self._spectra[part], self._fft_samples)[inside] * scale
            likeness = np.abs(products)
            for _ in range(PEAKS_PER_BLOCK):
                peak = PEAK_MARGIN + int(likeness[PEAK_MARGIN:-PEAK_MARGIN].argmax())
                places = self._places[part]
                if places[2:] and likeness[peak] <= MAX_PEAK_LOSS * places[2].likeness:
                    break
                moved, height = _interpolate_peak(products[peak - PEAK_MARGIN :][:PEAK_SAMPLES])
                likeness[max(0, peak - apart) : peak + apart] = 0
                around = sound[peak + inside.start - self._reach :][
                    : self._length + 2 * self._reach
                ].copy()
                place = _Place(height, start + inside.start + peak + moved - first, around)
                ranked = sorted([place, *places], key=lambda place: -place.likeness)
                self._places[part] = [
                    place
                    for rank, place in enumerate(ranked)
                    if all(abs(place.offset - better.offset) >= apart for better in ranked[:rank])
                ][:PLACES_PER_PART]

    def collect_picks(self) -> list[_HeardPick]:
        """Parts in a row whose places agree are one pick, heard while it is half as alike."""
        groups: list[list[tuple[int, _Place, bool]]] = []
        for seed in self._find_seeds():
            for group in groups:
                part, place, _ = group[-1]
                if seed[0] <= part + 1 and self._agree(seed[1].offset, place.offset):
                    group.append(seed)
                    break
            else:
                groups.append([seed])
        picks = []
        for group in groups:
            first, _ = self._measure_extent(*group[0][:2])
            _, last = self._measure_extent(*group[-1][:2])
            doubtful = all(doubtful for _, _, doubtful in group)
            picks.append(_HeardPick(first, last, group[0][1].offset + first, doubtful))
        return [pick for pick in picks if not self._is_chance(pick, picks)]

    def _is_chance(self, pick: _HeardPick, picks: Sequence[_HeardPick]) -> bool:
        """Whether a pick is a moment of a fade that other picks explain, and is like elsewhere."""
        middle = (pick.first + pick.last) / 2
        others = (other for other in picks if other is not pick)
        return pick.last - pick.first < self._reach and any(
            other.first <= middle <= other.last for other in others
        )

    def _find_seeds(self) -> Iterator[tuple[int, _Place, bool]]:
        """Parts with their places, and whether these are doubtful.

        A part may lie over two picks, or their fade. With likenesses a and b to two places that
        are alike by r, the second adds (b - ra) / sqrt(1 - r²), by least squares; if that is
        enough, it is a place, too. If it adds nothing but is nearly as good, the recording repeats
        itself; then that place is taken which continues the part before.
        """
        before: list[float] = []
        for part, places in enumerate(self._places):
            kept: list[tuple[_Place, bool]] = []
            for place in places:
                alike = [self._compare(place, other) for other, _ in kept]
                twin = int(np.argmax(alike)) if alike else 0
                other, r = (kept[twin][0], alike[twin]) if alike else (place, 0.0)
                added = place.likeness - (r * other.likeness if alike else 0.0)
                if min(added / np.sqrt(max(1 - r**2, 0.05)), place.likeness) >= MIN_LIKENESS:
                    kept.append((place, False))
                elif alike and place.likeness >= SAME_LIKENESS_RATIO * other.likeness:
                    continues = any(self._agree(place.offset, offset) for offset in before)
                    kept[twin] = (place if continues else other, True)
            before = [place.offset for place, _ in kept]
            yield from ((part, *seed) for seed in kept)

    def _compare(self, place: _Place, other: _Place) -> float:
        """How alike the sound at two places is."""
        first, second = (x.sound[self._reach :][: self._length] for x in (place, other))
        energies = (first @ first) * (second @ second)
        return abs(float(first @ second)) / float(np.sqrt(energies) + 1e-20)

    def _agree(self, offset: float, other: float) -> bool:
        return abs(offset - other) <= OFFSET_TOLERANCE_SECONDS * self._rate

    def _measure_extent(self, part: int, place: _Place) -> tuple[int, int]:
        """From where to where in the skim a place is heard, around where it is most alike."""
        from scipy.ndimage import uniform_filter1d

        first = self.firsts[part]
        skim = self._skim[first : first + len(place.sound)]
        product, energy, other_energy = (
            uniform_filter1d(values, self._length // 4, mode="constant")
            for values in (skim * place.sound, np.square(skim), np.square(place.sound))
        )
        likeness = np.abs(product) / np.sqrt(energy * other_energy + 1e-20)
        best = self._reach + int(likeness[self._reach :][: self._length].argmax())
        unlike = np.flatnonzero(likeness < likeness[best] / 2)
        low = int(unlike[unlike < best].max(initial=-1)) + 1
        high = int(unlike[unlike > best].min(initial=len(likeness)))
        return max(0, first - self._reach + low), min(self._size, first - self._reach + high)


# --- Filters, peaks and notes --------------------------------------------------------------------


def _make_whitening_taps(skim: Floats, rate: float) -> Floats:
    """A filter of zero phase that flattens the mean spectrum of a skim and keeps its level."""
    from scipy.signal import welch

    frequencies, powers = welch(skim, rate, nperseg=WHITENING_TAPS)
    gains = 1 / np.sqrt(powers + SPECTRUM_FLOOR * powers.max() + 1e-20)
    gains[frequencies < MIN_FREQUENCY_HZ] = 0
    gains *= np.sqrt(powers.sum() / max(float(powers @ np.square(gains)), 1e-20))
    taps = np.roll(np.fft.irfft(gains), WHITENING_TAPS // 2) * np.hanning(WHITENING_TAPS)
    return np.asarray(taps, np.float32)


@lru_cache(1)
def _make_peak_table() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Steps around a sample, and a windowed sinc for each."""
    steps = np.arange(-PEAK_STEPS // 2, PEAK_STEPS // 2 + 1) / PEAK_STEPS
    away = np.arange(-PEAK_MARGIN, PEAK_MARGIN + 1)[:, None] - steps
    return steps, np.sinc(away) * np.cos(np.pi / 2 * away / (PEAK_MARGIN + 1)) ** 2


def _interpolate_peak(products: Floats) -> tuple[float, float]:
    """Where products around a peak are highest between samples, and how high."""
    steps, table = _make_peak_table()
    heights = np.abs(products @ table)
    best = int(heights.argmax())
    return float(steps[best]), min(1.0, float(heights[best]))


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
