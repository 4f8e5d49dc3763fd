"""Values that are selected from a result."""

from __future__ import annotations

import pytest

from earwitness.core import Value
from earwitness.errors import UsageError
from earwitness.scoring.results import find_values, first_ranked, select_values
from earwitness.scoring.score import score

VALUES = [
    Value("f1@1.0", "high", 0, 1, ""),
    Value("f1@3.0", "high", 0, 1, ""),
    Value("count", "none", 0, 9, ""),
    Value("pk", "low", 0, 1, ""),
]
SAMPLES = [
    {"id": "a", "hypothesis": [61, 120], "reference": [60], "duration": 180},
    {"id": "b", "hypothesis": [30], "reference": [90], "duration": 180},
]


@pytest.mark.parametrize(
    ("names", "selected"),
    [
        (None, []),
        ((), []),
        ("pk", ["pk"]),
        (["pk", "f1", "pk"], ["pk", "f1@1.0", "f1@3.0"]),
        (["f1@3.0"], ["f1@3.0"]),
    ],
)
def test_a_name_stands_for_all_variants(names: list[str] | str | None, selected: list[str]) -> None:
    assert find_values(VALUES, names) == selected


def test_an_unknown_value_is_refused() -> None:
    with pytest.raises(UsageError, match=r'unknown value "pkk" — did you mean "pk"\?'):
        find_values(VALUES, ["pkk"])


def test_worst_samples_are_ranked_by_a_value_with_a_better_end() -> None:
    assert first_ranked(VALUES, ["count", "pk"]) == "pk"
    assert first_ranked(VALUES, ["count"]) is None


def test_without_names_nothing_changes() -> None:
    scores = score(SAMPLES, draws=5)
    assert select_values(scores, []) is scores


def test_the_value_that_ranks_the_worst_samples_is_kept() -> None:
    scores = score(SAMPLES, draws=5, values="pk", worst=1, worst_by="collar_f1")
    kept = {value.name for values in scores.families.values() for value in values}
    assert kept == {"pk", "collar_f1"}
    assert scores.headlines == ("pk",)
    assert scores.worst[0].values.keys() == kept
