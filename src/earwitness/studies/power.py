"""Power of a planned study by simulation, with its result types and report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isnan
from os import PathLike
from pathlib import Path

from earwitness.core import Estimate, Value
from earwitness.errors import UsageError, nearest
from earwitness.report.export import csv_table, dump
from earwitness.report.numbers import COMPONENT_LABELS
from earwitness.report.parts import Curve, Lines, Report, Section, Table
from earwitness.stats.mixed_model import Components, fit
from earwitness.stats.power import METHODS, PowerScenario, detectable, listeners_needed, power
from earwitness.studies.analyse import kept_ratings
from earwitness.studies.design.plan import count_minutes
from earwitness.studies.file.reader import read_study
from earwitness.studies.population import Population
from earwitness.studies.study import Scale, Study, StudyBlock
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
ITEM_GENERALIZING_INTERVALS = ("mixed", "two_way_bootstrap")
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
    _check(wanted, runs, differences, listeners)
    block, asked = _asked(plan, scale)
    parts, source = _choose_components(plan, asked, pilot, components or {})
    base = _plan(plan, block, asked, parts, rounded=not pilot)
    if any(one > asked.high - asked.low for one in differences):
        raise UsageError(f"{asked.name} goes from {asked.low:g} to {asked.high:g} only")
    known = sorted(
        {*differences} or {share * (asked.high - asked.low) for share in DEFAULT_DIFFERENCE_SHARES}
    )
    shares = _shared(block)
    minutes_each = count_minutes(plan)[-1].minutes
    rows = []
    for count in sorted(
        {*listeners} or {max(2, round(one * plan.listeners)) for one in LISTENER_COUNT_FACTORS}
    ):
        own = replace(base, listeners=max(1, round(count * shares)))
        found = {one: power(own, one, runs=runs, seed=seed) for one in known}
        hours = count * minutes_each / 60
        rows.append(PowerRow(count, hours, detectable(own, power=wanted), found))
    needed = {one: listeners_needed(base, one, power=wanted) for one in known}
    return PowerPlan(
        title=plan.title,
        signature=_signature(base, runs, seed, wanted),
        scale=asked.name,
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
        needed={one: _all(count, shares) for one, count in needed.items()},
        notes=tuple(_notes(block, base)),
    )


def _check(
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


def _asked(plan: Study, name: str) -> tuple[StudyBlock, Scale]:
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
        own = kept_ratings(pilot, plan, scale.name)
        if not own.ratings:
            raise UsageError(f'the pilot has no rating on scale "{scale.name}"')
        found = replace(Components.of(fit(own.votes)), **said)
        named = ", ".join(Path(one).name for one in pilot)
        people = f"{len(own.listeners)} listeners kept, {len(own.ratings):,} votes"
        return found, f"pilot {named}: {people}{more}"
    of, size = Population(), scale.high - scale.low
    usual = (of.bias, of.items, of.taste, of.mixture, of.inconsistency)
    assumed = Components(*(one * size for one in usual))
    return replace(assumed, **said), f"assumed, as simulated listeners have them{more}"


def _plan(
    plan: Study, block: StudyBlock, scale: Scale, parts: Components, *, rounded: bool
) -> PowerScenario:
    """The comparison of two systems as the study plans it."""
    pairs = len(block.systems) * (len(block.systems) - 1) // 2
    planned = [one for one in plan.analysis.contrasts if {*one} <= {*block.systems}]
    tests = 1 if plan.analysis.correction == "none" else len(planned) or max(1, pairs)
    return PowerScenario(
        components=parts,
        listeners=plan.listeners,
        items=block.clips * plan.panels,
        systems=len(block.systems),
        panels=plan.panels,
        alpha=1 - plan.analysis.level,
        tests=tests,
        step=scale.step if rounded else None,
        method="mixed" if plan.analysis.interval in ITEM_GENERALIZING_INTERVALS else METHODS[0],
    )


def _shared(block: StudyBlock) -> float:
    """The share of listeners who hear both of two systems."""
    every, heard = len(block.systems), block.heard or len(block.systems)
    return heard * (heard - 1) / (every * (every - 1)) if every > 1 else 1.0


def _all(count: int | None, share: float) -> int | None:
    """All listeners, if so many of them must hear both systems."""
    return None if count is None or not share else -(-round(count / share * 1e9) // 10**9)


def _notes(block: StudyBlock, plan: PowerScenario) -> list[str]:
    found = []
    if block.heard and block.heard < len(block.systems):
        share = _shared(block)
        found.append(
            f"a listener hears {block.heard} of {len(block.systems)} systems, so "
            f"{share:.0%} of them compare any two"
        )
    if plan.step:
        found.append(
            f"votes are rounded to steps of {plan.step:g}, which adds a standard deviation of "
            f"{plan.step / 12**0.5:.2f} to that of a vote"
        )
    if plan.tests > 1:
        found.append(
            f"alpha {plan.alpha:g} is shared by {plan.tests} comparisons, the least that a "
            "correction leaves to any of them"
        )
    return found


def _signature(plan: PowerScenario, runs: int, seed: int, wanted: float) -> str:
    parts = ",".join(f"{name}={value:.4g}" for name, value in asdict(plan.components).items())
    return (
        f"earwitness={__version__}|power(method={plan.method},alpha={plan.alpha:g},"
        f"tests={plan.tests},wanted={wanted:g})|components({parts})|"
        f"simulation(runs={runs},seed={seed})"
    )


# --- Power report and export ---------------------------------------------------------------------


POWER_VALUE = Value("power", "high", 0.0, 1.0, "share of studies that would find the difference")


def power_report(found: PowerPlan) -> Report:
    """What can be found, what it costs, and what was assumed."""
    series = tuple(_difference(one) for one in found.needed)
    sections = [
        Section("In short", (Lines("", tuple(_short(found))),)),
        Section("Power", (_curve(found), _table(found)), _told(found)),
        Section("Assumed", (_components_table(found),), f"In points of the scale: {found.source}."),
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
    return Curve("power by listeners", POWER_VALUE, "listeners", "", points)


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


def _components_table(found: PowerPlan) -> Table:
    rows = tuple(
        (COMPONENT_LABELS[name], f"{value:.3f}") for name, value in found.components.items()
    )
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
