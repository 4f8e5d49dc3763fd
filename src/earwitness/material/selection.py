"""Selection of reviewed clips, balanced over covariates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from earwitness.core import StrPath
from earwitness.errors import Problem, UsageError, nearest, refuse_problems
from earwitness.io.tables import RowTable, csv_text, delimiter_remedy, read_row_table
from earwitness.report.parts import Report, Section, Table
from earwitness.stats.arrays import Floats, Ints
from earwitness.studies.design.subset_balance import Margin
from earwitness.studies.design.subsets import Covariates, Strata, equivalent_subsets
from earwitness.studies.file.material import read_clips

# --- Balanced choice -----------------------------------------------------------------------------
# Proportional shares are those of the panels of a study: the selection is a subset of the clips
# with the proportions of all clips, found by controlled rounding and swaps. Equal shares even out
# the categories as far as there are clips: the clips of each stratum are chosen one by one, always
# from the stratum whose categories have the fewest so far, and then swapped.


Shares = Literal["proportional", "equal"]


@dataclass(frozen=True)
class ClipSelection:
    """Selected clips and their balance.

    Attributes
    ----------
    chosen
        Indices of the selected clips, in order.
    panels
        Indices of the clips of each panel, if several were requested.
    margins
        Counts of each category, and means of each number: in all clips, in the selection, and in
        each panel.
    """

    chosen: tuple[int, ...]
    panels: tuple[tuple[int, ...], ...]
    margins: tuple[Margin, ...]

    def table(self) -> Table:
        """Return the balance before and after the selection."""
        labels = [f"panel {n}" for n in range(1, len(self.panels) + 1)]
        header = ("covariate", "category", "all clips", "selected", *labels)
        rows = tuple(
            (m.covariate, m.category, *(f"{value:.4g}" for value in (m.whole, *m.subsets)))
            for m in self.margins
        )
        return Table("clips per category, and means", header, rows, names=2)


def select_clips(
    clips: Sequence[Covariates],
    count: int,
    *,
    balance: Sequence[str] = (),
    numbers: Sequence[str] = (),
    panels: int = 1,
    shares: Shares = "proportional",
    seed: int = 0,
) -> ClipSelection:
    """Select clips that are balanced over covariates.

    Parameters
    ----------
    clips
        Covariates of each clip.
    count
        Number of clips to select.
    balance
        Categorical covariates.
    numbers
        Numeric covariates whose means are close to those of all clips.
    panels
        Number of equivalent panels into which the selection is divided.
    shares
        ``proportional``: categories have the proportions of all clips; ``equal``: as many clips of
        each category as possible.
    seed
        Random seed.

    Returns
    -------
    ClipSelection
        The selected clips and their balance.

    Examples
    --------
    >>> clips = [{"sex": "F"}] * 6 + [{"sex": "M"}] * 2
    >>> select_clips(clips, 4, balance=["sex"]).margins[0].subsets
    (3,)
    >>> select_clips(clips, 4, balance=["sex"], shares="equal").margins[0].subsets
    (2,)
    """
    if not 1 <= count <= len(clips):
        raise UsageError(
            f"{count:,} clips were requested, but there are {len(clips):,} — use a smaller count"
        )
    if panels < 1 or count % panels:
        message = f"{count} clips cannot be divided into {panels} equal panels"
        raise UsageError(f"{message} — use a multiple of the number of panels")
    if shares == "equal":
        pool = _choose_equally(clips, count, balance, numbers, seed)
    else:
        pool = list(range(len(clips)))
    groups = equivalent_subsets(
        [clips[index] for index in pool],
        number=panels,
        size=count // panels,
        categories=balance,
        numbers=numbers,
        seed=(seed,),
    )
    divided = [sorted(pool[place] for place in group) for group in groups]
    chosen = sorted(index for group in divided for index in group)
    shown = [chosen, *divided] if panels > 1 else [chosen]
    return ClipSelection(
        tuple(chosen),
        tuple(map(tuple, divided)) if panels > 1 else (),
        _margins(clips, shown, balance, numbers),
    )


def _choose_equally(
    clips: Sequence[Covariates],
    count: int,
    balance: Sequence[str],
    numbers: Sequence[str],
    seed: int,
) -> list[int]:
    """Return clips with counts of categories as equal as possible."""
    strata = Strata.of(clips, balance)
    counts = equal_counts(strata.categories, strata.sizes, count)
    chosen: list[int] = []
    for place, members in enumerate(strata.members):
        if counts[place]:
            (picked,) = equivalent_subsets(
                [clips[index] for index in members],
                number=1,
                size=int(counts[place]),
                numbers=numbers,
                seed=(seed, place),
            )
            chosen += [members[index] for index in picked]
    return sorted(chosen)


def equal_counts(categories: Floats, sizes: Ints, count: int) -> Ints:
    """Return the number of clips per stratum for which categories are as equal as possible.

    ``categories`` has a row per category: 1 for the strata in it, else 0. The sum of squares of the
    counts of categories, and then of strata, is as small as single additions and swaps make it.
    """
    cost = np.eye(len(sizes)) / (len(sizes) + 1) + categories.T @ categories
    diagonal = np.diag(cost)
    counts = np.zeros(len(sizes), np.int64)
    for _ in range(count):
        rise = np.where(counts < sizes, 2 * cost @ counts + diagonal, np.inf)
        counts[int(rise.argmin())] += 1
    while True:
        slope = 2 * cost @ counts
        change = slope[None] - slope[:, None] + diagonal[None] + diagonal[:, None] - 2 * cost
        change[counts == 0] = np.inf
        change[:, counts >= sizes] = np.inf
        give, take = divmod(int(change.argmin()), len(sizes))
        if not change[give, take] < -1e-9:
            return counts
        counts[give] -= 1
        counts[take] += 1


def _margins(
    clips: Sequence[Covariates],
    groups: Sequence[Sequence[int]],
    balance: Sequence[str],
    numbers: Sequence[str],
) -> tuple[Margin, ...]:
    every = range(len(clips))
    rows = []
    for name in balance:
        for value in sorted({str(clip[name]) for clip in clips}):
            counts = [
                sum(str(clips[n][name]) == value for n in group) for group in (every, *groups)
            ]
            rows.append(Margin(name, value, counts[0], tuple(counts[1:])))
    for name in numbers:
        means = [
            float(np.mean([float(clips[n][name]) for n in group])) for group in (every, *groups)
        ]
        rows.append(Margin(name, "mean", means[0], tuple(means[1:])))
    return tuple(rows)


def check_balance_columns(
    rows: Sequence[Mapping[str, str | float]], balance: Sequence[str], numbers: Sequence[str]
) -> list[dict[str, str | float]]:
    """Return the columns for a selection, with numbers converted; refuse missing ones."""
    columns = list(rows[0]) if rows else []
    for name in (*balance, *numbers):
        if name not in columns:
            raise UsageError(f'the clips have no column "{name}" — {nearest(name, columns)}')
    values: list[dict[str, str | float]] = []
    for row in rows:
        own: dict[str, str | float] = {name: row[name] for name in balance}
        for name in numbers:
            try:
                own[name] = number = float(row[name])
            except ValueError:
                number = inf
            if not isfinite(number):
                message = f'column "{name}" must have numbers, got "{row[name]}"'
                raise UsageError(f"{message} — balance categories with balance instead")
        values.append(own)
    return values


# --- Review --------------------------------------------------------------------------------------


DECISIONS = ("keep", "drop")
Unreviewed = Literal["fail", "keep", "drop"]
NO_REASON = "no reason given"


def read_review(
    path: Path, names: Sequence[str]
) -> tuple[dict[str, tuple[str, str]], list[Problem]]:
    """Return the decision and reason of each reviewed clip, and the problems of the file.

    Parameters
    ----------
    path
        CSV file with the columns name, decision (keep or drop, or empty) and reason, as the review
        page exports it.
    names
        Names of all clips.
    """
    table = read_row_table(path, "export it from the review page")
    problems, decisions = list(table.problems), dict[str, tuple[str, str]]()
    columns = table.columns or []
    if missing := [name for name in ("name", "decision") if name not in columns]:
        if not problems:
            message = f"has no column {' and no column '.join(missing)}"
            remedy = delimiter_remedy(columns) or "export it from the review page"
            problems.append(Problem(str(path), 1, "", message, remedy))
        return decisions, problems
    known = {*names}
    for line, row in table.rows:
        name, decision = row.get("name") or "", (row.get("decision") or "").strip().casefold()
        if name not in known:
            remedy = nearest(name, names) if len(names) <= MAX_SUGGESTED else ""
            problems.append(Problem(str(path), line, "name", f'unknown clip "{name}"', remedy))
        elif decision and decision not in DECISIONS:
            message = f'must be keep or drop, got "{row["decision"]}"'
            problems.append(Problem(str(path), line, "decision", message))
        elif name in decisions and decisions[name][0] != decision:
            message = f'clip "{name}" has two decisions'
            problems.append(Problem(str(path), line, "decision", message, "keep one"))
        elif decision:
            decisions[name] = decision, (row.get("reason") or "").strip()
    return decisions, problems


MAX_SUGGESTED = 1000  # names among which the nearest one is searched


# --- Selection from a table ----------------------------------------------------------------------


@dataclass(frozen=True)
class SelectedClips:
    """Selected rows of a clip table.

    Attributes
    ----------
    header, rows
        Columns and selected rows of the table, unchanged and in its order.
    total
        Number of clips of the table.
    dropped
        Number of dropped clips by reason.
    unreviewed
        Number of clips without a decision.
    selection
        Balance of the selection among the clips that were kept, if a count was given.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    total: int
    dropped: Mapping[str, int]
    unreviewed: int
    selection: ClipSelection | None = None

    @property
    def text(self) -> str:
        """The table as CSV."""
        return csv_text((self.header, *self.rows))


