"""The function gather: records from chapter files, subtitles and transcripts of other tools."""

from __future__ import annotations

import warnings
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite, isnan
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from msgspec import UNSET

from earwitness.chapters.presets import PRESETS, PresetOptions, read
from earwitness.chapters.reader import spoken_of
from earwitness.core import StrPath, count_text
from earwitness.errors import (
    EarwitnessWarning,
    InputError,
    Problem,
    UsageError,
    file_problem,
    nearest,
    refuse_problems,
)
from earwitness.io.formats import find_format, has_ending, list_endings, list_titles, sure_endings
from earwitness.io.schema import MAX_DURATION_SECONDS, is_name
from earwitness.io.tables import TABLE_ERRORS, open_csv
from earwitness.text.timed_transcripts import (
    TRANSCRIPTS,
    TimedTranscript,
    parse_timed_transcripts,
    write_transcript,
)
from earwitness.text.transcripts import Transcript, normalise_lines

# --- Subtitles and transcripts -------------------------------------------------------------------


CUE_FORMATS = {name: form for name, form in TRANSCRIPTS.items() if form.is_cues}
WORD_FORMATS = {name: form for name, form in TRANSCRIPTS.items() if not form.is_cues}
SUBTITLE_SUFFIXES = list_endings(CUE_FORMATS)
KALDI_FILE = TRANSCRIPTS["kaldi"].endings[0]
TRANSCRIPT_SUFFIXES = tuple(ending for ending in list_endings(WORD_FORMATS) if ending != KALDI_FILE)
AUDIO_SUFFIXES = (".wav", ".mp3", ".flac", ".ogg", ".opus", ".m4a", ".mp4", ".webm", ".mkv")
Record = dict[str, Any]  # a line of a file of outputs or references, or some of its fields
SpeechByItem = dict[str, Record]  # subtitles or words by item


def files_of(
    places: Iterable[StrPath], endings: Iterable[str], passed: list[Path] | None = None
) -> Iterator[Path]:
    """Yield files as given, and files of folders with these extensions or names (by default all).

    Other files of folders are added to ``passed``; hidden files are ignored.
    """
    wanted = tuple(endings)
    for place in map(Path, places):
        if not place.is_dir():
            yield place
            continue
        for path in sorted(place.iterdir()):
            if not path.is_file() or path.name.startswith("."):
                continue
            if not wanted or has_ending(path.name, wanted):
                yield path
            elif passed is not None:
                passed.append(path)


def text_of(path: Path, problems: list[Problem], marks: Counter[str] | None = None) -> str | None:
    """Return the text of a file, or None and a problem if it cannot be read.

    Files are UTF-8, or UTF-16 with a byte-order mark, as Praat writes them. Other byte-order marks
    and CRLF are counted in ``marks``.
    """
    try:
        data = path.read_bytes()
        is_utf16 = data.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        text = data.decode("utf-16" if is_utf16 else "utf-8-sig")
        if marks is not None:
            marks["CRLF line endings"] += "\r\n" in text
            marks["byte-order marks"] += data.startswith(BOM_UTF8)
        return text
    except UnicodeDecodeError as error:
        message = f"not UTF-8 at byte {error.start + 1}"
        problems.append(file_problem(path, message, "save as UTF-8"))
    except OSError as error:
        problems.append(file_problem(path, f"cannot be read: {error.strerror or error}"))
    return None


def transcripts_in(path: Path, problems: list[Problem]) -> list[TimedTranscript]:
    """Return the transcripts of a file, one per recording; add its flaws to the problems."""
    text, beside = text_of(path, problems), _find_beside(path)
    if text is None:
        return []
    form = find_format(TRANSCRIPTS, path.name, text)
    segments = text_of(beside, problems) if beside and beside.is_file() else ""
    found, flaws = parse_timed_transcripts(text, form, _item_name(path), segments or "")
    problems += [flaw.problem(path) for flaw in flaws]
    return found


def _find_beside(path: Path) -> Path | None:
    """Return the second file of a transcript, if files with such a name have one."""
    form = TRANSCRIPTS.get(find_format(TRANSCRIPTS, path.name))
    return path.with_name(form.beside) if form and form.beside else None


