"""Report of positions on the TC/SD plane: section, headlines, methods sentences and CSV tables."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan, nan
from typing import Any

from earwitness.analysis.report.equivalence import scope_cells, scope_columns, tests_by_scope
from earwitness.analysis.report.wording import (
    ESTIMATE,
    LISTENER,
    correction_clause,
    level_percent,
)
from earwitness.analysis.results import PlaneResults, Results
from earwitness.core import Estimate, Value
from earwitness.report.columns import Column, Columns, TableRows, draw_rows, record_rows
from earwitness.report.numbers import cell, number
from earwitness.report.parts import (
    Part,
    Plane,
    PlanePoint,
    PlaneSeries,
    Scatter,
    ScatterPoint,
    Scatters,
    Section,
    Table,
)
from earwitness.stats.ellipses import TWO_WAY_ELLIPSE, MeanEllipse

# --- Section on the plane ------------------------------------------------------------------------


CORRELATION = Value("correlation", "none", -1, 1, "")
CORRELATION_NOTE = (
    "Correlation of TC and SD: within listener and item, that is between the skims of one page; "
    "the mean over listeners by Fisher's z."
)
ELLIPSE_SCOPES = {
    True: "other listeners and other items",
    False: "other listeners on these items",
}


def plane_sections(results: Results) -> Iterator[Section]:
    """Yield the section on the plane: mean positions, each listener, and methods of skims."""
    plane = results.plane
    if plane is None:
        return
    across, up = _plane_values(results)
    parts: list[Part] = [_mean_plane(results, plane)]
    title = "correlation of TC and SD"
    parts.append(draw_rows(title, CORRELATION_COLUMNS, _correlation_rows(plane)))
    if plane.methods:
        parts.append(_method_table(results, plane))
    yield Section("TC/SD plane", tuple(parts), _plane_note(results, plane))
    title = "mean positions by listener"
    table = draw_rows(title, _listener_columns(across, up), _listener_rows(plane), 2)
    plots = tuple(
        Scatter(
            f"listener {who}",
            f"r {number(own.correlation, CORRELATION)}",
            tuple(
                ScatterPoint(name, place.tc, _bare_estimate(place.sd))
                for name, place in own.positions.items()
            ),
        )
        for who, own in plane.listeners.items()
    )
    scatters = Scatters(title, up, plots, table, across.name, _plane_maximum(results))
    note = "One plane per listener: the mean position of each system over the listener's items."
    yield Section("TC/SD planes of listeners", (scatters,), note, place="pictures")


def _bare_estimate(value: float) -> Estimate:
    """Return a value without an interval."""
    return Estimate(value, nan, nan, nan, 1, 0, "")


def _plane_values(results: Results) -> tuple[Value, Value]:
    values = {scale.value.name: scale.value for scale in results.scales}
    return values["TC"], values["SD"]


def _plane_maximum(results: Results) -> float | None:
    """Return the end of both scales, if both start at 0 and have the same end."""
    ends = {(value.low, value.high) for value in _plane_values(results)}
    return next(iter(ends))[1] if len(ends) == 1 and next(iter(ends))[0] == 0 else None


def _is_two_way(plane: PlaneResults) -> bool:
    return any(place.ellipse.method == TWO_WAY_ELLIPSE for place in plane.systems.values())


def _plane_note(results: Results, plane: PlaneResults) -> str:
    scope = ELLIPSE_SCOPES[_is_two_way(plane)]
    methods = (
        f" Differences between methods are over all z of a method; p is "
        f"{correction_clause(results)} within each scale."
        if plane.methods
        else ""
    )
    return (
        f"Ellipses are joint {level_percent(results)} confidence regions (Hotelling's T²), which "
        f"generalize to {scope}; they are undefined with fewer than three listeners, and "
        "very wide with three or four. Dashed: "
        f"maxima of the scales. {CORRELATION_NOTE}{methods}"
    )


def _mean_plane(results: Results, plane: PlaneResults) -> Plane:
    across, up = _plane_values(results)
    title = "mean positions on the TC/SD plane"
    table = draw_rows(title, _position_columns(across, up), _position_rows(plane))
    series = tuple(
        PlaneSeries(name, (PlanePoint("", place.tc, place.sd, place.ellipse.outline()),))
        for name, place in plane.systems.items()
    )
    return Plane(title, up, across, series, table, _plane_maximum(results))


def _position_columns(across: Value, up: Value) -> Columns:
    def show_ellipse(ellipse: MeanEllipse) -> str:
        if isnan(ellipse.major):
            return "–"
        axes = f"{number(ellipse.major, up)} × {number(ellipse.minor, up)}"
        return f"{axes}, {ellipse.angle:.0f}°"

    ends = {"": "value", "_low": "low", "_high": "high"}
    axes = (
        Column(heading=name, value=value, parts={f"{name.lower()}{end}": ends[end] for end in ends})
        for name, value in (("TC", across), ("SD", up))
    )
    parts = {"x": "x", "y": "y", "half_major": "major", "half_minor": "minor"}
    parts |= {name: name for name in ("angle", "level", "n", "method")}
    ellipse = Column(heading="half axes, angle", parts=parts, show=show_ellipse)
    return ("system", *axes, ellipse, Column(heading="listeners"))


def _position_rows(plane: PlaneResults) -> Iterator[tuple[Any, ...]]:
    for name, place in plane.systems.items():
        yield name, place.tc, place.sd, place.ellipse, place.ellipse.n


CORRELATION_COLUMNS = (
    Column("a", hidden=True),
    Column("b", hidden=True),
    Column(heading="within listener and item"),
    Column(heading="correlation", value=CORRELATION, parts=ESTIMATE),
    Column(heading="listeners"),
)


def _correlation_rows(plane: PlaneResults) -> list[tuple[Any, ...]]:
    return [("TC", "SD", "TC and SD", plane.correlation, plane.correlation.n)]


def _method_table(results: Results, plane: PlaneResults) -> Table:
    values = dict(zip(("TC", "SD"), _plane_values(results), strict=True))
    rows = []
    for methods in plane.methods:
        modelled = {(c.a, c.b): c for c in methods.modelled}
        for planned in methods.contrasts:
            model = modelled.get((planned.a, planned.b))
            rows += [
                scope_cells(values[methods.scale], contrast, scope)
                for scope, contrast in tests_by_scope(results, planned, model)
            ]
    return draw_rows("differences between methods", scope_columns(results, "methods"), rows, 3)


def _listener_columns(across: Value, up: Value) -> Columns:
    axes = Column("tc", "TC", across), Column("sd", "SD", up)
    return (LISTENER, "system", *axes, Column("correlation", hidden=True))


def _listener_rows(plane: PlaneResults) -> Iterator[tuple[Any, ...]]:
    for who, own in plane.listeners.items():
        for name, place in own.positions.items():
            yield who, name, place.tc, place.sd, own.correlation


# --- Headlines and methods -----------------------------------------------------------------------


def plane_headlines(results: Results) -> Iterator[str]:
    """Yield the correlation of TC and SD, if its interval excludes 0."""
    plane = results.plane
    if plane is None or isnan(plane.correlation.low):
        return
    low, high = plane.correlation.low, plane.correlation.high
    if low > 0 or high < 0:
        kind = "positively" if low > 0 else "negatively"
        figure = cell(plane.correlation, CORRELATION)
        yield f"TC and SD are {kind} correlated within listener and item (r {figure})"


def plane_methods(results: Results) -> Iterator[str]:
    """Yield the methods sentences on the plane."""
    plane = results.plane
    if plane is None:
        return
    if any(not isnan(place.ellipse.major) for place in plane.systems.values()):
        yield (
            f"Mean positions on the TC/SD plane have {level_percent(results)} confidence ellipses "
            f"by Hotelling's T², which generalize to {ELLIPSE_SCOPES[_is_two_way(plane)]}."
        )
    if not isnan(plane.correlation.value):
        yield (
            "The correlation of TC and SD was computed within listener and item and averaged over "
            "listeners by Fisher's z, with a t interval."
        )
    if plane.methods:
        yield "Methods were compared by the mean over their skims of each listener and item."


# --- CSV tables of the plane ---------------------------------------------------------------------


def plane_tables(results: Results) -> dict[str, TableRows]:
    """Return CSV tables by name."""
    plane = results.plane
    if plane is None:
        return {}
    values = dict(zip(("TC", "SD"), _plane_values(results), strict=True))
    methods = (
        scope_cells(values[one.scale], contrast)
        for one in plane.methods
        for contrast in (*one.contrasts, *one.modelled)
    )
    listeners = _listener_columns(*values.values())
    return {
        "plane": record_rows(_position_columns(*values.values()), _position_rows(plane)),
        "plane_listeners": record_rows(listeners, _listener_rows(plane)),
        "plane_correlation": record_rows(CORRELATION_COLUMNS, _correlation_rows(plane)),
        "plane_methods": record_rows(scope_columns(results), methods),
    }
