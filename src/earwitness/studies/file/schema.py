"""Keys of study.yaml with their types, defaults and meanings, and its JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from earwitness.analysis.plan import (
    ANALYSIS_ADJUSTMENTS,
    ANALYSIS_CORRECTIONS,
    ANALYSIS_INTERVALS,
    ANALYSIS_TESTS,
    POPULATIONS,
)
from earwitness.analysis.screening import PRESETS, SCREENS
from earwitness.io.schema import Name, choice_of, derive_check, number_range, whole_range
from earwitness.ratings.names import DEFAULT_SOUND_PATTERN
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

# --- Field types ---------------------------------------------------------------------------------


Positive = Annotated[int, whole_range(1)]
Amount = Annotated[float, number_range(0)]
NonEmpty = Meta(min_length=1)
NameList = list[Name]


class Keys(Struct, forbid_unknown_fields=True):
    """Base class of the keys of one level of a study file."""


def about(description: str) -> Meta:
    """Return the description of a key."""
    return Meta(description=description)


# --- Balance and blocks --------------------------------------------------------------------------


class BalanceKeys(Keys, kw_only=True):
    """Covariates on which the subsets of panels are balanced."""

    categories: Annotated[
        NameList, about("categorical columns of the material, balanced across panels")
    ] = []
    numbers: Annotated[
        NameList,
        about("numeric columns of the material whose means are balanced across panels"),
    ] = []


class BlockKeys(Keys, kw_only=True):
    """A part of a study with one trial kind."""

    kind: Annotated[str, choice_of("kind", KINDS), about("trial kind: what is presented and asked")]
    parameters: Annotated[dict[str, Any], about("parameters of the trial kind")] = {}
    systems: (
        Annotated[NameList, NonEmpty, about("systems of this block (default: all systems)")]
        | UnsetType
    ) = UNSET
    heard: (
        Annotated[
            Positive,
            about("number of systems per listener (default: all systems of the block)"),
        ]
        | UnsetType
    ) = UNSET
    clips: (
        Annotated[
            Positive,
            about("number of clips per listener (default: all clips of the panel)"),
        ]
        | UnsetType
    ) = UNSET
    sessions: Annotated[Positive, about("number of sessions, with a break between sessions")] = 1
    rating_seconds: Annotated[Amount, about("expected time to answer one question, in seconds")] = 4


# --- Forms, screening and analysis ---------------------------------------------------------------


class EligibleRangeKeys(Keys, kw_only=True):
    """Numbers with which a person may take part."""

    min: Annotated[float, about("smallest number")] | UnsetType = UNSET
    max: Annotated[float, about("largest number")] | UnsetType = UNSET


class QuestionKeys(Keys, kw_only=True):
    """A question of a form."""

    name: Annotated[Name, about("name of the field in the answers")]
    prompt: Annotated[str, about("text of the question")]
    answer: Annotated[
        str,
        choice_of("answer", ("text", "number", "choice")),
        about("type of the answer"),
    ] = "text"
    options: (
        Annotated[list[str], Meta(min_length=2), about("options of a choice, at least 2")]
        | UnsetType
    ) = UNSET
    needed: Annotated[bool, about("whether an answer is required")] = True
    eligible: Annotated[
        Annotated[list[str], NonEmpty] | EligibleRangeKeys | UnsetType,
        about(
            "answers with which a person may take part: options of a choice, or min "
            "and max of a number; other answers end the test politely"
        ),
    ] = UNSET


class FormKeys(Keys, kw_only=True):
    """Questionnaires before and after listening."""

    before: Annotated[list[QuestionKeys], about("questions before listening")] = []
    after: Annotated[list[QuestionKeys], about("questions after listening")] = []


class HearingKeys(Keys, kw_only=True):
    """A digit-triplet hearing test."""

    digits: Annotated[
        str,
        about("path pattern of recordings of the digits, such as digits/{digit}.wav"),
    ]
    triplets: Annotated[int, whole_range(8, 60), about("number of triplets of digits")] = 24
    max_srt: (
        Annotated[
            float,
            number_range(-30, 10),
            about(
                "highest speech reception threshold (dB) of people who may take part "
                "(default: all may)"
            ),
        ]
        | UnsetType
    ) = UNSET


class QualityKeys(Keys, kw_only=True):
    """Quality control inside sessions."""

    clips: (
        Annotated[
            str,
            about(
                "table of gold and trapping clips, CSV: file, role (gold or trap), "
                "scale (empty: all scales), value"
            ),
        ]
        | UnsetType
    ) = UNSET
    gold: (
        Annotated[
            int,
            whole_range(0),
            about("number of gold clips per session (default: 1 if the table has any)"),
        ]
        | UnsetType
    ) = UNSET
    traps: (
        Annotated[
            int,
            whole_range(0),
            about("number of trapping clips per session (default: 1 if the table has any)"),
        ]
        | UnsetType
    ) = UNSET
    repeats: Annotated[
        float,
        number_range(0, 0.5),
        about(
            "share of the trials of a session that are presented again later in it; if "
            "each session has one trial, in further sessions at the end"
        ),
    ] = 0
    ineligible_code: Annotated[str, about("code shown to people who may not take part")] = ""
    results: Annotated[bool, about("whether listeners see their own ratings at the end")] = False


class RuleKeys(Keys, kw_only=True):
    """A screening rule."""

    rule: Annotated[
        str,
        choice_of("rule", (*SCREENS, *PRESETS)),
        about("screening rule, which decides which listeners are excluded"),
    ]
    limits: Annotated[dict[str, float], about("limits that replace the defaults of the rule")] = {}


class AnalysisKeys(Keys, kw_only=True):
    """The planned analysis."""

    scales: Annotated[NameList, about("scales to analyse (default: all)")] = []
    contrasts: Annotated[
        list[tuple[Name, Name]],
        about("pairs of systems to compare (default: all pairs)"),
    ] = []
    interval: Annotated[
        str,
        choice_of("interval", ANALYSIS_INTERVALS),
        about("method for confidence intervals"),
    ] = "cluster_t"
    generalize: (
        Annotated[
            str,
            choice_of("generalize", tuple(POPULATIONS)),
            about(
                "to whom results generalize: other listeners on these items, or other "
                "items as well (interval mixed)"
            ),
        ]
        | UnsetType
    ) = UNSET
    level: Annotated[float, number_range(0.5, 0.9999), about("confidence level")] = 0.95
    correction: Annotated[
        str,
        choice_of("correction", ANALYSIS_CORRECTIONS),
        about("correction for multiple comparisons"),
    ] = "holm"
    test: Annotated[
        str,
        choice_of("test", ANALYSIS_TESTS),
        about(
            "test of pairs of systems; wilcoxon: signed-rank tests over listeners, and "
            "a Friedman test of all systems"
        ),
    ] = "t"
    adjust: Annotated[
        str,
        choice_of("adjust", ANALYSIS_ADJUSTMENTS),
        about("what means are adjusted for, if systems were rated on different items"),
    ] = "none"
    anchors: Annotated[
        NameList | dict[str, NameList],
        about(
            "systems that are rated but not ranked: a list for all scales, or one list per scale"
        ),
    ] = []
    by: Annotated[
        NameList,
        about(
            "fields by which results are grouped: columns of the material, jury, or "
            "questions of forms; for captions, dataset and jury by default (none: no grouping)"
        ),
    ] = []
    margins: Annotated[
        dict[str, Amount],
        about("equivalence margin per scale: systems that differ by less are equivalent"),
    ] = {}


# --- Wordings ------------------------------------------------------------------------------------


class ScaleKeys(Keys, kw_only=True):
    """Texts of a scale."""

    prompt: Annotated[str, about("text of the question")] | UnsetType = UNSET
    labels: (
        Annotated[list[str], Meta(min_length=2), about("labels of the answers, best first")]
        | UnsetType
    ) = UNSET


class WordingKeys(Keys, kw_only=True):
    """Custom texts that replace those of the language."""

    pages: Annotated[dict[str, str], about("titles and buttons, by name")] = {}
    web: Annotated[dict[str, str], about("texts of browser pages, by name")] = {}
    scales: Annotated[dict[str, ScaleKeys], about("questions and labels, by scale")] = {}


# --- Rubrics -------------------------------------------------------------------------------------


class DimensionKeys(Keys, kw_only=True):
    """A dimension of a rubric."""

    name: Annotated[Name, about("name of the dimension, one word")]
    low: Annotated[float, about("lowest value")]
    high: Annotated[float, about("highest value (0 for a penalty)")]
    step: Annotated[float, number_range(1e-6), about("step between values")]
    role: Annotated[
        str,
        choice_of("role", ROLES),
        about("whether the dimension adds to the total (score) or reduces it (penalty)"),
    ] = "score"
    good: (
        Annotated[
            str,
            choice_of("end", ("high", "low")),
            about("better end of the dimension (default: high)"),
        ]
        | UnsetType
    ) = UNSET
    title: Annotated[str, about("title shown to raters")] | UnsetType = UNSET
    help: Annotated[str, about("explanation of what is judged")] | UnsetType = UNSET
    anchors: Annotated[dict[str, str], about("meaning of some values")] | UnsetType = UNSET


class ExampleKeys(Keys, kw_only=True):
    """A worked example: a caption with its ratings."""

    heard: Annotated[str, about("description of the sound")] | UnsetType = UNSET
    sound: Annotated[str, about("path of an audio file")] | UnsetType = UNSET
    caption: Annotated[str, about("caption of the example")]
    values: Annotated[dict[str, float], about("value of each dimension")]
    comment: Annotated[str, about("explanation of the values")] | UnsetType = UNSET


class RubricKeys(Keys, kw_only=True):
    """A rubric: a modified built-in rubric, or a new one."""

    name: Annotated[Name, about("name of a built-in rubric, or of a new one")]
    title: Annotated[str, about("title shown to raters")] | UnsetType = UNSET
    dimensions: (
        Annotated[list[DimensionKeys], NonEmpty, about("dimensions in the order of the page")]
        | UnsetType
    ) = UNSET
    total: (
        Annotated[str, about("formula of the total: dimensions, + - * / and parentheses")]
        | UnsetType
    ) = UNSET
    examples: (
        Annotated[list[ExampleKeys], about("worked examples, shown before the first trial")]
        | UnsetType
    ) = UNSET


# --- Device checks -------------------------------------------------------------------------------


DeviceSteps = list[Annotated[str, choice_of("step", DEVICE_STEPS)]]


class DeviceKeys(Keys, kw_only=True):
    """Checks of the listener's device, and those that must be passed."""

    steps: Annotated[DeviceSteps, NonEmpty, about("checks, in order")]
    require: Annotated[
        list[Annotated[str, choice_of("step", REQUIRED_STEPS)]],
        about("checks that listeners must pass to take part (5 of 6 rounds)"),
    ] = []
    tries: Annotated[Positive, about("number of tries before a listener is turned away")] = (
        DEFAULT_DEVICE_TRIES
    )


