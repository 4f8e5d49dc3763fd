"""SummaryReader: lines of summary files as cases, with lead and random baselines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any, NamedTuple

import numpy as np
from msgspec import UNSET

from earwitness.core import Alignment, Case, Cases, ExampleItem, Item, Key, Summary
from earwitness.errors import UsageError
from earwitness.io.formats import sure_endings
from earwitness.io.schema import Fault, is_name, show
from earwitness.metric import CaseList, Metric
from earwitness.metric_set import MetricSet
from earwitness.summaries.metrics import draw_network
from earwitness.summaries.positions import (
    NoExtraction,
    Recognition,
    extraction,
    recognised,
    word_accuracy,
)
from earwitness.summaries.records import (
    OUTPUTS,
    REFERENCES,
    RecognizedWord,
    SummaryAnnotation,
    SummaryContent,
    SummaryItemLine,
    SummaryReferenceLine,
)
from earwitness.task import TaskReader
from earwitness.text.scripts import NOT_LATIN_REMARK, has_no_latin, latin_notes
from earwitness.text.timed_transcripts import (
    TRANSCRIPTS,
    guess_transcript_form,
    parse_timed_transcripts,
)
from earwitness.text.transcripts import CONFIDENCE_REMEDY, SORT_REMEDY, TimedWord
from earwitness.text.words import TOKENIZERS, normalise_word, tokenizer_signature

# --- Words and positions of a record -------------------------------------------------------------


CONTROL_CHARACTER_PATTERN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")  # except white space
SHOWN_WORDS = 8  # words listed in a problem
UNSPACED_LETTER_PATTERN = re.compile("[\u3040-\u30ff\u3400-\u9fff]")  # kana and Han
SPOKEN_FIELDS = ("words", "transcript", "ctm")
Spans = tuple[tuple[float, float], ...]
EXTRACTION_REMEDY = "a summary must consist of words of the transcript, in their order"
RECOGNIZED_WORDS_REMEDY = (
    'give recognized words as "words", or use --metric sumaccy --word-match surface'
)
TEXT_METRIC_REMEDY = "use --metric rouge for summaries in free wording"


@dataclass(frozen=True)
class SummaryOptions:
    """Whether metrics need positions of outputs and of references, and the tokenizer."""

    outputs: bool = True
    references: bool = True
    tokenize: str = "blanks"

    def cut(self, text: str) -> tuple[str, ...]:
        """Split a text into words."""
        return tuple(TOKENIZERS[self.tokenize](text))


class ParsedSummary(NamedTuple):
    """A summary, and whether it can be located in the transcript in several equally good ways."""

    summary: Summary
    ambiguous: bool = False


EMPTY_SUMMARY = ParsedSummary(Summary("", (), ()))
SummaryOrFaults = ParsedSummary | list[Fault]


class GivenWords(NamedTuple):
    """Words of a record; times if all words have some, and then confidences, NaN where unknown."""

    words: tuple[str, ...]
    times: Spans | None = None
    confidences: tuple[float, ...] = ()

    @classmethod
    def of(cls, timed: Sequence[TimedWord]) -> GivenWords:
        """Return words with times."""
        return cls(
            tuple(word.word for word in timed),
            tuple((word.start, word.end) for word in timed),
            tuple(nan if word.confidence is None else word.confidence for word in timed),
        )

    def locate(self, item: Item) -> Recognition:
        """Return the positions of the words in the transcript of an item."""
        times = (self.times, item.times) if self.times and item.times else None
        return recognised(self.words, item.words, times)


def given_fields(record: Any, *names: str) -> list[str]:
    """Return the names of fields that a record has."""
    return [name for name in names if getattr(record, name) is not UNSET]


def read_words(
    record: Any, name: str, reading: SummaryOptions, path: str = ""
) -> GivenWords | list[Fault]:
    """Return the words of a field (a list of words, a CTM file or a text), or all faults."""
    given = getattr(record, name)
    path = f"{path}.{name}" if path else name
    if not isinstance(given, str):
        return _from_words(given, path)
    if name == "ctm" or (name == "recognized" and guess_transcript_form(given)):
        return _from_ctm(given, path)
    if name == "transcript" and CONTROL_CHARACTER_PATTERN.search(given):
        return [Fault(path, "contains control characters", "remove them")]
    return GivenWords(reading.cut(given))


def item_of(record: SummaryItemLine, reading: SummaryOptions) -> Item | list[Fault]:
    """Return the item with its transcript, or all faults."""
    duration = nan if record.duration is UNSET else record.duration
    names = given_fields(record, *SPOKEN_FIELDS)
    if len(names) > 1:
        return [Fault(names[1], f"the transcript is also given in {names[0]}", "keep one")]
    if not names:
        if reading.references:
            return [Fault("words", "missing", "give the spoken words, or a transcript")]
        return Item(duration)
    said = read_words(record, names[0], reading)
    if isinstance(said, list):
        return said
    if not said.words and reading.references:
        return [Fault(names[0], "contains no words")]
    item = Item(duration, words=said.words, times=said.times)
    if record.recognized is UNSET or not said.words:
        return item
    heard = read_words(record, "recognized", reading)
    if isinstance(heard, list):
        return heard
    return replace(item, recognized=heard.locate(item).positions)


def of_person(
    annotation: SummaryAnnotation, item: Item, reading: SummaryOptions, path: str
) -> SummaryOrFaults:
    """Return a reference summary, which must not be empty, or all faults."""
    if annotation.positions is UNSET and annotation.text is UNSET:
        return [Fault(f"{path}.positions", "missing", "or give a text")]
    remedy = f"{EXTRACTION_REMEDY}; {TEXT_METRIC_REMEDY}"
    parsed = _plain(annotation, item, reading, path, needed=reading.references, remedy=remedy)
    if isinstance(parsed, ParsedSummary) and not parsed.summary.words:
        field = "positions" if annotation.positions is not UNSET else "text"
        return [Fault(f"{path}.{field}", "is empty", "a reference summary needs at least one word")]
    return parsed


def of_system(
    content: SummaryContent, item: Item, reading: SummaryOptions, path: str
) -> SummaryOrFaults:
    """Return the summary of a system, or all faults."""
    names = given_fields(content, "positions", "text", "words", "ctm")
    if not names:
        return [Fault(f"{path}.positions", "missing", "or give a text, or words")]
    if len(names) > 1 and names != ["positions", "text"]:
        return [Fault(f"{path}.{names[1]}", f"the summary is also in {names[0]}", "keep one")]
    if names[0] in ("positions", "text"):
        remedy = f"{EXTRACTION_REMEDY}; {RECOGNIZED_WORDS_REMEDY}; {TEXT_METRIC_REMEDY}"
        return _plain(content, item, reading, path, needed=reading.outputs, remedy=remedy)
    heard = read_words(content, names[0], reading, path)
    if isinstance(heard, list):
        return heard
    text = " ".join(heard.words)
    if not reading.outputs:
        return ParsedSummary(Summary(text, heard.words, None))
    located = heard.locate(item)
    return ParsedSummary(Summary(text, heard.words, located.positions), located.ambiguous)


def _plain(
    content: Any, item: Item, reading: SummaryOptions, path: str, *, needed: bool, remedy: str
) -> SummaryOrFaults:
    """Return a summary from positions or a text, or all faults."""
    if content.positions is not UNSET:
        positions = tuple(content.positions)
        if faults := list(_wrong_positions(positions, item, f"{path}.positions")):
            return faults
        words = tuple(item.words[position - 1] for position in positions)
        written = words if content.text is UNSET else reading.cut(content.text)
        if words != written and [*map(normalise_word, words)] != [*map(normalise_word, written)]:
            message = f'the words at the positions are "{_short(words)}", not "{_short(written)}"'
            return [Fault(f"{path}.text", message, "positions start at 1")]
        return ParsedSummary(Summary(" ".join(words), words, positions))
    if CONTROL_CHARACTER_PATTERN.search(content.text):
        return [Fault(f"{path}.text", "contains control characters", "remove them")]
    words = reading.cut(content.text)
    if not needed:
        return ParsedSummary(Summary(content.text, words, None))
    extracted = extraction(words, item.words)
    if isinstance(extracted, NoExtraction):
        if reading.tokenize == "blanks" and UNSPACED_LETTER_PATTERN.search(content.text):
            remedy = "use --language ja for Japanese, or give words and positions"
        return [Fault(f"{path}.text", _not_extracted(words, extracted.place, item), remedy)]
    return ParsedSummary(Summary(content.text, words, extracted.positions), extracted.ways > 1)


def _not_extracted(words: Sequence[str], place: int, item: Item) -> str:
    """Return a message with the words that are not in the transcript or not in order."""
    said = {normalise_word(word) for word in item.words}
    unsaid = [f'"{word}"' for word in dict.fromkeys(words) if normalise_word(word) not in said]
    if unsaid:
        more = ", …" if len(unsaid) > SHOWN_WORDS else ""
        return f"not extractive: not in the transcript: {', '.join(unsaid[:SHOWN_WORDS])}{more}"
    before = " ".join(words[max(0, place - 3) : place])
    return f'not extractive: word {place + 1}, "{words[place]}", does not follow "{before}"'


def _wrong_positions(positions: Sequence[int], item: Item, path: str) -> Iterator[Fault]:
    if positions and not item.words:
        yield Fault(path, "the item has no words for the positions", "give words or a transcript")
        return
    for index, position in enumerate(positions):
        if not 1 <= position <= len(item.words):
            message = f"{position} is out of range: the transcript has words 1 to {len(item.words)}"
            yield Fault(f"{path}[{index}]", message, "positions start at 1")
        elif index and position <= positions[index - 1]:
            message = f"must increase, but {position} follows {positions[index - 1]}"
            yield Fault(f"{path}[{index}]", message)


def _short(words: Sequence[str]) -> str:
    text = " ".join(words)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _from_words(given: Sequence[RecognizedWord | str], path: str) -> GivenWords | list[Fault]:
    """Return words, with times if all words have times, or all faults."""
    faults, words, timed = list[Fault](), list[str](), list[RecognizedWord]()
    for index, word in enumerate(given):
        if isinstance(word, RecognizedWord):
            faults += _wrong_times(word, timed, f"{path}[{index}]")
            timed.append(word)
        words.append(word if isinstance(word, str) else word.word)
        if not is_name(words[-1]):
            message = f"must be printable text, got {show(words[-1])}"
            remedy = "remove control characters and surrounding spaces"
            faults.append(Fault(f"{path}[{index}]", message, remedy))
    if timed and len(timed) < len(words):
        message = "some words have times and some do not"
        faults.append(Fault(path, message, "give times for all words or for none"))
    times = tuple((timed_word.start, timed_word.end) for timed_word in timed)
    sure = tuple(
        nan if timed_word.confidence is UNSET else timed_word.confidence for timed_word in timed
    )
    return faults or GivenWords(tuple(words), times or None, sure)


def _wrong_times(
    word: RecognizedWord, before: Sequence[RecognizedWord], path: str
) -> Iterator[Fault]:
    """Yield the faults of the times and the confidence of a word that follows other words."""
    if word.start < 0:
        yield Fault(path, "starts before 0", "times are in seconds from the start of the recording")
    if word.end < word.start:
        yield Fault(path, "ends before it begins")
    if before and word.start < before[-1].start:
        yield Fault(
            path, f"starts at {word.start:g} s, before the word in front of it", SORT_REMEDY
        )
    if word.confidence is not UNSET and word.confidence > 1:
        yield Fault(path, f"has the confidence {word.confidence:g}, above 1", CONFIDENCE_REMEDY)


def _from_ctm(text: str, path: str) -> GivenWords | list[Fault]:
    """Return the words of a CTM file, or of another transcript that is recognized."""
    transcripts, flaws = parse_timed_transcripts(text, guess_transcript_form(text) or "ctm")
    faults = [Fault(path, f"line {flaw.line}: {flaw.message}", flaw.remedy) for flaw in flaws]
    if len(transcripts) > 1:
        message = f"words of several recordings: {', '.join(t.recording for t in transcripts[:3])}"
        faults.append(Fault(path, message, "use earwitness gather to make one line per recording"))
    segments = [segment for transcript in transcripts for segment in transcript.segments]
    if not all(segment.words for segment in segments):
        return faults or GivenWords(
            tuple(word for segment in segments for word in segment.text.split())
        )
    return faults or GivenWords.of([word for segment in segments for word in segment.words])


# --- Summary reader ------------------------------------------------------------------------------


AMBIGUOUS_REMARK = "ambiguous in "
AMBIGUOUS = (
    "can be located in the transcript in several ways; the positions with most neighbouring words, "
    "then the earliest, are used"
)
SHOWN_ITEMS = 5  # items listed in a note


@dataclass(frozen=True)
class SummaryReader(TaskReader):
    """Reader of summary files, with the options ``reading``."""

    reading: SummaryOptions = field(default_factory=SummaryOptions)

    outputs = OUTPUTS
    references = REFERENCES
    failed = EMPTY_SUMMARY
    nothing = {"positions": []}
    if_nothing = "write an empty list if it kept nothing"
    baselines = ("lead", "random")

    @property
    def signature(self) -> str:
        name = self.reading.tokenize
        return "" if name == "blanks" else f"|tokenize={tokenizer_signature(name)}"

    @property
    def foreign_endings(self) -> Collection[str]:
        return sure_endings(TRANSCRIPTS)

    def output(self, record: SummaryContent, cases: Cases, row: int) -> SummaryOrFaults:
        return of_system(record, cases[row].item, self.reading, "output")

    def reference(
        self, record: SummaryReferenceLine, names: Sequence[str]
    ) -> tuple[list[Any], list[Fault]]:
        """Return the item, then every summary of it, and all faults."""
        item = item_of(record, self.reading)
        if isinstance(item, list):
            return [], item
        parsed = [
            of_person(annotation, item, self.reading, f"references[{n}]")
            for n, annotation in enumerate(record.references)
        ]
        faults = [fault for result in parsed if isinstance(result, list) for fault in result]
        return [item, *(summary for summary in parsed if not isinstance(summary, list))], faults

    def of_references(
        self, records: Sequence[SummaryReferenceLine], resolved: Sequence[list[Any]]
    ) -> CaseList:
        nothing = EMPTY_SUMMARY.summary
        return CaseList(
            Case(
                Key(str(record.item), ""), item, nothing, tuple(person.summary for person in people)
            )
            for record, (item, *people) in zip(records, resolved, strict=True)
        )

    def fields(self, case: Cases, row: int) -> dict[str, Any]:
        item: Item = case[row].item
        item_fields = {} if np.isnan(item.duration) else {"duration": item.duration}
        if item.recognized is not None:
            item_fields["accuracy"] = word_accuracy(item.recognized, len(item.words))
        return item_fields | {"words": len(item.words)}

    def remarks(self, cases: Cases, resolved: Sequence[Any], *, references: bool) -> Counter[str]:
        """Count texts that can be located in the transcript in several ways."""
        names, side = list(cases.items), "outputs"
        summaries = [summary for summary in resolved if isinstance(summary, ParsedSummary)]
        if references:
            names, side = [case.key.item for case in cases for _ in case.references], "references"
        pairs = zip(names, summaries, strict=True)
        odd = Counter(
            f"{AMBIGUOUS_REMARK}{side} {name}" for name, summary in pairs if summary.ambiguous
        )
        if references:
            odd[NOT_LATIN_REMARK] = sum(has_no_latin(summary.summary.text) for summary in summaries)
        return +odd

    def example(
        self,
        item: ExampleItem,
        cases: Mapping[str, Case],
        references: Mapping[str, Any],
        metrics: MetricSet,
    ) -> ExampleItem:
        """Return the item with its word network, and with alignments or the summaries' texts."""
        network = draw_network(metrics.metrics, cases, references)
        if metrics.aligns:
            return replace(super().example(item, cases, references, metrics), network=network)
        people = [f"{name}: {summary.text}" for name, summary in references.items()]
        texts = {name: [*people, f"OUT: {case.output.text}"] for name, case in cases.items()}
        shown = {name: (Alignment((), text="\n".join(lines)),) for name, lines in texts.items()}
        return replace(item, network=network, alignments=shown)

    def notes(self, remarks: Counter[str], metrics: Sequence[Metric]) -> Iterator[str]:
        yield from latin_notes(remarks[NOT_LATIN_REMARK], metrics)
        for side in ("references", "outputs"):
            start = f"{AMBIGUOUS_REMARK}{side} "
            items = {n.removeprefix(start): c for n, c in remarks.items() if n.startswith(start)}
            if number := sum(items.values()):
                names = ", ".join(list(items)[:SHOWN_ITEMS]) + (
                    ", …" if len(items) > SHOWN_ITEMS else ""
                )
                what = "summary" if number == 1 else "summaries"
                yield f"{number:,} {what} among the {side} {AMBIGUOUS}: {names}"

    def baseline(self, name: str, cases: Cases, seed: int) -> list[ParsedSummary]:
        """Return the first words, or random words, as many as people keep on average."""
        silent = [case.key.item for case in cases if not case.item.words]
        if silent and name in self.baselines:
            raise UsageError(
                f"baseline {name}: {len(silent):,} items have no transcript"
                f" — add words or a transcript: {silent[0]} …"
            )
        return super().baseline(name, cases, seed)

    def draw_baseline(self, name: str, case: Case, seeds: list[int]) -> ParsedSummary:
        words = case.item.words
        size = round(
            sum(len(reference.words) for reference in case.references) / len(case.references)
        )
        size = min(max(size, 1), len(words))
        places = list(range(size))
        if name == "random":
            drawn = np.random.default_rng(seeds).choice(len(words), size, replace=False)
            places = sorted(drawn.tolist())
        kept = tuple(words[place] for place in places)
        return ParsedSummary(Summary(" ".join(kept), kept, tuple(place + 1 for place in places)))
