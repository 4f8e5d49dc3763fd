"""Contents of charts, shared by pages and files: axes, ticks, places of labels, word networks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, floor, isfinite, isnan, log10
from typing import NamedTuple

from earwitness.core import Estimate, Value
from earwitness.report.numbers import short_number
from earwitness.report.parts import Curve, Intervals, Panels, Plane, Scatter, Scatters, VoteCounts

MAX_BANDS = 3  # with more lines of a curve, bands are pale
MAX_MARKED_POINTS = 12  # with more points per line, only those at ticks have marks
MAX_DRAWN_DIFFERENCES = 60  # if there are more, pages draw only those from the best system
MAX_DRAWN_WORDS = 300  # of a word network

# --- Axes and ticks ------------------------------------------------------------------------------


TICK_COUNT = 5
CLOSE_TICK_COUNT = 7  # of axes that end close to the data
AXIS_MARGIN = 0.04  # beyond the numbers, as a share of their range
MIN_TICK_STEPS = 0.5  # between the ends of an axis and the next tick
# the axis is logarithmic if the largest number exceeds the smallest by more than this factor
LOG_SCALE_ABOVE_RATIO = 8
TIME_STEPS_SECONDS = [
    *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400),
    *(86400.0 * 10**n for n in range(1, 6)),
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


PERCENT_AXIS = Axis(0.0, 100.0, (0.0, 25.0, 50.0, 75.0, 100.0))


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
    ticks = _multiples(step, floor(low / step + 1e-9), ceil(high / step - 1e-9))
    return Axis(ticks[0], ticks[-1], ticks)


def fit_estimates(estimates: Iterable[Estimate], value: Value | None = None) -> Axis:
    """Return an axis that covers estimates and the ends of their intervals."""
    return fit_axis([x for e in estimates for x in (e.value, e.low, e.high)], value)


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


def is_logarithmic(xs: Sequence[float]) -> bool:
    """Return whether the range is so wide that the axis is logarithmic."""
    return min(xs) > 0 and max(xs) / min(xs) > LOG_SCALE_ABOVE_RATIO


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


def curve_axis(part: Curve) -> Axis:
    """Return the vertical axis of a curve."""
    if part.fitted:
        return close_axis(part.covered)
    return fit_estimates((e for _, row in part.points for e in row.values()), part.value)


def curve_ticks(part: Curve) -> tuple[list[float], set[float]]:
    """Return the horizontal ticks of a curve, and at which numbers its lines have marks."""
    xs = [x for x, _ in part.points]
    ticks = count_ticks(min(xs), max(xs)) if part.fitted else xs
    return ticks, {*(ticks if part.fitted and len(xs) > MAX_MARKED_POINTS else xs)}


def panels_axis(part: Panels) -> Axis:
    """Return the common vertical axis of the panels of listeners."""
    means = [x for panel in part.panels for x in panel.means.values()]
    return fit_axis([*means, *part.everyone.values()], part.value)


def scatter_axes(part: Scatters) -> tuple[list[Axis], Axis]:
    """Return the horizontal axis of each plot, and their common vertical axis."""
    if part.maximum is not None:
        shared = maximum_axis(part.maximum)
        return [shared] * len(part.plots), shared
    points = [point for scatter in part.plots for point in scatter.points]
    return [scatter_axis(one) for one in part.plots], fit_estimates(point.y for point in points)


def scatter_axis(scatter: Scatter) -> Axis:
    """Return the horizontal axis of a plot by itself."""
    return fit_axis([point.x for point in scatter.drawn])


def plane_axes(part: Plane) -> tuple[Axis, Axis]:
    """Return the horizontal and the vertical axis of a plane."""
    if part.maximum is not None:
        return (maximum_axis(part.maximum),) * 2
    points = [point for one in part.series for point in one.drawn]
    return fit_estimates(point.x for point in points), fit_estimates(point.y for point in points)


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
    scatter: Scatter, axes: tuple[Axis, Axis], widths: Mapping[str, float], sizes: LabelSizes
) -> dict[str, LabelBox]:
    """Return places of labels where they cover no dot and no other label.

    Places that also avoid the intervals of ratings are preferred. Labels without room are omitted.
    """
    across, up = axes
    points = {p.name: (across.place(p.x), up.place(p.y.value)) for p in scatter.drawn}
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
        best = next((box for box in free if not _covers(box, ranges)), free[0] if free else None)
        if best is not None:
            boxes[name] = best
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


class WordPosition(NamedTuple):
    """Position of a word: its line, and its left and right end."""

    line: int
    left: float
    right: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


@dataclass(frozen=True, slots=True)
class NetworkSizes:
    """Sizes of a word network: its width, the margin of lines, and the gap between words.

    ``arcs`` are the heights of the lowest and the highest arc, ``lift`` is the height of their ends
    above the words.
    """

    width: float
    margin: float
    gap: float
    arcs: tuple[float, float]
    lift: float

    def break_lines(self, widths: Mapping[int, float], limit: float) -> dict[int, WordPosition]:
        """Return the positions of words of these widths in lines that end at the limit."""
        places, line, left = dict[int, WordPosition](), 0, self.margin
        for node, width in widths.items():
            if left + width > limit and left > self.margin:
                line, left = line + 1, self.margin
            places[node] = WordPosition(line, left, left + width)
            left += width + self.gap
        return places

    def rise(self, a: WordPosition, b: WordPosition) -> float:
        """Return the height of an arc."""
        span = b.middle - a.middle if a.line == b.line else self.width / 6
        return min(self.arcs[1], self.arcs[0] + span / 5)

    def highest(
        self, arcs: Iterable[tuple[int, int]], places: Mapping[int, WordPosition]
    ) -> list[float]:
        """Return the height of the highest arc above each line."""
        heights = [self.arcs[0]] * (max(place.line for place in places.values()) + 1)
        for a, b in arcs:
            for line in (places[a].line, places[b].line):
                heights[line] = max(heights[line], self.rise(places[a], places[b]))
        return heights

    def arc(
        self, a: WordPosition, b: WordPosition, tops: Sequence[float], edge: float
    ) -> list[tuple[float, float]]:
        """Return the four points of a cubic curve, or the six of two quadratic ones.

        An arc to another line leaves at the right edge, and comes in at the left.
        """
        start, stop, rise = tops[a.line] - self.lift, tops[b.line] - self.lift, self.rise(a, b)
        if a.line == b.line:
            top = start - rise
            return [(a.middle, start), (a.middle, top), (b.middle, top), (b.middle, stop)]
        out, into = start - 0.6 * rise, stop - 0.6 * rise
        leave = [(a.middle, start), (a.middle, out), (edge, out)]
        return [*leave, (0, into), (b.middle, into), (b.middle, stop)]
