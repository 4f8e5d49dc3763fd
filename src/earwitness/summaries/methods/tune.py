"""Weights of the scores of summaries, fitted to reference summaries with cross-validation.

The weights λ_I, λ_C and λ_T are fitted to utterances with reference summaries so that the mean
SumACCY of the summaries is highest; λ_L is 1, and the weight of a score that is not available is 0.
A coordinate search over a grid of weights is repeated from several starts. Cross-validation fits
the weights without a part of the utterances at a time, and measures the summaries of this part.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import UNSET

from earwitness.core import Case, Estimate, Progress, StrPath, Summary, load_json, no_progress
from earwitness.errors import UsageError, nearest
from earwitness.io.atomic import AtomicFile
from earwitness.io.records import hash_names
from earwitness.io.schema import Fault
from earwitness.io.source import Records, RecordSource
from earwitness.metric import CaseList
from earwitness.stats.bootstrap import Bootstrap, bootstrap_estimates
from earwitness.summaries.methods.compaction import (
    Floats,
    Ints,
    ScoreTables,
    ScoreWeights,
    SpokenUtterance,
    TrigramScores,
)
from earwitness.summaries.methods.inputs import (
    ALL_ITEMS,
    check_recognized,
    make_utterance,
    read_records,
)
from earwitness.summaries.methods.search import BEAM_WORDS, count_kept, search_summaries
from earwitness.summaries.methods.summarize import (
    SCORE_NAMES,
    SummarizerModels,
    find_scores,
    restrict_weights,
)
from earwitness.summaries.metrics import SummarizationAccuracy
from earwitness.summaries.network import ItemCases
from earwitness.summaries.reader import GivenWords, SummaryOptions, SummaryReader
from earwitness.summaries.records import REFERENCES, SummaryReferenceLine
from earwitness.task import Filter

WEIGHT_GRID = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
RANDOM_STARTS = 2  # in addition to the default weights
MAX_PASSES = 10  # over all weights, from each start
LEAST_IMPROVEMENT = 1e-9  # of the mean SumACCY
DEFAULT_FOLDS = 5
BOOTSTRAP_DRAWS, INTERVAL_LEVEL = 1000, 0.95
LINGUISTIC = SCORE_NAMES[0]
EVERY_SCORE = ScoreWeights(1.0, 1.0, 1.0, 1.0)
Positions = tuple[int, ...]
DEFAULT_WEIGHTS_NAME = "default weights"


# --- Utterances with references ------------------------------------------------------------------


def read_references(
    place: StrPath | Records, tokenize: str = "blanks", *, where: Filter = ALL_ITEMS
) -> tuple[tuple[SpokenUtterance, ...], tuple[Case, ...]]:
    """Return the utterances of a references file, and their reference summaries.

    The words of an utterance are the recognized words of its item if it has any, else those of
    its transcript.

    Parameters
    ----------
    place
        Path of a JSON Lines file of references, or its records.
    tokenize
        Tokenizer of texts: ``"blanks"`` or ``"japanese"``.
    where
        Conditions on the field ``meta`` of items; the others are left out.

    Raises
    ------
    InputError
        If the file cannot be read or has invalid lines; it lists all problems.
    """
    source, reader = RecordSource(place), SummaryReader(SummaryOptions(tokenize=tokenize))
    read = partial(_read_record, reader=reader)
    pairs = read_records(source, REFERENCES, where, read)
    cases = tuple(case for _, case in pairs)
    check_recognized(source, [case.item.recognized is not None for case in cases], "has no items")
    return tuple(utterance for utterance, _ in pairs), cases


def _read_record(
    record: SummaryReferenceLine, reader: SummaryReader
) -> tuple[SpokenUtterance, Case] | list[Fault]:
    """Return the utterance of a record with its references, or all faults."""
    resolved, faults = reader.reference(record, ())
    if faults:
        return faults
    utterance = make_utterance(record, reader.reading)
    if isinstance(utterance, list):
        return utterance
    (case,) = reader.of_references([record], [resolved])
    if (record.recognized is not UNSET) != (case.item.recognized is not None):
        return [Fault("words", "missing", "recognized words need the spoken words")]
    return utterance, case


class RememberedTrigrams:
    """Trigram scores of an utterance; an exact search requests the same ones with all weights."""

    def __init__(self, scores: TrigramScores) -> None:
        self._scores = scores
        self._places = tuple[Ints, ...]()
        self._found = np.zeros(0)

    def __call__(self, before: Ints, last: Ints, following: Ints) -> Floats:
        """Return scores by places."""
        places = (before, last, following)
        if not self._places or not all(map(np.array_equal, places, self._places)):
            self._places, self._found = places, self._scores(*places)
        return self._found


@dataclass
class ReferencedSpeech:
    """Utterances with scores, numbers of words to keep, and reference summaries.

    Summaries are measured once: of the same words, SumACCY is known.
    """

    utterances: tuple[SpokenUtterance, ...]
    cases: tuple[Case, ...]
    tables: tuple[ScoreTables, ...]
    counts: tuple[int, ...]
    beam: int | None = None
    _accuracies: list[dict[Positions, float]] = field(init=False, repr=False)
    _by_weights: dict[ScoreWeights, Floats] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._accuracies = [{} for _ in self.cases]

    @property
    def items(self) -> list[str]:
        """Names of the items."""
        return [case.key.item for case in self.cases]

    @property
    def scores(self) -> tuple[str, ...]:
        """Names of the scores that are available for an utterance."""
        return find_scores(self.tables)

    def summarize(self, weights: ScoreWeights) -> list[Positions]:
        """Return the positions of the best summaries."""
        return [
            search_summaries(table, weights, count, self.beam).positions(count)
            for table, count in zip(self.tables, self.counts, strict=True)
        ]

    def draw_words(self, seed: int = 0) -> list[Positions]:
        """Return positions of random words, as many as summaries have.

        Of transcripts, they are those of the baseline ``random`` of ``score``.
        """
        kept = list[Positions]()
        hashes = hash_names(self.items).tolist()
        for utterance, count, number in zip(self.utterances, self.counts, hashes, strict=True):
            rng = np.random.default_rng([seed, number])
            drawn = rng.choice(len(utterance.words), count, replace=False) if count else ()
            kept.append(tuple(sorted(int(place) + 1 for place in drawn)))
        return kept

    def first_words(self) -> list[Positions]:
        """Return positions of the first words, as many as summaries have."""
        return [tuple(range(1, count + 1)) for count in self.counts]

    def measure(self, kept: Sequence[Positions]) -> Floats:
        """Return the SumACCY of one summary per utterance."""
        self._measure(enumerate(kept))
        return np.array(
            [known[positions] for known, positions in zip(self._accuracies, kept, strict=True)]
        )

    def measure_weights(self, many: Iterable[ScoreWeights]) -> Floats:
        """Return the SumACCY of the summaries with each of several weights: a row per weights."""
        listed = list(many)
        new = [
            weighting for weighting in dict.fromkeys(listed) if weighting not in self._by_weights
        ]
        kept = [self.summarize(weights) for weights in new]
        self._measure(
            (row, positions) for summaries in kept for row, positions in enumerate(summaries)
        )
        for weights, summaries in zip(new, kept, strict=True):
            self._by_weights[weights] = self.measure(summaries)
        return np.array([self._by_weights[weights] for weights in listed])

    @property
    def evaluated(self) -> int:
        """Number of weights that were measured."""
        return len(self._by_weights)

    def _measure(self, kept: Iterable[tuple[int, Positions]]) -> None:
        """Measure summaries that are not known, all at once; each is given with its row."""
        new = [pair for pair in dict.fromkeys(kept) if pair[1] not in self._accuracies[pair[0]]]
        cases = CaseList(
            replace(self.cases[row], output=self._locate(row, positions)) for row, positions in new
        )
        metric = SummarizationAccuracy()
        rows = np.zeros((len(cases), metric.width))
        metric.measure_items(ItemCases.group(cases), rows, cases.__getitem__, ("sumaccy",))
        for (row, positions), value in zip(new, metric.score(rows)[:, 0].tolist(), strict=True):
            self._accuracies[row][positions] = value

    def _locate(self, row: int, kept: Positions) -> Summary:
        """Return a summary with positions in the transcript, as ``score`` locates words."""
        utterance, item = self.utterances[row], self.cases[row].item
        words = tuple(utterance.words[position - 1] for position in kept)
        located = kept
        if item.recognized is not None:
            times = utterance.times and tuple(utterance.times[position - 1] for position in kept)
            located = GivenWords(words, times).locate(item).positions
        return Summary(" ".join(words), words, located)


def score_references(
    utterances: Sequence[SpokenUtterance],
    references: Sequence[Case],
    models: SummarizerModels,
    *,
    ratio: float | None = None,
    beam: int | None = None,
) -> ReferencedSpeech:
    """Return utterances with their scores and references.

    Every utterance is a speech of its own: significance counts words within it.

    Parameters
    ----------
    utterances, references
        Utterances and their reference summaries, as ``read_references`` returns them.
    models
        Models of the scores.
    ratio
        Share of the words to keep. By default as many as people keep on average for the item.
    beam
        Arcs per word that the search follows; by default all, and fewer for long utterances.
    """
    if len(utterances) != len(references):
        raise UsageError(
            f"{len(utterances):,} utterances have {len(references):,} references — give one each"
        )
    if not references:
        raise UsageError("there are no utterances — give at least one with references")
    counts = list[int]()
    for utterance, case in zip(utterances, references, strict=True):
        size = len(utterance.words)
        if case.item.recognized is None and utterance.words != case.item.words:
            raise UsageError(
                f"{case.key.item}: the words are not those of the transcript"
                ' — give recognized words as "recognized"'
            )
        kept = sum(
            len(reference.words) for reference in case.references
        )  # rounded as for baselines
        by_people = max(1, round(kept / len(case.references)))
        counts.append(min(size, by_people if ratio is None else count_kept(size, ratio)))
    tables = [
        table
        if table.linguistic is None or table.size > BEAM_WORDS  # too many trigrams to keep
        else replace(table, linguistic=RememberedTrigrams(table.linguistic))
        for table in models.score(utterances, EVERY_SCORE, separate=True)
    ]
    return ReferencedSpeech(
        tuple(utterances), tuple(references), tuple(tables), tuple(counts), beam
    )


# --- Fit -----------------------------------------------------------------------------------------


def fit_weights(
    speech: ReferencedSpeech,
    scores: Sequence[str] | None = None,
    *,
    rows: Ints | None = None,
    seed: int = 0,
) -> ScoreWeights:
    """Fit the weights of scores by coordinate search.

    Parameters
    ----------
    speech
        Utterances with scores and references.
    scores
        Names of the scores to use. By default all that are available.
    rows
        Numbers of the utterances to use. By default all.
    seed
        Seed of the random starts and of the order of the weights.

    Returns
    -------
    ScoreWeights
        Weights from ``WEIGHT_GRID`` with the highest mean SumACCY that was found. Those of other
        scores are 0, and that of the linguistic score is 1.
    """
    used = speech.scores if scores is None else tuple(scores)
    for name in used:
        if name not in SCORE_NAMES:
            raise UsageError(f'unknown score "{name}" — {nearest(name, SCORE_NAMES)}')
    fitted = [name for name in used if name != LINGUISTIC]
    base = restrict_weights(EVERY_SCORE, used)
    rng = np.random.default_rng(seed)
    start = restrict_weights(ScoreWeights(), used)
    starts = [replace(start, linguistic=base.linguistic)]
    for _ in range(RANDOM_STARTS if fitted else 0):
        drawn = rng.choice(WEIGHT_GRID, len(fitted)).tolist()
        starts.append(replace(base, **dict(zip(fitted, drawn, strict=True))))

    def measure(many: Iterable[ScoreWeights]) -> Floats:
        found = speech.measure_weights(many)
        return np.asarray((found if rows is None else found[:, rows]).mean(axis=1))

    best, best_value = starts[0], -np.inf
    for weights in starts:
        found, value = _climb(weights, fitted, measure, rng)
        if value > best_value + LEAST_IMPROVEMENT:
            best, best_value = found, value
    return best


def _climb(
    weights: ScoreWeights,
    names: Sequence[str],
    measure: Callable[[Iterable[ScoreWeights]], Floats],
    rng: np.random.Generator,
) -> tuple[ScoreWeights, float]:
    """Return the weights that a coordinate search finds, and their mean SumACCY."""
    value = float(measure([weights])[0])
    for _ in range(MAX_PASSES):
        before = value
        for name in rng.permutation(names).tolist():
            line = [replace(weights, **{name: number}) for number in WEIGHT_GRID]
            line = [point for point in line if any(asdict(point).values())]  # some score is used
            values = measure(line)
            best = int(values.argmax())
            if values[best] > value + LEAST_IMPROVEMENT:
                weights, value = line[best], float(values[best])
        if value <= before:
            break
    return weights, value


# --- Cross-validation ----------------------------------------------------------------------------


@dataclass(frozen=True)
class TunedWeights:
    """Weights that were fitted to all utterances, and the SumACCY of the method.

    ``accuracy`` is the cross-validated SumACCY: every utterance is summarized with weights that
    were fitted without it. ``fitted_accuracy`` is that of the weights on the utterances to which
    they were fitted, which is optimistic. ``comparisons`` has the SumACCY of the default weights,
    of the linguistic score alone, and of the first and of random words, and ``gains`` the
    differences of the cross-validated SumACCY to them, paired by utterance.
    """

    weights: ScoreWeights
    scores: tuple[str, ...]
    accuracy: Estimate
    fitted_accuracy: float
    comparisons: Mapping[str, Estimate]
    gains: Mapping[str, Estimate]
    fold_weights: tuple[ScoreWeights, ...]
    signature: str


def tune_weights(
    utterances: Sequence[SpokenUtterance],
    references: Sequence[Case],
    models: SummarizerModels,
    *,
    ratio: float | None = None,
    folds: int = DEFAULT_FOLDS,
    seed: int = 0,
    beam: int | None = None,
    progress: Progress = no_progress,
) -> TunedWeights:
    """Fit the weights of all available scores by SumACCY, with cross-validation.

    Parameters
    ----------
    utterances, references
        Utterances and their reference summaries, as ``read_references`` returns them.
    models
        Models of the scores.
    ratio
        Share of the words to keep. By default as many as people keep on average for the item.
    folds
        Number of parts of the cross-validation.
    seed
        Random seed.
    beam
        Arcs per word that the search follows; by default all, and fewer for long utterances.
    progress
        Callback for progress reports: fits done, all fits, and weights that were measured.

    Returns
    -------
    TunedWeights
        Weights and their SumACCY, with intervals from a bootstrap over items.

    Raises
    ------
    UsageError
        If an argument is invalid, there are fewer utterances than folds, or no weight can
        be fitted.

    Examples
    --------
    >>> word = ["the", "very", "old", "bridge", "was", "closed"]
    >>> people = [{"positions": [3, 4, 6]}, {"positions": [1, 4, 5, 6]}]
    >>> records = [{"item": name, "words": word, "references": people} for name in "ab"]
    >>> tuned = tune_weights(*read_references(records), SummarizerModels(), folds=2)
    >>> tuned.scores, tuned.accuracy.n
    (('significance',), 2)
    """
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 2:
        raise UsageError(f"folds must be a whole number of at least 2, got {folds!r}")
    if len(utterances) < folds:
        raise UsageError(
            f"{len(utterances):,} utterances cannot form {folds} parts — give more, or fewer folds"
        )
    speech = score_references(utterances, references, models, ratio=ratio, beam=beam)
    if not {*speech.scores} - {LINGUISTIC}:
        raise UsageError("only linguistic scores are available, so there is no weight to fit")
    order = np.random.default_rng(seed).permutation(len(utterances))
    accuracies = np.zeros(len(utterances))
    fold_weights = list[ScoreWeights]()
    for number, held_out in enumerate(np.array_split(order, folds)):
        rest = np.setdiff1d(order, held_out)
        fold_weights.append(fit_weights(speech, rows=rest, seed=seed))
        accuracies[held_out] = speech.measure_weights(fold_weights[-1:])[0, held_out]
        progress(number + 1, folds + 1, speech.evaluated)
    weights = fit_weights(speech, seed=seed)
    progress(folds + 1, folds + 1, speech.evaluated)
    compared = dict(_compare(speech, seed))
    estimate = partial(estimate_mean, items=speech.items, seed=seed)
    kept = "people" if ratio is None else f"{ratio:g}"
    grid = "+".join(f"{number:g}" for number in WEIGHT_GRID)
    return TunedWeights(
        weights,
        speech.scores,
        estimate(accuracies),
        float(speech.measure_weights([weights]).mean()),
        {name: estimate(values) for name, values in compared.items()},
        {name: estimate(accuracies - values) for name, values in compared.items()},
        tuple(fold_weights),
        f"tune(folds={folds},seed={seed},ratio={kept},grid={grid},items={len(utterances)},"
        f"{models.describe(weights)})|{SummarizationAccuracy().signature}",
    )


def _compare(speech: ReferencedSpeech, seed: int) -> Iterable[tuple[str, Floats]]:
    """Yield what tuned weights are compared with, and its SumACCY by utterance."""
    default = restrict_weights(ScoreWeights(), speech.scores)
    yield DEFAULT_WEIGHTS_NAME, speech.measure_weights([default])[0]
    if LINGUISTIC in speech.scores:
        alone = restrict_weights(EVERY_SCORE, [LINGUISTIC])
        yield "linguistic score only", speech.measure_weights([alone])[0]
    yield "first words", speech.measure(speech.first_words())
    yield "random words", speech.measure(speech.draw_words(seed))


def estimate_mean(
    values: Floats, items: Sequence[str], *, draws: int = BOOTSTRAP_DRAWS, seed: int = 0
) -> Estimate:
    """Return the mean of the values of items, with the interval of a bootstrap over items.

    >>> estimate_mean(np.array([0.5, 0.7, 0.6, 0.5, 0.7]), list("abcde")).value
    0.6
    """
    bootstrap = Bootstrap(draws, seed)
    bootstrap.add(hash_names(list(items)), np.stack([values, np.ones(len(values))], axis=1))
    sums = bootstrap.finish()
    counts = np.array([len(values)]), np.array([0])
    means = sums.draws[:, :1] / sums.draws[:, 1:]
    total = sums.total[:1] / sums.total[1:]
    estimates = bootstrap_estimates(("mean",), total, means, counts, INTERVAL_LEVEL, sums.method)
    return estimates["mean"]


# --- Files ---------------------------------------------------------------------------------------


def format_tuning(tuned: TunedWeights) -> str:
    """Return the weights and figures as lines of text."""
    rows = {"tuned weights, cross-validated": tuned.accuracy, **tuned.comparisons}
    width = max(map(len, rows))
    given = ", ".join(f"{name} {value:g}" for name, value in asdict(tuned.weights).items())
    lines = [f"weights: {given}"]
    for name, row in rows.items():
        lines.append(f"{name:{width}}  SumACCY {row.value:.3f} {_format_interval(row)}")
        if gain := tuned.gains.get(name):
            lines[-1] += f"; tuned weights: {gain.value:+.3f} {_format_interval(gain, '+.3f')}"
    if tuned.gains[DEFAULT_WEIGHTS_NAME].value <= 0:
        lines.append("the tuned weights are not better than the default weights on held-out items")
    lines.append(
        f"{tuned.accuracy.n:,} utterances; {tuned.accuracy.level:.0%} intervals; "
        f"SumACCY on the data of the fit: {tuned.fitted_accuracy:.3f}"
    )
    return "\n".join([*lines, tuned.signature, ""])


def _format_interval(one: Estimate, form: str = ".3f") -> str:
    if not isfinite(one.low):
        return "(too few utterances for an interval)"
    return f"[{one.low:{form}}, {one.high:{form}}]"


def write_weights(tuned: TunedWeights, path: Path) -> None:
    """Write weights with their signature and figures to a JSON file."""
    record = {
        "weights": asdict(tuned.weights),
        "signature": tuned.signature,
        "sumaccy": {
            "cross-validated": _estimate_record(tuned.accuracy),
            "on the data of the fit": tuned.fitted_accuracy,
            **{
                name: _estimate_record(comparison) for name, comparison in tuned.comparisons.items()
            },
        },
        "gains": {name: _estimate_record(gain) for name, gain in tuned.gains.items()},
        "weights of parts": [asdict(weight) for weight in tuned.fold_weights],
    }
    with AtomicFile(path) as file:
        file.write(f"{json.dumps(record, indent=1, ensure_ascii=False)}\n")


def _estimate_record(one: Estimate) -> dict[str, Any]:
    """Return the figures of an estimate; undefined ones are None."""
    figures = {"value": one.value, "low": one.low, "high": one.high}
    numbers = {name: value if isfinite(value) else None for name, value in figures.items()}
    return {**numbers, "level": one.level, "n": one.n, "method": one.method}


def read_weights(path: StrPath) -> ScoreWeights:
    """Return the weights of a file of ``summarizer tune``.

    Raises
    ------
    UsageError
        If the file cannot be read or has no valid weights.
    """
    place = Path(path)
    remedy = "make it with earwitness summarizer tune"
    try:
        record = load_json(place.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{place}: cannot be read: {error.strerror or error}") from None
    except ValueError:  # neither UTF-8 nor JSON
        raise UsageError(f"{place}: not a JSON file of weights — {remedy}") from None
    weights = record.get("weights") if isinstance(record, dict) else None
    if not isinstance(weights, dict):
        raise UsageError(f'{place}: "weights" is missing — {remedy}')
    for name, value in weights.items():
        if name not in SCORE_NAMES:
            raise UsageError(f'{place}: unknown score "{name}" — {nearest(name, SCORE_NAMES)}')
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= 1e300:
            raise UsageError(
                f"{place}: the weight of {name} must be a number of at least 0, got {value!r}"
            )
    if missing := [name for name in SCORE_NAMES if name not in weights]:
        raise UsageError(f'{place}: the weight of "{missing[0]}" is missing — {remedy}')
    return ScoreWeights(**{name: float(value) for name, value in weights.items()})
