"""SVG spectrogram of a day with its picks, axis ticks and PNG raster."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from functools import cache
from math import ceil, log10
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.recordings.types import Recording
from earwitness.report.html.elements import Html, element
from earwitness.report.numbers import clock
from earwitness.skims.view import SkimView, Spectrogram, format_day, format_duration

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
    step = _choose_step(whole)
    if recording.began is None:
        return [AxisTick(_to_percent(t, whole), clock(t)) for t in _list_multiples(0, step, whole)]
    ticks = []
    for t in _list_multiples(_seconds_of_day(recording, 0.0), min(step, 3_600), whole):
        moment = recording.clock(t)
        if moment is None or round(_seconds_of_day(recording, t)) % min(step, SECONDS_PER_DAY):
            continue
        if step > SECONDS_PER_DAY and moment.toordinal() % (step // SECONDS_PER_DAY):
            continue
        midnight = (moment.hour, moment.minute, moment.second) == (0, 0, 0)
        text = (
            f"{moment.day} {moment:%b}"
            if midnight and whole > SECONDS_PER_DAY
            else f"{moment:%H:%M}"
        )
        if step < 60:
            text = f"{moment:%H:%M:%S}"
        ticks.append(AxisTick(_to_percent(t, whole), text))
    return ticks


def _choose_step(seconds: float) -> int:
    days = [SECONDS_PER_DAY * n for n in (1, 2, 5, 7, 14, 28)]
    longest = SECONDS_PER_DAY * ceil(seconds / SECONDS_PER_DAY / MAX_TIME_TICKS)
    return next(
        (step for step in [*TIME_STEPS_SECONDS, *days] if seconds / step <= MAX_TIME_TICKS), longest
    )


def _list_multiples(begin: float, step: float, length: float) -> list[float]:
    """Return the times at which a clock that starts at ``begin`` shows multiples of a step."""
    first = -begin % step
    return [first + n * step for n in range(int((length - first) // step) + 1)]


def _seconds_of_day(recording: Recording, time: float) -> float:
    moment = recording.clock(time)
    if moment is None:
        return time
    seconds = moment.hour * 3_600 + moment.minute * 60 + moment.second
    return seconds + moment.microsecond / 1e6


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
    spans: list[tuple[float, float]] = []
    start: int | None = None
    for place, gone in enumerate([*missing, False]):
        if gone and start is None:
            start = place
        elif not gone and start is not None:
            spans.append((_to_percent(start, len(missing)), _to_percent(place, len(missing))))
            start = None
    return spans


def spread_places(places: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """Move places apart to a minimum distance, with the least squared displacement.

    >>> spread_places([10, 50, 50], 4, 0, 100)
    [10.0, 48.0, 52.0]
    """
    apart = min(apart, (high - low) / max(1, len(places) - 1))
    order = sorted(range(len(places)), key=lambda n: places[n])
    top = high - apart * (len(places) - 1)
    runs: list[list[float]] = []  # sum and count of each group of touching places
    for rank, n in enumerate(order):
        runs.append([places[n] - apart * rank, 1])
        while len(runs) > 1 and runs[-2][0] / runs[-2][1] >= runs[-1][0] / runs[-1][1]:
            total, count = runs.pop()
            runs[-1] = [runs[-1][0] + total, runs[-1][1] + count]
    level = [min(top, max(low, total / count)) for total, count in runs for _ in range(int(count))]
    moved = [0.0] * len(places)
    for rank, n in enumerate(order):
        moved[n] = round(level[rank] + apart * rank, 3)
    return moved


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
    return encode_png(shaded, colours, clear=0)


def shade_levels(spectrogram: Spectrogram) -> NDArray[np.uint8]:
    """Return shades from 1 (quietest) to 255 (loudest); 0 is missing."""
    levels, recorded = spectrogram.levels, ~spectrogram.missing
    if not recorded.any():
        return np.zeros(levels.shape, np.uint8)
    low, high = np.percentile(levels[:, recorded], (SOFTEST_PERCENTILE, LOUDEST_PERCENTILE))
    share = (levels - low) / max(MIN_LEVEL_RANGE, high - low)
    shaded: NDArray[Any] = 1 + np.round(254 * np.clip(share, 0, 1))
    return np.where(recorded[None, :], shaded, 0).astype(np.uint8)


@cache
def colour_map(count: int) -> NDArray[np.uint8]:
    """Return RGB values of ``count`` colours from quiet to loud."""
    share = np.linspace(0, 1, count)
    light = LIGHTNESS_RANGE[0] + (LIGHTNESS_RANGE[1] - LIGHTNESS_RANGE[0]) * share
    angle = np.radians(HUE_RANGE_DEGREES[0] + (HUE_RANGE_DEGREES[1] - HUE_RANGE_DEGREES[0]) * share)
    chroma = MAX_CHROMA * np.sin(np.pi * (0.12 + 0.76 * share)) ** 0.8
    lab = np.stack([light, chroma * np.cos(angle), chroma * np.sin(angle)])
    linear = np.clip(LMS_TO_LINEAR_RGB @ (OKLAB_TO_LMS @ lab) ** 3, 0, 1)
    curved = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.round(255 * curved.T).astype(np.uint8)


def encode_png(
    places: NDArray[np.uint8], colours: NDArray[np.uint8], clear: int | None = None
) -> bytes:
    """Return a PNG file of palette indices; one of them may be transparent."""
    height, width = places.shape
    rows = np.zeros((height, width + 1), np.uint8)  # each row starts with filter type 0
    rows[:, 1:] = places
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", colours.astype(np.uint8).tobytes()),
    ]
    if clear is not None:
        chunks.append((b"tRNS", bytes([255] * clear + [0])))
    chunks += [(b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_encode_chunk(*chunk) for chunk in chunks)


def _encode_chunk(name: bytes, content: bytes) -> bytes:
    check = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", check)


# --- SVG picture ---------------------------------------------------------------------------------


PICTURE_WIDTH, LEFT_MARGIN, RIGHT_MARGIN = 1_200.0, 52.0, 16.0
# heights of the parts, top to bottom
TITLE_HEIGHT, MARKS_HEIGHT, PLOT_HEIGHT, FOOT_HEIGHT = 40.0, 50.0, 280.0, 34.0
MARK_RADIUS = 11.0
INK_COLOR, SOFT_COLOR, LINE_COLOR, PAPER_COLOR, ACCENT_COLOR = (
    "#1d2126",
    "#5d6671",
    "#9aa1a8",
    "#ffffff",
    "#c2540a",
)
FONT_FAMILY = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif"
PLOT_WIDTH = PICTURE_WIDTH - LEFT_MARGIN - RIGHT_MARGIN
PLOT_TOP = TITLE_HEIGHT + MARKS_HEIGHT


def skim_picture(view: SkimView) -> str:
    """Return the whole SVG picture, which loads nothing else."""
    size = {"width": PICTURE_WIDTH, "height": PLOT_TOP + PLOT_HEIGHT + FOOT_HEIGHT}
    parts = [
        _hatching_pattern(),
        element("rect", fill=PAPER_COLOR, **size),
        _title_text(view),
        *_background_elements(view),
        *_frequency_axis(view),
        *_time_axis(view),
        *_pick_marks(view),
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
    gone = f" ({format_duration(view.missing)} missing)" if view.missing >= 1 else ""
    duration, short = view.recording.seconds, view.skim.seconds
    length = f"{format_duration(duration)}{gone} condensed to {format_duration(short)}"
    if began is None or end is None:
        return length
    same = began.date() == end.date()
    until = f"{end:%H:%M}" if same else f"{format_day(end)}, {end:%H:%M}"
    return f"{format_day(began)}, {began:%H:%M} to {until}{_zone_text(view)}; {length}"


def _zone_text(view: SkimView) -> str:
    began = view.recording.began
    return f" ({began.tzinfo})" if began is not None and began.tzinfo is not None else ""


def _plot_x(percent: float) -> float:
    return LEFT_MARGIN + PLOT_WIDTH * percent / 100


def _title_text(view: SkimView) -> Html:
    name = element("tspan", view.recording.name, font_weight="600", font_size="16")
    about = element("tspan", describe_times(view), fill=SOFT_COLOR, dx=12.0)
    return element("text", name, about, x=LEFT_MARGIN, y=24.0)


def _hatching_pattern() -> Html:
    line = element("line", x1=0.0, y1=0.0, x2=0.0, y2=8.0, stroke=LINE_COLOR, stroke_width=2.0)
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


def _background_elements(view: SkimView) -> list[Html]:
    """Return the hatching for missing time, and the spectrogram above it."""
    box = {"y": PLOT_TOP, "height": PLOT_HEIGHT}
    missing = find_gaps(view.spectrogram.missing.tolist())
    hatched = [
        element("rect", x=_plot_x(a), width=PLOT_WIDTH * (b - a) / 100, fill="url(#missing)", **box)
        for a, b in missing
    ]
    image = element(
        "image",
        href=data_address(view.spectrogram),
        x=LEFT_MARGIN,
        width=PLOT_WIDTH,
        preserveAspectRatio="none",
        **box,
    )
    frame = element("rect", x=LEFT_MARGIN, width=PLOT_WIDTH, fill="none", stroke=LINE_COLOR, **box)
    return [*hatched, image, frame]


def _frequency_axis(view: SkimView) -> list[Html]:
    elements = []
    for tick in frequency_ticks(view.spectrogram.low, view.spectrogram.high):
        y = PLOT_TOP + PLOT_HEIGHT * (1 - tick.place / 100)
        elements.append(
            element("line", x1=LEFT_MARGIN - 5, x2=LEFT_MARGIN, y1=y, y2=y, stroke=LINE_COLOR)
        )
        elements.append(
            element(
                "text", tick.text, x=LEFT_MARGIN - 9, y=y + 4.5, text_anchor="end", fill=SOFT_COLOR
            )
        )
    unit = element(
        "text", "kHz", x=LEFT_MARGIN - 9, y=PLOT_TOP - 6, text_anchor="end", fill=SOFT_COLOR
    )
    return [*elements, unit]


def _time_axis(view: SkimView) -> list[Html]:
    bottom = PLOT_TOP + PLOT_HEIGHT
    elements = []
    for tick in time_ticks(view.recording):
        x = _plot_x(tick.place)
        elements.append(element("line", x1=x, x2=x, y1=bottom, y2=bottom + 5, stroke=LINE_COLOR))
        anchor = "end" if tick.place > 98 else "start" if tick.place < 1 else "middle"
        elements.append(
            element("text", tick.text, x=x, y=bottom + 20, text_anchor=anchor, fill=SOFT_COLOR)
        )
    return elements


def _pick_marks(view: SkimView) -> list[Html]:
    places = [100 * pick.start / (view.recording.seconds or 1) for pick in view.skim.picks]
    margin = 100 * MARK_RADIUS / PLOT_WIDTH
    marks = spread_places(places, 2.3 * margin, margin, 100 - margin)
    pairs = enumerate(zip(places, marks, strict=True), 1)
    return [
        _pick_mark(number, AxisTick(place, str(number)), mark) for number, (place, mark) in pairs
    ]


def _pick_mark(number: int, tick: AxisTick, mark: float) -> Html:
    """Return a number, and a line from it down through the spectrogram."""
    x, over, y = _plot_x(tick.place), _plot_x(mark), TITLE_HEIGHT + MARK_RADIUS + 3
    size = 12.0 if number < 100 else 9.0
    shaft = {"x1": x, "x2": x, "y1": PLOT_TOP, "y2": PLOT_TOP + PLOT_HEIGHT}
    return element(
        "g",
        element("line", stroke=PAPER_COLOR, stroke_width=3.0, opacity=0.7, **shaft),
        element("line", stroke=ACCENT_COLOR, stroke_width=1.5, **shaft),
        element("line", x1=over, x2=x, y1=y, y2=PLOT_TOP, stroke=ACCENT_COLOR, stroke_width=1.2),
        element(
            "circle",
            cx=over,
            cy=y,
            r=MARK_RADIUS,
            fill=ACCENT_COLOR,
            stroke=PAPER_COLOR,
            stroke_width=1.5,
        ),
        element(
            "text",
            tick.text,
            x=over,
            y=y + size / 3,
            text_anchor="middle",
            font_size=size,
            font_weight="600",
            fill=PAPER_COLOR,
        ),
    )
