"""A study: who hears what, how it is asked, and what was planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Clip:
    """An item of a study: the same name in every system's folder, and what is known of it."""

    name: str
    seconds: float
    covariates: Mapping[str, str | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Study:
    """What the study file says; ``digest`` is that of its canonical form.

    ``categories`` and ``numbers`` are the covariates that subsets are balanced on. A listener of a
    panel hears the ``clips`` of its subset with every system, in ``sessions`` with rests between.
    """

    title: str
    kind: str
    seed: int
    systems: tuple[str, ...]
    material: tuple[Clip, ...]
    panels: int
    listeners: int
    clips: int
    sessions: int
    rest_minutes: float
    rating_seconds: float
    categories: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """One clip of one system, to be rated on these scales in this order."""

    item: str
    system: str
    scales: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """All that one listener hears: trials by session."""

    listener: int
    panel: int
    sessions: tuple[tuple[Trial, ...], ...]


@dataclass(frozen=True, slots=True)
class Design:
    """The subset of every panel, and the plan of every listener."""

    study: Study
    subsets: tuple[tuple[str, ...], ...]
    plans: tuple[Plan, ...]
