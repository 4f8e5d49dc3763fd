"""Studies answered by simulated listeners, for the command study simulate."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.random import Generator

from earwitness.analysis.report import results_report
from earwitness.analysis.results import Results
from earwitness.core import Answer, Input, StrPath
from earwitness.io.atomic import AtomicFolder
from earwitness.io.tables import records_csv
from earwitness.report.columns import TableRows
from earwitness.report.parts import Report
from earwitness.report.result import Result, record_table
from earwitness.studies.analyse import result_files, study_results
from earwitness.studies.answers import SIMULATED_TIMESTAMP, answer_line
from earwitness.studies.design.report import study_design
from earwitness.studies.device import perfect_answers
from earwitness.studies.from_answers import rating_records, ratings_from_answers
from earwitness.studies.hearing import good_answers
from earwitness.studies.pages import (
    AGREE_ANSWER,
    CONSENT_PAGE,
    DEVICE_PAGE,
    HEARING_PAGE,
    Page,
    pages,
    presented_trial,
)
from earwitness.studies.population import Person, Population, World
from earwitness.studies.quality import simulate_check
from earwitness.studies.study import (
    CHECK_ROLES,
    Design,
    EligibleAnswers,
    ListenerPlan,
    Question,
    Study,
)
from earwitness.studies.trials import block_kind, trial_kind
from earwitness.version import __version__

HIDDEN_REFERENCE_QUALITY = 1.2  # above 1, so that most listeners recognize it
ANCHOR_QUALITIES = (0.2, 0.4)
MIDDLE_QUALITY = 0.5  # of anchors that all listeners hear first
ANSWERS_FILE = "answers.jsonl"


@dataclass(frozen=True, repr=False)
class SimulatedStudy(Result):
    """Answers of all simulated listeners, true qualities of systems, and listener properties."""

    design: Design
    answers: tuple[Answer, ...]
    truth: tuple[dict[str, Any], ...]
    people: tuple[dict[str, Any], ...]

    def analyse(self, **how: Any) -> Results:
        """Analyse the answers as planned in the study; ``how`` as in ``study_analyse``."""
        lines = b"".join(map(answer_line, self.answers))
        file = Input(ANSWERS_FILE, hashlib.sha256(lines).hexdigest(), len(lines))
        study, answers = self.design.study, dict(enumerate(self.answers, 1))
        ratings = ratings_from_answers(study, answers, ANSWERS_FILE)
        return study_results(study, ratings, (file,), answers=self.answers, simulated=True, **how)


def simulation_report(simulated: SimulatedStudy) -> Report:
    """Return the report of the planned analysis."""
    return results_report(simulated.analyse())


def simulation_tables(simulated: SimulatedStudy) -> dict[str, TableRows]:
    """Return the tables ``ratings``, ``truth`` (of systems) and ``people`` (listeners)."""
    answers = dict(enumerate(simulated.answers, 1))
    ratings = ratings_from_answers(simulated.design.study, answers, ANSWERS_FILE)
    tables = {
        "ratings": rating_records(ratings),
        "truth": simulated.truth,
        "people": simulated.people,
    }
    return {name: record_table(records) for name, records in tables.items()}


def study_simulate(
    study: StrPath | Study,
    population: Population | None = None,
    *,
    output: StrPath | None = None,
    seed: int = 0,
    **numbers: Any,
) -> SimulatedStudy:
    """Simulate the answers of all listeners to all pages of a study.

    Parameters
    ----------
    study
    population
        Variation between listeners and items (default: ``Population()``).
    output
        Folder to create with the answers, the true values and all results. By default nothing
        is written.
    seed
    **numbers
        Fields of ``Population``, such as ``careless=2`` or ``qualities={("C1", ""): 0.6}``.

    Returns
    -------
    SimulatedStudy
        Answers, true qualities of systems, and properties of listeners.

    Raises
    ------
    InputError
        If the study file is invalid.
    UsageError
        If the folder exists, or a number is out of range.

    Examples
    --------
    >>> simulated = study_simulate("study.yaml", seed=1)
    >>> simulated.table_names
    ('ratings', 'truth', 'people')
    """
    design = study_design(study)
    world = _build_world(design, population or Population(**numbers), seed)
    items = _heard_items(design)
    plans = {plan.listener: plan for plan in design.plans}
    answers, people = list[Answer](), list[dict[str, Any]]()
    for listener, person, rng in world.people(items):
        answers += _simulate_answers(design.study, plans[listener], person, rng)
        people.append(_person_record(listener, person))
    simulated = SimulatedStudy(
        design, tuple(answers), tuple(_truth_records(design, world, items)), tuple(people)
    )
    if output is not None:
        simulated_write(simulated, output)
    return simulated


def _build_world(design: Design, population: Population, seed: int) -> World:
    study, others = design.study, dict[str, float]()
    for block in study.blocks:
        extra = block_kind(block).extra(study.reference)
        others |= dict.fromkeys(extra[:1], HIDDEN_REFERENCE_QUALITY)
        others |= dict(
            zip(extra[1:], (*ANCHOR_QUALITIES, *[ANCHOR_QUALITIES[-1]] * len(extra)), strict=False)
        )
    if study.anchors and study.anchor_system not in (*study.systems, *others):
        others[study.anchor_system] = MIDDLE_QUALITY
    listeners = tuple(plan.listener for plan in design.plans)
    return World(population, study.systems, listeners, seed, others)


def _heard_items(design: Design) -> list[str]:
    """Return all items that any listener hears, in the order of the material."""
    names = {trial.item for plan in design.plans for session in plan.sessions for trial in session}
    return [clip.name for clip in design.study.material if clip.name in names]


def _simulate_answers(
    study: Study, plan: ListenerPlan, person: Person, rng: Generator
) -> Iterator[Answer]:
    for page in pages(study, plan, lambda *_: ""):
        if page.asks:
            presented = None if page.trial is None else presented_trial(page.trial)
            values = _answer_page(study, page, person, rng, plan.listener)
            yield Answer(
                study.digest,
                plan.listener,
                page.name,
                values,
                presented,
                SIMULATED_TIMESTAMP,
                __version__,
            )


def _answer_page(
    study: Study, page: Page, person: Person, rng: Generator, listener: int
) -> dict[str, Any]:
    if page.trial is not None:
        done, count = page.view["progress"]
        now = person.after((done - 1) / max(1, count - 1)) if page.counts else person
        if page.trial.role in CHECK_ROLES:
            return simulate_check(study, page.trial, person, rng)
        return trial_kind(study, page.trial).simulate(page.trial, now, rng)
    if page.view["kind"] == CONSENT_PAGE:
        return {AGREE_ANSWER: True}
    if page.view["kind"] == DEVICE_PAGE:
        return perfect_answers(study.device)
    if page.view["kind"] == HEARING_PAGE and study.hearing is not None:
        return good_answers(study.hearing, study.seed, listener)
    return {question.name: _answer_question(question, rng) for question in page.questions}


def _answer_question(question: Question, rng: Generator) -> Any:
    match question.answer:
        case "choice":
            options = question.eligible.options if question.eligible else question.options
            return options[int(rng.integers(len(options)))]
        case "number":
            return _draw_number(question.eligible, rng)
        case _:
            return "simulated"


def _draw_number(eligible: EligibleAnswers | None, rng: Generator) -> float:
    """Return a number with which a person may take part, such as an age."""
    drawn: float = int(rng.integers(18, 70))
    low, high = (eligible.low, eligible.high) if eligible else (None, None)
    drawn = drawn if low is None else max(low, drawn)
    return drawn if high is None else min(high, drawn)


def _person_record(listener: int, person: Person) -> dict[str, Any]:
    return {
        "listener": listener,
        "bias": round(person.bias, 6),
        "inconsistency": round(person.inconsistency, 6),
        "fatigue": person.fatigue,
        "careless": person.careless,
    }


def _truth_records(design: Design, world: World, items: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the true quality of each system and scale, with the expected rating if rated alone."""
    for block in design.study.blocks:
        kind = block_kind(block)
        for scale in kind.scales if kind.rates_systems else ():
            for system in block.systems:
                rated = not kind.is_paired
                expected = world.expected(system, scale, items) if rated else float("nan")
                quality = world.quality(system, scale.name)
                yield {
                    "system": system,
                    "scale": scale.name,
                    "quality": round(quality, 6),
                    "expected": round(expected, 6),
                }


def simulated_write(simulated: SimulatedStudy, folder: StrPath, **how: Any) -> list[str]:
    """Write answers, true qualities, listener properties and all results into a new folder.

    Parameters
    ----------
    simulated
        A simulated study.
    folder
        Path of the folder, which must not exist.
    **how
        Options of the analysis, as in ``study analyse``.

    Returns
    -------
    list of str
        Names of the files, relative to the folder.
    """
    results = simulated.analyse(**how)
    files = {
        ANSWERS_FILE: b"".join(map(answer_line, simulated.answers)).decode(),
        "truth.csv": records_csv(simulated.truth),
        "people.csv": records_csv(simulated.people),
        **result_files(results),
    }
    with AtomicFolder(Path(folder)) as place:
        for name, content in files.items():
            (place / name).write_text(content, encoding="utf-8", newline="")
    return list(files)
