"""Frames on disk: made once, an hour at a time, and made anew where they are broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from earwitness.audio.logmel import ABSENT_BYTE, log_mel
from earwitness.audio.read import Break, Chunk, ignore_break, read_blocks
from earwitness.engines.local import in_process
from earwitness.models import frames
from earwitness.models.cache import Cache
from earwitness.models.frames import FrameFile, FrameSource, load_frame_file, prepare_frames
from earwitness.recordings.recording import open_recording
from helpers.tones import RATE, sound, written


class Reader:
    """Reads as the plain one does, counts the seconds, and may stop with an error."""

    def __init__(self, fails_at: float = float("inf")) -> None:
        self.fails_at = fails_at
        self.begun: list[float] = []
        self.seconds = 0.0

    def __call__(
        self,
        path: Path,
        *,
        at: float = 0.0,
        seconds: float | None = None,
        broken: Callable[[Break], object] = ignore_break,
    ) -> Iterator[Chunk]:
        self.begun.append(at)
        for chunk in read_blocks(path, at=at, seconds=seconds, size=1.0, broken=broken):
            if chunk.position >= self.fails_at:
                raise KeyboardInterrupt
            self.seconds += 1
            yield chunk


@pytest.fixture(autouse=True)
def short_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of 2 s."""
    monkeypatch.setattr(frames, "SHARD_FRAMES", 100)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """9.5 s of sound."""
    return written(tmp_path / "x.wav", sound(9.5))


def rows(file: FrameFile) -> np.ndarray:
    """All of them."""
    return file.rows(0, len(file))


def test_frames_on_disk_are_those_of_the_sound_and_are_made_once(
    path: Path, tmp_path: Path
) -> None:
    reader, cache = Reader(), Cache(tmp_path / "cache")
    file = load_frame_file(FrameSource(path, RATE, reader), cache)
    assert [len(shard) for shard in file.shards] == [100, 100, 100, 100, 75]
    assert np.array_equal(rows(file), log_mel(sound(9.5), RATE))
    again = load_frame_file(FrameSource(path, RATE, reader), cache)
    assert np.array_equal(rows(again), rows(file))
    assert reader.begun == [0.0]


def test_a_file_of_whole_hours_has_no_empty_shard(tmp_path: Path) -> None:
    path = written(tmp_path / "x.wav", sound(4.0))
    file = load_frame_file(FrameSource(path, RATE, Reader()), Cache(tmp_path / "cache"))
    assert [len(shard) for shard in file.shards] == [100, 100]


def test_an_empty_file_has_one_empty_shard(tmp_path: Path) -> None:
    path = written(tmp_path / "x.wav", sound(0))
    file = load_frame_file(FrameSource(path, RATE, Reader()), Cache(tmp_path / "cache"))
    assert len(file) == 0
    assert (file.rows(0, 3) == ABSENT_BYTE).all()


