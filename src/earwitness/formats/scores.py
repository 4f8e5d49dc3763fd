"""Tables of scores, CSV or JSON lines: a column a metric, or a row a score.

Scores are read as ratings are, with a metric in the place of a scale and nobody as the listener.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike

from earwitness.data import Input, Score
from earwitness.errors import UsageError, nearest
from earwitness.formats.check import Fault
from earwitness.formats.ratings.options import LONG, SAMPLES, Options
from earwitness.formats.ratings.reading import Rows, read_rows
from earwitness.formats.ratings.table import Table, Words
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
    columns: tuple[str, ...] = ()

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
    several: bool = False,
) -> ScoreTable:
    """Scores of a table; ``metrics`` are columns that are metrics, if not all that are numbers.

    Where this is one of ``several`` tables, what is said holds as far as the table has columns of
    these names.

    ``pattern``, ``column`` and ``columns`` are what they are for ratings; a metric's column is
    called ``metric``, that of its numbers ``value``.
    """
    options = Options(
        pattern,
        column,
        _columns(columns or {}),
        given={"listener": "metric"},
        words=WORDS,
        apart=(SIGNATURE,),
        optional={*NAMES},
    )
    rows = read_rows(Source(path), options, partial(_fitted, metrics=metrics, several=several))
    scores = [Score(one.key, one.scale, one.value, one.session, one.trial) for one in rows.every]
    _refuse_doubled(scores, rows)
    known = (*rows.table.names, *dict.fromkeys(one.metric for one in scores))
    chosen = [one for one in scores if not metrics or one.metric in metrics]
    notes = (*rows.layout.notes, *_undefined(chosen), *_none(chosen, rows))
    return ScoreTable(chosen, notes, _signatures(rows), rows.input, known)


def _columns(said: Mapping[str, str]) -> dict[str, str]:
    """Columns by what they would say of ratings."""
    for name in said:
        if name not in ROLES:
            raise UsageError(f'columns: no "{name}" — {nearest(name, ROLES)}')
    named = {NAMES_OF.get(role, role): own for role, own in said.items()}
    return {**NAMES, **dict.fromkeys(NOT_THERE, ""), **named}


def _fitted(options: Options, table: Table, *, metrics: Sequence[str], several: bool) -> Options:
    """Options that hold for a table with such columns.

    Chosen metrics are columns, unless a row is a score. A column a metric leaves no place for two.
    """
    names = table.names
    if several:
        options = _as_far_as(options, names)
    own = [name for name in metrics if name in names] if several else list(metrics)
    long = all(options.columns.get(role, role) in names for role in LONG)
    if not own or (long and not {*own} & {*names}):
        return options
    columns = {role: name for role, name in options.columns.items() if role not in LONG}
    return replace(options, scales=own, columns=columns)


def _as_far_as(options: Options, names: Sequence[str]) -> Options:
    """Without what is said of columns that this table does not have."""
    usual = {**NAMES, **dict.fromkeys(NOT_THERE, "")}
    kept = {role: own for role, own in options.columns.items() if own in names}
    columns = {**usual, **kept}
    column = options.column if options.column in names else ""
    apart = all(columns.get(role, role) in names for role in ("item", "system"))
    sampled = column or (not apart and any(name in names for name in SAMPLES))
    return replace(
        options, columns=columns, column=column, pattern=options.pattern if sampled else ""
    )


def _none(chosen: Sequence[Score], rows: Rows) -> Iterator[str]:
    if not chosen:
        yield f"{rows.input.name} has none of the chosen metrics; passed over"


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
