"""All figures of one scale: coefficients, chance, differences and mapping errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import isnan, nan

import numpy as np

from earwitness.core import Estimate
from earwitness.metaeval.join import ChoiceAbilities, ScoreRatingTable, means
from earwitness.metaeval.levels import (
    LevelValues,
    ScoreRatingGrid,
    complete,
    gaps,
    half_widths,
    item_effects,
    joint,
    value,
    without_items,
)
from earwitness.metaeval.mapping import MAPPING_ORDERS, Accuracy, Fit, accuracy
from earwitness.metaeval.resampling import RESAMPLED_AXES, Interval, between, drawn_values, interval
from earwitness.metaeval.results import Figure, MappingErrors, MetricDifference, MetricRanking
from earwitness.metaeval.settings import CALIBRATED_COEFFICIENT, AgreementSettings
from earwitness.metaeval.significance import SWAP_UNITS, dealt, swapped, williams
from earwitness.metaeval.tie_calibration import calibrated
from earwitness.stats import significance
from earwitness.stats.arrays import Floats
from earwitness.stats.bootstrap import MIN_CASES_FOR_INTERVAL, percentile_interval
from earwitness.stats.significance import CORRECTIONS
from earwitness.stats.votes import Votes

# --- Comparison on one scale ---------------------------------------------------------------------


MIN_SIZES_FOR_INTERVAL = {
    "systems": 6,
    "items": MIN_CASES_FOR_INTERVAL,
    "raters": MIN_CASES_FOR_INTERVAL,
}


@dataclass(frozen=True)
class ScaleComparison:
    """Scores beside people, and how they are to be held against each other."""

    joined: ScoreRatingTable
    given: Votes | ChoiceAbilities
    settings: AgreementSettings
    _drawn: dict[str, Floats] = field(default_factory=dict)

    @cached_property
    def grid(self) -> ScoreRatingGrid:
        """Scores and means of people."""
        return ScoreRatingGrid(self.joined.scores, means(self.given))

    def at(self, level: str) -> ScaleComparison:
        """What is compared at a level: over systems, cells without what is due to their items."""
        return self._adjusted if level == "system" else self

    @property
    def adjustable(self) -> bool:
        """Whether systems have different items, but hang together by those that they share."""
        people = ~np.isnan(self.grid.people)
        tables = [people, *(people & ~np.isnan(self.joined.scores))]
        return not all(complete(one) for one in tables) and joint(people)

    @cached_property
    def _adjusted(self) -> ScaleComparison:
        given = self.given
        asked = self.settings.adjust == "items" and isinstance(given, Votes)
        if not asked or not isinstance(given, Votes) or not self.adjustable:
            return self
        effects = item_effects(self.grid.people)
        scores = without_items(self.joined.scores, self.grid.people)
        return replace(
            self,
            joined=replace(self.joined, scores=scores),
            given=replace(given, values=given.values - effects[given.items]),
            settings=replace(self.settings, adjust="none"),  # nothing is left to adjust
        )

    @property
    def levels(self) -> list[str]:
        """Levels that ratings allow: choices between systems place systems alone."""
        return [one for one in self.settings.levels if one == "system" or not self.joined.paired]

    @property
    def drawable(self) -> bool:
        """Whether there are enough of all that is drawn anew to speak of a spread."""
        raters = self.given.size[2]
        sizes = len(self.joined.systems), len(self.joined.items), raters
        return all(
            size >= least or not drawn
            for size, least, drawn in zip(
                sizes,
                MIN_SIZES_FOR_INTERVAL.values(),
                RESAMPLED_AXES[self.settings.over],
                strict=True,
            )
        )

    def drawn(self, level: str) -> Floats:
        """Coefficients × draws × metrics, of all coefficients at a level; drawn once."""
        if level not in self._drawn:
            self._drawn[level] = self.drawn_with(level, self.settings.figures(level))
        return self._drawn[level]

    def drawn_by(self, figure: Figure) -> Floats:
        """Draws × metrics."""
        place = self.settings.figures(figure.level).index(figure.coefficient)
        return np.asarray(self.drawn(figure.level)[place])

    def drawn_with(self, level: str, names: list[str], margins: Floats | float = 0.0) -> Floats:
        """Coefficients × draws × metrics, where differences up to a margin are ties."""
        own, here = self.settings, self.at(level)
        return drawn_values(
            here.joined.scores,
            here.given,
            level,
            names,
            over=own.over,
            draws=own.draws,
            seed=own.seed,
            margins=margins,
        )

    def interval(self, points: Floats, drawn: Floats, names: list[str]) -> Interval:
        """Ends about values, unknown where too few were drawn from."""
        level = self.settings.level
        return self._known(interval(points, drawn, names, level=level, count=self._count))

    def between(self, points: Floats, figure: Figure, pairs: Sequence[tuple[int, int]]) -> Interval:
        """The same of differences between two metrics."""
        own, drawn = self.settings, self.drawn_by(figure)
        name, count = figure.coefficient, self._count
        return self._known(
            between(points, drawn, name, pairs, over=own.over, level=own.level, count=count)
        )

    @property
    def _count(self) -> int | None:
        """Of how many things draws are, where one kind is drawn."""
        sizes = len(self.joined.systems), len(self.joined.items), self.given.size[2]
        yes = [
            size for size, one in zip(sizes, RESAMPLED_AXES[self.settings.over], strict=True) if one
        ]
        return yes[0] if len(yes) == 1 else None

    def _known(self, found: Interval) -> Interval:
        if self.drawable:
            return found
        nothing = np.full_like(found.low, np.nan)
        return Interval(nothing, nothing, found.undefined)


# --- Coefficients and chance ---------------------------------------------------------------------


CHANCE_METRIC_COUNT = 1000  # metrics that know nothing
CHANCE_METHOD = "chance"


@dataclass
class FigureEstimates:
    """Figures, and margins of calibrated ties by level, of one metric."""

    figures: dict[Figure, Estimate]
    margins: dict[str, float]


def figures(asked: ScaleComparison) -> list[FigureEstimates]:
    """All figures of every metric."""
    found = [FigureEstimates({}, {}) for _ in asked.joined.metrics]
    for level in asked.levels:
        names, grid = asked.settings.figures(level), asked.at(level).grid
        point = value(grid, level, names)
        ends = asked.interval(point.value, asked.drawn(level), names)
        for metric, own in enumerate(found):
            for place, name in enumerate(names):
                one = _estimate(point, ends, place, metric, asked.settings)
                own.figures[Figure(level, name)] = one
        if level == "item":
            _calibrate(asked, grid, found)
    return found


def _estimate(
    point: LevelValues, ends: Interval, place: int, metric: int, settings: AgreementSettings
) -> Estimate:
    return Estimate(
        float(point.value[place, metric]),
        float(ends.low[place, metric]),
        float(ends.high[place, metric]),
        settings.level,
        int(point.n[place, metric]),
        int(point.undefined[place, metric]),
        f"bootstrap over {settings.over}",
    )


def _calibrate(asked: ScaleComparison, grid: ScoreRatingGrid, found: list[FigureEstimates]) -> None:
    """acc_23 where differences of scores up to a margin, chosen on other items, are ties."""
    settings = asked.settings
    tied = calibrated(grid, folds=settings.folds, seed=settings.seed)
    if tied.reason:
        return
    drawn = asked.drawn_with("item", ["acc_23"], tied.by_item)
    ends = asked.interval(tied.value[None], drawn, ["acc_23"])
    point = value(grid, "item", ["acc_23"])
    for metric, own in enumerate(found):
        one = _estimate(point, ends, 0, metric, settings)
        own.figures[Figure("item", CALIBRATED_COEFFICIENT)] = replace(
            one, value=float(tied.value[metric])
        )
        own.margins["item"] = float(tied.margin[metric])


def chance(asked: ScaleComparison) -> dict[Figure, Estimate]:
    """What metrics get that know nothing: their mean, and the range of most of them.

    They are the metrics themselves, whose systems (over all outputs at once: and items) were dealt
    anew among those that people rated. So they favour systems, tie, and lack outputs just as much
    as the metrics do. Noise that is new for every output would favour none, and its range over
    items would be too narrow.
    """
    found: dict[Figure, Estimate] = {}
    for level in asked.levels:
        names, grid = asked.settings.figures(level), asked.at(level).grid
        drawn = dealt(grid, level, names, CHANCE_METRIC_COUNT, asked.settings.seed)
        things = value(grid, level, names).n.max(axis=1)
        for place, name in enumerate(names):
            known = drawn[place][~np.isnan(drawn[place])]
            low, high = percentile_interval(drawn[place][:, None], asked.settings.level)
            found[Figure(level, name)] = Estimate(
                float(known.mean()) if len(known) else float("nan"),
                float(low[0]),
                float(high[0]),
                asked.settings.level,
                int(things[place]),
                CHANCE_METRIC_COUNT - len(known),
                CHANCE_METHOD,
            )
    return found


# --- Differences between metrics -----------------------------------------------------------------


MAX_METRICS_ALL_PAIRS = 12  # metrics up to which all pairs are compared
MIN_COVERAGE_SHARE = 0.5  # of what a value may rest on: with less, a metric has no place
LEVEL_UNITS = {"system": "systems", "item": "items", "global": "outputs"}
MetricPair = tuple[int, int]


def apart(asked: ScaleComparison, figure: Figure) -> tuple[list[MetricDifference], MetricRanking]:
    """Metrics by a figure: who is told from whom, and groups.

    Up to ``MAX_METRICS_ALL_PAIRS`` metrics all pairs are compared; beyond, the first of every group
    with all that rank below it, and every metric with every baseline. p is corrected over all
    comparisons of a metric with those that rank below it. Metrics whose value rests on too little
    have no place.
    """
    asked = asked.at(figure.level)
    whole = value(asked.grid, figure.level, [figure.coefficient])
    values, aside = whole.value[0], _aside(asked, figure, whole)
    order = [int(n) for n in np.argsort(-values, kind="stable") if n not in aside]
    pairs = list(combinations(order, 2))
    if len(order) > MAX_METRICS_ALL_PAIRS:
        trivial = {n for n in order if asked.joined.metrics[n].baseline}
        pairs = [pair for pair in pairs if pair[0] == order[0] or trivial & {*pair}]
    found = _tested(asked, figure, values, pairs)
    groups: list[list[int]] = []
    for place, number in enumerate(order):
        if groups and not found[groups[-1][0], number].told:
            groups[-1].append(number)
            continue
        groups.append([number])
        below = [(number, other) for other in order[place + 1 :]]
        if any(pair not in found for pair in below):
            found |= _tested(asked, figure, values, below)
    names = [one.name for one in asked.joined.metrics]
    placed = tuple(tuple(names[n] for n in group) for group in groups)
    ranked = MetricRanking(figure, placed, {names[n]: reason for n, reason in aside.items()})
    return list(found.values()), ranked


def _aside(asked: ScaleComparison, figure: Figure, found: LevelValues) -> dict[int, str]:
    """Metrics without a place, by number, and why.

    A metric that says the same of all outputs of most items has a value on the few others alone,
    which may be high by chance, or because these are easy. What a value could rest on is what that
    of people beside themselves rests on.
    """
    people = asked.grid.people
    could = value(ScoreRatingGrid(people[None], people), figure.level, [figure.coefficient]).n[0, 0]
    aside = {}
    for place, own in enumerate(found.n[0]):
        if isnan(found.value[0, place]):
            aside[place] = "it has no value"
        elif own < MIN_COVERAGE_SHARE * could:
            aside[place] = (
                f"its value rests on {own:,.0f} of {could:,.0f} {LEVEL_UNITS[figure.level]}"
            )
    return aside


def _tested(
    asked: ScaleComparison, figure: Figure, values: Floats, pairs: Sequence[MetricPair]
) -> dict[MetricPair, MetricDifference]:
    """Differences of pairs, the better metric first."""
    if not pairs:
        return {}
    settings, names = asked.settings, [one.name for one in asked.joined.metrics]
    differences = _differences(asked, figure, values, pairs)
    p = {what: _swapped(asked, figure, what, pairs) for what in SWAP_UNITS}
    corrected = _corrected(p[settings.swap], pairs, CORRECTIONS[settings.correction])
    own = _williams(asked.grid, pairs) if figure.level == "system" else [nan] * len(pairs)
    return {
        (a, b): MetricDifference(
            names[a],
            names[b],
            figure,
            differences[n],
            {what: float(one[n]) for what, one in p.items()},
            corrected[n],
            own[n],
            settings.alpha,
        )
        for n, (a, b) in enumerate(pairs)
    }


def _differences(
    asked: ScaleComparison, figure: Figure, values: Floats, pairs: Sequence[MetricPair]
) -> list[Estimate]:
    ends = asked.between(values, figure, pairs)
    joined = asked.joined
    count = len(joined.systems) if figure.level == "system" else len(joined.items)
    return [
        Estimate(
            float(values[a] - values[b]),
            float(ends.low[n]),
            float(ends.high[n]),
            asked.settings.level,
            count,
            int(ends.undefined[n]),
            f"bootstrap over {asked.settings.over}",
        )
        for n, (a, b) in enumerate(pairs)
    ]


def _swapped(
    asked: ScaleComparison, figure: Figure, what: str, pairs: Sequence[MetricPair]
) -> Floats:
    return swapped(
        asked.joined.scores,
        asked.grid.people,
        pairs,
        figure.level,
        figure.coefficient,
        what,
        permutations=asked.settings.permutations,
        seed=asked.settings.seed,
    )


def _corrected(
    p: Floats, pairs: Sequence[MetricPair], correct: Callable[[Sequence[float]], list[float]]
) -> list[float]:
    """Over all comparisons of a metric with those that rank below it."""
    found = [nan] * len(pairs)
    for first in dict.fromkeys(pair[0] for pair in pairs):
        own = [n for n, pair in enumerate(pairs) if pair[0] == first]
        for n, one in zip(own, correct([float(p[n]) for n in own]), strict=True):
            found[n] = one
    return found


def _williams(grid: ScoreRatingGrid, pairs: Sequence[MetricPair]) -> list[float]:
    """Two-sided p of Williams' test on Pearson's correlations of systems' means."""
    return list(map(float, _each_williams(grid, pairs)))


