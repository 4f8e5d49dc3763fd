"""Results among some of the items or listeners: by dataset, by jury."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from earwitness.data.comparison import Contrast
from earwitness.data.estimate import Estimate
from earwitness.data.rating import Rating

Sort = Literal["item", "listener"]


@dataclass(frozen=True, slots=True)
class Grouping:
    """Which group every item, or every listener, is of; those that are not named are of none."""

    of: Sort
    groups: Mapping[int | str, str]

    def group(self, rating: Rating) -> str:
        """The group of a rating, or nothing."""
        return self.groups.get(rating.key.item if self.of == "item" else rating.listener, "")


Groupings = Mapping[str, Grouping]


@dataclass(frozen=True, slots=True)
class GroupMean:
    """The mean of a system in a group, and what it rests on."""

    mean: Estimate
    votes: int
    listeners: int
    items: int


@dataclass(frozen=True, slots=True)
class Group:
    """Systems among the items, or the listeners, of one group.

    p of contrasts is corrected over all groups and pairs of the field. ``agreement`` has figures of
    the listeners of the group, where it is one of listeners.
    """

    name: str
    systems: Mapping[str, GroupMean]
    contrasts: tuple[Contrast, ...]
    agreement: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A difference with its p, as it is and corrected."""

    difference: Estimate
    p: float
    p_corrected: float


@dataclass(frozen=True, slots=True)
class Interaction:
    """How much larger the difference of ``a`` and ``b`` is in one group than in another.

    ``modelled`` is the same by the mixed model, where one is fitted beside the planned test.
    """

    a: str
    b: str
    first: str
    second: str
    tested: Outcome
    modelled: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Grouped:
    """One scale by one field; ``of`` says whether items or listeners are divided."""

    field: str
    of: Sort
    groups: tuple[Group, ...]
    interactions: tuple[Interaction, ...] = ()
