"""SkimOptions: methods, z, plan, speech handling and output files of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

from earwitness.audio.encode import BIT_DEPTHS, DEFAULT_BITS, FILE_FORMATS
from earwitness.core import StrPath
from earwitness.errors import UsageError
from earwitness.models.embedders import DEFAULT_EMBEDDER
from earwitness.recordings.clock import ClockSettings
from earwitness.recordings.hour_marks import MARK_LENGTH_TOLERANCE_SECONDS
from earwitness.skims.day import PERIOD_SECONDS
from earwitness.skims.methods import METHODS as PICKING_METHODS
from earwitness.skims.methods.plan import SkimPlan
from earwitness.skims.picks import PICK_LISTS

MANUAL_METHOD = "manual"
METHODS = (*PICKING_METHODS, MANUAL_METHOD)
METHODS_WITH_Z = ("pareto", "published")  # methods that use z
SPEECH_CHOICES = ("keep", "avoid", "reverse")
ENDINGS = tuple(FILE_FORMATS)
FORMATS = tuple(ending.removeprefix(".") for ending in ENDINGS)
# difference between requested and actual length of a skim that is not reported, in seconds
LENGTH_TOLERANCE_SECONDS = 0.05
MAX_HOUR_GAP_SECONDS = 60.0  # longest silence between hours
EXTRAS = (*PICK_LISTS, "picture", "page")


@dataclass(frozen=True, kw_only=True)
class SkimOptions(ClockSettings):
    """Settings of ``skim``.

    Parameters
    ----------
    z
        Values of z, from 0 (follow the course of the day) to 1 (cover all kinds of sound).
    methods
        Methods that pick blocks. By default pareto, or manual with ``times``.
    times
        CSV file with a column start, for the method manual.
    length
        Length of a skim in seconds, instead of a number of blocks.
    picks
        Number of blocks. By default 12.
    block
        Block length in seconds.
    overlap
        Length of cross-fades in seconds.
    period
        Length in seconds of the periods that the day is divided into.
    embedder
        Embedder: codebook, log-mel, a YAMNet .tflite file, or a Hugging Face model folder.
    by_day
        Make one skim per day, divided at midnight.
    speech
        Blocks with speech: ``keep``, ``avoid``, or play backwards (``reverse``).
    detector
        Speech detector: a Silero ONNX file, or cues. By default the file of silero-vad if that
        package and onnxruntime are installed, else the classes of YAMNet as the embedder,
        else cues.
    sparse
        Analyse only 2 s of every 8 s, which is faster.
    to
        File format of skims in a folder.
    bits
        Bits per sample of FLAC and WAV files.
    match_levels
        Bring picks to their median level, by at most 12 dB and without clipping.
    without
        Additional files not to write.
    cache
        Folder for finished parts. By default the cache folder of the user.
    again
        Recreate skims that already exist.
    seed
        Random seed.
    """

    z: Sequence[float] | float = 0.5
    methods: Annotated[Sequence[str] | str, METHODS] = ()
    times: Path | None = None
    length: float | None = None
    picks: int | None = None
    block: float = 8.0
    overlap: float = 3.0
    period: float = PERIOD_SECONDS
    embedder: Annotated[str, "NAME|PATH"] = DEFAULT_EMBEDDER
    by_day: bool = False
    speech: Annotated[str, SPEECH_CHOICES] = SPEECH_CHOICES[0]
    detector: Annotated[StrPath | None, "NAME|FILE"] = None
    sparse: bool = False
    to: Annotated[str, FORMATS] = FORMATS[0]
    bits: Annotated[int, BIT_DEPTHS] = DEFAULT_BITS
    match_levels: bool = False
    without: Annotated[Sequence[str], EXTRAS] = ()
    cache: Annotated[Path | None, "FOLDER"] = None
    again: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.bits not in BIT_DEPTHS:
            allowed = " or ".join(map(str, BIT_DEPTHS))
            raise UsageError(f"--bits must be {allowed}, got {self.bits}")
        if (self.times is not None) != (MANUAL_METHOD in self._chosen_methods):
            raise UsageError("--times and --method manual must be used together")
        if self.detector is not None and self.speech == SPEECH_CHOICES[0]:
            raise UsageError("--detector requires --speech avoid or --speech reverse")
        if not self._zs or not all(0 <= z <= 1 for z in self._zs):
            message = "z must be from 0 (follow the day) to 1 (most diverse sources)"
            raise UsageError(f"{message}, got {self.z}")
        if (
            self.hour_gap
            and not MARK_LENGTH_TOLERANCE_SECONDS < self.hour_gap <= MAX_HOUR_GAP_SECONDS
        ):
            least, most = MARK_LENGTH_TOLERANCE_SECONDS, MAX_HOUR_GAP_SECONDS
            message = f"--hour-gap must be more than {least:g} s and at most {most:g} s"
            raise UsageError(f"{message}, or 0 to turn it off, got {self.hour_gap:g}")
        if self.length is not None and self.picks is not None:
            raise UsageError("--length and --picks cannot be combined — use one of them")
        if self.length is not None and not self.block <= self.length < 1e9:
            message = f"--length must be at least one block ({self.block:g} s)"
            raise UsageError(f"{message}, got {self.length:g}")
        _ = self.plan  # refuses invalid lengths

    @cached_property
    def plan(self) -> SkimPlan:
        """Number and length of picks.

        >>> SkimOptions(length=63.0).plan.picks
        12
        """
        picks = SkimPlan().picks if self.picks is None else self.picks
        if self.length is not None:
            step = max(self.block - self.overlap, 1e-9)
            picks = max(1, round((self.length - self.overlap) / step))
        return SkimPlan(picks, self.block, self.overlap, self.period, self.seed)

    @property
    def _chosen_methods(self) -> tuple[str, ...]:
        given = (self.methods,) if isinstance(self.methods, str) else self.methods
        usual = "pareto" if self.times is None else MANUAL_METHOD
        return tuple(dict.fromkeys(given)) or (usual,)

    @property
    def _zs(self) -> tuple[float, ...]:
        given = (self.z,) if isinstance(self.z, int | float) else self.z
        return tuple(dict.fromkeys(given))

    @property
    def other_length(self) -> str:
        """Note on the actual length, if whole picks cannot have the requested length.

        >>> SkimOptions(length=30, block=5, overlap=1).other_length
        '--length 30: the skim lasts 29 s (7 picks of 5 s with an overlap of 1 s)'
        """
        plan = self.plan
        seconds = plan.picks * plan.block - (plan.picks - 1) * plan.overlap
        if self.length is None or abs(seconds - self.length) < LENGTH_TOLERANCE_SECONDS:
            return ""
        picks = "1 pick" if plan.picks == 1 else f"{plan.picks} picks"
        message = f"{picks} of {plan.block:g} s with an overlap of {plan.overlap:g} s"
        return f"--length {self.length:g}: the skim lasts {seconds:g} s ({message})"

    @property
    def method_and_z_pairs(self) -> tuple[tuple[str, float | None], ...]:
        """Methods, each with every z if the method uses z."""
        return tuple(
            (method, z)
            for method in self._chosen_methods
            for z in (self._zs if method in METHODS_WITH_Z else (None,))
        )

    def signature(self, embedder: str, spoken: str, method: str, z: float | None) -> str:
        """Return all settings that determine a skim, in one line."""
        dial = "" if z is None else f",z={z:g}"
        plan = self.plan
        picks = "" if method == MANUAL_METHOD else f",picks={plan.picks}"
        skim_signature = (
            f"skim(method={method}{dial}{picks},block={plan.block:g}"
            f",overlap={plan.overlap:g},period={plan.period:g},seed={plan.seed}"
            f",speech={self.speech}{spoken and f':{spoken}'}"
            f"{',levels=matched' if self.match_levels else ''}"
            f"{f',bits={self.bits}' if self.bits != DEFAULT_BITS else ''})"
        )
        return f"{skim_signature}|{embedder}"
