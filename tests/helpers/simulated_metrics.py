"""Small studies with metrics of known quality."""

from __future__ import annotations

import numpy as np

from earwitness.core import Key, Rating, Score
from earwitness.metaeval.join import MetricColumn
from earwitness.metaeval.pipeline import ScoresAndRatings

METRICS = {"close": 0.2, "fair": 1.0, "noise": 50.0}  # the spread of each about the truth


def both(systems: int = 8, items: int = 10, raters: int = 6, seed: int = 0) -> ScoresAndRatings:
    """Votes from 1 to 5, and metrics that are close to the truth, fair, and nothing but noise."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, (systems, 1)) + rng.normal(0, 0.6, (systems, items))
    scores, ratings = [], []
    for s in range(systems):
        for i in range(items):
            key = Key(f"item{i}", f"S{s}")
            scores += [
                Score(key, name, float(truth[s, i] + rng.normal(0, spread)))
                for name, spread in METRICS.items()
            ]
            for rater in range(raters):
                vote = np.clip(np.rint(3 + 0.8 * truth[s, i] + rng.normal(0, 0.5)), 1, 5)
                ratings.append(Rating(key, "OVRL", rater, 1, float(vote)))
    return ScoresAndRatings(scores, [MetricColumn(name) for name in METRICS], ratings, "a study")


def choices(systems: int = 6, raters: int = 8, seed: int = 0) -> ScoresAndRatings:
    """Choices between systems of which the later one is better, and metrics that know it or not."""
    rng = np.random.default_rng(seed)
    scores = [
        Score(Key(f"item{i}", f"S{s}"), name, sign * s + rng.normal(0, 0.01))
        for i in range(3)
        for s in range(systems)
        for name, sign in (("right", 1), ("wrong", -1))
    ]
    ratings = []
    for rater in range(raters):
        for a in range(systems):
            for b in range(a):
                key, other = Key(f"item{(a + b) % 3}", f"S{a}"), Key(f"item{(a + b) % 3}", f"S{b}")
                chosen = 1.0 if rng.random() < 1 / (1 + np.exp(b - a)) else -1.0
                ratings.append(Rating(key, "BETTER", rater, 1, chosen, other))
    return ScoresAndRatings(
        scores, [MetricColumn("right"), MetricColumn("wrong")], ratings, "choices"
    )
