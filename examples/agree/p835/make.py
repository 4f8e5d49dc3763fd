"""Write metric scores and P.835 ratings of the same audio files; they are reproducible.

Twelve systems enhance twelve clips. They differ in how much speech and noise they keep; metrics
measure part of that, listeners hear all of it.
"""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
SYSTEMS, CLIPS, LISTENERS = 12, 12, 10


class Sound(NamedTuple):
    """Quality of speech and background of an output, from 0 to 1."""

    file: str
    speech: float
    background: float

    @property
    def overall(self) -> float:
        """Overall quality, closer to the worse of the two."""
        low, high = sorted([self.speech, self.background])
        return 0.65 * low + 0.35 * high


def sounds(rng: random.Random) -> list[Sound]:
    """Return every clip of every system; some clips are harder than others."""
    hard = [rng.gauss(0, 0.07) for _ in range(CLIPS)]
    found = []
    for system in range(1, SYSTEMS + 1):
        strength = system / SYSTEMS  # removing more noise also removes more speech
        speech = 0.7 - 0.1 * strength + rng.gauss(0, 0.18)
        background = 0.25 + 0.5 * strength + rng.gauss(0, 0.08)
        for clip in range(1, CLIPS + 1):
            own = [x - hard[clip - 1] + rng.gauss(0, 0.06) for x in (speech, background)]
            speech_, background_ = (min(1.0, max(0.0, x)) for x in own)
            found.append(Sound(f"C{system:02}/clip{clip}.wav", speech_, background_))
    return found


def scores(sound: Sound, rng: random.Random) -> dict[str, Any]:
    """Return metric scores; lower is better for ``noise_left``; ``loudness`` is unrelated."""
    even = (sound.speech + sound.background) / 2
    return {
        "file": sound.file,
        "pesq": f"{1.1 + 3 * even + rng.gauss(0, 0.2):.2f}",
        "sisdr": f"{-2 + 20 * sound.background + rng.gauss(0, 2):.1f}",
        "dnsmos_like": f"{1 + 3.4 * sound.overall + rng.gauss(0, 0.15):.2f}",
        "noise_left": f"{-15 - 40 * sound.background + rng.gauss(0, 3):.1f}",
        "loudness": f"{-23 + rng.gauss(0, 1):.1f}",
    }


def votes(sound: Sound, listener: int, bias: float, rng: random.Random) -> dict[str, Any]:
    """Return the ratings of a listener, from 1 to 5."""
    qualities = {"SIG": sound.speech, "BAK": sound.background, "OVRL": sound.overall}
    said = {
        name: min(5, max(1, round(1 + 4 * quality + bias + rng.gauss(0, 0.6))))
        for name, quality in qualities.items()
    }
    return {"file": sound.file, "listener": f"L{listener}", **said}


def main() -> None:
    """Write both tables."""
    rng = random.Random(835)
    every = sounds(rng)
    _write("scores.csv", [scores(sound, rng) for sound in every])
    biases = [rng.gauss(0, 0.3) for _ in range(LISTENERS)]
    rows = [votes(sound, n, bias, rng) for n, bias in enumerate(biases, 1) for sound in every]
    _write("ratings.csv", rows)


def _write(name: str, rows: list[dict[str, Any]]) -> None:
    with (FOLDER / name).open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
