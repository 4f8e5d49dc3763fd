"""Small multiples (one panel per listener, one scatter plot per metric), and planes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import isfinite, isnan
from typing import NamedTuple

from earwitness.core import Estimate
from earwitness.report.html.elements import Html, breakable, element
from earwitness.report.html.plots import (
    Axis,
    Colours,
    finite_numbers,
    fit_axis,
    horizontal_lines,
    legend,
    maximum_axis,
    plot_svg,
    series_classes,
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
    means = [x for panel in part.panels for x in panel.means.values()]
    axis = fit_axis([*means, *part.everyone.values()], part.value)
    places = _panel_columns(list(part.everyone))
    panels = [_draw_panel(panel, part, axis, places, colours) for panel in part.panels]
    hint = (
        f"Vertical axis: {axis_label(part.value)}. Horizontal axis: systems, in the order of the "
        "legend. Line: mean of all listeners."
    )
    return element(
        "div",
        element("p", hint, class_="hint"),
        legend(list(part.everyone), colours),
        element(
            "div", *panels, class_="panels many" if len(panels) > SMALL_ABOVE_PANELS else "panels"
        ),
    )


def _panel_columns(systems: list[str]) -> dict[str, float]:
    """Return the horizontal place of each system, in percent."""
    step = 100 / max(1, len(systems))
    return {name: step * (index + 0.5) for index, name in enumerate(systems)}


def _draw_panel(
    panel: Panel, part: Panels, axis: Axis, places: Mapping[str, float], colours: Colours
) -> Html:
    means = ", ".join(f"{name} {number(x, part.value)}" for name, x in panel.means.items())
    state = " (excluded)" if panel.is_excluded else ""
    label = f"listener {panel.name}{state}: {means or 'no votes'}"
    ends = [
        element("span", short_number(end), style=f"bottom:{_panel_y(end, axis)}%")
        for end in (axis.low, axis.high)
    ]
    return element(
        "div",
        element(
            "div",
            element("b", breakable(panel.name)),
            element("em", "excluded") if panel.is_excluded else None,
        ),
        element(
            "div",
            element("div", *ends, class_="y", aria_hidden="true"),
            element("div", *_panel_marks(panel, part, axis, places, colours), class_="area"),
            class_="picture",
            role="img",
            aria_label=label,
        ),
        element("small", panel.remark or "–"),
        class_="panel left" if panel.is_excluded else "panel",
        title=label,
    )


def _panel_marks(
    panel: Panel, part: Panels, axis: Axis, places: Mapping[str, float], colours: Colours
) -> list[Html]:
    """Return the lines of a panel, and the dots of the listener."""
    grid = horizontal_lines(100 - _panel_y(tick, axis) for tick in axis.ticks)
    line = " ".join(
        f"{places[name]:.1f},{100 - _panel_y(x, axis):.1f}"
        for name, x in part.everyone.items()
        if not isnan(x)
    )
    svg = plot_svg(*grid, element("polyline", points=line))
    dots = [
        element(
            "span",
            class_=f"dot {colours[name]}",
            style=f"left:{places[name]:.1f}%;bottom:{_panel_y(x, axis)}%",
        )
        for name, x in panel.means.items()
        if name in places and not isnan(x)
    ]
    return [svg, *dots]


def _panel_y(x: float, axis: Axis) -> float:
    """Return the height in percent, with room for half a dot at both ends."""
    return round(PANEL_EDGE + axis.place(x) / 100 * (100 - 2 * PANEL_EDGE), 1)


# --- Scatter plots -------------------------------------------------------------------------------


# In percent of the width or height of a plot.
LETTER_WIDTH = 2.9
LINE_HEIGHT = 6.0
DOT_RADIUS = 2.4
MAX_LABEL_END = 103.0  # labels may end a little outside
LABEL_GAPS = (1.0, 4.0, 8.0)  # distances of labels from dots, tried in this order
LABEL_SIDES = (  # directions from the dot, tried in this order: right, left, above, below, diagonal
    *((1, 0), (-1, 0), (0, 1), (0, -1)),
    *((1, 1), (-1, 1), (1, -1), (-1, -1)),
)


class LabelBox(NamedTuple):
    """Rectangle in percent of the plot; ``side``: 1 right of its dot, −1 left of it, else 0."""

    left: float
    bottom: float
    right: float
    top: float
    side: int = 0

    @property
    def anchor(self) -> float:
        """Return the end next to the dot, or the middle."""
        return (self.left, (self.left + self.right) / 2, self.right)[1 - self.side]

    def overlaps(self, other: LabelBox) -> bool:
        """Return whether two boxes have an area in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )


