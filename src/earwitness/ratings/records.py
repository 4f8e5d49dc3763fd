"""Records about ratings: who gave them, groups of items or listeners, and faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from earwitness.core import Rating

Who = int | str  # a listener: a number in studies, a name in tables
Sort = Literal["item", "listener"]


@dataclass(frozen=True, slots=True)
class Grouping:
    """Groups of items or of listeners; those that are not listed have no group."""

    of: Sort
    groups: Mapping[int | str, str]

    def group(self, rating: Rating) -> str:
        """Return the group of a rating, or an empty string."""
        return self.groups.get(rating.key.item if self.of == "item" else rating.listener, "")


Groupings = Mapping[str, Grouping]


FaultKind = Literal["off scale", "positive penalty", "blank", "other total", "duplicate"]


@dataclass(frozen=True, slots=True)
class RatingFault:
    """A fault in the ratings or captions (``told``) and how it was handled (``done``)."""

    kind: FaultKind
    told: str
    done: str
    item: str = ""
    system: str = ""
    listener: int | str = ""
    scale: str = ""
    where: str = ""