def _item_name(path: Path) -> str:
    """Return the name of a file without its extension, and that of the audio in front of it.

    >>> _item_name(Path("talk.wav.json")), _item_name(Path("talk.1.json"))
    ('talk', 'talk.1')
    """
    stem = Path(path.stem)
    return stem.stem if stem.suffix.lower() in AUDIO_SUFFIXES else path.stem


def _word_rows(transcript: TimedTranscript) -> list[list[Any]] | None:
    """Return words as records have them, or None if any segment has no word times."""
    if not all(segment.words for segment in transcript.segments):
        return None
    return [
        [word.word, word.start, word.end, *([] if word.confidence is None else [word.confidence])]
        for word in transcript.words
    ]


def said_in(places: Iterable[StrPath], problems: list[Problem]) -> SpeechByItem:
    """Return the subtitles or words of every item; most files have the name of the item."""
    speech: SpeechByItem = {}
    listed, known = [Path(place) for place in places], list_endings(TRANSCRIPTS)
    for path in files_of(listed, known):
        file_speech: SpeechByItem = {}
        form = find_format(TRANSCRIPTS, path.name)
        if form and TRANSCRIPTS[form].is_cues:
            file_speech = {_item_name(path): {"subtitles": _subtitles(path, problems)}}
        elif has_ending(path.name, known):
            if path in listed or _has_transcript(path):
                found = transcripts_in(path, problems)
                file_speech = {
                    transcript.recording: _speech(transcript, path, problems)
                    for transcript in found
                }
        else:
            remedy = f"known: {', '.join(known)}"
            problems.append(file_problem(path, "unknown transcript format", remedy))
            continue
        for item in file_speech.keys() & speech.keys():
            message = f'another file also has the speech of "{item}"'
            problems.append(file_problem(path, message, "keep one"))
        speech |= file_speech
    return speech


def _speech(transcript: TimedTranscript, path: Path, problems: list[Problem]) -> Record:
    """Return the words of a transcript, or its segments as subtitles if words have no times."""
    rows = _word_rows(transcript)
    if rows is not None:
        return {"words": rows}
    if any(isnan(segment.start) for segment in transcript.segments):
        message = f'"{transcript.recording}" has no times'
        beside = _find_beside(path)
        remedy = (
            f"put the file {beside.name} next to it" if beside else "add durations to all lines"
        )
        problems.append(file_problem(path, message, remedy))
        return {}
    return {"subtitles": write_transcript(transcript, "webvtt")}


def _has_transcript(path: Path) -> bool:
    """Whether a file has a transcript with words, and no chapters."""
    if len(_chapter_ending(path)) > len(path.suffix):
        return False
    text = text_of(path, []) or ""
    form = TRANSCRIPTS.get(find_format(TRANSCRIPTS, path.name, text))
    return form is not None and not form.is_cues and not form.has_chapters(text)


def _chapter_ending(path: Path) -> str:
    """Return the longest ending of chapter formats that a file has; empty if it has none."""
    endings = [ending for ending in sure_endings(PRESETS) if has_ending(path.name, [ending])]
    return max(endings, key=len, default="")


def _subtitles(path: Path, problems: list[Problem]) -> str | None:
    text = text_of(path, problems)
    if text is not None:
        wrong = spoken_of({"sentences": UNSET, "subtitles": text, "words": UNSET})
        for fault in wrong if isinstance(wrong, list) else ():
            problems.append(file_problem(path, fault.message, fault.remedy))
    return text


# --- Function gather -----------------------------------------------------------------------------


# folders that hold references as a rule, and no outputs of a system
REFERENCE_FOLDERS = {"reference", "references", "ref", "refs", "gold", "truth", "ground_truth"}
MAX_NAMES_SEARCHED = 1000  # number of names up to which the nearest one is suggested
Paths = Sequence[StrPath] | StrPath


class GatheredFile(NamedTuple):
    """The chapters of an item from a file, and its duration if the file contains it."""

    path: Path
    item: str
    content: Record | None
    duration: float | None = None

    @property
    def folder(self) -> str:
        """Name of the folder of the file: by default the system, or the annotator."""
        return self.path.resolve().parent.name


