"""Files of one skim, the JSON Lines files that ``earwitness score`` reads, and the report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from earwitness.audio.encode import encode
from earwitness.audio.signal import apply_gain, render
from earwitness.io.atomic import write_files
from earwitness.recordings.types import Recording
from earwitness.report.html.page import render_html
from earwitness.report.parts import Plane
from earwitness.skims.make import cut_pick, make_sound_spectrogram
from earwitness.skims.options import EXTRAS, SkimOptions
from earwitness.skims.page import skim_page
from earwitness.skims.picks import PICK_LISTS, picks_json
from earwitness.skims.picture import skim_picture
from earwitness.skims.report import point_name, skimming_report
from earwitness.skims.types import Skim, SkimResult, SkimRun
from earwitness.skims.view import SkimMeasure, SkimView, Spectrogram

# --- Files of one skim ---------------------------------------------------------------------------


DRAWINGS = {"picture": (".svg", skim_picture), "page": (".html", skim_page)}
MEASURE_DOCS = {
    "tc": ("Temporal consistency", "1 = follows the day as closely as the calibration"),
    "sd": ("Source diversity", "1 = as many sound classes as the calibration"),
    "coverage": ("Coverage", "share of the recording's sound classes"),
}


class SkimFiles(NamedTuple):
    """Paths of the written files, and notes on changes to the audio."""

    paths: tuple[Path, ...]
    notes: tuple[str, ...]


def render_skim(recording: Recording, skim: Skim) -> Any:
    """Return the samples of a skim, with the gains of its picks."""
    pieces = [
        apply_gain(cut_pick(recording, pick)[:: -1 if pick.turned else 1], pick.gain)
        for pick in skim.picks
    ]
    return render(pieces, recording.rate, skim.overlap)


def name_skim_files(path: Path, options: SkimOptions) -> dict[str, Path]:
    """Return the path of each file of a skim, by name."""
    endings = {name: ending for name, (ending, _) in {**PICK_LISTS, **DRAWINGS}.items()}
    return {
        "sound": path,
        **{n: path.with_suffix(endings[n]) for n in EXTRAS if n not in options.without},
    }


def write_skim(
    path: Path,
    result: SkimResult,
    plane: Plane,
    spectrogram: Spectrogram,
    options: SkimOptions,
) -> SkimFiles:
    """Write all files of one skim, or none of them.

    ``plane`` has the TC and SD of all skims of the recording and of the baselines.
    """
    samples = render_skim(result.recording, result.skim)
    sound = encode(samples, result.recording.rate, path.suffix, options.bits)
    notes = (*result.notes, *sound.notes)
    view = SkimView(
        result.recording,
        result.skim,
        spectrogram,
        sound.content,
        sound.mime,
        tuple(
            SkimMeasure(name, result.measures[key], doc)
            for key, (name, doc) in MEASURE_DOCS.items()
        ),
        plane,
        (result.method, point_name(result)),
        (*notes, result.signature),
        make_sound_spectrogram(samples, result.recording.rate),
    )
    contents = {path: sound.content}
    for name, place in name_skim_files(path, options).items():
        if name in DRAWINGS:
            contents[place] = DRAWINGS[name][1](view).encode()
        elif name == "json":
            fields = _result_fields(result, notes)
            contents[place] = picks_json(result.recording, result.skim, fields).encode()
        elif name in PICK_LISTS:
            contents[place] = PICK_LISTS[name][1](result.recording, result.skim).encode()
    write_files(contents)
    return SkimFiles(tuple(contents), sound.notes)


def is_made(path: Path, result: SkimResult, options: SkimOptions) -> bool:
    """Whether the same skim already exists with all its files."""
    places = name_skim_files(path, options)
    if "json" not in places or not all(place.is_file() for place in places.values()):
        return False
    expected = picks_json(result.recording, result.skim, _result_fields(result, ()))
    try:
        content = msgspec.json.decode(places["json"].read_bytes())
    except (OSError, msgspec.DecodeError):
        return False
    return isinstance(content, dict) and content | {"notes": []} == msgspec.json.decode(expected)


def _result_fields(result: SkimResult, notes: Sequence[str]) -> dict[str, Any]:
    return {
        "signature": result.signature,
        "method": result.method,
        "z": result.z,
        "measures": {
            name: None if isnan(value) else value for name, value in result.measures.items()
        },
        "notes": list(notes),
    }


# --- Lines for scoring, and the report -----------------------------------------------------------


OUTPUTS_FILE, RECORDINGS_FILE = "outputs.jsonl", "recordings.jsonl"
REPORT_FILE = "skims.html"


def write_lines(
    folder: Path, skims: Sequence[SkimResult], wholes: Mapping[str, Recording], options: SkimOptions
) -> tuple[Path, Path]:
    """Write both files; ``wholes`` maps each skimmed recording to the recording it is part of."""
    recordings = {result.recording.name: result.recording for result in skims}
    outputs, references = folder / OUTPUTS_FILE, folder / RECORDINGS_FILE
    lines = (
        _recording_record(recording, wholes[name], folder, options)
        for name, recording in recordings.items()
    )
    write_files(
        {
            outputs: _encode_lines(_output_record(result, options) for result in skims),
            references: _encode_lines(lines),
        }
    )
    return outputs, references


def write_report(folder: Path, run: SkimRun) -> Path:
    """Write the report of a run as a page next to its skims."""
    path = folder / REPORT_FILE
    write_files({path: render_html(skimming_report(run)).encode()})
    return path


def _encode_lines(records: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


def _output_record(result: SkimResult, options: SkimOptions) -> dict[str, Any]:
    plan = options.plan
    settings: dict[str, Any] = {
        "embedder": options.embedder,
        "block": plan.block,
        "period": plan.period,
    }
    settings |= {"sparse": True} if options.sparse else {}
    dial = {} if result.z is None else {"z": result.z}
    picks = [[pick.start, pick.seconds] for pick in result.skim.picks]
    return {
        "item": result.recording.name,
        "system": result.system,
        "output": {"picks": picks},
        "meta": {"method": result.method, **dial, "made": settings},
    }


def _recording_record(
    recording: Recording, whole: Recording, folder: Path, options: SkimOptions
) -> dict[str, Any]:
    """Return the recording's files and clock settings.

    A day lists its own files if file names give their times; otherwise all files of the recording.
    """
    start, zone = options.start, options.zone
    if options.by_day and options.shown and whole.began:  # midnight in the displayed time zone
        start, zone = whole.began.isoformat(), options.shown
    source = whole if start or options.hour_gap else recording
    place = folder.resolve()
    files = dict.fromkeys(Path(stretch.path).resolve() for stretch in source.stretches)
    paths = [Path(os.path.relpath(file, place)).as_posix() for file in files]
    clock = {"start": start, "zone": zone, "hour_gap": options.hour_gap}
    if options.by_day and recording.began is not None:
        clock["day"] = f"{recording.began:%Y-%m-%d}"
    record: dict[str, Any] = {"item": recording.name, "recording": paths}
    return record | {name: value for name, value in clock.items() if value}
