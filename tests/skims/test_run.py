"""Skims of recordings: what is made, what agrees, what is kept and what is refused."""

from __future__ import annotations

import builtins
import csv
import errno
import html
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
import soundfile

from earwitness.audio.signal import render
from earwitness.errors import InputError, UsageError
from earwitness.models import frames
from earwitness.models.blocks import READING_TIME_RATIO, read_recording_blocks
from earwitness.models.cache import CACHE_FOLDER_VARIABLE, Cache
from earwitness.recordings.cut import cut
from earwitness.report.text import render_text
from earwitness.scoring.score import score
from earwitness.skims import make, run
from earwitness.skims.options import EXTRAS, SkimOptions
from earwitness.skims.report import skimming_report
from earwitness.skims.run import skim
from earwitness.skims.types import SkimRun
from earwitness.soundscapes.mix import Mixer
from earwitness.soundscapes.scene import make_scene
from earwitness.soundscapes.timetable import Timetable, TimetableRow, spread_over_hours
from earwitness.speech.vad import CueDetector
from helpers.samples import many
from helpers.short_days import (
    BLOCK,
    HOUR,
    RATE,
    alike,
    asked,
    bare,
    frames_read,
    heard,
    sound,
    told,
    write,
    write_marked,
)

ALL = 24 * HOUR
NAMED = "20250722_000000.flac"


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterable[None]:
    """One cache for all tests that do not bring their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_FOLDER_VARIABLE, str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("day") / NAMED)


def starts(found: SkimRun) -> list[list[float]]:
    return [[pick.start for pick in one.skim.picks] for one in found.skims]


def table(path: Path, **form: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines(), **form))


def test_all_that_stands_beside_a_skim_says_the_same(day: Path, tmp_path: Path) -> None:
    place = tmp_path / "skim.flac"
    found = skim([day], place, asked(zone="Europe/Paris"))
    endings = ("flac", "json", "csv", "labels.txt", "files.labels.txt", "raven.txt", "svg", "html")
    assert found.written == tuple(str(tmp_path / f"skim.{one}") for one in endings)
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(f"skim.{e}" for e in endings)
    (one,) = found.skims
    picks, known = one.skim.picks, told(place)
    assert len(picks) == 6
    assert known["signature"] == one.signature
    assert known["measures"] == pytest.approx(dict(one.measures))
    assert known["recording"]["seconds"] == ALL
    assert [pick["start"] for pick in known["picks"]] == [pick.start for pick in picks]
    times = [datetime.fromisoformat(pick["time"]) for pick in known["picks"]]
    assert {str(time.utcoffset()) for time in times} == {"2:00:00"}
    assert [(t - times[0]).total_seconds() for t in times] == [
        pick.start - picks[0].start for pick in picks
    ]
    rows = table(place.with_suffix(".csv"))
    assert [float(row["start"]) for row in rows] == [pick.start for pick in picks]
    assert [row["time"] for row in rows] == [pick["time"] for pick in known["picks"]]
    labels = [line.split("\t") for line in (tmp_path / "skim.labels.txt").read_text().splitlines()]
    assert [float(line[0]) for line in labels] == [3.0 * n for n in range(6)]
    raven = table(tmp_path / "skim.raven.txt", delimiter="\t")
    assert [float(row["File Offset (s)"]) for row in raven] == [pick.start for pick in picks]
    assert {row["Begin File"] for row in raven} == {NAMED}
    page = html.unescape((tmp_path / "skim.html").read_text(encoding="utf-8"))
    assert all(f"{time:%H:%M:%S}" in page for time in times)
    assert "data:audio/flac;base64," in page
    svg = (tmp_path / "skim.svg").read_text(encoding="utf-8")
    recorded, _, _ = svg.partition(">Skim<")
    marks = [float(x) for x in re.findall(r'<line stroke="#c2540a"[^>]* x1="([\d.]+)"', recorded)]
    whole, mid = np.array(marks), np.array([pick.start + BLOCK / 2 for pick in picks])
    steps = np.diff(whole) / np.diff(mid)
    assert len(marks) == 6
    assert steps == pytest.approx(steps[0], rel=1e-3)
    assert "url(#missing)" not in svg


def test_what_is_heard_is_the_picks_with_fades_between_them(day: Path, tmp_path: Path) -> None:
    place = tmp_path / "skim.flac"
    (one,) = skim([day], place, bare()).skims
    pieces = [sound()[int(p.start * RATE) :][: int(BLOCK * RATE)] for p in one.skim.picks]
    assert len(heard(place)) == (6 * 4 - 5) * RATE == one.skim.seconds * RATE
    assert alike(heard(place), render(pieces, RATE, 1.0))


def test_lines_beside_skims_are_scored_with_the_same_numbers(day: Path, tmp_path: Path) -> None:
    wanted = asked(z=(0.0, 0.5, 1.0), methods=("pareto", "published", "random"))
    found = skim([day], tmp_path / "skims", wanted)
    folder = tmp_path / "skims"
    assert len(list(folder.glob("*.flac"))) == len(found.skims) == 7
    assert [course.method for course in found.courses] == ["pareto", "published"]
    lines = folder / "outputs.jsonl", folder / "recordings.jsonl"
    scored = score(*lines, block=BLOCK, period=HOUR, draws=10)
    for one in found.skims:
        values = scored.systems[one.system]
        for mine, theirs in (("tc", "tc"), ("sd", "sd"), ("coverage", "class_coverage")):
            assert values[theirs].value == pytest.approx(one.measures[mine], abs=1e-12)
    for mean, course in zip(scored.part("courses").curves, found.courses, strict=True):
        assert mean.method == course.method
        for name, estimate in mean.estimates.items():
            assert estimate.value == pytest.approx(getattr(course, name), abs=1e-12)
            assert estimate.n == 1


def test_a_skim_that_is_given_as_sound_is_found(day: Path, tmp_path: Path) -> None:
    (one,) = skim([day], tmp_path / "skim.wav", bare()).skims
    outputs, references = tmp_path / "outputs.jsonl", tmp_path / "recordings.jsonl"
    line = {"item": "day", "system": "s", "output": {"audio": "skim.wav"}}
    outputs.write_text(json.dumps(line) + "\n")
    references.write_text(json.dumps({"item": "day", "recording": str(day)}) + "\n")
    values = score(outputs, references, block=BLOCK, period=HOUR, draws=10).systems["s"]
    assert values["sd"].value == pytest.approx(one.measures["sd"], abs=0.05)
    assert values["tc"].value == pytest.approx(one.measures["tc"], abs=0.05)


def test_blocks_of_a_day_are_scored_as_the_day(day: Path, tmp_path: Path) -> None:
    """Frames at the ends of blocks differ, so the numbers are almost the same."""
    found = skim([day], tmp_path / "skims", bare(z=(0.0, 1.0)))
    count = round(ALL / BLOCK)
    blocks = [(f"blocks/{number:03}.flac", number * BLOCK) for number in range(count)]
    for name, start in blocks:
        write(tmp_path / name, begin=start, end=start + BLOCK)
    reference = {"item": day.stem, "blocks": blocks}
    (tmp_path / "blocks.jsonl").write_text(json.dumps(reference) + "\n")
    outputs = tmp_path / "skims" / "outputs.jsonl"
    values = score(outputs, tmp_path / "blocks.jsonl", block=BLOCK, period=HOUR, draws=10)
    for one in found.skims:
        scored = values.systems[one.system]
        assert scored["tc"].value == pytest.approx(one.measures["tc"], abs=0.05)
        assert scored["sd"].value == pytest.approx(one.measures["sd"], abs=0.05)


def test_days_end_at_midnight_and_are_scored_as_days(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    write(folder / "A_20250721_235640.flac", end=200)
    write(folder / "A_20250722_000000.flac", begin=200)
    found = skim([folder], tmp_path / "skims", bare(by_day=True, zone="UTC"))
    names = [one.recording.name for one in found.skims]
    assert names == ["site_20250721", "site_20250722"]
    assert [one.recording.seconds for one in found.skims] == [200, 280]
    assert (tmp_path / "skims" / "site_20250722_pareto-z0.5.flac").is_file()
    first = found.skims[1].skim.picks[0].start
    assert alike(
        cut(found.skims[1].recording, first, 4.0),
        sound()[int((200 + first) * RATE) :][: 4 * RATE],
    )
    lines = tmp_path / "skims" / "outputs.jsonl", tmp_path / "skims" / "recordings.jsonl"
    assert [json.loads(line)["day"] for line in lines[1].read_text().splitlines()] == [
        "2025-07-21",
        "2025-07-22",
    ]
    values = score(*lines, block=BLOCK, period=HOUR, draws=10).systems["pareto-z0.5"]
    assert values["tc"].value == pytest.approx(np.mean([s.measures["tc"] for s in found.skims]))


def test_one_file_over_midnight_is_two_days(tmp_path: Path) -> None:
    path = write(tmp_path / "20250721_235640.flac")
    found = skim([path], tmp_path / "skims", bare(by_day=True))
    assert [one.recording.seconds for one in found.skims] == [200, 280]
    lines = tmp_path / "skims" / "outputs.jsonl", tmp_path / "skims" / "recordings.jsonl"
    values = score(*lines, block=BLOCK, period=HOUR, draws=10).systems["pareto-z0.5"]
    assert values["sd"].value == pytest.approx(np.mean([s.measures["sd"] for s in found.skims]))


@pytest.mark.parametrize(
    ("names", "options", "days"),
    [
        (("a 1", "a 2", "a 3"), {"start": "2025-07-21T23:55:00"}, ["2025-07-21", "2025-07-22"]),
        (
            ("20250721_145500", "20250721_145740", "20250721_150020"),
            {"zone": "UTC", "shown": "Asia/Tokyo"},
            ["2025-07-21", "2025-07-22"],
        ),
    ],
)
def test_days_are_scored_on_the_clock_on_which_they_were_cut(
    tmp_path: Path, names: tuple[str, ...], options: dict[str, Any], days: list[str]
) -> None:
    for number, name in enumerate(names):
        write(tmp_path / "site" / f"{name}.flac", begin=160 * number, end=160 * (number + 1))
    found = skim([tmp_path / "site"], tmp_path / "skims", bare(by_day=True, **options))
    assert [one.recording.seconds for one in found.skims] == [300, 180]
    lines = tmp_path / "skims" / "outputs.jsonl", tmp_path / "skims" / "recordings.jsonl"
    assert [json.loads(line)["day"] for line in lines[1].read_text().splitlines()] == days
    values = score(*lines, block=BLOCK, period=HOUR, draws=10).systems["pareto-z0.5"]
    assert values["tc"].value == pytest.approx(np.mean([s.measures["tc"] for s in found.skims]))


def offsets(path: Path) -> list[float]:
    """Hours by which the clock of each pick is before UTC."""
    times = [datetime.fromisoformat(row["time"]).utcoffset() for row in table(path)]
    return [time.total_seconds() / 3600 for time in times if time is not None]


@pytest.mark.parametrize(
    ("names", "before"),
    [(("20250330_015600", "20250330_030000"), 1), (("20251026_025600", ""), 2)],
)
def test_clocks_that_are_changed_do_not_move_a_pick(
    tmp_path: Path, names: tuple[str, str], before: int
) -> None:
    """In Paris, three o'clock follows on two in March, and two on three in October."""
    folder = tmp_path / "site"
    for name, begin in zip(names, (0.0, 240.0), strict=True):
        if name:
            write(
                folder / f"{name}.flac", begin=begin, end=240.0 if names[1] and not begin else ALL
            )
    options = {"zone": "Europe/Paris", "without": ("page",)}
    (one,) = skim([folder], tmp_path / "s.flac", asked(**options)).skims
    assert one.recording.seconds == ALL
    after = 3 - before
    picks = one.skim.picks
    assert offsets(tmp_path / "s.csv") == [before if p.start < 240 else after for p in picks]
    for pick in picks:
        assert alike(cut(one.recording, pick.start, 4), sound()[int(pick.start * RATE) :][:64_000])
    (shown,) = skim([folder], tmp_path / "u.flac", asked(**options, shown="UTC")).skims
    assert [pick.start for pick in shown.skim.picks] == [pick.start for pick in picks]
    assert offsets(tmp_path / "u.csv") == [0] * 6


