"""Files that are another kind than expected, told from their first lines."""

from __future__ import annotations

import msgspec

from earwitness.errors import InputError, Problem
from earwitness.formats.records import REFUSALS, OnError
from earwitness.formats.source import Block

ARRAY = "is a JSON array — write one object a line"
GATHERED = ("ctm", "srt", "vtt", "ffmeta")
LOOKED_AT = 5  # lines from which the kind of a file is told
TELLING = {"samples": "hypothesis", "outputs": "output", "references": "references"}
MISTAKEN = {  # expected file: telling field of another one, and what to do
    "samples": {
        "output": "looks like an outputs file — name the references file behind it",
        "references": "looks like a references file — name the outputs file before it",
    },
    "outputs": {
        "hypothesis": "chunkseg's lines hold both sides — give this file alone",
        "references": "looks like a references file — are the two files swapped?",
    },
    "references": {
        "hypothesis": "chunkseg's lines hold both sides — give such a file alone",
        "output": "looks like an outputs file — are the two files swapped?",
    },
}


def refuse_other_files(expected: str, block: Block, on_error: OnError) -> None:
    """Say in one sentence if all of the first lines show that this is another kind of file."""
    if block.line != 1 or on_error != "fail":
        return
    ending = block.source.lower().rpartition(".")[2]
    if ending in GATHERED and block.lines and not block.lines[0].lstrip().startswith(b"{"):
        told_ = f"is a {ending.upper()} file — `earwitness gather` makes JSON lines of it"
        raise InputError([Problem(block.source, 1, "", told_)])
    told = {_mistaken(expected, line) for line in block.lines[:LOOKED_AT] if line.strip()}
    if len(told) == 1 and (problem := told.pop()):
        raise InputError([Problem(block.source, 1, "", problem)])
    if block.lines and block.lines[0].strip() == b"[":
        raise InputError([Problem(block.source, 1, "", ARRAY)])


def _mistaken(expected: str, line: bytes) -> str:
    """What the line looks like instead, or nothing."""
    try:
        value = msgspec.json.decode(line)
    except REFUSALS:
        return ""
    if isinstance(value, list):
        return ARRAY
    if not isinstance(value, dict) or TELLING[expected] in value:
        return ""
    return next((problem for key, problem in MISTAKEN[expected].items() if key in value), "")
