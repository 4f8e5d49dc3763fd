"""Clips, audio files, captions and gold answers that a study file refers to."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from glob import escape, glob
from itertools import product
from pathlib import Path
from typing import Any, Protocol
from unicodedata import normalize

from earwitness.analysis.plan import ANCHOR_CUTOFFS_HZ
from earwitness.audio.decode import read_profile
from earwitness.audio.wav import wav_seconds
from earwitness.errors import (
    EarwitnessWarning,
    Problem,
    UsageError,
    file_problem,
    find_close,
    nearest,
)
from earwitness.io.schema import Fault, is_name, show
from earwitness.io.source import is_present
from earwitness.io.tables import RowTable, read_row_table
from earwitness.ratings.scales import Scale
from earwitness.studies.study import Clip, Gold

# --- Sound files ---------------------------------------------------------------------------------


Faults = Iterator[Fault]  # of the keys of a study file, or of a row of a table
ITEM_PLACEHOLDER, SYSTEM_PLACEHOLDER = "{item}", "{system}"
ITEM_BACKREFERENCE = r"\1"


def pattern_faults(pattern: str, *, captioned: bool = False) -> Faults:
    """Yield faults of a path pattern; ``captioned`` systems share the audio file of a clip."""
    for needed in (ITEM_PLACEHOLDER,) if captioned else (ITEM_PLACEHOLDER, SYSTEM_PLACEHOLDER):
        if needed not in pattern:
            example = ITEM_PLACEHOLDER if captioned else f"{SYSTEM_PLACEHOLDER}/{ITEM_PLACEHOLDER}"
            yield Fault("files", f"must contain {needed}", f"for example audio/{example}.wav")
    if captioned and SYSTEM_PLACEHOLDER in pattern:
        yield Fault(
            "files",
            f"must not contain {SYSTEM_PLACEHOLDER}: all captions of a clip share one audio file",
        )
    if set("{}") & set(pattern.replace(ITEM_PLACEHOLDER, "").replace(SYSTEM_PLACEHOLDER, "")):
        yield Fault(
            "files", f"allows no braces other than {ITEM_PLACEHOLDER} and {SYSTEM_PLACEHOLDER}"
        )


@dataclass(frozen=True)
class Sounds:
    """Audio files of a study; ``pattern`` gives the path of files that clips do not name."""

    folder: Path
    pattern: str
    systems: Sequence[str]

    def path(self, clip: Clip, system: str) -> Path:
        """Return the expected path of an audio file."""
        named_file = clip.files.get(system)
        return self.folder / (named_file or self.pattern.format(item=clip.name, system=system))

    def names(self) -> list[str]:
        """Return all items that any system has."""
        names = dict[str, str]()  # by path; of two systems that fit, the longer name counts
        for system in sorted(self.systems, key=len):
            names.update(self._find_names(system))
        return sorted(set(names.values()))

    def _find_names(self, system: str) -> Iterator[tuple[str, str]]:
        whole = (self.folder / self.pattern.replace(SYSTEM_PLACEHOLDER, system)).as_posix()
        first, *later_parts = (re.escape(part) for part in whole.split(ITEM_PLACEHOLDER))
        shape = re.compile(f"{first}([^/]+){ITEM_BACKREFERENCE.join(later_parts)}")
        for path in glob("*".join(map(escape, whole.split(ITEM_PLACEHOLDER)))):  # noqa: PTH207
            if match := shape.fullmatch(Path(path).as_posix()):
                yield path, match[1]

    def problems(self, clips: Sequence[Clip]) -> list[Problem]:
        """Return a problem for each missing or unreadable audio file."""
        present = {
            system: {clip.name for clip in clips if is_present(self.path(clip, system))}
            for system in self.systems
        }
        problems = [
            self._missing_system_problem(system, clips)
            for system, names in present.items()
            if not names
        ]
        for clip in clips:
            there = [system for system, names in present.items() if clip.name in names]
            missing = f"missing, although {there[0]} has this clip" if there else "missing"
            for system in (system for system, names in present.items() if names):
                path = self.path(clip, system)
                if wrong := sound_fault(path) if system in there else missing:
                    problems.append(file_problem(path, wrong, item=clip.name))
        return problems

    def _missing_system_problem(self, system: str, clips: Sequence[Clip]) -> Problem:
        """Return a problem for a system without any audio file, whose name may be misspelt."""
        wanted = self.path(clips[0], system) if clips else self.folder / system
        message = f'no audio file of system "{system}" was found, for example {wanted.name}'
        if system in ANCHOR_CUTOFFS_HZ:
            return file_problem(
                wanted.parent, message, "create anchors with earwitness study anchors"
            )
        beside = wanted.parent.parent
        folders = beside.iterdir() if is_present(beside, Path.is_dir) else ()
        there = [folder.name for folder in folders if folder.is_dir()]
        others = [name for name in there if name not in self.systems]
        return file_problem(wanted.parent, message, nearest(system, others))

    def seconds(self, clip: Clip) -> float:
        """Return the duration of the first system's file; NaN if it is missing."""
        path = self.path(clip, self.systems[0])
        return read_profile(path).seconds if is_present(path) else float("nan")