def test_silences_between_hours_are_not_on_the_clock(tmp_path: Path) -> None:
    path = write_marked(tmp_path / "day.flac", 5.0)
    assert soundfile.info(path).duration == ALL + 23 * 5
    found = skim([path], tmp_path / "skims", bare(hour_gap=5.0, z=(0.0, 1.0)))
    for one in found.skims:
        assert one.recording.seconds == pytest.approx(ALL)
        for pick in one.skim.picks:
            piece = cut(one.recording, pick.start, pick.seconds)
            near = [round(pick.start * RATE) + n for n in range(-16, 17)]  # within a millisecond
            assert any(alike(piece, sound()[first:][: len(piece)]) for first in near)
    lines = tmp_path / "skims" / "outputs.jsonl", tmp_path / "skims" / "recordings.jsonl"
    scored = score(*lines, block=BLOCK, period=HOUR, draws=10)
    for one in found.skims:
        assert scored.systems[one.system]["tc"].value == pytest.approx(one.measures["tc"])
    named = path.rename(tmp_path / "20250721_235640.flac")
    days = skim([named], tmp_path / "days", bare(hour_gap=5.0, by_day=True))
    assert [one.recording.seconds for one in days.skims] == pytest.approx([200, 280], abs=1e-3)
    lines = tmp_path / "days" / "outputs.jsonl", tmp_path / "days" / "recordings.jsonl"
    values = score(*lines, block=BLOCK, period=HOUR, draws=10).systems["pareto-z0.5"]
    assert values["sd"].value == pytest.approx(np.mean([s.measures["sd"] for s in days.skims]))


