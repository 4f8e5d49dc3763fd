"""Votes drawn from the model with crossed random intercepts."""

from __future__ import annotations

import numpy as np

from earwitness.stats.arrays import Floats
from earwitness.stats.mixed_model import Components
from earwitness.stats.votes import Votes


def drawn(
    rng: np.random.Generator,
    components: Components,
    means: Floats,
    items: int,
    listeners: int,
    panels: int = 1,
) -> Votes:
    """One vote of every listener on every item (of the own panel) of every system."""
    sizes = len(means), items, listeners
    every = np.meshgrid(*(np.arange(size) for size in sizes), indexing="ij")
    own = (every[1] % panels == every[2] % panels).ravel()
    system, item, listener = (codes.ravel()[own] for codes in every)
    values = (
        means[system]
        + rng.normal(0, components.listener, listeners)[listener]
        + rng.normal(0, components.item, items)[item]
        + rng.normal(0, components.listener_system, (listeners, sizes[0]))[listener, system]
        + rng.normal(0, components.item_system, (items, sizes[0]))[item, system]
        + rng.normal(0, components.residual, len(system))
    )
    return Votes(values, system, item, listener, sizes)
