"""ChapterReader: lines of chapter files as cases, with notes about unusual input."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msgspec import UNSET, UnsetType

from earwitness.chapters.cases import (
    DURATIONS,
    EMPTY_CHAPTERS,
    SIDES,
    ChapterCases,
    ChapterTexts,
    ParsedChapters,
    Starts,
    check_units,
    spans_of,
    time_notes,
    time_remarks,
)
from earwitness.chapters.matching import match_boundaries
from earwitness.chapters.metrics import Collar, MatchedMetric
from earwitness.chapters.presets import (
    EACH_LEVEL,
    PRESETS,
    ChapterOptions,
    ItemAudio,
    align_transcript,
    found_levels,
    level_notes,
    level_remarks,
    read,
)
from earwitness.chapters.records import (
    OUTPUTS,
    REFERENCES,
    SAMPLES,
    ChapterContent,
    ChapterReferenceLine,
    ChunksegSample,
    TitleList,
    Word,
    content_in_seconds,
    in_seconds,
    sample_in_seconds,
)
from earwitness.chapters.text_metrics import TitleMetric, pair_titles
from earwitness.core import (
    BoundaryMatching,
    Case,
    Cases,
    ExampleItem,
    Key,
    OnError,
    Progress,
    Titles,
    no_progress,
)
from earwitness.errors import EarwitnessWarning, nearest
from earwitness.io.formats import sure_endings
from earwitness.io.records import (
    Findings,
    hash_names,
    item_name,
    refuse_other_files,
    unset_to_empty,
)
from earwitness.io.schema import MAX_TIME_SECONDS, Fault, is_name, show
from earwitness.io.source import LineBlock
from earwitness.metric import Metric
from earwitness.metric_set import MetricSet
from earwitness.stats.arrays import Ragged
from earwitness.task import GroupLabels, ParsedBatch, Slicing, TaskReader
from earwitness.text.scripts import (
    NOT_LATIN_REMARK,
    UNSPACED_REMARK,
    has_no_latin,
    is_unspaced,
    latin_notes,
)
from earwitness.text.sentences import SpokenPiece, timed_sentences
from earwitness.text.timed_transcripts import (
    TRANSCRIPTS,
    guess_transcript_form,
    parse_timed_transcripts,
)
from earwitness.text.transcripts import Flaw, Transcript

# --- Notes about odd input -----------------------------------------------------------------------


TEXTS_BY_METRIC = {"titles": "titles", "wer": "transcripts"}  # texts that metrics need


ChaptersOrFaults = ParsedChapters | list[Fault]
StartsOrFaults = Starts | list[Fault]
FoundStarts = StartsOrFaults | None  # None without sentences
SINGLE_SENTENCE_REMARK, TIMED_SENTENCES_REMARK = "a single sentence", "sentences"
UNDEFINED_METRICS = {  # metrics that are undefined without texts, and the reason
    "wer": ("wer", "no item has both a transcript and an output with text"),
    "sentences": (TIMED_SENTENCES_REMARK, "no item has sentences, subtitles or words with times"),
}


def text_remarks(cases: ChapterCases) -> Counter[str]:
    """Count texts that can be scored."""
    if cases.texts is None:
        return Counter()
    title_lists = [titles for titles in cases.texts.references if titles is not None]
    foreign = sum(has_no_latin(" ".join(text for text, _ in titles)) for titles in title_lists)
    both = zip(cases.texts.outputs, cases.texts.items, strict=True)
    said = [text for (_, heard, _), (text, _) in both if heard is not None and text is not None]
    timed = [starts for _, starts in cases.texts.items if starts is not None]
    return Counter(
        {
            "titles": len(title_lists),
            "wer": len(said),
            NOT_LATIN_REMARK: foreign,
            UNSPACED_REMARK: sum(map(is_unspaced, said)),
            TIMED_SENTENCES_REMARK: len(timed),
            SINGLE_SENTENCE_REMARK: sum(len(starts) == 1 for starts in timed),
        }
    )


def chapter_notes(remarks: Counter[str], metrics: set[str]) -> Iterator[str]:
    """Yield the notes for these remarks."""
    if loose := remarks["loose"]:
        what = "line lies" if loose == 1 else "lines lie"
        yield f"{loose:,} {what} outside all chapters of their transcript"
    for name in sorted(UNDEFINED_METRICS.keys() & metrics):
        remark, why = UNDEFINED_METRICS[name]
        if not remarks[remark]:
            yield f"{name} is undefined for all outputs: {why}"
    if (count := remarks[UNSPACED_REMARK]) and "wer" in metrics:
        message = "transcripts in a script without spaces between words"
        yield f"{message} ({count:,}): wer counts the text between two spaces as one word"
    for name in sorted(TEXTS_BY_METRIC.keys() & (+remarks).keys() - metrics):
        message = f"{TEXTS_BY_METRIC[name]} are available ({remarks[name]:,})"
        yield f"{message}; use --metric {name} to score them"
    if (count := remarks[SINGLE_SENTENCE_REMARK]) and "sentences" in metrics:
        message = f"items with a single sentence, in which no boundary is possible: {count:,}"
        yield f"{message} — words without punctuation cannot be split into sentences"


# --- Sentence start times ------------------------------------------------------------------------


SPEECH_KINDS = ("sentences", "subtitles", "words")


def spoken(record: Any, path: str = "") -> FoundStarts:
    """Return the start times of sentences of a record, None if it has none, or all faults.

    ``path`` is the prefix of field names, as in ``output.words``.
    """
    return spoken_of({f"{path}{kind}": getattr(record, kind) for kind in SPEECH_KINDS})


def spoken_of(fields: Mapping[str, Any]) -> FoundStarts:
    """Return the same for fields by name: sentences, subtitles and words, in this order."""
    pairs = zip(fields.items(), SPEECH_READERS, strict=True)
    fields_set = [(field, value, read) for (field, value), read in pairs if value is not UNSET]
    if not fields_set:
        return None
    (first, value, read), *more = fields_set
    message = f"sentences are also given in {first}"
    return [Fault(field, message, "keep one") for field, *_ in more] or read(value, first)


def _subtitles(text: str, field: str) -> StartsOrFaults:
    form = guess_transcript_form(text) or "srt"
    transcripts, flaws = parse_timed_transcripts(text, form)
    segments = [segment for transcript in transcripts for segment in transcript.segments]
    if len(transcripts) > 1 or any(isnan(segment.start) for segment in segments):
        message = "must be the transcript of one recording, with times"
        flaws.append(Flaw(1, message, "use earwitness gather for files of several recordings"))
    if flaws:
        return [Fault(field, f"line {f.line}: {f.message}", f.remedy) for f in flaws]
    if segments and all(segment.words for segment in segments):
        words = (word for segment in segments for word in segment.words)
        starts = _starts([SpokenPiece(*word[1:4]) for word in words], cues=False)
        if len(starts) > 1:
            return starts
    return _starts([SpokenPiece(*segment[:3]) for segment in segments], cues=True)


def _words(words: Sequence[Word], field: str) -> StartsOrFaults:
    faults = list(_odd_words(words, field))
    pieces = [
        SpokenPiece(word.word, word.start, word.start if word.end is UNSET else word.end)
        for word in words
    ]
    return faults or _starts(pieces, cues=False)


def _odd_words(words: Sequence[Word], field: str) -> Iterator[Fault]:
    for index, word in enumerate(words):
        at = f"{field}[{index}]"
        if not is_name(word.word):
            message = f"must be printable text, got {show(word.word)}"
            yield Fault(at, message, "remove control characters and surrounding spaces")
        if word.end is not UNSET and word.end < word.start:
            yield Fault(at, "ends before it begins")
        if index and word.start < words[index - 1].start:
            yield Fault(at, "begins before the previous word", "sort words by time")


def _starts(pieces: Sequence[SpokenPiece], *, cues: bool) -> Starts:
    return tuple(time for _, time in timed_sentences(pieces, cues=cues))


SPEECH_READERS: tuple[Callable[[Any, str], StartsOrFaults], ...] = (
    lambda sentences, _: tuple(time for _, time in sentences),
    _subtitles,
    _words,
)


# --- Boundaries and titles of a record -----------------------------------------------------------


ALIGNED_REMARK, DAMAGE_REMARK = "aligned", "damage: "


def resolve(
    content: ChapterContent, reading: ChapterOptions, path: str, audio: ItemAudio
) -> ChaptersOrFaults:
    """Return the chapters of a content, or all faults; ``path`` is its path in the record."""
    titles = given_titles(content.titles)
    if content.transcript is UNSET:
        if content.boundaries is UNSET:
            return [Fault(_at(path, "boundaries"), "missing", "or give a transcript with times")]
        return ParsedChapters(content.boundaries, titles)
    if not content.transcript.strip():
        boundaries = () if content.boundaries is UNSET else content.boundaries
        return ParsedChapters(boundaries, titles, "")
    preset = reading.preset if content.preset is UNSET else content.preset
    if preset not in PRESETS:
        message = f'unknown preset "{preset}"' if preset else "unknown chapter format"
        remedy = nearest(preset, PRESETS) if preset else f"set a preset: {', '.join(PRESETS)}"
        return [Fault(_at(path, "transcript"), message, remedy)]
    transcript, field = read(content.transcript, preset, reading.options), _at(path, "transcript")
    if faults := _transcript_faults(transcript, field):
        return faults
    is_list, is_aligned = not PRESETS[preset].kind.endswith("text"), False
    if content.boundaries is UNSET and transcript.sections:
        is_aligned = not transcript.is_timed or (reading.force_alignment and not is_list)
    if is_aligned:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", EarwitnessWarning)
            aligned = align_transcript(transcript, reading, audio)
        if not isinstance(aligned, Transcript):
            return [Fault(field, *aligned)]
        parsed = _from_transcript(content, aligned, is_list=is_list)
        damage = tuple(str(warning.message) for warning in caught)
        return parsed._replace(is_aligned=True, damage=damage)
    return _from_transcript(content, transcript, is_list=is_list)


def with_sentences(chapters: ChaptersOrFaults, starts: FoundStarts) -> ChaptersOrFaults:
    """Return chapters with sentences, or the faults of both."""
    if isinstance(chapters, list) or isinstance(starts, list):
        return [fault for part in (chapters, starts) if isinstance(part, list) for fault in part]
    return chapters._replace(sentences=starts)


def _transcript_faults(transcript: Transcript, field: str) -> list[Fault]:
    faults = [Fault(field, f"line {f.line}: {f.message}", f.remedy) for f in transcript.flaws]
    return faults + [
        Fault(field, f"line {section.line}: {section.time:g} s is not a valid time")
        for section in transcript.sections
        if section.time is not None and not abs(section.time) <= MAX_TIME_SECONDS
    ]


def _from_transcript(
    content: ChapterContent, transcript: Transcript, *, is_list: bool
) -> ParsedChapters:
    titles = given_titles(content.titles)
    if titles is None and any(section.title is not None for section in transcript.sections):
        titles = tuple(
            (s.title or "", nan if s.time is None else s.time) for s in transcript.sections
        )
    said, times = None if is_list else transcript.text, content.boundaries
    if times is not UNSET:
        return ParsedChapters(times, titles, said, loose=transcript.loose)
    levels = tuple(sorted(transcript.levels))
    return ParsedChapters(transcript.times, titles, said, None, transcript.loose, levels)


def given_text(text: str | UnsetType) -> str | None:
    """Return a text, or None if it is unset."""
    return None if text is UNSET else text


def given_titles(titles: TitleList | UnsetType) -> Titles | None:
    """Return titles, or None if they are unset."""
    return None if titles is UNSET else tuple(titles)


def _at(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


# --- Samples in the chunkseg format --------------------------------------------------------------


def parse_samples(
    block: LineBlock,
    system: str,
    on_error: OnError,
    by: tuple[Slicing, ...],
    reader: ChapterReader,
) -> ParsedBatch:
    """Return the cases of lines in chunkseg's format, all of one system."""
    refuse_other_files("samples", block, on_error, reader.foreign_endings)
    findings, taken, lines = Findings(on_error), list[_Taken](), list[int]()
    units = {side: reader.reading.seconds(side) for side in SIDES}
    nulls = Counter[str]()
    for line, record in SAMPLES.read(block, nulls):
        if isinstance(record, bytes):
            parsed = _mend(block, line, record, system, findings)
            parsed = parsed and parsed._replace(sample=sample_in_seconds(parsed.sample, units))
        else:
            timed = sample_in_seconds(record, units)
            parsed = _take(block, line, timed, system, findings, reader)
        if parsed is not None:
            taken.append(parsed)
            lines.append(line)
    samples, outputs = [parsed.sample for parsed in taken], [parsed.output for parsed in taken]
    named = zip(samples, lines, strict=True)
    items = [f"line {line}" if s.id is UNSET else str(s.id) for s, line in named]
    titles = [given_titles(sample.reference_titles) for sample in samples]
    said = [(given_text(case.sample.reference_transcript), case.starts) for case in taken]
    cases = ChapterCases(
        items,
        [system] * len(items),
        np.array([sample.duration for sample in samples], np.float64),
        Ragged.from_rows([output.boundaries for output in outputs]),
        Ragged.from_rows([sample.reference for sample in samples]),
        texts=ChapterTexts.of([output.texts for output in outputs], titles, said),
    )
    records = ((unset_to_empty(sample.meta), {"duration": sample.duration}) for sample in samples)
    sounds = reversed(list(zip(items, samples, strict=True)))  # the first of a repeated id counts
    audio = {item: sample.audio for item, sample in sounds if sample.audio is not UNSET}
    remarks = reader.remarks(cases, outputs, references=False) + nulls
    return ParsedBatch(
        cases,
        np.array(lines, np.int64),
        hash_names(items),
        findings,
        remarks + time_remarks(cases, references=True),
        labels=GroupLabels.of(by, records),
        audio=audio,
    )


