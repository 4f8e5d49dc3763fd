"""Linear mixed model with crossed random effects: REML and Satterthwaite intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from earwitness.core import Estimate
from earwitness.stats.arrays import Floats
from earwitness.stats.votes import Codes, Votes

# --- Crossed random effects ----------------------------------------------------------------------
# A vote is the mean of its system plus random effects of listener, item, listener × system and item
# × system, plus a residual. Only this section handles arrays as long as the votes: a fit needs only
# the numbers of votes that share two levels, and sums of votes by level.


RESIDUAL = "residual"


@dataclass(frozen=True)
class CrossProducts:
    """Cross products of the model: Z has one column per level of each component, X one per system.

    ``y`` is each vote minus the plain mean of its system (``centre``), so its sums by system are 0.
    """

    names: tuple[str, ...]
    starts: Codes
    sizes: Codes
    zz: Floats
    zx: Floats
    zy: Floats
    xx: Floats
    yy: float
    votes: int
    centre: Floats

    @property
    def residual_df(self) -> int:
        """Number of votes minus number of systems."""
        return self.votes - len(self.xx)

    def levels(self, name: str) -> int:
        """Return the number of levels of a component."""
        return int(self.sizes[self.names.index(name)])


class LikelihoodPoint(NamedTuple):
    """Likelihood at given variances; all but ``loglik`` in units of the residual variance.

    ``traces`` has tr(P Vj P Vk), ``cubes`` y'P Vj P Vk P y and ``squares`` y'P Vj P y, with the
    residual last. ``shift`` is the difference between estimated and plain means, ``spread`` their
    covariance, ``sway`` is Z'V⁻¹X times ``spread``.
    """

    loglik: float
    traces: Floats
    cubes: Floats
    squares: Floats
    shift: Floats
    spread: Floats
    sway: Floats


def cross_products(votes: Votes, names: tuple[str, ...]) -> CrossProducts:
    """Return the cross products of a model with the named components."""
    system = _number_levels(votes.systems)
    codes_by_component = {
        "listener": votes.listeners,
        "item": votes.items,
        "listener_system": votes.listeners * votes.size[0] + votes.systems,
        "item_system": votes.stimuli,
    }
    levels = [_number_levels(codes_by_component[name]) for name in names]
    count = np.bincount(system).astype(np.float64)
    centre = np.bincount(system, votes.values) / count
    y = votes.values - centre[system]
    sizes = np.array([level.max() + 1 for level in levels], np.int64)
    return CrossProducts(
        names,
        np.cumsum(sizes) - sizes,
        sizes,
        np.block([[_shared_counts(a, b) for b in levels] for a in levels]),
        np.concatenate([_shared_counts(level, system) for level in levels]),
        np.concatenate([np.bincount(level, y) for level in levels]),
        np.diag(count),
        float(y @ y),
        len(y),
        centre,
    )


def _number_levels(levels: Codes) -> Codes:
    """Return levels numbered from 0 without gaps."""
    return np.unique(levels, return_inverse=True)[1].reshape(-1)


def _shared_counts(a: Codes, b: Codes) -> Floats:
    """Return the number of votes for each combination of two levels."""
    shape = int(a.max()) + 1, int(b.max()) + 1
    counts = np.bincount(a * shape[1] + b, minlength=shape[0] * shape[1])
    return counts.reshape(shape).astype(np.float64)


class SolvedCrossProducts(NamedTuple):
    """Z'V⁻¹ times Z, X and y, and the log determinant of V."""

    zz: Floats
    zx: Floats
    zy: Floats
    logdet: float


def evaluate_likelihood(model: CrossProducts, variances: Floats) -> LikelihoodPoint:
    """Evaluate the model at the variances of its components, with the residual last."""
    relative = variances[:-1] / variances[-1]
    ratios = np.repeat(relative, model.sizes)
    zz, zx, zy, logdet = _solve_levels(model, ratios)
    weighted_zx = model.zx * ratios[:, None]
    information = model.xx - weighted_zx.T @ zx
    spread = np.linalg.inv((information + information.T) / 2)
    weighted_zy = weighted_zx.T @ zy
    shift = -spread @ weighted_zy
    residual_squares = model.yy - model.zy @ (ratios * zy) + weighted_zy @ shift
    sway = zx @ spread
    moments = _likelihood_moments(
        model, relative, zz - sway @ zx.T, zy - zx @ shift, residual_squares
    )
    loglik = -0.5 * (
        model.residual_df * np.log(2 * np.pi * variances[-1])
        + logdet
        - np.linalg.slogdet(spread)[1]
        + residual_squares / variances[-1]
    )
    return LikelihoodPoint(float(loglik), *moments, shift, spread, sway)


