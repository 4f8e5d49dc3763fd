"""Clips: exact samples, rule against true speech, covariates, names, and what is refused."""

from __future__ import annotations

import csv
import errno
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar
from unicodedata import normalize

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from earwitness.audio import files
from earwitness.errors import EarwitnessWarning, InputError, UsageError
from earwitness.material.candidates import TimeIndex
from earwitness.material.clip_audio import (
    ClipReader,
    estimate_snr,
    find_peaks,
    measure_level,
)
from earwitness.material.clips import audio_clips, clips_report
from earwitness.material.sources import clean_name, list_recordings
from earwitness.report.text import render_text
from earwitness.speech.vad import cut_frames
from earwitness.studies.file.material import read_clips
from helpers.flite import read_lecture, speak_chapters, write_speech

RATE = 8_000
Spans = list[tuple[float, float]]


@dataclass(frozen=True)
class LevelDetector:
    """Detector of frames that are not silent."""

    name: ClassVar[str] = "level"
    step_samples: ClassVar[int] = 160

    def stream_probabilities(self, pieces: Iterable[Any]) -> Iterator[Any]:
        for frames in cut_frames(pieces, self.step_samples):
            yield (np.abs(frames).max(axis=1) > 0.1).astype(np.float32)


def tone_samples(spans: Spans, seconds: float, channels: int = 1) -> NDArray[np.float64]:
    """A tone in the spans, and faint noise."""
    times = np.arange(round(seconds * RATE)) / RATE
    loud = np.zeros(len(times), bool)
    for start, end in spans:
        loud |= (times >= start) & (times < end)
    noise = np.random.default_rng(7).uniform(-0.01, 0.01, (len(times), channels))
    return noise + (0.5 * np.sin(2 * np.pi * 440 * times) * loud)[:, None]


SPANS: Spans = [(1.0, 2.5), (3.0, 4.75), (8.0, 11.5), (12.5, 16.0), (20.0, 23.25)]


def write_tones(
    path: Path, subtype: str = "PCM_16", channels: int = 1, seconds: float = 25
) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, tone_samples(SPANS, seconds, channels), RATE, subtype=subtype)
    return path


def write_spans(path: Path, *recordings: str) -> Path:
    lines = [f"{name},{a},{b}" for name in recordings for a, b in SPANS]
    path.write_text("\n".join(["recording,start,end", *lines]), encoding="utf-8")
    return path


def table_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "clips.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# --- Samples -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ending", "subtype", "expected"),
    [
        ("wav", "PCM_16", "PCM_16"),
        ("wav", "PCM_U8", "PCM_U8"),
        ("wav", "PCM_24", "PCM_24"),
        ("wav", "PCM_32", "PCM_32"),
        ("wav", "FLOAT", "FLOAT"),
        ("wav", "DOUBLE", "DOUBLE"),
        ("flac", "PCM_24", "PCM_24"),
        ("wav", "ULAW", "PCM_16"),
        ("ogg", "VORBIS", "FLOAT"),
    ],
)
def test_samples_are_those_of_the_recording(
    tmp_path: Path, ending: str, subtype: str, expected: str
) -> None:
    path = write_tones(tmp_path / f"talk.{ending}", subtype, channels=2)
    run = audio_clips(path, tmp_path / "out", annotation=write_spans(tmp_path / "a.csv", "talk"))
    kind = "float64" if subtype == "DOUBLE" else "float32" if expected == "FLOAT" else "int32"
    whole, _ = soundfile.read(path, dtype=kind, always_2d=True)
    assert len(run.clips) == 4
    for clip in run.clips:
        file = tmp_path / "out" / "audio" / f"{clip.name}.wav"
        info = soundfile.info(file)
        assert (info.subtype, info.samplerate, info.channels) == (expected, RATE, 2)
        samples, _ = soundfile.read(file, dtype=kind, always_2d=True)
        first = round(clip.start * RATE)
        assert len(samples) == round(clip.seconds * RATE)
        expected_samples = whole[first : first + len(samples)]
        if subtype == "VORBIS":  # another decoder
            assert np.allclose(samples, expected_samples, atol=1e-4)
        else:
            assert np.array_equal(samples, expected_samples)


