"""Texts that every database gives back as they were, or that are refused before they get there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from earwitness.errors import BadAnswer, UsageError, whole_characters

LONGEST = 200  # characters of a name, so that it fits into an index


def named(what: str, text: str) -> str:
    """A short text that something is found by.

    >>> named("page", "1.12")
    '1.12'
    """
    wrong = _misfit(text) or ("" if text else "is empty")
    if not wrong and len(text) > LONGEST:
        wrong = f"has {len(text):,} characters, more than {LONGEST}"
    if wrong:
        raise UsageError(f"{what} {wrong}: {whole_characters(text[:40])!r}")
    return text


def plain(what: str, text: str) -> str:
    """Any text, empty or long, without what is no character."""
    if wrong := _misfit(text):
        raise UsageError(f"{what} {wrong}: {whole_characters(text[:40])!r}")
    return text


def written(what: str, values: Mapping[str, Any]) -> str:
    r"""Values as JSON; a zero byte is spelt there, so that it survives.

    >>> written("values", {"remarks": "\0 & 🙂"})
    '{"remarks": "\\u0000 & 🙂"}'
    """
    try:
        text = json.dumps(dict(values), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BadAnswer([f"{what} cannot be written as JSON: {error}"]) from None
    if wrong := _misfit(text):
        raise BadAnswer([f"{what} {wrong}"])
    return text


def read(text: str) -> dict[str, Any]:
    """Values that were written."""
    found: dict[str, Any] = json.loads(text)
    return found


def _misfit(text: str) -> str:
    if "\0" in text:
        return "has a zero byte"
    return "" if text == whole_characters(text) else "has half a character (a lone surrogate)"
