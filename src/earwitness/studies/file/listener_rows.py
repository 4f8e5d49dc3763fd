"""Playlists per listener as CSV or JSON rows (UDASE layout), read and written.

A folder has `csv/*.csv`, `json/*.json`, or either directly in it; the number in a file name is the
listener's number. A row is `subset,session,file,scale`; session 0 comes first and its ratings are
not counted. Adjacent rows of the same file are one trial; trials run in the order of the rows.
Audio files of the same trial share a row, separated by ` | `. A leading row index is ignored, and
so are folders before the path that the study has, such as `data/` in `data/C1/a.wav`. JSON may
start with the name of a variable and end with a row for the end of the experiment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, product
from pathlib import Path
from typing import Any

from earwitness.core import load_json
from earwitness.errors import Problem, file_problem, nearest
from earwitness.io.schema import Fault, show, whole_number
from earwitness.io.source import is_present
from earwitness.io.tables import read_row_table
from earwitness.ratings.names import DEFAULT_SOUND_PATTERN
from earwitness.report.columns import TableRows
from earwitness.report.result import record_table
from earwitness.studies.file.material import read_clips
from earwitness.studies.study import Design, ListenerPlan, Session, Study, Trial
from earwitness.studies.trials import block_kind, study_kinds
from earwitness.studies.trials.base import TrialKind
from earwitness.studies.wording import wording

PLAYLIST_COLUMNS = ("subset", "session", "file", "scale")
END_COLUMN = "end_experiment"  # "true" in a last row without an audio file
VARIABLE_NAME = re.compile(r"\s*\w+\s*=\s*(?=\[)")
SUGGESTED_FILES = 20  # unknown files for which a known one is searched
FILE_SEPARATOR = " | "
Row = dict[str, Any]


# --- Rows from a plan ----------------------------------------------------------------------------


def playlist_rows(study: Study, plan: ListenerPlan) -> list[Row]:
    """Return the playlist of a listener, one row per rating.

    Audio files of the same trial share a row. If captions are judged, rows also name their systems
    in the order of the page.
    """
    before = [plan.training + plan.anchors] if plan.training or plan.anchors else []
    first, kinds = 0 if before else 1, study_kinds(study)
    rows = []
    for number, session in enumerate([*before, *plan.sessions], first):
        for trial in session:
            heard = _heard_systems(study, trial, kinds[trial.block])
            file = FILE_SEPARATOR.join([study.file(trial.item, system) for system in heard])
            kind, shown = kinds[trial.block], FILE_SEPARATOR.join(trial.systems)
            whose = {"captions": shown} if kind.captioned else {}
            if kind.transcribed:
                file, whose = file if heard else trial.item, {"summaries": shown}
            for scale in trial.scales:
                row = {"subset": plan.panel, "session": number, "file": file, "scale": scale}
                rows.append(row | whose)
    return rows


def _heard_systems(study: Study, trial: Trial, kind: TrialKind) -> Sequence[str]:
    """Return systems in the order they are heard, X again at the end, without an open reference."""
    if kind.transcribed:
        return trial.systems[: len(kind.presented(trial, wording("en"), study.reference))]
    if len(trial.systems) == 1 or kind.captioned:
        return trial.systems[:1]
    shown = kind.presented(trial, wording("en"), study.reference)
    return [system for system, _ in shown[int(kind.open_reference) :]]


def design_tables(design: Design) -> dict[str, TableRows]:
    """Return the table ``playlists``: one row per listener and rating."""
    rows = [
        {"listener": plan.listener, **row}
        for plan in design.plans
        for row in playlist_rows(design.study, plan)
    ]
    return {"playlists": record_table(rows)}


# --- Plans from rows -----------------------------------------------------------------------------


@dataclass(frozen=True)
class PlaylistVocabulary:
    """Names that rows may use: items and systems by file, and blocks by scale."""

    study: Study
    files: Mapping[str, tuple[str, str]]
    blocks: Mapping[str, int]
    folded_files: Mapping[str, str | None] = field(default_factory=dict)
    unknown_files: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, study: Study) -> PlaylistVocabulary:
        """Return the vocabulary of a study."""
        files: dict[str, tuple[str, str]] = {}
        for block in study.blocks:
            names = (*block.systems, *block_kind(block).extra(study.reference))
            for clip, system in product(study.material, names):
                files[study.file(clip.name, system)] = clip.name, system
                files.setdefault(
                    DEFAULT_SOUND_PATTERN.format(item=clip.name, system=system), (clip.name, system)
                )
        anchors = study.anchor_system
        files |= {study.file(clip.name, anchors): (clip.name, anchors) for clip in study.anchors}
        scales = {
            scale.name: number
            for number, block in enumerate(study.blocks)
            for scale in block_kind(block).scales
        }
        folded: dict[str, str | None] = {}
        for file in files:
            folded[file.casefold()] = None if file.casefold() in folded else file
        return cls(study, files, scales, folded)

    def find_file(self, file: str) -> str:
        """Return the file of the study that a row names, or an empty string.

        Leading folders may differ, and so may the case if this is not ambiguous.
        """
        parts = file.replace("\\", "/").split("/")
        for start in range(max(len(parts) - 1, 1)):
            path = "/".join(parts[start:])
            if path in self.files:
                return path
            if found := self.folded_files.get(path.casefold()):
                return found
        return ""

    def suggest_file(self, file: str) -> str:
        """Return the remedy for an unknown file; only the first ones are searched for."""
        if file not in self.unknown_files:
            is_searched = len(self.unknown_files) < SUGGESTED_FILES
            self.unknown_files[file] = nearest(file, self.files) if is_searched else ""
        return self.unknown_files[file]

    def sounds(self, scale: str, session: int) -> list[int]:
        """Return the possible numbers of audio files in a row of a scale; session 0 is practice."""
        block = self.study.blocks[self.blocks[scale]]
        kind = block_kind(block)
        first = kind.treatments(block.systems[: block.heard], self.study.reference)[0]
        trials = [Trial("", first, ())]
        practice = kind.practice_trials(trials) if session == 0 else []
        return [len(trial.systems) + kind.unknown for trial in (*trials, *practice)]

    def trial(self, row: Row) -> Trial:
        """Return the trial that a row describes."""
        heard = [self.files[self.find_file(file)] for file in row["file"].split(FILE_SEPARATOR)]
        item, systems = heard[0][0], tuple(system for _, system in heard)
        if systems == (self.study.anchor_system,):
            return Trial(item, systems, (row["scale"],))
        number = self.blocks[row["scale"]]
        block = self.study.blocks[number]
        trial = block_kind(block).trial_as_heard(item, systems, block.systems, self.study.reference)
        return replace(trial, scales=(row["scale"],), block=number)


def read_playlists(
    folder: Path, vocabulary: PlaylistVocabulary
) -> tuple[list[ListenerPlan], list[Problem]]:
    """Return the plans of all listeners in a folder, and the problems of its files."""
    plans, problems = list[ListenerPlan](), list[Problem]()
    for listener, path in sorted(_listener_files(folder, problems).items()):
        before = len(problems)
        rows = list(_read_rows(path, problems))
        problems += _contradiction_problems(path, [row for _, row in rows])
        if not rows and len(problems) == before:
            problems.append(Problem(str(path), 1, "", "has no rows"))
        faults = [
            Problem(str(path), line, *fault)
            for line, row in rows
            for fault in _row_faults(row, vocabulary)
        ]
        problems += faults or list(_order_problems(path, rows))
        if len(problems) == before:
            plans.append(_build_plan(listener, [row for _, row in rows], vocabulary))
    panels = [] if problems else sorted({plan.panel for plan in plans})
    missing = [number for number, panel in enumerate(panels, 1) if number != panel][:1]
    for number in missing:
        problems.append(Problem(str(folder), 0, "subset", f"no listener hears subset {number}"))
    problems += [problem for plan in plans for problem in _subset_problems(folder, plan)]
    return plans, problems


def _contradiction_problems(path: Path, rows: list[Row]) -> list[Problem]:
    """Return a problem if the JSON file of the same listener differs from this table."""
    problems: list[Problem] = []
    for other in (path.with_suffix(".json"), path.parents[1] / "json" / f"{path.stem}.json"):
        if path.suffix != ".csv" or not other.is_file():
            continue
        if [row for _, row in _read_rows(other, problems)] != rows and not problems:
            problems.append(file_problem(other, f"differs from {path.name}"))
    return problems


def _subset_problems(folder: Path, plan: ListenerPlan) -> Iterator[Problem]:
    """Yield a problem for each clip a listener hears that the table of the subset lacks."""
    table = folder / f"samples_subset_{plan.panel}.csv"
    if not table.is_file():
        return
    subset = read_clips(table, None)
    yield from subset.problems
    names = {clip.name for clip in subset.clips}
    heard = dict.fromkeys(trial.item for session in plan.sessions for trial in session)
    for item in heard if not subset.problems else ():
        if item not in names:
            message = f'listener {plan.listener} hears "{item}", which is not in the subset'
            yield Problem(str(table), 0, "name", message)


def _listener_files(folder: Path, problems: list[Problem]) -> dict[int, Path]:
    """Return files by the number in their names; CSV before JSON, subfolders before the folder."""
    paths: dict[int, Path] = {}
    for pattern in ("csv/*.csv", "json/*.json", "*.csv", "*.json"):
        for path in sorted(folder.glob(pattern)) if is_present(folder, Path.is_dir) else ():
            if path.stem.startswith("samples"):
                continue
            numbers = re.findall(r"[0-9]+", path.stem)
            if len(numbers) != 1:
                message = "file name must contain exactly one number"
                problems.append(
                    file_problem(path, message, "name it by listener, such as subject_1.csv")
                )
            elif int(numbers[0]) in paths:
                message = f"same listener as {paths[int(numbers[0])].name}"
                problems.append(file_problem(path, message))
            else:
                paths[int(numbers[0])] = path
        if paths or problems:
            break
    if not paths and not problems:
        message = "contains no .csv or .json file of a listener"
        problems.append(file_problem(folder, message))
    return paths


def _read_rows(path: Path, problems: list[Problem]) -> Iterator[tuple[int, Row]]:
    if path.suffix != ".json":
        table = read_row_table(path)
        problems += table.problems
        for line, row in table.rows:
            for key in {"subset", "session"} & row.keys():
                if (number := whole_number(row[key] or "")) >= 0:
                    row[key] = number
            yield line, row
        return
    try:
        rows = load_json(VARIABLE_NAME.sub("", path.read_text(encoding="utf-8-sig"), count=1))
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ValueError("must be a list of rows")
        for number, row in enumerate(rows, 1):
            is_end = row.pop(END_COLUMN, "false") == "true"
            if not is_end:
                yield number, row
    except (OSError, ValueError) as error:
        problems.append(file_problem(path, f"cannot be read: {error}"))


def _row_faults(row: Row, vocabulary: PlaylistVocabulary) -> Iterator[Fault]:
    if set(row) != set(PLAYLIST_COLUMNS) or None in row.values():
        yield Fault("", f"needs the columns {', '.join(PLAYLIST_COLUMNS)}")
        return
    for key, least in (("subset", 1), ("session", 0)):
        value = row[key]
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            yield Fault(key, f"must be a whole number of at least {least}, got {show(value)}")
    if row["scale"] not in vocabulary.blocks:
        message = f"unknown scale {show(row['scale'])}"
        yield Fault("scale", message, nearest(str(row["scale"]), vocabulary.blocks))
    if not isinstance(row["file"], str):
        yield Fault("file", f"must be text, got {show(row['file'])}")
    else:
        yield from _file_faults(row, vocabulary)


def _file_faults(row: Row, vocabulary: PlaylistVocabulary) -> Iterator[Fault]:
    files = row["file"].split(FILE_SEPARATOR)
    found = [vocabulary.find_file(file) for file in files]
    for file, path in zip(files, found, strict=True):
        if not path:
            message = f"{show(file)} is not part of the study"
            yield Fault("file", message, vocabulary.suggest_file(file))
    heard = [vocabulary.files[path] for path in found if path]
    if len({item for item, _ in heard}) > 1:
        yield Fault("file", "a row must not mix audio files of several clips")
    anchors = vocabulary.study.anchor_system
    for _, system in heard:
        if anchors and system == anchors and row["session"] != 0:
            yield Fault("file", "anchors must be in session 0")
    systems = tuple(system for _, system in heard)
    if len(heard) == len(files) and row["scale"] in vocabulary.blocks and systems != (anchors,):
        wanted = vocabulary.sounds(row["scale"], row["session"])
        if len(systems) not in wanted:
            message = f"needs {wanted[0]} audio files per row, got {len(systems)}"
            yield Fault("file", f"{row['scale']} {message}")


def _order_problems(path: Path, rows: list[tuple[int, Row]]) -> Iterator[Problem]:
    """Yield problems of sessions not numbered 1, 2, … and of listeners in two panels."""
    wanted = 0 if rows and rows[0][1]["session"] == 0 else 1
    for number, session_rows in groupby(rows, key=lambda numbered_row: numbered_row[1]["session"]):
        line = next(session_rows)[0]
        if number != wanted:
            message = f"got session {number}, expected session {wanted}"
            yield Problem(
                str(path), line, "session", message, "number sessions 1, 2, … (0: anchors)"
            )
            return
        wanted += 1
    if wanted == 1 and rows:
        yield Problem(str(path), rows[-1][0], "session", "session 1 is missing")
    for line, row in rows:
        if row["subset"] != rows[0][1]["subset"]:
            message = f"got subset {row['subset']}, but earlier rows have {rows[0][1]['subset']}"
            yield Problem(str(path), line, "subset", message)


def _build_plan(listener: int, rows: Sequence[Row], vocabulary: PlaylistVocabulary) -> ListenerPlan:
    sessions: dict[int, list[Trial]] = {}
    last = (list[str](), -1)
    for row in rows:
        trials = sessions.setdefault(row["session"], [])
        files = [vocabulary.find_file(file) for file in row["file"].split(FILE_SEPARATOR)]
        current = files, row["session"]
        if trials and current == last and row["scale"] not in trials[-1].scales:
            trials[-1] = replace(trials[-1], scales=(*trials[-1].scales, row["scale"]))
        else:
            trials.append(vocabulary.trial(row))
        last = current
    before = sessions.pop(0, [])
    anchors = vocabulary.study.anchor_system
    kept = tuple(tuple(trials) for trials in sessions.values())
    return ListenerPlan(
        listener,
        rows[0]["subset"],
        kept,
        _select_trials(before, anchors, there=False),
        _select_trials(before, anchors, there=True),
    )


def _select_trials(trials: Sequence[Trial], anchors: str, *, there: bool) -> Session:
    return tuple(trial for trial in trials if (trial.systems == (anchors,)) == there)
