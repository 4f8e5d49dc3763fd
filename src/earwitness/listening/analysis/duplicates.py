"""Captions that stand in two places: under two clips, or under two systems of one clip.

Which of them is wrong cannot be known, so all of them stay in the results, and results without them
stand beside.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from earwitness.data import Key, RatingFault

KEPT = "kept; differences without such captions stand beside"
SHOWN = 60  # characters of a caption in a message


@dataclass(frozen=True)
class Duplicates:
    """What was found, and all captions that it is about."""

    faults: tuple[RatingFault, ...]
    keys: frozenset[Key]


def duplicates(captions: Mapping[Key, str]) -> Duplicates:
    """Captions of the same words, but for blanks and capitals."""
    found: dict[str, list[Key]] = {}
    for key, text in captions.items():
        if words := _words(text):
            found.setdefault(words, []).append(key)
    several = [keys for keys in found.values() if len(keys) > 1]
    faults = [_fault(key, keys, captions) for keys in several for key in keys]
    return Duplicates(tuple(faults), frozenset(key for keys in several for key in keys))


def _words(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _fault(key: Key, keys: Sequence[Key], captions: Mapping[Key, str]) -> RatingFault:
    others = [_place(other, key) for other in keys if other != key]
    text = " ".join(captions[key].split())
    shown = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
    told = f"“{shown}” also stands under {', '.join(others)}"
    return RatingFault("duplicate", told, KEPT, key.item, key.system)


def _place(other: Key, key: Key) -> str:
    return other.system if other.item == key.item else f"{other.item}, {other.system}"
