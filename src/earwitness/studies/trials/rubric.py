"""Trials in which captions of a clip are judged by a rubric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from earwitness.core import Rating, count_text
from earwitness.errors import UsageError
from earwitness.ratings.rubric import TOTAL, Dimension, Rubric, read_rubric
from earwitness.ratings.rubric_totals import BLANK_POLICIES, Blank, total
from earwitness.ratings.scales import Scale
from earwitness.studies.study import Trial
from earwitness.studies.trials.base import (
    LETTERS,
    Caption,
    Load,
    RatingFactory,
    Sound,
    TrialKind,
    TrialQuestion,
    Values,
    View,
    caption_questions,
    caption_views,
)
from earwitness.studies.trials.template import StudyTemplate
from earwitness.studies.wording import Wording

# --- Rubrics as page views -----------------------------------------------------------------------


def dimension_view(dimension: Dimension, words: Wording) -> View:
    """Return a dimension as data: its text, its values, and the meaning of some values."""
    return {
        "name": dimension.name,
        "title": dimension.shown,
        "role": dimension.role if dimension.good == "high" else "low",
        "help": dimension.help,
        "low": dimension.low,
        "high": dimension.high,
        "step": dimension.step,
        "anchors": [
            {"value": anchor.value, "shown": words.number(anchor.value), "text": anchor.text}
            for anchor in dimension.anchors
        ],
    }


def examples_view(rubric: Rubric, words: Wording, address: Sound) -> View:
    """Return the page of worked examples; sounds are in the order of the examples."""
    sounds, examples = list[View](), list[View]()
    for number, example in enumerate(rubric.examples):
        values = [
            {"title": dimension.shown, "shown": words.number(example.values[dimension.name])}
            for dimension in rubric.dimensions
        ]
        view: View = {
            "heard": example.heard,
            "caption": example.caption,
            "values": values,
            "total": words.number(total(rubric, example.values)),
            "comment": example.comment,
        }
        if example.sound:
            view["sound"] = len(sounds)
            sounds.append({"address": address("", example.sound, number), "label": ""})
        examples.append(view)
    return {
        "kind": "examples",
        "title": words.page("examples"),
        "text": words.page("examples_told"),
        "rubric": rubric.title,
        "formula": rubric.total,
        "dimensions": [dimension_view(dimension, words) for dimension in rubric.dimensions],
        "examples": examples,
        **({"sounds": sounds, "switching": True, "plays": 0, "questions": []} if sounds else {}),
    }


# --- Captions judged by a rubric -----------------------------------------------------------------


CAPTION_SYSTEMS = """\
# Authors of the captions: people and programs. All describe the same clips.
systems: [person, model]
captions: captions.csv  # CSV or JSONL: item, system, caption
# files: "clips/{item}.wav"  # path of each clip; if set, all files must exist
# juries: {experts: 10, lay: 10}  # groups of listeners, in the order of their numbers
# rubric: thumbs  # or your own: name, dimensions, total, examples
"""
JUDGING_INSTRUCTIONS = "Listen to the clip, read each caption, and rate it on the scales below."
COMMENT_FIELD, SYNTHESIZED_FIELD = "comment", "synthesised"
MAX_COMMENT_CHARACTERS = 2000


@dataclass(frozen=True)
class RubricKind(TrialKind):
    """Captions of a clip are rated by a rubric: listen to the clip, read and rate each caption.

    All captions of a clip are on one page, labelled A, B and so on. The assignment of letters to
    systems changes from clip to clip, so that each system is in each position about equally often,
    and the page does not reveal the systems. Clips of one dataset may be heard together. In a
    browser all values are required; in a workbook, blank values are stored as None.

    Parameters
    ----------
    rubric
        Name of a rubric, or a rubric as under the key rubric of the study.
    group
        Column of the material whose clips are heard together, such as dataset.
    synthesised
        Whether to ask for each clip if it is synthesized.
    blank
        Effect of a blank workbook cell on the total: drop, zero, refuse.
    """

    rubric: str | Mapping[str, Any] = "thumbs"
    group: str = ""
    synthesised: bool = False
    blank: Blank = "drop"

    name = "rubric"
    title = "Captions rated by a rubric (THumBS)"
    protocol = "caption rating, in which all captions of a clip were rated on one page"
    compared = "set of captions"
    switching = True
    drawn = True
    derived = (TOTAL,)
    captioned = True
    renderer = "rubric"
    template = StudyTemplate(CAPTION_SYSTEMS, JUDGING_INSTRUCTIONS, seconds=10)
    references = (
        "Kasai et al. (2022), Transparent Human Evaluation for Image Captioning",
        "Kreiss et al. (2022), Context Matters for Image Descriptions for Accessibility",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.blank not in BLANK_POLICIES:
            raise UsageError(
                f"blank must be one of {', '.join(BLANK_POLICIES)}, got {self.blank!r}"
            )
        options: dict[str, object] = {"group": self.group, "synthesised": self.synthesised}
        for (name, value), kind in zip(options.items(), (str, bool), strict=True):
            if not isinstance(value, kind):
                raise UsageError(f"{name} must be {kind.__name__}, got {value!r}")
        assert self.judged  # raises if the rubric is invalid

    @cached_property
    def judged(self) -> Rubric:
        """The rubric; its texts are in English unless the study has its own."""
        return read_rubric(self.rubric)

    @property
    def scales(self) -> tuple[Scale, ...]:
        return tuple(dimension.scale for dimension in self.judged.dimensions)

    def rubric_totals(self) -> tuple[Rubric | None, Blank]:
        return self.judged, self.blank

    @property
    def example_sounds(self) -> list[str]:
        return [example.sound for example in self.judged.examples if example.sound]

    @property
    def within(self) -> str:
        return self.group

    def presented(self, trial: Trial, words: Wording, reference: str) -> list[tuple[str, str]]:
        """Return the one sound of the clip."""
        return [(min(trial.systems), "")]

    def asks(self, trial: Trial) -> list[TrialQuestion]:
        return caption_questions(trial, self.scales)

    def intro_views(self, words: Wording, sound: Sound) -> dict[str, View]:
        """Return a page about headphones and the page of worked examples."""
        title, text = words.page("headphones"), words.page("headphones_told")
        rubric = read_rubric(self.rubric, words.language)
        return {
            "headphones": {"kind": "text", "title": title, "text": text},
            "examples": examples_view(rubric, words, sound),
        }

    def details(self, trial: Trial, words: Wording, caption: Caption | None) -> View:
        """Return the captions and the dimensions."""
        rubric = read_rubric(self.rubric, words.language)
        return {
            "rubric": rubric.title,
            "captions": caption_views(trial, caption),
            "dimensions": [dimension_view(dimension, words) for dimension in rubric.dimensions],
        }

    def questions(self, trial: Trial, words: Wording) -> list[View]:
        """Return the dimensions of each caption, then the optional questions."""
        rubric, letters = read_rubric(self.rubric, words.language), LETTERS[: len(trial.systems)]
        asked: list[View] = [
            {
                "name": f"{letter}.{dimension.name}",
                "prompt": words.page("of_caption", label=letter, prompt=dimension.shown),
                "answer": "slider",
                "low": dimension.low,
                "high": dimension.high,
                "step": dimension.step,
                "sound": 0,
                "caption": place,
                "dimension": dimension.name,
                "needed": True,
            }
            for place, letter in enumerate(letters)
            for dimension in rubric.dimensions
        ]
        for place, letter in enumerate(letters):
            prompt = words.page("of_caption", label=letter, prompt=words.page("comment"))
            name = f"{letter}.{COMMENT_FIELD}"
            comment: View = {"name": name, "prompt": prompt, "answer": "text", "caption": place}
            asked.append(comment | {"sound": 0, "needed": False})
        if self.synthesised:
            options = [{"value": answer, "label": words.page(answer)} for answer in ("yes", "no")]
            prompt = words.page(SYNTHESIZED_FIELD)
            synthesis: View = {"name": SYNTHESIZED_FIELD, "prompt": prompt, "answer": "choice"}
            asked.append(synthesis | {"options": options, "sound": 0, "needed": False})
        return asked

    def _misfits(self, trial: Trial, values: Values) -> Iterator[tuple[str, str]]:
        """Yield invalid answers: values that are not blank, texts, and yes or no."""
        free = {f"{letter}.{COMMENT_FIELD}" for letter in LETTERS[: len(trial.systems)]}
        asked = {SYNTHESIZED_FIELD} if self.synthesised else set()
        for name in free & values.keys():
            text = values[name]
            if text is not None and (
                not isinstance(text, str) or len(text) > MAX_COMMENT_CHARACTERS
            ):
                yield name, f"{name} must be text of at most {MAX_COMMENT_CHARACTERS:,} characters"
        for name in asked & values.keys():
            if values[name] not in (None, "yes", "no"):
                yield name, f"{name} must be yes or no, got {values[name]!r}"
        blank = {ask.name for ask in self.asks(trial) if values.get(ask.name, 0) is None}
        numbers = {
            name: value for name, value in values.items() if name not in free | asked | blank
        }
        for name, message in super()._misfits(trial, numbers):
            if name not in blank:
                yield name, message

    def make_ratings(self, trial: Trial, values: Values, rate: RatingFactory) -> Iterator[Rating]:
        """Yield a rating for each dimension that is not blank, and for the total."""
        for letter, system in zip(LETTERS, trial.systems, strict=False):
            judged = {scale.name: values[f"{letter}.{scale.name}"] for scale in self.scales}
            for name, value in judged.items():
                if value is not None:
                    yield rate(system, name, value)
            whole = total(self.judged, judged, self.blank)
            if whole == whole:
                yield rate(system, TOTAL, whole)

    def load(self, systems: int) -> Load:
        dimensions = len(self.scales)
        how = f"1 sound, {count_text(systems, 'caption')} × {dimensions} dimensions"
        return Load(1, 1, systems * dimensions, how)
