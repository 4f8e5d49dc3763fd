"""Metrics, the best first, beside chance, a trivial baseline and people."""

from __future__ import annotations

from collections.abc import Iterator

from earwitness.data import Apart, Concordance, Concordant, Contrast, Ranked, ScaleConcordance
from earwitness.report.concordance.words import LEVELS, OVER, SWAPPED, value_of
from earwitness.report.methods.words import CORRECTIONS
from earwitness.report.numbers import CORRECTED, cell, p_value, titled
from earwitness.report.parts import Intervals, Matrix, Part, Section, Table

CHANCE = "(chance)"
RATER = "(one rater)"
HALVES = "(half the raters)"


def ranking_sections(found: Concordance) -> Iterator[Section]:
    """A ranking for every question and scale, and the differences behind it."""
    ranks: list[Part] = [_ranked(found, s, r) for s in found.scales for r in s.ranked]
    if ranks:
        yield Section("Ranking", tuple(ranks), _told(found))
    matrices: list[Part] = [
        _matrix(found, scale, rank)
        for scale in found.scales
        for rank in scale.ranked
        if scale.apart
    ]
    if any(isinstance(one, Matrix) and one.contrasts for one in matrices):
        yield Section("Which metric is better", tuple(matrices), _tested(found), place="pages")
    swaps = [_swaps(scale) for scale in found.scales if scale.apart]
    if swaps:
        yield Section("All tests between metrics", tuple(swaps), _ways(), "pages", folded=True)


def shown(metric: Concordant) -> str:
    """A metric's name, marked if it is a baseline or low is good."""
    marks = [*(["baseline"] if metric.baseline else []), *(["↓"] if metric.low_is_good else [])]
    return f"{metric.metric} ({', '.join(marks)})" if marks else metric.metric


def _ranked(found: Concordance, scale: ScaleConcordance, rank: Ranked) -> Intervals:
    value = value_of(rank.figure)
    metrics = {one.metric: one for one in scale.metrics}
    rows = [
        (shown(metrics[name]), {shown(metrics[name]): metrics[name].figures[rank.figure]})
        for group in (*rank.groups, tuple(rank.aside))
        for name in group
    ]
    people = [one for one in scale.ceilings if one.figure == rank.figure]
    others = [(CHANCE, scale.chance[rank.figure])] if rank.figure in scale.chance else []
    others += [row for one in people for row in ((RATER, one.rater), (HALVES, one.halves))]
    title = f"{scale.scale.name}, {LEVELS[rank.figure.level]}: {titled(value)}"
    every = (*rows, *((name, {name: estimate}) for name, estimate in others))
    return Intervals(title, value, "metric", every, _table(found, scale, rank, title))


def _table(found: Concordance, scale: ScaleConcordance, rank: Ranked, title: str) -> Table:
    value, metrics = value_of(rank.figure), {one.metric: one for one in scale.metrics}
    tests = {(one.a, one.b): one for one in scale.apart if one.figure == rank.figure}
    rows = []
    best = rank.groups[0][0] if rank.groups else ""
    for number, group in enumerate(rank.groups, 1):
        for name in group:
            test = tests.get((best, name))
            own = metrics[name].figures[rank.figure]
            p = p_value(test.corrected) if test else "–"
            rows.append((shown(metrics[name]), f"{number}", cell(own, value), f"{own.n:,}", p))
    for name in rank.aside:
        own = metrics[name].figures[rank.figure]
        rows.append((shown(metrics[name]), "–", cell(own, value), f"{own.n:,}", "–"))
    if rank.figure in scale.chance:
        chance = scale.chance[rank.figure]
        rows.append((CHANCE, "", cell(chance, value), f"{chance.n:,}", ""))
    for one in scale.ceilings:
        if one.figure == rank.figure:
            for name, own in ((RATER, one.rater), (HALVES, one.halves)):
                rows.append((name, "", cell(own, value), f"{own.n:,}", ""))
    heading = CORRECTED.get(found.correction, "p").replace("p", "p against the first", 1)
    return Table(title, ("metric", "group", "value", "n", heading), tuple(rows))


def _told(found: Concordance) -> str:
    return (
        f"Intervals generalise to {OVER[found.over]}. Metrics of a group cannot be told from its "
        "first; one without a group (–) has too few values to be ranked. "
        f"{CHANCE}: metrics that know nothing, and the range of {100 * found.level:g} % of "
        f"them; {RATER}: each rater against the mean of the others, and how raters range; "
        f"{HALVES}: one half of the raters against the other."
    )


def _matrix(found: Concordance, scale: ScaleConcordance, rank: Ranked) -> Matrix:
    metrics = {one.metric: one for one in scale.metrics}
    value = value_of(rank.figure)
    systems = {
        shown(metrics[name]): metrics[name].figures[rank.figure]
        for group in rank.groups
        for name in group
    }
    title = f"{scale.scale.name}, {LEVELS[rank.figure.level]}: {titled(value)}"
    pairs = [one for one in scale.apart if one.figure == rank.figure]
    contrasts = tuple(_contrast(found, one, metrics) for one in pairs)
    return Matrix(title, value, systems, contrasts, found.correction)


def _contrast(found: Concordance, one: Apart, metrics: dict[str, Concordant]) -> Contrast:
    a, b = shown(metrics[one.a]), shown(metrics[one.b])
    better = (a if one.difference.value > 0 else b) if one.told else ""
    return Contrast(
        one.figure.coefficient, a, b, one.difference, one.p[found.test], one.corrected, better
    )


def _tested(found: Concordance) -> str:
    corrected = found.correction != "none"
    over = " over all comparisons of a metric with those below it" * corrected
    return (
        f"By permutation: scores of two metrics are swapped, which generalises to "
        f"{SWAPPED[found.test]}; p is {CORRECTIONS[found.correction]}{over}."
    )


def _swaps(scale: ScaleConcordance) -> Table:
    rows = tuple(
        (
            f"{one.a} – {one.b}",
            LEVELS[one.figure.level],
            cell(one.difference, value_of(one.figure)),
            *(p_value(one.p[what]) for what in SWAPPED),
            p_value(one.williams),
        )
        for one in scale.apart
    )
    header = (
        "metrics",
        "",
        "difference",
        *(f"p, {what} swapped" for what in SWAPPED),
        "p, Williams",
    )
    return Table(f"{scale.scale.name}: tests between metrics", header, rows, names=2)


def _ways() -> str:
    told = "; ".join(f"{what} swapped: generalises to {to}" for what, to in SWAPPED.items())
    return (
        f"{told}. None of these is corrected. A metric that favours a system does so on all its "
        "outputs: tests that swap inputs or both do not know it, and raise many false alarms when "
        "read as being about other systems. Williams' test is of Pearson's r over systems."
    )
