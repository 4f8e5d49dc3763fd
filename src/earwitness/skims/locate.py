"""Location of audio skims in their recording: by log-mel frames, then by cross-correlation.

A skim is cut into parts of half a block. The log-mel frames of each part are compared with those of
the whole recording, which its embedding needs as well, so that the recording is decoded once for
all skims. At the most similar positions, the audio itself is read, decimated, whitened by the same
filter as the skim, and cross-correlated. The correlation, normalized by both energies, is the
similarity: 1 for the same sound, near 0 for other sound. The best positions of each part are kept,
and parts at consecutive positions form one pick. Passages that were not found are searched again
in shorter parts, since fades of loud picks may mask quiet ones, and backwards, as picks may be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from earwitness.audio.logmel import ABSENT_BYTE, FRAMES_PER_SECOND, MEL_BANDS, Bytes, log_mel
from earwitness.audio.signal import Floats, decimate, decimate_pieces, decimation_factor
from earwitness.core import Progress, no_progress
from earwitness.models.cache import Cache
from earwitness.models.frames import RecordingFrames, load_frame_files
from earwitness.recordings.cut import read_recording
from earwitness.recordings.types import Recording
from earwitness.skims.day import Doubles, Ints
from earwitness.skims.progress import divide_progress
from earwitness.skims.types import Pick, Skim

# --- Entry point ---------------------------------------------------------------------------------


MIN_SKIM_SECONDS = 2.1
MIN_PART_SECONDS, MAX_PART_SECONDS = 1.0, 4.0
MIN_LIKENESS = 0.45  # unrelated tones reach 0.4, and noise 0.2, somewhere in a day
MIN_SHORT_LIKENESS = 0.6  # of shorter parts, in passages that were not found before
SAME_LIKENESS_RATIO = 0.95  # of the best: another position may then be the right one
DISTINCT_PLACE_SECONDS = 0.25  # between two positions of a part
OFFSET_TOLERANCE_SECONDS = 0.005  # between parts of the same pick
SILENCE_LEVEL = 1e-5  # RMS, relative to full scale
MIN_FREQUENCY_HZ = 50.0  # rumble below this is similar everywhere
SPECTRUM_FLOOR = 1e-4  # of the highest power; avoids amplifying empty bands
WHITENING_TAPS = 256
PLACES_PER_PART = 3  # two in a fade, and one to detect repetition
PEAK_MARGIN, PEAK_STEPS = 8, 10  # samples around a peak, and steps per sample
LOW_RATES_HZ = (1_000, 2_000, 4_000, 8_000)  # the lowest sufficient rate is used
MIN_POWER_SHARE = 1e-3  # power share a skim must keep at a low rate
READING_SHARE, SECOND_SHARE = 0.7, 0.1  # shares of the time, for progress


class LocatedSkim(NamedTuple):
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
    sounds: Sequence[Floats],
    recording: Recording,
    *,
    block: float = 8.0,
    cache: Cache | None = None,
    progress: Progress = no_progress,
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
    cache
        Cache of the recording's frames; by default the user's.
    progress
        Callback for progress reports, in seconds of the recording.

    Returns
    -------
    list of LocatedSkim
        One per skim, with notes on parts that were not found or are ambiguous.
    """
    factor = _choose_factor(sounds, recording.rate)
    rate = recording.rate / factor
    length = round(min(max(block / 2, MIN_PART_SECONDS), MAX_PART_SECONDS) * rate)

    def report(done: int, total: int | None, _cases: int, /) -> None:
        progress(done, total, len(sounds))

    part = divide_progress(report, 0.0, recording.seconds, recording.seconds)
    files = load_frame_files(recording, cache=cache, progress=part(0.0, READING_SHARE))
    frames = RecordingFrames(recording, files)
    skims = [
        _LowRateSkim(decimate(sound, factor), log_mel(sound, recording.rate)) for sound in sounds
    ]
    first, second = part(READING_SHARE, 1 - SECOND_SHARE), part(1 - SECOND_SHARE, 1.0)
    picks_of_skims = _search([_SkimSearch(skim, length, rate) for skim in skims], frames, first)
    _search_holes(skims, picks_of_skims, frames, length, rate, second)
    second(1, 1, 0)
    margin, located = DISTINCT_PLACE_SECONDS * rate, []
    for skim, picks in zip(skims, picks_of_skims, strict=True):
        kept = [pick for pick in picks if not _is_chance(pick, picks, length, margin)]
        located.append(_describe(sorted(kept), len(skim.samples), length // 2, rate))
    return located


class _LowRateSkim(NamedTuple):
    """A skim at a low sample rate, and its log-mel frames."""

    samples: Floats
    frames: Bytes


def _choose_factor(sounds: Sequence[Floats], rate: int) -> int:
    """Return the decimation factor of the lowest rate at which all skims keep enough power."""
    for low_rate in LOW_RATES_HZ:
        factor = decimation_factor(rate, low_rate)
        pairs = ((sound, decimate(sound, factor)) for sound in sounds)
        powers = [
            [float(np.square(x, dtype=np.float64).mean()) for x in pair if len(x)] for pair in pairs
        ]
        if all(len(power) < 2 or power[1] >= MIN_POWER_SHARE * power[0] for power in powers):
            break
    return factor


def _search(
    searches: Sequence[_SkimSearch], frames: RecordingFrames, progress: Progress
) -> list[list[_HeardPick]]:
    """Return the picks of all searches: their frames are compared first, then audio."""
    templates = [template for search in searches for template in search.templates]
    found = iter(find_similar_frames(templates, frames, progress) if templates else [])
    trials = []
    for search in searches:
        own = [next(found) for _ in search.dense_firsts]
        shared = list(_share_offsets(own, search.dense_firsts, search.rate))
        for part, first in enumerate(search.firsts):
            offsets = shared[search.dense_firsts.index(first)]
            trials += [_Trial(offset + first, part, search) for offset in offsets]
    trials.sort(key=lambda trial: trial.place)
    for group in _group_trials(trials):
        for run in _read_low_rate(group, frames.recording):
            for trial in group:
                trial.search.compare_place(trial.part, trial.place, run)
    return [search.collect_picks() for search in searches]


def _search_holes(
    skims: Sequence[_LowRateSkim],
    picks_of_skims: Sequence[list[_HeardPick]],
    frames: RecordingFrames,
    length: int,
    rate: float,
    progress: Progress,
) -> None:
    """Add the picks that are found in the holes of skims by shorter parts, or backwards."""
    short = max(length // 2, round(MIN_PART_SECONDS * rate))
    searches: dict[tuple[int, bool], _SkimSearch] = {}
    for n, (skim, picks) in enumerate(zip(skims, picks_of_skims, strict=True)):
        size = len(skim.samples)
        if holes := _find_holes(picks, size, length // 4):
            backwards = _LowRateSkim(skim.samples[::-1], skim.frames[::-1])
            turned_holes = [(size - last, size - first) for first, last in holes]
            searches[n, False] = _SkimSearch(skim, short, rate, holes)
            searches[n, True] = _SkimSearch(backwards, short, rate, turned_holes)
    found = _search(list(searches.values()), frames, progress)
    for (n, turned), new_picks in zip(searches, found, strict=True):
        size = len(skims[n].samples)
        holes = _find_holes(picks_of_skims[n], size, length // 4)
        for pick in new_picks:
            first, last = (size - pick.last, size - pick.first) if turned else pick[:2]
            if any(hole[0] <= (first + last) / 2 <= hole[1] for hole in holes):
                placed = pick._replace(first=first, last=last, turned=turned)
                _add_pick(placed, picks_of_skims[n], OFFSET_TOLERANCE_SECONDS * rate)


def _add_pick(pick: _HeardPick, picks: list[_HeardPick], tolerance: float) -> None:
    """Add a pick, or extend the one that it continues."""
    for number, other in enumerate(picks):
        moved = (pick.start - pick.first) - (other.start - other.first)
        if not (pick.turned or other.turned) and abs(moved) <= tolerance:
            begin, end = min(pick, other), max(pick.last, other.last)
            picks[number] = other._replace(first=begin.first, last=end, start=begin.start)
            return
    picks.append(pick)


def _is_chance(pick: _HeardPick, picks: Sequence[_HeardPick], length: int, margin: float) -> bool:
    """Whether a pick lies in a longer one, or is a chance match in a fade that others explain."""
    size, middle = pick.last - pick.first, (pick.first + pick.last) / 2
    for other in picks:
        is_in_longer = size < other.last - other.first and (
            other.first - margin <= pick.first and pick.last <= other.last + margin
        )
        is_in_fade = size < length // 2 and other.first <= middle <= other.last
        if is_in_longer or (is_in_fade and other is not pick):
            return True
    return False


class _Trial(NamedTuple):
    """A position at which the audio of a part is compared, in low-rate samples."""

    place: float
    part: int
    search: _SkimSearch


def _share_offsets(
    candidates: Sequence[Sequence[float]], firsts: Sequence[int], rate: float
) -> Iterator[list[float]]:
    """Yield the offsets to try for each part: its own, and the best of the parts next to it."""
    offsets = [
        [start * rate - first for start in starts]
        for starts, first in zip(candidates, firsts, strict=True)
    ]
    apart = CANDIDATE_TOLERANCE_SECONDS * rate
    for part, part_offsets in enumerate(offsets):
        tried = list(part_offsets)
        for near in offsets[max(0, part - 2) : part] + offsets[part + 1 : part + 3]:
            tried += [
                offset
                for offset in near[:SHARED_CANDIDATES]
                if all(abs(offset - other) > apart for other in tried)
            ]
        yield tried


def _group_trials(trials: Sequence[_Trial]) -> Iterator[list[_Trial]]:
    """Yield trials whose audio overlaps."""
    group: list[_Trial] = []
    for trial in trials:
        if group and trial.place - group[-1].place > 4 * trial.search.length:
            yield group
            group = []
        group.append(trial)
    if group:
        yield group


class _LowRateRun(NamedTuple):
    """Audio without a gap, and its start, in low-rate samples."""

    start: float
    samples: Floats


def _read_low_rate(group: Sequence[_Trial], recording: Recording) -> list[_LowRateRun]:
    """Return the audio around positions."""
    rate, reach = group[0].search.rate, 2 * group[0].search.length
    factor = round(recording.rate / rate)
    start, end = max(0.0, (group[0].place - reach) / rate), (group[-1].place + reach) / rate
    if end <= start:
        return []
    chunks = read_recording(recording, start=start, seconds=end - start)
    pieces = ((round(time * recording.rate), chunk.samples) for time, chunk in chunks)
    runs: list[tuple[float, list[Floats]]] = []
    end_of_run = -1
    for at, samples in decimate_pieces(pieces, factor):
        if at != end_of_run:
            runs.append((at / factor, []))
        runs[-1][1].append(samples)
        end_of_run = at + factor * len(samples)
    return [_LowRateRun(begin, np.concatenate(parts)) for begin, parts in runs]


# --- Similar frames ------------------------------------------------------------------------------
# Log-mel frames of a part, with the mean of each band subtracted, are cross-correlated with those
# of the recording and normalized by both energies. Pairs of bands are summed first. All bands are
# multiplied in the frequency domain as one matrix product per frequency, so many parts
# cost little more than one; products are so small that matrix libraries use one thread for each.


CANDIDATES_PER_PART = 6
SHARED_CANDIDATES = 2  # candidates of a part that are also tried for the parts next to it
CANDIDATE_TOLERANCE_SECONDS = 0.1  # a frame is 20 ms
MIN_CANDIDATE_RATIO = 0.4  # of the best
COARSE_BANDS = MEL_BANDS // 2
FFT_FRAMES, FRAMES_PER_SLOT, SLOTS_PER_FFT = 1024, 100, 8
POSITIONS_PER_FFT = FRAMES_PER_SLOT * SLOTS_PER_FFT
FFTS_PER_BATCH = 8
KEPT_SLOTS = 4 * CANDIDATES_PER_PART
MIN_VARIANCE = 1.0  # of a band, in steps of half a decibel; avoids amplifying constant sound


def _pool_bands(rows: Bytes) -> Floats:
    """Return the sums of pairs of neighbouring bands."""
    return np.add(rows[:, ::2], rows[:, 1::2], dtype=np.float32)


def _cut_template(frames: Bytes, first: int, seconds: float) -> Floats:
    """Return the frames of a part: band means subtracted, scaled to norm 1."""
    count = round(seconds * FRAMES_PER_SECOND)
    rows = _pool_bands(frames[first : first + count])
    rows -= rows.mean(axis=0) if len(rows) else 0
    template = np.zeros((count, COARSE_BANDS), np.float32)
    template[: len(rows)] = rows
    norm = np.sqrt(np.square(template).sum() + MIN_VARIANCE * template.size)
    return np.asarray(template / norm, np.float32)


def find_similar_frames(
    templates: Sequence[Floats],
    frames: RecordingFrames,
    progress: Progress = no_progress,
) -> list[list[float]]:
    """Return the times in seconds at which the recording is most similar to each template.

    Templates have one row per frame and the same length. Times are in descending order of
    similarity, and may be before the start of the recording.
    """
    from scipy.fft import irfft, rfft

    count = len(templates[0])
    spectra = np.conj(rfft(np.stack(templates), FFT_FRAMES, axis=1))
    by_frequency = np.ascontiguousarray(spectra.transpose(1, 2, 0))  # frequency × band × part
    values = np.full((len(templates), KEPT_SLOTS), -np.inf, np.float32)
    places = np.zeros((len(templates), KEPT_SLOTS), np.int64)
    step = FFTS_PER_BATCH * POSITIONS_PER_FFT
    for first in range(-count, len(frames), step):
        rows = frames.rows(first, first + step + count)
        is_present = rows[:, 0] != ABSENT_BYTE
        if is_present.any():
            levels = _pool_bands(rows)
            levels -= levels[is_present].mean(axis=0)
            levels[~is_present] = 0
            windows = np.stack(
                [
                    levels[at : at + POSITIONS_PER_FFT + count]
                    for at in range(0, step, POSITIONS_PER_FFT)
                ]
            )
            blocks = rfft(windows, FFT_FRAMES, axis=1).transpose(1, 0, 2)
            products = np.matmul(np.ascontiguousarray(blocks), by_frequency)
            likeness = irfft(np.ascontiguousarray(products.transpose(1, 2, 0)), FFT_FRAMES)
            scales = 1 / np.sqrt(_window_energies(levels, count)[:step])
            scaled = likeness[:, :, :POSITIONS_PER_FFT] * scales.reshape(
                FFTS_PER_BATCH, 1, POSITIONS_PER_FFT
            )
            _keep_best(scaled, first, values, places)
        progress(first + step, len(frames), 0)
    return [_choose_candidates(*part) for part in zip(values, places, strict=True)]


def _window_energies(levels: Floats, count: int) -> Floats:
    """Return the energy of every window of ``count`` frames around the means of its bands."""
    sums = np.zeros((len(levels) + 1, COARSE_BANDS))
    np.cumsum(levels, axis=0, out=sums[1:])
    squares = np.zeros(len(levels) + 1)
    np.cumsum(np.einsum("ij,ij->i", levels, levels), out=squares[1:])
    means = np.einsum("ij,ij->i", *[sums[count:] - sums[:-count]] * 2) / count
    energies = np.maximum(squares[count:] - squares[:-count] - means, 0)
    return np.asarray(energies + MIN_VARIANCE * count * COARSE_BANDS, np.float32)


def _keep_best(likeness: Floats, first: int, values: Floats, places: Ints) -> None:
    """Update the best values and places of every part with the maximum of each slot."""
    ffts, parts, _ = likeness.shape
    slots = likeness.reshape(ffts, parts, SLOTS_PER_FFT, FRAMES_PER_SLOT)
    peaks = slots.argmax(axis=3)
    heights = np.take_along_axis(slots, peaks[..., None], 3)[..., 0]
    begins = np.arange(ffts * SLOTS_PER_FFT).reshape(ffts, 1, SLOTS_PER_FFT) * FRAMES_PER_SLOT
    where = first + begins + peaks
    all_values, all_places = (
        np.concatenate([old, new.transpose(1, 0, 2).reshape(parts, -1)], axis=1)
        for old, new in ((values, heights), (places, where))
    )
    best = np.argpartition(-all_values, KEPT_SLOTS, axis=1)[:, :KEPT_SLOTS]
    values[:] = np.take_along_axis(all_values, best, 1)
    places[:] = np.take_along_axis(all_places, best, 1)


def _choose_candidates(values: Floats, places: Ints) -> list[float]:
    """Return distinct times in seconds, the most similar first."""
    chosen: list[float] = []
    order = np.argsort(-values, kind="stable")
    for value, place in zip(values[order].tolist(), places[order].tolist(), strict=True):
        start = place / FRAMES_PER_SECOND
        if value < MIN_CANDIDATE_RATIO * values[order[0]] or len(chosen) == CANDIDATES_PER_PART:
            break
        if all(abs(start - other) >= DISTINCT_PLACE_SECONDS for other in chosen):
            chosen.append(start)
    return chosen


# --- Search for one skim -------------------------------------------------------------------------


Spans = Sequence[tuple[int, int]] | None  # first and last samples of passages


class _SkimSearch:
    """Search for one skim: its parts and their best positions so far, in low-rate samples."""

    def __init__(self, skim: _LowRateSkim, length: int, rate: float, spans: Spans = None) -> None:
        """Prepare the search of a whole skim, or of passages of it in overlapping parts."""
        from scipy.fft import next_fast_len, rfft
        from scipy.signal import oaconvolve

        self.length, self.rate = length, rate
        self._min_likeness = MIN_LIKENESS if spans is None else MIN_SHORT_LIKENESS
        self._reach, self._size = length // 2, len(skim.samples)
        self._tolerance = round(CANDIDATE_TOLERANCE_SECONDS * rate) + PEAK_MARGIN
        # a part, half a part on both sides of it, and the tolerance of its position
        self._window = length + 2 * (self._reach + self._tolerance)
        self._fft_samples = int(next_fast_len(self._window + WHITENING_TAPS, real=True))
        samples = np.pad(skim.samples, (0, max(0, length - self._size)))
        taps = _make_whitening_taps(samples, rate)
        self._skim = np.pad(oaconvolve(samples, taps, "same"), self._reach)  # padding at both ends
        firsts = _place_parts(len(samples), length, spans)
        rows = np.stack([self._skim[first + self._reach :][:length] for first in firsts])
        levels = np.sqrt(np.square(rows).sum(axis=1))
        loud = np.median(np.abs(rows), axis=1) > SILENCE_LEVEL  # in at least half of a part
        self.firsts: list[int] = firsts[loud].tolist()
        # also half a part later, where a part may lie in two fades
        later = () if spans else (first + self._reach for first in self.firsts[:-1])
        self.dense_firsts = sorted({*self.firsts, *later})
        self.templates = [
            _cut_template(skim.frames, round(first / rate * FRAMES_PER_SECOND), length / rate)
            for first in self.dense_firsts
        ]
        self._spectra = np.conj(rfft(rows[loud] / levels[loud, None], self._fft_samples))
        padded = np.pad(taps, (0, self._fft_samples - len(taps)))
        self._filter = rfft(np.roll(padded, -((len(taps) - 1) // 2)))
        self._places: list[list[_Place]] = [[] for _ in self.firsts]

    def compare_place(self, part: int, place: float, run: _LowRateRun) -> None:
        """Compare a part with the audio around a place, and keep the place if it is similar."""
        from scipy.fft import irfft, rfft

        first = round(place - run.start) - self._reach - self._tolerance
        begin, end = max(0, first), min(len(run.samples), first + self._window)
        if end - begin <= self.length // 4:
            return
        window = np.zeros(self._window, np.float32)
        window[begin - first : end - first] = run.samples[begin:end]
        spectrum = rfft(window, self._fft_samples) * self._filter
        sound = irfft(spectrum, self._fft_samples)
        sums = np.concatenate([[0.0], np.cumsum(np.square(sound, dtype=np.float64))])
        inside = slice(self._reach, self._reach + 2 * self._tolerance + 1)
        energy = (sums[self.length :] - sums[: -self.length])[inside]
        scale = 1 / np.sqrt(energy + self.length * SILENCE_LEVEL**2).astype(np.float32)
        products = irfft(spectrum * self._spectra[part], self._fft_samples)[inside] * scale
        peak = PEAK_MARGIN + int(np.abs(products[PEAK_MARGIN:-PEAK_MARGIN]).argmax())
        steps, table = _make_peak_table()  # the peak is interpolated between samples
        heights = np.abs(products[peak - PEAK_MARGIN : peak + PEAK_MARGIN + 1] @ table)
        best = int(heights.argmax())
        around = sound[peak:][: self.length + 2 * self._reach].copy()
        offset = run.start + first + inside.start + peak + float(steps[best]) - self.firsts[part]
        found = _Place(min(1.0, float(heights[best])), offset, around)
        apart = round(DISTINCT_PLACE_SECONDS * self.rate)
        ranked = sorted([found, *self._places[part]], key=lambda one: -one.likeness)
        self._places[part] = [
            candidate
            for rank, candidate in enumerate(ranked)
            if all(abs(candidate.offset - better.offset) >= apart for better in ranked[:rank])
        ][:PLACES_PER_PART]

    def collect_picks(self) -> list[_HeardPick]:
        """Return picks: consecutive parts at matching positions, extended to half similarity."""
        groups: list[list[tuple[int, _Place, bool]]] = []
        for seed in self._find_seeds():
            for group in groups:
                part, place, _ = group[-1]
                if seed[0] <= part + 1 and self._is_agreed(seed[1].offset, place.offset):
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
        return picks

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
                if min(added / np.sqrt(max(1 - r**2, 0.05)), place.likeness) >= self._min_likeness:
                    kept.append((place, False))
                elif alike and place.likeness >= SAME_LIKENESS_RATIO * other.likeness:
                    continues = any(self._is_agreed(place.offset, offset) for offset in before)
                    kept[twin] = (place if continues else other, True)
            before = [place.offset for place, _ in kept]
            yield from ((part, *seed) for seed in kept)

    def _compare(self, place: _Place, other: _Place) -> float:
        """Return the similarity of the audio at two positions."""
        first, second = (x.sound[self._reach :][: self.length] for x in (place, other))
        energies = (first @ first) * (second @ second)
        return abs(float(first @ second)) / float(np.sqrt(energies) + 1e-20)

    def _is_agreed(self, offset: float, other: float) -> bool:
        return abs(offset - other) <= OFFSET_TOLERANCE_SECONDS * self.rate

    def _measure_extent(self, part: int, place: _Place) -> tuple[int, int]:
        """Return where in the skim a position is heard, around its point of highest similarity."""
        from scipy.ndimage import uniform_filter1d

        first = self.firsts[part]
        skim = self._skim[first : first + len(place.sound)]
        product, energy, other_energy = (
            uniform_filter1d(values, self.length // 4, mode="constant")
            for values in (skim * place.sound, np.square(skim), np.square(place.sound))
        )
        likeness = np.abs(product) / np.sqrt(energy * other_energy + 1e-20)
        best = self._reach + int(likeness[self._reach :][: self.length].argmax())
        unlike = np.flatnonzero(likeness < likeness[best] / 2)
        low = int(unlike[unlike < best].max(initial=-1)) + 1
        high = int(unlike[unlike > best].min(initial=len(likeness)))
        return max(0, first - self._reach + low), min(self._size, first - self._reach + high)


def _place_parts(size: int, length: int, spans: Spans) -> Ints:
    """Return where the parts of a skim begin: one after the other, or overlapping in passages."""
    half, step, ends = length // 2, length, [(0, size - length)]
    if spans is not None:
        step = half
        ends = [(max(0, first - half), min(size, last + half) - length) for first, last in spans]
    firsts = {first for begin, end in ends for first in (*range(begin, end, step), max(0, end))}
    return np.array(sorted(firsts))


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
def _make_peak_table() -> tuple[Doubles, Doubles]:
    """Return steps around a sample, and a windowed sinc for each."""
    steps = np.arange(-PEAK_STEPS // 2, PEAK_STEPS // 2 + 1) / PEAK_STEPS
    away = np.arange(-PEAK_MARGIN, PEAK_MARGIN + 1)[:, None] - steps
    return steps, np.sinc(away) * np.cos(np.pi / 2 * away / (PEAK_MARGIN + 1)) ** 2


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
