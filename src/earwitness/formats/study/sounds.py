"""Files of a study: where they are, and whether all of them are there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from glob import escape, glob
from pathlib import Path

from earwitness.audio.wav import wav_seconds
from earwitness.data import Clip
from earwitness.errors import Problem, UsageError, nearest
from earwitness.formats.check import Fault
from earwitness.listening.kinds.mushra import CUTOFFS

ITEM, SYSTEM = "{item}", "{system}"
ITEM_AGAIN = r"\1"


def misfit(pattern: str, *, captioned: bool = False) -> Iterator[Fault]:
    """What is wrong with a pattern of paths; systems that are ``captioned`` share their sounds."""
    for needed in (ITEM,) if captioned else (ITEM, SYSTEM):
        if needed not in pattern:
            example = ITEM if captioned else f"{SYSTEM}/{ITEM}"
            yield Fault("files", f"needs {needed}", f"such as audio/{example}.wav")
    if captioned and SYSTEM in pattern:
        yield Fault("files", f"has {SYSTEM}, but all captions are of one sound", "leave it out")
    if set("{}") & set(pattern.replace(ITEM, "").replace(SYSTEM, "")):
        yield Fault("files", f"may have {ITEM} and {SYSTEM} in braces, nothing else")


@dataclass(frozen=True)
class Sounds:
    """Paths from the folder of the study file; ``pattern`` says where those without a name are."""

    folder: Path
    pattern: str
    systems: Sequence[str]

    def path(self, clip: Clip, system: str) -> Path:
        """Where a sound must be."""
        own = clip.files.get(system)
        return self.folder / (own or self.pattern.format(item=clip.name, system=system))

    def names(self) -> list[str]:
        """All items that any system has."""
        found = {name for system in self.systems for name in self._names(system)}
        return sorted(found)

    def _names(self, system: str) -> Iterator[str]:
        whole = (self.folder / self.pattern.replace(SYSTEM, system)).as_posix()
        first, *rest = (re.escape(part) for part in whole.split(ITEM))
        shape = re.compile(f"{first}([^/]+){ITEM_AGAIN.join(rest)}")
        for path in glob("*".join(map(escape, whole.split(ITEM)))):  # noqa: PTH207
            if match := shape.fullmatch(Path(path).as_posix()):
                yield match[1]

    def problems(self, clips: Sequence[Clip]) -> list[Problem]:
        """Every sound that is not there, with a system that has it, and every one that is none."""
        found, known = [], [one for one in self.systems if self._has_any(one, clips)]
        for system in self.systems:
            if system not in known:
                found.append(self._nowhere(system, clips))
        for clip in clips:
            there = [system for system in known if self.path(clip, system).is_file()]
            told = f"is missing: {there[0]} has this clip" if there else "is missing"
            for system in known:
                path = self.path(clip, system)
                if system not in there:
                    found.append(Problem(str(path), 0, "", told, item=clip.name))
                elif wrong := no_sound(path):
                    found.append(Problem(str(path), 0, "", wrong, item=clip.name))
        return found

    def _has_any(self, system: str, clips: Sequence[Clip]) -> bool:
        return any(self.path(clip, system).is_file() for clip in clips)

    def _nowhere(self, system: str, clips: Sequence[Clip]) -> Problem:
        """A system of which no file is there: is its name right?"""
        wanted = self.path(clips[0], system) if clips else self.folder / system
        told = f'no file of "{system}" is there, such as {wanted.name}'
        if system in CUTOFFS:
            return Problem(str(wanted.parent), 0, "", told, "earwitness study anchors makes them")
        beside = wanted.parent.parent
        there = [one.name for one in beside.iterdir() if one.is_dir()] if beside.is_dir() else []
        others = [name for name in there if name not in self.systems]
        return Problem(str(wanted.parent), 0, "", told, nearest(system, others))

    def seconds(self, clip: Clip) -> float:
        """How long the first system's file is; NaN if it is not there."""
        path = self.path(clip, self.systems[0])
        return wav_seconds(path) if path.is_file() else float("nan")


def no_sound(path: Path) -> str:
    """What is wrong with a WAV file; other files are not looked into."""
    if path.suffix.lower() != ".wav":
        return ""
    try:
        return "" if wav_seconds(path) > 0 else "has no sound in it"
    except UsageError as error:
        return str(error).partition(": ")[2]


def anchor_clips(folder: Path, name: str) -> tuple[list[Clip], list[Problem]]:
    """The sounds of a folder that everybody hears first."""
    clips, problems = list[Clip](), list[Problem]()
    for path in sorted((folder / name).glob("*.wav")):
        try:
            clips.append(Clip(path.stem, wav_seconds(path)))
        except UsageError as error:
            problems.append(Problem(str(path), 0, "", str(error).partition(": ")[2]))
    if not clips and not problems:
        there = (folder / name).is_dir()
        told = "has no .wav file in it" if there else "there is no such folder"
        problems.append(Problem(str(folder / name), 0, "", told))
    return clips, problems
