"""Votes on pairs of systems, and where they leave abilities without an end.

Who was preferred to whom makes a graph; ties lead both ways. Systems that reach each other in it
can be placed beside each other, others only above or below, or not at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earwitness.stats.exact import Bools, Floats
from earwitness.stats.votes import Codes

LEAST = -1e9  # circles of negative length are not followed below this


@dataclass(frozen=True)
class Choices:
    """Votes on pairs: +1 for ``first``, −1 for ``second``, 0 for neither.

    Systems and listeners are numbered from 0; ``size`` says how many systems and listeners are
    known.
    """

    first: Codes
    second: Codes
    outcomes: NDArray[np.int64]
    listeners: Codes
    size: tuple[int, int]

    def within(self, systems: Bools) -> Choices:
        """Votes on pairs of these systems."""
        kept = systems[self.first] & systems[self.second]
        own = self.first[kept], self.second[kept], self.outcomes[kept], self.listeners[kept]
        return Choices(own[0], own[1], own[2], own[3], self.size)


def tallied(choices: Choices) -> tuple[Floats, Floats]:
    """How often each system was preferred to each other one, and how often they tied."""
    systems = choices.size[0]
    beaten, tied = np.zeros((systems, systems)), np.zeros((systems, systems))
    first, second, outcomes = choices.first, choices.second, choices.outcomes
    np.add.at(beaten, (first[outcomes > 0], second[outcomes > 0]), 1)
    np.add.at(beaten, (second[outcomes < 0], first[outcomes < 0]), 1)
    np.add.at(tied, (first[outcomes == 0], second[outcomes == 0]), 1)
    return beaten, tied + tied.T


def _reached(edges: Bools) -> Bools:
    """From which system a way leads to which; every one reaches itself."""
    reached = edges | np.eye(len(edges), dtype=np.bool_)
    for _ in range(max(1, math.ceil(math.log2(max(2, len(edges)))))):
        reached = (reached.astype(np.float64) @ reached.astype(np.float64)) > 0
    return np.asarray(reached)


def core_of(votes: Floats) -> Bools:
    """The largest set in which every system reaches every other one; of equals, by most votes."""
    reached = _reached(votes > 0)
    sets = reached & reached.T
    best = np.zeros(len(votes), np.bool_)
    for own in sets:
        if own.sum() > 1 and (own.sum(), _inside(votes, own)) > (best.sum(), _inside(votes, best)):
            best = own
    return best


def _inside(votes: Floats, own: Bools) -> float:
    return float(votes[np.ix_(own, own)].sum())


def placed(edges: Bools, core: Bools) -> Floats:
    """Where systems outside the core stand: above it, below it, or nobody knows."""
    reached = _reached(edges)
    above = reached[:, core].any(axis=1)
    below = reached[core].any(axis=0)
    found = np.full(len(core), np.nan)
    found[above & ~below], found[below & ~above] = np.inf, -np.inf
    return found


def at_the_ends(beaten: Floats, tied: Floats) -> Floats:
    """Without a core: who never lost, and who never won."""
    won, lost = beaten.any(axis=1), beaten.any(axis=0)
    found = np.full(len(beaten), np.nan)
    alone = ~tied.any(axis=1)
    found[won & ~lost & alone], found[lost & ~won & alone] = np.inf, -np.inf
    return found


def edge_of_ties(choices: Choices) -> float:
    """−∞ without ties, ∞ where η would grow without end, else NaN: it has to be fitted.

    η grows without end if there are shifts of abilities by which every choice widens its pair by
    at least 2 and every tie keeps its pair within 2. Such shifts exist unless the shortest ways
    under these limits go round in a circle of negative length.
    """
    beaten, tied = tallied(choices)
    if not tied.any():
        return -math.inf
    reach = np.where(tied > 0, 2.0, np.inf)  # a shift may exceed the other's by this much
    reach = np.minimum(reach, np.where(beaten.T > 0, -2.0, np.inf))
    np.fill_diagonal(reach, 0.0)
    for middle in range(len(reach)):
        reach = np.minimum(reach, reach[:, [middle]] + reach[[middle]]).clip(LEAST)
    return math.nan if (np.diag(reach) < 0).any() else math.inf
