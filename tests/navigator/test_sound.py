"""Excerpts are exact cuts, of the recording or of its one copy with changed speech."""

from __future__ import annotations

import io
import tracemalloc
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from earwitness.audio.read import Break, read_blocks
from earwitness.models.cache import Cache
from earwitness.navigator import sound as sound_module
from earwitness.navigator.sound import (
    SpeechBlock,
    SpeechPiece,
    SpeechPieces,
    divide_blocks,
    find_speech_blocks,
    read_samples,
    wav_bytes,
)
from earwitness.recordings import cut as cut_module
from earwitness.recordings.types import Recording, Stretch
from helpers.tones import RATE, recording, sound, written


@pytest.fixture
def opened(tmp_path: Path) -> Recording:
    """Two files of 20 s with 3 s between them."""
    paths = [written(tmp_path / f"{n}.wav", sound(20, seed=n)) for n in range(2)]
    return recording(*paths, gap=3.0)


def whole(opened: Recording) -> Any:
    """All samples on the clock."""
    samples = np.zeros(round(opened.seconds * opened.rate), np.float32)
    for number, stretch in enumerate(opened.stretches):
        first = round(stretch.start * opened.rate)
        samples[first : first + 20 * RATE] = sound(20, seed=number)
    return samples


@pytest.mark.parametrize(
    ("first", "count"),
    [(0, 1), (3, 5000), (19 * RATE, 6 * RATE), (21 * RATE, RATE), (0, 43 * RATE)],
)
def test_an_excerpt_is_exact_and_gaps_are_silent(opened: Recording, first: int, count: int) -> None:
    samples = read_samples(opened, first, count)
    assert np.array_equal(samples[:, 0], whole(opened)[first : first + count])


def test_what_cannot_be_read_is_silent(opened: Recording) -> None:
    Path(opened.stretches[0].path).write_bytes(b"RIFF")
    samples = read_samples(opened, 0, 43 * RATE)[:, 0]
    assert not samples[: 20 * RATE].any()
    assert np.array_equal(samples[23 * RATE :], sound(20, seed=1))


@pytest.mark.parametrize("channels", [1, 2])
def test_wav_files_have_16_bits(channels: int) -> None:
    numbers = np.random.default_rng(0).integers(-32768, 32768, (500, channels))
    samples = (numbers / 32768).astype(np.float32)
    data, rate = soundfile.read(
        io.BytesIO(wav_bytes(samples, 44_100)), dtype="int16", always_2d=True
    )
    assert rate == 44_100
    assert np.array_equal(data, numbers)  # the samples of the file, unchanged


def test_many_channels_are_mixed_while_they_are_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cut_module, "MAX_READ_VALUES", 1 << 14)
    samples = np.random.default_rng(0).uniform(-1, 1, (5 * RATE, 24)).astype(np.float32)
    path = written(tmp_path / "x.wav", samples)
    opened = replace(recording(path), channels=24)
    tracemalloc.start()
    try:
        mixed = read_samples(opened, 0, 5 * RATE)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.array_equal(mixed, samples.mean(axis=1, keepdims=True))
    assert peak < samples.nbytes / 4


# --- Speech --------------------------------------------------------------------------------------


class LoudIsSpeech:
    """Takes loud blocks for speech, and counts how much it hears."""

    name = signature = "loud"
    min_share = 0.5

    def __init__(self) -> None:
        self.heard = 0.0

    def share(self, samples: Any, rate: int) -> float:
        self.heard += len(samples) / rate
        return float(np.abs(samples).max() > 0.09)


def speech_of(opened: Recording, cache: Cache) -> SpeechPieces:
    blocks = [b for part in find_speech_blocks(opened, LoudIsSpeech(), cache) for b in part]
    return divide_blocks(blocks, opened.rate, end=round(opened.seconds * opened.rate))


def changed_copy(samples: Any, pieces: SpeechPieces, change: str) -> Any:
    """The copy, made as a whole."""
    copy = samples.copy()
    for first, end in pieces.pieces:
        copy[first:end] = samples[first:end][::-1] if change == "reverse" else 0
    return copy


