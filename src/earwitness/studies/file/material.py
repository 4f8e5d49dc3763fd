"""Clips, sound files, captions and gold answers that a study file refers to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from glob import escape, glob
from pathlib import Path
from typing import Any
from unicodedata import normalize

from earwitness.audio.wav import wav_seconds
from earwitness.errors import Problem, UsageError, nearest
from earwitness.io.schema import Fault, is_name, show
from earwitness.io.tables import TABLE_ERRORS, open_csv, read_objects, unreadable_problem
from earwitness.studies.study import Clip, Gold, Scale
from earwitness.studies.trials.mushra import ANCHOR_CUTOFFS_HZ

# --- Sound files ---------------------------------------------------------------------------------


ITEM_PLACEHOLDER, SYSTEM_PLACEHOLDER = "{item}", "{system}"
ITEM_BACKREFERENCE = r"\1"


def misfit(pattern: str, *, captioned: bool = False) -> Iterator[Fault]:
    """What is wrong with a pattern of paths; systems that are ``captioned`` share their sounds."""
    for needed in (ITEM_PLACEHOLDER,) if captioned else (ITEM_PLACEHOLDER, SYSTEM_PLACEHOLDER):
        if needed not in pattern:
            example = ITEM_PLACEHOLDER if captioned else f"{SYSTEM_PLACEHOLDER}/{ITEM_PLACEHOLDER}"
            yield Fault("files", f"needs {needed}", f"such as audio/{example}.wav")
    if captioned and SYSTEM_PLACEHOLDER in pattern:
        yield Fault(
            "files", f"has {SYSTEM_PLACEHOLDER}, but all captions are of one sound", "leave it out"
        )
    if set("{}") & set(pattern.replace(ITEM_PLACEHOLDER, "").replace(SYSTEM_PLACEHOLDER, "")):
        yield Fault(
            "files", f"may have {ITEM_PLACEHOLDER} and {SYSTEM_PLACEHOLDER} in braces, nothing else"
        )


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
        whole = (self.folder / self.pattern.replace(SYSTEM_PLACEHOLDER, system)).as_posix()
        first, *rest = (re.escape(part) for part in whole.split(ITEM_PLACEHOLDER))
        shape = re.compile(f"{first}([^/]+){ITEM_BACKREFERENCE.join(rest)}")
        for path in glob("*".join(map(escape, whole.split(ITEM_PLACEHOLDER)))):  # noqa: PTH207
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
        if system in ANCHOR_CUTOFFS_HZ:
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


# --- Tables and folders of clips -----------------------------------------------------------------


FILE_COLUMN_PREFIX = "file."  # a column of paths: file.SYSTEM
CLIP_COLUMNS = ("name", "seconds", "files")
MAX_CLIP_SECONDS = 86_400
Row = dict[str, Any]


@dataclass
class StudyMaterial:
    """Clips, and what is wrong with them."""

    clips: list[Clip] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_table(path: Path, sounds: Sounds | None, folders: Sequence[str] = ()) -> StudyMaterial:
    """A table of clips; seconds may be missing where files can be asked.

    ``folders`` are systems and others that files may be named for; if none, any.
    """
    found = StudyMaterial()
    try:
        lined = path.suffix == ".jsonl"
        rows = list(read_objects(path, found.problems) if lined else _read_clip_rows(path, found))
    except TABLE_ERRORS as error:
        remedy = "without the line material, clips are what the folders of files have"
        return StudyMaterial(problems=[unreadable_problem(path, error, remedy)])
    if not rows and not found.problems:
        found.problems.append(Problem(str(path), 1, "", "has no clip in it"))
    _take(str(path), rows, sounds, folders, found)
    return found


def read_folders(sounds: Sounds) -> StudyMaterial:
    """Every name that any system has; a system that lacks it is told."""
    found = StudyMaterial()
    for name in sounds.names():
        try:
            found.clips.append(Clip(name, sounds.seconds(Clip(name, 0))))
        except UsageError:  # told when files are looked at
            found.clips.append(Clip(name, 1.0))
    if not found.clips:
        where = str(sounds.path(Clip("*", 0), sounds.systems[0]))
        found.problems.append(Problem(where, 0, "", "there is no such file"))
    return found


def with_numbers(clips: Sequence[Clip], names: Sequence[str]) -> list[Clip]:
    """Clips whose covariates of these names are numbers; what is none stays as it is."""
    return [
        replace(
            clip,
            covariates={k: _parse_covariate(v, k in names) for k, v in clip.covariates.items()},
        )
        for clip in clips
    ]


def _parse_covariate(value: str | float, wanted: bool) -> str | float:
    if not wanted or not isinstance(value, str):
        return value
    try:
        found = float(value) if "_" not in value else float("nan")
    except ValueError:
        return value
    return found if abs(found) < float("inf") else value


def _read_clip_rows(path: Path, found: StudyMaterial) -> Iterator[tuple[int, Row]]:
    with open_csv(path) as (columns, rows):
        faults = list(_wrong_columns(columns))
        found.problems += [Problem(str(path), 1, *fault) for fault in faults]
        if faults:
            return
        for line, row in rows:
            if None in row or None in row.values():
                told = f"needs {len(columns)} fields"
                found.problems.append(Problem(str(path), line, "", told))
                continue
            files = {
                k.removeprefix(FILE_COLUMN_PREFIX): row.pop(k)
                for k in columns
                if k.startswith(FILE_COLUMN_PREFIX)
            }
            seconds = (
                {"seconds": _parse_covariate(row["seconds"], True)} if "seconds" in row else {}
            )
            yield line, {**row, **seconds, "files": {k: v for k, v in files.items() if v}}


def _wrong_columns(columns: Sequence[str]) -> Iterator[Fault]:
    if "name" not in columns:
        remedy = "separate columns by commas" if len(columns) == 1 else ""
        yield Fault("", "needs the column name", remedy)
    for index, column in enumerate(columns):
        if column in columns[:index]:
            yield Fault("", f'the column "{column}" comes twice', "keep one")
        if not column.strip():
            yield Fault("", f"column {index + 1} has no name")
        if column == "files":
            yield Fault("", 'a column cannot be called "files"', "write file.SYSTEM")


def _take(
    source: str,
    rows: list[tuple[int, Row]],
    sounds: Sounds | None,
    folders: Sequence[str],
    found: StudyMaterial,
) -> None:
    seen: dict[str, int] = {}
    expected = {key for _, row in rows for key in row if key not in CLIP_COLUMNS}
    for line, row in rows:
        faults = list(_check_clip_row(row, expected, seen, folders))
        if not faults:
            clip = Clip(str(row["name"]), 0, files=dict(row.get("files") or {}))
            try:
                clip = replace(clip, seconds=_seconds(row, clip, sounds))
            except UsageError as error:
                faults.append(Fault("seconds", str(error)))
            else:
                rest = {key: _covariate(row[key]) for key in row if key not in CLIP_COLUMNS}
                found.clips.append(replace(clip, covariates=rest))
        found.problems += [Problem(source, line, *fault) for fault in faults]
        seen.setdefault(normalize("NFC", str(row.get("name"))), line)


def _seconds(row: Row, clip: Clip, sounds: Sounds | None) -> float:
    if row.get("seconds") not in (None, ""):
        return float(row["seconds"])
    seconds = float("nan") if sounds is None else sounds.seconds(clip)
    if seconds != seconds:
        known = nearest(clip.name, sounds.names()) if sounds is not None else ""
        remedy = known if known.startswith("did") else "write how long the clip is"
        raise UsageError(f"missing, and there is no file to ask — {remedy}")
    return seconds


def _check_clip_row(
    row: Row, expected: set[str], seen: dict[str, int], folders: Sequence[str]
) -> Iterator[Fault]:
    name, seconds, files = row.get("name"), row.get("seconds"), row.get("files", {})
    if not is_name(name):
        yield Fault("name", f"must be printable text, got {show(name)}")
    elif is_path(name):
        yield Fault("name", f"must be no path, got {show(name)}", "name files in file.SYSTEM")
    elif normalize("NFC", str(name)) in seen:
        where = seen[normalize("NFC", str(name))]
        yield Fault("name", f'"{name}" is also on line {where}', "keep one")
    if seconds not in (None, "") and not _is_number(seconds, 0, MAX_CLIP_SECONDS):
        yield Fault("seconds", f"must be a positive number, got {show(seconds)}")
    if not isinstance(files, dict) or not all(isinstance(one, str) for one in files.values()):
        yield Fault("files", f"must name a file for each system, got {show(files)}")
    else:
        for system in files:
            if folders and system not in folders:
                yield Fault(f"file.{system}", "there is no such system", nearest(system, folders))
    for key in sorted(expected - set(row)):
        yield Fault(key, "missing", "every clip needs the same covariates")
    for key in sorted(expected & set(row)):
        if not isinstance(row[key], str | bool) and not _is_number(row[key]):
            yield Fault(key, f"must be text or a number, got {show(row[key])}")


def is_path(name: object) -> bool:
    """Whether a name would lead out of its folder."""
    return bool(set(str(name)) & set("/\\")) or str(name) in (".", "..")


def _is_number(value: Any, above: float = -1e300, below: float = 1e300) -> bool:
    right = isinstance(value, int | float) and not isinstance(value, bool)
    return right and above < value < below


def _covariate(value: Any) -> str | float:
    """Text as it is written; whole numbers are names too."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) else float(value)


