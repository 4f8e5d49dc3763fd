"""The files of a recording: which they are, and in which order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from earwitness.errors import UsageError

PLAIN = re.split(" ", "wav wave rf64 w64 flac mp3 ogg oga aif aiff aifc au caf snd bwf")
OTHERS = re.split(" ", "opus m4a mp4 aac webm mka mkv wma ac3 3gp mov amr wv ape")  # for PyAV
SOUND = frozenset(f".{one}" for one in PLAIN + OTHERS)


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
        sound = [one for one in inside if one.suffix.lower() in SOUND]
        files += sound
        if passed := [one for one in inside if one.suffix.lower() not in SOUND]:
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
