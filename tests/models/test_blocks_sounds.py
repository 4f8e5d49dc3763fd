"""Embedders that take sound get exactly the samples of each block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.audio.read import Break, Chunk, ignore_break, read_blocks
from earwitness.audio.signal import resample
from earwitness.models import blocks as blocks_module
from earwitness.models.base import BlockEmbeddings, BlockPlace
from earwitness.models.blocks import fill_blocks, iterate_runs, read_recording_blocks
from earwitness.models.cache import Cache
from helpers.tones import RATE, parts, recording, sound, written


@dataclass
class Recorder:
    """An embedder that keeps what it was given; a vector is the first samples of a block."""

    rate: int = RATE
    classes: bool = False
    given: list[np.ndarray] = field(default_factory=list)
    name: ClassVar[str] = "recorder"
    takes: ClassVar[Literal["sound"]] = "sound"

    @property
    def signature(self) -> str:
        """As all have one."""
        return f"recorder,rate={self.rate},classes={self.classes}"

    def embed(self, sounds: np.ndarray) -> BlockEmbeddings:
        """A row a block."""
        self.given += list(sounds)
        if not self.classes:
            return BlockEmbeddings(sounds[:, :5])
        return BlockEmbeddings(sounds[:, :5], abs(sounds[:, :2]), ("one", "other"))


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """An empty one."""
    return Cache(tmp_path / "cache")


@pytest.mark.parametrize("classes", [False, True])
def test_an_embedder_gets_the_samples_of_every_block(
    tmp_path: Path, cache: Cache, classes: bool
) -> None:
    one = written(tmp_path / "1.wav", sound(43))
    other = written(tmp_path / "2.wav", sound(92, seed=1))
    embedder = Recorder(classes=classes)
    blocks, _ = read_recording_blocks(recording(one, other, gap=3), embedder, cache=cache)
    assert blocks.starts.tolist() == [0, 8, 16, 24, 32, *range(46, 134, 8)]
    whole, size = [sound(43), sound(92, seed=1)], 8 * RATE
    expected = [whole[0][i * size :][:size] for i in range(5)]
    expected += [whole[1][i * size :][:size] for i in range(11)]
    assert np.array_equal(np.stack(embedder.given), np.stack(expected))
    assert np.array_equal(blocks.vectors, np.stack(expected)[:, :5])
    # who has no classes gets those of the codebook
    assert blocks.class_names[0].startswith("one" if classes else "like ")
    assert bool(blocks.few_classes_note) == (not classes)  # its own do not depend on the recording
    assert blocks.classes.shape == (16, len(blocks.class_names))


def test_sparse_it_gets_the_middle_of_every_block(tmp_path: Path, cache: Cache) -> None:
    embedder = Recorder()
    path = written(tmp_path / "x.wav", sound(30))
    blocks, _ = read_recording_blocks(recording(path), embedder, cache=cache, sparse=True)
    expected = [sound(30)[(8 * i + 3) * RATE : (8 * i + 5) * RATE] for i in range(3)]
    assert np.array_equal(np.stack(embedder.given), np.stack(expected))
    assert len(blocks) == 3


def test_whoever_is_interrupted_goes_on_with_the_hour_they_were_at(
    tmp_path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks_module, "BLOCKS_PER_CACHE_FILE", 2)
    day = recording(written(tmp_path / "x.wav", sound(60)))
    begun: list[float] = []

    def reader(
        path: Path,
        *,
        at: float = 0.0,
        seconds: float | None = None,
        broken: Callable[[Break], object] = ignore_break,
    ) -> Iterator[Chunk]:
        begun.append(at)
        if begun == [0, 0, 16, 32]:
            raise KeyboardInterrupt
        yield from read_blocks(path, at=at, seconds=seconds, broken=broken)

    with pytest.raises(KeyboardInterrupt):
        read_recording_blocks(day, Recorder(), cache=cache, read=reader)
    begun.clear()
    embedder = Recorder()
    blocks, _ = read_recording_blocks(day, embedder, cache=cache, read=reader)
    assert begun == [32, 48]
    assert len(embedder.given) == 3
    assert np.array_equal(blocks.vectors[:, 0], sound(60)[:: 8 * RATE][:7])


def test_progress_counts_both_rounds(tmp_path: Path, cache: Cache) -> None:
    day = recording(written(tmp_path / "x.wav", sound(30)))
    told: list[float] = []

    def progress(done: int, total: int | None, cases: int) -> None:
        assert total
        assert cases >= 0
        told.append(done / total)

    read_recording_blocks(day, Recorder(), cache=cache, progress=progress)
    assert told == sorted(told)
    assert 0.5 in told
    assert told[-1] == 1


@given(st.lists(st.integers(0, 4000), max_size=5), st.integers(1, 900), st.integers(0, 3000))
def test_blocks_are_filled_however_the_sound_comes(cuts: list[int], size: int, at: int) -> None:
    whole = sound(0.5)
    begins = list(range(at, 5000, size + 10))
    found = list(fill_blocks(parts(whole, sorted(cuts)), begins, size, RATE))
    padded = np.concatenate([whole, np.zeros(10_000, np.float32)])
    assert np.array_equal(np.stack(found), np.stack([padded[i : i + size] for i in begins]))


def test_runs_end_with_the_file_at_a_gap_and_after_an_hour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks_module, "BLOCKS_PER_CACHE_FILE", 3)
    at = [("a", 0), ("a", 8), ("a", 16), ("a", 24), ("a", 40), ("b", 48), ("b", 56)]
    places = [BlockPlace(0, path, float(begin)) for path, begin in at]
    found = [[(one.path, one.at) for one in run] for run in iterate_runs(places, 8.0)]
    assert found == [at[:3], at[3:4], at[4:5], at[5:]]
    assert list(iterate_runs([], 8.0)) == []


@pytest.mark.parametrize("rate", [8000, 32_000, 44_100])
def test_a_tone_at_another_rate_is_the_same_tone(rate: int) -> None:
    tones = [
        np.sin(2 * np.pi * 440 * np.arange(2 * own) / own).astype(np.float32)
        for own in (rate, 16_000)
    ]
    found = resample(tones[0], rate, 16_000)
    assert len(found) == len(tones[1])
    assert found[2000:-2000] == pytest.approx(tones[1][2000:-2000], abs=5e-3)
