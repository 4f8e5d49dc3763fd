"""Estimation of dependency grammars from text by inside–outside (expectation maximization)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from earwitness.core import Progress, group_values, no_progress
from earwitness.errors import UsageError
from earwitness.summaries.methods.compaction import Floats, Ints
from earwitness.summaries.methods.grammar import (
    MAX_PIECE_WORDS,
    UNKNOWN_WORD,
    Grammar,
    compute_inside,
    compute_outside,
    cut_evenly,
)
from earwitness.text.words import is_spoken, normalise_word

MIN_WORD_COUNT = 2  # rarer words of a text are unknown words
MIN_RULE_PROBABILITY = 1e-6  # of a rule S → α, α → β α, α → α β or α → unknown word
BATCH_NUMBERS = 200_000  # numbers of one chart of a batch of sentences


class RuleCounts(NamedTuple):
    """Expected numbers of rules, in the shapes of a grammar."""

    start: Floats
    left: Floats
    right: Floats
    emission: Floats


def estimate_grammar(
    sentences: Iterable[Sequence[str]],
    *,
    classes: int = 10,
    iterations: int = 10,
    seed: int = 0,
    start: Grammar | None = None,
    weight: float = 0.0,
    progress: Progress = no_progress,
) -> Grammar:
    """Estimate a grammar from sentences by inside–outside (expectation maximization).

    Words are compared in lower case and without punctuation. Words that occur only once are unknown
    words, unless ``weight`` is positive and ``start`` has them. Sentences of more than 60 words are
    cut into pieces. Rules and unknown words keep a probability of at least 1e-6 in every class.

    Parameters
    ----------
    sentences
        Words of every sentence.
    classes
        Number of classes, if ``start`` is None.
    iterations
        Number of iterations.
    seed
        Seed of the random start.
    start
        Grammar to start from, such as one of a treebank.
    weight
        Weight of the data of ``start``: its counts, multiplied by this, are added to the counts of
        the text in every iteration. 0: ``start`` is no more than the start.
    progress
        Called with sentences done, sentences of all iterations, and iterations done.

    Returns
    -------
    Grammar
        Its ``details["log_likelihood"]`` lists the log likelihood before every iteration, which
        never falls; with ``weight``, it includes the log likelihood of the data of ``start``.

    Examples
    --------
    >>> grammar = estimate_grammar([["dogs", "bark"], ["cats", "sleep"]] * 4, classes=2)
    >>> first, *_, last = grammar.details["log_likelihood"]
    >>> first < last
    True
    """
    if classes < 1 or iterations < 0 or not weight >= 0:
        raise UsageError("classes must be 1 or more, iterations and weight 0 or more")
    texts = [[normalise_word(word) for word in words if is_spoken(word)] for words in sentences]
    counts = Counter(word for words in texts for word in words)
    if not counts:
        raise UsageError("there are no words to estimate a grammar from — give a longer text")
    known = sorted(word for word, count in counts.items() if count >= MIN_WORD_COUNT)
    if start is None:
        grammar = _draw_grammar(known, counts, classes, np.random.default_rng(seed))
        prior = _weigh_rules(grammar, 0.0)
    else:
        grammar = _extend_vocabulary(start, known, counts, keep=weight > 0)
        prior = _weigh_rules(grammar, weight)
        grammar = normalise_counts(_weigh_rules(grammar, 1.0), grammar)
    batches = list(_make_batches(grammar, texts))
    logs = list[float]()
    count = sum(map(len, batches))
    for iteration in range(iterations):
        expected, log = prior, _rule_likelihood(grammar, prior)
        done = iteration * count
        for batch in batches:
            batch_counts, batch_log = count_rules(grammar, batch)
            expected = RuleCounts(*map(np.add, expected, batch_counts))
            log += batch_log
            done += len(batch)
            progress(done, iterations * count, iteration)
        grammar = normalise_counts(expected, grammar)
        logs.append(log)
    details = {
        "method": "inside-outside",
        "sentences": sum(map(bool, texts)),
        "words": counts.total(),
        "unknown_words": sum(n for word, n in counts.items() if word not in grammar.word_index),
        "iterations": iterations,
        "log_likelihood": logs,
    }
    details |= {"seed": seed} if start is None else {"weight": weight, "start": start.signature}
    return replace(grammar, details=details)


def count_rules(grammar: Grammar, sentences: Ints) -> tuple[RuleCounts, float]:
    """Return expected rules and the log likelihood of sentences of equal length, shape (B, N)."""
    parsed = compute_inside(grammar, sentences)
    outside = compute_outside(grammar, parsed)
    posterior = outside.spans.starts[:, 0] * parsed.spans.starts[:, 0]  # word, class, sentence
    emission = np.zeros(grammar.emission.shape[::-1])
    np.add.at(emission, sentences.T, posterior.transpose(0, 2, 1))
    heads = grammar.start[:, None] * parsed.spans.starts[0, -1] / parsed.totals
    counts = RuleCounts(heads.sum(1), outside.left, outside.right, emission.T)
    return counts, float(parsed.logs.sum())


def _draw_grammar(
    known: list[str], counts: Counter[str], classes: int, generator: np.random.Generator
) -> Grammar:
    """Return a random grammar; words have about the same frequencies in all classes."""
    words = (UNKNOWN_WORD, *known)
    rare = sum(count for count in counts.values() if count < MIN_WORD_COUNT)
    frequencies = np.array([max(rare, 1), *(counts[word] for word in known)], dtype=np.float64)
    rules = generator.uniform(0.5, 1.5, (2, classes, classes))
    emission = frequencies * generator.uniform(0.5, 1.5, (classes, len(words)))
    emission *= rules.sum((0, 2))[:, None] / emission.sum(1, keepdims=True)  # half of the rules
    names = tuple(f"c{number}" for number in range(1, classes + 1))
    left, right = rules
    numbers = RuleCounts(generator.uniform(0.5, 1.5, classes), left, right, emission)
    return normalise_counts(numbers, Grammar(names, words, *numbers, np.zeros(classes)))


def _extend_vocabulary(
    grammar: Grammar, known: list[str], counts: Counter[str], *, keep: bool
) -> Grammar:
    """Return a grammar with the words of a text, and its other words if ``keep``.

    New words share the probability of unknown words with the rare words of the text, in proportion
    to their counts. Words that are not kept are unknown words.
    """
    kept = [word for word in grammar.words[1:] if keep or counts[word] >= MIN_WORD_COUNT]
    new = [word for word in known if word not in grammar.word_index]
    old = grammar.emission[:, [0, *(grammar.word_index[word] for word in kept)]]
    old[:, 0] += grammar.emission.sum(1) - old.sum(1)
    in_vocabulary = {*kept, *new}
    rare = sum(count for word, count in counts.items() if word not in in_vocabulary)
    shares = np.array([rare + 1, *(counts[word] for word in new)], dtype=np.float64)
    shared = old[:, :1] * shares / shares.sum()
    emission = np.concatenate([shared[:, :1], old[:, 1:], shared[:, 1:]], axis=1)
    return replace(grammar, words=(UNKNOWN_WORD, *kept, *new), emission=emission)


def _make_batches(grammar: Grammar, texts: list[list[str]]) -> Iterator[Ints]:
    """Yield arrays of sentences of equal length, as indices of words."""
    numbers = ([grammar.word_index.get(word, 0) for word in text] for text in texts)
    pieces = group_values(
        (piece.stop - piece.start, sentence[piece])
        for sentence in (np.array(number, np.int64) for number in numbers)
        for piece in cut_evenly(len(sentence), MAX_PIECE_WORDS)
    )
    for size, rows in sorted(pieces.items()):
        step = max(1, BATCH_NUMBERS // (size * size * len(grammar.classes)))
        for first in range(0, len(rows), step):
            yield np.array(rows[first : first + step])


def _weigh_rules(grammar: Grammar, weight: float) -> RuleCounts:
    """Return the numbers of rules of the data of a grammar, multiplied by a weight."""
    sizes = weight * grammar.class_counts[:, None]
    rules = (sizes * grammar.left, sizes * grammar.right, sizes * grammar.emission)
    return RuleCounts(weight * grammar.sentence_count * grammar.start, *rules)


def _rule_likelihood(grammar: Grammar, counts: RuleCounts) -> float:
    """Return the log likelihood of derivations with known rules."""
    rules = (grammar.start, grammar.left, grammar.right, grammar.emission)
    pairs = zip(rules, counts, strict=True)
    return float(sum(uses[uses > 0] @ np.log(shares[uses > 0]) for shares, uses in pairs))


def normalise_counts(counts: RuleCounts, before: Grammar) -> Grammar:
    """Return the most likely grammar with rules of at least the smallest probability."""
    rows = np.concatenate([counts.left, counts.right, counts.emission], axis=1)
    old = np.concatenate([before.left, before.right, before.emission], axis=1)
    size = len(before.classes)
    floors = np.zeros(rows.shape[1])
    floors[: 2 * size + 1] = MIN_RULE_PROBABILITY  # unknown words come first
    shares = _share_mass(rows, floors, old)
    start_floors = np.full(size, MIN_RULE_PROBABILITY)
    return replace(
        before,
        start=_share_mass(counts.start[None], start_floors, before.start[None])[0],
        left=np.ascontiguousarray(shares[:, :size]),
        right=np.ascontiguousarray(shares[:, size : 2 * size]),
        emission=np.ascontiguousarray(shares[:, 2 * size :]),
        class_counts=rows.sum(1),
        sentence_count=float(counts.start.sum()),
    )


def _share_mass(counts: Floats, floors: Floats, before: Floats) -> Floats:
    """Return rows of probabilities that maximize Σ counts · log p, with p ≥ floors and Σ p = 1.

    A row without counts keeps its probabilities.
    """
    is_empty = counts.sum(1, keepdims=True) <= 0
    counts = np.where(is_empty, before, counts)
    is_held = np.zeros(counts.shape, dtype=bool)
    while True:
        free_mass = 1 - (floors * is_held).sum(1, keepdims=True)
        free_counts = np.where(is_held, 0.0, counts)
        shares = free_counts * (free_mass / free_counts.sum(1, keepdims=True))
        is_low = ~is_held & (shares < floors)
        if not is_low.any():
            return np.where(is_held, floors, shares)
        is_held |= is_low
