"""The verb agree, tables of scores, and output lengths as a baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from earwitness.core import Input, Key, Progress, Rating, Score, no_progress
from earwitness.errors import InputError, Problem, UsageError, nearest
from earwitness.io.schema import BadLine, Fault, load_json_line
from earwitness.io.source import Records, RecordSource
from earwitness.io.tables import InputTable, TableWording
from earwitness.metaeval.join import metrics_of
from earwitness.metaeval.pipeline import ScoresAndRatings, agree
from earwitness.metaeval.results import Concordance
from earwitness.metaeval.settings import AgreementSettings
from earwitness.studies.analyse import NO_FIELD, settings_of
from earwitness.studies.analysis.pipeline import RatingSet, with_anchors
from earwitness.studies.analysis.prepare import resolve
from earwitness.studies.analysis.settings import AnalysisSettings, Scales
from earwitness.studies.file.reader import read_study
from earwitness.studies.ratings.collect import (
    Place,
    TableOptions,
    check_ratings,
    check_roles,
    check_scores,
    material_of,
    stored_material,
)
from earwitness.studies.ratings.columns import LONG_TABLE_ROLES, SAMPLE_COLUMNS, ColumnOptions
from earwitness.studies.ratings.reader import ParsedRatings, read_rows
from earwitness.studies.screening import screen
from earwitness.studies.study import Study
from earwitness.version import __version__

# --- Output lengths as a baseline ----------------------------------------------------------------


LENGTH_METRIC = "length"
LIST_FIELDS = ("boundaries", "positions", "words", "titles", "sentences")
TEXT_FIELDS = ("text", "transcript", "caption")


def output_lengths(outputs: str | Records) -> tuple[list[Score], Input]:
    """The length of every output of a file: its boundaries, positions, or words; and the file.

    A line that says no item, system and output is refused.
    """
    source, found, wrong = RecordSource(outputs), list[Score](), list[Problem]()
    for number, line in enumerate(_lines(source), 1):
        try:
            found += [_score(load_json_line(line))] if line.strip() else []
        except (BadLine, KeyError, TypeError, ValueError):
            told = "has no item, system and output whose length can be told"
            wrong.append(Problem(source.name, number, "", told))
    if wrong:
        raise InputError(wrong, len(wrong), done="read")
    return found, source.read()


def _lines(source: RecordSource) -> Iterator[bytes]:
    try:
        for block in source.blocks():
            yield from block.lines
    except InputError as error:
        raise InputError(error.problems, error.count, done="read") from None


def _score(line: Any) -> Score:
    return Score(Key(line["item"], line["system"]), LENGTH_METRIC, _length(line["output"]))


def _length(output: Mapping[str, Any]) -> float:
    for name in LIST_FIELDS:
        if isinstance(output.get(name), list):
            return float(len(output[name]))
    for name in TEXT_FIELDS:
        if isinstance(output.get(name), str):
            return float(len(output[name].split()))
    raise ValueError(output)


# --- Tables of scores ----------------------------------------------------------------------------
# Scores are read as ratings are, with a metric in the place of a scale and nobody as the listener.


COLUMN_REMEDY = (
    "or say --score-column {role}=NAME, or --score-sample NAME for names of files, with "
    "--score-pattern"
)
SCORE_WORDING = TableWording("metrics", "score", "score", undefined=True, remedy=COLUMN_REMEDY)
COLUMN_BY_ROLE = {"scale": "metric", "session": "references", "trial": "draw"}
ABSENT_ROLES = ("listener", "asked", "place", "against")
SCORE_ROLES = ("item", "system", "metric", "value")
RATING_ROLE_BY_SCORE_ROLE = {"metric": "scale"}
SIGNATURE_COLUMN = "signature"


@dataclass(frozen=True)
class ScoreTable:
    """Scores in the order of the file, also those that are undefined; how they came about."""

    scores: list[Score]
    notes: tuple[str, ...]
    signatures: tuple[str, ...]
    input: Input
    columns: tuple[str, ...] = ()

    @property
    def metrics(self) -> list[str]:
        """Metrics in the order of the file."""
        return list(dict.fromkeys(one.metric for one in self.scores))


def read_scores(
    path: str | PathLike[str],
    *,
    pattern: str = "",
    column: str = "",
    columns: Mapping[str, str] | None = None,
    metrics: Sequence[str] = (),
    several: bool = False,
) -> ScoreTable:
    """Scores of a table; ``metrics`` are columns that are metrics, if not all that are numbers.

    Where this is one of ``several`` tables, what is said holds as far as the table has columns of
    these names.

    ``pattern``, ``column`` and ``columns`` are what they are for ratings; a metric's column is
    called ``metric``, that of its numbers ``value``.
    """
    options = ColumnOptions(
        pattern,
        column,
        _columns(columns or {}),
        given={"listener": "metric"},
        words=SCORE_WORDING,
        apart=(SIGNATURE_COLUMN,),
        optional={*COLUMN_BY_ROLE},
    )
    rows = read_rows(
        RecordSource(path), options, partial(_fitted, metrics=metrics, several=several)
    )
    scores = [Score(one.key, one.scale, one.value, one.session, one.trial) for one in rows.every]
    _refuse_doubled(scores, rows)
    known = (*rows.table.names, *dict.fromkeys(one.metric for one in scores))
    chosen = [one for one in scores if not metrics or one.metric in metrics]
    notes = (*rows.layout.notes, *_undefined(chosen), *_none(chosen, rows))
    return ScoreTable(chosen, notes, _signatures(rows), rows.input, known)


def _columns(said: Mapping[str, str]) -> dict[str, str]:
    """Columns by what they would say of ratings."""
    for name in said:
        if name not in SCORE_ROLES:
            raise UsageError(f'columns: no "{name}" — {nearest(name, SCORE_ROLES)}')
    named = {RATING_ROLE_BY_SCORE_ROLE.get(role, role): own for role, own in said.items()}
    return {**COLUMN_BY_ROLE, **dict.fromkeys(ABSENT_ROLES, ""), **named}


def _fitted(
    options: ColumnOptions, table: InputTable, *, metrics: Sequence[str], several: bool
) -> ColumnOptions:
    """Options that hold for a table with such columns.

    Chosen metrics are columns, unless a row is a score. A column a metric leaves no place for two.
    """
    names = table.names
    if several:
        options = _as_far_as(options, names)
    own = [name for name in metrics if name in names] if several else list(metrics)
    long = all(options.columns.get(role, role) in names for role in LONG_TABLE_ROLES)
    if not own or (long and not {*own} & {*names}):
        return options
    columns = {role: name for role, name in options.columns.items() if role not in LONG_TABLE_ROLES}
    return replace(options, scales=own, columns=columns)


def _as_far_as(options: ColumnOptions, names: Sequence[str]) -> ColumnOptions:
    """Without what is said of columns that this table does not have."""
    usual = {**COLUMN_BY_ROLE, **dict.fromkeys(ABSENT_ROLES, "")}
    kept = {role: own for role, own in options.columns.items() if own in names}
    columns = {**usual, **kept}
    column = options.column if options.column in names else ""
    apart = all(columns.get(role, role) in names for role in ("item", "system"))
    sampled = column or (not apart and any(name in names for name in SAMPLE_COLUMNS))
    return replace(
        options, columns=columns, column=column, pattern=options.pattern if sampled else ""
    )


def _none(chosen: Sequence[Score], rows: ParsedRatings) -> Iterator[str]:
    if not chosen:
        yield f"{rows.input.name} has none of the chosen metrics; passed over"


def _refuse_doubled(scores: Sequence[Score], rows: ParsedRatings) -> None:
    """A metric gives an output one score; which of two counts, nobody knows."""
    counts = Counter((one.key, one.metric, one.references, one.draw) for one in scores)
    doubled = {place for place, count in counts.items() if count > 1}
    if not doubled:
        return
    wide = max(1, len(scores) // len(rows.table.lines))
    seen: set[object] = set()
    for number, one in enumerate(scores):
        place = (one.key, one.metric, one.references, one.draw)
        if place in doubled and place in seen:
            told = f"{one.metric} of {one.key.system}, {one.key.item} stands here once more"
            rows.table.wrong.add([(rows.table.lines[number // wide], Fault("", told, "keep one"))])
        seen.add(place)
    rows.table.wrong.refuse()


def _undefined(scores: Sequence[Score]) -> Iterator[str]:
    missing = Counter(one.metric for one in scores if one.value != one.value)
    for metric, count in missing.items():
        every = sum(one.metric == metric for one in scores)
        yield f"{metric} is undefined for {count:,} of {every:,} outputs"


def _signatures(rows: ParsedRatings) -> tuple[str, ...]:
    if SIGNATURE_COLUMN not in rows.table.names:
        return ()
    return tuple(dict.fromkeys(str(one) for one in rows.table.cells(SIGNATURE_COLUMN) if one))


# --- Verb agree ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoreOptions:
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
    scoring: ScoreOptions = ScoreOptions(),  # noqa: B008
    reading: TableOptions = TableOptions(),  # noqa: B008
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
    ``AgreementSettings``.
    """
    settings = AgreementSettings(version=__version__, **how)
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


