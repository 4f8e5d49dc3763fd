"""Soundscapes as files: timetables in, sound, labels, truth and practice folders out."""

from __future__ import annotations

import csv
import errno
import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
from click.testing import CliRunner

from earwitness.cli.main import group
from earwitness.errors import EarwitnessWarning, InputError, UsageError
from earwitness.soundscapes.mix import Mixer
from earwitness.soundscapes.scene import Scene, SoundEvent
from earwitness.soundscapes.sources import SOURCES
from earwitness.soundscapes.timetable import TIMETABLE_PRESETS, find_timetable, read_timetable
from earwitness.soundscapes.truth import Truth
from earwitness.soundscapes.write import labels_csv, practice_write, soundscape, soundscape_write
from helpers.random_scenes import make_random_day

RATE = 16_000
SHORT = "hour: 16\nsources:\n  wind: {share: 0.5}\n  dog: {events: {3-6: 1}}\n"


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.fixture
def timetable(tmp_path: Path) -> Path:
    path = tmp_path / "short.yaml"
    path.write_text(SHORT, encoding="utf-8")
    return path


@pytest.mark.parametrize("preset", TIMETABLE_PRESETS)
def test_presets_are_whole_days_of_many_sources(preset: str) -> None:
    scene = soundscape(preset)
    truth = Truth(scene.events, scene.seconds)
    assert len(truth.sources) >= 16
    assert truth.sources[-1] == "background"
    assert set(truth.sources[:-1]) <= set(SOURCES)


def test_an_example_timetable_says_what_it_means(root: Path) -> None:
    found = find_timetable(root / "examples" / "soundscape" / "harbour.yaml")
    rows = {row.source: row for row in found.rows}
    assert (found.hour, found.seed, found.background) == (60, 3, -54)
    assert rows["brook"].shares == (0.5,) * 24
    assert [h for h, share in enumerate(rows["wind"].shares) if share] == list(range(9, 18))
    assert rows["crow"].seconds == (4, 10)
    assert rows["bells"].strikes
    assert sum(rows["train"].events) == 10


