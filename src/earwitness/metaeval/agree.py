"""Agreement of metrics with ratings: ``agree``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

from earwitness.analysis.pipeline import screen_ratings
from earwitness.analysis.prepare import MEAN_VOTE
from earwitness.analysis.rating_set import (
    RatingSet,
    TableOptions,
    filter_ratings,
)
from earwitness.analysis.settings import AnalysisSettings
from earwitness.core import Progress, Rating, StrPath, count_text, group_values
from earwitness.errors import UsageError, nearest
from earwitness.io.source import RecordSource
from earwitness.metaeval.join import check_controls, metric_columns
from earwitness.metaeval.pipeline import ScoresAndRatings, analyse_agreement
from earwitness.metaeval.results import Concordance
from earwitness.metaeval.score_tables import ScoreTable, output_lengths, read_scores
from earwitness.metaeval.settings import AgreementSettings
from earwitness.ratings.scales import Scales, canonical_scale
from earwitness.task import Filter

SCORE_ARGUMENTS = ("score_pattern", "score_columns", "metrics", "baselines", "outputs")


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """How score tables are read, and which metrics are used.

    Parameters
    ----------
    metrics
        Columns of scores that are metrics. By default all.
    baselines
        Columns of scores that are baselines, not metrics.
    outputs
        File of system outputs; adds their length as a baseline.
    score_pattern
        Pattern of sample names in tables of scores.
    score_columns
        Columns of tables of scores by role, such as ``item=clip``, or ``sample=file`` for
        sample names.
    low
        Metrics, or scales of ratings, for which lower is better.
    system
        System of all outputs in tables without a column for it.
    groups
        Columns that group items, if tables have them.
    """

    metrics: Annotated[Sequence[str], "COLUMN"] = ()
    baselines: Annotated[Sequence[str], "COLUMN"] = ()
    outputs: Annotated[StrPath, "FILE"] = ""
    score_pattern: Annotated[str, "PATTERN"] = ""
    score_columns: Annotated[Mapping[str, str], "NAME=COLUMN"] = field(default_factory=dict)
    low: Sequence[str] = ()
    system: str = ""
    groups: Sequence[str] = ()


def agree_with_ratings(
    tables: Sequence[Path | RecordSource],
    material: RatingSet,
    analysis: AnalysisSettings,
    settings: AgreementSettings,
    scoring: ScoreOptions,
    reading: TableOptions,
    scales: Sequence[str],
    keep: Filter,
    score_notes: Sequence[str],
    progress: Progress,
) -> Concordance:
    """Return the agreement of the metrics in tables of scores with the ratings of ``material``.

    Listeners are screened, and hidden references and anchors excluded, as ``analysis`` says;
    ``reading`` is how tables of ratings were read, and ``keep`` the conditions on their fields.
    """
    screened = screen_ratings(material, analysis)
    analysis, notes = screened.settings, [*screened.screening.notes]
    excluded = len({*screened.screening.left})
    if screened.all_fail:
        notes.append("screening would exclude all raters, so all raters are kept")
    elif excluded:
        notes.append(f"screening excluded {count_text(excluded, 'rater')}")
    kept, controls = _drop_controls(screened.kept, analysis)
    notes += score_notes
    if repeats := screened.doubled:
        rule, votes = analysis.doubled, sum(len(repeat.values) for repeat in repeats)
        used = "mean of each" if rule == MEAN_VOTE else f"{rule} vote of each"
        ratings = count_text(len(repeats), "rating")
        about = "(same rater, output and scale)"
        notes.append(f"{votes:,} votes are repeats of {ratings} {about}; the {used} is used")
    notes += [f"hidden references and anchors excluded: {', '.join(controls)}"] if controls else []
    worse = sorted(analysis.low_scales(kept))
    notes += [f"lower ratings are better on {', '.join(worse)}"] if worse else []
    rated = {rating.scale for rating in kept}
    scales = list(dict.fromkeys(canonical_scale(name, rated) for name in scales))
    for name in scales:
        if name not in rated:
            raise UsageError(f'no ratings on scale "{name}" — {nearest(name, rated)}')
    inputs = _collect_scores(
        tables, scoring, material, kept, notes, settings.partial, reading.where
    )
    left = "+".join(controls) or "none"
    low = f"|low_is_good={'+'.join(analysis.low_is_good)}" if analysis.low_is_good else ""
    named = {"scores": scoring.score_pattern, "ratings": reading.pattern}
    patterns = ",".join(f"{name}={pattern}" for name, pattern in named.items() if pattern)
    chosen = f"{analysis.chosen}|left={left}{low}{patterns and f'|patterns({patterns})'}"
    known = Scales(analysis.scales, analysis.named_scales.low)
    inputs = _filter_inputs(replace(inputs, kept=chosen, scales=known), keep)
    return analyse_agreement(inputs, settings, scales, progress=progress)


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
    names = [name for name in analysis.controls if any(name == system for system, _ in rated)]
    names += [
        f"{name} ({scale})"
        for scale in scales
        for name in analysis.controls_of(scale)
        if (name, scale) in rated and name not in analysis.controls
    ]
    kept = [rating for rating in ratings if (rating.key.system, rating.scale) not in dropped]
    return kept or ratings, names


def _collect_scores(
    files: Sequence[Path | RecordSource],
    scoring: ScoreOptions,
    material: RatingSet,
    ratings: Sequence[Rating],
    screening_notes: Sequence[str],
    partial_columns: Sequence[str],
    where: Filter,
) -> ScoresAndRatings:
    tables = _read_tables(files, scoring, [score.metric for score in material.scores], where)
    scores = [*material.scores, *(score for table in tables for score in table.scores)]
    inputs = [table.input for table in tables]
    if scoring.outputs:
        lengths, file = output_lengths(str(scoring.outputs))
        scores += lengths
        inputs.append(file)
    references = group_values((score.metric, score.references) for score in scores)
    most = {metric: max(counts) for metric, counts in references.items()}
    full = [score for score in scores if score.references == most[score.metric]]
    fewer = [score for score in scores if score.references < most[score.metric]]
    rated, known = {rating.scale for rating in material.ratings}, {score.metric for score in full}
    low = [n for n in scoring.low if n in known or canonical_scale(n, rated) not in rated]
    metrics, notes = metric_columns(full, low, scoring.baselines)
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


def _read_tables(
    files: Sequence[Path | RecordSource],
    scoring: ScoreOptions,
    known: Sequence[str],
    where: Filter,
) -> list[ScoreTable]:
    """Read all score tables; each named column must be in one of them, or a ``known`` metric."""
    tables = [
        read_scores(
            path,
            pattern=scoring.score_pattern,
            columns=scoring.score_columns,
            metrics=scoring.metrics,
            several=len(files) > 1 or bool(known),
            system=scoring.system,
            groups=scoring.groups,
            where=where,
        )
        for path in files
    ]
    names = [*dict.fromkeys(known), *(name for table in tables for name in table.columns)]
    for name in (*scoring.metrics, *scoring.score_columns.values()):
        if name and name not in names:
            raise UsageError(f'no score file has a "{name}" column — {nearest(name, names)}')
    return tables


def _filter_inputs(inputs: ScoresAndRatings, where: Filter) -> ScoresAndRatings:
    """Return the scores and ratings of items and raters for which the conditions hold."""
    ratings, items, notes = filter_ratings(inputs.ratings, inputs.groups, where)
    scores, fewer = inputs.scores, inputs.fewer
    if items is not None:
        scores = [score for score in scores if score.key.item in items]
        fewer = [score for score in fewer if score.key.item in items]
    chosen = f"{inputs.kept}{where.signature}"
    notes = [*inputs.notes, *notes]
    return replace(
        inputs, scores=scores, fewer=fewer, ratings=ratings, notes=tuple(notes), kept=chosen
    )
