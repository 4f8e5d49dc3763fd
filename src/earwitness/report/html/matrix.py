"""Who is better than whom, as a coloured table."""

from __future__ import annotations

from earwitness.data import Contrast
from earwitness.report.html.elements import Html, element
from earwitness.report.numbers import cell, interval, number, p_value
from earwitness.report.parts import Matrix
from earwitness.report.tables import MARKS, contrast_of, verdict

SIGNS = {1: "better", -1: "worse", 0: "same"}


def matrix(part: Matrix) -> Html:
    """Rows against columns, with the difference in every cell."""
    head = ["", "estimate", *(f"vs {system}" for system in part.systems)]
    table = element(
        "table",
        element("caption", part.title, element("small", f" {part.value.doc}")),
        element("thead", element("tr", *(element("th", text, scope="col") for text in head))),
        element("tbody", *(_row(part, system) for system in part.systems)),
        class_="matrix",
    )
    return element("div", table, class_="scroll")


def _row(part: Matrix, a: str) -> Html:
    estimate = part.systems[a]
    first = element(
        "td",
        element("b", number(estimate.value, part.value)),
        element("small", f" {interval(estimate, part.value)}"),
    )
    return element(
        "tr", element("th", a, scope="row"), first, *(_cell(part, a, b) for b in part.systems)
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
        class_=SIGNS[told],
        title=_title(part, contrast),
    )


def _title(part: Matrix, contrast: Contrast) -> str:
    difference = contrast.difference
    corrected = f", corrected {p_value(contrast.p_corrected)}" if part.correction != "none" else ""
    return (
        f"{contrast.a} less {contrast.b}: {cell(difference, part.value)}, n = {difference.n:,}, "
        f"p {p_value(contrast.p)}{corrected}"
    )