def test_whoever_is_interrupted_finds_the_hours_that_were_done(path: Path, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    with pytest.raises(KeyboardInterrupt):
        load_frame_file(FrameSource(path, RATE, Reader(fails_at=5)), cache)
    reader = Reader()
    file = load_frame_file(FrameSource(path, RATE, reader), cache)
    assert reader.begun == [4.0]
    assert np.array_equal(rows(file), log_mel(sound(9.5), RATE))


@pytest.mark.parametrize("number", [0, 2, 4])
def test_a_broken_shard_is_made_anew_and_no_other(path: Path, tmp_path: Path, number: int) -> None:
    cache = Cache(tmp_path / "cache")
    load_frame_file(FrameSource(path, RATE, Reader()), cache)
    broken = sorted((tmp_path / "cache" / "frames").glob("*/*"))[number]
    broken.write_bytes(broken.read_bytes()[:-1])
    reader = Reader()
    file = load_frame_file(FrameSource(path, RATE, reader), cache)
    assert reader.begun == [2.0 * number]
    assert reader.seconds <= 4
    assert np.array_equal(rows(file), log_mel(sound(9.5), RATE))


def test_the_same_content_under_another_name_is_known(path: Path, tmp_path: Path) -> None:
    cache, reader = Cache(tmp_path / "cache"), Reader()
    load_frame_file(FrameSource(path, RATE, Reader()), cache)
    path.rename(tmp_path / "y.wav")
    load_frame_file(FrameSource(tmp_path / "y.wav", RATE, reader), cache)
    assert reader.begun == []


def test_frames_of_another_decoder_are_made_anew(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, reader = Cache(tmp_path / "cache"), Reader()
    for version in ("libsndfile-1", "libsndfile-2", "libsndfile-1"):
        monkeypatch.setattr(frames, "decoder_name", lambda _, name=version: name)
        load_frame_file(FrameSource(path, RATE, reader), cache)
    assert reader.begun == [0, 0]


def test_sparse_frames_are_the_middle_of_each_8_s_and_the_rest_is_absent(tmp_path: Path) -> None:
    path = written(tmp_path / "x.wav", sound(20.5))
    cache = Cache(tmp_path / "cache")
    file = load_frame_file(FrameSource(path, RATE, Reader()), cache, sparse=True)
    whole = log_mel(sound(20.5), RATE)
    kept = np.zeros(len(whole), bool)
    for middle in (4, 12, 20):
        kept[50 * (middle - 1) : 50 * (middle + 1)] = True
    # the file ends at 20.5 s: the last piece is cut there
    found = file.rows(0, len(whole))
    assert np.array_equal(found[kept], whole[kept])
    assert (found[~kept] == ABSENT_BYTE).all()
    assert np.array_equal(file.present(0, len(whole)), kept)
    assert len(load_frame_file(FrameSource(path, RATE, Reader()), cache)) == len(whole)


def test_rows_before_the_begin_and_after_the_end_are_absent(path: Path, tmp_path: Path) -> None:
    file = load_frame_file(FrameSource(path, RATE, Reader()), Cache(tmp_path / "cache"))
    found = file.rows(-5, 485)
    assert (found[:5] == ABSENT_BYTE).all()
    assert (found[480:] == ABSENT_BYTE).all()
    assert np.array_equal(found[5:480], log_mel(sound(9.5), RATE))
    assert np.array_equal(file.rows(90, 310), found[95:315])


def test_seconds_that_were_read_are_told(path: Path, tmp_path: Path) -> None:
    told: list[float] = []
    cache = Cache(tmp_path / "cache")
    load_frame_file(FrameSource(path, RATE, Reader()), cache, on_seconds=told.append)
    assert len(told) > 9
    assert told[-1] >= 9.5


def make(path: Path, folder: Path) -> None:
    """In a process of its own."""
    assert len(load_frame_file(FrameSource(path, RATE, Reader()), Cache(folder))) == 475


def test_two_processes_may_make_the_same_frames_at_once(path: Path, tmp_path: Path) -> None:
    arguments = path, tmp_path / "cache"
    processes = [get_context("fork").Process(target=make, args=arguments) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    kept = list((tmp_path / "cache").rglob("*"))
    assert not [one for one in kept if one.name.startswith(".making")]


@pytest.mark.parametrize("again", [0, 2, 5])
def test_breaks_are_kept_with_their_hour(tmp_path: Path, again: int) -> None:
    path, cache = written(tmp_path / "x.wav", sound(9.5)), Cache(tmp_path / "cache")

    def holed(
        path: Path,
        *,
        at: float = 0.0,
        seconds: float | None = None,
        broken: Callable[[Break], object] = ignore_break,
    ) -> Iterator[Chunk]:
        for chunk in read_blocks(path, at=at, seconds=seconds, size=0.5):
            if chunk.position in (1.0, 5.5, 9.0):
                broken(Break(str(path), chunk.position, 0.5, "cannot be read"))
            else:
                yield chunk

    file = load_frame_file(FrameSource(path, RATE, holed), cache)
    breaks = tuple(Break(str(path), at, 0.5, "cannot be read") for at in (1.0, 5.5, 9.0))
    assert file.breaks == breaks
    kept = sorted((tmp_path / "cache" / "frames").glob("*/*"))
    for number in kept[again:]:
        number.unlink()
    found = load_frame_file(FrameSource(path, RATE, holed), cache)
    assert found.breaks == breaks
    there = file.present(0, 475)
    assert (~there).sum() == 75
    assert not there[50:75].any()
    assert not there[275:300].any()
    assert len(file) == 450  # the last half second never came


@pytest.mark.parametrize("shards_per_task", [1, 2, 9])
def test_shards_of_divided_files_are_those_of_whole_files(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shards_per_task: int
) -> None:
    monkeypatch.setattr(frames, "SHARDS_PER_TASK", shards_per_task)
    cache, reports = Cache(tmp_path / "cache"), list[float]()
    prepare_frames([open_recording([path])], in_process, cache=cache, progress=reports.append)
    assert len(reports) == -(-5 // shards_per_task)
    assert reports[-1] == pytest.approx(9.5)
    reader = Reader()
    file = load_frame_file(FrameSource(path, RATE, reader), cache)
    assert reader.begun == []
    assert np.array_equal(rows(file), log_mel(sound(9.5), RATE))
    prepare_frames([open_recording([path])], in_process, cache=cache, progress=reports.append)
    assert len(reports) == -(-5 // shards_per_task)  # finished tasks are not distributed again


def test_files_that_cannot_be_read_are_left_to_whoever_loads_them(
    path: Path, tmp_path: Path
) -> None:
    recording = open_recording([path])
    path.unlink()
    prepare_frames([recording], in_process, cache=Cache(tmp_path / "cache"))
    assert not (tmp_path / "cache").exists()
