"""Small multiples: one panel per listener, one scatter plot per metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, isnan
from typing import NamedTuple

from earwitness.report.html.elements import Html, element
from earwitness.report.html.plots import Axis, Colours, axis_of
from earwitness.report.numbers import cell, number
from earwitness.report.parts import Panel, Panels, Scatter, ScatterPoint, Scatters

# --- Listener panels -----------------------------------------------------------------------------


PANEL_WIDTH, PANEL_HEIGHT, PANEL_EDGE = 120.0, 72.0, 6.0
SMALL_ABOVE_PANELS = 40  # panels from which on they are smaller


def panels_plot(part: Panels, colours: Colours) -> Html:
    """As many beside each other as there is room for, all with the same axis."""
    every = [x for one in part.panels for x in one.means.values()]
    axis = axis_of([*every, *part.everyone.values()], part.value)
    places = _across(list(part.everyone))
    drawn = [_panel(one, part, axis, places, colours) for one in part.panels]
    return element(
        "div",
        element("p", f"From {axis.low:g} (below) to {axis.high:g}.", class_="hint"),
        element(
            "div", *drawn, class_="panels many" if len(drawn) > SMALL_ABOVE_PANELS else "panels"
        ),
    )


def _across(systems: list[str]) -> dict[str, float]:
    step = PANEL_WIDTH / max(1, len(systems))
    return {name: step * (index + 0.5) for index, name in enumerate(systems)}


def _panel(
    one: Panel, part: Panels, axis: Axis, places: Mapping[str, float], colours: Colours
) -> Html:
    means = ", ".join(f"{name} {number(x, part.value)}" for name, x in one.means.items())
    state = " (left out)" if one.left else ""
    told = f"listener {one.name}{state}: {means or 'no votes'}"
    return element(
        "div",
        element("div", element("b", one.name), element("em", "left out") if one.left else None),
        _drawing(one, part, axis, places, colours, told),
        element("small", one.remark or "–"),
        class_="panel left" if one.left else "panel",
        title=told,
    )


def _drawing(
    one: Panel,
    part: Panels,
    axis: Axis,
    places: Mapping[str, float],
    colours: Colours,
    told: str,
) -> Html:
    grid = [
        element("line", x1=0, x2=PANEL_WIDTH, y1=_up(t, axis), y2=_up(t, axis)) for t in axis.ticks
    ]
    line = " ".join(
        f"{places[name]:.1f},{_up(x, axis)}" for name, x in part.everyone.items() if not isnan(x)
    )
    dots = [
        element("circle", class_=colours[name], cx=places[name], cy=_up(x, axis), r=4.5)
        for name, x in one.means.items()
        if name in places and not isnan(x)
    ]
    return element(
        "svg",
        *grid,
        element("polyline", points=line),
        *dots,
        viewBox=f"0 0 {PANEL_WIDTH:g} {PANEL_HEIGHT:g}",
        role="img",
        aria_label=told,
    )


def _up(x: float, axis: Axis) -> float:
    """From above, with room for half a dot at both ends."""
    return round(
        PANEL_HEIGHT - PANEL_EDGE - axis.place(x) / 100 * (PANEL_HEIGHT - 2 * PANEL_EDGE), 1
    )


# --- Scatter plots -------------------------------------------------------------------------------


# In per cent of a picture's width or height.
LETTER_WIDTH = 2.9
LINE_HEIGHT = 6.0
DOT_RADIUS = 2.2
LABEL_GAP = 3.0
LABEL_PLACES = [
    (side, rise) for rise in (0.0, 4.0, -4.0, 8.0, -8.0) for side in ("after", "before")
]
Box = tuple[float, float, float, float]


class LabelPlacement(NamedTuple):
    """Where a name stands: behind its dot or before it, and how high."""

    side: str
    height: float


def scatters_plot(part: Scatters, colours: Colours) -> Html:
    """As many beside each other as there is room for; all have the same axis of people."""
    ends = [x for one in part.plots for p in one.points for x in (p.y.value, p.y.low, p.y.high)]
    up = axis_of([x for x in ends if isfinite(x)])
    drawn = [_plot(one, part, up, colours.get(one.name, "other")) for one in part.plots]
    return element("div", *drawn, class_="scatters")


def _plot(one: Scatter, part: Scatters, up: Axis, colour: str) -> Html:
    known = [p for p in one.points if isfinite(p.x) and isfinite(p.y.value)]
    across = axis_of([p.x for p in known])
    heights = _names(known, across, up)
    lines = [element("line", x1=0, x2=100, y1=_y(t, up), y2=_y(t, up)) for t in up.ticks]
    curve = " ".join(f"{across.place(x):.2f},{_y(y, up):.2f}" for x, y in one.curve)
    ranges = [
        element("line", x1=x, x2=x, y1=_y(p.y.low, up), y2=_y(p.y.high, up), class_="range")
        for p in known
        for x in [across.place(p.x)]
        if not isnan(p.y.low)
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
    dots = [mark for p in known for mark in _mark(p, part, across, up, heights.get(p.name))]
    ticks = [element("span", f"{t:g}", style=f"left:{across.place(t)}%") for t in across.ticks]
    sides = [element("span", f"{t:g}", style=f"bottom:{up.place(t)}%") for t in up.ticks]
    return element(
        "div",
        element("div", element("b", one.name), element("small", one.told), class_="head"),
        element("div", *sides, class_="y", aria_hidden="true"),
        element("div", svg, *dots, class_="area"),
        element("div", *ticks, class_="x", aria_hidden="true"),
        class_=f"scatter {colour}",
        role="img",
        aria_label=f"{one.name} beside {part.value.name}, {one.told}; the table has the numbers",
    )


def _y(value: float, up: Axis) -> float:
    return round(100 - up.place(value), 2)


def _mark(
    point: ScatterPoint, part: Scatters, across: Axis, up: Axis, tag: LabelPlacement | None
) -> list[Html]:
    x = across.place(point.x)
    told = f"{point.name}: {point.x:.4g}, {part.value.name} {cell(point.y, part.value)}"
    place = f"left:{x}%;bottom:{up.place(point.y.value)}%"
    dot = element("span", class_="dot", style=place, title=told)
    if tag is None:
        return [dot]
    style = f"left:{x}%;bottom:{tag.height:.2f}%"
    return [dot, element("span", point.name, class_=f"tag {tag.side}", style=style)]


def _names(points: Sequence[ScatterPoint], across: Axis, up: Axis) -> dict[str, LabelPlacement]:
    """Where names stand: beside their dots where there is room, else a little higher or lower.

    A name for which there is no room is left out; the dot still tells it.
    """
    dots = {p.name: (across.place(p.x), up.place(p.y.value)) for p in points}
    taken = [
        (x - DOT_RADIUS, y - DOT_RADIUS, x + DOT_RADIUS, y + DOT_RADIUS) for x, y in dots.values()
    ]
    found = {}
    for name, (x, y) in dots.items():
        wide = LETTER_WIDTH * len(name)
        for side, rise in LABEL_PLACES:
            left = x + LABEL_GAP if side == "after" else x - LABEL_GAP - wide
            box = (left, y + rise - LINE_HEIGHT / 2, left + wide, y + rise + LINE_HEIGHT / 2)
            if left >= 0 and left + wide <= 104 and not any(_meet(box, other) for other in taken):
                taken.append(box)
                found[name] = LabelPlacement(side, y + rise)
                break
    return found


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
