"""Times in other units than seconds: errors, notes, the option that converts, undefined values."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path
from typing import Any

import pytest

from earwitness import render, score
from earwitness.errors import UsageError
from helpers.command_line import run

Samples = list[dict[str, Any]]


def chapters(
    outputs: float = 1, references: float = 1, durations: float = 1, count: int = 6
) -> Samples:
    """Return samples of ten minutes in seconds, with times multiplied by these factors."""
    return [
        {
            "hypothesis": [time * outputs for time in (61.0 + place, 300.0, 420.0)],
            "reference": [time * references for time in (60.0, 301.0 + place, 500.0)],
            "duration": 600.0 * durations,
        }
        for place in range(count)
    ]


def files(samples: Samples, systems: str = "s") -> tuple[Samples, Samples]:
    """Return samples as records of outputs and of references."""
    outputs = [
        {"item": str(n), "system": system, "output": {"boundaries": one["hypothesis"]}}
        for n, one in enumerate(samples)
        for system in systems
    ]
    references = [
        {
            "item": str(n),
            "duration": one["duration"],
            "references": [{"boundaries": one["reference"]}],
        }
        for n, one in enumerate(samples)
    ]
    return outputs, references


@pytest.mark.parametrize(
    ("factors", "guess", "option"),
    [
        (
            (1000, 1000, 1),
            "outputs in milliseconds, references in milliseconds",
            "outputs=ms,references=ms",
        ),
        ((1000, 1, 1), "outputs in milliseconds", "outputs=ms"),
        ((1, 1000, 1), "references in milliseconds", "references=ms"),
        ((1, 1, 1000), "durations in milliseconds", "durations=ms"),
        ((1, 1, 1 / 60), "durations in minutes", "durations=min"),
        ((1, 1, 1 / 3600), "durations in hours", "durations=h"),
        ((1 / 60, 1 / 60, 1), "references in minutes, outputs in minutes", ""),
        ((1, 1 / 60, 1), "references in minutes", "references=min"),
        ((1 / 3600, 1 / 3600, 1), "references in hours, outputs in hours", ""),
    ],
)
@pytest.mark.parametrize("joined", [False, True])
def test_other_units_are_errors_that_name_the_unit_and_the_option(
    factors: tuple[float, float, float], guess: str, option: str, joined: bool
) -> None:
    samples = chapters(*factors)
    inputs = files(samples) if joined else (samples,)
    with pytest.raises(UsageError) as caught:
        score(*inputs, metrics="chunks")
    assert f"(probably {guess}) — use --unit {option}" in str(caught.value)
    unit = str(caught.value).split("--unit ")[1].split(", or")[0]
    name = "s" if joined else "outputs"
    found = score(*inputs, metrics="chunks", unit=unit)
    plain = score(chapters(), metrics="chunks")
    for value, estimate in plain.systems["outputs"].items():
        assert found.systems[name][value].value == pytest.approx(estimate.value)
    assert not found.notes
    assert f"|unit={unit}" in found.signature
    loud = score(*inputs, metrics="collar", unit="s")  # said to be in seconds
    assert loud.systems[name]


def test_the_system_in_another_unit_is_named() -> None:
    outputs, references = files(chapters(), "ab")
    for record in outputs:
        if record["system"] == "b":
            times = record["output"]["boundaries"]
            record["output"]["boundaries"] = [1000 * time for time in times]
    with pytest.raises(UsageError) as caught:
        score(outputs, references)
    assert str(caught.value) == (
        "18 of 18 boundaries in the outputs of b are past the duration (probably outputs in "
        "milliseconds) — write times in seconds"
    )


def test_titles_are_converted_with_boundaries() -> None:
    sample = {
        **chapters(1000, 1000)[0],
        "hyp_titles": [["Rain", 60_000]],
        "reference_titles": [["Rain", 61_000]],
    }
    found = score([sample], metrics="titles", unit="outputs=ms,references=ms", tolerance=2)
    plain = score(
        [{**chapters()[0], "hyp_titles": [["Rain", 60]], "reference_titles": [["Rain", 61]]}],
        metrics="titles",
        tolerance=2,
    )
    assert {k: v.value for k, v in found.systems["outputs"].items()} == {
        k: v.value for k, v in plain.systems["outputs"].items()
    }


def test_single_boundaries_past_the_duration_are_noted_before_the_numbers() -> None:
    samples = chapters()
    samples[2]["hypothesis"].append(601.0)
    samples[4]["reference"].append(640.0)
    scores = score(samples)
    note = "Check the times: 2 boundaries lie past the duration"
    assert scores.notes == (note,)
    text = render(scores)
    assert text.startswith(note)
    assert text.count("Check the times") == 1


def test_durations_in_milliseconds_are_noted_if_all_times_are() -> None:
    scores = score(chapters(1000, 1000, 1000))
    [note] = scores.notes
    assert note.startswith("Check the times: all recordings are longer than 100,000 s")
    assert "--unit ms" in note
    found = score(chapters(1000, 1000, 1000), unit="ms")
    assert found.notes == ()
    plain = score(chapters()).systems["outputs"]["boundary_similarity"].value
    assert found.systems["outputs"]["boundary_similarity"].value == plain
    assert score(chapters(1000, 1000, 1000), unit="s").notes == ()


def test_one_early_reference_is_no_other_unit() -> None:
    samples = chapters()
    samples[0] |= {"hypothesis": [5.0], "reference": [4.0]}
    assert score(samples).notes == ()
    assert score([samples[0]]).notes == ()


@pytest.mark.parametrize("metric", ["chunks", "similarity", "segments"])
def test_values_without_a_boundary_inside_are_undefined_not_perfect(metric: str) -> None:
    later = {"hypothesis": [700.0], "reference": [710.0], "duration": 600.0}
    nothing = {"hypothesis": [], "reference": [], "duration": 600.0}
    scores = score([later, nothing], metrics=metric).systems["outputs"]
    value = {"chunks": "boundary_similarity", "similarity": "segmentation_similarity"}.get(
        metric, "v_measure"
    )
    assert (scores[value].value, scores[value].n, scores[value].undefined) == (1.0, 1, 1)
    assert isnan(score([later], metrics=metric).systems["outputs"][value].value)
    one_sided = {**later, "reference": []}
    assert isnan(score([one_sided], metrics=metric).systems["outputs"][value].value)


def test_sentences_after_the_end_are_refused_and_never_perfect() -> None:
    spoken = [["Rain.", 42_500.0], ["Sun.", 51_000.0], ["Snow.", 60_000.0]]
    samples = [{**one, "reference_sentences": spoken} for one in chapters()]
    with pytest.raises(UsageError, match="18 of 18 starts in the sentences are past the duration"):
        score(samples, metrics="sentences")
    single = [{**chapters()[0], "reference_sentences": [["Rain.", 1.0], ["Sun.", 51_000.0]]}]
    scores = score(single, metrics="sentences").systems["outputs"]
    assert isnan(scores["sentence_boundary_similarity"].value)


@pytest.mark.parametrize("unit", ["hours", "outputs=", "sides=ms", "ms,outputs=x"])
def test_unknown_units_are_refused(unit: str) -> None:
    with pytest.raises(UsageError, match="unit: unknown name"):
        score(chapters(), unit=unit)


def write(path: Path, samples: Samples) -> Path:
    """Write samples as JSON Lines."""
    path.write_text("".join(json.dumps(one) + "\n" for one in samples), encoding="utf-8")
    return path


def test_the_command_chunkseg_refuses_and_warns_too(tmp_path: Path) -> None:
    path = write(tmp_path / "ms.jsonl", chapters(1000, 1000))
    done = run("chunkseg", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "use earwitness score --unit outputs=ms,references=ms" in done.stderr
    exact = run("chunkseg", path, "--exact")
    assert (exact.returncode, exact.stderr) == (0, "")
    assert "boundary_similarity: 100.0" in exact.stdout
    samples = chapters()
    samples[0]["hypothesis"].append(640.0)
    path = write(tmp_path / "one.jsonl", samples)
    warning = "Warning: Check the times: 1 boundary lies past the duration\n"
    assert run("chunkseg", path).stderr == warning
    text = "[CSTART] 0:00:10 - A [CEND] rain"
    transcript = {**chapters(1, 1000)[0], "hypothesis": text, "format": "cstart_ts"}
    path = write(tmp_path / "text.jsonl", [transcript])
    assert "references are past the duration" in run("chunkseg", path).stderr
