"""Letters aligned with frames: equal to plain searches, in pieces as in one."""

from __future__ import annotations

from itertools import groupby, pairwise, product

import numpy as np
import pytest
from numpy.typing import NDArray

from earwitness.speech import ctc
from earwitness.speech.ctc import (
    AlignmentFailure,
    align_spelled_words,
    align_tokens,
    count_needed_frames,
    decode_greedily,
)
from helpers.letter_emissions import LABELS, emit, say

FRAME = 0.02


def random_log_probs(frames: int, labels: int, seed: int) -> NDArray[np.float32]:
    logits = np.random.default_rng(seed).normal(0, 2, (frames, labels))
    sums = np.exp(logits).sum(axis=1, keepdims=True)
    return np.asarray(logits - np.log(sums), np.float32)


def collapse(path: tuple[int, ...]) -> list[int]:
    """CTC's rule: repetitions are one, then blanks are dropped."""
    return [label for label, _ in groupby(path) if label]


def enumerate_best(log_probs: NDArray[np.float32], tokens: list[int]) -> tuple[int, ...]:
    """Of all labellings that give the tokens, the most probable one."""
    paths = product(range(log_probs.shape[1]), repeat=len(log_probs))
    return max(
        (path for path in paths if collapse(path) == tokens),
        key=lambda path: sum(float(log_probs[n, label]) for n, label in enumerate(path)),
    )


def align_plainly(log_probs: NDArray[np.float32], tokens: list[int]) -> tuple[list[int], list[int]]:
    """The search state by state and frame by frame."""
    labels = [0]
    for token in tokens:
        labels += [token, 0]
    table: list[list[tuple[float, int]]] = []  # best sum and state before
    for frame, row in enumerate(log_probs.astype(float)):
        line = []
        for state, label in enumerate(labels):
            if frame == 0:
                line.append((row[label] if state < 2 else -np.inf, -1))
                continue
            sources = [state]
            sources += [state - 1] if state >= 1 else []
            if state >= 2 and label and label != labels[state - 2]:
                sources.append(state - 2)
            best = max(sources, key=lambda one: table[-1][one][0])
            line.append((table[-1][best][0] + row[label], best))
        table.append(line)
    state = max((len(labels) - 2, len(labels) - 1), key=lambda one: table[-1][one][0])
    path = []
    for line in reversed(table):
        path.append(state)
        state = line[state][1]
    path.reverse()
    starts = [path.index(2 * n + 1) for n in range(len(tokens))]
    ends = [start + path.count(2 * n + 1) for n, start in enumerate(starts)]
    return starts, ends


