"""Long recordings are cut at midnight."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from earwitness.errors import UsageError
from earwitness.recordings.recording import split_days
from earwitness.recordings.types import Damage, Recording, Stretch

HOUR = 3600.0


def recorded(began: datetime | None, *stretches: Stretch) -> Recording:
    return Recording("site", stretches, stretches[-1].end, 32000, 1, began)


def test_a_recording_over_midnight_has_two_days_that_hold_all_of_it() -> None:
    whole = recorded(datetime(2025, 7, 22, 20), Stretch("a.wav", 0, 0, 10 * HOUR))
    first, second = split_days(whole)
    assert first.stretches == (Stretch("a.wav", 0, 0, 4 * HOUR),)
    assert second.stretches == (Stretch("a.wav", 4 * HOUR, 0, 6 * HOUR),)
    assert [day.name for day in (first, second)] == ["site_20250722", "site_20250723"]
    assert (first.seconds, second.seconds) == (4 * HOUR, 6 * HOUR)
    assert second.began == datetime(2025, 7, 23)


def test_a_gap_over_midnight_stays_missing_and_the_next_day_begins_with_its_sound() -> None:
    whole = recorded(
        datetime(2025, 7, 22, 20), Stretch("a.wav", 0, 0, HOUR), Stretch("b.wav", 0, 6 * HOUR, HOUR)
    )
    first, second = split_days(whole)
    assert first.seconds == HOUR
    assert second.stretches == (Stretch("b.wav", 0, 0, HOUR),)
    assert second.began == datetime(2025, 7, 23, 2)


def test_a_day_without_sound_is_no_day() -> None:
    whole = recorded(
        datetime(2025, 7, 22), Stretch("a.wav", 0, 0, HOUR), Stretch("b.wav", 0, 50 * HOUR, HOUR)
    )
    assert [day.name for day in split_days(whole)] == ["site_20250722", "site_20250724"]


@pytest.mark.parametrize(
    ("date", "hours"), [("2025-03-30", 23), ("2025-10-26", 25), ("2025-07-22", 24)]
)
def test_days_on_which_clocks_change_have_other_lengths(date: str, hours: int) -> None:
    began = datetime.fromisoformat(date).replace(tzinfo=ZoneInfo("Europe/Paris"))
    whole = recorded(began - timedelta(0), Stretch("a.wav", 0, 0, 80 * HOUR))
    assert split_days(whole)[0].seconds == hours * HOUR


def test_damage_goes_with_its_day() -> None:
    whole = Recording(
        "site",
        (Stretch("a.wav", 0, 0, 10 * HOUR),),
        10 * HOUR,
        32000,
        1,
        datetime(2025, 7, 22, 20),
        (Damage("a.wav", 5 * HOUR, 5 * HOUR, "broken"),),
    )
    first, second = split_days(whole)
    assert first.damages == ()
    assert second.damages == (Damage("a.wav", 5 * HOUR, HOUR, "broken"),)


def test_a_recording_without_a_date_is_refused() -> None:
    with pytest.raises(UsageError, match="the start time is unknown"):
        split_days(recorded(None, Stretch("a.wav", 0, 0, HOUR)))
