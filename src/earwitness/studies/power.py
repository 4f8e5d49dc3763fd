"""Power of a planned study by simulation, with its result types and report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isnan
from os import PathLike
from pathlib import Path

from earwitness.core import Estimate, Value
from earwitness.errors import UsageError, nearest
from earwitness.report.export import csv_table, json_text
from earwitness.report.numbers import COMPONENT_LABELS
from earwitness.report.parts import Curve, Lines, Report, Section, Table
from earwitness.stats.mixed_model import Components, fit_mixed_model
from earwitness.stats.power import (
    METHODS,
    PowerScenario,
    detectable_difference,
    listeners_needed,
    simulate_power,
)
from earwitness.studies.analyse import kept_ratings
from earwitness.studies.design.plan import count_minutes
from earwitness.studies.file.reader import read_study
from earwitness.studies.population import Population
from earwitness.studies.study import MIXED_MODEL, NO_CORRECTION, Scale, Study, StudyBlock
from earwitness.studies.trials import block_kind
from earwitness.version import __version__

# --- Power result types --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PowerRow:
    """So many listeners: their hours, the least difference found, and power by difference."""

    listeners: int
    hours: float
    detectable: float
    power: Mapping[float, Estimate]


@dataclass(frozen=True, slots=True)
class PowerPlan:
    """Power of the comparisons of one block on one scale.

    ``components`` are standard deviations in points of the scale, and ``source`` says where they
    come from. ``tests`` comparisons share ``alpha``; ``wanted`` is the power that the least
    difference and the listeners ``needed`` for each difference are about.
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


# --- Power by simulation -------------------------------------------------------------------------


DEFAULT_DIFFERENCE_SHARES = (0.05, 0.1)  # shares of the scale that are looked at if nothing is said
LISTENER_COUNT_FACTORS = (0.5, 1.0, 1.5, 2.0, 3.0)  # of the planned listeners
# intervals that speak about other items
ITEM_GENERALIZING_INTERVALS = (MIXED_MODEL, "two_way_bootstrap")
COMPONENT_NAMES = tuple(asdict(Components()))


def study_power(
    study: str | PathLike[str] | Study,
    *,
    pilot: Sequence[str | PathLike[str]] = (),
    components: Mapping[str, float] | None = None,
    scale: str = "",
    differences: Sequence[float] = (),
    listeners: Sequence[int] = (),
    wanted: float = 0.8,
    runs: int = 2000,
    seed: int = 0,
) -> PowerPlan:
    """Power of the planned comparisons between systems, by simulation.

    Standard deviations are those of a ``pilot`` (answers or a table, screened as planned), or
    assumed: those of simulated listeners, but for what ``components`` says. ``differences`` are in
    points of the scale.
    """
    plan = study if isinstance(study, Study) else read_study(Path(study))
    _check_request(wanted, runs, differences, listeners)
    block, chosen_scale = _find_scale(plan, scale)
    parts, source = _choose_components(plan, chosen_scale, pilot, components or {})
    base = _power_scenario(plan, block, chosen_scale, parts, rounded=not pilot)
    if any(difference > chosen_scale.high - chosen_scale.low for difference in differences):
        raise UsageError(
            f"{chosen_scale.name} goes from {chosen_scale.low:g} to {chosen_scale.high:g} only"
        )
    wanted_differences = sorted(
        {*differences}
        or {share * (chosen_scale.high - chosen_scale.low) for share in DEFAULT_DIFFERENCE_SHARES}
    )
    shares = _share_hearing_both(block)
    minutes_each = count_minutes(plan)[-1].minutes
    rows = []
    for count in sorted(
        {*listeners}
        or {max(2, round(difference * plan.listeners)) for difference in LISTENER_COUNT_FACTORS}
    ):
        scenario = replace(base, listeners=max(1, round(count * shares)))
        power_of = {
            difference: simulate_power(scenario, difference, runs=runs, seed=seed)
            for difference in wanted_differences
        }
        hours = count * minutes_each / 60
        rows.append(PowerRow(count, hours, detectable_difference(scenario, power=wanted), power_of))
    needed = {
        difference: listeners_needed(base, difference, power=wanted)
        for difference in wanted_differences
    }
    return PowerPlan(
        title=plan.title,
        signature=_signature(base, runs, seed, wanted),
        scale=chosen_scale.name,
        source=source,
        components=asdict(parts),
        items=base.items,
        heard=block.clips,
        systems=len(block.systems),
        panels=plan.panels,
        minutes=minutes_each,
        tests=base.tests,
        alpha=base.alpha,
        wanted=wanted,
        method=base.method,
        planned=plan.listeners,
        rows=tuple(rows),
        needed={
            difference: _scale_listeners(count, shares) for difference, count in needed.items()
        },
        notes=tuple(_power_notes(block, base)),
    )


