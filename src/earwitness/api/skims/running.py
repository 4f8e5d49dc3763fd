"""Recordings in, files of skims out: one recording after the other, and what is there is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from earwitness.api.skims.asked import SPEECH, Asked
from earwitness.api.skims.drawn import sound_key, spectrogram_of
from earwitness.api.skims.lines import write_lines
from earwitness.api.skims.making import Maker, courses
from earwitness.api.skims.refusing import is_file, refuse_place, refuse_recordings
from earwitness.api.skims.speaking import spoken_in
from earwitness.api.skims.writing import is_made, write_skim
from earwitness.audio.days import days_of
from earwitness.audio.recording import recording_of
from earwitness.data import Damage, Estimate, Progress, Recording, Skimmed, Skimming, no_progress
from earwitness.errors import InputError, Problem
from earwitness.models.blocks import blocks_of
from earwitness.models.cached import Cache, find_cache
from earwitness.models.embedders import Embedder, find_embedder

READING = 0.85  # share of the work
MORE = "a shorter --block has more"


def skim(
    recordings: Sequence[Path | str],
    output: Path | str,
    asked: Asked | None = None,
    *,
    progress: Progress = no_progress,
) -> Skimming:
    """Skims of recordings, each a file or a folder of consecutive files.

    ``output`` is the file of the only skim, or a folder. A skim that is there already, made in the
    same way of the same sound, is not made again.
    """
    asked = asked or Asked()
    place, given = Path(output), [Path(path) for path in recordings]
    run = _Run(place, asked, find_embedder(asked.embedder), find_cache(asked.cache))
    run.notes += [asked.other_length] if asked.other_length else []
    refuse_place(place, given, asked)
    found = run.all_recorded(given)
    refuse_recordings(place, found, asked)
    before, total = 0.0, sum(one.seconds for one in found)
    for recording in found:
        run.make(recording, Shares(progress, before, recording.seconds, total))
        before += recording.seconds
    return run.result()


@dataclass
class _Run:
    output: Path
    asked: Asked
    embedder: Embedder
    cache: Cache
    skims: list[Skimmed] = field(default_factory=list)
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
        whole = recording_of(
            [path],
            name=own.name if path.is_dir() else own.stem,
            start=asked.start,
            zone=asked.zone,
            shown=asked.shown,
            hour_gap=asked.hour_gap if asked.by_day else 0.0,
        )
        self.notes += [_named(note, whole.name, path) for note in whole.notes]
        found = days_of(whole) if asked.by_day else [whole]
        self.wholes |= {one.name: whole for one in found}
        return found

    def make(self, recording: Recording, shares: Shares) -> None:
        """All skims of one recording; days have their true clock already."""
        asked, listens = self.asked, self.asked.speech != SPEECH[0]
        blocks, real = blocks_of(
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
        maker = Maker(real, blocks, asked, sound, spoken, self.cache)
        made = tuple(maker.skims())
        self.skims += made
        for count in dict.fromkeys(len(one.skim.picks) for one in made):
            for name, found in maker.baselines(count).items():
                self.baselines[real.name, name, count] = found
        self._tell(real, known=recording.notes)
        if blocks.few:
            self.notes.append(f"{real.name}: {blocks.few} — {MORE}")
        for one in made:
            self._write(one, made)
        shares.over()

    def result(self) -> Skimming:
        """All of it."""
        if not is_file(self.output):
            self.written += map(str, write_lines(self.output, self.skims, self.wholes, self.asked))
        skims = tuple(self.skims)
        curves = tuple(courses(skims))
        return Skimming(
            skims,
            self.baselines,
            curves,
            tuple(self.written),
            tuple(self.kept),
            tuple(self.notes),
        )

    def _write(self, one: Skimmed, others: tuple[Skimmed, ...]) -> None:
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
class Shares:
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
            self._tell(READING * share, cases)

        return told

    def over(self) -> None:
        """All of it is done."""
        self._tell(1.0, 0)

    def _tell(self, share: float, cases: int) -> None:
        self.most = max(self.most, share)
        self.progress(int(self.before + self.most * self.seconds), int(self.total), cases)
