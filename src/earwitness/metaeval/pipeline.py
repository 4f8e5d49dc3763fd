"""Agreement analysis scale by scale, with warnings and progress."""

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
    apart,
    chance,
    figures,
    mapped,
)
from earwitness.metaeval.join import MetricColumn, joined, means, voices, with_turned
from earwitness.metaeval.levels import system_means, value
from earwitness.metaeval.resampling import RESAMPLED_AXES
from earwitness.metaeval.results import Concordance, MetricFigures, ScaleConcordance
from earwitness.metaeval.sample_size import curves
from earwitness.metaeval.settings import AgreementSettings
from earwitness.metaeval.significance import all_swaps, least_p
from earwitness.stats import significance
from earwitness.stats.arrays import Bools
from earwitness.stats.significance import Moments
from earwitness.stats.votes import Votes
from earwitness.studies.analysis.settings import Scales, describe_scale

# --- Progress in steps ---------------------------------------------------------------------------


Part = TypeVar("Part")


@dataclass
class Steps:
    """Parts that are done, of all that there may be."""

    progress: Progress
    total: int
    done: int = 0

    def after(self, part: Part) -> Part:
        """The part itself, once it is done and told."""
        self.reach(self.done + 1)
        return part

    def reach(self, done: int) -> None:
        """Tell that so many are done, also if some were not needed."""
        self.done = done
        self.progress(done, self.total, done)


# --- Warnings ------------------------------------------------------------------------------------


MIN_SYSTEMS_WITHOUT_WARNING = 10
MIN_RATERS_WITHOUT_WARNING = 3
MIN_SYSTEMS_FOR_DIRECTION = 6  # systems from which on a metric may be said to be against people
MAX_TIE_SHARE = 0.25  # of pairs of outputs of an item


def warnings(asked: ScaleComparison) -> tuple[str, ...]:
    """Few systems, items or raters; ties; cells without a number; metrics that look turned."""
    return tuple(_warnings(asked))


def _warnings(asked: ScaleComparison) -> Iterator[str]:
    own, settings = asked.joined, asked.settings
    systems, items = len(own.systems), len(own.items)
    raters = asked.given.size[2]
    if systems < MIN_SYSTEMS_WITHOUT_WARNING and "system" in asked.levels:
        yield (
            f"{systems} systems are few: with them even a metric that knows nothing may seem to "
            "agree at the system level (see the row of chance)"
        )
    sizes = dict(zip(("systems", "items", "raters"), (systems, items, raters), strict=True))
    for (what, count), drawn in zip(sizes.items(), RESAMPLED_AXES[settings.over], strict=True):
        if drawn and count < MIN_SIZES_FOR_INTERVAL[what]:
            others = [
                name for name in ("items", "raters") if sizes[name] >= MIN_SIZES_FOR_INTERVAL[name]
            ]
            remedy = f" — say --over {others[0]}" if others else ""
            yield f"{count} {what} are too few to draw anew: there are no intervals{remedy}"
    if isinstance(asked.given, Votes) and raters < MIN_RATERS_WITHOUT_WARNING:
        yield f"{raters} raters are too few to say how well people agree with people"
    yield from _untellable(asked)
    yield from _unbalanced(asked)
    yield from _gaps(asked)
    yield from _silent(asked)
    yield from _ties(asked)
    yield from _turned(asked)


def _untellable(asked: ScaleComparison) -> Iterator[str]:
    """Whether any two metrics could be told apart at all."""
    settings, systems = asked.settings, len(asked.joined.systems)
    least = least_p(systems, settings.swap, settings.permutations)
    compared = len(asked.joined.metrics) - 1
    if compared and least * (compared if settings.correction != "none" else 1) >= settings.alpha:
        few = settings.swap == "systems" and all_swaps(systems) <= settings.permutations
        remedy = "name fewer metrics" if few else "raise --permutations"
        yield f"the best metric cannot be told from others here, however good it is — {remedy}"


def _unbalanced(asked: ScaleComparison) -> Iterator[str]:
    """Systems that were rated on other items, or by other people, than others."""
    if not isinstance(asked.given, Votes):
        return
    known = ~np.isnan(asked.given.table())
    by_item = known.reshape(asked.given.size[1], asked.given.size[0], -1)
    rated = np.asarray(by_item.any(axis=2), bool)
    if (rated != rated.any(axis=1, keepdims=True)).any():
        yield f"systems were not all rated on the same items: {_by_items(asked)}"
    some = by_item & rated[:, :, None]
    first = by_item.any(axis=1, keepdims=True) & rated[:, :, None]
    if (some != first).any():
        yield (
            "outputs of an item were not all rated by the same people: ratings differ by who gave "
            "them, too"
        )


