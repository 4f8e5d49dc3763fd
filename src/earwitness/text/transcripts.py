"""Transcripts, subtitles, chapter lists, CTM word lists and TextGrids: parsers and types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from html import unescape
from itertools import islice, pairwise
from math import inf, isfinite
from typing import NamedTuple

from earwitness.errors import Problem
from earwitness.text.sentences import SpokenPiece
from earwitness.text.times import TIME_PATTERN, TimestampFormat

# --- Transcripts in sections ---------------------------------------------------------------------


def normalise_lines(text: str) -> str:
    """Return a text with LF line endings, without a byte-order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def join_lines(text: str) -> str:
    """Return a text in one line, with single spaces."""
    return " ".join(text.split())


class TranscriptSection(NamedTuple):
    """A chapter of a transcript, which starts at ``line``; level 0 if it has no level."""

    text: str
    title: str | None = None
    time: float | None = None
    line: int = 1
    level: int = 0


class Flaw(NamedTuple):
    """A problem in a line of a transcript."""

    line: int
    message: str
    remedy: str = ""

    def problem(self, path: object) -> Problem:
        """Return the problem of a file."""
        return Problem(str(path), self.line, "", self.message, self.remedy)


@dataclass(frozen=True)
class Transcript:
    """Sections in order; ``loose`` is the number of lines outside all sections.

    ``duration`` is that of the recording, if the text contains it.
    """

    sections: tuple[TranscriptSection, ...]
    flaws: tuple[Flaw, ...] = ()
    loose: int = 0
    duration: float | None = None

    @property
    def is_timed(self) -> bool:
        """Whether every section has a time."""
        return 0 < len(self.sections) == len(self.times)

    @property
    def times(self) -> list[float]:
        """Return the start times of sections."""
        return [section.time for section in self.sections if section.time is not None]

    @property
    def titles(self) -> list[tuple[str, float]]:
        """Return the titles with their start times."""
        return [
            (section.title, section.time)
            for section in self.sections
            if section.title is not None and section.time is not None
        ]

    @property
    def text(self) -> str:
        """Return the spoken text without titles."""
        return " ".join(section.text for section in self.sections if section.text)

    @property
    def levels(self) -> set[int]:
        """Return the levels of sections."""
        return {section.level for section in self.sections if section.level}

    def at_level(self, level: int) -> Transcript:
        """Return the sections of a level, with the texts of other sections inside them.

        Sections without a level are kept. Flaws of the headings of other levels are left out.
        """
        kept = list[TranscriptSection]()
        loose = self.loose
        for section in self.sections:
            if section.level in (0, level):
                kept.append(section)
            elif kept:
                text = " ".join(filter(None, (kept[-1].text, section.text)))
                kept[-1] = kept[-1]._replace(text=text)
            else:
                loose += len(section.text.splitlines())
        other = {section.line for section in self.sections if section.level not in (0, level)}
        flaws = tuple(flaw for flaw in self.flaws if flaw.line not in other)
        return replace(self, sections=tuple(kept), flaws=flaws, loose=loose)


# --- Subtitles and chapter lists -----------------------------------------------------------------


CUE_TIMING = re.compile(r"^\s*(\S+)\s*-->\s*(\S+)")
CUE_TAGS = re.compile(
    r"</?(?:b|i|u|s|c|v|lang|ruby|rt|font|\d+:[\d:.,]*)(?:[.\s][^<>]*)?>", re.IGNORECASE
)
NON_CUE_BLOCKS = ("NOTE", "STYLE", "REGION")
TIME_REGEX = re.compile(TIME_PATTERN)
LIST_PREFIX = re.compile(r"[\W_]*(?:\d{1,3}[.)])?[\W_]*")  # bullets, symbols, a number
LIST_MARKER = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
# starts like a time, but is not a valid time
TIME_LIKE_START = re.compile(rf"{LIST_PREFIX.pattern}(?:\d{{1,4}}:)?\d{{1,4}}:\d{{2}}(?!\d)")
TITLE_SEPARATORS = " \t-–—:|.,;→•\u200b\u200e\u200f"
# links and emphasis of Markdown; a target in parentheses that is a time is no link
MARKDOWN_LINK = re.compile(
    r"\[([^\[\]]*)\]\((?!\d+:\d)(?:[^()\s]|\([^()\s]*\))+(?:\s+\"[^\"]*\")?\)"
)
MARKDOWN_EMPHASIS = re.compile(
    r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*]*[^\s*])\1(?![\w*])"
    r"|(?<!\w)(_{1,3})(?=[^\s_])(.*?[^\s_])\3(?!\w)|(`)([^`]+)`"
)
FFMETADATA_ENTRY = re.compile(r"(?:[^\n\\]|\\.)+", re.DOTALL)


