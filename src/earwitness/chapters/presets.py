"""Presets for chapter marks in transcripts (cstart, markdown, custom …), and times from audio."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import accumulate, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from earwitness.chapters.cases import UNIT_SECONDS, parse_units
from earwitness.chapters.formats import (
    MalformedFile,
    parse_audacity,
    parse_csv,
    parse_jams,
    parse_lab,
    parse_podcast,
    parse_rttm,
    parse_rttm_recordings,
    parse_textgrid,
    parse_ytdlp,
)
from earwitness.core import Progress, is_address, label_progress, no_progress
from earwitness.errors import UsageError, nearest
from earwitness.io.formats import TextFormat
from earwitness.speech import ALIGNERS, choose_aligner
from earwitness.text.times import (
    PATTERN_TIMEOUT_SECONDS,
    TIME_PATTERN,
    PatternTimeout,
    TimestampFormat,
    compile_pattern,
)
from earwitness.text.transcripts import (
    Flaw,
    Transcript,
    TranscriptSection,
    normalise_lines,
    parse_ffmetadata,
    parse_subtitles,
    parse_youtube,
)
from earwitness.text.words import is_spoken

if TYPE_CHECKING:
    from earwitness.speech.align import Aligner

TITLE_START_TAG, TITLE_END_TAG = "[CSTART]", "[CEND]"
TITLE_TAG_PATTERN = re.compile(r"\[(CSTART|CEND)\]")
MARKDOWN_HEADER_PATTERN = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*)$", re.MULTILINE)
TIME_FIRST_PATTERN = re.compile(rf"({TIME_PATTERN})(?:\s*[-–—:|.,;→]+\s*|\s+|$)(.*)", re.DOTALL)
TIME_LAST_PATTERN = re.compile(rf"(.*?)\s*@\s*({TIME_PATTERN})", re.DOTALL)

EACH_LEVEL = "each"
DEFAULT_LANGUAGE = "en"

# start and end of a heading, its title and time
ChapterMark = tuple[int, int, str | None, float | None]


@dataclass(frozen=True)
class PresetOptions:
    """Options of presets.

    ``pattern`` and ``timestamp_format`` are for custom presets, ``tier`` for TextGrid and JAMS.
    ``level`` is the level of headings that are chapters; empty or ``"each"`` for all levels.
    """

    pattern: str = ""
    timestamp_format: str = ""
    tier: str = ""
    level: str = ""

    def check(self) -> None:
        """Raise UsageError if the regular expression, the time format or the level is invalid."""
        compile_pattern(self.pattern, "pattern")
        TimestampFormat(self.timestamp_format)
        if self.level and self.level != EACH_LEVEL and not re.fullmatch("[1-9]", self.level):
            message = f"heading_level must be a whole number from 1, or {EACH_LEVEL}"
            raise UsageError(f'{message}, got "{self.level}"')


@dataclass(frozen=True)
class ChapterOptions:
    """Default preset of transcripts with its options, and how texts are aligned with audio.

    ``language`` is a code such as ``en`` or ``eng``; it selects the aligner if none is named. With
    ``force_alignment``, outputs are aligned even if their transcripts have times. ``unit`` is that
    of boundaries, titles and durations, or units by side; see ``parse_units``.
    """

    preset: str = ""
    options: PresetOptions = field(default_factory=PresetOptions)
    aligner: str = ""
    language: str = DEFAULT_LANGUAGE
    force_alignment: bool = False
    unit: str = ""

    def check(self) -> None:
        """Raise UsageError if an option is invalid."""
        if self.preset and self.preset not in PRESETS:
            raise UsageError(f'unknown preset "{self.preset}" — {nearest(self.preset, PRESETS)}')
        if self.aligner and self.aligner not in ALIGNERS:
            remedy = nearest(self.aligner, ALIGNERS)
            raise UsageError(f'unknown aligner "{self.aligner}" — {remedy}')
        self.options.check()
        parse_units(self.unit)

    @cached_property
    def units(self) -> dict[str, str]:
        """Units of outputs, references and durations, if set."""
        return parse_units(self.unit)

    def seconds(self, side: str) -> float:
        """Return the seconds of one unit of a side."""
        return UNIT_SECONDS[self.units.get(side, "s")]

    @property
    def aligner_name(self) -> str:
        """The aligner, by default that of the language."""
        return self.aligner or choose_aligner(self.language)

    @property
    def signature(self) -> str:
        """Preset and options after a ``|``, or empty.

        The aligner and the language are included if the preset has no times, alignment is forced,
        or they are not the default.
        """
        options, own = {"preset": self.preset}, self.options
        if self.preset in ("", "custom", "custom_ts"):  # lines may set a custom preset
            options |= {"pattern": own.pattern, "timestamp_format": own.timestamp_format}
        options |= {"tier": own.tier, "heading_level": own.level}
        default = choose_aligner(DEFAULT_LANGUAGE), DEFAULT_LANGUAGE
        is_untimed = self.preset in PRESETS and PRESETS[self.preset].kind == "text"
        is_default = (self.aligner_name, self.language) == default
        if is_untimed or self.force_alignment or not is_default:
            options |= {"aligner": self.aligner_name, "language": self.language}
            options["force_alignment"] = "yes" if self.force_alignment else ""
        options["unit"] = self.unit
        return "".join(f"|{name}={value}" for name, value in options.items() if value)


def read(text: str, preset: str, options: PresetOptions | None = None) -> Transcript:
    """Return the sections of a transcript, and its flaws."""
    if preset not in PRESETS:
        raise UsageError(f'unknown preset "{preset}" — {nearest(preset, PRESETS)}')
    options, form = options or PresetOptions(), PRESETS[preset]
    try:
        own = {name: getattr(options, name) for name in form.options}
        transcript = form.parse(normalise_lines(text), **own)
    except PatternTimeout as error:
        return Transcript((), (Flaw(1, str(error), "simplify the expression"),))
    except MalformedFile as error:
        return Transcript((), (error.flaw,))
    if not options.level or options.level == EACH_LEVEL:
        return transcript
    return transcript.at_level(int(options.level))


def _cstart(text: str) -> Transcript:
    marks, flaws = _cstart_marks(text)
    return _cut(text, [(*mark, None) for mark in marks], flaws)


def _cstart_ts(text: str) -> Transcript:
    marks, flaws = _cstart_marks(text)
    timed, line = [], _lines(text)
    for start, end, heading in marks:
        time, title = _time_first(heading)
        if time is None:
            flaws.append(_no_time(line(start), heading))
        timed.append((start, end, title, time))
    return _cut(text, timed, flaws)


def _cstart_marks(text: str) -> tuple[list[tuple[int, int, str]], list[Flaw]]:
    marks = list[tuple[int, int, str]]()
    flaws = list[Flaw]()
    tags, line = list(TITLE_TAG_PATTERN.finditer(text)), _lines(text)
    start_alone = f"{TITLE_START_TAG} without {TITLE_END_TAG}", "add the closing tag"
    end_alone = f"{TITLE_END_TAG} without {TITLE_START_TAG}", "add the opening tag"
    for match, after in zip_longest(tags, tags[1:]):
        if match[1] == "CSTART" and after is not None and after[1] == "CEND":
            marks.append((match.start(), after.end(), text[match.end() : after.start()].strip()))
        elif match[1] == "CSTART":
            flaws.append(Flaw(line(match.start()), *start_alone))
    closed = {end for _, end, _ in marks}
    for match in tags:
        if match[1] == "CEND" and match.end() not in closed:
            flaws.append(Flaw(line(match.start()), *end_alone))
    if not marks and not flaws:
        flaws.append(Flaw(1, f"no {TITLE_START_TAG} found", "check that the preset is right"))
    return marks, flaws


def _markdown(text: str) -> Transcript:
    headings = list(MARKDOWN_HEADER_PATTERN.finditer(text))
    if not headings:
        return Transcript((TranscriptSection(text.strip()),) if text.strip() else ())
    marks = [(m.start(), m.end(), m[2].strip(), None) for m in headings]
    return _with_levels(_cut(text, marks, []), headings)


def _markdown_ts(text: str) -> Transcript:
    marks, flaws, line = [], [], _lines(text)
    headings = list(MARKDOWN_HEADER_PATTERN.finditer(text))
    for match in headings:
        heading = match[2].strip()
        time, title = _time_first(heading)
        if time is None and (last := TIME_LAST_PATTERN.fullmatch(heading)):
            time, title = TimestampFormat().seconds(last[2]), last[1].strip()
        if time is None:
            flaws.append(_no_time(line(match.start()), heading))
        marks.append((match.start(), match.end(), title, time))
    if not marks:
        flaws.append(Flaw(1, "no heading (# …) found", "check that the preset is right"))
    transcript = _with_levels(_cut(text, marks, flaws), headings)
    timed = {section.level for section in transcript.sections if section.time is not None}
    untimed = {section.level for section in transcript.sections if section.time is None}
    if len(timed) == 1 and not timed & untimed:  # a title without a time above timed headings
        remedy = f"or set --heading-level {min(timed)}"
        flaws = [flaw._replace(remedy=f"{flaw.remedy}, {remedy}") for flaw in flaws]
        transcript = replace(transcript, flaws=tuple(flaws))
    return transcript


def _with_levels(transcript: Transcript, headings: Sequence[re.Match[str]]) -> Transcript:
    """Return the sections with the levels of their headings."""
    pairs = zip(transcript.sections, headings, strict=True)
    sections = [section._replace(level=len(heading[1])) for section, heading in pairs]
    return replace(transcript, sections=tuple(sections))


def _newline(text: str) -> Transcript:
    return _split_between(text, re.finditer(r"\n[ \t]*\n\s*", text))


def _custom(text: str, pattern: str) -> Transcript:
    return _split_between(text, _pattern_matches(text, pattern))


def _split_between(text: str, separators: Iterable[re.Match[str]]) -> Transcript:
    """Return the sections between separators, without titles."""
    spans, line = [match.span() for match in separators], _lines(text)
    starts, stops = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)]
    return Transcript(
        tuple(
            TranscriptSection(part, line=line(start))
            for start, stop in zip(starts, stops, strict=True)
            if (part := text[start:stop].strip())
        )
    )


def _custom_ts(text: str, pattern: str, timestamp_format: str) -> Transcript:
    clock, marks, flaws = TimestampFormat(timestamp_format or "H:MM:SS"), [], []
    if pattern and "timestamp" not in compile_pattern(pattern, "pattern").groupindex:
        raise UsageError("pattern requires a named group: (?P<timestamp>…)")
    line = _lines(text)
    for match in _pattern_matches(text, pattern):
        groups = match.groupdict()
        time = clock.seconds(groups["timestamp"] or "")
        if time is None:
            message = f'"{groups["timestamp"] or ""}" does not match the format {clock.form}'
            flaws.append(Flaw(line(match.start()), message, "set another timestamp_format"))
        title = (groups["title"] or "").strip() if "title" in groups else None
        marks.append((match.start(), match.end(), title, time))
    if not marks:
        flaws.append(Flaw(1, "no match for the pattern"))
    return _cut(text, marks, flaws)


def _pattern_matches(text: str, pattern: str) -> list[re.Match[str]]:
    """Return all matches of a user's pattern, found in bounded time."""
    if not pattern:
        raise UsageError("this preset requires custom_pattern")
    found = compile_pattern(pattern, "pattern").finditer(text, timeout=PATTERN_TIMEOUT_SECONDS)
    try:
        return [match for match in found if match[0]]
    except TimeoutError:
        raise PatternTimeout("pattern") from None


