"""Verb study take: a listener takes part without a browser."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

from earwitness.core import Answer
from earwitness.errors import BadAnswer, EarwitnessWarning, UsageError
from earwitness.studies.answers import AnswersFile
from earwitness.studies.design.report import study_design
from earwitness.studies.pages import (
    DEVICE_PAGE,
    Page,
    View,
    pages,
    presented_trial,
    read_page,
    view_with_answer,
)
from earwitness.studies.ratings.from_answers import StudySource, read_checked_answers
from earwitness.studies.study import Design, Study
from earwitness.version import __version__

PageResponder = Callable[[View], dict[str, Any]]
RefusalCallback = Callable[[View, BadAnswer], None]
PageCallback = Callable[[View], None]


def ignore_page(view: View) -> None:
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
    study: StudySource,
    listener: int,
    answers: str | PathLike[str],
    *,
    respond: PageResponder,
    addresses: Callable[[Study], Addresses] = Addresses,
    refused: RefusalCallback | None = None,
    stored: PageCallback = ignore_page,
    meanwhile: PageCallback = ignore_page,
) -> int:
    """Go through all pages of one listener that are not answered yet; how many were answered.

    ``respond`` sees the view of a page and gives the answers by name. Answers that cannot be are
    told to ``refused``, and the page comes again; without it the error is raised. Every answer is
    on disk before ``stored`` is told of it and the next page comes. Where another process answered
    a page while it was shown, the first answer counts, and ``meanwhile`` is told.
    """
    design = study_design(study)
    plan = _find_plan(design, listener)
    file = AnswersFile(Path(answers), design.study.digest)
    file.check()
    read_checked_answers(design, file)
    count = 0
    shown = _without_device(list(pages(design.study, plan, addresses(design.study))))
    for page in _open_pages(shown, file, listener):
        page = _add_answer(design.study, page, file, listener)
        values = _ask_until_valid(design.study, page, listener, respond, refused)
        if page.asks:
            new = file.add(_make_answer(design.study, page, listener, values))
            count += new
            (stored if new else meanwhile)(page.view)
    return count


def _without_device(shown: list[Page]) -> list[Page]:
    """Pages without that which checks a device: its sounds are made by a browser."""
    kept = [page for page in shown if page.view["kind"] != DEVICE_PAGE]
    if len(kept) < len(shown):
        message = "the device page is passed over: only a browser can show it"
        warnings.warn(message, EarwitnessWarning, stacklevel=3)
    return kept


def _add_answer(study: Study, page: Page, file: AnswersFile, listener: int) -> Page:
    """A page that tells of the answers to another, with those answers."""
    if page.about is None:
        return page
    answers = (answer for answer in file.read().lines.values() if answer.listener == listener)
    values = next((answer.values for answer in answers if answer.page == page.about.name), None)
    return replace(page, view=view_with_answer(study, page, values))


def _open_pages(shown: Sequence[Page], file: AnswersFile, listener: int) -> Iterator[Page]:
    """Pages that are not answered when their turn comes; what only tells, if none behind it is."""
    for number, page in enumerate(shown):
        done = file.read().pages(listener)
        past = (
            page.name in done if page.asks else any(later.name in done for later in shown[number:])
        )
        if not past:
            yield page


def _make_answer(study: Study, page: Page, listener: int, values: dict[str, Any]) -> Answer:
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    presented = None if page.trial is None else presented_trial(page.trial)
    return Answer(study.digest, listener, page.name, values, presented, at, __version__)


def _find_plan(design: Design, listener: int) -> Any:
    plans = {plan.listener: plan for plan in design.plans}
    if listener not in plans:
        raise UsageError(f"there is no listener {listener} — known: {min(plans)} to {max(plans)}")
    return plans[listener]


def _ask_until_valid(
    study: Study, page: Page, listener: int, respond: PageResponder, refused: RefusalCallback | None
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
