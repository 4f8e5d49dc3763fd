"""Words to summarize: plain texts, transcripts of recognizers, and files of items."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import isfinite, nan
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from msgspec import UNSET

from earwitness.core import load_json
from earwitness.errors import InputError, Problem, UsageError, file_problem, refuse_problems
from earwitness.io.formats import find_format
from earwitness.io.records import RecordType
from earwitness.io.schema import Fault
from earwitness.io.source import RecordSource
from earwitness.recordings.recording import SOUND_ENDINGS
from earwitness.speech.recognize import split_at_pauses
from earwitness.summaries.methods.compaction import SpokenUtterance, SummarizedSpeech
from earwitness.summaries.reader import (
    SPOKEN_FIELDS,
    GivenWords,
    SummaryOptions,
    given_fields,
    item_of,
    read_words,
)
from earwitness.summaries.records import ITEMS, REFERENCES, SummaryItemLine
from earwitness.task import Filter
from earwitness.text.scripts import is_unspaced
from earwitness.text.sentences import (
    SpokenPiece,
    group_sentences,
    is_ended,
    join_pieces,
    share_time,
    split_sentences,
)
from earwitness.text.timed_transcripts import (
    TRANSCRIPTS,
    TimedSegment,
    TimedTranscript,
    format_remedy,
    guess_transcript_form,
    parse_timed_transcripts,
)
from earwitness.text.transcripts import TimedWord, normalise_lines
from earwitness.text.words import TOKENIZERS

MAX_UTTERANCE_WORDS = 200  # longer utterances of texts and transcripts are split
ITEM_ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst")
TABLE_ENDINGS = (".csv", ".xlsx", ".xls", ".ods", ".parquet")
ALL_ITEMS = Filter()
CONFIDENCE_DIGITS = 4  # in files
INTERPOLATED_NOTE = "words without times share the time of their subtitle or segment"
T = TypeVar("T")
KeptWord = tuple[SpokenUtterance, int, int]  # utterance, index in it, and position in the item
UNSPACED_NOTE = "words are not separated by spaces — set --language ja, or give words"


class SpeechInput(NamedTuple):
    """The utterances of a recording or text.

    ``recognized`` tells whether the words are those of a recognizer whose positions in the
    transcript are not known. ``separate`` tells whether every utterance is an item of its file.
    """

    name: str
    utterances: tuple[SpokenUtterance, ...]
    recognized: bool = False
    separate: bool = False
    notes: tuple[str, ...] = ()


# --- Readers -------------------------------------------------------------------------------------


def read_speech(
    path: Path, tokenize: str = "blanks", *, where: Filter = ALL_ITEMS
) -> list[SpeechInput]:
    """Return the utterances of a file.

    Parameters
    ----------
    path
        A text, of which every line is split into sentences; a transcript with times, in a format
        of ``TRANSCRIPTS``; or a JSON Lines file of items or references, of which every line is
        an utterance.
    tokenize
        Tokenizer of texts: ``"blanks"`` or ``"japanese"``.
    where
        Conditions on the field ``meta`` of items; the others are left out.

    Returns
    -------
    list of SpeechInput
        One entry per recording.

    Raises
    ------
    InputError
        If the file cannot be read or has invalid lines; it lists all problems.
    """
    if path.name.endswith(ITEM_ENDINGS):
        return [_read_items(path, tokenize, where)]
    text = _read_text(path)
    first = _load_json(text.lstrip().partition("\n")[0])
    if isinstance(first, dict) and "item" in first:
        return [_read_items(path, tokenize, where)]
    refuse_where(path, where)
    form = find_format(TRANSCRIPTS, path.suffix, text) or guess_transcript_form(text)
    if not form and (path.suffix.lower() == ".json" or _load_json(text.lstrip()) is not None):
        problem = Problem(str(path), 1, "", "unknown transcript format", format_remedy())
        raise InputError([problem], done="summarized")
    if not form:
        utterances = split_text(text, path.stem, tokenize)
        if not utterances:
            raise _file_error(path, "has no words")
        return [SpeechInput(path.stem, utterances, notes=_note_unspaced(text, tokenize))]
    transcripts, flaws = parse_timed_transcripts(text, form, path.stem)
    problems = [flaw.problem(path) for flaw in flaws]
    is_cues = TRANSCRIPTS[form].is_cues
    found = [transcript_speech(transcript, tokenize, cues=is_cues) for transcript in transcripts]
    if not problems and not any(speech.utterances for speech in found):
        problems.append(file_problem(path, "has no words"))
    refuse_problems(problems, "summarized")
    return found


def _load_json(text: str) -> Any:
    """Return the object or list of a text, or None if it is no JSON."""
    try:
        return load_json(text) if text.startswith(("{", "[")) else None
    except ValueError:
        return None


def _note_unspaced(text: str, tokenize: str) -> tuple[str, ...]:
    """Return a note if a text without spaces is separated at spaces."""
    return (UNSPACED_NOTE,) if tokenize == "blanks" and is_unspaced(text) else ()


def split_text(text: str, name: str, tokenize: str = "blanks") -> tuple[SpokenUtterance, ...]:
    """Return the sentences of every line of a text as utterances.

    >>> [one.words for one in split_text("It rains. It snows.", "a")]
    [('It', 'rains.'), ('It', 'snows.')]
    """
    sentences = [sentence for line in text.splitlines() for sentence in split_sentences(line)]
    words = [tuple(TOKENIZERS[tokenize](sentence)) for sentence in sentences]
    return _name_utterances((SpokenUtterance(word) for word in words if word), name)


def transcript_speech(
    transcript: TimedTranscript, tokenize: str = "blanks", *, cues: bool = False
) -> SpeechInput:
    """Return the utterances of a transcript.

    Its segments are utterances. With ``cues``, they are parts of sentences and are joined.
    Utterances without an end mark are separated at pauses. If a segment has no words with times,
    its words share its time.
    """
    segments: Sequence[TimedSegment] = transcript.segments
    text = " ".join(segment.text for segment in segments)
    notes = () if any(segment.words for segment in segments) else _note_unspaced(text, tokenize)
    if any(
        not segment.words and isfinite(segment.start) and isfinite(segment.end)
        for segment in segments
    ):
        notes = (*notes, INTERPOLATED_NOTE)
    segments = [
        segment if segment.words else segment._replace(words=_interpolate(segment, tokenize))
        for segment in segments
    ]
    words = [word for segment in segments for word in segment.words]
    if cues and words:  # the sentences of the words of subtitles
        pieces = [SpokenPiece(word.word, word.start, word.end) for word in words]
        segments = [
            TimedSegment(text, words[first].start, words[after - 1].end, tuple(words[first:after]))
            for text, first, after in group_sentences(pieces)
        ]
    parts = list[Sequence[TimedWord]]()
    for spoken in (segment.words for segment in segments if segment.words):
        parts += [spoken] if is_ended(spoken[-1].word) else split_at_pauses(spoken)
    utterances = [_utterance(GivenWords.of(part)) for part in parts]
    named = _name_utterances(
        (utterance for utterance in utterances if utterance.words), transcript.recording
    )
    return SpeechInput(transcript.recording, named, notes=notes)


def _interpolate(segment: TimedSegment, tokenize: str) -> tuple[TimedWord, ...]:
    """Return the words of a segment; they share its time in proportion to their characters."""
    words = TOKENIZERS[tokenize](segment.text)
    if words and isfinite(segment.start) and isfinite(segment.end):
        times: Iterable[tuple[float, float]] = share_time(words, segment.start, segment.end)
    else:
        times = [(nan, nan)] * len(words)
    return tuple(
        TimedWord("", word, start, end, None)
        for word, (start, end) in zip(words, times, strict=True)
    )


def _utterance(given: GivenWords, name: str = "") -> SpokenUtterance:
    """Return words with their times and confidences, if these are numbers."""
    is_timed = given.times and all(isfinite(time) for pair in given.times for time in pair)
    is_rated = any(map(isfinite, given.confidences))
    return SpokenUtterance(
        given.words,
        given.times if is_timed else None,
        given.confidences if is_rated else None,
        name,
    )


def _name_utterances(
    utterances: Iterable[SpokenUtterance], name: str
) -> tuple[SpokenUtterance, ...]:
    """Return utterances with the names of their items: name-001, or the name of a single one."""
    found = [part for utterance in utterances for part in _split_long(utterance)]
    if len(found) == 1:
        return (replace(found[0], item=name),)
    return tuple(
        replace(part, item=f"{name}-{number:03}") for number, part in enumerate(found, start=1)
    )


def _split_long(one: SpokenUtterance) -> Iterator[SpokenUtterance]:
    """Yield an utterance in parts of at most 200 words, split at the longest pause near its middle.

    Without times, it is split in the middle.
    """
    size, times = len(one.words), one.times
    if size <= MAX_UTTERANCE_WORDS:
        yield one
        return
    middle = size // 2
    if times is not None:
        near = range(size // 4, size - size // 4)
        middle = max(near, key=lambda place: times[place][0] - times[place - 1][1])
    for part in (slice(None, middle), slice(middle, None)):
        confidences = None if one.confidences is None else one.confidences[part]
        own = SpokenUtterance(one.words[part], None if times is None else times[part], confidences)
        yield from _split_long(own)


def _read_text(path: Path) -> str:
    if path.suffix.lower() in SOUND_ENDINGS:
        raise _file_error(path, "is audio", "recognize it first")
    if path.suffix.lower() in TABLE_ENDINGS:
        remedy = "save the text as .txt, or words and times as .ctm"
        raise _file_error(path, "is a table, not a transcript", remedy)
    try:
        return normalise_lines(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        failure = _file_error(path, f"not UTF-8 at byte {error.start + 1}", "save as UTF-8")
    except OSError as error:
        failure = _file_error(path, f"cannot be read: {error.strerror or error}")
    raise failure


def _file_error(path: Path | str, message: str, remedy: str = "") -> InputError:
    return InputError([file_problem(path, message, remedy)], done="summarized")


def refuse_where(path: Path, where: Filter) -> None:
    """Refuse conditions for a file without items."""
    if where.conditions:
        raise UsageError(f"{path}: conditions apply to items of a .jsonl file — leave out --where")


def read_records(
    source: RecordSource,
    records: RecordType[Any],
    where: Filter,
    read: Callable[[Any], T | list[Fault]],
) -> list[T]:
    """Return what a function makes of the records of a file; refuse all faults together."""
    found, problems = list[T](), list[Problem]()
    made: T | list[Fault]
    for block in source.blocks():
        for line, record in records.read(block):
            if isinstance(record, bytes):
                value, made = records.faults(record)
                name = str(value.get("item", ""))
            elif where({} if record.meta is UNSET else record.meta):
                name, made = str(record.item), read(record)
            else:
                continue
            if isinstance(made, list):
                problems += [
                    Problem(source.name, line, fault.field, fault.message, fault.remedy, item=name)
                    for fault in made
                ]
            else:
                found.append(made)
    refuse_problems(problems, "summarized")
    return found


def check_recognized(source: RecordSource, has_recognized: Sequence[bool], nothing: str) -> None:
    """Refuse a file with no items, or in which only some have recognized words."""
    count = sum(has_recognized)
    if not has_recognized:
        raise _file_error(source.name, nothing)
    if 0 < count < len(has_recognized):
        message = f"{count:,} of {len(has_recognized):,} items have recognized words"
        remedy = "give them for all items or for none"
        problem = Problem(source.name, 0, "recognized", message, remedy)
        raise InputError([problem], done="summarized")


def _read_items(path: Path, tokenize: str, where: Filter) -> SpeechInput:
    """Return every item of a JSON Lines file as an utterance.

    The recognized words of an item are used if it has any, else its transcript.
    """
    source, options = RecordSource(path), SummaryOptions(tokenize=tokenize)
    recognized = dict[str, bool]()

    def read(record: SummaryItemLine) -> SpokenUtterance | list[Fault]:
        name = str(record.item)
        if name in recognized:
            return [Fault("item", f'"{name}" is given twice', "keep one")]
        recognized[name] = record.recognized is not UNSET
        return make_utterance(record, options)

    records: RecordType[Any] = REFERENCES if "references" in source.first() else ITEMS
    utterances = read_records(source, records, where, read)
    wanted = " and ".join(map("".join, where.conditions))
    nothing = f"has no items with {wanted}" if wanted else "has no items"
    check_recognized(source, [*recognized.values()], nothing)
    return SpeechInput(source.stem, tuple(utterances), any(recognized.values()), separate=True)


def make_utterance(
    record: SummaryItemLine, options: SummaryOptions
) -> SpokenUtterance | list[Fault]:
    """Return the words of an item, those of a recognizer if it has any, or all faults."""
    item = item_of(record, options)
    if isinstance(item, list):
        return item
    name = given_fields(record, "recognized", *SPOKEN_FIELDS)[0]
    given = read_words(record, name, options)
    return given if isinstance(given, list) else _utterance(given, str(record.item))


# --- Writers -------------------------------------------------------------------------------------


def join_words(words: Sequence[str]) -> str:
    """Return words as a text, without spaces between words of scripts that have none.

    >>> join_words(["it", "rains"]), join_words(["雨", "だ"])
    ('it rains', '雨だ')
    """
    return join_pieces([SpokenPiece(word, 0.0, 0.0) for word in words]).text if words else ""


def write_output_lines(
    speech: SummarizedSpeech, system: str, *, separate: bool, as_words: bool
) -> Iterator[str]:
    """Yield the lines of an outputs file for ``score``.

    Every utterance is an item. If the ratio applies to the speech as a whole, and its utterances
    are not ``separate`` items of a file, the speech is one item. ``as_words`` writes words, which
    are then located in the transcript of the references; otherwise positions are written.
    """
    for item, kept in _by_item(speech, separate=separate):
        positions = [position for _, _, position in kept]
        output = {"words": _list_entries(kept)} if as_words else {"positions": positions}
        record = {"item": item, "system": system, "output": output}
        yield f"{json.dumps(record, ensure_ascii=False)}\n"


def write_item_lines(speech: SummarizedSpeech, *, separate: bool) -> Iterator[str]:
    """Yield the lines of a file of items: all words, to which positions refer."""
    compactions = tuple(
        replace(compaction, positions=tuple(range(1, len(compaction.utterance.words) + 1)))
        for compaction in speech.compactions
    )
    everything = replace(speech, compactions=compactions)
    for item, words in _by_item(everything, separate=separate):
        record = {"item": item, "words": _list_entries(words)}
        yield f"{json.dumps(record, ensure_ascii=False)}\n"


def _by_item(speech: SummarizedSpeech, *, separate: bool) -> Iterator[tuple[str, list[KeptWord]]]:
    """Yield items with their kept words."""
    whole = speech.scope == "speech" and not separate
    collected, offset = list[KeptWord](), 0
    for compaction in speech.compactions:
        kept = [(compaction.utterance, place - 1, place + offset) for place in compaction.positions]
        if whole:
            collected += kept
            offset += len(compaction.utterance.words)
        else:
            yield compaction.utterance.item, kept
    if whole:
        yield speech.name, collected


def _list_entries(kept: Sequence[KeptWord]) -> list[Any]:
    """Return words, with times only if these increase: readers refuse other orders."""
    entries = [word_entry(utterance, index) for utterance, index, _ in kept]
    starts = [entry[1] for entry in entries if isinstance(entry, list)]
    if len(starts) == len(entries) and starts == sorted(starts):
        return entries
    return [utterance.words[index] for utterance, index, _ in kept]


def word_entry(utterance: SpokenUtterance, index: int) -> Any:
    """Return a word as in files: the word, or a list with its times and its confidence."""
    if utterance.times is None:
        return utterance.words[index]
    entry: list[Any] = [utterance.words[index], *utterance.times[index]]
    if utterance.confidences is not None and isfinite(utterance.confidences[index]):
        entry.append(round(utterance.confidences[index], CONFIDENCE_DIGITS))
    return entry
