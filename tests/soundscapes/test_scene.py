"""Scenes: events by a timetable, and their sound, whole or in pieces."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from earwitness.soundscapes.mix import ClipBank, Mixer, normalise_level
from earwitness.soundscapes.scene import Scene, SoundEvent, make_scene, place_clips
from earwitness.soundscapes.sources import BACKGROUND, SOURCES
from earwitness.soundscapes.synthesis import Sound
from earwitness.soundscapes.timetable import (
    Timetable,
    TimetableRow,
    named_generator,
    spread_over_hours,
)
from helpers.random_scenes import iterate_random_days, iterate_sound, make_random_day
from helpers.samples import many

RATE = 16_000
Samples = NDArray[np.float64]


def timetable(*rows: TimetableRow, hour: float = 600) -> Timetable:
    return Timetable("a day", rows, hour)


def seconds_of(scene: Scene, source: str, hour: int) -> float:
    low, high = hour * scene.hour, (hour + 1) * scene.hour
    spans = [(e.start, e.end) for e in scene.events if e.source == source]
    return sum(max(0.0, min(high, end) - max(low, start)) for start, end in spans)


def made(source: str, seed: int, rate: int = RATE, seconds: float = 3.3) -> Sound:
    make = SOURCES[source].make
    assert make is not None
    return make(named_generator(seed, source), seconds, rate)


@pytest.mark.parametrize("source", sorted(SOURCES))
def test_a_source_sounds_and_has_its_length_at_any_rate(source: str) -> None:
    for rate in (16_000, 44_100):
        sound = made(source, 5, rate)
        assert sound.dtype == np.float32
        assert len(sound) == pytest.approx(3.3 * rate, abs=2)
        clip = normalise_level(sound, rate)
        assert np.isfinite(clip).all()
        assert np.abs(clip).max() < 15
        assert np.sqrt(np.mean(clip**2)) > 0.03


@pytest.mark.parametrize("source", sorted(SOURCES))
def test_clips_of_a_source_are_the_same_for_a_seed_and_differ_otherwise(source: str) -> None:
    assert np.array_equal(made(source, 1), made(source, 1))
    assert not np.array_equal(made(source, 1), made(source, 2))


def test_clips_of_a_source_have_the_lengths_that_it_says() -> None:
    for source in ("car", "dog"):
        bank, lengths = ClipBank(SOURCES, 8000, 1), SOURCES[source].lengths
        found = [len(bank.clip(source, number)) for number in range(len(lengths))]
        assert found == [round(8000 * seconds) for seconds in lengths]


def test_a_levelled_clip_has_full_scale_at_its_loudest_moment() -> None:
    clip = np.concatenate([np.full(800, 0.1), np.full(800, 0.5)]).astype(np.float32)
    assert normalise_level(clip, RATE)[-1] == pytest.approx(1)
    assert not normalise_level(np.zeros(800, np.float32), RATE).any()


def test_shares_of_what_lasts_are_exact() -> None:
    shares = spread_over_hours({"3-6": 0.25, "6": 1, "7": 0.5})
    scene = make_scene(timetable(TimetableRow("wind", shares)), seed=4)
    for hour in range(24):
        assert seconds_of(scene, "wind", hour) == pytest.approx(600 * shares[hour], abs=2)


@pytest.mark.parametrize("source", ["birds", "car", "footsteps"])
def test_shares_of_what_comes_and_goes_are_right_on_the_whole(source: str) -> None:
    scene = make_scene(timetable(TimetableRow(source, (0.3,) * 24)), seed=4)
    whole = sum(e.end - e.start for e in scene.events)
    assert whole / scene.seconds == pytest.approx(0.3, abs=0.06)


def test_there_are_as_many_events_as_a_row_says() -> None:
    scene = make_scene(
        timetable(TimetableRow("train", events=spread_over_hours({"5": 3, "9-11": 1.5}))), seed=4
    )
    found = np.bincount([int(e.start // 600) for e in scene.events], minlength=24)
    assert found[5] == 3
    assert {found[9], found[10]} <= {1, 2}
    assert found.sum() == found[[5, 9, 10]].sum()


def test_bells_strike_the_hour() -> None:
    scene = make_scene(timetable(TimetableRow("bells", events=(1.0,) * 24, strikes=True)))
    assert [e.start for e in scene.events] == [600 * n for n in range(24)]
    assert [len(e.clips) for e in scene.events] == [12, *range(1, 13), *range(1, 12)]


def test_events_of_a_source_never_overlap_and_end_with_the_day() -> None:
    for scene in iterate_random_days(many(2, 50), 7, hour=120):
        assert list(scene.events) == sorted(scene.events)
        for source in {e.source for e in scene.events}:
            own = [e for e in scene.events if e.source == source]
            assert all(a.end <= b.start + 1e-6 for a, b in pairwise(own))
        assert all(0 <= e.start < e.end <= scene.seconds + 1e-6 for e in scene.events)


def test_one_more_source_or_a_longer_day_leaves_the_rest_as_it_was() -> None:
    birds, cars = TimetableRow("birds", (0.2,) * 24), TimetableRow("car", (0.1,) * 24)
    one = make_scene(timetable(birds), seed=1, hours=24)
    more = make_scene(timetable(cars, birds), seed=1, hours=30)
    kept = [e for e in more.events if e.source == "birds" and e.end <= one.seconds]
    assert kept == list(one.events)


def test_a_stretch_sounds_the_same_alone_and_in_passing() -> None:
    scene = make_random_day(1, 2, rate=8000, hour=10)
    mixer = Mixer(scene)
    whole = np.concatenate(list(iterate_sound(scene, seconds=7.3)))
    assert len(whole) == round(scene.seconds * 8000)
    for start in (0.0, 33.3, 100.0, 238.0):
        piece = mixer.sound(start, 5.0)
        first = round(start * 8000)
        assert np.array_equal(piece, whole[first : first + len(piece)])
    assert len(mixer.sound(238.0, 5.0)) == 2 * 8000


def plain_mix(scene: Scene) -> Samples:
    """All clips of all events, each faded as a whole and added to the whole day."""
    sources = {**scene.sources, "background": BACKGROUND}
    bank, room = (
        ClipBank(sources, scene.rate, scene.seed),
        np.zeros(round(scene.seconds * scene.rate)),
    )
    quiet = place_clips(BACKGROUND, scene.seconds, named_generator(scene.seed, "background"))
    whole = SoundEvent(0, scene.seconds, "background", scene.background, quiet)
    for event in (whole, *scene.events):
        source = sources[event.source]
        for at, number, gain in event.clips:
            first, clip = round((event.start + at) * scene.rate), bank.clip(event.source, number)
            kept = clip[: max(0, round(event.end * scene.rate) - first)].astype(np.float64)
            cut, far = len(kept) < len(clip), np.arange(len(kept)) + 0.5
            for fade, frames in ((source.fade, far), (0.5 if cut else source.fade, far[::-1])):
                kept *= np.sin(np.pi / 2 * np.minimum(frames / round(fade * scene.rate), 1))
            room[first : first + len(kept)] += kept * 10 ** ((event.level + gain) / 20)
    return np.clip(room, -0.98, 0.98)


def test_a_mix_is_that_of_adding_every_clip_to_a_whole_day() -> None:
    scene = make_random_day(1, 2, rate=8000, hour=20)
    found = np.concatenate(list(iterate_sound(scene, seconds=3.7)))
    assert np.abs(found - plain_mix(scene)).max() < 2e-5


def _only(scene: Scene, events: tuple[SoundEvent, ...]) -> Scene:
    return Scene("", events, scene.seconds, scene.hour, scene.rate, scene.seed, scene.background)


def test_an_event_is_heard_from_its_start_to_its_end_and_nowhere_else() -> None:
    scene = make_scene(
        timetable(TimetableRow("machine", (0.3,) * 24), hour=120), hours=2, rate=8000
    )
    with_it, without = Mixer(scene), Mixer(_only(scene, ()))
    differs = with_it.sound(0, 240) != without.sound(0, 240)
    time = np.arange(len(differs)) / 8000
    inside = np.zeros(len(differs), bool)
    for event in scene.events:
        inside |= (time >= event.start - 1e-3) & (time < event.end + 1e-3)
    assert not differs[~inside].any()
    assert differs[inside].mean() > 0.99


def test_days_are_varied_and_do_not_depend_on_how_many_there_are() -> None:
    few, more = list(iterate_random_days(3, 1, hour=60)), list(iterate_random_days(5, 1, hour=60))
    assert [one.events for one in few] == [one.events for one in more[:3]]
    assert len({frozenset(e.source for e in one.events) for one in more}) == 5
