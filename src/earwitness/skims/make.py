"""Skims of one recording: picks, measures, archive cache, spectrograms and speech."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import msgspec
import numpy as np

from earwitness.audio.logmel import ABSENT_BYTE, LOGMEL_FORMAT, Bytes, band_edges, log_mel
from earwitness.audio.signal import match_levels
from earwitness.core import Estimate, Progress, StrPath, group_values, no_progress
from earwitness.errors import UsageError
from earwitness.models.base import BlockEmbeddings
from earwitness.models.blocks import RecordingBlocks, read_recording_blocks
from earwitness.models.cache import Cache, hash_text, open_sealed, write_sealed
from earwitness.models.codebook import CLASS_NAME_PREFIX
from earwitness.models.frames import (
    SPARSE_PERIOD_SECONDS,
    FrameFile,
    load_frame_files,
    make_spectrogram_columns,
)
from earwitness.recordings.cut import cut
from earwitness.recordings.types import Recording
from earwitness.skims.day import Bools, Day, Doubles, Singles, hear_picks
from earwitness.skims.measures import DayMeasures
from earwitness.skims.methods import BASELINES, CALIBRATIONS, Picker
from earwitness.skims.methods.pareto import SkimArchive, make_archive
from earwitness.skims.methods.plan import SkimPlan
from earwitness.skims.options import MANUAL_METHOD, SkimOptions
from earwitness.skims.picks import read_times
from earwitness.skims.tradeoff import MIN_CURVE_POINTS, measure_curve
from earwitness.skims.types import Pick, Skim, SkimResult, SoundClass, TradeoffCurve
from earwitness.skims.view import DutyCycle, Spectrogram, find_duty_cycle
from earwitness.speech.vad import (
    MIN_SPEECH_CLASS_SCORE,
    CueDetector,
    SpeechDetector,
    find_detector,
    speech_class_scores,
)
from earwitness.stats.significance import build_estimates, column_moments, mean_interval
from earwitness.version import __version__

# --- Blocks with speech --------------------------------------------------------------------------


class SpeechBlocks(NamedTuple):
    """Blocks that contain speech, and the signature of the detector."""

    rows: Bools
    signature: str


def find_speech(
    recording: Recording,
    blocks: RecordingBlocks,
    cache: Cache,
    model: StrPath | None = None,
    progress: Progress = no_progress,
) -> SpeechBlocks:
    """Detect speech in all blocks of a recording; each block is read once and the result cached.

    Without a model, Silero is used if it is installed; otherwise, speech classes of the embedder if
    it has any, and cues if not.
    """
    detector = find_detector(None if model is None else str(model))
    if model is None and isinstance(detector, CueDetector):
        class_scores = speech_class_scores(blocks.class_names, blocks.classes)
        if class_scores is not None:
            signature = f"classes,score={MIN_SPEECH_CLASS_SCORE:g}"
            return SpeechBlocks(np.asarray(class_scores >= MIN_SPEECH_CLASS_SCORE), signature)
    speech, _ = read_recording_blocks(
        recording,
        SpeechEmbedder(detector, recording.rate),
        block=blocks.seconds,
        cache=cache,
        progress=progress,
    )
    shares = dict(zip(speech.starts.tolist(), speech.vectors[:, 0].tolist(), strict=True))
    speaks = [shares.get(start, 1.0) >= detector.min_share for start in blocks.starts.tolist()]
    return SpeechBlocks(np.array(speaks, np.bool_), detector.signature)


@dataclass(frozen=True)
class SpeechEmbedder:
    """A speech detector used as an embedder: its only value is the share of speech in a block."""

    detector: SpeechDetector
    rate: int
    takes: ClassVar[Literal["sound"]] = "sound"

    @property
    def name(self) -> str:
        """Name of the detector."""
        return self.detector.name

    @property
    def signature(self) -> str:
        """Signature of the detector."""
        return f"speech:{self.detector.signature}"

    def embed(self, sounds: Iterable[Singles], /) -> BlockEmbeddings:
        """Return the share of speech, one row per block."""
        shares = [[self.detector.share(sound, self.rate)] for sound in sounds]
        vectors = np.array(shares, np.float32).reshape(-1, 1)
        return BlockEmbeddings(vectors, np.clip(vectors, 0, 1), ("speech",))


# --- Cache of archives ---------------------------------------------------------------------------
# An archive is cached under a hash of the numbers that it was computed from.


ARCHIVE_VERSION = 1  # increase it to recompute all cached archives


def load_archive(day: Day, plan: SkimPlan, cache: Cache) -> SkimArchive:
    """Return the archive of a day, from the cache if possible."""
    numbers = hashlib.sha256()
    for array in (day.starts, day.vectors, day.classes, day.allowed):
        numbers.update(f"{array.dtype.str}{array.shape}".encode())
        numbers.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    parts = [ARCHIVE_VERSION, __version__, numbers.hexdigest(), day.seconds, day.length, plan]
    key = hash_text(msgspec.json.encode(parts).decode())
    place = cache.folder / "archives" / f"{key}.sealed"
    sealed = open_sealed(place)
    if sealed is not None:
        return msgspec.convert(sealed.facts, SkimArchive)
    archive = make_archive(day, plan)
    write_sealed(place, msgspec.to_builtins(archive))
    return archive


# --- Skims of one recording ----------------------------------------------------------------------


BASELINE_DRAWS = 20  # random draws per baseline
BASELINE_LABELS = {
    "calibration_tc": "calibration: closest to the day",
    "calibration_sd": "calibration: most source classes",
}
MEASURES = ("tc", "sd", "coverage")
MAX_PICK_CLASSES = 3  # named classes of a pick
MIN_CLASS_SCORE = 0.1  # lower scores name nothing
MIN_RELATIVE_SCORE = 0.5  # further classes of a pick have at least this share of the highest score


@dataclass(frozen=True)
class SkimMaker:
    """Makes all skims of a recording; work that does not depend on method and z is done once.

    ``spoken`` are the blocks with speech, if needed; ``sound`` identifies the audio of the
    recording. Results that do not depend on z are kept in ``cache``, if given.
    """

    recording: Recording
    blocks: RecordingBlocks
    options: SkimOptions
    sound: str
    spoken: SpeechBlocks | None = None
    cache: Cache | None = None

    def make_skim(self, method: str, z: float | None) -> SkimResult:
        """Return one skim."""
        terms: dict[str, float] = {}
        notes: tuple[str, ...] = ()
        if method == MANUAL_METHOD:
            assert self.options.times is not None
            plain = read_times(self.options.times, self.recording, block=self.options.plan.block)
        else:
            selection = self._picker.pick(method, 0.5 if z is None else z)
            terms = {"tc_term": selection.tc_term, "sd_term": selection.sd_term}
            notes = selection.notes
            plain = tuple(
                Pick(float(self._day.starts[row]), self._day.seconds, why=why)
                for row, why in zip(selection.rows, selection.why, strict=True)
            )
        picks = self._name_classes(tuple(self._reverse_speech(pick) for pick in plain))
        if self.options.match_levels:
            pieces = [cut_pick(self.recording, pick) for pick in picks]
            gains = match_levels(pieces, self.recording.rate)
            levelled = zip(picks, gains, strict=True)
            picks = tuple(replace(pick, gain=round(gain, 2)) for pick, gain in levelled)
        by = self.spoken.signature if self.spoken else ""
        signature = self.options.signature(self.blocks.signature, by, method, z)
        return SkimResult(
            self.recording,
            method,
            z,
            Skim(picks, self.options.plan.overlap),
            {**self.measure_picks(picks), **terms},
            f"earwitness={__version__}|{signature}|sound={self.sound[:16]}",
            notes,
        )

    def measure_picks(self, picks: tuple[Pick, ...]) -> dict[str, float]:
        """Return TC, SD and coverage of picks."""
        content = hear_picks(self._day, [(pick.start, pick.seconds) for pick in picks])
        if content is None:
            return dict.fromkeys(MEASURES, np.nan)
        return {name: float(getattr(self._day_measures, name)(content)) for name in MEASURES}

    def estimate_baselines(self, picks: int) -> dict[str, dict[str, Estimate]]:
        """Return mean measures of the random baselines over several draws, and the calibrations.

        They have as many picks as the skims that they are compared with.
        """
        draws = dict.fromkeys(BASELINES, BASELINE_DRAWS) | dict.fromkeys(CALIBRATIONS, 1)
        return {
            BASELINE_LABELS.get(name, name): self._estimate_baseline(name, picks, count)
            for name, count in draws.items()
        }

    @cached_property
    def _day(self) -> Day:
        blocks = self.blocks
        if not len(blocks):
            message = f"too short for one block of {blocks.seconds:g} s"
            raise UsageError(f"{self.recording.name}: {message}")
        length = self.recording.seconds
        day = Day.of(blocks.starts, blocks.seconds, blocks.vectors, blocks.classes, length)
        if self.spoken is None or self.options.speech != "avoid":
            return day
        if self.spoken.rows.all():
            message = f"{self.recording.name}: speech was detected in every block"
            raise UsageError(f"{message} — use --speech reverse, or another --detector")
        return replace(day, allowed=~self.spoken.rows)

    @cached_property
    def _day_measures(self) -> DayMeasures:
        return DayMeasures(self._day, self.options.plan.period)

    @cached_property
    def _picker(self) -> Picker:
        if self.cache is None:
            return Picker(self._day, self.options.plan)
        return Picker(self._day, self.options.plan, partial(load_archive, cache=self.cache))

    def _reverse_speech(self, pick: Pick) -> Pick:
        """Return the pick, reversed if it contains speech and speech is to be reversed."""
        if self.spoken is None or self.options.speech != "reverse":
            return pick
        starts = self._day.starts
        over = (starts < pick.start + pick.seconds) & (starts + self._day.seconds > pick.start)
        return replace(pick, turned=True) if (over & self.spoken.rows).any() else pick

    def _name_classes(self, picks: tuple[Pick, ...]) -> tuple[Pick, ...]:
        """Return picks with their highest classes, if the embedder names classes."""
        names = self.blocks.class_names
        content = hear_picks(self._day, [(pick.start, pick.seconds) for pick in picks])
        if content is None or all(name.startswith(CLASS_NAME_PREFIX) for name in names):
            return picks
        return tuple(
            replace(pick, classes=find_top_classes(scores, names))
            for pick, scores in zip(picks, content.classes, strict=True)
        )

    def _estimate_baseline(self, name: str, picks: int, draws: int) -> dict[str, Estimate]:
        """Return means over draws, with 95 % t intervals."""
        table = []
        for seed in range(draws):
            plan = replace(self.options.plan, picks=picks, seed=self.options.plan.seed + seed)
            starts = self._day.starts[Picker(self._day, plan).baseline(name)].tolist()
            picked = tuple(Pick(start, self._day.seconds) for start in starts)
            table.append([*self.measure_picks(picked).values()])
        moments = column_moments(np.array(table))
        ends, undefined = mean_interval(moments, 0.95), draws - moments.n
        estimates = build_estimates(moments.mean, ends, 0.95, moments.n, undefined, "t")
        return dict(zip(MEASURES, estimates, strict=True))


def find_top_classes(scores: Doubles, names: Sequence[str]) -> tuple[SoundClass, ...]:
    """Return the highest classes: up to three, with at least 0.1 and half the highest score.

    >>> find_top_classes(np.array([0.05, 0.9, 0.5, 0.4]), ("Rain", "Bird", "Chirp", "Owl"))
    (SoundClass(name='Bird', score=0.9), SoundClass(name='Chirp', score=0.5))
    """
    order = np.argsort(-scores, kind="stable")[:MAX_PICK_CLASSES]
    least = max(MIN_CLASS_SCORE, MIN_RELATIVE_SCORE * float(scores.max(initial=0.0)))
    rows = [int(row) for row in order if scores[row] >= least]
    return tuple(SoundClass(names[row], round(float(scores[row]), 3)) for row in rows)


def cut_pick(recording: Recording, pick: Pick) -> Singles:
    """Return the samples of a pick; samples that are not numbers become silence."""
    samples = cut(recording, pick.start, pick.seconds)
    return np.asarray(np.nan_to_num(samples, copy=False, posinf=0, neginf=0), np.float32)


def tradeoff_curves(skims: tuple[SkimResult, ...]) -> Iterator[TradeoffCurve]:
    """Yield trade-off curves of methods with three or more values of z."""
    groups = group_values(
        ((result.recording.name, result.method), (result.z, result))
        for result in skims
        if result.z is not None
    )
    for (recording, method), group in groups.items():
        if len(group) >= MIN_CURVE_POINTS:
            tc, sd = ([result.measures[name] for _, result in group] for name in ("tc", "sd"))
            figures = measure_curve([z for z, _ in group], tc, sd)
            yield TradeoffCurve(recording, method, *figures, len(group))


# --- Spectrograms --------------------------------------------------------------------------------
# A column is halfway between the mean and the maximum of its frames: the mean alone would lose a
# call of a tenth of a second in a column of a minute, and the maximum alone would make every windy
# day look full.


MAX_COLUMNS = 1_200  # columns of a spectrogram
SPECTROGRAM_VERSION = 2  # increase it to draw all cached spectrograms again


def make_spectrogram(recording: Recording, cache: Cache, *, sparse: bool = False) -> Spectrogram:
    """Return the levels of all bands over the time of a recording.

    With a duty cycle, each recorded part is stretched over the time up to the next one.
    """
    frequencies = band_edges(recording.rate)
    bands = (float(frequencies[0]), float(frequencies[-1]))
    key = hash_text(f"{SPECTROGRAM_VERSION}|{LOGMEL_FORMAT}|{sparse}|{sound_key(recording, cache)}")
    place = cache.folder / "pictures" / f"{key}.sealed"
    sealed = open_sealed(place)
    if sealed is not None:
        return Spectrogram(sealed.arrays[0], sealed.arrays[1].astype(np.bool_), *bands)
    files = load_frame_files(recording, cache=cache, sparse=sparse)
    count = max(1, min(MAX_COLUMNS, int(recording.seconds)))
    cycle = find_duty_cycle(recording)
    if cycle is None:
        levels = _column_levels(recording, files, count)
    else:
        levels = _bridged_levels(recording, files, count, cycle, sparse=sparse)
    missing = levels[0] == ABSENT_BYTE
    write_sealed(place, {}, [levels, missing.astype(np.uint8)])
    return Spectrogram(levels, missing, *bands)


def _column_levels(recording: Recording, files: Mapping[str, FrameFile], count: int) -> Bytes:
    """Return the levels of columns over the time of a recording; 255 is missing."""
    columns = make_spectrogram_columns(recording, files, count)
    return _blend_levels(columns.loudest, columns.mean)


def _bridged_levels(
    recording: Recording,
    files: Mapping[str, FrameFile],
    count: int,
    cycle: DutyCycle,
    *,
    sparse: bool,
) -> Bytes:
    """Return the levels of columns in which each part is stretched; 255 is missing.

    The recorded parts are drawn end to end first, and then each column is looked up there.
    """
    starts, seconds, drawn = np.array(cycle.parts).T
    ends = np.cumsum(seconds)
    joined_starts = ends - seconds
    rows = [
        int(np.searchsorted(starts, stretch.start, "right")) - 1 for stretch in recording.stretches
    ]
    stretches = tuple(
        replace(stretch, start=joined_starts[row] + stretch.start - starts[row])
        for row, stretch in zip(rows, recording.stretches, strict=True)
    )
    joined = replace(recording, stretches=stretches, seconds=float(ends[-1]))
    joined_count = round(count * drawn.sum() / recording.seconds)
    if sparse:  # every column has frames
        joined_count = min(joined_count, int(joined.seconds / SPARSE_PERIOD_SECONDS))
    joined_count = max(1, joined_count)
    levels = _column_levels(joined, files, joined_count)
    times = (np.arange(count) + 0.5) * recording.seconds / count
    part = np.maximum(0, np.searchsorted(starts, times, "right") - 1)
    share = (times - starts[part]) / drawn[part]
    places = (joined_starts[part] + share * seconds[part]) * joined_count / joined.seconds
    columns = levels[:, np.clip(places.astype(np.intp), 0, joined_count - 1)]
    return np.where((share >= 0) & (share < 1), columns, np.uint8(ABSENT_BYTE))


def make_sound_spectrogram(samples: Singles, rate: int) -> Spectrogram:
    """Return the levels of all bands over the time of a sound, such as a skim."""
    mono = samples if samples.ndim == 1 else samples.mean(axis=1)
    frames = log_mel(np.ascontiguousarray(mono, np.float32), rate)
    if not len(frames):
        frames = np.zeros((1, frames.shape[1]), np.uint8)
    firsts = np.unique(np.linspace(0, len(frames), MAX_COLUMNS, endpoint=False).astype(np.intp))
    sizes = np.diff([*firsts, len(frames)])[:, None]
    mean = np.add.reduceat(frames, firsts, axis=0, dtype=np.float64) / sizes
    loudest = np.maximum.reduceat(frames, firsts, axis=0)
    edges = band_edges(rate)
    missing = np.zeros(len(firsts), np.bool_)
    levels = _blend_levels(loudest, mean.astype(np.uint8)).T
    return Spectrogram(levels, missing, float(edges[0]), float(edges[-1]))


def _blend_levels(loudest: Bytes, mean: Bytes) -> Bytes:
    return ((loudest.astype(np.uint16) + mean) // 2).astype(np.uint8)


def sound_key(recording: Recording, cache: Cache) -> str:
    """Return a hash of the audio of a recording and its times, independent of file names."""
    spans = [
        (cache.digest(Path(stretch.path)), stretch.at, stretch.start, stretch.seconds)
        for stretch in recording.stretches
    ]
    parts = [recording.rate, recording.seconds, spans]
    return hash_text(msgspec.json.encode(parts).decode())
