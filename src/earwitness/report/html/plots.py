"""Plots of intervals, curves and value spreads, with axes and ticks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite, isnan, log, nan
from statistics import median

from earwitness.core import Estimate, Value
from earwitness.report.charts import (
    MAX_BANDS,
    Axis,
    bin_counts,
    curve_axis,
    curve_ticks,
    fit_axis,
    intervals_axis,
    is_logarithmic,
    spread_labels,
)
from earwitness.report.html.elements import Html, breakable, element, folded, join_elements
from earwitness.report.numbers import (
    axis_label,
    cell,
    count_text,
    interval,
    label_with_unit,
    number,
    short_number,
)
from earwitness.report.parts import PEOPLE_SERIES, Curve, Intervals, ValueSpread

Colours = Mapping[str, str]  # CSS classes by series: colour, marker shape and line style

# --- Drawings, rows and scales -------------------------------------------------------------------


EDGE_PERCENT = 3  # labels closer to an end (in percent) are moved inside


def plot_svg(*children: Html | None, box: str = "0 0 100 100") -> Html:
    """Return a drawing that fills its box; its numbers are percent by default."""
    return element("svg", *children, viewBox=box, preserveAspectRatio="none", aria_hidden="true")


def horizontal_lines(heights: Iterable[float], class_: str | None = None) -> list[Html]:
    """Return lines across a drawing, at heights from its top."""
    return [element("line", x1=0, x2=100, y1=y, y2=y, class_=class_) for y in heights]


def plot_row(
    name: str,
    content: Iterable[Html | None],
    label: str,
    figure: Html,
    class_: str,
    *,
    title: str | None = None,
    track: str = "track",
) -> Html:
    """Return a row of a plot: a name, a picture with its description, and a number."""
    return element(
        "div",
        element("span", name, class_="name"),
        element("span", *content, class_=track, role="img", aria_label=label),
        figure,
        class_=class_,
        title=title,
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


def tick_labels(axis: Axis, side: str) -> list[Html]:
    """Return the labels of ticks, at their distances from a side."""
    return [
        element("span", short_number(tick), style=f"{side}:{axis.place(tick)}%")
        for tick in axis.ticks
    ]


def framed_area(
    area: Iterable[Html],
    up: tuple[str, Axis],
    across: tuple[str, Iterable[Html]],
    ends: Html | None = None,
) -> Iterator[Html | None]:
    """Yield the area of a plot with the ticks and the labels of both axes."""
    yield element("div", breakable(up[0]), class_="label up")
    yield element("div", *tick_labels(up[1], "bottom"), class_="y", aria_hidden="true")
    yield element("div", *area, class_="area")
    yield ends
    yield element("div", *across[1], class_="x", aria_hidden="true")
    yield element("div", breakable(across[0]), class_="label")


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
    dense = " dense" * (len(part.rows) > DENSE_ABOVE_ROWS and part.marked is None)
    classes = f"plot{dense}{' pairs' * (part.marked is not None)}"
    plot, more = (
        element("div", *map(join_elements, some), *foot, class_=classes)
        for some in (blocks[:shown], blocks[shown:])
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
        f"{interval(estimate, part.value)} {count_text(estimate)}",
    )
    return plot_row(_row_name(name, part), marks, label, figure, f"row {colour}", title=label)


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
    return plot_row(breakable(name), content, label, figure, f"row {colour}", title=label)


# --- Curves --------------------------------------------------------------------------------------


LABEL_GAP, COMPACT_LABEL_GAP = 5.5, 8.0  # between labels of lines, in percent of the height
MAX_LABEL_LETTERS = 24  # longer names are in the legend


def curve_plot(part: Curve, colours: Colours) -> Html:
    """Return lines with bands for their intervals.

    Series that are not among the series of the report get colours of their own.
    """
    classes = {name: colours.get(name, series_classes(i)) for i, name in enumerate(part.lines)}
    numbers = {name: str(i) if part.fitted else None for i, name in enumerate(classes)}
    y = curve_axis(part)
    xs = [x for x, _ in part.points]
    ticks, marked = curve_ticks(part)
    is_log = not part.fitted and is_logarithmic(xs)
    places = _curve_positions([*xs, *ticks], logarithmic=is_log)
    lines = [
        _curve_line(
            [(places[x], estimate) for x, estimate in points],
            y,
            class_=classes[name],
            data_series=numbers[name],
        )
        for name, points in part.lines.items()
    ]
    dots = [
        element(
            "span",
            class_=f"dot {classes[name]}{'' if x in marked else ' bare'}",
            style=f"left:{places[x]:.3f}%;bottom:{y.place(estimate.value)}%",
            title=f"{name}, {part.parameter} {short_number(x)}: {cell(estimate, part.value)}",
            data_series=numbers[name],
        )
        for x, row in part.points
        for name, estimate in row.items()
        if not isnan(estimate.value)
    ]
    grid = horizontal_lines((100 - y.place(tick) for tick in y.ticks), "grid")
    across = [
        element("span", short_number(x), style=f"left:{places[x]:.3f}%")
        for x in dict.fromkeys(ticks)
    ]
    # the parameter is on the other axis, so it is left out of the name
    value = replace(part.value, name=part.value.name.partition("@")[0])
    parameter = label_with_unit(part.parameter, part.unit) + ", logarithmic" * is_log
    ends = _end_labels(part, y, classes) if part.fitted else None
    states = {
        "fitted": part.fitted,
        "many": part.fitted and len(classes) > MAX_BANDS,
        "ended": ends is not None,
    }
    return element(
        "div",
        *framed_area(
            [plot_svg(*grid, *lines), *dots], (axis_label(value), y), (parameter, across), ends
        ),
        legend(list(classes), classes, numbered=part.fitted),
        class_=" ".join(["curve", *(name for name, is_set in states.items() if is_set)]),
        role="img",
        aria_label=f"{part.title}; see the table below for the numbers",
    )


def _curve_positions(xs: Sequence[float], *, logarithmic: bool) -> dict[float, float]:
    """Return positions in percent, on a linear or a logarithmic scale."""
    low, high = min(xs), max(xs)
    if low == high:
        return dict.fromkeys(xs, 50.0)
    if logarithmic:
        return {x: 100 * log(x / low) / log(high / low) for x in xs}
    return {x: 100 * (x - low) / (high - low) for x in xs}


def _curve_line(
    points: Sequence[tuple[float, Estimate]], y: Axis, *, class_: str, data_series: str | None
) -> Html:
    def join_points(ends: Iterable[tuple[float, float]]) -> str:
        return " ".join(f"{x:.3f},{100 - y.place(end):.3f}" for x, end in ends)

    line = join_points((x, estimate.value) for x, estimate in points)
    bounded = [(x, estimate) for x, estimate in points if not isnan(estimate.low)]
    upper = [(x, estimate.high) for x, estimate in bounded]
    lower = [(x, estimate.low) for x, estimate in reversed(bounded)]
    return element(
        "g",
        element("polygon", points=join_points(upper + lower), class_="band"),
        element("polyline", points=line, class_="line"),
        element("polyline", points=line, class_="reach") if data_series else None,
        class_=class_,
        data_series=data_series,
    )


def _end_labels(part: Curve, y: Axis, classes: Colours) -> Html | None:
    """Return the names of series next to the ends of their lines, or None if they do not fit."""
    ends = {name: e.value for _, row in part.points for name, e in row.items() if isfinite(e.value)}
    gap = COMPACT_LABEL_GAP if part.compact else LABEL_GAP
    widest = max(ends, key=len, default="")  # reserves the width of the column
    if not ends or (len(ends) - 1) * gap > 100 or len(widest) > MAX_LABEL_LETTERS:
        return None
    heights = [y.place(x) for x in ends.values()]
    places = spread_labels(heights, gap)
    leaders = [
        element("line", x1=0, x2=100, y1=100 - height, y2=100 - place)
        for height, place in zip(heights, places, strict=True)
    ]
    names = list(classes)
    labels = [
        legend_key(
            name,
            class_=f"key {classes[name]}",
            style=f"bottom:{place:.3f}%",
            title=name,
            data_series=str(names.index(name)),
        )
        for name, place in zip(ends, places, strict=True)
    ]
    svg = element("svg", *leaders, viewBox="0 0 100 100", preserveAspectRatio="none")
    return element("div", svg, *labels, class_="ends", data_widest=widest, aria_hidden="true")


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
