"""Everything that one listener goes through, made once and kept for all requests."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from itertools import accumulate

from earwitness.data import Design, Study
from earwitness.listening.design.minutes import CHECKS, QUESTION, trial_seconds
from earwitness.listening.pages import REST, Page, pages


@dataclass(frozen=True)
class Course:
    """All pages in order; the last one is the end, and is never answered.

    ``sounds`` are the files of every page, from the folder of the study; ``minutes`` says for every
    page how long it takes from there to the end. Pages that only tell take no time.
    """

    pages: tuple[Page, ...]
    sounds: Mapping[str, tuple[str, ...]]
    minutes: tuple[float, ...]
    places: Mapping[str, int]

    @property
    def asked(self) -> tuple[str, ...]:
        """Names of all pages that must be answered, or passed."""
        return tuple(page.name for page in self.pages[:-1])

    @property
    def trials(self) -> int:
        """How many trials there are."""
        return sum(page.trial is not None for page in self.pages)

    def open(self, answered: Container[str]) -> int:
        """The place of the first page that is not answered."""
        known = (n for n, page in enumerate(self.pages[:-1]) if page.name not in answered)
        return next(known, len(self.pages) - 1)

    def next_trial(self, place: int) -> Page | None:
        """The trial that comes after a page."""
        return next((page for page in self.pages[place + 1 :] if page.trial is not None), None)

    def session(self, place: int) -> tuple[str, ...]:
        """All pages of the session that a page belongs to; none if it is of no session."""
        name = _session(self.pages[place].name)
        return tuple(page.name for page in self.pages if name and _session(page.name) == name)


def make_course(design: Design, listener: int) -> Course:
    """The course of a listener."""
    plan = next(plan for plan in design.plans if plan.listener == listener)
    study, files, sounds, shown = design.study, list[str](), dict[str, tuple[str, ...]](), []

    def address(item: str, system: str, place: int) -> str:
        del place
        files.append(study.file(item, system))
        return ""

    for page in pages(study, plan, address):
        shown.append(page)
        sounds[page.name] = tuple(files)
        files.clear()
    seconds = {clip.name: clip.seconds for clip in (*study.anchors, *study.material)}
    each = [_minutes(study, page, seconds) for page in shown]
    left = [*accumulate(reversed(each))][::-1]
    places = {page.name: place for place, page in enumerate(shown)}
    return Course(tuple(shown), sounds, tuple(left), places)


def _minutes(study: Study, page: Page, seconds: Mapping[str, float]) -> float:
    if page.trial is not None:
        return trial_seconds(study, page.trial, seconds[page.trial.item]) / 60
    if page.view["kind"] == REST:
        return study.rest_minutes
    steps = sum(CHECKS[step] for step in page.view.get("steps", ()))
    return (steps + QUESTION * len(page.view.get("questions", ()))) / 60


def _session(name: str) -> str:
    """The number of a session out of the name of a page, such as 2.17; else nothing."""
    first, mark, _ = name.partition(".")
    return first if mark and first.isdigit() else ""