def test_everything_wrong_with_a_timetable_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(
        "sed: 1\nhour: 0\nsources:\n  wind: {share: {25: 1, 3-4: 2}}\n  dog: {events: [1, 2]}\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError) as told:
        read_timetable(path)
    text = str(told.value)
    for line in (
        'wrong.yaml:1: sed: unknown field — did you mean "seed"?',
        "wrong.yaml:2: hour: must be from 1 to 3600, got 0",
        'sources.wind.share.25: must be an hour from 0 to 23, or a range such as 22-5, got "25"',
        "sources.wind.share.3-4: must be from 0 to 1, got 2",
        "wrong.yaml:5: sources.dog.events: must have 24 numbers, got 2",
    ):
        assert line in text


def test_rows_that_contradict_themselves_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    rows = ["wnd: {share: 1}", "dog: {}", "car: {share: 1, events: 1}"]
    rows += ["owl: {events: 1, seconds: [9, 3]}", "rain: {events: 1, strikes: true}"]
    path.write_text("sources:\n" + "".join(f"  {row}\n" for row in rows), encoding="utf-8")
    with pytest.raises(InputError, match="5 problems; nothing was made") as told:
        read_timetable(path)
    for line in (
        'wrong.yaml:2: sources.wnd: unknown source "wnd" — did you mean "wind"?',
        "wrong.yaml:3: sources.dog: must have either share or events",
        "wrong.yaml:4: sources.car: must have either share or events",
        "wrong.yaml:5: sources.owl.seconds: must be the shortest, then the longest event",
        "wrong.yaml:6: sources.rain.strikes: rain is a continuous source and cannot strike",
    ):
        assert line in str(told.value)


def test_a_timetable_without_sources_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("sources: {}\n")
    with pytest.raises(InputError, match="sources: must not be empty"):
        read_timetable(tmp_path / "x.yaml")
    with pytest.raises(
        UsageError, match='vilage: neither a file nor a preset — did you mean "village"'
    ):
        soundscape("vilage")


def test_labels_and_truth_lie_beside_the_sound(timetable: Path, tmp_path: Path) -> None:
    scene = soundscape(timetable, seed=2, rate=RATE)
    written = soundscape_write(scene, tmp_path / "day.wav")
    assert [one.name for one in written] == ["day.wav", "day.labels.csv", "day.truth.json"]
    rows = table(written[1])
    assert [row["source"] for row in rows] == [event.source for event in scene.events]
    assert float(rows[0]["start"]) == pytest.approx(scene.events[0].start, abs=1e-3)
    truth = json.loads(written[2].read_text())
    assert truth["seed"] == 2
    assert len(truth["hours"]) == 24
    assert all(sum(hour.values()) == pytest.approx(1, abs=1e-4) for hour in truth["hours"])
    whole = sum(float(r["end"]) - float(r["start"]) for r in rows if r["source"] == "wind")
    assert truth["sources"]["wind"] == pytest.approx(whole, abs=0.1)


@pytest.mark.parametrize("form", ["flac", "wav", "mp3", "ogg"])
def test_a_day_is_written_in_any_form(timetable: Path, tmp_path: Path, form: str) -> None:
    scene = soundscape(timetable, hours=3, rate=RATE)
    soundscape_write(scene, tmp_path / f"day.{form}")
    samples, rate = soundfile.read(tmp_path / f"day.{form}")
    expected = Mixer(scene).sound(0, 48)
    assert rate == 16_000
    if form in ("flac", "wav"):
        assert len(samples) == len(expected)
        assert np.abs(samples - expected).max() < 1e-4
    else:
        assert len(samples) == pytest.approx(len(expected), rel=0.01)
    assert not list(tmp_path.glob(".day*"))


def test_hours_are_parted_by_silences_that_no_clock_counts(timetable: Path, tmp_path: Path) -> None:
    scene = soundscape(timetable, hours=3, rate=RATE)
    soundscape_write(scene, tmp_path / "day.flac", hour_gap=5)
    samples, _ = soundfile.read(tmp_path / "day.flac")
    assert len(samples) == (48 + 2 * 5) * RATE
    whole = Mixer(scene).sound(0, 48)
    for hour in range(3):
        first = hour * 21 * RATE
        assert not samples[first + 16 * RATE : first + 21 * RATE].any()
        mine = whole[hour * 16 * RATE : (hour + 1) * 16 * RATE]
        assert np.abs(samples[first : first + 16 * RATE] - mine).max() < 1e-4


def test_labels_of_parted_hours_lie_where_the_sound_is(timetable: Path, tmp_path: Path) -> None:
    dogs = "dog: {events: {0-3: 1}, seconds: [4, 8]}"
    timetable.write_text(f"hour: 16\nbackground: -100\nsources:\n  {dogs}\n")
    scene = soundscape(timetable, hours=3, rate=RATE)
    written = soundscape_write(scene, tmp_path / "new" / "folder" / "day.flac", hour_gap=5)
    samples, _ = soundfile.read(written[0])
    rows = table(written[1])
    assert list(rows[0]) == ["start", "end", "source", "clock_start", "clock_end"]
    heard = np.zeros(len(samples), np.bool_)
    for row, event in zip(rows, scene.events, strict=True):
        clock = [float(row[name]) for name in ("clock_start", "clock_end")]
        assert clock == pytest.approx([event.start, event.end], abs=1e-3)
        first, last = (round(float(row[name]) * RATE) for name in ("start", "end"))
        assert np.abs(samples[first:last]).max() > 0.01
        heard[first:last] = True
    assert np.abs(samples[~heard]).max() < 0.001
    assert json.loads(written[2].read_text())["hour_gap"] == 5


@pytest.mark.parametrize(
    ("start", "end", "told"),
    [
        (1, 15, "1.000,15.000,wind,1.000,15.000"),
        (16, 32, "21.000,37.000,wind,16.000,32.000"),  # just the second hour
        (8, 40, "8.000,50.000,wind,8.000,40.000"),  # over two silences
        (33, 48, "43.000,58.000,wind,33.000,48.000"),
    ],
)
def test_labels_at_the_ends_of_hours_touch_no_silence(start: float, end: float, told: str) -> None:
    scene = Scene("three hours", (SoundEvent(start, end, "wind"),), 48.0, hour=16.0)
    assert labels_csv(scene, 5.0).splitlines()[1] == told
    assert labels_csv(scene).splitlines()[1] == f"{start:.3f},{end:.3f},wind"


def test_only_what_is_wrong_is_told() -> None:
    with pytest.raises(UsageError, match=r"^hours must be at least 1, got 0$"):
        soundscape("village", hours=0)
    with pytest.raises(
        UsageError, match=r"^the sample rate must be at least 16,000 Hz .*, got 8,000$"
    ):
        soundscape("village", rate=8_000)


def test_own_clips_are_heard_where_the_timetable_has_them(tmp_path: Path) -> None:
    (tmp_path / "clips" / "whistle").mkdir(parents=True)
    tone = 0.5 * np.sin(2 * np.pi * 1000 * np.arange(2 * 44_100) / 44_100)
    soundfile.write(tmp_path / "clips" / "whistle" / "a.wav", np.stack([tone, tone], 1), 44_100)
    path = tmp_path / "own.yaml"
    path.write_text("hour: 60\nbackground: -100\nclips: clips\nsources: {whistle: {share: 0.3}}\n")
    scene = soundscape(path, hours=2, rate=RATE)
    event = scene.events[0]
    heard = Mixer(scene).sound(event.start + 0.1, 1.0)
    spectrum = np.abs(np.fft.rfft(heard))
    assert abs(int(spectrum.argmax()) - 1000) <= 1
    assert {one.source for one in scene.events} == {"whistle"}


def test_clips_that_no_source_is_called_after_are_told(tmp_path: Path) -> None:
    (tmp_path / "clips" / "frog").mkdir(parents=True)
    soundfile.write(tmp_path / "clips" / "frog" / "a.wav", np.zeros(44_100), 44_100)
    with pytest.warns(EarwitnessWarning, match="clips of frog are not used"):
        soundscape("village", clips=tmp_path / "clips")


def test_folders_of_clips_that_hold_none_are_told(tmp_path: Path) -> None:
    (tmp_path / "clips" / "empty").mkdir(parents=True)
    (tmp_path / "clips" / "broken").mkdir()
    (tmp_path / "clips" / "broken" / "a.wav").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"(?s)a\.wav: cannot be read.*empty: contains no clips"):
        soundscape("village", clips=tmp_path / "clips")
    with pytest.raises(UsageError, match="has no subfolders"):
        soundscape("village", clips=tmp_path / "clips" / "empty")


