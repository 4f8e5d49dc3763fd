"""The table of what is expected in practice: item, system, scale, value."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from earwitness.data import Gold
from earwitness.errors import Problem, nearest
from earwitness.formats.check import Fault
from earwitness.listening.scale import Scale

COLUMNS = ("item", "system", "scale", "value")


@dataclass
class GoldTable:
    """Expected values, and what is wrong with them."""

    values: list[Gold] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True)
class Names:
    """Items, systems and scales that a table may speak of."""

    items: Sequence[str]
    systems: Sequence[str]
    scales: Mapping[str, Scale]


def read_gold(path: Path, known: Names) -> GoldTable:
    """A table, or all that is wrong with it."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _read(csv.DictReader(file), str(path), known)
    except (OSError, UnicodeError, csv.Error) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else error
        return GoldTable(problems=[Problem(str(path), 0, "", f"cannot be read: {told}")])


def _read(reader: csv.DictReader[str], source: str, known: Names) -> GoldTable:
    found, seen = GoldTable(), dict[tuple[str, str, str], int]()
    if sorted(reader.fieldnames or ()) != sorted(COLUMNS):
        told = f"needs the columns {', '.join(COLUMNS)}, and no others"
        return GoldTable(problems=[Problem(source, 1, "", told)])
    for row in reader:
        if None in row or None in row.values():
            faults = [Fault("", f"needs {len(COLUMNS)} fields")]
        else:
            faults = list(_wrong(row, known, seen))
        found.problems += [Problem(source, reader.line_num, *fault) for fault in faults]
        if not faults:
            key = row["item"], row["system"], row["scale"]
            seen[key] = reader.line_num
            found.values.append(Gold(*key, float(row["value"])))
    if not found.values and not found.problems:
        found.problems.append(Problem(source, 1, "", "has no expected value in it"))
    return found


def _wrong(
    row: Mapping[str, str], known: Names, seen: Mapping[tuple[str, str, str], int]
) -> Iterator[Fault]:
    for name, there in (("item", known.items), ("system", known.systems), ("scale", known.scales)):
        if there and row[name] not in there:
            yield Fault(name, f'there is no {name} "{row[name]}"', nearest(row[name], there))
    scale = known.scales.get(row["scale"])
    if scale is not None and not scale.allows(_number(row["value"])):
        told = f"from {scale.low:g} to {scale.high:g} in steps of {scale.step:g}"
        yield Fault("value", f'must be {told}, got "{row["value"]}"')
    if (line := seen.get((row["item"], row["system"], row["scale"]))) is not None:
        yield Fault("", f"was said on line {line} already", "keep one")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
