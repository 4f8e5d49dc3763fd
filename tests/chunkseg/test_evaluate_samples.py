"""What the drop-in does besides giving chunkseg's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from earwitness import chunkseg
from earwitness.chunkseg import titles
from earwitness.errors import EarwitnessWarning, InputError, UsageError
from helpers.samples import corpus

SAMPLE: dict[str, Any] = {"hypothesis": [10.0], "reference": [12.0], "duration": 60.0}


TITLES = [("Wrap text with a span", 11.0), ("Add a background", 23.0)]


def test_text_without_times_needs_audio_and_a_format() -> None:
    spoken = {**SAMPLE, "hypothesis": "[CSTART] a [CEND] b", "format": "cstart"}
    with pytest.raises(UsageError, match="audio path is required"):
        chunkseg.evaluate(**spoken)
    with pytest.raises(UsageError, match="format is required when hypothesis is a string"):
        chunkseg.evaluate_batch([{**SAMPLE, "hypothesis": "text"}])


def test_a_transcript_that_cannot_be_read_is_said_and_the_rest_is_used() -> None:
    text = "# 0:00 - A\nx\n# nothing\ny\n# 0:30 - B\nz"
    with pytest.warns(EarwitnessWarning, match="sample 0: hypothesis: line 3: no time in the head"):
        found = chunkseg.evaluate(text, [30.0], 60, format="markdown_ts")
    assert found["collar_f1"] == 1


@pytest.mark.filterwarnings("ignore:BERTSCORE VALUES")
def test_titles_of_a_transcript_keep_their_own_times() -> None:
    text = "[CSTART] 0:00:05 - A [CEND] x [CSTART] 0:00:30 - B [CEND] y"
    found = chunkseg.evaluate(
        text, [30.0], 60, format="cstart_ts", reference_titles=[("A", 5.0), ("B", 30.0)]
    )
    assert (found["tm_matched"], found["tm_rl_f1"]) == (1, 1)


@pytest.mark.filterwarnings("ignore:BERTSCORE VALUES")
def test_no_titles_found_are_zeros_and_lang_is_an_alias() -> None:
    found = chunkseg.evaluate([10], [12], 60, reference_titles=TITLES, lang="en")
    assert {key: value for key, value in found.items() if key.startswith(("tm", "gc"))} == {
        **{f"gc_{h}_{p}": 0.0 for h in ("bs", "rl") for p in ("f1", "precision", "recall")},
        "tm_matched": 0.0,
    }
    assert chunkseg.compute_title_scores([], TITLES) == {"tm_matched": 0.0}
    assert chunkseg.compute_title_scores(TITLES, [], 60.0, lang="de") == {"tm_matched": 0.0}


def test_another_model_than_chunksegs_is_said_once_and_loudly(
    capsys: pytest.CaptureFixture[str],
) -> None:
    titles._choose_model.cache_clear()
    sample = {**SAMPLE, "reference_titles": TITLES, "hyp_titles": TITLES}
    with pytest.warns(EarwitnessWarning, match="BERTSCORE VALUES DIFFER FROM CHUNKSEG'S") as caught:
        results = chunkseg.evaluate_batch([sample, sample], titles=True)
    assert len(caught) == 1
    chunkseg.evaluate_batch([sample, sample], titles=True)  # warnings are errors in these tests
    chunkseg.print_results(results)
    assert capsys.readouterr().out.endswith("model for titles: minilm\n")
    written = results.to_json()
    assert written["tm_bs_f1"]["model"] == written["gc_bs_recall"]["model"] == "minilm"
    assert str(written["tm_bs_f1"]["signature"]).startswith("title_bertscore(")
    assert written["tm_rl_f1"] == results["tm_rl_f1"]


def test_word_errors_of_a_batch_are_per_word_and_a_failed_transcript_counts() -> None:
    good = {**SAMPLE, "hypothesis": "# 0:00 A\na b c d", "reference_transcript": "a b"}
    bad = {**SAMPLE, "hypothesis": "# 0:00 A\n", "reference_transcript": "a b c"}
    found = chunkseg.evaluate_batch([good, bad], format="markdown_ts", wer=True)
    assert found["wer"]["mean"] == pytest.approx((2 + 3) / (2 + 3))
    assert next(iter(found)) == "wer"
    single = chunkseg.evaluate(**good, format="markdown_ts")
    assert single["wer"] == 1
    assert not any(name.startswith("_") for name in single)


def test_boundaries_may_be_any_numbers() -> None:
    plain = chunkseg.evaluate([10], [12], 60)
    assert chunkseg.evaluate(np.array([10.0]), (12,), np.float64(60)) == plain
    assert chunkseg.evaluate(iter([10]), [12], 60) == plain
    assert isinstance(plain["num_segments"], int)
    assert type(plain["precision"]) is float


def test_infinity_matches_nothing() -> None:
    found = chunkseg.evaluate([10.0, float("inf")], [12.0], 60)
    assert (found["num_segments"], found["collar_precision"]) == (1, 0.5)


@pytest.mark.parametrize("others", [0, 1])
def test_nan_is_refused_unless_values_are_exact(others: int) -> None:
    sample: dict[str, Any] = {"hypothesis": [float("nan"), 30], "reference": [30], "duration": 60}
    samples = [sample, *[SAMPLE] * others]
    with pytest.raises(InputError, match=r"sample 0: hypothesis\[0\]: must be a number, got nan"):
        chunkseg.evaluate_batch(samples)
    assert chunkseg.evaluate_batch(samples, exact=True)["collar_f1"]["mean"] == 1
    with pytest.raises(InputError, match="got nan"):
        chunkseg.evaluate(**sample)
    assert chunkseg.evaluate(**sample, exact=True)["boundary_similarity"] == 1


def test_boundaries_only_after_the_end_are_no_perfect_output() -> None:
    later: dict[str, Any] = {"hypothesis": [70.0], "reference": [80.0], "duration": 60.0}
    nothing: dict[str, Any] = {"hypothesis": [], "reference": [], "duration": 60.0}
    assert chunkseg.evaluate(**later) == {}
    assert chunkseg.evaluate(**later, exact=True)["boundary_similarity"] == 1
    assert chunkseg.evaluate(**nothing)["boundary_similarity"] == 1
    with pytest.warns(EarwitnessWarning, match="1 of 2 samples have boundaries only after"):
        found = chunkseg.evaluate_batch([later, {**nothing, "hypothesis": [30.0]}])
    assert found["boundary_similarity"]["mean"] == 0
    exact = chunkseg.evaluate_batch([later, {**nothing, "hypothesis": [30.0]}], exact=True)
    assert exact["boundary_similarity"]["mean"] == 0.5


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
        monkeypatch.setattr("earwitness.chunkseg.metrics.PICKS_IN_MEMORY", held)
        np.random.seed(4)  # noqa: NPY002 — what it draws from
        results.append(chunkseg.evaluate_batch(iter(samples)))
    assert results[0] == results[1]


def test_missing_fields_are_all_named() -> None:
    with pytest.raises(InputError, match="sample 1: duration: missing") as caught:
        chunkseg.evaluate_batch([SAMPLE, {"hypothesis": []}])
    assert caught.value.count == 2


def test_a_missing_field_of_a_single_sample_is_named() -> None:
    with pytest.raises(InputError, match="sample 0: duration: missing"):
        chunkseg.evaluate_batch([{"hypothesis": [], "reference": []}], titles=True)


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


@pytest.mark.filterwarnings("ignore:BERTSCORE VALUES")
def test_title_scores_take_the_old_order_of_arguments() -> None:
    old = chunkseg.compute_title_scores(TITLES, TITLES, 5.0, "en")  # type: ignore[arg-type]
    assert old == chunkseg.compute_title_scores(TITLES, TITLES, tolerance=5.0)


def test_words_where_none_were_said_are_all_too_many() -> None:
    found = chunkseg.evaluate(
        "# 0:00 A\none two", [30.0], 60, format="markdown_ts", reference_transcript="[noise]"
    )
    assert found["wer"] == 2
