"""Agreement of metrics with ratings, in tables or from answers to a study: ``agree``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from earwitness.analysis.plan import NO_GROUPS
from earwitness.analysis.rating_set import (
    TABLE_ARGUMENTS,
    TableOptions,
    check_roles,
    column_names,
    only_system,
)
from earwitness.analysis.screening import PRESETS, SCREENS
from earwitness.analysis.settings import NO_RULES, AnchorNames
from earwitness.core import Progress, StrPath, no_progress
from earwitness.errors import UsageError
from earwitness.io.source import RecordSource, TableInput, table_inputs
from earwitness.metaeval.agree import SCORE_ARGUMENTS, ScoreOptions, agree_with_ratings
from earwitness.metaeval.results import Concordance
from earwitness.metaeval.score_tables import LENGTH_METRIC
from earwitness.metaeval.settings import AgreementSettings
from earwitness.ratings.scales import canonical_scale
from earwitness.scoring.results import Scores
from earwitness.studies.analyse import settings_of
from earwitness.studies.collect import (
    check_conditions,
    check_ratings,
    check_scores,
    rated_fields,
    read_rating_set,
    split_conditions,
    stored_rating_set,
)
from earwitness.studies.file.reader import read_study
from earwitness.studies.study import Study
from earwitness.task import parse_where
from earwitness.version import __version__


def agree(
    scores: Scores | TableInput | Sequence[TableInput],
    ratings: TableInput | Sequence[TableInput] = (),
    *,
    study: StrPath | Study | None = None,
    db: StrPath | None = None,
    scales: Annotated[Sequence[str], "NAME[=LOW:HIGH]"] = (),
    scoring: ScoreOptions | None = None,
    reading: TableOptions | None = None,
    screening: Annotated[Sequence[str] | None, (*SCREENS, *PRESETS, NO_RULES)] = None,
    reference: Annotated[str, "NAME"] = "",
    anchors: Annotated[AnchorNames, "[SCALE=]NAME"] = (),
    low_is_good: Annotated[Sequence[str] | str, "NAME"] = (),
    where: Annotated[Sequence[str] | str, "CONDITION"] = (),
    progress: Progress = no_progress,
    **how: Any,
) -> Concordance:
    """Measure how well metrics agree with human ratings.

    Parameters
    ----------
    scores
        Tables of scores per output, with one column per metric: paths, records or data frames; or
        the result of ``score`` with ``samples=True``. Without ratings, the first table has both
        scores and ratings.
    ratings
        Answers to a study, or tables of ratings: paths, records or data frames. Tables without
        listeners have means, over which no intervals are computed.
    study
        Study file, if ``ratings`` or ``db`` hold answers.
    db
        Database with answers.
    scales
        Rating scale, with its range if needed. By default all.
    scoring
        How scores are read and which metrics are used. Its fields ``metrics``, ``baselines``,
        ``outputs``, ``score_pattern`` and ``score_columns`` may also be passed as arguments.
    reading
        How tables of ratings are read. Its fields, except ``scales``, may also be passed
        as arguments.
    screening
        Screening rules with their default limits, or none. By default those of the study.
    reference
        System that is the hidden reference, which is not compared. By default that of the study.
    anchors
        Systems that are anchors, which are not compared; ``SCALE=SYSTEM`` is one of a single scale.
        By default those of the study.
    low_is_good
        Metrics and rating scales where lower is better; a name that is both means both.
    where
        Conditions on fields of items or raters, which are columns of scores or ratings, such as
        ``"accuracy>=0.9"``; only outputs and ratings for which all of them hold are used.
    progress
        Called with the steps done, their total and the steps done.
    **how
        Fields of ``AgreementSettings``: ``coefficient``, ``at``, ``generalize``, ``mapping``,
        ``level``, ``draws``, ``permutations``, ``seed``, ``aggregate``, ``partial`` and ``by``.

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
    how |= {name: _names_of(how[name]) for name in ("at", "partial", "by") if name in how}
    settings = AgreementSettings(version=__version__, **how)
    if not files and study is None and db is None and not isinstance(scores, Scores):
        files, tables = tables[:1], tables[1:]
        reading = _read_as_one(files, reading, scoring, scales)
    check_scores(tables, files, study, db, _listener_column(reading))
    plan = study if isinstance(study, Study) or study is None else read_study(Path(study))
    roles: dict[str, Any] = {"reference": reference, "anchors": anchors}
    if plan is None:
        system = only_system(tables, files, scoring.score_columns, scoring.score_pattern, reading)
        constants = {**reading.constants, **({"system": system} if system else {})}
        scoring, reading = replace(scoring, system=system), replace(reading, constants=constants)
    keep = parse_where(where)
    if plan is None:
        check_conditions(keep, [*tables, *files])
        of_rows, keep = split_conditions(keep, files)
        reading = replace(reading, where=of_rows)
    fields = tuple(
        dict.fromkeys((*settings.by, *(condition.field for condition in keep.conditions)))
    )
    scoring = _with_controls(replace(scoring, groups=fields), settings.partial)
    by = rated_fields(fields, tables, files, plan)
    ranges = [text for text in scales if "=" in text]
    analysis = settings_of(plan, screening=screening, scales=ranges, by=by or (NO_GROUPS,), **roles)
    if db is not None:
        material = stored_rating_set(plan, db, files, analysis)
    else:
        check_ratings(files, study)
        material = read_rating_set(files, plan, reading, analysis)
    if not material.ratings:
        raise UsageError("no ratings found")
    check_roles(material, roles)
    low, rated = _names_of(low_is_good), {rating.scale for rating in material.ratings}
    low_scales = [name for low_name in low if (name := canonical_scale(low_name, rated)) in rated]
    low_scales = list(dict.fromkeys(low_scales))
    analysis = replace(analysis, low_is_good=tuple(low_scales), where=reading.where.signature)
    scoring = replace(scoring, low=low)
    names = [text.partition("=")[0] for text in scales]
    notes = scores.notes if isinstance(scores, Scores) else ()
    return agree_with_ratings(
        tables, material, analysis, settings, scoring, reading, names, keep, notes, progress
    )


