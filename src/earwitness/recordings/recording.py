"""Sound files of hours and days as one recording, with gaps, damage and days."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from earwitness.audio.decode import facts_of
from earwitness.audio.files import PYAV_FORMATS, DecodingError, Facts
from earwitness.audio.read import Break
from earwitness.core import Progress, no_progress
from earwitness.errors import InputError, Problem, UsageError
from earwitness.recordings.clock import MAX_CLOCK_DRIFT_SECONDS, clock_of, dated, in_order, zone_of
from earwitness.recordings.hour_marks import without_hours
from earwitness.recordings.types import Damage, Recording, Stretch

# --- Sound files in natural order ----------------------------------------------------------------


LIBSNDFILE_FORMATS = re.split(
    " ", "wav wave rf64 w64 flac mp3 ogg oga aif aiff aifc au caf snd bwf"
)
SOUND_ENDINGS = frozenset(f".{one}" for one in LIBSNDFILE_FORMATS + PYAV_FORMATS)


def sound_files(paths: Iterable[Path]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Files in order, those of folders with all below them; and a note on what was passed over."""
    files: list[Path] = []
    notes: list[str] = []
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder")
        if not path.is_dir():
            files.append(path)
            continue
        inside = sorted((one for one in path.rglob("*") if one.is_file()), key=natural)
        inside = [one for one in inside if not one.name.startswith(".")]
        sound = [one for one in inside if one.suffix.lower() in SOUND_ENDINGS]
        files += sound
        if passed := [one for one in inside if one.suffix.lower() not in SOUND_ENDINGS]:
            notes.append(f"{path}: passed over what is no sound: {_listed(passed)}")
    return tuple(files), tuple(notes)


def natural(path: Path) -> tuple[tuple[tuple[int, str], ...], ...]:
    """A key by which ``a10`` comes behind ``a9``.

    >>> [one.name for one in sorted([Path("a10.wav"), Path("a9.wav")], key=natural)]
    ['a9.wav', 'a10.wav']
    """
    return tuple(_pieces(part) for part in path.parts)


def _pieces(name: str) -> tuple[tuple[int, str], ...]:
    pieces = re.findall(r"\d+|\D+", name)
    return tuple((int(one), "") if one.isdecimal() else (-1, one.casefold()) for one in pieces)


def _listed(paths: list[Path], most: int = 3) -> str:
    more = f" and {len(paths) - most} more" if len(paths) > most else ""
    return ", ".join(path.name for path in paths[:most]) + more


# --- Recordings from files -----------------------------------------------------------------------
# Little but headers is read here, so that a week is there at once. What a header says may be wrong,
# and only reading shows it: ``earwitness.audio.read`` tells each break that it meets, and
# ``mended`` gives the recording as it really is::
#
#     recording = recording_of([Path("day")])
#     breaks = []
#     for stretch in recording.stretches:
#         path, at, seconds = Path(stretch.path), stretch.at, stretch.seconds
#         for chunk in read_blocks(path, at=at, seconds=seconds, broken=breaks.append):
#             time = stretch.start + chunk.position - at  # on the clock
#     recording = mended(recording, breaks)


class FileHeader(NamedTuple):
    """A file, and what its header says or why it cannot be opened."""

    path: Path
    facts: Facts | None
    fault: str = ""

    @property
    def seconds(self) -> float:
        """Its length, or none."""
        return self.facts.seconds if self.facts else 0.0


