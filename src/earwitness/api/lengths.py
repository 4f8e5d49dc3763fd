"""How long outputs are: the baseline that any metric has to beat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from earwitness.data import Input, Key, Score
from earwitness.errors import InputError, Problem
from earwitness.formats.check import BadLine, load
from earwitness.formats.source import Records, Source

LENGTH = "length"
COUNTED = ("boundaries", "positions", "words", "titles", "sentences")
WRITTEN = ("text", "transcript", "caption")


def output_lengths(outputs: str | Records) -> tuple[list[Score], Input]:
    """The length of every output of a file: its boundaries, positions, or words; and the file.

    A line that says no item, system and output is refused.
    """
    source, found, wrong = Source(outputs), list[Score](), list[Problem]()
    for number, line in enumerate(_lines(source), 1):
        try:
            found += [_score(load(line))] if line.strip() else []
        except (BadLine, KeyError, TypeError, ValueError):
            told = "has no item, system and output whose length can be told"
            wrong.append(Problem(source.name, number, "", told))
    if wrong:
        raise InputError(wrong, len(wrong), done="read")
    return found, source.read()


def _lines(source: Source) -> Iterator[bytes]:
    try:
        for block in source.blocks():
            yield from block.lines
    except InputError as error:
        raise InputError(error.problems, error.count, done="read") from None


def _score(line: Any) -> Score:
    return Score(Key(line["item"], line["system"]), LENGTH, _length(line["output"]))


def _length(output: Mapping[str, Any]) -> float:
    for name in COUNTED:
        if isinstance(output.get(name), list):
            return float(len(output[name]))
    for name in WRITTEN:
        if isinstance(output.get(name), str):
            return float(len(output[name].split()))
    raise ValueError(output)
