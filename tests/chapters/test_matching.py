"""Matched boundaries of one case: the pairs that the metrics count."""

from __future__ import annotations

from random import Random

import pytest

from earwitness.chapters.matching import MATCHINGS, PAIRINGS, match_boundaries
from earwitness.scoring.score import score
from earwitness.stats.arrays import Ragged


@pytest.mark.parametrize("name", list(MATCHINGS))
def test_pairs_are_as_many_as_the_metric_counts(name: str) -> None:
    rng = Random(1)
    for _ in range(60):
        collar = rng.choice([0.0, 1.0, 3.0, 30.0])
        output, reference = (
            [float(rng.randrange(1, 60)) for _ in range(rng.randrange(12))] for _ in range(2)
        )
        pairs = PAIRINGS[name](output, reference, collar)
        count = MATCHINGS[name](Ragged.from_rows([output]), Ragged.from_rows([reference]), collar)
        assert len(pairs) == count[0]
        assert len({mine for mine, _ in pairs}) == len({theirs for _, theirs in pairs}) == count[0]
        assert all(abs(output[mine] - reference[theirs]) <= collar for mine, theirs in pairs)


def test_one_boundary_matches_once_and_the_ends_are_ignored() -> None:
    found = match_boundaries(
        (0.0, 9.0, 59.0, 61.0, 80.0),
        {"anna": (60.0, 95.0), "ben": (58.0, 62.0)},
        duration=100,
        collar=3.0,
        matching="greedy",
        edge=10.0,
    )
    assert found.matched == (None, None, ("anna", "ben"), ("ben",), ())
    assert found.missed == {"anna": (), "ben": ()}


def test_matches_of_an_item_follow_the_value_that_is_shown() -> None:
    sample = {"id": "a", "hypothesis": [64, 120], "reference": [60], "duration": 180}
    scores = score([sample], show="a", collar=[3, 5])
    matches = scores.shown[0].matches
    assert matches["collar_f1@3.0"].systems["outputs"].missed == {"reference": (60.0,)}
    assert matches["collar_f1@5.0"].systems["outputs"].matched == (("reference",), ())
    assert matches["collar_recall@5.0"].collar == 5
    assert matches[""].collar == 3