class _Taken(NamedTuple):
    """A sample with its output, and the start times of the sentences of the reference."""

    sample: ChunksegSample
    output: ParsedChapters
    starts: Starts | None


def _take(
    block: LineBlock,
    line: int,
    sample: ChunksegSample,
    system: str,
    findings: Findings,
    reader: ChapterReader,
) -> _Taken | None:
    """Return a sample of a valid line, or None if its texts are invalid."""
    output = _output(sample, reader)
    heard, said = _spoken(sample, "hyp"), _spoken(sample, "reference")
    chapters = with_sentences(output, heard)
    faults = [fault for part in (chapters, said) if isinstance(part, list) for fault in part]
    empty = findings.on_error == "empty" and not isinstance(heard, list)
    if faults:
        key = Key(item_name(None if sample.id is UNSET else sample.id, line), system)
        skip = not empty or isinstance(said, list)
        findings.bad(block.source, line, key, faults, skip=skip)
    if isinstance(said, list) or (isinstance(chapters, list) and not empty):
        return None
    return _Taken(sample, EMPTY_CHAPTERS if isinstance(chapters, list) else chapters, said)


def _output(sample: ChunksegSample, reader: ChapterReader) -> ChaptersOrFaults:
    """Return the chapters of a sample, from its transcript if it has one."""
    if not isinstance(sample.hypothesis, str):
        return ParsedChapters(sample.hypothesis, given_titles(sample.hyp_titles))
    content = ChapterContent(UNSET, sample.hyp_titles, sample.hypothesis, sample.format)
    audio = ItemAudio(given_text(sample.audio), reader.outputs_in, reader.progress)
    chapters = resolve(content, reader.reading, "", audio)
    if isinstance(chapters, ParsedChapters):
        return chapters
    return [Fault("hypothesis", *fault[1:]) for fault in chapters]


