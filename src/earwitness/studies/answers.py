"""Files of answers (answers.jsonl): lines, reading, and exported answers."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from msgspec import UNSET, Meta, Struct, UnsetType

from earwitness.core import Answer, Item, StrPath
from earwitness.errors import Problem, UsageError, file_problem, nearest, refuse_problems
from earwitness.io.schema import (
    BadLine,
    Fault,
    Name,
    WholeNumber,
    choice_of,
    derive_check,
    load_json_line,
    whole_range,
)
from earwitness.io.source import Records, RecordSource
from earwitness.ratings.scales import SUMMARY_SCALE
from earwitness.studies.trials.base import LETTERS
from earwitness.studies.trials.words import ReadingKind, WordsKind

SIMULATED_TIMESTAMP = "simulated"  # replaces the time of an answer


class HeardTrial(Struct, forbid_unknown_fields=True):
    """Trial that was presented on the page of an answer."""

    item: str
    systems: Annotated[list[str], Meta(min_length=1)]
    target: float
    scales: list[str] | UnsetType = UNSET
    block: int | UnsetType = UNSET
    against: str | UnsetType = UNSET


class AnswerRecord(Struct, forbid_unknown_fields=True):
    """One line of a file of answers."""

    study: str
    listener: int
    page: str
    values: dict[str, Any]
    heard: HeardTrial | UnsetType = UNSET
    at: str | UnsetType = UNSET
    version: str | UnsetType = UNSET
    unheard: dict[str, Any] | UnsetType = UNSET
    comment: str | UnsetType = UNSET
    imported: bool | UnsetType = UNSET
    digest: str | UnsetType = UNSET


check_answer = derive_check(AnswerRecord, hints=False)


def read_answers(path: Path, digest: str, content: bytes | None = None) -> dict[int, Answer]:
    """Return the answers of a file, or of ``content``, by line number; blank lines are skipped."""
    try:
        raw = path.read_bytes() if content is None else content
    except OSError as error:
        raise UsageError(f"{path}: cannot read answers: {error.strerror}") from None
    answers, problems = dict[int, Answer](), list[Problem]()
    seen = dict[tuple[int, str], int]()
    for number, line in enumerate(raw.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = load_json_line(line.strip())
            faults = list(_find_faults(value, digest, seen))
        except BadLine as bad:
            faults = [bad.fault]
        problems += [Problem(str(path), number, *fault) for fault in faults]
        if not faults:
            answers[number] = Answer(**value)
            seen[value["listener"], value["page"]] = number
    refuse_problems(problems, "read")
    return answers


def _find_faults(value: Any, digest: str, seen: dict[tuple[int, str], int]) -> Iterator[Fault]:
    faults = list(check_answer(value, ""))
    yield from faults
    if faults:
        return
    if line := seen.get((value["listener"], value["page"])):
        yield Fault("page", f"already answered on line {line}", "keep one")
    if value["study"] != digest:
        given, wanted = value["study"][:12], digest[:12]
        message = f"answer to another version of the study ({given}…, not {wanted}…)"
        yield Fault("study", message, "was the study file edited?")
    elif value.get("digest") not in (None, answer_digest(value)):
        message = "study, listener, page or heard was changed after the export"
        yield Fault("digest", message, "export the answers again")


DIGEST_FIELDS = ("study", "listener", "page", "heard")
DIGEST_CHARACTERS = 16


def answer_digest(fields: Mapping[str, Any]) -> str:
    """Return the digest of what an answer is about, which shows whether a line was edited."""
    text = json.dumps([fields.get(name) for name in DIGEST_FIELDS], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_CHARACTERS]


def answer_line(answer: Answer) -> bytes:
    """Return an answer as a line of a file."""
    fields = {name: value for name, value in asdict(answer).items() if value is not None}
    fields["digest"] = answer_digest(fields)
    return json.dumps(fields, ensure_ascii=False).encode() + b"\n"


# --- Answers of the trial kinds words and reading ------------------------------------------------
# These trials present text. Their answers are read from the answers file of a study, or from a
# plain export with one answer per line, which other tools can write too.


WORDS_KIND, READING_KIND = WordsKind.name, ReadingKind.name
READING_SCALE = "score"  # column of the ratings


class WordsAnswer(Struct, forbid_unknown_fields=True):
    """Positions of the words of a transcript that a person keeps."""

    kind: Annotated[str, choice_of("kind", [WORDS_KIND])]
    listener: Name
    item: Name
    positions: list[WholeNumber]
    study: str | UnsetType = UNSET
    at: str | UnsetType = UNSET


class ReadingAnswer(Struct, forbid_unknown_fields=True):
    """Rating of one summary that is read beside the original, from 1 (incorrect) to 5 (best)."""

    kind: Annotated[str, choice_of("kind", [READING_KIND])]
    listener: Name
    item: Name
    system: Name
    rating: Annotated[int, whole_range(1, 5)]
    study: str | UnsetType = UNSET
    at: str | UnsetType = UNSET


class AnswerKind(NamedTuple):
    """Check of an exported answer, its fields that identify it, and the name of its value."""

    struct: type
    key: tuple[str, ...]
    value: str


ANSWER_KINDS = {
    WORDS_KIND: AnswerKind(WordsAnswer, ("listener", "item"), "positions"),
    READING_KIND: AnswerKind(ReadingAnswer, ("listener", "item", "system"), "rating"),
}


def read_word_answers(path: StrPath | Records, items: StrPath | Records) -> list[dict[str, Any]]:
    """Read answers of the trial kind ``words`` as records of references.

    Parameters
    ----------
    path
        Answers of a study, or exported answers (JSON Lines).
    items
        Transcripts: lines of a references file without ``references``.

    Returns
    -------
    list of dict
        One record per item that has an answer, as in a references file; the annotator is
        the listener.

    Raises
    ------
    InputError
        If a file has invalid lines; all of them are listed.

    Examples
    --------
    >>> answer = {"kind": "words", "listener": "anna", "item": "a", "positions": [1, 2]}
    >>> records = read_word_answers([answer], [{"item": "a", "transcript": "it rains a lot"}])
    >>> records[0]["references"]
    [{'annotator': 'anna', 'positions': [1, 2]}]
    """
    from earwitness.summaries.reader import SummaryOptions, of_person
    from earwitness.summaries.records import SummaryAnnotation

    records, transcripts, problems = _read_items(items)
    made: dict[str, list[dict[str, Any]]] = {}
    answers, answer_problems = _read_answers(path, WORDS_KIND)
    problems += answer_problems
    for place, answer in answers:
        item = str(answer["item"])
        if item not in transcripts:
            if not any(problem.item == item for problem in problems):
                message = f'no item "{item}" among the items'
                problems.append(Problem(*place, "item", message, nearest(item, transcripts)))
            continue
        annotation = SummaryAnnotation(positions=answer["positions"])
        located = of_person(annotation, transcripts[item], SummaryOptions(), "")
        if isinstance(located, list):
            problems += [
                Problem(*place, fault.field.lstrip("."), fault.message, fault.remedy)
                for fault in located
            ]
        person = {"annotator": str(answer["listener"]), "positions": answer["positions"]}
        made.setdefault(item, []).append(person)
    refuse_problems(problems, "read")
    return [{**records[item], "references": made[item]} for item in records if item in made]


def read_reading_answers(path: StrPath | Records) -> list[dict[str, Any]]:
    """Read answers of the trial kind ``reading`` as rows of a table of ratings.

    Parameters
    ----------
    path
        Answers of a study, or exported answers (JSON Lines).

    Returns
    -------
    list of dict
        ``item``, ``system``, ``listener`` and ``score`` of every answer.

    Raises
    ------
    InputError
        If the file has invalid lines; all of them are listed.

    Examples
    --------
    >>> answer = {"kind": "reading", "listener": 3, "item": "a", "system": "s", "rating": 4}
    >>> read_reading_answers([answer])
    [{'item': 'a', 'system': 's', 'listener': '3', 'score': 4}]
    """
    answers, problems = _read_answers(path, READING_KIND)
    refuse_problems(problems, "read")
    return [
        {
            **{name: str(answer[name]) for name in ("item", "system", "listener")},
            READING_SCALE: answer["rating"],
        }
        for _, answer in answers
    ]


Place = tuple[str, int]  # file and line


def _read_answers(
    path: StrPath | Records, kind: str
) -> tuple[list[tuple[Place, dict[str, Any]]], list[Problem]]:
    """Return the answers of a kind with their places, and all problems of the file."""
    source = RecordSource(path, "" if isinstance(path, str | os.PathLike) else "answers")
    known, seen = ANSWER_KINDS[kind], dict[tuple[str, ...], int]()
    check = derive_check(known.struct, hints=False)
    answers, problems = list[tuple[Place, dict[str, Any]]](), list[Problem]()
    first_pages: dict[tuple[str, int, str], str] = {}
    for line, value, faults in _parsed_lines(source):
        found = [value]
        if not faults and isinstance(value, dict) and "values" in value:
            faults = list(check_answer(value, ""))
            found = [] if faults else _exported_answers(value, kind)
            if found:
                trial = value["study"], value["listener"], value["heard"]["item"]
                if first_pages.setdefault(trial, value["page"]) != value["page"]:
                    continue  # a repeated trial
        for answer in [] if faults else found:
            wrong = list(check(answer, ""))
            if not wrong:
                key = tuple(str(answer[name]) for name in known.key)
                first = seen.setdefault(key, line)
                if first != line:
                    message = f"{', '.join(key)} is also on line {first}"
                    wrong = [Fault("", message, "keep one")]
            faults += wrong
            if not wrong:
                answers.append(((source.name, line), answer))
        problems += [Problem(source.name, line, *fault) for fault in faults]
    if not answers and not problems:
        problems.append(file_problem(source.name, f'has no answers of the kind "{kind}"'))
    return answers, problems


def _exported_answers(value: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return a line of an answers file as exported answers; none of other pages and practice."""
    heard, name = value.get("heard"), ANSWER_KINDS[kind].value
    if heard is None or not value["page"][:1].isdigit():
        return []
    given = value["values"]
    answer = {"kind": kind, "listener": value["listener"], "item": heard["item"]}
    if kind == WORDS_KIND:
        return [{**answer, name: given[name]}] if given.get(name) is not None else []
    names = [f"{letter}.{SUMMARY_SCALE.name}" for letter in LETTERS[: len(heard["systems"])]]
    names[0] = name if name in given else names[0]  # of one summary
    return [
        {**answer, "system": system, name: given[question]}
        for question, system in zip(names, heard["systems"], strict=False)
        if given.get(question) is not None
    ]


