"""Power of a planned study by simulation, and the report on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf, isnan, nan
from os import PathLike
from pathlib import Path

from earwitness.core import Estimate, Value
from earwitness.errors import UsageError, nearest
from earwitness.report.numbers import COMPONENT_LABELS
from earwitness.report.paper import PaperCell, PaperColumn, PaperRow, PaperTable
from earwitness.report.parts import Curve, Report, Section, Table
from earwitness.report.result import Result, TableRows, json_text
from earwitness.report.sentences import summary_section
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

    def make_report(self) -> Report:
        """Return the report of the plan."""
        return power_report(self)

    def make_paper_table(self) -> PaperTable:
        """Return the table for a paper: power by number of listeners."""
        return power_table(self)

    def make_json(self) -> str:
        """Return the plan as JSON; differences are text, since they are keys."""
        return json_text(asdict(self))

    def make_tables(self) -> dict[str, TableRows]:
        """Return the table ``power``: one row per number of listeners and difference."""
        header = ("listeners", "hours", "detectable", "difference", "power", "low", "high", "runs")
        rows = [
            [
                *(row.listeners, row.hours, row.detectable, difference),
                *(e.value, e.low, e.high, e.n, self.signature),
            ]
            for row in self.rows
            for difference, e in row.power.items()
        ]
        return {"power": ((*header, "signature"), rows)}


# --- Power by simulation -------------------------------------------------------------------------


DEFAULT_DIFFERENCE_SHARES = (0.05, 0.1)  # default differences, as shares of the scale
LISTENER_COUNT_FACTORS = (0.5, 1.0, 1.5, 2.0, 3.0)  # multiples of the planned number of listeners
# intervals that generalize to other items
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
    """Estimate the power of the planned comparisons between systems by simulation.

    Parameters
    ----------
    study
        Path of a study file, or a study.
    pilot
        Paths of pilot answers or ratings, from which standard deviations are estimated after the
        planned screening (default: those of simulated listeners are assumed).
    components
        Standard deviations by component, which override those of the pilot or the assumed ones.
    scale
        Name of the scale (default: the first).
    differences
        Differences between two systems, in points of the scale (default: 5% and 10% of it).
    listeners
        Numbers of listeners (default: multiples of the planned number).
    wanted
        Target power.
    runs
        Number of simulated studies per row.
    seed
        Random seed.

    Returns
    -------
    PowerPlan
        Power and detectable difference by number of listeners, and the listeners needed.

    Raises
    ------
    UsageError
        If an argument is out of range, or the study has no rated scale.

    Examples
    --------
    >>> plan = study_power("study.yaml", differences=[0.5], listeners=[16], runs=50)
    >>> plan.to_records()[0]["listeners"]
    16
    """
    plan = study if isinstance(study, Study) else read_study(Path(study))
    _check_request(wanted, runs, differences, listeners)
    block, chosen_scale = _find_scale(plan, scale)
    parts, source = _choose_components(plan, chosen_scale, pilot, components or {})
    base = _power_scenario(plan, block, chosen_scale, parts, rounded=not pilot)
    if any(difference > chosen_scale.high - chosen_scale.low for difference in differences):
        raise UsageError(
            f"differences must not exceed the range of {chosen_scale.name}, {chosen_scale.low:g} to"
            f" {chosen_scale.high:g}"
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
        raise UsageError(f"power must be between 0 and 1, got {wanted:g}")
    if runs < 1:
        raise UsageError(f"runs must be at least 1, got {runs}")
    if any(not one > 0 for one in differences):
        raise UsageError("differences must be above 0")
    if any(one < 2 for one in listeners):
        raise UsageError("listeners must be at least 2")


def _find_scale(plan: Study, name: str) -> tuple[StudyBlock, Scale]:
    """Return the block and scale to compute power for: the named scale, or the first rated."""
    rated = {
        scale.name: (block, scale)
        for block in reversed(plan.blocks)
        for kind in [block_kind(block)]
        if kind.compared != "pair"
        for scale in reversed(kind.scales)
    }
    if not rated:
        raise UsageError(
            "power can be computed for ratings of systems only, but this study compares pairs"
        )
    first = next(one for one in reversed(rated))
    if name and name not in rated:
        raise UsageError(f'systems are not rated on scale "{name}" — {nearest(name, rated)}')
    return rated[name or first]


def _choose_components(
    plan: Study, scale: Scale, pilot: Sequence[str | PathLike[str]], said: Mapping[str, float]
) -> tuple[Components, str]:
    for name, value in said.items():
        if name not in COMPONENT_NAMES:
            raise UsageError(f'unknown component "{name}" — {nearest(name, COMPONENT_NAMES)}')
        if not value >= 0:
            raise UsageError(f"{name} must be a number of at least 0, got {value:g}")
    more = f", except {', '.join(said)}" if said else ""
    if pilot:
        pilot_ratings = kept_ratings(pilot, plan, scale.name)
        if not pilot_ratings.ratings:
            raise UsageError(f'the pilot has no ratings on scale "{scale.name}"')
        components = replace(Components.from_fit(fit_mixed_model(pilot_ratings.votes)), **said)
        names = ", ".join(Path(path).name for path in pilot)
        people = (
            f"{len(pilot_ratings.listeners)} listeners kept, {len(pilot_ratings.ratings):,} votes"
        )
        return components, f"estimated from pilot {names} ({people}){more}"
    population, size = Population(), scale.high - scale.low
    deviations = (
        population.bias,
        population.items,
        population.taste,
        population.mixture,
        population.inconsistency,
    )
    assumed = Components(*(path * size for path in deviations))
    return replace(assumed, **said), f"assumed (defaults of simulated listeners){more}"


def _power_scenario(
    plan: Study, block: StudyBlock, scale: Scale, parts: Components, *, rounded: bool
) -> PowerScenario:
    """Return the planned comparison of two systems."""
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
    """Return the share of listeners who hear both systems of a pair."""
    systems, heard = len(block.systems), block.heard or len(block.systems)
    return heard * (heard - 1) / (systems * (systems - 1)) if systems > 1 else 1.0


def _scale_listeners(count: int | None, share: float) -> int | None:
    """Return the number of all listeners if ``count`` of them must hear both systems."""
    return None if count is None or not share else -(-round(count / share * 1e9) // 10**9)


def _power_notes(block: StudyBlock, plan: PowerScenario) -> list[str]:
    notes = []
    if block.heard and block.heard < len(block.systems):
        share = _share_hearing_both(block)
        notes.append(
            f"Each listener hears {block.heard} of {len(block.systems)} systems, so "
            f"{share:.0%} of listeners hear both systems of a pair"
        )
    if plan.step:
        notes.append(
            f"Votes are rounded to steps of {plan.step:g}, which adds a standard deviation of "
            f"{plan.step / 12**0.5:.2f} to each vote"
        )
    if plan.tests > 1:
        notes.append(
            f"The significance level of {plan.alpha:g} is divided by {plan.tests} comparisons, the "
            "strictest level that a correction requires"
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
    provenance = (f"signature: {plan.signature}",)
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
