"""Recordings as they really are, after reading has shown what cannot be read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from earwitness.data import Damage, Recording, Stretch
from earwitness.errors import InputError, Problem


class Break(NamedTuple):
    """So many seconds of a file from a position on that cannot be read.

    Without a message it is no damage: the file only is a little shorter than its header says.
    """

    path: str
    at: float
    seconds: float
    message: str = ""


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
