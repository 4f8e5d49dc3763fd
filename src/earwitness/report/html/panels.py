"""Plots with two axes: curves, panels of listeners, scatter plots and planes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite, isnan, nan

from earwitness.core import Estimate
from earwitness.report.charts import (
    MAX_BANDS,
    Axis,
    Frame,
    LabelBox,
    LabelSizes,
    Point,
    curve_frame,
    curve_value,
    marked_numbers,
    panels_frame,
    place_ends,
    place_labels,
    plane_frame,
    scatter_frames,
)
from earwitness.report.html.elements import Html, breakable, element
from earwitness.report.html.plots import Colours, legend, legend_key, plot_svg, series_classes
from earwitness.report.numbers import axis_label, cell, label_with_unit, number, short_number
from earwitness.report.parts import (
    Curve,
    Panel,
    Panels,
    Plane,
    PlanePoint,
    PlaneSeries,
    Scatter,
    ScatterPoint,
    Scatters,
)

# --- Areas with two axes -------------------------------------------------------------------------


def _framed_area(
    frame: Frame, area: Iterable[Html], up: str, across: str, ends: Html | None = None
) -> Iterator[Html | None]:
    """Yield the area of a plot with the ticks and the labels of both axes."""
    yield element("div", breakable(up), class_="label up")
    yield element("div", *_tick_labels(frame.up, "bottom"), class_="y", aria_hidden="true")
    yield element("div", *area, class_="area")
    yield ends
    yield element("div", *_tick_labels(frame.across, "left"), class_="x", aria_hidden="true")
    yield element("div", breakable(across), class_="label")


def _tick_labels(axis: Axis, side: str, ticks: Sequence[float] = ()) -> list[Html]:
    """Return the labels of ticks, at their distances from a side."""
    return [
        element("span", short_number(tick), style=f"{side}:{axis.place(tick)}%")
        for tick in ticks or axis.ticks
    ]


def _draw_grid(frame: Frame, class_: str | None = None, maximum: float | None = None) -> list[Html]:
    """Return the lines of vertical ticks, and those at the maximum of both values, if any."""
    (left, right), up = (frame.across.low, frame.across.high), frame.up
    lines = [_draw_range(frame, (left, tick), (right, tick), class_) for tick in up.ticks]
    if maximum is not None:
        lines.append(_draw_range(frame, (maximum, up.high), (maximum, up.low), "maximum"))
        lines.append(_draw_range(frame, (left, maximum), (right, maximum), "maximum"))
    return lines


def _draw_range(frame: Frame, first: Point, last: Point, class_: str | None = "range") -> Html:
    """Return a line between two points."""
    (left, bottom), (right, top) = frame.place(*first), frame.place(*last)
    heights = {"y1": round(100 - bottom, 2), "y2": round(100 - top, 2)}
    return element("line", x1=left, x2=right, **heights, class_=class_)


def _draw_line(
    frame: Frame, points: Iterable[Point], class_: str | None = None, tag: str = "polyline"
) -> Html:
    """Return a line through points, or a polygon."""
    places = (frame.place(*point) for point in points)
    return element(tag, points=" ".join(f"{x:.2f},{100 - y:.2f}" for x, y in places), class_=class_)


def _draw_dot(
    frame: Frame, point: Point, class_: str, title: str | None = None, series: str | None = None
) -> Html:
    left, bottom = frame.place(*point)
    style = f"left:{left}%;bottom:{bottom}%"
    return element("span", class_=class_, style=style, title=title, data_series=series)


# --- Curves --------------------------------------------------------------------------------------


LABEL_GAP, COMPACT_LABEL_GAP = 5.5, 8.0  # between labels of lines, in percent of the height
MAX_LABEL_LETTERS = 24  # longer names are in the legend


def curve_plot(part: Curve, colours: Colours) -> Html:
    """Return lines with bands for their intervals.

    Series that are not among the series of the report get colours of their own.
    """
    frame, lines, value = curve_frame(part), part.lines, curve_value(part)
    classes = {name: colours.get(name, series_classes(i)) for i, name in enumerate(lines)}
    numbers = {name: str(i) if part.fitted else None for i, name in enumerate(lines)}
    marked = marked_numbers(part, frame.across)
    drawn = [
        _curve_line(frame, points, classes[name], numbers[name]) for name, points in lines.items()
    ]
    dots = [
        _draw_dot(
            frame,
            (x, estimate.value),
            f"dot {classes[name]}{'' if x in marked else ' bare'}",
            f"{name}, {part.parameter} {short_number(x)}: {cell(estimate, part.value)}",
            numbers[name],
        )
        for name, points in lines.items()
        for x, estimate in points
    ]
    parameter = label_with_unit(part.parameter, part.unit)
    parameter += ", logarithmic" if frame.across.is_logarithmic else ""
    ends = _end_labels(part, frame.up, classes) if part.fitted else None
    states = {
        "fitted": part.fitted,
        "many": part.fitted and len(classes) > MAX_BANDS,
        "ended": ends is not None,
    }
    area = [plot_svg(*_draw_grid(frame, "grid"), *drawn), *dots]
    return element(
        "div",
        *_framed_area(frame, area, axis_label(value), parameter, ends),
        legend(classes, classes, numbered=part.fitted),
        class_=" ".join(["curve", *(name for name, is_set in states.items() if is_set)]),
        role="img",
        aria_label=f"{part.title}; see the table below for the numbers",
    )


def _curve_line(
    frame: Frame, points: Sequence[tuple[float, Estimate]], class_: str, series: str | None
) -> Html:
    line = [(x, estimate.value) for x, estimate in points]
    bounded = [(x, estimate) for x, estimate in points if not isnan(estimate.low)]
    upper = [(x, estimate.high) for x, estimate in bounded]
    lower = [(x, estimate.low) for x, estimate in reversed(bounded)]
    return element(
        "g",
        _draw_line(frame, upper + lower, "band", "polygon"),
        _draw_line(frame, line, "line"),
        _draw_line(frame, line, "reach") if series else None,
        class_=class_,
        data_series=series,
    )


def _end_labels(part: Curve, up: Axis, classes: Colours) -> Html | None:
    """Return the names of series next to the ends of their lines, or None if they do not fit."""
    ends = place_ends(part, up, COMPACT_LABEL_GAP if part.compact else LABEL_GAP)
    widest = max(ends, key=len, default="")  # reserves the width of the column
    if not ends or len(widest) > MAX_LABEL_LETTERS:
        return None
    leaders = [
        element("line", x1=0, x2=100, y1=100 - height, y2=100 - place)
        for height, place in ends.values()
    ]
    labels = [
        legend_key(
            name,
            class_=f"key {classes[name]}",
            style=f"bottom:{ends[name][1]:.3f}%",
            title=name,
            data_series=str(i),
        )
        for i, name in enumerate(classes)
        if name in ends
    ]
    svg = plot_svg(*leaders)
    return element("div", svg, *labels, class_="ends", data_widest=widest, aria_hidden="true")


# --- Listener panels -----------------------------------------------------------------------------


SMALL_ABOVE_PANELS = 40  # with more panels, panels are smaller


def panels_plot(part: Panels, colours: Colours) -> Html:
    """Return one panel per listener, all with the same axes."""
    frame = panels_frame(part)
    panels = [_draw_panel(panel, part, frame, colours) for panel in part.panels]
    is_dense = len(panels) > SMALL_ABOVE_PANELS
    hint = (
        f"Vertical axis: {axis_label(part.value)}. Horizontal axis: systems, in the order of the "
        "legend. Line: mean of all."
    )
    return element(
        "div",
        element("p", hint, class_="hint"),
        legend(part.everyone, colours),
        element("div", *panels, class_="panels many" if is_dense else "panels"),
    )


def _draw_panel(panel: Panel, part: Panels, frame: Frame, colours: Colours) -> Html:
    means = ", ".join(f"{name} {number(x, part.value)}" for name, x in panel.means.items())
    state = " (excluded)" if panel.is_excluded else ""
    label = f"{panel.name}{state}: {means or 'no votes'}"
    ticks = frame.up.ticks
    ends = _tick_labels(frame.up, "bottom", (ticks[0], ticks[-1]))
    everyone = [(place, x) for place, x in enumerate(part.everyone.values()) if not isnan(x)]
    dots = [
        _draw_dot(frame, (place, panel.means[name]), f"dot {colours[name]}")
        for place, name in enumerate(part.everyone)
        if not isnan(panel.means.get(name, nan))
    ]
    excluded = element("em", "excluded") if panel.is_excluded else None
    svg = plot_svg(*_draw_grid(frame), _draw_line(frame, everyone))
    return element(
        "div",
        element("div", element("b", breakable(panel.name)), excluded),
        element(
            "div",
            element("div", *ends, class_="y", aria_hidden="true"),
            element("div", svg, *dots, class_="area"),
            class_="picture",
            role="img",
            aria_label=label,
        ),
        element("small", panel.remark or "–"),
        class_="panel left" if panel.is_excluded else "panel",
        title=label,
    )


# --- Scatter plots -------------------------------------------------------------------------------


LETTER_WIDTH = 2.9  # in percent of the width of a plot
# labels may end a little outside
LABEL_SIZES = LabelSizes(dot=(2.4, 2.4), line=6.0, gaps=(1.0, 4.0, 8.0), end=103.0)


def scatters_plot(part: Scatters, colours: Colours) -> Html:
    """Return one scatter plot per metric, all with the same rating axis.

    If the names of the dots do not fit in all plots, the dots are numbered.
    """
    frames = scatter_frames(part)
    names = list(dict.fromkeys(p.name for scatter in part.plots for p in scatter.points))

    def place_all(labels: Mapping[str, str]) -> list[dict[str, LabelBox]]:
        pairs = zip(part.plots, frames, strict=True)
        return [_place_labels(scatter, frame, labels) for scatter, frame in pairs]

    labels, key = {name: name for name in names}, None
    boxes = place_all(labels)
    if sum(map(len, boxes)) < sum(len(scatter.drawn) for scatter in part.plots):
        labels = {name: f"{index}" for index, name in enumerate(names, 1)}
        boxes = place_all(labels)
        items = [element("li", breakable(name)) for name in names]
        key = element("ol", *items, class_="numbers", aria_label="Numbers in the plots")
    plots = [
        _draw_scatter(scatter, part, frame, _draw_tags(placed, labels), colours)
        for scatter, frame, placed in zip(part.plots, frames, boxes, strict=True)
    ]
    return element("div", element("div", *plots, class_="scatters"), key)


def _place_labels(scatter: Scatter, frame: Frame, labels: Mapping[str, str]) -> dict[str, LabelBox]:
    widths = {name: LETTER_WIDTH * len(label) for name, label in labels.items()}
    return place_labels(scatter, frame, widths, LABEL_SIZES)


def _draw_tags(boxes: Mapping[str, LabelBox], labels: Mapping[str, str]) -> list[Html]:
    """Return the labels of dots."""
    return [
        element(
            "span",
            labels[name],
            class_=f"tag {('middle', 'after', 'before')[box.side]}",
            style=f"left:{box.anchor:.2f}%;bottom:{box.bottom:.2f}%",
        )
        for name, box in boxes.items()
        if labels[name]
    ]


def _draw_scatter(
    scatter: Scatter, part: Scatters, frame: Frame, tags: Iterable[Html], colours: Colours
) -> Html:
    ranges = [
        _draw_range(frame, (point.x, point.y.low), (point.x, point.y.high))
        for point in scatter.drawn
        if not isnan(point.y.low)
    ]
    dots = [
        _draw_dot(frame, (point.x, point.y.value), "dot", _describe_point(point, part))
        for point in scatter.drawn
    ]
    line = _draw_line(frame, scatter.curve) if scatter.curve else None
    area = [plot_svg(*_draw_grid(frame, maximum=part.maximum), line, *ranges), *dots, *tags]
    name = f"{label_with_unit(part.value.name, part.value.unit)} ↑"
    head = element("b", breakable(scatter.name)), element("small", scatter.caption)
    return element(
        "div",
        element("div", *head, class_="head"),
        *_framed_area(frame, area, name, part.across or scatter.name),
        class_=f"scatter {colours.get(scatter.name, 'other')}",
        role="img",
        aria_label=(
            f"{scatter.name} versus {part.value.name}, {scatter.caption}; see the table for the "
            "numbers"
        ),
    )


def _describe_point(point: ScatterPoint, part: Scatters) -> str:
    score = short_number(float(f"{point.x:.4g}"))
    return f"{point.name}: {score}, {part.value.name} {cell(point.y, part.value)}"


# --- Plane of two values -------------------------------------------------------------------------


def plane_plot(part: Plane, marked: tuple[str, str] | None = None) -> Html:
    """Return all series in one plane, with crosses or ellipses; one point may be ``marked``.

    ``marked`` is the name of a series and the name of a point in it.
    """
    frame = plane_frame(part)
    colours = {series.name: series_classes(i) for i, series in enumerate(part.series)}
    dots, points, labels = [], list[ScatterPoint](), dict[str, str]()
    for series in part.series:
        for point in series.drawn:
            is_marked = marked == (series.name, point.name)
            classes = f"dot {colours[series.name]}{' marked' if is_marked else ''}"
            x, title = point.x.value, _describe_plane_point(series, point, part)
            dots.append(_draw_dot(frame, (x, point.y.value), classes, title))
            points.append(ScatterPoint(f"{len(points)}", x, point.y))
            labels[points[-1].name] = point.name
    tags = _draw_tags(_place_labels(Scatter("", "", tuple(points)), frame, labels), labels)
    area = [_plane_svg(part, frame, colours), *dots, *tags]
    return element(
        "div",
        *_framed_area(frame, area, axis_label(part.value), axis_label(part.across)),
        legend(colours, colours),
        class_="scatter plane" if part.maximum is None else "scatter plane square",
        role="img",
        aria_label=f"{part.title}; see the table for the numbers",
    )


def _ends(estimate: Estimate) -> tuple[float, float]:
    """Return the ends of an interval, as far as they are defined."""
    known = [x for x in (estimate.low, estimate.value, estimate.high) if isfinite(x)]
    return known[0], known[-1]


def _plane_svg(part: Plane, frame: Frame, colours: Colours) -> Html:
    """Return the grid, the intervals or ellipses of points, and the lines of the series."""
    lines = _draw_grid(frame, maximum=part.maximum)
    for series in part.series:
        places = [(point.x.value, point.y.value) for point in series.drawn]
        marks = list[Html]()
        for point, (x, y) in zip(series.drawn, places, strict=True):
            if point.outline:
                marks.append(_draw_line(frame, point.outline, tag="polygon"))
                continue
            (left, right), (low, high) = _ends(point.x), _ends(point.y)
            marks.append(_draw_range(frame, (left, y), (right, y)))
            marks.append(_draw_range(frame, (x, low), (x, high)))
        line = _draw_line(frame, places) if len(places) > 1 else None
        lines.append(element("g", *marks, line, class_=colours[series.name]))
    return plot_svg(*lines)


def _describe_plane_point(series: PlaneSeries, point: PlanePoint, part: Plane) -> str:
    name = f"{series.name}, {point.name}" if point.name else series.name
    pairs = (part.across, point.x), (part.value, point.y)
    values = ", ".join(f"{value.name} {cell(estimate, value)}" for value, estimate in pairs)
    return f"{name}: {values}"
