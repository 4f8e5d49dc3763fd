"""Hours, frequencies, colours and columns are where they should be."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.recordings.types import Recording, Stretch
from earwitness.skims.picture import (
    caption_text,
    colour_map,
    find_gaps,
    frequency_ticks,
    shade_levels,
    spectrogram_png,
    spread_places,
    time_ticks,
)
from earwitness.skims.types import Pick, SoundClass
from earwitness.skims.view import DutyCycle, Spectrogram, find_duty_cycle

PARIS = ZoneInfo("Europe/Paris")
HOUR = 3_600.0


def recording(seconds: float, began: datetime | None) -> Recording:
    return Recording("a", (), seconds, 32_000, 1, began)


def test_a_day_from_midnight_has_a_tick_every_three_hours() -> None:
    ticks = time_ticks(recording(24 * HOUR, datetime(2025, 7, 22, tzinfo=PARIS)))
    assert [tick.text for tick in ticks] == [f"{3 * n % 24:02}:00" for n in range(9)]
    assert [tick.place for tick in ticks] == [12.5 * n for n in range(9)]


def test_ticks_are_round_times_of_day_wherever_it_began() -> None:
    ticks = time_ticks(recording(6 * HOUR, datetime(2025, 7, 22, 6, 20, tzinfo=PARIS)))
    assert [tick.text for tick in ticks][:2] == ["07:00", "08:00"]
    assert ticks[0].place == pytest.approx(100 * 40 / 360, abs=0.001)


def test_ticks_stay_round_when_clocks_change() -> None:
    ticks = time_ticks(recording(24 * HOUR, datetime(2025, 10, 26, 0, 0, tzinfo=PARIS)))
    assert [tick.text for tick in ticks][:3] == ["00:00", "03:00", "06:00"]
    assert ticks[1].place == pytest.approx(100 * 4 / 24, abs=0.001)  # an hour more


def test_longer_recordings_have_dates_and_a_week_has_days() -> None:
    two = time_ticks(recording(48 * HOUR, datetime(2025, 7, 22, 12, tzinfo=PARIS)))
    assert [tick.text for tick in two][:3] == ["12:00", "18:00", "23 Jul"]
    week = time_ticks(recording(168 * HOUR, datetime(2025, 7, 22, tzinfo=PARIS)))
    assert [tick.text for tick in week][:3] == ["22 Jul", "23 Jul", "24 Jul"]
    year = time_ticks(recording(365 * 24 * HOUR, datetime(2025, 1, 1)))
    assert 3 <= len(year) <= 10


def test_short_ones_have_seconds_and_those_without_a_clock_start_at_nought() -> None:
    short = time_ticks(recording(40.0, datetime(2025, 7, 22, 6, 20, 3)))
    assert [tick.text for tick in short][:2] == ["06:20:05", "06:20:10"]
    assert [tick.text for tick in time_ticks(recording(4 * HOUR, None))][:3] == [
        "0:00",
        "30:00",
        "1:00:00",
    ]


@given(st.floats(1, 1e7), st.integers(0, 10**9))
def test_there_are_never_many_ticks(seconds: float, began: int) -> None:
    moment = datetime.fromtimestamp(began, PARIS)
    places = [tick.place for tick in time_ticks(recording(seconds, moment))]
    assert len(places) <= 11
    assert places == sorted(places)
    assert all(0 <= place <= 100 for place in places)


def test_frequencies_lie_evenly_in_mel() -> None:
    ticks = {tick.text: tick.place for tick in frequency_ticks(50, 16_000)}
    assert list(ticks) == ["0.5", "1", "2", "4", "8", "16"]
    # mel: 1,000 Hz is 999.99, 50 Hz is 77.75, 16,000 Hz is 3,574.92
    assert ticks["1"] == pytest.approx(100 * (999.99 - 77.75) / (3574.92 - 77.75), abs=0.01)
    assert ticks["16"] == 100


@given(st.lists(st.floats(0, 100), min_size=1, max_size=20), st.floats(0.1, 12))
def test_numbers_of_picks_keep_apart_and_in_order(places: list[float], apart: float) -> None:
    found = spread_places(places, apart, 0, 100)
    least = min(apart, 100 / max(1, len(places) - 1))
    ordered = [x for _, x in sorted(zip(places, found, strict=True))]
    assert all(-0.01 <= x <= 100.01 for x in found)
    assert all(b - a >= least - 0.01 for a, b in pairwise(sorted(ordered)))


def test_numbers_that_have_room_stay_where_they_are() -> None:
    assert spread_places([90, 10, 50], 5, 0, 100) == [90, 10, 50]


def duty_cycled(lost: frozenset[int] = frozenset(), seconds: float = 60.0) -> Recording:
    """A day with a part every ten minutes."""
    starts = [600.0 * n for n in range(144) if n not in lost]
    stretches = tuple(Stretch(f"{start:.0f}.wav", 0.0, start, seconds) for start in starts)
    return Recording("a", stretches, starts[-1] + seconds, 32_000, 1, datetime(2025, 6, 1))


def test_one_minute_in_ten_is_drawn_over_ten_minutes() -> None:
    cycle = find_duty_cycle(duty_cycled())
    assert cycle is not None
    assert (str(cycle), cycle.recorded, cycle.period) == ("1 min in 10", 60, 600)
    assert {part.drawn for part in cycle.parts[:-1]} == {600.0}
    assert cycle.parts[-1].drawn == 60  # nothing follows
    assert cycle.draw_time(630.0) == 900.0  # the middle of the second minute
    assert cycle.draw_time(100.0) == 100.0  # not recorded


def test_lost_parts_are_not_bridged() -> None:
    cycle = find_duty_cycle(duty_cycled(frozenset({7, *range(80, 98)})))
    assert cycle is not None
    ends = {part.start: part.start + part.drawn for part in cycle.parts}
    assert (ends[6 * 600.0], ends[79 * 600.0]) == (7 * 600.0, 80 * 600.0)


@pytest.mark.parametrize("seconds", [599.5, 570.0])
def test_recordings_that_are_almost_complete_have_no_cycle(seconds: float) -> None:
    assert find_duty_cycle(duty_cycled(seconds=seconds)) is None


def test_irregular_and_few_parts_have_no_cycle() -> None:
    starts = np.cumsum(np.random.default_rng(1).uniform(70, 3_000, 50))
    parts = tuple(Stretch("a", 0.0, float(start), 60.0) for start in starts)
    irregular = Recording("a", parts, 1e6, 32_000, 1)
    assert find_duty_cycle(irregular) is None
    assert find_duty_cycle(replace(irregular, stretches=duty_cycled().stretches[:5])) is None


def test_durations_of_a_cycle_are_told() -> None:
    told = [
        str(DutyCycle(*pair, ())) for pair in ((55.0, 300.0), (120.0, 1_800.0), (300.0, 3_600.0))
    ]
    assert told == ["55 s in 5 min", "2 min in 30", "5 min in 1 h"]


def test_captions_have_as_many_names_as_fit() -> None:
    names = ("Bird vocalization, bird call, bird song", "Chirp, tweet")
    pick = Pick(0.0, 8.0, classes=tuple(SoundClass(name, 0.5) for name in names))
    assert caption_text(pick) == names[0]
    assert caption_text(pick, 60) == "; ".join(names)
    assert caption_text(pick, 12) == "Bird vocali…"
    assert caption_text(replace(pick, classes=())) == ""


def test_missing_time_is_told_in_runs() -> None:
    assert find_gaps([True, False, True, True]) == [(0.0, 25.0), (50.0, 100.0)]
    assert find_gaps([False] * 3) == []


def unpacked(content: bytes) -> tuple[int, int, dict[bytes, bytes]]:
    """Chunks of a PNG file, whose checks must be right."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(content):
        size, name = struct.unpack_from(">I4s", content, at)
        chunks[name] = content[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", content, at + 8 + size)[0] == zlib.crc32(
            content[at + 4 : at + 8 + size]
        )
        at += 12 + size
    width, height = struct.unpack_from(">II", chunks[b"IHDR"])
    return width, height, chunks


def test_louder_is_lighter_all_the_way() -> None:
    colours = colour_map(255) / 255
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(luminance) > 0).all()
    assert luminance[-1] / (luminance[0] + 0.005) > 50
    lightness = np.cbrt(luminance)  # as eyes see it: even steps
    steps = np.diff(lightness[::16])
    assert steps.max() < 2 * steps.min()


def test_the_highest_band_is_on_top_and_missing_columns_are_clear() -> None:
    levels = np.array([[0, 0, 0], [200, 200, 200]], np.uint8)
    missing = np.array([False, True, False])
    width, height, chunks = unpacked(spectrogram_png(Spectrogram(levels, missing, 50, 16_000)))
    assert (width, height) == (3, 2)
    assert (chunks[b"tRNS"], len(chunks[b"PLTE"])) == (b"\x00", 3 * 256)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(2, 4)[:, 1:]
    assert rows.tolist() == [[255, 0, 255], [1, 0, 1]]


def test_silence_does_not_look_like_a_storm() -> None:
    levels = np.random.default_rng(1).integers(10, 13, (40, 100)).astype(np.uint8)
    assert shade_levels(Spectrogram(levels, np.zeros(100, bool), 50, 16_000)).max() < 40
