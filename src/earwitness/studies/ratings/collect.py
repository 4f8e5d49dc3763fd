"""Ratings collected from files and stores, with groups, captions and wrong-file hints."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from earwitness.core import Answer, Input, Key, Rating, StrPath
from earwitness.errors import UsageError, nearest
from earwitness.studies.analysis.pipeline import RatingSet
from earwitness.studies.analysis.settings import AnalysisSettings, known_scales
from earwitness.studies.answers import SIMULATED_TIMESTAMP
from earwitness.studies.ratings.columns import KnownNames, Limit
from earwitness.studies.ratings.from_answers import ratings_from_answers, study_answers
from earwitness.studies.ratings.reader import OffScaleVote, RatingsTable, read_ratings
from earwitness.studies.results import Grouping, Groupings, RatingFault, Who
from earwitness.studies.rubric import TOTAL, Rubric, read_rubric
from earwitness.studies.rubric_totals import Blank, off_scale, with_totals
from earwitness.studies.study import STORE_FILE_NAME, Study
from earwitness.studies.trials import block_kind

# --- Hints about wrong files ---------------------------------------------------------------------


STUDY_SUFFIXES = (".yaml", ".yml")
STORE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
SQLITE_MAGIC = b"SQLite format 3\0"
# as a path, of two slashes one is left
STORE_ADDRESS = re.compile(r"(sqlite|postgres(ql)?)(\+\w+)?:/")
SNIFFED_BYTES = 1 << 16  # bytes of a file from which it is told what it has
FILE_KIND_WORDING = {
    "study": "is a study file",
    "store": "is a store",
    "answers": "has answers of listeners",
    "ratings": "has ratings (a column {listener})",
}


def check_ratings(files: Sequence[StrPath], study: StrPath | Study | None) -> None:
    """Refuse stores that are named as files, and a study to which there are no answers."""
    for one in files:
        if STORE_ADDRESS.match(str(one)):
            raise UsageError(f"{one} is the address of a store, no file — say --db ADDRESS")
        if sort_of(one) == "store":
            raise UsageError(f"{one} is a store — say --db {one}")
    if not files:
        raise UsageError(f"{_unanswered(study)}name answers or a table of ratings, or --db STORE")


def _unanswered(study: StrPath | Study | None) -> str:
    """What a study file lacks; names the store beside it, if there is one."""
    if study is None or isinstance(study, Study):
        return ""
    beside = Path(study).parent / STORE_FILE_NAME
    if beside.is_file():
        told = f"its answers may be in the store beside it: say --db {beside}; or "
    else:
        told = ""
    return f"{study} has what was asked, not what people said — {told}"


def check_scores(
    scores: Sequence[StrPath],
    ratings: Sequence[StrPath],
    study: StrPath | Study | None = None,
    db: StrPath | None = None,
    listener: str = "listener",
) -> None:
    """Refuse ratings, studies and stores in the place of scores; say the command with both right.

    ``listener`` is what the column of listeners is called; nothing if listeners stand elsewhere.
    """
    others = [one for one in ratings if sort_of(one, listener) == "scores"]
    for one in scores:
        sort = sort_of(one, listener)
        if sort == "scores" or (sort == "ratings" and not (listener and others)):
            continue
        told = FILE_KIND_WORDING[sort].format(listener=listener)
        rest = [other for other in (study, *ratings) if isinstance(other, str | PathLike)]
        instead = next((other for other in others), "SCORES")
        command = [instead, *([] if sort == "store" else [one]), *(x for x in rest if x != instead)]
        store = db or (one if sort == "store" else None)
        command += ["--db", store] if store else []
        raise UsageError(
            f"{one} {told}, and stands where scores should — say: earwitness agree "
            f"{' '.join(map(str, command))}"
        )


def sort_of(path: StrPath, listener: str = "listener") -> str:
    """What a file has, told from its name and its first line: scores if nothing else."""
    ending = Path(path).suffix.lower()
    start = _start(path)
    if ending in STUDY_SUFFIXES:
        return "study"
    if start.startswith(SQLITE_MAGIC) or (ending in STORE_SUFFIXES and not start):
        return "store"
    names = _names(start)
    if {"page", "values"} <= names:
        return "answers"
    return "ratings" if listener in names else "scores"


def _start(path: StrPath) -> bytes:
    """The first bytes of a file; none of what is no plain file, such as a pipe."""
    try:
        if not Path(path).is_file():
            return b""
        with Path(path).open("rb") as file:
            return file.read(SNIFFED_BYTES)
    except OSError:
        return b""  # whoever reads it will tell


def _names(start: bytes) -> set[str]:
    """Names of columns, or of fields of the first object."""
    text = start.decode("utf-8-sig", errors="replace")
    first = next((line for line in text.splitlines() if line.strip()), "")
    try:
        found = json.loads(first)
    except ValueError:
        return {name.strip().strip('"') for name in re.split(r"[,;\t]", first)}
    return {*found} if isinstance(found, dict) else set()


# --- Ratings of several files --------------------------------------------------------------------


JURY_FIELD = "jury"
FORM_PAGES = ("before", "after")


@dataclass
class RatingCollection:
    """Takes files one after the other; ``known`` are groups that the study has."""

    known: Groupings = field(default_factory=dict)
    ratings: list[Rating] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    groups: dict[str, Grouping] = field(default_factory=dict)
    captions: dict[Key, str] = field(default_factory=dict)
    faults: list[RatingFault] = field(default_factory=list)
    rubric: str = ""

    def add(self, ratings: Iterable[Rating], of: Input) -> None:
        """Ratings of a file."""
        self.ratings += ratings
        self.inputs.append(of)

    def judged(self, known: Rubric | None, ratings: list[Rating], of: Input, blank: Blank) -> None:
        """Ratings of answers; where there is a rubric, totals are made anew."""
        if known is None:
            self.add(ratings, of)
            return
        own = [one for one in ratings if one.scale != TOTAL]
        made = with_totals(known, own, blank, where=Path(of.name).name)
        self.add(made.ratings, of)
        self.faults += made.faults

    def table(self, table: RatingsTable, blank: Blank) -> None:
        """All of a table; of ratings by a rubric, totals are made."""
        name = Path(table.input.name).name
        self.notes += table.notes
        self.join(table.groups, name)
        self.captions |= table.captions
        known = read_rubric(table.rubric) if table.rubric else None
        off = [off_scale(known, f"{name}:{one.line}", *_vote(one)) for one in table.off]
        if known is None:
            self.add(table.ratings, table.input)
            self.faults += off
            return
        self.rubric = table.rubric
        made = with_totals(known, table.every, blank, off, where=name)
        self.add(made.ratings, table.input)
        self.faults += made.faults

    def join(self, groups: Groupings, source: str) -> None:
        """Groups of another file; nobody is in two."""
        for name, own in groups.items():
            before = self.groups.setdefault(name, own)
            if before.of != own.of:
                told = f'"{name}" is of a {before.of} elsewhere and of a {own.of} in {source}'
                raise UsageError(f"by: {told} — analyse the files apart")
            torn = [who for who, one in own.groups.items() if before.groups.get(who, one) != one]
            if torn:
                told = f'{torn[0]} is "{before.groups[torn[0]]}" and "{own.groups[torn[0]]}"'
                raise UsageError(f"by {name}: {told} ({source}) — it must be in one group")
            self.groups[name] = Grouping(own.of, {**before.groups, **own.groups})


def _vote(one: OffScaleVote) -> tuple[Key, Who, str, float]:
    return Key(one.item, one.system), one.listener, one.scale, one.value


def study_captions(study: Study) -> dict[Key, str]:
    """What systems wrote about clips, where that is judged."""
    return {
        Key(clip.name, system): text
        for clip in study.material
        for system, text in clip.captions.items()
    }


def study_groups(study: Study | None) -> dict[str, Grouping]:
    """What a study knows of its clips, and of which jury listeners are."""
    if study is None:
        return {}
    names = dict.fromkeys(name for clip in study.material for name in clip.covariates)
    numbers = range(1, study.listeners + 1) if study.juries else ()
    found: dict[Who, str] = {number: study.jury(number) for number in numbers}
    juries = {JURY_FIELD: Grouping("listener", found)} if found else {}
    return juries | {
        name: Grouping(
            "item",
            {c.name: _text(c.covariates[name]) for c in study.material if name in c.covariates},
        )
        for name in names
    }


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def form_groups(study: Study, answers: Iterable[Answer]) -> dict[str, Grouping]:
    """What listeners said of themselves in forms, by question."""
    asked = {one.name for one in (*study.before, *study.after)}
    found: dict[str, dict[Who, str]] = {}
    for answer in answers:
        for name, value in _said(answer.page, answer.values):
            if name in asked:
                found.setdefault(name, {})[answer.listener] = value
    return {name: Grouping("listener", groups) for name, groups in found.items()}


def _said(page: str, values: Mapping[str, object]) -> list[tuple[str, str]]:
    if page not in FORM_PAGES:
        return []
    return [
        (name, _text(value))
        for name, value in values.items()
        if isinstance(value, str | int | float) and value != ""
    ]


# --- Ratings from files and stores ---------------------------------------------------------------


FAULT_POLICIES = ("refuse", "drop")


@dataclass(frozen=True)
class TableOptions:
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
    faults: str = FAULT_POLICIES[0]


def named(
    study: Study | None,
    ratings: Sequence[Rating],
    inputs: tuple[Input, ...],
    notes: Sequence[str] = (),
) -> RatingSet:
    """Ratings with what is known of them."""
    if study is None:
        return RatingSet(
            ratings,
            ", ".join(Path(one.name).name for one in inputs),
            inputs=inputs,
            notes=tuple(notes),
        )
    items = tuple(clip.name for clip in study.material)
    return RatingSet(
        *(ratings, study.title, study.systems, items, inputs, tuple(notes), study.digest),
        groups=study_groups(study),
        captions=study_captions(study),
    )


def material_of(
    files: list[Path], plan: Study | None, reading: TableOptions, settings: AnalysisSettings
) -> RatingSet:
    """Ratings of files, be they answers or tables."""
    check_ratings(files, None)
    found, simulated = RatingCollection(study_groups(plan)), False
    for path in files:
        if _are_answers(path):
            if plan is None:
                raise UsageError(f"{path} has answers — name the study file, too")
            _, answers = study_answers(plan, path)
            rated = ratings_from_answers(plan, answers, str(path))
            found.judged(settings.rubric, rated, _input(path), settings.blank)
            found.join(form_groups(plan, answers.values()), str(path))
            simulated |= any(one.at == SIMULATED_TIMESTAMP for one in answers.values())
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


def _how(plan: Study | None, reading: TableOptions, settings: AnalysisSettings) -> dict[str, Any]:
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
    known = KnownNames(
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
    plan: Study | None, db: StrPath, files: Sequence[StrPath], settings: AnalysisSettings
) -> RatingSet:
    """Ratings out of a store."""
    from earwitness.studies.admin import stored_answers  # needs a database only here

    if plan is None or files:
        raise UsageError("with a store, name the study file and nothing else")
    found = stored_answers(plan, db)
    known = (Input(found.name, found.sha256, len(found.lines)),)
    gathered = RatingCollection()
    gathered.judged(settings.rubric, found.ratings(), known[0], settings.blank)
    made = named(plan, gathered.ratings, known)
    groups = {**made.groups, **form_groups(plan, found.answers)}
    return replace(made, plays=found.plays(), groups=groups, faults=tuple(gathered.faults))


def check_roles(material: RatingSet, how: Mapping[str, Any]) -> None:
    """A reference or anchor that is named here must have been rated."""
    known = {one.key.system for one in material.ratings}
    for role in ("reference", "anchor"):
        name = how.get(role)
        if name and name not in known:
            raise UsageError(f'{role}: nobody rated "{name}" — {nearest(name, known)}')
