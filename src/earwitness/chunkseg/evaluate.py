"""Evaluation of one sample and of a batch, as in chunkseg.evaluate."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from earwitness.chapters.presets import PresetOptions, align_sections, read
from earwitness.chunkseg.align import (
    open_backend,
    sections_to_boundary_timestamps,
    time_sentences,
)
from earwitness.chunkseg.core import boundary_chunks
from earwitness.chunkseg.metrics import (
    COUNT_KEYS,
    REQUIRED_FIELDS,
    ChunksegResults,
    Sample,
    aggregate,
    aggregate_metrics,
    boundary_metrics,
    boundary_table,
    chunk_values,
    collar_boundary_f1,
    compute_wer,
    window_chunks,
)
from earwitness.chunkseg.parsers import parse_transcript
from earwitness.chunkseg.titles import TitlePairs, title_scores, zero_title_scores
from earwitness.errors import EarwitnessWarning, UsageError

if TYPE_CHECKING:
    from earwitness.speech.align import Aligner

Titles = Sequence[tuple[str, float]]
Row = dict[str, float]  # values of a sample by key
KNOWN_FIELDS = {*REQUIRED_FIELDS, "id", "audio", "format", "meta"}
KNOWN_FIELDS |= {"reference_transcript", "reference_titles", "hyp_titles"}
FAILING_WINDOW_CHUNKS = 256  # segeval fails with windows of this length or more


# --- Functions -----------------------------------------------------------------------------------


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
    tm_rule: str = "start_end",
    exact: bool = False,
) -> dict[str, float]:
    """Return the metrics of one sample; empty if it is shorter than one chunk.

    A transcript without times is aligned with the audio. If that fails, a warning has the reason,
    and values that need times are left out.

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
    audio
        Audio file; required to align a transcript.
    src_lang
        Language of the audio (ISO 639-3).
    fa_backend
        Forced aligner: ``"mms_fa"``, which is replaced by pocketsphinx for English, with a warning,
        if torchaudio or the weights are missing, or ``"pocketsphinx"``.
    format
        Chapter format of a transcript; required if ``hypothesis`` is a text.
    custom_pattern, timestamp_format
        Options of the formats ``"custom"`` and ``"custom_ts"``.
    tgt_lang, lang
        Language of titles.
    force_alignment
        Whether to align a transcript even if it has times.
    reference_transcript
        Transcript for the word error rate.
    reference_titles, hyp_titles
        Titles with start times.
    tolerance
        Largest time difference between matched titles in seconds.
    collar
        Largest distance between matched boundaries in seconds.
    tm_rule
        Times of titles that must be within the tolerance: ``"start_end"``, as in chunkseg 0.4.0,
        or ``"start"``, as in 0.3.4.
    exact
        Whether to return chunkseg's values where chunkseg is wrong.

    Returns
    -------
    dict
        Values by chunkseg's keys.

    Raises
    ------
    UsageError
        If an argument is invalid, the aligner cannot be used, or chunkseg fails and ``exact``
        is true.

    Examples
    --------
    >>> evaluate([3.0], [3.0], 6.0)["window_diff"]  # one chunk
    0.0
    >>> evaluate([3.0], [3.0], 6.0, exact=True)["window_diff"]
    1.0
    """
    sample = {
        "hypothesis": list(hypothesis) if isinstance(hypothesis, Iterator) else hypothesis,
        "reference": list(reference) if isinstance(reference, Iterator) else reference,
        "duration": duration,
        "audio": audio,
        "reference_transcript": reference_transcript,
        "reference_titles": reference_titles,
        "hyp_titles": hyp_titles,
    }
    setting = TextSettings(
        format,
        custom_pattern,
        timestamp_format,
        lang or tgt_lang,
        force_alignment,
        tolerance,
        tm_rule,
        exact,
        AlignerChoice(fa_backend, src_lang),
    )
    titled = reference_titles is not None
    (row,) = _sample_rows([sample], [setting], chunk_size, collar, wer=True, titles=titled).rows
    if not exact:
        row.pop("_wer_errors", None)
        row.pop("_wer_ref_len", None)
    return row


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
    tm_rule: str = "start_end",
    exact: bool = False,
) -> ChunksegResults:
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
        Mean, standard deviation and interval by key. The attribute ``failed`` is the number of
        samples that could not be aligned with their audio.

    Raises
    ------
    InputError
        If samples are invalid.
    UsageError
        If an argument is invalid, or chunkseg fails and ``exact`` is true.
    """
    if num_bootstrap < 1:
        raise UsageError(f"num_bootstrap must be 1 or more, got {num_bootstrap}")
    samples = list(samples)
    _report_unknown(samples)
    if not (wer or titles or any(_is_text(sample) for sample in samples)):
        table = boundary_table(samples, chunk_size, collar, exact=exact)
        is_defined = ~np.isnan(table["precision"])
        _report_left_out(np.flatnonzero(~is_defined).tolist(), samples, chunk_size)
        for place in np.flatnonzero(is_defined).tolist() if exact else ():
            value = float(table["window_diff"][place])
            value = _chunkseg_window_diff(value, samples[place], chunk_size, place)
            table["window_diff"][place] = value
        defined = {name: column[is_defined] for name, column in table.items()}
        return aggregate(defined if is_defined.any() else {}, num_bootstrap)
    shared = (
        custom_pattern,
        timestamp_format,
        lang or tgt_lang,
        force_alignment,
        tolerance,
        tm_rule,
        exact,
        AlignerChoice(fa_backend, src_lang),
    )
    settings = [TextSettings(format or sample.get("format"), *shared) for sample in samples]
    measured = _sample_rows(samples, settings, chunk_size, collar, wer=wer, titles=titles)
    rows = enumerate(measured.rows)
    left_out = [place for place, row in rows if not row and place not in measured.failed]
    _report_left_out(left_out, samples, chunk_size)
    results = aggregate_metrics([row for row in measured.rows if row], num_bootstrap)
    results.failed = len(measured.failed)
    if results:
        results.model, results.signature = measured.model, measured.signature
    return results


