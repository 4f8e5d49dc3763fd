"""Stacked bars, heat maps and matrices of pairwise comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan
from typing import NamedTuple

from earwitness.core import Contrast
from earwitness.report.charts import PERCENT_AXIS, difference_intervals, vote_labels
from earwitness.report.html.elements import (
    Html,
    breakable,
    draw_table,
    element,
    scroll_box,
)
from earwitness.report.html.plots import (
    Colours,
    intervals_plot,
    label_row,
    plot_row,
    scale_row,
)
from earwitness.report.numbers import (
    cell,
    interval,
    label_with_unit,
    number,
    p_value,
    short_number,
)
from earwitness.report.parts import CategoryShares, Heat, Matrix, VoteCounts
from earwitness.report.tables import (
    VERDICT_MARKS,
    find_contrast,
    is_tested,
    rank_systems,
    signed_difference,
    verdict,
)

# --- Bars of votes and categories ----------------------------------------------------------------


MIN_LABEL_SHARE = 0.045  # smaller shares of a bar of votes have no label
CATEGORY_COLORS = 8


class _Segment(NamedTuple):
    """Part of a bar: its size, its text, and its looks."""

    size: float
    text: str
    class_: str
    style: str = ""
    title: str | None = None


def _bar_row(name: str, segments: Iterable[_Segment], total: float, label: str, note: str) -> Html:
    bars = [
        element(
            "b",
            segment.text,
            class_=segment.class_,
            style=f"flex-grow:{segment.size / total:.5f}{segment.style}",
            title=segment.title,
        )
        for segment in segments
        if segment.size
    ]
    figure = element("span", note, class_="figure")
    return plot_row(breakable(name), bars, f"{name}: {label}", figure, "row", "bar")


def _bar_plot(rows: Iterable[Html], label: str, class_: str) -> Html:
    return element("div", *rows, scale_row(PERCENT_AXIS), label_row(label), class_=class_)


def counts_plot(part: VoteCounts) -> Html:
    """Return one bar per system, one shade per value, with percentages in the bars."""
    labels = vote_labels(part)
    shades = {x: _shade(i, len(labels), part.value.best) for i, x in enumerate(labels)}
    rows = []
    for name, counts in part.rows:
        total = sum(counts.values()) or 1
        segments = (
            _Segment(
                n,
                f"{100 * n / total:.0f}" if n / total >= MIN_LABEL_SHARE else "",
                shades[x][0],
                f";{shades[x][1]}",
                f"{short_number(x)}: {n:,} of {total:,} votes",
            )
            for x, n in counts.items()
        )
        texts = ", ".join(f"{n:,} votes of {short_number(x)}" for x, n in counts.items())
        rows.append(_bar_row(name, segments, total, texts, part.notes.get(name, "")))
    keys = [
        element("span", element("i"), label, class_="key", style=shades[x][1])
        for x, label in labels.items()
    ]
    heading = element("span", f"vote, {label_with_unit(part.value.name, part.value.unit)}:")
    plot = _bar_plot(rows, "share of votes (%)", "plot shares votes")
    return element("div", element("div", heading, *keys, class_="legend votes"), plot)


def _shade(index: int, count: int, best: str) -> tuple[str, str]:
    """Return a class for the label and a style: colours run from worst to best."""
    place = 2 * index / (count - 1) - 1 if count > 1 else 0.0
    place = -place if best == "low" else place
    end, distance = ("worst" if place < 0 else "best"), abs(place)
    kind = "middle" if distance < 0.3 else "half" if distance < 0.8 else "end"
    return kind, f"--c:color-mix(in oklab,var(--{end}) {100 * distance:.0f}%,var(--between))"


def shares_plot(part: CategoryShares) -> Html:
    """Return one bar per row, one colour per category, with counts in the bars."""
    colours = {name: f"s{i % CATEGORY_COLORS}" for i, name in enumerate(part.rows[0][1])}
    keys = [
        element("span", element("i"), breakable(name), class_=f"key {colour}")
        for name, colour in colours.items()
    ]
    rows = []
    for label, counts in part.rows:
        segments = [_Segment(counts[name], f"{counts[name]:g}", colours[name]) for name in colours]
        total = sum(segment.size for segment in segments)
        texts = ", ".join(segment.text for segment in segments)
        rows.append(_bar_row(label, segments, total or 1, texts, f"{total:g}"))
    return element(
        "figure",
        element("figcaption", breakable(part.title)),
        element("div", *keys, class_="legend"),
        _bar_plot(rows, "share (%); numbers in bars are counts", "plot shares"),
    )


# --- Squares of names ----------------------------------------------------------------------------


MAX_COLOR_PERCENT = 60  # percent of colour at 1, so that numbers stay readable
MAX_HEAD_CHARACTERS = 80  # column heads with more characters are turned upright
TWO_LINES_FROM_SYSTEMS = 5  # with this many systems or more, cells have two lines


def _draw_square(
    title: str,
    names: Sequence[str],
    rows: Iterable[Iterable[Html]],
    classes: Sequence[str],
    first: Sequence[str] = ("",),
    prefix: str = "",
) -> Html:
    """Return a table with one row and one column per name; long names are turned upright."""
    corner = [element("th", text, scope="col") if text else element("td") for text in first]
    spans = [
        element("th", element("span", breakable(f"{prefix}{name}")), scope="col") for name in names
    ]
    lines = (
        element("tr", element("th", breakable(name), scope="row"), *cells)
        for name, cells in zip(names, rows, strict=True)
    )
    upright = ["upright"] if sum(map(len, names)) > MAX_HEAD_CHARACTERS else []
    return scroll_box(draw_table([*corner, *spans], lines, " ".join([*classes, *upright])), title)


def heat_square(part: Heat) -> Html:
    """Return a table with one row and one column per name; stronger values have deeper colours."""
    rows = [[_draw_heat_cell(part, a, b) for b in part.names] for a in part.names]
    return element("div", _draw_square(part.title, part.names, rows, ["heat"]), _heat_key(part))


def _heat_key(part: Heat) -> Html:
    """Return the colour scale, with the name of the value."""
    low, high = (-1.0 if part.value.low < 0 else 0.0), 1.0
    ends = [element("span", short_number(end)) for end in (low, high)]
    bar = element("i", class_="both" if low < 0 else None)
    name = label_with_unit(part.value.name, part.value.unit)
    return element("div", f"colour: {name} ", ends[0], bar, ends[1], class_="heat-key")


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


def matrix_table(part: Matrix) -> Html:
    """Return a table of rows versus columns, best system first, with differences in the cells."""
    systems = rank_systems(part)
    rows = [
        [
            *([_estimate_cell(part, a)] if part.has_estimates else []),
            *(_draw_matrix_cell(part, a, b) for b in systems),
        ]
        for a in systems
    ]
    classes = [
        "matrix",
        *(["alone"] if not part.has_estimates else []),
        *(["wide"] if len(systems) >= TWO_LINES_FROM_SYSTEMS else []),
    ]
    title, first = (
        f"{part.title}: pairwise comparison",
        ["", *(["estimate"] if part.has_estimates else [])],
    )
    return _draw_square(title, systems, rows, classes, first, "vs ")


def _estimate_cell(part: Matrix, a: str) -> Html:
    estimate = part.systems[a]
    if estimate is None:
        return element("td", "–")
    figure = element("b", number(estimate.value, part.value))
    return element("td", figure, element("small", f" {interval(estimate, part.value)}"))


def _draw_matrix_cell(part: Matrix, a: str, b: str) -> Html:
    contrast = find_contrast(part, a, b)
    pair_verdict = verdict(part, a, b)
    if contrast is None or pair_verdict is None:
        return element("td", class_="self", title=None if a == b else "not compared")
    return element(
        "td",
        element("span", VERDICT_MARKS[pair_verdict]),
        element("small", f" {signed_difference(part, contrast, a)}"),
        class_=pair_verdict,
        title=_contrast_title(part, contrast),
    )


# --- Differences of pairs ------------------------------------------------------------------------


MAX_OPEN_DIFFERENCES = 10  # if there are more, only those from the best system are not folded


def differences_plot(part: Matrix, colours: Colours) -> Html | None:
    """Return differences with intervals, coloured by the better system, and a line at 0."""
    intervals, contrasts = difference_intervals(part)
    if not contrasts:
        return None
    first = [contrast.a for contrast in contrasts.values()]
    return intervals_plot(
        intervals,
        {label: colours[c.better] for label, c in contrasts.items() if c.better in colours},
        label=_difference_label(part),
        open_rows=first.count(first[0]) if len(first) > MAX_OPEN_DIFFERENCES else len(first),
        rest="differences",
    )


def _difference_label(part: Matrix) -> Html:
    """Return the label of the axis of differences, with the better system on each side of 0."""
    name = label_with_unit(f"difference in {part.value.name}", part.value.unit)
    better = {"high": ("second", "first"), "low": ("first", "second")}.get(part.value.best)
    sides = [f"← {better[0]} is better", f"{better[1]} is better →"] if better else []
    return label_row(name, sides)


def _contrast_title(part: Matrix, contrast: Contrast) -> str:
    figure = cell(contrast.difference, part.value)
    message = f"{contrast.a} − {contrast.b}: {figure}, n = {contrast.difference.n:,}"
    if not is_tested(contrast):
        return f"{message}; {contrast.note or 'not testable'}"
    corrected = f", corrected {p_value(contrast.p_corrected)}" if part.correction != "none" else ""
    note = f"; {contrast.note}" if contrast.note else ""
    return f"{message}, p {p_value(contrast.p)}{corrected}{note}"
