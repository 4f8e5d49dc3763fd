"""Contents of charts, shared by pages and files: axes, ticks, places of labels, word networks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise, product
from math import ceil, floor, inf, isfinite, isnan, log, log10
from typing import NamedTuple

from earwitness.core import Contrast, Estimate, Value, WordNetwork
from earwitness.report.numbers import short_number
from earwitness.report.parts import (
    Curve,
    Intervals,
    Matrix,
    Panels,
    Plane,
    Scatter,
    Scatters,
    VoteCounts,
)
from earwitness.report.tables import MAX_DRAWN_WORDS, rank_contrasts

MAX_BANDS = 3  # with more lines of a curve, bands are pale
MAX_MARKED_POINTS = 12  # with more points per line, only those at ticks have marks
MAX_DRAWN_DIFFERENCES = 60  # if there are more, only those from the best system are drawn

# --- Axes and ticks ------------------------------------------------------------------------------


TICK_COUNT = 5
CLOSE_TICK_COUNT = 7  # of axes that end close to the data
AXIS_MARGIN = 0.04  # beyond the numbers, as a share of their range
MIN_TICK_STEPS = 0.5  # between the ends of an axis and the next tick
# the axis is logarithmic if the largest number exceeds the smallest by more than this factor
LOG_SCALE_ABOVE_RATIO = 8
PANEL_MARGIN = 0.09  # room for half a dot above and below the axis of a panel, as a share of it
TIME_STEPS_SECONDS = [
    *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400),
    *(86400.0 * 10**n for n in range(1, 6)),
]


@dataclass(frozen=True, slots=True)
class Axis:
    """Axis from low to high with ticks."""

    low: float
    high: float
    ticks: tuple[float, ...] = ()
    is_logarithmic: bool = False

    def clip(self, x: float) -> float:
        """Return a number, or the end of the axis that is closer to it."""
        return min(self.high, max(self.low, x))

    def is_inside(self, x: float) -> bool:
        """Return whether a number is between the ends of the axis."""
        return self.low < x < self.high

    def place(self, x: float) -> float:
        """Return the position in percent, limited to the axis."""
        scale = log if self.is_logarithmic else float
        low, high, inside = map(scale, (self.low, self.high, self.clip(x)))
        return round(100 * (inside - low) / (high - low), 3)

    def widen(self, share: float) -> Axis:
        """Return the axis with a margin at both ends, as a share of its length."""
        if self.is_logarithmic:
            factor = (self.high / self.low) ** share
            return replace(self, low=self.low / factor, high=self.high * factor)
        margin = share * (self.high - self.low)
        return replace(self, low=self.low - margin, high=self.high + margin)


class Frame(NamedTuple):
    """Horizontal and vertical axis of a plot."""

    across: Axis
    up: Axis

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the distances from the left and from the bottom in percent."""
        return self.across.place(x), self.up.place(y)


PERCENT_AXIS = Axis(0.0, 100.0, (0.0, 25.0, 50.0, 75.0, 100.0))


def fit_axis(numbers: Iterable[float], value: Value | None = None) -> Axis:
    """Return an axis that covers the numbers; shares go from 0 to 1, scales from end to end.

    Uneven ends are those of the numbers, where nobody knows the ends of the scale.

    >>> fit_axis([0.2, 3.1]).ticks
    (0.0, 1.0, 2.0, 3.0, 4.0)
    """
    if value is not None and (value.low, value.high) == (0, 1):
        return Axis(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0))
    ends = (value.low, value.high) if value is not None and value.high != 1 else (-inf, inf)
    if value is not None and all(end % 0.5 == 0 for end in ends):  # that of infinity is NaN
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
    ticks = _multiples(step, floor(low / step + 1e-9), ceil(high / step - 1e-9))
    return Axis(ticks[0], ticks[-1], ticks)


def fit_estimates(estimates: Iterable[Estimate], value: Value | None = None) -> Axis:
    """Return an axis that covers estimates and the ends of their intervals."""
    return fit_axis([x for e in estimates for x in (e.value, e.low, e.high)], value)


def maximum_axis(maximum: float) -> Axis:
    """Return an axis from 0 to beyond a maximum, which has the last tick.

    >>> maximum_axis(1.0)
    Axis(low=0.0, high=1.1, ticks=(0.0, 0.25, 0.5, 0.75, 1.0), is_logarithmic=False)
    """
    return Axis(0.0, round(1.1 * maximum, 10), tuple(maximum * n / 4 for n in range(5)))


