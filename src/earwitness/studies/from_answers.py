"""Ratings from answers to a study, and the check of answers against the design.

An answer records what was presented: the item, the systems in order, and the target. Ratings are
derived from that and from the study file, without generating the design again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from earwitness.analysis.results import StimulusComment
from earwitness.core import Answer, Key, Rating, StrPath
from earwitness.errors import BadAnswer, InputError, Problem, UsageError
from earwitness.io.schema import whole_number
from earwitness.ratings.records import Who
from earwitness.studies.answers import read_answers
from earwitness.studies.design.plan import count_further_sessions, scale_orders
from earwitness.studies.design.report import study_design
from earwitness.studies.pages import (
    ANCHOR_PAGES,
    FEEDBACK_PAGE,
    TEXT_PAGE,
    TRAINING_PAGES,
    Page,
    pages,
    planned_trials,
    presented_trial,
    read_page,
)
from earwitness.studies.study import (
    CHECK_SYSTEMS,
    Design,
    ListenerPlan,
    SpokenText,
    Study,
    Trial,
)
from earwitness.studies.trials import block_kind
from earwitness.studies.trials.base import LETTERS
from earwitness.studies.trials.rubric import COMMENT_FIELD
from earwitness.studies.trials.words import POSITIONS_FIELD, WordsKind
from earwitness.version import __version__

StudySource = StrPath | Study

# --- Answers of a file ---------------------------------------------------------------------------


def study_ratings(study: StudySource, answers: StrPath) -> list[dict[str, Any]]:
    """Return the ratings of a file of answers, without practice and anchors, as records.

    Parameters
    ----------
    study
        Study or path of its file.
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
    design, lines = study_answers(study, answers)
    return rating_records(ratings_from_answers(design.study, lines, str(answers)))


