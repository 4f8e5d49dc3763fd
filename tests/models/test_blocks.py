"""Recordings to blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from earwitness.audio.read import Break, Chunk, ignore_break, read_blocks
from earwitness.errors import UsageError
from earwitness.models.blocks import READING_TIME_RATIO, RecordingBlocks, read_recording_blocks
from earwitness.models.cache import Cache
from earwitness.models.codebook import Codebook
from earwitness.models.embedders import EMBEDDERS, find_embedder
from earwitness.recordings.types import Damage, Recording, Stretch
from helpers.tones import RATE, recording, sound, written


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """An empty one."""
    return Cache(tmp_path / "cache")


@pytest.fixture
def day(tmp_path: Path) -> Recording:
    """Two files of 43 and 30 s, with 7 s missing between them."""
    one = written(tmp_path / "1.wav", sound(43))
    other = written(tmp_path / "2.wav", sound(30, seed=1))
    return recording(one, other, gap=7)


def same(one: RecordingBlocks, other: RecordingBlocks) -> bool:
    """In every field."""
    return (
        np.array_equal(one.starts, other.starts)
        and np.array_equal(one.vectors, other.vectors)
        and np.array_equal(one.classes, other.classes)
        and (one.seconds, one.class_names, one.signature)
        == (other.seconds, other.class_names, other.signature)
    )


def never(
    path: Path,
    *,
    at: float = 0.0,
    seconds: float | None = None,
    broken: Callable[[Break], object] = ignore_break,
) -> list[Chunk]:
    """A reader for what should not be read."""
    raise AssertionError(path, at, seconds, broken)


@pytest.mark.parametrize("name", EMBEDDERS)
def test_blocks_begin_with_every_stretch_and_remainders_are_left_out(
    day: Recording, cache: Cache, name: str
) -> None:
    blocks, real = read_recording_blocks(day, find_embedder(name), cache=cache)
    # 43 s are 5 blocks and 3 s; the second stretch begins at 43 + 7 = 50 s
    assert blocks.starts.tolist() == [0, 8, 16, 24, 32, 50, 58, 66]
    assert real == day
    assert len(blocks) == len(blocks.vectors) == len(blocks.classes) == 8
    assert blocks.seconds == 8
    assert blocks.class_names == ()  # so few blocks have no classes
    assert "too few" in blocks.few_classes_note
    assert find_embedder(name).signature in blocks.signature


def test_blocks_have_at_most_a_class_for_every_four_segments(day: Recording, cache: Cache) -> None:
    for block, most in ((2.0, 18), (0.32, 56)):  # 36 blocks of two segments, and 227 of one
        blocks, _ = read_recording_blocks(day, Codebook(), block=block, cache=cache)
        assert blocks.classes.shape == (len(blocks), len(blocks.class_names))
        assert 1 < len(blocks.class_names) <= most
        assert 0 <= blocks.classes.min() <= blocks.classes.max() <= 1
        assert bool(blocks.few_classes_note) == (len(blocks) < 96)


@pytest.mark.parametrize("name", EMBEDDERS)
def test_progress_goes_on_while_blocks_are_embedded(
    tmp_path: Path, cache: Cache, name: str
) -> None:
    long = recording(written(tmp_path / "long.wav", sound(64)))
    told: list[float] = []

    def progress(done: int, total: int | None, _: int) -> None:
        assert total
        told.append(done / total)

    read_recording_blocks(long, find_embedder(name), block=0.32, cache=cache, progress=progress)
    assert told == sorted(told)
    assert told[-1] == 1
    # 200 blocks are four portions, gone through three times or more
    assert len({one for one in told if one > READING_TIME_RATIO / (READING_TIME_RATIO + 1)}) == 12


def test_blocks_come_back_from_the_cache_without_a_look_at_the_sound(
    day: Recording, cache: Cache
) -> None:
    damaged = replace(day, damages=(Damage("x", 1, 2, "cut"),), notes=("a note",))
    one = read_recording_blocks(damaged, Codebook(), cache=cache)
    other = read_recording_blocks(damaged, Codebook(), cache=cache, read=never)
    assert same(one[0], other[0])
    assert one[1] == other[1] == damaged


@pytest.mark.parametrize("change", ["block", "embedder", "sparse", "stretch"])
def test_other_settings_have_other_blocks_but_the_same_frames(
    day: Recording, cache: Cache, change: str
) -> None:
    first, _ = read_recording_blocks(day, Codebook(), cache=cache)
    moved = replace(day.stretches[0], at=1.0, seconds=42.0)
    other, _ = read_recording_blocks(
        replace(day, stretches=(moved, day.stretches[1])) if change == "stretch" else day,
        Codebook(seed=1 if change == "embedder" else 0),
        cache=cache,
        block=4.0 if change == "block" else 8.0,
        sparse=change == "sparse",
        read=never,
    )
    assert not same(first, other)


def test_a_broken_file_of_blocks_is_made_anew(day: Recording, cache: Cache) -> None:
    first, _ = read_recording_blocks(day, Codebook(), cache=cache)
    (path,) = (cache.folder / "blocks").iterdir()
    path.write_bytes(path.read_bytes()[:-4])
    again, _ = read_recording_blocks(day, Codebook(), cache=cache)
    assert same(first, again)


def test_what_cannot_be_read_is_missing_from_the_recording_and_from_its_blocks(
    tmp_path: Path, cache: Cache
) -> None:
    day = recording(written(tmp_path / "x.wav", sound(60)))

    def holed(
        path: Path,
        *,
        at: float = 0.0,
        seconds: float | None = None,
        broken: Callable[[Break], object] = ignore_break,
    ) -> Iterator[Chunk]:
        whole = np.concatenate([one.samples for one in read_blocks(path, at=at, seconds=seconds)])
        begin, end, last = round(20.011 * RATE), round(30.005 * RATE), 59 * RATE
        yield Chunk(0, whole[:begin])
        broken(Break(str(path), begin / RATE, (end - begin) / RATE, "broken"))
        yield Chunk(end / RATE, whole[end:last])
        broken(Break(str(path), last / RATE, 1, "ends"))

    blocks, real = read_recording_blocks(day, Codebook(), cache=cache, read=holed)
    name = day.stretches[0].path
    assert [(one.path, one.at, one.start) for one in real.stretches] == [
        (name, 0, 0),
        (name, 30.005, 30.005),
    ]
    assert [one.end for one in real.stretches] == pytest.approx([20.011, 59.0])
    assert real.damages == (Damage(name, 20.011, 20.011, "broken"), Damage(name, 59, 59, "ends"))
    assert blocks.starts == pytest.approx([0, 8, 30.005, 38.005, 46.005])
    assert read_recording_blocks(day, Codebook(), cache=cache, read=never)[1] == real


def test_sparse_blocks_are_those_of_the_whole_with_other_vectors(
    day: Recording, cache: Cache
) -> None:
    whole, _ = read_recording_blocks(day, find_embedder("log-mel"), cache=cache)
    sparse, real = read_recording_blocks(day, find_embedder("log-mel"), cache=cache, sparse=True)
    assert np.array_equal(sparse.starts, whole.starts)
    assert sparse.vectors.shape == whole.vectors.shape
    assert real == day
    assert sparse.signature.endswith(",sparse")


def test_a_recording_that_is_shorter_than_a_block_has_none(tmp_path: Path, cache: Cache) -> None:
    day = recording(written(tmp_path / "x.wav", sound(5)))
    blocks, _ = read_recording_blocks(day, Codebook(), cache=cache)
    assert len(blocks) == 0


def test_a_stretch_may_be_a_part_of_a_file(tmp_path: Path, cache: Cache) -> None:
    path = written(tmp_path / "x.wav", sound(60))
    parts = (Stretch(str(path), 0, 0, 20), Stretch(str(path), 25, 20, 20))
    day = Recording("parts", parts, 40, RATE, 1)
    blocks, _ = read_recording_blocks(day, find_embedder("log-mel"), cache=cache)
    assert blocks.starts.tolist() == [0, 8, 20, 28]


@pytest.mark.parametrize("block", [0, 0.1, -8, float("nan")])
def test_a_block_that_is_too_short_is_refused(day: Recording, cache: Cache, block: float) -> None:
    with pytest.raises(UsageError, match=r"block must be at least 0\.32 s"):
        read_recording_blocks(day, Codebook(), cache=cache, block=block)


def test_an_unknown_embedder_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match='unknown embedder "codebok" — did you mean "codebook"'):
        find_embedder("codebok")


def test_the_default_is_the_codebook() -> None:
    assert find_embedder() == Codebook()
