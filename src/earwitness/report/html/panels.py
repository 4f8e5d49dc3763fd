"""Small multiples: one panel per listener, one scatter plot per metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, isnan
from typing import NamedTuple

from earwitness.report.html.elements import Html, element
from earwitness.report.html.plots import Axis, Colours, fit_axis
from earwitness.report.numbers import cell, number
from earwitness.report.parts import Panel, Panels, Scatter, ScatterPoint, Scatters

# --- Listener panels -----------------------------------------------------------------------------


PANEL_WIDTH, PANEL_HEIGHT, PANEL_EDGE = 120.0, 72.0, 6.0
SMALL_ABOVE_PANELS = 40  # with more panels, panels are smaller


def panels_plot(part: Panels, colours: Colours) -> Html:
    """Return one panel per listener, all with the same axis."""
    means = [x for panel in part.panels for x in panel.means.values()]
    axis = fit_axis([*means, *part.everyone.values()], part.value)
    places = _panel_columns(list(part.everyone))
    panels = [_draw_panel(panel, part, axis, places, colours) for panel in part.panels]
    return element(
        "div",
        element(
            "p", f"Vertical axis: {axis.low:g} (bottom) to {axis.high:g} (top).", class_="hint"
        ),
        element(
            "div", *panels, class_="panels many" if len(panels) > SMALL_ABOVE_PANELS else "panels"
        ),
    )


def _panel_columns(systems: list[str]) -> dict[str, float]:
    step = PANEL_WIDTH / max(1, len(systems))
    return {name: step * (index + 0.5) for index, name in enumerate(systems)}


def _draw_panel(
    panel: Panel, part: Panels, axis: Axis, places: Mapping[str, float], colours: Colours
) -> Html:
    means = ", ".join(f"{name} {number(x, part.value)}" for name, x in panel.means.items())
    state = " (excluded)" if panel.is_excluded else ""
    label = f"listener {panel.name}{state}: {means or 'no votes'}"
    return element(
        "div",
        element(
            "div",
            element("b", panel.name),
            element("em", "excluded") if panel.is_excluded else None,
        ),
        _panel_svg(panel, part, axis, places, colours, label),
        element("small", panel.remark or "–"),
        class_="panel left" if panel.is_excluded else "panel",
        title=label,
    )


def _panel_svg(
    panel: Panel,
    part: Panels,
    axis: Axis,
    places: Mapping[str, float],
    colours: Colours,
    label: str,
) -> Html:
    grid = [
        element("line", x1=0, x2=PANEL_WIDTH, y1=_panel_y(t, axis), y2=_panel_y(t, axis))
        for t in axis.ticks
    ]
    line = " ".join(
        f"{places[name]:.1f},{_panel_y(x, axis)}"
        for name, x in part.everyone.items()
        if not isnan(x)
    )
    dots = [
        element("circle", class_=colours[name], cx=places[name], cy=_panel_y(x, axis), r=4.5)
        for name, x in panel.means.items()
        if name in places and not isnan(x)
    ]
    return element(
        "svg",
        *grid,
        element("polyline", points=line),
        *dots,
        viewBox=f"0 0 {PANEL_WIDTH:g} {PANEL_HEIGHT:g}",
        role="img",
        aria_label=label,
    )


def _panel_y(x: float, axis: Axis) -> float:
    """Return the distance from the top, with room for half a dot at both ends."""
    return round(
        PANEL_HEIGHT - PANEL_EDGE - axis.place(x) / 100 * (PANEL_HEIGHT - 2 * PANEL_EDGE), 1
    )


# --- Scatter plots -------------------------------------------------------------------------------


# In percent of the width or height of a plot.
LETTER_WIDTH = 2.9
LINE_HEIGHT = 6.0
DOT_RADIUS = 2.2
LABEL_GAP = 3.0
LABEL_PLACES = [
    (side, rise) for rise in (0.0, 4.0, -4.0, 8.0, -8.0) for side in ("after", "before")
]
Box = tuple[float, float, float, float]


class LabelPlacement(NamedTuple):
    """Position of a label: after or before its dot, and its height."""

    side: str
    height: float


def scatters_plot(part: Scatters, colours: Colours) -> Html:
    """Return one scatter plot per metric, all with the same rating axis."""
    ends = [
        x
        for scatter in part.plots
        for point in scatter.points
        for x in (point.y.value, point.y.low, point.y.high)
    ]
    up = fit_axis([x for x in ends if isfinite(x)])
    plots = [
        _draw_scatter(scatter, part, up, colours.get(scatter.name, "other"))
        for scatter in part.plots
    ]
    return element("div", *plots, class_="scatters")


def _draw_scatter(scatter: Scatter, part: Scatters, up: Axis, colour: str) -> Html:
    points = [point for point in scatter.points if isfinite(point.x) and isfinite(point.y.value)]
    across = fit_axis([point.x for point in points])
    heights = _place_labels(points, across, up)
    lines = [
        element("line", x1=0, x2=100, y1=_scatter_y(t, up), y2=_scatter_y(t, up)) for t in up.ticks
    ]
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
        for point in points
        for x in [across.place(point.x)]
        if not isnan(point.y.low)
    ]
    svg = element(
        "svg",
        *lines,
        element("polyline", points=curve) if curve else None,
        *ranges,
        viewBox="0 0 100 100",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    dots = [
        mark
        for point in points
        for mark in _draw_point(point, part, across, up, heights.get(point.name))
    ]
    ticks = [element("span", f"{t:g}", style=f"left:{across.place(t)}%") for t in across.ticks]
    sides = [element("span", f"{t:g}", style=f"bottom:{up.place(t)}%") for t in up.ticks]
    return element(
        "div",
        element(
            "div", element("b", scatter.name), element("small", scatter.caption), class_="head"
        ),
        element("div", *sides, class_="y", aria_hidden="true"),
        element("div", svg, *dots, class_="area"),
        element("div", *ticks, class_="x", aria_hidden="true"),
        class_=f"scatter {colour}",
        role="img",
        aria_label=(
            f"{scatter.name} versus {part.value.name}, {scatter.caption}; see the table for the "
            "numbers"
        ),
    )


def _scatter_y(value: float, up: Axis) -> float:
    return round(100 - up.place(value), 2)


def _draw_point(
    point: ScatterPoint, part: Scatters, across: Axis, up: Axis, tag: LabelPlacement | None
) -> list[Html]:
    x = across.place(point.x)
    title = f"{point.name}: {point.x:.4g}, {part.value.name} {cell(point.y, part.value)}"
    place = f"left:{x}%;bottom:{up.place(point.y.value)}%"
    dot = element("span", class_="dot", style=place, title=title)
    if tag is None:
        return [dot]
    style = f"left:{x}%;bottom:{tag.height:.2f}%"
    return [dot, element("span", point.name, class_=f"tag {tag.side}", style=style)]


def _place_labels(
    points: Sequence[ScatterPoint], across: Axis, up: Axis
) -> dict[str, LabelPlacement]:
    """Return label positions: next to their dots if there is room, else slightly higher or lower.

    Labels without room are omitted; the tooltip of the dot has the name.
    """
    dots = {point.name: (across.place(point.x), up.place(point.y.value)) for point in points}
    taken = [
        (x - DOT_RADIUS, y - DOT_RADIUS, x + DOT_RADIUS, y + DOT_RADIUS) for x, y in dots.values()
    ]
    placements = {}
    for name, (x, y) in dots.items():
        width = LETTER_WIDTH * len(name)
        for side, rise in LABEL_PLACES:
            left = x + LABEL_GAP if side == "after" else x - LABEL_GAP - width
            box = (left, y + rise - LINE_HEIGHT / 2, left + width, y + rise + LINE_HEIGHT / 2)
            if (
                left >= 0
                and left + width <= 104
                and not any(_boxes_overlap(box, other) for other in taken)
            ):
                taken.append(box)
                placements[name] = LabelPlacement(side, y + rise)
                break
    return placements


def _boxes_overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
