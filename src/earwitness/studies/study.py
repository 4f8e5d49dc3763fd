"""Study, its blocks, clips, scales and trials, and the design that listeners follow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, get_args

from earwitness.analysis.evidence import GOLD_ROLE, TRAP_ROLE
from earwitness.analysis.plan import Analysis, Rule
from earwitness.errors import UsageError
from earwitness.ratings.names import DEFAULT_SOUND_PATTERN
from earwitness.report.result import Result

if TYPE_CHECKING:
    from earwitness.studies.file.audio_checks import StudyAudio
    from earwitness.studies.file.page_checks import PageChecks

# --- Study, trials and design --------------------------------------------------------------------


Names = tuple[str, ...]  # of items, systems, scales or files
PAD_LENGTHS, ALLOW_LENGTHS = LENGTH_POLICIES = ("pad", "allow")  # if systems differ in length
STORE_FILE_NAME = "study.db"  # default database, next to the study file


@dataclass(frozen=True, slots=True)
class SpokenText:
    """A transcript: its words, and the start and end of each word in seconds, if known."""

    words: tuple[str, ...] = ()
    times: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Clip:
    """An item of a study, which all systems have: duration, covariates and paths of its files.

    ``captions`` has the captions or summaries by system, if these are judged; ``transcript`` has
    what is said, if words of it are kept or summaries of it are judged.
    """

    name: str
    seconds: float
    covariates: Mapping[str, str | float] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    captions: Mapping[str, str] = field(default_factory=dict)
    transcript: SpokenText = SpokenText()


@dataclass(frozen=True, slots=True)
class Jury:
    """A group of listeners with consecutive numbers, such as experts."""

    name: str
    listeners: int


@dataclass(frozen=True, slots=True)
class StudyBlock:
    """A part of a study with one trial kind.

    A listener hears ``clips`` clips by ``heard`` of the systems in ``sessions`` sessions; answering
    one question takes ``seconds``.
    """

    kind: str
    systems: Names
    clips: int
    sessions: int = 1
    heard: int = 0
    seconds: float = 4.0
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EligibleAnswers:
    """Answers to a question with which a person may take part: options, or a range of numbers."""

    options: Names = ()
    low: float | None = None
    high: float | None = None

    def admits(self, value: Any) -> bool:
        """Return whether a person with this answer may take part."""
        if self.options:
            return value in self.options
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        is_low = self.low is not None and value < self.low
        is_high = self.high is not None and value > self.high
        return not (is_low or is_high)


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a form, before or after listening.

    ``eligible`` are the answers with which a person may take part, if not all.
    """

    name: str
    prompt: str
    answer: str = "text"
    options: Names = ()
    needed: bool = True
    eligible: EligibleAnswers | None = None


@dataclass(frozen=True, slots=True)
class Gold:
    """An expected answer to a practice trial."""

    item: str
    system: str
    scale: str
    value: float


CHECK_ROLES = (GOLD_ROLE, TRAP_ROLE)  # of clips with a known answer


def check_system(role: str) -> str:
    """Return the name that stands in place of a system in trials of clips with a known answer.

    >>> check_system("trap")
    '(trap)'
    """
    return f"({role})"


CHECK_SYSTEMS = tuple(map(check_system, CHECK_ROLES))


@dataclass(frozen=True, slots=True)
class CheckClip:
    """A clip with known answers by scale: a gold clip, or a trap that asks for an answer."""

    name: str
    role: str
    file: str
    seconds: float
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class HearingTest:
    """Digit-triplet hearing test: path pattern of the digits, and the number of triplets.

    With ``max_srt``, people with a higher speech reception threshold (in dB) may not take part.
    """

    digits: str
    triplets: int = 24
    max_srt: float | None = None


SpeechTreatment = Literal["keep", "reverse", "mute"]  # of a long recording
SPEECH_TREATMENTS: tuple[SpeechTreatment, ...] = get_args(SpeechTreatment)


@dataclass(frozen=True, slots=True)
class LongRecording:
    """Long recording that listeners can browse in trials of an item: its files and its clock.

    ``files`` are audio files and folders of consecutive files, ``labels`` are files of labels, all
    relative to the folder of the study. ``start``, ``zone``, ``shown`` and ``hour_gap`` set the
    clock. ``speech`` is what happens to passages with speech.
    """

    item: str
    files: Names
    start: str = ""
    zone: str = ""
    shown: str = ""
    hour_gap: float = 0.0
    speech: SpeechTreatment = "keep"
    labels: Names = ()


