"""What a report of concordance says and shows."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import pytest

from concordance.grids import METRICS, both, choices
from earwitness.api import render
from earwitness.concordance.joined import Metric
from earwitness.concordance.settings import Settings
from earwitness.concordance.whole import agree
from earwitness.data import Concordance, Estimate, Figure
from earwitness.report import FORMS
from earwitness.report.html.scatters import scatters_plot
from earwitness.report.parts import Point, Scatter, Scatters, Table

QUICK = Settings(draws=60, permutations=60, splits=10)


@pytest.fixture(scope="module")
def found() -> Concordance:
    given = both()
    metrics = [Metric("close"), Metric("fair"), Metric("noise", baseline=True)]
    return agree(replace(given, metrics=metrics), QUICK)


def test_the_answer_comes_first_with_its_number_and_interval(found: Concordance) -> None:
    text = render(found, "text")
    own = found.scales[0].metrics[0].figures[Figure("system", "kendall_b")]
    first = text.splitlines()[0]
    assert "close agrees best" in first
    assert f"{own.value:.3f} [{own.low:.3f}, {own.high:.3f}]" in first
    assert "(chance)" in text
    assert "(one rater)" in text
    assert found.signature in text


def test_a_metric_below_a_baseline_is_said_to_be() -> None:
    given = both()
    metrics = [Metric("close", baseline=True), Metric("fair"), Metric("noise")]
    text = render(agree(replace(given, metrics=metrics), QUICK), "text")
    assert "no metric can be shown to beat close, a baseline" in text
    assert "noise could be chance" in text


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_written_for_ratings_and_for_choices(form: str, found: Concordance) -> None:
    for one in (found, agree(choices(), QUICK)):
        assert len(render(one, form)) > 500


def test_json_has_every_figure_and_no_odd_number(found: Concordance) -> None:
    record = json.loads(render(found, "json"), parse_constant=lambda text: pytest.fail(text))
    metric = record["scales"][0]["metrics"][0]
    own = found.scales[0].metrics[0].figures
    assert metric["figures"].keys() == {str(figure) for figure in own}
    value = metric["figures"]["item kendall_b"]["value"]
    assert value == own[Figure("item", "kendall_b")].value


def test_csv_has_a_line_a_figure_with_its_signature(found: Concordance) -> None:
    rows = list(csv.DictReader(io.StringIO(render(found, "csv"))))
    scale = found.scales[0]
    figures = sum(len(one.figures) for one in scale.metrics)
    assert len(rows) == figures + len(scale.chance) + 2 * len(scale.ceilings)
    assert {row["role"] for row in rows} == {"metric", "baseline", "chance", "rater", "halves"}
    assert {row["signature"] for row in rows} == {found.signature}


def test_the_page_has_a_picture_a_metric_and_sentences_to_write(found: Concordance) -> None:
    page = render(found, "html")
    assert page.count('class="scatter ') == len(METRICS)
    quotes = re.findall(r"<blockquote><p>(.*?)</p>", page)
    assert len(quotes) == 2
    for quote in quotes:
        assert (
            "On 8 systems, 10 items and 6 raters (480 ratings on OVRL), close agreed best" in quote
        )
        assert "generalising to other systems, items and raters" in quote


def _scatter(places: list[tuple[float, float]]) -> str:
    points = tuple(
        Point(f"system {n}", x, Estimate(y, y - 0.1, y + 0.1, 0.95, 9, 0, "t"))
        for n, (x, y) in enumerate(places)
    )
    value = agree(both(), replace(QUICK, levels=("system",))).scales[0].scale
    table = Table("", ("system",), ())
    return str(scatters_plot(Scatters("", value, (Scatter("m", "", points),), table), {}))


def test_names_beside_dots_stand_apart_and_the_crowd_goes_without() -> None:
    assert _scatter([(0, 1), (1, 3), (2, 5)]).count('class="tag') == 3
    crowd = _scatter([(0, 1), (4, 5), *((2 + n / 1000, 3 + n / 1000) for n in range(40))])
    assert crowd.count('class="dot"') == 42
    assert 2 <= crowd.count('class="tag') < 30
