"""Answers of listeners: JSON lines that are only ever added to, each on disk before the next."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from earwitness.data import Answer
from earwitness.errors import InputError, Problem
from earwitness.formats.check import (
    BadLine,
    Fault,
    Field,
    either,
    load,
    mapping,
    name,
    number,
    record,
    text,
)

ANSWER = record(
    {
        "study": Field(text, required=True),
        "listener": Field(either(int, number, name), required=True),
        "page": Field(text, required=True),
        "values": Field(mapping, required=True),
        "at": Field(text),
    },
    own="",
)


def read_answers(path: Path, digest: str) -> list[Answer]:
    """All answers of a file, which must be to this very study; none if there is no file."""
    if not path.exists():
        return []
    answers, problems, seen = list[Answer](), list[Problem](), dict[tuple[int, str], int]()
    for line, raw in enumerate(path.read_bytes().splitlines(), 1):
        try:
            value = load(raw)
            faults = list(_wrong(value, digest, seen))
        except BadLine as bad:
            faults = [bad.fault]
        problems += [Problem(str(path), line, *fault) for fault in faults]
        if not faults:
            answers.append(Answer(**value))
            seen[value["listener"], value["page"]] = line
    if problems:
        raise InputError(problems, done="read")
    return answers


def _wrong(value: Any, digest: str, seen: dict[tuple[int, str], int]) -> Iterator[Fault]:
    faults = list(ANSWER(value, ""))
    yield from faults
    if faults:
        return
    if not isinstance(value["listener"], int) or isinstance(value["listener"], bool):
        yield Fault("listener", "must be a whole number")
    elif (value["listener"], value["page"]) in seen:
        where = seen[value["listener"], value["page"]]
        yield Fault("page", f"was answered on line {where} already", "keep one")
    if value["study"] != digest:
        told = f"is of study {value['study'][:12]}…, this is {digest[:12]}…"
        yield Fault("study", told, "has the study file changed since?")


def add_answer(path: Path, answer: Answer) -> None:
    """Add one line; on return it is on disk."""
    line = json.dumps(asdict(answer), ensure_ascii=False) + "\n"
    with path.open("ab") as file:
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())
