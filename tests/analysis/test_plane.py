"""Positions on the TC/SD plane: ellipses, listeners, correlation and methods of skims."""

from __future__ import annotations

import json
from math import isnan, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import f as f_distribution

import earwitness
from earwitness.analysis.results import Results
from earwitness.report import apply_renderer
from earwitness.stats.ellipses import (
    TWO_WAY_ELLIPSE,
    Positions,
    listener_ellipses,
    two_way_ellipses,
)

SYSTEMS = {
    "pareto-z0": (0.3, 0.8),
    "pareto-z1": (0.5, 0.7),
    "random-z0": (0.6, 0.4),
    "random-z1": (0.7, 0.3),
}


def votes(listeners: int = 8, items: str = "ABCD", repeats: int = 0) -> list[dict[str, Any]]:
    rng = np.random.default_rng(3)
    rows = []
    for who in range(1, listeners + 1):
        severity = rng.normal(0, 0.05, 2)
        for turn in range(1 + repeats):
            for item in items if not turn else items[:1]:
                for system, mean in SYSTEMS.items():
                    tc, sd = mean + severity + rng.normal(0, 0.05, 2)
                    row = {"item": item, "system": system, "listener": who}
                    rows.append({**row, "scale": "TC", "value": round(tc, 3)})
                    rows.append({**row, "scale": "SD", "value": round(sd, 3)})
    return rows


def analyse(rows: list[dict[str, Any]], **how: Any) -> Results:
    return earwitness.study_analyse(rows, **how)


def test_the_ellipse_over_listeners_is_that_of_hotelling() -> None:
    """Four listeners at the corners of a rectangle: variances 4·0.04/3 and 4·0.01/3."""
    corners = np.array([[0.3, 0.4], [0.7, 0.4], [0.3, 0.6], [0.7, 0.6]])
    zeros, four = np.zeros(4, np.int64), np.arange(4)
    (ellipse,) = listener_ellipses(Positions(corners, zeros, zeros, four), 1)
    factor = 2 * 3 / 2 * f_distribution.ppf(0.95, 2, 2)
    assert [ellipse.x, ellipse.y, ellipse.n] == pytest.approx([0.5, 0.5, 4])
    assert ellipse.major == pytest.approx(sqrt(factor * 4 * 0.04 / 3 / 4))
    assert ellipse.minor == pytest.approx(sqrt(factor * 4 * 0.01 / 3 / 4))
    assert ellipse.angle == pytest.approx(0)
    x, y = max(ellipse.outline())
    assert [x - ellipse.x, y] == pytest.approx([ellipse.major, 0.5])


def test_results_have_positions_listeners_correlation_and_methods() -> None:
    results = analyse(votes())
    plane = results.plane
    assert plane is not None
    assert list(plane.listeners) == [*range(1, 9)]
    for name, mean in SYSTEMS.items():
        place = plane.systems[name]
        centre = [place.tc.value, place.sd.value]
        assert [place.ellipse.x, place.ellipse.y] == pytest.approx(centre)
        assert place.ellipse.contains(*mean)
    assert plane.correlation.high < 0
    assert plane.correlation.n == 8
    (tc, sd) = plane.methods
    assert [(c.a, c.b, c.better) for c in tc.contrasts] == [("pareto", "random", "random")]
    assert [c.better for c in (*sd.contrasts, *sd.modelled)] == ["pareto", "pareto"]
    pooled = np.mean([plane.systems[f"pareto-z{z}"].tc.value for z in (0, 1)])
    other = np.mean([plane.systems[f"random-z{z}"].tc.value for z in (0, 1)])
    assert tc.contrasts[0].difference.value == pytest.approx(pooled - other)


def test_agreement_is_measured_on_both_axes() -> None:
    scales = {one.value.name: one for one in analyse(votes()).scales}
    for name in ("TC", "SD"):
        [panel] = scales[name].agreement
        assert {"ICC(2,1)", "ICC(2,k)"} <= {*panel.figures}
        assert [one for one in panel.figures if "alpha" in one]
        assert all(-1 <= one.value <= 1 for one in panel.figures.values())


def test_the_report_and_its_tables_show_the_plane() -> None:
    results = analyse(votes(repeats=1), doubled="first")
    titles = [section.title for section in apply_renderer(results, "report").sections]
    assert titles[1:3] == ["TC/SD plane", "TC/SD planes of listeners"]
    assert {"Agreement between listeners", "Test–retest reliability"} <= {*titles}
    tables = apply_renderer(results, "tables")
    assert len([*tables["plane"][1]]) == 4
    assert len([*tables["plane_listeners"][1]]) == 32
    plane = json.loads(apply_renderer(results, "json"))["plane"]
    assert plane["listeners"][0]["listener"] == 1
    assert "Hotelling's T²" in json.loads(apply_renderer(results, "json"))["methods"]


def test_the_two_way_ellipse_adds_the_covariances_over_listeners_and_items() -> None:
    """Positions differ by item only, so that the covariance is 0.04 / 3 along x, with 3 df."""
    items, listeners = (codes.ravel() for codes in np.meshgrid(range(4), range(5)))
    values = np.array([[0.3, 0.3, 0.7, 0.7], [0.4, 0.6, 0.4, 0.6]]).T[items]
    zeros = np.zeros(20, np.int64)
    (ellipse,) = two_way_ellipses(Positions(values, zeros, items, listeners), 1)
    factor = 2 * 3 / 2 * f_distribution.ppf(0.95, 2, 2)
    assert ellipse.major == pytest.approx(sqrt(factor * 0.04 / 3))
    assert ellipse.minor == pytest.approx(sqrt(factor * 0.01 / 3))


def test_ellipses_have_the_scope_of_the_planned_interval() -> None:
    plane = analyse(votes(), interval="two_way_bootstrap").plane
    assert plane is not None
    assert {place.ellipse.method for place in plane.systems.values()} == {TWO_WAY_ELLIPSE}


def test_two_listeners_have_positions_without_ellipses() -> None:
    plane = analyse(votes(listeners=2)).plane
    assert plane is not None
    assert all(isnan(place.ellipse.major) for place in plane.systems.values())


def test_other_scales_have_no_plane() -> None:
    rows = [row for row in votes() if row["scale"] == "TC"]
    results = analyse(rows)
    assert results.plane is None
    assert "TC/SD plane" not in [
        section.title for section in apply_renderer(results, "report").sections
    ]
