"""Plots in rows, such as those of intervals and value spreads, and legends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite, isnan, nan
from statistics import median

from earwitness.core import Estimate, Value
from earwitness.report.charts import (
    Axis,
    bin_counts,
    fit_axis,
    intervals_axis,
)
from earwitness.report.html.elements import Html, breakable, element, folded, join_elements
from earwitness.report.numbers import (
    axis_label,
    cell,
    interval,
    number,
    short_number,
    size_text,
)
from earwitness.report.parts import PEOPLE_SERIES, Intervals, ValueSpread

Colours = Mapping[str, str]  # CSS classes by series: colour, marker shape and line style

# --- Drawings, rows and scales -------------------------------------------------------------------


EDGE_PERCENT = 3  # labels closer to an end (in percent) are moved inside


def plot_svg(*children: Html | None, box: str = "0 0 100 100") -> Html:
    """Return a drawing that fills its box; its numbers are percent by default."""
    return element("svg", *children, viewBox=box, preserveAspectRatio="none", aria_hidden="true")


def plot_row(
    name: str,
    content: Iterable[Html | None],
    label: str,
    figure: Html,
    class_: str,
    track: str = "track",
) -> Html:
    """Return a row of a plot: a name, a picture with its description, and a number."""
    return element(
        "div",
        element("span", name, class_="name"),
        element("span", *content, class_=track, role="img", aria_label=label),
        figure,
        class_=class_,
        title=label,
    )


def row_figure(number: str, remark: str = "") -> Html:
    """Return the last column of a row: a number, and a remark in smaller type."""
    small = element("small", remark) if remark else None
    return element("span", element("b", number), small, class_="figure")


def scale_row(axis: Axis, text: Callable[[float], str] = short_number) -> Html:
    """Return the row below a plot of rows with the text of each tick."""
    marks = [tick_mark(text(tick), axis.place(tick)) for tick in axis.ticks]
    track = element("span", *marks, class_="track")
    ends = element("span", class_="name"), element("span", class_="figure")
    return element("div", ends[0], track, ends[1], class_="row scale", aria_hidden="true")


def tick_mark(text: str, place: float) -> Html:
    """Return the label of a tick; labels at the ends are moved inside."""
    side = "first" if place < EDGE_PERCENT else "last" if place > 100 - EDGE_PERCENT else None
    return element("span", text, class_=side, style=f"left:{place}%")


def label_row(text: str, sides: Sequence[str] = ()) -> Html:
    """Return the label of the axis below its ticks; ``sides`` are shown below both of its ends."""
    ends = element("span", *(element("span", side) for side in sides), class_="sides")
    label = element("span", ends if sides else None, breakable(text))
    return element("div", label, class_="row axis")


def pointed_label(value: Value) -> str:
    """Return the label of a horizontal axis, with an arrow towards its better end.

    >>> pointed_label(Value("pk", "low", 0, 1, "share of windows"))
    '← pk, lower is better'
    """
    text = axis_label(value)
    return f"{text} →" if value.best == "high" else f"← {text}" if value.best == "low" else text


def grid_lines(axis: Axis) -> list[Html]:
    """Return one line per tick."""
    return [element("i", style=f"left:{axis.place(tick)}%") for tick in axis.ticks]


# --- Intervals -----------------------------------------------------------------------------------


DENSE_ABOVE_ROWS = 20  # plots with more rows have lower rows
MAX_OPEN_ROWS = 24  # further rows of a plot are folded
MIN_FOLDED_ROWS = 3  # fewer rows are not worth a click


def intervals_plot(
    part: Intervals,
    colours: Colours,
    *,
    label: Html | None = None,
    open_rows: int = MAX_OPEN_ROWS,
    rest: str = "rows",
) -> Html:
    """Return one row per estimate: a dot with its interval.

    ``label`` replaces the row with the label of the axis. After ``open_rows`` rows, the others
    (``rest``) are folded; groups are not divided.
    """
    axis = intervals_axis(part)
    counts = [len(row) for _, row in part.rows]
    shown = _open_count(counts, open_rows)
    blocks = [_interval_block(name, row, part, axis, colours) for name, row in part.rows]
    foot = [scale_row(axis), label or label_row(pointed_label(part.value))]
    is_dense = len(part.rows) > DENSE_ABOVE_ROWS
    classes = "plot pairs" if part.marked is not None else "plot dense" if is_dense else "plot"
    plot, more = (
        element("div", *map(join_elements, rows), *foot, class_=classes)
        for rows in (blocks[:shown], blocks[shown:])
    )
    if shown == len(blocks):
        return plot
    return join_elements([plot, folded(f"Show {sum(counts[shown:]):,} more {rest}", more)])


def _open_count(counts: Sequence[int], limit: int) -> int:
    """Return how many groups of rows are shown: at least one, and all if few would be folded."""
    total, shown = 0, 0
    for count in counts:
        if shown and total + count > limit:
            break
        total, shown = total + count, shown + 1
    return shown if sum(counts) - total >= MIN_FOLDED_ROWS else len(counts)


def _interval_block(
    label: str, row: Mapping[str, Estimate], part: Intervals, axis: Axis, colours: Colours
) -> list[Html]:
    """Return the rows of a group, below its name if it has several series."""
    alone = {*row} <= {label, PEOPLE_SERIES}
    rows = [] if alone else [element("div", breakable(label), class_="group")]
    for series, estimate in row.items():
        colour = colours.get(series, "people" if series == PEOPLE_SERIES else "other")
        rows.append(_interval_row(label if alone else series, estimate, part, axis, colour))
    return rows


def _interval_row(name: str, estimate: Estimate, part: Intervals, axis: Axis, colour: str) -> Html:
    marks = grid_lines(axis)
    if part.marked is not None:
        marks.append(element("i", class_="marked", style=f"left:{axis.place(part.marked)}%"))
    if not isnan(estimate.low):
        left, right = axis.place(estimate.low), axis.place(estimate.high)
        style = f"left:{left}%;width:{right - left:.3f}%"
        marks.append(element("span", class_="whisker", style=style))
    if isfinite(estimate.value):
        marks.append(element("span", class_="dot", style=f"left:{axis.place(estimate.value)}%"))
    label = f"{name}: {cell(estimate, part.value)}, n = {estimate.n:,}"
    figure = row_figure(
        number(estimate.value, part.value),
        f"{interval(estimate, part.value)} {size_text(estimate)}",
    )
    return plot_row(_row_name(name, part), marks, label, figure, f"row {colour}")


def _row_name(name: str, part: Intervals) -> Html:
    """Return the name of a row; names of pairs break between both systems if possible."""
    first, minus, second = name.partition(" − ")
    if part.marked is None or not minus:
        return breakable(name)
    pair = element("span", breakable(f"{first} −")), element("span", breakable(second))
    return join_elements([pair[0], Html(" "), pair[1]])


# --- Value spreads -------------------------------------------------------------------------------


def spread_plot(part: ValueSpread, colours: Colours) -> Html:
    """Return one row per series: a histogram of its values, and the median."""
    axis = fit_axis([x for values in part.series.values() for x in values], part.value)
    rows = [_spread_row(name, part, axis, colours[name]) for name in part.series]
    heights = f"bar heights: number of {part.unit}, with a separate scale in each row"
    foot = scale_row(axis), label_row(pointed_label(part.value)), label_row(heights)
    return element("div", *rows, *foot, class_="plot spread")


def _spread_row(name: str, part: ValueSpread, axis: Axis, colour: str) -> Html:
    values = part.series[name]
    bins = bin_counts(values, axis, part.bins)
    highest = max(bins)  # rows are scaled separately: shapes are compared, not counts
    bars = [
        element("rect", x=i + 0.05, y=1 - count / highest, width=0.9, height=count / highest)
        for i, count in enumerate(bins)
        if count
    ]
    middle = median(values) if values else nan
    text = number(middle, part.value)
    label = f"{name}: {len(values):,} {part.unit}, median {text}"
    mark = element("span", class_="median", style=f"left:{axis.place(middle)}%") if values else None
    content = [*grid_lines(axis), plot_svg(*bars, box=f"0 0 {len(bins)} 1"), mark]
    figure = row_figure(text, "median")
    return plot_row(breakable(name), content, label, figure, f"row {colour}")


# --- Series and legends --------------------------------------------------------------------------


HUMAN_CLASSES = "people k2 d0"  # of the series that is the work of people
SERIES_COLORS = 8  # and as many marker shapes
LINE_STYLES = 3


def series_classes(index: int) -> str:
    """Return classes for the colour, marker shape and line style of a series.

    Shape and line style together are different for 24 series, so that no colour is needed.
    """
    block, colour = divmod(index, SERIES_COLORS)
    shape = (colour + block) % SERIES_COLORS
    return f"s{colour} k{shape} d{(shape + block) % LINE_STYLES}"


def legend_key(name: str, **attributes: str | None) -> Html:
    """Return a marker with its name."""
    return element("span", element("i"), element("span", name), **attributes)


def legend(names: Iterable[str], colours: Colours, *, numbered: bool = False) -> Html:
    """Return the legend: the marker of each series; keys have the number of theirs on demand."""
    keys = (
        legend_key(
            breakable(name),
            class_=f"key {colours[name]}",
            data_series=str(i) if numbered else None,
        )
        for i, name in enumerate(names)
    )
    return element("div", *keys, class_="legend")