def recording_of(
    paths: Sequence[Path],
    *,
    name: str = "",
    start: str | None = None,
    zone: str | None = None,
    shown: str | None = None,
    hour_gap: float = 0.0,
    progress: Progress = no_progress,
) -> Recording:
    """The recording that files and folders of consecutive files make.

    Names tell when each file began, in ``zone`` if the names themselves do not say it; else
    ``start`` tells it for the first, and the others follow. ``shown`` is the zone in which times
    are told afterwards. What nobody recorded between files stays missing. Silences of ``hour_gap``
    seconds that mark hours are looked for and taken out of the clock, if that is more than none.
    """
    files, notes = sound_files(paths)
    if not files:
        remedy = "sound is known by its ending: .wav, .flac, .mp3, …"
        problem = Problem(", ".join(map(str, paths)), 0, "", "there is no sound", remedy)
        raise InputError([problem], done="read")
    looks = _looked(in_order(files, zone), progress)
    rate, channels = _form(looks)
    clock = clock_of([dated(look.path, look.seconds) for look in looks], start=start, zone=zone)
    stretches, damages, more = _laid(looks, clock.starts)
    began = clock.began
    if shown:
        if began is None or began.tzinfo is None:
            told = "times can be shown in a zone only if the recording's own is known"
            raise UsageError(f"{told} — say it, too (--zone UTC)")
        began = began.astimezone(zone_of(shown))
    lies = [f"{path}: {facts.note}" for path, facts, _ in looks if facts and _lies(facts)]
    name = name or paths[0].stem
    seconds = max(one.end for one in stretches)
    notes = (*notes, *clock.notes, *lies, *more)
    found = Recording(name, stretches, seconds, rate, channels, began, damages, notes)
    return without_hours(found, hour_gap) if hour_gap else found


def _lies(facts: Facts) -> bool:
    """Whether a header lies without anything being lost, which would be a damage."""
    return bool(facts.note) and not facts.short


def _looked(files: Sequence[Path], progress: Progress) -> list[FileHeader]:
    looks = []
    for number, path in enumerate(files):
        progress(number, len(files), number)
        try:
            looks.append(FileHeader(path, facts_of(path)))
        except (DecodingError, OSError) as error:
            looks.append(FileHeader(path, None, _fault(path, str(error))))
    return looks


def _fault(path: Path, told: str) -> str:
    """Why a file cannot be opened, without its name, which libsndfile and others repeat."""
    if path.is_file() and not path.stat().st_size:
        return "is empty"
    opening = f"Error opening {str(path)!r}: "
    return f"cannot be opened: {told.removeprefix(opening)}"


def _form(looks: Sequence[FileHeader]) -> tuple[int, int]:
    """Rate of all, and channels: one if they differ, since the mean is taken then."""
    good = [(look.path, look.facts) for look in looks if look.facts and look.facts.frames]
    if not good:
        problems = [Problem(str(one.path), 0, "", one.fault or "is empty") for one in looks]
        raise InputError(problems, done="read")
    first, facts = good[0]
    others = [
        Problem(
            str(path), 0, "", f"has {one.rate} Hz, but {first.name} has {facts.rate} Hz",
            "give files of one rate",
        )
        for path, one in good
        if one.rate != facts.rate
    ]  # fmt: skip
    if others:
        raise InputError(others, done="read")
    counts = {one.channels for _, one in good}
    return facts.rate, counts.pop() if len(counts) == 1 else 1


class RecordingLayout(NamedTuple):
    """Files on the clock: what sounds, what is broken, and what is to be said."""

    stretches: tuple[Stretch, ...]
    damages: tuple[Damage, ...]
    notes: tuple[str, ...]


def _laid(looks: Sequence[FileHeader], starts: Sequence[float]) -> RecordingLayout:
    """Each file from its start on; one that begins before the last ended is cut at the front."""
    stretches: list[Stretch] = []
    damages: list[Damage] = []
    problems: list[Problem] = []
    cuts: list[tuple[float, Path]] = []
    end = 0.0
    for look, start in zip(looks, starts, strict=True):
        if not look.seconds:
            fault = look.fault or "is empty"
            damages.append(Damage(str(look.path), 0.0, start, fault))
            continue
        over = max(0.0, end - start)
        if over > MAX_CLOCK_DRIFT_SECONDS:
            problems.append(_over(look.path, over))
            continue
        cuts += [(over, look.path)] * (over > 0)
        if look.seconds > over:
            stretches.append(Stretch(str(look.path), over, start + over, look.seconds - over))
            end = stretches[-1].end
        if look.facts and look.facts.short:
            damages.append(Damage(str(look.path), look.seconds, end, look.facts.note))
    if problems:
        raise InputError(problems, done="read")
    return RecordingLayout(tuple(stretches), tuple(damages), _drift(cuts))


def _over(path: Path, over: float) -> Problem:
    message = f"begins {over:.1f} s before the last file ended"
    return Problem(str(path), 0, "", message, "leave one of them out, or mend the names")