def test_a_file_with_a_wrong_header_keeps_its_samples(tmp_path: Path) -> None:
    path = write_tones(tmp_path / "talk.wav", "PCM_24")
    whole, _ = soundfile.read(path, dtype="int32", always_2d=True)
    content = path.read_bytes()
    at = content.index(b"data") + 4
    path.write_bytes(content[:at] + b"\xff\xff\xff\xff" + content[at + 4 :])
    reader = ClipReader(path)
    assert reader.subtype == "PCM_24"
    assert np.array_equal(reader.read(8_000, 4_000), whole[8_000:12_000])
    with pytest.raises(UsageError, match=r"ends unexpectedly at 25\.00 s"):
        reader.read(199_000, 4_000)
    reader.close()


def test_formats_without_exact_seeking_are_read_from_their_start(tmp_path: Path) -> None:
    import av

    samples = tone_samples(SPANS, 25)[:, 0].astype(np.float32)
    path = tmp_path / "talk.m4a"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=RATE)
        stream.layout = "mono"
        frame = av.AudioFrame.from_ndarray(samples[None], format="fltp", layout="mono")
        frame.sample_rate = RATE
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    reader = ClipReader(path)
    whole = reader.read(0, 160_000)
    reader.close()
    reader = ClipReader(path)
    assert np.array_equal(reader.read(20_000, 8_000), whole[20_000:28_000])
    assert np.array_equal(reader.read(100_000, 8_000), whole[100_000:108_000])
    reader.close()


