"""Trials about transcripts: words are kept as a manual summary, or summaries are rated."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from math import ceil, floor
from typing import Any, Self

import numpy as np
from numpy.random import Generator

from earwitness.core import Rating
from earwitness.errors import UsageError
from earwitness.ratings.scales import KEPT_SCALE, SUMMARY_SCALE
from earwitness.studies.population import Person
from earwitness.studies.study import SpokenText, Trial
from earwitness.studies.trials.base import (
    LETTERS,
    Caption,
    Load,
    RatingFactory,
    TrialKind,
    TrialQuestion,
    Values,
    View,
    caption_questions,
    caption_views,
    check_flag,
    is_number,
)
from earwitness.studies.trials.template import StudyTemplate
from earwitness.studies.wording import Wording

# --- Trials about a transcript -------------------------------------------------------------------


@dataclass(frozen=True)
class TextKind(TrialKind):
    """Base class of the trial kinds about a transcript, whose recording may be played.

    ``transcript`` is that of one trial; it is no parameter of a block.

    Parameters
    ----------
    audio
        Whether the recording of a transcript is played.
    """

    audio: bool = False
    transcript: SpokenText = field(init=False, default=SpokenText(), repr=False, compare=False)

    switching = True  # plays count for the page
    transcribed = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag("audio", self.audio)

    @property
    def plays_audio(self) -> bool:
        return self.audio

    def with_transcript(self, transcript: SpokenText) -> Self:
        kind = copy(self)
        object.__setattr__(kind, "transcript", transcript)
        return kind

    def presented(self, trial: Trial, words: Wording, reference: str) -> list[tuple[str, str]]:
        """Return the recording of the transcript, if it is played."""
        return [(min(trial.systems), "")] if self.audio else []


# --- Extraction of words -------------------------------------------------------------------------


ORIGINAL_SYSTEM = "original"  # name of the transcript in place of a system
POSITIONS_FIELD = "positions"
WORDS_SYSTEMS = """\
# One transcript per item, of which people keep words. Without a table of clips (`material`), all
# items with a transcript are used.
systems: [original]
transcripts: transcripts.jsonl  # JSONL or CSV: item, transcript; or a pattern: texts/{item}.ctm
# files: "audio/{item}.wav"  # recordings, with audio: true; if set, all files must exist
"""
EXTRACTING_INSTRUCTIONS = (
    "Keep the words that together give the best summary. Words keep their order, and none is added."
)
WORD_LENGTH_EFFECT = 0.05  # importance of a letter of a word to simulated people


@dataclass(frozen=True)
class WordTarget:
    """Number of words to keep of a transcript, and the smallest and largest accepted number."""

    low: int
    aim: int
    high: int


@dataclass(frozen=True)
class WordsKind(TextKind):
    """Words of a transcript are kept, in their order, as a summary.

    The transcript is shown word by word. With audio, the recording is heard to the end, and each
    word is highlighted while it is heard. The share of words to keep is shown; with ``enforce``,
    summaries outside the tolerance are refused. The answer is the list of positions of the kept
    words, the first word being 1; its rating is the share of words that were kept.

    Parameters
    ----------
    ratio
        Share of words to keep, above 0 and up to 1.
    tolerance
        Accepted difference from that share, from 0 to 1.
    enforce
        Whether summaries outside the tolerance are refused; else it is advised.
    highlight
        Whether words are highlighted while they are heard (needs word times).
    """

    ratio: float = 0.4
    tolerance: float = 0.05
    enforce: bool = True
    highlight: bool = True

    name = "words"
    title = "Manual summaries by word extraction"
    protocol = (
        "word extraction, in which people kept words of a transcript, in their order, as a summary"
    )
    fixed = (KEPT_SCALE,)
    compared = "transcript"
    rates_systems = False
    renderer = "words"
    template = StudyTemplate(WORDS_SYSTEMS, EXTRACTING_INSTRUCTIONS, seconds=60)
    references = (
        "Hori, Hori and Furui (2003), Evaluation Methods for Automatic Speech Summarization",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("enforce", "highlight"):
            check_flag(name, getattr(self, name))
        for name, limits in (("ratio", "above 0 and at most 1"), ("tolerance", "from 0 to 1")):
            value = getattr(self, name)
            if not is_number(value, 0, 1) or (name == "ratio" and not value):
                raise UsageError(f"{name} must be a number {limits}, got {value!r}")

    @property
    def highlights(self) -> bool:  # type: ignore[override]
        """Whether words are highlighted while they are heard."""
        return self.audio and self.highlight

    @property
    def target(self) -> WordTarget:
        """Number of words to keep of the transcript."""
        count = len(self.transcript.words)
        aim = max(1, round(self.ratio * count))
        low = ceil((self.ratio - self.tolerance) * count - 1e-9)
        high = floor((self.ratio + self.tolerance) * count + 1e-9)
        return WordTarget(max(1, min(low, aim)), aim, min(count, max(high, aim)))

    def asks(self, trial: Trial) -> list[TrialQuestion]:
        return [TrialQuestion(POSITIONS_FIELD, KEPT_SCALE, 0)]

    def details(self, trial: Trial, words: Wording, caption: Caption | None) -> View:
        """Return the words, their times if they are highlighted, and the target."""
        times = [[round(start, 3), round(end, 3)] for start, end in self.transcript.times]
        return {
            "words": list(self.transcript.words),
            "times": times if self.highlights else [],
            "target": {**asdict(self.target), "enforced": self.enforce},
        }

    def questions(self, trial: Trial, words: Wording) -> list[View]:
        """Return the one question, whose answer is a list of positions."""
        target, count = self.target, len(self.transcript.words)
        name = "keep_words_exactly" if target.low == target.high else "keep_words"
        name = name if self.enforce else "keep_words_about"
        prompt = words.page(name, **asdict(target), count=count)
        question = {"name": POSITIONS_FIELD, "prompt": prompt, "answer": "words", "count": count}
        return [question | {"sound": 0, "needed": True}]

    def _misfits(self, trial: Trial, values: Values) -> Iterator[tuple[str, str]]:
        """Yield unknown answers, and what is wrong with the positions."""
        for name in values:
            if name != POSITIONS_FIELD:
                yield name, f"unknown question {name!r}"
        if message := self._find_position_fault(values.get(POSITIONS_FIELD)):
            yield POSITIONS_FIELD, message

    def _find_position_fault(self, positions: Any) -> str:
        name, count = POSITIONS_FIELD, len(self.transcript.words)
        if positions is None:
            return f"{name} has no answer"
        if not isinstance(positions, list) or any(type(place) is not int for place in positions):
            return f"{name} must be a list of whole numbers"
        if not positions:
            return f"{name} is empty: at least one word must be kept"
        if any(later <= place for place, later in pairwise(positions)):
            return f"{name} must increase"
        if positions[0] < 1 or positions[-1] > count:
            return f"{name} must be from 1 to {count}, the number of words"
        kept, target = len(positions), self.target
        if self.enforce and not target.low <= kept <= target.high:
            return f"{name} must have {target.low} to {target.high} words, got {kept}"
        return ""

    def make_ratings(self, trial: Trial, values: Values, rate: RatingFactory) -> Iterator[Rating]:
        """Yield the share of words that were kept."""
        share = len(values[POSITIONS_FIELD]) / len(self.transcript.words)
        yield rate(trial.systems[0], KEPT_SCALE.name, round(share, 3))

    def simulate(self, trial: Trial, person: Person, rng: Generator) -> dict[str, Any]:
        """Return the positions of a person who keeps long words; careless people keep any."""
        lengths = np.array([len(word) for word in self.transcript.words], float)
        importance = WORD_LENGTH_EFFECT * lengths * (not person.careless)
        importance += rng.normal(0, max(person.inconsistency, 1e-9), len(lengths))
        target = self.target
        kept = int(rng.integers(target.low, target.high + 1))
        chosen = np.sort(np.argsort(-importance, kind="stable")[:kept]) + 1
        return {POSITIONS_FIELD: chosen.tolist()}

    def load(self, systems: int) -> Load:
        return Load(systems, systems, systems, "1 transcript")


# --- Rating of summaries -------------------------------------------------------------------------


SUMMARY_SYSTEMS = """\
# Summarizers: people and programs. All summarize the same transcripts.
systems: [person, model]
transcripts: transcripts.jsonl  # JSONL or CSV: item, transcript; or a pattern: texts/{item}.ctm
summaries: outputs.jsonl  # scored outputs, or a table with item, system and summary
# files: "audio/{item}.wav"  # recordings, with audio: true; if set, all files must exist
"""
READING_INSTRUCTIONS = "Read the original, then rate how well each summary keeps what was said."


class ReadingKind(TextKind):
    """Summaries of a transcript are read beside it and rated from 1 (incorrect) to 5 (best).

    All summaries of an utterance are on one page, labelled A, B and so on, so that the original
    stays visible while they are rated. The assignment of letters to systems changes from utterance
    to utterance, so that each system is in each position about equally often, and the page does
    not reveal the systems. With audio, the recording is heard to the end before the answer is sent.
    """

    name = "reading"
    title = "Summaries rated beside the original"
    protocol = (
        "rating of summaries, in which all summaries of an utterance were rated on one page, "
        "beside the original"
    )
    fixed = (SUMMARY_SCALE,)
    compared = "set of summaries"
    drawn = True
    renderer = "reading"
    summarized = True
    template = StudyTemplate(SUMMARY_SYSTEMS, READING_INSTRUCTIONS, seconds=10)
    references = (
        "Hori, Hori and Furui (2003), Evaluation Methods for Automatic Speech Summarization",
    )

    def asks(self, trial: Trial) -> list[TrialQuestion]:
        return caption_questions(trial, self.scales)

    def details(self, trial: Trial, words: Wording, caption: Caption | None) -> View:
        """Return the original as ``text``, and the summaries."""
        return {
            "text": " ".join(self.transcript.words),
            "prompt": words.prompt(SUMMARY_SCALE.name),
            "captions": caption_views(trial, caption),
        }

    def questions(self, trial: Trial, words: Wording) -> list[View]:
        """Return a question per summary."""
        asked = super().questions(trial, words)
        for place, question in enumerate(asked):
            label = LETTERS[place]
            question |= {"prompt": words.page("of_summary", label=label, prompt=question["prompt"])}
            question |= {"caption": place}
        return asked

    def simulate(self, trial: Trial, person: Person, rng: Generator) -> dict[str, Any]:
        values = super().simulate(trial, person, rng)
        return {name: int(value) for name, value in values.items()}

    def load(self, systems: int) -> Load:
        return Load(1, 1, systems, f"1 original, {systems} summar{'y' if systems == 1 else 'ies'}")
