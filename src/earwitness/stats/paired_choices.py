"""Bradley–Terry model with ties, separation checks, and the sensitivity index d′."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from earwitness.core import Estimate
from earwitness.stats.arrays import Bools, Floats, group_sums, select_rows
from earwitness.stats.votes import Codes

# --- Paired choices and separation ---------------------------------------------------------------
# Preferences form a directed graph; ties are edges in both directions. Systems that reach each
# other in it can be placed on a common scale; others can only be placed above or below, or not at
# all.


@dataclass(frozen=True)
class Choices:
    """Votes on pairs: +1 for ``first``, −1 for ``second``, 0 for a tie.

    Systems and listeners are numbered from 0; ``size`` has the number of systems and of listeners.
    With ``items``, errors also cover the choice of items.
    """

    first: Codes
    second: Codes
    outcomes: NDArray[np.int64]
    listeners: Codes
    size: tuple[int, int]
    items: Codes | None = None


def tally_choices(choices: Choices) -> tuple[Floats, Floats]:
    """Return how often each system was preferred to each other one, and how often they tied."""
    systems = choices.size[0]
    beaten, tied = np.zeros((systems, systems)), np.zeros((systems, systems))
    first, second, outcomes = choices.first, choices.second, choices.outcomes
    np.add.at(beaten, (first[outcomes > 0], second[outcomes > 0]), 1)
    np.add.at(beaten, (second[outcomes < 0], first[outcomes < 0]), 1)
    np.add.at(tied, (first[outcomes == 0], second[outcomes == 0]), 1)
    return beaten, tied + tied.T


def largest_core(votes: Floats, reached: Bools) -> Bools:
    """Return the largest set of systems that reach each other; of equally large ones that with
    most votes.
    """
    core = max(
        reached & reached.T,
        key=lambda members: (members.sum(), votes[np.ix_(members, members)].sum()),
        default=np.zeros(0, np.bool_),
    )
    return np.asarray(core & (core.sum() > 1))


def place_outside_core(reached: Bools, core: Bools) -> Floats:
    """Return ∞ for systems above the core, −∞ for systems below it, else NaN."""
    above = reached[:, core].any(axis=1)
    below = reached[core].any(axis=0)
    places = np.full(len(core), np.nan)
    places[above & ~below], places[below & ~above] = np.inf, -np.inf
    return places


def place_without_core(beaten: Floats, tied: Floats) -> Floats:
    """Return ∞ for systems that never lost, −∞ for systems that never won, if there is no core."""
    won, lost = beaten.any(axis=1), beaten.any(axis=0)
    places = np.full(len(beaten), np.nan)
    never_tied = ~tied.any(axis=1)
    places[won & ~lost & never_tied], places[lost & ~won & never_tied] = np.inf, -np.inf
    return places


def tie_factor_limit(choices: Choices) -> float:
    """Return −∞ without ties, ∞ if η diverges, or NaN if η has to be estimated.

    η diverges if abilities can be shifted such that every choice widens its pair by at least 2 and
    every tie keeps its pair within 2. Such shifts exist unless the shortest paths under these
    limits contain a cycle of negative length.
    """
    from scipy.sparse.csgraph import NegativeCycleError, floyd_warshall

    beaten, tied = tally_choices(choices)
    if not tied.any():
        return -math.inf
    limits = np.where(tied > 0, 2.0, np.inf)  # largest difference between two shifts
    try:
        floyd_warshall(np.where(beaten.T > 0, -2.0, limits))
    except NegativeCycleError:
        return math.nan
    return math.inf


# --- Bradley-Terry model with ties ---------------------------------------------------------------
# Davidson (1970). For systems i and j with log abilities θ, and the log tie factor η, the
# probabilities that the first is chosen, the second is chosen, or neither, are proportional to
#
#     exp((θᵢ − θⱼ) / 2)  :  exp((θⱼ − θᵢ) / 2)  :  exp(η)
#
# The log likelihood is concave and is maximized by Newton's method. Votes of one listener are not
# independent, so variances are sandwich estimates: scores are summed by listener, the covariance is
# multiplied by k / (k − 1) for k listeners, and intervals use t with k − 1 degrees of freedom. With
# items as well, the variance is that over listeners plus that over items minus that of single
# votes, which both contain, but at least either of the two; k is the smaller of both numbers
# (Cameron, Gelbach and Miller 2011).
#
# If the likelihood has no maximum (separation), no regularization is applied. The *core* is the
# largest set of systems that are connected in both directions by preferences or ties. Its abilities
# sum to 0 and are estimated from votes within it. A system that was only ever above the core has
# ability ∞, one below it −∞, and one that cannot be placed NaN. Without a core, systems that never
# lost have ∞ and systems that never won −∞. Without ties η is −∞, with nothing but ties ∞. If η and
# the abilities diverge together, both are undefined: η is ∞, abilities are NaN.


MAX_NEWTON_STEPS = 100
STEP_TOLERANCE = 1e-12  # iteration stops after a smaller Newton step


@dataclass(frozen=True)
class BradleyTerryFit:
    """Log abilities and the log tie factor, with standard errors over ``listeners`` listeners.

    Errors have ``freedom`` degrees of freedom.
    """

    abilities: Floats
    errors: Floats
    ties: float
    ties_error: float
    core: Bools
    listeners: int
    freedom: int


def fit_bradley_terry(choices: Choices) -> BradleyTerryFit:
    """Fit the Bradley–Terry model with ties by maximum likelihood.

    Parameters
    ----------
    choices
        Votes on pairs of systems.

    Returns
    -------
    BradleyTerryFit
        Log abilities with standard errors clustered by listener; ±∞ or NaN for systems outside
        the core.

    References
    ----------
    Davidson (1970). On extending the Bradley-Terry model to accommodate ties in paired comparison
    experiments. JASA 65.
    """
    from scipy.sparse.csgraph import floyd_warshall

    beaten, tied = tally_choices(choices)
    reached = np.isfinite(floyd_warshall(beaten + tied > 0, unweighted=True))
    core = largest_core(beaten + tied, reached)
    inner = select_rows(choices, core[choices.first] & core[choices.second])
    ties = tie_factor_limit(inner)
    undefined = np.full(choices.size[0], np.nan)
    if not core.any():
        return BradleyTerryFit(
            place_without_core(beaten, tied), undefined, ties, math.nan, core, 0, 0
        )
    if ties == math.inf:
        return BradleyTerryFit(undefined, undefined, ties, math.nan, np.zeros_like(core), 0, 0)
    parameters = _maximise_likelihood(inner, core, with_ties=math.isnan(ties))
    errors, freedom = _sandwich_errors(inner, core, parameters)
    listeners = len(np.unique(inner.listeners))
    abilities, ability_errors = place_outside_core(reached, core), undefined.copy()
    abilities[core], ability_errors[core] = parameters[:-1], errors[:-1]
    return BradleyTerryFit(
        *(abilities, ability_errors, float(parameters[-1]), float(errors[-1]), core),
        *(listeners, freedom),
    )


def _outcome_chances(choices: Choices, theta: Floats, ties: float) -> Floats:
    """Return the probabilities of first, second and neither, one row per vote."""
    half = (theta[choices.first] - theta[choices.second]) / 2
    logarithms = np.stack([half, -half, np.full_like(half, ties)])
    chances = np.exp(logarithms - logarithms.max(axis=0))
    return np.asarray((chances / chances.sum(axis=0)).T)


def _maximise_likelihood(choices: Choices, core: Bools, *, with_ties: bool) -> Floats:
    """Return the log abilities of the core, which sum to 0, and the log tie factor."""
    pairs = _group_votes(choices, core)
    parameters = np.zeros(int(core.sum()) + 1)
    parameters[-1] = 0.0 if with_ties else -np.inf
    likelihood = _log_likelihood(pairs, parameters)
    for _ in range(MAX_NEWTON_STEPS):
        step = np.linalg.solve(
            _likelihood_curvature(pairs, parameters, with_ties),
            _likelihood_slopes(pairs, parameters).sum(0),
        )
        step[:-1] -= step[:-1].mean()
        parameters, likelihood = _climb_step(pairs, parameters, likelihood, step)
        if np.abs(step).max() < STEP_TOLERANCE:
            break
    return parameters


@dataclass(frozen=True)
class _Pairs:
    """Distinct votes of the core, and how often each was given."""

    choices: Choices
    times: Floats


def _group_votes(choices: Choices, core: Bools) -> _Pairs:
    """Return distinct votes with counts, over all listeners; systems of the core are renumbered."""
    number, size = np.cumsum(core) - 1, int(core.sum())
    codes = (number[choices.first] * size + number[choices.second]) * 3 + choices.outcomes + 1
    kinds, times = np.unique(codes, return_counts=True)
    first, second = np.divmod(kinds // 3, size)
    nobody = np.zeros(len(kinds), np.int64)
    return _Pairs(
        Choices(first, second, kinds % 3 - 1, nobody, (size, 1)), times.astype(np.float64)
    )


def _log_likelihood(pairs: _Pairs, parameters: Floats) -> float:
    """Return the log likelihood."""
    chances = _outcome_chances(pairs.choices, parameters[:-1], parameters[-1])
    columns = np.choose(pairs.choices.outcomes + 1, [1, 2, 0])
    observed = chances[np.arange(len(chances)), columns]
    return float(pairs.times @ np.log(observed))


def _climb_step(
    pairs: _Pairs, parameters: Floats, likelihood: float, step: Floats
) -> tuple[Floats, float]:
    """Take a Newton step, halved until the likelihood does not decrease."""
    for _ in range(40):
        moved = parameters + step
        moved_likelihood = _log_likelihood(pairs, moved)
        if moved_likelihood >= likelihood - 1e-9 * abs(likelihood):
            return moved, moved_likelihood
        step = step / 2
    return parameters, likelihood


def _likelihood_slopes(pairs: _Pairs, parameters: Floats) -> Floats:
    """Return the score of each distinct vote times its count, one row per vote."""
    choices = pairs.choices
    chances = _outcome_chances(choices, parameters[:-1], parameters[-1])
    rows = np.arange(len(chances))
    slopes = np.zeros((len(chances), len(parameters)))
    half = (choices.outcomes - (chances[:, 0] - chances[:, 1])) / 2
    slopes[rows, choices.first], slopes[rows, choices.second] = half, -half
    slopes[:, -1] = (choices.outcomes == 0) - chances[:, 2]
    return slopes * pairs.times[:, None]


def _likelihood_curvature(pairs: _Pairs, parameters: Floats, with_ties: bool) -> Floats:
    """Return the negative Hessian of the log likelihood, with the sum of abilities fixed at 0."""
    choices = pairs.choices
    first, second, neither = _outcome_chances(choices, parameters[:-1], parameters[-1]).T
    rows = np.arange(len(first))
    pair_signs = np.zeros((len(first), len(parameters)))
    pair_signs[rows, choices.first], pair_signs[rows, choices.second] = 0.5, -0.5
    lean = first - second
    curvature = pair_signs.T @ ((pairs.times * (first + second - lean**2))[:, None] * pair_signs)
    curvature[-1] = curvature[:, -1] = -(pairs.times * neither * lean) @ pair_signs
    curvature[-1, -1] = pairs.times @ (neither * (1 - neither)) if with_ties else 1.0
    curvature[:-1, :-1] += pairs.times.sum() / (len(parameters) - 1)
    return np.asarray(curvature)


def _sandwich_errors(choices: Choices, core: Bools, parameters: Floats) -> tuple[Floats, int]:
    """Return sandwich standard errors, and their degrees of freedom."""
    number = np.cumsum(core) - 1
    renumbered = replace(choices, first=number[choices.first], second=number[choices.second])
    votes = _Pairs(renumbered, np.ones(len(choices.first)))
    with_ties = math.isfinite(parameters[-1])
    curvature = _likelihood_curvature(votes, parameters, with_ties)
    scores = _likelihood_slopes(votes, parameters)
    influence = np.asarray(np.linalg.solve(curvature, scores.T).T, np.float64)
    clusters = [choices.listeners] if choices.items is None else [choices.listeners, choices.items]
    sums = [group_sums(influence, codes) for codes in clusters]
    count = min(map(len, sums))
    if count < 2:
        return np.full(len(parameters), np.nan), 0
    # the variance of parameters over each kind of clusters
    squares = np.array([(total**2).sum(axis=0) * len(total) / (len(total) - 1) for total in sums])
    single = (influence**2).sum(axis=0) * (len(sums) - 1)
    errors = np.sqrt(np.maximum(squares.sum(axis=0) - single, squares.max(axis=0)))
    if not with_ties:
        errors[-1] = np.nan
    return errors, count - 1


# --- Sensitivity d-prime -------------------------------------------------------------------------
# From the proportion of correct answers of an unbiased listener (Macmillan and Creelman 2005,
# chapter 9). In ABX, a listener who uses the *differencing* strategy answers that X is the closer
# of the two:
#
#     proportion correct = Φ(d′/√2) Φ(d′/√6) + Φ(−d′/√2) Φ(−d′/√6)
#
# A listener who uses *independent observations* compares X with a fixed criterion between the two,
# and the two with each other:
#
#     proportion correct = Φ(d′/√2) Φ(d′/2) + Φ(−d′/√2) Φ(−d′/2)
#
# In a two-alternative forced choice (2AFC), the proportion correct is Φ(d′/√2).
#
# At a proportion of one half or less, d′ is 0. If all answers are correct, d′ and the upper end of
# its interval are infinite. The ends of intervals are those of the proportion, transformed.


DIFFERENCING, INDEPENDENT_OBSERVATIONS, FORCED_CHOICE = "differencing", "independent", "2afc"
MAX_SENSITIVITY = 80.0  # for larger d′ the proportion correct is 1 in double precision


def sensitivity(right: float, model: str = DIFFERENCING) -> float:
    """Compute d′ from the proportion of correct answers.

    Parameters
    ----------
    right
        Proportion correct, from 0 to 1.
    model
        ``differencing`` or ``independent`` for ABX, ``2afc`` for two alternatives.

    Returns
    -------
    float
        d′; 0 at or below one half, infinite at 1.

    References
    ----------
    Macmillan and Creelman (2005). Detection theory: A user's guide, chapter 9.

    Examples
    --------
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


def sensitivity_of_share(right: Estimate, model: str = DIFFERENCING) -> Estimate:
    """Return d′ with its interval from the proportion of correct answers with its interval."""
    value, low, high = (sensitivity(end, model) for end in (right.value, right.low, right.high))
    return replace(right, value=value, low=low, high=high, method=f"{right.method}|{model}")


def _two_comparisons(second: float) -> Callable[[float], float]:
    """Return the probability, given d′, that both comparisons are correct or both are wrong."""

    def right(d: float) -> float:
        both = _normal_cdf(d / math.sqrt(2)) * _normal_cdf(d / second)
        return both + _normal_cdf(-d / math.sqrt(2)) * _normal_cdf(-d / second)

    return right


def _normal_cdf(z: float) -> float:
    """Return Φ(z)."""
    return math.erfc(-z / math.sqrt(2)) / 2


SENSITIVITY_MODELS: dict[str, Callable[[float], float]] = {
    DIFFERENCING: _two_comparisons(math.sqrt(6)),
    INDEPENDENT_OBSERVATIONS: _two_comparisons(2.0),
    FORCED_CHOICE: lambda d: _normal_cdf(d / math.sqrt(2)),
}