def gather(
    files: Paths,
    *,
    durations: StrPath | Mapping[str, float] | None = None,
    references: bool = False,
    system: Annotated[str | None, "NAME"] = None,
    preset: Annotated[str, "NAME"] = "",
    custom_pattern: Annotated[str, "REGEX"] = "",
    timestamp_format: Annotated[str, "FORMAT"] = "",
    tier: Annotated[str, "NAME"] = "",
    transcripts: Paths | None = None,
) -> list[dict[str, Any]]:
    """Convert subtitles, chapter files and transcripts to records of outputs or references.

    The name of an item is the file name without its extension. An RTTM file with several recordings
    gives one item per recording. Files of recognizers have recognized words, and give one output of
    a summary per recording; a TextGrid does so if it has a tier of words and none of chapters.

    Parameters
    ----------
    files
        Files or folders. Files of a folder with an unknown extension are skipped with a warning,
        unless ``preset`` is set.
    durations
        Duration of every item in seconds, as a mapping or as a CSV file with the columns ``item``
        and ``duration``. If given, records of references are returned, and the folder of a file is
        the name of its annotator.
    references
        Whether the files are references, without ``durations``: each file must contain the
        duration, as those of yt-dlp, Praat and JAMS do.
    system
        System name. By default the folder of each file.
    preset
        Chapter format of files that are listed individually or have an unknown extension. Other
        formats follow from the extension and the content.
    custom_pattern
        Regular expression for the formats custom and custom_ts.
    timestamp_format
        Time format for custom_ts, such as HH:MM:SS or MMSS, or a regular expression with groups h,
        m, s.
    tier
        Tier of a TextGrid, or annotation of a JAMS file, by name or number. By default the only
        one; in a TextGrid, else the one named chapters.
    transcripts
        Subtitles (.srt, .vtt) or files of recognizers, with the spoken words of items (references)
        or the words recognized by a system (outputs); used to score sentences. Files that do not
        contain the name of a recording must have the name of the item.

    Returns
    -------
    list of dict
        Records for ``score``, one per output, or one per item for references.

    Raises
    ------
    InputError
        If files cannot be read or have invalid content.
    UsageError
        If an argument is invalid, or no files are found.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "talk.txt")
    ...     _ = path.write_text("0:00 Start\\n1:00 Middle\\n", encoding="utf-8")
    ...     records = gather(path, system="mine", preset="youtube")
    >>> records[0]["item"], records[0]["system"]
    ('talk', 'mine')
    """
    references = references or durations is not None
    if references and system is not None:
        raise UsageError(
            "system is for outputs and durations are for references — set only one of them"
        )
    if preset and preset not in PRESETS:
        raise UsageError(f'unknown preset "{preset}" — {nearest(preset, PRESETS)}')
    paths = _found_files(files, preset, durations)
    recognised = [path for path in paths if not preset and not tier and _has_transcript(path)]
    paths = [path for path in paths if path not in recognised]
    _check_words_use(recognised, paths, transcripts, references=references)
    problems = list[Problem]()
    options = PresetOptions(custom_pattern, timestamp_format, tier)
    options.check()
    named = {Path(place) for place in _listed(files)}
    marks = Counter[str]()
    gathered = list[GatheredFile]()
    for path in paths:
        own = preset if path in named else ""
        gathered += _gathered(path, own, preset, options, problems, marks)
    if references:
        seconds = {} if durations is None else _seconds(durations, problems)
        records = _references(gathered, seconds, problems)
    else:
        _refuse_reference_folders(gathered, system)
        records = _outputs(gathered, system, problems)
    records += [word for path in recognised for word in _words(path, system, problems)]
    if transcripts is not None:
        _add_said(records, said_in(_listed(transcripts), problems), problems)
    _check_words(records if recognised else [], problems)
    refuse_problems(problems, "gathered")
    if +marks:
        parts = [f"{what} ({count:,})" for what, count in (+marks).items()]
        message = f"{' and '.join(parts)} are ignored"
        warnings.warn(f"{message[:1].upper()}{message[1:]}", EarwitnessWarning, stacklevel=2)
    return records


gather.__doc__ = (
    (gather.__doc__ or "")
    .replace("the extension and", f"the extension ({', '.join(list_endings(PRESETS))}) and")
    .replace("of recognizers", f"of recognizers ({list_titles(WORD_FORMATS)})", 1)
)