def sound_fault(path: Path) -> str:
    """Return the error in a WAV file; files of other formats are not checked."""
    if path.suffix.lower() != ".wav":
        return ""
    try:
        return "" if wav_seconds(path) > 0 else "contains no audio"
    except UsageError as error:
        return str(error).partition(": ")[2]


def read_anchor_clips(folder: Path, name: str) -> tuple[list[Clip], list[Problem]]:
    """Read the audio files of a folder that all listeners hear first."""
    clips, problems = list[Clip](), list[Problem]()
    there = is_present(folder / name, Path.is_dir)
    for path in sorted((folder / name).glob("*.wav")) if there else ():
        try:
            clips.append(Clip(path.stem, wav_seconds(path)))
        except UsageError as error:
            problems.append(file_problem(path, str(error).partition(": ")[2]))
    if not clips and not problems:
        message = "contains no .wav file" if there else "folder does not exist"
        problems.append(file_problem(folder / name, message))
    return clips, problems


# --- Tables and folders of clips -----------------------------------------------------------------


FILE_COLUMN_PREFIX = "file."  # a column of paths: file.SYSTEM
CLIP_COLUMNS = ("name", "seconds", "files")
UDASE_CLIP_COLUMNS = {"wavfile": "name", "duration": "seconds"}  # names in the UDASE metadata
MAX_CLIP_SECONDS = 86_400
Row = dict[str, Any]


class DurationSource(Protocol):
    """Source of the durations of clips that a table does not give, with the names it knows."""

    def seconds(self, clip: Clip) -> float:
        """Return the duration of a clip; NaN if it is unknown."""
        ...

    def names(self) -> list[str]:
        """Return all items."""
        ...


class ZeroDurations:
    """Durations of a table that is read for its other columns only."""

    def seconds(self, clip: Clip) -> float:
        """Return the duration of the clip so far, which is 0."""
        return clip.seconds

    def names(self) -> list[str]:
        """Return no items."""
        return []


@dataclass
class StudyMaterial:
    """Clips and their problems."""

    clips: list[Clip] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_clips(
    path: Path, sounds: DurationSource | None, folders: Sequence[str] = ()
) -> StudyMaterial:
    """Read a table of clips; durations may be missing if audio files exist.

    ``folders`` are the names for which a ``file.NAME`` column is allowed; if empty, any.
    """
    table = read_row_table(path, "or remove material to use all clips in the folders of files")
    material = StudyMaterial(problems=table.problems)
    rows = table.rows if table.columns is None else _clip_rows(path, table, material)
    if not rows and not material.problems:
        material.problems.append(Problem(str(path), 1, "", "contains no clips"))
    lines: dict[str, int] = {}  # line of the first clip with each name
    expected = {key for _, row in rows for key in row if key not in CLIP_COLUMNS}
    for line, row in rows:
        faults = list(_check_clip_row(row, expected, lines, folders))
        if not faults:
            clip = Clip(str(row["name"]), 0, files=dict(row.get("files") or {}))
            try:
                clip = replace(clip, seconds=_clip_seconds(row, clip, sounds))
            except UsageError as error:
                faults.append(Fault("seconds", str(error)))
            else:
                covariates = {  # whole numbers, also true and false, are text
                    key: str(row[key]) if isinstance(row[key], int) else row[key]
                    for key in row
                    if key not in CLIP_COLUMNS
                }
                material.clips.append(replace(clip, covariates=covariates))
        material.problems += [Problem(str(path), line, *fault) for fault in faults]
        lines.setdefault(normalize("NFC", str(row.get("name"))), line)
    return material


