"""Agreement analysis per rating scale, with warnings and progress."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from earwitness.core import Estimate, Input, Progress, Rating, Score, no_progress
from earwitness.errors import UsageError
from earwitness.metaeval.ceiling import estimate_ceilings
from earwitness.metaeval.figures import (
    MIN_SIZES_FOR_INTERVAL,
    ScaleComparison,
    estimate_chance,
    estimate_figures,
    mapping_errors,
    metric_differences,
)
from earwitness.metaeval.join import (
    MetricColumn,
    join_scores_and_ratings,
    mean_opinions,
    turn_baselines,
    votes_or_abilities,
)
from earwitness.metaeval.levels import evaluate_grid, system_means
from earwitness.metaeval.resampling import RESAMPLED_AXES
from earwitness.metaeval.results import Concordance, MetricFigures, ScaleConcordance
from earwitness.metaeval.sample_size import sample_size_curves
from earwitness.metaeval.settings import AgreementSettings
from earwitness.metaeval.significance import count_swaps, smallest_p
from earwitness.stats import significance
from earwitness.stats.arrays import Bools
from earwitness.stats.significance import Moments
from earwitness.stats.votes import Votes
from earwitness.studies.analysis.settings import Scales, describe_scale

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
    """Yield warnings: small samples, ties, missing values, and metrics that look reversed."""
    table, settings = comparison.table, comparison.settings
    systems, items = len(table.systems), len(table.items)
    raters = comparison.opinions.size[2]
    if systems < MIN_SYSTEMS_WITHOUT_WARNING and "system" in comparison.levels:
        yield (
            f"With only {systems} system{'s' * (systems != 1)}, even a random metric may seem to "
            "agree at the system level (see the row for chance)"
        )
    sizes = dict(zip(("systems", "items", "raters"), (systems, items, raters), strict=True))
    for (unit, count), is_drawn in zip(sizes.items(), RESAMPLED_AXES[settings.over], strict=True):
        if is_drawn and count < MIN_SIZES_FOR_INTERVAL[unit]:
            others = [
                name for name in ("items", "raters") if sizes[name] >= MIN_SIZES_FOR_INTERVAL[name]
            ]
            remedy = f" — use --over {others[0]}" if others else ""
            yield (
                f"Too few {unit} to resample ({count}), so there are no confidence "
                f"intervals{remedy}"
            )
    if isinstance(comparison.opinions, Votes) and raters < MIN_RATERS_WITHOUT_WARNING:
        yield f"Too few raters to measure agreement among raters ({raters})"
    yield from _power_warning(comparison)
    yield from _balance_warnings(comparison)
    yield from _missing_value_warnings(comparison)
    yield from _constant_metric_warnings(comparison)
    yield from _tie_warning(comparison)
    yield from _direction_warnings(comparison)


def _power_warning(comparison: ScaleComparison) -> Iterator[str]:
    """Yield a warning if no difference between metrics can reach significance."""
    settings, systems = comparison.settings, len(comparison.table.systems)
    smallest = smallest_p(systems, settings.swap, settings.permutations)
    compared = len(comparison.table.metrics) - 1
    if compared and smallest * (compared if settings.correction != "none" else 1) >= settings.alpha:
        has_few_swaps = settings.swap == "systems" and count_swaps(systems) <= settings.permutations
        cause = "so few systems" if has_few_swaps else "so few permutations"
        remedy = "compare fewer metrics" if has_few_swaps else "increase --permutations"
        yield (f"With {cause} and so many metrics, no difference can reach significance — {remedy}")


def _balance_warnings(comparison: ScaleComparison) -> Iterator[str]:
    """Yield warnings if systems were rated on different items or by different raters."""
    if not isinstance(comparison.opinions, Votes):
        return
    is_known = ~np.isnan(comparison.opinions.table())
    by_item = is_known.reshape(comparison.opinions.size[1], comparison.opinions.size[0], -1)
    rated = np.asarray(by_item.any(axis=2), bool)
    if (rated != rated.any(axis=1, keepdims=True)).any():
        yield (f"Systems were rated on different items, so {_item_adjustment_sentence(comparison)}")
    has_vote = by_item & rated[:, :, None]
    has_any_vote = by_item.any(axis=1, keepdims=True) & rated[:, :, None]
    if (has_vote != has_any_vote).any():
        yield (
            "Different raters rated different outputs of an item, so ratings also reflect rater "
            "differences"
        )


def _item_adjustment_sentence(comparison: ScaleComparison) -> str:
    """Return how system means account for different items."""
    if comparison.at_level("system") is not comparison:
        return "system means are adjusted for items"
    why = "" if comparison.is_adjustable else " and cannot be adjusted, as some share no items"
    return f"system means also reflect item differences{why} — prefer the item level"


def _constant_metric_warnings(comparison: ScaleComparison) -> Iterator[str]:
    """Yield metrics that are constant across rated systems, or within some items."""
    for level, units in (("system", "systems"), ("item", "items")):
        if level not in comparison.levels:
            continue
        level_values = evaluate_grid(
            comparison.at_level(level).grid, level, [comparison.settings.coefficient]
        )
        for column, metric in enumerate(comparison.table.metrics):
            n, whole = (
                int(level_values.n[0, column]),
                int(level_values.n[0, column] + level_values.undefined[0, column]),
            )
            if np.isnan(level_values.value[0, column]):
                yield f"{metric.name} has no value across {units}: it is the same for all of them"
            elif level == "item" and n < whole:
                yield (
                    f"{metric.name} has a value for only {n:,} of {whole:,} items: in the others "
                    "its scores or the ratings are all tied, or scores are undefined"
                )


def _missing_value_warnings(comparison: ScaleComparison) -> Iterator[str]:
    people = ~np.isnan(comparison.grid.people)
    empty = int((~people).sum())
    if empty and isinstance(comparison.opinions, Votes):
        yield f"{empty:,} of {people.size:,} outputs have no vote and are excluded"
    gaps = np.isnan(comparison.table.scores) & people
    if (gaps != gaps[:1]).any():
        yield (
            "Metrics are undefined for different outputs, so their coefficients are based on "
            "different outputs; tests between two metrics use the outputs that both score"
        )
    for metric, scores in zip(comparison.table.metrics, comparison.table.scores, strict=True):
        missing = int((np.isnan(scores) & people).sum())
        if missing:
            yield (
                f"{metric.name} is undefined for {missing:,} of {int(people.sum()):,} rated outputs"
            )
    unknown = [
        name
        for name, row in zip(comparison.table.systems, people, strict=True)
        if not row.any() and not isinstance(comparison.opinions, Votes)
    ]
    if unknown:
        yield f"Excluded because choices give no finite ability: {', '.join(unknown)}"


def _tie_warning(comparison: ScaleComparison) -> Iterator[str]:
    """Yield a warning if raters often tie two outputs of an item."""
    if "item" not in comparison.levels:
        return
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


def _direction_warnings(comparison: ScaleComparison) -> Iterator[str]:
    """Yield metrics whose better scores go with worse ratings."""
    if len(comparison.table.systems) < MIN_SYSTEMS_FOR_DIRECTION:
        return
    correlations = evaluate_grid(comparison.at_level("system").grid, "system", ["spearman"])
    worse = "higher" if comparison.table.low_is_good else "lower"
    for column, metric in enumerate(comparison.table.metrics):
        if correlations.value[0, column] < -0.5 and not metric.baseline:
            end = "lower" if metric.low_is_good else "higher"
            remedy = "" if metric.low_is_good else f" — use --low {metric.name} if lower is better"
            yield (
                f"{metric.name} runs counter to the ratings: {end} scores, assumed to be better, "
                f"go with {worse} ratings{remedy}"
            )


# --- Analysis of all scales ----------------------------------------------------------------------


@dataclass(frozen=True)
class ScoresAndRatings:
    """Scores and ratings with their names and origin.

    ``fewer`` are scores computed with fewer references than others of the same outputs; ``kept``
    describes the selection of ratings, for the signature.
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
    chosen = names or list(dict.fromkeys(rating.scale for rating in inputs.ratings))
    steps_per_scale, scales = 3 + 2 * len(settings.ranked_figures), []
    steps = Steps(progress, len(chosen) * steps_per_scale)
    for number, name in enumerate(chosen):
        steps.reach(number * steps_per_scale)
        scales.append(_analyse_scale(inputs, settings, name, steps))
    steps.reach(steps.total)
    return Concordance(
        title=inputs.title,
        signature=f"{settings.signature}|{inputs.signature}",
        inputs=inputs.inputs,
        scales=tuple(scales),
        over=settings.over,
        level=settings.level,
        test=settings.swap,
        correction=settings.correction,
        alpha=settings.alpha,
        version=settings.version,
        signatures=inputs.signatures,
        notes=inputs.notes,
    )


