"""HTML page that plays a skim, with its trade-off curve over z."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from importlib.resources import files
from math import isfinite
from typing import Any

from earwitness.audio.signal import starts_of
from earwitness.report.html.elements import Html, element
from earwitness.report.html.plots import Axis, fit_axis
from earwitness.skims.picture import (
    data_address,
    frequency_ticks,
    gaps,
    headed,
    spoken,
    spread,
    time_ticks,
)
from earwitness.skims.view import CurvePoint, SkimView, day_of, lasting, reasons, time_of

# --- Trade-off curve -----------------------------------------------------------------------------


LABEL_SPACING_PERCENT = 6.0  # percent within which a second name would lie over the first
LABEL_BEFORE_FROM_PERCENT = 80.0  # percent from which on names stand before their dots


def curve_figure(points: Sequence[CurvePoint], z: float | None) -> Html:
    """A picture, and its numbers as a table."""
    known = sorted((p for p in points if isfinite(p.tc) and isfinite(p.sd)), key=lambda p: p.z)
    across, up = fit_axis([p.tc for p in known]), fit_axis([p.sd for p in known])
    line = " ".join(f"{across.place(p.tc):.2f},{_y(p.sd, up):.2f}" for p in known)
    grid = [element("line", x1=0, x2=100, y1=_y(t, up), y2=_y(t, up)) for t in up.ticks]
    svg = element(
        "svg",
        *grid,
        element("polyline", points=line),
        viewBox="0 0 100 100",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    marks = _curve_marks(known, z, across, up)
    told = "Temporal consistency and source diversity for several z; the table has the numbers"
    plot = element(
        "div",
        element("div", *_ticks(up, "bottom"), class_="y", aria_hidden="true"),
        element("div", svg, *marks, class_="area"),
        element("div", *_ticks(across, "left"), class_="x", aria_hidden="true"),
        element("div", "temporal consistency (TC) →", class_="label"),
        class_="scatter s0",
        role="img",
        aria_label=told,
    )
    small = element("small", " source diversity (SD) ↑; the full dot is this skim")
    caption = element("figcaption", "What other z would give", small)
    return element("figure", caption, plot, _table(points), class_="tradeoff")


def _y(value: float, up: Axis) -> float:
    return round(100 - up.place(value), 2)


def _ticks(axis: Axis, side: str) -> list[Html]:
    return [element("span", f"{t:g}", style=f"{side}:{axis.place(t)}%") for t in axis.ticks]


def _curve_marks(
    known: Sequence[CurvePoint], z: float | None, across: Axis, up: Axis
) -> list[Html]:
    """Dots, and names where there is room for them; this skim's always has its name."""
    found: list[Html] = []
    named: list[tuple[float, float]] = []
    for point in sorted(known, key=lambda p: p.z != z):
        x, y = across.place(point.tc), up.place(point.sd)
        place = f"left:{x}%;bottom:{y}%"
        own = point.z == z
        found.append(element("span", class_="dot" if own else "dot k1", style=place))
        if any(
            abs(x - a) < 2 * LABEL_SPACING_PERCENT and abs(y - b) < LABEL_SPACING_PERCENT
            for a, b in named
        ):
            continue
        named.append((x, y))
        side = "before" if x > LABEL_BEFORE_FROM_PERCENT else "after"
        text = element("b", f"z = {point.z:g}") if own else f"z = {point.z:g}"
        found.append(element("span", text, class_=f"tag {side}", style=place))
    return found


def _table(points: Sequence[CurvePoint]) -> Html:
    names = [element("th", name, scope="col") for name in ("z", "TC", "SD")]
    rows = [
        element(
            "tr",
            element("th", f"{p.z:g}", scope="row"),
            *(element("td", f"{x:.3f}" if isfinite(x) else "–") for x in (p.tc, p.sd)),
        )
        for p in points
    ]
    table = element("table", element("thead", element("tr", *names)), element("tbody", *rows))
    folded = element("div", table, class_="scroll")
    return element("details", element("summary", "as a table"), folded)


# --- Player page ---------------------------------------------------------------------------------


