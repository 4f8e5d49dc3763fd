"""Scores of chapter titles, as in chunkseg.titles."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

from earwitness.chapters.matching import TM_RULES
from earwitness.chapters.text_metrics import TitleBertScore, TitleOverlap
from earwitness.core import Case, Chapters, Item, Key, Titles
from earwitness.errors import EarwitnessWarning
from earwitness.metric import one_of
from earwitness.models.text_encoder import is_available

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


def compute_title_scores(
    hyp_titles: TitlePairs,
    ref_titles: TitlePairs,
    duration: float | None = None,
    tolerance: float = 5.0,
    lang: str = "en",
    *,
    tm_rule: str | None = None,
) -> dict[str, float]:
    """Return the title metrics of one sample.

    Parameters
    ----------
    hyp_titles
        Titles of the output, with start times in seconds.
    ref_titles
        Titles of the reference, with start times in seconds.
    duration
        Duration in seconds. The third positional argument is the duration, as in chunkseg 0.4.0,
        unless the fourth is a language, as in chunkseg 0.3.4.
    tolerance
        Largest time difference between matched titles in seconds.
    lang
        Language of the titles, which selects the model.
    tm_rule
        Times that must be within the tolerance: ``"start"``, as in chunkseg 0.3.4, or
        ``"start_end"``, as in 0.4.0. By default ``"start_end"`` with a duration, else ``"start"``.

    Returns
    -------
    dict
        Values by chunkseg's keys.
    """
    if isinstance(tolerance, str):
        duration, tolerance, lang = None, 5.0 if duration is None else duration, tolerance
    rule = tm_rule or ("start" if duration is None else "start_end")
    pairs = [(hyp_titles, ref_titles, duration or 0.0)]
    return title_scores(pairs, tolerance, lang, rule)[0][0]


def title_scores(
    samples: Sequence[tuple[TitlePairs, TitlePairs, float]],
    tolerance: float,
    lang: str,
    tm_rule: str,
) -> tuple[list[dict[str, float]], TitleBertScore]:
    """Return chunkseg's title keys for every sample, and the metric with the model."""
    one_of(TM_RULES, "tm_rule", tm_rule)
    by_meaning = TitleBertScore(tolerance, tm_rule, model=_choose_model(lang))
    sides = [
        (_as_titles(output), _as_titles(reference), duration)
        for output, reference, duration in samples
    ]
    cases = [
        Case(Key("", ""), Item(duration), Chapters((), output), (Chapters((), reference),))
        for output, reference, duration in sides
    ]
    results: list[dict[str, float]] = [{} for _ in cases]
    for metric in (by_meaning, TitleOverlap(tolerance, tm_rule, words="latin")):
        values = metric.score(metric.measure_many(cases)) if cases else np.empty((0, 0))
        names = [value.name for value in metric.values]
        for result, row in zip(results, values.tolist(), strict=True):
            result |= dict(zip(names, row, strict=True))
    return [
        {key: scores[key] for key in TITLE_KEY_ORDER if scores[key] == scores[key]}
        if output and reference
        else {"tm_matched": 0.0}  # as in chunkseg, without other keys
        for scores, (output, reference, _) in zip(results, sides, strict=True)
    ], by_meaning


def zero_title_scores() -> dict[str, float]:
    """Return chunkseg's values if the reference has titles and the output has none."""
    return {**dict.fromkeys(ZERO_TITLE_KEYS, 0.0), "tm_matched": 0.0}


def _as_titles(pairs: TitlePairs) -> Titles:
    return tuple((str(title), float(time)) for title, time in pairs)


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
