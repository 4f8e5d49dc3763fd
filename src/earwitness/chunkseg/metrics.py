"""Metrics of one sample and their means over samples, as in chunkseg.metrics."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.chapters.cases import ChapterCases, check_units, time_notes, time_remarks
from earwitness.chapters.matching import greedy_pairs
from earwitness.chapters.metrics import Chunks, Collar
from earwitness.errors import InputError, Problem, UsageError
from earwitness.stats.arrays import Floats, Ragged
from earwitness.text.alignment import word_errors

# --- Confusion of chunks -------------------------------------------------------------------------


ChunkFlags = NDArray[Any]  # 1 with a boundary, else 0
Sample = Mapping[str, Any]


def binary_precision(pred: ChunkFlags, ref: ChunkFlags) -> float:
    """Return the share of positive chunks of the output that are positive in the reference.

    >>> binary_precision(np.array([1, 1, 0]), np.array([0, 1, 1]))
    0.5
    """
    return _ratio(*_true_and_all(pred, ref, pred))


def binary_recall(pred: ChunkFlags, ref: ChunkFlags) -> float:
    """Return the share of positive chunks of the reference that are positive in the output.

    >>> binary_recall(np.array([1, 1, 0]), np.array([0, 1, 0]))
    1.0
    """
    return _ratio(*_true_and_all(pred, ref, ref))


def binary_accuracy(pred: ChunkFlags, ref: ChunkFlags) -> float:
    """Return the share of chunks on which both sides agree.

    >>> binary_accuracy(np.array([1, 1, 0, 0]), np.array([0, 1, 0, 0]))
    0.75
    """
    return _ratio(int(np.sum(np.asarray(pred, bool) == np.asarray(ref, bool))), len(pred))


def binary_specificity(pred: ChunkFlags, ref: ChunkFlags) -> float:
    """Return the share of negative chunks of the reference that are negative in the output.

    >>> binary_specificity(np.array([1, 1, 0]), np.array([0, 1, 0]))
    0.5
    """
    negative = ~np.asarray(ref, bool)
    return _ratio(*_true_and_all(~np.asarray(pred, bool), negative, negative))


def _true_and_all(pred: ChunkFlags, ref: ChunkFlags, whole: ChunkFlags) -> tuple[int, int]:
    both = np.asarray(pred, bool) & np.asarray(ref, bool)
    return int(np.sum(both)), int(np.sum(np.asarray(whole, bool)))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


# --- Metrics of one sample -----------------------------------------------------------------------
# In plain Python: a single sample is too small for arrays to be fast. The tests compare the values
# with those of many samples, which are computed by the metrics of chapters.


GIVE_UP_SHIFT_CHUNKS = 4  # a shift this far costs as much as a deletion and an insertion


def compute_metrics(pred: ChunkFlags, ref: ChunkFlags) -> dict[str, float]:
    """Return the metrics of the chunks of one sample.

    Parameters
    ----------
    pred
        Zeros and ones of the output, one per chunk.
    ref
        Zeros and ones of the reference, of the same length.

    Returns
    -------
    dict
        Values by chunkseg's keys, from ``precision`` to ``reference/num_segments``.

    Raises
    ------
    UsageError
        If the lengths differ.

    Examples
    --------
    >>> compute_metrics(np.array([0, 1, 0, 0]), np.array([0, 0, 1, 0]))["boundary_similarity"]
    0.5
    """
    if len(pred) != len(ref):
        raise UsageError(f"pred has {len(pred)} chunks, ref {len(ref)} — both must have the same")
    output, reference = ({*np.flatnonzero(side).tolist()} for side in (pred, ref))
    return chunk_values(output, reference, len(ref))


def chunk_values(output: set[int], reference: set[int], chunks: int) -> dict[str, float]:
    """Return the metrics of one sample, from the chunks that have a boundary."""
    both = len(output & reference)
    false_alarms, misses = len(output) - both, len(reference) - both
    correct = chunks - false_alarms - misses
    pk, window_diff = _window_errors(output, reference, chunks)
    return {
        "precision": _ratio(both, len(output)),
        "recall": _ratio(both, len(reference)),
        "accuracy": _ratio(correct, chunks),
        "specificity": _ratio(correct - both, chunks - len(reference)),
        "pk": pk,
        "window_diff": window_diff,
        "boundary_similarity": _boundary_similarity(output, reference),
        "ghd": float(_hamming_distance(output, reference)),
        "num_segments": len(output),
        "reference/num_segments": len(reference),
    }


def window_chunks(chunks: int, reference_boundaries: int) -> int:
    """Return half the mean reference segment in chunks, rounded half to even, at least 2."""
    return max(2, round((chunks + 1) / (2 * (reference_boundaries + 1))))


def _window_errors(output: set[int], reference: set[int], chunks: int) -> tuple[float, float]:
    """Return Pk and WindowDiff; between two changes, all windows are counted at once."""
    width = window_chunks(chunks, len(reference))
    windows = chunks + 1 - width
    if windows <= 0:
        return 0.0, float(output != reference)
    changes = []  # window, change of the boundaries of the output and of the reference inside
    for places, mine, theirs in ((output, 1, 0), (reference, 0, 1)):
        for place in places:
            first, after = max(place - width + 1, 0), min(place + 1, windows)
            changes += [(first, mine, theirs), (after, -mine, -theirs)]
    pk = difference = n_output = n_reference = before = 0
    for window, output_change, reference_change in sorted(changes):
        if n_output != n_reference:
            difference += window - before
            if not (n_output and n_reference):
                pk += window - before
        before = window
        n_output += output_change
        n_reference += reference_change
    return pk / windows, difference / windows


def _boundary_similarity(output: set[int], reference: set[int]) -> float:
    """Return Fournier's B: 1 if both sides are empty, 0 if one side is."""
    single, both = sorted(output ^ reference), len(output & reference)
    swaps, last = 0, -2
    for left, right in pairwise(single):
        if right - left == 1 and left != last and (left in output) != (right in output):
            swaps, last = swaps + 1, right
    total = len(single) - swaps + both
    return (both + swaps / 2) / total if total else 1.0