def _time_first(heading: str) -> tuple[float | None, str]:
    """Return the time at the start of a heading, and the rest."""
    match = TIME_FIRST_PATTERN.fullmatch(heading)
    if match is None:
        return None, heading
    return TimestampFormat().seconds(match[1]), match[2].strip()


def _no_time(line: int, heading: str) -> Flaw:
    return Flaw(line, f'no time in the heading "{heading[:40]}"', "write 0:12:34 - title")


def _cut(text: str, marks: Sequence[ChapterMark], flaws: list[Flaw]) -> Transcript:
    """Return the sections between headings; text before the first belongs to no section."""
    line = _lines(text)
    ends = [*(start for start, *_ in marks[1:]), len(text)] if marks else []
    sections = tuple(
        TranscriptSection(text[end:stop].strip(), title, time, line(start))
        for (start, end, title, time), stop in zip(marks, ends, strict=True)
    )
    before = text[: marks[0][0]] if marks else ""
    return Transcript(sections, tuple(flaws), len(before.strip().splitlines()))


def _lines(text: str) -> Callable[[int], int]:
    """Return a function that returns the line number of an index of the text."""
    breaks = [match.start() for match in re.finditer("\n", text)]
    return lambda place: bisect_left(breaks, place) + 1


@dataclass(frozen=True)
class ChapterFormat(TextFormat):
    """A chapter format; its content is what chapters are.

    Parameters
    ----------
    kind
        ``"text"`` (transcripts whose chapters have no times), ``"timed text"``, ``"list"``
        (chapters without a transcript) or ``"annotation"`` (files that may be large, or need
        options; they are gathered as boundaries and titles).
    options
        Preset options that the parser takes.
    recordings
        Function that returns the chapters of each recording of a text and all flaws, for files
        with several.
    """

    parse: Callable[..., Transcript]
    kind: str = "annotation"
    options: tuple[str, ...] = ()
    recordings: Callable[[str], tuple[dict[str, Transcript], list[Flaw]]] | None = None


