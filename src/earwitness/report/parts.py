"""Parts of a report: sections, tables, plots, matrices, timelines and quotes.

Whatever is measured, a report is sections of these parts; every medium knows how to show each of
them, or shows its table instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from earwitness.core import Alignment, Contrast, Estimate, ExampleItem, Value, WordNetwork
from earwitness.text.alignment import format_alignments

ABOUT_ARCS = "Arcs are the thicker the more people went that way; coloured: a closest path."
PEOPLE_SERIES = "(people)"  # a series that is no system

# --- Parts of a section --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Table:
    """Column names and rows; the first ``names`` columns are names, the others are numbers.

    Where it is too wide, columns that ``may_miss`` are left out, others go below.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1
    may_miss: bool = False

    def columns(self, chosen: Sequence[int]) -> Table:
        """The same table with these columns only."""
        header, *rows = [tuple(row[i] for i in chosen) for row in (self.header, *self.rows)]
        return replace(self, header=header, rows=tuple(rows))


@dataclass(frozen=True, slots=True)
class Lines:
    """A list of texts."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Intervals:
    """Estimates of one value, in rows, by series (such as systems).

    ``table`` says more than the one that would be made of the estimates. Where a number is
    ``marked``, a line is drawn there, and the axis holds the estimates instead of the whole scale.
    """

    title: str
    value: Value
    heading: str
    rows: tuple[tuple[str, Mapping[str, Estimate]], ...]
    table: Table | None = None
    marked: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """Estimates of one value over the numbers of a parameter, by series."""

    title: str
    value: Value
    parameter: str
    unit: str
    points: tuple[tuple[float, Mapping[str, Estimate]], ...]


@dataclass(frozen=True, slots=True)
class ValueSpread:
    """How the values of single cases lie, by series; ``cases`` are all that there are.

    ``unit`` says what a case is.
    """

    title: str
    value: Value
    series: Mapping[str, tuple[float, ...]]
    cases: int
    bins: int = 30
    unit: str = "cases"
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class VoteCounts:
    """How votes divide over the values of a scale: a row a system, counts by value.

    ``notes`` are said beside the rows; ``table`` has the numbers.
    """

    title: str
    value: Value
    rows: tuple[tuple[str, Mapping[float, int]], ...]
    notes: Mapping[str, str]
    table: Table


@dataclass(frozen=True, slots=True)
class Panel:
    """One listener: the mean of each system, a remark, and whether they were left out."""

    name: str
    means: Mapping[str, float]
    remark: str
    is_excluded: bool


@dataclass(frozen=True, slots=True)
class Panels:
    """A small picture a listener, each beside the means of all; ``table`` has the numbers."""

    title: str
    value: Value
    everyone: Mapping[str, float]
    panels: tuple[Panel, ...]
    table: Table


@dataclass(frozen=True, slots=True)
class ScatterPoint:
    """A system beside people: the score, and the mean rating with its interval."""

    name: str
    x: float
    y: Estimate


@dataclass(frozen=True, slots=True)
class Scatter:
    """One metric beside people; ``told`` is said beside its name, ``curve`` is a mapping."""

    name: str
    caption: str
    points: tuple[ScatterPoint, ...]
    curve: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Scatters:
    """A small picture a metric, all with the same axis of people; ``table`` has the numbers."""

    title: str
    value: Value
    plots: tuple[Scatter, ...]
    table: Table


@dataclass(frozen=True, slots=True)
class Matrix:
    """Who is better than whom by one value; ``correction`` is that of p for many pairs.

    Systems that were only rated against others have no estimate of their own; ``controls`` are
    rated but do not compete.
    """

    title: str
    value: Value
    systems: Mapping[str, Estimate | None]
    contrasts: tuple[Contrast, ...]
    correction: str = "holm"
    controls: tuple[str, ...] = ()

    @property
    def estimated(self) -> bool:
        """Whether any system has an estimate of its own."""
        return any(estimate is not None for estimate in self.systems.values())


@dataclass(frozen=True, slots=True)
class Heat:
    """A coloured square of numbers, a row and a column a name; ``table`` has all numbers."""

    title: str
    value: Value
    names: tuple[str, ...]
    cells: Mapping[tuple[str, str], Estimate]
    table: Table


@dataclass(frozen=True, slots=True)
class Timeline:
    """Boundaries of people and systems over time, and the systems' values."""

    title: str
    shown: ExampleItem
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class CategoryShares:
    """How a whole and its parts divide into categories: a row each, counts by category."""

    title: str
    rows: tuple[tuple[str, Mapping[str, float]], ...]


@dataclass(frozen=True, slots=True)
class NetworkPart:
    """A word network; ``number`` tells it from others, ``picked`` is whose path stands out."""

    title: str
    network: WordNetwork
    number: int
    picked: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class WordBlock:
    """Words of an output beside what was wanted."""

    title: str
    alignments: tuple[Alignment, ...]

    @property
    def text(self) -> str:
        """With columns that are to stay below each other."""
        return format_alignments(self.alignments)


@dataclass(frozen=True, slots=True)
class Quote:
    """Text to copy into a paper."""

    text: str


# --- Sections and reports ------------------------------------------------------------------------


# pictures of one value, with a table
ValuePlot = Intervals | Curve | ValueSpread | VoteCounts | Panels | Scatters | Heat
Part = (
    Table | Lines | Quote | ValuePlot | Matrix | Timeline | NetworkPart | CategoryShares | WordBlock
)
Place = Literal["everywhere", "pages", "pictures"]


@dataclass(frozen=True, slots=True)
class Section:
    """Parts under a heading; ``text`` says what is to be seen.

    Some are for pages (not for the terminal), some only for media that draw. Folded ones open on
    demand.
    """

    title: str
    parts: tuple[Part, ...]
    text: str = ""
    place: Place = "everywhere"
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """A title, what it is about in a line, sections, and where the numbers come from.

    ``more`` says, where only a part is shown, how to see the rest.
    """

    title: str
    about: str
    series: tuple[str, ...]
    sections: tuple[Section, ...]
    provenance: tuple[str, ...]
    more: str = ""
