"""Tests of choices keep 5 % if listeners or items have tastes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from earwitness.analysis.choices import compare_choices, fit_abilities
from earwitness.core import Key, Rating
from helpers.samples import many

TASTE = 0.8  # standard deviation in logits
TIE_SHARE = 0.2


def null_study(
    rng: np.random.Generator, size: tuple[int, int], tastes: tuple[float, float], scale: str
) -> list[Rating]:
    """Choices without a preference on average; some listeners choose on half of the items only."""
    listeners, items = size
    own = rng.normal(0, tastes[0], listeners)[:, None] + rng.normal(0, tastes[1], items)
    first = rng.random(own.shape) < 1 / (1 + np.exp(-own))
    is_tied = rng.random(own.shape) < TIE_SHARE * (scale != "SAME")
    low = 0.0 if scale == "SAME" else -1.0
    return [
        Rating(
            Key(f"clip{item}", "new"),
            scale,
            who,
            1,
            0.0 if is_tied[who, item] else (1.0 if first[who, item] else low),
            Key(f"clip{item}", "old"),
        )
        for who in range(listeners)
        for item in range(items // (1 + (who % 3 == 0)))
    ]


@pytest.mark.parametrize(
    ("tastes", "other_items"),
    [((TASTE, 0.0), False), ((0.0, 0.0), False), ((TASTE, TASTE), True), ((0.0, 0.0), True)],
)
@pytest.mark.parametrize("size", [(8, 12), (20, 24), (24, 8)])
def test_choices_differ_from_chance_in_at_most_5_percent(
    size: tuple[int, int], tastes: tuple[float, float], other_items: bool
) -> None:
    runs, rng = many(60, 1000), np.random.default_rng(sum(size))
    calls = {"preference": 0, "ABX": 0, "ability": 0}
    for _ in range(runs):
        for name, scale in (("preference", "PREFERENCE"), ("ABX", "SAME")):
            votes = null_study(rng, size, tastes, scale)
            [choice] = compare_choices(votes, scale, level=0.95, other_items=other_items)
            calls[name] += choice.p < 0.05
            abilities = fit_abilities(votes, scale, level=0.95, other_items=other_items)
            if abilities:
                new = abilities.systems["new"]
                calls["ability"] += new.low > 0 or new.high < 0
    error = math.sqrt(0.05 * 0.95 / runs)
    print(f"{size} tastes={tastes} other_items={other_items}: {calls} of {runs} ± {error:.4f}")
    assert max(calls.values()) / runs < 0.065 + 3 * error
