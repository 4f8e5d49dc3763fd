"""The command study plane: from recordings, or folders of them and their skims, to a study."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from earwitness.audio.files import Sound, read_sound, write_new_wav
from earwitness.audio.wav import wav_seconds
from earwitness.core import Map, Progress, no_progress
from earwitness.engines.local import in_process
from earwitness.errors import UsageError
from earwitness.io.atomic import AtomicFile
from earwitness.recordings.recording import natural_sort_key, sound_files
from earwitness.skims.options import EXTRAS, SkimOptions
from earwitness.skims.run import skim
from earwitness.skims.types import Pick
from earwitness.soundscapes.scene import SoundEvent
from earwitness.soundscapes.truth import Truth
from earwitness.soundscapes.write import FULL_LENGTH_NAME, practice_write, soundscape
from earwitness.studies.file.reader import read_study
from earwitness.studies.wording import wording

StrPath = str | PathLike[str]
PLANE_METHODS, PLANE_ZS = ("pareto", "published"), (0.0, 0.3, 0.7, 1.0)  # eight skims
PRACTICE_TRIALS = 3  # TC, SD, and the plane, with skims of their own
PLANE_ANSWER_SECONDS = 10.0  # per coordinate of a skim
SKIM_FOLDER, PRACTICE_FOLDER, GOLD_FILE, CLIPS_FILE = "skims", "practice", "gold.csv", "clips.csv"
SKIM_FILES = f"{SKIM_FOLDER}/{{item}}_{{system}}.wav"
STUDY_HEADER = (
    "# Skims on the TC/SD plane. `earwitness study check` prints the plan and the time.\n"
)


@dataclass
class PlaneMaterial:
    """What a study needs: the recording of each item, and the places of practice skims."""

    folder: Path
    recordings: dict[str, Path] = field(default_factory=dict)
    systems: list[str] = field(default_factory=list)
    gold: list[tuple[str, str, str, float]] = field(default_factory=list)
    practice_item: str = ""
    examples: list[dict[str, Any]] = field(default_factory=list)

    @property
    def skim_folder(self) -> Path:
        """Folder of all skims."""
        return self.folder / SKIM_FOLDER

    def skim_path(self, item: str, system: str) -> Path:
        """Return the path of a skim."""
        return self.folder / SKIM_FILES.format(item=item, system=system)


def study_plane(
    recordings: StrPath | Sequence[StrPath],
    folder: StrPath,
    *,
    methods: Sequence[str] = PLANE_METHODS,
    zs: Sequence[float] = PLANE_ZS,
    practice: StrPath | bool = True,
    title: str = "Skims on the TC/SD plane",
    listeners: int = 8,
    language: str = "en",
    seed: int = 0,
    map: Map = in_process,
    progress: Progress = no_progress,
    **settings: Any,
) -> list[str]:
    """Write a study in which experts place skims of recordings on the TC/SD plane.

    Parameters
    ----------
    recordings
        Recordings, each a file or a folder of consecutive files, of which skims are made; or
        folders that have a file named full-length and skims, as files or as one file in which
        silences of at least 30 s separate them.
    folder
        Folder of the study. Skims that it already has are kept.
    methods, zs
        Methods and values of z of the skims.
    practice
        Practice folder, as ``earwitness soundscape --practice`` writes it; true: a new one, false:
        no practice. Skims for practice are made of its day by the same methods.
    title, listeners, language, seed
        Title, number of experts, language of the pages and random seed of the study.
    map
        Distributes the reading of long recordings.
    progress
        Callback for progress reports.
    **settings
        Other settings of ``earwitness.skims.run.skim``: ``length``, ``embedder``, ``start``,
        ``zone``, ``shown``, ``hour_gap``, ``speech``, ``cache`` and so on; for the study also
        ``parameters``, a mapping of parameters of the trial kind.

    Returns
    -------
    list of str
        Notes on the recordings and skims.

    Raises
    ------
    UsageError
        If the folder has a study, or the skims of recordings differ.
    InputError
        If a recording cannot be read.

    Examples
    --------
    All recordings must exist before anything is made:

    >>> study_plane(["a.flac", "b.flac"], "study", zs=(0, 0.5, 1))
    Traceback (most recent call last):
    ...
    earwitness.errors.UsageError: a.flac: file or folder does not exist
    """
    several = [recordings] if isinstance(recordings, str | PathLike) else recordings
    paths, place = [Path(one) for one in several], Path(folder)
    if (place / "study.yaml").exists():
        raise UsageError(f"{place / 'study.yaml'} already exists — choose another folder")
    if not paths:
        raise UsageError("no recordings were given")
    wording(language)  # raises if the language is unknown
    parameters = settings.pop("parameters", {})
    filled = _find_filled(paths)
    material = PlaneMaterial(place)
    material.skim_folder.mkdir(parents=True, exist_ok=True)
    day = _find_practice(place, practice, progress)
    if day is not None:
        material.examples = _copy_examples(day, place)
    notes = list[str]()
    skim_settings = {"methods": tuple(methods), "zs": tuple(zs), "seed": seed, **settings}
    if filled:
        _import_folders(material, filled)
    else:
        notes += _make_skims(material, paths, skim_settings, map, progress)
    if day is not None:
        notes += _make_practice_skims(material, day, skim_settings, map, progress)
    clock = {name: settings[name] for name in ("start", "zone", "shown", "hour_gap")
             if settings.get(name)}  # fmt: skip
    _write_study(material, clock, parameters, title=title, listeners=listeners,
                 language=language, seed=seed)  # fmt: skip
    read_study(place / "study.yaml")
    return notes


# --- Practice ------------------------------------------------------------------------------------


def _find_practice(place: Path, practice: StrPath | bool, progress: Progress) -> Path | None:
    """Return the practice folder; a new one is made if needed."""
    if practice is False:
        return None
    folder = place / PRACTICE_FOLDER if practice is True else Path(practice)
    if practice is True and not folder.exists():
        practice_write(soundscape("village"), folder, progress=progress)
    if not (folder / "practice.json").is_file():
        message = "is not a practice folder: practice.json is missing"
        raise UsageError(f"{folder} {message} — earwitness soundscape --practice writes one")
    return folder


def _full_length_of(folder: Path) -> str:
    found = find_full_length(folder)
    if found is None:
        raise UsageError(f"{folder}: the file {FULL_LENGTH_NAME} is missing")
    return found.name


def _copy_examples(day: Path, place: Path) -> list[dict[str, Any]]:
    """Copy the audio of the examples as WAV files, and return them as parameters."""
    examples = list[dict[str, Any]]()
    for one in json.loads((day / "practice.json").read_text(encoding="utf-8"))["skims"]:
        name = f"{SKIM_FOLDER}/example_{one['skim']}.wav"
        _copy_wav(read_sound(day / one["audio"]), place / name)
        places = {"TC": round(one["tc"], 3), "SD": round(one["sd"], 3)}
        examples.append({"sound": name, **places, "reason": one["reason"]})
    return examples


def read_practice_truth(folder: StrPath) -> tuple[Truth, float]:
    """Read the truth of a practice day, and the length of its hours in seconds."""
    place = Path(folder)
    about = json.loads((place / "truth.json").read_text(encoding="utf-8"))
    with (place / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    events = [SoundEvent(float(row["start"]), float(row["end"]), row["source"]) for row in rows]
    return Truth(events, about["seconds"]), about["hour"]


# --- Skims of recordings -------------------------------------------------------------------------


def _make_skims(
    material: PlaneMaterial,
    paths: Sequence[Path],
    settings: Mapping[str, Any],
    map: Map,
    progress: Progress,
) -> Sequence[str]:
    """Make the skims of all recordings; return notes."""
    run = skim(paths, material.skim_folder, _skim_options(settings), map=map, progress=progress)
    names = dict.fromkeys(one.recording.name for one in run.skims)
    material.recordings |= dict(zip(names, paths, strict=True))
    material.systems = list(dict.fromkeys(one.system for one in run.skims))
    return run.notes


def _make_practice_skims(
    material: PlaneMaterial,
    day: Path,
    settings: Mapping[str, Any],
    map: Map,
    progress: Progress,
) -> Sequence[str]:
    """Make as many skims of the practice day as other recordings have, with their true places.

    In a study of imported skims, they have the numbers of these.
    """
    source = day / _full_length_of(day)
    plain = {name: one for name, one in settings.items() if name not in ("start", "hour_gap")}
    folder = material.skim_folder / PRACTICE_FOLDER  # apart from the outputs to score
    folder.mkdir(exist_ok=True)
    run = skim([source], folder, _skim_options(plain), map=map, progress=progress)
    item = material.practice_item = run.skims[0].recording.name
    if item in material.recordings:
        raise UsageError(f"{source} and a recording have the same name — rename the recording")
    material.recordings[item] = source
    if len(run.skims) < len(material.systems):
        return [*run.notes, "practice has examples only: recordings have more skims than it"]
    truth, hour = read_practice_truth(day)
    for system, one in zip(material.systems, run.skims, strict=False):
        (folder / f"{item}_{one.system}.wav").replace(material.skim_path(item, system))
        material.gold += _true_places(item, system, one.skim.picks, truth, hour)
    return run.notes


def _skim_options(settings: Mapping[str, Any]) -> SkimOptions:
    return SkimOptions.of(ending=".wav", without=EXTRAS, **settings)


def _true_places(
    item: str, system: str, picks: Sequence[Pick], truth: Truth, hour: float
) -> list[tuple[str, str, str, float]]:
    places = {"TC": truth.tc(picks, hour), "SD": truth.sd(picks)}
    return [(item, system, scale, round(value, 3)) for scale, value in places.items()]


# --- Folders of recordings and skims -------------------------------------------------------------


FULL_LENGTH_PATTERN = re.compile(r"full[-_ .]?length", re.IGNORECASE)
MIN_SILENCE_SECONDS = 30.0  # between skims in one file
SILENCE_LEVEL = 10 ** (-70 / 20)  # of full scale
FRAME_SECONDS = 0.05


def find_full_length(path: Path) -> Path | None:
    """Return the full-length recording of a folder of a recording and its skims, if it is one."""
    if not path.is_dir():
        return None
    files, _ = sound_files([path]) if any(path.iterdir()) else ((), ())
    found = [file for file in files if FULL_LENGTH_PATTERN.search(file.stem)]
    if len(found) > 1:
        raise UsageError(f"{path}: has several files named full-length: {found[0]}, {found[1]}")
    return found[0] if found and len(files) > 1 else None


def _find_filled(paths: Sequence[Path]) -> list[Path]:
    """Return all paths if they are folders with skims, or none if they are recordings."""
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: file or folder does not exist")
    filled = [path for path in paths if find_full_length(path) is not None]
    if filled and len(filled) < len(paths):
        other = next(path for path in paths if path not in filled)
        raise UsageError(f"{other}: has no file named full-length, but {filled[0]} has one")
    return filled


def _import_folders(material: PlaneMaterial, folders: Sequence[Path]) -> None:
    """Copy the skims of all folders, numbered in the order of their names, as WAV files."""
    counts = dict[Path, int]()
    for folder in folders:
        full = find_full_length(folder)
        assert full is not None
        item = folder.resolve().name
        if item in material.recordings:
            raise UsageError(f"{folder}: another folder has the same name")
        material.recordings[item] = full
        sounds = list(_read_skims(folder, full))
        counts[folder] = len(sounds)
        for number, sound in enumerate(sounds, 1):
            _copy_wav(sound, material.skim_path(item, str(number)))
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{folder}: {count}" for folder, count in counts.items())
        raise UsageError(f"all folders must have the same number of skims ({told})")
    material.systems = [str(number + 1) for number in range(counts[folders[0]])]


def _read_skims(folder: Path, full: Path) -> Iterable[Sound]:
    files, _ = sound_files([folder])
    others = sorted((file for file in files if file != full), key=natural_sort_key)
    if len(others) > 1:
        yield from map(read_sound, others)
        return
    whole = read_sound(others[0])
    spans = split_at_silences(whole.samples, whole.rate)
    if len(spans) < 2:
        message = f"no silence of {MIN_SILENCE_SECONDS:g} s separates skims"
        raise UsageError(f"{others[0]}: {message} — write one file per skim")
    for first, last in spans:
        yield whole._replace(samples=whole.samples[first:last])


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


def _copy_wav(sound: Sound, path: Path) -> None:
    """Write a sound as a WAV file, unless it exists."""
    if path.exists():
        return
    subtype = sound.subtype if sound.subtype.startswith(("PCM_16", "PCM_24")) else "PCM_16"
    write_new_wav(path, sound._replace(samples=np.clip(sound.samples, -1, 1), subtype=subtype))


# --- Files of the study --------------------------------------------------------------------------


def _write_study(
    material: PlaneMaterial,
    clock: Mapping[str, Any],
    parameters: Mapping[str, Any],
    *,
    title: str,
    listeners: int,
    language: str,
    seed: int,
) -> None:
    place, practice = material.folder, material.practice_item
    items = [item for item in material.recordings if item != practice]
    with_skims = [*items, *([practice] if material.gold else [])]
    rows = [(item, f"{_mean_seconds(material, item):.3f}") for item in with_skims]
    _write_table(place / CLIPS_FILE, ("name", "seconds"), rows)
    kind = {**parameters, "check": True}
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
        "instructions": wording(language).page("plane_instructions"),
        "blocks": [
            {
                "kind": "plane",
                "clips": len(items),
                "sessions": len(items),
                "rating_seconds": PLANE_ANSWER_SECONDS,
                "parameters": kind,
            }
        ],
        "recordings": {
            item: _recording_keys(path, place, {} if item == practice else clock)
            for item, path in material.recordings.items()
        },
    }
    if material.gold:
        _write_table(place / GOLD_FILE, ("item", "system", "scale", "value"), material.gold)
        study |= {
            "training": min(PRACTICE_TRIALS, len(material.systems)),
            "training_items": [practice],
            "feedback": True,
            "gold": GOLD_FILE,
        }
    text = yaml.safe_dump(study, sort_keys=False, allow_unicode=True, width=100)
    with AtomicFile(place / "study.yaml") as file:
        file.write(STUDY_HEADER + text)


def _recording_keys(path: Path, place: Path, clock: Mapping[str, Any]) -> dict[str, Any]:
    return {"files": Path(os.path.relpath(path.resolve(), place.resolve())).as_posix(), **clock}


def _mean_seconds(material: PlaneMaterial, item: str) -> float:
    paths = [material.skim_path(item, system) for system in material.systems]
    return float(np.mean([wav_seconds(path) for path in paths]))


def _write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
