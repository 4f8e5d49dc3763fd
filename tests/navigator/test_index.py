"""The index of a recording: usable at once, built once, shared, bounded, and aware of changes."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
import soundfile

from earwitness.audio.logmel import ABSENT_BYTE, log_mel
from earwitness.models import frames
from earwitness.models.cache import Cache, trim_cache
from earwitness.navigator import index as module
from earwitness.navigator.index import IndexSettings, RecordingChanged, RecordingIndex, open_index
from earwitness.recordings.recording import open_recording
from helpers.tones import RATE, recording, sound, written


@pytest.fixture(autouse=True)
def short_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of 10.24 s, and files that are checked at every request."""
    monkeypatch.setattr(frames, "SHARD_FRAMES", 512)
    monkeypatch.setattr(module, "CHECK_SECONDS", 0.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path / "day.wav", sound(35))


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def built(path: Path, cache: Cache, **settings: Any) -> RecordingIndex:
    """A finished index."""
    how = IndexSettings(**settings)
    index = RecordingIndex(open_recording([path]), cache=cache, settings=how).start().wait()
    assert (index.state, index.message) == ("ready", "")
    return index


def test_a_finished_index_has_the_frames_of_the_sound(path: Path, cache: Cache) -> None:
    index = built(path, cache)
    assert index.done == 35
    assert np.array_equal(index.shown_frames(0, index.frame_count), log_mel(sound(35), RATE))
    low, high = index.range_db
    assert -110 <= low < high <= 0
    assert built(path, cache).range_db == (low, high)  # also from the cache


@pytest.mark.parametrize("shard_frames", [512, 180_000])
def test_an_index_can_be_used_while_it_is_built(
    path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch, shard_frames: int
) -> None:
    monkeypatch.setattr(frames, "SHARD_FRAMES", shard_frames)  # of a file below or above an hour
    shown, resume = Event(), Event()

    def wait(done: int, total: int | None, cases: int) -> None:
        del total, cases
        if done >= 15:
            shown.set()
            assert resume.wait(60)

    index = RecordingIndex(open_recording([path]), cache=cache)
    assert (index.pyramid.means[5] == ABSENT_BYTE).all()  # before anything is known
    index.start(wait)
    assert shown.wait(60)
    assert (index.state, index.done) == ("building", 15.36)
    assert (index.pyramid.means[5][:24] != ABSENT_BYTE).all()
    assert (index.pyramid.means[5][24:] == ABSENT_BYTE).all()
    assert np.array_equal(index.shown_frames(0, 768), log_mel(sound(35), RATE)[:768])
    heard = index.read_checked(30 * RATE, RATE)  # sound does not wait
    assert np.array_equal(heard.samples[:, 0], sound(35)[30 * RATE : 31 * RATE])
    resume.set()
    assert index.wait().state == "ready"


