"""A result as Markdown, to paste into a paper's notebook or a merge request."""

from __future__ import annotations

from earwitness.data import Left, Scores
from earwitness.report.tables import Table, footer, left_line, score_tables, worst_table


def markdown(scores: Scores) -> str:
    """Tables with their provenance."""
    parts = ["# Scores", *(table_lines(table) for table in score_tables(scores))]
    if scores.worst:
        parts.append(table_lines(worst_table(scores)))
    for what, left in (("Skipped", scores.skipped), ("Scored as empty", scores.emptied)):
        if left:
            parts.append(left_part(what, left))
    parts.append(provenance_part(footer(scores)))
    return "\n\n".join(parts) + "\n"


def provenance_part(lines: list[str]) -> str:
    """Where the numbers come from, to copy."""
    made = [f"- {escape(line)}" if "`" in line else f"- `{line}`" for line in lines]
    return "\n".join(["## Provenance", "", *made])


def escape(text: str) -> str:
    """Text that Markdown leaves alone.

    >>> print(escape("a|b_c"))
    a\\|b\\_c
    """
    for char in "\\`*_<>|[]#":
        text = text.replace(char, "\\" + char)
    return " ".join(text.split())


def table_lines(table: Table) -> str:
    """A table with its heading."""
    lines = [f"## {escape(table.title)}", "", _line(table.header)]
    lines.append(_line([":--", *["--:"] * (len(table.header) - 1)], raw=True))
    return "\n".join([*lines, *(_line(row) for row in table.rows)])


def _line(cells: tuple[str, ...] | list[str], *, raw: bool = False) -> str:
    return f"| {' | '.join(cell if raw else escape(cell) for cell in cells)} |"


def left_part(what: str, left: tuple[Left, ...]) -> str:
    """All cases that were left out or emptied."""
    rows = [f"- {escape(left_line(one))}" for one in left]
    return "\n".join([f"## {what}", "", *rows])