# --- Long recordings -----------------------------------------------------------------------------


PathList = Annotated[list[str], NonEmpty]


class RecordingKeys(Keys, kw_only=True):
    """A long recording: its files, its clock and its speech."""

    files: Annotated[
        str | PathList,
        about("audio files and folders of consecutive files, which form one timeline"),
    ]
    start: Annotated[
        str, about("start time of the first file, ISO 8601 (default: from file names)")
    ] = ""
    zone: Annotated[str, about("time zone of file names and start, such as Europe/Paris")] = ""
    shown: Annotated[str, about("time zone of displayed times (default: the same as zone)")] = ""
    hour_gap: Annotated[
        Amount, about("length of silences that separate hours, in seconds (0: none)")
    ] = 0
    speech: Annotated[
        str,
        choice_of("speech", SPEECH_TREATMENTS),
        about("passages with speech: keep, play backwards (reverse), or silence (mute)"),
    ] = SPEECH_TREATMENTS[0]
    labels: Annotated[
        str | PathList | UnsetType,
        about("files of labels to show: Audacity, Raven, CSV, or picks of a skim"),
    ] = UNSET


class DisplayKeys(Keys, kw_only=True):
    """How long recordings are shown, the same for all listeners."""

    pooling: Annotated[
        str,
        choice_of("pooling", POOLINGS),
        about("level of a pixel: the largest or the mean level of its time span"),
    ] = POOLINGS[0]
    view: Annotated[
        str,
        choice_of("view", RECORDING_VIEWS),
        about("levels, or false colours of acoustic indices where whole hours are seen"),
    ] = RECORDING_VIEWS[0]
    frequency: Annotated[str, choice_of("frequency", FREQUENCY_AXES), about("frequency axis")] = (
        FREQUENCY_AXES[0]
    )
    gain_db: Annotated[
        float, number_range(-60, 60), about("added to all displayed levels, in dB")
    ] = 0
    range_db: (
        Annotated[
            tuple[float, float],
            about("levels at the ends of the colour scale, in dB (default: from the recording)"),
        ]
        | UnsetType
    ) = UNSET
    palette: Annotated[str, choice_of("palette", PALETTES), about("colours of levels")] = PALETTES[
        0
    ]


