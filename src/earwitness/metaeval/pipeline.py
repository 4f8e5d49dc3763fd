"""Agreement analysis per rating scale, with warnings and progress."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from earwitness.analysis.groups import check_groups
from earwitness.analysis.settings import describe_scale
from earwitness.core import Estimate, Input, Progress, Rating, Score, count_text, no_progress
from earwitness.errors import UsageError
from earwitness.metaeval.ceiling import estimate_ceilings
from earwitness.metaeval.coefficients import SOFT_COEFFICIENT, coefficient_names, plain_coefficient
from earwitness.metaeval.figures import (
    ScaleComparison,
    estimate_chance,
    estimate_figures,
    mapping_errors,
)
from earwitness.metaeval.join import (
    SHOWN_METRICS,
    MetricColumn,
    ScoreRatingTable,
    join_scores_and_ratings,
    mean_opinions,
    turn_baselines,
    undefined_phrase,
    verb_form,
    votes_or_abilities,
)
from earwitness.metaeval.levels import (
    ScoreRatingGrid,
    evaluate_grid,
    known_means,
    system_means,
)
from earwitness.metaeval.ranking import metric_differences
from earwitness.metaeval.resampling import POPULATIONS
from earwitness.metaeval.results import (
    Concordance,
    Figure,
    GroupAgreement,
    MetricFigures,
    ScaleConcordance,
)
from earwitness.metaeval.sample_size import sample_size_curves
from earwitness.metaeval.settings import (
    CORRECTION,
    MIN_SIZES_FOR_INTERVAL,
    MIN_SYSTEMS_FOR_SYSTEM_LEVEL,
    AgreementSettings,
    fit_settings,
    fixed_units,
    size_notes,
)
from earwitness.ratings.records import Groupings
from earwitness.ratings.scales import Scales, find_slips
from earwitness.report.sentences import join_names
from earwitness.stats import significance
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.significance import Moments, build_estimates
from earwitness.stats.votes import MedianVotes, Votes, count_constant_raters

# --- Progress in steps ---------------------------------------------------------------------------


Part = TypeVar("Part")


@dataclass
class Steps:
    """Number of completed steps, out of the total."""

    progress: Progress
    total: int
    done: int = 0

    def complete(self, part: Part) -> Part:
        """Report one more completed step and return its result."""
        self.reach(self.done + 1)
        return part

    def reach(self, done: int) -> None:
        """Report that this many steps are done, including steps that were not needed."""
        self.done = done
        self.progress(done, self.total, done)


# --- Warnings ------------------------------------------------------------------------------------


MIN_SYSTEMS_WITHOUT_WARNING = 10
MIN_RATERS_WITHOUT_WARNING = 3
MIN_SYSTEMS_FOR_DIRECTION = 6  # systems needed to warn that a metric runs counter to the ratings
MAX_TIE_SHARE = 0.25  # share of tied pairs of outputs within items


def scale_warnings(comparison: ScaleComparison) -> Iterator[str]:
    """Yield what may make results wrong or limits them, the most important first.

    Metrics with the same problem share a sentence.
    """
    yield from _direction_warnings(comparison)
    yield from _undefined_metric_warnings(comparison)
    yield from _missing_value_warnings(comparison)
    yield from _sample_size_warnings(comparison)
    yield from _balance_warnings(comparison)


def scale_notes(comparison: ScaleComparison) -> Iterator[str]:
    """Yield notes on coefficients within items."""
    if "item" in comparison.levels and len(_distinct(comparison.grid.people)) > 1:
        yield from _undefined_item_note(comparison)
        yield from _tie_note(comparison)


def _distinct(values: Floats) -> Floats:
    return np.unique(values[~np.isnan(values)])


def _direction_warnings(comparison: ScaleComparison) -> Iterator[str]:
    """Yield metrics whose better scores go with worse ratings."""
    table = comparison.table
    has_few_systems = len(table.systems) < MIN_SYSTEMS_FOR_SYSTEM_LEVEL and not table.paired
    level = "global" if has_few_systems else "system"
    if len(table.items if has_few_systems else table.systems) < MIN_SYSTEMS_FOR_DIRECTION:
        return
    correlations = evaluate_grid(comparison.at_level(level).grid, level, ["spearman"])
    opposed = [
        metric
        for metric, value in zip(comparison.table.metrics, correlations.value[0], strict=True)
        if value < -0.5 and not metric.baseline
    ]
    worse = "higher" if comparison.table.low_is_good else "lower"
    for end in ("higher", "lower"):
        names = [metric.name for metric in opposed if metric.low_is_good == (end == "lower")]
        if not names:
            continue
        which = f"{names[0]} if" if len(names) == 1 else "NAME for those of which"
        remedy = f" — use --low-is-good {which} lower is better" if end == "higher" else ""
        yield (
            f"{join_names(names, SHOWN_METRICS)} {verb_form(names, 'runs', 'run')} counter to the "
            f"ratings: {end} scores, assumed to be better, go with {worse} ratings{remedy}"
        )


def _undefined_metric_warnings(comparison: ScaleComparison) -> Iterator[str]:
    """Yield metrics without a coefficient at a level at which metrics are ranked, and why."""
    names_by_reason: dict[str, list[str]] = {}
    for level in (figure.level for figure in comparison.settings.ranked_figures):
        if level not in comparison.levels:
            continue
        grid = comparison.at_level(level).grid
        values = evaluate_grid(grid, level, [plain_coefficient(comparison.settings.coefficient)])
        for number, metric in enumerate(comparison.table.metrics):
            if np.isnan(values.value[0, number]):
                reason = _undefined_reason(comparison, level, number)
                names_by_reason.setdefault(reason, []).append(metric.name)
    for reason, repeated in names_by_reason.items():
        names = list(dict.fromkeys(repeated))
        if len(names) == len(comparison.table.metrics) > 1:
            yield f"No metric has a coefficient {reason}"
        else:
            verb = verb_form(names, "has", "have")
            yield f"{join_names(names, SHOWN_METRICS)} {verb} no coefficient {reason}"


def _undefined_reason(comparison: ScaleComparison, level: str, metric: int) -> str:
    """Return why a metric has no coefficient at a level."""
    people = comparison.grid.people
    is_known = ~np.isnan(comparison.grid.scores[metric]) & ~np.isnan(people)
    if not is_known.any():
        return "at any level: undefined for all rated outputs"
    if len(_distinct(people)) == 1:
        return "at any level: all outputs have the same mean rating"
    if is_known.sum() == 1:
        return "at any level: undefined for all rated outputs but one"
    if len(_distinct(people[is_known])) == 1:
        return "at any level: all outputs with a score have the same mean rating"
    if level == "item":
        reasons = _undefined_item_reasons(comparison.grid, metric, people.shape[1])
        return f"within items: in each item, {join_names(reasons, conjunction='or')}"
    if level == "global":
        return "across outputs: all outputs have the same score"
    if is_known.any(axis=1).sum() < 2:
        return "across systems: only one system has both scores and ratings"
    ratings = known_means(comparison.at_level(level).grid.people, is_known)
    side = "rating" if len(_distinct(ratings)) == 1 else "score"
    return f"across systems: all systems have the same mean {side}"


def _undefined_item_reasons(grid: ScoreRatingGrid, metric: int, undefined: int) -> list[str]:
    """Return why a metric has no coefficient in this many items."""
    few = tied_ratings = tied_scores = 0
    for scores, people in zip(grid.scores[metric].T, grid.people.T, strict=True):
        is_known = ~np.isnan(scores) & ~np.isnan(people)
        if is_known.sum() < 2:
            few += 1
        elif len(_distinct(people[is_known])) == 1:
            tied_ratings += 1
        elif len(_distinct(scores[is_known])) == 1:
            tied_scores += 1
    counts = {
        "all ratings are tied": tied_ratings,
        "all scores are tied": tied_scores,
        "fewer than two outputs have both a score and a rating": few,
    }
    if few == undefined:  # some coefficients are defined for ties
        return list(counts)[-1:]
    return [reason for reason, count in counts.items() if count]


def _missing_value_warnings(comparison: ScaleComparison) -> Iterator[str]:
    """Yield metrics without some scores, and systems without an ability."""
    rated = ~np.isnan(comparison.grid.people)
    total = int(rated.sum())
    missing = (np.isnan(comparison.table.scores) & rated).sum(axis=(1, 2)).tolist()
    names = [metric.name for metric in comparison.table.metrics]
    counts = {name: count for name, count in zip(names, missing, strict=True) if 0 < count < total}
    if counts:
        several = (
            "; two metrics are compared on the outputs that both score" if len(names) > 1 else ""
        )
        yield f"{undefined_phrase(counts, f'{total:,} rated outputs')}{several}"
    systems = zip(comparison.table.systems, rated, strict=True)
    unknown = [name for name, row in systems if not row.any()]
    if unknown and not isinstance(comparison.opinions, Votes):
        yield f"Excluded because choices give no finite ability: {', '.join(unknown)}"


def _sample_size_warnings(comparison: ScaleComparison) -> Iterator[str]:
    """Yield warnings on few systems, items or raters."""
    sizes = {
        "systems": len(comparison.table.systems),
        "items": len(comparison.table.items),
        "raters": comparison.table.size[2],
    }
    few = [
        f"{unit} ({size})"
        for unit, size in comparison.resampled_sizes.items()
        if size < MIN_SIZES_FOR_INTERVAL[unit]
    ]
    if few:
        narrower = list(POPULATIONS)[list(POPULATIONS).index(comparison.settings.generalize) + 1 :]
        others = [
            population
            for population, (unit, *_) in POPULATIONS.items()
            if population in narrower and sizes[unit] >= MIN_SIZES_FOR_INTERVAL[unit]
        ]
        remedy = f" — for results on these systems, use --generalize {others[0]}" if others else ""
        yield (
            f"Too few {join_names(few)} to resample, so there are no confidence intervals{remedy}"
        )
    if sizes["systems"] < MIN_SYSTEMS_WITHOUT_WARNING and "system" in comparison.levels:
        count = count_text(sizes["systems"], "system")
        yield (
            f"With only {count}, even a random metric may seem to agree at the system level "
            "(see the row for chance)"
        )
    has_votes = isinstance(comparison.opinions, Votes) and not comparison.table.has_means
    if has_votes and sizes["raters"] < MIN_RATERS_WITHOUT_WARNING:
        yield f"Too few raters to measure agreement among raters ({sizes['raters']})"


def _balance_warnings(comparison: ScaleComparison) -> Iterator[str]:
    """Yield warnings if systems were rated on different items or by different raters."""
    if not isinstance(comparison.opinions, Votes):
        return
    is_known = ~np.isnan(comparison.opinions.table())
    by_item = is_known.reshape(comparison.opinions.size[1], comparison.opinions.size[0], -1)
    rated = np.asarray(by_item.any(axis=2), bool)
    if (rated != rated.any(axis=1, keepdims=True)).any():
        account = "are adjusted for items"
        if comparison.at_level("system") is comparison:
            why = (
                " and cannot be adjusted, as some share no items"
                if not comparison.is_adjustable
                else ""
            )
            account = f"also reflect item differences{why} — prefer the item level"
        yield f"Systems were rated on different items, so system means {account}"
    has_vote = by_item & rated[:, :, None]
    has_any_vote = by_item.any(axis=1, keepdims=True) & rated[:, :, None]
    if (has_vote != has_any_vote).any():
        yield (
            "Different raters rated different outputs of an item, so ratings also reflect rater "
            "differences"
        )


def _undefined_item_note(comparison: ScaleComparison) -> Iterator[str]:
    """Yield metrics without a coefficient in some items, and why."""
    total = len(comparison.table.items)
    coefficient = plain_coefficient(comparison.settings.coefficient)
    if coefficient not in coefficient_names("item"):
        return
    n = evaluate_grid(comparison.grid, "item", [coefficient]).n[0].astype(int).tolist()
    some = [number for number, count in enumerate(n) if 0 < count < total]
    if some:
        names = [comparison.table.metrics[number].name for number in some]
        low, high = min(n[number] for number in some), max(n[number] for number in some)
        span = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        reasons = dict.fromkeys(
            reason
            for number in some
            for reason in _undefined_item_reasons(comparison.grid, number, total - n[number])
        )
        verb = verb_form(names, "has", "have")
        yield (
            f"{join_names(names, SHOWN_METRICS)} {verb} a coefficient in only {span} of {total:,} "
            f"items; in the others, "
            f"{join_names([*reasons], conjunction='or')}"
        )


def _tie_note(comparison: ScaleComparison) -> Iterator[str]:
    """Yield a note if raters often tie two outputs of an item."""
    means = comparison.grid.people
    tied = pairs = 0
    for item in means.T:
        defined = item[~np.isnan(item)]
        pairs += len(defined) * (len(defined) - 1) // 2
        _, counts = np.unique(defined, return_counts=True)
        tied += int((counts * (counts - 1) // 2).sum())
    if pairs and tied / pairs > MAX_TIE_SHARE:
        yield (
            f"{100 * tied / pairs:.0f} % of pairs of outputs of the same item have tied ratings; "
            "coefficients treat ties differently (tau_23 and acc_23 count them)"
        )


# --- Analysis of all scales ----------------------------------------------------------------------


@dataclass(frozen=True)
class ScoresAndRatings:
    """Scores and ratings with their names and origin.

    ``fewer`` are scores computed with fewer references than others of the same outputs; ``kept``
    describes the selection of ratings, for the signature; ``groups`` are those of items or raters.
    """

    scores: Sequence[Score]
    metrics: Sequence[MetricColumn]
    ratings: Sequence[Rating]
    title: str = ""
    systems: tuple[str, ...] = ()
    scales: Scales = Scales({})  # noqa: RUF009
    inputs: tuple[Input, ...] = ()
    signatures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    fewer: Sequence[Score] = ()
    kept: str = ""
    groups: Groupings = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """Metrics that were compared, and how ratings were selected."""
        turned = [metric.name for metric in self.metrics if metric.low_is_good]
        trivial = [metric.name for metric in self.metrics if metric.baseline]
        parts = [f"metrics={'+'.join(metric.name for metric in self.metrics)}"]
        parts += [f"low={'+'.join(turned)}"] if turned else []
        parts += [f"baselines={'+'.join(trivial)}"] if trivial else []
        return "|".join([*parts, *([self.kept] if self.kept else [])])


def analyse_agreement(
    inputs: ScoresAndRatings,
    settings: AgreementSettings,
    names: Sequence[str] = (),
    *,
    progress: Progress = no_progress,
) -> Concordance:
    """Measure how well metrics agree with ratings, on the named scales or on all."""
    if not inputs.metrics:
        raise UsageError("no metric found in the scores")
    check_groups(settings.by, inputs.groups, inputs.ratings)
    chosen = names or list(dict.fromkeys(rating.scale for rating in inputs.ratings))
    tables = [
        join_scores_and_ratings(
            inputs.scores,
            inputs.metrics,
            inputs.ratings,
            name,
            inputs.systems,
            low_is_good=inputs.scales.good_end(name) == "low",
        )
        for name in chosen
    ]
    for table in tables:
        if table.paired and table.low_is_good:
            raise UsageError(f"low_is_good: {table.scale} has choices between two systems")
    sizes = [table.size for table in tables]
    if 0 in {raters for *_, raters in sizes} and settings.generalize == "listeners":
        raise UsageError("generalize: means have no listeners — use systems or items")
    paired = any(table.paired for table in tables)
    if paired and settings.coefficient == SOFT_COEFFICIENT:
        raise UsageError(f"{SOFT_COEFFICIENT} needs ratings of outputs, not choices between two")
    asked, settings = settings, fit_settings(settings, sizes, paired=paired)
    steps_per_scale, scales = 3 + 2 * len(settings.ranked_figures), []
    steps = Steps(progress, len(chosen) * steps_per_scale)
    for number, table in enumerate(tables):
        steps.reach(number * steps_per_scale)
        scales.append(_analyse_scale(inputs, settings, table, steps))
    steps.reach(steps.total)
    return Concordance(
        inputs.title,
        f"{settings.signature}|{inputs.signature}",
        inputs.inputs,
        tuple(scales),
        settings.over,
        settings.level,
        CORRECTION,
        settings.alpha,
        settings.version,
        inputs.signatures,
        (*inputs.notes, *size_notes(asked, settings, sizes)),
        settings.aggregate,
        settings.partial,
    )


def _analyse_scale(
    inputs: ScoresAndRatings,
    settings: AgreementSettings,
    table: ScoreRatingTable,
    steps: Steps,
) -> ScaleConcordance:
    opinions = votes_or_abilities(table, settings.aggregate)
    table = turn_baselines(table, mean_opinions(opinions))
    comparison = ScaleComparison(table, opinions, settings)
    scale, scale_note = inputs.scales.of(table.scale, table.ratings)
    has_slips = scale_note and find_slips([rating.value for rating in table.ratings])
    off_scale = [scale_note] if has_slips else []
    figures_ranked = [
        figure for figure in settings.ranked_figures if figure.level in comparison.levels
    ]
    chance_estimates = steps.complete(estimate_chance(comparison))
    differences = [
        steps.complete(metric_differences(comparison, figure)) for figure in figures_ranked
    ]
    return ScaleConcordance(
        scale=describe_scale(scale),
        people=_people_estimates(comparison.at_level("system")),
        items=len(table.items),
        raters=table.size[2],
        votes=len(table.ratings),
        metrics=steps.complete(tuple(_metric_figures(comparison))),
        chance=chance_estimates,
        ranked=tuple(ranking for _, ranking in differences),
        apart=tuple(difference for pairs, _ in differences for difference in pairs),
        ceilings=steps.complete(tuple(estimate_ceilings(comparison))),
        curves=tuple(
            curve
            for figure in figures_ranked
            for curve in steps.complete(
                sample_size_curves(
                    comparison, figure, [*inputs.fewer, *inputs.scores], chance_estimates
                )
            )
        ),
        warnings=(
            *table.notes,
            *off_scale,
            *scale_warnings(comparison),
            *_constant_rater_warning(table, settings),
        ),
        paired=table.paired,
        notes=(*scale_notes(comparison), *([] if off_scale or not scale_note else [scale_note])),
        groups=tuple(
            _group_agreements(inputs.scores, table, inputs.groups, settings, figures_ranked)
        ),
    )


def _constant_rater_warning(table: ScoreRatingTable, settings: AgreementSettings) -> Iterator[str]:
    constant = count_constant_raters(table.votes) if settings.aggregate == "normalized" else 0
    if constant:
        yield (
            f"{count_text(constant, 'rater')} gave the same rating to all outputs, which "
            "normalized ratings count as the mean rating"
        )


def _group_agreements(
    scores: Sequence[Score],
    table: ScoreRatingTable,
    groupings: Groupings,
    settings: AgreementSettings,
    figures: Sequence[Figure],
) -> Iterator[GroupAgreement]:
    """Yield the agreement within each group of each field, in the order of the groups."""
    for field_name in settings.by:
        grouping = groupings[field_name]
        labels = [grouping.group(rating) for rating in table.ratings]
        names = [name for name in dict.fromkeys(grouping.groups.values()) if name in {*labels}]
        for name in names:
            ratings = [
                rating for rating, label in zip(table.ratings, labels, strict=True) if label == name
            ]
            group_table = join_scores_and_ratings(
                scores,
                table.metrics,
                ratings,
                table.scale,
                table.systems,
                low_is_good=table.low_is_good,
            )
            fitted = replace(
                settings,
                fixed=fixed_units(settings.generalize, [group_table.size]),
            )
            opinions = votes_or_abilities(group_table, settings.aggregate)
            comparison = ScaleComparison(group_table, opinions, fitted)
            columns = {figure: comparison.estimate_figure(figure) for figure in figures}
            yield GroupAgreement(
                field_name,
                grouping.of,
                name,
                len(group_table.systems),
                len(group_table.items),
                group_table.size[2],
                len(ratings),
                {
                    metric.name: {figure: column[number] for figure, column in columns.items()}
                    for number, metric in enumerate(table.metrics)
                },
            )


def _people_estimates(
    comparison: ScaleComparison, is_known: Bools | None = None
) -> dict[str, Estimate]:
    """Return the mean rating of each system over known outputs, by default all.

    Intervals are over listeners, those of medians and of means over items; abilities have none.
    """
    opinions, people = comparison.opinions, comparison.grid.people
    if isinstance(opinions, MedianVotes) or comparison.table.has_means:
        kept = people if is_known is None else np.where(is_known, people, np.nan)
        return _mean_estimates(comparison, kept)
    if isinstance(opinions, Votes):
        moments = system_means(opinions, is_known)
        return _system_estimates(comparison, moments, opinions.size[2], "cluster_t")
    values, unknown = people[:, 0], np.full(len(people), np.nan)
    level, raters = comparison.settings.level, opinions.size[2]
    estimates = build_estimates(values, (unknown, unknown), level, raters, 0, "ability")
    return dict(zip(comparison.table.systems, estimates, strict=True))


def _metric_figures(comparison: ScaleComparison) -> Iterator[MetricFigures]:
    estimates, errors = estimate_figures(comparison), mapping_errors(comparison)
    adjusted, is_rated = comparison.at_level("system"), ~np.isnan(comparison.grid.people)
    margins = comparison.calibration.margin if comparison.has_calibration else None
    for number, metric in enumerate(comparison.table.metrics):
        is_known = ~np.isnan(comparison.table.scores[number]) & is_rated
        # in the metric's own direction; only outputs that were rated count, as for coefficients
        scores = np.where(
            is_known, adjusted.table.sign(number) * adjusted.table.scores[number], np.nan
        )
        has_own_people = isinstance(comparison.opinions, Votes) and (is_known != is_rated).any()
        yield MetricFigures(
            metric.name,
            estimates[number],
            _mean_estimates(adjusted, scores),
            int(is_known.sum()),
            metric.low_is_good,
            metric.baseline,
            {} if margins is None else {"item": float(margins[number])},
            errors[number],
            _people_estimates(adjusted, is_known) if has_own_people else {},
        )


def _mean_estimates(comparison: ScaleComparison, values: Floats) -> dict[str, Estimate]:
    """Return the mean of each system, with a t interval over items."""
    moments = significance.column_moments(values.T)
    return _system_estimates(comparison, moments, len(comparison.table.items), "t over items")


def _system_estimates(
    comparison: ScaleComparison, moments: Moments, total: int, method: str
) -> dict[str, Estimate]:
    """Return estimates by system, with t intervals."""
    level, undefined = comparison.settings.level, total - moments.n
    ends = significance.mean_interval(moments, level)
    estimates = build_estimates(moments.mean, ends, level, moments.n, undefined, method)
    return dict(zip(comparison.table.systems, estimates, strict=True))
