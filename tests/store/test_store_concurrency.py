"""Many at once, and processes that are killed: nothing is lost, and nothing doubled."""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from earwitness.store.records import AnswerOutcome, Listener
from earwitness.store.store import Store
from earwitness.store.tables import LAYOUT
from helpers.samples import many
from helpers.store_answers import DIGEST, answer, ask
from helpers.store_writer import go, start


def told(process: subprocess.Popen[str]) -> dict[str, str]:
    """All that a process acknowledged, by id."""
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, process.stdout:
        lines = process.stdout.read().splitlines()
    process.wait()
    return dict(line.split() for line in lines)


def test_of_eight_threads_that_answer_one_page_one_is_first(store: Store) -> None:
    pages = many(10, 200)

    def click(number: int) -> list[AnswerOutcome]:
        return [store.add_answer(answer(str(page)), f"{number}.{page}") for page in range(pages)]

    with ThreadPoolExecutor(8) as pool:
        clicks = list(pool.map(click, range(8)))
    for outcomes in zip(*clicks, strict=True):
        assert Counter(outcomes) == {AnswerOutcome.STORED: 1, AnswerOutcome.TAKEN: 7}
    assert len(store.history(DIGEST)) == pages


def test_one_answer_from_eight_threads_is_stored_once(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda _: store.add_answer(answer(), "id 1"), range(32)))
    assert Counter(outcomes) == {AnswerOutcome.STORED: 1, AnswerOutcome.KNOWN: 31}


def test_of_two_processes_that_answer_one_page_one_is_first(address: str) -> None:
    pages = many(100, 2000)
    both = [start(address, name, pages) for name in "ab"]  # they make the tables, too
    go(*both)
    one, other = (told(process) for process in both)
    assert len(one) == len(other) == pages
    for page in range(pages):
        assert {one[f"a.{page}"], other[f"b.{page}"]} == {"stored", "taken"}
    assert ask(address, "SELECT count(*), count(DISTINCT page) FROM answers") == [(pages, pages)]
    assert ask(address, "SELECT number FROM layout") == [(LAYOUT,)]


def test_many_who_come_at_once_get_numbers_of_their_own(store: Store) -> None:
    store.add_listeners(DIGEST, range(5, 21), open=True)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: store.claim(DIGEST, str(n // 2)), range(60)))
    numbers = [one.number if isinstance(one, Listener) else 0 for one in found]
    assert numbers[::2] == numbers[1::2]  # the same person, twice
    assert sorted(numbers[::2]) == [0] * 12 + list(range(3, 21))


def test_two_stores_share_one_database(store: Store, address: str) -> None:
    with Store.open(address) as other:
        assert other.add_answer(answer(ovrl=1), "id 1") == AnswerOutcome.STORED
        assert store.add_answer(answer(ovrl=1), "id 1") == AnswerOutcome.KNOWN
        assert store.add_answer(answer(ovrl=2), "id 2") == AnswerOutcome.TAKEN
        assert store.correct_answer(answer(ovrl=2), "id 2", "id 1") == AnswerOutcome.STORED
        assert other.answers(DIGEST) == [answer(ovrl=2)]
        assert other.correct_answer(answer(ovrl=3), "id 3", "id 1") == AnswerOutcome.TAKEN


def test_what_a_killed_process_acknowledged_is_there_once(address: str) -> None:
    rng, acknowledged = random.Random(1), set[str]()
    for number in range(many(3, 20)):
        process = start(address, f"k{number}", 100_000)
        go(process)
        assert process.stdout is not None
        seen = [process.stdout.readline() for _ in range(rng.choice([1, 2, 5, 50]))]
        process.kill()
        ended = told(process)
        assert process.returncode == -9
        acknowledged |= {line.split()[0] for line in seen if line.endswith(" stored\n")}
        acknowledged |= {id for id, outcome in ended.items() if outcome == "stored"}
        kept = [id for (id,) in ask(address, "SELECT id FROM answers")]
        assert acknowledged <= set(kept)
        assert len(kept) == len(set(kept))
    pages = ask(address, "SELECT count(*), count(DISTINCT page) FROM answers")[0]
    assert pages[0] == pages[1] >= len(acknowledged) > 0
    with Store.open(address) as store:
        for id in acknowledged:  # whoever asks again is told that it is there
            assert store.add_answer(answer(id.split(".")[1]), id) == AnswerOutcome.KNOWN
