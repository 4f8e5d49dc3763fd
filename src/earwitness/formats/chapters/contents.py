"""What chapters a content has: its boundaries and titles, or those of its transcript."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from earwitness.data import Titles
from earwitness.errors import nearest
from earwitness.formats.chapters.layouts import Content, Found, TitleList
from earwitness.formats.chapters.spoken import Starts, spoken
from earwitness.formats.check import FARTHEST, Fault
from earwitness.text.presets import PRESETS, Options, read
from earwitness.text.sections import Transcript

LISTS = {"srt", "webvtt", "youtube", "podcast", "ffmetadata"}  # titles only: nobody says anything
NO_TIMES = "has no times, and text cannot be aligned with sound yet"
NAN = float("nan")


@dataclass(frozen=True)
class Reading:
    """How transcripts are read unless their line says otherwise."""

    preset: str = ""
    options: Options = field(default_factory=Options)

    @property
    def signature(self) -> str:
        """What was asked for, if anything was."""
        given = {"preset": self.preset}
        if self.preset in ("", "custom", "custom_ts"):  # lines may name a custom preset
            given["pattern"] = self.options.pattern
            given["timestamp_format"] = self.options.timestamp_format
        return "".join(f"|{name}={value}" for name, value in given.items() if value)


class Resolved(NamedTuple):
    """Boundaries, titles, words, and when sentences begin.

    ``loose`` are lines of the transcript in no chapter.
    """

    boundaries: Sequence[float]
    titles: Titles | None = None
    said: str | None = None
    sentences: Starts | None = None
    loose: int = 0

    @property
    def texts(self) -> tuple[Titles | None, str | None, Starts | None]:
        """All that is written."""
        return self.titles, self.said, self.sentences


FAILED = Resolved((), (), "", ())  # an output that could not be read, or was not given


def resolve(content: Content, reading: Reading, path: str) -> Resolved | list[Fault]:
    """The chapters of a content, or all that is wrong with it; ``path`` is where it stands."""
    titles = given_titles(content.titles)
    if content.transcript is UNSET:
        if content.boundaries is UNSET:
            return [Fault(_at(path, "boundaries"), "missing", "or give a transcript with times")]
        return Resolved(content.boundaries, titles)
    if not content.transcript.strip():
        given = () if content.boundaries is UNSET else content.boundaries
        return Resolved(given, titles, "")
    preset = reading.preset if content.preset is UNSET else content.preset
    if preset not in PRESETS:
        told = f'there is no preset "{preset}"' if preset else "how are chapters marked in it?"
        remedy = nearest(preset, PRESETS) if preset else f"name a preset: {', '.join(PRESETS)}"
        return [Fault(_at(path, "transcript"), told, remedy)]
    found = read(content.transcript, preset, reading.options)
    said = None if preset in LISTS else found.text
    return _from_transcript(content, found, said, path)


def resolve_output(content: Found, reading: Reading, path: str) -> Resolved | list[Fault]:
    """The chapters of an output, and when the sentences begin that its system heard."""
    return with_sentences(resolve(content, reading, path), spoken(content, f"{path}."))


def with_sentences(
    chapters: Resolved | list[Fault], starts: Starts | list[Fault] | None
) -> Resolved | list[Fault]:
    """Both together, or all that is wrong with either."""
    wrong = [part for part in (chapters, starts) if isinstance(part, list)]
    if isinstance(chapters, list) or isinstance(starts, list):
        return [fault for part in wrong for fault in part]
    return chapters._replace(sentences=starts)


def _from_transcript(
    content: Content, found: Transcript, said: str | None, path: str
) -> Resolved | list[Fault]:
    field = _at(path, "transcript")
    far = [s for s in found.sections if s.time is not None and not abs(s.time) <= FARTHEST]
    if found.flaws or far:
        faults = [Fault(field, f"line {f.line}: {f.message}", f.remedy) for f in found.flaws]
        return faults + [Fault(field, f"line {s.line}: {s.time:g} s is no time") for s in far]
    titles = given_titles(content.titles)
    if titles is None and any(section.title is not None for section in found.sections):
        titles = tuple((s.title or "", NAN if s.time is None else s.time) for s in found.sections)
    if content.boundaries is not UNSET:
        return Resolved(content.boundaries, titles, said, loose=found.loose)
    if found.sections and not found.timed:
        return [Fault(field, NO_TIMES, "use a preset with times, or give boundaries")]
    return Resolved(found.times, titles, said, loose=found.loose)


def given_text(text: str | UnsetType) -> str | None:
    """A text of a line, if it has any."""
    return None if text is UNSET else text


def given_titles(titles: TitleList | UnsetType) -> Titles | None:
    """Titles of a line, if it has any."""
    return None if titles is UNSET else tuple(titles)


def _at(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
