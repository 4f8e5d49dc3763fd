"""What a summary is: its words and where they stand in the transcript."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from msgspec import UNSET

from earwitness.data import Item, Summary
from earwitness.formats.check import Fault, is_name, show
from earwitness.formats.summaries.layouts import Annotation, Content, Reference, Timed
from earwitness.text.ctm import read_ctm
from earwitness.text.extraction import NoExtraction, extraction
from earwitness.text.recognised import recognised
from earwitness.text.words import TOKENISERS, same

NAN = float("nan")
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")  # but for blanks and line ends
LISTED = 8  # words that a problem names
WITHOUT_BLANKS = re.compile("[\u3040-\u30ff\u3400-\u9fff]")  # kana and Han
Spans = tuple[tuple[float, float], ...]
EXTRACTED = "a summary keeps words of what was said, in their order"
FREE = "give recognised words as words, or --metric sumaccy --match surface"
TEXTS = "--metric rouge scores texts of their own"


@dataclass(frozen=True)
class Reading:
    """What the metrics need: positions of outputs, of references; and how text becomes words."""

    outputs: bool = True
    references: bool = True
    tokenise: str = "blanks"

    def cut(self, text: str) -> tuple[str, ...]:
        """Text as words."""
        return tuple(TOKENISERS[self.tokenise](text))


class Resolved(NamedTuple):
    """A summary, and in how many ways it could have been found in the transcript."""

    summary: Summary
    ways: int = 1


FAILED = Resolved(Summary("", (), ()))


def item_of(record: Reference, reading: Reading) -> Item | list[Fault]:
    """What was said."""
    duration = NAN if record.duration is UNSET else record.duration
    fields = {"words": record.words, "transcript": record.transcript, "ctm": record.ctm}
    given = [name for name, value in fields.items() if value is not UNSET]
    if len(given) > 1:
        return [Fault(given[1], f"what was said is also in {given[0]}", "keep one")]
    if not given:
        if reading.references:
            return [Fault("words", "missing", "give the words of what was said, or a transcript")]
        return Item(duration)
    if record.transcript is not UNSET:
        if CONTROL.search(record.transcript):
            return [Fault("transcript", "has control characters in it", "remove them")]
        words: tuple[str, ...] = reading.cut(record.transcript)
        times = None
    else:
        found = _timed(record, "")
        if isinstance(found, list):
            return found
        words, times = found
    if not words and reading.references:
        return [Fault(given[0], "has no word in it")]
    return Item(duration, words=words, times=times)


def of_person(one: Annotation, item: Item, reading: Reading, path: str) -> Resolved | list[Fault]:
    """A manual summary; it must not be empty."""
    if one.positions is UNSET and one.text is UNSET:
        return [Fault(f"{path}.positions", "missing", "or give a text")]
    found = _plain(
        one, item, reading, path, needed=reading.references, remedy=f"{EXTRACTED}; {TEXTS}"
    )
    if isinstance(found, Resolved) and not found.summary.words:
        field = "positions" if one.positions is not UNSET else "text"
        return [Fault(f"{path}.{field}", "is empty", "somebody who keeps nothing is no reference")]
    return found


def of_system(one: Content, item: Item, reading: Reading, path: str) -> Resolved | list[Fault]:
    """A system's summary."""
    fields = {"positions": one.positions, "text": one.text, "words": one.words, "ctm": one.ctm}
    given = [name for name, value in fields.items() if value is not UNSET]
    if not given:
        return [Fault(f"{path}.positions", "missing", "or give a text, or words")]
    if len(given) > 1 and given != ["positions", "text"]:
        return [Fault(f"{path}.{given[1]}", f"the summary is also in {given[0]}", "keep one")]
    if given[0] in ("positions", "text"):
        remedy = f"{EXTRACTED}; {FREE}; {TEXTS}"
        return _plain(one, item, reading, path, needed=reading.outputs, remedy=remedy)
    found = _timed(one, path)
    if isinstance(found, list):
        return found
    words, times = found
    positions = None
    if reading.outputs:
        both = (times, item.times) if times is not None and item.times is not None else None
        positions = recognised(words, item.words, both)
    return Resolved(Summary(" ".join(words), words, positions))


