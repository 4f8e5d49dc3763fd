"""Audio files of clips in all conditions: folder layouts, path patterns and new names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from string import Formatter
from typing import NamedTuple
from unicodedata import normalize

from earwitness.errors import (
    InputError,
    Problem,
    UsageError,
    file_problem,
    nearest,
    refuse_problems,
)
from earwitness.io.atomic import real_path
from earwitness.recordings.recording import SOUND_ENDINGS, natural_sort_key, sound_files
from earwitness.studies.design.anchors import CONDITION_AND_TALKER
from earwitness.studies.file.material import ITEM_PLACEHOLDER, SYSTEM_PLACEHOLDER

# --- Folder layouts ------------------------------------------------------------------------------


class ConditionFile(NamedTuple):
    """An audio file: its system (empty if there is only one), path, and path in the output."""

    system: str
    path: Path
    target: PurePosixPath


class ClipConditions(NamedTuple):
    """All files of a clip."""

    item: str
    files: tuple[ConditionFile, ...]


class _Place(NamedTuple):
    """An audio file and its path in the source folder."""

    item: str
    system: str
    path: Path
    relative: PurePosixPath


def find_conditions(
    source: Path,
    *,
    files: str | None = None,
    systems: Sequence[str] = (),
    rename: str | None = None,
) -> tuple[list[ClipConditions], list[Problem], list[str]]:
    """Return the clips of a folder, problems of incomplete clips, and notes.

    Parameters
    ----------
    source
        Folder with one subfolder per system and the same file names in each, or with audio files,
        or an audio file. A folder of reference conditions such as ``i01_f1.wav`` has one system
        per condition.
    files
        Path pattern with ``{item}`` and perhaps ``{system}``, if the folder has another layout.
    systems
        Systems to use; all if empty.
    rename
        Pattern of names in the output, with ``{item}``, ``{system}`` and ``{number}``.

    Returns
    -------
    tuple
        Complete clips in natural order, problems (with the item), and notes on ignored files.
    """
    systems = [_plain(system) for system in systems]
    places, notes = _find_places(source, files, systems)
    if files is None:
        places = _split_references(places)
    if systems:
        known = {place.system for place in places} - {""}
        for system in systems:
            if system not in known:
                raise UsageError(f'{source}: no system "{system}" — {nearest(system, known)}')
        places = [place for place in places if place.system in systems]
    if not places:
        layout = f"no audio file matches {files}" if files else "no audio files found"
        remedy = "give a folder with one subfolder per condition, or set --files"
        raise InputError([file_problem(source, layout, remedy)], done="written")
    names = list(dict.fromkeys(place.system for place in places))
    by_item: dict[str, dict[str, _Place]] = defaultdict(dict)
    problems = []
    for place in sorted(places, key=lambda place: natural_sort_key(Path(place.item))):
        if place.system in by_item[place.item]:
            other = by_item[place.item][place.system].relative
            message = f"second file of this clip, next to {other}"
            problems.append(file_problem(place.path, message, "keep one", place.item))
        by_item[place.item].setdefault(place.system, place)
    foreign = {  # those that share no clip with others
        name
        for name in names
        if len(names) > 1 and not any({name} < {*there} for there in by_item.values())
    }
    problems += _missing_conditions(source, by_item, names, foreign)
    if len(foreign) < len(names):
        by_item = {item: there for item, there in by_item.items() if not foreign >= {*there}}
    clips = _name_outputs(by_item, names, rename)
    invalid = {problem.item for problem in problems}
    return [clip for clip in clips if clip.item not in invalid], problems, notes


def _find_places(
    source: Path, pattern: str | None, systems: Sequence[str]
) -> tuple[list[_Place], list[str]]:
    if not source.exists():
        raise UsageError(f"{source}: file or folder does not exist")
    if source.is_file():
        return [_Place(_plain(source.stem), "", source, PurePosixPath(source.name))], []
    places, notes, folders, direct = [], list[str](), 0, 0
    shape = None if pattern is None else _pattern_shape(pattern, systems)
    children = [path for path in source.iterdir() if not path.name.startswith(".")]
    for child in sorted(children, key=natural_sort_key):  # may be a link to a folder
        if child.is_dir():
            found, ignored = sound_files([child])
            folders += bool(found)
            notes += ignored
        else:
            found = sound_files([child])[0] if child.suffix.lower() in SOUND_ENDINGS else ()
            direct += bool(found)
        for path in found:
            relative = PurePosixPath(path.relative_to(source).as_posix())
            if shape is not None:
                if match := shape.fullmatch(_plain(str(relative))):
                    names = match.groupdict()
                    places.append(_Place(names["item"], names.get("system", ""), path, relative))
                continue
            first, *rest = relative.parts
            item = str(PurePosixPath(*(rest or [first])).with_suffix(""))
            places.append(_Place(_plain(item), _plain(first) if rest else "", path, relative))
    if pattern is None and folders and direct:
        remedy = 'set --files, for example --files "{system}/{item}.wav"'
        raise UsageError(f"{source}: audio files in the folder and in subfolders — {remedy}")
    return places, notes


def _split_references(places: list[_Place]) -> list[_Place]:
    """Return files with the systems of their names, if all are reference conditions of P.835."""
    matches = [CONDITION_AND_TALKER.fullmatch(place.item) for place in places]
    if len({place.system for place in places}) > 1 or not all(matches):
        return places
    named = [match.groups() for match in matches if match]
    return [
        place._replace(system=system, item=item)
        for place, (system, item) in zip(places, named, strict=True)
    ]


def _plain(text: str) -> str:
    """Return text in the same Unicode form, since file systems differ in theirs."""
    return normalize("NFC", text)


def _pattern_shape(pattern: str, systems: Sequence[str]) -> re.Pattern[str]:
    """Return an expression for a path pattern; items may be in nested folders, systems not."""
    others = pattern.replace(ITEM_PLACEHOLDER, "").replace(SYSTEM_PLACEHOLDER, "")
    if ITEM_PLACEHOLDER not in pattern or set("{}") & set(others):
        allowed = f"{ITEM_PLACEHOLDER} and perhaps {SYSTEM_PLACEHOLDER}, and no other braces"
        raise UsageError(f'files must contain {allowed}, got "{pattern}"')
    named = "|".join(map(re.escape, sorted(systems, key=len, reverse=True))) or "[^/]+?"
    shape = re.escape(_plain(pattern))
    for placeholder, name, inside in (
        (SYSTEM_PLACEHOLDER, "system", named),
        (ITEM_PLACEHOLDER, "item", ".+"),
    ):
        first, *later = shape.split(re.escape(placeholder))
        if later:
            shape = f"{first}(?P<{name}>{inside}){f'(?P={name})'.join(later)}"
    ending = PurePosixPath(pattern).suffix
    return re.compile(shape if ending and "{" not in ending else rf"{shape}\.[^./]+")


def _missing_conditions(
    source: Path,
    by_item: dict[str, dict[str, _Place]],
    systems: Sequence[str],
    foreign: set[str],
) -> Iterator[Problem]:
    """Yield a problem for each missing file, and one for each foreign system."""
    for system in (system for system in systems if system in foreign):
        message = "no clip in common with the other conditions"
        remedy = "choose conditions with --system, or normalize this one separately"
        yield file_problem(source / system, message, remedy)
    expected = [system for system in systems if system not in foreign] or systems
    for item, there in by_item.items():
        present = [system for system in expected if system in there]
        for system in expected:
            if present and system not in there:
                message = f"missing in {system}, although {present[0]} has this clip"
                yield file_problem(there[present[0]].path, message, item=item)


# --- Output folder and its names ------------------------------------------------------------------


NAME_FIELDS = ("item", "system", "number")
OUTPUT_SUFFIX = ".wav"


def check_outside(output: Path, sources: Iterable[Path]) -> None:
    """Refuse an output folder inside a source folder, also through links."""
    for source in sources:
        if source.is_dir() and real_path(output).is_relative_to(real_path(source)):
            remedy = f"choose a folder outside {source}"
            raise UsageError(f"{output} is inside the source folder — {remedy}")


def _name_outputs(
    by_item: dict[str, dict[str, _Place]], systems: Sequence[str], rename: str | None
) -> list[ClipConditions]:
    """Return all clips with the paths of their files in the output; collisions are refused."""
    if rename is not None:
        _check_rename(rename)
    clips, taken, problems = [], dict[str, _Place](), []
    for number, (item, there) in enumerate(by_item.items(), 1):
        files = []
        for place in (there[system] for system in systems if system in there):
            target = place.relative.with_suffix(OUTPUT_SUFFIX)
            if rename is not None:
                name = rename.format(item=item, system=place.system, number=number)
                target = PurePosixPath(name.removesuffix(OUTPUT_SUFFIX) + OUTPUT_SUFFIX)
            if target.is_absolute() or ".." in target.parts or not target.stem:
                raise UsageError(f'rename gives "{target}", which is not inside the output folder')
            other = taken.setdefault(_plain(str(target)).casefold(), place)
            if other is not place:
                message = f'has the same name in the output as {other.relative}: "{target}"'
                remedy = "use {item} and {system} or {number} in --rename"
                problems.append(file_problem(place.path, message, remedy))
            files.append(ConditionFile(place.system, place.path, target))
        clips.append(ClipConditions(item, tuple(files)))
    refuse_problems(problems, "written")
    return clips


def _check_rename(rename: str) -> None:
    """Refuse a pattern with unknown fields or formats."""
    try:
        texts = [rename]
        for text in texts:  # also the formats of fields, which may have fields
            for _, name, form, _ in Formatter().parse(text):
                if name is not None and name not in NAME_FIELDS:
                    known = nearest(name, NAME_FIELDS)
                    raise UsageError(f'rename: unknown field "{name}" — {known}')
                texts += [form] if form else []
        rename.format(item="a", system="b", number=1)
    except ValueError as error:
        if isinstance(error, UsageError):
            raise
        example = '"{item}_{system}" or "{system}/{number:03}"'
        raise UsageError(f"rename: {error} — for example {example}") from error