def test_level_snr_and_peaks() -> None:
    rng = np.random.default_rng(0)
    speech = rng.normal(0, 0.1, (RATE, 1))
    noise = rng.normal(0, 0.01, (2 * RATE, 1))
    noise[RATE // 2 : RATE // 2 + RATE] += speech
    assert estimate_snr(noise, RATE, [(0.5, 1.5)]) == pytest.approx(20, abs=0.5)
    assert estimate_snr(np.ones((RATE, 1)), RATE, [(0, 1)]) == 80
    assert estimate_snr(np.zeros((RATE, 1)), RATE, [(0, 0.5)]) == -20
    assert measure_level(np.full((9, 2), -0.5)) == -6.02
    assert find_peaks(np.array([[0.1, -0.2], [0.5, 0], [-1, 0.3], [0, 0]]), 2) == (50, 100)


# --- Rule ----------------------------------------------------------------------------------------


def test_clips_keep_the_rule_against_the_true_times_of_words(tmp_path: Path) -> None:
    sentences = [sentence for chapter in read_lecture()[:2] for sentence in chapter]
    spoken = speak_chapters([[one] for one in sentences[:14]])
    write_speech(tmp_path / "talk.wav", spoken)
    words = [(word.start, word.end) for word in spoken.words]
    rows = [f"talk,{a},{b}" for a, b in words]
    (tmp_path / "words.csv").write_text("\n".join(["recording,start,end", *rows]))
    # annotated words are exact; detectors are not
    for annotation, slack in ((tmp_path / "words.csv", 0.001), (None, 0.1)):
        run = audio_clips(tmp_path / "talk.wav", tmp_path / f"out{slack}", annotation=annotation)
        assert len(run.clips) > 3
        for clip in run.clips:
            inside = [(a, b) for a, b in words if b > clip.start and a < clip.end]
            assert 4 - 1e-3 <= clip.seconds <= 5 + 1e-3
            assert inside[0][0] - clip.start >= 0.25 - slack
            assert clip.end - inside[-1][1] >= 0.25 - slack
            assert sum(b - a for a, b in inside) >= 3 - 2 * slack
        assert all(b.start >= a.end for a, b in pairwise(run.clips))


def test_detected_clips_stay_clear_of_speech_and_options_limit_them(tmp_path: Path) -> None:
    write_tones(tmp_path / "a.wav")
    every = audio_clips(tmp_path / "a.wav", tmp_path / "all", detector=LevelDetector())
    assert [round(clip.speech, 1) for clip in every.clips] == [3.2, 3.5, 3.5, 3.2]
    far = audio_clips(
        tmp_path / "a.wav", tmp_path / "far", detector=LevelDetector(), gap=3.0, silence=0.3
    )
    assert [round(clip.start) for clip in far.clips] == [1, 12, 20]
    assert all(b.start - a.end >= 3 for a, b in pairwise(far.clips))
    few = audio_clips(
        tmp_path / "a.wav", tmp_path / "few", detector=LevelDetector(), max_per_recording=1
    )
    assert len(few.clips) == 1
    with pytest.raises(UsageError, match="decrease min_speech or silence"):
        audio_clips(tmp_path / "a.wav", tmp_path / "no", detector=LevelDetector(), silence=0.9)
    assert not (tmp_path / "no").exists()


# --- Names, covariates and tables ----------------------------------------------------------------


def test_covariates_come_from_names_tables_and_annotations(tmp_path: Path) -> None:
    for name in ("S01_kitchen", "S21_Küche 2"):
        write_tones(tmp_path / "rec" / f"{name}.wav")
    (tmp_path / "recordings.csv").write_text("recording,device\nS01_kitchen.wav,a\nS21_Küche 2,b\n")
    lines = ["recording,start,end,speaker,topic", "S01_kitchen,8,11.5,P1,food"]
    lines += ["S21_Küche 2,1,4.75,P1,food", "S21_Küche 2,3,4,P2,car"]
    (tmp_path / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    options: dict[str, Any] = {
        "annotation": tmp_path / "a.csv",
        "pattern": "{session}_{location}",
        "covariates": [tmp_path / "recordings.csv", tmp_path / "speakers.csv"],
    }
    (tmp_path / "speakers.csv").write_text("speaker,sex\nP1,M\n", encoding="utf-8")
    with pytest.raises(InputError, match='no row for "P2"'):
        audio_clips(tmp_path / "rec", tmp_path / "out", **options)
    (tmp_path / "speakers.csv").write_text("speaker,sex\nP1,M\nP2,F\n", encoding="utf-8")
    audio_clips(tmp_path / "rec", tmp_path / "out", **options)
    table = table_of(tmp_path / "out")
    keys = ("name", "session", "location", "device", "speaker", "topic", "sex", "speech")
    assert [tuple(row[key] for key in keys) for row in table] == [
        ("S01_kitchen_0007.75", "S01", "kitchen", "a", "P1", "food", "M", "3.5"),
        ("S21_Küche_2_0000.75", "S21", "Küche 2", "b", "P1+P2", "car+food", "F+M", "3.75"),
    ]
    material = read_clips(tmp_path / "out" / "clips.csv", None)
    assert material.problems == []
    assert [clip.seconds for clip in material.clips] == [4, 4.25]
    files = sorted(one.name for one in (tmp_path / "out" / "audio").iterdir())
    assert files == [f"{row['name']}.wav" for row in table]


def test_recordings_of_the_same_name_are_told_by_their_folders(tmp_path: Path) -> None:
    for name in ("x/talk.wav", "y/talk.wav"):
        write_tones(tmp_path / "rec" / name)
    (tmp_path / "rec" / "notes.txt").write_text("none")
    with pytest.warns(EarwitnessWarning, match=r"not audio: notes\.txt"):
        found = list_recordings([tmp_path / "rec", tmp_path / "rec" / "x" / "talk.wav"])
    (tmp_path / "rec" / "notes.txt").unlink()
    assert [(one.name, one.prefix) for one in found] == [
        ("x/talk", "x_talk"),
        ("y/talk", "y_talk"),
    ]
    assert clean_name("../a:b?.wav") == "_a_b_.wav"
    write_tones(tmp_path / "rec" / "x_talk.wav")
    prefixes = [one.prefix for one in list_recordings([tmp_path / "rec"])]
    assert len({*prefixes}) == 3


def test_names_are_found_in_any_unicode_form_and_have_a_limit(tmp_path: Path) -> None:
    composed, divided = (normalize(form, "Küche") for form in ("NFC", "NFD"))
    assert clean_name(divided) == clean_name(composed) == composed
    assert clean_name("あ" * 100) == "あ" * 60  # 180 bytes
    for file, table in ((composed, divided), (divided, composed)):
        folder = tmp_path / f"{len(file)}"
        write_tones(folder / "rec" / f"{file}_1.wav")
        lines = [f"{table}_1,{a},{b},{table}" for a, b in SPANS]
        for name, rows in (
            ("spans", ["recording,start,end,speaker", *lines]),
            ("rooms", ["recording,room", f"{table}_1,hall"]),
            ("speakers", ["speaker,sex", f"{file},F"]),
        ):
            (folder / f"{name}.csv").write_text("\n".join(rows), encoding="utf-8")
        run = audio_clips(
            folder / "rec",
            folder / "out",
            annotation=folder / "spans.csv",
            covariates=[folder / "rooms.csv", folder / "speakers.csv"],
            pattern=f"{table}_{{take}}",
        )
        expected = {"take": "1", "room": "hall", "speaker": composed, "sex": "F"}
        assert [dict(clip.covariates) for clip in run.clips] == [expected] * len(run.clips)


@given(
    spans=st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=20),
    start=st.integers(0, 30),
    seconds=st.integers(1, 9),
)
def test_intervals_of_a_part_are_those_that_overlap_with_it(
    spans: list[tuple[int, int]], start: int, seconds: int
) -> None:
    intervals = sorted((first, first + length) for first, length in spans)
    found = [n for n, (a, b) in enumerate(intervals) if b > start and a < start + seconds]
    assert TimeIndex(intervals).find(start, start + seconds) == found


def test_workers_and_one_process_write_the_same(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write_tones(tmp_path / "rec" / f"{name}.wav")
    spans = write_spans(tmp_path / "spans.csv", "a", "b", "c")
    told: list[tuple[int, int | None, int]] = []
    one = audio_clips(
        tmp_path / "rec",
        tmp_path / "one",
        annotation=spans,
        progress=lambda *state: told.append(state),
    )
    audio_clips(tmp_path / "rec", tmp_path / "two", annotation=spans, jobs=2)
    assert (tmp_path / "one" / "clips.csv").read_bytes() == (
        tmp_path / "two" / "clips.csv"
    ).read_bytes()
    assert told == [(25, 75, 4), (50, 75, 8), (75, 75, 12)]
    assert "12 clips from 3 recordings" in render_text(clips_report(one))


def test_an_interrupted_run_leaves_nothing(tmp_path: Path) -> None:
    write_tones(tmp_path / "talk.wav")
    spans = write_spans(tmp_path / "spans.csv", "talk")
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    handlers = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]

    def interrupt(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    try:
        with pytest.raises(KeyboardInterrupt):
            audio_clips(
                tmp_path / "talk.wav", tmp_path / "out", annotation=spans, progress=interrupt
            )
        assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == handlers
    finally:
        signal.signal(signal.SIGINT, before)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["spans.csv", "talk.wav"]


def test_a_count_keeps_a_balanced_part_of_the_clips(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_tones(tmp_path / "rec" / f"{name}.wav")
    run = audio_clips(
        tmp_path / "rec",
        tmp_path / "out",
        annotation=write_spans(tmp_path / "spans.csv", "a", "b"),
        count=4,
        balance=["recording"],
        numbers=["speech"],
    )
    assert run.found == 8
    assert [clip.recording for clip in run.clips] == ["a", "a", "b", "b"]
    assert len(list((tmp_path / "out" / "audio").iterdir())) == 4
    assert "mean" in render_text(clips_report(run))
    with pytest.warns(EarwitnessWarning, match="9 clips were requested, but 8 were found"):
        run = audio_clips(
            tmp_path / "rec", tmp_path / "all", annotation=tmp_path / "spans.csv", count=9
        )
    assert len(run.clips) == 8


# --- Refusals ------------------------------------------------------------------------------------


def test_problems_of_all_recordings_are_listed_or_skipped(tmp_path: Path) -> None:
    write_tones(tmp_path / "rec" / "good.wav")
    (tmp_path / "rec" / "empty.wav").touch()
    (tmp_path / "rec" / "broken.flac").write_bytes(b"fLaC nothing")
    write_tones(tmp_path / "rec" / "other.wav")
    write_tones(tmp_path / "rec" / "short.wav", seconds=3)
    spans = write_spans(tmp_path / "spans.csv", "good", "empty", "broken", "short")
    with pytest.raises(InputError, match="4 problems; nothing was written") as error:
        audio_clips(tmp_path / "rec", tmp_path / "out", annotation=spans)
    assert "is empty" in str(error.value)
    assert "has no annotation" in str(error.value)
    assert "lasts 3.0 s, but its annotation has speech at 23.2 s" in str(error.value)
    assert not (tmp_path / "out").exists()
    run = audio_clips(tmp_path / "rec", tmp_path / "out", annotation=spans, on_error="skip")
    assert run.recordings == ("good",)
    assert len(run.skipped) == 4


def test_a_recording_that_cannot_be_read_to_its_end_is_a_problem(tmp_path: Path) -> None:
    path = write_tones(tmp_path / "talk.flac")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(InputError, match="1 problem; nothing was written"):
        audio_clips(path, tmp_path / "out", annotation=write_spans(tmp_path / "a.csv", "talk"))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.csv", "talk.flac"]


def test_samples_that_are_not_numbers_are_a_problem_of_their_recording(tmp_path: Path) -> None:
    write_tones(tmp_path / "rec" / "good.wav")
    samples = tone_samples(SPANS, 25)
    samples[round(21 * RATE)] = np.nan
    soundfile.write(tmp_path / "rec" / "bad.wav", samples, RATE, subtype="FLOAT")
    spans = write_spans(tmp_path / "spans.csv", "good", "bad")
    run = audio_clips(tmp_path / "rec", tmp_path / "out", annotation=spans, on_error="skip")
    assert [one.message for one in run.skipped] == ["has a sample that is not a number at 21.00 s"]
    written = {one.stem for one in (tmp_path / "out" / "audio").iterdir()}
    assert written == {clip.name for clip in run.clips}
    assert run.recordings == ("good",)


def test_a_full_disk_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write_wav", fill)
    path, table = write_tones(tmp_path / "talk.wav"), write_spans(tmp_path / "a.csv", "talk")
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        audio_clips(path, tmp_path / "out", annotation=table)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pattern": "session"}, "has no placeholder"),
        ({"pattern": "{a}{a}"}, 'has the placeholder "a" twice'),
        ({"pattern": "{1}"}, 'placeholder "1" that does not start with a letter'),
        ({"balance": ["session"]}, "set count"),
        ({"count": 2, "balance": ["room"]}, 'the clips have no column "room"'),
        ({"max_per_recording": 0}, "max_per_recording must be 1 or more"),
        ({"guard": -1.0}, "guard must be 0 s or more"),
        ({"pattern": "{level}"}, "must not be named level, which are columns of the clip table"),
        (
            {"pattern": "{sex}", "covariates": "who.csv"},
            "named sex, which are known of speakers",
        ),
        ({"pattern": "{a}_{b}"}, 'does not match the pattern "{a}_{b}"'),
        ({"covariates": "none.csv"}, "cannot be read"),
        ({"covariates": ["spans.csv", "spans.csv"]}, "also has a column recording"),
        ({"covariates": "who.csv", "annotation": None}, "known from an annotation only"),
    ],
)
def test_wrong_options_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_tones(tmp_path / "talk.wav")
    write_spans(tmp_path / "spans.csv", "talk")
    (tmp_path / "who.csv").write_text("speaker,sex\nanna,F\n")
    with pytest.raises((UsageError, InputError), match=message):
        audio_clips("talk.wav", "out", **{"annotation": "spans.csv", **options})
    assert not (tmp_path / "out").exists()


def test_outputs_and_sources_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    path = write_tones(tmp_path / "talk.wav")
    before = path.read_bytes()
    with pytest.raises(UsageError, match="already exists"):
        audio_clips(path, path)
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(UsageError, match="already exists"):
        audio_clips(path, tmp_path / "link")
    assert path.read_bytes() == before
    with pytest.raises(UsageError, match="does not exist"):
        audio_clips(tmp_path / "none", tmp_path / "out")
    with pytest.raises(UsageError, match="is inside the source folder"):
        audio_clips(tmp_path, tmp_path / "out")
    (tmp_path / "bare").mkdir()
    with pytest.raises(UsageError, match="no audio files found"):
        audio_clips(tmp_path / "bare", tmp_path / "out")
