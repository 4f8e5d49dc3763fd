"""A drop-in for the ``chunkseg`` package: change the import, keep the code.

Same functions, keys, order and aggregation; under a seed of NumPy's global generator the same
numbers to the last bit, a great deal faster. Where chunkseg 0.4.0 is wrong (windows of 256 chunks
and more, single-chunk samples) the right value is given. ``earwitness.score`` gives better
intervals; this module exists so that published numbers can be reproduced.

>>> evaluate([120.5, 300.0], [125.0, 310.0], 600.0)["collar_f1"]
0.0
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.data import Case
from earwitness.errors import EarwitnessWarning, InputError, NotYet, Problem, UsageError
from earwitness.metrics import METRICS
from earwitness.timeline import ChapterCases, Ragged

__all__ = ["compute_title_scores", "evaluate", "evaluate_batch", "print_results"]

Floats = NDArray[np.float64]
Titles = Sequence[tuple[str, float]]
COUNTS = ("num_segments", "reference/num_segments")
OURS = ("f1", "f1_micro", "f1_sample")
REQUIRED = ("hypothesis", "reference", "duration")
KNOWN = {*REQUIRED, "id", "audio", "format"}
KNOWN |= {"reference_transcript", "reference_titles", "hyp_titles"}
DRAWN = 1_000_000  # picks in memory at a time
AT_ONCE = 500  # samples per kernel call: what fits into a core's cache


def evaluate(
    hypothesis: Iterable[float] | str,
    reference: Iterable[float],
    duration: float,
    chunk_size: float = 6.0,
    *,
    audio: str | None = None,
    format: str | None = None,
    custom_pattern: str | None = None,
    timestamp_format: str | None = None,
    src_lang: str = "eng",
    tgt_lang: str = "en",
    fa_backend: str = "mms_fa",
    force_alignment: bool = False,
    reference_transcript: str | None = None,
    reference_titles: Titles | None = None,
    hyp_titles: Titles | None = None,
    tolerance: float = 5.0,
    collar: float = 3.0,
) -> dict[str, float]:
    """The metrics of one sample; empty if it is shorter than one chunk."""
    del audio, format, custom_pattern, timestamp_format, src_lang, tgt_lang, fa_backend
    del force_alignment, reference_transcript, hyp_titles, tolerance
    if reference_titles is not None:
        raise _titles_later()
    sample = {"hypothesis": hypothesis, "reference": reference, "duration": duration}
    table = _table([sample], chunk_size, collar)
    if np.isnan(table["precision"][0]):
        return {}
    return {name: _plain(name, column[0]) for name, column in table.items()}


def evaluate_batch(
    samples: Iterable[Mapping[str, Any]],
    chunk_size: float = 6.0,
    *,
    format: str | None = None,
    custom_pattern: str | None = None,
    timestamp_format: str | None = None,
    src_lang: str = "eng",
    tgt_lang: str = "en",
    fa_backend: str = "mms_fa",
    num_bootstrap: int = 100,
    force_alignment: bool = False,
    wer: bool = False,
    titles: bool = False,
    tolerance: float = 5.0,
    collar: float = 3.0,
) -> dict[str, dict[str, float]]:
    """Means over samples with chunkseg's own intervals, from NumPy's global generator."""
    del format, custom_pattern, timestamp_format, src_lang, tgt_lang, fa_backend
    del force_alignment, tolerance
    if wer:
        raise NotYet("WER is not computed yet — leave out wer, or use chunkseg for it")
    if titles:
        raise _titles_later()
    if num_bootstrap < 1:
        raise UsageError(f"num_bootstrap must be 1 or more, got {num_bootstrap}")
    samples = list(samples)
    table = _table(samples, chunk_size, collar)
    _report_unknown(samples)
    return _aggregate(table, num_bootstrap)


def compute_title_scores(*args: Any, **kwargs: Any) -> dict[str, float]:
    """Titles are not scored yet."""
    del args, kwargs
    raise _titles_later()


def print_results(results: Mapping[str, Mapping[str, float]]) -> None:
    """One line a key, in per cent except for the counts."""
    if not results:
        print("No results to display.")
    for name, value in results.items():
        scale = 1 if name in COUNTS else 100
        print(f"{name}: {round(value['mean'] * scale, 2)} ± {round(value['std'] * scale, 2)}")


def _titles_later() -> NotYet:
    return NotYet("titles are not scored yet — leave them out, or use chunkseg for them")


def _plain(name: str, value: float) -> float:
    return int(value) if name in COUNTS else float(value)


def _table(
    samples: Sequence[Mapping[str, Any]], chunk_size: float, collar: float
) -> dict[str, Floats]:
    """Values by name, one number a sample."""
    cases = _cases(samples)
    metrics = (METRICS["chunks"](chunk_size), METRICS["collar"](collar))  # type: ignore[call-arg]
    starts = range(0, len(cases), AT_ONCE)
    table: dict[str, Floats] = {}
    for metric in metrics:
        rows = [metric.measure_many(cases[start : start + AT_ONCE]) for start in starts]
        values = metric.score(np.concatenate(rows)) if rows else np.empty((0, len(metric.values)))
        names = [value.name for value in metric.values]
        table |= {n: values[:, i] for i, n in enumerate(names) if n not in OURS}
    return table


def _cases(samples: Sequence[Mapping[str, Any]]) -> Sequence[Case]:
    try:
        duration = np.array([sample["duration"] for sample in samples])
        output = Ragged.of([sample["hypothesis"] for sample in samples])
        reference = Ragged.of([sample["reference"] for sample in samples])
    except (TypeError, KeyError, ValueError) as error:
        raise _trouble(samples, error) from error
    if len(duration) and (duration.dtype.kind not in "fiub" or np.isnan(duration).any()):
        raise _trouble(samples, ValueError("durations must be numbers"))
    blank = [""] * len(samples)
    return ChapterCases(blank, blank, duration.astype(np.float64), output, reference)


def _trouble(samples: Sequence[Any], error: Exception) -> Exception:
    """Every sample's faults in words; transcripts are a matter of their own."""
    good = [sample for sample in samples if isinstance(sample, Mapping)]
    if any(isinstance(sample.get("hypothesis"), str) for sample in good):
        return NotYet("transcripts are not read yet — give the hypothesis as boundary times")
    problems = [
        Problem(f"sample {index}", 0, field, message)
        for index, sample in enumerate(samples)
        for field, message in _faults(sample)
    ]
    return InputError(problems) if problems else error


