"""Simulated listeners, and the true qualities of systems that they hear."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from earwitness.errors import UsageError, nearest
from earwitness.ratings.scales import Scale

# --- Simulated listeners -------------------------------------------------------------------------


Quality = Callable[[str, str, str], float]  # quality from 0 to 1 of an item, system and scale


@dataclass(frozen=True)
class Person:
    """A simulated listener, who perceives quality with a bias and random inconsistency.

    A careless listener answers at random. By the end of a session, perceived quality has dropped
    by ``fatigue``.
    """

    quality: Quality
    bias: float = 0.0
    inconsistency: float = 0.1
    careless: bool = False
    fatigue: float = 0.0

    def hears(self, item: str, system: str, scale: str, rng: Generator) -> float:
        """Return one perceived quality, from 0 to 1."""
        if self.careless:
            return float(rng.random())
        heard = self.quality(item, system, scale) + self.bias
        return float(np.clip(heard + rng.normal(0, self.inconsistency), 0, 1))

    def after(self, share: float) -> Person:
        """Return the same listener after this share of a session."""
        return replace(self, bias=self.bias - self.fatigue * share) if self.fatigue else self


# --- Populations and true qualities --------------------------------------------------------------
# Qualities range from 0 to 1, the ends of each scale. A system has one quality, or one per scale;
# items and listeners add to it. All numbers are shares of a scale: 0.1 is 0.4 points from 1 to 5.


BEST_QUALITY, WORST_QUALITY = 0.85, 0.25  # default range of the systems' qualities
EXPECTATION_GRID_POINTS = 11  # points that approximate the distribution of inconsistency
Qualities = Mapping[tuple[str, str], float]  # by system and scale ("": any scale)


@dataclass(frozen=True)
class Population:
    """Variation between simulated listeners and items, as shares of a scale.

    Parameters
    ----------
    bias
        Standard deviation between listeners.
    taste
        Standard deviation of listener–system interactions.
    items
        Standard deviation between items.
    mixture
        Standard deviation of item–system interactions.
    inconsistency
        Standard deviation of repeated answers of one listener; varies between listeners from 0.5 to
        1.5 times this value.
    fatigue
        Loss of perceived quality by the end of a session.
    careless
        Number of listeners who answer at random.
    qualities
        True qualities by system and scale.
    """

    bias: float = 0.08
    taste: float = 0.04
    items: float = 0.08
    mixture: float = 0.04
    inconsistency: float = 0.12
    fatigue: float = 0.0
    careless: int = 0
    qualities: Qualities = field(default_factory=dict)

    @classmethod
    def of(cls, values: Mapping[str, float]) -> Population:
        """Return a population from numbers and qualities by name.

        The name of a quality is ``SYSTEM`` or ``SYSTEM:SCALE``.

        >>> Population.of({"careless": 2, "C1:SIG": 0.6}).qualities
        {('C1', 'SIG'): 0.6}
        """
        numbers: dict[str, Any] = {n: value for n, value in values.items() if n in NUMBERS}
        qualities = {n: value for n, value in values.items() if n not in NUMBERS}
        for name, quality in qualities.items():
            if not 0 <= quality <= 1:
                raise UsageError(f"quality of {name} must be from 0 to 1, got {quality:g}")
        careless = numbers.get("careless", 0)
        if careless != int(careless):
            raise UsageError(f"careless must be a whole number, got {careless:g}")
        parts = {name: name.partition(":") for name in qualities}
        by_scale = {(parts[name][0], parts[name][2]): qualities[name] for name in qualities}
        return cls(**numbers | {"careless": int(careless)}, qualities=by_scale)

    def __post_init__(self) -> None:
        for attribute in fields(self):
            value = getattr(self, attribute.name)
            if attribute.name == "qualities":
                continue
            least, most = (-1, 1) if attribute.name == "fatigue" else (0, math.inf)
            if not np.isfinite(value) or not least <= value <= most:
                limits = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
                raise UsageError(f"{attribute.name} must be a number {limits}, got {value:g}")


NUMBERS = tuple(field.name for field in fields(Population) if field.name != "qualities")


@dataclass(frozen=True)
class World:
    """A population with all random values drawn: listeners, and the quality of each sound.

    ``others`` are qualities of sounds that are not systems, such as hidden references and anchors.
    """

    population: Population
    systems: tuple[str, ...]
    listeners: tuple[int, ...]
    seed: int
    others: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for system, _ in self.population.qualities:
            if system not in self.systems:
                remedy = nearest(system, [*self.systems, *NUMBERS])
                raise UsageError(f'unknown system "{system}" — {remedy}')
        if self.population.careless > len(self.listeners):
            raise UsageError(
                f"careless must be at most {len(self.listeners)}, the number of listeners"
            )

    def quality(self, system: str, scale: str) -> float:
        """Return the true quality of a system, over all items and listeners."""
        qualities = self.population.qualities
        quality = qualities.get((system, scale), qualities.get((system, "")))
        if quality is not None or system in self.others:
            return self.others[system] if quality is None else quality
        place = self.systems.index(system) / max(1, len(self.systems) - 1)
        return WORST_QUALITY + (BEST_QUALITY - WORST_QUALITY) * place

    def items(self, names: Sequence[str]) -> dict[tuple[str, str], float]:
        """Return the effect of each item on the quality of each system."""
        rng, mixed = self._rng(0), self.population
        each = rng.normal(0, mixed.items, (len(names), 1))
        each = each + rng.normal(0, mixed.mixture, (len(names), len(self.systems)))
        each -= each.mean(axis=0)  # systems keep their qualities over these items
        return {
            (item, system): float(each[row, column])
            for row, item in enumerate(names)
            for column, system in enumerate(self.systems)
        }

    def people(self, items: Sequence[str]) -> Iterator[tuple[int, Person, Generator]]:
        """Yield each listener with a random generator."""
        added, of = self.items(items), self.population
        careless = set(self._rng(1).permutation(self.listeners)[: of.careless].tolist())
        for listener in self.listeners:
            rng = self._rng(2, listener)
            bias, share = float(rng.normal(0, of.bias)), 0.5 + rng.random()
            tastes = rng.normal(0, of.taste, len(self.systems)).tolist()
            quality = _Quality(self, added, dict(zip(self.systems, tastes, strict=True)))
            inconsistency, out = of.inconsistency * share, listener in careless
            yield listener, Person(quality, bias, inconsistency, out, of.fatigue), rng

    def _rng(self, *spawn: int) -> Generator:
        return Generator(np.random.PCG64(np.random.SeedSequence((self.seed, *spawn))))

    def expected(self, system: str, scale: Scale, items: Sequence[str]) -> float:
        """Return the expected mean rating of a system over the items and all careful listeners.

        Fatigue is averaged over a session.
        """
        from scipy.special import ndtr

        of, added = self.population, self.items(items)
        shares = 0.5 + (np.arange(EXPECTATION_GRID_POINTS) + 0.5) / EXPECTATION_GRID_POINTS
        spread = np.sqrt(of.bias**2 + of.taste**2 + (of.inconsistency * shares) ** 2)
        spread = np.maximum(spread, 1e-9)[:, None, None]
        tired = of.fatigue * (
            np.arange(EXPECTATION_GRID_POINTS) / (EXPECTATION_GRID_POINTS - 1)
            if of.fatigue
            else np.zeros(1)
        )
        quality = self.quality(system, scale.name)
        true = np.array([quality + added[item, system] for item in items])
        true = (true[:, None] - tired).ravel()
        values = np.array(scale.values)
        edges = 1 - (np.arange(len(values) - 1) + 0.5) / (len(values) - 1)  # from the best down
        below = ndtr((edges[None, None, :] - true[None, :, None]) / spread)
        above = 1 - below  # the chance of at least each value but the worst
        return float(values[-1] + (above * -np.diff(values)).sum(axis=2).mean())


@dataclass(frozen=True)
class _Quality:
    """Quality that one listener perceives, without bias and inconsistency."""

    world: World
    items: Mapping[tuple[str, str], float]
    tastes: Mapping[str, float]

    def __call__(self, item: str, system: str, scale: str) -> float:
        quality = self.world.quality(system, scale)
        return quality + self.items.get((item, system), 0.0) + self.tastes.get(system, 0.0)
