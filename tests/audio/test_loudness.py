"""Loudness, true peak and active speech level equal plain twins and libebur128."""

from __future__ import annotations

import math
from importlib import import_module

import numpy as np
import pytest
from numpy.typing import NDArray

from earwitness.audio.loudness import (
    SPEECH_THRESHOLDS,
    LoudnessMeter,
    SpeechLevelMeter,
    TruePeakMeter,
    a_weighted_power,
    a_weighting_gains,
    channel_weights,
    k_weighting_sections,
    measure_loudness,
    measure_speech_level,
    measure_true_peak,
)
from earwitness.errors import UsageError

Floats = NDArray[np.float64]


def passages(rate: int, channels: int, seconds: float, seed: int = 0) -> Floats:
    """Noise whose level changes every 0.3 s by up to 60 dB, and silence at the end."""
    rng = np.random.default_rng(seed)
    frames = round(seconds * rate)
    gains = 10 ** rng.uniform(-3, 0, math.ceil(seconds / 0.3))
    samples = rng.normal(0, 0.1, (frames, channels))
    samples *= np.repeat(gains, math.ceil(0.3 * rate))[:frames, None]
    samples[-30:] = 0
    return samples


def cut(samples: Floats, seed: int = 0) -> list[Floats]:
    """Pieces of different lengths, some of them empty."""
    places = np.sort(np.random.default_rng(seed).integers(0, len(samples), 7))
    return np.split(samples, places)


# --- Loudness ------------------------------------------------------------------------------------


def plain_loudness(samples: Floats, rate: int) -> float:
    """As BS.1770-4 writes it, sample by sample and block by block."""
    weighted = np.zeros_like(samples)
    for channel in range(samples.shape[1]):
        signal = samples[:, channel].tolist()
        for b0, b1, b2, _, a1, a2 in k_weighting_sections(rate).tolist():
            x1 = x2 = y1 = y2 = 0.0
            for n, x in enumerate(signal):
                y = b0 * x + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2
                x1, x2, y1, y2 = x, x1, y, y1
                signal[n] = y
        weighted[:, channel] = signal
    step = round(rate / 10)
    powers = []
    for start in range(0, len(samples) - 4 * step + 1, step):
        means = (weighted[start : start + 4 * step] ** 2).mean(axis=0)
        powers.append(float(means @ channel_weights(samples.shape[1])))
    levels = [-0.691 + 10 * math.log10(power) if power else -math.inf for power in powers]
    loud = [power for power, level in zip(powers, levels, strict=True) if level >= -70]
    gate = -0.691 + 10 * math.log10(np.mean(loud)) - 10
    kept = [power for power in loud if -0.691 + 10 * math.log10(power) >= gate]
    return float(-0.691 + 10 * math.log10(np.mean(kept)))


@pytest.mark.parametrize(("rate", "channels"), [(4_000, 1), (8_000, 2), (4_410, 6)])
def test_loudness_in_pieces_equals_the_plain_twin(rate: int, channels: int) -> None:
    samples = passages(rate, channels, 5.13)
    meter = LoudnessMeter(rate, channels)
    for piece in cut(samples):
        meter.add(piece)
        meter.loudness()  # does not change the state
    assert meter.loudness() == pytest.approx(plain_loudness(samples, rate), abs=1e-9)


@pytest.mark.peer
@pytest.mark.parametrize("channels", [1, 2, 4, 5, 6])
@pytest.mark.parametrize("rate", [11_025, 16_000, 44_100, 48_000])
def test_loudness_and_true_peak_equal_libebur128(rate: int, channels: int) -> None:
    pyebur128 = import_module("pyebur128")
    samples = passages(rate, channels, 3.3, channels)
    mode = pyebur128.MeasurementMode
    peer = pyebur128.R128State(channels, rate, mode.MODE_I | mode.MODE_TRUE_PEAK)
    peer.add_frames(samples.ravel(), len(samples))
    loudness = pyebur128.get_loudness_global(peer)
    peak = max(pyebur128.get_true_peak(peer, channel) for channel in range(channels))
    assert measure_loudness(samples, rate) == pytest.approx(loudness, abs=1e-6)
    assert 10 ** (measure_true_peak(samples, rate) / 20) == pytest.approx(peak, rel=1e-6)


