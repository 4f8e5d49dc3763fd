"""Plots of intervals, curves and value spreads, with axes and ticks."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, isfinite, isnan, log, log10, nan
from statistics import median

from earwitness.core import Estimate, Value
from earwitness.report.html.elements import Html, breakable, element, join_elements
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

# --- Axes and ticks ------------------------------------------------------------------------------


TICK_COUNT = 5
CLOSE_TICK_COUNT = 7  # of axes that end close to the data
AXIS_MARGIN = 0.04  # beyond the numbers, as a share of their range
TIME_STEPS_SECONDS = [
    1,
    2,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    7200,
    14400,
    21600,
    43200,
    86400,
]


@dataclass(frozen=True, slots=True)
class Axis:
    """Axis from low to high with ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def place(self, x: float) -> float:
        """Return the position in percent, limited to the axis."""
        share = (x - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, share)), 3)


def fit_axis(numbers: Iterable[float], value: Value | None = None) -> Axis:
    """Return an axis that covers the numbers; shares go from 0 to 1, scales from end to end.

    >>> fit_axis([0.2, 3.1]).ticks
    (0.0, 1.0, 2.0, 3.0, 4.0)
    """
    if value is not None and (value.low, value.high) == (0, 1):
        return Axis(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0))
    if value is not None and value.high != 1 and isfinite(value.high - value.low):
        return _scale_axis(value.low, value.high)
    finite = [x for x in numbers if isfinite(x)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    if value is not None and (value.low == 0 or value.high == 1):
        low = min(low, 0.0)
    if value is not None and value.high == 1:
        high = 1.0  # the same end for all plots of the value
    if low == high:
        low, high = low - 0.5, high + 0.5
    step = _round_step((high - low) / (TICK_COUNT - 1))
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    ticks = tuple(round(i * step, 10) for i in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], ticks)


def maximum_axis(maximum: float) -> Axis:
    """Return an axis from 0 to beyond a maximum, which has the last tick.

    >>> maximum_axis(1.0)
    Axis(low=0.0, high=1.1, ticks=(0.0, 0.25, 0.5, 0.75, 1.0))
    """
    return Axis(0.0, round(1.1 * maximum, 10), tuple(maximum * n / 4 for n in range(5)))


