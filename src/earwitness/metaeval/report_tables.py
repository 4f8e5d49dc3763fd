"""Rankings and tables of an agreement report, and the wording of coefficients."""

from __future__ import annotations

from collections.abc import Iterator

from earwitness.core import Contrast, Value
from earwitness.metaeval.results import (
    Concordance,
    Figure,
    MappingErrors,
    MetricDifference,
    MetricFigures,
    MetricRanking,
    ScaleConcordance,
)
from earwitness.report.numbers import CORRECTED_P_HEADINGS, cell, number, p_value, titled
from earwitness.report.parts import (
    Curve,
    Intervals,
    Matrix,
    Part,
    Scatter,
    ScatterPoint,
    Scatters,
    Section,
    Table,
)
from earwitness.studies.report.wording import CORRECTION_WORDING

# --- Wording of coefficients and levels ----------------------------------------------------------


COEFFICIENT_NAMES = {
    "pearson": "Pearson r",
    "spearman": "Spearman ρ",
    "kendall_b": "Kendall τ-b",
    "kendall_c": "Kendall τ-c",
    "tau_23": "τ₂₃",
    "acc_23": "acc₂₃",
    "acc_23_calibrated": "acc₂₃ with calibrated ties",
    "pairwise_accuracy": "pairwise accuracy",
}
SHARE_COEFFICIENTS = ("acc_23", "acc_23_calibrated", "pairwise_accuracy")
LEVEL_PURPOSES = {
    "system": "to rank systems",
    "item": "to rank outputs of one item",
    "global": "over all outputs at once",
}
LEVEL_PHRASES = {
    "system": "over systems",
    "item": "over the systems of each item, averaged over items",
    "global": "over all outputs",
}
RESAMPLING_PHRASES = {
    "systems": "other systems",
    "items": "other items",
    "raters": "other raters",
    "all": "other systems, items and raters",
}
SWAP_PHRASES = {
    "inputs": "other items, of these very systems",
    "systems": "other systems",
    "both": "other outputs, if metrics err on each by itself",
}


def named(figure: Figure) -> str:
    """A figure in words."""
    return f"{COEFFICIENT_NAMES[figure.coefficient]} {LEVEL_PHRASES[figure.level]}"


def value_of(figure: Figure) -> Value:
    """How a figure is read: its range, and that high is good."""
    low = 0.0 if figure.coefficient in SHARE_COEFFICIENTS else -1.0
    return Value(
        COEFFICIENT_NAMES[figure.coefficient], "high", low, 1.0, LEVEL_PHRASES[figure.level]
    )


# --- Ranking of metrics --------------------------------------------------------------------------


CHANCE_LABEL = "(chance)"
RATER_LABEL = "(one rater)"
HALVES_LABEL = "(half the raters)"


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


def shown(metric: MetricFigures) -> str:
    """A metric's name, marked if it is a baseline or low is good."""
    marks = [*(["baseline"] if metric.baseline else []), *(["↓"] if metric.low_is_good else [])]
    return f"{metric.metric} ({', '.join(marks)})" if marks else metric.metric


def _ranked(found: Concordance, scale: ScaleConcordance, rank: MetricRanking) -> Intervals:
    value = value_of(rank.figure)
    metrics = {one.metric: one for one in scale.metrics}
    rows = [
        (shown(metrics[name]), {shown(metrics[name]): metrics[name].figures[rank.figure]})
        for group in (*rank.groups, tuple(rank.aside))
        for name in group
    ]
    people = [one for one in scale.ceilings if one.figure == rank.figure]
    others = [(CHANCE_LABEL, scale.chance[rank.figure])] if rank.figure in scale.chance else []
    others += [
        row for one in people for row in ((RATER_LABEL, one.rater), (HALVES_LABEL, one.halves))
    ]
    title = f"{scale.scale.name}, {LEVEL_PURPOSES[rank.figure.level]}: {titled(value)}"
    every = (*rows, *((name, {name: estimate}) for name, estimate in others))
    return Intervals(title, value, "metric", every, _table(found, scale, rank, title))


def _table(found: Concordance, scale: ScaleConcordance, rank: MetricRanking, title: str) -> Table:
    value, metrics = value_of(rank.figure), {one.metric: one for one in scale.metrics}
    tests = {(one.a, one.b): one for one in scale.apart if one.figure == rank.figure}
    rows = []
    best = rank.groups[0][0] if rank.groups else ""
    for place, group in enumerate(rank.groups, 1):
        for name in group:
            test = tests.get((best, name))
            own = metrics[name].figures[rank.figure]
            p = p_value(test.corrected) if test else "–"
            rows.append((shown(metrics[name]), f"{place}", cell(own, value), f"{own.n:,}", p))
    for name in rank.aside:
        own = metrics[name].figures[rank.figure]
        rows.append((shown(metrics[name]), "–", cell(own, value), f"{own.n:,}", "–"))
    if rank.figure in scale.chance:
        chance = scale.chance[rank.figure]
        rows.append((CHANCE_LABEL, "", cell(chance, value), f"{chance.n:,}", ""))
    for one in scale.ceilings:
        if one.figure == rank.figure:
            for name, own in ((RATER_LABEL, one.rater), (HALVES_LABEL, one.halves)):
                rows.append((name, "", cell(own, value), f"{own.n:,}", ""))
    heading = CORRECTED_P_HEADINGS.get(found.correction, "p").replace("p", "p against the first", 1)
    return Table(title, ("metric", "group", "value", "n", heading), tuple(rows))