# --- Tables of captions --------------------------------------------------------------------------
# Lines may also be outputs as they are scored, which have the caption under ``output``.


CAPTION_COLUMNS = ("item", "system", "caption")
MAX_CAPTION_CHARACTERS = 32_000  # as many as a cell of a workbook holds
CaptionRow = tuple[int, dict[str, Any]]


@dataclass
class Captions:
    """Texts by item and system, and what is wrong with them."""

    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def of(self, clips: Sequence[Clip], systems: Sequence[str]) -> list[Clip]:
        """Clips with their captions."""
        return [
            replace(clip, captions={s: self.texts.get((clip.name, s), "") for s in systems})
            for clip in clips
        ]


def read_captions(path: Path, items: Sequence[str], systems: Sequence[str]) -> Captions:
    """One caption of every system for every item, or all that is wrong."""
    found = Captions()
    try:
        rows = list(_lines(path, found) if path.suffix == ".jsonl" else _read_caption_rows(path))
    except TABLE_ERRORS as error:
        found.problems.append(unreadable_problem(path, error))
        return found
    for line, row in rows:
        faults = list(_check_caption_row(row, items, systems, found))
        found.problems += [Problem(str(path), line, *fault) for fault in faults]
        if not faults:
            found.texts[row["item"], row["system"]] = row["caption"].strip()
    if not found.problems:
        found.problems += list(_missing(str(path), items, systems, found))
    return found


