"""The result of comparing systems: what can and cannot be told apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from earwitness.data.estimate import Estimate
from earwitness.data.scores import Scores


@dataclass(frozen=True, slots=True)
class Contrast:
    """One value of two systems on the same items.

    ``difference`` is that of ``a`` less that of ``b``. ``better`` names the better system if the
    corrected p is below the threshold, else it is empty: they cannot be told apart. ``effect`` is
    its size in standard deviations, where one is given.
    """

    value: str
    a: str
    b: str
    difference: Estimate
    p: float
    p_corrected: float
    better: str
    effect: Estimate | None = None


@dataclass(frozen=True, slots=True)
class GroupContrasts:
    """Contrasts on the items of one group of a slice; p is corrected over all groups and pairs."""

    field: str
    group: str
    items: int
    contrasts: tuple[Contrast, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Contrasts of all pairs of systems; ``systems`` has their values on the common items.

    ``scores`` are those of every system on all items that it answered.
    """

    signature: str
    scores: Scores
    items: int
    alpha: float
    values: tuple[str, ...]
    systems: Mapping[str, Mapping[str, Estimate]]
    contrasts: tuple[Contrast, ...]
    groups: tuple[GroupContrasts, ...] = ()