NUMBER_SPACING_PERCENT = 7.6  # percent between numbers of picks: as wide as one is on a phone
MAX_PICKS_WITH_LARGE_NUMBERS = 13  # picks from which on their numbers are small
MAX_TICKS_ON_PHONE = 5  # ticks of time from which on a phone shows every other one
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "media-src data:; img-src data:"
)
KEYS_HINT = "Space plays and stops, ← and → go from pick to pick."


def skim_page(shown: SkimView) -> str:
    """The whole page, which needs nothing from outside; its sound is in it."""
    title = shown.recording.name or "Skim"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=CONTENT_SECURITY_POLICY),
        element("meta", name="generator", content="earwitness"),
        element("title", f"{title}: {lasting(shown.recording.seconds)} in short"),
        element("style", Html(_static("report.html", "report.css") + _static("skims", "skim.css"))),
    )
    header = element("header", element("h1", title), element("p", headed(shown)))
    main = element("main", _player(shown), _list(shown), _measured(shown), _made(shown), id="skim")
    data = element("script", Html(_data(shown)), type="application/json", id="picks")
    script = element("script", Html(_static("skims", "skim.js")))
    body = element("body", header, main, data, script)
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


@cache
def _static(package: str, name: str) -> str:
    folder = files(f"earwitness.{package}") / "static"
    return (folder / name).read_text(encoding="utf-8")


def _data(shown: SkimView) -> str:
    """Times for the script; ``<`` cannot end the element that holds them."""
    recording, skim = shown.recording, shown.skim
    heard = starts_of([pick.seconds for pick in skim.picks], skim.overlap)
    picks = []
    for pick, start in zip(skim.picks, heard, strict=True):
        moment = recording.clock(pick.start)
        own: dict[str, Any] = {"start": pick.start, "seconds": pick.seconds, "heard": start}
        if moment is not None:
            whole = moment.hour * 3600 + moment.minute * 60 + moment.second
            own["clock"] = whole + moment.microsecond / 1e6
            own["day"] = _named(moment)
        picks.append({**own, "turned": pick.turned})
    lasts = {"seconds": recording.seconds, "heard": skim.seconds, "overlap": skim.overlap}
    return json.dumps({**lasts, "picks": picks}).replace("<", "\\u003c")


def _named(moment: datetime) -> str:
    return f"{moment:%A}, {day_of(moment)}"


def _player(shown: SkimView) -> Html:
    """Clock and button, the day, and the way through the skim."""
    audio = base64.b64encode(shown.audio).decode()
    address = f"data:{shown.mime};base64,{audio}"
    sound = element("audio", controls=True, preload="auto", src=address) if audio else None
    return element("section", _face(shown), sound, _day(shown), _way(shown), class_="player")


def _face(shown: SkimView) -> Html:
    first = shown.skim.picks[0].start if shown.skim.picks else 0.0
    moment = shown.recording.clock(first)
    sign = element("span", aria_hidden="true")
    play = element("button", sign, class_="play", aria_label="Play", type="button")
    time = element("span", time_of(shown.recording, first), class_="clock", role="timer")
    day = _named(moment) if moment else "after the start"
    which = element("span", class_="which")
    below = element("span", element("span", day, class_="date"), which, class_="below")
    return element("div", play, element("div", time, below, class_="now"), class_="face")


def _day(shown: SkimView) -> Html:
    """The spectrogram with marks; the list below says the same to those who do not see it."""
    spectrogram, whole = shown.spectrogram, shown.recording.seconds or 1.0
    kilohertz = [
        element("span", tick.text, style=f"bottom:{tick.place}%")
        for tick in frequency_ticks(spectrogram.low, spectrogram.high)
    ]
    hours = [
        element("span", tick.text, class_=_end(tick.place), style=f"left:{tick.place}%")
        for tick in time_ticks(shown.recording)
    ]
    missing = [
        element("i", class_="missing", style=f"left:{a}%;width:{b - a:.3f}%")
        for a, b in gaps(spectrogram.missing.tolist())
    ]
    image = element("img", src=data_address(spectrogram), alt=spoken(shown))
    places = [100 * pick.start / whole for pick in shown.skim.picks]
    picture = element(
        "div", *missing, image, *map(_shaft, places), element("i", class_="cursor"), class_="day"
    )
    many = " many" * (len(places) > MAX_PICKS_WITH_LARGE_NUMBERS)
    return element(
        "div",
        element("div", *_pick_marks(shown, places), class_=f"marks{many}", aria_hidden="true"),
        element("div", element("b", "kHz"), *kilohertz, class_="y", aria_hidden="true"),
        picture,
        element(
            "div",
            *hours,
            class_=f"x{' dense' * (len(hours) > MAX_TICKS_ON_PHONE)}",
            aria_hidden="true",
        ),
        class_="picture",
    )


