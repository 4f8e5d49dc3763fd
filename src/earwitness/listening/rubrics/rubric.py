"""A rubric as data: dimensions with their numbers and words, and the formula of a total."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

from earwitness.errors import UsageError, nearest
from earwitness.listening.rubrics.formula import Formula, formula
from earwitness.listening.scale import Scale

Role = Literal["score", "penalty"]
ROLES = get_args(Role)
TOTAL = "total"  # the scale that the formula gives
NEAR = 1e-6  # of a step
FINEST = 1e-6  # steps of totals are multiples of this
DIGITS = 9  # to which sums of tenths are rounded
NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Anchor:
    """What a number of a dimension stands for."""

    value: float
    text: str


@dataclass(frozen=True)
class Dimension:
    """Something that a description is judged by, from ``low`` to ``high`` in steps.

    A score is the better the higher; a penalty is 0 or below, and 0 is no fault at all.
    """

    name: str
    low: float
    high: float
    step: float
    role: Role = "score"
    title: str = ""
    help: str = ""
    anchors: tuple[Anchor, ...] = ()

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name) or self.name == TOTAL:
            raise UsageError(f'dimension "{self.name}": must be a word other than {TOTAL}')
        numbers = self.low, self.high, self.step
        if not (all(map(math.isfinite, numbers)) and self.low < self.high and self.step > 0):
            raise UsageError(f"dimension {self.name}: must go from low up to high in steps above 0")
        if self.role not in ROLES:
            raise UsageError(f'{self.name}: no role "{self.role}" — {nearest(self.role, ROLES)}')
        if self.role == "penalty" and self.high != 0:
            raise UsageError(f"penalty {self.name}: must end at 0, got {self.high:g}")
        for value in (self.high, *(one.value for one in self.anchors)):
            if not self.allows(value):
                raise UsageError(f"dimension {self.name}: {value:g} is not on it ({self.range})")

    @property
    def shown(self) -> str:
        """Its name as people see it."""
        return self.title or self.name.capitalize()

    @property
    def range(self) -> str:
        """Its numbers in words."""
        return f"{self.low:g} to {self.high:g} in steps of {self.step:g}".replace("-", "−")

    def allows(self, value: float) -> bool:
        """Whether a number is on it."""
        steps = (value - self.low) / self.step
        within = self.low - NEAR * self.step <= value <= self.high + NEAR * self.step
        return within and abs(steps - round(steps)) < NEAR

    def exactly(self, value: float) -> float:
        """A number on it without dust: ``0.30000000000000004`` is ``0.3``."""
        return round(value, DIGITS) + 0.0  # no −0

    @property
    def scale(self) -> Scale:
        """The same as a scale of ratings."""
        return Scale(self.name, self.high, self.low, self.step, slider=True)


@dataclass(frozen=True)
class Worked:
    """An example that has been judged: what was heard, a description, its numbers, and why.

    ``sound`` is a file to hear, from the folder of the study, if there is one.
    """

    heard: str
    caption: str
    values: Mapping[str, float]
    comment: str = ""
    sound: str = ""


@dataclass(frozen=True)
class Rubric:
    """Dimensions in the order in which they are asked, and how a total is made of them."""

    name: str
    dimensions: tuple[Dimension, ...]
    total: str
    title: str = ""
    examples: tuple[Worked, ...] = field(default=())
    language: str = "en"

    def __post_init__(self) -> None:
        names = [one.name for one in self.dimensions]
        for name in names:
            if names.count(name) > 1:
                raise UsageError(f'rubric {self.name}: dimension "{name}" comes twice')
        for name in sorted(self.formula.names - {*names}):
            raise UsageError(f'formula: there is no dimension "{name}" — {nearest(name, names)}')
        if not self.formula.names:
            raise UsageError(f'formula "{self.total}": speaks of no dimension')
        self.formula.bounds(self._ranges)
        self._check_penalties()
        for example in self.examples:
            self._check_example(example)

    @cached_property
    def formula(self) -> Formula:
        """How a total is made."""
        return formula(self.total)

    @property
    def names(self) -> tuple[str, ...]:
        """Dimensions by name."""
        return tuple(one.name for one in self.dimensions)

    @property
    def scales(self) -> dict[str, Scale]:
        """Scales of ratings: the dimensions, and the total between the ends that it can have."""
        low, high = (round(end, DIGITS) for end in self.formula.bounds(self._ranges))
        whole = Scale(TOTAL, high, low, self.total_step or (high - low), slider=True)
        return {**{one.name: one.scale for one in self.dimensions}, TOTAL: whole}

    @property
    def total_step(self) -> float:
        """The step between totals, or 0 where a formula that is not linear has none.

        >>> from earwitness.listening.rubrics import thumbs
        >>> thumbs().total_step
        0.05
        """
        if not self.formula.linear:
            return 0.0
        lows = {one.name: one.low for one in self.dimensions}
        moved = [{**lows, one.name: one.low + one.step} for one in self.dimensions]
        base = self.formula.value(lows)
        steps = [round(abs(self.formula.value(one) - base) / FINEST) for one in moved]
        return round(math.gcd(*steps) * FINEST, DIGITS)

    @property
    def _ranges(self) -> dict[str, tuple[float, float]]:
        return {one.name: (one.low, one.high) for one in self.dimensions}

    def _check_penalties(self) -> None:
        """No fault may raise a total."""
        for one in (one for one in self.dimensions if one.role == "penalty"):
            for end in (0, 1):
                rest = {name: ends[end] for name, ends in self._ranges.items()}
                worst, best = ({**rest, one.name: x} for x in (one.low, one.high))
                if self.formula.value(worst) > self.formula.value(best):
                    told = f'formula "{self.total}": penalty {one.name} would raise the {TOTAL}'
                    raise UsageError(f"{told} — add it, since it is below 0")

    def _check_example(self, example: Worked) -> None:
        for one in self.dimensions:
            value = example.values.get(one.name)
            if value is None or not one.allows(value):
                raise UsageError(f"example: {one.name} must be {one.range}, got {value}")
