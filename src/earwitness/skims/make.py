"""Skims of one recording: picks and numbers, archive cache, spectrogram, speech."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from earwitness.audio.logmel import ABSENT_BYTE, LOGMEL_FORMAT, edges
from earwitness.core import Estimate, Progress, no_progress
from earwitness.errors import UsageError
from earwitness.models.base import BlockEmbeddings
from earwitness.models.blocks import RecordingBlocks, blocks_of
from earwitness.models.cache import Cache, digest_of, open_sealed, write_sealed
from earwitness.models.frames import columns_of, frame_files
from earwitness.models.speech import (
    MIN_SPEECH_CLASS_SCORE,
    MIN_SPEECH_SHARE,
    SpeechDetector,
    find_detector,
    speech_of_classes,
)
from earwitness.recordings.types import Recording
from earwitness.skims.day import Bools, Day, Ints, heard
from earwitness.skims.measures import DayMeasures, calibration_sd, calibration_tc
from earwitness.skims.methods import Picker
from earwitness.skims.methods.pareto import SkimArchive, archive_of
from earwitness.skims.methods.plan import SkimPlan
from earwitness.skims.options import MANUAL_METHOD, SkimOptions
from earwitness.skims.picks import read_times
from earwitness.skims.tradeoff import MIN_CURVE_POINTS, along_z
from earwitness.skims.types import Pick, Skim, SkimResult, TradeoffCurve
from earwitness.skims.view import Spectrogram
from earwitness.stats.significance import column_moments, interval
from earwitness.version import __version__

# --- Blocks with speech --------------------------------------------------------------------------


class SpeechBlocks(NamedTuple):
    """In which blocks somebody speaks, and what told it."""

    rows: Bools
    signature: str


def spoken_in(
    recording: Recording,
    blocks: RecordingBlocks,
    cache: Cache,
    model: Path | None = None,
    progress: Progress = no_progress,
) -> SpeechBlocks:
    """Of all blocks of a recording; who listens hears all of it, once, as it is kept."""
    known = None if model else speech_of_classes(blocks.class_names, blocks.classes)
    if known is not None:
        return SpeechBlocks(np.asarray(known >= MIN_SPEECH_CLASS_SCORE), "classes")
    detector = find_detector("cues" if model is None else str(model))
    heard, _ = blocks_of(
        recording,
        SpeechEmbedder(detector, recording.rate),
        block=blocks.seconds,
        cache=cache,
        progress=progress,
    )
    shares = dict(zip(heard.starts.tolist(), heard.vectors[:, 0].tolist(), strict=True))
    found = [shares.get(start, 1.0) >= MIN_SPEECH_SHARE for start in blocks.starts.tolist()]
    return SpeechBlocks(np.array(found, np.bool_), detector.signature)


@dataclass(frozen=True)
class SpeechEmbedder:
    """A detector as an embedder: its only number is the share of speech in a block."""

    detector: SpeechDetector
    rate: int
    takes: ClassVar[Literal["sound"]] = "sound"

    @property
    def name(self) -> str:
        """That of the detector."""
        return self.detector.name

    @property
    def signature(self) -> str:
        """That of the detector."""
        return f"speech:{self.detector.signature}"

    def embed(self, sounds: Iterable[NDArray[np.float32]], /) -> BlockEmbeddings:
        """A share a block."""
        shares = [[self.detector.share(sound, self.rate)] for sound in sounds]
        found = np.array(shares, np.float32).reshape(-1, 1)
        return BlockEmbeddings(found, np.clip(found, 0, 1), ("speech",))


# --- Cache of archives ---------------------------------------------------------------------------
# An archive is kept under the numbers that it was made of, whatever they came from.


ARCHIVE_VERSION = 1  # of the way from numbers to an archive: a new one, and all are made anew


def kept_archive(day: Day, plan: SkimPlan, cache: Cache) -> SkimArchive:
    """The archive of a day: that which is kept, or a new one."""
    place = cache.folder / "archives" / f"{_key(day, plan)}.sealed"
    kept = open_sealed(place)
    if kept is not None:
        return msgspec.convert(kept.facts, SkimArchive)
    made = archive_of(day, plan)
    write_sealed(place, msgspec.to_builtins(made))
    return made


def _key(day: Day, plan: SkimPlan) -> str:
    numbers = hashlib.sha256()
    for array in (day.starts, day.vectors, day.classes, day.allowed):
        numbers.update(f"{array.dtype.str}{array.shape}".encode())
        numbers.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    made = [ARCHIVE_VERSION, __version__, numbers.hexdigest(), day.seconds, day.length, plan]
    return digest_of(msgspec.json.encode(made).decode())


# --- Skims of one recording ----------------------------------------------------------------------


BASELINE_DRAWS = 20  # of each baseline
MEASURES = ("tc", "sd", "coverage")
BASELINES = ("downsampling", "random")
CALIBRATIONS = {"calibration of tc": calibration_tc, "calibration of sd": calibration_sd}


@dataclass(frozen=True)
class SkimMaker:
    """Makes all skims of a recording; what does not depend on method and z is done once.

    ``spoken`` are the blocks in which somebody speaks, if that matters; ``sound`` is a name for
    what is heard in the recording. With a ``cache``, what does not depend on z is kept there.
    """

    recording: Recording
    blocks: RecordingBlocks
    asked: SkimOptions
    sound: str
    spoken: SpeechBlocks | None = None
    cache: Cache | None = None

    def skims(self) -> Iterator[SkimResult]:
        """All that were asked for."""
        for method, z in self.asked.wanted:
            yield self.skim(method, z)

    def skim(self, method: str, z: float | None) -> SkimResult:
        """One of them."""
        picks, terms, notes = self._manual() if method == MANUAL_METHOD else self._picked(method, z)
        by = self.spoken.signature if self.spoken else ""
        signature = self.asked.signature(self.blocks.signature, by, method, z)
        return SkimResult(
            self.recording,
            method,
            z,
            Skim(picks, self.asked.plan.overlap),
            {**self.measures(picks), **terms},
            f"earwitness={__version__}|{signature}|sound={self.sound[:16]}",
            notes,
        )

    def measures(self, picks: tuple[Pick, ...]) -> dict[str, float]:
        """TC, SD and coverage."""
        found = heard(self._day, [(pick.start, pick.seconds) for pick in picks])
        if found is None:
            return dict.fromkeys(MEASURES, float("nan"))
        return {name: float(getattr(self._measured, name)(found)) for name in MEASURES}

    def baselines(self, picks: int) -> dict[str, dict[str, Estimate]]:
        """What picks without a thought are worth, over so many draws; and the calibrations.

        They have as many picks as the skims beside which they stand.
        """
        drawn = {name: self._baseline(name, picks) for name in BASELINES}
        known = {name: find(self._day, picks) for name, find in CALIBRATIONS.items()}
        return drawn | {name: _estimates([self._worth(rows)]) for name, rows in known.items()}

    @cached_property
    def _day(self) -> Day:
        blocks = self.blocks
        if not len(blocks):
            raise UsageError(f"{self.recording.name}: not one block of {blocks.seconds:g} s in it")
        length = self.recording.seconds
        day = Day.of(blocks.starts, blocks.seconds, blocks.vectors, blocks.classes, length)
        if self.spoken is None or self.asked.speech != "avoid":
            return day
        if self.spoken.rows.all():
            told = f"{self.recording.name}: somebody seems to speak in all of it"
            raise UsageError(f"{told} — take --speech reverse, or a better --speech-model")
        return replace(day, allowed=~self.spoken.rows)

    @cached_property
    def _measured(self) -> DayMeasures:
        return DayMeasures(self._day, self.asked.plan.period)

    @cached_property
    def _picker(self) -> Picker:
        if self.cache is None:
            return Picker(self._day, self.asked.plan)
        return Picker(self._day, self.asked.plan, partial(kept_archive, cache=self.cache))

    def _manual(self) -> tuple[tuple[Pick, ...], dict[str, float], tuple[str, ...]]:
        assert self.asked.times is not None
        picks = read_times(self.asked.times, self.recording, block=self.asked.plan.block)
        return tuple(self._turned(pick) for pick in picks), {}, ()

    def _picked(
        self, method: str, z: float | None
    ) -> tuple[tuple[Pick, ...], dict[str, float], tuple[str, ...]]:
        found = self._picker.pick(method, 0.5 if z is None else z)
        picks = [
            Pick(float(self._day.starts[row]), self._day.seconds, why=why)
            for row, why in zip(found.rows, found.why, strict=True)
        ]
        terms = {"tc_term": found.tc_term, "sd_term": found.sd_term}
        return tuple(self._turned(pick) for pick in picks), terms, found.notes

    def _turned(self, pick: Pick) -> Pick:
        """Played backwards, if somebody speaks in it and that was asked for."""
        if self.spoken is None or self.asked.speech != "reverse":
            return pick
        starts = self._day.starts
        over = (starts < pick.start + pick.seconds) & (starts + self._day.seconds > pick.start)
        return replace(pick, turned=True) if (over & self.spoken.rows).any() else pick

    def _baseline(self, name: str, picks: int) -> dict[str, Estimate]:
        rows = []
        for seed in range(BASELINE_DRAWS):
            plan = replace(self.asked.plan, picks=picks, seed=self.asked.plan.seed + seed)
            rows.append(self._worth(Picker(self._day, plan).baseline(name)))
        return _estimates(rows)

    def _worth(self, rows: Ints) -> dict[str, float]:
        starts = self._day.starts[rows].tolist()
        return self.measures(tuple(Pick(start, self._day.seconds) for start in starts))


def _estimates(rows: list[dict[str, float]], level: float = 0.95) -> dict[str, Estimate]:
    """Means over draws, with t intervals."""
    moments = column_moments(np.array([[row[name] for name in MEASURES] for row in rows]))
    low, high = interval(moments, level)
    return {
        name: Estimate(
            float(moments.mean[i]),
            float(low[i]),
            float(high[i]),
            level,
            int(moments.n[i]),
            len(rows) - int(moments.n[i]),
            "t",
        )
        for i, name in enumerate(MEASURES)
    }


def courses(skims: tuple[SkimResult, ...]) -> Iterator[TradeoffCurve]:
    """Curves over z, where a method has three z and more."""
    groups: dict[tuple[str, str], list[tuple[float, SkimResult]]] = {}
    for one in skims:
        if one.z is not None:
            groups.setdefault((one.recording.name, one.method), []).append((one.z, one))
    for (recording, method), group in groups.items():
        if len(group) >= MIN_CURVE_POINTS:
            tc, sd = ([one.measures[name] for _, one in group] for name in ("tc", "sd"))
            found = along_z([z for z, _ in group], tc, sd)
            yield TradeoffCurve(recording, method, *found, len(group))


# --- Spectrogram of a recording ------------------------------------------------------------------
# A column is halfway between the mean and the loudest of its frames: a mean alone would lose a call
# of a tenth of a second in the minute that a column stands for, and the loudest alone would make
# every windy day look full.


MAX_COLUMNS = 1_200  # of a spectrogram


def spectrogram_of(recording: Recording, cache: Cache, *, sparse: bool = False) -> Spectrogram:
    """Levels of all bands over the time of a recording."""
    whole = edges(recording.rate)
    bands = (float(whole[0]), float(whole[-1]))
    key = digest_of(f"{LOGMEL_FORMAT}|{sparse}|{sound_key(recording, cache)}")
    place = cache.folder / "pictures" / f"{key}.sealed"
    kept = open_sealed(place)
    if kept is not None:
        return Spectrogram(kept.arrays[0], kept.arrays[1].astype(np.bool_), *bands)
    files = frame_files(recording, cache=cache, sparse=sparse)
    count = max(1, min(MAX_COLUMNS, int(recording.seconds)))
    found = columns_of(recording, files, count)
    levels = ((found.loudest.astype(np.uint16) + found.mean) // 2).astype(np.uint8)
    missing = found.loudest[0] == ABSENT_BYTE
    write_sealed(place, {}, [levels, missing.astype(np.uint8)])
    return Spectrogram(levels, missing, *bands)


def sound_key(recording: Recording, cache: Cache) -> str:
    """A name for what is heard in a recording and when, whatever its files are called."""
    spans = [
        (cache.digest(Path(one.path)), one.at, one.start, one.seconds)
        for one in recording.stretches
    ]
    made = [recording.rate, recording.seconds, spans]
    return digest_of(msgspec.json.encode(made).decode())