class Cue(NamedTuple):
    """Text of a subtitle cue, its times and line; the end is None if missing or invalid.

    ``marked_lines`` are the lines of the text with tags.
    """

    text: str
    start: float
    end: float | None
    line: int
    marked_lines: tuple[str, ...] = ()


def parse_subtitles(text: str) -> Transcript:
    """Parse SRT or WebVTT, in which every cue is a chapter and its text the title."""
    parsed, flaws = parse_cues(text)
    return Transcript(
        tuple(TranscriptSection("", cue.text, cue.start, cue.line) for cue in parsed), tuple(flaws)
    )


def parse_cues(text: str) -> tuple[list[Cue], list[Flaw]]:
    """Return the cues of SRT or WebVTT, and the flaws."""
    parsed = list[Cue]()
    flaws = list[Flaw]()
    for first, block in _line_blocks(text.split("\n")):
        timings = [i for i, line in enumerate(block) if "-->" in line]
        if not timings:
            header = first == 1 and block[0].startswith("WEBVTT")
            if not header and block[0].split()[0] not in NON_CUE_BLOCKS:
                place = next((n for n, line in enumerate(block) if TIME_REGEX.search(line)), 0)
                message = f'no times in "{block[place][:40]}"'
                flaws.append(Flaw(first + place, message, "write 00:01:00.000 --> 00:02:00.000"))
            continue
        for place, stop in zip(timings, [*timings[1:], len(block)], strict=True):
            words = block[place + 1 : stop]
            if stop < len(block) and words and words[-1].isdigit():
                words.pop()  # the number of the next cue
            timing = CUE_TIMING.match(block[place])
            time = TimestampFormat().seconds(timing[1]) if timing else None
            if timing is None or time is None:
                flaws.append(Flaw(first + place, f'no time in "{block[place][:40]}"'))
                continue
            end = TimestampFormat().seconds(timing[2])
            cue_text = strip_tags(" ".join(words))
            parsed.append(Cue(cue_text, time, end, first + place, tuple(words)))
    if not parsed and not flaws:
        flaws.append(Flaw(1, "contains no cues"))
    return parsed, flaws


def strip_tags(text: str) -> str:
    """Return a text of a cue without tags and escaped characters.

    >>> strip_tags("<v Ann>Rain<00:01.500><c> &amp; snow</c>")
    'Rain & snow'
    """
    return unescape(CUE_TAGS.sub("", text)).strip()


CUE_STAMP = re.compile(r"<((?:\d+:)?\d{1,3}:\d{2}[.,]\d{1,3})>")
MAX_ROLLING_GAP_SECONDS = 0.1  # between the cues of rolling captions


def cue_flaws(cues: Sequence[Cue]) -> Iterator[Flaw]:
    """Yield the flaws of cues with invalid times."""
    for cue in cues:
        if cue.end is None:
            yield Flaw(cue.line, "has no valid end time", "00:01:00.000 --> 00:01:02.000")
        elif cue.end < cue.start:
            yield Flaw(cue.line, "ends before it begins")
    for before, cue in pairwise(cues):
        if cue.start < before.start:
            message = f"begins before the cue of line {before.line}"
            yield Flaw(cue.line, message, "sort cues by time")


