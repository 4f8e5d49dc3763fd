"""Figures of pairs, small plots of listeners and metrics, and word networks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from math import isfinite, isnan, nan
from typing import Any

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch, Polygon, Rectangle
from matplotlib.path import Path as Outline

from earwitness.core import Estimate
from earwitness.report.charts import (
    Frame,
    LabelSizes,
    NetworkSizes,
    Point,
    panels_frame,
    path_arcs,
    place_labels,
    plane_frame,
    scatter_frames,
)
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
    draw_dot,
    fit_height,
    lay_out,
    new_axes,
    new_figure,
    set_parameter,
    set_rows,
    set_scale,
    signed,
    text_colour,
    text_width,
    wrap,
)
from earwitness.report.numbers import number
from earwitness.report.parts import (
    Heat,
    Matrix,
    NetworkPart,
    Panel,
    Panels,
    Plane,
    Scatter,
    Scatters,
)
from earwitness.report.tables import (
    Verdict,
    find_contrast,
    rank_systems,
    signed_difference,
    verdict,
)

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
    """Draw the differences of rows from columns, best system first, filled if significant."""
    cells, verdicts = dict[tuple[str, str], Cell](), set[Verdict]()
    systems = rank_systems(part)
    for a, b in permutations(systems, 2):
        contrast, pair_verdict = find_contrast(part, a, b), verdict(part, a, b)
        if contrast is not None and pair_verdict is not None:
            verdicts.add(pair_verdict)
            text = signed_difference(part, contrast, a)
            mark = "?" if pair_verdict == "untested" else ""
            cells[a, b] = VERDICT_FILLS[pair_verdict][0], text + mark
    figure = _draw_grid(systems, cells)
    label = f"difference in {axis_label(part.value)} (row − column)"
    figure.axes[0].set_xlabel(label, loc="right")  # it may be wider than the cells
    handles = {
        text: Patch(facecolor=colour, edgecolor=GREY, linewidth=0.5)
        for key, (colour, text) in VERDICT_FILLS.items()
        if key in verdicts
    }
    add_legend(figure, handles, length=1.0)
    return fit_height(figure, len(systems) * CELL_HEIGHT)


def draw_heat(part: Heat) -> Figure:
    """Draw a square of numbers; strong values have deep colours."""
    known = [abs(cell.value) for cell in part.cells.values() if isfinite(cell.value)]
    high = part.value.high if isfinite(part.value.high) else max(known, default=1.0)
    scale = Normalize(-high, high)
    cells: dict[tuple[str, str], Cell] = {
        pair: (
            STRENGTH_COLOURS(scale(estimate.value)) if isfinite(estimate.value) else "#ffffff",
            number(estimate.value, part.value),
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
    figure, axes = new_axes(width)
    center: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size}
    for y, a in enumerate(names):
        for x, b in enumerate(names):
            colour, text = cells.get((a, b), (PALE_GREY, ""))
            corner = x - 0.5, y - 0.5
            axes.add_patch(Rectangle(corner, 1, 1, facecolor=colour, edgecolor=GREY, linewidth=0.4))
            axes.text(x, y, text if is_numbered else "", color=text_colour(colour), **center)
    upright = max(map(text_width, labels)) > cell_width - 0.05
    axes.set_xticks(range(len(names)), labels, rotation=90 if upright else 0)
    axes.xaxis.tick_top()
    axes.set_xlim(-0.5, len(names) - 0.5)
    set_rows(axes, labels)
    axes.tick_params(axis="x", length=0)
    axes.spines["bottom"].set_visible(False)
    axes.xaxis.set_label_position("bottom")
    return figure


# --- Small plots ---------------------------------------------------------------------------------


PANEL_HEIGHT, PANEL_GAP, PANEL_HEAD = 0.55, 0.1, 0.17
PANELS_LEFT = 0.5  # room for the axis
MAX_PANEL_COLUMNS, MIN_PANEL_WIDTH = 8, 0.7
SCATTER_HEIGHT, SCATTER_COLUMNS = 1.55, 3
PLANE_HEIGHT = 2.4
MAX_LABELLED_POINTS = 15  # more points, and points without room for their labels, have a legend
DOT_REACH, LABEL_GAPS = 0.045, (0.01, 0.06)


def draw_panels(part: Panels, styles: SeriesStyles) -> Figure:
    """Draw one panel per listener: means by system, and the means of all listeners."""
    frame = panels_frame(part)
    names = (
        f"{panel.name} (excluded)" if panel.is_excluded else panel.name for panel in part.panels
    )
    titles = [wrap(name, PAGE_WIDTH / 2) for name in names]
    across = PAGE_WIDTH - PANELS_LEFT - PANEL_GAP
    widest = max(MIN_PANEL_WIDTH, *map(text_width, titles)) + PANEL_GAP
    columns = max(1, min(MAX_PANEL_COLUMNS, int(across / widest), len(titles)))
    step = min(across / columns, PAGE_WIDTH / 4)
    rows = -(-len(titles) // columns)
    handles = styles.handles(part.everyone, linestyle="")
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
        _draw_panel(axes, panel, part.everyone, frame, styles)
        if column:
            axes.tick_params(axis="y", length=0, labelleft=False)
    middle = (foot + height) / 2 / height
    figure.supylabel(axis_label(part.value), x=0.03 / PAGE_WIDTH, y=middle, fontsize=TEXT_SIZE)
    return figure


def _draw_panel(
    axes: Axes, panel: Panel, everyone: Mapping[str, float], frame: Frame, styles: SeriesStyles
) -> None:
    line = [(x, mean) for x, mean in enumerate(everyone.values()) if isfinite(mean)]
    axes.plot(*zip(*line, strict=True), color=GREY, linewidth=0.8)
    for x, name in enumerate(everyone):
        mean = panel.means.get(name, nan)
        if isfinite(mean):
            draw_dot(axes, (x, frame.up.clip(mean)), styles[name])
    set_scale(axes, "y", frame.up)
    set_parameter(axes, frame.across, 0.0)


def draw_scatters(part: Scatters) -> Figure:
    """Draw one plot per metric; dots have labels, or a legend if there is not enough room."""
    names = dict.fromkeys(point.name for scatter in part.plots for point in scatter.points)
    if len(names) <= MAX_LABELLED_POINTS:
        figure, plots = _scatter_figure(part, SeriesStyles(()))
        lay_out(figure)
        places = zip(plots, part.plots, scatter_frames(part), strict=True)
        if all(_label_points(axes, scatter, frame) for axes, scatter, frame in places):
            return figure
    return _scatter_figure(part, SeriesStyles(names), names)[0]


def _scatter_figure(
    part: Scatters, styles: SeriesStyles, names: Iterable[str] = ()
) -> tuple[Figure, list[Axes]]:
    columns = min(SCATTER_COLUMNS, len(part.plots))
    rows = -(-len(part.plots) // columns)
    figure = new_figure(COLUMN_WIDTH if columns == 1 else PAGE_WIDTH)
    grid = figure.subplots(rows, columns, squeeze=False)
    plots = list(grid.flat[: len(part.plots)])
    for axes in grid.flat[len(part.plots) :]:
        axes.set_visible(False)
    drawn = zip(plots, part.plots, scatter_frames(part), strict=True)
    for index, (axes, scatter, frame) in enumerate(drawn):
        _draw_scatter(axes, scatter, frame, styles, part.maximum)
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
        add_legend(figure, styles.handles(names, linestyle=""), length=0.8)
    return fit_height(figure, SCATTER_HEIGHT, rows), plots


def _draw_scatter(
    axes: Axes, scatter: Scatter, frame: Frame, styles: SeriesStyles, maximum: float | None
) -> None:
    across, up = frame
    _draw_maximum(axes, maximum)
    if scatter.curve:
        line = [(x, up.clip(y)) for x, y in scatter.curve if across.low <= x <= across.high]
        axes.plot(*zip(*line, strict=True), color=GREY, linewidth=0.9, linestyle=(0, (4, 2)))
    for point in scatter.drawn:
        style = styles[point.name] if len(styles) > 1 else SeriesStyle(BLUE, "o")
        _draw_point(axes, (point.x, point.y.value), style, frame, upright=point.y)
    set_scale(axes, "y", up)
    set_parameter(axes, across, PAGE_WIDTH / SCATTER_COLUMNS - 0.6)


def _draw_point(
    axes: Axes,
    point: Point,
    style: SeriesStyle,
    frame: Frame,
    *,
    upright: Estimate | None = None,
    level: Estimate | None = None,
) -> None:
    """Draw a dot with its intervals, as far as they are wanted and defined."""
    ends = (axes.hlines, level, point[1], frame.across), (axes.vlines, upright, point[0], frame.up)
    for draw, estimate, place, axis in ends:
        if estimate is not None and not isnan(estimate.low):
            low, high = axis.clip(estimate.low), axis.clip(estimate.high)
            draw(place, low, high, color=style.colour, linewidth=0.8)
    draw_dot(axes, point, style)


def _draw_maximum(axes: Axes, maximum: float | None) -> None:
    if maximum is not None:
        for draw in (axes.axvline, axes.axhline):
            draw(maximum, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)))


def _label_points(axes: Axes, scatter: Scatter, frame: Frame) -> bool:
    """Label all points where no label covers anything, and return whether there was room."""
    figure = axes.figure
    assert isinstance(figure, Figure)
    box = axes.get_position()
    width, height = box.width * figure.get_figwidth(), box.height * figure.get_figheight()
    sizes = LabelSizes(
        dot=(100 * DOT_REACH / width, 100 * DOT_REACH / height),
        line=100 * (LINE_HEIGHT - 0.02) / height,
        gaps=tuple(100 * gap / width for gap in LABEL_GAPS),
    )
    names = [point.name for point in scatter.drawn]
    widths = {name: 100 * text_width(name, TINY_SIZE) / width for name in names}
    boxes = place_labels(scatter, frame, widths, sizes)
    for name, label in boxes.items():
        place = label.left / 100, (label.bottom + label.top) / 200
        add_note(axes, name, place, (0, 0), xycoords="axes fraction", color=INK)
    return len(boxes) == len(names)


def draw_plane(part: Plane) -> Figure:
    """Draw all series of points in one plane, with intervals as crosses or ellipses."""
    styles = SeriesStyles([series.name for series in part.series])
    frame = across, up = plane_frame(part)
    figure, axes = new_axes(COLUMN_WIDTH)
    _draw_maximum(axes, part.maximum)
    for series in part.series:
        style = styles[series.name]
        line = [(point.x.value, point.y.value) for point in series.drawn]
        if len(line) > 1:
            axes.plot(*zip(*line, strict=True), color=style.colour, linewidth=0.9)
        for point, place in zip(series.drawn, line, strict=True):
            if point.outline:
                corners = [(across.clip(x), up.clip(y)) for x, y in point.outline]
                look: dict[str, Any] = {"facecolor": "none", "edgecolor": style.colour}
                axes.add_patch(Polygon(corners, linewidth=0.8, **look))
                _draw_point(axes, place, style, frame)
            else:
                _draw_point(axes, place, style, frame, upright=point.y, level=point.x)
    set_scale(axes, "x", across)
    set_scale(axes, "y", up)
    axes.set(xlabel=axis_label(part.across), ylabel=axis_label(part.value))
    names = [series.name for series in part.series]
    add_legend(figure, styles.handles(names, linestyle=""), length=0.8)
    return fit_height(figure, PLANE_HEIGHT)


# --- Word networks -------------------------------------------------------------------------------


# in points
SIZES = NetworkSizes(
    width=72 * PAGE_WIDTH, margin=12.0, gap=12.0, arcs=(14.0, 62.0), lift=8.0, head=13.0, foot=14.0
)
MIN_ARC_WIDTH, MAX_ARC_WIDTH = 0.6, 3.5
KEY_HEIGHT = 13.0
ARC_GREY = "#b0b0b0"
ARC_CODES = {
    4: [Outline.MOVETO, *[Outline.CURVE4] * 3],
    6: [Outline.MOVETO, Outline.CURVE3, Outline.CURVE3] * 2,
}


def draw_network(part: NetworkPart) -> Figure:
    """Draw the words that anyone kept; arcs of the highlighted system are dark."""
    network = part.network
    layout = SIZES.lay_out(network, lambda word: 72 * text_width(word))
    width = COLUMN_WIDTH if layout.width <= 72 * COLUMN_WIDTH else PAGE_WIDTH
    figure = Figure(figsize=(width, 1.0), dpi=PNG_DPI)
    rows = add_legend(figure, _network_handles(part), place="lower center")
    total = layout.height + KEY_HEIGHT * rows
    figure.set_figheight(total / 72)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    shift = (72 * width - layout.width) / 2
    axes.set(xlim=(-shift, 72 * width - shift), ylim=(total, 0))
    path = path_arcs(network, network.targets.get(part.picked, ()))
    for arc in sorted(layout.arcs, key=lambda arc: (arc in path, network.arcs[arc])):
        points, count = layout.arcs[arc], network.arcs[arc]
        axes.add_patch(
            PathPatch(
                Outline(points, ARC_CODES[len(points)]),
                linewidth=_arc_width(count, len(network.people)),
                linestyle="-" if count else (0, (3, 3)),
                edgecolor=BLUE if arc in path else ARC_GREY,
                facecolor="none",
            )
        )
    look: dict[str, Any] = {"ha": "center", "va": "baseline", "fontsize": SMALL_SIZE}
    for node, place in layout.words.items():
        axes.text(*place, network.name(node), **look)
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


def _arc_width(count: int, people: int) -> float:
    return MIN_ARC_WIDTH + (MAX_ARC_WIDTH - MIN_ARC_WIDTH) * count / people
