"""Recordings in, files of skims out: one recording after the other, and what is there is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from earwitness.api.skims.asked import ENDINGS, SPEECH, Asked
from earwitness.api.skims.drawn import sound_key, spectrogram_of
from earwitness.api.skims.lines import write_lines
from earwitness.api.skims.making import Maker, courses
from earwitness.api.skims.speaking import spoken_in
from earwitness.api.skims.writing import is_made, write_skim
from earwitness.audio.days import days_of
from earwitness.audio.recording import recording_of
from earwitness.data import Estimate, Progress, Recording, Skimmed, Skimming, no_progress
from earwitness.errors import UsageError
from earwitness.models.blocks import blocks_of
from earwitness.models.cached import Cache, find_cache
from earwitness.models.embedders import Embedder, find_embedder


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
    run = _Run(
        Path(output), asked, find_embedder(asked.embedder), find_cache(asked.cache), progress
    )
    found = [one for path in recordings for one in run.recorded(Path(path))]
    run.refuse(found)
    for recording in found:
        run.make(recording)
    return run.result()


@dataclass
class _Run:
    output: Path
    asked: Asked
    embedder: Embedder
    cache: Cache
    progress: Progress
    skims: list[Skimmed] = field(default_factory=list)
    baselines: dict[tuple[str, str], dict[str, Estimate]] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def alone(self) -> bool:
        """Whether there is one skim, in a file that was named."""
        return self.output.suffix.lower() in ENDINGS

    def recorded(self, path: Path) -> list[Recording]:
        """The recording of an argument, or its days."""
        asked = self.asked
        whole = recording_of(
            [path],
            name=path.resolve().stem,
            start=asked.start,
            zone=asked.zone,
            shown=asked.shown,
            hour_gap=asked.hour_gap,
        )
        return days_of(whole) if asked.by_day else [whole]

    def refuse(self, recordings: Sequence[Recording]) -> None:
        """What cannot be written is said before any work."""
        count = len(recordings) * len(self.asked.wanted)
        if self.alone and count > 1:
            raise UsageError(f"{self.output}: one file for {count} skims — name a folder")
        if not self.alone and self.output.is_file():
            known = ", ".join(ENDINGS)
            raise UsageError(f"{self.output}: is a file — end a skim in {known}, or name a folder")
        names = [one.name for one in recordings]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise UsageError(f"several recordings are called {', '.join(twice)} — rename them")

    def make(self, recording: Recording) -> None:
        """All skims of one recording."""
        asked = self.asked
        blocks, real = blocks_of(
            recording,
            self.embedder,
            block=asked.plan.block,
            cache=self.cache,
            sparse=asked.sparse,
            progress=self.progress,
        )
        sound = sound_key(real, self.cache)
        spoken = None
        if asked.speech != SPEECH[0]:
            spoken = spoken_in(real, blocks, self.cache, asked.speech_model, self.progress)
        maker = Maker(real, blocks, asked, sound, spoken)
        made = tuple(maker.skims())
        self.skims += made
        for name, found in maker.baselines().items():
            self.baselines[real.name, name] = dict(found)
        self._told(real)
        for one in made:
            self._write(one, made)

    def result(self) -> Skimming:
        """All of it."""
        if not self.alone:
            self.written += map(str, write_lines(self.output, self.skims, self.asked))
        skims = tuple(self.skims)
        curves = tuple(courses(skims))
        return Skimming(skims, self.baselines, curves, tuple(self.written), tuple(self.notes))

    def _write(self, one: Skimmed, others: tuple[Skimmed, ...]) -> None:
        path = self.output
        if not self.alone:
            path = path / f"{one.recording.name}_{one.system}{self.asked.ending}"
        if not self.asked.again and is_made(path, one.signature, self.asked):
            self.notes.append(f"{path}: is there already, made in the same way")
            return
        spectrogram = spectrogram_of(one.recording, self.cache, sparse=self.asked.sparse)
        done = write_skim(path, one, others, spectrogram, self.asked)
        self.written += map(str, done.paths if self.alone else done.paths[:1])
        self.notes += [f"{path.name}: {note}" for note in (*one.notes, *done.notes)]

    def _told(self, real: Recording) -> None:
        self.notes += [f"{real.name}: {note}" for note in real.notes]
        self.notes += [
            f"{one.path}: damaged at {one.at:.1f} s ({one.start:.0f} s on the clock): {one.message}"
            for one in real.damages
        ]
