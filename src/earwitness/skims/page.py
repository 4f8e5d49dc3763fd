"""HTML page that plays a skim, with its place among other skims and baselines."""

from __future__ import annotations

import base64
from dataclasses import replace
from datetime import datetime
from math import isfinite
from typing import Any

from earwitness.audio.signal import starts_of
from earwitness.report.html.elements import (
    Html,
    data_element,
    element,
    format_minutes,
    join_elements,
    provenance_section,
    static_page,
)
from earwitness.report.html.page import draw_figure
from earwitness.report.html.panels import plane_plot
from earwitness.report.html.plots import plot_svg, tick_mark
from earwitness.skims.picture import (
    data_address,
    describe_cycle,
    describe_picture,
    describe_times,
    find_gaps,
    frequency_ticks,
    place_cuts,
    place_picks,
    recorded_outline,
    seconds_of_day,
    spread_places,
    time_ticks,
)
from earwitness.skims.view import (
    SkimView,
    Spectrogram,
    describe_gain,
    describe_reasons,
    find_duty_cycle,
    format_day,
    format_duration,
    format_time,
)

# --- Player page ---------------------------------------------------------------------------------


NUMBER_SPACING_PERCENT = 7.6  # width of a pick number on a phone
MAX_PICKS_WITH_LARGE_NUMBERS = 13  # more picks than this get small numbers
MAX_TICKS_ON_PHONE = 5  # with more, phones show every other time tick


def skim_page(view: SkimView) -> str:
    """Return the page, which includes its audio and loads nothing else."""
    title = view.recording.name or "Skim"
    damages = (
        f"damaged at {format_time(view.recording, damage.start)}: {damage.message} ({damage.path})"
        for damage in view.recording.damages
    )
    values = {"title": title, "times": describe_times(view), **_player_values(view)}
    values |= {
        "picks": join_elements(_pick_item(view, number) for number in range(len(view.skim.picks))),
        "measures": _measures_section(view),
        "provenance": provenance_section([*damages, *view.recording.notes, *view.provenance]),
    }
    return static_page(
        "skims",
        "skim",
        f"{title}: skim of {format_duration(view.recording.seconds)}",
        values,
        data_element("picks", _picks_data(view)),
        media="media-src data:; img-src data:",
    )


def _picks_data(view: SkimView) -> dict[str, Any]:
    """Return the times for the script."""
    recording, skim = view.recording, view.skim
    heard = starts_of([pick.seconds for pick in skim.picks], skim.overlap)
    picks = []
    for pick, start, (left, right) in zip(skim.picks, heard, place_picks(view), strict=True):
        moment = recording.clock(pick.start)
        fields: dict[str, Any] = {"start": pick.start, "seconds": pick.seconds, "heard": start}
        fields |= {"left": round(left, 5), "right": round(right, 5)}
        if moment is not None:
            fields["clock"] = seconds_of_day(moment)
            fields["day"] = _format_date(moment)
        if pick.classes:
            fields["classes"] = pick.class_names
        picks.append({**fields, "turned": pick.turned})
    return {"heard": skim.seconds, "overlap": skim.overlap, "picks": picks}


def _format_date(moment: datetime) -> str:
    return f"{moment:%A}, {format_day(moment)}"


def _player_values(view: SkimView) -> dict[str, str | None]:
    """Return the contents of the clock, the audio, the spectrograms and the position slider."""
    recording, spectrogram = view.recording, view.spectrogram
    first = view.skim.picks[0].start if view.skim.picks else 0.0
    moment = recording.clock(first)
    address = f"data:{view.mime};base64,{base64.b64encode(view.audio).decode()}"
    places = [start for start, _ in place_picks(view)]
    ticks = [tick_mark(tick.text, tick.place) for tick in time_ticks(recording)]
    missing = (
        element("i", class_="missing", style=f"left:{a}%;width:{b - a:.3f}%")
        for a, b in find_gaps(spectrogram.missing.tolist())
    )
    shafts = (element("i", class_="shaft", style=f"left:{place:.3f}%") for place in places)
    return {
        "time": format_time(recording, first),
        "day": _format_date(moment) if moment else "after the start of the recording",
        "audio": element("audio", controls=True, preload="auto", src=address) if view.audio else "",
        "many": (" many" if len(places) > MAX_PICKS_WITH_LARGE_NUMBERS else ""),
        "marks": join_elements(_pick_marks(view, places)),
        "frequencies": _frequency_axis(spectrogram),
        "missing": join_elements(missing),
        "image": data_address(spectrogram),
        "alternative": describe_picture(view),
        "shafts": join_elements(shafts),
        "cycle": join_elements(_cycle_elements(view)),
        "dense": (" dense" if len(ticks) > MAX_TICKS_ON_PHONE else ""),
        "ticks": join_elements(ticks),
        "own_figure": _skim_figure(view),
        "seconds": f"{view.skim.seconds:.3f}",
        "minutes": format_minutes(view.skim.seconds),
    }