# --- The study file ------------------------------------------------------------------------------


class StudyKeys(Keys, kw_only=True):
    """Keys of a study file."""

    title: Annotated[str, about("title of the study")]
    seed: Annotated[int, whole_range(0, 2**53), about("random seed of the design")] = 0
    systems: Annotated[NameList, NonEmpty, about("names of the systems, one folder each")]
    files: (
        Annotated[
            str,
            about(
                f"path pattern of audio files, such as {DEFAULT_SOUND_PATTERN}; if "
                "set, all files must exist"
            ),
        ]
        | UnsetType
    ) = UNSET
    material: (
        Annotated[
            str,
            about(
                "table of clips, CSV or JSONL: name, seconds, covariates (default: all "
                "files in the folders)"
            ),
        ]
        | UnsetType
    ) = UNSET
    reference: Annotated[Name, about("folder of reference audio files")] | UnsetType = UNSET
    anchors: (
        Annotated[
            str,
            about("folder of audio files that all listeners rate before the first session"),
        ]
        | UnsetType
    ) = UNSET
    training: Annotated[
        int,
        whole_range(0),
        about("number of practice trials of the first block, of clips not heard later"),
    ] = 0
    training_items: Annotated[
        NameList,
        about("clips of practice trials only (default: any clips not heard later)"),
    ] = []
    feedback: Annotated[
        bool, about("whether listeners see the expected answers after practice trials")
    ] = False
    gold: (
        Annotated[
            str,
            about("table of expected answers to practice trials, CSV: item, system, scale, value"),
        ]
        | UnsetType
    ) = UNSET
    captions: (
        Annotated[
            str,
            about("table of captions, CSV or JSONL: item, system, caption"),
        ]
        | UnsetType
    ) = UNSET
    transcripts: (
        Annotated[
            str,
            about(
                "transcripts for words and reading: a table, JSONL or CSV (item, and "
                "transcript, words or ctm), or a path pattern such as transcripts/{item}.ctm"
            ),
        ]
        | UnsetType
    ) = UNSET
    summaries: (
        Annotated[
            str,
            about(
                "summaries for reading: scored outputs (JSONL), or a table with item, "
                "system and summary"
            ),
        ]
        | UnsetType
    ) = UNSET
    rubric: Annotated[
        Name | RubricKeys | UnsetType,
        about("rubric by which captions are judged (default: thumbs)"),
    ] = UNSET
    device: Annotated[
        DeviceSteps | DeviceKeys,
        about(
            "checks of the listener's device before the first trial: a list of steps, "
            "or steps and those that listeners must pass"
        ),
    ] = []
    lengths: Annotated[
        str,
        choice_of("lengths", LENGTH_POLICIES),
        about(
            "sounds of a clip that differ in length between systems: pad appends "
            "silence in browsers, so that file sizes do not reveal the system"
        ),
    ] = PAD_LENGTHS
    hearing: Annotated[
        HearingKeys | UnsetType,
        about("digit-triplet hearing test in noise before the first trial"),
    ] = UNSET
    recordings: Annotated[
        dict[str, str | PathList | RecordingKeys],
        about(
            "long recording of an item, by item, which listeners can browse in its "
            "trials: a path, a list of paths, or keys"
        ),
    ] = {}
    recording_display: Annotated[
        DisplayKeys, about("how long recordings are shown to all listeners")
    ] = field(default_factory=DisplayKeys)
    balance: Annotated[BalanceKeys, about("covariates on which subsets are balanced")] = field(
        default_factory=BalanceKeys
    )
    listeners: (
        Annotated[Positive, about("number of listeners (required unless rows is set)")] | UnsetType
    ) = UNSET
    juries: Annotated[
        dict[str, Positive],
        about("groups of listeners by name, such as experts, with the size of each"),
    ] = {}
    panels: Annotated[
        Positive, about("number of listener groups, each with its own subset of clips")
    ] = 1
    rest_minutes: Annotated[Amount, about("break between sessions, in minutes; 0: no break")] = 5
    blocks: Annotated[list[BlockKeys], NonEmpty, about("blocks of the study, in order")]
    rows: Annotated[str, about("folder with existing playlists, one per listener")] | UnsetType = (
        UNSET
    )
    language: Annotated[str, choice_of("language", LANGUAGES), about("language of the pages")] = (
        "en"
    )
    wordings: Annotated[WordingKeys, about("custom texts that replace those of the language")] = (
        field(default_factory=WordingKeys)
    )
    instructions: Annotated[str, about("text shown before the first trial")] = ""
    consent: Annotated[str, about("consent text that listeners must accept")] = ""
    forms: Annotated[FormKeys, about("questionnaires before and after listening")] = field(
        default_factory=FormKeys
    )
    quality: Annotated[
        QualityKeys,
        about("gold, trapping and repeated trials, and what listeners see at the end"),
    ] = field(default_factory=QualityKeys)
    screening: Annotated[
        list[RuleKeys], about("rules by which listeners are excluded from the analysis")
    ] = []
    analysis: Annotated[AnalysisKeys, about("planned analysis")] = field(
        default_factory=AnalysisKeys
    )


check_study_file = derive_check(StudyKeys, hints=False)


def study_schema() -> dict[str, Any]:
    """Return the JSON Schema of the study file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Earwitness study file",
        **msgspec.json.schema(StudyKeys),
    }
