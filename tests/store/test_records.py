"""The clock of a server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from earwitness.store.records import ServerClock

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_clock_starts_with_the_time_of_the_system_and_then_only_counts() -> None:
    system, steady = [START.timestamp()], [1000.0]
    clock = ServerClock(lambda: system[0], lambda: steady[0])
    assert clock.now() == START
    for shift in (86_400.0, -86_400.0):
        system[0] += shift
        steady[0] += 60
        assert clock.now() == START + timedelta(seconds=steady[0] - 1000)


def test_a_clock_advances_to_a_later_time_only() -> None:
    clock = ServerClock(START.timestamp, lambda: 0.0)
    assert clock.reach(START - timedelta(days=1)) == 0
    assert clock.now() == START
    assert clock.reach(START + timedelta(days=1)) == 86_400
    assert clock.now() == START + timedelta(days=1)


def test_a_clock_that_two_threads_advance_is_advanced_once() -> None:
    later, others = START + timedelta(days=1), list[None]()

    def steady() -> float:
        if others:  # another thread comes in between
            others.pop()
            clock.reach(later)
        return 0.0

    clock = ServerClock(START.timestamp, steady)
    others.append(None)
    clock.reach(later)
    assert clock.now() == later
