"""Loudness (BS.1770-4), true peak, active speech level (P.56) and A-weighted power."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import UsageError

Samples = NDArray[Any]
Floats = NDArray[np.float64]

# --- K-weighting ---------------------------------------------------------------------------------
# The filter is linear, so a block of samples and the state before it give the filtered block and
# the state after it by a matrix product. States are chained in two levels: blocks in a group, and
# groups in a chunk. This is faster than filtering sample by sample, and equal up to rounding.


SHELF_HZ, SHELF_GAIN_DB, SHELF_Q = 1681.974450955533, 3.999843853973347, 0.7071752369554196
SHELF_BAND_EXPONENT = 0.4996667741545416  # of the gain at the shelf frequency
HIGH_PASS_HZ, HIGH_PASS_Q = 38.13547087602444, 0.5003270373238773
MIN_LOUDNESS_RATE_HZ = 4_000  # the shelf must be below half the sample rate
STATE_SIZE = 4  # of two second-order sections
BLOCK_FRAMES, BLOCKS_PER_GROUP, GROUPS_PER_CHUNK = 32, 16, 32
CHUNK_FRAMES = BLOCK_FRAMES * BLOCKS_PER_GROUP * GROUPS_PER_CHUNK


def k_weighting_sections(rate: int) -> Floats:
    """Return the second-order sections of K-weighting at a sample rate, as SciPy takes them.

    >>> k_weighting_sections(48_000)[0].round(4)
    array([ 1.5351, -2.6917,  1.1984,  1.    , -1.6907,  0.7325])
    """
    if rate < MIN_LOUDNESS_RATE_HZ:
        raise UsageError(f"loudness needs {MIN_LOUDNESS_RATE_HZ:,} Hz or more, got {rate:,} Hz")
    top = 10 ** (SHELF_GAIN_DB / 20)
    band = top**SHELF_BAND_EXPONENT
    k = np.tan(np.pi * SHELF_HZ / rate)
    scale = 1 + k / SHELF_Q + k * k
    zeros = (top + band * k / SHELF_Q + k * k, 2 * (k * k - top), top - band * k / SHELF_Q + k * k)
    poles = (scale, 2 * (k * k - 1), 1 - k / SHELF_Q + k * k)
    shelf = np.array([*zeros, *poles]) / scale
    k = np.tan(np.pi * HIGH_PASS_HZ / rate)
    scale = 1 + k / HIGH_PASS_Q + k * k
    high_pass = (1, -2, 1, 1, 2 * (k * k - 1) / scale, (1 - k / HIGH_PASS_Q + k * k) / scale)
    return np.array([shelf, high_pass])


class BlockFilter(NamedTuple):
    """Matrices of a filter.

    ``outputs`` maps a block and its state to the filtered block, ``states`` a block to its effect
    on the state; the others chain states within a group and within a chunk.
    """

    outputs: Floats
    states: Floats
    within_group: Floats
    after_group: Floats
    chunk: Floats


@lru_cache(16)
def _k_weighting_matrices(rate: int) -> BlockFilter:
    sections = k_weighting_sections(rate)
    probes = np.eye(BLOCK_FRAMES + STATE_SIZE)  # each sample of a block, then each state before it
    states = probes[:, BLOCK_FRAMES:].copy()
    outputs = probes[:, :BLOCK_FRAMES].T.copy()
    pairs = states.T[:2], states.T[2:]  # state of each section
    for output in outputs:
        for (b0, b1, b2, _, a1, a2), state in zip(sections, pairs, strict=True):
            source = output.copy()
            output[:] = b0 * source + state[0]
            state[:] = b1 * source - a1 * output + state[1], b2 * source - a2 * output
    step = states[BLOCK_FRAMES:]
    group = _chain_matrix(step, BLOCKS_PER_GROUP)
    chunk = _chain_matrix(np.linalg.matrix_power(step, BLOCKS_PER_GROUP), GROUPS_PER_CHUNK)
    size = BLOCKS_PER_GROUP * STATE_SIZE
    parts = (outputs.T, states[:BLOCK_FRAMES], group[:, :size], group[:size, size:], chunk)
    return BlockFilter(*map(np.ascontiguousarray, parts))


def _chain_matrix(step: Floats, count: int) -> Floats:
    """Return the matrix from ``count`` effects and a first state to all states and the last."""
    powers = [np.linalg.matrix_power(step, n) for n in range(count + 1)]
    none = np.zeros_like(step)
    rows = [
        [powers[later - 1 - earlier] if later > earlier else none for later in range(count + 1)]
        for earlier in range(count)
    ]
    return np.block([*rows, powers])


class _KWeighting:
    """K-weighting of chunks; the state continues from one chunk to the next."""

    def __init__(self, rate: int, channels: int) -> None:
        self._matrices = _k_weighting_matrices(rate)
        self._channels = channels
        self.state = np.zeros((channels, STATE_SIZE))
        blocks = BLOCKS_PER_GROUP * GROUPS_PER_CHUNK
        self._blocks = np.zeros((channels, blocks, BLOCK_FRAMES + STATE_SIZE))
        self._groups = np.zeros((channels * GROUPS_PER_CHUNK, (BLOCKS_PER_GROUP + 1) * STATE_SIZE))
        self._filtered = np.zeros((channels * blocks, BLOCK_FRAMES))

    def filter_chunk(self, samples: Samples) -> Floats:
        """Return a filtered chunk, one row per channel; it is valid until the next call."""
        matrices, channels = self._matrices, self._channels
        blocks, groups = self._blocks, self._groups
        size = BLOCKS_PER_GROUP * STATE_SIZE
        blocks[:, :, :BLOCK_FRAMES] = samples.reshape(channels, -1, BLOCK_FRAMES)
        flat = blocks.reshape(-1, BLOCK_FRAMES + STATE_SIZE)
        groups[:, :size] = (flat[:, :BLOCK_FRAMES] @ matrices.states).reshape(-1, size)
        effects = (groups[:, :size] @ matrices.after_group).reshape(channels, -1)
        chained = np.concatenate([effects, self.state], axis=1) @ matrices.chunk
        groups[:, size:] = chained[:, :-STATE_SIZE].reshape(-1, STATE_SIZE)
        self.state = chained[:, -STATE_SIZE:]
        states = groups @ matrices.within_group
        blocks[:, :, BLOCK_FRAMES:] = states.reshape(channels, -1, STATE_SIZE)
        np.matmul(flat, matrices.outputs, out=self._filtered)
        return self._filtered.reshape(channels, -1)


# --- Integrated loudness -------------------------------------------------------------------------


LOUDNESS_OFFSET_LU = -0.691  # a 1 kHz sine at full scale in one front channel has -3.01 LUFS
ABSOLUTE_GATE_LUFS = -70.0
RELATIVE_GATE_LU = -10.0
STEPS_PER_SECOND, STEPS_PER_BLOCK = 10, 4  # blocks of 400 ms overlap by 75 %
SURROUND_WEIGHT = 1.41
CHANNEL_WEIGHTS = {  # by number of channels; of more than six, the first six count
    4: (1.0, 1.0, SURROUND_WEIGHT, SURROUND_WEIGHT),
    5: (1.0, 1.0, 1.0, SURROUND_WEIGHT, SURROUND_WEIGHT),
}
DEFAULT_CHANNEL_WEIGHTS = (1.0, 1.0, 1.0, 0.0, SURROUND_WEIGHT, SURROUND_WEIGHT)  # 5.1 with LFE


def channel_weights(channels: int) -> tuple[float, ...]:
    """Return the weight of each channel, as the default channel map of libebur128.

    >>> channel_weights(6)
    (1.0, 1.0, 1.0, 0.0, 1.41, 1.41)
    """
    weights = CHANNEL_WEIGHTS.get(channels, DEFAULT_CHANNEL_WEIGHTS)
    return (*weights, *[0.0] * channels)[:channels]


class LoudnessMeter:
    """Integrated loudness (BS.1770-4) of audio that is added in pieces.

    Memory does not depend on the duration, except for ten numbers per second.

    Parameters
    ----------
    rate
        Sample rate in Hz, 4,000 or more.
    channels
        Number of channels; four to six are surround sound, as in ``channel_weights``.
    """

    def __init__(self, rate: int, channels: int) -> None:
        weights = np.array(channel_weights(channels))
        self._used = np.flatnonzero(weights)
        self._weights = weights[self._used]
        self._filter = _KWeighting(rate, len(self._used))
        self._held = np.zeros((len(self._used), 0))  # less than a chunk
        self._step_frames = (rate + STEPS_PER_SECOND // 2) // STEPS_PER_SECOND
        self._energies: list[float] = []  # of complete steps
        self._energy, self._energy_frames = 0.0, 0  # of the step that is not complete
        self.frames = 0

    def add(self, samples: Samples) -> None:
        """Add samples, one column per channel, or one dimension."""
        rows = _as_columns(samples).T
        rows = rows if len(rows) == len(self._used) else rows[self._used]
        self.frames += rows.shape[1]
        whole = np.concatenate([self._held, rows], axis=1) if self._held.size else rows
        end = whole.shape[1] - whole.shape[1] % CHUNK_FRAMES
        for place in range(0, end, CHUNK_FRAMES):
            chunk = whole[:, place : place + CHUNK_FRAMES]
            self._add_energies(self._filter.filter_chunk(chunk))
        self._held = whole[:, end:].astype(np.float64)

    @property
    def is_short(self) -> bool:
        """Whether the audio is shorter than a block of 400 ms, so that there is no gate."""
        return self.frames < STEPS_PER_BLOCK * self._step_frames

    def loudness(self) -> float:
        """Return the loudness in LUFS of all audio so far.

        Audio below 400 ms is one block, without a gate. The loudness of silence, or if all blocks
        are below -70 LUFS, is NaN, where libebur128 has minus infinity.
        """
        energies = self._all_energies()
        if self.is_short:
            power = sum(energies) / max(1, self.frames)
            return _to_lufs(power) if power > 0 else np.nan
        steps = np.array(energies[: self.frames // self._step_frames])
        ends = len(steps) - STEPS_PER_BLOCK + 1
        sums = np.sum([steps[n : n + ends] for n in range(STEPS_PER_BLOCK)], axis=0)
        powers = sums / (STEPS_PER_BLOCK * self._step_frames)
        powers = powers[powers >= 10 ** ((ABSOLUTE_GATE_LUFS - LOUDNESS_OFFSET_LU) / 10)]
        if not len(powers):
            return np.nan
        return _to_lufs(powers[powers >= powers.mean() * 10 ** (RELATIVE_GATE_LU / 10)].mean())

    def _all_energies(self) -> list[float]:
        """Return the energies of all steps, the last one perhaps incomplete."""
        before = self._filter.state, self._energies, self._energy, self._energy_frames
        self._energies = [*self._energies]
        held = self._held.shape[1]
        if held:
            padded = np.pad(self._held, ((0, 0), (0, CHUNK_FRAMES - held)))
            self._add_energies(self._filter.filter_chunk(padded)[:, :held])
        energies = [*self._energies, self._energy]
        self._filter.state, self._energies, self._energy, self._energy_frames = before
        return energies

    def _add_energies(self, filtered: Floats) -> None:
        """Add the weighted energies of a filtered passage to the steps."""
        place, end = 0, filtered.shape[1]
        while place < end:
            part = filtered[:, place : place + self._step_frames - self._energy_frames]
            energies = [np.dot(row, row) for row in part]  # faster than a product of all rows
            self._energy += float(np.dot(energies, self._weights))
            self._energy_frames += part.shape[1]
            place += part.shape[1]
            if self._energy_frames == self._step_frames:
                self._energies.append(self._energy)
                self._energy, self._energy_frames = 0.0, 0


def _as_columns(samples: Samples) -> Samples:
    return samples[:, None] if samples.ndim == 1 else samples


def _to_lufs(power: float) -> float:
    return float(LOUDNESS_OFFSET_LU + 10 * np.log10(power))


def measure_loudness(samples: Samples, rate: int) -> float:
    """Return the integrated loudness of audio in LUFS (BS.1770-4).

    Parameters
    ----------
    samples
        Audio, one column per channel, or one dimension.
    rate
        Sample rate in Hz.

    Returns
    -------
    float
        Loudness; NaN if all blocks of 400 ms are below -70 LUFS. Audio below 400 ms is one block,
        without a gate.

    Examples
    --------
    >>> tone = np.sin(2 * np.pi * 997 * np.arange(48_000) / 48_000)
    >>> round(measure_loudness(tone, 48_000), 1)
    -3.0
    """
    meter = LoudnessMeter(rate, _as_columns(samples).shape[1])
    meter.add(samples)
    return meter.loudness()


# --- True peak -----------------------------------------------------------------------------------
# The interpolation filter is that of libebur128, a sinc with a Hann window. Its first phase returns
# the samples themselves. An interpolated value cannot exceed the largest sample that it spans times
# the sum of the coefficients' magnitudes, so only loud blocks are interpolated, with 32-bit floats
# as in libebur128.


PEAK_FILTER_TAPS = 49
PEAK_BLOCK_FRAMES = 32
PEAK_BATCH_BLOCKS = 512  # interpolated at once


class TruePeakMeter:
    """True peak (BS.1770-4, annex 2) of audio that is added in pieces.

    The audio is oversampled four times below 96 kHz, and twice below 192 kHz.
    """

    def __init__(self, rate: int, channels: int) -> None:
        self._filter = _peak_filter(4 if rate < 96_000 else 2 if rate < 192_000 else 1)
        self._span = self._filter.shape[0]  # of a block and the samples before it
        self._bound = float(np.abs(self._filter).sum(axis=0).max(initial=0.0))
        before = np.zeros(self._span - PEAK_BLOCK_FRAMES, np.float32)
        self._held = [before] * channels  # not interpolated yet
        self._peak = 0.0

    def add(self, samples: Samples) -> None:
        """Add samples, one column per channel, or one dimension."""
        for channel, column in enumerate(_as_columns(samples).T):
            whole = np.concatenate([self._held[channel], column], dtype=np.float32)
            blocks = max(0, len(whole) - self._span + PEAK_BLOCK_FRAMES) // PEAK_BLOCK_FRAMES
            self._peak = self._peak_of(whole, blocks)
            self._held[channel] = whole[blocks * PEAK_BLOCK_FRAMES :].copy()

    def peak(self) -> float:
        """Return the largest magnitude of all audio so far, followed by silence."""
        silence = np.zeros(2 * self._span, np.float32)
        peaks = [self._peak]
        for held in self._held:
            whole = np.concatenate([held, silence])
            peaks.append(self._peak_of(whole, len(whole) // PEAK_BLOCK_FRAMES - 2))
        return max(peaks)

    def decibels(self) -> float:
        """Return the true peak in dBTP; minus infinity for digital silence."""
        peak = self.peak()
        return float(20 * np.log10(peak)) if peak > 0 else -np.inf

    def _peak_of(self, samples: NDArray[np.float32], blocks: int) -> float:
        """Return the largest magnitude of samples and of the values between them in blocks."""
        peak = max(self._peak, float(np.abs(samples).max(initial=0.0)))
        if not self._filter.size or not blocks:
            return peak
        views = np.lib.stride_tricks.sliding_window_view(samples, self._span)
        passages = views[::PEAK_BLOCK_FRAMES][:blocks]
        magnitudes = np.abs(samples[: blocks * PEAK_BLOCK_FRAMES]).reshape(blocks, -1).max(axis=1)
        after = np.abs(passages[:, PEAK_BLOCK_FRAMES:]).max(axis=1)
        bounds = np.maximum(magnitudes, after) * self._bound
        loud = np.flatnonzero(bounds > peak)
        for start in range(0, len(loud), PEAK_BATCH_BLOCKS):
            batch = loud[start : start + PEAK_BATCH_BLOCKS]
            values = passages[batch[bounds[batch] > peak]] @ self._filter
            peak = max(peak, float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
        return peak


@lru_cache(4)
def _peak_filter(factor: int) -> NDArray[np.float32]:
    """Return the matrix from a block and the samples before it to all values between them.

    The first phase of the filter is left out; without any other, the matrix is empty.
    """
    places = np.arange(PEAK_FILTER_TAPS)
    taps = np.sinc((places - PEAK_FILTER_TAPS // 2) / factor)
    taps *= 0.5 * (1 - np.cos(2 * np.pi * places / (PEAK_FILTER_TAPS - 1)))
    phases = [taps[phase::factor][::-1] for phase in range(1, factor)]
    width = len(phases[0]) if phases else 1
    matrix = np.zeros((PEAK_BLOCK_FRAMES + width - 1, PEAK_BLOCK_FRAMES, len(phases)), np.float32)
    for frame in range(PEAK_BLOCK_FRAMES):
        matrix[frame : frame + width, frame] = np.reshape(phases, (len(phases), width)).T
    return matrix.reshape(PEAK_BLOCK_FRAMES + width - 1, -1)


def measure_true_peak(samples: Samples, rate: int) -> float:
    """Return the true peak of audio in dBTP; minus infinity for digital silence.

    >>> tone = np.sin(np.pi / 2 * np.arange(48_000) + np.pi / 4)  # no sample at the crest
    >>> round(float(np.abs(tone).max()), 3), round(measure_true_peak(tone, 48_000), 1)
    (0.707, 0.1)
    """
    meter = TruePeakMeter(rate, _as_columns(samples).shape[1])
    meter.add(samples)
    return meter.decibels()


# --- Active speech level -------------------------------------------------------------------------


ENVELOPE_SECONDS = 0.03  # time constant
HANGOVER_SECONDS = 0.2
SPEECH_MARGIN_DB = 15.9  # between active level and threshold
SPEECH_THRESHOLDS = 2.0 ** np.arange(-15, 0)


class SpeechLevel(NamedTuple):
    """Active speech level in dBov, and share of the time with speech."""

    level: float
    activity: float


class SpeechLevelMeter:
    """Active speech level (ITU-T P.56, method B) of audio that is added in pieces.

    Channels are measured separately, and the highest level counts.
    """

    def __init__(self, rate: int, channels: int) -> None:
        decay = float(np.exp(-1 / (rate * ENVELOPE_SECONDS)))
        self._zeros = np.array([(1 - decay) ** 2])
        self._poles = np.array([1.0, -2 * decay, decay**2])
        self._state = np.zeros((channels, 2))
        self._hangover = int(np.ceil(HANGOVER_SECONDS * rate))
        self._energies = np.zeros(channels)
        self._counts = np.zeros((channels, len(SPEECH_THRESHOLDS)), np.int64)
        self._ends = np.zeros_like(self._counts)  # of the last passage above each threshold
        self.frames = 0

    def add(self, samples: Samples) -> None:
        """Add samples, one column per channel, or one dimension."""
        from scipy.signal import lfilter

        columns = np.asarray(_as_columns(samples), np.float64)
        for channel in range(columns.shape[1]):
            column = columns[:, channel]
            self._energies[channel] += column @ column
            envelope, self._state[channel] = lfilter(
                self._zeros, self._poles, np.abs(column), zi=self._state[channel]
            )
            self._count(channel, envelope)
        self.frames += len(columns)

    def _count(self, channel: int, envelope: Floats) -> None:
        """Count the frames above each threshold, and those less than a hangover after one."""
        if not len(envelope):
            return
        exponents = np.frexp(np.maximum(envelope, SPEECH_THRESHOLDS[0] / 2))[1]
        starts = np.flatnonzero(np.diff(exponents, prepend=exponents[:1] - 1))
        ends = np.append(starts[1:], len(exponents))
        numbers = exponents[starts] - np.frexp(SPEECH_THRESHOLDS[0])[1]  # highest exceeded ones
        starts, ends = starts + self.frames, ends + self.frames
        for number in range(min(numbers.max(), len(SPEECH_THRESHOLDS) - 1) + 1):
            active = numbers >= number
            first, after = starts[active], ends[active]
            end = self._ends[channel, number]
            gaps = first - np.concatenate([[end if end else first[0]], after[:-1]])
            counts = after - first + np.minimum(gaps, self._hangover)
            self._counts[channel, number] += counts.sum()
            self._ends[channel, number] = after[-1]

    def speech_level(self) -> SpeechLevel:
        """Return the level and activity of all audio so far; NaN if there is no speech."""
        levels = [self._channel_level(channel) for channel in range(len(self._counts))]
        heard = [level for level in levels if level.level == level.level]
        return max(heard, default=SpeechLevel(np.nan, np.nan))

    def _channel_level(self, channel: int) -> SpeechLevel:
        exceeded = int(np.count_nonzero(self._counts[channel]))
        rests = np.minimum(self.frames - self._ends[channel, :exceeded], self._hangover)
        counts = self._counts[channel, :exceeded] + rests
        energy = self._energies[channel]
        levels = 10 * np.log10(energy / counts)
        margins = levels - 20 * np.log10(SPEECH_THRESHOLDS[:exceeded])
        above = int(np.argmax(margins <= SPEECH_MARGIN_DB)) if exceeded else 0
        if not above:  # no threshold is exceeded, or only noise at the lowest one
            return SpeechLevel(np.nan, np.nan)
        below = above - 1
        share = (margins[below] - SPEECH_MARGIN_DB) / (margins[below] - margins[above])
        level = float(levels[below] + share * (levels[above] - levels[below]))
        mean = 10 * np.log10(energy / self.frames)
        return SpeechLevel(level, float(10 ** ((mean - level) / 10)))


def measure_speech_level(samples: Samples, rate: int) -> SpeechLevel:
    """Return the active speech level in dBov and the activity factor (ITU-T P.56, method B).

    Parameters
    ----------
    samples
        Speech, one column per channel, or one dimension. Of several channels, the one with the
        highest level counts.
    rate
        Sample rate in Hz.

    Returns
    -------
    SpeechLevel
        Level relative to the overload point (a square wave at full scale has 0 dBov), and share of
        the time with speech. Both are NaN if there is no speech.

    Examples
    --------
    >>> tone = 0.1 * np.sin(2 * np.pi * 500 * np.arange(16_000) / 16_000)
    >>> level, activity = measure_speech_level(np.concatenate([tone, np.zeros(32_000)]), 16_000)
    >>> round(level, 1), round(activity, 2)
    (-24.1, 0.43)
    """
    meter = SpeechLevelMeter(rate, _as_columns(samples).shape[1])
    meter.add(samples)
    return meter.speech_level()


# --- A-weighted power ----------------------------------------------------------------------------
# The curve of IEC 61672-1 is applied to the spectrum, so it is exact at all frequencies and sample
# rates; a digital filter would deviate near half the sample rate.


A_WEIGHTING_POLES_HZ = (20.598997, 107.65265, 737.86223, 12_194.217)
A_WEIGHTING_REFERENCE_HZ = 1_000.0  # where the gain is 1


def a_weighted_power(samples: Samples, rate: int) -> float:
    """Return the mean power of audio with A-weighting (IEC 61672-1).

    Parameters
    ----------
    samples
        Audio, one column per channel, or one dimension.
    rate
        Sample rate in Hz.

    Returns
    -------
    float
        Mean square of the weighted samples, averaged over channels; NaN without samples. The gain
        of the weighting is 1 at 1 kHz.

    Examples
    --------
    >>> tone = np.sin(2 * np.pi * 1_000 * np.arange(16_000) / 16_000)
    >>> round(a_weighted_power(tone, 16_000), 6)
    0.5
    """
    frames = len(samples)
    if not frames:
        return np.nan
    columns = np.asarray(_as_columns(samples), np.float64)
    powers = (np.abs(np.fft.rfft(columns, axis=0)) ** 2).mean(axis=1)
    powers[1 : (frames + 1) // 2] *= 2  # negative frequencies
    gains = a_weighting_gains(np.fft.rfftfreq(frames, 1 / rate))
    return float(np.sum(powers * gains**2)) / frames**2


def a_weighting_gains(hertz: Samples) -> Floats:
    """Return the gain of A-weighting at frequencies in Hz.

    >>> (20 * np.log10(a_weighting_gains(np.array([100.0, 1_000.0, 10_000.0])))).round(1)
    array([-19.1,   0. ,  -2.5])
    """
    return _a_curve(hertz) / _a_curve(np.array([A_WEIGHTING_REFERENCE_HZ]))


def _a_curve(hertz: Samples) -> Floats:
    squared = hertz**2
    low, middle, high, top = np.square(A_WEIGHTING_POLES_HZ)
    slope = (squared + low) * (squared + top)
    return np.asarray(squared**2 * top / (slope * np.sqrt((squared + middle) * (squared + high))))


# --- Clipping ------------------------------------------------------------------------------------


FULL_SCALE = 1 - 2.0**-15  # the largest 16-bit sample
MIN_CLIPPED_SAMPLES = 3  # consecutive samples at full scale that count as clipping


class ClippingCounter:
    """Counts runs of at least three samples at full scale, in any channel, over chunks."""

    def __init__(self, channels: int) -> None:
        self.runs = 0
        self._last = np.zeros((MIN_CLIPPED_SAMPLES, channels), bool)

    def add(self, levels: Samples) -> None:
        """Add a chunk of absolute samples, one column per channel."""
        if len(levels) and levels.max() < FULL_SCALE:  # most chunks
            self._last[:] = False
            return
        full = np.concatenate([self._last, levels >= FULL_SCALE])
        # true where a sample and the two before it are at full scale
        ends = full[2:] & full[1:-1] & full[:-2]
        self.runs += int((ends[1:] & ~ends[:-1]).sum())
        self._last = full[-MIN_CLIPPED_SAMPLES:]