@pytest.mark.parametrize("tokens", [[1], [1, 2], [1, 1], [2, 1, 2], [1, 1, 2]])
@pytest.mark.parametrize("seed", range(4))
def test_the_path_is_the_best_of_all(tokens: list[int], seed: int) -> None:
    log_probs = random_log_probs(6, 3, seed)
    spans = align_tokens(log_probs, tokens)
    best = enumerate_best(log_probs, tokens)
    edges = [0]
    for _, group in groupby(best):
        edges.append(edges[-1] + len(list(group)))
    runs = [(start, end) for start, end in pairwise(edges) if best[start]]
    assert [*zip(spans.starts, spans.ends, strict=True)] == runs
    means = [np.exp(log_probs[start:end, best[start]]).mean() for start, end in runs]
    np.testing.assert_allclose(spans.probabilities, means, rtol=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_spans_equal_those_of_the_plain_search(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tokens = rng.integers(1, 5, int(rng.integers(1, 20))).tolist()
    frames = count_needed_frames(tokens) + int(rng.integers(0, 40))
    log_probs = random_log_probs(frames, 5, seed)
    spans = align_tokens(log_probs, tokens)
    assert (spans.starts.tolist(), spans.ends.tolist()) == align_plainly(log_probs, tokens)


def test_equal_neighbours_are_separated_by_a_blank() -> None:
    log_probs = np.log(np.full((3, 2), 0.5, np.float32))
    spans = align_tokens(log_probs, [1, 1])
    assert spans.starts.tolist() == [0, 2]
    assert spans.ends.tolist() == [1, 3]
    with pytest.raises(AlignmentFailure, match="2 letters need 3 frames, but there are only 2"):
        align_tokens(log_probs[:2], [1, 1])


def test_another_blank_and_no_tokens() -> None:
    log_probs = random_log_probs(8, 3, 1)
    swapped = align_tokens(log_probs[:, [1, 2, 0]], [0, 1], blank=2)
    plain = align_tokens(log_probs, [1, 2])
    assert swapped.starts.tolist() == plain.starts.tolist()
    assert align_tokens(log_probs, []).starts.tolist() == []


def test_impossible_labels_are_aligned_with_probability_zero() -> None:
    log_probs = np.array([[np.log(0.5), np.log(0.5), -np.inf]] * 4, np.float32)
    spans = align_tokens(log_probs, [1, 2])
    assert spans.probabilities[1] == 0


def test_greedy_letters_have_frames() -> None:
    rng = np.random.default_rng(1)
    heard = decode_greedily(emit([3, 3, 5], [4, 6, 9], 20, rng))
    assert heard.tokens.tolist() == [3, 3, 5]
    assert heard.starts.tolist() == [4, 6, 9]
    assert heard.ends.tolist() == [5, 7, 10]


# --- Words ---------------------------------------------------------------------------------------


def random_words(count: int, rng: np.random.Generator) -> list[list[int]]:
    return [rng.integers(1, LABELS, int(rng.integers(1, 9))).tolist() for _ in range(count)]


def test_words_are_found_in_pieces_as_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    words = random_words(700, rng)
    tokens, frames, starts = say(words, rng)
    log_probs = emit(tokens, frames, frames[-1] + 30, rng, error_rate=0.1)
    sizes = []
    plain = ctc.align_tokens

    def note(part: NDArray[np.float32], letters: list[int], blank: int) -> ctc.TokenSpans:
        sizes.append(len(part))
        return plain(part, letters, blank)

    monkeypatch.setattr(ctc, "align_tokens", note)
    found = align_spelled_words(log_probs, words, FRAME)
    assert sum(sizes) == len(log_probs) > 3 * 60 / FRAME
    assert max(sizes) <= 60 / FRAME
    np.testing.assert_allclose([time.start for time in found], np.array(starts) * FRAME, atol=0.1)
    monkeypatch.setattr(ctc, "MAX_PIECE_SECONDS", 1e9)
    np.testing.assert_allclose(found, align_spelled_words(log_probs, words, FRAME), rtol=1e-9)


def test_wrong_missing_and_extra_words_do_not_move_the_others() -> None:
    rng = np.random.default_rng(4)
    words = random_words(600, rng)
    tokens, frames, starts = say(words, rng)
    log_probs = emit(tokens, frames, frames[-1] + 30, rng, error_rate=0.1)
    transcript: list[list[int]] = []
    kept: list[tuple[int, int]] = []  # place in the transcript, true first frame
    for word, start in zip(words, starts, strict=True):
        draw = rng.random()
        if draw < 0.1:
            transcript += [random_words(1, rng)[0]] * int(draw < 0.05)  # wrong, or missing
            continue
        kept.append((len(transcript), start))
        transcript.append(word)
        transcript += random_words(int(draw > 0.95), rng)
    found = align_spelled_words(log_probs, transcript, FRAME)
    errors = np.array([abs(found[place].start - start * FRAME) for place, start in kept])
    assert np.mean(errors <= 0.1) > 0.95
    assert np.mean(errors <= 0.5) > 0.99


def test_a_word_that_was_not_said_lowers_its_confidence() -> None:
    rng = np.random.default_rng(5)
    words = random_words(20, rng)
    tokens, frames, _ = say(words, rng)
    log_probs = emit(tokens, frames, frames[-1] + 30, rng)
    found = align_spelled_words(log_probs, [*words[:10], [5, 9, 2, 7, 1], *words[10:]], FRAME)
    assert found[10].confidence < 0.1
    assert min(time.confidence for time in found[:10]) > 0.5


def test_words_without_letters_share_the_time_between_their_neighbours() -> None:
    rng = np.random.default_rng(6)
    log_probs = emit([3, 4], [50, 101], 200, rng)
    found = align_spelled_words(log_probs, [[], [3], [], [], [4], []], FRAME)
    times = [(round(time.start, 6), round(time.end, 6)) for time in found]
    assert times == [(0, 1), (1, 1.02), (1.02, 1.52), (1.52, 2.02), (2.02, 2.04), (2.04, 4)]
    assert [time.confidence > 0 for time in found] == [False, True, False, False, True, False]


def test_a_text_that_was_not_said_is_refused() -> None:
    rng = np.random.default_rng(7)
    tokens, frames, _ = say(random_words(100, rng), rng)
    log_probs = emit(tokens, frames, frames[-1] + 30, rng)
    with pytest.raises(AlignmentFailure, match=r"does not match the audio \(mean confidence of"):
        align_spelled_words(log_probs, random_words(100, rng), FRAME)


def test_a_long_passage_without_agreement_is_refused_with_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(8)
    words = random_words(500, rng)
    tokens, frames, _ = say(words, rng)
    log_probs = emit(tokens, frames, frames[-1] + 30, rng)
    monkeypatch.setattr(ctc, "MAX_PIECE_CELLS", 3_000 * 3_000)
    align_spelled_words(log_probs, words, FRAME)
    words[100:400] = random_words(300, rng)
    with pytest.raises(AlignmentFailure, match=r"between \d+ s and \d+ s: nothing in 1,\d+ lett"):
        align_spelled_words(log_probs, words, FRAME)


def test_more_letters_than_the_audio_has_frames_are_refused() -> None:
    rng = np.random.default_rng(9)
    log_probs = emit([3], [5], 10, rng)
    with pytest.raises(AlignmentFailure, match=r"too short for the transcript: 11 letters need"):
        align_spelled_words(log_probs, [[*range(1, 12)]], FRAME)
    with pytest.raises(AlignmentFailure, match="no words"):
        align_spelled_words(log_probs, [[], []], FRAME)


@pytest.mark.parametrize("place", [0, 100, 200])
def test_a_piece_with_more_letters_than_frames_is_joined_with_its_neighbours(
    monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    rng = np.random.default_rng(10)
    words = random_words(200, rng)
    tokens, frames, starts = say(words, rng)
    log_probs = emit(tokens, frames, frames[-1] + 2, rng)
    monkeypatch.setattr(ctc, "MAX_PIECE_SECONDS", 4.0)
    extra = random_words(60, rng)  # more letters than four seconds have frames
    found = align_spelled_words(log_probs, words[:place] + extra + words[place:], FRAME)
    times = np.array([time.start for time in found[:place] + found[place + 60 :]])
    far = np.abs(np.arange(200) - place) > 60
    np.testing.assert_allclose(times[far], np.array(starts)[far] * FRAME, atol=0.1)
