"""Alternating projection for the subject model: qualities, biases and inconsistencies in turn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from earwitness.stats.exact import Bools, Floats
from earwitness.stats.votes import Codes

ROUNDS = 1000
STILL = 1e-8  # the change of all qualities together at which rounds end


class State(NamedTuple):
    """Where a round ends; ``rounds`` says how many there were."""

    qualities: Floats
    biases: Floats
    spread: Floats  # of what remains, by listener
    held: Floats  # the same, not below the floor
    rounds: int
    converged: bool


def floor_of(spread: Floats, counts: Codes) -> float:
    """How well others know a quality; where the median is 0, by the root of the mean square."""
    if not len(spread):
        return 0.0
    usual = float(np.median(spread)) or float(np.sqrt(np.mean(spread**2)))
    return usual / float(np.sqrt((counts * (counts - 1)).sum() / counts.sum()))


def first_round(votes: Floats, there: Bools) -> State:
    """All listeners weigh the same."""
    qualities = means(votes, there, 1)
    biases = means(votes - qualities[:, None], there, 0)
    spread = _spread(votes, there, qualities, biases)
    return State(qualities, biases, spread, spread, 0, False)


def projected(votes: Floats, there: Bools, state: State, floor: float) -> State:
    """Rounds until qualities stay, or the last that is allowed."""
    for n in range(1, ROUNDS + 1):
        before = state.qualities
        spread = _spread(votes, there, before, state.biases)
        held = np.maximum(spread, floor)
        weight = there * weights(held)
        qualities = means(votes - state.biases, weight, 1)
        biases = means(votes - qualities[:, None], there, 0)
        done = float(np.linalg.norm(qualities - before)) < STILL
        state = State(qualities, biases, spread, held, n, done)
        if done:
            break
    return state


def weights(held: Floats) -> Floats:
    """One over the square, as the recommendation has it: a hair above 0 stays finite."""
    return 1 / (held**2 + STILL)


def means(values: Floats, weight: Floats | Bools, axis: int) -> Floats:
    """Weighted; 0 where nothing weighs."""
    total = weight.sum(axis=axis)
    sums = (values * weight).sum(axis=axis)
    found: Floats = np.divide(sums, total, out=np.zeros(len(total)), where=total > 0)
    return found


def _spread(votes: Floats, there: Bools, qualities: Floats, biases: Floats) -> Floats:
    remains = votes - qualities[:, None] - biases
    return np.sqrt(means((remains - means(remains, there, 0)) ** 2, there, 0))


def centred(state: State, there: Bools, parts: Codes) -> tuple[Floats, Floats]:
    """Biases sum to 0 within a part; what they lose goes to the qualities of its stimuli."""
    qualities, biases = state.qualities.copy(), state.biases.copy()
    for part in range(parts.max(initial=-1) + 1):
        own = parts == part
        mean = biases[own].mean()
        biases[own] -= mean
        qualities[there[:, own].any(axis=1)] += mean
    return qualities, biases
