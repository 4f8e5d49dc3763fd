"""Sentences with times: from subtitles and from words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.text.sentences import (
    SpokenPiece,
    join_pieces,
    sentence_spans,
    split_sentences,
    timed_sentences,
)

letters = st.sampled_from(
    [*"abC. !?…", "Dr. ", "No. 7 ", "雨", "。", "」", "か？", "हाँ। ", "نعم؟ ", "ก"]
)
texts = st.lists(letters, max_size=12).map(lambda parts: "".join(parts).strip())


@st.composite
def pieces(draw: st.DrawFn) -> list[SpokenPiece]:
    """Pieces whose starts do not go back; they may overlap, and may say nothing."""
    starts = sorted(draw(st.lists(st.floats(0, 1e6), max_size=12)))
    return [SpokenPiece(draw(texts), start, start + draw(st.floats(0, 100))) for start in starts]


def plain_search(given: list[SpokenPiece]) -> list[tuple[str, float]]:
    """The same as ``timed_sentences`` for words, letter by letter."""
    given = [piece for piece in given if piece.text]
    text, places = join_pieces(given)
    times: dict[int, float] = {}
    for number, (piece, place) in enumerate(zip(given, places, strict=True)):
        end = piece.end
        if number + 1 < len(given):
            end = min(end, given[number + 1].start)
        for letter in range(len(piece.text)):
            share = letter / len(piece.text)
            times[place + letter] = piece.start + share * (end - piece.start)
    return [(text[begin:end], times[begin]) for begin, end in sentence_spans(text)]


@given(st.text(max_size=200) | st.lists(letters, max_size=60).map("".join))
def test_every_letter_is_in_exactly_one_sentence(text: str) -> None:
    found = sentence_spans(text)
    places = [place for begin, end in found for place in range(begin, end)]
    assert len(set(places)) == len(places)
    assert places == sorted(places)
    assert {place for place, letter in enumerate(text) if not letter.isspace()} <= {*places}
    for begin, end in found:
        assert text[begin:end] == text[begin:end].strip() != ""
    assert split_sentences(text) == [" ".join(text[begin:end].split()) for begin, end in found]


@given(pieces(), st.booleans())
def test_starts_never_go_back_and_nothing_is_lost(given: list[SpokenPiece], cues: bool) -> None:
    found = timed_sentences(given, cues=cues)
    starts = [time for _, time in found]
    assert starts == sorted(starts)
    assert all(any(p.start <= time <= p.end for p in given) for time in starts)
    assert "".join("".join(text for text, _ in found).split()) == "".join(
        "".join(piece.text for piece in given).split()
    )


@given(pieces())
def test_starts_are_those_of_a_search_letter_by_letter(given: list[SpokenPiece]) -> None:
    found, want = timed_sentences(given, cues=False), plain_search(given)
    assert [text for text, _ in found] == [text for text, _ in want]
    assert [time for _, time in found] == pytest.approx([time for _, time in want])


def test_sentences_begin_within_cues_and_run_over_several() -> None:
    cues = [
        SpokenPiece("Good morning. We talk", 1.0, 22.0),  # 21 characters in 21 s; "We" is the 15th
        SpokenPiece("about rain", 22.0, 24.0),
        SpokenPiece("in Spain. Dr. Lee is here!", 25.0, 38.0),  # 26 in 13 s; "Dr." is the 11th
        SpokenPiece("Hello.", 60.0, 61.0),
    ]
    assert timed_sentences(cues, cues=True) == [
        ("Good morning.", 1.0),
        ("We talk about rain in Spain.", 15.0),  # 1 + 14 × 1
        ("Dr. Lee is here!", 30.0),  # 25 + 10 × 0.5
        ("Hello.", 60.0),
    ]


def test_a_cue_ends_where_the_next_begins() -> None:
    cues = [SpokenPiece("Hi. No. Yes.", 0.0, 100.0), SpokenPiece("Why?", 12.0, 14.0)]
    # 12 characters in 12 s, not in 100: "No." is the 5th, "Yes." the 9th
    assert [time for _, time in timed_sentences(cues, cues=True)] == [0.0, 4.0, 8.0, 12.0]


def test_words_may_have_ends_or_none() -> None:
    words = [("It", 0.5), ("rains.", 0.9), ("Why?", 3.0), ("“Well.", 4.0), ("So", 5.0)]
    plain = [SpokenPiece(word, start, start) for word, start in words]
    assert timed_sentences(plain, cues=False) == [
        ("It rains.", 0.5),
        ("Why?", 3.0),
        ("“Well.", 4.0),
        ("So", 5.0),
    ]
    # a piece of a recogniser without blanks: 4 characters in 2 s, the second sentence is the 3rd
    assert timed_sentences([SpokenPiece("雨。雪。", 1.0, 3.0)], cues=False)[1] == ("雪。", 2.0)


def test_scripts_without_blanks_are_joined_without_them() -> None:
    japanese = [
        SpokenPiece("「今日は", 0.0, 4.0),
        SpokenPiece("雨。", 4.0, 6.0),
        SpokenPiece("」明日は晴れ。", 6.0, 13.0),
    ]
    # the closing bracket belongs to the first sentence; 7 characters in 7 s, 明 is the 2nd
    assert timed_sentences(japanese, cues=True) == [("「今日は雨。」", 0.0), ("明日は晴れ。", 7.0)]
    chinese = [SpokenPiece("你好!我来", 0.0, 5.0), SpokenPiece("了.好", 5.0, 8.0)]
    assert timed_sentences(chinese, cues=True) == [("你好!", 0.0), ("我来了.", 3.0), ("好", 7.0)]


def test_other_scripts_end_with_their_own_marks() -> None:
    hindi = [SpokenPiece("यह सच है। हाँ", 0.0, 13.0), SpokenPiece("जी।", 13.0, 14.0)]
    assert timed_sentences(hindi, cues=True) == [("यह सच है।", 0.0), ("हाँ जी।", 10.0)]
    arabic = [SpokenPiece("هل هذا؟ نعم", 2.0, 13.0), SpokenPiece("هو.", 13.0, 14.0)]
    assert timed_sentences(arabic, cues=True) == [("هل هذا؟", 2.0), ("نعم هو.", 10.0)]
    assert split_sentences("မင်္ဂလာပါ။နေကောင်းလား။") == ["မင်္ဂလာပါ။", "နေကောင်းလား။"]
    assert split_sentences("値は３．５です．次へ．") == ["値は３．５です．", "次へ．"]


def test_subtitles_without_marks_are_cut_at_cues_and_words_are_not() -> None:
    thai = [SpokenPiece("สวัสดี", 0.0, 2.0), SpokenPiece("ราคา 3.5 บาท", 2.0, 4.0)]
    assert timed_sentences(thai, cues=True) == [("สวัสดี", 0.0), ("ราคา 3.5 บาท", 2.0)]
    assert timed_sentences(thai, cues=False) == [("สวัสดีราคา 3.5 บาท", 0.0)]
    one = [SpokenPiece("It rains", 0.0, 2.0), SpokenPiece("in Spain.", 2.0, 4.0)]
    assert timed_sentences(one, cues=True) == [("It rains in Spain.", 0.0)]
    assert timed_sentences([], cues=True) == []


def test_words_that_are_also_abbreviations_end_sentences() -> None:
    assert split_sentences("Did he? No. He sat. Then see No. 5 on Sat. 7 May.") == [
        "Did he?",
        "No.",
        "He sat.",
        "Then see No. 5 on Sat. 7 May.",
    ]
