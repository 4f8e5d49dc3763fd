"""Layout of HTML pages: sections, tables, styles and scripts."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from earwitness.report.html.bars import (
    counts_plot,
    differences_plot,
    heat_square,
    matrix_table,
    shares_plot,
)
from earwitness.report.html.elements import Html, element
from earwitness.report.html.network import network_picture
from earwitness.report.html.panels import panels_plot, scatters_plot
from earwitness.report.html.plots import curve_plot, intervals_plot, legend, spread_plot
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
from earwitness.report.tables import part_tables

SERIES_COLORS = 8
LONG_ABOVE_CHARACTERS = 40  # longer texts may be broken into lines
WIDE_ABOVE_COLUMNS = 7  # in wider tables intervals are shown below their numbers
PROVENANCE_TITLE = "Provenance"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "media-src * file: data: blob:; img-src data:"
)


def render_html(report: Report) -> str:
    """Return the report as an HTML page."""
    page = _Page(report)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=CONTENT_SECURITY_POLICY),
        element("meta", name="generator", content="earwitness"),
        element("title", f"{report.title}: {', '.join(report.series)}"),
        element("style", Html(_read_static("report.css"))),
    )
    body = element(
        "body", page.header(), page.main(), element("script", Html(_read_static("report.js")))
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


@cache
def _read_static(name: str) -> str:
    return (files("earwitness.report.html") / "static" / name).read_text(encoding="utf-8")


class _Page:
    """Renders parts as elements, with the same colour per system on the whole page."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._colours = {
            name: f"s{i % SERIES_COLORS} k{i // SERIES_COLORS % 3}"
            for i, name in enumerate(report.series)
        }

    def header(self) -> Html:
        report = self._report
        titles = [*(section.title for section in report.sections), PROVENANCE_TITLE]
        links = [element("a", t, href=f"#{_section_anchor(i, t)}") for i, t in enumerate(titles)]
        return element(
            "header",
            element("h1", report.title),
            element("p", report.about),
            legend(report.series, self._colours),
            element("nav", *links, aria_label="Sections"),
        )

    def main(self) -> Html:
        lines = [element("li", line) for line in self._report.provenance]
        provenance_list = element("ul", *lines, class_="made")
        sections = [self._section(i, s) for i, s in enumerate(self._report.sections)]
        provenance = element(
            "section",
            element("h2", PROVENANCE_TITLE),
            provenance_list,
            id=_section_anchor(len(sections), PROVENANCE_TITLE),
        )
        return element("main", *sections, provenance)

    def _section(self, index: int, section: Section) -> Html:
        inside = [element("p", section.text)] if section.text else []
        inside += [self._part(part) for part in section.parts]
        if section.folded:
            summary = element("summary", element("h2", section.title))
            return element(
                "section",
                element("details", summary, *inside),
                id=_section_anchor(index, section.title),
            )
        return element(
            "section",
            element("h2", section.title),
            *inside,
            id=_section_anchor(index, section.title),
        )

    def _part(self, part: Part) -> Html:
        match part:
            case Table():
                return _html_table(part)
            case Lines():
                heading = element("h3", part.title) if part.title else None
                items = [element("li", line) for line in part.lines]
                return element("div", heading, element("ul", *items))
            case Intervals():
                return self._figure(part, intervals_plot(part, self._colours))
            case Curve():
                return self._figure(part, curve_plot(part, self._colours))
            case ValueSpread():
                return self._figure(part, spread_plot(part, self._colours), _drawn_note(part))
            case VoteCounts():
                return self._figure(part, counts_plot(part))
            case Panels():
                return self._figure(part, panels_plot(part, self._colours))
            case Scatters():
                return self._figure(part, scatters_plot(part, self._colours))
            case Heat():
                return self._figure(part, heat_square(part))
            case Quote():
                return element("blockquote", element("p", part.text))
            case Matrix():
                plot = differences_plot(part, self._colours)
                all_differences = _folded_table(
                    part_tables(part)[1], "All differences with p-values"
                )
                return element("figure", matrix_table(part), plot, all_differences)
            case WordBlock():
                return words_block(part)
            case CategoryShares():
                return shares_plot(part)
            case NetworkPart():
                return network_picture(part, self._colours)
            case Timeline():
                return draw_timeline(part, self._colours)

    def _figure(self, part: ValuePlot, plot: Html, note: str = "") -> Html:
        return element(
            "figure",
            element("figcaption", part.title, element("small", f" {part.value.doc}{note}")),
            plot,
            *(_folded_table(table) for table in part_tables(part)),
        )


def _drawn_note(part: ValueSpread) -> str:
    shown = max((len(values) for values in part.series.values()), default=0)
    return f"; {shown:,} of {part.cases:,} {part.unit}" if shown < part.cases else ""


def _folded_table(table: Table, summary: str = "Show as table") -> Html:
    return element("details", element("summary", summary), _html_table(table, titled=False))


def _html_table(table: Table, *, titled: bool = True) -> Html:
    def line(row: tuple[str, ...]) -> Html:
        cells = [
            element(
                "th",
                text,
                scope="row",
                class_="long" if len(text) > LONG_ABOVE_CHARACTERS else None,
            )
            if i < table.names
            else element("td", *_split_interval(text))
            for i, text in enumerate(row)
        ]
        return element("tr", *cells)

    head = [
        element("th", text, scope="col", class_="text" if i < table.names else None)
        for i, text in enumerate(table.header)
    ]
    return element(
        "div",
        element(
            "table",
            element("caption", table.title) if titled else None,
            element("thead", element("tr", *head)),
            element("tbody", *(line(row) for row in table.rows)),
            class_="wide" if len(table.header) > WIDE_ABOVE_COLUMNS else None,
        ),
        class_="scroll",
    )


def _split_interval(text: str) -> tuple[str, ...]:
    """Return a number and its interval, which is shown in smaller type."""
    point, bracket, ends = text.partition(" [")
    return (point, element("small", f" [{ends}")) if bracket else (text,)


def _section_anchor(index: int, title: str) -> str:
    """Return an anchor that is unique on the page."""
    return f"{index}-" + "".join(char if char.isalnum() else "-" for char in title.lower())
