"""Ratings to results: from answers to a study, or from plain tables."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from earwitness import __version__
from earwitness.api.taking import ratings_of, study_answers
from earwitness.data import Input, Progress, Rating, Results, Rule, Study, no_progress
from earwitness.errors import UsageError, nearest
from earwitness.formats.answers import SIMULATED
from earwitness.formats.ratings import Known, Limit, read_ratings
from earwitness.formats.study import read_study
from earwitness.formats.whole import WholeFolder
from earwitness.listening.analysis.coded import Coded, coded
from earwitness.listening.analysis.doubled import resolve
from earwitness.listening.analysis.scales import known_scales, said_scales
from earwitness.listening.analysis.settings import Settings, rule_named
from earwitness.listening.analysis.whole import Material, analyse
from earwitness.listening.kinds import block_kind
from earwitness.listening.kinds.mushra import CUTOFFS, Mushra
from earwitness.listening.screened import screen
from earwitness.report import tables_csv, written
from earwitness.report.methods import methods

Place = str | PathLike[str]
MIDDLE = list(CUTOFFS)[-1]  # the anchor that is to be heard as one
ALL_FORMS = {"report.html": "html", "results.json": "json", "tables.tex": "latex"}


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


def study_analyse(
    ratings: Place | Sequence[Place],
    *,
    study: Place | Study | None = None,
    db: Place | None = None,
    reading: Reading = Reading(),  # noqa: B008
    progress: Progress = no_progress,
    **how: Any,
) -> Results:
    """All results of ratings: answers to a study, in files or in a store, or tables of ratings.

    ``db`` is the address of a store. ``how`` is what ``settings_of`` takes; what is said there
    goes before what the study plans.
    """
    plan = study if isinstance(study, Study) or study is None else read_study(Path(study))
    settings = settings_of(plan, **how)
    files = [ratings] if isinstance(ratings, str | PathLike) else list(ratings)
    if db is not None:
        material = _stored(plan, db, files)
    else:
        material = _material([Path(one) for one in files], plan, reading, settings)
    _check_roles(material, how)
    changed = _changed(plan, settings)
    return analyse(replace(material, changed=changed), settings, progress=progress)


def _stored(plan: Study | None, db: Place, files: Sequence[Place]) -> Material:
    """Ratings out of a store."""
    from earwitness.api.keeping import stored_answers  # needs a database only here

    if plan is None or files:
        raise UsageError("with a store, name the study file and nothing else")
    found = stored_answers(plan, db)
    return _named(plan, found.ratings(), (Input(found.name, found.sha256, len(found.lines)),))


def study_results(
    study: Study,
    ratings: Sequence[Rating],
    inputs: tuple[Input, ...] = (),
    *,
    simulated: bool = False,
    **how: Any,
) -> Results:
    """All results of ratings of a study that are there already."""
    settings = settings_of(study, **how)
    material = replace(_named(study, ratings, inputs), changed=_changed(study, settings))
    _check_roles(material, how)
    return analyse(replace(material, simulated=simulated), settings)


def _check_roles(material: Material, how: Mapping[str, Any]) -> None:
    """A reference or anchor that is named here must have been rated."""
    known = {one.key.system for one in material.ratings}
    for role in ("reference", "anchor"):
        name = how.get(role)
        if name and name not in known:
            raise UsageError(f'{role}: nobody rated "{name}" — {nearest(name, known)}')


def _changed(study: Study | None, settings: Settings) -> tuple[str, ...]:
    """Where an analysis differs from the plan of its study."""
    if study is None:
        return ()
    plan, here = study.analysis, settings.plan
    both = {
        "interval": (plan.interval, here.interval),
        "level": (f"{plan.level:g}", f"{here.level:g}"),
        "correction": (plan.correction, here.correction),
        "contrasts": (_pairs(plan.contrasts), _pairs(here.contrasts)),
        "screening": (_rules(study.screening), _rules(settings.screening)),
    }
    return tuple(
        f"{name}: {planned} was planned, {done} was done"
        for name, (planned, done) in both.items()
        if planned != done
    )


def _pairs(contrasts: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{a} – {b}" for a, b in contrasts) or "all pairs"


def _rules(rules: Sequence[Rule]) -> str:
    return ", ".join(rule.name for rule in rules) or "none"


def settings_of(
    study: Study | None,
    *,
    interval: str = "",
    level: float = 0.0,
    correction: str = "",
    contrasts: Sequence[tuple[str, str]] = (),
    scales: Sequence[str] = (),
    screening: Sequence[str] | None = None,
    reference: str = "",
    anchor: str = "",
    **more: Any,
) -> Settings:
    """How ratings are analysed: as a study plans it, but for what is said.

    ``scales`` says how far scales go, such as ``MOS=1:5``. ``screening`` names rules with their
    usual limits; ``reference`` and ``anchor`` are the hidden reference and the middle anchor that
    some of them need. ``more`` are fields of ``Settings``: doubled, draws, seed, mixed.
    """
    planned = _planned(study)
    said: dict[str, Any] = {"interval": interval, "level": level, "correction": correction}
    said["contrasts"] = tuple(contrasts)
    plan = replace(planned.plan, **{name: value for name, value in said.items() if value})
    rules = planned.screening if screening is None else tuple(map(rule_named, screening))
    return replace(
        planned,
        plan=plan,
        screening=rules,
        scales=said_scales(scales),
        reference=reference or planned.reference,
        anchor=anchor or planned.anchor,
        version=__version__,
        **more,
    )


def _planned(study: Study | None) -> Settings:
    """What a study plans, and which of its sounds are the hidden reference and an anchor."""
    if study is None:
        return Settings()
    kinds = [block_kind(block) for block in study.blocks]
    anchors = [name for kind in kinds if isinstance(kind, Mushra) for name in kind.anchors]
    middle = MIDDLE if MIDDLE in anchors else (anchors[-1] if anchors else "")
    return Settings(
        study.analysis,
        study.screening,
        reference=study.reference,
        anchor=middle,
        anchors=tuple(anchors),
    )


def _named(
    study: Study | None,
    ratings: Sequence[Rating],
    inputs: tuple[Input, ...],
    notes: Sequence[str] = (),
) -> Material:
    if study is None:
        return Material(
            ratings,
            ", ".join(Path(one.name).name for one in inputs),
            inputs=inputs,
            notes=tuple(notes),
        )
    items = tuple(clip.name for clip in study.material)
    return Material(ratings, study.title, study.systems, items, inputs, tuple(notes), study.digest)


def kept_ratings(files: Sequence[Place], study: Study, scale: str) -> Coded:
    """Ratings of one scale, screened as the study plans it."""
    settings = settings_of(study)
    material = _material([Path(one) for one in files], study, Reading(), settings)
    counted, _ = resolve(material.ratings, settings.doubled, reference=settings.reference)
    roles = {"reference": settings.reference, "anchor": settings.anchor}
    out = {*screen(counted, settings.screening, **roles).left}
    return coded([one for one in counted if one.listener not in out], scale, study.systems)


def _material(
    files: list[Path], plan: Study | None, reading: Reading, settings: Settings
) -> Material:
    if not files:
        raise UsageError("name answers or a table of ratings")
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
    return replace(_named(plan, found, tuple(inputs), notes), simulated=simulated)


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
    """Whether the first line of a file is an answer of a listener."""
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


def result_files(results: Results) -> dict[str, str]:
    """Everything that is written of results, by the name of its file: the report, JSON, LaTeX,
    the methods paragraph, and tables as CSV."""
    pages = {name: written(results, form) for name, form in ALL_FORMS.items()}
    return pages | {"methods.txt": methods(results) + "\n"} | tables_csv(results)


def results_write(results: Results, folder: Place) -> list[str]:
    """Write all files of results into a new folder, whole or not at all; their names."""
    files = result_files(results)
    with WholeFolder(Path(folder)) as place:
        for name, content in files.items():
            (place / name).write_text(content, encoding="utf-8", newline="")
    return list(files)
