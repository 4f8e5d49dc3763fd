"""Boundaries of people and systems over time; a click plays from there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from earwitness.data import Value, is_address
from earwitness.report.html.axis import Axis, times_of
from earwitness.report.html.elements import Html, element
from earwitness.report.numbers import clock, number
from earwitness.report.parts import Timeline


def timeline(part: Timeline, colours: Mapping[str, str], headlines: Sequence[Value]) -> Html:
    """A row for every annotator and every system."""
    shown = part.shown
    axis = times_of(shown.duration)
    guides = sorted({t for times in shown.references.values() for t in times})
    rows = [_row(name, times, axis, "people", "", ()) for name, times in shown.references.items()]
    for system, times in shown.outputs.items():
        values = shown.values[system]
        told = ", ".join(f"{v.name} {number(values[v.name], v)}" for v in headlines)
        rows.append(_row(system, times, axis, colours[system], told, guides))
    marks = [element("span", clock(t), style=f"left:{axis.place(t)}%") for t in axis.ticks]
    scale = element(
        "div",
        element("span", class_="name"),
        element("span", *marks, class_="track"),
        class_="row scale",
        aria_hidden="true",
    )
    return element(
        "figure",
        element("figcaption", shown.item, element("small", f" {clock(shown.duration)}")),
        element("div", *rows, scale, class_="plot"),
        _sound(shown.audio),
        class_="timeline",
        data_duration=shown.duration,
    )


def _row(
    name: str,
    times: Sequence[float],
    axis: Axis,
    colour: str,
    told: str,
    guides: Sequence[float],
) -> Html:
    inside = [t for t in times if 0 < t < axis.high]
    lines = [element("i", style=f"left:{axis.place(t)}%") for t in guides if 0 < t < axis.high]
    ticks = [
        element("b", style=f"left:{axis.place(t)}%", title=f"{name} {clock(t)}") for t in inside
    ]
    what = f"{name}: {len(times)} boundaries" + (f"; {told}" if told else "")
    return element(
        "div",
        element("span", name, class_="name", title=what),
        element("span", *lines, *ticks, class_="track", role="img", aria_label=what),
        class_=f"row {colour}",
    )


def _sound(audio: str) -> Html | None:
    """A player; the page's script lets the timeline drive it."""
    if not audio:
        return None
    return element("audio", controls=True, preload="none", src=address(audio))


def address(audio: str) -> str:
    """An address that can only be sound: a web address, or a path.

    >>> address("talks/a b.mp3"), address("javascript:alert(1)")
    ('talks/a%20b.mp3', './javascript%3Aalert%281%29')
    """
    if is_address(audio):
        return audio
    path = quote(audio)
    return f"./{path}" if "%3A" in path.split("/")[0] else path