def _drift(cuts: Sequence[tuple[float, Path]]) -> tuple[str, ...]:
    if not cuts:
        return ()
    most, path = max(cuts)
    one = len(cuts) == 1
    files = "1 file begins" if one else f"{len(cuts)} files begin"
    cut = "is cut at its front" if one else "are cut at their fronts"
    return (f"{files} before the last one ended, and {cut}: at most {most:.2f} s, in {path.name}",)


# --- Recordings after read errors ----------------------------------------------------------------


def mended(recording: Recording, breaks: Iterable[Break]) -> Recording:
    """The recording without what could not be read, each damage named with its time."""
    stretches = list(recording.stretches)
    damages = set(recording.damages)
    for one in breaks:
        hit = [s for s in stretches if s.path == one.path and s.at < one.at + one.seconds]
        hit = [s for s in hit if one.at < s.at + s.seconds]
        damages |= {_damage(s, one) for s in hit if one.message}
        stretches = [piece for s in stretches for piece in (_around(s, one) if s in hit else [s])]
    if not stretches:
        problems = [Problem(one.path, 0, "", one.message) for one in damages]
        raise InputError(problems, done="read")
    return replace(
        recording,
        stretches=tuple(stretches),
        seconds=max(s.end for s in stretches),
        damages=tuple(sorted(damages, key=lambda one: (one.start, one.path, one.at))),
    )


def _damage(stretch: Stretch, one: Break) -> Damage:
    at = max(one.at, stretch.at)
    return Damage(one.path, at, stretch.start + at - stretch.at, one.message)


def _around(stretch: Stretch, one: Break) -> list[Stretch]:
    """What is left of a stretch before and behind a break."""
    end = stretch.at + stretch.seconds
    spans = [(stretch.at, min(one.at, end)), (max(stretch.at, one.at + one.seconds), end)]
    return [
        Stretch(stretch.path, low, stretch.start + low - stretch.at, high - low)
        for low, high in spans
        if high > low
    ]


# --- Days cut at midnight ------------------------------------------------------------------------


MIN_STRETCH_SECONDS = 1e-6  # seconds that are worth a stretch


def days_of(recording: Recording) -> list[Recording]:
    """One recording a day on which anything was recorded, named by its date.

    Midnight is that of the zone in which the recording began, so that a day on which clocks change
    has 23 or 25 hours. The first and the last day may be short.
    """
    if recording.began is None:
        raise UsageError(
            f"{recording.name}: nobody knows when it began, so it has no days"
            " — say it (--start 2025-07-22T06:30:00), or name files as recorders do"
        )
    cuts = [0.0, *_midnights(recording, recording.began), recording.seconds]
    found = [_between(recording, low, high) for low, high in pairwise(cuts)]
    return [day for day in found if day is not None]


def _midnights(recording: Recording, began: datetime) -> list[float]:
    """All midnights within a recording, on its clock."""
    found: list[float] = []
    date = began.date()
    while True:
        date += timedelta(days=1)
        midnight = datetime.combine(date, time(), began.tzinfo)
        if began.tzinfo is None:
            after = (midnight - began).total_seconds()
        else:
            after = midnight.timestamp() - began.timestamp()
        if after >= recording.seconds:
            return found
        found.append(after)


def _between(recording: Recording, low: float, high: float) -> Recording | None:
    """What was recorded from one time to another; none if that is nothing."""
    inside = [_cut(one, low, high) for one in recording.stretches]
    kept = [one for one in inside if one.seconds > MIN_STRETCH_SECONDS]
    began = recording.clock(low + kept[0].start) if kept else None
    if began is None:
        return None
    first = kept[0].start
    stretches = tuple(replace(one, start=one.start - first) for one in kept)
    hurt = tuple(
        replace(one, start=one.start - low - first)
        for one in recording.damages
        if low <= one.start < high
    )
    return replace(
        recording,
        name=f"{recording.name}_{began:%Y%m%d}",
        stretches=stretches,
        seconds=stretches[-1].end,
        began=began,
        damages=hurt,
    )


def _cut(stretch: Stretch, low: float, high: float) -> Stretch:
    """What of a stretch lies between two times, on the clock that starts at the first."""
    start, end = max(stretch.start, low), min(stretch.end, high)
    at = stretch.at + (start - stretch.start)
    return Stretch(stretch.path, at, start - low, end - start)
