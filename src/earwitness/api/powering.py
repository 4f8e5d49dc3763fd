"""What a planned study can find: power, the least difference, listeners needed, and hours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path

from earwitness import __version__
from earwitness.api.analysing import kept_ratings
from earwitness.data import Block, Powered, PowerPlan, Study
from earwitness.errors import UsageError, nearest
from earwitness.formats.study import read_study
from earwitness.listening.design.minutes import minutes
from earwitness.listening.kinds import block_kind
from earwitness.listening.population import Population
from earwitness.listening.scale import Scale
from earwitness.stats.components import Components
from earwitness.stats.mixed import fit
from earwitness.stats.plans import METHODS, Plan
from earwitness.stats.power import detectable, listeners_needed, power

DIFFERENCES = (0.05, 0.1)  # shares of the scale that are looked at if nothing is said
TIMES = (0.5, 1.0, 1.5, 2.0, 3.0)  # of the planned listeners
OTHER_ITEMS = ("mixed", "two_way_bootstrap")  # intervals that speak about other items
NAMES = tuple(asdict(Components()))


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
    parts, source = _components(plan, asked, pilot, components or {})
    base = _plan(plan, block, asked, parts, rounded=not pilot)
    if any(one > asked.high - asked.low for one in differences):
        raise UsageError(f"{asked.name} goes from {asked.low:g} to {asked.high:g} only")
    known = sorted({*differences} or {share * (asked.high - asked.low) for share in DIFFERENCES})
    shares = _shared(block)
    minutes_each = minutes(plan)[-1].minutes
    rows = []
    for count in sorted({*listeners} or {max(2, round(one * plan.listeners)) for one in TIMES}):
        own = replace(base, listeners=max(1, round(count * shares)))
        found = {one: power(own, one, runs=runs, seed=seed) for one in known}
        hours = count * minutes_each / 60
        rows.append(Powered(count, hours, detectable(own, power=wanted), found))
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


def _asked(plan: Study, name: str) -> tuple[Block, Scale]:
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


def _components(
    plan: Study, scale: Scale, pilot: Sequence[str | PathLike[str]], said: Mapping[str, float]
) -> tuple[Components, str]:
    for name, value in said.items():
        if name not in NAMES:
            raise UsageError(f'there is no component "{name}" — {nearest(name, NAMES)}')
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


def _plan(plan: Study, block: Block, scale: Scale, parts: Components, *, rounded: bool) -> Plan:
    """The comparison of two systems as the study plans it."""
    pairs = len(block.systems) * (len(block.systems) - 1) // 2
    planned = [one for one in plan.analysis.contrasts if {*one} <= {*block.systems}]
    tests = 1 if plan.analysis.correction == "none" else len(planned) or max(1, pairs)
    return Plan(
        components=parts,
        listeners=plan.listeners,
        items=block.clips * plan.panels,
        systems=len(block.systems),
        panels=plan.panels,
        alpha=1 - plan.analysis.level,
        tests=tests,
        step=scale.step if rounded else None,
        method="mixed" if plan.analysis.interval in OTHER_ITEMS else METHODS[0],
    )


def _shared(block: Block) -> float:
    """The share of listeners who hear both of two systems."""
    every, heard = len(block.systems), block.heard or len(block.systems)
    return heard * (heard - 1) / (every * (every - 1)) if every > 1 else 1.0


def _all(count: int | None, share: float) -> int | None:
    """All listeners, if so many of them must hear both systems."""
    return None if count is None or not share else -(-round(count / share * 1e9) // 10**9)


def _notes(block: Block, plan: Plan) -> list[str]:
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


def _signature(plan: Plan, runs: int, seed: int, wanted: float) -> str:
    parts = ",".join(f"{name}={value:.4g}" for name, value in asdict(plan.components).items())
    return (
        f"earwitness={__version__}|power(method={plan.method},alpha={plan.alpha:g},"
        f"tests={plan.tests},wanted={wanted:g})|components({parts})|"
        f"simulation(runs={runs},seed={seed})"
    )
