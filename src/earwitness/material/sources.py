"""Recordings from which clips are cut: names, covariates and annotated speech."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from unicodedata import normalize
from warnings import warn

from earwitness.audio.decode import facts_of
from earwitness.errors import EarwitnessError, EarwitnessWarning, Problem, UsageError, file_problem
from earwitness.io.atomic import real_path
from earwitness.material.annotations import (
    SpeechAnnotation,
    SpokenInterval,
    find_row,
    match_fields,
    read_covariates,
    recording_names,
)
from earwitness.recordings.recording import sound_files

MAX_EXCESS_SECONDS = 1.0  # by which an annotation may exceed its recording
MAX_PREFIX_BYTES = 180  # of a recording's name in names of clips; file systems allow 255 in all
PREFIX_PUNCTUATION = "-_.+@"  # characters besides letters and digits that file names keep


@dataclass(frozen=True)
class SourceRecording:
    """A recording: file, name in the table, start of the names of its clips, and its covariates.

    ``names`` are those under which tables and annotations may have it.
    """

    path: Path
    name: str
    prefix: str
    names: tuple[str, ...]
    seconds: float = 0.0
    covariates: Mapping[str, str] = field(default_factory=dict)
    speech: tuple[SpokenInterval, ...] | None = None


def list_recordings(paths: Iterable[Path]) -> list[SourceRecording]:
    """Return the recordings of files and folders, each with a name of its own.

    The name is that of the file without its ending; files of the same name have their path.
    """
    relatives, seen = dict[Path, PurePosixPath](), set[Path]()
    for path in paths:
        files, notes = sound_files([path])
        for note in notes:
            warn(note, EarwitnessWarning, stacklevel=3)
        for file in files:
            inner = file.relative_to(path) if path.is_dir() else Path(file.name)
            if real_path(file) not in seen:
                relatives[file] = PurePosixPath(normalize("NFC", inner.as_posix()))
            seen.add(real_path(file))
    places = [*relatives.values()]
    choices = (
        [place.stem for place in places],
        [str(place.with_suffix("")) for place in places],
        [*map(str, places)],
    )
    labels = next(
        (choice for choice in choices if len({*choice}) == len(choice)), [*map(str, relatives)]
    )
    recordings, taken = list[SourceRecording](), set[str]()
    for (path, relative), name in zip(relatives.items(), labels, strict=True):
        prefix = unique_name(clean_name(name), taken)
        names = recording_names(relative)
        recordings.append(SourceRecording(path, name, prefix, names))
    if not recordings:
        raise UsageError("no audio files found — give audio files, or folders that contain them")
    return recordings


def clean_name(name: str) -> str:
    """Return a name with only letters, digits and ``-_.+@``, for files.

    >>> clean_name("eval/Küche 1.wav")
    'eval_Küche_1.wav'
    """
    plain = normalize("NFC", name)
    kept = "".join(
        character if character.isalnum() or character in PREFIX_PUNCTUATION else "_"
        for character in plain
    )
    return kept.lstrip(".").encode()[:MAX_PREFIX_BYTES].decode(errors="ignore") or "clip"


def unique_name(name: str, taken: set[str]) -> str:
    """Return a name with a number if it is taken, also in another case; and add it."""
    other, number = name, 1
    while other.casefold() in taken:
        number += 1
        other = f"{name}_{number}"
    taken.add(other.casefold())
    return other


def describe_recordings(
    recordings: Sequence[SourceRecording],
    problems: list[Problem],
    *,
    pattern: str | None = None,
    covariates: Path | None = None,
    annotation: SpeechAnnotation | None = None,
) -> list[SourceRecording]:
    """Return recordings with duration, covariates and speech; those with problems are left out."""
    rows = None if covariates is None else read_covariates(covariates, "recording", problems)
    described = []
    for recording in recordings:
        own: list[str] = []
        values: dict[str, str] = {}
        if pattern is not None:
            found = match_fields(pattern, recording.names[::-1])
            if found is None:
                own.append(f'does not match the pattern "{pattern}"')
            values |= found or {}
        if rows is not None:
            row = find_row(rows, recording.names)
            if row is None:
                own.append(f"has no row in {covariates}")
            values |= row or {}
        speech, seconds = None, 0.0
        try:
            facts = facts_of(recording.path)
            seconds = facts.seconds
            if facts.note:
                warn(f"{recording.path}: {facts.note}", EarwitnessWarning, stacklevel=3)
        except EarwitnessError as error:
            own.append(str(error))
        if annotation is not None:
            found_speech = annotation.find_speech(recording.names)
            annotated = [*annotation.recordings.values()]
            if found_speech is None and not annotation.sessions:
                # the only annotation belongs to the only recording
                is_only = len(recordings) == len(annotated) == 1
                found_speech = sorted(annotated[0]) if is_only else None
            speech = None if found_speech is None else tuple(found_speech)
            last = max((interval.end for interval in speech or ()), default=0)
            if speech is None:
                own.append("has no annotation")
            elif not own and last > seconds + MAX_EXCESS_SECONDS:
                own.append(f"lasts {seconds:.1f} s, but its annotation has speech at {last:.1f} s")
        problems += [file_problem(recording.path, message) for message in own]
        if not own:
            described.append(replace(recording, seconds=seconds, covariates=values, speech=speech))
    return described
