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
from earwitness.report.numbers import CORRECTED_P_HEADINGS, cell, number, p_value, value_title
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


def figure_phrase(figure: Figure) -> str:
    """A figure in words."""
    return f"{COEFFICIENT_NAMES[figure.coefficient]} {LEVEL_PHRASES[figure.level]}"


def figure_value(figure: Figure) -> Value:
    """How a figure is read: its range, and that high is good."""
    low = 0.0 if figure.coefficient in SHARE_COEFFICIENTS else -1.0
    return Value(
        COEFFICIENT_NAMES[figure.coefficient], "high", low, 1.0, LEVEL_PHRASES[figure.level]
    )


# --- Ranking of metrics --------------------------------------------------------------------------


CHANCE_LABEL = "(chance)"
RATER_LABEL = "(one rater)"
HALVES_LABEL = "(half the raters)"


def ranking_sections(concordance: Concordance) -> Iterator[Section]:
    """A ranking for every question and scale, and the differences behind it."""
    ranks: list[Part] = [
        _ranking_intervals(concordance, scale, rank)
        for scale in concordance.scales
        for rank in scale.ranked
    ]
    if ranks:
        yield Section("Ranking", tuple(ranks), _ranking_note(concordance))
    matrices: list[Part] = [
        _difference_matrix(concordance, scale, rank)
        for scale in concordance.scales
        for rank in scale.ranked
        if scale.apart
    ]
    if any(isinstance(matrix, Matrix) and matrix.contrasts for matrix in matrices):
        yield Section(
            "Which metric is better", tuple(matrices), _test_note(concordance), place="pages"
        )
    swaps = [_test_table(scale) for scale in concordance.scales if scale.apart]
    if swaps:
        yield Section("All tests between metrics", tuple(swaps), _swap_note(), "pages", folded=True)


def metric_label(metric: MetricFigures) -> str:
    """A metric's name, marked if it is a baseline or low is good."""
    marks = [*(["baseline"] if metric.baseline else []), *(["↓"] if metric.low_is_good else [])]
    return f"{metric.metric} ({', '.join(marks)})" if marks else metric.metric


def _ranking_intervals(
    concordance: Concordance, scale: ScaleConcordance, rank: MetricRanking
) -> Intervals:
    value = figure_value(rank.figure)
    metrics = {metric.metric: metric for metric in scale.metrics}
    rows = [
        (
            metric_label(metrics[name]),
            {metric_label(metrics[name]): metrics[name].figures[rank.figure]},
        )
        for group in (*rank.groups, tuple(rank.aside))
        for name in group
    ]
    ceilings = [ceiling for ceiling in scale.ceilings if ceiling.figure == rank.figure]
    others = [(CHANCE_LABEL, scale.chance[rank.figure])] if rank.figure in scale.chance else []
    others += [
        row
        for ceiling in ceilings
        for row in ((RATER_LABEL, ceiling.rater), (HALVES_LABEL, ceiling.halves))
    ]
    title = f"{scale.scale.name}, {LEVEL_PURPOSES[rank.figure.level]}: {value_title(value)}"
    all_rows = (*rows, *((name, {name: estimate}) for name, estimate in others))
    return Intervals(
        title, value, "metric", all_rows, _ranking_table(concordance, scale, rank, title)
    )


