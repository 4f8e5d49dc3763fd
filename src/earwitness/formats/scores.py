"""Tables of scores, CSV or JSON lines: a column a metric, or a row a score.

Scores are read as ratings are, with a metric in the place of a scale and nobody as the listener.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

from earwitness.data import Input, Score
from earwitness.errors import UsageError, nearest
from earwitness.formats.check import Fault
from earwitness.formats.ratings.options import LONG, Options
from earwitness.formats.ratings.reading import Rows, read_rows
from earwitness.formats.ratings.table import Words
from earwitness.formats.source import Source

REMEDY = (
    "or say --score-column {role}=NAME, or --score-sample NAME for names of files, with "
    "--score-pattern"
)
WORDS = Words("metrics", "score", "score", undefined=True, remedy=REMEDY)
NAMES = {"scale": "metric", "session": "references", "trial": "draw"}
NOT_THERE = ("listener", "asked", "place", "against")
ROLES = ("item", "system", "metric", "value")
NAMES_OF = {"metric": "scale"}
SIGNATURE = "signature"


@dataclass(frozen=True)
class ScoreTable:
    """Scores in the order of the file, also those that are undefined; how they came about."""

    scores: list[Score]
    notes: tuple[str, ...]
    signatures: tuple[str, ...]
    input: Input

    @property
    def metrics(self) -> list[str]:
        """Metrics in the order of the file."""
        return list(dict.fromkeys(one.metric for one in self.scores))


def read_scores(
    path: str | PathLike[str],
    *,
    pattern: str = "",
    column: str = "",
    columns: Mapping[str, str] | None = None,
    metrics: Sequence[str] = (),
) -> ScoreTable:
    """Scores of a table; ``metrics`` are columns that are metrics, if not all that are numbers.

    ``pattern``, ``column`` and ``columns`` are what they are for ratings; a metric's column is
    called ``metric``, that of its numbers ``value``.
    """
    named = _columns(columns or {}, bool(metrics))
    given = {"listener": "metric"}
    options = Options(
        pattern, column, named, metrics, given, words=WORDS, apart=(SIGNATURE,), optional={*NAMES}
    )
    rows = read_rows(Source(path), options)
    scores = [Score(one.key, one.scale, one.value, one.session, one.trial) for one in rows.every]
    _refuse_doubled(scores, rows)
    notes = (*rows.layout.notes, *_undefined(scores))
    return ScoreTable(scores, notes, _signatures(rows), rows.input)


def _columns(said: Mapping[str, str], wide: bool) -> dict[str, str]:
    """Columns by what they would say of ratings; a column a metric leaves no place for two."""
    for name in said:
        if name not in ROLES:
            raise UsageError(f'columns: no "{name}" — {nearest(name, ROLES)}')
    named = {NAMES_OF.get(role, role): own for role, own in said.items()}
    found = {**NAMES, **dict.fromkeys(NOT_THERE, ""), **named}
    return {role: own for role, own in found.items() if not (wide and role in LONG)}


def _refuse_doubled(scores: Sequence[Score], rows: Rows) -> None:
    """A metric gives an output one score; which of two counts, nobody knows."""
    counts = Counter((one.key, one.metric, one.references, one.draw) for one in scores)
    doubled = {place for place, count in counts.items() if count > 1}
    if not doubled:
        return
    wide = max(1, len(scores) // len(rows.table.lines))
    seen: set[object] = set()
    for number, one in enumerate(scores):
        place = (one.key, one.metric, one.references, one.draw)
        if place in doubled and place in seen:
            told = f"{one.metric} of {one.key.system}, {one.key.item} stands here once more"
            rows.table.wrong.add([(rows.table.lines[number // wide], Fault("", told, "keep one"))])
        seen.add(place)
    rows.table.wrong.refuse()


def _undefined(scores: Sequence[Score]) -> Iterator[str]:
    missing = Counter(one.metric for one in scores if one.value != one.value)
    for metric, count in missing.items():
        every = sum(one.metric == metric for one in scores)
        yield f"{metric} is undefined for {count:,} of {every:,} outputs"


def _signatures(rows: Rows) -> tuple[str, ...]:
    if SIGNATURE not in rows.table.names:
        return ()
    return tuple(dict.fromkeys(str(one) for one in rows.table.cells(SIGNATURE) if one))
