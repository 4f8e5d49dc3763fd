"""The verb agree, tables of scores, and output lengths as a baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from earwitness.core import Input, Key, Progress, Rating, Score, StrPath, no_progress
from earwitness.errors import InputError, Problem, UsageError, nearest
from earwitness.io.schema import BadLine, Fault, load_json_line
from earwitness.io.source import Records, RecordSource
from earwitness.io.tables import InputTable, TableWording
from earwitness.metaeval.join import metric_columns
from earwitness.metaeval.pipeline import ScoresAndRatings, analyse_agreement
from earwitness.metaeval.results import Concordance
from earwitness.metaeval.settings import AgreementSettings
from earwitness.studies.analyse import settings_of
from earwitness.studies.analysis.pipeline import RatingSet, with_anchors
from earwitness.studies.analysis.prepare import resolve_repeats
from earwitness.studies.analysis.settings import AnalysisSettings, Scales
from earwitness.studies.file.reader import read_study
from earwitness.studies.ratings.collect import (
    TableOptions,
    check_ratings,
    check_roles,
    check_scores,
    read_rating_set,
    stored_rating_set,
)
from earwitness.studies.ratings.columns import LONG_TABLE_ROLES, SAMPLE_COLUMNS, ColumnOptions
from earwitness.studies.ratings.reader import ParsedRatings, read_rows
from earwitness.studies.screening import screen
from earwitness.studies.study import NO_GROUPS, Study
from earwitness.version import __version__

# --- Output lengths as a baseline ----------------------------------------------------------------


LENGTH_METRIC = "length"
LIST_FIELDS = ("boundaries", "positions", "words", "titles", "sentences")
TEXT_FIELDS = ("text", "transcript", "caption")


def output_lengths(outputs: str | Records) -> tuple[list[Score], Input]:
    """The length of every output of a file: its boundaries, positions, or words; and the file.

    A line that says no item, system and output is refused.
    """
    source, scores, problems = RecordSource(outputs), list[Score](), list[Problem]()
    for number, line in enumerate(_read_lines(source), 1):
        try:
            scores += [_length_score(load_json_line(line))] if line.strip() else []
        except (BadLine, KeyError, TypeError, ValueError):
            message = "has no item, system and output whose length can be told"
            problems.append(Problem(source.name, number, "", message))
    if problems:
        raise InputError(problems, len(problems), done="read")
    return scores, source.read()


def _read_lines(source: RecordSource) -> Iterator[bytes]:
    try:
        for block in source.blocks():
            yield from block.lines
    except InputError as error:
        raise InputError(error.problems, error.count, done="read") from None


def _length_score(record: Any) -> Score:
    return Score(
        Key(record["item"], record["system"]), LENGTH_METRIC, _output_length(record["output"])
    )


def _output_length(output: Mapping[str, Any]) -> float:
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
        return list(dict.fromkeys(score.metric for score in self.scores))


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
        _columns_by_role(columns or {}),
        constants={"listener": "metric"},
        words=SCORE_WORDING,
        apart=(SIGNATURE_COLUMN,),
        optional={*COLUMN_BY_ROLE},
    )
    rows = read_rows(
        RecordSource(path), options, partial(_fit_options, metrics=metrics, several=several)
    )
    scores = [
        Score(rating.key, rating.scale, rating.value, rating.session, rating.trial)
        for rating in rows.all_ratings
    ]
    _refuse_doubled(scores, rows)
    columns_and_metrics = (*rows.table.names, *dict.fromkeys(score.metric for score in scores))
    chosen = [score for score in scores if not metrics or score.metric in metrics]
    notes = [*rows.layout.notes, *_undefined_notes(chosen)]
    if not chosen:
        notes.append(f"{rows.input.name} has none of the chosen metrics; passed over")
    return ScoreTable(chosen, tuple(notes), _read_signatures(rows), rows.input, columns_and_metrics)


def _columns_by_role(column_by_role: Mapping[str, str]) -> dict[str, str]:
    """Columns by what they would say of ratings."""
    for role in column_by_role:
        if role not in SCORE_ROLES:
            raise UsageError(f'columns: no "{role}" — {nearest(role, SCORE_ROLES)}')
    by_rating_role = {
        RATING_ROLE_BY_SCORE_ROLE.get(role, role): column for role, column in column_by_role.items()
    }
    return {**COLUMN_BY_ROLE, **dict.fromkeys(ABSENT_ROLES, ""), **by_rating_role}


def _fit_options(
    options: ColumnOptions, table: InputTable, *, metrics: Sequence[str], several: bool
) -> ColumnOptions:
    """Options that hold for a table with such columns.

    Chosen metrics are columns, unless a row is a score. A column a metric leaves no place for two.
    """
    names = table.names
    if several:
        options = _options_for_columns(options, names)
    chosen_metrics = [name for name in metrics if name in names] if several else list(metrics)
    is_long = all(options.columns.get(role, role) in names for role in LONG_TABLE_ROLES)
    if not chosen_metrics or (is_long and not {*chosen_metrics} & {*names}):
        return options
    columns = {role: name for role, name in options.columns.items() if role not in LONG_TABLE_ROLES}
    return replace(options, scales=chosen_metrics, columns=columns)


def _options_for_columns(options: ColumnOptions, names: Sequence[str]) -> ColumnOptions:
    """Without what is said of columns that this table does not have."""
    usual = {**COLUMN_BY_ROLE, **dict.fromkeys(ABSENT_ROLES, "")}
    present = {
        role: column_name for role, column_name in options.columns.items() if column_name in names
    }
    columns = {**usual, **present}
    column = options.column if options.column in names else ""
    has_item_and_system = all(columns.get(role, role) in names for role in ("item", "system"))
    has_samples = column or (
        not has_item_and_system and any(name in names for name in SAMPLE_COLUMNS)
    )
    return replace(
        options, columns=columns, column=column, pattern=options.pattern if has_samples else ""
    )


def _refuse_doubled(scores: Sequence[Score], rows: ParsedRatings) -> None:
    """A metric gives an output one score; which of two counts, nobody knows."""
    counts = Counter((score.key, score.metric, score.references, score.draw) for score in scores)
    doubled = {output for output, count in counts.items() if count > 1}
    if not doubled:
        return
    scores_per_line = max(1, len(scores) // len(rows.table.lines))
    seen: set[object] = set()
    for number, score in enumerate(scores):
        output = (score.key, score.metric, score.references, score.draw)
        if output in doubled and output in seen:
            message = (
                f"{score.metric} of {score.key.system}, {score.key.item} stands here once more"
            )
            rows.table.wrong.add(
                [(rows.table.lines[number // scores_per_line], Fault("", message, "keep one"))]
            )
        seen.add(output)
    rows.table.wrong.refuse()


def _undefined_notes(scores: Sequence[Score]) -> Iterator[str]:
    undefined_counts = Counter(score.metric for score in scores if score.value != score.value)
    for metric, count in undefined_counts.items():
        total = sum(score.metric == metric for score in scores)
        yield f"{metric} is undefined for {count:,} of {total:,} outputs"


def _read_signatures(rows: ParsedRatings) -> tuple[str, ...]:
    if SIGNATURE_COLUMN not in rows.table.names:
        return ()
    return tuple(dict.fromkeys(str(cell) for cell in rows.table.cells(SIGNATURE_COLUMN) if cell))


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
    scores: StrPath | Sequence[StrPath],
    ratings: StrPath | Sequence[StrPath] = (),
    *,
    study: StrPath | Study | None = None,
    db: StrPath | None = None,
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
    files = [Path(path) for path in _as_list(ratings)]
    check_scores(_as_list(scores), files, study, db, _listener_column(reading))
    plan = study if isinstance(study, Study) or study is None else read_study(Path(study))
    roles: dict[str, Any] = {"reference": reference, "anchor": anchor}
    analysis = settings_of(plan, screening=screening, scales=ends, by=(NO_GROUPS,), **roles)
    if db is not None:
        material = stored_rating_set(plan, db, files, analysis)
    else:
        check_ratings(files, study)
        material = read_rating_set(files, plan, reading, analysis)
    if not material.ratings:
        raise UsageError("there are no ratings")
    check_roles(material, roles)
    analysis = with_anchors(material.ratings, analysis)
    counted, doubled = resolve_repeats(
        material.ratings, analysis.doubled, reference=analysis.reference
    )
    kept, notes = _screen_ratings(counted, analysis, material)
    kept, controls = _drop_controls(kept, analysis.controls)
    notes += [f"{len(doubled):,} votes were doubled; {analysis.doubled} counts"] if doubled else []
    notes += (
        [f"hidden references and anchors are left out: {', '.join(controls)}"] if controls else []
    )
    _check_scales(scales, kept)
    inputs = _collect_scores(_as_list(scores), scoring, material, kept, notes)
    left = "+".join(controls) or "none"
    chosen = f"{analysis.chosen}|left={left}{_pattern_signature(scoring, reading)}"
    inputs = replace(inputs, kept=chosen, scales=Scales(analysis.scales))
    return analyse_agreement(inputs, settings, scales, progress=progress)


def _listener_column(reading: TableOptions) -> str:
    """The column of ratings that has listeners; nothing if they stand elsewhere."""
    elsewhere = "listener" in reading.constants or "{listener}" in reading.pattern
    return "" if elsewhere else reading.columns.get("listener", "listener")


def _drop_controls(
    ratings: Sequence[Rating], controls: Sequence[str]
) -> tuple[Sequence[Rating], list[str]]:
    """Ratings of what competes, and controls that were rated: any metric can tell those."""
    rated_controls = [
        name for name in controls if any(rating.key.system == name for rating in ratings)
    ]
    return [
        rating for rating in ratings if rating.key.system not in rated_controls
    ] or ratings, rated_controls


def _pattern_signature(scoring: ScoreOptions, reading: TableOptions) -> str:
    """How names of samples were taken apart, if that was said."""
    patterns = {"scores": scoring.pattern, "ratings": reading.pattern}
    parts = [f"{name}={pattern}" for name, pattern in patterns.items() if pattern]
    return f"|patterns({','.join(parts)})" if parts else ""


def _as_list(places: StrPath | Sequence[StrPath]) -> list[StrPath]:
    return [places] if isinstance(places, str | PathLike) else list(places)


def _screen_ratings(
    ratings: Sequence[Rating], analysis: AnalysisSettings, material: RatingSet
) -> tuple[Sequence[Rating], list[str]]:
    """Ratings of listeners who are kept, and what is said of the others; never of nobody."""
    roles = {"reference": analysis.reference, "anchor": analysis.anchor}
    screened = screen(ratings, analysis.screening, **roles, plays=material.plays)
    excluded = {*screened.left}
    kept = [rating for rating in ratings if rating.listener not in excluded]
    if not kept:
        return ratings, [*screened.notes, "screening would leave nobody: all listeners are kept"]
    notes = (
        [f"screening left {len(excluded):,} listener{'s' * (len(excluded) != 1)} out"]
        if excluded
        else []
    )
    return kept, [*screened.notes, *notes]


def _check_scales(names: Sequence[str], ratings: Iterable[Rating]) -> None:
    scales = {rating.scale for rating in ratings}
    for name in names:
        if name not in scales:
            raise UsageError(f'no rating is on scale "{name}" — {nearest(name, scales)}')


def _collect_scores(
    files: list[StrPath],
    scoring: ScoreOptions,
    material: RatingSet,
    ratings: Sequence[Rating],
    screening_notes: Sequence[str],
) -> ScoresAndRatings:
    tables = _read_tables(files, scoring)
    scores = [score for table in tables for score in table.scores]
    inputs = [table.input for table in tables]
    if scoring.outputs:
        lengths, file = output_lengths(scoring.outputs)
        scores += lengths
        inputs.append(file)
    full, fewer = _split_by_references(scores)
    metrics, notes = metric_columns(full, scoring.low, scoring.baselines)
    low = [metric.name for metric in metrics if metric.low_is_good]
    notes.append(f"low is taken as good of {', '.join(low) or 'no metric'}, high of all others")
    return ScoresAndRatings(
        full,
        metrics,
        ratings,
        material.title,
        material.systems,
        Scales({}),
        (*inputs, *material.inputs),
        tuple(dict.fromkeys(signature for table in tables for signature in table.signatures)),
        tuple(
            dict.fromkeys(
                (*(n for t in tables for n in t.notes), *notes, *material.notes, *screening_notes)
            )
        ),
        fewer,
    )


def _read_tables(files: Sequence[StrPath], scoring: ScoreOptions) -> list[ScoreTable]:
    """Tables of scores; of several, each need not have all that is named, but one must."""
    tables = [
        read_scores(
            path,
            pattern=scoring.pattern,
            column=scoring.column,
            columns=dict(scoring.columns),
            metrics=scoring.metrics,
            several=len(files) > 1,
        )
        for path in files
    ]
    names = [name for table in tables for name in table.columns]
    for name in (*scoring.metrics, scoring.column, *dict(scoring.columns).values()):
        if name and name not in names:
            raise UsageError(f'no file of scores has a column "{name}" — {nearest(name, names)}')
    return tables


def _split_by_references(scores: Sequence[Score]) -> tuple[list[Score], list[Score]]:
    """Scores with the most references of their metric, and those with fewer."""
    max_references: dict[str, int] = {}
    for score in scores:
        max_references[score.metric] = max(max_references.get(score.metric, 0), score.references)
    full = [score for score in scores if score.references == max_references[score.metric]]
    return full, [score for score in scores if score.references < max_references[score.metric]]
