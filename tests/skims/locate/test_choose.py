"""The best way through rivals is the one that trying all of them finds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from earwitness.audio.signal import gains
from earwitness.errors import UsageError
from earwitness.recordings.types import Recording, Stretch
from earwitness.skims.locate import choose as choose_module
from earwitness.skims.locate.candidates import (
    AlignedRun,
    RivalFit,
    SkimOverRecording,
    SkimPart,
    bright,
    common_gain,
    laid,
    likeliest,
)
from earwitness.skims.locate.choose import PlaceChoice, choose, settled
from earwitness.skims.locate.joins import PartLayout
from earwitness.skims.locate.locate import LocatedSkim, sections_of, together
from earwitness.skims.types import Pick, Skim
from helpers.samples import many

RATE = 1_000
Floats = NDArray[np.float64]


def beside(heard: Floats, day: Floats) -> SkimOverRecording:
    recording = Recording(
        "a", (Stretch("a.wav", 0.0, 0.0, len(day) / RATE),), len(day) / RATE, RATE, 1
    )

    def cut(start: float, seconds: float) -> Floats:
        return day[round(start * RATE) :][: round(seconds * RATE)]

    return SkimOverRecording(heard.astype(np.float32), recording, cut)


def run(place: int, part: SkimPart, *, turned: bool = False) -> AlignedRun:
    offset = place + part.last - 1 if turned else place - part.first
    return AlignedRun(offset, turned, part.first, part.last, 0.0)


def heard_of(
    day: Floats, parts: list[SkimPart], runs: tuple[AlignedRun, ...], loud: Floats
) -> Floats:
    whole = np.zeros(parts[-1].last)
    for part, one, gain in zip(parts, runs, loud, strict=True):
        places = [one.place(x) for x in range(part.first, part.last)]
        faded = gains(part.last - part.first, part.rise, part.fall, RATE)
        whole[part.first : part.last] += gain * faded * day[places]
    return whole


def problem(seed: int) -> tuple[Floats, Floats, list[SkimPart], list[list[AlignedRun]]]:
    rng = np.random.default_rng(seed)
    day = rng.normal(0, 0.1, 5_000)
    parts = [SkimPart(0, 300, 0, 100), SkimPart(200, 500, 100, 100), SkimPart(400, 700, 100, 0)]
    rivals = [
        [run(int(place), part, turned=bool(rng.integers(2))) for place in rng.integers(0, 4_000, 4)]
        for part in parts
    ]
    true = tuple(ones[int(rng.integers(4))] for ones in rivals)
    heard = heard_of(day, parts, true, np.full(3, 0.6)) + rng.normal(0, 0.08, 700)
    return heard, day, parts, rivals


@pytest.mark.parametrize("seed", range(many(5, 100)))
def test_the_best_way_is_the_one_that_trying_all_finds(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choose_module, "CODEC_GAIN_TOLERANCE", 0.0)
    heard, day, parts, rivals = problem(seed)
    found = choose(beside(heard, day), parts, rivals, common=True)
    inner = slice(10, -10)  # cuts may be softened there
    whole = bright(heard.astype(np.float32), RATE).astype(np.float64)

    def made(way: tuple[AlignedRun, ...]) -> Floats:
        sums = np.zeros(700)
        for part, one in zip(parts, way, strict=True):
            places = [one.place(x) for x in range(part.first, part.last)]
            faded = gains(part.last - part.first, part.rise, part.fall, RATE)
            sums[part.first : part.last] += bright(faded * day[places], RATE)
        return sums

    tried = []
    for way in product(*rivals):
        own = made(way)[inner]
        gain = float(whole[inner] @ own / (own @ own))
        tried.append((float(np.square(whole[inner] - gain * own).sum()), way, gain))
    least, best, gain = min(tried, key=lambda one: one[0])
    assert [one.run for one in found] == list(best)
    left = np.square(whole - gain * made(best))
    left[:10] = left[-10:] = 0
    for number, (part, one) in enumerate(zip(parts, found, strict=True)):
        power = float(np.square(whole[part.first : part.last]).sum())
        assert one.left == pytest.approx(left[part.first : part.last].sum() / power, rel=1e-3)
        others = [
            float(np.square(whole - gain * made(way))[inner].sum())
            for _, way, _ in tried
            if abs(way[number].place(part.middle) - best[number].place(part.middle)) > 20
        ]
        assert one.rival == pytest.approx(one.left + (min(others) - least) / power, rel=1e-3)


def test_a_choice_is_sure_if_rivals_leave_more_than_chance() -> None:
    rng = np.random.default_rng(1)
    day = np.round(rng.normal(0, 0.1, 5_000) * 32_768) / 32_768
    part = SkimPart(0, 900)
    day[2_000:2_900] = day[1_000:1_900]
    day[3_000:3_900] = day[1_000:1_900] * 1.02
    faded = gains(900, 0, 0, RATE).astype(np.float64)
    heard = np.round(day[1_000:1_900] * faded * 32_768) / 32_768
    rivals = [run(place, part) for place in (3_000, 1_000)]
    [found] = choose(beside(heard, day), [part], [rivals], common=False)
    assert not found.sure  # with gains of their own they are the same
    for others, sure in (((500,), True), ((2_000,), False), ((), True)):
        rivals = [run(place, part) for place in (1_000, *others)]
        [found] = choose(beside(heard, day), [part], [rivals], common=True)
        assert found.run.offset == 1_000
        assert found.sure == sure


def test_a_place_is_moved_to_where_its_samples_are() -> None:
    day = np.random.default_rng(2).normal(0, 0.1, 9_000)
    part = SkimPart(0, 2_000)
    for turned in (False, True):
        heard = 0.5 * day[3_000:5_000][:: -1 if turned else 1]
        true = run(3_000, part, turned=turned)
        off = AlignedRun(true.offset + 5, turned, 0, 2_000, 0.0)
        found = laid(beside(heard, day), off, 1_000)
        assert found.run.offset == true.offset
        assert found.run.score == pytest.approx(1)
        assert found.gain == pytest.approx(0.5)


def test_gains_are_common_if_most_parts_have_a_place_for_it() -> None:
    def part(*gains: float) -> list[RivalFit]:
        return [RivalFit(AlignedRun(n, False, 0, 1, 0.9), gain) for n, gain in enumerate(gains)]

    once, often = part(0.7), part(0.6, 0.65, 0.7, 0.75)
    assert common_gain([once, once, often, often]) == pytest.approx(0.7)
    assert common_gain([part(0.2), part(0.5), part(0.9)]) is None
    assert common_gain([]) is None
    assert [one.offset for one in likeliest(often, 0.7)] == [2, 3, 1, 0]


def test_what_was_not_recorded_or_is_damaged_is_silent() -> None:
    day = np.arange(5_000) / 5_000
    stretches = (Stretch("a.wav", 0.0, 0.0, 1.0), Stretch("b.wav", 0.0, 2.0, 1.0))
    recording = Recording("a", stretches, 3.0, RATE, 1)

    def cut(start: float, seconds: float) -> Floats:
        if start >= 2.0:
            raise UsageError("broken")
        return day[round(start * RATE) :][: round(seconds * RATE)]

    one = SkimOverRecording(np.zeros(3_000, np.float32), recording, cut)
    found = one.along(AlignedRun(-100, False, 0, 0, 0.0), 0, 3_000)
    assert found[:100].tolist() == [0.0] * 100
    assert found[100:1_100] == pytest.approx(day[:1_000])
    assert not found[1_100:].any()


def test_fades_are_at_most_half_of_a_part() -> None:
    layout = PartLayout([0.0, 0.4, 0.6], [0.9, 1.1, 2.0], [True, False], 0.5)
    first, second, third = layout.parts(RATE, 2_000)
    assert (first.rise, first.fall) == (0, 450)
    assert (second.rise, second.fall) == (350, 0)
    assert (third.rise, third.fall) == (0, 0)


def choice(place: int, *others: int) -> PlaceChoice:
    runs = tuple(AlignedRun(other, False, 0, 1, 1.0) for other in others)
    return PlaceChoice(AlignedRun(place, False, 0, 1, 1.0), 0.1, 0.1, 0.1, runs)


def test_of_places_that_sound_the_same_the_one_on_the_grid_and_in_order_is_guessed() -> None:
    parts = [SkimPart(0, 8_000)] * 4
    choices = [
        choice(16_003),
        choice(50_000, 8_003, 48_003, 96_003),
        choice(80_003),
        choice(88_001),
    ]
    found = [run.offset for run in settled(parts, choices, RATE)]
    assert found == [16_003, 48_003, 80_003, 88_001]
    loose = [choice(100), choice(50_000, 30_000), choice(40_333), choice(88_777)]
    assert [run.offset for run in settled(parts, loose, RATE)] == [100, 30_000, 40_333, 88_777]
    nothing = [choice(33, 16_000), choice(24_000, 77)]
    assert [run.offset for run in settled(parts[:2], nothing, RATE)] == [16_000, 24_000]


def test_sections_lie_between_silences_and_short_ones_are_none() -> None:
    sound = np.zeros(20_000, np.float32)
    sound[50:3_000] = sound[5_000:9_000] = sound[9_500:9_800] = sound[12_000:15_000] = 0.1
    assert sections_of(sound, RATE) == [(0, 3_000), (5_000, 9_800), (12_000, 15_000)]
    assert sections_of(np.zeros(5_000, np.float32), RATE) == []
    assert sections_of(sound[:3_050], RATE) == [(0, 3_050)]


def test_what_encoding_spreads_into_silence_is_no_sound() -> None:
    sound = np.zeros(9_000, np.float32)
    sound[3_000:7_000] = 0.1 * (-1) ** np.arange(4_000)
    sound[2_950:3_000] = sound[7_000:7_040] = 0.002
    assert sections_of(sound, RATE) == [(3_000, 7_000)]


def test_sections_become_one_skim_and_what_goes_on_is_one_pick() -> None:
    def found(*starts: float, doubted: tuple[int, ...] = ()) -> LocatedSkim:
        return LocatedSkim(Skim(tuple(Pick(one, 4.0) for one in starts), 1.0), ("told",), doubted)

    sections = [(0, 7_000), (8_000, 12_000), (20_000, 24_000)]
    whole = together([found(10.0, 50.0), found(55.0, doubted=(0,)), found(90.0)], sections, RATE)
    assert [(pick.start, pick.seconds) for pick in whole.skim.picks] == [
        (10.0, 4.0),
        (50.0, 9.0),
        (90.0, 4.0),
    ]
    assert whole.doubted == (1,)
    assert whole.notes == ("told",) * 3
    assert whole.skim.overlap == 0
    nothing = together([LocatedSkim(Skim(()), ("lost",))], [(0, 5_000)], RATE)
    assert nothing.notes == ("nothing of it is in the recording",)
