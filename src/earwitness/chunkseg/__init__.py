"""Drop-in replacement for the chunkseg package.

Functions, keys, order and aggregation are the same. With a seed of NumPy's global generator, the
numbers are identical to the last bit, and computed much faster. In the cases where chunkseg 0.4.0
is wrong, the correct value is returned: windows of 256 chunks or more, samples of a single chunk,
titles of transcripts that do not start at 0, the denominator of the WER of a batch, and transcripts
without words, which chunkseg leaves out of it. Headings that cannot be parsed cause a warning and
are ignored; chunkseg treats them as text.

Use ``earwitness.score`` for better confidence intervals; this module exists to reproduce published
numbers.

>>> evaluate([120.5, 300.0], [125.0, 310.0], 600.0)["collar_f1"]
0.0
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from earwitness.chunkseg.boundaries import REQUIRED_FIELDS, boundary_table
from earwitness.chunkseg.means import COUNT_KEYS, ChunksegResults, aggregate
from earwitness.chunkseg.texts import (
    TextSettings,
    TitlePairs,
    output_titles,
    title_scores,
    zero_title_scores,
)
from earwitness.errors import EarwitnessWarning, UsageError
from earwitness.stats.arrays import Floats
from earwitness.text.alignment import word_errors
from earwitness.text.transcripts import Transcript

__all__ = ["compute_title_scores", "evaluate", "evaluate_batch", "print_results"]

Titles = Sequence[tuple[str, float]]
KNOWN_FIELDS = {*REQUIRED_FIELDS, "id", "audio", "format", "meta"}
KNOWN_FIELDS |= {"reference_transcript", "reference_titles", "hyp_titles"}


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
    lang: str | None = None,
) -> dict[str, float]:
    """Return the metrics of one sample; empty if it is shorter than one chunk.

    Parameters
    ----------
    hypothesis
        Boundaries in seconds, or a transcript with chapter marks.
    reference
        Boundaries in seconds.
    duration
        Duration in seconds.
    chunk_size
        Length of a chunk in seconds.
    audio, src_lang, fa_backend
        Accepted for compatibility; aligning text with audio is not supported.
    format
        Chapter format of a transcript; required if ``hypothesis`` is a text.
    custom_pattern, timestamp_format
        Options of the formats ``"custom"`` and ``"custom_ts"``.
    tgt_lang, lang
        Language of titles.
    force_alignment
        Whether to ignore times in the transcript; not supported.
    reference_transcript
        Transcript for the word error rate.
    reference_titles, hyp_titles
        Titles with start times.
    tolerance
        Largest time difference between matched titles in seconds.
    collar
        Largest distance between matched boundaries in seconds.

    Returns
    -------
    dict
        Values by chunkseg's keys.

    Raises
    ------
    UsageError
        If an argument is invalid.
    MissingFeature
        If the text would have to be aligned with the audio.
    """
    del src_lang, fa_backend
    sample = {
        "hypothesis": hypothesis,
        "reference": reference,
        "duration": duration,
        "audio": audio,
        "reference_transcript": reference_transcript,
        "reference_titles": reference_titles,
        "hyp_titles": hyp_titles,
    }
    setting = TextSettings(
        format, custom_pattern, timestamp_format, lang or tgt_lang, force_alignment, tolerance
    )
    titled = reference_titles is not None
    (row,), _ = _sample_rows([sample], [setting], chunk_size, collar, wer=True, titles=titled)
    row.pop("_wer_errors", None)
    row.pop("_wer_words", None)
    return {name: _plain_number(name, value) for name, value in row.items()}


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
    lang: str | None = None,
) -> dict[str, dict[str, float]]:
    """Return means over samples with chunkseg's intervals, from NumPy's global generator.

    Parameters
    ----------
    samples
        Mappings with the arguments of ``evaluate`` as keys.
    num_bootstrap
        Number of bootstrap samples.
    wer
        Whether to compute word error rates.
    titles
        Whether to compare titles.

    Other parameters are those of ``evaluate``.

    Returns
    -------
    dict
        Mean, standard deviation and interval by key.

    Raises
    ------
    InputError
        If samples are invalid.
    UsageError
        If an argument is invalid.
    """
    del src_lang, fa_backend
    if num_bootstrap < 1:
        raise UsageError(f"num_bootstrap must be 1 or more, got {num_bootstrap}")
    samples = list(samples)
    _report_unknown(samples)
    if not (wer or titles or any(_is_text(sample) for sample in samples)):
        return aggregate(
            _drop_undefined(boundary_table(samples, chunk_size, collar)), num_bootstrap
        )
    shared = (custom_pattern, timestamp_format, lang or tgt_lang, force_alignment, tolerance)
    settings = [TextSettings(format or sample.get("format"), *shared) for sample in samples]
    rows, model = _sample_rows(samples, settings, chunk_size, collar, wer=wer, titles=titles)
    _report_left_out(sum(not row for row in rows), len(rows))
    return _collect_results([row for row in rows if row], num_bootstrap, model)


def compute_title_scores(
    hyp_titles: TitlePairs,
    ref_titles: TitlePairs,
    duration: float | None = None,
    tolerance: float = 5.0,
    lang: str = "en",
) -> dict[str, float]:
    """Return the title metrics of one sample: as chunkseg 0.4.0 with a duration, else as 0.3.4.

    The third positional argument is the duration, unless the fourth is a language, as in 0.3.4.
    """
    if isinstance(tolerance, str):
        duration, tolerance, lang = None, 5.0 if duration is None else duration, tolerance
    (scores,), _ = title_scores([(hyp_titles, ref_titles, duration)], tolerance, lang)
    return scores


def print_results(results: Mapping[str, Mapping[str, float]]) -> None:
    """Print one line per key, in per cent except for counts, and the model for titles, if any."""
    if not results:
        print("No results to display.")
    for name, value in results.items():
        scale = 1 if name in COUNT_KEYS else 100
        print(f"{name}: {round(value['mean'] * scale, 2)} ± {round(value['std'] * scale, 2)}")
    if isinstance(results, ChunksegResults) and results.model:
        print(f"model for titles: {results.model}")


def _sample_rows(
    samples: Sequence[Mapping[str, Any]],
    settings: Sequence[TextSettings],
    chunk_size: float,
    collar: float,
    *,
    wer: bool,
    titles: bool,
) -> tuple[list[dict[str, float]], str]:
    """Return chunkseg's keys of every sample; none for a sample shorter than one chunk."""
    transcripts: list[Transcript | None] = [None] * len(samples)
    timed_samples = list(samples)
    for place, (sample, setting) in enumerate(zip(samples, settings, strict=True)):
        if _is_text(sample):
            parsed = setting.transcript(sample["hypothesis"], f"sample {place}")
            times = setting.times(parsed, sample.get("audio"))
            transcripts[place], timed_samples[place] = parsed, {**sample, "hypothesis": times}
    table = boundary_table(timed_samples, chunk_size, collar)
    is_defined = ~np.isnan(table["precision"])
    rows: list[dict[str, float]] = [
        {name: float(column[place]) for name, column in table.items()} if is_defined[place] else {}
        for place in range(len(samples))
    ]
    if wer:
        for row, sample, transcript in zip(rows, samples, transcripts, strict=True):
            if row and transcript is not None and sample.get("reference_transcript") is not None:
                row |= _word_error_row(transcript.text, sample["reference_transcript"])
    model = _add_titles(rows, samples, transcripts, settings) if titles else ""
    return rows, model


