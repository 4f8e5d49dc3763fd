"""Boundary timelines with audio players, and word alignments."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from unicodedata import bidirectional
from urllib.parse import quote

from earwitness.core import Alignment, WordPair, is_address
from earwitness.report.html.elements import Html, element, join_elements
from earwitness.report.html.plots import Axis, tick_mark, time_axis
from earwitness.report.numbers import clock, number
from earwitness.report.parts import Timeline, WordBlock

# --- Boundary timelines --------------------------------------------------------------------------


def draw_timeline(part: Timeline, colours: Mapping[str, str]) -> Html:
    """Return one row per annotator and system; boundaries far from all references are hollow."""
    shown = part.shown
    axis = time_axis(shown.duration)
    guides = sorted({time for times in shown.references.values() for time in times})
    rows = [
        _boundary_row(name, times, axis, "people", guides)
        for name, times in shown.references.items()
    ]
    for system, times in shown.outputs.items():
        is_near = [_is_near(time, guides, shown.near) for time in times]
        value_texts = _value_texts(part, system)
        rows.append(
            _boundary_row(system, times, axis, colours[system], guides, is_near, value_texts)
        )
    marks = [tick_mark(clock(time), axis.place(time)) for time in axis.ticks]
    scale = element(
        "div",
        element("span", class_="name"),
        element("span", *marks, class_="track"),
        element("span", class_="figure"),
        class_="row scale",
        aria_hidden="true",
    )
    head = element("div", *_heading(part), class_="row scale heading") if part.values else None
    note = f"solid marks are within {shown.near:g} s of a reference, hollow marks are not"
    return element(
        "figure",
        element("figcaption", shown.item, element("small", f" {clock(shown.duration)}; {note}")),
        element("p", shown.why, class_="why") if shown.why else None,
        element("div", head, *rows, scale, class_="plot"),
        *_audio_player(shown.audio),
        class_="timeline",
        data_duration=shown.duration,
    )


def _heading(part: Timeline) -> list[Html]:
    return [
        element("span", class_="name"),
        element("span", class_="track"),
        element("span", part.values[0].name, class_="figure"),
    ]


def _value_texts(part: Timeline, system: str) -> list[str]:
    values = part.shown.values[system]
    return [f"{value.name} {number(values[value.name], value)}" for value in part.values]


def _is_near(time: float, guides: Sequence[float], near: float) -> bool:
    place = bisect_left(guides, time)
    return any(abs(guide - time) <= near for guide in guides[max(0, place - 1) : place + 1])


def _boundary_row(
    name: str,
    times: Sequence[float],
    axis: Axis,
    colour: str,
    guides: Sequence[float],
    is_near: Sequence[bool] = (),
    value_texts: Sequence[str] = (),
) -> Html:
    lines = [
        element("i", style=f"left:{axis.place(time)}%") for time in guides if 0 < time < axis.high
    ]
    ticks = [
        element(
            "b",
            class_="far" if is_near and not is_near[index] else None,
            style=f"left:{axis.place(time)}%",
            title=f"{name} {clock(time)} ({time:.1f} s)",
        )
        for index, time in enumerate(times)
        if 0 < time < axis.high
    ]
    label = "; ".join([f"{name}: {len(times)} boundaries", *value_texts])
    value = value_texts[0].rpartition(" ")[2] if value_texts else ""
    return element(
        "div",
        element("span", name, class_="name", title=label),
        element("span", *lines, *ticks, class_="track", role="img", aria_label=label),
        element("span", element("b", value), class_="figure"),
        class_=f"row {colour}",
    )


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
    return element(
        "details",
        element("summary", part.title),
        *(_draw_alignment(alignment) for alignment in part.alignments),
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