def scatters_plot(part: Scatters, colours: Colours) -> Html:
    """Return one scatter plot per metric, all with the same rating axis.

    If the names of the dots do not fit in all plots, the dots are numbered.
    """
    shared = None if part.maximum is None else maximum_axis(part.maximum)
    points = [point for scatter in part.plots for point in scatter.points]
    up = shared or fit_axis(finite_numbers(point.y for point in points))
    names = list(dict.fromkeys(point.name for point in points))
    labels = {name: name for name in names}
    key = None
    placed = sum(len(place_labels(scatter, up, labels, shared)) for scatter in part.plots)
    if placed < sum(len(_drawn_points(scatter)) for scatter in part.plots):
        labels = {name: f"{index}" for index, name in enumerate(names, 1)}
        items = [element("li", breakable(name)) for name in names]
        key = element("ol", *items, class_="numbers", aria_label="Numbers in the plots")
    plots = [
        _draw_scatter(scatter, part, (shared, up), labels, colours.get(scatter.name, "other"))
        for scatter in part.plots
    ]
    return element("div", element("div", *plots, class_="scatters"), key)


def _drawn_points(scatter: Scatter) -> list[ScatterPoint]:
    return [point for point in scatter.points if isfinite(point.x) and isfinite(point.y.value)]


def _draw_scatter(
    scatter: Scatter,
    part: Scatters,
    axes: tuple[Axis | None, Axis],
    labels: Mapping[str, str],
    colour: str,
) -> Html:
    up = axes[1]
    across = axes[0] or _scatter_axis(scatter)
    boxes = place_labels(scatter, up, labels, across)
    dots = [_draw_point(point, part, across, up) for point in _drawn_points(scatter)]
    tags = [_tag(labels[name], box) for name, box in boxes.items()]
    area = [_scatter_svg(scatter, across, up, part.maximum), *dots, *tags]
    name = f"{label_with_unit(part.value.name, part.value.unit)} ↑"
    return element(
        "div",
        element(
            "div",
            element("b", breakable(scatter.name)),
            element("small", scatter.caption),
            class_="head",
        ),
        *_with_axes(area, name, up, part.across or scatter.name, across),
        class_=f"scatter {colour}",
        role="img",
        aria_label=(
            f"{scatter.name} versus {part.value.name}, {scatter.caption}; see the table for the "
            "numbers"
        ),
    )


def _tag(text: str, box: LabelBox) -> Html:
    """Return the label of a dot."""
    side = ("middle", "after", "before")[box.side]
    place = f"left:{box.anchor:.2f}%;bottom:{box.bottom:.2f}%"
    return element("span", text, class_=f"tag {side}", style=place)


def _with_axes(
    area: Sequence[Html], label: str, up: Axis, across_label: str, across: Axis
) -> Iterator[Html]:
    """Yield the area of a plot with the ticks and the labels of both axes."""
    ticks = [
        element("span", short_number(t), style=f"left:{across.place(t)}%") for t in across.ticks
    ]
    sides = [element("span", short_number(t), style=f"bottom:{up.place(t)}%") for t in up.ticks]
    yield element("div", breakable(label), class_="label up")
    yield element("div", *sides, class_="y", aria_hidden="true")
    yield element("div", *area, class_="area")
    yield element("div", *ticks, class_="x", aria_hidden="true")
    yield element("div", breakable(across_label), class_="label")


def _scatter_axis(scatter: Scatter) -> Axis:
    return fit_axis([point.x for point in _drawn_points(scatter)])


