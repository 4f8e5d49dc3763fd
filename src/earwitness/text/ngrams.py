"""Trigram language models: Kneser–Ney estimation from text, and ARPA files.

Interpolated Kneser–Ney smoothing with one discount D = n1 / (n1 + 2 n2) per order, where n1 and n2
are the numbers of n-grams that occur once and twice. The highest order counts occurrences; lower
orders count in how many different contexts an n-gram occurs (Chen and Goodman 1999). Unigrams are
interpolated with the uniform distribution, which is also the probability of unknown words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log10

SENTENCE_START, SENTENCE_END, UNKNOWN = "<s>", "</s>", "<unk>"
NO_PROBABILITY_LOG10 = -99.0  # of the start of a sentence, which is never predicted
DEFAULT_DISCOUNT = 0.5  # if no n-gram occurs once, or none twice

NGram = tuple[str, ...]


@dataclass(frozen=True)
class NGramModel:
    """Base-10 logarithms of probabilities and of back-off weights, by n-gram."""

    order: int
    log_probabilities: Mapping[NGram, float]
    log_backoffs: Mapping[NGram, float]

    def log_probability(self, word: str, context: Sequence[str] = ()) -> float:
        """Return the base-10 logarithm of the probability of a word after its context."""
        if (word,) not in self.log_probabilities:
            word = UNKNOWN
        used = tuple(context)[max(0, len(context) - self.order + 1) :]
        total = 0.0
        while (*used, word) not in self.log_probabilities:
            if not used:
                return NO_PROBABILITY_LOG10
            total += self.log_backoffs.get(used, 0.0)
            used = used[1:]
        return total + self.log_probabilities[(*used, word)]


def estimate_model(sentences: Iterable[Sequence[str]], order: int = 3) -> NGramModel:
    """Estimate a model from sentences, each a list of words.

    Parameters
    ----------
    sentences
        Words of every sentence.
    order
        Length of the longest n-grams.

    Returns
    -------
    NGramModel
        The model; the probabilities of all words in any context sum to 1.

    Examples
    --------
    >>> model = estimate_model([["it", "rains"], ["it", "snows"]])
    >>> round(10 ** model.log_probability("it", ["<s>"]), 2)
    0.88
    """
    counts = _count_ngrams(sentences, order)
    return _interpolate(_kneser_ney_counts(counts, order), order)


def _count_ngrams(sentences: Iterable[Sequence[str]], order: int) -> list[Counter[NGram]]:
    """Return the counts of n-grams of each order; the start of a sentence is only a context."""
    counts = [Counter[NGram]() for _ in range(order)]
    for sentence in sentences:
        words = (SENTENCE_START, *sentence, SENTENCE_END)
        for size in range(1, order + 1):
            counts[size - 1].update(
                words[place : place + size] for place in range(len(words) - size + 1)
            )
    del counts[0][(SENTENCE_START,)]
    return counts


def _kneser_ney_counts(counts: Sequence[Counter[NGram]], order: int) -> list[Mapping[NGram, int]]:
    """Return occurrences for the highest order, and numbers of preceding words for the others.

    N-grams at the start of a sentence have no word before them; their occurrences count.
    """
    adjusted: list[Mapping[NGram, int]] = []
    for size in range(1, order):
        before = Counter(ngram[1:] for ngram in counts[size])
        starts = {n: c for n, c in counts[size - 1].items() if n[0] == SENTENCE_START}
        adjusted.append({**before, **(starts if size > 1 else {})})
    return [*adjusted, counts[-1]]


def _interpolate(counts: Sequence[Mapping[NGram, int]], order: int) -> NGramModel:
    probabilities: dict[NGram, float] = {}
    backoffs: dict[NGram, float] = {}
    vocabulary = {ngram[0] for ngram in counts[0]} - {SENTENCE_START} | {SENTENCE_END, UNKNOWN}
    for size in range(1, order + 1):
        found = counts[size - 1]
        discount = _discount(found)
        totals, kinds = defaultdict[NGram, int](int), defaultdict[NGram, int](int)
        for ngram, count in found.items():
            totals[ngram[:-1]] += count
            kinds[ngram[:-1]] += 1
        if size == 1:
            rest = discount * kinds[()] / totals[()] if totals[()] else 1.0
            for word in sorted(vocabulary):
                own = max(found.get((word,), 0) - discount, 0) / totals[()] if totals[()] else 0.0
                probabilities[(word,)] = own + rest / len(vocabulary)
            continue
        for context, total in totals.items():
            backoffs[context] = discount * kinds[context] / total
        for ngram, count in found.items():
            context = ngram[:-1]
            lower = probabilities[ngram[1:]]
            own = (count - discount) / totals[context]
            probabilities[ngram] = own + backoffs[context] * lower
    logs = {ngram: log10(value) for ngram, value in probabilities.items()}
    logs[(SENTENCE_START,)] = NO_PROBABILITY_LOG10
    return NGramModel(order, logs, {context: log10(value) for context, value in backoffs.items()})


def _discount(counts: Mapping[NGram, int]) -> float:
    kinds = Counter(min(count, 3) for count in counts.values())
    if not kinds[1] or not kinds[2]:
        return DEFAULT_DISCOUNT
    return kinds[1] / (kinds[1] + 2 * kinds[2])


def write_arpa(model: NGramModel) -> Iterator[str]:
    """Yield the lines of a model as an ARPA file."""
    sizes = range(1, model.order + 1)
    ngrams = {size: sorted(n for n in model.log_probabilities if len(n) == size) for size in sizes}
    yield "\\data\\\n"
    yield from (f"ngram {size}={len(ngrams[size])}\n" for size in sizes)
    for size in sizes:
        yield f"\n\\{size}-grams:\n"
        for ngram in ngrams[size]:
            backoff = model.log_backoffs.get(ngram)
            weight = "" if backoff is None else f"\t{backoff:.6f}"
            yield f"{model.log_probabilities[ngram]:.6f}\t{' '.join(ngram)}{weight}\n"
    yield "\n\\end\\\n"
