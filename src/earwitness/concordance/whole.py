"""Scores and ratings to concordance, scale by scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from earwitness.concordance.apart import apart
from earwitness.concordance.asked import Asked
from earwitness.concordance.ceilings import ceilings
from earwitness.concordance.enough import curves
from earwitness.concordance.figures import chance, figures
from earwitness.concordance.joined import Metric, joined, with_turned
from earwitness.concordance.mapped import mapped
from earwitness.concordance.people import means, voices
from earwitness.concordance.settings import Settings
from earwitness.concordance.steps import Steps
from earwitness.concordance.warned import warnings
from earwitness.data import (
    Concordance,
    Concordant,
    Estimate,
    Input,
    Progress,
    Rating,
    ScaleConcordance,
    Score,
    no_progress,
)
from earwitness.errors import UsageError
from earwitness.listening.analysis.scales import Scales, described
from earwitness.stats import student
from earwitness.stats.concord.cells import system_means
from earwitness.stats.exact import Bools
from earwitness.stats.student import Moments
from earwitness.stats.votes import Votes


@dataclass(frozen=True)
class Both:
    """Scores and ratings, what they are called, and where they come from.

    ``fewer`` are scores that rest on fewer references than others of the same outputs; ``kept``
    says how ratings were chosen, for the signature.
    """

    scores: Sequence[Score]
    metrics: Sequence[Metric]
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
    both: Both, settings: Settings, names: Sequence[str] = (), *, progress: Progress = no_progress
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


def _scale(both: Both, settings: Settings, name: str, steps: Steps) -> ScaleConcordance:
    own = joined(both.scores, both.metrics, both.ratings, name, both.systems)
    given = voices(own)
    own = with_turned(own, means(given))
    asked = Asked(own, given, settings)
    scale, told = both.scales.of(name, own.ratings)
    ranks = [one for one in settings.ranked if one.level in asked.levels]
    nothing = steps.after(chance(asked))
    differences = [steps.after(apart(asked, figure)) for figure in ranks]
    return ScaleConcordance(
        scale=described(scale),
        people=_people(asked.at("system")),
        items=len(own.items),
        raters=len({one.listener for one in own.ratings}),
        votes=len(own.ratings),
        metrics=steps.after(tuple(_metrics(asked))),
        chance=nothing,
        ranked=tuple(ranked for _, ranked in differences),
        apart=tuple(one for found, _ in differences for one in found),
        ceilings=steps.after(tuple(ceilings(asked))),
        curves=tuple(
            one
            for figure in ranks
            for one in steps.after(curves(asked, figure, [*both.fewer, *both.scores], nothing))
        ),
        warnings=(*own.notes, *([told] if told else []), *warnings(asked)),
        paired=own.paired,
    )


def _people(asked: Asked) -> dict[str, Estimate]:
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


def _metrics(asked: Asked) -> Iterator[Concordant]:
    own, errors = figures(asked), mapped(asked)
    people, here = asked.grid.people, asked.at("system")
    for number, metric in enumerate(asked.joined.metrics):
        known = ~np.isnan(asked.joined.scores[number]) & ~np.isnan(people)
        yield Concordant(
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


def _means(asked: Asked, number: int, known: Bools) -> dict[str, Estimate]:
    """The mean score of every system as the metric gives it, with an interval over items.

    Of the outputs that people rated, as coefficients have it.
    """
    own = asked.joined
    sign = -1 if own.metrics[number].low_is_good else 1
    scores = np.where(known, sign * own.scores[number], np.nan)
    return _estimates(asked, student.column_moments(scores.T), len(own.items), "t over items")


def _beside(asked: Asked, known: Bools) -> dict[str, Estimate]:
    """What people say of the outputs that a metric knows, where it does not know all."""
    given = asked.given
    if not isinstance(given, Votes) or (known == ~np.isnan(asked.grid.people)).all():
        return {}
    return _estimates(asked, system_means(given, known), given.size[2], "cluster_t")


def _estimates(asked: Asked, found: Moments, whole: int, method: str) -> dict[str, Estimate]:
    """By system, with the t interval."""
    level = asked.settings.level
    low, high = student.interval(found, level)
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
