"""Figures of pairs, small plots of listeners and metrics, and word networks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from math import isfinite, isnan, nan
from typing import Any

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch, Polygon, Rectangle
from matplotlib.path import Path as Outline

from earwitness.report.figures.style import (
    BLUE,
    COLUMN_WIDTH,
    GREY,
    INK,
    LINE_HEIGHT,
    PAGE_WIDTH,
    PALE_GREY,
    PALE_ORANGE,
    PNG_DPI,
    SMALL_SIZE,
    TEXT_SIZE,
    TINY_SIZE,
    VERMILION,
    SeriesStyle,
    SeriesStyles,
    add_legend,
    add_note,
    axis_label,
    clip,
    fit_height,
    lay_out,
    new_figure,
    set_rows,
    set_scale,
    signed,
    spaced_ticks,
    text_colour,
    text_width,
    wrap,
)
from earwitness.report.html.network import MAX_DRAWN_WORDS
from earwitness.report.html.plots import Axis, finite_numbers, fit_axis, maximum_axis
from earwitness.report.numbers import number
from earwitness.report.parts import Heat, Matrix, NetworkPart, Panels, Plane, Scatter, Scatters
from earwitness.report.tables import Verdict, find_contrast, verdict

# --- Grids of pairs ------------------------------------------------------------------------------


CELL_WIDTH, CELL_HEIGHT = 0.42, 0.26  # narrowest cell in one column; height
GRID_LABEL = 1.7  # widest label of a row or column
VERDICT_FILLS: dict[Verdict, tuple[str, str]] = {
    "better": (BLUE, "row better than column"),
    "worse": (PALE_ORANGE, "row worse than column"),
    "same": ("#ffffff", "not significantly different"),
    "untested": ("#ffffff", "? not tested"),
}
STRENGTH_COLOURS = LinearSegmentedColormap.from_list("strength", [VERMILION, "#ffffff", BLUE])
Cell = tuple[Any, str]  # colour and text


def draw_matrix(part: Matrix) -> Figure:
    """Draw the differences of rows from columns, filled if they are significant."""
    cells, found = dict[tuple[str, str], Cell](), set[Verdict]()
    for a in part.systems:
        for b in part.systems:
            contrast, pair_verdict = find_contrast(part, a, b), verdict(part, a, b)
            if contrast is None or pair_verdict is None or a == b:
                continue
            found.add(pair_verdict)
            difference = contrast.difference.value * (1 if contrast.a == a else -1)
            text = f"{'+' * (difference > 0)}{signed(number(difference, part.value))}"
            cells[a, b] = VERDICT_FILLS[pair_verdict][0], text + "?" * (pair_verdict == "untested")
    figure = _draw_grid(list(part.systems), cells)
    figure.axes[0].set_xlabel(f"difference in {axis_label(part.value)} (row − column)")
    handles = {
        text: Patch(facecolor=colour, edgecolor=GREY, linewidth=0.5)
        for key, (colour, text) in VERDICT_FILLS.items()
        if key in found
    }
    add_legend(figure, handles, length=1.0)
    return fit_height(figure, len(part.systems) * CELL_HEIGHT)


def draw_heat(part: Heat) -> Figure:
    """Draw a square of numbers; strong values have deep colours."""
    known = [abs(cell.value) for cell in part.cells.values() if isfinite(cell.value)]
    high = part.value.high if isfinite(part.value.high) else max(known, default=1.0)
    scale = Normalize(-high, high)
    cells: dict[tuple[str, str], Cell] = {
        pair: (
            STRENGTH_COLOURS(scale(estimate.value)) if isfinite(estimate.value) else "#ffffff",
            signed(number(estimate.value, part.value)),
        )
        for pair, estimate in part.cells.items()
    }
    figure = _draw_grid(part.names, cells, spare=0.6)
    colours = ScalarMappable(scale, STRENGTH_COLOURS)
    figure.colorbar(colours, ax=figure.axes[0], label=axis_label(part.value), aspect=30)
    return fit_height(figure, len(part.names) * CELL_HEIGHT)


def _draw_grid(
    names: Sequence[str], cells: Mapping[tuple[str, str], Cell], spare: float = 0.0
) -> Figure:
    """Draw a square of cells with the names of rows and columns; other cells are grey."""
    labels = [wrap(name, GRID_LABEL) for name in names]
    used = max(map(text_width, labels)) + spare + 0.2
    width = COLUMN_WIDTH if used + len(names) * CELL_WIDTH <= COLUMN_WIDTH else PAGE_WIDTH
    cell_width = (width - used) / len(names)
    size = TINY_SIZE if width == COLUMN_WIDTH else SMALL_SIZE
    is_numbered = (
        max((text_width(text, size) for _, text in cells.values()), default=0) <= cell_width
    )
    figure = new_figure(width)
    axes = figure.subplots()
    for y, a in enumerate(names):
        for x, b in enumerate(names):
            colour, text = cells.get((a, b), (PALE_GREY, ""))
            edge: dict[str, Any] = {"edgecolor": GREY, "linewidth": 0.4}
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, **edge))
            place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size}
            axes.text(x, y, text if is_numbered else "", color=text_colour(colour), **place)
    upright = max(map(text_width, labels)) > cell_width - 0.05
    axes.set_xticks(range(len(names)), labels, rotation=90 if upright else 0)
    axes.xaxis.tick_top()
    axes.set_xlim(-0.5, len(names) - 0.5)
    set_rows(axes, range(len(names)), labels, len(names) - 0.5)
    axes.tick_params(axis="x", length=0)
    axes.spines["bottom"].set_visible(False)
    axes.xaxis.set_label_position("bottom")
    return figure


# --- Small plots ---------------------------------------------------------------------------------


PANEL_HEIGHT, PANEL_GAP, PANEL_HEAD = 0.55, 0.1, 0.17
PANELS_LEFT = 0.5  # room for the axis
PANEL_MARGIN = 0.07  # above and below the axis, as a share of it
MAX_PANEL_COLUMNS, MIN_PANEL_WIDTH = 8, 0.7
SCATTER_HEIGHT, SCATTER_COLUMNS = 1.55, 3
PLANE_HEIGHT = 2.4
MAX_LABELLED_POINTS = 15  # more points, and points without room for their labels, have a legend
DOT_REACH = 0.045
Box = tuple[float, float, float, float]


def draw_panels(part: Panels, styles: SeriesStyles) -> Figure:
    """Draw one panel per listener: means by system, and the means of all listeners."""
    means = [x for one in part.panels for x in one.means.values()]
    axis = fit_axis([*means, *part.everyone.values()], part.value)
    titles = [f"{one.name} (excluded)" if one.is_excluded else one.name for one in part.panels]
    titles = [wrap(title, PAGE_WIDTH / 2) for title in titles]
    across = PAGE_WIDTH - PANELS_LEFT - PANEL_GAP
    widest = max(MIN_PANEL_WIDTH, *map(text_width, titles)) + PANEL_GAP
    columns = max(1, min(MAX_PANEL_COLUMNS, int(across / widest), len(titles)))
    step = min(across / columns, PAGE_WIDTH / 4)
    rows = -(-len(titles) // columns)
    handles = {name: styles[name].handle(linestyle="") for name in part.everyone}
    handles["all listeners"] = Line2D([], [], color=GREY)
    figure = Figure(figsize=(PAGE_WIDTH, 1.0), dpi=PNG_DPI)
    foot = 0.12 + 0.15 * add_legend(figure, handles, length=1.2, place="lower center")
    height = foot + rows * (PANEL_HEIGHT + PANEL_HEAD) + 0.05
    figure.set_figheight(height)
    for index, (panel, title) in enumerate(zip(part.panels, titles, strict=True)):
        row, column = divmod(index, columns)
        left = (PANELS_LEFT + column * step) / PAGE_WIDTH
        bottom = 1 - (row + 1) * (PANEL_HEIGHT + PANEL_HEAD) / height
        size = (step - PANEL_GAP) / PAGE_WIDTH, PANEL_HEIGHT / height
        axes = figure.add_axes((left, bottom, *size))
        axes.set_title(title, fontsize=SMALL_SIZE, loc="left", pad=2, color=INK)
        axes.set_facecolor("#eeeeee" if panel.is_excluded else "white")
        everyone = [(x, mean) for x, mean in enumerate(part.everyone.values()) if isfinite(mean)]
        axes.plot(*zip(*everyone, strict=True), color=GREY, linewidth=0.8)
        for x, name in enumerate(part.everyone):
            mean = panel.means.get(name, nan)
            if isfinite(mean):
                axes.plot([x], [clip(mean, axis)], clip_on=False, zorder=3, **styles[name].mark)
        set_scale(axes, "y", axis)
        margin = PANEL_MARGIN * (axis.high - axis.low)
        axes.set_ylim(axis.low - margin, axis.high + margin)
        axes.set_xticks([])
        axes.set_xlim(-0.6, len(part.everyone) - 0.4)
        if column:
            axes.tick_params(axis="y", length=0, labelleft=False)
    middle = (foot + height) / 2 / height
    label: dict[str, Any] = {"rotation": 90, "ha": "left", "va": "center", "fontsize": TEXT_SIZE}
    figure.text(0.03 / PAGE_WIDTH, middle, axis_label(part.value), **label)
    return figure


def draw_scatters(part: Scatters) -> Figure:
    """Draw one plot per metric; dots have labels, or a legend if there is not enough room."""
    names = dict.fromkeys(point.name for scatter in part.plots for point in scatter.points)
    if len(names) <= MAX_LABELLED_POINTS:
        figure = _scatter_figure(part, SeriesStyles(()))
        drawn = [axes for axes in figure.axes if axes.get_visible()]
        lay_out(figure)
        labelled = [_label_points(*pair) for pair in zip(drawn, part.plots, strict=True)]
        if all(labelled):
            return figure
    return _scatter_figure(part, SeriesStyles(names), names)


def _scatter_figure(part: Scatters, styles: SeriesStyles, names: Iterable[str] = ()) -> Figure:
    ends = finite_numbers(point.y for scatter in part.plots for point in scatter.points)
    up = fit_axis(ends) if part.maximum is None else maximum_axis(part.maximum)
    columns = min(SCATTER_COLUMNS, len(part.plots))
    rows = -(-len(part.plots) // columns)
    figure = new_figure(COLUMN_WIDTH if columns == 1 else PAGE_WIDTH)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(part.plots) :]:
        axes.set_visible(False)
    for index, (axes, scatter) in enumerate(zip(grid.flat, part.plots, strict=False)):
        _draw_scatter(axes, scatter, up, styles, part.maximum)
        head = scatter.caption
        if part.across:
            head = ", ".join(filter(None, [scatter.name, scatter.caption]))
        axes.set_xlabel(part.across or scatter.name)
        axes.set_title(signed(head), fontsize=SMALL_SIZE, loc="right", pad=3)
        if index % columns == 0:
            axes.set_ylabel(axis_label(part.value))
        else:
            axes.tick_params(axis="y", length=0, labelleft=False)
    if names:
        keys = {name: styles[name].handle(linestyle="") for name in names}
        add_legend(figure, keys, length=0.8)
    return fit_height(figure, SCATTER_HEIGHT, rows)


def _draw_scatter(
    axes: Axes, scatter: Scatter, up: Axis, styles: SeriesStyles, maximum: float | None
) -> None:
    points = [point for point in scatter.points if isfinite(point.x) and isfinite(point.y.value)]
    across = fit_axis([point.x for point in points]) if maximum is None else up
    _draw_maximum(axes, maximum)
    if scatter.curve:
        line = [(x, clip(y, up)) for x, y in scatter.curve if across.low <= x <= across.high]
        axes.plot(*zip(*line, strict=True), color=GREY, linewidth=0.9, linestyle=(0, (4, 2)))
    for point in points:
        style = styles[point.name] if len(styles) > 1 else SeriesStyle(BLUE, "o")
        if not isnan(point.y.low):
            low, high = clip(point.y.low, up), clip(point.y.high, up)
            axes.vlines(point.x, low, high, color=style.colour, linewidth=0.8)
        axes.plot([point.x], [point.y.value], clip_on=False, zorder=3, **style.mark)
    set_scale(axes, "y", up)
    width = across.high - across.low
    places = {tick: (tick - across.low) / width for tick in across.ticks}
    ticks = spaced_ticks(places, PAGE_WIDTH / SCATTER_COLUMNS - 0.6)
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.set_xlim(across.low, across.high)


def _draw_maximum(axes: Axes, maximum: float | None) -> None:
    if maximum is not None:
        look: dict[str, Any] = {"color": GREY, "linewidth": 0.8, "linestyle": (0, (4, 3))}
        axes.axvline(maximum, **look)
        axes.axhline(maximum, **look)


def _label_points(axes: Axes, scatter: Scatter) -> bool:
    """Label all points where no label covers anything, and return whether there was room."""
    figure = axes.figure
    assert isinstance(figure, Figure)
    box = axes.get_position()
    size = (box.width * figure.get_figwidth(), box.height * figure.get_figheight())
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    points = [point for point in scatter.points if isfinite(point.x) and isfinite(point.y.value)]
    spots, taken = [], list[Box]()
    for point in points:
        x = (point.x - left) / (right - left) * size[0]
        y, bottom, top = (
            ((value if isfinite(value) else point.y.value) - low) / (high - low) * size[1]
            for value in (point.y.value, point.y.low, point.y.high)
        )
        spots.append((x, y))
        taken += [
            (x - DOT_REACH, y - DOT_REACH, x + DOT_REACH, y + DOT_REACH),
            (x - 0.01, bottom, x + 0.01, top),
        ]
    for point, (x, y) in zip(points, spots, strict=True):
        shift = _find_room(text_width(point.name, TINY_SIZE), x, y, size, taken)
        if shift is None:
            return False
        place = (point.x, point.y.value)
        add_note(axes, point.name, place, (shift[0] * 72, shift[1] * 72), color=INK)
    return True


def _find_room(
    width: float, x: float, y: float, size: tuple[float, float], taken: list[Box]
) -> tuple[float, float] | None:
    """Return where a label near a dot covers nothing, as a shift from it, and take the place."""
    half, side = LINE_HEIGHT / 2 - 0.01, DOT_REACH + 0.01
    for rise in (0.0, 0.06, -0.06, 0.11, -0.11, 0.16, -0.16):
        middles = (side, -side - width) if abs(rise) < 0.1 else (side, -side - width, -width / 2)
        for shift in middles:
            box = (x + shift, y + rise - half, x + shift + width, y + rise + half)
            inside = box[0] >= 0 and box[1] >= 0 and box[2] <= size[0] and box[3] <= size[1]
            if inside and not any(
                box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in taken
            ):
                taken.append(box)
                return shift, rise
    return None


def draw_plane(part: Plane) -> Figure:
    """Draw all series of points in one plane, with intervals as crosses or ellipses."""
    styles = SeriesStyles([one.name for one in part.series])
    across = fit_axis(finite_numbers(point.x for one in part.series for point in one.points))
    up = fit_axis(finite_numbers(point.y for one in part.series for point in one.points))
    if part.maximum is not None:
        across = up = maximum_axis(part.maximum)
    figure = new_figure(COLUMN_WIDTH)
    axes = figure.subplots()
    _draw_maximum(axes, part.maximum)
    for one in part.series:
        style = styles[one.name]
        points = [p for p in one.points if isfinite(p.x.value) and isfinite(p.y.value)]
        if len(points) > 1:
            line = [(point.x.value, point.y.value) for point in points]
            axes.plot(*zip(*line, strict=True), color=style.colour, linewidth=0.9)
        for point in points:
            line_style: dict[str, Any] = {"color": style.colour, "linewidth": 0.8}
            if point.outline:
                corners = [(clip(x, across), clip(y, up)) for x, y in point.outline]
                axes.add_patch(
                    Polygon(corners, facecolor="none", edgecolor=style.colour, linewidth=0.8)
                )
            if not point.outline and not isnan(point.y.low):
                low, high = clip(point.y.low, up), clip(point.y.high, up)
                axes.vlines(point.x.value, low, high, **line_style)
            if not point.outline and not isnan(point.x.low):
                low, high = clip(point.x.low, across), clip(point.x.high, across)
                axes.hlines(point.y.value, low, high, **line_style)
            axes.plot([point.x.value], [point.y.value], clip_on=False, zorder=3, **style.mark)
    set_scale(axes, "x", across)
    set_scale(axes, "y", up)
    axes.set_xlabel(axis_label(part.across))
    axes.set_ylabel(axis_label(part.value))
    keys = {one.name: styles[one.name].handle(linestyle="") for one in part.series}
    add_legend(figure, keys, length=0.8)
    return fit_height(figure, PLANE_HEIGHT)


# --- Word networks -------------------------------------------------------------------------------


# in points
WORD_GAP, LINE_MARGIN, LINE_FOOT = 12.0, 18.0, 14.0
MIN_ARC_HEIGHT, MAX_ARC_HEIGHT = 14.0, 62.0
ARC_LIFT, ARC_ROOM = 8.0, 13.0  # from the words to the ends of arcs; with room above the arcs
MIN_ARC_WIDTH, MAX_ARC_WIDTH = 0.6, 3.5
KEY_HEIGHT = 13.0
ARC_GREY = "#b0b0b0"
Spot = tuple[int, float]  # line and middle of a word


def draw_network(part: NetworkPart) -> Figure:
    """Draw the words that anyone kept; arcs of the highlighted system are dark."""
    network = part.network
    nodes = sorted({node for arc in network.arcs for node in arc})[: MAX_DRAWN_WORDS + 2]
    spots, right = _place_words({node: 72 * text_width(network.name(node)) for node in nodes})
    arcs = {arc: count for arc, count in network.arcs.items() if {*arc} <= spots.keys()}
    heights = [MIN_ARC_HEIGHT] * (spots[nodes[-1]][0] + 1)
    for a, b in arcs:
        for line in (spots[a][0], spots[b][0]):
            heights[line] = max(heights[line], _arc_height(spots[a], spots[b]))
    tops = list(accumulate(0.75 * height + ARC_ROOM + LINE_FOOT for height in heights))
    handles = _network_handles(part)
    width = COLUMN_WIDTH if right <= 72 * COLUMN_WIDTH else PAGE_WIDTH
    figure = Figure(figsize=(width, 1.0), dpi=PNG_DPI)
    total = tops[-1] + KEY_HEIGHT * add_legend(figure, handles, place="lower center")
    figure.set_figheight(total / 72)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    shift = (72 * width - right) / 2 if len(tops) == 1 else 0.0  # a single line is centred
    axes.set(xlim=(-shift, 72 * width - shift), ylim=(total, 0))
    tops = [top - LINE_FOOT for top in tops]
    path = {*pairwise((0, *network.targets.get(part.picked, ()), len(network.words) + 1))}
    for arc in sorted(arcs, key=lambda arc: (arc in path, arcs[arc])):
        outline = _arc_outline(spots[arc[0]], spots[arc[1]], tops, right)
        look: dict[str, Any] = {"edgecolor": BLUE if arc in path else ARC_GREY, "facecolor": "none"}
        line_style = "-" if arcs[arc] else (0, (3, 3))
        thickness = _arc_width(arcs[arc], len(network.people))
        axes.add_patch(PathPatch(outline, linewidth=thickness, linestyle=line_style, **look))
    for node, (line, x) in spots.items():
        place: dict[str, Any] = {"ha": "center", "va": "baseline", "fontsize": SMALL_SIZE}
        axes.text(x, tops[line], network.name(node), **place)
    return figure


def _network_handles(part: NetworkPart) -> dict[str, Line2D]:
    """Return the marks of the legend: the widths of arcs, and the highlighted path."""
    people = len(part.network.people)
    handles = {
        f"{count} {'person' if count == 1 else 'people'}": Line2D(
            [], [], color=ARC_GREY, linewidth=_arc_width(count, people)
        )
        for count in sorted({1, people})
    }
    if part.picked in part.network.targets:
        handles[f"path closest to {part.picked}"] = Line2D([], [], color=BLUE, linewidth=2)
    return handles


def _place_words(widths: Mapping[int, float]) -> tuple[dict[int, Spot], float]:
    """Return the places of words in lines, and the right end of the longest line."""
    spots, line, left, right = dict[int, Spot](), 0, LINE_MARGIN, 0.0
    for node, width in widths.items():
        if left + width + LINE_MARGIN > 72 * PAGE_WIDTH and left > LINE_MARGIN:
            line, left = line + 1, LINE_MARGIN
        spots[node] = line, left + width / 2
        right = max(right, left + width + LINE_MARGIN)
        left += width + WORD_GAP
    return spots, right


def _arc_height(a: Spot, b: Spot) -> float:
    span = b[1] - a[1] if a[0] == b[0] else 72 * PAGE_WIDTH / 6
    return min(MAX_ARC_HEIGHT, MIN_ARC_HEIGHT + span / 5)


def _arc_width(count: int, people: int) -> float:
    return MIN_ARC_WIDTH + (MAX_ARC_WIDTH - MIN_ARC_WIDTH) * count / people


def _arc_outline(a: Spot, b: Spot, tops: Sequence[float], right: float) -> Outline:
    """Return an arc above a line, or from a line out at the right and into another at the left."""
    start, stop, rise = tops[a[0]] - ARC_LIFT, tops[b[0]] - ARC_LIFT, _arc_height(a, b)
    if a[0] == b[0]:
        points = [(a[1], start), (a[1], start - rise), (b[1], start - rise), (b[1], stop)]
        return Outline(points, [Outline.MOVETO, *[Outline.CURVE4] * 3])
    leave, enter = start - 0.6 * rise, stop - 0.6 * rise
    points = [(a[1], start), (a[1], leave), (right, leave), (0, enter), (b[1], enter), (b[1], stop)]
    return Outline(points, [Outline.MOVETO, Outline.CURVE3, Outline.CURVE3] * 2)
