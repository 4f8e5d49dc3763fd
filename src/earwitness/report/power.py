"""Power of a planned study as a report, and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from math import isnan

from earwitness.data import PowerPlan, Value
from earwitness.report.numbers import SOURCES
from earwitness.report.parts import Curve, Lines, Report, Section, Table
from earwitness.report.records import csv_table, dump

POWER = Value("power", "high", 0.0, 1.0, "share of studies that would find the difference")


def power_report(found: PowerPlan) -> Report:
    """What can be found, what it costs, and what was assumed."""
    series = tuple(_difference(one) for one in found.needed)
    sections = [
        Section("In short", (Lines("", tuple(_short(found))),)),
        Section("Power", (_curve(found), _table(found)), _told(found)),
        Section("Assumed", (_components(found),), f"In points of the scale: {found.source}."),
    ]
    about = (
        f"{found.scale}: {found.systems} systems, {found.heard} clips a listener, "
        f"{found.minutes:.0f} minutes each"
    )
    made = (f"signature: {found.signature}",)
    return Report(f"Power of {found.title}", about, series, tuple(sections), made)


def _difference(one: float) -> str:
    return f"{one:.3g} points"


def _short(found: PowerPlan) -> Iterator[str]:
    planned = next((row for row in found.rows if row.listeners == found.planned), None)
    if planned is not None:
        yield (
            f"{found.planned} listeners as planned ({planned.hours:.1f} hours in all) find a "
            f"difference of {planned.detectable:.2f} points on {found.scale} with power "
            f"{found.wanted:g}"
        )
    for one, count in found.needed.items():
        many = "no number of listeners" if count is None else f"{count} listeners"
        hours = "" if count is None else f" ({count * found.minutes / 60:.1f} hours)"
        yield f"a difference of {_difference(one)} takes {many}{hours}"
    yield from found.notes


def _told(found: PowerPlan) -> str:
    speaks = "other listeners and other items" if found.method == "mixed" else "these items"
    return (
        f"Comparisons of two systems by {found.method}, which speaks about {speaks}; simulated, "
        "with the interval of the simulation. The least difference is by the noncentral t."
    )


def _curve(found: PowerPlan) -> Curve:
    points = tuple(
        (float(row.listeners), {_difference(d): e for d, e in row.power.items()})
        for row in found.rows
    )
    return Curve("power by listeners", POWER, "listeners", "", points)


def _table(found: PowerPlan) -> Table:
    differences = list(found.needed)
    powers = (f"power for {_difference(one)}" for one in differences)
    header = ("listeners", "hours", f"least difference (power {found.wanted:g})", *powers)
    rows = tuple(
        (
            f"{row.listeners}",
            f"{row.hours:.1f}",
            "–" if isnan(row.detectable) else f"{row.detectable:.3f}",
            *(_power(row.power[one].value) for one in differences),
        )
        for row in found.rows
    )
    return Table("what so many listeners find", header, rows)


def _power(value: float) -> str:
    return "–" if isnan(value) else f"{value:.3f}"


def _components(found: PowerPlan) -> Table:
    rows = tuple((SOURCES[name], f"{value:.3f}") for name, value in found.components.items())
    return Table("what votes differ by", ("", "SD"), rows)


def power_json(found: PowerPlan) -> str:
    """All of it; differences become text, as keys of JSON are."""
    return dump(asdict(found))


def power_csv(found: PowerPlan) -> str:
    """A line a number of listeners and difference."""
    header = ["listeners", "hours", "detectable", "difference", "power", "low", "high", "runs"]
    rows = [
        [row.listeners, row.hours, row.detectable, difference, e.value, e.low, e.high, e.n]
        for row in found.rows
        for difference, e in row.power.items()
    ]
    return csv_table([*header, "signature"], [[*row, found.signature] for row in rows])