def _solve_levels(model: CrossProducts, ratios: Floats) -> SolvedCrossProducts:
    """Compute Z'V⁻¹ as (I + CG)⁻¹Z', with C = Z'Z and relative variances G.

    Levels of one component share no votes, so their block of C is diagonal: the last component (b)
    is
    eliminated first, and only the others (a) need a factorization.
    """
    from scipy.linalg import lu_factor, lu_solve

    cut = int(model.starts[-1])
    ab, count = model.zz[:cut, cut:], np.diag(model.zz)[cut:]
    diagonal = 1 + ratios[cut:] * count
    eliminated = ab * (ratios[cut:] / diagonal)
    reduced = model.zz[:cut, :cut] - eliminated @ ab.T
    others = np.column_stack([model.zx, model.zy])
    right = np.column_stack([reduced, ab / diagonal, others[:cut] - eliminated @ others[cut:]])
    factor = lu_factor(np.eye(cut) + reduced * ratios[:cut], check_finite=False)
    solved = lu_solve(factor, right, overwrite_b=True, check_finite=False)
    size = len(ratios)
    back = (ab * ratios[:cut, None]).T @ solved[:, cut:]
    back = (np.column_stack([np.diag(count), others[cut:]]) - back) / diagonal[:, None]
    zz = np.block([[solved[:, :size]], [solved[:, cut:size].T, back[:, : size - cut]]])
    solved_others = np.concatenate([solved[:, size:], back[:, size - cut :]])
    logdet = np.log(diagonal).sum() + np.log(np.abs(np.diag(factor[0]))).sum()
    return SolvedCrossProducts(zz, solved_others[:, :-1], solved_others[:, -1], float(logdet))


def _likelihood_moments(
    model: CrossProducts, ratios: Floats, zpz: Floats, zpy: Floats, ypy: float
) -> tuple[Floats, Floats, Floats]:
    """Return traces, cubes and squares; those of the residual follow, since PVP = P."""
    singles = np.add.reduceat(np.diag(zpz), model.starts)
    squares = np.add.reduceat(zpy * zpy, model.starts)
    traces = _component_sums(model, zpz * zpz)
    cubes = _component_sums(model, zpz * zpy * zpy[:, None])
    squares = np.append(squares, ypy - ratios @ squares)
    singles = np.append(singles, model.residual_df - ratios @ singles)
    return (
        _add_residual_border(traces, ratios, singles),
        _add_residual_border(cubes, ratios, squares),
        squares,
    )


def _component_sums(model: CrossProducts, entries: Floats) -> Floats:
    """Return sums over all levels of two components."""
    rows = np.add.reduceat(entries, model.starts, axis=0)
    pairs = np.add.reduceat(rows, model.starts, axis=1)
    return np.asarray((pairs + pairs.T) / 2)


def _add_residual_border(inner: Floats, ratios: Floats, sums: Floats) -> Floats:
    """Add a row and a column such that rows weighted by relative variances give the sums."""
    border = sums[:-1] - inner @ ratios
    corner = sums[-1] - ratios @ border
    return np.block([[inner, border[:, None]], [border, corner]])


# --- REML variance estimation --------------------------------------------------------------------
# Restricted maximum likelihood (Patterson & Thompson 1971) by Newton's method. A step goes to the
# maximum of a quadratic approximation among nonnegative variances. The approximation uses the
# observed information if that is positive definite, else Fisher's expected information. Steps that
# decrease the likelihood are halved. For complete balanced data without zero variances, the result
# equals that of the analysis of variance.


MAX_NEWTON_STEPS = 200
MAX_HALVINGS = 30
MIN_RESIDUAL_SHARE = 1e-6  # smallest residual variance, relative to the variance of all votes
FINAL_STEP_SHARE = 1e-9  # iteration stops after a smaller step, relative to that variance
MIN_CURVATURE = 1e-12  # smallest eigenvalue of the scaled curvature
FLAT_CURVATURE = 1e-6  # with a smaller eigenvalue, Fisher's information is used instead
# smallest share of a component that is not explained by other components
MIN_DISTINCT_SQUARES_SHARE = 1e-8


