"""Summarized speech that is made up: utterances with times of words, and tones as their sound."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import soundfile

from earwitness.summaries.methods.compaction import (
    Compaction,
    ScoreWeights,
    SpokenUtterance,
    SummarizedSpeech,
)
from earwitness.summaries.methods.passages import SpokenSummary, find_passages, render_summary

RATE = 8_000
WORD_SECONDS = 0.4
ENGLISH = (
    "the weather in the north was *cold* and *wet* for *most* *of* *the* *week*",
    "*we* will *measure* how much *of* *a* *summary* is *understood*",
    "well that is all",
    "so *listeners* *heard* every *sentence* *twice*",
)
JAPANESE = (
    "*今日* は とても *天気* *が* *いい* です ね",
    "*明日* は 東京 で *雨* *が* *降る* でしょう",
)


def summarize_marked(
    texts: Sequence[str],
    *,
    name: str = "talk",
    times: bool = True,
    word: float = WORD_SECONDS,
    oov_rate: float = float("nan"),
    perplexity: float = float("nan"),
) -> SummarizedSpeech:
    """Return the summary of texts in which kept words are marked by asterisks."""
    made, start = [], 0.0
    for number, text in enumerate(texts, 1):
        marked = text.split()
        words = tuple(text.strip("*") for text in marked)
        kept = tuple(n for n, text in enumerate(marked, 1) if text.startswith("*"))
        spans = tuple((start + n * word, start + (n + 1) * word) for n in range(len(words)))
        start += len(words) * word + 1.0
        spoken = SpokenUtterance(words, spans if times else None, item=f"{name}-{number:03}")
        parts = {"linguistic": -4.5 * len(kept), "significance": 7.25 * len(kept)}
        parts |= {"confidence": -0.1 * len(kept), "concatenation": 0.0}
        made.append(Compaction(spoken, kept, sum(parts.values()), parts))
    signature = f"compaction|ratio=0.5|scope=speech|L=pocketsphinx-5.0|version=1.0|name={name}"
    return SummarizedSpeech(
        name, tuple(made), 0.5, "speech", ScoreWeights(), signature, oov_rate, perplexity
    )


def speak_tones(speech: SummarizedSpeech, path: Path) -> SpokenSummary:
    """Return the spoken summary of a recording in which every utterance is a tone."""
    spans = [one.utterance.times or ((0.0, 1.0),) for one in speech.compactions]
    seconds = spans[-1][-1][1] + 1.0
    times = np.arange(round(seconds * RATE)) / RATE
    number = np.searchsorted([span[0][0] for span in spans], times, side="right")
    soundfile.write(path, 0.1 * np.sin(2 * np.pi * (200 + 20 * (number % 20)) * times), RATE)
    return render_summary(path, find_passages(speech, seconds))
