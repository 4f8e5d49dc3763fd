"""Reports as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from earwitness.report.parts import Lines, Part, Quote, Report, Section, Table, WordBlock
from earwitness.report.tables import part_tables


def render_markdown(report: Report) -> str:
    """Return the report as Markdown, with tables and provenance."""
    parts = [f"# {escape(report.title)}", escape(report.about)]
    sections = [section for section in report.sections if section.place != "pictures"]
    parts += [part for section in sections for part in _section_texts(section)]
    return "\n\n".join([*parts, _provenance_section(report.provenance)]) + "\n"


def _section_texts(section: Section) -> Iterator[str]:
    texts = [_part_text(part) for part in section.parts]
    if any(texts):
        yield from [f"## {escape(section.title)}", *filter(None, [escape(section.text), *texts])]


def _part_text(part: Part) -> str:
    if isinstance(part, Lines):
        return _list_text(part)
    if isinstance(part, Quote):
        return f"> {escape(part.text)}"
    if isinstance(part, WordBlock):
        fence = "`" * (3 + part.text.count("```"))
        return f"### {escape(part.title)}\n\n{fence}text\n{part.text}\n{fence}"
    return "\n\n".join(table_text(table) for table in part_tables(part))


def _provenance_section(lines: tuple[str, ...]) -> str:
    """Return the provenance as a list."""
    items = [f"- {escape(line)}" if "`" in line else f"- `{line}`" for line in lines]
    return "\n".join(["## Provenance", "", *items])


def escape(text: str) -> str:
    """Return text with Markdown characters escaped.

    >>> print(escape("a|b_c"))
    a\\|b\\_c
    """
    text = text.replace("&", "&amp;")
    for char in "\\`*_<>|[]#":
        text = text.replace(char, "\\" + char)
    return " ".join(text.split())


def table_text(table: Table) -> str:
    """Return a table with its heading."""
    lines = [f"### {escape(table.title)}", "", _table_line(table.header)]
    lines.append(
        _table_line([":--"] * table.names + ["--:"] * (len(table.header) - table.names), raw=True)
    )
    return "\n".join([*lines, *(_table_line(row) for row in table.rows)])


def _table_line(cells: tuple[str, ...] | list[str], *, raw: bool = False) -> str:
    return f"| {' | '.join(cell if raw else escape(cell) for cell in cells)} |"


def _list_text(part: Lines) -> str:
    heading = [f"### {escape(part.title)}", ""] if part.title else []
    return "\n".join([*heading, *(f"- {escape(line)}" for line in part.lines)])
