"""Who may take part, answers to clips with known answers, times, and a listener's own results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from earwitness.analysis.evidence import CheckAnswer, TrialTime
from earwitness.core import Answer
from earwitness.studies.design.plan import make_design
from earwitness.studies.pages import counted_trials
from earwitness.studies.quality import check_answers, own_results, task_times
from earwitness.studies.study import CheckClip, Clip, EligibleAnswers, QualityControl, Study
from earwitness.studies.wording import wording
from helpers.study_files import udase


@pytest.mark.parametrize(
    ("eligible", "good", "bad"),
    [
        (EligibleAnswers(low=18, high=65), (18, 65, 30.5), (17.9, 66, True, "20", None)),
        (EligibleAnswers(high=65), (-1, 65), (66,)),
        (EligibleAnswers(("yes", "maybe")), ("yes", "maybe"), ("no", None, "")),
    ],
)
def test_answers_admit_or_not(
    eligible: EligibleAnswers, good: tuple[Any, ...], bad: tuple[Any, ...]
) -> None:
    assert all(map(eligible.admits, good))
    assert not any(map(eligible.admits, bad))


def controlled() -> Study:
    clips = (
        CheckClip("g.wav", "gold", "g.wav", 2.0, {"OVRL": 4}),
        CheckClip("t.wav", "trap", "t.wav", 3.0, {"SIG": 2, "BAK": 2, "OVRL": 2}),
    )
    material = tuple(Clip(f"c{n}", 4.0) for n in range(8))
    return udase(
        material=material,
        categories=(),
        numbers=(),
        panels=1,
        listeners=1,
        clips=2,
        sessions=1,
        quality=QualityControl(clips, 1, 1),
    )


def given(page: str, item: str, system: str, *values: float) -> Answer:
    heard = {"item": item, "systems": [system], "target": 0, "scales": ["OVRL"]}
    return Answer("", 1, page, dict(zip(("SIG", "BAK", "OVRL"), values, strict=True)), heard)


def test_answers_to_known_clips_are_compared_on_their_scales() -> None:
    answers = [
        given("1.1", "c1", "C0", 5, 5, 5),
        given("1.2", "g.wav", "(gold)", 1, 1, 5),
        given("1.3", "t.wav", "(trap)", 2, 2, 3),
        Answer("", 1, "before", {"age": 3}),
    ]
    assert check_answers(controlled(), answers) == {
        1: [
            CheckAnswer("gold", 5, 4),
            CheckAnswer("trap", 2, 2),
            CheckAnswer("trap", 2, 2),
            CheckAnswer("trap", 3, 2),
        ]
    }


def test_times_are_those_between_arrivals() -> None:
    study = controlled()
    [plan] = make_design(study).plans
    trials = counted_trials(plan)
    first, second = list(trials)[:2]
    stamps = [(None, 0), (trials[first], 30), (trials[second], 42.5)]
    received = [(trial, f"2026-01-01T00:00:{at:06.3f}+00:00") for trial, at in stamps]
    found = task_times(study, received)
    assert found.trials == (TrialTime(30, 12), TrialTime(12.5, 12))  # 4 s for each of 3 scales
    assert found.minutes == pytest.approx(42.5 / 60)
    assert not any(trial.role in ("gold", "trap") for trial in trials.values())
    received[1:1] = [(None, "2026-01-02T00:00:00.000+00:00")]  # then the clock was set back
    assert task_times(study, received).trials == (TrialTime(12.5, 12),)
    assert task_times(study, received).minutes == pytest.approx(24 * 60 + 12.5 / 60)
    del received[1]
    unpadded = task_times(replace(study, lengths="allow"), received)
    assert unpadded.trials == (TrialTime(30, 0), TrialTime(12.5, 0))  # of unknown lengths


def test_own_results_count_answers_without_checks_and_practice() -> None:
    answers = [
        given("1.1", "c1", "C0", 5, 5, 5),
        given("1.4", "c2", "C1", 5, 4, 1),
        given("1.2", "g.wav", "(gold)", 1, 1, 1),
        given("training.1", "c3", "C1", 2, 2, 2),
    ]
    shown = own_results(controlled(), answers, wording("en"))
    assert [[row["count"] for row in scale["rows"]] for scale in shown] == [
        [2, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 0, 0, 0, 1],
    ]
    assert shown[2]["rows"][0]["label"] == "5 Excellent"
