"""Download and upload of a rater's workbook.

What is sent back is guarded, read and matched in a thread, one at a time; then all of it is kept
in one transaction, or every fault is told by its cell, in the language of the study.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from earwitness.errors import EarwitnessError, InputError
from earwitness.studies.admin import came, captions_in
from earwitness.studies.pages import CONSENT_PAGE, counted
from earwitness.studies.study import ListenerPlan
from earwitness.studies.workbooks.export import DEFAULT_CLIPS_FOLDER, rater_workbook, study_rubric
from earwitness.studies.workbooks.open import MAX_UPLOAD_UNPACKED_BYTES
from earwitness.studies.workbooks.read import read_workbook
from earwitness.studies.workbooks.to_answers import (
    CONFLICT_REMEDY,
    MatchedAnswers,
    enter_answers,
    match_answers,
)
from earwitness.studies.workbooks.wording import translate_problem
from earwitness.web.listen import here
from earwitness.web.pages import workbook_page
from earwitness.web.security import (
    MAX_UPLOAD_BYTES,
    UPLOAD_TIMEOUT_SECONDS,
    Refusal,
    body,
    nothing_here,
)
from earwitness.web.state import ListenerState

XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
UPLOAD_TYPES = (XLSX_TYPE, "application/octet-stream")
FILE_NAME_PATTERN = re.compile(r"[^\x00-\x1f\x7f/\\]{1,100}")
SHOWN_FAULTS = 200  # faults that are listed


async def show(request: Request) -> Response:
    """Where a workbook is got and sent back; who is shut out is told so on their page."""
    now = await run_in_threadpool(_raters, request)
    if now.shut:
        return RedirectResponse(f"{now.site.settings.root}/l/{now.listener.token}", 303)
    more = await run_in_threadpool(_shown, now)
    return HTMLResponse(workbook_page(now.site, now.listener.token, more))


async def download(request: Request) -> Response:
    """The workbook of a rater."""
    now = await run_in_threadpool(_raters, request)
    _check(now)
    links = now.site.settings.clips or DEFAULT_CLIPS_FOLDER
    data = await run_in_threadpool(rater_workbook, now.site.design, now.listener.number, links)
    headers = {"Content-Disposition": f'attachment; filename="{_file(now)}"'}
    return Response(data, media_type=XLSX_TYPE, headers=headers)


async def upload(request: Request) -> Response:
    """Keep what a workbook says, or say all that is wrong with it."""
    now = await run_in_threadpool(_raters, request)
    _check(now)
    if (
        request.headers.get("content-type", "").partition(";")[0].strip().lower()
        not in UPLOAD_TYPES
    ):
        raise Refusal(
            415, "no_workbook", "this is not sent as a workbook", f"send it as {XLSX_TYPE}"
        )
    data = await body(request, MAX_UPLOAD_BYTES, UPLOAD_TIMEOUT_SECONDS)
    name = request.query_params.get("name", "")
    name = name if FILE_NAME_PATTERN.fullmatch(name) else _file(now)
    try:
        async with request.app.state.reading:
            found = await run_in_threadpool(_read, now, data, name)
        changes = await asyncio.wrap_future(enter_answers(now.site.store, found, CONFLICT_REMEDY))
    except InputError as error:
        raise _faults(now, error) from None
    except EarwitnessError as error:
        raise Refusal(422, "wrong", "this workbook cannot be kept", details=[str(error)]) from None
    return JSONResponse(_told(now, found) | {"changed": len(changes)})


def _raters(request: Request) -> ListenerState:
    """Where a rater is; nothing is here unless captions are judged."""
    now = here(request)
    if now.site.no_workbooks:
        raise nothing_here()
    return now


def _check(now: ListenerState) -> None:
    if now.shut or not _agreed(now):
        raise Refusal(409, "not_open", "this is not open to you now")


def _agreed(now: ListenerState) -> bool:
    return not now.site.design.study.consent or CONSENT_PAGE in now.visit.pages


def _read(now: ListenerState, data: bytes, name: str) -> MatchedAnswers:
    site = now.site
    rubric = study_rubric(site.design.study)
    book = read_workbook(data, rubric, name=name, unpacked=MAX_UPLOAD_UNPACKED_BYTES)
    return match_answers(site.design, [book], now.listener.number)


def _file(now: ListenerState) -> str:
    return f"P{now.listener.number}_{'web' if now.site.settings.clips else 'local'}.xlsx"


def _plan(now: ListenerState) -> ListenerPlan:
    """What is planned for a rater."""
    number = now.listener.number
    return next(plan for plan in now.site.design.plans if plan.listener == number)


def _shown(now: ListenerState) -> dict[str, Any]:
    """What the page says of this rater."""
    given = now.site.store.counting(now.site.digest, now.listener.number)
    return {
        "consent": not _agreed(now),
        "file": _file(now),
        "folder": "" if now.site.settings.clips else DEFAULT_CLIPS_FOLDER,
        "came": came(given, captions_in(_plan(now))),
    }


def _faults(now: ListenerState, error: InputError) -> Refusal:
    language = now.site.design.study.language
    told = [translate_problem(language, one) for one in error.problems[:SHOWN_FAULTS]]
    faults = [{"place": one.field, "told": one.message, "remedy": one.remedy} for one in told]
    more = {"faults": faults, "count": error.count}
    return Refusal(422, "faults", "nothing of this workbook was kept", more=more)


def _told(now: ListenerState, found: MatchedAnswers) -> dict[str, Any]:
    """What a rater is told of a workbook that was kept."""
    names = {one.name: one.shown for one in study_rubric(now.site.design.study).dimensions}
    rows = [row for page in found.pages for row in page.rows]
    blank = [
        {"place": f"{row.place.sheet}!{row.cells[name]}", "name": names[name]}
        for row in rows
        for name, value in row.values.items()
        if value is None
    ]
    filled = sum(any(one is not None for one in row.values.values()) for row in rows)
    plan = _plan(now)
    left, every = len(counted(plan)) - len(found.pages), captions_in(plan)
    return {"status": "stored", "rows": filled, "all": every, "open": left, "blank": blank}
