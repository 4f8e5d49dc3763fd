"""Figures of a report for print, as SVG, PDF and PNG, drawn with matplotlib (extra figures).

Every part that pages draw becomes a figure of one or two columns of a journal. Series differ in
colour, marker and line style, so that figures can be read in grey.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from earwitness.core import StrPath
from earwitness.errors import MissingExtra
from earwitness.io.atomic import AtomicFolder
from earwitness.report.parts import (
    CategoryShares,
    Curve,
    Heat,
    Intervals,
    Matrix,
    NetworkPart,
    Panels,
    Part,
    Plane,
    Report,
    Scatters,
    Timeline,
    ValueSpread,
    VoteCounts,
)

try:
    from matplotlib.figure import Figure
except ModuleNotFoundError:
    raise MissingExtra("matplotlib", "figures", "saving figures") from None

from earwitness.report.figures.panels import (
    draw_heat,
    draw_matrix,
    draw_network,
    draw_panels,
    draw_plane,
    draw_scatters,
)
from earwitness.report.figures.plots import (
    draw_categories,
    draw_curve,
    draw_differences,
    draw_intervals,
    draw_spread,
    draw_timeline,
    draw_votes,
)
from earwitness.report.figures.style import SeriesStyles, lay_out, print_style

# --- Files ---------------------------------------------------------------------------------------


FILE_FORMATS: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {},
}  # with metadata
MAX_TITLE_LETTERS = 70  # of a title in a file name


def save_figures(report: Report, folder: StrPath) -> list[Path]:
    """Save every figure of a report as SVG, PDF and PNG, in a new folder.

    Parameters
    ----------
    report
        The report.
    folder
        Path of the folder; it must not exist. It is written completely or not at all.

    Returns
    -------
    list of Path
        Paths of the files, in the order of the report.
    """
    drawings = list_drawings(report)
    digits = max(2, len(str(len(drawings))))
    names = []
    with AtomicFolder(Path(folder)) as place, print_style():
        for count, (name, title, draw) in enumerate(drawings, 1):
            figure = draw_figure(draw)
            figure.set_layout_engine("none")  # the same layout in all formats
            for ending, metadata in FILE_FORMATS.items():
                names.append(f"{count:0{digits}}-{name}.{ending}")
                about = {"Title": f"{report.title}: {title}", **metadata}
                figure.savefig(place / names[-1], metadata=about)
    return [Path(folder) / name for name in names]


class Drawing(NamedTuple):
    """A figure of a report that can be drawn."""

    name: str
    title: str
    draw: Callable[[], Figure]


def list_drawings(report: Report) -> list[Drawing]:
    """Return all figures of a report, in its order."""
    styles = SeriesStyles(report.series, report.human)
    drawings = []
    for part in (part for section in report.sections for part in section.parts):
        title = getattr(part, "title", "")
        name = _ascii_name(title)
        for kind, draw in _find_drawings(part, styles):
            words = filter(None, [name, "" if name.endswith(kind) else kind])
            drawings.append(Drawing("-".join(words), title, draw))
    return drawings


def draw_figure(draw: Callable[[], Figure]) -> Figure:
    """Draw a figure and lay it out, in the style for print."""
    with print_style():
        figure = draw()
        lay_out(figure)
    return figure


def _ascii_name(title: str) -> str:
    """Return a title as part of a file name.

    >>> _ascii_name("collar_f1@3.0 ↑: people and systems")
    'collar-f1-3-0-people-and-systems'
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return "-".join(re.findall("[a-z0-9]+", plain))[:MAX_TITLE_LETTERS].rstrip("-")


def _find_drawings(part: Part, styles: SeriesStyles) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """Yield the kinds of figures of a part, each with the function that draws it."""
    match part:
        case Intervals() if part.rows:
            yield "intervals", partial(draw_intervals, part, styles)
        case Curve() if part.points:
            yield "curve", partial(draw_curve, part, styles)
        case ValueSpread() if part.series:
            yield "distribution", partial(draw_spread, part, styles)
        case VoteCounts() if part.rows:
            yield "votes", partial(draw_votes, part)
        case Panels() if part.panels:
            yield "listeners", partial(draw_panels, part, styles)
        case Scatters() if part.plots:
            yield "scatter", partial(draw_scatters, part)
        case Plane() if part.series:
            yield "plane", partial(draw_plane, part)
        case Matrix() if part.contrasts:
            yield "matrix", partial(draw_matrix, part)
            yield "differences", partial(draw_differences, part)
        case Heat() if part.cells:
            yield "heat-map", partial(draw_heat, part)
        case Timeline():
            yield "timeline", partial(draw_timeline, part, styles)
        case CategoryShares() if part.rows:
            yield "shares", partial(draw_categories, part)
        case NetworkPart() if part.network.arcs:
            yield "network", partial(draw_network, part)
