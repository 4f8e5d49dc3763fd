"""Texts that people read use the terms of the field and one spelling."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import earwitness

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "earwitness"
PAGES = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]

# What once stood in help, messages, wordings or documents, and had to be read twice.
RETIRED = """
told apart
cannot be told
be told from
told at once
is told twice
made anew
drawn anew
dealt anew
in the midst of
whoever runs this
whoever has
that stands for a day
what is your own
goes under meta
is there already
lead nowhere
leads nowhere
go on where
goes on where
who is where
held against
the other way round
so many seconds
so many listeners
so many references
so many answer
is taken as good
this machine alone
say how well
say which metric
was not there, and is
all that was acknowledged
no rule of screening
do not go with the others
accuses too much
reads no sound
beside the sound
beside each other
given as sound
has shown nothing
what follows from the answers
does what the study
a column a scale
a row a rating
a line a sample
minutes of a listener
proof of balance
known by its digest
forwarded headers hold
below which p
what a table does not say
by which a category is off
not shown to be enough
however good it is
looking at several values
another form of this study
form of the study
form of the result
which form is
hear it to its end
that was all. thank you
at the very question
the very question
what was said in
what is said of
where there is none
that is none
there is no such
what is odd
is known of
nothing is known
the store has
who is better
what becomes of
what came of
on the same footing
as people went
where they are not there
is said about
is to be said
what must lie within
one may write
so many of
cannot be told apart
""".strip().splitlines()

CODE = re.compile(r"""`[^`\n]+`|"\w+"[:,]|\b\w+\(|\b\w+: \w+\}|--\w+|^\s*\w+\n\s{4,}""", re.M)

# Oxford spelling: British, with -ize; see decision 24.
OTHER_SPELLINGS = re.compile(
    r"\b(?:analyz\w+|behavior\w*|labeled|labeling|modeled|modeling|centered|neighbor\w*|favor\w*"
    r"|(?:normal|summar|recogn|general|random|synthes|organ|minim|maxim|optim|standard|visual"
    r"|discret|token|categor|penal|initial|synchron|emphas|roman|local|final|priorit|stabil)"
    r"is(?:e|es|ed|er|ers|ing|ation|ations))\b",
    re.IGNORECASE,
)


@cache
def texts() -> dict[Path, list[str]]:
    """All texts of the program and its documents, by file, with single blanks."""
    found: dict[Path, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        found[path] = [text for text in strings(path) if " " in text]  # others are names
    for ending in ("json", "html", "js", "yaml"):
        for path in sorted(SOURCE.rglob(f"*.{ending}")):
            found[path] = [path.read_text(encoding="utf-8")]
    documents = (ROOT / "docs").rglob("*.md")
    for path in (*PAGES, *sorted(documents), *sorted((ROOT / "examples").rglob("*.md"))):
        if path.name != "proof.md":  # what tests and benchmarks printed
            found[path] = [path.read_text(encoding="utf-8")]
    return {path: [plain(text) for text in parts] for path, parts in found.items()}


def plain(text: str) -> str:
    """A text with single blanks and without names in code, keys and options, which are no prose."""
    return re.sub(r"\s+", " ", CODE.sub("…", text))


def strings(path: Path) -> Iterator[str]:
    """Messages, help and docstrings of a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def occurrences(pattern: re.Pattern[str]) -> list[str]:
    """Where a pattern occurs, with the words around it."""
    return [
        f"{path.relative_to(ROOT)}: …{text[max(0, match.start() - 30) : match.end() + 30]}…"
        for path, parts in texts().items()
        for text in parts
        for match in pattern.finditer(text)
    ]


def test_no_phrase_is_retired_twice() -> None:
    assert len(set(RETIRED)) == len(RETIRED)
    assert all(" " in phrase for phrase in RETIRED)


def test_no_text_has_a_retired_phrase() -> None:
    every = "\n".join(text.lower() for parts in texts().values() for text in parts)
    phrases = "|".join(phrase for phrase in RETIRED if phrase in every)
    assert not phrases or occurrences(re.compile(rf"(?i)(?<!\w)(?:{phrases})(?!\w)")) == []


def test_spelling_is_british_with_ize() -> None:
    french = "src/earwitness/studies/wordings/fr.json"
    stated = "docs/decisions/0024-plain-language.md"
    found = occurrences(OTHER_SPELLINGS)
    named = "recognised 8 "  # a row of a table: the name of a system in an example
    assert [
        place for place in found if not place.startswith((french, stated)) and named not in place
    ] == []


def test_the_scan_sees_every_sort_of_text() -> None:
    read = {path.relative_to(ROOT).as_posix(): " ".join(parts) for path, parts in texts().items()}
    assert "One table for a paper" in read["src/earwitness/cli/options.py"]
    assert "Merci" in read["src/earwitness/studies/wordings/fr.json"]
    assert "earwitness compare" in read["README.md"]


# What these do needs sounds, completed workbooks or a person; documents show them.
WITHOUT_EXAMPLE = {"align", "skim", "study_anchors", "study_import", "study_import_xlsx"}
WITHOUT_EXAMPLE |= {"study_enter", "study_sheets", "transcribe"}


@pytest.mark.parametrize("name", sorted({*earwitness.FUNCTION_MODULES} - {"Accumulator"}))
def test_exported_functions_have_numpy_docstrings(name: str) -> None:
    text = inspect.getdoc(getattr(earwitness, name)) or ""
    sections = [
        "Parameters",
        "Returns",
        "Raises",
        *([] if name in WITHOUT_EXAMPLE else ["Examples"]),
    ]
    for section in sections:
        assert f"\n{section}\n---" in text, section
