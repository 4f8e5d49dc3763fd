"""Boundary metrics of chunkseg samples, one value per sample."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from earwitness.chapters.cases import ChapterCases
from earwitness.core import Case
from earwitness.errors import InputError, Problem
from earwitness.registry import METRICS
from earwitness.stats.arrays import Floats, Ragged

VALUES_CHUNKSEG_LACKS = ("f1", "f1_micro", "f1_sample")
REQUIRED_FIELDS = ("hypothesis", "reference", "duration")
SAMPLES_PER_KERNEL_CALL = 500  # samples that fit into the cache of a core


def boundary_table(
    samples: Sequence[Mapping[str, Any]], chunk_size: float, collar: float
) -> dict[str, Floats]:
    """Return values by name, one number per sample."""
    cases = _chapter_cases(samples)
    metrics = (METRICS["chunks"](chunk_size), METRICS["collar"](collar))  # type: ignore[call-arg]
    starts = range(0, len(cases), SAMPLES_PER_KERNEL_CALL)
    table: dict[str, Floats] = {}
    for metric in metrics:
        rows = [
            metric.measure_many(cases[start : start + SAMPLES_PER_KERNEL_CALL]) for start in starts
        ]
        values = metric.score(np.concatenate(rows)) if rows else np.empty((0, len(metric.values)))
        names = [value.name for value in metric.values]
        table |= {n: values[:, i] for i, n in enumerate(names) if n not in VALUES_CHUNKSEG_LACKS}
    return table


def _chapter_cases(samples: Sequence[Mapping[str, Any]]) -> Sequence[Case]:
    try:
        duration = np.array([sample["duration"] for sample in samples])
        output = Ragged.from_rows([sample["hypothesis"] for sample in samples])
        reference = Ragged.from_rows([sample["reference"] for sample in samples])
    except (TypeError, KeyError, ValueError) as error:
        raise _sample_error(samples, error) from error
    if len(duration) and (duration.dtype.kind not in "fiub" or np.isnan(duration).any()):
        raise _sample_error(samples, ValueError("durations must be numbers"))
    blank = [""] * len(samples)
    return ChapterCases(blank, blank, duration.astype(np.float64), output, reference)


def _sample_error(samples: Sequence[Any], error: Exception) -> Exception:
    """Return an error with the faults of all samples."""
    problems = [
        Problem(f"sample {index}", 0, field, message)
        for index, sample in enumerate(samples)
        for field, message in _sample_faults(sample)
    ]
    return InputError(problems) if problems else error


def _sample_faults(sample: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(sample, Mapping):
        yield "", f"must be an object, got {type(sample).__name__}"
        return
    for field in REQUIRED_FIELDS:
        if field not in sample:
            yield field, "missing"
        elif field == "duration":
            if not _is_number(sample[field]) or math.isnan(sample[field]):
                yield field, f"must be a number, got {sample[field]!r}"
        elif not isinstance(sample[field], Iterable):
            yield field, f"must be a list of numbers, got {sample[field]!r}"
        else:
            for place, time in enumerate(sample[field]):
                if not _is_number(time):
                    yield f"{field}[{place}]", f"must be a number, got {time!r}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number | np.bool_)
