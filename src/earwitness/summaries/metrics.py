"""Summary metrics of positions: SumACCY, word accuracy, kept words, word strings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf, log

import numpy as np

from earwitness.core import Alignment, Case, Summary, Value, WordNetwork
from earwitness.errors import UsageError
from earwitness.metric import CaseList, Metric, at_least, ratio
from earwitness.stats.arrays import Bools, Floats
from earwitness.summaries.closest_path import (
    ClosestPath,
    alignment,
    closest,
    edits_and_hits,
    shown_steps,
)
from earwitness.summaries.metric_bases import (
    SummaryItems,
    SummaryMetric,
    SummaryPairs,
    list_empty_cells,
    positions,
    quotients,
)
from earwitness.summaries.network import (
    ItemCases,
    Network,
    cached_ceiling,
    cached_network,
    flatten,
    weight,
)
from earwitness.summaries.path_distances import PathStatistics, measure_small, small_batches
from earwitness.text.words import normalise_word, word_ngrams

# --- Summarization accuracy ----------------------------------------------------------------------


# number of words of a network and of an output up to which all networks are computed at once;
# sums of log counts of longer paths have too few digits there
MAX_SMALL_WORDS = 80
CEILING_VALUES = ("wsumaccy_ceiling", "wsumaccy_normalised", "wsumaccy_normalised_micro")


@dataclass(frozen=True)
class SummarizationAccuracy(SummaryItems):
    """Summarization accuracy (SumACCY) and weighted summarization accuracy (WSumACCY).

    The reference summaries of an item are merged into a word network, in which every arc is a step
    that somebody took from one word to the next. SumACCY is the word accuracy against the path that
    is closest to the output; WSumACCY weights it by the number of people on the arcs of the path.

    "Closest" has two definitions: the fewest edits (`edits`), or the fewest edits per word of the
    path (`accuracy`, which never decreases when a reference is added). Of equally close paths the
    longest is used, then the one supported by most people, then the one with the
    smallest positions.

    All reference summaries of an item form one network, so every item counts once, also in micro
    values. `wsumaccy_normalised_micro` divides the sum of weighted accuracies by the sum of
    ceilings, so items on which people agree count more. `wsumaccy_ceiling` has no micro value,
    because the largest possible `wsumaccy_micro` is not a function of sums over outputs.

    Parameters
    ----------
    objective
        Criterion for the closest path: fewest ``edits``, or highest ``accuracy`` (edits per word).
    arcs
        Arcs of the network: those of reference summaries (``observed``), or also those between
        neighbours in the transcript and from any word to the end (``original``).
    boundary
        Whether the weight includes the arcs to the first and from the last word.
    word_match
        Comparison of words: by ``position``, or by spelling (``surface``; optimistic).

    Examples
    --------
    >>> from earwitness import score
    >>> reference = {"item": "a", "words": ["it", "rains", "a", "lot"]}
    >>> reference["references"] = [{"positions": [1, 2]}, {"positions": [2, 4]}]
    >>> output = {"item": "a", "system": "mine", "output": {"positions": [1, 2, 4]}}
    >>> scores = score([output], [reference], metrics="sumaccy")
    >>> scores.systems["mine"]["sumaccy"].value
    1.0

    References
    ----------
    Hori, Hori and Furui (2003), Evaluation Methods for Automatic Speech Summarization; Hori et al.
    (2001), Advances in Automatic Speech Summarization.
    """

    objective: str = field(default="edits", metadata={"choices": ("edits", "accuracy")})
    arcs: str = field(default="observed", metadata={"choices": ("observed", "original")})
    boundary: str = field(default="include", metadata={"choices": ("include", "exclude")})
    word_match: str = field(default="position", metadata={"choices": ("position", "surface")})

    name = "sumaccy"
    title = "Summarization accuracy on the word network"
    values = (
        Value("sumaccy", "high", -inf, 1, "word accuracy against the closest path; mean"),
        Value("sumaccy_micro", "high", -inf, 1, "word accuracy over all words of all paths"),
        Value("wsumaccy", "high", -inf, 1, "accuracy times the weight of the path; mean"),
        Value("wsumaccy_micro", "high", -inf, 1, "sumaccy_micro times the weight of all arcs"),
        Value("wsumaccy_ceiling", "none", 0, 1, "largest possible wsumaccy; mean"),
        Value("wsumaccy_normalised", "high", -inf, 1, "wsumaccy divided by its ceiling; mean"),
        Value("wsumaccy_normalised_micro", "high", -inf, 1, "sum of wsumaccy by sum of ceilings"),
    )
    headline = "sumaccy"
    also = ("wsumaccy",)
    aligns = True
    width = 15
    empty_cells = list_empty_cells("0") | {
        "a path of one word with boundary=exclude": "wsumaccy undefined: the path has no arc; "
        "wsumaccy_micro counts no arc",
    }
    references = (
        "Hori, Hori and Furui (2003), Evaluation Methods for Automatic Speech Summarization",
        "Hori et al. (2001), Advances in Automatic Speech Summarization",
    )

    def network(self, case: Case) -> Network:
        """Return the word network of a case."""
        kept = tuple(positions(reference) for reference in case.references)
        return cached_network(len(case.item.words), kept, original=self.arcs == "original")

    def target(self, case: Case, network: Network | None = None) -> ClosestPath:
        """Return the closest path."""
        network = network or self.network(case)
        labels, words = self._compared(case)
        return closest(network, labels, objective=self.objective, words=words)

    def _compared(self, case: Case) -> tuple[Sequence[Hashable], dict[int, str] | None]:
        """Return the words of the output as they are compared, and those of the transcript."""
        if self.word_match == "position":
            return positions(case.output), None
        said = {place: normalise_word(word) for place, word in enumerate(case.item.words, 1)}
        return [normalise_word(word) for word in case.output.words], said

    def alignment(self, case: Case) -> Alignment:
        """Return the alignment of the closest path with the output, and people per step."""
        network = self.network(case)
        target = self.target(case, network)
        labels, words = self._compared(case)
        return shown_steps(case, network, target, alignment(labels, target.path, words))

    def picture(self, cases: Mapping[str, Case], people: Mapping[str, Summary]) -> WordNetwork:
        """Return the network of an item, with the closest path of each output."""
        first = max(cases.values(), key=lambda case: len(case.references))
        return WordNetwork(
            first.key.item,
            first.item.words,
            {name: positions(person) for name, person in people.items()},
            dict(self.network(first).counts),
            {system: self.target(case).path for system, case in cases.items() if system},
            self.signature,
        )

    def measure_items(
        self,
        items: Sequence[ItemCases],
        rows: Floats,
        case: Callable[[int], Case],
        names: Collection[str] = (),
    ) -> None:
        """Fill the rows; cases of small networks are computed at once."""
        with_ceilings = not names or any(map(CEILING_VALUES.__contains__, names))
        plain = (self.objective, self.arcs, self.word_match) == ("edits", "observed", "position")
        small = [item for item in items if plain and item.longest <= MAX_SMALL_WORDS]
        left = {row for item in items for row in item.rows}
        inside = self.boundary == "include"
        for batch in small_batches(small):
            paths = measure_small(batch, boundary=inside, with_ceilings=with_ceilings)
            numbers = np.concatenate([item.rows for item in batch])
            some = np.array([bool(output) for item in batch for output in item.outputs])
            rows[numbers] = paths.rows(some)
            left.difference_update(numbers[paths.certain].tolist())
        for row in left:
            rows[row] = self.statistics(case(row))

    def statistics(self, case: Case) -> Floats:
        """Return accuracy, weighted accuracy, ceiling and quotient, each with 1 if defined.

        Then logarithms of shares, arcs, arcs without people, and the parts of the quotient.
        """
        network = self.network(case)
        target = self.target(case, network)
        inside = self.boundary == "include"
        arcs = network.arcs(target.path, boundary=inside)
        shares = [network.counts[arc] / network.people for arc in arcs]
        values = (
            target.edits,
            len(target.path),
            weight(network, target.path, boundary=inside),
            cached_ceiling(network, boundary=inside),
            sum(map(log, filter(None, shares))),
            len(shares),
            shares.count(0),
            True,
        )
        return PathStatistics(*map(np.array, values)).rows(np.array(bool(case.output.words)))

    def score(self, statistics: Floats) -> Floats:
        columns = np.moveaxis(statistics[..., :10], -1, 0)
        right, words, accuracies, count, weighted, ws, best, bs, normal, ns = columns
        logs, arcs, nobody, top, bottom = np.moveaxis(statistics[..., 10:], -1, 0)
        share = np.where(nobody > 0, 0.0, np.exp(ratio(logs, arcs, np.nan)))
        values = quotients(
            (accuracies, count),
            (right, words),
            (weighted, ws),
            (right, words),
            (best, bs),
            (normal, ns),
            (top, bottom),
        )
        values[..., 3] *= share  # wsumaccy_micro
        return values


def draw_network(
    metrics: Iterable[Metric], cases: Mapping[str, Case], people: Mapping[str, Summary]
) -> WordNetwork | None:
    """Return the word network of an item from the first metric that has one, or None."""
    own = (metric for metric in metrics if isinstance(metric, SummarizationAccuracy))
    return next((metric.picture(cases, people) for metric in own), None)


# --- Word accuracy -------------------------------------------------------------------------------


@dataclass(frozen=True)
class WordAccuracy(SummaryPairs):
    """Word accuracy against one reference summary at a time, as in speech recognition.

    WACC counts substituted, deleted and inserted words relative to the words of the reference
    summary; `correct` ignores insertions (the paper calls it word precision, but it is a recall).
    Words are equal if they have the same position. Of alignments with the same number of edits, the
    one with most correct words is used.

    Values without `_micro` are means over outputs; for values with `_micro`, words are summed over
    all cases first. For several reference summaries, counts are averaged (or those of the best
    are used).

    References
    ----------
    Hori, Hori and Furui (2003), Evaluation Methods for Automatic Speech Summarization.
    """

    name = "word_accuracy"
    title = "Word accuracy"
    values = (
        Value("wacc", "high", -inf, 1, "1 minus edits per word of the reference summary; mean"),
        Value("wacc_micro", "high", -inf, 1, "1 minus edits per word, over all words"),
        Value.share("correct", "share of correct reference words; mean"),
        Value.share("correct_micro", "share of correct reference words, over all words"),
    )
    headline = "wacc"
    width = 6
    empty_cells = list_empty_cells("0")
    references = (
        "Hori, Hori and Furui (2003), Evaluation Methods for Automatic Speech Summarization",
    )

    def pair(self, case: Case) -> Sequence[float]:
        """Return words minus edits, correct words, words, both rates, and 1."""
        reference = positions(case.references[0])
        length = len(reference)
        edits, hits = edits_and_hits(positions(case.output), reference)
        return [length - edits, hits, length, (length - edits) / length, hits / length, 1]

    def score(self, statistics: Floats) -> Floats:
        left, hits, words, accuracies, right, count = np.moveaxis(statistics, -1, 0)
        return quotients((accuracies, count), (left, words), (right, count), (hits, words))


# --- Kept words ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class KeptWords(SummaryPairs):
    """Precision, recall and F1 of the kept words of the transcript, and compression rates.

    Values without `_micro` are means over outputs; for values with `_micro`, words are summed over
    all cases first. For several reference summaries, counts are averaged (or those of the best
    are used).

    References
    ----------
    Hori, Hori and Furui (2003), Evaluation Methods for Automatic Speech Summarization; Filippova et
    al. (2015), Sentence Compression by Deletion with LSTMs.
    """

    name = "kept"
    title = "Kept words"
    values = (
        Value.share("kept_precision", "share of output words in the reference; mean"),
        Value.share("kept_recall", "share of reference words in the output; mean"),
        Value.share("kept_f1", "F1 of output and reference; mean"),
        Value.share("kept_precision_micro", "precision over all words of outputs"),
        Value.share("kept_recall_micro", "recall over all words of references"),
        Value.share("kept_f1_micro", "F1 over all words"),
        Value("compression", "none", 0, inf, "output words per transcript word; mean"),
        Value("compression_micro", "none", 0, inf, "output words per transcript word, all words"),
        Value("compression_people", "none", 0, 1, "reference words per transcript word; mean"),
        Value("compression_people_micro", "none", 0, 1, "the same for references, all words"),
    )
    headline = "kept_f1"
    width = 10
    empty_cells = list_empty_cells("0; kept_precision_micro counts no word")
    references = (
        "Hori, Hori and Furui (2003), Evaluation Methods for Automatic Speech Summarization",
        "Filippova et al. (2015), Sentence Compression by Deletion with LSTMs",
    )

    def pairs(self, columns: CaseList) -> CaseList:
        """Return the cases themselves: all pairs of an item are measured at once."""
        return columns

    def measure_pairs(self, pairs: CaseList) -> Floats:
        """Return shared words, words of each side, rates, transcript words, and 1 per pair."""
        ends = np.cumsum(pairs.counts)
        rows = np.empty((int(ends[-1]) if len(ends) else 0, self.width))
        for item in ItemCases.group(pairs):
            counts = np.array(list(map(len, item.references)))
            person, case = flatten(item.references)
            mine = item.lengths[case]
            theirs = np.array(list(map(len, item.people)))[person]
            shared = item.shared[case, person].astype(np.float64)
            said = np.full(len(case), item.size)
            rates = ratio(shared, mine, 0.0), shared / theirs, 2 * shared / (mine + theirs)
            place = np.arange(len(case)) + np.repeat(ends[item.rows] - np.cumsum(counts), counts)
            columns = shared, mine, theirs, *rates, mine / said, theirs / said, said
            rows[place] = np.stack([*columns, np.ones(len(case))], axis=1)
        return rows

    def same(self, pairs: CaseList) -> Bools:
        return np.array(
            [case.output == reference for case in pairs for reference in case.references], np.bool_
        )

    def score(self, statistics: Floats) -> Floats:
        columns = np.moveaxis(statistics, -1, 0)
        shared, mine, theirs, precision, recall, f1, kept_shares, people, said, cases = columns
        means = ((column, cases) for column in (precision, recall, f1))
        micro = (shared, mine), (shared, theirs), (2 * shared, mine + theirs)
        sizes = (kept_shares, cases), (mine, said), (people, cases), (theirs, said)
        return quotients(*means, *micro, *sizes)


# --- Word strings and weighted precision ---------------------------------------------------------


# number of words of the longest strings; pairs of words are the main value
MIN_LONGEST_WORDS, DEFAULT_LONGEST_WORDS, MAX_LONGEST_WORDS = 2, 5, 100
WORD_STRING_PAPERS = (
    "Hori, Hori and Furui (2003), Evaluation Methods for Automatic Speech Summarization",
    "Hori et al. (2000), Improvements in Automatic Speech Summarization and Evaluation Methods",
)


def _values(longest: int) -> tuple[Value, ...]:
    ways = {"": "; mean", "_micro": ", over all strings"}
    return tuple(
        Value.share(f"p{n}{way}", f"precision of {n}-word strings{about}")
        for way, about in ways.items()
        for n in range(1, longest + 1)
    )


@dataclass(frozen=True)
class WordStrings(SummaryMetric):
    """Word string precision: share of word strings that also occur in a reference summary.

    The precision p_n is the share of strings of n consecutive words of the output that are also
    consecutive in at least one reference summary, by position, for n from 1 to `longest`.

    Values without `_micro` are means over outputs; for values with `_micro`, strings are summed
    over all cases first. All reference summaries of an item are used at once, so every item counts
    once.

    Parameters
    ----------
    longest
        Length of the longest word strings, 2 to 100 words.

    References
    ----------
    Hori, Hori and Furui (2003), Evaluation Methods for Automatic Speech Summarization; Hori et al.
    (2000), Improvements in Automatic Speech Summarization and Evaluation Methods.
    """

    longest: int = DEFAULT_LONGEST_WORDS

    name = "word_strings"
    title = "Word string precision"
    values = _values(DEFAULT_LONGEST_WORDS)
    headline = "p2"
    width = 4 * DEFAULT_LONGEST_WORDS
    empty_cells = list_empty_cells("undefined") | {
        "fewer than n words": "p_n undefined",
    }
    references = WORD_STRING_PAPERS

    def __post_init__(self) -> None:
        longest = at_least(MIN_LONGEST_WORDS, "longest", self.longest)
        if longest > MAX_LONGEST_WORDS or longest % 1:
            message = (
                f"longest must be a whole number from {MIN_LONGEST_WORDS} to {MAX_LONGEST_WORDS}"
            )
            raise UsageError(f"{message}, got {self.longest!r}")
        size = int(longest)
        for name, value in {"longest": size, "values": _values(size), "width": 4 * size}.items():
            object.__setattr__(self, name, value)

    def statistics(self, case: Case) -> Sequence[float]:
        """Return, for every n, matched strings, strings, their quotient, and 1 if defined."""
        row = list[float]()
        for n in range(1, self.longest + 1):
            by_person = [_string_set(positions(reference), n) for reference in case.references]
            mine = word_ngrams(positions(case.output), n)
            shared = sum(any(string in strings for strings in by_person) for string in mine)
            row += [shared, len(mine), shared / len(mine) if mine else 0, bool(mine)]
        return row

    def score(self, statistics: Floats) -> Floats:
        shared, number, rates, count = (statistics[..., kind::4] for kind in range(4))
        means = [ratio(rates, count, np.nan), ratio(shared, number, np.nan)]
        return np.concatenate(means, axis=-1)


@lru_cache(maxsize=1024)
def _string_set(words: tuple[int, ...], n: int) -> frozenset[tuple[int, ...]]:
    return frozenset(word_ngrams(words, n))


@dataclass(frozen=True)
class WeightedPrecision(SummaryItems):
    """Weighted word precision: mean share of people who kept the words of the output.

    The normalized values are divided by the weighted precision of the words kept by most people.

    Values without `_micro` are means over outputs; for values with `_micro`, shares of people are
    summed over all outputs first. All reference summaries of an item are used at once, so every
    item counts once.

    References
    ----------
    Hori, Hori and Furui (2003), Evaluation Methods for Automatic Speech Summarization; Hori et al.
    (2000), Improvements in Automatic Speech Summarization and Evaluation Methods.
    """

    name = "weighted_precision"
    title = "Weighted word precision"
    values = (
        Value.share("weighted_precision", "share of people who kept a word; mean"),
        Value.share("weighted_precision_micro", "share of people, over all words"),
        Value.share("weighted_precision_normalised", "share of the possible maximum; mean"),
        Value.share("weighted_precision_normalised_micro", "the same over all words"),
    )
    headline = "weighted_precision"
    width = 6
    empty_cells = list_empty_cells("0; micro counts no word")
    references = WORD_STRING_PAPERS

    def measure_items(
        self,
        items: Sequence[ItemCases],
        rows: Floats,
        case: Callable[[int], Case],
        names: Collection[str] = (),
    ) -> None:
        """Fill rows: shares of people, words, largest possible shares, both quotients, and 1."""
        for item in items:
            kept, most = (shares / item.chosen.sum(axis=1) for shares in item.support)
            quotients = ratio(kept, item.lengths, 0.0), ratio(kept, most, 0.0)
            columns = [kept, item.lengths, most, *quotients, np.ones(len(kept))]
            rows[item.rows] = np.stack(columns, axis=1)

    def statistics(self, case: Case) -> Floats:
        return self.measure(case)

    def score(self, statistics: Floats) -> Floats:
        kept, words, most, rates, normal, count = np.moveaxis(statistics, -1, 0)
        return quotients((rates, count), (kept, words), (normal, count), (kept, most))
