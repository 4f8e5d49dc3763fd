"""The trade-off: source diversity beside temporal consistency, a dot for every z."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from earwitness.report.html.axis import Axis, axis_of
from earwitness.report.html.elements import Html, element
from earwitness.report.skims.shown import CurvePoint

NEAR = 6.0  # percent within which a second name would lie over the first
RIGHT = 80.0  # percent from which on names stand before their dots


def curve_figure(points: Sequence[CurvePoint], z: float | None) -> Html:
    """A picture, and its numbers as a table."""
    known = sorted((p for p in points if isfinite(p.tc) and isfinite(p.sd)), key=lambda p: p.z)
    across, up = axis_of([p.tc for p in known]), axis_of([p.sd for p in known])
    line = " ".join(f"{across.place(p.tc):.2f},{_y(p.sd, up):.2f}" for p in known)
    grid = [element("line", x1=0, x2=100, y1=_y(t, up), y2=_y(t, up)) for t in up.ticks]
    svg = element(
        "svg",
        *grid,
        element("polyline", points=line),
        viewBox="0 0 100 100",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    marks = _marks(known, z, across, up)
    told = "Temporal consistency and source diversity for several z; the table has the numbers"
    plot = element(
        "div",
        element("div", *_ticks(up, "bottom"), class_="y", aria_hidden="true"),
        element("div", svg, *marks, class_="area"),
        element("div", *_ticks(across, "left"), class_="x", aria_hidden="true"),
        element("div", "temporal consistency (TC) →", class_="label"),
        class_="scatter s0",
        role="img",
        aria_label=told,
    )
    small = element("small", " source diversity (SD) ↑; the full dot is this skim")
    caption = element("figcaption", "What other z would give", small)
    return element("figure", caption, plot, _table(points), class_="tradeoff")


def _y(value: float, up: Axis) -> float:
    return round(100 - up.place(value), 2)


def _ticks(axis: Axis, side: str) -> list[Html]:
    return [element("span", f"{t:g}", style=f"{side}:{axis.place(t)}%") for t in axis.ticks]


def _marks(known: Sequence[CurvePoint], z: float | None, across: Axis, up: Axis) -> list[Html]:
    """Dots, and names where there is room for them; this skim's always has its name."""
    found: list[Html] = []
    named: list[tuple[float, float]] = []
    for point in sorted(known, key=lambda p: p.z != z):
        x, y = across.place(point.tc), up.place(point.sd)
        place = f"left:{x}%;bottom:{y}%"
        own = point.z == z
        found.append(element("span", class_="dot" if own else "dot k1", style=place))
        if any(abs(x - a) < 2 * NEAR and abs(y - b) < NEAR for a, b in named):
            continue
        named.append((x, y))
        side = "before" if x > RIGHT else "after"
        text = element("b", f"z = {point.z:g}") if own else f"z = {point.z:g}"
        found.append(element("span", text, class_=f"tag {side}", style=place))
    return found


def _table(points: Sequence[CurvePoint]) -> Html:
    names = [element("th", name, scope="col") for name in ("z", "TC", "SD")]
    rows = [
        element(
            "tr",
            element("th", f"{p.z:g}", scope="row"),
            *(element("td", f"{x:.3f}" if isfinite(x) else "–") for x in (p.tc, p.sd)),
        )
        for p in points
    ]
    table = element("table", element("thead", element("tr", *names)), element("tbody", *rows))
    folded = element("div", table, class_="scroll")
    return element("details", element("summary", "as a table"), folded)