def _told(found: Concordance) -> str:
    return (
        f"Intervals generalise to {RESAMPLING_PHRASES[found.over]}. Metrics of a group cannot be "
        "told from its first; one without a group (–) has too few values to be ranked. "
        f"{CHANCE_LABEL}: metrics that know nothing, and the range of {100 * found.level:g} % of "
        f"them; {RATER_LABEL}: each rater against the mean of the others, and how raters range; "
        f"{HALVES_LABEL}: one half of the raters against the other."
    )


def _matrix(found: Concordance, scale: ScaleConcordance, rank: MetricRanking) -> Matrix:
    metrics = {one.metric: one for one in scale.metrics}
    value = value_of(rank.figure)
    systems = {
        shown(metrics[name]): metrics[name].figures[rank.figure]
        for group in rank.groups
        for name in group
    }
    title = f"{scale.scale.name}, {LEVEL_PURPOSES[rank.figure.level]}: {titled(value)}"
    pairs = [one for one in scale.apart if one.figure == rank.figure]
    contrasts = tuple(_contrast(found, one, metrics) for one in pairs)
    return Matrix(title, value, systems, contrasts, found.correction)


def _contrast(
    found: Concordance, one: MetricDifference, metrics: dict[str, MetricFigures]
) -> Contrast:
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
        f"{SWAP_PHRASES[found.test]}; p is {CORRECTION_WORDING[found.correction]}{over}."
    )


def _swaps(scale: ScaleConcordance) -> Table:
    rows = tuple(
        (
            f"{one.a} – {one.b}",
            LEVEL_PURPOSES[one.figure.level],
            cell(one.difference, value_of(one.figure)),
            *(p_value(one.p[what]) for what in SWAP_PHRASES),
            p_value(one.williams),
        )
        for one in scale.apart
    )
    header = (
        "metrics",
        "",
        "difference",
        *(f"p, {what} swapped" for what in SWAP_PHRASES),
        "p, Williams",
    )
    return Table(f"{scale.scale.name}: tests between metrics", header, rows, names=2)


def _ways() -> str:
    told = "; ".join(f"{what} swapped: generalises to {to}" for what, to in SWAP_PHRASES.items())
    return (
        f"{told}. None of these is corrected. A metric that favours a system does so on all its "
        "outputs: tests that swap inputs or both do not know it, and raise many false alarms when "
        "read as being about other systems. Williams' test is of Pearson's r over systems."
    )


# --- Tables and plots ----------------------------------------------------------------------------


SCALE_POINTS_VALUE = Value("points of the scale", "low", 0.0, float("inf"), "points of the scale")
SHARE_VALUE = Value("share", "low", 0.0, 1.0, "share")
CORRELATION_VALUE = Value("r", "high", -1.0, 1.0, "correlation")
MAX_PLOTTED_METRICS = 12


def table_sections(found: Concordance) -> Iterator[Section]:
    """What the ranking rests on."""
    scatters = tuple(_scatters(scale) for scale in found.scales if scale.people)
    yield Section("Metrics beside people", scatters, _drawn(), place="pages")
    every: list[Part] = [one for scale in found.scales for one in _coefficients(scale)]
    yield Section("All coefficients", tuple(every), _counted(), place="pages", folded=True)
    errors = [one for scale in found.scales for one in _errors(scale)]
    if errors:
        yield Section("Errors after a mapping (P.1401)", tuple(errors), _mapped(), place="pages")
    people = [_people(scale) for scale in found.scales if scale.ceilings]
    if people:
        told = "How well people agree with people, by the same coefficients."
        yield Section("People against people", tuple(people), told, "pages", folded=True)
    curves = [one for scale in found.scales for one in _curves(scale)]
    if curves:
        yield Section("How many are enough", tuple(curves), _drawn_anew(), place="pages")