def close_axis(numbers: Iterable[float]) -> Axis:
    """Return an axis that ends close to the smallest and the largest number, between ticks.

    >>> close_axis([0.31, 0.72]).ticks
    (0.3, 0.4, 0.5, 0.6, 0.7)
    """
    finite = [x for x in numbers if isfinite(x)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    if low == high:
        return fit_axis([low])
    margin = AXIS_MARGIN * (high - low)
    low, high, step = low - margin, high + margin, _round_step((high - low) / CLOSE_TICK_COUNT)
    return Axis(low, high, _multiples(step, ceil(low / step), floor(high / step)))


def _scale_axis(low: float, high: float) -> Axis:
    """Return an axis over a whole scale, with its ends and ticks at even distances.

    The distance is a round number, unless only very many or very few ticks would be so far apart.

    >>> _scale_axis(0, 100).ticks
    (0.0, 20.0, 40.0, 60.0, 80.0, 100.0)
    >>> _scale_axis(1, 100).ticks
    (1.0, 25.75, 50.5, 75.25, 100.0)
    """
    if low == high:
        return fit_axis([low])
    width = high - low
    power = 10.0 ** floor(log10(width))
    counts = [width / (multiple * power) for multiple in (0.1, 0.2, 0.5, 1, 2, 5)]
    whole = [round(count) for count in counts if abs(count - round(count)) < 1e-9]
    fitting = [count for count in whole if 2 <= count <= 2 * TICK_COUNT]
    count = min(fitting or [TICK_COUNT - 1], key=lambda n: abs(n - TICK_COUNT))
    return Axis(
        low, high, tuple(round(low + width * i / count, 10) + 0.0 for i in range(count + 1))
    )


def time_axis(duration: float) -> Axis:
    """Return a time axis with round ticks."""
    high = duration or 1.0
    step = next((step for step in TIME_STEPS_SECONDS if high / step <= 2 * TICK_COUNT), high)
    return Axis(0.0, high, _multiples(step, 0, int(high / step)))


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


def _round_step(raw: float) -> float:
    """Return the smallest round number not below ``raw``: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(raw))
    return next(
        multiple * power for multiple in (1, 2, 5, 10) if multiple * power >= raw * (1 - 1e-9)
    )


def _multiples(step: float, first: int, last: int) -> tuple[float, ...]:
    return tuple(round(i * step, 10) + 0.0 for i in range(first, last + 1))


# --- Axes of parts -------------------------------------------------------------------------------


def intervals_axis(part: Intervals) -> Axis:
    """Return the axis of estimates; it covers a marked number, but then not the whole scale."""
    numbers = [x for _, row in part.rows for e in row.values() for x in (e.value, e.low, e.high)]
    if part.marked is None:
        return fit_axis(numbers, part.value)
    return fit_axis([*numbers, part.marked])


def curve_frame(part: Curve) -> Frame:
    """Return the axes of a curve; fitted ones have linear axes that cover the data only."""
    xs = [x for x, _ in part.points]
    low, high = min(xs), max(xs)
    if part.fitted:
        across = Axis(low, high, tuple(count_ticks(low, high)))
        up = close_axis(part.covered)
    else:
        across = Axis(low, high, tuple(xs), low > 0 and high / low > LOG_SCALE_ABOVE_RATIO)
        up = fit_estimates((e for _, row in part.points for e in row.values()), part.value)
    return Frame(across if low < high else replace(across, low=low - 0.5, high=high + 0.5), up)


def curve_value(part: Curve) -> Value:
    """Return the value of a curve, without the parameter in its name, which has its own axis."""
    return replace(part.value, name=part.value.name.partition("@")[0])


def marked_numbers(part: Curve, across: Axis) -> set[float]:
    """Return at which numbers the lines of a curve have marks."""
    has_many = part.fitted and len(part.points) > MAX_MARKED_POINTS
    return {*across.ticks} if has_many else {x for x, _ in part.points}


def panels_frame(part: Panels) -> Frame:
    """Return the common axes of the panels of listeners: places of systems, and means."""
    means = [x for panel in part.panels for x in panel.means.values()]
    up = fit_axis([*means, *part.everyone.values()], part.value)
    return Frame(Axis(-0.5, len(part.everyone) - 0.5), up.widen(PANEL_MARGIN))


def scatter_frames(part: Scatters) -> list[Frame]:
    """Return the axes of each plot; the vertical one is the same for all."""
    if part.maximum is not None:
        shared = maximum_axis(part.maximum)
        return [Frame(shared, shared)] * len(part.plots)
    up = fit_estimates(point.y for scatter in part.plots for point in scatter.points)
    return [Frame(fit_axis([p.x for p in scatter.drawn]), up) for scatter in part.plots]


def plane_frame(part: Plane) -> Frame:
    """Return the axes of a plane."""
    if part.maximum is not None:
        shared = maximum_axis(part.maximum)
        return Frame(shared, shared)
    points = [point for series in part.series for point in series.drawn]
    return Frame(fit_estimates(p.x for p in points), fit_estimates(p.y for p in points))


def difference_intervals(part: Matrix) -> tuple[Intervals, dict[str, Contrast]]:
    """Return the differences to draw, and their contrasts by label.

    The system with the better rank comes first in each pair, and the best system comes first of
    all. If there are too many, only differences from the best system are drawn.
    """
    contrasts = rank_contrasts(part)
    if len(contrasts) > MAX_DRAWN_DIFFERENCES:
        contrasts = [contrast for contrast in contrasts if contrast.a == contrasts[0].a]
    labelled = {f"{contrast.a} − {contrast.b}": contrast for contrast in contrasts}
    rows = tuple((label, {label: contrast.difference}) for label, contrast in labelled.items())
    return Intervals(part.title, part.value, "", rows, marked=0.0), labelled


def bin_counts(values: Sequence[float], axis: Axis, count: int) -> list[int]:
    """Return the numbers of values in bins of equal width."""
    bins = [0] * count
    for x in values:
        bins[min(count - 1, int(axis.place(x) / 100 * count))] += 1
    return bins


SCALE_END_LABELS = {
    "high": ("worst", "best"),
    "low": ("best", "worst"),
    "none": ("lowest", "highest"),
}


def vote_labels(part: VoteCounts) -> dict[float, str]:
    """Return the label of each value of votes; those of both ends say which is better."""
    values = list(part.rows[0][1])
    first, last = SCALE_END_LABELS[part.value.best]
    ends = {values[0]: f" ({first})", values[-1]: f" ({last})"}
    return {x: short_number(x) + ends.get(x, "") for x in values}


# --- Places of labels ----------------------------------------------------------------------------


def spread_labels(
    places: Sequence[float], gap: float, low: float = 0.0, high: float = 100.0
) -> list[float]:
    """Return places from low to high, near the given ones and in their order, a gap apart.

    The squared distances from the given places are as small as possible.

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
    highest = high - gap * (len(places) - 1)
    spread = {
        i: min(max(start, low), highest) + rank * gap
        for rank, (i, start) in enumerate(zip(order, starts, strict=True))
    }
    return [spread[i] for i in range(len(places))]


def place_ends(part: Curve, up: Axis, gap: float) -> dict[str, tuple[float, float]]:
    """Return the place of the end of each line, and that of its label next to the plot.

    Nothing is returned if labels that are a gap apart have no room.
    """
    ends = {name: up.place(points[-1][1].value) for name, points in part.lines.items() if points}
    if (len(ends) - 1) * gap > 100:
        return {}
    pairs = zip(ends.values(), spread_labels([*ends.values()], gap), strict=True)
    return dict(zip(ends, pairs, strict=True))


LABEL_SIDES = (  # directions from the dot, tried in this order: right, left, above, below, diagonal
    *((1, 0), (-1, 0), (0, 1), (0, -1)),
    *((1, 1), (-1, 1), (1, -1), (-1, -1)),
)


class LabelBox(NamedTuple):
    """Rectangle in percent of the plot; ``side``: 1 right of its dot, −1 left of it, else 0."""

    left: float
    bottom: float
    right: float
    top: float
    side: int = 0

    @property
    def anchor(self) -> float:
        """Return the end next to the dot, or the middle."""
        return (self.left, (self.left + self.right) / 2, self.right)[1 - self.side]

    def overlaps(self, other: LabelBox) -> bool:
        """Return whether two boxes have an area in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )


@dataclass(frozen=True, slots=True)
class LabelSizes:
    """Sizes in percent of the width and the height of a plot.

    ``dot`` has half the size of a dot, ``line`` the height of a label, ``gaps`` the distances of
    labels from dots, which are tried in this order, and ``end`` the right end of labels.
    """

    dot: tuple[float, float]
    line: float
    gaps: tuple[float, ...]
    end: float = 100.0


def place_labels(
    scatter: Scatter, frame: Frame, widths: Mapping[str, float], sizes: LabelSizes
) -> dict[str, LabelBox]:
    """Return places of labels where they cover no dot and no other label.

    Places that also avoid the intervals of ratings are preferred. Labels without room are omitted.
    """
    across, up = frame
    points = {p.name: frame.place(p.x, p.y.value) for p in scatter.drawn}
    reach, rise = sizes.dot
    dots = [LabelBox(x - reach, y - rise, x + reach, y + rise) for x, y in points.values()]
    ranges = [
        LabelBox(x - 0.5, up.place(point.y.low), x + 0.5, up.place(point.y.high))
        for point in scatter.drawn
        for x in [across.place(point.x)]
        if not isnan(point.y.low)
    ]
    boxes: dict[str, LabelBox] = {}
    for name, place in points.items():
        places = _label_places(*place, widths[name], sizes)
        free = [box for box in places if not _covers(box, [*dots, *boxes.values()])]
        if free:
            boxes[name] = min(free, key=lambda box: _covers(box, ranges))
    return boxes


def _label_places(x: float, y: float, width: float, sizes: LabelSizes) -> list[LabelBox]:
    """Return the places for a label around a dot that are inside the plot, best first."""
    places = []
    for gap, (across, up) in product(sizes.gaps, LABEL_SIDES):
        middle_x = x + across * (sizes.dot[0] + gap + width / 2)
        middle_y = y + up * (sizes.dot[1] + gap / 2 + sizes.line / 2)
        left, bottom = middle_x - width / 2, middle_y - sizes.line / 2
        box = LabelBox(left, bottom, middle_x + width / 2, middle_y + sizes.line / 2, across)
        if box.left >= 0 and box.right <= sizes.end and box.bottom >= 0 and box.top <= 100:
            places.append(box)
    return places


def _covers(box: LabelBox, others: Sequence[LabelBox]) -> bool:
    return any(box.overlaps(other) for other in others)


# --- Word networks -------------------------------------------------------------------------------


Point = tuple[float, float]


class WordPosition(NamedTuple):
    """Line of a word, and its middle."""

    line: int
    middle: float


class NetworkLayout(NamedTuple):
    """Places of a word network: middles of words, points of arcs, and the size of the drawing."""

    words: dict[int, Point]
    arcs: dict[tuple[int, int], list[Point]]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class NetworkSizes:
    """Sizes of a word network: its width, the margin of lines, and the gap between words.

    ``arcs`` are the heights of the lowest and the highest arc, ``lift`` is the height of their ends
    above the words. ``head`` is the room above the arcs of a line, ``foot`` that below its words.
    """

    width: float
    margin: float
    gap: float
    arcs: tuple[float, float]
    lift: float
    head: float
    foot: float

    def lay_out(self, network: WordNetwork, measure: Callable[[str], float]) -> NetworkLayout:
        """Return the places of the words that anyone kept, and those of their arcs.

        Words are in as few lines as needed, with lines of similar length.
        """
        nodes = sorted({node for arc in network.arcs for node in arc})
        if len(nodes) > MAX_DRAWN_WORDS + 2:
            del nodes[MAX_DRAWN_WORDS + 1 :]
        widths = {node: measure(network.name(node)) + self.gap for node in nodes}
        lines = self._break_lines(widths, self.width)[nodes[-1]].line
        edge = self.margin + sum(widths.values()) / (lines + 1)
        while (places := self._break_lines(widths, edge))[nodes[-1]].line > lines:
            edge = min(edge + self.gap, self.width)
        arcs = [arc for arc in network.arcs if {*arc} <= places.keys()]
        heights = [self.arcs[0]] * (lines + 1)
        for a, b in arcs:
            for line in (places[a].line, places[b].line):
                heights[line] = max(heights[line], self._rise(places[a], places[b]))
        bottoms = [*accumulate(0.75 * height + self.head + self.foot for height in heights)]
        tops = [bottom - self.foot for bottom in bottoms]
        return NetworkLayout(
            {node: (place.middle, tops[place.line]) for node, place in places.items()},
            {(a, b): self._arc(places[a], places[b], tops, edge) for a, b in arcs},
            edge,
            bottoms[-1],
        )

    def _break_lines(self, widths: Mapping[int, float], edge: float) -> dict[int, WordPosition]:
        """Return the positions of words, of these widths with the gap, in lines up to the edge."""
        places, line, left = dict[int, WordPosition](), 0, self.margin
        for node, width in widths.items():
            if left + width > edge and left > self.margin:
                line, left = line + 1, self.margin
            places[node] = WordPosition(line, left + (width - self.gap) / 2)
            left += width
        return places

    def _rise(self, a: WordPosition, b: WordPosition) -> float:
        """Return the height of an arc."""
        span = b.middle - a.middle if a.line == b.line else self.width / 6
        return min(self.arcs[1], self.arcs[0] + span / 5)

    def _arc(
        self, a: WordPosition, b: WordPosition, tops: Sequence[float], edge: float
    ) -> list[Point]:
        """Return the four points of a cubic curve, or the six of two quadratic ones.

        An arc to another line leaves at the edge, and comes in at the left.
        """
        start, stop, rise = tops[a.line] - self.lift, tops[b.line] - self.lift, self._rise(a, b)
        if a.line == b.line:
            top = start - rise
            return [(a.middle, start), (a.middle, top), (b.middle, top), (b.middle, stop)]
        out, into = start - 0.6 * rise, stop - 0.6 * rise
        leave = [(a.middle, start), (a.middle, out), (edge, out)]
        return [*leave, (0, into), (b.middle, into), (b.middle, stop)]


def path_arcs(network: WordNetwork, path: Iterable[int]) -> set[tuple[int, int]]:
    """Return the arcs of a path through the words at these positions."""
    return {*pairwise((0, *path, len(network.words) + 1))}
