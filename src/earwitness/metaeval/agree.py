"""Agreement of metrics with ratings: ``agree``, score tables and output lengths."""

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
from earwitness.io.source import Records, RecordSource, TableInput, table_inputs
from earwitness.io.tables import InputTable, TableWording
from earwitness.metaeval.join import metric_columns
from earwitness.metaeval.pipeline import ScoresAndRatings, analyse_agreement
from earwitness.metaeval.results import Concordance
from earwitness.metaeval.settings import AgreementSettings
from earwitness.scoring.results import Scores
from earwitness.studies.analyse import TABLE_ARGUMENTS, settings_of
from earwitness.studies.analysis.pipeline import RatingSet, with_anchors
from earwitness.studies.analysis.prepare import resolve_repeats
from earwitness.studies.analysis.settings import AnalysisSettings, AnchorNames, Scales
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
    """Return the length of each output in a file, as scores, and the file.

    The length is the number of boundaries, positions, words, titles or sentences.

    Raises
    ------
    InputError
        If a line lacks an item, a system or an output with a list or a text.
    """
    source, scores, problems = RecordSource(outputs), list[Score](), list[Problem]()
    for number, line in enumerate(_read_lines(source), 1):
        try:
            scores += [_length_score(load_json_line(line))] if line.strip() else []
        except (BadLine, KeyError, TypeError, ValueError):
            message = 'needs "item", "system" and "output" with a list or a text'
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
# Scores are read like ratings, with a metric instead of a scale and no listener.


COLUMN_REMEDY = (
    "or use --score-column {role}=NAME; if file names contain system and item, use "
    "--score-sample NAME --score-pattern PATTERN"
)
SCORE_WORDING = TableWording("metrics", "score", "score", undefined=True, remedy=COLUMN_REMEDY)
COLUMN_BY_ROLE = {"scale": "metric", "session": "references", "trial": "draw"}
ABSENT_ROLES = ("listener", "asked", "place", "against")
SCORE_ROLES = ("item", "system", "metric", "value")
RATING_ROLE_BY_SCORE_ROLE = {"metric": "scale"}
SIGNATURE_COLUMN = "signature"


@dataclass(frozen=True)
class ScoreTable:
    """Scores of a file, in file order and including undefined ones, with notes on the reading."""

    scores: list[Score]
    notes: tuple[str, ...]
    signatures: tuple[str, ...]
    input: Input
    columns: tuple[str, ...] = ()

    @property
    def metrics(self) -> list[str]:
        """Metrics in file order."""
        return list(dict.fromkeys(score.metric for score in self.scores))


def read_scores(
    path: str | PathLike[str] | RecordSource,
    *,
    pattern: str = "",
    column: str = "",
    columns: Mapping[str, str] | None = None,
    metrics: Sequence[str] = (),
    several: bool = False,
) -> ScoreTable:
    """Read the scores of a table.

    Parameters
    ----------
    path
        CSV or JSON Lines file, or the rows of a table in memory.
    pattern, column, columns
        How to find item and system, as for ratings. The role of the column with metric names is
        ``metric``, that of the column with numbers ``value``.
    metrics
        Columns that are metrics. By default all numeric columns.
    several
        Whether other tables are read as well; then columns that this table lacks are ignored.

    Returns
    -------
    ScoreTable
        Scores, notes, signatures and the columns of the file.

    Raises
    ------
    InputError
        If a row is invalid or an output has two scores of the same metric.
    UsageError
        If ``columns`` has an unknown role.
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
    source = path if isinstance(path, RecordSource) else RecordSource(path)
    rows = read_rows(source, options, partial(_fit_options, metrics=metrics, several=several))
    scores = [
        Score(rating.key, rating.scale, rating.value, rating.session, rating.trial)
        for rating in rows.all_ratings
    ]
    _refuse_doubled(scores, rows)
    columns_and_metrics = (*rows.table.names, *dict.fromkeys(score.metric for score in scores))
    chosen = [score for score in scores if not metrics or score.metric in metrics]
    notes = [*rows.layout.notes, *_undefined_notes(chosen)]
    if not chosen:
        notes.append(f"{rows.input.name} has none of the chosen metrics and is ignored")
    return ScoreTable(chosen, tuple(notes), _read_signatures(rows), rows.input, columns_and_metrics)


def _columns_by_role(column_by_role: Mapping[str, str]) -> dict[str, str]:
    """Return the column names by their role in a table of ratings."""
    for role in column_by_role:
        if role not in SCORE_ROLES:
            raise UsageError(f'columns: unknown role "{role}" — {nearest(role, SCORE_ROLES)}')
    by_rating_role = {
        RATING_ROLE_BY_SCORE_ROLE.get(role, role): column for role, column in column_by_role.items()
    }
    return {**COLUMN_BY_ROLE, **dict.fromkeys(ABSENT_ROLES, ""), **by_rating_role}


def _fit_options(
    options: ColumnOptions, table: InputTable, *, metrics: Sequence[str], several: bool
) -> ColumnOptions:
    """Return the options that apply to a table with these columns.

    Chosen metrics are columns, unless each row holds one score.
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
    """Return the options without references to columns that this table lacks."""
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
    """Refuse two scores of the same metric for one output."""
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
                f"duplicate score: {score.metric} of system {score.key.system}, item "
                f"{score.key.item}"
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


