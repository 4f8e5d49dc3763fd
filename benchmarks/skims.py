"""Log-mel frames beside librosa: times and their ratio.

Both give powers of 40 bands in decibels, for ten seconds of noise at each rate; ours in bytes, as
they are kept. Times are those of the processor, so that other work beside it hardly counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import librosa
import numpy as np

from earwitness.audio.logmel import BANDS, HIGHEST, LOWEST, PER_SECOND, Floats, kernel, log_mel

RATES = (16_000, 32_000, 44_100, 48_000)
SECONDS = 10


def seconds(work: Callable[[], object]) -> float:
    """The shortest of several runs."""
    found: list[float] = []
    while len(found) < 5 or (sum(found) < 2 and len(found) < 100):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def by_librosa(sound: Floats, rate: int) -> Floats:
    """The same bands, in decibels."""
    powers = librosa.feature.melspectrogram(
        y=sound,
        sr=rate,
        n_fft=kernel(rate).reach,
        hop_length=rate // PER_SECOND,
        center=False,
        n_mels=BANDS,
        fmin=LOWEST,
        fmax=min(HIGHEST, rate / 2),
        htk=True,
        norm=None,
    )
    return np.asarray(librosa.power_to_db(powers))


def log_mel_beside_librosa(rate: int) -> None:
    """One line: how much faster than the sound itself each is, and the ratio."""
    rng = np.random.Generator(np.random.PCG64(0))
    sound = (0.1 * rng.normal(size=rate * SECONDS)).astype(np.float32)
    ours = seconds(lambda: log_mel(sound, rate))
    peer = seconds(lambda: by_librosa(sound, rate))
    print(
        f"log-mel of {rate:,} Hz: ours {SECONDS / ours:,.0f} × real time, "
        f"librosa {SECONDS / peer:,.0f} ×, ratio {peer / ours:.1f}"
    )


def main() -> None:
    """Print everything."""
    for rate in RATES:
        log_mel_beside_librosa(rate)


if __name__ == "__main__":
    main()
