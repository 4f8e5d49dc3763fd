"""Compare systems on the items that all of them answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from earwitness.api.collect import Hashes
from earwitness.api.collected import Collected
from earwitness.api.family import Chosen, Families
from earwitness.api.paired import MOST, Paired, Plan
from earwitness.api.run import Run
from earwitness.api.scoring import Place, check, collected, listed, sources
from earwitness.api.tasks import setting
from earwitness.data import (
    Comparison,
    Contrast,
    Estimate,
    GroupContrasts,
    Map,
    Progress,
    Value,
    no_progress,
)
from earwitness.engines import in_process
from earwitness.errors import UsageError, nearest
from earwitness.formats.records import OnError
from earwitness.stats.correction import holm


def compare(
    outputs: Place,
    references: Place,
    *,
    values: Sequence[str] | str | None = None,
    metrics: Chosen | None = None,
    alpha: float = 0.05,
    permutations: int = 10_000,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    on_error: OnError = "fail",
    worst: int = 0,
    worst_by: str | None = None,
    by: Sequence[str] | str = (),
    show: Sequence[str] | str = (),
    preset: str = "",
    pattern: str = "",
    timestamp_format: str = "",
    tokenise: str = "",
    baselines: Sequence[str] | str = (),
    map: Map = in_process,
    progress: Progress = no_progress,
    **parameters: Any,
) -> Comparison:
    """Differences between all pairs of systems, with intervals and tests.

    Intervals come from a bootstrap in which both systems see the same items; p-values from swapping
    the systems' outputs item by item; for every value, p is corrected for all pairs by Holm's
    method. ``values`` are the headlines of the metrics unless others are named. ``by`` compares
    within every group of a field too; p is then corrected for all pairs and groups of the field.
    """
    check(
        draws=draws,
        level=level,
        seed=seed,
        on_error=on_error,
        permutations=permutations,
        worst=worst,
    )
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must lie between 0 and 1, such as 0.05, got {alpha}")
    source, other = sources(outputs, references)
    reading = {
        "preset": preset,
        "pattern": pattern,
        "timestamp_format": timestamp_format,
        "tokenise": tokenise,
    }
    families, lines = setting(source, other, metrics, parameters, reading)
    chosen = _chosen(families, values)
    kept = collected(families, draws, seed, worst, worst_by, by, show, MOST)
    run = Run(kept, on_error, lines, listed(baselines))
    run.read(source, other, None, map, progress)
    systems = run.collected.whole.systems
    if any(system.bootstrap.count > MOST for system in systems.values()):
        raise UsageError(f"differences need all items in memory: at most {MOST:,} of a system")
    scores = run.result(level)
    if len(systems) < 2:
        raise UsageError(f"there is one system only, {next(iter(systems))}: nothing to compare")
    plan = Plan(families, chosen, draws, level, seed, permutations)
    paired = Paired(plan, systems)
    if not paired.items:
        raise UsageError("no item was answered by all systems: nothing to compare")
    return Comparison(
        signature=f"{scores.signature}|permutation(permutations={permutations},alpha={alpha})|holm",
        scores=scores,
        items=paired.items,
        alpha=alpha,
        values=tuple(value.name for value in chosen),
        systems=paired.estimates(),
        contrasts=_corrected([paired], chosen, alpha)[0],
        groups=tuple(_groups(plan, run.collected, paired.hashes, alpha)),
    )


def _groups(plan: Plan, kept: Collected, common: Hashes, alpha: float) -> Iterator[GroupContrasts]:
    """Contrasts within the groups of every field, on items that every system answered."""
    for name, groups in kept.sorted_groups():
        told = [(label, Paired(plan, tally.systems, common)) for label, tally in groups]
        told = [(label, paired) for label, paired in told if paired.items and paired.pairs]
        found = _corrected([paired for _, paired in told], plan.chosen, alpha)
        for (label, paired), contrasts in zip(told, found, strict=True):
            yield GroupContrasts(name, label, paired.items, contrasts)


def _corrected(told: list[Paired], chosen: list[Value], alpha: float) -> list[tuple[Contrast, ...]]:
    """Contrasts of each, value by value; p is corrected over all of them together.

    Contrasts of so few items that no outcome could tell the systems apart do not count.
    """
    answers: list[list[Contrast]] = [[] for _ in told]
    found = [
        (place, pair, *one.pair(*pair)) for place, one in enumerate(told) for pair in one.pairs
    ]
    for index, value in enumerate(chosen):
        corrected = holm([_countable(e[index], float(p[index]), alpha) for *_, e, p in found])
        for (place, (a, b), estimates, p), fixed in zip(found, corrected, strict=True):
            difference = estimates[index]
            better = _better(value, difference.value, a, b) if fixed < alpha else ""
            contrast = Contrast(value.name, a, b, difference, float(p[index]), fixed, better)
            answers[place].append(contrast)
    return [tuple(contrasts) for contrasts in answers]


def _chosen(families: Families, names: Sequence[str] | str | None) -> list[Value]:
    known = {value.name: value for value in families.values}
    names = [names] if isinstance(names, str) else names
    names = [full for name in names or () for full in _variants(name, known)]
    for name in names:
        if name not in known:
            raise UsageError(f'there is no value "{name}" — {nearest(name, known)}')
        if known[name].best == "none":
            raise UsageError(f'"{name}" is neither good nor bad when high — choose another value')
    return [known[name] for name in dict.fromkeys(names or families.headlines)]


def _variants(name: str, known: Iterable[str]) -> list[str]:
    """A value that was scored with several parameters stands for all of them."""
    found = [full for full in known if full.partition("@")[0] == name]
    return found or [name]


def _countable(difference: Estimate, p: float, alpha: float) -> float:
    """p, or NaN where even the least p that so many items can give is not below alpha."""
    return p if 2.0 ** (1 - difference.n) < alpha else float("nan")


def _better(value: Value, difference: float, a: str, b: str) -> str:
    return a if (difference > 0) == (value.best == "high") else b
