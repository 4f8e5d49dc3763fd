"""Loudness normalization of listening material, with a common true-peak limit per clip."""

from __future__ import annotations

import hashlib
import math
import struct
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.decode import facts_of, open_decoder
from earwitness.audio.files import DecodingError, Facts
from earwitness.audio.loudness import (
    MIN_LOUDNESS_RATE_HZ,
    ClippingCounter,
    LoudnessMeter,
    SpeechLevelMeter,
    TruePeakMeter,
)
from earwitness.audio.read import early_end
from earwitness.audio.signal import fit_frames, load_soxr
from earwitness.audio.wav import FLOAT_TAG, PCM_TAG, Form
from earwitness.core import Jobs, Progress, StrPath, count_text, no_progress
from earwitness.engines.local import choose_map
from earwitness.errors import EarwitnessError, InputError, Problem, UsageError, file_problem
from earwitness.io.atomic import AtomicFile, AtomicFolder
from earwitness.io.tables import csv_text
from earwitness.material.files import (
    ClipConditions,
    ConditionFile,
    check_outside,
    find_conditions,
)

Samples = NDArray[np.float64]
Measure = Literal["lufs", "active"]
ChannelPolicy = Literal["keep", "mono", "stereo"]
FitPolicy = Literal["keep", "pad", "trim"]
BitDepth = Literal[16, 24, "float"]

# --- Settings and results ------------------------------------------------------------------------


LEVEL_UNITS: dict[Measure, str] = {"lufs": "LUFS", "active": "dBov"}
MAX_TARGET_RANGE = (-70.0, 0.0)
RATE_RANGE_HZ = (MIN_LOUDNESS_RATE_HZ, 384_000)
SAMPLE_TYPE_BY_BITS: dict[BitDepth, tuple[int, int]] = {
    16: (PCM_TAG, 16),
    24: (PCM_TAG, 24),
    "float": (FLOAT_TAG, 32),
}
REPORT_FILE = "levels.csv"
OPTION_CHOICES = {
    "measure": tuple(LEVEL_UNITS),
    "channels": ("keep", "mono", "stereo"),
    "fit": ("keep", "pad", "trim"),
    "bits": tuple(SAMPLE_TYPE_BY_BITS),
    "on_error": ("fail", "skip"),
}


@dataclass(frozen=True, kw_only=True)
class LevelSettings:
    """Target level and format of normalized files; invalid settings are refused.

    Parameters
    ----------
    target
        Level in LUFS, or in dBov for the measure ``active``.
    measure
        Integrated loudness, ``lufs`` (BS.1770-4), or ``active`` speech level (P.56).
    peak
        Largest true peak in dBTP, from -70 to 0; all conditions of a clip that would exceed it are
        reduced equally.
    rate
        Sample rate in Hz. By default that of the source.
    channels
        ``keep``; ``mono``: mean of the channels; ``stereo``: mono files in both channels.
    fit
        For conditions of different lengths: ``keep`` them, ``pad`` with silence at the end to the
        longest, or ``trim`` the end to the shortest.
    tolerance
        Largest difference in seconds between conditions of a clip; a larger one is an error, since
        it points to a wrong file.
    bits
        Bits per sample of FLAC and WAV files.
    """

    target: float = -30.0
    measure: Measure = "lufs"
    peak: float = -1.0
    rate: int | None = None
    channels: ChannelPolicy = "keep"
    fit: FitPolicy = "keep"
    tolerance: float = 0.1
    bits: BitDepth = 16

    def __post_init__(self) -> None:
        for name in ("measure", "channels", "fit", "bits"):
            _check_choice(name, getattr(self, name))
        low, high = MAX_TARGET_RANGE
        if not low <= self.target <= high:
            unit = LEVEL_UNITS[self.measure]
            raise UsageError(f"target must be from {low:g} to {high:g} {unit}, got {self.target:g}")
        if not low <= self.peak <= 0:
            raise UsageError(f"peak must be from {low:g} to 0 dBTP, got {self.peak:g}")
        if not self.tolerance >= 0:
            raise UsageError(f"tolerance must be 0 s or more, got {self.tolerance:g}")
        if self.rate is not None and not RATE_RANGE_HZ[0] <= self.rate <= RATE_RANGE_HZ[1]:
            limits = f"{RATE_RANGE_HZ[0]:,} to {RATE_RANGE_HZ[1]:,} Hz"
            raise UsageError(f"rate must be from {limits}, got {self.rate:,}")


