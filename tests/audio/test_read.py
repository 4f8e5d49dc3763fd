"""Files read in chunks and cut: each sample where it was, around all that is broken."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from earwitness.audio import read as read_module
from earwitness.audio.read import Break, read_blocks, read_mono, stream_mono
from earwitness.audio.signal import resample
from earwitness.errors import UsageError
from earwitness.recordings.cut import cut
from earwitness.recordings.recording import open_recording
from helpers.recorder_files import RATE, Samples, noise, recorded, write
from helpers.samples import many

EXACT = ["wav", "flac", "w64", "rf64", "aiff"]
LOSSY = ["mp3", "ogg", "opus"]


def read(
    path: Path, *, at: float = 0, seconds: float | None = None, size: float = 0.7
) -> np.ndarray:
    """All chunks in a row; they must follow each other."""
    pieces, end, rate = [], at, open_recording([path]).rate
    for chunk in read_blocks(path, at=at, seconds=seconds, size=size):
        assert chunk.position == pytest.approx(end, abs=1e-9)
        end += len(chunk.samples) / rate
        pieces.append(chunk.samples)
    return np.concatenate(pieces)


@pytest.mark.parametrize("ending", EXACT)
def test_chunks_hold_every_sample(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path / f"a.{ending}", samples := noise(5))
    np.testing.assert_allclose(read(path), samples[:, 0], atol=1 / 2**15)
    np.testing.assert_allclose(read(path, at=1.5, seconds=2), samples[12_000:28_000, 0], atol=1e-4)


def test_channels_become_one_by_their_mean(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", samples := noise(2, channels=3))
    np.testing.assert_allclose(read(path), samples.mean(axis=1), atol=1 / 2**15)


@pytest.mark.parametrize("ending", [*EXACT, *LOSSY])
@pytest.mark.parametrize("rate", [16_000, 48_000])
def test_seeking_gives_the_samples_that_reading_through_gives(
    tmp_path: Path, ending: str, rate: int
) -> None:
    path = recorded(tmp_path / f"a.{ending}", 12, rate)
    through = read(path)
    recording = open_recording([path])
    rate = recording.rate  # Opus is always decoded at 48 kHz
    rng = np.random.default_rng(1)
    for _ in range(many(25, 400)):
        frame = int(rng.integers(0, len(through) - rate))
        found = cut(recording, frame / rate, 0.25)[:, 0]
        np.testing.assert_allclose(found, through[frame : frame + rate // 4], atol=2e-7)


@pytest.mark.parametrize("ending", LOSSY)
def test_chunks_of_any_size_hold_the_same_samples(tmp_path: Path, ending: str) -> None:
    path = recorded(tmp_path / f"a.{ending}", 10, 48_000)
    whole = read(path, size=60)
    for size in np.random.default_rng(2).uniform(0.01, 0.5, many(4, 40)):
        np.testing.assert_allclose(read(path, size=float(size)), whole, atol=2e-7)


def test_a_cut_goes_over_files_that_follow_each_other(tmp_path: Path) -> None:
    samples = noise(6, channels=2)
    for second in (0, 2, 4):
        write(tmp_path / f"20250722_06000{second}.wav", samples[second * RATE :][: 2 * RATE])
    recording = open_recording([tmp_path])
    found = cut(recording, 1.5, 3.25)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, samples[12_000:38_000], atol=1 / 2**15)
    assert len(cut(recording, 0, 6)) == 6 * RATE


def test_a_cut_of_what_nobody_recorded_is_refused(tmp_path: Path) -> None:
    for second in (0, 4):
        recorded(tmp_path / f"20250722_06000{second}.wav", 2)
    recording = open_recording([tmp_path])
    for start, seconds in ((1, 2), (2.5, 1), (3.5, 1), (5, 1.5), (7, 1)):
        with pytest.raises(UsageError, match="was not recorded"):
            cut(recording, start, seconds)
    assert len(cut(recording, 4, 2)) == 2 * RATE


def test_files_of_two_widths_are_cut_as_one_channel(tmp_path: Path) -> None:
    samples = noise(2, channels=2)
    write(tmp_path / "a.wav", samples[:RATE])
    write(tmp_path / "b.wav", samples[RATE:, :1])
    found = cut(open_recording([tmp_path]), 0.5, 1)
    np.testing.assert_allclose(found[: RATE // 2, 0], samples[RATE // 2 : RATE].mean(1), atol=1e-4)
    np.testing.assert_allclose(found[RATE // 2 :, 0], samples[RATE : RATE * 3 // 2, 0], atol=1e-4)


def damaged(path: Path, start: float, end: float, content: bytes | None = None) -> Path:
    """The same file with other bytes between two shares of it."""
    data = path.read_bytes()
    low, high = round(len(data) * start), round(len(data) * end)
    path.write_bytes(data[:low] + (bytes(high - low) if content is None else content) + data[high:])
    return path


def pieces_of(path: Path) -> tuple[list[tuple[float, Samples]], list[Break]]:
    """What can be read, and what is broken."""
    breaks: list[Break] = []
    chunks = [
        (one.position, one.samples) for one in read_blocks(path, size=3, broken=breaks.append)
    ]
    return chunks, breaks


def test_a_broken_place_in_flac_is_told_and_the_rest_is_exact(tmp_path: Path) -> None:
    path = write(tmp_path / "a.flac", samples := noise(30))
    chunks, breaks = pieces_of(damaged(path, 0.5, 0.53))
    assert len(breaks) == 1
    assert 14 < breaks[0].at < 15.1
    assert breaks[0].at + breaks[0].seconds < 18
    assert breaks[0].message.startswith("cannot be read for ")
    heard = sum(len(one) for _, one in chunks) / RATE
    assert heard == pytest.approx(30 - breaks[0].seconds)
    for position, found in chunks:
        frame = round(position * RATE)
        plain = samples[frame : frame + len(found), 0]
        np.testing.assert_allclose(found, plain, atol=1 / 2**15)


def test_a_flac_file_that_was_cut_short_is_read_up_to_there(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.flac", 30)
    chunks, breaks = pieces_of(damaged(path, 0.6, 1, b""))
    heard = sum(len(one) for _, one in chunks) / RATE
    assert 17 < heard < 18.1
    assert [one.at for one in breaks] == [heard]
    assert breaks[0].seconds == pytest.approx(30 - heard)
    assert breaks[0].message.startswith("cannot be read to the end: ")


@pytest.mark.parametrize("ending", ["ogg", "opus"])
def test_pages_that_are_gone_from_ogg_are_missing_and_the_rest_is_where_it_was(
    tmp_path: Path, ending: str
) -> None:
    path = recorded(tmp_path / f"a.{ending}", 30, 48_000)
    samples = read(path)
    chunks, breaks = pieces_of(damaged(path, 0.5, 0.53))
    assert len([one for one in breaks if one.message]) == 1
    assert 13 < breaks[0].at < 15.5
    assert breaks[0].seconds < 4
    for position, found in chunks:
        frame, begin = round(position * 48_000), 5000 if position > 15 else 0
        sure = len(found) - 2000  # the last packet before what is gone may be half of one
        plain = samples[frame + begin : frame + sure]
        np.testing.assert_allclose(found[begin : begin + len(plain)], plain, atol=1e-3)


@pytest.mark.parametrize("ending", ["wav", "flac", "opus"])
def test_small_portions_give_the_same_chunks_and_breaks(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = damaged(recorded(tmp_path / f"a.{ending}", 20, 48_000, channels=2), 0.5, 0.53)
    chunks, breaks = pieces_of(path)
    monkeypatch.setattr(read_module, "MAX_READ_VALUES", 20_001)
    found, found_breaks = pieces_of(path)
    assert [one[:3] for one in found_breaks] == [one[:3] for one in breaks]
    whole, same = (np.concatenate([one for _, one in some]) for some in (chunks, found))
    np.testing.assert_array_equal(whole, same)


def test_a_cut_of_what_is_broken_is_refused(tmp_path: Path) -> None:
    path = damaged(recorded(tmp_path / "a.flac", 30), 0.5, 0.53)
    with pytest.raises(UsageError, match=r"a\.flac: cannot be read from 14.0 s on"):
        cut(open_recording([path]), 14, 3)


def test_what_is_not_read_to_the_end_leaves_no_thread_behind(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.wav", 20)
    before = threading.active_count()
    chunks = read_blocks(path, size=0.1)
    next(chunks)
    chunks.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
    with pytest.raises(UsageError, match=r"b\.wav: cannot be read"):
        next(read_blocks(tmp_path / "b.wav"))


# --- Streams at another sample rate --------------------------------------------------------------


@pytest.mark.parametrize("rate", [8_000, 16_000, 22_050, 44_100, 48_000])
def test_a_stream_equals_the_whole_file_resampled_at_once(tmp_path: Path, rate: int) -> None:
    path = recorded(tmp_path / "a.wav", 23.456, rate, channels=2)
    pieces = list(stream_mono(path, 16_000))
    assert len(pieces) > 2
    assert max(map(len, pieces)) <= 11 * 16_000
    np.testing.assert_array_equal(
        np.concatenate(pieces), resample(read_mono(path).samples, rate, 16_000)
    )


def test_damage_is_silent_in_a_stream_and_the_rest_is_where_it_was(tmp_path: Path) -> None:
    path = write(tmp_path / "a.flac", samples := noise(30))
    breaks: list[Break] = []
    pieces = stream_mono(damaged(path, 0.5, 0.53), RATE, broken=breaks.append)
    found = np.concatenate(list(pieces))
    assert len(found) == len(samples)
    [hole] = breaks
    low, high = round(hole.at * RATE), round((hole.at + hole.seconds) * RATE)
    assert not found[low:high].any()
    for part in (slice(0, low), slice(high, None)):
        np.testing.assert_allclose(found[part], samples[part, 0], atol=1 / 2**15)


def test_a_lost_end_is_silent_in_a_stream(tmp_path: Path) -> None:
    path = damaged(recorded(tmp_path / "a.flac", 60), 0.3, 1, b"")
    breaks: list[Break] = []
    pieces = list(stream_mono(path, 16_000, broken=breaks.append))
    assert sum(map(len, pieces)) == 60 * 16_000
    assert max(map(len, pieces)) <= 11 * 16_000
    assert not np.concatenate(pieces)[round(breaks[0].at * 16_000) + 50 :].any()


def test_a_stream_of_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_text("no audio")
    with pytest.raises(UsageError, match=r"a\.wav: cannot be read"):
        next(stream_mono(tmp_path / "a.wav", 16_000))
