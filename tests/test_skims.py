"""TC and SD of one skim, which are those of ``score``."""

from __future__ import annotations

from pathlib import Path

import pytest

import earwitness as ew
from earwitness.skims.metrics import SkimMeasures
from earwitness.skims.types import Pick, Skim
from helpers.random_days import made
from helpers.tones import sound, written

PICKS = [(0.0, 8.0), (48.0, 8.0), (16.0, 8.0)]


def test_blocks_have_the_values_of_the_metric() -> None:
    day = made(3, 12)
    skim = Skim(tuple(Pick(*pick) for pick in PICKS))
    known = SkimMeasures(period=24.0).measure_skim(skim, day)
    values = ew.skims.tc_sd(PICKS, day, period=24.0)
    assert [*values] == ["tc", "sd", "class_coverage", "dtw", "msiou", "sd_msiou"]
    assert tuple(values.values()) == known


def test_sound_has_the_values_of_score(tmp_path: Path) -> None:
    path = written(tmp_path / "day.wav", sound(96.0))
    output = {"item": "day", "system": "s", "output": {"picks": PICKS}}
    scores = ew.score([output], [{"item": "day", "recording": str(path)}], period=24.0)
    values = ew.skims.tc_sd(PICKS, path, period=24.0)
    assert values == pytest.approx(
        {n: e.value for n, e in scores.systems["s"].items()}, nan_ok=True
    )
    assert ew.skims.tc_sd(PICKS, [path], period=24.0) == pytest.approx(values, nan_ok=True)