def _check_choice(name: str, value: object) -> None:
    choices = OPTION_CHOICES[name]
    if value not in choices:
        known = ", ".join(map(str, choices))
        raise UsageError(f"{name} must be one of {known}, got {value!r}")


class NormalizedFile(NamedTuple):
    """Row of ``levels.csv``: a file that was written.

    Levels are in LUFS or dBov, by ``measure``; peaks in dBTP; gain and back-off in dB. The gain
    includes the back-off. Values before the gain are those of the audio with the channels, sample
    rate and length that are written; values after it are measured on the samples in the file.
    """

    item: str
    system: str
    source: str
    file: str
    measure: str
    level_before: float
    gain: float
    back_off: float
    level_after: float
    peak_before: float
    peak_after: float
    seconds: float
    rate: int
    channels: int
    sha256: str
    note: str


@dataclass(frozen=True)
class NormalizedMaterial:
    """Files that were written, by clip, and what has to be known about them."""

    settings: LevelSettings
    files: tuple[NormalizedFile, ...]
    skipped: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    def summary(self) -> list[str]:
        """Return a few lines on levels, back-off, silence and short files."""
        unit, settings = LEVEL_UNITS[self.settings.measure], self.settings
        clips = {file.item for file in self.files}
        systems = {file.system for file in self.files}
        counts = count_text(len(self.files), "file")
        if len(systems) > 1:
            counts += f" ({len(clips):,} clips in {len(systems)} conditions)"
        peak = f"true peak at most {settings.peak:g} dBTP"
        lines = [f"{counts} at {settings.target:g} {unit}, {peak}"]
        reduced = {file.item: file.back_off for file in self.files if file.back_off}
        count = "0"
        if reduced:
            item, most = max(reduced.items(), key=itemgetter(1))
            count = f"{len(reduced):,} of {len(clips):,}, by up to {most:.2f} dB ({item})"
        lines.append(f"clips reduced by the true-peak limit: {count}")
        for note, label in NOTE_LABELS.items():
            lines.append(f"{label}: {sum(note in file.note for file in self.files):,}")
        return lines


# --- Checks before any work ----------------------------------------------------------------------


def check_clip(clip: ClipConditions, settings: LevelSettings) -> list[Problem]:
    """Return the problems of the files of a clip that their headers show."""
    facts, problems = list[Facts](), list[Problem]()
    for file in clip.files:
        try:
            own = facts_of(file.path)
        except UsageError as error:
            problems.append(_problem(file, clip, str(error)))
            continue
        facts.append(own)
        if message := _header_fault(own, settings):
            problems.append(_problem(file, clip, message))
    return problems or _mixed_formats(clip, facts, settings)


def _problem(file: ConditionFile, clip: ClipConditions, message: str, remedy: str = "") -> Problem:
    return file_problem(file.path, message, remedy, item=clip.item)


def _header_fault(facts: Facts, settings: LevelSettings) -> str:
    if facts.short or not facts.frames:
        return facts.note or "contains no audio"
    if facts.channels > 2 and settings.channels == "stereo":
        return f"{facts.channels} channels cannot become stereo — use --channels mono"
    if (settings.rate or facts.rate) < MIN_LOUDNESS_RATE_HZ:
        return f"the sample rate of {facts.rate:,} Hz is too low — set --rate"
    return ""


