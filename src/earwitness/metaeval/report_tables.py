"""Rankings and tables of an agreement report, and the wording of coefficients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import floor, inf, isnan
from typing import NamedTuple

from earwitness.core import Contrast, Estimate, Value
from earwitness.metaeval.coefficients import PARTIAL_COEFFICIENTS
from earwitness.metaeval.results import (
    Concordance,
    Figure,
    MetricFigures,
    ScaleConcordance,
    ScaleRanking,
)
from earwitness.report.columns import Column, Columns, N, draw_rows
from earwitness.report.numbers import CORRECTED_P_HEADINGS, cell, number, p_value, value_title
from earwitness.report.parts import (
    Curve,
    Intervals,
    Matrix,
    Scatter,
    ScatterPoint,
    Scatters,
    Section,
    Table,
)

# --- Wording of coefficients and levels ----------------------------------------------------------


def _correlation(name: str) -> Value:
    return Value(name, "high", -1.0, 1.0, "")


COEFFICIENT_VALUES = {
    "pearson": _correlation("Pearson's r"),
    "spearman": _correlation("Spearman's ρ"),
    "kendall_b": _correlation("Kendall's τ-b"),
    "kendall_c": _correlation("Kendall's τ-c"),
    "tau_23": _correlation("τ₂₃"),
    "acc_23": Value.share("acc₂₃", ""),
    "acc_23_calibrated": Value.share("acc₂₃ with tie calibration", ""),
    "pairwise_accuracy": Value.share("pairwise accuracy", ""),
    "soft_pairwise_accuracy": Value.share("soft pairwise accuracy", ""),
    "partial_pearson": _correlation("partial r"),
    "partial_spearman": _correlation("partial ρ"),
    "partial_kendall": _correlation("partial τ-b"),
}
# headings of the coefficients that are in every ranking
CORRELATIONS = {"pearson": "Pearson", "spearman": "Spearman", "kendall_b": "Kendall"}


class LevelWording(NamedTuple):
    """What metrics rank at a level, the level in a sentence, and as a label."""

    ranked: str
    phrase: str
    label: str


LEVEL_WORDING = {
    "system": LevelWording("systems", "across systems", "systems"),
    "item": LevelWording(
        "outputs within items",
        "across systems within each item (averaged over items)",
        "within items",
    ),
    "global": LevelWording("all outputs", "across all outputs", "all outputs"),
}


class SwapWording(NamedTuple):
    """Heading of p of a test that swaps units, what it swaps, and to what it generalizes."""

    heading: str
    swapped: str = ""
    scope: str = ""


SWAP_WORDING = {
    "systems": SwapWording("p, systems swapped", "the scores of whole systems", "other systems"),
    "items": SwapWording(
        "p, items swapped (on these systems)",
        "the scores of whole items",
        "other items on these systems",
    ),
    "outputs": SwapWording("p, outputs swapped (on these systems)"),
}
CORRECTED_PHRASE = "corrected by the step-down max-T method"


def resampled_units(over: str) -> str:
    """Return the units that the bootstrap resamples, in words."""
    return "systems, items and raters" if over == "all" else over.replace("+", " and ")


def ranking_title(figure: Figure) -> str:
    """Return what is ranked at the level of a coefficient."""
    return f"ranking of {LEVEL_WORDING[figure.level].ranked}"


def figure_value(figure: Figure) -> Value:
    """Return the range of a coefficient; higher is better."""
    return replace(COEFFICIENT_VALUES[figure.coefficient], doc=LEVEL_WORDING[figure.level].phrase)


def figure_column(figure: Figure, heading: str = "", *, counted: bool = False) -> Column:
    """Return the column of a coefficient."""
    value = figure_value(figure)
    return Column(heading or value.name, value=value, counted=counted)


# --- Ranking of metrics --------------------------------------------------------------------------


CHANCE_LABEL = "(chance)"
RATER_LABEL = "(one rater)"
HALVES_LABEL = "(half the raters)"
CONTROL_LABELS = CHANCE_LABEL, RATER_LABEL, HALVES_LABEL


def ranking_sections(concordance: Concordance) -> Iterator[Section]:
    """Yield the ranking of metrics per level and scale, and the tests behind it."""
    ranks = tuple(map(_ranking_intervals, concordance.rankings))
    if ranks:
        yield Section("Ranking", ranks, _ranking_note(concordance))
    apart = [ranking for ranking in concordance.rankings if ranking.scale.apart]
    matrices = tuple(map(_difference_matrix, apart))
    if any(matrix.contrasts for matrix in matrices):
        note = _test_note(concordance)
        yield Section("Pairwise comparisons of metrics", matrices, note, place="pages")
    yield from partial_sections(concordance)
    yield from group_sections(concordance)


def metric_label(metric: MetricFigures) -> str:
    """Return the name of a metric, marked if it is a baseline (baseline) or lower is better (↓)."""
    marks = [*(["baseline"] if metric.baseline else []), *(["↓"] if metric.low_is_good else [])]
    return f"{metric.metric} ({', '.join(marks)})" if marks else metric.metric


def metric_labels(scale: ScaleConcordance) -> dict[str, str]:
    """Return the labels of metrics by name."""
    return {metric.metric: metric_label(metric) for metric in scale.metrics}


def scale_figures(scale: ScaleConcordance) -> dict[str, Mapping[Figure, Estimate]]:
    """Return the coefficients of metrics by label, then those of chance and of raters."""
    return {
        **{metric_label(metric): metric.figures for metric in scale.metrics},
        CHANCE_LABEL: scale.chance,
        RATER_LABEL: {ceiling.figure: ceiling.rater for ceiling in scale.ceilings},
        HALVES_LABEL: {ceiling.figure: ceiling.halves for ceiling in scale.ceilings},
    }


def _ranking_intervals(ranking: ScaleRanking) -> Intervals:
    scale, figure, labels = ranking.scale, ranking.figure, metric_labels(ranking.scale)
    value, figures = figure_value(figure), scale_figures(scale)
    ranked = [labels[name] for name in (*ranking.rank.order, *ranking.rank.aside)]
    controls = [label for label in CONTROL_LABELS if figure in figures[label]]
    shown = {label: figures[label] for label in (*ranked, *controls)}
    title = f"{scale.scale.name}, {ranking_title(figure)}: {value_title(value)}"
    rows = tuple((label, {label: known[figure]}) for label, known in shown.items())
    return Intervals(title, value, "metric", rows, _ranking_table(ranking, title, shown))


def _ranking_table(
    ranking: ScaleRanking, title: str, shown: Mapping[str, Mapping[Figure, Estimate]]
) -> Table:
    """Return the ranking, with the values of the other two correlations beside it."""
    figure, labels = ranking.figure, metric_labels(ranking.scale)
    others = [Figure(figure.level, n) for n in CORRELATIONS if n != figure.coefficient]
    places, p = dict.fromkeys(CONTROL_LABELS, ""), dict.fromkeys(CONTROL_LABELS, "")
    for place, group in enumerate(ranking.rank.groups, 1):
        places |= {labels[name]: f"{place}" for name in group}
    for test in ranking.differences:
        if ranking.names and ranking.names[0] in (test.a, test.b):
            name = test.b if test.a == ranking.names[0] else test.a
            p[labels[name]] = p_value(test.corrected)
    rows = (
        (
            label,
            places.get(label, "–"),
            known[figure],
            *(known[other].value if other in known else None for other in others),
            known[figure].n,
            p.get(label, "–"),
        )
        for label, known in shown.items()
    )
    values = [
        figure_column(column, CORRELATIONS.get(column.coefficient, "value"))
        for column in (figure, *others)
    ]
    p_heading = CORRECTED_P_HEADINGS.get(ranking.correction, "p").replace("p", "p vs best", 1)
    columns: Columns = ("metric", "group", *values, N, Column(p_heading))
    return draw_rows(title, columns, rows)


def has_one_system(concordance: Concordance) -> bool:
    """Return whether all outputs are of one system."""
    return all(len(scale.people) == 1 for scale in concordance.scales)


def _ranking_note(concordance: Concordance) -> str:
    percent = f"{100 * concordance.level:g} %"
    permuted = "items" if has_one_system(concordance) else "systems"
    population = resampled_units(concordance.over)
    generalizing = f"Confidence intervals generalize to other {population}. "
    raters = (
        f" {RATER_LABEL}: each rater compared with the mean of the other raters, with the "
        f"{percent} range across raters. {HALVES_LABEL}: one random half of the raters compared "
        f"with the other, with the {percent} range across splits."
    )
    return (
        "Metrics are ranked by the coefficient in the title; the other correlations are Pearson's "
        f"r, Spearman's ρ and Kendall's τ-b. {generalizing if concordance.has_intervals else ''}"
        "Metrics in the same group are not significantly worse than its best one; baselines, and "
        "metrics with too few values to be ranked, have no group (–). "
        f"{_unit_sentence(concordance)} A "
        f"metric within the range of {CHANCE_LABEL} is no better than random. {CHANCE_LABEL}: "
        f"mean and {percent} range with {permuted} permuted at random."
        f"{raters if any(scale.raters for scale in concordance.scales) else ''}"
    )


def _unit_sentence(concordance: Concordance) -> str:
    """Return what the tests between metrics swap, and to what they generalize."""
    phrases = dict.fromkeys(
        too_few_phrase(ranking, "a difference between metrics")
        if ranking.has_few_units
        else f"tests between metrics swap {SWAP_WORDING[test.unit].swapped} "
        f"({test.units:,} {test.unit}), which generalizes to {SWAP_WORDING[test.unit].scope}"
        for ranking in concordance.rankings
        for test in [ranking.rank.test]
    )
    return " ".join(f"{phrase[0].upper()}{phrase[1:]}." for phrase in phrases)


def too_few_phrase(ranking: ScaleRanking, purpose: str) -> str:
    """Return that so few units (or permutations) cannot be significant, and how many can."""
    test = ranking.rank.test
    purpose = f"to show {purpose} for {SWAP_WORDING[test.unit].scope}"
    if test.units >= test.needed:
        done, needed = round(1 / test.smallest_p) - 1, floor(1 / round(ranking.alpha, 9))
        return f"{done:,} permutations are too few {purpose}: at least {needed:,} are needed"
    units = test.unit if test.units != 1 else test.unit.removesuffix("s")
    verb = "are" if test.units != 1 else "is"
    return f"{test.units} {units} {verb} too few {purpose}: at least {test.needed} are needed"


def _difference_matrix(ranking: ScaleRanking) -> Matrix:
    scale, labels, value = ranking.scale, metric_labels(ranking.scale), figure_value(ranking.figure)
    systems = {labels[name]: ranking.estimates[name] for name in ranking.rank.order}
    title = f"{scale.scale.name}, {ranking_title(ranking.figure)}: {value_title(value)}"
    contrasts = difference_contrasts(scale, ranking.figure)
    return Matrix(title, value, systems, contrasts, ranking.correction)


def difference_contrasts(scale: ScaleConcordance, figure: Figure) -> tuple[Contrast, ...]:
    """Return the differences between metrics as contrasts of their labels."""
    labels, contrasts = metric_labels(scale), []
    for test in scale.differences(figure):
        a, b, p = labels[test.a], labels[test.b], test.p[test.unit]
        better = (a if test.difference.value > 0 else b) if test.is_distinct else ""
        contrasts.append(
            Contrast(figure.coefficient, a, b, test.difference, p, test.corrected, better)
        )
    return tuple(contrasts)


def _test_note(concordance: Concordance) -> str:
    if all(ranking.has_few_units for ranking in concordance.rankings):
        return _unit_sentence(concordance)
    family = " over all pairs of metrics, and separately over all comparisons with baselines"
    return (
        f"{_unit_sentence(concordance)} p of these permutation tests is "
        f"{CORRECTED_PHRASE}{family}. Intervals of "
        "differences are those of the same test: they exclude 0 if p is below "
        f"{concordance.alpha:.2g}."
    )


def _test_tables(scale: ScaleConcordance) -> Iterator[Table]:
    rows = [
        (
            f"{test.a} – {test.b}",
            ranking_title(test.figure),
            cell(test.difference, figure_value(test.figure)),
            *map(test.p.get, SWAP_WORDING),
            test.williams,
        )
        for test in scale.apart
    ]
    headings = *(wording.heading for wording in SWAP_WORDING.values()), "p, Williams"
    tests = (Column(heading, show=p_value) for heading in headings)
    columns: Columns = ("metrics", "level", "difference", *tests)
    if rows:
        yield draw_rows(f"{scale.scale.name}: tests between metrics", columns, rows, 2)


SWAP_NOTE = (
    "Swapping systems generalizes to other systems. Swapping items or outputs generalizes to "
    "other items on these systems (for outputs, if the errors of a metric are independent "
    "across outputs): if a metric favours a system, its errors are correlated across that "
    "system's outputs, so these tests give too many false positives for conclusions about "
    "other systems. None of these p-values is corrected for multiple tests. Williams' test "
    "compares Pearson's r across systems."
)


# --- Partial correlations and groups -------------------------------------------------------------


def partial_sections(concordance: Concordance) -> Iterator[Section]:
    """Yield partial beside plain correlations at the levels at which metrics are ranked."""
    if not concordance.partial:
        return
    tables = tuple(_partial_table(ranking, concordance.partial) for ranking in concordance.rankings)
    columns = " and ".join(concordance.partial)
    note = (
        f"Correlation of scores and ratings (plain), and what is left of it when the correlation "
        f"of both with {columns} is removed (given {columns}), with confidence intervals as in "
        f"the ranking. A metric that only reflects {columns} falls to about 0."
    )
    yield Section(f"Agreement given {columns}", tables, note)


def _partial_table(ranking: ScaleRanking, columns: Sequence[str]) -> Table:
    """Return the coefficient that ranks metrics, or τ-b if it has no partial form."""
    name = ranking.figure.coefficient
    plain = ranking.figure._replace(
        coefficient=name if name in PARTIAL_COEFFICIENTS else "kendall_b"
    )
    given = plain._replace(coefficient=PARTIAL_COEFFICIENTS[plain.coefficient])
    metrics = [ranking.scale.by_name[n] for n in (*ranking.names, *ranking.rank.aside)]
    rows = (
        (
            metric_label(metric),
            metric.figures[plain],
            metric.figures[given],
            metric.figures[given].n,
        )
        for metric in metrics
        if metric.metric not in columns
    )
    title = f"{ranking.scale.scale.name}, {ranking_title(plain)}: {figure_value(plain).name}"
    headings = "metric", "plain", f"given {' and '.join(columns)}", "n"
    return draw_rows(title, headings, rows, value=figure_value(plain))


def group_sections(concordance: Concordance) -> Iterator[Section]:
    """Yield the agreement within groups of items or raters, one section per field."""
    fields = dict.fromkeys(group.field for s in concordance.scales for group in s.groups)
    for name in fields:
        parts = tuple(
            _group_intervals(ranking.scale, ranking.figure, name)
            for ranking in concordance.rankings
            if any(group.field == name for group in ranking.scale.groups)
        )
        note = (
            "The coefficient that ranks metrics, computed from the ratings of each group alone. "
            "n is the number of systems, items or outputs. Confidence intervals leave out kinds "
            "of units of which a group has too few. That a metric is better in one group than in "
            "another is not tested."
        )
        yield Section(f"Agreement by {name}", parts, note if name == next(iter(fields)) else "")


def _group_intervals(scale: ScaleConcordance, figure: Figure, field: str) -> Intervals:
    """Return the values of each metric by group; the table has a column per group."""
    groups = [group for group in scale.groups if group.field == field]
    labels = metric_labels(scale)
    value = figure_value(figure)
    title = f"{scale.scale.name}, {ranking_title(figure)}: {value_title(value)} by {field}"
    rows = [
        (label, *(group.figures[name][figure] for group in groups))
        for name, label in labels.items()
    ]
    columns = (figure_column(figure, group.group, counted=True) for group in groups)
    table = draw_rows(title, ("metric", *columns), rows)
    sizes = (f"{group.systems:,}, {group.items:,}, {group.raters:,}" for group in groups)
    table = replace(table, rows=(*table.rows, (SIZES_LABEL, *sizes)))
    drawn = tuple(
        (group.group, {labels[n]: figures[figure] for n, figures in group.figures.items()})
        for group in groups
    )
    return Intervals(title, value, field, drawn, table)


SIZES_LABEL = "(systems, items, raters)"


# --- Tables and plots ----------------------------------------------------------------------------


PEARSON, POINTS = COEFFICIENT_VALUES["pearson"], Value("RMSE", "low", 0.0, inf, "", "scale points")
ERROR_COLUMNS = (
    "metric",
    "mapping",
    "n",
    Column(heading="Pearson's r", value=PEARSON),
    Column(heading="RMSE", value=POINTS),
    Column(heading="RMSE*", value=POINTS),
    Column(heading="outlier ratio", value=Value("outlier ratio", "low", 0.0, 1.0, "")),
)
MAX_PLOTTED_METRICS = 12


def table_sections(concordance: Concordance) -> Iterator[Section]:
    """Yield the tables and plots behind the ranking."""
    for title, draw_parts, note, folded in (
        ("All tests between metrics", _test_tables, SWAP_NOTE, True),
        ("Scores versus ratings", _scatter_plots, SCATTER_NOTE, False),
        ("All coefficients", _coefficient_tables, COEFFICIENT_NOTE, True),
        ("Mapping errors (ITU-T P.1401)", _error_tables, MAPPING_NOTE, False),
        ("Agreement among raters", _ceiling_tables, CEILING_NOTE, True),
        ("Sample sizes", _curve_plots, CURVE_NOTE, False),
    ):
        if parts := tuple(part for scale in concordance.scales for part in draw_parts(scale)):
            yield Section(title, parts, note, "pages", folded)


def _scatter_plots(scale: ScaleConcordance) -> Iterator[Scatters]:
    if len(scale.people) < 2:
        return
    plots = []
    for metric in scale.metrics[:MAX_PLOTTED_METRICS]:
        points = tuple(
            ScatterPoint(name, estimate.value, (metric.people or scale.people)[name])
            for name, estimate in metric.systems.items()
            if name in scale.people
        )
        curve = next((errors.curve for errors in metric.mapped if errors.level == "system"), ())
        pearson = metric.figures.get(Figure("system", "pearson"))
        caption = f"r {number(pearson.value, PEARSON)}" if pearson else ""
        plots.append(Scatter(metric_label(metric), caption, points, curve))
    means = (Column(metric_label(metric), show=_mean_text) for metric in scale.metrics)
    rows = (
        (system, people, *(metric.systems.get(system) for metric in scale.metrics))
        for system, people in scale.people.items()
    )
    title, rating = f"{scale.scale.name}: system means", f"mean rating, {scale.scale.name}"
    table = draw_rows(title, ("system", rating, *means), rows, value=scale.scale)
    yield Scatters(title, scale.scale, tuple(plots), table)


def _mean_text(mean: Estimate) -> str:
    return "–" if isnan(mean.value) else f"{mean.value:.4g}"


SCATTER_NOTE = (
    "Each dot is a system: its mean score (horizontal) and its mean rating (vertical) with "
    "the confidence interval over raters. Means are taken over outputs with both a score "
    "and a rating, each output counting once; if systems were rated on different items, "
    "means are adjusted for items. The line is the ITU-T P.1401 mapping."
)


def _coefficient_tables(scale: ScaleConcordance) -> Iterator[Table]:
    series = scale_figures(scale)
    for level, wording in LEVEL_WORDING.items():
        figures = [figure for figure in next(iter(series.values())) if figure.level == level]
        rows = [
            (label, known[figures[0]].n, *map(known.get, figures))
            for label, known in series.items()
            if figures and figures[0] in known and label not in (RATER_LABEL, HALVES_LABEL)
        ]
        columns: Columns = ("metric", N, *map(figure_column, figures))
        if rows:
            yield draw_rows(f"{scale.scale.name}: {wording.phrase}", columns, rows)


COEFFICIENT_NOTE = (
    "n is the number of systems, items or outputs. Kendall's τ-b excludes tied pairs from "
    "its denominator, τ-c does not; τ₂₃ and acc₂₃ count a pair tied on both sides as correct. "
    "Tie calibration: score differences up to a threshold count as ties; the threshold is "
    "cross-validated over items. Pairwise accuracy: the share of pairs of systems with "
    "different mean ratings that the metric puts in the same order. Soft pairwise accuracy: 1 "
    "minus the difference between metric and ratings in the p-value that one system is better "
    "than another (paired permutation test over items), averaged over pairs of systems."
)


def _error_tables(scale: ScaleConcordance) -> Iterator[Table]:
    for level, what in (("system", "systems"), ("global", "outputs")):
        rows = [
            (
                metric_label(metric),
                f"{errors.used}{'' if errors.used in (errors.asked, 'flat') else ' (few points)'}",
                errors.rmse.n,
                errors.pearson,
                errors.rmse,
                errors.rmse_star.value,
                errors.outliers,
            )
            for metric in scale.metrics
            for errors in metric.mapped
            if errors.level == level
        ]
        if rows:
            yield draw_rows(f"{scale.scale.name}: errors across {what}", ERROR_COLUMNS, rows, 2)


MAPPING_NOTE = (
    "Scores are mapped to the rating scale by the best-fitting monotonic curve (increasing if "
    "higher scores are better, else decreasing). Flat: no such curve fits better than the "
    "mean, so the correlation is undefined. RMSE is in scale points; RMSE* counts only the "
    "part of an error beyond the 95 % confidence interval of the mean rating; the outlier "
    "ratio is the share of points beyond it."
)


CEILING_NOTE = "How well raters agree with each other, measured by the same coefficients."
CEILING_COLUMNS = (
    Column("coefficient", show=lambda value: f"{value.name} {value.doc}"),
    "one rater vs the others",
    "half vs half",
    Column("two full panels (Spearman–Brown)", value=PEARSON),
)


def _ceiling_tables(scale: ScaleConcordance) -> Iterator[Table]:
    rows = [(figure_value(c.figure), c.rater, c.halves, c.stepped) for c in scale.ceilings]
    if rows:
        yield draw_rows(f"{scale.scale.name}: agreement among raters", CEILING_COLUMNS, rows)


def _curve_plots(scale: ScaleConcordance) -> Iterator[Curve]:
    names = metric_labels(scale)
    for curve in scale.curves:
        points = tuple(
            (float(count), {names[name]: estimate for name, estimate in row.items()})
            for count, row in curve.points
        )
        title = f"{scale.scale.name}, {ranking_title(curve.figure)}: by number of {curve.what}"
        yield Curve(title, figure_value(curve.figure), curve.what, "", points)


CURVE_NOTE = (
    "For fewer raters per output, or fewer items, the curve shows the mean over random "
    "subsets of that size; at the available number it shows the value itself. The last point "
    "is an extrapolation to twice the available number, from half of the data and all of "
    "it. The band is the range expected of studies of that size. For references, the curve "
    "shows the mean over draws of that many annotators, and the band is the range expected of "
    "other annotators."
)
