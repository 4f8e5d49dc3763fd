"""Stacked bars, heat maps and matrices of pairwise comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan

from earwitness.core import Contrast
from earwitness.report.html.elements import Html, breakable, element
from earwitness.report.html.plots import Axis, Colours, intervals_plot, label_row, tick_row
from earwitness.report.numbers import (
    cell,
    interval,
    label_with_unit,
    number,
    p_value,
    short_number,
)
from earwitness.report.parts import CategoryShares, Heat, Intervals, Matrix, VoteCounts
from earwitness.report.tables import (
    VERDICT_MARKS,
    find_contrast,
    is_tested,
    rank_contrasts,
    rank_systems,
    verdict,
)

# --- Vote count bars -----------------------------------------------------------------------------


MIN_LABEL_SHARE = 0.045  # smaller shares of a bar have no label
PERCENT_AXIS = Axis(0.0, 100.0, (0.0, 25.0, 50.0, 75.0, 100.0))
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
    foot = tick_row(PERCENT_AXIS), label_row("share of votes (%)")
    return element(
        "div",
        _legend(part, values, shades),
        element("div", *rows, *foot, class_="plot shares votes"),
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
        element(
            "span",
            element("i"),
            f"{short_number(x)}{ends.get(x, '')}",
            class_="key",
            style=shades[x][1],
        )
        for x in values
    ]
    heading = element("span", f"vote, {label_with_unit(part.value.name, part.value.unit)}:")
    return element("div", heading, *keys, class_="legend votes")


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
            title=f"{short_number(x)}: {n:,} of {total:,} votes",
        )
        for x, n in counts.items()
        if n
    ]
    texts = [f"{n:,} votes of {short_number(x)}" for x, n in counts.items()]
    label = f"{name}: {', '.join(texts)}"
    return element(
        "div",
        element("span", breakable(name), class_="name"),
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
        element("span", element("i"), breakable(name), class_=f"key s{index % CATEGORY_COLORS}")
        for index, name in enumerate(categories)
    ]
    rows = [
        _draw_share_row(label, [counts[name] for name in categories]) for label, counts in part.rows
    ]
    return element(
        "figure",
        element("figcaption", breakable(part.title)),
        element("div", *keys, class_="legend"),
        element(
            "div",
            *rows,
            tick_row(PERCENT_AXIS),
            label_row("share (%); numbers in bars are counts"),
            class_="plot shares",
        ),
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
        element("span", breakable(label), class_="name"),
        element("span", *bars, class_="bar", role="img", aria_label=description),
        element("span", f"{sum(counts):g}", class_="figure"),
        class_="row",
    )


# --- Heat maps -----------------------------------------------------------------------------------


MAX_COLOR_PERCENT = 60  # percent of colour at 1, so that numbers stay readable
MAX_HEAD_CHARACTERS = 80  # column heads with more characters are turned upright


def heat_square(part: Heat) -> Html:
    """Return a table with one row and one column per name; stronger values have deeper colours."""
    rows = [_square_row(a, (_draw_heat_cell(part, a, b) for b in part.names)) for a in part.names]
    table = element(
        "table",
        element("thead", _head_row([""], part.names)),
        element("tbody", *rows),
        class_=" ".join(["heat", *["upright"] * _is_crowded(part.names)]),
    )
    return element("div", scroll_box(table, part.title), _heat_key(part))


def scroll_box(table: Html, label: str) -> Html:
    """Return a table in a box that scrolls sideways if the table is too wide."""
    return element("div", table, class_="scroll", role="group", aria_label=label)


def _heat_key(part: Heat) -> Html:
    """Return the colour scale, with the name of the value."""
    low, high = (-1.0 if part.value.low < 0 else 0.0), 1.0
    ends = [element("span", short_number(end)) for end in (low, high)]
    bar = element("i", class_="both" if low < 0 else None)
    name = label_with_unit(part.value.name, part.value.unit)
    return element("div", f"colour: {name} ", ends[0], bar, ends[1], class_="heat-key")


def _head_row(first: Sequence[str], names: Sequence[str]) -> Html:
    """Return the head of a square table; names are in spans, which may be turned upright."""
    texts = [element("th", text, scope="col") if text else element("td") for text in first]
    spans = [element("th", element("span", breakable(name)), scope="col") for name in names]
    return element("tr", *texts, *spans)


def _square_row(name: str, cells: Iterable[Html]) -> Html:
    return element("tr", element("th", breakable(name), scope="row"), *cells)


def _is_crowded(names: Sequence[str]) -> bool:
    """Return whether the names are too long for column heads, so that they are turned upright."""
    return sum(map(len, names)) > MAX_HEAD_CHARACTERS


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
MAX_OPEN_DIFFERENCES = 10  # if there are more, only those from the best system are not folded
MAX_DRAWN_DIFFERENCES = 60  # if there are more, only those from the best system are drawn


def matrix_table(part: Matrix) -> Html:
    """Return a table of rows versus columns, best system first, with differences in the cells."""
    systems = rank_systems(part)
    first = ["", *["estimate"] * part.estimated]
    classes = [
        "matrix",
        *["alone"] * (not part.estimated),
        *["wide"] * (len(systems) >= TWO_LINES_FROM_SYSTEMS),
        *["upright"] * _is_crowded(systems),
    ]
    table = element(
        "table",
        element("thead", _head_row(first, [f"vs {system}" for system in systems])),
        element("tbody", *(_draw_matrix_row(part, system, systems) for system in systems)),
        class_=" ".join(classes),
    )
    return scroll_box(table, f"{part.title}: pairwise comparison")


def _draw_matrix_row(part: Matrix, a: str, systems: Sequence[str]) -> Html:
    first = [_estimate_cell(part, a)] * part.estimated
    return _square_row(a, [*first, *(_draw_matrix_cell(part, a, b) for b in systems)])


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
    """Return differences with intervals, coloured by the better system, and a line at 0.

    The system with the better rank comes first in each pair. Differences from the best system are
    at the top.
    """
    systems = rank_systems(part)
    contrasts = rank_contrasts(part)
    first = [contrast for contrast in contrasts if contrast.a == systems[0]]
    if len(contrasts) > MAX_DRAWN_DIFFERENCES:
        contrasts = first
    if not contrasts:
        return None
    labelled = [(f"{contrast.a} − {contrast.b}", contrast) for contrast in contrasts]
    rows = tuple((label, {label: contrast.difference}) for label, contrast in labelled)
    label_colours = {
        label: colours[contrast.better]
        for label, contrast in labelled
        if contrast.better in colours
    }
    return intervals_plot(
        Intervals(part.title, part.value, "", rows, marked=0.0),
        label_colours,
        label=_difference_label(part),
        open_rows=len(first) if len(contrasts) > MAX_OPEN_DIFFERENCES else len(contrasts),
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