def _names_of(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return one name or several as a tuple, without ``none``."""
    several = [names] if isinstance(names, str) else names
    return tuple(name for name in dict.fromkeys(several) if name != NO_GROUPS)


def _with_controls(scoring: ScoreOptions, columns: Sequence[str]) -> ScoreOptions:
    """Return the options with the columns to control for, which are baselines."""
    read = [n for n in columns if not (n == LENGTH_METRIC and scoring.outputs)]
    metrics = tuple(dict.fromkeys([*scoring.metrics, *read])) if scoring.metrics else ()
    return replace(scoring, metrics=metrics, baselines=(*scoring.baselines, *columns))


def _read_as_one(
    tables: Sequence[Path | RecordSource],
    reading: TableOptions,
    scoring: ScoreOptions,
    scales: Sequence[str],
) -> TableOptions:
    """Return how a table with both ratings and scores is read."""
    columns = {name for table in tables for name in column_names(table)}
    named = [text.partition("=")[0] for text in scales]
    return replace(
        reading,
        pattern=reading.pattern or scoring.score_pattern,
        columns={**scoring.score_columns, **reading.columns},
        scales=tuple(name for name in named if name in columns),
        metrics=tuple(name for name in scoring.metrics if name in columns),
    )


def _listener_column(reading: TableOptions) -> str:
    """Return the ratings column with listeners, or an empty string if they come from elsewhere."""
    if "listener" in reading.constants:
        return ""
    return reading.columns.get("listener", "listener")


def _sample_rows(scores: Scores) -> list[dict[str, Any]]:
    """Return the values of every case of a result of ``score``."""
    if scores.samples is None:
        raise UsageError("the scores have no values per output — call score with samples=True")
    return scores.to_records("samples")
