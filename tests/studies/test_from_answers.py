"""Ratings from what answers say was heard, and their check against the design."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType

import pytest

from earwitness.core import Answer, Rating
from earwitness.errors import InputError
from earwitness.studies.file.reader import with_digest
from earwitness.studies.from_answers import complete_answers, ratings_from_answers
from earwitness.studies.pages import pages, read_page
from earwitness.studies.simulate import SimulatedStudy, study_simulate
from earwitness.studies.study import Question
from earwitness.studies.trials import KINDS
from helpers.study_files import udase


@cache
def simulated(kind: str) -> tuple[SimulatedStudy, Mapping[int, Answer]]:
    study = udase(kind=kind, listeners=7, panels=2, clips=6, sessions=3, training=2)
    block = replace(study.blocks[0], kind=kind, heard=3, parameters={})
    blocks = (block, replace(block, kind="p835", sessions=2))
    form = (Question("age", "Your age?", "number"),)
    study = replace(study, blocks=blocks, reference="C0", consent="Yes?", before=form)
    simulation = study_simulate(with_digest(study), seed=1)
    return simulation, MappingProxyType(dict(enumerate(simulation.answers, 1)))


def ratings_by_design(simulation: SimulatedStudy, answers: Mapping[int, Answer]) -> list[Rating]:
    """Ratings by the pages that the design gives to each listener."""
    design = simulation.design
    shown = {
        (plan.listener, page.name): page
        for plan in design.plans
        for page in pages(design.study, plan, lambda *_: "")
    }
    return [
        rating
        for answer in answers.values()
        for rating in read_page(
            design.study, shown[answer.listener, answer.page], answer.values, answer.listener
        )
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_ratings_are_those_of_the_design(kind: str) -> None:
    simulation, answers = simulated(kind)
    ratings = ratings_from_answers(simulation.design.study, answers, "answers")
    assert ratings == ratings_by_design(simulation, answers)
    assert ratings


def test_plans_made_elsewhere_are_asked_as_they_say() -> None:
    simulation, answers = simulated("ccr")
    study = replace(simulation.design.study, plans=simulation.design.plans)
    assert ratings_from_answers(study, answers, "x") == ratings_by_design(simulation, answers)
    assert complete_answers(study, answers, "x") == answers
    stranger = {1: replace(answers[3], listener=8), 2: replace(answers[3], page="1.999")}
    with pytest.raises(InputError, match=r'x:1: .*8 has no page(.|\n)*x:2: .*no page "1.999"'):
        complete_answers(study, stranger, "x")
    with pytest.raises(InputError, match="listener 8 has no page"):
        ratings_from_answers(study, {1: replace(answers[3], listener=8)}, "x")


@pytest.mark.parametrize("page", ["6.1", "1.x", "0.1", "rest.1", "nosuch", "1"])
def test_pages_that_a_study_does_not_have_are_refused(page: str) -> None:
    simulation, answers = simulated("acr")
    trial = next(answer for answer in answers.values() if answer.page == "1.1")
    study = simulation.design.study
    with pytest.raises(InputError, match=f'listener 1 has no page "{page}"'):
        complete_answers(study, {1: replace(trial, page=page)}, "answers")
    with pytest.raises(InputError, match=f'listener 1 has no page "{page}"'):
        ratings_from_answers(study, {1: replace(trial, page=page, heard=None)}, "answers")


@pytest.mark.parametrize("kind", KINDS)
def test_trials_of_other_programs_are_completed_from_the_design(kind: str) -> None:
    simulation, answers = simulated(kind)
    short = {
        line: replace(answer, heard={name: answer.heard[name] for name in ("systems", "item")})
        for line, answer in answers.items()
        if answer.heard
    }
    completed = complete_answers(simulation.design.study, short, "answers")
    assert completed == {line: answers[line] for line in short}


def test_the_check_refuses_what_is_planned_otherwise() -> None:
    simulation, answers = simulated("acr")
    trial = next(answer for answer in answers.values() if answer.page == "1.1")
    other = {**(trial.heard or {}), "item": "z"}
    changed = {
        1: replace(trial, heard=other),
        2: replace(trial, heard=None),
        3: replace(trial, page="1.999"),
    }
    with pytest.raises(InputError) as error:
        complete_answers(simulation.design.study, changed, "x")
    assert [problem.message[:7] for problem in error.value.problems] == [
        "z as C2",
        "missing",
        "listene",
    ]
