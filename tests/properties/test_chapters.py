"""What must hold for any chapters."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.chapters.metrics import Chunks, Collar
from earwitness.metric import Metric
from earwitness.registry import METRICS
from helpers.samples import Sample, chunk_sizes, collars, columns, sample


def values(sample: Sample, chunk_size: float = 6.0, collar: float = 3.0) -> dict[str, float]:
    cases = columns([sample])
    found: dict[str, float] = {}
    for metric in (Chunks(chunk_size), Collar(collar)):
        row = metric.score(metric.measure_many(cases))[0]
        found |= {value.name: float(x) for value, x in zip(metric.values, row, strict=True)}
    return found


def swapped(sample: Sample) -> Sample:
    return {
        "hypothesis": sample["reference"],
        "reference": sample["hypothesis"],
        "duration": sample["duration"],
    }


def same(a: float, b: float) -> bool:
    return abs(a - b) < 1e-12 or (np.isnan(a) and np.isnan(b))


@given(sample, chunk_sizes, collars)
def test_swapping_the_sides_swaps_precision_and_recall(
    one: Sample, chunk_size: float, collar: float
) -> None:
    there, back = values(one, chunk_size, collar), values(swapped(one), chunk_size, collar)
    assert same(there["precision"], back["recall"])
    assert same(there["num_segments"], back["reference/num_segments"])
    for name in ("accuracy", "boundary_similarity", "ghd", "f1", "f1_micro", "f1_sample"):
        assert same(there[name], back[name]), name


@given(sample, collars)
def test_the_number_of_matches_hardly_depends_on_which_side_is_called_reference(
    one: Sample, collar: float
) -> None:
    # ties may be broken the other way, but distinct distances leave no choice
    times = [t for side in ("hypothesis", "reference") for t in one[side] if t > 0]
    gaps = sorted(abs(a - b) for i, a in enumerate(times) for b in times[:i])
    if all(b - a > 1e-9 for a, b in pairwise(gaps)):
        there, back = values(one, 6.0, collar), values(swapped(one), 6.0, collar)
        assert same(there["collar_precision"], back["collar_recall"])
        assert same(there["collar_f1"], back["collar_f1"])


@given(sample, chunk_sizes, collars)
def test_values_stay_within_their_bounds(one: Sample, chunk_size: float, collar: float) -> None:
    found = values(one, chunk_size, collar)
    for kind in (Chunks, Collar):
        for value in kind.values:
            number = found[value.name]
            assert np.isnan(number) or value.low <= number <= value.high, value.name


@given(st.lists(st.floats(0.5, 599), min_size=1, max_size=30), st.floats(600, 700), chunk_sizes)
def test_a_perfect_output_is_perfect(times: list[float], duration: float, size: float) -> None:
    found = values({"hypothesis": times, "reference": times, "duration": duration}, size)
    for name in (
        "accuracy",
        "boundary_similarity",
        "collar_precision",
        "collar_recall",
        "collar_f1",
    ):
        assert found[name] == 1.0, name
    for name in ("pk", "window_diff", "ghd"):
        assert found[name] == 0.0, name
    if found["num_segments"]:
        for name in ("precision", "recall", "f1", "f1_micro", "f1_sample"):
            assert found[name] == 1.0, name


@given(sample, st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_matter_to_chunks(one: Sample, rng: random.Random) -> None:
    shuffled = {side: one[side] + one[side][:3] for side in ("hypothesis", "reference")}
    for side in shuffled.values():
        rng.shuffle(side)
    there, back = values(one), values({**shuffled, "duration": one["duration"]})
    for value in Chunks.values:
        assert same(there[value.name], back[value.name]), value.name


@given(sample, st.floats(0, 20), st.floats(0, 20))
def test_a_wider_collar_never_loses_a_match(one: Sample, a: float, b: float) -> None:
    # closest-first takes pairs in order of distance, so a wider collar only adds to the end
    narrow, wide = values(one, collar=min(a, b)), values(one, collar=max(a, b))
    assert narrow["collar_precision"] <= wide["collar_precision"]
    assert narrow["collar_recall"] <= wide["collar_recall"]


CHAPTERS = {name: kind for name, kind in METRICS.items() if kind.task == "chapters"}


@pytest.mark.parametrize("kind", CHAPTERS.values(), ids=CHAPTERS)
@given(one=sample, edge=st.sampled_from([0.5, 6.0, 60.0, 400.0]))
def test_an_edge_is_the_same_as_leaving_those_boundaries_out(
    kind: type[Metric], one: Sample, edge: float
) -> None:
    stop = one["duration"] - edge
    sides = ("hypothesis", "reference")
    inner = {side: [t for t in one[side] if edge < t < stop] for side in sides}
    there = kind(**{"edge": edge}).measure_many(columns([one]))
    assert np.array_equal(there, kind().measure_many(columns([{**one, **inner}])))


@given(st.lists(sample, min_size=1, max_size=8), st.integers(0, 2**31))
def test_a_case_does_not_depend_on_its_company(samples: list[Sample], seed: int) -> None:
    order = list(range(len(samples)))
    random.Random(seed).shuffle(order)
    for metric in (Chunks(), Collar()):
        straight = metric.measure_many(columns(samples))
        mixed = metric.measure_many(columns([samples[i] for i in order]))
        assert np.array_equal(straight[order], mixed)
