"""Variances by restricted maximum likelihood (REML), found by Newton's method.

A step goes to the top of a parabola among variances that are not negative. The parabola has the
curvature of the likelihood where that has a top, and else Fisher's, which always has one. A step
that makes the votes less likely is halved. Where every listener heard every item of every system,
and no variance is 0, the result is that of the analysis of variance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from earwitness.stats.crossed import Crossed, Point, at
from earwitness.stats.exact import Floats

STEPS = 200
HALVINGS = 30
FLOOR = 1e-6  # the least residual variance, beside the variance of all votes
CLOSE = 1e-9  # steps shorter than this, beside the variance of all votes, are the last
LEAST = 1e-12  # the least curvature, beside 1
FLAT = 1e-6  # a curvature below this, beside 1, is no top
ALIKE = 1e-8  # of a component's square: what must be its own, not that of other components


class Found(NamedTuple):
    """The variances, the residual last, and the model at them."""

    variances: Floats
    point: Point
    converged: bool


def told_apart(model: Crossed) -> tuple[str, ...]:
    """Components that are not made of the means, the residual and components named before them."""
    start = at(model, np.append(np.zeros(len(model.names)), 1.0))
    order = [len(model.names), *range(len(model.names))]
    gram = start.traces[np.ix_(order, order)]
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    gram = gram / np.outer(scale, scale)
    kept = [0]
    for one in range(1, len(order)):
        if scale[one] ** 2 <= ALIKE * model.votes:
            continue  # its levels are those of the means: nothing is left of it
        own = gram[np.ix_(kept, kept)]
        rest = gram[one, one] - gram[one, kept] @ np.linalg.solve(own, gram[kept, one])
        if rest > ALIKE:
            kept.append(one)
    return tuple(model.names[one - 1] for one in kept[1:])


def variances(model: Crossed) -> Found:
    """The most likely variances; votes must differ somewhere beside the means of systems."""
    total = model.yy / model.spare
    now = np.full(len(model.names) + 1, total / (len(model.names) + 1))
    point = at(model, now)
    for _ in range(STEPS):
        aim = _aim(now, point, FLOOR * total)
        after, reached = _towards(model, now, point, aim)
        moved = float(np.abs(after - now).max())
        now, point = after, reached
        if moved < CLOSE * total:
            return Found(now, point, True)
    return Found(now, point, False)


def _aim(now: Floats, point: Point, floor: float) -> Floats:
    """The best variances by the parabola at a point; those that are 0 and would fall are held."""
    fisher = point.traces / 2
    slope = point.squares / 2 - fisher @ now
    free = (now > 0) | (slope > 0)
    own = np.ix_(free, free)
    curve = (point.cubes / now[-1] - fisher)[own]
    if curvature(curve, fisher[own])[1][0] < FLAT:
        curve = fisher[own]
    aim = np.zeros_like(now)
    aim[free] = _top(curve, fisher[own], slope[free] + curve @ now[free], floor)
    return aim


def _top(curve: Floats, fisher: Floats, right: Floats, floor: float) -> Floats:
    """Where curve · θ = right, or as near as can be with no θ below 0, the last not below floor."""
    from scipy.optimize import nnls

    scale, values, vectors = curvature(curve, fisher)
    roots = np.sqrt(values)
    right = vectors.T @ (scale * (right - curve[:, -1] * floor)) / roots
    found = scale * nnls(roots[:, None] * vectors.T, right)[0]
    found[-1] += floor
    return np.asarray(found)


def curvature(curve: Floats, traces: Floats) -> tuple[Floats, Floats, Floats]:
    """A scale that makes the diagonal of the traces 1, eigenvalues and vectors of what it scales.

    No eigenvalue is less than ``LEAST``: where votes say next to nothing, rounding may make it so.
    """
    diagonal = np.diag(traces)
    scale = 1 / np.sqrt(np.maximum(diagonal, LEAST * diagonal.max()))
    values, vectors = np.linalg.eigh(curve * np.outer(scale, scale))
    return scale, np.maximum(values, LEAST), vectors


def _towards(model: Crossed, now: Floats, point: Point, aim: Floats) -> tuple[Floats, Point]:
    """As far towards the aim as the votes get no less likely."""
    slack = 1e-13 * max(1.0, abs(point.loglik))  # rounding
    for _ in range(HALVINGS):
        reached = at(model, aim)
        if reached.loglik >= point.loglik - slack:
            return aim, reached
        aim = (aim + now) / 2
    return now, point
