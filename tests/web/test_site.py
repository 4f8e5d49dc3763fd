"""Page sequences that are created in parts, and quotas of listeners."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from earwitness.studies.design.report import study_design
from earwitness.studies.pages import pages
from earwitness.studies.study import Design
from earwitness.web import security, site
from earwitness.web.security import ListenerQuotas, Refusal
from earwitness.web.site import PageSequences
from helpers.http_listener import answer, link, served, site_of
from helpers.study_listener import study

MORE = "rest_minutes: 1\nfeedback: true\ndevice: [level, huggins]\n"


def made_design(folder: Path, kind: str) -> Design:
    return study_design(study(folder, kind, MORE))


# --- Page sequences ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["p835", "acr"])
def test_a_page_alone_is_the_same_as_among_all(folder: Path, kind: str) -> None:
    design = made_design(folder, kind)
    sequences = PageSequences(design)
    for plan in design.plans:
        files = list[str]()

        def address(item: str, system: str, place: int, files: list[str] = files) -> str:
            del place
            files.append(design.study.file(item, system))
            return ""

        sequence, expected = sequences(plan.listener), list(pages(design.study, plan, address))
        names = sequence.outline.names
        assert [sequence.content(place).page for place in range(len(names))] == expected
        assert [file for name in names for file in sequence.files(name)] == files
        assert sequence.files("no page") == ()
        trials = [n for n, page in enumerate(expected) if page.trial is not None]
        for place in range(len(expected)):
            following = [n for n in trials if n > place]
            found = sequence.next_trial(place)
            assert found == (expected[following[0]] if following else None)


def test_listeners_share_what_is_equal(folder: Path) -> None:
    design = made_design(folder, "acr")
    sequences = PageSequences(design)
    one, two = (sequences(plan.listener) for plan in design.plans[:2])
    assert one.outline is two.outline
    assert one.content(0).page is two.content(0).page
    assert sequences(design.plans[0].listener) is one


def test_a_page_that_is_not_in_memory_is_created_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "TRIAL_PAGES_IN_MEMORY", 1)
    created = {name: Mock(side_effect=getattr(site, name)) for name in ("pages", "trial_page")}
    for name, function in created.items():
        monkeypatch.setattr(site, name, function)
    design = made_design(folder, "acr")
    sequences, numbers = PageSequences(design), [plan.listener for plan in design.plans]
    for _ in range(3):  # each listener displaces the page of the other
        for sequence in map(sequences, numbers):
            assert sequence.content(sequence.outline.trial_places[0]).page.trial is not None
    assert len(numbers) > 1
    assert created["pages"].call_count == len(numbers)
    assert created["trial_page"].call_count == 3 * len(numbers)


# --- Quotas --------------------------------------------------------------------------------------


def refused(quotas: ListenerQuotas, token: str, **amounts: int) -> str:
    try:
        quotas.use(token, amounts)
    except Refusal as refusal:
        return refusal.code
    return ""


def test_a_quota_per_minute_passes_and_one_in_all_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "QUOTAS_PER_MINUTE", {"events": 3, "answers": 1})
    monkeypatch.setattr(security, "QUOTAS_IN_ALL", {"events": 5})
    now = 0.0
    quotas = ListenerQuotas(lambda: now)
    assert refused(quotas, "a", events=3) == ""
    assert refused(quotas, "a", events=1) == "too_fast"
    assert refused(quotas, "a", answers=1) == ""
    assert refused(quotas, "b", events=3) == ""
    now = 60.0
    assert refused(quotas, "a", events=3) == "quota_used"
    assert refused(quotas, "a", events=2, answers=1) == ""
    now = 120.0
    assert refused(quotas, "a", events=1) == "quota_used"
    assert refused(quotas, "a", answers=1) == ""


def test_who_uses_nothing_that_counts_in_all_is_forgotten() -> None:
    now = 0.0
    quotas = ListenerQuotas(lambda: now)
    for number in range(1000):
        quotas.use(f"visitor {number}", {"states": 1})
    quotas.use("a", {"events": 1})
    now = 60.0
    quotas.use("b", {"states": 1})
    assert len(quotas) == 2


def test_requests_beyond_a_quota_are_refused_with_a_code(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    per_minute = dict.fromkeys(security.QUOTAS_PER_MINUTE, 1) | {"bytes of events": 1000}
    with served(study(folder, "acr"), str(folder / "store.db")) as client:
        own, other = link(client), link(client, 2)
        sent = answer(client.get(f"{own}/state").json()["page"], {"agree": True})
        state = client.post(f"{own}/answers", json=sent).json()["state"]
        monkeypatch.setattr(security, "QUOTAS_PER_MINUTE", per_minute)
        monkeypatch.setattr(security, "QUOTAS_IN_ALL", {"events": 2})

        def events() -> Any:
            event = {"kind": "focus_lost", "page": ""}
            return client.post(f"{own}/events", json={"id": str(uuid.uuid4()), "events": [event]})

        requests = [
            lambda: client.post(f"{own}/answers", json=sent),
            lambda: client.get(state["ahead"][0]),
            events,
        ]
        for request in requests:
            request()
            got = request()
            assert (got.status_code, got.json()["error"]["code"]) == (429, "too_fast")
            assert got.headers["retry-after"] == "60"
        assert client.get(f"{other}/state").status_code == 200
        site = site_of(client)
        assert [one.page for one in site.store.answers(site.digest)] == ["consent"]
        monkeypatch.setattr(security, "QUOTAS_IN_ALL", {"events": 1})
        got = events()
        assert (got.status_code, got.json()["error"]["code"]) == (429, "quota_used")
        assert "retry-after" not in got.headers
        assert json.loads(got.text)["error"]["message"] == "more than 1 events of one listener"