def _each_williams(grid: ScoreRatingGrid, pairs: Sequence[MetricPair]) -> Iterator[float]:
    for a, b in pairs:
        known = ~(np.isnan(grid.scores[a]) | np.isnan(grid.scores[b]) | np.isnan(grid.people))
        both = np.where(known, grid.scores[[a, b]], np.nan)
        own = value(
            ScoreRatingGrid(both, np.where(known, grid.people, np.nan)), "system", ["pearson"]
        )
        sums, counts = np.where(known, both[0], 0).sum(axis=1), known.sum(axis=1)
        first = sums / np.maximum(counts, 1)
        other = ScoreRatingGrid(both[1:], np.repeat(first[:, None], known.shape[1], axis=1))
        between = value(other, "system", ["pearson"]).value[0, 0]
        yield float(williams(own.value[0, 0], own.value[0, 1], between, int(own.n[0, 0])).p)


# --- Errors after a mapping ----------------------------------------------------------------------


CURVE_POINTS = 41  # of the curve of a mapping
MAPPING_NAMES = {order: name for name, order in MAPPING_ORDERS.items()}


def mapped(asked: ScaleComparison) -> list[tuple[MappingErrors, ...]]:
    """By metric: over systems, and over outputs where single ones were rated."""
    if not isinstance(asked.given, Votes):
        return [() for _ in asked.joined.metrics]
    found: list[list[MappingErrors]] = [[] for _ in asked.joined.metrics]
    for level in asked.levels:
        if level == "item":
            continue
        here = asked.at(level)
        assert isinstance(here.given, Votes)
        points = _systems(here, here.given) if level == "system" else _outputs(here, here.given)
        for metric, own in enumerate(found):
            own.append(_mapped(asked, level, metric, *(side[metric] for side in points)))
    return [tuple(own) for own in found]