def test_a_closed_index_stops_and_resumes_when_it_is_opened_again(
    path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = RecordingIndex(open_recording([path]), cache=cache)
    plain = index._advance

    def close_early(*arguments: Any) -> None:
        plain(*arguments)
        index.close()

    monkeypatch.setattr(index, "_advance", close_early)
    assert index.start().wait(60).state == "building"
    assert 0 < index.done < 35
    assert built(path, cache).done == 35


def test_an_index_is_built_once(path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    first = built(path, cache)
    monkeypatch.setattr(frames, "_write_shards", None)
    monkeypatch.setattr(module, "PyramidBuilder", None)
    moved = path.rename(path.with_name("moved.wav"))  # the content counts
    again = built(moved, cache)
    for level, columns in first.pyramid.means.items():
        assert np.array_equal(columns, again.pyramid.means[level])


def test_the_same_files_have_one_index(path: Path, cache: Cache) -> None:
    one, same = (open_index(open_recording([path]), cache=cache) for _ in range(2))
    settings = IndexSettings(speech="mute", detector="cues")
    muted = open_index(open_recording([path]), cache=cache, settings=settings)
    assert one is same
    assert one is not muted
    assert one.digest != muted.digest
    for index in (one, muted):
        index.wait()
        assert index.state == "ready"


def test_gaps_between_files_are_absent(tmp_path: Path, cache: Cache) -> None:
    paths = [written(tmp_path / f"{n}.wav", sound(11, seed=n)) for n in range(2)]
    index = RecordingIndex(recording(*paths, gap=9.0), cache=cache).start().wait()
    rows = index.shown_frames(0, index.frame_count)
    is_absent = (rows == ABSENT_BYTE).all(axis=1)
    assert np.flatnonzero(is_absent).tolist() == list(range(550, 1000))
    assert np.array_equal(rows[1000:], log_mel(sound(11, seed=1), RATE))
    samples = np.array([0, 11 * RATE - 1, 11 * RATE, 20 * RATE - 1, 20 * RATE, 31 * RATE])
    assert index.is_recorded(samples).tolist() == [True, True, False, False, True, False]


def test_damage_is_a_gap_and_the_clock_stays(tmp_path: Path, cache: Cache) -> None:
    path = tmp_path / "day.flac"
    soundfile.write(path, sound(40), RATE)
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) * 3 // 4] = bytes(len(content) // 4)
    path.write_bytes(content)
    index = built(path, cache)
    (damage,) = index.recording.damages
    assert (index.seconds, index.done) == (40, 40)
    assert 15 < damage.start < 25
    assert (index.shown_frames(1300, 1400) == ABSENT_BYTE).all()
    assert not index.read_checked(26 * RATE, 2 * RATE).samples.any()
    heard = index.read_checked(36 * RATE, 2 * RATE).samples[:, 0]
    assert heard == pytest.approx(sound(40)[36 * RATE : 38 * RATE], abs=1e-4)


def test_a_recording_that_cannot_be_read_fails_with_the_reason(
    path: Path, cache: Cache, tmp_path: Path
) -> None:
    opened = open_recording([path])
    path.write_bytes(b"RIFF")
    index = RecordingIndex(opened, cache=cache).start().wait()
    assert index.state == "failed"
    assert "day.wav" in index.message
    (tmp_path / "file").touch()
    whole = written(tmp_path / "other.wav", sound(5))
    index = RecordingIndex(open_recording([whole]), cache=Cache(tmp_path / "file")).start().wait()
    assert "cannot write to the cache" in index.message


@pytest.mark.parametrize("change", ["removed", "longer", "touched"])
def test_a_changed_or_vanished_file_is_noticed(path: Path, cache: Cache, change: str) -> None:
    index = built(path, cache)
    index.check_unchanged()
    if change == "removed":
        path.unlink()
    elif change == "longer":
        written(path, sound(36))
    else:
        os.utime(path, ns=(1, 1))
    verb = "no longer exists" if change == "removed" else "has changed"
    with pytest.raises(RecordingChanged, match=f"day.wav {verb}"):
        index.check_unchanged()


def test_a_file_that_may_no_longer_be_read_is_noticed(
    path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = built(path, cache)

    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    for name in ("stat", "open"):
        monkeypatch.setattr(Path, name, refuse)
    with pytest.raises(RecordingChanged, match=r"day\.wav can no longer be read"):
        index.check_unchanged()
    with pytest.raises(RecordingChanged, match=r"day\.wav can no longer be read"):
        index.read_checked(0, 100)


# --- Speech --------------------------------------------------------------------------------------


class LoudIsSpeech:
    """Takes loud blocks for speech."""

    name = signature = "loud"
    min_share = 0.5

    def share(self, samples: Any, rate: int) -> float:
        del rate
        return float(np.abs(samples).max() > 0.09)


@pytest.mark.parametrize("change", ["reverse", "mute"])
def test_detailed_levels_show_the_changed_copy(
    path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    monkeypatch.setattr(module, "find_detector", lambda _: LoudIsSpeech())
    settings = IndexSettings(speech=change)
    index = RecordingIndex(open_recording([path]), cache=cache, settings=settings)
    assert (index.shown_frames(0, 100) == ABSENT_BYTE).all()  # nothing is checked yet
    assert not index.read_checked(0, 100).samples.any()
    index.start().wait()
    plain = log_mel(sound(35), RATE)
    expected = plain.copy()
    for first, end in [(0, 400), (400, 425), (775, 800), (800, 1200), (1200, 1225), (1575, 1600)]:
        expected[first:end] = plain[first:end][::-1] if change == "reverse" else 0
    rest = slice(1600, 1750)  # a block that is shorter, with speech
    expected[rest] = plain[rest][::-1] if change == "reverse" else 0
    assert np.array_equal(index.shown_frames(0, index.frame_count), expected)
    assert np.array_equal(index.shown_frames(333, 1111), expected[333:1111])


def test_a_closed_index_stops_checking_at_once(
    path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[int] = []

    class Closing(LoudIsSpeech):
        def share(self, samples: Any, rate: int) -> float:
            checked.append(len(samples))
            index.close()
            return super().share(samples, rate)

    monkeypatch.setattr(module, "find_detector", lambda _: Closing())
    settings = IndexSettings(speech="mute")
    index = RecordingIndex(open_recording([path]), cache=cache, settings=settings)
    assert index.start().wait(60).state == "building"
    assert len(checked) == 1  # of five blocks


# --- Size of the cache ---------------------------------------------------------------------------


def test_old_indexes_are_removed_but_not_those_in_use(tmp_path: Path, cache: Cache) -> None:
    paths = [written(tmp_path / f"{n}.wav", sound(12, seed=n)) for n in range(4)]
    old, used = (built(path, cache, cache_bytes=1e9) for path in paths[:2])
    old.close()
    assert old.wait().state == "ready"

    def kept(kind: str) -> int:
        return len(list((cache.folder / kind).iterdir()))

    assert (kept("frames"), kept("navigator")) == (2, 2)
    newest = built(paths[2], cache, cache_bytes=1.0)
    assert (kept("frames"), kept("navigator")) == (2, 2)  # of the two that are open
    assert np.array_equal(used.shown_frames(0, 600), log_mel(sound(12, seed=1), RATE))
    used.close()
    newest.close()
    built(paths[3], cache, cache_bytes=1.0)
    assert (kept("frames"), kept("navigator")) == (1, 1)


def test_room_is_made_before_an_index_is_built_and_also_if_that_fails(
    tmp_path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [written(tmp_path / f"{n}.wav", sound(12, seed=n)) for n in range(2)]
    built(paths[0], cache).close()
    trims: list[float] = []
    monkeypatch.setattr(module, "trim_cache", lambda _, size: trims.append(size))
    monkeypatch.setattr(module, "iterate_shards", None)
    settings = IndexSettings(cache_bytes=50_000.0)
    index = RecordingIndex(open_recording([paths[1]]), cache=cache, settings=settings)
    assert index.start().wait().state == "failed"
    assert trims == [50_000 - 600 * 46, 50_000]


def test_room_is_made_only_for_what_is_not_stored(
    path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(path, cache).close()
    shutil.rmtree(cache.folder / "navigator")
    trims: list[float] = []
    monkeypatch.setattr(module, "trim_cache", lambda _, size: trims.append(size))
    built(path, cache, cache_bytes=1e6).close()
    assert 1e6 - 1750 * 6 <= trims[0] < 1e6


def test_an_index_that_is_closed_while_its_build_ends_is_not_kept(
    path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = built(path, cache)
    monkeypatch.setattr(index._thread, "is_alive", lambda: True)
    index.close()
    trim_cache(cache, 0)
    assert not list((cache.folder / "frames").iterdir())


def list_held(folder: Path) -> list[str]:
    """Return the entries in lists of use, of which the last one may end while they are read."""
    lines = []
    for path in folder.glob("*.held"):
        with suppress(FileNotFoundError):
            lines += path.read_text().splitlines()
    return lines


def test_an_index_that_waits_for_others_is_kept(path: Path, cache: Cache) -> None:
    built(path, cache).close()
    waiting = RecordingIndex(open_recording([path]), cache=cache)
    with module.BUILDING:
        waiting.start()
        held = cache.folder / "holds"
        while len(list_held(held)) < 2:
            Event().wait(0.01)
        trim_cache(cache, 0)
    assert waiting.wait().state == "ready"
    assert len(list((cache.folder / "frames").iterdir())) == 1


def test_frames_of_skims_are_kept_while_they_are_used(path: Path, cache: Cache) -> None:
    files = frames.load_frame_files(open_recording([path]), cache=cache)
    trim_cache(cache, 0)
    assert len(files[str(path)].rows(0, 512)) == 512
    assert len(list((cache.folder / "frames").iterdir())) == 1
    del files
    trim_cache(cache, 0)
    assert not list((cache.folder / "frames").iterdir())
