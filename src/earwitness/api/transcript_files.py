"""Files that are gathered: their texts, recognised words, and what was said in items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from msgspec import UNSET

from earwitness.errors import Problem
from earwitness.formats.chapters.spoken import spoken_of
from earwitness.text.ctm import read_ctm

CTM = ".ctm"
SUBTITLES = (".srt", ".vtt")
Said = dict[str, dict[str, Any]]  # items with subtitles or words


def files_of(
    places: Iterable[str | PathLike[str]], endings: Iterable[str], passed: list[Path] | None = None
) -> Iterator[Path]:
    """Files as they are; of folders those with these endings, or all if none is named.

    Files of folders that are ``passed`` over are added there; hidden ones are not looked at.
    """
    wanted = set(endings)
    for place in map(Path, places):
        if not place.is_dir():
            yield place
            continue
        for path in sorted(place.iterdir()):
            if not path.is_file() or path.name.startswith("."):
                continue
            if not wanted or path.suffix.lower() in wanted:
                yield path
            elif passed is not None:
                passed.append(path)


def text_of(path: Path, problems: list[Problem]) -> str | None:
    """The text of a file, if it can be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        told = f"not UTF-8 at byte {error.start + 1}"
        problems.append(Problem(str(path), 0, "", told, "save as UTF-8"))
    except OSError as error:
        problems.append(Problem(str(path), 0, "", f"cannot be read: {error.strerror or error}"))
    return None


def recordings(path: Path, problems: list[Problem]) -> dict[str, list[list[Any]]]:
    """Words of a CTM file by recording; the channel is named where there are several."""
    words, flaws = read_ctm(text_of(path, problems) or "")
    for flaw in flaws:
        problems.append(Problem(str(path), flaw.line, "", flaw.message, flaw.remedy))
    spoken: dict[str, list[list[Any]]] = {}
    for one in words:
        sure = [] if one.confidence is None else [one.confidence]
        spoken.setdefault(one.recording, []).append([one.word, one.start, one.end, *sure])
    names = Counter(recording.split()[0] for recording in spoken)
    return {
        recording.split()[0] if names[recording.split()[0]] == 1 else recording: own
        for recording, own in spoken.items()
    }


def said_in(places: Iterable[str | PathLike[str]], problems: list[Problem]) -> Said:
    """What was said in every item: subtitles are called like it, CTM names it."""
    found: Said = {}
    for path in files_of(places, (*SUBTITLES, CTM)):
        own: Said
        if path.suffix.lower() == CTM:
            own = {item: {"words": words} for item, words in recordings(path, problems).items()}
        elif path.suffix.lower() in SUBTITLES:
            own = {path.stem: {"subtitles": _subtitles(path, problems)}}
        else:
            told = "neither subtitles (.srt, .vtt) nor CTM (.ctm)"
            problems.append(Problem(str(path), 0, "", told))
            continue
        for item in own.keys() & found.keys():
            told = f'what was said in "{item}" is in another file too'
            problems.append(Problem(str(path), 0, "", told, "keep one"))
        found |= own
    return found


def _subtitles(path: Path, problems: list[Problem]) -> str | None:
    text = text_of(path, problems)
    if text is not None:
        wrong = spoken_of({"sentences": UNSET, "subtitles": text, "words": UNSET})
        for fault in wrong if isinstance(wrong, list) else ():
            problems.append(Problem(str(path), 0, "", fault.message, fault.remedy))
    return text