def _mixed_formats(
    clip: ClipConditions, facts: Sequence[Facts], settings: LevelSettings
) -> list[Problem]:
    """Return problems of files that differ from the first one of their clip."""
    problems, first = [], facts[0]
    other = f"but {clip.files[0].system or 'another file'} has"
    for file, fact in zip(clip.files[1:], facts[1:], strict=True):
        faults = []
        if fact.channels != first.channels and settings.channels == "keep":
            message = f"{fact.channels} channels, {other} {first.channels}"
            faults.append((message, "set --channels mono or stereo"))
        if fact.rate != first.rate and settings.rate is None:
            faults.append((f"{fact.rate:,} Hz, {other} {first.rate:,} Hz", "set --rate"))
        if abs(fact.seconds - first.seconds) > settings.tolerance:
            message = f"{fact.seconds:.3f} s, {other} {first.seconds:.3f} s"
            faults.append((message, LENGTH_REMEDY))
        problems += [_problem(file, clip, *fault) for fault in faults]
    return problems


LENGTH_REMEDY = "check that it is the right file, or allow a larger --tolerance"


# --- Streams and measurement ---------------------------------------------------------------------
# A file is read twice, in pieces: once to measure it, and once to write it. So memory does not
# depend on its duration, and the gain is known before the first sample is written.


PIECE_SECONDS = 10.0
SILENT_NOTE = "silent: no gain to the target"
CLIPPED_NOTE = "the source is clipped"
SHORT_NOTE = "below 0.4 s: one block without a gate"
NOTE_LABELS = {
    SILENT_NOTE: "silent files",
    SHORT_NOTE: "files below 0.4 s",
    CLIPPED_NOTE: "files of clipped sources",
}


class _LevelMeter:
    """Level and true peak of what is added."""

    def __init__(self, rate: int, channels: int, measure: Measure) -> None:
        self.rate, self.channels = rate, channels
        self.loudness = LoudnessMeter(rate, channels)
        self._speech = SpeechLevelMeter(rate, channels) if measure == "active" else None
        self._peak = TruePeakMeter(rate, channels)
        self.clipped = 0  # runs of samples at full scale in the source

    @property
    def frames(self) -> int:
        return self.loudness.frames

    def add(self, samples: NDArray[Any]) -> None:
        self.loudness.add(samples)
        self._peak.add(samples)
        if self._speech is not None:
            self._speech.add(samples)

    def add_silence(self, frames: int) -> None:
        for start in range(0, frames, self.rate):
            self.add(np.zeros((min(self.rate, frames - start), self.channels)))

    def level(self) -> float:
        """Return the level in the unit of the measure; NaN for silence."""
        if self._speech is not None:
            return self._speech.speech_level().level
        return self.loudness.loudness()

    def peak(self) -> float:
        return self._peak.decibels()


def _stream(
    path: Path, settings: LevelSettings, clipping: ClippingCounter | None = None
) -> Iterator[Samples]:
    """Yield a file in pieces, with the channels and sample rate that are written."""
    decoder = open_decoder(path)
    rate = decoder.facts.rate
    channels = _written_channels(decoder.facts, settings)
    resampler = None
    if settings.rate not in (None, rate):
        resampler = load_soxr().ResampleStream(rate, settings.rate, channels, "float64", "VHQ")
    frames = 0
    try:
        while len(read := decoder.read(round(PIECE_SECONDS * rate))):
            frames += len(read)
            if not np.isfinite(read).all():
                raise UsageError(f"{path}: has samples that are not numbers")
            if clipping is not None:
                clipping.add(np.abs(read))
            samples = np.asarray(read, np.float64)
            if channels < samples.shape[1]:
                samples = samples.mean(axis=1, keepdims=True)
            elif channels > samples.shape[1]:
                samples = np.repeat(samples, channels, axis=1)
            yield samples if resampler is None else resampler.resample_chunk(samples)
    except DecodingError as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    finally:
        decoder.close()
    if fault := early_end(decoder.facts, frames):
        raise UsageError(f"{path}: {fault}")
    if resampler is not None:
        yield resampler.resample_chunk(np.zeros((0, channels)), last=True)


def _written_channels(facts: Facts, settings: LevelSettings) -> int:
    return {"keep": facts.channels, "mono": 1, "stereo": 2}[settings.channels]


