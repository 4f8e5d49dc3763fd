"""Power of a planned study by simulation, with the variation of a pilot or an assumed one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from earwitness.analysis.plan import ALL_SCALES, ITEM_INTERVALS, MIXED_MODEL, NO_CORRECTION
from earwitness.analysis.power import PowerPlan, PowerRow
from earwitness.analysis.prepare import CodedRatings, code_ratings
from earwitness.analysis.rating_set import TABLE_ARGUMENTS, RatingSet, TableOptions
from earwitness.core import Rating, StrPath
from earwitness.errors import InputError, UsageError, nearest
from earwitness.io.source import RecordSource, TableInput, table_inputs
from earwitness.ratings.columns import AUTO_LAYOUT, LAYOUTS
from earwitness.ratings.scales import Scale, Scales, parse_scales
from earwitness.report.sentences import join_names
from earwitness.stats.mixed_model import Components, fit_mixed_model
from earwitness.stats.power import (
    METHODS,
    PowerScenario,
    detectable_difference,
    listeners_needed,
    simulate_power,
)
from earwitness.studies.analyse import kept_ratings
from earwitness.studies.collect import STORE_ADDRESS, file_kind
from earwitness.studies.design.plan import count_minutes
from earwitness.studies.file.reader import read_study
from earwitness.studies.population import Population
from earwitness.studies.study import Study, StudyBlock
from earwitness.studies.trials import block_kind, study_kinds
from earwitness.version import __version__

# --- Power by simulation -------------------------------------------------------------------------


DEFAULT_DIFFERENCE_SHARES = (0.05, 0.1)  # default differences, as shares of the scale
LISTENER_COUNT_FACTORS = (0.5, 1.0, 1.5, 2.0, 3.0)  # multiples of the planned number of listeners
COMPONENT_NAMES = tuple(asdict(Components()))


@dataclass(frozen=True, kw_only=True)
class PilotOptions(TableOptions):
    """How a pilot's table of votes is read; tables of means have no votes.

    Parameters
    ----------
    layout
        Layout of tables. auto: recognize tables of other tools; matrix: one column per listener;
        plain: only the documented columns.
    """

    layout: Annotated[str, LAYOUTS] = AUTO_LAYOUT


def study_power(
    study: StrPath | Study,
    *,
    pilot: TableInput | Sequence[TableInput] = (),
    pilot_study: StrPath | Study | None = None,
    pilot_scale: Annotated[str, "NAME[=LOW:HIGH]"] = "",
    reading: PilotOptions | None = None,
    sd: Annotated[Mapping[str, float] | None, "NAME=POINTS"] = None,
    scale: Annotated[str, "NAME"] = "",
    differences: Sequence[float] = (),
    listeners: Sequence[int] = (),
    power: float = 0.8,
    runs: int = 2000,
    seed: int = 0,
    **table: Any,
) -> PowerPlan:
    """Estimate the power of the planned comparisons between systems by simulation.

    Parameters
    ----------
    study
    pilot
        Ratings of this or any earlier study, from which standard deviations are estimated after
        screening: files of answers, or tables as in ``study_analyse``, which may have other
        systems, items and listeners (default: standard deviations of simulated listeners).
    pilot_study
        Study, or path of its file, that the answers of the pilot belong to and by whose rules its
        listeners are screened (default: the planned study).
    pilot_scale
        Scale of the pilot, such as ``MOS``, or with its range, ``MOS=1:5``, which must be that of
        the planned scale. By default the scale of the same name, or the only one.
    reading
        How tables of the pilot are read. Its fields, except ``scales``, may also be passed
        as arguments.
    sd
        Standard deviations in points of the scale, which override those of the pilot or the assumed
        ones: listener, item, listener_system, item_system, residual.
    scale
        Scale. By default the first.
    differences
        Differences between two systems, in points of the scale. By default 5 % and 10 % of it.
    listeners
        Numbers of listeners. By default 0.5 to 3 times the planned number.
    power
        Target power.
    runs
        Number of simulated studies per row.
    seed
    **table
        Fields of ``reading``.

    Returns
    -------
    PowerPlan
        Power and detectable difference by number of listeners, and the listeners needed.

    Raises
    ------
    UsageError
        If an argument is out of range, the study has no rated scale, or the pilot has no ratings on
        a scale with the same ends or too few to estimate all standard deviations.
    InputError
        If a file has faults; all of them are listed.

    Examples
    --------
    >>> plan = study_power("study.yaml", differences=[0.5], listeners=[16], runs=50)
    >>> plan.to_records()[0]["listeners"]
    16
    """
    plan = study if isinstance(study, Study) else read_study(Path(study))
    if unknown := [name for name in table if name not in TABLE_ARGUMENTS]:
        raise TypeError(f"study_power() got an unexpected keyword argument '{unknown[0]}'")
    pilot_files = table_inputs(pilot, "pilot")
    options = reading or PilotOptions(**table)
    pilot_only = {
        "pilot_study": pilot_study is not None,
        "pilot_scale": bool(pilot_scale),
        "columns of a pilot": options != PilotOptions(),
    }
    _check_request(power, runs, differences, listeners, sd or {})
    if not pilot_files and any(pilot_only.values()):
        names = ", ".join(name for name, is_set in pilot_only.items() if is_set)
        raise UsageError(f"{names}: no pilot is named — name its ratings with --pilot FILE")
    block, chosen_scale = _find_scale(plan, scale)
    chosen = _assumed_components(chosen_scale)
    if pilot_files:
        chosen = _estimate_components(
            pilot_files,
            _pilot_study(pilot_study, plan),
            chosen_scale,
            pilot_scale,
            options,
            sd or {},
        )
    parts = replace(chosen.parts, **(sd or {}))
    source = f"{chosen.source}, except {', '.join(sd)}" if sd else chosen.source
    base = _power_scenario(plan, block, chosen_scale, parts, rounded=not pilot_files)
    size = chosen_scale.high - chosen_scale.low
    if any(difference > size for difference in differences):
        raise UsageError(
            f"differences must not exceed the range of {chosen_scale.name}, {chosen_scale.low:g} to"
            f" {chosen_scale.high:g}"
        )
    wanted_differences = sorted(
        {*differences} or {share * size for share in DEFAULT_DIFFERENCE_SHARES}
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
        rows.append(PowerRow(count, hours, detectable_difference(scenario, power=power), power_of))
    needed = {
        difference: listeners_needed(base, difference, power=power)
        for difference in wanted_differences
    }
    return PowerPlan(
        title=plan.title,
        signature=_signature(base, runs, seed, power),
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
        wanted=power,
        method=base.method,
        planned=plan.listeners,
        rows=tuple(rows),
        needed={
            difference: _scale_listeners(count, shares) for difference, count in needed.items()
        },
        notes=(*chosen.notes, *_power_notes(block, base)),
        pilot_notes=chosen.pilot_notes,
    )


def _check_request(
    wanted: float,
    runs: int,
    differences: Sequence[float],
    listeners: Sequence[int],
    components: Mapping[str, float],
) -> None:
    """Raise UsageError for all arguments that are out of range."""
    problems = []
    if not 0 < wanted < 1:
        problems.append(f"power must be between 0 and 1, got {wanted:g}")
    if runs < 1:
        problems.append(f"runs must be at least 1, got {runs}")
    if any(not difference > 0 for difference in differences):
        problems.append("differences must be above 0")
    if any(listener < 2 for listener in listeners):
        problems.append("listeners must be at least 2")
    for name, value in components.items():
        if name not in COMPONENT_NAMES:
            problems.append(f'unknown component "{name}" — {nearest(name, COMPONENT_NAMES)}')
        elif not value >= 0:
            problems.append(f"{name} must be a number of at least 0, got {value:g}")
    if problems:
        raise UsageError("\n".join(problems))


def _find_scale(plan: Study, name: str) -> tuple[StudyBlock, Scale]:
    """Return the block and scale to compute power for: the named scale, or the first rated."""
    rated = {
        scale.name: (block, scale)
        for block in reversed(plan.blocks)
        for kind in [block_kind(block)]
        if kind.rates_systems and not kind.is_paired
        for scale in reversed(kind.scales)
    }
    if not rated:
        others = [kind.name for kind in study_kinds(plan) if not kind.rates_systems]
        why = f"{others[0]} trials have none" if others else "this study compares pairs"
        raise UsageError(f"power can be computed for ratings of systems only, but {why}")
    first = next(scale_name for scale_name in reversed(rated))
    if name and name not in rated:
        raise UsageError(f'systems are not rated on scale "{name}" — {nearest(name, rated)}')
    return rated[name or first]


class ChosenComponents(NamedTuple):
    """Components, their source, and notes for the summary and on the ratings of the pilot."""

    parts: Components
    source: str
    notes: tuple[str, ...] = ()
    pilot_notes: tuple[str, ...] = ()


def _assumed_components(scale: Scale) -> ChosenComponents:
    population, size = Population(), scale.high - scale.low
    deviations = (
        population.bias,
        population.items,
        population.taste,
        population.mixture,
        population.inconsistency,
    )
    assumed = Components(*(deviation * size for deviation in deviations))
    return ChosenComponents(assumed, "assumed (defaults of simulated listeners)")


def _pilot_study(study: StrPath | Study | None, planned: Study) -> Study:
    if study is None or isinstance(study, Study):
        return study or planned
    return read_study(Path(study), heard=False)


def _estimate_components(
    files: Sequence[Path | RecordSource],
    study: Study,
    scale: Scale,
    said: str,
    reading: TableOptions,
    given: Mapping[str, float],
) -> ChosenComponents:
    """Return the components of the votes of a pilot on the scale that stands for the planned one.

    Components in ``given`` need not be estimable.
    """
    scales = (
        {scale.name: scale} | _study_scales(study) | parse_scales([said] if "=" in said else [])
    )
    material = _read_pilot(files, study, reading, scales)
    name = _pilot_scale(said.partition("=")[0], scale.name, material.ratings)
    pilot = code_ratings(material.ratings, name)
    _check_pilot_scale(pilot, scale, scales)
    fit = fit_mixed_model(pilot.votes)
    if missing := [part for part in COMPONENT_NAMES if part not in {*fit.variances, *given}]:
        raise UsageError(
            f"the pilot does not allow {join_names(missing)} to be estimated, which needs votes of "
            "several listeners on several systems and items — add votes, or set "
            + " ".join(f"--sd {part}=POINTS" for part in missing)
        )
    names = ", ".join(Path(source.name).name for source in material.inputs)
    people = f"{len(pilot.listeners)} listeners kept, {len(pilot.ratings):,} votes"
    on = "" if name == scale.name else f" on {name}"
    notes = (f"Standard deviations are those of the pilot's scale {name}",) if on else ()
    source = f"estimated from pilot {names} ({people}{on})"
    return ChosenComponents(Components.from_fit(fit), source, notes, material.notes)


def _study_scales(study: Study) -> dict[str, Scale]:
    return {scale.name: scale for block in study.blocks for scale in block_kind(block).scales}


def _read_pilot(
    files: Sequence[Path | RecordSource],
    study: Study,
    reading: TableOptions,
    scales: Mapping[str, Scale],
) -> RatingSet:
    """Return the ratings of a pilot after screening."""
    for file in files:
        if not isinstance(file, Path):
            continue
        if file_kind(file) == "study":
            raise UsageError(f"{file} is a study file — name it as pilot_study, with its answers")
        if STORE_ADDRESS.match(str(file)) or file_kind(file) == "store":
            raise UsageError(
                f"{file} is a database — export its answers with: earwitness study export STUDY "
                "--db DATABASE -o answers.jsonl"
            )
    try:
        return kept_ratings(files, study, reading, scales)
    except InputError as error:
        if not all(problem.field == "study" for problem in error.problems):
            raise
        source = error.problems[0].source
        message = f"{source}: answers to another study — name its study file with --pilot, too"
        raise UsageError(message) from None


def _pilot_scale(said: str, planned: str, ratings: Sequence[Rating]) -> str:
    """Return the named scale of a pilot, else the planned one, else the only one."""
    names = list(dict.fromkeys(rating.scale for rating in ratings))
    if not names:
        raise UsageError("the pilot has no ratings")
    if said and said not in names:
        raise UsageError(f'the pilot has no ratings on scale "{said}" — {nearest(said, names)}')
    if said or planned in names or len(names) == 1:
        return said or (planned if planned in names else names[0])
    raise UsageError(
        f'the pilot has no ratings on scale "{planned}" — set --pilot-scale to one of '
        f"{', '.join(names)}"
    )


def _check_pilot_scale(pilot: CodedRatings, planned: Scale, scales: Mapping[str, Scale]) -> None:
    """Raise UsageError if the ends of the scale of a pilot are unknown or not the planned ones."""
    scale, guess = Scales(scales).of(pilot.scale, pilot.ratings)
    if (scale.low, scale.high) == (planned.low, planned.high):
        return
    if guess:
        votes = [rating.value for rating in pilot.ratings]
        raise UsageError(
            f"the ends of the pilot's scale {pilot.scale} are unknown (votes range from "
            f"{min(votes):g} to {max(votes):g}) — set them with --pilot-scale "
            f"{pilot.scale}=LOW:HIGH"
        )
    raise UsageError(
        f"{pilot.scale} ranges from {scale.low:g} to {scale.high:g} in the pilot, but "
        f"{planned.name} from {planned.low:g} to {planned.high:g} in the study — choose another "
        "scale with --pilot-scale, convert the votes of the pilot, or set standard deviations with "
        "--sd"
    )


def _power_scenario(
    plan: Study, block: StudyBlock, scale: Scale, parts: Components, *, rounded: bool
) -> PowerScenario:
    """Return the planned comparison of two systems."""
    anchors = {
        name for key in (ALL_SCALES, scale.name) for name in plan.analysis.anchors.get(key, ())
    }
    ranked = len({*block.systems} - anchors)
    pairs = ranked * (ranked - 1) // 2
    planned = [contrast for contrast in plan.analysis.contrasts if {*contrast} <= {*block.systems}]
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
        method=MIXED_MODEL if plan.analysis.interval in ITEM_INTERVALS else METHODS[0],
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
