"""What people said: answers as they were given, and the ratings that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from earwitness.data.case import Key


@dataclass(frozen=True, slots=True)
class Answer:
    """What a listener said on one page of a study; ``study`` is the digest of its file.

    ``heard`` says what was presented, if it was a trial: the item, systems in order, and which of
    them was the unknown one. ``version`` is that of the program that asked.
    """

    study: str
    listener: int
    page: str
    values: Mapping[str, Any]
    heard: Mapping[str, Any] | None = None
    at: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Rating:
    """A number that a listener gave to one output, or to one beside another (``against``).

    ``place`` is where that output stood among those presented, from 0; ``trial`` is the number of
    the trial in its session and ``asked`` that of the question in the trial, from 1, or 0 where
    nothing is known.
    """

    key: Key
    scale: str
    listener: int | str
    session: int
    value: float
    against: Key | None = None
    place: int = 0
    trial: int = 0
    asked: int = 0
