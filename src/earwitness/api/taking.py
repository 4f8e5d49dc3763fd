"""Taking part in a study without a browser, and what follows from answers."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

from earwitness import __version__
from earwitness.api.studies import study_design
from earwitness.data import Answer, Design, Rating, Study, Trial
from earwitness.errors import BadAnswer, EarwitnessWarning, InputError, Problem, UsageError
from earwitness.formats.answers import Answers, AnswersFile
from earwitness.listening.pages import (
    DEVICE,
    Page,
    View,
    heard,
    pages,
    planned,
    read_page,
    with_answer,
)

Respond = Callable[[View], dict[str, Any]]
Refused = Callable[[View, BadAnswer], None]
Told = Callable[[View], None]
Given = str | PathLike[str] | Study


def no_matter(view: View) -> None:
    """Told of a page, does nothing."""
    del view


@dataclass
class Addresses:
    """Addresses of sounds that say nothing; only this knows which file each stands for."""

    study: Study
    files: dict[str, str] = field(default_factory=dict)

    def __call__(self, item: str, system: str, place: int) -> str:
        del place  # every use of a sound gets an address of its own
        address = secrets.token_hex(8)
        self.files[address] = self.study.file(item, system)
        return address


def study_take(
    study: Given,
    listener: int,
    answers: str | PathLike[str],
    *,
    respond: Respond,
    addresses: Callable[[Study], Addresses] = Addresses,
    refused: Refused | None = None,
    stored: Told = no_matter,
    meanwhile: Told = no_matter,
) -> int:
    """Go through all pages of one listener that are not answered yet; how many were answered.

    ``respond`` sees the view of a page and gives the answers by name. Answers that cannot be are
    told to ``refused``, and the page comes again; without it the error is raised. Every answer is
    on disk before ``stored`` is told of it and the next page comes. Where another process answered
    a page while it was shown, the first answer counts, and ``meanwhile`` is told.
    """
    made = study_design(study)
    plan = _plan(made, listener)
    file = AnswersFile(Path(answers), made.study.digest)
    file.check()
    _checked(made, file)
    count = 0
    shown = _without_device(list(pages(made.study, plan, addresses(made.study))))
    for page in _open_pages(shown, file, listener):
        page = _with_answer(made.study, page, file, listener)
        values = _answered(made.study, page, listener, respond, refused)
        if page.asks:
            new = file.add(_answer(made.study, page, listener, values))
            count += new
            (stored if new else meanwhile)(page.view)
    return count


def _without_device(shown: list[Page]) -> list[Page]:
    """Pages without that which checks a device: its sounds are made by a browser."""
    kept = [page for page in shown if page.view["kind"] != DEVICE]
    if len(kept) < len(shown):
        told = "the device page is passed over: only a browser can show it"
        warnings.warn(told, EarwitnessWarning, stacklevel=3)
    return kept


def _with_answer(study: Study, page: Page, file: AnswersFile, listener: int) -> Page:
    """A page that tells of the answers to another, with those answers."""
    if page.about is None:
        return page
    given = (one for one in file.read().lines.values() if one.listener == listener)
    values = next((one.values for one in given if one.page == page.about.name), None)
    return replace(page, view=with_answer(study, page, values))


def _open_pages(shown: Sequence[Page], file: AnswersFile, listener: int) -> Iterator[Page]:
    """Pages that are not answered when their turn comes; what only tells, if none behind it is."""
    for number, page in enumerate(shown):
        done = file.read().pages(listener)
        past = page.name in done if page.asks else any(one.name in done for one in shown[number:])
        if not past:
            yield page


def _answer(study: Study, page: Page, listener: int, values: dict[str, Any]) -> Answer:
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    told = None if page.trial is None else heard(page.trial)
    return Answer(study.digest, listener, page.name, values, told, at, __version__)


def _checked(made: Design, file: AnswersFile) -> Answers:
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


def _plan(made: Design, listener: int) -> Any:
    known = {plan.listener: plan for plan in made.plans}
    if listener not in known:
        raise UsageError(f"there is no listener {listener} — known: {min(known)} to {max(known)}")
    return known[listener]


def _answered(
    study: Study, page: Page, listener: int, respond: Respond, refused: Refused | None
) -> dict[str, Any]:
    while True:
        values = respond(page.view)
        try:
            if page.asks:
                read_page(study, page, values, listener)
        except BadAnswer as error:
            if refused is None:
                raise
            refused(page.view, error)
        else:
            return values


def study_ratings(study: Given, answers: str | PathLike[str]) -> list[Rating]:
    """Ratings that follow from a file of answers; practice and anchors do not count."""
    return ratings_of(*study_answers(study, answers), str(answers))


def study_answers(
    study: Given, answers: str | PathLike[str]
) -> tuple[Design, Mapping[int, Answer]]:
    """The design of a study, and answers to it by the number of their line."""
    made = study_design(study)
    return made, _checked(made, AnswersFile(Path(answers), made.study.digest)).lines


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