def study_summaries(study: StudySource, answers: StrPath) -> list[dict[str, Any]]:
    """Return the manual summaries of a study with ``words`` trials, as lines of a references file.

    Parameters
    ----------
    study
        Study or path of its file.
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
    design, lines = study_answers(study, answers)
    plan = design.study
    if all(block.kind != WordsKind.name for block in plan.blocks):
        raise UsageError(f"the study has no {WordsKind.name} trials, so it has no summaries")
    ratings_from_answers(plan, lines, str(answers))  # refuses invalid answers
    made: dict[str, dict[int, list[int]]] = {}
    for answer in sorted(lines.values(), key=lambda one: one.listener):
        positions = answer.values.get(POSITIONS_FIELD)
        if answer.heard is not None and answer.page[:1].isdigit() and positions is not None:
            made.setdefault(answer.heard["item"], {}).setdefault(answer.listener, positions)
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
) -> tuple[Design, Mapping[int, Answer]]:
    """Return the design of a study, and its answers by line number, from a file or ``content``."""
    design = study_design(study)
    plan = design.study
    lines = read_answers(Path(answers), plan.digest, content)
    check_against_design(design, lines, str(answers))
    return design, lines


# --- Check against the design --------------------------------------------------------------------


def check_against_design(design: Design, answers: Mapping[int, Answer], source: str) -> None:
    """Raise InputError for answers to trials that differ from the design."""
    plans = {plan.listener: planned_trials(plan) for plan in design.plans}
    problems = [
        Problem(source, line, field, message, "".join(remedy))
        for line, answer in answers.items()
        if answer.listener in plans
        for field, message, *remedy in _differences(answer, plans[answer.listener].get(answer.page))
    ]
    if problems:
        raise InputError(problems, done="read")


def _differences(answer: Answer, trial: Trial | None) -> Iterator[tuple[str, ...]]:
    """Yield the differences between what was presented and the design, with remedies."""
    if trial is None:
        if answer.heard is not None:
            yield "values", _no_page(answer)
    elif answer.heard is None:
        yield "heard", "missing", f"add what was presented on page {answer.page}"
    elif answer.heard != presented_trial(trial):
        presented, plan = _describe(answer.heard), _describe(presented_trial(trial))
        remedy = "was the answer file edited?"
        if answer.version not in ("", __version__):
            remedy = f"use earwitness {answer.version}, which presented this trial"
        yield "heard", f"{presented} was presented, but the design has {plan}", remedy


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
    ratings, problems = list[Rating](), list[Problem]()
    answered = _AnsweredPages(study)
    for line, answer in answers.items():
        try:
            page = answered.page(answer)
            if of_anchors:
                page = replace(page, counts=page.name.startswith(f"{ANCHOR_PAGES}."))
            ratings += read_page(study, page, answer.values, answer.listener)
        except BadAnswer as error:
            problems += [Problem(source, line, "values", message) for message in error.wrong]
    if problems:
        raise InputError(problems, done="read")
    return ratings


@dataclass(frozen=True)
class _AnsweredPages:
    """Pages of answers to a study, found without its design."""

    study: Study
    known_pages: dict[int, dict[str, Page]] = field(default_factory=dict)

    def page(self, answer: Answer) -> Page:
        """Return the page of an answer: a trial as presented, or a page that all listeners see."""
        if answer.heard is not None:
            return self._trial_page(answer, answer.heard)
        plan = self._plans.get(answer.listener)
        sessions = self._session_blocks if plan is None else plan.sessions
        page = self._other_pages(len(sessions)).get(answer.page)
        if page is None or not self._is_listener(answer.listener):
            raise BadAnswer([_no_page(answer)])
        return page

    def _trial_page(self, answer: Answer, presented: Mapping[str, Any]) -> Page:
        part, _, number = answer.page.rpartition(".")
        trial = self._trial(answer, part, presented)
        if trial is None or whole_number(number) < 0 or not self._is_listener(answer.listener):
            raise BadAnswer([_no_page(answer)])
        session = max(0, whole_number(part))
        counts = session > 0 and trial.systems[0] not in CHECK_SYSTEMS
        return Page(answer.page, {}, trial, session, (), counts, int(number))

    def _trial(self, answer: Answer, part: str, presented: Mapping[str, Any]) -> Trial | None:
        """Return the trial that was presented, or None if the study has no such session."""
        item, systems = presented["item"], tuple(presented["systems"])
        target = presented["target"]
        if self._plans:
            trial = self._planned.get(answer.listener, {}).get(answer.page)
            if trial is None:
                return None
            return Trial(item, systems, trial.scales, trial.block, target, trial.against)
        if part in (TRAINING_PAGES, ANCHOR_PAGES):
            session = 1  # practice and anchors are presented like the first session
        elif 0 < whole_number(part) <= len(self._session_blocks):
            session = int(part)
        else:
            return None
        block, place = self._session_blocks[session - 1]
        scales = scale_orders(self.study, block, answer.listener)[place]
        if part == TRAINING_PAGES:
            scales = self._practice_scales(scales, answer.page)
        against = self._against[block].get(frozenset(systems), "")
        return Trial(item, systems, scales, block, target, against)

    def _practice_scales(self, scales: tuple[str, ...], page: str) -> tuple[str, ...]:
        """Return the scales of a practice trial; a practice clip may be divided into trials."""
        block, number = self.study.blocks[0], page.rpartition(".")[2]
        sample = Trial("", block.systems[: block.heard], scales)
        trials = block_kind(block).practice_trials([sample])
        place = whole_number(number)
        return scales if place < 0 else trials[(place - 1) % len(trials)].scales

    def _is_listener(self, number: int) -> bool:
        return number in self._plans if self._plans else 0 < number <= self.study.listeners

    @cached_property
    def _planned(self) -> dict[int, dict[str, Trial]]:
        """Trials of each listener by page for imported plans."""
        return {listener: planned_trials(plan) for listener, plan in self._plans.items()}

    @cached_property
    def _plans(self) -> dict[int, ListenerPlan]:
        return {plan.listener: plan for plan in self.study.plans}

    @cached_property
    def _session_blocks(self) -> list[tuple[int, int]]:
        """Block of each session, and position of the session in the block."""
        blocks = enumerate(self.study.blocks)
        own = [(number, place) for number, block in blocks for place in range(block.sessions)]
        return own + own[: count_further_sessions(self.study)]

    @cached_property
    def _against(self) -> list[dict[frozenset[str], str]]:
        """Per block, the system that others are rated relative to, by compared systems."""
        return [
            {
                frozenset(treatment): kind.against(treatment)
                for treatment in kind.treatments(block.systems, self.study.reference)
            }
            for block in self.study.blocks
            for kind in [block_kind(block)]
        ]

    def _other_pages(self, sessions: int) -> dict[str, Page]:
        """Return all pages except trials, for a number of sessions."""
        if sessions not in self.known_pages:
            study, empty = self.study, ListenerPlan(1, 1, ((),) * sessions)
            names = [f"{part}.0" for part in (TRAINING_PAGES, ANCHOR_PAGES)]
            names += [f"{FEEDBACK_PAGE}.{n + 1}" for n in range(study.training * study.feedback)]
            texts = [Page(name, {"kind": TEXT_PAGE}) for name in names]
            shown = [*pages(study, empty, lambda *_: ""), *texts]
            self.known_pages[sessions] = {page.name: page for page in shown}
        return self.known_pages[sessions]


# --- Comments on stimuli -------------------------------------------------------------------------


def comments_from_answers(
    answers: Iterable[tuple[Answer, Mapping[str, Any] | None]],
) -> Iterator[tuple[Who, StimulusComment]]:
    """Yield the comments on trials that count, each with its listener.

    Answers come with their metadata, if known, which have the comments on single sounds; answers
    of a file have these comments themselves.
    """
    for answer, meta in answers:
        if answer.heard is None or not answer.page[:1].isdigit():
            continue
        systems = answer.heard["systems"]
        if systems[0] in CHECK_SYSTEMS:
            continue
        # the order of more than two systems is that of one listener, who is not to be identified
        together = " – ".join(systems if len(systems) <= 2 else sorted(systems))
        given = answer.values
        texts = [(together, (meta or {}).get(COMMENT_FIELD, answer.comment))]
        texts += [
            (one, given.get(f"{n}.{COMMENT_FIELD}"))
            for n, one in zip(LETTERS, systems, strict=False)
        ]
        texts.append((together, given.get(COMMENT_FIELD)))
        texts += [(one, given.get(f"{COMMENT_FIELD}_{n}")) for n, one in enumerate(systems, 1)]
        for system, text in texts:
            if isinstance(text, str) and text.strip():
                key = Key(answer.heard["item"], system)
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