def _ranking_table(
    concordance: Concordance, scale: ScaleConcordance, rank: MetricRanking, title: str
) -> Table:
    value, metrics = figure_value(rank.figure), {metric.metric: metric for metric in scale.metrics}
    tests = {
        (difference.a, difference.b): difference
        for difference in scale.apart
        if difference.figure == rank.figure
    }
    rows = []
    best = rank.groups[0][0] if rank.groups else ""
    for place, group in enumerate(rank.groups, 1):
        for name in group:
            test = tests.get((best, name))
            estimate = metrics[name].figures[rank.figure]
            p = p_value(test.corrected) if test else "–"
            rows.append(
                (
                    metric_label(metrics[name]),
                    f"{place}",
                    cell(estimate, value),
                    f"{estimate.n:,}",
                    p,
                )
            )
    for name in rank.aside:
        estimate = metrics[name].figures[rank.figure]
        rows.append(
            (metric_label(metrics[name]), "–", cell(estimate, value), f"{estimate.n:,}", "–")
        )
    if rank.figure in scale.chance:
        chance = scale.chance[rank.figure]
        rows.append((CHANCE_LABEL, "", cell(chance, value), f"{chance.n:,}", ""))
    for ceiling in scale.ceilings:
        if ceiling.figure == rank.figure:
            for name, estimate in ((RATER_LABEL, ceiling.rater), (HALVES_LABEL, ceiling.halves)):
                rows.append((name, "", cell(estimate, value), f"{estimate.n:,}", ""))
    heading = CORRECTED_P_HEADINGS.get(concordance.correction, "p").replace(
        "p", "p against the first", 1
    )
    return Table(title, ("metric", "group", "value", "n", heading), tuple(rows))


def _ranking_note(concordance: Concordance) -> str:
    return (
        f"Intervals generalise to {RESAMPLING_PHRASES[concordance.over]}. Metrics of a group "
        "cannot be "
        "told from its first; one without a group (–) has too few values to be ranked. "
        f"{CHANCE_LABEL}: metrics that know nothing, and the range of {100 * concordance.level:g} "
        "% of "
        f"them; {RATER_LABEL}: each rater against the mean of the others, and how raters range; "
        f"{HALVES_LABEL}: one half of the raters against the other."
    )


def _difference_matrix(
    concordance: Concordance, scale: ScaleConcordance, rank: MetricRanking
) -> Matrix:
    metrics = {metric.metric: metric for metric in scale.metrics}
    value = figure_value(rank.figure)
    systems = {
        metric_label(metrics[name]): metrics[name].figures[rank.figure]
        for group in rank.groups
        for name in group
    }
    title = f"{scale.scale.name}, {LEVEL_PURPOSES[rank.figure.level]}: {value_title(value)}"
    pairs = [difference for difference in scale.apart if difference.figure == rank.figure]
    contrasts = tuple(_contrast(concordance, difference, metrics) for difference in pairs)
    return Matrix(title, value, systems, contrasts, concordance.correction)


def _contrast(
    concordance: Concordance, difference: MetricDifference, metrics: dict[str, MetricFigures]
) -> Contrast:
    a, b = metric_label(metrics[difference.a]), metric_label(metrics[difference.b])
    better = (a if difference.difference.value > 0 else b) if difference.is_distinct else ""
    return Contrast(
        difference.figure.coefficient,
        a,
        b,
        difference.difference,
        difference.p[concordance.test],
        difference.corrected,
        better,
    )


def _test_note(concordance: Concordance) -> str:
    corrected = concordance.correction != "none"
    over = " over all comparisons of a metric with those below it" * corrected
    return (
        f"By permutation: scores of two metrics are swapped, which generalises to "
        f"{SWAP_PHRASES[concordance.test]}; p is "
        f"{CORRECTION_WORDING[concordance.correction]}{over}."
    )


def _test_table(scale: ScaleConcordance) -> Table:
    rows = tuple(
        (
            f"{difference.a} – {difference.b}",
            LEVEL_PURPOSES[difference.figure.level],
            cell(difference.difference, figure_value(difference.figure)),
            *(p_value(difference.p[unit]) for unit in SWAP_PHRASES),
            p_value(difference.williams),
        )
        for difference in scale.apart
    )
    header = (
        "metrics",
        "",
        "difference",
        *(f"p, {unit} swapped" for unit in SWAP_PHRASES),
        "p, Williams",
    )
    return Table(f"{scale.scale.name}: tests between metrics", header, rows, names=2)