def read_folders(sounds: Sounds) -> StudyMaterial:
    """Return a clip for each name that any system has; missing files are reported later."""
    material = StudyMaterial()
    for name in sounds.names():
        try:
            material.clips.append(Clip(name, sounds.seconds(Clip(name, 0))))
        except UsageError:  # reported when files are checked
            material.clips.append(Clip(name, 1.0))
    if not material.clips:
        where = str(sounds.path(Clip("*", 0), sounds.systems[0]))
        material.problems.append(file_problem(where, "no matching audio file found"))
    return material


def with_numbers(clips: Sequence[Clip], names: Sequence[str]) -> list[Clip]:
    """Return clips with the named covariates converted to numbers where possible."""
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
        parsed = float(value) if "_" not in value else float("nan")
    except ValueError:
        return value
    return parsed if abs(parsed) < float("inf") else value


def _clip_rows(path: Path, table: RowTable, material: StudyMaterial) -> list[tuple[int, Row]]:
    """Return rows of a CSV table as objects: files by system, seconds as a number."""
    _rename_udase_columns(table)
    columns = table.columns or []
    faults = list(_column_faults(columns))
    material.problems += [Problem(str(path), 1, *fault) for fault in faults]
    rows: list[tuple[int, Row]] = []
    for line, row in table.rows if not faults else ():
        if None in row or None in row.values():
            message = f"needs {len(columns)} fields"
            material.problems.append(Problem(str(path), line, "", message))
            continue
        clip: Row = {"files": {}}
        for column, cell in row.items():
            if not column.startswith(FILE_COLUMN_PREFIX):
                clip[column] = cell
            elif cell:
                clip["files"][column.removeprefix(FILE_COLUMN_PREFIX)] = cell
        if "seconds" in clip:
            clip["seconds"] = _parse_covariate(clip["seconds"], True)
        rows.append((line, clip))
    return rows


def _rename_udase_columns(table: RowTable) -> None:
    """Read tables such as samples_all.csv of the UDASE task, whose clips are named by files."""
    columns = table.columns or []
    if not {*UDASE_CLIP_COLUMNS} <= {*columns} or {*CLIP_COLUMNS} & {*columns}:
        return
    table.columns = [UDASE_CLIP_COLUMNS.get(column, column) for column in columns]
    for _, row in table.rows:
        for column, name in UDASE_CLIP_COLUMNS.items():
            row[name] = row.pop(column)
        if isinstance(row["name"], str):
            row["name"] = row["name"].removesuffix(".wav")


def _column_faults(columns: Sequence[str]) -> Faults:
    if "name" not in columns:
        remedy = "separate columns with commas" if len(columns) == 1 else ""
        yield Fault("", 'the column "name" is missing', remedy)
    for index, column in enumerate(columns):
        if column in columns[:index]:
            yield Fault("", f'duplicate column "{column}"', "keep one")
        if not column.strip():
            yield Fault("", f"column {index + 1} has no name")
        if column == "files":
            yield Fault("", 'a column must not be named "files"', "use file.SYSTEM")


def _clip_seconds(row: Row, clip: Clip, sounds: DurationSource | None) -> float:
    if row.get("seconds") not in (None, ""):
        return float(row["seconds"])
    seconds = float("nan") if sounds is None else sounds.seconds(clip)
    if seconds != seconds:
        close = find_close(clip.name, () if sounds is None else sounds.names())
        remedy = f'did you mean "{close}"?' if close else "give the duration in seconds"
        raise UsageError(f"missing, and no audio file gives the duration — {remedy}")
    return seconds


