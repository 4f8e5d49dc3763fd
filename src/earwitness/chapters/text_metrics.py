"""Chapter metrics of text: sentences, titles, title BERTScore and word error rate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, nan
from typing import Any, ClassVar

import numpy as np

from earwitness.chapters.cases import ChapterCases, Starts
from earwitness.chapters.matching import TM_RULES, Pair
from earwitness.chapters.metrics import MEAN_VALUE_COUNT, ChapterMeans, ChapterMetric, Chunks
from earwitness.core import Alignment, Case, TitlePair, Titles, Value
from earwitness.metric import EncodedMetric, ratio
from earwitness.models.text_encoder import bertscore
from earwitness.stats.arrays import Bools, Floats, Ints, Ragged
from earwitness.text.alignment import align_words, word_errors
from earwitness.text.rouge import WORDS_OPTION, rouge_l

# --- Boundaries between sentences ----------------------------------------------------------------


SENTENCE_CHUNKS = Chunks(chunk_size=1.0)  # a sentence is a unit of time
# values of ``SENTENCE_CHUNKS`` that are used
SENTENCE_VALUE_INDICES = [0, 1, *range(4, 8), *range(MEAN_VALUE_COUNT, MEAN_VALUE_COUNT + 3)]


@dataclass(frozen=True)
class Sentences(ChapterMetric):
    """Boundaries between sentences, as in text segmentation.

    A boundary is placed before the sentence of the reference transcript with the nearest start.
    With ``of="reference"``, output boundaries are placed directly; with ``of="output"`` they are
    first moved to the nearest sentence of the system's own transcript, which shows the cost of a
    recognized transcript. Compared with `chunks`, this metric shows the effect of scoring in text.

    The item needs sentences with start times, or subtitles or words with times; for
    ``of="output"`` the output needs them too. The start of the first sentence is not a boundary.

    Parameters
    ----------
    of
        Transcript whose sentences output boundaries are moved to first.

    References
    ----------
    Retkowski et al. (2026), Beyond Transcripts: A Renewed Perspective on Audio Chaptering; Fournier
    (2013), Evaluating Text Segmentation using Boundary Edit Distance.
    """

    of: str = field(default="reference", metadata={"choices": ("reference", "output")})

    name = "sentences"
    title = "Boundaries between sentences"
    values = tuple(
        replace(value, name=f"sentence_{value.name}", doc=value.doc.replace("chunk", "sentence"))
        for value in (SENTENCE_CHUNKS.values[index] for index in SENTENCE_VALUE_INDICES)
    )
    headline = "sentence_boundary_similarity"
    empty_cells = {
        "both empty": "as chunks",
        "output empty": "as chunks",
        "reference empty": "as chunks",
        "no sentences": "every value undefined",
        "a single sentence": "every value undefined: no boundary is possible",
        "boundaries only before sentences after the end": "every value undefined, counted",
    }
    references = (
        "Retkowski et al. (2026), Beyond Transcripts: A Renewed Perspective on Audio Chaptering",
        "Fournier (2013), Evaluating Text Segmentation using Boundary Edit Distance",
    )

    def measure_pairs(self, pairs: ChapterCases) -> Floats:
        """Compute the statistics of `chunks`, with one unit per gap between sentences."""
        texts = pairs.texts
        sides: list[tuple[Starts | None, Starts | None]] = [(None, None)] * len(pairs)
        if texts is not None:
            both = zip(texts.items, texts.outputs, strict=True)
            sides = [(starts, sentences) for (_, starts), (_, _, sentences) in both]
        output, reference = pairs.positive()
        if self.of == "output":
            sides = [
                (None if sentences is None else starts, sentences) for starts, sentences in sides
            ]
            output = _moved(
                output, Ragged.from_rows([sorted(sentences or ()) for _, sentences in sides])
            )
        grid = Ragged.from_rows([sorted(starts or ()) for starts, _ in sides])
        own, other = _places(output, grid), _places(reference, grid)
        inside = grid.where(grid.values <= pairs.duration[grid.rows]).lengths
        lost = (own.lengths + other.lengths == 0) & (output.lengths + reference.lengths > 0)
        lost &= inside < np.minimum(grid.lengths, 2)  # sentences after the end have no gap
        units = replace(
            pairs,
            duration=np.where(lost, 0.0, np.maximum(grid.lengths - 1, 0)),
            output=own,
            reference=other,
            texts=None,
        )
        return SENTENCE_CHUNKS.measure_pairs(units)

    def score(self, statistics: Floats) -> Floats:
        return SENTENCE_CHUNKS.score(statistics)[..., SENTENCE_VALUE_INDICES]


def _nearest(times: Ragged, grid: Ragged) -> Ints:
    """Return the index of the nearest point in the row of every time; the first of equals."""
    places = np.zeros(len(times.values), np.int64)
    for row in range(len(times)):  # sorted points: the nearest is just before or just behind
        points, span = grid.row(row), slice(times.offsets[row], times.offsets[row + 1])
        if len(points):
            behind = np.searchsorted(points, times.values[span])
            before = np.maximum(behind - 1, 0)
            behind = np.minimum(behind, len(points) - 1)
            closer = times.values[span] - points[before] <= points[behind] - times.values[span]
            places[span] = np.where(closer, before, behind)
    return places


def _places(times: Ragged, grid: Ragged) -> Ragged:
    """Return the gaps between sentences nearest to the times; unit 1 is before sentence 1."""
    places = _nearest(times, grid)
    return Ragged(places.astype(np.float64) - 0.5, times.offsets).where(places > 0)


def _moved(times: Ragged, grid: Ragged) -> Ragged:
    """Return the times moved to the nearest point; rows without points are unchanged."""
    places, rows = _nearest(times, grid), times.rows
    filled = grid.lengths[rows] > 0
    moved = times.values.copy()
    moved[filled] = grid.values[(grid.offsets[rows] + places)[filled]]
    return Ragged(moved, times.offsets)


# --- Title overlap -------------------------------------------------------------------------------


NO_TITLES = "no reference has titles — add titles with start times to the references"
NO_MATCHED_TITLES = (
    "no output has a title that starts within the tolerance of a reference title — add titles to "
    "the outputs, or raise --tolerance"
)


@dataclass(frozen=True)
class TitleMetric(ChapterMeans):
    """Base class of metrics that compare titles matched in time.

    Parameters
    ----------
    tolerance
        Largest time difference between matched titles, in seconds.
    tm_rule
        Times that must be within the tolerance: ``start``, or start and end (``start_end``).
    """

    tolerance: float = field(default=5.0, metadata={"least": 0})
    tm_rule: str = field(default="start", metadata={"choices": TM_RULES})

    def same(self, pairs: ChapterCases) -> Bools:
        return np.zeros(len(pairs), np.bool_)

    pair_score: ClassVar[str]  # name of the score of two titles

    def matched_places(self, output: Titles, reference: Titles, duration: float) -> list[Pair]:
        """Return the places of matched titles."""
        return TM_RULES[self.tm_rule](output, reference, self.tolerance, duration)

    @abstractmethod
    def score_texts(self, texts: Sequence[tuple[str, str]]) -> Floats:
        """Return precision, recall and F1 of each pair of an output text and a reference text."""

    def pair_values(self, pairs: ChapterCases) -> Floats:
        """Return the share of matched titles, then scores of matched and of joined titles."""
        table = np.full((len(pairs), 8), np.nan)
        if pairs.texts is None:
            return table
        sides = zip(pairs.texts.outputs, pairs.texts.references, pairs.duration, strict=True)
        plans = [
            None if reference is None else _Plan.of(self, output or (), reference, float(duration))
            for (output, _, _), reference, duration in sides
        ]
        scores = self.score_texts([text for plan in plans if plan for text in plan.texts])
        done = 0
        for row, plan in zip(table, plans, strict=True):
            if plan is not None:
                row[:] = plan.values(scores[done : done + len(plan.texts)])
                done += len(plan.texts)
        return table


@dataclass(frozen=True)
class _Plan:
    """Texts to compare for one case: its pairs of titles, then all titles joined."""

    texts: list[tuple[str, str]]
    pairs: int
    wanted: int
    empty: bool

    @classmethod
    def of(cls, metric: TitleMetric, output: Titles, reference: Titles, duration: float) -> _Plan:
        places = metric.matched_places(output, reference, duration)
        matched = [(output[mine][0], reference[theirs][0]) for mine, theirs in places]
        mine, theirs = ("\n".join(text for text, _ in side) for side in (output, reference))
        joined = [(mine, theirs)] if mine and theirs else []
        return cls([*matched, *joined], len(matched), len(reference), not output)

    def values(self, scores: Floats) -> list[float]:
        """Return the share, means over pairs, F1 with unmatched titles as 0, and joined scores."""
        share = self.pairs / self.wanted if self.wanted else 0.0
        means = scores[: self.pairs].mean(axis=0) if self.pairs else np.full(3, np.nan)
        share_times_f1 = share * means[2] if self.pairs else 0.0
        joined = np.full(3, 0.0 if self.empty else np.nan)
        if len(self.texts) > self.pairs:
            joined = scores[self.pairs]
        return [share, *means.tolist(), float(share_times_f1), *joined.tolist()]


@dataclass(frozen=True)
class TitleOverlap(TitleMetric):
    """ROUGE-L of chapter titles.

    Temporally matched (tm): each reference title is paired with the nearest unmatched output title
    that starts within the tolerance (`start`), or starts and ends within it (`start_end`, as in
    chunkseg 0.4.0). `tm_rl_f1` is the mean over pairs; `tm_rl_f1_all` counts reference titles
    without a match as 0. Global concatenation (gc): all titles of each side are joined and compared
    as one text. An output without titles is scored as an output with no titles found.

    Parameters
    ----------
    words
        Tokenization: letters a to z and digits as in rouge_score (``latin``), or any
        script (``unicode``).

    References
    ----------
    Retkowski et al. (2026), Beyond Transcripts: A Renewed Perspective on Audio Chaptering; Lin
    (2004), ROUGE: A Package for Automatic Evaluation of Summaries.
    """

    words: str = field(default="unicode", metadata=WORDS_OPTION)

    name = "titles"
    title = "Titles by ROUGE-L"
    values = (
        Value.share("tm_matched", "share of reference titles that are matched in time"),
        Value.share("tm_rl_precision", "mean ROUGE-L precision of matched titles"),
        Value.share("tm_rl_recall", "mean ROUGE-L recall of matched titles"),
        Value.share("tm_rl_f1", "mean ROUGE-L F1 of matched titles"),
        Value.share("tm_rl_f1_all", "mean ROUGE-L F1; titles without a match count as 0"),
        Value.share("gc_rl_precision", "ROUGE-L precision of all titles joined"),
        Value.share("gc_rl_recall", "ROUGE-L recall of all titles joined"),
        Value.share("gc_rl_f1", "ROUGE-L F1 of all titles joined"),
    )
    headline = "tm_rl_f1_all"
    empty_cells = {
        "both empty": "tm_matched and gc 0; tm_rl undefined; tm_rl_f1_all 0",
        "output empty": "tm_matched, tm_rl_f1_all and gc 0; tm_rl undefined",
        "reference empty": "tm_matched and tm_rl_f1_all 0; tm_rl and gc undefined",
        "no titles in the reference": "every value undefined",
    }
    references = (
        "Retkowski et al. (2026), Beyond Transcripts: A Renewed Perspective on Audio Chaptering",
        "Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries",
    )

    undefined_reasons = {"": NO_TITLES, "tm_rl_": NO_MATCHED_TITLES}
    pair_score = "ROUGE-L F1"

    def score_texts(self, texts: Sequence[tuple[str, str]]) -> Floats:
        rows = [rouge_l(mine, theirs, self.words) for mine, theirs in texts]
        return np.array(rows, np.float64).reshape(-1, 3)


# --- Title BERTScore -----------------------------------------------------------------------------


@dataclass(frozen=True)
class TitleBertScore(EncodedMetric, TitleMetric):
    """BERTScore of chapter titles, which compares meaning rather than wording.

    Titles are matched and joined as in `titles`. The model `minilm` is installed as a package,
    needs no download and was trained on English; any BERT-like model in a folder or in the Hugging
    Face cache can be used instead. The signature includes model, layer, hash of the weights and
    versions of the libraries. Requires the extra `bert`.

    References
    ----------
    Zhang et al. (2020), BERTScore: Evaluating Text Generation with BERT; Retkowski et al. (2026),
    Beyond Transcripts: A Renewed Perspective on Audio Chaptering.
    """

    name = "title_bertscore"
    title = "Titles by BERTScore"
    values = tuple(
        Value(name, "high", -1, 1, about)
        for name, about in {
            "tm_bs_precision": "mean BERTScore precision of matched titles",
            "tm_bs_recall": "mean BERTScore recall of matched titles",
            "tm_bs_f1": "mean BERTScore F1 of matched titles",
            "tm_bs_f1_all": "mean F1; titles without a match count as 0",
            "gc_bs_precision": "BERTScore precision of all titles joined",
            "gc_bs_recall": "BERTScore recall of all titles joined",
            "gc_bs_f1": "BERTScore F1 of all titles joined",
        }.items()
    )
    headline = "tm_bs_f1_all"
    empty_cells = {
        "both empty": "gc and tm_bs_f1_all 0; tm_bs undefined",
        "output empty": "gc and tm_bs_f1_all 0; tm_bs undefined",
        "reference empty": "tm_bs_f1_all 0; tm_bs and gc undefined",
        "no titles in the reference": "every value undefined",
    }
    references = (
        "Zhang et al. (2020), BERTScore: Evaluating Text Generation with BERT",
        "Retkowski et al. (2026), Beyond Transcripts: A Renewed Perspective on Audio Chaptering",
    )

    undefined_reasons = {"": NO_TITLES, "tm_bs_": NO_MATCHED_TITLES}
    pair_score = "BERTScore F1"

    def score_texts(self, texts: Sequence[tuple[str, str]]) -> Floats:
        return bertscore([mine for mine, _ in texts], [theirs for _, theirs in texts], self.encoder)

    def pair_values(self, pairs: ChapterCases) -> Floats:
        return super().pair_values(pairs)[:, 1:]


# --- Word error rate -----------------------------------------------------------------------------


@dataclass(frozen=True)
class WordErrorRate(ChapterMetric):
    """Word error rate of the output's transcript, if output and item both have one.

    Texts are normalized as in chunkseg: lower case, English contractions expanded, text in brackets
    removed; punctuation is kept. All rates are per word of the reference. All words of an output
    that was scored as empty count as deleted.

    Parameters
    ----------
    edge
        Not used by this metric.

    Examples
    --------
    >>> from earwitness.text.alignment import word_errors
    >>> word_errors("the cat sat", "the cat sat down").deletions
    1

    References
    ----------
    Morris, Maier and Green (2004), From WER and RIL to MER and WIL.
    """

    name = "wer"
    title = "Word error rate"
    values = tuple(
        Value(name, "low", 0, inf, about)
        for name, about in {
            "wer": "errors of all outputs per word of all references",
            "wer_sample": "mean of the word error rates of outputs",
            "wer_substitutions": "substituted words per reference word",
            "wer_deletions": "deleted words per reference word",
            "wer_insertions": "inserted words per reference word",
        }.items()
    )
    headline = "wer"
    aligns = True
    empty_cells = {
        "both empty": "undefined",
        "output empty": "1: every word is deleted",
        "reference empty": "undefined for a single output; its insertions count in a corpus",
        "no transcript": "undefined",
    }
    references = (
        "Morris, Maier and Green (2004), From WER and RIL to MER and WIL",
        "jiwer, https://github.com/jitsi/jiwer",
    )

    def measure_pairs(self, pairs: ChapterCases) -> Floats:
        """Return substitutions, deletions, insertions, words, rate, and 1 if it is defined."""
        table = np.zeros((len(pairs), 6))
        if pairs.texts is None:
            return table
        sides = zip(table, pairs.texts.outputs, pairs.texts.items, strict=True)
        for row, (_, said, _), (transcript, _) in sides:
            if said is not None and transcript is not None:
                counts = word_errors(said, transcript)
                rate = counts.errors / counts.words if counts.words else 0.0
                row[:] = *counts, rate, float(counts.words > 0)
        return table

    def alignment(self, case: Case) -> Alignment | None:
        said, transcript = case.output.text, case.item.transcript
        return None if said is None or transcript is None else align_words(said, transcript)

    def score(self, statistics: Floats) -> Floats:
        words, rates, count = statistics[..., 3], statistics[..., 4], statistics[..., 5]
        kinds = [ratio(statistics[..., kind], words, np.nan) for kind in range(3)]
        whole = ratio(statistics[..., :3].sum(axis=-1), words, np.nan)
        return np.stack([whole, ratio(rates, count, np.nan), *kinds], axis=-1)


# --- Titles of example items ---------------------------------------------------------------------


def pair_titles(
    cases: Mapping[str, Case], references: Mapping[str, Any], metric: TitleMetric | None
) -> dict[str, tuple[TitlePair, ...]]:
    """Return the pairs of titles by system, if there are titles; without a metric, no scores."""
    rule = metric or TitleOverlap()
    pairs = {}
    for system, case in cases.items():
        titles, rows = case.output.titles or (), list[TitlePair]()
        for annotator, chapters in references.items():
            if chapters.titles is None:
                continue
            wanted = chapters.titles
            places = rule.matched_places(titles, wanted, case.item.duration)
            texts = [(titles[mine][0], wanted[theirs][0]) for mine, theirs in places]
            scores = [nan] * len(texts)
            if metric and texts:
                scores = metric.score_texts(texts)[:, 2].tolist()
            alone, extra = dict(enumerate(wanted)), dict(enumerate(titles))
            rows += [
                TitlePair(annotator, alone.pop(theirs), extra.pop(mine), score)
                for (mine, theirs), score in zip(places, scores, strict=True)
            ]
            rows += [TitlePair(annotator, title, None, nan) for title in alone.values()]
            rows += [TitlePair(annotator, None, title, nan) for title in extra.values()]
        pairs[system] = tuple(rows)
    return pairs if any(pairs.values()) else {}
