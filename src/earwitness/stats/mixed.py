"""Means and differences of systems by a linear mixed model: for other listeners and other items.

Every system has a mean; listeners, items, and both together with systems add to it by chance, and
so does every vote. Variances are found by REML, degrees of freedom by Satterthwaite's formula from
the variances that are not 0. Components that the votes cannot tell from others are left out and
named: with one system, a listener and a listener with a system are the same thing.

Without two listeners and two items nothing can be said about others, and there is no interval; nor
is there one when the search for variances did not end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from earwitness.data import Estimate
from earwitness.stats.crossed import RESIDUAL, Crossed, crossed
from earwitness.stats.exact import Floats
from earwitness.stats.reml import Found, curvature, told_apart, variances
from earwitness.stats.votes import Codes, Votes

NAMES = ("listener", "item", "listener_system", "item_system")
NONE = 1e-6  # a variance that is less than this, beside all of them, is 0
CONSTANT = 1e-20  # of the votes' squares: what less than this is left beside means is rounding


@dataclass(frozen=True)
class Fitted:
    """A model that was fitted.

    ``means`` has NaN for a system without votes, ``covariance`` too. ``slopes`` says how much the
    covariance grows with each variance, and ``uncertainty`` is the covariance of the variances, in
    the order of ``variances``; what was left out is not among them.
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
        """The standard error of a weighted sum of means; NaN where it is not known."""
        used = weights != 0
        variance = weights[used] @ self.covariance[np.ix_(used, used)] @ weights[used]
        return float(np.sqrt(variance))

    def freedom(self, weights: Floats) -> float:
        """Satterthwaite's degrees of freedom of a weighted sum of means.

        By Cauchy and Schwarz they are never more than the votes less the systems.
        """
        used = weights != 0
        parts = self.slopes[:, used][:, :, used]
        slope = np.einsum("i,kij,j->k", weights[used], parts, weights[used])
        spread = float(slope @ self.uncertainty @ slope)
        return 2 * self.error(weights) ** 4 / spread if spread > 0 else float("nan")


def fit(votes: Votes) -> Fitted:
    """The model of all votes of one scale."""
    systems = np.unique(votes.systems)
    blank = _blank(votes)
    if len(votes.values) <= len(systems):
        return blank
    model = crossed(votes, NAMES)
    if model.yy <= CONSTANT * float(votes.values @ votes.values):
        return blank
    names = told_apart(model)
    if not names:
        return blank
    model = crossed(votes, tuple(sorted(names, key=lambda name: model.levels(name))))
    return _fitted(votes.size[0], systems, model, variances(model))


def _blank(votes: Votes) -> Fitted:
    """Plain means, and nothing known about their spread."""
    count = np.bincount(votes.systems, minlength=votes.size[0])
    total = np.bincount(votes.systems, votes.values, minlength=votes.size[0])
    means = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    unknown = np.full((votes.size[0], votes.size[0]), np.nan)
    slopes, uncertainty = np.empty((0, *unknown.shape)), np.empty((0, 0))
    return Fitted(means, unknown, {}, NAMES, False, float("nan"), slopes, uncertainty)


def _fitted(size: int, systems: Codes, model: Crossed, found: Found) -> Fitted:
    point, residual = found.point, found.variances[-1]
    means = np.full(size, np.nan)
    means[systems] = model.centre + point.shift
    slopes = _slopes(model, found)
    known = np.concatenate([residual * point.spread[None], slopes])
    placed = np.full((len(known), size, size), np.nan)
    placed[:, systems[:, None], systems] = known
    names = (*model.names, RESIDUAL)
    return Fitted(
        means,
        placed[0],
        dict(zip(names, found.variances.tolist(), strict=True)),
        tuple(name for name in NAMES if name not in names),
        found.converged,
        point.loglik,
        placed[1:],
        _uncertainty(found),
    )


def _slopes(model: Crossed, found: Found) -> Floats:
    """By component: the derivative of the covariance of the means by the variance."""
    sway = np.split(found.point.sway, model.starts[1:])
    own = np.array([rows.T @ rows for rows in sway])
    ratios = found.variances[:-1] / found.variances[-1]
    rest = found.point.spread - np.tensordot(ratios, own, 1)
    return np.concatenate([own, rest[None]])


def _uncertainty(found: Found) -> Floats:
    """The inverse of Fisher's information on the variances; those that are 0 are taken as known."""
    free = found.variances > NONE * found.variances.sum()
    traces = found.point.traces[np.ix_(free, free)]
    scale, values, vectors = curvature(traces, traces)
    inverse = scale[:, None] * (vectors / values) @ vectors.T * scale
    spread = np.zeros_like(found.point.traces)
    spread[np.ix_(free, free)] = 2 * found.variances[-1] ** 2 * inverse
    return spread


def mixed_means(
    votes: Votes, *, level: float = 0.95, fitted: Fitted | None = None
) -> list[Estimate]:
    """The mean of every system with its interval; n counts listeners.

    ``fitted`` is the model of these votes, where it is known already.
    """
    fitted, rows = fitted or fit(votes), np.eye(votes.size[0])
    return [_estimate(votes, fitted, weights, level)[0] for weights in rows]


def mixed_contrasts(
    votes: Votes,
    pairs: Iterable[tuple[int, int]],
    *,
    level: float = 0.95,
    fitted: Fitted | None = None,
) -> list[tuple[Estimate, float]]:
    """For pairs of systems: the first less the second with its interval, and p of no difference."""
    fitted, rows = fitted or fit(votes), np.eye(votes.size[0])
    return [_estimate(votes, fitted, rows[a] - rows[b], level) for a, b in pairs]


class Known(NamedTuple):
    """A weighted sum of means, its error and degrees of freedom, and over how many listeners."""

    value: float
    error: float
    freedom: float
    listeners: int


def known_error(votes: Votes, fitted: Fitted, weights: Floats) -> Known:
    """What is known of a weighted sum of means; NaN where nothing can be said about others."""
    used = weights != 0
    value = float(weights[used] @ fitted.means[used])
    listeners, items = (len(np.unique(codes)) for codes in (votes.listeners, votes.items))
    error = freedom = float("nan")
    if min(listeners, items) > 1 and fitted.converged:
        error, freedom = fitted.error(weights), fitted.freedom(weights)
    own = len(np.unique(votes.listeners[used[votes.systems]]))
    return Known(value, error, freedom, own)


def _estimate(
    votes: Votes, fitted: Fitted, weights: Floats, level: float
) -> tuple[Estimate, float]:
    from scipy.special import stdtr, stdtrit

    value, error, freedom, own = known_error(votes, fitted, weights)
    reach = float(stdtrit(freedom, (1 + level) / 2)) * error
    p = float(2 * stdtr(freedom, -abs(value) / error)) if error > 0 else float("nan")
    return Estimate(value, value - reach, value + reach, level, own, 0, "mixed"), p
