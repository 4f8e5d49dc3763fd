"""What a table of ratings may speak of, and the limits of its scales."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from earwitness.errors import UsageError
from earwitness.listening.scale import Scale

NEAR = 1e-6  # of a step


@dataclass(frozen=True)
class Known:
    """Names that a study has; where there are none, any will do."""

    systems: Collection[str] = ()
    items: Collection[str] = ()
    listeners: Collection[int | str] = ()
    scales: Collection[str] = ()

    def names(self, role: str) -> frozenset[str]:
        """What a column may hold."""
        known: dict[str, Collection[int | str]] = {
            "system": [*self.systems],
            "item": [*self.items],
            "listener": self.listeners,
            "scale": [*self.scales],
        }
        return frozenset(map(str, known[role]))


class Limit(NamedTuple):
    """The numbers of a scale: from ``low`` to ``high`` in steps; step 0 is anything between.

    >>> Limit(1, 5, 1).allows(4), Limit(1, 5, 1).allows(4.5), Limit(1, 5, 0).allows(4.5)
    (True, False, True)
    >>> str(Limit(0, 100, 1))
    '0 to 100 in steps of 1'
    """

    low: float
    high: float
    step: float

    def allows(self, value: float) -> bool:
        """Whether a value is one of them."""
        if not self.low <= value <= self.high:
            return False
        steps = (value - self.low) / self.step if self.step else 0.0
        return abs(steps - round(steps)) < NEAR

    def __str__(self) -> str:
        steps = f" in steps of {self.step:g}" if self.step else ""
        return f"{self.low:g} to {self.high:g}{steps}"


Limits = Mapping[str, tuple[float, float, float] | Scale]


def limits_of(limits: Limits | None) -> dict[str, Limit]:
    """Limits by scale, all in one form."""
    return {name: _limit(name, one) for name, one in (limits or {}).items()}


def _limit(name: str, given: tuple[float, float, float] | Scale) -> Limit:
    if isinstance(given, Scale):
        return Limit(given.low, given.high, given.step)
    low, high, step = given
    if not (low < high and step >= 0 and high - low < float("inf")):
        raise UsageError(f"limits of {name} must be (low, high, step), got {given!r}")
    return Limit(low, high, step)


def out_of_scale(
    pairs: Collection[tuple[object, object]], limits: Mapping[str, Limit]
) -> Iterator[tuple[tuple[object, object], str]]:
    """Pairs of scale and value that cannot be, and why."""
    for scale, value in pairs:
        limit = limits.get(scale) if isinstance(scale, str) else None
        if limit and isinstance(value, float) and value == value and not limit.allows(value):
            yield (scale, value), f"{value:g} is not on {scale} ({limit})"
