"""Stand-ins for four systems: suppress the noise of all WAV files of CLIPS in FOLDER/C1 to C4.

Every system estimates the spectrum of the noise from the quietest moments of a clip and attenuates
what is close to it: C1 little, C2 strongly, C3 as C2 but without smoothing (musical noise), and C4
as C1, but band-limited. C0 has the clips unchanged.
"""

from __future__ import annotations

import shutil
import sys
import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FRAME, HOP = 512, 128
SYSTEMS = {  # oversubtraction, smallest gain, smoothing over frames, band limit in Hz
    "C1": (1.0, 0.35, 0.8, 8000),
    "C2": (2.5, 0.05, 0.8, 8000),
    "C3": (2.5, 0.05, 0.0, 8000),
    "C4": (1.0, 0.35, 0.8, 3400),
}
Sound = NDArray[np.float64]


def suppress_noise(
    noisy: Sound, rate: int, over: float, floor: float, smooth: float, band: float
) -> Sound:
    """Return a clip with less noise, as long as before."""
    window = np.sqrt(np.hanning(FRAME + 1)[:-1])
    padded = np.concatenate([np.zeros(FRAME), noisy, np.zeros(2 * FRAME)])
    starts = range(0, len(padded) - FRAME, HOP)
    spectra = np.array([np.fft.rfft(window * padded[s : s + FRAME]) for s in starts])
    powers = np.abs(spectra) ** 2
    used = powers[powers.sum(axis=1) > 0]
    noise = used[used.sum(axis=1) <= np.quantile(used.sum(axis=1), 0.2)].mean(axis=0)
    gains = np.sqrt(np.clip(1 - over * noise / np.maximum(powers, 1e-20), floor**2, 1))
    for row in range(1, len(gains)):
        gains[row] = smooth * gains[row - 1] + (1 - smooth) * gains[row]
    gains[:, np.fft.rfftfreq(FRAME, 1 / rate) > band] = 0
    made = np.zeros(len(padded))
    for start, spectrum in zip(starts, gains * spectra, strict=True):
        made[start : start + FRAME] += window * np.fft.irfft(spectrum, FRAME) * 2 * HOP / FRAME
    return made[FRAME : FRAME + len(noisy)]


def main(clips: Path, folder: Path) -> None:
    """Write the clips of all systems."""
    for source in sorted(clips.glob("*.wav")):
        with wave.open(str(source), "rb") as file:
            form, data = file.getparams(), file.readframes(file.getnframes())
        noisy = np.frombuffer(data, "<i2") / 2**15
        for system, how in SYSTEMS.items():
            (folder / system).mkdir(parents=True, exist_ok=True)
            made = suppress_noise(noisy, form.framerate, *how)
            with wave.open(str(folder / system / source.name), "wb") as file:
                file.setparams(form)
                file.writeframes(
                    np.round(2**15 * np.clip(made, -1, 0.9999)).astype("<i2").tobytes()
                )
        (folder / "C0").mkdir(parents=True, exist_ok=True)
        shutil.copy(source, folder / "C0" / source.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