def _by_items(asked: ScaleComparison) -> str:
    """What becomes of means of systems that have different items."""
    if asked.at("system") is not asked:
        return "means of systems are adjusted for their items"
    why = "" if asked.adjustable else ", and some share none, so means cannot be adjusted"
    return f"means of systems differ by their items, too{why} — the item level is safer"


def _silent(asked: ScaleComparison) -> Iterator[str]:
    """Metrics that say the same of all that was rated, or of all outputs of some items."""
    for level, what in (("system", "systems"), ("item", "items")):
        if level not in asked.levels:
            continue
        found = value(asked.at(level).grid, level, [asked.settings.coefficient])
        for place, metric in enumerate(asked.joined.metrics):
            n, whole = int(found.n[0, place]), int(found.n[0, place] + found.undefined[0, place])
            if np.isnan(found.value[0, place]):
                yield f"{metric.name} has no value over {what}: it says the same of all of them"
            elif level == "item" and n < whole:
                yield (
                    f"{metric.name} has a value on {n:,} of {whole:,} items only: on others it, or "
                    "people, say the same of all systems, or it is undefined"
                )


def _gaps(asked: ScaleComparison) -> Iterator[str]:
    people = ~np.isnan(asked.grid.people)
    empty = int((~people).sum())
    if empty and isinstance(asked.given, Votes):
        yield f"{empty:,} of {people.size:,} outputs have no vote; they are left out"
    gaps = np.isnan(asked.joined.scores) & people
    if (gaps != gaps[:1]).any():
        yield (
            "metrics are undefined for different outputs, so their values rest on different ones; "
            "tests between two metrics use those that both know"
        )
    for metric, scores in zip(asked.joined.metrics, asked.joined.scores, strict=True):
        lost = int((np.isnan(scores) & people).sum())
        if lost:
            yield f"{metric.name} is undefined for {lost:,} of {int(people.sum()):,} rated outputs"
    unknown = [
        name
        for name, row in zip(asked.joined.systems, people, strict=True)
        if not row.any() and not isinstance(asked.given, Votes)
    ]
    if unknown:
        yield f"choices leave {', '.join(unknown)} without a finite ability; left out"


