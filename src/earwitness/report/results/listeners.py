"""Listeners, one by one: a small picture each, and their figures."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from earwitness.data import ListenerFigures, Results, ScaleResults, Value
from earwitness.report.numbers import number, titled
from earwitness.report.parts import Panel, Panels, Section, Table

HEADER = (
    *("votes", "mean", "sd", "bias", "inconsistency", "correlation", "rmse"),
    *("usual", "run", "alike"),
)
SHARE = Value("share", "none", 0, 1, "")
TOLD = (
    "Each listener's mean of every system (dots, in the order of systems) beside that of all who "
    "were kept (line). Bias is the mean difference from the others on the same stimuli, ± the "
    "spread of differences about it."
)
FIGURES = (
    "Usual is the share of the value given most often, run the longest row of equal votes, alike "
    "the share of trials with the same number on all scales; "
    "correlation and rmse are with the mean of the others."
)


def listener_sections(results: Results) -> Iterator[Section]:
    """Panels where there are means, else tables."""
    scales = [scale for scale in results.scales if scale.listeners]
    if scales:
        parts = tuple(_part(results, scale) for scale in scales)
        text = f"{TOLD} {FIGURES}" if any(isinstance(p, Panels) for p in parts) else FIGURES
        yield Section("Listeners", parts, text, place="pictures")


def _part(results: Results, scale: ScaleResults) -> Panels | Table:
    if scale.choices:
        return _of_choices(results, scale)
    drawn = any(one.means for one in scale.listeners)
    return _panels(results, scale) if drawn else _table(results, scale)


def _panels(results: Results, scale: ScaleResults) -> Panels:
    everyone = {name: rated.mean.value for name, rated in scale.systems.items()}
    panels = tuple(
        Panel(str(one.listener), one.means, _remark(one, scale.value), one.listener in results.left)
        for one in scale.listeners
    )
    return Panels(titled(scale.value), scale.value, everyone, panels, _table(results, scale))


def _remark(one: ListenerFigures, value: Value) -> str:
    if isnan(one.bias):
        return ""
    sign = "+" if one.bias > 0 else ""
    return f"{sign}{number(one.bias, value)} ± {number(one.inconsistency, value)}"


def _of_choices(results: Results, scale: ScaleResults) -> Table:
    """What can be said of those who choose: they have no means of systems."""
    rows = tuple(
        (
            *(str(one.listener), _state(results, one), f"{one.votes:,}"),
            *(number(one.usual, SHARE), f"{one.run:,}"),
        )
        for one in scale.listeners
    )
    header = ("listener", "", "votes", "usual", "run")
    return Table(f"{titled(scale.value)}: listeners", header, rows, names=2)


def _state(results: Results, one: ListenerFigures) -> str:
    return "left out" if one.listener in results.left else "kept"


def _table(results: Results, scale: ScaleResults) -> Table:
    value = scale.value
    rows = tuple(
        (
            *(str(one.listener), _state(results, one), f"{one.votes:,}"),
            *(number(x, value) for x in (one.mean, one.sd, one.bias, one.inconsistency)),
            *(number(one.correlation, SHARE), number(one.rmse, value), number(one.usual, SHARE)),
            *(f"{one.run:,}", number(one.alike, SHARE)),
        )
        for one in scale.listeners
    )
    return Table(f"{titled(value)}: listeners", ("listener", "", *HEADER), rows, names=2)
