"""Report of positions on the TC/SD plane: section, headlines, methods sentences and CSV tables."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan, nan
from operator import attrgetter

from earwitness.analysis.plan import POPULATION_TEXTS
from earwitness.analysis.report.equivalence import scope_cells, scope_columns, tests_by_scope
from earwitness.analysis.report.wording import (
    ESTIMATE,
    LISTENER,
    ColumnRows,
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


def sections(results: Results) -> Iterator[Section]:
    """Yield the section on the plane: mean positions, each listener, and methods of skims."""
    plane = results.plane
    if plane is None:
        return
    across, up = _plane_values(results)
    ends = {(value.low, value.high) for value in (across, up)}
    maximum = up.high if len(ends) == 1 and up.low == 0 else None
    title = "mean positions on the TC/SD plane"
    series = tuple(
        PlaneSeries(name, (PlanePoint("", place.tc, place.sd, place.ellipse.outline()),))
        for name, place in plane.systems.items()
    )
    table = draw_rows(title, *_position_table(plane, across, up))
    parts: list[Part] = [Plane(title, up, across, series, table, maximum)]
    parts.append(draw_rows("correlation of TC and SD", *_correlation_table(plane)))
    if plane.methods:
        parts.append(_method_table(results, plane))
    yield Section("TC/SD plane", tuple(parts), _plane_note(results, plane))
    title = "mean positions by listener"
    table = draw_rows(title, *_listener_table(plane, across, up), 2)
    plots = tuple(
        Scatter(
            f"listener {who}",
            f"r {number(listener.correlation, CORRELATION)}",
            tuple(
                ScatterPoint(name, place.tc, Estimate(place.sd, nan, nan, nan, 1, 0, ""))
                for name, place in listener.positions.items()
            ),
        )
        for who, listener in plane.listeners.items()
    )
    scatters = Scatters(title, up, plots, table, across.name, maximum)
    note = "One plane per listener: the mean position of each system over the listener's items."
    yield Section("TC/SD planes of listeners", (scatters,), note, place="pictures")


def _plane_values(results: Results) -> tuple[Value, Value]:
    values = {scale.value.name: scale.value for scale in results.scales}
    return values["TC"], values["SD"]


def _ellipse_scope(plane: PlaneResults) -> str:
    ellipses = [place.ellipse for place in plane.systems.values()]
    is_two_way = any(ellipse.method == TWO_WAY_ELLIPSE for ellipse in ellipses)
    return POPULATION_TEXTS["items" if is_two_way else "listeners"]


def _plane_note(results: Results, plane: PlaneResults) -> str:
    note = (
        f"Ellipses are joint {level_percent(results)} confidence regions (Hotelling's T²), which "
        f"generalize to {_ellipse_scope(plane)}; they are undefined with fewer than three "
        "listeners, and very wide with three or four. Dashed: maxima of the scales. "
        f"{CORRELATION_NOTE}"
    )
    if plane.methods:
        note += (
            " Differences between methods are over all z of a method; p is "
            f"{correction_clause(results)} within each scale."
        )
    return note


def _position_table(plane: PlaneResults, across: Value, up: Value) -> ColumnRows:
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
    columns: Columns = ("system", *axes, ellipse, Column(heading="listeners"))
    cells = attrgetter("tc", "sd", "ellipse", "ellipse.n")
    return columns, [(name, *cells(place)) for name, place in plane.systems.items()]


def _correlation_table(plane: PlaneResults) -> ColumnRows:
    columns = (
        Column("a", hidden=True),
        Column("b", hidden=True),
        Column(heading="within listener and item"),
        Column(heading="correlation", value=CORRELATION, parts=ESTIMATE),
        Column(heading="listeners"),
    )
    return columns, [("TC", "SD", "TC and SD", plane.correlation, plane.correlation.n)]


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


def _listener_table(plane: PlaneResults, across: Value, up: Value) -> ColumnRows:
    axes = Column("tc", "TC", across), Column("sd", "SD", up)
    columns = (LISTENER, "system", *axes, Column("correlation", hidden=True))
    rows = [
        (who, name, place.tc, place.sd, listener.correlation)
        for who, listener in plane.listeners.items()
        for name, place in listener.positions.items()
    ]
    return columns, rows


# --- Headlines and methods -----------------------------------------------------------------------


def headlines(results: Results) -> Iterator[str]:
    """Yield the correlation of TC and SD, if its interval excludes 0."""
    plane = results.plane
    if plane is None or isnan(plane.correlation.low):
        return
    low, high = plane.correlation.low, plane.correlation.high
    if low > 0 or high < 0:
        kind = "positively" if low > 0 else "negatively"
        figure = cell(plane.correlation, CORRELATION)
        yield f"TC and SD are {kind} correlated within listener and item (r {figure})"


def methods(results: Results) -> Iterator[str]:
    """Yield the methods sentences on the plane."""
    plane = results.plane
    if plane is None:
        return
    if any(not isnan(place.ellipse.major) for place in plane.systems.values()):
        yield (
            f"Mean positions on the TC/SD plane have {level_percent(results)} confidence ellipses "
            f"by Hotelling's T², which generalize to {_ellipse_scope(plane)}."
        )
    if not isnan(plane.correlation.value):
        yield (
            "The correlation of TC and SD was computed within listener and item and averaged over "
            "listeners by Fisher's z, with a t interval."
        )
    if plane.methods:
        yield "Methods were compared by the mean over their skims of each listener and item."


# --- CSV tables of the plane ---------------------------------------------------------------------


def tables(results: Results) -> dict[str, TableRows]:
    """Return CSV tables by name."""
    plane = results.plane
    if plane is None:
        return {}
    across, up = _plane_values(results)
    values = {"TC": across, "SD": up}
    methods = (
        scope_cells(values[method.scale], contrast)
        for method in plane.methods
        for contrast in (*method.contrasts, *method.modelled)
    )
    return {
        "plane": record_rows(*_position_table(plane, across, up)),
        "plane_listeners": record_rows(*_listener_table(plane, across, up)),
        "plane_correlation": record_rows(*_correlation_table(plane)),
        "plane_methods": record_rows(scope_columns(results), methods),
    }
