"""ROUGE-L and word errors against their peers."""

from __future__ import annotations

import jiwer
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from earwitness.text.alignment import (
    align_words,
    format_alignments,
    split_plain_words,
    word_errors,
)
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


JIWER_TRANSFORM = jiwer.transformations.wer_standardize
JIWER_MARKS = {"equal": "", "substitute": "S", "delete": "D", "insert": "I"}
PARTS = ["a", "b", "'", "n't", "let's", "'ll", "'T", "WON'T", "[", "]", "<", ">", "-", "İ", "ß"]
SPACES = ["  ", *" \t\n\x0b\x1c\x85\xa0\u2003\u200b\u3000"]
parts = st.lists(st.sampled_from([*PARTS, *SPACES]), max_size=15).map("".join)
any_texts = texts | parts | st.text(max_size=20)


@pytest.mark.peer
@given(any_texts, any_texts)
@example("", "")
@example("a", "")
@example("", "a")
@example("a\t\xa0b\xa0c", "'llet's can't won't shouldn't've <a]b>")
@example("[a", "a] <b")
def test_words_and_alignments_are_those_of_jiwer(output: str, reference: str) -> None:
    theirs = jiwer.process_words(
        reference,
        output,
        reference_transform=JIWER_TRANSFORM,
        hypothesis_transform=JIWER_TRANSFORM,
    )
    assert split_plain_words(output) == theirs.hypotheses[0]
    assert split_plain_words(reference) == theirs.references[0]
    assert word_errors(output, reference) == (
        theirs.substitutions,
        theirs.deletions,
        theirs.insertions,
        len(theirs.references[0]),
    )
    marks = [pair.mark for pair in align_words(output, reference).pairs]
    assert marks == [
        JIWER_MARKS[chunk.type]
        for chunk in theirs.alignments[0]
        for _ in range(
            max(
                chunk.ref_end_idx - chunk.ref_start_idx,
                chunk.hyp_end_idx - chunk.hyp_start_idx,
            )
        )
    ]


def test_an_alignment_shows_what_differs() -> None:
    assert format_alignments([align_words("the cat on a mat", "the cat is on the mat")]) == (
        "REF: the cat is on the mat\nOUT: the cat ** on a   mat\n             D     S"
    )
    assert jiwer.wer("the cat is on the mat", "the cat on a mat") == pytest.approx(2 / 6)
