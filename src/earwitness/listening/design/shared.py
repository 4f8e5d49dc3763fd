"""How evenly systems, and pairs of them, are given to listeners who cannot hear all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

from earwitness.data import Block, Design
from earwitness.listening.design.claim import IMPOSSIBLE, Claim, told, verdict, within
from earwitness.listening.design.heard import Heard

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
MOST = 20_000  # choices of sets that are tried
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
        kept = [within(panel, 1) for panel in found]
        label = f"listeners of a panel who hear {what}"
        yield Claim(label, told(found), told(other), judged(kept, heard, block, size))


def judged(kept: Sequence[bool], heard: Heard, block: Block, size: int) -> str:
    """Whether all panels are even; "cannot be" if that is beyond all that are not."""
    wrong = [int((heard.panels == panel).sum()) for panel, even in enumerate(kept) if not even]
    beyond = size == 2 and all(not _could(len(block.systems), block.heard, one) for one in wrong)
    return IMPOSSIBLE if wrong and beyond else verdict(not wrong)


@cache
def _could(number: int, heard: int, listeners: int) -> bool:
    """Whether so many sets can give systems, and pairs, to listeners equally often within one.

    All choices of sets are tried, of which the first may be any; if they are many, nothing is said.
    """
    every = list(combinations(range(number), heard))
    if comb(len(every) + listeners - 2, listeners - 1) > MOST:
        return True
    holds = np.array([[place in one for place in range(number)] for one in every], np.int64)
    pairs = np.einsum("ci,cj->cij", holds, holds)
    ours = np.triu_indices(number, 1)
    return any(
        within(np.diag(together), 1) and within(together[ours], 1)
        for more in combinations_with_replacement(range(len(every)), listeners - 1)
        for together in [pairs[[0, *more]].sum(axis=0)]
    )


def _together(heard: Heard, given: Bools, size: int) -> Ints:
    """By panel, and by as many systems, how many listeners hear them all."""
    every = combinations(range(given.shape[1]), size)
    found = np.stack([given[:, one].all(axis=1) for one in every], axis=1)
    return heard.by_panel(found.astype(np.int64))