def _found_files(
    files: Paths, preset: str, durations: StrPath | Mapping[str, float] | None
) -> list[Path]:
    """Return the files to gather, without the table of durations."""
    passed = list[Path]()
    known = list_endings(PRESETS, TRANSCRIPTS)
    paths = list(files_of(_listed(files), () if preset else known, passed))
    named = {Path(place) for place in _listed(files)}
    if isinstance(durations, str | PathLike):
        paths = [path for path in paths if path in named or path != Path(durations)]
    if not preset:
        passed += [path for path in paths if path not in named and not _is_known(path)]
    beside = set(map(_find_beside, paths))
    passed = [path for path in passed if path not in beside]
    if passed:
        skipped = f"{count_text(len(passed), 'file')} skipped, such as {passed[0]}"
        message = f"{skipped} — set a preset to include them"
        warnings.warn(message, EarwitnessWarning, stacklevel=3)
    paths = [path for path in paths if path not in passed]
    if not paths:
        listed = ", ".join(known)
        raise UsageError(f"no files found — for extensions other than {listed}, set a preset")
    return paths


def _is_known(path: Path) -> bool:
    """Whether a file has a transcript with words, or chapters in a known format."""
    text = text_of(path, []) or ""
    return any(find_format(table, path.name, text) for table in (PRESETS, TRANSCRIPTS))


def _check_words_use(
    recognised: list[Path], paths: list[Path], transcripts: Paths | None, *, references: bool
) -> None:
    """Raise UsageError if recognized words are mixed with chapters, or are references."""
    if not recognised:
        return
    if paths:
        raise UsageError(
            f"{recognised[0]}: summaries and chapters are scored separately — gather one kind"
        )
    if transcripts is not None:
        raise UsageError(f"{recognised[0]}: transcripts can be added to chapters, not to summaries")
    if references:
        raise UsageError(f"{recognised[0]}: recognized words are outputs, not references")


def _refuse_reference_folders(gathered: list[GatheredFile], system: str | None) -> None:
    """Raise UsageError if a folder of references would become a system."""
    for file in gathered if system is None else ():
        if file.folder.casefold().replace(" ", "_").replace("-", "_") in REFERENCE_FOLDERS:
            message = f'"{file.folder}" would be the name of a system, but seems to hold references'
            remedy = "for references, set --durations (or --references if the files contain them)"
            raise UsageError(f"{file.path}: {message} — {remedy}; for outputs, set --system")


def _listed(files: Paths) -> Sequence[StrPath]:
    return [files] if isinstance(files, str | PathLike) else files


def _words(path: Path, system: str | None, problems: list[Problem]) -> list[Record]:
    """Return the outputs of a file with recognized words, one per recording."""
    named = system or path.resolve().parent.name
    records = []
    for transcript in transcripts_in(path, problems):
        rows: list[Any] | None = _word_rows(transcript)
        if rows is None:
            rows = [word for segment in transcript.segments for word in segment.text.split()]
        records.append({"item": transcript.recording, "system": named, "output": {"words": rows}})
    return records


def _add_said(records: list[Record], said: SpeechByItem, problems: list[Problem]) -> None:
    """Add subtitles or words to outputs, or to the items of references."""
    for record in records:
        item = record["item"]
        if item not in said:
            remedy = nearest(item, said) if len(said) < MAX_NAMES_SEARCHED else ""
            problems.append(file_problem("transcripts", f'no transcript for "{item}"', remedy))
        elif record.get("output", record) is not None:
            record.get("output", record).update(said[item])


def _check_words(records: list[Record], problems: list[Problem]) -> None:
    """Add a problem for each invalid or repeated name."""
    seen = set[tuple[str, str]]()
    for record in records:
        key = record["item"], record["system"]
        if key in seen or not all(map(is_name, key)):
            message = "is listed twice" if key in seen else "is not a valid name"
            problems.append(Problem(key[1], 0, "", f'"{key[0]}" {message}'))
        seen.add(key)