def _swap_note() -> str:
    sentence = "; ".join(
        f"{unit} swapped: generalises to {population}" for unit, population in SWAP_PHRASES.items()
    )
    return (
        f"{sentence}. None of these is corrected. A metric that favours a system does so on all "
        "its "
        "outputs: tests that swap inputs or both do not know it, and raise many false alarms when "
        "read as being about other systems. Williams' test is of Pearson's r over systems."
    )


# --- Tables and plots ----------------------------------------------------------------------------


SCALE_POINTS_VALUE = Value("points of the scale", "low", 0.0, float("inf"), "points of the scale")
SHARE_VALUE = Value("share", "low", 0.0, 1.0, "share")
CORRELATION_VALUE = Value("r", "high", -1.0, 1.0, "correlation")
MAX_PLOTTED_METRICS = 12


def table_sections(concordance: Concordance) -> Iterator[Section]:
    """What the ranking rests on."""
    scatters = tuple(_scatter_plots(scale) for scale in concordance.scales if scale.people)
    yield Section("Metrics beside people", scatters, _scatter_note(), place="pages")
    coefficient_tables: list[Part] = [
        table for scale in concordance.scales for table in _coefficient_tables(scale)
    ]
    yield Section(
        "All coefficients",
        tuple(coefficient_tables),
        _coefficient_note(),
        place="pages",
        folded=True,
    )
    errors = [table for scale in concordance.scales for table in _error_tables(scale)]
    if errors:
        yield Section(
            "Errors after a mapping (P.1401)", tuple(errors), _mapping_note(), place="pages"
        )
    ceiling_tables = [_ceiling_table(scale) for scale in concordance.scales if scale.ceilings]
    if ceiling_tables:
        note = "How well people agree with people, by the same coefficients."
        yield Section("People against people", tuple(ceiling_tables), note, "pages", folded=True)
    curves = [curve for scale in concordance.scales for curve in _curve_plots(scale)]
    if curves:
        yield Section("How many are enough", tuple(curves), _curve_note(), place="pages")


def _scatter_plots(scale: ScaleConcordance) -> Scatters:
    plots = []
    for metric in scale.metrics[:MAX_PLOTTED_METRICS]:
        points = tuple(
            ScatterPoint(name, estimate.value, (metric.people or scale.people)[name])
            for name, estimate in metric.systems.items()
            if name in scale.people
        )
        curves = [errors.curve for errors in metric.mapped if errors.level == "system"]
        pearson = metric.figures.get(Figure("system", "pearson"))
        caption = f"r {number(pearson.value, CORRELATION_VALUE)}" if pearson else ""
        plots.append(Scatter(metric_label(metric), caption, points, curves[0] if curves else ()))
    header = (
        "system",
        f"people, {scale.scale.name}",
        *(metric_label(metric) for metric in scale.metrics),
    )
    rows = tuple(
        (
            system,
            cell(people, scale.scale),
            *(_mean_cell(metric.systems.get(system)) for metric in scale.metrics),
        )
        for system, people in scale.people.items()
    )
    title = f"{scale.scale.name}: means of systems"
    return Scatters(title, scale.scale, tuple(plots), Table(title, header, rows))


def _mean_cell(estimate: object) -> str:
    value = getattr(estimate, "value", float("nan"))
    return "–" if value != value else f"{value:.4g}"


def _scatter_note() -> str:
    return (
        "Every dot is a system: the mean score across, the mean rating up, with its interval over "
        "listeners. Means are over outputs that the metric and people both know, each output "
        "counting once, adjusted for items where systems do not all have the same. The line is "
        "the mapping of P.1401."
    )