ALIGNED = "aligned with the audio"
TIMED_GROUPS = (
    "`--custom-pattern` with the groups `timestamp` and `title`; `--timestamp-format` `HH:MM:SS`, "
    "`H:MM:SS` (default), `MM:SS`, `M:SS`, `HHMMSS`, `MMSS`, or a regular expression with the "
    "groups `h`, `m`, `s`"
)
PRESETS: dict[str, ChapterFormat] = {
    "cstart": ChapterFormat(
        f"`[CSTART] Title [CEND] text`, [{ALIGNED}](#alignment-with-audio)", _cstart, kind="text"
    ),
    "cstart_ts": ChapterFormat(
        "`[CSTART] 1:23:45 - Title [CEND] text`", _cstart_ts, kind="timed text"
    ),
    "newline": ChapterFormat(
        f"sections separated by blank lines; {ALIGNED}", _newline, kind="text"
    ),
    "markdown": ChapterFormat(f"`# Title`, text below; {ALIGNED}", _markdown, kind="text"),
    "markdown_ts": ChapterFormat(
        "`# 0:15:30 - Title` or `# Title @ 15:30`, text below", _markdown_ts, kind="timed text"
    ),
    "custom": ChapterFormat(
        f"sections separated by `--custom-pattern`; {ALIGNED}",
        _custom,
        kind="text",
        options=("pattern",),
    ),
    "custom_ts": ChapterFormat(
        TIMED_GROUPS, _custom_ts, kind="timed text", options=("pattern", "timestamp_format")
    ),
    "srt": ChapterFormat("every cue", parse_subtitles, (".srt",), kind="list"),
    "webvtt": ChapterFormat("every cue", parse_subtitles, (".vtt",), kind="list"),
    "youtube": ChapterFormat(
        "lines such as `1:02:03 Title`, `- (2:03) Title` or `Title 2:03`, also with Markdown: "
        "`**2:03** [Title](https://…)`; recognized if the first starts with `0:00`",
        parse_youtube,
        shared=(".txt",),
        detect=re.compile(r"\s*(?:[-*•]\s+)?\**[\[(]?(?:00?:)?00?:00[\])]?\**\s+\S").match,
        kind="list",
    ),
    "podcast": ChapterFormat(
        "JSON of Podcasting 2.0 (`toc: false` is left out)",
        parse_podcast,
        (".json",),
        kind="list",
    ),
    "ffmetadata": ChapterFormat(
        "`[CHAPTER]` of ffmpeg with `TIMEBASE`, `START`, `title`",
        parse_ffmetadata,
        (".ffmeta", ".ffmetadata"),
        kind="list",
    ),
    "ytdlp": ChapterFormat(
        "`chapters` of an `info.json` of yt-dlp; `null` is a video without chapters",
        parse_ytdlp,
        (".info.json",),
        (".json",),
        re.compile(r'(?s).*"(?:start_time|extractor)"\s*:').match,
    ),
    "rttm": ChapterFormat(
        "`SPEAKER` lines, with the speaker as the title; other types are ignored",
        parse_rttm,
        (".rttm",),
        recordings=parse_rttm_recordings,
    ),
    "audacity": ChapterFormat(
        "labels of Audacity; lines with a frequency range (`\\`) are ignored",
        parse_audacity,
        shared=(".txt",),
        detect=re.compile(r"-?\d+(?:[.,]\d+)?\t-?\d+(?:[.,]\d+)?(?:[\t\r\n]|\Z)").match,
    ),
    "textgrid": ChapterFormat(
        "a tier of a TextGrid of Praat, in the long or the short text format, with intervals or "
        "points; UTF-8 or UTF-16",
        parse_textgrid,
        (".textgrid",),
        options=("tier",),
    ),
    "jams": ChapterFormat(
        "an annotation of a JAMS file whose namespace contains `segment`, such as `segment_open` "
        "or `multi_segment`",
        parse_jams,
        (".jams",),
        options=("tier",),
    ),
    "lab": ChapterFormat(
        "lines with start, end and label, in seconds or in HTK's units of 100 ns (whole numbers "
        "from 1,000,000)",
        parse_lab,
        (".lab",),
    ),
    "csv": ChapterFormat(
        "a table with the columns `start` and `title` (in any case; other columns are ignored), in "
        "seconds or as `1:02:03`",
        parse_csv,
        (".csv",),
    ),
}