def audio_select(
    table: StrPath,
    *,
    review: StrPath | None = None,
    count: int | None = None,
    balance: Annotated[Sequence[str], "COLUMN"] = (),
    numbers: Annotated[Sequence[str], "COLUMN"] = (),
    panels: int = 1,
    shares: Shares = "proportional",
    unreviewed: Unreviewed = "fail",
    seed: int = 0,
) -> SelectedClips:
    """Select clips of a table: without those that a review dropped, and balanced over covariates.

    Parameters
    ----------
    table
        Clip table (CSV), such as ``clips.csv`` of ``audio_clips``.
    review
        Decisions exported from the review page (review.csv).
    count
        Number of clips to select. By default all that are kept.
    balance
        Categorical columns in which the selection resembles all clips.
    numbers
        Numeric columns whose means the selection keeps, such as snr.
    panels
        Number of equivalent panels of listeners into which the selection can be divided.
    shares
        Categories: ``proportional`` to the clips that are kept, or as ``equal`` as possible.
    unreviewed
        Clips without a decision: ``fail``, ``keep`` or ``drop`` them.
    seed

    Returns
    -------
    SelectedClips
        The rows of the selected clips, and how many were dropped and why.

    Raises
    ------
    InputError
        If the table or the review has problems.
    UsageError
        If an argument is invalid, or too few clips are left.

    Examples
    --------
    >>> chosen = audio_select("table.csv", count=4, balance=["place"], unreviewed="keep")
    >>> sorted(row[2] for row in chosen.rows)
    ['indoors', 'indoors', 'outdoors', 'outdoors']
    """
    if count is None and (balance or numbers or panels != 1):
        raise UsageError("balance, numbers and panels need the number of clips — set count")
    content, names = _read_clip_table(Path(table))
    decisions: dict[str, tuple[str, str]] = {}
    if review is not None:
        decisions, problems = read_review(Path(review), names)
        refuse_problems(problems, "selected")
    open_clips = [name for name in names if name not in decisions]
    if review is None and unreviewed == "fail":
        raise UsageError("no review is given — give --review, or keep all clips: --unreviewed keep")
    if open_clips and unreviewed == "fail":
        message = f"{len(open_clips):,} of {len(names):,} clips are not reviewed, such as"
        raise UsageError(
            f'{message} "{open_clips[0]}" — finish the review, or keep or drop them (unreviewed)'
        )
    kept = [
        index
        for index, name in enumerate(names)
        if decisions.get(name, (unreviewed, ""))[0] == "keep"
    ]
    if not kept:
        raise UsageError(f"{table}: no clip is left — the review dropped all of them")
    rows = [row for _, row in content.rows]
    selection = None
    if count is not None:
        values = check_balance_columns([rows[index] for index in kept], balance, numbers)
        selection = select_clips(
            values,
            count,
            balance=balance,
            numbers=numbers,
            panels=panels,
            shares=shares,
            seed=seed,
        )
        kept = [kept[place] for place in selection.chosen]
    columns = tuple(content.columns or ())
    reasons = Counter(
        reason or NO_REASON for decision, reason in decisions.values() if decision == "drop"
    )
    return SelectedClips(
        columns,
        tuple(tuple(rows[index][column] for column in columns) for index in kept),
        len(names),
        dict(reasons.most_common()),
        len(open_clips),
        selection,
    )