def test_silences_that_are_nowhere_are_told(day: Path, tmp_path: Path) -> None:
    found = skim([day], tmp_path / "skim.flac", bare(hour_gap=5.0))
    assert any("5 s" in note for note in found.notes)
    assert found.skims[0].recording.seconds == ALL


def test_time_that_nobody_recorded_is_missing_and_hatched(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    write(folder / "20250722_000000.flac", end=200)
    write(folder / "20250722_000500.flac", begin=300)
    (folder / "notes.txt").write_text("rain")
    found = skim([folder], tmp_path / "skim.flac", asked())
    (one,) = found.skims
    assert one.recording.seconds == ALL
    assert told(tmp_path / "skim.flac")["recording"]["missing"] == 100
    assert not any(196 < pick.start < 300 for pick in one.skim.picks)
    assert (tmp_path / "skim.svg").read_text().count("url(#missing)") == 1
    assert any("skipped files that are not audio: notes.txt" in note for note in found.notes)


def test_picks_by_ear_are_rendered_and_measured(day: Path, tmp_path: Path) -> None:
    times = tmp_path / "mine.csv"
    times.write_text("start,seconds\n00:07:00,3\n8,\n")
    (one,) = skim([day], tmp_path / "skim.flac", bare(times=times)).skims
    assert (one.method, one.system, one.z) == ("manual", "manual", None)
    assert [(pick.start, pick.seconds) for pick in one.skim.picks] == [(420, 3), (8, 4)]
    assert len(heard(tmp_path / "skim.flac")) == 6 * RATE
    assert 0 < one.measures["sd"] < 1
    times.write_text("start\n16\n24\n")
    again = skim([day], tmp_path / "skim.flac", bare(times=times))
    assert starts(again) == [[16, 24]]
    assert len(again.written) == 2  # other times are another skim


def worth(found: SkimRun, picks: int) -> dict[tuple[str, str], float]:
    """What baselines with so many picks are worth."""
    return {
        (name, measure): one.value
        for (_, name, count), known in found.baselines.items()
        for measure, one in known.items()
        if count == picks
    }


def test_baselines_have_as_many_picks_as_the_skims_beside_them(day: Path, tmp_path: Path) -> None:
    times = tmp_path / "mine.csv"
    times.write_text("start\n16\n24\n400\n")
    alone = skim([day], tmp_path / "skim.flac", bare(times=times))
    assert {count for _, _, count in alone.baselines} == {3}
    assert "picks)" not in render_text(skimming_report(alone))
    picked = skim([day], tmp_path / "p.flac", bare(picks=3))
    both = skim([day], tmp_path / "s", bare(times=times, methods=("manual", "pareto")))
    three, six = worth(both, 3), worth(both, 6)
    assert worth(alone, 3) == worth(picked, 3) == three
    assert three["random", "coverage"] < six["random", "coverage"]
    for known in (three, six):
        assert known["calibration: closest to the day", "tc"] == 1
        assert known["calibration: most source classes", "sd"] == 1
    told = render_text(skimming_report(both))
    rows = ["manual (3 picks)", "pareto-z0.5 (6 picks)", "random (6 picks, mean of draws)"]
    assert all(row in told for row in (*rows, "calibration: closest to the day (3 picks)"))


def test_what_is_wrong_with_times_is_told_before_any_sound_is_read(
    day: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = tmp_path / "mine.csv"
    times.write_text("start\nnoon\n1e6\n")
    with frames_read(monkeypatch) as counts, pytest.raises(InputError) as caught:
        skim([day], tmp_path / "skim.flac", bare(times=times, cache=tmp_path / "cache"))
    assert [one.line for one in caught.value.problems] == [2, 3]
    assert not counts
    assert not (tmp_path / "skim.flac").exists()


class Loud(NamedTuple):
    """Takes for speech what it is told to."""

    test: Callable[[float], bool]
    name: str = "loud"
    signature: str = "loud"
    min_share: float = 0.5

    def share(self, samples: Any, rate: int) -> float:
        assert rate == RATE
        return float(self.test(float(np.abs(samples).mean())))


@pytest.fixture
def detector(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[float], bool]], None]:
    def use(test: Callable[[float], bool]) -> None:
        monkeypatch.setattr(make, "find_detector", lambda _: Loud(test))

    return use


