"""A coloured square of numbers between −1 and 1."""

from __future__ import annotations

from math import isnan

from earwitness.report.html.elements import Html, element
from earwitness.report.numbers import cell, number
from earwitness.report.parts import Heat

DEEPEST = 60  # percent of colour at 1, so that numbers can be read on it


def heat_square(part: Heat) -> Html:
    """A row and a column a name; the stronger, the deeper the colour."""
    head = element("tr", *(element("th", text, scope="col") for text in ("", *part.names)))
    rows = [
        element("tr", element("th", a, scope="row"), *(_cell(part, a, b) for b in part.names))
        for a in part.names
    ]
    table = element("table", element("thead", head), element("tbody", *rows), class_="heat")
    return element("div", table, class_="scroll")


def _cell(part: Heat, a: str, b: str) -> Html:
    found = part.cells.get((a, b))
    if found is None:
        return element("td", class_="self")
    strength = 0.0 if isnan(found.value) else DEEPEST * abs(found.value)
    return element(
        "td",
        number(found.value, part.value),
        class_="minus" if found.value < 0 else "plus",
        style=f"--r: {strength:.0f}%",
        title=f"{a}, {b}: {cell(found, part.value)}, n = {found.n:,}",
    )
