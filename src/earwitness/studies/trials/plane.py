"""Trials in which skims of a long recording are placed on the TC/SD plane."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from earwitness.core import Answer, count_text
from earwitness.errors import UsageError
from earwitness.ratings.scales import PLANE_SCALES
from earwitness.studies.design.orders import williams_row
from earwitness.studies.study import EligibleAnswers, Question, Trial
from earwitness.studies.trials.base import (
    Caption,
    Load,
    Sound,
    Treatment,
    TrialKind,
    TrialQuestion,
    Values,
    View,
    Way,
    check_flag,
    is_number,
)
from earwitness.studies.wording import Wording

PLANE_COMMENT, SOURCES_NOTE, HOUR_NOTE = "comment", "sources", "hour"
# texts of pages with one scale
PAGE_TEXTS: Mapping[tuple[str, ...], str] = {("TC",): "plane_tc", ("SD",): "plane_sd"}
MAX_HOURS = 24
MAX_NOTE_CHARACTERS = 2000
EXAMPLE_KEYS = ("sound", "TC", "SD", "reason")


@dataclass(frozen=True)
class PlaneKind(TrialKind):
    """All skims of a recording are placed on a plane of temporal consistency and source diversity.

    A page has all skims of one recording, numbered 1, 2 and so on. The assignment of numbers to
    systems changes from recording to recording, so that each system has each number about equally
    often. Both coordinates are from 0 to 1 in steps of 0.001; dashed lines mark the maxima. In the
    browser, numbered markers are dragged, or moved with the arrow keys; the recording itself can be
    browsed if the study has it under `recordings`. The page suggests some minutes of exploring the
    recording and listing its sources, then a few short excerpts per hour and a note of the most
    present sources. Skims are played in any order, as often as wanted. Each one must be heard to
    its end, in any number of parts, and placed. Comments and notes are optional.

    Practice starts with `examples` and a check question, if they are set. Each practice clip gives
    three trials: TC only, SD only, and the plane, with a third of its skims each.

    Parameters
    ----------
    explore_minutes
        Suggested time to browse the recording before placing, in minutes.
    hours
        Number of equal parts of each recording with a note each, 0 to 24 (null: one per hour).
    points
        Number of points to hear in each part.
    point_seconds
        Length of the excerpt at each point, in seconds.
    examples
        Placed skims shown before the first trial: sound, TC, SD and reason.
    recording
        Item whose recording is shown below the examples.
    check
        Whether to ask a question that shows if TC is taken for linear time.
    """

    explore_minutes: float = 5.0
    hours: int | None = None
    points: int = 5
    point_seconds: float = 2.0
    examples: tuple[Mapping[str, Any], ...] = ()
    recording: str = ""
    check: bool = False

    name = "plane"
    title = "Skims placed on the TC/SD plane"
    protocol = (
        "placement on a plane of temporal consistency and source diversity, in which all skims of "
        "a recording were placed on one page"
    )
    fixed = PLANE_SCALES
    compared = "set of skims"
    switching = True
    drawn = True
    rotated = True
    has_known_answers = True
    on_paper = True
    is_levelled = False
    renderer = "plane"
    references = (
        "Tailleur, Lagrange, Aumond and Tourre (2025), Audio Summaries: Expert Evaluation",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag("check", self.check)
        counts = {"points": (self.points, 60)}
        if self.hours is not None:
            counts["hours"] = self.hours, MAX_HOURS
        for name, (value, most) in counts.items():
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
                raise UsageError(f"{name} must be a whole number from 0 to {most}, got {value!r}")
        for name, number in {
            "explore_minutes": self.explore_minutes,
            "point_seconds": self.point_seconds,
        }.items():
            if not is_number(number, 0, 60):
                raise UsageError(f"{name} must be a number from 0 to 60, got {number!r}")
        recording: object = self.recording
        if not isinstance(recording, str):
            raise UsageError(f"recording must be the name of an item, got {recording!r}")
        object.__setattr__(self, "examples", _check_examples(self.examples))

    @property
    def example_sounds(self) -> list[str]:
        return [example["sound"] for example in self.examples]

    def ways(self, treatment: Treatment, rng: Generator) -> list[Way]:
        order, count = [treatment[i] for i in rng.permutation(len(treatment))], len(treatment)
        row = williams_row(count)
        return [
            (tuple(order[(first + place) % count] for place in row), 0) for first in range(count)
        ]

    def repeat_trial(self, trial: Trial, rng: Generator) -> Trial:
        """Return the same skims with other numbers."""
        again = super().repeat_trial(trial, rng)
        count = len(trial.systems)
        order, shift = rng.permutation(count), rng.integers(1, max(2, count))
        systems = np.array(trial.systems, object)
        # each system gets the number of another one
        numbers = np.empty(count, np.int64)
        numbers[order] = np.roll(order, shift)
        return replace(again, systems=tuple(systems[numbers]))

    def practice_trials(self, trials: Sequence[Trial]) -> list[Trial]:
        """Return three trials per practice clip: TC only, SD only, and the plane."""
        names = [scale.name for scale in PLANE_SCALES]
        found = list[Trial]()
        for trial in trials:
            parts = np.array_split(np.array(trial.systems, object), 3)
            for scales, part in zip(([names[0]], [names[1]], names), parts, strict=True):
                if len(part):
                    found.append(replace(trial, systems=tuple(part), scales=tuple(scales)))
        return found

    def presented(self, trial: Trial, words: Wording, reference: str) -> list[tuple[str, str]]:
        """Return the skims with their numbers."""
        return [(system, str(number)) for number, system in enumerate(trial.systems, 1)]

    def asks(self, trial: Trial) -> list[TrialQuestion]:
        return [
            TrialQuestion(f"{scale.name}_{place + 1}", scale, place, system)
            for place, system in enumerate(trial.systems)
            for scale in PLANE_SCALES
            if scale.name in trial.scales
        ]

    def intro_views(self, words: Wording, sound: Sound) -> dict[str, View]:
        """Return the definitions of TC and SD, and the page of examples, if there are any."""
        text = self.definitions(words)
        views = {"plane.about": {"kind": "text", "title": words.page("plane"), "text": text}}
        if not self.examples:
            return views
        examples = [
            {"label": str(n), "TC": example["TC"], "SD": example["SD"], "reason": example["reason"]}
            for n, example in enumerate(self.examples, 1)
        ]
        sounds = [
            {"address": sound("", example["sound"], n), "label": str(n + 1)}
            for n, example in enumerate(self.examples)
        ]
        view = {
            "kind": "plane_examples",
            "renderer": self.renderer_name(),
            "title": words.page("plane_examples"),
            "text": words.page("plane_examples_told"),
            "definitions": self.definitions(words),
            "axes": self._axes(words),
            "placed": examples,
            "sounds": sounds,
            "switching": True,
            "plays": 0,
            "questions": [],
        }
        if self.recording:
            view["recording"] = self.recording
        return views | {"plane.examples": view}

    def check_question(self, words: Wording) -> Question | None:
        """Return the question that shows whether TC is taken for linear time."""
        if not self.check:
            return None
        right = words.page("plane_check_right")
        options = words.page("plane_check_linear"), right, words.page("plane_check_diverse")
        prompt = words.page("plane_check_prompt")
        return Question("check", prompt, "choice", options, eligible=EligibleAnswers((right,)))

    def definitions(self, words: Wording) -> str:
        """Return the definitions of TC and SD."""
        return words.page("plane_told")

    def practice_text(self, trials: Sequence[Trial], words: Wording, *, feedback: bool) -> str:
        """Return what is practised, and whether expected places are shown afterwards."""
        has_all_steps = len({trial.scales for trial in trials}) > len(PLANE_SCALES)
        texts = ["training_told", *(["plane_training_told"] if has_all_steps else [])]
        texts += ["plane_feedback_told"] if feedback else []
        return "\n\n".join(words.page(text) for text in texts)

    def session_text(self, trials: Sequence[Trial], words: Wording) -> str:
        """Return the numbers of recordings and of skims."""
        skims = max(len(trial.systems) for trial in trials)
        return words.page("plane_session_told", recordings=len(trials), skims=skims)

    def details(self, trial: Trial, words: Wording, caption: Caption | None) -> View:
        """Return the axes, and how the recording is explored."""
        return {
            "text": words.page(PAGE_TEXTS.get(trial.scales, "plane_both")),
            "definitions": self.definitions(words),
            "keeps_draft": True,
            "axes": self._trial_axes(trial, words),
            "explore_minutes": self.explore_minutes,
            "hours": self.hours,
            "points": self.points,
            "point_seconds": self.point_seconds,
        }

    def feedback_view(self, trial: Trial, words: Wording) -> View:
        """Return the axes, on which places and expected places are shown, and the definitions."""
        return {
            "renderer": self.renderer_name(),
            "definitions": self.definitions(words),
            "axes": self._trial_axes(trial, words),
        }

    def _trial_axes(self, trial: Trial, words: Wording) -> dict[str, str]:
        return {name: text for name, text in self._axes(words).items() if name in trial.scales}

    def _axes(self, words: Wording) -> dict[str, str]:
        return {scale.name: words.prompt(scale.name) for scale in PLANE_SCALES}

    def questions(self, trial: Trial, words: Wording) -> list[View]:
        """Return a question per skim and axis, each with the number of its skim."""
        return [
            question
            | {
                "prompt": words.page(
                    "of_skim", label=str(question["sound"] + 1), prompt=question["prompt"]
                )
            }
            for question in super().questions(trial, words)
        ]

    @property
    def _max_hours(self) -> int:
        return MAX_HOURS if self.hours is None else self.hours

    def note_names(self, trial: Trial) -> list[str]:
        """Return the names of the optional texts: comments and notes."""
        numbers = range(1, len(trial.systems) + 1)
        comments = [PLANE_COMMENT, *(f"{PLANE_COMMENT}_{number}" for number in numbers)]
        return [
            *comments,
            SOURCES_NOTE,
            *(f"{HOUR_NOTE}_{hour}" for hour in range(self._max_hours)),
        ]

    def _misfits(self, trial: Trial, values: Values) -> Iterator[tuple[str, str]]:
        """Yield invalid places and texts."""
        notes = set(self.note_names(trial)) & values.keys()
        for name in sorted(notes):
            text = values[name]
            if not isinstance(text, str) or len(text) > MAX_NOTE_CHARACTERS:
                yield name, f"{name} must be text of at most {MAX_NOTE_CHARACTERS:,} characters"
        yield from super()._misfits(trial, {n: v for n, v in values.items() if n not in notes})

    def load(self, systems: int) -> Load:
        listening = self._max_hours * self.points * self.point_seconds
        browsing = 60 * self.explore_minutes + listening
        how = f"{count_text(systems, 'skim')}, each played once"
        return Load(1, systems, systems * len(PLANE_SCALES), how, browsing)


def is_placed(answer: Answer) -> bool:
    """Return whether an answer has places of skims on the plane, other than for practice."""
    return answer.page[:1].isdigit() and f"{PLANE_SCALES[0].name}_1" in answer.values


def _check_examples(examples: object) -> tuple[Mapping[str, Any], ...]:
    """Return valid examples; raise UsageError otherwise."""
    if not isinstance(examples, list | tuple):
        raise UsageError(f"examples must be a list, got {examples!r}")
    for number, example in enumerate(examples, 1):
        if not isinstance(example, Mapping) or set(example) != set(EXAMPLE_KEYS):
            raise UsageError(f"example {number} must have the keys {', '.join(EXAMPLE_KEYS)}")
        for name in ("sound", "reason"):
            if not isinstance(example[name], str) or not example[name]:
                raise UsageError(f"example {number}: {name} must be text, got {example[name]!r}")
        for scale in PLANE_SCALES:
            if not is_number(example[scale.name], scale.low, scale.high):
                message = f"example {number}: {scale.name} must be a number from 0 to 1"
                raise UsageError(f"{message}, got {example[scale.name]!r}")
    return tuple(examples)