# --- Transcripts ---------------------------------------------------------------------------------


class OutputText(NamedTuple):
    """What a transcript contains: times of boundaries, titles with times, and text.

    ``failure`` is the reason why it could not be aligned with the audio, if so.
    """

    times: list[float]
    titles: TitlePairs
    text: str
    failure: str = ""


@dataclass(frozen=True)
class AlignerChoice:
    """Backend and language of forced alignment; the aligner is opened when it is needed."""

    backend: str
    language: str

    @cached_property
    def aligner(self) -> Aligner:
        """The aligner, or its replacement."""
        return open_backend(self.backend, self.language)


@dataclass(frozen=True)
class TextSettings:
    """Settings for reading and comparing texts."""

    format: str | None
    custom_pattern: str | None
    timestamp_format: str | None
    tgt_lang: str
    force_alignment: bool
    tolerance: float
    tm_rule: str
    exact: bool
    choice: AlignerChoice

    def read(self, text: str, audio: str | None, place: str) -> OutputText:
        """Return the content of a transcript; flaws cause warnings, and the rest is used."""
        if self.format is None:
            raise UsageError("format is required when hypothesis is a string (transcript mode)")
        return self._read_exactly(text, audio) if self.exact else self._read(text, audio, place)

    def _read(self, text: str, audio: str | None, place: str) -> OutputText:
        assert self.format is not None
        options = PresetOptions(self.custom_pattern or "", self.timestamp_format or "")
        transcript = read(text, self.format, options)
        for flaw in transcript.flaws:
            message = f"{place}: hypothesis: line {flaw.line}: {flaw.message}"
            warnings.warn(message, EarwitnessWarning, stacklevel=6)
        if self._needs_alignment(transcript.times, transcript.sections):
            from earwitness.speech.ctc import AlignmentFailure

            path, choice = Path(_require_audio(audio)), self.choice
            try:
                transcript = align_sections(transcript, path, choice.aligner, choice.language)
            except AlignmentFailure as failure:
                return OutputText([], [], transcript.text, str(failure))
        return OutputText(transcript.times, transcript.titles, transcript.text)

    def _read_exactly(self, text: str, audio: str | None) -> OutputText:
        """Read like chunkseg: titles are numbered, and the first title starts at 0.

        A transcript that cannot be aligned has no boundaries.
        """
        assert self.format is not None
        parsed = parse_transcript(text, self.format, self.custom_pattern, self.timestamp_format)
        times, failure = parsed.timestamps or [], ""
        sentences = [sentence for section in parsed.sections for sentence in section]
        if self._needs_alignment(times, parsed.sections):
            from earwitness.speech.ctc import AlignmentFailure

            unaligned = [{"text": sentence} for sentence in sentences]
            path, choice = _require_audio(audio), self.choice
            try:
                aligned = time_sentences(path, unaligned, choice.aligner, choice.language)
                times = sections_to_boundary_timestamps(aligned, parsed.sections)
            except AlignmentFailure as error:
                times, failure = [], str(error)
        starts = [0.0, *(time for time in times if time > 0)]
        titles = list(zip(parsed.titles or (), starts, strict=False))
        return OutputText(times, titles, " ".join(sentences), failure)

    def _needs_alignment(self, times: Sequence[float], sections: Sequence[Any]) -> bool:
        """Whether the text has sections whose times are not known or not wanted."""
        return bool(sections) and (not times or self.force_alignment)


