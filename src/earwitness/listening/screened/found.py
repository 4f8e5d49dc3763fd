"""What rules of screening are given and what they give back."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from earwitness.data import Rating, Screened, Who


class Roles(NamedTuple):
    """Systems that are no systems: the hidden reference, and the middle anchor."""

    reference: str
    anchor: str


class Found(NamedTuple):
    """An entry a listener and scale that was judged, and notes on what was not."""

    entries: Sequence[Screened]
    notes: Sequence[str] = ()


class Apply(Protocol):
    """A rule at work."""

    def __call__(
        self, ratings: Sequence[Rating], limits: Mapping[str, float], roles: Roles
    ) -> Found: ...


def by_scale(ratings: Iterable[Rating]) -> dict[str, list[Rating]]:
    """Ratings of each scale, in the order of scales."""
    found = defaultdict[str, list[Rating]](list)
    for rating in ratings:
        found[rating.scale].append(rating)
    return found


def by_listener(ratings: Iterable[Rating]) -> dict[Who, list[Rating]]:
    """Ratings of each listener: numbers in their order, then names in theirs."""
    found = defaultdict[Who, list[Rating]](list)
    for rating in ratings:
        found[rating.listener].append(rating)
    return {who: found[who] for who in sorted(found, key=lambda who: (isinstance(who, str), who))}


def told(value: float) -> str:
    """A figure as it stands in a reason."""
    return "undefined" if math.isnan(value) else f"{value:.3g}"