def _read_items(
    items: StrPath | Records,
) -> tuple[dict[str, dict[str, Any]], dict[str, Item], list[Problem]]:
    """Return records and transcripts by item, and all problems of the file."""
    from earwitness.summaries.reader import SummaryOptions, item_of
    from earwitness.summaries.records import ITEMS

    source = RecordSource(items, "" if isinstance(items, str | os.PathLike) else "items")
    records, transcripts = dict[str, dict[str, Any]](), dict[str, Item]()
    problems = list[Problem]()
    for block in source.blocks():
        for line, record in ITEMS.read(block):
            if isinstance(record, bytes):
                value, faults = ITEMS.faults(record)
                name = str(value.get("item", ""))
            else:
                name = str(record.item)
                item = item_of(record, SummaryOptions())
                faults = item if isinstance(item, list) else []
                if name in records:
                    faults = [Fault("item", f'"{name}" is given twice', "keep one")]
                if isinstance(item, Item):
                    records[name] = load_json_line(block.lines[line - block.line])
                    transcripts[name] = item
            problems += [Problem(source.name, line, *fault, item=name) for fault in faults]
    return records, transcripts, problems


def _parsed_lines(source: RecordSource) -> Iterator[tuple[int, Any, list[Fault]]]:
    """Yield the number and the value of every line, or a fault if it is not JSON."""
    for block in source.blocks():
        for line, text in enumerate(block.lines, block.line):
            if not text.strip():
                continue
            try:
                yield line, load_json_line(text), []
            except BadLine as bad:
                yield line, None, [bad.fault]
