"""SkimOptions: methods, z, plan, speech and files asked of a run of skims."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from earwitness.audio.encode import FILE_FORMATS
from earwitness.errors import UsageError
from earwitness.models.embedders import DEFAULT_EMBEDDER
from earwitness.recordings.hour_marks import MARK_LENGTH_TOLERANCE_SECONDS
from earwitness.skims.methods import METHODS as PICKING_METHODS
from earwitness.skims.methods.plan import SkimPlan
from earwitness.skims.picks import PICK_LISTS

MANUAL_METHOD = "manual"
METHODS = (*PICKING_METHODS, MANUAL_METHOD)
METHODS_WITH_Z = ("pareto", "published")  # methods to which z matters
SPEECH_CHOICES = ("keep", "avoid", "reverse")
ENDINGS = tuple(FILE_FORMATS)
# seconds by which a skim may be longer or shorter than was asked for
LENGTH_TOLERANCE_SECONDS = 0.05
MAX_HOUR_GAP_SECONDS = 60.0  # seconds between hours
EXTRAS = (*PICK_LISTS, "picture", "page")


@dataclass(frozen=True)
class SkimOptions:
    """Which skims, of what, and what is written beside their sound."""

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

    def __post_init__(self) -> None:
        if (self.times is not None) != (MANUAL_METHOD in self.methods):
            raise UsageError("the method manual and a table of times (--times) go together")
        if self.speech_model is not None and self.speech == SPEECH_CHOICES[0]:
            raise UsageError("--speech-model is for --speech avoid or reverse")
        if not self.zs or not all(0 <= z <= 1 for z in self.zs):
            raise UsageError(f"z lies between 0 (follow the day) and 1 (show all), got {self.zs}")
        if (
            self.hour_gap
            and not MARK_LENGTH_TOLERANCE_SECONDS < self.hour_gap <= MAX_HOUR_GAP_SECONDS
        ):
            least, most = MARK_LENGTH_TOLERANCE_SECONDS, MAX_HOUR_GAP_SECONDS
            message = f"--hour-gap must be over {least:g} s and at most {most:g} s"
            raise UsageError(f"{message}, or 0 for none, got {self.hour_gap:g}")

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
        period: float = 900.0,
        seed: int = 0,
        **settings: Any,
    ) -> SkimOptions:
        """As the command has it: a length in place of a number of picks, manual if there are times.

        >>> SkimOptions.of(length=63.0).plan.picks
        12
        """
        if length is not None and picks is not None:
            raise UsageError("--length and --picks say the same — give one of them")
        if length is not None:
            if not block <= length < 1e9:
                raise UsageError(f"--length: at least a block ({block:g} s), got {length:g}")
            picks = max(1, round((length - overlap) / max(block - overlap, 1e-9)))
        count = SkimPlan().picks if picks is None else picks
        plan = SkimPlan(count, block, overlap, period, seed)
        usual = (MANUAL_METHOD,) if times is not None else cls.methods
        chosen = tuple(dict.fromkeys(methods)) or usual
        return cls(methods=chosen, plan=plan, times=times, length=length, **settings)

    @property
    def other_length(self) -> str:
        """What is said if whole picks cannot be as long as was asked for.

        >>> SkimOptions.of(length=30, block=5, overlap=1).other_length
        '--length 30: 7 picks of 5 s that overlap by 1 s last 29 s'
        """
        plan = self.plan
        seconds = plan.picks * plan.block - (plan.picks - 1) * plan.overlap
        if self.length is None or abs(seconds - self.length) < LENGTH_TOLERANCE_SECONDS:
            return ""
        picks = "1 pick" if plan.picks == 1 else f"{plan.picks} picks"
        message = f"{picks} of {plan.block:g} s that overlap by {plan.overlap:g} s"
        return f"--length {self.length:g}: {message} last {seconds:g} s"

    @property
    def method_and_z_pairs(self) -> tuple[tuple[str, float | None], ...]:
        """Methods with z where it matters."""
        zs = tuple(dict.fromkeys(self.zs))
        return tuple(
            pair
            for method in self.methods
            for pair in (
                [(method, z) for z in zs] if method in METHODS_WITH_Z else [(method, None)]
            )
        )

    def signature(self, embedder: str, spoken: str, method: str, z: float | None) -> str:
        """All that decides what a skim is."""
        dial = "" if z is None else f",z={z:g}"
        plan = self.plan
        picks = "" if method == MANUAL_METHOD else f",picks={plan.picks}"
        skim_signature = (
            f"skim(method={method}{dial}{picks},block={plan.block:g}"
            f",overlap={plan.overlap:g},period={plan.period:g},seed={plan.seed}"
            f",speech={self.speech}{spoken and f':{spoken}'})"
        )
        return f"{skim_signature}|{embedder}"
