"""Folders of recordings and their skims: audio of the skims, and systems from names or a table.

A folder has a full-length recording and its skims, or is one that ``earwitness skim`` has written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.files import Sound
from earwitness.audio.read import read_sound
from earwitness.core import load_json
from earwitness.errors import Problem, UsageError, file_problem, nearest, refuse_problems
from earwitness.io.schema import is_name, show, whole_number
from earwitness.io.tables import read_row_table
from earwitness.recordings.recording import natural_sort_key, sound_files
from earwitness.skims.files import OUTPUTS_FILE, RECORDINGS_FILE
from earwitness.studies.trials.base import LETTERS

FULL_LENGTH_PATTERN = re.compile(r"full[-_ .]?length|(^|[-_ .])full$", re.IGNORECASE)
PROJECT_ENDING = ".aup3"  # of Audacity
SEPARATORS = "-_ ."  # between the name of a folder and the rest of a file name
METHOD_AND_Z = re.compile(r"(?P<method>.+?)[-_ ]z=?(?P<z>[01](?:\.\d+)?)")
CLOCK_KEYS = ("start", "zone", "hour_gap")  # of recordings.jsonl, as in a study file
MIN_SYSTEMS, MAX_SYSTEMS = 2, len(LETTERS)
NUMBERED_NOTE = (
    "skims have numbers instead of names, so skims with the same number are analysed as one system "
    "— name their systems with --skims if numbers stand for different methods in each folder"
)


@dataclass(frozen=True)
class SkimFile:
    """A skim: its file, or the samples of a part of it, and what names and tables say about it.

    ``key`` is the name without that of the folder, or the number of the part.
    """

    path: Path
    key: str
    span: tuple[int, int] | None = None
    system: str = ""
    places: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    output: Mapping[str, Any] | None = None

    def read(self) -> Sound:
        """Read the audio."""
        sound = read_sound(self.path)
        if self.span is None:
            return sound
        return sound._replace(samples=sound.samples[slice(*self.span)])


@dataclass(frozen=True)
class SkimFolder:
    """A recording and its skims; ``item`` is the name of the folder, or of the recording."""

    folder: Path
    item: str
    recording: tuple[Path, ...]
    skims: tuple[SkimFile, ...]
    clock: Mapping[str, Any] = field(default_factory=dict)


# --- Files of a folder ---------------------------------------------------------------------------


def is_skim_folder(path: Path) -> bool:
    """Whether a path is a folder of a recording and its skims, or of skims with their lines."""
    return _is_skim_run(path) or find_full_length(path) is not None


def _is_skim_run(path: Path) -> bool:
    return (path / OUTPUTS_FILE).is_file() and (path / RECORDINGS_FILE).is_file()


def find_full_length(path: Path) -> Path | None:
    """Return the full-length recording of a folder that has skims, too: a file or a subfolder."""
    if not path.is_dir():
        return None
    entries = [child for child in path.iterdir() if not child.name.startswith(".")]
    sounds, _ = sound_files([path]) if entries else ((), ())
    folders = [
        entry for entry in entries if entry.is_dir() and FULL_LENGTH_PATTERN.search(entry.name)
    ]
    files = [sound for sound in sounds if FULL_LENGTH_PATTERN.search(sound.stem)]
    named = [*folders, *(file for file in files if not {*folders} & {*file.parents})]
    # skims of a full-length recording, and their folder, may start with its name
    found = [
        recording
        for recording in named
        if not any(
            _stem(recording).startswith(tuple(_stem(other) + mark for mark in SEPARATORS))
            for other in named
        )
    ]
    if len(found) > 1:
        names = f"{found[0].name}, {found[1].name}"
        raise UsageError(f"{path}: has several files or folders named full-length: {names}")
    if not found:
        return None
    if len(_other_sounds(path, found[0])) > 0:
        return found[0]
    if projects := [entry for entry in entries if entry.suffix.lower() == PROJECT_ENDING]:
        message = f"{projects[0]}: Audacity projects cannot be read"
        raise UsageError(f"{message} — export the skims as FLAC or WAV files")
    return None


def _stem(path: Path) -> str:
    return path.name if path.is_dir() else path.stem


def _other_sounds(folder: Path, full: Path) -> list[Path]:
    files, _ = sound_files([folder])
    others = (file for file in files if full not in (file, *file.parents))
    return sorted(others, key=lambda file: natural_sort_key(file.with_suffix("")))


def _read_folder(folder: Path) -> SkimFolder:
    full = find_full_length(folder)
    if full is None:
        raise UsageError(f"{folder}: has no file named full-length, or no skims")
    item, others = folder.resolve().name, _other_sounds(folder, full)
    if len(others) == 1:
        whole = read_sound(others[0])
        spans = split_at_silences(whole.samples, whole.rate)
        if len(spans) < MIN_SYSTEMS:
            message = f"no silence of {MIN_SILENCE_SECONDS:g} s separates skims"
            raise UsageError(f"{others[0]}: {message} — write one file per skim")
        parts = (SkimFile(others[0], str(n), span) for n, span in enumerate(spans, 1))
        return SkimFolder(folder, item, (full,), tuple(parts))
    keys = [_strip_prefix(file.stem, (_stem(full), item)) for file in others]
    skims = [
        SkimFile(file, key, system=_system_of_json(file))
        for file, key in zip(others, keys, strict=True)
    ]
    return SkimFolder(folder, item, (full,), tuple(skims))


def _strip_prefix(stem: str, prefixes: Sequence[str]) -> str:
    """Return a name without that of its recording or folder.

    >>> _strip_prefix("A_full-length_pareto-z0", ("A_full-length", "A")), _strip_prefix("A-1", "A")
    ('pareto-z0', '1')
    """
    for prefix in prefixes:
        rest = stem[len(prefix) :]
        if stem.casefold().startswith(prefix.casefold()) and rest[:1] in SEPARATORS and rest[1:]:
            return rest[1:]
    return stem


def _system_of_json(file: Path) -> str:
    """Return method and z of the JSON file that ``earwitness skim`` writes beside a skim."""
    path = file.with_suffix(".json")
    try:
        about = load_json(path.read_text(encoding="utf-8")) if path.is_file() else {}
        method, z = about["method"], about.get("z")
        return name_system(method, z) if isinstance(method, str) else ""
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError):
        return ""


def name_system(method: str, z: float | None) -> str:
    """Return the name of the system of a method and z, as ``earwitness skim`` has it.

    >>> name_system("pareto", 0.50), name_system("random", None)
    ('pareto-z0.5', 'random')
    """
    return method if z is None else f"{method}-z{z:g}"


def _read_skim_run(folder: Path) -> Iterator[SkimFolder]:
    """Yield the recordings and skims of a folder that ``earwitness skim`` has written."""
    outputs, recordings = (_read_lines(folder / name) for name in LINE_CHECKS)
    items = {str(record["item"]) for record in recordings}
    if lost := next(
        (str(output["item"]) for output in outputs if str(output["item"]) not in items), None
    ):
        raise UsageError(f"{folder / RECORDINGS_FILE}: the line of {lost} is missing")
    sounds = {file.stem: file for file in sound_files([folder])[0]}
    for record in recordings:
        item, names = str(record["item"]), record["recording"]
        if "day" in record and (record.get("start") or record.get("hour_gap")):
            message = f"{folder}: {item} is one day of a longer recording"
            raise UsageError(f"{message} — skim each day as a recording of its own")
        paths = [names] if isinstance(names, str) else names
        skims = list[SkimFile]()
        for output in outputs:
            if str(output["item"]) != item:
                continue
            system = str(output["system"])
            file = sounds.get(f"{item}_{system}")
            if file is None:
                raise UsageError(f"{folder}: the audio file of {item}_{system} is missing")
            skims.append(SkimFile(file, system, system=system, output=output["output"]))
        clock = {name: record[name] for name in CLOCK_KEYS if record.get(name)}
        yield SkimFolder(folder, item, tuple(folder / path for path in paths), tuple(skims), clock)


def _are_paths(value: Any) -> bool:
    paths = value if isinstance(value, list) else [value]
    return bool(paths) and all(isinstance(path, str) for path in paths)


LINE_CHECKS: Mapping[str, Mapping[str, Callable[[Any], bool]]] = {
    OUTPUTS_FILE: {
        "item": is_name,
        "system": is_name,
        "output": lambda value: isinstance(value, dict),
    },
    RECORDINGS_FILE: {"item": is_name, "recording": _are_paths},
}


def _read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file of ``earwitness skim``; report all problems at once."""
    table = read_row_table(path)
    problems = table.problems
    for line, row in table.rows:
        for key, is_valid in LINE_CHECKS[path.name].items():
            if key not in row:
                problems.append(Problem(str(path), line, key, "missing"))
            elif not is_valid(row[key]):
                problems.append(Problem(str(path), line, key, f"invalid value {show(row[key])}"))
    if not table.rows and not problems:
        problems.append(file_problem(path, "has no lines"))
    refuse_problems(problems, "written")
    return [row for _, row in table.rows]


