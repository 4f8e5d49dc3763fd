"""Taking part in a study without a browser, and what follows from answers."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

from earwitness.api.studies import study_design
from earwitness.data import Answer, Design, Rating, Study
from earwitness.errors import BadAnswer, InputError, Problem, UsageError
from earwitness.formats.answers import add_answer, read_answers
from earwitness.listening.pages import Page, View, pages, read_page

Respond = Callable[[View], dict[str, Any]]
Refused = Callable[[BadAnswer], None]
Given = str | PathLike[str] | Study


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
) -> int:
    """Go through all pages of one listener that are not answered yet; how many were answered.

    ``respond`` sees the view of a page and gives the answers by name. An answer that cannot be is
    told to ``refused``, and the page comes again; without it the error is raised. Every answer is
    on disk before the next page.
    """
    made = study_design(study)
    plan = _plan(made, listener)
    path, digest = Path(answers), made.study.digest
    done = {one.page for one in read_answers(path, digest) if one.listener == listener}
    shown = list(pages(made.study, plan, addresses(made.study)))
    last = max((n for n, page in enumerate(shown) if page.name in done), default=-1)
    count = 0
    for number, page in enumerate(shown):
        if page.name in done or (number < last and not page.asks):
            continue
        values = _answered(made.study, page, listener, respond, refused)
        if page.asks:
            at = datetime.now(UTC).isoformat(timespec="milliseconds")
            add_answer(path, Answer(digest, listener, page.name, values, at))
            count += 1
    return count


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
            refused(error)
        else:
            return values


def study_ratings(study: Given, answers: str | PathLike[str]) -> list[Rating]:
    """Ratings that follow from a file of answers; practice and anchors do not count."""
    made = study_design(study)
    given = read_answers(Path(answers), made.study.digest)
    found, problems = list[Rating](), list[Problem]()
    known = {one: _pages(made, one) for one in {answer.listener for answer in given}}
    for line, answer in enumerate(given, 1):
        page = known[answer.listener].get(answer.page)
        try:
            if page is None:
                raise BadAnswer([f'listener {answer.listener} has no page "{answer.page}"'])
            found += read_page(made.study, page, answer.values, answer.listener)
        except BadAnswer as error:
            problems += [Problem(str(answers), line, "values", told) for told in error.wrong]
    if problems:
        raise InputError(problems, done="read")
    return found


def _pages(made: Design, listener: int) -> dict[str, Page]:
    plan = next((plan for plan in made.plans if plan.listener == listener), None)
    shown: Iterable[Page] = () if plan is None else pages(made.study, plan, lambda *_: "")
    return {page.name: page for page in shown}


def rating_records(ratings: Iterable[Rating]) -> list[dict[str, Any]]:
    """Ratings as records: item, system, scale, listener, session, value, place, against."""
    return [
        {
            "item": one.key.item,
            "system": one.key.system,
            "scale": one.scale,
            "listener": one.listener,
            "session": one.session,
            "value": one.value,
            "place": one.place + 1,
            "against": None if one.against is None else one.against.system,
        }
        for one in ratings
    ]
