"""Checks of a listener's playback device, and counts of sounds played to their end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from earwitness.analysis.evidence import MIN_HIT_SHARE, PlaybackCounts
from earwitness.core import UNHEARD_META_KEY, group_values
from earwitness.errors import BadAnswer
from earwitness.ratings.records import Who
from earwitness.stats.observers import is_more_than
from earwitness.studies.study import Study, Trial
from earwitness.studies.trials import trial_kind
from earwitness.studies.trials.base import Values, is_number
from earwitness.studies.wording import wording

# --- Device check --------------------------------------------------------------------------------
# The browser generates the sounds: noise to set the volume, noise on one side, and two tests that
# are easy with headphones and hard with loudspeakers. In each round of these tests, one of three
# sounds differs from the others; the seed of the study decides which one. Each try has its own
# rounds. The browser sends what was chosen in each round, and the server counts what was right.


DEVICE_STEPS = ("level", "sides", "huggins", "antiphase")
HEADPHONE_TESTS = ("huggins", "antiphase")  # Milne et al. (2021); Woods et al. (2017)
HEADPHONE_TEST_ROUNDS, SOUNDS_PER_ROUND = 6, 3
CHOICES_PER_ROUND = 3  # for sides: left, right, neither
REQUIRED_STEPS = ("sides", *HEADPHONE_TESTS)  # steps that can be required
DEFAULT_DEVICE_TRIES = 2
DEVICE_STREAM = 11  # random stream, distinct from those of designs


def draw_device_trials(
    steps: Sequence[str], seed: int, listener: int, attempt: int = 0
) -> dict[str, list[int]]:
    """Return for each test which of three sounds differs in each round, each equally often.

    For ``sides``, 0 is left and 1 is right. ``attempt`` counts earlier tries.

    >>> draw_device_trials(["level", "huggins"], 1, 1) == draw_device_trials(["huggins"], 1, 1)
    True
    """
    places = [*range(SOUNDS_PER_ROUND)] * (HEADPHONE_TEST_ROUNDS // SOUNDS_PER_ROUND)
    rounds = {"sides": [0, 1], **dict.fromkeys(HEADPHONE_TESTS, places)}
    drawn = dict[str, list[int]]()
    for step in (test for test in rounds if test in steps):
        stream = (
            seed,
            DEVICE_STREAM,
            listener,
            DEVICE_STEPS.index(step),
            *([attempt] if attempt else []),
        )
        drawn[step] = np.random.default_rng(stream).permutation(rounds[step]).tolist()
    return drawn


def score_choices(
    trials: Mapping[str, Sequence[int]], values: Values, required: Collection[str] = ()
) -> dict[str, Any]:
    """Return the answers of a device page, with the choices of each test replaced by its result.

    Results that are already counted are kept, except for required tests.

    >>> score_choices({"huggins": [2, 0, 1]}, {"level": -6, "huggins": [2, 0, 0]})
    {'level': -6, 'huggins': [2, 3]}
    """
    wrong, scored = dict[str, str](), dict(values)
    for step, targets in trials.items():
        choices = values.get(step)
        if (
            isinstance(choices, list)
            and len(choices) == len(targets)
            and all(type(choice) is int and 0 <= choice < CHOICES_PER_ROUND for choice in choices)
        ):
            hits = sum(choice == target for choice, target in zip(choices, targets, strict=True))
            scored[step] = hits == len(targets) if step == "sides" else [hits, len(targets)]
        elif step in required:
            wrong[step] = f"{step} must be a list of {len(targets)} choices, got {choices!r}"
    if wrong:
        raise BadAnswer(wrong)
    return scored


def device_hits(values: Values) -> dict[str, tuple[int, int]]:
    """Return right rounds and all rounds of each test of a device page.

    >>> device_hits({"level": -6, "sides": True, "huggins": [5, 6]})
    {'sides': (1, 1), 'huggins': (5, 6)}
    """
    hits = dict[str, tuple[int, int]]()
    for step in REQUIRED_STEPS:
        if isinstance(value := values.get(step), bool):
            hits[step] = int(value), 1
        elif value is not None and _are_hits(value):
            hits[step] = value[0], value[1]
    return hits


def failed_tests(values: Values, tests: Collection[str] = ()) -> list[str]:
    """Return the tests of a device page that were failed, of ``tests`` or of all.

    >>> failed_tests({"sides": True, "huggins": [5, 6], "antiphase": [4, 6]})
    ['antiphase']
    """
    hits = device_hits(values)
    return [
        step
        for step, (right, rounds) in hits.items()
        if (step in tests or not tests) and is_more_than(rounds - right, rounds, 1 - MIN_HIT_SHARE)
    ]


def device_faults(steps: Sequence[str], values: Values) -> Iterator[tuple[str, str]]:
    """Yield the steps of a device page with an invalid answer, and what is wrong."""
    for step in steps:
        if step not in values:
            yield step, f"{step} is not answered"
        elif step == "level" and not is_number(values[step], -200, 200):
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
    hits = dict.fromkeys(HEADPHONE_TESTS, [HEADPHONE_TEST_ROUNDS] * 2)
    answers = {"level": 0, "sides": True, **hits}
    return {step: answers[step] for step in steps}


def _are_hits(value: Any) -> bool:
    if not isinstance(value, list | tuple) or [type(number) for number in value] != [int, int]:
        return False
    return bool(0 <= value[0] <= value[1] and 0 < value[1] <= 1000)


# --- Sounds played to their end ------------------------------------------------------------------
# Sounds that are played one after the other must be heard for every question; sounds that
# listeners can switch between must be heard once per page.


QuestionSound = tuple[str, int]  # a question, or "" for the page, and the number of a sound


def count_complete_plays(plays: Sequence[Any], *, switching: bool) -> Counter[QuestionSound]:
    """Count how often each sound was played to the end, per question unless switching."""
    return Counter(
        ("" if switching else str(play.get("question")), play["sound"])
        for play in plays
        if isinstance(play, dict)
        and play.get("ended") is True
        and isinstance(play.get("sound"), int)
    )


def count_playback(study: Study, trial: Trial, meta: Values | None) -> PlaybackCounts:
    """Count the sounds of a trial that were not played to the end.

    The server marks answers to sounds that it has not sent, and answers that arrive before the
    sounds can have ended: such plays do not count.
    """
    plays = None if meta is None else meta.get("plays")
    if not isinstance(plays, list):
        return PlaybackCounts(0, 0, 1)
    heard = count_complete_plays(plays, switching=trial_kind(study, trial).switching)
    wanted = wanted_plays(study, trial)
    false = [part for part in wanted if heard[part] and _is_contradicted(part[1], meta)]
    unheard = sum(not heard[part] for part in wanted) + len(false)
    return PlaybackCounts(unheard, len(wanted), 0, len(false))


def count_marked(study: Study, trial: Trial, mark: Values | None) -> PlaybackCounts:
    """Count the sounds of a trial that cannot have been heard, by the server's mark alone."""
    wanted, meta = wanted_plays(study, trial), {UNHEARD_META_KEY: mark}
    false = sum(_is_contradicted(sound, meta) for _, sound in wanted)
    return PlaybackCounts(false, len(wanted), 0, false)


def sum_playback(counts: Iterable[tuple[Who, PlaybackCounts]]) -> dict[Who, PlaybackCounts]:
    """Return the sums of counts per listener."""
    return {
        who: PlaybackCounts(*map(sum, zip(*value, strict=True)))
        for who, value in group_values(counts).items()
    }


def wanted_plays(study: Study, trial: Trial) -> list[QuestionSound]:
    """Return the plays to the end that a trial asks for."""
    kind, words = trial_kind(study, trial), wording(study.language, study.wordings)
    names = [""] if kind.switching else [ask.name for ask in kind.asks(trial)]
    sounds = range(len(kind.presented(trial, words, study.reference)))
    return [(name, number) for name in names for number in sounds]


def _is_contradicted(sound: int, meta: Values | None) -> bool:
    """Return whether the server's mark contradicts that a sound was played to the end."""
    mark = (meta or {}).get(UNHEARD_META_KEY)
    if not isinstance(mark, dict):
        return False
    return "needed" in mark or sound in mark.get("unsent", ())
