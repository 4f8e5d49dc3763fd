"""Report of positions on the TC/SD plane: section, headlines, methods sentences and CSV tables."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan, nan

from earwitness.analysis.report.equivalence import tests_by_scope
from earwitness.analysis.report.wording import (
    ESTIMATE_COLUMNS,
    TEST_COLUMNS,
    Row,
    TableContent,
    correction_clause,
    difference_cells,
    difference_headings,
    estimate_cells,
    level_percent,
    tested_cells,
)
from earwitness.analysis.results import PlaneResults, Results
from earwitness.core import Estimate, Value
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
from earwitness.report.tables import better_system
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
    parts.append(_correlation_table(plane))
    if plane.methods:
        parts.append(_method_table(results, plane))
    yield Section("TC/SD plane", tuple(parts), _plane_note(results, plane))
    table = _listener_table(plane, across, up)
    title = "mean positions by listener"
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
    rows = tuple(
        (
            name,
            cell(place.tc, across),
            cell(place.sd, up),
            _ellipse_cell(place.ellipse, up),
            f"{place.ellipse.n:,}",
        )
        for name, place in plane.systems.items()
    )
    header = ("system", "TC", "SD", "half axes, angle", "listeners")
    series = tuple(
        PlaneSeries(name, (PlanePoint("", place.tc, place.sd, place.ellipse.outline()),))
        for name, place in plane.systems.items()
    )
    return Plane(title, up, across, series, Table(title, header, rows), _plane_maximum(results))


def _ellipse_cell(ellipse: MeanEllipse, value: Value) -> str:
    if isnan(ellipse.major):
        return "–"
    axes = f"{number(ellipse.major, value)} × {number(ellipse.minor, value)}"
    return f"{axes}, {ellipse.angle:.0f}°"


def _correlation_table(plane: PlaneResults) -> Table:
    own = plane.correlation
    row = ("TC and SD", cell(own, CORRELATION), f"{own.n:,}")
    header = ("within listener and item", "correlation", "listeners")
    return Table("correlation of TC and SD", header, (row,))


def _method_table(results: Results, plane: PlaneResults) -> Table:
    values = dict(zip(("TC", "SD"), _plane_values(results), strict=True))
    rows = []
    for methods in plane.methods:
        modelled = {(c.a, c.b): c for c in methods.modelled}
        for planned in methods.contrasts:
            model = modelled.get((planned.a, planned.b))
            for scope, contrast in tests_by_scope(results, planned, model):
                cells = difference_cells(results, contrast, values[methods.scale])
                pair = f"{contrast.a} − {contrast.b}"
                rows.append((methods.scale, pair, scope, *cells, better_system(contrast)))
    header = ("scale", "methods", "generalizes to", *difference_headings(results), "better")
    return Table("differences between methods", header, tuple(rows), names=3)


def _listener_table(plane: PlaneResults, across: Value, up: Value) -> Table:
    rows = tuple(
        (str(who), name, number(place.tc, across), number(place.sd, up))
        for who, own in plane.listeners.items()
        for name, place in own.positions.items()
    )
    return Table("mean positions by listener", ("listener", "system", "TC", "SD"), rows, names=2)


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


def plane_tables(results: Results) -> dict[str, TableContent]:
    """Return CSV tables by name."""
    plane = results.plane
    if plane is None:
        return {}
    positions: list[Row] = [
        [
            name,
            *estimate_cells(place.tc)[:3],
            *estimate_cells(place.sd)[:3],
            place.ellipse.x,
            place.ellipse.y,
            place.ellipse.major,
            place.ellipse.minor,
            place.ellipse.angle,
            place.ellipse.level,
            place.ellipse.n,
            place.ellipse.method,
        ]
        for name, place in plane.systems.items()
    ]
    header = ["system", "tc", "tc_low", "tc_high", "sd", "sd_low", "sd_high", "x", "y"]
    header += ["half_major", "half_minor", "angle", "level", "n", "method"]
    listeners: list[Row] = [
        [who, name, place.tc, place.sd, own.correlation]
        for who, own in plane.listeners.items()
        for name, place in own.positions.items()
    ]
    methods: list[Row] = [
        [one.scale, c.a, c.b, *tested_cells(c), c.better]
        for one in plane.methods
        for c in (*one.contrasts, *one.modelled)
    ]
    correlation: list[Row] = [["TC", "SD", *estimate_cells(plane.correlation)]]
    return {
        "plane": (header, positions),
        "plane_listeners": (["listener", "system", "tc", "sd", "correlation"], listeners),
        "plane_correlation": (["a", "b", *ESTIMATE_COLUMNS], correlation),
        "plane_methods": (["scale", "a", "b", *TEST_COLUMNS, "better"], methods),
    }
