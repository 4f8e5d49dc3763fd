"""Reports as plain text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from textwrap import fill
from typing import NamedTuple

from earwitness.report.parts import Lines, Quote, Report, Section, Table, WordBlock
from earwitness.report.tables import part_tables
from earwitness.text.alignment import display_width


def render_text(report: Report, width: int = 100) -> str:
    """Return the report as text: tables that fit the width, provenance, and a hint for more."""
    sections = [section for section in report.sections if section.place == "everywhere"]
    parts = [part for section in sections for part in _section_texts(section, width)]
    more = [fill(report.more, width)] if report.more else []
    return "\n\n".join([*parts, "\n".join(report.provenance), *more]) + "\n"


def _section_texts(section: Section, width: int) -> Iterator[str]:
    texts = []
    for part in section.parts:
        if isinstance(part, Lines):
            texts.append(_list_text(part, width))
        elif isinstance(part, Quote):
            texts.append(fill(part.text, width))
        elif isinstance(part, WordBlock):
            texts.append("\n".join([part.title, *(f"  {line}" for line in part.text.splitlines())]))
        texts += [drawn for table in part_tables(part) for drawn in draw_tables(table, width)]
    yield from texts
    if texts and section.text:
        yield fill(section.text, width)


class _Column(NamedTuple):
    """Texts that are padded to the same width."""

    width: int
    texts: list[str]


def draw_tables(table: Table, width: float = inf) -> Iterator[str]:
    """Yield a table as text, in parts that fit the width, each with the name columns.

    Names are left-aligned, and numbers are right-aligned.
    """
    cells = zip(table.header, *table.rows, strict=True)
    columns = [_pad_column(texts, is_name=i < table.names) for i, texts in enumerate(cells)]
    names, parts = columns[: table.names], [list[_Column]()]
    for column in columns[table.names :]:
        drawn = (*names, *parts[-1], column)
        if parts[-1] and sum(column.width + 2 for column in drawn) > width:  # with two spaces each
            parts.append([])
        parts[-1].append(column)
    title = table.title
    if table.may_miss and len(parts) > 1:
        title, parts = f"{title} (use --to md for all columns)", parts[:1]
    for part in parts:
        rows = zip(*(column.texts for column in (*names, *part)), strict=True)
        yield "\n".join([title, *("  " + "  ".join(row).rstrip() for row in rows)])


def _pad_column(texts: Sequence[str], *, is_name: bool) -> _Column:
    widths = [*map(display_width, texts)]
    widest = max(widths)
    spaces = (" " * (widest - width) for width in widths)
    pairs = zip(texts, spaces, strict=True)
    return _Column(widest, [text + space if is_name else space + text for text, space in pairs])


def _list_text(part: Lines, width: int) -> str:
    """Return lines below their title; sentences without a title are wrapped."""
    all_fit = len(part.lines) <= part.shown
    shown = part.lines if all_fit else part.lines[: part.shown - 1]  # the last line counts the rest
    if part.title:
        lines = [part.title, *(f"  {line}" for line in shown)]
    else:
        lines = [
            fill(line, width, subsequent_indent="  ", break_on_hyphens=False) for line in shown
        ]
    if rest := len(part.lines) - len(shown):
        unit = f" {part.unit}{'s' if rest != 1 else ''}" if part.unit else ""
        lines.append(f"  … and {rest:,} more{unit} ({part.more})")
    return "\n".join(lines)
