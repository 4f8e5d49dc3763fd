"""Strings of neighbouring words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Word = TypeVar("Word")


def strings(words: Sequence[Word], n: int) -> list[tuple[Word, ...]]:
    """All strings of n words, in order.

    >>> strings("abc", 2)
    [('a', 'b'), ('b', 'c')]
    """
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
