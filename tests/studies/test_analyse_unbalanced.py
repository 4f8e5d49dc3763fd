"""Results of unbalanced tables: different items, few votes, and listeners with many votes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from earwitness.analysis.report.export import methods_paragraph, tables_csv
from earwitness.analysis.results import Results
from earwitness.errors import UsageError
from earwitness.output_formats import render
from earwitness.report import apply_renderer
from earwitness.studies.analyse import study_analyse

Row = dict[str, Any]


def vote(item: str, system: str, listener: int, value: float, scale: str = "MOS") -> Row:
    return {"item": item, "system": system, "listener": listener, "scale": scale, "value": value}


def different_items(shared: int, items: int = 8, listeners: int = 12) -> list[Row]:
    """Two systems, the second two points better, of which ``shared`` of the items are the same."""
    rng = np.random.default_rng(shared)
    return [
        vote(
            f"i{n}" if n < shared else f"{system}{n}",
            system,
            listener,
            float(
                np.clip(2 + 2 * (system == "b") + rng.integers(0, 2) - (listener % 3 == 0), 1, 5)
            ),
        )
        for system in "ab"
        for n in range(items)
        for listener in range(listeners)
    ]


def analyse(rows: list[Row], **how: Any) -> Results:
    return study_analyse(rows, **({"mixed": False, "draws": 20} | how))


def summary(results: Results) -> list[str]:
    return list(apply_renderer(results, "report").sections[0].parts[0].lines)


TWO_WAY = "1 pair of systems shares fewer than half of their items: compared by a two-way test"


@pytest.mark.parametrize("interval", ["cluster_t", "naive_t", "two_way_bootstrap", "mixed"])
def test_systems_that_share_few_items_are_compared_by_the_two_way_test(interval: str) -> None:
    results = analyse(different_items(3), interval=interval, margins={"MOS": 1})
    (contrast,) = results.scales[0].contrasts
    assert (contrast.better, contrast.note) == ("b", "two-way test: 3 of 8 items shared")
    assert contrast.difference.method == "two_way_t"
    (equivalence,) = results.scales[0].equivalences
    assert equivalence.difference.method == "two_way_t"
    for text in (
        " ".join(summary(results)),
        methods_paragraph(results),
        render(results, "html"),
        render(results, "latex"),
    ):
        assert TWO_WAY in " ".join(text.split())
    assert "3 of 8 items shared" in tables_csv(results)["contrasts.csv"]
    assert "3 of 8 items shared" in render(results, "text")


def test_systems_that_share_half_of_their_items_are_compared_within_listeners() -> None:
    results = analyse(different_items(4))
    (contrast,) = results.scales[0].contrasts
    assert (contrast.better, contrast.note, contrast.difference.method) == ("b", "", "cluster_t")
    assert "two-way" not in methods_paragraph(results)


def test_systems_with_one_item_each_are_not_compared() -> None:
    results = analyse(different_items(0, items=1))
    (contrast,) = results.scales[0].contrasts
    assert contrast.better == ""
    assert math.isnan(contrast.p)
    assert math.isnan(contrast.difference.low)
    assert contrast.note.startswith("not compared: 0 of 1 items shared")
    assert any("shares fewer than half of their items: not compared" in s for s in summary(results))


@pytest.mark.parametrize("shared", [0, 3])
def test_the_mixed_model_beside_does_not_compare_systems_that_share_few_items(shared: int) -> None:
    results = analyse(different_items(shared, items=8 if shared else 1), mixed=True)
    (modelled,) = results.scales[0].modelled
    assert modelled.better == ""
    assert math.isnan(modelled.p)
    assert not any("mixed model" in line for line in summary(results))


def full(listeners: int = 6) -> list[Row]:
    return [
        vote(item, system, listener, 2 + (system == "good") * (1 + (listener + len(item)) % 2))
        for item in ("i1", "i22", "i333")
        for system in ("poor", "good")
        for listener in range(listeners)
    ]


@pytest.mark.parametrize(
    "few",
    [
        [vote("i1", "rare", listener, 5) for listener in range(4)],  # four votes
        [vote(item, "rare", listener, 5) for item in ("i1", "i22", "i333") for listener in (0, 1)],
    ],
)
def test_a_system_with_few_votes_or_listeners_is_neither_leader_nor_better(few: list[Row]) -> None:
    results = analyse(full() + few)
    assert list(results.scales[0].systems) == ["rare", "good", "poor"]  # best first
    better = {(c.a, c.b): c.better for c in results.scales[0].contrasts}
    assert better == {("good", "poor"): "good", ("good", "rare"): "", ("poor", "rare"): ""}
    lines = summary(results)
    assert lines[0].startswith("good is significantly better than poor on MOS")
    assert "rare is not ranked on MOS: fewer than 5 votes or 3 listeners." in lines
    (row,) = [line for line in render(results, "latex").splitlines() if line.startswith("rare")]
    assert "bf" not in row
    notes = [c.note for c in results.scales[0].contrasts if "rare" in (c.a, c.b)]
    assert all(note.startswith("not compared: rare has ") for note in notes)


def test_the_plain_mean_of_votes_is_shown_where_it_ranks_otherwise() -> None:
    # listener 0 rates a high, and often; all others prefer b
    rows = [vote(f"i{n}", "a", 0, 5) for n in range(20)]
    rows += [vote(f"i{n}", "b", 0, 3) for n in range(20)]
    rows += [vote("i0", system, who, 1 + (system == "b")) for who in range(1, 6) for system in "ab"]
    results = analyse(rows)
    systems = results.scales[0].systems
    assert list(systems) == ["b", "a"]
    assert systems["a"].vote_mean > systems["b"].vote_mean
    text = render(results, "text")
    assert "mean of votes" in text
    assert "The plain mean of votes ranks systems in another order on MOS" in " ".join(text.split())
    assert "Each mean is the mean over listeners of each listener's mean vote." in text
    assert "mean of votes" not in render(analyse(full()), "text")


def test_means_can_be_adjusted_for_items() -> None:
    # system b was rated on easy items only, apart from one
    rows = [vote(f"i{n}", "a", who, 2 + 2 * (n > 2)) for n in range(6) for who in range(4)]
    rows += [vote(f"i{n}", "b", who, 2 + 2 * (n > 2)) for n in (2, 3, 4, 5) for who in range(4)]
    plain, adjusted = analyse(rows), analyse(rows, adjust="items")
    assert plain.scales[0].systems["b"].mean.value == pytest.approx(3.5)
    assert {n: s.mean.value for n, s in adjusted.scales[0].systems.items()} == pytest.approx(
        {"a": 3.0, "b": 3.0}
    )
    assert "adjust=items" in adjusted.signature
    assert "least-squares model of systems and items" in methods_paragraph(adjusted)
    apart = analyse(different_items(0), adjust="items")
    assert "means cannot be adjusted for items" in " ".join(apart.scales[0].notes)
    with pytest.raises(UsageError, match="the mixed model already adjusts for items"):
        analyse(rows, adjust="items", interval="mixed")


def test_a_mixed_model_that_cannot_be_fitted_is_noted() -> None:
    rows = [vote(item, system, who, 3) for item in "xy" for system in "ab" for who in range(4)]
    results = analyse(rows, mixed=True)
    assert (
        "the mixed model was not fitted: votes do not vary within systems"
        in results.scales[0].notes
    )


def test_the_summary_of_a_large_study_stays_below_15_lines() -> None:
    rng = np.random.default_rng(3)
    rows = [
        vote(f"i{n}", f"s{system}", who, float(rng.integers(1, 6)), f"scale{scale}")
        for scale in range(8)
        for n in range(6)
        for system in range(6)
        for who in range(6)
    ]
    results = analyse(rows)
    assert 2 < len(summary(results)) < 15


@pytest.mark.parametrize(("stimuli", "gaps"), [(20, 10), (60, 0)])
def test_votes_of_stimuli_have_gaps_unless_most_are_missing(stimuli: int, gaps: int) -> None:
    # 12 listeners, connected by the first stimulus, of whom two rate each other one
    rows = [vote("i0", "a", who, 3) for who in range(12)]
    rows += [vote(f"i{n}", "a", (n + k) % 12, 2 + k) for n in range(1, stimuli) for k in (0, 5)]
    rows = rows if gaps else [row for row in rows if row["value"] == 2 or row["item"] == "i0"]
    first, *others = analyse(rows).scales[0].stimuli
    assert len(first.votes) == 12
    assert {sum(map(math.isnan, stimulus.votes)) for stimulus in others} == {gaps}
    assert {len(stimulus.votes) for stimulus in others} == {12 if gaps else 1}