def _read_caption_rows(path: Path) -> Iterator[CaptionRow]:
    with open_csv(path) as (_, rows):
        for line, row in rows:
            yield line, {key: row.get(key) for key in CAPTION_COLUMNS}


def _lines(path: Path, found: Captions) -> Iterator[CaptionRow]:
    for number, row in read_objects(path, found.problems):
        wrote = row.get("output")
        yield number, {**row, **wrote} if isinstance(wrote, dict) else row


def _check_caption_row(
    row: dict[str, Any], items: Sequence[str], systems: Sequence[str], found: Captions
) -> Iterator[Fault]:
    for key, known in (("item", items), ("system", systems)):
        if row.get(key) not in known:
            told = f"there is no {key} {show(row.get(key))}" if row.get(key) else "missing"
            yield Fault(key, told, nearest(str(row.get(key)), known) if row.get(key) else "")
    caption = row.get("caption")
    if not isinstance(caption, str) or not caption.strip():
        yield Fault("caption", "missing" if not caption else f"must be text, got {show(caption)}")
    elif len(caption) > MAX_CAPTION_CHARACTERS:
        yield Fault("caption", f"has more than {MAX_CAPTION_CHARACTERS:,} characters")
    if (row.get("item"), row.get("system")) in found.texts:
        yield Fault("", f'a second caption of "{row["item"]}" by "{row["system"]}"', "keep one")


def _missing(
    source: str, items: Sequence[str], systems: Sequence[str], found: Captions
) -> Iterator[Problem]:
    for item in items:
        for system in systems:
            if (item, system) not in found.texts:
                told = f'no caption of "{item}" by "{system}"'
                yield Problem(source, 0, "", told, item=item)


# --- Gold answers for practice -------------------------------------------------------------------


GOLD_COLUMNS = ("item", "system", "scale", "value")


@dataclass
class GoldTable:
    """Expected values, and what is wrong with them."""

    values: list[Gold] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True)
class GoldVocabulary:
    """Items, systems and scales that a table may speak of."""

    items: Sequence[str]
    systems: Sequence[str]
    scales: Mapping[str, Scale]


def read_gold(path: Path, known: GoldVocabulary) -> GoldTable:
    """A table, or all that is wrong with it."""
    try:
        with open_csv(path) as (columns, rows):
            if sorted(columns) != sorted(GOLD_COLUMNS):
                told = f"needs the columns {', '.join(GOLD_COLUMNS)}, and no others"
                return GoldTable(problems=[Problem(str(path), 1, "", told)])
            return _read_gold_rows(rows, str(path), known)
    except TABLE_ERRORS as error:
        return GoldTable(problems=[unreadable_problem(path, error)])


def _read_gold_rows(
    rows: Iterator[tuple[int, Row]], source: str, known: GoldVocabulary
) -> GoldTable:
    found, seen = GoldTable(), dict[tuple[str, str, str], int]()
    for line, row in rows:
        if None in row or None in row.values():
            faults = [Fault("", f"needs {len(GOLD_COLUMNS)} fields")]
        else:
            faults = list(_check_gold_row(row, known, seen))
        found.problems += [Problem(source, line, *fault) for fault in faults]
        if not faults:
            key = row["item"], row["system"], row["scale"]
            seen[key] = line
            found.values.append(Gold(*key, float(row["value"])))
    if not found.values and not found.problems:
        found.problems.append(Problem(source, 1, "", "has no expected value in it"))
    return found


def _check_gold_row(
    row: Mapping[str, str], known: GoldVocabulary, seen: Mapping[tuple[str, str, str], int]
) -> Iterator[Fault]:
    for name, there in (("item", known.items), ("system", known.systems), ("scale", known.scales)):
        if there and row[name] not in there:
            yield Fault(name, f'there is no {name} "{row[name]}"', nearest(row[name], there))
    scale = known.scales.get(row["scale"])
    if scale is not None and not scale.allows(_parse_gold_value(row["value"])):
        told = f"from {scale.low:g} to {scale.high:g} in steps of {scale.step:g}"
        yield Fault("value", f'must be {told}, got "{row["value"]}"')
    if (line := seen.get((row["item"], row["system"], row["scale"]))) is not None:
        yield Fault("", f"was said on line {line} already", "keep one")


def _parse_gold_value(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
