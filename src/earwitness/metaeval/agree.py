"""Agreement of metrics with ratings: ``agree``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from earwitness.core import Progress, Rating, Score, StrPath, no_progress
from earwitness.errors import UsageError, nearest
from earwitness.io.source import RecordSource, TableInput, table_inputs
from earwitness.metaeval.join import check_controls, metric_columns
from earwitness.metaeval.pipeline import ScoresAndRatings, analyse_agreement
from earwitness.metaeval.results import Concordance
from earwitness.metaeval.score_tables import LENGTH_METRIC, ScoreTable, output_lengths, read_scores
from earwitness.metaeval.settings import AgreementSettings
from earwitness.scoring.results import Scores
from earwitness.studies.analyse import TABLE_ARGUMENTS, settings_of
from earwitness.studies.analysis.pipeline import RatingSet, with_anchors
from earwitness.studies.analysis.prepare import MEAN_VOTE, resolve_repeats
from earwitness.studies.analysis.settings import AnalysisSettings, AnchorNames, Scales
from earwitness.studies.file.reader import read_study
from earwitness.studies.ratings.collect import (
    TableOptions,
    check_ratings,
    check_roles,
    check_scores,
    column_names,
    only_system,
    rated_fields,
    read_rating_set,
    stored_rating_set,
)
from earwitness.studies.results import RepeatedVote
from earwitness.studies.screening import screen
from earwitness.studies.study import NO_GROUPS, Study, canonical_scale
from earwitness.task import Filter, parse_where
from earwitness.version import __version__

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
    system
        System of all outputs in tables without a column for it.
    groups
        Columns that group items, if tables have them.
    """

    pattern: str = ""
    column: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    metrics: tuple[str, ...] = ()
    low: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    outputs: str = ""
    system: str = ""
    groups: tuple[str, ...] = ()


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
    where: Sequence[str] | str = (),
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
    where
        Conditions on fields of items or raters, which are columns of scores or ratings, such as
        ``"accuracy>=0.9"``; only outputs and ratings for which all of them hold are used.
    progress
        Called with the steps done, their total and the steps done.
    **how
        Fields of ``AgreementSettings``: ``coefficient``, ``levels``, ``generalize``,
        ``mapping``, ``adjust``, ``correction``, ``level``, ``draws``, ``permutations``, ``seed``,
        ``aggregate``, ``partial`` (columns of scores to control for) and ``by`` (fields of items or
        raters).

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
    for name in ("partial", "by"):
        how[name] = _names_of(how.get(name, ()))
    settings = AgreementSettings(version=__version__, **how)
    check_scores(tables, files, study, db, _listener_column(reading))
    plan = study if isinstance(study, Study) or study is None else read_study(Path(study))
    roles: dict[str, Any] = {"reference": reference, "anchor": anchor, "low_is_good": low_is_good}
    if plan is None:
        system = only_system(tables, files, dict(scoring.columns), scoring.pattern, reading)
        constants = {**reading.constants, **({"system": system} if system else {})}
        scoring, reading = replace(scoring, system=system), replace(reading, constants=constants)
    keep = parse_where(where)
    if plan is None:
        _check_columns(keep, [*tables, *files])
    fields = tuple(dict.fromkeys((*settings.by, *(one.field for one in keep.conditions))))
    scoring = _with_controls(replace(scoring, groups=fields), settings.partial)
    by = rated_fields(fields, tables, files, plan)
    analysis = settings_of(plan, screening=screening, scales=ends, by=by or (NO_GROUPS,), **roles)
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
    evidence = replace(material, quality=replace(material.quality, repeats=doubled))
    kept, notes = _screen_ratings(counted, analysis, evidence)
    kept, controls = _drop_controls(kept, analysis)
    notes += [*(scores.notes if isinstance(scores, Scores) else ())]
    notes += _repeat_notes(doubled, analysis.doubled)
    notes += [f"hidden references and anchors excluded: {', '.join(controls)}"] if controls else []
    worse = sorted(analysis.low_scales(kept))
    notes += [f"lower ratings are better on {', '.join(worse)}"] if worse else []
    scales = _check_scales(scales, kept)
    inputs = _collect_scores(tables, scoring, material, kept, notes, settings.partial)
    left = "+".join(controls) or "none"
    low = f"|low_is_good={'+'.join(analysis.low_is_good)}" if analysis.low_is_good else ""
    chosen = f"{analysis.chosen}|left={left}{low}{_pattern_signature(scoring, reading)}"
    known = Scales(analysis.scales, analysis.named_scales.low)
    inputs = _filter_inputs(replace(inputs, kept=chosen, scales=known), keep)
    return analyse_agreement(inputs, settings, scales, progress=progress)