def _check_clip_row(
    row: Row, expected: set[str], seen: dict[str, int], folders: Sequence[str]
) -> Faults:
    name, seconds, files = row.get("name"), row.get("seconds"), row.get("files", {})
    if not is_name(name):
        yield Fault("name", f"must be printable text, got {show(name)}")
    elif is_path(name):
        yield Fault("name", f"must not be a path, got {show(name)}", "put paths into file.SYSTEM")
    elif normalize("NFC", str(name)) in seen:
        where = seen[normalize("NFC", str(name))]
        yield Fault("name", f'duplicate "{name}", first on line {where}', "keep one")
    if seconds not in (None, "") and not _is_number(seconds, 0, MAX_CLIP_SECONDS):
        yield Fault("seconds", f"must be a positive number, got {show(seconds)}")
    if not isinstance(files, dict) or not all(isinstance(file, str) for file in files.values()):
        yield Fault("files", f"must name a file for each system, got {show(files)}")
    else:
        for system in files:
            if folders and system not in folders:
                yield Fault(
                    f"file.{system}", f'unknown system "{system}"', nearest(system, folders)
                )
    for key in sorted(expected - set(row)):
        yield Fault(key, "missing", "all clips need the same covariates")
    for key in sorted(expected & set(row)):
        if not isinstance(row[key], str | bool) and not _is_number(row[key]):
            yield Fault(key, f"must be text or a number, got {show(row[key])}")


def is_path(name: object) -> bool:
    """Return whether a name would lead out of its folder."""
    return bool(set(str(name)) & set("/\\")) or str(name) in (".", "..")


def _is_number(value: Any, above: float = -1e300, below: float = 1e300) -> bool:
    right = isinstance(value, int | float) and not isinstance(value, bool)
    return right and above < value < below


# --- Tables of captions --------------------------------------------------------------------------
# Lines may also be scored outputs, which have the caption under ``output``.


MAX_CAPTION_CHARACTERS = 32_000  # limit of a workbook cell


@dataclass
class Captions:
    """Captions by item and system, and their problems."""

    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def of(self, clips: Sequence[Clip], systems: Sequence[str]) -> list[Clip]:
        """Return clips with their captions."""
        return [
            replace(clip, captions={s: self.texts.get((clip.name, s), "") for s in systems})
            for clip in clips
        ]


CAPTION_COLUMNS = "item", "system", "caption"


def read_captions(path: Path, items: Sequence[str], systems: Sequence[str]) -> Captions:
    """Read one caption per system and item, in rows of their own or in a column per system."""
    table = read_row_table(path)
    captions = Captions(problems=table.problems)
    if table.columns and not {*CAPTION_COLUMNS} <= {*table.columns}:
        if not {*systems} <= {*table.columns}:
            message = "must have the columns item, system and caption, or one column per system"
            found = ", ".join(filter(None, table.columns))
            captions.problems.append(Problem(str(path), 1, "", message, f"found: {found}"))
            return captions
        first = "item" if "item" in table.columns else table.columns[0]
        table.rows = [
            (line, {"item": row[first], "system": system, "caption": row[system]})
            for line, row in table.rows
            for system in systems
        ]
    for line, row in table.rows:
        output = row.get("output")
        caption = {**row, **output} if isinstance(output, dict) else row
        faults = list(_check_caption_row(caption, items, systems, captions))
        captions.problems += [Problem(str(path), line, *fault) for fault in faults]
        if not faults:
            captions.texts[caption["item"], caption["system"]] = caption["caption"].strip()
    if not captions.problems:
        captions.problems += [
            file_problem(path, f'caption of "{item}" by "{system}" is missing', item=item)
            for item, system in product(items, systems)
            if (item, system) not in captions.texts
        ]
    return captions


def _check_caption_row(
    row: dict[str, Any], items: Sequence[str], systems: Sequence[str], captions: Captions
) -> Faults:
    for key, names in (("item", items), ("system", systems)):
        if row.get(key) not in names:
            message = f"unknown {key} {show(row.get(key))}" if row.get(key) else "missing"
            yield Fault(key, message, nearest(str(row.get(key)), names) if row.get(key) else "")
    caption = row.get("caption")
    if not isinstance(caption, str) or not caption.strip():
        yield Fault("caption", "missing" if not caption else f"must be text, got {show(caption)}")
    elif len(caption) > MAX_CAPTION_CHARACTERS:
        yield Fault("caption", f"must have at most {MAX_CAPTION_CHARACTERS:,} characters")
    if (row.get("item"), row.get("system")) in captions.texts:
        yield Fault("", f'duplicate caption of "{row["item"]}" by "{row["system"]}"', "keep one")


