"""Clips of synthetic sources, made once for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from earwitness.soundscapes.mix import ClipBank
from earwitness.soundscapes.synthesis import Sound

MAX_CLIPS = 400
CLIPS: dict[tuple[object, ...], Sound] = {}
make_clip = ClipBank._clip


def kept_clip(bank: ClipBank, name: str, number: int) -> Sound:
    """A clip, from the cache if all that decides its sound is the same."""
    source = bank._sources[name]
    key = (source.make, source.lengths[number], name, number, bank.rate, bank._seed)
    if source.make is None:
        return make_clip(bank, name, number)
    if key not in CLIPS:
        if len(CLIPS) >= MAX_CLIPS:
            CLIPS.clear()
        CLIPS[key] = make_clip(bank, name, number)
        CLIPS[key].flags.writeable = False
    return CLIPS[key]


@contextmanager
def cached_clips() -> Iterator[None]:
    """Keep clips while the block runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClipBank, "_clip", kept_clip)
        yield


@contextmanager
def new_clips() -> Iterator[None]:
    """Make every clip anew while the block runs, as the program does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClipBank, "_clip", make_clip)
        yield
