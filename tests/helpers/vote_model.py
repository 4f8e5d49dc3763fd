"""Votes drawn from the model of crossed random effects, their expected values, and one contrast.

A vote is the quality of its system plus effects of item, item × system, listener and listener ×
system, plus a residual; all effects are normal and independent. On a discrete scale the sum is
rounded to the nearest point and clipped to the ends. Expected votes are computed exactly, so that
the coverage of intervals can be checked.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from earwitness.stats.arrays import Floats
from earwitness.stats.contrasts import ContrastEstimate, estimate_contrasts
from earwitness.stats.mixed_model import Components
from earwitness.stats.votes import Votes


class Points(NamedTuple):
    """Points of a discrete scale."""

    low: float = 1.0
    high: float = 5.0
    step: float = 1.0

    def nearest(self, values: Floats) -> Floats:
        """Return the nearest points of the scale."""
        steps = np.floor((values - self.low) / self.step + 0.5)
        return np.clip(self.low + self.step * steps, self.low, self.high)

    @property
    def borders(self) -> Floats:
        """Midpoints between adjacent points."""
        steps = round((self.high - self.low) / self.step)
        return np.asarray(self.low + self.step * (np.arange(steps) + 0.5), np.float64)


def crossed_design(systems: int, items: int, listeners: int, panels: int = 1) -> Votes:
    """Return a design in which listeners hear all items of their panel by all systems; votes are 0.

    Items and listeners are assigned to panels in turn.

    >>> crossed_design(2, 4, 2, panels=2).items.tolist()
    [0, 0, 2, 2, 1, 1, 3, 3]
    """
    listener, item, system = (
        axis.ravel() for axis in np.indices((listeners, items, systems), np.int64)
    )
    design = Votes(np.zeros(len(system)), system, item, listener, size=(systems, items, listeners))
    return design.select(item % panels == listener % panels)


def stimulus_qualities(
    qualities: ArrayLike, items: int, components: Components, rng: np.random.Generator
) -> Floats:
    """Return qualities of stimuli as systems × items, with randomly drawn item effects."""
    system_effects = np.asarray(qualities, np.float64)[:, None]
    item_effects = components.item * rng.standard_normal(items)
    interactions = components.item_system * rng.standard_normal((len(system_effects), items))
    return np.asarray(system_effects + item_effects + interactions)


def draw_votes(
    design: Votes,
    stimuli: Floats,
    components: Components,
    rng: np.random.Generator,
    *,
    runs: int = 1,
    points: Points | None = None,
) -> Floats:
    """Return votes of random listeners on these stimuli: one row per run, one column per vote."""
    systems, _, listeners = design.size
    bias = components.listener * rng.standard_normal((runs, listeners))
    taste = rng.standard_normal((runs, listeners, systems))
    values = components.residual * rng.standard_normal((runs, len(design.values)))
    values += stimuli[design.systems, design.items]
    values += bias[:, design.listeners]
    values += components.listener_system * taste[:, design.listeners, design.systems]
    return values if points is None else points.nearest(values)


def simulate_votes(
    design: Votes,
    qualities: ArrayLike,
    components: Components,
    *,
    seed: int,
    points: Points | None = None,
) -> Votes:
    """Return the design with votes, for randomly drawn items and listeners."""
    rng = np.random.Generator(np.random.PCG64(seed))
    stimuli = stimulus_qualities(qualities, design.size[1], components, rng)
    return replace(design, values=draw_votes(design, stimuli, components, rng, points=points)[0])


def expected_vote(qualities: ArrayLike, variance: float, points: Points | None = None) -> Floats:
    """Return the mean of normal votes around these qualities, also after rounding and clipping.

    For the mean over listeners, pass qualities of stimuli and the variance
    ``components.within_stimuli``; for the mean over items as well, pass qualities of systems and
    add
    ``components.between_items``.

    >>> expected_vote([3.0, 1.0, 9.0], 1.0, Points()).round(3).tolist()
    [3.0, 1.382, 5.0]
    """
    from scipy.special import ndtr

    centres = np.asarray(qualities, np.float64)
    if points is None:
        return centres
    if variance == 0:
        return points.nearest(centres)
    above = ndtr((centres[..., None] - points.borders) / math.sqrt(variance))
    return np.asarray(points.low + points.step * above.sum(axis=-1))


def estimate_contrast(
    votes: Votes,
    a: int,
    b: int,
    method: str = "cluster_t",
    *,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> ContrastEstimate:
    """Return how much higher ``a`` is rated than ``b``."""
    return estimate_contrasts(votes, [(a, b)], method, level=level, draws=draws, seed=seed)[0]
