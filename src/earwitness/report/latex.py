"""Reports as LaTeX tables with booktabs."""

from __future__ import annotations

import re

from earwitness.report.parts import Lines, Quote, Report, Section, Table, WordBlock
from earwitness.report.tables import tables

LATEX_ESCAPES = {char: f"\\{char}" for char in "#$%&_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
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
}
PACKAGES_COMMENT = (
    "% needs \\usepackage{booktabs}, \\usepackage{graphicx} and \\usepackage[T1]{fontenc}"
)
LIGATURES = ("--", ",,", "``", "''", "?`", "!`")  # pairs that would become another character
# A table is never wider than a line.
SHRINK_TO_LINE = "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%"
MINUS = re.compile(r"(?<![\w.−-])-(?=\d)")


def latex(report: Report) -> str:
    """Tables to include in a document, with their provenance."""
    notes = [f"{report.title}: {report.about}", *report.provenance]
    parts = ["\n".join([PACKAGES_COMMENT, *(f"% {' '.join(note.split())}" for note in notes)])]
    sections = [section for section in report.sections if section.place != "pictures"]
    parts += [part for section in sections for part in _section(section)]
    made = "\n".join(f"\\par {_breakable(line)}" for line in report.provenance)
    parts.append("\\begingroup\\footnotesize\\raggedright\n" + made + "\n\\par\\endgroup")
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> list[str]:
    parts = []
    for part in section.parts:
        if isinstance(part, Lines):
            items = "\n".join(f"\\item {{}}{escape(line)}" for line in part.lines)
            if items:
                parts.append(f"\\begin{{itemize}}\n{items}\n\\end{{itemize}}")
        if isinstance(part, Quote):
            parts.append(f"\\begin{{quote}}\n{_breakable(part.text)}\n\\end{{quote}}")
        if isinstance(part, WordBlock):
            lines = "\\\\\n".join(_typed(line) for line in part.text.splitlines())
            parts.append(
                f"{escape(part.title)}\n\n{{\\footnotesize\\ttfamily\\noindent {lines}\\par}}"
            )
        parts += [_table(table) for table in tables(part)]
    if parts and section.text:
        parts.append(escape(section.text))
    return parts


def _typed(line: str) -> str:
    """A line whose blanks stay."""
    return "{}" + "".join("~" if char == " " else LATEX_ESCAPES.get(char, char) for char in line)


def _key(title: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", title.lower()))[:60]


def _table(table: Table) -> str:
    columns = "l" * table.names + "r" * (len(table.header) - table.names)
    rows = "\n".join(f"{_row(row)} \\\\" for row in table.rows)
    return "\n".join(
        [
            "\\begin{table}[htbp]",
            "\\centering",
            f"\\caption{{{_breakable(table.title)}}}",
            f"\\label{{tab:{_key(table.title)}}}",
            SHRINK_TO_LINE,
            f"\\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
            "\\toprule",
            f"{_row(table.header)} \\\\",
            "\\midrule",
            rows,
            "\\bottomrule",
            "\\end{tabular}}",
            "\\end{table}",
        ]
    )


def _row(cells: tuple[str, ...]) -> str:
    return " & ".join(map(_cell, cells))


def _cell(text: str) -> str:
    """A cell; some beginnings would be taken for an option of the line before."""
    made = MINUS.sub("$-$", escape(text))
    return "{}" + made if text.startswith(("[", "*")) else made


def escape(text: str) -> str:
    """Text that LaTeX leaves alone.

    >>> escape("100 % of a_b ↑")
    '100 \\\\% of a\\\\_b $\\\\uparrow$'
    """
    for pair in LIGATURES:
        text = text.replace(pair, "\0".join(pair))
    made = "".join(LATEX_ESCAPES.get(char, char) for char in text)
    return " ".join(made.replace("\0", "{}").split())


def _breakable(text: str) -> str:
    """Long signatures may be broken behind commas and bars."""
    made = escape(text)
    for mark in (",", r"\textbar{}", "="):
        made = made.replace(mark, f"{mark}\\allowbreak{{}}")
    return made
