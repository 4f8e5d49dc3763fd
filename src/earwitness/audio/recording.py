"""Recordings from files: hours, days and more on one clock, as the headers of the files tell it.

Little but headers is read here, so that a week is there at once. What a header says may be wrong,
and only reading shows it: ``earwitness.audio.reading`` tells each break that it meets, and
``mended`` gives the recording as it really is::

    recording = recording_of([Path("day")])
    breaks = []
    for stretch in recording.stretches:
        path, at, seconds = Path(stretch.path), stretch.at, stretch.seconds
        for chunk in read_blocks(path, at=at, seconds=seconds, broken=breaks.append):
            time = stretch.start + chunk.position - at  # on the clock
    recording = mended(recording, breaks)
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from earwitness.audio.clocks import DRIFT, clock_of, dated, in_order
from earwitness.audio.decoders import facts_of
from earwitness.audio.hours import without_hours
from earwitness.audio.parts import sound_files
from earwitness.audio.sources import Broken, Facts
from earwitness.audio.zones import zone_of
from earwitness.data import Damage, Progress, Recording, Stretch, no_progress
from earwitness.errors import InputError, Problem, UsageError


class Look(NamedTuple):
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


def _looked(files: Sequence[Path], progress: Progress) -> list[Look]:
    looks = []
    for number, path in enumerate(files):
        progress(number, len(files), number)
        try:
            looks.append(Look(path, facts_of(path)))
        except (Broken, OSError) as error:
            looks.append(Look(path, None, _fault(path, str(error))))
    return looks


def _fault(path: Path, told: str) -> str:
    """Why a file cannot be opened, without its name, which libsndfile and others repeat."""
    if path.is_file() and not path.stat().st_size:
        return "is empty"
    opening = f"Error opening {str(path)!r}: "
    return f"cannot be opened: {told.removeprefix(opening)}"


def _form(looks: Sequence[Look]) -> tuple[int, int]:
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


class Laid(NamedTuple):
    """Files on the clock: what sounds, what is broken, and what is to be said."""

    stretches: tuple[Stretch, ...]
    damages: tuple[Damage, ...]
    notes: tuple[str, ...]


def _laid(looks: Sequence[Look], starts: Sequence[float]) -> Laid:
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
        if over > DRIFT:
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
    return Laid(tuple(stretches), tuple(damages), _drift(cuts))


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
