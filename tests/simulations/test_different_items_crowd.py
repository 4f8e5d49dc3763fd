"""The two-way test of systems with different items, with one to a few votes per listener.

Systems have items of their own; many studies are tested in one call, as systems of one table.
"""

from __future__ import annotations

import numpy as np
import pytest

from helpers.samples import many
from helpers.simulated_votes import Crowd, crowd_votes, two_way_p

STUDIES_AT_ONCE = 400


def share_significant(crowd: Crowd, runs: int, difference: float = 0.0) -> float:
    """Return the share of studies with a significant difference."""
    rng = np.random.default_rng([*crowd[:3], round(10 * difference)])
    counts = [min(STUDIES_AT_ONCE, runs - done) for done in range(0, runs, STUDIES_AT_ONCE)]
    p = [two_way_p(crowd_votes(rng, crowd, n, difference)) for n in counts]
    return float((np.concatenate(p) < 0.05).mean())


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize(("items", "listeners"), [(20, 60), (80, 400)])
def test_equal_systems_differ_in_5_percent_with_one_and_two_votes_per_listener(
    items: int, listeners: int, both: bool
) -> None:
    runs = many(2000, 10_000)
    for each in (1, 2):
        crowd = Crowd(items, listeners, each * listeners * (1 + both), both)
        size = share_significant(crowd, runs)
        error = (0.05 * 0.95 / runs) ** 0.5
        print(f"\n{each} per listener, {crowd}: {size:.4f}, {runs} runs")
        assert 0.025 < size < 0.06 + 3 * error * (runs < 10_000)


@pytest.mark.parametrize("difference", [1.0, 0.6])
@pytest.mark.parametrize(
    ("items", "listeners", "votes"),
    [
        (20, 60, (65, 70, 75, 80, 82, 85, 90, 100, 110, 120)),
        (80, 400, (440, 460, 470, 476, 480, 484, 490, 500, 520, 560)),
    ],
)
def test_power_does_not_fall_when_votes_are_added(
    items: int, listeners: int, votes: tuple[int, ...], difference: float
) -> None:
    runs = many(400, 4000)
    power = np.array(
        [share_significant(Crowd(items, listeners, count), runs, difference) for count in votes]
    )
    print(f"\n{items} items, {listeners} listeners, {difference}:", power)
    best = np.maximum.accumulate(power)
    error = np.sqrt((best * (1 - best) + power * (1 - power)) / runs)
    assert (power >= best - 3 * error).all()


def test_equal_systems_differ_in_at_most_8_percent_with_3_and_40_items() -> None:
    runs, rng = many(1200, 10_000), np.random.default_rng(3)
    called = 0.0
    for _ in range(0, runs, 200):
        votes = crowd_votes(rng, Crowd(80, 24, 24 * 80, both=True), 200)
        called += (
            two_way_p(votes.select((votes.systems % 2 == 1) | (votes.items < 3))) < 0.05
        ).sum()
    print(f"\n3 and 40 items: {called / runs:.4f}, {runs} runs")
    assert called / runs < 0.08 + 3 * (0.06 * 0.94 / runs) ** 0.5 * (runs < 10_000)