def _hamming_distance(output: set[int], reference: set[int]) -> int:
    """Return the generalized Hamming distance: 2 per insertion or deletion, 1 per chunk of shift.

    ``costs`` has the lowest cost of every balance: the number of boundaries of the output
    (positive) or of the reference (negative) that wait for one of the other side, which costs 1
    per chunk.
    """
    costs, before = {0: 0}, 0
    for place in sorted(output | reference):
        gap = place - before
        before = place
        if gap >= GIVE_UP_SHIFT_CHUNKS:
            costs = {0: min(cost + 2 * abs(balance) for balance, cost in costs.items())}
        elif len(costs) > 1:
            costs = {balance: cost + gap * abs(balance) for balance, cost in costs.items()}
        if place in output and place in reference:
            costs = _cheapest(costs, ((0, 0), (1, 2), (-1, 2)))
        else:
            costs = _cheapest(costs, ((0, 2), (1 if place in output else -1, 0)))
    return min(cost + 2 * abs(balance) for balance, cost in costs.items())


def _cheapest(costs: Mapping[int, int], steps: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Return costs after an event; ``steps`` are possible changes of the balance and their cost."""
    least = dict[int, int]()
    for balance, cost in costs.items():
        for step, price in steps:
            after, total = balance + step, cost + price
            if abs(after) < GIVE_UP_SHIFT_CHUNKS and total < least.get(after, total + 1):
                least[after] = total
    return least


def collar_boundary_f1(
    ref_boundaries: Sequence[float], pred_boundaries: Sequence[float], collar: float
) -> dict[str, float]:
    """Return precision, recall and F1 of boundaries matched within a collar, closest first.

    Parameters
    ----------
    ref_boundaries
        Boundaries of the reference in seconds.
    pred_boundaries
        Boundaries of the output in seconds.
    collar
        Largest distance between matched boundaries in seconds.

    Returns
    -------
    dict
        ``collar_precision``, ``collar_recall`` and ``collar_f1``.

    Examples
    --------
    >>> collar_boundary_f1([10.0, 20.0], [12.0], 3.0)["collar_recall"]
    0.5
    """
    if not ref_boundaries or not pred_boundaries:
        value = float(not ref_boundaries and not pred_boundaries)
        return {f"collar_{name}": value for name in ("precision", "recall", "f1")}
    matches = len(greedy_pairs(pred_boundaries, ref_boundaries, collar))
    precision, recall = matches / len(pred_boundaries), matches / len(ref_boundaries)
    f1 = _ratio(2 * precision * recall, precision + recall)
    return {"collar_precision": precision, "collar_recall": recall, "collar_f1": f1}


def compute_wer(
    hypothesis_text: str, reference_text: str, *, exact: bool = False
) -> dict[str, float]:
    """Return the word error rate of one sample, and the counts of which a batch has the sum.

    Parameters
    ----------
    hypothesis_text
        Text of the output.
    reference_text
        Text of the reference.
    exact
        Whether ``_wer_ref_len`` includes inserted words, as in chunkseg.

    Returns
    -------
    dict
        ``wer``, ``_wer_errors`` and ``_wer_ref_len``.

    Examples
    --------
    >>> compute_wer("a b c d", "a b")
    {'wer': 1.0, '_wer_errors': 2, '_wer_ref_len': 2}
    """
    counts = word_errors(hypothesis_text, reference_text)
    rate = counts.errors / counts.words if counts.words else float(counts.errors)  # as in jiwer
    length = counts.words + (counts.insertions if exact else 0)
    return {"wer": rate, "_wer_errors": counts.errors, "_wer_ref_len": length}


# --- Boundary metrics of many samples ------------------------------------------------------------


VALUES_CHUNKSEG_LACKS = ("f1", "f1_micro", "f1_sample")
REQUIRED_FIELDS = ("hypothesis", "reference", "duration")
SCORE_UNIT_OPTION = "earwitness score --unit"
SAMPLES_PER_KERNEL_CALL = 500  # samples that fit into the cache of a core


@lru_cache(maxsize=64)
def boundary_metrics(chunk_size: float, collar: float) -> tuple[Chunks, Collar]:
    """Return the metrics of chunks and collars; UsageError if a parameter is invalid."""
    return Chunks(chunk_size), Collar(collar)


def boundary_table(
    samples: Sequence[Sample], chunk_size: float, collar: float, *, exact: bool = False
) -> dict[str, Floats]:
    """Return values by name, one number per sample.

    With ``exact``, NaN is ignored, and a sample with boundaries only after its end has none.
    """
    cases = _chapter_cases(samples, exact=exact)
    starts = range(0, len(cases), SAMPLES_PER_KERNEL_CALL)
    table = dict[str, Floats]()
    for metric in boundary_metrics(chunk_size, collar):
        timed = _inside_chunks(cases, chunk_size) if exact and isinstance(metric, Chunks) else cases
        rows = [
            metric.measure_many(timed[start : start + SAMPLES_PER_KERNEL_CALL]) for start in starts
        ]
        values = metric.score(np.concatenate(rows)) if rows else np.empty((0, len(metric.values)))
        names = [value.name for value in metric.values]
        table |= {n: values[:, i] for i, n in enumerate(names) if n not in VALUES_CHUNKSEG_LACKS}
    return table


def _inside_chunks(cases: ChapterCases, chunk_size: float) -> ChapterCases:
    """Return the cases without boundaries after their last complete chunk."""
    end = np.floor(cases.duration / chunk_size) * chunk_size
    output, reference = (
        side.where(side.values <= end[side.rows]) for side in (cases.output, cases.reference)
    )
    return replace(cases, output=output, reference=reference)


def time_warnings(samples: Sequence[Any]) -> Iterator[str]:
    """Yield warnings about times outside the samples; raise UsageError if most are.

    Invalid samples and outputs that are transcripts are left out.
    """
    timed = [
        {**sample, "hypothesis": []}
        if isinstance(sample, Mapping) and isinstance(sample.get("hypothesis"), str)
        else sample
        for sample in samples
    ]
    cases = _chapter_cases([sample for sample in timed if not any(_sample_faults(sample))])
    remarks = time_remarks(cases, references=False) + time_remarks(cases, references=True)
    check_units(remarks, {}, SCORE_UNIT_OPTION)
    yield from time_notes(remarks, {}, SCORE_UNIT_OPTION)


def _chapter_cases(samples: Sequence[Sample], *, exact: bool = False) -> ChapterCases:
    try:
        duration = np.array([sample["duration"] for sample in samples])
        output = Ragged.from_rows([sample["hypothesis"] for sample in samples])
        reference = Ragged.from_rows([sample["reference"] for sample in samples])
    except (TypeError, KeyError, ValueError) as error:
        raise _sample_error(samples, error) from error
    is_flat = duration.ndim == 1 and duration.dtype.kind in "fiub"
    if len(duration) and (not is_flat or np.isnan(duration).any()):
        raise _sample_error(samples, ValueError("durations must be numbers"))
    if exact:
        output, reference = (side.where(side.values > 0) for side in (output, reference))
    elif np.isnan(output.values).any() or np.isnan(reference.values).any():
        raise _sample_error(samples, ValueError("boundaries must be numbers"))
    blank = [""] * len(samples)
    return ChapterCases(blank, blank, duration.astype(np.float64), output, reference)


def _sample_error(samples: Sequence[Any], error: Exception) -> Exception:
    """Return an error with the faults of all samples."""
    problems = [
        Problem(f"sample {index}", 0, field, message)
        for index, sample in enumerate(samples)
        for field, message in _sample_faults(sample)
    ]
    return InputError(problems) if problems else error


def _sample_faults(sample: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(sample, Mapping):
        yield "", f"must be an object, got {type(sample).__name__}"
        return
    for field in REQUIRED_FIELDS:
        if field not in sample:
            yield field, "missing"
        elif field == "duration":
            if not _is_number(sample[field]) or math.isnan(sample[field]):
                yield field, f"must be a number, got {sample[field]!r}"
        elif not isinstance(sample[field], Iterable):
            yield field, f"must be a list of numbers, got {sample[field]!r}"
        else:
            for place, time in enumerate(sample[field]):
                if not _is_number(time) or math.isnan(time):
                    yield f"{field}[{place}]", f"must be a number, got {time!r}"


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float | np.number | np.bool_)
    return is_number and (not isinstance(value, int) or abs(value) <= sys.float_info.max)


# --- Means over samples --------------------------------------------------------------------------


COUNT_KEYS = ("num_segments", "reference/num_segments")
PICKS_IN_MEMORY = 1_000_000  # at a time


class ChunksegResults(dict[str, dict[str, float]]):
    """Results by key; ``model`` and ``signature`` describe the BERTScore of titles, if compared.

    ``failed`` is the number of samples that could not be aligned with their audio.
    """

    model: str = ""
    signature: str = ""
    failed: int = 0

    def to_json(self) -> dict[str, dict[str, float | str]]:
        """Return the results as they are written to JSON.

        Keys of BERTScore include the model; all keys include ``failed`` if it is not 0.
        """
        about = {"model": self.model, "signature": self.signature}
        failed = {"failed": self.failed} if self.failed else {}
        return {
            name: {**value, **failed, **(about if self.model and "_bs_" in name else {})}
            for name, value in self.items()
        }


def bootstrap_confidence_interval(
    data: Any,
    statistic_func: Callable[[Any], Any] = np.mean,
    alpha: float = 0.05,
    num_iterations: int = 100,
) -> tuple[float, float, float, float]:
    """Return the bootstrap interval of a statistic, from NumPy's global generator.

    Parameters
    ----------
    data
        Numbers.
    statistic_func
        Function of an array that returns a number.
    alpha
        Probability outside the interval.
    num_iterations
        Number of draws.

    Returns
    -------
    tuple
        Standard deviation of the draws, both ends of the interval, and half its length.

    Examples
    --------
    >>> bootstrap_confidence_interval([0.5, 0.5])
    (0.0, 0.5, 0.5, 0.0)
    """
    values = np.asarray(data)
    if statistic_func is np.mean:
        drawn = _draw_means(values, num_iterations)
    else:
        picks = (_draw_picks(len(values), 1)[0] for _ in range(num_iterations))
        drawn = np.array([statistic_func(values[picked]) for picked in picks], np.float64)
    low, high = np.percentile(drawn, [100 * alpha / 2, 100 * (1 - alpha / 2)]).tolist()
    return float(np.std(drawn)), low, high, (high - low) / 2


def f1_score_with_std_dev(
    p: float, r: float, sigma_p: float, sigma_r: float
) -> tuple[float, float]:
    """Return the F1 of precision and recall, and its sigma by first-order propagation.

    >>> f1_score_with_std_dev(0.5, 0.5, 0.0, 0.0)
    (0.5, 0.0)
    """
    if p + r == 0:
        return 0.0, 0.0
    f1 = 2 * (p * r) / (p + r)
    by_p = 2 * r / (p + r) - 2 * p * r / (p + r) ** 2
    by_r = 2 * p / (p + r) - 2 * p * r / (p + r) ** 2
    return f1, math.sqrt(by_p**2 * sigma_p**2 + by_r**2 * sigma_r**2)


def aggregate_metrics(
    all_metrics: Iterable[Mapping[str, float]], num_iterations: int = 100
) -> ChunksegResults:
    """Return means over samples with bootstrap intervals; a key counts where a sample has it.

    Parameters
    ----------
    all_metrics
        Values of each sample, by key.
    num_iterations
        Number of draws for each interval.

    Returns
    -------
    dict
        ``mean``, ``std``, ``ci_lower`` and ``ci_upper`` by key, in order of appearance. The word
        error rate comes first and is that of all words; ``f1`` comes last.

    Examples
    --------
    >>> aggregate_metrics([{"pk": 0.25}, {"pk": 0.75}])["pk"]["mean"]
    0.5
    """
    columns = dict[str, list[float]]()
    for row in all_metrics:
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    errors, words = columns.pop("_wer_errors", []), columns.pop("_wer_ref_len", [])
    columns.pop("wer", None)
    aggregated = aggregate(
        {name: np.array(column) for name, column in columns.items()}, num_iterations
    )
    results = ChunksegResults()
    if words:
        micro = sum(errors) / sum(words) if sum(words) else 0.0
        results["wer"] = {"mean": micro, "std": 0.0, "ci_lower": micro, "ci_upper": micro}
    results.update(aggregated)
    return results


def aggregate(values: Mapping[str, Floats], draws: int) -> ChunksegResults:
    """Return one entry per key, in the order of the keys, followed by f1."""
    results = ChunksegResults()
    for name, column in values.items():
        mean = float(np.mean(column))
        if name in COUNT_KEYS:
            results[name] = _sigma_band(mean, float(np.std(column)))
        else:
            drawn = _draw_means(column, draws)
            low, high = np.percentile(drawn, [2.5, 97.5]).tolist()
            std = float(np.std(drawn))
            results[name] = {"mean": mean, "std": std, "ci_lower": low, "ci_upper": high}
    if {"precision", "recall"} <= results.keys():
        sides = results["precision"], results["recall"]
        parts = [side[name] for name in ("mean", "std") for side in sides]
        results["f1"] = _sigma_band(*f1_score_with_std_dev(*parts))
    return results


def _draw_means(values: Floats, draws: int) -> Floats:
    """Return means of bootstrap samples, from the generator that chunkseg uses."""
    n = len(values)
    rows = max(1, PICKS_IN_MEMORY // n)
    blocks = [min(rows, draws - done) for done in range(0, draws, rows)]
    return np.concatenate([values[_draw_picks(n, block)].mean(axis=1) for block in blocks])


def _draw_picks(n: int, draws: int) -> NDArray[np.int64]:
    return np.random.randint(0, n, (draws, n))  # noqa: NPY002


def _sigma_band(mean: float, std: float) -> dict[str, float]:
    return {"mean": mean, "std": std, "ci_lower": mean - std, "ci_upper": mean + std}