# --- Gold answers for practice -------------------------------------------------------------------


GOLD_COLUMNS = ("item", "system", "scale", "value")


def read_fixed_table(path: Path, columns: Sequence[str]) -> RowTable:
    """Read a CSV table that must have these columns; rows with other numbers of cells are left out.

    Of a table with other columns, no row is returned.
    """
    table = read_row_table(path)
    if not table.problems and sorted(table.columns or ()) != sorted(columns):
        message = f"needs the columns {', '.join(columns)}, and no others"
        table.problems.append(Problem(str(path), 1, "", message))
    rows = [] if table.problems else table.rows
    whole = {line for line, row in rows if None not in row and None not in row.values()}
    message = f"needs {len(columns)} fields"
    table.problems += [Problem(str(path), n, "", message) for n, _ in rows if n not in whole]
    table.rows = [(line, row) for line, row in rows if line in whole]
    return table


def read_gold(
    path: Path, items: Sequence[str], systems: Sequence[str], scales: Mapping[str, Scale]
) -> tuple[list[Gold], list[Problem]]:
    """Read a table of expected answers, which may name these items, systems and scales."""
    table = read_fixed_table(path, GOLD_COLUMNS)
    gold, seen = list[Gold](), dict[tuple[str, str, str], int]()
    known = {"item": items, "system": systems, "scale": list(scales)}
    for line, row in table.rows:
        key = row["item"], row["system"], row["scale"]
        faults = [
            Fault(name, f'unknown {name} "{row[name]}"', nearest(row[name], there))
            for name, there in known.items()
            if there and row[name] not in there
        ]
        if row["scale"] in scales:
            faults += value_faults(row["value"], scales[row["scale"]])
        if key in seen:
            faults.append(Fault("", f"duplicate of line {seen[key]}", "keep one"))
        table.problems += [Problem(str(path), line, *fault) for fault in faults]
        if not faults:
            seen[key] = line
            gold.append(Gold(*key, float(row["value"])))
    if not gold and not table.problems:
        table.problems.append(Problem(str(path), 1, "", "contains no expected values"))
    return gold, table.problems


def value_faults(text: str, scale: Scale) -> Faults:
    """Yield a fault if a text is no value of a scale."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not scale.allows(value):
        limits = f"from {scale.low:g} to {scale.high:g} in steps of {scale.step:g}"
        yield Fault("value", f'must be {limits}, got "{text}"')


# --- Examples for tables that do not exist yet ---------------------------------------------------


EXAMPLE_SECONDS = 8.0
EXAMPLE_CLIPS_PER_LISTENER = 12


def is_missing(folder: Path, table: object) -> bool:
    """Return whether a study file names a table that does not exist."""
    return isinstance(table, str) and not is_present(folder / table, Path.exists)


def draft_clips(value: Mapping[str, Any]) -> list[Clip]:
    """Return example clips, as many as the blocks and the practice of a study need.

    Parameters
    ----------
    value
        Keys of the study file, with defaults filled in.

    Returns
    -------
    list of Clip
        Clips of equal length, without covariates. A warning names the missing table.
    """
    per_block = [block.get("clips", EXAMPLE_CLIPS_PER_LISTENER) for block in value["blocks"]]
    count = max(value["panels"] * max(per_block), sum(per_block) + value["training"])
    message = f"the plan assumes {count} clips of {EXAMPLE_SECONDS:g} s each"
    warn_missing(value["material"], message)
    return [Clip(f"clip{number:03}", EXAMPLE_SECONDS) for number in range(1, count + 1)]


def draft_captions(table: str, items: Sequence[str], systems: Sequence[str]) -> Captions:
    """Return an example caption for every item and system; a warning names the missing table."""
    warn_missing(table, "the plan assumes one caption per clip and system")
    return Captions(dict.fromkeys(product(items, systems), "Example caption."))


def warn_missing(table: str, assumption: str) -> None:
    """Warn that a table does not exist yet, and state what the plan assumes."""
    message = f"{table} does not exist yet — {assumption}"
    warnings.warn(message, EarwitnessWarning, stacklevel=2)
