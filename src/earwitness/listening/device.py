"""What a listener's own device is checked for before the first trial, in a browser.

Sounds for it are made there: one to set the level by, one on either side, and two tests that are
easy over headphones and hard over loudspeakers. In each of their rounds one of three sounds is
another than the others, and chance, which is the study's, decides which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

STEPS = ("level", "sides", "huggins", "antiphase")
TESTS = ("huggins", "antiphase")  # Milne et al. (2021); Woods et al. (2017)
ROUNDS, CHOICES = 6, 3
STREAM = 11  # of chance beside those of designs


def drawn(steps: Sequence[str], seed: int, listener: int) -> dict[str, list[int]]:
    """For every test, which of three sounds is the other one, round by round, each equally often.

    For the sides, 0 is left and 1 is right.

    >>> drawn(["level", "huggins"], 1, 1) == drawn(["huggins"], 1, 1)
    True
    """
    rounds = {"sides": [0, 1], **{test: [*range(CHOICES)] * (ROUNDS // CHOICES) for test in TESTS}}
    return {
        step: _shuffled(places, (seed, STREAM, listener, STEPS.index(step)))
        for step, places in rounds.items()
        if step in steps
    }


def _shuffled(places: Sequence[int], stream: tuple[int, ...]) -> list[int]:
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(stream)))
    return [int(one) for one in rng.permutation(places)]


def misfits(steps: Sequence[str], values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Steps of a device page whose answers cannot be, and why."""
    for step in steps:
        if step not in values:
            yield step, f"{step} is not answered"
        elif step == "level" and not _is_level(values[step]):
            yield step, f"level must be a number of decibels, got {values[step]!r}"
        elif step == "sides" and not isinstance(values[step], bool):
            yield step, f"sides must be true or false, got {values[step]!r}"
        elif step in TESTS and not _are_hits(values[step]):
            yield step, f"{step} must be hits and rounds, got {values[step]!r}"
    for name in values:
        if name not in steps:
            yield name, f"nobody asked for {name!r}"


def perfect(steps: Sequence[str]) -> dict[str, Any]:
    """What a device answers that is as it should be."""
    known = {"level": 0, "sides": True, **{test: [ROUNDS, ROUNDS] for test in TESTS}}
    return {step: known[step] for step in steps}


def _is_level(value: Any) -> bool:
    right = isinstance(value, int | float) and not isinstance(value, bool)
    return right and isfinite(value) and abs(value) <= 200


def _are_hits(value: Any) -> bool:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return False
    whole = all(isinstance(one, int) and not isinstance(one, bool) for one in value)
    return whole and 0 <= value[0] <= value[1] and 0 < value[1] <= 1000
