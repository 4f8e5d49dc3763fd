"""A result as tables of text, before any medium is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan

from earwitness.data import Estimate, Left, Scores, Value

ARROWS = {"high": "↑", "low": "↓", "none": ""}


@dataclass(frozen=True, slots=True)
class Table:
    """A heading, column names and rows; the first column is a name, the others are numbers."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def score_tables(scores: Scores, systems: Sequence[str] | None = None) -> list[Table]:
    """A table a family: a row a value, a column a system."""
    chosen = list(scores.systems) if systems is None else list(systems)
    return [
        Table(
            family,
            ("", *chosen),
            (
                ("n", *(_counts(scores, values, system) for system in chosen)),
                *(_row(scores, value, chosen, values) for value in values),
            ),
        )
        for family, values in scores.families.items()
    ]


def _row(
    scores: Scores, value: Value, systems: Iterable[str], values: Sequence[Value]
) -> tuple[str, ...]:
    cells = []
    for system in systems:
        estimate = scores.systems[system][value.name]
        odd = estimate.n != scores.systems[system][values[0].name].n
        cells.append(cell(estimate, value) + f" n={estimate.n:,}" * odd)
    return (f"{value.name} {ARROWS[value.best]}".rstrip(), *cells)


def _counts(scores: Scores, values: Sequence[Value], system: str) -> str:
    estimate = scores.systems[system][values[0].name]
    undefined = f" + {estimate.undefined:,} undefined" * bool(estimate.undefined)
    return f"{estimate.n:,}{undefined}"


def cell(estimate: Estimate, value: Value) -> str:
    """A number with its interval."""
    point, low, high = (number(x, value) for x in (estimate.value, estimate.low, estimate.high))
    return f"{point} [{low}, {high}]"


def number(x: float, value: Value) -> str:
    """Three places for a share, two for a count, a dash for what is undefined."""
    return "–" if isnan(x) else f"{x:.{3 if value.high == 1 else 2}f}"


def worst_table(scores: Scores) -> Table:
    """The worst cases with all values that are good or bad."""
    values = [value for family in scores.families.values() for value in family]
    shown = [value for value in values if value.best != "none"]
    shown.sort(key=lambda value: value.name != scores.worst_by)
    return Table(
        f"worst by {scores.worst_by}",
        ("item", "system", *(value.name for value in shown)),
        tuple(
            (s.key.item, s.key.system, *(number(s.values[v.name], v) for v in shown))
            for s in scores.worst
        ),
    )


def left_line(left: Left) -> str:
    """A case that was left out or emptied, and why."""
    return f"{left.key.item} ({left.key.system or 'no system'}): {left.reason}"


def footer(scores: Scores) -> list[str]:
    """Signature, provenance and notes, a line each."""
    made = scores.provenance
    level = next(e.level for estimates in scores.systems.values() for e in estimates.values())
    counts = f"{made.cases:,} scored, {made.skipped:,} skipped, {made.emptied:,} scored as empty"
    lines = [
        f"intervals: {100 * level:.4g} %; ↑ high is good, ↓ low is good",
        f"signature: {scores.signature}",
        f"made with: earwitness {made.version}, numpy {made.numpy}, seed {made.seed}",
        f"cases: {counts}",
    ]
    lines += [f"input: {i.name} ({i.bytes:,} bytes, sha256 {i.sha256})" for i in made.inputs]
    return lines + [f"note: {note}" for note in scores.notes]
