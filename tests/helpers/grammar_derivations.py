"""All derivations of a sentence in a dependency grammar, one by one: slow and plain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from earwitness.summaries.methods.compaction import Floats
from earwitness.summaries.methods.grammar import UNKNOWN_WORD, Grammar

Rule = tuple[str, int, int]  # kind, class, and class or word


class Derivation(NamedTuple):
    """Probability, place of the head, heads of all other words, and rules."""

    probability: float
    head: int
    heads: Mapping[int, int]
    rules: tuple[Rule, ...]


def random_grammar(generator: np.random.Generator, classes: int, words: int = 4) -> Grammar:
    """Draw a grammar whose words are numbers."""
    rows = generator.dirichlet(np.ones(2 * classes + words), classes)
    return Grammar(
        tuple(f"c{number}" for number in range(classes)),
        (UNKNOWN_WORD, *map(str, range(1, words))),
        generator.dirichlet(np.ones(classes)),
        rows[:, :classes],
        rows[:, classes : 2 * classes],
        rows[:, 2 * classes :],
        np.zeros(classes),
    )


def derive(grammar: Grammar, words: Sequence[int]) -> Iterator[Derivation]:
    """Yield every derivation of a sentence."""
    for top in range(len(grammar.classes)):
        for one in _derive_span(grammar, words, 0, len(words) - 1, top):
            rules = (*one.rules, ("start", top, 0))
            yield one._replace(probability=grammar.start[top] * one.probability, rules=rules)


def _derive_span(
    grammar: Grammar, words: Sequence[int], first: int, last: int, top: int
) -> Iterator[Derivation]:
    if first == last:
        rule = ("emission", top, words[first])
        yield Derivation(grammar.emission[top, words[first]], first, {}, (rule,))
    for split in range(first, last):
        for other in range(len(grammar.classes)):
            for before in _derive_span(grammar, words, first, split, other):
                for after in _derive_span(grammar, words, split + 1, last, top):
                    rule = ("left", top, other)
                    yield _attach(after, before, grammar.left[top, other], rule)
            for before in _derive_span(grammar, words, first, split, top):
                for after in _derive_span(grammar, words, split + 1, last, other):
                    rule = ("right", top, other)
                    yield _attach(before, after, grammar.right[top, other], rule)


def _attach(head: Derivation, dependent: Derivation, factor: float, rule: Rule) -> Derivation:
    return Derivation(
        factor * head.probability * dependent.probability,
        head.head,
        {**head.heads, **dependent.heads, dependent.head: head.head},
        (*head.rules, *dependent.rules, rule),
    )


def is_under(heads: Mapping[int, int], word: int, top: int) -> bool:
    """Whether a word is in the subtree of another one."""
    while word != top and word in heads:
        word = heads[word]
    return word == top


def find_joins(heads: Mapping[int, int], m: int, n: int) -> tuple[bool, bool]:
    """Whether the head of m is at n or beyond and n not under m, and the mirror of it."""
    forward = m in heads and heads[m] >= n and not is_under(heads, n, m)
    backward = n in heads and heads[n] <= m and not is_under(heads, m, n)
    return forward, backward


def count_derivations(
    grammar: Grammar, words: Sequence[int]
) -> tuple[float, Floats, dict[str, Floats]]:
    """Return P(sentence), the probabilities that words are joined, and expected rules."""
    size, total = len(words), 0.0
    joined = np.zeros((size, size))
    names = ("start", "left", "right", "emission")
    rules = {name: np.zeros(np.atleast_2d(getattr(grammar, name).T).T.shape) for name in names}
    for one in derive(grammar, words):
        total += one.probability
        for m in range(size):
            for n in range(m + 1, size):
                forward, backward = find_joins(one.heads, m, n)
                assert not (forward and backward)
                joined[m, n] += one.probability * (forward or backward)
        for kind, top, other in one.rules:
            rules[kind][top, other] += one.probability
    return total, joined / total, {name: counts / total for name, counts in rules.items()}