def _require_audio(audio: str | None) -> str:
    if audio is None:
        raise UsageError(
            "audio path is required for transcript mode when timestamps are not in the text"
        )
    return audio


# --- Rows of samples -----------------------------------------------------------------------------


class MeasuredSamples(NamedTuple):
    """Chunkseg's keys of every sample, and the model for titles with its signature, if any.

    ``failed`` are the places of samples that could not be aligned.
    """

    rows: list[Row]
    failed: set[int]
    model: str
    signature: str


def _sample_rows(
    samples: Sequence[Sample],
    settings: Sequence[TextSettings],
    chunk_size: float,
    collar: float,
    *,
    wer: bool,
    titles: bool,
) -> MeasuredSamples:
    """Return the values of all samples; none for a sample shorter than one chunk.

    Samples that could not be aligned have no values that need times, except in exact mode, in which
    they are compared as if they had no boundaries.
    """
    texts: list[OutputText | None] = [None] * len(samples)
    timed_samples = list(samples)
    for place, (sample, setting) in enumerate(zip(samples, settings, strict=True)):
        if _is_text(sample):
            text = setting.read(sample["hypothesis"], sample.get("audio"), f"sample {place}")
            texts[place], timed_samples[place] = text, {**sample, "hypothesis": text.times}
    exact = bool(settings) and settings[0].exact
    rows = _boundary_rows(timed_samples, chunk_size, collar, exact=exact)
    failed = {place for place, text in enumerate(texts) if text is not None and text.failure}
    _report_failed(texts, exact=exact)
    if not exact:
        rows = [{} if place in failed else row for place, row in enumerate(rows)]
    if wer:
        for place, (row, sample, output_text) in enumerate(zip(rows, samples, texts, strict=True)):
            reference = sample.get("reference_transcript")
            if output_text is None or reference is None or not (row or place in failed):
                continue
            if output_text.text or not exact:  # chunkseg leaves out transcripts without words
                row |= compute_wer(output_text.text, reference, exact=exact)
    model, signature = _add_titles(rows, samples, texts, settings) if titles else ("", "")
    return MeasuredSamples(rows, failed, model, signature)


def _boundary_rows(
    samples: Sequence[Sample], chunk_size: float, collar: float, *, exact: bool
) -> list[Row]:
    """Return the boundary keys of every sample; none for a sample without a defined value."""
    single = _single_row(samples[0], chunk_size, collar, exact) if len(samples) == 1 else None
    rows = [single] if single is not None else _table_rows(samples, chunk_size, collar, exact)
    for place, (row, sample) in enumerate(zip(rows, samples, strict=True)):
        if row and exact:
            value = _chunkseg_window_diff(row["window_diff"], sample, chunk_size, place)
            row["window_diff"] = value
    return rows


def _single_row(sample: Sample, chunk_size: float, collar: float, exact: bool) -> Row | None:
    """Return the boundary keys of one sample, or None if it has other values than plain numbers."""
    given, wanted = _plain_times(sample.get("hypothesis")), _plain_times(sample.get("reference"))
    duration = sample.get("duration")
    if given is None or wanted is None or not isinstance(duration, int | float):
        return None
    if not math.isfinite(duration) or (not exact and any(time != time for time in given + wanted)):
        return None  # NaN is refused
    chunks, near = boundary_metrics(chunk_size, collar)
    output, reference = ([time for time in side if time > 0] for side in (given, wanted))
    count, output_chunks = boundary_chunks(duration, output, chunks.chunk_size)
    reference_chunks = boundary_chunks(duration, reference, chunks.chunk_size)[1]
    is_outside = max(output + reference, default=0) > duration
    if not count or (is_outside and not (exact or output_chunks or reference_chunks)):
        return {}
    return {
        **chunk_values(output_chunks, reference_chunks, count),
        **collar_boundary_f1(reference, output, near.collar),
    }


