"""Baselines: blocks drawn at random, from all of the day or one from each equal part of it."""

from __future__ import annotations

import numpy as np

from earwitness.stats.skims.day import Day, Ints
from earwitness.stats.skims.measures import runs
from earwitness.summarizers.skims.plan import Plan


def drawn(day: Day, plan: Plan) -> Ints:
    """So many blocks of all, each as likely as any, in the order of time."""
    allowed = np.flatnonzero(day.allowed)
    rng = np.random.default_rng(plan.seed)
    return np.sort(rng.choice(allowed, plan.picks, replace=False))


def downsampled(day: Day, plan: Plan) -> Ints:
    """A block from each of so many equal parts of what was recorded."""
    rng = np.random.default_rng(plan.seed)
    parts = runs(np.flatnonzero(day.allowed), plan.picks)
    return np.array([rng.choice(part) for part in parts], np.int64)
