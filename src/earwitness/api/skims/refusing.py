"""What cannot be done is said before any sound is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np

from earwitness.api.skims.asked import ENDINGS, Asked
from earwitness.api.skims.lines import OUTPUTS
from earwitness.audio.encoding import encode
from earwitness.audio.parts import SOUND
from earwitness.data import Recording
from earwitness.errors import UsageError
from earwitness.formats.times import read_times
from earwitness.models.grid import grid
from earwitness.models.speech import find_detector

KNOWN = ", ".join(ENDINGS)
LIKE_AN_ENDING = re.compile(r"\.[a-z][a-z0-9]{0,4}")  # a folder may be called site.2025
MADE = b'"output":{"picks":'  # in the lines that are written beside skims


def is_file(output: Path) -> bool:
    """Whether one file was named, and not a folder."""
    return output.suffix.lower() in ENDINGS


def refuse_place(output: Path, given: Sequence[Path], asked: Asked) -> None:
    """Places where nothing can be written, or where a recording would be hurt by it."""
    ending = output.suffix.lower()
    if ending in SOUND and not is_file(output) and not output.is_dir():
        raise UsageError(f"{output}: no skim is written as {ending} — end it in {KNOWN}")
    if LIKE_AN_ENDING.fullmatch(ending) and not is_file(output) and not output.exists():
        told = f'{output}: is "{ending}" an ending?'
        raise UsageError(f"{told} — end a skim in {KNOWN}, or make the folder first")
    if is_file(output) and output.is_dir():
        raise UsageError(f"{output}: is a folder — name a file, or a folder that is not called so")
    if not is_file(output) and output.is_file():
        raise UsageError(f"{output}: is a file — end a skim in {KNOWN}, or name a folder")
    _refuse_unwritable(output)
    _refuse_lines_of_others(output)
    place = output.resolve()
    for path in given:
        own = path.resolve()
        if own == place and not path.is_dir():
            raise UsageError(f"{output}: is the recording itself — name another file")
        if path.is_dir() and own in (place, *place.parents):
            told = f"{output}: lies in the recording {path}, which would then have skims in it"
            raise UsageError(f"{told} — name a place outside of it")
    if asked.speech_model is not None:
        _ = find_detector(str(asked.speech_model)).signature  # it must be there


def _refuse_unwritable(output: Path) -> None:
    """A folder that will be made must lie in one that can be written to."""
    inside = output.parent if is_file(output) else output
    there = next(one for one in (inside, *inside.absolute().parents) if one.exists())
    if not there.is_dir():
        raise UsageError(f"{output}: cannot be written: {there} is a file, not a folder")
    try:
        with TemporaryFile(dir=there):
            pass
    except OSError as error:
        told = f"{output}: cannot be written: {there}: {error.strerror or error}"
        raise UsageError(f"{told} — name another place") from error


def _refuse_lines_of_others(output: Path) -> None:
    """Lines that somebody made of something else would be lost."""
    lines = output / OUTPUTS
    if not is_file(output) and lines.is_file():
        with lines.open("rb") as file:
            first = file.readline()
        if first.strip() and MADE not in first:
            told = f"{lines}: is there already, and has other lines than those of skims"
            raise UsageError(f"{told} — name another folder")


def refuse_recordings(output: Path, recordings: Sequence[Recording], asked: Asked) -> None:
    """More skims than files, names that come twice, sound that is too short, and wrong times."""
    count = len(recordings) * len(asked.wanted)
    if is_file(output) and count > 1:
        raise UsageError(f"{output}: one file for {count} skims — name a folder")
    names = [one.name for one in recordings]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"several recordings are called {', '.join(twice)} — rename them")
    ending = output.suffix if is_file(output) else asked.ending
    for form in {(one.channels, one.rate) for one in recordings}:
        encode(np.zeros((1, form[0]), np.float32), form[1], ending)
    for one in recordings:
        if not grid(one, asked.plan.block):
            longest = max(stretch.seconds for stretch in one.stretches)
            told = f"{one.name}: not one block of {asked.plan.block:g} s in it"
            raise UsageError(f"{told}, only {longest:.1f} s without a gap — take a shorter --block")
        if asked.times is not None and (asked.by_day or not asked.hour_gap):
            read_times(asked.times, one, block=asked.plan.block)