def _plain_times(times: Any) -> list[float] | None:
    if isinstance(times, np.ndarray):
        times = times.tolist()
    if isinstance(times, list | tuple) and all(isinstance(time, int | float) for time in times):
        return list(times)
    return None


def _table_rows(
    samples: Sequence[Sample], chunk_size: float, collar: float, exact: bool
) -> list[Row]:
    values = boundary_table(samples, chunk_size, collar, exact=exact)
    table = {name: column.tolist() for name, column in values.items()}
    return [
        {
            name: int(column[place]) if name in COUNT_KEYS else column[place]
            for name, column in table.items()
        }
        if precision == precision  # NaN: shorter than a chunk, or boundaries only after the end
        else {}
        for place, precision in enumerate(table["precision"])
    ]


def _chunkseg_window_diff(value: float, sample: Sample, chunk_size: float, place: int) -> float:
    """Return chunkseg's WindowDiff: wrong for one chunk, an error for large windows."""
    sides = ([time for time in sample[name] if time > 0] for name in ("hypothesis", "reference"))
    (chunks, output), (_, reference) = (
        boundary_chunks(sample["duration"], side, chunk_size) for side in sides
    )
    window = window_chunks(chunks, len(reference))
    if chunks > 1 and window < FAILING_WINDOW_CHUNKS:
        return value
    if chunks == 1 or output == reference:
        return float(output == reference)
    raise UsageError(
        f"sample {place}: chunkseg fails with windows of {FAILING_WINDOW_CHUNKS} chunks or more, "
        f"here {window} — use larger chunks, or do not set exact"
    )


def _add_titles(
    rows: list[Row],
    samples: Sequence[Sample],
    texts: Sequence[OutputText | None],
    settings: Sequence[TextSettings],
) -> tuple[str, str]:
    """Add title keys to all samples with reference titles; return model and signature."""
    compared = []
    for place, (row, sample, text) in enumerate(zip(rows, samples, texts, strict=True)):
        if not row or sample.get("reference_titles") is None:
            continue
        titles = sample.get("hyp_titles")
        if titles is None and text is not None:
            if text.failure and not settings[0].exact:
                continue  # the titles have no times
            titles = text.titles
        if titles:
            compared.append((place, (titles, sample["reference_titles"], sample["duration"])))
        else:
            row |= zero_title_scores()
    if not compared:
        return "", ""
    setting = settings[0]
    sample_scores, metric = title_scores(
        [pair for _, pair in compared], setting.tolerance, setting.tgt_lang, setting.tm_rule
    )
    for (place, _), scores in zip(compared, sample_scores, strict=True):
        rows[place] |= scores
    return metric.model, metric.signature


# --- Batches -------------------------------------------------------------------------------------


def _is_text(sample: Any) -> bool:
    return isinstance(sample, Mapping) and isinstance(sample.get("hypothesis"), str)


def _report_unknown(samples: Sequence[Sample]) -> None:
    mappings = [sample for sample in samples if isinstance(sample, Mapping)]
    unknown = Counter(field for sample in mappings for field in sample.keys() - KNOWN_FIELDS)
    if unknown:
        listed = ", ".join(f"{field} ({count:,}×)" for field, count in sorted(unknown.items()))
        warnings.warn(f"ignored unknown fields: {listed}", EarwitnessWarning, stacklevel=3)


def _report_failed(texts: Sequence[OutputText | None], *, exact: bool) -> None:
    """Warn about every sample that could not be aligned, with its reason."""
    outcome = "scored without boundaries, as chunkseg does" if exact else "left out"
    for place, text in enumerate(texts):
        if text is not None and text.failure:
            message = f"sample {place}: text cannot be aligned: {text.failure} ({outcome})"
            warnings.warn(message, EarwitnessWarning, stacklevel=4)


def _report_left_out(left_out: Sequence[int], samples: Sequence[Sample], chunk_size: float) -> None:
    """Warn of samples that are shorter than a chunk, or have boundaries only after the end."""
    durations = (samples[place]["duration"] for place in left_out)
    short = sum(boundary_chunks(duration, (), chunk_size)[0] == 0 for duration in durations)
    message = f"of {len(samples):,} samples are shorter than one chunk and were left out"
    if short:
        warnings.warn(f"{short:,} {message}, as chunkseg does", EarwitnessWarning, stacklevel=3)
    if outside := len(left_out) - short:
        message = f"of {len(samples):,} samples have boundaries only after their end"
        text = f"{outside:,} {message} and were left out"
        warnings.warn(text, EarwitnessWarning, stacklevel=3)
