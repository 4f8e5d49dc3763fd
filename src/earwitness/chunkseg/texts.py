"""Transcripts, title scores and word errors as chunkseg computes them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from earwitness.chapters.presets import PresetOptions, read
from earwitness.chapters.text_metrics import TitleBertScore, TitleOverlap
from earwitness.core import Case, Chapters, Item, Key, Titles
from earwitness.errors import EarwitnessWarning, MissingFeature, UsageError
from earwitness.models.text_encoder import is_available
from earwitness.text.transcripts import Transcript

TitlePairs = Iterable[tuple[str, float]]
MODEL_BY_LANGUAGE = {  # chunkseg's model for a language; all other languages use the last
    "en": "roberta-large",
    "zh": "bert-base-chinese",
    "tr": "dbmdz/bert-base-turkish-cased",
    "en-sci": "allenai/scibert_scivocab_uncased",
    "": "bert-base-multilingual-cased",
}
ZERO_TITLE_KEYS = [
    f"gc_{how}_{part}" for how in ("bs", "rl") for part in ("f1", "precision", "recall")
]
TITLE_KEY_ORDER = [
    f"tm_{how}_{part}" for how in ("bs", "rl") for part in ("precision", "recall", "f1")
]
TITLE_KEY_ORDER += ["tm_matched"]
TITLE_KEY_ORDER += [
    f"gc_{how}_{part}" for how in ("bs", "rl") for part in ("precision", "recall", "f1")
]


@dataclass(frozen=True)
class TextSettings:
    """Settings for reading and comparing texts."""

    format: str | None = None
    custom_pattern: str | None = None
    timestamp_format: str | None = None
    tgt_lang: str = "en"
    force_alignment: bool = False
    tolerance: float = 5.0

    def transcript(self, text: str, place: str) -> Transcript:
        """Return the sections of a text; flaws cause warnings, and the rest is used."""
        if self.format is None:
            raise UsageError("format is required when hypothesis is a string (transcript mode)")
        options = PresetOptions(self.custom_pattern or "", self.timestamp_format or "")
        transcript = read(text, self.format, options)
        for flaw in transcript.flaws:
            message = f"{place}: hypothesis: line {flaw.line}: {flaw.message}"
            warnings.warn(message, EarwitnessWarning, stacklevel=5)
        return transcript

    def times(self, transcript: Transcript, audio: str | None) -> list[float]:
        """Return the start times of sections; without times in the text, raise an error."""
        if transcript.times and not self.force_alignment:
            return transcript.times
        if not transcript.sections:
            return []
        if audio is None:
            raise UsageError(
                "audio path is required for transcript mode when timestamps are not in the text"
            )
        raise MissingFeature(
            "aligning text with audio is not supported — use a format with timestamps"
        )


def title_scores(
    samples: Sequence[tuple[TitlePairs, TitlePairs, float | None]], tolerance: float, lang: str
) -> tuple[list[dict[str, float]], str]:
    """Return chunkseg's title keys for every sample, and the name of the model.

    With a duration, the rule of 0.4.0 is used (start and end within the tolerance), without one
    that of 0.3.4.
    """
    model = _choose_model(lang)
    rows = []
    for output, reference, duration in samples:
        rule = "start" if duration is None else "start_end"
        output_pairs, reference_pairs = _as_titles(output), _as_titles(reference)
        rows.append(
            (
                _title_case(output_pairs, reference_pairs, duration or 0.0),
                rule,
                bool(output_pairs),
                bool(reference_pairs),
            )
        )
    results: list[dict[str, float]] = [{} for _ in rows]
    for rule in ("start", "start_end"):
        places = [place for place, row in enumerate(rows) if row[1] == rule]
        cases = [rows[place][0] for place in places]
        for metric in (
            TitleBertScore(tolerance, rule, model=model),
            TitleOverlap(tolerance, rule),
        ):
            values = metric.score(metric.measure_many(cases)) if cases else np.empty((0, 0))
            names = [value.name for value in metric.values]
            for place, row in zip(places, values.tolist(), strict=True):
                results[place] |= dict(zip(names, row, strict=True))
    ordered = [
        {key: scores[key] for key in TITLE_KEY_ORDER if scores[key] == scores[key]}
        for scores in results
    ]
    return [
        _drop_missing_keys(row, *flags[2:]) for row, flags in zip(ordered, rows, strict=True)
    ], model


def zero_title_scores() -> dict[str, float]:
    """Return chunkseg's values if the reference has titles and the output has none."""
    return {**dict.fromkeys(ZERO_TITLE_KEYS, 0.0), "tm_matched": 0.0}


def _drop_missing_keys(
    row: dict[str, float], has_output: bool, has_reference: bool
) -> dict[str, float]:
    """Return the row without the keys that chunkseg leaves out if one side is empty."""
    if has_output and has_reference:
        return row
    return {"tm_matched": 0.0}


def _as_titles(pairs: TitlePairs) -> Titles:
    return tuple((str(title), float(time)) for title, time in pairs)


def _title_case(output: Titles, reference: Titles, duration: float) -> Case:
    return Case(Key("", ""), Item(duration), Chapters((), output), (Chapters((), reference),))


@cache
def _choose_model(lang: str) -> str:
    """Return chunkseg's model if it is installed, else minilm with a warning."""
    wanted = MODEL_BY_LANGUAGE.get(lang, MODEL_BY_LANGUAGE[""])
    if is_available(wanted):
        return wanted
    warnings.warn(
        f'BERTSCORE VALUES DIFFER FROM CHUNKSEG\'S: its model for "{lang}", {wanted}, is not '
        "installed; minilm (all-MiniLM-L6-v2) is used for titles instead",
        EarwitnessWarning,
        stacklevel=6,
    )
    return "minilm"


def output_titles(sample: Mapping[str, Any], transcript: Transcript | None) -> TitlePairs | None:
    """Return the titles of the output as given, else those of its transcript."""
    if sample.get("hyp_titles") is not None:
        titles: TitlePairs = sample["hyp_titles"]
        return titles
    return None if transcript is None else transcript.titles
