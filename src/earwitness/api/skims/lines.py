"""Skims as lines that ``earwitness score`` reads: outputs, and the recordings they stand for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from earwitness.api.skims.asked import Asked
from earwitness.audio.encoding import write_whole
from earwitness.data import Recording, Skimmed

OUTPUTS, RECORDINGS = "outputs.jsonl", "recordings.jsonl"


def write_lines(
    folder: Path, skims: Sequence[Skimmed], wholes: Mapping[str, Recording], asked: Asked
) -> tuple[Path, Path]:
    """Both files, in a folder; ``wholes`` are the recordings that were given, by those skimmed."""
    recordings = {one.recording.name: one.recording for one in skims}
    outputs, references = folder / OUTPUTS, folder / RECORDINGS
    write_whole(outputs, _lines(_output(one, asked) for one in skims))
    lines = (_recording(one, wholes[name], folder, asked) for name, one in recordings.items())
    write_whole(references, _lines(lines))
    return outputs, references


def _lines(records: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


def _output(one: Skimmed, asked: Asked) -> dict[str, Any]:
    plan = asked.plan
    made: dict[str, Any] = {"embedder": asked.embedder, "block": plan.block, "period": plan.period}
    made |= {"sparse": True} if asked.sparse else {}
    dial = {} if one.z is None else {"z": one.z}
    picks = [[pick.start, pick.seconds] for pick in one.skim.picks]
    return {
        "item": one.recording.name,
        "system": one.system,
        "output": {"picks": picks},
        "meta": {"method": one.method, **dial, "made": made},
    }


def _recording(one: Recording, whole: Recording, folder: Path, asked: Asked) -> dict[str, Any]:
    """The recording by its files, and what was said about its clock.

    A day has its own files, if names alone tell their times; else all of them, from the first on.
    """
    start, zone = asked.start, asked.zone
    if asked.by_day and asked.shown and whole.began:  # midnight is that of the zone that is shown
        start, zone = whole.began.isoformat(), asked.shown
    known = whole if start or asked.hour_gap else one
    paths = dict.fromkeys(_seen(stretch.path, folder) for stretch in known.stretches)
    told = {"start": start, "zone": zone, "hour_gap": asked.hour_gap}
    if asked.by_day and one.began is not None:
        told["day"] = f"{one.began:%Y-%m-%d}"
    return {"item": one.name, "recording": list(paths)} | {n: v for n, v in told.items() if v}


def _seen(path: str, folder: Path) -> str:
    return Path(os.path.relpath(Path(path).resolve(), folder.resolve())).as_posix()
