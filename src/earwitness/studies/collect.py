"""Ratings collected from files and databases, with groups, captions and file checks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from earwitness.analysis.evidence import DeviceHits, PlaybackCounts
from earwitness.analysis.rating_set import (
    RatingCollection,
    RatingSet,
    TableOptions,
    column_names,
    first_bytes,
    has_answers,
    read_tables,
    source_name,
)
from earwitness.analysis.settings import AnalysisSettings
from earwitness.core import Answer, Input, Key, Rating, StrPath, group_values
from earwitness.errors import UsageError, nearest
from earwitness.io.source import RecordSource
from earwitness.ratings.names import KnownNames
from earwitness.ratings.records import Grouping, Who
from earwitness.studies.answers import SIMULATED_TIMESTAMP
from earwitness.studies.device import count_marked, device_hits, sum_playback
from earwitness.studies.from_answers import (
    comments_from_answers,
    ratings_from_answers,
    study_answers,
)
from earwitness.studies.pages import DEVICE_PAGE, answered_trial
from earwitness.studies.procedure import study_procedure
from earwitness.studies.quality import evidence_of_answers
from earwitness.studies.study import STORE_FILE_NAME, Study
from earwitness.studies.trials import block_kind, study_kinds
from earwitness.task import Filter

# --- Checks of file kinds ------------------------------------------------------------------------


STUDY_SUFFIXES = (".yaml", ".yml")
STORE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
SQLITE_MAGIC = b"SQLite format 3\0"
# paths have one slash instead of two
STORE_ADDRESS = re.compile(r"(sqlite|postgres(ql)?)(\+\w+)?:/")
FILE_KIND_WORDING = {
    "study": "is a study file",
    "store": "is a database",
    "answers": "contains answers of listeners",
    "ratings": "contains ratings (it has a {listener} column)",
}


def check_ratings(files: Sequence[StrPath | RecordSource], study: StrPath | Study | None) -> None:
    """Raise UsageError for databases among the files, and if no files are named."""
    for file in files:
        if isinstance(file, RecordSource):
            continue
        if STORE_ADDRESS.match(str(file)):
            raise UsageError(f"{file} is the address of a database, not a file — use --db ADDRESS")
        if file_kind(file) == "store":
            raise UsageError(f"{file} is a database — use --db {file}")
    if not files:
        hint = ""
        if study is not None and not isinstance(study, Study):
            beside = Path(study).parent / STORE_FILE_NAME
            stored = f"if its answers are in the database next to it, use --db {beside}; else "
            hint = f"{study} is a study file and contains no answers — "
            hint += stored * beside.is_file()
        raise UsageError(f"{hint}name a file of answers, a table of ratings, or --db DATABASE")


def check_scores(
    scores: Sequence[StrPath | RecordSource],
    ratings: Sequence[StrPath | RecordSource],
    study: StrPath | Study | None = None,
    db: StrPath | None = None,
    listener: str = "listener",
) -> None:
    """Raise UsageError for ratings, studies and databases named as scores, with the right command.

    ``listener`` is the name of the column of listeners; empty if the column is missing.
    """
    paths = [file for file in ratings if not isinstance(file, RecordSource)]
    others = [file for file in paths if file_kind(file, listener) == "scores"]
    for file in scores:
        if isinstance(file, RecordSource):
            continue
        sort = file_kind(file, listener)
        if sort == "scores" or (sort == "ratings" and not (listener and others)):
            continue
        message = FILE_KIND_WORDING[sort].format(listener=listener)
        other_inputs = [other for other in (study, *paths) if isinstance(other, str | PathLike)]
        instead = next((other for other in others), "SCORES")
        command = [
            instead,
            *([] if sort == "store" else [file]),
            *(x for x in other_inputs if x != instead),
        ]
        store = db or (file if sort == "store" else None)
        command += ["--db", store] if store else []
        raise UsageError(
            f"{file} {message}, but scores are expected first — run: earwitness agree "
            f"{' '.join(map(str, command))}"
        )


def file_kind(path: StrPath, listener: str = "listener") -> str:
    """Return the kind of a file, detected from its name and first line; default: scores."""
    ending = Path(path).suffix.lower()
    start = first_bytes(path)
    if ending in STUDY_SUFFIXES:
        return "study"
    if start.startswith(SQLITE_MAGIC) or (ending in STORE_SUFFIXES and not start):
        return "store"
    names = column_names(path)
    if {"page", "values"} <= names:
        return "answers"
    return "ratings" if listener in names else "scores"


def check_conditions(where: Filter, tables: Sequence[Path | RecordSource]) -> None:
    """Raise UsageError if no table has a column of a condition."""
    names = {name for table in tables for name in column_names(table)}
    for condition in where.conditions:
        if not tables or (names and condition.field not in names):
            remedy = nearest(condition.field, names) if tables else "name tables without a study"
            raise UsageError(f'where: no table has a column "{condition.field}" — {remedy}')


def split_conditions(where: Filter, tables: Sequence[Path | RecordSource]) -> tuple[Filter, Filter]:
    """Return the conditions on columns of tables, and all others."""
    columns = {name for table in tables if not has_answers(table) for name in column_names(table)}
    parts = group_values((condition.field in columns, condition) for condition in where.conditions)
    return Filter(tuple(parts.get(True, ()))), Filter(tuple(parts.get(False, ())))


def rated_fields(
    by: Sequence[str],
    scores: Sequence[Path | RecordSource],
    ratings: Sequence[Path | RecordSource],
    study: Study | None,
) -> tuple[str, ...]:
    """Return the fields that are read with the ratings, not from score tables."""
    scored = {name for table in scores for name in column_names(table)}
    rated = {name for file in ratings for name in column_names(file)} | {*study_groups(study)}
    return tuple(name for name in by if name in rated or name not in scored)


# --- Ratings of several files --------------------------------------------------------------------


JURY_FIELD = "jury"
FORM_PAGES = ("before", "after")


def study_captions(study: Study) -> dict[Key, str]:
    """Return the captions of a study, by item and system."""
    return {
        Key(clip.name, system): text
        for clip in study.material
        for system, text in clip.captions.items()
    }


def study_groups(study: Study | None) -> dict[str, Grouping]:
    """Return the covariates of the clips of a study, and the juries of its listeners."""
    if study is None:
        return {}
    names = dict.fromkeys(name for clip in study.material for name in clip.covariates)
    numbers = range(1, study.listeners + 1) if study.juries else ()
    jury_of: dict[Who, str] = {number: study.jury(number) for number in numbers}
    juries = {JURY_FIELD: Grouping("listener", jury_of)} if jury_of else {}
    return juries | {
        name: Grouping(
            "item",
            {
                c.name: _value_text(c.covariates[name])
                for c in study.material
                if name in c.covariates
            },
        )
        for name in names
    }


def _value_text(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def study_scales(study: Study | None) -> list[str]:
    """Return the names of the scales of a study."""
    blocks = study.blocks if study else ()
    return [scale for block in blocks for scale in block_kind(block).results()]


def device_results(study: Study, answers: Iterable[Answer]) -> dict[Who, DeviceHits]:
    """Return the results of required device checks per listener; of all if none is required."""
    wanted = study.device_required or study.device
    return {
        answer.listener: {
            step: hits for step, hits in device_hits(answer.values).items() if step in wanted
        }
        for answer in answers
        if answer.page == DEVICE_PAGE
    }


def marked_plays(study: Study, answers: Sequence[Answer]) -> dict[Who, PlaybackCounts]:
    """Return playback counts of listeners with answers that the server has marked.

    A file of answers has these marks, but no other record of playback.
    """
    marked = {answer.listener for answer in answers if answer.unheard and answered_trial(answer)}
    return sum_playback(
        (answer.listener, count_marked(study, trial, answer.unheard))
        for answer in answers
        if answer.listener in marked and (trial := answered_trial(answer))
    )


def form_groups(study: Study, answers: Iterable[Answer]) -> dict[str, Grouping]:
    """Return the answers of listeners to form questions, by question."""
    asked = {question.name for question in (*study.before, *study.after)}
    by_question: dict[str, dict[Who, str]] = {}
    for answer in (answer for answer in answers if answer.page in FORM_PAGES):
        for name, value in answer.values.items():
            if name in asked and isinstance(value, str | int | float) and value != "":
                by_question.setdefault(name, {})[answer.listener] = _value_text(value)
    return {name: Grouping("listener", groups) for name, groups in by_question.items()}


# --- Ratings from files and databases ------------------------------------------------------------


def rating_set(
    study: Study,
    ratings: Sequence[Rating],
    inputs: tuple[Input, ...],
    notes: Sequence[str] = (),
    imported: Iterable[tuple[Who, bool]] = (),
) -> RatingSet:
    """Return ratings with title, systems, items, groups and captions of their study.

    ``imported`` are listeners with answers from paper or workbooks, and whether all of them are.
    """
    items = tuple(clip.name for clip in study.material)
    listeners = {rating.listener for rating in ratings}
    known = [is_all for who, is_all in imported if who in listeners]
    return RatingSet(
        *(ratings, study.title, study.systems, items, inputs, tuple(notes), study.digest),
        groups=study_groups(study),
        captions=study_captions(study),
        procedure=study_procedure(study, known, len(listeners)),
    )


def read_rating_set(
    files: Sequence[Path | RecordSource],
    plan: Study | None,
    reading: TableOptions,
    settings: AnalysisSettings,
    *,
    other_names: bool = False,
) -> RatingSet:
    """Read the ratings of files of answers or tables, or of records in memory.

    With ``other_names``, tables may have systems, items, listeners and scales that the study lacks.
    """
    check_ratings(files, None)
    if plan is None:
        return read_tables(files, reading, settings, may_be_means=True)
    collection, answers = RatingCollection(study_groups(plan)), list[Answer]()
    devices, plays = dict[Who, DeviceHits](), dict[Who, PlaybackCounts]()
    names = None if other_names else _study_names(plan)
    for path in files:
        if not has_answers(path):
            collection.read_table(path, reading, settings, names)
            continue
        name = source_name(path)
        if isinstance(path, Path):
            content = path.read_bytes()
        else:
            content = b"".join(line + b"\n" for block in path.blocks() for line in block.lines)
        _, by_place = study_answers(plan, name, content)
        read = list(by_place.values())
        file = Input(name, hashlib.sha256(content).hexdigest(), len(content))
        rated = ratings_from_answers(plan, by_place, name)
        collection.add_answers(settings.rubric, rated, file, settings.blank)
        collection.join(form_groups(plan, read), name)
        answers += read
        devices |= device_results(plan, read)
        plays |= marked_plays(plan, read)
    inputs, notes = tuple(collection.inputs), collection.notes
    imported = imported_trials(answers).items()
    material = rating_set(plan, collection.ratings, inputs, notes, imported)
    return replace(
        material,
        **collection.findings(),
        groups={**material.groups, **collection.groups},
        captions={**material.captions, **collection.captions},
        comments=tuple(comments_from_answers(answers)),
        simulated=any(answer.at == SIMULATED_TIMESTAMP for answer in answers),
        plays=plays,
        devices=devices,
        quality=evidence_of_answers(plan, answers),
    )


def _study_names(plan: Study) -> KnownNames:
    """Return the names that tables of the ratings of a study may have."""
    kinds = study_kinds(plan)
    others = [name for kind in kinds for name in kind.extra(plan.reference)]
    return KnownNames(
        systems=(*plan.systems, *others),
        items=[clip.name for clip in plan.material],
        listeners=range(1, plan.listeners + 1),
        scales=study_scales(plan),
    )


def imported_trials(answers: Iterable[Answer]) -> dict[Who, bool]:
    """Return who answered trials on paper or in workbooks, and whether all of them."""
    counted = [answer for answer in answers if answered_trial(answer)]
    imported = group_values((answer.listener, bool(answer.imported)) for answer in counted)
    return {who: all(trials) for who, trials in imported.items() if any(trials)}


def stored_rating_set(
    plan: Study | None, db: StrPath, files: Sequence[object], settings: AnalysisSettings
) -> RatingSet:
    """Return the ratings of a study from a database."""
    from earwitness.studies.admin import stored_answers  # needs a database only here

    if plan is None or files:
        raise UsageError("--db: name the study file and no other file")
    stored = stored_answers(plan, db)
    name = f"answers exported from {stored.name}"  # size and digest are those of the answers
    inputs = (Input(name, stored.sha256, len(stored.lines)),)
    gathered = RatingCollection()
    gathered.add_answers(settings.rubric, stored.ratings(), inputs[0], settings.blank)
    imported = imported_trials(stored.answers).items()
    material = rating_set(plan, gathered.ratings, inputs, stored.notes, imported)
    groups = {**material.groups, **form_groups(plan, stored.answers)}
    return replace(
        material,
        plays=stored.plays(),
        quality=stored.quality(),
        devices=device_results(plan, stored.answers),
        groups=groups,
        **gathered.findings(),
        comments=tuple(comments_from_answers(stored.answers)),
    )
