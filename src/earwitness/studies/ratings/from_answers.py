"""Ratings derived from the answers that listeners gave in a study."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from earwitness.core import Answer, Rating
from earwitness.errors import BadAnswer, EarwitnessWarning, InputError, Problem
from earwitness.studies.answers import AnswerLines, AnswersFile
from earwitness.studies.design.report import study_design
from earwitness.studies.pages import Page, heard, pages, planned, read_page
from earwitness.studies.study import Design, Study, Trial
from earwitness.version import __version__

StudySource = str | PathLike[str] | Study


def read_checked_answers(made: Design, file: AnswersFile) -> AnswerLines:
    """Answers of a file, all to trials as this version plans them."""
    found = file.read()
    for line in found.cut:
        told = f"{file.path}:{line}: was cut short, and is passed over"
        warnings.warn(told, EarwitnessWarning, stacklevel=3)
    check_heard(made, found.lines, str(file.path))
    return found


def check_heard(made: Design, given: Mapping[int, Answer], source: str) -> None:
    """Refuse answers to trials that this version plans otherwise."""
    known = {plan.listener: planned(plan) for plan in made.plans}
    problems = [
        Problem(source, line, "heard", *told)
        for line, answer in given.items()
        for told in _other(answer, known.get(answer.listener, {}).get(answer.page))
    ]
    if problems:
        raise InputError(problems, done="read")


def _other(answer: Answer, trial: Trial | None) -> Iterator[tuple[str, str]]:
    """How what was heard differs from the plan, if it does, and what to do."""
    if trial is None:
        return
    if answer.heard is None:
        yield "missing", f"what was presented on page {answer.page}?"
    elif answer.heard != heard(trial):
        told = f"was {_told(answer.heard)}, this version plans {_told(heard(trial))}"
        other = answer.version not in ("", __version__)
        remedy = (
            f"use earwitness {answer.version}, which asked this" if other else "was it changed?"
        )
        yield told, remedy


def _told(one: Mapping[str, Any]) -> str:
    return f"{one['item']} as {' | '.join(one['systems'])} (target {one['target']})"


def study_ratings(study: StudySource, answers: str | PathLike[str]) -> list[Rating]:
    """Ratings that follow from a file of answers; practice and anchors do not count."""
    return ratings_of(*study_answers(study, answers), str(answers))


def study_answers(
    study: StudySource, answers: str | PathLike[str]
) -> tuple[Design, Mapping[int, Answer]]:
    """The design of a study, and answers to it by the number of their line."""
    made = study_design(study)
    return made, read_checked_answers(made, AnswersFile(Path(answers), made.study.digest)).lines


def ratings_of(made: Design, given: Mapping[int, Answer], source: str) -> list[Rating]:
    """Ratings that follow from answers by the number of their line."""
    found, problems = list[Rating](), list[Problem]()
    known = {one: _pages(made, one) for one in {answer.listener for answer in given.values()}}
    for line, answer in given.items():
        page = known[answer.listener].get(answer.page)
        try:
            if page is None:
                raise BadAnswer([f'listener {answer.listener} has no page "{answer.page}"'])
            found += read_page(made.study, page, answer.values, answer.listener)
        except BadAnswer as error:
            problems += [Problem(source, line, "values", told) for told in error.wrong]
    if problems:
        raise InputError(problems, done="read")
    return found


def _pages(made: Design, listener: int) -> dict[str, Page]:
    plan = next((plan for plan in made.plans if plan.listener == listener), None)
    shown: Iterable[Page] = () if plan is None else pages(made.study, plan, lambda *_: "")
    return {page.name: page for page in shown}


def rating_records(ratings: Iterable[Rating]) -> list[dict[str, Any]]:
    """Ratings as records, with what is known of the moment: session, trial, question, place."""
    return [
        {
            "item": one.key.item,
            "system": one.key.system,
            "scale": one.scale,
            "listener": one.listener,
            "session": one.session,
            "value": one.value,
            "trial": one.trial,
            "asked": one.asked,
            "place": one.place + 1,
            "against": None if one.against is None else one.against.system,
        }
        for one in ratings
    ]
