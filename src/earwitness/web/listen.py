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
from earwitness.studies.pages import heard, read_page
from earwitness.version import __version__
from earwitness.web.answer_checks import meant, misfits_told, unheard, whole
from earwitness.web.pages import shell
from earwitness.web.security import Refusal, nothing_here, sent
from earwitness.web.site import Site
from earwitness.web.state import ListenerState, arrive, standing, told

CLIENT_ID_PATTERN = re.compile(r"[0-9A-Za-z-]{8,64}")  # ids that browsers make
CLIENT_TIME_PATTERN = re.compile(r"[0-9T:.+Z-]{1,40}")
REJECTED_OUTCOMES = (AnswerOutcome.WITHDRAWN, AnswerOutcome.EARLY, AnswerOutcome.ASIDE)


def site_of(request: Request) -> Site:
    """What is served."""
    found: Site = request.app.state.site
    return found


def here(request: Request) -> ListenerState:
    """Where the listener of a link is; waits for the store."""
    return standing(site_of(request), _visit(request))


def _visit(request: Request) -> Visit:
    site, token = site_of(request), str(request.path_params["token"])
    visit = (
        site.store.visit(token) if CLIENT_ID_PATTERN.fullmatch(token.replace("_", "-")) else None
    )
    if visit is None or visit.listener.study != site.digest:
        raise nothing_here()
    if visit.listener.number not in site.numbers:  # the study had more listeners once
        raise nothing_here()
    return visit


async def show(request: Request) -> Response:
    """The shell."""
    await run_in_threadpool(here, request)
    return HTMLResponse(shell(site_of(request), str(request.path_params["token"])))


async def state(request: Request) -> Response:
    """Where the listener is; a page that was just opened says so, by the id of this visit."""
    id = request.query_params.get("visit", "")
    if not id:
        return JSONResponse(await run_in_threadpool(lambda: told(here(request))))
    known = id if CLIENT_ID_PATTERN.fullmatch(id) else ""
    return JSONResponse(
        await run_in_threadpool(lambda: told(arrive(site_of(request), _visit(request), known)))
    )


async def answers(request: Request) -> Response:
    """Keep an answer, and say where the listener is then."""
    body = await sent(request)
    id, page, given, meta, at = _parts(body)
    now, values = await run_in_threadpool(lambda: _checked(here(request), page, given, meta))
    answer = _answer(now, page, values, at)
    try:
        writing = now.site.store.write(add_answer, answer, id, meta, now.before(page))
        outcome = await asyncio.wrap_future(writing)
    except BadAnswer as error:
        raise _wrong(error.wrong) from None
    except UsageError as error:
        raise Refusal(409, "id_used", str(error)) from None
    if outcome in REJECTED_OUTCOMES:
        raise await run_in_threadpool(lambda: _not_open(here(request)))
    new = outcome == AnswerOutcome.STORED  # else others may have gone on since, or back

    def then() -> dict[str, Any]:
        return told(now.after(page), new=True) if new else told(here(request))

    return JSONResponse({"status": outcome.value, "state": await run_in_threadpool(then)})


def _parts(body: Mapping[str, Any]) -> tuple[str, str, dict[str, Any], dict[str, Any], str]:
    """What an answer consists of, or all that is wrong with it."""
    id, page, at = body.get("id"), body.get("page"), body.get("at", "")
    values, meta = body.get("values"), body.get("meta", {})
    wrong = []
    if not isinstance(id, str) or not CLIENT_ID_PATTERN.fullmatch(id):
        wrong.append("id must be a UUID")
    if not isinstance(page, str):
        wrong.append("page must be the name of a page")
    if not isinstance(values, dict):
        wrong.append("values must be an object")
    if not isinstance(meta, dict):
        wrong.append("meta must be an object")
    if at and (not isinstance(at, str) or not CLIENT_TIME_PATTERN.fullmatch(at)):
        wrong.append("at must be a time")
    if wrong:
        raise _wrong(wrong)
    return str(id), str(page), dict(values or {}), whole(meta), str(at)


def _checked(
    now: ListenerState, page: str, given: Mapping[str, Any], meta: Mapping[str, Any]
) -> tuple[ListenerState, dict[str, Any]]:
    """Refuse what is not asked now, and what cannot be; where one is, and what is meant."""
    known = page in now.visit.pages and page in now.course.places
    is_open = page == now.page.name and now.place < len(now.course.pages) - 1
    if now.shut or not (known or is_open) or (is_open and now.resting() > 0):
        raise _not_open(now)
    asked = now.course.pages[now.course.places[page]]
    values = meant(asked.view, given)
    try:
        read_page(now.site.design.study, asked, values, now.listener.number)
    except BadAnswer as error:
        raise _wrong(error.wrong, misfits_told(error, asked.view, now.site.words)) from None
    seconds = now.site.heard.seconds(now.course.sounds[page])
    if is_open and (wrong := unheard(asked.view, meta, seconds)):
        raise _wrong(wrong, [now.site.words.page("hear_again")])
    return now, values


def _wrong(details: Sequence[str], told: Sequence[str] = ()) -> Refusal:
    return Refusal(422, "wrong", "this cannot be an answer", wrong=told, details=details)


def _not_open(now: ListenerState) -> Refusal:
    return Refusal(409, "not_open", "this page is not open", more={"state": told(now)})


def _answer(now: ListenerState, page: str, values: Mapping[str, Any], at: str) -> Answer:
    trial = now.course.pages[now.course.places[page]].trial
    presented = None if trial is None else heard(trial)
    number, digest = now.listener.number, now.site.digest
    return Answer(digest, number, page, dict(values), presented, at, __version__)


async def events(request: Request) -> Response:
    """Keep what happened on pages."""
    body = await sent(request)
    now = await run_in_threadpool(here, request)
    happened = _events(body)
    store, digest = now.site.store, now.site.digest
    try:
        writing = store.write(add_events, digest, now.listener.number, happened)
        new = await asyncio.wrap_future(writing)
    except (BadAnswer, UsageError) as error:
        raise _wrong([str(error)]) from None
    return JSONResponse({"status": "stored" if new else "known"})


def _events(body: Mapping[str, Any]) -> tuple[PageEvent, ...]:
    id, listed = body.get("id"), body.get("events")
    if (
        not isinstance(id, str)
        or not CLIENT_ID_PATTERN.fullmatch(id)
        or not isinstance(listed, list)
    ):
        raise _wrong(["events need an id and a list"])
    return tuple(_event(f"{id}.{number}", one) for number, one in enumerate(listed))


def _event(id: str, one: Any) -> PageEvent:
    if not isinstance(one, dict) or not all(isinstance(one.get(k), str) for k in ("kind", "page")):
        raise _wrong(["an event needs a kind and a page"])
    rest = {name: value for name, value in one.items() if name not in ("kind", "page", "at")}
    return PageEvent(id, one["page"], one["kind"], whole(rest), str(one.get("at", "")))


async def withdraw(request: Request) -> Response:
    """Delete all that came from this listener."""
    body = await sent(request)
    now = await run_in_threadpool(here, request)
    if body.get("confirm") is not True:
        raise _wrong(["to withdraw must be confirmed"])
    await run_in_threadpool(now.site.store.withdraw, now.site.digest, now.listener.number)
    return JSONResponse(await run_in_threadpool(lambda: told(here(request))))
