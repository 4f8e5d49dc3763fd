"""Reference conditions: noise at an SNR(A), noise-suppression distortion, MNRU, low-pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from earwitness.audio.files import Sound
from earwitness.audio.loudness import a_weighted_power
from earwitness.audio.signal import low_pass
from earwitness.errors import UsageError

Floats = NDArray[np.float64]

# --- Conditions of P.835 --------------------------------------------------------------------------


class P835Condition(NamedTuple):
    """A reference condition: degree of distortion from 1 (strongest) to 4, and SNR(A) in dB."""

    distortion: int | None = None
    snr_a: float | None = None

    def __str__(self) -> str:
        parts = [f"distortion level {self.distortion}"] if self.distortion else []
        parts += [f"noise at {self.snr_a:g} dB SNR(A)"] if self.snr_a is not None else []
        return ", ".join(parts) or "clean"


P835_CONDITIONS = {
    "i01": P835Condition(),
    "i02": P835Condition(snr_a=0.0),
    "i03": P835Condition(snr_a=12.0),
    "i04": P835Condition(snr_a=24.0),
    "i05": P835Condition(snr_a=36.0),
    "i06": P835Condition(1),
    "i07": P835Condition(2),
    "i08": P835Condition(3),
    "i09": P835Condition(4),
    "i10": P835Condition(3, 24.0),
    "i11": P835Condition(2, 12.0),
    "i12": P835Condition(1, 0.0),
}
CONTROL_SNRS_DB = {1: -3.0, 2: 3.0, 3: 9.0, 4: 15.0}  # SNR(A) of the mixture that is suppressed


# --- Noise ---------------------------------------------------------------------------------------


SPECTRUM_WINDOW_SECONDS = 0.064  # of the long-term spectrum
LOOP_FADE_SECONDS = 0.05  # cross-fade where a noise is repeated
MIN_NOISE_SECONDS = 0.5


def measure_spectrum(samples: Floats, rate: int) -> Floats:
    """Return the long-term power spectrum of one channel; its sum is 1.

    It has one value per frequency, from 0 to half the sample rate, and is the same for the same
    signal at any level.
    """
    size = round(SPECTRUM_WINDOW_SECONDS * rate) // OVERLAP_FACTOR * OVERLAP_FACTOR
    powers = (np.abs(_analyse(samples, size)) ** 2).mean(axis=0)
    return np.asarray(powers / max(float(powers.sum()), np.finfo(float).tiny))


def make_noise(spectrum: Floats, frames: int, rng: Generator) -> Floats:
    """Return Gaussian noise with a long-term spectrum, of mean power 1.

    Parameters
    ----------
    spectrum
        Power spectrum, as of ``measure_spectrum``.
    frames
        Number of samples to return.
    rng
        Random generator.
    """
    places = np.linspace(0, len(spectrum) - 1, frames // 2 + 1)
    shape = np.sqrt(np.interp(places, np.arange(len(spectrum)), spectrum))
    noise = np.fft.irfft(np.fft.rfft(rng.standard_normal(frames)) * shape, frames)
    return np.asarray(noise / np.sqrt(np.mean(noise**2)))


def cut_noise(noise: NDArray[Any], rate: int, frames: int, rng: Generator) -> Floats:
    """Return a passage of a noise from a random position, repeated with cross-fades if too short.

    Parameters
    ----------
    noise
        Recording of noise, one channel.
    rate
        Sample rate in Hz.
    frames
        Number of samples to return.
    rng
        Random generator.
    """
    if len(noise) < MIN_NOISE_SECONDS * rate:
        raise UsageError(f"a noise must last at least {MIN_NOISE_SECONDS:g} s")
    if len(noise) < frames:
        fade = round(LOOP_FADE_SECONDS * rate)
        rise = np.sin(np.pi / 2 * (np.arange(fade) + 0.5) / fade)
        period = noise[:-fade].copy()
        period[:fade] = noise[:fade] * rise + noise[-fade:] * rise[::-1]
        start = int(rng.integers(len(period)))
        return np.resize(np.roll(period, -start), frames).astype(np.float64)
    start = int(rng.integers(len(noise) - frames + 1))
    return noise[start : start + frames].astype(np.float64)


# --- Signal-to-noise ratio -----------------------------------------------------------------------
# SNR(A) is the A-weighted level of active speech minus the A-weighted level of the noise. The power
# of active speech is the mean power divided by the share of time in which there is speech.


def measure_snr_a(speech: Floats, noise: Floats, rate: int, activity: float) -> float:
    """Return the SNR(A) of speech and noise in dB.

    Parameters
    ----------
    speech, noise
        Samples of one channel each.
    rate
        Sample rate in Hz.
    activity
        Share of time in which there is speech, from 0 to 1 (ITU-T P.56).
    """
    powers = a_weighted_power(speech, rate) / activity, a_weighted_power(noise, rate)
    return float(10 * np.log10(powers[0] / powers[1])) if powers[1] > 0 else np.inf


def scale_noise(speech: Floats, noise: Floats, rate: int, activity: float, snr_a: float) -> Floats:
    """Return noise scaled to an SNR(A) in dB relative to speech.

    Parameters are those of ``measure_snr_a``.

    Raises
    ------
    UsageError
        If the noise is silent, or has samples that are not numbers.
    """
    if not 0 < a_weighted_power(noise, rate) < np.inf:
        raise UsageError("the noise is silent, or has samples that are not numbers")
    excess = measure_snr_a(speech, noise, rate, activity) - snr_a
    return np.asarray(noise * 10 ** (excess / 20))


BACKGROUND_FRAME_SECONDS, BACKGROUND_SHARE = 0.05, 0.05  # of the quietest parts of a clip


def measure_background(samples: Floats, rate: int, activity: float) -> float:
    """Return the level of the quietest parts of speech, in dB relative to its active level.

    Parameters are those of ``measure_snr_a``.
    """
    size = round(BACKGROUND_FRAME_SECONDS * rate)
    powers = np.mean(samples[: len(samples) // size * size].reshape(-1, size) ** 2, axis=1)
    quiet = float(np.sort(powers)[: max(1, round(BACKGROUND_SHARE * len(powers)))].mean())
    return 10 * float(np.log10(quiet * activity / np.mean(samples**2))) if quiet else -np.inf


# --- Noise-suppression distortion ----------------------------------------------------------------
# A noise suppressor (spectral subtraction) computes its gains from a mixture of speech and noise;
# these gains are applied to the clean speech. Speech is distorted as by the suppressor, in a silent
# background. The lower the SNR of the mixture, the stronger the distortion.


SUPPRESSION_WINDOW_SECONDS = 0.032
OVERLAP_FACTOR = 4  # windows that cover each sample
OVERSUBTRACTION = 3.0  # noise power subtracted, as a multiple of its mean
MIN_SUPPRESSION_GAIN = 0.01  # −40 dB


def suppress_speech(speech: Floats, noise: Floats, rate: int) -> Floats:
    """Return speech distorted by the gains that remove noise from the mixture of both.

    Parameters
    ----------
    speech, noise
        Samples of one channel each, of the same length; the noise has its level in the mixture.
    rate
        Sample rate in Hz.

    Returns
    -------
    array
        Distorted speech of the same length and mean power, without the noise.
    """
    size = round(SUPPRESSION_WINDOW_SECONDS * rate) // OVERLAP_FACTOR * OVERLAP_FACTOR
    mixture = np.abs(_analyse(speech + noise, size)) ** 2
    floor = (np.abs(_analyse(noise, size)) ** 2).mean(axis=0)
    share = 1 - OVERSUBTRACTION * floor / np.maximum(mixture, np.finfo(float).tiny)
    gains = np.sqrt(np.maximum(share, MIN_SUPPRESSION_GAIN**2))
    distorted = _synthesize(_analyse(speech, size) * gains, size, len(speech))
    power = np.mean(distorted**2)
    return np.asarray(distorted * np.sqrt(np.mean(speech**2) / power)) if power else distorted


def measure_si_sdr(reference: Floats, samples: Floats) -> float:
    """Return the scale-invariant signal-to-distortion ratio in dB.

    Parameters
    ----------
    reference
        Undistorted signal.
    samples
        Distorted signal, of the same length.

    Examples
    --------
    >>> round(measure_si_sdr(np.array([1.0, 1.0]), np.array([3.0, 1.0])), 2)
    6.02
    """
    power = float(reference @ reference)
    target = reference * (float(samples @ reference) / power if power else 0.0)
    error = samples - target
    kept, lost = float(target @ target), float(error @ error)
    if lost <= kept * np.finfo(float).eps:
        return np.inf
    return float(10 * np.log10(kept / lost)) if kept else -np.inf


def _analyse(samples: Floats, size: int) -> NDArray[np.complex128]:
    """Return spectra of Hann-windowed frames that overlap and cover all samples alike."""
    hop = size // OVERLAP_FACTOR
    count = -(-len(samples) // hop) + OVERLAP_FACTOR - 1
    padded = np.zeros((count - 1) * hop + size)
    padded[size - hop : size - hop + len(samples)] = samples
    frames = np.lib.stride_tricks.sliding_window_view(padded, size)[::hop]
    return np.asarray(np.fft.rfft(frames * _window(size), axis=1))


def _synthesize(spectra: NDArray[np.complex128], size: int, length: int) -> Floats:
    """Return the samples of spectra of ``_analyse``: windowed again, added and normalized."""
    hop, window = size // OVERLAP_FACTOR, _window(size)
    frames = np.fft.irfft(spectra, size, axis=1) * window
    sums = np.zeros((len(frames) + OVERLAP_FACTOR - 1, hop))
    for part in range(OVERLAP_FACTOR):
        sums[part : part + len(frames)] += frames[:, part * hop : (part + 1) * hop]
    total = (window.reshape(OVERLAP_FACTOR, hop) ** 2).sum(axis=0)
    return np.asarray((sums / total).ravel()[size - hop :][:length])


def _window(size: int) -> Floats:
    return np.asarray(np.hanning(size + 1)[:-1])


# --- Modulated noise reference unit --------------------------------------------------------------


MNRU_BANDS_HZ = {"narrow": (100.0, 3400.0), "wide": (100.0, 7000.0), "full": None}
BAND_EDGE_RATIO = 1.06  # of the frequencies at which a band edge starts and ends


def apply_mnru(
    samples: Floats, rate: int, q: float, rng: Generator, *, band: str = "full"
) -> Floats:
    """Return speech with multiplicative noise, after ITU-T P.810.

    The noise is Gaussian, multiplied by the speech: ``x · (1 + 10^(−Q/20) · N)``. It is scaled to
    its measured power, so that Q is exact for this clip and within the band.

    Parameters
    ----------
    samples
        Speech, one channel.
    rate
        Sample rate in Hz.
    q
        Ratio of speech to noise power in dB.
    rng
        Random generator.
    band
        Band to which speech and noise are limited: ``narrow`` (100–3400 Hz), ``wide``
        (100–7000 Hz) or ``full``.
    """
    limits = MNRU_BANDS_HZ[band]
    noise = samples * rng.standard_normal(len(samples))
    if limits is not None:
        if rate < 2 * limits[1]:
            raise UsageError(f"audio at {rate} Hz does not contain the band up to {limits[1]:g} Hz")
        samples, noise = (_limit_band(signal, rate, limits) for signal in (samples, noise))
    powers = float(np.mean(samples**2)), float(np.mean(noise**2))
    gain = 10 ** (-q / 20) * np.sqrt(powers[0] / powers[1]) if powers[1] else 0.0
    return np.asarray(samples + gain * noise)


def _limit_band(samples: Floats, rate: int, limits: tuple[float, float]) -> Floats:
    """Return samples without frequencies outside a band; the filter has no delay."""
    size = 2 * len(samples)
    octaves = np.log(np.maximum(np.fft.rfftfreq(size, 1 / rate), 1e-9))
    width = np.log(BAND_EDGE_RATIO)
    rise = np.clip((octaves - np.log(limits[0])) / width + 1, 0, 1)
    fall = np.clip((np.log(limits[1]) - octaves) / width + 1, 0, 1)
    gains = np.sin(np.pi / 2 * rise) * np.sin(np.pi / 2 * fall)
    filtered: NDArray[Any] = np.fft.irfft(np.fft.rfft(samples, size) * gains, size)
    return np.asarray(filtered[: len(samples)])


# --- Low-pass anchors ----------------------------------------------------------------------------


def make_anchor(sound: Sound, cutoff: float) -> Sound:
    """Return a sound low-passed at ``cutoff`` Hz, without delay.

    A filter may slightly overshoot full scale; samples of integer formats are limited to it.
    """
    samples = low_pass(sound.samples, sound.rate, cutoff)
    if not sound.subtype.startswith(("FLOAT", "DOUBLE")):
        samples = samples.clip(-1, 1)
    return sound._replace(samples=samples)


def anchor_loss(reference: Sound, anchor: Sound) -> float:
    """Return the level of what an anchor lacks, in dB(A) relative to its reference.

    >>> tone = Sound(np.sin(2 * np.pi * 1_000 * np.arange(16_000) / 16_000)[:, None], 16_000, "")
    >>> round(anchor_loss(tone, tone._replace(samples=0.9 * tone.samples)), 1)
    -20.0
    """
    frames = min(len(reference.samples), len(anchor.samples))
    heard, kept = (sound.samples[:frames].mean(axis=1) for sound in (reference, anchor))
    lost, whole = (a_weighted_power(samples, reference.rate) for samples in (heard - kept, heard))
    return 10 * float(np.log10(lost / whole)) if lost and whole else -np.inf