def without_repeats(cues: Sequence[Cue]) -> Iterator[tuple[Cue, list[str]]]:
    """Yield cues with their lines; lines that rolling captions repeat are left out.

    In captions that YouTube generates, nearly every cue starts with the last line of the cue
    before it. In other subtitles, repeated lines are spoken again.
    """
    shown = [[strip_tags(line) for line in cue.marked_lines] for cue in cues]
    repeated = [0]
    for number, (before, cue) in enumerate(pairwise(cues), 1):
        first, second = shown[number - 1], shown[number]
        counts = range(min(len(first), len(second)), 0, -1)
        is_next = cue.start - (before.end or 0.0) <= MAX_ROLLING_GAP_SECONDS
        matches = (count for count in counts if is_next and first[-count:] == second[:count])
        repeated.append(next(matches, 0))
    rolling = sum(map(bool, repeated))
    has_stamps = any(CUE_STAMP.search(line) for cue in cues for line in cue.marked_lines)
    is_rolling = rolling >= (1 if has_stamps else 2) and 2 * rolling >= len(cues) - 1
    for cue, count in zip(cues, repeated, strict=True):
        yield cue, list(cue.marked_lines[count * is_rolling :])


def _line_blocks(lines: list[str]) -> list[tuple[int, list[str]]]:
    """Return runs of lines that are not blank, with the number of their first line.

    Captions of YouTube have a line with a single space in place of the first line of a cue.
    """
    blocks = list[tuple[int, list[str]]]()
    inside = False
    for number, line in enumerate(lines, 1):
        if not line.strip():
            inside = inside and line == " " and "-->" in lines[number - 2]
        elif inside:
            blocks[-1][1].append(line.strip())
        else:
            blocks.append((number, [line.strip()]))
            inside = True
    return blocks


def strip_markdown(line: str) -> str:
    """Return a line without the links and the emphasis of Markdown.

    >>> strip_markdown("**0:00** [Intro](https://example.org/a_b)")
    '0:00 Intro'
    """
    line = MARKDOWN_LINK.sub(r"\1", line)
    return MARKDOWN_EMPHASIS.sub(lambda m: m[2] or m[4] or m[6], line)


def parse_youtube(text: str) -> Transcript:
    """Parse lines such as ``1:02:03 Title`` or ``Title 1:02:03``; other lines are loose.

    Times and titles may have links and emphasis of Markdown.
    """
    lines = [
        (number, strip_markdown(line))
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip()
    ]
    for parse in (_parse_time_first, _parse_time_last):
        parsed = [parse(line, number) for number, line in lines]
        sections = tuple(section for section in parsed if section is not None)
        if sections:
            loose = [pair for pair, section in zip(lines, parsed, strict=True) if section is None]
            remedy = "minutes and seconds must be at most 59"
            flaws = tuple(
                Flaw(number, f'no time in "{line.strip()[:40]}"', remedy)
                for number, line in loose
                if TIME_LIKE_START.match(line)
            )
            return Transcript(sections, flaws, len(loose) - len(flaws))
    return Transcript((), (Flaw(1, "no line has a time", "write 1:02:03 Title"),), len(lines))


def _parse_time_first(line: str, number: int) -> TranscriptSection | None:
    match = TIME_REGEX.search(line)
    if match is None or not LIST_PREFIX.fullmatch(line[: match.start()]):
        return None
    title = line[match.end() :].lstrip(TITLE_SEPARATORS)
    if range_end := TIME_REGEX.match(title):  # a range: 0:00 – 1:23 Title
        title = title[range_end.end() :]
    time = TimestampFormat().seconds(match[0])
    named = title.strip(TITLE_SEPARATORS + "])")
    return None if time is None else TranscriptSection("", named, time, number)