def test_a_tone_at_full_scale_has_the_level_of_the_recommendation() -> None:
    tone = np.sin(2 * np.pi * 997 * np.arange(48_000) / 48_000)
    assert measure_loudness(tone, 48_000) == pytest.approx(-3.01, abs=0.005)
    both = np.column_stack([tone, tone])
    assert measure_loudness(both, 48_000) == pytest.approx(0.0, abs=0.005)


def test_quiet_passages_do_not_count() -> None:
    rate = 16_000
    tone = np.sin(2 * np.pi * 1_000 * np.arange(20 * rate) / rate)
    alone = measure_loudness(0.1 * tone, rate)
    for gain in (0.1 * 10 ** (-13.5 / 20), 1e-5, 0.0):  # below the relative and absolute gate
        mixed = np.concatenate([0.1 * tone, gain * tone])
        assert measure_loudness(mixed, rate) == pytest.approx(alone, abs=0.1)
    louder = np.concatenate([0.1 * tone, 0.1 * 10 ** (-6 / 20) * tone])
    assert measure_loudness(louder, rate) < alone - 1


def test_silence_has_no_loudness() -> None:
    rng = np.random.default_rng(0)
    for samples in (np.zeros(48_000), rng.normal(0, 1e-5, 48_000), np.zeros(9), np.zeros(0)):
        assert math.isnan(measure_loudness(samples, 48_000))


def test_audio_below_a_block_is_one_block_without_a_gate() -> None:
    rate = 16_000
    tone = 1e-5 * np.sin(2 * np.pi * 1_000 * np.arange(rate) / rate)
    meter = LoudnessMeter(rate, 1)
    meter.add(tone[:6_399])
    assert meter.is_short
    assert meter.loudness() == pytest.approx(-103, abs=0.3)
    meter.add(tone[6_399:6_400])
    assert not meter.is_short
    assert math.isnan(meter.loudness())


def test_a_rate_below_the_filter_is_refused() -> None:
    with pytest.raises(UsageError, match="loudness needs 4,000 Hz or more, got 3,000 Hz"):
        LoudnessMeter(3_000, 1)


# --- True peak -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("rate", "factor"), [(16_000, 4), (96_000, 2), (192_000, 1)])
def test_true_peak_in_pieces_equals_the_plain_twin(rate: int, factor: int) -> None:
    samples = passages(16_000, 2, 0.7, 3)
    samples[-1, 1] = 0.9 * np.abs(samples).max()  # the last value between samples is beyond it
    taps = np.sinc(np.arange(-24, 25) / factor) * np.hanning(49)
    wide = np.zeros((len(samples) * factor, 2))
    wide[::factor] = samples
    expected = max(np.abs(np.convolve(column, taps)).max() for column in wide.T)
    meter = TruePeakMeter(rate, 2)
    for piece in cut(samples):
        meter.add(piece)
        meter.peak()  # does not change the state
    assert meter.peak() == pytest.approx(expected, rel=1e-6)


def test_the_end_of_a_piece_is_not_an_end_of_the_audio() -> None:
    smooth = np.hanning(1_000) * 0.9
    for size in (1, 7, 32, 100, 999):
        meter = TruePeakMeter(16_000, 1)
        for start in range(0, 1_000, size):
            meter.add(smooth[start : start + size])
        assert meter.peak() == pytest.approx(0.9, rel=1e-3)
    cut_off = smooth[:500]
    assert 10 ** (measure_true_peak(cut_off, 16_000) / 20) > 0.95


def test_digital_silence_has_no_peak() -> None:
    assert measure_true_peak(np.zeros((9, 2)), 48_000) == -math.inf


# --- Active speech level -------------------------------------------------------------------------


