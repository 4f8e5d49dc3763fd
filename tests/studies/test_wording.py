"""Texts of all languages: the same keys and placeholders, and French typography."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

from earwitness.studies.wording import PLACEHOLDER

FILES = (
    "wordings/{language}.json",
    "rubrics/thumbs.{language}.json",
    "workbooks/wordings/{language}.json",
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
    path = files("earwitness.studies").joinpath(*name.format(language=language).split("/"))
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