# --- Table of skims ------------------------------------------------------------------------------


TABLE_COLUMNS = ("folder", "file", "number", "system", "method", "z", "tc", "sd", "reason")
PLACE_COLUMNS = {"tc": "TC", "sd": "SD"}


def _add_table(folders: Sequence[SkimFolder], table: Path) -> list[SkimFolder]:
    """Return the folders with what a table says about their skims; report all problems at once."""
    rows = read_row_table(table, delimiter=None)
    problems, source = rows.problems, str(table)
    columns = rows.columns or (rows.rows[0][1].keys() if rows.rows else ())
    for name in columns:
        if name not in TABLE_COLUMNS:
            remedy = nearest(str(name), TABLE_COLUMNS)
            problems.append(Problem(source, 1, "", f'unknown column "{name}"', remedy))
    if not problems and ("folder" not in columns or not {"file", "number"} & {*columns}):
        problems.append(Problem(source, 1, "", "needs the columns folder, and file or number"))
    refuse_problems(problems, "written")
    about: dict[tuple[str, int], SkimFile] = {}
    for line, row in rows.rows:
        cells = {name: str(row.get(name) or "").strip() for name in TABLE_COLUMNS}
        try:
            folder, number = _find_skim(folders, cells)
            if (folder.item, number) in about:
                raise UsageError("this skim has another row")
            about[folder.item, number] = _add_row(folder.skims[number], cells)
        except UsageError as error:
            problems.append(Problem(source, line, "", str(error)))
    refuse_problems(problems, "written")
    return [
        replace(
            folder,
            skims=tuple(about.get((folder.item, n), skim) for n, skim in enumerate(folder.skims)),
        )
        for folder in folders
    ]


