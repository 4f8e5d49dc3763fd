"""Abilities are at the top of the likelihood, and what has no top is named."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from earwitness.stats.paired_choices import Choices, fit_bradley_terry
from helpers.samples import many

Floats = NDArray[np.float64]


def drawn(
    rng: np.random.Generator, theta: Floats, eta: float, listeners: int, rounds: int = 1
) -> Choices:
    """Votes of the model itself on all pairs."""
    pairs = list(combinations(range(len(theta)), 2)) * rounds
    rows = []
    for listener in range(listeners):
        for a, b in pairs:
            half = (theta[a] - theta[b]) / 2
            chances = np.exp([half, -half, eta])
            rows.append((a, b, (1, -1, 0)[rng.choice(3, p=chances / chances.sum())], listener))
    return of(rows, len(theta), listeners)


def of(rows: list[tuple[int, int, int, int]], systems: int, listeners: int) -> Choices:
    first, second, outcomes, who = np.array(rows, np.int64).reshape(-1, 4).T
    return Choices(first, second, outcomes, who, (systems, listeners))


def log_likelihood(theta: Floats, eta: float, choices: Choices) -> float:
    """As Davidson writes it, vote by vote."""
    total = 0.0
    for a, b, outcome in zip(choices.first, choices.second, choices.outcomes, strict=True):
        one, other = math.exp(theta[a]), math.exp(theta[b])
        tie = math.exp(eta) * math.sqrt(one * other)
        own = {1: one, -1: other, 0: tie}[int(outcome)]
        total += math.log(own / (one + other + tie))
    return total


def test_abilities_of_baseball_teams_are_those_published() -> None:
    """Agresti (1990), Categorical data analysis, 10.6: American League 1987, against Baltimore."""
    won = [
        [0, 7, 9, 7, 7, 9, 11],  # Milwaukee
        [6, 0, 7, 5, 11, 9, 9],  # Detroit
        [4, 6, 0, 7, 7, 8, 12],  # Toronto
        [6, 8, 6, 0, 6, 7, 10],  # New York
        [6, 2, 6, 7, 0, 7, 12],  # Boston
        [4, 4, 5, 6, 6, 0, 6],  # Cleveland
        [2, 4, 1, 3, 1, 7, 0],  # Baltimore
    ]
    rows = [(a, b, 1, n) for a, b in permutations(range(7), 2) for n in range(won[a][b])]
    found = fit_bradley_terry(of(rows, 7, 12)).abilities
    assert [round(x, 2) for x in found - found[-1]] == [1.58, 1.44, 1.29, 1.25, 1.11, 0.68, 0]


@pytest.mark.parametrize("eta", [-2.0, -0.5, 1.0])
def test_the_top_is_where_a_plain_climber_finds_it(eta: float) -> None:
    from scipy.optimize import minimize

    for seed in range(many(2, 20)):
        choices = drawn(np.random.default_rng(seed), np.array([0.6, 0.1, -0.2, -0.5]), eta, 12, 2)

        def depth(x: Floats, choices: Choices = choices) -> float:
            return -log_likelihood(np.append(x[:3], -x[:3].sum()), x[3], choices)

        plain = minimize(depth, np.zeros(4), method="BFGS", options={"gtol": 1e-6}).x
        found = fit_bradley_terry(choices)
        assert found.core.all()
        assert found.abilities.sum() == pytest.approx(0, abs=1e-10)
        assert found.abilities[:3] == pytest.approx(plain[:3], abs=1e-5)
        assert found.ties == pytest.approx(plain[3], abs=1e-5)


def test_errors_are_the_sandwich_by_numbers() -> None:
    """Slopes and bends by differences of the plain likelihood."""
    choices = drawn(np.random.default_rng(3), np.array([0.5, 0.0, -0.5]), -0.3, 10, 2)
    found = fit_bradley_terry(choices)
    top = np.append(found.abilities[:2], found.ties)

    def height(x: Floats, who: int | None = None) -> float:
        own = choices.listeners == who if who is not None else np.ones(len(choices.first), bool)
        parts = choices.first[own], choices.second[own], choices.outcomes[own]
        some = Choices(*parts, choices.listeners[own], choices.size)
        return log_likelihood(np.append(x[:2], -x[:2].sum()), x[2], some)

    steps = np.eye(3) * 1e-4
    scores = np.array(
        [[(height(top + s, k) - height(top - s, k)) / 2e-4 for s in steps] for k in range(10)]
    )

    def bent(a: Floats, b: Floats) -> float:
        ahead, behind = height(top + a + b) - height(top + a - b), height(top - a + b)
        return (ahead - behind + height(top - a - b)) / 4e-8

    bend = np.array([[bent(a, b) for a in steps] for b in steps])
    inverse = np.linalg.inv(bend)
    covariance = inverse @ scores.T @ scores @ inverse * 10 / 9
    assert found.errors[:2] == pytest.approx(np.sqrt(np.diag(covariance))[:2], rel=1e-4)
    assert found.ties_error == pytest.approx(math.sqrt(covariance[2, 2]), rel=1e-4)
    last = covariance[:2, :2].sum()  # the last is less the sum of the others
    assert found.errors[2] == pytest.approx(math.sqrt(last), rel=1e-4)


@pytest.mark.peer
def test_without_ties_it_is_a_logistic_regression_with_clusters() -> None:
    import statsmodels.api as sm

    theta = np.array([0.6, 0.1, -0.7])
    choices = drawn(np.random.default_rng(8), theta, -50.0, 12, 4)
    columns = np.zeros((len(choices.first), 3))
    rows = np.arange(len(columns))
    columns[rows, choices.first], columns[rows, choices.second] = 1, -1
    free = columns @ np.array([[1, 0], [0, 1], [-1, -1]])  # abilities sum to 0
    groups = {"groups": choices.listeners, "use_correction": False}
    model = sm.GLM(choices.outcomes > 0, free, family=sm.families.Binomial())
    peer = model.fit(cov_type="cluster", cov_kwds=groups, tol=1e-12)
    found = fit_bradley_terry(choices)
    assert found.ties == -math.inf
    assert math.isnan(found.ties_error)
    assert found.abilities[:2] == pytest.approx(peer.params, abs=1e-8)
    assert found.errors[:2] == pytest.approx(peer.bse * math.sqrt(12 / 11), rel=1e-6)


@given(st.integers(0, 10**6), st.sampled_from([2, 3, 4]), st.integers(1, 8))
def test_small_panels_have_a_top_or_are_named(seed: int, systems: int, votes: int) -> None:
    """All is finite if and only if no way leads up for ever, and all systems are connected."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    pairs = [tuple(rng.choice(systems, 2, replace=False)) for _ in range(votes)]
    rows = [(int(a), int(b), int(rng.integers(-1, 2)), n) for n, (a, b) in enumerate(pairs)]
    found = fit_bradley_terry(of(rows, systems, votes))
    # A way out to infinity never loses: a choice has ±u ≥ 0 and ±u ≥ η, a tie η ≥ |u|; u is half
    # the distance. Some way has to gain: the sum of all gains is made as large as can be. Without
    # any tie the tie factor is no part of the model.
    tied = any(outcome == 0 for _, _, outcome, _ in rows)
    limits = []
    for a, b, outcome, _ in rows:
        half, tie = np.zeros(systems + 1), np.zeros(systems + 1)
        half[a], half[b], tie[-1] = 0.5, -0.5, 1.0
        chosen = [half * outcome, half * outcome - tie][: 1 + tied]
        limits += chosen if outcome else [tie - half, tie + half]
    gains, ends = np.sum(limits, axis=0), [(-1, 1)] * systems + [(-tied, tied)]
    best = -linprog(-gains, A_ub=-np.array(limits), b_ub=np.zeros(len(limits)), bounds=ends).fun
    graph = np.eye(systems, dtype=bool)
    for a, b, _, _ in rows:
        graph[a, b] = graph[b, a] = True
    connected = bool((np.linalg.matrix_power(graph.astype(float), systems) > 0).all())
    assert bool(found.core.all()) == (connected and best < 1e-9)
    assert np.isfinite(found.abilities[found.core]).all()
    assert not np.isfinite(found.abilities[~found.core]).any()