def _read_clip_table(path: Path) -> tuple[RowTable, list[str]]:
    """Return the rows of a clip table, and the names of its clips."""
    if path.is_dir():
        raise UsageError(f"{path}: is a folder — give the clips.csv in it")
    if path.suffix == ".jsonl":
        raise UsageError(f"{path}: clips can be selected from CSV only")
    material = read_clips(path, None)
    refuse_problems(material.problems, "selected")
    return read_row_table(path), [clip.name for clip in material.clips]


def selection_report(selected: SelectedClips) -> Report:
    """Return the report on a selection: dropped clips by reason, and the balance."""
    rows = [(f"dropped: {reason}", str(count)) for reason, count in selected.dropped.items()]
    rows += [("not reviewed", str(selected.unreviewed))] if selected.unreviewed else []
    rows = [("all", str(selected.total)), *rows, ("selected", str(len(selected.rows)))]
    about = f"{len(selected.rows):,} of {selected.total:,} clips are selected."
    parts = (Table("clips", ("clips", "number"), tuple(rows)),)
    sections = [Section("Clips", parts, about)]
    if selected.selection is not None and selected.selection.margins:
        text = "Dropped clips are not in this table." if selected.dropped else ""
        sections.append(Section("Balance", (selected.selection.table(),), text))
    return Report("Selection of clips", about, (), tuple(sections), ())
