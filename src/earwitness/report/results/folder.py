"""Results of ratings as tables for other programs, a file each."""

from __future__ import annotations

from math import isnan

from earwitness.data import Contrast, Key, Results, ScaleResults
from earwitness.report.records import csv_table
from earwitness.report.results.further_files import further_tables
from earwitness.report.results.records import (
    MEANS,
    POINT,
    Row,
    choice_rows,
    mean_row,
    point,
    rated_rows,
)

FIGURES = (
    *("votes", "mean", "sd", "bias", "inconsistency", "correlation", "rmse"),
    *("usual", "run", "alike"),
)
Made = tuple[list[str], list[Row]]


def tables_csv(results: Results) -> dict[str, str]:
    """Tables by the name of their file; those that would be empty are left out."""
    made = {
        "means.csv": _means(results),
        "contrasts.csv": _contrasts(results),
        "choices.csv": _chosen(results),
        "listeners.csv": _listeners(results),
        "screening.csv": _screening(results),
        "agreement.csv": _agreement(results),
        "subjects.csv": _subjects(results),
        "effects.csv": _effects(results),
        "doubled.csv": _doubled(results),
        "stimuli.csv": _stimuli(results),
        **further_tables(results),
    }
    return {name: csv_table(header, rows) for name, (header, rows) in made.items() if rows}


def _means(results: Results) -> Made:
    """Every interval of every mean, those of all listeners too."""
    rows: list[Row] = []
    for scale in results.scales:
        rows += [[*row, "yes"] for row in (*rated_rows(scale), *choice_rows(scale))]
        for system, rated in scale.systems.items():
            others = [e for e in rated.intervals.values() if e != rated.mean]
            rows += [[*mean_row(scale, system, "mean", e, rated), "no"] for e in others]
        rows += [
            [scale.value.name, system, "mean of everyone", *point(e), "", "", "", "no"]
            for system, e in scale.everyone.items()
        ]
    return [*MEANS, "planned"], rows


def _contrasts(results: Results) -> Made:
    header = ["scale", "a", "b", *POINT, "p", "p_corrected", "correction", "better"]
    header += [f"effect_{name}" for name in POINT]
    rows = [_contrast(scale, c, results) for scale in results.scales for c in scale.contrasts]
    return header, rows


def _contrast(scale: ScaleResults, c: Contrast, results: Results) -> Row:
    tested = [c.p, c.p_corrected, results.plan.correction, c.better]
    effect = point(c.effect)
    return [scale.value.name, c.a, c.b, *point(c.difference), *tested, *effect]


def _chosen(results: Results) -> Made:
    """The whole, and each listener."""
    header = ["scale", "a", "b", "listener", "wins", "losses", "ties", *POINT, "p", "p_corrected"]
    header += [f"over_listeners_{name}" for name in POINT]
    header += ["p_over_listeners", *(f"sensitivity_{name}" for name in POINT)]
    rows: list[Row] = []
    for scale in results.scales:
        for c in scale.choices:
            pair = [scale.value.name, c.a, c.b]
            over = [*point(c.over_listeners), c.p_over_listeners]
            keen = point(c.sensitivity)
            counts = [c.wins, c.losses, c.ties, *point(c.share), c.p, c.corrected]
            rows.append([*pair, "", *counts, *over, *keen])
            blank = [""] * (len(header) - 14)
            for who, (wins, losses, ties, p) in c.listeners.items():
                rows.append([*pair, who, wins, losses, ties, *[""] * len(POINT), p, *blank])
    return header, rows


def _listeners(results: Results) -> Made:
    systems = list(dict.fromkeys(n for s in results.scales for o in s.listeners for n in o.means))
    rows = [
        [
            *(scale.value.name, one.listener, _kept(one.listener not in results.left)),
            *(getattr(one, name) for name in FIGURES),
            *(one.means.get(system, "") for system in systems),
        ]
        for scale in results.scales
        for one in scale.listeners
    ]
    return ["scale", "listener", "kept", *FIGURES, *(f"mean of {name}" for name in systems)], rows


def _kept(kept: bool) -> str:
    return "yes" if kept else "no"


def _screening(results: Results) -> Made:
    rows = [
        [one.listener, one.rule, one.scale, one.session or "", one.figures, _kept(one.kept)]
        for one in results.screened
    ]
    return ["listener", "rule", "scale", "session", "figures", "kept"], rows


def _agreement(results: Results) -> Made:
    rows = [
        [scale.value.name, one.panel, one.listeners, one.stimuli, name, *point(estimate)]
        for scale in results.scales
        for one in scale.agreement
        for name, estimate in one.figures.items()
    ]
    return ["scale", "panel", "listeners", "stimuli", "name", *POINT], rows


def _subjects(results: Results) -> Made:
    rows = [
        [scale.value.name, who, name, *point(estimate)]
        for scale in results.scales
        if scale.subjects
        for name, found in (
            ("bias", scale.subjects.biases),
            ("inconsistency", scale.subjects.inconsistencies),
        )
        for who, estimate in found.items()
    ]
    return ["scale", "listener", "name", *POINT], rows


def _effects(results: Results) -> Made:
    rows = [
        [scale.value.name, one.name, one.what, *point(one.difference), one.p]
        for scale in results.scales
        for one in scale.effects
    ]
    return ["scale", "name", "what", *POINT, "p"], rows


def _doubled(results: Results) -> Made:
    most = max((len(one.values) for one in results.doubled), default=0)
    rows = [
        [one.key.item, one.key.system, one.scale, one.listener, one.counted, *one.values]
        for one in results.doubled
    ]
    header = ["item", "system", "scale", "listener", "counted"]
    return header + [f"vote_{n}" for n in range(1, most + 1)], _filled(rows, most + 5)


def _stimuli(results: Results) -> Made:
    """A row a stimulus and scale with all its votes, and the quality of the subject model."""
    rows = []
    most = max((len(one.votes) for s in results.scales for one in s.stimuli), default=0)
    for scale in results.scales:
        for one in scale.stimuli:
            n = sum(not isnan(vote) for vote in one.votes)
            quality = _quality(scale, one.key)
            named = [one.key.item, one.key.system, scale.value.name]
            rows.append([*named, n, one.mean, one.sd, *quality, *one.votes])
    header = ["item", "system", "scale", "n", "mean", "sd", "quality"]
    return header + [f"vote_{n}" for n in range(1, most + 1)], _filled(rows, most + 7)


def _quality(scale: ScaleResults, key: Key) -> Row:
    found = scale.subjects.qualities.get(key) if scale.subjects else None
    return ["" if found is None else found.value]


def _filled(rows: list[Row], width: int) -> list[Row]:
    return [row + [""] * (width - len(row)) for row in rows]
