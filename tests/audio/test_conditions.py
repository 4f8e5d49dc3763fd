"""Noise at an SNR(A), noise suppression and MNRU, beside plain loops and hand-computed values."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from earwitness.audio.conditions import (
    MIN_SUPPRESSION_GAIN,
    OVERSUBTRACTION,
    apply_mnru,
    cut_noise,
    make_anchor,
    make_noise,
    measure_si_sdr,
    measure_snr_a,
    measure_spectrum,
    scale_noise,
    suppress_speech,
)
from earwitness.audio.files import Sound
from earwitness.errors import UsageError
from helpers.flite import speak_chapters

Floats = NDArray[np.float64]
RATE = 16_000


@pytest.fixture(scope="module")
def speech() -> Floats:
    spoken = speak_chapters([["The birch canoe slid on the smooth planks."]])
    assert spoken.rate == RATE
    return spoken.samples / 32768


def tone(hertz: float, amplitude: float = 0.1) -> Floats:
    return np.asarray(amplitude * np.sin(2 * np.pi * hertz * np.arange(RATE) / RATE))


def decibels(ratio: float) -> float:
    return float(10 * np.log10(ratio))


# --- Noise ---------------------------------------------------------------------------------------


def test_snr_a_weights_frequencies_and_counts_active_time_only() -> None:
    # A-weighting is 0 dB at 1 kHz and −19.1 dB at 100 Hz
    assert measure_snr_a(tone(1000), tone(100), RATE, 1.0) == pytest.approx(19.1, abs=0.05)
    # speech in half of the time has twice the power while it is active: 10 · log10(2) = 3.01
    assert measure_snr_a(tone(1000), tone(1000), RATE, 0.5) == pytest.approx(3.01, abs=0.01)
    assert measure_snr_a(tone(1000), np.zeros(RATE), RATE, 1.0) == np.inf


@pytest.mark.parametrize("snr", [-6.0, 0.0, 36.0])
def test_noise_is_scaled_to_the_snr(speech: Floats, snr: float) -> None:
    noise = np.random.default_rng(0).standard_normal(len(speech))
    scaled = scale_noise(speech, noise, RATE, 0.8, snr)
    assert measure_snr_a(speech, scaled, RATE, 0.8) == pytest.approx(snr, abs=1e-9)
    assert np.corrcoef(noise, scaled)[0, 1] == pytest.approx(1)


def test_noise_without_power_is_not_scaled(speech: Floats) -> None:
    for noise in (np.zeros(len(speech)), np.full(len(speech), np.nan)):
        with pytest.raises(UsageError, match="the noise is silent, or has samples"):
            scale_noise(speech, noise, RATE, 0.5, 12)


def test_noise_has_the_long_term_spectrum_of_speech(speech: Floats) -> None:
    spectrum = measure_spectrum(speech, RATE)
    assert spectrum.sum() == pytest.approx(1)
    np.testing.assert_allclose(measure_spectrum(0.1 * speech, RATE), spectrum)
    noise = make_noise(spectrum, 60 * RATE, np.random.default_rng(0))
    assert np.mean(noise**2) == pytest.approx(1)
    found = measure_spectrum(noise, RATE)
    for low in (125, 250, 500, 1000, 2000, 4000):  # octaves
        band = slice(round(low * 0.064), round(2 * low * 0.064))
        assert decibels(found[band].sum() / spectrum[band].sum()) == pytest.approx(0, abs=0.5)
    again = make_noise(spectrum, 60 * RATE, np.random.default_rng(0))
    np.testing.assert_array_equal(noise, again)


def test_a_long_noise_is_cut_and_a_short_one_repeated_without_a_step() -> None:
    noise = tone(30, 1.0) + tone(47, 0.5)
    part = cut_noise(noise, RATE, 4_000, np.random.default_rng(0))
    windows = np.lib.stride_tricks.sliding_window_view(noise, 4_000)
    assert (windows == part).all(axis=1).any()
    long = cut_noise(noise, RATE, 50_000, np.random.default_rng(0))
    assert len(long) == 50_000
    assert np.abs(np.diff(long)).max() < 1.5 * np.abs(np.diff(noise)).max()
    with pytest.raises(UsageError, match=r"at least 0\.5 s"):
        cut_noise(noise[:7_999], RATE, 50_000, np.random.default_rng(0))


# --- Noise suppression ---------------------------------------------------------------------------


def plain_suppression(speech: Floats, noise: Floats) -> Floats:
    """Spectral subtraction frame by frame, from its definition."""
    size, hop = 512, 128
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    length = len(speech) + 2 * size
    padded = [np.zeros(length), np.zeros(length)]
    padded[0][size : size + len(speech)] = speech
    padded[1][size : size + len(speech)] = noise
    starts = [at for at in range(hop, length - size, hop) if at < size + len(speech)]
    frames = [[window * signal[at : at + size] for at in starts] for signal in padded]
    floor = np.mean([np.abs(np.fft.rfft(frame)) ** 2 for frame in frames[1]], axis=0)
    summed, weight = np.zeros(length), np.zeros(length)
    for at, own, other in zip(starts, *frames, strict=True):
        mixture = np.abs(np.fft.rfft(own + other)) ** 2
        gains = np.empty(len(mixture))
        for n, power in enumerate(mixture):
            rest = power - OVERSUBTRACTION * floor[n]
            gains[n] = max(np.sqrt(max(rest, 0) / power), MIN_SUPPRESSION_GAIN)
        summed[at : at + size] += window * np.fft.irfft(gains * np.fft.rfft(own))
        weight[at : at + size] += window**2
    found = (summed / np.maximum(weight, 1e-9))[size : size + len(speech)]
    return np.asarray(found * np.sqrt(np.mean(speech**2) / np.mean(found**2)))


def test_suppression_is_the_plain_one_frame_by_frame(speech: Floats) -> None:
    short = speech[4_000:9_003]
    noise = 0.02 * np.random.default_rng(0).standard_normal(len(short))
    np.testing.assert_allclose(
        suppress_speech(short, noise, RATE), plain_suppression(short, noise), atol=1e-9
    )


def test_suppression_without_noise_changes_nothing(speech: Floats) -> None:
    np.testing.assert_allclose(
        suppress_speech(speech, np.zeros(len(speech)), RATE), speech, atol=1e-12
    )


def test_distortion_grows_with_the_noise_and_leaves_silence_silent(speech: Floats) -> None:
    padded = np.concatenate([np.zeros(4_000), speech, np.zeros(4_000)])
    noise = make_noise(measure_spectrum(speech, RATE), len(padded), np.random.default_rng(1))
    ratios = []
    for snr in (-3, 3, 9, 15, 30):
        found = suppress_speech(padded, scale_noise(padded, noise, RATE, 0.8, snr), RATE)
        assert np.mean(found**2) == pytest.approx(np.mean(padded**2))
        assert not np.abs(found[:3_400]).max() > 1e-12
        ratios.append(measure_si_sdr(padded, found))
    assert np.diff(ratios).min() > 3


def test_si_sdr_ignores_the_level_and_counts_what_is_not_the_reference() -> None:
    # 3 x + n with orthogonal n of the same power as x: 20 · log10(3) = 9.54 dB
    x, n = tone(500), tone(750)
    assert measure_si_sdr(x, 3 * x + n) == pytest.approx(9.542, abs=1e-3)
    assert measure_si_sdr(x, -0.2 * x) == np.inf
    assert measure_si_sdr(x, n) < -100


# --- MNRU and anchors ----------------------------------------------------------------------------


@pytest.mark.parametrize("q", [5.0, 20.0, 35.0])
@pytest.mark.parametrize("band", ["full", "wide", "narrow"])
def test_q_is_the_ratio_of_speech_to_modulated_noise(speech: Floats, q: float, band: str) -> None:
    clean, noisy = (
        apply_mnru(speech, RATE, value, np.random.default_rng(3), band=band)
        for value in (np.inf, q)
    )
    ratio = float(np.mean(clean**2) / np.mean((noisy - clean) ** 2))
    assert decibels(ratio) == pytest.approx(q, abs=1e-6)


def test_mnru_is_speech_times_one_plus_noise(speech: Floats) -> None:
    random = np.random.default_rng(3).standard_normal(len(speech))
    found = apply_mnru(speech, RATE, 12.0, np.random.default_rng(3))
    gain = ((found - speech) @ (speech * random)) / np.sum((speech * random) ** 2)
    np.testing.assert_allclose(found, speech * (1 + gain * random), atol=1e-12)
    assert 20 * np.log10(gain) == pytest.approx(-12, abs=0.2)  # the noise of a clip is a sample


def test_narrow_mnru_has_nothing_outside_its_band(speech: Floats) -> None:
    found = apply_mnru(speech, RATE, 5.0, np.random.default_rng(3), band="narrow")
    powers = np.abs(np.fft.rfft(found)) ** 2
    hertz = np.fft.rfftfreq(len(found), 1 / RATE)
    inside = (hertz > 90) & (hertz < 3_650)
    assert decibels(powers[~inside].sum() / powers.sum()) < -40
    with pytest.raises(UsageError, match="8000 Hz does not contain the band up to 7000 Hz"):
        apply_mnru(speech, 8_000, 5.0, np.random.default_rng(3), band="wide")


@pytest.mark.parametrize(("rate", "cutoff"), [(16_000, 3500), (44_100, 7000), (48_000, 3500)])
def test_anchors_have_no_delay_to_the_sample(rate: int, cutoff: float) -> None:
    impulse = np.zeros((2_001, 1))
    impulse[1_000] = 0.5
    found = make_anchor(Sound(impulse, rate, "PCM_16"), cutoff).samples[:, 0]
    assert int(np.argmax(found)) == 1_000
    np.testing.assert_allclose(found, found[::-1], atol=1e-12)


def test_anchors_of_integer_formats_stay_within_full_scale() -> None:
    square = np.sign(tone(500))[:, None]
    assert np.abs(make_anchor(Sound(square, RATE, "FLOAT"), 3500).samples).max() > 1
    assert np.abs(make_anchor(Sound(square, RATE, "PCM_16"), 3500).samples).max() == 1
