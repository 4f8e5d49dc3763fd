"""The mixed model against its slow twin, the analysis of variance, and another program."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from algorithms import mixed as slow
from earwitness.stats import mixed_model
from earwitness.stats.arrays import Floats
from earwitness.stats.mixed_model import (
    Components,
    MixedModelFit,
    combine_means,
    fit_mixed_model,
    mixed_contrasts,
    mixed_means,
)
from earwitness.stats.votes import Votes
from helpers.samples import many
from helpers.simulated_votes import drawn

PARTS = Components(0.5, 0.4, 0.4, 0.4, 0.6)
SIZES = [(2, 5, 4), (3, 4, 5), (4, 6, 3)]


def votes_of(
    seed: int, systems: int, items: int, listeners: int, missing: float = 0.0, panels: int = 1
) -> Votes:
    rng = np.random.default_rng(seed)
    votes = drawn(rng, PARTS, np.linspace(2, 4, systems), items, listeners, panels)
    return votes.select(rng.random(len(votes.values)) >= missing)


def rows(votes: Votes) -> list[slow.Vote]:
    columns = votes.systems, votes.items, votes.listeners, votes.values
    return list(zip(*(column.tolist() for column in columns), strict=True))


def few(fitted: MixedModelFit) -> dict[str, float]:
    """The variances that are not 0."""
    return {name: value for name, value in fitted.variances.items() if value > 1e-6}


def with_items_of_one_system(votes: Votes, share: float) -> Votes:
    """The first items have a number of their own in each system, as if systems had other sounds."""
    systems, items, listeners = votes.size
    is_own = votes.items < share * items
    renamed = np.where(is_own, items * (1 + votes.systems) + votes.items, votes.items)
    return replace(votes, items=renamed, size=(systems, items * (1 + systems), listeners))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("missing", "own"), [(0.0, 0.0), (0.3, 0.0), (0.6, 0.0), (0.0, 1.0), (0.2, 0.5)]
)
def test_likelihood_means_errors_and_freedom_are_those_of_the_dense_matrix(
    size: tuple[int, int, int], missing: float, own: float
) -> None:
    for seed in range(many(3, 20)):
        votes = with_items_of_one_system(votes_of(seed, *size, missing), own)
        fitted, plain = fit_mixed_model(votes), rows(votes)
        dense = slow.likely(plain, fitted.variances)
        assert fitted.converged
        assert fitted.loglik == pytest.approx(dense.loglik, abs=1e-8)
        assert fitted.means == pytest.approx(dense.means, abs=1e-8)
        assert fitted.covariance == pytest.approx(dense.covariance, abs=1e-8)
        one = np.eye(size[0])[0]
        freedom = combine_means(votes, fitted, [(0,), (0, 1)]).freedom
        for weights, found in zip((one, one - np.eye(size[0])[1]), freedom, strict=True):
            expected = slow.freedom(plain, few(fitted), weights.tolist())
            assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_no_other_variances_are_likelier(size: tuple[int, int, int], missing: float) -> None:
    rng = np.random.default_rng(3)
    for seed in range(many(3, 20)):
        votes = votes_of(seed, *size, missing)
        fitted, own = fit_mixed_model(votes), rows(votes)
        for scale in (0.01, 0.1, 1.0):
            for _ in range(5):
                moved = {
                    name: max(
                        1e-9, value * (1 + scale * rng.normal()) + 0.01 * scale * rng.random()
                    )
                    for name, value in fitted.variances.items()
                }
                assert slow.likely(own, moved).loglik <= fitted.loglik + 1e-7


def mean_squares(table: Floats) -> dict[str, float]:
    """Of a full table of systems, items and listeners: squares by what varies, over their freedom.

    Items with listeners, and all three together, are the residual.
    """
    squares, freedoms = {}, {}
    for axes in itertools.chain.from_iterable(
        itertools.combinations(range(3), k) for k in (1, 2, 3)
    ):
        part = np.zeros_like(table)
        for k in range(len(axes) + 1):
            for kept in itertools.combinations(axes, k):
                others = tuple(set(range(3)) - set(kept))
                part = part + (-1) ** (len(axes) - k) * table.mean(axis=others, keepdims=True)
        squares[axes] = float((part**2).sum())
        freedoms[axes] = math.prod(table.shape[axis] - 1 for axis in axes)
    rest = [(1, 2), (0, 1, 2)]
    return {
        "listener": squares[2,] / freedoms[2,],
        "item": squares[1,] / freedoms[1,],
        "listener_system": squares[0, 2] / freedoms[0, 2],
        "item_system": squares[0, 1] / freedoms[0, 1],
        "residual": sum(squares[axes] for axes in rest) / sum(freedoms[axes] for axes in rest),
    }


def test_full_tables_have_the_variances_of_the_analysis_of_variance() -> None:
    compared = 0
    for seed in range(many(8, 40)):
        systems, items, listeners = 3, 8, 6
        votes = votes_of(seed, systems, items, listeners)
        square = mean_squares(votes.values.reshape(systems, items, listeners))
        expected = {
            "listener": (square["listener"] - square["listener_system"]) / (items * systems),
            "item": (square["item"] - square["item_system"]) / (listeners * systems),
            "listener_system": (square["listener_system"] - square["residual"]) / items,
            "item_system": (square["item_system"] - square["residual"]) / listeners,
            "residual": square["residual"],
        }
        if min(expected.values()) > 0:
            compared += 1
            assert fit_mixed_model(votes).variances == pytest.approx(expected, rel=1e-7)
    assert compared > 4


@pytest.mark.peer
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_statsmodels_finds_the_same(missing: float) -> None:
    import warnings

    import pandas
    from statsmodels.regression.mixed_linear_model import MixedLM

    votes = votes_of(11, 3, 6, 6, missing)
    fitted = fit_mixed_model(votes)
    assert min(fitted.variances.values()) > 1e-3
    table = pandas.DataFrame(
        {
            "vote": votes.values,
            "system": votes.systems,
            "listener": votes.listeners,
            "item": votes.items,
            "listener_system": votes.listeners * 3 + votes.systems,
            "item_system": votes.items * 3 + votes.systems,
            "all": np.ones(len(votes.values)),
        }
    )
    names = ["listener", "item", "listener_system", "item_system"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MixedLM.from_formula(
            "vote ~ 0 + C(system)",
            table,
            groups="all",
            re_formula="0",
            vc_formula={name: f"0 + C({name})" for name in names},
        )
        peer = model.fit(reml=True, method="lbfgs", gtol=1e-9)
    theirs = dict(zip(model.exog_vc.names, peer.vcomp, strict=True), residual=peer.scale)
    assert fitted.variances == pytest.approx(theirs, rel=2e-3)
    assert fitted.means == pytest.approx(np.asarray(peer.fe_params), abs=1e-4)
    # theirs are those of the joint Hessian of means and variances: the same in full tables alone
    errors = np.sqrt(np.diag(fitted.covariance))
    assert errors == pytest.approx(np.asarray(peer.bse_fe), rel=5e-3 if missing else 1e-4)


def test_freedom_is_never_more_than_votes_less_systems() -> None:
    for seed in range(many(8, 300)):
        rng = np.random.default_rng(seed)
        parts = Components(*[*rng.choice([0.0, 0.05, 0.5, 2.0], 4).tolist(), 0.5])
        votes = drawn(rng, parts, np.zeros(3), 5, 4).select(rng.random(60) < 0.8)
        fitted = fit_mixed_model(votes)
        freedom = combine_means(votes, fitted, [(0,), (0, 2)]).freedom
        assert (freedom > 0).all()
        assert (freedom <= len(votes.values) - 3 + 1e-6).all()


@pytest.mark.parametrize(
    ("size", "left_out"),
    [
        ((3, 4, 4), ()),
        ((1, 4, 4), ("listener_system", "item_system")),
        ((3, 4, 1), ("listener", "listener_system", "item_system")),
        ((3, 1, 4), ("item", "listener_system", "item_system")),
        ((1, 4, 1), ("listener", "item", "listener_system", "item_system")),
        ((3, 1, 1), ("listener", "item", "listener_system", "item_system")),
    ],
)
def test_components_that_cannot_be_told_from_others_are_left_out_and_named(
    size: tuple[int, int, int], left_out: tuple[str, ...]
) -> None:
    fitted = fit_mixed_model(votes_of(1, *size))
    assert fitted.left_out == left_out
    assert not set(left_out) & set(fitted.variances)


def test_an_item_of_one_listener_alone_is_that_listener() -> None:
    assert fit_mixed_model(votes_of(1, 3, 6, 6, panels=6)).left_out == (
        "item",
        "listener_system",
        "item_system",
    )


@pytest.mark.parametrize("size", [(3, 4, 1), (3, 1, 4), (1, 1, 1), (3, 1, 1)])
def test_without_two_listeners_and_two_items_there_is_a_mean_but_no_interval(
    size: tuple[int, int, int],
) -> None:
    votes = votes_of(2, *size)
    for system, estimate in enumerate(mixed_means(votes)):
        assert estimate.value == pytest.approx(votes.values[votes.systems == system].mean())
        assert math.isnan(estimate.low)
        assert math.isnan(estimate.high)
    ((difference, p),) = mixed_contrasts(votes, [(0, size[0] - 1)])
    assert math.isnan(p)
    assert math.isnan(difference.low)


def test_constant_votes_have_a_mean_and_no_interval() -> None:
    votes = votes_of(2, 2, 3, 4)
    for value in (4.0, 0.1, 0.0):
        same = replace(votes, values=np.full(24, value))
        (first, _) = mixed_means(same)
        assert first.value == pytest.approx(value)
        assert math.isnan(first.low)
        assert math.isnan(mixed_contrasts(same, [(0, 1)])[0][1])


def test_votes_without_any_rest_still_have_an_interval_over_listeners() -> None:
    votes = votes_of(2, 2, 3, 4)
    levels = np.array([1.0, 2.0, 4.0, 5.0])[votes.listeners]
    sure = replace(votes, values=levels)
    (first, _) = mixed_means(sure)
    # listeners 1, 2, 4, 5: mean 3, variance 10 / 3, t of 3 degrees of freedom 3.182
    assert first.value == pytest.approx(3)
    assert first.high - 3 == pytest.approx(3.18245 * math.sqrt(10 / 3 / 4), rel=1e-3)


def test_a_model_that_is_too_large_is_skipped_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mixed_model, "MAX_BORDER", 8)
    fitted = fit_mixed_model(votes_of(2, 2, 3, 4))  # 2 systems, 3 items and 4 listeners of both
    assert fitted.skipped == (
        "it would have 9 systems, and listeners and items of several systems, more than 8"
    )
    assert math.isnan(mixed_means(votes_of(2, 2, 3, 4))[0].low)
    own = with_items_of_one_system(votes_of(2, 2, 3, 4), 1.0)
    assert not fit_mixed_model(own).skipped  # items of one system are part of its block


def test_steps_are_reported() -> None:
    steps = list[int]()
    fit_mixed_model(votes_of(2, 2, 3, 4, 0.3), progress=steps.append)
    assert steps == list(range(len(steps)))
    assert steps


def test_no_votes_at_all_and_a_system_without_votes_are_undefined() -> None:
    votes = votes_of(2, 3, 4, 4)
    for estimate in mixed_means(votes.select(np.zeros(48, bool))):
        assert math.isnan(estimate.value)
        assert math.isnan(estimate.low)
        assert estimate.n == 0
    some = votes.select(votes.systems != 1)
    means = mixed_means(some)
    assert [math.isnan(one.value) for one in means] == [False, True, False]
    assert [one.n for one in means] == [4, 0, 4]
    only = Votes(some.values, some.systems // 2, some.items, some.listeners, (2, 4, 4))
    assert means[2].high == pytest.approx(mixed_means(only)[1].high)
    (known, _), (unknown, p) = mixed_contrasts(some, [(0, 2), (0, 1)])
    assert not math.isnan(known.low)
    assert math.isnan(unknown.value)
    assert math.isnan(p)


def test_any_few_votes_give_means_and_no_error() -> None:
    for seed in range(many(60, 3000)):
        rng = np.random.default_rng(seed)
        size = tuple(rng.integers(1, 4, 3).tolist())
        votes = drawn(rng, PARTS, np.full(size[0], 3.0), size[1], size[2])
        kept = votes.select(rng.random(len(votes.values)) < rng.random())
        whole = replace(kept, values=np.rint(kept.values))
        for system, estimate in enumerate(mixed_means(whole)):
            assert math.isnan(estimate.value) == (system not in whole.systems)
            assert math.isnan(estimate.low) or estimate.low <= estimate.value <= estimate.high


def test_votes_scaled_and_moved_give_means_scaled_and_moved() -> None:
    votes = votes_of(5, 3, 5, 6, 0.2)
    other = replace(votes, values=votes.values * 20 + 1000)
    for one, two in zip(mixed_means(votes), mixed_means(other), strict=True):
        assert two.low == pytest.approx(one.low * 20 + 1000, rel=1e-7)


def test_intervals_say_how_they_were_made() -> None:
    votes = votes_of(5, 3, 5, 6)
    (first, *_) = mixed_means(votes, level=0.9)
    assert (first.level, first.n, first.undefined, first.method) == (0.9, 6, 0, "mixed")
    ((difference, p),) = mixed_contrasts(votes, [(2, 0)], level=0.95)
    assert difference.value == pytest.approx(mixed_means(votes)[2].value - first.value)
    assert (p < 0.05) == (difference.low > 0 or difference.high < 0)
