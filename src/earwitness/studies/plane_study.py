"""The command study plane: from recordings, or folders of them and their skims, to a study."""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import product
from math import ceil
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import yaml

from earwitness.audio.files import Sound, write_new_wav
from earwitness.audio.wav import wav_seconds
from earwitness.core import Jobs, Progress, StrPath, no_progress
from earwitness.errors import UsageError, nearest
from earwitness.io.atomic import AtomicFile, lock_folder
from earwitness.io.tables import csv_text, open_csv
from earwitness.ratings.rubric import LANGUAGES
from earwitness.recordings.recording import open_recording
from earwitness.skims.files import OUTPUTS_FILE, RECORDINGS_FILE, render_skim
from earwitness.skims.options import EXTRAS, MANUAL_METHOD, METHODS, METHODS_WITH_Z, SkimOptions
from earwitness.skims.run import skim
from earwitness.skims.types import Pick
from earwitness.soundscapes.practice import REASONS
from earwitness.soundscapes.scene import SoundEvent
from earwitness.soundscapes.truth import Truth
from earwitness.soundscapes.write import FULL_LENGTH_NAME, practice_write, soundscape
from earwitness.studies.file.reader import read_study
from earwitness.studies.skim_folders import (
    CLOCK_KEYS,
    SkimFile,
    SkimFolder,
    find_full_length,
    is_skim_folder,
    read_skim_folders,
)
from earwitness.studies.trials.plane import MAX_HOURS, PlaneKind
from earwitness.studies.wording import wording

PLANE_CHOICES = tuple(name for name in METHODS if name != MANUAL_METHOD)
PLANE_METHODS, PLANE_ZS = ("pareto", "published"), (0.0, 0.3, 0.7, 1.0)  # eight skims
PRACTICE_TRIALS = 3  # TC, SD, and the plane, with skims of their own
PLANE_ANSWER_SECONDS = 10.0  # per coordinate of a skim
HOUR_SECONDS = 3600.0
REPEATED_PICKS = 2  # of practice skims with low TC and SD
MAX_REPEATS = 0.5  # largest share of repeated trials of a study
# handling of speech in recordings, and in the skims made of them
SPEECH_OF_SKIMS = {"keep": "keep", "reverse": "reverse", "mute": "avoid"}
REFUSED_SPEECH = {  # reasons why imported skims are left as they are
    "reverse": "if it is reversed in them already, it would become intelligible",
    "mute": "their blocks cannot be chosen again to avoid it",
}
SKIM_FOLDER, PRACTICE_FOLDER, EXAMPLE_FOLDER = "skims", "practice", "skims/examples"
STUDY_FILES = STUDY_FILE, GOLD_FILE, CLIPS_FILE = "study.yaml", "gold.csv", "clips.csv"
MAX_PRACTICE_SECONDS, MIN_PRACTICE_HOUR_SECONDS = 1e7, 1.0
PRACTICE_FILES = ("practice.json", "truth.json", "labels.csv")  # of a synthetic day
SKIM_FILES = f"{SKIM_FOLDER}/{{item}}_{{system}}.wav"
IMPORT_NOTE = "skims are imported; --method, --z and --length apply only to skims made for practice"
REASONS_NOTE = "reasons of examples are in another language; translate them in study.yaml"
STUDY_HEADER = (
    "# Skims on the TC/SD plane. `earwitness study check` prints the plan and the time.\n"
)


