"""Ratings from answers to a study, and the check of answers against the design.

An answer records the trial that was presented. Ratings are derived from that and from the study
file; the design is generated again only for answers without a digest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from earwitness.analysis.results import StimulusComment
from earwitness.core import Answer, Key, Rating, StrPath
from earwitness.errors import BadAnswer, InputError, Problem, UsageError
from earwitness.io.schema import Fault
from earwitness.ratings.records import Who
from earwitness.studies.answers import read_answers
from earwitness.studies.design.plan import make_design
from earwitness.studies.file.reader import read_study
from earwitness.studies.pages import (
    ANCHOR_PAGES,
    Page,
    answered_trial,
    asked_pages,
    heard_trial,
    planned_trials,
    presented_trial,
    read_page,
)
from earwitness.studies.study import CHECK_SYSTEMS, SpokenText, Study, Trial
from earwitness.studies.trials import study_kinds
from earwitness.studies.trials.base import LETTERS
from earwitness.studies.trials.rubric import COMMENT_FIELD
from earwitness.studies.trials.words import POSITIONS_FIELD, WordsKind

StudySource = StrPath | Study

# --- Answers of a file ---------------------------------------------------------------------------


def study_ratings(study: StudySource, answers: StrPath) -> list[dict[str, Any]]:
    """Return the ratings of a file of answers, without practice and anchors, as records.

    Parameters
    ----------
    study
    answers
        Path of the file of answers (JSON Lines).

    Returns
    -------
    list of dict
        item, system, scale, listener, session, value, trial and more of every rating; these records
        can be passed to ``study_analyse`` and ``agree``.

    Raises
    ------
    InputError
        If answers are invalid or do not match the design of the study.

    Examples
    --------
    >>> ratings = study_ratings("study.yaml", "answers.jsonl")
    >>> sorted({rating["scale"] for rating in ratings})
    ['BAK', 'OVRL', 'SIG']
    """
    return rating_records(ratings_from_answers(*study_answers(study, answers), str(answers)))


def study_summaries(study: StudySource, answers: StrPath) -> list[dict[str, Any]]:
    """Return the manual summaries of a study with ``words`` trials, as lines of a references file.

    Parameters
    ----------
    study
    answers
        Path of the file of answers (JSON Lines).

    Returns
    -------
    list of dict
        item, words (with times, if known) and references of every item that has a summary; the
        annotator is the number of the listener. Practice and repeated trials are left out.

    Raises
    ------
    InputError
        If answers are invalid or do not match the design of the study.
    UsageError
        If the study has no ``words`` trials.

    Examples
    --------
    >>> summaries = study_summaries("words.yaml", "words.jsonl")
    >>> summaries[0]["words"]
    ['it', 'rains', 'a', 'lot', 'in', 'a', 'today']
    >>> sorted(summaries[0]["references"][0])
    ['annotator', 'positions']
    """
    plan, lines = study_answers(study, answers)
    if not any(isinstance(kind, WordsKind) for kind in study_kinds(plan)):
        raise UsageError(f"the study has no {WordsKind.name} trials, so it has no summaries")
    ratings_from_answers(plan, lines, str(answers))  # refuses invalid answers
    made: dict[str, dict[int, list[int]]] = {}
    for answer in sorted(lines.values(), key=lambda one: one.listener):
        positions = answer.values.get(POSITIONS_FIELD)
        if (trial := answered_trial(answer)) is not None and positions is not None:
            made.setdefault(trial.item, {}).setdefault(answer.listener, positions)
    names = [clip.name for clip in plan.material if clip.name in made]
    return [
        {
            "item": name,
            "words": _word_entries(plan.transcript(name)),
            "references": [
                {"annotator": str(listener), POSITIONS_FIELD: positions}
                for listener, positions in made[name].items()
            ],
        }
        for name in names
    ]


def _word_entries(transcript: SpokenText) -> list[Any]:
    """Return words as in a references file: with times if these are known."""
    if not transcript.times:
        return list(transcript.words)
    pairs = zip(transcript.words, transcript.times, strict=True)
    return [[word, start, end] for word, (start, end) in pairs]


def study_answers(
    study: StudySource, answers: StrPath, content: bytes | None = None
) -> tuple[Study, dict[int, Answer]]:
    """Return a study, and its answers by line number, from a file or ``content``.

    Exported answers describe their trials. Those of other files, which have no digest, are compared
    with the design, which completes them.
    """
    plan = study if isinstance(study, Study) else read_study(Path(study))
    lines = read_answers(Path(answers), plan.digest, content)
    others = {
        line: answer
        for line, answer in lines.items()
        if answer.digest is None or "scales" not in (answer.heard or {"scales": ()})
    }
    return plan, lines | complete_answers(plan, others, str(answers))


# --- Answers without a digest --------------------------------------------------------------------


def complete_answers(study: Study, answers: Mapping[int, Answer], source: str) -> dict[int, Answer]:
    """Return answers with their trials in the design; raise InputError for other trials."""
    plans = make_design(study).plans if answers else ()
    trials = {plan.listener: planned_trials(plan) for plan in plans}
    completed, problems = dict[int, Answer](), list[Problem]()
    for line, answer in answers.items():
        trial = trials.get(answer.listener, {}).get(answer.page)
        problems += [Problem(source, line, *fault) for fault in _trial_faults(answer, trial)]
        completed[line] = replace(answer, heard=None if trial is None else presented_trial(trial))
    if problems:
        raise InputError(problems, done="read")
    return completed


def _trial_faults(answer: Answer, trial: Trial | None) -> Iterator[Fault]:
    """Yield the differences between what was presented and the design."""
    if trial is None:
        if answer.heard is not None:
            yield Fault("values", _no_page(answer))
    elif answer.heard is None:
        yield Fault("heard", "missing", f"add what was presented on page {answer.page}")
    elif not answer.heard.items() <= presented_trial(trial).items():
        presented, plan = _describe(answer.heard), _describe(presented_trial(trial))
        message = f"{presented} was presented, but the design has {plan}"
        yield Fault("heard", message, "was the answer file edited?")


def _describe(presented: Mapping[str, Any]) -> str:
    systems = " | ".join(presented["systems"])
    return f"{presented['item']} as {systems} (target {presented['target']})"


def _no_page(answer: Answer) -> str:
    return f'listener {answer.listener} has no page "{answer.page}"'


# --- Ratings from answers ------------------------------------------------------------------------


def ratings_from_answers(
    study: Study, answers: Mapping[int, Answer], source: str, *, of_anchors: bool = False
) -> list[Rating]:
    """Return the ratings of answers, which are given by line number.

    With ``of_anchors``, these are the ratings of anchors, which are not analysed, in session 0.
    """
    ratings, problems, others = list[Rating](), list[Problem](), asked_pages(study)
    listeners = [plan.listener for plan in study.plans] or range(1, study.listeners + 1)
    for line, answer in answers.items():
        try:
            trial, page = heard_trial(answer), others.get(answer.page)
            if trial is not None:
                page = _trial_page(answer.page, trial, of_anchors=of_anchors)
            if page is None or answer.listener not in listeners:
                raise BadAnswer([_no_page(answer)])
            ratings += read_page(study, page, answer.values, answer.listener)
        except BadAnswer as error:
            problems += [Problem(source, line, "values", message) for message in error.wrong]
    if problems:
        raise InputError(problems, done="read")
    return ratings


def _trial_page(name: str, trial: Trial, *, of_anchors: bool) -> Page:
    """Return the page of a trial that was presented, without its view."""
    part, _, number = name.partition(".")
    session = int(part) if part.isdigit() else 0
    counts = session > 0 and trial.systems[0] not in CHECK_SYSTEMS
    if of_anchors:
        counts = part == ANCHOR_PAGES
    return Page(name, {}, trial, session, (), counts, int(number))


# --- Comments on stimuli -------------------------------------------------------------------------


def comments_from_answers(answers: Iterable[Answer]) -> Iterator[tuple[Who, StimulusComment]]:
    """Yield the comments on trials that count, each with its listener."""
    for answer in answers:
        trial = answered_trial(answer)
        if trial is None:
            continue
        systems = trial.systems
        # the order of more than two systems is that of one listener, who is not to be identified
        together = " – ".join(systems if len(systems) <= 2 else sorted(systems))
        given = answer.values
        texts = [(together, answer.comment)]
        texts += [
            (system, given.get(f"{n}.{COMMENT_FIELD}"))
            for n, system in zip(LETTERS, systems, strict=False)
        ]
        texts.append((together, given.get(COMMENT_FIELD)))
        texts += [
            (system, given.get(f"{COMMENT_FIELD}_{n}")) for n, system in enumerate(systems, 1)
        ]
        for system, text in texts:
            if isinstance(text, str) and text.strip():
                key = Key(trial.item, system)
                yield answer.listener, StimulusComment(key, " ".join(text.split()))


# --- Ratings as records --------------------------------------------------------------------------


def rating_records(ratings: Iterable[Rating]) -> list[dict[str, Any]]:
    """Return ratings as records, with session, trial, question and position."""
    return [
        {
            "item": rating.key.item,
            "system": rating.key.system,
            "scale": rating.scale,
            "listener": rating.listener,
            "session": rating.session,
            "value": rating.value,
            "trial": rating.trial,
            "asked": rating.asked,
            "place": rating.place + 1,
            "against": None if rating.against is None else rating.against.system,
        }
        for rating in ratings
    ]
