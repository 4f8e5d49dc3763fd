"""A run of skims as tables: what each is worth, beside baselines, and curves over z."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from earwitness.data import Course, Estimate, Skimmed, Skimming, Value
from earwitness.report.courses import COLUMNS, TITLE
from earwitness.report.numbers import cell, number
from earwitness.report.parts import Part, Report, Section, Table

MEASURES = (
    Value("tc", "high", 0.0, 1.0, "temporal consistency beside its calibration"),
    Value("sd", "high", 0.0, 1.0, "source diversity beside its calibration"),
    Value("coverage", "high", 0.0, 1.0, "share of the maxima of classes that is reached"),
)
DIAL = re.compile(r",z=([^,]+)")
SHARE = Value("", "none", 0.0, 1.0, "")


def skimming_report(found: Skimming) -> Report:
    """A section a recording."""
    names = list(dict.fromkeys(one.recording.name for one in found.skims))
    return Report(
        "Skims",
        "",
        tuple(dict.fromkeys(one.system for one in found.skims)),
        tuple(Section(name, tuple(_parts(found, name))) for name in names),
        tuple(f"signature: {one}" for one in _signatures(found)),
    )


def _signatures(found: Skimming) -> list[str]:
    """One a method, with all its z; sound is named if there is only one."""
    zs: dict[str, list[str]] = {}
    for one in found.skims:
        made = DIAL.search(one.signature)
        several = zs.setdefault(DIAL.sub(",z=*", one.signature), [])
        several += [made[1]] if made and made[1] not in several else []
    alike = [one.replace(",z=*", f",z={'|'.join(several)}") for one, several in zs.items()]
    bare = dict.fromkeys(one.rpartition("|sound=")[0] for one in alike)
    return list(alike if len(alike) == len(bare) else bare)


def _parts(found: Skimming, name: str) -> Iterator[Part]:
    header = ("system", *(f"{value.name} ↑" for value in MEASURES), "n")
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
        header = ("method", *COLUMNS, "n")
        yield Table(f"{name}: {TITLE}", header, tuple(curves))


def _picks(count: int) -> str:
    return "1 pick" if count == 1 else f"{count} picks"


def _skim(one: Skimmed, *, several: bool) -> tuple[str, ...]:
    """A row; it says how many picks there are if not all skims have as many."""
    name = _named(one.system, _picks(len(one.skim.picks)) if several else "")
    return (name, *(number(one.measures[value.name], value) for value in MEASURES), "1")


def _baseline(name: str, measures: Mapping[str, Estimate], picks: str) -> tuple[str, ...]:
    drawn = max(one.n + one.undefined for one in measures.values())
    if drawn == 1:
        known = (number(measures[value.name].value, value) for value in MEASURES)
        return (_named(name, picks), *known, "1")
    cells = (cell(measures[value.name], value) for value in MEASURES)
    return (_named(name, picks, "mean of draws"), *cells, str(drawn))


def _named(name: str, *more: str) -> str:
    told = ", ".join(one for one in more if one)
    return f"{name} ({told})" if told else name


def _course(one: Course) -> tuple[str, ...]:
    numbers = (number(x, SHARE) for x in (one.area, one.tc_with_z, one.sd_with_z))
    return (one.method, *numbers, str(one.n))
