"""What is told on pages without questions: what comes next, and how long to rest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from earwitness.studies.design.report import study_design
from earwitness.studies.pages import View, add_given_answers, feedback_rows, pages
from earwitness.studies.trials import block_kind
from earwitness.studies.wording import wording
from helpers.study_listener import sounds, study


def views(folder: Path, language: str, minutes: float = 5) -> dict[str, View]:
    """All views of a listener by name; practice is heard once more as anchors."""
    more = f"language: {language}\nrest_minutes: {minutes}\n"
    made = study_design(study(sounds(folder), "acr", more))
    plan = replace(made.plans[0], anchors=made.plans[0].training)
    return {page.name: page.view for page in pages(made.study, plan, lambda *_: "")}


TOLD = {
    "en": {
        "training.0": "This is for practice. Your answers here do not count.",
        "anchors.0": (
            "These sounds show the range of what you will hear in this test. "
            "Rate them like the others. Your answers here do not count."
        ),
        "2.0": "Number of trials in this session: 2. Start when you are ready.",
    },
    "fr": {
        "training.0": "Ceci est un entraînement. Vos réponses ici ne comptent pas.",
        "anchors.0": (
            "Ces sons montrent l’étendue de ce que vous entendrez dans ce test. "
            "Notez-les comme les autres. Vos réponses ici ne comptent pas."
        ),
        "2.0": "Nombre d’essais dans cette session\u00a0: 2. Commencez quand vous le souhaitez.",
    },
}


@pytest.mark.parametrize("language", TOLD)
def test_what_comes_next_is_told_before_it(tmp_path: Path, language: str) -> None:
    found = views(tmp_path, language)
    assert {name: found[name]["text"] for name in TOLD[language]} == TOLD[language]
    assert found["anchors.0"]["title"].startswith({"en": "Examples", "fr": "Exemples"}[language])


RESTS = {
    ("en", 5): "Please rest for 5 minutes",
    ("en", 1): "Please rest for 1 minute",
    ("en", 1.5): "Please rest for 1.5 minutes",
    ("en", 0.2): "Please rest for 12 seconds",
    ("en", 0.017): "Please rest for 1 second",
    ("fr", 1): "Veuillez vous reposer pendant 1 minute",
    ("fr", 1.5): "Veuillez vous reposer pendant 1,5 minute",
    ("fr", 2): "Veuillez vous reposer pendant 2 minutes",
    ("fr", 0.017): "Veuillez vous reposer pendant 1 seconde",
    ("fr", 2.5): "Veuillez vous reposer pendant 2,5 minutes",
    ("fr", 0.2): "Veuillez vous reposer pendant 12 secondes",
    ("fr", 0.33): "Veuillez vous reposer pendant 20 secondes",
}


@pytest.mark.parametrize(("language", "minutes"), RESTS)
def test_rests_are_told_in_minutes_or_seconds_as_the_language_counts(
    tmp_path: Path, language: str, minutes: float
) -> None:
    assert views(tmp_path, language, minutes)["rest.2"]["title"] == RESTS[language, minutes]


def test_sessions_without_a_break_follow_each_other(tmp_path: Path) -> None:
    assert "rest.2" not in views(tmp_path, "en", 0)


def test_a_studys_own_words_are_said_of_one_minute_too() -> None:
    own = wording("en", {"pages": {"rest": "Pause: {minutes} min"}})
    assert own.page_with_count("rest", 1, "minutes") == "Pause: 1 min"
    both = wording("en", {"pages": {"rest": "{minutes} mins", "rest_one": "{minutes} min"}})
    assert [both.page_with_count("rest", n, "minutes") for n in (1, 2)] == ["1 min", "2 mins"]


def test_answers_to_the_same_question_are_told_apart_by_the_sound(tmp_path: Path) -> None:
    made = study_design(study(sounds(tmp_path), "bs1116", "language: fr\n"))
    trial, words = made.plans[0].sessions[0][0], wording("fr")
    asked = block_kind(made.study.blocks[0]).questions(trial, words)
    rows = feedback_rows(made.study, trial, asked, words)
    given = add_given_answers(rows, asked, {"B": 5.0, "C": 2.8}, words)
    assert [(row["prompt"], row["given"]) for row in given] == [("B", "5,0"), ("C", "2,8")]
