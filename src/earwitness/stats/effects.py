"""Effects that should not matter: of the place in a session, of the session, of an order.

A vote is a mean of its stimulus, a mean of its listener, and what a column changes, listener by
listener. All three are fitted at once by least squares. Were stimulus means taken off first, and
slopes fitted after, a slope would come out too small, by one part in as many as vote on a stimulus,
since part of it is in those means. Fitted at once it is unbiased, if orders differ between
listeners; if all heard the same order, place and stimulus cannot be told apart, and it is NaN.

Listeners are the sample: the mean of their slopes has an interval by t over listeners. Their slopes
share the stimulus means. Where orders are alike, that makes the mean less sure than the spread of
slopes says; the interval is then widened by what the design itself tells (the covariance of the
slopes for equal and independent errors), and never narrowed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from earwitness.stats.exact import Bools, Floats
from earwitness.stats.votes import Codes

STILL = 1e-9  # eigenvalues below this, beside the largest, are nothing
SURE = 1e-6  # how far from 1 the share of a slope that the votes determine may be


@dataclass(frozen=True)
class Slopes:
    """A row a listener, a column an effect: NaN where votes do not tell.

    ``wider`` says by how much the interval of each column's mean has to be widened.
    """

    values: Floats
    wider: Floats


def listener_slopes(
    values: Floats, listeners: Codes, columns: Floats, means: tuple[Codes, ...], size: int
) -> Slopes:
    """What a unit of each column changes, for each of ``size`` listeners.

    ``means`` number what every vote shares with others: its stimulus, or its item and its system.
    """
    effects = columns.shape[1]
    present, who = np.unique(listeners, return_inverse=True)
    found = np.full((size, effects), np.nan)
    if len(present) == 0:
        return Slopes(found, np.ones(effects))
    table = np.column_stack([np.ones(len(values)), columns, values - values.mean()])
    bend, slope = _normal(table, who, len(present), means)
    inverse, sure = _inverse(bend)
    solved = np.where(sure, inverse @ slope, np.nan).reshape(len(present), 1 + effects)
    found[present] = solved[:, 1:]
    kept = sure.reshape(len(present), 1 + effects)
    wider = [_wider(inverse, kept[:, k], k, 1 + effects) for k in range(1, 1 + effects)]
    return Slopes(found, np.array(wider))


def listener_means(values: Floats, listeners: Codes, means: tuple[Codes, ...], size: int) -> Floats:
    """The mean of each listener, less those of the stimuli; NaN without a vote.

    They sum to 0 over listeners who are compared with each other by way of common stimuli.
    """
    present, who = np.unique(listeners, return_inverse=True)
    found = np.full(size, np.nan)
    if len(present):
        table = np.column_stack([np.ones(len(values)), values - values.mean()])
        bend, slope = _normal(table, who, len(present), means)
        found[present] = _inverse(bend)[0] @ slope
    return found


def _normal(
    table: Floats, who: Codes, size: int, means: tuple[Codes, ...]
) -> tuple[Floats, Floats]:
    """Normal equations of all columns by listener, with the shared means taken out of them."""
    width = table.shape[1] - 1
    products = np.zeros((size, width, width + 1))
    np.add.at(products, who, table[:, :width, None] * table[:, None, :])
    bend = np.zeros((size, width, size, width))
    bend[np.arange(size), :, np.arange(size)] = products[:, :, :width]
    shared, total = _shared(table, who, size, means)
    solved = _solved(means, np.column_stack([shared, total]))
    bend = bend.reshape(size * width, size * width) - shared.T @ solved[:, :-1]
    return bend, products[:, :, width].ravel() - shared.T @ solved[:, -1]


def _shared(
    table: Floats, who: Codes, size: int, means: tuple[Codes, ...]
) -> tuple[Floats, Floats]:
    """A row a shared mean: sums of all columns by listener, and of the values."""
    width = table.shape[1] - 1
    shared, totals = [], []
    for codes in means:
        rows = int(codes.max()) + 1
        own = np.zeros((rows, size, width))
        np.add.at(own, (codes, who), table[:, :width])
        shared.append(own.reshape(rows, size * width))
        totals.append(np.bincount(codes, table[:, width], minlength=rows))
    return np.concatenate(shared), np.concatenate(totals)


def _solved(means: tuple[Codes, ...], right: Floats) -> Floats:
    """The shared means that go with right-hand sides; simple where every vote has but one."""
    counts = [np.bincount(codes).astype(np.float64) for codes in means]
    if len(means) == 1:
        return np.asarray(right / np.maximum(counts[0], 1)[:, None])
    together = np.diag(np.concatenate(counts))
    first = len(counts[0])
    np.add.at(together, (means[0], first + means[1]), 1)
    np.add.at(together, (first + means[1], means[0]), 1)
    return np.asarray(np.linalg.pinv(together, hermitian=True) @ right)


def _inverse(bend: Floats) -> tuple[Floats, Bools]:
    """The inverse as far as there is one, and which of the unknowns are determined."""
    sizes, vectors = np.linalg.eigh((bend + bend.T) / 2)
    kept = sizes > STILL * max(1.0, float(sizes[-1]))
    own = vectors[:, kept]
    return (own / sizes[kept]) @ own.T, (own**2).sum(axis=1) > 1 - SURE


def _wider(inverse: Floats, kept: Bools, column: int, width: int) -> float:
    """The error of the mean slope beside the one that the spread of slopes tells, at least 1."""
    n = int(kept.sum())
    if n < 2:
        return 1.0
    places = np.flatnonzero(kept) * width + column
    own = inverse[np.ix_(places, places)]
    total = float(own.sum()) / n
    told = (float(np.trace(own)) - total) / (n - 1)
    return math.sqrt(max(1.0, total / told)) if told > 0 else 1.0