def _faults(sample: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(sample, Mapping):
        yield "", f"must be an object, got {type(sample).__name__}"
        return
    for field in REQUIRED:
        if field not in sample:
            yield field, "missing"
        elif field == "duration":
            if not _is_number(sample[field]) or math.isnan(sample[field]):
                yield field, f"must be a number, got {sample[field]!r}"
        elif not isinstance(sample[field], Iterable):
            yield field, f"must be a list of numbers, got {sample[field]!r}"
        else:
            for place, time in enumerate(sample[field]):
                if not _is_number(time):
                    yield f"{field}[{place}]", f"must be a number, got {time!r}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number | np.bool_)


def _report_unknown(samples: Sequence[Mapping[str, Any]]) -> None:
    unknown = Counter(field for sample in samples for field in sample.keys() - KNOWN)
    if unknown:
        listed = ", ".join(f"{field} ({count:,}×)" for field, count in sorted(unknown.items()))
        warnings.warn(f"ignored unknown fields: {listed}", EarwitnessWarning, stacklevel=3)


def _aggregate(table: dict[str, Floats], draws: int) -> dict[str, dict[str, float]]:
    defined = ~np.isnan(table["precision"])
    if left_out := int((~defined).sum()):
        message = f"{left_out:,} of {len(defined):,} samples are shorter than one chunk: left out"
        warnings.warn(f"{message}, as chunkseg does", EarwitnessWarning, stacklevel=3)
    if not defined.any():
        return {}
    kept = {name: column[defined] for name, column in table.items()}
    drawn = {name: _draw(column, draws) for name, column in kept.items() if name not in COUNTS}
    lows, highs = np.percentile(list(drawn.values()), [2.5, 97.5], axis=1)
    ends = dict(zip(drawn, zip(lows.tolist(), highs.tolist(), strict=True), strict=True))
    results = {}
    for name, column in kept.items():
        mean = float(np.mean(column))
        if name in COUNTS:
            results[name] = _band(mean, float(np.std(column)))
        else:
            std, (low, high) = float(np.std(drawn[name])), ends[name]
            results[name] = {"mean": mean, "std": std, "ci_lower": low, "ci_upper": high}
    results["f1"] = _f1(results["precision"], results["recall"])
    return results


def _draw(values: Floats, draws: int) -> Floats:
    """Means of draws with replacement, from the generator that chunkseg draws from."""
    n = len(values)
    rows = max(1, DRAWN // n)
    blocks = [min(rows, draws - done) for done in range(0, draws, rows)]
    picked = (np.random.randint(0, n, (block, n)) for block in blocks)  # noqa: NPY002
    return np.concatenate([values[picks].mean(axis=1) for picks in picked])


def _band(mean: float, std: float) -> dict[str, float]:
    return {"mean": mean, "std": std, "ci_lower": mean - std, "ci_upper": mean + std}


def _f1(precision: Mapping[str, float], recall: Mapping[str, float]) -> dict[str, float]:
    """F1 of the means, with one sigma by first-order propagation."""
    p, r = precision["mean"], recall["mean"]
    if p + r == 0:
        return _band(0.0, 0.0)
    f1 = 2 * (p * r) / (p + r)
    by_p = 2 * r / (p + r) - 2 * p * r / (p + r) ** 2
    by_r = 2 * p / (p + r) - 2 * p * r / (p + r) ** 2
    return _band(f1, math.sqrt(by_p**2 * precision["std"] ** 2 + by_r**2 * recall["std"] ** 2))
