"""Pages of small studies about captions, as the server gives them: made by the kind itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from browser.helpers.study_pages import end, text

from earwitness.studies.study import Trial
from earwitness.studies.trials.base import LETTERS
from earwitness.studies.trials.rubric import RubricKind
from earwitness.studies.wording import wording

View = dict[str, Any]

NAMES = ("precision", "recall", "fluency", "conciseness", "irrelevance")
CAPTIONS = (
    "Birds are singing and a light wind blows through the trees, while children play far away.",
    "Bird is singing; a train arrives at the station. The birds sing again and again, and again.",
)
EXAMPLES = {
    "name": "thumbs",
    "examples": [
        {
            "heard": "Rain on a roof",
            "caption": "It rains.",
            "values": {
                **{"precision": 5, "recall": 3.5},
                **dict.fromkeys(NAMES[2:], 0),
            },
            "comment": "The roof is missing.",
            "sound": "rain.wav",
        }
    ],
}


def judged(
    name: str = "1.1",
    captions: Sequence[str] = CAPTIONS,
    language: str = "en",
    **parameters: Any,
) -> View:
    """A trial: a clip and its captions."""
    kind, words = RubricKind(**{"synthesised": True, **parameters}), wording(language)
    systems = tuple(LETTERS[: len(captions)])
    wrote = dict(zip(systems, captions, strict=True))
    view = kind.view(
        Trial("clip", systems, NAMES),
        words,
        lambda *_: f"/l/tok/sound/{name}/0",
        caption=lambda _, system: wrote[system],
    )
    title = words.page("session", number=1, count=2)
    return {**view, "name": name, "title": title, "progress": [1, 1]}


def told(language: str = "en", *, sound: bool = False) -> list[View]:
    """What comes before the first trial: headphones, and captions that were judged."""
    kind = RubricKind(rubric=EXAMPLES) if sound else RubricKind()
    found = kind.intro_views(wording(language), lambda *_: "/l/tok/sound/examples/0")
    return [{**view, "name": name} for name, view in found.items()]


def whole() -> list[View]:
    """A whole small study about captions."""
    return [*told(), text("1.0"), judged("1.1"), judged("1.2", CAPTIONS[::-1]), end()]
