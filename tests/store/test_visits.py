"""Answered pages are read once, and are right whoever writes."""

from __future__ import annotations

import pytest

from earwitness.store import visits
from earwitness.store.store import Store
from helpers.store_answers import DIGEST, answer


def pages(store: Store, token: str) -> list[str]:
    visit = store.visit(token)
    assert visit is not None
    return list(visit.pages)


def test_changes_by_another_process_are_seen(store: Store, address: str) -> None:
    [one] = store.add_listeners(DIGEST, [1])
    store.add_answer(answer("1.1"), "id 1")
    assert pages(store, one.token) == ["1.1"]
    with Store.open(address) as other:
        other.add_answer(answer("1.2"), "id 2")
        assert pages(store, one.token) == ["1.1", "1.2"]
        other.correct_answer(answer("1.1"), "id 3", "id 1")
        assert pages(store, one.token) == pages(other, one.token) == ["1.2", "1.1"]
        other.set_aside(DIGEST, 1, ["1.2"])
        assert pages(store, one.token) == ["1.1"]
        other.add_answer(answer("1.2"), "id 4")
        assert pages(store, one.token) == ["1.1", "1.2"]
        other.withdraw(DIGEST, 1)
    assert pages(store, one.token) == []


def test_times_are_those_of_the_database(store: Store) -> None:
    [one] = store.add_listeners(DIGEST, [1])
    for number in range(3):
        store.add_answer(answer(f"1.{number}"), f"id {number}")
        store.visit(one.token)
    visit = store.visit(one.token)
    assert visit is not None
    assert visit.pages == {given.answer.page: given.received for given in store.history(DIGEST, 1)}


def test_a_recent_visit_is_extended_unless_another_one_is_known(store: Store) -> None:
    [one] = store.add_listeners(DIGEST, [1])
    store.add_answer(answer("1.1"), "id 1")
    visit = store.visit(one.token)
    assert visit is not None
    store.add_answer(answer("1.2"), "id 2")
    extended = {**visit.pages, "1.2": "now"}
    store.extend_recent_visit(one.token, visit, extended)
    recent = store.recent_visit(one.token)
    assert recent is not None
    assert (recent.listener, recent.pages) == (visit.listener, extended)
    assert pages(store, one.token) == ["1.1", "1.2"]
    store.set_aside(DIGEST, 1, ["1.2"])
    assert pages(store, one.token) == ["1.1"]
    store.extend_recent_visit(one.token, visit, extended)
    assert pages(store, one.token) == ["1.1"]


def test_memory_is_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "MAX_CACHED_PAGES", 3)
    one, two = store.add_listeners(DIGEST, [1, 2])
    for number in range(2):
        store.add_answer(answer(f"1.{number}"), f"id {number}")
        store.add_answer(answer(f"1.{number}", listener=2), f"id {number}")
    assert pages(store, one.token) == pages(store, two.token) == ["1.0", "1.1"]
    assert list(store._visits._cache) == [two.token]
    assert pages(store, one.token) == ["1.0", "1.1"]
