"""Workbooks of raters over their own links: got, filled in elsewhere, and sent back.

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

from earwitness.api.came import came, captions_in
from earwitness.api.entering import EMPTY, entering
from earwitness.api.matching import Matched, matched
from earwitness.api.sending import LOCAL, judged_by, own_workbook
from earwitness.data import Plan
from earwitness.errors import EarwitnessError, InputError
from earwitness.formats.workbooks import read_workbook
from earwitness.formats.workbooks.guarded import UPLOADED
from earwitness.formats.workbooks.words.faults import told_in
from earwitness.listening.pages import CONSENT, counted
from earwitness.web.errors import Refusal, nothing_here
from earwitness.web.listen import here
from earwitness.web.pages import workbook_page
from earwitness.web.security import UPLOAD, UPLOADING, body
from earwitness.web.state import Standing

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
TYPES = (XLSX, "application/octet-stream")
NAMED = re.compile(r"[^\x00-\x1f\x7f/\\]{1,100}")
MOST = 200  # faults that are listed


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
    links = now.site.settings.clips or LOCAL
    data = await run_in_threadpool(own_workbook, now.site.design, now.listener.number, links)
    headers = {"Content-Disposition": f'attachment; filename="{_file(now)}"'}
    return Response(data, media_type=XLSX, headers=headers)


async def upload(request: Request) -> Response:
    """Keep what a workbook says, or say all that is wrong with it."""
    now = await run_in_threadpool(_raters, request)
    _check(now)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() not in TYPES:
        raise Refusal(415, "no_workbook", "this is not sent as a workbook", f"send it as {XLSX}")
    data = await body(request, UPLOAD, UPLOADING)
    name = request.query_params.get("name", "")
    name = name if NAMED.fullmatch(name) else _file(now)
    try:
        async with request.app.state.reading:
            found = await run_in_threadpool(_read, now, data, name)
        changes = await asyncio.wrap_future(entering(now.site.store, found, EMPTY))
    except InputError as error:
        raise _faults(now, error) from None
    except EarwitnessError as error:
        raise Refusal(422, "wrong", "this workbook cannot be kept", details=[str(error)]) from None
    return JSONResponse(_told(now, found) | {"changed": len(changes)})


def _raters(request: Request) -> Standing:
    """Where a rater is; nothing is here unless captions are judged."""
    now = here(request)
    if now.site.no_workbooks:
        raise nothing_here()
    return now


def _check(now: Standing) -> None:
    if now.shut or not _agreed(now):
        raise Refusal(409, "not_open", "this is not open to you now")


def _agreed(now: Standing) -> bool:
    return not now.site.design.study.consent or CONSENT in now.visit.pages


def _read(now: Standing, data: bytes, name: str) -> Matched:
    site = now.site
    rubric = judged_by(site.design.study)
    book = read_workbook(data, rubric, name=name, unpacked=UPLOADED)
    return matched(site.design, [book], now.listener.number)


def _file(now: Standing) -> str:
    return f"P{now.listener.number}_{'web' if now.site.settings.clips else 'local'}.xlsx"


def _plan(now: Standing) -> Plan:
    """What is planned for a rater."""
    number = now.listener.number
    return next(plan for plan in now.site.design.plans if plan.listener == number)


def _shown(now: Standing) -> dict[str, Any]:
    """What the page says of this rater."""
    given = now.site.store.counting(now.site.digest, now.listener.number)
    return {
        "consent": not _agreed(now),
        "file": _file(now),
        "folder": "" if now.site.settings.clips else LOCAL,
        "came": came(given, captions_in(_plan(now))),
    }


def _faults(now: Standing, error: InputError) -> Refusal:
    language = now.site.design.study.language
    told = [told_in(language, one) for one in error.problems[:MOST]]
    faults = [{"place": one.field, "told": one.message, "remedy": one.remedy} for one in told]
    more = {"faults": faults, "count": error.count}
    return Refusal(422, "faults", "nothing of this workbook was kept", more=more)


def _told(now: Standing, found: Matched) -> dict[str, Any]:
    """What a rater is told of a workbook that was kept."""
    names = {one.name: one.shown for one in judged_by(now.site.design.study).dimensions}
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
