"""Alignment of speech with known times, and what happens if text and audio do not match."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from earwitness.audio.read import Break
from earwitness.engines.local import processes
from earwitness.errors import EarwitnessWarning, UsageError
from earwitness.models.cache import Cache
from earwitness.speech.align import (
    PocketsphinxAligner,
    align,
    align_words,
    find_aligner,
    find_passages,
    interpolate_times,
)
from earwitness.speech.ctc import AlignmentFailure, WordTimes
from earwitness.speech.recognize import HeardWord, WindowResult
from earwitness.text.timed_transcripts import write_transcript
from helpers.flite import SpokenText, read_lecture, speak_chapters, write_speech

# --- A minute of speech --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    return Cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def lecture() -> SpokenText:
    return speak_chapters(read_lecture()[:2])


@pytest.fixture(scope="module")
def lecture_file(lecture: SpokenText, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("speech") / "lecture.wav"
    write_speech(path, lecture)
    return path


def boundary_errors(
    times: Sequence[WordTimes], origins: Sequence[int | None], speech: SpokenText
) -> list[float]:
    """Distances of starts and ends from the true ones; ``origins`` are places of true words."""
    return [
        abs(found - true)
        for time, origin in zip(times, origins, strict=True)
        if origin is not None
        for found, true in zip(time[:2], speech.words[origin][1:], strict=True)
    ]


def test_words_and_chapters_of_a_minute_are_found(
    lecture: SpokenText, lecture_file: Path, cache: Cache
) -> None:
    words = [word.word for word in lecture.words]
    times = align_words(lecture_file, words, PocketsphinxAligner(cache))
    errors = boundary_errors(times, range(len(words)), lecture)
    assert np.mean(np.array(errors) <= 0.1) >= 0.9
    for chapter in lecture.chapters[1:]:
        assert abs(times[chapter].start - lecture.words[chapter].start) <= 0.5
    assert np.mean([time.confidence for time in times]) > 0.5
    # a second run, in worker processes, takes everything from the journal
    again = align_words(lecture_file, words, PocketsphinxAligner(cache, processes(2)))
    assert again == times


def test_damaged_text_is_aligned(tmp_path: Path, cache: Cache) -> None:
    speech = speak_chapters([[sentence] for sentence in read_lecture()[2]])
    path = tmp_path / "market.wav"
    write_speech(path, speech)
    rng, words, origins = random.Random(1), list[str](), list[int | None]()
    vocabulary = [word.word for word in speech.words]
    for place, word in enumerate(speech.words):
        draw = rng.random()
        if draw > 1 / 30:  # else missing
            words.append(word.word if draw > 2 / 30 else rng.choice(vocabulary))
            origins.append(place if draw > 2 / 30 else None)
        if draw > 29 / 30:
            words.append(rng.choice(vocabulary))
            origins.append(None)
    times = align_words(path, words, PocketsphinxAligner(cache))
    errors = []
    for first in speech.chapters:
        place = next(
            n for n, origin in enumerate(origins) if origin is not None and origin >= first
        )
        errors.append(abs(times[place].start - speech.words[first].start))
    assert len(errors) == 8
    assert np.mean(np.array(errors) <= 0.5) >= 0.9
    assert all(after.start >= before.start for before, after in pairwise(times))


def test_text_of_a_part_of_the_audio_is_found_there(
    lecture: SpokenText, lecture_file: Path, cache: Cache
) -> None:
    second = lecture.chapters[1]
    words = [word.word for word in lecture.words[second : second + 40]]
    times = align_words(lecture_file, words, PocketsphinxAligner(cache))
    errors = boundary_errors(times, range(second, second + 40), lecture)
    assert np.mean(np.array(errors) <= 0.1) >= 0.9


def test_sentences_are_segments_and_numbers_are_spoken(tmp_path: Path, cache: Cache) -> None:
    speech = speak_chapters([["It rained for twenty four hours.", "Then we left."]])
    path = tmp_path / "rain.wav"
    write_speech(path, speech)
    text = "It rained — for 24 hours. Then we left."
    transcript = align(path, text, aligner=PocketsphinxAligner(cache))
    assert [segment.text for segment in transcript.segments] == [
        "It rained — for 24 hours.",
        "Then we left.",
    ]
    words = {word.word: word for word in transcript.words}
    true = {word.word: word for word in speech.words}
    assert words["24"].start == pytest.approx(true["twenty"].start, abs=0.1)
    assert words["24"].end == pytest.approx(true["four"].end, abs=0.1)
    assert words["—"].start == words["—"].end == words["rained"].end
    assert transcript.segments[1].start == pytest.approx(true["Then"].start, abs=0.1)
    assert write_transcript(transcript, "ctm").startswith("rain 1 ")


# --- Failures ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", [" ".join(read_lecture()[6]), "First you cut an onion and wait for the water to boil."]
)
def test_text_of_other_audio_is_refused(text: str, lecture_file: Path, cache: Cache) -> None:
    words = text.split()
    with pytest.raises(AlignmentFailure, match=r"only .* words were recognized — is it the text"):
        align_words(lecture_file, words, PocketsphinxAligner(cache))


def test_silent_empty_and_missing_audio_is_named(tmp_path: Path, cache: Cache) -> None:
    speech = SpokenText(np.zeros(32_000, np.int16), 16_000, (), ())
    silent, empty = tmp_path / "silent.wav", tmp_path / "empty.wav"
    write_speech(silent, speech)
    write_speech(empty, speech._replace(samples=speech.samples[:0]))
    (tmp_path / "text.wav").write_text("not audio")
    aligner = PocketsphinxAligner(cache)
    for name, reason in (
        ("silent.wav", "is silent"),
        ("empty.wav", "is empty"),
        ("missing.wav", "does not exist"),
        ("text.wav", "text.wav"),
    ):
        with pytest.raises(AlignmentFailure, match=reason):
            align_words(tmp_path / name, ["hello"], aligner)
    with pytest.raises(AlignmentFailure, match="no words"):
        align_words(silent, [], aligner)
    with pytest.raises(AlignmentFailure, match="no English words"):
        align_words(silent, ["—", "…"], aligner)


def test_damaged_audio_is_reported(
    tmp_path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recognize(path: Path, *_: object, broken: Callable[[Break], object]) -> list[WindowResult]:
        broken(Break(str(path), 61.5, 0.8, "cannot be read for 0.8 s"))
        return [WindowResult(0.0, 1.0, ())]

    monkeypatch.setattr("earwitness.speech.align.recognize_windows", recognize)
    (tmp_path / "a.mp3").touch()
    with (
        pytest.warns(EarwitnessWarning, match=r"a\.mp3: at 00:01:01\.500: cannot be read for"),
        pytest.raises(AlignmentFailure, match="only 0 of 1 words"),
    ):
        align_words(tmp_path / "a.mp3", ["hello"], PocketsphinxAligner(cache))


def test_other_languages_and_aligners_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(b"")
    with pytest.raises(UsageError, match="English"):
        align_words(tmp_path / "a.wav", ["bonjour"], PocketsphinxAligner(Cache(tmp_path)), "fra")
    with pytest.raises(UsageError, match='unknown aligner "sphinx"'):
        find_aligner("sphinx")


# --- Passages ------------------------------------------------------------------------------------


def test_passages_lie_between_anchors() -> None:
    heard = [HeardWord(str(n), n, n + 0.5) for n in range(10)]
    passages = find_passages([(2, 3), (3, 4), (6, 5)], heard, 9, 20.0)
    first, middle, last = passages
    assert (first.first, first.last, first.end, first.low, first.high) == (0, 2, 3.5, None, 3)
    assert first.start == pytest.approx(3 - 2 * 0.7 - 0.3)
    assert middle == (4, 6, 4, 5.5, 4.5, 5)
    assert middle.words == slice(3, 7)
    assert (last.first, last.last, last.start, last.low, last.high) == (7, 9, 5, 5.5, None)
    located = dict(middle.locate([(0.0, 0.2), (0.1, 0.7), (0.7, 1.4), (1.4, 1.5)]))
    assert located == {4: (4.5, 4.7), 5: (4.7, 5)}  # not before 4.5 or after 5


def test_words_without_times_share_the_gap_by_their_phones() -> None:
    times = interpolate_times([(0.0, 1.0), None, None, (4.0, 5.0), None], ["a"] * 5, 6.0)
    assert times == [(0.0, 1.0), (1.0, 2.5), (2.5, 4.0), (4.0, 5.0), (5.0, 6.0)]
