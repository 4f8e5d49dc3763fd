"""The spectrogram of a day with its picks, as an SVG file for texts and slides."""

from __future__ import annotations

from earwitness.report.html.elements import Html, element
from earwitness.report.skims.places import Tick, frequency_ticks, gaps, spread, time_ticks
from earwitness.report.skims.raster import data_address
from earwitness.report.skims.shown import ShownSkim, day_of, lasting

WIDTH, LEFT, RIGHT = 1_200.0, 52.0, 16.0
TITLE, MARKS, HEIGHT, FOOT = 40.0, 50.0, 280.0, 34.0  # heights of the parts, from above
ROUND = 11.0  # radius of a mark
INK, SOFT, LINE, PAPER, ACCENT = "#1d2126", "#5d6671", "#9aa1a8", "#ffffff", "#c2540a"
FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif"
INSIDE = WIDTH - LEFT - RIGHT
TOP = TITLE + MARKS


def skim_picture(shown: ShownSkim) -> str:
    """The whole picture, which needs nothing from outside."""
    size = {"width": WIDTH, "height": TOP + HEIGHT + FOOT}
    parts = [
        _hatching(),
        element("rect", fill=PAPER, **size),
        _title(shown),
        *_ground(shown),
        *_frequencies(shown),
        *_times(shown),
        *_picks(shown),
    ]
    made = element(
        "svg",
        element("title", spoken(shown)),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {size['width']:g} {size['height']:g}",
        role="img",
        font_family=FONT,
        font_size="13",
        fill=INK,
        **size,
    )
    return f"{made}\n"


def spoken(shown: ShownSkim) -> str:
    """The picture in words."""
    name = shown.recording.name or "the recording"
    return f"Spectrogram of {name}, {headed(shown)}, with {len(shown.skim.picks)} picks"


def headed(shown: ShownSkim) -> str:
    """When it was, how long it lasts, and in how long it is heard."""
    began, end = shown.recording.began, shown.recording.clock(shown.recording.seconds)
    gone = f" ({lasting(shown.missing)} missing)" if shown.missing >= 1 else ""
    length = f"{lasting(shown.recording.seconds)}{gone} in {lasting(shown.skim.seconds)}"
    if began is None or end is None:
        return length
    same = began.date() == end.date()
    until = f"{end:%H:%M}" if same else f"{day_of(end)}, {end:%H:%M}"
    return f"{day_of(began)}, {began:%H:%M} to {until}{_zone(shown)}; {length}"


def _zone(shown: ShownSkim) -> str:
    began = shown.recording.began
    return f" ({began.tzinfo})" if began is not None and began.tzinfo is not None else ""


def _x(percent: float) -> float:
    return LEFT + INSIDE * percent / 100


def _title(shown: ShownSkim) -> Html:
    name = element("tspan", shown.recording.name, font_weight="600", font_size="16")
    about = element("tspan", headed(shown), fill=SOFT, dx=12.0)
    return element("text", name, about, x=LEFT, y=24.0)


def _hatching() -> Html:
    line = element("line", x1=0.0, y1=0.0, x2=0.0, y2=8.0, stroke=LINE, stroke_width=2.0)
    pattern = element(
        "pattern",
        line,
        id="missing",
        width="8",
        height="8",
        patternUnits="userSpaceOnUse",
        patternTransform="rotate(45)",
    )
    return element("defs", pattern)


def _ground(shown: ShownSkim) -> list[Html]:
    """Missing time below, and the spectrogram, which is clear there, over it."""
    box = {"y": TOP, "height": HEIGHT}
    missing = gaps(shown.spectrogram.missing.tolist())
    hatched = [
        element("rect", x=_x(a), width=INSIDE * (b - a) / 100, fill="url(#missing)", **box)
        for a, b in missing
    ]
    image = element(
        "image",
        href=data_address(shown.spectrogram),
        x=LEFT,
        width=INSIDE,
        preserveAspectRatio="none",
        **box,
    )
    frame = element("rect", x=LEFT, width=INSIDE, fill="none", stroke=LINE, **box)
    return [*hatched, image, frame]


def _frequencies(shown: ShownSkim) -> list[Html]:
    found = []
    for tick in frequency_ticks(shown.spectrogram.low, shown.spectrogram.high):
        y = TOP + HEIGHT * (1 - tick.place / 100)
        found.append(element("line", x1=LEFT - 5, x2=LEFT, y1=y, y2=y, stroke=LINE))
        found.append(
            element("text", tick.text, x=LEFT - 9, y=y + 4.5, text_anchor="end", fill=SOFT)
        )
    unit = element("text", "kHz", x=LEFT - 9, y=TOP - 6, text_anchor="end", fill=SOFT)
    return [*found, unit]


def _times(shown: ShownSkim) -> list[Html]:
    bottom = TOP + HEIGHT
    found = []
    for tick in time_ticks(shown.recording):
        x = _x(tick.place)
        found.append(element("line", x1=x, x2=x, y1=bottom, y2=bottom + 5, stroke=LINE))
        anchor = "end" if tick.place > 98 else "start" if tick.place < 1 else "middle"
        found.append(element("text", tick.text, x=x, y=bottom + 20, text_anchor=anchor, fill=SOFT))
    return found


def _picks(shown: ShownSkim) -> list[Html]:
    places = [100 * pick.start / (shown.recording.seconds or 1) for pick in shown.skim.picks]
    margin = 100 * ROUND / INSIDE
    marks = spread(places, 2.3 * margin, margin, 100 - margin)
    pairs = enumerate(zip(places, marks, strict=True), 1)
    return [_mark(number, Tick(place, str(number)), mark) for number, (place, mark) in pairs]


def _mark(number: int, tick: Tick, mark: float) -> Html:
    """A number above, and a line from it down through the spectrogram."""
    x, over, y = _x(tick.place), _x(mark), TITLE + ROUND + 3
    size = 12.0 if number < 100 else 9.0
    shaft = {"x1": x, "x2": x, "y1": TOP, "y2": TOP + HEIGHT}
    return element(
        "g",
        element("line", stroke=PAPER, stroke_width=3.0, opacity=0.7, **shaft),
        element("line", stroke=ACCENT, stroke_width=1.5, **shaft),
        element("line", x1=over, x2=x, y1=y, y2=TOP, stroke=ACCENT, stroke_width=1.2),
        element("circle", cx=over, cy=y, r=ROUND, fill=ACCENT, stroke=PAPER, stroke_width=1.5),
        element(
            "text",
            tick.text,
            x=over,
            y=y + size / 3,
            text_anchor="middle",
            font_size=size,
            font_weight="600",
            fill=PAPER,
        ),
    )
