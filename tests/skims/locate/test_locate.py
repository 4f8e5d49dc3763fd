"""A skim that is given as sound is found again in its recording, whatever was done to it."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray
from scipy.signal import butter, lfilter

from earwitness.audio.encode import encode
from earwitness.audio.signal import FADE_LAWS, gains, render, resampled, starts_of
from earwitness.recordings.types import Recording, Stretch
from earwitness.skims.locate.joins import evenly, explained, products, seam
from earwitness.skims.locate.locate import (
    CONFIDENCE_REASON,
    RecordingSound,
    find_picks,
    match,
    match_all,
)
from earwitness.skims.types import Pick, Skim
from helpers.samples import many

RATE = 16_000
SECONDS = 240.0
Samples = NDArray[Any]


def sound(seconds: float, seed: int) -> Samples:
    """Wind with calls in it, each of them another one."""
    rng = np.random.default_rng(seed)
    count = round(seconds * RATE)
    wind = np.cumsum(rng.normal(0, 1, count))
    wind = wind - np.convolve(wind, np.ones(300) / 300, "same") + 5 * rng.normal(0, 1, count)
    whole = 0.03 * wind / wind.std()
    for _ in range(int(seconds / 3)):
        size = int(RATE * rng.uniform(0.1, 0.6))
        at, times = int(rng.integers(0, count - size)), np.arange(size) / RATE
        bent = rng.uniform(500, 5_000) * times + rng.uniform(-2_000, 2_000) * times**2
        whole[at : at + size] += 0.1 * np.hanning(size) * np.sin(2 * np.pi * bent)
    return np.asarray(whole, np.float32)


def known(
    day: Samples, cuts: tuple[tuple[float, float], ...] = ()
) -> tuple[Recording, RecordingSound]:
    """A day as a recording, of which only some seconds may have been recorded."""
    spans = cuts or ((0.0, len(day) / RATE),)
    stretches = tuple(Stretch("a.wav", a, a, b - a) for a, b in spans)
    recording = Recording("a", stretches, len(day) / RATE, RATE, 1)

    def cut(start: float, seconds: float) -> Samples:
        assert any(a - 1e-3 <= start and start + seconds <= b + 1e-3 for a, b in spans)
        first = round(start * RATE)
        return day[first : first + round(seconds * RATE)]

    pieces = [(round(a * RATE), day[round(a * RATE) : round(b * RATE)]) for a, b in spans]
    return recording, RecordingSound(lambda: pieces, cut)


def rendered(day: Samples, skim: Skim) -> Samples:
    pieces = []
    for pick in skim.picks:
        first = round(pick.start * RATE)
        piece = day[first : first + round(pick.seconds * RATE)]
        pieces.append(piece[::-1] if pick.turned else piece)
    return render(pieces, RATE, skim.overlap)


def random_skim(seed: int, count: int = 6, turned: bool = False) -> Skim:
    rng = np.random.default_rng(seed)
    starts = np.sort(rng.uniform(0, SECONDS - 8, count)).round(3)
    return Skim(
        tuple(Pick(float(s), 8.0, turned and n % 3 == 1) for n, s in enumerate(starts)), 3.0
    )


def assert_found(found: Skim, skim: Skim, within: float = 0.02) -> None:
    assert len(found.picks) == len(skim.picks)
    assert found.overlap == pytest.approx(skim.overlap, abs=within)
    for one, wanted in zip(found.picks, skim.picks, strict=True):
        assert one.start == pytest.approx(wanted.start, abs=within)
        assert one.seconds == pytest.approx(wanted.seconds, abs=2 * within)
        assert one.turned == wanted.turned
        assert float(one.why[CONFIDENCE_REASON]) > 0.5


@pytest.mark.parametrize("ending", [".flac", ".mp3", ".ogg", ".opus"])
@pytest.mark.parametrize("seed", range(many(1, 10)))
def test_a_rendered_skim_is_found_again(ending: str, seed: int) -> None:
    day, skim = sound(SECONDS, seed), random_skim(seed)
    made = encode(0.4 * rendered(day, skim), RATE, ending)
    heard, rate = soundfile.read(io.BytesIO(made.content))
    recording, source = known(day)
    found = match(heard, rate, recording, source=source)
    assert found.notes == ()
    assert_found(found.skim, skim)


@pytest.mark.parametrize("seed", range(many(1, 10)))
def test_picks_that_are_played_backwards_are_found(seed: int) -> None:
    day, skim = sound(SECONDS, seed), random_skim(100 + seed, turned=True)
    recording, source = known(day)
    assert_found(find_picks(rendered(day, skim), RATE, recording, source=source), skim)


def test_picks_in_any_order_with_other_lengths_and_stereo_are_found() -> None:
    day = sound(SECONDS, 3)
    picks = (Pick(200.5, 6.0), Pick(10.13, 9.3), Pick(90.77, 7.11), Pick(20.2, 8.8))
    skim = Skim(picks, 1.37)
    recording, source = known(day)
    both = np.repeat(rendered(day, skim)[:, None], 2, axis=1)
    assert_found(find_picks(both, RATE, recording, source=source), skim, within=0.03)


def test_picks_without_overlap_are_found() -> None:
    day, skim = sound(SECONDS, 4), Skim((Pick(50.0, 5.0), Pick(20.0, 5.0), Pick(120.0, 5.0)), 0.0)
    recording, source = known(day)
    assert_found(find_picks(rendered(day, skim), RATE, recording, source=source), skim)


def test_a_single_pick_at_another_rate_is_found() -> None:
    day, skim = sound(SECONDS, 5), Skim((Pick(77.7, 8.0),), 0.0)
    recording, source = known(day)
    other = resampled(rendered(day, skim), RATE, 44_100)
    assert_found(find_picks(other, 44_100, recording, source=source), skim)


def test_what_is_not_in_the_recording_is_said_and_the_rest_is_found() -> None:
    day, skim = sound(SECONDS, 6), random_skim(6, count=4)
    pieces = [day[round(p.start * RATE) :][: 8 * RATE] for p in skim.picks]
    foreign = render([pieces[0], pieces[1], sound(15.0, 99), pieces[2], pieces[3]], RATE, 3.0)
    recording, source = known(day)
    found = match(foreign, RATE, recording, source=source)
    [note] = found.notes
    assert "s of it, nothing was found" in note
    starts = [pick.start for pick in found.skim.picks]
    assert starts == pytest.approx([pick.start for pick in skim.picks], abs=0.3)


def test_a_skim_of_something_else_is_not_found() -> None:
    recording, source = known(sound(SECONDS, 7))
    found = match(sound(30.0, 8), RATE, recording, source=source)
    assert found.skim.picks == ()
    assert found.notes == ("nothing of it is in the recording",)


@pytest.mark.parametrize("seconds", [0.0, 0.5, 1.0])
def test_a_skim_that_is_too_short_or_silent_is_not_found(seconds: float) -> None:
    recording, source = known(sound(60, 7))
    silent = np.zeros(round(20 * seconds * RATE) or 9, np.float32)
    assert find_picks(silent, RATE, recording, source=source).picks == ()
    assert find_picks(sound(4, 7)[: len(silent) // 20], RATE, recording, source=source).picks == ()


def test_nothing_is_looked_for_where_nothing_was_recorded() -> None:
    day = sound(SECONDS, 9)
    spans = ((0.0, 60.0), (100.0, 160.0), (160.0, SECONDS))
    skim = Skim((Pick(52.0, 8.0), Pick(100.0, 8.0), Pick(170.0, 8.0), Pick(232.0, 8.0)), 3.0)
    recording, source = known(day, spans)
    assert_found(find_picks(rendered(day, skim), RATE, recording, source=source), skim)


def repeated(seed: int) -> Samples:
    """A day whose background comes again and again, each time a bit louder or softer."""
    rng = np.random.default_rng(seed)
    clips = [0.01 * rng.normal(0, 1, 11 * RATE).astype(np.float32) for _ in range(2)]
    pieces = [clips[int(rng.integers(2))] * rng.uniform(0.9, 1.1) for _ in range(40)]
    day = np.concatenate(pieces)
    for start in rng.uniform(0, len(day) / RATE - 3, 25):
        call = 0.05 * np.hanning(2 * RATE) * np.sin(rng.uniform(0.1, 1.5) * np.arange(2 * RATE))
        day[round(start * RATE) :][: 2 * RATE] += call.astype(np.float32)
    return np.round(day * 32_768) / np.float32(32_768)


@pytest.mark.parametrize("seed", range(many(2, 20)))
def test_a_skim_is_found_exactly_in_a_day_that_repeats_itself(seed: int) -> None:
    day, rng = repeated(seed), np.random.default_rng(seed)
    starts = 8.0 * rng.choice(54, 8, replace=False)
    skim = Skim(tuple(Pick(float(start), 8.0) for start in starts), 3.0)
    made = encode(rendered(day, skim), RATE, ".flac")
    heard, rate = soundfile.read(io.BytesIO(made.content))
    recording, source = known(day)
    found = match(heard, rate, recording, source=source)
    assert [pick.start for pick in found.skim.picks] == starts.tolist()
    assert found.notes == ()


@pytest.mark.parametrize("ending", [".mp3", ".opus"])
@pytest.mark.parametrize("seed", range(many(1, 10)))
def test_parts_that_may_come_from_elsewhere_are_told(ending: str, seed: int) -> None:
    day, rng = repeated(seed), np.random.default_rng(seed)
    starts = 8.0 * rng.choice(54, 8, replace=False)
    skim = Skim(tuple(Pick(float(start), 8.0) for start in starts), 3.0)
    heard, rate = soundfile.read(io.BytesIO(encode(rendered(day, skim), RATE, ending).content))
    recording, source = known(day)
    found = match(heard, rate, recording, source=source)
    wrong = {
        number
        for number, (pick, start) in enumerate(zip(found.skim.picks, starts, strict=True))
        if abs(pick.start - start) > 0.02
    }
    assert wrong <= set(found.doubted)
    assert bool(found.notes) == bool(found.doubted)


def test_sound_that_is_there_twice_is_told_even_without_loss() -> None:
    day = sound(SECONDS, 11)
    day[150 * RATE : 170 * RATE] = day[40 * RATE : 60 * RATE]
    skim = Skim((Pick(10.0, 8.0), Pick(46.0, 8.0), Pick(100.0, 8.0)), 3.0)
    recording, source = known(day)
    found = match(rendered(day, skim), RATE, recording, source=source)
    [note] = found.notes
    assert note.startswith("1 of its 3 parts (from 5 s on) sounds the same at other times")
    assert found.skim.picks[1].start in (46.0, 156.0)


def test_sound_that_was_laid_over_a_part_is_told() -> None:
    day, skim = sound(SECONDS, 12), random_skim(12)
    heard = rendered(day, skim)
    heard[12 * RATE : 15 * RATE] += sound(3.0, 77) / 2
    recording, source = known(day)
    found = match(heard, RATE, recording, source=source)
    assert_found(found.skim, skim)
    assert any("10 to 18 s of it, the recording sounds different" in note for note in found.notes)


def test_parts_with_gains_of_their_own_are_found() -> None:
    day, skim = sound(SECONDS, 13), random_skim(13)
    rng, pieces = np.random.default_rng(13), []
    for pick in skim.picks:
        first = round(pick.start * RATE)
        pieces.append(rng.uniform(0.2, 1.5) * day[first : first + 8 * RATE])
    recording, source = known(day)
    assert_found(match(render(pieces, RATE, 3.0), RATE, recording, source=source).skim, skim)


def test_many_skims_are_found_in_one_pass_as_each_by_itself() -> None:
    day = sound(SECONDS, 14)
    recording, source = known(day)
    skims = [random_skim(seed, turned=seed == 2) for seed in (1, 2, 3)]
    sounds = [rendered(day, skim) for skim in skims]
    passes = []

    def pieces() -> Any:
        passes.append(1)
        return source.pieces()

    found = match_all(sounds, recording, source=RecordingSound(pieces, source.cut))
    for one, skim, heard in zip(found, skims, sounds, strict=True):
        assert_found(one.skim, skim)
        assert one == match(heard, RATE, recording, source=source)
    assert len(passes) == 2  # the second for what is turned


@pytest.mark.parametrize("law", FADE_LAWS)
@pytest.mark.parametrize("lengths", [(8.0,) * 5, (5.0, 8.0, 11.0, 4.0, 9.0)])
def test_any_law_of_fades_is_found(law: str, lengths: tuple[float, ...]) -> None:
    day = sound(SECONDS, 15)
    skim = Skim(tuple(Pick(20.0 + 45 * n, one) for n, one in enumerate(lengths)), 1.0)
    heard = np.zeros(round((sum(lengths) - len(lengths) + 1) * RATE))
    for number, (start, pick) in enumerate(
        zip(starts_of(list(lengths), 1.0), skim.picks, strict=True)
    ):
        first, size = round(pick.start * RATE), round(pick.seconds * RATE)
        rise, fall = (RATE if number else 0), (RATE if number + 1 < len(lengths) else 0)
        faded = gains(size, rise, fall, RATE, law)
        heard[round(start * RATE) :][:size] += faded * day[first : first + size]
    recording, source = known(day)
    found = match(heard, RATE, recording, source=source)
    assert_found(found.skim, skim)
    assert found.notes == ()


@pytest.mark.parametrize("ending", [".flac", ".mp3"])
def test_parts_with_silence_around_them_are_found(ending: str) -> None:
    day, starts = sound(SECONDS, 16), (20.0, 90.0, 150.0)
    silence = np.zeros(RATE, np.float32)
    parts = [np.concatenate([silence, day[round(a * RATE) :][: 6 * RATE]]) for a in starts]
    made = encode(np.concatenate([*parts, silence]), RATE, ending)
    heard, rate = soundfile.read(io.BytesIO(made.content))
    recording, source = known(day)
    found = match(heard, rate, recording, source=source)
    assert_found(found.skim, Skim(tuple(Pick(start, 6.0) for start in starts), 0.0))
    assert found.notes == ()


def test_a_pick_with_a_silence_in_it_is_one() -> None:
    day = sound(SECONDS, 17)
    day[54 * RATE : 55 * RATE] = 0
    skim = Skim((Pick(20.0, 8.0), Pick(50.0, 8.0)), 0.0)
    recording, source = known(day)
    assert_found(find_picks(rendered(day, skim), RATE, recording, source=source), skim)


@pytest.mark.parametrize("way", ["inverted", "filtered"])
def test_a_skim_that_was_inverted_or_filtered_is_found(way: str) -> None:
    day, skim = sound(SECONDS, 18), random_skim(18)
    heard = rendered(day, skim)
    heard = -heard if way == "inverted" else lfilter(*butter(2, 150, "high", fs=RATE), heard)
    recording, source = known(day)
    assert_found(match(heard, RATE, recording, source=source).skim, skim)


def test_hum_does_not_hide_where_parts_come_from() -> None:
    day, skim = sound(SECONDS, 19), random_skim(19)
    time = np.arange(len(day)) / RATE
    hum = sum(np.sin(2 * np.pi * 50 * n * time + n) / n for n in range(1, 12))
    day = np.asarray(0.3 * day + 0.1 * hum, np.float32)
    recording, source = known(day)
    found = match(rendered(day, skim), RATE, recording, source=source)
    assert_found(found.skim, skim)
    assert found.notes == ()


def test_parts_of_other_lengths_are_not_forced_into_blocks_of_one() -> None:
    day = sound(SECONDS, 20)
    skim = Skim(
        tuple(Pick(20.0 + 35 * n, one) for n, one in enumerate((8.0, 8.0, 6.0, 10.0, 8.0, 8.0))),
        2.0,
    )
    made = encode(rendered(day, skim), RATE, ".mp3")
    heard, rate = soundfile.read(io.BytesIO(made.content))
    recording, source = known(day)
    assert_found(match(heard, rate, recording, source=source).skim, skim, within=0.04)


@pytest.mark.parametrize("overlap", [0.0, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("start", [0.7, 1.23])
def test_a_fade_is_found_where_it_was_made(overlap: float, start: float) -> None:
    rate = 8_000
    old, new = (np.random.default_rng(n).normal(0, 0.1, 6 * rate) for n in range(2))
    share = np.clip((np.arange(6 * rate) / rate - start) / max(overlap, 1e-9), 0, 1) * np.pi / 2
    skim = 0.7 * np.cos(share) * old + 0.7 * np.sin(share) * new
    sums = products(skim, old, new, rate)
    found = seam(sums)
    assert found.start == pytest.approx(start, abs=0.02)
    assert found.overlap == pytest.approx(overlap, abs=0.02)
    assert seam(sums, overlap).start == pytest.approx(start, abs=0.02)


def test_round_lengths_are_taken_where_they_fit() -> None:
    starts = starts_of([8.0] * 12, 3.0)
    rough = [start + 0.04 * (-1) ** n for n, start in enumerate(starts)]
    found = evenly(rough, 3.03, 63.01)
    assert found is not None
    assert found.starts == pytest.approx(starts)
    assert (found.length, found.overlap) == pytest.approx((8.0, 3.0))
    assert evenly([0.0, 3.3, 11.2, 19.9], 2.0, 27.4) is None
    assert evenly([0.0], 0.0, 8.0) is None


def test_round_lengths_are_taken_though_a_begin_is_missing_and_another_is_too_many() -> None:
    starts = starts_of([8.0] * 12, 3.0)
    for some in (
        starts[:4] + starts[5:],
        sorted([*starts, 17.7]),
        [*starts[:6], 31.9, *starts[7:]],
    ):
        found = evenly(some, 3.0, 63.0)
        assert found is not None
        assert found.starts == pytest.approx(starts)


def test_two_sounds_explain_their_sum_and_none_explain_nothing() -> None:
    one, other, third = (np.random.default_rng(n).normal(0, 1, 4_000) for n in range(3))
    assert explained(0.3 * one + 2 * other, [one, other], 100) == pytest.approx(1)
    assert explained(one, [other, third], 400) < 0.2
    assert explained(one + other, [one], 400) == pytest.approx(0.5**0.5, abs=0.1)
    assert explained(one, [], 100) == 0
