"""Ratings out of files and stores: answers to a study, or plain tables."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True)
class Reading:
    """How tables are read: a pattern for the names of samples, and what columns are called.

    ``scales`` are columns of their own, if not all that are numbers; ``given`` says what the file
    does not, such as the scale.
    """

    pattern: str = ""
    column: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    scales: tuple[str, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict)


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
    return Material(ratings, study.title, study.systems, items, inputs, tuple(notes), study.digest)


def material_of(
    files: list[Path], plan: Study | None, reading: Reading, settings: Settings
) -> Material:
    """Ratings of files, be they answers or tables."""
    check_ratings(files, None)
    found, inputs, notes, simulated = list[Rating](), list[Input](), list[str](), False
    for path in files:
        if _are_answers(path):
            if plan is None:
                raise UsageError(f"{path} has answers — name the study file, too")
            made, answers = study_answers(plan, path)
            found += ratings_of(made, answers, str(path))
            simulated |= any(one.at == SIMULATED for one in answers.values())
            inputs.append(_input(path))
        else:
            table = read_ratings(path, **_how(plan, reading, settings))
            found += table.ratings
            inputs.append(table.input)
            notes += table.notes
    return replace(named(plan, found, tuple(inputs), notes), simulated=simulated)


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


def stored_material(plan: Study | None, db: Place, files: Sequence[Place]) -> Material:
    """Ratings out of a store."""
    from earwitness.api.keeping import stored_answers  # needs a database only here

    if plan is None or files:
        raise UsageError("with a store, name the study file and nothing else")
    found = stored_answers(plan, db)
    known = (Input(found.name, found.sha256, len(found.lines)),)
    return replace(named(plan, found.ratings(), known), plays=found.plays())


def check_roles(material: Material, how: Mapping[str, Any]) -> None:
    """A reference or anchor that is named here must have been rated."""
    known = {one.key.system for one in material.ratings}
    for role in ("reference", "anchor"):
        name = how.get(role)
        if name and name not in known:
            raise UsageError(f'{role}: nobody rated "{name}" — {nearest(name, known)}')
