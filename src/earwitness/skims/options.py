"""SkimOptions: methods, z, plan, speech handling and output files of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from earwitness.audio.encode import BIT_DEPTHS, DEFAULT_BITS, FILE_FORMATS
from earwitness.errors import UsageError
from earwitness.models.embedders import DEFAULT_EMBEDDER
from earwitness.recordings.hour_marks import MARK_LENGTH_TOLERANCE_SECONDS
from earwitness.skims.methods import METHODS as PICKING_METHODS
from earwitness.skims.methods.plan import SkimPlan
from earwitness.skims.picks import PICK_LISTS

MANUAL_METHOD = "manual"
METHODS = (*PICKING_METHODS, MANUAL_METHOD)
METHODS_WITH_Z = ("pareto", "published")  # methods that use z
SPEECH_CHOICES = ("keep", "avoid", "reverse")
ENDINGS = tuple(FILE_FORMATS)
# difference between requested and actual length of a skim that is not reported, in seconds
LENGTH_TOLERANCE_SECONDS = 0.05
MAX_HOUR_GAP_SECONDS = 60.0  # longest silence between hours
EXTRAS = (*PICK_LISTS, "picture", "page")


@dataclass(frozen=True)
class SkimOptions:
    """Settings of ``skim``.

    Parameters
    ----------
    methods
        Methods that pick blocks.
    zs
        Values of z, from 0 (follow the day) to 1 (most diverse sources).
    plan
        Number and length of picks, overlap, period and seed.
    embedder
        codebook, log-mel, a YAMNet .tflite file, or a folder with a Hugging Face model.
    times
        CSV file of times, for the method manual.
    start, zone
        Start time of the first file (ISO 8601), and time zone of file names and ``start``.
    shown
        Time zone in which times are displayed; by default ``zone``.
    hour_gap
        Length of silences that mark hours, in seconds; 0 if there are none.
    by_day
        Whether to make one skim per day, split at midnight.
    speech
        Blocks with speech: keep, avoid or reverse them.
    speech_model
        Speech detector: Silero's ONNX file, or ``cues``. By default the file of the package
        silero-vad if it and onnxruntime are installed, else the speech classes of the embedder if
        it has any, else cues.
    sparse
        Whether to use only 2 s of each 8 s, which is faster.
    ending
        File extension of skims that are written to a folder.
    without
        Files not to write next to the audio.
    cache
        Folder for features; by default the user's cache folder.
    again
        Whether to recreate skims that already exist.
    length
        Requested length of skims in seconds.
    match_levels
        Whether to bring picks to a common level; see ``earwitness.audio.signal.match_levels``.
    bits
        Bits per sample of FLAC and WAV files: 16 or 24.
    """

    methods: tuple[str, ...] = ("pareto",)
    zs: tuple[float, ...] = (0.5,)
    plan: SkimPlan = field(default_factory=SkimPlan)
    embedder: str = DEFAULT_EMBEDDER
    times: Path | None = None
    start: str | None = None
    zone: str | None = None
    shown: str | None = None
    hour_gap: float = 0.0
    by_day: bool = False
    speech: str = SPEECH_CHOICES[0]
    speech_model: Path | None = None
    sparse: bool = False
    ending: str = ENDINGS[0]
    without: tuple[str, ...] = ()
    cache: Path | None = None
    again: bool = False
    length: float | None = None
    match_levels: bool = False
    bits: int = DEFAULT_BITS

    def __post_init__(self) -> None:
        if self.bits not in BIT_DEPTHS:
            allowed = " or ".join(map(str, BIT_DEPTHS))
            raise UsageError(f"--bits must be {allowed}, got {self.bits}")
        if (self.times is not None) != (MANUAL_METHOD in self.methods):
            raise UsageError("--times and --method manual must be used together")
        if self.speech_model is not None and self.speech == SPEECH_CHOICES[0]:
            raise UsageError("--speech-model requires --speech avoid or --speech reverse")
        if not self.zs or not all(0 <= z <= 1 for z in self.zs):
            message = "z must be from 0 (follow the day) to 1 (most diverse sources)"
            raise UsageError(f"{message}, got {self.zs}")
        if (
            self.hour_gap
            and not MARK_LENGTH_TOLERANCE_SECONDS < self.hour_gap <= MAX_HOUR_GAP_SECONDS
        ):
            least, most = MARK_LENGTH_TOLERANCE_SECONDS, MAX_HOUR_GAP_SECONDS
            message = f"--hour-gap must be more than {least:g} s and at most {most:g} s"
            raise UsageError(f"{message}, or 0 to turn it off, got {self.hour_gap:g}")

    @classmethod
    def of(
        cls,
        *,
        methods: tuple[str, ...] = (),
        times: Path | None = None,
        length: float | None = None,
        picks: int | None = None,
        block: float = 8.0,
        overlap: float = 3.0,
        period: float = 3600.0,
        seed: int = 0,
        **settings: Any,
    ) -> SkimOptions:
        """Return options as the command line has them.

        A length replaces the number of picks, and a table of times selects the method manual.

        >>> SkimOptions.of(length=63.0).plan.picks
        12
        """
        if length is not None and picks is not None:
            raise UsageError("--length and --picks cannot be combined — use one of them")
        if length is not None:
            if not block <= length < 1e9:
                message = f"--length must be at least one block ({block:g} s)"
                raise UsageError(f"{message}, got {length:g}")
            picks = max(1, round((length - overlap) / max(block - overlap, 1e-9)))
        count = SkimPlan().picks if picks is None else picks
        plan = SkimPlan(count, block, overlap, period, seed)
        usual = (MANUAL_METHOD,) if times is not None else cls.methods
        chosen = tuple(dict.fromkeys(methods)) or usual
        return cls(methods=chosen, plan=plan, times=times, length=length, **settings)

    @property
    def other_length(self) -> str:
        """Note on the actual length, if whole picks cannot have the requested length.

        >>> SkimOptions.of(length=30, block=5, overlap=1).other_length
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
        zs = tuple(dict.fromkeys(self.zs))
        return tuple(
            (method, z)
            for method in self.methods
            for z in (zs if method in METHODS_WITH_Z else (None,))
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
            f"{',levels=matched' * self.match_levels}"
            f"{f',bits={self.bits}' * (self.bits != DEFAULT_BITS)})"
        )
        return f"{skim_signature}|{embedder}"
