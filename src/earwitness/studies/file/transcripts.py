"""Transcripts and summaries that a study file refers to, and their problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from pathlib import Path
from typing import Any

import msgspec

from earwitness.core import Item
from earwitness.errors import Problem, UsageError, file_problem, nearest
from earwitness.io.schema import Fault, derive_check, show
from earwitness.io.source import is_present
from earwitness.io.tables import read_row_table
from earwitness.studies.file.material import (
    EXAMPLE_SECONDS,
    ITEM_PLACEHOLDER,
    MAX_CAPTION_CHARACTERS,
    Captions,
    Sounds,
    warn_missing,
)
from earwitness.studies.study import Clip, SpokenText
from earwitness.summaries.reader import SummaryOptions, item_of, of_system
from earwitness.summaries.records import CONTENT_WORDING, SummaryContent, SummaryItemLine
from earwitness.text.timed_transcripts import guess_transcript_form

# --- Transcripts ---------------------------------------------------------------------------------


MAX_TRANSCRIPT_WORDS = 5_000
WORDS_READ_PER_SECOND = 3.0  # estimate for the time of a listener
TIME_TOLERANCE_SECONDS = 0.1  # by which words may end behind the audio
EXAMPLE_WORDS = ("example", "words") * int(EXAMPLE_SECONDS * WORDS_READ_PER_SECOND / 2)
TIMES_REMEDY = "give times of words, or write highlight: false"
check_item_line = derive_check(SummaryItemLine, hints=False)


@dataclass
class Transcripts:
    """Transcripts by item, the file and line of each, and their problems."""

    texts: dict[str, SpokenText] = field(default_factory=dict)
    places: dict[str, tuple[str, int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    source: str = ""
    pattern: str = ""  # path of the files, if each item has its own

    def names(self) -> list[str]:
        """Return all items that have a transcript."""
        return list(self.texts)

    def seconds(self, clip: Clip) -> float:
        """Return the time to read the transcript of a clip; NaN if it is missing."""
        text = self.texts.get(clip.name)
        return float("nan") if text is None else len(text.words) / WORDS_READ_PER_SECOND

    def clips(self, sounds: Sounds | None) -> list[Clip]:
        """Return a clip per item, with the duration of its recording, or the time to read it."""
        found = list[Clip]()
        for clip in (Clip(name, 0) for name in self.texts):
            seconds = _sound_seconds(clip, sounds)
            found.append(replace(clip, seconds=self.seconds(clip) if isnan(seconds) else seconds))
        return found

    def of(self, clips: Sequence[Clip]) -> list[Clip]:
        """Return clips with their transcripts."""
        return [replace(clip, transcript=self.texts.get(clip.name, SpokenText())) for clip in clips]

    def find_missing(self, clips: Sequence[Clip]) -> Iterator[Problem]:
        """Yield a problem for each clip without a transcript."""
        known = {problem.item for problem in self.problems}
        for clip in clips:
            if clip.name in self.texts or clip.name in known:
                continue
            if self.pattern:
                path = self.pattern.replace(ITEM_PLACEHOLDER, clip.name)
                yield file_problem(path, "the file of the transcript is missing", item=clip.name)
            else:
                message = f'no transcript of "{clip.name}"'
                yield file_problem(self.source, message, nearest(clip.name, self.texts))

    def find_time_faults(
        self, clips: Sequence[Clip], sounds: Sounds | None, *, highlight: bool
    ) -> Iterator[Problem]:
        """Yield problems of word times: missing, or beyond the end of the audio file."""
        for clip in clips:
            text = self.texts.get(clip.name)
            if text is None:
                continue
            place = self.places.get(clip.name, (self.source, 0))
            if highlight and not text.times:
                message = "words have no times, so they cannot be highlighted while they are heard"
                yield Problem(*place, "", message, TIMES_REMEDY, item=clip.name)
            ends = [end for _, end in text.times]
            seconds = _sound_seconds(clip, sounds)
            if ends and max(ends) > seconds + TIME_TOLERANCE_SECONDS:
                number = ends.index(max(ends))
                message = f'word {number + 1}, "{text.words[number]}", ends at {max(ends):.2f} s, '
                message += f"but its audio file ends at {seconds:.2f} s"
                remedy = "use the transcript of this recording, with times in seconds"
                yield Problem(*place, "", message, remedy, item=clip.name)


def _sound_seconds(clip: Clip, sounds: Sounds | None) -> float:
    """Return the duration of the recording of a clip; NaN if there is none or it is unreadable."""
    try:
        return float("nan") if sounds is None else sounds.seconds(clip)
    except UsageError:  # reported when files are checked
        return float("nan")


def read_transcripts(folder: Path, value: str) -> Transcripts:
    """Read the transcripts of a study.

    Parameters
    ----------
    folder
        Folder of the study file.
    value
        Table of transcripts (JSON Lines, as references of summaries; or CSV: item, transcript), or
        a path pattern with ``{item}`` of one file per item, in any format of transcripts.
    """
    if ITEM_PLACEHOLDER in value:
        return _read_transcript_files(folder, value)
    path = folder / value
    table = read_row_table(path)
    found = Transcripts(problems=table.problems, source=str(path))
    for line, row in table.rows:
        line_fields = {key: cell for key, cell in row.items() if key != "references"}
        _add_transcript(found, str(row.get("item", "")), (str(path), line), line_fields)
    if not found.texts and not found.problems:
        found.problems.append(Problem(str(path), 1, "", "contains no transcripts"))
    return found


def _read_transcript_files(folder: Path, pattern: str) -> Transcripts:
    found = Transcripts(source=str(folder / pattern), pattern=(folder / pattern).as_posix())
    files = Sounds(folder, pattern, ("",))
    for name in files.names():
        path = files.path(Clip(name, 0), "")
        if not is_present(path):
            continue  # reported as missing
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = (error.strerror if isinstance(error, OSError) else "") or "is not UTF-8 text"
            message = f"cannot be read: {reason}"
            found.problems.append(file_problem(path, message, item=name))
            continue
        key = "ctm" if guess_transcript_form(text) else "transcript"
        _add_transcript(found, name, (str(path), 0), {"item": name, key: text})
    if not found.texts and not found.problems:
        found.problems.append(file_problem(found.source, "no matching transcript found"))
    return found


def _add_transcript(
    found: Transcripts, name: str, place: tuple[str, int], fields: Mapping[str, Any]
) -> None:
    """Add the transcript of a line or file, or its problems."""
    faults = list(check_item_line(fields, ""))
    if not faults:
        item = item_of(msgspec.convert(fields, SummaryItemLine), SummaryOptions())
        faults = item if isinstance(item, list) else []
        if name in found.texts and not faults:
            faults.append(Fault("item", f'duplicate transcript of "{name}"', "keep one"))
        if isinstance(item, Item) and len(item.words) > MAX_TRANSCRIPT_WORDS:
            most = f"at most {MAX_TRANSCRIPT_WORDS:,} are shown"
            message = f"has {len(item.words):,} words, and {most}"
            faults.append(Fault("", message, "split the transcript into several items"))
        if not faults and isinstance(item, Item):
            found.texts[name] = SpokenText(item.words, item.times or ())
            found.places[name] = place
    found.problems += [Problem(*place, *fault, item=name) for fault in faults]


def draft_transcripts(table: str, clips: Sequence[Clip]) -> Transcripts:
    """Return an example transcript for every clip; a warning names the missing table."""
    warn_missing(table, f"the plan assumes transcripts of {len(EXAMPLE_WORDS)} words")
    return Transcripts({clip.name: SpokenText(EXAMPLE_WORDS) for clip in clips})


# --- Summaries -----------------------------------------------------------------------------------


check_summary_content = derive_check(SummaryContent, hints=False)


def read_summaries(
    path: Path, transcripts: Transcripts, items: Sequence[str], systems: Sequence[str]
) -> Captions:
    """Read one summary per system and item, from outputs (JSON Lines) or a table.

    A line of outputs has the summary as positions, text or words under ``output``; a table has the
    columns item, system and summary. Summaries of other items and systems are ignored.
    """
    table = read_row_table(path)
    summaries = Captions(problems=list(table.problems))
    for line, row in table.rows:
        key = str(row.get("item", "")), str(row.get("system", ""))
        if key[0] not in items or key[1] not in systems:
            continue
        text = _summary_text(row, transcripts.texts.get(key[0], SpokenText()))
        faults = text if isinstance(text, list) else []
        if key in summaries.texts:
            message = f'duplicate summary of "{key[0]}" by "{key[1]}"'
            faults = [*faults, Fault("", message, "keep one")]
        summaries.problems += [Problem(str(path), line, *fault, item=key[0]) for fault in faults]
        summaries.texts.setdefault(key, text if isinstance(text, str) else "")
    if not table.problems:
        names = {str(row.get("system", "")) for _, row in table.rows}
        summaries.problems += _missing_summaries(str(path), items, systems, summaries, names)
    return summaries


def _summary_text(row: Mapping[str, Any], transcript: SpokenText) -> str | list[Fault]:
    """Return the summary of a row as text, or all faults."""
    output = row.get("output")
    if output is None:
        text: Any = row.get("summary")
        field = "summary"
    else:
        field = "output"
        if faults := list(check_summary_content(output, "output")):
            return faults
        content = msgspec.convert(output, SummaryContent)
        item = Item(float("nan"), words=transcript.words, times=transcript.times or None)
        parsed = of_system(content, item, SummaryOptions(outputs=False), "output")
        if isinstance(parsed, list):
            return parsed
        text = parsed.summary.text
    if not isinstance(text, str):
        remedy = str((CONTENT_WORDING.extra or {})["remedy"]) + ' under "output"'
        return [Fault(field, "missing" if text is None else f"must be text, got {show(text)}",
                      remedy if text is None else "")]  # fmt: skip
    if not text.strip():
        return [Fault(field, "the summary is empty, so it cannot be rated", "remove the item")]
    if len(text) > MAX_CAPTION_CHARACTERS:
        return [Fault(field, f"must have at most {MAX_CAPTION_CHARACTERS:,} characters")]
    return " ".join(text.split())


def _missing_summaries(
    source: str,
    items: Sequence[str],
    systems: Sequence[str],
    summaries: Captions,
    names: set[str],
) -> Iterator[Problem]:
    for system in systems:
        missing = [item for item in items if (item, system) not in summaries.texts]
        if missing and len(missing) == len(items):
            others = sorted(names - {*systems})
            message = f'no summaries by system "{system}"'
            yield file_problem(source, message, nearest(system, others) if others else "")
            continue
        for item in missing:
            message = f'summary of "{item}" by "{system}" is missing'
            yield file_problem(source, message, item=item)