def loudness(found: SkimRun) -> list[float]:
    (one,) = found.skims
    pieces = [cut(one.recording, p.start, p.seconds) for p in one.skim.picks]
    return [float(np.abs(piece).mean()) for piece in pieces]


def test_blocks_in_which_somebody_speaks_are_avoided(
    day: Path, tmp_path: Path, detector: Any
) -> None:
    kept = loudness(skim([day], tmp_path / "kept.flac", bare()))
    limit = float(np.median(kept))
    detector(lambda level: level > limit)
    found = skim([day], tmp_path / "s.flac", bare(speech="avoid", cache=tmp_path / "cache"))
    assert max(loudness(found)) <= limit + 1e-6 < max(kept)
    assert "speech=avoid:loud" in found.skims[0].signature


def test_speech_classes_of_the_embedder_replace_cues_but_not_silero(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    classes = np.array([[0.09, 0.9], [0.1, 0.0]], np.float32)
    blocks: Any = SimpleNamespace(class_names=("Speech", "Bird"), classes=classes)
    recording: Any = SimpleNamespace(rate=RATE)
    monkeypatch.setattr(make, "find_detector", lambda _: CueDetector())
    found = make.find_speech(recording, blocks, Cache(Path("none")))
    assert found.rows.tolist() == [False, True]
    assert found.signature == "classes,score=0.1"
    shares = np.array([[0.5], [0.4]], np.float32)
    heard = SimpleNamespace(starts=np.array([0.0, 8.0]), vectors=shares)
    monkeypatch.setattr(make, "read_recording_blocks", lambda *_, **__: (heard, recording))
    monkeypatch.setattr(make, "find_detector", lambda _: Loud(bool))
    blocks.starts, blocks.seconds = heard.starts, 8.0
    found = make.find_speech(recording, blocks, Cache(Path("none")))
    assert found.rows.tolist() == [True, False]
    assert found.signature == "loud"


def test_blocks_in_which_somebody_speaks_are_played_backwards(
    day: Path, tmp_path: Path, detector: Any
) -> None:
    limit = float(np.median(loudness(skim([day], tmp_path / "kept.flac", bare()))))
    detector(lambda level: level > limit)
    place = tmp_path / "s.flac"
    found = skim([day], place, bare(speech="reverse", cache=tmp_path / "cache"))
    (one,) = found.skims
    turned = [pick.turned for pick in one.skim.picks]
    assert turned == [level > limit for level in loudness(found)]
    assert any(turned)
    pieces = [sound()[int(p.start * RATE) :][: int(BLOCK * RATE)] for p in one.skim.picks]
    pieces = [p[::-1] if back else p for p, back in zip(pieces, turned, strict=True)]
    assert alike(heard(place), render(pieces, RATE, 1.0))
    assert [pick["turned"] for pick in told(place)["picks"]] == turned


def test_speech_everywhere_leaves_nothing_to_pick(day: Path, tmp_path: Path, detector: Any) -> None:
    detector(lambda _: True)
    with pytest.raises(
        UsageError, match="speech was detected in every block — use --speech reverse"
    ):
        skim([day], tmp_path / "s.flac", bare(speech="avoid", cache=tmp_path / "cache"))
    assert not (tmp_path / "s.flac").exists()


def test_a_damaged_file_is_named_with_the_time_and_the_rest_is_used(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    write(folder / "20250722_000000.flac", end=160)
    cut_off = write(folder / "20250722_000240.flac", begin=160, end=320)
    write(folder / "20250722_000520.flac", begin=320)
    whole = cut_off.read_bytes()
    cut_off.write_bytes(whole[: len(whole) // 2])
    (folder / "20250722_000900.flac").write_bytes(b"no sound at all")
    found = skim([folder], tmp_path / "skim.flac", asked())
    (one,) = found.skims
    (note,) = [one for one in found.notes if "000240.flac: damaged at" in one]
    at = float(re.findall(r"damaged at ([\d.]+) s", note)[0])
    assert 40 < at < 120
    assert f"2025-07-22 00:0{int(160 + at) // 60}:{int(160 + at) % 60:02}" in note
    assert any("000900.flac" in note and "00:09:00" in note for note in found.notes)
    assert not any(160 + at - BLOCK < pick.start < 320 for pick in one.skim.picks)
    known = told(tmp_path / "skim.flac")["recording"]
    assert known["missing"] == pytest.approx(160 - at, abs=0.2)
    assert [Path(one["file"]).name for one in known["damages"]] == [
        "20250722_000240.flac",
        "20250722_000900.flac",
    ]


def test_a_header_that_lies_is_found_out(tmp_path: Path) -> None:
    path = write(tmp_path / "20250722_000000.wav")
    content = bytearray(path.read_bytes())
    content[40:44] = (1_000_000).to_bytes(4, "little")
    path.write_bytes(bytes(content))
    found = skim([path], tmp_path / "skim.flac", bare())
    assert found.skims[0].recording.seconds == pytest.approx(ALL)
    assert any("20250722_000000.wav" in note for note in found.notes)
    assert found.skims[0].skim.picks[-1].start > 32


def test_sparse_looks_at_a_quarter_of_the_sound(
    day: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"block": 8.0, "cache": tmp_path / "cache"}
    with frames_read(monkeypatch) as counts:
        found = skim([day], tmp_path / "s.flac", bare(sparse=True, **options))
    assert 0.2 < (sum(counts) - 6 * 8 * RATE) / (ALL * RATE) < 0.5
    assert "sparse" in found.skims[0].signature
    assert len(found.skims[0].skim.picks) == 6


def test_another_z_reads_no_more_than_its_picks(
    day: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"cache": tmp_path / "cache"}
    with frames_read(monkeypatch) as first:
        skim([day], tmp_path / "skims", bare(z=(0.5,), **options))
    assert sum(first) >= ALL * RATE
    with frames_read(monkeypatch) as second:
        skim([day], tmp_path / "skims", bare(z=(0.5, 1.0), **options))
    assert sum(second) == 6 * BLOCK * RATE  # z = 0.5 is there


def test_a_run_that_was_interrupted_goes_on_where_it_was(
    day: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "SHARD_FRAMES", 120 * 50)  # frames: shards of two minutes
    told_so_far: list[int] = []

    def stop(done: int, total: int | None, _: int) -> None:
        told_so_far.append(done)
        assert total == ALL
        if done >= 300 * run.READING_SHARE * READING_TIME_RATIO / (READING_TIME_RATIO + 1):
            raise KeyboardInterrupt

    wanted = bare(cache=tmp_path / "cache")
    with pytest.raises(KeyboardInterrupt):
        skim([day], tmp_path / "s.flac", wanted, progress=stop)
    assert told_so_far == sorted(told_so_far)
    assert not list(tmp_path.glob("*s.flac*"))
    told_so_far.clear()
    with frames_read(monkeypatch) as counts:
        skim([day], tmp_path / "s.flac", wanted, progress=lambda *told: told_so_far.append(told[0]))
    assert told_so_far == sorted(told_so_far)  # also where shards are read again
    assert told_so_far[-1] == ALL
    rest = sum(counts) / RATE - 6 * BLOCK
    assert ALL - 240 <= rest < ALL - 200


def test_a_skim_that_is_there_is_made_again_only_if_that_is_asked_for(
    day: Path, tmp_path: Path
) -> None:
    place = tmp_path / "s.flac"
    assert len(skim([day], place, asked()).written) == 8
    before = {one: (one.stat().st_mtime_ns, one.read_bytes()) for one in tmp_path.iterdir()}
    found = skim([day], place, asked())
    assert (found.written, found.kept) == ((), (str(place),))
    assert all(one.stat().st_mtime_ns == time for one, (time, _) in before.items())
    assert len(skim([day], place, asked(again=True)).written) == 8
    assert all(one.read_bytes() == content for one, (_, content) in before.items())
    (tmp_path / "s.csv").unlink()
    assert len(skim([day], place, asked()).written) == 8


@pytest.mark.parametrize(
    "other",
    [
        {"z": (0.0,)},
        {"picks": 5},
        {"zone": "Asia/Tokyo"},
        {"start": "2024-01-01"},
        {"bits": 24},
        {"match_levels": True},
    ],
)
def test_a_skim_that_was_made_in_another_way_is_made_anew(
    day: Path, tmp_path: Path, other: dict[str, Any]
) -> None:
    nameless = shutil.copy(day, tmp_path / "day.flac")
    options = {"start": "2025-07-22", "zone": "UTC"}
    skim([nameless], tmp_path / "s.flac", bare(**options))
    found = skim([nameless], tmp_path / "s.flac", bare(**options | other))
    assert found.written
    assert told(tmp_path / "s.flac")["signature"] == found.skims[0].signature


def test_picks_come_to_one_level_and_their_gains_are_told(day: Path, tmp_path: Path) -> None:
    plain = skim([day], tmp_path / "plain.flac", bare(overlap=0.0)).skims[0]
    place = tmp_path / "matched.flac"
    matched = skim([day], place, bare(overlap=0.0, match_levels=True, bits=24)).skims[0]
    assert [pick.start for pick in matched.skim.picks] == [pick.start for pick in plain.skim.picks]
    gains = [pick["gain"] for pick in told(place)["picks"]]
    assert gains == [pick.gain for pick in matched.skim.picks]
    assert 1 < max(map(abs, gains)) <= 12
    assert {pick.gain for pick in plain.skim.picks} == {0.0}
    before, after = heard(tmp_path / "plain.flac"), heard(place)
    for number, gain in enumerate(gains):
        middle = slice(int((BLOCK * number + 1) * RATE), int((BLOCK * number + 3) * RATE))
        ratio = np.linalg.norm(after[middle]) / np.linalg.norm(before[middle])
        assert 20 * np.log10(ratio) == pytest.approx(gain, abs=0.1)
    assert soundfile.info(place).subtype == "PCM_24"


def test_bits_that_a_format_does_not_have_are_refused_before_reading(
    day: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=r"\.mp3 cannot have 24 bits per sample — use \.flac"):
        skim([day], tmp_path / "s.mp3", bare(bits=24))
    with pytest.raises(UsageError, match="--bits must be 16 or 24, got 20"):
        bare(bits=20)


def test_a_recorder_that_sleeps_gives_a_picture_without_short_gaps(tmp_path: Path) -> None:
    for hour in range(24):
        if hour not in (5, 12, 13, 14):  # lost
            clock = f"2025072{2}_{hour * 20 // 60:04}{hour * 20 % 60:02}"
            write(tmp_path / "site" / f"{clock}.wav", begin=20.0 * hour, end=20.0 * hour + 8)
    options = asked(without=tuple(name for name in EXTRAS if name not in ("json", "picture")))
    skim([tmp_path / "site"], tmp_path / "s.flac", options)
    svg = (tmp_path / "s.svg").read_text(encoding="utf-8")
    assert "8 s in 20 s recorded: each part is stretched over the time until the next one" in svg
    assert "(8 s in 20 s recorded, 80 s missing)" in svg
    gaps = re.findall(r'<rect x="([\d.]+)" width="([\d.]+)" fill="url\(#missing\)"', svg)
    wanted = [52 + 1132 * second / 468 for second in (100, 240)]  # 23 cycles and a part of 8 s
    assert [float(x) for x, _ in gaps] == pytest.approx(wanted, abs=3)
    assert [float(width) for _, width in gaps] == pytest.approx(
        [1132 * 20 / 468, 1132 * 60 / 468], abs=5
    )


def test_other_sound_of_the_same_name_is_skimmed_anew(tmp_path: Path) -> None:
    path, place = tmp_path / "day.flac", tmp_path / "s.flac"
    write(path, end=200)
    first = skim([path], place, bare())
    write(path, begin=200, end=440)
    os.utime(path, ns=(1, 1))
    second = skim([path], place, bare())
    assert second.written
    assert first.skims[0].signature != second.skims[0].signature


def short(path: Path, seed: int) -> Path:
    """Five minutes of wind, with crickets from 72 s, a chorus from 144 s and dogs from 216 s on."""
    rows = (
        TimetableRow("wind", shares=spread_over_hours({"0-24": 1.0})),
        TimetableRow("crickets", shares=spread_over_hours({"6-8": 1.0})),
        TimetableRow("chorus", shares=spread_over_hours({"12-14": 1.0})),
        TimetableRow("dog", events=spread_over_hours({"18-20": 1}), seconds=(9, 11)),
    )
    mixer = Mixer(make_scene(Timetable("short", rows, hour=12.0, seed=seed), rate=RATE))
    soundfile.write(path, mixer.mix_frames(0, mixer.frames), RATE)
    return path


def diversity(path: Path, starts: tuple[int, ...], folder: Path) -> float:
    """Of picks in a short recording, which is told to be so, as ``skim`` and ``score`` have it."""
    times = path.with_suffix(".csv")
    times.write_text("start\n" + "\n".join(map(str, starts)))
    made = skim([path], folder, SkimOptions(times=times, without=EXTRAS[1:], period=12.0))
    few = "sound classes are defined by only 36 blocks: sd and coverage are less reliable"
    assert made.notes == (f"short: {few} — use a shorter --block",)
    scored = score(folder / "outputs.jsonl", folder / "recordings.jsonl", period=12.0, draws=10)
    assert scored.notes[0] == few
    found = made.skims[0].measures["sd"]
    assert scored.systems["manual"]["sd"].value == pytest.approx(found, abs=1e-12)
    return found


def test_in_a_short_recording_wind_alone_is_less_diverse(tmp_path: Path) -> None:
    seeds = range(many(1, 10))
    right = 0
    for seed in seeds:
        path = short(tmp_path / "short.wav", seed)
        wind = diversity(path, (8, 32, 120), tmp_path / f"{seed}a")
        right += wind < diversity(path, (80, 152, 224), tmp_path / f"{seed}b")
    assert right >= 0.9 * len(seeds)


def test_too_few_blocks_for_classes_are_undefined_and_told(tmp_path: Path) -> None:
    path, folder = write(tmp_path / "short.flac", end=60), tmp_path / "skims"
    found = skim([path], folder, bare())
    assert found.notes[0].startswith("short: 15 blocks are too few to define sound classes: sd and")
    assert np.isnan([found.skims[0].measures[name] for name in ("sd", "coverage")]).all()
    assert found.skims[0].measures["tc"] > 0
    drawn = found.baselines["short", "random", 6]["sd"]
    assert (drawn.n, drawn.undefined) == (0, 20)
    scored = score(folder / "outputs.jsonl", folder / "recordings.jsonl", block=BLOCK, period=HOUR)
    one = scored.systems["pareto-z0.5"]["sd"]
    assert (one.n, one.undefined) == (0, 1)


def test_scoring_otherwise_than_skims_were_made_is_told(day: Path, tmp_path: Path) -> None:
    folder = tmp_path / "skims"
    skim([day], folder, bare(sparse=True))
    lines = folder / "outputs.jsonl", folder / "recordings.jsonl"
    assert list(score(*lines, draws=10).notes) == [
        "sound classes are defined by only 60 blocks: sd and coverage are less reliable",
        "1 output was made with --sparse, which score does not support: its numbers will differ",
        "1 output was made with block 4 but scored with 8 — use --block 4",
        "1 output was made with period 20 but scored with 3600 — use --period 20",
    ]
    skim([day], folder, bare(again=True))
    assert not score(*lines, draws=10, block=BLOCK, period=[HOUR, 900.0]).notes
    other = score(*lines, draws=10, block=BLOCK, period=HOUR, embedder="log-mel").notes
    made = "1 output was made with embedder codebook but scored with log-mel"
    assert other == (f"{made} — use --embedder codebook",)


@pytest.mark.parametrize("method", ["pareto", "published", "downsampling", "random"])
def test_a_seed_gives_the_same_bytes_in_any_cache(tmp_path: Path, method: str) -> None:
    short = write(tmp_path / "short.flac", end=160)
    made = []
    for name in ("a", "b"):
        place = tmp_path / name / "s.flac"
        skim([short], place, bare(methods=(method,), cache=tmp_path / f"cache {name}"))
        made.append((place.read_bytes(), place.with_suffix(".json").read_bytes()))
    assert made[0] == made[1]
    if method == "random":
        found = skim([short], tmp_path / "c.flac", bare(methods=(method,), seed=1))
        assert [pick["start"] for pick in told(tmp_path / "a" / "s.flac")["picks"]] not in starts(
            found
        )


def test_fewer_blocks_than_picks_are_all_taken_and_told(tmp_path: Path) -> None:
    path = write(tmp_path / "day.flac", end=18)
    found = skim([path], tmp_path / "s.flac", bare(picks=500))
    assert starts(found) == [[0, 4, 8, 12]]
    assert any("4" in note for note in found.notes)


@pytest.mark.parametrize("ending", [".wav", ".mp3", ".ogg", ".opus"])
def test_skims_are_written_in_the_form_that_was_asked_for(
    day: Path, tmp_path: Path, ending: str
) -> None:
    found = skim([day], tmp_path / "skims", bare(to=ending[1:]))
    assert found.written[0].endswith(f"20250722_000000_pareto-z0.5{ending}")
    assert soundfile.info(found.written[0]).duration == pytest.approx(19, abs=0.1)


def test_stereo_stays_stereo(tmp_path: Path) -> None:
    both = np.stack([sound()[: 80 * RATE], 0.5 * sound()[: 80 * RATE]], 1)
    soundfile.write(tmp_path / "day.wav", both, RATE)
    skim([tmp_path / "day.wav"], tmp_path / "s.flac", bare())
    left, right = heard(tmp_path / "s.flac").T
    assert alike(0.5 * left, right)


def test_samples_that_are_no_numbers_are_silent(tmp_path: Path) -> None:
    samples = sound()[: 24 * RATE].copy()
    samples[:100] = np.nan
    soundfile.write(tmp_path / "day.wav", samples, RATE, subtype="FLOAT")
    skim([tmp_path / "day.wav"], tmp_path / "s.wav", bare())
    assert not heard(tmp_path / "s.wav")[:100].any()
    assert heard(tmp_path / "s.wav")[100:].any()


def test_a_form_that_cannot_hold_the_channels_is_refused_first(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "day.wav", np.zeros((20 * RATE, 6)), RATE)
    with pytest.raises(UsageError, match=r"6 channels at 16,000 Hz cannot be written as \.mp3"):
        skim([tmp_path / "day.wav"], tmp_path / "s.mp3", bare(cache=tmp_path / "cache"))
    assert not (tmp_path / "cache").exists()


def test_what_is_wrong_with_any_recording_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(b"")
    (tmp_path / "b.flac").write_bytes(b"no sound")
    (tmp_path / "c").mkdir()
    given = [tmp_path / name for name in ("a.wav", "b.flac", "c")]
    with pytest.raises(InputError) as caught:
        skim(given, tmp_path / "skims", bare())
    assert [one.message for one in caught.value.problems] == [
        "is empty",
        "cannot be read: Format not recognised.",
        "no audio files found",
    ]


def test_recordings_and_files_that_cannot_be_used_are_skipped_and_listed(
    day: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty.wav").write_bytes(b"")
    soundfile.write(tmp_path / "short.wav", np.zeros(RATE), RATE)
    write(tmp_path / "card" / NAMED)
    write(tmp_path / "card" / "undated.flac", end=HOUR)
    given = [tmp_path / name for name in ("empty.wav", "short.wav", "card", "none.wav")]
    found = skim(given, tmp_path / "skims", bare(), on_error="skip")
    assert [one.recording.name for one in found.skims] == ["card"]
    assert starts(found) == starts(skim([day], tmp_path / "day.flac", bare()))
    assert [str(problem) for problem in found.skipped] == [
        f"{tmp_path / 'empty.wav'}: is empty",
        f"{tmp_path / 'card' / 'undated.flac'}: the file name has no start time"
        " — rename it like the others (NAME_YYYYMMDD_HHMMSS), or leave it out",
        f"{tmp_path / 'none.wav'}: file or folder does not exist",
        "short: too short for one block of 4 s (longest passage: 1.0 s) — use a shorter --block",
    ]
    lines = (tmp_path / "skims" / "outputs.jsonl").read_text().splitlines()
    assert [json.loads(line)["item"] for line in lines] == ["card"]


def test_a_recording_without_a_date_does_not_stop_the_others(day: Path, tmp_path: Path) -> None:
    undated = write(tmp_path / "undated.flac")
    given = [undated, day]
    with pytest.raises(UsageError, match="the start time is unknown"):
        skim(given, tmp_path / "skims", bare(by_day=True))
    found = skim(given, tmp_path / "skims", bare(by_day=True), on_error="skip")
    assert len(found.skims) == 1
    [problem] = found.skipped
    assert problem.message.startswith("undated: the start time is unknown")


def test_a_recording_that_fails_while_it_is_read_is_skipped(
    day: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = write(tmp_path / "other.flac")
    read = read_recording_blocks

    def fail(recording: Any, *args: Any, **options: Any) -> Any:
        if recording.name == "other":
            raise UsageError("other: cannot be read")
        return read(recording, *args, **options)

    monkeypatch.setattr(run, "read_recording_blocks", fail)
    found = skim([other, day], tmp_path / "skims", bare(), on_error="skip")
    assert [one.recording.name for one in found.skims] == [day.stem]
    assert [str(problem) for problem in found.skipped] == ["other: cannot be read"]


def test_if_everything_is_skipped_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(b"")
    with pytest.raises(InputError, match=r"a\.wav: is empty"):
        skim([tmp_path / "a.wav"], tmp_path / "skims", bare(), on_error="skip")
    assert not (tmp_path / "skims").exists()
    with pytest.raises(UsageError, match="on_error must be fail or skip, got 'empty'"):
        skim([tmp_path / "a.wav"], tmp_path / "skims", bare(), on_error="empty")  # type: ignore[arg-type]


def test_files_read_ahead_give_the_same_skim(day: Path, tmp_path: Path) -> None:
    """A map that is not the default reads all files before the first skim is made."""
    reports: list[int] = []
    found = skim(
        [day],
        tmp_path / "ahead.flac",
        bare(cache=tmp_path / "cache"),
        jobs=lambda function, items: builtins.map(function, items),
        progress=lambda done, *_: reports.append(done),
    )
    assert starts(found) == starts(skim([day], tmp_path / "plain.flac", bare()))
    assert (tmp_path / "ahead.flac").read_bytes() == (tmp_path / "plain.flac").read_bytes()
    assert reports == sorted(reports)
    assert reports[-1] == ALL


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("s.flac", {"z": (0.0, 1.0)}, "cannot write 2 skims to one file — choose a folder"),
    ("s.flac", {"embedder": "yamnett"}, "yamnett"),
    ("s.flca", {}, r'unknown audio format ".flca" — use .flac'),
    ("s.m4a", {}, r"skims cannot be written as .m4a — use .flac"),
    ("there.txt/s.flac", {}, "there.txt is a file, not a folder"),
    ("there.txt", {}, "is a file without the extension of an audio file — use .flac"),
    (NAMED, {}, "is the recording itself — choose another output file"),
    ("s.flac", {"block": 1000.0, "overlap": 0.0, "period": 1000.0}, "longest passage: 480.0 s"),
    ("s.flac", {"speech": "avoid", "detector": Path("no.onnx")}, "no.onnx"),
    ("s.flac", {"zone": "Mars"}, "Mars"),
    ("s.flac", {"start": "today"}, "today"),
]


@pytest.mark.parametrize(("output", "options", "message"), REFUSED)
def test_what_cannot_be_done_is_told_before_any_work(
    day: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    output: str,
    options: dict[str, Any],
    message: str,
) -> None:
    path = Path(shutil.copy(day, tmp_path / (NAMED if "start" not in options else "day.flac")))
    (tmp_path / "there.txt").write_text("here I am")
    before = sorted(tmp_path.rglob("*"))
    with frames_read(monkeypatch) as counts, pytest.raises((UsageError, InputError), match=message):
        skim([path], tmp_path / output, bare(**options, cache=tmp_path / "cache"))
    assert sorted(tmp_path.rglob("*")) == before
    assert not counts


def test_lines_of_somebody_else_are_not_lost(day: Path, tmp_path: Path) -> None:
    lines = tmp_path / "outputs.jsonl"
    lines.write_text('{"item": "a", "system": "s", "output": {"boundaries": []}}\n')
    with pytest.raises(
        UsageError, match=r"outputs.jsonl: already exists and has lines that are not skims"
    ):
        skim([day], tmp_path, bare())
    assert "boundaries" in lines.read_text()
    lines.unlink()
    for z in (0.0, 1.0):
        skim([day], tmp_path, bare(z=(z,)))
    assert json.loads(lines.read_text())["system"] == "pareto-z1"


def test_recordings_of_one_name_are_refused(day: Path, tmp_path: Path) -> None:
    other = shutil.copy(day, tmp_path)
    with pytest.raises(UsageError, match="several recordings are named 20250722_000000 — rename"):
        skim([day, other], tmp_path / "skims", bare())


def test_folders_keep_the_dots_in_their_names(day: Path, tmp_path: Path) -> None:
    for name in ("site.1", "site.2"):
        (tmp_path / name).mkdir()
        shutil.copy(day, tmp_path / name)
    found = skim([tmp_path / "site.1", tmp_path / "site.2"], tmp_path / "skims", bare())
    assert [one.recording.name for one in found.skims] == ["site.1", "site.2"]
    assert (tmp_path / "skims" / "site.1_pareto-z0.5.json").is_file()


def test_skims_never_become_part_of_their_recording(day: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    shutil.copy(day, folder)
    for output in (folder, folder / "skims", folder / "skim.flac"):
        with pytest.raises(
            UsageError, match=r"is inside the folder of the recording .*site — choose"
        ):
            skim([folder], output, bare())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"z": (1.5,)}, "z must be from 0"),
        ({"z": ()}, "z must be from 0"),
        ({"picks": 0}, "picks must be at least 1"),
        ({"seed": -1}, "seed must be 0 or greater, got -1"),
        ({"overlap": 2.5}, "half a block"),
        ({"period": 1.0}, "at least one block"),
        ({"hour_gap": 0.1}, "--hour-gap must be more than 0.3 s"),
        ({"hour_gap": 3600.0}, "at most 60 s"),
        ({"methods": ("manual",)}, "must be used together"),
        ({"times": Path("t.csv"), "methods": ("pareto",)}, "must be used together"),
        ({"detector": Path("m.onnx")}, "requires --speech avoid or --speech reverse"),
        ({"length": 60.0, "picks": 3}, "cannot be combined"),
        ({"length": 1.0, "picks": None}, "at least one block"),
    ],
)
def test_what_makes_no_sense_is_not_asked_for(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        asked(**wrong)


@pytest.mark.parametrize("sample", [0.0, 0.1, np.nan])
def test_a_recording_that_never_changes_is_undefined_and_told(
    tmp_path: Path, sample: float
) -> None:
    import soundfile

    path = tmp_path / "still.wav"
    soundfile.write(path, np.full(20 * 4 * 8_000, sample, np.float32), 8_000, subtype="FLOAT")
    made = skim([path], tmp_path / "skims", bare())
    told = "still: the recording sounds the same throughout: tc, sd and coverage are undefined"
    assert told in made.notes
    assert np.isnan([made.skims[0].measures[name] for name in ("tc", "sd", "coverage")]).all()


def test_a_full_disk_leaves_no_part_of_a_skim_and_says_which_are_complete(
    day: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, names = Path.write_bytes, set[str]()

    def fails(path: Path, content: bytes) -> int:
        names.add(path.name)
        if len(names) == len(EXTRAS) + 7:  # the last but one of the files of the second skim
            raise OSError(errno.ENOSPC, "No space left on device")
        return work(path, content)

    wanted = asked(z=(0.0, 1.0))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", fails)
        with pytest.raises(UsageError, match="No space left on device") as caught:
            skim([day], tmp_path / "skims", wanted)
    note = "1 of 2 skims are complete; run the command again to write the rest"
    assert caught.value.__notes__ == [note]
    left = {path.name for path in (tmp_path / "skims").iterdir()}
    assert len(left) == len(EXTRAS) + 1
    assert len({name.rpartition("-z")[2][0] for name in left}) == 1

    def fails_at_lines(path: Path, content: bytes) -> int:
        if path.name.startswith(".outputs.jsonl"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return work(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", fails_at_lines)
        with pytest.raises(UsageError, match=r"outputs\.jsonl: cannot be written") as caught:
            skim([day], tmp_path / "skims", wanted)
    assert caught.value.__notes__ == [note.replace("1", "2", 1)]
    again = skim([day], tmp_path / "skims", wanted)
    assert len(again.kept) == 2