def test_who_won_all_and_who_lost_all_are_infinite_beside_the_others() -> None:
    rows = [(1, 2, 1, 0), (1, 2, -1, 1), (1, 2, 1, 2), (0, 1, 1, 0), (0, 2, 1, 1), (2, 3, 1, 2)]
    found = fit_bradley_terry(of(rows, 4, 3))
    assert found.core.tolist() == [False, True, True, False]
    # 2 of 3 choices: a log ratio of log 2, half of it to either side
    assert found.abilities.tolist() == pytest.approx(
        [math.inf, math.log(2) / 2, -math.log(2) / 2, -math.inf]
    )
    assert np.isnan(found.errors[[0, 3]]).all()
    assert np.isfinite(found.errors[[1, 2]]).all()


def test_systems_that_never_meet_cannot_be_placed() -> None:
    rows = [(0, 1, 1, 0), (0, 1, -1, 1), (0, 1, 1, 1), (2, 3, 1, 0), (2, 3, -1, 1)]
    found = fit_bradley_terry(of(rows, 4, 2))
    assert found.core.tolist() == [True, True, False, False]
    assert np.isnan(found.abilities[2:]).all()


def test_without_a_circle_only_the_ends_are_known() -> None:
    found = fit_bradley_terry(of([(0, 1, 1, 0), (1, 2, 1, 0)], 3, 1))
    assert found.abilities.tolist() == pytest.approx([math.inf, math.nan, -math.inf], nan_ok=True)


def test_ties_that_fit_too_well_leave_nothing_finite() -> None:
    found = fit_bradley_terry(of([(0, 1, 1, 0), (0, 1, 0, 1)], 2, 2))  # the second never won
    assert found.ties == math.inf
    assert np.isnan(found.abilities).all()
    only = fit_bradley_terry(of([(0, 1, 0, 0), (0, 1, 0, 1)], 2, 2))
    assert only.ties == math.inf


def test_without_votes_or_with_one_listener_nothing_breaks() -> None:
    none = fit_bradley_terry(of([], 2, 0))
    assert np.isnan(none.abilities).all()
    assert fit_bradley_terry(of([], 0, 0)).abilities.size == 0
    alone = fit_bradley_terry(of([(0, 1, 1, 0), (0, 1, -1, 0), (0, 1, 0, 0)], 2, 1))
    assert alone.abilities.tolist() == pytest.approx([0, 0])
    assert alone.ties == pytest.approx(0)  # as often as either: a third each
    assert np.isnan(alone.errors).all()