def _parse_time_last(line: str, number: int) -> TranscriptSection | None:
    times = list(TIME_REGEX.finditer(line))
    if not times or line[times[-1].end() :].strip(TITLE_SEPARATORS + "])"):
        return None
    first = times[-1]
    if len(times) > 1 and not line[times[-2].end() : first.start()].strip(TITLE_SEPARATORS):
        first = times[-2]  # a range
    title = LIST_MARKER.sub("", line[: first.start()], count=1).strip(TITLE_SEPARATORS + "[(")
    time = TimestampFormat().seconds(first[0])
    return None if time is None or not title else TranscriptSection("", title, time, number)


def parse_ffmetadata(text: str) -> Transcript:
    """Parse ffmpeg metadata, with chapters in a time base."""
    sections = list[TranscriptSection]()
    flaws = list[Flaw]()
    parts = re.split(r"^\[(\w+)\][ \t]*$", text, flags=re.MULTILINE)
    if not parts[0].startswith(";FFMETADATA"):
        flaws.append(Flaw(1, 'does not begin with ";FFMETADATA1"'))
    place = parts[0].count("\n") + 1
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        if name.upper() == "CHAPTER":
            chapter = _parse_chapter(body, place)
            if isinstance(chapter, Flaw):
                flaws.append(chapter)
            else:
                sections.append(chapter)
        place += body.count("\n")
    if not sections and not flaws:
        flaws.append(Flaw(1, "no [CHAPTER] found"))
    return Transcript(tuple(sections), tuple(flaws))


def _parse_chapter(body: str, line: int) -> TranscriptSection | Flaw:
    fields = dict[str, str]()
    for entry in FFMETADATA_ENTRY.findall(body):
        match = re.match(r"((?:[^=\\]|\\.)*)=(.*)", entry, re.DOTALL)
        if match and not entry.startswith((";", "#")):
            fields[match[1].strip().upper()] = match[2]
    start = re.fullmatch(r"\s*(-?\d{1,30})\s*", fields.get("START", ""))
    base = re.fullmatch(r"\s*(\d{1,30}/\d{1,30})\s*", fields.get("TIMEBASE", "1/1000000000"))
    if start is None or base is None or int(base[1].partition("/")[2]) == 0:
        return Flaw(line, "a [CHAPTER] without valid START and TIMEBASE")
    title = re.sub(r"\\(.)", r"\1", fields.get("TITLE", ""), flags=re.DOTALL)
    return TranscriptSection("", title.strip(), float(int(start[1]) * Fraction(base[1])), line)


# --- CTM word lists ------------------------------------------------------------------------------


MAX_TIME_SECONDS = 1e12  # largest valid time
# Tokens that are no words, in lower case. Kaldi's scripts remove them from a CTM file before it is
# scored: egs/swbd/s5c/local/score_sclite.sh, egs/babel/s5d/local/lattice_to_ctm.sh and
# egs/tedlium/s5_r2/local/score_sclite.sh.
NOISE_FILLERS = ("noise", "laughter", "vocalized-noise", "breath", "cough", "smack", "um", "uh")
FILLERS = {f"[{name}]" for name in NOISE_FILLERS} | {
    *("<unk>", "<eps>", "<noise>", "<silence>", "<hes>", "<v-noise>"),
    *("%hesitation", "(%hesitation)", "(())", "!sil"),
}
CONFIDENCE_REMEDY = "confidences are probabilities"
SORT_REMEDY = "sort the words by time"


class TimedWord(NamedTuple):
    """A word of a recording, with its times in seconds, and the confidence of a recognizer."""

    recording: str
    word: str
    start: float
    end: float
    confidence: float | None


def read_ctm(text: str) -> tuple[list[TimedWord], list[Flaw]]:
    """Return the words of a CTM file without fillers, sorted by recording, and the flaws.

    >>> read_ctm("a 1 0.1 0.2 the\\n;; comment\\na 1 0.3 0.1 [noise]\\na 1 0.5 0.2 sky")[0][1].word
    'sky'
    """
    words, flaws = list[TimedWord](), list[Flaw]()
    last: dict[str, tuple[float, int]] = {}  # start and line of the last word of every recording
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.split()
        if not parts or line.lstrip().startswith(";;"):
            continue
        word = _parse_word(parts)
        if isinstance(word, Flaw):
            flaws.append(word._replace(line=number))
            continue
        before = last.get(word.recording)
        if before is not None and word.start < before[0]:
            message = f"starts at {word.start:g} s, before the word on line {before[1]}"
            flaws.append(Flaw(number, message, SORT_REMEDY))
        last[word.recording] = word.start, number
        if not is_filler(word.word):
            words.append(word)
    return sorted(words, key=lambda timed_word: (timed_word.recording, timed_word.start)), flaws


