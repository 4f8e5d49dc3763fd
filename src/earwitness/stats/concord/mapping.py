"""Scores mapped to the scale of people by a line or a cubic that never turns.

A metric need not use the scale of people, so ITU-T P.1401 compares after a mapping: first or third
order, least squares, monotonic over the range of the scores. Scores are scaled to −1 … 1 first.

The cubic is found exactly, without a search. Its slope is a quadratic that must not change its sign
between −1 and 1. Among all such cubics the best is the best of those whose slope is 0 at the same
places, and there are few ways: nowhere, at −1, at 1, at both, twice at one place, or everywhere.
All but the fifth are plain least squares with fewer terms. The fifth is a·(u − t)³ with an unknown
t, which is a root of a polynomial of fourth order. So a handful of candidates are fitted, those
that turn are left out, and the one that fits best is taken. Rising and falling are both allowed,
unless a direction is asked for.

With few points there are fewer terms: a cubic needs 4 different scores and 5 points, a line 2
different scores and 3 points; what has less is mapped to the mean, and the result says so. Where
no curve of the allowed direction fits better than the mean, the mapping is the mean too: it is
flat, and one number was taken from the points, not four.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import polynomial

from earwitness.stats.exact import Bools, Floats

ORDERS = (1, 3)
ROUNDING = 1e-12  # slopes of the wrong sign that are smaller than this, beside the terms, are 0

# The slope is 0 at −1, at 1, at both: u, u² and u³ are taken in these proportions.
TOUCHING = (
    np.array([[1, 1 / 2, 0], [0, 1 / 2, 1 / 3]]),  # (1 + u)(a + bu)
    np.array([[1, -1 / 2, 0], [0, 1 / 2, -1 / 3]]),  # (1 − u)(a + bu)
    np.array([[1, 0, -1 / 3]]),  # a(1 − u²)
)


@dataclass(frozen=True)
class Fit:
    """A polynomial of scores that are scaled from ``low`` … ``high`` to −1 … 1.

    ``asked`` is the order that was wanted, ``order`` the one that the points allow. ``direction``
    is 1 if it rises, −1 if it falls, 0 if it is flat. ``bound`` says that plain least squares would
    have turned; ``flat`` that points allow more than the mean, but nothing fits better. ``n``
    counts the points, ``undefined`` those without a score or a value of people.
    """

    terms: tuple[float, ...]
    low: float
    high: float
    asked: int
    order: int
    direction: int
    bound: bool
    n: int
    undefined: int
    flat: bool = False

    def at(self, scores: Floats) -> Floats:
        """Scores on the scale of people; NaN beyond the range of those that were fitted."""
        inside = np.isfinite(scores) & (scores >= self.low) & (scores <= self.high)
        scaled = _scaled(np.where(inside, scores, self.low), self.low, self.high)
        return np.where(inside, polynomial.polyval(scaled, np.array(self.terms)), np.nan)


def fit(scores: Floats, people: Floats, order: int, direction: int = 0) -> Fit:
    """The best mapping of one metric's scores; ``direction`` 1 or −1 allows no other than that.

    >>> found = fit(np.array([0.0, 1, 2, 3, 4]), np.array([1.0, 1, 2, 3, 3]), 1)
    >>> found.at(np.array([0.0, 4, 5])).round(3).tolist(), found.direction
    ([0.8, 3.2, nan], 1)
    """
    if order not in ORDERS:
        raise ValueError(f"mappings are of order {' or '.join(map(str, ORDERS))}, got {order}")
    known = np.isfinite(scores) & np.isfinite(people)
    n, missing = int(known.sum()), int((~known).sum())
    if n == 0:
        return Fit((np.nan,), np.nan, np.nan, order, 0, 0, False, 0, missing)
    x, y = scores[known], people[known]
    low, high = float(x.min()), float(x.max())
    allowed = _allowed(order, n, len(np.unique(x)))
    slopes, bound = _slopes(_scaled(x, low, high), y - y.mean(), allowed, direction)
    powers = polynomial.polyvander(_scaled(x, low, high), allowed)[:, 1:]
    terms = (float(y.mean() - slopes @ powers.mean(axis=0)), *map(float, slopes))
    way = _direction(slopes)
    if way == 0:
        terms = (float(y.mean()),)
    used = allowed if way else 0
    return Fit(terms, low, high, order, used, way, bound, n, missing, allowed > used)


def _allowed(order: int, n: int, different: int) -> int:
    """The order that so many points allow."""
    fits = (known for known in (3, 1) if known <= order and different > known and n > known + 1)
    return next(fits, 0)


def _scaled(scores: Floats, low: float, high: float) -> Floats:
    half = (high - low) / 2
    return np.clip((scores - (low + half)) / half, -1, 1) if half > 0 else np.zeros_like(scores)


def _slopes(u: Floats, y: Floats, order: int, direction: int) -> tuple[Floats, bool]:
    """All terms but the constant, and whether plain least squares would have turned."""
    powers = polynomial.polyvander(u, order)[:, 1:]
    powers = powers - powers.mean(axis=0)
    if order == 0:
        return np.zeros(0), False
    free = _least(powers, y, np.eye(order))
    if _fits(free, direction):
        return free, False
    found = [np.zeros(order)]
    if order == 3:
        found += [each for each in _touching(powers, y) if _fits(each, direction)]
    errors = [float(((y - powers @ each) ** 2).sum()) for each in found]
    return found[int(np.argmin(errors))], True


def _least(powers: Floats, y: Floats, proportions: Floats) -> Floats:
    """Least squares with terms in these proportions."""
    return np.asarray(np.linalg.lstsq(powers @ proportions.T, y, rcond=None)[0] @ proportions)


def _touching(powers: Floats, y: Floats) -> Iterator[Floats]:
    """The best cubics of each way in which the slope may be 0 somewhere."""
    for proportions in TOUCHING:
        yield _least(powers, y, proportions)
    for t in _saddles(powers, y):
        yield _least(powers, y, np.array([[3 * t * t, -3 * t, 1]]))  # (u − t)³, its constant apart


def _saddles(powers: Floats, y: Floats) -> Floats:
    """All t at which (u − t)³ may fit best.

    With A its product with people and B its square, both polynomials of t, A²/B is largest where
    2A′B = AB′: the terms of fifth order cancel out.
    """
    g, p = powers.T @ powers, powers.T @ y
    above = np.array([p[2], -3 * p[1], 3 * p[0]])
    below = np.array([g[2, 2], -6 * g[1, 2], 9 * g[1, 1] + 6 * g[0, 2], -18 * g[0, 1], 9 * g[0, 0]])
    left = 2 * np.convolve(polynomial.polyder(above), below)
    right = np.convolve(above, polynomial.polyder(below))
    roots = polynomial.polyroots(np.trim_zeros((left - right)[:5], "b"))
    return np.concatenate([np.clip(roots.real, -1, 1), [-1.0, 1.0]])


def _extremes(slopes: Floats) -> Floats:
    """The slope at both ends, and at its own turning point where that is between them."""
    slope = slopes * np.arange(1, len(slopes) + 1)
    places = [-1.0, 1.0]
    if len(slope) == 3 and abs(slope[1]) < 2 * abs(slope[2]):
        places.append(-slope[1] / (2 * slope[2]))
    return np.asarray(polynomial.polyval(np.array(places), slope))


def _signs(slopes: Floats) -> Bools:
    """Whether it rises somewhere, and whether it falls somewhere."""
    extremes, tiny = _extremes(slopes), ROUNDING * np.abs(slopes).sum()
    return np.array([(extremes > tiny).any(), (extremes < -tiny).any()])


def _fits(slopes: Floats, direction: int) -> bool:
    rises, falls = _signs(slopes)
    return not (rises and falls) and not (direction > 0 and falls) and not (direction < 0 and rises)


def _direction(slopes: Floats) -> int:
    rises, falls = _signs(slopes) if len(slopes) else (False, False)
    return int(rises) - int(falls)
