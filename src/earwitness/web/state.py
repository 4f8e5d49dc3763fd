"""Current state of a listener as JSON for the browser."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any

from earwitness.store.records import Listener, ParticipationState, Visit
from earwitness.studies.pages import DEVICE_PAGE, REST_PAGE, Page, View, view_with_answer
from earwitness.web.site import POLICY_BLOCK, POLICY_RESUME, PageSequence, Site

PLAY_FIELDS = ("sound", "question", "started", "seconds", "ended")


def server_clock() -> datetime:
    """Return the time of the server, by which rests are measured."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class ListenerState:
    """State of a listener: the page sequence, the answered pages and the open page."""

    site: Site
    visit: Visit
    page_sequence: PageSequence
    place: int

    @property
    def listener(self) -> Listener:
        """The listener."""
        return self.visit.listener

    @property
    def page(self) -> Page:
        """The open page."""
        return self.page_sequence.pages[self.place]

    @property
    def is_shut_out(self) -> bool:
        """Whether the listener has withdrawn or is blocked, so that no page is shown."""
        return self.listener.state in (ParticipationState.WITHDRAWN, ParticipationState.BLOCKED)

    def page_name_before(self, page: str) -> str:
        """Return the name of the previous page; empty for the first page."""
        place = self.page_sequence.places[page]
        return self.page_sequence.pages[place - 1].name if place else ""

    def with_answer_to(self, page: str) -> ListenerState:
        """Return the state with one more page answered now."""
        at = server_clock().isoformat(timespec="milliseconds")
        return listener_state(self.site, replace(self.visit, pages={**self.visit.pages, page: at}))

    def rest_end(self) -> datetime | None:
        """Return the end of the rest, if this is one; it starts with the previous answer."""
        if self.page.view["kind"] != REST_PAGE:
            return None
        answered_at = self.visit.pages[self.page_sequence.pages[self.place - 1].name]
        return datetime.fromisoformat(answered_at) + timedelta(minutes=self.page.view["minutes"])

    def rest_seconds_left(self) -> float:
        """Return the remaining seconds of a rest."""
        until = self.rest_end()
        return 0.0 if until is None else max(0.0, (until - server_clock()).total_seconds())


def listener_state(site: Site, visit: Visit) -> ListenerState:
    """Return the state of a listener."""
    page_sequence = site.page_sequence(visit.listener.number)
    return ListenerState(site, visit, page_sequence, page_sequence.first_open(visit.pages))


def register_arrival(site: Site, visit: Visit, id: str) -> ListenerState:
    """Return the state of a listener who has just opened the page, applying the resume policy.

    The browser repeats the request with the ``id`` of this visit until it gets a reply.
    """
    state, listener, store = listener_state(site, visit), visit.listener, site.store
    session_pages = state.page_sequence.session_pages(state.place)
    # the first page of a session only announces it
    is_in_session = any(page in visit.pages for page in session_pages[1:])
    comes_again = is_in_session and site.settings.resume != POLICY_RESUME
    if (comes_again or listener.state == ParticipationState.EXCUSED) and store.let_in(
        site.digest, listener.number, id
    ):
        return listener_state(
            site, replace(visit, listener=replace(listener, state=ParticipationState.JOINED))
        )
    if not comes_again:
        return state
    if site.settings.resume == POLICY_BLOCK:
        store.change_state(
            site.digest, listener.number, ParticipationState.JOINED, ParticipationState.BLOCKED
        )
    else:
        store.set_aside(site.digest, listener.number, session_pages)
    visit_now = store.visit(listener.token)
    return state if visit_now is None else listener_state(site, visit_now)


def state_json(state: ListenerState, *, page_is_new: bool = False) -> dict[str, Any]:
    """Return the state as JSON; on a new page, no sound has been played yet."""
    listener, page_sequence = state.listener, state.page_sequence
    is_last = state.place == len(page_sequence.pages) - 1 and not state.is_shut_out
    code = _completion_code(state) if is_last else None
    passed = [page for page in page_sequence.pages if page.name in state.visit.pages]
    view: dict[str, Any] | None = None
    pause: dict[str, Any] | None = None
    if not state.is_shut_out:
        played = {} if page_is_new else _played_sounds(state)
        view = {**_page_view(state, state.page), **played}
        if (rest_end := state.rest_end()) is not None:
            until = rest_end.isoformat(timespec="milliseconds")
            pause = {"until": until, "seconds": ceil(state.rest_seconds_left())}
    return {
        "page": view,
        "progress": [sum(page.trial is not None for page in passed), page_sequence.trial_count],
        "minutes": round(page_sequence.minutes[state.place], 1),
        "rest": pause,
        "ahead": [] if state.is_shut_out else _next_sound_addresses(state),
        "level": _device_level(state),
        "answered": len(state.visit.pages),
        "done": code is not None,
        "code": code,
        "blocked": listener.state == ParticipationState.BLOCKED,
        "withdrawn": listener.state == ParticipationState.WITHDRAWN,
    }


def _played_sounds(state: ListenerState) -> dict[str, Any]:
    """Return the completed plays of the open page, on any device, up to the limit.

    If sessions are restarted, earlier plays do not count.
    """
    view, site = state.page.view, state.site
    if not view.get("plays") or site.settings.resume != POLICY_RESUME:
        return {}
    events = site.store.page_events(
        site.digest, state.listener.number, state.page.name, "play_ended"
    )
    played, counts = [], Counter[object]()
    for event in events:
        part = str(event.details.get("question")), str(event.details.get("sound"))
        counts[part] += event.details.get("ended") is True
        if event.details.get("ended") is True and counts[part] <= view["plays"]:
            played.append({name: event.details.get(name) for name in PLAY_FIELDS})
    return {"played": played} if played else {}


def _device_level(state: ListenerState) -> float | None:
    """Return the volume set on the first device; other devices start from it."""
    if state.is_shut_out or DEVICE_PAGE not in state.visit.pages or "sounds" not in state.page.view:
        return None
    answer = state.site.store.answer_to(state.site.digest, state.listener.number, DEVICE_PAGE)
    return None if answer is None else answer.values.get("level")


def _completion_code(state: ListenerState) -> str | None:
    """Return the completion code once the database has every answer."""
    if state.listener.code is not None:
        return state.listener.code
    answerable = state.page_sequence.answerable
    return state.site.store.finish(state.site.digest, state.listener.number, answerable).code


def _page_view(state: ListenerState, page: Page) -> View:
    view = {**_view_with_answers(state, page), "name": page.name}
    if "sounds" in view:
        places = zip(_sound_addresses(state, page), view["sounds"], strict=True)
        view["sounds"] = [{**sound, "address": address} for address, sound in places]
    return view


def _view_with_answers(state: ListenerState, page: Page) -> View:
    """Return the view of a page; a feedback page includes the answers it is about."""
    if page.about is None:
        return page.view
    site, number = state.site, state.listener.number
    answer = site.store.answer_to(site.digest, number, page.about.name)
    return view_with_answer(site.design.study, page, None if answer is None else answer.values)


def _sound_addresses(state: ListenerState, page: Page) -> list[str]:
    start = f"{state.site.settings.root}/l/{state.listener.token}/sound/{page.name}"
    return [f"{start}/{number}" for number in range(len(state.page_sequence.sounds[page.name]))]


def _next_sound_addresses(state: ListenerState) -> list[str]:
    following = state.page_sequence.next_trial(state.place)
    return [] if following is None else _sound_addresses(state, following)
