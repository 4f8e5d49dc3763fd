"""Skims as lines that ``earwitness score`` reads: outputs, and the recordings they stand for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from earwitness.api.skims.asked import Asked
from earwitness.audio.encoding import write_whole
from earwitness.data import Recording, Skimmed

OUTPUTS, RECORDINGS = "outputs.jsonl", "recordings.jsonl"


def write_lines(folder: Path, skims: Sequence[Skimmed], asked: Asked) -> tuple[Path, Path]:
    """Both files, in a folder."""
    recordings = {one.recording.name: one.recording for one in skims}
    outputs, references = folder / OUTPUTS, folder / RECORDINGS
    write_whole(outputs, _lines(_output(one) for one in skims))
    write_whole(references, _lines(_recording(one, folder, asked) for one in recordings.values()))
    return outputs, references


def _lines(records: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


def _output(one: Skimmed) -> dict[str, Any]:
    meta = {"method": one.method} | ({} if one.z is None else {"z": one.z})
    picks = [[pick.start, pick.seconds] for pick in one.skim.picks]
    return {
        "item": one.recording.name,
        "system": one.system,
        "output": {"picks": picks},
        "meta": meta,
    }


def _recording(one: Recording, folder: Path, asked: Asked) -> dict[str, Any]:
    """The recording by its files, and what was said about its clock."""
    paths = dict.fromkeys(_seen(stretch.path, folder) for stretch in one.stretches)
    told = {"start": asked.start, "zone": asked.zone, "hour_gap": asked.hour_gap}
    if asked.by_day and one.began is not None:
        told["day"] = f"{one.began:%Y-%m-%d}"
    return {"item": one.name, "recording": list(paths)} | {n: v for n, v in told.items() if v}


def _seen(path: str, folder: Path) -> str:
    return Path(os.path.relpath(Path(path).resolve(), folder.resolve())).as_posix()