def _mapped(
    asked: ScaleComparison, level: str, metric: int, scores: Floats, people: Floats, widths: Floats
) -> MappingErrors:
    """Of scores as the metric gives them; the mapping must rise where high ones are good."""
    settings = asked.settings
    sign = -1 if asked.joined.metrics[metric].low_is_good else 1
    found = accuracy(
        sign * scores,
        people,
        widths,
        mapping=settings.mapping,
        direction=sign,
        level=settings.level,
    )
    return MappingErrors(
        level,
        settings.mapping,
        _used(found.mapping),
        found.pearson,
        found.rmse,
        found.rmse_star,
        found.outliers,
        _curve(found),
    )


def _used(fit: Fit | None) -> str:
    """The mapping by name: flat where no curve beats the mean, mean where points are too few."""
    if fit is None:
        return "none"
    return MAPPING_NAMES[fit.order] if fit.order else "flat" if fit.flat else "mean"


def _curve(found: Accuracy) -> tuple[tuple[float, float], ...]:
    fit: Fit | None = found.mapping
    if fit is None or not np.isfinite(fit.low):
        return ()
    x = np.linspace(fit.low, fit.high, CURVE_POINTS)
    return tuple(zip(x.tolist(), fit.at(x).tolist(), strict=True))


MappingPoints = tuple[Floats, Floats, Floats]  # metrics × points: scores, people, half widths


def _systems(asked: ScaleComparison, votes: Votes) -> MappingPoints:
    """Means of systems over the cells that the metric knows, and intervals over listeners."""
    people = asked.grid.people
    known = ~np.isnan(asked.joined.scores) & ~np.isnan(people)
    count = known.sum(axis=2).astype(np.float64)
    scores = significance.ratio(np.where(known, asked.joined.scores, 0).sum(axis=2), count)
    said = significance.ratio(np.where(known, people, 0).sum(axis=2), count)
    widths = np.empty_like(scores)
    for which, own in gaps(asked.joined.scores):
        widths[which] = half_widths(votes, own, 0.95)
    return scores, said, widths


def _outputs(asked: ScaleComparison, votes: Votes) -> MappingPoints:
    """Every output with the t interval of its votes."""
    table = votes.table().T
    found = significance.column_moments(table)
    low, high = significance.interval(found, 0.95)
    half = ((high - low) / 2).reshape(votes.size[1], votes.size[0]).T.ravel()
    scores = asked.joined.scores.reshape(len(asked.joined.scores), -1)
    people = asked.grid.people.ravel()
    return scores, np.broadcast_to(people, scores.shape), np.broadcast_to(half, scores.shape)
