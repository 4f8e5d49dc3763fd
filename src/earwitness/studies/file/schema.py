"""Keys of study.yaml with their types, defaults and meanings, and its JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from earwitness.io.schema import Name, choice_of, derive_check, number_range, whole_range
from earwitness.studies.device import DEVICE_STEPS
from earwitness.studies.rubric import ROLES
from earwitness.studies.screening import SCREENS
from earwitness.studies.study import (
    ANALYSIS_CORRECTIONS,
    ANALYSIS_INTERVALS,
    DEFAULT_SOUND_PATTERN,
)
from earwitness.studies.trials import KINDS
from earwitness.studies.wording import LANGUAGES

# --- Field types ---------------------------------------------------------------------------------


Positive = Annotated[int, whole_range(1)]
Amount = Annotated[float, number_range(0)]
NonEmpty = Meta(min_length=1)
NameList = list[Name]


# --- Balance and blocks --------------------------------------------------------------------------


class BalanceKeys(Struct, kw_only=True, forbid_unknown_fields=True):
    """What the subsets of panels are alike in."""

    categories: Annotated[
        NameList, Meta(description="columns of the material whose values are shared alike")
    ] = []
    numbers: Annotated[
        NameList, Meta(description="columns of the material whose means are alike")
    ] = []


class BlockKeys(Struct, kw_only=True, forbid_unknown_fields=True):
    """A part of a study that asks in one way."""

    kind: Annotated[str, choice_of("kind", KINDS), Meta(description="what is presented and asked")]
    parameters: Annotated[dict[str, Any], Meta(description="of the kind")] = {}
    systems: (
        Annotated[NameList, NonEmpty, Meta(description="which of the systems; else all")]
        | UnsetType
    ) = UNSET
    heard: (
        Annotated[
            Positive, Meta(description="systems that one listener hears; else all of the block")
        ]
        | UnsetType
    ) = UNSET
    clips: (
        Annotated[
            Positive,
            Meta(description="that one listener hears; else as many as a panel's share has"),
        ]
        | UnsetType
    ) = UNSET
    sessions: Annotated[Positive, Meta(description="parts with a rest between")] = 1
    rating_seconds: Annotated[Amount, Meta(description="to answer one question")] = 4


# --- Forms, screening and analysis ---------------------------------------------------------------


class QuestionKeys(Struct, kw_only=True, forbid_unknown_fields=True):
    """A question of a form."""

    name: Annotated[Name, Meta(description="under which answers are kept")]
    prompt: Annotated[str, Meta(description="what is asked")]
    answer: Annotated[
        str, choice_of("answer", ("text", "number", "choice")), Meta(description="its form")
    ] = "text"
    options: (
        Annotated[list[str], Meta(min_length=2), Meta(description="of a choice")] | UnsetType
    ) = UNSET
    needed: Annotated[bool, Meta(description="whether it must be answered")] = True


class FormKeys(Struct, kw_only=True, forbid_unknown_fields=True):
    """Questionnaires before and after listening."""

    before: Annotated[list[QuestionKeys], Meta(description="asked before listening")] = []
    after: Annotated[list[QuestionKeys], Meta(description="asked after listening")] = []


class RuleKeys(Struct, kw_only=True, forbid_unknown_fields=True):
    """A rule of screening."""

    rule: Annotated[str, choice_of("rule", SCREENS), Meta(description="who is left out")]
    limits: Annotated[dict[str, Amount], Meta(description="instead of the usual ones")] = {}


class AnalysisKeys(Struct, kw_only=True, forbid_unknown_fields=True):
    """What will be computed."""

    scales: Annotated[NameList, Meta(description="that results are about; else all")] = []
    contrasts: Annotated[
        list[tuple[Name, Name]], Meta(description="pairs of systems; else all")
    ] = []
    interval: Annotated[
        str, choice_of("interval", ANALYSIS_INTERVALS), Meta(description="how sure means are")
    ] = "cluster_t"
    level: Annotated[float, number_range(0.5, 0.9999), Meta(description="of intervals")] = 0.95
    correction: Annotated[
        str, choice_of("correction", ANALYSIS_CORRECTIONS), Meta(description="for many tests")
    ] = "holm"
    by: Annotated[
        NameList,
        Meta(
            description="columns of the material, jury, or questions of forms, by which results "
            "are divided; for captions dataset and jury if they are there, unless none is said"
        ),
    ] = []
    margins: Annotated[
        dict[str, Amount],
        Meta(description="by scale: systems that differ by less than this count as equivalent"),
    ] = {}


# --- Wordings ------------------------------------------------------------------------------------


class ScaleKeys(Struct, kw_only=True, forbid_unknown_fields=True):
    """Words of a scale."""

    prompt: Annotated[str, Meta(description="the question")] | UnsetType = UNSET
    labels: (
        Annotated[
            list[str], Meta(min_length=2), Meta(description="words of the answers, the best first")
        ]
        | UnsetType
    ) = UNSET


class WordingKeys(Struct, kw_only=True, forbid_unknown_fields=True):
    """Own words instead of those of the language."""

    pages: Annotated[dict[str, str], Meta(description="titles and buttons")] = {}
    web: Annotated[dict[str, str], Meta(description="what only pages in a browser say")] = {}
    scales: Annotated[dict[str, ScaleKeys], Meta(description="questions and labels")] = {}


# --- Rubrics -------------------------------------------------------------------------------------


class DimensionKeys(Struct, kw_only=True, forbid_unknown_fields=True):
    """A dimension of a rubric."""

    name: Annotated[Name, Meta(description="a word")]
    low: Annotated[float, Meta(description="the lowest number")]
    high: Annotated[float, Meta(description="the highest number; 0 for a penalty")]
    step: Annotated[float, number_range(1e-6), Meta(description="between numbers")]
    role: Annotated[
        str, choice_of("role", ROLES), Meta(description="whether it adds or takes away")
    ] = "score"
    title: Annotated[str, Meta(description="as raters see it")] | UnsetType = UNSET
    help: Annotated[str, Meta(description="what is judged")] | UnsetType = UNSET
    anchors: (
        Annotated[dict[str, str], Meta(description="what some of the numbers stand for")]
        | UnsetType
    ) = UNSET


class ExampleKeys(Struct, kw_only=True, forbid_unknown_fields=True):
    """A caption that was judged."""

    heard: Annotated[str, Meta(description="what can be heard")] | UnsetType = UNSET
    sound: Annotated[str, Meta(description="a file to hear")] | UnsetType = UNSET
    caption: Annotated[str, Meta(description="that was judged")]
    values: Annotated[dict[str, float], Meta(description="a number for every dimension")]
    comment: Annotated[str, Meta(description="why")] | UnsetType = UNSET


class RubricKeys(Struct, kw_only=True, forbid_unknown_fields=True):
    """A rubric: a built-in one that is changed, or a new one."""

    name: Annotated[Name, Meta(description="of a built-in one, or its own")]
    title: Annotated[str, Meta(description="as raters see it")] | UnsetType = UNSET
    dimensions: (
        Annotated[list[DimensionKeys], NonEmpty, Meta(description="in the order they are asked")]
        | UnsetType
    ) = UNSET
    total: (
        Annotated[str, Meta(description="a formula of dimensions: + - * / and parentheses")]
        | UnsetType
    ) = UNSET
    examples: (
        Annotated[list[ExampleKeys], Meta(description="captions that were judged, shown first")]
        | UnsetType
    ) = UNSET


# --- The study file ------------------------------------------------------------------------------


class StudyKeys(Struct, kw_only=True, forbid_unknown_fields=True):
    """The study file."""

    title: Annotated[str, Meta(description="what the study is called")]
    seed: Annotated[
        int, whole_range(0, 2**53), Meta(description="another seed, another design")
    ] = 0
    systems: Annotated[NameList, NonEmpty, Meta(description="names; each has a folder")]
    files: (
        Annotated[
            str,
            Meta(
                description=f"where sounds are, such as {DEFAULT_SOUND_PATTERN}; if given, all of "
                "them must be there"
            ),
        ]
        | UnsetType
    ) = UNSET
    material: (
        Annotated[
            str,
            Meta(
                description="a table of clips, CSV or JSONL: name, seconds, covariates; else what "
                "is in the folders"
            ),
        ]
        | UnsetType
    ) = UNSET
    reference: (
        Annotated[
            Name, Meta(description="the folder with the sounds that others are compared with")
        ]
        | UnsetType
    ) = UNSET
    anchors: (
        Annotated[
            str, Meta(description="a folder with sounds that everybody rates before the sessions")
        ]
        | UnsetType
    ) = UNSET
    training: Annotated[
        int, whole_range(0), Meta(description="trials for practice, of clips not heard later")
    ] = 0
    feedback: Annotated[
        bool, Meta(description="whether listeners are told what was expected in practice")
    ] = False
    gold: (
        Annotated[
            str,
            Meta(
                description="a table of what is expected in practice, CSV: item, system, scale, "
                "value"
            ),
        ]
        | UnsetType
    ) = UNSET
    captions: (
        Annotated[
            str,
            Meta(description="a table of what systems wrote, CSV or JSONL: item, system, caption"),
        ]
        | UnsetType
    ) = UNSET
    rubric: Annotated[
        Name | RubricKeys | UnsetType,
        Meta(description="by which captions are judged; else thumbs"),
    ] = UNSET
    device: Annotated[
        list[Annotated[str, choice_of("step", DEVICE_STEPS)]],
        Meta(description="what a listener's device is checked for"),
    ] = []
    balance: Annotated[BalanceKeys, Meta(description="what subsets are alike in")] = field(
        default_factory=BalanceKeys
    )
    listeners: (
        Annotated[Positive, Meta(description="how many take part; needed unless there are rows")]
        | UnsetType
    ) = UNSET
    juries: Annotated[
        dict[str, Positive],
        Meta(description="parts of the listeners, such as experts, and how many"),
    ] = {}
    panels: Annotated[
        Positive, Meta(description="groups of listeners, each with clips of its own")
    ] = 1
    rest_minutes: Annotated[Amount, Meta(description="between sessions")] = 5
    blocks: Annotated[list[BlockKeys], NonEmpty, Meta(description="parts, one after the other")]
    rows: (
        Annotated[str, Meta(description="a folder with what each listener hears, made elsewhere")]
        | UnsetType
    ) = UNSET
    language: Annotated[str, choice_of("language", LANGUAGES), Meta(description="of the pages")] = (
        "en"
    )
    wordings: Annotated[
        WordingKeys, Meta(description="own words instead of those of the language")
    ] = field(default_factory=WordingKeys)
    instructions: Annotated[str, Meta(description="shown before the first trial")] = ""
    consent: Annotated[str, Meta(description="that listeners must agree to")] = ""
    forms: Annotated[FormKeys, Meta(description="questionnaires")] = field(default_factory=FormKeys)
    screening: Annotated[list[RuleKeys], Meta(description="whom the analysis leaves out")] = []
    analysis: Annotated[AnalysisKeys, Meta(description="what will be computed")] = field(
        default_factory=AnalysisKeys
    )


check_study_file = derive_check(StudyKeys, hints=False)


def study_schema() -> dict[str, Any]:
    """The study file as a JSON Schema."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Earwitness study file",
        **msgspec.json.schema(StudyKeys),
    }