def _measure_file(path: Path, settings: LevelSettings, frames: int | None = None) -> _LevelMeter:
    """Return the levels of a file, or of its first frames."""
    facts = facts_of(path)
    rate = settings.rate or facts.rate
    meter = _LevelMeter(rate, _written_channels(facts, settings), settings.measure)
    clipping = ClippingCounter(facts.channels)
    pieces = _stream(path, settings, clipping)
    for piece in pieces if frames is None else fit_frames(pieces, frames):
        meter.add(piece)
    meter.clipped = clipping.runs
    if not meter.frames:
        raise UsageError(f"{path}: contains no audio")
    return meter


def _measure_clip(
    clip: ClipConditions, settings: LevelSettings
) -> tuple[list[_LevelMeter], list[int]]:
    """Return the levels of all files of a clip at their new lengths, and their own lengths."""
    meters = [_measure_file(file.path, settings) for file in clip.files]
    frames = [meter.frames for meter in meters]
    spread = (max(frames) - min(frames)) / meters[0].rate
    if spread > settings.tolerance + 1 / meters[0].rate:
        message = f"the conditions differ by {spread:.3f} s — {LENGTH_REMEDY}"
        raise UsageError(f"{clip.files[frames.index(min(frames))].path}: {message}")
    for number, (file, meter) in enumerate(zip(clip.files, meters, strict=True)):
        if settings.fit == "pad":
            meter.add_silence(max(frames) - meter.frames)
        elif settings.fit == "trim" and meter.frames > min(frames):
            meters[number] = _measure_file(file.path, settings, min(frames))
    return meters, frames


# --- Writing -------------------------------------------------------------------------------------


GAIN_DECIMALS = 4  # gains are those of the table, so files can be made again from it
MAX_PEAK_EXCESS_DB = 1e-6  # rounding of the true peak
LONG_SIZE = 2**32 - 1  # in a WAV header: the size is in the ds64 chunk


class _ClipResult(NamedTuple):
    """Rows of a clip, or its problems."""

    rows: tuple[NormalizedFile, ...] = ()
    problems: tuple[Problem, ...] = ()


def normalize_clip(clip: ClipConditions, settings: LevelSettings, folder: Path) -> _ClipResult:
    """Measure all files of a clip, and write them into a folder with their gains."""
    try:
        meters, frames = _measure_clip(clip, settings)
        levels = [meter.level() for meter in meters]
        gains = [0.0 if np.isnan(level) else settings.target - level for level in levels]
        gains = [round(gain, GAIN_DECIMALS) for gain in gains]
        peaks = [meter.peak() for meter in meters]
        back_off = _find_back_off(peaks, gains, settings.peak)
        rows = []
        for number, file in enumerate(clip.files):
            notes = [SILENT_NOTE] if np.isnan(levels[number]) else []
            notes += _file_notes(file, meters[number], frames[number])
            if back_off:
                notes.append(f"reduced by {back_off:.2f} dB with all conditions of the clip")
            gain = round(gains[number] - back_off, GAIN_DECIMALS)
            after, digest = _write_file(file, meters[number], gain, settings, folder)
            rows.append(
                NormalizedFile(
                    item=clip.item,
                    system=file.system,
                    source=str(file.path),
                    file=str(file.target),
                    measure=settings.measure,
                    level_before=levels[number],
                    gain=gain,
                    back_off=back_off,
                    level_after=after.level(),
                    peak_before=peaks[number],
                    peak_after=after.peak(),
                    seconds=after.frames / after.rate,
                    rate=after.rate,
                    channels=after.channels,
                    sha256=digest,
                    note="; ".join(notes),
                )
            )
    except EarwitnessError as error:
        for file in clip.files:
            (folder / file.target).unlink(missing_ok=True)
        message = str(error)
        named = [file for file in clip.files if message.startswith(f"{file.path}: ")]
        problem = _problem((named or clip.files)[0], clip, message)
        return _ClipResult(problems=(problem,))
    return _ClipResult(tuple(rows))


def _find_back_off(peaks: Sequence[float], gains: Sequence[float], limit: float) -> float:
    """Return by how many dB all gains must be reduced, rounded up, so that no peak is too high.

    >>> _find_back_off([-12.0, -6.5], [3.0, 6.0], -1.0)
    0.5
    """
    highest = max(peak + gain for peak, gain in zip(peaks, gains, strict=True))
    excess = max(0.0, highest - limit - MAX_PEAK_EXCESS_DB)
    steps = 10.0**GAIN_DECIMALS
    return math.ceil(excess * steps) / steps


