"""Pieces are put together as their definition says, and never louder in the fades."""

from __future__ import annotations

from itertools import pairwise
from math import cos, pi, sin
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from earwitness.audio.signal import apply_gain, match_levels, render, starts_of
from earwitness.errors import UsageError
from earwitness.skims.types import Pick, Skim


def slowly(pieces: list[list[float]], rate: int, overlap: float) -> list[float]:
    """Frame by frame and piece by piece."""
    shared, edge = round(overlap * rate), round(0.01 * rate)
    total = sum(map(len, pieces)) - shared * (len(pieces) - 1)
    whole, start = [0.0] * total, 0
    for number, piece in enumerate(pieces):
        most = min(edge, len(piece) // 2)
        rise = shared if number and shared else most
        fall = shared if number + 1 < len(pieces) and shared else most
        for frame, sample in enumerate(piece):
            gain = 1.0
            if frame < rise:
                gain *= sin(pi / 2 * (frame + 0.5) / rise)
            if frame >= len(piece) - fall:
                gain *= cos(pi / 2 * (frame - len(piece) + fall + 0.5) / fall)
            whole[start + frame] += gain * sample
        start += len(piece) - shared
    return whole


def noise(seconds: float, rate: int, seed: int, channels: int = 0) -> NDArray[Any]:
    shape = (round(seconds * rate), channels) if channels else round(seconds * rate)
    return np.random.default_rng(seed).normal(0, 0.1, shape).astype(np.float32)


@given(
    st.lists(st.integers(60, 150), min_size=1, max_size=5),
    st.integers(0, 30),
    st.sampled_from([100, 1_000]),
)
def test_pieces_are_put_together_as_frame_by_frame(
    lengths: list[int], shared: int, rate: int
) -> None:
    pieces = [noise(length / rate, rate, seed) for seed, length in enumerate(lengths)]
    found = render(pieces, rate, shared / rate)
    assert found == pytest.approx(slowly([list(one) for one in pieces], rate, shared / rate), 1e-5)


def test_twelve_blocks_of_eight_seconds_make_sixty_three() -> None:
    rate = 1_000
    pieces = [noise(8, rate, seed) for seed in range(12)]
    found = render(pieces, rate, 3.0)
    assert len(found) == 63 * rate
    skim = Skim(tuple(Pick(900.0 * n, 8.0) for n in range(12)), 3.0)
    assert skim.seconds == 63
    assert starts_of([8.0] * 12, 3.0) == [5.0 * n for n in range(12)]


def test_unlike_sounds_are_as_loud_in_the_fade_as_beside_it() -> None:
    rate = 8_000
    found = render([noise(8, rate, seed) for seed in range(2)], rate, 3.0)
    power = [float(np.mean(found[n * rate : (n + 1) * rate] ** 2)) for n in range(1, 12)]
    assert max(power) < 1.1 * min(power)


def test_what_does_not_overlap_is_left_as_it_was() -> None:
    rate = 1_000
    pieces = [noise(8, rate, seed) for seed in range(3)]
    found = render(pieces, rate, 3.0)
    assert np.array_equal(found[8_000:10_000], pieces[1][3_000:5_000])
    assert np.array_equal(found[10:5_000], pieces[0][10:5_000])


@pytest.mark.parametrize("overlap", [0.0, 0.5])
def test_sound_comes_and_goes_without_a_click(overlap: float) -> None:
    rate = 1_000
    found = render([np.ones(2_000, np.float32)] * 3, rate, overlap)
    assert abs(found[[0, -1]]).max() < 0.1
    steps = [abs(float(b - a)) for a, b in pairwise(found)]
    assert max(steps) < 0.2


def test_channels_stay_and_mixed_ones_become_mono() -> None:
    rate = 1_000
    stereo, mono = noise(2, rate, 1, channels=2), noise(2, rate, 2)
    assert render([stereo, stereo], rate, 1.0).shape == (3_000, 2)
    both = render([stereo, mono], rate, 1.0)
    assert both.shape == (3_000, 1)
    assert np.allclose(both[10:1_000, 0], stereo.mean(axis=1)[10:1_000])


@pytest.mark.parametrize(
    ("lengths", "overlap", "told"),
    [
        ([], 0.0, "no audio"),
        ([2, 2, 2], 1.5, "at most half a block"),
        ([2, 2], -1.0, "must be 0 or greater"),
        ([2, 1], 1.5, "1.5 s is too long for a piece of 1 s"),
    ],
)
def test_overlaps_that_cannot_be_are_refused(lengths: list[int], overlap: float, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        render([noise(length, 100, 1) for length in lengths], 100, overlap)


def test_half_of_a_block_may_overlap() -> None:
    assert len(render([noise(2, 100, n) for n in range(3)], 100, 1.0)) == 400


def tone(decibels: float, hertz: float = 1_000.0) -> NDArray[Any]:
    """A second of sound whose peak has this level."""
    return 10 ** (decibels / 20) * np.sin(2 * np.pi * hertz * np.arange(16_000) / 16_000)


def test_pieces_come_to_the_median_level_by_at_most_12_decibels() -> None:
    pieces = [tone(-40), tone(-30), tone(-33), tone(-20), tone(-60)]  # the median is -33
    gains = match_levels(pieces, 16_000)
    assert gains == pytest.approx([7, -3, 0, -12, 12], abs=0.01)
    assert abs(apply_gain(pieces[0], gains[0])).max() == pytest.approx(10 ** (-33 / 20), rel=1e-3)


def test_no_gain_brings_a_peak_near_full_scale() -> None:
    click = tone(-40)
    click[8_000:8_004] = 0.5  # -6 dB: 5 dB below the limit of -1 dB
    gains = match_levels([click, tone(-20), tone(-20)], 16_000)
    assert gains[0] == pytest.approx(20 * np.log10(10 ** (-1 / 20) / 0.5), abs=0.01)
    loud = [tone(-0.1, 100.0) + tone(-50), tone(-20), tone(-20)]  # rumble at full scale
    assert match_levels(loud, 16_000)[0] == 0


def test_rumble_below_200_hertz_does_not_count_and_silence_has_no_gain() -> None:
    rumbling = tone(-30) + tone(-12, 50.0)
    gains = match_levels([tone(-30), rumbling, np.zeros(16_000), np.zeros((9, 2))], 16_000)
    assert gains == pytest.approx([0, 0, 0, 0], abs=0.01)
    assert match_levels([], 16_000) == []
