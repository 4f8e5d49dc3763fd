"""Probes of skims are found where a slow search finds them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from earwitness.audio.signal import (
    FILTER_SPAN_SAMPLES,
    PASSBAND_FRACTION,
    LowRateSound,
    factor_of,
    thinned,
    thinned_pieces,
)
from earwitness.skims.locate import candidates
from earwitness.skims.locate.candidates import (
    MIN_PLACE_LIKENESS,
    ProbePlaces,
    places,
    probes_of,
    way_through,
    ways_of,
)
from helpers.samples import many

Floats = NDArray[np.float32]


def noise(count: int, seed: int) -> Floats:
    return np.random.default_rng(seed).normal(0, 0.1, count).astype(np.float32)


def test_a_low_sample_is_a_weighted_mean_of_those_around_it() -> None:
    samples, factor = noise(1_000, 1), 7
    low = thinned(samples, factor)
    places = np.arange(FILTER_SPAN_SAMPLES * factor) - (FILTER_SPAN_SAMPLES * factor - 1) / 2
    taps = (
        PASSBAND_FRACTION
        / factor
        * np.sinc(PASSBAND_FRACTION / factor * places)
        * np.kaiser(FILTER_SPAN_SAMPLES * factor, 6)
    )
    wanted = [
        float(np.dot(taps, samples[factor * n : factor * n + len(taps)])) for n in range(len(low))
    ]
    assert len(low) == 1_000 // factor - FILTER_SPAN_SAMPLES + 1
    assert low == pytest.approx(wanted, abs=1e-6)


def test_low_tones_stay_and_high_ones_go() -> None:
    rate = 32_000
    time = np.arange(rate) / rate
    low, high = (np.sin(2 * np.pi * pitch * time) for pitch in (200.0, 1_800.0))
    kept, gone = (float(np.std(thinned(one, factor_of(rate)))) for one in (low, high))
    assert kept == pytest.approx(0.5**0.5, rel=0.02)
    assert gone < 0.02


@pytest.mark.parametrize("sizes", [(300, 301, 399), (1, 7, 992), (1_000,)])
def test_pieces_give_the_same_low_sound_as_the_whole(sizes: tuple[int, ...]) -> None:
    samples, factor = noise(1_000, 2), 7
    cuts = np.cumsum([0, *sizes])
    pieces = [(int(a) + 50, samples[a:b]) for a, b in pairwise(cuts)]
    found = list(thinned_pieces(pieces, factor))
    assert np.concatenate([one.samples for one in found]) == pytest.approx(
        thinned(samples, factor), abs=1e-6
    )
    ends = [one.start + factor * len(one.samples) for one in found]
    assert [one.start for one in found] == [50, *ends[:-1]]


def test_pieces_with_a_gap_between_them_are_two() -> None:
    samples, factor = noise(400, 3), 5
    found = list(thinned_pieces([(0, samples[:200]), (300, samples[200:])], factor))
    assert [one.start for one in found] == [0, 300]
    assert found[1].samples == pytest.approx(thinned(samples[200:], factor), abs=1e-6)


def slowly(row: Floats, day: Floats, colour: Floats) -> list[float]:
    """How alike a probe is to every place of a day, one by one."""
    plain = np.convolve(np.concatenate([np.zeros(len(colour)), day]), colour)
    plain = plain[len(colour) : len(colour) + len(day)]
    alike = []
    for place in range(len(day) - len(row) + 1):
        there = plain[place : place + len(row)]
        alike.append(float(np.dot(row, there) / np.sqrt(np.dot(there, there))))
    return alike


@pytest.mark.parametrize("seed", range(many(2, 10)))
def test_places_are_those_found_slowly(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "SEARCH_PIECE_SAMPLES", 1_024)
    rng, length = np.random.default_rng(seed), 200
    day = np.convolve(noise(6_000, seed), [1, 0.9, 0.5], "same").astype(np.float32)
    firsts = [0, *rng.integers(1, 5_000, 4).tolist()]
    skim = np.concatenate([rng.uniform(0.2, 2) * day[first : first + 600] for first in firsts])
    probes = probes_of(skim, length, 100)
    pieces = [LowRateSound(0, day[:2_500]), LowRateSound(10 * 2_500, day[2_500:])]
    [found] = places([probes], pieces, 10)
    for number, row in enumerate(probes.rows):
        alike = slowly(row, day, probes.colour)
        own = found.probes == number
        near = dict(
            zip(
                np.round(found.offsets[own] + probes.firsts[number]).astype(int),
                found.scores[own],
                strict=True,
            )
        )
        best = int(np.argmax(alike))
        if alike[best] > MIN_PLACE_LIKENESS + 0.02:
            assert near[best] == pytest.approx(alike[best], abs=0.05)
        for place, score in near.items():
            assert score <= max(alike[max(0, place - 1) : place + 2]) + 0.05
    true = {first - 600 * n for n, first in enumerate(firsts)}
    assert set(np.round(found.offsets[found.scores > 0.95]).astype(int)) >= true


def test_silence_is_not_looked_for() -> None:
    half = np.concatenate([np.zeros(1_000, np.float32), noise(1_000, 4)])
    assert probes_of(half, 200, 100).firsts.min() > 800
    nothing = probes_of(np.zeros(1_000, np.float32), 200, 100)
    short = probes_of(noise(50, 1), 200, 100)
    for found in places([nothing, short], [LowRateSound(0, noise(2_000, 5))], 10):
        assert len(found.probes) == 0


def test_a_filtered_skim_is_found_by_the_colour_that_the_recording_has_itself() -> None:
    day = np.convolve(noise(9_000, 6), 0.9 ** np.arange(30), "same").astype(np.float32)
    filtered = np.diff(day[3_000:4_000], prepend=0).astype(np.float32)
    probes = probes_of(filtered, 400, 200)
    plain, own = (
        places([probes], [LowRateSound(0, day)], 10, own_colour=one)[0].scores.max(initial=0)
        for one in (False, True)
    )
    assert own > 0.8
    assert own > plain


def test_a_way_seldom_changes_and_goes_nowhere_where_nothing_is_alike() -> None:
    probes = np.array([0, 1, 2, 1, 7, 8, 9, 8])
    offsets = np.array([10.0, 10.1, 9.9, 70.0, 40.0, 40.2, 40.1, 90.0])
    scores = np.array([0.9, 0.5, 0.9, 0.7, 0.8, 0.8, 0.8, 0.85])
    ways = ways_of([ProbePlaces(probes, offsets, scores)], None, 10)
    assert [one.place for one in ways.offsets] == pytest.approx([10.0, 40.1, 70.0, 90.0])
    assert way_through(ways) == [(0, 0, 2), (1, 7, 9)]
