"""Functions of chapter metrics, which are those of ``score`` for one case."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import earwitness as ew
from earwitness.errors import UsageError

BOUNDARY_METRICS: dict[str, Callable[..., dict[str, float]]] = {
    name: getattr(ew.chapters, name)
    for name in ("chunks", "collar", "r_value", "deviation", "similarity", "segments", "agreement")
}
OUTPUT, BOTH = [61.0, 120.0, 171.0], [[60.0, 118.0], [90.0]]


def scored(metric: str, output: Any, references: list[Any], **more: Any) -> dict[str, float]:
    """The values of one case by the command."""
    item = {"item": "a", "duration": 180.0, **more.pop("item", {})}
    outputs = [{"item": "a", "system": "s", "output": output}]
    scores = ew.score(outputs, [{**item, "references": references}], metrics=metric, **more)
    return {name: estimate.value for name, estimate in scores.systems["s"].items()}


def same(one: dict[str, float], other: dict[str, float]) -> bool:
    return one == pytest.approx(other, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("metric", [*BOUNDARY_METRICS])
@pytest.mark.parametrize("more", [{}, {"edge": 10.0}, {"against": "best"}])
def test_boundaries_have_the_values_of_score(metric: str, more: dict[str, Any]) -> None:
    known = scored(
        metric, {"boundaries": OUTPUT}, [{"boundaries": times} for times in BOTH], **more
    )
    assert same(BOUNDARY_METRICS[metric](OUTPUT, BOTH, 180.0, **more), known)
    known = scored(metric, {"boundaries": OUTPUT}, [{"boundaries": BOTH[0]}], **more)
    assert same(BOUNDARY_METRICS[metric](OUTPUT, BOTH[0], 180.0, **more), known)


def test_texts_have_the_values_of_score() -> None:
    titles = [("Opening words", 0.0), ("The weather", 61.0)]
    expected = [("Opening", 0.0), ("Weather today", 60.0)]
    output = {"boundaries": [61.0], "titles": titles}
    known = scored("titles", output, [{"boundaries": [60.0], "titles": expected}])
    assert same(ew.chapters.titles(titles, expected, 180.0), known)
    starts = [0.0, 30.0, 60.0, 100.0]
    item = {"sentences": [(f"sentence {start}", start) for start in starts]}
    known = scored("sentences", {"boundaries": OUTPUT}, [{"boundaries": BOTH[0]}], item=item)
    assert same(ew.chapters.sentences(OUTPUT, BOTH[0], 180.0, starts=starts), known)


def test_a_collar_needs_no_duration_unless_edges_are_ignored() -> None:
    assert ew.chapters.collar([], [])["collar_f1"] == 1.0
    with pytest.raises(UsageError, match="edge requires duration"):
        ew.chapters.collar([1], [1], edge=5.0)


@pytest.mark.parametrize("times", [["a"], [math.nan], [math.inf], 3])
def test_what_is_no_time_is_refused(times: Any) -> None:
    with pytest.raises(UsageError, match="hypothesis must"):
        ew.chapters.collar(times, [1])
    with pytest.raises(UsageError, match="duration must be a number of seconds"):
        ew.chapters.chunks([1], [1], -1.0)
