"""Frames of a stream are those of the whole, however it comes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.audio.logmel import ABSENT_BYTE, FRAMES_PER_SECOND, log_mel
from earwitness.audio.read import Chunk
from earwitness.models.frames import iterate_frames
from helpers.tones import RATE, parts, sound

SECONDS = 2.0


@given(st.lists(st.integers(0, int(RATE * SECONDS)), max_size=6), st.sampled_from([RATE, 11_025]))
def test_chunks_do_not_matter(cuts: list[int], rate: int) -> None:
    samples = sound(SECONDS, rate)
    found = np.concatenate(list(iterate_frames(parts(samples, sorted(cuts), rate), rate)))
    assert np.array_equal(found, log_mel(samples, rate))


@given(st.integers(0, int(RATE * SECONDS)), st.integers(0, int(RATE * SECONDS)))
def test_frames_in_a_hole_are_absent_and_all_others_are_as_they_were(one: int, other: int) -> None:
    begin, end = sorted((one, other))
    samples = sound(SECONDS)
    holed = [Chunk(0, samples[:begin]), Chunk(end / RATE, samples[end:])]
    found = np.concatenate(list(iterate_frames(holed, RATE)))
    hop, reach = RATE // FRAMES_PER_SECOND, 256
    whole = log_mel(samples, RATE)
    assert len(found) <= len(whole)
    for number, frame in enumerate(found):
        at = number * hop
        if at + hop > begin and at < end:
            assert (frame == ABSENT_BYTE).all() or begin == end
        elif at + reach <= begin or at >= end:
            assert np.array_equal(frame, whole[number])
        else:
            assert not (frame == ABSENT_BYTE).any()


def test_samples_that_come_twice_count_once() -> None:
    samples = sound(SECONDS)
    twice = [Chunk(0, samples[:9000]), Chunk(0.5, samples[4000:])]
    assert np.array_equal(np.concatenate(list(iterate_frames(twice, RATE))), log_mel(samples, RATE))


def test_nothing_has_no_frames() -> None:
    assert np.concatenate(list(iterate_frames([], RATE))).shape == (0, 40)


@pytest.mark.parametrize("first", [1, 17])
def test_a_stream_may_begin_anywhere(first: int) -> None:
    samples, at = sound(SECONDS), first * RATE // FRAMES_PER_SECOND
    found = np.concatenate(list(iterate_frames([Chunk(at / RATE, samples[at:])], RATE, first)))
    assert np.array_equal(found, log_mel(samples, RATE)[first:])
