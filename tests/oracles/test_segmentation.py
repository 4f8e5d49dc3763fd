"""Matching, distances and partitions: plain versions, mir_eval, pyannote-metrics, segeval."""

from __future__ import annotations

import math
import random
import warnings
from itertools import pairwise
from typing import Any

import mir_eval
import numpy as np
import pytest
import segeval
from hypothesis import given
from hypothesis import strategies as st
from pyannote.core import Annotation, Segment
from pyannote.metrics.segmentation import SegmentationCoverage, SegmentationPurity

from algorithms import chunks as slow_chunks
from algorithms import collar as slow_collar
from algorithms import segments as slow_segments
from earwitness.chapters.metrics import Collar, Deviation, RValue, Segments, Similarity
from earwitness.metric import Metric
from earwitness.scoring import score
from helpers.samples import Sample, collars, columns, many, nasty, sample

peer = pytest.mark.peer
SIDES = ("hypothesis", "reference")


def values(metric: Metric, one: Sample) -> dict[str, float]:
    row = metric.score(metric.measure_many(columns([one])))[0].tolist()
    return dict(zip([value.name for value in metric.values], row, strict=True))


def some(count: int, seed: int) -> list[Sample]:
    rng = random.Random(seed)
    return [nasty(rng, 6.0, rng.choice([3, 20, 60])) for _ in range(count)]


def positive(one: Sample) -> tuple[list[float], list[float]]:
    return [t for t in one["hypothesis"] if t > 0], [t for t in one["reference"] if t > 0]


@given(st.lists(sample, min_size=1, max_size=5), collars)
def test_optimal_matching_makes_as_many_pairs_as_can_be_made(
    samples: list[Sample], collar: float
) -> None:
    metric = Collar(collar, "optimal")
    rows = metric.score(metric.measure_many(columns(samples)))
    for row, one in zip(rows, samples, strict=True):
        output, reference = positive(one)
        if output and reference:
            pairs = slow_collar.optimal(output, reference, collar)
            assert row[0] == pytest.approx(pairs / len(output), abs=1e-12)
            assert row[1] == pytest.approx(pairs / len(reference), abs=1e-12)
            assert pairs >= slow_collar.greedy(output, reference, collar)


@given(st.lists(sample, min_size=1, max_size=5), collars, st.sampled_from(["greedy", "optimal"]))
def test_the_r_value_is_that_of_the_plain_version(
    samples: list[Sample], collar: float, matching: str
) -> None:
    metric = RValue(collar, matching)
    rows = metric.score(metric.measure_many(columns(samples)))
    for row, one in zip(rows, samples, strict=True):
        output, reference = positive(one)
        if not reference:
            assert np.isnan(row).all()
            continue
        hits = getattr(slow_collar, matching)(output, reference, collar)
        want = slow_collar.r_value(hits, len(output), len(reference))
        assert row[0] == pytest.approx(want, abs=1e-12)
        assert row[1] == pytest.approx(len(output) / len(reference) - 1, abs=1e-12)


@given(st.lists(sample, min_size=1, max_size=5))
def test_median_distances_are_those_of_the_plain_version(samples: list[Sample]) -> None:
    metric = Deviation()
    rows = metric.score(metric.measure_many(columns(samples)))
    for row, one in zip(rows, samples, strict=True):
        output, reference = positive(one)
        if not output or not reference:
            assert np.isnan(row).all()
            continue
        assert row[0] == pytest.approx(slow_collar.median_distance(reference, output), abs=1e-9)
        assert row[1] == pytest.approx(slow_collar.median_distance(output, reference), abs=1e-9)


@given(st.lists(sample, min_size=1, max_size=5), st.sampled_from([0.1, 0.5, 1.0, 7.0]))
def test_partitions_are_those_of_the_plain_version(samples: list[Sample], frame: float) -> None:
    metric = Segments(frame)
    rows = metric.score(metric.measure_many(columns(samples)))
    for row, one in zip(rows, samples, strict=True):
        want = plain_partition(one, frame)
        assert row.tolist() == pytest.approx(want, abs=1e-9, nan_ok=True)