def _spoken(sample: ChunksegSample, side: str) -> FoundStarts:
    names = [f"{side}_{kind}" for kind in SPEECH_KINDS]
    return spoken_of({name: getattr(sample, name) for name in names})


def _mend(
    block: LineBlock, line: int, text: bytes, system: str, findings: Findings
) -> _Taken | None:
    """Return a replacement for an invalid line, and add findings."""
    value, faults = SAMPLES.faults(text)
    key = Key(item_name(value.get("id"), line), system)
    mended = SAMPLES.without_output(value, faults, []) if findings.on_error == "empty" else None
    said = None if mended is None else _spoken(mended, "reference")
    if isinstance(said, list):
        mended, faults = None, faults + said
    findings.bad(block.source, line, key, faults, skip=mended is None)
    if mended is None or isinstance(said, list):
        return None
    return _Taken(mended, EMPTY_CHAPTERS, said)


# --- Matches of example items --------------------------------------------------------------------


def _matches_by_value(
    cases: Mapping[str, Case], references: Mapping[str, Any], metrics: MetricSet
) -> dict[str, BoundaryMatching]:
    """Return the matches of boundaries that metrics count, by value; "" has those of defaults."""
    boundaries = {name: chapters.boundaries for name, chapters in references.items()}

    def match(metric: MatchedMetric) -> BoundaryMatching:
        collar, matching, edge = metric.collar, metric.boundary_matching, metric.edge
        systems = {
            system: match_boundaries(
                case.output.boundaries, boundaries, case.item.duration, collar, matching, edge
            )
            for system, case in cases.items()
        }
        return BoundaryMatching(collar, systems)

    matches, values = {"": match(Collar())}, metrics.named
    for metric in metrics.metrics:
        if isinstance(metric, MatchedMetric):
            own = match(metric)
            matches |= {value.name: own for value in values[metric.signature]}
    return matches


