"""Skims scored from files, beside baselines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from earwitness.errors import InputError
from earwitness.scoring.score import score
from earwitness.skims import metrics
from earwitness.skims.day import Day, hear_rows
from earwitness.skims.measures import DayMeasures, calibration_tc
from earwitness.skims.metrics import SkimMeasures
from helpers.random_days import made
from helpers.samples import write_lines
from skims.test_reader import RECORDED, write_blocks


def corpus(folder: Path, lines: list[dict[str, Any]]) -> tuple[Path, Path, list[Day]]:
    """Two items with precomputed blocks, and outputs."""
    known = [made(seed, 200, drift=9.0) for seed in (1, 2)]
    for name, day in zip("ab", known, strict=True):
        write_blocks(folder / f"{name}.npz", day)
    references = [{"item": name, "blocks": f"{name}.npz"} for name in "ab"]
    outputs = write_lines(folder / "outputs.jsonl", lines)
    return outputs, write_lines(folder / "references.jsonl", references), known


def course(day: Day) -> list[list[float]]:
    return [[float(day.starts[row]), 8.0] for row in calibration_tc(day, 6)]


def test_skims_are_scored_against_their_recordings(tmp_path: Path) -> None:
    lines = []
    for name, seed in (("a", 1), ("b", 2)):
        right = course(made(seed, 200, drift=9.0))
        lines += [
            {"item": name, "system": "course", "output": {"picks": right}},
            {"item": name, "system": "reordered", "output": {"picks": right[::-1]}},
            {"item": name, "system": "none", "output": {"times": []}},
        ]
    outputs, references, known = corpus(tmp_path, lines)
    found = score(outputs, references, period=100.0, draws=10)
    assert found.signature.startswith(
        "earwitness=0.1.0|skims(embedder=codebook,block=8.0,period=100"
    )
    assert found.systems["course"]["tc"].value == 1
    assert found.systems["reordered"]["tc"].value < 1
    for value in ("sd", "class_coverage", "msiou"):
        both = [found.systems[system][value].value for system in ("course", "reordered")]
        assert both[0] == both[1] > 0
    assert [found.systems["none"][value].value for value in ("tc", "sd", "class_coverage")] == [
        0,
        0,
        0,
    ]
    assert found.systems["none"]["dtw"].undefined == 2
    own = [DayMeasures(day, 100.0) for day in known]
    hand = [one.coverage(hear_rows(one.day, calibration_tc(one.day, 6))) for one in own]
    assert found.systems["course"]["class_coverage"].value == pytest.approx(np.mean(hand))
    assert any("2 items have precomputed blocks" in note for note in found.notes)


def test_baselines_and_calibrations_are_scored_in_the_same_run(tmp_path: Path) -> None:
    line = {"item": "a", "system": "s", "output": {"times": [8.0, 80.0]}}
    outputs, references, _ = corpus(tmp_path, [line, line | {"item": "b"}])
    wanted = ["downsampling", "random", "calibration_tc", "calibration_sd"]
    found = score(outputs, references, baselines=wanted, period=100.0, draws=10)
    assert found.systems["(calibration_tc)"]["tc"].value == 1
    assert found.systems["(calibration_sd)"]["sd"].value == 1
    for name in ("(downsampling)", "(random)"):
        assert 0 < found.systems[name]["tc"].value < 1
    again = score(outputs, references, baselines=wanted, period=100.0, draws=10, seed=1)
    tc = [one.systems["(random)"]["tc"].value for one in (found, again)]
    assert tc[0] != tc[1]


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"item": "a", "system": "s", "output": {"times": [-1.0, 8.0, 1e6]}},
        {"item": "b", "system": "s", "output": {"picks": [[8.0, 0]]}},
        {"item": "c", "system": "s", "output": {"picks": [[8.0, 8]]}},
    ]
    outputs, references, _ = corpus(tmp_path, lines)
    with pytest.raises(InputError) as caught:
        score(outputs, references)
    told = [f"{one.line} {one.field}" for one in caught.value.problems if one.line]
    assert told == ["1 output.times[0]", "1 output.times[2]", "2 output.picks[0][1]", "3 item"]


def test_blocks_that_are_missing_are_told_by_their_line(tmp_path: Path) -> None:
    outputs, references, _ = corpus(
        tmp_path, [{"item": "a", "system": "s", "output": {"times": []}}]
    )
    (tmp_path / "b.npz").unlink()
    with pytest.raises(InputError, match=r"references.jsonl:2: blocks: .*b.npz: cannot be read"):
        score(outputs, references)


def test_a_recording_is_embedded_once_for_all_its_skims(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def heard_by(reference: metrics.MarkedRecording, embedder: str, block: float) -> Day:
        asked.append((reference.recording.name, embedder, block))
        return made(1, 100)

    monkeypatch.setattr(metrics, "embed_day", heard_by)
    metrics.measure_day.cache_clear()
    metric = SkimMeasures(embedder="log-mel", block=8.0, period=40.0)
    first = metrics.measure_day(RECORDED, metric.embedder, metric.block, metric.period)
    assert metrics.measure_day(RECORDED, metric.embedder, metric.block, metric.period) is first
    assert asked == [("day", "log-mel", 8.0)]
    metrics.measure_day.cache_clear()