def _word_error_row(text: str, reference: str) -> dict[str, float]:
    counts = word_errors(text, reference)
    rate = counts.errors / counts.words if counts.words else float(counts.errors)  # as in jiwer
    return {"wer": rate, "_wer_errors": counts.errors, "_wer_words": counts.words}


def _add_titles(
    rows: list[dict[str, float]],
    samples: Sequence[Mapping[str, Any]],
    transcripts: Sequence[Transcript | None],
    settings: Sequence[TextSettings],
) -> str:
    """Add title keys to all samples with reference titles, and return the name of the model."""
    compared = []
    for place, (row, sample) in enumerate(zip(rows, samples, strict=True)):
        if not row or sample.get("reference_titles") is None:
            continue
        titles = output_titles(sample, transcripts[place])
        if titles:
            compared.append((place, (titles, sample["reference_titles"], sample["duration"])))
        else:
            row |= zero_title_scores()
    if not compared:
        return ""
    setting = settings[0]
    sample_scores, model = title_scores(
        [pair for _, pair in compared], setting.tolerance, setting.tgt_lang
    )
    for (place, _), scores in zip(compared, sample_scores, strict=True):
        rows[place] |= scores
    return model


def _collect_results(rows: list[dict[str, float]], draws: int, model: str) -> ChunksegResults:
    """Return values by key in order of appearance; the WER over all words comes first."""
    if not rows:
        return ChunksegResults()
    columns: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    errors, words = columns.pop("_wer_errors", []), columns.pop("_wer_words", [])
    columns.pop("wer", None)
    aggregated = aggregate({name: np.array(column) for name, column in columns.items()}, draws)
    results = ChunksegResults()
    if words:
        micro = sum(errors) / sum(words) if sum(words) else 0.0
        results["wer"] = {"mean": micro, "std": 0.0, "ci_lower": micro, "ci_upper": micro}
    results.update(aggregated)
    results.model = model
    return results


def _is_text(sample: Any) -> bool:
    return isinstance(sample, Mapping) and isinstance(sample.get("hypothesis"), str)


def _plain_number(name: str, value: float) -> float:
    return int(value) if name in COUNT_KEYS else float(value)


def _report_unknown(samples: Sequence[Mapping[str, Any]]) -> None:
    mappings = [sample for sample in samples if isinstance(sample, Mapping)]
    unknown = Counter(field for sample in mappings for field in sample.keys() - KNOWN_FIELDS)
    if unknown:
        listed = ", ".join(f"{field} ({count:,}×)" for field, count in sorted(unknown.items()))
        warnings.warn(f"ignored unknown fields: {listed}", EarwitnessWarning, stacklevel=3)


def _drop_undefined(table: dict[str, Floats]) -> dict[str, Floats]:
    defined = ~np.isnan(table["precision"])
    _report_left_out(int((~defined).sum()), len(defined), 4)
    return {name: column[defined] for name, column in table.items()} if defined.any() else {}


def _report_left_out(left_out: int, total: int, level: int = 3) -> None:
    if left_out:
        message = f"{left_out:,} of {total:,} samples are shorter than one chunk and were left out"
        warnings.warn(f"{message}, as chunkseg does", EarwitnessWarning, stacklevel=level)
