"""Boundary timelines with audio players, and word alignments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from unicodedata import bidirectional
from urllib.parse import quote

from earwitness.core import Alignment, WordPair, is_address
from earwitness.report.charts import Axis, time_axis
from earwitness.report.html.elements import (
    Html,
    draw_table,
    element,
    folded,
    header_cells,
    join_elements,
)
from earwitness.report.html.plots import plot_row, row_figure, scale_row
from earwitness.report.numbers import clock, number
from earwitness.report.parts import Table, Timeline, WordBlock
from earwitness.report.tables import (
    BOUNDARY_LABELS,
    BoundaryKind,
    BoundaryMark,
    boundary_marks,
)

# --- Boundary timelines --------------------------------------------------------------------------


def draw_timeline(part: Timeline, colours: Mapping[str, str]) -> Html:
    """Return one row per annotator and system; boundaries are hits, false alarms or misses."""
    shown, axis = part.shown, time_axis(part.shown.duration)
    annotated = sorted({time for times in shown.references.values() for time in times})
    inside = filter(axis.is_inside, annotated)
    guides = [element("i", style=f"left:{axis.place(time)}%") for time in inside]
    rows = [
        _draw_row(name, guides, [_draw_mark(name, "", time, axis) for time in times], "people")
        for name, times in shown.references.items()
    ]
    rows += [_system_row(part, system, axis, guides, colours[system]) for system in shown.outputs]
    head = _heading(part.values[0].name) if part.values else None
    return element(
        "figure",
        element("figcaption", shown.item, element("small", f" {clock(shown.duration)}")),
        element("p", shown.why, class_="why") if shown.why else None,
        _mark_legend(part),
        element("div", head, *rows, scale_row(axis, clock), class_="plot"),
        *_audio_player(shown.audio),
        *map(_titles_table, part.titles),
        class_="timeline",
        data_duration=shown.duration,
    )


def _heading(name: str) -> Html:
    cells = [element("span", class_=class_) for class_ in ("name", "track")]
    figure = element("span", name, class_="figure")
    return element("div", *cells, figure, class_="row scale heading")


MARK_MEANINGS: dict[BoundaryKind, str] = {
    "hit": "hit",
    "partial": "hit for some annotators only",
    "false": "false alarm",
    "miss": "missed",
    "ignored": "not counted",
}


def _mark_legend(part: Timeline) -> Html:
    """Return the meaning of the marks that occur on a timeline."""
    marks = (mark for system in part.shown.outputs for mark in boundary_marks(part, system))
    kinds = {"hit", "false", "miss", *(mark.kind for mark in marks)}
    keys = [
        element("span", element("b", class_=kind), meaning, class_="key")
        for kind, meaning in MARK_MEANINGS.items()
        if kind in kinds
    ]
    rule = f"Boundaries are matched one to one within {part.matching.collar:g} s."
    return element("p", *keys, element("small", rule), class_="marks")


def _system_row(
    part: Timeline, system: str, axis: Axis, guides: Sequence[Html], colour: str
) -> Html:
    marks = boundary_marks(part, system)
    counts = Counter(mark.kind for mark in marks)
    drawn = [
        _draw_mark(f"{system}, {_describe_mark(mark, part)}", mark.kind, mark.time, axis)
        for mark in marks
    ]
    values = part.shown.values[system]
    texts = [number(values[value.name], value) for value in part.values]
    present = [f"{label} {counts[kind]}" for kind, label in BOUNDARY_LABELS.items() if counts[kind]]
    named = (f"{value.name} {text}" for value, text in zip(part.values, texts, strict=True))
    label = "; ".join([f"{system}: {', '.join(present) or 'no boundaries'}", *named])
    return _draw_row(system, guides, drawn, colour, label, *texts[:1])


def _describe_mark(mark: BoundaryMark, part: Timeline) -> str:
    who = " and ".join(mark.annotators) if len(part.shown.references) > 1 else ""
    if mark.kind == "miss":
        return f"missed boundary of {who}" if who else "missed boundary"
    return f"{MARK_MEANINGS[mark.kind]} with {who}" if who else MARK_MEANINGS[mark.kind]


def _draw_mark(label: str, kind: str, time: float, axis: Axis) -> Html | None:
    """Return the mark of a boundary, or None outside the recording."""
    if not axis.is_inside(time):
        return None
    return element(
        "b",
        class_=kind or None,
        style=f"left:{axis.place(time)}%",
        title=f"{label} {clock(time)} ({time:.1f} s)",
    )


def _draw_row(
    name: str,
    guides: Sequence[Html],
    marks: Sequence[Html | None],
    colour: str,
    label: str = "",
    figure: str = "",
) -> Html:
    label = label or f"{name}: {len(marks)} boundaries"
    return plot_row(name, [*guides, *marks], label, row_figure(figure), f"row {colour}")


def _titles_table(table: Table) -> Html:
    """Return a folded table of titles."""
    rows = [element("tr", *(element("td", text, dir="auto") for text in row)) for row in table.rows]
    drawn = draw_table(header_cells(table.header), rows, "titles")
    return folded(table.title, element("div", drawn, class_="scroll"))


def _audio_player(audio: str) -> list[Html]:
    """Return an audio player, which the page's script connects to the timeline."""
    if not audio:
        return []
    hint = element("p", "Click a row to play the recording from that point.", class_="hint")
    return [hint, element("audio", controls=True, preload="none", src=sound_address(audio))]


