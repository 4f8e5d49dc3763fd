"""Every verb of a store, on every database."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from earwitness.errors import BadAnswer, StoreError, UsageError
from earwitness.store import answers as answers_module
from earwitness.store.answers import add_answer
from earwitness.store.listeners import OpenPlaceQuota, has_free_place
from earwitness.store.records import (
    AnswerOutcome,
    FinishReceipt,
    Listener,
    PageEvent,
    ParticipationState,
    PlaceRefusal,
    server_time,
)
from earwitness.store.store import Store
from earwitness.studies.answers import answer_line, read_answers
from helpers.store_answers import DIGEST, answer, ask

PLAYED = PageEvent("e1", "1.1", "played", {"sound": "a1b2", "seconds": 4.5}, "2026-01-01")
ODD = [
    "a & b + c % d = \"e\" 'f' ; -- /* \\ ` ?",
    "%26 %00 %s {x} :y $1 \\u0041",
    "🙂👩‍👩‍👧‍👦 é é 中文 עברית \u202e \ufeff",
    "zero \0 byte, line\nend\r\n\ttab \x7f \x1b[0m \u2028",
    "x" * 100_000,
    "",
]


def listener_of(store: Store, token: str) -> Listener | None:
    """The listener of a link, if any."""
    visit = store.visit(token)
    return None if visit is None else visit.listener


def test_a_study_and_its_listeners_may_be_added_again(store: Store) -> None:
    links = {one.number: one.token for one in store.add_listeners(DIGEST, [1, 2])}
    store.add_study(DIGEST, "A study")
    again = store.add_listeners(DIGEST, [2, 5, 1, 1])
    assert [one.number for one in again] == [1, 2, 5]
    assert {one.number: one.token for one in again[:2]} == links
    assert again[2].state == ParticipationState.INVITED
    assert len(store.status(DIGEST)) == 5


def test_links_cannot_be_guessed_and_lead_to_their_listener(store: Store) -> None:
    everybody = store.add_listeners(DIGEST, range(1, 101))
    assert len({one.token for one in everybody}) == 100
    assert min(len(one.token) for one in everybody) >= 32
    for one in everybody[::10]:
        assert listener_of(store, one.token) == one
        assert one.token not in repr(one)
    assert listener_of(store, "1") is None
    assert listener_of(store, "") is None


def claimed(store: Store, request: str, study: str = DIGEST, **more: Any) -> Listener:
    """A place that somebody gets."""
    listener = store.claim(study, request, **more)
    assert isinstance(listener, Listener)
    return listener


def test_open_numbers_go_to_whoever_comes_until_there_are_no_more(store: Store) -> None:
    first = claimed(store, "tab 1")
    assert (first.number, first.state, first.token) == (3, ParticipationState.JOINED, "tab 1")
    assert first.joined is not None
    assert claimed(store, "tab 1") == first
    second = claimed(store, "tab 2", outside="5f8a")
    assert (second.number, second.outside) == (4, "5f8a")
    assert store.claim(DIGEST, "tab 3") == PlaceRefusal.FULL
    assert store.claim(DIGEST, "tab 3", outside="5f8b") == PlaceRefusal.FULL
    assert claimed(store, "tab 2", outside="5f8a") == second
    store.add_listeners(DIGEST, [9], open=True)
    assert claimed(store, "5f8a").number == 9  # another sort of id, so another person


def test_an_external_id_is_claimed_once_and_repeats_are_counted(store: Store) -> None:
    first = claimed(store, "tab 1", outside="5f8a")
    for _ in range(2):
        assert store.claim(DIGEST, "tab 2", outside="5f8a") == PlaceRefusal.STARTED
    assert store.count_repeat(DIGEST, "5f8a")
    assert not store.count_repeat(DIGEST, "5f8b")
    assert listener_of(store, "tab 1") == replace(first, repeats=3)
    assert listener_of(store, "tab 2") is None
    assert store.count_free_places(DIGEST) == 1


def test_to_ask_whose_number_is_claimed_takes_none(store: Store) -> None:
    assert store.count_free_places(DIGEST) == 2
    assert store.find_claim(DIGEST, request="tab 1") is None
    assert store.find_claim(DIGEST, outside="tab 1") is None
    assert store.count_free_places(DIGEST) == 2
    first = store.claim(DIGEST, "tab 1")
    assert store.find_claim(DIGEST, request="tab 1") == first
    assert store.find_claim(DIGEST, outside="tab 1") is None
    assert store.count_free_places(DIGEST) == 1


def test_a_quota_counts_all_who_hold_a_place_and_knows_the_last_number(store: Store) -> None:
    assert [store.count_free_places(DIGEST, OpenPlaceQuota(most, 4)) for most in (0, 1, 2, 9)] == [
        0,
        1,
        2,
        2,
    ]
    assert store.count_free_places(DIGEST, OpenPlaceQuota(9, 3)) == 1
    assert claimed(store, "a", quota=OpenPlaceQuota(1, 4)).number == 3
    for quota in (OpenPlaceQuota(1, 4), OpenPlaceQuota(9, 3)):
        assert store.claim(DIGEST, "b", quota=quota) == PlaceRefusal.FULL
        assert store.count_free_places(DIGEST, quota) == 0
    assert claimed(store, "a", quota=OpenPlaceQuota(1, 4)).number == 3


def test_the_longest_idle_listener_is_replaced_and_tokens_lead_to_the_same_person(
    store: Store, address: str
) -> None:
    quota = OpenPlaceQuota(2, 4, idle_hours=1)
    for person, year in (("a", 2021), ("b", 2020)):
        number = claimed(store, person, quota=quota).number
        for page in ("1.1", "1.2"):
            store.add_answer(answer(page, listener=number), f"{person} {page}")
        ask(address, f"UPDATE answers SET received = '{year}' WHERE id LIKE '{person} %'")
    ask(address, "UPDATE listeners SET joined = '2020' WHERE joined IS NOT NULL")
    store.add_draft(DIGEST, "b", "1.3", {"note": "a draft"})
    assert store.count_free_places(DIGEST, quota) == 1  # who writes a draft is not idle
    ask(address, "UPDATE drafts SET received = '2020'")
    for people, hours, free in ((2, 0, 0), (2, 1, 2), (1, 1, 1), (0, 1, 0), (3, 0, 0)):
        some = OpenPlaceQuota(people, 4, hours)
        assert store.count_free_places(DIGEST, some) == free
        assert store.has_free_place(DIGEST, some) is bool(free)
    new = claimed(store, "c", quota=quota)
    assert (new.number, new.former) == (4, None)
    old = listener_of(store, "b")
    assert old is not None
    assert (old.state, old.former, old.plan_number) == (ParticipationState.LAPSED, 4, 4)
    assert old.number < 0
    assert store.draft(DIGEST, "b", "1.3") is None
    late = store.write(add_answer, answer("1.3", listener=4), "late", None, "", "b").result()
    assert late == AnswerOutcome.WITHDRAWN
    assert store.add_events(DIGEST, "b", [PageEvent("late", "1.2", "blur")]) == 0
    assert store.finish(DIGEST, "b", ["1.1"]).code is None
    assert [one.answer.listener for one in store.history(DIGEST)] == [3, 3, *[old.number] * 2]
    assert [one.listener for one in store.answers(DIGEST)] == [3, 3]
    store.add_answer(answer(listener=4), "c")
    store.withdraw(DIGEST, "b")
    assert [one.listener for one in store.answers(DIGEST)] == [3, 3, 4]
    assert store.count_free_places(DIGEST, quota) == 1
    assert claimed(store, "d", quota=quota).number == 3
    assert store.claim(DIGEST, "e", quota=quota) == PlaceRefusal.FULL


def test_idle_listeners_who_may_come_back_count(store: Store, address: str) -> None:
    quota = OpenPlaceQuota(1, 4, idle_hours=1)
    assert claimed(store, "a", quota=quota).number == 3
    ask(address, "UPDATE listeners SET joined = '2020' WHERE joined IS NOT NULL")
    assert store.count_free_places(DIGEST, quota) == 1
    assert claimed(store, "b", quota=quota).number == 3  # and not the other place, which is unused
    assert store.claim(DIGEST, "c", quota=quota) == PlaceRefusal.FULL


def let_pass(address: str, minutes: float) -> None:
    """Let everything that is stored have happened some minutes earlier."""
    at = server_time(minutes / 60)
    ask(address, f"UPDATE listeners SET joined = '{at}' WHERE joined IS NOT NULL")
    for table in ("answers", "events", "drafts"):
        ask(address, f"UPDATE {table} SET received = '{at}'")


@pytest.mark.parametrize("hours", [0, 0.1, 24])
def test_a_place_with_only_its_first_answer_is_free_after_half_an_hour(
    store: Store, address: str, hours: float
) -> None:
    quota = OpenPlaceQuota(2, 4, hours)
    unused, used = (claimed(store, person, quota=quota).number for person in "ab")
    store.add_answer(answer("consent", listener=unused), "a")
    for page in ("consent", "1.1"):
        store.add_answer(answer(page, listener=used), f"b {page}")
    for minutes, free in ((5, 0), (29, 0 if hours != 0.1 else 2), (31, 2 if hours == 0.1 else 1)):
        let_pass(address, minutes)
        assert store.count_free_places(DIGEST, quota) == free
        assert store.read(has_free_place, DIGEST, quota) is bool(free)
    store.add_events(DIGEST, unused, [PageEvent("1", "1.1", "blur")])
    assert store.count_free_places(DIGEST, quota) == (1 if hours == 0.1 else 0)
    let_pass(address, 31)
    assert claimed(store, "c", quota=quota).number == unused
    assert [one.page for one in store.answers(DIGEST)] == ["consent", "1.1"]


def test_who_comes_back_after_half_an_hour_gets_a_place_if_one_is_free(
    store: Store, address: str
) -> None:
    quota = OpenPlaceQuota(1, 4)
    first = claimed(store, "a", quota=quota).number
    store.add_answer(answer("consent", listener=first), "a")
    assert not store.reclaim(DIGEST, "a", quota)  # still has the place
    let_pass(address, 31)
    other = claimed(store, "b", quota=quota).number
    assert not store.reclaim(DIGEST, "a", quota)
    let_pass(address, 31)
    assert store.reclaim(DIGEST, "a", quota)
    again = listener_of(store, "a")
    assert again is not None
    assert (again.number, again.former, again.state) == (other, None, ParticipationState.JOINED)
    assert [(one.page, one.listener) for one in store.answers(DIGEST)] == [("consent", other)]
    assert store.count_free_places(DIGEST, quota) == 0
    assert store.reclaim(DIGEST, "b", OpenPlaceQuota(2, 4))  # a place that nobody has had
    numbers = {one.listener.number: one.listener.token for one in store.status(DIGEST)}
    assert {numbers[3], numbers[4]} == {"a", "b"}


def test_who_has_answered_twice_does_not_get_another_place(store: Store, address: str) -> None:
    quota = OpenPlaceQuota(1, 4, 1)
    first = claimed(store, "a", quota=quota).number
    for page in ("consent", "1.1"):
        store.add_answer(answer(page, listener=first), f"a {page}")
    let_pass(address, 61)
    claimed(store, "b", quota=quota)
    assert not store.reclaim(DIGEST, "a", OpenPlaceQuota(2, 4))


def test_an_event_is_activity(store: Store, address: str) -> None:
    quota = OpenPlaceQuota(2, 4, idle_hours=1)
    number = claimed(store, "a", quota=quota).number
    store.add_events(DIGEST, number, [PageEvent("1", "1.1", "blur")])
    ask(address, "UPDATE listeners SET joined = '2020' WHERE joined IS NOT NULL")
    assert store.count_free_places(DIGEST, quota) == 1
    ask(address, "UPDATE events SET received = '2020'")
    assert store.count_free_places(DIGEST, quota) == 2


def test_links_are_taken_back_only_from_those_of_whom_nothing_has_come(store: Store) -> None:
    store.add_listeners(DIGEST, [5, 6, 7, 8])
    store.add_events(DIGEST, 7, [PageEvent("1", "consent", "blur")])
    store.add_answer(answer("1.1", listener=8), "id of 8")
    assert store.uninvite(DIGEST, 2) == [5, 6]
    assert store.uninvite(DIGEST, 9) == [1, 2]
    assert [one.listener.number for one in store.status(DIGEST)] == [3, 4, 7, 8]
    assert store.uninvite(DIGEST, 9) == []
    [again] = store.add_listeners(DIGEST, [5], open=True)
    assert again.state == ParticipationState.OPEN


def test_the_same_person_may_be_in_two_studies(store: Store) -> None:
    store.add_study("e" * 64, "Another")
    store.add_listeners("e" * 64, [1], open=True)
    both = [claimed(store, study, study, outside="5f8a") for study in (DIGEST, "e" * 64)]
    assert [one.number for one in both] == [3, 1]


def test_who_has_withdrawn_is_known_and_nothing_says_who_it_was(store: Store, address: str) -> None:
    store.add_study("e" * 64, "Another")
    store.add_listeners("e" * 64, [1, 2], open=True)
    for study in (DIGEST, "e" * 64):
        first = claimed(store, f"1 {study}", study, outside="5f8a")
        store.withdraw(study, first.number)
        for gone in (
            store.claim(study, f"1 {study}", outside="5f8a"),
            store.find_claim(study, outside="5f8a"),
        ):
            assert isinstance(gone, Listener)
            assert (gone.number, gone.state) == (first.number, ParticipationState.WITHDRAWN)
            assert gone.token == first.token
        assert store.claim(study, f"2 {study}", outside="5f8a") == PlaceRefusal.STARTED
        assert store.count_free_places(study) == 2
        assert store.count_free_places(study, OpenPlaceQuota(1, 4)) == 1
        assert store.find_claim(study, outside="5f8b") is None
        assert claimed(store, f"3 {study}", study, outside="5f8b").number == first.number + 1
        again = claimed(store, f"4 {study}", study)  # takes the place of the one who has withdrawn
        assert again.number == first.number
        assert listener_of(store, first.token) is not None
    kept = ask(address, "SELECT gone FROM listeners WHERE gone IS NOT NULL")
    assert len({one for (one,) in kept}) == 2  # each study has a secret of its own
    told = repr([list(store.export(DIGEST, private=True)), kept])
    assert "5f8a" not in told
    secret = ask(address, "SELECT secret FROM studies")[0][0]
    assert secret not in told


def test_a_claim_says_by_what(store: Store) -> None:
    with pytest.raises(UsageError, match="exactly one of outside and request"):
        store.find_claim(DIGEST)
    with pytest.raises(UsageError, match="exactly one of outside and request"):
        store.find_claim(DIGEST, outside="a", request="b")
    with pytest.raises(UsageError, match="id is empty"):
        store.claim(DIGEST, "")
    with pytest.raises(UsageError, match="id is empty"):
        store.claim(DIGEST, "a", outside="")


def test_an_answer_that_comes_again_is_known(store: Store) -> None:
    assert store.add_answer(answer(), "id 1") == AnswerOutcome.STORED
    assert store.add_answer(answer(), "id 1") == AnswerOutcome.KNOWN
    assert store.answers(DIGEST) == [answer()]


def test_the_first_answer_to_a_page_counts(store: Store) -> None:
    assert store.add_answer(answer(ovrl=1), "id 1") == AnswerOutcome.STORED
    assert store.add_answer(answer(ovrl=2), "id 2") == AnswerOutcome.TAKEN
    assert store.add_answer(answer(ovrl=2), "id 2") == AnswerOutcome.TAKEN
    assert store.add_answer(answer(ovrl=3, listener=2), "id 2") == AnswerOutcome.STORED
    assert store.add_answer(answer("1.2", ovrl=4), "id 2") == AnswerOutcome.STORED
    assert [one.values["ovrl"] for one in store.answers(DIGEST)] == [1, 3, 4]


def test_an_id_stands_for_one_answer_of_its_listener(store: Store) -> None:
    store.add_answer(answer(ovrl=1), "id 1")
    assert store.add_answer(answer(listener=2), "id 1") == AnswerOutcome.STORED
    for other in (answer(ovrl=2), answer("1.2", ovrl=1)):
        with pytest.raises(UsageError, match="'id 1' is already used by another answer"):
            store.add_answer(other, "id 1")
    with pytest.raises(UsageError, match="'id 1' is already used by another answer"):
        store.correct_answer(answer(ovrl=1), "id 1", "id 1")
    assert len(store.history(DIGEST)) == 2


def test_the_first_answer_joins(store: Store) -> None:
    assert store.status(DIGEST)[0].listener.state == ParticipationState.INVITED
    store.add_answer(answer(), "id 1")
    joined = store.status(DIGEST)[0].listener
    assert joined.state == ParticipationState.JOINED
    store.add_answer(answer("1.2"), "id 2")
    assert store.status(DIGEST)[0].listener == joined


def test_a_correction_is_a_new_row_and_counts(store: Store) -> None:
    store.add_answer(answer(ovrl=1), "id 1")
    assert store.correct_answer(answer(ovrl=2), "id 2", "id 1") == AnswerOutcome.STORED
    assert store.correct_answer(answer(ovrl=2), "id 2", "id 1") == AnswerOutcome.KNOWN
    assert store.correct_answer(answer(ovrl=3), "id 3", "id 1") == AnswerOutcome.TAKEN
    assert store.correct_answer(answer(ovrl=4), "id 4", "id 2") == AnswerOutcome.STORED
    assert store.answers(DIGEST) == store.answers(DIGEST, 1) == [answer(ovrl=4)]
    assert store.answers(DIGEST, 2) == []
    rows = store.history(DIGEST, 1)
    assert [(one.id, one.answer.values["ovrl"], one.supersedes) for one in rows] == [
        ("id 1", 1, None),
        ("id 2", 2, "id 1"),
        ("id 4", 4, "id 2"),
    ]
    assert all(one.received for one in rows)
    assert store.add_answer(answer(ovrl=1), "id 1") == AnswerOutcome.KNOWN  # late, from an outbox


def test_only_an_answer_to_the_same_page_can_be_corrected(store: Store) -> None:
    store.add_answer(answer(), "id 1")
    store.add_answer(answer(listener=2), "id 2")
    for wrong, of in ((answer(), "id 9"), (answer("1.2"), "id 1"), (answer(), "id 2")):
        with pytest.raises(UsageError, match=f"page {wrong.page} has no answer '{of}' to correct"):
            store.correct_answer(wrong, "id 3", of)


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_any_text_survives(store: Store, text: str) -> None:
    given = replace(answer(remarks=text, nested={"ü &": [text, None, 0.1, True]}), page="ü & 🙂 %")
    assert store.add_answer(given, 'id & + % " 🙂') == AnswerOutcome.STORED
    assert store.add_answer(given, 'id & + % " 🙂') == AnswerOutcome.KNOWN
    assert store.answers(DIGEST) == [given]
    event = replace(PLAYED, details={"text": text})
    store.add_events(DIGEST, 1, [event])
    assert store.events(DIGEST, 1) == [event]
    assert json.loads(json.dumps(list(store.export(DIGEST))))[-2]["values"] == given.values


def test_what_is_no_text_is_refused_and_said(store: Store) -> None:
    with pytest.raises(BadAnswer, match="values contains an invalid character"):
        store.add_answer(answer(remarks="\ud83d"), "id 1")
    with pytest.raises(BadAnswer, match="values cannot be written as JSON"):
        store.add_answer(answer(ovrl=float("nan")), "id 1")
    with pytest.raises(BadAnswer, match="values cannot be written as JSON"):
        store.add_answer(answer(ovrl={1}), "id 1")
    for id, told in (
        ("\ud83d", "invalid char"),
        ("\0", "zero byte"),
        ("", "empty"),
        ("x" * 201, "201"),
    ):
        with pytest.raises(UsageError, match=f"id .*{told}"):
            store.add_answer(answer(), id)
    with pytest.raises(UsageError, match="page contains a zero byte"):
        store.add_answer(answer("a\0b"), "id 1")
    assert store.history(DIGEST) == []


def test_names_as_long_as_may_be_fit(store: Store) -> None:
    long = "🙂" * 200
    given = answer(long)
    assert store.add_answer(given, long) == AnswerOutcome.STORED
    assert store.correct_answer(given, long[1:], long) == AnswerOutcome.STORED
    assert claimed(store, "a", outside=long).outside == long
    assert claimed(store, long).token == long


def test_events_are_kept_once(store: Store) -> None:
    other = replace(PLAYED, id="e2", what="hidden", details={})
    assert store.add_events(DIGEST, 1, [PLAYED]) == 1
    assert store.add_events(DIGEST, 1, [PLAYED, other, other]) == 1
    assert store.add_events(DIGEST, 1, []) == 0
    assert store.add_events(DIGEST, 2, [PLAYED]) == 1
    assert store.events(DIGEST, 1) == [PLAYED, other]
    with pytest.raises(UsageError, match="at most 1,000 events are allowed per call, got 1,001"):
        store.add_events(DIGEST, 1, [PLAYED] * 1001)


def test_a_code_comes_when_every_page_is_answered_and_is_always_the_same(store: Store) -> None:
    store.add_answer(answer("1.1"), "id 1")
    assert store.finish(DIGEST, 1, ["1.1", "1.2"]) == FinishReceipt(("1.2",), None)
    assert store.status(DIGEST)[0].listener.state == ParticipationState.JOINED
    store.add_answer(answer("1.2"), "id 2")
    ended = store.finish(DIGEST, 1, ["1.1", "1.2"])
    assert ended.missing == ()
    assert ended.code is not None
    assert len(ended.code) == 10
    assert store.finish(DIGEST, 1, ["1.1", "1.2"]) == ended
    listener = store.status(DIGEST)[0].listener
    assert (listener.state, listener.code) == (ParticipationState.FINISHED, ended.code)
    store.add_answer(answer("1.1", 2), "id 3")
    assert store.finish(DIGEST, 2, ["1.1"]).code != ended.code


def test_withdrawing_deletes_all_that_came_from_a_listener(store: Store, address: str) -> None:
    secret = "never tell anybody"
    who = claimed(store, "tab 1", outside="prolific person")
    store.add_answer(answer(listener=3, remarks=secret), "id 1")
    store.correct_answer(answer(listener=3, remarks=secret + "!"), "id 2", "id 1")
    store.add_events(DIGEST, 3, [replace(PLAYED, details={"remarks": secret})])
    store.finish(DIGEST, 3, ["1.1"])
    store.add_answer(answer(listener=1), "id 3")
    for _ in range(2):
        store.withdraw(DIGEST, 3)
        assert store.history(DIGEST, 3) == []
        assert store.events(DIGEST, 3) == []
        gone = listener_of(store, who.token)
        assert gone is not None
        assert (gone.number, gone.state, gone.outside, gone.code) == (
            3,
            ParticipationState.WITHDRAWN,
            None,
            None,
        )
    assert store.answers(DIGEST) == [answer(listener=1)]
    for table in ("answers", "events", "listeners"):
        rows = repr(ask(address, f"SELECT * FROM {table}"))
        assert secret not in rows
        assert "prolific" not in rows


def test_nothing_of_who_withdrew_comes_back(store: Store) -> None:
    store.add_answer(answer(), "id 1")
    store.withdraw(DIGEST, 1)
    assert store.add_answer(answer(), "id 1") == AnswerOutcome.WITHDRAWN  # late, from an outbox
    assert store.correct_answer(answer(), "id 2", "id 1") == AnswerOutcome.WITHDRAWN
    assert store.add_events(DIGEST, 1, [PLAYED]) == 0
    assert store.finish(DIGEST, 1, ["1.1"]) == FinishReceipt(("1.1",), None)
    assert store.finish(DIGEST, 1, []) == FinishReceipt((), None)
    assert store.history(DIGEST) == []
    again = store.claim(DIGEST, request="tab 1")
    assert isinstance(again, Listener)
    assert again.number == 3
    store.withdraw(DIGEST, 3)
    withdrawn = store.claim(DIGEST, request="tab 1")
    assert isinstance(withdrawn, Listener)
    assert (withdrawn.number, withdrawn.state) == (3, ParticipationState.WITHDRAWN)


def test_bytes_of_who_withdrew_are_gone_from_the_files_of_sqlite(tmp_path: Path) -> None:
    secret, path = "never tell anybody" * 500, tmp_path / "store.db"
    with Store.open(path) as store:
        store.add_study(DIGEST, "A study")
        store.add_listeners(DIGEST, [1])
        store.add_answer(answer(remarks=secret), "id 1")
        assert any(b"never tell" in file.read_bytes() for file in tmp_path.iterdir())
        store.withdraw(DIGEST, 1)
        assert not any(b"never tell" in file.read_bytes() for file in tmp_path.iterdir())


def test_status_counts_for_every_listener(store: Store) -> None:
    store.add_answer(answer("1.1"), "id 1")
    store.add_answer(answer("1.2"), "id 2")
    store.correct_answer(answer("1.2", ovrl=1), "id 3", "id 2")
    last = store.history(DIGEST)[-1].received
    first, second, *_ = store.status(DIGEST)
    assert (first.answers, first.corrections, first.events, first.last) == (2, 1, 0, last)
    assert (second.answers, second.corrections, second.events, second.last) == (0, 0, 0, None)
    store.add_events(DIGEST, 2, [PLAYED])
    second = store.status(DIGEST)[1]
    assert (second.listener.number, second.events) == (2, 1)
    assert second.last is not None
    assert second.last >= last


def test_an_export_has_every_row_and_no_links_unless_asked(store: Store) -> None:
    who = claimed(store, "tab 1", outside="5f8a")
    store.add_answer(answer(ovrl=1), "id 1")
    store.correct_answer(answer(ovrl=2), "id 2", "id 1")
    store.add_events(DIGEST, 1, [PLAYED])
    told: list[dict[str, Any]] = json.loads(json.dumps(list(store.export(DIGEST))))
    assert [one["record"] for one in told] == (
        ["study"] + ["listener"] * 4 + ["answer"] * 2 + ["event"]
    )
    corrected = told[-2]
    assert (corrected["values"], corrected["supersedes"]) == ({"ovrl": 2}, "id 1")
    assert (told[-1]["what"], told[-1]["listener"]) == ("played", 1)
    assert not {who.token, "5f8a"} & {str(value) for one in told for value in one.values()}
    everything = {str(v) for one in store.export(DIGEST, private=True) for v in one.values()}
    assert {who.token, "5f8a"} <= everything


def test_an_export_comes_in_portions(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers_module, "ROWS_IN_MEMORY", 3)
    for number in range(20):
        store.add_answer(answer(str(number)), f"id {number}")
    records = store.export(DIGEST)
    first = [next(records) for _ in range(7)]
    store.add_answer(answer("late"), "late")  # is not in what was begun before
    pages = [one["page"] for one in (*first, *records) if one["record"] == "answer"]
    assert pages == [str(number) for number in range(20)]
    half = store.export(DIGEST)
    assert [next(half)["record"] for _ in range(6)][-1] == "answer"  # and no more of it


def test_answers_are_those_that_a_file_of_answers_has(store: Store, tmp_path: Path) -> None:
    pages = enumerate(("consent", "1.1", "1.2"))
    given = [answer(page, remarks=ODD[number]) for number, page in pages]
    for number, one in enumerate(given):
        store.add_answer(one, f"id {number}")
    (tmp_path / "answers.jsonl").write_bytes(b"".join(map(answer_line, given)))
    lines = read_answers(tmp_path / "answers.jsonl", DIGEST)
    found = [replace(one, digest=None) for one in lines.values()]  # files alone have a digest
    assert found == store.answers(DIGEST)


def test_what_is_not_there_is_named(store: Store) -> None:
    for study, listener in (("f" * 64, 1), (DIGEST, 99)):
        with pytest.raises(UsageError, match=r"study file \(f|is not in the database"):
            store.add_answer(replace(answer(listener=listener), study=study), "id 1")
        with pytest.raises(UsageError, match=r"study file \(f|is not in the database"):
            store.answers(study, listener)
    with pytest.raises(UsageError, match=r"study file \(ffff"):
        list(store.export("f" * 64))


def test_a_closed_store_says_so(address: str) -> None:
    store = Store.open(address)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="the database is closed"):
        store.add_study(DIGEST, "A study")


def test_what_is_set_aside_counts_no_more_and_is_asked_again(store: Store) -> None:
    for page in ("1.1", "1.2", "2.1"):
        store.add_answer(answer(page, ovrl=1), f"first {page}")
    assert store.set_aside(DIGEST, 1, ["1.1", "1.2", "1.3"]) == 2
    assert store.set_aside(DIGEST, 1, ["1.1", "1.2"]) == 0
    assert [one.page for one in store.answers(DIGEST)] == ["2.1"]
    assert store.finish(DIGEST, 1, ["1.1", "1.2", "2.1"]).missing == ("1.1", "1.2")
    assert (
        store.add_answer(answer("1.1", ovrl=1), "first 1.1") == AnswerOutcome.ASIDE
    )  # a late repeat
    assert store.answer_to(DIGEST, 1, "1.1") is None
    assert store.add_answer(answer("1.1", ovrl=2), "second 1.1") == AnswerOutcome.STORED
    assert store.add_answer(answer("1.1", ovrl=2), "second 1.1") == AnswerOutcome.KNOWN
    assert store.add_answer(answer("1.1", ovrl=3), "third 1.1") == AnswerOutcome.TAKEN
    assert store.answer_to(DIGEST, 1, "1.1") == answer("1.1", ovrl=2)
    assert [one.aside for one in store.history(DIGEST)] == [*[False] * 3, True, True, False]
    status = store.status(DIGEST)[0]
    assert (status.answers, status.corrections) == (2, 1)
    assert store.set_aside(DIGEST, 1, ["1.1"]) == 1
    assert store.add_answer(answer("1.1", ovrl=4), "fourth 1.1") == AnswerOutcome.STORED
    assert (
        store.correct_answer(answer("1.1", ovrl=5), "fifth", "fourth 1.1") == AnswerOutcome.STORED
    )
    assert store.answer_to(DIGEST, 1, "1.1") == answer("1.1", ovrl=5)
    for id, value in (("first 1.1", 1), ("second 1.1", 2)):
        assert store.add_answer(answer("1.1", ovrl=value), id) == AnswerOutcome.TAKEN
    assert store.add_answer(answer("1.1", ovrl=4), "fourth 1.1") == AnswerOutcome.KNOWN
    store.set_aside(DIGEST, 1, ["1.1"])
    assert store.add_answer(answer("1.1", ovrl=4), "fourth 1.1") == AnswerOutcome.ASIDE
    assert store.correct_answer(answer("1.1", ovrl=5), "fifth", "fourth 1.1") == AnswerOutcome.ASIDE


def test_an_answer_may_have_to_come_after_another(store: Store) -> None:
    assert (
        store.write(add_answer, answer("1.2"), "id 2", None, "1.1").result() == AnswerOutcome.EARLY
    )
    store.add_answer(answer("1.1"), "id 1")
    assert (
        store.write(add_answer, answer("1.2"), "id 2", None, "1.1").result() == AnswerOutcome.STORED
    )
    store.set_aside(DIGEST, 1, ["1.1"])
    assert (
        store.write(add_answer, answer("1.2"), "id 2", None, "1.1").result() == AnswerOutcome.KNOWN
    )
    assert (
        store.write(add_answer, answer("1.2"), "id 3", None, "1.1").result() == AnswerOutcome.TAKEN
    )
    store.set_aside(DIGEST, 1, ["1.2"])
    assert (
        store.write(add_answer, answer("1.2"), "id 4", None, "1.1").result() == AnswerOutcome.EARLY
    )
    store.add_answer(answer("1.1"), "id 5")
    assert (
        store.write(add_answer, answer("1.2"), "id 4", None, "1.1").result() == AnswerOutcome.STORED
    )


def test_of_who_has_withdrawn_nothing_is_set_aside(store: Store) -> None:
    store.add_answer(answer(), "id 1")
    store.withdraw(DIGEST, 1)
    assert store.set_aside(DIGEST, 1, ["1.1"]) == 0
    assert store.history(DIGEST) == []


def test_a_visit_tells_the_listener_and_what_is_answered(store: Store) -> None:
    [one] = store.add_listeners(DIGEST, [1])
    store.add_answer(answer("1.2"), "id 1")
    store.add_answer(answer("1.1"), "id 2")
    visit = store.visit(one.token)
    assert visit is not None
    assert (visit.listener.number, list(visit.pages)) == (1, ["1.2", "1.1"])
    assert all(visit.pages.values())
    assert store.visit("nobody") is None


def test_a_state_changes_only_from_the_one_that_is_named(store: Store) -> None:
    assert not store.change_state(DIGEST, 1, ParticipationState.JOINED, ParticipationState.BLOCKED)
    store.add_answer(answer(), "id 1")
    assert store.change_state(DIGEST, 1, ParticipationState.JOINED, ParticipationState.BLOCKED)
    assert not store.change_state(DIGEST, 1, ParticipationState.JOINED, ParticipationState.BLOCKED)
    assert store.status(DIGEST)[0].listener.state == ParticipationState.BLOCKED


def test_what_goes_with_an_answer_is_kept_beside_it(store: Store) -> None:
    meta = {"comment": 'a & b "🙂"', "plays": [{"sound": 0, "ended": True}]}
    store.add_answer(answer(), "id 1", meta)
    assert store.history(DIGEST)[0].meta == meta
    [record] = [one for one in store.export(DIGEST) if one["record"] == "answer"]
    assert record["meta"] == meta
    with pytest.raises(BadAnswer, match="meta cannot be written"):
        store.add_answer(answer("1.2"), "id 2", {"latency": float("nan")})


def test_the_last_draft_of_the_open_page_is_kept_until_it_is_answered(store: Store) -> None:
    assert store.draft(DIGEST, 1, "1.1") is None
    assert [store.add_draft(DIGEST, 1, "1.1", {"note": text}) for text in ("a", "b\0")] == [1, 2]
    assert store.draft(DIGEST, 1, "1.1") == ({"note": "b\0"}, 2)
    assert store.draft(DIGEST, 2, "1.1") is None
    other = {"author": "b", "note": "c"}
    assert store.add_draft(DIGEST, 1, "1.1", other, 1) == -1  # was changed since
    assert store.add_draft(DIGEST, 1, "1.1", other, 2) == 3
    assert store.add_draft(DIGEST, 1, "1.1", {"note": "d"}, 2) == -1
    assert store.add_draft(DIGEST, 1, "1.1", other, 2) == 4  # the same author, without the reply
    store.add_answer(answer(), "first")
    assert store.add_draft(DIGEST, 1, "1.1", {}) == 0  # sent before, but late
    assert store.add_draft(DIGEST, 1, "1.2", {}) == 5
    assert store.draft(DIGEST, 1, "1.1") is None
    store.withdraw(DIGEST, 1)
    assert store.draft(DIGEST, 1, "1.2") is None
    assert store.add_draft(DIGEST, 1, "1.2", {}) == 0


def test_visitors_of_a_full_study_do_not_look_for_idle_listeners_each_time(
    store: Store, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    monkeypatch.setattr(
        "earwitness.store.store.server_time",
        lambda hours=0.0: (now[0] - timedelta(hours=hours)).isoformat(timespec="milliseconds"),
    )
    quota = OpenPlaceQuota(2, 4, 24)
    for person in "ab":
        claimed(store, person, quota=quota)
    assert not store.has_free_place(DIGEST, quota)
    let_pass(address, 31)  # both are idle
    assert not store.has_free_place(DIGEST, quota)
    now[0] += timedelta(seconds=10)
    assert store.has_free_place(DIGEST, quota)
    let_pass(address, 0)
    assert not store.has_free_place(DIGEST, quota)
    store.withdraw(DIGEST, 3)
    assert store.has_free_place(DIGEST, quota)  # of somebody who left: at once
