"""Lines of skims: what they mean, and everything that is wrong with them at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

import earwitness as ew
from earwitness.core import Case, Item, Key
from earwitness.io.records import RecordType
from earwitness.io.schema import Fault
from earwitness.io.source import LineBlock, RecordSource
from earwitness.metric import CaseList
from earwitness.recordings.recording import open_recording
from earwitness.recordings.types import Recording, Stretch
from earwitness.registry import TASKS
from earwitness.scoring.setup import find_task, first_lines
from earwitness.skims import reader
from earwitness.skims.day import Day
from earwitness.skims.metrics import MarkedRecording, SkimReference
from earwitness.skims.reader import (
    ParsedSkim,
    SkimReader,
    read_blocks_file,
    read_reference,
    short_files_notes,
)
from earwitness.skims.records import (
    OUTPUTS,
    REFERENCES,
    SkimContent,
    SkimOutputLine,
    SkimReferenceLine,
    read_dial,
)
from earwitness.skims.types import Dial, Skim
from helpers.random_days import made
from helpers.recorder_files import encode_aac, noise, write

RECORDING = Recording(
    "day",
    (Stretch("a.flac", 0, 0, 3600), Stretch("b.flac", 0, 7200, 3600)),
    10800,
    32000,
    1,
)
RECORDED = MarkedRecording(RECORDING)


def parsed(layout: RecordType[Any], line: dict[str, Any]) -> list[str]:
    """Which fields of a line are at fault; the fast decoder finds some where the check does."""
    text = json.dumps(line).encode()
    _, found = next(iter(layout.read(LineBlock("file", 1, [text], 0))))
    faults = [one.field for one in layout.faults(text)[1]]
    assert isinstance(found, bytes) == bool(faults)
    return faults


def parse(
    contents: list[SkimContent], of: SkimReference, folder: Path | None = None, block: float = 8.0
) -> list[Any]:
    cases = CaseList([Case(Key("day", ""), Item(float("nan")), Skim(()), (of,))])
    reader = SkimReader(folder, folder, block=block)
    return reader.outputs_of(contents, cases, [0] * len(contents))


def picks(content: SkimContent, of: SkimReference = RECORDED) -> Any:
    [found] = parse([content], of)
    return found if isinstance(found, list) else [(p.start, p.seconds) for p in found.skim.picks]


def test_picks_and_times_are_the_same_skim() -> None:
    assert picks(SkimContent(picks=[(8.0, 8.0), (0.0, 4.0)])) == [(8.0, 8.0), (0.0, 4.0)]
    assert picks(SkimContent(times=[8.0, 0.0])) == [(8.0, 8.0), (0.0, 8.0)]
    assert picks(SkimContent(times=[8.0], block=2.0)) == [(8.0, 2.0)]
    assert picks(SkimContent(picks=[])) == []


def test_every_pick_that_is_nowhere_is_told() -> None:
    assert picks(
        SkimContent(picks=[(-1.0, 8.0), (3596.0, 8.0), (5000.0, 8.0), (10800.0, 8.0)])
    ) == [
        Fault("output.picks[0]", "-1 s is outside the recording, which lasts 10800 s"),
        Fault("output.picks[2]", "nothing was recorded at 5000 s"),
        Fault("output.picks[3]", "10800 s is outside the recording, which lasts 10800 s"),
    ]
    assert picks(SkimContent(times=[5000.0]), MarkedRecording(RECORDING, hour_gap=5.0)) == [
        (5000.0, 8.0)
    ]
    assert picks(SkimContent(times=[490.0]), made(1, 60)) == [
        Fault("output.times[0]", "490 s is outside the recording, which lasts 480 s")
    ]


def test_sound_that_is_mostly_of_something_else_is_refused(tmp_path: Path) -> None:
    rate, rng = 16_000, np.random.default_rng(1)
    day, other = (rng.normal(0, 0.1, 60 * rate) for _ in range(2))
    own = day[10 * rate : 20 * rate]
    soundfile.write(tmp_path / "day.wav", day, rate)
    soundfile.write(tmp_path / "own.wav", own, rate)
    soundfile.write(tmp_path / "mixed.wav", np.concatenate([own, other[: 20 * rate]]), rate)
    soundfile.write(tmp_path / "short.wav", own[:rate], rate)
    soundfile.write(tmp_path / "endless.wav", np.append(own, np.inf), rate, subtype="FLOAT")
    of = MarkedRecording(open_recording([tmp_path / "day.wav"]))
    names = ("own", "mixed", "none", "short", "endless")
    contents = [SkimContent(audio=f"{name}.wav") for name in names]
    alone = [parse([content], of, tmp_path)[0] for content in contents]
    found = dict(zip(names, alone, strict=True))
    [pick] = found["own"].skim.picks
    assert pick.start == pytest.approx(10, abs=0.02)
    assert "of its 30 s were found in the recording" in found["mixed"][0].message
    assert found["mixed"][0].remedy == "is it a skim of this recording?"
    assert "does not exist" in found["none"][0].message
    assert "too short to locate (1.0 s)" in found["short"][0].message
    assert "has samples that are not numbers" in found["endless"][0].message
    assert parse(contents, of, tmp_path) == alone


def test_a_skim_is_given_in_one_way() -> None:
    assert [one.message for one in picks(SkimContent())] == ["has no picks"]
    both = picks(SkimContent(times=[1.0], audio="a.wav"))
    assert [one.message for one in both] == ["has times and audio"]
    assert [one.field for one in picks(SkimContent(picks=[], block=8.0))] == ["output.block"]
    assert [one.field for one in picks(SkimContent(audio="a.wav"), made(1, 9))] == ["output.audio"]


@pytest.mark.parametrize(
    ("output", "faults"),
    [
        ({"picks": [[1, 8], [2.5, 4]]}, []),
        ({"times": [], "block": 8}, []),
        ({"audio": "a.flac"}, []),
        ({"picks": [[1, 0]]}, ["output.picks[0][1]"]),
        ({"picks": [1, [2]]}, ["output.picks[0]", "output.picks[1]"]),
        ({"times": ["1:00"]}, ["output.times[0]"]),
        ({"audio": "", "block": -1}, ["output.block", "output.audio"]),
        ({"picks": [], "z": 1}, ["output.z"]),
        ([], ["output"]),
    ],
)
def test_outputs_are_checked(output: Any, faults: list[str]) -> None:
    assert parsed(OUTPUTS, {"item": "a", "system": "s", "output": output}) == faults


@pytest.mark.parametrize(
    ("fields", "faults"),
    [
        ({"recording": "day.flac"}, []),
        ({"recording": ["a.wav", "b.wav"], "start": "x", "zone": "UTC", "hour_gap": 5}, []),
        ({"blocks": "day.npz", "meta": {"site": 1}}, []),
        ({"blocks": [["a.wav", 0], ["b.wav", 8.5]]}, []),
        ({"blocks": [["a.wav", -1], ["b.wav"]]}, ["blocks[0][1]", "blocks[1]"]),
        ({"recording": []}, ["recording"]),
        ({"recording": ["", 1]}, ["recording[0]", "recording[1]"]),
        ({"recording": 5, "hour_gap": -1}, ["recording", "hour_gap"]),
        ({"recording": "d", "references": [{}]}, ["references"]),
        ({"start": 5, "zone": 1, "blocks": ""}, ["start", "zone", "blocks"]),
    ],
)
def test_references_are_checked(fields: dict[str, Any], faults: list[str]) -> None:
    assert parsed(REFERENCES, {"item": "a", **fields}) == faults


def test_a_recording_is_sought_beside_the_file_that_names_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Any] = []

    def taken(record: SkimReferenceLine, folder: Path | None) -> MarkedRecording:
        asked.append((record.start, folder))
        return RECORDED

    monkeypatch.setattr(reader, "_open_marked_recording", taken)
    found = read_reference(
        SkimReferenceLine(item="a", recording="day.flac", start="2025-07-22T06:00"), tmp_path
    )
    assert found is RECORDED
    assert asked == [("2025-07-22T06:00", tmp_path)]
    assert reader.resolve_path(tmp_path, "day.flac") == tmp_path / "day.flac"
    assert reader.resolve_path(tmp_path, "/day.flac") == Path("/day.flac")


def faults_of(found: Any) -> list[str]:
    assert isinstance(found, list)
    return [f"{one.field}: {one.message}" for one in found]


def test_an_item_has_a_recording_or_blocks() -> None:
    assert faults_of(read_reference(SkimReferenceLine(item="a"), None)) == ["recording: missing"]
    both = SkimReferenceLine(item="a", recording="d", blocks="d.npz")
    assert faults_of(read_reference(both, None)) == ["blocks: cannot be combined with recording"]
    timed = SkimReferenceLine(item="a", blocks="d.npz", start="x", hour_gap=5.0)
    told = "cannot be combined with blocks, which have their own times"
    assert faults_of(read_reference(timed, None)) == [f"start: {told}", f"hour_gap: {told}"]


@pytest.fixture
def block_files(tmp_path: Path) -> dict[str, float]:
    """Three blocks of 4 s of a day, and their starts."""
    files = {"a.wav": 0.0, "b.wav": 7200.0, "c.wav": 7204.0}
    for seed, name in enumerate(files):
        noise = np.random.default_rng(seed).normal(0, 0.1, 64_000)
        soundfile.write(tmp_path / name, noise, 16_000, subtype="FLOAT")
    return files


@pytest.mark.parametrize("form", ["list", "seconds", "clock"])
def test_audio_files_of_blocks_are_the_day(
    block_files: dict[str, float], tmp_path: Path, form: str
) -> None:
    blocks: Any = list(block_files.items())
    if form != "list":
        times = {"seconds": "0 7200 7204.0", "clock": "0:00 02:00:00 02:00:04.0"}[form].split()
        rows = [f"{name},{time}" for name, time in zip(block_files, times, strict=True)]
        (tmp_path / "blocks.csv").write_text("\n".join(["path,start", *rows]))
        blocks = "blocks.csv"
    found = read_reference(SkimReferenceLine(item="day", blocks=blocks), tmp_path)
    assert isinstance(found, MarkedRecording)
    assert [(Path(s.path).name, s.start, s.seconds) for s in found.recording.stretches] == [
        (name, start, 4.0) for name, start in block_files.items()
    ]
    assert picks(SkimContent(times=[7201.0], block=4.0), found) == [(7201.0, 4.0)]
    assert [one.message for one in picks(SkimContent(times=[100.0]), found)] == [
        "nothing was recorded at 100 s"
    ]


def test_skims_are_located_in_the_files_of_blocks(
    block_files: dict[str, float], tmp_path: Path
) -> None:
    sounds = [soundfile.read(tmp_path / name)[0] for name in ("c.wav", "a.wav")]
    soundfile.write(tmp_path / "skim.wav", np.concatenate(sounds), 16_000)
    of = read_reference(SkimReferenceLine(item="d", blocks=list(block_files.items())), tmp_path)
    assert isinstance(of, MarkedRecording)
    [found] = parse([SkimContent(audio="skim.wav")], of, tmp_path, block=4.0)
    assert isinstance(found, ParsedSkim)
    assert [pick.start for pick in found.skim.picks] == pytest.approx([7204, 0], abs=0.05)


@pytest.mark.parametrize("ending", ["m4a", "mp4", "mp3"])
def test_skims_in_compressed_files_are_scored_as_their_picks(tmp_path: Path, ending: str) -> None:
    rate, starts = 16_000, (70.25, 12.5, 101.0)
    day = noise(130, rate)
    write(tmp_path / "day.flac", day, rate)
    skim = np.concatenate([day[round(start * rate) :][: 8 * rate] for start in starts])
    path = tmp_path / f"skim.{ending}"
    if ending == "mp3":
        write(path, skim, rate)
    else:
        encode_aac(path, skim, rate, pns=True)
    given: dict[str, dict[str, Any]] = {"times": {"times": starts}, "audio": {"audio": str(path)}}
    outputs = [{"item": "day", "system": name, "output": one} for name, one in given.items()]
    days = [{"item": "day", "recording": str(tmp_path / "day.flac")}]
    scores = ew.score(outputs, days, period=60.0)
    wanted, found = ({n: e.value for n, e in scores.systems[name].items()} for name in given)
    # decoders differ, so picks shift by up to 0.1 s: test_measures_sensitivity shows what that does
    assert found == pytest.approx(wanted, rel=0.03, abs=0.03)
    of = MarkedRecording(open_recording([tmp_path / "day.flac"]))
    [located] = parse([SkimContent(audio=str(path))], of)
    assert isinstance(located, ParsedSkim)
    assert [pick.start for pick in located.skim.picks] == pytest.approx(starts, abs=0.1)
    assert [pick.seconds for pick in located.skim.picks] == pytest.approx([8] * 3, abs=0.2)


def test_what_is_wrong_with_files_of_blocks_is_told(
    block_files: dict[str, float], tmp_path: Path
) -> None:
    (tmp_path / "no.csv").write_text("file,start\na.wav,0\n")
    (tmp_path / "times.csv").write_text("path,start\na.wav,noon\n,-1\n")
    (tmp_path / "empty.csv").write_text("path,start\n")
    told = [
        faults_of(read_reference(SkimReferenceLine(item="d", blocks=blocks), tmp_path))
        for blocks in ("no.csv", "times.csv", "empty.csv", "none.csv", [("x.wav", 0.0)])
    ]
    assert "no column path — the columns are path and start" in told[0][0]
    assert 'start: is not a time: "noon"' in told[1][0]
    assert "contains no blocks" in told[2][0]
    assert "none.csv" in told[3][0]
    assert "x.wav: cannot be read" in told[4][0]
    assert len(block_files) == 3


def test_passages_too_short_for_a_block_are_told() -> None:
    stretches = tuple(Stretch("a.wav", 0, 10 * n, seconds) for n, seconds in enumerate((5, 5, 8)))
    recording = Recording("day", stretches, 28, 16_000, 1)
    assert list(short_files_notes([recording], 8.0)) == [
        "day: 2 of 3 passages are shorter than one block of 8 s and do not count"
        " — use --block 5 or less"
    ]
    assert not list(short_files_notes([recording], 5.0))


@pytest.mark.parametrize("sample", [0.0, 0.1, np.nan])
def test_scores_of_a_recording_that_never_changes_have_a_reason(
    tmp_path: Path, sample: float
) -> None:
    still = np.full(20 * 8 * 8_000, sample, np.float32)
    soundfile.write(tmp_path / "still.wav", still, 8_000, subtype="FLOAT")
    outputs = [
        {"item": "still", "system": system, "output": {"times": [8, start]}}
        for system, start in (("a", 80), ("b", 120))
    ]
    scores = ew.score(outputs, [{"item": "still", "recording": str(tmp_path / "still.wav")}])
    reason = "still: the recording sounds the same throughout: tc, sd and coverage are undefined"
    assert scores.notes.count(reason) == 1
    for name in ("tc", "sd", "class_coverage"):
        assert np.isnan(scores.systems["a"][name].value)


def test_embedded_blocks_that_are_all_alike_are_told_and_others_not(tmp_path: Path) -> None:
    day = made(3, 20)
    same = np.ones_like(day.vectors)
    write_blocks(tmp_path / "day.npz", day)
    write_blocks(tmp_path / "same.npz", day, vectors=same)
    names = ("day", "same")
    outputs = [{"item": name, "system": "s", "output": {"times": [8]}} for name in names]
    days = [{"item": name, "blocks": str(tmp_path / f"{name}.npz")} for name in names]
    told = [note for note in ew.score(outputs, days).notes if "the same throughout" in note]
    assert [note.split(":")[0] for note in told] == ["same"]


def write_blocks(path: Path, day: Day, **other: Any) -> Path:
    arrays: dict[str, Any] = {
        "starts": day.starts,
        "seconds": day.seconds,
        "vectors": day.vectors,
        "classes": day.classes,
    }
    kept = {name: value for name, value in (arrays | other).items() if value is not None}
    np.savez(path, **kept)
    return path


def test_blocks_are_read_as_they_were_written(tmp_path: Path) -> None:
    day = made(3, 20, gaps=True)
    found = read_blocks_file(write_blocks(tmp_path / "a.npz", day))
    assert isinstance(found, Day)
    assert np.array_equal(found.vectors, day.vectors)
    assert (found.seconds, found.length) == (day.seconds, day.length)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"classes": None, "starts": None}, "has no starts, classes"),
        ({"starts": np.zeros((20, 1))}, "starts must be a 1-D array"),
        ({"vectors": np.full((20, 3), "a")}, "starts must be a 1-D array"),
        ({"vectors": np.zeros((19, 3))}, "20 starts, 19 vectors and 20 classes"),
        ({"seconds": 0.0}, "seconds must be one number above 0"),
        ({"seconds": np.zeros(2)}, "seconds must be one number above 0"),
        ({"starts": np.zeros(20)}, "starts must increase"),
        ({"vectors": np.full((20, 3), np.nan)}, "numbers must be finite"),
        ({"classes": np.full((20, 3), 1.5)}, "classes must be from 0 to 1"),
    ],
)
def test_blocks_that_are_none_are_refused(other: dict[str, Any], told: str, tmp_path: Path) -> None:
    found = read_blocks_file(write_blocks(tmp_path / "a.npz", made(3, 20), **other))
    assert told in faults_of(found)[0]


def test_a_file_that_holds_no_arrays_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_text("nothing")
    assert "a.npz: cannot be read" in faults_of(read_blocks_file(tmp_path / "a.npz"))[0]
    assert "b.npz: cannot be read" in faults_of(read_blocks_file(tmp_path / "b.npz"))[0]


def test_skims_are_told_from_other_tasks_by_their_first_lines() -> None:
    contents_: list[dict[str, Any]] = [{"picks": []}, {"times": [1]}, {"audio": "a.wav"}]
    for line in contents_:
        outputs = RecordSource([{"item": "a", "system": "s", "output": line}])
        assert find_task(first_lines(outputs, None)) is TASKS["skims"]
    for first in ({"recording": "a"}, {"blocks": "a"}):
        assert (
            find_task(first_lines(None, RecordSource([{"item": "a", **first}]))) is TASKS["skims"]
        )


@pytest.mark.parametrize(
    ("system", "meta", "dial"),
    [
        ("pareto-z0.5", {"z": 0.5, "method": "pareto"}, Dial("pareto", 0.5)),
        ("s", {"z": 1, "method": 7}, Dial("7", 1.0)),
        ("ours Z=.25", {"z": 0.25}, Dial("ours", 0.25)),
        ("z1", {"z": 1}, Dial("z", 1.0)),
        ("quiz3", {"z": 0}, Dial("quiz3", 0.0)),
        ("ours-z0", {"z": 0, "method": ["ours"]}, Dial("ours", 0.0)),
        ("ours-z0", {"z": 0, "method": ""}, Dial("ours", 0.0)),
        ("ours-z0", {"method": "ours"}, None),
        (3, {"z": None}, None),
    ],
)
def test_a_skim_belongs_to_the_method_that_meta_or_the_system_names(
    system: Any, meta: dict[str, Any], dial: Dial | None
) -> None:
    line = SkimOutputLine(item="day", system=system, output=SkimContent(times=[]), meta=meta)
    assert read_dial(line) == dial


def test_a_skim_without_meta_has_no_z() -> None:
    line = SkimOutputLine(item="day", system="ours-z0", output=SkimContent(times=[]))
    assert read_dial(line) is None
