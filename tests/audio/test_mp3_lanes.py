"""Rows of MP3 frames are those that a plain walk finds."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from earwitness.audio import mp3
from earwitness.audio.mp3 import FrameFormat, kind_of, starts_in
from helpers.samples import many

HEAD = bytes((0xFF, 0xFB))
KIND = kind_of(HEAD + bytes((0x18, 0xC0)))
RATES = [byte for byte in range(256) if KIND is not None and KIND.sizes[byte]]


def plainly(piece: bytearray, kind: FrameFormat) -> tuple[list[int], int]:
    """From frame to frame."""
    starts, at = [], 0
    while at + 4 <= len(piece) and piece[at : at + 2] == bytes((0xFF, kind.second)):
        if not kind.sizes[piece[at + 2]]:
            break
        starts.append(at)
        at += kind.sizes[piece[at + 2]]
    return starts, at


@st.composite
def pieces(draw: st.DrawFn) -> bytearray:
    """Frames of all sizes with headers inside them that are none, something broken, and an end."""
    assert KIND is not None
    made = bytearray()
    for byte in draw(st.lists(st.sampled_from(RATES), max_size=60)):
        inside = draw(st.sampled_from([b"", HEAD + bytes((byte, 0)), b"\xff\xff", HEAD * 40]))
        made += (HEAD + bytes((byte, 0xC0)) + inside).ljust(KIND.sizes[byte], b"\0")
    if made:
        at = draw(st.integers(0, len(made)))
        made[at : at + draw(st.sampled_from([0, 0, 1, 700]))] = draw(st.binary(max_size=9))
    return made[: len(made) - draw(st.integers(0, 9))]


@pytest.mark.parametrize("lane", [64, 1000, 1 << 16])
@given(piece=pieces())
@settings(max_examples=many(100, 2000), deadline=None)
def test_lanes_find_the_frames_that_a_plain_walk_finds(lane: int, piece: bytearray) -> None:
    assert KIND is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mp3, "LANE_BYTES", lane)
        assert starts_in(piece, KIND) == plainly(piece, KIND)
