"""How skims go from TC to SD as z grows: a table, and SD drawn over TC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from earwitness.data import Estimate, MeanCourse, Value
from earwitness.report.numbers import cell, number, titled, with_undefined
from earwitness.report.parts import Point, Scatter, Scatters, Section, Table

COURSES = {
    "area": Value("area", "high", 0, 1, "area below SD over TC"),
    "tc_with_z": Value("z with tc", "none", -1, 1, "Spearman's correlation of z with TC"),
    "sd_with_z": Value("z with sd", "none", -1, 1, "Spearman's correlation of z with SD"),
}
COLUMNS = tuple(titled(value) for value in COURSES.values())
TITLE = "z from tc to sd"
TC = Value("tc", "high", 0, 1, "temporal consistency")
SD = Value("sd", "high", 0, 1, "SD (up) over TC (to the right) at each z, means over items")


def course_sections(courses: Sequence[MeanCourse]) -> Iterator[Section]:
    """The numbers, and for media that draw the curves; apart for every metric."""
    text = (
        "Area below SD over TC, and Spearman's correlation of z with both, of items with three z "
        "and more; means over items."
    )
    families = list(dict.fromkeys(one.family for one in courses))
    parts = [(_named(f, families), [c for c in courses if c.family == f]) for f in families]
    yield Section("z from TC to SD", tuple(_table(name, own) for name, own in parts), text)
    drawn = tuple(_picture(name, own) for name, own in parts)
    yield Section("SD over TC", drawn, place="pictures")


def _named(family: str, families: Sequence[str]) -> str:
    return TITLE if len(families) == 1 else f"{TITLE}, {family}"


def _table(title: str, courses: Sequence[MeanCourse]) -> Table:
    rows = tuple((one.method, *_cells(one)) for one in courses)
    return Table(title, ("method", "n", *COLUMNS), rows)


def _cells(one: MeanCourse) -> Iterator[str]:
    """How many items, and the estimates; an n that differs is added."""
    first = one.estimates["area"]
    yield with_undefined(first)
    for name, value in COURSES.items():
        estimate = one.estimates[name]
        yield cell(estimate, value) + f" n={estimate.n:,}" * (estimate.n != first.n)


def _picture(title: str, courses: Sequence[MeanCourse]) -> Scatters:
    rows = tuple(
        (one.method, f"{point.z:g}", f"{point.tc.n:,}", cell(point.tc, TC), cell(point.sd, SD))
        for one in courses
        for point in one.points
    )
    table = Table(title, ("method", "z", "n", titled(TC), titled(SD)), rows, names=2)
    return Scatters(title, SD, tuple(map(_curve, courses)), table)


def _curve(one: MeanCourse) -> Scatter:
    """Points joined in the order of TC, as the area has them."""
    points = tuple(Point(f"z = {p.z:g}", p.tc.value, p.sd) for p in one.points)
    line = sorted((p.x, p.y.value) for p in points if p.x == p.x and p.y.value == p.y.value)
    return Scatter(one.method, f"area {_area(one.estimates['area'])}", points, tuple(line))


def _area(estimate: Estimate) -> str:
    return number(estimate.value, COURSES["area"])
