"""What lines of skims mean: a recording or the blocks of one, and picks of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from msgspec import UNSET

from earwitness.data import Pick, Recording, Skim
from earwitness.errors import EarwitnessError, InputError, UsageError, nearest
from earwitness.formats.check import Fault
from earwitness.formats.skims.layouts import Content, Line
from earwitness.formats.skims.sounds import Real, Resolved, skims_of_sound
from earwitness.metrics.skims.days import Recorded, Reference
from earwitness.stats.skims.day import Day

BLOCK = 8.0
NEEDED = "starts, seconds, vectors and classes"
WAYS = ("picks", "times", "audio")


def beside(folder: Path | None, name: str) -> Path:
    """A path as it is seen from the file that names it."""
    return Path(name) if folder is None else folder / name


def recorded(record: Line, folder: Path | None) -> Reference | list[Fault]:
    """What a skim is measured against, or what is wrong with it."""
    if record.recording is UNSET and record.blocks is UNSET:
        return [Fault("recording", "missing", "name its files or folder, or blocks")]
    if record.recording is not UNSET and record.blocks is not UNSET:
        return [Fault("blocks", "there is a recording, too", "keep one")]
    if record.blocks is not UNSET:
        given = _clock(record)
        faults = [Fault(name, "not with blocks, which have their times") for name in given]
        return faults or blocks_from(beside(folder, record.blocks))
    try:
        return _recording(record, folder)
    except InputError as error:
        return [Fault("recording", str(problem)) for problem in error.problems]
    except (EarwitnessError, OSError) as error:
        return [Fault("recording", str(error))]


def _clock(record: Line) -> list[str]:
    """What is said about the clock of a recording."""
    names = ("start", "zone", "hour_gap", "day")
    return [name for name in names if getattr(record, name) is not UNSET]


def _recording(record: Line, folder: Path | None) -> Recorded:
    from earwitness.audio.recording import recording_of

    assert record.recording is not UNSET
    names = [record.recording] if isinstance(record.recording, str) else record.recording
    paths = [beside(folder, name) for name in names]
    start, zone = (None if one is UNSET else one for one in (record.start, record.zone))
    gap = 0.0 if record.hour_gap is UNSET else record.hour_gap
    name = str(record.item)
    if record.day is UNSET:
        return Recorded(recording_of(paths, name=name, start=start, zone=zone), gap)
    whole = recording_of(paths, name=name, start=start, zone=zone, hour_gap=gap)
    return Recorded(_day(whole, record.day))


def _day(recording: Recording, date: str) -> Recording:
    """One day of a recording."""
    from earwitness.audio.days import days_of

    found = {f"{day.began:%Y-%m-%d}": day for day in days_of(recording)}
    if date not in found:
        raise UsageError(f"nothing was recorded on {date} — {nearest(date, found)}")
    return found[date]


def blocks_from(path: Path) -> Day | list[Fault]:
    """Blocks that somebody else embedded: arrays in a file of NumPy's."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError) as error:
        return [Fault("blocks", f"{path}: cannot be read: {error}", "write it with numpy.savez")]
    if missing := [name for name in NEEDED.replace(" and", ",").split(", ") if name not in arrays]:
        return [Fault("blocks", f"{path}: has no {', '.join(missing)}", f"it needs {NEEDED}")]
    told = _misshapen(arrays)
    if told:
        return [Fault("blocks", f"{path}: {told}")]
    return Day.of(arrays["starts"], float(arrays["seconds"]), arrays["vectors"], arrays["classes"])


def _misshapen(arrays: dict[str, Any]) -> str:
    """What is wrong with arrays, if anything is."""
    starts, vectors, classes = (arrays[name] for name in ("starts", "vectors", "classes"))
    kinds = [one.dtype.kind in "fiu" for one in (*arrays.values(), starts)]
    if not all(kinds) or (starts.ndim, vectors.ndim, classes.ndim) != (1, 2, 2):
        return "starts must be a row of numbers, vectors and classes tables of numbers"
    if len({len(starts), len(vectors), len(classes)}) > 1:
        return f"{len(starts)} starts, {len(vectors)} vectors and {len(classes)} classes"
    if arrays["seconds"].size != 1 or not float(arrays["seconds"]) > 0:
        return "seconds must be one number over 0"
    if not all(np.isfinite(one).all() for one in (starts, vectors, classes)):
        return "numbers must be finite"
    if len(starts) and float(np.min(np.diff(starts), initial=np.inf)) <= 0:
        return "starts must grow"
    if classes.size and not 0 <= float(classes.min()) <= float(classes.max()) <= 1:
        return "classes must be from 0 to 1"
    return ""


def skim_of(
    content: Content, of: Reference, folder: Path | None, real: Real
) -> Resolved | list[Fault]:
    """Picks, or all that is wrong with them; ``real`` tells a recording on its true clock."""
    given = _given(content)
    if len(given) != 1:
        told = f"has {' and '.join(given)}" if given else "has no picks"
        return [Fault("output", told, "give one of picks, times, audio")]
    if content.block is not UNSET and given != ["times"]:
        return [Fault("output.block", f"not with {given[0]}", "give it with times")]
    if (path := sound_of(content, folder)) is not None:
        return skims_of_sound([path], of, real)[0]
    picks = _picks(content)
    faults = [
        Fault(f"output.{given[0]}[{place}]", told)
        for place, pick in enumerate(picks)
        if (told := _outside(pick, of))
    ]
    return faults or Resolved(Skim(tuple(picks)))


def sound_of(content: Content, folder: Path | None) -> Path | None:
    """The file of a skim that is given as sound and nothing else; else None."""
    if content.audio is UNSET or content.block is not UNSET or len(_given(content)) != 1:
        return None
    return beside(folder, content.audio)


def _given(content: Content) -> list[str]:
    """The ways in which a skim is given: one of them, if it is right."""
    return [name for name in WAYS if getattr(content, name) is not UNSET]


def _picks(content: Content) -> list[Pick]:
    if content.picks is not UNSET:
        return [Pick(start, seconds) for start, seconds in content.picks]
    assert content.times is not UNSET
    block = BLOCK if content.block is UNSET else content.block
    return [Pick(start, block) for start in content.times]


def _outside(pick: Pick, of: Reference) -> str:
    """What is wrong with where a pick lies."""
    length = of.length if isinstance(of, Day) else of.recording.seconds
    if pick.start < 0 or pick.start >= length:
        return f"{pick.start:g} s is not in the recording, which has {length:g} s"
    if isinstance(of, Day) or of.hour_gap:  # where silences are is not known yet
        return ""
    end = pick.start + pick.seconds
    over = [min(one.end, end) - max(one.start, pick.start) for one in of.recording.stretches]
    return "" if max(over, default=0) > 0 else f"nothing was recorded at {pick.start:g} s"
