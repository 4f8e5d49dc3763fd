"""What a returned workbook says: rows that were judged, and what was found odd in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from earwitness.data import Input
from earwitness.formats.workbooks.cells import caption_hash


@dataclass(frozen=True)
class Place:
    """A cell, for people to find it."""

    source: str
    sheet: str
    cell: str

    def __str__(self) -> str:
        return f"{self.source}: {self.sheet}!{self.cell}" if self.cell else self.source


@dataclass(frozen=True)
class Finding:
    """Something odd that is allowed.

    Kinds are ``blank`` and ``unrated`` (a whole row), ``duplicate`` (a caption under two clips),
    ``repeated`` (a row twice), ``above`` (a clip's name was taken from the row above), ``passed``
    (rows, columns and other things that are not read) and ``unclear`` (synthesised or not).
    """

    kind: str
    place: Place
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@dataclass(frozen=True)
class JudgedRow:
    """A caption of a clip with the numbers that a rater gave it; None is a blank.

    ``synthesised`` is what the rater said of the clip, if anything; ``dataset`` is the heading
    above; ``cells`` has the cell of every dimension.
    """

    record: str
    caption: str
    values: Mapping[str, float | None]
    place: Place
    cells: Mapping[str, str] = field(default_factory=dict)
    dataset: str = ""
    synthesised: bool | None = None
    comment: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What rows are matched by: the clip and the hash of the caption, never the number."""
        return self.record, caption_hash(self.caption)


@dataclass(frozen=True)
class Returned:
    """A workbook that came back.

    Our own layout also says of which ``study`` it is, with its ``digest``, and the number of the
    rater among its listeners.
    """

    rater: str
    rows: tuple[JudgedRow, ...]
    findings: tuple[Finding, ...]
    input: Input
    study: str = ""
    digest: str = ""
    listener: int = 0
