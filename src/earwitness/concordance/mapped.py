"""Scores mapped to the scale of people, and the errors that are left, as P.1401 counts them."""

from __future__ import annotations

import numpy as np

from earwitness.concordance.asked import Asked
from earwitness.data import Mapped
from earwitness.stats import student
from earwitness.stats.concord.cells import half_widths
from earwitness.stats.concord.levels import gaps
from earwitness.stats.concord.mapping import Fit
from earwitness.stats.concord.p1401 import ORDERS, Accuracy, accuracy
from earwitness.stats.exact import Floats
from earwitness.stats.votes import Votes

DRAWN = 41  # points of a curve
WAYS = {order: name for name, order in ORDERS.items()}


def mapped(asked: Asked) -> list[tuple[Mapped, ...]]:
    """By metric: over systems, and over outputs where single ones were rated."""
    if not isinstance(asked.given, Votes):
        return [() for _ in asked.joined.metrics]
    found: list[list[Mapped]] = [[] for _ in asked.joined.metrics]
    for level in asked.levels:
        if level == "item":
            continue
        here = asked.at(level)
        assert isinstance(here.given, Votes)
        points = _systems(here, here.given) if level == "system" else _outputs(here, here.given)
        for metric, own in enumerate(found):
            own.append(_mapped(asked, level, metric, *(side[metric] for side in points)))
    return [tuple(own) for own in found]


def _mapped(
    asked: Asked, level: str, metric: int, scores: Floats, people: Floats, widths: Floats
) -> Mapped:
    """Of scores as the metric gives them; the mapping must rise where high ones are good."""
    settings = asked.settings
    sign = -1 if asked.joined.metrics[metric].low_is_good else 1
    found = accuracy(
        sign * scores,
        people,
        widths,
        mapping=settings.mapping,
        direction=sign,
        level=settings.level,
    )
    return Mapped(
        level,
        settings.mapping,
        _used(found.mapping),
        found.pearson,
        found.rmse,
        found.rmse_star,
        found.outliers,
        _curve(found),
    )


def _used(fit: Fit | None) -> str:
    """The mapping by name: flat where no curve beats the mean, mean where points are too few."""
    if fit is None:
        return "none"
    return WAYS[fit.order] if fit.order else "flat" if fit.flat else "mean"


def _curve(found: Accuracy) -> tuple[tuple[float, float], ...]:
    fit: Fit | None = found.mapping
    if fit is None or not np.isfinite(fit.low):
        return ()
    x = np.linspace(fit.low, fit.high, DRAWN)
    return tuple(zip(x.tolist(), fit.at(x).tolist(), strict=True))


Points = tuple[Floats, Floats, Floats]  # metrics × points: scores, people, half widths


def _systems(asked: Asked, votes: Votes) -> Points:
    """Means of systems over the cells that the metric knows, and intervals over listeners."""
    people = asked.grid.people
    known = ~np.isnan(asked.joined.scores) & ~np.isnan(people)
    count = known.sum(axis=2).astype(np.float64)
    scores = student.ratio(np.where(known, asked.joined.scores, 0).sum(axis=2), count)
    said = student.ratio(np.where(known, people, 0).sum(axis=2), count)
    widths = np.empty_like(scores)
    for which, own in gaps(asked.joined.scores):
        widths[which] = half_widths(votes, own, 0.95)
    return scores, said, widths


def _outputs(asked: Asked, votes: Votes) -> Points:
    """Every output with the t interval of its votes."""
    table = votes.table().T
    found = student.column_moments(table)
    low, high = student.interval(found, 0.95)
    half = ((high - low) / 2).reshape(votes.size[1], votes.size[0]).T.ravel()
    scores = asked.joined.scores.reshape(len(asked.joined.scores), -1)
    people = asked.grid.people.ravel()
    return scores, np.broadcast_to(people, scores.shape), np.broadcast_to(half, scores.shape)
