"""From ratings of pairs to tests and abilities."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from earwitness.core import Key, Rating
from earwitness.stats.paired_choices import sensitivity_of_counts
from earwitness.stats.significance import (
    binomial_at_least,
    binomial_share,
    binomial_two_sided,
    holm,
)
from earwitness.studies.analysis.choices import compare_choices, fit_abilities
from earwitness.studies.study import Trial
from earwitness.studies.trials import KINDS


def vote(
    value: float, listener: int, a: str = "new", b: str = "old", scale: str = "PREFERENCE"
) -> Rating:
    return Rating(Key("clip", a), scale, listener, 1, value, Key("clip", b))


def none(p: Sequence[float]) -> list[float]:
    return list(p)


def test_a_pair_is_counted_by_listener_and_over_all() -> None:
    votes = (
        [vote(1, 1)] * 7 + [vote(-1, 1)] + [vote(1, 2)] * 3 + [vote(-1, 2)] * 3 + [vote(0, 2)] * 2
    )
    [found] = compare_choices(votes, "PREFERENCE", level=0.95, correct=none)
    assert (found.a, found.b, found.wins, found.losses, found.ties) == ("new", "old", 10, 4, 2)
    assert found.share == binomial_share(10, 14)
    assert found.p == found.corrected == binomial_two_sided(10, 14)
    assert found.listeners == {1: (7, 1, 0, binomial_two_sided(7, 8)), 2: (3, 3, 2, 1.0)}
    assert found.sensitivity is None
    assert found.over_listeners.n == 2
    assert found.over_listeners.value == pytest.approx((7 / 8 + 1 / 2) / 2)


@pytest.mark.peer
def test_over_listeners_it_is_a_t_test_of_shares() -> None:
    from scipy.stats import ttest_1samp

    rng = np.random.default_rng(4)
    for scale, side in (("BETTER", "two-sided"), ("SAME", "greater")):
        votes, shares = [], []
        for listener in range(9):
            right = rng.random(12) < 0.6
            low = 0 if scale == "SAME" else -1
            votes += [vote(1 if one else low, listener, scale=scale) for one in right]
            shares.append(right.mean())
        [found] = compare_choices(votes, scale, level=0.9, correct=none)
        peer = ttest_1samp(shares, 0.5, alternative=side)
        assert found.p_over_listeners == pytest.approx(peer.pvalue)
        ends = ttest_1samp(shares, 0.5).confidence_interval(0.9)
        own = found.over_listeners
        assert (own.low, own.high) == pytest.approx((ends.low, ends.high))


def test_abx_is_right_or_wrong_one_sided_and_has_a_sensitivity() -> None:
    votes = [vote(1, 1, scale="SAME")] * 9 + [vote(0, 1, scale="SAME")]
    [found] = compare_choices(votes, "SAME", level=0.95, correct=none, model="independent")
    assert (found.wins, found.losses, found.ties) == (9, 1, 0)
    assert found.p == binomial_at_least(9, 10)
    assert found.sensitivity == sensitivity_of_counts(9, 10, model="independent")
    assert math.isnan(found.p_over_listeners)  # one listener
    assert fit_abilities(votes, "SAME", level=0.95) is None


def test_a_pair_named_both_ways_is_one_pair() -> None:
    votes = [vote(1, 1, "new", "old"), vote(1, 1, "old", "new"), vote(-1, 1, "old", "new")]
    [found] = compare_choices(votes, "PREFERENCE", level=0.95, correct=none)
    assert (found.a, found.b, found.wins, found.losses) == ("new", "old", 2, 1)


def test_p_is_corrected_over_pairs() -> None:
    votes = [vote(1, n, "c", "a") for n in range(8)] + [vote(1, n, "b", "a") for n in range(6)]
    found = compare_choices(votes, "PREFERENCE", level=0.95, correct=holm)
    assert [(one.a, one.b) for one in found] == [("b", "a"), ("c", "a")]
    assert [one.corrected for one in found] == holm([one.p for one in found])
    assert found[0].corrected != found[0].p or found[1].corrected != found[1].p


def test_shares_without_spread_have_no_interval_over_listeners() -> None:
    [found] = compare_choices(
        [vote(1, n) for n in range(5)], "PREFERENCE", level=0.95, correct=none
    )
    assert found.over_listeners.value == 1
    assert math.isnan(found.over_listeners.low)
    assert math.isnan(found.p_over_listeners)
    assert found.p == binomial_two_sided(5, 5)


def test_nothing_but_ties_is_undefined_but_for_their_number() -> None:
    [found] = compare_choices(
        [vote(0, n) for n in range(3)], "PREFERENCE", level=0.95, correct=none
    )
    assert found.ties == 3
    assert math.isnan(found.share.value)
    assert math.isnan(found.p)
    assert (found.over_listeners.n, found.over_listeners.undefined) == (0, 3)


def test_without_ratings_there_is_nothing() -> None:
    assert compare_choices([], "BETTER", level=0.95, correct=none) == ()
    empty = fit_abilities([], "BETTER", level=0.95)
    assert empty is not None
    assert empty.systems == {}


def test_abilities_have_intervals_over_listeners_and_ties_only_where_there_are_some() -> None:
    rng = np.random.default_rng(1)
    pairs = [("b", "a"), ("c", "a"), ("c", "b")]
    votes = [vote(float(rng.choice([1, 1, -1])), n, *pair) for n in range(8) for pair in pairs * 2]
    found = fit_abilities(votes, "PREFERENCE", level=0.95)
    assert found is not None
    assert found.ties is None
    assert found.separated == ()
    assert sum(one.value for one in found.systems.values()) == pytest.approx(0, abs=1e-9)
    assert all(one.low < one.value < one.high and one.n == 8 for one in found.systems.values())
    tied = fit_abilities([*votes, vote(0, 3, "c", "a")], "PREFERENCE", level=0.95)
    assert tied is not None
    assert tied.ties is not None
    assert tied.ties.low < tied.ties.value < tied.ties.high


def test_a_system_that_won_all_is_named() -> None:
    votes = [vote(1, n, "best", "a") for n in range(3)]
    votes += [vote(one, n, "b", "a") for n, one in enumerate([1, -1, 1])]
    found = fit_abilities(votes, "PREFERENCE", level=0.95)
    assert found is not None
    assert found.separated == ("best",)
    assert found.systems["best"].value == math.inf
    assert math.isnan(found.systems["best"].low)


@pytest.mark.parametrize(("kind", "scale"), [("ab", "BETTER"), ("preference", "PREFERENCE")])
def test_ratings_of_the_kinds_themselves_are_counted_right(kind: str, scale: str) -> None:
    """Either presented first, the system named is the one that was chosen."""
    made = KINDS[kind]()
    votes = []
    for listener, shown in enumerate([("old", "new"), ("new", "old")] * 3):
        trial = Trial("clip", shown, (scale,), against="old")
        chosen = 1.0 if shown[0] == "new" else -1.0  # 1 is the first
        votes += made.read(trial, {scale: chosen}, listener, 1)
    [found] = compare_choices(votes, scale, level=0.95, correct=none)
    assert (found.a, found.b, found.wins, found.losses) == ("new", "old", 6, 0)