def _frequency_axis(spectrogram: Spectrogram) -> Html:
    kilohertz = [
        element("span", tick.text, style=f"bottom:{tick.place}%")
        for tick in frequency_ticks(spectrogram.low, spectrogram.high)
    ]
    return element("div", element("b", "kHz"), *kilohertz, class_="y", aria_hidden="true")


def _cycle_elements(view: SkimView) -> list[Html]:
    """Return a strip that shows when sound was recorded, and its legend; empty without a cycle."""
    cycle = find_duty_cycle(view.recording)
    if cycle is None:
        return []
    path = element("path", d=recorded_outline(view.recording, cycle))
    strip = element(
        "svg",
        path,
        class_="recorded",
        viewBox="0 0 100 1",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    return [strip, element("p", element("i"), describe_cycle(cycle), class_="cycle")]


def _skim_figure(view: SkimView) -> Html | None:
    """Return the spectrogram of the skim, with the number and the time of every pick."""
    spectrogram, picks = view.own_spectrogram, view.skim.picks
    if spectrogram is None or not picks:
        return None
    cuts = place_cuts(view.skim)
    buttons = [
        _pick_button(
            number,
            element("b", str(number + 1)),
            element("span", format_time(view.recording, pick.start, "%H:%M")),
            style=f"left:{start}%;width:{end - start:.3f}%",
            title=pick.class_names or None,
        )
        for number, (pick, (start, end)) in enumerate(zip(picks, cuts, strict=True))
    ]
    alt = f"Spectrogram of the skim, {format_duration(view.skim.seconds)}"
    lines = [element("i", class_="cut", style=f"left:{start}%") for start, _ in cuts[1:]]
    many = " many" if len(picks) > MAX_PICKS_WITH_LARGE_NUMBERS else ""
    image = element("img", src=data_address(spectrogram), alt=alt)
    return element(
        "div",
        element("div", *buttons, class_=f"cuts{many}", aria_hidden="true"),
        _frequency_axis(spectrogram),
        element("div", image, *lines, element("i", class_="cursor"), class_="sound"),
        class_="picture reel",
    )


def _pick_marks(view: SkimView, places: list[float]) -> list[Html]:
    """Return pick numbers that do not overlap, and a line from each to its time."""
    marks = spread_places(
        places, NUMBER_SPACING_PERCENT, NUMBER_SPACING_PERCENT / 2, 100 - NUMBER_SPACING_PERCENT / 2
    )
    lines = [
        element("line", x1=mark, x2=place, y1=0, y2=100)
        for mark, place in zip(marks, places, strict=True)
    ]
    buttons = [
        _pick_button(
            number,
            str(number + 1),
            style=f"left:{mark}%",
            title=format_time(view.recording, view.skim.picks[number].start),
        )
        for number, mark in enumerate(marks)
    ]
    return [plot_svg(*lines), *buttons]


def _pick_button(number: int, *content: str, **attributes: str | None) -> Html:
    """Return a button in a picture, which the list of picks repeats for the keyboard."""
    return element("button", *content, type="button", tabindex=-1, data_pick=number, **attributes)


def _pick_item(view: SkimView, number: int) -> Html:
    pick = view.skim.picks[number]
    moment = view.recording.clock(pick.start)
    day = f"{moment:%a} {moment.day} {moment:%b}" if moment and view.has_dates else None
    why = [*(["played backwards"] if pick.turned else []), *describe_reasons(pick, view.recording)]
    why += [describe_gain(pick)] if pick.gain else []
    scores = "; ".join(f"{kind.name} {kind.score:.2f}" for kind in pick.classes)
    names = pick.class_names
    return element(
        "li",
        element(
            "button",
            element("b", str(number + 1)),
            element("span", format_time(view.recording, pick.start), class_="time"),
            element("span", day, class_="date") if day else None,
            element("span", names, class_="classes", title=scores) if names else None,
            element("span", "; ".join(why), class_="why") if why else None,
            element("span", format_duration(pick.seconds), class_="long"),
            type="button",
            data_pick=number,
        ),
    )


def _measures_section(view: SkimView) -> Html | None:
    if not view.measures and view.plane is None:
        return None
    figure = None
    if view.plane is not None:
        plot = plane_plot(view.plane, view.marked)
        plane = replace(view.plane, title="This skim among others")
        figure = draw_figure(plane, plot, "; the largest mark is this skim")
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
        figure,
    )
