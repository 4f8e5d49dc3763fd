"""Positions on the TC/SD plane: ellipses of systems, listeners, correlation, methods of skims."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from earwitness.analysis.means import compare_by_mixed_model, compare_systems
from earwitness.analysis.plan import MIXED_MODEL
from earwitness.analysis.prepare import code_ratings
from earwitness.analysis.results import (
    ListenerPlane,
    MethodContrasts,
    PlanePosition,
    PlaneResults,
    ScaleResults,
    SystemPosition,
)
from earwitness.analysis.settings import AnalysisSettings
from earwitness.core import Contrast, Rating, group_values
from earwitness.ratings.records import Who
from earwitness.stats.ellipses import (
    Positions,
    correlate_within,
    listener_ellipses,
    two_way_ellipses,
)
from earwitness.stats.mixed_model import fit_mixed_model

ACROSS_SCALE, UP_SCALE = "TC", "SD"
TWO_WAY_INTERVALS = ("two_way_bootstrap", MIXED_MODEL)
SKIM_NAME = re.compile(r"(?P<method>.+)-z[0-9.]+")  # name of a skim: its method and z


def plane_results(
    ratings: Sequence[Rating], scales: Sequence[ScaleResults], settings: AnalysisSettings
) -> PlaneResults | None:
    """Return positions on the TC/SD plane; None if nobody rated both scales of an output.

    Ellipses are over listeners, or over listeners and items if the planned interval is.
    """
    found = {scale.value.name: scale for scale in scales}
    cells = _paired_votes(ratings)
    if not cells:
        return None
    across, up = found[ACROSS_SCALE], found[UP_SCALE]
    systems = [name for name in across.systems if name in up.systems]
    items = list(dict.fromkeys(item for item, _, _ in cells))
    listeners = list(dict.fromkeys(who for _, _, who in cells))
    rows = [cell for cell in cells if cell[1] in systems]
    positions = Positions(
        np.array([cells[row] for row in rows], np.float64).reshape(-1, 2),
        np.array([systems.index(system) for _, system, _ in rows], np.int64),
        np.array([items.index(item) for item, _, _ in rows], np.int64),
        np.array([listeners.index(who) for _, _, who in rows], np.int64),
    )
    fit = two_way_ellipses if settings.plan.interval in TWO_WAY_INTERVALS else listener_ellipses
    ellipses = fit(positions, len(systems), settings.plan.level)
    correlation, correlations = correlate_within(positions, settings.plan.level)
    return PlaneResults(
        {
            name: SystemPosition(across.systems[name].mean, up.systems[name].mean, ellipse)
            for name, ellipse in zip(systems, ellipses, strict=True)
        },
        {
            who: ListenerPlane(_mean_positions(cells, who), correlations[number].item())
            for number, who in enumerate(listeners)
        },
        correlation,
        tuple(_compare_methods(ratings, name, settings) for name in (ACROSS_SCALE, UP_SCALE))
        if _has_methods(systems)
        else (),
    )


def _paired_votes(ratings: Sequence[Rating]) -> dict[tuple[str, str, Who], tuple[float, float]]:
    """Return TC and SD by item, system and listener, where both were rated."""
    votes: dict[tuple[str, str, Who], dict[str, float]] = {}
    for rating in ratings:
        if rating.scale in (ACROSS_SCALE, UP_SCALE) and rating.against is None:
            place = (rating.key.item, rating.key.system, rating.listener)
            votes.setdefault(place, {})[rating.scale] = rating.value
    return {
        place: (values[ACROSS_SCALE], values[UP_SCALE])
        for place, values in votes.items()
        if len(values) == 2
    }


def _mean_positions(
    cells: Mapping[tuple[str, str, Who], tuple[float, float]], who: Who
) -> dict[str, PlanePosition]:
    """Return the mean position of each system over the items of one listener."""
    own = group_values(
        (system, position) for (_, system, listener), position in cells.items() if listener == who
    )
    means = {system: np.mean(places, axis=0).tolist() for system, places in own.items()}
    return {system: PlanePosition(*mean) for system, mean in means.items()}


# --- Methods of skims ----------------------------------------------------------------------------


def method_of(system: str) -> str:
    """Return the method of a skim from the name of its system, which also has z.

    >>> method_of("pareto-z0.5"), method_of("random")
    ('pareto', 'random')
    """
    match = SKIM_NAME.fullmatch(system)
    return match["method"] if match else system


def _has_methods(systems: Sequence[str]) -> bool:
    return 1 < len({method_of(name) for name in systems}) < len(systems)


def _compare_methods(
    ratings: Sequence[Rating], scale: str, settings: AnalysisSettings
) -> MethodContrasts:
    """Return differences between methods over all their skims, by the planned test and the model.

    Votes of a listener on the skims of one method and item are averaged.
    """
    cells: dict[tuple[str, str, Who], list[Rating]] = {}
    for rating in ratings:
        if rating.scale == scale and rating.key.system not in settings.controls_of(scale):
            method = method_of(rating.key.system)
            cells.setdefault((rating.key.item, method, rating.listener), []).append(rating)
    means = [
        replace(
            votes[0],
            key=replace(votes[0].key, system=method),
            value=float(np.mean([vote.value for vote in votes])),
        )
        for (_, method, _), votes in cells.items()
    ]
    settings = replace(settings, plan=replace(settings.plan, contrasts=()))
    coded = code_ratings(means, scale)
    fitted = fit_mixed_model(coded.votes) if MIXED_MODEL in settings.methods else None
    planned: tuple[Contrast, ...] = compare_systems(coded, settings, fitted)
    return MethodContrasts(scale, planned, compare_by_mixed_model(coded, settings, fitted))
