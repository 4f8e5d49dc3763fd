"""Ratings collected from files and databases, with groups, captions and file checks."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from earwitness.core import Answer, Input, Key, Rating, StrPath, load_json
from earwitness.errors import UsageError, nearest
from earwitness.io.source import RecordSource
from earwitness.io.tables import unescape_cell
from earwitness.studies.analysis.choices import CHOICE_SCALES
from earwitness.studies.analysis.pipeline import RatingSet
from earwitness.studies.analysis.settings import AnalysisSettings, known_scales, parse_anchors
from earwitness.studies.answers import SIMULATED_TIMESTAMP
from earwitness.studies.design.report import study_procedure
from earwitness.studies.device import PlaybackCounts, count_marked, device_hits
from earwitness.studies.pages import DEVICE_PAGE, counted_trials
from earwitness.studies.quality import QualityEvidence, evidence_of_answers
from earwitness.studies.ratings.columns import AUTO_LAYOUT, Limit
from earwitness.studies.ratings.from_answers import (
    comments_from_answers,
    ratings_from_answers,
    study_answers,
)
from earwitness.studies.ratings.names import KnownNames
from earwitness.studies.ratings.reader import OffScaleVote, RatingsTable, read_ratings
from earwitness.studies.results import Grouping, Groupings, RatingFault, StimulusComment, Who
from earwitness.studies.rubric import TOTAL, Rubric, read_rubric
from earwitness.studies.rubric_totals import (
    UNUSED_NOTE,
    Blank,
    RatingsWithTotals,
    off_scale,
    with_totals,
)
from earwitness.studies.screening import DeviceHits
from earwitness.studies.study import ALL_SCALES, STORE_FILE_NAME, Design, Study, canonical_scale
from earwitness.studies.trials import block_kind

# --- Checks of file kinds ------------------------------------------------------------------------


STUDY_SUFFIXES = (".yaml", ".yml")
STORE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
SQLITE_MAGIC = b"SQLite format 3\0"
# paths have one slash instead of two
STORE_ADDRESS = re.compile(r"(sqlite|postgres(ql)?)(\+\w+)?:/")
SNIFFED_BYTES = 1 << 16  # bytes read to detect the kind of a file
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
        raise UsageError(
            f"{_study_hint(study)}name a file of answers, a table of ratings, or --db DATABASE"
        )


def _study_hint(study: StrPath | Study | None) -> str:
    """Return the message that a study file has no answers, with a database next to it if any."""
    if study is None or isinstance(study, Study):
        return ""
    beside = Path(study).parent / STORE_FILE_NAME
    if beside.is_file():
        hint = f"if its answers are in the database next to it, use --db {beside}; else "
    else:
        hint = ""
    return f"{study} is a study file and contains no answers — {hint}"


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
    start = _first_bytes(path)
    if ending in STUDY_SUFFIXES:
        return "study"
    if start.startswith(SQLITE_MAGIC) or (ending in STORE_SUFFIXES and not start):
        return "store"
    names = _field_names(start)
    if {"page", "values"} <= names:
        return "answers"
    return "ratings" if listener in names else "scores"


def column_names(table: StrPath | RecordSource) -> set[str]:
    """Return the columns of a table from its first line; empty if it cannot be looked at."""
    return (
        {*table.first()} if isinstance(table, RecordSource) else _field_names(_first_bytes(table))
    )


def _first_bytes(path: StrPath) -> bytes:
    """Return the first bytes of a file; none if it is not a regular file, such as a pipe."""
    try:
        if not Path(path).is_file():
            return b""
        with Path(path).open("rb") as file:
            return file.read(SNIFFED_BYTES)
    except OSError:
        return b""  # reported when the file is read


def _field_names(start: bytes) -> set[str]:
    """Return the names of columns, or the fields of the first JSON object."""
    text = start.decode("utf-8-sig", errors="replace")
    first = next((line for line in text.splitlines() if line.strip()), "")
    try:
        record = load_json(first)
    except ValueError:
        return {unescape_cell(name.strip().strip('"')) for name in re.split(r"[,;\t]", first)}
    return {*record} if isinstance(record, dict) else set()


ONLY_SYSTEM = "system"  # name of the system if no table has a column for it


def only_system(
    scores: Sequence[Path | RecordSource],
    ratings: Sequence[Path | RecordSource],
    columns: Mapping[str, str],
    pattern: str,
    reading: TableOptions,
) -> str:
    """Return the system of tables without a column for it, or an empty string.

    This is the system set for the ratings, or the only one if neither scores (read with ``columns``
    and ``pattern``) nor ratings have such a column.
    """
    if system := reading.constants.get("system"):
        return system
    sides = [(scores, columns, pattern), (ratings, reading.columns, reading.pattern)]
    for files, roles, sample_pattern in sides:
        item, system = (roles.get(role, role) for role in ("item", "system"))
        names_by_file = [column_names(file) for file in files]
        if sample_pattern or any(item not in one or system in one for one in names_by_file):
            return ""
    return ONLY_SYSTEM


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


@dataclass
class RatingCollection:
    """Collects the ratings of several files; ``study_groups`` are the groups of the study."""

    study_groups: Groupings = field(default_factory=dict)
    ratings: list[Rating] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    groups: dict[str, Grouping] = field(default_factory=dict)
    captions: dict[Key, str] = field(default_factory=dict)
    faults: list[RatingFault] = field(default_factory=list)
    rubric: str = ""
    comments: list[tuple[Who, StimulusComment]] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    raters: dict[tuple[Key, str], int] = field(default_factory=dict)
    blank_rows: set[tuple[Key, Who]] = field(default_factory=set)
    blank_totals: list[Rating] = field(default_factory=list)
    formula_totals: list[Rating] = field(default_factory=list)
    published: bool = False

    def add(self, ratings: Iterable[Rating], of: Input) -> None:
        """Add the ratings of a file."""
        self.ratings += ratings
        self.inputs.append(of)

    def add_answers(
        self, rubric: Rubric | None, ratings: list[Rating], of: Input, blank: Blank
    ) -> None:
        """Add ratings of answers; with a rubric, totals are recomputed."""
        if rubric is None:
            self.add(ratings, of)
            return
        votes = [rating for rating in ratings if rating.scale != TOTAL]
        self._add_totalled(with_totals(rubric, votes, blank, where=Path(of.name).name), of)

    def add_table(self, table: RatingsTable, blank: Blank) -> None:
        """Add a table; with a rubric, totals are computed."""
        name = Path(table.input.name).name
        self.notes += table.notes
        self.join(table.groups, name)
        self.captions |= table.captions
        rubric = read_rubric(table.rubric) if table.rubric else None
        off = [off_scale(rubric, f"{name}:{vote.line}", *_vote_fields(vote)) for vote in table.off]
        self.raters |= table.raters
        if rubric is None:
            self.add(table.ratings, table.input)
            self.faults += off
            self._add_blank_means(table, name)
            return
        self.rubric = table.rubric
        totalled = with_totals(rubric, table.all_ratings, blank, off, where=name)
        self._add_totalled(totalled, table.input)
        counts = {key: count for (key, _), count in table.raters.items()}
        for rating in totalled.ratings if table.raters else ():
            self.raters.setdefault((rating.key, rating.scale), counts[rating.key])

    def _add_totalled(self, totalled: RatingsWithTotals, of: Input) -> None:
        self.add(totalled.ratings, of)
        self.faults += totalled.faults
        self.blank_rows |= totalled.blank_rows
        self.blank_totals += totalled.blank_totals
        self.formula_totals += totalled.formula_totals
        self.published |= totalled.published

    def _add_blank_means(self, table: RatingsTable, name: str) -> None:
        """List the empty cells of a table of means, unless they were outside the scale."""
        dropped = {(Key(vote.item, vote.system), vote.scale) for vote in table.off}
        for rating in table.all_ratings if table.raters else ():
            if rating.value != rating.value and (rating.key, rating.scale) not in dropped:
                place = rating.key.item, rating.key.system, "", rating.scale
                told = f"{rating.scale} is blank"
                self.faults.append(RatingFault("blank", told, UNUSED_NOTE, *place, name))
                self.blank_rows.add((rating.key, ""))

    def join(self, groups: Groupings, source: str) -> None:
        """Add groups of another file; raise UsageError if an item or listener has two groups."""
        for name, grouping in groups.items():
            before = self.groups.setdefault(name, grouping)
            if before.of != grouping.of:
                message = f'"{name}" groups {before.of}s in one file and {grouping.of}s in {source}'
                raise UsageError(f"by: {message} — analyse the files separately")
            torn = [
                who
                for who, group in grouping.groups.items()
                if before.groups.get(who, group) != group
            ]
            if torn:
                first, second = before.groups[torn[0]], grouping.groups[torn[0]]
                message = f'{torn[0]} is in "{first}" and in "{second}"'
                raise UsageError(f"by {name}: {message} ({source}) — assign it to one group")
            self.groups[name] = Grouping(grouping.of, {**before.groups, **grouping.groups})


def _vote_fields(vote: OffScaleVote) -> tuple[Key, Who, str, float]:
    return Key(vote.item, vote.system), vote.listener, vote.scale, vote.value


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


def marked_plays(design: Design, answers: Iterable[Answer]) -> dict[Who, PlaybackCounts]:
    """Return playback counts of listeners with answers that the server has marked.

    A file of answers has these marks, but no other record of playback.
    """
    trials = {plan.listener: counted_trials(plan) for plan in design.plans}
    counts, marked = defaultdict[Who, list[PlaybackCounts]](list), set[Who]()
    for answer in answers:
        if (trial := trials.get(answer.listener, {}).get(answer.page)) is not None:
            counts[answer.listener].append(count_marked(design.study, trial, answer.unheard))
            marked |= {answer.listener} if answer.unheard else set()
    return {who: PlaybackCounts(*map(sum, zip(*counts[who], strict=True))) for who in marked}


def form_groups(study: Study, answers: Iterable[Answer]) -> dict[str, Grouping]:
    """Return the answers of listeners to form questions, by question."""
    asked = {question.name for question in (*study.before, *study.after)}
    by_question: dict[str, dict[Who, str]] = {}
    for answer in answers:
        for name, value in _form_values(answer.page, answer.values):
            if name in asked:
                by_question.setdefault(name, {})[answer.listener] = value
    return {name: Grouping("listener", groups) for name, groups in by_question.items()}


def _form_values(page: str, values: Mapping[str, object]) -> list[tuple[str, str]]:
    if page not in FORM_PAGES:
        return []
    return [
        (name, _value_text(value))
        for name, value in values.items()
        if isinstance(value, str | int | float) and value != ""
    ]


# --- Ratings from files and databases ------------------------------------------------------------


@dataclass(frozen=True)
class TableOptions:
    """How tables of ratings are read.

    Parameters
    ----------
    pattern
        Pattern of sample names, such as ``{system}/{item}.wav``.
    column
        Column of sample names.
    columns
        Names of columns, by role.
    scales
        Columns that are scales; by default all columns of numbers.
    constants
        Values for roles without a column, such as the scale.
    rubric
        Rubric of the ratings; by default detected, ``none`` for no rubric.
    faults
        ``refuse`` values outside a scale, or ``drop`` them, that is treat them as blanks.
    layout
        ``auto`` recognizes tables of other tools, ``matrix`` has one column per listener, ``plain``
        has the documented columns only.
    """

    pattern: str = ""
    column: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    scales: tuple[str, ...] = ()
    constants: Mapping[str, str] = field(default_factory=dict)
    rubric: str = ""
    faults: str = "refuse"
    layout: str = AUTO_LAYOUT


def rating_set(
    study: Study | None,
    ratings: Sequence[Rating],
    inputs: tuple[Input, ...],
    notes: Sequence[str] = (),
    imported: Iterable[tuple[Who, bool]] = (),
) -> RatingSet:
    """Return ratings with title, systems, items, groups and captions of their study.

    ``imported`` are listeners with answers from paper or workbooks, and whether all of them are.
    """
    if study is None:
        return RatingSet(
            ratings,
            ", ".join(Path(source.name).name for source in inputs),
            inputs=inputs,
            notes=tuple(notes),
        )
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
    collection, simulated = RatingCollection(study_groups(plan)), False
    devices, plays = dict[Who, DeviceHits](), dict[Who, PlaybackCounts]()
    design: Design | None = None
    for path in files:
        if _has_answers(path):
            name = path.name if isinstance(path, RecordSource) else str(path)
            if plan is None:
                raise UsageError(f"{name} contains answers — name the study file too")
            content = _read_content(path)
            design, answers = study_answers(plan, name, content)
            rated = ratings_from_answers(plan, answers, name)
            file = Input(name, hashlib.sha256(content).hexdigest(), len(content))
            collection.add_answers(settings.rubric, rated, file, settings.blank)
            collection.join(form_groups(plan, answers.values()), name)
            collection.answers += answers.values()
            devices |= device_results(plan, answers.values())
            plays |= marked_plays(design, answers.values())
            collection.comments += comments_from_answers((one, None) for one in answers.values())
            simulated |= any(answer.at == SIMULATED_TIMESTAMP for answer in answers.values())
        else:
            wanted = [name for name in settings.plan.by if name not in collection.study_groups]
            known = None if other_names else plan
            table = read_ratings(path, groups=wanted, **_reader_options(known, reading, settings))
            collection.add_table(table, settings.blank)
    inputs, notes = tuple(collection.inputs), collection.notes
    imported = {} if design is None else imported_trials(design, collection.answers)
    material = rating_set(plan, collection.ratings, inputs, notes, imported.items())
    return replace(
        material,
        simulated=simulated,
        plays=plays,
        devices=devices,
        groups={**collection.study_groups, **collection.groups},
        captions={**material.captions, **collection.captions},
        faults=tuple(collection.faults),
        rubric=collection.rubric,
        comments=tuple(collection.comments),
        quality=evidence_of_answers(plan, collection.answers) if plan else QualityEvidence(),
        **_rows_with_blanks(collection),
    )


def imported_trials(design: Design, answers: Iterable[Answer]) -> dict[Who, bool]:
    """Return who answered trials on paper or in workbooks, and whether all of them."""
    trials = {plan.listener: counted_trials(plan) for plan in design.plans}
    imported = defaultdict[Who, list[bool]](list)
    for answer in answers:
        if answer.page in trials.get(answer.listener, {}):
            imported[answer.listener].append(bool(answer.imported))
    return {who: all(trials) for who, trials in imported.items() if any(trials)}


def _rows_with_blanks(collection: RatingCollection) -> dict[str, Any]:
    """Return the fields of a rating set on numbers of raters, blanks and other totals."""
    return {
        "raters": collection.raters,
        "blank_rows": frozenset(collection.blank_rows),
        "blank_totals": tuple(collection.blank_totals),
        "formula_totals": tuple(collection.formula_totals),
        "published": collection.published,
    }


def _reader_options(
    plan: Study | None, reading: TableOptions, settings: AnalysisSettings
) -> dict[str, Any]:
    """Return the options for reading a table, with names and scales of the study, if any."""
    scales = study_scales(plan)
    limits = {  # steps are those of a study, and of choices between two systems
        name: Limit(scale.low, scale.high, scale.step * (name in {*scales, *CHOICE_SCALES}))
        for name, scale in known_scales().items()
    }
    said = {name: Limit(scale.low, scale.high, 0) for name, scale in settings.scales.items()}
    options: dict[str, Any] = {
        "pattern": reading.pattern,
        "column": reading.column,
        "columns": reading.columns,
        "scales": reading.scales,
        "constants": reading.constants,
        "limits": {**limits, **said},
        "rubric": reading.rubric,
        "drop": reading.faults == "drop",
        "means": settings.over_items,
        "layout": reading.layout,
    }
    if plan is None:
        return options
    kinds = [block_kind(block) for block in plan.blocks]
    others = [name for kind in kinds for name in kind.extra(plan.reference)]
    known_names = KnownNames(
        systems=(*plan.systems, *others),
        items=[clip.name for clip in plan.material],
        listeners=range(1, plan.listeners + 1),
        scales=scales,
    )
    return {**options, "known_names": known_names}


def _has_answers(path: Path | RecordSource) -> bool:
    """Return whether the first line of a file is an answer; standard input is a table."""
    if isinstance(path, RecordSource):
        return {"page", "values"} <= {*path.first()}
    if str(path) == "-":
        return False
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as lines:
            first = load_json(next((line for line in lines if line.strip()), "null"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:
        return False
    return isinstance(first, dict) and {"page", "values"} <= {*first}


def _read_content(path: Path | RecordSource) -> bytes:
    if isinstance(path, Path):
        return path.read_bytes()
    return b"".join(line + b"\n" for block in path.blocks() for line in block.lines)


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
    imported = imported_trials(stored.design, stored.answers).items()
    material = rating_set(plan, gathered.ratings, inputs, stored.notes, imported)
    groups = {**material.groups, **form_groups(plan, stored.answers)}
    return replace(
        material,
        plays=stored.plays(),
        quality=stored.quality(),
        devices=device_results(plan, stored.answers),
        groups=groups,
        faults=tuple(gathered.faults),
        **_rows_with_blanks(gathered),
        comments=tuple(comments_from_answers((one.answer, one.meta) for one in stored.submissions)),
    )


def check_roles(material: RatingSet, how: Mapping[str, Any]) -> None:
    """Raise UsageError if the named reference, anchors or scales have no ratings."""
    systems: dict[str, set[str]] = {ALL_SCALES: set()}
    low = how.get("low_is_good", ())
    scales = [low] if isinstance(low, str) else [*low]
    for rating in material.ratings:
        for scale in (ALL_SCALES, rating.scale):
            systems.setdefault(scale, set()).add(rating.key.system)
    scales = [canonical_scale(name, systems) for name in scales]
    reference, named_anchors = how.get("reference"), parse_anchors(how.get("anchor", ()))
    anchors = {canonical_scale(name, systems): of for name, of in named_anchors.items()}
    if reference and reference not in systems[ALL_SCALES]:
        message = f'reference: no ratings of "{reference}"'
        raise UsageError(f"{message} — {nearest(reference, systems[ALL_SCALES])}")
    for option, named in (("anchor", [*anchors]), ("low_is_good", scales)):
        for name in named:
            if name not in systems:
                message = f'{option}: no ratings on scale "{name}"'
                raise UsageError(f"{message} — {nearest(name, systems.keys() - {ALL_SCALES})}")
    for scale, names in anchors.items():
        for name in names:
            if name not in systems[scale]:
                where = f" on {scale}" * (scale != ALL_SCALES)
                message = f'anchor: no ratings of "{name}"{where}'
                raise UsageError(f"{message} — {nearest(name, systems[scale])}")