def _listeners(reading: TableOptions) -> str:
    """The column of ratings that has listeners; nothing if they stand elsewhere."""
    elsewhere = "listener" in reading.given or "{listener}" in reading.pattern
    return "" if elsewhere else reading.columns.get("listener", "listener")


def _without(
    ratings: Sequence[Rating], controls: Sequence[str]
) -> tuple[Sequence[Rating], list[str]]:
    """Ratings of what competes, and controls that were rated: any metric can tell those."""
    left = [name for name in controls if any(one.key.system == name for one in ratings)]
    return [one for one in ratings if one.key.system not in left] or ratings, left


def _read_as(scoring: ScoreOptions, reading: TableOptions) -> str:
    """How names of samples were taken apart, if that was said."""
    said = {"scores": scoring.pattern, "ratings": reading.pattern}
    parts = [f"{name}={pattern}" for name, pattern in said.items() if pattern]
    return f"|patterns({','.join(parts)})" if parts else ""


def _listed(given: Place | Sequence[Place]) -> list[Place]:
    return [given] if isinstance(given, str | PathLike) else list(given)


def _screened(
    ratings: Sequence[Rating], asked: AnalysisSettings, material: RatingSet
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
    scoring: ScoreOptions,
    material: RatingSet,
    ratings: Sequence[Rating],
    told: Sequence[str],
) -> ScoresAndRatings:
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
    return ScoresAndRatings(
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


def _tables(files: Sequence[Place], scoring: ScoreOptions) -> list[ScoreTable]:
    """Tables of scores; of several, each need not have all that is named, but one must."""
    tables = [_read(one, scoring, several=len(files) > 1) for one in files]
    names = [name for table in tables for name in table.columns]
    for name in (*scoring.metrics, scoring.column, *dict(scoring.columns).values()):
        if name and name not in names:
            raise UsageError(f'no file of scores has a column "{name}" — {nearest(name, names)}')
    return tables


def _read(path: Place, scoring: ScoreOptions, *, several: bool) -> ScoreTable:
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
