"""Layout of HTML pages: sections, tables, styles and scripts."""

from __future__ import annotations

from itertools import accumulate
from math import ceil

from earwitness.report.html.bars import (
    counts_plot,
    differences_plot,
    heat_square,
    matrix_table,
    shares_plot,
)
from earwitness.report.html.elements import (
    PROVENANCE_TITLE,
    SCRIPT_POLICY,
    Html,
    breakable,
    draw_table,
    element,
    folded,
    html_document,
    provenance_section,
    read_static,
    script_element,
    scroll_box,
)
from earwitness.report.html.network import network_picture
from earwitness.report.html.panels import curve_plot, panels_plot, plane_plot, scatters_plot
from earwitness.report.html.plots import (
    HUMAN_CLASSES,
    MAX_OPEN_ROWS,
    intervals_plot,
    legend,
    series_classes,
    spread_plot,
)
from earwitness.report.html.timeline import draw_timeline, words_block
from earwitness.report.parts import (
    CategoryShares,
    Curve,
    Heat,
    Intervals,
    Lines,
    Matrix,
    NetworkPart,
    Panels,
    Part,
    Plane,
    Quote,
    Report,
    Scatters,
    Section,
    Table,
    Timeline,
    ValuePlot,
    ValueSpread,
    VoteCounts,
    WordBlock,
)
from earwitness.report.sentences import join_names
from earwitness.report.tables import part_tables

MAX_OPEN_LINES = 20  # about one screen; further parts of a section are folded
SORTABLE_ABOVE_ROWS = 12  # longer tables can be sorted and filtered
MAX_FOLDED_TITLES = 3  # titles of folded parts in the line that unfolds them
TALL_ABOVE_ROWS = 30  # longer tables scroll in a box
MIDDLE_ABOVE_CHARACTERS = 14  # longer names have a minimum width, so that they have few lines
LONG_ABOVE_CHARACTERS = 40  # longer texts have a larger one
WIDE_ABOVE_COLUMNS = 7  # in wider tables intervals are shown below their numbers
MEDIA_POLICY = f"{SCRIPT_POLICY}; media-src * file: data: blob:; img-src data:"


def render_html(report: Report) -> str:
    """Return the report as an HTML page."""
    page = _Page(report)
    return html_document(
        f"{report.title}: {', '.join(report.series)}",
        page.header(),
        page.main(),
        script_element("report.html", "report.js"),
        policy=MEDIA_POLICY,
        style=read_static("report.html", "report.css"),
    )


def render_frame(report: Report) -> str:
    """Return the report as a frame for notebooks, in which styles of the notebook do not apply."""
    return element(
        "iframe",
        srcdoc=render_html(report),
        sandbox="allow-scripts",
        title=report.title,
        style="width: 100%; height: 40rem; border: 1px solid #d9d8d2; resize: vertical",
    )


class _Page:
    """Renders parts as elements, with the same marker per system on the whole page."""

    def __init__(self, report: Report) -> None:
        self._report = report
        systems = [name for name in report.series if name != report.human]
        self._colours = {name: series_classes(i) for i, name in enumerate(systems)}
        self._colours |= {name: HUMAN_CLASSES for name in report.series if name == report.human}

    def header(self) -> Html:
        report = self._report
        titles = [section.title for section in report.sections]
        titles += [PROVENANCE_TITLE] if report.provenance else []
        links = [
            element("a", breakable(t), href=f"#{_section_anchor(i, t)}")
            for i, t in enumerate(titles)
        ]
        return element(
            "header",
            element("h1", breakable(report.title)),
            element("p", report.about),
            legend(report.series, self._colours),
            element("nav", *links, aria_label="Sections"),
        )

    def main(self) -> Html:
        sections = [self._section(i, s) for i, s in enumerate(self._report.sections)]
        anchor = _section_anchor(len(sections), PROVENANCE_TITLE)
        return element("main", *sections, provenance_section(self._report.provenance, anchor))

    def _section(self, index: int, section: Section) -> Html:
        heading = element("h2", breakable(section.title))
        inside = [element("p", section.text)] if section.text else []
        inside += self._parts(section)
        content = [folded(heading, *inside)] if section.folded else [heading, *inside]
        return element("section", *content, id=_section_anchor(index, section.title))

    def _parts(self, section: Section) -> list[Html]:
        """Return the parts; after about one screen, the others are folded."""
        parts = [self._part(part) for part in section.parts]
        heights = accumulate(map(_count_lines, section.parts))
        shown = max(1, sum(height <= MAX_OPEN_LINES for height in heights))
        rest = section.parts[shown:]
        if not rest:
            return parts
        titles = [part.title for part in rest if not isinstance(part, Quote) and part.title]
        names = f": {join_names(titles, MAX_FOLDED_TITLES)}" if titles else ""
        summary = breakable(f"Show {len(rest):,} more{names}")
        return [*parts[:shown], folded(summary, *parts[shown:], class_="more")]

    def _part(self, part: Part) -> Html:
        colours = self._colours
        match part:
            case Table():
                return _html_table(part_tables(part)[0], part.title)
            case Lines():
                heading = element("h3", breakable(part.title)) if part.title else None
                items = [element("li", line) for line in part.lines]
                return element("div", heading, element("ul", *items))
            case Intervals():
                return draw_figure(part, intervals_plot(part, colours))
            case Curve():
                return draw_figure(part, curve_plot(part, colours))
            case ValueSpread():
                return draw_figure(part, spread_plot(part, colours), _drawn_note(part))
            case VoteCounts():
                return draw_figure(part, counts_plot(part))
            case Panels():
                return draw_figure(part, panels_plot(part, colours))
            case Scatters():
                return draw_figure(part, scatters_plot(part, colours))
            case Plane():
                return draw_figure(part, plane_plot(part))
            case Heat():
                return draw_figure(part, heat_square(part))
            case Quote():
                return element("blockquote", element("p", part.text))
            case Matrix():
                table = _html_table(part_tables(part)[1])
                differences = folded("All differences with p-values", table)
                plot = differences_plot(part, colours)
                return element("figure", _caption(part), matrix_table(part), plot, differences)
            case WordBlock():
                return words_block(part)
            case CategoryShares():
                return shares_plot(part)
            case NetworkPart():
                return network_picture(part, colours)
            case Timeline():
                return draw_timeline(part, colours)


