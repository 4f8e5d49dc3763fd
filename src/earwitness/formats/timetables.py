"""Timetables of soundscapes: YAML, checked as a whole, every problem with its line."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from earwitness.errors import EarwitnessWarning, InputError, UsageError, nearest
from earwitness.formats import shapes
from earwitness.formats.check import Fault, show
from earwitness.formats.lined import read_yaml
from earwitness.formats.shapes import Entry, Shape, filled, mapping_of, number, pair_of, record
from earwitness.soundscapes.clips import own_sources
from earwitness.soundscapes.sources import SOURCES, Source
from earwitness.soundscapes.timetable import HOURS, Row, Timetable, hourly

FOLDER = Path(str(files("earwitness.soundscapes"))) / "presets"
PRESETS = ("village", "city", "forest")
CLOCK = re.compile(r"\A(\d{1,2})(?:-(\d{1,2}))?\Z")
LOUDEST = 0.0  # dB of full scale


def _amount(least: float, most: float) -> Shape:
    """A number for all hours, 24 numbers, or numbers from one o'clock to another."""
    one = number(least, most)

    def check(value: Any, path: str) -> Iterator[Fault]:
        if isinstance(value, Mapping):
            for hours, inner in value.items():
                yield from _hours(str(hours), f"{path}.{hours}")
                yield from one(inner, f"{path}.{hours}")
        elif isinstance(value, list):
            yield from shapes.list_of(one)(value, path)
            if len(value) != HOURS:
                yield Fault(path, f"must have {HOURS} numbers, got {len(value)}")
        else:
            yield from one(value, path)

    return Shape(check)


def _hours(text: str, path: str) -> Iterator[Fault]:
    found = CLOCK.match(text)
    if not found or int(found[1]) >= HOURS or int(found[2] or 0) > HOURS:
        told = f"must be an hour from 0 to 23, or two such as 22-5, got {show(text)}"
        yield Fault(path, told)


ROW = {
    "share": Entry(_amount(0, 1), "of each hour in which it sounds"),
    "events": Entry(_amount(0, 10_000), "in each hour"),
    "level": Entry(number(-120, LOUDEST), "at its loudest moment, in dB of full scale"),
    "seconds": Entry(pair_of(number(0.1)), "of an event: at least, at most"),
    "strikes": Entry(shapes.yes_or_no, "once at every hour, as a clock does", default=False),
}
TIMETABLE = {
    "title": Entry(shapes.text, "what is heard", default=""),
    "seed": Entry(shapes.whole(0, 2**31), "of all that is left to chance", default=0),
    "hour": Entry(number(1, 3600), "seconds in an hour", default=3600.0),
    "background": Entry(number(-120, LOUDEST), "how loud quiet is, in dB", default=-58.0),
    "clips": Entry(shapes.text, "a folder of one's own sounds, a folder for every source"),
    "sources": Entry(mapping_of(record(ROW)), "what sounds, and when", required=True),
}


def find_timetable(name: str | Path, *, clips: str | Path | None = None) -> Timetable:
    """A preset by its name, or a file; sources may be made of clips in a folder."""
    path = FOLDER / f"{name}.yaml" if str(name) in PRESETS else Path(name)
    if not path.is_file():
        remedy = nearest(str(name), PRESETS)
        raise UsageError(f"there is no file and no preset {name} — {remedy}")
    return read_timetable(path, clips=clips)


def read_timetable(path: Path, *, clips: str | Path | None = None) -> Timetable:
    """A file, or all that is wrong with it."""
    file = read_yaml(path)
    faults = list(record(TIMETABLE)(file.value, ""))
    if faults:
        raise InputError([file.problem(one) for one in faults], done="made")
    value = filled(file.value, TIMETABLE)
    folder = clips or (path.parent / value["clips"] if "clips" in value else None)
    own = {} if folder is None else own_sources(Path(folder))
    sources = {**SOURCES, **own}
    faults = [one for name, row in value["sources"].items() for one in _wrong(name, row, sources)]
    if faults or not value["sources"]:
        faults = faults or [Fault("sources", "must not be empty")]
        raise InputError([file.problem(one) for one in faults], done="made")
    if unused := [name for name in own if name not in value["sources"]]:
        told = (
            f"clips of {', '.join(unused)} are not heard: no source of the timetable is called so"
        )
        warnings.warn(told, EarwitnessWarning, stacklevel=3)
    return Timetable(
        value["title"] or path.stem,
        tuple(_row(name, row) for name, row in value["sources"].items()),
        float(value["hour"]),
        float(value["background"]),
        value["seed"],
        sources,
    )


def _wrong(name: str, row: Mapping[str, Any], sources: Mapping[str, Source]) -> Iterator[Fault]:
    """What does not fit together in a row."""
    path = f"sources.{name}"
    if name not in sources:
        yield Fault(path, f'there is no source "{name}"', nearest(name, sources))
    elif row.get("strikes") and sources[name].lasts:
        yield Fault(f"{path}.strikes", f"{name} goes on and cannot strike")
    if ("share" in row) == ("events" in row):
        yield Fault(path, "must have either share or events")
    if "seconds" in row and row["seconds"][0] > row["seconds"][1]:
        yield Fault(f"{path}.seconds", "must not fall")


def _row(name: str, row: Mapping[str, Any]) -> Row:
    low, high = row.get("seconds", (0.0, 0.0))
    return Row(
        name,
        _spread(row["share"]) if "share" in row else (),
        _spread(row["events"]) if "events" in row else (),
        float(row["level"]) if "level" in row else None,
        (float(low), float(high)) if "seconds" in row else None,
        bool(row.get("strikes", False)),
    )


def _spread(value: Any) -> tuple[float, ...]:
    if isinstance(value, Mapping):
        return hourly({str(hours): float(one) for hours, one in value.items()})
    return tuple(map(float, value)) if isinstance(value, list) else (float(value),) * HOURS
