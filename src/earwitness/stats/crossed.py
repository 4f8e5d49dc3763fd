"""Cross products of a model with crossed random intercepts, and what they say at given variances.

A vote is the mean of its system, plus what its listener, its item, the two together with the system
add by chance, plus a rest. Nothing as long as the votes is kept but here: all that a fit needs is
how many votes share two levels, and sums of votes by level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from earwitness.stats.exact import Floats
from earwitness.stats.votes import Codes, Votes

RESIDUAL = "residual"


@dataclass(frozen=True)
class Crossed:
    """Cross products: Z has a column for every level of every component, X one for every system.

    ``y`` is each vote less the plain mean of its system (``centre``), so its sums by system are 0.
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
    def spare(self) -> int:
        """Votes that remain when every system has its mean."""
        return self.votes - len(self.xx)

    def levels(self, name: str) -> int:
        """How many levels a component has."""
        return int(self.sizes[self.names.index(name)])


class Point(NamedTuple):
    """The model at given variances; all but ``loglik`` in units of the residual variance.

    ``traces`` has tr(P Vj P Vk), ``cubes`` y'P Vj P Vk P y and ``squares`` y'P Vj P y, the residual
    last. ``shift`` is what the means are away from the plain ones, ``sway`` is Z'V⁻¹X times
    ``spread``.
    """

    loglik: float
    traces: Floats
    cubes: Floats
    squares: Floats
    shift: Floats
    spread: Floats
    sway: Floats


def crossed(votes: Votes, names: tuple[str, ...]) -> Crossed:
    """The cross products of a model with the components that are named."""
    system = _codes(votes.systems)
    each = {
        "listener": votes.listeners,
        "item": votes.items,
        "listener_system": votes.listeners * votes.size[0] + votes.systems,
        "item_system": votes.stimuli,
    }
    levels = [_codes(each[name]) for name in names]
    count = np.bincount(system).astype(np.float64)
    centre = np.bincount(system, votes.values) / count
    y = votes.values - centre[system]
    sizes = np.array([level.max() + 1 for level in levels], np.int64)
    return Crossed(
        names,
        np.cumsum(sizes) - sizes,
        sizes,
        np.block([[_shared(a, b) for b in levels] for a in levels]),
        np.concatenate([_shared(level, system) for level in levels]),
        np.concatenate([np.bincount(level, y) for level in levels]),
        np.diag(count),
        float(y @ y),
        len(y),
        centre,
    )


def _codes(levels: Codes) -> Codes:
    """Levels numbered from 0 without gaps."""
    return np.unique(levels, return_inverse=True)[1].reshape(-1)


def _shared(a: Codes, b: Codes) -> Floats:
    """How many votes have a level of the one and a level of the other."""
    shape = int(a.max()) + 1, int(b.max()) + 1
    counts = np.bincount(a * shape[1] + b, minlength=shape[0] * shape[1])
    return counts.reshape(shape).astype(np.float64)


class Solved(NamedTuple):
    """Z'V⁻¹ times Z, X and y, and the logarithm of the determinant of V."""

    zz: Floats
    zx: Floats
    zy: Floats
    logdet: float


def at(model: Crossed, variances: Floats) -> Point:
    """The model at the variances of its components, the residual last."""
    relative = variances[:-1] / variances[-1]
    ratios = np.repeat(relative, model.sizes)
    zz, zx, zy, logdet = _solved(model, ratios)
    weighed = model.zx * ratios[:, None]
    information = model.xx - weighed.T @ zx
    spread = np.linalg.inv((information + information.T) / 2)
    moved = weighed.T @ zy
    shift = -spread @ moved
    left = model.yy - model.zy @ (ratios * zy) + moved @ shift
    sway = zx @ spread
    moments = _moments(model, relative, zz - sway @ zx.T, zy - zx @ shift, left)
    loglik = -0.5 * (
        model.spare * np.log(2 * np.pi * variances[-1])
        + logdet
        - np.linalg.slogdet(spread)[1]
        + left / variances[-1]
    )
    return Point(float(loglik), *moments, shift, spread, sway)


def _solved(model: Crossed, ratios: Floats) -> Solved:
    """With C = Z'Z and relative variances G, Z'V⁻¹ is (I + CG)⁻¹Z'.

    The levels of one component share no votes, so their part of C is diagonal: the last component
    (b) is taken out first, and only the others (a) need a factorisation.
    """
    from scipy.linalg import lu_factor, lu_solve

    cut = int(model.starts[-1])
    ab, count = model.zz[:cut, cut:], np.diag(model.zz)[cut:]
    grown = 1 + ratios[cut:] * count
    out = ab * (ratios[cut:] / grown)
    own = model.zz[:cut, :cut] - out @ ab.T
    others = np.column_stack([model.zx, model.zy])
    right = np.column_stack([own, ab / grown, others[:cut] - out @ others[cut:]])
    factor = lu_factor(np.eye(cut) + own * ratios[:cut], check_finite=False)
    solved = lu_solve(factor, right, overwrite_b=True, check_finite=False)
    size = len(ratios)
    back = (ab * ratios[:cut, None]).T @ solved[:, cut:]
    back = (np.column_stack([np.diag(count), others[cut:]]) - back) / grown[:, None]
    zz = np.block([[solved[:, :size]], [solved[:, cut:size].T, back[:, : size - cut]]])
    rest = np.concatenate([solved[:, size:], back[:, size - cut :]])
    logdet = np.log(grown).sum() + np.log(np.abs(np.diag(factor[0]))).sum()
    return Solved(zz, rest[:, :-1], rest[:, -1], float(logdet))


def _moments(
    model: Crossed, ratios: Floats, zpz: Floats, zpy: Floats, ypy: float
) -> tuple[Floats, Floats, Floats]:
    """Traces, cubes and squares; those of the residual follow from the others, since PVP = P."""
    singles = np.add.reduceat(np.diag(zpz), model.starts)
    squares = np.add.reduceat(zpy * zpy, model.starts)
    traces = _blocks(model, zpz * zpz)
    cubes = _blocks(model, zpz * zpy * zpy[:, None])
    squares = np.append(squares, ypy - ratios @ squares)
    singles = np.append(singles, model.spare - ratios @ singles)
    return _bordered(traces, ratios, singles), _bordered(cubes, ratios, squares), squares


def _blocks(model: Crossed, entries: Floats) -> Floats:
    """Sums over all levels of two components."""
    rows = np.add.reduceat(entries, model.starts, axis=0)
    pairs = np.add.reduceat(rows, model.starts, axis=1)
    return np.asarray((pairs + pairs.T) / 2)


def _bordered(inner: Floats, ratios: Floats, sums: Floats) -> Floats:
    """A row and a column more, so that rows weighted by relative variances give the sums."""
    border = sums[:-1] - inner @ ratios
    corner = sums[-1] - ratios @ border
    return np.block([[inner, border[:, None]], [border, corner]])
