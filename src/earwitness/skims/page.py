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
    describe_picture,
    describe_times,
    find_gaps,
    frequency_ticks,
    spread_places,
    time_ticks,
)
from earwitness.skims.view import (
    CurvePoint,
    SkimView,
    describe_reasons,
    format_day,
    format_duration,
    format_time,
)

# --- Trade-off curve -----------------------------------------------------------------------------


LABEL_SPACING_PERCENT = 6.0  # labels closer than this would overlap
LABEL_BEFORE_FROM_PERCENT = 80.0  # labels beyond this are left of their dots


def curve_figure(points: Sequence[CurvePoint], z: float | None) -> Html:
    """Return the trade-off curve with a table of its values."""
    finite = sorted((p for p in points if isfinite(p.tc) and isfinite(p.sd)), key=lambda p: p.z)
    across, up = fit_axis([p.tc for p in finite]), fit_axis([p.sd for p in finite])
    line = " ".join(f"{across.place(p.tc):.2f},{_svg_y(p.sd, up):.2f}" for p in finite)
    grid = [element("line", x1=0, x2=100, y1=_svg_y(t, up), y2=_svg_y(t, up)) for t in up.ticks]
    svg = element(
        "svg",
        *grid,
        element("polyline", points=line),
        viewBox="0 0 100 100",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    marks = _curve_marks(finite, z, across, up)
    label = "Temporal consistency and source diversity by z; the table has the values"
    plot = element(
        "div",
        element("div", *_tick_elements(up, "bottom"), class_="y", aria_hidden="true"),
        element("div", svg, *marks, class_="area"),
        element("div", *_tick_elements(across, "left"), class_="x", aria_hidden="true"),
        element("div", "temporal consistency (TC) →", class_="label"),
        class_="scatter s0",
        role="img",
        aria_label=label,
    )
    small = element("small", " source diversity (SD) ↑; the filled dot is this skim")
    caption = element("figcaption", "Trade-off curve: other values of z", small)
    return element("figure", caption, plot, _curve_table(points), class_="tradeoff")


def _svg_y(value: float, up: Axis) -> float:
    return round(100 - up.place(value), 2)


def _tick_elements(axis: Axis, side: str) -> list[Html]:
    return [element("span", f"{t:g}", style=f"{side}:{axis.place(t)}%") for t in axis.ticks]


def _curve_marks(
    points: Sequence[CurvePoint], z: float | None, across: Axis, up: Axis
) -> list[Html]:
    """Return dots with labels where there is room; this skim is always labelled."""
    marks: list[Html] = []
    named: list[tuple[float, float]] = []
    for point in sorted(points, key=lambda p: p.z != z):
        x, y = across.place(point.tc), up.place(point.sd)
        place = f"left:{x}%;bottom:{y}%"
        is_this_skim = point.z == z
        marks.append(element("span", class_="dot" if is_this_skim else "dot k7", style=place))
        if any(
            abs(x - a) < 2 * LABEL_SPACING_PERCENT and abs(y - b) < LABEL_SPACING_PERCENT
            for a, b in named
        ):
            continue
        named.append((x, y))
        side = "before" if x > LABEL_BEFORE_FROM_PERCENT else "after"
        text = element("b", f"z = {point.z:g}") if is_this_skim else f"z = {point.z:g}"
        marks.append(element("span", text, class_=f"tag {side}", style=place))
    return marks


def _curve_table(points: Sequence[CurvePoint]) -> Html:
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


NUMBER_SPACING_PERCENT = 7.6  # width of a pick number on a phone
MAX_PICKS_WITH_LARGE_NUMBERS = 13  # more picks than this get small numbers
MAX_TICKS_ON_PHONE = 5  # with more, phones show every other time tick
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "media-src data:; img-src data:"
)
KEYS_HINT = "Space: play or pause. ← and →: previous and next pick."


def skim_page(view: SkimView) -> str:
    """Return the page, which includes its audio and loads nothing else."""
    title = view.recording.name or "Skim"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=CONTENT_SECURITY_POLICY),
        element("meta", name="generator", content="earwitness"),
        element("title", f"{title}: skim of {format_duration(view.recording.seconds)}"),
        element(
            "style",
            Html(_read_static("report.html", "report.css") + _read_static("skims", "skim.css")),
        ),
    )
    header = element("header", element("h1", title), element("p", describe_times(view)))
    main = element(
        "main",
        _player_section(view),
        _picks_section(view),
        _measures_section(view),
        _provenance_section(view),
        id="skim",
    )
    data = element("script", Html(_picks_data(view)), type="application/json", id="picks")
    script = element("script", Html(_read_static("skims", "skim.js")))
    body = element("body", header, main, data, script)
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


@cache
def _read_static(package: str, name: str) -> str:
    folder = files(f"earwitness.{package}") / "static"
    return (folder / name).read_text(encoding="utf-8")


def _picks_data(view: SkimView) -> str:
    """Return the times for the script; ``<`` is escaped so that it cannot end the element."""
    recording, skim = view.recording, view.skim
    heard = starts_of([pick.seconds for pick in skim.picks], skim.overlap)
    picks = []
    for pick, start in zip(skim.picks, heard, strict=True):
        moment = recording.clock(pick.start)
        fields: dict[str, Any] = {"start": pick.start, "seconds": pick.seconds, "heard": start}
        if moment is not None:
            whole = moment.hour * 3600 + moment.minute * 60 + moment.second
            fields["clock"] = whole + moment.microsecond / 1e6
            fields["day"] = _format_date(moment)
        picks.append({**fields, "turned": pick.turned})
    lasts = {"seconds": recording.seconds, "heard": skim.seconds, "overlap": skim.overlap}
    return json.dumps({**lasts, "picks": picks}).replace("<", "\\u003c")