def _end(place: float) -> str | None:
    return "first" if place < 3 else "last" if place > 97 else None


def _shaft(place: float) -> Html:
    return element("i", class_="shaft", style=f"left:{place:.3f}%")


def _pick_marks(shown: SkimView, places: list[float]) -> list[Html]:
    """Numbers that do not lie over each other, and a line from each to its time."""
    found = spread(
        places, NUMBER_SPACING_PERCENT, NUMBER_SPACING_PERCENT / 2, 100 - NUMBER_SPACING_PERCENT / 2
    )
    lines = [
        element("line", x1=mark, x2=place, y1=0, y2=100)
        for mark, place in zip(found, places, strict=True)
    ]
    svg = element("svg", *lines, viewBox="0 0 100 100", preserveAspectRatio="none")
    buttons = [
        element(
            "button",
            str(number + 1),
            type="button",
            tabindex=-1,
            data_pick=number,
            style=f"left:{mark}%",
            title=time_of(shown.recording, shown.skim.picks[number].start),
        )
        for number, mark in enumerate(found)
    ]
    return [svg, *buttons]


def _way(shown: SkimView) -> Html:
    """A slider over the skim, and how far it is."""
    slider = element(
        "input",
        type="range",
        min="0",
        max=f"{shown.skim.seconds:.3f}",
        step="0.1",
        value="0",
        aria_label="Position in the skim",
    )
    told = element("span", f"0:00 / {_minutes(shown.skim.seconds)}", class_="told")
    hint = element("p", KEYS_HINT, class_="hint")
    return element("div", slider, told, hint, class_="way")


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _list(shown: SkimView) -> Html:
    rows = [_row(shown, number) for number in range(len(shown.skim.picks))]
    return element("section", element("h2", "Picks"), element("ol", *rows, class_="picks"))


def _row(shown: SkimView, number: int) -> Html:
    pick = shown.skim.picks[number]
    moment = shown.recording.clock(pick.start)
    day = f"{moment:%a} {moment.day} {moment:%b}" if moment and shown.dated else None
    why = [*(["played backwards"] if pick.turned else []), *reasons(pick, shown.recording)]
    return element(
        "li",
        element(
            "button",
            element("b", str(number + 1)),
            element("span", time_of(shown.recording, pick.start), class_="time"),
            element("span", day, class_="date") if day else None,
            element("span", "; ".join(why), class_="why") if why else None,
            element("span", lasting(pick.seconds), class_="long"),
            type="button",
            data_pick=number,
        ),
    )


def _measured(shown: SkimView) -> Html | None:
    if not shown.measures and len(shown.curve) < 2:
        return None
    cards = [
        element(
            "div",
            element("b", f"{one.value:.3f}" if isfinite(one.value) else "–"),
            element("span", one.name),
            element("small", one.doc),
        )
        for one in shown.measures
    ]
    return element(
        "section",
        element("h2", "How well it stands for the whole"),
        element("div", *cards, class_="measures") if cards else None,
        curve_figure(shown.curve, shown.z) if len(shown.curve) > 1 else None,
    )


def _made(shown: SkimView) -> Html | None:
    recording = shown.recording
    lines = [
        f"damaged at {time_of(recording, one.start)}: {one.message} ({one.path})"
        for one in recording.damages
    ]
    lines += [*recording.notes, *shown.made]
    if not lines:
        return None
    listed = element("ul", *(element("li", line) for line in lines), class_="made")
    return element("section", element("h2", "Provenance"), listed)
