"""One table for a paper: systems as rows, values as columns, best in bold, significance marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan
from textwrap import fill
from typing import Literal, NamedTuple

from earwitness.core import Estimate, Value
from earwitness.io.tables import csv_text
from earwitness.report.html.elements import (
    STYLE_POLICY,
    Html,
    element,
    html_document,
)
from earwitness.report.latex import escape as escape_latex
from earwitness.report.latex import table_cell as latex_cell
from earwitness.report.markdown import escape as escape_markdown
from earwitness.report.numbers import (
    ARROWS,
    decimal_places,
    interval,
    label_with_unit,
    number,
    value_title,
)
from earwitness.report.parts import Matrix, Table
from earwitness.report.sentences import join_names, leaders
from earwitness.report.tables import find_contrast
from earwitness.report.text import draw_table, fit_columns

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
        return WORSE_MARK if self.is_worse else ""


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

    def cells(self, index: int) -> list[PaperCell]:
        """Return the cells of a column."""
        return [row.cells[index] for row in self.rows]

    def groups(self) -> Iterator[tuple[str, list[PaperRow]]]:
        """Yield rows between two rules, with the heading of a section before its first rows."""
        title, groups = "", dict[tuple[str, bool], list[PaperRow]]()
        for row in self.rows:
            groups.setdefault((row.section, row.apart), []).append(row)
        for (section, _), rows in groups.items():
            yield section if section != title else "", rows
            title = section


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
    estimate = matrix.systems.get(name)
    if name in lead or not lead or estimate is None or isnan(estimate.value):
        return PaperCell(estimate, name in lead)
    contrasts = [find_contrast(matrix, leader, name) for leader in lead]
    tested = [c for c in contrasts if c is not None and not isnan(c.p_corrected)]
    is_tested = len(tested) == len(lead)
    is_worse = is_tested and all(c.better not in ("", name) for c in tested)
    return PaperCell(estimate, False, is_tested, is_worse, name in matrix.controls)


# --- Text of cells and caption -------------------------------------------------------------------


MAX_NAMES_IN_CAPTION = 8
DIRECTIONS = {"high": "higher is better", "low": "lower is better"}


class CellText(NamedTuple):
    """Text of a cell: the number, its significance mark and its interval."""

    number: str
    mark: str
    interval: str
    is_best: bool


def cell_text(cell: PaperCell, column: PaperColumn, form: IntervalForm) -> CellText:
    """Return the text of a cell; the interval is empty if it is undefined."""
    estimate, value = cell.estimate, column.value
    if estimate is None:
        return CellText(NO_VALUE, "", "", is_best=False)
    shown = number(estimate.value, value), cell.mark
    if form == "none" or not _has_interval(estimate):
        return CellText(*shown, "", cell.is_best)
    if form == "brackets" or estimate.low == estimate.high:
        return CellText(*shown, interval(estimate, value), cell.is_best)
    half = number((estimate.high - estimate.low) / 2, value)
    return CellText(*shown, f"± {half}", cell.is_best)


def _has_interval(estimate: Estimate) -> bool:
    return all(map(isfinite, (estimate.value, estimate.low, estimate.high)))


def column_forms(table: PaperTable, wanted: IntervalForm) -> list[IntervalForm]:
    """Return the form of intervals per column.

    Half a width describes an interval only if the estimate is in its middle. Columns in which it
    is not, to the digits shown, have brackets instead of ±.
    """
    return [
        "brackets" if wanted == "plus-minus" and not _is_symmetric(table, index) else wanted
        for index in range(len(table.columns))
    ]


def _is_symmetric(table: PaperTable, index: int) -> bool:
    step = 10.0 ** -decimal_places(table.columns[index].value)
    estimates = [cell.estimate for cell in table.cells(index) if cell.estimate is not None]
    return all(
        abs(estimate.low + estimate.high - 2 * estimate.value) <= step * (1 + 1e-9)
        for estimate in estimates
        if _has_interval(estimate)
    )


def caption_sentences(
    table: PaperTable, wanted: IntervalForm, best_mark: str = "Bold"
) -> Iterator[str]:
    """Yield the caption: what the numbers are, intervals, best values, marks and gaps.

    ``best_mark`` says how the best number of a column is shown.
    """
    yield table.about
    ends = {column.value.best for column in table.columns}
    directions = [f"{ARROWS[end]} {text}" for end, text in DIRECTIONS.items() if end in ends]
    if directions:
        yield f"{', '.join(directions)}."
    yield from _interval_sentences(table, wanted)
    every_cell = [cell for row in table.rows for cell in row.cells]
    if any(cell.is_best for cell in every_cell):
        apart = ", rows below the rule excluded" * any(row.apart for row in table.rows)
        yield f"{best_mark}: best {table.heading} of each column{_and_section(table)}{apart}."
        yield from _test_sentences(table)
    if any(cell.estimate is None or isnan(cell.estimate.value) for cell in every_cell):
        yield f"{NO_VALUE}: no value."
    yield from table.notes


def _interval_sentences(table: PaperTable, wanted: IntervalForm) -> Iterator[str]:
    if wanted == "none" or not table.intervals:
        return
    forms = column_forms(table, wanted)
    known = {
        index: [
            _has_interval(cell.estimate)
            for cell in table.cells(index)
            if cell.estimate is not None and isfinite(cell.estimate.value)
        ]
        for index in range(len(table.columns))
    }
    shown = [index for index, has in known.items() if any(has)]
    if any(forms[index] == "brackets" for index in shown):
        only = [table.columns[index].name for index in shown if forms[index] == "brackets"]
        of = f" of {join_names(only, MAX_NAMES_IN_CAPTION)}, which are not symmetric"
        yield f"Brackets: {table.intervals}{of * (wanted == 'plus-minus')}."
    if any(forms[index] == "plus-minus" for index in shown):
        yield f"±: half the width of {table.intervals}."
    if shown and not all(all(known[index]) for index in shown):
        yield "Numbers without an interval are based on too few data for one."


def _test_sentences(table: PaperTable) -> Iterator[str]:
    """Yield the meaning of the marks, and what was not tested."""
    if not table.test:
        return
    columns = [table.cells(index) for index in range(len(table.columns))]
    tested = [any(cell.is_tested for cell in cells) for cells in columns]
    where = f"column{_and_section(table)}"
    if any(cell.is_worse for cells in columns for cell in cells):
        best = f"the best {table.heading} of the {where}"
        yield f"{WORSE_MARK}: significantly worse than {best} ({table.test})."
    elif any(tested):
        best = f"the best {table.heading} of its {where}"
        yield f"No {table.heading} is significantly worse than {best} ({table.test})."
    missing = [
        column.name
        for column, has_test, cells in zip(table.columns, tested, columns, strict=True)
        if not has_test and any(cell.is_best for cell in cells)
    ]
    if missing:
        yield f"Differences in {join_names(missing, MAX_NAMES_IN_CAPTION)} were not tested."
    untested = list(dict.fromkeys(_untested_names(table, tested)))
    if untested:
        yield f"Not tested against the best: {join_names(untested, MAX_NAMES_IN_CAPTION)}."


def _and_section(table: PaperTable) -> str:
    return f" and {table.sections}" if table.sections else ""


def _untested_names(table: PaperTable, tested: Sequence[bool]) -> Iterator[str]:
    """Yield rows that were not tested, with the column if other columns were."""
    columns = [column for column, has_test in zip(table.columns, tested, strict=True) if has_test]
    for row in table.rows:
        cells = [cell for cell, has_test in zip(row.cells, tested, strict=True) if has_test]
        if cells and all(_lacks_test(row, cell) for cell in cells):
            yield row.name
        else:
            yield from (
                f"{row.name} in {column.name}"
                for column, cell in zip(columns, cells, strict=True)
                if _lacks_test(row, cell)
            )


def _lacks_test(row: PaperRow, cell: PaperCell) -> bool:
    has_value = cell.estimate is not None and not isnan(cell.estimate.value)
    return has_value and not (cell.is_tested or cell.is_best or (cell.is_control and not row.apart))


# --- LaTeX ---------------------------------------------------------------------------------------


PACKAGE_COMMENT = "% requires \\usepackage{booktabs}"
LINE_POINTS = 345  # width of a line of the class article at 10 points
CHARACTER_POINTS = 5.0  # width of a digit at 10 points
COLUMN_GAP_POINTS = 12
SMALL_INTERVAL_SCALE = 0.7  # size of an interval below its number
FONT_SCALES = {"": 1.0, "\\small": 0.9, "\\footnotesize": 0.8, "\\scriptsize": 0.7}


def render_paper_latex(table: PaperTable, form: IntervalForm = "brackets") -> str:
    """Return a LaTeX table, which needs the package booktabs only.

    If the table would be wider than a line, its font is smaller, or intervals are below their
    numbers.
    """
    texts = _row_texts(table, form)
    stacked, size = _choose_layout(table, texts)
    columns = list(zip(*texts, strict=True)) or [()] * len(table.columns)
    pairs = [not stacked and any(cell.interval for cell in cells) for cells in columns]
    marked = [any(cell.mark for cell in cells) for cells in columns]
    value_columns = "c" if stacked else "r"
    spec = "l" + "".join("r@{ }l" if pair else value_columns for pair in pairs)
    width = 1 + len(pairs) + sum(pairs)
    body = []
    lines = iter(texts)
    for title, rows in table.groups():
        body.append("\\midrule")
        if title:
            body.append(
                f"\\multicolumn{{{width}}}{{@{{}}l}}{{\\emph{{{escape_latex(title)}}}}} \\\\"
            )
        for row in rows:
            body += _latex_lines(row.name, next(lines), pairs, marked, stacked=stacked)
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


def _row_texts(table: PaperTable, form: IntervalForm) -> list[list[CellText]]:
    """Return the texts of all cells, in the order of the groups of rows."""
    forms = column_forms(table, form)
    return [
        [cell_text(*pair) for pair in zip(row.cells, table.columns, forms, strict=True)]
        for _, rows in table.groups()
        for row in rows
    ]


def _choose_layout(table: PaperTable, texts: list[list[CellText]]) -> tuple[bool, str]:
    """Return whether intervals are below their numbers, and the font size."""
    sizes = list(FONT_SCALES)
    layouts = [*((False, size) for size in sizes[:2]), *((True, size) for size in sizes)]
    for stacked, size in layouts:
        if _table_points(table, texts, stacked=stacked) * FONT_SCALES[size] <= LINE_POINTS:
            return stacked, size
    return layouts[-1]


def _table_points(table: PaperTable, texts: list[list[CellText]], *, stacked: bool) -> float:
    """Return the estimated width of a table in points."""
    names = max(len(text) for text in (table.heading, *(row.name for row in table.rows)))
    total = CHARACTER_POINTS * names
    for index, column in enumerate(table.columns):
        cells = [row[index] for row in texts]
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
        edge = "@{}" * (index == len(pairs) - 1)
        text = escape_latex(column.heading)
        heads.append(f"\\multicolumn{{2}}{{c{edge}}}{{{text}}}" if pair else text)
    yield f"{' & '.join(heads)} \\\\"


def _latex_lines(
    name: str,
    cells: Sequence[CellText],
    pairs: Sequence[bool],
    marked: Sequence[bool],
    *,
    stacked: bool,
) -> Iterator[str]:
    """Yield the lines of a row: intervals in a column of their own, or in a line below."""
    columns = [latex_cell(name)]
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
    return text + (mark if cell.mark else f"\\phantom{{{mark}}}" * has_marks)


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
    texts = iter(_row_texts(table, form))
    for title, rows in table.groups():
        if title:
            lines.append([f"*{escape_markdown(title)}*", *[""] * len(table.columns)])
        lines += [[escape_markdown(row.name), *map(_markdown_cell, next(texts))] for row in rows]
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
    sentences = list(caption_sentences(table, form))
    drawn = element("table", *_html_groups(table, form), aria_labelledby="caption")
    figure = element(
        "figure",
        element("figcaption", " ".join(sentences), id="caption"),
        element("div", drawn, class_="scroll", tabindex="0", role="region", aria_label="Table"),
    )
    made = element("small", table.signature) if table.signature else None
    main = element("main", figure, made)
    return html_document(table.about, main, policy=STYLE_POLICY, style=PAGE_STYLE)


def _html_groups(table: PaperTable, form: IntervalForm) -> Iterator[Html]:
    heads = [element("th", text, scope="col") for text in _heads(table)]
    yield element("thead", element("tr", *heads))
    texts = iter(_row_texts(table, form))
    for title, rows in table.groups():
        width = len(table.columns) + 1
        heading = element("th", element("em", title), scope="rowgroup", colspan=str(width))
        lines = [element("tr", heading)] if title else []
        for row in rows:
            cells = [element("td", *_html_cell(cell)) for cell in next(texts)]
            lines.append(element("tr", element("th", row.name, scope="row"), *cells))
        yield element("tbody", *lines)


def _html_cell(cell: CellText) -> Iterator[str]:
    yield element("b", cell.number) if cell.is_best else cell.number
    if cell.mark:
        yield element("sup", cell.mark)
    if cell.interval:
        yield f" {cell.interval}"


def render_paper_text(table: PaperTable, form: IntervalForm = "brackets", width: int = 100) -> str:
    """Return the table as text; the best number of a column has a star."""
    texts = _row_texts(table, form)
    columns = [_aligned([row[i] for row in texts]) for i in range(len(table.columns))]
    rows: list[tuple[str, ...]] = []
    rules, place = [], iter(range(len(texts)))
    for title, group in table.groups():
        rules.append(len(rows))
        if title:
            rows.append((title, *[""] * len(columns)))
        for row in group:
            index = next(place)
            rows.append((row.name, *(column[index] for column in columns)))
    whole = Table("", tuple(_heads(table)), tuple(rows))
    drawn = [_with_rules(part, rules) for part in fit_columns(whole, width)]
    caption = fill(" ".join(caption_sentences(table, form, "*")), width)
    signature = [f"signature: {table.signature}"] if table.signature else []
    return "\n\n".join([*drawn, caption, *signature]) + "\n"


def _aligned(cells: Sequence[CellText]) -> list[str]:
    """Return the texts of a column, with the same space for stars and marks in every row."""
    marks = ["*" * cell.is_best + cell.mark for cell in cells]
    space = max(map(len, marks), default=0)
    intervals = max((len(cell.interval) for cell in cells), default=0)
    return [
        f"{cell.number}{mark:<{space}} {cell.interval:<{intervals}}"[: None if intervals else -1]
        for cell, mark in zip(cells, marks, strict=True)
    ]


def _with_rules(table: Table, rules: Sequence[int]) -> str:
    head, *lines = draw_table(table).splitlines()[1:]
    rule = "  " + "─" * (max(map(len, (head, *lines))) - 2)
    drawn = [rule + "\n" + line if place in rules else line for place, line in enumerate(lines)]
    return "\n".join([head, *drawn])


# --- CSV -----------------------------------------------------------------------------------------


def render_paper_csv(table: PaperTable, form: IntervalForm = "brackets") -> str:
    """Return the table as CSV, with all digits.

    Each value has four columns: the value, the ends of its interval, and ``best``, ``worse``
    (significantly worse than the best) or nothing. ``form`` can only leave the intervals out.
    """
    ends = () if form == "none" else ("_low", "_high")
    header = [
        *([table.sections] if table.sections else []),
        table.heading,
        *(f"{column.name}{part}" for column in table.columns for part in ("", *ends, "_mark")),
        "signature",
    ]
    rows = [
        [
            *([row.section] if table.sections else []),
            row.name,
            *(part for cell in row.cells for part in _csv_cell(cell, has_ends=bool(ends))),
            table.signature,
        ]
        for row in table.rows
    ]
    return csv_text([header, *rows])


def _csv_cell(cell: PaperCell, *, has_ends: bool) -> Iterator[float | str]:
    estimate = cell.estimate
    yield "" if estimate is None else estimate.value
    if has_ends:
        yield from ("", "") if estimate is None else (estimate.low, estimate.high)
    yield "best" if cell.is_best else "worse" if cell.is_worse else ""


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
