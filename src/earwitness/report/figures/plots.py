"""Figures with one plot: intervals, curves, distributions, bars and timelines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, isfinite, isnan, log
from statistics import median
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import ScaledTranslation

from earwitness.core import Estimate
from earwitness.report.figures.style import (
    COLOURS,
    COLUMN_WIDTH,
    GREY,
    HATCHES,
    INK,
    LINE_HEIGHT,
    PAGE_WIDTH,
    PALE_GREY,
    SMALL_SIZE,
    TWO_COLUMN_LABEL,
    Handles,
    SeriesStyle,
    SeriesStyles,
    add_legend,
    add_note,
    axis_label,
    clip,
    fit_height,
    new_figure,
    row_height,
    set_rows,
    set_scale,
    signed,
    spaced_ticks,
    text_colour,
    text_width,
    wrap,
    wrap_labels,
)
from earwitness.report.html.bars import SCALE_END_LABELS
from earwitness.report.html.plots import (
    MAX_BANDS,
    MAX_MARKED_POINTS,
    Axis,
    close_axis,
    count_ticks,
    finite_numbers,
    fit_axis,
    is_logarithmic,
    spread_labels,
    time_axis,
)
from earwitness.report.numbers import clock, label_with_unit, number
from earwitness.report.parts import (
    PEOPLE_SERIES,
    CategoryShares,
    Curve,
    Intervals,
    Matrix,
    Timeline,
    ValueSpread,
    VoteCounts,
)
from earwitness.report.tables import boundary_kind

# --- Intervals and differences -------------------------------------------------------------------


GROUPED_ROW_HEIGHT, GROUP_GAP = 0.11, 0.9  # the gap in rows
SIGNIFICANT = SeriesStyle(INK, "o")
NOT_SIGNIFICANT = SeriesStyle(INK, "o", is_hollow=True)


def draw_intervals(
    part: Intervals, styles: SeriesStyles, label: str = "", handles: Handles | None = None
) -> Figure:
    """Draw one row per estimate; rows of several series are groups, with a legend."""
    is_grouped = any(len(row) > 1 for _, row in part.rows)
    gap = GROUP_GAP if is_grouped else 0.0
    numbers = finite_numbers(estimate for _, row in part.rows for estimate in row.values())
    axis = fit_axis(numbers, part.value)
    if part.marked is not None:
        axis = fit_axis([*numbers, part.marked])
    width, labels = wrap_labels([name for name, _ in part.rows])
    figure = new_figure(width)
    axes = figure.subplots()
    top, places = 0.0, []
    for _, row in part.rows:
        size = max(1, len(row))
        places.append(top + (size - 1) / 2)
        for y, (series, estimate) in enumerate(row.items()):
            _draw_estimate(axes, estimate, top + y, styles[series], axis)
        top += size + gap
        if is_grouped:
            axes.axhline(top - (1 + gap) / 2, color=PALE_GREY, linewidth=0.5)
    set_scale(axes, "x", axis)
    set_rows(axes, places, labels, top - gap - 0.5)
    axes.set_xlabel(label or axis_label(part.value))
    axes.set_ylabel(part.heading)
    if part.marked is not None:
        axes.axvline(part.marked, color=INK, linewidth=0.6, linestyle=(0, (3, 2)))
    if is_grouped:
        series_names = dict.fromkeys(name for _, row in part.rows for name in row)
        handles = {name: styles[name].handle(linestyle="-") for name in series_names}
    if handles:
        add_legend(figure, handles)
    height = GROUPED_ROW_HEIGHT if is_grouped else row_height(labels)
    return fit_height(figure, (top - gap) * height)


def _draw_estimate(
    axes: Axes, estimate: Estimate, y: float, style: SeriesStyle, axis: Axis
) -> None:
    """Draw a dot with its interval, as far as it is defined and within the axis."""
    if isnan(estimate.value):
        add_note(axes, "undefined", (axis.low, y), (3, 0))
        return
    if not isnan(estimate.low) and not isnan(estimate.high):
        ends = [clip(estimate.low, axis), clip(estimate.high, axis)]
        axes.plot(ends, [y, y], color=style.colour, solid_capstyle="butt", zorder=2)
    if isfinite(estimate.value):
        axes.plot([clip(estimate.value, axis)], [y], clip_on=False, zorder=3, **style.mark)


def draw_differences(part: Matrix) -> Figure:
    """Draw all differences; those that are not significant are hollow."""
    labels = [f"{contrast.a} − {contrast.b}" for contrast in part.contrasts]
    styles, rows = SeriesStyles(()), []
    for label, contrast in zip(labels, part.contrasts, strict=True):
        styles[label] = SIGNIFICANT if contrast.better else NOT_SIGNIFICANT
        rows.append((label, {label: contrast.difference}))
    drawn = Intervals(part.title, part.value, "", tuple(rows), marked=0.0)
    looks = {"significant": SIGNIFICANT, "not significant": NOT_SIGNIFICANT}
    handles = {name: look.handle() for name, look in looks.items() if look in styles.values()}
    return draw_intervals(drawn, styles, f"difference in {axis_label(part.value)}", handles)


# --- Curves and distributions --------------------------------------------------------------------


CURVE_HEIGHT, WIDE_CURVE_HEIGHT = 2.1, 2.8
CURVE_MARK_LENGTH = 3.2  # in a legend, to show the line style
MAX_CURVES_IN_COLUMN = 6  # more are drawn over two columns
FAINT_BAND = 0.07  # opacity where more bands overlap
HUMAN_LINE_WIDTH = 2.0  # in points
MAX_END_WIDTH = 1.4  # widest name next to the end of a line
INTERVAL_SHIFT = 1.8  # between these, in points
HISTOGRAM_HEIGHT = 0.8  # of the highest bar, in rows
UPRIGHT_MARK: dict[str, Any] = {
    "marker": "|",
    "linestyle": "",
    "markersize": 8,
    "markeredgewidth": 1.2,
}


def draw_curve(part: Curve, styles: SeriesStyles) -> Figure:
    """Draw lines with bands for their intervals; with many series, each interval is a line."""
    if part.fitted:
        return _draw_fitted_curve(part, styles)
    names = part.series
    axis = fit_axis(finite_numbers(e for _, row in part.points for e in row.values()), part.value)
    xs = [x for x, _ in part.points]
    is_log = is_logarithmic(xs)
    is_wide = len(names) > MAX_CURVES_IN_COLUMN
    figure = new_figure(PAGE_WIDTH if is_wide else COLUMN_WIDTH)
    axes = figure.subplots()
    set_scale(axes, "y", axis)
    axes.set_xscale("log" if is_log else "linear")
    low, high = (log(min(xs)), log(max(xs))) if is_log else (min(xs), max(xs))
    margin = 0.05 * (high - low) or 0.5
    axes.set_xlim(*(exp(x) if is_log else x for x in (low - margin, high + margin)))
    places = {x: ((log(x) if is_log else x) - low + margin) / (high - low + 2 * margin) for x in xs}
    ticks = spaced_ticks(places, figure.get_figwidth() * (0.65 if is_wide else 0.8))
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.minorticks_off()
    for index, name in enumerate(names):
        shift = (index - (len(names) - 1) / 2) * INTERVAL_SHIFT
        moved = ScaledTranslation(shift / 72, 0, figure.dpi_scale_trans)
        known = [(x, row[name]) for x, row in part.points if name in row]
        _draw_line(axes, known, styles[name], axis, moved if len(names) > MAX_BANDS else None)
    axes.set_xlabel(label_with_unit(part.parameter, part.unit))
    axes.set_ylabel(axis_label(part.value))
    handles = {name: styles[name].handle() for name in names}
    if is_wide:
        wrapped = [wrap(name, TWO_COLUMN_LABEL / 2) for name in names]
        keys: dict[str, Any] = {"loc": "outside right upper", "handlelength": CURVE_MARK_LENGTH}
        figure.legend(handles.values(), wrapped, **keys)
        return fit_height(figure, max(WIDE_CURVE_HEIGHT, len(names) * 0.16))
    add_legend(figure, handles, length=CURVE_MARK_LENGTH)
    return fit_height(figure, CURVE_HEIGHT)


def _draw_line(
    axes: Axes,
    points: Sequence[tuple[float, Estimate]],
    style: SeriesStyle,
    axis: Axis,
    moved: ScaledTranslation | None,
) -> None:
    """Draw the defined points of a series, and their intervals."""
    known = [(x, e) for x, e in points if isfinite(e.value)]
    bounded = [(x, clip(e.low, axis), clip(e.high, axis)) for x, e in known if not isnan(e.low)]
    place = axes.transData if moved is None else axes.transData + moved
    settings: dict[str, Any] = {"color": style.colour, "transform": place}
    xs, lows, highs = ([row[column] for row in bounded] for column in range(3))
    if bounded and moved is None:
        axes.fill_between(xs, lows, highs, alpha=0.18, linewidth=0, **settings)
    elif bounded:
        axes.vlines(xs, lows, highs, linewidth=0.7, alpha=0.6, **settings)
    line = [clip(e.value, axis) for _, e in known]
    settings |= {"marker": style.marker, "linestyle": style.line, "markersize": 3.5}
    axes.plot([x for x, _ in known], line, clip_on=False, zorder=3, **settings)


def _draw_fitted_curve(part: Curve, styles: SeriesStyles) -> Figure:
    """Draw lines on linear axes that cover the data, with names at their ends if these fit."""
    local = SeriesStyles(part.series)
    looks = {name: styles[name] if name in styles else local[name] for name in part.series}
    axis = close_axis(part.covered)
    xs = [x for x, _ in part.points]
    ticks = count_ticks(min(xs), max(xs))
    lines = {
        name: [
            (x, row[name]) for x, row in part.points if name in row and isfinite(row[name].value)
        ]
        for name in part.series
    }
    ends = {name: points[-1] for name, points in lines.items() if points}
    height = WIDE_CURVE_HEIGHT if len(ends) > MAX_CURVES_IN_COLUMN else CURVE_HEIGHT
    gap = LINE_HEIGHT / height
    is_labelled = (len(ends) - 1) * gap <= 1 and max(
        map(text_width, ends), default=0
    ) <= MAX_END_WIDTH
    figure = new_figure(PAGE_WIDTH if len(ends) > MAX_CURVES_IN_COLUMN else COLUMN_WIDTH)
    axes = figure.subplots()
    set_scale(axes, "y", axis)
    margin = 0.02 * (max(xs) - min(xs)) or 0.5
    axes.set_xlim(min(xs) - margin, max(xs) + margin)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    marked = {*ticks} if len(xs) > MAX_MARKED_POINTS else {*xs}
    for name, points in lines.items():
        look, width = looks[name], HUMAN_LINE_WIDTH if name == styles.human else 1.1
        bounded = [(x, e.low, e.high) for x, e in points if not isnan(e.low)]
        if bounded:
            alpha = FAINT_BAND if len(lines) > MAX_BANDS else 0.18
            places, lows, highs = ([row[column] for row in bounded] for column in range(3))
            axes.fill_between(places, lows, highs, alpha=alpha, linewidth=0, color=look.colour)
        shown = [i for i, (x, _) in enumerate(points) if x in marked]
        place = [x for x, _ in points], [e.value for _, e in points]
        settings: dict[str, Any] = {**look.mark, "linestyle": look.line, "markevery": shown}
        settings |= {"markersize": 3.5, "linewidth": width, "clip_on": False, "zorder": 3}
        axes.plot(*place, **settings)
    axes.set_xlabel(label_with_unit(part.parameter, part.unit))
    axes.set_ylabel(axis_label(part.value))
    if part.note:
        axes.set_title(part.note, loc="left", fontsize=SMALL_SIZE, color=GREY)
    if is_labelled:
        _label_ends(axes, ends, axis, gap)
    else:
        add_legend(figure, {name: look.handle() for name, look in looks.items()}, length=3.2)
    return fit_height(figure, height)


def _label_ends(
    axes: Axes, ends: Mapping[str, tuple[float, Estimate]], axis: Axis, gap: float
) -> None:
    """Write the names of series next to the ends of their lines, without overlaps."""
    heights = [axis.place(estimate.value) / 100 for _, estimate in ends.values()]
    for place, (name, (x, e)) in zip(spread_labels(heights, gap, 1.0), ends.items(), strict=True):
        leader = {"arrowstyle": "-", "color": GREY, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 3}
        axes.annotate(
            name,
            (x, e.value),
            xytext=(1.03, place),
            textcoords="axes fraction",
            va="center",
            fontsize=SMALL_SIZE,
            arrowprops={**leader, "relpos": (0, 0.5)},
            annotation_clip=False,
        )


def draw_spread(part: ValueSpread, styles: SeriesStyles) -> Figure:
    """Draw one histogram per series, each scaled to its highest bar, and the medians."""
    series = {name: [x for x in xs if not isnan(x)] for name, xs in part.series.items()}
    axis = fit_axis([x for xs in series.values() for x in xs], part.value)
    width, labels = wrap_labels(list(series))
    figure = new_figure(width)
    axes = figure.subplots()
    edges = [axis.low + i * (axis.high - axis.low) / part.bins for i in range(part.bins + 1)]
    for row, (name, values) in enumerate(series.items()):
        base = row + HISTOGRAM_HEIGHT / 2
        counts = [0] * part.bins
        for x in values:
            share = (clip(x, axis) - axis.low) / (axis.high - axis.low)
            counts[min(part.bins - 1, int(share * part.bins))] += 1
        heights = [base - HISTOGRAM_HEIGHT * count / max(1, *counts) for count in counts]
        axes.stairs(heights, edges, baseline=base, fill=True, color=styles[name].colour, alpha=0.6)
        axes.hlines(base, axis.low, axis.high, color=GREY, linewidth=0.5)
        if values:
            middle = clip(median(values), axis)
            axes.vlines(middle, base - HISTOGRAM_HEIGHT - 0.08, base + 0.08, color=INK)
        else:
            add_note(axes, "undefined", (axis.low, row), (3, 0))
    set_scale(axes, "x", axis)
    set_rows(axes, range(len(labels)), labels, len(labels) - 0.5)
    axes.set_xlabel(axis_label(part.value))
    add_legend(figure, {"median": Line2D([], [], color=INK, **UPRIGHT_MARK)}, length=0.6)
    return fit_height(figure, len(labels) * row_height(labels, 0.34))


# --- Bars ----------------------------------------------------------------------------------------


BAR_HEIGHT = 0.72  # in rows
LABEL_MARGIN = 0.03  # of a number in a bar


def draw_votes(part: VoteCounts) -> Figure:
    """Draw one bar per system, from dark for the worst value to light for the best."""
    values = list(part.rows[0][1])
    shades = [i / max(1, len(values) - 1) for i in range(len(values))]
    colours = matplotlib.colormaps["cividis"](shades[::-1] if part.value.best == "low" else shades)
    first, last = SCALE_END_LABELS[part.value.best]
    ends = {values[0]: f" ({first})", values[-1]: f" ({last})"}
    keys = [signed(f"{x:g}") + ends.get(x, "") for x in values]
    fills = [{"facecolor": colour} for colour in colours]
    rows = [(name, [counts.get(x, 0) for x in values]) for name, counts in part.rows]
    return _draw_bars(rows, dict(zip(keys, fills, strict=True)), "votes (%)", part.value.name)


def draw_categories(part: CategoryShares) -> Figure:
    """Draw one bar per row, with the count of each category."""
    categories = list(part.rows[0][1])
    fills = {
        name: {
            "facecolor": COLOURS[i % (len(COLOURS) - 1)],
            "hatch": HATCHES[i % len(HATCHES)],
        }
        for i, name in enumerate(categories)
    }
    rows = [(name, [counts[one] for one in categories]) for name, counts in part.rows]
    return _draw_bars(rows, fills, "share (%)", None)


def _draw_bars(
    rows: Sequence[tuple[str, Sequence[float]]],
    fills: Mapping[str, Mapping[str, Any]],
    label: str,
    title: str | None,
) -> Figure:
    """Draw bars of 100 %; numbers in them are percentages, or counts if bars have hatches."""
    width, labels = wrap_labels([name for name, _ in rows])
    figure = new_figure(width)
    axes = figure.subplots()
    room = width - max(map(text_width, labels)) - 0.25
    for y, (_, counts) in enumerate(rows):
        left, total = 0.0, sum(counts) or 1
        for count, fill in zip(counts, fills.values(), strict=True):
            if not count:
                continue
            share = 100 * count / total
            axes.barh(y, share, BAR_HEIGHT, left, edgecolor="white", linewidth=0.6, **fill)
            has_hatches = "hatch" in fill
            text = f"{count:g}" if has_hatches else f"{share:.0f}"
            if share * room / 100 >= text_width(text) + LABEL_MARGIN:
                box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
                place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL_SIZE}
                colour = INK if has_hatches else text_colour(fill["facecolor"])
                bounds = box if has_hatches else None
                axes.text(left + share / 2, y, text, color=colour, bbox=bounds, **place)
            left += share
    set_scale(axes, "x", Axis(0.0, 100.0, (0.0, 25.0, 50.0, 75.0, 100.0)))
    set_rows(axes, range(len(rows)), labels, len(rows) - 0.5)
    axes.grid(visible=False)
    axes.set_xlabel(label)
    handles = {name: Patch(edgecolor="white", **fill) for name, fill in fills.items()}
    add_legend(figure, handles, title, length=1.0)
    return fit_height(figure, len(rows) * row_height(labels, 0.22))


# --- Timelines -----------------------------------------------------------------------------------


def draw_timeline(part: Timeline, styles: SeriesStyles) -> Figure:
    """Draw boundaries of annotators and systems as hits, false alarms and misses."""
    shown, axis = part.shown, time_axis(part.shown.duration)
    guides = sorted({time for times in shown.references.values() for time in times})
    names = [*shown.references, *shown.outputs]
    figure = new_figure(PAGE_WIDTH)
    axes = figure.subplots()
    inside = [time for time in guides if 0 < time < axis.high]
    axes.vlines(inside, -0.5, len(names) - 0.5, color=PALE_GREY, linewidth=0.5)
    for y, times in enumerate(shown.references.values()):
        _draw_hits(axes, times, y, styles[PEOPLE_SERIES].colour, axis.high)
    for y, system in enumerate(shown.outputs, len(shown.references)):
        matches, style = part.matching.systems[system], styles[system]
        matched = [*zip(shown.outputs[system], matches.matched, strict=True)]
        kinds = [(time, boundary_kind(who, len(shown.references))) for time, who in matched]
        hits = [time for time, kind in kinds if kind in ("hit", "partial")]
        _draw_hits(axes, hits, y, style.colour, axis.high)
        false_alarms = [time for time, kind in kinds if kind == "false" and 0 < time < axis.high]
        mark = style._replace(marker="o", is_hollow=True).mark
        axes.plot(false_alarms, [y] * len(false_alarms), linestyle="", zorder=3, **mark)
        missed = sorted({time for times in matches.missed.values() for time in times})
        axes.plot(missed, [y] * len(missed), color=INK, zorder=3, **MISS_MARK)
    labels = [wrap(name, TWO_COLUMN_LABEL / 2) for name in names]
    set_scale(axes, "x", axis, [clock(tick) for tick in axis.ticks])
    set_rows(axes, range(len(names)), labels, len(names) - 0.5)
    axes.grid(visible=False)
    axes.set_xlabel("time (h:min:s)" if shown.duration >= 3600 else "time (min:s)")
    if part.values:
        _add_values(axes, part, axis.high)
    hollow: dict[str, Any] = {"marker": "o", "linestyle": "", "markerfacecolor": "white"}
    handles = {
        f"hit within {part.matching.collar:g} s": Line2D([], [], color=INK, **UPRIGHT_MARK),
        "false alarm": Line2D([], [], color=INK, **hollow),
        "missed": Line2D([], [], color=INK, **MISS_MARK),
    }
    add_legend(figure, handles, length=0.8)
    return fit_height(figure, len(names) * row_height(labels, 0.19))


MISS_MARK: dict[str, Any] = {"marker": "x", "markersize": 3.5, "linestyle": ""}


def _draw_hits(axes: Axes, times: Sequence[float], y: int, colour: str, end: float) -> None:
    drawn = [time for time in times if 0 < time < end]
    axes.vlines(drawn, y - 0.36, y + 0.36, color=colour, linewidth=1.4)


def _add_values(axes: Axes, part: Timeline, end: float) -> None:
    """Write the first value of each system at the end of its row."""
    value, shown = part.values[0], part.shown
    texts = [signed(number(shown.values[name][value.name], value)) for name in shown.outputs]
    reach = 6 + 72 * max(map(text_width, texts), default=0.0)
    look: dict[str, Any] = {"color": INK, "fontsize": SMALL_SIZE, "ha": "right"}
    add_note(axes, axis_label(value), (end, -1), (reach, 0), annotation_clip=False, **look)
    for y, text in enumerate(texts, len(shown.references)):
        add_note(axes, text, (end, y), (reach, 0), **look)
