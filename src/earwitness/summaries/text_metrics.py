"""Summary metrics of text: BLEU, ROUGE, BERTScore, and the share of misrecognized words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from earwitness.core import Case, Estimate, Value
from earwitness.io.records import hash_names
from earwitness.metric import CaseList, EncodedMetric, ratio
from earwitness.models.text_encoder import bertscore_rates, bertscore_sums
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.bootstrap import Bootstrap, bootstrap_estimates
from earwitness.summaries.metric_bases import (
    SummaryMetric,
    SummaryPairs,
    list_empty_cells,
    quotients,
)
from earwitness.text.rouge import WORDS_OPTION, count_common_ngrams, count_common_subsequence
from earwitness.text.words import word_ngrams

# --- BLEU of summaries ---------------------------------------------------------------------------


NGRAM_ORDERS = 4
FLOOR_COUNT, ADDED_COUNT = 0.1, 1.0  # sacreBLEU's defaults
SMOOTHINGS = ("none", "exp", "floor", "add-k")


@dataclass(frozen=True)
class Bleu(SummaryMetric):
    """BLEU: n-grams of up to four words, against all reference summaries at once.

    Words are compared as written. Counts are clipped to the largest count of any one reference
    summary; an output shorter than the reference summary closest in length has a brevity penalty.
    `bleu` is the mean over outputs; `bleu_corpus`, the micro value, sums counts over all outputs
    first.

    ``smooth="none"`` is the definition of the paper. The other methods are those of sacreBLEU:
    `exp` halves the precision for every order without a match, `floor` and `add-k` use a small
    count instead.

    Parameters
    ----------
    smooth
        Smoothing of n-gram orders without a match: ``none``, or as in sacreBLEU.

    References
    ----------
    Papineni et al. (2002), BLEU: a Method for Automatic Evaluation of Machine Translation; Post
    (2018), A Call for Clarity in Reporting BLEU Scores.
    """

    smooth: str = field(default="none", metadata={"choices": SMOOTHINGS})

    name = "bleu"
    title = "BLEU"
    values = (
        Value.share("bleu", "BLEU of each output; mean"),
        Value.share("bleu_corpus", "BLEU over all outputs"),
    )
    headline = "bleu"
    needs = "text"
    width = 2 * NGRAM_ORDERS + 4
    empty_cells = list_empty_cells("0") | {
        "fewer than four words": "0; above 0 with add-k, as in sacreBLEU",
    }
    references = (
        "Papineni et al. (2002), BLEU: a Method for Automatic Evaluation of Machine Translation",
        "Post (2018), A Call for Clarity in Reporting BLEU Scores",
    )

    def statistics(self, case: Case) -> Sequence[float]:
        """Return matches and n-grams of every order, both lengths, BLEU, and 1."""
        (counts,) = self._subset_counts(case, np.ones((1, len(case.references)), np.bool_))
        return [*counts.tolist(), float(self._bleu(counts)), 1]

    def measure_subsets(
        self, cases: Sequence[Case], subsets: Bools, names: Collection[str] = ()
    ) -> Floats:
        """Compute the statistics from counts of the n-grams of the outputs in every reference."""
        counts = np.stack([self._subset_counts(case, subsets) for case in cases], axis=1)
        rates = self._bleu(counts)[..., None]
        return np.concatenate([counts, rates, np.ones(rates.shape)], axis=-1)

    @staticmethod
    def _subset_counts(case: Case, subsets: Bools) -> Floats:
        """Return matches and n-grams of every order, the length, and the closest reference length.

        A row has the counts of an output with one subset of its references.
        The k-th occurrence of an n-gram in the output is matched if any reference of the subset has
        the n-gram at least k times.
        """
        output, references = case.output.words, [reference.words for reference in case.references]
        chosen, length = subsets.astype(np.float32), len(output)
        columns = list[Floats]()
        for n in range(1, NGRAM_ORDERS + 1):
            by_reference = [_counts(tuple(words), n) for words in references]
            times = _counts(tuple(output), n).items()
            has = [
                [counts[s] >= k for counts in by_reference]
                for s, most in times
                for k in range(1, most + 1)
            ]
            matched = chosen @ np.array(has, np.float32).reshape(-1, len(references)).T > 0
            columns.append(matched.sum(axis=1, dtype=np.float64))
        sizes = [len(words) for words in references]
        closest = sorted(range(len(sizes)), key=lambda one: (abs(sizes[one] - length), sizes[one]))
        lengths = np.array(sizes)[closest]
        wanted = lengths[subsets[:, closest].argmax(axis=1)]
        numbers = [max(length - n, 0) for n in range(NGRAM_ORDERS)]
        shared = np.broadcast_to(np.array([*numbers, length]), (len(subsets), NGRAM_ORDERS + 1))
        return np.column_stack([*columns, shared, wanted]).astype(np.float64)

    def score(self, statistics: Floats) -> Floats:
        rates, cases = statistics[..., -2], statistics[..., -1]
        corpus = np.where(cases > 0, self._bleu(statistics[..., :-2]), np.nan)
        return np.stack([ratio(rates, cases, np.nan), corpus], axis=-1)

    def _bleu(self, counts: Floats) -> Floats:
        """Return BLEU from matches and n-grams of every order, and both lengths."""
        matches, numbers = counts[..., :NGRAM_ORDERS], counts[..., NGRAM_ORDERS : 2 * NGRAM_ORDERS]
        length, wanted = counts[..., -2], counts[..., -1]
        logs, halves = np.zeros(length.shape), np.ones(length.shape)
        nothing = ~(matches > 0).any(axis=-1)
        for order in range(NGRAM_ORDERS):
            shared, number = matches[..., order], numbers[..., order]
            if self.smooth == "add-k" and order:
                shared, number = shared + ADDED_COUNT, number + ADDED_COUNT
            missed = (shared == 0) & (number > 0)
            if self.smooth == "exp":
                halves *= 1 + missed
                shared = np.where(missed, 1 / halves, shared)
            elif self.smooth == "floor":
                shared = np.where(missed, FLOOR_COUNT, shared)
            share = ratio(shared, number, 0.0)
            nothing |= share == 0
            logs += np.log(np.where(share > 0, share, 1.0)) / NGRAM_ORDERS
        short = np.where(length < wanted, 1 - ratio(wanted, length, np.inf), 0.0)
        return np.where(nothing | (length == 0), 0.0, np.exp(logs + np.maximum(short, -700)))


@lru_cache(maxsize=1024)
def _counts(words: tuple[str, ...], n: int) -> Counter[tuple[str, ...]]:
    return Counter(word_ngrams(words, n))


# --- ROUGE of summaries --------------------------------------------------------------------------


ROUGE_KINDS = {
    "rouge_1": "words",
    "rouge_2": "pairs of words",
    "rouge_l": "longest common subsequence",
}
ROUGE_PARTS = {
    "precision": "share of the output",
    "recall": "share of the reference",
    "f1": "both",
}
ROUGE_AVERAGES = {"": "mean", "_micro": "over all outputs"}


@dataclass(frozen=True)
class Rouge(SummaryPairs):
    """ROUGE-1, ROUGE-2 and ROUGE-L: words, pairs of words, and the longest common subsequence.

    Suitable for summaries in free wording and for extractive summaries. Texts are tokenized and
    stemmed as in `rouge_score` (`latin`), or tokenized in any script (`unicode`).

    Values without `_micro` are means over outputs; for values with `_micro`, n-grams are summed
    over all cases first. For several reference summaries, counts are averaged (or those of the best
    are used), so every item counts once.

    Parameters
    ----------
    words
        Tokenization: letters a to z and digits as in rouge_score (``latin``), or any
        script (``unicode``).

    References
    ----------
    Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries.
    """

    words: str = field(default="latin", metadata=WORDS_OPTION)

    name = "rouge"
    title = "ROUGE"
    values = tuple(
        Value.share(f"{kind}_{part}{way}", f"{what}: {meaning}; {how}")
        for way, how in ROUGE_AVERAGES.items()
        for kind, what in ROUGE_KINDS.items()
        for part, meaning in ROUGE_PARTS.items()
    )
    headline = "rouge_l_f1"
    needs = "text"
    width = 19
    empty_cells = list_empty_cells("0; micro precision counts no word") | {
        "no pair of words": "rouge_2 0; micro counts no pair",
    }
    references = ("Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries",)

    def pair(self, case: Case) -> Sequence[float]:
        """Return the rates, then shared n-grams and those of each side per kind, and 1."""
        mine, theirs = case.output.text, case.references[0].text
        overlaps = [count_common_ngrams(mine, theirs, n, self.words) for n in (1, 2)]
        overlaps.append(count_common_subsequence(mine, theirs, self.words))
        rates = [rate for overlap in overlaps for rate in overlap.overlap]
        return [*rates, *(number for overlap in overlaps for number in overlap), 1]

    def score(self, statistics: Floats) -> Floats:
        rates, strings = np.split(statistics[..., :-1], 2, axis=-1)
        shared, mine, theirs = (strings[..., side::3] for side in range(3))
        pooled = quotients((shared, mine), (shared, theirs), (2 * shared, mine + theirs))
        pooled = pooled.reshape(rates.shape)
        return np.concatenate([ratio(rates, statistics[..., -1:], np.nan), pooled], axis=-1)


# --- BERTScore of summaries ----------------------------------------------------------------------


@dataclass(frozen=True)
class SummaryBertScore(EncodedMetric, SummaryPairs):
    """BERTScore of summaries, which compares meaning rather than wording.

    The model `minilm` is installed as a package and was trained on English; any BERT-like model in
    a folder or in the Hugging Face cache can be used instead. The signature includes model, layer,
    hash of the weights and versions of the libraries. Requires the extra `bert`.

    Values without `_micro` are means over outputs; for values with `_micro`, similarities and
    tokens are summed over all outputs first, and F1 is computed from both quotients. For several
    reference summaries, sums are averaged (or those of the best are used), so every item counts
    once.

    References
    ----------
    Zhang et al. (2020), BERTScore: Evaluating Text Generation with BERT.
    """

    name = "bertscore"
    title = "BERTScore"
    values = tuple(
        Value(f"bertscore_{name}", "high", -1, 1, about)
        for name, about in {
            "precision": "similarity of the output's tokens; mean",
            "recall": "similarity of the reference's tokens; mean",
            "f1": "F1 of precision and recall; mean",
            "precision_micro": "precision over all output tokens",
            "recall_micro": "recall over all reference tokens",
            "f1_micro": "F1 of the two micro values",
        }.items()
    )
    headline = "bertscore_f1"
    needs = "text"
    width = 8
    empty_cells = list_empty_cells("0; bertscore_precision_micro counts no token")
    references = ("Zhang et al. (2020), BERTScore: Evaluating Text Generation with BERT",)

    def measure_pairs(self, pairs: CaseList) -> Floats:
        """Return precision, recall, F1, their sums, and 1; every text is encoded once."""
        mine = [case.output.text for case in pairs]
        theirs = [case.references[0].text for case in pairs]
        sums = bertscore_sums(mine, theirs, self.encoder)
        return np.concatenate([bertscore_rates(sums), sums, np.ones((len(mine), 1))], axis=1)

    def score(self, statistics: Floats) -> Floats:
        rates, sums, cases = statistics[..., :3], statistics[..., 3:7], statistics[..., 7:]
        pooled = np.where(cases > 0, bertscore_rates(sums), np.nan)
        pooled[..., :2] = np.where(sums[..., 1::2] > 0, pooled[..., :2], np.nan)
        return np.concatenate([ratio(rates, cases, np.nan), pooled], axis=-1)


# --- Misrecognized words -------------------------------------------------------------------------


@dataclass(frozen=True)
class MisrecognizedWords(SummaryMetric):
    """Share of words that a recognizer got wrong, in the summary and in its input.

    A word of a summary is wrong if it is aligned with no word of the transcript. The input of the
    summarizer is the field `recognized` of the item. Words are summed over all outputs. A
    summarizer that avoids recognition errors has a lower share in summaries than in the input.

    References
    ----------
    Hori, Hori and Furui (2003), Evaluation Methods for Automatic Speech Summarization.
    """

    name = "misrecognized"
    title = "Misrecognized words"
    values = (
        Value("misrecognized_summary", "low", 0, 1, "share of wrong words in summaries"),
        Value("misrecognized_input", "none", 0, 1, "share of wrong words in the recognized input"),
    )
    headline = "misrecognized_summary"
    also = ("misrecognized_input",)
    width = 4
    empty_cells = list_empty_cells("undefined") | {
        "no recognized words of the item": "misrecognized_input is undefined"
    }
    undefined_reasons = {
        "misrecognized_input": "no item has recognized words — add them as recognized"
    }
    references = (
        "Hori, Hori and Furui (2003), Evaluation Methods for Automatic Speech Summarization",
    )

    def statistics(self, case: Case) -> Sequence[float]:
        """Return wrong words and words, of the summary and of the recognized input."""
        sides = (case.output.positions or (), case.item.recognized or ())
        return [float(count) for side in sides for count in (side.count(0), len(side))]

    def score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., ::2], statistics[..., 1::2], np.nan)


def misrecognized_shares(
    cases: Sequence[Case], *, draws: int = 1000, level: float = 0.95, seed: int = 0
) -> dict[str, tuple[Estimate, Estimate]]:
    """Return the shares of misrecognized words in summaries and in their input, by system.

    Intervals are from a bootstrap over items. Empty if no output has a wrong word and no item has
    recognized words.
    """
    metric, found = MisrecognizedWords(), dict[str, tuple[Estimate, Estimate]]()
    names = [value.name for value in metric.values]
    for system in dict.fromkeys(case.key.system for case in cases):
        own = [case for case in cases if case.key.system == system]
        statistics = metric.measure_many(own)
        bootstrap = Bootstrap(draws, seed)
        bootstrap.add(hash_names([case.key.item for case in own]), statistics)
        resampled = bootstrap.finish()
        undefined = np.isnan(metric.score(statistics)).sum(axis=0)
        estimates = bootstrap_estimates(
            names,
            metric.score(resampled.total),
            metric.score(resampled.draws),
            (len(own) - undefined, undefined),
            level,
            resampled.method,
        )
        found[system] = estimates[names[0]], estimates[names[1]]
    is_known = any(in_summary.value > 0 or given.n for in_summary, given in found.values())
    return found if is_known else {}