def draw_figure(part: ValuePlot, plot: Html, note: str = "") -> Html:
    """Return a plot with its caption, which ends with the note, and its tables."""
    tables = [folded("Show as table", _html_table(table)) for table in part_tables(part)]
    size = "compact" if isinstance(part, Curve) and part.compact else None
    return element("figure", _caption(part, note), plot, *tables, class_=size)


def _caption(part: ValuePlot | Matrix, note: str = "") -> Html:
    text = f" {part.value.doc}{note}"
    return element("figcaption", breakable(part.title), element("small", text))


def _count_lines(part: Part) -> float:
    """Return the approximate height of a part, in rows of a plot."""
    match part:
        case Table():
            return min(len(part.rows), TALL_ABOVE_ROWS)
        case Lines():
            return len(part.lines)
        case Intervals():
            return min(sum(len(row) for _, row in part.rows), MAX_OPEN_ROWS)
        case ValueSpread():
            return 1.5 * len(part.series)
        case VoteCounts() | CategoryShares():
            return len(part.rows)
        case Panels():
            return 4 * ceil(len(part.panels) / 7)
        case Scatters():
            return 11 * ceil(len(part.plots) / 3)
        case Heat():
            return len(part.names)
        case Matrix():
            return 2.5 * len(part.systems)
        case Timeline():
            return len(part.shown.references) + len(part.shown.outputs)
        case Curve() if part.compact:
            return 5
        case Curve() | Plane() | NetworkPart():
            return 12
        case WordBlock() | Quote():
            return 4


def _drawn_note(part: ValueSpread) -> str:
    shown = max((len(values) for values in part.series.values()), default=0)
    return f"; {shown:,} of {part.cases:,} {part.unit}" if shown < part.cases else ""


def _html_table(table: Table, caption: str = "") -> Html:
    head = [
        element("th", breakable(text), scope="col", class_="text" if i < table.names else None)
        for i, text in enumerate(table.header)
    ]
    rows = (
        element(
            "tr",
            *(
                element("th", breakable(text), scope="row", class_=_width_class(text))
                for text in row[: table.names]
            ),
            *(element("td", *_split_interval(text)) for text in row[table.names :]),
        )
        for row in table.rows
    )
    return scroll_box(draw_table(head, rows, _table_classes(table), caption), table.title)


def _width_class(text: str) -> str | None:
    if len(text) > LONG_ABOVE_CHARACTERS:
        return "long"
    return "mid" if len(text) > MIDDLE_ABOVE_CHARACTERS else None


def _table_classes(table: Table) -> str | None:
    """Return the classes of a table: wide, tall, and sortable.

    Columns without a heading have rows of different kinds, which are not sorted unless wanted.
    """
    is_long = len(table.rows) > SORTABLE_ABOVE_ROWS and all(table.header)
    classes = [
        *(["wide"] if len(table.header) > WIDE_ABOVE_COLUMNS else []),
        *(["tall"] if len(table.rows) > TALL_ABOVE_ROWS else []),
        *(["sortable"] if table.sortable or is_long else []),
    ]
    return " ".join(classes) or None


def _split_interval(text: str) -> tuple[str, ...]:
    """Return a number and its interval, which is shown in smaller type."""
    point, bracket, ends = text.partition(" [")
    return (point, element("small", f" [{ends}")) if bracket else (text,)


def _section_anchor(index: int, title: str) -> str:
    """Return an anchor that is unique on the page."""
    return f"{index}-" + "".join(char if char.isalnum() else "-" for char in title.lower())
