"""What a report of concordance says and shows."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from earwitness.core import Estimate
from earwitness.metaeval.coefficients import LEVELS
from earwitness.metaeval.join import MetricColumn
from earwitness.metaeval.pipeline import analyse_agreement
from earwitness.metaeval.results import Concordance, Figure
from earwitness.metaeval.settings import AgreementSettings
from earwitness.output_formats import FORMS, render
from earwitness.report import apply_renderer
from earwitness.report.html.panels import scatters_plot
from earwitness.report.parts import Scatter, ScatterPoint, Scatters, Table
from helpers.csv_results import read_results
from helpers.simulated_metrics import METRICS, both, choices

QUICK = AgreementSettings(at=LEVELS, draws=60, permutations=60, splits=10)


@pytest.fixture(scope="module")
def found() -> Concordance:
    given = both()
    metrics = [MetricColumn("close"), MetricColumn("fair"), MetricColumn("noise", baseline=True)]
    return analyse_agreement(replace(given, metrics=metrics), QUICK)


def test_the_answer_comes_first_with_its_number_and_interval(found: Concordance) -> None:
    text = render(found, "text")
    own = found.scales[0].metrics[0].figures[Figure("system", "kendall_b")]
    first = " ".join(text.split("\n\n")[0].split())
    assert first.startswith(
        "No metric is significantly worse than the best in ranking systems by OVRL (1 pair"
    )
    assert "close agrees best with raters in ranking outputs within items by OVRL" in first
    assert f"{own.value:.3f} [{own.low:.3f}, {own.high:.3f}]" in first
    assert "(chance)" in text
    assert "(one rater)" in text
    assert found.signature in text


def test_a_metric_below_a_baseline_is_said_to_be() -> None:
    given = both()
    metrics = [MetricColumn("close", baseline=True), MetricColumn("fair"), MetricColumn("noise")]
    text = render(analyse_agreement(replace(given, metrics=metrics), QUICK), "text")
    text = " ".join(text.split())
    assert "metrics not shown to be better than the baseline close: fair and noise" in text
    assert "; baselines with a higher value: close (1.000)." in text
    assert re.search(r"metrics no better than chance \(range [^)]+\): noise", text)


def test_the_terminal_shows_three_correlations_within_its_width(found: Concordance) -> None:
    text = render(found, "text", width=100)
    ranking = text[text.index("ranking of systems: Kendall's") :].split("Metrics are ranked")[0]
    assert max(map(len, ranking.splitlines())) <= 100
    block = text[text.index("ranking of systems: Kendall's τ-b ↑") :].splitlines()
    assert block[1].split()[:6] == ["metric", "group", "Kendall", "Pearson", "Spearman", "n"]
    figures = found.scales[0].metrics[0].figures
    row = block[2].split()
    values = [figures[Figure("system", name)].value for name in ("pearson", "spearman")]
    assert row[0] == "close"
    assert row[5:7] == [f"{value:.3f}" for value in values]
    (chance,) = [line.split() for line in block[:9] if line.startswith("  (chance)")]
    assert len(chance) == 7  # name, value, two ends, two other correlations, n


def test_ratings_that_are_noise_say_so_first() -> None:
    given = both()
    metrics = [MetricColumn("noise")]
    text = render(analyse_agreement(replace(given, metrics=metrics), QUICK), "text", width=300)
    assert text.startswith("No metric agrees with raters better than chance in ranking systems by ")


def test_every_form_is_written_for_ratings_and_for_choices(found: Concordance) -> None:
    for one in (found, analyse_agreement(choices(), QUICK)):
        assert [form for form in FORMS if len(render(one, form)) <= 500] == []


def test_json_has_every_figure_and_no_odd_number(found: Concordance) -> None:
    record = json.loads(render(found, "json"), parse_constant=lambda text: pytest.fail(text))
    metric = record["scales"][0]["metrics"][0]
    own = found.scales[0].metrics[0].figures
    assert metric["figures"].keys() == {str(figure) for figure in own}
    value = metric["figures"]["item kendall_b"]["value"]
    assert value == own[Figure("item", "kendall_b")].value


def _rows(found: Concordance, role: str) -> list[dict[str, str]]:
    _, every = read_results(render(found, "csv"))
    return [row for row in every if row["role"] == role]


def test_csv_has_a_line_a_figure_and_the_signature_once(found: Concordance) -> None:
    facts, rows = read_results(render(found, "csv"))
    scale = found.scales[0]
    figures = sum(len(one.figures) for one in scale.metrics if not one.baseline)
    assert len(_rows(found, "metric")) == figures
    assert len(_rows(found, "baseline")) == figures / 2
    assert len(_rows(found, "chance")) == len(scale.chance)
    assert len(_rows(found, "rater")) == len(_rows(found, "halves")) == len(scale.ceilings)
    assert facts == {"signature": found.signature}
    assert {row["scale"] for row in rows} == {"OVRL"}
    assert all(None not in row and None not in row.values() for row in rows)
    ranked = [row for row in rows if row["metric"] == "close" and row["group"]]
    assert [(row["at"], row["group"]) for row in ranked] == [("system", "1"), ("item", "1")]


def test_csv_has_every_test_between_metrics(found: Concordance) -> None:
    rows = _rows(found, "difference")
    apart = found.scales[0].apart
    assert len(rows) == len(apart) > 0
    for row, one in zip(rows, apart, strict=True):
        assert (row["metric"], row["against"]) == (one.a, one.b)
        assert (row["at"], row["coefficient"]) == tuple(one.figure)
        assert float(row["value"]) == one.difference.value
        assert {what: float(row[f"p_{what}"]) for what in one.p} == dict(one.p)
        assert float(row["p_corrected"]) == one.corrected
        assert (row["p_williams"] == "") == (one.figure.level == "item")


def test_csv_has_errors_curves_and_means(found: Concordance) -> None:
    scale = found.scales[0]
    errors = _rows(found, "error")
    assert len(errors) == 4 * sum(len(one.mapped) for one in scale.metrics) > 0
    own = scale.metrics[0].mapped[0]
    assert [float(row["value"]) for row in errors[:3]] == pytest.approx(
        [own.pearson.value, own.rmse.value, own.rmse_star.value]
    )
    assert (errors[1]["coefficient"], errors[1]["mapping"]) == ("rmse", own.used)
    points = [
        (one.what, str(count), metric, estimate.value)
        for one in scale.curves
        for count, row in one.points
        for metric, estimate in row.items()
    ]
    curve = _rows(found, "curve")
    told = [(row["by"], row["count"], row["metric"], row["value"]) for row in curve]
    assert told == [(*rest, "" if x != x else str(x)) for *rest, x in points]
    least = {(one.what, name): n for one in scale.curves for name, n in one.enough.items()}
    enough = _rows(found, "enough")
    assert len(enough) == sum(len(one.enough) for one in scale.curves) > 0
    assert {(row["by"], row["metric"]) for row in enough} == {*least}
    people = {row["system"]: float(row["value"]) for row in _rows(found, "people")}
    assert people == {name: one.value for name, one in scale.people.items()}
    assert len(_rows(found, "mean")) == len(scale.metrics) * len(scale.people)


def test_the_page_has_a_picture_a_metric_and_sentences_to_write(found: Concordance) -> None:
    page = render(found, "html")
    assert page.count('class="scatter ') == len(METRICS)
    quotes = re.findall(r"<blockquote><p>(.*?)</p>", page)
    assert len(quotes) == 2
    for quote in quotes:
        assert (
            "Across 8 systems, 10 items and 6 raters (480 ratings on OVRL), close agreed best"
            in quote
        )
        assert "generalizing to other systems, items and raters" in quote


def _scatter(places: list[tuple[float, float]]) -> str:
    points = tuple(
        ScatterPoint(f"system {n}", x, Estimate(y, y - 0.1, y + 0.1, 0.95, 9, 0, "t"))
        for n, (x, y) in enumerate(places)
    )
    value = analyse_agreement(both(), replace(QUICK, at=("system",))).scales[0].scale
    table = Table("", ("system",), ())
    return str(scatters_plot(Scatters("", value, (Scatter("m", "", points),), table), {}))


def test_names_beside_dots_stand_apart_and_the_crowd_goes_without() -> None:
    assert _scatter([(0, 1), (1, 3), (2, 5)]).count('class="tag') == 3
    crowd = _scatter([(0, 1), (4, 5), *((2 + n / 1000, 3 + n / 1000) for n in range(40))])
    assert crowd.count('class="dot"') == 42
    assert 2 <= crowd.count('class="tag') < 30


def test_how_p_was_corrected_is_said_in_words(found: Concordance) -> None:
    told = "step-down max-T method over all pairs of metrics, and separately over all comparisons"
    assert told in render(found, "md")


def test_scales_with_the_same_counts_are_told_once(found: Concordance) -> None:
    [one] = found.scales
    other = replace(one, scale=replace(one.scale, name="SIG"))
    several = replace(found, scales=(one, other, replace(other, items=3)))
    told = apply_renderer(several, "report").about
    counts = "3 metrics, 8 systems, {} items, 6 raters"
    assert told == f"OVRL, SIG: {counts.format(10)}; SIG: {counts.format(3)}"