def _check_request(
    wanted: float, runs: int, differences: Sequence[float], listeners: Sequence[int]
) -> None:
    if not 0 < wanted < 1:
        raise UsageError(f"power must lie between 0 and 1, got {wanted:g}")
    if runs < 1:
        raise UsageError(f"runs must be 1 or more, got {runs}")
    if any(not one > 0 for one in differences):
        raise UsageError("differences must be above 0")
    if any(one < 2 for one in listeners):
        raise UsageError("it takes 2 listeners or more")


def _find_scale(plan: Study, name: str) -> tuple[StudyBlock, Scale]:
    """The block and scale that power is asked for: a named one, or the first that is rated."""
    rated = {
        scale.name: (block, scale)
        for block in reversed(plan.blocks)
        for kind in [block_kind(block)]
        if kind.compared != "pair"
        for scale in reversed(kind.scales)
    }
    if not rated:
        raise UsageError("power is about ratings of systems; this study has pairs only")
    first = next(one for one in reversed(rated))
    if name and name not in rated:
        raise UsageError(f'no system is rated on scale "{name}" — {nearest(name, rated)}')
    return rated[name or first]


def _choose_components(
    plan: Study, scale: Scale, pilot: Sequence[str | PathLike[str]], said: Mapping[str, float]
) -> tuple[Components, str]:
    for name, value in said.items():
        if name not in COMPONENT_NAMES:
            raise UsageError(f'there is no component "{name}" — {nearest(name, COMPONENT_NAMES)}')
        if not value >= 0:
            raise UsageError(f"{name} must be a number from 0 on, got {value:g}")
    more = f", but for {', '.join(said)}" if said else ""
    if pilot:
        pilot_ratings = kept_ratings(pilot, plan, scale.name)
        if not pilot_ratings.ratings:
            raise UsageError(f'the pilot has no rating on scale "{scale.name}"')
        components = replace(Components.from_fit(fit_mixed_model(pilot_ratings.votes)), **said)
        names = ", ".join(Path(path).name for path in pilot)
        people = (
            f"{len(pilot_ratings.listeners)} listeners kept, {len(pilot_ratings.ratings):,} votes"
        )
        return components, f"pilot {names}: {people}{more}"
    population, size = Population(), scale.high - scale.low
    deviations = (
        population.bias,
        population.items,
        population.taste,
        population.mixture,
        population.inconsistency,
    )
    assumed = Components(*(path * size for path in deviations))
    return replace(assumed, **said), f"assumed, as simulated listeners have them{more}"


def _power_scenario(
    plan: Study, block: StudyBlock, scale: Scale, parts: Components, *, rounded: bool
) -> PowerScenario:
    """The comparison of two systems as the study plans it."""
    pairs = len(block.systems) * (len(block.systems) - 1) // 2
    planned = [one for one in plan.analysis.contrasts if {*one} <= {*block.systems}]
    tests = 1 if plan.analysis.correction == NO_CORRECTION else len(planned) or max(1, pairs)
    return PowerScenario(
        components=parts,
        listeners=plan.listeners,
        items=block.clips * plan.panels,
        systems=len(block.systems),
        panels=plan.panels,
        alpha=1 - plan.analysis.level,
        tests=tests,
        step=scale.step if rounded else None,
        method=MIXED_MODEL if plan.analysis.interval in ITEM_GENERALIZING_INTERVALS else METHODS[0],
    )


def _share_hearing_both(block: StudyBlock) -> float:
    """The share of listeners who hear both of two systems."""
    systems, heard = len(block.systems), block.heard or len(block.systems)
    return heard * (heard - 1) / (systems * (systems - 1)) if systems > 1 else 1.0


