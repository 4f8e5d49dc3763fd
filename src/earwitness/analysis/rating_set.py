"""Ratings to analyse: collected from tables, with groups, captions, faults and evidence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from earwitness.analysis.evidence import DeviceHits, PlaybackCounts, QualityEvidence
from earwitness.analysis.plan import ALL_SCALES
from earwitness.analysis.results import Procedure, StimulusComment
from earwitness.analysis.settings import AnalysisSettings, parse_anchors
from earwitness.core import Input, Key, Rating, Score, StrPath, load_json
from earwitness.errors import InputError, MissingExtra, UsageError, nearest
from earwitness.io.binary_tables import BINARY_STARTS
from earwitness.io.source import RecordSource
from earwitness.io.tables import read_table, unescape_cell
from earwitness.ratings.columns import AUTO_LAYOUT, LAYOUTS, ONLY_SYSTEM, Limit
from earwitness.ratings.names import KnownNames
from earwitness.ratings.reader import OffScaleVote, RatingsTable, read_ratings
from earwitness.ratings.records import Grouping, Groupings, RatingFault, Who
from earwitness.ratings.rubric import BUILT_IN_RUBRICS, TOTAL, Rubric, read_rubric
from earwitness.ratings.rubric_totals import (
    FAULT_POLICIES,
    UNUSED_NOTE,
    Blank,
    RatingsWithTotals,
    off_scale,
    with_totals,
)
from earwitness.ratings.scales import canonical_scale, known_scales
from earwitness.task import Filter


@dataclass(frozen=True)
class RatingSet:
    """Ratings with their title, order of systems and items, and input files.

    ``plays`` and ``devices`` have playback counts and results of device checks per listener, if
    recorded. ``groups`` are fields by which results
    can be analysed, ``captions`` the rated captions, ``faults`` the faults found while reading,
    ``rubric`` the name of the rubric of a table, and ``comments`` are those on stimuli, each with
    its listener. ``procedure`` is how the study was run, if there is one. ``raters`` are numbers of
    raters of means, by output and scale; ``scores`` are those of metrics in a table;
    ``blank_rows``, ``blank_totals``, ``formula_totals`` and ``published`` are those of
    ``RatingsWithTotals``. ``quality`` is what screening rules on quality control need.
    """

    ratings: Sequence[Rating]
    title: str = "Ratings"
    systems: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    inputs: tuple[Input, ...] = ()
    notes: tuple[str, ...] = ()
    study: str = ""
    simulated: bool = False
    changed: tuple[str, ...] = ()
    plays: Mapping[Who, PlaybackCounts] = field(default_factory=dict)
    devices: Mapping[Who, DeviceHits] = field(default_factory=dict)
    groups: Groupings = field(default_factory=dict)
    captions: Mapping[Key, str] = field(default_factory=dict)
    faults: tuple[RatingFault, ...] = ()
    rubric: str = ""
    comments: tuple[tuple[Who, StimulusComment], ...] = ()
    procedure: Procedure | None = None
    raters: Mapping[tuple[Key, str], int] = field(default_factory=dict)
    blank_rows: frozenset[tuple[Key, Who]] = frozenset()
    blank_totals: tuple[Rating, ...] = ()
    formula_totals: tuple[Rating, ...] = ()
    published: bool = False
    scores: tuple[Score, ...] = ()
    quality: QualityEvidence = field(default_factory=QualityEvidence)

    @property
    def has_means(self) -> bool:
        """Whether ratings are means, which have no listeners."""
        return bool(self.ratings) and all(rating.listener == "" for rating in self.ratings)


# --- Tables --------------------------------------------------------------------------------------


SNIFFED_BYTES = 1 << 16  # bytes read to detect the kind of a file
TABLE_ARGUMENTS = ("pattern", "columns", "constants", "rubric", "faults", "layout")
MEANS_LAYOUT = "means"  # of tables without listeners


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """How tables of ratings are read.

    Parameters
    ----------
    pattern
        Pattern of sample names, such as ``*/{system}_{item}_*.wav`` (* is any text).
    columns
        Columns by role, such as ``listener=worker``, or ``sample=file`` for sample names.
    scales
        Columns that are scales; by default all columns of numbers.
    metrics
        Columns with scores of metrics in tables of ratings; empty: find them. None: there are none.
    where
        Conditions on columns; only rows for which all of them hold are read.
    constants
        Constants for roles without a column, such as ``scale=MOS``.
    layout
        Layout of tables. auto: recognize tables of other tools; matrix: one column per listener;
        plain: only the documented columns; means: one row per item and system with means over
        raters, as recognized if no column has listeners. The number of raters is then a column
        ``raters`` or ``n``, or a constant.
    rubric
        Rubric of the captions. By default detected from the columns.
    faults
        Votes outside their scale: refuse the file, or drop (treat them as blanks and list them).
    """

    pattern: Annotated[str, "PATTERN"] = ""
    columns: Annotated[Mapping[str, str], "NAME=COLUMN"] = field(default_factory=dict)
    scales: tuple[str, ...] = ()
    metrics: tuple[str, ...] | None = None
    where: Filter = Filter()  # noqa: RUF009
    constants: Annotated[Mapping[str, str], "NAME=VALUE"] = field(default_factory=dict)
    layout: Annotated[str, (*LAYOUTS, MEANS_LAYOUT)] = AUTO_LAYOUT
    rubric: Annotated[str, (*BUILT_IN_RUBRICS, "none")] = ""
    faults: Annotated[str, FAULT_POLICIES] = FAULT_POLICIES[0]


def column_names(table: StrPath | RecordSource) -> set[str]:
    """Return the columns of a table from its first line; empty if it cannot be looked at."""
    source = table if isinstance(table, RecordSource) else RecordSource(table)
    if source.starts_with(*BINARY_STARTS):
        with suppress(InputError, MissingExtra):
            return {*read_table(source, ())[0].names}
        return set()
    return {*table.first()} if isinstance(table, RecordSource) else field_names(first_bytes(table))


def first_bytes(path: StrPath) -> bytes:
    """Return the first bytes of a file; none if it is not a regular file, such as a pipe."""
    try:
        if not Path(path).is_file():
            return b""
        with Path(path).open("rb") as file:
            return file.read(SNIFFED_BYTES)
    except OSError:
        return b""  # reported when the file is read


def field_names(start: bytes) -> set[str]:
    """Return the names of columns, or the fields of the first JSON object."""
    text = start.decode("utf-8-sig", errors="replace")
    first = next((line for line in text.splitlines() if line.strip()), "")
    try:
        record = load_json(first)
    except ValueError:
        return {unescape_cell(name.strip().strip('"')) for name in re.split(r"[,;\t]", first)}
    return {*record} if isinstance(record, dict) else set()


def has_answers(path: Path | RecordSource) -> bool:
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
        if sample_pattern or any(item not in name or system in name for name in names_by_file):
            return ""
    return ONLY_SYSTEM


def filter_ratings(
    ratings: Sequence[Rating], groups: Groupings, where: Filter
) -> tuple[list[Rating], set[str] | None, list[str]]:
    """Return the ratings of items and raters for which conditions on their groups hold.

    The items that were kept are returned as well, or None if no condition is about items, and a
    note for each condition.
    """
    kept_ratings, kept_items, notes = [*ratings], None, list[str]()
    for condition in where.conditions:
        if condition.field not in groups:
            remedy = nearest(condition.field, groups)
            raise UsageError(f'where: no item or rater has a "{condition.field}" — {remedy}')
        of, group_of = groups[condition.field].of, groups[condition.field].groups
        owners = [rating.key.item if of == "item" else rating.listener for rating in kept_ratings]
        known = {*owners} & {*group_of}
        kept = {owner for owner in known if condition.holds(group_of[owner])}
        missing = len({*owners}) - len(known)
        told = f"{''.join(condition)} holds for {len(kept):,} of {len({*owners}):,} rated {of}s"
        about = f" ({missing:,} without {condition.field})" if missing else ""
        if not kept:
            raise UsageError(f"where: {told}{about}")
        notes.append(f"{told}, which are kept{about}")
        kept_ratings = [
            rating for rating, owner in zip(kept_ratings, owners, strict=True) if owner in kept
        ]
        if of == "item":
            kept_items = {str(owner) for owner in kept}
    return kept_ratings, kept_items, notes


# --- Ratings of several files --------------------------------------------------------------------


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
    raters: dict[tuple[Key, str], int] = field(default_factory=dict)
    blank_rows: set[tuple[Key, Who]] = field(default_factory=set)
    blank_totals: list[Rating] = field(default_factory=list)
    formula_totals: list[Rating] = field(default_factory=list)
    published: bool = False
    scores: list[Score] = field(default_factory=list)

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

    def findings(self) -> dict[str, Any]:
        """Return the fields of a rating set on faults, blanks and other totals."""
        return {
            "faults": tuple(self.faults),
            "rubric": self.rubric,
            "raters": self.raters,
            "blank_rows": frozenset(self.blank_rows),
            "blank_totals": tuple(self.blank_totals),
            "formula_totals": tuple(self.formula_totals),
            "published": self.published,
            "scores": tuple(self.scores),
        }

    def read_table(
        self,
        path: Path | RecordSource,
        reading: TableOptions,
        settings: AnalysisSettings,
        names: KnownNames | None = None,
        *,
        may_be_means: bool = False,
    ) -> None:
        """Read and add a table, which may have means; ``names`` are those of a study."""
        is_means_layout = reading.layout == MEANS_LAYOUT
        if is_means_layout and not may_be_means:
            raise UsageError("layout: tables of means can only be read without a study")
        is_guessed = may_be_means and reading.layout == AUTO_LAYOUT
        study_scales = names.scales if names else ()
        limits = {
            name: Limit(
                scale.low, scale.high, scale.step * (bool(scale.choices) or name in study_scales)
            )
            for name, scale in known_scales().items()
        }
        said = {name: Limit(scale.low, scale.high, 0) for name, scale in settings.scales.items()}
        table = read_ratings(
            path,
            groups=[name for name in settings.plan.by if name not in self.study_groups],
            pattern=reading.pattern,
            columns=reading.columns,
            scales=reading.scales,
            constants=reading.constants,
            limits={**limits, **said},
            rubric=reading.rubric,
            drop=reading.faults == "drop",
            means=True if is_means_layout else None if is_guessed else False,
            layout=AUTO_LAYOUT if is_means_layout else reading.layout,
            known_names=names,
            metrics=reading.metrics,
            where=reading.where,
        )
        self.add_table(table, settings.blank)

    def add_table(self, table: RatingsTable, blank: Blank) -> None:
        """Add a table; with a rubric, totals are computed."""
        name = Path(table.input.name).name
        self.notes += table.notes
        self.join(table.groups, name)
        self.captions |= table.captions
        self.scores += table.scores
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


def read_tables(
    files: Sequence[Path | RecordSource],
    reading: TableOptions,
    settings: AnalysisSettings,
    *,
    may_be_means: bool = False,
) -> RatingSet:
    """Read the ratings of tables, or of records in memory, that belong to no study.

    With ``may_be_means``, tables may have means, which have no listeners.
    """
    collection, outputs = RatingCollection(), Counter[tuple[Key, str]]()
    for path in files:
        if has_answers(path):
            raise UsageError(f"{source_name(path)} contains answers — name the study file too")
        before = len(collection.ratings)
        collection.read_table(path, reading, settings, may_be_means=may_be_means)
        outputs.update({(r.key, r.scale) for r in collection.ratings[before:] if r.listener == ""})
    if max(outputs.values(), default=0) > 1 and reading.layout == AUTO_LAYOUT:
        collection = _read_listener_files(files, reading, settings)
    if len({rating.listener == "" for rating in collection.ratings}) > 1:
        raise UsageError("some tables have listeners, others have means — name them separately")
    return RatingSet(
        collection.ratings,
        ", ".join(Path(source.name).name for source in collection.inputs),
        inputs=tuple(collection.inputs),
        notes=tuple(collection.notes),
        groups=collection.groups,
        captions=collection.captions,
        **collection.findings(),
    )


def _read_listener_files(
    files: Sequence[Path | RecordSource], reading: TableOptions, settings: AnalysisSettings
) -> RatingCollection:
    """Return the ratings of files that rate the same outputs, each by one listener."""
    collection = RatingCollection()
    for path in files:
        if not isinstance(path, Path):
            raise UsageError("several tables rate the same outputs — add a column listener")
        constants = {**reading.constants, "listener": path.stem}
        collection.read_table(path, replace(reading, constants=constants), settings)
    told = "files rate the same outputs, so each is read as those of a listener with its name"
    collection.notes = [*dict.fromkeys(collection.notes), told]
    return collection


def source_name(path: Path | RecordSource) -> str:
    """Return the name of a table for messages."""
    return path.name if isinstance(path, RecordSource) else str(path)


def check_roles(material: RatingSet, how: Mapping[str, Any]) -> None:
    """Raise UsageError if the named reference, anchors or scales have no ratings."""
    systems: dict[str, set[str]] = {ALL_SCALES: set()}
    low = how.get("low_is_good", ())
    scales = [low] if isinstance(low, str) else [*low]
    for rating in material.ratings:
        for scale in (ALL_SCALES, rating.scale):
            systems.setdefault(scale, set()).add(rating.key.system)
    reference, named_anchors = how.get("reference"), parse_anchors(how.get("anchors", ()))
    anchors = {canonical_scale(name, systems): of for name, of in named_anchors.items()}
    if reference and reference not in systems[ALL_SCALES]:
        message = f'reference: no ratings of "{reference}"'
        raise UsageError(f"{message} — {nearest(reference, systems[ALL_SCALES])}")
    ranges = [text.partition("=")[0] for text in how.get("scales", ())]
    for option, named in (("anchors", [*anchors]), ("low_is_good", scales), ("scales", ranges)):
        for name in named:
            if canonical_scale(name, systems) not in systems:
                message = f'{option}: no ratings on scale "{name}"'
                raise UsageError(f"{message} — {nearest(name, systems.keys() - {ALL_SCALES})}")
    for scale, names in anchors.items():
        for name in names:
            if name not in systems[scale]:
                where = f" on {scale}" if scale != ALL_SCALES else ""
                message = f'anchors: no ratings of "{name}"{where}'
                raise UsageError(f"{message} — {nearest(name, systems[scale])}")
