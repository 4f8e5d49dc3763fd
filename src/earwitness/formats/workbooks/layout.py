"""Where things stand in a sheet: rows with names of columns, and the blocks below them.

Names are known however they are spelt: in English or French, with ranges in brackets, with slips.
A sheet may have several blocks, below each other or side by side, each with its own names.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rapidfuzz.fuzz import ratio
from rapidfuzz.process import extractOne

from earwitness.formats.workbooks.cells import text
from earwitness.formats.workbooks.sheets import Row, Sheet
from earwitness.listening.rubrics import BUILT_IN, Rubric
from earwitness.listening.wordings import LANGUAGES

ROLES: dict[str, tuple[str, ...]] = {
    "number": ("no", "number", "nr", "numero"),
    "record": ("recordid", "record", "recording", "recordingid", "clip", "clipid", "id",
               "enregistrement", "extrait"),
    "label": ("caption", "captions", "legende"),
    "text": ("text", "texte", "captiontext", "description", "descriptions"),
    "synthesised": ("synthesised", "synthesized", "synthetic", "synthetise", "synthese"),
    "comment": ("comments", "comment", "commentaires", "commentaire", "remarks", "remarques"),
    "key": ("key",),
}  # fmt: skip
ALIKE = 80  # per cent, how alike a slip is to what was meant
SHORTEST = 4  # letters of names that may have slips
LEAST = 2  # dimensions that make a row one of names
ASSESSMENT = ("assessment", "assessments", "evaluation", "evaluations")
EXAMPLE = ("example", "examples", "exemple", "exemples")


@dataclass(frozen=True)
class Block:
    """Columns by role, from 0; the row of their names, and the rows below, half-open."""

    sheet: Sheet
    head: int
    end: int
    columns: Mapping[str, int]

    @property
    def caption(self) -> str:
        """The role of the column with the words of captions."""
        return "text" if "text" in self.columns else "label"


def spelt(name: str) -> str:
    """A name without what people write differently.

    >>> spelt(" Précision (1–5) *"), spelt("synthesized?")
    ('precision', 'synthesized')
    """
    bare = re.sub(r"[(\[].*?[)\]]", "", name)
    letters = unicodedata.normalize("NFKD", bare.casefold())
    return "".join(one for one in letters if one.isalnum() and one.isascii())


def assessed(sheets: tuple[Sheet, ...], rubric: Rubric) -> list[Block]:
    """All blocks of the sheets for assessments: those called so, else all but examples."""
    named = [one for one in sheets if spelt(one.name) in ASSESSMENT]
    others = [one for one in sheets if spelt(one.name) not in EXAMPLE]
    return [block for sheet in named or others for block in blocks(sheet, rubric)]


def blocks(sheet: Sheet, rubric: Rubric) -> Iterator[Block]:
    """Blocks of a sheet."""
    known = _known(rubric)
    heads = {
        number: groups
        for number, row in sheet.rows.items()
        if (groups := [one for one in _groups(row, known) if _is_head(one, rubric)])
    }
    ends = [*list(heads)[1:], max(sheet.rows, default=0) + 1][: len(heads)]
    for (number, groups), end in zip(heads.items(), ends, strict=True):
        for columns in groups:
            yield Block(sheet, number, end, columns)


def heading(sheet: Sheet, row: int) -> str:
    """What a row says if it says a single thing, such as the name of a dataset."""
    said = [text(one) for one in sheet.rows.get(row, ()) if text(one)]
    return said[0] if len(said) == 1 else ""


def _known(rubric: Rubric) -> dict[str, str]:
    """Roles by the spelling of their names; dimensions in all languages."""
    known = {name: role for role, names in ROLES.items() for name in names}
    for language in LANGUAGES:
        own = BUILT_IN[rubric.name](language) if rubric.name in BUILT_IN else rubric
        for one in own.dimensions:
            known |= {spelt(one.shown): one.name, spelt(one.name): one.name}
    for one in rubric.dimensions:
        known |= {spelt(one.shown): one.name}
    return known


def _role(name: str, known: Mapping[str, str]) -> str:
    plain = spelt(name)
    if plain in known:
        return known[plain]
    long = [one for one in known if len(one) >= SHORTEST]
    if len(plain) < SHORTEST:
        return ""
    close = extractOne(plain, long, scorer=ratio, score_cutoff=ALIKE)
    return known[close[0]] if close else ""


def _groups(row: Row, known: Mapping[str, str]) -> list[dict[str, int]]:
    """Columns by role; where a role comes again, another block begins."""
    groups: list[dict[str, int]] = [{}]
    for column, cell in enumerate(row):
        if not isinstance(cell, str) or len(cell) > 60 or not (role := _role(cell, known)):
            continue
        if role in groups[-1]:
            groups.append({})
        groups[-1][role] = column
    return groups


def _is_head(columns: Mapping[str, int], rubric: Rubric) -> bool:
    dimensions = sum(name in columns for name in rubric.names)
    return dimensions >= min(LEAST, len(rubric.names)) and bool({"text", "label"} & {*columns})


def unknown(block: Block, rubric: Rubric) -> list[str]:
    """Names in the head of a block that say nothing here."""
    known, cells = _known(rubric), block.sheet.rows[block.head]
    return [text(one) for one in cells if isinstance(one, str) and one.strip()
            and not _role(one, known)]  # fmt: skip
