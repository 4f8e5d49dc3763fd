"""Checks of a listener's playback device, and counts of sounds played to their end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from earwitness.studies.study import Study, Trial
from earwitness.studies.trials import block_kind
from earwitness.studies.wording import wording

# --- Device check --------------------------------------------------------------------------------
# The browser generates the sounds: noise to set the volume, noise on one side, and two tests that
# are easy with headphones and hard with loudspeakers. In each round of these tests, one of three
# sounds differs from the others; the seed of the study decides which one.


DEVICE_STEPS = ("level", "sides", "huggins", "antiphase")
HEADPHONE_TESTS = ("huggins", "antiphase")  # Milne et al. (2021); Woods et al. (2017)
HEADPHONE_TEST_ROUNDS, SOUNDS_PER_ROUND = 6, 3
DEVICE_STREAM = 11  # random stream, distinct from those of designs


def draw_device_trials(steps: Sequence[str], seed: int, listener: int) -> dict[str, list[int]]:
    """Return for each test which of three sounds differs in each round, each equally often.

    For ``sides``, 0 is left and 1 is right.

    >>> draw_device_trials(["level", "huggins"], 1, 1) == draw_device_trials(["huggins"], 1, 1)
    True
    """
    rounds = {
        "sides": [0, 1],
        **{
            test: [*range(SOUNDS_PER_ROUND)] * (HEADPHONE_TEST_ROUNDS // SOUNDS_PER_ROUND)
            for test in HEADPHONE_TESTS
        },
    }
    return {
        step: _shuffle_places(places, (seed, DEVICE_STREAM, listener, DEVICE_STEPS.index(step)))
        for step, places in rounds.items()
        if step in steps
    }


def _shuffle_places(places: Sequence[int], stream: tuple[int, ...]) -> list[int]:
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(stream)))
    return [int(place) for place in rng.permutation(places)]


def device_faults(steps: Sequence[str], values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the steps of a device page with an invalid answer, and what is wrong."""
    for step in steps:
        if step not in values:
            yield step, f"{step} is not answered"
        elif step == "level" and not _is_level(values[step]):
            yield step, f"level must be a number (decibels), got {values[step]!r}"
        elif step == "sides" and not isinstance(values[step], bool):
            yield step, f"sides must be true or false, got {values[step]!r}"
        elif step in HEADPHONE_TESTS and not _are_hits(values[step]):
            yield step, f"{step} must be [hits, rounds], got {values[step]!r}"
    for name in values:
        if name not in steps:
            yield name, f"unknown step {name!r}"


def perfect_answers(steps: Sequence[str]) -> dict[str, Any]:
    """Return the answers of a device page on which every check is passed."""
    answers = {
        "level": 0,
        "sides": True,
        **{test: [HEADPHONE_TEST_ROUNDS, HEADPHONE_TEST_ROUNDS] for test in HEADPHONE_TESTS},
    }
    return {step: answers[step] for step in steps}


def _is_level(value: Any) -> bool:
    right = isinstance(value, int | float) and not isinstance(value, bool)
    return right and isfinite(value) and abs(value) <= 200


def _are_hits(value: Any) -> bool:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return False
    whole = all(isinstance(one, int) and not isinstance(one, bool) for one in value)
    return whole and 0 <= value[0] <= value[1] and 0 < value[1] <= 1000


# --- Sounds played to their end ------------------------------------------------------------------
# Sounds that are played one after the other must be heard for every question; sounds that
# listeners can switch between must be heard once per page.


QuestionSound = tuple[str, int]  # a question, or "" for the page, and the number of a sound


class PlaybackCounts(NamedTuple):
    """Number of sounds not played to the end, out of all that a listener had to hear."""

    unheard: int
    all: int
    unknown: int = 0  # answers without a record of plays


def count_complete_plays(plays: Sequence[Any], *, switching: bool) -> Counter[QuestionSound]:
    """Count how often each sound was played to the end, per question unless switching."""
    return Counter(
        ("" if switching else str(play.get("question")), play["sound"])
        for play in plays
        if isinstance(play, dict)
        and play.get("ended") is True
        and isinstance(play.get("sound"), int)
    )


def count_playback(study: Study, trial: Trial, meta: Mapping[str, Any] | None) -> PlaybackCounts:
    """Count the sounds of a trial that were not played to the end."""
    plays = None if meta is None else meta.get("plays")
    if not isinstance(plays, list):
        return PlaybackCounts(0, 0, 1)
    kind = block_kind(study.blocks[trial.block])
    words = wording(study.language, study.wordings)
    names = [""] if kind.switching else [ask.name for ask in kind.asks(trial)]
    sounds = range(len(kind.presented(trial, words, study.reference)))
    heard = count_complete_plays(plays, switching=kind.switching)
    wanted = [(name, number) for name in names for number in sounds]
    return PlaybackCounts(sum(not heard[part] for part in wanted), len(wanted))
