"""Power of a planned study: its results by number of listeners, and the report on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf, isnan, nan

from earwitness.analysis.plan import MIXED_MODEL
from earwitness.core import Estimate, Value
from earwitness.report.columns import TableRows
from earwitness.report.numbers import COMPONENT_LABELS
from earwitness.report.paper import PaperCell, PaperColumn, PaperRow, PaperTable
from earwitness.report.parts import Curve, Report, Section, Table
from earwitness.report.result import Result, json_text
from earwitness.report.sentences import summary_section

# --- Power result types --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PowerRow:
    """Results for one number of listeners: hours, detectable difference, power by difference."""

    listeners: int
    hours: float
    detectable: float
    power: Mapping[float, Estimate]


@dataclass(frozen=True, slots=True, repr=False)
class PowerPlan(Result):
    """Power of the comparisons of one block on one scale.

    ``components`` are standard deviations in points of the scale, and ``source`` tells where they
    come from. ``alpha`` is divided by the number of ``tests``; ``wanted`` is the target power, for
    which detectable differences and the number of listeners ``needed`` are computed.
    ``pilot_notes`` tell how the ratings of a pilot were read and screened.
    """

    title: str
    signature: str
    scale: str
    source: str
    components: Mapping[str, float]
    items: int
    heard: int
    systems: int
    panels: int
    minutes: float
    tests: int
    alpha: float
    wanted: float
    method: str
    planned: int
    rows: tuple[PowerRow, ...]
    needed: Mapping[float, int | None]
    notes: tuple[str, ...] = ()
    pilot_notes: tuple[str, ...] = ()


# --- Power report and export ---------------------------------------------------------------------


POWER_VALUE = Value(
    "power", "high", 0.0, 1.0, "share of simulated studies that detect the difference"
)


def power_report(plan: PowerPlan) -> Report:
    """Return the report: detectable differences, cost and assumptions."""
    series = tuple(_difference_text(difference) for difference in plan.needed)
    sections = [
        summary_section(_summary_sentences(plan)),
        Section("Power", (_power_curve(plan), _power_table(plan)), _method_sentence(plan)),
        Section("Assumptions", (_components_table(plan),), f"Standard deviations: {plan.source}."),
    ]
    about = (
        f"{plan.scale}: {plan.systems} systems, {plan.heard} clips and {plan.minutes:.0f} minutes "
        "per listener"
    )
    notes = (f"note: pilot: {note}" for note in plan.pilot_notes)
    provenance = (f"signature: {plan.signature}", *notes)
    return Report(f"Power of {plan.title}", about, series, tuple(sections), provenance)


def _difference_text(difference: float) -> str:
    return f"{difference:.3g} points"


def _summary_sentences(plan: PowerPlan) -> Iterator[str]:
    planned = next((row for row in plan.rows if row.listeners == plan.planned), None)
    if planned is not None:
        yield (
            f"With the planned {plan.planned} listeners ({planned.hours:.1f} hours in total), a "
            f"difference of {planned.detectable:.2f} points on {plan.scale} is detected with power "
            f"{plan.wanted:g}"
        )
    for difference, count in plan.needed.items():
        points = _difference_text(difference)
        if count is None:
            yield f"No number of listeners suffices to detect a difference of {points}"
        else:
            hours = f"{count * plan.minutes / 60:.1f} hours"
            yield f"Detecting a difference of {points} needs {count} listeners ({hours})"
    yield from plan.notes


def _method_sentence(plan: PowerPlan) -> str:
    scope = "and items" if plan.method == MIXED_MODEL else "for these items only"
    return (
        f"Two systems are compared with {plan.method}; results generalize to other listeners "
        f"{scope}. Power is simulated, with the confidence interval of the simulation; the "
        "smallest detectable difference is computed from the noncentral t distribution."
    )


def _power_curve(plan: PowerPlan) -> Curve:
    points = tuple(
        (float(row.listeners), {_difference_text(d): e for d, e in row.power.items()})
        for row in plan.rows
    )
    return Curve("power by number of listeners", POWER_VALUE, "listeners", "", points)


def _power_table(plan: PowerPlan) -> Table:
    differences = list(plan.needed)
    powers = (f"power for {_difference_text(difference)}" for difference in differences)
    header = (
        "listeners",
        "hours",
        f"smallest detectable difference (power {plan.wanted:g})",
        *powers,
    )
    rows = tuple(
        (
            f"{row.listeners}",
            f"{row.hours:.1f}",
            "–" if isnan(row.detectable) else f"{row.detectable:.3f}",
            *(_power_text(row.power[difference].value) for difference in differences),
        )
        for row in plan.rows
    )
    return Table("power by number of listeners", header, rows)


def _power_text(value: float) -> str:
    return "–" if isnan(value) else f"{value:.3f}"


def _components_table(plan: PowerPlan) -> Table:
    rows = tuple(
        (COMPONENT_LABELS[name], f"{value:.3f}") for name, value in plan.components.items()
    )
    return Table("standard deviations of votes, in points of the scale", ("component", "SD"), rows)


def power_table(plan: PowerPlan) -> PaperTable:
    """Return the table for a paper: numbers of listeners as rows, their power as columns."""
    columns = [
        PaperColumn(Value("time", "none", 0.0, inf, ""), "h"),
        PaperColumn(Value("detectable difference", "none", 0.0, inf, ""), "points"),
    ]
    columns += [
        PaperColumn(replace(POWER_VALUE, name=f"power for {_difference_text(d)}", best="none"))
        for d in plan.needed
    ]
    rows = []
    for row in plan.rows:
        powers = [row.power[difference] for difference in plan.needed]
        estimates = [_exact_number(row.hours), _exact_number(row.detectable), *powers]
        rows.append(PaperRow(f"{row.listeners}", tuple(map(PaperCell, estimates))))
    level = max(estimate.level for row in plan.rows for estimate in row.power.values())
    return PaperTable(
        "power",
        f"Power by number of listeners on the scale {plan.scale}: {plan.systems} systems, "
        f"{plan.heard} clips and {plan.minutes:.0f} minutes per listener. {_method_sentence(plan)}",
        "listeners",
        tuple(columns),
        tuple(rows),
        f"{100 * level:.4g} % confidence intervals of the simulation",
        notes=(
            f"Detectable difference: with power {plan.wanted:g}.",
            f"Standard deviations of votes: {plan.source}.",
        ),
        signature=plan.signature,
    )


def _exact_number(x: float) -> Estimate:
    return Estimate(x, nan, nan, nan, 0, 0, "exact")


def power_json(plan: PowerPlan) -> str:
    """Return the plan as JSON; differences are text, since they are keys."""
    return json_text(plan)


def power_tables(plan: PowerPlan) -> dict[str, TableRows]:
    """Return the table ``power``: one row per number of listeners and difference."""
    header = ("listeners", "hours", "detectable", "difference", "power", "low", "high", "runs")
    rows = [
        [
            row.listeners,
            row.hours,
            row.detectable,
            difference,
            e.value,
            e.low,
            e.high,
            e.n,
        ]
        for row in plan.rows
        for difference, e in row.power.items()
    ]
    return {"power": TableRows(header, rows, plan.signature)}