# --- Chapter reader ------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChapterReader(TaskReader):
    """Reader of chapter files, with the options ``reading``; audio is next to its file."""

    reading: ChapterOptions = field(default_factory=ChapterOptions)
    outputs_in: Path | None = None
    references_in: Path | None = None
    progress: Progress = field(default=no_progress, compare=False)

    outputs = OUTPUTS
    references = REFERENCES
    failed = EMPTY_CHAPTERS
    nothing = {"boundaries": []}
    if_nothing = "write an empty list if it found no chapters"

    @property
    def signature(self) -> str:
        return self.reading.signature

    @property
    def foreign_endings(self) -> Collection[str]:
        return sure_endings(PRESETS, TRANSCRIPTS) - {".json"}  # which records may have, too

    @property
    def separate_by(self) -> str:
        return "heading_level" if self.reading.options.level == EACH_LEVEL else ""

    def separate(self, remarks: Counter[str]) -> dict[str, TaskReader]:
        """Return a reader for each level of headings."""
        options = {
            level: replace(self.reading.options, level=level) for level in found_levels(remarks)
        }
        return {
            level: replace(self, reading=replace(self.reading, options=option))
            for level, option in options.items()
        }

    def with_progress(self, progress: Progress) -> ChapterReader:
        return replace(self, progress=progress)

    def output(self, record: Any, cases: Cases, row: int) -> ChaptersOrFaults:
        assert isinstance(cases, ChapterCases)
        name = None if cases.audio is None else cases.audio[row]
        audio = ItemAudio(name, self.references_in, self.progress)
        record = content_in_seconds(record, self.reading.seconds("outputs"))
        chapters = resolve(record, self.reading, "output", audio)
        return with_sentences(chapters, spoken(record, "output."))

    def reference(
        self, record: ChapterReferenceLine, names: Sequence[str]
    ) -> tuple[list[ParsedChapters], list[Fault]]:
        """Return the sentences, then the chapters of each reference, and all faults.

        References are aligned only if they have no times.
        """
        audio = ItemAudio(given_text(record.audio), self.references_in, self.progress)
        reading = replace(self.reading, force_alignment=False)
        said = with_sentences(ParsedChapters(()), spoken(record))
        resolved = [said] if isinstance(said, ParsedChapters) else []
        faults = said if isinstance(said, list) else []
        for n, given in enumerate(record.references):
            annotation = content_in_seconds(given, reading.seconds("references"))
            chapters = resolve(annotation, reading, f"references[{n}]", audio)
            blank = annotation.transcript is not UNSET and not annotation.transcript.strip()
            if annotation.boundaries is UNSET and blank:
                remedy = "give boundaries, or a text"
                chapters = [Fault(f"references[{n}].transcript", "is empty", remedy)]
            if isinstance(chapters, ParsedChapters):
                resolved.append(chapters)
            else:
                faults += chapters
        return resolved, faults

    def of_references(
        self, records: Sequence[ChapterReferenceLine], resolved: Sequence[list[ParsedChapters]]
    ) -> ChapterCases:
        items, unit = [str(record.item) for record in records], self.reading.seconds(DURATIONS)
        annotations = [annotation for _, *annotated in resolved for annotation in annotated]
        nobody = [ParsedChapters(()).texts] * len(items)
        pairs = zip(records, resolved, strict=True)
        said = [(given_text(record.transcript), item.sentences) for record, (item, *_) in pairs]
        return ChapterCases(
            items,
            [""] * len(items),
            np.array([in_seconds(record.duration, unit) for record in records], np.float64),
            Ragged.from_rows([] for _ in items),
            Ragged.from_rows(annotation.boundaries for annotation in annotations),
            spans_of([len(record.references) for record in records]),
            ChapterTexts.of(nobody, [annotation.titles for annotation in annotations], said),
            [given_text(record.audio) for record in records],
        )

    def join(
        self, cases: Cases, systems: list[str], outputs: Sequence[ParsedChapters]
    ) -> ChapterCases:
        assert isinstance(cases, ChapterCases)
        texts = ChapterTexts.of(
            [output.texts for output in outputs],
            [None] * len(cases.reference) if cases.texts is None else cases.texts.references,
            [(None, None)] * len(cases) if cases.texts is None else cases.texts.items,
        )
        boundaries = Ragged.from_rows([output.boundaries for output in outputs])
        return replace(cases, systems=systems, output=boundaries, texts=texts)

    def samples(
        self, block: LineBlock, system: str, on_error: OnError, by: tuple[Slicing, ...]
    ) -> ParsedBatch:
        return parse_samples(block, system, on_error, by, self)

    def fields(self, case: Cases, row: int) -> dict[str, Any]:
        assert isinstance(case, ChapterCases)
        return {"duration": float(case.duration[row])}

    def remarks(
        self, cases: Cases, resolved: Sequence[ParsedChapters], *, references: bool
    ) -> Counter[str]:
        assert isinstance(cases, ChapterCases)
        remarks = time_remarks(cases, references=references)
        if not references:
            remarks.update(text_remarks(cases))
        remarks["loose"] += sum(chapters.loose for chapters in resolved)
        remarks[ALIGNED_REMARK] += sum(chapters.is_aligned for chapters in resolved)
        remarks.update(
            f"{DAMAGE_REMARK}{text}" for chapters in resolved for text in chapters.damage
        )
        return remarks + level_remarks(chapters.levels for chapters in resolved)

    def example(
        self,
        item: ExampleItem,
        cases: Mapping[str, Case],
        references: Mapping[str, Any],
        metrics: MetricSet,
    ) -> ExampleItem:
        """Return the item with boundaries and titles, and the matches of both."""
        titled = [m for m in metrics.leading_metrics if isinstance(m, TitleMetric)]
        return replace(
            super().example(item, cases, references, metrics),
            references={name: chapters.boundaries for name, chapters in references.items()},
            outputs={system: case.output.boundaries for system, case in cases.items()},
            matches=_matches_by_value(cases, references, metrics),
            titles=pair_titles(cases, references, titled[0] if titled else None),
            title_score=titled[0].pair_score if titled else "",
        )

    def notes(self, remarks: Counter[str], metrics: Sequence[Metric]) -> Iterator[str]:
        """Yield the notes; raise UsageError for times in other units."""
        if aligned := remarks[ALIGNED_REMARK]:
            what = "transcript was" if aligned == 1 else "transcripts were"
            by = f"{self.reading.aligner_name} ({self.reading.language})"
            yield f"{aligned:,} {what} aligned with audio by {by}"
        damage = sorted(name for name in +remarks if name.startswith(DAMAGE_REMARK))
        yield from (name.removeprefix(DAMAGE_REMARK) for name in damage)
        check_units(remarks, self.reading.units)
        yield from time_notes(remarks, self.reading.units)
        yield from level_notes(remarks, self.reading.options.level)
        yield from chapter_notes(remarks, {metric.name for metric in metrics})
        yield from latin_notes(remarks[NOT_LATIN_REMARK], metrics)
