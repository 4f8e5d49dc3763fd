"""One table for a paper: systems as rows, values as columns, best in bold, significance marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan
from textwrap import fill
from typing import Literal, NamedTuple

from earwitness.core import Estimate, Value, group_values
from earwitness.report.columns import TableRows, table_csv
from earwitness.report.html.elements import (
    STYLE_POLICY,
    Html,
    element,
    header_cells,
    html_document,
)
from earwitness.report.latex import escape as escape_latex
from earwitness.report.latex import table_cell as latex_cell
from earwitness.report.markdown import escape as escape_markdown
from earwitness.report.numbers import (
    ARROWS,
    DIRECTIONS,
    decimal_places,
    interval,
    label_with_unit,
    number,
    value_title,
)
from earwitness.report.parts import Matrix, Table
from earwitness.report.sentences import join_names, leaders
from earwitness.report.tables import find_contrast
from earwitness.report.text import draw_tables

# --- Content of the table ------------------------------------------------------------------------


IntervalForm = Literal["brackets", "plus-minus", "none"]
WORSE_MARK = "†"
NO_VALUE = "–"


@dataclass(frozen=True, slots=True)
class PaperColumn:
    """Column of one value; ``unit`` follows its name in parentheses."""

    value: Value
    unit: str = ""

    @property
    def name(self) -> str:
        """Name of the value with its unit."""
        return label_with_unit(self.value.name, self.unit)

    @property
    def heading(self) -> str:
        """Name of the value with an arrow towards its better end, and its unit."""
        return label_with_unit(value_title(self.value), self.unit)


@dataclass(frozen=True, slots=True)
class PaperCell:
    """Estimate of one row and column, or None.

    ``is_tested`` is true if the difference from the best row of the column was tested, and
    ``is_worse`` if it is significantly worse than that row. A control is not ranked in its column.
    """

    estimate: Estimate | None
    is_best: bool = False
    is_tested: bool = False
    is_worse: bool = False
    is_control: bool = False

    @property
    def mark(self) -> str:
        """Significance mark, or an empty text."""
        return WORSE_MARK * self.is_worse

    @property
    def is_known(self) -> bool:
        """Whether the estimate is defined."""
        return self.estimate is not None and not isnan(self.estimate.value)

    @property
    def has_interval(self) -> bool:
        """Whether the estimate and its interval are defined and finite."""
        e = self.estimate
        return e is not None and all(map(isfinite, (e.value, e.low, e.high)))


@dataclass(frozen=True, slots=True)
class PaperRow:
    """Row with one cell per column.

    Rows that are ``apart`` (baselines, controls, people) are not ranked and follow below a rule.
    ``section`` is the heading of the rows that have the same one.
    """

    name: str
    cells: tuple[PaperCell, ...]
    apart: bool = False
    section: str = ""


@dataclass(frozen=True, slots=True)
class PaperTable:
    """Table for a paper, with its caption in words.

    ``key`` names the table in a document (``\\label{tab:scores}``). ``about`` says what the numbers
    are, and of how many items, listeners or ratings; ``intervals`` names their level and method;
    ``test`` names test, correction and significance level of the marks, and is empty without
    tests; ``notes`` are further sentences of the caption. ``heading`` says what a row is, such as
    "system", and ``sections`` what its sections are, such as "scale". ``signature`` has the
    settings that determine the numbers.
    """

    key: str
    about: str
    heading: str
    columns: tuple[PaperColumn, ...]
    rows: tuple[PaperRow, ...]
    intervals: str = ""
    test: str = ""
    notes: tuple[str, ...] = ()
    sections: str = ""
    signature: str = ""

    @property
    def cells(self) -> list[list[PaperCell]]:
        """Cells of each column."""
        return [[row.cells[index] for row in self.rows] for index in range(len(self.columns))]


# --- Rows from comparisons -----------------------------------------------------------------------


def best_first(names: Sequence[str], matrices: Sequence[Matrix]) -> list[str]:
    """Return names sorted by the first value that has a better end; undefined ones are last."""
    ranked = next((matrix for matrix in matrices if matrix.value.best != "none"), None)
    if ranked is None:
        return list(names)
    estimates, sign = ranked.systems, -1 if ranked.value.best == "high" else 1

    def place(name: str) -> float:
        estimate = estimates.get(name)
        return inf if estimate is None or isnan(estimate.value) else sign * estimate.value

    return sorted(names, key=place)


def paper_rows(
    names: Sequence[str], matrices: Sequence[Matrix], section: str = "", *, ranked: bool = True
) -> tuple[PaperRow, ...]:
    """Return one row per name and one cell per matrix; controls of all of them are last and apart.

    Unless ``ranked`` is false, the best row of each column is found among those that are not
    controls. Contrasts with an undefined corrected p count as not tested.
    """
    controls = {name for matrix in matrices for name in matrix.controls}
    controls -= {name for m in matrices for name in m.systems if name not in m.controls}
    columns = [(matrix, leaders(matrix) if ranked else []) for matrix in matrices]
    rows = [
        PaperRow(
            name,
            tuple(_paper_cell(name, *column) for column in columns),
            name in controls,
            section,
        )
        for name in names
    ]
    return tuple(sorted(rows, key=lambda row: row.apart))


def _paper_cell(name: str, matrix: Matrix, lead: Sequence[str]) -> PaperCell:
    cell = PaperCell(matrix.systems.get(name), name in lead)
    if cell.is_best or not lead or not cell.is_known:
        return cell
    contrasts = [find_contrast(matrix, leader, name) for leader in lead]
    tested = [c for c in contrasts if c is not None and not isnan(c.p_corrected)]
    is_tested = len(tested) == len(lead)
    is_worse = is_tested and all(c.better not in ("", name) for c in tested)
    return PaperCell(cell.estimate, False, is_tested, is_worse, name in matrix.controls)


# --- Text of cells and caption -------------------------------------------------------------------


MAX_NAMES_IN_CAPTION = 8


class CellText(NamedTuple):
    """Text of a cell: the number, its significance mark and its interval."""

    number: str
    mark: str
    interval: str
    is_best: bool


class TextRow(NamedTuple):
    """Name of a row and the texts of its cells.

    ``heading`` is None unless a rule stands before the row; it is the name of the section if that
    starts with the row, else empty.
    """

    heading: str | None
    name: str
    cells: list[CellText]


def text_rows(table: PaperTable, wanted: IntervalForm) -> list[TextRow]:
    """Return the texts of a table, by section, with the rows that are apart at the end of each."""
    forms, rows = column_forms(table, wanted), list[TextRow]()
    section = ""
    groups = group_values(((row.section, row.apart), row) for row in table.rows)
    for (title, _), members in groups.items():
        for row in members:
            heading = None if row is not members[0] else title if title != section else ""
            texts = map(_cell_text, row.cells, table.columns, forms)
            rows.append(TextRow(heading, row.name, list(texts)))
        section = title
    return rows


def _cell_text(cell: PaperCell, column: PaperColumn, form: IntervalForm) -> CellText:
    """Return the text of a cell; the interval is empty if it is undefined."""
    estimate, value = cell.estimate, column.value
    if estimate is None:
        return CellText(NO_VALUE, "", "", is_best=False)
    ends = ""
    if form != "none" and cell.has_interval:
        half = number((estimate.high - estimate.low) / 2, value)
        in_brackets = form == "brackets" or estimate.low == estimate.high
        ends = interval(estimate, value) if in_brackets else f"± {half}"
    return CellText(number(estimate.value, value), cell.mark, ends, cell.is_best)


def column_forms(table: PaperTable, wanted: IntervalForm) -> list[IntervalForm]:
    """Return the form of intervals per column.

    Half a width describes an interval only if the estimate is in its middle. Columns in which it
    is not, to the digits shown, have brackets instead of ±.
    """
    return [
        "brackets" if wanted == "plus-minus" and not _is_symmetric(column, cells) else wanted
        for column, cells in zip(table.columns, table.cells, strict=True)
    ]


def _is_symmetric(column: PaperColumn, cells: Sequence[PaperCell]) -> bool:
    step = 10.0 ** -decimal_places(column.value)
    return all(
        abs(cell.estimate.low + cell.estimate.high - 2 * cell.estimate.value) <= step * (1 + 1e-9)
        for cell in cells
        if cell.estimate is not None and cell.has_interval
    )


def caption_sentences(
    table: PaperTable, wanted: IntervalForm, best_mark: str = "Bold"
) -> Iterator[str]:
    """Yield the caption: what the numbers are, intervals, best values, marks and gaps.

    ``best_mark`` says how the best number of a column is shown.
    """
    yield table.about
    ends = {column.value.best for column in table.columns}
    directions = [
        f"{ARROWS[end]} {text}" for end, text in DIRECTIONS.items() if text and end in ends
    ]
    if directions:
        yield f"{', '.join(directions)}."
    yield from _interval_sentences(table, wanted)
    every_cell = [cell for row in table.rows for cell in row.cells]
    if any(cell.is_best for cell in every_cell):
        has_apart = any(row.apart for row in table.rows)
        apart = ", rows below the rule excluded" if has_apart else ""
        yield f"{best_mark}: best {table.heading} of each column{_and_section(table)}{apart}."
        yield from _test_sentences(table)
    if not all(cell.is_known for cell in every_cell):
        yield f"{NO_VALUE}: no value."
    yield from table.notes


def _interval_sentences(table: PaperTable, wanted: IntervalForm) -> Iterator[str]:
    if wanted == "none" or not table.intervals:
        return
    forms = column_forms(table, wanted)
    known = [
        [cell.has_interval for cell in cells if cell.estimate and isfinite(cell.estimate.value)]
        for cells in table.cells
    ]
    shown = [index for index, has in enumerate(known) if any(has)]
    only = [table.columns[index].name for index in shown if forms[index] == "brackets"]
    if only:
        of = f" of {join_names(only, MAX_NAMES_IN_CAPTION)}, which are not symmetric"
        yield f"Brackets: {table.intervals}{of if wanted == 'plus-minus' else ''}."
    if len(only) < len(shown):
        yield f"±: half the width of {table.intervals}."
    if shown and not all(all(known[index]) for index in shown):
        yield "Numbers without an interval are based on too few data for one."


def _test_sentences(table: PaperTable) -> Iterator[str]:
    """Yield the meaning of the marks, and what was not tested."""
    if not table.test:
        return
    cells = [cell for row in table.rows for cell in row.cells]
    where = f"column{_and_section(table)}"
    if any(cell.is_worse for cell in cells):
        best = f"the best {table.heading} of the {where}"
        yield f"{WORSE_MARK}: significantly worse than {best} ({table.test})."
    elif any(cell.is_tested for cell in cells):
        best = f"the best {table.heading} of its {where}"
        yield f"No {table.heading} is significantly worse than {best} ({table.test})."
    tested, missing, untested = list[str](), list[str](), dict[str, list[str]]()
    for column, column_cells in zip(table.columns, table.cells, strict=True):
        if any(cell.is_tested for cell in column_cells):
            tested.append(column.name)
            for row, cell in zip(table.rows, column_cells, strict=True):
                if _lacks_test(row, cell):
                    untested.setdefault(row.name, []).append(column.name)
        elif any(cell.is_best for cell in column_cells):
            missing.append(column.name)
    if missing:
        yield f"Differences in {join_names(missing, MAX_NAMES_IN_CAPTION)} were not tested."
    if untested:
        names = [
            name if columns == tested else f"{name} in {join_names(columns)}"
            for name, columns in untested.items()
        ]
        yield f"Not tested against the best: {join_names(names, MAX_NAMES_IN_CAPTION)}."


def _and_section(table: PaperTable) -> str:
    return f" and {table.sections}" if table.sections else ""


def _lacks_test(row: PaperRow, cell: PaperCell) -> bool:
    has_place = cell.is_tested or cell.is_best or (cell.is_control and not row.apart)
    return cell.is_known and not has_place


# --- LaTeX ---------------------------------------------------------------------------------------


PACKAGE_COMMENT = "% requires \\usepackage{booktabs}"
LINE_POINTS = 345  # width of a line of the class article at 10 points
CHARACTER_POINTS = 5.0  # width of a digit at 10 points
COLUMN_GAP_POINTS = 12
SMALL_INTERVAL_SCALE = 0.7  # size of an interval below its number
FONT_SCALES = {"": 1.0, "\\small": 0.9, "\\footnotesize": 0.8, "\\scriptsize": 0.7}


def render_paper_latex(table: PaperTable, form: IntervalForm = "brackets") -> str:
    """Return a LaTeX table, which needs the package booktabs only.

    If the table would be wider than a line, its font is smaller, or intervals are below
    their numbers.
    """
    rows = text_rows(table, form)
    stacked, size = _choose_layout(table, rows)
    columns = [[row.cells[index] for row in rows] for index in range(len(table.columns))]
    pairs = [not stacked and any(cell.interval for cell in cells) for cells in columns]
    marked = [any(cell.mark for cell in cells) for cells in columns]
    value_columns = "c" if stacked else "r"
    spec = "l" + "".join("r@{ }l" if pair else value_columns for pair in pairs)
    width = 1 + len(pairs) + sum(pairs)
    body = []
    for row in rows:
        if row.heading is not None:
            body.append("\\midrule")
        if row.heading:
            title = f"\\emph{{{escape_latex(row.heading)}}}"
            body.append(f"\\multicolumn{{{width}}}{{@{{}}l}}{{{title}}} \\\\")
        body += _latex_lines(row, pairs, marked, stacked=stacked)
    short = escape_latex(table.about.partition(". ")[0].rstrip("."))
    caption = escape_latex(" ".join(caption_sentences(table, form)))
    return "\n".join(
        [
            PACKAGE_COMMENT,
            *([f"% signature: {' '.join(table.signature.split())}"] if table.signature else []),
            "\\begin{table}[htbp]",
            "\\centering",
            f"\\caption[{{{short}}}]{{{caption}}}",
            f"\\label{{tab:{table.key}}}",
            "\\smallskip",
            *([size] if size else []),
            f"\\begin{{tabular}}{{@{{}}{spec}@{{}}}}",
            "\\toprule",
            *_latex_head(table, pairs, stacked=stacked),
            *body,
            "\\bottomrule",
            "\\end{tabular}",
            "\\end{table}\n",
        ]
    )


def _choose_layout(table: PaperTable, rows: Sequence[TextRow]) -> tuple[bool, str]:
    """Return whether intervals are below their numbers, and the font size."""
    sizes = list(FONT_SCALES)
    layouts = [*((False, size) for size in sizes[:2]), *((True, size) for size in sizes)]
    for stacked, size in layouts:
        if _table_points(table, rows, stacked=stacked) * FONT_SCALES[size] <= LINE_POINTS:
            return stacked, size
    return layouts[-1]


def _table_points(table: PaperTable, rows: Sequence[TextRow], *, stacked: bool) -> float:
    """Return the estimated width of a table in points."""
    names = max(len(text) for text in (table.heading, *(row.name for row in rows)))
    total = CHARACTER_POINTS * names
    for index, column in enumerate(table.columns):
        cells = [row.cells[index] for row in rows]
        numbers = max((len(cell.number) + len(cell.mark) for cell in cells), default=0)
        intervals = max((len(cell.interval) for cell in cells), default=0)
        if stacked:
            head = max(len(value_title(column.value)), len(column.unit) + 2)
            widest = max(head, numbers, SMALL_INTERVAL_SCALE * intervals)
        else:
            widest = max(len(column.heading), numbers + intervals + bool(intervals))
        total += CHARACTER_POINTS * widest + COLUMN_GAP_POINTS
    return total


def _latex_head(table: PaperTable, pairs: Sequence[bool], *, stacked: bool) -> Iterator[str]:
    """Yield the lines of the head; if intervals are below their numbers, units are below names."""
    if stacked:
        lines = [[table.heading, *(value_title(column.value) for column in table.columns)]]
        if any(column.unit for column in table.columns):
            lines.append(["", *(f"({c.unit})" if c.unit else "" for c in table.columns)])
        yield from (f"{' & '.join(map(escape_latex, line))} \\\\" for line in lines)
        return
    heads = [escape_latex(table.heading)]
    for index, (column, pair) in enumerate(zip(table.columns, pairs, strict=True)):
        edge = "@{}" if index == len(pairs) - 1 else ""
        text = escape_latex(column.heading)
        heads.append(f"\\multicolumn{{2}}{{c{edge}}}{{{text}}}" if pair else text)
    yield f"{' & '.join(heads)} \\\\"


def _latex_lines(
    row: TextRow, pairs: Sequence[bool], marked: Sequence[bool], *, stacked: bool
) -> Iterator[str]:
    """Yield the lines of a row: intervals in a column of their own, or in a line below."""
    columns, cells = [latex_cell(row.name)], row.cells
    for cell, pair, has_marks in zip(cells, pairs, marked, strict=True):
        columns.append(_latex_number(cell, has_marks=has_marks))
        if pair:
            columns.append(_latex_interval(cell))
    yield f"{' & '.join(columns)} \\\\"
    if stacked and any(cell.interval for cell in cells):
        below = [f"\\scriptsize {_latex_interval(c)}" if c.interval else "" for c in cells]
        yield f"{' & '.join(['', *below])} \\\\[2pt]"


def _latex_interval(cell: CellText) -> str:
    return latex_cell(cell.interval).removeprefix("{}")  # never the start of a line


def _latex_number(cell: CellText, *, has_marks: bool) -> str:
    """Return a number; those without a mark leave room for it, so that digits are aligned."""
    text = latex_cell(cell.number)
    text = f"\\textbf{{{text}}}" if cell.is_best else text
    mark = "$^{\\dagger}$"
    return text + (mark if cell.mark else (f"\\phantom{{{mark}}}" if has_marks else ""))


# --- Markdown, HTML and text ---------------------------------------------------------------------


PAGE_STYLE = """
body { margin: 2rem auto; padding: 0 1rem; max-width: 78rem; color: #000; background: #fff;
  font: 1rem/1.4 "Times New Roman", Times, serif; }
