"""Small multiples (one panel per listener, one scatter plot per metric), and planes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, isnan

from earwitness.core import Estimate
from earwitness.report.charts import (
    Axis,
    LabelBox,
    LabelSizes,
    panels_axis,
    place_labels,
    plane_axes,
    scatter_axes,
)
from earwitness.report.html.elements import Html, breakable, element
from earwitness.report.html.plots import (
    Colours,
    framed_area,
    horizontal_lines,
    legend,
    plot_svg,
    series_classes,
    tick_labels,
)
from earwitness.report.numbers import axis_label, cell, label_with_unit, number, short_number
from earwitness.report.parts import (
    Panel,
    Panels,
    Plane,
    PlanePoint,
    Scatter,
    ScatterPoint,
    Scatters,
)

# --- Listener panels -----------------------------------------------------------------------------


PANEL_EDGE = 8.0  # room for half a dot at the top and the bottom, in percent of the height
SMALL_ABOVE_PANELS = 40  # with more panels, panels are smaller


def panels_plot(part: Panels, colours: Colours) -> Html:
    """Return one panel per listener, all with the same axis."""
    axis, step = panels_axis(part), 100 / max(1, len(part.everyone))
    places = {name: step * (index + 0.5) for index, name in enumerate(part.everyone)}
    panels = [_draw_panel(panel, part, axis, places, colours) for panel in part.panels]
    hint = (
        f"Vertical axis: {axis_label(part.value)}. Horizontal axis: systems, in the order of the "
        "legend. Line: mean of all listeners."
    )
    many = " many" * (len(panels) > SMALL_ABOVE_PANELS)
    return element(
        "div",
        element("p", hint, class_="hint"),
        legend(part.everyone, colours),
        element("div", *panels, class_=f"panels{many}"),
    )


def _draw_panel(
    panel: Panel, part: Panels, axis: Axis, places: Mapping[str, float], colours: Colours
) -> Html:
    def height(x: float) -> float:
        """Return the height in percent, with room for half a dot at both ends."""
        return round(PANEL_EDGE + axis.place(x) / 100 * (100 - 2 * PANEL_EDGE), 1)

    means = ", ".join(f"{name} {number(x, part.value)}" for name, x in panel.means.items())
    state = " (excluded)" if panel.is_excluded else ""
    label = f"listener {panel.name}{state}: {means or 'no votes'}"
    ends = [
        element("span", short_number(end), style=f"bottom:{height(end)}%")
        for end in (axis.low, axis.high)
    ]
    line = " ".join(
        f"{places[name]:.1f},{100 - height(x):.1f}"
        for name, x in part.everyone.items()
        if not isnan(x)
    )
    grid = horizontal_lines(100 - height(tick) for tick in axis.ticks)
    dots = [
        _draw_dot(f"dot {colours[name]}", f"{places[name]:.1f}", height(x))
        for name, x in panel.means.items()
        if name in places and not isnan(x)
    ]
    excluded = element("em", "excluded") if panel.is_excluded else None
    return element(
        "div",
        element("div", element("b", breakable(panel.name)), excluded),
        element(
            "div",
            element("div", *ends, class_="y", aria_hidden="true"),
            element("div", plot_svg(*grid, element("polyline", points=line)), *dots, class_="area"),
            class_="picture",
            role="img",
            aria_label=label,
        ),
        element("small", panel.remark or "–"),
        class_="panel left" if panel.is_excluded else "panel",
        title=label,
    )


def _draw_dot(class_: str, x: float | str, y: float, title: str | None = None) -> Html:
    return element("span", class_=class_, style=f"left:{x}%;bottom:{y}%", title=title)


# --- Scatter plots -------------------------------------------------------------------------------


LETTER_WIDTH = 2.9  # in percent of the width of a plot
# labels may end a little outside
LABEL_SIZES = LabelSizes(dot=(2.4, 2.4), line=6.0, gaps=(1.0, 4.0, 8.0), end=103.0)


def scatters_plot(part: Scatters, colours: Colours) -> Html:
    """Return one scatter plot per metric, all with the same rating axis.

    If the names of the dots do not fit in all plots, the dots are numbered.
    """
    across, up = scatter_axes(part)
    names = list(dict.fromkeys(p.name for scatter in part.plots for p in scatter.points))

    def place_all(labels: Mapping[str, str]) -> list[dict[str, LabelBox]]:
        pairs = zip(part.plots, across, strict=True)
        return [_place_labels(scatter, (axis, up), labels) for scatter, axis in pairs]

    labels, key = {name: name for name in names}, None
    boxes = place_all(labels)
    if sum(map(len, boxes)) < sum(len(scatter.drawn) for scatter in part.plots):
        labels = {name: f"{index}" for index, name in enumerate(names, 1)}
        boxes = place_all(labels)
        items = [element("li", breakable(name)) for name in names]
        key = element("ol", *items, class_="numbers", aria_label="Numbers in the plots")
    plots = [
        _draw_scatter(scatter, part, (axis, up), _draw_tags(own, labels), colours)
        for scatter, axis, own in zip(part.plots, across, boxes, strict=True)
    ]
    return element("div", element("div", *plots, class_="scatters"), key)


def _place_labels(
    scatter: Scatter, axes: tuple[Axis, Axis], labels: Mapping[str, str]
) -> dict[str, LabelBox]:
    widths = {name: LETTER_WIDTH * len(label) for name, label in labels.items()}
    return place_labels(scatter, axes, widths, LABEL_SIZES)


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
    scatter: Scatter,
    part: Scatters,
    axes: tuple[Axis, Axis],
    tags: Iterable[Html],
    colours: Colours,
) -> Html:
    across, up = axes
    curve = " ".join(f"{across.place(x):.2f},{_drop(y, up):.2f}" for x, y in scatter.curve)
    ranges = [
        _draw_range(axes, (point.x, point.y.low), (point.x, point.y.high))
        for point in scatter.drawn
        if not isnan(point.y.low)
    ]
    dots = [
        _draw_dot("dot", across.place(p.x), up.place(p.y.value), _describe_point(p, part))
        for p in scatter.drawn
    ]
    line = element("polyline", points=curve) if curve else None
    area = [plot_svg(*_grid_lines(part.maximum, axes), line, *ranges), *dots, *tags]
    name = f"{label_with_unit(part.value.name, part.value.unit)} ↑"
    head = element("b", breakable(scatter.name)), element("small", scatter.caption)
    return element(
        "div",
        element("div", *head, class_="head"),
        *framed_area(area, (name, up), (part.across or scatter.name, tick_labels(across, "left"))),
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


def _draw_range(
    axes: tuple[Axis, Axis], first: tuple[float, float], last: tuple[float, float]
) -> Html:
    """Return a line between two points."""
    across, up = axes
    return element(
        "line",
        x1=across.place(first[0]),
        x2=across.place(last[0]),
        y1=_drop(first[1], up),
        y2=_drop(last[1], up),
        class_="range",
    )


def _grid_lines(maximum: float | None, axes: tuple[Axis, Axis]) -> list[Html]:
    """Return the lines of vertical ticks, and those at the maximum of both values, if any."""
    across, up = axes
    lines = horizontal_lines(_drop(tick, up) for tick in up.ticks)
    if maximum is None:
        return lines
    x = across.place(maximum)
    upright = element("line", x1=x, x2=x, y1=0, y2=100, class_="maximum")
    return [*lines, upright, *horizontal_lines([_drop(maximum, up)], "maximum")]


def _drop(value: float, up: Axis) -> float:
    """Return the distance of a value from the top in percent."""
    return round(100 - up.place(value), 2)


# --- Plane of two values -------------------------------------------------------------------------


def plane_plot(part: Plane, marked: tuple[str, str] | None = None) -> Html:
    """Return all series in one plane, with crosses or ellipses; one point may be ``marked``.

    ``marked`` is the name of a series and the name of a point in it.
    """
    axes = across, up = plane_axes(part)
    colours = {one.name: series_classes(index) for index, one in enumerate(part.series)}
    dots, points, labels = [], list[ScatterPoint](), dict[str, str]()
    for one in part.series:
        for point in one.drawn:
            classes = f"dot {colours[one.name]}{' marked' * (marked == (one.name, point.name))}"
            x, title = point.x.value, _describe_plane_point(one.name, point, part)
            dots.append(_draw_dot(classes, across.place(x), up.place(point.y.value), title))
            points.append(ScatterPoint(f"{len(points)}", x, point.y))
            labels[points[-1].name] = point.name
    tags = _draw_tags(_place_labels(Scatter("", "", tuple(points)), axes, labels), labels)
    area = [_plane_svg(part, axes, colours), *dots, *tags]
    frame = (axis_label(part.value), up), (axis_label(part.across), tick_labels(across, "left"))
    return element(
        "div",
        *framed_area(area, *frame),
        legend(colours, colours),
        class_="scatter plane" if part.maximum is None else "scatter plane square",
        role="img",
        aria_label=f"{part.title}; see the table for the numbers",
    )


def _ends(estimate: Estimate) -> tuple[float, float]:
    """Return the ends of an interval, as far as they are defined."""
    known = [x for x in (estimate.low, estimate.value, estimate.high) if isfinite(x)]
    return known[0], known[-1]


def _plane_svg(part: Plane, axes: tuple[Axis, Axis], colours: Colours) -> Html:
    """Return the grid, the intervals or ellipses of points, and the lines of the series."""

    def join_points(points: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{axes[0].place(x):.2f},{_drop(y, axes[1]):.2f}" for x, y in points)

    lines = _grid_lines(part.maximum, axes)
    for one in part.series:
        crosses, places = [], [(point.x.value, point.y.value) for point in one.drawn]
        for point, (x, y) in zip(one.drawn, places, strict=True):
            if point.outline:
                crosses.append(element("polygon", points=join_points(point.outline)))
                continue
            (left, right), (low, high) = _ends(point.x), _ends(point.y)
            crosses.append(_draw_range(axes, (left, y), (right, y)))
            crosses.append(_draw_range(axes, (x, low), (x, high)))
        line = element("polyline", points=join_points(places)) if len(places) > 1 else None
        lines.append(element("g", *crosses, line, class_=colours[one.name]))
    return plot_svg(*lines)


def _describe_plane_point(series: str, point: PlanePoint, part: Plane) -> str:
    name = f"{series}, {point.name}" if point.name else series
    pairs = (part.across, point.x), (part.value, point.y)
    values = ", ".join(f"{value.name} {cell(estimate, value)}" for value, estimate in pairs)
    return f"{name}: {values}"
