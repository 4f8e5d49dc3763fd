"""Tests of judged captions keep their promises: 60 clips, 2 authors, 16 raters and more.

Raters and clips differ by chance, in general and in what they make of an author. A test over raters
speaks about these clips, so its null is no difference on these clips; the mixed model speaks about
other clips too.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from earwitness.stats.contrasts import (
    equivalence_tests,
    group_contrasts,
    group_differences,
)
from earwitness.stats.mixed_model import (
    Components,
    fit_mixed_model,
    mixed_contrasts,
)
from earwitness.stats.votes import Votes
from helpers.samples import many
from helpers.simulated_votes import drawn
from helpers.vote_model import estimate_contrast

PARTS = Components(0.5, 0.4, 0.2, 0.3, 0.7)  # of totals, in points
SMALL = (20, 8)
FULL = (60, 16)
PAIR = (0, 1)
MARGIN = 0.5


class Shares(NamedTuple):
    """How often each test says that there is something."""

    names: tuple[str, ...]
    found: tuple[float, ...]
    runs: int

    @property
    def error(self) -> float:
        return math.sqrt(0.05 * 0.95 / self.runs)

    def __str__(self) -> str:
        told = [f"{name} {share:.4f}" for name, share in zip(self.names, self.found, strict=True)]
        return f"{', '.join(told)}; {self.runs} runs, Monte Carlo error {self.error:.4f}"


def size() -> tuple[int, int]:
    return FULL if many(0, 1) else SMALL


def judged(rng: np.random.Generator, difference: float = 0.0, parts: Components = PARTS) -> Votes:
    items, raters = size()
    return drawn(rng, parts, np.array([difference, 0.0]), items, raters)


def on_these(rng: np.random.Generator, difference: float) -> Votes:
    """Votes whose difference, over these clips, is exactly so large but for raters and noise."""
    votes = judged(rng, 0.0, replace(PARTS, item_system=0.0))
    effect = rng.normal(0, PARTS.item_system, (2, votes.size[1]))
    effect -= effect.mean(axis=1, keepdims=True)
    values = votes.values + effect[votes.systems, votes.items] + difference * (votes.systems == 0)
    return replace(votes, values=values)


def test_differences_are_rarely_found_where_there_are_none() -> None:
    runs, rng = many(60, 2000), np.random.default_rng(11)
    counts = np.zeros(3)
    for _ in range(runs):
        here, others = on_these(rng, 0.0), judged(rng)
        counts += [
            estimate_contrast(here, *PAIR).p < 0.05,
            mixed_contrasts(others, [PAIR])[0][1] < 0.05,
            estimate_contrast(others, *PAIR).p < 0.05,
        ]
    names = ("over raters, these clips", "mixed, other clips", "over raters, other clips")
    found = Shares(names, tuple((counts / runs).tolist()), runs)
    print(f"\nno difference: {found}")
    slack = max(0.015, 3.5 * found.error)
    assert found.found[0] == pytest.approx(0.05, abs=slack)
    assert found.found[1] == pytest.approx(0.05, abs=slack)
    assert found.found[2] > 0.07  # which is why the mixed model stands beside it


def test_equivalence_is_rarely_shown_at_the_margin_and_mostly_well_within() -> None:
    runs, rng = many(60, 1000), np.random.default_rng(12)
    counts = np.zeros(4)
    for _ in range(runs):
        edge, inside = on_these(rng, MARGIN), on_these(rng, 0.0)
        far, near = judged(rng, -MARGIN), judged(rng, 0.0)
        counts += [
            equivalence_tests(edge, [PAIR], MARGIN)[0].p < 0.05,
            equivalence_tests(inside, [PAIR], MARGIN)[0].p < 0.05,
            equivalence_tests(far, [PAIR], MARGIN, "mixed", fitted=fit_mixed_model(far))[0].p
            < 0.05,
            equivalence_tests(near, [PAIR], MARGIN, "mixed", fitted=fit_mixed_model(near))[0].p
            < 0.05,
        ]
    names = ("raters, at the margin", "raters, equal", "mixed, at the margin", "mixed, equal")
    found = Shares(names, tuple((counts / runs).tolist()), runs)
    print(f"\nequivalence within {MARGIN}: {found}")
    slack = max(0.012, 3.5 * found.error)
    assert found.found[0] <= 0.05 + slack
    assert found.found[2] <= 0.05 + slack
    assert found.found[1] > 0.8
    assert found.found[3] > 0.5


@pytest.mark.parametrize("of_listeners", [False, True])
def test_groups_that_do_not_matter_are_rarely_called_different(of_listeners: bool) -> None:
    """Clips in two datasets, raters in two juries: both with effects of their own."""
    runs, rng = many(60, 600), np.random.default_rng(13)
    counts = np.zeros(3)
    groups = np.arange(max(size())) % 2
    for _ in range(runs):
        others, plain = judged(rng), judged(rng, 0.0, replace(PARTS, item_system=0.0))
        rows = [
            group_differences(v, PAIR, groups, of_listeners=of_listeners) for v in (others, plain)
        ]
        counts += [
            mixed_contrasts(rows[0], [PAIR])[0][1] < 0.05,
            group_contrasts(rows[1], [PAIR], of_listeners=of_listeners)[0][1] < 0.05,
            group_contrasts(rows[0], [PAIR], of_listeners=of_listeners)[0][1] < 0.05,
        ]
    names = ("mixed, other clips", "over raters, clips alike", "over raters, other clips")
    found = Shares(names, tuple((counts / runs).tolist()), runs)
    print(f"\ngroups of {'raters' if of_listeners else 'clips'}: {found}")
    slack = max(0.015, 3.5 * found.error)
    assert found.found[0] <= 0.05 + slack
    assert found.found[1] == pytest.approx(0.05, abs=slack)
    if of_listeners:  # both juries judge the same clips, so these do not matter
        assert found.found[2] == pytest.approx(0.05, abs=slack)
    else:
        assert found.found[2] > 0.07
