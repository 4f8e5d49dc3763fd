"""Reports as plain text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from textwrap import fill

from earwitness.report.parts import Lines, Quote, Report, Section, Table, WordBlock
from earwitness.report.tables import part_tables
from earwitness.text.alignment import display_width, pad_text


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
        texts += [
            draw_table(fitting)
            for table in part_tables(part)
            for fitting in fit_columns(table, width)
        ]
    yield from texts
    if texts and section.text:
        yield fill(section.text, width)


def draw_table(table: Table) -> str:
    """Return a table as text, with names left-aligned and numbers right-aligned."""
    rows, widths = [table.header, *table.rows], _column_widths(table)
    lines = [
        "  ".join(
            pad_text(text, width, left=index < table.names)
            for index, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([table.title, *(f"  {line}" for line in lines)])


def _column_widths(table: Table) -> list[int]:
    rows = [table.header, *table.rows]
    return [max(map(display_width, column)) for column in zip(*rows, strict=True)]


def fit_columns(table: Table, width: int) -> Iterator[Table]:
    """Yield the table, or parts of it that fit the width, each with the name columns."""
    names, widths = list(range(table.names)), _column_widths(table)
    chosen = list(names)
    for column in range(table.names, len(widths)):
        drawn = sum(widths[one] + 2 for one in (*chosen, column))  # each has two spaces before it
        if len(chosen) > len(names) and drawn > width:
            if table.may_miss:
                title = f"{table.title} (use --to md for all columns)"
                yield replace(table.columns(chosen), title=title)
                return
            yield table.columns(chosen)
            chosen = list(names)
        chosen.append(column)
    yield table.columns(chosen)


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
        unit = f" {part.unit}{'s' * (rest != 1)}" if part.unit else ""
        lines.append(f"  … and {rest:,} more{unit} ({part.more})")
    return "\n".join(lines)