def _scale_listeners(count: int | None, share: float) -> int | None:
    """All listeners, if so many of them must hear both systems."""
    return None if count is None or not share else -(-round(count / share * 1e9) // 10**9)


def _power_notes(block: StudyBlock, plan: PowerScenario) -> list[str]:
    notes = []
    if block.heard and block.heard < len(block.systems):
        share = _share_hearing_both(block)
        notes.append(
            f"a listener hears {block.heard} of {len(block.systems)} systems, so "
            f"{share:.0%} of them compare any two"
        )
    if plan.step:
        notes.append(
            f"votes are rounded to steps of {plan.step:g}, which adds a standard deviation of "
            f"{plan.step / 12**0.5:.2f} to that of a vote"
        )
    if plan.tests > 1:
        notes.append(
            f"alpha {plan.alpha:g} is shared by {plan.tests} comparisons, the least that a "
            "correction leaves to any of them"
        )
    return notes


def _signature(plan: PowerScenario, runs: int, seed: int, wanted: float) -> str:
    parts = ",".join(f"{name}={value:.4g}" for name, value in asdict(plan.components).items())
    return (
        f"earwitness={__version__}|power(method={plan.method},alpha={plan.alpha:g},"
        f"tests={plan.tests},wanted={wanted:g})|components({parts})|"
        f"simulation(runs={runs},seed={seed})"
    )


# --- Power report and export ---------------------------------------------------------------------


POWER_VALUE = Value("power", "high", 0.0, 1.0, "share of studies that would find the difference")


def power_report(plan: PowerPlan) -> Report:
    """What can be found, what it costs, and what was assumed."""
    series = tuple(_difference_text(difference) for difference in plan.needed)
    sections = [
        Section("In short", (Lines("", tuple(_summary_sentences(plan))),)),
        Section("Power", (_power_curve(plan), _power_table(plan)), _method_sentence(plan)),
        Section("Assumed", (_components_table(plan),), f"In points of the scale: {plan.source}."),
    ]
    about = (
        f"{plan.scale}: {plan.systems} systems, {plan.heard} clips a listener, "
        f"{plan.minutes:.0f} minutes each"
    )
    provenance = (f"signature: {plan.signature}",)
    return Report(f"Power of {plan.title}", about, series, tuple(sections), provenance)


def _difference_text(difference: float) -> str:
    return f"{difference:.3g} points"


def _summary_sentences(plan: PowerPlan) -> Iterator[str]:
    planned = next((row for row in plan.rows if row.listeners == plan.planned), None)
    if planned is not None:
        yield (
            f"{plan.planned} listeners as planned ({planned.hours:.1f} hours in all) find a "
            f"difference of {planned.detectable:.2f} points on {plan.scale} with power "
            f"{plan.wanted:g}"
        )
    for difference, count in plan.needed.items():
        many = "no number of listeners" if count is None else f"{count} listeners"
        hours = "" if count is None else f" ({count * plan.minutes / 60:.1f} hours)"
        yield f"a difference of {_difference_text(difference)} takes {many}{hours}"
    yield from plan.notes


def _method_sentence(plan: PowerPlan) -> str:
    speaks = "other listeners and other items" if plan.method == MIXED_MODEL else "these items"
    return (
        f"Comparisons of two systems by {plan.method}, which speaks about {speaks}; simulated, "
        "with the interval of the simulation. The least difference is by the noncentral t."
    )


def _power_curve(plan: PowerPlan) -> Curve:
    points = tuple(
        (float(row.listeners), {_difference_text(d): e for d, e in row.power.items()})
        for row in plan.rows
    )
    return Curve("power by listeners", POWER_VALUE, "listeners", "", points)


def _power_table(plan: PowerPlan) -> Table:
    differences = list(plan.needed)
    powers = (f"power for {_difference_text(difference)}" for difference in differences)
    header = ("listeners", "hours", f"least difference (power {plan.wanted:g})", *powers)
    rows = tuple(
        (
            f"{row.listeners}",
            f"{row.hours:.1f}",
            "–" if isnan(row.detectable) else f"{row.detectable:.3f}",
            *(_power_text(row.power[difference].value) for difference in differences),
        )
        for row in plan.rows
    )
    return Table("what so many listeners find", header, rows)


def _power_text(value: float) -> str:
    return "–" if isnan(value) else f"{value:.3f}"


def _components_table(plan: PowerPlan) -> Table:
    rows = tuple(
        (COMPONENT_LABELS[name], f"{value:.3f}") for name, value in plan.components.items()
    )
    return Table("what votes differ by", ("", "SD"), rows)


def power_json(plan: PowerPlan) -> str:
    """All of it; differences become text, as keys of JSON are."""
    return json_text(asdict(plan))


def power_csv(plan: PowerPlan) -> str:
    """A line a number of listeners and difference."""
    header = ["listeners", "hours", "detectable", "difference", "power", "low", "high", "runs"]
    rows = [
        [row.listeners, row.hours, row.detectable, difference, e.value, e.low, e.high, e.n]
        for row in plan.rows
        for difference, e in row.power.items()
    ]
    return csv_table([*header, "signature"], [[*row, plan.signature] for row in rows])
