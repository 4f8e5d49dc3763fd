"""Download and upload of a rater's workbook.

An uploaded workbook is checked, read and matched in a thread, one at a time. Either all of it is
saved in one transaction, or all errors are reported by cell in the language of the study.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from earwitness.errors import EarwitnessError, InputError, Problem
from earwitness.forms.workbooks import DEFAULT_CLIPS_FOLDER
from earwitness.forms.workbooks.export import rater_workbook, study_rubric
from earwitness.forms.workbooks.open import MAX_UPLOAD_UNPACKED_BYTES
from earwitness.forms.workbooks.read import read_workbook
from earwitness.forms.workbooks.to_answers import (
    MatchedAnswers,
    enter_answers,
    match_answers,
)
from earwitness.forms.workbooks.wording import fault, fault_problem, translate_problem
from earwitness.studies.admin import count_captions, workbook_receipt
from earwitness.studies.pages import CONSENT_PAGE, counted_trials
from earwitness.studies.study import ListenerPlan
from earwitness.web.listen import find_state
from earwitness.web.pages import workbook_page
from earwitness.web.security import (
    MAX_UPLOAD_BYTES,
    UPLOAD_TIMEOUT_SECONDS,
    WORKBOOK_REQUESTS,
    Refusal,
    not_found_refusal,
    read_body,
)
from earwitness.web.state import ListenerState

XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
UPLOAD_TYPES = (XLSX_TYPE, "application/octet-stream")
FILE_NAME_PATTERN = re.compile(r"[^\x00-\x1f\x7f/\\]{1,100}")
SHOWN_FAULTS = 200  # maximum number of listed errors


async def show_workbook_page(request: Request) -> Response:
    """Send the workbook page; listeners who are blocked or withdrawn go to their own page."""
    state = await run_in_threadpool(_rater_state, request)
    if state.is_shut_out:
        return RedirectResponse(f"{state.site.settings.root_path}/l/{state.listener.token}", 303)
    context = await run_in_threadpool(_page_context, state)
    return HTMLResponse(workbook_page(state.site, state.listener.token, context))


async def send_workbook(request: Request) -> Response:
    """Send the workbook of a rater."""
    state = await run_in_threadpool(_rater_state, request)
    _check_open(state)
    links = state.site.settings.web or DEFAULT_CLIPS_FOLDER
    data = await run_in_threadpool(
        rater_workbook, state.site.design, state.listener.plan_number, links
    )
    headers = {"Content-Disposition": f'attachment; filename="{_workbook_name(state)}"'}
    return Response(data, media_type=XLSX_TYPE, headers=headers)


async def receive_workbook(request: Request) -> Response:
    """Save the answers of a workbook, or send a list of all its errors."""
    state = await run_in_threadpool(_rater_state, request)
    _check_open(state)
    if (
        request.headers.get("content-type", "").partition(";")[0].strip().lower()
        not in UPLOAD_TYPES
    ):
        raise Refusal(415, "no_workbook", "unsupported content type", f"send it as {XLSX_TYPE}")
    data = await read_body(request, MAX_UPLOAD_BYTES, UPLOAD_TIMEOUT_SECONDS)
    name = request.query_params.get("name", "")
    name = name if FILE_NAME_PATTERN.fullmatch(name) else _workbook_name(state)
    try:
        async with request.app.state.reading:
            matched_answers = await run_in_threadpool(_match_workbook, state, data, name)
        changes = await asyncio.wrap_future(
            enter_answers(state.site.store, matched_answers, token=state.listener.token)
        )
    except InputError as error:
        language = state.site.study.language
        faults = [_problem_json(language, problem) for problem in error.problems[:SHOWN_FAULTS]]
        more = {"faults": faults, "count": error.count}
        raise Refusal(422, "faults", "nothing from this workbook was saved", more=more) from None
    except EarwitnessError as error:
        raise Refusal(422, "wrong", "this workbook cannot be saved", details=[str(error)]) from None
    await run_in_threadpool(state.site.store.visit, state.listener.token)  # also for open trials
    return JSONResponse(_receipt_json(state, matched_answers) | {"changed": len(changes)})


def _rater_state(request: Request) -> ListenerState:
    """Return the state of a rater; 404 unless the study uses workbooks."""
    state = find_state(request, WORKBOOK_REQUESTS)
    if state.site.no_workbooks:
        raise not_found_refusal()
    return state


def _check_open(state: ListenerState) -> None:
    if state.is_shut_out or not _has_consented(state):
        raise Refusal(409, "not_open", "the workbook is not available to you now")


def _has_consented(state: ListenerState) -> bool:
    if state.is_visitor:  # the first answer takes a place
        return False
    return not state.site.study.consent or CONSENT_PAGE in state.visit.pages


def _match_workbook(state: ListenerState, data: bytes, name: str) -> MatchedAnswers:
    site = state.site
    rubric = study_rubric(site.study)
    book = read_workbook(data, rubric, name=name, unpacked=MAX_UPLOAD_UNPACKED_BYTES)
    matched_answers = match_answers(site.design, [book], state.listener.plan_number)
    if not matched_answers.pages:
        raise InputError([fault_problem(fault("no_ratings"), name)])
    return matched_answers


def _workbook_name(state: ListenerState) -> str:
    return f"P{state.listener.plan_number}_{'web' if state.site.settings.web else 'local'}.xlsx"


def _rater_plan(state: ListenerState) -> ListenerPlan:
    """Return the plan of a rater."""
    number = state.listener.plan_number
    return next(plan for plan in state.site.design.plans if plan.listener == number)


def _page_context(state: ListenerState) -> dict[str, Any]:
    """Return the template variables of the workbook page."""
    digest, token = state.site.digest, state.listener.token
    answers = [] if state.is_visitor else state.site.store.counted_answers(digest, token)
    return {
        "consent": not _has_consented(state),
        "file": _workbook_name(state),
        "folder": "" if state.site.settings.web else DEFAULT_CLIPS_FOLDER,
        "came": workbook_receipt(answers, count_captions(_rater_plan(state))),
    }


def _problem_json(language: str, problem: Problem) -> dict[str, str]:
    shown = translate_problem(language, problem)
    return {"place": shown.field, "told": shown.message, "remedy": shown.remedy}


def _receipt_json(state: ListenerState, matched_answers: MatchedAnswers) -> dict[str, Any]:
    """Return the receipt of a saved workbook."""
    names = {
        dimension.name: dimension.shown for dimension in study_rubric(state.site.study).dimensions
    }
    rows = [row for page in matched_answers.pages for row in page.rows]
    blank = [
        {"place": f"{row.place.sheet}!{row.cells[name]}", "name": names[name]}
        for row in rows
        for name, value in row.values.items()
        if value is None
    ]
    language = state.site.study.language
    ignored = [
        _problem_json(language, finding.place.problem(finding.fault))
        for finding in matched_answers.findings
        if finding.fault is not None
    ]
    filled = sum(any(value is not None for value in row.values.values()) for row in rows)
    plan = _rater_plan(state)
    return {
        "status": "stored",
        "rows": filled,
        "all": count_captions(plan),
        "open": len(counted_trials(plan)) - len(matched_answers.pages),
        "blank": blank,
        "ignored": ignored,
    }