POOLINGS, RECORDING_VIEWS = ("max", "mean"), ("levels", "colour")
FREQUENCY_AXES, PALETTES = ("mel", "log", "linear"), ("magma", "viridis", "cividis", "grey")


@dataclass(frozen=True, slots=True)
class RecordingDisplay:
    """How long recordings are shown to all listeners.

    ``range_db`` are the levels at the ends of the colour scale; by default they follow from
    the recording.
    """

    pooling: str = POOLINGS[0]
    view: str = RECORDING_VIEWS[0]
    frequency: str = FREQUENCY_AXES[0]
    gain_db: float = 0.0
    range_db: tuple[float, float] | None = None
    palette: str = PALETTES[0]


@dataclass(frozen=True, slots=True)
class QualityControl:
    """Quality control inside sessions, and what follows from forms and the end of a test.

    Each session has ``gold`` gold clips and ``traps`` trapping clips out of ``clips``; the share
    ``repeats`` of its trials is presented again later in the session. ``ineligible_code`` is shown
    to people who may not take part. With ``results``, listeners see their own ratings at the end.
    """

    clips: tuple[CheckClip, ...] = ()
    gold: int = 0
    traps: int = 0
    repeats: float = 0.0
    ineligible_code: str = ""
    results: bool = False


@dataclass(frozen=True)
class Study:
    """A study as described in its file; ``digest`` is the digest of its design, without texts.

    ``categories`` and ``numbers`` are the covariates on which subsets are balanced; each panel
    hears its own subset. ``reference`` is the folder of references, ``anchors`` are clips that all
    listeners hear first, ``training`` is the number of practice trials; they use
    ``training_items``, which sessions do not, or any clips not heard later. ``plans`` are existing
    plans, if any. ``device`` lists the checks of a listener's device; with ``feedback``, listeners
    see the expected answers (``gold``) after practice. ``juries`` divide the listeners into groups,
    in the order of their numbers. ``lengths`` decides whether the server appends silence to sounds
    that are shorter than others of the same clip. ``quality`` is the quality control inside
    sessions, ``hearing`` the hearing test before the first trial, if any. Only listeners who pass
    the device checks in ``device_required`` within ``device_tries`` tries take part. ``recordings``
    are long recordings of items, which all listeners see as ``recording_display`` says.
    """

    title: str
    seed: int
    material: tuple[Clip, ...]
    blocks: tuple[StudyBlock, ...]
    listeners: int
    panels: int = 1
    rest_minutes: float = 5.0
    categories: Names = ()
    numbers: Names = ()
    files: str = DEFAULT_SOUND_PATTERN
    reference: str = ""
    anchors: tuple[Clip, ...] = ()
    anchor_folder: str = ""
    training: int = 0
    training_items: Names = ()
    language: str = "en"
    wordings: Mapping[str, Any] = field(default_factory=dict)
    instructions: str = ""
    consent: str = ""
    before: tuple[Question, ...] = ()
    after: tuple[Question, ...] = ()
    screening: tuple[Rule, ...] = ()
    analysis: Analysis = field(default_factory=Analysis)
    plans: tuple[ListenerPlan, ...] = ()
    device: Names = ()
    feedback: bool = False
    gold: tuple[Gold, ...] = ()
    juries: tuple[Jury, ...] = ()
    lengths: str = PAD_LENGTHS
    quality: QualityControl = field(default_factory=QualityControl)
    device_required: Names = ()
    device_tries: int = 0
    hearing: HearingTest | None = None
    recordings: tuple[LongRecording, ...] = ()
    recording_display: RecordingDisplay = RecordingDisplay()
    digest: str = ""

    @property
    def systems(self) -> Names:
        """Systems of all blocks."""
        return tuple(dict.fromkeys(name for block in self.blocks for name in block.systems))

    @property
    def anchor_system(self) -> str:
        """Name used for anchors in place of a system."""
        return PurePosixPath(self.anchor_folder).name

    @cached_property
    def clip_seconds(self) -> dict[str, float]:
        """Seconds of all clips by name, with anchors and clips with known answers."""
        checks = {clip.name: clip.seconds for clip in self.quality.clips}
        return checks | {clip.name: clip.seconds for clip in (*self.anchors, *self.material)}

    def jury(self, listener: int) -> str:
        """Return the jury of a listener; empty if the study has no juries."""
        last = 0
        for jury in self.juries:
            last += jury.listeners
            if listener <= last:
                return jury.name
        return ""

    def caption(self, item: str, system: str) -> str:
        """Return the caption of an item by a system; empty if captions are not judged."""
        return self._clips[item].captions.get(system, "") if item in self._clips else ""

    def transcript(self, item: str) -> SpokenText:
        """Return the transcript of an item; empty if the study has no transcripts."""
        return self._clips[item].transcript if item in self._clips else SpokenText()

    def recording(self, item: str) -> LongRecording | None:
        """Return the long recording of an item, if it has one."""
        return next((recording for recording in self.recordings if recording.item == item), None)

    def file(self, item: str, system: str) -> str:
        """Return the path of an audio file, relative to the folder of the study file."""
        path = self._paths.get((item, system))
        if path is None:
            path = self._paths[item, system] = self._path(item, system)
        return path

    def _path(self, item: str, system: str) -> str:
        if not item:
            return system
        if system in CHECK_SYSTEMS:
            return next(clip.file for clip in self.quality.clips if clip.name == item)
        if self.anchors and system == self.anchor_system:
            return f"{self.anchor_folder}/{item}.wav"
        files_of = self._files.get(item, {})
        return files_of.get(system) or self.files.format(system=system, item=item)

    @cached_property
    def _files(self) -> dict[str, Mapping[str, str]]:
        return {clip.name: clip.files for clip in reversed(self.material)}  # the first one wins

    @cached_property
    def _clips(self) -> dict[str, Clip]:
        return {clip.name: clip for clip in self.material}

    @cached_property
    def _paths(self) -> dict[tuple[str, str], str]:
        return {}  # cache


