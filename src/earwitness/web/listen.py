"""Endpoints of a listener's page: state, answers, events, drafts and withdrawal."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from earwitness.core import Answer
from earwitness.errors import BadAnswer, UsageError
from earwitness.store.answers import add_events, add_first_answer
from earwitness.store.drafts import add_draft
from earwitness.store.records import (
    SERVER_CLOCK,
    AnswerOutcome,
    Listener,
    PageEvent,
    ParticipationState,
    PlaceRefusal,
    Visit,
)
from earwitness.studies.device import failed_tests, score_choices
from earwitness.studies.pages import (
    CHECK_PAGE,
    DEVICE_PAGE,
    HEARING_PAGE,
    presented_trial,
    read_page,
)
from earwitness.studies.quality import is_eligible
from earwitness.studies.trials.base import Values
from earwitness.version import __version__
from earwitness.web.answer_checks import (
    PlaybackClaim,
    add_checked_answer,
    check_plays,
    claim_playback,
    explain_misfits,
    snap_to_scales,
    spell_half_characters,
)
from earwitness.web.join import (
    CROWDED,
    check_claim,
    client_address,
    find_wait,
    is_ticket,
    set_place_cookie,
)
from earwitness.web.pages import listener_page
from earwitness.web.security import (
    ANSWER_REQUESTS,
    DRAFT_REQUESTS,
    EVENT_BYTES,
    EVENT_COUNT,
    STATE_REQUESTS,
    ListenerQuotas,
    Refusal,
    not_found_refusal,
    read_json_body,
)
from earwitness.web.site import PageContent, Site, reload_listeners, served_site
from earwitness.web.state import (
    DEVICE_FAILURE_EVENT,
    ListenerState,
    device_failures,
    device_trials,
    keeps_draft,
    listener_state,
    register_arrival,
    state_json,
    visitor_state,
)

CLIENT_ID_PATTERN = re.compile(r"[0-9A-Za-z-]{8,64}")  # ids created by browsers
TRY_AGAIN_CODE = "again"  # of a refusal after which the page is shown again
DRAFT_CHANGED_CODE = "draft_changed"  # of a refusal after which the new draft is shown
CLIENT_TIME_PATTERN = re.compile(r"[0-9T:.+Z-]{1,40}")
INELIGIBLE_STATUS = "ineligible"  # in place of the outcome of storing an answer
REJECTED_OUTCOMES = (AnswerOutcome.WITHDRAWN, AnswerOutcome.EARLY, AnswerOutcome.ASIDE)


# --- State of a listener -------------------------------------------------------------------------


def find_state(request: Request, quota: str = "") -> ListenerState:
    """Return the state of the listener of a link; blocks while reading the database.

    The request counts towards the quota of this name, if any.
    """
    visit, site = _find_visit(request), served_site(request)
    if quota:
        use_quota(request, {quota: 1})
    if visit is None:
        return visitor_state(site, _token(request))
    return listener_state(site, visit)


async def current_state(request: Request, quota: str = "") -> ListenerState:
    """Return the state of the listener of a link, without a thread if that is faster."""
    site = served_site(request)
    visit = site.store.visit(_parse_token(request)) if site.store.is_local else None
    if visit is None or not _takes_part(site, visit.listener):
        return await run_in_threadpool(find_state, request, quota)
    if quota:
        use_quota(request, {quota: 1})
    return listener_state(site, visit)


def recent_state(request: Request) -> ListenerState | None:
    """Return the last known state of a listener with answers, if it is in memory.

    Other processes may have changed the state since. So it serves to accept what the writing
    transaction checks again, and sounds; what it does not allow is decided by the current state.
    """
    site = served_site(request)
    visit = _recent_visit(request, site)
    return None if visit is None else listener_state(site, visit)


def _recent_visit(request: Request, site: Site) -> Visit | None:
    visit = site.store.recent_visit(_token(request))
    if visit is None or not visit.pages or not _takes_part(site, visit.listener):
        return None
    return visit


def use_quota(request: Request, amounts: Mapping[str, int]) -> None:
    """Count what the listener of a link uses; refuse the request if it is too much."""
    quotas: ListenerQuotas = request.app.state.quotas
    quotas.use(_token(request), amounts)


def _find_visit(request: Request) -> Visit | None:
    """Return the visit of a link; None for a visitor who has no place yet."""
    site, token = served_site(request), _parse_token(request)
    visit = site.store.visit(token)
    if visit is None and is_ticket(site, token):
        return None
    if visit is None or visit.listener.study != site.digest:
        raise not_found_refusal()
    if not _takes_part(site, visit.listener):  # added since, or removed
        request.app.state.site = reload_listeners(site)
        if not _takes_part(served_site(request), visit.listener):
            raise not_found_refusal()
    return visit


def _token(request: Request) -> str:
    return str(request.path_params["token"])


def _parse_token(request: Request) -> str:
    token = _token(request)
    if not CLIENT_ID_PATTERN.fullmatch(token.replace("_", "-")):
        raise not_found_refusal()
    return token


def _takes_part(site: Site, listener: Listener) -> bool:
    """Return whether a listener belongs to the study as it was last read."""
    return listener.study == site.digest and listener.plan_number in site.numbers


async def show_page(request: Request) -> Response:
    """Send the HTML shell of a listener."""
    await run_in_threadpool(find_state, request)
    return HTMLResponse(listener_page(served_site(request), _token(request)))


async def send_state(request: Request) -> Response:
    """Send the state of the listener; a newly opened page passes the id of its visit."""
    visit_id = request.query_params.get("visit", "")
    checked_id = visit_id if CLIENT_ID_PATTERN.fullmatch(visit_id) else ""

    def current_state() -> dict[str, Any]:
        visit = _find_visit(request) if visit_id else None
        if visit is None:
            return state_json(find_state(request, STATE_REQUESTS))
        use_quota(request, {STATE_REQUESTS: 1})
        return state_json(register_arrival(served_site(request), visit, checked_id))

    return JSONResponse(await run_in_threadpool(current_state))


async def _state_now(request: Request) -> dict[str, Any]:
    """Return the current state of the listener as JSON."""
    return await run_in_threadpool(lambda: state_json(find_state(request)))


# --- Answers -------------------------------------------------------------------------------------


async def receive_answer(request: Request) -> Response:
    """Save an answer and send the state of the listener after it."""
    body = await read_json_body(request)
    id, page, values, meta, at = _parse_answer(body)
    state, checked_values = await _find_checked_answer(request, page, values, meta)
    site = state.site
    study, is_open = site.study, page == state.page.name
    if state.is_ineligible or (is_open and not is_eligible(study, state.page, checked_values)):
        return await _end_participation(request, state, page)
    content = state.page_sequence.content(state.page_sequence.places[page])
    claim = _claim_playback(state, content, meta)
    is_last = await _is_device_refused(state, page, id, checked_values)
    trial = content.page.trial
    presented = None if trial is None else presented_trial(trial)
    number = state.listener.number
    answer = Answer(site.digest, number, page, checked_values, presented, at, __version__)
    if state.is_visitor:
        outside = body.get("claim", "")
        if not isinstance(outside, str):
            raise _wrong_answer(["claim must be a text"])
        return await _take_place(request, state, answer, id, meta, check_claim(outside) or None)
    token, before = state.listener.token, state.page_name_before(page)
    try:
        writing = site.store.write(
            add_checked_answer,
            answer,
            id,
            meta,
            before,
            token,
            claim,
            is_last,
            keeps_draft(site, content.page),
        )
        outcome = await asyncio.wrap_future(writing)
    except BadAnswer as error:
        raise _wrong_answer(error.wrong) from None
    except UsageError as error:
        await current_state(request)  # the link may not exist any more
        raise Refusal(409, "id_used", str(error)) from None
    if outcome in REJECTED_OUTCOMES:
        raise await run_in_threadpool(lambda: _page_not_open(find_state(request)))

    if outcome != AnswerOutcome.STORED or is_last:  # another tab may have changed the state
        return JSONResponse({"status": outcome.value, "state": await _state_now(request)})
    next_state = state.with_answer_to(page)  # the listener has just reached the next page
    site.store.extend_recent_visit(token, state.visit, next_state.visit.pages)
    level_is_known = "sounds" in content.page.view
    new = partial(state_json, next_state, page_is_new=True, level_is_known=level_is_known)
    needs_database = next_state.needs_database(level_is_known=level_is_known)
    state_now = await run_in_threadpool(new) if needs_database else new()
    return JSONResponse({"status": outcome.value, "state": state_now})


async def _find_checked_answer(
    request: Request, page: str, values: Values, meta: Values
) -> tuple[ListenerState, dict[str, Any]]:
    """Return the state of a listener, and the values of an answer that it allows."""
    recent = recent_state(request)
    if recent is not None and _is_open_trial(recent, page):
        use_quota(request, {ANSWER_REQUESTS: 1})
        with suppress(Refusal):
            return recent, _check_answer(recent, page, values, meta)
        state = await current_state(request)
    else:
        state = await current_state(request, ANSWER_REQUESTS)
    if state.site.store.is_local or _is_open_trial(state, page):  # reads a file, or nothing
        return state, _check_answer(state, page, values, meta)
    return state, await run_in_threadpool(_check_answer, state, page, values, meta)


def _is_open_trial(state: ListenerState, page: str) -> bool:
    """Return whether a page is the open one and a trial, which can be checked without a query."""
    return page == state.page.name and state.page.trial is not None and not state.is_shut_out


async def _end_participation(request: Request, state: ListenerState, page: str) -> Response:
    """Delete the answers of a listener who may not take part, and send the last page."""
    if state.is_visitor:  # nothing is stored
        listener = replace(state.listener, state=ParticipationState.INELIGIBLE)
        shown = state_json(replace(state, visit=replace(state.visit, listener=listener)))
        return JSONResponse({"status": INELIGIBLE_STATUS, "state": shown})
    store, digest, token = state.site.store, state.site.digest, state.listener.token
    is_out = await run_in_threadpool(store.screen_out, digest, token, page)
    status = INELIGIBLE_STATUS if is_out else AnswerOutcome.TAKEN.value
    return JSONResponse({"status": status, "state": await _state_now(request)})


async def _take_place(
    request: Request,
    state: ListenerState,
    answer: Answer,
    id: str,
    meta: Values,
    outside: str | None,
) -> Response:
    """Save the first answer of a visitor, which takes a place, or send why there is none."""
    site, token = state.site, state.listener.token
    if minutes := find_wait(request):
        now = state_json(replace(state, shut=CROWDED)) | {"minutes": minutes}
        raise Refusal(
            429,
            CROWDED,
            "too many places from this address",
            f"try again in {minutes} min",
            more={"state": now},
            retry_seconds=60 * minutes,
        )
    places, address = request.app.state.places, client_address(request)
    places.add(address)
    outcome: AnswerOutcome | PlaceRefusal | None = None
    try:
        writing = site.store.write(
            add_first_answer, answer, id, meta, token, outside=outside, quota=site.quota
        )
        outcome = await asyncio.wrap_future(writing)
    except (BadAnswer, UsageError) as error:
        raise _wrong_answer([str(error)]) from None
    finally:
        if outcome != AnswerOutcome.STORED:
            places.remove(address)
    if isinstance(outcome, PlaceRefusal):
        if outcome == PlaceRefusal.FULL:
            site.note_once("open link: no free places left; a visitor was turned away")
        refused = {"state": state_json(replace(state, shut=outcome.value))}
        raise Refusal(409, outcome.value, "no place in this test", more=refused)
    response = JSONResponse({"status": outcome.value, "state": await _state_now(request)})
    set_place_cookie(response, request, token, outside)
    return response


def _parse_answer(body: Mapping[str, Any]) -> tuple[str, str, dict[str, Any], dict[str, Any], str]:
    """Return the parts of an answer, or raise an error that lists all problems."""
    id, page, at = body.get("id"), body.get("page"), body.get("at", "")
    values, meta = body.get("values"), body.get("meta", {})
    checks = {
        "id must be a UUID": isinstance(id, str) and CLIENT_ID_PATTERN.fullmatch(id),
        "page must be the name of a page": isinstance(page, str),
        "values must be an object": isinstance(values, dict),
        "meta must be an object": isinstance(meta, dict),
        "at must be a time": not at or (isinstance(at, str) and CLIENT_TIME_PATTERN.fullmatch(at)),
    }
    if faults := [message for message, is_right in checks.items() if not is_right]:
        raise _wrong_answer(faults)
    return str(id), str(page), dict(values or {}), spell_half_characters(meta), str(at)


def _check_answer(state: ListenerState, page: str, values: Values, meta: Values) -> dict[str, Any]:
    """Return the values snapped to their scales; refuse invalid answers."""
    if state.is_ineligible:
        return {}
    is_answered = page in state.visit.pages and page in state.page_sequence.places
    is_open = page == state.page.name and state.place < state.page_sequence.last_place
    if (
        state.is_shut_out
        or not (is_answered or is_open)
        or (is_open and state.rest_seconds_left() > 0)
    ):
        raise _page_not_open(state)
    content = state.page_sequence.content(state.page_sequence.places[page])
    shown_page = content.page
    kind = shown_page.view["kind"]
    is_drawn = kind in (DEVICE_PAGE, HEARING_PAGE) and not state.page_name_before(page)
    if is_answered and is_drawn:  # perhaps for a visitor, whose number was not that of the place
        site, token = state.site, state.listener.token
        stored = site.store.answer_to(site.digest, token, page)
        return {} if stored is None else dict(stored.values)
    snapped = snap_to_scales(shown_page.view, values)
    study = state.site.study
    try:
        if kind == DEVICE_PAGE:
            trials = device_trials(state, len(device_failures(state)))
            snapped = score_choices(trials, snapped, study.device_required)
        read_page(study, shown_page, snapped, state.listener.number)
    except BadAnswer as error:
        messages = explain_misfits(error, shown_page.view, state.site.words)
        if kind == CHECK_PAGE:
            raise Refusal(422, TRY_AGAIN_CODE, "wrong answer", wrong=messages) from None
        raise _wrong_answer(error.wrong, messages) from None
    seconds = state.site.served_sounds.seconds(content.files)
    if is_open and (faults := check_plays(shown_page.view, meta, seconds)):
        raise _wrong_answer(faults, [state.site.words.page("hear_again")])
    return snapped


async def _is_device_refused(state: ListenerState, page: str, id: str, values: Values) -> bool:
    """Return whether a listener has failed the required device checks for the last time.

    A failure before that is recorded, and refused with a request to try again. Of a visitor
    without a place, nothing is recorded.
    """
    study, site = state.site.study, state.site
    if page != DEVICE_PAGE or not study.device_required:
        return False
    again = Refusal(
        422, TRY_AGAIN_CODE, "device checks not passed", wrong=[site.words.page("device_again")]
    )
    failures = await run_in_threadpool(device_failures, state)
    event_id = f"{DEVICE_FAILURE_EVENT} {id}"
    is_repeated = event_id in {failure.id for failure in failures}
    failed = failed_tests(values, study.device_required)
    if failed and state.is_visitor:
        raise again
    if not is_repeated and (not failed or len(failures) + 1 >= study.device_tries):
        return bool(failed)
    event = PageEvent(event_id, DEVICE_PAGE, DEVICE_FAILURE_EVENT, {"values": dict(values)})
    writing = site.store.write(add_events, site.digest, state.listener.token, (event,))
    await asyncio.wrap_future(writing)
    raise again


def _claim_playback(
    state: ListenerState, content: PageContent, meta: Values
) -> PlaybackClaim | None:
    """Return what an answer claims was heard since the previous page was answered."""
    page, seconds = content.page, state.site.served_sounds.seconds(content.files)
    answered_at = state.visit.pages.get(state.page_name_before(page.name))
    elapsed = None
    if answered_at is not None:
        elapsed = (SERVER_CLOCK.now() - datetime.fromisoformat(answered_at)).total_seconds()
    return claim_playback(page.name, page.view, meta, seconds, elapsed)


def _wrong_answer(details: Sequence[str], listener_messages: Sequence[str] = ()) -> Refusal:
    return Refusal(422, "wrong", "invalid answer", wrong=listener_messages, details=details)


def _page_not_open(state: ListenerState) -> Refusal:
    return Refusal(409, "not_open", "this page is not open", more={"state": state_json(state)})


# --- Events, drafts and withdrawal ---------------------------------------------------------------


async def receive_events(request: Request) -> Response:
    """Save page events."""
    body = await read_json_body(request)
    site, token = served_site(request), _token(request)
    if _recent_visit(request, site) is None:
        await _check_started(request)
    page_events = _parse_events(body)
    size = sum(len(str(event.details)) + len(event.id) + len(event.page) for event in page_events)
    use_quota(request, {EVENT_COUNT: len(page_events), EVENT_BYTES: size})
    try:
        writing = site.store.write_soon(add_events, site.digest, token, page_events)
        new_count = await asyncio.wrap_future(writing)
    except (BadAnswer, UsageError) as error:
        await _check_started(request)
        raise _wrong_answer([str(error)]) from None
    if not new_count:
        await _check_started(request)
    return JSONResponse({"status": "stored" if new_count else "known"})


async def _check_started(request: Request) -> None:
    """Refuse a request if the listener has no answers: before the first one, nothing is stored."""
    state = await current_state(request)
    if not state.visit.pages:
        raise _page_not_open(state)


def _parse_events(body: Mapping[str, Any]) -> tuple[PageEvent, ...]:
    id, event_list = body.get("id"), body.get("events")
    if (
        not isinstance(id, str)
        or not CLIENT_ID_PATTERN.fullmatch(id)
        or not isinstance(event_list, list)
    ):
        raise _wrong_answer(["events must have an id and a list of events"])
    parsed = list[PageEvent]()
    for number, event in enumerate(event_list):
        kind, page = (event.get(k) if isinstance(event, dict) else None for k in ("kind", "page"))
        if not isinstance(kind, str) or not isinstance(page, str):
            raise _wrong_answer(["each event must have a kind and a page"])
        others = {
            name: detail for name, detail in event.items() if name not in ("kind", "page", "at")
        }
        details, at = spell_half_characters(others), str(event.get("at", ""))
        parsed.append(PageEvent(f"{id}.{number}", page, kind, details, at))
    return tuple(parsed)


async def receive_draft(request: Request) -> Response:
    """Save the draft of the open page, so that it can be continued on another device."""
    body = await read_json_body(request)
    page, data, revision = body.get("page"), body.get("data"), body.get("revision", 0)
    state = await run_in_threadpool(find_state, request, DRAFT_REQUESTS)
    if not (isinstance(page, str) and isinstance(data, dict) and isinstance(revision, int)):
        raise _wrong_answer(["a draft must have a page, data and a revision"])
    is_open = page == state.page.name and keeps_draft(state.site, state.page)
    if state.is_shut_out or not state.visit.pages or not is_open:
        raise _page_not_open(state)
    store, who = state.site.store, (state.site.digest, state.listener.token)
    try:
        writing = store.write_soon(add_draft, *who, page, spell_half_characters(data), revision)
        revision = await asyncio.wrap_future(writing)
    except (BadAnswer, UsageError) as error:
        raise _wrong_answer([str(error)]) from None
    if revision < 0:
        raise Refusal(409, DRAFT_CHANGED_CODE, "another device has changed the draft")
    if not revision:
        raise await run_in_threadpool(lambda: _page_not_open(find_state(request)))
    return JSONResponse({"status": "stored", "revision": revision})


async def receive_withdrawal(request: Request) -> Response:
    """Delete all data of this listener."""
    body = await read_json_body(request)
    state = await run_in_threadpool(find_state, request)
    if body.get("confirm") is not True:
        raise _wrong_answer(["withdrawal must be confirmed"])
    if state.is_visitor:  # nothing is stored
        return JSONResponse(state_json(state) | {"page": None, "withdrawn": True})
    await run_in_threadpool(state.site.store.withdraw, state.site.digest, state.listener.token)
    return JSONResponse(await _state_now(request))
