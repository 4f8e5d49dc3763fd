"""The verb skim: many recordings in, files of skims out, refusals first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np

from earwitness.audio.encode import encode
from earwitness.core import Estimate, Progress, no_progress
from earwitness.errors import InputError, Problem, UsageError
from earwitness.models.base import block_places
from earwitness.models.blocks import read_recording_blocks
from earwitness.models.cache import Cache, find_cache
from earwitness.models.embedders import Embedder, find_embedder
from earwitness.models.speech import find_detector
from earwitness.recordings.recording import SOUND_ENDINGS, open_recording, split_days
from earwitness.recordings.types import Damage, Recording
from earwitness.skims.files import OUTPUTS_FILE, is_made, write_lines, write_skim
from earwitness.skims.make import SkimMaker, courses, sound_key, spectrogram_of, spoken_in
from earwitness.skims.options import ENDINGS, SPEECH_CHOICES, SkimOptions
from earwitness.skims.picks import read_times
from earwitness.skims.types import SkimResult, SkimRun

# --- Refusals before reading ---------------------------------------------------------------------


ENDINGS_TEXT = ", ".join(ENDINGS)
ENDING_PATTERN = re.compile(r"\.[a-z][a-z0-9]{0,4}")  # a folder may be called site.2025
OUTPUT_LINE_PART = b'"output":{"picks":'  # in the lines that are written beside skims


def is_file(output: Path) -> bool:
    """Whether one file was named, and not a folder."""
    return output.suffix.lower() in ENDINGS


def refuse_place(output: Path, given: Sequence[Path], asked: SkimOptions) -> None:
    """Places where nothing can be written, or where a recording would be hurt by it."""
    ending = output.suffix.lower()
    if ending in SOUND_ENDINGS and not is_file(output) and not output.is_dir():
        raise UsageError(f"{output}: no skim is written as {ending} — end it in {ENDINGS_TEXT}")
    if ENDING_PATTERN.fullmatch(ending) and not is_file(output) and not output.exists():
        message = f'{output}: is "{ending}" an ending?'
        raise UsageError(f"{message} — end a skim in {ENDINGS_TEXT}, or make the folder first")
    if is_file(output) and output.is_dir():
        raise UsageError(f"{output}: is a folder — name a file, or a folder that is not called so")
    if not is_file(output) and output.is_file():
        raise UsageError(f"{output}: is a file — end a skim in {ENDINGS_TEXT}, or name a folder")
    _refuse_unwritable(output)
    _refuse_lines_of_others(output)
    place = output.resolve()
    for path in given:
        own = path.resolve()
        if own == place and not path.is_dir():
            raise UsageError(f"{output}: is the recording itself — name another file")
        if path.is_dir() and own in (place, *place.parents):
            message = f"{output}: lies in the recording {path}, which would then have skims in it"
            raise UsageError(f"{message} — name a place outside of it")
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
        message = f"{output}: cannot be written: {there}: {error.strerror or error}"
        raise UsageError(f"{message} — name another place") from error


def _refuse_lines_of_others(output: Path) -> None:
    """Lines that somebody made of something else would be lost."""
    lines = output / OUTPUTS_FILE
    if not is_file(output) and lines.is_file():
        with lines.open("rb") as file:
            first = file.readline()
        if first.strip() and OUTPUT_LINE_PART not in first:
            message = f"{lines}: is there already, and has other lines than those of skims"
            raise UsageError(f"{message} — name another folder")


def refuse_recordings(output: Path, recordings: Sequence[Recording], asked: SkimOptions) -> None:
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
        if not block_places(one, asked.plan.block):
            longest = max(stretch.seconds for stretch in one.stretches)
            message = f"{one.name}: not one block of {asked.plan.block:g} s in it"
            raise UsageError(
                f"{message}, only {longest:.1f} s without a gap — take a shorter --block"
            )
        if asked.times is not None and (asked.by_day or not asked.hour_gap):
            read_times(asked.times, one, block=asked.plan.block)


# --- Run over recordings -------------------------------------------------------------------------


READING_SHARE = 0.85  # share of the work
MORE_BLOCKS_REMEDY = "a shorter --block has more"


def skim(
    recordings: Sequence[Path | str],
    output: Path | str,
    asked: SkimOptions | None = None,
    *,
    progress: Progress = no_progress,
) -> SkimRun:
    """Skims of recordings, each a file or a folder of consecutive files.

    ``output`` is the file of the only skim, or a folder. A skim that is there already, made in the
    same way of the same sound, is not made again.
    """
    asked = asked or SkimOptions()
    place, given = Path(output), [Path(path) for path in recordings]
    run = _Run(place, asked, find_embedder(asked.embedder), find_cache(asked.cache))
    run.notes += [asked.other_length] if asked.other_length else []
    refuse_place(place, given, asked)
    found = run.all_recorded(given)
    refuse_recordings(place, found, asked)
    before, total = 0.0, sum(one.seconds for one in found)
    for recording in found:
        run.make(recording, RecordingProgress(progress, before, recording.seconds, total))
        before += recording.seconds
    return run.result()


@dataclass
class _Run:
    output: Path
    asked: SkimOptions
    embedder: Embedder
    cache: Cache
    skims: list[SkimResult] = field(default_factory=list)
    baselines: dict[tuple[str, str, int], dict[str, Estimate]] = field(default_factory=dict)
    wholes: dict[str, Recording] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def all_recorded(self, paths: Sequence[Path]) -> list[Recording]:
        """All recordings, or all that is wrong with any of them."""
        found: list[Recording] = []
        problems: list[Problem] = []
        for path in paths:
            try:
                found += self.recorded(path)
            except InputError as error:
                problems += error.problems
        if problems:
            raise InputError(problems, done="read")
        return found

    def recorded(self, path: Path) -> list[Recording]:
        """The recording of an argument, or its days."""
        asked, own = self.asked, path.resolve()
        whole = open_recording(
            [path],
            name=own.name if path.is_dir() else own.stem,
            start=asked.start,
            zone=asked.zone,
            shown=asked.shown,
            hour_gap=asked.hour_gap if asked.by_day else 0.0,
        )
        self.notes += [_named(note, whole.name, path) for note in whole.notes]
        found = split_days(whole) if asked.by_day else [whole]
        self.wholes |= {one.name: whole for one in found}
        return found

    def make(self, recording: Recording, shares: RecordingProgress) -> None:
        """All skims of one recording; days have their true clock already."""
        asked, listens = self.asked, self.asked.speech != SPEECH_CHOICES[0]
        blocks, real = read_recording_blocks(
            recording,
            self.embedder,
            block=asked.plan.block,
            cache=self.cache,
            sparse=asked.sparse,
            hour_gap=0.0 if asked.by_day else asked.hour_gap,
            progress=shares.part(0, 1 + listens),
        )
        sound = sound_key(real, self.cache)
        spoken = None
        if listens:
            told = shares.part(1, 2)
            spoken = spoken_in(real, blocks, self.cache, asked.speech_model, told)
        maker = SkimMaker(real, blocks, asked, sound, spoken, self.cache)
        made = tuple(maker.skims())
        self.skims += made
        for count in dict.fromkeys(len(one.skim.picks) for one in made):
            for name, found in maker.baselines(count).items():
                self.baselines[real.name, name, count] = found
        self._tell(real, known=recording.notes)
        if blocks.few_classes_note:
            self.notes.append(f"{real.name}: {blocks.few_classes_note} — {MORE_BLOCKS_REMEDY}")
        for one in made:
            self._write(one, made)
        shares.over()

    def result(self) -> SkimRun:
        """All of it."""
        if not is_file(self.output):
            self.written += map(str, write_lines(self.output, self.skims, self.wholes, self.asked))
        skims = tuple(self.skims)
        curves = tuple(courses(skims))
        return SkimRun(
            skims,
            self.baselines,
            curves,
            tuple(self.written),
            tuple(self.kept),
            tuple(self.notes),
        )

    def _write(self, one: SkimResult, others: tuple[SkimResult, ...]) -> None:
        path, alone = self.output, is_file(self.output)
        if not alone:
            path = path / f"{one.recording.name}_{one.system}{self.asked.ending}"
        if not self.asked.again and is_made(path, one, self.asked):
            self.kept.append(str(path))
            return
        spectrogram = spectrogram_of(one.recording, self.cache, sparse=self.asked.sparse)
        done = write_skim(path, one, others, spectrogram, self.asked)
        self.written += map(str, done.paths if alone else done.paths[:1])
        self.notes += [f"{path.name}: {note}" for note in (*one.notes, *done.notes)]

    def _tell(self, real: Recording, known: tuple[str, ...]) -> None:
        self.notes += [f"{real.name}: {note}" for note in real.notes if note not in known]
        self.notes += [_damage(one, real) for one in real.damages]


def _named(note: str, name: str, path: Path) -> str:
    """A note with the recording that it is about, named once."""
    return note if note.startswith(f"{path}: ") else f"{name}: {note}"


def _damage(one: Damage, recording: Recording) -> str:
    clock = recording.clock(one.start)
    time = f"{one.start:.0f} s on the clock" if clock is None else f"{clock:%Y-%m-%d %H:%M:%S}"
    return f"{one.path}: damaged at {one.at:.1f} s ({time}): {one.message}"


@dataclass
class RecordingProgress:
    """Progress with a recording, told as seconds of all recordings; it never goes back.

    Reading is most of the work; what follows it is told when it is done.
    """

    progress: Progress
    before: float
    seconds: float
    total: float
    most: float = 0.0

    def part(self, number: int, parts: int) -> Progress:
        """One part of the work, of several that are equally long."""

        def told(done: int, total: int | None, cases: int) -> None:
            share = (number + (min(1.0, done / total) if total else 0.0)) / parts
            self._tell(READING_SHARE * share, cases)

        return told

    def over(self) -> None:
        """All of it is done."""
        self._tell(1.0, 0)

    def _tell(self, share: float, cases: int) -> None:
        self.most = max(self.most, share)
        self.progress(int(self.before + self.most * self.seconds), int(self.total), cases)
