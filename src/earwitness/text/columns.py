"""Words in columns, one line below the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from unicodedata import combining, east_asian_width


def cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    wide = sum(east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(combining(char) > 0 for char in text)


def pad(text: str, width: int, *, left: bool) -> str:
    """A text filled up to a width."""
    space = " " * (width - cells(text))
    return text + space if left else space + text


def columns(names: Sequence[str], table: Sequence[Sequence[str]], width: int = 100) -> str:
    """A line a name, a column an entry of the table; as many columns at a time as fit the width.

    >>> print(columns(["A:", "B:"], [("one", "1"), ("two", "22")]))
    A: one two
    B: 1   22
    """
    head = max(map(cells, names))
    blocks = _blocks(table, width - head)
    drawn = []
    for block in blocks:
        sizes = [max(map(cells, column)) for column in block]
        lines = []
        for index, name in enumerate(names):
            texts = [pad(c[index], size, left=True) for c, size in zip(block, sizes, strict=True)]
            lines.append(" ".join([pad(name, head, left=True), *texts]).rstrip())
        drawn.append("\n".join(lines).rstrip("\n"))
    return "\n\n".join(drawn)


def _blocks(table: Sequence[Sequence[str]], width: int) -> Iterator[list[Sequence[str]]]:
    block, used = list[Sequence[str]](), 0
    for column in table:
        size = max(map(cells, column)) + 1
        if block and used + size > width:
            yield block
            block, used = [], 0
        block.append(column)
        used += size
    yield block
