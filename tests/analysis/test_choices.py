"""From ratings of pairs to tests and abilities."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from earwitness.analysis.choices import compare_choices, fit_abilities
from earwitness.core import Key, Rating
from earwitness.stats.paired_choices import sensitivity_of_share
from earwitness.stats.significance import (
    binomial_at_least,
    binomial_share,
    binomial_two_sided,
    holm,
)
from earwitness.studies.study import Trial
from earwitness.studies.trials import KINDS


def vote(
    value: float, listener: int, a: str = "new", b: str = "old", scale: str = "PREFERENCE"
) -> Rating:
    return Rating(Key("clip", a), scale, listener, 1, value, Key("clip", b))


def test_a_pair_is_counted_by_listener_and_each_listener_has_one_value() -> None:
    votes = (
        [vote(1, 1)] * 7
        + [vote(-1, 1)]
        + [vote(1, 2)] * 3
        + [vote(-1, 2)] * 3
        + [vote(0, 2)] * 2
        + [vote(1, 3), vote(0, 3)]
    )
    [found] = compare_choices(votes, "PREFERENCE", level=0.95)
    assert (found.a, found.b, found.wins, found.losses, found.ties) == ("new", "old", 11, 4, 3)
    assert found.items == 1
    assert found.share.value == pytest.approx((7 / 8 + 4 / 8 + 1.5 / 2) / 3)
    assert (found.share.n, found.share.method) == (3, "cluster_t")
    assert found.listeners == {
        1: (7, 1, 0, binomial_two_sided(7, 8)),
        2: (3, 3, 2, 1.0),
        3: (1, 0, 1, 1.0),
    }
    assert found.sensitivity is None


@pytest.mark.peer
def test_the_test_is_a_t_test_of_the_shares_of_listeners() -> None:
    from scipy.stats import ttest_1samp

    rng = np.random.default_rng(4)
    for scale, side in (("BETTER", "two-sided"), ("SAME", "greater")):
        votes, shares = [], []
        for listener in range(9):
            right = rng.random(12) < 0.6
            low = 0 if scale == "SAME" else -1
            votes += [vote(1 if one else low, listener, scale=scale) for one in right]
            shares.append(right.mean())
        [found] = compare_choices(votes, scale, level=0.9)
        peer = ttest_1samp(shares, 0.5, alternative=side)
        assert found.p == pytest.approx(peer.pvalue)
        ends = ttest_1samp(shares, 0.5).confidence_interval(0.9)
        assert (found.share.low, found.share.high) == pytest.approx((ends.low, ends.high))
        if found.sensitivity:
            assert found.sensitivity == sensitivity_of_share(found.share)


def test_with_other_items_the_test_is_two_way() -> None:
    rng = np.random.default_rng(5)
    chosen = rng.integers(-1, 2, (6, 5))
    votes = [
        Rating(Key(f"clip{item}", "new"), "BETTER", who, 1, float(x), Key(f"clip{item}", "old"))
        for who, row in enumerate(chosen)
        for item, x in enumerate(row.tolist())
    ]
    [found] = compare_choices(votes, "BETTER", level=0.95, other_items=True)
    assert found.items == 5
    assert found.share.method == "two_way_t"
    assert found.a == "old"
    assert found.share.value == pytest.approx((1 - chosen).mean() / 2)
    [narrow] = compare_choices(votes, "BETTER", level=0.95)
    assert found.share.high - found.share.low > narrow.share.high - narrow.share.low
    wide = fit_abilities(votes, "BETTER", level=0.95, other_items=True)
    usual = fit_abilities(votes, "BETTER", level=0.95)
    assert wide is not None
    assert usual is not None
    assert wide.systems["new"].value == usual.systems["new"].value
    assert wide.systems["new"].high > usual.systems["new"].high


def test_abx_is_right_or_wrong_one_sided_and_exact_for_one_listener() -> None:
    votes = [vote(1, 1, scale="SAME")] * 9 + [vote(0, 1, scale="SAME")]
    [found] = compare_choices(votes, "SAME", level=0.95, model="independent")
    assert (found.wins, found.losses, found.ties) == (9, 1, 0)
    assert found.p == binomial_at_least(9, 10)
    assert found.share == binomial_share(9, 10)
    assert found.sensitivity == sensitivity_of_share(binomial_share(9, 10), "independent")
    assert fit_abilities(votes, "SAME", level=0.95) is None


def test_two_listeners_have_no_test() -> None:
    [found] = compare_choices([vote(1, 1), vote(1, 2), vote(-1, 2)], "PREFERENCE", level=0.95)
    assert found.share.value == 0.75
    assert math.isnan(found.p)
    assert math.isnan(found.share.low)


def test_a_pair_named_both_ways_is_one_pair() -> None:
    votes = [vote(1, 1, "new", "old"), vote(1, 1, "old", "new"), vote(-1, 1, "old", "new")]
    [found] = compare_choices(votes, "PREFERENCE", level=0.95)
    assert (found.a, found.b, found.wins, found.losses) == ("new", "old", 2, 1)


def test_p_is_corrected_over_pairs() -> None:
    votes = [vote(1, n, "c", "a") for n in range(8)] + [vote(1, n, "b", "a") for n in range(6)]
    found = compare_choices(votes, "PREFERENCE", level=0.95, correction="holm")
    assert [(one.a, one.b) for one in found] == [("b", "a"), ("c", "a")]
    assert [one.p for one in found] == [2 / 2**6, 2 / 2**8]  # sign tests of unanimous listeners
    assert [one.corrected for one in found] == holm([one.p for one in found])


def test_equal_shares_are_tested_by_signs_and_have_no_interval() -> None:
    [found] = compare_choices([vote(1, n) for n in range(5)], "PREFERENCE", level=0.95)
    assert found.share.value == 1
    assert math.isnan(found.share.low)
    assert found.p == 2 / 2**5
    right = [vote(1, n, scale="SAME") for n in range(5)]
    [found] = compare_choices(right, "SAME", level=0.95)
    assert found.p == 1 / 2**5


def test_nothing_but_ties_is_no_difference() -> None:
    [found] = compare_choices([vote(0, n) for n in range(3)], "PREFERENCE", level=0.95)
    assert (found.ties, found.share.value, found.p) == (3, 0.5, 1.0)


def test_without_ratings_there_is_nothing() -> None:
    assert compare_choices([], "BETTER", level=0.95) == ()
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
    [found] = compare_choices(votes, scale, level=0.95)
    assert (found.a, found.b, found.wins, found.losses) == ("new", "old", 6, 0)


def test_pairs_are_ranked_and_their_intervals_agree_with_corrected_p() -> None:
    rng = np.random.default_rng(8)
    names = ["e", "d", "c", "b", "a"]  # from best to worst
    votes = [
        Rating(Key(f"clip{item}", second), "BETTER", who, 1, value, Key(f"clip{item}", first))
        for (n, first), (m, second) in combinations(enumerate(names), 2)
        for who in range(9)
        for item in range(4)
        for value in [1.0 if rng.random() < 0.5 - 0.12 * (m - n) else -1.0]
    ]
    for correction in ("holm", "bh", "none"):
        found = compare_choices(votes, "BETTER", level=0.95, correction=correction)
        assert [(one.a, one.b) for one in found] == list(combinations(names, 2))
        differs = [one.corrected < 0.05 for one in found]
        assert 0 < sum(differs) < len(found)
        excluded = [not one.share.low <= 0.5 <= one.share.high for one in found]
        ends = [0.5 in (one.share.low, one.share.high) for one in found]
        assert all(a == b or c for a, b, c in zip(differs, excluded, ends, strict=True))


def test_two_listeners_give_abilities_without_intervals() -> None:
    votes = [
        Rating(Key(f"clip{item}", "new"), "BETTER", who, 1, value, Key(f"clip{item}", "old"))
        for who in range(2)
        for item, value in enumerate([1.0, 1.0, -1.0, 0.0, 1.0 if who else -1.0])
    ]
    abilities = fit_abilities(votes, "BETTER", level=0.95)
    assert abilities is not None
    assert all(np.isfinite(one.value) and np.isnan(one.low) for one in abilities.systems.values())
