"""Bars that show how a whole and its parts divide, the whole on top."""

from __future__ import annotations

from earwitness.report.html.elements import Html, element
from earwitness.report.parts import Shares

COLOURS = 8


def shares_plot(part: Shares) -> Html:
    """A bar a row, a colour a category, counts in the bars."""
    categories = list(part.rows[0][1])
    keys = [
        element("span", element("i"), name, class_=f"key s{index % COLOURS}")
        for index, name in enumerate(categories)
    ]
    rows = [_row(label, [counts[name] for name in categories]) for label, counts in part.rows]
    return element(
        "figure",
        element("figcaption", part.title),
        element("div", *keys, class_="legend"),
        element("div", *rows, class_="plot shares"),
    )


def _row(label: str, counts: list[float]) -> Html:
    total = sum(counts) or 1
    bars = [
        element(
            "b",
            f"{count:g}",
            class_=f"s{index % COLOURS}",
            style=f"flex-grow:{count / total:.5f}",
        )
        for index, count in enumerate(counts)
        if count
    ]
    told = f"{label}: {', '.join(f'{count:g}' for count in counts)}"
    return element(
        "div",
        element("span", label, class_="name"),
        element("span", *bars, class_="bar", role="img", aria_label=told),
        element("span", f"{sum(counts):g}", class_="figure"),
        class_="row",
    )
