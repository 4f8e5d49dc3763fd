"""Skims that are given as sound, found in the recording that they are of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from earwitness.data import Recording, Skim
from earwitness.errors import EarwitnessError
from earwitness.formats.check import Fault
from earwitness.metrics.skims.days import Recorded, Reference
from earwitness.stats.skims.day import Day

if TYPE_CHECKING:
    from earwitness.audio.along import Matched
    from earwitness.audio.thinning import Floats

ENOUGH = 0.5  # of a skim that is given as sound must be in its recording
TOGETHER = 32  # skims that are looked for in one pass over a recording


class Resolved(NamedTuple):
    """A skim, and what was said when it was found in the recording."""

    skim: Skim
    told: tuple[str, ...] = ()


Real = Callable[[Recorded], Recording]
Found = Resolved | list[Fault]


def skims_of_sound(paths: Sequence[Path], of: Reference, real: Real) -> list[Found]:
    """Skims by their picks, or all that is wrong with them; ``real`` tells the true clock."""
    if isinstance(of, Day):
        fault = Fault("output.audio", "cannot be found in blocks", "name the recording itself")
        return [[fault] for _ in paths]
    found: list[Found] = []
    for first in range(0, len(paths), TOGETHER):
        found += _found(paths[first : first + TOGETHER], of, real)
    return found


def _found(paths: Sequence[Path], of: Recorded, real: Real) -> Iterable[Found]:
    from earwitness.audio.matching import match_all

    try:
        recording = real(of) if of.hour_gap else of.recording
        read = [_read(path, recording) for path in paths]
        sounds = [one for one in read if not isinstance(one, list)]
        matched = iter(match_all(sounds, recording) if sounds else [])
    except (EarwitnessError, OSError) as error:
        return [[Fault("output.audio", str(error))] for _ in paths]
    return [
        one if isinstance(one, list) else _judged(path, len(one) / recording.rate, next(matched))
        for path, one in zip(paths, read, strict=True)
    ]


def _read(path: Path, recording: Recording) -> Floats | list[Fault]:
    from earwitness.audio.files import read_sound
    from earwitness.audio.matching import one_channel
    from earwitness.audio.sections import SHORTEST

    if not path.is_file():
        return [Fault("output.audio", f"{path}: there is no such file")]
    try:
        sound = read_sound(path)
    except (EarwitnessError, OSError) as error:
        return [Fault("output.audio", str(error))]
    if not np.isfinite(sound.samples).all():
        return [Fault("output.audio", f"{path}: has samples that are no numbers")]
    if len(sound.samples) < SHORTEST * sound.rate:
        seconds = len(sound.samples) / sound.rate
        return [Fault("output.audio", f"{path}: {seconds:.1f} s are too short to be looked for")]
    return one_channel(sound.samples, sound.rate, recording)


def _judged(path: Path, whole: float, found: Matched) -> Found:
    """A skim of which enough was found; ``whole`` are its seconds."""
    if not found.skim.picks:
        return [Fault("output.audio", f"{path}: nothing of it is in the recording")]
    known = found.skim.seconds
    if known < ENOUGH * whole:
        told = f"{path}: only {known:.0f} of its {whole:.0f} s are in the recording"
        return [Fault("output.audio", told, "is it a skim of this one?")]
    return Resolved(found.skim, tuple(f"{path.name}: {one}" for one in found.notes))
