"""What is told on pages without questions: what comes next, and how long to rest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from earwitness.api.studies import study_design
from earwitness.listening.pages import View, pages
from taking import sounds, study


def views(folder: Path, language: str, minutes: float = 5) -> dict[str, View]:
    """All views of a listener by name; practice is heard once more as anchors."""
    more = f"language: {language}\nrest_minutes: {minutes}\n"
    made = study_design(study(sounds(folder), "acr", more))
    plan = replace(made.plans[0], anchors=made.plans[0].training)
    return {page.name: page.view for page in pages(made.study, plan, lambda *_: "")}


TOLD = {
    "en": {
        "training.0": "Try the page out: these answers do not count.",
        "anchors.0": "Rate these sounds like the others. These answers do not count.",
        "2.0": "Trials in this session: 2. Begin whenever you are ready.",
    },
    "fr": {
        "training.0": "Faites connaissance avec la page : ces réponses ne comptent pas.",
        "anchors.0": "Notez ces sons comme les autres. Ces réponses ne comptent pas.",
        "2.0": "Nombre d'essais dans cette session : 2. Commencez quand vous voudrez.",
    },
}


@pytest.mark.parametrize("language", TOLD)
def test_what_comes_next_is_told_before_it(tmp_path: Path, language: str) -> None:
    found = views(tmp_path, language)
    assert {name: found[name]["text"] for name in TOLD[language]} == TOLD[language]
    assert found["anchors.0"]["title"].startswith({"en": "Sounds", "fr": "Des sons"}[language])


RESTS = {
    ("en", 5): "Please rest for 5 minutes",
    ("en", 0.2): "Please rest for 12 seconds",
    ("fr", 2.5): "Veuillez vous reposer pendant 2,5 minutes",
    ("fr", 0.2): "Veuillez vous reposer pendant 12 secondes",
    ("fr", 0.33): "Veuillez vous reposer pendant 20 secondes",
}


@pytest.mark.parametrize(("language", "minutes"), RESTS)
def test_rests_below_a_minute_are_told_in_seconds(
    tmp_path: Path, language: str, minutes: float
) -> None:
    assert views(tmp_path, language, minutes)["rest.2"]["title"] == RESTS[language, minutes]
