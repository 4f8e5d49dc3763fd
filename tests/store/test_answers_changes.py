"""Many answers at once: decided by what is there, and all of them or none."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from earwitness.errors import UsageError
from earwitness.store.answers import AnswerChange, AnswerHistory, change_answers
from earwitness.store.records import ParticipationState
from earwitness.store.store import Store
from helpers.store_answers import DIGEST, answer, ask

OTHER = "e" * 64


def change(store: Store, *changes: AnswerChange, numbers: Sequence[int] = (1, 2)) -> AnswerHistory:
    """Keep changes, whatever is there; what was there before."""
    seen: list[AnswerHistory] = []

    def decide(held: AnswerHistory) -> Sequence[AnswerChange]:
        seen.append(held)
        return changes

    store.write(change_answers, DIGEST, "A study", numbers, decide).result()
    return seen[-1]


def test_who_decides_sees_all_that_was_ever_answered(store: Store) -> None:
    store.add_answer(answer("1.1"), "a")
    store.correct_answer(answer("1.1", ovrl=2), "b", "a")
    store.add_answer(answer("1.2"), "c")
    store.set_aside(DIGEST, 1, ["1.2"])
    held = change(store)
    assert [one.number for one in held.listeners] == [1, 2]
    assert [one.id for one in held.answers[1]][:3] == ["a", "b", "c"]
    assert held.answers[2] == ()
    last = [held.last(1, page) for page in ("1.1", "1.2", "1.3")]
    assert [one and (one.answer.values["ovrl"], one.aside) for one in last] == [
        (2, False),
        (4, True),
        None,
    ]


def test_nothing_is_stored_for_a_number_that_has_passed_to_another_person(store: Store) -> None:
    changes = [AnswerChange(answer("1.1"), "a")]
    writing = store.write(change_answers, DIGEST, "A study", [1], lambda _: changes, "former-token")
    with pytest.raises(UsageError, match="given to another person"):
        writing.result()
    assert store.answers(DIGEST) == []


def test_answers_are_added_and_corrected_together(store: Store) -> None:
    store.add_answer(answer("1.1"), "a")
    change(
        store,
        AnswerChange(answer("1.1", ovrl=1), "b", "a", {"by": "hand"}),
        AnswerChange(answer("1.1", 2, ovrl=3), "b"),
    )
    found = {(one.answer.listener, one.id): one for one in store.counted_answers(DIGEST)}
    assert {place: one.answer.values["ovrl"] for place, one in found.items()} == {
        (1, "b"): 1,
        (2, "b"): 3,
    }
    assert found[1, "b"].meta == {"by": "hand"}
    assert store.status(DIGEST)[1].listener.state == ParticipationState.JOINED


def test_what_was_set_aside_is_answered_anew(store: Store) -> None:
    store.add_answer(answer("1.1"), "a")
    store.set_aside(DIGEST, 1, ["1.1"])
    change(store, AnswerChange(answer("1.1", ovrl=5), "b"))
    assert [one.values["ovrl"] for one in store.answers(DIGEST, 1)] == [5]


def test_nothing_is_kept_if_one_of_them_cannot_be(store: Store, address: str) -> None:
    store.add_answer(answer("1.1", 2), "a")
    tables = [f"SELECT * FROM {name} ORDER BY 1" for name in ("studies", "listeners", "answers")]
    before = [ask(address, one) for one in tables]
    with pytest.raises(UsageError, match=r"page 1\.1: the answer could not be stored"):
        change(store, AnswerChange(answer("1.1"), "b"), AnswerChange(answer("1.1", 2, ovrl=1), "c"))
    with pytest.raises(UsageError, match="has no answer 'x' to correct"):
        change(
            store,
            AnswerChange(answer("1.1"), "b"),
            AnswerChange(answer("1.2"), "c", "x"),
            numbers=[1, 77],
        )
    assert [ask(address, one) for one in tables] == before


def test_a_study_and_its_listeners_are_entered_if_they_are_not_there(store: Store) -> None:
    store.write(change_answers, OTHER, "Another", [5, 6], lambda _: ()).result()
    assert [one.listener.number for one in store.status(OTHER)] == [5, 6]
    assert {one.listener.state for one in store.status(OTHER)} == {ParticipationState.INVITED}


def test_of_who_has_withdrawn_nothing_is_kept(store: Store) -> None:
    store.withdraw(DIGEST, 1)
    with pytest.raises(UsageError, match="could not be stored"):
        change(store, AnswerChange(answer("1.1"), "b"))


def test_a_draft_is_deleted_with_the_answer_to_its_page_only(store: Store) -> None:
    store.add_answer(answer("1.1"), "a")
    store.add_draft(DIGEST, 1, "1.2", {"note": "wind"})
    change(store, AnswerChange(answer("1.1", ovrl=1), "b", "a"))
    assert store.draft(DIGEST, 1, "1.2") is not None
    change(store, AnswerChange(answer("1.2"), "c"))
    assert store.draft(DIGEST, 1, "1.2") is None
