"""A small picture a listener: dots for systems, beside a line through the means of all."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan

from earwitness.report.html.axis import Axis, axis_of
from earwitness.report.html.elements import Html, element
from earwitness.report.html.plots import Colours
from earwitness.report.numbers import number
from earwitness.report.parts import Panel, Panels

WIDTH, HEIGHT, EDGE = 120.0, 72.0, 6.0
MANY = 40  # panels from which on they are smaller


def panels_plot(part: Panels, colours: Colours) -> Html:
    """As many beside each other as there is room for, all with the same axis."""
    every = [x for one in part.panels for x in one.means.values()]
    axis = axis_of([*every, *part.everyone.values()], part.value)
    places = _across(list(part.everyone))
    drawn = [_panel(one, part, axis, places, colours) for one in part.panels]
    return element(
        "div",
        element("p", f"From {axis.low:g} (below) to {axis.high:g}.", class_="hint"),
        element("div", *drawn, class_="panels many" if len(drawn) > MANY else "panels"),
    )


def _across(systems: list[str]) -> dict[str, float]:
    step = WIDTH / max(1, len(systems))
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
    grid = [element("line", x1=0, x2=WIDTH, y1=_up(t, axis), y2=_up(t, axis)) for t in axis.ticks]
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
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
        aria_label=told,
    )


def _up(x: float, axis: Axis) -> float:
    """From above, with room for half a dot at both ends."""
    return round(HEIGHT - EDGE - axis.place(x) / 100 * (HEIGHT - 2 * EDGE), 1)
