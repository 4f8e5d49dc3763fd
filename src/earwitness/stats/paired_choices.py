"""Bradley-Terry model with ties, separation checks, and the sensitivity index d-prime."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earwitness.core import Estimate
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.significance import share
from earwitness.stats.votes import Codes

# --- Paired choices and separation ---------------------------------------------------------------
# Who was preferred to whom makes a graph; ties lead both ways. Systems that reach each other in it
# can be placed beside each other, others only above or below, or not at all.


MIN_PATH_LENGTH = -1e9  # circles of negative length are not followed below this


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
        reach = np.minimum(reach, reach[:, [middle]] + reach[[middle]]).clip(MIN_PATH_LENGTH)
    return math.nan if (np.diag(reach) < 0).any() else math.inf


# --- Bradley-Terry model with ties ---------------------------------------------------------------
# Davidson (1970). Of systems i and j with log abilities θ, and with the log tie factor η, the first
# is chosen, the second, or neither, with chances that are as
#
#     exp((θᵢ − θⱼ) / 2)  :  exp((θⱼ − θᵢ) / 2)  :  exp(η)
#
# The log likelihood is concave, and Newton's steps go to its top. Votes of one listener are not
# independent, so variances are by the sandwich: scores are summed by listener, the covariance is
# multiplied by k / (k − 1) for k listeners, and intervals have t with k − 1 degrees of freedom.
#
# Where a likelihood has no top, nothing is made up. The *core* is the largest set of systems of
# which every one was at least once preferred to, or tied with, others of the set, along some way to
# each other one. Its abilities sum to 0, from votes within it. A system that only ever stood above
# the core has ability ∞, one below it −∞, and one that cannot be placed NaN. Without a core, who
# never lost has ∞ and who never won −∞. Without ties η is −∞, and with nothing but ties ∞. Where
# ties and choices fit together so well that η and abilities grow without end together, both are
# undefined: η is ∞, abilities are NaN.


MAX_NEWTON_STEPS = 100
STEP_TOLERANCE = 1e-12  # a Newton step that moves nothing by more than this is the last


@dataclass(frozen=True)
class BradleyTerryFit:
    """Log abilities and the log tie factor, with standard errors over ``listeners`` listeners."""

    abilities: Floats
    errors: Floats
    ties: float
    ties_error: float
    core: Bools
    listeners: int


def fitted(choices: Choices) -> BradleyTerryFit:
    """The top of the likelihood, or what can be said without one."""
    beaten, tied = tallied(choices)
    core = core_of(beaten + tied)
    inner = choices.within(core)
    ties = edge_of_ties(inner)
    nothing = np.full(choices.size[0], np.nan)
    if not core.any():
        return BradleyTerryFit(at_the_ends(beaten, tied), nothing, ties, math.nan, core, 0)
    if ties == math.inf:
        return BradleyTerryFit(nothing, nothing, ties, math.nan, np.zeros_like(core), 0)
    top = _top(inner, core, with_ties=math.isnan(ties))
    errors, listeners = _errors(inner, core, top)
    abilities, own = placed(beaten + tied > 0, core), nothing.copy()
    abilities[core], own[core] = top[:-1], errors[:-1]
    return BradleyTerryFit(abilities, own, float(top[-1]), float(errors[-1]), core, listeners)


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
    for _ in range(MAX_NEWTON_STEPS):
        step = np.linalg.solve(_curvature(pairs, theta, with_ties), _slopes(pairs, theta).sum(0))
        step[:-1] -= step[:-1].mean()
        theta, height = _climbed(pairs, theta, height, step)
        if np.abs(step).max() < STEP_TOLERANCE:
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


# --- Sensitivity d-prime -------------------------------------------------------------------------
# From the share of right answers, for a listener who leans to neither answer (Macmillan and
# Creelman 2005, chapter 9). In ABX, one who *differences* says that X is the closer of the two:
#
#     share right = Φ(d′/√2) Φ(d′/√6) + Φ(−d′/√2) Φ(−d′/√6)
#
# One who makes *independent observations* compares X with a fixed point between the two, and the
# two with each other:
#
#     share right = Φ(d′/√2) Φ(d′/2) + Φ(−d′/√2) Φ(−d′/2)
#
# Of two sounds, the right one is chosen (2AFC) with Φ(d′/√2).
#
# A share of one half or less says that nothing was heard: d′ is 0. All right says that d′ has no
# upper end: it is infinite, and so is the upper end of its interval. Ends of intervals are those of
# the share (Clopper–Pearson), transformed.


DIFFERENCING, INDEPENDENT_OBSERVATIONS, FORCED_CHOICE = "differencing", "independent", "2afc"
MAX_SENSITIVITY = 80.0  # a d′ beyond which every share is 1 in double precision


def sensitivity(right: float, model: str = DIFFERENCING) -> float:
    """d′ from a share of right answers, from 0 to 1.

    >>> round(sensitivity(0.75), 3), round(sensitivity(0.75, "independent"), 3)
    (2.02, 1.79)
    """
    from scipy.optimize import brentq

    if math.isnan(right):
        return math.nan
    if right <= 0.5:
        return 0.0
    if right >= 1:
        return math.inf
    return float(
        brentq(lambda d: SENSITIVITY_MODELS[model](d) - right, 0, MAX_SENSITIVITY, xtol=1e-12)
    )


def sensitivity_of_counts(
    right: int, trials: int, level: float = 0.95, model: str = DIFFERENCING
) -> Estimate:
    """d′ from a count of right answers, with its interval."""
    known = share(right, trials, level)
    value, low, high = (sensitivity(x, model) for x in (known.value, known.low, known.high))
    return Estimate(value, low, high, level, trials, 0, f"{known.method}|{model}")


def _two_steps(second: float) -> Callable[[float], float]:
    """Both comparisons right, or both wrong."""

    def right(d: float) -> float:
        both = _below(d / math.sqrt(2)) * _below(d / second)
        return both + _below(-d / math.sqrt(2)) * _below(-d / second)

    return right


def _below(z: float) -> float:
    """Φ."""
    return math.erfc(-z / math.sqrt(2)) / 2


SENSITIVITY_MODELS: dict[str, Callable[[float], float]] = {
    DIFFERENCING: _two_steps(math.sqrt(6)),
    INDEPENDENT_OBSERVATIONS: _two_steps(2.0),
    FORCED_CHOICE: lambda d: _below(d / math.sqrt(2)),
}