def close_axis(numbers: Iterable[float]) -> Axis:
    """Return an axis that ends close to the smallest and the largest number, between ticks.

    >>> close_axis([0.31, 0.72]).ticks
    (0.3, 0.4, 0.5, 0.6, 0.7)
    """
    finite = [x for x in numbers if isfinite(x)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if low == high:
        return fit_axis([low])
    margin = AXIS_MARGIN * (high - low)
    step = _round_step((high - low) / CLOSE_TICK_COUNT)
    first, last = ceil((low - margin) / step), floor((high + margin) / step)
    ticks = tuple(round(i * step, 10) + 0.0 for i in range(first, last + 1))
    return Axis(low - margin, high + margin, ticks)


def _scale_axis(low: float, high: float) -> Axis:
    """Return an axis over a whole scale, with round ticks that include its ends.

    >>> _scale_axis(0, 100).ticks
    (0.0, 20.0, 40.0, 60.0, 80.0, 100.0)
    """
    width = high - low
    power = 10.0 ** floor(log10(width))
    steps = [multiple * power for multiple in (0.1, 0.2, 0.5, 1, 2, 5)]
    counts = [
        round(width / step) for step in steps if abs(width / step - round(width / step)) < 1e-9
    ]
    count = min(counts or [TICK_COUNT - 1], key=lambda n: abs(n - TICK_COUNT))
    return Axis(
        low, high, tuple(round(low + width * i / count, 10) + 0.0 for i in range(count + 1))
    )


def time_axis(duration: float) -> Axis:
    """Return a time axis with round ticks."""
    high = duration or 1.0
    days = [86400.0 * 10**n for n in range(1, 6)]
    step = next(
        (
            candidate
            for candidate in [*TIME_STEPS_SECONDS, *days]
            if high / candidate <= 2 * TICK_COUNT
        ),
        high,
    )
    ticks = tuple(float(step * i) for i in range(int(high / step) + 1))
    return Axis(0.0, high, ticks)


def _round_step(raw: float) -> float:
    """Return the smallest round number not below ``raw``: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(raw))
    return next(
        multiple * power for multiple in (1, 2, 5, 10) if multiple * power >= raw * (1 - 1e-9)
    )


# --- Interval, spread and curve plots ------------------------------------------------------------


DENSE_ABOVE_ROWS = 20  # plots with more rows have lower rows
MAX_OPEN_ROWS = 24  # further rows of a plot are folded
MIN_FOLDED_ROWS = 3  # fewer rows are not worth a click
EDGE_PERCENT = 3  # labels closer to an end (in percent) are moved inside
# the axis is logarithmic if the largest number exceeds the smallest by more than this factor
LOG_SCALE_ABOVE_RATIO = 8
MAX_MARKED_POINTS = 12  # with more points per line, only those at ticks have marks
MAX_BANDS = 3  # with more lines, bands are pale until a line is pointed at
MIN_TICK_STEPS = 0.5  # between the ends of an axis and the next tick
LABEL_GAP, COMPACT_LABEL_GAP = 5.5, 8.0  # between labels of lines, in percent of the height
MAX_LABEL_LETTERS = 24  # longer names are in the legend
HUMAN_CLASSES = "people k2 d0"  # of the series that is the work of people
Colours = Mapping[str, str]  # CSS classes by series: colour, marker shape and line style


def plot_svg(*children: Html | None, box: str = "0 0 100 100") -> Html:
    """Return a drawing that fills its box; its numbers are percent by default."""
    return element("svg", *children, viewBox=box, preserveAspectRatio="none", aria_hidden="true")


def row_figure(number: str, remark: str = "") -> Html:
    """Return the last column of a row: a number, and a remark in smaller type."""
    small = element("small", remark) if remark else None
    return element("span", element("b", number), small, class_="figure")


def horizontal_lines(heights: Iterable[float], class_: str | None = None) -> list[Html]:
    """Return lines across a drawing, at heights from its top."""
    return [element("line", x1=0, x2=100, y1=y, y2=y, class_=class_) for y in heights]


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
    estimates = [estimate for _, row in part.rows for estimate in row.values()]
    marked = [] if part.marked is None else [part.marked]
    axis = fit_axis([*finite_numbers(estimates), *marked], None if marked else part.value)
    counts = [len(row) for _, row in part.rows]
    shown = _open_count(counts, open_rows)
    blocks = [_interval_block(name, row, part, axis, colours) for name, row in part.rows]
    foot = [tick_row(axis), label or label_row(pointed_label(part.value))]
    dense = " dense" * (len(part.rows) > DENSE_ABOVE_ROWS and part.marked is None)
    classes = f"plot{dense}{' pairs' * (part.marked is not None)}"
    plot = element("div", *map(join_elements, blocks[:shown]), *foot, class_=classes)
    if shown == len(blocks):
        return plot
    folded = element("div", *map(join_elements, blocks[shown:]), *foot, class_=classes)
    summary = element("summary", f"Show {sum(counts[shown:]):,} more {rest}")
    return join_elements([plot, element("details", summary, folded)])


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
    marks, lines = [], grid_lines(axis)
    if part.marked is not None:
        lines.append(element("i", class_="marked", style=f"left:{axis.place(part.marked)}%"))
    if not isnan(estimate.low):
        left, right = axis.place(estimate.low), axis.place(estimate.high)
        marks.append(
            element("span", class_="whisker", style=f"left:{left}%;width:{right - left:.3f}%")
        )
    if isfinite(estimate.value):
        marks.append(element("span", class_="dot", style=f"left:{axis.place(estimate.value)}%"))
    label = f"{name}: {cell(estimate, part.value)}, n = {estimate.n:,}"
    return element(
        "div",
        element("span", *_row_name(name, part), class_="name"),
        element("span", *lines, *marks, class_="track", role="img", aria_label=label),
        row_figure(
            number(estimate.value, part.value),
            f"{interval(estimate, part.value)} {count_text(estimate)}",
        ),
        class_=f"row {colour}",
        title=label,
    )


def _row_name(name: str, part: Intervals) -> list[Html]:
    """Return the name of a row; names of pairs break between both systems if possible."""
    first, minus, second = name.partition(" − ")
    if part.marked is None or not minus:
        return [breakable(name)]
    pair = element("span", breakable(f"{first} −")), element("span", breakable(second))
    return [pair[0], Html(" "), pair[1]]


def grid_lines(axis: Axis) -> list[Html]:
    """Return one line per tick."""
    return [element("i", style=f"left:{axis.place(tick)}%") for tick in axis.ticks]


def tick_row(axis: Axis) -> Html:
    """Return the ticks below a plot of rows."""
    return scale_row(axis, short_number)


def scale_row(axis: Axis, text: Callable[[float], str]) -> Html:
    """Return a row with the text of each tick."""
    marks = [tick_mark(text(tick), axis.place(tick)) for tick in axis.ticks]
    track = element("span", *marks, class_="track")
    ends = element("span", class_="name"), element("span", class_="figure")
    return element("div", ends[0], track, ends[1], class_="row scale", aria_hidden="true")


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


def tick_mark(text: str, place: float) -> Html:
    """Return the label of a tick; labels at the ends are moved inside."""
    side = "first" if place < EDGE_PERCENT else "last" if place > 100 - EDGE_PERCENT else None
    return element("span", text, class_=side, style=f"left:{place}%")


def spread_plot(part: ValueSpread, colours: Colours) -> Html:
    """Return one row per series: a histogram of its values, and the median."""
    axis = fit_axis([x for values in part.series.values() for x in values], part.value)
    counts = {name: _bin_counts(values, axis, part.bins) for name, values in part.series.items()}
    rows = [
        _spread_row(name, values, counts[name], part, axis, colours[name])
        for name, values in part.series.items()
    ]
    heights = f"bar heights: number of {part.unit}, with a separate scale in each row"
    return element(
        "div",
        *rows,
        tick_row(axis),
        label_row(pointed_label(part.value)),
        label_row(heights),
        class_="plot spread",
    )


def _bin_counts(values: Sequence[float], axis: Axis, count: int) -> list[int]:
    bins = [0] * count
    for x in values:
        bins[min(count - 1, int(axis.place(x) / 100 * count))] += 1
    return bins


def _spread_row(
    name: str,
    values: Sequence[float],
    bins: Sequence[int],
    part: ValueSpread,
    axis: Axis,
    colour: str,
) -> Html:
    highest = max(bins)  # rows are scaled separately: shapes are compared, not counts
    bars = [
        element("rect", x=i + 0.05, y=1 - count / highest, width=0.9, height=count / highest)
        for i, count in enumerate(bins)
        if count
    ]
    drawing = plot_svg(*bars, box=f"0 0 {len(bins)} 1")
    middle = median(values) if values else nan
    label = f"{name}: {len(values):,} {part.unit}, median {number(middle, part.value)}"
    mark = element("span", class_="median", style=f"left:{axis.place(middle)}%") if values else None
    return element(
        "div",
        element("span", breakable(name), class_="name"),
        element(
            "span", *grid_lines(axis), drawing, mark, class_="track", role="img", aria_label=label
        ),
        row_figure(number(middle, part.value), "median"),
        class_=f"row {colour}",
        title=label,
    )


def curve_plot(part: Curve, colours: Colours) -> Html:
    """Return lines with bands for their intervals.

    Series that are not among the series of the report get colours of their own.
    """
    classes = {name: colours.get(name, series_classes(i)) for i, name in enumerate(part.series)}
    estimates = (estimate for _, row in part.points for estimate in row.values())
    y = close_axis(part.covered) if part.fitted else fit_axis(finite_numbers(estimates), part.value)
    xs = [x for x, _ in part.points]
    ticks = count_ticks(min(xs), max(xs)) if part.fitted else xs
    is_log = not part.fitted and is_logarithmic(xs)
    places = _curve_positions([*xs, *ticks], logarithmic=is_log)
    lines = [_curve_line(name, i, part, y, places, classes[name]) for i, name in enumerate(classes)]
    svg = plot_svg(*horizontal_lines((100 - y.place(tick) for tick in y.ticks), "grid"), *lines)
    across = [
        element("span", short_number(x), style=f"left:{places[x]:.3f}%")
        for x in dict.fromkeys(ticks)
    ]
    up = [element("span", short_number(tick), style=f"bottom:{y.place(tick)}%") for tick in y.ticks]
    # the parameter is on the other axis, so it is left out of the name
    value = replace(part.value, name=part.value.name.partition("@")[0])
    marked = {*ticks} if part.fitted and len(xs) > MAX_MARKED_POINTS else {*xs}
    ends = _end_labels(part, y, classes) if part.fitted else None
    return element(
        "div",
        element("div", breakable(axis_label(value)), class_="label up"),
        element("div", *up, class_="y", aria_hidden="true"),
        element("div", svg, *_curve_dots(part, y, places, classes, marked), class_="area"),
        ends,
        element("div", *across, class_="x", aria_hidden="true"),
        element(
            "div",
            breakable(label_with_unit(part.parameter, part.unit) + ", logarithmic" * is_log),
            class_="label",
        ),
        legend(part.series, classes, numbered=part.fitted),
        class_=_curve_classes(part, has_ends=ends is not None),
        role="img",
        aria_label=f"{part.title}; see the table below for the numbers",
    )


def _curve_classes(part: Curve, *, has_ends: bool) -> str:
    is_crowded = part.fitted and len(part.series) > MAX_BANDS
    names = {"fitted": part.fitted, "many": is_crowded, "ended": has_ends}
    return " ".join(["curve", *(name for name, is_set in names.items() if is_set)])


def is_logarithmic(xs: Sequence[float]) -> bool:
    """Return whether the range is so wide that the axis is logarithmic."""
    return min(xs) > 0 and max(xs) / min(xs) > LOG_SCALE_ABOVE_RATIO


def _curve_positions(xs: Sequence[float], *, logarithmic: bool) -> dict[float, float]:
    """Return positions in percent, on a linear or a logarithmic scale."""
    low, high = min(xs), max(xs)
    if low == high:
        return dict.fromkeys(xs, 50.0)
    if logarithmic:
        return {x: 100 * log(x / low) / log(high / low) for x in xs}
    return {x: 100 * (x - low) / (high - low) for x in xs}


def count_ticks(low: float, high: float) -> list[float]:
    """Return ticks of an axis of counts: both ends, and round numbers that are not close to them.

    >>> count_ticks(1, 25), count_ticks(1, 9)
    ([1, 5, 10, 15, 20, 25], [1, 2, 4, 6, 8, 9])
    """
    if low == high:
        return [low]
    step = max(1.0, _round_step((high - low) / (CLOSE_TICK_COUNT - 1)))
    rounds = (i * step for i in range(ceil(low / step), floor(high / step) + 1))
    inner = [x for x in rounds if min(x - low, high - x) >= MIN_TICK_STEPS * step]
    return [low, *(int(x) if x == int(x) else x for x in inner), high]


def _curve_line(
    name: str, index: int, part: Curve, y: Axis, places: Mapping[float, float], colour: str
) -> Html:
    known = [(places[x], row[name]) for x, row in part.points if name in row]
    points = [(x, estimate) for x, estimate in known if not isnan(estimate.value)]
    line = " ".join(f"{x:.3f},{100 - y.place(estimate.value):.3f}" for x, estimate in points)
    bounded = [(x, estimate) for x, estimate in points if not isnan(estimate.low)]
    upper = [f"{x:.3f},{100 - y.place(estimate.high):.3f}" for x, estimate in bounded]
    lower = [f"{x:.3f},{100 - y.place(estimate.low):.3f}" for x, estimate in reversed(bounded)]
    return element(
        "g",
        element("polygon", points=" ".join(upper + lower), class_="band"),
        element("polyline", points=line, class_="line"),
        element("polyline", points=line, class_="reach") if part.fitted else None,
        class_=colour,
        data_series=str(index) if part.fitted else None,
    )


def _curve_dots(
    part: Curve,
    y: Axis,
    places: Mapping[float, float],
    classes: Colours,
    marked: Container[float],
) -> list[Html]:
    """Return the marks of all points; those that are not marked only have a title."""
    numbers = {name: str(i) if part.fitted else None for i, name in enumerate(classes)}
    return [
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
        element(
            "span",
            element("i"),
            element("span", name),
            class_=f"key {classes[name]}",
            style=f"bottom:{place:.3f}%",
            title=name,
            data_series=str(names.index(name)),
        )
        for name, place in zip(ends, places, strict=True)
    ]
    svg = element("svg", *leaders, viewBox="0 0 100 100", preserveAspectRatio="none")
    return element("div", svg, *labels, class_="ends", data_widest=widest, aria_hidden="true")


def finite_numbers(estimates: Iterable[Estimate]) -> list[float]:
    """Return estimates and the ends of their intervals, as far as defined."""
    numbers = [x for estimate in estimates for x in (estimate.value, estimate.low, estimate.high)]
    return [x for x in numbers if isfinite(x)]


def spread_labels(places: Sequence[float], gap: float, end: float = 100.0) -> list[float]:
    """Return places from 0 to the end, near the given ones and in their order, a gap apart.

    >>> spread_labels([50, 52, 10], 6)
    [48.0, 54.0, 10.0]
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    blocks: list[tuple[float, int]] = []  # sum and number of the places that move together
    for rank, i in enumerate(order):
        total, count = places[i] - rank * gap, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            before, size = blocks.pop()
            total, count = total + before, count + size
        blocks.append((total, count))
    starts = [total / count for total, count in blocks for _ in range(count)]
    highest = end - gap * (len(places) - 1)
    spread = {
        i: min(max(start, 0.0), highest) + rank * gap
        for rank, (i, start) in enumerate(zip(order, starts, strict=True))
    }
    return [spread[i] for i in range(len(places))]


SERIES_COLORS = 8  # and as many marker shapes
LINE_STYLES = 3


def series_classes(index: int) -> str:
    """Return classes for the colour, marker shape and line style of a series.

    Shape and line style together are different for 24 series, so that no colour is needed.
    """
    block, colour = divmod(index, SERIES_COLORS)
    shape = (colour + block) % SERIES_COLORS
    return f"s{colour} k{shape} d{(shape + block) % LINE_STYLES}"


def legend(names: Sequence[str], colours: Colours, *, numbered: bool = False) -> Html:
    """Return the legend: the marker of each series; keys have the number of theirs on demand."""
    keys = (
        element(
            "span",
            element("i"),
            element("span", breakable(name)),
            class_=f"key {colours[name]}",
            data_series=str(i) if numbered else None,
        )
        for i, name in enumerate(names)
    )
    return element("div", *keys, class_="legend")
