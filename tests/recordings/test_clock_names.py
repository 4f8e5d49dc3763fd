"""Names of files as recorders write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.recordings.clock import start_from_name

MORNING = datetime(2025, 7, 22, 6, 30)


@pytest.mark.parametrize(
    "name",
    [
        "20250722_063000.WAV",
        "20250722_063000T.WAV",
        "site/20250722_063000.WAV",
        "site\\20250722_063000.WAV",
        "24F31901603710F3_20250722_063000.WAV",
        "SM4-3_20250722_063000.wav",
        "SITE_0+1_20250722_063000.wav",
        "SITE_20250722_063000_0+1.wav",
        "SITE_20250722$063000.wav",
        "NAME_20250722-063000.flac",
        "2025-07-22_06-30-00.mp3",
        "2025-07-22 06.30.00.m4a",
        "2025-07-22T06:30:00.ogg",
        "made_20240101_000000_of_20250722_063000.wav",
        "20250722_063000",
    ],
)
def test_names_of_recorders_tell_when_they_began(name: str) -> None:
    assert start_from_name(name) == MORNING


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("X_20250722T063000Z.flac", MORNING.replace(tzinfo=UTC)),
        ("X_20250722T063000+0200.flac", MORNING.replace(tzinfo=timezone(timedelta(hours=2)))),
        ("X_20250722T063000-03:30.flac", MORNING.replace(tzinfo=timezone(-timedelta(hours=3.5)))),
        ("SITE_20250722$063000.123.wav", MORNING.replace(microsecond=123_000)),
        ("20250722T063000.5Z.wav", MORNING.replace(microsecond=500_000, tzinfo=UTC)),
        ("5D3A0F10.WAV", datetime(2019, 7, 25, 20, 20, 32, tzinfo=UTC)),
        ("5d3a0f10.wav", datetime(2019, 7, 25, 20, 20, 32, tzinfo=UTC)),
    ],
)
def test_fractions_and_zones_in_names_count(name: str, moment: datetime) -> None:
    assert start_from_name(name) == moment
    assert str(start_from_name(name)) == str(moment)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "day.mp3",
        "20250230_063000.wav",
        "20250722_246000.wav",
        "20250722.wav",
        "120250722_063000.wav",
        "20250722_0630001.wav",
        "20250722_0630.wav",
        "00000010.WAV",
        "DEADBEE.WAV",
    ],
)
def test_what_is_no_time_is_none(name: str) -> None:
    assert start_from_name(name) is None


def test_an_impossible_time_does_not_hide_a_possible_one() -> None:
    assert start_from_name("20250722_063000_20259999_999999.wav") == MORNING


@given(
    st.datetimes(datetime(1990, 1, 1), datetime(2099, 1, 1)), st.sampled_from(["", "A_", "B-7_"])
)
def test_any_second_is_found_again(moment: datetime, prefix: str) -> None:
    moment = moment.replace(microsecond=0)
    assert start_from_name(f"{prefix}{moment:%Y%m%d_%H%M%S}.wav") == moment