def is_filler(word: str) -> bool:
    """Whether a token of a CTM file is a noise, a hesitation or a symbol, and not a word.

    >>> [is_filler(word) for word in ("[NOISE]", "(%HESITATION)", "noise")]
    [True, True, False]
    """
    return word.lower() in FILLERS


def _parse_word(parts: list[str]) -> TimedWord | Flaw:
    """Return a word, or a flaw without the number of its line."""
    if len(parts) not in (5, 6, 8):  # 8 with type and speaker, as NeMo writes it
        return _ctm_flaw(f"has {len(parts)} fields, not 5 or 6")
    recording, channel, *numbers = parts[:4]
    if parts[4].startswith("<ALT"):
        return _ctm_flaw("has alternatives")
    try:
        start, length = map(float, numbers)
        confidence = float(parts[5]) if len(parts) > 5 and parts[5] != "NA" else None
    except ValueError:
        return _ctm_flaw("has a time or a confidence that is not a number")
    if start < 0 or length < 0:
        return _ctm_flaw("has a negative time")
    if not (start <= MAX_TIME_SECONDS and length <= MAX_TIME_SECONDS):
        return _ctm_flaw("has an invalid time")
    if confidence is not None and not isfinite(confidence):
        return _ctm_flaw("has an invalid confidence")
    if confidence is not None and confidence > 1:
        return Flaw(0, f"has the confidence {parts[5]}, above 1", CONFIDENCE_REMEDY)
    end = round(start + length, 6)
    return TimedWord(f"{recording} {channel}", parts[4], start, end, confidence)


def _ctm_flaw(message: str) -> Flaw:
    return Flaw(0, message, "write: recording channel start duration word")


# --- Praat TextGrid ------------------------------------------------------------------------------


# Praat reads free-standing numbers, quoted texts and flags, and ignores all else.
GRID_TOKEN = re.compile(r'"(?:[^"]|"")*+"|<\w+>|(?<!\S)-?\d[\d.eE+-]*(?!\S)|(?<!\S)!.*')


class GridPart(NamedTuple):
    """An interval of a TextGrid, or a point, which ends where it starts; the text is one line."""

    text: str
    start: float
    end: float
    line: int


class GridTier(NamedTuple):
    """A tier of a TextGrid."""

    name: str
    parts: tuple[GridPart, ...]

    @property
    def kind(self) -> str:
        """Name in lower case, without the speaker that the Montreal Forced Aligner adds."""
        return self.name.rpartition(" - ")[2].strip().casefold()


