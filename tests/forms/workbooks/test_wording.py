"""Faults of workbooks: every code has a text in every language, and is used."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from earwitness.errors import Problem
from earwitness.forms.workbooks.wording import (
    fault,
    fault_problem,
    fault_texts,
    load_faults,
    translate_problem,
)
from earwitness.ratings.rubric import LANGUAGES
from earwitness.studies.wording import PLACEHOLDER

CODES = list(load_faults("en"))
TAKE_CODES = {"fault", "_add_problem"}  # functions whose last argument by position is a code
PLACES = ("forms/workbooks/*.py", "web/workbooks.py")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_code_has_a_text_with_the_same_values(language: str) -> None:
    texts = load_faults(language)
    assert list(texts) == CODES
    for code, (message, remedy) in texts.items():
        for english, text in zip(load_faults("en")[code], (message, remedy), strict=True):
            assert sorted(PLACEHOLDER.findall(text)) == sorted(PLACEHOLDER.findall(english))
            assert bool(text) == bool(english)
            is_translated = not english or english == "{value}" or text != english
            assert is_translated == (language != "en" or english in ("", "{value}"))


def test_codes_of_the_catalogue_are_those_of_the_code(root: Path) -> None:
    paths = [path for place in PLACES for path in (root / "src/earwitness").glob(place)]
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    calls = [node for node in nodes if isinstance(node, ast.Call) and _called(node) in TAKE_CODES]
    named = {node.args[-1].value for node in calls if isinstance(node.args[-1], ast.Constant)}
    assert named <= {*CODES}
    texts = {node.value for node in nodes if isinstance(node, ast.Constant)}
    assert {*CODES} <= texts


def _called(call: ast.Call) -> str:
    return getattr(call.func, "id", "") or getattr(call.func, "attr", "")


def test_numbers_and_texts_are_those_of_the_language() -> None:
    texts = {"name": "Fluency", "low": "−2", "high": "0", "step": "0.1", "value": "0.55"}
    problem = fault_problem(fault("off_scale", **texts), "a.xlsx", 2, "A!E2")
    assert str(problem) == (
        "a.xlsx:2: A!E2: Fluency must be −2 to 0 in steps of 0.1, got 0.55 — "
        "write a number from −2 to 0 in steps of 0.1, or leave it blank"
    )
    assert str(translate_problem("fr", problem)) == (
        "a.xlsx:2: A!E2: Fluency : doit aller de −2 à 0 par pas de 0,1 ; lu : 0.55 — "
        "écrivez un nombre de −2 à 0 par pas de 0,1, ou laissez la cellule vide"
    )
    assert translate_problem("en", problem) == problem


def test_a_problem_without_a_code_stays_as_it_is() -> None:
    problem = Problem("a.xlsx", 1, "A!B2", "is blank", "write a number")
    assert translate_problem("fr", problem) == problem


def test_a_text_of_a_rater_is_not_read_as_a_placeholder() -> None:
    assert (
        fault_texts(fault("hidden_key", value="{name} \\1"))[0] == 'invalid hidden key "{name} \\1"'
    )
