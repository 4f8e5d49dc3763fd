"""Study, its blocks, clips, scales and trials, and the design that listeners follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

# --- Study, trials and design --------------------------------------------------------------------


DEFAULT_SOUND_PATTERN = "{system}/{item}.wav"
STORE_FILE_NAME = "study.db"  # where answers are kept beside the study file, unless told


@dataclass(frozen=True, slots=True)
class Clip:
    """An item of a study: every system has it; what is known of it, and where its files are.

    ``captions`` are what systems wrote about it, where that is judged.
    """

    name: str
    seconds: float
    covariates: Mapping[str, str | float] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    captions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Jury:
    """A part of the listeners, such as experts: so many numbers in a row."""

    name: str
    listeners: int


@dataclass(frozen=True, slots=True)
class StudyBlock:
    """A part of a study that asks in one way.

    A listener hears ``clips`` clips with ``heard`` of the systems, in ``sessions``; answering one
    question takes ``seconds``.
    """

    kind: str
    systems: tuple[str, ...]
    clips: int
    sessions: int = 1
    heard: int = 0
    seconds: float = 4.0
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a form, before or after listening."""

    name: str
    prompt: str
    answer: str = "text"
    options: tuple[str, ...] = ()
    needed: bool = True


@dataclass(frozen=True, slots=True)
class Rule:
    """A declared reason to leave out a listener, with its limits."""

    name: str
    limits: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Analysis:
    """What will be computed, said before anybody listens.

    ``by`` names fields of items or listeners by which results are divided, ``margins`` has by scale
    how far apart two systems may be and still count as equivalent.
    """

    scales: tuple[str, ...] = ()
    contrasts: tuple[tuple[str, str], ...] = ()
    interval: str = "cluster_t"
    level: float = 0.95
    correction: str = "holm"
    by: tuple[str, ...] = ()
    margins: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gold:
    """What is expected in practice."""

    item: str
    system: str
    scale: str
    value: float


@dataclass(frozen=True)
class Study:
    """What the study file says; ``digest`` is that of its canonical form.

    ``categories`` and ``numbers`` are the covariates that subsets are balanced on; every panel
    hears a subset of its own. ``reference`` is the folder with the sounds that others are compared
    with, ``anchors`` are clips that everybody hears first, ``training`` is how many trials are for
    practice. ``plans`` are those that were made elsewhere, if any. ``device`` says what the device
    of a listener is checked for; with ``feedback`` they are told after practice what was expected,
    which is ``gold``. ``juries`` share the numbers of the listeners among them, from the first on.
    """

    title: str
    seed: int
    material: tuple[Clip, ...]
    blocks: tuple[StudyBlock, ...]
    listeners: int
    panels: int = 1
    rest_minutes: float = 5.0
    categories: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    files: str = DEFAULT_SOUND_PATTERN
    reference: str = ""
    anchors: tuple[Clip, ...] = ()
    anchor_folder: str = ""
    training: int = 0
    language: str = "en"
    wordings: Mapping[str, Any] = field(default_factory=dict)
    instructions: str = ""
    consent: str = ""
    before: tuple[Question, ...] = ()
    after: tuple[Question, ...] = ()
    screening: tuple[Rule, ...] = ()
    analysis: Analysis = field(default_factory=Analysis)
    plans: tuple[ListenerPlan, ...] = ()
    device: tuple[str, ...] = ()
    feedback: bool = False
    gold: tuple[Gold, ...] = ()
    juries: tuple[Jury, ...] = ()
    digest: str = ""

    @property
    def systems(self) -> tuple[str, ...]:
        """Those of all blocks."""
        return tuple(dict.fromkeys(name for block in self.blocks for name in block.systems))

    @property
    def anchor_system(self) -> str:
        """What anchors are called where others have the name of a system."""
        return PurePosixPath(self.anchor_folder).name

    def jury(self, listener: int) -> str:
        """The jury that a listener is of; nothing where there are none."""
        last = 0
        for jury in self.juries:
            last += jury.listeners
            if listener <= last:
                return jury.name
        return ""

    def caption(self, item: str, system: str) -> str:
        """What a system wrote about an item; nothing where that is not judged."""
        return self._captions.get(item, {}).get(system, "")

    def file(self, item: str, system: str) -> str:
        """Where a sound is, from the folder of the study file; one of no item is its own path."""
        path = self._paths.get((item, system))
        if path is None:
            path = self._paths[item, system] = self._path(item, system)
        return path

    def _path(self, item: str, system: str) -> str:
        if not item:
            return system
        if self.anchors and system == self.anchor_system:
            return f"{self.anchor_folder}/{item}.wav"
        files_of = self._files.get(item, {})
        return files_of.get(system) or self.files.format(system=system, item=item)

    @cached_property
    def _files(self) -> dict[str, Mapping[str, str]]:
        return {clip.name: clip.files for clip in reversed(self.material)}  # the first counts

    @cached_property
    def _captions(self) -> dict[str, Mapping[str, str]]:
        return {clip.name: clip.captions for clip in self.material}

    @cached_property
    def _paths(self) -> dict[tuple[str, str], str]:
        return {}  # those that were asked for


@dataclass(frozen=True, slots=True)
class Trial:
    """One item, as several systems in the order in which they are presented, and what is asked.

    ``target`` says which of them is the unknown one, where there is one; ``against`` is the one
    that the other is rated against, where two are compared.
    """

    item: str
    systems: tuple[str, ...]
    scales: tuple[str, ...]
    block: int = 0
    target: int = 0
    against: str = ""

    @property
    def treatment(self) -> tuple[str, ...]:
        """What is compared, in whatever order."""
        return tuple(sorted(self.systems))


Session = tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class ListenerPlan:
    """All that one listener hears: trials by session; first practice and anchors, not counted."""

    listener: int
    panel: int
    sessions: tuple[Session, ...]
    training: Session = ()
    anchors: Session = ()


@dataclass(frozen=True, slots=True)
class Design:
    """For every block the subset of every panel, and the plan of every listener."""

    study: Study
    subsets: tuple[tuple[tuple[str, ...], ...], ...]
    plans: tuple[ListenerPlan, ...]


# --- Rating scales -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scale:
    """Numbers that an answer may be, from ``high`` down to ``low``; a slider, or labels."""

    name: str
    high: float
    low: float
    step: float = 1.0
    slider: bool = False

    @cached_property
    def values(self) -> list[float]:
        """All of them, the best first."""
        steps = round((self.high - self.low) / self.step)
        return [round(self.high - n * self.step, 6) for n in range(steps + 1)]

    def allows(self, value: Any) -> bool:
        """Whether a value is one of them."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return any(abs(value - one) < 1e-6 for one in self.values)

    def at(self, heard: float) -> float:
        """The value for an impression from 0 to 1."""
        return self.values[round((1 - heard) * (len(self.values) - 1))]


# --- Choices of an analysis plan -----------------------------------------------------------------


MIXED_MODEL, NO_CORRECTION = "mixed", "none"
ANALYSIS_INTERVALS = (
    *("cluster_t", "naive_t", "cluster_bootstrap", "two_way_bootstrap"),
    MIXED_MODEL,
)
ANALYSIS_CORRECTIONS = ("holm", "bh", NO_CORRECTION)
NO_GROUPS = "none"  # says that results are not divided
