"""A planned comparison of two systems: what votes differ by, who hears what, and which test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from earwitness.stats.components import Components
from earwitness.stats.exact import Floats

METHODS = ("cluster_t", "mixed")


@dataclass(frozen=True, slots=True)
class Plan:
    """What votes differ by, who hears what, and how two systems are compared.

    ``items`` are all items; a panel hears its share of them. ``alpha`` is divided by the number of
    ``tests``, the least that Holm's correction leaves to any of them. A scale with steps rounds
    votes: ``step`` adds step² / 12 to the residual variance, which is right while votes do not
    crowd at an end of the scale.

    ``method`` is ``cluster_t``, the paired t test over listeners, which speaks about these items:
    what a system does better on some items only makes panels differ, since each hears other ones.
    Or it is ``mixed``, which speaks about other items too: there item_system counts in full, and
    variances are those of all systems.
    """

    components: Components
    listeners: int
    items: int
    systems: int = 2
    panels: int = 1
    alpha: float = 0.05
    tests: int = 1
    step: float | None = None
    method: str = "cluster_t"

    def __post_init__(self) -> None:
        """Refuse a method that is not known."""
        if self.method not in METHODS:
            raise ValueError(f"unknown method {self.method!r}: one of {', '.join(METHODS)}")

    @property
    def residual(self) -> float:
        """The variance of a vote that nothing explains, rounding included."""
        return self.components.residual**2 + (self.step or 0.0) ** 2 / 12

    @property
    def heard(self) -> float:
        """Items that a listener hears."""
        return self.items / self.panels

    @property
    def own(self) -> float:
        """The variance of a listener's difference of two systems, on the items heard."""
        return 2 * self.components.listener_system**2 + 2 * self.residual / self.heard

    @property
    def between(self) -> float:
        """The variance of a panel's difference of two systems, since panels hear other items."""
        return 2 * self.components.item_system**2 / self.heard

    def squares(self) -> tuple[Floats, Floats]:
        """Of listener_system, item_system and the rest: expected mean squares, and freedom."""
        parts, panel = self.components, self.listeners / self.panels
        listener = self.residual + self.heard * parts.listener_system**2
        item = self.residual + panel * parts.item_system**2
        freedom = [
            (self.listeners - self.panels) * (self.systems - 1),
            (self.items - self.panels) * (self.systems - 1),
            self.systems * self.panels * (panel - 1) * (self.heard - 1),
        ]
        return np.array([listener, item, self.residual]), np.array(freedom, np.float64)

    def critical(self, freedom: Floats) -> Floats:
        """What t must exceed."""
        from scipy.special import stdtrit

        return np.asarray(stdtrit(freedom, 1 - self.alpha / self.tests / 2))