def _scatter_svg(scatter: Scatter, across: Axis, up: Axis, maximum: float | None) -> Html:
    """Return the grid, the curve and the intervals of the ratings."""
    grid = _grid_lines(maximum, across, up)
    curve = " ".join(f"{across.place(x):.2f},{_scatter_y(y, up):.2f}" for x, y in scatter.curve)
    ranges = [
        element(
            "line",
            x1=x,
            x2=x,
            y1=_scatter_y(point.y.low, up),
            y2=_scatter_y(point.y.high, up),
            class_="range",
        )
        for point in _drawn_points(scatter)
        for x in [across.place(point.x)]
        if not isnan(point.y.low)
    ]
    return plot_svg(*grid, element("polyline", points=curve) if curve else None, *ranges)


def _grid_lines(maximum: float | None, across: Axis, up: Axis) -> list[Html]:
    """Return the lines of vertical ticks, and those at the maximum of both values, if any."""
    lines = horizontal_lines(_scatter_y(tick, up) for tick in up.ticks)
    if maximum is None:
        return lines
    x, y = across.place(maximum), _scatter_y(maximum, up)
    upright = element("line", x1=x, x2=x, y1=0, y2=100, class_="maximum")
    return [*lines, upright, *horizontal_lines([y], "maximum")]


def _scatter_y(value: float, up: Axis) -> float:
    return round(100 - up.place(value), 2)


def _draw_point(point: ScatterPoint, part: Scatters, across: Axis, up: Axis) -> Html:
    title = (
        f"{point.name}: {short_number(float(f'{point.x:.4g}'))}, "
        f"{part.value.name} {cell(point.y, part.value)}"
    )
    place = f"left:{across.place(point.x)}%;bottom:{up.place(point.y.value)}%"
    return element("span", class_="dot", style=place, title=title)


def place_labels(
    scatter: Scatter, up: Axis, labels: Mapping[str, str], across: Axis | None = None
) -> dict[str, LabelBox]:
    """Return places of labels where they cover no dot and no other label.

    Places that also avoid the intervals of ratings are preferred. Labels without room are omitted;
    the tooltip of the dot has the name.
    """
    across = across or _scatter_axis(scatter)
    points = {p.name: (across.place(p.x), up.place(p.y.value)) for p in _drawn_points(scatter)}
    dots = [
        LabelBox(x - DOT_RADIUS, y - DOT_RADIUS, x + DOT_RADIUS, y + DOT_RADIUS)
        for x, y in points.values()
    ]
    ranges = [
        LabelBox(x - 0.5, up.place(p.y.low), x + 0.5, up.place(p.y.high))
        for p in _drawn_points(scatter)
        for x in [across.place(p.x)]
        if not isnan(p.y.low)
    ]
    boxes: dict[str, LabelBox] = {}
    for name, (x, y) in points.items():
        places = _label_places(x, y, LETTER_WIDTH * len(labels[name]))
        free = [box for box in places if not _covers(box, [*dots, *boxes.values()])]
        best = next((box for box in free if not _covers(box, ranges)), free[0] if free else None)
        if best is not None:
            boxes[name] = best
    return boxes


def _label_places(x: float, y: float, width: float) -> list[LabelBox]:
    """Return the places for a label around a dot that are inside the plot, best first."""
    places = []
    for gap, (across, up) in product(LABEL_GAPS, LABEL_SIDES):
        middle_x = x + across * (DOT_RADIUS + gap + width / 2)
        middle_y = y + up * (DOT_RADIUS + gap / 2 + LINE_HEIGHT / 2)
        box = LabelBox(
            middle_x - width / 2,
            middle_y - LINE_HEIGHT / 2,
            middle_x + width / 2,
            middle_y + LINE_HEIGHT / 2,
            across,
        )
        if box.left >= 0 and box.right <= MAX_LABEL_END and box.bottom >= 0 and box.top <= 100:
            places.append(box)
    return places


