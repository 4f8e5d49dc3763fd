"""Scores and ratings to concordance, from files or from a store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from earwitness import __version__
from earwitness.api.lengths import output_lengths
from earwitness.api.rated import Place, Reading, check_roles, material_of, stored_material
from earwitness.api.settings import NO_FIELD, settings_of
from earwitness.api.sides import check_ratings, check_scores
from earwitness.concordance.columns import metrics_of
from earwitness.concordance.settings import Settings
from earwitness.concordance.whole import Both, agree
from earwitness.data import Concordance, Progress, Rating, Score, Study, no_progress
from earwitness.errors import UsageError, nearest
from earwitness.formats.scores import ScoreTable, read_scores
from earwitness.formats.study import read_study
from earwitness.listening.analysis.doubled import resolve
from earwitness.listening.analysis.scales import Scales
from earwitness.listening.analysis.settings import Settings as Plan
from earwitness.listening.analysis.whole import Material, with_anchors
from earwitness.listening.screened import screen


@dataclass(frozen=True)
class Scoring:
    """What is said about scores: how tables are read, which metrics count, and which end is good.

    ``outputs`` is a file of outputs, whose lengths are a baseline.
    """

    pattern: str = ""
    column: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    metrics: tuple[str, ...] = ()
    low: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    outputs: str = ""


def study_agree(
    scores: Place | Sequence[Place],
    ratings: Place | Sequence[Place] = (),
    *,
    study: Place | Study | None = None,
    db: Place | None = None,
    scales: Sequence[str] = (),
    ends: Sequence[str] = (),
    scoring: Scoring = Scoring(),  # noqa: B008
    reading: Reading = Reading(),  # noqa: B008
    screening: Sequence[str] | None = None,
    reference: str = "",
    anchor: str = "",
    progress: Progress = no_progress,
    **how: Any,
) -> Concordance:
    """How far metrics agree with people.

    ``ratings`` are answers to a study, in files or in a store (``db``), or tables of ratings;
    listeners are screened as the study plans, or as ``screening`` says. ``scales`` are those to
    look at, else all; ``ends`` says how far scales go, such as ``MOS=0:100``. ``how`` has fields of
    ``Settings``.
    """
    settings = Settings(version=__version__, **how)
    files = [Path(one) for one in _listed(ratings)]
    check_scores(_listed(scores), files, study, db, _listeners(reading))
    plan = study if isinstance(study, Study) or study is None else read_study(Path(study))
    roles: dict[str, Any] = {"reference": reference, "anchor": anchor}
    asked = settings_of(plan, screening=screening, scales=ends, by=(NO_FIELD,), **roles)
    if db is not None:
        material = stored_material(plan, db, files, asked)
    else:
        check_ratings(files, study)
        material = material_of(files, plan, reading, asked)
    if not material.ratings:
        raise UsageError("there are no ratings")
    check_roles(material, roles)
    asked = with_anchors(material.ratings, asked)
    counted, doubled = resolve(material.ratings, asked.doubled, reference=asked.reference)
    kept, told = _screened(counted, asked, material)
    kept, left = _without(kept, asked.controls)
    told += [f"{len(doubled):,} votes were doubled; {asked.doubled} counts"] if doubled else []
    told += [f"hidden references and anchors are left out: {', '.join(left)}"] if left else []
    _known_scales(scales, kept)
    both = _both(_listed(scores), scoring, material, kept, told)
    chosen = f"{asked.chosen}|left={'+'.join(left) or 'none'}{_read_as(scoring, reading)}"
    both = replace(both, kept=chosen, scales=Scales(asked.scales))
    return agree(both, settings, scales, progress=progress)


def _listeners(reading: Reading) -> str:
    """The column of ratings that has listeners; nothing if they stand elsewhere."""
    elsewhere = "listener" in reading.given or "{listener}" in reading.pattern
    return "" if elsewhere else reading.columns.get("listener", "listener")


def _without(
    ratings: Sequence[Rating], controls: Sequence[str]
) -> tuple[Sequence[Rating], list[str]]:
    """Ratings of what competes, and controls that were rated: any metric can tell those."""
    left = [name for name in controls if any(one.key.system == name for one in ratings)]
    return [one for one in ratings if one.key.system not in left] or ratings, left


def _read_as(scoring: Scoring, reading: Reading) -> str:
    """How names of samples were taken apart, if that was said."""
    said = {"scores": scoring.pattern, "ratings": reading.pattern}
    parts = [f"{name}={pattern}" for name, pattern in said.items() if pattern]
    return f"|patterns({','.join(parts)})" if parts else ""


def _listed(given: Place | Sequence[Place]) -> list[Place]:
    return [given] if isinstance(given, str | PathLike) else list(given)


def _screened(
    ratings: Sequence[Rating], asked: Plan, material: Material
) -> tuple[Sequence[Rating], list[str]]:
    """Ratings of listeners who are kept, and what is said of the others; never of nobody."""
    roles = {"reference": asked.reference, "anchor": asked.anchor}
    found = screen(ratings, asked.screening, **roles, plays=material.plays)
    left = {*found.left}
    kept = [one for one in ratings if one.listener not in left]
    if not kept:
        return ratings, [*found.notes, "screening would leave nobody: all listeners are kept"]
    told = [f"screening left {len(left):,} listener{'s' * (len(left) != 1)} out"] if left else []
    return kept, [*found.notes, *told]


def _known_scales(names: Sequence[str], ratings: Iterable[Rating]) -> None:
    known = {one.scale for one in ratings}
    for name in names:
        if name not in known:
            raise UsageError(f'no rating is on scale "{name}" — {nearest(name, known)}')


def _both(
    files: list[Place],
    scoring: Scoring,
    material: Material,
    ratings: Sequence[Rating],
    told: Sequence[str],
) -> Both:
    tables = _tables(files, scoring)
    every = [one for table in tables for one in table.scores]
    inputs = [table.input for table in tables]
    if scoring.outputs:
        lengths, file = output_lengths(scoring.outputs)
        every += lengths
        inputs.append(file)
    full, fewer = _by_references(every)
    metrics, notes = metrics_of(full, scoring.low, scoring.baselines)
    low = [one.name for one in metrics if one.low_is_good]
    notes.append(f"low is taken as good of {', '.join(low) or 'no metric'}, high of all others")
    return Both(
        full,
        metrics,
        ratings,
        material.title,
        material.systems,
        Scales({}),
        (*inputs, *material.inputs),
        tuple(dict.fromkeys(one for table in tables for one in table.signatures)),
        tuple(
            dict.fromkeys((*(n for t in tables for n in t.notes), *notes, *material.notes, *told))
        ),
        fewer,
    )


def _tables(files: Sequence[Place], scoring: Scoring) -> list[ScoreTable]:
    """Tables of scores; of several, each need not have all that is named, but one must."""
    tables = [_read(one, scoring, several=len(files) > 1) for one in files]
    names = [name for table in tables for name in table.columns]
    for name in (*scoring.metrics, scoring.column, *dict(scoring.columns).values()):
        if name and name not in names:
            raise UsageError(f'no file of scores has a column "{name}" — {nearest(name, names)}')
    return tables


def _read(path: Place, scoring: Scoring, *, several: bool) -> ScoreTable:
    return read_scores(
        path,
        pattern=scoring.pattern,
        column=scoring.column,
        columns=dict(scoring.columns),
        metrics=scoring.metrics,
        several=several,
    )


def _by_references(scores: Sequence[Score]) -> tuple[list[Score], list[Score]]:
    """Scores with the most references of their metric, and those with fewer."""
    most: dict[str, int] = {}
    for one in scores:
        most[one.metric] = max(most.get(one.metric, 0), one.references)
    full = [one for one in scores if one.references == most[one.metric]]
    return full, [one for one in scores if one.references < most[one.metric]]