def plain_speech_level(samples: Floats, rate: int) -> tuple[float, float]:
    """Method B of P.56, sample by sample, with the steps and names of the recommendation."""
    g, hangover = math.exp(-1 / (rate * 0.03)), math.ceil(0.2 * rate)
    thresholds = SPEECH_THRESHOLDS.tolist()
    a, h = [0] * len(thresholds), [hangover] * len(thresholds)
    p = q = sq = 0.0
    for x in samples.tolist():
        sq += x * x
        p = g * p + (1 - g) * abs(x)
        q = g * q + (1 - g) * p
        for j, c in enumerate(thresholds):
            if q >= c:
                a[j] += 1
                h[j] = 0
            elif h[j] < hangover:
                a[j] += 1
                h[j] += 1
    lower = (math.nan, math.nan)
    for count, c in zip(a, thresholds, strict=True):
        if not count:
            break
        level = 10 * math.log10(sq / count)
        margin = level - 20 * math.log10(c)
        if margin <= 15.9:
            share = (lower[1] - 15.9) / (lower[1] - margin)
            active = lower[0] + share * (level - lower[0])
            return active, 10 ** (math.log10(sq / len(samples)) - active / 10)
        lower = level, margin
    return math.nan, math.nan


def test_speech_level_in_pieces_equals_the_plain_twin() -> None:
    samples = passages(4_000, 1, 6.0, 5)
    samples[:1_000] = samples[10_000:13_000] = 0
    meter = SpeechLevelMeter(4_000, 1)
    for piece in cut(samples):
        meter.add(piece)
    expected = plain_speech_level(samples[:, 0], 4_000)
    assert meter.speech_level() == pytest.approx(expected, abs=1e-9)
    assert 0.2 < expected[1] < 0.9


def test_pauses_change_the_activity_but_not_the_level() -> None:
    rate = 16_000
    speech = np.random.default_rng(0).normal(0, 0.05, 8 * rate)
    level, activity = measure_speech_level(speech, rate)
    assert (level, activity) == pytest.approx((20 * math.log10(0.05), 1), abs=0.1)
    paused = np.concatenate([speech, np.zeros(8 * rate)])
    level_with_pause, activity_with_pause = measure_speech_level(paused, rate)
    assert level_with_pause == pytest.approx(level, abs=0.2)  # the hangover counts as speech
    assert activity_with_pause == pytest.approx(activity / 2, abs=0.03)


def test_of_two_channels_the_louder_counts_and_silence_has_no_level() -> None:
    speech = np.random.default_rng(0).normal(0, 0.05, 16_000)
    both = np.column_stack([speech, speech / 2])
    alone = measure_speech_level(speech, 8_000)
    assert measure_speech_level(both, 8_000) == pytest.approx(alone)
    for quiet in (np.zeros(8_000), speech * 1e-4):
        assert math.isnan(measure_speech_level(quiet, 8_000).level)


# --- A-weighting ---------------------------------------------------------------------------------


def test_a_weighting_has_the_values_of_the_standard() -> None:
    hertz = np.array([31.5, 63, 125, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000])
    exact = 1_000 * 10 ** (np.round(10 * np.log10(hertz / 1_000)) / 10)  # of the nominal ones
    standard = [-39.4, -26.2, -16.1, -8.6, -3.2, 0, 1.2, 1.0, -1.1, -6.6]  # IEC 61672-1, table 2
    assert 20 * np.log10(a_weighting_gains(exact)) == pytest.approx(standard, abs=0.051)


@pytest.mark.parametrize("frames", [16_000, 15_999])
def test_a_weighted_power_is_the_mean_over_channels(frames: int) -> None:
    tone = np.sin(2 * np.pi * 125.9 * np.arange(frames) / 16_000)
    samples = np.column_stack([tone, np.zeros(frames)])
    power = a_weighted_power(samples, 16_000)
    assert 10 * math.log10(power / 0.25) == pytest.approx(-16.1, abs=0.1)
    assert math.isnan(a_weighted_power(np.zeros(0), 16_000))