def _find_skim(folders: Sequence[SkimFolder], cells: Mapping[str, str]) -> tuple[SkimFolder, int]:
    """Return the folder and the index of the skim of a row."""
    name = cells["folder"].rstrip("/")
    found = [folder for folder in folders if folder.item == name]
    found = found or [folder for folder in folders if str(folder.folder) == name]
    if not found:
        raise UsageError(f'unknown folder "{name}" — {nearest(name, [f.item for f in folders])}')
    if len(found) > 1:
        items = ", ".join(namesake.item for namesake in found)
        raise UsageError(f'"{name}" has several recordings — use the name of one of them: {items}')
    [folder] = found
    wanted, skims = cells["file"] or cells["number"], folder.skims
    for number, skim in enumerate(skims):
        names = (skim.path.name, skim.path.stem) if skim.span is None else ()
        if wanted in (*names, skim.key):
            return folder, number
    has_numbers = any(skim.key.isdecimal() for skim in skims)
    if 0 < whole_number(wanted) <= len(skims) and not has_numbers:
        return folder, int(wanted) - 1
    raise UsageError(f'{folder.item} has no skim "{wanted}"')


def _add_row(skim: SkimFile, cells: Mapping[str, str]) -> SkimFile:
    system = cells["system"]
    if not system and cells["method"]:
        z = _parse_number("z", cells["z"]) if cells["z"] else None
        system = name_system(cells["method"], z)
    places = {
        scale: _parse_number(name, cells[name])
        for name, scale in PLACE_COLUMNS.items()
        if cells[name]
    }
    if cells["reason"] and len(places) < len(PLACE_COLUMNS):
        raise UsageError("a skim with a reason needs tc and sd, too")
    return replace(skim, system=system or skim.system, places=places, reason=cells["reason"])


def _parse_number(name: str, text: str) -> float:
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise UsageError(f'{name} must be a number from 0 to 1, got "{text}"')
    return round(value, 3)


# --- Folders with systems ------------------------------------------------------------------------


def read_skim_folders(
    paths: Sequence[Path], practice: Path | None = None, table: Path | None = None
) -> tuple[list[SkimFolder], SkimFolder | None, list[str]]:
    """Read folders of recordings and their skims, without changing anything.

    Parameters
    ----------
    paths
        Folders with a full-length recording and its skims, as files or as one file in which
        silences of at least 30 s separate them; or folders that ``earwitness skim`` has written.
    practice
        Another such folder for practice, whose skims need no systems.
    table
        Table with the columns folder, file or number, and system or method and z. For practice:
        tc, sd and reason.

    Returns
    -------
    tuple of list of SkimFolder, SkimFolder or None, and list of str
        The folders, in which all skims have a system; the practice folder; and notes.

    Raises
    ------
    UsageError
        If folders cannot be read, or do not have the same systems.
    InputError
        If rows of the table are wrong.
    """
    folders = [
        folder
        for path in paths
        for folder in (_read_skim_run(path) if _is_skim_run(path) else [_read_folder(path)])
    ]
    items = [folder.item for folder in folders]
    own = None if practice is None else _read_folder(practice)
    if twice := next((name for name in items if items.count(name) > 1), None):
        raise UsageError(f"several folders or recordings have the name {twice} — rename them")
    if own is not None and own.item in items:
        raise UsageError(f"{practice}: the practice folder is also one to evaluate")
    if table is not None:
        found = _add_table([*folders, *([own] if own else [])], table)
        folders, own = found[: len(folders)], found[-1] if own else None
    folders, notes = _name_systems(folders)
    if folders:
        _refuse_systems(folders)
    return folders, own, notes


