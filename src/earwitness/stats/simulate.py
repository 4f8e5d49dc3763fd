"""Simulated votes: what people would give, were the variance between them and between items known.

A vote is the quality of its system, plus effects of the item, of the item in this system, of the
listener and of the listener in this system, plus what is left; all effects are normal and
independent. On a scale of points the sum is rounded to the nearest point and kept within the ends.
What is expected of such votes is computed, not simulated, so that intervals can be held to it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from earwitness.stats.components import Components
from earwitness.stats.exact import Floats
from earwitness.stats.votes import Votes


class Points(NamedTuple):
    """The points of a scale."""

    low: float = 1.0
    high: float = 5.0
    step: float = 1.0

    def nearest(self, values: Floats) -> Floats:
        """Values as a listener can give them."""
        steps = np.floor((values - self.low) / self.step + 0.5)
        return np.clip(self.low + self.step * steps, self.low, self.high)

    @property
    def between(self) -> Floats:
        """Borders between a point and the next."""
        steps = round((self.high - self.low) / self.step)
        return np.asarray(self.low + self.step * (np.arange(steps) + 0.5), np.float64)


def crossed(systems: int, items: int, listeners: int, panels: int = 1) -> Votes:
    """A design: every listener hears all items of their panel by all systems; all votes are 0.

    Items and listeners are dealt out to panels in turn.

    >>> crossed(2, 4, 2, panels=2).items.tolist()
    [0, 0, 2, 2, 1, 1, 3, 3]
    """
    listener, item, system = (
        axis.ravel() for axis in np.indices((listeners, items, systems), np.int64)
    )
    design = Votes(np.zeros(len(system)), system, item, listener, size=(systems, items, listeners))
    return design.chosen(item % panels == listener % panels)


def stimulus_qualities(
    qualities: ArrayLike, items: int, components: Components, rng: np.random.Generator
) -> Floats:
    """Qualities of stimuli, systems by items: those of systems with the effects of drawn items."""
    of_systems = np.asarray(qualities, np.float64)[:, None]
    of_items = components.item * rng.standard_normal(items)
    both = components.item_system * rng.standard_normal((len(of_systems), items))
    return np.asarray(of_systems + of_items + both)


def drawn_values(
    design: Votes,
    stimuli: Floats,
    components: Components,
    rng: np.random.Generator,
    *,
    runs: int = 1,
    points: Points | None = None,
) -> Floats:
    """Votes of new listeners on stimuli of these qualities: a row a run, a column a vote."""
    systems, _, listeners = design.size
    bias = components.listener * rng.standard_normal((runs, listeners))
    taste = rng.standard_normal((runs, listeners, systems))
    values = components.residual * rng.standard_normal((runs, len(design.values)))
    values += stimuli[design.systems, design.items]
    values += bias[:, design.listeners]
    values += components.listener_system * taste[:, design.listeners, design.systems]
    return values if points is None else points.nearest(values)


def simulated(
    design: Votes,
    qualities: ArrayLike,
    components: Components,
    *,
    seed: int,
    points: Points | None = None,
) -> Votes:
    """The design with votes: items and listeners are both drawn anew."""
    rng = np.random.Generator(np.random.PCG64(seed))
    stimuli = stimulus_qualities(qualities, design.size[1], components, rng)
    return replace(design, values=drawn_values(design, stimuli, components, rng, points=points)[0])


def expected_vote(qualities: ArrayLike, variance: float, points: Points | None = None) -> Floats:
    """The mean of normal votes about these qualities, exact also where they are rounded and cut.

    Over listeners, give qualities of stimuli and the variance ``components.within_stimuli``; over
    items too, give qualities of systems, and add ``components.between_items``.

    >>> expected_vote([3.0, 1.0, 9.0], 1.0, Points()).round(3).tolist()
    [3.0, 1.382, 5.0]
    """
    from scipy.special import ndtr

    about = np.asarray(qualities, np.float64)
    if points is None:
        return about
    if variance == 0:
        return points.nearest(about)
    above = ndtr((about[..., None] - points.between) / math.sqrt(variance))
    return np.asarray(points.low + points.step * above.sum(axis=-1))