def _file_notes(file: ConditionFile, meter: _LevelMeter, frames: int) -> list[str]:
    facts = facts_of(file.path)
    notes = [SHORT_NOTE] if meter.loudness.is_short else []
    if facts.rate != meter.rate:
        notes.append(f"resampled from {facts.rate} Hz")
    if facts.channels != meter.channels:
        notes.append(f"channels changed from {facts.channels} to {meter.channels}")
    if meter.frames != frames:
        verb = "padded" if meter.frames > frames else "trimmed"
        notes.append(f"{verb} by {abs(meter.frames - frames) / meter.rate:.4f} s")
    if meter.clipped:
        notes.append(f"{CLIPPED_NOTE}: {meter.clipped:,} ×")
    return notes


def _write_file(
    file: ConditionFile, before: _LevelMeter, gain: float, settings: LevelSettings, folder: Path
) -> tuple[_LevelMeter, str]:
    """Write a file with a gain in dB; return the levels of the samples in it, and its hash."""
    after = _LevelMeter(before.rate, before.channels, settings.measure)
    factor, ceiling = 10 ** (gain / 20), 10 ** (settings.peak / 20)
    path, digest = folder / file.target, hashlib.sha256()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as written:

        def write(content: bytes) -> None:
            written.write(content)
            digest.update(content)

        form = Form(*SAMPLE_TYPE_BY_BITS[settings.bits], before.channels, before.rate)
        write(_wav_start(form, before.frames))
        for piece in fit_frames(_stream(file.path, settings), before.frames):
            samples = piece * factor
            if np.abs(samples).max(initial=0.0) > ceiling * (1 + 1e-6):
                raise UsageError(f"{file.path}: has changed while it was read — run it again")
            stored, values = _quantize(samples, settings.bits)
            write(stored)
            after.add(values)
        write(bytes(before.frames * before.channels * form.bits // 8 % 2))
    return after, digest.hexdigest()


def _wav_start(form: Form, frames: int) -> bytes:
    """Return what precedes the samples in a WAV file, or in an RF64 file above 4 GiB.

    The file has no other chunk, so equal samples give equal files.
    """
    size = frames * form.channels * form.bits // 8
    head = struct.pack("<4sI", b"fmt ", len(form.header)) + form.header
    total = 4 + len(head) + 8 + size + size % 2
    name, long_sizes = b"RIFF", b""
    if total >= LONG_SIZE:
        long_sizes = struct.pack("<4sIQQQI", b"ds64", 28, total + 36, size, frames, 0)
        name, total, size = b"RF64", LONG_SIZE, LONG_SIZE
    start = struct.pack("<4sI4s", name, total, b"WAVE")
    return start + long_sizes + head + struct.pack("<4sI", b"data", size)


def _quantize(samples: Samples, bits: BitDepth) -> tuple[bytes, NDArray[Any]]:
    """Return samples as bytes of a file, and their values; full scale is one step less than 1."""
    if bits == "float":
        floats = samples.astype("<f4")
        return floats.tobytes(), floats
    steps = 2.0 ** (bits - 1)
    whole = np.clip(np.rint(samples * steps), -steps, steps - 1)
    stored = whole.astype("<i4").view(np.uint8).reshape(-1, 4)[:, : bits // 8]
    return stored.tobytes(), whole / steps


# --- Function audio_normalize --------------------------------------------------------------------


SHOWN_NAMES = 5  # files named in a note


def audio_normalize(
    source: StrPath,
    output: StrPath,
    *,
    files: Annotated[str | None, "PATTERN"] = None,
    conditions: Sequence[str] = (),
    rename: Annotated[str | None, "PATTERN"] = None,
    on_error: Literal["fail", "skip"] = "fail",
    jobs: Jobs = 1,
    progress: Progress = no_progress,
    **options: Any,
) -> NormalizedMaterial:
    """Write audio files with the same level, in a new folder with a table of gains and peaks.

    Every file gets the gain that brings it to the target. If a condition of a clip would then
    exceed the true-peak limit, all conditions of this clip are reduced by the same amount, so that
    they stay equally loud.

    Parameters
    ----------
    source
        Folder with one subfolder per condition (system) and the same file names in each, a folder
        of audio files, or an audio file. It is not changed.
    output
        Folder to create, for WAV files and ``levels.csv``.
    files
        Paths in the source folder, such as ``{item}/{system}.wav``. By default one subfolder per
        condition, or no subfolders.
    conditions
        Conditions to use. By default all.
    rename
        Names in the output, with ``{item}``, ``{system}`` and ``{number}`` (of the clip), such as
        ``{system}/{number:03}``. By default as in the source.
    on_error
        Files that cannot be used: ``fail``, or ``skip`` and list them.
    jobs
    progress
        Called with the number of files written and to write.
    **options
        Settings (see ``LevelSettings``), such as ``target`` or ``rate``.

    Returns
    -------
    NormalizedMaterial
        One row per file, skipped problems, and notes.

    Raises
    ------
    InputError
        If files are missing, unreadable or differ; it lists all of them.
    UsageError
        If an option is invalid, or the output exists or is inside the source.

    Examples
    --------
    >>> made = audio_normalize("talk.wav", "normalized")
    >>> round(made.files[0].level_after, 1)
    -30.0
    """
    settings = LevelSettings(**options)
    _check_choice("on_error", on_error)
    source, output = Path(source), Path(output)
    folder = AtomicFolder(output)
    check_outside(output, [source])
    if settings.rate is not None:
        load_soxr()
    clips, problems, notes = find_conditions(source, files=files, systems=conditions, rename=rename)
    checked = [(clip, check_clip(clip, settings)) for clip in clips]
    problems += [problem for _, clip_problems in checked for problem in clip_problems]
    clips = [clip for clip, clip_problems in checked if not clip_problems]
    if problems and (on_error == "fail" or not clips):
        raise InputError(problems, done="written")
    map_ = choose_map(jobs)
    total, done, rows = sum(len(clip.files) for clip in clips), 0, list[NormalizedFile]()
    with folder as temporary:
        work = partial(normalize_clip, settings=settings, folder=temporary)
        progress(0, total, 0)
        for result in map_(work, clips):
            rows += result.rows
            problems += result.problems
            done += max(1, len(result.rows))
            progress(done, total, done)
        if problems and (on_error == "fail" or not rows):
            raise InputError(problems, done="written")
        with AtomicFile(temporary / REPORT_FILE) as file:
            file.write(csv_text([NormalizedFile._fields, *(map(_cell, row) for row in rows)]))
    return NormalizedMaterial(settings, tuple(rows), tuple(problems), (*notes, *_make_notes(rows)))


def _cell(value: object) -> str:
    """Return a cell of the table; what is undefined is empty."""
    if isinstance(value, float):
        return f"{value:.4f}" if np.isfinite(value) else ""
    return str(value)


def _make_notes(rows: Sequence[NormalizedFile]) -> Iterator[str]:
    """Yield notes on files that differ from what was asked for."""
    if silent := [row.file for row in rows if SILENT_NOTE in row.note]:
        message = "no level could be measured, so there is no gain to the target"
        yield f"{message}: {_list_names(silent)}"
    if short := [row.file for row in rows if SHORT_NOTE in row.note]:
        yield f"files below 0.4 s are measured as one block without a gate: {_list_names(short)}"
    seconds: dict[str, set[float]] = defaultdict(set)
    for row in rows:
        seconds[row.item].add(row.seconds)
    if unequal := [item for item, lengths in seconds.items() if len(lengths) > 1]:
        yield (
            f"conditions have different lengths in {len(unequal):,} of {len(seconds):,} clips"
            " — make them equal with --fit pad or trim"
        )


def _list_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN_NAMES:,} more" if len(names) > SHOWN_NAMES else ""
    return ", ".join(names[:SHOWN_NAMES]) + more
