"""Forced alignment of words by the frame-wise letter probabilities of a CTC model.

A CTC model returns, for each frame, the probability of each letter and of the blank, which means
"no new letter". ``align_tokens`` finds the most probable path through given letters: every letter
takes one or more consecutive frames, blanks may separate letters, and equal neighbours must be
separated by a blank.

The search takes frames × letters steps, so ``align_spelled_words`` divides a recording into pieces
of about a minute. Without knowledge of the transcript, the most probable letter of each frame gives
a rough text; where it agrees with the transcript (``earwitness.speech.anchors``), the recording can
be cut between two words. Time and memory therefore grow with the duration, not with its square.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import EarwitnessError
from earwitness.speech.anchors import find_anchors

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]
ANCHOR_LETTERS = (14, 10, 8)  # lengths of runs of letters that are searched
MAX_PIECE_SECONDS = 60.0  # unless there is no anchor to cut at
MAX_PIECE_CELLS = 400_000_000  # frames × states; one byte each
MIN_MEAN_CONFIDENCE = 0.15  # of all words, below which a transcript belongs to other audio
MIN_LOG_PROBABILITY = -1e4  # of a label in a frame
MIN_PROBABILITY = 1e-10  # of a letter, in the mean over the letters of a word


class AlignmentFailure(EarwitnessError, ValueError):
    """A transcript cannot be aligned with a recording; the message has the reason."""


class WordTimes(NamedTuple):
    """Start and end of a word in seconds, and how certain it is that it was said there (0–1)."""

    start: float
    end: float
    confidence: float


# --- Alignment of letters ------------------------------------------------------------------------


class TokenSpans(NamedTuple):
    """First frame, frame after the last one, and mean probability of each token."""

    starts: Integers
    ends: Integers
    probabilities: NDArray[np.float64]


def count_needed_frames(tokens: Sequence[int]) -> int:
    """Return the least number of frames for tokens: one each, and one blank between equal ones.

    >>> count_needed_frames([3, 3, 4])
    4
    """
    return len(tokens) + sum(token == other for token, other in pairwise(tokens))


def align_tokens(log_probs: Floats, tokens: Sequence[int], blank: int = 0) -> TokenSpans:
    """Return the frames of each token on the most probable path.

    Parameters
    ----------
    log_probs
        Natural logarithm of probabilities: one row per frame, one column per label.
    tokens
        Labels in the order in which they occur, without blanks.
    blank
        Column of the blank.

    Returns
    -------
    TokenSpans
        Frames and mean probability of each token.

    Raises
    ------
    AlignmentFailure
        There are fewer frames than the tokens need.

    Examples
    --------
    >>> probabilities = [[0.1, 0.9, 0], [0.8, 0.1, 0.1], [0.1, 0.1, 0.8], [0.1, 0.1, 0.8]]
    >>> with np.errstate(divide="ignore"):
    ...     spans = align_tokens(np.log(np.array(probabilities, np.float32)), [1, 2])
    >>> spans.starts.tolist(), spans.ends.tolist(), spans.probabilities.round(2).tolist()
    ([0, 2], [1, 4], [0.9, 0.8])
    """
    if not tokens:
        nothing = np.zeros(0, np.int64)
        return TokenSpans(nothing, nothing, np.zeros(0))
    needed = count_needed_frames(tokens)
    if len(log_probs) < needed:
        raise AlignmentFailure(
            f"{len(tokens):,} letters need {needed:,} frames, but there are only {len(log_probs):,}"
        )
    labels = np.full(2 * len(tokens) + 1, blank)  # of the states: tokens between blanks
    labels[1::2] = tokens
    path = _find_path(log_probs, labels)
    probabilities = np.exp(log_probs[np.arange(len(path)), labels[path]], dtype=np.float64)
    states = np.arange(1, len(labels), 2)
    starts, ends = np.searchsorted(path, states), np.searchsorted(path, states, side="right")
    edges = np.ravel([starts, ends], order="F")
    sums = np.add.reduceat(np.append(probabilities, 0.0), edges)[::2]
    return TokenSpans(starts, ends, sums / (ends - starts))


def _find_path(log_probs: Floats, labels: Integers) -> Integers:
    """Return the state of each frame on the most probable path.

    From one frame to the next, a path stays in its state, goes to the next one, or skips the blank
    between two different tokens. Of equally probable paths, the one that stays is preferred.
    """
    log_probs = np.maximum(log_probs, MIN_LOG_PROBABILITY)  # a path needs a finite sum
    barred = np.full(len(labels), -np.inf)  # added to skips
    barred[3::2][labels[3::2] != labels[1:-2:2]] = 0.0
    scores = np.full(len(labels) + 2, -np.inf)  # two columns before the first state
    scores[2:4] = log_probs[0, labels[:2]]
    moves = np.zeros((len(log_probs), len(labels)), np.uint8)
    for frame in range(1, len(log_probs)):
        move = moves[frame]
        best = scores[2:].copy()
        steps = scores[1:-1]
        np.greater(steps, best, out=move, casting="unsafe")
        np.maximum(best, steps, out=best)
        skips = scores[:-2] + barred
        move[skips > best] = 2
        np.maximum(best, skips, out=best)
        scores[2:] = best + log_probs[frame, labels]
    path = np.empty(len(log_probs), np.int64)
    state = len(labels) - 1 if scores[-1] > scores[-2] else len(labels) - 2
    for frame in range(len(log_probs) - 1, -1, -1):
        path[frame] = state
        state -= int(moves[frame, state])
    return path


# --- Alignment of words --------------------------------------------------------------------------


class HeardTokens(NamedTuple):
    """Tokens that were recognized, their first frames, and the frames after their last ones."""

    tokens: Integers
    starts: Integers
    ends: Integers


class Piece(NamedTuple):
    """Range of letters, and the range of frames that they belong to."""

    first_letter: int
    last_letter: int  # exclusive
    first_frame: int
    last_frame: int  # exclusive


def decode_greedily(log_probs: Floats, blank: int = 0) -> HeardTokens:
    """Return the most probable label of each frame, with repetitions merged and without blanks.

    >>> decode_greedily(np.log(np.eye(3, dtype=np.float32)[[0, 1, 1, 0, 1, 2]] + 0.1)).tokens
    array([1, 1, 2])
    """
    labels = log_probs.argmax(axis=1)
    edges = np.flatnonzero(np.diff(labels, prepend=-1, append=-1))
    starts, ends = edges[:-1], edges[1:]
    kept = labels[starts] != blank
    return HeardTokens(labels[starts][kept], starts[kept], ends[kept])


def align_spelled_words(
    log_probs: Floats, words: Sequence[Sequence[int]], frame_seconds: float, blank: int = 0
) -> list[WordTimes]:
    """Return the times of each word.

    Parameters
    ----------
    log_probs
        Natural logarithm of probabilities: one row per frame, one column per label.
    words
        Labels of the letters of each word. A word may have none: it gets the time between its
        neighbours, and a confidence of 0.
    frame_seconds
        Time from one frame to the next.
    blank
        Column of the blank.

    Returns
    -------
    list of WordTimes
        One entry per word. Its confidence is the geometric mean of the probabilities of its
        letters, so that a single letter that was not said counts.

    Raises
    ------
    AlignmentFailure
        There are no letters, the audio is too short for them, or it does not match them.
    """
    letters = [letter for word in words for letter in word]
    if not letters:
        raise AlignmentFailure("the transcript has no words that could be aligned")
    ends = list(accumulate(len(word) for word in words))
    starts = {end - len(word) for end, word in zip(ends, words, strict=True) if word}
    pieces = _cut_pieces(log_probs, letters, starts, frame_seconds, blank)
    spans = [_align_piece(log_probs, letters, piece, frame_seconds, blank) for piece in pieces]
    joined = TokenSpans(*(np.concatenate(column) for column in zip(*spans, strict=True)))
    certainties = np.log(np.maximum(joined.probabilities, MIN_PROBABILITY))
    times = list[WordTimes | None]()
    for word, end in zip(words, ends, strict=True):
        first = end - len(word)
        times.append(
            WordTimes(
                float(joined.starts[first]) * frame_seconds,
                float(joined.ends[end - 1]) * frame_seconds,
                float(np.exp(certainties[first:end].mean())),
            )
            if word
            else None
        )
    confidence = float(np.mean([time.confidence for time in times if time]))
    if confidence < MIN_MEAN_CONFIDENCE:
        raise AlignmentFailure(
            f"the transcript does not match the audio (mean confidence of words {confidence:.2f}, "
            f"at least {MIN_MEAN_CONFIDENCE:g} is required)"
        )
    return _fill_gaps(times, len(log_probs) * frame_seconds)


def _align_piece(
    log_probs: Floats, letters: Sequence[int], piece: Piece, frame_seconds: float, blank: int
) -> TokenSpans:
    """Return the spans of the letters of a piece, in frames of the whole recording."""
    first, last, begin, end = piece
    if (end - begin) * (2 * (last - first) + 1) > MAX_PIECE_CELLS:
        between = f"between {begin * frame_seconds:.0f} s and {end * frame_seconds:.0f} s"
        raise AlignmentFailure(
            f"the transcript does not match the audio {between}: nothing in {last - first:,} "
            "letters was recognized there"
        )
    try:
        spans = align_tokens(log_probs[begin:end], letters[first:last], blank)
    except AlignmentFailure as error:
        raise AlignmentFailure(
            f"the audio is too short for the transcript: {error} of {frame_seconds:g} s"
        ) from error
    return TokenSpans(spans.starts + begin, spans.ends + begin, spans.probabilities)


def _cut_pieces(
    log_probs: Floats,
    letters: Sequence[int],
    word_starts: set[int],
    frame_seconds: float,
    blank: int,
) -> list[Piece]:
    """Return pieces of at most about a minute, cut between words that were recognized."""
    longest = round(MAX_PIECE_SECONDS / frame_seconds)
    edges = [(0, 0)]
    if len(log_probs) > longest:
        heard = decode_greedily(log_probs, blank)
        cuts = _find_cuts(letters, heard, word_starts)
        for cut, following in pairwise([*cuts, (len(letters), len(log_probs))]):
            if following[1] - edges[-1][1] > longest:
                edges.append(cut)
    edges.append((len(letters), len(log_probs)))
    return _merge_short(
        [Piece(low, high, begin, end) for (low, begin), (high, end) in pairwise(edges)], letters
    )


def _find_cuts(
    letters: Sequence[int], heard: HeardTokens, word_starts: set[int]
) -> list[tuple[int, int]]:
    """Return the first letter of each word that can start a piece, and its first frame.

    The letter and the one before it are anchors; the cut is in the middle between both.
    """
    anchors = find_anchors(letters, heard.tokens.tolist(), ANCHOR_LETTERS)
    return [
        (letter, int(heard.ends[before] + heard.starts[place]) // 2)
        for (previous, before), (letter, place) in pairwise(anchors)
        if letter in word_starts and letter == previous + 1 and place == before + 1
    ]


def _merge_short(pieces: Sequence[Piece], letters: Sequence[int]) -> list[Piece]:
    """Join pieces that have too few frames for their letters with their neighbours."""

    def fits(piece: Piece) -> bool:
        needed = count_needed_frames(letters[piece.first_letter : piece.last_letter])
        return needed <= piece.last_frame - piece.first_frame

    merged = list[Piece]()
    for piece in pieces:
        joined = piece
        while merged and not (fits(joined) and fits(merged[-1])):
            before = merged.pop()
            joined = before._replace(last_letter=joined.last_letter, last_frame=joined.last_frame)
        merged.append(joined)
    return merged


def _fill_gaps(times: Sequence[WordTimes | None], duration: float) -> list[WordTimes]:
    """Give words without letters equal shares of the time between their neighbours."""
    filled = list[WordTimes]()
    for is_gap, group in groupby(enumerate(times), lambda pair: pair[1] is None):
        members = list(group)
        if not is_gap:
            filled += [time for _, time in members if time]
            continue
        following = members[-1][0] + 1
        after = times[following] if following < len(times) else None
        start, end = filled[-1].end if filled else 0.0, after.start if after else duration
        edges = np.linspace(start, end, len(members) + 1).tolist()
        filled += [WordTimes(low, high, 0.0) for low, high in pairwise(edges)]
    return filled