# --- Times from audio ----------------------------------------------------------------------------


NO_AUDIO_REMEDY = "add audio, use a preset with times, or give boundaries"
ALIGNING_LABEL = "aligning text"


def align_sections(
    transcript: Transcript,
    audio: Path,
    aligner: Aligner,
    language: str = DEFAULT_LANGUAGE,
    *,
    progress: Progress = no_progress,
) -> Transcript:
    """Return a transcript whose sections start with their first spoken words.

    The first section starts at 0. A section without text starts with the next one, or at the end of
    the last word if there is none. Times in the transcript are ignored.

    Parameters
    ----------
    transcript
        Sections with their texts.
    audio
        Audio file.
    aligner
        Aligner of ``earwitness.speech.align``.
    language
        ISO 639-3 code of the language.
    progress
        Callback for progress reports, in seconds of audio.

    Raises
    ------
    AlignmentFailure
        If the audio cannot be read or does not contain the text.
    UsageError
        If the aligner cannot be used.
    """
    from earwitness.speech.align import align_words

    texts = [section.text.split() for section in transcript.sections]
    words = [word for text in texts for word in text]
    times = align_words(audio, words, aligner, language, progress=progress)
    starts = [0.0]
    for first in list(accumulate(map(len, texts)))[:-1]:
        spoken = (place for place in range(first, len(words)) if is_spoken(words[place]))
        place = next(spoken, None)
        starts.append(times[-1].end if place is None else times[place].start)
    pairs = zip(transcript.sections, starts, strict=True)
    sections = tuple(section._replace(time=time) for section, time in pairs)
    return replace(transcript, sections=sections)