def _name_systems(folders: Sequence[SkimFolder]) -> tuple[list[SkimFolder], list[str]]:
    """Return the folders with a system for each skim.

    Systems come from the table or from JSON files, otherwise from file names; if these name no
    methods and no folder has a name of another one, from the order of names.
    """
    named = [
        [skim.system or _system_of_name(skim.key) for skim in folder.skims] for folder in folders
    ]
    is_told = any(skim.system for folder in folders for skim in folder.skims)
    names_of_all = [name for names in named for name in names]
    is_shared = len({*names_of_all}) < len(names_of_all)
    has_methods = any(METHOD_AND_Z.fullmatch(name) for name in names_of_all)
    if len(folders) > 1 and not (is_told or is_shared or has_methods):
        named = [[str(number + 1) for number in range(len(names))] for names in named]
    are_numbers = all(name.isdecimal() for names in named for name in names)
    notes = [NUMBERED_NOTE] if len(folders) > 1 and not is_told and are_numbers else []
    return [
        replace(
            folder,
            skims=tuple(
                replace(skim, system=name) for skim, name in zip(folder.skims, names, strict=True)
            ),
        )
        for folder, names in zip(folders, named, strict=True)
    ], notes


def _system_of_name(key: str) -> str:
    """Return the system of a file name, with z as ``earwitness skim`` writes it.

    >>> _system_of_name("engineer_z0.50"), _system_of_name("random")
    ('engineer-z0.5', 'random')
    """
    match = METHOD_AND_Z.fullmatch(key)
    return name_system(match["method"], float(match["z"])) if match else key


def _refuse_systems(folders: Sequence[SkimFolder]) -> None:
    """Refuse numbers and names of systems that a study cannot have."""
    counts = {folder.item: len(folder.skims) for folder in folders}
    if len(set(counts.values())) > 1:
        text = ", ".join(f"{item}: {count}" for item, count in counts.items())
        raise UsageError(f"all folders must have the same number of skims ({text})")
    first, *others = ({skim.system for skim in folder.skims} for folder in folders)
    for folder, count in zip(folders, counts.values(), strict=True):
        names = [skim.system for skim in folder.skims]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise UsageError(f"{folder.item}: several skims have the system {twice}")
        if not MIN_SYSTEMS <= count <= MAX_SYSTEMS:
            message = f"{folder.item}: has {count} skims"
            raise UsageError(f"{message}, but a plane can have {MIN_SYSTEMS} to {MAX_SYSTEMS}")
    for folder, systems in zip(folders[1:], others, strict=True):
        if first != systems:
            message = (
                f"systems differ: {folders[0].item} has {_quote_names(first - systems)}, "
                f"{folder.item} has {_quote_names(systems - first)}"
            )
            raise UsageError(f"{message} — rename files, or name all systems with --skims")
    for name in [*counts, *sorted(first)]:
        if not is_name(name) or {*"/\\{}"} & {*name}:
            raise UsageError(f'"{name}" cannot be the name of a recording or system — rename it')


def _quote_names(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in sorted(names))


# --- Parts of one file ---------------------------------------------------------------------------


MIN_SILENCE_SECONDS = 30.0  # between skims in one file
SILENCE_LEVEL = 10 ** (-70 / 20)  # of full scale
FRAME_SECONDS = 0.05


def split_at_silences(
    samples: NDArray[Any], rate: int, seconds: float = MIN_SILENCE_SECONDS
) -> list[tuple[int, int]]:
    """Return the first and last sample of the parts that long silences separate.

    Parameters
    ----------
    samples
        Samples, one column per channel.
    rate
        Sample rate in Hz.
    seconds
        Shortest silence that separates parts.

    Returns
    -------
    list of (int, int)
        Start and end of each part, in samples.

    Examples
    --------
    >>> sound = np.concatenate([np.ones(100), np.zeros(400), np.ones(50)])
    >>> split_at_silences(sound[:, None], rate=10)
    [(0, 100), (500, 550)]
    """
    if not len(samples):
        return []
    size = max(1, round(FRAME_SECONDS * rate))
    levels = np.abs(samples).reshape(len(samples), -1).max(1)
    edges = np.arange(0, len(levels), size)
    loud = np.flatnonzero(np.maximum.reduceat(levels, edges) > SILENCE_LEVEL)
    parts = list[tuple[int, int]]()
    for frame in loud:
        first, last = int(edges[frame]), int(min(edges[frame] + size, len(levels)))
        if parts and first - parts[-1][1] < seconds * rate:
            parts[-1] = parts[-1][0], last
        else:
            parts.append((first, last))
    return parts