class RemlFit(NamedTuple):
    """Variances, with the residual last, and the likelihood at them."""

    variances: Floats
    point: LikelihoodPoint
    converged: bool


def identifiable_components(model: CrossProducts) -> tuple[str, ...]:
    """Return the components that are not confounded with means, residual or earlier components."""
    start = evaluate_likelihood(model, np.append(np.zeros(len(model.names)), 1.0))
    order = [len(model.names), *range(len(model.names))]
    gram = start.traces[np.ix_(order, order)]
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    gram = gram / np.outer(scale, scale)
    kept = [0]
    for place in range(1, len(order)):
        if scale[place] ** 2 <= MIN_DISTINCT_SQUARES_SHARE * model.votes:
            continue  # confounded with the means
        kept_gram = gram[np.ix_(kept, kept)]
        distinct_share = gram[place, place] - gram[place, kept] @ np.linalg.solve(
            kept_gram, gram[kept, place]
        )
        if distinct_share > MIN_DISTINCT_SQUARES_SHARE:
            kept.append(place)
    return tuple(model.names[place - 1] for place in kept[1:])


def fit_variances(model: CrossProducts) -> RemlFit:
    """Return the REML variances; votes must vary within systems."""
    total = model.yy / model.residual_df
    current = np.full(len(model.names) + 1, total / (len(model.names) + 1))
    point = evaluate_likelihood(model, current)
    for _ in range(MAX_NEWTON_STEPS):
        target = _newton_target(current, point, MIN_RESIDUAL_SHARE * total)
        stepped, reached = _halve_step(model, current, point, target)
        moved = float(np.abs(stepped - current).max())
        current, point = stepped, reached
        if moved < FINAL_STEP_SHARE * total:
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


def _halve_step(
    model: CrossProducts, current: Floats, point: LikelihoodPoint, target: Floats
) -> tuple[Floats, LikelihoodPoint]:
    """Step towards the target as far as the likelihood does not decrease."""
    slack = 1e-13 * max(1.0, abs(point.loglik))  # rounding
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


COMPONENT_NAMES = ("listener", "item", "listener_system", "item_system")
ZERO_VARIANCE_SHARE = 1e-6  # smaller variances, relative to their sum, are treated as 0
# smaller residual sums of squares, relative to the squared votes, are rounding
CONSTANT_VOTES_SHARE = 1e-20


@dataclass(frozen=True)
class MixedModelFit:
    """Fitted mixed model.

    ``means`` and ``covariance`` have NaN for a system without votes. ``slopes`` has the derivative
    of
    the covariance by each variance, and ``uncertainty`` the covariance of the variances, in the
    order
    of ``variances``; components in ``left_out`` are not among them.
    """

    means: Floats
    covariance: Floats
    variances: Mapping[str, float]
    left_out: tuple[str, ...]
    converged: bool
    loglik: float
    slopes: Floats
    uncertainty: Floats

    def error(self, weights: Floats) -> float:
        """Return the standard error of a linear combination of means; NaN if unknown."""
        used = weights != 0
        variance = weights[used] @ self.covariance[np.ix_(used, used)] @ weights[used]
        return float(np.sqrt(variance))

    def freedom(self, weights: Floats) -> float:
        """Return Satterthwaite's degrees of freedom of a linear combination of means.

        By the Cauchy–Schwarz inequality they never exceed the number of votes minus that of
        systems.
        """
        used = weights != 0
        parts = self.slopes[:, used][:, :, used]
        slope = np.einsum("i,kij,j->k", weights[used], parts, weights[used])
        spread = float(slope @ self.uncertainty @ slope)
        return 2 * self.error(weights) ** 4 / spread if spread > 0 else float("nan")


def fit_mixed_model(votes: Votes) -> MixedModelFit:
    """Fit the linear mixed model to all votes on one scale.

    Parameters
    ----------
    votes
        Votes of listeners on systems and items.

    Returns
    -------
    MixedModelFit
        System means, their covariance and variance components. If the votes do not allow a fit,
        plain
        means without a covariance.

    References
    ----------
    Patterson and Thompson (1971). Recovery of inter-block information when block sizes are unequal.
    Biometrika 58.
    """
    systems = np.unique(votes.systems)
    blank = _unfitted_model(votes)
    if len(votes.values) <= len(systems):
        return blank
    model = cross_products(votes, COMPONENT_NAMES)
    if model.yy <= CONSTANT_VOTES_SHARE * float(votes.values @ votes.values):
        return blank
    names = identifiable_components(model)
    if not names:
        return blank
    model = cross_products(votes, tuple(sorted(names, key=lambda name: model.levels(name))))
    return _build_fit(votes.size[0], systems, model, fit_variances(model))