def _analyse_scale(
    inputs: ScoresAndRatings, settings: AgreementSettings, name: str, steps: Steps
) -> ScaleConcordance:
    table = join_scores_and_ratings(
        inputs.scores,
        inputs.metrics,
        inputs.ratings,
        name,
        inputs.systems,
        low_is_good=inputs.scales.good_end(name) == "low",
    )
    if table.paired and table.low_is_good:
        raise UsageError(f"low_is_good: {name} has choices between two systems")
    opinions = votes_or_abilities(table)
    table = turn_baselines(table, mean_opinions(opinions))
    comparison = ScaleComparison(table, opinions, settings)
    scale, scale_note = inputs.scales.of(name, table.ratings)
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
        raters=len({rating.listener for rating in table.ratings}),
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
        warnings=(*table.notes, *([scale_note] if scale_note else []), *scale_warnings(comparison)),
        paired=table.paired,
    )


def _people_estimates(comparison: ScaleComparison) -> dict[str, Estimate]:
    """Return the mean rating of each system with its interval over listeners, or its ability."""
    names, opinions = comparison.table.systems, comparison.opinions
    if isinstance(opinions, Votes):
        return _system_estimates(comparison, system_means(opinions), opinions.size[2], "cluster_t")
    values = mean_opinions(opinions)[:, 0]
    undefined = float("nan")
    return {
        name: Estimate(
            float(x), undefined, undefined, comparison.settings.level, opinions.raters, 0, "ability"
        )
        for name, x in zip(names, values.tolist(), strict=True)
    }


