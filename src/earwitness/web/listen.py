"""Endpoints of a listener's page: state, answers, events and withdrawal."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from earwitness.core import Answer
from earwitness.errors import BadAnswer, UsageError
from earwitness.store.answers import add_answer, add_events
from earwitness.store.records import AnswerOutcome, PageEvent, Visit
from earwitness.studies.pages import presented_trial, read_page
from earwitness.version import __version__
from earwitness.web.answer_checks import (
    check_plays,
    explain_misfits,
    snap_to_scales,
    spell_half_characters,
)
from earwitness.web.pages import listener_page
from earwitness.web.security import Refusal, not_found_refusal, read_json_body
from earwitness.web.site import Site
from earwitness.web.state import ListenerState, listener_state, register_arrival, state_json

CLIENT_ID_PATTERN = re.compile(r"[0-9A-Za-z-]{8,64}")  # ids created by browsers
CLIENT_TIME_PATTERN = re.compile(r"[0-9T:.+Z-]{1,40}")
REJECTED_OUTCOMES = (AnswerOutcome.WITHDRAWN, AnswerOutcome.EARLY, AnswerOutcome.ASIDE)


def served_site(request: Request) -> Site:
    """Return the served study."""
    site: Site = request.app.state.site
    return site


def find_state(request: Request) -> ListenerState:
    """Return the state of the listener of a link; blocks while reading the database."""
    return listener_state(served_site(request), _find_visit(request))


def _find_visit(request: Request) -> Visit:
    site, token = served_site(request), str(request.path_params["token"])
    visit = (
        site.store.visit(token) if CLIENT_ID_PATTERN.fullmatch(token.replace("_", "-")) else None
    )
    if visit is None or visit.listener.study != site.digest:
        raise not_found_refusal()
    if visit.listener.number not in site.numbers:  # removed from this version of the study
        raise not_found_refusal()
    return visit


async def show_page(request: Request) -> Response:
    """Send the HTML shell of a listener."""
    await run_in_threadpool(find_state, request)
    return HTMLResponse(listener_page(served_site(request), str(request.path_params["token"])))


async def send_state(request: Request) -> Response:
    """Send the state of the listener; a newly opened page passes the id of its visit."""
    visit_id = request.query_params.get("visit", "")
    checked_id = visit_id if CLIENT_ID_PATTERN.fullmatch(visit_id) else ""

    def current_state() -> dict[str, Any]:
        if not visit_id:
            return state_json(find_state(request))
        return state_json(register_arrival(served_site(request), _find_visit(request), checked_id))

    return JSONResponse(await run_in_threadpool(current_state))


async def receive_answer(request: Request) -> Response:
    """Save an answer and send the state of the listener after it."""
    body = await read_json_body(request)
    id, page, values, meta, at = _parse_answer(body)
    state, checked_values = await run_in_threadpool(
        lambda: _check_answer(find_state(request), page, values, meta)
    )
    answer = _make_answer(state, page, checked_values, at)
    try:
        writing = state.site.store.write(add_answer, answer, id, meta, state.page_name_before(page))
        outcome = await asyncio.wrap_future(writing)
    except BadAnswer as error:
        raise _wrong_answer(error.wrong) from None
    except UsageError as error:
        raise Refusal(409, "id_used", str(error)) from None
    if outcome in REJECTED_OUTCOMES:
        raise await run_in_threadpool(lambda: _page_not_open(find_state(request)))

    def next_state() -> dict[str, Any]:
        if outcome == AnswerOutcome.STORED:  # the listener has just reached the next page
            return state_json(state.with_answer_to(page), page_is_new=True)
        return state_json(find_state(request))  # another tab may have changed it

    return JSONResponse({"status": outcome.value, "state": await run_in_threadpool(next_state)})


def _parse_answer(body: Mapping[str, Any]) -> tuple[str, str, dict[str, Any], dict[str, Any], str]:
    """Return the parts of an answer, or raise an error that lists all problems."""
    id, page, at = body.get("id"), body.get("page"), body.get("at", "")
    values, meta = body.get("values"), body.get("meta", {})
    faults = []
    if not isinstance(id, str) or not CLIENT_ID_PATTERN.fullmatch(id):
        faults.append("id must be a UUID")
    if not isinstance(page, str):
        faults.append("page must be the name of a page")
    if not isinstance(values, dict):
        faults.append("values must be an object")
    if not isinstance(meta, dict):
        faults.append("meta must be an object")
    if at and (not isinstance(at, str) or not CLIENT_TIME_PATTERN.fullmatch(at)):
        faults.append("at must be a time")
    if faults:
        raise _wrong_answer(faults)
    return str(id), str(page), dict(values or {}), spell_half_characters(meta), str(at)


def _check_answer(
    state: ListenerState, page: str, values: Mapping[str, Any], meta: Mapping[str, Any]
) -> tuple[ListenerState, dict[str, Any]]:
    """Return the state and the values snapped to their scales; refuse invalid answers."""
    is_answered = page in state.visit.pages and page in state.page_sequence.places
    is_open = page == state.page.name and state.place < len(state.page_sequence.pages) - 1
    if (
        state.is_shut_out
        or not (is_answered or is_open)
        or (is_open and state.rest_seconds_left() > 0)
    ):
        raise _page_not_open(state)
    shown_page = state.page_sequence.pages[state.page_sequence.places[page]]
    snapped = snap_to_scales(shown_page.view, values)
    try:
        read_page(state.site.design.study, shown_page, snapped, state.listener.number)
    except BadAnswer as error:
        raise _wrong_answer(
            error.wrong, explain_misfits(error, shown_page.view, state.site.words)
        ) from None
    seconds = state.site.served_sounds.seconds(state.page_sequence.sounds[page])
    if is_open and (faults := check_plays(shown_page.view, meta, seconds)):
        raise _wrong_answer(faults, [state.site.words.page("hear_again")])
    return state, snapped


def _wrong_answer(details: Sequence[str], listener_messages: Sequence[str] = ()) -> Refusal:
    return Refusal(422, "wrong", "invalid answer", wrong=listener_messages, details=details)


def _page_not_open(state: ListenerState) -> Refusal:
    return Refusal(409, "not_open", "this page is not open", more={"state": state_json(state)})


def _make_answer(state: ListenerState, page: str, values: Mapping[str, Any], at: str) -> Answer:
    trial = state.page_sequence.pages[state.page_sequence.places[page]].trial
    presented = None if trial is None else presented_trial(trial)
    number, digest = state.listener.number, state.site.digest
    return Answer(digest, number, page, dict(values), presented, at, __version__)


async def receive_events(request: Request) -> Response:
    """Save page events."""
    body = await read_json_body(request)
    state = await run_in_threadpool(find_state, request)
    page_events = _parse_events(body)
    store, digest = state.site.store, state.site.digest
    try:
        writing = store.write(add_events, digest, state.listener.number, page_events)
        new_count = await asyncio.wrap_future(writing)
    except (BadAnswer, UsageError) as error:
        raise _wrong_answer([str(error)]) from None
    return JSONResponse({"status": "stored" if new_count else "known"})


def _parse_events(body: Mapping[str, Any]) -> tuple[PageEvent, ...]:
    id, event_list = body.get("id"), body.get("events")
    if (
        not isinstance(id, str)
        or not CLIENT_ID_PATTERN.fullmatch(id)
        or not isinstance(event_list, list)
    ):
        raise _wrong_answer(["events must have an id and a list of events"])
    return tuple(_parse_event(f"{id}.{number}", one) for number, one in enumerate(event_list))


def _parse_event(id: str, event: Any) -> PageEvent:
    if not isinstance(event, dict) or not all(
        isinstance(event.get(k), str) for k in ("kind", "page")
    ):
        raise _wrong_answer(["each event must have a kind and a page"])
    details = {name: value for name, value in event.items() if name not in ("kind", "page", "at")}
    return PageEvent(
        id, event["page"], event["kind"], spell_half_characters(details), str(event.get("at", ""))
    )


async def receive_withdrawal(request: Request) -> Response:
    """Delete all data of this listener."""
    body = await read_json_body(request)
    state = await run_in_threadpool(find_state, request)
    if body.get("confirm") is not True:
        raise _wrong_answer(["withdrawal must be confirmed"])
    await run_in_threadpool(state.site.store.withdraw, state.site.digest, state.listener.number)
    return JSONResponse(await run_in_threadpool(lambda: state_json(find_state(request))))