class _GridError(Exception):
    """The content of a TextGrid is invalid."""

    def __init__(self, line: int, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.flaw = Flaw(line, message, remedy)


def read_textgrid(text: str) -> tuple[list[GridTier], float | None, list[Flaw]]:
    """Return the tiers of a TextGrid in the long or the short text format, its end, and flaws."""
    try:
        tiers, end = _GridReader(text).read()
    except _GridError as error:
        return [], None, [error.flaw]
    return tiers, end, []


class _GridReader:
    """Reader of the tokens of a TextGrid, in their order."""

    def __init__(self, text: str) -> None:
        self._tokens = _grid_tokens(text)
        self._last_line = text.rstrip().count("\n") + 1

    def read(self) -> tuple[list[GridTier], float]:
        first = [value for value, _ in islice(self._tokens, 2)]
        if len(first) < 2 or not str(first[0]).startswith("ooTextFile") or first[1] != "TextGrid":
            raise _GridError(1, "is not a TextGrid", "save it in Praat as a text file")
        self._number()
        end = self._number()
        tiers = list[GridTier]()
        for _ in range(self._count()):
            kind, name = self._text(), self._text()
            self._number()
            self._number()
            parts = [self._part(kind) for _ in range(self._count())]
            tiers.append(GridTier(name, tuple(parts)))
        return tiers, end

    def _part(self, kind: str) -> GridPart:
        start, line = self._number(), self._line
        end = self._number() if kind == "IntervalTier" else start
        return GridPart(join_lines(self._text()), start, end, line)

    def _next(self) -> float | str:
        for value, line in self._tokens:
            self._line = line
            if value != "<exists>":
                return value
        raise _GridError(self._last_line, "ends too early")

    def _number(self, noun: str = "a number") -> float:
        value = self._next()
        if not isinstance(value, float):
            raise _GridError(self._line, f'must be {noun}, got "{value[:40]}"')
        return value

    def _count(self) -> int:
        number = self._number("a count")
        if not number.is_integer():
            raise _GridError(self._line, f'must be a count, got "{number}"')
        return int(number)

    def _text(self) -> str:
        value = self._next()
        if not isinstance(value, str):
            raise _GridError(self._line, f"must be text, got {value:g}")
        return value


def _grid_tokens(text: str) -> Iterator[tuple[float | str, int]]:
    """Yield the numbers, texts and flags of a TextGrid, and their lines."""
    line, place = 1, 0
    for match in GRID_TOKEN.finditer(text):
        line += text.count("\n", place, match.start())
        place, token = match.start(), match[0]
        if token.startswith('"'):
            yield token[1:-1].replace('""', '"'), line
        elif token.startswith("<"):
            yield token, line
        elif not token.startswith("!") and (number := written_number(token)) is not None:
            yield number, line


MIN_INTERVAL_SECONDS = 0.001


def write_textgrid(tiers: Mapping[str, Sequence[SpokenPiece]], duration: float) -> str:
    """Return a TextGrid in the long text format, with interval tiers of these pieces.

    It ends at the duration, or with the last piece. Gaps become intervals without text.
    """
    valid = {name: [_interval(piece) for piece in pieces] for name, pieces in tiers.items()}
    ends = [interval.end for pieces in valid.values() for interval in pieces]
    end = max(duration, MIN_INTERVAL_SECONDS, *ends)
    lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", "xmin = 0 "]
    lines += [f"xmax = {_exact(end)} ", "tiers? <exists> ", f"size = {len(tiers)} ", "item []: "]
    for number, (name, pieces) in enumerate(valid.items(), 1):
        intervals = _tiled(pieces, end)
        lines += [
            f"    item [{number}]:",
            '        class = "IntervalTier" ',
            f'        name = "{name}" ',
            "        xmin = 0 ",
            f"        xmax = {_exact(end)} ",
            f"        intervals: size = {len(intervals)} ",
        ]
        for place, (text, start, stop) in enumerate(intervals, 1):
            quoted = text.replace('"', '""')
            lines += [
                f"        intervals [{place}]:",
                f"            xmin = {_exact(start)} ",
                f"            xmax = {_exact(stop)} ",
                f'            text = "{quoted}" ',
            ]
    return "\n".join([*lines, ""])


def _interval(piece: SpokenPiece) -> SpokenPiece:
    """Return a piece with valid times in microseconds."""
    start = round(max(piece.start, 0.0), 6)
    end = round(max(piece.end, start + MIN_INTERVAL_SECONDS), 6)
    return SpokenPiece(piece.text, start, end)


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
    nexts = [*(piece.start for piece in ordered), inf][1:]
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


def written_number(text: str, *, comma: bool = False) -> float | None:
    """Return a finite number in a text, possibly with a decimal comma.

    >>> written_number("1,5", comma=True), written_number("1_0"), written_number("nan")
    (1.5, None, None)
    """
    try:
        number = float(text.replace(",", ".") if comma else text)
    except ValueError:
        return None
    return number if isfinite(number) and "_" not in text else None
