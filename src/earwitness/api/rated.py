"""Ratings out of files and stores: answers to a study, or plain tables."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from earwitness.api.gathered import Gathered, form_groups, study_captions, study_groups
from earwitness.api.sides import check_ratings
from earwitness.api.taking import ratings_of, study_answers
from earwitness.data import Input, Rating, Study
from earwitness.errors import UsageError, nearest
from earwitness.formats.answers import SIMULATED
from earwitness.formats.ratings import Known, Limit, read_ratings
from earwitness.listening.analysis.scales import known_scales
from earwitness.listening.analysis.settings import Settings
from earwitness.listening.analysis.whole import Material
from earwitness.listening.kinds import block_kind

Place = str | PathLike[str]
FAULTS = ("refuse", "drop")


@dataclass(frozen=True)
class Reading:
    """How tables are read: a pattern for the names of samples, and what columns are called.

    ``scales`` are columns of their own, if not all that are numbers; ``given`` says what the file
    does not, such as the scale. ``rubric`` is what captions were judged by; an empty one is
    guessed, ``none`` is none. With ``faults`` ``drop``, votes off a scale are taken for blanks.
    """

    pattern: str = ""
    column: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    scales: tuple[str, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict)
    rubric: str = ""
    faults: str = FAULTS[0]


def named(
    study: Study | None,
    ratings: Sequence[Rating],
    inputs: tuple[Input, ...],
    notes: Sequence[str] = (),
) -> Material:
    """Ratings with what is known of them."""
    if study is None:
        return Material(
            ratings,
            ", ".join(Path(one.name).name for one in inputs),
            inputs=inputs,
            notes=tuple(notes),
        )
    items = tuple(clip.name for clip in study.material)
    return Material(
        *(ratings, study.title, study.systems, items, inputs, tuple(notes), study.digest),
        groups=study_groups(study),
        captions=study_captions(study),
    )


def material_of(
    files: list[Path], plan: Study | None, reading: Reading, settings: Settings
) -> Material:
    """Ratings of files, be they answers or tables."""
    check_ratings(files, None)
    found, simulated = Gathered(study_groups(plan)), False
    for path in files:
        if _are_answers(path):
            if plan is None:
                raise UsageError(f"{path} has answers — name the study file, too")
            made, answers = study_answers(plan, path)
            rated = ratings_of(made, answers, str(path))
            found.judged(settings.rubric, rated, _input(path), settings.blank)
            found.join(form_groups(plan, answers.values()), str(path))
            simulated |= any(one.at == SIMULATED for one in answers.values())
        else:
            wanted = [name for name in settings.plan.by if name not in found.known]
            table = read_ratings(path, groups=wanted, **_how(plan, reading, settings))
            found.table(table, settings.blank)
    made_of = named(plan, found.ratings, tuple(found.inputs), found.notes)
    return replace(
        made_of,
        simulated=simulated,
        groups={**found.known, **found.groups},
        captions={**made_of.captions, **found.captions},
        faults=tuple(found.faults),
        rubric=found.rubric,
    )


def _how(plan: Study | None, reading: Reading, settings: Settings) -> dict[str, Any]:
    """How a table is read: names and scales are those of the study, if there is one."""
    said = {name: Limit(one.low, one.high, one.step) for name, one in settings.scales.items()}
    found: dict[str, Any] = {
        "pattern": reading.pattern,
        "column": reading.column,
        "columns": reading.columns,
        "scales": reading.scales,
        "given": reading.given,
        "limits": {**known_scales(), **said},
        "rubric": reading.rubric,
        "drop": reading.faults == "drop",
    }
    if plan is None:
        return found
    kinds = [block_kind(block) for block in plan.blocks]
    others = [name for kind in kinds for name in kind.extra(plan.reference)]
    known = Known(
        systems=(*plan.systems, *others),
        items=[clip.name for clip in plan.material],
        listeners=range(1, plan.listeners + 1),
        scales=[scale for kind in kinds for scale in kind.results()],
    )
    return {**found, "known": known}


def _are_answers(path: Path) -> bool:
    """Whether the first line of a file is an answer of a listener; standard input is a table."""
    if str(path) == "-":
        return False
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as lines:
            first = json.loads(next((line for line in lines if line.strip()), "null"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:
        return False
    return isinstance(first, dict) and {"page", "values"} <= {*first}


def _input(path: Path) -> Input:
    raw = path.read_bytes()
    return Input(str(path), hashlib.sha256(raw).hexdigest(), len(raw))


def stored_material(
    plan: Study | None, db: Place, files: Sequence[Place], settings: Settings
) -> Material:
    """Ratings out of a store."""
    from earwitness.api.keeping import stored_answers  # needs a database only here

    if plan is None or files:
        raise UsageError("with a store, name the study file and nothing else")
    found = stored_answers(plan, db)
    known = (Input(found.name, found.sha256, len(found.lines)),)
    gathered = Gathered()
    gathered.judged(settings.rubric, found.ratings(), known[0], settings.blank)
    made = named(plan, gathered.ratings, known)
    groups = {**made.groups, **form_groups(plan, found.answers)}
    return replace(made, plays=found.plays(), groups=groups, faults=tuple(gathered.faults))


def check_roles(material: Material, how: Mapping[str, Any]) -> None:
    """A reference or anchor that is named here must have been rated."""
    known = {one.key.system for one in material.ratings}
    for role in ("reference", "anchor"):
        name = how.get(role)
        if name and name not in known:
            raise UsageError(f'{role}: nobody rated "{name}" — {nearest(name, known)}')
