"""Keys of the study file."""

from __future__ import annotations

from earwitness.data import study
from earwitness.formats import shapes
from earwitness.formats.shapes import Entry, list_of, mapping_of, number, one_of, record, whole
from earwitness.listening.device import STEPS
from earwitness.listening.kinds import KINDS
from earwitness.listening.planned import CORRECTIONS, INTERVALS
from earwitness.listening.rubrics.rubric import ROLES
from earwitness.listening.screening import SCREENS
from earwitness.listening.wordings import LANGUAGES

NAMES = list_of(shapes.name)
BALANCE = {
    "categories": Entry(NAMES, "columns of the material whose values are shared alike", default=[]),
    "numbers": Entry(NAMES, "columns of the material whose means are alike", default=[]),
}
BLOCK = {
    "kind": Entry(one_of("kind", KINDS), "what is presented and asked", required=True),
    "parameters": Entry(mapping_of(shapes.anything), "of the kind", default={}),
    "systems": Entry(list_of(shapes.name, least=1), "which of the systems; else all"),
    "heard": Entry(whole(1), "systems that one listener hears; else all of the block"),
    "clips": Entry(whole(1), "that one listener hears; else as many as a panel's share has"),
    "sessions": Entry(whole(1), "parts with a rest between", default=1),
    "rating_seconds": Entry(number(0), "to answer one question", default=4),
}
QUESTION = {
    "name": Entry(shapes.name, "under which answers are kept", required=True),
    "prompt": Entry(shapes.text, "what is asked", required=True),
    "answer": Entry(one_of("answer", ("text", "number", "choice")), "its form", default="text"),
    "options": Entry(list_of(shapes.text, least=2), "of a choice"),
    "needed": Entry(shapes.yes_or_no, "whether it must be answered", default=True),
}
FORMS = {
    "before": Entry(list_of(record(QUESTION)), "asked before listening", default=[]),
    "after": Entry(list_of(record(QUESTION)), "asked after listening", default=[]),
}
RULE = {
    "rule": Entry(one_of("rule", SCREENS), "who is left out", required=True),
    "limits": Entry(mapping_of(shapes.number(0)), "instead of the usual ones", default={}),
}
ANALYSIS = {
    "scales": Entry(NAMES, "that results are about; else all", default=[]),
    "contrasts": Entry(
        list_of(shapes.pair_of(shapes.name)), "pairs of systems; else all", default=[]
    ),
    "interval": Entry(one_of("interval", INTERVALS), "how sure means are", default="cluster_t"),
    "level": Entry(number(0.5, 0.9999), "of intervals", default=0.95),
    "correction": Entry(one_of("correction", CORRECTIONS), "for many tests", default="holm"),
    "by": Entry(
        NAMES,
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
SCALE = {
    "prompt": Entry(shapes.text, "the question"),
    "labels": Entry(list_of(shapes.text, least=2), "words of the answers, the best first"),
}
WORDINGS = {
    "pages": Entry(mapping_of(shapes.text), "titles and buttons", default={}),
    "web": Entry(mapping_of(shapes.text), "what only pages in a browser say", default={}),
    "scales": Entry(mapping_of(record(SCALE)), "questions and labels", default={}),
}
DIMENSION = {
    "name": Entry(shapes.name, "a word", required=True),
    "low": Entry(shapes.any_number, "the lowest number", required=True),
    "high": Entry(shapes.any_number, "the highest number; 0 for a penalty", required=True),
    "step": Entry(number(1e-6), "between numbers", required=True),
    "role": Entry(one_of("role", ROLES), "whether it adds or takes away", default="score"),
    "title": Entry(shapes.text, "as raters see it"),
    "help": Entry(shapes.text, "what is judged"),
    "anchors": Entry(mapping_of(shapes.text), "what some of the numbers stand for"),
}
EXAMPLE = {
    "heard": Entry(shapes.text, "what can be heard"),
    "sound": Entry(shapes.text, "a file to hear"),
    "caption": Entry(shapes.text, "that was judged", required=True),
    "values": Entry(mapping_of(shapes.any_number), "a number for every dimension", required=True),
    "comment": Entry(shapes.text, "why"),
}
RUBRIC = {
    "name": Entry(shapes.name, "of a built-in one, or its own", required=True),
    "title": Entry(shapes.text, "as raters see it"),
    "dimensions": Entry(list_of(record(DIMENSION), least=1), "in the order they are asked"),
    "total": Entry(shapes.text, "a formula of dimensions: + - * / and parentheses"),
    "examples": Entry(list_of(record(EXAMPLE)), "captions that were judged, shown first"),
}
STUDY = {
    "title": Entry(shapes.text, "what the study is called", required=True),
    "seed": Entry(whole(0, 2**53), "another seed, another design", default=0),
    "systems": Entry(list_of(shapes.name, least=1), "names; each has a folder", required=True),
    "files": Entry(
        shapes.text,
        f"where sounds are, such as {study.PATTERN}; if given, all of them must be there",
    ),
    "material": Entry(
        shapes.text,
        "a table of clips, CSV or JSONL: name, seconds, covariates; else what is in the folders",
    ),
    "reference": Entry(shapes.name, "the folder with the sounds that others are compared with"),
    "anchors": Entry(shapes.text, "a folder with sounds that everybody rates before the sessions"),
    "training": Entry(whole(0), "trials for practice, of clips not heard later", default=0),
    "feedback": Entry(
        shapes.yes_or_no, "whether listeners are told what was expected in practice", default=False
    ),
    "gold": Entry(
        shapes.text, "a table of what is expected in practice, CSV: item, system, scale, value"
    ),
    "captions": Entry(
        shapes.text, "a table of what systems wrote, CSV or JSONL: item, system, caption"
    ),
    "rubric": Entry(
        shapes.either(shapes.name, record(RUBRIC)), "by which captions are judged; else thumbs"
    ),
    "device": Entry(
        list_of(one_of("step", STEPS)), "what a listener's device is checked for", default=[]
    ),
    "balance": Entry(record(BALANCE), "what subsets are alike in", default={}),
    "listeners": Entry(whole(1), "how many take part; needed unless there are rows"),
    "juries": Entry(
        mapping_of(whole(1)), "parts of the listeners, such as experts, and how many", default={}
    ),
    "panels": Entry(whole(1), "groups of listeners, each with clips of its own", default=1),
    "rest_minutes": Entry(number(0), "between sessions", default=5),
    "blocks": Entry(list_of(record(BLOCK), least=1), "parts, one after the other", required=True),
    "rows": Entry(shapes.text, "a folder with what each listener hears, made elsewhere"),
    "language": Entry(one_of("language", LANGUAGES), "of the pages", default="en"),
    "wordings": Entry(record(WORDINGS), "own words instead of those of the language", default={}),
    "instructions": Entry(shapes.text, "shown before the first trial", default=""),
    "consent": Entry(shapes.text, "that listeners must agree to", default=""),
    "forms": Entry(record(FORMS), "questionnaires", default={}),
    "screening": Entry(list_of(record(RULE)), "whom the analysis leaves out", default=[]),
    "analysis": Entry(record(ANALYSIS), "what will be computed", default={}),
}
SHAPE = record(STUDY)


def schema() -> shapes.Schema:
    """The study file as a JSON Schema."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Earwitness study file",
        **SHAPE.schema,
    }
