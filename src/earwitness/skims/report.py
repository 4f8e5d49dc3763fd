"""Tables and trade-off curves of a run of skims as report sections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from earwitness.core import Estimate, Value
from earwitness.report.numbers import axis_label, cell, count_with_undefined, number, value_title
from earwitness.report.parts import Part, Report, Scatter, ScatterPoint, Scatters, Section, Table
from earwitness.skims.types import MeanTradeoffCurve, SkimResult, SkimRun, TradeoffCurve

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


def tradeoff_sections(curves: Sequence[MeanTradeoffCurve]) -> Iterator[Section]:
    """Yield the table of curves, and their figures; separately for every metric."""
    text = (
        "Area under the curve of SD against TC, and Spearman correlations of z with TC and SD, for "
        "items with three or more values of z. Means over items."
    )
    families = list(dict.fromkeys(curve.family for curve in curves))
    parts = [(_curve_title(f, families), [c for c in curves if c.family == f]) for f in families]
    yield Section(
        "Trade-off between TC and SD",
        tuple(_curve_table(name, group) for name, group in parts),
        text,
    )
    drawn = tuple(_curve_scatters(name, group) for name, group in parts)
    yield Section("Trade-off curves", drawn, place="pictures")


def _curve_title(family: str, families: Sequence[str]) -> str:
    return CURVE_TITLE if len(families) == 1 else f"{CURVE_TITLE}, {family}"


def _curve_table(title: str, curves: Sequence[MeanTradeoffCurve]) -> Table:
    rows = tuple((curve.method, *_curve_cells(curve)) for curve in curves)
    return Table(title, ("method", "n", *CURVE_COLUMNS), rows)


def _curve_cells(curve: MeanTradeoffCurve) -> Iterator[str]:
    """Yield the number of items and the estimates; an n that differs is added."""
    first = curve.estimates["area"]
    yield count_with_undefined(first)
    for name, value in CURVE_VALUES.items():
        estimate = curve.estimates[name]
        yield cell(estimate, value) + f" n={estimate.n:,}" * (estimate.n != first.n)


def _curve_scatters(title: str, curves: Sequence[MeanTradeoffCurve]) -> Scatters:
    rows = tuple(
        (
            curve.method,
            f"{point.z:g}",
            f"{point.tc.n:,}",
            cell(point.tc, TC_VALUE),
            cell(point.sd, SD_VALUE),
        )
        for curve in curves
        for point in curve.points
    )
    table = Table(
        title, ("method", "z", "n", value_title(TC_VALUE), value_title(SD_VALUE)), rows, names=2
    )
    across = axis_label(TC_VALUE)
    return Scatters(title, SD_VALUE, tuple(map(_curve_scatter, curves)), table, across)


def _curve_scatter(curve: MeanTradeoffCurve) -> Scatter:
    """Return the points, joined in the order of TC as for the area."""
    points = tuple(ScatterPoint(f"z = {p.z:g}", p.tc.value, p.sd) for p in curve.points)
    line = sorted((p.x, p.y.value) for p in points if p.x == p.x and p.y.value == p.y.value)
    area = number(curve.estimates["area"].value, CURVE_VALUES["area"])
    return Scatter(curve.method, f"area {area}", points, tuple(line))


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
        tuple(Section(name, tuple(_recording_tables(run, name))) for name in names),
        tuple(f"signature: {signature}" for signature in _list_signatures(run)),
    )


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


def _recording_tables(run: SkimRun, name: str) -> Iterator[Part]:
    header = ("system", *(f"{value.name} ↑" for value in MEASURE_VALUES), "n")
    skims = [result for result in run.skims if result.recording.name == name]
    several = len({len(result.skim.picks) for result in skims}) > 1
    rows = [_skim_row(result, several=several) for result in skims]
    beside = [
        _baseline_row(other, measures, _picks_text(count) if several else "")
        for (recording, other, count), measures in run.baselines.items()
        if recording == name
    ]
    yield Table(name, header, (*rows, *beside))
    curves = [_curve_row(curve) for curve in run.courses if curve.recording == name]
    if curves:
        header = ("method", *CURVE_COLUMNS, "n")
        yield Table(f"{name}: {CURVE_TITLE}", header, tuple(curves))


def _picks_text(count: int) -> str:
    return "1 pick" if count == 1 else f"{count} picks"


def _skim_row(result: SkimResult, *, several: bool) -> tuple[str, ...]:
    """Return a row; it shows the number of picks if skims differ in that."""
    name = _system_label(result.system, _picks_text(len(result.skim.picks)) if several else "")
    return (name, *(number(result.measures[value.name], value) for value in MEASURE_VALUES), "1")


def _baseline_row(name: str, measures: Mapping[str, Estimate], picks: str) -> tuple[str, ...]:
    drawn = max(estimate.n + estimate.undefined for estimate in measures.values())
    if drawn == 1:
        numbers = (number(measures[value.name].value, value) for value in MEASURE_VALUES)
        return (_system_label(name, picks), *numbers, "1")
    cells = (cell(measures[value.name], value) for value in MEASURE_VALUES)
    return (_system_label(name, picks, "mean of draws"), *cells, str(drawn))


def _system_label(name: str, *details: str) -> str:
    detail = ", ".join(detail for detail in details if detail)
    return f"{name} ({detail})" if detail else name


def _curve_row(curve: TradeoffCurve) -> tuple[str, ...]:
    numbers = (number(x, SHARE_VALUE) for x in (curve.area, curve.tc_with_z, curve.sd_with_z))
    return (curve.method, *numbers, str(curve.n))