def _plain(
    one: Any, item: Item, reading: Reading, path: str, *, needed: bool, remedy: str
) -> Resolved | list[Fault]:
    """Positions or a text."""
    if one.positions is not UNSET:
        positions = tuple(one.positions)
        faults = list(_wrong_positions(positions, item, f"{path}.positions"))
        if not faults and one.text is not UNSET:
            faults = list(_disagreeing(positions, one.text, item, reading, path))
        if faults:
            return faults
        words = tuple(item.words[position - 1] for position in positions)
        return Resolved(Summary(" ".join(words), words, positions))
    if CONTROL.search(one.text):
        return [Fault(f"{path}.text", "has control characters in it", "remove them")]
    words = reading.cut(one.text)
    if not needed:
        return Resolved(Summary(one.text, words, None))
    found = extraction(words, item.words)
    if isinstance(found, NoExtraction):
        if reading.tokenise == "blanks" and WITHOUT_BLANKS.search(one.text):
            remedy = "--tokenise japanese cuts Japanese into words; or give words and positions"
        return [Fault(f"{path}.text", _not_extracted(words, found.place, item), remedy)]
    return Resolved(Summary(one.text, words, found.positions), found.ways)


def _not_extracted(words: Sequence[str], place: int, item: Item) -> str:
    """Which words were not said at all, or which came too early."""
    known = {same(word) for word in item.words}
    unsaid = [f'"{word}"' for word in dict.fromkeys(words) if same(word) not in known]
    if unsaid:
        return (
            f"no extraction: not said: {', '.join(unsaid[:LISTED])}{', …' * (len(unsaid) > LISTED)}"
        )
    before = " ".join(words[max(0, place - 3) : place])
    return f'no extraction: word {place + 1}, "{words[place]}", was not said behind "{before}"'


def _wrong_positions(positions: Sequence[int], item: Item, path: str) -> Iterator[Fault]:
    if positions and not item.words:
        yield Fault(path, "positions of what? the item has no words", "give words or a transcript")
        return
    for index, position in enumerate(positions):
        if not 1 <= position <= len(item.words):
            told = f"{position} is no position: what was said has the words 1 to {len(item.words)}"
            yield Fault(f"{path}[{index}]", told, "the first word is 1")
        elif index and position <= positions[index - 1]:
            told = f"must increase, but {position} follows {positions[index - 1]}"
            yield Fault(f"{path}[{index}]", told)


def _disagreeing(
    positions: Sequence[int], text: str, item: Item, reading: Reading, path: str
) -> Iterator[Fault]:
    kept = [item.words[position - 1] for position in positions]
    words = reading.cut(text)
    if list(map(same, kept)) != list(map(same, words)):
        told = f'the words at the positions are "{_short(kept)}", not "{_short(words)}"'
        yield Fault(f"{path}.text", told, "the first word is 1")


def _short(words: Sequence[str]) -> str:
    text = " ".join(words)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _timed(record: Any, path: str) -> tuple[tuple[str, ...], Spans | None] | list[Fault]:
    """Words with their times if all of them have any."""
    at = f"{path}." if path else ""
    if record.words is UNSET:
        return _from_ctm(record.ctm, f"{at}ctm")
    faults = []
    words, times = list[str](), list[tuple[float, float]]()
    for index, one in enumerate(record.words):
        if isinstance(one, Timed):
            times.append((one.start, one.end))
            if one.end < one.start:
                faults.append(Fault(f"{at}words[{index}]", "ends before it begins"))
        words.append(one.word if isinstance(one, Timed) else one)
        if not is_name(words[-1]):
            told = f"must be printable text, got {show(words[-1])}"
            faults.append(
                Fault(f"{at}words[{index}]", told, "no control characters, no blanks around")
            )
    if times and len(times) < len(words):
        faults.append(Fault(f"{at}words", "some have times and some have none", "all or none"))
    return faults or (tuple(words), tuple(times) if times else None)


def _from_ctm(text: str, path: str) -> tuple[tuple[str, ...], Spans | None] | list[Fault]:
    found, flaws = read_ctm(text)
    faults = [Fault(path, f"line {flaw.line}: {flaw.message}", flaw.remedy) for flaw in flaws]
    recordings = sorted({one.recording for one in found})
    if len(recordings) > 1:
        told = f"words of several recordings: {', '.join(recordings[:3])}"
        faults.append(Fault(path, told, "earwitness gather makes a line of each"))
    words = tuple(one.word for one in found)
    return faults or (words, tuple((one.start, one.end) for one in found))