def _scatters(scale: ScaleConcordance) -> Scatters:
    drawn = []
    for metric in scale.metrics[:MAX_PLOTTED_METRICS]:
        points = tuple(
            ScatterPoint(name, own.value, (metric.people or scale.people)[name])
            for name, own in metric.systems.items()
            if name in scale.people
        )
        curves = [one.curve for one in metric.mapped if one.level == "system"]
        own = metric.figures.get(Figure("system", "pearson"))
        told = f"r {number(own.value, CORRELATION_VALUE)}" if own else ""
        drawn.append(Scatter(shown(metric), told, points, curves[0] if curves else ()))
    header = (
        "system",
        f"people, {scale.scale.name}",
        *(shown(one) for one in scale.metrics),
    )
    rows = tuple(
        (
            system,
            cell(people, scale.scale),
            *(_mean(metric.systems.get(system)) for metric in scale.metrics),
        )
        for system, people in scale.people.items()
    )
    title = f"{scale.scale.name}: means of systems"
    return Scatters(title, scale.scale, tuple(drawn), Table(title, header, rows))


def _mean(estimate: object) -> str:
    value = getattr(estimate, "value", float("nan"))
    return "–" if value != value else f"{value:.4g}"


def _drawn() -> str:
    return (
        "Every dot is a system: the mean score across, the mean rating up, with its interval over "
        "listeners. Means are over outputs that the metric and people both know, each output "
        "counting once, adjusted for items where systems do not all have the same. The line is "
        "the mapping of P.1401."
    )


def _coefficients(scale: ScaleConcordance) -> Iterator[Table]:
    for level in LEVEL_PHRASES:
        names = [f for f in (scale.metrics[0].figures if scale.metrics else ()) if f.level == level]
        if not names:
            continue
        series = {shown(one): one.figures for one in scale.metrics}
        if names[0] in scale.chance:
            series[CHANCE_LABEL] = scale.chance
        rows = [
            (
                name,
                f"{own[names[0]].n:,}",
                *(cell(own[f], value_of(f)) if f in own else "–" for f in names),
            )
            for name, own in series.items()
        ]
        title = f"{scale.scale.name}: {LEVEL_PHRASES[level]}"
        header = ("metric", "n", *(COEFFICIENT_NAMES[f.coefficient] for f in names))
        yield Table(title, header, tuple(rows))


def _counted() -> str:
    return (
        "n counts systems, items or outputs. τ-b leaves pairs that either side ties out of its "
        "denominator, τ-c does not; τ₂₃ and acc₂₃ count a pair that both tie as right. Calibrated: "
        "differences of scores up to a margin are ties; the margin is chosen on other items. "
        "Pairwise accuracy: of the pairs of systems that people tell apart, those in one order."
    )


def _errors(scale: ScaleConcordance) -> Iterator[Table]:
    for level in ("system", "global"):
        rows = []
        for metric in scale.metrics:
            for one in metric.mapped:
                if one.level == level:
                    rows.append(
                        (
                            shown(metric),
                            _way(one),
                            f"{one.rmse.n:,}",
                            cell(one.pearson, CORRELATION_VALUE),
                            cell(one.rmse, SCALE_POINTS_VALUE),
                            number(one.rmse_star.value, SCALE_POINTS_VALUE),
                            cell(one.outliers, SHARE_VALUE),
                        )
                    )
        if rows:
            what = "systems" if level == "system" else "outputs"
            header = ("metric", "mapping", "n", "Pearson r", "RMSE", "RMSE*", "outlier ratio")
            yield Table(f"{scale.scale.name}: errors over {what}", header, tuple(rows), names=2)


def _way(one: MappingErrors) -> str:
    return one.used if one.used in (one.asked, "flat") else f"{one.used} (few points)"


def _mapped() -> str:
    return (
        "Scores are mapped to the scale of people by the best curve that never falls (never rises, "
        "where low scores are good). Flat: no such curve fits better than the mean, so there is no "
        "correlation. RMSE is in points of the scale; RMSE* counts only what lies beyond the "
        "95 % interval of people, the outlier ratio how many do."
    )


def _people(scale: ScaleConcordance) -> Table:
    rows = tuple(
        (
            named(one.figure),
            cell(one.rater, value_of(one.figure)),
            cell(one.halves, value_of(one.figure)),
            "–" if one.stepped != one.stepped else f"{one.stepped:.3f}",
        )
        for one in scale.ceilings
    )
    header = ("", "a rater against the others", "one half against the other", "two whole panels")
    return Table(f"{scale.scale.name}: people against people", header, rows)


def _curves(scale: ScaleConcordance) -> Iterator[Curve]:
    names = {one.metric: shown(one) for one in scale.metrics}
    for one in scale.curves:
        points = tuple(
            (float(count), {names[name]: e for name, e in row.items()}) for count, row in one.points
        )
        title = f"{scale.scale.name}, {LEVEL_PURPOSES[one.figure.level]}: by number of {one.what}"
        yield Curve(title, value_of(one.figure), one.what, "", points)


def _drawn_anew() -> str:
    return (
        "With fewer raters of every output, or fewer items: draws of so many, others stay. With as "
        "many as there are: the value itself. The last point is twice as many, read off a line "
        "through half of them and all. The band is where most studies with so many would be. "
        "References: scores with so many of them."
    )
