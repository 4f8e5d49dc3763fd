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
from earwitness.studies.pages import DEVICE_PAGE, Page, View, heard, pages, read_page, with_answer
from earwitness.studies.ratings.from_answers import StudySource, read_checked_answers
from earwitness.studies.study import Design, Study
from earwitness.version import __version__

PageResponder = Callable[[View], dict[str, Any]]
RefusalCallback = Callable[[View, BadAnswer], None]
PageCallback = Callable[[View], None]


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
    study: StudySource,
    listener: int,
    answers: str | PathLike[str],
    *,
    respond: PageResponder,
    addresses: Callable[[Study], Addresses] = Addresses,
    refused: RefusalCallback | None = None,
    stored: PageCallback = no_matter,
    meanwhile: PageCallback = no_matter,
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
    read_checked_answers(made, file)
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
    kept = [page for page in shown if page.view["kind"] != DEVICE_PAGE]
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


def _plan(made: Design, listener: int) -> Any:
    known = {plan.listener: plan for plan in made.plans}
    if listener not in known:
        raise UsageError(f"there is no listener {listener} — known: {min(known)} to {max(known)}")
    return known[listener]


def _answered(
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