def sound_address(audio: str) -> str:
    """Return an address that can only be an audio file: a web address or a path.

    >>> sound_address("talks/a b.mp3"), sound_address("javascript:alert(1)")
    ('talks/a%20b.mp3', './javascript%3Aalert%281%29')
    """
    if is_address(audio):
        return audio
    path = quote(audio)
    return f"./{path}" if "%3A" in path.split("/")[0] else path


# --- Word alignments -----------------------------------------------------------------------------


FOLDED_FROM_CHARACTERS = 4000  # longer texts are folded
EDIT_LABELS = {"S": "substituted", "D": "deleted", "I": "inserted"}
NO_WORD = element("i", "–", title="no word")


def words_block(part: WordBlock) -> Html:
    """Return aligned words, folded if they are long."""
    return folded(
        part.title,
        *map(_draw_alignment, part.alignments),
        class_="block",
        open=len(part.text) < FOLDED_FROM_CHARACTERS,
    )


def _draw_alignment(alignment: Alignment) -> Html:
    text = alignment.text
    if not alignment.pairs:
        return element("pre", *(element("span", line) for line in text.splitlines()))
    has_people = any(pair.people is not None for pair in alignment.pairs)
    heads = [alignment.wanted, "OUT", "", *(["people"] if has_people else [])]
    head = element("li", *(element("span", name) for name in heads), class_="head")
    pairs = [_draw_pair(pair, people=has_people) for pair in alignment.pairs]
    word_list = element("ol", head, *pairs, class_="words", dir=_text_direction(alignment))
    return element(
        "div", join_elements([word_list, element("p", text)]) if text else word_list, class_="card"
    )


def _text_direction(alignment: Alignment) -> str | None:
    """Return "rtl" if most letters belong to a right-to-left script."""
    text = "".join(pair.wanted + pair.actual for pair in alignment.pairs)
    letters = [bidirectional(letter) for letter in text if letter.isalpha()]
    return (
        "rtl" if 2 * sum(direction in ("R", "AL") for direction in letters) > len(letters) else None
    )


def _draw_pair(pair: WordPair, *, people: bool) -> Html:
    """Return the reference word, the output word, the edit and the number of people."""
    number = "" if pair.people is None else str(pair.people)
    return element(
        "li",
        *(element("span", word) if word else NO_WORD for word in (pair.wanted, pair.actual)),
        element("b", pair.mark, title=EDIT_LABELS[pair.mark]) if pair.mark else None,
        element("small", number) if people else None,
        class_=pair.mark or None,
    )
