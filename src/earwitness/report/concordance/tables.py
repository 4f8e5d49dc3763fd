"""All figures: every coefficient at every level, errors after a mapping, people, how many."""

from __future__ import annotations

from collections.abc import Iterator

from earwitness.data import Concordance, Figure, Mapped, ScaleConcordance, Value
from earwitness.report.concordance.ranking import CHANCE, shown
from earwitness.report.concordance.words import LEVELS, NAMES, WHERE, named, value_of
from earwitness.report.numbers import cell, number
from earwitness.report.parts import Curve, Part, Point, Scatter, Scatters, Section, Table

POINTS = Value("points of the scale", "low", 0.0, float("inf"), "points of the scale")
SHARE = Value("share", "low", 0.0, 1.0, "share")
CORRELATION = Value("r", "high", -1.0, 1.0, "correlation")
MOST = 12  # metrics that are drawn


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
    for metric in scale.metrics[:MOST]:
        points = tuple(
            Point(name, own.value, (metric.people or scale.people)[name])
            for name, own in metric.systems.items()
            if name in scale.people
        )
        curves = [one.curve for one in metric.mapped if one.level == "system"]
        own = metric.figures.get(Figure("system", "pearson"))
        told = f"r {number(own.value, CORRELATION)}" if own else ""
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
    for level in WHERE:
        names = [f for f in (scale.metrics[0].figures if scale.metrics else ()) if f.level == level]
        if not names:
            continue
        series = {shown(one): one.figures for one in scale.metrics}
        if names[0] in scale.chance:
            series[CHANCE] = scale.chance
        rows = [
            (
                name,
                f"{own[names[0]].n:,}",
                *(cell(own[f], value_of(f)) if f in own else "–" for f in names),
            )
            for name, own in series.items()
        ]
        title = f"{scale.scale.name}: {WHERE[level]}"
        header = ("metric", "n", *(NAMES[f.coefficient] for f in names))
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
                            cell(one.pearson, CORRELATION),
                            cell(one.rmse, POINTS),
                            number(one.rmse_star.value, POINTS),
                            cell(one.outliers, SHARE),
                        )
                    )
        if rows:
            what = "systems" if level == "system" else "outputs"
            header = ("metric", "mapping", "n", "Pearson r", "RMSE", "RMSE*", "outlier ratio")
            yield Table(f"{scale.scale.name}: errors over {what}", header, tuple(rows), names=2)


def _way(one: Mapped) -> str:
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
        title = f"{scale.scale.name}, {LEVELS[one.figure.level]}: by number of {one.what}"
        yield Curve(title, value_of(one.figure), one.what, "", points)


def _drawn_anew() -> str:
    return (
        "With fewer raters of every output, or fewer items: draws of so many, others stay. With as "
        "many as there are: the value itself. The last point is twice as many, read off a line "
        "through half of them and all. The band is where most studies with so many would be. "
        "References: scores with so many of them."
    )
