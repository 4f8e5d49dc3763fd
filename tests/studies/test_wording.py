"""Texts of all languages: the same keys and placeholders, and French typography."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

import pytest

from earwitness.ratings.rubric import LANGUAGES
from earwitness.studies import wording as module
from earwitness.studies.wording import PLACEHOLDER, placeholder_problems, wording

FILES = (
    "studies/wordings/{language}.json",
    "ratings/rubrics/thumbs.{language}.json",
    "forms/workbooks/wordings/{language}.json",
)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield all texts of a file with their keys."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{number}]")


def load_texts(name: str, language: str) -> dict[str, str]:
    path = files("earwitness").joinpath(*name.format(language=language).split("/"))
    return dict(leaves(json.loads(path.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("name", FILES)
def test_languages_have_the_same_keys_and_placeholders(name: str) -> None:
    english, french = load_texts(name, "en"), load_texts(name, "fr")
    assert list(english) == list(french)
    for key, text in english.items():
        assert sorted(PLACEHOLDER.findall(text)) == sorted(PLACEHOLDER.findall(french[key])), key


@pytest.mark.parametrize("name", FILES)
def test_french_texts_use_french_typography(name: str) -> None:
    for key, text in load_texts(name, "fr").items():
        assert "'" not in text, key
        assert not re.search(r" [:;?!»]|« |\w[;?!]", text), key  # need a non-breaking space


@pytest.mark.parametrize("language", LANGUAGES)
def test_packaged_texts_have_no_braces_but_those_of_placeholders(language: str) -> None:
    own = wording(language)
    assert placeholder_problems({"pages": own.pages, "web": own.web}) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("S {number}/{count}", []),
        ("S", []),
        ("S {foo}", ["unknown placeholder {foo} — known: {number}, {count}"]),
        ("S {", ["a brace outside a placeholder — remove it"]),
        ("S {}", ["a brace outside a placeholder — remove it"]),
        ("S {number!r:>9}", ["a brace outside a placeholder — remove it"]),
        ("S {number.real}", ["a brace outside a placeholder — remove it"]),
        (
            "}{a}",
            [
                "unknown placeholder {a} — known: {number}, {count}",
                "a brace outside a placeholder — remove it",
            ],
        ),
    ],
)
def test_places_of_own_words_are_checked_and_shown_whatever_they_are(
    text: str, told: list[str]
) -> None:
    own = {"pages": {"session": text, "unknown": "{", "end": 5}}
    assert placeholder_problems(own) == [("pages.session", one) for one in told]
    shown = wording("en", {"pages": {"session": text}}).page("session", number=1, count=2)
    assert shown == text.replace("{number}", "1").replace("{count}", "2")


def test_texts_of_plug_ins_are_added_in_english_if_need_be(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "en": {"EFFORT": {"prompt": "How hard?", "labels": ["not", "very"]}},
        "fr": {"CALM": {"prompt": "Calme ?", "labels": ["oui", "non"]}},
    }
    kinds = {
        "effort": SimpleNamespace(texts={"en": texts["en"]}),
        "calm": SimpleNamespace(texts=texts),
        "other": SimpleNamespace(texts={"en": {"OVRL": {"prompt": "Mine", "labels": []}}}),
    }
    monkeypatch.setattr(module, "PLUGIN_KINDS", kinds)
    load = module._load_wording.__wrapped__  # without the cache
    monkeypatch.setattr(module, "_load_wording", load)
    assert wording("fr").prompt("EFFORT") == "How hard?"
    assert wording("fr").prompt("CALM") == "Calme ?"
    assert wording("en").labels("OVRL")[0] == "Excellent"
