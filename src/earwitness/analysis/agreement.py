"""Agreement between listeners, figures per listener, and the P.910 subject model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan

import numpy as np

from earwitness.analysis.prepare import CodedRatings, scale_use
from earwitness.analysis.results import ListenerAgreement, ListenerFigures, Subjects
from earwitness.analysis.settings import AnalysisSettings
from earwitness.core import Estimate, Key
from earwitness.ratings.records import Who
from earwitness.stats.agreement import (
    MEASURES,
    Level,
    estimate_icc,
    estimate_pooled_icc,
    krippendorff_alpha,
    panel_tables,
)
from earwitness.stats.arrays import Floats
from earwitness.stats.observers import SubjectFit, fit_subjects
from earwitness.stats.votes import leave_one_out_figures

ALL_LISTENERS = "all"
MAX_NOMINAL_VALUES = 11  # on scales with more, equal votes are rare, whatever the agreement


def measure_agreement(
    coded: CodedRatings, settings: AnalysisSettings
) -> tuple[ListenerAgreement, ...]:
    """Return the agreement of all listeners, and of each panel if there are several."""
    panels = [(panel, table) for panel, table in panel_tables(coded.votes) if len(panel) > 1]
    if not panels:
        return ()
    level, tables = settings.plan.level, [table for _, table in panels]
    named = [(ALL_LISTENERS, coded.votes.table(), estimate_pooled_icc(tables, level))]
    if len(panels) > 1:
        named += [
            (f"panel {number}", table, estimate_icc(table, level))
            for number, table in enumerate(tables, 1)
        ]
    measures = _alpha_measures(coded, settings)
    return tuple(_panel_agreement(*panel, measures, settings) for panel in named)


def _alpha_measures(coded: CodedRatings, settings: AnalysisSettings) -> list[Level]:
    """Return the levels of measurement of alpha that suit a scale."""
    scale, _ = settings.named_scales.of(coded.scale, coded.ratings)
    steps = (scale.high - scale.low) / scale.step
    count = max(round(steps) + 1, len(np.unique(coded.votes.values)))
    return [level for level in MEASURES if level != "nominal" or count <= MAX_NOMINAL_VALUES]


def _panel_agreement(
    panel: str,
    table: Floats,
    coefficients: dict[str, Estimate],
    measures: Sequence[Level],
    settings: AnalysisSettings,
) -> ListenerAgreement:
    there = ~np.isnan(table)
    draws, seed, level = settings.draws, settings.seed, settings.plan.level
    alphas = {
        f"alpha ({measure})": krippendorff_alpha(
            table, measure, draws=draws, seed=seed, level=level
        )
        for measure in measures
    }
    return ListenerAgreement(
        panel, int(there.any(axis=0).sum()), int(there.any(axis=1).sum()), coefficients | alphas
    )


def listener_figures(coded: CodedRatings, same: Mapping[Who, float]) -> tuple[ListenerFigures, ...]:
    """Return figures per listener, relative to the mean of the others on the same stimuli.

    ``same`` is the share of trials per listener with the same vote on all scales.
    """
    deviations, used = (
        leave_one_out_figures(coded.votes.table()),
        scale_use(coded.ratings, coded.scale),
    )
    sums, counts = coded.votes.listener_sums()
    means = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    rows = []
    for number, listener in enumerate(coded.listeners):
        listener_votes = coded.votes.values[coded.votes.listeners == number]
        if not len(listener_votes):
            continue
        rows.append(
            ListenerFigures(
                listener=listener,
                votes=len(listener_votes),
                mean=float(listener_votes.mean()),
                sd=float(listener_votes.std(ddof=1)) if len(listener_votes) > 1 else nan,
                bias=float(deviations.bias[number]),
                inconsistency=float(deviations.inconsistency[number]),
                correlation=float(deviations.correlation[number]),
                rmse=float(deviations.rmse[number]),
                usual=used[listener].usual,
                run=used[listener].run,
                means=_means_by_system(coded.systems, means[number]),
                alike=same.get(listener, nan),
            )
        )
    return tuple(rows)


def _means_by_system(systems: Sequence[str], means: Floats) -> dict[str, float]:
    """Return the means of the systems that a listener rated."""
    return {
        name: mean for name, mean in zip(systems, means.tolist(), strict=True) if not np.isnan(mean)
    }


def fit_subject_model(coded: CodedRatings, settings: AnalysisSettings) -> Subjects:
    """Fit the subject model of ITU-T P.910, which weights listeners by their consistency."""
    table = coded.votes.table()
    fit = fit_subjects(table, level=settings.plan.level)
    rated = [n for n in range(len(table)) if not np.isnan(fit.qualities[n].value)]
    keys = {n: _stimulus_key(coded, n) for n in rated}
    return Subjects(
        qualities={keys[n]: fit.qualities[n] for n in rated},
        systems=_mean_quality_by_system(coded, fit, rated),
        biases=dict(_by_listener(coded, fit.biases)),
        inconsistencies=dict(_by_listener(coded, fit.inconsistencies)),
        floor=fit.floor,
        floored=tuple(coded.listeners[n] for n in fit.floored),
        rounds=fit.rounds,
        converged=fit.converged,
        warning=fit.warning,
    )


def _stimulus_key(coded: CodedRatings, number: int) -> Key:
    item, system = divmod(number, len(coded.systems))
    return Key(coded.items[item], coded.systems[system])


def _by_listener(
    coded: CodedRatings, estimates: Sequence[Estimate]
) -> list[tuple[int | str, Estimate]]:
    """Return estimates by listener, without listeners who gave no vote."""
    voted = set(coded.votes.listeners.tolist())
    return [(name, estimates[n]) for n, name in enumerate(coded.listeners) if n in voted]


def _mean_quality_by_system(
    coded: CodedRatings, fit: SubjectFit, rated: Sequence[int]
) -> dict[str, float]:
    count = len(coded.systems)
    return {
        name: float(np.mean([fit.qualities[n].value for n in rated if n % count == number]))
        for number, name in enumerate(coded.systems)
        if any(n % count == number for n in rated)
    }
