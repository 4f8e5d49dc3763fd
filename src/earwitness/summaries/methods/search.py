"""Search for the summaries of utterances with the highest scores, by dynamic programming.

A summary of an utterance is a path over its places, from the start of the sentence through the kept
words to its end. A trigram score depends on three places, so the states are *arcs*, pairs of places
(l, n) with l < n, and one run finds the best path of every length. With r words left after arc
(k, l), the highest score of the rest is

    h(k, l, r) = max_n { λ_L log P(w_n | w_k w_l) + s(l, n) + h(l, n, r − 1) }
    h(k, l, 0) = λ_L log P(</s> | w_k w_l)
    s(l, n)    = λ_I I(n) + λ_C C(n) + λ_T T(l, n)

This is the recursion of Hori and Furui from the end to the start, so that paths are read from the
start and of several summaries with the same score the one with the smallest positions is found.

Exact search of N words reads about N³ / 6 trigrams. Longer utterances have a *beam*: a search with
rough scores, which reads N² trigrams, rates all arcs, and only the best arcs are searched with all
trigrams that they contain.

Summaries of several utterances with a given number of words in total distribute them by a second
level of dynamic programming over the scores of all lengths.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import UsageError
from earwitness.summaries.methods.compaction import Floats, Ints, ScoreTables, ScoreWeights

BEAM_WORDS = 60  # longer utterances are searched with a beam
MAX_SEARCHED_WORDS = 2000
BEAM_SIZE = 16  # arcs per word in the beam
BLOCK_CELLS = 1 << 18  # numbers in temporary arrays


@dataclass(frozen=True, eq=False)
class LengthSearch:
    """Best summaries of an utterance for every number of words.

    ``scores[m]`` is the highest score with m words; with 0 words it is 0. The first m numbers of
    row m of ``kept`` are the positions.
    """

    scores: Floats
    kept: NDArray[np.int32]

    @property
    def max_words(self) -> int:
        """Number of words of the longest summary."""
        return len(self.scores) - 1

    def positions(self, words: int) -> tuple[int, ...]:
        """Return the positions of the best summary with a number of words."""
        if not 0 <= words <= self.max_words:
            limit = f"must be from 0 to {self.max_words}"
            raise UsageError(f"number of words {limit}, got {words} — search longer summaries")
        return tuple(self.kept[words, :words].tolist())


# --- One utterance -------------------------------------------------------------------------------


def search_summaries(
    tables: ScoreTables,
    weights: ScoreWeights,
    max_words: int | None = None,
    beam: int | None = None,
) -> LengthSearch:
    """Find the summary of an utterance with the highest score for every number of words.

    Parameters
    ----------
    tables
        Scores of the utterance; missing scores (None) count as 0.
    weights
        Weights of the scores.
    max_words
        Number of words of the longest summary. Default: all words of the utterance.
    beam
        Mean number of arcs per word that are searched. The search is exact if it is at least the
        number of words. Default: exact up to `BEAM_WORDS` words, `BEAM_SIZE` for longer utterances.
        Without linguistic scores, the search is always exact.

    Returns
    -------
    LengthSearch
        Scores and positions for 0 to ``max_words`` words. Of summaries with the same score, it has
        the one whose positions are first in lexicographic order.

    Raises
    ------
    UsageError
        If a score is not finite or a table has the wrong shape, or if ``max_words`` or ``beam`` is
        out of range.

    Examples
    --------
    >>> import numpy as np
    >>> tables = ScoreTables(size=4, significance=np.array([1.0, 4.0, 2.0, 3.0]))
    >>> found = search_summaries(tables, ScoreWeights(significance=2.0))
    >>> found.scores.tolist()
    [0.0, 8.0, 14.0, 18.0, 20.0]
    >>> found.positions(2)
    (2, 4)
    """
    size = tables.size
    if size > MAX_SEARCHED_WORDS:
        raise UsageError(f"an utterance has {size:,} words — split it into sentences")
    max_words = size if max_words is None else max_words
    if not 0 <= max_words <= size:
        raise UsageError(
            f"max_words must be from 0 to {size}, got {max_words} — the utterance has {size} words"
        )
    if beam is not None and beam < 1:
        raise UsageError(f"beam must be at least 1, got {beam} — {size} searches all summaries")
    gains = _weigh_arcs(tables, weights)
    if not max_words:
        return LengthSearch(np.zeros(1), np.zeros((1, 0), np.int32))
    if tables.linguistic is None or not weights.linguistic:
        return _search_pairs(gains, np.zeros(size + 1), max_words)
    trigrams = _WeightedTrigrams(tables, weights.linguistic)
    beam = beam or (size if size <= BEAM_WORDS else BEAM_SIZE)
    if beam < size:
        followed = _choose_arcs(gains, trigrams, max_words, beam)
    else:
        followed = np.triu(np.ones((size + 1, size + 1), bool), 1)
    return _search_triples(gains, _Lattice(followed, trigrams), max_words)


def _weigh_arcs(tables: ScoreTables, weights: ScoreWeights) -> Floats:
    """Return the weighted scores of arcs except linguistic ones, by the places of their ends."""
    size = tables.size
    gains = np.zeros((size + 1, size + 1))
    for name in ("significance", "confidence"):
        scores, weight = getattr(tables, name), getattr(weights, name)
        if scores is not None and weight:
            gains[:, 1:] += weight * _check_scores(name, scores, (size,))
    if tables.concatenation is not None and weights.concatenation:
        joined = tables.concatenation[1:-1, 1:-1]
        upper = np.triu_indices(size, 1)
        _check_scores("concatenation", joined, (size, size), upper)
        gains[1:, 1:][upper] += weights.concatenation * joined[upper]
    if not np.isfinite(gains).all():
        raise UsageError("weighted scores are not finite — use smaller weights")
    return gains


def _check_scores(
    name: str, scores: Floats, shape: tuple[int, ...], used: tuple[Ints, ...] | None = None
) -> Floats:
    """Return scores, or raise an error if they have the wrong shape or are not finite."""
    if scores.shape != shape:
        raise UsageError(f"{name} scores have shape {scores.shape} — {shape} is required")
    if not np.isfinite(scores if used is None else scores[used]).all():
        raise UsageError(f"{name} scores must be finite — use a floor for probabilities of 0")
    return scores


@dataclass(frozen=True)
class _WeightedTrigrams:
    """Weighted linguistic scores of an utterance."""

    tables: ScoreTables
    weight: float

    @property
    def end(self) -> int:
        return self.tables.size + 1

    def __call__(self, before: Ints, last: Ints, following: Ints) -> Floats:
        assert self.tables.linguistic is not None
        scores = np.asarray(self.tables.linguistic(before, last, following), np.float64)
        return self.weight * _check_scores("linguistic", scores, before.shape)


def _trace(
    size: int, max_words: int, choose: Callable[[int, Ints, Ints], Ints]
) -> NDArray[np.int32]:
    """Return the positions of the best summaries of all lengths, one row per length.

    ``choose(place, before, left)`` returns the next place of summaries at ``place``, by the places
    before it and the numbers of words left. All summaries at a place are continued together.
    """
    kept = np.zeros((max_words + 1, max_words), np.int32)
    lengths = np.arange(max_words + 1)
    before, place, filled = (np.zeros(max_words + 1, np.int64) for _ in range(3))
    for here in range(size):
        rows = np.flatnonzero((place == here) & (filled < lengths))
        if rows.size:
            following = choose(here, before[rows], lengths[rows] - filled[rows])
            kept[rows, filled[rows]] = following
            before[rows], place[rows] = here, following
            filled[rows] += 1
    return kept


def _search_pairs(gains: Floats, ends: Floats, max_words: int) -> LengthSearch:
    """Return the best summaries for scores of arcs and of the last word, without trigrams."""
    rests = _score_rests(gains, ends, max_words)

    def choose(place: int, _: Ints, left: Ints) -> Ints:
        values = gains[place, place + 1 :, None] + rests[place + 1 :, left - 1]
        best: Ints = values.argmax(axis=0)
        return best + place + 1

    return LengthSearch(rests[0], _trace(len(gains) - 1, max_words, choose))


def _score_rests(gains: Floats, ends: Floats, max_words: int) -> Floats:
    """Return the highest scores after each place with 0 to ``max_words`` words left."""
    size = len(gains) - 1
    rests = np.full((size + 1, max_words + 1), -np.inf)
    rests[:, 0] = ends
    for place in range(size - 1, -1, -1):
        most = min(max_words, size - place)
        values = gains[place, place + 1 :, None] + rests[place + 1 :, :most]
        rests[place, 1 : most + 1] = values.max(axis=0)
    rests[0, 0] = 0.0  # no words, no score
    return rests


class _Lattice:
    """Arcs that are searched, by source and target, and the weighted trigrams that they contain.

    ``blocks[place]`` has the scores of arcs to a place (rows) followed by arcs from it (columns),
    ``starts`` those of first words, and ``ends`` those of the end of the sentence after each arc.
    """

    def __init__(self, followed: NDArray[np.bool_], trigrams: _WeightedTrigrams) -> None:
        places = np.arange(len(followed) + 1)
        self.sources, self.targets = followed.nonzero()
        self._leaving = np.searchsorted(self.sources, places)  # first arc from each place
        self._arrivals = np.argsort(self.targets, kind="stable")
        self._arriving = np.searchsorted(self.targets[self._arrivals], places)
        ins, outs = np.diff(self._arriving), np.diff(self._leaving)
        counts = ins * outs
        limits = np.concatenate([[0], np.cumsum(counts)])
        middle = np.repeat(places[:-1], counts)
        row, column = np.divmod(np.arange(limits[-1]) - limits[middle], outs[middle])
        before = self.sources[self._arrivals[self._arriving[middle] + row]]
        following = self.targets[self._leaving[middle] + column]
        none, end = np.zeros(outs[0], np.int64), np.full(len(self.sources), trigrams.end)
        scores = trigrams(  # one call for all
            np.concatenate([before, self.sources, none]),
            np.concatenate([middle, self.targets, none]),
            np.concatenate([following, end, self.targets[: outs[0]]]),
        )
        *blocks, self.ends, self.starts = np.split(scores, [*limits[1:], limits[-1] + len(end)])
        self.blocks = [
            block.reshape(shape) for block, *shape in zip(blocks, ins, outs, strict=True)
        ]

    def leave(self, place: int) -> slice:
        """Return the arcs from a place."""
        return slice(self._leaving[place], self._leaving[place + 1])

    def arrive(self, place: int) -> Ints:
        """Return the arcs to a place, by source."""
        return self._arrivals[self._arriving[place] : self._arriving[place + 1]]


def _search_triples(gains: Floats, lattice: _Lattice, max_words: int) -> LengthSearch:
    """Return the best summaries over the arcs of a lattice, with trigrams."""
    size = len(gains) - 1
    added = gains[lattice.sources, lattice.targets]
    rests = np.full((len(added), max_words), -np.inf)  # after each arc, by number of words left
    rests[:, 0] = lattice.ends
    for place in range(size - 1, 0, -1):
        most = min(max_words - 1, size - place)
        arcs, block = lattice.leave(place), lattice.blocks[place].T
        values = rests[arcs, None, :most] + added[arcs, None, None]
        arrivals = lattice.arrive(place)
        step = max(1, BLOCK_CELLS // max(1, values.size))
        for cut in range(0, len(arrivals), step):
            best = (values + block[:, cut : cut + step, None]).max(axis=0)
            rests[arrivals[cut : cut + step], 1 : most + 1] = best

    def choose(place: int, before: Ints, left: Ints) -> Ints:
        arcs = lattice.leave(place)
        linguistic = lattice.starts[:, None]
        if place:
            rows = np.searchsorted(lattice.sources[lattice.arrive(place)], before)
            linguistic = lattice.blocks[place][rows].T
        values = (rests[arcs, left - 1] + added[arcs, None]) + linguistic
        following: Ints = lattice.targets[arcs][values.argmax(axis=0)]
        return following

    arcs = lattice.leave(0)
    totals = (rests[arcs] + added[arcs, None]) + lattice.starts[:, None]
    scores = np.concatenate([[0.0], totals.max(axis=0)])
    return LengthSearch(scores, _trace(size, max_words, choose))


def _choose_arcs(
    gains: Floats, trigrams: _WeightedTrigrams, max_words: int, beam: int
) -> NDArray[np.bool_]:
    """Return the arcs that a beam follows: all from the start, and the best ``beam`` per word.

    A search with rough scores of arcs rates every arc by the least difference between the best
    summary that contains it and the best summary of the same length, over all lengths. The rough
    linguistic score of an arc is the higher one after the two words before it in the utterance.
    Arcs to the next word are also followed, so that there are summaries of all lengths.
    """
    size = len(gains) - 1
    lower, upper = np.triu_indices(size + 1, 1)
    last = np.concatenate([lower, np.arange(size + 1)])
    following = np.concatenate([upper, np.full(size + 1, trigrams.end)])
    near, far = (trigrams(np.maximum(last - step, 0), last, following) for step in (1, 2))
    linguistic = np.maximum(near, far)
    rough = gains.copy()
    rough[lower, upper] += linguistic[: len(lower)]
    rests = _score_rests(rough, linguistic[len(lower) :], max_words)
    # up to each place, from the start: the rests of the reversed utterance
    stop = np.append(np.full(size, -np.inf), 0.0)
    starts = _score_rests(rough[::-1, ::-1].T, stop, max_words)[::-1]

    # lowest sums that an arc and its rest can need, by place and number of words left
    needed = np.full((size + 1, max_words + 1), np.inf)
    for words in range(1, max_words):
        sums = rests[0, None, words:] - starts[:, words, None]
        np.minimum(needed[:, : max_words + 1 - words], sums, out=needed[:, : max_words + 1 - words])
    losses = np.full((size + 1, size + 1), np.inf)
    for place in range(1, size):
        most = min(max_words, size - place)
        values = rough[place, place + 1 :, None] + rests[place + 1 :, :most]
        losses[place, place + 1 :] = (needed[place, 1 : most + 1] - values).min(axis=1)

    followed = np.zeros((size + 1, size + 1), bool)
    best = np.argsort(losses[1:], axis=None, kind="stable")[: beam * size]
    followed[1:].flat[best] = True
    followed &= np.isfinite(losses)
    followed[0, 1:] = True
    np.fill_diagonal(followed[1:, 2:], val=True)
    return followed


# --- Several utterances --------------------------------------------------------------------------


def allocate_words(searches: Sequence[LengthSearch], total: int) -> list[int]:
    """Distribute a number of words over utterances so that the sum of their scores is highest.

    Parameters
    ----------
    searches
        Best summaries of the utterances; a summary with 0 words leaves the utterance out.
    total
        Number of words of all summaries together.

    Returns
    -------
    list of int
        Number of words per utterance. Of several best ones, it has as few words as possible in the
        last utterance, then in the one before it, and so on.

    Raises
    ------
    UsageError
        If ``total`` is negative or larger than the number of words.

    Examples
    --------
    >>> import numpy as np
    >>> weights = ScoreWeights(significance=1.0)
    >>> rows = np.array([5.0, 1.0]), np.array([2.0]), np.array([3.0, 4.0])
    >>> tables = [ScoreTables(size=len(row), significance=row) for row in rows]
    >>> allocate_words([search_summaries(table, weights) for table in tables], 3)
    [1, 0, 2]
    """
    sizes = [search.max_words for search in searches]
    if not 0 <= total <= sum(sizes):
        raise UsageError(
            f"number of words of all summaries must be from 0 to {sum(sizes)}, got {total}"
            " — the utterances do not have more"
        )
    kind = np.min_scalar_type(max(sizes, default=0))
    reaches = np.minimum(np.cumsum(sizes), total).tolist()
    choices = [np.zeros(reach + 1, kind) for reach in reaches]
    best, before = np.zeros(1), 0
    for search, choice, reach in zip(searches, choices, reaches, strict=True):
        previous, best = best[: before + 1], np.full(total + 1, -np.inf)
        for words, score in enumerate(search.scores[: total + 1].tolist()):
            stop = min(total, before + words) + 1
            values = previous[: stop - words] + score
            better = values > best[words:stop]
            np.copyto(best[words:stop], values, where=better)
            choice[words:stop][better] = words
        before = reach
    numbers = []
    for choice in reversed(choices):
        numbers.append(int(choice[total]))
        total -= numbers[-1]
    return numbers[::-1]


# --- Score of a summary --------------------------------------------------------------------------


def split_score(
    tables: ScoreTables, weights: ScoreWeights, positions: Sequence[int]
) -> dict[str, float]:
    """Return the weighted parts of the score of a summary; their sum is the score.

    Parameters
    ----------
    tables, weights
        Scores of the utterance and their weights.
    positions
        Positions of the kept words, from 1, in ascending order.

    Returns
    -------
    dict
        Parts by name: linguistic, significance, confidence, concatenation. A part is 0 if its score
        is not available or its weight is 0.

    Examples
    --------
    >>> import numpy as np
    >>> tables = ScoreTables(size=3, significance=np.array([1.0, 0.0, 2.0]))
    >>> split_score(tables, ScoreWeights(significance=2.0), [1, 3])
    {'linguistic': 0.0, 'significance': 6.0, 'confidence': 0.0, 'concatenation': 0.0}
    """
    places = np.asarray(positions, np.int64)
    path = np.concatenate([[0, 0], places, [tables.size + 1]])
    select: dict[str, Callable[[Any], Floats]] = {
        "linguistic": lambda scores: scores(path[:-2], path[1:-1], path[2:]),
        "significance": lambda scores: scores[places - 1],
        "confidence": lambda scores: scores[places - 1],
        "concatenation": lambda scores: scores[places[:-1], places[1:]],
    }
    parts = dict.fromkeys(select, 0.0)
    for name, scores_of in select.items():
        scores, weight = getattr(tables, name), getattr(weights, name)
        if scores is not None and weight and places.size:
            parts[name] = weight * math.fsum(scores_of(scores))
    return parts


def count_kept(words: int, ratio: float) -> int:
    """Return the number of words to keep: ratio times words, halves rounded up, at least 1.

    Without words it is 0. The ratio counts as the decimal number that is written, so that 0.29 of
    50 words, 14.5, are 15.

    Examples
    --------
    >>> count_kept(30, 0.4), count_kept(5, 0.5), count_kept(3, 0.01), count_kept(0, 0.4)
    (12, 3, 1, 0)
    """
    if not 0 < ratio <= 1:
        raise UsageError(
            f"ratio must be above 0 and at most 1, got {ratio:g} — 0.4 keeps 40 % of the words"
        )
    return min(words, max(1, math.floor(Fraction(repr(float(ratio))) * words + Fraction(1, 2))))
