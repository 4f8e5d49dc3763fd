"""SVG spectrograms of a day with its picks and of a skim, axis ticks and PNG raster."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from itertools import pairwise
from math import ceil, log10
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.signal import starts_of
from earwitness.recordings.types import Recording
from earwitness.report.charts import spread_labels
from earwitness.report.html.elements import Html, element
from earwitness.report.numbers import clock
from earwitness.skims.types import Pick, Skim
from earwitness.skims.view import (
    DutyCycle,
    Levels,
    SkimView,
    Spectrogram,
    describe_gain,
    find_duty_cycle,
    format_day,
    format_duration,
    format_time,
)

# --- Axis ticks and spacing ----------------------------------------------------------------------


SECONDS_PER_DAY = 86_400
TIME_STEPS_SECONDS = [
    1,
    2,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1_800,
    3_600,
    7_200,
    10_800,
    21_600,
    43_200,
    *(SECONDS_PER_DAY * days for days in (1, 2, 5, 7, 14, 28)),
]
MAX_TIME_TICKS = 9
OCTAVES_HZ = (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)


class AxisTick(NamedTuple):
    """A tick of an axis: its position in percent of the length, and its label."""

    place: float
    text: str


def time_ticks(recording: Recording) -> list[AxisTick]:
    """Return round times of day, with the date where a day begins; or round elapsed times."""
    whole = recording.seconds or 1.0
    longest = SECONDS_PER_DAY * ceil(whole / SECONDS_PER_DAY / MAX_TIME_TICKS)
    step = next((step for step in TIME_STEPS_SECONDS if whole / step <= MAX_TIME_TICKS), longest)
    if recording.began is None:
        return [AxisTick(_to_percent(t, whole), clock(t)) for t in _list_multiples(0, step, whole)]
    ticks = []
    for t in _list_multiples(seconds_of_day(recording.began), min(step, 3_600), whole):
        moment = recording.clock(t)
        if moment is None or round(seconds_of_day(moment)) % min(step, SECONDS_PER_DAY):
            continue
        if step > SECONDS_PER_DAY and moment.toordinal() % (step // SECONDS_PER_DAY):
            continue
        text = f"{moment:%H:%M:%S}" if step < 60 else f"{moment:%H:%M}"
        if whole > SECONDS_PER_DAY and (moment.hour, moment.minute, moment.second) == (0, 0, 0):
            text = f"{moment.day} {moment:%b}"
        ticks.append(AxisTick(_to_percent(t, whole), text))
    return ticks


def _list_multiples(begin: float, step: float, length: float) -> list[float]:
    """Return the times at which a clock that starts at ``begin`` shows multiples of a step."""
    first = -begin % step
    return [first + n * step for n in range(int((length - first) // step) + 1)]


def seconds_of_day(moment: datetime) -> float:
    """Return the time since midnight, on a clock."""
    whole = moment.hour * 3_600 + moment.minute * 60 + moment.second
    return whole + moment.microsecond / 1e6


def frequency_ticks(low: float, high: float) -> list[AxisTick]:
    """Return octaves in kHz, lowest first, except those near the ends."""
    ticks = []
    for hertz in OCTAVES_HZ:
        place = 100 * (_to_mel(hertz) - _to_mel(low)) / (_to_mel(high) - _to_mel(low))
        if 2 <= place <= 98 or hertz == high:
            ticks.append(AxisTick(round(min(100.0, place), 3), f"{hertz / 1_000:g}"))
    return ticks


def _to_mel(hertz: float) -> float:
    return 2_595 * log10(1 + hertz / 700)


def find_gaps(missing: Sequence[bool]) -> list[tuple[float, float]]:
    """Return runs of missing columns as start and end in percent.

    >>> find_gaps([False, True, True, False])
    [(25.0, 75.0)]
    """
    edges = np.flatnonzero(np.diff(np.array([False, *missing, False])))
    return [
        (_to_percent(start, len(missing)), _to_percent(end, len(missing)))
        for start, end in edges.reshape(-1, 2).tolist()
    ]


def spread_places(places: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """Move places apart to a minimum distance, with the least squared displacement.

    >>> spread_places([10, 50, 50], 4, 0, 100)
    [10.0, 48.0, 52.0]
    """
    apart = min(apart, (high - low) / max(1, len(places) - 1))
    return [round(place, 3) for place in spread_labels(places, apart, low, high)]


def _to_percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 3)


# --- PNG spectrogram -----------------------------------------------------------------------------
# Lightness rises evenly from dark blue over teal to pale yellow, so that the spectrogram reads the
# same in greyscale, in print and with colour vision deficiency. Missing time is transparent.


# percentiles of the recorded levels at the ends of the colour scale
SOFTEST_PERCENTILE, LOUDEST_PERCENTILE = 5.0, 99.7
MIN_LEVEL_RANGE = 24  # steps; keeps silence from looking like a storm
LIGHTNESS_RANGE = (0.17, 0.97)  # in OKLab
HUE_RANGE_DEGREES = (285.0, 100.0)
MAX_CHROMA = 0.125  # at mid lightness
OKLAB_TO_LMS = np.array(
    [
        [1, 0.3963377774, 0.2158037573],
        [1, -0.1055613458, -0.0638541728],
        [1, -0.0894841775, -1.2914855480],
    ]
)
LMS_TO_LINEAR_RGB = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)


def data_address(spectrogram: Spectrogram) -> str:
    """Return the spectrogram as a data URL."""
    return f"data:image/png;base64,{base64.b64encode(spectrogram_png(spectrogram)).decode()}"


def spectrogram_png(spectrogram: Spectrogram) -> bytes:
    """Return the spectrogram as PNG, with the highest band on top."""
    shaded = shade_levels(spectrogram)[::-1]
    colours = np.vstack([np.zeros((1, 3), np.uint8), colour_map(255)])
    height, width = shaded.shape
    rows = np.zeros((height, width + 1), np.uint8)  # each row starts with filter type 0
    rows[:, 1:] = shaded
    chunks = {
        b"IHDR": struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0),
        b"PLTE": colours.tobytes(),
        b"tRNS": b"\0",  # the first colour is transparent
        b"IDAT": zlib.compress(rows.tobytes(), 9),
        b"IEND": b"",
    }
    content = b"\x89PNG\r\n\x1a\n"
    for name, chunk in chunks.items():
        check = zlib.crc32(name + chunk)
        content += struct.pack(">I", len(chunk)) + name + chunk + struct.pack(">I", check)
    return content


def shade_levels(spectrogram: Spectrogram) -> Levels:
    """Return shades from 1 (quietest) to 255 (loudest); 0 is missing."""
    levels, recorded = spectrogram.levels, ~spectrogram.missing
    if not recorded.any():
        return np.zeros(levels.shape, np.uint8)
    low, high = np.percentile(levels[:, recorded], (SOFTEST_PERCENTILE, LOUDEST_PERCENTILE))
    share = (levels - low) / max(MIN_LEVEL_RANGE, high - low)
    shaded: NDArray[Any] = 1 + np.round(254 * np.clip(share, 0, 1))
    return np.where(recorded[None, :], shaded, 0).astype(np.uint8)


@cache
def colour_map(count: int) -> Levels:
    """Return RGB values of ``count`` colours from quiet to loud."""
    share = np.linspace(0, 1, count)
    light = LIGHTNESS_RANGE[0] + (LIGHTNESS_RANGE[1] - LIGHTNESS_RANGE[0]) * share
    angle = np.radians(HUE_RANGE_DEGREES[0] + (HUE_RANGE_DEGREES[1] - HUE_RANGE_DEGREES[0]) * share)
    chroma = MAX_CHROMA * np.sin(np.pi * (0.12 + 0.76 * share)) ** 0.8
    lab = np.stack([light, chroma * np.cos(angle), chroma * np.sin(angle)])
    linear = np.clip(LMS_TO_LINEAR_RGB @ (OKLAB_TO_LMS @ lab) ** 3, 0, 1)
    curved = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.round(255 * curved.T).astype(np.uint8)


# --- SVG picture ---------------------------------------------------------------------------------


PICTURE_WIDTH, LEFT_MARGIN, RIGHT_MARGIN = 1_200.0, 52.0, 16.0
# heights of the parts of the recording, top to bottom
TITLE_HEIGHT, MARKS_HEIGHT, PLOT_HEIGHT, FOOT_HEIGHT = 40.0, 50.0, 280.0, 34.0
CYCLE_HEIGHT, STRIP_HEIGHT = 24.0, 5.0  # with a duty cycle: its legend, and the strip of parts
# heights of the parts of the skim
OWN_MARKS_HEIGHT, OWN_PLOT_HEIGHT, CAPTION_LINE_HEIGHT = 58.0, 150.0, 19.0
CAPTION_COLUMNS, CAPTION_LETTERS = 3, 40
MARK_RADIUS = 11.0
MIN_TIMED_WIDTH = 66.0  # narrower picks of a skim have no time next to their number
INK_COLOR, SOFT_COLOR, LINE_COLOR = "#1d2126", "#5d6671", "#9aa1a8"
PAPER_COLOR, ACCENT_COLOR, STRIP_COLOR = "#ffffff", "#c2540a", "#d9dcdf"
FONT_FAMILY = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif"
PLOT_WIDTH = PICTURE_WIDTH - LEFT_MARGIN - RIGHT_MARGIN
PLOT_TOP = TITLE_HEIGHT + MARKS_HEIGHT
HATCHING = Html(  # of missing time, which spectrograms leave transparent
    '<defs><pattern id="missing" width="8" height="8" patternUnits="userSpaceOnUse"'
    ' patternTransform="rotate(45)">'
    f'<line x1="0" y1="0" x2="0" y2="8" stroke="{LINE_COLOR}" stroke-width="2"/></pattern></defs>'
)


def skim_picture(view: SkimView) -> str:
    """Return the whole SVG picture, which loads nothing else.

    It has the spectrogram of the recording with all picks and, below it, that of the skim.
    """
    cycle = find_duty_cycle(view.recording)
    bottom = PLOT_TOP + PLOT_HEIGHT + FOOT_HEIGHT + (CYCLE_HEIGHT if cycle else 0.0)
    own, height = _skim_elements(view, bottom)
    size = {"width": PICTURE_WIDTH, "height": bottom + height}
    box = {"y": PLOT_TOP, "height": PLOT_HEIGHT}
    missing = (
        element("rect", x=_plot_x(a), width=PLOT_WIDTH * (b - a) / 100, fill="url(#missing)", **box)
        for a, b in find_gaps(view.spectrogram.missing.tolist())
    )
    name = element("tspan", view.recording.name, font_weight="600", font_size="16")
    about = element("tspan", describe_times(view), fill=SOFT_COLOR, dx=12.0)
    parts = [
        HATCHING,
        element("rect", fill=PAPER_COLOR, **size),
        element("text", name, about, x=LEFT_MARGIN, y=24.0),
        *missing,
        *_spectrogram_elements(view.spectrogram, PLOT_TOP, PLOT_HEIGHT),
        *(_cycle_elements(view, cycle) if cycle else ()),
        *_time_axis(view, PLOT_TOP + PLOT_HEIGHT + (STRIP_HEIGHT + 3 if cycle else 0.0)),
        *_pick_marks(view),
        *own,
    ]
    svg = element(
        "svg",
        element("title", describe_picture(view)),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {size['width']:g} {size['height']:g}",
        role="img",
        font_family=FONT_FAMILY,
        font_size="13",
        fill=INK_COLOR,
        **size,
    )
    return f"{svg}\n"


def describe_picture(view: SkimView) -> str:
    """Return a text alternative of the picture."""
    name = view.recording.name or "the recording"
    return f"Spectrogram of {name}, {describe_times(view)}, with {len(view.skim.picks)} picks"


def describe_times(view: SkimView) -> str:
    """Return when the recording was made, its length, and the length of the skim."""
    began, end = view.recording.began, view.recording.clock(view.recording.seconds)
    cycle = find_duty_cycle(view.recording)
    remarks = [f"{cycle} recorded"] if cycle else []
    remarks += [f"{format_duration(view.missing)} missing"] if view.missing >= 1 else []
    gone = f" ({', '.join(remarks)})" if remarks else ""
    duration, short = view.recording.seconds, view.skim.seconds
    length = f"{format_duration(duration)}{gone} condensed to {format_duration(short)}"
    if began is None or end is None:
        return length
    same = began.date() == end.date()
    until = f"{end:%H:%M}" if same else f"{format_day(end)}, {end:%H:%M}"
    zone = f" ({began.tzinfo})" if began.tzinfo is not None else ""
    return f"{format_day(began)}, {began:%H:%M} to {until}{zone}; {length}"


def describe_cycle(cycle: DutyCycle) -> str:
    """Return how a picture shows a recording with a duty cycle."""
    part = "minute" if cycle.recorded == 60 else "part"
    return f"{cycle} recorded: each {part} is stretched over the time until the next one"


def recorded_outline(recording: Recording, cycle: DutyCycle) -> str:
    """Return an SVG path of the recorded times: 100 wide, 1 high."""
    whole = recording.seconds or 1.0
    spans = [(100 * part.start / whole, 100 * part.seconds / whole) for part in cycle.parts]
    return "".join(f"M{left:.3f} 0h{width:.3f}v1h{-width:.3f}z" for left, width in spans)


def place_picks(view: SkimView) -> list[tuple[float, float]]:
    """Return where each pick starts and ends in the picture of the recording, in percent."""
    cycle, whole = find_duty_cycle(view.recording), view.recording.seconds or 1.0
    places = []
    for pick in view.skim.picks:
        ends = (pick.start, pick.start + pick.seconds)
        if cycle is not None:
            ends = (cycle.draw_time(ends[0]), cycle.draw_time(ends[1]))
        places.append((100 * ends[0] / whole, 100 * ends[1] / whole))
    return places


def place_cuts(skim: Skim) -> list[tuple[float, float]]:
    """Return where each pick starts and ends in the skim, in percent.

    Picks change in the middle of a fade.

    >>> place_cuts(Skim((Pick(0.0, 8.0), Pick(60.0, 8.0)), 2.0))
    [(0.0, 50.0), (50.0, 100.0)]
    """
    whole = skim.seconds or 1.0
    heard = starts_of([pick.seconds for pick in skim.picks], skim.overlap)
    cuts = [0.0, *(start + skim.overlap / 2 for start in heard[1:]), whole]
    return [(_to_percent(a, whole), _to_percent(b, whole)) for a, b in pairwise(cuts)] * bool(heard)


def _plot_x(percent: float) -> float:
    return LEFT_MARGIN + PLOT_WIDTH * percent / 100


def _spectrogram_elements(spectrogram: Spectrogram, top: float, height: float) -> list[Html]:
    """Return a spectrogram in a frame, with its frequency axis."""
    box = {"x": LEFT_MARGIN, "y": top, "width": PLOT_WIDTH, "height": height}
    image = element("image", href=data_address(spectrogram), preserveAspectRatio="none", **box)
    frame = element("rect", fill="none", stroke=LINE_COLOR, **box)
    elements = [image, frame]
    text: dict[str, str | float] = {"x": LEFT_MARGIN - 9, "text_anchor": "end", "fill": SOFT_COLOR}
    for tick in frequency_ticks(spectrogram.low, spectrogram.high):
        y = top + height * (1 - tick.place / 100)
        elements.append(
            element("line", x1=LEFT_MARGIN - 5, x2=LEFT_MARGIN, y1=y, y2=y, stroke=LINE_COLOR)
        )
        elements.append(element("text", tick.text, y=y + 4.5, **text))
    return [*elements, element("text", "kHz", y=top - 6, **text)]


def _cycle_elements(view: SkimView, cycle: DutyCycle) -> list[Html]:
    """Return a strip that shows when sound was recorded, and its legend."""
    top = PLOT_TOP + PLOT_HEIGHT + 2
    size = {"width": PLOT_WIDTH, "height": STRIP_HEIGHT}
    scale = f"translate({LEFT_MARGIN:g} {top:g}) scale({PLOT_WIDTH / 100:g} {STRIP_HEIGHT:g})"
    legend = PLOT_TOP + PLOT_HEIGHT + FOOT_HEIGHT + 12
    mark = {"y": legend - 9, "height": 9.0}
    return [
        element("rect", x=LEFT_MARGIN, y=top, fill=STRIP_COLOR, **size),
        element("path", d=recorded_outline(view.recording, cycle), fill=INK_COLOR, transform=scale),
        element("rect", x=LEFT_MARGIN, width=24.0, fill=STRIP_COLOR, **mark),
        element("rect", x=LEFT_MARGIN, width=5.0, fill=INK_COLOR, **mark),
        element("text", describe_cycle(cycle), x=LEFT_MARGIN + 32, y=legend, fill=SOFT_COLOR),
    ]


def _time_axis(view: SkimView, top: float) -> list[Html]:
    elements = []
    for tick in time_ticks(view.recording):
        x = _plot_x(tick.place)
        elements.append(element("line", x1=x, x2=x, y1=top, y2=top + 5, stroke=LINE_COLOR))
        anchor = "end" if tick.place > 98 else "start" if tick.place < 1 else "middle"
        elements.append(
            element("text", tick.text, x=x, y=top + 20, text_anchor=anchor, fill=SOFT_COLOR)
        )
    return elements


def _pick_marks(view: SkimView) -> list[Html]:
    places = [start for start, _ in place_picks(view)]
    margin = 100 * MARK_RADIUS / PLOT_WIDTH
    marks = spread_places(places, 2.3 * margin, margin, 100 - margin)
    y = TITLE_HEIGHT + MARK_RADIUS + 3
    circle: dict[str, Any] = {"cy": y, "r": MARK_RADIUS, "fill": ACCENT_COLOR}
    circle |= {"stroke": PAPER_COLOR, "stroke_width": 1.5}
    line: dict[str, Any] = {"y1": y, "y2": PLOT_TOP, "stroke": ACCENT_COLOR, "stroke_width": 1.2}
    groups = []
    for number, (x, over) in enumerate(zip(map(_plot_x, places), map(_plot_x, marks), strict=True)):
        shaft = _outlined_line(x, PLOT_TOP, PLOT_TOP + PLOT_HEIGHT)
        down = element("line", x1=over, x2=x, **line)
        round_mark = element("circle", cx=over, **circle)
        text = _number_text(number + 1, over, y, PAPER_COLOR)
        groups.append(element("g", *shaft, down, round_mark, text))
    return groups


def _outlined_line(x: float, top: float, bottom: float) -> list[Html]:
    """Return a vertical line that is visible on any spectrogram."""
    line = {"x1": x, "x2": x, "y1": top, "y2": bottom}
    return [
        element("line", stroke=PAPER_COLOR, stroke_width=3.0, opacity=0.7, **line),
        element("line", stroke=ACCENT_COLOR, stroke_width=1.5, **line),
    ]


def _number_text(number: int, x: float, y: float, colour: str) -> Html:
    size = 12.0 if number < 100 else 9.0
    return element(
        "text",
        str(number),
        x=x,
        y=y + size / 3,
        text_anchor="middle",
        font_size=size,
        font_weight="600",
        fill=colour,
    )


# --- The skim below its recording ----------------------------------------------------------------


def _skim_elements(view: SkimView, top: float) -> tuple[list[Html], float]:
    """Return the spectrogram of the skim with its picks, and its height."""
    if view.own_spectrogram is None or not view.skim.picks:
        return [], 0.0
    plot = top + OWN_MARKS_HEIGHT
    title = element(
        "text",
        element("tspan", "Skim", font_weight="600", font_size="15"),
        element("tspan", format_duration(view.skim.seconds), fill=SOFT_COLOR, dx=10.0),
        x=LEFT_MARGIN,
        y=top + 20,
    )
    elements = [title, *_spectrogram_elements(view.own_spectrogram, plot, OWN_PLOT_HEIGHT)]
    cuts = [(_plot_x(start), _plot_x(end)) for start, end in place_cuts(view.skim)]
    for number, (pick, (left, right)) in enumerate(zip(view.skim.picks, cuts, strict=True), 1):
        has_time = right - left >= MIN_TIMED_WIDTH
        y = plot - 16
        if number > 1:
            elements += _outlined_line(left, plot - 6, plot + OWN_PLOT_HEIGHT)
        x = left + MARK_RADIUS if has_time else (left + right) / 2
        elements.append(_number_text(number, x, y, ACCENT_COLOR))
        if has_time:
            time = format_time(view.recording, pick.start, "%H:%M")
            elements.append(element("text", time, x=x + MARK_RADIUS + 2, y=y + 4.5))
    captions, height = _caption_elements(view, plot + OWN_PLOT_HEIGHT + 8)
    return [*elements, *captions], OWN_MARKS_HEIGHT + OWN_PLOT_HEIGHT + 16 + height


def _caption_elements(view: SkimView, top: float) -> tuple[list[Html], float]:
    """Return number, time and classes of all picks in columns, if classes are named or levels
    were changed; and the height."""
    if not any(pick.classes or pick.gain for pick in view.skim.picks):
        return [], 0.0
    rows = ceil(len(view.skim.picks) / CAPTION_COLUMNS)
    elements = []
    for number, pick in enumerate(view.skim.picks):
        column, row = divmod(number, rows)
        x = LEFT_MARGIN + column * PLOT_WIDTH / CAPTION_COLUMNS
        y = top + CAPTION_LINE_HEIGHT * (row + 0.8)
        time = format_time(view.recording, pick.start)
        elements += [
            _number_text(number + 1, x + MARK_RADIUS - 2, y - 4.5, ACCENT_COLOR),
            element("text", time, x=x + 2 * MARK_RADIUS + 2, y=y, font_weight="600"),
            element("text", caption_text(pick), x=x + 2 * MARK_RADIUS + 74, y=y),
        ]
    return elements, rows * CAPTION_LINE_HEIGHT + 4


def caption_text(pick: Pick, letters: int = CAPTION_LETTERS) -> str:
    """Return as many class names of a pick as fit, and its gain."""
    gain = describe_gain(pick)
    room = letters - len(gain)
    text = ""
    for class_ in pick.classes:
        longer = f"{text}; {class_.name}" if text else class_.name
        if text and len(longer) > room:
            break
        text = longer if len(longer) <= room else f"{longer[: room - 1]}…"
    return " · ".join(part for part in (text, gain) if part)
