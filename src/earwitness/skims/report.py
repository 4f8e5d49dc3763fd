"""Tables and trade-off curves of a run of skims as report sections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from earwitness.core import Estimate, Value
from earwitness.report.numbers import cell, count_with_undefined, number, value_title
from earwitness.report.parts import Part, Report, Scatter, ScatterPoint, Scatters, Section, Table
from earwitness.skims.types import MeanTradeoffCurve, SkimResult, SkimRun, TradeoffCurve

# --- Trade-off curves ----------------------------------------------------------------------------


CURVE_VALUES = {
    "area": Value("area", "high", 0, 1, "area below SD over TC"),
    "tc_with_z": Value("z with tc", "none", -1, 1, "Spearman's correlation of z with TC"),
    "sd_with_z": Value("z with sd", "none", -1, 1, "Spearman's correlation of z with SD"),
}
CURVE_COLUMNS = tuple(value_title(value) for value in CURVE_VALUES.values())
CURVE_TITLE = "z from tc to sd"
TC_VALUE = Value("tc", "high", 0, 1, "temporal consistency")
SD_VALUE = Value("sd", "high", 0, 1, "SD (up) over TC (to the right) at each z, means over items")


def course_sections(courses: Sequence[MeanTradeoffCurve]) -> Iterator[Section]:
    """The numbers, and for media that draw the curves; apart for every metric."""
    text = (
        "Area below SD over TC, and Spearman's correlation of z with both, of items with three z "
        "and more; means over items."
    )
    families = list(dict.fromkeys(one.family for one in courses))
    parts = [(_curve_title(f, families), [c for c in courses if c.family == f]) for f in families]
    yield Section("z from TC to SD", tuple(_table(name, own) for name, own in parts), text)
    drawn = tuple(_picture(name, own) for name, own in parts)
    yield Section("SD over TC", drawn, place="pictures")


def _curve_title(family: str, families: Sequence[str]) -> str:
    return CURVE_TITLE if len(families) == 1 else f"{CURVE_TITLE}, {family}"


def _table(title: str, courses: Sequence[MeanTradeoffCurve]) -> Table:
    rows = tuple((one.method, *_cells(one)) for one in courses)
    return Table(title, ("method", "n", *CURVE_COLUMNS), rows)


def _cells(one: MeanTradeoffCurve) -> Iterator[str]:
    """How many items, and the estimates; an n that differs is added."""
    first = one.estimates["area"]
    yield count_with_undefined(first)
    for name, value in CURVE_VALUES.items():
        estimate = one.estimates[name]
        yield cell(estimate, value) + f" n={estimate.n:,}" * (estimate.n != first.n)


def _picture(title: str, courses: Sequence[MeanTradeoffCurve]) -> Scatters:
    rows = tuple(
        (
            one.method,
            f"{point.z:g}",
            f"{point.tc.n:,}",
            cell(point.tc, TC_VALUE),
            cell(point.sd, SD_VALUE),
        )
        for one in courses
        for point in one.points
    )
    table = Table(
        title, ("method", "z", "n", value_title(TC_VALUE), value_title(SD_VALUE)), rows, names=2
    )
    return Scatters(title, SD_VALUE, tuple(map(_curve, courses)), table)


def _curve(one: MeanTradeoffCurve) -> Scatter:
    """Points joined in the order of TC, as the area has them."""
    points = tuple(ScatterPoint(f"z = {p.z:g}", p.tc.value, p.sd) for p in one.points)
    line = sorted((p.x, p.y.value) for p in points if p.x == p.x and p.y.value == p.y.value)
    return Scatter(one.method, f"area {_area(one.estimates['area'])}", points, tuple(line))


def _area(estimate: Estimate) -> str:
    return number(estimate.value, CURVE_VALUES["area"])


# --- Report of a run -----------------------------------------------------------------------------


MEASURE_VALUES = (
    Value("tc", "high", 0.0, 1.0, "temporal consistency beside its calibration"),
    Value("sd", "high", 0.0, 1.0, "source diversity beside its calibration"),
    Value("coverage", "high", 0.0, 1.0, "share of the maxima of classes that is reached"),
)
Z_PATTERN = re.compile(r",z=([^,]+)")
SHARE_VALUE = Value("", "none", 0.0, 1.0, "")


def skimming_report(found: SkimRun) -> Report:
    """A section a recording."""
    names = list(dict.fromkeys(one.recording.name for one in found.skims))
    return Report(
        "Skims",
        "",
        tuple(dict.fromkeys(one.system for one in found.skims)),
        tuple(Section(name, tuple(_parts(found, name))) for name in names),
        tuple(f"signature: {one}" for one in _signatures(found)),
    )


def _signatures(found: SkimRun) -> list[str]:
    """One a method, with all its z; sound is named if there is only one."""
    zs: dict[str, list[str]] = {}
    for one in found.skims:
        made = Z_PATTERN.search(one.signature)
        several = zs.setdefault(Z_PATTERN.sub(",z=*", one.signature), [])
        several += [made[1]] if made and made[1] not in several else []
    alike = [one.replace(",z=*", f",z={'|'.join(several)}") for one, several in zs.items()]
    bare = dict.fromkeys(one.rpartition("|sound=")[0] for one in alike)
    return list(alike if len(alike) == len(bare) else bare)


def _parts(found: SkimRun, name: str) -> Iterator[Part]:
    header = ("system", *(f"{value.name} ↑" for value in MEASURE_VALUES), "n")
    skims = [one for one in found.skims if one.recording.name == name]
    several = len({len(one.skim.picks) for one in skims}) > 1
    rows = [_skim(one, several=several) for one in skims]
    beside = [
        _baseline(other, measures, _picks(count) if several else "")
        for (recording, other, count), measures in found.baselines.items()
        if recording == name
    ]
    yield Table(name, header, (*rows, *beside))
    curves = [_course(one) for one in found.courses if one.recording == name]
    if curves:
        header = ("method", *CURVE_COLUMNS, "n")
        yield Table(f"{name}: {CURVE_TITLE}", header, tuple(curves))


def _picks(count: int) -> str:
    return "1 pick" if count == 1 else f"{count} picks"


def _skim(one: SkimResult, *, several: bool) -> tuple[str, ...]:
    """A row; it says how many picks there are if not all skims have as many."""
    name = _system_label(one.system, _picks(len(one.skim.picks)) if several else "")
    return (name, *(number(one.measures[value.name], value) for value in MEASURE_VALUES), "1")


def _baseline(name: str, measures: Mapping[str, Estimate], picks: str) -> tuple[str, ...]:
    drawn = max(one.n + one.undefined for one in measures.values())
    if drawn == 1:
        known = (number(measures[value.name].value, value) for value in MEASURE_VALUES)
        return (_system_label(name, picks), *known, "1")
    cells = (cell(measures[value.name], value) for value in MEASURE_VALUES)
    return (_system_label(name, picks, "mean of draws"), *cells, str(drawn))


def _system_label(name: str, *more: str) -> str:
    told = ", ".join(one for one in more if one)
    return f"{name} ({told})" if told else name


def _course(one: TradeoffCurve) -> tuple[str, ...]:
    numbers = (number(x, SHARE_VALUE) for x in (one.area, one.tc_with_z, one.sd_with_z))
    return (one.method, *numbers, str(one.n))