def _covers(box: LabelBox, others: Sequence[LabelBox]) -> bool:
    return any(box.overlaps(other) for other in others)


# --- Plane of two values -------------------------------------------------------------------------


def plane_plot(part: Plane, marked: tuple[str, str] | None = None) -> Html:
    """Return all series in one plane, with crosses or ellipses; one point may be ``marked``.

    ``marked`` is the name of a series and the name of a point in it.
    """
    drawn = [(one.name, point) for one in part.series for point in _finite_points(one.points)]
    if part.maximum is None:
        across = fit_axis(finite_numbers(point.x for _, point in drawn))
        up = fit_axis(finite_numbers(point.y for _, point in drawn))
    else:
        across = up = maximum_axis(part.maximum)
    colours = {one.name: series_classes(index) for index, one in enumerate(part.series)}
    dots = []
    for series, point in drawn:
        classes = f"{colours[series]}{' marked' * (marked == (series, point.name))}"
        dots.append(_plane_dot(series, point, part, across, up, classes))
    keys = {f"{number}": point for number, (_, point) in enumerate(drawn)}
    scatter = Scatter(
        "", "", tuple(ScatterPoint(key, point.x.value, point.y) for key, point in keys.items())
    )
    boxes = place_labels(scatter, up, {key: point.name for key, point in keys.items()}, across)
    tags = [_tag(keys[key].name, box) for key, box in boxes.items() if keys[key].name]
    area = [_plane_svg(part, across, up, colours), *dots, *tags]
    return element(
        "div",
        *_with_axes(area, axis_label(part.value), up, axis_label(part.across), across),
        legend([one.name for one in part.series], colours),
        class_="scatter plane" if part.maximum is None else "scatter plane square",
        role="img",
        aria_label=f"{part.title}; see the table for the numbers",
    )


def _finite_points(points: Sequence[PlanePoint]) -> list[PlanePoint]:
    return [point for point in points if isfinite(point.x.value) and isfinite(point.y.value)]


def _estimate_ends(estimate: Estimate) -> list[float]:
    return [x for x in (estimate.low, estimate.value, estimate.high) if isfinite(x)]


def _plane_svg(part: Plane, across: Axis, up: Axis, colours: Colours) -> Html:
    """Return the grid, the intervals or ellipses of points, and the lines of the series."""
    lines = _grid_lines(part.maximum, across, up)
    for one in part.series:
        points = _finite_points(one.points)
        places = [(across.place(p.x.value), _scatter_y(p.y.value, up)) for p in points]
        crosses = []
        for point, (x, y) in zip(points, places, strict=True):
            if point.outline:
                outline = ((across.place(px), _scatter_y(py, up)) for px, py in point.outline)
                corners = " ".join(f"{px:.2f},{py:.2f}" for px, py in outline)
                crosses.append(element("polygon", points=corners))
                continue
            ends = _estimate_ends(point.x), _estimate_ends(point.y)
            sides = across.place(ends[0][0]), across.place(ends[0][-1])
            low, high = _scatter_y(ends[1][0], up), _scatter_y(ends[1][-1], up)
            crosses.append(element("line", x1=sides[0], x2=sides[1], y1=y, y2=y, class_="range"))
            crosses.append(element("line", x1=x, x2=x, y1=low, y2=high, class_="range"))
        line = " ".join(f"{x:.2f},{y:.2f}" for x, y in places)
        joined = element("polyline", points=line) if len(places) > 1 else None
        lines.append(element("g", *crosses, joined, class_=colours[one.name]))
    return plot_svg(*lines)


def _plane_dot(
    series: str, point: PlanePoint, part: Plane, across: Axis, up: Axis, colour: str
) -> Html:
    name = f"{series}, {point.name}" if point.name else series
    values = (
        f"{value.name} {cell(estimate, value)}"
        for value, estimate in ((part.across, point.x), (part.value, point.y))
    )
    place = f"left:{across.place(point.x.value)}%;bottom:{up.place(point.y.value)}%"
    return element(
        "span", class_=f"dot {colour}", style=place, title=f"{name}: {', '.join(values)}"
    )