# --- Agreement of metrics with ratings -----------------------------------------------------------


SCORE_ARGUMENTS = ("metrics", "low", "baselines", "outputs")


@dataclass(frozen=True)
class ScoreOptions:
    """How score tables are read, and which metrics are used.

    Parameters
    ----------
    pattern, column, columns
        How to find item and system; see ``read_scores``.
    metrics
        Metrics to use. By default all.
    low
        Metrics for which lower is better.
    baselines
        Metrics that are trivial baselines.
    outputs
        File of outputs whose lengths are added as a baseline.
    """

    pattern: str = ""
    column: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    metrics: tuple[str, ...] = ()
    low: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    outputs: str = ""


def agree(
    scores: Scores | TableInput | Sequence[TableInput],
    ratings: TableInput | Sequence[TableInput] = (),
    *,
    study: StrPath | Study | None = None,
    db: StrPath | None = None,
    scales: Sequence[str] = (),
    ends: Sequence[str] = (),
    scoring: ScoreOptions | None = None,
    reading: TableOptions | None = None,
    screening: Sequence[str] | None = None,
    reference: str = "",
    anchor: AnchorNames = (),
    low_is_good: Sequence[str] = (),
    progress: Progress = no_progress,
    **how: Any,
) -> Concordance:
    """Measure how well metrics agree with human ratings.

    Parameters
    ----------
    scores
        Tables of scores per output, with one column per metric: paths, records or data frames; or
        the result of ``score`` with ``samples=True``.
    ratings
        Answers to a study, or tables of ratings: paths, records or data frames.
    study
        Study file, if ``ratings`` or ``db`` hold answers.
    db
        Database with answers.
    scales
        Rating scales to analyse. By default all.
    ends
        Ends of scales, such as ``MOS=0:100``.
    scoring
        How scores are read and which metrics are used. Its fields ``metrics``, ``low``,
        ``baselines`` and ``outputs`` may also be passed as arguments.
    reading
        How tables of ratings are read. Its fields ``pattern``, ``column``, ``columns`` and
        ``constants`` may also be passed as arguments.
    screening
        Screening rules. By default those of the study.
    reference, anchor
        Names of the hidden reference and of anchors, which are excluded from the comparison; an
        anchor of one scale is ``SCALE=SYSTEM``, or anchors are a mapping from scales to names.
    low_is_good
        Rating scales where lower is better.
    progress
        Called with the steps done, their total and the steps done.
    **how
        Fields of ``AgreementSettings``: ``coefficient``, ``levels``, ``over``, ``swap``,
        ``mapping``, ``adjust``, ``correction``, ``level``, ``draws``, ``permutations``, ``seed``.

    Returns
    -------
    Concordance
        Coefficients, rankings, tests, rater agreement and sample-size curves per scale.

    Raises
    ------
    InputError
        If a table has faults; all of them are listed.
    UsageError
        If there are no ratings, or no output has both scores and ratings.

    Examples
    --------
    >>> scores = [
    ...     {"item": item, "system": system, "quality": number + place / 10}
    ...     for place, item in enumerate("abcd")
    ...     for number, system in enumerate(("poor", "fair", "good"))
    ... ]
    >>> ratings = [
    ...     {**{name: row[name] for name in ("item", "system")}, "listener": who, "MOS": vote}
    ...     for row in scores
    ...     for who in (1, 2)
    ...     for vote in [1 + int(row["quality"])]
    ... ]
    >>> concordance = agree(scores, ratings, draws=20, permutations=20)
    >>> concordance.scales[0].metrics[0].metric
    'quality'
    """
    scoring = scoring or ScoreOptions(**{n: how.pop(n) for n in SCORE_ARGUMENTS if n in how})
    reading = reading or TableOptions(**{n: how.pop(n) for n in TABLE_ARGUMENTS if n in how})
    tables = table_inputs(_sample_rows(scores) if isinstance(scores, Scores) else scores, "scores")
    files = table_inputs(ratings, "ratings")
    settings = AgreementSettings(version=__version__, **how)
    check_scores(tables, files, study, db, _listener_column(reading))
    plan = study if isinstance(study, Study) or study is None else read_study(Path(study))
    roles: dict[str, Any] = {"reference": reference, "anchor": anchor, "low_is_good": low_is_good}
    analysis = settings_of(plan, screening=screening, scales=ends, by=(NO_GROUPS,), **roles)
    if db is not None:
        material = stored_rating_set(plan, db, files, analysis)
    else:
        check_ratings(files, study)
        material = read_rating_set(files, plan, reading, analysis)
    if not material.ratings:
        raise UsageError("no ratings found")
    check_roles(material, roles)
    analysis = with_anchors(material.ratings, analysis)
    counted, doubled = resolve_repeats(
        material.ratings, analysis.doubled, reference=analysis.reference
    )
    kept, notes = _screen_ratings(counted, analysis, material)
    kept, controls = _drop_controls(kept, analysis)
    notes += (
        [f"{len(doubled):,} votes were repeated; the {analysis.doubled} is used"] if doubled else []
    )
    notes += [f"hidden references and anchors excluded: {', '.join(controls)}"] if controls else []
    worse = sorted(analysis.low_scales(kept))
    notes += [f"lower ratings are better on {', '.join(worse)}"] if worse else []
    _check_scales(scales, kept)
    inputs = _collect_scores(tables, scoring, material, kept, notes)
    left = "+".join(controls) or "none"
    low = f"|low_is_good={'+'.join(analysis.low_is_good)}" if analysis.low_is_good else ""
    chosen = f"{analysis.chosen}|left={left}{low}{_pattern_signature(scoring, reading)}"
    known = Scales(analysis.scales, analysis.named_scales.low)
    inputs = replace(inputs, kept=chosen, scales=known)
    return analyse_agreement(inputs, settings, scales, progress=progress)


