"""Reports as LaTeX tables (booktabs)."""

from __future__ import annotations

import re

from earwitness.report.parts import Lines, Quote, Report, Section, Table, WordBlock
from earwitness.report.tables import part_tables

LATEX_ESCAPES = {char: f"\\{char}" for char in "#$%&_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "–": "--",
    "—": "---",
    "·": r"$\cdot$",
    "…": r"\dots{}",
    "π": r"$\pi$",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "′": "$'$",
    "∞": r"$\infty$",
    "√": r"$\surd$",
    "†": r"$\dagger$",
    "α": r"$\alpha$",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    "₂": "$_2$",
    "₃": "$_3$",
}
PACKAGES_COMMENT = (
    "% requires \\usepackage{booktabs}, \\usepackage{graphicx} and \\usepackage[T1]{fontenc}"
)
LIGATURES = ("--", ",,", "``", "''", "?`", "!`")  # pairs that LaTeX would join
# Tables are scaled down to the line width.
SHRINK_TO_LINE = "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%"
MINUS = re.compile(r"(?<![\w.−-])-(?=\d|\$\\infty)")


def render_latex(report: Report) -> str:
    """Return the tables to include in a document, with their provenance."""
    notes = [f"{report.title}: {report.about}", *report.provenance]
    parts = ["\n".join([PACKAGES_COMMENT, *(f"% {' '.join(note.split())}" for note in notes)])]
    sections = [section for section in report.sections if section.place != "pictures"]
    parts += [part for section in sections for part in _section_parts(section)]
    provenance = "\n".join(f"\\par {_escape_breakable(line)}" for line in report.provenance)
    parts.append("\\begingroup\\footnotesize\\raggedright\n" + provenance + "\n\\par\\endgroup")
    return "\n\n".join(parts) + "\n"


def _section_parts(section: Section) -> list[str]:
    parts = []
    for part in section.parts:
        if isinstance(part, Lines):
            items = "\n".join(f"\\item {{}}{escape(line)}" for line in part.lines)
            if items:
                parts.append(f"\\begin{{itemize}}\n{items}\n\\end{{itemize}}")
        if isinstance(part, Quote):
            parts.append(f"\\begin{{quote}}\n{_escape_breakable(part.text)}\n\\end{{quote}}")
        if isinstance(part, WordBlock):
            lines = "\\\\\n".join(_typewriter_line(line) for line in part.text.splitlines())
            parts.append(
                f"{escape(part.title)}\n\n{{\\footnotesize\\ttfamily\\noindent {lines}\\par}}"
            )
        parts += [_latex_table(table) for table in part_tables(part)]
    if parts and section.text:
        parts.append(escape(section.text))
    return parts


def _typewriter_line(line: str) -> str:
    """Return a line with its spaces preserved."""
    return "{}" + "".join("~" if char == " " else LATEX_ESCAPES.get(char, char) for char in line)


def _latex_table(table: Table) -> str:
    label = "-".join(re.findall(r"[a-z0-9]+", table.title.lower()))[:60]
    columns = "l" * table.names + "r" * (len(table.header) - table.names)
    rows = "\n".join(f"{_table_row(row)} \\\\" for row in table.rows)
    return "\n".join(
        [
            "\\begin{table}[htbp]",
            "\\centering",
            f"\\caption{{{_escape_breakable(table.title)}}}",
            f"\\label{{tab:{label}}}",
            SHRINK_TO_LINE,
            f"\\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
            "\\toprule",
            f"{_table_row(table.header)} \\\\",
            "\\midrule",
            rows,
            "\\bottomrule",
            "\\end{tabular}}",
            "\\end{table}",
        ]
    )


def _table_row(cells: tuple[str, ...]) -> str:
    return " & ".join(map(table_cell, cells))


def table_cell(text: str) -> str:
    """Return a cell; a leading bracket or star must not become an option of the previous row."""
    escaped = MINUS.sub("$-$", escape(text))
    return "{}" + escaped if text.startswith(("[", "*")) else escaped


def escape(text: str) -> str:
    """Return text with LaTeX characters escaped.

    >>> escape("100 % of a_b ↑")
    '100 \\\\% of a\\\\_b $\\\\uparrow$'
    """
    for pair in LIGATURES:
        text = text.replace(pair, "\0".join(pair))
    escaped = "".join(LATEX_ESCAPES.get(char, char) for char in text)
    return " ".join(escaped.replace("\0", "{}").split())


def _escape_breakable(text: str) -> str:
    """Return escaped text; long signatures may break after commas, bars and equals signs."""
    escaped = escape(text)
    for mark in (",", r"\textbar{}", "="):
        escaped = escaped.replace(mark, f"{mark}\\allowbreak{{}}")
    return escaped
