"""TextFormat: an entry of a table of file formats, and how the format of a file is found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any


def never(_text: str) -> bool:
    """Return false: the format does not follow from a text alone."""
    return False


@dataclass(frozen=True)
class TextFormat:
    """A format of files of other tools; a table has an entry for each, by name.

    Adding a format is a function and an entry: commands find the parser by name and content of a
    file, and help, errors and docs list the entries.

    Parameters
    ----------
    content
        What is read, in Markdown.
    parse
        Function that reads a text; tables differ in its other arguments and in its result.
    endings
        Endings of files that have this format, in lower case with a dot; or names of such files.
    shared
        Endings of files that may have other formats, too, so that ``detect`` decides.
    detect
        Whether a text, without white space in front of it, has this format.
    title
        Name of the format in sentences.
    """

    content: str
    parse: Callable[..., Any]
    endings: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    detect: Callable[[str], object] = never
    title: str = ""


Formats = Mapping[str, TextFormat]


def has_ending(name: str, endings: Iterable[str]) -> bool:
    """Whether a file has one of these endings, in any case, or one of these names.

    >>> has_ending("talk.SRT", (".srt",)), has_ending("text", ("text",)), has_ending("a.text", "")
    (True, True, False)
    """
    lower = name.lower()
    return any(
        name == ending or (ending[0] == "." and lower.endswith(ending)) for ending in endings
    )


def find_format(formats: Formats, name: str, text: str = "") -> str:
    """Return the format of a file by its name and content, or an empty text if it is unknown.

    Of several formats that fit, the last one of the table is returned.

    >>> table = {"list": TextFormat("titles", str.split, (".txt",))}
    >>> find_format(table, "talk.txt"), find_format(table, "talk.csv")
    ('list', '')
    """
    start = text.lstrip()
    fitting = (
        key
        for key, form in reversed([*formats.items()])
        if has_ending(name, form.endings) or (has_ending(name, form.shared) and form.detect(start))
    )
    return next(fitting, "")


def detect_format(formats: Formats, text: str) -> str:
    """Return the format of a text by its content alone, or an empty text if it is unknown."""
    start = text.lstrip()
    return next((key for key, form in reversed([*formats.items()]) if form.detect(start)), "")


def list_endings(*tables: Formats) -> tuple[str, ...]:
    """Return the endings of all formats, each once, in the order of the tables."""
    forms = [form for table in tables for form in table.values()]
    return tuple(
        dict.fromkeys(ending for form in forms for ending in (*form.endings, *form.shared))
    )


def sure_endings(*tables: Formats) -> set[str]:
    """Return the endings and names by which the format of a file is known."""
    return {ending for table in tables for form in table.values() for ending in form.endings}


def list_titles(formats: Formats) -> str:
    """Return the names of all formats as a part of a sentence.

    >>> names = ("CTM", "SRT", "JSON")
    >>> list_titles({name: TextFormat("", str.split, title=name) for name in names})
    'CTM, SRT or JSON'
    """
    *others, last = [form.title for form in formats.values()]
    return f"{', '.join(others)} or {last}"