def _ties(asked: ScaleComparison) -> Iterator[str]:
    """How often people rate two outputs of an item alike."""
    if "item" not in asked.levels:
        return
    means = asked.grid.people
    same = pairs = 0
    for item in means.T:
        known = item[~np.isnan(item)]
        pairs += len(known) * (len(known) - 1) // 2
        _, counts = np.unique(known, return_counts=True)
        same += int((counts * (counts - 1) // 2).sum())
    if pairs and same / pairs > MAX_TIE_SHARE:
        yield (
            f"people rate {100 * same / pairs:.0f} % of all pairs of outputs of an item alike: "
            "coefficients differ in what they make of ties (tau_23 and acc_23 count them)"
        )


def _turned(asked: ScaleComparison) -> Iterator[str]:
    """Metrics that say the opposite of people."""
    if len(asked.joined.systems) < MIN_SYSTEMS_FOR_DIRECTION:
        return
    found = value(asked.at("system").grid, "system", ["spearman"])
    for place, metric in enumerate(asked.joined.metrics):
        if found.value[0, place] < -0.5 and not metric.baseline:
            end = "low" if metric.low_is_good else "high"
            remedy = "" if metric.low_is_good else f" — say --low {metric.name} if low is good"
            yield f"where {metric.name} is {end}, which is taken as good, people rate low{remedy}"


# --- Analysis of all scales ----------------------------------------------------------------------


@dataclass(frozen=True)
class ScoresAndRatings:
    """Scores and ratings, what they are called, and where they come from.

    ``fewer`` are scores that rest on fewer references than others of the same outputs; ``kept``
    says how ratings were chosen, for the signature.
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
        """Which metrics were held against people, and how ratings were chosen."""
        turned = [one.name for one in self.metrics if one.low_is_good]
        trivial = [one.name for one in self.metrics if one.baseline]
        parts = [f"metrics={'+'.join(one.name for one in self.metrics)}"]
        parts += [f"low={'+'.join(turned)}"] if turned else []
        parts += [f"baselines={'+'.join(trivial)}"] if trivial else []
        return "|".join([*parts, *([self.kept] if self.kept else [])])


def agree(
    both: ScoresAndRatings,
    settings: AgreementSettings,
    names: Sequence[str] = (),
    *,
    progress: Progress = no_progress,
) -> Concordance:
    """How far metrics agree with people, on the named scales or on all."""
    if not both.metrics:
        raise UsageError("there is no metric")
    chosen = names or list(dict.fromkeys(one.scale for one in both.ratings))
    each, found = 3 + 2 * len(settings.ranked), []
    steps = Steps(progress, len(chosen) * each)
    for number, name in enumerate(chosen):
        steps.reach(number * each)
        found.append(_scale(both, settings, name, steps))
    steps.reach(steps.total)
    return Concordance(
        title=both.title,
        signature=f"{settings.signature}|{both.signature}",
        inputs=both.inputs,
        scales=tuple(found),
        over=settings.over,
        level=settings.level,
        test=settings.swap,
        correction=settings.correction,
        alpha=settings.alpha,
        version=settings.version,
        signatures=both.signatures,
        notes=both.notes,
    )


def _scale(
    both: ScoresAndRatings, settings: AgreementSettings, name: str, steps: Steps
) -> ScaleConcordance:
    own = joined(both.scores, both.metrics, both.ratings, name, both.systems)
    given = voices(own)
    own = with_turned(own, means(given))
    asked = ScaleComparison(own, given, settings)
    scale, told = both.scales.of(name, own.ratings)
    ranks = [one for one in settings.ranked if one.level in asked.levels]
    nothing = steps.after(chance(asked))
    differences = [steps.after(apart(asked, figure)) for figure in ranks]
    return ScaleConcordance(
        scale=describe_scale(scale),
        people=_people(asked.at("system")),
        items=len(own.items),
        raters=len({one.listener for one in own.ratings}),
        votes=len(own.ratings),
        metrics=steps.after(tuple(_metrics(asked))),
        chance=nothing,
        ranked=tuple(ranked for _, ranked in differences),
        apart=tuple(one for found, _ in differences for one in found),
        ceilings=steps.after(tuple(estimate_ceilings(asked))),
        curves=tuple(
            one
            for figure in ranks
            for one in steps.after(curves(asked, figure, [*both.fewer, *both.scores], nothing))
        ),
        warnings=(*own.notes, *([told] if told else []), *warnings(asked)),
        paired=own.paired,
    )


def _people(asked: ScaleComparison) -> dict[str, Estimate]:
    """The mean of every system over outputs, with an interval over listeners; or its ability."""
    names, given = asked.joined.systems, asked.given
    if isinstance(given, Votes):
        return _estimates(asked, system_means(given), given.size[2], "cluster_t")
    values = means(given)[:, 0]
    nothing = float("nan")
    return {
        name: Estimate(float(x), nothing, nothing, asked.settings.level, given.raters, 0, "ability")
        for name, x in zip(names, values.tolist(), strict=True)
    }


def _metrics(asked: ScaleComparison) -> Iterator[MetricFigures]:
    own, errors = figures(asked), mapped(asked)
    people, here = asked.grid.people, asked.at("system")
    for number, metric in enumerate(asked.joined.metrics):
        known = ~np.isnan(asked.joined.scores[number]) & ~np.isnan(people)
        yield MetricFigures(
            metric.name,
            own[number].figures,
            _means(here, number, known),
            int(known.sum()),
            metric.low_is_good,
            metric.baseline,
            own[number].margins,
            errors[number],
            _beside(here, known),
        )


def _means(asked: ScaleComparison, number: int, known: Bools) -> dict[str, Estimate]:
    """The mean score of every system as the metric gives it, with an interval over items.

    Of the outputs that people rated, as coefficients have it.
    """
    own = asked.joined
    sign = -1 if own.metrics[number].low_is_good else 1
    scores = np.where(known, sign * own.scores[number], np.nan)
    return _estimates(asked, significance.column_moments(scores.T), len(own.items), "t over items")


def _beside(asked: ScaleComparison, known: Bools) -> dict[str, Estimate]:
    """What people say of the outputs that a metric knows, where it does not know all."""
    given = asked.given
    if not isinstance(given, Votes) or (known == ~np.isnan(asked.grid.people)).all():
        return {}
    return _estimates(asked, system_means(given, known), given.size[2], "cluster_t")


def _estimates(
    asked: ScaleComparison, found: Moments, whole: int, method: str
) -> dict[str, Estimate]:
    """By system, with the t interval."""
    level = asked.settings.level
    low, high = significance.interval(found, level)
    return {
        name: Estimate(
            float(found.mean[n]),
            float(low[n]),
            float(high[n]),
            level,
            int(found.n[n]),
            whole - int(found.n[n]),
            method,
        )
        for n, name in enumerate(asked.joined.systems)
    }
