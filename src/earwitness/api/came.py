"""Who has sent back a workbook: when, and how much of it is filled in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from earwitness.api.matching import WORKBOOK
from earwitness.data import Answer, Plan, Study
from earwitness.listening.kinds import block_kind
from earwitness.listening.kinds.base import LETTERS
from earwitness.listening.pages import counted
from earwitness.store import Given


@dataclass(frozen=True)
class Came:
    """When something new last came of a workbook; rows with numbers, of all, and blanks in them."""

    at: str
    rows: int
    all: int
    blanks: int

    def __str__(self) -> str:
        blanks = f", {self.blanks} blank" if self.blanks else ""
        return f"{self.at[:16]} {self.rows}/{self.all} rows{blanks}"


def came(given: Iterable[Given], every: int) -> Came | None:
    """What came of a rater's workbooks, by the answers that count; nothing if none came."""
    own = [one for one in given if one.meta is not None and WORKBOOK in one.meta]
    if not own:
        return None
    rows = [row for one in own for row in _rows(one.answer)]
    filled = [row for row in rows if any(value is not None for value in row)]
    blanks = sum(value is None for row in filled for value in row)
    return Came(max(one.received for one in own), len(filled), every, blanks)


def _rows(answer: Answer) -> list[list[float | None]]:
    """Numbers by caption; texts are none."""
    found: dict[str, list[float | None]] = {}
    for name, value in answer.values.items():
        letter, mark, _ = name.partition(".")
        if mark and letter in LETTERS and not isinstance(value, str):
            found.setdefault(letter, []).append(value)
    return list(found.values())


def captions_in(plan: Plan) -> int:
    """How many captions a listener judges."""
    return sum(len(trial.systems) for trial in counted(plan).values())


def judges_captions(study: Study) -> bool:
    """Whether a study may have workbooks."""
    return all(block_kind(block).captioned for block in study.blocks)