def _gathered(
    path: Path,
    named: str,
    other: str,
    options: PresetOptions,
    problems: list[Problem],
    marks: Counter[str],
) -> list[GatheredFile]:
    """Return the items of a file, with its own preset, that of its extension, or ``other``."""
    length = max(len(_chapter_ending(path)), len(path.suffix))
    item = path.name[: len(path.name) - length]
    text = text_of(path, problems, marks)
    if text is None:
        return [GatheredFile(path, item, None)]
    preset = named or find_format(PRESETS, path.name, text) or other
    if not preset:
        remedy = f"set a preset: {', '.join(PRESETS)}"
        problems.append(file_problem(path, "unknown chapter format", remedy))
        return [GatheredFile(path, item, None)]
    if find_recordings := PRESETS[preset].recordings:
        recordings, flaws = find_recordings(normalise_lines(text))
        if len(recordings) > 1:
            problems += [flaw.problem(path) for flaw in flaws]
            return [
                GatheredFile(path, name, _chapters(recording))
                for name, recording in recordings.items()
            ]
    transcript = read(text, preset, options)
    problems += [flaw.problem(path) for flaw in transcript.flaws]
    content: Record = {"transcript": text, "preset": preset}
    if PRESETS[preset].kind == "annotation":
        content = _chapters(transcript)
    duration = transcript.duration
    is_valid = duration is not None and 0 <= duration <= MAX_DURATION_SECONDS
    return [GatheredFile(path, item, content, duration if is_valid else None)]


def _chapters(transcript: Transcript) -> Record:
    """Return the content of a record: boundaries, and titles if there are any."""
    titles = [[title, time] for title, time in transcript.titles]
    return {"boundaries": transcript.times, **({"titles": titles} if titles else {})}


def _outputs(
    gathered: list[GatheredFile], system: str | None, problems: list[Problem]
) -> list[Record]:
    first_paths = dict[tuple[str, str], Path]()
    for file in gathered:
        key = file.item, system or file.folder
        if key in first_paths:
            message = f'"{key[0]}" of system "{key[1]}" is also {first_paths[key]}'
            problems.append(file_problem(file.path, message, "keep one"))
        elif not all(map(is_name, key)):
            message = "cannot derive the names of item and system from the file name"
            problems.append(file_problem(file.path, message))
        first_paths.setdefault(key, file.path)
    return [
        {"item": file.item, "system": system or file.folder, "output": file.content}
        for file in gathered
    ]


def _references(
    gathered: list[GatheredFile], seconds: dict[str, float], problems: list[Problem]
) -> list[Record]:
    by_item = dict[str, Record]()
    for file in gathered:
        item, annotator, duration = file.item, file.folder, seconds.get(file.item, file.duration)
        if duration is None:
            remedy = "add it to the durations (--durations FILE)"
            if 0 < len(seconds) < MAX_NAMES_SEARCHED:
                remedy = f"add it — {nearest(item, seconds)}"
            problems.append(file_problem(file.path, f'no duration for "{item}"', remedy))
            continue
        record = {"item": item, "duration": duration, "references": []}
        annotations = by_item.setdefault(item, record)["references"]
        if annotator in [other["annotator"] for other in annotations]:
            message = f'duplicate reference of "{annotator}" for "{item}"'
            problems.append(file_problem(file.path, message, "keep one"))
        annotations.append({"annotator": annotator, **(file.content or {})})
    return list(by_item.values())


def _seconds(durations: StrPath | Mapping[str, float], problems: list[Problem]) -> dict[str, float]:
    """Return the duration of every item in seconds."""
    if isinstance(durations, Mapping):
        return dict(durations)
    source = str(durations)
    try:
        with open_csv(Path(durations)) as (columns, table):
            rows = list(table)
    except TABLE_ERRORS as error:
        raise UsageError(f"{source}: cannot be read: {error}") from error
    if not rows or not {"item", "duration"} <= set(columns):
        message = 'the columns "item" and "duration" are required'
        raise InputError([Problem(source, 1, "", message)], done="gathered")
    seconds = dict[str, float]()
    for line, row in rows:
        if not row["item"]:
            problems.append(Problem(source, line, "item", "is empty"))
            continue
        try:
            number = float(row["duration"])
        except (TypeError, ValueError):
            number = -1
        if not isfinite(number) or not 0 <= number <= MAX_DURATION_SECONDS:
            message = f'must be a number of seconds, got "{row["duration"]}"'
            problems.append(Problem(source, line, "duration", message))
        seconds[row["item"]] = number
    return seconds
