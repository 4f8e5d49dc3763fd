"""A comparison as something to read."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import asdict
from math import isnan

from earwitness.data import Comparison, Contrast, Left, Value
from earwitness.report.markdown import left_part, provenance_part, table_lines
from earwitness.report.records import dump, scores_record
from earwitness.report.tables import ARROWS, Table, cell, footer
from earwitness.report.text import draw, left_lines

FIELDS = ("value", "low", "high", "level", "n", "undefined", "method")


def comparison_tables(comparison: Comparison) -> list[Table]:
    """For every value: the matrix of who is better, and the contrasts that it rests on."""
    tables = []
    values = {v.name: v for family in comparison.scores.families.values() for v in family}
    for name in comparison.values:
        value = values[name]
        title = f"{name} {ARROWS[value.best]}"
        contrasts = [c for c in comparison.contrasts if c.value == name]
        tables += [_matrix(comparison, value, contrasts, title), _list(contrasts, value, title)]
    return tables


def _matrix(comparison: Comparison, value: Value, contrasts: list[Contrast], title: str) -> Table:
    systems = list(comparison.systems)
    better = {(c.a, c.b): c.better for c in contrasts}
    rows = []
    for a in systems:
        marks = [_mark(a, b, better.get((a, b), better.get((b, a), ""))) for b in systems]
        estimate = comparison.systems[a][value.name]
        rows.append((a, cell(estimate, value), *marks))
    header = ("", "estimate", *(f"vs {system}" for system in systems))
    return Table(f"{title}: who is better", header, tuple(rows))


def _mark(a: str, b: str, better: str) -> str:
    if a == b:
        return ""
    return {a: "better", b: "worse"}.get(better, "·")


def _list(contrasts: list[Contrast], value: Value, title: str) -> Table:
    rows = tuple(
        (c.a, c.b, cell(c.difference, value), str(c.difference.n), _p(c.p), _p(c.p_holm), c.better)
        for c in contrasts
    )
    header = ("", "less", "difference", "n", "p", "p (Holm)", "better")
    return Table(f"{title}: differences", header, rows)


def _p(p: float) -> str:
    return "–" if isnan(p) else f"{p:.4f}"


def _footer(comparison: Comparison) -> list[str]:
    lines = [
        f"items: {comparison.items:,} that every system answered",
        f"· cannot be told apart at alpha {comparison.alpha:g}; p corrected for all pairs by Holm",
    ]
    rest = footer(comparison.scores)
    signature = f"signature: {comparison.signature}"
    return lines + [signature if line.startswith("signature:") else line for line in rest]


def _lists(comparison: Comparison) -> list[tuple[str, tuple[Left, ...]]]:
    scores = comparison.scores
    lists = [("skipped", scores.skipped), ("scored as empty", scores.emptied)]
    return [(what, left) for what, left in lists if left]


def comparison_text(comparison: Comparison) -> str:
    """For the terminal."""
    parts = [draw(table) for table in comparison_tables(comparison)]
    parts += [left_lines(what, left) for what, left in _lists(comparison)]
    return "\n\n".join([*parts, "\n".join(_footer(comparison))]) + "\n"


def comparison_markdown(comparison: Comparison) -> str:
    """To paste."""
    parts = ["# Comparison", *(table_lines(table) for table in comparison_tables(comparison))]
    parts += [left_part(what, left) for what, left in _lists(comparison)]
    parts.append(provenance_part(_footer(comparison)))
    return "\n\n".join(parts) + "\n"


def comparison_json(comparison: Comparison) -> str:
    """All of it; undefined numbers are null."""
    return dump(
        {
            "signature": comparison.signature,
            "items": comparison.items,
            "alpha": comparison.alpha,
            "systems": {
                system: {name: asdict(estimate) for name, estimate in estimates.items()}
                for system, estimates in comparison.systems.items()
            },
            "contrasts": [asdict(contrast) for contrast in comparison.contrasts],
            "scores": scores_record(comparison.scores),
        }
    )


def comparison_csv(comparison: Comparison) -> str:
    """A line a contrast; undefined numbers are empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(
        ["name", "a", "b", *FIELDS, "p", "p_holm", "better", "items", "alpha", "signature"]
    )
    for c in comparison.contrasts:
        row = [c.value, c.a, c.b, *asdict(c.difference).values(), c.p, c.p_holm, c.better]
        row += [comparison.items, comparison.alpha, comparison.signature]
        writer.writerow(["" if isinstance(x, float) and isnan(x) else x for x in row])
    return stream.getvalue()


COMPARISON_MEDIA: dict[str, Callable[[Comparison], str]] = {
    "text": comparison_text,
    "json": comparison_json,
    "csv": comparison_csv,
    "md": comparison_markdown,
}
