"""Texts that come from browsers, which may hold halves of characters."""

from __future__ import annotations

from typing import Any

from earwitness.errors import whole_characters


def whole(value: Any) -> Any:
    """The same value with whole characters only; what is none is spelt out.

    >>> whole({"comment": ["half \\ud83d", 1]})
    {'comment': ['half \\\\ud83d', 1]}
    """
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, list):
        return [whole(one) for one in value]
    if isinstance(value, dict):
        return {whole_characters(name): whole(one) for name, one in value.items()}
    return value
