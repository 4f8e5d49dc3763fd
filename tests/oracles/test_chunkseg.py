"""chunkseg 0.4.0 itself, wherever it is right."""

from __future__ import annotations

import contextlib
import inspect
import io
import random
from typing import Any

import chunkseg
import numpy as np
import pytest

from algorithms import chunks as slow
from earwitness import chunkseg as ours
from earwitness.errors import EarwitnessWarning
from helpers.samples import FULL, Sample, corpus, many, nasty

pytestmark = pytest.mark.peer
SIZES = [0.1, 0.1, 0.5, 1.0, 2.0, 3.0, 6.0, 6.0, 6.0, 10.0, 30.0]
CHUNKS = [1, 2, 3, 5, 10, 60, 200, 600]
COLLARS = [0.0, 1.0, 3.0, 3.0, 5.0, 10.0]


def known_wrong(sample: Sample, chunk_size: float) -> set[str]:
    """Keys that chunkseg gets wrong for this sample."""
    reference = slow.row(sample["reference"], sample["duration"], chunk_size)
    return {"window_diff"} if len(reference) == 1 or slow.window(reference) >= 256 else set()


def compare(sample: Sample, chunk_size: float, collar: float) -> None:
    mine = ours.evaluate(**sample, chunk_size=chunk_size, collar=collar)
    if not mine and any(time > sample["duration"] for time in boundaries(sample)):
        mine = ours.evaluate(**sample, chunk_size=chunk_size, collar=collar, exact=True)
    theirs = chunkseg.evaluate(**sample, chunk_size=chunk_size, collar=collar)
    assert list(mine) == list(theirs)
    for key in theirs.keys() - known_wrong(sample, chunk_size):
        assert mine[key] == pytest.approx(theirs[key], abs=1e-9), (key, sample, chunk_size, collar)


def test_every_value_of_fuzzed_samples_is_equal_to_chunksegs() -> None:
    rng = random.Random(20)
    for _ in range(many(150, 2000)):
        size = rng.choice([*SIZES, rng.uniform(0.1, 30)])
        collar = rng.choice([*COLLARS, rng.uniform(0, 10)])
        chunks = rng.choice([*CHUNKS, rng.randint(1, 600)])
        while chunks > 8 and _reference_window(candidate := nasty(rng, size, chunks), size) >= 256:
            chunks //= 2  # those die in chunkseg and have a test of their own
        candidate = nasty(rng, size, chunks) if chunks <= 8 else candidate
        compare(candidate, size, collar)


def boundaries(sample: Sample) -> list[float]:
    return [*sample["hypothesis"], *sample["reference"]]


def _reference_window(sample: Sample, size: float) -> int:
    return slow.window(slow.row(sample["reference"], sample["duration"], size))


def test_some_large_samples_are_equal_to_chunksegs() -> None:
    rng = random.Random(21)
    for _ in range(many(1, 12)):
        seconds = rng.choice([7200.0, 18000.0, 36000.0])
        compare(corpus(1, seconds, 60, 300, seed=rng.randrange(10**6))[0], 6.0, 3.0)


def test_dense_boundaries_with_hundreds_of_segments_are_equal_to_chunksegs() -> None:
    rng = random.Random(22)
    for _ in range(many(2, 40)):
        reference = [6.0 * i + 1 for i in range(1, 600) if rng.random() < 0.7]
        output = [6.0 * i + 1 for i in range(1, 600) if rng.random() < 0.7]
        compare({"hypothesis": output, "reference": reference, "duration": 3600.0}, 6.0, 10.0)


def test_a_duration_that_is_no_exact_multiple_has_the_same_chunks() -> None:
    # 4.3 / 0.1 = 42.99999999999999 in double precision: 42 chunks, the last ends at 4.2
    sample: Sample = {"hypothesis": [4.15], "reference": [4.25], "duration": 4.3}
    assert ours.evaluate(**sample, chunk_size=0.1)["reference/num_segments"] == 0
    compare(sample, 0.1, 3.0)


