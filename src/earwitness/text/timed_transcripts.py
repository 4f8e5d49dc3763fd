"""Transcripts with times in files of other tools: their formats, readers and writers."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from math import inf, isfinite, nan
from pathlib import PureWindowsPath
from statistics import fmean
from typing import Any, NamedTuple

from earwitness.core import group_values, load_json
from earwitness.errors import UsageError
from earwitness.io.formats import TextFormat, detect_format, list_titles, never
from earwitness.text.sentences import (
    UNSPACED_CHARACTER,
    SpokenPiece,
    fill_times,
    fit_cues,
    group_sentences,
    share_time,
    write_srt,
    write_webvtt,
)
from earwitness.text.times import TimestampFormat, words_in_seconds
from earwitness.text.transcripts import (
    CONFIDENCE_REMEDY,
    CUE_STAMP,
    MAX_TIME_SECONDS,
    Cue,
    Flaw,
    TimedWord,
    cue_flaws,
    is_filler,
    join_lines,
    normalise_lines,
    parse_cues,
    read_ctm,
    read_textgrid,
    strip_tags,
    without_repeats,
    write_textgrid,
    written_number,
)

Fields = dict[str, Any]  # of a JSON object
TimedWords = tuple[TimedWord, ...]


class TimedSegment(NamedTuple):
    """A sentence, cue or utterance; times are in seconds, and NaN if the file has none.

    ``words`` is empty if the words have no times.
    """

    text: str
    start: float
    end: float
    words: TimedWords = ()


class TimedTranscript(NamedTuple):
    """The segments of a recording in order; ``language`` is a code as the tool wrote it."""

    segments: tuple[TimedSegment, ...]
    recording: str = ""
    duration: float | None = None
    language: str = ""

    @property
    def words(self) -> TimedWords:
        """Return the words of all segments, without those of segments without word times."""
        return tuple(word for segment in self.segments for word in segment.words)


# --- Writers: CTM and whisper JSON ---------------------------------------------------------------


UNNAMED_RECORDING = "recording"  # where a format requires a name


def write_transcript(transcript: TimedTranscript, form: str) -> str:
    """Return a transcript as the text of a file.

    Parameters
    ----------
    transcript
        Segments of one recording. CTM and the words of a TextGrid need words with times.
    form
        One of ``TRANSCRIPT_FORMATS``: ``"ctm"``, ``"json"`` (the layout of openai-whisper) …

    Raises
    ------
    UsageError
        If the format is unknown, or needs word times that the transcript does not have.

    Examples
    --------
    >>> word = TimedWord("talk", "Rain.", 0.5, 1.0, 0.9)
    >>> transcript = TimedTranscript((TimedSegment("Rain.", 0.5, 1.0, (word,)),), "talk")
    >>> write_transcript(transcript, "ctm")
    'talk 1 0.500 0.500 Rain. 0.9\\n'
    >>> write_transcript(transcript, "srt")
    '1\\n00:00:00,500 --> 00:00:01,000\\nRain.\\n\\n'
    """
    write = TRANSCRIPTS[form].write if form in TRANSCRIPTS else None
    if write is None:
        remedy = f"use one of {', '.join(TRANSCRIPT_FORMATS)}"
        raise UsageError(f'unknown transcript format "{form}" — {remedy}')
    for segment in transcript.segments:
        if not (isfinite(segment.start) and isfinite(segment.end)):
            message = f'"{join_lines(segment.text)[:40]}" has no times'
            raise UsageError(f"{message} — align the text with its audio")
    return write(transcript)


def _write_ctm(transcript: TimedTranscript) -> str:
    """Return lines with recording, channel, start, duration, word and, if known, confidence."""
    recording = "_".join(transcript.recording.split()) or UNNAMED_RECORDING
    lines = []
    for segment in transcript.segments:
        if segment.text.strip() and not segment.words:
            message = f'the words of "{join_lines(segment.text)[:40]}" have no times'
            others = ", ".join(name for name in TRANSCRIPT_FORMATS if name != "ctm")
            raise UsageError(f"{message}, but CTM needs them — use one of {others}")
        for word in segment.words:
            token = "_".join(word.word.split())
            confidence = "" if word.confidence is None else f" {word.confidence:.6g}"
            times = f"{word.start:.3f} {word.end - word.start:.3f}"
            lines.append(f"{recording} 1 {times} {token}{confidence}\n" if token else "")
    return "".join(lines)


def _write_json(transcript: TimedTranscript) -> str:
    """Return the layout of openai-whisper, in which texts and words start with a blank."""
    segments = []
    for number, segment in enumerate(transcript.segments):
        words = [_whisper_word(word) for word in segment.words]
        entry: Fields = {"id": number, **_rounded_times(segment)}
        entry["text"] = f" {join_lines(segment.text)}"
        segments.append({**entry, **({"words": words} if words else {})})
    document: Fields = {
        "text": "".join(entry["text"] for entry in segments),
        "segments": segments,
        "language": transcript.language,
    }
    if transcript.duration is not None:
        document["duration"] = round(transcript.duration, 3)
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _whisper_word(word: TimedWord) -> Fields:
    sure = {} if word.confidence is None else {"probability": float(f"{word.confidence:.6g}")}
    return {"word": f" {word.word}", **_rounded_times(word), **sure}


def _rounded_times(part: TimedSegment | TimedWord) -> Fields:
    return {"start": round(part.start, 3), "end": round(part.end, 3)}


def _pieces(words: Sequence[TimedWord]) -> list[SpokenPiece]:
    return [SpokenPiece(*word[1:4]) for word in words]


# --- Writers: subtitles and TextGrid -------------------------------------------------------------


def subtitle_cues(segments: Sequence[TimedSegment]) -> list[SpokenPiece]:
    """Return the cues of segments, which fit on the screen; segments without text have none."""
    cues = list[SpokenPiece]()
    for text, start, end, words in segments:
        cues += fit_cues(SpokenPiece(join_lines(text), start, end), _pieces(words))
    return cues


def _write_textgrid(transcript: TimedTranscript) -> str:
    """Return a TextGrid with the tiers sentences and words."""
    tiers = {
        "sentences": [
            SpokenPiece(join_lines(text), start, end) for text, start, end, _ in transcript.segments
        ]
    }
    if words := _pieces(transcript.words):
        tiers["words"] = words
    return write_textgrid(tiers, transcript.duration or 0.0)


# --- Readers -------------------------------------------------------------------------------------


ParsedTranscripts = tuple[list[TimedTranscript], list[Flaw]]


def parse_timed_transcripts(
    text: str, form: str = "", name: str = "", segments: str = ""
) -> ParsedTranscripts:
    """Return the transcripts of a file of a recognizer or aligner, and the flaws.

    Parameters
    ----------
    text
        Content of the file.
    form
        Name of an entry of ``TRANSCRIPTS``. By default it follows from the content.
    name
        Name of the recording, for files that do not contain it.
    segments
        Content of the file ``segments`` of Kaldi: recording, start and end of every utterance.
        Without it, every utterance is a recording without times.

    Returns
    -------
    tuple of list
        One transcript per recording, and the problems of the file.

    Examples
    --------
    >>> (found,), flaws = parse_timed_transcripts("1\\n00:00:01,000 --> 00:00:02,000\\nRain.")
    >>> found.segments[0]
    TimedSegment(text='Rain.', start=1.0, end=2.0, words=())
    """
    text = normalise_lines(text)
    form = form or guess_transcript_form(text, segments)
    if form not in TRANSCRIPTS:
        return [], [Flaw(1, "unknown transcript format", format_remedy())]
    parts = [normalise_lines(segments)] if TRANSCRIPTS[form].beside else []
    return TRANSCRIPTS[form].parse(text, name, *parts)


def guess_transcript_form(text: str, segments: str = "") -> str:
    """Return the format of a transcript with times, or an empty text if it is unknown.

    >>> guess_transcript_form("WEBVTT\\n"), guess_transcript_form("a 1 0.1 0.2 the")
    ('webvtt', 'ctm')
    """
    return "kaldi" if segments else detect_format(TRANSCRIPTS, text)


def format_remedy() -> str:
    """Return what to do about a transcript of unknown format."""
    return f"use {list_titles(TRANSCRIPTS)}"


def _sentences(words: Sequence[TimedWord]) -> tuple[TimedSegment, ...]:
    """Return the sentences of words, which end at punctuation marks."""
    groups = group_sentences(_pieces(words))
    parts = ((text, tuple(words[first:after])) for text, first, after in groups)
    return tuple(
        TimedSegment(text, sentence[0].start, max(word.end for word in sentence), sentence)
        for text, sentence in parts
    )


def _with_words(
    segments: Sequence[TimedSegment], words: Sequence[TimedWord]
) -> tuple[TimedSegment, ...]:
    """Return segments with those words that are spoken after their start."""
    if not segments:
        return _sentences(words)
    starts = [segment.start for segment in segments]
    own = group_values(
        (max(bisect_right(starts, (word.start + word.end) / 2) - 1, 0), word) for word in words
    )
    return tuple(
        segment._replace(words=tuple(own.get(place, ()))) for place, segment in enumerate(segments)
    )


def _parse_ctm(text: str, _name: str) -> ParsedTranscripts:
    words, flaws = read_ctm(text)
    by_recording = group_values((word.recording, word) for word in words)
    channels = Counter(recording.split()[0] for recording in by_recording)
    transcripts = []
    for recording, spoken in by_recording.items():
        only = recording.split()[0]
        named = only if channels[only] == 1 else recording
        own = [word._replace(recording=named) for word in spoken]
        transcripts.append(TimedTranscript(_sentences(own), named))
    return transcripts, flaws


# --- Readers: subtitles --------------------------------------------------------------------------


HIGHLIGHT_TAG = re.compile(r"<u>(.*?)</u>")
LANGUAGE_HEADER = re.compile(r"WEBVTT.*\n(?:.+\n)*?Language:[ \t]*(\S+)")


def _parse_cue_file(text: str, name: str) -> ParsedTranscripts:
    cues, flaws = parse_cues(text)
    flaws += cue_flaws(cues)
    if flaws:
        return [], flaws
    if any(HIGHLIGHT_TAG.search(line) for cue in cues for line in cue.marked_lines):
        groups = (list(group) for _, group in groupby(cues, key=lambda cue: cue.text))
        segments = [_highlighted(group, name) for group in groups]
    else:
        segments = [_stamped(cue, lines, name) for cue, lines in without_repeats(cues)]
    language = LANGUAGE_HEADER.match(text)
    spoken = tuple(segment for segment in segments if segment.text)
    return [TimedTranscript(spoken, name, language=language[1] if language else "")], []


def _highlighted(cues: Sequence[Cue], name: str) -> TimedSegment:
    """Return cues of the same text as one, with a word for each underlined one.

    Whisper and WhisperX write such subtitles with the option ``--highlight_words``.
    """
    words = tuple(
        TimedWord(name, strip_tags(marked), cue.start, _end(cue), None)
        for cue in cues
        for marked in HIGHLIGHT_TAG.findall(" ".join(cue.marked_lines))
    )
    is_complete = "".join(word.word for word in words) == "".join(cues[0].text.split())
    return TimedSegment(cues[0].text, cues[0].start, _end(cues[-1]), words if is_complete else ())


def _end(cue: Cue) -> float:
    return cue.start if cue.end is None else cue.end


def _stamped(cue: Cue, lines: Sequence[str], name: str) -> TimedSegment:
    """Return a cue with these lines, and words if there are time stamps between them."""
    marked = " ".join(lines)
    first, *rest = CUE_STAMP.split(marked)
    stamps = [TimestampFormat().seconds(stamp) or 0.0 for stamp in rest[::2]]
    texts = [strip_tags(part).split() for part in (first, *rest[1::2])]
    starts = [cue.start, *(max(stamp, cue.start) for stamp in stamps)]
    periods = zip(texts, starts, [*starts[1:], _end(cue)], strict=True)
    words = [
        TimedWord(name, word, *times, None)
        for spoken, start, end in periods
        for word, times in zip(
            spoken, share_time(spoken, start, end) if spoken else (), strict=True
        )
    ]
    text = strip_tags(marked)
    return TimedSegment(text, cue.start, _end(cue), tuple(words) if stamps else ())


# --- Readers: TextGrid ---------------------------------------------------------------------------


WORD_TIERS = ("words", "word", "ort-mau")
SENTENCE_TIERS = ("sentences", "sentence", "utterances", "utterance", "phrases", "transcript")
PHONE_TIERS = ("phones", "phone", "phonemes", "mau", "kan-mau")
CHAPTER_TIERS = ("chapters", "chapter", "segments", "sections")
SILENCES = ("sp", "sil", "spn", "<p:>", "<p>")  # of the Montreal Forced Aligner and WebMAUS


def _parse_textgrid(text: str, name: str) -> ParsedTranscripts:
    """Parse the tiers of words and of sentences, or the only tier, as sentences.

    The Montreal Forced Aligner writes a pair of tiers per speaker: "speaker - words".
    """
    tiers, duration, flaws = read_textgrid(text)
    if flaws:
        return [], flaws
    words = [tier for tier in tiers if tier.kind in WORD_TIERS]
    sentences = [tier for tier in tiers if tier.kind in SENTENCE_TIERS]
    others = [tier for tier in tiers if tier.kind not in PHONE_TIERS]
    if not words and not sentences:
        sentences = others
        if len(others) != 1:
            listed = ", ".join(f'"{tier.name}"' for tier in tiers) or "none"
            message = f"has no tier of words or sentences (found: {listed})"
            return [], [Flaw(1, message, 'name the tier "words" or "sentences"')]
    spoken = [
        TimedWord(name, part.text, part.start, part.end, None)
        for tier in words
        for part in tier.parts
        if part.text and part.text.lower() not in SILENCES and not is_filler(part.text)
    ]
    parts = (part for tier in sentences for part in tier.parts if part.text)
    segments = [TimedSegment(*part[:3]) for part in parts]
    segments.sort(key=lambda segment: segment.start)
    spoken.sort(key=lambda word: word.start)
    return [TimedTranscript(_with_words(segments, spoken), name, duration)], []


# --- Readers: whisper, WhisperX, whisper.cpp and Hugging Face ------------------------------------


TSV_HEADER = re.compile("start\tend\ttext\n")


def _parse_tsv(text: str, name: str) -> ParsedTranscripts:
    """Parse lines with start and end in milliseconds, and text, as openai-whisper writes them."""
    segments, flaws = list[TimedSegment](), list[Flaw]()
    for number, line in enumerate(text.split("\n")[1:], 2):
        first, last, said = (*line.split("\t", 2), "", "")[:3]
        start, end = written_number(first), written_number(last)
        if start is not None and end is not None and 0 <= start <= end:
            segments += [TimedSegment(join_lines(said), start / 1000, end / 1000)] if said else []
        elif line.strip():
            flaws.append(Flaw(number, "needs start and end in milliseconds, and text, after tabs"))
    return [TimedTranscript(tuple(segments), name)], flaws


SEGMENT_LIST = re.compile(r'\[\s*\{[^{}]*"start"\s*:')
CONFIDENCE_KEYS = ("probability", "score", "confidence")


class JsonParts(NamedTuple):
    """Parts of a JSON document: segments, their key, words outside of segments, and language."""

    segments: Any
    key: str = "segments"
    words: Any = None
    language: Any = None


def _whisper_parts(fields: Fields) -> JsonParts:
    """Return the parts of a document of whisper, WhisperX, the OpenAI API or AssemblyAI."""
    words = fields.get("word_segments") or words_in_seconds(fields.get("words"))
    language = fields.get("language", fields.get("language_code"))
    return JsonParts(fields.get("segments"), "segments", words, language)


def _cpp_parts(fields: Fields) -> JsonParts:
    found = fields.get("transcription")
    entries = [_cpp_entry(segment) for segment in found] if isinstance(found, list) else None
    language = _fields(fields.get("result")).get("language")
    return JsonParts(entries, "transcription", language=language)


def _pipeline_parts(fields: Fields) -> JsonParts:
    chunks, language = fields.get("chunks"), fields.get("language")
    entries = _pipeline_entries(chunks) if isinstance(chunks, list) else None
    if entries is not None and all(len(entry["text"].split()) < 2 for entry in entries):  # of words
        return JsonParts([], "chunks", entries, language)
    return JsonParts(entries, "chunks", language=language)


def _parse_json(
    text: str, name: str, parts: Callable[[Fields], JsonParts] = _whisper_parts
) -> ParsedTranscripts:
    """Parse a JSON document; ``parts`` finds the segments and words in the layout of a tool."""
    try:
        document = load_json(text)
    except ValueError as error:
        return [], [Flaw(getattr(error, "lineno", 1), f"not JSON: {error}")]
    fields = {"segments": document} if isinstance(document, list) else _fields(document)
    entries, key, loose, language = parts(fields)
    if not isinstance(entries, list) and not isinstance(loose, list):
        return [], [Flaw(1, f'no list "{key}" found', format_remedy())]
    flaws = list[Flaw]()
    segments = list[TimedSegment]()
    for number, entry in enumerate(_list(entries)):
        segment = _json_segment(_fields(entry), f"{key}[{number}]", name, flaws)
        if segment is not None and segment.text:
            segments.append(segment)
    segments.sort(key=lambda segment: segment.start)
    own: Sequence[TimedSegment] = segments
    if isinstance(loose, list) and not any(segment.words for segment in segments):
        own = _with_words(segments, _json_words(loose, (0.0, inf), "words", name, flaws))
    duration = _seconds(fields, "duration" if "duration" in fields else "audio_duration")
    named = language if isinstance(language, str) else ""
    return [TimedTranscript(tuple(own), name, duration, named)], flaws


def _fields(value: Any) -> Fields:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _seconds(fields: Fields, key: str) -> float | None:
    """Return a time, or None if it is missing or not a finite number."""
    value = fields.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= MAX_TIME_SECONDS else None


def _period(fields: Fields, path: str, flaws: list[Flaw]) -> tuple[float, float] | None:
    """Return start and end, or None if they are missing."""
    start, end = _seconds(fields, "start"), _seconds(fields, "end")
    if start is None or end is None:
        return None
    if not 0 <= start <= end:
        flaws.append(Flaw(1, f"{path}: has invalid times ({start:g} to {end:g} s)"))
    return start, end


def _json_segment(fields: Fields, path: str, name: str, flaws: list[Flaw]) -> TimedSegment | None:
    period, text = _period(fields, path, flaws), fields.get("text")
    if period is None or not isinstance(text, str):
        flaws.append(Flaw(1, f"{path}: needs text, and start and end in seconds"))
        return None
    words = _json_words(fields.get("words"), period, f"{path}.words", name, flaws)
    return TimedSegment(join_lines(text), *period, words)


def _json_words(
    entries: Any, period: tuple[float, float], path: str, name: str, flaws: list[Flaw]
) -> TimedWords:
    """Return words; those without times share the gap between their neighbours.

    WhisperX gives no times to words that its alignment model cannot spell, such as numbers.
    """
    pieces, confidences = list[SpokenPiece](), list[float | None]()
    for number, fields in enumerate(map(_fields, _list(entries))):
        text, own_path = fields.get("word", fields.get("text")), f"{path}[{number}]"
        times = _period(fields, own_path, flaws) or (nan, nan)
        sure = next((fields[key] for key in CONFIDENCE_KEYS if key in fields), None)
        confidence = _seconds({"confidence": sure}, "confidence")
        if not isinstance(text, str):
            flaws.append(Flaw(1, f"{own_path}: must have a word"))
        elif confidence is not None and confidence > 1:
            message = f"{own_path}: has the confidence {confidence:g}, above 1"
            flaws.append(Flaw(1, message, CONFIDENCE_REMEDY))
        elif text.strip():
            pieces.append(SpokenPiece(text.strip(), *times))
            confidences.append(confidence)
    pairs = zip(fill_times(pieces, *period), confidences, strict=True)
    words = (TimedWord(name, *piece, confidence) for piece, confidence in pairs)
    return tuple(sorted(words, key=lambda word: word.start))


def _pipeline_entries(chunks: Sequence[Any]) -> list[Fields]:
    """Return chunks of a Hugging Face pipeline as whisper writes them; an end may be null."""
    entries = list[Fields]()
    for chunk in map(_fields, chunks):
        times = chunk.get("timestamp")
        start, end = times if isinstance(times, list) and len(times) == 2 else (None, None)
        entries.append({"start": start, "end": end or start, "text": str(chunk.get("text", ""))})
    return entries


def _cpp_entry(entry: Any) -> Fields:
    """Return an entry of whisper.cpp as whisper writes it; tokens with times become words."""
    fields, groups = _fields(entry), list[list[Fields]]()
    for token in map(_fields, _list(fields.get("tokens"))):
        text, times = str(token.get("text", "")), _milliseconds(token)
        if not groups or text.startswith(" ") or UNSPACED_CHARACTER.match(text):
            groups.append([])
        if text and times and not text.startswith("[_"):  # such as [_BEG_]
            sure = _seconds(token, "p")
            groups[-1].append({"text": text, "sure": nan if sure is None else sure, **times})
    words = [
        {
            "word": "".join(token["text"] for token in group),
            "start": group[0]["start"],
            "end": max(token["end"] for token in group),
            "probability": fmean(token["sure"] for token in group),
        }
        for group in groups
        if group
    ]
    return {**_milliseconds(entry), "text": fields.get("text"), "words": words}


def _milliseconds(entry: Any) -> dict[str, float]:
    """Return start and end in seconds, or nothing if they are missing."""
    offsets = _fields(_fields(entry).get("offsets"))
    start, end = _seconds(offsets, "from"), _seconds(offsets, "to")
    return {} if start is None or end is None else {"start": start / 1000, "end": end / 1000}


# --- Readers: NeMo manifests and Kaldi -----------------------------------------------------------


def _parse_manifest(text: str, _name: str) -> ParsedTranscripts:
    """Parse JSON lines with audio_filepath, duration, offset and pred_text, or else text."""
    flaws, utterances = list[Flaw](), list[tuple[str, TimedSegment]]()
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            fields = _fields(load_json(line))
        except ValueError as error:
            flaws.append(Flaw(number, f"not JSON: {error}"))
            continue
        path, said = fields.get("audio_filepath"), fields.get("pred_text", fields.get("text"))
        if not isinstance(path, str) or not isinstance(said, str):
            flaws.append(Flaw(number, "needs audio_filepath, and text or pred_text"))
            continue
        recording, duration = PureWindowsPath(path).stem, _seconds(fields, "duration")
        start = _seconds(fields, "offset") or 0.0
        times = (nan, nan) if duration is None else (start, start + duration)
        wrong, own = list[Flaw](), fields.get("timestamps_word")
        words = _json_words(own, (0.0, duration or inf), "timestamps_word", recording, wrong)
        flaws += [flaw._replace(line=number) for flaw in wrong]
        moved = (word._replace(start=word.start + start, end=word.end + start) for word in words)
        utterances.append((recording, TimedSegment(join_lines(said), *times, tuple(moved))))
    return _by_recording(utterances), flaws


def _parse_kaldi(text: str, _name: str, segments: str) -> ParsedTranscripts:
    """Parse lines with utterance and words; segments are recording, start and end of each."""
    flaws, places = list[Flaw](), dict[str, tuple[str, float, float]]()
    for number, line in enumerate(segments.split("\n"), 1):
        fields = line.split()
        start, end = map(written_number, fields[2:]) if len(fields) == 4 else (None, None)
        if start is not None and end is not None and 0 <= start < end:
            places[fields[0]] = fields[1], start, end
        elif fields:
            message = f"segments, line {number}: needs a recording, and an end after its start"
            flaws.append(Flaw(number, message, "write: utterance recording start end"))
    utterances = list[tuple[str, TimedSegment]]()
    for number, line in enumerate(text.split("\n"), 1):
        utterance, *words = line.split() or [""]
        if utterance and segments and utterance not in places:
            flaws.append(Flaw(number, f'"{utterance}" is not in segments', "add its times"))
        elif utterance:
            recording, start, end = places.get(utterance, (utterance, nan, nan))
            said = " ".join(word for word in words if not is_filler(word))
            utterances.append((recording, TimedSegment(said, start, end)))
    return _by_recording(utterances), flaws


def _by_recording(utterances: Sequence[tuple[str, TimedSegment]]) -> list[TimedTranscript]:
    """Return a transcript per recording, with its utterances in the order of time."""
    by_recording = group_values(utterances)
    return [
        TimedTranscript(tuple(sorted(segments, key=lambda segment: segment.start)), recording)
        for recording, segments in by_recording.items()
    ]


# --- Formats -------------------------------------------------------------------------------------


def _is_ctm(text: str) -> bool:
    lines = (line.split() for line in text.split("\n") if not line.startswith(";;"))
    first = next(filter(None, lines), [])
    return len(first) > 4 and None not in map(written_number, first[2:4])


def _has_lists(*names: str) -> Callable[[str], object]:
    """Return a function that finds one of these lists in JSON."""
    return re.compile(rf'(?s)[{{\[].*?"(?:{"|".join(names)})"\s*:\s*\[').match


def _is_whisper(text: str) -> bool:
    has_lists = _has_lists("segments", "word_segments", "words")
    return bool(has_lists(text) or SEGMENT_LIST.match(text))


def _is_chapter_grid(text: str) -> bool:
    kinds = {tier.kind for tier in read_textgrid(text)[0]}
    return kinds.isdisjoint(WORD_TIERS) or not kinds.isdisjoint(CHAPTER_TIERS)


@dataclass(frozen=True)
class TranscriptFormat(TextFormat):
    """A format of transcripts with times.

    Parameters
    ----------
    parse
        Function that returns the transcripts and flaws of a text with the name of its recording;
        also takes the text of the file ``beside`` it.
    tools
        Programs that write such files.
    item
        Where the name of the recording is.
    beside
        Name of a second file of a transcript, next to the first.
    is_cues
        Whether segments are parts of sentences that are shown; such files may also be chapters.
    has_chapters
        Whether a text of this format has chapters in place of words.
    write
        Function that writes a transcript.
    """

    parse: Callable[..., ParsedTranscripts]
    tools: str = ""
    item: str = "file name"
    beside: str = ""
    is_cues: bool = False
    has_chapters: Callable[[str], bool] = never
    write: Callable[[TimedTranscript], str] | None = None


TRANSCRIPTS: dict[str, TranscriptFormat] = {
    "ctm": TranscriptFormat(
        "words, times, confidences",
        _parse_ctm,
        (".ctm",),
        detect=_is_ctm,
        title="CTM",
        tools="Kaldi, NIST sclite, NeMo Forced Aligner",
        item="first column, with the channel if there are several",
        write=_write_ctm,
    ),
    "srt": TranscriptFormat(
        "cues; words of time stamps within cues, and of `--highlight_words` of whisper. Lines that "
        "rolling captions repeat are read once",
        _parse_cue_file,
        (".srt",),
        detect=re.compile(r"(?s)(?![{\[]).*?-->").match,
        title="SRT",
        tools="any",
        is_cues=True,
        write=lambda transcript: write_srt(subtitle_cues(transcript.segments)),
    ),
    "webvtt": TranscriptFormat(
        "the same",
        _parse_cue_file,
        (".vtt",),
        detect=re.compile("WEBVTT").match,
        title="WebVTT",
        tools="any, YouTube",
        is_cues=True,
        write=lambda transcript: write_webvtt(subtitle_cues(transcript.segments)),
    ),
    "tsv": TranscriptFormat(
        "segments: `start` and `end` in milliseconds, `text`",
        _parse_tsv,
        shared=(".tsv",),
        detect=TSV_HEADER.match,
        title="TSV of whisper",
        tools="openai-whisper, whisper-ctranslate2",
    ),
    "textgrid": TranscriptFormat(
        "tiers `words` or `ORT-MAU`, and `sentences` or `utterances`; of several speakers, merged",
        _parse_textgrid,
        (".textgrid",),
        detect=re.compile(r"(?s).{0,90}?ooTextFile").match,
        title="TextGrid",
        tools="Montreal Forced Aligner, WebMAUS, Praat",
        has_chapters=_is_chapter_grid,
        write=_write_textgrid,
    ),
    "json": TranscriptFormat(
        "`segments`; `words` or `word_segments` with `probability`, `score` or `confidence`, in "
        "segments or for the whole file; times may be whole milliseconds (AssemblyAI)",
        _parse_json,
        shared=(".json",),
        detect=_is_whisper,
        title="JSON of whisper, WhisperX or AssemblyAI",
        tools="openai-whisper, whisper-ctranslate2 (faster-whisper), OpenAI API, WhisperX, "
        "AssemblyAI",
        write=_write_json,
    ),
    "whispercpp": TranscriptFormat(
        "`transcription`; words from `tokens`, with their mean `p`",
        partial(_parse_json, parts=_cpp_parts),
        shared=(".json",),
        detect=_has_lists("transcription"),
        title="JSON of whisper.cpp",
        tools="whisper.cpp (`-oj`, `-ojf`)",
        item="file name (`talk` for `talk.wav.json`)",
    ),
    "huggingface": TranscriptFormat(
        "`chunks` with `timestamp`, of segments or of words",
        partial(_parse_json, parts=_pipeline_parts),
        shared=(".json",),
        detect=_has_lists("chunks"),
        title="JSON of Hugging Face",
        tools="Hugging Face (pipeline `automatic-speech-recognition`)",
    ),
    "manifest": TranscriptFormat(
        "a segment per line: `offset`, `duration`, and `pred_text`, or else `text`; words from "
        "`timestamps_word`",
        _parse_manifest,
        shared=(".jsonl", ".json"),
        detect=re.compile(r'\{[^\n]*"audio_filepath"[^\n]*\}[ \t]*(?:\n|$)').match,
        title="NeMo manifest",
        tools="NeMo",
        item="file name in `audio_filepath`",
    ),
    "kaldi": TranscriptFormat(
        "a segment per line; without `segments`, words without times",
        _parse_kaldi,
        ("text",),
        title="Kaldi text with segments",
        tools="Kaldi",
        item="recording in `segments`, or else the utterance",
        beside="segments",
    ),
}
TRANSCRIPT_FORMATS = tuple(name for name, form in TRANSCRIPTS.items() if form.write)  # written