def test_a_practice_folder_holds_a_day_and_seven_skims(tmp_path: Path) -> None:
    scene = make_random_day(0, 11, rate=RATE, hour=120)
    made = practice_write(scene, tmp_path / "X")
    names = {one.name for one in (tmp_path / "X").iterdir()}
    skims = {f"{n}.{end}" for n in range(1, 8) for end in ("flac", "csv")}
    assert names == skims | {
        "full-length.flac",
        "labels.csv",
        "truth.json",
        "practice.json",
        "reasons.md",
    }
    told = json.loads((tmp_path / "X" / "practice.json").read_text())["skims"]
    for number, (one, record) in enumerate(zip(made, told, strict=True), 1):
        assert soundfile.info(tmp_path / "X" / f"{number}.flac").duration == 63
        rows = table(tmp_path / "X" / f"{number}.csv")
        assert [[float(r["start"]), float(r["seconds"])] for r in rows] == record["picks"]
        assert record["tc"] == pytest.approx(one.tc, abs=1e-6)
        assert one.reason in (tmp_path / "X" / "reasons.md").read_text()
    whole, _ = soundfile.read(tmp_path / "X" / "full-length.flac")
    skim, _ = soundfile.read(tmp_path / "X" / "5.flac")
    first = round(made[4].skim.picks[0].start * RATE)
    assert np.abs(skim[1000 : 4 * RATE] - whole[first + 1000 : first + 4 * RATE]).max() < 1e-3


def test_days_that_are_too_short_to_practise_with_are_refused(
    timetable: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="at least 12 hours"):
        practice_write(soundscape(timetable, hours=3), tmp_path / "X")


def test_the_command_writes_a_day(timetable: Path, tmp_path: Path) -> None:
    output = tmp_path / "day.flac"
    command = ["soundscape", str(timetable), "-o", str(output), "--hours", "2", "--rate", "16000"]
    done = CliRunner().invoke(group, command)
    assert done.exit_code == 0, done.output
    assert "short: 2 events of 1 source" in done.output
    assert soundfile.info(output).duration == 32
    again = CliRunner().invoke(group, [*command[:2], "-o", str(tmp_path / "x.flac"), *command[4:]])
    assert again.exit_code == 0
    assert output.read_bytes() == (tmp_path / "x.flac").read_bytes()


def test_the_command_shows_presets_and_refuses_what_it_cannot_write(tmp_path: Path) -> None:
    done = CliRunner().invoke(group, ["soundscape", "city", "-o", str(tmp_path / "mine.yaml")])
    assert done.exit_code == 0, done.output
    assert read_timetable(tmp_path / "mine.yaml").rows == find_timetable("city").rows
    for arguments, told in (
        (["village"], "no output — set --output FILE or --practice FOLDER"),
        (["mine.yaml", "-o", str(tmp_path / "x.yaml")], "only presets can be written: village"),
        (["village", "-o", str(tmp_path / "x.aac")], "unknown audio format"),
        (["village", "-o", str(tmp_path / "mine.yaml" / "x.wav")], "mine.yaml: File exists"),
        (["village", "-o", str(tmp_path / "x.wav"), "--hours", "0"], "hours must be at least 1"),
        (["village", "-o", str(tmp_path / "x.wav"), "--rate", "8000"], "16,000 Hz"),
        (["village", "-o", str(tmp_path / "x.wav"), "--seed", "-1"], "number from 0 to 2^64"),
        (["village", "-o", str(tmp_path / "x.wav"), "--hour-gap", "-5"], "from 0 to 60 s, got -5"),
        (["village", "-o", str(tmp_path / "x.wav"), "--hour-gap", "nan"], "from 0 to 60 s"),
    ):
        done = CliRunner().invoke(group, ["soundscape", *arguments])
        assert isinstance(done.exception, UsageError)
        assert told in str(done.exception)


def test_a_full_disk_leaves_neither_sound_nor_labels(
    timetable: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(path: Path, *_: object, **__: object) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "new").mkdir()
    monkeypatch.setattr(Path, "write_text", fails)
    scene = soundscape(timetable, seed=2, rate=RATE)
    with pytest.raises(UsageError, match=r"day\.labels\.csv: cannot be written: No space left"):
        soundscape_write(scene, tmp_path / "new" / "day.wav")
    assert list((tmp_path / "new").iterdir()) == []
