"""The command skim: checks of paths and recordings, then all skims with their files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Literal, get_args

import numpy as np

from earwitness.audio.encode import encode
from earwitness.core import Estimate, Jobs, Map, Progress, no_progress
from earwitness.engines.local import choose_map
from earwitness.errors import (
    EarwitnessError,
    InputError,
    Problem,
    UsageError,
    file_problem,
    refuse_problems,
)
from earwitness.io.atomic import real_path
from earwitness.models.base import block_places
from earwitness.models.blocks import read_recording_blocks
from earwitness.models.cache import Cache, find_cache
from earwitness.models.codebook import ALIKE_NOTE, MIN_BLOCKS_WITHOUT_NOTE
from earwitness.models.embedders import Embedder, find_embedder
from earwitness.models.frames import prepare_frames
from earwitness.recordings.recording import (
    SOUND_ENDINGS,
    list_paths,
    open_recording,
    sound_files,
    split_days,
)
from earwitness.recordings.types import Damage, Recording
from earwitness.report.parts import Plane
from earwitness.skims.files import OUTPUTS_FILE, is_made, write_lines, write_report, write_skim
from earwitness.skims.make import (
    SkimMaker,
    find_speech,
    make_spectrogram,
    sound_key,
    tradeoff_curves,
)
from earwitness.skims.options import ENDINGS, SPEECH_CHOICES, SkimOptions
from earwitness.skims.picks import read_times
from earwitness.skims.progress import divide_progress
from earwitness.skims.report import CURVE_TITLE, tradeoff_plane
from earwitness.skims.types import SkimResult, SkimRun
from earwitness.speech.vad import find_detector

# --- Checks before reading -----------------------------------------------------------------------


ENDINGS_TEXT = ", ".join(ENDINGS)
ENDING_PATTERN = re.compile(r"\.[a-z][a-z0-9]{0,4}")  # a folder may be called site.2025
OUTPUT_LINE_PART = b'"output":{"picks":'  # in the lines written with skims


def is_file(output: Path) -> bool:
    """Whether the output is a file, not a folder."""
    return output.suffix.lower() in ENDINGS


def refuse_place(output: Path, paths: Sequence[Path], options: SkimOptions) -> None:
    """Refuse output paths that cannot be written, or that would harm a recording."""
    ending = output.suffix.lower()
    if ending in SOUND_ENDINGS and not is_file(output) and not output.is_dir():
        raise UsageError(f"{output}: skims cannot be written as {ending} — use {ENDINGS_TEXT}")
    if ENDING_PATTERN.fullmatch(ending) and not is_file(output) and not output.exists():
        message = f'{output}: unknown audio format "{ending}"'
        raise UsageError(f"{message} — use {ENDINGS_TEXT}, or create the folder first")
    if is_file(output) and output.is_dir():
        message = f"{output}: is a folder that is named like an audio file"
        raise UsageError(f"{message} — choose another name")
    if not is_file(output) and output.is_file():
        message = f"{output}: is a file without the extension of an audio file"
        raise UsageError(f"{message} — use {ENDINGS_TEXT}, or choose a folder")
    _refuse_unwritable(output)
    _refuse_lines_of_others(output)
    place = real_path(output)
    for path in paths:
        resolved = real_path(path)
        if resolved == place and not path.is_dir():
            raise UsageError(f"{output}: is the recording itself — choose another output file")
        if path.is_dir() and resolved in (place, *place.parents):
            message = f"{output}: is inside the folder of the recording {path}"
            raise UsageError(f"{message} — choose a path outside it")
    if options.detector is not None:
        _ = find_detector(str(options.detector)).signature  # the file must exist


def _refuse_unwritable(output: Path) -> None:
    """Refuse an output whose folder cannot be written to."""
    inside = output.parent if is_file(output) else output
    existing = next(folder for folder in (inside, *inside.absolute().parents) if folder.exists())
    if not existing.is_dir():
        raise UsageError(f"{output}: cannot be written: {existing} is a file, not a folder")
    try:
        with TemporaryFile(dir=existing):
            pass
    except OSError as error:
        message = f"{output}: cannot be written: {existing}: {error.strerror or error}"
        raise UsageError(f"{message} — choose another path") from error


def _refuse_lines_of_others(output: Path) -> None:
    """Refuse to overwrite a file of lines that are not skims."""
    lines = output / OUTPUTS_FILE
    if not is_file(output) and lines.is_file():
        with lines.open("rb") as file:
            first = file.readline()
        if first.strip() and OUTPUT_LINE_PART not in first:
            message = f"{lines}: already exists and has lines that are not skims"
            raise UsageError(f"{message} — choose another folder")


def refuse_recordings(output: Path, recordings: Sequence[Recording], options: SkimOptions) -> None:
    """Refuse too many skims for one file, and duplicate names."""
    count = len(recordings) * len(options.method_and_z_pairs)
    if is_file(output) and count > 1:
        raise UsageError(f"{output}: cannot write {count} skims to one file — choose a folder")
    names = [recording.name for recording in recordings]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"several recordings are named {', '.join(twice)} — rename them")


def refuse_recording(output: Path, recording: Recording, options: SkimOptions) -> None:
    """Refuse a recording that is too short or cannot be written, and wrong times of picks."""
    ending = output.suffix if is_file(output) else f".{options.to}"
    encode(np.zeros((1, recording.channels), np.float32), recording.rate, ending, options.bits)
    if not block_places(recording, options.plan.block):
        longest = max(stretch.seconds for stretch in recording.stretches)
        message = f"{recording.name}: too short for one block of {options.plan.block:g} s"
        raise UsageError(f"{message} (longest passage: {longest:.1f} s) — use a shorter --block")
    if options.times is not None and (options.by_day or not options.hour_gap):
        read_times(options.times, recording, block=options.plan.block)


# --- Run over recordings -------------------------------------------------------------------------


READING_SHARE = 0.85  # share of the total time
MIN_PARALLEL_SECONDS = 3600.0  # shorter recordings are read before worker processes have started
MORE_BLOCKS_REMEDY = "use a shorter --block"
OnRecordingError = Literal["fail", "skip"]  # handling of a recording that cannot be skimmed


def skim(
    recordings: Path | str | Sequence[Path | str],
    output: Path | str,
    options: SkimOptions | None = None,
    *,
    on_error: OnRecordingError = "fail",
    jobs: Jobs = 1,
    progress: Progress = no_progress,
    **settings: Any,
) -> SkimRun:
    """Make skims of recordings and write their files.

    Parameters
    ----------
    recordings
        One or more recordings, each a file or a folder of consecutive files.
    output
        File of the skim, or a folder for several skims.
    options
        All settings, instead of ``**settings``.
    on_error
        Files that cannot be used: ``fail``, or ``skip`` and list them.
    jobs
        Number of worker processes that read long recordings, or a function that distributes work
        as ``map`` does.
    progress
    **settings
        Settings (see ``SkimOptions``), such as ``z``, ``methods``, ``picks`` or ``zone``.

    Returns
    -------
    SkimRun
        All skims with their measures, baselines, trade-off curves and notes. A skim that already
        exists with the same settings and audio is kept.

    Raises
    ------
    UsageError
        If the output cannot be written, or a recording is too short.
    InputError
        If recordings cannot be opened; all problems are reported at once. With ``skip``, only if
        no recording can be used.
    """
    if on_error not in get_args(OnRecordingError):
        raise UsageError(f"on_error must be fail or skip, got {on_error!r}")
    options = options or SkimOptions(**settings)
    place, paths = Path(output), list_paths(recordings)
    embedder, cache = find_embedder(options.embedder), find_cache(options.cache)
    run = _Run(place, options, embedder, cache, skips=on_error == "skip")
    run.notes += [options.other_length] if options.other_length else []
    refuse_place(place, paths, options)
    all_recordings = run.open_recordings(paths)
    before, total = 0.0, sum(recording.seconds for recording in all_recordings)
    if jobs != 1 and total >= MIN_PARALLEL_SECONDS:
        progress = run.read_ahead(all_recordings, choose_map(jobs), total, progress)
    for recording in all_recordings:
        with run.skipping(recording.name):
            run.make(recording, divide_progress(progress, before, recording.seconds, total))
        before += recording.seconds
    if not run.skims:
        raise InputError(run.skipped, done="skimmed")
    return run.result()


@dataclass
class _Run:
    output: Path
    options: SkimOptions
    embedder: Embedder
    cache: Cache
    skips: bool = False
    skims: list[SkimResult] = field(default_factory=list)
    baselines: dict[tuple[str, str, int], dict[str, Estimate]] = field(default_factory=dict)
    wholes: dict[str, Recording] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    skipped: list[Problem] = field(default_factory=list)

    def open_recordings(self, paths: Sequence[Path]) -> list[Recording]:
        """Open all recordings, or report all their problems at once."""
        recordings: list[Recording] = []
        problems: list[Problem] = []
        for path in paths:
            try:
                with self.skipping(str(path)):
                    recordings += self.open_path(path)
            except InputError as error:
                problems += error.problems
        refuse_problems(problems, "read")
        refuse_recordings(self.output, recordings, self.options)
        usable = []
        for recording in recordings:
            with self.skipping(recording.name):
                refuse_recording(self.output, recording, self.options)
                usable.append(recording)
        if not usable:
            raise InputError(self.skipped, done="read")
        return usable

    @contextmanager
    def skipping(self, name: str) -> Iterator[None]:
        """Note the errors of a recording if these are to be skipped; otherwise raise them."""
        made = len(self.skims)
        try:
            yield
        except EarwitnessError as error:
            if not self.skips:
                raise
            del self.skims[made:]
            self.skipped += (
                error.problems if isinstance(error, InputError) else [file_problem(name, error)]
            )

    def open_path(self, path: Path) -> list[Recording]:
        """Return the recording of an argument, or its days."""
        whole = self._open_files([path], path)
        self.notes += [
            note if note.startswith(f"{path}: ") else f"{whole.name}: {note}"
            for note in whole.notes
        ]
        recordings = split_days(whole) if self.options.by_day else [whole]
        self.wholes |= {recording.name: whole for recording in recordings}
        return recordings

    def _open_files(self, files: Sequence[Path], path: Path) -> Recording:
        """Open the files of an argument; if faulty ones are skipped, open the rest."""
        options, resolved = self.options, real_path(path)
        try:
            return open_recording(
                files,
                name=resolved.name if path.is_dir() else resolved.stem,
                start=options.start,
                zone=options.zone,
                shown=options.shown,
                hour_gap=options.hour_gap if options.by_day else 0.0,
            )
        except InputError as error:
            faulty = {problem.source for problem in error.problems}
            rest = [file for file in sound_files(files)[0] if str(file) not in faulty]
            if not self.skips or not rest or len(rest) == len(sound_files(files)[0]):
                raise
            self.skipped += error.problems
            return self._open_files(rest, path)

    def read_ahead(
        self, recordings: Sequence[Recording], map_: Map, total: float, progress: Progress
    ) -> Progress:
        """Read all files in worker processes; return the progress of the rest of the work."""
        prepare_frames(
            recordings,
            map_,
            cache=self.cache,
            sparse=self.options.sparse,
            progress=lambda seconds: progress(int(READING_SHARE * seconds), int(total), 0),
        )

        def report(done: int, whole: int | None, cases: int) -> None:
            rest = (1 - READING_SHARE) * done
            progress(int(READING_SHARE * total + rest), whole, cases)

        return report

    def make(self, recording: Recording, part: Callable[[float, float], Progress]) -> None:
        """Make all skims of one recording; days already have their true clock.

        ``part`` returns the progress between two shares of the work. Reading is most of it; what
        follows is reported when it is done.
        """
        options, listens = self.options, self.options.speech != SPEECH_CHOICES[0]
        heard = READING_SHARE / (1 + listens)
        blocks, real = read_recording_blocks(
            recording,
            self.embedder,
            block=options.plan.block,
            cache=self.cache,
            sparse=options.sparse,
            hour_gap=0.0 if options.by_day else options.hour_gap,
            progress=part(0.0, heard),
        )
        sound = sound_key(real, self.cache)
        spoken = None
        if listens:
            speech_progress = part(heard, READING_SHARE)
            spoken = find_speech(real, blocks, self.cache, options.detector, speech_progress)
        maker = SkimMaker(real, blocks, options, sound, spoken, self.cache)
        results = tuple(maker.make_skim(method, z) for method, z in options.method_and_z_pairs)
        self.skims += results
        for count in dict.fromkeys(len(result.skim.picks) for result in results):
            for name, estimates in maker.estimate_baselines(count).items():
                self.baselines[real.name, name, count] = estimates
        new_notes = [note for note in real.notes if note not in recording.notes]
        self.notes += [f"{real.name}: {note}" for note in new_notes]
        self.notes += [_damage_note(damage, real) for damage in real.damages]
        if blocks.few_classes_note:
            is_short = len(blocks) < MIN_BLOCKS_WITHOUT_NOTE
            is_helpful = is_short and blocks.few_classes_note != ALIKE_NOTE
            remedy = f" — {MORE_BLOCKS_REMEDY}" if is_helpful else ""
            self.notes.append(f"{real.name}: {blocks.few_classes_note}{remedy}")
        baselines = {
            key[1:]: baseline for key, baseline in self.baselines.items() if key[0] == real.name
        }
        plane = tradeoff_plane(CURVE_TITLE, results, baselines)
        for result in results:
            self._write(result, plane)
        part(0.0, 1.0)(1, 1, 0)

    def result(self) -> SkimRun:
        """Return everything that was made."""
        if not is_file(self.output):
            with self._counting_complete():
                lines = write_lines(self.output, self.skims, self.wholes, self.options)
                self.written += map(str, lines)
                if "page" not in self.options.without:
                    self.written.append(str(write_report(self.output, self._collect())))
        return self._collect()

    def _collect(self) -> SkimRun:
        skims = tuple(self.skims)
        curves = tuple(tradeoff_curves(skims))
        files = tuple(self.written), tuple(self.kept)
        return SkimRun(
            skims, self.baselines, curves, *files, tuple(self.notes), tuple(self.skipped)
        )

    def _write(self, result: SkimResult, plane: Plane) -> None:
        path, alone = self.output, is_file(self.output)
        if not alone:
            path = path / f"{result.recording.name}_{result.system}.{self.options.to}"
        if not self.options.again and is_made(path, result, self.options):
            self.kept.append(str(path))
            return
        spectrogram = make_spectrogram(result.recording, self.cache, sparse=self.options.sparse)
        with self._counting_complete():
            done = write_skim(path, result, plane, spectrogram, self.options)
        self.written += map(str, done.paths if alone else done.paths[:1])
        self.notes += [f"{path.name}: {note}" for note in (*result.notes, *done.notes)]

    @contextmanager
    def _counting_complete(self) -> Iterator[None]:
        """Add the number of complete skims to an error of writing."""
        complete = len(self.written) + len(self.kept)
        try:
            yield
        except UsageError as error:
            skims = f"{complete} of {len(self.skims)} skims are complete"
            error.add_note(f"{skims}; run the command again to write the rest")
            raise


def _damage_note(damage: Damage, recording: Recording) -> str:
    clock = recording.clock(damage.start)
    time = (
        f"{damage.start:.0f} s after the start" if clock is None else f"{clock:%Y-%m-%d %H:%M:%S}"
    )
    return f"{damage.path}: damaged at {damage.at:.1f} s ({time}): {damage.message}"
