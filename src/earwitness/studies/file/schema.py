"""Keys of study.yaml with their types and defaults, and its JSON schema."""

from __future__ import annotations

from earwitness.io import schema as fields
from earwitness.io.schema import Entry, list_of, mapping_of, number, one_of, record, whole_number
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

NAME_LIST = list_of(fields.name)
BALANCE_KEYS = {
    "categories": Entry(
        NAME_LIST, "columns of the material whose values are shared alike", default=[]
    ),
    "numbers": Entry(NAME_LIST, "columns of the material whose means are alike", default=[]),
}
BLOCK_KEYS = {
    "kind": Entry(one_of("kind", KINDS), "what is presented and asked", required=True),
    "parameters": Entry(mapping_of(fields.anything), "of the kind", default={}),
    "systems": Entry(list_of(fields.name, least=1), "which of the systems; else all"),
    "heard": Entry(whole_number(1), "systems that one listener hears; else all of the block"),
    "clips": Entry(whole_number(1), "that one listener hears; else as many as a panel's share has"),
    "sessions": Entry(whole_number(1), "parts with a rest between", default=1),
    "rating_seconds": Entry(number(0), "to answer one question", default=4),
}
QUESTION_KEYS = {
    "name": Entry(fields.name, "under which answers are kept", required=True),
    "prompt": Entry(fields.text, "what is asked", required=True),
    "answer": Entry(one_of("answer", ("text", "number", "choice")), "its form", default="text"),
    "options": Entry(list_of(fields.text, least=2), "of a choice"),
    "needed": Entry(fields.yes_or_no, "whether it must be answered", default=True),
}
FORM_KEYS = {
    "before": Entry(list_of(record(QUESTION_KEYS)), "asked before listening", default=[]),
    "after": Entry(list_of(record(QUESTION_KEYS)), "asked after listening", default=[]),
}
RULE_KEYS = {
    "rule": Entry(one_of("rule", SCREENS), "who is left out", required=True),
    "limits": Entry(mapping_of(fields.number(0)), "instead of the usual ones", default={}),
}
ANALYSIS_KEYS = {
    "scales": Entry(NAME_LIST, "that results are about; else all", default=[]),
    "contrasts": Entry(
        list_of(fields.pair_of(fields.name)), "pairs of systems; else all", default=[]
    ),
    "interval": Entry(
        one_of("interval", ANALYSIS_INTERVALS), "how sure means are", default="cluster_t"
    ),
    "level": Entry(number(0.5, 0.9999), "of intervals", default=0.95),
    "correction": Entry(
        one_of("correction", ANALYSIS_CORRECTIONS), "for many tests", default="holm"
    ),
    "by": Entry(
        NAME_LIST,
        "columns of the material, jury, or questions of forms, by which results are divided; for "
        "captions dataset and jury if they are there, unless none is said",
        default=[],
    ),
    "margins": Entry(
        mapping_of(number(0)),
        "by scale: systems that differ by less than this count as equivalent",
        default={},
    ),
}
SCALE_KEYS = {
    "prompt": Entry(fields.text, "the question"),
    "labels": Entry(list_of(fields.text, least=2), "words of the answers, the best first"),
}
WORDING_KEYS = {
    "pages": Entry(mapping_of(fields.text), "titles and buttons", default={}),
    "web": Entry(mapping_of(fields.text), "what only pages in a browser say", default={}),
    "scales": Entry(mapping_of(record(SCALE_KEYS)), "questions and labels", default={}),
}
DIMENSION_KEYS = {
    "name": Entry(fields.name, "a word", required=True),
    "low": Entry(fields.any_number, "the lowest number", required=True),
    "high": Entry(fields.any_number, "the highest number; 0 for a penalty", required=True),
    "step": Entry(number(1e-6), "between numbers", required=True),
    "role": Entry(one_of("role", ROLES), "whether it adds or takes away", default="score"),
    "title": Entry(fields.text, "as raters see it"),
    "help": Entry(fields.text, "what is judged"),
    "anchors": Entry(mapping_of(fields.text), "what some of the numbers stand for"),
}
EXAMPLE_KEYS = {
    "heard": Entry(fields.text, "what can be heard"),
    "sound": Entry(fields.text, "a file to hear"),
    "caption": Entry(fields.text, "that was judged", required=True),
    "values": Entry(mapping_of(fields.any_number), "a number for every dimension", required=True),
    "comment": Entry(fields.text, "why"),
}
RUBRIC_KEYS = {
    "name": Entry(fields.name, "of a built-in one, or its own", required=True),
    "title": Entry(fields.text, "as raters see it"),
    "dimensions": Entry(list_of(record(DIMENSION_KEYS), least=1), "in the order they are asked"),
    "total": Entry(fields.text, "a formula of dimensions: + - * / and parentheses"),
    "examples": Entry(list_of(record(EXAMPLE_KEYS)), "captions that were judged, shown first"),
}
STUDY_KEYS = {
    "title": Entry(fields.text, "what the study is called", required=True),
    "seed": Entry(whole_number(0, 2**53), "another seed, another design", default=0),
    "systems": Entry(list_of(fields.name, least=1), "names; each has a folder", required=True),
    "files": Entry(
        fields.text,
        f"where sounds are, such as {DEFAULT_SOUND_PATTERN}; if given, all of them must be there",
    ),
    "material": Entry(
        fields.text,
        "a table of clips, CSV or JSONL: name, seconds, covariates; else what is in the folders",
    ),
    "reference": Entry(fields.name, "the folder with the sounds that others are compared with"),
    "anchors": Entry(fields.text, "a folder with sounds that everybody rates before the sessions"),
    "training": Entry(whole_number(0), "trials for practice, of clips not heard later", default=0),
    "feedback": Entry(
        fields.yes_or_no,
        "whether listeners are told what was expected in practice",
        default=False,
    ),
    "gold": Entry(
        fields.text,
        "a table of what is expected in practice, CSV: item, system, scale, value",
    ),
    "captions": Entry(
        fields.text, "a table of what systems wrote, CSV or JSONL: item, system, caption"
    ),
    "rubric": Entry(
        fields.either(fields.name, record(RUBRIC_KEYS)),
        "by which captions are judged; else thumbs",
    ),
    "device": Entry(
        list_of(one_of("step", DEVICE_STEPS)), "what a listener's device is checked for", default=[]
    ),
    "balance": Entry(record(BALANCE_KEYS), "what subsets are alike in", default={}),
    "listeners": Entry(whole_number(1), "how many take part; needed unless there are rows"),
    "juries": Entry(
        mapping_of(whole_number(1)),
        "parts of the listeners, such as experts, and how many",
        default={},
    ),
    "panels": Entry(whole_number(1), "groups of listeners, each with clips of its own", default=1),
    "rest_minutes": Entry(number(0), "between sessions", default=5),
    "blocks": Entry(
        list_of(record(BLOCK_KEYS), least=1), "parts, one after the other", required=True
    ),
    "rows": Entry(fields.text, "a folder with what each listener hears, made elsewhere"),
    "language": Entry(one_of("language", LANGUAGES), "of the pages", default="en"),
    "wordings": Entry(
        record(WORDING_KEYS), "own words instead of those of the language", default={}
    ),
    "instructions": Entry(fields.text, "shown before the first trial", default=""),
    "consent": Entry(fields.text, "that listeners must agree to", default=""),
    "forms": Entry(record(FORM_KEYS), "questionnaires", default={}),
    "screening": Entry(list_of(record(RULE_KEYS)), "whom the analysis leaves out", default=[]),
    "analysis": Entry(record(ANALYSIS_KEYS), "what will be computed", default={}),
}
STUDY_SHAPE = record(STUDY_KEYS)


def schema() -> fields.Schema:
    """The study file as a JSON Schema."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Earwitness study file",
        **STUDY_SHAPE.schema,
    }
