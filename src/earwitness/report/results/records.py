"""Results of ratings for programs: JSON with everything, CSV with a line an estimate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from earwitness.data import Estimate, Rated, Results, ScaleResults
from earwitness.report.methods import methods
from earwitness.report.records import csv_table, dump

POINT = ("value", "low", "high", "level", "n", "method")
MEANS = ("scale", "system", "name", *POINT, "votes", "listeners", "items")
# What mappings are called whose keys are no names of systems, methods or figures.
LISTED = dict.fromkeys(("biases", "inconsistencies", "listeners", "people"), "listener")
CHOSEN = ("wins", "losses", "ties", "p")
SHARES = ("good", "poor", "floor", "ceiling")  # of votes
Row = list[Any]


def results_json(results: Results) -> str:
    """All of it, and the methods paragraph; undefined numbers are null."""
    return dump(_plain(results) | {"methods": methods(results)})


def _plain(found: Any, name: str = "") -> Any:
    """Types as objects, and mappings by anything but names as lists."""
    if isinstance(found, Mapping):
        return _mapping(found, name)
    if is_dataclass(found):
        own = {one.name: getattr(found, one.name) for one in fields(found)}
        key = own.pop("key", None)
        return (_plain(key) if key else {}) | {n: _plain(x, n) for n, x in own.items()}
    return [_plain(one) for one in found] if isinstance(found, list | tuple) else found


def _mapping(found: Mapping[Any, Any], name: str) -> Any:
    if name == "counts":
        return [{"value": value, "votes": votes} for value, votes in found.items()]
    if name == "qualities":
        return [_plain(key) | _plain(quality) for key, quality in found.items()]
    if name in LISTED:
        return [{LISTED[name]: who} | _of_listener(one) for who, one in found.items()]
    return {str(key): _plain(one) for key, one in found.items()}


def _of_listener(one: Any) -> dict[str, Any]:
    if isinstance(one, tuple):
        return dict(zip(CHOSEN, one, strict=True))
    made: dict[str, Any] = _plain(one)
    return made


def results_csv(results: Results) -> str:
    """A line an estimate; undefined numbers are empty."""
    rows = (
        [*row, results.signature]
        for scale in results.scales
        for row in (*rated_rows(scale), *choice_rows(scale))
    )
    return csv_table([*MEANS, "signature"], rows)


def point(estimate: Estimate | None) -> Row:
    """The columns of an estimate; empty where there is none."""
    return [getattr(estimate, name) if estimate else "" for name in POINT]


def rated_rows(scale: ScaleResults) -> Iterator[Row]:
    """Means and shares of systems."""
    for system, rated in scale.systems.items():
        yield mean_row(scale, system, "mean", rated.mean, rated)
        for name in SHARES:
            if (estimate := getattr(rated, name)) is not None:
                yield mean_row(scale, system, name, estimate, rated)
    for grouped in scale.groups:
        for group in grouped.groups:
            for system, one in group.systems.items():
                name = f"mean, {grouped.field} {group.name}"
                counts = (one.votes, one.listeners, one.items)
                yield [scale.value.name, system, name, *point(one.mean), *counts]


def mean_row(scale: ScaleResults, system: str, name: str, of: Estimate, rated: Rated) -> Row:
    """An estimate of a system, with what it rests on."""
    counts = (rated.votes, rated.listeners, rated.items)
    return [scale.value.name, system, name, *point(of), *counts]


def choice_rows(scale: ScaleResults) -> Iterator[Row]:
    """Shares of choices and abilities."""
    for c in scale.choices:
        counts = [c.wins + c.losses + c.ties, len(c.listeners) or "", ""]
        yield [scale.value.name, c.a, f"share against {c.b}", *point(c.share), *counts]
    if scale.abilities:
        for system, estimate in scale.abilities.systems.items():
            yield [scale.value.name, system, "ability", *point(estimate), "", "", ""]
        if scale.abilities.ties:
            yield [scale.value.name, "", "ties", *point(scale.abilities.ties), "", "", ""]
