"""Linear mixed model with crossed random effects: REML and Satterthwaite intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from earwitness.core import Estimate
from earwitness.stats.arrays import Floats
from earwitness.stats.crossed_effects import (
    RESIDUAL,
    CrossProducts,
    LikelihoodPoint,
    border_size,
    component_codes,
    cross_products,
    evaluate_likelihood,
    number_levels,
)
from earwitness.stats.means import TestedMeans, vote_moments
from earwitness.stats.votes import Codes, Votes

# --- REML variance estimation --------------------------------------------------------------------
# Restricted maximum likelihood (Patterson & Thompson 1971) by Newton's method. A step goes to the
# maximum of a quadratic approximation among nonnegative variances. The approximation uses the
# observed information if that is positive definite, else Fisher's expected information. Steps that
# decrease the likelihood are halved. For complete balanced data without zero variances, the result
# equals that of the analysis of variance.


MAX_NEWTON_STEPS = 200
MAX_HALVINGS = 30
MAX_STALLED_STEPS = 20  # without an increase of the likelihood beyond rounding
MIN_START_SHARE = 1e-3  # smallest first estimate, relative to the variance of all votes
MIN_RESIDUAL_SHARE = 1e-6  # smallest residual variance, relative to the variance of all votes
FINAL_STEP_SHARE = 1e-7  # iteration stops after a smaller step, relative to that variance
MIN_CURVATURE = 1e-12  # smallest eigenvalue of the scaled curvature
# with a smaller eigenvalue relative to Fisher's information, that is used instead of the observed:
# far from the maximum, its steps are better
FLAT_CURVATURE = 0.5
# smallest share of a component that is not explained by other components
MIN_DISTINCT_SQUARES_SHARE = 1e-8


class RemlFit(NamedTuple):
    """Variances, with the residual last, and the likelihood at them."""

    variances: Floats
    point: LikelihoodPoint
    converged: bool


def identifiable_components(votes: Votes, names: tuple[str, ...]) -> tuple[tuple[str, ...], Floats]:
    """Return the components that are not confounded with means, residual or earlier components.

    The second result has first estimates of their variances, with the residual last: MINQUE(0), the
    variances for which squares of sums of votes by level have their expected values (Rao 1971).
    """
    products = gram = _component_products(votes, names)
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    gram = gram / np.outer(scale, scale)
    kept = [0]
    for place in range(1, len(gram)):
        if scale[place] ** 2 <= MIN_DISTINCT_SQUARES_SHARE * len(votes.values):
            continue  # confounded with the means
        kept_gram = gram[np.ix_(kept, kept)]
        distinct_share = gram[place, place] - gram[place, kept] @ np.linalg.solve(
            kept_gram, gram[kept, place]
        )
        if distinct_share > MIN_DISTINCT_SQUARES_SHARE:
            kept.append(place)
    kept_names = tuple(names[place - 1] for place in kept[1:])
    y = votes.values - vote_moments(votes).mean[votes.systems]
    levels = (number_levels(component_codes(votes, name)) for name in kept_names)
    sums = [y, *(np.bincount(codes, y) for codes in levels)]
    squares = [float(level_sums @ level_sums) for level_sums in sums]
    variances = np.linalg.solve(products[np.ix_(kept, kept)], squares)
    total = squares[0] / max(products[0, 0], 1)
    return kept_names, np.roll(np.clip(variances, MIN_START_SHARE * total, None), -1)


def _component_products(votes: Votes, names: tuple[str, ...]) -> Floats:
    """Return tr(M Vj M Vk) of all components, the residual first, where M removes system means.

    Its sums are over votes that share two levels, which are few.
    """
    from scipy.sparse import csr_array

    levels = [votes.systems, *(component_codes(votes, name) for name in names)]
    rows, ones = np.arange(len(votes.values)), np.ones(len(votes.values))
    x, *columns = (csr_array((ones, (rows, number_levels(codes)))) for codes in levels)
    count = x.sum(axis=0)
    by_system = [(z.T @ x).tocsr() for z in columns]
    grams = [(u.T @ u).toarray() / count for u in by_system]
    products = np.zeros((len(names) + 1,) * 2)
    products[0, 0] = len(rows) - len(count)
    for j, z in enumerate(columns):
        products[0, j + 1] = products[j + 1, 0] = len(rows) - np.trace(grams[j])
        for k in range(j + 1):
            shared = z.T @ columns[k]
            both = (by_system[j] * (shared @ by_system[k])).sum(axis=0) / count
            value = shared.power(2).sum() - 2 * both.sum() + (grams[j] * grams[k].T).sum()
            products[j + 1, k + 1] = products[k + 1, j + 1] = value
    return products


def fit_variances(
    model: CrossProducts, start: Floats, progress: Callable[[int], object]
) -> RemlFit:
    """Return the REML variances; votes must vary within systems."""
    total, current, stalled = model.yy / model.residual_df, start, 0
    point = evaluate_likelihood(model, current)
    for step in range(MAX_NEWTON_STEPS):
        progress(step)
        target = _newton_target(current, point, MIN_RESIDUAL_SHARE * total)
        if float(np.abs(target - current).max()) < FINAL_STEP_SHARE * total:
            return RemlFit(current, point, True)
        stepped, reached = _halve_step(model, current, point, target)
        size = float(np.abs(stepped - current).max())
        stalled += reached.loglik <= point.loglik + _rounding_of(point.loglik)
        current, point = stepped, reached
        # no longer step increases the likelihood, or rounding moves the optimum from step to step
        if size < FINAL_STEP_SHARE * total or stalled >= MAX_STALLED_STEPS:
            return RemlFit(current, point, True)
    return RemlFit(current, point, False)


def _newton_target(current: Floats, point: LikelihoodPoint, floor: float) -> Floats:
    """Return the maximum of the quadratic approximation; variances stay nonnegative."""
    fisher = point.traces / 2
    slope = point.squares / 2 - fisher @ current
    free = (current > 0) | (slope > 0)
    free_block = np.ix_(free, free)
    curvature = (point.cubes / current[-1] - fisher)[free_block]
    if scaled_curvature(curvature, fisher[free_block])[1][0] < FLAT_CURVATURE:
        curvature = fisher[free_block]
    target = np.zeros_like(current)
    target[free] = _bounded_optimum(
        curvature, fisher[free_block], slope[free] + curvature @ current[free], floor
    )
    return target


def _bounded_optimum(curvature: Floats, fisher: Floats, right: Floats, floor: float) -> Floats:
    """Solve curvature · θ = right for nonnegative θ, with the last at least ``floor``."""
    from scipy.optimize import nnls

    scale, values, vectors = scaled_curvature(curvature, fisher)
    # Nonnegative least squares (Lawson & Hanson 1974) on the square root of the curvature.
    roots = np.sqrt(values)
    right = vectors.T @ (scale * (right - curvature[:, -1] * floor)) / roots
    optimum = scale * nnls(roots[:, None] * vectors.T, right)[0]
    optimum[-1] += floor
    return np.asarray(optimum)


def scaled_curvature(curvature_matrix: Floats, traces: Floats) -> tuple[Floats, Floats, Floats]:
    """Return a scale that makes the diagonal of ``traces`` 1, and scaled eigenvalues and vectors.

    Eigenvalues are at least ``MIN_CURVATURE``, since rounding may make them smaller.
    """
    diagonal = np.diag(traces)
    scale = 1 / np.sqrt(np.maximum(diagonal, MIN_CURVATURE * diagonal.max()))
    values, vectors = np.linalg.eigh(curvature_matrix * np.outer(scale, scale))
    return scale, np.maximum(values, MIN_CURVATURE), vectors


def _rounding_of(loglik: float) -> float:
    """Return the size of rounding errors of a likelihood."""
    return 1e-13 * max(1.0, abs(loglik))


def _halve_step(
    model: CrossProducts, current: Floats, point: LikelihoodPoint, target: Floats
) -> tuple[Floats, LikelihoodPoint]:
    """Step towards the target as far as the likelihood does not decrease."""
    slack = _rounding_of(point.loglik)
    for _ in range(MAX_HALVINGS):
        reached = evaluate_likelihood(model, target)
        if reached.loglik >= point.loglik - slack:
            return target, reached
        target = (target + current) / 2
    return current, point


# --- Mixed-model means and contrasts -------------------------------------------------------------
# Each system has a fixed mean; listeners, items and their interactions with systems are random
# effects. Variances are estimated by REML, degrees of freedom by Satterthwaite's formula from the
# nonzero variances. Components that cannot be distinguished from others are left out and reported:
# with one system, listener and listener × system are the same.
#
# With fewer than two listeners or two items, or if the iteration did not converge, there is no
# interval.


MAX_BORDER = 3000  # largest number of systems, and listeners and items of several systems
COMPONENT_NAMES = ("listener", "item", "listener_system", "item_system")
ZERO_VARIANCE_SHARE = 1e-6  # smaller variances, relative to their sum, are treated as 0
# smaller residual sums of squares, relative to the squared votes, are rounding
CONSTANT_VOTES_SHARE = 1e-20


@dataclass(frozen=True)
class MixedModelFit:
    """Fitted mixed model.

    ``means`` and ``covariance`` have NaN for a system without votes. ``slopes`` has the derivative
    of the covariance by each variance, and ``uncertainty`` the covariance of the variances, in the
    order of ``variances``; components in ``left_out`` are not among them. ``skipped`` is the reason
    if the model was not fitted.
    """

    means: Floats
    covariance: Floats
    variances: Mapping[str, float]
    left_out: tuple[str, ...]
    converged: bool
    loglik: float
    slopes: Floats
    uncertainty: Floats
    skipped: str = ""


def _ignore_steps(steps: int, /) -> None:
    """Ignore progress."""


def fit_mixed_model(
    votes: Votes, *, progress: Callable[[int], object] = _ignore_steps
) -> MixedModelFit:
    """Fit the linear mixed model to all votes on one scale.

    Parameters
    ----------
    votes
        Votes of listeners on systems and items.
    progress
        Called with the number of steps done.

    Returns
    -------
    MixedModelFit
        System means, their covariance and variance components. If the votes do not allow a fit,
        plain means without a covariance, and the reason.

    References
    ----------
    Patterson and Thompson (1971). Recovery of inter-block information when block sizes are unequal.
    Biometrika 58.
    """
    systems = np.unique(votes.systems)
    if len(votes.values) <= len(systems):
        return _unfitted_model(votes, "there are not more votes than systems")
    border = border_size(votes)
    if border > MAX_BORDER:
        return _unfitted_model(
            votes,
            f"it would have {border:,} systems, and listeners and items of several systems, more "
            f"than {MAX_BORDER:,}",
        )
    names, start = identifiable_components(votes, COMPONENT_NAMES)
    if not names:
        return _unfitted_model(votes, "effects of listeners and items cannot be distinguished")
    model = cross_products(votes, names)
    if model.yy <= CONSTANT_VOTES_SHARE * float(votes.values @ votes.values):
        return _unfitted_model(votes, "votes do not vary within systems")
    return _build_fit(votes.size[0], systems, model, fit_variances(model, start, progress))


def _unfitted_model(votes: Votes, reason: str) -> MixedModelFit:
    """Return plain means with unknown covariance."""
    means = vote_moments(votes).mean
    unknown = np.full((votes.size[0], votes.size[0]), np.nan)
    slopes, uncertainty = np.empty((0, *unknown.shape)), np.empty((0, 0))
    return MixedModelFit(
        means, unknown, {}, COMPONENT_NAMES, False, float("nan"), slopes, uncertainty, reason
    )


def _build_fit(size: int, systems: Codes, model: CrossProducts, reml: RemlFit) -> MixedModelFit:
    point, residual = reml.point, reml.variances[-1]
    means = np.full(size, np.nan)
    means[systems] = model.centre + point.shift
    covariances = np.concatenate([residual * point.spread[None], point.slopes])
    placed = np.full((len(covariances), size, size), np.nan)
    placed[:, systems[:, None], systems] = covariances
    names = (*model.names, RESIDUAL)
    return MixedModelFit(
        means,
        placed[0],
        dict(zip(names, reml.variances.tolist(), strict=True)),
        tuple(name for name in COMPONENT_NAMES if name not in names),
        reml.converged,
        point.loglik,
        placed[1:],
        _variance_covariance(reml),
        "" if reml.converged else f"no maximum of the likelihood in {MAX_NEWTON_STEPS} steps",
    )


def _variance_covariance(reml: RemlFit) -> Floats:
    """Return the inverse Fisher information on variances; zero variances count as known."""
    is_free = reml.variances > ZERO_VARIANCE_SHARE * reml.variances.sum()
    traces = reml.point.traces[np.ix_(is_free, is_free)]
    scale, values, vectors = scaled_curvature(traces, traces)
    inverse = scale[:, None] * (vectors / values) @ vectors.T * scale
    spread = np.zeros_like(reml.point.traces)
    spread[np.ix_(is_free, is_free)] = 2 * reml.variances[-1] ** 2 * inverse
    return spread


def mixed_means(
    votes: Votes, *, level: float = 0.95, fitted: MixedModelFit | None = None
) -> list[Estimate]:
    """Return the mean of each system with its interval; n counts listeners.

    ``fitted`` is the model of these votes, if it is already available.
    """
    systems = [(system,) for system in range(votes.size[0])]
    estimates = _mean_estimates(votes, fitted or fit_mixed_model(votes), systems, level)
    return [estimate for estimate, _ in estimates]


def mixed_contrasts(
    votes: Votes,
    pairs: Iterable[tuple[int, int]],
    *,
    level: float = 0.95,
    fitted: MixedModelFit | None = None,
) -> list[tuple[Estimate, float]]:
    """Return first minus second with intervals for pairs of systems, and p of no difference."""
    return _mean_estimates(votes, fitted or fit_mixed_model(votes), list(pairs), level)


def combine_means(
    votes: Votes, fitted: MixedModelFit, pairs: Sequence[tuple[int, ...]]
) -> TestedMeans:
    """Return means of systems ``(a,)`` or differences ``(a, b)``.

    Errors need two listeners and two items. ``listeners`` counts those who rated either system.
    """
    first = np.array([pair[0] for pair in pairs], np.int64)
    last = np.array([pair[-1] for pair in pairs], np.int64)
    is_pair = np.array([len(pair) > 1 for pair in pairs], bool)

    def spread(matrix: Floats) -> Floats:
        both = np.diag(matrix)[last] - 2 * matrix[first, last]
        return np.diag(matrix)[first] + np.where(is_pair, both, 0.0)

    value = fitted.means[first] - np.where(is_pair, fitted.means[last], 0.0)
    error = freedom = np.full(len(pairs), np.nan)
    has_both = min(len(np.unique(codes)) for codes in (votes.listeners, votes.items)) > 1
    if has_both and fitted.converged:
        slopes = np.array([spread(matrix) for matrix in fitted.slopes])
        variance = np.einsum("kn,kl,ln->n", slopes, fitted.uncertainty, slopes)
        error = np.sqrt(spread(fitted.covariance))
        with np.errstate(divide="ignore", invalid="ignore"):
            freedom = np.where(variance > 0, 2 * error**4 / variance, np.nan)
    has_voted = (votes.listener_sums()[1] > 0).astype(np.float64)
    both = has_voted.T @ has_voted
    counts = spread(both) + np.where(is_pair, both[first, last], 0.0)
    return TestedMeans(value, error, freedom, counts.astype(np.int64))


def _mean_estimates(
    votes: Votes, fitted: MixedModelFit, pairs: Sequence[tuple[int, ...]], level: float
) -> list[tuple[Estimate, float]]:
    means = combine_means(votes, fitted, pairs)
    return list(zip(means.estimates(level, "mixed"), means.p_values().tolist(), strict=True))


# --- Variance components -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Components:
    """Standard deviations of the components of a vote, in scale points.

    ``listener``: listeners differ in their mean vote; ``item``: items differ in quality;
    ``listener_system``: listeners differ in their preference for a system; ``item_system``: a
    system is better on some items; ``residual``: what a repeated vote would not reproduce.
    """

    listener: float = 0.0
    item: float = 0.0
    listener_system: float = 0.0
    item_system: float = 0.0
    residual: float = 0.0

    @classmethod
    def from_variances(cls, *variances: float, **by_name: float) -> Components:
        """Return components from variances instead of standard deviations."""
        return cls(
            *map(math.sqrt, variances),
            **{name: math.sqrt(variance) for name, variance in by_name.items()},
        )

    @classmethod
    def from_fit(cls, fitted: MixedModelFit) -> Components:
        """Return the components of a fitted model; 0 for components that were left out."""
        return cls.from_variances(
            **{f.name: fitted.variances.get(f.name, 0.0) for f in fields(cls)}
        )

    @property
    def between_items(self) -> float:
        """Variance due to items, the same for all listeners."""
        return self.item**2 + self.item_system**2

    @property
    def within_stimuli(self) -> float:
        """Variance of votes on one stimulus."""
        return self.listener**2 + self.listener_system**2 + self.residual**2
