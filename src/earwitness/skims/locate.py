"""Location of audio skims in their recording by cross-correlation at a low sample rate.

A skim is cut into parts of half a block. Each part is compared with the whole recording: both are
decimated and whitened by the same filter, and cross-correlated by FFT (overlap-save). The
correlation, normalized by both energies, is the similarity: 1 for the same sound, near 0 for
other sound. The best positions of each part are kept, and parts at consecutive positions form one
pick. The recording is read once for all skims, and once more for skims that were not found
completely, since picks may be played backwards.
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
MIN_LIKENESS = 0.45  # unrelated tones reach 0.4, and noise 0.2, somewhere in a day
SAME_LIKENESS_RATIO = 0.95  # of the best: another position may then be the right one
DISTINCT_PLACE_SECONDS = 0.25  # between two positions of a part
OFFSET_TOLERANCE_SECONDS = 0.005  # between parts of the same pick
SILENCE_LEVEL = 1e-5  # RMS, relative to full scale
MIN_FREQUENCY_HZ = 50.0  # rumble below this is similar everywhere
SPECTRUM_FLOOR = 1e-4  # of the highest power; avoids amplifying empty bands
WHITENING_TAPS = 256
PLACES_PER_PART = 3  # two in a fade, and one to detect repetition
PEAKS_PER_BLOCK = 4  # peaks measured per part
MAX_PEAK_LOSS = 0.8  # largest loss at a peak between samples
PEAK_MARGIN, PEAK_STEPS = 8, 10  # samples around a peak, and steps per sample
PEAK_SAMPLES = 2 * PEAK_MARGIN + 1
LOW_RATES_HZ = (1_000, 2_000, 4_000, 8_000)  # the lowest sufficient rate is used
MIN_POWER_SHARE = 1e-3  # power share a skim must keep at a low rate
FFT_SECONDS = 65.536
READ_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class LocatedSkim:
    """Picks in playing order, and the time in the skim at which each starts, in seconds.

    ``doubtful`` has the indices of picks that may come from another time of the recording.
    """

    skim: Skim
    heard: tuple[float, ...] = ()
    doubtful: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


class _Place(NamedTuple):
    """A candidate position of a part: similarity, offset, and the audio around it."""

    likeness: float
    offset: float
    sound: Floats


class _HeardPick(NamedTuple):
    """The extent of a pick in the skim, and its start in the recording (in low-rate samples)."""

    first: int
    last: int
    start: float
    doubtful: bool
    turned: bool = False


def locate_skims(
    sounds: Sequence[Floats], recording: Recording, *, block: float = 8.0
) -> list[LocatedSkim]:
    """Locate skims in their recording.

    Parameters
    ----------
    sounds
        Skims, each with one channel and the sample rate of the recording.
    recording
        The recording to search.
    block
        Length of the skims' picks in seconds.

    Returns
    -------
    list of LocatedSkim
        One per skim, with notes on parts that were not found or are ambiguous.
    """
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
    """Return the decimation factor of the lowest rate at which all skims keep enough power."""
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
    """Return the picks of all skims, found in one pass over the recording."""
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
    """Yield overlapping low-rate blocks with their starts; gapless passages are zero-padded."""
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
    """Search for one skim: its parts and their best positions so far, in low-rate samples."""

    def __init__(self, skim: Floats, length: int, rate: float, fft_samples: int) -> None:
        from scipy.fft import rfft
        from scipy.signal import oaconvolve

        self._length, self._reach, self._rate, self._size = length, length // 2, rate, len(skim)
        self._fft_samples = fft_samples
        skim = np.pad(skim, (0, max(0, length - len(skim))))
        taps = _make_whitening_taps(skim, rate)
        self._skim = np.pad(oaconvolve(skim, taps, "same"), self._reach)  # padding at both ends
        firsts = np.array([*range(0, len(skim) - length, length), len(skim) - length])
        rows = np.stack([self._skim[first + self._reach :][:length] for first in firsts])
        levels = np.sqrt(np.square(rows).sum(axis=1))
        loud = np.median(np.abs(rows), axis=1) > SILENCE_LEVEL  # in at least half of a part
        self.firsts: list[int] = firsts[loud].tolist()
        self._spectra = np.conj(rfft(rows[loud] / levels[loud, None], fft_samples))
        self._filter = rfft(
            np.roll(np.pad(taps, (0, fft_samples - len(taps))), -((len(taps) - 1) // 2))
        )
        self._places: list[list[_Place]] = [[] for _ in self.firsts]

    def compare_block(self, start: float, spectrum: NDArray[np.complex64]) -> None:
        """Compare all parts with a block of the recording that starts at ``start``."""
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
        """Return picks: consecutive parts at matching positions, extended to half similarity."""
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
        """Whether a pick is a chance match inside a fade that other picks already explain."""
        middle = (pick.first + pick.last) / 2
        others = (other for other in picks if other is not pick)
        return pick.last - pick.first < self._reach and any(
            other.first <= middle <= other.last for other in others
        )

    def _find_seeds(self) -> Iterator[tuple[int, _Place, bool]]:
        """Yield parts with their positions, and whether these are doubtful.

        A part may span two picks or their fade. If its similarities to two positions are a and b,
        and the two positions have a similarity of r, the second adds (b - ra) / sqrt(1 - r²) by
        least squares; if that is enough, it counts as well. If it adds nothing but is almost as
        good, the recording repeats itself; the position that continues the previous part is used.
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
        """Return the similarity of the audio at two positions."""
        first, second = (x.sound[self._reach :][: self._length] for x in (place, other))
        energies = (first @ first) * (second @ second)
        return abs(float(first @ second)) / float(np.sqrt(energies) + 1e-20)

    def _agree(self, offset: float, other: float) -> bool:
        return abs(offset - other) <= OFFSET_TOLERANCE_SECONDS * self._rate

    def _measure_extent(self, part: int, place: _Place) -> tuple[int, int]:
        """Return where in the skim a position is heard, around its point of highest similarity."""
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
    """Return a zero-phase filter that flattens the mean spectrum of a skim and keeps its level."""
    from scipy.signal import welch

    frequencies, powers = welch(skim, rate, nperseg=WHITENING_TAPS)
    gains = 1 / np.sqrt(powers + SPECTRUM_FLOOR * powers.max() + 1e-20)
    gains[frequencies < MIN_FREQUENCY_HZ] = 0
    gains *= np.sqrt(powers.sum() / max(float(powers @ np.square(gains)), 1e-20))
    taps = np.roll(np.fft.irfft(gains), WHITENING_TAPS // 2) * np.hanning(WHITENING_TAPS)
    return np.asarray(taps, np.float32)


@lru_cache(1)
def _make_peak_table() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return steps around a sample, and a windowed sinc for each."""
    steps = np.arange(-PEAK_STEPS // 2, PEAK_STEPS // 2 + 1) / PEAK_STEPS
    away = np.arange(-PEAK_MARGIN, PEAK_MARGIN + 1)[:, None] - steps
    return steps, np.sinc(away) * np.cos(np.pi / 2 * away / (PEAK_MARGIN + 1)) ** 2


def _interpolate_peak(products: Floats) -> tuple[float, float]:
    """Return the position and height of a peak, interpolated between samples."""
    steps, table = _make_peak_table()
    heights = np.abs(products @ table)
    best = int(heights.argmax())
    return float(steps[best]), min(1.0, float(heights[best]))


def _find_holes(picks: Sequence[_HeardPick], size: int, shortest: int) -> list[tuple[int, int]]:
    """Return the passages of a skim longer than ``shortest`` that were not found."""
    holes, end = [], 0
    for first, last in [*sorted((pick.first, pick.last) for pick in picks), (size, size)]:
        if first - end > shortest:
            holes.append((end, first))
        end = max(end, last)
    return holes


def _describe(
    picks: Sequence[_HeardPick], size: int, shortest_hole: int, rate: float
) -> LocatedSkim:
    """Return picks in seconds, with notes on passages that were not found or are ambiguous."""
    notes = [
        f"{first / rate:.0f} to {last / rate:.0f} s: not found in the recording"
        for first, last in _find_holes(picks, size, shortest_hole)
    ]
    doubtful = tuple(number for number, pick in enumerate(picks) if pick.doubtful)
    if doubtful:
        starts = ", ".join(f"{picks[number].first / rate:.0f}" for number in doubtful)
        sounds, they = ("sounds", "it") if len(doubtful) == 1 else ("sound", "they")
        notes.append(
            f"{len(doubtful)} of {len(picks)} picks (at {starts} s) {sounds} the same at other"
            f" times of the recording; {they} may come from there"
        )
    times = [
        (max(0.0, round(pick.start / rate, 3)), round((pick.last - pick.first) / rate, 3))
        for pick in picks
    ]
    skim = Skim(tuple(Pick(*time, pick.turned) for time, pick in zip(times, picks, strict=True)))
    heard = tuple(round(pick.first / rate, 3) for pick in picks)
    return LocatedSkim(skim, heard, doubtful, tuple(notes))
