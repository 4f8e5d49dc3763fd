"""Votes drawn from the model with crossed random intercepts: complete, or of a crowd."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from earwitness.stats.arrays import Floats
from earwitness.stats.contrasts import two_way_contrasts
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


CROWD_PARTS = Components(0.5, 0.4, 0.3, 0.3, 0.7)


class Crowd(NamedTuple):
    """Numbers of items (both systems together), listeners and votes.

    Each listener rates one system, unless ``both``.
    """

    items: int
    listeners: int
    votes: int
    both: bool = False


def crowd_votes(
    rng: np.random.Generator, crowd: Crowd, studies: int, difference: float = 0.0
) -> Votes:
    """Return studies of two systems each, 2n and 2n + 1; the first is better by ``difference``.

    Votes are dealt to listeners in turn, who start at a random item, each equally often.
    """
    own = crowd.items // 2
    heard = crowd.listeners if crowd.both else crowd.listeners // 2
    study, columns = np.arange(studies)[:, None], []
    tastes = rng.normal(0, CROWD_PARTS.listener, (studies, crowd.listeners))
    for system in (0, 1):
        vote = np.arange((crowd.votes + 1 - system) // 2)
        first = rng.permuted(np.tile(np.arange(heard) % own, (studies, 1)), axis=1)
        item = (first[:, vote % heard] + vote // heard) % own
        listener = vote % heard + (0 if crowd.both else system * heard)
        values = (
            3
            + difference * (system == 0)
            + tastes[:, listener]
            + rng.normal(0, CROWD_PARTS.listener_system, tastes.shape)[:, listener]
            + rng.normal(0, CROWD_PARTS.between_items**0.5, (studies, own))[study, item]
            + rng.normal(0, CROWD_PARTS.residual, item.shape)
        )
        rows = values, 2 * study + system, system * own + item, listener
        columns.append([np.broadcast_to(row, item.shape).ravel() for row in rows])
    values, *codes = (np.concatenate(column) for column in zip(*columns, strict=True))
    size = 2 * studies, crowd.items, crowd.listeners
    return Votes(values, codes[0], codes[1], codes[2], size)


def two_way_p(votes: Votes) -> Floats:
    """p of the two-way test in each study of ``crowd_votes``; 1 if there is none."""
    pairs = [(2 * study, 2 * study + 1) for study in range(votes.size[0] // 2)]
    return np.nan_to_num([p for _, p in two_way_contrasts(votes, pairs)], nan=1.0)
