"""When sentences begin: as a line says, or made of its subtitles or of its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec import UNSET

from earwitness.formats.chapters.layouts import Word
from earwitness.formats.check import Fault, is_name, show
from earwitness.text.sections import plain_lines
from earwitness.text.spoken import Piece, timed_sentences
from earwitness.text.subtitles import Cue, cues

Starts = tuple[float, ...]
KINDS = ("sentences", "subtitles", "words")


def spoken(record: Any, path: str = "") -> Starts | list[Fault] | None:
    """Starts of sentences, None if a record has none, or all that is wrong with what it has.

    ``path`` is what stands before the names of its fields, as in ``output.words``.
    """
    return spoken_of({f"{path}{kind}": getattr(record, kind) for kind in KINDS})


def spoken_of(fields: Mapping[str, Any]) -> Starts | list[Fault] | None:
    """The same, of fields by name: sentences, subtitles and words, in this order."""
    pairs = zip(fields.items(), READERS, strict=True)
    given = [(field, value, read) for (field, value), read in pairs if value is not UNSET]
    if not given:
        return None
    (first, value, read), *more = given
    if more:
        return [Fault(field, f"sentences are also in {first}", "keep one") for field, _, _ in more]
    return read(value, first)


def _sentences(given: Sequence[tuple[str, float]], field: str) -> Starts:
    del field
    return tuple(time for _, time in given)


def _subtitles(text: str, field: str) -> Starts | list[Fault]:
    found, flaws = cues(plain_lines(text))
    faults = [Fault(field, f"line {f.line}: {f.message}", f.remedy) for f in flaws]
    faults += [Fault(field, f"line {line}: {told}", remedy) for line, told, remedy in _odd(found)]
    return faults or _starts([Piece(c.text, c.start, c.end or c.start) for c in found], cues=True)


def _odd(found: Sequence[Cue]) -> Iterator[tuple[int, str, str]]:
    """Times of cues that cannot be."""
    for cue in found:
        if cue.end is None:
            yield cue.line, "has no end that is a time", "00:01:00.000 --> 00:01:02.000"
        elif cue.end < cue.start:
            yield cue.line, "ends before it begins", ""
    for before, cue in pairwise(found):
        if cue.start < before.start:
            yield cue.line, f"begins before the cue of line {before.line}", "sort cues by time"


def _words(words: Sequence[Word], field: str) -> Starts | list[Fault]:
    faults = list(_odd_words(words, field))
    ends = [word.start if word.end is UNSET else word.end for word in words]
    pieces = [Piece(word.word, word.start, end) for word, end in zip(words, ends, strict=True)]
    return faults or _starts(pieces, cues=False)


def _odd_words(words: Sequence[Word], field: str) -> Iterator[Fault]:
    for index, word in enumerate(words):
        at = f"{field}[{index}]"
        if not is_name(word.word):
            told = f"must be printable text, got {show(word.word)}"
            yield Fault(at, told, "no control characters, no blanks around")
        if word.end is not UNSET and word.end < word.start:
            yield Fault(at, "ends before it begins")
        if index and word.start < words[index - 1].start:
            yield Fault(at, "begins before the word before it", "sort words by time")


def _starts(pieces: Sequence[Piece], *, cues: bool) -> Starts:
    return tuple(time for _, time in timed_sentences(pieces, cues=cues))


READERS: tuple[Callable[[Any, str], Starts | list[Fault]], ...] = (_sentences, _subtitles, _words)
