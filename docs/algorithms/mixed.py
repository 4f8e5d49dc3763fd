"""Linear mixed model of votes, slow reference implementation with the full covariance matrix.

Two votes may share a listener, an item, a listener and system, or an item and system. Their
covariance is the sum of the variances of the components that they share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vote = tuple[int, int, int, float]  # system, item, listener, value
Floats = NDArray[np.float64]
SHARED = {
    "listener": (2,),
    "item": (1,),
    "listener_system": (2, 0),
    "item_system": (1, 0),
    "residual": (0, 1, 2),
}


class Likely(NamedTuple):
    """Restricted log-likelihood, means, and the covariance of the means."""

    loglik: float
    means: Floats
    covariance: Floats


def alike(votes: Sequence[Vote], name: str) -> Floats:
    """Return a matrix with 1 where two votes share a level of a component, else 0."""
    levels = [tuple(vote[k] for k in SHARED[name]) for vote in votes]
    return np.array([[float(a == b) for b in levels] for a in levels])


def covariance(votes: Sequence[Vote], variances: Mapping[str, float]) -> Floats:
    """Return the covariance matrix of all votes."""
    parts = [variance * alike(votes, name) for name, variance in variances.items()]
    return np.asarray(sum(parts[1:], parts[0]))


def likely(votes: Sequence[Vote], variances: Mapping[str, float]) -> Likely:
    """Return the model for the given variances; systems are those in the votes, sorted.

    >>> found = likely([(0, 0, 0, 1.0), (0, 1, 1, 3.0)], {"residual": 2.0})
    >>> found.means.tolist(), found.covariance.tolist()  # (1 + 3) / 2, and 2 / 2
    ([2.0], [[1.0]])
    """
    systems = sorted({vote[0] for vote in votes})
    x = np.array([[float(vote[0] == one) for one in systems] for vote in votes])
    y = np.array([vote[3] for vote in votes])
    inverse = np.linalg.inv(covariance(votes, variances))
    spread = np.linalg.inv(x.T @ inverse @ x)
    means = spread @ x.T @ inverse @ y
    rest = y - x @ means
    loglik = -0.5 * (
        (len(y) - len(systems)) * np.log(2 * np.pi)
        - np.linalg.slogdet(inverse)[1]
        - np.linalg.slogdet(spread)[1]
        + rest @ inverse @ rest
    )
    return Likely(float(loglik), means, spread)


def freedom(
    votes: Sequence[Vote], variances: Mapping[str, float], weights: Sequence[float]
) -> float:
    """Return Satterthwaite's degrees of freedom of a weighted sum of means, by finite differences.

    The variance of the sum is uncertain because the variance components are estimated: their
    covariance is the inverse of Fisher's information, tr(P Vj P Vk) / 2.
    """
    systems = sorted({vote[0] for vote in votes})
    x = np.array([[float(vote[0] == one) for one in systems] for vote in votes])
    inverse = np.linalg.inv(covariance(votes, variances))
    p = inverse - inverse @ x @ np.linalg.inv(x.T @ inverse @ x) @ x.T @ inverse
    moved = [p @ alike(votes, name) for name in variances]
    information = np.array([[np.trace(a @ b) / 2 for b in moved] for a in moved])
    c, slopes = np.array(weights), []
    for name, variance in variances.items():
        step = 1e-4 * variance
        ends = [
            likely(votes, {**variances, name: variance + sign * step}).covariance
            for sign in (-1, 1)
        ]
        slopes.append(c @ (ends[1] - ends[0]) @ c / (2 * step))
    slope = np.array(slopes)
    own = c @ likely(votes, variances).covariance @ c
    return float(2 * own**2 / (slope @ np.linalg.solve(information, slope)))
