"""What the drop-in does besides giving chunkseg's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from earwitness import chunkseg
from earwitness.errors import EarwitnessWarning, InputError, NotYet, UsageError
from support import corpus

SAMPLE = {"hypothesis": [10.0], "reference": [12.0], "duration": 60.0}


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (chunkseg.evaluate, {**SAMPLE, "hypothesis": "[CSTART] a [CEND]", "format": "cstart"}),
        (chunkseg.evaluate, {**SAMPLE, "reference_titles": [("a", 0.0)]}),
        (chunkseg.evaluate_batch, {"samples": [SAMPLE], "wer": True}),
        (chunkseg.evaluate_batch, {"samples": [SAMPLE], "titles": True}),
        (chunkseg.evaluate_batch, {"samples": [{**SAMPLE, "hypothesis": "text"}]}),
        (chunkseg.compute_title_scores, {"hyp_titles": [], "ref_titles": []}),
    ],
)
def test_what_comes_later_says_so(function: Any, arguments: dict[str, Any]) -> None:
    with pytest.raises(NotYet, match=r"not (read|scored|computed) yet — "):
        function(**arguments)


def test_boundaries_may_be_any_numbers() -> None:
    plain = chunkseg.evaluate([10], [12], 60)
    assert chunkseg.evaluate(np.array([10.0]), (12,), np.float64(60)) == plain
    assert chunkseg.evaluate(iter([10]), [12], 60) == plain
    assert isinstance(plain["num_segments"], int)
    assert type(plain["precision"]) is float


def test_nan_is_no_boundary_and_infinity_matches_nothing() -> None:
    nan, inf = float("nan"), float("inf")
    found = chunkseg.evaluate([nan, 10.0, inf], [12.0], 60)
    assert (found["num_segments"], found["collar_precision"]) == (1, 0.5)


def test_text_among_the_numbers_is_refused() -> None:
    with pytest.raises(InputError, match=r"hypothesis\[0\]: must be a number, got '12:30'"):
        chunkseg.evaluate(["12:30"], [12], 60)  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ({**SAMPLE, "duration": "60"}, "sample 1: duration: must be a number, got '60'"),
        ({**SAMPLE, "duration": None}, "sample 1: duration: must be a number, got None"),
        ({**SAMPLE, "duration": float("nan")}, "sample 1: duration: must be a number, got nan"),
        ({**SAMPLE, "reference": None}, "sample 1: reference: must be a list of numbers, got None"),
        ({**SAMPLE, "reference": [[1], 2]}, r"sample 1: reference\[0\]: must be a number"),
        (None, "sample 1: must be an object, got NoneType"),
    ],
)
def test_bad_samples_are_named(sample: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        chunkseg.evaluate_batch([SAMPLE, sample])


def test_no_draws_are_refused() -> None:
    with pytest.raises(UsageError, match="num_bootstrap must be 1 or more, got 0"):
        chunkseg.evaluate_batch([SAMPLE], num_bootstrap=0)


def test_draws_in_portions_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = corpus(30, 600.0, 2, 9)
    results = []
    for held in (10**6, 70):
        monkeypatch.setattr(chunkseg, "DRAWN", held)
        np.random.seed(4)  # noqa: NPY002 — what it draws from
        results.append(chunkseg.evaluate_batch(iter(samples)))
    assert results[0] == results[1]


def test_missing_fields_are_all_named() -> None:
    with pytest.raises(InputError, match="sample 1: duration: missing") as caught:
        chunkseg.evaluate_batch([SAMPLE, {"hypothesis": []}])
    assert caught.value.count == 2


def test_a_sample_shorter_than_a_chunk_gives_nothing() -> None:
    assert chunkseg.evaluate([1], [1], 5) == {}
    assert chunkseg.evaluate([1], [1], 0) == {}
    assert chunkseg.evaluate([1], [1], -5) == {}
    with pytest.warns(EarwitnessWarning, match="1 of 1 samples are shorter than one chunk"):
        assert chunkseg.evaluate_batch([{**SAMPLE, "duration": 5}]) == {}
    assert chunkseg.evaluate_batch([]) == {}


def test_unknown_fields_are_counted() -> None:
    with pytest.warns(EarwitnessWarning, match=r"ignored unknown fields: a \(2×\), b \(1×\)"):
        chunkseg.evaluate_batch([{**SAMPLE, "a": 1}, {**SAMPLE, "a": 1, "b": 2}])
