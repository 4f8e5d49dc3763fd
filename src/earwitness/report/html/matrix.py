"""Who is better than whom, as a coloured table."""

from __future__ import annotations

from earwitness.data import Contrast
from earwitness.report.html.elements import Html, element
from earwitness.report.html.plots import Colours, intervals_plot
from earwitness.report.numbers import cell, interval, number, p_value
from earwitness.report.parts import Intervals, Matrix
from earwitness.report.tables import MARKS, contrast_of, tested, verdict

MANY = 5  # systems from which on cells have two lines
MOST = 60  # differences that are drawn


def matrix(part: Matrix) -> Html:
    """Rows against columns, with the difference in every cell."""
    own = ["estimate"] * part.estimated
    head = ["", *own, *(f"vs {system}" for system in part.systems)]
    table = element(
        "table",
        element("caption", part.title, element("small", f" {part.value.doc}")),
        element("thead", element("tr", *(element("th", text, scope="col") for text in head))),
        element("tbody", *(_row(part, system) for system in part.systems)),
        class_=" ".join(["matrix", *["alone"] * (not part.estimated), *["wide"] * _wide(part)]),
    )
    return element("div", table, class_="scroll")


def _wide(part: Matrix) -> bool:
    """Whether numbers stand below words, or the table would not fit."""
    return len(part.systems) >= MANY


def _row(part: Matrix, a: str) -> Html:
    first = [_estimate(part, a)] * part.estimated
    return element(
        "tr", element("th", a, scope="row"), *first, *(_cell(part, a, b) for b in part.systems)
    )


def _estimate(part: Matrix, a: str) -> Html:
    estimate = part.systems[a]
    if estimate is None:
        return element("td", "–")
    return element(
        "td",
        element("b", number(estimate.value, part.value)),
        element("small", f" {interval(estimate, part.value)}"),
    )


def _cell(part: Matrix, a: str, b: str) -> Html:
    contrast = contrast_of(part, a, b)
    told = verdict(part, a, b)
    if contrast is None or told is None:
        return element("td", class_="self", title=None if a == b else "not compared")
    difference = contrast.difference.value * (1 if contrast.a == a else -1)
    return element(
        "td",
        element("span", MARKS[told]),
        element("small", f" {'+' * (difference > 0)}{number(difference, part.value)}"),
        class_=told,
        title=_title(part, contrast),
    )


def differences(part: Matrix, colours: Colours) -> Html | None:
    """All differences with their intervals, in the colour of the better one, and a line at 0."""
    if not 0 < len(part.contrasts) <= MOST:
        return None
    named = [(f"{c.a} − {c.b}", c) for c in part.contrasts]
    rows = tuple((label, {label: c.difference}) for label, c in named)
    own = {label: colours[c.better] for label, c in named if c.better in colours}
    return intervals_plot(Intervals(part.title, part.value, "", rows, marked=0.0), own)


def _title(part: Matrix, contrast: Contrast) -> str:
    difference = contrast.difference
    if not tested(contrast):
        told = f"{contrast.a} less {contrast.b}: {cell(difference, part.value)}"
        return f"{told}, n = {difference.n:,}; cannot be tested"
    corrected = f", corrected {p_value(contrast.p_corrected)}" if part.correction != "none" else ""
    return (
        f"{contrast.a} less {contrast.b}: {cell(difference, part.value)}, n = {difference.n:,}, "
        f"p {p_value(contrast.p)}{corrected}"
    )