def _metric_figures(comparison: ScaleComparison) -> Iterator[MetricFigures]:
    estimates, errors = estimate_figures(comparison), mapping_errors(comparison)
    people, adjusted = comparison.grid.people, comparison.at_level("system")
    for number, metric in enumerate(comparison.table.metrics):
        is_known = ~np.isnan(comparison.table.scores[number]) & ~np.isnan(people)
        yield MetricFigures(
            metric.name,
            estimates[number].figures,
            _metric_means(adjusted, number, is_known),
            int(is_known.sum()),
            metric.low_is_good,
            metric.baseline,
            estimates[number].margins,
            errors[number],
            _people_on_known_outputs(adjusted, is_known),
        )


def _metric_means(comparison: ScaleComparison, number: int, is_known: Bools) -> dict[str, Estimate]:
    """Return the mean score of each system, in the metric's own direction, with a t interval over
    items.

    Only outputs that were rated count, as for the coefficients.
    """
    table = comparison.table
    sign = table.sign(number)
    scores = np.where(is_known, sign * table.scores[number], np.nan)
    return _system_estimates(
        comparison, significance.column_moments(scores.T), len(table.items), "t over items"
    )


def _people_on_known_outputs(comparison: ScaleComparison, is_known: Bools) -> dict[str, Estimate]:
    """Return mean ratings over the outputs that a metric scores, if it does not score all."""
    opinions = comparison.opinions
    if not isinstance(opinions, Votes) or (is_known == ~np.isnan(comparison.grid.people)).all():
        return {}
    return _system_estimates(
        comparison, system_means(opinions, is_known), opinions.size[2], "cluster_t"
    )


def _system_estimates(
    comparison: ScaleComparison, moments: Moments, total: int, method: str
) -> dict[str, Estimate]:
    """Return estimates by system, with t intervals."""
    level = comparison.settings.level
    low, high = significance.mean_interval(moments, level)
    return {
        name: Estimate(
            float(moments.mean[n]),
            float(low[n]),
            float(high[n]),
            level,
            int(moments.n[n]),
            total - int(moments.n[n]),
            method,
        )
        for n, name in enumerate(comparison.table.systems)
    }
