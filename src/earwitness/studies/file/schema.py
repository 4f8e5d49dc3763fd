"""Keys of study.yaml with their types, defaults and meanings, and its JSON Schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from earwitness.analysis.plan import (
    ANALYSIS_ADJUSTMENTS,
    ANALYSIS_CORRECTIONS,
    ANALYSIS_INTERVALS,
    ANALYSIS_TESTS,
    POPULATIONS,
    AnalysisBlock,
)
from earwitness.analysis.screening import PRESETS, SCREENS
from earwitness.docstrings import parameter_phrases
from earwitness.io.formats import list_titles
from earwitness.io.schema import Name, choice_of, derive_check, number_range, whole_range
from earwitness.navigator.labels import LABELS
from earwitness.ratings.rubric import LANGUAGES, ROLES
from earwitness.studies.device import DEFAULT_DEVICE_TRIES, DEVICE_STEPS, REQUIRED_STEPS
from earwitness.studies.study import (
    FREQUENCY_AXES,
    LENGTH_POLICIES,
    PAD_LENGTHS,
    PALETTES,
    POOLINGS,
    RECORDING_VIEWS,
    SPEECH_TREATMENTS,
)
from earwitness.studies.trials import KINDS
from earwitness.studies.trials.base import TrialKind

# --- Field types ---------------------------------------------------------------------------------


Count = Annotated[int, whole_range(0)]
Positive = Annotated[int, whole_range(1)]
Amount = Annotated[float, number_range(0)]
NonEmpty = Meta(min_length=1)
NameList = list[Name]


class Keys(Struct, forbid_unknown_fields=True):
    """Base class of the keys of one level of a study file; its docstring describes each key."""


# --- Balance and blocks --------------------------------------------------------------------------


class BalanceKeys(Keys):
    """Covariates on which the subsets of panels are balanced.

    Parameters
    ----------
    categories
        Categorical columns of the material, balanced across panels.
    numbers
        Numeric columns of the material whose means are balanced across panels.
    """

    categories: NameList = []
    numbers: NameList = []


class BlockKeys(Keys):
    """A part of a study with one trial kind.

    Parameters
    ----------
    kind
        Trial kind: what is presented and asked.
    parameters
        Parameters of the trial kind.
    systems
        Systems of this block (default: all systems).
    heard
        Number of systems per listener (default: all systems of the block).
    clips
        Number of clips per listener (default: all clips of the panel).
    sessions
        Number of sessions, with a break between sessions.
    rating_seconds
        Expected time to answer one question, in seconds.
    """

    kind: Annotated[str, choice_of("kind", KINDS)]
    parameters: dict[str, Any] = {}
    systems: Annotated[NameList, NonEmpty] | UnsetType = UNSET
    heard: Positive | UnsetType = UNSET
    clips: Positive | UnsetType = UNSET
    sessions: Positive = 1
    rating_seconds: Amount = 4


# --- Forms, screening and analysis ---------------------------------------------------------------


class EligibleRangeKeys(Keys):
    """Numbers with which a person may take part.

    Parameters
    ----------
    min
        Smallest number.
    max
        Largest number.
    """

    min: float | UnsetType = UNSET
    max: float | UnsetType = UNSET


class QuestionKeys(Keys):
    """A question of a form.

    Parameters
    ----------
    name
        Name of the field in the answers.
    prompt
        Text of the question.
    answer
        Type of the answer.
    options
        Options of a choice, at least 2.
    needed
        Whether an answer is required.
    eligible
        Answers with which a person may take part: options of a choice, or min and max of a number;
        other answers end the test politely.
    """

    name: Name
    prompt: str
    answer: Annotated[str, choice_of("answer", ("text", "number", "choice"))] = "text"
    options: Annotated[list[str], Meta(min_length=2)] | UnsetType = UNSET
    needed: bool = True
    eligible: Annotated[list[str], NonEmpty] | EligibleRangeKeys | UnsetType = UNSET


class FormKeys(Keys):
    """Questionnaires before and after listening.

    Parameters
    ----------
    before
        Questions before listening.
    after
        Questions after listening.
    """

    before: list[QuestionKeys] = []
    after: list[QuestionKeys] = []


class HearingKeys(Keys):
    """A digit-triplet hearing test.

    Parameters
    ----------
    digits
        Path pattern of recordings of the digits, such as digits/{digit}.wav.
    triplets
        Number of triplets of digits.
    max_srt
        Highest speech reception threshold (dB) of people who may take part (default: all may).
    """

    digits: str
    triplets: Annotated[int, whole_range(8, 60)] = 24
    max_srt: Annotated[float, number_range(-30, 10)] | UnsetType = UNSET


class QualityKeys(Keys):
    """Quality control inside sessions.

    Parameters
    ----------
    clips
        Table of gold and trapping clips, CSV: file, role (gold or trap), scale (empty: all
        scales), value.
    gold
        Number of gold clips per session (default: 1 if the table has any).
    traps
        Number of trapping clips per session (default: 1 if the table has any).
    repeats
        Share of the trials of a session that are presented again later in it; if each session has
        one trial, in further sessions at the end.
    ineligible_code
        Code shown to people who may not take part.
    results
        Whether listeners see their own ratings at the end.
    """

    clips: str | UnsetType = UNSET
    gold: Count | UnsetType = UNSET
    traps: Count | UnsetType = UNSET
    repeats: Annotated[float, number_range(0, 0.5)] = 0
    ineligible_code: str = ""
    results: bool = False


class RuleKeys(Keys):
    """A screening rule.

    Parameters
    ----------
    rule
        Screening rule, which decides which listeners are excluded.
    limits
        Limits that replace the defaults of the rule.
    """

    rule: Annotated[str, choice_of("rule", (*SCREENS, *PRESETS))]
    limits: dict[str, float] = {}


PLAN = AnalysisBlock()


class AnalysisKeys(Keys):
    """The planned analysis.

    Parameters
    ----------
    anchors
        Systems that are rated but not ranked: a list for all scales, or one list per scale.
    """

    scales: NameList = []
    contrasts: list[tuple[Name, Name]] = []
    interval: Annotated[str, choice_of("interval", ANALYSIS_INTERVALS)] = PLAN.interval
    generalize: Annotated[str, choice_of("generalize", tuple(POPULATIONS))] | UnsetType = UNSET
    level: Annotated[float, number_range(0.5, 0.9999)] = PLAN.level
    correction: Annotated[str, choice_of("correction", ANALYSIS_CORRECTIONS)] = PLAN.correction
    test: Annotated[str, choice_of("test", ANALYSIS_TESTS)] = PLAN.test
    adjust: Annotated[str, choice_of("adjust", ANALYSIS_ADJUSTMENTS)] = PLAN.adjust
    anchors: NameList | dict[str, NameList] = []
    by: NameList = []
    margins: dict[str, Amount] = {}


DESCRIBED_BY = {AnalysisKeys: AnalysisBlock}  # descriptions of keys that are not in the docstring


# --- Wordings ------------------------------------------------------------------------------------


class ScaleKeys(Keys):
    """Texts of a scale.

    Parameters
    ----------
    prompt
        Text of the question.
    labels
        Labels of the answers, best first.
    """

    prompt: str | UnsetType = UNSET
    labels: Annotated[list[str], Meta(min_length=2)] | UnsetType = UNSET


class WordingKeys(Keys):
    """Custom texts that replace those of the language.

    Parameters
    ----------
    pages
        Titles and buttons, by name.
    web
        Texts of browser pages, by name.
    scales
        Questions and labels, by scale.
    """

    pages: dict[str, str] = {}
    web: dict[str, str] = {}
    scales: dict[str, ScaleKeys] = {}


# --- Rubrics -------------------------------------------------------------------------------------


class DimensionKeys(Keys):
    """A dimension of a rubric.

    Parameters
    ----------
    name
        Name of the dimension, one word.
    low
        Lowest value.
    high
        Highest value (0 for a penalty).
    step
        Step between values.
    role
        Whether the dimension adds to the total (score) or reduces it (penalty).
    good
        Better end of the dimension (default: high).
    title
        Title shown to raters.
    help
        Explanation of what is judged.
    anchors
        Meaning of some values.
    """

    name: Name
    low: float
    high: float
    step: Annotated[float, number_range(1e-6)]
    role: Annotated[str, choice_of("role", ROLES)] = "score"
    good: Annotated[str, choice_of("end", ("high", "low"))] | UnsetType = UNSET
    title: str | UnsetType = UNSET
    help: str | UnsetType = UNSET
    anchors: dict[str, str] | UnsetType = UNSET


class ExampleKeys(Keys, kw_only=True):
    """A worked example: a caption with its ratings.

    Parameters
    ----------
    heard
        Description of the sound.
    sound
        Path of an audio file.
    caption
        Caption of the example.
    values
        Value of each dimension.
    comment
        Explanation of the values.
    """

    heard: str | UnsetType = UNSET
    sound: str | UnsetType = UNSET
    caption: str
    values: dict[str, float]
    comment: str | UnsetType = UNSET


class RubricKeys(Keys):
    """A rubric: a modified built-in rubric, or a new one.

    Parameters
    ----------
    name
        Name of a built-in rubric, or of a new one.
    title
        Title shown to raters.
    dimensions
        Dimensions in the order of the page.
    total
        Formula of the total: dimensions, + - * / and parentheses.
    examples
        Worked examples, shown before the first trial.
    """

    name: Name
    title: str | UnsetType = UNSET
    dimensions: Annotated[list[DimensionKeys], NonEmpty] | UnsetType = UNSET
    total: str | UnsetType = UNSET
    examples: list[ExampleKeys] | UnsetType = UNSET


# --- Device checks -------------------------------------------------------------------------------


DeviceSteps = list[Annotated[str, choice_of("step", DEVICE_STEPS)]]


class DeviceKeys(Keys):
    """Checks of the listener's device, and those that must be passed.

    Parameters
    ----------
    steps
        Checks, in order.
    require
        Checks that listeners must pass to take part (5 of 6 rounds).
    tries
        Number of tries before a listener is turned away.
    """

    steps: Annotated[DeviceSteps, NonEmpty]
    require: list[Annotated[str, choice_of("step", REQUIRED_STEPS)]] = []
    tries: Positive = DEFAULT_DEVICE_TRIES


# --- Long recordings -----------------------------------------------------------------------------


PathList = Annotated[list[str], NonEmpty]
LABEL_FILES = f"files to show: {list_titles(LABELS)}, or picks of a skim"


class RecordingKeys(Keys):
    """A long recording: its files, its clock and its speech.

    Parameters
    ----------
    files
        Audio files and folders of consecutive files, which form one timeline.
    start
        Start time of the first file, ISO 8601 (default: from file names).
    zone
        Time zone of file names and start, such as Europe/Paris.
    shown
        Time zone of displayed times (default: the same as zone).
    hour_gap
        Length of silences that separate hours, in seconds (0: none).
    speech
        Passages with speech: keep, play backwards (reverse), or silence (mute).
    """

    files: str | PathList
    start: str = ""
    zone: str = ""
    shown: str = ""
    hour_gap: Amount = 0
    speech: Annotated[str, choice_of("speech", SPEECH_TREATMENTS)] = SPEECH_TREATMENTS[0]
    labels: Annotated[str | PathList, Meta(description=LABEL_FILES)] | UnsetType = UNSET


class DisplayKeys(Keys):
    """How long recordings are shown, the same for all listeners.

    Parameters
    ----------
    pooling
        Level of a pixel: the largest or the mean level of its time span.
    view
        Levels, or false colours of acoustic indices where whole hours are seen.
    frequency
        Frequency axis.
    gain_db
        Added to all displayed levels, in dB.
    range_db
        Levels at the ends of the colour scale, in dB (default: from the recording).
    palette
        Colours of levels.
    """

    pooling: Annotated[str, choice_of("pooling", POOLINGS)] = POOLINGS[0]
    view: Annotated[str, choice_of("view", RECORDING_VIEWS)] = RECORDING_VIEWS[0]
    frequency: Annotated[str, choice_of("frequency", FREQUENCY_AXES)] = FREQUENCY_AXES[0]
    gain_db: Annotated[float, number_range(-60, 60)] = 0
    range_db: tuple[float, float] | UnsetType = UNSET
    palette: Annotated[str, choice_of("palette", PALETTES)] = PALETTES[0]


# --- The study file ------------------------------------------------------------------------------


class StudyKeys(Keys, kw_only=True):
    """Keys of a study file.

    Parameters
    ----------
    title
        Title of the study.
    seed
        Random seed of the design.
    systems
        Names of the systems, one folder each.
    files
        Path pattern of audio files, such as {system}/{item}.wav; if set, all files must exist.
    material
        Table of clips, CSV or JSONL: name, seconds, covariates (default: all files in the folders).
    reference
        Folder of reference audio files.
    anchors
        Folder of audio files that all listeners rate before the first session.
    training
        Number of practice trials of the first block, of clips not heard later.
    training_items
        Clips of practice trials only (default: any clips not heard later).
    feedback
        Whether listeners see the expected answers after practice trials.
    gold
        Table of expected answers to practice trials, CSV: item, system, scale, value.
    captions
        Table of captions, CSV or JSONL: item, system, caption.
    transcripts
        Transcripts for words and reading: a table, JSONL or CSV (item, and transcript, words or
        ctm), or a path pattern such as transcripts/{item}.ctm.
    summaries
        Summaries for reading: scored outputs (JSONL), or a table with item, system and summary.
    rubric
        Rubric by which captions are judged (default: thumbs).
    device
        Checks of the listener's device before the first trial: a list of steps, or steps and those
        that listeners must pass.
    lengths
        Sounds of a clip that differ in length between systems: pad appends silence in browsers, so
        that file sizes do not reveal the system.
    hearing
        Digit-triplet hearing test in noise before the first trial.
    recordings
        Long recording of an item, by item, which listeners can browse in its trials: a path, a list
        of paths, or keys.
    recording_display
        How long recordings are shown to all listeners.
    balance
        Covariates on which subsets are balanced.
    listeners
        Number of listeners (required unless rows is set).
    juries
        Groups of listeners by name, such as experts, with the size of each.
    panels
        Number of listener groups, each with its own subset of clips.
    rest_minutes
        Break between sessions, in minutes; 0: no break.
    blocks
        Blocks of the study, in order.
    rows
        Folder with existing playlists, one per listener.
    language
        Language of the pages.
    wordings
        Custom texts that replace those of the language.
    instructions
        Text shown before the first trial.
    consent
        Consent text that listeners must accept.
    forms
        Questionnaires before and after listening.
    quality
        Gold, trapping and repeated trials, and what listeners see at the end.
    screening
        Rules by which listeners are excluded from the analysis.
    analysis
        Planned analysis.
    """

    title: str
    seed: Annotated[int, whole_range(0, 2**53)] = 0
    systems: Annotated[NameList, NonEmpty]
    files: str | UnsetType = UNSET
    material: str | UnsetType = UNSET
    reference: Name | UnsetType = UNSET
    anchors: str | UnsetType = UNSET
    training: Count = 0
    training_items: NameList = []
    feedback: bool = False
    gold: str | UnsetType = UNSET
    captions: str | UnsetType = UNSET
    transcripts: str | UnsetType = UNSET
    summaries: str | UnsetType = UNSET
    rubric: Name | RubricKeys | UnsetType = UNSET
    device: DeviceSteps | DeviceKeys = []
    lengths: Annotated[str, choice_of("lengths", LENGTH_POLICIES)] = PAD_LENGTHS
    hearing: HearingKeys | UnsetType = UNSET
    recordings: dict[str, str | PathList | RecordingKeys] = {}
    recording_display: DisplayKeys = field(default_factory=DisplayKeys)
    balance: BalanceKeys = field(default_factory=BalanceKeys)
    listeners: Positive | UnsetType = UNSET
    juries: dict[str, Positive] = {}
    panels: Positive = 1
    rest_minutes: Amount = 5
    blocks: Annotated[list[BlockKeys], NonEmpty]
    rows: str | UnsetType = UNSET
    language: Annotated[str, choice_of("language", LANGUAGES)] = "en"
    wordings: WordingKeys = field(default_factory=WordingKeys)
    instructions: str = ""
    consent: str = ""
    forms: FormKeys = field(default_factory=FormKeys)
    quality: QualityKeys = field(default_factory=QualityKeys)
    screening: list[RuleKeys] = []
    analysis: AnalysisKeys = field(default_factory=AnalysisKeys)


check_study_file = derive_check(StudyKeys, hints=False)

# --- Contradictions between keys -----------------------------------------------------------------


# key, attribute of the kinds that use it, message if no block uses it, remedy if it is required
KEYS_FOR_KINDS = (
    (
        "transcripts",
        "transcribed",
        "no block is about transcripts",
        "name a table with item and transcript, or a pattern such as texts/{item}.txt",
    ),
    (
        "summaries",
        "summarized",
        "no block rates summaries",
        "name a file of outputs: item, system and output",
    ),
    (
        "captions",
        "captioned",
        "no block judges captions",
        "add a table with the columns item, system and caption",
    ),
    ("rubric", "captioned", "no block judges captions", ""),
)
# attribute that all kinds of a study have or none has, message, and where other keys do not apply
SEPARATE_KINDS = (
    (
        "transcribed",
        "transcripts cannot be in the same study as audio or captions",
        "for transcripts",
    ),
    (
        "captioned",
        "captions and audio cannot be rated in the same study",
        "when captions are judged",
    ),
)
KEYS_OF_AUDIO = ("rows", "feedback")  # do not apply to kinds without audio
KEYS_WITHOUT_ROWS = {
    "listeners": "not supported together with rows",
    "juries": "not supported together with rows",
    "quality.clips": "not supported together with rows, which set all trials",
    "quality.repeats": "not supported together with rows, which set all trials",
}
PRACTICE_NEEDED = ("training", "rows"), "the study has no practice trials", "set training"
CLIPS_NEEDED = ("quality.clips",), "needs clips with known answers", "set quality.clips"
# key, keys of which it needs one, message, remedy
NEEDED_KEYS = (
    ("training_items", *PRACTICE_NEEDED),
    ("feedback", *PRACTICE_NEEDED),
    ("gold", ("feedback",), "used only with feedback", "write feedback: true"),
    ("quality.gold", *CLIPS_NEEDED),
    ("quality.traps", *CLIPS_NEEDED),
)
NOT_SINGLE = ", which does not rate clips one at a time"
# key, whether a kind supports it, reason if it does not
KIND_SUPPORT: tuple[tuple[str, Callable[[TrialKind], object], str], ...] = (
    ("anchors", lambda kind: kind.is_single and not kind.open_reference, NOT_SINGLE),
    ("quality.clips", lambda kind: kind.is_single and not kind.open_reference, NOT_SINGLE),
    ("quality.results", lambda kind: kind.is_single, NOT_SINGLE),
    ("quality.repeats", lambda kind: kind.results() and not kind.captioned, ""),
)


def study_schema() -> dict[str, Any]:
    """Return the JSON Schema of the study file, with the descriptions of all keys."""
    schema = msgspec.json.schema(StudyKeys)
    for struct in Keys.__subclasses__():
        keys = schema["$defs"][struct.__name__]
        keys["description"] = keys["description"].partition("\n")[0]
        own = parameter_phrases(struct)
        shared = parameter_phrases(DESCRIBED_BY[struct]) if struct in DESCRIBED_BY else {}
        for name, text in (shared | own).items():
            keys["properties"][name] = {"description": text, **keys["properties"][name]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Earwitness study file",
        **schema,
    }
