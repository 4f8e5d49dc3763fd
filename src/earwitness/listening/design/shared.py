"""How evenly systems, and pairs of them, are given to listeners who cannot hear all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from earwitness.data import Design
from earwitness.listening.design.claim import Claim, told, verdict, within
from earwitness.listening.design.heard import Heard

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
CHOICE = 6  # stream of chance


def hearing(heard: Heard, systems: Sequence[str]) -> Bools:
    """Which listener hears which system."""
    holds = np.array([[one in treatment for one in systems] for treatment in heard.treatments])
    return (heard.hears.astype(np.int64) @ holds.astype(np.int64)) > 0


def shared(design: Design, number: int, heard: Heard) -> Iterator[Claim]:
    """Listeners of a panel who hear a system, and two of them."""
    block = design.study.blocks[number]
    rng = np.random.default_rng([design.study.seed, CHOICE, number])
    given = hearing(heard, block.systems)
    one = np.arange(len(block.systems)) < block.heard
    drawn = rng.permuted(np.tile(one, (len(given), 1)), axis=1)
    for size, what in ((1, "a system"), (2, "two systems")):
        found, other = (_together(heard, own, size) for own in (given, drawn))
        kept = all(within(panel, 1) for panel in found)
        label = f"listeners of a panel who hear {what}"
        yield Claim(label, told(found), told(other), verdict(kept))


def _together(heard: Heard, given: Bools, size: int) -> Ints:
    """By panel, and by as many systems, how many listeners hear them all."""
    every = combinations(range(given.shape[1]), size)
    found = np.stack([given[:, one].all(axis=1) for one in every], axis=1)
    return heard.by_panel(found.astype(np.int64))
