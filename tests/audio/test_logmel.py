"""Log-mel frames: beside a plain loop, beside librosa, and at the edges."""

from __future__ import annotations

import cmath
import math
from typing import Any

import librosa
import numpy as np
import pytest

from earwitness.audio import logmel
from earwitness.audio.logmel import (
    ABSENT_BYTE,
    MEL_BANDS,
    Bytes,
    Floats,
    band_edges,
    decode_decibels,
    encode_powers,
    first_sample,
    frame_levels,
    frames_from,
    frames_within,
    log_mel,
    make_kernel,
)
from earwitness.errors import UsageError
from helpers.samples import many

RATES = [8000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000]


def noise(rate: int, seconds: float, seed: int = 0) -> Floats:
    """Noise with a tone that slides."""
    rng = np.random.default_rng(seed)
    times = np.arange(round(rate * seconds)) / rate
    tone = 0.2 * np.sin(2 * np.pi * (300 + 200 * times) * times)
    return np.asarray(tone + 0.01 * rng.normal(size=len(times)), np.float32)


def plain_frame(samples: Floats, rate: int) -> list[float]:
    """Power of every band of the samples of one frame, by the definition, in dB."""
    reach, size = len(samples), make_kernel(rate).size
    window = [0.5 - 0.5 * math.cos(2 * math.pi * i / reach) for i in range(reach)]
    shaped = np.array([float(x) * w for x, w in zip(samples, window, strict=True)])
    turns = np.arange(reach) / size
    spectrum = [
        abs(complex(shaped @ np.exp(-2j * cmath.pi * k * turns))) ** 2 for k in range(size // 2 + 1)
    ]
    scale = 2 / (size * sum(w * w for w in window))
    found = []
    for low, peak, high in zip(
        band_edges(rate), band_edges(rate)[1:], band_edges(rate)[2:], strict=False
    ):
        power = 0.0
        for k, own in enumerate(spectrum):
            hertz = k * rate / size
            weight = min((hertz - low) / (peak - low), (high - hertz) / (high - peak))
            power += max(0.0, weight) * own * scale
        found.append(10 * math.log10(power) if power else -math.inf)
    return found


@pytest.mark.parametrize("rate", RATES)
def test_frames_are_those_of_a_plain_loop(rate: int) -> None:
    sound = noise(rate, 0.3)
    frames = log_mel(sound, rate)
    assert frames.shape == (15, MEL_BANDS)
    for number in range(0, 15, many(7, 1)):
        own = np.zeros(make_kernel(rate).reach, np.float32)
        part = sound[first_sample(number, rate) :][: len(own)]
        own[: len(part)] = part
        expected = np.clip((np.array(plain_frame(own, rate)) + 110) * 2, 0, 254)
        assert abs(frames[number] - expected).max() <= 0.5 + 1e-6


def wide_sounds(rate: int) -> dict[str, Floats]:
    """Sounds with levels, spectra and ranges that differ much."""
    rng = np.random.default_rng(0)
    times = np.arange(10 * rate) / rate
    white = rng.normal(size=len(times))
    sounds = {
        "noise": 0.1 * white,
        "offset": 0.5 + 1e-3 * white,
        "brown": 1e-3 * np.cumsum(white),
        "tone": 0.5 * np.sin(2 * np.pi * 1003.7 * times),
        "chirp": 0.9 * np.sin(2 * np.pi * (300 + 200 * times) * times) + 1e-5 * white,
        "16 bits": np.rint(white) / 32_768,
        "loud": 100 * white,
    }
    return {name: one.astype(np.float32) for name, one in sounds.items()}


@pytest.mark.parametrize("rate", [8000, 44_100])
def test_rounding_errors_of_processors_do_not_change_bytes(
    rate: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sounds = wide_sounds(rate)
    own = {name: log_mel(one, rate) for name, one in sounds.items()}
    put_powers, rng = logmel._put_powers, np.random.default_rng(1)

    def put_other_powers(shaped: Any, kernel: Any, powers: Any) -> None:
        """Write powers with errors like those of another processor, if in single precision."""
        energies = (shaped.astype(np.float64) ** 2).sum(axis=1) / (kernel.window**2).sum()
        put_powers(shaped, kernel, powers)
        if powers.dtype == np.float32:
            amplitudes = np.sqrt(powers) * (1 + rng.uniform(-1e-6, 1e-6, powers.shape))
            errors = 5e-8 * np.sqrt(energies)[:, None] * rng.uniform(-1, 1, powers.shape)
            powers[:] = (amplitudes + errors) ** 2

    monkeypatch.setattr(logmel, "_put_powers", put_other_powers)
    changed = {
        name: np.count_nonzero(log_mel(one, rate) != own[name]) for name, one in sounds.items()
    }
    assert changed == dict.fromkeys(sounds, 0)


@pytest.mark.peer
@pytest.mark.parametrize("rate", [16_000, 32_000, 48_000])
def test_frames_are_those_of_librosa(rate: int) -> None:
    sound, reach = noise(rate, 2), make_kernel(rate).reach
    assert make_kernel(rate).size == reach
    powers = librosa.feature.melspectrogram(
        y=sound,
        sr=rate,
        n_fft=reach,
        hop_length=rate // 50,
        center=False,
        n_mels=MEL_BANDS,
        fmin=50,
        fmax=min(16_000, rate / 2),
        htk=True,
        norm=None,
    )
    window = librosa.filters.get_window("hann", reach)
    expected = 10 * np.log10(powers.T * 2 / (reach * (window**2).sum()))
    found = decode_decibels(log_mel(sound, rate)[: len(expected)])
    assert abs(found - expected).max() <= 0.25 + 0.02


@pytest.mark.parametrize("rate", RATES)
def test_frames_of_a_part_are_those_of_the_whole(rate: int) -> None:
    sound = noise(rate, 1)
    whole = log_mel(sound, rate)
    for first in (1, 7, 20):
        part = frames_from(sound[first_sample(first, rate) :], rate, first, 10)
        assert np.array_equal(part, whole[first : first + 10])


@pytest.mark.parametrize("rate", [*RATES, 11_024, 37_801])
def test_a_frame_counts_if_its_20_ms_are_there(rate: int) -> None:
    for samples in range(0, 3 * rate // 50):
        plain = 0
        while first_sample(plain + 1, rate) <= samples:
            plain += 1
        assert frames_within(samples, rate) == plain


@pytest.mark.parametrize("rate", RATES)
def test_silence_is_0_and_full_scale_is_220(rate: int) -> None:
    assert not log_mel(np.zeros(rate, np.float32), rate).any()
    times = np.arange(rate) / rate
    loud = np.sign(np.sin(2 * np.pi * 441.3 * times)).astype(np.float32)
    found = frame_levels(log_mel(loud, rate))[5:45]
    assert found.max() <= 0.5
    assert found.min() >= -1.5  # bands do not reach to half the rate, nor below 50 Hz


def test_bytes_end_before_what_is_absent() -> None:
    powers = np.array([[0, 1e-11, 1.1e-11, 1, 1e9, np.inf, np.nan]], np.float32)
    # −110 dB is 0; 10·log10(1.1) = 0.41 dB is nearest to one step; 0 dB is 220
    assert encode_powers(powers).tolist() == [[0, 0, 1, 220, 254, 254, 254]]


def test_levels_add_bands_and_know_what_is_absent() -> None:
    frames: Bytes = np.zeros((4, MEL_BANDS), np.uint8)
    frames[1, :2] = 180  # two bands of −20 dB: −20 + 3.01
    frames[2, 5] = 180
    frames[3] = ABSENT_BYTE
    found = frame_levels(frames)
    assert found[:3] == pytest.approx([-110, -16.99, -20], abs=0.01)
    assert np.isnan(found[3])


def test_a_band_holds_the_tone_that_lies_in_it() -> None:
    for band in (0, 10, 25, 39):
        peak = band_edges(32_000)[band + 1]
        tone = np.sin(2 * np.pi * peak * np.arange(32_000) / 32_000).astype(np.float32)
        frame = log_mel(tone, 32_000)[10]
        assert frame.argmax() == band


def test_a_rate_without_bands_is_refused() -> None:
    with pytest.raises(UsageError, match="audio at 100 Hz has no bands above 50 Hz"):
        make_kernel(100)
