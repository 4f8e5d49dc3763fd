"""Stochastic dependency context-free grammars (SDCFG) and the concatenation score T.

A grammar has K classes (nonterminals) and four kinds of rules:

    S → α        α is the class of the head of the sentence
    α → β α      a left dependent with a head of class β
    α → α β      a right dependent with a head of class β
    α → w        the head is the word w

The probabilities of the last three kinds sum to 1 for every α. Rules are estimated from text by
inside–outside (module ``grammar_estimation``), or counted in a treebank (module ``treebank``).

The concatenation score of two words at places m < n is T(m, n) = log P(a dependency joins them),
the probability, over all derivations of the sentence, that

- the head of m is at n or right of n, and n is not in the subtree of m, or
- the head of n is at m or left of m, and m is not in the subtree of n.

No derivation has both, since its dependencies do not cross. See Hori, Furui, Malkin, Yu and Waibel
(2003), A Statistical Approach to Automatic Speech Summarization.

Charts are indexed by (first word, width) and by (last word, width), so that a sum over all splits
is a product of two slices. Their last axes are the class and the sentence of a batch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from earwitness.core import StrPath, load_json
from earwitness.errors import UsageError
from earwitness.io.atomic import AtomicFile
from earwitness.summaries.methods.compaction import Floats, Ints
from earwitness.text.words import is_spoken, normalise_word

UNKNOWN_WORD = "<unk>"
MAX_PIECE_WORDS = 60  # longer sentences are cut into pieces
DEPENDENCY_FLOOR = float(np.log(1e-6))  # smallest concatenation score T


# --- Grammars ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Grammar:
    """A stochastic dependency context-free grammar.

    Attributes
    ----------
    classes
        Names of the K classes.
    words
        Vocabulary. The first word, ``<unk>``, stands for all other words.
    start
        P(S → α), shape (K,).
    left, right
        P(α → β α) and P(α → α β), shape (K, K), indexed by α and β.
    emission
        P(α → w), shape (K, number of words).
    class_counts
        Number of rules of every class in the data of the grammar, shape (K,): the weight of the
        grammar if it is combined with more data.
    sentence_count
        Number of sentences of its data.
    details
        How the grammar was estimated, for the reader of the file.
    """

    classes: tuple[str, ...]
    words: tuple[str, ...]
    start: Floats
    left: Floats
    right: Floats
    emission: Floats
    class_counts: Floats
    sentence_count: float = 0.0
    details: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def word_index(self) -> dict[str, int]:
        """Index of every word."""
        return {word: index for index, word in enumerate(self.words)}

    @cached_property
    def signature(self) -> str:
        """Sizes of the grammar and a hash of its probabilities."""
        digest = hashlib.sha256(json.dumps([self.classes, self.words]).encode())
        for array in (self.start, self.left, self.right, self.emission, self.class_counts):
            digest.update(np.ascontiguousarray(array, "<f8").tobytes())
        sizes = f"classes={len(self.classes)},words={len(self.words)}"
        return f"sdcfg,{sizes},sha256={digest.hexdigest()[:16]}"

    def find_words(self, words: Sequence[str]) -> Ints:
        """Return the indices of words in the vocabulary; unknown words have index 0."""
        found = [self.word_index.get(normalise_word(word), 0) for word in words]
        return np.array(found, dtype=np.int64)

    def log_likelihood(self, words: Sequence[str]) -> float:
        """Return log P(words), without punctuation; pieces of long sentences are independent."""
        indices = self.find_words([word for word in words if is_spoken(word)])
        pieces = cut_evenly(len(indices), MAX_PIECE_WORDS)
        return sum(float(compute_inside(self, indices[piece][None]).logs[0]) for piece in pieces)

    def save(self, path: StrPath) -> None:
        """Write the grammar to a JSON file; ``load_grammar`` has its fields."""
        content = {
            "format": FILE_FORMAT,
            "version": FILE_VERSION,
            "signature": self.signature,
            "details": dict(self.details),
            "classes": self.classes,
            "class_counts": self.class_counts.tolist(),
            "sentence_count": self.sentence_count,
            "start": self.start.tolist(),
            "left": self.left.tolist(),
            "right": self.right.tolist(),
            "words": dict(zip(self.words, self.emission.T.tolist(), strict=True)),
        }
        with AtomicFile(Path(path)) as file:
            json.dump(content, file, ensure_ascii=False)
            file.write("\n")


def cut_evenly(count: int, limit: int) -> list[slice]:
    """Return the fewest slices of ``count`` words with up to ``limit`` words, of similar sizes.

    >>> cut_evenly(7, 3)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 7, None)]
    """
    pieces = -(-count // limit)
    bounds = [count * number // pieces for number in range(pieces + 1)] if pieces else []
    return [slice(*pair) for pair in pairwise(bounds)]


# --- Grammar files -------------------------------------------------------------------------------


FILE_FORMAT, FILE_VERSION = "earwitness-grammar", 1
SUM_TOLERANCE = 1e-6


def load_grammar(path: StrPath) -> Grammar:
    """Load a grammar that ``Grammar.save`` wrote.

    The file is one JSON object with ``format`` (earwitness-grammar), ``version`` (1),
    ``signature``, ``details``, ``classes`` (names), ``class_counts``, ``sentence_count``, ``start``
    (list by class), ``left`` and ``right`` (lists of rows by head class), and ``words`` (the
    probabilities of every word, by class).

    Raises
    ------
    UsageError
        The file cannot be read, is not a grammar, or is damaged.
    """
    remedy = "estimate the grammar again with: earwitness summarizer train-grammar"
    try:
        content = load_json(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"{path}: is not a grammar file (no JSON) — {remedy}") from error
    if not isinstance(content, dict) or content.get("format") != FILE_FORMAT:
        raise UsageError(f"{path}: is not a grammar file — {remedy}")
    if content.get("version") != FILE_VERSION:
        raise UsageError(
            f"{path}: grammar files of version {content.get('version')} are not supported, "
            f"only version {FILE_VERSION} — {remedy}"
        )
    try:
        grammar = _read_content(content)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise UsageError(f"{path}: the grammar is damaged: {error} — {remedy}") from error
    if content.get("signature") != grammar.signature:
        raise UsageError(f"{path}: the grammar is damaged: its signature does not match — {remedy}")
    return grammar


def _read_content(content: dict[str, Any]) -> Grammar:
    words, names = content["words"], ("start", "left", "right", "class_counts")
    grammar = Grammar(
        tuple(map(str, content["classes"])),
        tuple(words),
        emission=np.ascontiguousarray(np.array(list(words.values()), np.float64).T),
        sentence_count=float(content["sentence_count"]),
        details=dict(content["details"]),
        **{name: np.array(content[name], np.float64) for name in names},
    )
    check_grammar(grammar)
    return grammar


def check_grammar(grammar: Grammar) -> None:
    """Raise ValueError if shapes, probabilities or the vocabulary are invalid."""
    size, words = len(grammar.classes), grammar.words
    shapes = {"start": (size,), "left": (size, size), "right": (size, size)}
    shapes |= {"emission": (size, len(words)), "class_counts": (size,)}
    for name, shape in shapes.items():
        array = getattr(grammar, name)
        if array.shape != shape:
            raise ValueError(f"{name} has the shape {array.shape}, expected {shape}")
        if not np.isfinite(array).all() or (array < 0).any():
            raise ValueError(f"{name} has negative or infinite numbers")
    if not words or words[0] != UNKNOWN_WORD or len(set(words)) < len(words):
        raise ValueError(f"its vocabulary must be unique words and start with {UNKNOWN_WORD}")
    sums = grammar.left.sum(1) + grammar.right.sum(1) + grammar.emission.sum(1)
    if not np.allclose([*sums, grammar.start.sum()], 1, atol=SUM_TOLERANCE):
        raise ValueError("probabilities do not sum to 1")
    if not (grammar.emission.max(0) > 0).all():
        raise ValueError("a word has the probability 0 in all classes")


# --- Inside and outside probabilities ------------------------------------------------------------
# Emissions of every word are divided by their maximum over classes, and multiplied by exp(gain), so
# that the probability of a sentence is neither too small nor too large for a float. Rules have at
# least the probability 1e-6, thus few steps of the gain suffice for 60 words.


GAIN_STEP = 12.0
MIN_SCALED_PROBABILITY = 1e-200
MAX_GAIN_STEPS = 4


class SpanChart(NamedTuple):
    """Values of all spans by class and sentence: by first word and width, by last and width.

    Both arrays have the shape (N, N, K, B). Width 1 has the index 0; other indices are 0.
    """

    starts: Floats
    ends: Floats

    @classmethod
    def allocate(cls, size: int, classes: int, batch: int) -> SpanChart:
        shape = (size, size, classes, batch)
        return cls(np.zeros(shape), np.zeros(shape))

    def put(self, width: int, values: Floats) -> None:
        """Set the values of all spans of a width, in order."""
        self.starts[: len(values), width - 1] = values
        self.ends[width - 1 :, width - 1] = values


class InsideChart(NamedTuple):
    """Inside probabilities of a batch of sentences of N words, scaled.

    ``spans`` has P(α ⇒ span), ``lefts`` and ``rights`` the sum over β of P(α → β α) P(β ⇒ span)
    and P(α → α β) P(β ⇒ span). ``totals`` are scaled probabilities of the sentences, and ``logs``
    their logarithms without scaling.
    """

    spans: SpanChart
    lefts: SpanChart
    rights: SpanChart
    totals: Floats
    logs: Floats


class OutsideChart(NamedTuple):
    """Outside probabilities, divided by the probability of the sentence, and expected rules."""

    spans: SpanChart
    left: Floats
    right: Floats


def compute_inside(grammar: Grammar, sentences: Ints) -> InsideChart:
    """Return the inside probabilities of sentences of equal length, shape (B, N)."""
    batch, size = sentences.shape
    emission = grammar.emission[:, sentences.T].transpose(1, 0, 2)  # word, class, sentence
    peaks = emission.max(1)
    gains = np.zeros(batch)
    for _ in range(MAX_GAIN_STEPS):
        scaled = emission / peaks[:, None] * np.exp(gains)
        with np.errstate(over="ignore", invalid="ignore"):  # of a sentence without derivations
            spans, lefts, rights = _fill_spans(grammar, scaled)
            totals = grammar.start @ spans.starts[0, -1]
        is_small = ~(totals >= MIN_SCALED_PROBABILITY)
        if not is_small.any():
            break
        gains += GAIN_STEP * is_small
    else:
        raise UsageError("a sentence has no derivation in the grammar — estimate the grammar again")
    logs = np.log(totals) + np.log(peaks).sum(0) - size * gains
    return InsideChart(spans, lefts, rights, totals, logs)


def _fill_spans(grammar: Grammar, emission: Floats) -> tuple[SpanChart, SpanChart, SpanChart]:
    """Return the charts of spans, of left dependents and of right dependents."""
    size, classes, batch = emission.shape
    spans, lefts, rights = (SpanChart.allocate(size, classes, batch) for _ in range(3))
    for width in range(1, size + 1):
        values = emission
        if width > 1:
            # a split has a first part of 1, 2, … words and a second part of width − 1, …, 1 words
            first = np.s_[: size - width + 1, : width - 1]
            second = np.s_[width - 1 :, width - 2 :: -1]
            values = _sum_splits(lefts.starts[first], spans.ends[second])
            values += _sum_splits(spans.starts[first], rights.ends[second])
        spans.put(width, values)
        lefts.put(width, grammar.left @ values)
        rights.put(width, grammar.right @ values)
    return spans, lefts, rights


def _sum_splits(first: Floats, second: Floats) -> Floats:
    """Return the sums of products over the second axis."""
    sums: Floats = np.einsum("iskb,iskb->ikb", first, second)
    return sums


def compute_outside(grammar: Grammar, parsed: InsideChart) -> OutsideChart:
    """Return the outside probabilities and the expected number of rules α → β α and α → α β."""
    size, _, classes, batch = parsed.spans.starts.shape
    outside = SpanChart.allocate(size, classes, batch)
    outside.put(size, (grammar.start[:, None] / parsed.totals)[None])
    left, right = np.zeros((classes, classes)), np.zeros((classes, classes))
    for width in range(size - 1, 0, -1):
        # the parent has 1, 2, … more words than a span; these are right or left of it
        parents_right, sisters_right = np.s_[: size - width, width:], np.s_[width:, : size - width]
        parents_left, sisters_left = np.s_[width:, width:], np.s_[: size - width, : size - width]
        wider_right, wider_left = outside.starts[parents_right], outside.ends[parents_left]
        as_left = _sum_splits(wider_right, parsed.spans.starts[sisters_right])
        as_right = _sum_splits(wider_left, parsed.spans.ends[sisters_left])
        values = np.zeros((size - width + 1, classes, batch))
        values[:-1] += _sum_splits(wider_right, parsed.rights.starts[sisters_right])
        values[1:] += _sum_splits(wider_left, parsed.lefts.ends[sisters_left])
        values[:-1] += grammar.left.T @ as_left
        values[1:] += grammar.right.T @ as_right
        outside.put(width, values)
        inside = parsed.spans.starts[: size - width + 1, width - 1].transpose(0, 2, 1)
        left += (as_left @ inside[:-1]).sum(0)
        right += (as_right @ inside[1:]).sum(0)
    return OutsideChart(outside, grammar.left * left, grammar.right * right)


# --- Concatenation scores ------------------------------------------------------------------------


def score_dependencies(grammar: Grammar, words: Sequence[str]) -> Floats:
    """Return the concatenation scores T of all pairs of words of a sentence.

    Scores are at least log(1e-6). Sentences of more than 60 words are cut into pieces of similar
    length. Words without a letter or a digit, such as commas, are not parsed. Pairs of words of
    different pieces, or with a word that is not parsed, have a neutral score: the mean score of the
    pairs of the sentence at the same distance (or the next smaller one), and 0 if there are none.

    Parameters
    ----------
    grammar
        The grammar.
    words
        Words of the sentence.

    Returns
    -------
    Floats
        Array of shape (N + 2, N + 2), indexed by places m < n; 0 for m ≥ n, start and end.

    Examples
    --------
    >>> from earwitness.summaries.methods.grammar_estimation import estimate_grammar
    >>> grammar = estimate_grammar([["dogs", "bark"], ["cats", "sleep"]] * 4, classes=2)
    >>> score_dependencies(grammar, ["dogs", "bark"]).round(9) + 0.0  # always dependent
    array([[0., 0., 0., 0.],
           [0., 0., 0., 0.],
           [0., 0., 0., 0.],
           [0., 0., 0., 0.]])
    """
    size = len(words)
    scores = np.full((size, size), np.nan)
    spoken = np.array([place for place, word in enumerate(words) if is_spoken(word)], np.int64)
    indices = grammar.find_words(words)
    for piece in cut_evenly(len(spoken), MAX_PIECE_WORDS):
        places = spoken[piece]
        joined = find_joined_pairs(grammar, indices[places])
        scores[np.ix_(places, places)] = np.log(np.clip(joined, np.exp(DEPENDENCY_FLOOR), 1))
    table = np.zeros((size + 2, size + 2))
    table[1:-1, 1:-1] = np.triu(fill_neutral(scores), 1)
    return table


def find_joined_pairs(grammar: Grammar, indices: Ints) -> Floats:
    """Return the probabilities that a dependency joins words m < n, shape (N, N).

    Words are indices of the vocabulary; see the module for the definition.
    """
    parsed = compute_inside(grammar, indices[None])
    chart = compute_outside(grammar, parsed).spans.starts[..., 0]
    size, _, classes = chart.shape
    outside = np.zeros((classes, size, size))  # class, first word from right to left, last word
    for first in range(size):
        outside[:, size - 1 - first, first:] = chart[first, : size - first].T
    starts, ends = _fill_head_chart(parsed)
    joined = np.zeros((size, size))
    for split in range(1, size):  # a dependency joins spans that end before it and start at it
        around = outside[:, size - split :, split:]
        before = ends[:, split - 1, :split, :split]  # class, width, head from right to left
        after = starts[:, split, : size - split, : size - split]  # class, width, head
        left_dependents = np.tensordot(grammar.left, before, 1).transpose(0, 2, 1)
        right_dependents = np.tensordot(grammar.right, after, 1)
        left = (left_dependents @ around @ after).sum(0)  # dependent, head
        right = (before.transpose(0, 2, 1) @ around @ right_dependents).sum(0)  # head, dependent
        pairs = left[:, ::-1].cumsum(1)[:, ::-1] + right[::-1].cumsum(0)[::-1]
        joined[split - 1 :: -1, split:] += pairs
    return joined


def _fill_head_chart(parsed: InsideChart) -> tuple[Floats, Floats]:
    """Return inside probabilities of spans by the place of their head, shape (K, N, N, N).

    The first array has class, first word, width, and distance of the head from the first word; the
    second one class, last word, width, and distance of the head from the last word.
    """
    size, _, classes, _ = parsed.spans.starts.shape
    starts, ends = (np.zeros((classes, size, size, size)) for _ in range(2))
    lefts = np.ascontiguousarray(parsed.lefts.starts[..., 0].transpose(2, 0, 1))
    rights = np.ascontiguousarray(parsed.rights.ends[..., 0].transpose(2, 0, 1))
    starts[:, :, 0, 0] = ends[:, :, 0, 0] = parsed.spans.starts[:, 0, :, 0].T
    for width in range(2, size + 1):
        first = np.s_[:, : size - width + 1, : width - 1]
        second = np.s_[:, width - 1 :, width - 2 :: -1]
        grown_left = np.einsum("kis,kish->kih", lefts[first], ends[*second, slice(width)])
        grown_right = np.einsum("kis,kish->kih", rights[second], starts[*first, slice(width)])
        starts[:, : size - width + 1, width - 1, :width] = grown_right + grown_left[..., ::-1]
        ends[:, width - 1 :, width - 1, :width] = grown_left + grown_right[..., ::-1]
    return starts, ends


def fill_neutral(scores: Floats) -> Floats:
    """Replace NaN by the mean of the diagonal, or of the next diagonal with a score before it."""
    filled, neutral = scores.copy(), 0.0
    for distance in range(1, len(scores)):
        values = np.diagonal(scores, distance)
        is_scored = ~np.isnan(values)
        neutral = float(values[is_scored].mean()) if is_scored.any() else neutral
        rows = np.flatnonzero(~is_scored)
        filled[rows, rows + distance] = neutral
    return filled
