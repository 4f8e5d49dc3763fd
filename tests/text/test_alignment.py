"""ROUGE-L and word errors against their peers."""

from __future__ import annotations

import jiwer
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from earwitness.text.alignment import align_words, format_alignments, word_errors
from earwitness.text.rouge import rouge_l, split_any_words

SENTENCE = """
running skies dying innings agreed university's generalization don't 3.14 café THE the cats ponies
relational conditional hopping fly flies x yy zzz über can't we're [noise] <unk> it's
"""
WORDS = SENTENCE.split()
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
SCORER = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=True)


@pytest.mark.peer
@given(texts, texts)
def test_rouge_is_that_of_rouge_score(output: str, reference: str) -> None:
    theirs = SCORER.score(reference, output)["rougeL"]
    ours = rouge_l(output, reference)
    assert ours == pytest.approx((theirs.precision, theirs.recall, theirs.fmeasure), abs=1e-12)


def test_other_scripts_count_where_they_are_asked_for() -> None:
    assert rouge_l("東京の天気", "東京の雨").f1 == 0
    # 東 京 の of 5 and of 4
    assert rouge_l("東京の天気", "東京の雨", "unicode").f1 == pytest.approx(2 * 3 / 9)
    assert split_any_words("हिन्दी भाषा") == ("हिन्दी", "भाषा")
    assert split_any_words("תודה רבה") == ("תודה", "רבה")
    assert rouge_l("Привет мир", "привет, мир!", "unicode").f1 == 1
    assert rouge_l("The cats", "the cat", "unicode") == rouge_l("The cats", "the cat")


@pytest.mark.peer
@given(texts, texts)
def test_word_errors_are_those_of_chunkseg_with_the_right_number_of_words(
    output: str, reference: str
) -> None:
    from chunkseg.metrics import compute_wer

    if not reference.strip():
        return
    found, theirs = word_errors(output, reference), compute_wer(output, reference)
    assert found.errors == theirs["_wer_errors"]
    if found.words:
        assert found.errors / found.words == pytest.approx(theirs["wer"])
    assert found.words + found.insertions == theirs["_wer_ref_len"]


def test_an_alignment_shows_what_differs() -> None:
    assert format_alignments([align_words("the cat on a mat", "the cat is on the mat")]) == (
        "REF: the cat is on the mat\nOUT: the cat ** on a   mat\n             D     S"
    )
    assert jiwer.wer("the cat is on the mat", "the cat on a mat") == pytest.approx(2 / 6)