def _coefficient_tables(scale: ScaleConcordance) -> Iterator[Table]:
    for level in LEVEL_PHRASES:
        names = [f for f in (scale.metrics[0].figures if scale.metrics else ()) if f.level == level]
        if not names:
            continue
        series = {metric_label(metric): metric.figures for metric in scale.metrics}
        if names[0] in scale.chance:
            series[CHANCE_LABEL] = scale.chance
        rows = [
            (
                name,
                f"{estimates[names[0]].n:,}",
                *(cell(estimates[f], figure_value(f)) if f in estimates else "–" for f in names),
            )
            for name, estimates in series.items()
        ]
        title = f"{scale.scale.name}: {LEVEL_PHRASES[level]}"
        header = ("metric", "n", *(COEFFICIENT_NAMES[f.coefficient] for f in names))
        yield Table(title, header, tuple(rows))


def _coefficient_note() -> str:
    return (
        "n counts systems, items or outputs. τ-b leaves pairs that either side ties out of its "
        "denominator, τ-c does not; τ₂₃ and acc₂₃ count a pair that both tie as right. Calibrated: "
        "differences of scores up to a margin are ties; the margin is chosen on other items. "
        "Pairwise accuracy: of the pairs of systems that people tell apart, those in one order."
    )


def _error_tables(scale: ScaleConcordance) -> Iterator[Table]:
    for level in ("system", "global"):
        rows = []
        for metric in scale.metrics:
            for errors in metric.mapped:
                if errors.level == level:
                    rows.append(
                        (
                            metric_label(metric),
                            _mapping_cell(errors),
                            f"{errors.rmse.n:,}",
                            cell(errors.pearson, CORRELATION_VALUE),
                            cell(errors.rmse, SCALE_POINTS_VALUE),
                            number(errors.rmse_star.value, SCALE_POINTS_VALUE),
                            cell(errors.outliers, SHARE_VALUE),
                        )
                    )
        if rows:
            what = "systems" if level == "system" else "outputs"
            header = ("metric", "mapping", "n", "Pearson r", "RMSE", "RMSE*", "outlier ratio")
            yield Table(f"{scale.scale.name}: errors over {what}", header, tuple(rows), names=2)


def _mapping_cell(errors: MappingErrors) -> str:
    return errors.used if errors.used in (errors.asked, "flat") else f"{errors.used} (few points)"


def _mapping_note() -> str:
    return (
        "Scores are mapped to the scale of people by the best curve that never falls (never rises, "
        "where low scores are good). Flat: no such curve fits better than the mean, so there is no "
        "correlation. RMSE is in points of the scale; RMSE* counts only what lies beyond the "
        "95 % interval of people, the outlier ratio how many do."
    )


def _ceiling_table(scale: ScaleConcordance) -> Table:
    rows = tuple(
        (
            figure_phrase(ceiling.figure),
            cell(ceiling.rater, figure_value(ceiling.figure)),
            cell(ceiling.halves, figure_value(ceiling.figure)),
            "–" if ceiling.stepped != ceiling.stepped else f"{ceiling.stepped:.3f}",
        )
        for ceiling in scale.ceilings
    )
    header = ("", "a rater against the others", "one half against the other", "two whole panels")
    return Table(f"{scale.scale.name}: people against people", header, rows)


def _curve_plots(scale: ScaleConcordance) -> Iterator[Curve]:
    names = {metric.metric: metric_label(metric) for metric in scale.metrics}
    for curve in scale.curves:
        points = tuple(
            (float(count), {names[name]: estimate for name, estimate in row.items()})
            for count, row in curve.points
        )
        title = (
            f"{scale.scale.name}, {LEVEL_PURPOSES[curve.figure.level]}: by number of {curve.what}"
        )
        yield Curve(title, figure_value(curve.figure), curve.what, "", points)


def _curve_note() -> str:
    return (
        "With fewer raters of every output, or fewer items: draws of so many, others stay. With as "
        "many as there are: the value itself. The last point is twice as many, read off a line "
        "through half of them and all. The band is where most studies with so many would be. "
        "References: scores with so many of them."
    )
