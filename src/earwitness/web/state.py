"""Current state of a listener as JSON for the browser."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any

from earwitness.store.records import Listener, ParticipationState, Visit
from earwitness.studies.pages import DEVICE_PAGE, REST_PAGE, Page, View, with_answer
from earwitness.web.site import POLICY_BLOCK, POLICY_RESUME, PageSequence, Site

PLAY_FIELDS = ("sound", "question", "started", "seconds", "ended")


def clock() -> datetime:
    """The time of the server, by which rests are measured."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class ListenerState:
    """A listener at a moment: their course, what is answered, and the page that is open."""

    site: Site
    visit: Visit
    course: PageSequence
    place: int

    @property
    def listener(self) -> Listener:
        """Who it is."""
        return self.visit.listener

    @property
    def page(self) -> Page:
        """The page that is open."""
        return self.course.pages[self.place]

    @property
    def shut(self) -> bool:
        """Whether no page is shown at all."""
        return self.listener.state in (ParticipationState.WITHDRAWN, ParticipationState.BLOCKED)

    def before(self, page: str) -> str:
        """The name of the page before one; nothing before the first."""
        place = self.course.places[page]
        return self.course.pages[place - 1].name if place else ""

    def after(self, page: str) -> ListenerState:
        """The same, with one more page answered just now."""
        at = clock().isoformat(timespec="milliseconds")
        return standing(self.site, replace(self.visit, pages={**self.visit.pages, page: at}))

    def rest(self) -> datetime | None:
        """When the rest ends, if this is one; it began with the answer before it."""
        if self.page.view["kind"] != REST_PAGE:
            return None
        before = self.visit.pages[self.course.pages[self.place - 1].name]
        return datetime.fromisoformat(before) + timedelta(minutes=self.page.view["minutes"])

    def resting(self) -> float:
        """Seconds that are left of a rest."""
        until = self.rest()
        return 0.0 if until is None else max(0.0, (until - clock()).total_seconds())


def standing(site: Site, visit: Visit) -> ListenerState:
    """Where a listener is."""
    course = site.course(visit.listener.number)
    return ListenerState(site, visit, course, course.open(visit.pages))


def arrive(site: Site, visit: Visit, id: str) -> ListenerState:
    """Where a listener is who has just opened the page, by what was said of coming again.

    The browser asks under the ``id`` of this visit until it has a reply.
    """
    now, who, store = standing(site, visit), visit.listener, site.store
    own = now.course.session(now.place)
    midst = any(page in visit.pages for page in own[1:])  # the first only says that it begins
    back = midst and site.settings.resume != POLICY_RESUME
    if (back or who.state == ParticipationState.EXCUSED) and store.let_in(
        site.digest, who.number, id
    ):
        return standing(
            site, replace(visit, listener=replace(who, state=ParticipationState.JOINED))
        )
    if not back:
        return now
    if site.settings.resume == POLICY_BLOCK:
        store.change_state(
            site.digest, who.number, ParticipationState.JOINED, ParticipationState.BLOCKED
        )
    else:
        store.set_aside(site.digest, who.number, own)
    again = store.visit(who.token)
    return now if again is None else standing(site, again)


def told(now: ListenerState, *, new: bool = False) -> dict[str, Any]:
    """The state as the browser gets it; ``new`` says that the page has just been reached."""
    who, course = now.listener, now.course
    last = now.place == len(course.pages) - 1 and not now.shut
    code = _code(now) if last else None
    passed = [page for page in course.pages if page.name in now.visit.pages]
    until = None if now.shut else now.rest()
    return {
        "page": None if now.shut else {**_view(now, now.page), **({} if new else _played(now))},
        "progress": [sum(page.trial is not None for page in passed), course.trials],
        "minutes": round(course.minutes[now.place], 1),
        "rest": until and {"until": _iso(until), "seconds": ceil(now.resting())},
        "ahead": [] if now.shut else _ahead(now),
        "level": _level(now),
        "answered": len(now.visit.pages),
        "done": code is not None,
        "code": code,
        "blocked": who.state == ParticipationState.BLOCKED,
        "withdrawn": who.state == ParticipationState.WITHDRAWN,
    }


def _played(now: ListenerState) -> dict[str, Any]:
    """What was heard to its end of the page that is open, on whatever device, up to the limit.

    Where a session starts again nothing of it counts.
    """
    view, site = now.page.view, now.site
    if not view.get("plays") or site.settings.resume != POLICY_RESUME:
        return {}
    told = site.store.events_of(site.digest, now.listener.number, now.page.name, "play_ended")
    found, counts = [], Counter[object]()
    for one in told:
        part = str(one.details.get("question")), str(one.details.get("sound"))
        counts[part] += one.details.get("ended") is True
        if one.details.get("ended") is True and counts[part] <= view["plays"]:
            found.append({name: one.details.get(name) for name in PLAY_FIELDS})
    return {"played": found} if found else {}


def _level(now: ListenerState) -> float | None:
    """The level that was set where the listener began; other devices start from it."""
    if now.shut or DEVICE_PAGE not in now.visit.pages or "sounds" not in now.page.view:
        return None
    found = now.site.store.answer_to(now.site.digest, now.listener.number, DEVICE_PAGE)
    return None if found is None else found.values.get("level")


def _code(now: ListenerState) -> str | None:
    """The completion code, once the store has counted every answer."""
    if now.listener.code is not None:
        return now.listener.code
    asked = now.course.asked
    return now.site.store.finish(now.site.digest, now.listener.number, asked).code


def _view(now: ListenerState, page: Page) -> View:
    view = {**_known(now, page), "name": page.name}
    if "sounds" in view:
        places = zip(_addresses(now, page), view["sounds"], strict=True)
        view["sounds"] = [{**sound, "address": address} for address, sound in places]
    return view


def _known(now: ListenerState, page: Page) -> View:
    """What a page shows, with the answers that it tells of, if any."""
    if page.about is None:
        return page.view
    site, number = now.site, now.listener.number
    found = site.store.answer_to(site.digest, number, page.about.name)
    return with_answer(site.design.study, page, None if found is None else found.values)


def _addresses(now: ListenerState, page: Page) -> list[str]:
    start = f"{now.site.settings.root}/l/{now.listener.token}/sound/{page.name}"
    return [f"{start}/{number}" for number in range(len(now.course.sounds[page.name]))]


def _ahead(now: ListenerState) -> list[str]:
    following = now.course.next_trial(now.place)
    return [] if following is None else _addresses(now, following)


def _iso(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds")
