"""What tables have in common: columns of cells, and what is wrong with them.

A cell is text, as it would stand in CSV; an empty one says nothing. Faults are kept with the number
of their line: up to a thousand of every look through the table, all are counted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from earwitness.errors import SHOWN_PROBLEMS, InputError, Problem
from earwitness.formats.check import Fault

DONE = "read"


class Odd(NamedTuple):
    """A value of JSON that cannot stand in its column, as it is written."""

    shown: str


Cell = str | Odd | Fault  # the last where a fault was told already


@dataclass(frozen=True)
class Words:
    """What tables of one sort are called: their columns, rows and cells.

    Where numbers may be ``undefined``, NaN is as good as nothing.
    """

    columns: str = "scales"
    row: str = "rating"
    cell: str = "vote"
    undefined: bool = False
    remedy: str = "or say --column {role}=NAME or --given {role}=VALUE"


@dataclass
class Wrong:
    """What is wrong with a file."""

    source: str
    problems: list[Problem] = field(default_factory=list)
    count: int = 0

    def add(self, faults: Iterable[tuple[int, Fault]]) -> None:
        """Faults with their lines."""
        for number, (line, fault) in enumerate(faults):
            self.count += 1
            if number < SHOWN_PROBLEMS:
                self.problems.append(Problem(self.source, line, *fault))

    def refuse(self) -> None:
        """Raise all of it, if there is any."""
        if self.count:
            raise InputError(self.problems, self.count, done=DONE)


@dataclass
class Table(ABC):
    """Columns by name, and the line of every row; ``partial`` are columns that some rows lack."""

    wrong: Wrong
    names: list[str] = field(default_factory=list)
    lines: Sequence[int] = ()
    partial: frozenset[str] = frozenset()
    comma: bool = False  # may stand for the point in numbers

    @abstractmethod
    def cells(self, name: str, *, numbers: bool = False) -> Sequence[Cell]:
        """A column from top to bottom; one of ``numbers`` has no text in JSON."""

    def tell(self, line: int, *fault: str) -> None:
        """One fault."""
        self.wrong.add([(line, Fault(*fault))])
