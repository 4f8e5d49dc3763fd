"""Which block of a skim came from when, for people and for other programs.

JSON has all that is known; CSV a row a pick. Labels for Audacity and selection tables for Raven
count either in the skim, or in the files of the recording one behind the other: so these programs
show them, and they know nothing of missing time or of silences that were taken out of the clock.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

from earwitness.audio.fades import starts_of
from earwitness.data import Damage, Pick, Recording, Skim

Where = Literal["skim", "files"]
COLUMNS = ("pick", "start", "seconds", "heard", "time", "file", "at", "turned")
RAVEN = (
    "Selection",
    "View",
    "Channel",
    "Begin Time (s)",
    "End Time (s)",
    "Low Freq (Hz)",
    "High Freq (Hz)",
    "Begin File",
    "File Offset (s)",
    "Begin Clock Time",
    "Annotation",
)


@dataclass(frozen=True, slots=True)
class Listed:
    """A pick with all its times.

    It starts at ``start`` on the clock of the recording, at ``at`` in its file and at ``joined``
    in all files one behind the other; it is ``heard`` so many seconds after the skim starts.
    """

    number: int
    pick: Pick
    heard: float
    time: str
    path: str
    at: float
    joined: float


def listed(recording: Recording, skim: Skim) -> tuple[Listed, ...]:
    """All picks in the order in which they are heard."""
    heard = starts_of([pick.seconds for pick in skim.picks], skim.overlap)
    before = _before(recording)
    return tuple(
        _one(number, pick, start, recording, before)
        for number, (pick, start) in enumerate(zip(skim.picks, heard, strict=True), 1)
    )


def _one(
    number: int, pick: Pick, heard: float, recording: Recording, before: Mapping[str, float]
) -> Listed:
    clock = recording.clock(pick.start)
    time = clock.isoformat(timespec="milliseconds") if clock else ""
    stretch = recording.find(pick.start)
    if stretch is None:
        return Listed(number, pick, heard, time, "", pick.start, pick.start)
    at = stretch.at + pick.start - stretch.start
    return Listed(number, pick, heard, time, stretch.path, at, before[stretch.path] + at)


def _before(recording: Recording) -> dict[str, float]:
    """How many seconds lie in the files before each file."""
    ends: dict[str, float] = {}
    for one in recording.stretches:
        ends[one.path] = max(ends.get(one.path, 0.0), one.at + one.seconds)
    found, total = {}, 0.0
    for path, seconds in ends.items():
        found[path] = total
        total += seconds
    return found


def picks_json(recording: Recording, skim: Skim, told: Mapping[str, Any] | None = None) -> str:
    """All that is known; ``told`` are fields of the caller that come first: method, measures, …"""
    whole = {
        **(told or {}),
        "recording": _recording(recording),
        "skim": {"seconds": _round(skim.seconds), "overlap": skim.overlap},
        "picks": [_fields(one) | {"why": dict(one.pick.why)} for one in listed(recording, skim)],
    }
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


def picks_csv(recording: Recording, skim: Skim) -> str:
    """A row a pick, with a column for every reason; it can be read again as times."""
    rows = listed(recording, skim)
    reasons = list(dict.fromkeys(name for one in rows for name in one.pick.why))
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*COLUMNS, *(f"why_{name}" for name in reasons)])
    for one in rows:
        why = [_plain(one.pick.why.get(name, "")) for name in reasons]
        writer.writerow([*map(_plain, _fields(one).values()), *why])
    return file.getvalue()


def picks_labels(recording: Recording, skim: Skim, where: Where = "skim") -> str:
    """Labels for Audacity: start, end and text, with tabs between them."""
    lines = []
    for one in listed(recording, skim):
        start, end = _span(one, where)
        turned = " (backwards)" if one.pick.turned else ""
        lines.append(f"{start:.6f}\t{end:.6f}\t{one.number}  {_short(one)}{turned}\n")
    return "".join(lines)


def picks_raven(recording: Recording, skim: Skim, where: Where = "files") -> str:
    """A selection table for Raven, whose selections reach over all frequencies."""
    lines = ["\t".join(RAVEN)]
    for one in listed(recording, skim):
        start, end = _span(one, where)
        cells = [
            str(one.number),
            "Spectrogram 1",
            "1",
            f"{start:.6f}",
            f"{end:.6f}",
            "0",
            f"{recording.rate / 2:g}",
            _untabbed(PurePath(one.path).name) if where == "files" else "",
            f"{one.at:.6f}" if where == "files" else "",
            one.time[11:23],
            f"pick {one.number}",
        ]
        lines.append("\t".join(cells))
    return "\n".join(lines) + "\n"


Writer = Callable[[Recording, Skim], str]
LISTS: dict[str, tuple[str, Writer]] = {  # name: ending of the file, and what it says
    "json": (".json", picks_json),
    "csv": (".csv", picks_csv),
    "labels": (".labels.txt", picks_labels),
    "file-labels": (
        ".files.labels.txt",
        lambda recording, skim: picks_labels(recording, skim, "files"),
    ),
    "raven": (".raven.txt", picks_raven),
}


def _fields(one: Listed) -> dict[str, Any]:
    pick = one.pick
    times = (pick.start, pick.seconds, one.heard)
    values = (one.number, *map(_round, times), one.time, one.path, _round(one.at), pick.turned)
    return dict(zip(COLUMNS, values, strict=True))


def _recording(recording: Recording) -> dict[str, Any]:
    began = recording.began
    return {
        "name": recording.name,
        "began": began.isoformat() if began else None,
        "seconds": _round(recording.seconds),
        "missing": _round(recording.seconds - sum(one.seconds for one in recording.stretches)),
        "rate": recording.rate,
        "files": list(dict.fromkeys(one.path for one in recording.stretches)),
        "damages": [_damage(one) for one in recording.damages],
        "notes": list(recording.notes),
    }


def _damage(one: Damage) -> dict[str, Any]:
    at, start = _round(one.at), _round(one.start)
    return {"file": one.path, "at": at, "start": start, "what": one.message}


def _span(one: Listed, where: Where) -> tuple[float, float]:
    start = one.heard if where == "skim" else one.joined
    return start, start + one.pick.seconds


def _short(one: Listed) -> str:
    """Time of day; else seconds after the recording began."""
    return one.time[11:19] or f"{one.pick.start:.1f} s"


def _plain(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else ""
    return _round(value) if isinstance(value, float) else value


def _round(seconds: float) -> float:
    """To the microsecond, which no sample rate needs."""
    return round(float(seconds), 6) + 0.0


def _untabbed(text: str) -> str:
    return " ".join(text.split())
