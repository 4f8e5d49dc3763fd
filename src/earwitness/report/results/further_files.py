"""Tables for other programs of what is divided, equivalent, correlated or odd."""

from __future__ import annotations

from collections.abc import Iterator

from earwitness.data import Outcome, Results
from earwitness.report.results.records import POINT, Row, point

Made = tuple[list[str], list[Row]]
TESTED = [*POINT, "p", "p_corrected"]


def further_tables(results: Results) -> dict[str, Made]:
    """By the name of their file."""
    return {
        "modelled.csv": _modelled(results),
        "equivalences.csv": _equivalences(results),
        "groups.csv": _groups(results),
        "group_contrasts.csv": _group_contrasts(results),
        "interactions.csv": _interactions(results),
        "correlations.csv": _correlations(results),
        "faults.csv": _faults(results),
        "without_duplicates.csv": _without(results),
    }


def _modelled(results: Results) -> Made:
    rows = [
        [c.value, c.a, c.b, *point(c.difference), c.p, c.p_corrected, c.better]
        for scale in results.scales
        for c in scale.modelled
    ]
    return ["scale", "a", "b", *TESTED, "better"], rows


def _equivalences(results: Results) -> Made:
    rows = [
        [
            *(e.value, e.a, e.b, *point(e.difference), e.within, e.margin, e.p, e.p_corrected),
            _shown(e.shown, e.margin),
        ]
        for scale in results.scales
        for e in scale.equivalences
    ]
    header = ["scale", "a", "b", *POINT, "within", "margin", "p", "p_corrected", "shown"]
    return header, rows


def _shown(shown: bool, margin: float) -> str:
    return "" if margin != margin else "yes" if shown else "no"


def _groups(results: Results) -> Made:
    rows = [
        [
            *(scale.value.name, grouped.field, group.name, system, *point(one.mean)),
            *(one.votes, one.listeners, one.items),
        ]
        for scale in results.scales
        for grouped in scale.groups
        for group in grouped.groups
        for system, one in group.systems.items()
    ]
    header = ["scale", "field", "group", "system", *POINT, "votes", "listeners", "items"]
    return header, rows


def _group_contrasts(results: Results) -> Made:
    rows = [
        [
            *(scale.value.name, grouped.field, group.name, c.a, c.b, *point(c.difference)),
            *(c.p, c.p_corrected, c.better),
        ]
        for scale in results.scales
        for grouped in scale.groups
        for group in grouped.groups
        for c in group.contrasts
    ]
    return ["scale", "field", "group", "a", "b", *TESTED, "better"], rows


def _interactions(results: Results) -> Made:
    rows = [
        [scale.value.name, grouped.field, one.a, one.b, one.first, one.second, *_tested(tested)]
        for scale in results.scales
        for grouped in scale.groups
        for one in grouped.interactions
        for tested in (one.tested, one.modelled)
        if tested is not None
    ]
    return ["scale", "field", "a", "b", "first", "second", *TESTED], rows


def _tested(one: Outcome) -> Row:
    return [*point(one.difference), one.p, one.p_corrected]


def _correlations(results: Results) -> Made:
    rows = [
        [one.a, one.b, name, *point(getattr(one, name))]
        for one in (results.rubric.correlations if results.rubric else ())
        for name in ("pearson", "spearman", "within")
    ]
    return ["a", "b", "name", *POINT], rows


def _faults(results: Results) -> Made:
    header = ["kind", "item", "system", "listener", "scale", "told", "done", "where"]
    return header, [[getattr(one, name) for name in header] for one in results.faults]


def _without(results: Results) -> Made:
    rows = list(_without_rows(results))
    return ["scale", "a", "b", "captions", *TESTED, "items"], rows


def _without_rows(results: Results) -> Iterator[Row]:
    for one in results.rubric.without if results.rubric else ():
        pair = [one.value, one.a, one.b]
        yield [*pair, "all", *_tested(one.every), one.items]
        yield [*pair, "without duplicates", *_tested(one.rest), one.rest_items]
