"""Taking part in a study without a browser, for the command study take."""

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
    HEARING_PAGE,
    Page,
    View,
    pages,
    presented_trial,
    read_page,
    view_with_answer,
)
from earwitness.studies.quality import ineligible_view, is_eligible
from earwitness.studies.ratings.from_answers import StudySource, read_checked_answers
from earwitness.studies.study import Design, Study
from earwitness.version import __version__

PageResponder = Callable[[View], dict[str, Any]]
RefusalCallback = Callable[[View, BadAnswer], None]
PageCallback = Callable[[View], None]


def ignore_page(view: View) -> None:
    """Ignore a page."""
    del view


@dataclass
class Addresses:
    """Blind addresses of sounds, and the file behind each."""

    study: Study
    files: dict[str, str] = field(default_factory=dict)

    def __call__(self, item: str, system: str, place: int) -> str:
        del place  # each use of a sound gets its own address
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
    ineligible: PageCallback = ignore_page,
) -> int:
    """Ask one listener all pages that are not answered yet.

    Parameters
    ----------
    study
        Path of a study file, or a study.
    answers
        Path of the file of answers, which is created if needed.
    listener
        Number of the listener.
    respond
        Receives the view of a page and returns the answers by name.
    addresses
        Creates the blind addresses of sounds.
    refused
        Receives the error if answers are invalid, before the page is shown again. Without it, the
        error is raised.
    stored
        Called with the view of a page once its answers are on disk, before the next page.
    meanwhile
        Called if another process answered the page while it was shown; the first answer counts.
    ineligible
        Called with title, text and code if the person may not take part; the answers to that form
        are not stored, and no more pages are asked.

    Returns
    -------
    int
        Number of pages answered.

    Raises
    ------
    UsageError
        If the study has no such listener, or answers cannot be written.
    """
    design = study_design(study)
    plan = _find_plan(design, listener)
    file = AnswersFile(Path(answers), design.study.digest, former=design.study.former_digest)
    file.check()
    read_checked_answers(design, file)
    count = 0
    shown = _without_device(list(pages(design.study, plan, addresses(design.study))))
    for page in _open_pages(shown, file, listener):
        page = _add_answer(design.study, page, file, listener)
        values = _ask_until_valid(design.study, page, listener, respond, refused)
        if not is_eligible(design.study, page, values):
            ineligible(ineligible_view(design.study))
            break
        if page.asks:
            new = file.add(_make_answer(design.study, page, listener, values))
            count += new
            (stored if new else meanwhile)(page.view)
    return count


def _without_device(shown: list[Page]) -> list[Page]:
    """Return pages without device checks and hearing tests, which need a browser."""
    messages = {
        DEVICE_PAGE: "device checks were skipped: they need a browser",
        HEARING_PAGE: "the hearing test was skipped: it needs a browser",
    }
    for kind in dict.fromkeys(page.view["kind"] for page in shown):
        if kind in messages:
            warnings.warn(messages[kind], EarwitnessWarning, stacklevel=3)
    return [page for page in shown if page.view["kind"] not in messages]


def _add_answer(study: Study, page: Page, file: AnswersFile, listener: int) -> Page:
    """Return a page that reports the answers to another page, with those answers."""
    if page.about is None:
        return page
    answers = (answer for answer in file.read().lines.values() if answer.listener == listener)
    values = next((answer.values for answer in answers if answer.page == page.about.name), None)
    return replace(page, view=view_with_answer(study, page, values))


def _open_pages(shown: Sequence[Page], file: AnswersFile, listener: int) -> Iterator[Page]:
    """Yield unanswered pages; pages without questions only if no later page is answered."""
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
        raise UsageError(
            f"listener {listener} is not part of the study — known: {min(plans)} to {max(plans)}"
        )
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