def _listener_column(reading: TableOptions) -> str:
    """Return the ratings column with listeners, or an empty string if they come from elsewhere."""
    elsewhere = "listener" in reading.constants or "{listener}" in reading.pattern
    return "" if elsewhere else reading.columns.get("listener", "listener")


def _drop_controls(
    ratings: Sequence[Rating], analysis: AnalysisSettings
) -> tuple[Sequence[Rating], list[str]]:
    """Return the ratings without controls of their scale, and the controls that were rated.

    Controls are dropped because every metric can distinguish them. Controls of single scales are
    named with the scale.
    """
    rated = {(rating.key.system, rating.scale) for rating in ratings}
    scales = list(dict.fromkeys(rating.scale for rating in ratings))
    dropped = {(name, scale) for scale in scales for name in analysis.controls_of(scale)}
    names = [name for name in analysis.controls if any(name == one for one, _ in rated)]
    names += [
        f"{name} ({scale})"
        for scale in scales
        for name in analysis.controls_of(scale)
        if (name, scale) in rated and name not in analysis.controls
    ]
    kept = [one for one in ratings if (one.key.system, one.scale) not in dropped]
    return kept or ratings, names


def _pattern_signature(scoring: ScoreOptions, reading: TableOptions) -> str:
    """Return the patterns of sample names, if any, for the signature."""
    patterns = {"scores": scoring.pattern, "ratings": reading.pattern}
    parts = [f"{name}={pattern}" for name, pattern in patterns.items() if pattern]
    return f"|patterns({','.join(parts)})" if parts else ""


def _sample_rows(scores: Scores) -> list[dict[str, Any]]:
    """Return the values of every case of a result of ``score``."""
    if scores.samples is None:
        raise UsageError("the scores have no values per case — call score with samples=True")
    return scores.to_records("samples")


def _screen_ratings(
    ratings: Sequence[Rating], analysis: AnalysisSettings, material: RatingSet
) -> tuple[Sequence[Rating], list[str]]:
    """Return the ratings of listeners who pass the screening, and notes; never an empty list."""
    roles = {"reference": analysis.reference, "anchor": analysis.anchor}
    low = analysis.low_scales(ratings)
    screened = screen(ratings, analysis.screening, **roles, plays=material.plays, low_is_good=low)
    excluded = {*screened.left}
    kept = [rating for rating in ratings if rating.listener not in excluded]
    if not kept:
        return ratings, [
            *screened.notes,
            "screening would exclude all listeners, so all listeners are kept",
        ]
    notes = (
        [f"screening excluded {len(excluded):,} listener{'s' * (len(excluded) != 1)}"]
        if excluded
        else []
    )
    return kept, [*screened.notes, *notes]


def _check_scales(names: Sequence[str], ratings: Iterable[Rating]) -> None:
    scales = {rating.scale for rating in ratings}
    for name in names:
        if name not in scales:
            raise UsageError(f'no ratings on scale "{name}" — {nearest(name, scales)}')


def _collect_scores(
    files: Sequence[Path | RecordSource],
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
    notes.append(
        f"lower is better for {', '.join(low)}, higher for all other metrics"
        if low
        else "higher is better for all metrics"
    )
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


def _read_tables(files: Sequence[Path | RecordSource], scoring: ScoreOptions) -> list[ScoreTable]:
    """Read all score tables; each named column must be in at least one of them."""
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
            raise UsageError(f'no score file has a "{name}" column — {nearest(name, names)}')
    return tables


def _split_by_references(scores: Sequence[Score]) -> tuple[list[Score], list[Score]]:
    """Return the scores with the most references of their metric, and those with fewer."""
    max_references: dict[str, int] = {}
    for score in scores:
        max_references[score.metric] = max(max_references.get(score.metric, 0), score.references)
    full = [score for score in scores if score.references == max_references[score.metric]]
    return full, [score for score in scores if score.references < max_references[score.metric]]
