"""Tables of scores, and lengths of outputs as scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

from earwitness.core import Input, Key, Score, StrPath
from earwitness.errors import InputError, Problem, UsageError, nearest
from earwitness.io.schema import BadLine, Fault, load_json_line
from earwitness.io.source import Records, RecordSource
from earwitness.io.tables import InputTable, TableWording
from earwitness.metaeval.join import undefined_phrase
from earwitness.ratings.columns import LONG_TABLE_ROLES, SAMPLE_COLUMNS, ColumnOptions
from earwitness.ratings.reader import (
    Columns,
    ParsedRatings,
    make_keys,
    read_rows,
    without_garbage_collection,
)
from earwitness.ratings.records import Grouping
from earwitness.task import Filter

# --- Output lengths as a baseline ----------------------------------------------------------------


LENGTH_METRIC = "length"
LIST_FIELDS = ("boundaries", "positions", "words", "titles", "sentences")
TEXT_FIELDS = ("text", "transcript", "caption")


def output_lengths(outputs: str | Records) -> tuple[list[Score], Input]:
    """Return the length of each output in a file, as scores, and the file.

    The length is the number of boundaries, positions, words, titles or sentences.

    Raises
    ------
    InputError
        If a line lacks an item, a system or an output with a list or a text.
    """
    source, scores, problems = RecordSource(outputs), list[Score](), list[Problem]()
    for number, line in enumerate(_read_lines(source), 1):
        try:
            if line.strip():
                record = load_json_line(line)
                key = Key(record["item"], record["system"])
                scores.append(Score(key, LENGTH_METRIC, _output_length(record["output"])))
        except (BadLine, KeyError, TypeError, ValueError):
            message = 'needs "item", "system" and "output" with a list or a text'
            problems.append(Problem(source.name, number, "", message))
    if problems:
        raise InputError(problems, len(problems), done="read")
    return scores, source.read()


def _read_lines(source: RecordSource) -> Iterator[bytes]:
    try:
        for block in source.blocks():
            yield from block.lines
    except InputError as error:
        raise InputError(error.problems, error.count, done="read") from None


def _output_length(output: Mapping[str, Any]) -> float:
    for name in LIST_FIELDS:
        if isinstance(output.get(name), list):
            return float(len(output[name]))
    for name in TEXT_FIELDS:
        if isinstance(output.get(name), str):
            return float(len(output[name].split()))
    raise ValueError(output)


# --- Tables of scores ----------------------------------------------------------------------------
# Scores are read like ratings, with a metric instead of a scale and no listener.


COLUMN_REMEDY = (
    "or use --score-column {role}=NAME; if file names contain system and item, use "
    "--score-column sample=NAME --score-pattern PATTERN"
)
SCORE_WORDING = TableWording(
    "metrics",
    "score",
    "score",
    undefined=True,
    remedy=COLUMN_REMEDY,
    choice="or choose metrics with --metric",
)
COLUMN_BY_ROLE = {"scale": "metric", "session": "references", "trial": "draw"}
ABSENT_ROLES = ("listener", "asked", "place", "against")
SCORE_ROLES = ("item", "system", "metric", "value", "sample")
RATING_ROLE_BY_SCORE_ROLE = {"metric": "scale"}
SIGNATURE_COLUMN = "signature"


@dataclass(frozen=True)
class ScoreTable:
    """Scores of a file, in file order and including undefined ones, with notes on the reading.

    ``groups`` are groups of items.
    """

    scores: list[Score]
    notes: tuple[str, ...]
    signatures: tuple[str, ...]
    input: Input
    columns: tuple[str, ...] = ()
    groups: Mapping[str, Grouping] = field(default_factory=dict)

    @property
    def metrics(self) -> list[str]:
        """Metrics in file order."""
        return list(dict.fromkeys(score.metric for score in self.scores))


def read_scores(
    path: StrPath | RecordSource,
    *,
    pattern: str = "",
    columns: Mapping[str, str] | None = None,
    metrics: Sequence[str] = (),
    several: bool = False,
    system: str = "",
    groups: Sequence[str] = (),
    where: Filter = Filter(),  # noqa: B008
) -> ScoreTable:
    """Read the scores of a table.

    Parameters
    ----------
    path
        CSV or JSON Lines file, or the rows of a table in memory.
    pattern, columns
        How to find item and system, as for ratings. The role of the column with metric names is
        ``metric``, that of the column with numbers ``value``.
    metrics
        Columns that are metrics. By default all numeric columns.
    several
        Whether other tables are read as well; then columns that this table lacks are ignored.
    system
        System of all outputs, if the table has no column for it.
    groups
        Columns that are not metrics but group items, if the table has them.
    where
        Conditions on columns; only rows for which all of them hold are read.

    Returns
    -------
    ScoreTable
        Scores, notes, signatures and the columns of the file.

    Raises
    ------
    InputError
        If a row is invalid or an output has two scores of the same metric.
    UsageError
        If ``columns`` has an unknown role.
    """
    named = {**(columns or {})}
    options = ColumnOptions(
        pattern,
        named.pop("sample", ""),
        _columns_by_role(named),
        constants={"listener": "metric"},
        words=SCORE_WORDING,
        apart=(SIGNATURE_COLUMN, *groups),
        optional={*COLUMN_BY_ROLE},
        where=where,
    )
    source = path if isinstance(path, RecordSource) else RecordSource(path)
    fitted = partial(_fit_options, metrics=metrics, several=several, system=system)
    rows = read_rows(source, options, fitted)
    scores = _build_scores(rows.checked.columns, rows.checked.votes)
    _refuse_doubled(scores, rows)
    columns_and_metrics = (*rows.table.names, *dict.fromkeys(score.metric for score in scores))
    chosen = [score for score in scores if not metrics or score.metric in metrics]
    notes = [*rows.layout.notes, *_undefined_notes(chosen)]
    if not chosen:
        notes.append(f"{rows.input.name} has none of the chosen metrics and is ignored")
    has_signatures = SIGNATURE_COLUMN in rows.table.names
    cells = rows.table.cells(SIGNATURE_COLUMN) if has_signatures else ()
    signatures = dict.fromkeys(str(cell) for cell in (rows.table.signature, *cells) if cell)
    return ScoreTable(
        chosen,
        tuple(notes),
        tuple(signatures),
        rows.input,
        columns_and_metrics,
        {name: _item_groups(rows, name) for name in groups if name in rows.table.names},
    )


def _item_groups(rows: ParsedRatings, name: str) -> Grouping:
    """Return the groups of items in a column; raise UsageError if an item has two."""
    groups: dict[int | str, str] = {}
    for item, cell in zip(rows.checked.columns["item"], rows.table.cells(name), strict=True):
        if cell and groups.setdefault(item, str(cell)) != str(cell):
            raise UsageError(
                f'by {name}: item {item} is in "{groups[item]}" and in "{cell}" '
                f"({rows.input.name}) — use a column with one value per item"
            )
    return Grouping("item", groups)


def _build_scores(columns: Columns, votes: Columns) -> list[Score]:
    """Return one score per cell, row by row."""
    with without_garbage_collection():
        keys = make_keys(columns["item"], columns["system"])
        zeros = [0] * len(keys)
        session, trial = (columns.get(role, zeros) for role in ("session", "trial"))
        by_metric = [
            map(Score, keys, [metric] * len(keys) if metric else columns["scale"], *rest)
            for metric, values in votes.items()
            for rest in [(values, session, trial)]
        ]
        return list(chain.from_iterable(zip(*by_metric, strict=True)))


def _columns_by_role(column_by_role: Mapping[str, str]) -> dict[str, str]:
    """Return the column names by their role in a table of ratings."""
    for role in column_by_role:
        if role not in SCORE_ROLES:
            raise UsageError(f'columns: unknown role "{role}" — {nearest(role, SCORE_ROLES)}')
    by_rating_role = {
        RATING_ROLE_BY_SCORE_ROLE.get(role, role): column for role, column in column_by_role.items()
    }
    return {**COLUMN_BY_ROLE, **dict.fromkeys(ABSENT_ROLES, ""), **by_rating_role}


def _fit_options(
    options: ColumnOptions,
    table: InputTable,
    *,
    metrics: Sequence[str],
    several: bool,
    system: str = "",
) -> ColumnOptions:
    """Return the options that apply to a table with these columns.

    Chosen metrics are columns, unless each row holds one score. ``system`` is that of a table
    without a column for it.
    """
    names = table.names
    if system and options.name_of("system") not in names and not options.pattern:
        options = replace(options, constants={**options.constants, "system": system})
    if several:
        options = _options_for_columns(options, names)
    chosen_metrics = [name for name in metrics if name in names] if several else list(metrics)
    is_long = all(options.columns.get(role, role) in names for role in LONG_TABLE_ROLES)
    if not chosen_metrics or (is_long and not {*chosen_metrics} & {*names}):
        return options
    columns = {role: name for role, name in options.columns.items() if role not in LONG_TABLE_ROLES}
    return replace(options, scales=chosen_metrics, columns=columns)


def _options_for_columns(options: ColumnOptions, names: Sequence[str]) -> ColumnOptions:
    """Return the options without references to columns that this table lacks."""
    usual = {**COLUMN_BY_ROLE, **dict.fromkeys(ABSENT_ROLES, "")}
    present = {
        role: column_name
        for role, column_name in options.columns.items()
        if not column_name or column_name in names
    }
    columns = {**usual, **present}
    column = options.column if options.column in names else ""
    has_item_and_system = all(columns.get(role, role) in names for role in ("item", "system"))
    has_samples = column or (
        not has_item_and_system and any(name in names for name in SAMPLE_COLUMNS)
    )
    return replace(
        options, columns=columns, column=column, pattern=options.pattern if has_samples else ""
    )


def _refuse_doubled(scores: Sequence[Score], rows: ParsedRatings) -> None:
    """Refuse two scores of the same metric for one output."""
    columns = rows.checked.columns
    roles = [role for role in ("item", "system", "scale", "session", "trial") if role in columns]
    outputs = list(zip(*(columns[role] for role in roles), strict=True))
    if len({*outputs}) == len(outputs):
        return
    counts = Counter((score.key, score.metric, score.references, score.draw) for score in scores)
    doubled = {output for output, count in counts.items() if count > 1}
    if not doubled:
        return
    scores_per_line = max(1, len(scores) // len(rows.table.lines))
    seen: set[object] = set()
    for number, score in enumerate(scores):
        output = (score.key, score.metric, score.references, score.draw)
        if output in doubled and output in seen:
            message = (
                f"duplicate score: {score.metric} of system {score.key.system}, item "
                f"{score.key.item}"
            )
            rows.table.wrong.add(
                [(rows.table.lines[number // scores_per_line], Fault("", message, "keep one"))]
            )
        seen.add(output)
    rows.table.wrong.refuse()


def _undefined_notes(scores: Sequence[Score]) -> Iterator[str]:
    """Yield one note per number of scores on the metrics that are undefined for some outputs."""
    totals = Counter(score.metric for score in scores)
    undefined = Counter(score.metric for score in scores if score.value != score.value)
    for total in dict.fromkeys(totals.values()):
        metrics = [name for name in totals if totals[name] == total]
        counts = {name: undefined[name] for name in metrics if 0 < undefined[name] < total}
        if counts:  # metrics without any score are excluded, with a note
            yield undefined_phrase(counts, f"{total:,} outputs")
