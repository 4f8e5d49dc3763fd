"""Columns of tables: key, heading, digits and note, declared once for all output formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

from earwitness.core import Estimate, Value
from earwitness.io.tables import comment_line, csv_text
from earwitness.report.numbers import cell, number, p_value, short_number
from earwitness.report.parts import Table


class TableRows(NamedTuple):
    """Columns and rows of a table for programs; ``signature`` is that of all rows.

    It is in every record, and in the comment at the head of CSV.
    """

    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]
    signature: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """Column of a table; screen, pages, LaTeX, CSV, JSON and records derive from it.

    Attributes
    ----------
    key
        Name in records, CSV and JSON. A column without key and parts is only shown.
    heading
        Heading for people; by default the key.
    value
        Range and better end of the numbers, from which their digits follow; by default those of
        the row.
    parts
        Attributes of the cell by their names in records, such as the ends of an interval.
    show
        Returns the text of a cell for people; by default that of ``show_cell``.
    counted
        Whether the text of an estimate is followed by its n.
    hidden
        Whether the column is only in records.
    note
        Meaning of the column, for ``column_notes``.
    """

    key: str = ""
    heading: str | None = None
    value: Value | None = None
    parts: Mapping[str, str] = field(default_factory=dict)
    show: Callable[[Any], str] | None = None
    counted: bool = False
    hidden: bool = False
    note: str = ""

    @property
    def label(self) -> str:
        """Heading for people."""
        return self.key if self.heading is None else self.heading

    @property
    def keys(self) -> list[str]:
        """Names in records."""
        return [*self.parts] or ([self.key] if self.key else [])

    def text(self, content: Any, value: Value | None) -> str:
        """Return a cell for people; ``value`` is that of the row."""
        if content is None or self.show is None:
            shown = show_cell(content, self.value or value)
            return f"{shown} n {content.n:,}" if self.counted and content is not None else shown
        return self.show(content)

    def record(self, content: Any) -> list[Any]:
        """Return the cells of records; they are empty if there is no content."""
        if self.parts:
            parts = self.parts.values()
            return ["" if content is None else attrgetter(part)(content) for part in parts]
        content = content.name if isinstance(content, Value) else content
        return ["" if content is None else content] if self.key else []


Columns = tuple[Column | str, ...]  # a text is the key and heading of a column


def show_cell(content: Any, value: Value | None = None) -> str:
    """Return a cell for people: numbers with the digits of a value, and "–" for none.

    >>> rating = Value("MOS", "high", 1, 5, "mean of votes")
    >>> show_cell(3.14159, rating), show_cell(12000), show_cell(rating), show_cell(None)
    ('3.14', '12,000', 'MOS', '–')
    """
    match content:
        case None:
            return "–"
        case Value():
            return content.name
        case Estimate() if value is not None:
            return cell(content, value)
        case int():
            return f"{content:,}"
        case float():
            return number(content, value) if value else short_number(content)
        case _:
            return str(content)


def declare_columns(columns: Iterable[Column | str]) -> list[Column]:
    """Return columns as objects."""
    return [Column(column) if isinstance(column, str) else column for column in columns]


def draw_rows(
    title: str,
    columns: Iterable[Column | str],
    rows: Iterable[Sequence[Any]],
    names: int = 1,
    *,
    value: Value | None = None,
    sortable: bool = False,
) -> Table:
    """Return rows of plain cells as a table for people; the first ``names`` columns are names.

    Numbers have the digits of the value of their column, else of a ``Value`` among the cells of the
    row (such as its scale, which is shown as its name), else of ``value``.
    """
    declared = enumerate(declare_columns(columns))
    shown = [(place, column) for place, column in declared if not column.hidden]
    texts = []
    for row in rows:
        own = next((content for content in row if isinstance(content, Value)), value)
        texts.append(tuple(column.text(row[place], own) for place, column in shown))
    header = tuple(column.label for _, column in shown)
    return Table(title, header, tuple(texts), names, sortable=sortable)


def record_rows(
    columns: Iterable[Column | str], rows: Iterable[Sequence[Any]], signature: str = ""
) -> TableRows:
    """Return rows of plain cells as a table for programs."""
    declared = declare_columns(columns)
    records = [
        [x for column, content in zip(declared, row, strict=True) for x in column.record(content)]
        for row in rows
    ]
    return TableRows([key for column in declared for key in column.keys], records, signature)


def table_csv(table: tuple[Any, ...], **provenance: Any) -> str:
    """Return a table as CSV, with signature and further provenance in a comment at the head."""
    columns, rows, signature = TableRows(*table)
    facts = ({"signature": signature} if signature else {}) | provenance
    return (comment_line(**facts) if facts else "") + csv_text([columns, *rows])


def column_notes(columns: Iterable[Column]) -> Iterator[str]:
    """Yield the meaning of each column that has a note, as a sentence."""
    for column in columns:
        if column.note:
            yield f"{column.label[:1].upper()}{column.label[1:]}: {column.note}."


# --- Columns of estimates and tests --------------------------------------------------------------


def estimate_parts(*names: str, prefix: str = "") -> dict[str, str]:
    """Return parts of an estimate, such as its value and the ends of its interval."""
    return {f"{prefix}{name}": name for name in names}


ESTIMATE_PARTS = estimate_parts("value", "low", "high", "level", "n", "undefined", "method")
PAIR = Column(heading="pair", parts=estimate_parts("a", "b"), show=lambda x: f"{x.a} − {x.b}")
N = Column(heading="n")
P = Column("p", show=p_value)