@pytest.mark.parametrize("hours", [2, 5] if FULL else [2])
def test_windows_of_256_chunks_kill_chunkseg_and_not_us(hours: int) -> None:
    duration = (
        hours * 3600.0
    )  # one boundary: mean segment hours / 2, window a quarter of all chunks
    sample: Sample = {"hypothesis": [900.0], "reference": [1800.0], "duration": duration}
    assert _reference_window(sample, 1.0) >= 256
    with pytest.raises(AssertionError):
        chunkseg.evaluate(**sample, chunk_size=1.0)
    mine = ours.evaluate(**sample, chunk_size=1.0)
    theirs = slow.scores(sample["hypothesis"], sample["reference"], duration, 1.0)
    assert mine["window_diff"] == pytest.approx(theirs["window_diff"], abs=1e-12)


def test_a_perfect_long_output_has_no_window_errors_although_chunkseg_says_1() -> None:
    sample: Sample = {"hypothesis": [1800.0], "reference": [1800.0], "duration": 7200.0}
    assert chunkseg.evaluate(**sample, chunk_size=1.0)["window_diff"] == 1.0
    assert ours.evaluate(**sample, chunk_size=1.0)["window_diff"] == 0.0


@pytest.mark.parametrize("output", [[], [3.0]])
@pytest.mark.parametrize("reference", [[], [3.0]])
def test_window_diff_of_a_single_chunk_is_chunksegs_turned_round(
    output: list[float], reference: list[float]
) -> None:
    sample: Sample = {"hypothesis": output, "reference": reference, "duration": 6.0}
    mine, theirs = ours.evaluate(**sample), chunkseg.evaluate(**sample)
    assert mine["window_diff"] == 1 - theirs["window_diff"] == float(output != reference)


@pytest.mark.parametrize("draws", [1, 7, 100])
def test_a_batch_under_a_seed_is_equal_to_the_last_bit_of_the_draws(draws: int) -> None:
    for seed in range(many(2, 20)):
        samples = corpus(23, 600.0, 0, 12, seed=seed)
        samples.insert(5, {"hypothesis": [1], "reference": [2], "duration": 3})  # under a chunk
        np.random.seed(seed)  # noqa: NPY002 — what chunkseg draws from
        theirs = chunkseg.evaluate_batch(samples, num_bootstrap=draws)
        after = np.random.random()  # noqa: NPY002
        np.random.seed(seed)  # noqa: NPY002
        with pytest.warns(EarwitnessWarning, match="1 of 24 samples are shorter"):
            mine = ours.evaluate_batch(samples, num_bootstrap=draws)
        assert np.random.random() == after  # noqa: NPY002 — the same numbers were drawn
        assert list(mine) == list(theirs)
        for key, value in theirs.items():
            assert mine[key] == pytest.approx(value, abs=1e-12), key


@pytest.mark.parametrize("name", ["evaluate", "evaluate_batch"])
def test_parameters_are_chunksegs_in_name_order_kind_and_default(name: str) -> None:
    def shape(function: Any) -> list[tuple[str, Any, Any]]:
        found = inspect.signature(function).parameters.values()
        return [
            (p.name, p.kind, p.default) for p in found if p.name not in ("lang", "tm_rule", "exact")
        ]

    assert shape(getattr(ours, name)) == shape(getattr(chunkseg, name))


@pytest.mark.parametrize("results", [{}, None])
def test_printed_results_are_chunksegs(results: dict[str, dict[str, float]] | None) -> None:
    if results is None:
        results = chunkseg.evaluate_batch(corpus(9, 600.0, 1, 12))
    mine, theirs = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(mine):
        ours.print_results(results)
    with contextlib.redirect_stdout(theirs):
        chunkseg.print_results(results)
    assert mine.getvalue() == theirs.getvalue()
