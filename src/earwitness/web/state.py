"""Current state of a listener as JSON for the browser."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from earwitness.store.records import (
    ENDED_STATES,
    SERVER_CLOCK,
    Listener,
    PageEvent,
    ParticipationState,
    PlaceRefusal,
    Visit,
    server_time,
)
from earwitness.studies.device import draw_device_trials
from earwitness.studies.pages import DEVICE_PAGE, REST_PAGE, Page, View, view_with_answer
from earwitness.studies.quality import ineligible_view, own_results
from earwitness.web.site import POLICY_BLOCK, POLICY_RESUME, PageSequence, Site

SHUT_OUT_STATES = (*ENDED_STATES, ParticipationState.BLOCKED)
DEVICE_FAILURE_EVENT = "device_failed"  # event of a failed try of the device checks
PLAY_FIELDS = ("sound", "question", "started", "seconds", "ended")


@dataclass(frozen=True)
class ListenerState:
    """State of a listener: the page sequence, the answered pages and the open page.

    A visitor without a place sees the first page of the last number; it has the same questions for
    all numbers.
    """

    site: Site
    visit: Visit
    page_sequence: PageSequence
    place: int
    page: Page  # the open one
    is_visitor: bool = False  # has opened the first page at the open link, but has no place yet
    shut: str = ""  # why a visitor gets no place

    @property
    def listener(self) -> Listener:
        """The listener."""
        return self.visit.listener

    @property
    def is_shut_out(self) -> bool:
        """Whether no page is shown, because the listener has withdrawn or may not continue."""
        return bool(self.shut) or self.listener.state in SHUT_OUT_STATES

    @property
    def is_ineligible(self) -> bool:
        """Whether the listener may not take part."""
        return self.listener.state == ParticipationState.INELIGIBLE

    def needs_database(self, *, level_is_known: bool) -> bool:
        """Return whether the state of a new page contains what must be read or written."""
        is_last = self.place == self.page_sequence.last_place
        is_device = self.page.view["kind"] == DEVICE_PAGE
        has_level = DEVICE_PAGE in self.visit.pages and not level_is_known
        return is_last or is_device or self.page.about is not None or has_level

    def page_name_before(self, page: str) -> str:
        """Return the name of the previous page; empty for the first page."""
        place = self.page_sequence.places[page]
        return self.page_sequence.outline.names[place - 1] if place else ""

    def with_answer_to(self, page: str) -> ListenerState:
        """Return the state with one more page answered now."""
        pages = {**self.visit.pages, page: server_time()}
        return listener_state(self.site, replace(self.visit, pages=pages))

    def rest_end(self) -> datetime | None:
        """Return the end of the rest, if this is one; it starts with the previous answer."""
        if self.page.view["kind"] != REST_PAGE:
            return None
        before = self.page_sequence.outline.names[self.place - 1]
        start = datetime.fromisoformat(self.visit.pages[before])
        SERVER_CLOCK.reach(start)  # the clock of another server may be ahead
        return start + timedelta(minutes=self.page.view["minutes"])

    def rest_seconds_left(self) -> float:
        """Return the remaining seconds of a rest."""
        until = self.rest_end()
        return 0.0 if until is None else max(0.0, (until - SERVER_CLOCK.now()).total_seconds())


def listener_state(site: Site, visit: Visit) -> ListenerState:
    """Return the state of a listener."""
    page_sequence = site.page_sequence(visit.listener.plan_number)
    place = page_sequence.first_open(visit.pages)
    return ListenerState(site, visit, page_sequence, place, page_sequence.content(place).page)


def visitor_state(site: Site, ticket: str) -> ListenerState:
    """Return the state of a visitor at the open link who has no place yet."""
    nobody = (None,) * 4
    listener = Listener(
        site.digest, max(site.numbers), ticket, None, ParticipationState.OPEN, *nobody
    )
    is_full = not site.store.has_free_place(site.digest, site.quota)
    state = listener_state(site, Visit(listener, {}))
    return replace(state, is_visitor=True, shut=PlaceRefusal.FULL.value if is_full else "")


def register_arrival(site: Site, visit: Visit, id: str) -> ListenerState:
    """Return the state of a listener who has just opened the page, applying the resume policy.

    The browser repeats the request with the ``id`` of this visit until it gets a reply.
    """
    store, token = site.store, visit.listener.token
    is_replaced = visit.listener.state == ParticipationState.LAPSED
    if is_replaced and store.reclaim(site.digest, token, site.quota):
        visit = store.visit(token) or visit
    state, listener = listener_state(site, visit), visit.listener
    session_pages = state.page_sequence.session_pages(state.place)
    # the first page of a session only announces it
    is_in_session = any(page in visit.pages for page in session_pages[1:])
    comes_again = is_in_session and site.settings.on_return != POLICY_RESUME
    if (comes_again or listener.state == ParticipationState.EXCUSED) and store.let_in(
        site.digest, token, id
    ):
        return listener_state(
            site, replace(visit, listener=replace(listener, state=ParticipationState.JOINED))
        )
    if not comes_again:
        return state
    if site.settings.on_return == POLICY_BLOCK:
        store.change_state(
            site.digest, token, ParticipationState.JOINED, ParticipationState.BLOCKED
        )
    else:
        store.set_aside(site.digest, token, session_pages)
    visit_now = store.visit(token)
    return state if visit_now is None else listener_state(site, visit_now)


def state_json(
    state: ListenerState, *, page_is_new: bool = False, level_is_known: bool = False
) -> dict[str, Any]:
    """Return the state as JSON.

    On a new page, no sound has been played yet. A browser that has just shown a page with sounds
    knows the volume level.
    """
    listener, page_sequence = state.listener, state.page_sequence
    is_last = state.place == page_sequence.last_place and not state.is_shut_out
    code = _completion_code(state) if is_last else None
    shut = state.shut or ("lapsed" if listener.state == ParticipationState.LAPSED else "")
    study, results = state.site.study, None
    if code is not None and study.quality.results:
        answers = state.site.store.answers(study.digest, listener.number)
        results = own_results(study, answers, state.site.words)
    following = None  # the page whose sounds are loaded ahead; none before the first answer
    if state.visit.pages and not (state.is_shut_out or state.is_visitor):
        following = page_sequence.next_trial(state.place)
    view: dict[str, Any] | None = None
    pause: dict[str, Any] | None = None
    if not state.is_shut_out:
        earlier = {} if page_is_new else _played_sounds(state) | _draft(state)
        view = {**_page_view(state, state.page), **earlier}
        if (rest_end := state.rest_end()) is not None:
            until = rest_end.isoformat(timespec="milliseconds")
            pause = {"until": until, "seconds": ceil(state.rest_seconds_left())}
    return {
        "page": view,
        "progress": [state.place, page_sequence.last_place],
        "minutes": 0.0 if shut else round(page_sequence.minutes[state.place], 1),
        "rest": pause,
        "ahead": [] if following is None else _sound_addresses(state, following),
        "level": None if level_is_known else _device_level(state),
        "rate": state.site.served_sounds.rate,
        "answered": len(state.visit.pages),
        "done": code is not None,
        "code": code,
        "service": listener.outside is not None,
        "blocked": listener.state == ParticipationState.BLOCKED,
        "withdrawn": listener.state == ParticipationState.WITHDRAWN,
        "ineligible": _ineligible_view(state) if state.is_ineligible else None,
        "results": results,
        "shut": shut,
    }


def device_failures(state: ListenerState) -> list[PageEvent]:
    """Return the failed tries of the device checks, after which another try followed."""
    site = state.site
    if not site.study.device_required or state.is_visitor:
        return []
    token = state.listener.token
    return site.store.page_events(site.digest, token, DEVICE_PAGE, DEVICE_FAILURE_EVENT)


def device_trials(state: ListenerState, attempt: int) -> dict[str, list[int]]:
    """Return the rounds of the device checks in a try."""
    study = state.site.study
    return draw_device_trials(study.device, study.seed, state.listener.plan_number, attempt)


def _ineligible_view(state: ListenerState) -> View:
    """Return the last page of a listener who may not take part: by the form, or by the device."""
    view = ineligible_view(state.site.study)
    if DEVICE_PAGE not in state.visit.pages:
        return view
    title, text = (state.site.words.page(name) for name in ("device_failed", "device_failed_told"))
    return {**view, "title": title, "text": text}


def _played_sounds(state: ListenerState) -> dict[str, Any]:
    """Return the completed plays of the open page, on any device, up to the limit.

    If sessions are restarted, earlier plays do not count.
    """
    view, site = state.page.view, state.site
    if not view.get("plays") or state.is_visitor or site.settings.on_return != POLICY_RESUME:
        return {}
    events = site.store.page_events(
        site.digest, state.listener.token, state.page.name, "play_ended"
    )
    played, counts = [], Counter[object]()
    for event in events:
        part = str(event.details.get("question")), str(event.details.get("sound"))
        counts[part] += event.details.get("ended") is True
        if event.details.get("ended") is True and counts[part] <= view["plays"]:
            played.append({name: event.details.get(name) for name in PLAY_FIELDS})
    return {"played": played} if played else {}


def keeps_draft(site: Site, page: Page) -> bool:
    """Return whether drafts of a page are stored, since it takes long to answer.

    If sessions are restarted, there are none.
    """
    return bool(page.view.get("keeps_draft")) and site.settings.on_return == POLICY_RESUME


def _draft(state: ListenerState) -> dict[str, Any]:
    """Return the draft of the open page, as any device has sent it."""
    site = state.site
    if not keeps_draft(site, state.page) or state.is_visitor:
        return {}
    draft = site.store.draft(site.digest, state.listener.token, state.page.name)
    return {} if draft is None else {"draft": {**draft.data, "revision": draft.revision}}


def _device_level(state: ListenerState) -> float | None:
    """Return the volume set on the first device; other devices start from it."""
    if state.is_shut_out or DEVICE_PAGE not in state.visit.pages or "sounds" not in state.page.view:
        return None
    answer = state.site.store.answer_to(state.site.digest, state.listener.token, DEVICE_PAGE)
    return None if answer is None else answer.values.get("level")


def _completion_code(state: ListenerState) -> str | None:
    """Return the completion code once the database has every answer."""
    if state.listener.code is not None:
        return state.listener.code
    answerable = state.page_sequence.answerable
    return state.site.store.finish(state.site.digest, state.listener.token, answerable).code


def _page_view(state: ListenerState, page: Page) -> View:
    site, view = state.site, page.view
    if page.about is not None:  # a feedback page includes the answers it is about
        answer = site.store.answer_to(site.digest, state.listener.token, page.about.name)
        view = view_with_answer(site.study, page, None if answer is None else answer.values)
    view = {**view, "name": page.name}
    if page.view["kind"] == DEVICE_PAGE and (failures := device_failures(state)):
        view["trials"] = device_trials(state, len(failures))
    if "sounds" in view:
        places = zip(_sound_addresses(state, page), view["sounds"], strict=True)
        view["sounds"] = [{**sound, "address": address} for address, sound in places]
    if "recording" in view:
        address = f"{_own_address(state)}/recording/{page.name}"
        view["recording"] = {**view["recording"], "address": address}
    if "keeps_draft" in view:
        view["keeps_draft"] = keeps_draft(state.site, page)
    return view


def _own_address(state: ListenerState) -> str:
    return f"{state.site.settings.root_path}/l/{state.listener.token}"


def _sound_addresses(state: ListenerState, page: Page) -> list[str]:
    start = f"{_own_address(state)}/sound/{page.name}"
    return [f"{start}/{number}" for number in range(len(state.page_sequence.files(page.name)))]
