"""Parts of a report: sections, tables, plots, matrices, timelines and quotes.

All reports are built from these parts. Each output format renders a part, or its table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, isnan
from typing import Literal

from earwitness.core import (
    Alignment,
    BoundaryMatching,
    Contrast,
    Estimate,
    ExampleItem,
    Value,
    WordNetwork,
)
from earwitness.text.alignment import format_alignments

ABOUT_ARCS = (
    "The width of an arc shows how many people chose it. Coloured: a path closest to the output "
    "of the selected system."
)
PEOPLE_SERIES = "(people)"  # series of human annotators

# --- Parts of a section --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Table:
    """Table with a header; the first ``names`` columns are names, the others numbers.

    If it is too wide, columns are omitted if ``may_miss``, else continued below. Pages let readers
    sort and filter the rows if ``sortable``.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1
    may_miss: bool = False
    sortable: bool = False

    def columns(self, chosen: Sequence[int]) -> Table:
        """Return the table with only these columns."""
        header, *rows = [tuple(row[i] for i in chosen) for row in (self.header, *self.rows)]
        return replace(self, header=header, rows=tuple(rows))


@dataclass(frozen=True, slots=True)
class Lines:
    """List of texts, of which the terminal shows at most ``shown``.

    If there are more, its last line says how many and, in ``more``, where. ``unit`` names one text.
    """

    title: str
    lines: tuple[str, ...]
    shown: int = 20
    more: str = "use --to json for all"
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Intervals:
    """Estimates of one value in rows, by series (such as systems).

    ``table`` replaces the default table of the estimates. If ``marked`` is set, a line is drawn
    there, and the axis covers the estimates instead of the whole scale.
    """

    title: str
    value: Value
    heading: str
    rows: tuple[tuple[str, Mapping[str, Estimate]], ...]
    table: Table | None = None
    marked: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """Estimates of one value by the values of a parameter and by series.

    If ``fitted``, both axes are linear and cover the data only, and lines are labelled at their
    ends. ``note`` is written into figures, and ``table`` replaces the default table of the
    estimates. Pages show a ``compact`` curve at half their width. If ``clipped``, the axis covers
    all estimates but only the intervals of the last point; wider ones end at its edge.
    """

    title: str
    value: Value
    parameter: str
    unit: str
    points: tuple[tuple[float, Mapping[str, Estimate]], ...]
    fitted: bool = False
    note: str = ""
    table: Table | None = None
    compact: bool = False
    clipped: bool = False

    @property
    def covered(self) -> list[float]:
        """Numbers that the axis of a fitted curve covers."""
        rows = [row.values() for _, row in self.points]
        bounded = rows[-1:] if self.clipped else rows
        values = [estimate.value for row in rows for estimate in row]
        return values + [x for row in bounded for e in row for x in (e.low, e.high)]

    @property
    def lines(self) -> dict[str, list[tuple[float, Estimate]]]:
        """Defined points of all series, in the order in which these appear."""
        lines: dict[str, list[tuple[float, Estimate]]] = {
            name: [] for _, row in self.points for name in row
        }
        for x, row in self.points:
            for name, estimate in row.items():
                if not isnan(estimate.value):
                    lines[name].append((x, estimate))
        return lines


@dataclass(frozen=True, slots=True)
class ValueSpread:
    """Distribution of the values of single cases by series; ``cases`` is the number of all cases.

    ``unit`` names the cases.
    """

    title: str
    value: Value
    series: Mapping[str, tuple[float, ...]]
    cases: int
    bins: int = 30
    unit: str = "outputs"
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class VoteCounts:
    """Distribution of votes over the values of a scale: one row per system, counts by value.

    ``notes`` are shown next to the rows; ``table`` has the numbers.
    """

    title: str
    value: Value
    rows: tuple[tuple[str, Mapping[float, int]], ...]
    notes: Mapping[str, str]
    table: Table


@dataclass(frozen=True, slots=True)
class Panel:
    """One listener: the mean of each system, a remark, and whether the listener was excluded."""

    name: str
    means: Mapping[str, float]
    remark: str
    is_excluded: bool


@dataclass(frozen=True, slots=True)
class Panels:
    """One small plot per listener, with the means of all listeners; ``table`` has the numbers."""

    title: str
    value: Value
    everyone: Mapping[str, float]
    panels: tuple[Panel, ...]
    table: Table


@dataclass(frozen=True, slots=True)
class ScatterPoint:
    """One system: its mean score, and its mean rating with the interval."""

    name: str
    x: float
    y: Estimate


@dataclass(frozen=True, slots=True)
class Scatter:
    """Scores of one metric versus ratings; ``caption`` follows its name, ``curve`` is a mapping."""

    name: str
    caption: str
    points: tuple[ScatterPoint, ...]
    curve: tuple[tuple[float, float], ...] = ()

    @property
    def drawn(self) -> list[ScatterPoint]:
        """Points that are defined."""
        return [point for point in self.points if isfinite(point.x) and isfinite(point.y.value)]