@dataclass(frozen=True, slots=True)
class Trial:
    """One item by one or more systems in the order of presentation, and the scales to answer.

    ``target`` is the index of X, if any; ``against`` is the system that the other one is rated
    against, if two are compared. ``role`` is that of a trial inserted for quality control.
    """

    item: str
    systems: Names
    scales: Names
    block: int = 0
    target: int = 0
    against: str = ""
    role: str = ""

    @property
    def treatment(self) -> Names:
        """The compared systems, independent of their order."""
        return tuple(sorted(self.systems))


Session = tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class ListenerPlan:
    """Plan of one listener: practice and anchors, which do not count, and trials by session."""

    listener: int
    panel: int
    sessions: tuple[Session, ...]
    training: Session = ()
    anchors: Session = ()


@dataclass(frozen=True, slots=True, repr=False)
class Design(Result):
    """Design of a study: subsets per block and panel, and a plan per listener.

    ``audio`` has the measurements of its audio files and notes on them, if they were checked;
    ``page_checks`` has what browsers cannot show.
    """

    study: Study
    subsets: tuple[tuple[Names, ...], ...]
    plans: tuple[ListenerPlan, ...]
    audio: StudyAudio | None = None
    page_checks: PageChecks | None = None


NUMBER_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


def choose_listeners(listeners: str, numbers: Sequence[int]) -> list[int]:
    """Return the chosen numbers in order.

    >>> choose_listeners("2-3, 5", [1, 2, 3, 4, 5]), choose_listeners("", [1, 2])
    ([2, 3, 5], [1, 2])
    """
    wanted = sorted({*_parse_numbers(listeners)}) if listeners.strip() else list(numbers)
    if unknown := [number for number in wanted if number not in {*numbers}]:
        message = f"unknown listener {unknown[0]}"
        raise UsageError(f"listener: {message} — known: {min(numbers)} to {max(numbers)}")
    return wanted


def _parse_numbers(listeners: str) -> Iterator[int]:
    for part in listeners.split(","):
        match = NUMBER_RANGE.fullmatch(part.strip())
        if match is None:
            raise UsageError(
                f'listener: "{part.strip()}" is not a number — write numbers like 1-16,20'
            )
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last - first > 100_000:
            raise UsageError(
                f'listener: "{part.strip()}" is not an ascending range — write ranges like 1-16'
            )
        yield from range(first, last + 1)