def _repeat_notes(repeats: Sequence[RepeatedVote], rule: str) -> list[str]:
    """Return a note on votes with the same listener, output and scale, if any."""
    votes = sum(len(repeat.values) for repeat in repeats)
    used = "the mean of each is used" if rule == MEAN_VOTE else f"the {rule} vote of each is used"
    ratings = f"{len(repeats):,} rating{'s' * (len(repeats) != 1)}"
    note = f"{votes:,} votes are repeats of {ratings} (same listener, output and scale); {used}"
    return [note] if repeats else []


def _names_of(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return one name or several as a tuple, without ``none``."""
    several = [names] if isinstance(names, str) else names
    return tuple(name for name in dict.fromkeys(several) if name != NO_GROUPS)


def _with_controls(scoring: ScoreOptions, columns: Sequence[str]) -> ScoreOptions:
    """Return the options with the columns to control for, which are baselines."""
    read = [n for n in columns if not (n == LENGTH_METRIC and scoring.outputs)]
    metrics = tuple(dict.fromkeys([*scoring.metrics, *read])) if scoring.metrics else ()
    return replace(scoring, metrics=metrics, baselines=(*scoring.baselines, *columns))


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
    screened = screen(
        ratings,
        analysis.screening,
        reference=analysis.reference,
        anchor=analysis.anchor,
        plays=material.plays,
        devices=material.devices,
        low_is_good=analysis.low_scales(ratings),
        quality=material.quality,
    )
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


def _check_scales(names: Sequence[str], ratings: Iterable[Rating]) -> list[str]:
    """Return the names as the ratings write them; raise UsageError if a scale has no ratings."""
    scales = {rating.scale for rating in ratings}
    found = [canonical_scale(name, scales) for name in names]
    for name in found:
        if name not in scales:
            raise UsageError(f'no ratings on scale "{name}" — {nearest(name, scales)}')
    return list(dict.fromkeys(found))


def _collect_scores(
    files: Sequence[Path | RecordSource],
    scoring: ScoreOptions,
    material: RatingSet,
    ratings: Sequence[Rating],
    screening_notes: Sequence[str],
    partial_columns: Sequence[str] = (),
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
    check_controls(partial_columns, metrics, notes)
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
        groups={**{k: v for table in tables for k, v in table.groups.items()}, **material.groups},
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
            system=scoring.system,
            groups=scoring.groups,
        )
        for path in files
    ]
    names = [name for table in tables for name in table.columns]
    for name in (*scoring.metrics, scoring.column, *dict(scoring.columns).values()):
        if name and name not in names:
            raise UsageError(f'no score file has a "{name}" column — {nearest(name, names)}')
    return tables


def _check_columns(where: Filter, tables: Sequence[Path | RecordSource]) -> None:
    """Raise UsageError if no table has a column of a condition."""
    names = {name for table in tables for name in column_names(table)}
    for condition in where.conditions:
        if names and condition.field not in names:
            remedy = nearest(condition.field, names)
            raise UsageError(f'where: no table has a column "{condition.field}" — {remedy}')


def _filter_inputs(inputs: ScoresAndRatings, where: Filter) -> ScoresAndRatings:
    """Return the scores and ratings of items and raters for which the conditions hold."""
    notes = [*inputs.notes]
    scores, fewer, ratings = inputs.scores, inputs.fewer, inputs.ratings
    for condition in where.conditions:
        if condition.field not in inputs.groups:
            remedy = nearest(condition.field, inputs.groups)
            raise UsageError(f'where: no item or rater has a "{condition.field}" — {remedy}')
        grouping = inputs.groups[condition.field]
        rated = {one.key.item if grouping.of == "item" else one.listener for one in ratings}
        kept = {one for one in rated if one in grouping.groups}
        missing = len(rated) - len(kept)
        kept = {one for one in kept if condition.holds(grouping.groups[one])}
        told = f"{''.join(condition)} holds for {len(kept):,} of {len(rated):,} rated"
        about = f" ({missing:,} without {condition.field})" * bool(missing)
        notes.append(f"{told} {grouping.of}s, which are kept{about}")
        if not kept:
            raise UsageError(f"where: {told} {grouping.of}s{about}")
        if grouping.of == "item":
            ratings = [one for one in ratings if one.key.item in kept]
            scores = [one for one in scores if one.key.item in kept]
            fewer = [one for one in fewer if one.key.item in kept]
        else:
            ratings = [one for one in ratings if one.listener in kept]
    chosen = f"{inputs.kept}{where.signature}"
    return replace(
        inputs, scores=scores, fewer=fewer, ratings=ratings, notes=tuple(notes), kept=chosen
    )


def _split_by_references(scores: Sequence[Score]) -> tuple[list[Score], list[Score]]:
    """Return the scores with the most references of their metric, and those with fewer."""
    if not any(score.references for score in scores):
        return list(scores), []
    max_references: dict[str, int] = {}
    for score in scores:
        max_references[score.metric] = max(max_references.get(score.metric, 0), score.references)
    full = [score for score in scores if score.references == max_references[score.metric]]
    return full, [score for score in scores if score.references < max_references[score.metric]]
