"""What a planned study can find, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from earwitness.data.estimate import Estimate


@dataclass(frozen=True, slots=True)
class Powered:
    """So many listeners: their hours, the least difference found, and power by difference."""

    listeners: int
    hours: float
    detectable: float
    power: Mapping[float, Estimate]


@dataclass(frozen=True, slots=True)
class PowerPlan:
    """Power of the comparisons of one block on one scale.

    ``components`` are standard deviations in points of the scale, and ``source`` says where they
    come from. ``tests`` comparisons share ``alpha``; ``wanted`` is the power that the least
    difference and the listeners ``needed`` for each difference are about.
    """

    title: str
    signature: str
    scale: str
    source: str
    components: Mapping[str, float]
    items: int
    heard: int
    systems: int
    panels: int
    minutes: float
    tests: int
    alpha: float
    wanted: float
    method: str
    planned: int
    rows: tuple[Powered, ...]
    needed: Mapping[float, int | None]
    notes: tuple[str, ...] = ()
