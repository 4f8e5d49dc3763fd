"""Views of pages for the tests of scripts in Node, as trial kinds make them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from browser.helpers import caption_pages as captions
from browser.helpers import study_pages as small
from browser.helpers.text_pages import WORDS, reading_trial, words_trial

from earwitness.studies.study import Trial
from earwitness.studies.trials.plane import PlaneKind
from earwitness.studies.wording import wording

PATH = Path(__file__).parents[1] / "scripts" / "views.json"
KINDS = ("p835", "acr", "dcr", "ccr", "ab", "abx", "preference", "mushra", "bs1116")
View = dict[str, Any]


def plane_view() -> View:
    """A plane with two skims, without the recording."""
    trial = Trial("day", ("A", "B"), ("TC", "SD"))
    view = PlaneKind().view(trial, wording("en"), lambda *place: f"/l/tok/sound/1.1/{place[2]}")
    return {**view, "name": "1.1", "title": "Plane", "progress": [1, 1]}


def views() -> dict[str, View]:
    """All views by name."""
    return {
        "consent": small.consent(),
        "form": small.form(),
        "text": small.text(),
        "feedback": small.feedback(),
        "rest": small.rest(),
        "device": small.device(),
        "end": small.end(),
        **{kind: small.trial("1.1", 1, 1, kind=kind) for kind in KINDS},
        "rubric": captions.judged(),
        "examples": captions.told(sound=True)[1],
        "words": words_trial().pages[0],
        "spoken_words": words_trial(WORDS, 4.4).pages[0],
        "reading": reading_trial().pages[0],
        "spoken_reading": reading_trial(seconds=1.0).pages[0],
        "plane": plane_view(),
    }


def text() -> str:
    """The file of all views."""
    return json.dumps(views(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
