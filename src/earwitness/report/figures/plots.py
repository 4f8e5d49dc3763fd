"""Figures with one plot: intervals, curves, distributions, bars and timelines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, isnan
from statistics import median
from typing import Any, cast

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import ScaledTranslation

from earwitness.core import Estimate, group_values
from earwitness.report.charts import (
    MAX_BANDS,
    PERCENT_AXIS,
    Axis,
    bin_counts,
    curve_frame,
    curve_value,
    difference_intervals,
    fit_axis,
    intervals_axis,
    marked_numbers,
    place_ends,
    time_axis,
    vote_labels,
)
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
    draw_dot,
    fit_height,
    new_axes,
    row_height,
    set_parameter,
    set_rows,
    set_scale,
    text_colour,
    text_width,
    wrap,
    wrap_labels,
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
from earwitness.report.tables import boundary_marks

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
    axis = intervals_axis(part)
    width, labels = wrap_labels([name for name, _ in part.rows])
    figure, axes = new_axes(width)
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
    set_rows(axes, labels, places, top - gap - 0.5)
    axes.set(xlabel=label or axis_label(part.value), ylabel=part.heading)
    if part.marked is not None:
        axes.axvline(part.marked, color=INK, linewidth=0.6, linestyle=(0, (3, 2)))
    if is_grouped:
        series_names = dict.fromkeys(name for _, row in part.rows for name in row)
        handles = styles.handles(series_names, linestyle="-")
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
        ends = [axis.clip(estimate.low), axis.clip(estimate.high)]
        axes.plot(ends, [y, y], color=style.colour, solid_capstyle="butt", zorder=2)
    if isfinite(estimate.value):
        draw_dot(axes, (axis.clip(estimate.value), y), style)


def draw_differences(part: Matrix) -> Figure:
    """Draw the differences of pairs; those that are not significant are hollow."""
    intervals, contrasts = difference_intervals(part)
    styles = SeriesStyles(())
    for label, contrast in contrasts.items():
        styles[label] = SIGNIFICANT if contrast.better else NOT_SIGNIFICANT
    looks = {"significant": SIGNIFICANT, "not significant": NOT_SIGNIFICANT}
    handles = {name: look.handle() for name, look in looks.items() if look in styles.values()}
    return draw_intervals(intervals, styles, f"difference in {axis_label(part.value)}", handles)


# --- Curves and distributions --------------------------------------------------------------------


CURVE_HEIGHT, WIDE_CURVE_HEIGHT = 2.1, 2.8
CURVE_MARK_LENGTH = 3.2  # in a legend, to show the line style
MAX_CURVES_IN_COLUMN = 6  # more are drawn over two columns
BAND, FAINT_BAND = 0.18, 0.07  # opacity; the second where more bands overlap
LINE_WIDTH, HUMAN_LINE_WIDTH = 1.1, 2.0  # in points
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
    """Draw lines with bands for their intervals; with many series, each interval is a line.

    Fitted curves have linear axes, bands, and names at the ends of lines if these fit.
    """
    lines = part.lines
    local = SeriesStyles(lines if part.fitted else ())
    looks = {name: styles[name] if name in styles else local[name] for name in lines}
    is_wide = len(lines) > MAX_CURVES_IN_COLUMN
    is_many = len(lines) > MAX_BANDS
    figure, axes = new_axes(PAGE_WIDTH if is_wide else COLUMN_WIDTH)
    across, axis = curve_frame(part)
    marked = marked_numbers(part, across)
    across = across.widen(0.02 if part.fitted else 0.05)
    set_parameter(axes, across, PAGE_WIDTH * 0.65 if is_wide else COLUMN_WIDTH * 0.8)
    set_scale(axes, "y", axis)
    for index, (name, points) in enumerate(lines.items()):
        band: dict[str, Any] = {"alpha": FAINT_BAND if is_many else BAND, "linewidth": 0}
        place, fill = axes.transData, cast(Any, axes.fill_between)
        if is_many and not part.fitted:
            shift = (index - (len(lines) - 1) / 2) * INTERVAL_SHIFT
            place += ScaledTranslation(shift / 72, 0, figure.dpi_scale_trans)
            band, fill = {"alpha": 0.6, "linewidth": 0.7}, axes.vlines
        bounded = [
            (x, *((e.low, e.high) if part.fitted else (axis.clip(e.low), axis.clip(e.high))))
            for x, e in points
            if not isnan(e.low)
        ]
        if bounded:
            fill(*zip(*bounded, strict=True), color=looks[name].colour, transform=place, **band)
        axes.plot(
            [x for x, _ in points],
            [axis.clip(estimate.value) for _, estimate in points],
            **looks[name].mark,
            linestyle=looks[name].line,
            linewidth=HUMAN_LINE_WIDTH if part.fitted and name == styles.human else LINE_WIDTH,
            markersize=3.5,
            markevery=[place for place, (x, _) in enumerate(points) if x in marked],
            transform=place,
            clip_on=False,
            zorder=3,
        )
    axes.set_xlabel(label_with_unit(part.parameter, part.unit))
    axes.set_ylabel(axis_label(curve_value(part)))
    if part.fitted and part.note:
        axes.set_title(part.note, loc="left", fontsize=SMALL_SIZE, color=GREY)
    handles = {name: look.handle() for name, look in looks.items()}
    height = WIDE_CURVE_HEIGHT if is_wide else CURVE_HEIGHT
    if part.fitted and _label_ends(axes, part, axis, 100 * LINE_HEIGHT / height):
        return fit_height(figure, height)
    if is_wide and not part.fitted:
        wrapped = [wrap(name, TWO_COLUMN_LABEL / 2) for name in lines]
        keys: dict[str, Any] = {"loc": "outside right upper", "handlelength": CURVE_MARK_LENGTH}
        figure.legend(handles.values(), wrapped, **keys)
        return fit_height(figure, max(height, len(lines) * 0.16))
    add_legend(figure, handles, length=CURVE_MARK_LENGTH)
    return fit_height(figure, height)


def _label_ends(axes: Axes, part: Curve, up: Axis, gap: float) -> bool:
    """Write the names of series next to the ends of their lines, if there is room."""
    ends = place_ends(part, up, gap)
    if not ends or max(map(text_width, ends)) > MAX_END_WIDTH:
        return False
    leader = {"arrowstyle": "-", "color": GREY, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 3}
    for name, (_, place) in ends.items():
        x, estimate = part.lines[name][-1]
        axes.annotate(
            name,
            (x, estimate.value),
            xytext=(1.03, place / 100),
            textcoords="axes fraction",
            va="center",
            fontsize=SMALL_SIZE,
            arrowprops={**leader, "relpos": (0, 0.5)},
            annotation_clip=False,
        )
    return True


def draw_spread(part: ValueSpread, styles: SeriesStyles) -> Figure:
    """Draw one histogram per series, each scaled to its highest bar, and the medians."""
    series = {name: [x for x in xs if not isnan(x)] for name, xs in part.series.items()}
    axis = fit_axis([x for xs in series.values() for x in xs], part.value)
    width, labels = wrap_labels(list(series))
    figure, axes = new_axes(width)
    edges = [axis.low + i * (axis.high - axis.low) / part.bins for i in range(part.bins + 1)]
    for row, (name, values) in enumerate(series.items()):
        base, counts = row + HISTOGRAM_HEIGHT / 2, bin_counts(values, axis, part.bins)
        heights = [base - HISTOGRAM_HEIGHT * count / max(1, *counts) for count in counts]
        axes.stairs(heights, edges, baseline=base, fill=True, color=styles[name].colour, alpha=0.6)
        axes.hlines(base, axis.low, axis.high, color=GREY, linewidth=0.5)
        if values:
            middle = axis.clip(median(values))
            axes.vlines(middle, base - HISTOGRAM_HEIGHT - 0.08, base + 0.08, color=INK)
        else:
            add_note(axes, "undefined", (axis.low, row), (3, 0))
    set_scale(axes, "x", axis)
    set_rows(axes, labels)
    axes.set_xlabel(axis_label(part.value))
    add_legend(figure, {"median": Line2D([], [], color=INK, **UPRIGHT_MARK)}, length=0.6)
    return fit_height(figure, len(labels) * row_height(labels, 0.34))


# --- Bars ----------------------------------------------------------------------------------------


BAR_HEIGHT = 0.72  # in rows
LABEL_MARGIN = 0.03  # of a number in a bar


def draw_votes(part: VoteCounts) -> Figure:
    """Draw one bar per system, from dark for the worst value to light for the best."""
    labels = vote_labels(part)
    shades = [i / max(1, len(labels) - 1) for i in range(len(labels))]
    colours = matplotlib.colormaps["cividis"](shades[::-1] if part.value.best == "low" else shades)
    fills = {x: {"facecolor": colour} for x, colour in zip(labels, colours, strict=True)}
    return _draw_bars(part.rows, labels, fills, "votes (%)", part.value.name)


def draw_categories(part: CategoryShares) -> Figure:
    """Draw one bar per row, with the count of each category."""
    names = {name: name for name in part.rows[0][1]}
    fills = {
        name: {"facecolor": COLOURS[i % (len(COLOURS) - 1)], "hatch": HATCHES[i % len(HATCHES)]}
        for i, name in enumerate(names)
    }
    return _draw_bars(part.rows, names, fills, "share (%)", None)


def _draw_bars(
    rows: Sequence[tuple[str, Mapping[Any, float]]],
    names: Mapping[Any, str],
    fills: Mapping[Any, Mapping[str, Any]],
    label: str,
    title: str | None,
) -> Figure:
    """Draw bars of 100 %; numbers in them are percentages, or counts if bars have hatches."""
    width, labels = wrap_labels([name for name, _ in rows])
    figure, axes = new_axes(width)
    room = width - max(map(text_width, labels)) - 0.25
    for y, (_, counts) in enumerate(rows):
        left, total = 0.0, sum(counts.values()) or 1
        for kind, fill in fills.items():
            if not counts.get(kind):
                continue
            share = 100 * counts[kind] / total
            axes.barh(y, share, BAR_HEIGHT, left, edgecolor="white", linewidth=0.6, **fill)
            has_hatches = "hatch" in fill
            text = f"{counts[kind]:g}" if has_hatches else f"{share:.0f}"
            if share * room / 100 >= text_width(text) + LABEL_MARGIN:
                axes.text(
                    left + share / 2,
                    y,
                    text,
                    color=INK if has_hatches else text_colour(fill["facecolor"]),
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6}
                    if has_hatches
                    else None,
                    ha="center",
                    va="center",
                    fontsize=SMALL_SIZE,
                )
            left += share
    set_scale(axes, "x", PERCENT_AXIS)
    set_rows(axes, labels)
    axes.grid(visible=False)
    axes.set_xlabel(label)
    handles = {names[kind]: Patch(edgecolor="white", **fill) for kind, fill in fills.items()}
    add_legend(figure, handles, title, length=1.0)
    return fit_height(figure, len(rows) * row_height(labels, 0.22))


# --- Timelines -----------------------------------------------------------------------------------


MISS_MARK: dict[str, Any] = {"marker": "x", "markersize": 3.5, "linestyle": ""}
HOLLOW_MARK: dict[str, Any] = {"marker": "o", "linestyle": "", "markerfacecolor": "white"}


def draw_timeline(part: Timeline, styles: SeriesStyles) -> Figure:
    """Draw boundaries of annotators and systems as hits, false alarms and misses."""
    shown, axis = part.shown, time_axis(part.shown.duration)
    names = [*shown.references, *shown.outputs]
    figure, axes = new_axes(PAGE_WIDTH)

    def inside(times: Iterable[float]) -> list[float]:
        return [*filter(axis.is_inside, times)]

    guides = sorted({time for times in shown.references.values() for time in times})
    axes.vlines(inside(guides), -0.5, len(names) - 0.5, color=PALE_GREY, linewidth=0.5)
    hits = dict(shown.references)
    for y, system in enumerate(shown.outputs, len(shown.references)):
        kinds = group_values((mark.kind, mark.time) for mark in boundary_marks(part, system))
        hits[system] = (*kinds.get("hit", ()), *kinds.get("partial", ()))
        false_alarms, missed = inside(kinds.get("false", ())), sorted({*kinds.get("miss", ())})
        mark = styles[system]._replace(marker="o", is_hollow=True).mark
        axes.plot(false_alarms, [y] * len(false_alarms), linestyle="", zorder=3, **mark)
        axes.plot(missed, [y] * len(missed), color=INK, zorder=3, **MISS_MARK)
    for y, (name, times) in enumerate(hits.items()):
        style = styles[PEOPLE_SERIES if y < len(shown.references) else name]
        axes.vlines(inside(times), y - 0.36, y + 0.36, color=style.colour, linewidth=1.4)
    labels = [wrap(name, TWO_COLUMN_LABEL / 2) for name in names]
    set_scale(axes, "x", axis, clock)
    set_rows(axes, labels)
    axes.grid(visible=False)
    axes.set_xlabel("time (h:min:s)" if shown.duration >= 3600 else "time (min:s)")
    if part.values:
        _add_values(axes, part, axis.high)
    handles = {
        f"hit within {part.matching.collar:g} s": Line2D([], [], color=INK, **UPRIGHT_MARK),
        "false alarm": Line2D([], [], color=INK, **HOLLOW_MARK),
        "missed": Line2D([], [], color=INK, **MISS_MARK),
    }
    add_legend(figure, handles, length=0.8)
    return fit_height(figure, len(names) * row_height(labels, 0.19))


def _add_values(axes: Axes, part: Timeline, end: float) -> None:
    """Write the first value of each system at the end of its row."""
    value, shown = part.values[0], part.shown
    texts = [number(shown.values[name][value.name], value) for name in shown.outputs]
    reach = 6 + 72 * max(map(text_width, texts), default=0.0)
    look: dict[str, Any] = {"color": INK, "fontsize": SMALL_SIZE, "ha": "right"}
    add_note(axes, axis_label(value), (end, -1), (reach, 0), annotation_clip=False, **look)
    for y, text in enumerate(texts, len(shown.references)):
        add_note(axes, text, (end, y), (reach, 0), **look)
