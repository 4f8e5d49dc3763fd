"""Tables, picks and the TC/SD plane of a run of skims as report sections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, nan

from earwitness.core import Estimate, Value, group_values
from earwitness.report.columns import TableRows
from earwitness.report.numbers import cell, count_with_undefined, number, value_title
from earwitness.report.parts import Plane, PlanePoint, PlaneSeries, Report, Section, Table
from earwitness.skims.types import MeanTradeoffCurve, SkimResult, SkimRun
from earwitness.skims.view import describe_reasons, format_time

# --- Trade-off curves ----------------------------------------------------------------------------


CURVE_VALUES = {
    "area": Value("area", "high", 0, 1, "area under the curve of SD against TC"),
    "tc_with_z": Value("corr(z, tc)", "none", -1, 1, "Spearman correlation of z with TC"),
    "sd_with_z": Value("corr(z, sd)", "none", -1, 1, "Spearman correlation of z with SD"),
}
CURVE_COLUMNS = tuple(value_title(value) for value in CURVE_VALUES.values())
CURVE_TITLE = "trade-off between tc and sd"
TC_VALUE = Value("tc", "high", 0, 1, "temporal consistency")
SD_VALUE = Value("sd", "high", 0, 1, "SD (y axis) against TC (x axis) at each z, means over items")
SKIM_SD_VALUE = Value(
    "sd", "high", 0, 1, "skims at each z, and baselines with 95 % intervals of their means"
)


def tradeoff_sections(curves: Sequence[MeanTradeoffCurve]) -> Iterator[Section]:
    """Yield the table of curves, and their figures; separately for every metric."""
    text = (
        "Area under the curve of SD against TC, and Spearman correlations of z with TC and SD, for "
        "items with three or more values of z. Means over items."
    )
    tables, planes = [], []
    families = group_values((curve.family, curve) for curve in curves)
    for family, group in families.items():
        title = CURVE_TITLE if len(families) == 1 else f"{CURVE_TITLE}, {family}"
        rows = tuple((curve.method, *_curve_cells(curve)) for curve in group)
        tables.append(Table(title, ("method", "n", *CURVE_COLUMNS), rows))
        series = tuple(
            PlaneSeries(c.method, tuple(PlanePoint(f"z = {p.z:g}", p.tc, p.sd) for p in c.points))
            for c in group
        )
        planes.append(_make_plane(title, SD_VALUE, series))
    yield Section("Trade-off between TC and SD", tuple(tables), text)
    yield Section("Trade-off curves", tuple(planes), place="pictures")


def _curve_cells(curve: MeanTradeoffCurve) -> Iterator[str]:
    """Yield the number of items and the estimates; an n that differs is added."""
    first = curve.estimates["area"]
    yield count_with_undefined(first)
    for name, value in CURVE_VALUES.items():
        estimate = curve.estimates[name]
        yield cell(estimate, value) + (f" n={estimate.n:,}" if estimate.n != first.n else "")


def _make_plane(title: str, value: Value, series: tuple[PlaneSeries, ...]) -> Plane:
    """Return a plane of TC and SD with its table."""
    rows = tuple(
        (
            method.name,
            point.name.removeprefix("z = "),
            f"{point.x.n + point.x.undefined:,}",
            cell(point.x, TC_VALUE),
            cell(point.y, value),
        )
        for method in series
        for point in method.points
    )
    header = ("method", "z", "n", value_title(TC_VALUE), value_title(value))
    return Plane(title, value, TC_VALUE, series, Table(title, header, rows, names=2))


# --- Report of a run -----------------------------------------------------------------------------


MEASURE_VALUES = (
    Value("tc", "high", 0.0, 1.0, "temporal consistency relative to the calibration"),
    Value("sd", "high", 0.0, 1.0, "source diversity relative to the calibration"),
    Value("coverage", "high", 0.0, 1.0, "share of the recording's class maxima in the skim"),
)
Z_PATTERN = re.compile(r",z=([^,]+)")
SHARE_VALUE = Value("", "none", 0.0, 1.0, "")


def skimming_report(run: SkimRun) -> Report:
    """Return a report with one section per recording."""
    names = list(dict.fromkeys(result.recording.name for result in run.skims))
    return Report(
        "Skims",
        "",
        tuple(dict.fromkeys(result.system for result in run.skims)),
        tuple(section for name in names for section in _recording_sections(run, name)),
        tuple(f"signature: {signature}" for signature in _list_signatures(run)),
    )


def _recording_sections(run: SkimRun, name: str) -> Iterator[Section]:
    """Yield the measures of all skims, their plane, and their picks."""
    skims = [result for result in run.skims if result.recording.name == name]
    baselines = {
        (other, count): measures
        for (recording, other, count), measures in run.baselines.items()
        if recording == name
    }
    several = len({len(result.skim.picks) for result in skims}) > 1
    header = ("system", *(f"{value.name} ↑" for value in MEASURE_VALUES), "n")
    rows = []
    for result in skims:
        own_picks = _picks_text(len(result.skim.picks)) if several else ""
        cells = (number(result.measures[value.name], value) for value in MEASURE_VALUES)
        rows.append((_system_label(result.system, own_picks), *cells, "1"))
    rows += [
        _baseline_row(other, measures, _picks_text(count) if several else "")
        for (other, count), measures in baselines.items()
    ]
    tables = [Table(name, header, tuple(rows))]
    figures = tuple(
        (
            course.method,
            *(number(getattr(course, x), SHARE_VALUE) for x in CURVE_VALUES),
            str(course.n),
        )
        for course in run.courses
        if course.recording == name
    )
    if figures:
        header = ("method", *CURVE_COLUMNS, "n")
        tables.append(Table(f"{name}: {CURVE_TITLE}", header, figures))
    yield Section(name, tuple(tables))
    plane = tradeoff_plane(f"{name}: {CURVE_TITLE}", skims, baselines)
    yield Section(f"{name}: TC and SD", (plane,), place="pictures")
    picks = tuple(_picks_table(result) for result in skims)
    yield Section(f"{name}: picks", picks, place="pages", folded=len(picks) > 1)


def tradeoff_plane(
    title: str,
    skims: Sequence[SkimResult],
    baselines: Mapping[tuple[str, int], Mapping[str, Estimate]],
) -> Plane:
    """Return all skims of a recording in one plane: a curve over z per method, and baselines.

    ``baselines`` are estimates by name and number of picks.
    """
    counts = {count for _, count in baselines}
    points = group_values((result.method, _skim_point(result)) for result in skims)
    series = [PlaneSeries(method, tuple(point)) for method, point in points.items()]
    for (name, count), measures in baselines.items():
        label = _baseline_label(name, measures, _picks_text(count) if len(counts) > 1 else "")
        series.append(PlaneSeries(label, (PlanePoint("", measures["tc"], measures["sd"]),)))
    return _make_plane(title, SKIM_SD_VALUE, tuple(series))


def point_name(result: SkimResult) -> str:
    """Return the label of a skim in the plane."""
    return "" if result.z is None else f"z = {result.z:g}"


def _skim_point(result: SkimResult) -> PlanePoint:
    tc, sd = (
        Estimate(value, nan, nan, nan, int(isfinite(value)), int(not isfinite(value)), "none")
        for value in (result.measures["tc"], result.measures["sd"])
    )
    return PlanePoint(point_name(result), tc, sd)


def _picks_table(result: SkimResult) -> Table:
    """Return the times, classes and gains of all picks of a skim."""
    picks = result.skim.picks
    columns = {
        "pick": [str(place) for place in range(1, len(picks) + 1)],
        "time": [format_time(result.recording, pick.start) for pick in picks],
        "classes": [pick.class_names for pick in picks],
        "why": ["; ".join(describe_reasons(pick, result.recording)) for pick in picks],
        "gain (dB)": [f"{pick.gain:+.1f}" if pick.gain else "" for pick in picks],
    }
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    rows = tuple(zip(*shown.values(), strict=True))
    return Table(result.system, tuple(shown), rows, names=len(shown) - ("gain (dB)" in shown))


def _list_signatures(run: SkimRun) -> list[str]:
    """Return one signature per method, with all its z; audio is included if it is the same."""
    zs: dict[str, list[str]] = {}
    for result in run.skims:
        match = Z_PATTERN.search(result.signature)
        several = zs.setdefault(Z_PATTERN.sub(",z=*", result.signature), [])
        several += [match[1]] if match and match[1] not in several else []
    alike = [
        signature.replace(",z=*", f",z={'|'.join(several)}") for signature, several in zs.items()
    ]
    bare = dict.fromkeys(signature.rpartition("|sound=")[0] for signature in alike)
    return list(alike if len(alike) == len(bare) else bare)


def _picks_text(count: int) -> str:
    return "1 pick" if count == 1 else f"{count} picks"


def _baseline_row(name: str, measures: Mapping[str, Estimate], picks: str) -> tuple[str, ...]:
    drawn, label = _count_draws(measures), _baseline_label(name, measures, picks)
    cells = (
        number(measures[of.name].value, of) if drawn == 1 else cell(measures[of.name], of)
        for of in MEASURE_VALUES
    )
    return (label, *cells, str(drawn))


def _baseline_label(name: str, measures: Mapping[str, Estimate], picks: str) -> str:
    return _system_label(name, picks, "mean of draws" if _count_draws(measures) > 1 else "")


def _count_draws(measures: Mapping[str, Estimate]) -> int:
    return max(estimate.n + estimate.undefined for estimate in measures.values())


def _system_label(name: str, *details: str) -> str:
    detail = ", ".join(detail for detail in details if detail)
    return f"{name} ({detail})" if detail else name


def skimming_tables(run: SkimRun) -> dict[str, TableRows]:
    """Return the tables ``skims`` (measures of every skim) and ``picks``."""
    measures = list(dict.fromkeys(name for skim in run.skims for name in skim.measures))
    skims = [
        [
            *(skim.recording.name, skim.system, skim.method, skim.z, len(skim.skim.picks)),
            *(skim.skim.seconds, *(skim.measures.get(name, nan) for name in measures)),
            skim.signature,
        ]
        for skim in run.skims
    ]
    picks = [
        [
            *(skim.recording.name, skim.system, place, pick.start, pick.seconds, pick.turned),
            *(pick.class_names, pick.gain),
        ]
        for skim in run.skims
        for place, pick in enumerate(skim.skim.picks, 1)
    ]
    columns = ("recording", "system", "method", "z", "picks", "seconds", *measures, "signature")
    pick_columns = ["recording", "system", "place", "start", "seconds", "turned", "classes", "gain"]
    return {"skims": TableRows(columns, skims), "picks": TableRows(pick_columns, picks)}
