"""What more is said of ratings by a rubric: what is equivalent, what goes together, what is odd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from earwitness.data.estimate import Estimate
from earwitness.data.grouped import Outcome

FaultKind = Literal["off scale", "positive penalty", "blank", "other total", "duplicate"]


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Two one-sided tests that two systems differ by less than a margin.

    ``difference`` has the interval at 1 − 2 alpha. ``within`` is the smallest margin that it fits
    into; ``margin`` and p are NaN where no margin was said. ``shown`` says that the corrected p is
    below alpha: where it is not, the two may still be different, or equal.
    """

    value: str
    a: str
    b: str
    difference: Estimate
    within: float
    margin: float
    p: float
    p_corrected: float
    shown: bool


@dataclass(frozen=True, slots=True)
class Correlation:
    """How far two dimensions go together.

    ``pearson`` and ``spearman`` are over captions (means over raters), ``within`` is Pearson's over
    single votes, each less its rater's mean. Intervals are by a bootstrap over items.
    """

    a: str
    b: str
    pearson: Estimate
    spearman: Estimate
    within: Estimate


@dataclass(frozen=True, slots=True)
class RatingFault:
    """Something wrong or odd with what raters gave or judged, and what was done about it."""

    kind: FaultKind
    told: str
    done: str
    item: str = ""
    system: str = ""
    listener: int | str = ""
    scale: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True)
class Without:
    """A contrast with all captions, and without those whose words stand in two places."""

    value: str
    a: str
    b: str
    every: Outcome
    rest: Outcome
    items: int
    rest_items: int


@dataclass(frozen=True, slots=True)
class RubricResults:
    """What ratings by a rubric have beside their scales; ``blank`` is the policy for blanks."""

    name: str
    formula: str
    blank: str
    dimensions: tuple[str, ...]
    correlations: tuple[Correlation, ...] = ()
    without: tuple[Without, ...] = ()
