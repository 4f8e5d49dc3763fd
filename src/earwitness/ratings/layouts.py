"""Layouts of rating tables that other tools for listening tests write, and how they are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from earwitness.errors import UsageError
from earwitness.io.schema import Fault, show
from earwitness.io.tables import BadCell, CsvTable, InputTable, TableFaults
from earwitness.ratings.columns import (
    AUTO_LAYOUT,
    HEADER_LINE,
    LONG_TABLE_ROLES,
    MATRIX_LAYOUT,
    ONLY_SYSTEM,
    PLAIN_LAYOUT,
    SAMPLE_COLUMNS,
    TRANSPOSED_LAYOUT,
    UNDEFINED_WORDS,
    ColumnOptions,
    read_column,
    read_plain_numbers,
    refuse_header,
    tell_cells,
)
from earwitness.ratings.names import (
    AUDIO_ENDING,
    DEFAULT_SOUND_PATTERN,
    Pattern,
    infer_patterns,
)
from earwitness.task import Filter

# --- Layouts by their columns --------------------------------------------------------------------
# A layout is recognized by its columns, in any case. It names the columns of roles, and constants
# for roles without a column; options of the user replace both. Tables with several ratings per row
# are reshaped to one rating per row.


SHOWN_VALUES = 10  # of a column that a condition excludes
Reading = tuple[InputTable, ColumnOptions]  # a table, and the options for reading it


@dataclass(frozen=True)
class ToolLayout:
    """Layout of the tables of a tool.

    ``marks`` are the columns by which it is recognized, unless the table has one that it ``lacks``.
    ``sample`` is the column of file names, and ``reshape`` converts the table if options for
    columns are not enough.
    """

    name: str
    marks: tuple[str, ...]
    columns: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    sample: str = ""
    pattern: str = ""
    lacks: tuple[str, ...] = ()
    reshape: Callable[[InputTable, ColumnOptions], Reading] | None = None


def recognize_layout(table: InputTable, options: ColumnOptions) -> Reading:
    """Return a table and options for reading it, if its layout is that of another tool.

    The name of the layout is noted, and is part of the message if the table cannot be read.
    """
    if options.layout == PLAIN_LAYOUT:
        return table, options
    if not table.has_header or options.layout == TRANSPOSED_LAYOUT:
        return _read_numbers(table, options)
    if options.layout == MATRIX_LAYOUT:
        return _read_matrix(table, _match_synonyms(table, options), _free_columns(table, options))
    if table.wrong.read_as == BEAQLEJS_NAME:  # unfolded from a document
        table.notes.append(f"the file is read as {BEAQLEJS_NAME}")
        return _name_scale(table, options, "BASIC")
    if _is_bvcc(table):
        return _read_bvcc(table, options)
    written = {name.casefold(): name for name in reversed(table.names)}
    for layout in TOOL_LAYOUTS:
        if {*layout.marks} <= {*written} and not {*layout.lacks} & {*written}:
            return _apply_layout(layout, table, options, written)
    options = _match_synonyms(table, options)
    listeners = _listener_columns(table, options)
    return _read_matrix(table, options, listeners) if listeners else (table, options)


def _apply_layout(
    layout: ToolLayout, table: InputTable, options: ColumnOptions, written: Mapping[str, str]
) -> Reading:
    _name_layout(table, layout.name)
    named = {*options.columns.values(), *options.apart, options.column}
    for mark in {*layout.marks, *layout.columns.values(), layout.sample} - {*table.names}:
        if mark in written and written[mark] not in named:
            table.rename(written[mark], mark)
    said = {*options.said, *_places(options)}
    said |= {*LONG_TABLE_ROLES} if options.scales else set()
    columns = {
        role: name
        for role, name in layout.columns.items()
        if name in table.names and role not in said
    }
    options = replace(
        options,
        columns={**columns, **options.columns},
        constants={
            **{role: text for role, text in layout.constants.items() if role not in said},
            **options.constants,
        },
        aliases={**layout.aliases, **options.aliases},
        column=options.column or layout.sample,
        pattern=options.pattern or layout.pattern,
        ignored=tuple(table.names),
    )
    table, options = layout.reshape(table, options) if layout.reshape else (table, options)
    return table, find_pattern(table, options) if options.column else options


def find_pattern(table: InputTable, options: ColumnOptions) -> ColumnOptions:
    """Return options with the pattern of the column of file names, if one fits all names."""
    said, column, system = options.said, options.column, options.name_of("system")
    is_known = options.pattern or "system" in options.constants
    if is_known or "item" in {*said, *table.names} or column not in table.names:
        return options
    names = [str(cell) for cell in table.cells(column)]
    systems = [str(cell) for cell in table.cells(system)] if system in table.names else []
    patterns = infer_patterns(names, systems, options.known_names.names("system"))
    if not patterns or (patterns == [DEFAULT_SOUND_PATTERN] and not systems):
        return options
    flag = "--score-pattern" if options.words.undefined else "--pattern"
    if len(patterns) > 1:
        ways = " or ".join(f"{flag} '{pattern}'" for pattern in patterns)
        message = f"{len(patterns)} patterns fit these names, such as {show(names[0])}"
        refuse_header(table, column, message, f"use {ways}")
    note = f"column {show(column)} is read with the pattern {patterns[0]}"
    table.notes.append(f"{note}; use {flag} to change this")
    if systems:  # they are those of the pattern
        columns = {**options.columns, "system": ""}
        options = replace(options, columns=columns, apart=(*options.apart, system))
    return replace(options, pattern=patterns[0])


def filter_rows(table: InputTable, where: Filter) -> InputTable:
    """Return the rows of a table for which all conditions on its columns hold."""
    for condition in where.conditions:
        if condition.field not in table.names:
            continue
        cells = _texts(table, condition.field)
        kept = [place for place, cell in enumerate(cells) if cell and condition.holds(cell)]
        told = f"{''.join(condition)} holds for {len(kept):,} of {len(cells):,} rows"
        if not kept:
            values = ", ".join(map(show, sorted({*cells} - {""})[:SHOWN_VALUES]))
            raise UsageError(f"where: {told} — values of {condition.field} are {values}")
        table.notes.append(f"{told}, which are kept")
        table = table.select(kept)
    return table


def join_columns(table: InputTable, options: ColumnOptions) -> Reading:
    """Return a table with a column for each role that has several columns, such as ``a,b``.

    Cells of these columns are joined by a slash; the columns themselves are not read.
    """
    for role, text in options.columns.items():
        parts = [part.strip() for part in text.split(",")]
        if len(parts) == 1 or text in table.names or not {*parts} <= {*table.names}:
            continue
        if role not in ("item", "system", "listener"):
            raise UsageError(f"columns: {role} must be one column, got {text}")
        cells = zip(*(_texts(table, part) for part in parts), strict=True)
        rows = enumerate((" / ".join(row),) for row in cells)
        joined = _long_table(table, [text], rows)
        joined.signature = table.signature
        table, options = joined, replace(options, apart=(*options.apart, *parts))
    return table, options


def accept_means(table: InputTable, options: ColumnOptions) -> ColumnOptions:
    """Return the options for a table of means, if it may be one."""
    if options.means is not None:
        return options
    remedy = "use --column listener=NAME if a column has listeners"
    table.notes.append(
        f"no column has listeners, so ratings are read as means over listeners, which intervals do "
        f"not cover; {remedy}"
    )
    return replace(options, means=True)


def _name_layout(table: InputTable, name: str) -> None:
    table.wrong.read_as = name
    table.notes.append(f"the table is read as {name}; use --layout {PLAIN_LAYOUT} to change this")


def _places(options: ColumnOptions) -> list[str]:
    return Pattern(options.pattern).places if options.pattern else []


def _texts(table: InputTable, name: str) -> list[str]:
    """Return the cells of a column as text; JSON values that are no names are written out."""
    cells = table.cells(name)
    if any(isinstance(cell, BadCell) for cell in cells):
        cells = table.cells(name, numbers=True)
    return [cell.shown if isinstance(cell, BadCell) else str(cell) for cell in cells]


def _long_table(
    table: InputTable, names: Sequence[str], rows: Iterable[tuple[int, tuple[str, ...]]]
) -> CsvTable:
    """Return a table of other rows, each with the number of its row in the table.

    All other columns of the table are kept.
    """
    others = [name for name in table.names if name and name not in names]
    kept = [_texts(table, name) for name in others]
    numbered = list(rows)
    cells = [(*row, *(column[number] for column in kept)) for number, row in numbered]
    lines = [table.lines[number] for number, _ in numbered]
    return CsvTable(
        table.wrong, [*names, *others], lines, comma=table.comma, notes=table.notes, rows=cells
    )


def _name_scale(table: InputTable, options: ColumnOptions, scale: str) -> Reading:
    if "scale" in {*options.said, *table.names}:
        return table, options
    table.notes.append(f"the scale is called {scale}; use --constant scale=NAME to change this")
    return table, replace(options, constants={**options.constants, "scale": scale})


# --- Results of webMUSHRA and pymushra -----------------------------------------------------------
# Columns are those of webMUSHRA's service/write.php. Answers to the questionnaire are between
# session_test_id and session_uuid, which older versions do not write.


def _choose_listener(table: InputTable, options: ColumnOptions) -> Reading:
    """Use the only column of the questionnaire as listener if there is no session_uuid."""
    names = [name.casefold() for name in table.names]
    if "listener" in options.said or "session_test_id" not in names:
        return table, options
    asked = table.names[names.index("session_test_id") + 1 : names.index("trial_id")]
    if len(asked) == 1:
        return table, replace(options, columns={**options.columns, "listener": asked[0]})
    refuse_header(
        table,
        "listener",
        "this version of webMUSHRA wrote no session_uuid",
        f"use --column listener=NAME with a column of the questionnaire: "
        f"{', '.join(map(show, asked)) or 'none found'}",
    )
    return table, options


def _split_bs1116(table: InputTable, options: ColumnOptions) -> Reading:
    """Return the ratings of the hidden reference and of the object in separate rows."""
    table, options = _choose_listener(table, options)
    sides = [
        zip(_texts(table, side), _texts(table, f"{side}_score"), strict=True)
        for side in ("rating_reference", "rating_non_reference")
    ]
    pairs = enumerate(zip(*sides, strict=True))
    rows = [(number, rating) for number, ratings in pairs for rating in ratings]
    return _long_table(table, ["system", "value"], rows), options


CHOICE_VALUES = {"correct": "-1", "incorrect": "1", "undecided": "0", "unknown": ""}


def _read_choices(table: InputTable, options: ColumnOptions) -> Reading:
    """Return choices as numbers: −1 if the reference was chosen, 1 if the other was.

    The scale is that of the kind to which ``study import`` converts the page.
    """
    table, options = _choose_listener(table, options)
    answers = _texts(table, "choice_answer")
    message = f"must be {', '.join(CHOICE_VALUES)}, got "
    unknown = {*answers} - {*CHOICE_VALUES}
    faults = {answer: Fault("choice_answer", message + show(answer)) for answer in unknown}
    tell_cells(table, answers, faults)
    table.wrong.refuse()
    rows = [(number, (CHOICE_VALUES[answer],)) for number, answer in enumerate(answers)]
    scale = "PREFERENCE" if "undecided" in answers else "BETTER"
    return _name_scale(_long_table(table, ["value"], rows), options, scale)


def _keep_mushra_rows(table: InputTable, options: ColumnOptions) -> Reading:
    """Return the rows of MUSHRA trials of pymushra results, which may have trials of any type."""
    if "wm_type" not in table.names:
        return table, options
    types = _texts(table, "wm_type")
    others = sorted({*types} - {"mushra"})
    if not others:
        return table, options
    if "mushra" not in types:
        message = f"only MUSHRA trials are read, found {', '.join(map(show, others))}"
        refuse_header(table, "wm_type", message)
    table.notes.append(f"trials of other types are ignored: {', '.join(map(show, others))}")
    rows = [(number, ()) for number, kind in enumerate(types) if kind == "mushra"]
    return _long_table(table, [], rows), options


def _read_likert_scales(table: InputTable, options: ColumnOptions) -> Reading:
    """Read several Likert scales per stimulus, one per column."""
    table, options = _choose_listener(table, options)
    scales = [name for name in table.names if re.fullmatch(r"stimuli_rating\d+", name)]
    return table, replace(options, scales=options.scales or tuple(scales))


WEBMUSHRA_TRIAL = {"item": "trial_id", "listener": "session_uuid"}


# --- Results of the P.808 toolkit ----------------------------------------------------------------
# Columns are those of src/result_parser.py. Columns of the condition pattern may follow.


P808_SCALES = {f"MOS_{name}": name for name in ("SIG", "BAK", "OVRL")}


def _read_p808_means(table: InputTable, options: ColumnOptions) -> Reading:
    """Read means per clip; votes in the columns vote_1, vote_2, … do not name workers."""
    options = accept_means(table, options)
    if not options.means:
        message = "votes per clip do not name the workers"
        remedy = (
            "use the file ..._all_votes_per_clip.csv, or --layout means to analyse means over clips"
        )
        refuse_header(table, "listener", message, remedy)
    scales = [name for name in table.names if re.fullmatch(r"(MOS|DMOS|CMOS)(_\w+)?", name)]
    sample = "short_file_name" if "short_file_name" in table.names else "file_url"
    pattern = options.pattern
    if pattern and "/" not in pattern and sample == "file_url":
        pattern = f"*/{pattern}"
    scales = scales if not options.scales else list(options.scales)
    return table, replace(
        options, scales=tuple(scales), column=options.column or sample, pattern=pattern
    )


def _refuse_conditions(table: InputTable, options: ColumnOptions) -> Reading:
    message = "votes per condition have no clips, over which intervals could be computed"
    refuse_header(table, "item", message, "use the file ..._all_votes_per_clip.csv")
    return table, options


TOOL_LAYOUTS = (
    ToolLayout(
        "results of webMUSHRA (mushra.csv)",
        ("trial_id", "rating_stimulus", "rating_score"),
        {**WEBMUSHRA_TRIAL, "system": "rating_stimulus", "value": "rating_score"},
        {"scale": "BASIC"},
        reshape=_choose_listener,
    ),
    ToolLayout(
        "results of webMUSHRA (bs1116.csv)",
        ("trial_id", "rating_reference", "rating_reference_score", "rating_non_reference_score"),
        WEBMUSHRA_TRIAL,
        {"scale": "IMPAIRMENT"},
        reshape=_split_bs1116,
    ),
    ToolLayout(
        "results of webMUSHRA (paired_comparison.csv)",
        ("trial_id", "choice_reference", "choice_non_reference", "choice_answer"),
        {**WEBMUSHRA_TRIAL, "system": "choice_non_reference", "against": "choice_reference"},
        reshape=_read_choices,
    ),
    ToolLayout(
        "results of webMUSHRA (lss.csv or lms.csv)",
        ("trial_id", "stimuli", "stimuli_rating"),
        {**WEBMUSHRA_TRIAL, "system": "stimuli", "value": "stimuli_rating"},
        {"scale": "LIKERT"},
        reshape=_choose_listener,
    ),
    ToolLayout(
        "results of webMUSHRA (lss.csv)",
        ("trial_id", "stimuli", "stimuli_rating1"),
        {**WEBMUSHRA_TRIAL, "system": "stimuli"},
        reshape=_read_likert_scales,
    ),
    ToolLayout(
        "results of pymushra",
        ("wm_id", "responses_stimulus", "responses_score", "questionaire_uuid"),
        {
            "item": "wm_id",
            "system": "responses_stimulus",
            "listener": "questionaire_uuid",
            "value": "responses_score",
        },
        {"scale": "BASIC"},
        reshape=_keep_mushra_rows,
    ),
    ToolLayout(
        "votes of the P.808 toolkit",
        ("workerid", "short_file_name", "vote", "question_type"),
        {"listener": "workerid", "scale": "question_type", "value": "vote"},
        aliases=P808_SCALES,
        sample="short_file_name",
    ),
    ToolLayout(
        "means per clip of the P.808 toolkit",
        ("file_url", "n"),
        aliases=P808_SCALES,
        lacks=("listener",),
        reshape=_read_p808_means,
    ),
    ToolLayout(
        "means per condition of the P.808 toolkit",
        ("condition_name", "n"),
        lacks=("listener", "item"),
        reshape=_refuse_conditions,
    ),
    ToolLayout(
        "ratings of SHEET",
        ("wav_path", "score", "system_id", "sample_id", "listener_id"),
        {
            "item": "sample_id",
            "system": "system_id",
            "listener": "listener_id",
            "value": "score",
        },
        {"scale": "MOS"},
    ),
    ToolLayout(
        "ratings of SOMOS",
        ("systemid", "utteranceid", "choice", "listenerid"),
        {"system": "systemid", "listener": "listenerid", "value": "choice"},
        {"scale": "MOS"},
        sample="utteranceid",
        pattern="{item}_*.wav",
    ),
    ToolLayout(
        "means of SOMOS",
        ("utteranceid", "mean"),
        {"value": "mean"},
        {"scale": "MOS"},
        sample="utteranceid",
        pattern="{item}_{system}.wav",
        lacks=("listenerid",),
    ),
)


# --- Ratings of the VoiceMOS Challenge (BVCC) ----------------------------------------------------
# The files TRAINSET, DEVSET and TESTSET have no column names: system, file, rating, an ignored
# field, and {}_AGERANGE_LISTENERID_GENDER_… . Lists of means have a file and its mean.


BVCC_FILE = re.compile(r"sys\w+-utt\w+\.wav")
BVCC_PATTERN = "{system}-{item}.wav"
BVCC_COLUMNS = ("", "sample", "value", "", "listener")
BVCC_MEAN_COLUMNS = ("sample", "MOS")


def _is_bvcc(table: InputTable) -> bool:
    """Return whether the first line is a row of BVCC instead of column names."""
    names = table.names
    if len(names) == len(BVCC_MEAN_COLUMNS):
        return bool(BVCC_FILE.fullmatch(names[0])) and read_plain_numbers(names[1:]) is not None
    return len(names) == len(BVCC_COLUMNS) and bool(BVCC_FILE.fullmatch(names[1]))


def _read_bvcc(table: InputTable, options: ColumnOptions) -> Reading:
    is_list = len(table.names) == len(BVCC_MEAN_COLUMNS)
    _name_layout(table, f"ratings of the VoiceMOS Challenge ({'means' if is_list else 'BVCC'})")
    columns = [[name, *_texts(table, name)] for name in table.names]
    options = accept_means(table, options) if is_list else options
    if is_list and not options.means:
        message = "the list has means over listeners"
        refuse_header(table, "listener", message, "use --layout means, or the file TRAINSET")
    if not is_list:
        parts = [cell.split("_") for cell in columns[-1]]
        columns[-1] = [
            names[2] if len(names) > 3 and names[0] == "{}" else "_".join(names) for names in parts
        ]
    names = [*(BVCC_MEAN_COLUMNS if is_list else BVCC_COLUMNS)]
    rows = list(zip(*columns, strict=True))
    lines = [HEADER_LINE, *table.lines]
    whole = CsvTable(table.wrong, names, lines, notes=table.notes, rows=rows)
    constants = {} if is_list or options.scales else {"scale": "MOS"}
    return whole, replace(
        options,
        pattern=options.pattern or BVCC_PATTERN,
        column=options.column or "sample",
        constants={**constants, **options.constants},
    )


# --- Columns by other names ----------------------------------------------------------------------
# A column is read for a role if it is the only one with another usual name of the role.


ROLE_SYNONYMS = {
    "item": ("item_id", "record", "record_id", "record id", "clip", "clip_id", "utterance"),
    "listener": ("listener_id", "listenerid", "subject", "rater", "worker", "workerid"),
    "system": ("condition", "system_id", "systemid", "model"),
    "value": ("rating", "score", "vote"),
}
SAMPLE_SYNONYMS = ("wav", "wav_path", "wavfile", "filename", "file_name", "path", "audio_path")


def _match_synonyms(table: InputTable, options: ColumnOptions) -> ColumnOptions:
    """Return options with columns that have other usual names, each with a note."""
    said = {*options.said, *_places(options)}
    said |= {"listener"} if options.means else set()
    found: dict[str, str] = {}
    for role, names in ROLE_SYNONYMS.items():
        if role in said or role in table.names:
            continue
        if role == "item" and _only_column(table, (*SAMPLE_COLUMNS, *SAMPLE_SYNONYMS)):
            continue  # items are found in file names
        if role == "value" and "scale" not in {*table.names, *said}:
            continue  # the column itself is the scale
        if column := _only_column(table, names):
            found[role] = column
            table.notes.append(f"column {show(column)} is read as {role}")
    options = replace(options, columns={**found, **options.columns})
    return match_samples(table, options)


def match_samples(table: InputTable, options: ColumnOptions) -> ColumnOptions:
    """Return options for a column of file names: items if systems have their own column."""
    said = {*options.said, *_places(options), *table.names}
    own = next((name for name in SAMPLE_COLUMNS if name in table.names), "")
    if not own and "item" not in said and _names_first_column(table):
        own = SAMPLE_COLUMNS[0]
    column = options.column or own or _only_column(table, SAMPLE_SYNONYMS)
    if not column or column not in table.names:
        return options
    if options.pattern:
        return replace(options, column=column)
    if "item" in said:
        return options
    options = find_pattern(table, replace(options, column=column))
    if options.pattern:
        return options
    if "system" not in said:
        return options
    cells = {str(cell) for cell in table.cells(column)}
    endings = {PurePath(cell).suffix for cell in cells}
    ending = endings.pop() if len(endings) == 1 else ""
    if AUDIO_ENDING.fullmatch(ending):
        folder = "*/" if all("/" in cell for cell in cells) else ""
        pattern = f"{folder}{{item}}{ending}"
        table.notes.append(f"column {show(column)} is read with the pattern {pattern}")
        return replace(options, column=column, pattern=pattern)
    table.notes.append(f"column {show(column)} is read as item")
    return replace(options, columns={"item": column, **options.columns})


def _names_first_column(table: InputTable) -> bool:
    """Name a first column without a name that has text: an index of clips, as pandas writes it."""
    if not table.names or table.names[0] or _only_column(table, SAMPLE_SYNONYMS):
        return False
    cells = table.cells("")
    if not all(isinstance(cell, str) and cell and not cell.isdecimal() for cell in cells):
        return False
    table.rename("", SAMPLE_COLUMNS[0])
    return True


def _only_column(table: InputTable, names: Sequence[str]) -> str:
    found = [name for name in table.names if name.casefold() in names]
    return found[0] if len(found) == 1 else ""


# --- Matrices with one column per listener -------------------------------------------------------


NUMBERED_NAME = re.compile(r"(?P<stem>[^\d]*?)[ _.-]?\d+")
MIN_LISTENER_COLUMNS = 2
MATRIX_SCALE = "rating"  # if neither options nor the file name has a scale


def _free_columns(table: InputTable, options: ColumnOptions) -> list[str]:
    """Return the columns without a role in which at least half of the filled cells are numbers."""
    taken = {*options.columns.values(), *options.roles, options.column, *options.apart}
    taken |= {*SAMPLE_COLUMNS, *SAMPLE_SYNONYMS}
    free = list[str]()
    for name in (name for name in table.names if name and name not in taken):
        filled = [text for text in _votes(table, name) if text]
        numbers = sum(read_plain_numbers([text]) is not None for text in filled)
        if 2 * numbers >= len(filled):
            free.append(name)
    return free


def _listener_columns(table: InputTable, options: ColumnOptions) -> list[str]:
    """Return the columns of a matrix: numbered names such as subject_1, and no known scales."""
    said = {*options.said, *table.names}
    if "listener" in said or "value" in said or options.means or options.scales:
        return []
    free = _free_columns(table, options)
    matches = [NUMBERED_NAME.fullmatch(name) for name in free]
    stems = {match["stem"] for match in matches if match}
    expected = {name.casefold() for name in options.expected}
    is_matrix = len(free) >= MIN_LISTENER_COLUMNS and all(matches) and len(stems) == 1
    return free if is_matrix and not expected & {name.casefold() for name in free} else []


def _votes(table: InputTable, name: str) -> list[str]:
    """Return the votes of a column as text; empty where nothing was rated."""
    return ["" if text.lower() in UNDEFINED_WORDS else text for text in _texts(table, name)]


def _read_matrix(table: InputTable, options: ColumnOptions, listeners: Sequence[str]) -> Reading:
    """Return one row per vote; empty cells were not asked for."""
    _name_layout(table, "a matrix with one column per listener")
    if len(listeners) < MIN_LISTENER_COLUMNS:
        message = "a matrix needs at least two columns of numbers, one per listener"
        refuse_header(table, "", message)
    known = options.known_names.names("listener")
    numbers = {name: re.sub(r"^.*?0*(?=\d+$)", "", name) for name in {*listeners} - known}
    columns = [  # a column such as subject_7 may be that of listener 7 of a study
        (numbers[name] if numbers.get(name) in known else name, _votes(table, name))
        for name in listeners
    ]
    rows = [
        (number, (listener, votes[number]))
        for number in range(len(table.lines))
        for listener, votes in columns
        if votes[number]
    ]
    if empty := len(table.lines) * len(listeners) - len(rows):
        table.notes.append(f"{empty:,} cells of the matrix are empty: not rated")
    long = _long_table(table, ["listener", "value"], rows)
    long.names = ["" if name in listeners else name for name in long.names]
    scale = _scale_in_name(table.wrong.source, options) or MATRIX_SCALE
    return _name_scale(long, options, scale)


# A matrix without column names has a row or a column per listener. Stimuli differ more than the
# mean votes of listeners do, which tells the two apart.


MIN_STIMULUS_RATIO = 3.0  # of the mean squares between stimuli and between listeners
Matrix = list[list[float]]  # NaN where there is no vote


def _read_numbers(table: InputTable, options: ColumnOptions) -> Reading:
    """Return one row per vote of a matrix without column names; stimuli are numbered from 1."""
    read = options.number_reader(table)
    columns = [read_column(table, _votes(table, name), name, read) for name in table.names]
    table.wrong.refuse()
    rows = [[*row] for row in zip(*columns, strict=True)]
    turned = [[*column] for column in zip(*rows, strict=True)]
    listeners_are_rows = options.layout == TRANSPOSED_LAYOUT
    if options.layout == AUTO_LAYOUT:
        between_rows, between_columns = _mean_square(rows), _mean_square(turned)
        listeners_are_rows = between_columns > between_rows
        larger, smaller = sorted([between_rows, between_columns], reverse=True)
        if larger <= MIN_STIMULUS_RATIO * smaller:
            message = f"{len(rows)} rows and {len(turned)} columns: either may be listeners"
            remedy = f"use --layout {MATRIX_LAYOUT} if columns are listeners, "
            refuse_header(table, "", message, f"{remedy}--layout {TRANSPOSED_LAYOUT} if rows are")
    return _unfold_matrix(table, options, rows, listeners_are_rows=listeners_are_rows)


def _unfold_matrix(
    table: InputTable, options: ColumnOptions, rows: Matrix, *, listeners_are_rows: bool
) -> Reading:
    listeners, stimuli = ("rows", "columns") if listeners_are_rows else ("columns", "rows")
    other = MATRIX_LAYOUT if listeners_are_rows else TRANSPOSED_LAYOUT
    table.wrong.read_as = "a matrix of votes without column names"
    table.notes.append(
        f"the table is read as {table.wrong.read_as}: {listeners} are listeners, {stimuli} are "
        f"items; use --layout {other} to change this"
    )
    votes = [
        (line, (str(row), str(column), f"{vote:g}"))
        for row, (line, numbers) in enumerate(zip(table.lines, rows, strict=True), 1)
        for column, vote in enumerate(numbers, 1)
        if vote == vote
    ]
    names = ["listener", "item"] if listeners_are_rows else ["item", "listener"]
    lines, cells = [line for line, _ in votes], [cells for _, cells in votes]
    long = CsvTable(table.wrong, [*names, "value"], lines, notes=table.notes, rows=cells)
    constants = {"system": ONLY_SYSTEM, **options.constants}
    scale = _scale_in_name(table.wrong.source, options) or MATRIX_SCALE
    return _name_scale(long, replace(options, constants=constants), scale)


def _mean_square(rows: Matrix) -> float:
    """Return the mean square between rows."""
    votes = [[vote for vote in row if vote == vote] for row in rows]
    votes = [row for row in votes if row]
    total = sum(map(sum, votes)) / max(1, sum(map(len, votes)))
    squares = sum(len(row) * (sum(row) / len(row) - total) ** 2 for row in votes)
    return squares / max(1, len(votes) - 1)


def _scale_in_name(source: str, options: ColumnOptions) -> str:
    """Return the known scale in a file name such as results_SIG.csv, or an empty string."""
    words = {word.casefold() for word in re.split(r"[^A-Za-z0-9]+", PurePath(source).stem)}
    found = [name for name in options.expected if name.casefold() in words]
    return found[0] if len(found) == 1 else ""


# --- Results in one JSON document ----------------------------------------------------------------


BEAQLEJS_NAME = "results of BeaqleJS (MUSHRA)"


def unfold_results(document: Any, wrong: TableFaults) -> list[dict[str, Any]] | None:
    """Return the records of a result file of BeaqleJS or pymushra; None if it is neither."""
    if isinstance(document, list):
        return _unfold_beaqlejs(document, wrong)
    return _unfold_pymushra(document, wrong) if isinstance(document, dict) else None


def _unfold_beaqlejs(document: list[Any], wrong: TableFaults) -> list[dict[str, Any]] | None:
    """Return the ratings of a listener: a test set with the ratings of its files, per entry."""
    sets = [entry for entry in document if isinstance(entry, dict) and "TestID" in entry]
    users = [entry for entry in document if isinstance(entry, dict) and "UserName" in entry]
    if users and not sets and any(isinstance(entry, bool) for entry in document):
        message = "results of ABX tests of BeaqleJS do not name the tests, and are not read"
        wrong.add([(0, Fault("", message))])
    if not sets or not all(isinstance(entry.get("rating", {}), dict) for entry in sets):
        return None
    wrong.read_as = BEAQLEJS_NAME
    name = next((str(user["UserName"]).strip() for user in users if user["UserName"]), "")
    listener = name or PurePath(wrong.source).stem
    return [
        {
            "item": entry["TestID"],
            "system": system,
            "listener": listener,
            "value": value,
        }
        for entry in sets
        for system, value in entry.get("rating", {}).items()
    ]


def _unfold_pymushra(document: dict[str, Any], wrong: TableFaults) -> list[dict[str, Any]] | None:
    """Return the responses in a database of pymushra (TinyDB), named as in its exports."""
    tables = {
        name: [*table.values()] for name, table in document.items() if isinstance(table, dict)
    }
    tables = {name: trials for name, trials in tables.items() if trials}
    trials = [trial for table in tables.values() for trial in table]
    parts = ("responses", "questionaire")
    if not trials or not all(isinstance(trial, dict) and {*parts} <= {*trial} for trial in trials):
        return None
    if len(tables) > 1:
        message = f"contains several tests: {', '.join(map(show, tables))}"
        wrong.add([(0, Fault("", message, "export the results of one test as CSV or JSON"))])
        return None
    return [
        {f"responses_{name}": value for name, value in response.items()}
        | {f"questionaire_{name}": value for name, value in trial["questionaire"].items()}
        | {f"wm_{name}": value for name, value in trial.items() if name not in parts}
        for trial in trials
        for response in trial["responses"]
    ]
