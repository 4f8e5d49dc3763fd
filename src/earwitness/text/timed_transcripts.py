"""Transcripts with times: types, and writers of CTM, SRT, WebVTT, TextGrid and whisper JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from math import inf
from types import MappingProxyType
from typing import Any, NamedTuple

from earwitness.errors import UsageError
from earwitness.text.sentences import SpokenPiece, join_pieces
from earwitness.text.transcripts import TimedWord


class TimedSegment(NamedTuple):
    """A sentence, cue or utterance with its times in seconds; ``words`` if they have times."""

    text: str
    start: float
    end: float
    words: tuple[TimedWord, ...] = ()


class TimedTranscript(NamedTuple):
    """The segments of a recording in order; ``language`` is a code as the tool wrote it."""

    segments: tuple[TimedSegment, ...]
    recording: str = ""
    duration: float | None = None
    language: str = ""

    @property
    def words(self) -> tuple[TimedWord, ...]:
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
        ``"ctm"``, ``"srt"``, ``"webvtt"``, ``"textgrid"`` (the long format of Praat) or ``"json"``
        (the layout of openai-whisper).

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
    if form not in TRANSCRIPT_FORMATS:
        remedy = f"use one of {', '.join(TRANSCRIPT_FORMATS)}"
        raise UsageError(f'unknown transcript format "{form}" — {remedy}')
    return TRANSCRIPT_FORMATS[form](transcript)


def _write_ctm(transcript: TimedTranscript) -> str:
    """Return lines with recording, channel, start, duration, word and, if known, confidence."""
    recording = "_".join(transcript.recording.split()) or UNNAMED_RECORDING
    lines = []
    for segment in transcript.segments:
        if segment.text.strip() and not segment.words:
            message = f'the words of "{_one_line(segment.text)[:40]}" have no times'
            raise UsageError(f"{message}, but CTM needs them — use srt, webvtt, textgrid or json")
        for word in segment.words:
            token = "_".join(word.word.split())
            confidence = "" if word.confidence is None else f" {word.confidence:.6g}"
            times = f"{word.start:.3f} {word.end - word.start:.3f}"
            lines.append(f"{recording} 1 {times} {token}{confidence}\n" * bool(token))
    return "".join(lines)


def _write_json(transcript: TimedTranscript) -> str:
    """Return the layout of openai-whisper, in which texts and words start with a blank."""
    segments = []
    for number, segment in enumerate(transcript.segments):
        entry: dict[str, Any] = {
            "id": number,
            "start": round(segment.start, 3),
            "end": round(segment.end, 3),
            "text": f" {_one_line(segment.text)}",
        }
        if segment.words:
            entry["words"] = [_whisper_word(word) for word in segment.words]
        segments.append(entry)
    document: dict[str, Any] = {
        "text": "".join(entry["text"] for entry in segments),
        "segments": segments,
        "language": transcript.language,
    }
    if transcript.duration is not None:
        document["duration"] = round(transcript.duration, 3)
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _whisper_word(word: TimedWord) -> dict[str, Any]:
    times = {"start": round(word.start, 3), "end": round(word.end, 3)}
    sure = {} if word.confidence is None else {"probability": float(f"{word.confidence:.6g}")}
    return {"word": f" {word.word}", **times, **sure}


def _one_line(text: str) -> str:
    return " ".join(text.split())


# --- Writers: subtitles --------------------------------------------------------------------------


MAX_CUE_CHARACTERS = 84  # two lines of 42
MAX_LINE_CHARACTERS = 42
MAX_CUE_SECONDS = 7.0
PUNCTUATION_END = re.compile(r"[^\w\s]$")
# How much a cue may deviate from half of its segment, as a share of the segment, to end at a
# punctuation mark, or at a pause of a second.
PUNCTUATION_BONUS, PAUSE_BONUS = 0.3, 0.3


def _write_srt(transcript: TimedTranscript) -> str:
    cues = [
        f"{number}\n{_cue_timing(cue, ',')}\n{_broken_line(cue.text)}\n\n"
        for number, cue in enumerate(subtitle_cues(transcript.segments), 1)
    ]
    return "".join(cues)


def _write_webvtt(transcript: TimedTranscript) -> str:
    cues = [
        f"\n{_cue_timing(cue, '.')}\n{escape(_broken_line(cue.text), quote=False)}\n"
        for cue in subtitle_cues(transcript.segments)
    ]
    return "".join(["WEBVTT\n", *cues])


def _cue_timing(cue: TimedSegment, mark: str) -> str:
    start = max(0, round(cue.start * 1000))
    end = max(start + 1, round(cue.end * 1000))  # players ignore empty cues
    return f"{_clock(start, mark)} --> {_clock(end, mark)}"


def _clock(milliseconds: int, mark: str) -> str:
    """Return a time of subtitles.

    >>> _clock(3_723_004, ",")
    '01:02:03,004'
    """
    seconds, rest = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}{mark}{rest:03}"


def _broken_line(text: str) -> str:
    """Return the text of a cue in two lines if it is long, broken at the blank next to its middle.

    >>> _broken_line("It rained in the morning, and it snowed in the evening.").split("\\n")
    ['It rained in the morning, and', 'it snowed in the evening.']
    """
    blanks = [place for place, character in enumerate(text) if character == " "]
    if len(text) <= MAX_LINE_CHARACTERS or not blanks:
        return text
    middle = min(blanks, key=lambda place: abs(2 * place - len(text)))
    return f"{text[:middle]}\n{text[middle + 1 :]}"


def subtitle_cues(segments: Sequence[TimedSegment]) -> list[TimedSegment]:
    """Return segments that fit on the screen: up to 84 characters and 7 seconds.

    Longer segments are split between words, if the words have times: near the middle, and where
    possible after a punctuation mark or in a pause. Segments without text are left out.
    """
    cues = list[TimedSegment]()
    for segment in segments:
        text = _one_line(segment.text)
        if text:
            cues += _split_cue(segment._replace(text=text))
    return cues


def _split_cue(cue: TimedSegment) -> Iterator[TimedSegment]:
    is_long = len(cue.text) > MAX_CUE_CHARACTERS or cue.end - cue.start > MAX_CUE_SECONDS
    if not is_long or len(cue.words) < 2:
        yield cue
        return
    text, places = _word_places(cue)

    def cost(number: int) -> float:
        """Return the imbalance of a cut before this word, less what a good place is worth."""
        pause = min(max(cue.words[number].start - cue.words[number - 1].end, 0.0), 1.0)
        is_marked = PUNCTUATION_END.search(text[: places[number]].rstrip()) is not None
        imbalance = abs(2 * places[number] / len(text) - 1)
        return imbalance - PUNCTUATION_BONUS * is_marked - PAUSE_BONUS * pause

    cut = min(range(1, len(cue.words)), key=cost)
    place, before, after = places[cut], cue.words[:cut], cue.words[cut:]
    yield from _split_cue(TimedSegment(text[:place].rstrip(), cue.start, before[-1].end, before))
    yield from _split_cue(TimedSegment(text[place:], after[0].start, cue.end, after))


def _word_places(cue: TimedSegment) -> tuple[str, list[int]]:
    """Return the text of a cue and the places of its words in it.

    If the text does not consist of the words and punctuation, it is replaced by the words.
    """
    places, end = list[int](), 0
    for word in cue.words:
        place = cue.text.lower().find(word.word.lower(), end)
        if place < 0 or re.search(r"\w", cue.text[end:place]):
            pieces = [SpokenPiece(one.word, one.start, one.end) for one in cue.words if one.word]
            joined = join_pieces(pieces)
            return joined.text, joined.places
        places.append(place)
        end = place + len(word.word)
    return cue.text, places


# --- Writers: TextGrid ---------------------------------------------------------------------------


MIN_INTERVAL_SECONDS = 0.001


def _write_textgrid(transcript: TimedTranscript) -> str:
    """Return a TextGrid in the long text format, with the tiers sentences and words."""
    sentences = [
        _interval(_one_line(segment.text), segment.start, segment.end)
        for segment in transcript.segments
    ]
    words = [_interval(word.word, word.start, word.end) for word in transcript.words]
    tiers = {"sentences": sentences, **({"words": words} if words else {})}
    ends = [interval.end for tier in tiers.values() for interval in tier]
    end = max(transcript.duration or 0.0, MIN_INTERVAL_SECONDS, *ends)
    lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', ""]
    lines += ["xmin = 0 ", f"xmax = {_exact(end)} ", "tiers? <exists> ", f"size = {len(tiers)} "]
    lines.append("item []: ")
    for number, (name, tier) in enumerate(tiers.items(), 1):
        intervals = _tiled(tier, end)
        lines += [
            f"    item [{number}]:",
            '        class = "IntervalTier" ',
            f'        name = "{name}" ',
            "        xmin = 0 ",
            f"        xmax = {_exact(end)} ",
            f"        intervals: size = {len(intervals)} ",
        ]
        for place, interval in enumerate(intervals, 1):
            quoted = interval.text.replace('"', '""')
            lines += [
                f"        intervals [{place}]:",
                f"            xmin = {_exact(interval.start)} ",
                f"            xmax = {_exact(interval.end)} ",
                f'            text = "{quoted}" ',
            ]
    return "\n".join([*lines, ""])


def _interval(text: str, start: float, end: float) -> SpokenPiece:
    """Return a piece with valid times in microseconds."""
    start = round(max(start, 0.0), 6)
    return SpokenPiece(text, start, round(max(end, start + MIN_INTERVAL_SECONDS), 6))


def _exact(seconds: float) -> str:
    """Return a time in seconds, exact to microseconds.

    >>> _exact(36000.25), _exact(0)
    ('36000.25', '0')
    """
    return f"{seconds:.6f}".rstrip("0").rstrip(".")


def _tiled(pieces: Sequence[SpokenPiece], end: float) -> list[SpokenPiece]:
    """Return intervals from 0 to the end without gaps and overlaps, as Praat requires.

    A piece ends where the next one starts; pieces that start together become one interval.
    """
    intervals, time = list[SpokenPiece](), 0.0
    ordered = sorted((piece for piece in pieces if piece.text), key=lambda piece: piece.start)
    nexts = [*[piece.start for piece in ordered], inf][1:]
    together = list[str]()
    for piece, following in zip(ordered, nexts, strict=True):
        together.append(piece.text)
        if following > piece.start:
            if piece.start > time:
                intervals.append(SpokenPiece("", time, piece.start))
            time = min(piece.end, following)
            intervals.append(SpokenPiece(" ".join(together), piece.start, time))
            together = []
    if time < end:
        intervals.append(SpokenPiece("", time, end))
    return intervals


TRANSCRIPT_FORMATS: Mapping[str, Callable[[TimedTranscript], str]] = MappingProxyType(
    {
        "ctm": _write_ctm,
        "srt": _write_srt,
        "webvtt": _write_webvtt,
        "textgrid": _write_textgrid,
        "json": _write_json,
    }
)