class ItemAudio(NamedTuple):
    """Audio of an item as its line gives it, the folder of the file, and progress of alignment."""

    name: str | None = None
    folder: Path | None = None
    progress: Progress = no_progress

    @property
    def path(self) -> Path:
        """The path in the folder of the file that names it, or as given."""
        assert self.name is not None
        beside = (self.folder or Path()) / self.name
        return beside if beside.is_file() else Path(self.name)


def align_transcript(
    transcript: Transcript, reading: ChapterOptions, audio: ItemAudio
) -> Transcript | tuple[str, str]:
    """Return a transcript with times from its audio, or the reason why it has none and a remedy."""
    from earwitness.speech.ctc import AlignmentFailure

    if audio.name is None or is_address(audio.name):
        reason = "no audio" if audio.name is None else "audio at an address, which is not loaded"
        needs = "must be aligned" if transcript.is_timed else "has no times"
        return f"{needs}, and the item has {reason}", NO_AUDIO_REMEDY
    aligner = open_aligner(reading.aligner_name)
    try:
        with label_progress(audio.progress, ALIGNING_LABEL) as progress:
            return align_sections(
                transcript, audio.path, aligner, reading.language, progress=progress
            )
    except AlignmentFailure as failure:
        return f"cannot be aligned with its audio: {failure}", ""


def open_aligner(name: str) -> Aligner:
    """Return an aligner with the cache folder of the user; its model is loaded only once."""
    from earwitness.models.cache import find_cache

    return _open_aligner(name, find_cache().folder)


@cache
def _open_aligner(name: str, folder: Path) -> Aligner:
    from earwitness.speech.align import find_aligner

    return find_aligner(name, cache=folder)


# --- Levels of headings --------------------------------------------------------------------------


LEVEL_REMARK, SEVERAL_LEVELS_REMARK = "heading level ", "several heading levels"


def level_remarks(transcripts: Iterable[tuple[int, ...]]) -> Counter[str]:
    """Count the levels of headings of transcripts, and transcripts with several levels."""
    remarks = Counter[str]()
    for levels in filter(None, transcripts):
        remarks.update(f"{LEVEL_REMARK}{level}" for level in levels)
        remarks[SEVERAL_LEVELS_REMARK] += len(levels) > 1
    return remarks


def found_levels(remarks: Counter[str]) -> list[str]:
    """Return the levels of headings that were counted."""
    return sorted(
        name.removeprefix(LEVEL_REMARK) for name in +remarks if name.startswith(LEVEL_REMARK)
    )


def level_notes(remarks: Counter[str], level: str) -> Iterator[str]:
    """Yield notes about the levels of headings."""
    found, several = found_levels(remarks), remarks[SEVERAL_LEVELS_REMARK]
    if several and not level:
        what = "transcript has" if several == 1 else "transcripts have"
        numbers = f"{', '.join(found[:-1])} or {found[-1]}"
        yield (
            f"{several:,} {what} headings of several levels, which all count as chapters; use "
            f"--heading-level {numbers} for one level, or each to score every level separately"
        )
