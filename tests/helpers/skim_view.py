"""A day with a dawn chorus, traffic, a shower and bells, drawn as levels: made in a moment."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np

from earwitness.core import Estimate
from earwitness.recordings.types import Damage, Recording, Stretch
from earwitness.report.parts import Plane
from earwitness.skims.report import tradeoff_plane
from earwitness.skims.types import Pick, Skim, SkimResult
from earwitness.skims.view import SkimMeasure, SkimView, Spectrogram

BEGAN = datetime(2025, 7, 22, 0, 0, tzinfo=ZoneInfo("Europe/Paris"))
DAY = 86_400.0
GONE = (50_400.0, 55_800.0)  # seconds that nobody recorded


def spectrogram(columns: int = 1_200, bands: int = 40) -> Spectrogram:
    rng = np.random.default_rng(4)
    hours = np.linspace(0, 24, columns, endpoint=False)[None, :]
    band = np.arange(bands)[:, None] / bands

    def hump(place: float, wide: float, low: float, high: float) -> np.ndarray[tuple[int, int]]:
        time = np.exp(-(((hours - place) / wide) ** 2))
        return time * np.exp(-(((band - (low + high) / 2) / (high - low)) ** 2))

    levels = 60 - 30 * band + rng.normal(0, 4, (bands, columns))
    levels = levels + 70 * hump(5.5, 0.9, 0.55, 0.85) * (0.6 + 0.4 * rng.random((bands, columns)))
    levels += 40 * (hump(8.3, 1.2, 0.0, 0.4) + hump(17.8, 1.6, 0.0, 0.4))
    levels += 50 * hump(20.5, 0.4, 0.1, 0.9) + 25 * hump(22.5, 1.0, 0.7, 0.75)
    for hour in range(7, 22):
        levels[12:22, int(hour / 24 * columns)] += 45
    gone = (hours[0] * 3600 >= GONE[0]) & (hours[0] * 3600 < GONE[1])
    return Spectrogram(np.clip(levels, 0, 220).astype(np.uint8), gone, 50.0, 16_000.0)


def plane() -> Plane:
    """Five skims of one method, and a baseline with intervals."""
    recording = Recording("village", (), DAY, 32_000, 1)
    skims = [
        SkimResult(
            recording,
            "pareto",
            z / 4,
            Skim(()),
            {"tc": 1.02 - 0.1 * z**1.3, "sd": 0.55 + 0.1 * z**0.8},
            "",
        )
        for z in range(5)
    ]
    tc, sd = (Estimate(x, x - 0.03, x + 0.04, 0.95, 20, 0, "t") for x in (0.86, 0.47))
    return tradeoff_plane("village", skims, {("random", 12): {"tc": tc, "sd": sd}})


def shown(audio: bytes = b"", mime: str = "audio/flac", picks: int = 12) -> SkimView:
    starts = np.linspace(0.04, 0.96, picks) * DAY
    starts[3:5] = 19_800, 20_300  # two that lie close together
    starts = np.where((starts >= GONE[0]) & (starts < GONE[1]), GONE[1] + 600, starts)
    edges = [0.0, *((a + b) / 2 for a, b in pairwise(starts.tolist())), DAY]
    chosen = tuple(
        Pick(
            float(start),
            8.0,
            turned=number == 7,
            why={"from": edges[number], "to": edges[number + 1], "brings": 0.011 * (number % 5)},
        )
        for number, start in enumerate(starts)
    )
    stretches = (
        Stretch("village/20250722_000000.WAV", 0.0, 0.0, GONE[0]),
        Stretch("village/20250722_153000.WAV", 0.0, GONE[1], DAY - GONE[1]),
    )
    damages = (Damage("village/20250722_153000.WAV", 900.0, GONE[1] + 900, "broken frame"),)
    recording = Recording("village", stretches, DAY, 32_000, 1, BEGAN, damages)
    return SkimView(
        recording,
        Skim(chosen, 3.0),
        spectrogram(),
        audio,
        mime,
        (
            SkimMeasure("TC", 0.912, "temporal consistency: follows what is most present"),
            SkimMeasure("SD", 0.774, "source diversity: has what occurs"),
            SkimMeasure("coverage", 0.688, "share of the day's classes"),
        ),
        plane(),
        ("pareto", "z = 0.5"),
        ("pareto, z = 0.5, seed 0", "earwitness 0.1", "village/20250722_000000.WAV: sha256 0a26"),
        replace(spectrogram(600), missing=np.zeros(600, np.bool_)),
    )