def _unfitted_model(votes: Votes) -> MixedModelFit:
    """Return plain means with unknown covariance."""
    count = np.bincount(votes.systems, minlength=votes.size[0])
    total = np.bincount(votes.systems, votes.values, minlength=votes.size[0])
    means = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    unknown = np.full((votes.size[0], votes.size[0]), np.nan)
    slopes, uncertainty = np.empty((0, *unknown.shape)), np.empty((0, 0))
    return MixedModelFit(
        means, unknown, {}, COMPONENT_NAMES, False, float("nan"), slopes, uncertainty
    )


def _build_fit(size: int, systems: Codes, model: CrossProducts, reml: RemlFit) -> MixedModelFit:
    point, residual = reml.point, reml.variances[-1]
    means = np.full(size, np.nan)
    means[systems] = model.centre + point.shift
    slopes = _covariance_slopes(model, reml)
    covariances = np.concatenate([residual * point.spread[None], slopes])
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
    )


def _covariance_slopes(model: CrossProducts, reml: RemlFit) -> Floats:
    """Return the derivative of the covariance of means by each variance."""
    sway = np.split(reml.point.sway, model.starts[1:])
    component_slopes = np.array([rows.T @ rows for rows in sway])
    ratios = reml.variances[:-1] / reml.variances[-1]
    residual_slope = reml.point.spread - np.tensordot(ratios, component_slopes, 1)
    return np.concatenate([component_slopes, residual_slope[None]])


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
    fitted, rows = fitted or fit_mixed_model(votes), np.eye(votes.size[0])
    return [_mean_estimate(votes, fitted, weights, level)[0] for weights in rows]


def mixed_contrasts(
    votes: Votes,
    pairs: Iterable[tuple[int, int]],
    *,
    level: float = 0.95,
    fitted: MixedModelFit | None = None,
) -> list[tuple[Estimate, float]]:
    """Return first minus second with intervals for pairs of systems, and p of no difference."""
    fitted, rows = fitted or fit_mixed_model(votes), np.eye(votes.size[0])
    return [_mean_estimate(votes, fitted, rows[a] - rows[b], level) for a, b in pairs]


class MeanCombination(NamedTuple):
    """Linear combination of means, standard error, degrees of freedom, number of listeners."""

    value: float
    error: float
    freedom: float
    listeners: int


def combine_means(votes: Votes, fitted: MixedModelFit, weights: Floats) -> MeanCombination:
    """Return a linear combination of means; its error needs two listeners and two items."""
    has_weight = weights != 0
    value = float(weights[has_weight] @ fitted.means[has_weight])
    listeners, items = (len(np.unique(codes)) for codes in (votes.listeners, votes.items))
    error = freedom = float("nan")
    if min(listeners, items) > 1 and fitted.converged:
        error, freedom = fitted.error(weights), fitted.freedom(weights)
    voters = len(np.unique(votes.listeners[has_weight[votes.systems]]))
    return MeanCombination(value, error, freedom, voters)


def _mean_estimate(
    votes: Votes, fitted: MixedModelFit, weights: Floats, level: float
) -> tuple[Estimate, float]:
    from scipy.special import stdtr, stdtrit

    value, error, freedom, voters = combine_means(votes, fitted, weights)
    half_width = float(stdtrit(freedom, (1 + level) / 2)) * error
    p = float(2 * stdtr(freedom, -abs(value) / error)) if error > 0 else float("nan")
    return Estimate(value, value - half_width, value + half_width, level, voters, 0, "mixed"), p


# --- Variance components -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Components:
    """Standard deviations of the components of a vote, in scale points.

    ``listener``: listeners differ in their mean vote; ``item``: items differ in quality;
    ``listener_system``: listeners differ in their preference for a system; ``item_system``: a
    system
    is better on some items; ``residual``: what a repeated vote would not reproduce.
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
