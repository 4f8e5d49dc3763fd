"""Bradley–Terry with ties (Davidson 1970): abilities of systems from votes on pairs.

Of systems i and j with log abilities θ, and with the log tie factor η, the first is chosen, the
second, or neither, with chances that are as

    exp((θᵢ − θⱼ) / 2)  :  exp((θⱼ − θᵢ) / 2)  :  exp(η)

The log likelihood is concave, and Newton's steps go to its top. Votes of one listener are not
independent, so variances are by the sandwich: scores are summed by listener, the covariance is
multiplied by k / (k − 1) for k listeners, and intervals have t with k − 1 degrees of freedom.

Where a likelihood has no top, nothing is made up. The *core* is the largest set of systems of
which every one was at least once preferred to, or tied with, others of the set, along some way to
each other one. Its abilities sum to 0, from votes within it. A system that only ever stood above
the core has ability ∞, one below it −∞, and one that cannot be placed NaN. Without a core, who
never lost has ∞ and who never won −∞. Without ties η is −∞, and with nothing but ties ∞. Where
ties and choices fit together so well that η and abilities grow without end together, both are
undefined: η is ∞, abilities are NaN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from earwitness.stats.exact import Bools, Floats
from earwitness.stats.separation import (
    Choices,
    at_the_ends,
    core_of,
    edge_of_ties,
    placed,
    tallied,
)
from earwitness.stats.votes import Codes

STEPS = 100
STILL = 1e-12  # a Newton step that moves nothing by more than this is the last


@dataclass(frozen=True)
class Fitted:
    """Log abilities and the log tie factor, with standard errors over ``listeners`` listeners."""

    abilities: Floats
    errors: Floats
    ties: float
    ties_error: float
    core: Bools
    listeners: int


def fitted(choices: Choices) -> Fitted:
    """The top of the likelihood, or what can be said without one."""
    beaten, tied = tallied(choices)
    core = core_of(beaten + tied)
    inner = choices.within(core)
    ties = edge_of_ties(inner)
    nothing = np.full(choices.size[0], np.nan)
    if not core.any():
        return Fitted(at_the_ends(beaten, tied), nothing, ties, math.nan, core, 0)
    if ties == math.inf:
        return Fitted(nothing, nothing, ties, math.nan, np.zeros_like(core), 0)
    top = _top(inner, core, with_ties=math.isnan(ties))
    errors, listeners = _errors(inner, core, top)
    abilities, own = placed(beaten + tied > 0, core), nothing.copy()
    abilities[core], own[core] = top[:-1], errors[:-1]
    return Fitted(abilities, own, float(top[-1]), float(errors[-1]), core, listeners)


def _chances(choices: Choices, theta: Floats, ties: float) -> Floats:
    """A row a vote: the chances of first, second and neither."""
    half = (theta[choices.first] - theta[choices.second]) / 2
    logarithms = np.stack([half, -half, np.full_like(half, ties)])
    chances = np.exp(logarithms - logarithms.max(axis=0))
    return np.asarray((chances / chances.sum(axis=0)).T)


def _top(choices: Choices, core: Bools, *, with_ties: bool) -> Floats:
    """Log abilities of the core, summing to 0, and the log tie factor."""
    pairs = _grouped(choices, core)
    theta = np.zeros(int(core.sum()) + 1)
    theta[-1] = 0.0 if with_ties else -np.inf
    height = _height(pairs, theta)
    for _ in range(STEPS):
        step = np.linalg.solve(_curvature(pairs, theta, with_ties), _slopes(pairs, theta).sum(0))
        step[:-1] -= step[:-1].mean()
        theta, height = _climbed(pairs, theta, height, step)
        if np.abs(step).max() < STILL:
            break
    return theta


@dataclass(frozen=True)
class _Pairs:
    """Votes of the core, equal ones together, and how often each was given."""

    choices: Choices
    times: Floats


def _grouped(choices: Choices, core: Bools) -> _Pairs:
    """Equal votes counted once, with systems of the core numbered anew; listeners in one."""
    number, size = np.cumsum(core) - 1, int(core.sum())
    codes = (number[choices.first] * size + number[choices.second]) * 3 + choices.outcomes + 1
    kinds, times = np.unique(codes, return_counts=True)
    first, second = np.divmod(kinds // 3, size)
    nobody = np.zeros(len(kinds), np.int64)
    return _Pairs(
        Choices(first, second, kinds % 3 - 1, nobody, (size, 1)), times.astype(np.float64)
    )


def _height(pairs: _Pairs, theta: Floats) -> float:
    """The log likelihood."""
    chances = _chances(pairs.choices, theta[:-1], theta[-1])
    own = chances[np.arange(len(chances)), _column(pairs.choices)]
    return float(pairs.times @ np.log(own))


def _column(choices: Choices) -> Codes:
    return np.asarray(np.choose(choices.outcomes + 1, [1, 2, 0]), np.int64)


def _climbed(pairs: _Pairs, theta: Floats, height: float, step: Floats) -> tuple[Floats, float]:
    """One step, halved while it leads down."""
    for _ in range(40):
        there = theta + step
        reached = _height(pairs, there)
        if reached >= height - 1e-9 * abs(height):
            return there, reached
        step = step / 2
    return theta, height


def _slopes(pairs: _Pairs, theta: Floats) -> Floats:
    """A row a kind of vote: the slope of its log likelihood, times how often it was given."""
    choices = pairs.choices
    chances = _chances(choices, theta[:-1], theta[-1])
    rows = np.arange(len(chances))
    found = np.zeros((len(chances), len(theta)))
    half = (choices.outcomes - (chances[:, 0] - chances[:, 1])) / 2
    found[rows, choices.first], found[rows, choices.second] = half, -half
    found[:, -1] = (choices.outcomes == 0) - chances[:, 2]
    return found * pairs.times[:, None]


def _curvature(pairs: _Pairs, theta: Floats, with_ties: bool) -> Floats:
    """How the log likelihood bends, turned positive; the sum of abilities is held at 0."""
    choices = pairs.choices
    first, second, neither = _chances(choices, theta[:-1], theta[-1]).T
    rows = np.arange(len(first))
    apart = np.zeros((len(first), len(theta)))
    apart[rows, choices.first], apart[rows, choices.second] = 0.5, -0.5
    lean = first - second
    bend = apart.T @ ((pairs.times * (first + second - lean**2))[:, None] * apart)
    bend[-1] = bend[:, -1] = -(pairs.times * neither * lean) @ apart
    bend[-1, -1] = pairs.times @ (neither * (1 - neither)) if with_ties else 1.0
    bend[:-1, :-1] += pairs.times.sum() / (len(theta) - 1)
    return np.asarray(bend)


def _errors(choices: Choices, core: Bools, theta: Floats) -> tuple[Floats, int]:
    """Standard errors by the sandwich, and how many listeners they rest on."""
    number = np.cumsum(core) - 1
    _, who = np.unique(choices.listeners, return_inverse=True)
    listeners = int(who.max()) + 1
    first, second = number[choices.first], number[choices.second]
    one = Choices(first, second, choices.outcomes, who, (int(core.sum()), listeners))
    votes = _Pairs(one, np.ones(len(who)))
    scores = np.zeros((listeners, len(theta)))
    np.add.at(scores, who, _slopes(votes, theta))
    with_ties = math.isfinite(theta[-1])
    moved = np.linalg.solve(_curvature(votes, theta, with_ties), scores.T)
    if listeners < 2:
        return np.full(len(theta), np.nan), listeners
    errors = np.sqrt((moved**2).sum(axis=1) * listeners / (listeners - 1))
    if not with_ties:
        errors[-1] = np.nan
    return errors, listeners