figure { margin: 0; }
figcaption { margin-bottom: 0.75rem; max-width: 60rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; border-bottom: 2px solid; font-variant-numeric: tabular-nums; }
tbody { border-top: 1px solid; }
thead { border-top: 2px solid; }
th, td { padding: 0.2rem 0.6rem; text-align: right; white-space: nowrap; font-weight: normal; }
th:first-child { text-align: left; padding-left: 0; }
sup { line-height: 0; }
small { display: block; margin-top: 1rem; overflow-wrap: anywhere; }
""".strip()


def render_paper_markdown(table: PaperTable, form: IntervalForm = "brackets") -> str:
    """Return a Markdown table with its caption."""
    lines = [[escape_markdown(head) for head in _heads(table)]]
    lines.append([":--", *["--:"] * len(table.columns)])
    for row in text_rows(table, form):
        if row.heading:
            lines.append([f"*{escape_markdown(row.heading)}*", *[""] * len(table.columns)])
        lines.append([escape_markdown(row.name), *map(_markdown_cell, row.cells)])
    caption = escape_markdown(" ".join(caption_sentences(table, form)))
    signature = [f"`{table.signature}`"] if table.signature else []
    drawn = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n\n".join([caption, drawn, *signature]) + "\n"


def _heads(table: PaperTable) -> list[str]:
    return [table.heading, *(column.heading for column in table.columns)]


def _markdown_cell(cell: CellText) -> str:
    shown = f"**{cell.number}**" if cell.is_best else cell.number
    return f"{shown}{cell.mark} {escape_markdown(cell.interval)}".rstrip()


def render_paper_html(table: PaperTable, form: IntervalForm = "brackets") -> str:
    """Return a page with the table in a plain style, to copy into other programs."""
    bodies = list[list[Html]]()
    for row in text_rows(table, form):
        if row.heading is not None:
            bodies.append([])
        if row.heading:
            title, width = element("em", row.heading), str(len(table.columns) + 1)
            heading = element("th", title, scope="rowgroup", colspan=width)
            bodies[-1].append(element("tr", heading))
        cells = [element("td", *_html_cell(cell)) for cell in row.cells]
        bodies[-1].append(element("tr", *header_cells([row.name], "row"), *cells))
    drawn = element(
        "table",
        element("thead", element("tr", *header_cells(_heads(table)))),
        *(element("tbody", *lines) for lines in bodies),
        aria_labelledby="caption",
    )
    figure = element(
        "figure",
        element("figcaption", " ".join(caption_sentences(table, form)), id="caption"),
        element("div", drawn, class_="scroll", tabindex="0", role="region", aria_label="Table"),
    )
    made = element("small", table.signature) if table.signature else None
    main = element("main", figure, made)
    return html_document(table.about, main, policy=STYLE_POLICY, style=PAGE_STYLE)


def _html_cell(cell: CellText) -> Iterator[str]:
    yield element("b", cell.number) if cell.is_best else cell.number
    if cell.mark:
        yield element("sup", cell.mark)
    if cell.interval:
        yield f" {cell.interval}"


def render_paper_text(table: PaperTable, form: IntervalForm = "brackets", width: int = 100) -> str:
    """Return the table as text; the best number of a column has a star."""
    texts = text_rows(table, form)
    columns = [_aligned([row.cells[i] for row in texts]) for i in range(len(table.columns))]
    rows, rules = list[tuple[str, ...]](), list[int]()
    for place, row in enumerate(texts):
        if row.heading is not None:
            rules.append(len(rows))
        if row.heading:
            rows.append((row.heading, *[""] * len(columns)))
        rows.append((row.name, *(column[place] for column in columns)))
    whole = Table("", tuple(_heads(table)), tuple(rows))
    drawn = [_with_rules(part, rules) for part in draw_tables(whole, width)]
    caption = fill(" ".join(caption_sentences(table, form, "*")), width)
    signature = [f"signature: {table.signature}"] if table.signature else []
    return "\n\n".join([*drawn, caption, *signature]) + "\n"


def _aligned(cells: Sequence[CellText]) -> list[str]:
    """Return the texts of a column, with the same space for stars and marks in every row."""
    marks = [("*" if cell.is_best else "") + cell.mark for cell in cells]
    space = max(map(len, marks), default=0)
    intervals = max((len(cell.interval) for cell in cells), default=0)
    return [
        f"{cell.number}{mark:<{space}} {cell.interval:<{intervals}}"[: None if intervals else -1]
        for cell, mark in zip(cells, marks, strict=True)
    ]


def _with_rules(drawn_table: str, rules: Sequence[int]) -> str:
    head, *lines = drawn_table.splitlines()[1:]
    rule = "  " + "─" * (max(map(len, (head, *lines))) - 2)
    drawn = [rule + "\n" + line if place in rules else line for place, line in enumerate(lines)]
    return "\n".join([head, *drawn])


# --- CSV -----------------------------------------------------------------------------------------


def render_paper_csv(table: PaperTable, form: IntervalForm = "brackets") -> str:
    """Return the table as CSV, with all digits.

    Each value has four columns: the value, the ends of its interval, and ``best``, ``worse``
    (significantly worse than the best) or nothing. ``form`` can only leave the intervals out.
    """
    parts = ("value",) if form == "none" else ("value", "low", "high")
    suffixes = ["", *(f"_{part}" for part in parts[1:]), "_mark"]
    header = [table.sections, table.heading] if table.sections else [table.heading]
    header += [f"{column.name}{suffix}" for column in table.columns for suffix in suffixes]
    rows = []
    for row in table.rows:
        cells: list[float | str] = [row.section, row.name] if table.sections else [row.name]
        for cell in row.cells:
            cells += [getattr(cell.estimate, part) if cell.estimate else "" for part in parts]
            cells.append("best" if cell.is_best else "worse" if cell.is_worse else "")
        rows.append(cells)
    return table_csv(TableRows(header, rows, table.signature))


# --- All formats ---------------------------------------------------------------------------------


def render_paper_table(
    table: PaperTable, to: str, form: IntervalForm = "brackets", width: int = 100
) -> str:
    """Return the table as ``text``, ``csv``, ``md``, ``html`` or ``latex``."""
    if to == "text":
        return render_paper_text(table, form, width)
    renderers = {
        "csv": render_paper_csv,
        "md": render_paper_markdown,
        "html": render_paper_html,
        "latex": render_paper_latex,
    }
    return renderers[to](table, form)