def ends_later(one: Sample) -> bool:
    """Whether a boundary is after the end."""
    return any(time > one["duration"] for key in SIDES for time in one[key])


def plain_partition(one: Sample, frame: float) -> list[float]:
    if one["duration"] <= 0:
        return [math.nan] * 10
    edges = [slow_segments.edges(one[k], one["duration"]) for k in ("hypothesis", "reference")]
    if ends_later(one) and all(len(side) == 2 for side in edges):
        return [math.nan] * 10
    mine, theirs = (slow_segments.frames(side, frame) for side in edges)
    purity, coverage = slow_segments.purity(*edges), slow_segments.purity(edges[1], edges[0])
    homogeneity = completeness = math.nan
    if mine:
        homogeneity, completeness = slow_segments.v_measure(mine, theirs)
    precision, recall = slow_segments.pairwise(mine, theirs)
    rand = slow_segments.adjusted_rand(mine, theirs)

    def f(a: float, b: float) -> float:
        return 0.0 if a + b == 0 else 2 * a * b / (a + b)

    first = [purity, coverage, f(purity, coverage)]
    second = [homogeneity, completeness, f(homogeneity, completeness)]
    return [*first, *second, rand, precision, recall, f(precision, recall)]


@given(sample, st.sampled_from([0.5, 6.0, 30.0]))
def test_segmentation_similarity_is_that_of_the_plain_version(one: Sample, size: float) -> None:
    mine, theirs = (
        slow_chunks.row(one[k], one["duration"], size) for k in ("hypothesis", "reference")
    )
    found = values(Similarity(size), one)["segmentation_similarity"]
    is_defined = any(mine + theirs) if ends_later(one) else bool(mine)
    want = slow_chunks.segmentation_similarity(mine, theirs) if is_defined else math.nan
    assert found == pytest.approx(want, abs=1e-12, nan_ok=True)


def intervals(side: list[float], duration: float) -> Any:
    return mir_eval.util.boundaries_to_intervals(np.array(slow_segments.edges(side, duration)))


@peer
def test_matches_and_distances_are_mir_evals() -> None:
    for one in some(many(100, 2000), 31):
        output, reference = (sorted(side) for side in positive(one))
        pairs = mir_eval.util.match_events(np.array(reference), np.array(output), 10.0)
        if output and reference:
            found = values(Collar(10.0, "optimal"), one)["collar_recall"]
            assert found == pytest.approx(len(pairs) / len(reference), abs=1e-12)
        inner = {
            k: slow_segments.edges(one[k], one["duration"])[1:-1]
            for k in ("hypothesis", "reference")
        }
        if all(inner.values()):
            sides = [intervals(one[k], one["duration"]) for k in ("reference", "hypothesis")]
            theirs = mir_eval.segment.deviation(*sides, trim=True)
            mine = values(Deviation(), {**inner, "duration": one["duration"]})
            assert list(mine.values()) == pytest.approx(theirs, abs=2e-5)  # it rounds times


@peer
def test_pairs_and_entropies_are_mir_evals() -> None:
    for one in some(many(40, 400), 32):
        sides = [intervals(one[k], one["duration"]) for k in ("reference", "hypothesis")]
        labels = [[str(i) for i in range(len(side))] for side in sides]
        arguments = (sides[0], labels[0], sides[1], labels[1])
        mine = values(Segments(), one)
        if math.isnan(mine["pairwise_precision"]) and ends_later(one):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # segments that touch, as mir_eval sees them
            precision, recall, f = mir_eval.segment.pairwise(*arguments)
            rand = mir_eval.segment.ari(*arguments)
            over, under, v = mir_eval.segment.vmeasure(*arguments)
        assert mine["pairwise_precision"] == pytest.approx(precision, abs=1e-9)
        assert mine["pairwise_recall"] == pytest.approx(recall, abs=1e-9)
        assert mine["pairwise_f"] == pytest.approx(f, abs=1e-9)
        assert mine["adjusted_rand"] == pytest.approx(rand, abs=1e-9)
        if all(len(side) > 1 for side in sides):  # mir_eval calls a single segment 0, we call it 1
            assert mine["homogeneity"] == pytest.approx(under, abs=1e-9)
            assert mine["completeness"] == pytest.approx(over, abs=1e-9)
            assert mine["v_measure"] == pytest.approx(v, abs=1e-9)


