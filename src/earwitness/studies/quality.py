"""Quality control of a study: who may take part, known answers, time on task, own results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np

from earwitness.analysis.evidence import CheckAnswer, QualityEvidence, TaskTimes, TrialTime
from earwitness.core import Answer, group_values
from earwitness.ratings.records import Who
from earwitness.studies.device import wanted_plays
from earwitness.studies.pages import FORM_PAGE, HEARING_PAGE, Page, View, answered_trial
from earwitness.studies.population import Person
from earwitness.studies.study import CHECK_SYSTEMS, PAD_LENGTHS, Study, Trial
from earwitness.studies.trials import block_kind, study_kinds
from earwitness.studies.wording import Wording, wording

# --- Eligibility ---------------------------------------------------------------------------------


def is_eligible(study: Study, page: Page, values: Mapping[str, Any]) -> bool:
    """Return whether a person with these valid answers to a page may take part."""
    if page.view["kind"] == HEARING_PAGE and study.hearing is not None:
        limit = study.hearing.max_srt
        return limit is None or bool(values["srt"] <= limit)
    if page.view["kind"] != FORM_PAGE:
        return True
    return all(
        question.eligible.admits(values.get(question.name))
        for question in page.questions
        if question.eligible is not None
    )


def ineligible_view(study: Study) -> View:
    """Return what people see who may not take part: title, text and code, if any."""
    words = wording(study.language, study.wordings)
    title, text = words.pages["ineligible"], words.pages["ineligible_told"]
    return {"title": title, "text": text, "code": study.quality.ineligible_code or None}


# --- Answers to clips with known answers ---------------------------------------------------------


def check_answers(study: Study, answers: Iterable[Answer]) -> dict[Who, list[CheckAnswer]]:
    """Return the answers of each listener to gold and trapping clips."""
    clips = {clip.name: clip for clip in study.quality.clips}
    checked = [
        (answer, clips[answer.heard["item"]])
        for answer in answers
        if answer.heard and answer.heard["systems"][0] in CHECK_SYSTEMS
    ]
    return group_values(
        (answer.listener, CheckAnswer(clip.role, float(answer.values[scale]), expected))
        for answer, clip in checked
        for scale, expected in clip.values.items()
    )


def simulate_check(
    study: Study, trial: Trial, person: Person, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the answers of a simulated listener to a clip with known answers.

    A careless listener answers at random; others give the known answers, or for scales without one
    the middle of the scale.
    """
    clip = next(clip for clip in study.quality.clips if clip.name == trial.item)
    values = {}
    for ask in block_kind(study.blocks[trial.block]).asks(trial):
        known = clip.values.get(ask.scale.name, ask.scale.at(0.5))
        values[ask.name] = ask.scale.at(float(rng.random())) if person.careless else known
    return values


# --- Time on task --------------------------------------------------------------------------------
# Times are those at which the server received answers. A page is sent when the previous one is
# answered, so the time between two answers is at least the time spent on the second page.


ReceivedAnswer = tuple[Trial | None, str]  # trial, if it counts, and time of arrival


def task_times(study: Study, received: Sequence[ReceivedAnswer]) -> TaskTimes:
    """Return the times of a listener's trials, from all answers in order of arrival.

    Breaks between sessions are not left out of the minutes. Times at which the clock of the server
    was set back are left out.
    """
    times = [(trial, datetime.fromisoformat(at)) for trial, at in received]
    is_padded = study.lengths == PAD_LENGTHS  # else sounds may be shorter than their clip
    found = [
        TrialTime(
            (at - before).total_seconds(),
            study.clip_seconds[trial.item] * len(wanted_plays(study, trial)) * is_padded,
        )
        for (_, before), (trial, at) in pairwise(times)
        if trial is not None and at >= before
    ]
    seconds = ((at - before).total_seconds() for (_, before), (_, at) in pairwise(times))
    return TaskTimes(tuple(found), sum(second for second in seconds if second > 0) / 60)


# --- Evidence for screening ----------------------------------------------------------------------


def evidence_of_answers(
    study: Study, answers: Sequence[Answer], times: Mapping[Who, TaskTimes] | None = None
) -> QualityEvidence:
    """Return the evidence in answers; times of arrival are known from a database only."""
    thresholds: dict[Who, float] = {
        answer.listener: float(answer.values["srt"])
        for answer in answers
        if answer.page == HEARING_PAGE and "srt" in answer.values
    }
    return QualityEvidence(check_answers(study, answers), times or {}, (), thresholds)


# --- A participant's own results -----------------------------------------------------------------


def own_results(study: Study, answers: Iterable[Answer], words: Wording) -> list[View]:
    """Return how often a listener chose each answer, by scale, in trials that count.

    Gold and trapping clips are left out. Systems and other listeners are not shown.
    """
    kinds = study_kinds(study)
    scales = {scale.name: scale for kind in kinds for scale in kind.scales}
    counts = {name: dict.fromkeys(scale.values, 0) for name, scale in scales.items()}
    for answer in answers:
        for name, value in answer.values.items() if answered_trial(answer) else ():
            if name in counts and value in counts[name]:
                counts[name][value] += 1
    return [
        {
            "title": words.prompt(name),
            "rows": [
                {"label": f"{words.number(value)} {label}", "count": count}
                for (value, count), label in zip(
                    scale_counts.items(), words.labels(name), strict=True
                )
            ],
        }
        for name, scale_counts in counts.items()
    ]
