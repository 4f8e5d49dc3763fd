"""Measures of skims compared with positions on the TC/SD plane."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import earwitness

DAYS, SYSTEMS = "ABCDEF", [f"{method}-z{z}" for method in ("pareto", "random") for z in (0, 0.5, 1)]


@pytest.fixture(scope="module")
def study() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Scores as those of ``score --samples``, and ratings of eight experts who follow them."""
    rng = np.random.default_rng(1)
    scores, ratings = [], []
    for day in DAYS:
        for place, system in enumerate(SYSTEMS):
            tc, sd = 0.9 - 0.1 * place + rng.normal(0, 0.02), 0.2 + 0.25 * (place % 3)
            scores.append({"item": day, "system": system, "tc": tc, "sd": sd})
            for who in range(1, 9):
                for scale, value in (("TC", tc), ("SD", sd)):
                    vote = float(np.clip(value + rng.normal(0, 0.08), 0, 1))
                    row = {"item": day, "system": system, "listener": who, "scale": scale}
                    ratings.append({**row, "value": round(vote, 3)})
    return scores, ratings


@pytest.mark.parametrize(("scale", "metric"), [("TC", "tc"), ("SD", "sd")])
def test_each_scale_agrees_best_with_its_own_measure(
    study: tuple[list[dict[str, Any]], list[dict[str, Any]]], scale: str, metric: str
) -> None:
    scores, ratings = study
    results = earwitness.agree(scores, ratings, scales=[scale], draws=200, permutations=200)
    found = {
        row["metric"]: row["value"]
        for row in results.to_records()
        if (row["at"], row["coefficient"], row["role"]) == ("system", "pearson", "metric")
    }
    assert max(found, key=lambda name: found[name]) == metric
    assert found[metric] > 0.9