@peer
def test_purity_and_coverage_are_pyannotes() -> None:
    for one in some(many(60, 600), 33):
        sides = []
        for key in ("reference", "hypothesis"):
            edges = slow_segments.edges(one[key], one["duration"])
            side = Annotation()
            for i, (start, stop) in enumerate(pairwise(edges)):
                side[Segment(start, stop)] = str(i)
            sides.append(side)
        if any(b - a < 1e-3 for k in ("reference", "hypothesis") for a, b in gaps(one, k)):
            continue  # pyannote drops segments under a microsecond and merges tiny ones
        mine = values(Segments(), one)
        if math.isnan(mine["purity"]):
            assert ends_later(one)
            continue
        assert mine["purity"] == pytest.approx(SegmentationPurity()(*sides), abs=1e-6)
        assert mine["coverage"] == pytest.approx(SegmentationCoverage()(*sides), abs=1e-6)


def gaps(one: Sample, key: str) -> list[tuple[float, float]]:
    edges = slow_segments.edges(one[key], one["duration"])
    return list(pairwise(edges))


@peer
def test_segmentation_similarity_is_segevals() -> None:
    for one in some(many(60, 600), 34):
        rows = [slow_chunks.row(one[k], one["duration"], 6.0) for k in ("hypothesis", "reference")]
        if not any(map(any, rows)):
            continue  # segeval fails where neither side has a boundary
        masses = [segeval.convert_nltk_to_masses("".join(map(str, row))) for row in rows]
        want = float(segeval.segmentation_similarity(*masses))
        found = values(Similarity(6.0), one)["segmentation_similarity"]
        assert found == pytest.approx(want, abs=1e-9)


@peer
@pytest.mark.parametrize("people", [2, 3, 5])
def test_agreement_between_annotators_is_fleiss_pi_of_segeval(people: int) -> None:
    rng = random.Random(people)
    dataset: dict[str, dict[str, tuple[int, ...]]] = {}
    references = []
    for item in range(many(6, 30)):
        chunks = rng.randint(20, 60)
        base = rng.sample(range(chunks), rng.randint(2, 6))
        coded = {}
        for person in range(people):
            moved = {min(chunks - 1, max(0, b + rng.choice([0, 0, 0, 1, -1, 4]))) for b in base}
            coded[f"p{person}"] = sorted(moved)
        cuts = {who: [0, *(b + 1 for b in places), chunks + 1] for who, places in coded.items()}
        dataset[str(item)] = {
            who: tuple(b - a for a, b in pairwise(edges)) for who, edges in cuts.items()
        }
        references.append(
            {
                "item": item,
                "duration": chunks * 6.0,
                "references": [
                    {"annotator": who, "boundaries": [6.0 * b + 3 for b in places]}
                    for who, places in coded.items()
                ],
            }
        )
    outputs = [
        {"item": i, "system": "s", "output": {"boundaries": []}} for i in range(len(dataset))
    ]
    found = score.score(outputs, references, metrics="agreement", draws=10).people
    assert found is not None
    want = segeval.fleiss_pi_linear(segeval.Dataset(dataset))
    observed = segeval.actual_agreement_linear(segeval.Dataset(dataset))
    assert found.ceiling["pi"].value == pytest.approx(float(want), abs=1e-9)
    assert found.ceiling["agreement"].value == pytest.approx(float(observed), abs=1e-9)
