"""Stacked bars, heat maps and matrices of pairwise comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan

from earwitness.core import Contrast
from earwitness.report.html.elements import Html, element
from earwitness.report.html.plots import Colours, intervals_plot
from earwitness.report.numbers import cell, interval, number, p_value
from earwitness.report.parts import CategoryShares, Heat, Intervals, Matrix, VoteCounts
from earwitness.report.tables import VERDICT_MARKS, find_contrast, is_tested, verdict

# --- Vote count bars -----------------------------------------------------------------------------


MIN_LABEL_SHARE = 0.045  # smaller shares of a bar have no label
SCALE_END_LABELS = {
    "high": ("worst", "best"),
    "low": ("best", "worst"),
    "none": ("lowest", "highest"),
}


def counts_plot(part: VoteCounts) -> Html:
    """Return one bar per system, one shade per value, with percentages in the bars."""
    values = list(part.rows[0][1])
    shades = {x: _shade(i, len(values), part.value.best) for i, x in enumerate(values)}
    rows = [
        _draw_count_row(name, counts, part.notes.get(name, ""), shades)
        for name, counts in part.rows
    ]
    return element(
        "div", _legend(part, values, shades), element("div", *rows, class_="plot shares votes")
    )


def _shade(index: int, count: int, best: str) -> tuple[str, str]:
    """Return a class for the label and a style: colours run from worst to best."""
    place = 2 * index / (count - 1) - 1 if count > 1 else 0.0
    place = -place if best == "low" else place
    end, distance = ("worst" if place < 0 else "best"), abs(place)
    kind = "middle" if distance < 0.3 else "half" if distance < 0.8 else "end"
    return kind, f"--c:color-mix(in oklab,var(--{end}) {100 * distance:.0f}%,var(--between))"


def _legend(part: VoteCounts, values: list[float], shades: Mapping[float, tuple[str, str]]) -> Html:
    first, last = SCALE_END_LABELS[part.value.best]
    ends = {values[0]: f" ({first})", values[-1]: f" ({last})"}
    keys = [
        element("span", element("i"), f"{x:g}{ends.get(x, '')}", class_="key", style=shades[x][1])
        for x in values
    ]
    return element("div", *keys, class_="legend votes")


def _draw_count_row(
    name: str, counts: Mapping[float, int], note: str, shades: Mapping[float, tuple[str, str]]
) -> Html:
    total = sum(counts.values())
    bars = [
        element(
            "b",
            f"{100 * n / total:.0f}" if n / total >= MIN_LABEL_SHARE else "",
            class_=shades[x][0],
            style=f"flex-grow:{n / total:.5f};{shades[x][1]}",
            title=f"{x:g}: {n:,} of {total:,} votes",
        )
        for x, n in counts.items()
        if n
    ]
    label = f"{name}: {', '.join(f'{n:,} votes of {x:g}' for x, n in counts.items())}"
    return element(
        "div",
        element("span", name, class_="name"),
        element("span", *bars, class_="bar", role="img", aria_label=label),
        element("span", note, class_="figure"),
        class_="row",
    )


# --- Category share bars -------------------------------------------------------------------------


CATEGORY_COLORS = 8


def shares_plot(part: CategoryShares) -> Html:
    """Return one bar per row, one colour per category, with counts in the bars."""
    categories = list(part.rows[0][1])
    keys = [
        element("span", element("i"), name, class_=f"key s{index % CATEGORY_COLORS}")
        for index, name in enumerate(categories)
    ]
    rows = [
        _draw_share_row(label, [counts[name] for name in categories]) for label, counts in part.rows
    ]
    return element(
        "figure",
        element("figcaption", part.title),
        element("div", *keys, class_="legend"),
        element("div", *rows, class_="plot shares"),
    )


def _draw_share_row(label: str, counts: list[float]) -> Html:
    total = sum(counts) or 1
    bars = [
        element(
            "b",
            f"{count:g}",
            class_=f"s{index % CATEGORY_COLORS}",
            style=f"flex-grow:{count / total:.5f}",
        )
        for index, count in enumerate(counts)
        if count
    ]
    description = f"{label}: {', '.join(f'{count:g}' for count in counts)}"
    return element(
        "div",
        element("span", label, class_="name"),
        element("span", *bars, class_="bar", role="img", aria_label=description),
        element("span", f"{sum(counts):g}", class_="figure"),
        class_="row",
    )


# --- Heat maps -----------------------------------------------------------------------------------


MAX_COLOR_PERCENT = 60  # percent of colour at 1, so that numbers stay readable


def heat_square(part: Heat) -> Html:
    """Return a table with one row and one column per name; stronger values have deeper colours."""
    head = element("tr", *(element("th", text, scope="col") for text in ("", *part.names)))
    rows = [
        element(
            "tr", element("th", a, scope="row"), *(_draw_heat_cell(part, a, b) for b in part.names)
        )
        for a in part.names
    ]
    table = element("table", element("thead", head), element("tbody", *rows), class_="heat")
    return element("div", table, class_="scroll")


def _draw_heat_cell(part: Heat, a: str, b: str) -> Html:
    estimate = part.cells.get((a, b))
    if estimate is None:
        return element("td", class_="self")
    strength = 0.0 if isnan(estimate.value) else MAX_COLOR_PERCENT * abs(estimate.value)
    return element(
        "td",
        number(estimate.value, part.value),
        class_="minus" if estimate.value < 0 else "plus",
        style=f"--r: {strength:.0f}%",
        title=f"{a}, {b}: {cell(estimate, part.value)}, n = {estimate.n:,}",
    )


# --- Pairwise comparison matrix ------------------------------------------------------------------


TWO_LINES_FROM_SYSTEMS = 5  # with this many systems or more, cells have two lines
MAX_DRAWN_DIFFERENCES = 60


def matrix_table(part: Matrix) -> Html:
    """Return a table of rows versus columns, with the difference in each cell."""
    estimate_heading = ["estimate"] * part.estimated
    head = ["", *estimate_heading, *(f"vs {system}" for system in part.systems)]
    table = element(
        "table",
        element("caption", part.title, element("small", f" {part.value.doc}")),
        element("thead", element("tr", *(element("th", text, scope="col") for text in head))),
        element("tbody", *(_draw_matrix_row(part, system) for system in part.systems)),
        class_=" ".join(["matrix", *["alone"] * (not part.estimated), *["wide"] * _is_wide(part)]),
    )
    return element("div", table, class_="scroll")


def _is_wide(part: Matrix) -> bool:
    """Return whether numbers are shown below words so that the table fits."""
    return len(part.systems) >= TWO_LINES_FROM_SYSTEMS


def _draw_matrix_row(part: Matrix, a: str) -> Html:
    first = [_estimate_cell(part, a)] * part.estimated
    return element(
        "tr",
        element("th", a, scope="row"),
        *first,
        *(_draw_matrix_cell(part, a, b) for b in part.systems),
    )


def _estimate_cell(part: Matrix, a: str) -> Html:
    estimate = part.systems[a]
    if estimate is None:
        return element("td", "–")
    return element(
        "td",
        element("b", number(estimate.value, part.value)),
        element("small", f" {interval(estimate, part.value)}"),
    )


def _draw_matrix_cell(part: Matrix, a: str, b: str) -> Html:
    contrast = find_contrast(part, a, b)
    pair_verdict = verdict(part, a, b)
    if contrast is None or pair_verdict is None:
        return element("td", class_="self", title=None if a == b else "not compared")
    difference = contrast.difference.value * (1 if contrast.a == a else -1)
    return element(
        "td",
        element("span", VERDICT_MARKS[pair_verdict]),
        element("small", f" {'+' * (difference > 0)}{number(difference, part.value)}"),
        class_=pair_verdict,
        title=_contrast_title(part, contrast),
    )


def differences_plot(part: Matrix, colours: Colours) -> Html | None:
    """Return all differences with intervals, coloured by the better system, and a line at 0."""
    if not 0 < len(part.contrasts) <= MAX_DRAWN_DIFFERENCES:
        return None
    labelled = [(f"{contrast.a} − {contrast.b}", contrast) for contrast in part.contrasts]
    rows = tuple((label, {label: contrast.difference}) for label, contrast in labelled)
    label_colours = {
        label: colours[contrast.better]
        for label, contrast in labelled
        if contrast.better in colours
    }
    return intervals_plot(Intervals(part.title, part.value, "", rows, marked=0.0), label_colours)


def _contrast_title(part: Matrix, contrast: Contrast) -> str:
    difference = contrast.difference
    if not is_tested(contrast):
        message = f"{contrast.a} − {contrast.b}: {cell(difference, part.value)}"
        return f"{message}, n = {difference.n:,}; not testable"
    corrected = f", corrected {p_value(contrast.p_corrected)}" if part.correction != "none" else ""
    return (
        f"{contrast.a} − {contrast.b}: {cell(difference, part.value)}, n = {difference.n:,}, "
        f"p {p_value(contrast.p)}{corrected}"
    )