@pytest.mark.parametrize("change", ["reverse", "mute"])
def test_every_excerpt_is_a_cut_of_the_one_changed_copy(
    opened: Recording, tmp_path: Path, change: Any
) -> None:
    pieces = speech_of(opened, Cache(tmp_path / "cache"))
    # a tone sounds in the first and the third 8 s of each file
    seconds = [(first / RATE, end / RATE) for first, end in pieces.pieces]
    file = [(0, 8), (8, 8.5), (15.5, 16), (16, 20)]
    assert seconds == [*file, *((23 + low, 23 + high) for low, high in file)]
    copy = changed_copy(whole(opened), pieces, change)
    random = np.random.default_rng(3)
    for _ in range(40):
        first = int(random.integers(0, len(copy) - 1))
        count = int(random.integers(1, min(9 * RATE, len(copy) - first) + 1))
        found = read_samples(opened, first, count, change, pieces)[:, 0]
        assert np.array_equal(found, copy[first : first + count])


def test_nothing_of_a_passage_with_speech_is_heard_in_its_order(
    opened: Recording, tmp_path: Path
) -> None:
    pieces = speech_of(opened, Cache(tmp_path / "cache"))
    original = whole(opened)
    count = RATE // 10  # about half a syllable
    for first in range(0, 8 * RATE - count, RATE // 3):
        excerpt = read_samples(opened, first, count, "reverse", pieces)[:, 0]
        windows = np.lib.stride_tricks.sliding_window_view(original[: 8 * RATE], count)
        assert not (windows == excerpt).all(axis=1).any()
        assert (windows == excerpt[::-1]).all(axis=1).any()


def test_pieces_stay_the_same_while_more_blocks_are_checked() -> None:
    random = np.random.default_rng(1)
    edges = np.cumsum(random.integers(100, 9 * RATE, 60)).tolist()
    blocks = [SpeechBlock(low, high, bool(random.random() < 0.4)) for low, high in pairwise(edges)]
    every = divide_blocks(blocks, RATE, end=edges[-1])
    assert [one.first for one in every.pieces] == sorted(one.first for one in every.pieces)
    for count in range(1, len(blocks)):
        part = divide_blocks(blocks[:count], RATE)
        assert part.checked <= blocks[count - 1].end
        assert part.within(0, part.checked) == every.within(0, part.checked)


def test_a_part_is_checked_once(opened: Recording, tmp_path: Path) -> None:
    cache, detector = Cache(tmp_path / "cache"), LoudIsSpeech()
    found = list(find_speech_blocks(opened, detector, cache))
    assert detector.heard == 40
    again = LoudIsSpeech()
    assert list(find_speech_blocks(opened, again, cache)) == found
    assert again.heard == 0


def test_what_cannot_be_read_counts_as_speech_and_is_checked_again(
    opened: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_first_block(path: Path, *, broken: Any, **how: Any) -> Any:
        chunks = list(read_blocks(path, broken=broken, **how))
        broken(Break(str(path), 8.0, 4.0, "cannot be read"))
        return chunks[:1]

    cache = Cache(tmp_path / "cache")
    with monkeypatch.context() as broken:
        broken.setattr(sound_module, "read_blocks", read_first_block)
        [first, unread], *_ = find_speech_blocks(opened, LoudIsSpeech(), cache)
    stretch = opened.stretches[0]
    assert unread == (first.end, round(stretch.end * opened.rate), True)
    complete = [
        block for part in find_speech_blocks(opened, LoudIsSpeech(), cache) for block in part
    ]
    assert len(complete) > 2
    assert not all(block.speaks for block in complete)


def test_short_rests_of_a_stretch_are_checked(tmp_path: Path) -> None:
    path = written(tmp_path / "x.wav", sound(8.3))
    stretches = (Stretch(str(path), 0.0, 0.0, 8.3),)
    blocks = list(
        find_speech_blocks(Recording("x", stretches, 8.3, RATE, 1), LoudIsSpeech(), Cache(tmp_path))
    )
    assert [[(one.first, one.end) for one in part] for part in blocks] == [
        [(0, 64_000), (64_000, 66_400)]
    ]


def test_the_margin_of_speech_passes_gaps_and_short_blocks() -> None:
    blocks = [
        SpeechBlock(0, 1000, False),
        SpeechBlock(1010, 2000, True),
        SpeechBlock(2000, 2020, False),  # the end of a file
        SpeechBlock(2021, 3000, False),
    ]
    pieces = divide_blocks(blocks, rate=100, end=3000).pieces
    assert pieces == ((960, 1000), (1010, 2000), (2000, 2020), (2021, 2050))


def test_pieces_that_overlap_by_a_sample_are_reversed(opened: Recording) -> None:
    speech = SpeechPieces((SpeechPiece(100, 201), SpeechPiece(200, 300)), 1000)
    samples = read_samples(opened, 0, 400, "reverse", speech)[:, 0]
    assert np.array_equal(samples[100:201], whole(opened)[100:201][::-1])
    assert np.array_equal(samples[300:], whole(opened)[300:400])
