"""Confidence ellipses of mean positions in a plane, and correlations within listeners."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from earwitness.core import Estimate
from earwitness.stats.arrays import Floats, group_sums, select_rows
from earwitness.stats.means import mean_over_listeners
from earwitness.stats.votes import Codes

# --- Confidence ellipses -------------------------------------------------------------------------
# A position is a pair of votes on two scales by the same listener on the same stimulus. The ellipse
# is Hotelling's T² region of the mean, the counterpart of a t interval for two values.
#
# - ``listener_ellipses``: listeners are random. It refers to *these items* and other listeners, and
#   its centre is the mean over listeners of each listener's mean position.
# - ``two_way_ellipses``: listeners and items are random. It refers to other listeners *and other
#   items*; its centre is the mean of all positions. The covariance adds those over listeners and
#   over items. Both contain the variance of single votes, so that it is rather too large than too
#   small. Degrees of freedom are Satterthwaite's.


DIMENSIONS = 2
LISTENER_ELLIPSE = "Hotelling over listeners"
TWO_WAY_ELLIPSE = "Hotelling over listeners and items"


@dataclass(frozen=True, slots=True)
class MeanEllipse:
    """Confidence ellipse of a mean position.

    ``major`` and ``minor`` are half the lengths of its axes, ``angle`` is the direction of the
    longer one, in degrees from the x axis. They are NaN if there are too few listeners or items.
    """

    x: float
    y: float
    major: float
    minor: float
    angle: float
    level: float
    n: int
    method: str

    def contains(self, x: float, y: float) -> bool:
        """Return whether a point is inside the ellipse.

        >>> MeanEllipse(0.5, 0.5, 0.2, 0.1, 0.0, 0.95, 8, "").contains(0.6, 0.55)
        True
        """
        along, across = self._turn(x - self.x, y - self.y, -self.angle)
        if not self.minor > 0:
            return False
        return (along / self.major) ** 2 + (across / self.minor) ** 2 <= 1

    def outline(self, points: int = 180) -> tuple[tuple[float, float], ...]:
        """Return points of the outline; empty if the ellipse is not defined."""
        if math.isnan(self.major):
            return ()
        angles = [2 * math.pi * index / points for index in range(points)]
        turned = (
            self._turn(self.major * math.cos(a), self.minor * math.sin(a), self.angle)
            for a in angles
        )
        return tuple((self.x + x, self.y + y) for x, y in turned)

    @staticmethod
    def _turn(x: float, y: float, degrees: float) -> tuple[float, float]:
        angle = math.radians(degrees)
        return (
            x * math.cos(angle) - y * math.sin(angle),
            x * math.sin(angle) + y * math.cos(angle),
        )


@dataclass(frozen=True, slots=True)
class Positions:
    """Positions in a plane: one row of two values each, with codes of system, item, listener."""

    values: Floats
    systems: Codes
    items: Codes
    listeners: Codes


def listener_ellipses(positions: Positions, systems: int, level: float = 0.95) -> list[MeanEllipse]:
    """Return one ellipse per system, for other listeners on these items."""
    ellipses = []
    for rows in (select_rows(positions, positions.systems == system) for system in range(systems)):
        means = _group_means(rows.values, rows.listeners)
        n = len(means)
        covariance = np.cov(means.T) / n if n > 1 else np.full((2, 2), np.nan)
        ellipses.append(_make_ellipse(means, covariance, n - 1, level, n, LISTENER_ELLIPSE))
    return ellipses


def two_way_ellipses(positions: Positions, systems: int, level: float = 0.95) -> list[MeanEllipse]:
    """Return one ellipse per system, for other listeners and other items."""
    ellipses = []
    for rows in (select_rows(positions, positions.systems == system) for system in range(systems)):
        kinds = rows.listeners, rows.items
        parts = [_clustered_covariance(rows.values, kind) for kind in kinds]
        counts = np.array([len(np.unique(kind)) for kind in kinds])
        traces = np.array([float(np.trace(part)) for part in parts])
        bottom = float((traces**2 / np.maximum(counts - 1, 1)).sum())
        freedom = float(traces.sum()) ** 2 / bottom if bottom > 0 else math.nan
        arguments = parts[0] + parts[1], freedom, level, int(counts[0]), TWO_WAY_ELLIPSE
        ellipses.append(_make_ellipse(rows.values, *arguments))
    return ellipses


def _group_means(values: Floats, groups: Codes) -> Floats:
    counts = np.unique(groups, return_counts=True)[1]
    return np.asarray(group_sums(values, groups) / counts[:, None])


def _clustered_covariance(values: Floats, groups: Codes) -> Floats:
    """Return the covariance of the mean if groups are drawn; NaN with fewer than two groups."""
    n = len(np.unique(groups))
    if n < 2:
        return np.full((2, 2), np.nan)
    sums = group_sums(values - values.mean(axis=0), groups)
    return np.asarray(sums.T @ sums * (n / (n - 1)) / len(values) ** 2)


def _make_ellipse(
    values: Floats, covariance: Floats, freedom: float, level: float, n: int, method: str
) -> MeanEllipse:
    """Return the ellipse about the mean of positions with a given covariance."""
    from scipy.special import fdtri

    nan = math.nan
    x, y = values.mean(axis=0).tolist() if n else (nan, nan)
    undefined = MeanEllipse(x, y, nan, nan, nan, level, n, method)
    rest = freedom - DIMENSIONS + 1
    if not rest > 0 or not np.isfinite(covariance).all():
        return undefined
    squares, directions = np.linalg.eigh(covariance)
    squares = np.maximum(squares, 0)
    if not squares[1] > 0:
        return undefined
    factor = DIMENSIONS * freedom / rest * float(fdtri(DIMENSIONS, rest, level))
    minor, major = np.sqrt(factor * squares).tolist()
    angle = math.degrees(math.atan2(directions[1, 1], directions[0, 1])) % 180
    return replace(undefined, major=major, minor=minor, angle=angle)


# --- Correlation within listeners ----------------------------------------------------------------


LARGEST_CORRELATION = 0.9999  # larger ones would have an infinite transform
MIN_FREEDOM_FOR_CORRELATION = 3


def correlate_within(positions: Positions, level: float = 0.95) -> tuple[Estimate, Floats]:
    """Return the correlation of the two values within listener and item, and that per listener.

    Values are centred on the mean of each listener on each item, so that neither severe listeners
    nor rich items contribute. The estimate is the mean of Fisher's z of all listeners with its t
    interval, transformed back.
    """
    pages = positions.listeners * (int(positions.items.max(initial=0)) + 1) + positions.items
    index = np.unique(pages, return_inverse=True)[1]
    centred = positions.values - _group_means(positions.values, pages)[index]
    count = int(positions.listeners.max(initial=-1)) + 1
    correlations = np.full(count, np.nan)
    for listener in range(count):
        own = positions.listeners == listener
        freedom = int(own.sum()) - len(np.unique(pages[own]))
        squares = centred[own].T @ centred[own]
        size = math.sqrt(float(squares[0, 0] * squares[1, 1]))
        if freedom >= MIN_FREEDOM_FOR_CORRELATION and size > 0:
            correlations[listener] = squares[0, 1] / size
    z = np.arctanh(np.clip(correlations, -LARGEST_CORRELATION, LARGEST_CORRELATION))
    mean, _ = mean_over_listeners(z, level)
    value, low, high = map(math.tanh, (mean.value, mean.low, mean.high))
    method = "Fisher's z over listeners"
    return replace(mean, value=value, low=low, high=high, method=method), correlations