@dataclass
class PlaneMaterial:
    """What a study needs: the recording of each item, and the places of practice skims.

    ``recordings`` has the keys of each recording in the study file, and ``seconds`` its length.
    """

    folder: Path
    recordings: dict[str, dict[str, Any]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    systems: list[str] = field(default_factory=list)
    gold: list[tuple[str, str, str, float]] = field(default_factory=list)
    practice_item: str = ""
    examples: list[dict[str, Any]] = field(default_factory=list)

    @property
    def skim_folder(self) -> Path:
        """Folder of all skims."""
        return self.folder / SKIM_FOLDER

    @property
    def items(self) -> list[str]:
        """Items that are evaluated."""
        return [item for item in self.recordings if item != self.practice_item]

    def skim_path(self, item: str, system: str) -> Path:
        """Return the path of a skim."""
        return self.folder / SKIM_FILES.format(item=item, system=system)

    def refuse_same_names(self) -> None:
        """Refuse items and systems that give two skims the same file, on any file system."""
        names = set[str]()
        for item, system in product(self.recordings, self.systems):
            name = self.skim_path(item, system).name
            if name.casefold() in names:
                message = f"two skims would have the same file {name}"
                raise UsageError(f"{message} — rename a recording or a system")
            names.add(name.casefold())

    def add_recording(self, item: str, paths: Sequence[Path], keys: Mapping[str, Any]) -> None:
        """Add a recording with its clock and speech; its length is read."""
        clock = {name: keys[name] for name in ("start", "zone", "shown") if keys.get(name)}
        self.seconds[item] = open_recording(paths, **clock).seconds
        files = [_relative_path(path, self.folder) for path in paths]
        self.recordings[item] = {"files": files[0] if len(files) == 1 else files, **keys}

    def add_gold(self, system: str, places: Mapping[str, float]) -> None:
        """Add the expected places of a skim for practice, by scale."""
        self.gold += [(self.practice_item, system, *place) for place in places.items()]


def study_plane(
    recordings: StrPath | Sequence[StrPath],
    folder: StrPath,
    *,
    methods: Annotated[Sequence[str], PLANE_CHOICES] = PLANE_METHODS,
    z: Sequence[float] = PLANE_ZS,
    practice: StrPath | bool = True,
    skims: StrPath | None = None,
    retest: bool = False,
    speech: Annotated[str, SPEECH_OF_SKIMS] = "keep",
    title: str = "Skims on the TC/SD plane",
    listeners: int = 8,
    language: Annotated[str, LANGUAGES] = "en",
    seed: int = 0,
    jobs: Jobs = 1,
    progress: Progress = no_progress,
    **settings: Any,
) -> list[str]:
    """Write a study in which experts place skims of recordings on the TC/SD plane.

    After an error or an interruption, nothing that was written remains.

    Parameters
    ----------
    recordings
        Recordings, each a file or a folder of consecutive files, of which skims are made; or
        folders that have a file named full-length and skims, as files or as one file in which
        silences of at least 30 s separate them; or folders that ``earwitness skim`` has written.
    folder
        Folder of the study.
    methods
        Method that picks blocks.
    z
        Values of z, from 0 (follow the course of the day) to 1 (cover all kinds of sound).
    practice
        Practice folder, as ``earwitness soundscape --practice`` writes it, or with a recording and
        skims; true: a new one, false: no practice. Missing skims for practice are made.
    skims
        Table of skims in folders, with the columns folder, file or number, and system or method
        and z. Skims for practice may have tc and sd, which are shown as feedback, and those with
        a reason are the examples.
    retest
        Whether each expert evaluates one of the recordings a second time at the end.
    speech
        Passages with speech: keep; reverse, in recordings and skims; or mute, in recordings, and
        avoid in skims. Imported skims require keep.
    title
        Title of the study.
    listeners
        Planned number of listeners.
    language
        Language of the pages.
    seed
    jobs
    progress
    **settings
        Other settings of ``earwitness.skims.run.skim``: ``length``, ``embedder``, ``start``,
        ``zone``, ``shown``, ``hour_gap``, ``cache`` and so on; for the study also ``parameters``, a
        mapping of parameters of the trial kind.

    Returns
    -------
    list of str
        Notes on the recordings and skims.

    Raises
    ------
    UsageError
        If the folder has a study, or the skims of recordings differ.
    InputError
        If a recording or the table cannot be read.

    Examples
    --------
    All recordings must exist before anything is made:

    >>> study_plane(["a.flac", "b.flac"], "study", z=(0, 0.5, 1))
    Traceback (most recent call last):
    ...
    earwitness.errors.UsageError: a.flac: file or folder does not exist
    """
    several = [recordings] if isinstance(recordings, str | PathLike) else recordings
    paths, material = [Path(path) for path in several], PlaneMaterial(Path(folder))
    if speech not in SPEECH_OF_SKIMS:
        raise UsageError(f"unknown speech {speech!r} — {nearest(speech, SPEECH_OF_SKIMS)}")
    wording(language)  # raises if the language is unknown
    parameters = settings.pop("parameters", {})
    is_import = _refuse_paths(paths, material)
    own = _find_own_practice(material.folder, practice)
    if skims is not None and not is_import and own is None:
        raise UsageError("a table of skims needs folders with skims")
    _refuse_speech(speech, paths[0] if is_import else None, own)
    folders, own_day, notes = read_skim_folders(
        paths if is_import else [], own, None if skims is None else Path(skims)
    )
    keys = {
        name: settings[name]
        for name in ("start", "zone", "shown", "hour_gap")
        if settings.get(name)
    } | ({} if speech == "keep" else {"speech": speech})
    settings |= {"methods": tuple(methods), "z": tuple(z), "seed": seed}
    is_default = settings["methods"] == PLANE_METHODS and settings["z"] == PLANE_ZS
    if is_import and not (is_default and settings.get("length") is None):
        notes.append(IMPORT_NOTE)
    settings["speech"] = SPEECH_OF_SKIMS[speech]
    with _remove_on_error(material.folder):
        _refuse_used(material.folder)
        material.skim_folder.mkdir(parents=True, exist_ok=True)
        if is_import:
            _import_folders(material, folders, keys)
        else:
            notes += _make_skims(material, paths, keys, settings, jobs, progress)
        if practice is not False:
            day = _find_practice(material.folder, practice, own_day, language, progress)
            notes += _add_practice(material, day, keys, settings, jobs, progress)
            if day.language not in ("", language):
                notes.append(REASONS_NOTE)
        _write_study(material, parameters, retest=retest, title=title, listeners=listeners,
                     language=language, seed=seed)  # fmt: skip
        read_study(material.folder / STUDY_FILE)
    return notes


def _refuse_paths(paths: Sequence[Path], material: PlaneMaterial) -> bool:
    """Refuse missing recordings and folders in use; return whether all paths have skims."""
    _refuse_used(material.folder)
    if not paths:
        raise UsageError("no recordings were given")
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: file or folder does not exist")
    filled = [path for path in paths if is_skim_folder(path)]
    if filled and len(filled) < len(paths):
        other = next(path for path in paths if path not in filled)
        raise UsageError(f"{other}: has no file named full-length, but {filled[0]} has one")
    if filled and material.skim_folder.exists():
        raise UsageError(f"{material.skim_folder} already exists — choose another folder")
    return bool(filled)


def _refuse_used(place: Path) -> None:
    for name in STUDY_FILES:
        if (place / name).exists():
            raise UsageError(f"{place / name} already exists — choose another folder")


def _refuse_speech(speech: str, imported: Path | None, practice: Path | None) -> None:
    """Refuse to change speech if there are skims to copy."""
    folder = imported or practice
    if speech == "keep" or folder is None:
        return
    remedy = (
        "import skims without intelligible speech, leave out --speech, and add "
        f'"speech: {speech}" to recordings in study.yaml'
        if imported
        else "use a practice folder of earwitness soundscape"
    )
    message = f"{folder}: speech cannot be changed in skims that are imported"
    raise UsageError(f"{message}: {REFUSED_SPEECH[speech]} — {remedy}")


@contextmanager
def _remove_on_error(place: Path) -> Iterator[None]:
    """Remove what was written if the study cannot be completed; earlier files are kept.

    Only one command at a time may write into a folder, so that no files of others are removed.
    """
    parents = [folder for folder in (place, *place.parents) if not folder.exists()]
    try:
        place.mkdir(parents=True, exist_ok=True)
        with lock_folder(place):
            earlier = set(_study_paths(place))
            try:
                yield
            except BaseException as error:
                vars(error).pop("__notes__", None)  # on files that are removed
                for path in _study_paths(place):
                    if path not in earlier:
                        with suppress(OSError):  # what has happened is more important
                            # files of a folder come first
                            is_folder = path.is_dir() and not path.is_symlink()
                            (path.rmdir if is_folder else path.unlink)()
                raise
    except BaseException:
        for folder in parents:
            with suppress(OSError):  # it does not exist, or has files of others
                folder.rmdir()
        raise


def _study_paths(place: Path) -> list[Path]:
    """Return the existing files and folders of a study, files before their folders."""
    folders = [place / SKIM_FOLDER, place / PRACTICE_FOLDER]
    inside = [path for folder in folders for path in folder.rglob("*")]
    files = [place / name for name in STUDY_FILES]
    return [
        path for path in (*files, *sorted(inside, reverse=True), *folders) if os.path.lexists(path)
    ]


# --- Practice ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PracticeDay:
    """Recording for practice, placed examples, and skims to place.

    ``truth``, ``hour`` and ``language`` are known of a synthetic day: its sources, the seconds of
    an hour, and the language of the reasons.
    """

    item: str
    recording: Path
    examples: Sequence[SkimFile]
    skims: Sequence[SkimFile] = ()
    truth: Truth | None = None
    hour: float = HOUR_SECONDS
    language: str = ""


def _find_own_practice(place: Path, practice: StrPath | bool) -> Path | None:
    """Return the practice folder if it has a recording and skims, but was not synthesized."""
    folder = place / PRACTICE_FOLDER if isinstance(practice, bool) else Path(practice)
    if practice is False or (practice is True and not folder.exists()):
        return None
    missing = [name for name in PRACTICE_FILES if not (folder / name).is_file()]
    if missing and (practice is True or PRACTICE_FILES[0] not in missing):
        message = f"{folder}: is not a complete practice folder: {missing[0]} is missing"
        raise UsageError(f"{message} — rename or remove it, or choose another one with --practice")
    if not missing:
        return None
    if find_full_length(folder) is None:
        message = "is not a practice folder: it has no file named full-length, or no skims"
        raise UsageError(f"{folder} {message} — earwitness soundscape --practice writes one")
    return folder


def _find_practice(
    place: Path,
    practice: StrPath | bool,
    own: SkimFolder | None,
    language: str,
    progress: Progress,
) -> PracticeDay:
    """Return the recording and skims for practice; a new day is made if needed."""
    if own is not None:
        examples = [skim for skim in own.skims if skim.reason]
        skims = [skim for skim in own.skims if not skim.reason]
        return PracticeDay(own.item, own.recording[0], examples, skims)
    folder = place / PRACTICE_FOLDER if isinstance(practice, bool) else Path(practice)
    if not folder.exists():
        known = language if language in REASONS else "en"
        practice_write(soundscape("village"), folder, language=known, progress=progress)
    recording = find_full_length(folder)
    if recording is None:
        raise UsageError(f"{folder}: the file {FULL_LENGTH_NAME} is missing")
    try:
        about = msgspec.json.decode((folder / "practice.json").read_bytes(), type=_Practice)
        truth, hour = read_practice_truth(folder)
    except (
        msgspec.DecodeError,
        csv.Error,
        KeyError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        message = f"{folder}: is not a readable practice folder: {error}"
        raise UsageError(f"{message} — earwitness soundscape --practice writes one") from error
    examples = [
        SkimFile(
            folder / skim.audio,
            str(skim.skim),
            places={"TC": round(skim.tc, 3), "SD": round(skim.sd, 3)},
            reason=skim.reason,
        )
        for skim in about.skims
    ]
    return PracticeDay(recording.stem, recording, examples, (), truth, hour, about.language)


class _PracticeSkim(msgspec.Struct):
    audio: str
    skim: int | str
    tc: Annotated[float, msgspec.Meta(ge=0, le=1)]
    sd: Annotated[float, msgspec.Meta(ge=0, le=1)]
    reason: str


class _Practice(msgspec.Struct):
    skims: list[_PracticeSkim]
    language: str = "en"


class _PracticeTruth(msgspec.Struct):
    seconds: Annotated[float, msgspec.Meta(gt=0, le=MAX_PRACTICE_SECONDS)]
    hour: Annotated[float, msgspec.Meta(ge=MIN_PRACTICE_HOUR_SECONDS)]


def read_practice_truth(folder: Path) -> tuple[Truth, float]:
    """Read the truth of a practice day, and the length of its hours in seconds."""
    about = msgspec.json.decode((folder / "truth.json").read_bytes(), type=_PracticeTruth)
    with open_csv(folder / "labels.csv") as (_, rows):
        events = [
            SoundEvent(float(row["start"]), float(row["end"]), row["source"]) for _, row in rows
        ]
    if not all(0 <= event.start <= event.end <= MAX_PRACTICE_SECONDS for event in events):
        raise ValueError("a time in labels.csv is outside the recording")
    return Truth(events, about.seconds), about.hour


def _add_practice(
    material: PlaneMaterial,
    day: PracticeDay,
    keys: Mapping[str, Any],
    settings: Mapping[str, Any],
    jobs: Jobs,
    progress: Progress,
) -> Sequence[str]:
    """Add examples, and as many skims to place as other recordings have.

    They have the systems of the other recordings, whatever their own methods. Missing ones are
    made; those of a synthetic day have true places, and some are out of order or repeat blocks.
    """
    if day.item in material.recordings:
        raise UsageError(f"{day.recording} and a recording have the same name — rename one of them")
    material.practice_item = day.item
    material.add_recording(day.item, [day.recording], {} if day.truth else keys)
    material.refuse_same_names()
    for number, example in enumerate(day.examples, 1):
        name = f"{EXAMPLE_FOLDER}/{number}.wav"
        _copy_wav(example.read(), material.folder / name)
        material.examples.append({"sound": name, **example.places, "reason": example.reason})
    for system, practice_skim in zip(material.systems, day.skims, strict=False):
        _copy_wav(practice_skim.read(), material.skim_path(day.item, system))
        material.add_gold(system, practice_skim.places)
    missing = material.systems[len(day.skims) :]
    if not missing:
        unused = len(day.skims) - len(material.systems)
        return [f"{day.item}: {unused} skims are not used for practice"] if unused else []
    settings = dict(settings)
    if day.truth is not None:
        settings |= {"period": day.hour, "speech": "keep", "start": None, "hour_gap": 0.0}
    if len(_skim_options(settings).method_and_z_pairs) != len(missing):
        settings |= _spread_z(len(missing), settings["methods"])
    folder = material.skim_folder / PRACTICE_FOLDER  # apart from the outputs to score
    run = skim([day.recording], folder, _skim_options(settings), jobs=jobs, progress=progress)
    for number, (system, made) in enumerate(zip(missing, run.skims, strict=False)):
        path = folder / f"{made.recording.name}_{made.system}.wav"
        path.replace(material.skim_path(day.item, system))
        if day.truth is not None:
            picks = _vary_picks(made.skim.picks, number)
            if picks != made.skim.picks:
                samples = render_skim(made.recording, replace(made.skim, picks=picks))
                sound = Sound(samples, made.recording.rate, "PCM_16")
                _copy_wav(sound, material.skim_path(day.item, system))
            truth = day.truth
            places = {"TC": round(truth.tc(picks, day.hour), 3), "SD": round(truth.sd(picks), 3)}
            material.add_gold(system, places)
    shutil.rmtree(folder)
    return run.notes


def _spread_z(count: int, methods: Sequence[str]) -> dict[str, Any]:
    """Return methods and evenly spaced values of z for at least so many skims.

    >>> _spread_z(5, ["pareto", "random"])["z"]
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """
    usable = tuple(name for name in methods if name in METHODS_WITH_Z) or PLANE_METHODS
    zs = np.linspace(0, 1, ceil(count / len(usable))).round(3).tolist()
    return {"methods": usable, "z": tuple(zs)}


def _vary_picks(picks: tuple[Pick, ...], number: int) -> tuple[Pick, ...]:
    """Return the picks of a practice skim, so that practice skims differ clearly in TC and SD.

    Every fourth skim has the reverse order, and every fourth one repeats its first picks.

    >>> [_vary_picks((1, 2, 3, 4), number) for number in range(4)]
    [(1, 2, 3, 4), (4, 3, 2, 1), (1, 2, 3, 4), (1, 2, 1, 2)]
    """
    if number % 4 == 1:
        return picks[::-1]
    if number % 4 == 3:
        return tuple(picks[n % REPEATED_PICKS] for n in range(len(picks)))
    return picks


# --- Skims of recordings -------------------------------------------------------------------------


def _make_skims(
    material: PlaneMaterial,
    paths: Sequence[Path],
    keys: Mapping[str, Any],
    settings: Mapping[str, Any],
    jobs: Jobs,
    progress: Progress,
) -> Sequence[str]:
    """Make the skims of all recordings; return notes."""
    run = skim(paths, material.skim_folder, _skim_options(settings), jobs=jobs, progress=progress)
    names = dict.fromkeys(skim.recording.name for skim in run.skims)
    notes = list(run.notes)
    for name, path in zip(names, paths, strict=True):
        material.add_recording(name, [path], keys)
        if path.is_dir():
            minutes = material.seconds[name] / 60
            message = f"{path}: all audio files are one recording of {minutes:.1f} min"
            notes.append(f"{message}; skims to import need a recording named full-length")
    material.systems = list(dict.fromkeys(skim.system for skim in run.skims))
    return notes


def _skim_options(settings: Mapping[str, Any]) -> SkimOptions:
    return SkimOptions(to="wav", without=EXTRAS, **settings)


def _import_folders(
    material: PlaneMaterial, folders: Sequence[SkimFolder], keys: Mapping[str, Any]
) -> None:
    """Copy the skims of all folders as WAV files, and write the lines for scoring them."""
    for folder in folders:
        material.add_recording(folder.item, folder.recording, {**folder.clock, **keys})
    material.systems = [skim.system for skim in folders[0].skims]
    material.refuse_same_names()
    outputs = list[dict[str, Any]]()
    for folder in folders:
        for folder_skim in folder.skims:
            path = material.skim_path(folder.item, folder_skim.system)
            _copy_wav(folder_skim.read(), path)
            output = {"audio": path.name} if folder_skim.output is None else folder_skim.output
            outputs.append({"item": folder.item, "system": folder_skim.system, "output": output})
    recordings = [
        {
            "item": folder.item,
            "recording": [_relative_path(path, material.skim_folder) for path in folder.recording],
            **{
                name: value
                for name, value in {**folder.clock, **keys}.items()
                if name in CLOCK_KEYS
            },
        }
        for folder in folders
    ]
    for name, lines in ((OUTPUTS_FILE, outputs), (RECORDINGS_FILE, recordings)):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (material.skim_folder / name).write_text(text, encoding="utf-8")


def _copy_wav(sound: Sound, path: Path) -> None:
    """Write a sound as a WAV file, in place of an earlier one."""
    path.unlink(missing_ok=True)
    subtype = sound.subtype if sound.subtype.startswith(("PCM_16", "PCM_24")) else "PCM_16"
    write_new_wav(path, sound._replace(samples=np.clip(sound.samples, -1, 1), subtype=subtype))


# --- Files of the study --------------------------------------------------------------------------


def _write_study(
    material: PlaneMaterial,
    parameters: Mapping[str, Any],
    *,
    retest: bool,
    title: str,
    listeners: int,
    language: str,
    seed: int,
) -> None:
    place, practice, items = material.folder, material.practice_item, material.items
    with_skims = [*items, *([practice] if practice else [])]
    rows = [(item, f"{_mean_seconds(material, item):.3f}") for item in with_skims]
    _write_table(place / CLIPS_FILE, ("name", "seconds"), rows)
    kind: dict[str, Any] = {"check": True, **_count_hours(material), **parameters}
    if material.examples:
        kind |= {"examples": material.examples, "recording": practice}
    study: dict[str, Any] = {
        "title": title,
        "seed": seed,
        "language": language,
        "systems": material.systems,
        "files": SKIM_FILES,
        "material": CLIPS_FILE,
        "listeners": listeners,
        "rest_minutes": 5,
        "instructions": "\n\n".join(
            wording(language).page(name)
            for name in ("plane_instructions", *(["plane_practice"] if practice else []))
        ),
        "blocks": [
            {
                "kind": PlaneKind.name,
                "clips": len(items),
                "sessions": len(items),
                "rating_seconds": PLANE_ANSWER_SECONDS,
                "parameters": kind,
            }
        ],
        "recordings": material.recordings,
    }
    if retest:
        study["quality"] = {"repeats": round(min(MAX_REPEATS, 1 / len(items)), 3)}
    if practice:
        trials = min(PRACTICE_TRIALS, len(material.systems))
        study |= {"training": trials, "training_items": [practice]}
    if material.gold:
        _write_table(place / GOLD_FILE, ("item", "system", "scale", "value"), material.gold)
        study |= {"feedback": True, "gold": GOLD_FILE}
    text = yaml.safe_dump(study, sort_keys=False, allow_unicode=True, width=100)
    with AtomicFile(place / STUDY_FILE) as file:
        file.write(STUDY_HEADER + text)


def _count_hours(material: PlaneMaterial) -> dict[str, int]:
    """Return the number of hours of the recordings as a parameter, if it is the same for all."""
    counts = {
        min(MAX_HOURS, max(1, round(material.seconds[item] / HOUR_SECONDS)))
        for item in material.items
    }
    return {"hours": counts.pop()} if len(counts) == 1 else {}


def _relative_path(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


def _mean_seconds(material: PlaneMaterial, item: str) -> float:
    paths = [material.skim_path(item, system) for system in material.systems]
    return float(np.mean([wav_seconds(path) for path in paths]))


def _write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    path.write_text(csv_text([header, *rows]), encoding="utf-8", newline="")
