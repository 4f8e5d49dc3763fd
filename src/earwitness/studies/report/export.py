"""Results as JSON, as CSV tables in a folder, and as a methods paragraph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from math import isnan
from typing import Any

from earwitness.core import Contrast, Estimate, Key
from earwitness.report.export import csv_table, json_text
from earwitness.studies.report.agreement import agreement_told
from earwitness.studies.report.choices import choices_told
from earwitness.studies.report.differences import further_told
from earwitness.studies.report.groups import groups_told
from earwitness.studies.report.means import VOTE_SHARES, contrasts_told, means_told, votes_told
from earwitness.studies.report.rubric import judged_told
from earwitness.studies.report.screening import screening_told
from earwitness.studies.results import DifferenceTest, Results, ScaleResults, SystemMeans

# --- Methods paragraph ---------------------------------------------------------------------------
# Every sentence follows from the results; what is not there is not told.


def methods(results: Results) -> str:
    """The paragraph."""
    return " ".join(_told(results))


def _told(results: Results) -> Iterator[str]:
    if results.simulated:
        yield "All listeners were simulated."
    yield from screening_told(results)
    yield from votes_told(results)
    yield from judged_told(results)
    yield from means_told(results)
    yield from contrasts_told(results)
    yield from further_told(results)
    yield from groups_told(results)
    yield from choices_told(results)
    yield from agreement_told(results)
    yield from (f"Other than the study had planned: {one.rstrip('.')}." for one in results.changed)
    made = f"All numbers were computed with Earwitness {results.version}".rstrip()
    yield f"{made} ({results.signature})." if results.signature else f"{made}."


# --- JSON and one CSV table ----------------------------------------------------------------------


ESTIMATE_COLUMNS = ("value", "low", "high", "level", "n", "method")
MEAN_COLUMNS = ("scale", "system", "name", *ESTIMATE_COLUMNS, "votes", "listeners", "items")
# What mappings are called whose keys are no names of systems, methods or figures.
LISTENER_KEYED_FIELDS = dict.fromkeys(
    ("biases", "inconsistencies", "listeners", "people"), "listener"
)
CHOICE_COLUMNS = ("wins", "losses", "ties", "p")
Row = list[Any]


def results_json(results: Results) -> str:
    """All of it, and the methods paragraph; undefined numbers are null."""
    return json_text(_plain(results) | {"methods": methods(results)})


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
    if name in LISTENER_KEYED_FIELDS:
        return [
            {LISTENER_KEYED_FIELDS[name]: who} | _of_listener(one) for who, one in found.items()
        ]
    return {str(key): _plain(one) for key, one in found.items()}


def _of_listener(one: Any) -> dict[str, Any]:
    if isinstance(one, tuple):
        return dict(zip(CHOICE_COLUMNS, one, strict=True))
    made: dict[str, Any] = _plain(one)
    return made


def results_csv(results: Results) -> str:
    """A line an estimate; undefined numbers are empty."""
    rows = (
        [*row, results.signature]
        for scale in results.scales
        for row in (*rated_rows(scale), *choice_rows(scale))
    )
    return csv_table([*MEAN_COLUMNS, "signature"], rows)


def point(estimate: Estimate | None) -> Row:
    """The columns of an estimate; empty where there is none."""
    return [getattr(estimate, name) if estimate else "" for name in ESTIMATE_COLUMNS]


def rated_rows(scale: ScaleResults) -> Iterator[Row]:
    """Means and shares of systems."""
    for system, rated in scale.systems.items():
        yield mean_row(scale, system, "mean", rated.mean, rated)
        for name in VOTE_SHARES:
            if (estimate := getattr(rated, name)) is not None:
                yield mean_row(scale, system, name, estimate, rated)
    for grouped in scale.groups:
        for group in grouped.groups:
            for system, one in group.systems.items():
                name = f"mean, {grouped.field} {group.name}"
                counts = (one.votes, one.listeners, one.items)
                yield [scale.value.name, system, name, *point(one.mean), *counts]


def mean_row(scale: ScaleResults, system: str, name: str, of: Estimate, rated: SystemMeans) -> Row:
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


# --- CSV tables of groups and rubrics ------------------------------------------------------------


Made = tuple[list[str], list[Row]]
TEST_COLUMNS = [*ESTIMATE_COLUMNS, "p", "p_corrected"]


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
    return ["scale", "a", "b", *TEST_COLUMNS, "better"], rows


def _equivalences(results: Results) -> Made:
    rows = [
        [
            *(e.value, e.a, e.b, *point(e.difference), e.within, e.margin, e.p, e.p_corrected),
            _shown(e.shown, e.margin),
        ]
        for scale in results.scales
        for e in scale.equivalences
    ]
    header = ["scale", "a", "b", *ESTIMATE_COLUMNS, "within", "margin", "p", "p_corrected", "shown"]
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
    header = ["scale", "field", "group", "system", *ESTIMATE_COLUMNS, "votes", "listeners", "items"]
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
    return ["scale", "field", "group", "a", "b", *TEST_COLUMNS, "better"], rows


def _interactions(results: Results) -> Made:
    rows = [
        [scale.value.name, grouped.field, one.a, one.b, one.first, one.second, *_tested(tested)]
        for scale in results.scales
        for grouped in scale.groups
        for one in grouped.interactions
        for tested in (one.tested, one.modelled)
        if tested is not None
    ]
    return ["scale", "field", "a", "b", "first", "second", *TEST_COLUMNS], rows


def _tested(one: DifferenceTest) -> Row:
    return [*point(one.difference), one.p, one.p_corrected]


def _correlations(results: Results) -> Made:
    rows = [
        [one.a, one.b, name, *point(getattr(one, name))]
        for one in (results.rubric.correlations if results.rubric else ())
        for name in ("pearson", "spearman", "within")
    ]
    return ["a", "b", "name", *ESTIMATE_COLUMNS], rows


def _faults(results: Results) -> Made:
    header = ["kind", "item", "system", "listener", "scale", "told", "done", "where"]
    return header, [[getattr(one, name) for name in header] for one in results.faults]


def _without(results: Results) -> Made:
    rows = list(_without_rows(results))
    return ["scale", "a", "b", "captions", *TEST_COLUMNS, "items"], rows


def _without_rows(results: Results) -> Iterator[Row]:
    for one in results.rubric.without if results.rubric else ():
        pair = [one.value, one.a, one.b]
        yield [*pair, "all", *_tested(one.every), one.items]
        yield [*pair, "without duplicates", *_tested(one.rest), one.rest_items]


# --- CSV tables of results -----------------------------------------------------------------------


LISTENER_FIGURES = (
    *("votes", "mean", "sd", "bias", "inconsistency", "correlation", "rmse"),
    *("usual", "run", "alike"),
)


def tables_csv(results: Results) -> dict[str, str]:
    """Tables by the name of their file; those that would be empty are left out."""
    made = {
        "means.csv": _means(results),
        "contrasts.csv": _contrasts(results),
        "choices.csv": _chosen(results),
        "listeners.csv": _listeners(results),
        "screening.csv": _screening(results),
        "agreement.csv": _agreement(results),
        "subjects.csv": _subjects(results),
        "effects.csv": _effects(results),
        "doubled.csv": _doubled(results),
        "stimuli.csv": _stimuli(results),
        **further_tables(results),
    }
    return {name: csv_table(header, rows) for name, (header, rows) in made.items() if rows}


def _means(results: Results) -> Made:
    """Every interval of every mean, those of all listeners too."""
    rows: list[Row] = []
    for scale in results.scales:
        rows += [[*row, "yes"] for row in (*rated_rows(scale), *choice_rows(scale))]
        for system, rated in scale.systems.items():
            others = [e for e in rated.intervals.values() if e != rated.mean]
            rows += [[*mean_row(scale, system, "mean", e, rated), "no"] for e in others]
        rows += [
            [scale.value.name, system, "mean of everyone", *point(e), "", "", "", "no"]
            for system, e in scale.everyone.items()
        ]
    return [*MEAN_COLUMNS, "planned"], rows


def _contrasts(results: Results) -> Made:
    header = ["scale", "a", "b", *ESTIMATE_COLUMNS, "p", "p_corrected", "correction", "better"]
    header += [f"effect_{name}" for name in ESTIMATE_COLUMNS]
    rows = [_contrast(scale, c, results) for scale in results.scales for c in scale.contrasts]
    return header, rows


def _contrast(scale: ScaleResults, c: Contrast, results: Results) -> Row:
    tested = [c.p, c.p_corrected, results.plan.correction, c.better]
    effect = point(c.effect)
    return [scale.value.name, c.a, c.b, *point(c.difference), *tested, *effect]


def _chosen(results: Results) -> Made:
    """The whole, and each listener."""
    header = [
        "scale",
        "a",
        "b",
        "listener",
        "wins",
        "losses",
        "ties",
        *ESTIMATE_COLUMNS,
        "p",
        "p_corrected",
    ]
    header += [f"over_listeners_{name}" for name in ESTIMATE_COLUMNS]
    header += ["p_over_listeners", *(f"sensitivity_{name}" for name in ESTIMATE_COLUMNS)]
    rows: list[Row] = []
    for scale in results.scales:
        for c in scale.choices:
            pair = [scale.value.name, c.a, c.b]
            over = [*point(c.over_listeners), c.p_over_listeners]
            keen = point(c.sensitivity)
            counts = [c.wins, c.losses, c.ties, *point(c.share), c.p, c.corrected]
            rows.append([*pair, "", *counts, *over, *keen])
            blank = [""] * (len(header) - 14)
            for who, (wins, losses, ties, p) in c.listeners.items():
                rows.append(
                    [*pair, who, wins, losses, ties, *[""] * len(ESTIMATE_COLUMNS), p, *blank]
                )
    return header, rows


def _listeners(results: Results) -> Made:
    systems = list(dict.fromkeys(n for s in results.scales for o in s.listeners for n in o.means))
    rows = [
        [
            *(scale.value.name, one.listener, _kept(one.listener not in results.left)),
            *(getattr(one, name) for name in LISTENER_FIGURES),
            *(one.means.get(system, "") for system in systems),
        ]
        for scale in results.scales
        for one in scale.listeners
    ]
    return [
        "scale",
        "listener",
        "kept",
        *LISTENER_FIGURES,
        *(f"mean of {name}" for name in systems),
    ], rows


def _kept(kept: bool) -> str:
    return "yes" if kept else "no"


def _screening(results: Results) -> Made:
    rows = [
        [one.listener, one.rule, one.scale, one.session or "", one.figures, _kept(one.kept)]
        for one in results.screened
    ]
    return ["listener", "rule", "scale", "session", "figures", "kept"], rows


def _agreement(results: Results) -> Made:
    rows = [
        [scale.value.name, one.panel, one.listeners, one.stimuli, name, *point(estimate)]
        for scale in results.scales
        for one in scale.agreement
        for name, estimate in one.figures.items()
    ]
    return ["scale", "panel", "listeners", "stimuli", "name", *ESTIMATE_COLUMNS], rows


def _subjects(results: Results) -> Made:
    rows = [
        [scale.value.name, who, name, *point(estimate)]
        for scale in results.scales
        if scale.subjects
        for name, found in (
            ("bias", scale.subjects.biases),
            ("inconsistency", scale.subjects.inconsistencies),
        )
        for who, estimate in found.items()
    ]
    return ["scale", "listener", "name", *ESTIMATE_COLUMNS], rows


def _effects(results: Results) -> Made:
    rows = [
        [scale.value.name, one.name, one.what, *point(one.difference), one.p]
        for scale in results.scales
        for one in scale.effects
    ]
    return ["scale", "name", "what", *ESTIMATE_COLUMNS, "p"], rows


def _doubled(results: Results) -> Made:
    most = max((len(one.values) for one in results.doubled), default=0)
    rows = [
        [one.key.item, one.key.system, one.scale, one.listener, one.counted, *one.values]
        for one in results.doubled
    ]
    header = ["item", "system", "scale", "listener", "counted"]
    return header + [f"vote_{n}" for n in range(1, most + 1)], _filled(rows, most + 5)


def _stimuli(results: Results) -> Made:
    """A row a stimulus and scale with all its votes, and the quality of the subject model."""
    rows = []
    most = max((len(one.votes) for s in results.scales for one in s.stimuli), default=0)
    for scale in results.scales:
        for one in scale.stimuli:
            n = sum(not isnan(vote) for vote in one.votes)
            quality = _quality(scale, one.key)
            named = [one.key.item, one.key.system, scale.value.name]
            rows.append([*named, n, one.mean, one.sd, *quality, *one.votes])
    header = ["item", "system", "scale", "n", "mean", "sd", "quality"]
    return header + [f"vote_{n}" for n in range(1, most + 1)], _filled(rows, most + 7)


def _quality(scale: ScaleResults, key: Key) -> Row:
    found = scale.subjects.qualities.get(key) if scale.subjects else None
    return ["" if found is None else found.value]


def _filled(rows: list[Row], width: int) -> list[Row]:
    return [row + [""] * (width - len(row)) for row in rows]