def _format_date(moment: datetime) -> str:
    return f"{moment:%A}, {format_day(moment)}"


def _player_section(view: SkimView) -> Html:
    """Return the clock, the play button, the spectrogram and the position slider."""
    audio = base64.b64encode(view.audio).decode()
    address = f"data:{view.mime};base64,{audio}"
    sound = element("audio", controls=True, preload="auto", src=address) if audio else None
    return element(
        "section",
        _clock_face(view),
        sound,
        _day_figure(view),
        _position_slider(view),
        class_="player",
    )


def _clock_face(view: SkimView) -> Html:
    first = view.skim.picks[0].start if view.skim.picks else 0.0
    moment = view.recording.clock(first)
    sign = element("span", aria_hidden="true")
    play = element("button", sign, class_="play", aria_label="Play", type="button")
    time = element("span", format_time(view.recording, first), class_="clock", role="timer")
    day = _format_date(moment) if moment else "after the start of the recording"
    which = element("span", class_="which")
    below = element("span", element("span", day, class_="date"), which, class_="below")
    return element("div", play, element("div", time, below, class_="now"), class_="face")


def _day_figure(view: SkimView) -> Html:
    """Return the spectrogram with marks; the list of picks is its accessible equivalent."""
    spectrogram, whole = view.spectrogram, view.recording.seconds or 1.0
    kilohertz = [
        element("span", tick.text, style=f"bottom:{tick.place}%")
        for tick in frequency_ticks(spectrogram.low, spectrogram.high)
    ]
    hours = [
        element("span", tick.text, class_=_tick_class(tick.place), style=f"left:{tick.place}%")
        for tick in time_ticks(view.recording)
    ]
    missing = [
        element("i", class_="missing", style=f"left:{a}%;width:{b - a:.3f}%")
        for a, b in find_gaps(spectrogram.missing.tolist())
    ]
    image = element("img", src=data_address(spectrogram), alt=describe_picture(view))
    places = [100 * pick.start / whole for pick in view.skim.picks]
    picture = element(
        "div",
        *missing,
        image,
        *map(_shaft_element, places),
        element("i", class_="cursor"),
        class_="day",
    )
    many = " many" * (len(places) > MAX_PICKS_WITH_LARGE_NUMBERS)
    return element(
        "div",
        element("div", *_pick_marks(view, places), class_=f"marks{many}", aria_hidden="true"),
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


def _tick_class(place: float) -> str | None:
    return "first" if place < 3 else "last" if place > 97 else None


def _shaft_element(place: float) -> Html:
    return element("i", class_="shaft", style=f"left:{place:.3f}%")


def _pick_marks(view: SkimView, places: list[float]) -> list[Html]:
    """Return pick numbers that do not overlap, and a line from each to its time."""
    marks = spread_places(
        places, NUMBER_SPACING_PERCENT, NUMBER_SPACING_PERCENT / 2, 100 - NUMBER_SPACING_PERCENT / 2
    )
    lines = [
        element("line", x1=mark, x2=place, y1=0, y2=100)
        for mark, place in zip(marks, places, strict=True)
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
            title=format_time(view.recording, view.skim.picks[number].start),
        )
        for number, mark in enumerate(marks)
    ]
    return [svg, *buttons]


def _position_slider(view: SkimView) -> Html:
    """Return a slider over the skim, with the current position."""
    slider = element(
        "input",
        type="range",
        min="0",
        max=f"{view.skim.seconds:.3f}",
        step="0.1",
        value="0",
        aria_label="Position in the skim",
    )
    position = element("span", f"0:00 / {_format_minutes(view.skim.seconds)}", class_="told")
    hint = element("p", KEYS_HINT, class_="hint")
    return element("div", slider, position, hint, class_="way")


def _format_minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _picks_section(view: SkimView) -> Html:
    rows = [_pick_item(view, number) for number in range(len(view.skim.picks))]
    return element("section", element("h2", "Picks"), element("ol", *rows, class_="picks"))


def _pick_item(view: SkimView, number: int) -> Html:
    pick = view.skim.picks[number]
    moment = view.recording.clock(pick.start)
    day = f"{moment:%a} {moment.day} {moment:%b}" if moment and view.has_dates else None
    why = [*(["played backwards"] if pick.turned else []), *describe_reasons(pick, view.recording)]
    return element(
        "li",
        element(
            "button",
            element("b", str(number + 1)),
            element("span", format_time(view.recording, pick.start), class_="time"),
            element("span", day, class_="date") if day else None,
            element("span", "; ".join(why), class_="why") if why else None,
            element("span", format_duration(pick.seconds), class_="long"),
            type="button",
            data_pick=number,
        ),
    )


def _measures_section(view: SkimView) -> Html | None:
    if not view.measures and len(view.curve) < 2:
        return None
    cards = [
        element(
            "div",
            element("b", f"{measure.value:.3f}" if isfinite(measure.value) else "–"),
            element("span", measure.name),
            element("small", measure.doc),
        )
        for measure in view.measures
    ]
    return element(
        "section",
        element("h2", "How well the skim represents the recording"),
        element("div", *cards, class_="measures") if cards else None,
        curve_figure(view.curve, view.z) if len(view.curve) > 1 else None,
    )


def _provenance_section(view: SkimView) -> Html | None:
    recording = view.recording
    lines = [
        f"damaged at {format_time(recording, damage.start)}: {damage.message} ({damage.path})"
        for damage in recording.damages
    ]
    lines += [*recording.notes, *view.provenance]
    if not lines:
        return None
    notes = element("ul", *(element("li", line) for line in lines), class_="made")
    return element("section", element("h2", "Provenance"), notes)
