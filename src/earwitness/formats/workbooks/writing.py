"""One workbook a rater: examples, and a table to fill in that can be matched when it comes back.

Every text is written as text: one that begins with = + - or @ is never a formula. Captions, ids
and keys are locked, cells for answers are not. The same clips give the same bytes.
"""

from __future__ import annotations

import datetime
import io
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from earwitness.errors import MissingExtra, UsageError
from earwitness.formats.whole import WholeFolder
from earwitness.formats.workbooks.reading import ABOUT, OURS
from earwitness.formats.workbooks.sent import USUAL, Sent, file_names, is_web, link
from earwitness.formats.workbooks.table import Table
from earwitness.formats.workbooks.words import words
from earwitness.listening.rubrics import Rubric, thumbs

LAYOUT = "1"
CREATED = datetime.datetime(2000, 1, 1)  # so that bytes do not depend on the day
PLAIN = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}


def workbook(sent: Sent, rubric: Rubric | None = None, *, links: str, ask: bool = True) -> bytes:
    """The workbook of a rater, whose links go into a folder or to an address.

    ``ask`` also asks of every clip whether it is synthesised.
    """
    try:
        import xlsxwriter
    except ImportError:
        raise MissingExtra("xlsxwriter", "xlsx", "writing workbooks") from None
    rubric = rubric or thumbs()
    held = io.BytesIO()
    book = xlsxwriter.Workbook(held, {"in_memory": True, **PLAIN})
    about = {"study": sent.study, "rater": sent.rater, "rubric": rubric.name, "layout": LAYOUT}
    if sent.digest:
        about |= {"digest": sent.digest, "listener": str(sent.listener)}
    book.set_properties({"title": f"{sent.study}: {sent.rater}", "created": CREATED})
    for name, value in about.items():
        book.set_custom_property(name, value, "text")
    table = Table(book, rubric, words(rubric.language), ask)
    table.examples()
    table.assessment([(clip, link(links, clip)) for clip in sent.clips])
    _about(book, about)
    book.close()
    return held.getvalue()


def write_workbooks(
    folder: str | PathLike[str],
    sent: Sequence[Sent],
    rubric: Rubric | None = None,
    *,
    local: str = "clips",
    web: str = "",
    pattern: str = USUAL,
    ask: bool = True,
) -> list[Path]:
    """Workbooks of all raters in a new folder: one with links into the folder ``local``, and one
    with links to the address ``web``, where these are given.
    """
    flavours = {name: place for name, place in (("local", local), ("web", web)) if place}
    _check(sent, flavours)
    numbers = {one.rater: one.listener or place for place, one in enumerate(sent, 1)}
    names = file_names(pattern, numbers, list(flavours))
    place = Path(folder)
    with WholeFolder(place) as made:
        for one, files in zip(sent, names, strict=True):
            for file, links in zip(files, flavours.values(), strict=True):
                (made / file).write_bytes(workbook(one, rubric, links=links, ask=ask))
    return [place / file for files in names for file in files]


def _check(sent: Sequence[Sent], flavours: dict[str, str]) -> None:
    raters = [one.rater for one in sent]
    if not sent or len({*raters}) < len(raters):
        raise UsageError("workbooks need raters, each of them once")
    if not flavours:
        raise UsageError("links must go somewhere — name a folder, an address, or both")
    if "web" in flavours and not is_web(flavours["web"]):
        raise UsageError(f"web: must begin with https:// or http://, got {flavours['web']!r}")
    if "local" in flavours and is_web(flavours["local"]):
        raise UsageError(f"local: must be a folder, got {flavours['local']!r}")


def _about(book: Any, about: dict[str, str]) -> None:
    """The hidden sheet by which we know our own workbooks."""
    sheet = book.add_worksheet(ABOUT)
    for row, (name, value) in enumerate({OURS: LAYOUT, **about}.items()):
        sheet.write_string(row, 0, name)
        sheet.write_string(row, 1, value)
    sheet.protect()
    sheet.very_hidden()