@dataclass(frozen=True, slots=True)
class Scatters:
    """One small plot per metric, all with the same rating axis; ``table`` has the numbers.

    ``across`` is the label of the horizontal axes; by default, the name of each plot. With a
    ``maximum`` of both values, plots are as those of ``Plane`` with it.
    """

    title: str
    value: Value
    plots: tuple[Scatter, ...]
    table: Table
    across: str = ""
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class PlanePoint:
    """A point with intervals in both directions; ``name`` is its label.

    ``outline`` has points of its confidence ellipse, which is drawn in place of the intervals.
    """

    name: str
    x: Estimate
    y: Estimate
    outline: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class PlaneSeries:
    """Points of one series; a line joins them in their order."""

    name: str
    points: tuple[PlanePoint, ...]

    @property
    def drawn(self) -> list[PlanePoint]:
        """Points that are defined."""
        return [p for p in self.points if isfinite(p.x.value) and isfinite(p.y.value)]


@dataclass(frozen=True, slots=True)
class Plane:
    """Several series of points in one plane of two values; ``table`` has the numbers.

    With a ``maximum`` of both values, axes go from 0 to beyond it, and dashed lines show it.
    """

    title: str
    value: Value
    across: Value
    series: tuple[PlaneSeries, ...]
    table: Table
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class Matrix:
    """Pairwise comparison of systems by one value; ``correction`` is that of p for multiple tests.

    Systems that were only rated relative to others have no estimate of their own; ``controls`` are
    rated but excluded from the ranking, as are systems with too ``few`` votes. ``votes`` are the
    numbers of votes of systems whose votes are all equal.
    """

    title: str
    value: Value
    systems: Mapping[str, Estimate | None]
    contrasts: tuple[Contrast, ...]
    correction: str = "holm"
    controls: tuple[str, ...] = ()
    few: tuple[str, ...] = ()
    votes: Mapping[str, int] = field(default_factory=dict)

    @property
    def has_estimates(self) -> bool:
        """Whether any system has an estimate of its own."""
        return any(estimate is not None for estimate in self.systems.values())


@dataclass(frozen=True, slots=True)
class Heat:
    """Coloured square of numbers, one row and one column per name; ``table`` has the numbers."""

    title: str
    value: Value
    names: tuple[str, ...]
    cells: Mapping[tuple[str, str], Estimate]
    table: Table


@dataclass(frozen=True, slots=True)
class Timeline:
    """Boundaries of annotators and systems over time, and the values of systems.

    ``matching`` tells hits, false alarms and misses apart; ``titles`` are tables of titles.
    """

    title: str
    shown: ExampleItem
    values: tuple[Value, ...]
    matching: BoundaryMatching
    titles: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True)
class CategoryShares:
    """Composition by category: one row for the whole and per part, counts by category."""

    title: str
    rows: tuple[tuple[str, Mapping[str, float]], ...]


@dataclass(frozen=True, slots=True)
class NetworkPart:
    """Word network; ``number`` identifies it on the page, ``picked`` is the highlighted system.

    The table of the words that each person kept is folded unless ``grid_open``.
    """

    title: str
    network: WordNetwork
    number: int
    picked: str
    why: str = ""
    grid_open: bool = False


@dataclass(frozen=True, slots=True)
class WordBlock:
    """Words of an output aligned with the reference."""

    title: str
    alignments: tuple[Alignment, ...]

    @property
    def text(self) -> str:
        """Alignment as text in columns."""
        return format_alignments(self.alignments)


@dataclass(frozen=True, slots=True)
class Quote:
    """Text to copy into a paper."""

    text: str


# --- Sections and reports ------------------------------------------------------------------------


# plots of one value, with a table
ValuePlot = Intervals | Curve | ValueSpread | VoteCounts | Panels | Scatters | Plane | Heat
Part = (
    Table | Lines | Quote | ValuePlot | Matrix | Timeline | NetworkPart | CategoryShares | WordBlock
)
Place = Literal["everywhere", "pages", "pictures"]


@dataclass(frozen=True, slots=True)
class Section:
    """Parts under a heading; ``text`` explains them.

    ``place`` limits a section to pages (not the terminal), or to formats with pictures. Folded
    sections
    open on demand.
    """

    title: str
    parts: tuple[Part, ...]
    text: str = ""
    place: Place = "everywhere"
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """Report with a title, a one-line description, sections and provenance.

    ``more`` is a hint where to find the parts that are not shown. ``human`` is the series that is
    the work of people, if there is one.
    """

    title: str
    about: str
    series: tuple[str, ...]
    sections: tuple[Section, ...]
    provenance: tuple[str, ...]
    more: str = ""
    human: str = ""
