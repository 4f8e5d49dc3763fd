"""A result for the terminal."""

from __future__ import annotations

from unicodedata import combining, east_asian_width

from earwitness.data import Left, Scores
from earwitness.report.tables import Table, footer, left_line, score_tables, worst_table

SHOWN_LEFT = 20


def text(scores: Scores, width: int = 100) -> str:
    """Tables that fit the width, then where the numbers come from."""
    parts = [
        draw(table) for systems in _groups(scores, width) for table in score_tables(scores, systems)
    ]
    if scores.worst:
        parts.append(draw(_narrow(worst_table(scores), width)))
    for what, left in (("skipped", scores.skipped), ("scored as empty", scores.emptied)):
        if left:
            parts.append(left_lines(what, left))
    parts.append("\n".join(footer(scores)))
    return "\n\n".join(parts) + "\n"


def draw(table: Table) -> str:
    """A table in columns: names to the left, numbers to the right."""
    rows = [table.header, *table.rows]
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            pad(text, width, left=index == 0)
            for index, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([table.title, *(f"  {line}" for line in lines)])


def cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    wide = sum(east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(combining(char) > 0 for char in text)


def pad(text: str, width: int, *, left: bool) -> str:
    """A text filled up to a width."""
    space = " " * (width - cells(text))
    return text + space if left else space + text


def _groups(scores: Scores, width: int) -> list[list[str]]:
    """Systems side by side, as many as fit."""
    groups: list[list[str]] = []
    for system in scores.systems:
        joined = [*groups[-1], system] if groups else [system]
        drawn = (draw(table) for table in score_tables(scores, joined))
        fits = max(cells(line) for text in drawn for line in text.splitlines()[1:]) <= width
        if groups and fits:
            groups[-1] = joined
        else:
            groups.append([system])
    return groups


def _narrow(table: Table, width: int) -> Table:
    """As many columns as fit, but at least the first three."""
    for keep in range(len(table.header), 3, -1):
        cut = Table(table.title, table.header[:keep], tuple(row[:keep] for row in table.rows))
        if all(cells(line) <= width for line in draw(cut).splitlines()):
            return cut if keep == len(table.header) else _with_more(cut)
    return Table(table.title, table.header[:3], tuple(row[:3] for row in table.rows))


def _with_more(table: Table) -> Table:
    return Table(f"{table.title} (more columns with --to md)", table.header, table.rows)


def left_lines(what: str, left: tuple[Left, ...]) -> str:
    """The first of the cases that were left out or emptied."""
    lines = [f"{len(left):,} {what}"]
    lines += [f"  {left_line(one)}" for one in left[:SHOWN_LEFT]]
    if len(left) > SHOWN_LEFT:
        lines.append(f"  … and {len(left) - SHOWN_LEFT:,} more; --to json lists all")
    return "\n".join(lines)
