"""Report of participants and screening: sections, headlines, sentences and CSV table."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from operator import itemgetter
from typing import Any

from earwitness.analysis.plan import Rule
from earwitness.analysis.report.listeners import name_listeners
from earwitness.analysis.report.wording import (
    LISTENER,
    MAX_LISTED_NAMES,
    UNKNOWN_RATERS_CLAUSE,
    capitalized,
    raters_clause,
    yes_or_no,
)
from earwitness.analysis.results import Results, ScaleResults, ScreeningVerdict
from earwitness.analysis.screening import SCREENS
from earwitness.core import Estimate, Value, count_text, group_values
from earwitness.report.columns import Column, Columns, TableRows, draw_rows, record_rows
from earwitness.report.numbers import number, value_title
from earwitness.report.parts import Intervals, Lines, Section, Table
from earwitness.report.sentences import join_names

# --- Methods sentences on screening --------------------------------------------------------------


def methods(results: Results) -> Iterator[str]:
    """Yield the methods sentences on participants and screening."""
    if results.is_over_items:
        yield f"{raters_clause(results)}."
        yield f"Ratings of single raters were not available: {UNKNOWN_RATERS_CLAUSE}."
        return
    yield f"{count_text(results.listeners, 'listener')} took part."
    yield from _screening_sentences(results)
    if not results.rules and not results.screened and not results.left:
        yield "No screening rule was applied."


def _screening_sentences(results: Results) -> Iterator[str]:
    """Yield how many listeners were excluded by which rules, and rules not applied."""
    rules = applied_rules_text(results)
    by = f" by {rules}" if rules else ""
    if has_only_failures(results):
        yield f"{capitalized(failure_clause(results))}."
        if rules:
            yield f"Rules: {rules}."
    elif results.left:
        count = count_text(len(results.left), "listener was", "listeners were")
        yield f"{count} excluded{by}."
    elif rules:
        yield f"No listener was excluded{by}."
    if names := unapplied_rules(results):
        yield f"{not_applied_clause(names)}."


def has_only_failures(results: Results) -> bool:
    """Return whether every listener failed screening, in which case all are kept."""
    return bool(results.failed) and not results.left


def failure_clause(results: Results) -> str:
    """Return the clause that every listener failed screening."""
    names = [*dict.fromkeys(verdict.rule for verdict in results.screened if not verdict.kept)]
    what = join_names(names, MAX_LISTED_NAMES) if names else "screening"
    if len(results.failed) == 1:
        return f"the only listener failed {what}, and is kept"
    who = count_text(len(results.failed), "listener")
    return f"all {who} failed {what}, so all are kept"


def unapplied_rules(results: Results) -> list[str]:
    """Return the planned rules that could not be applied."""
    applied = {verdict.rule for verdict in results.screened}
    return [rule.name for rule in results.rules if rule.name not in applied]


def not_applied_clause(names: list[str]) -> str:
    """Return the clause that rules could not be applied."""
    return f"{join_names(names, MAX_LISTED_NAMES)} could not be applied"


def applied_rules_text(results: Results) -> str:
    """Return the applied rules with their conditions."""
    applied = dict.fromkeys(verdict.rule for verdict in results.screened)
    rule_of = {rule.name: rule for rule in results.rules}
    return "; ".join(_rule_text(rule_of.get(name, Rule(name, {}))) for name in applied)


def _rule_text(rule: Rule) -> str:
    screen = SCREENS[rule.name]
    limits_of = {**screen.limits, **rule.limits}
    percent = {f"{name}_percent": 100 * limit for name, limit in limits_of.items()}
    clauses = [clause for name, clause in screen.clauses.items() if limits_of[name]]
    texts = (text.format(**limits_of, **percent) for text in (screen.condition, *clauses))
    return f"{rule.name} ({''.join(texts)})"


# --- Sections on screening -----------------------------------------------------------------------


WITH_EXCLUDED_LABEL = "including excluded listeners"


def sections(results: Results) -> Iterator[Section]:
    """Yield the sections on excluded listeners, means with and without them, and all checks."""
    if not results.screened and not results.left and not results.rules:
        return
    out = "failed" if has_only_failures(results) else "excluded"
    note = " ".join(_screening_sentences(results))
    if any(not verdict.kept for verdict in results.screened):
        yield Section("Screening", (_failure_table(results, out),), note)
    else:
        yield Section("Screening", (Lines("", (note,)),))
    scales = [scale for scale in results.scales if scale.everyone and scale.systems]
    if results.left and scales:
        title = "Means with and without excluded listeners"
        yield Section(title, tuple(map(_with_excluded_intervals, scales)))
    if results.screened:
        rows = map(_check_cells, results.screened)
        table = draw_rows("all screening checks", _check_columns(out), rows, 4)
        yield Section("All screening checks", (table,), place="pictures", folded=True)


def _failure_table(results: Results, title: str) -> Table:
    """Return one row per listener and failed rule, with the figures."""
    failures = group_values(
        ((str(verdict.listener), verdict.rule), _verdict_place(verdict) + verdict.figures)
        for verdict in results.screened
        if not verdict.kept
    )
    rows = tuple((*names, "; ".join(texts)) for names, texts in failures.items())
    return Table(title, ("listener", "rule", "figures"), rows, names=3)


def _verdict_place(verdict: ScreeningVerdict) -> str:
    where = [verdict.scale] if verdict.scale else []
    where += [f"session {verdict.session}"] if verdict.session else []
    return f"{', '.join(where)}: " if where else ""


def _check_columns(out: str = "") -> Columns:
    return (
        LISTENER,
        "rule",
        Column("scale", hidden=True),
        Column("session", hidden=True),
        Column("figures", hidden=True),
        Column(heading="figures"),
        Column("kept", "status", show=lambda kept: "kept" if kept == "yes" else out),
    )


def _check_cells(verdict: ScreeningVerdict) -> tuple[Any, ...]:
    place = verdict.listener, verdict.rule, verdict.scale, verdict.session or ""
    figures = verdict.figures, _verdict_place(verdict) + verdict.figures
    return *place, *figures, yes_or_no(verdict.kept)


def _with_excluded_intervals(scale: ScaleResults) -> Intervals:
    """Return the mean of each system without and with the excluded listeners."""
    drawn, cells = list[tuple[str, dict[str, Estimate]]](), list[tuple[Any, ...]]()
    for name, rated in scale.systems.items():
        drawn.append((name, {name: rated.mean}))
        if everyone := scale.everyone.get(name):
            drawn.append((WITH_EXCLUDED_LABEL, {WITH_EXCLUDED_LABEL: everyone}))
            cells.append((name, rated.mean, everyone, everyone.value - rated.mean.value))
    title = f"{value_title(scale.value)}: without and with excluded listeners"
    headings = ("system", "kept listeners", "all listeners", "change")
    table = draw_rows(title, headings, cells, value=scale.value)
    return Intervals(title, scale.value, "", tuple(drawn), table)


# --- Headlines on excluded listeners -------------------------------------------------------------


def headlines(results: Results) -> Iterator[str]:
    """Yield which listeners were excluded, what that changes, and rules not applied."""
    if results.left:
        verb = "was" if len(results.left) == 1 else "were"
        count = f"{len(results.left):,} of {results.listeners:,}"
        who = capitalized(name_listeners(results.left))
        yield f"{who} {verb} excluded by screening ({count})"
        yield from _change_sentences(results)
    elif results.screened and not has_only_failures(results):
        yield f"None of {results.listeners:,} listeners was excluded by screening"
    if names := unapplied_rules(results):
        yield f"{not_applied_clause(names)} (see notes)"


def _change_sentences(results: Results) -> Iterator[str]:
    """Yield how ranking and means would change if all listeners were kept."""
    changes, reordered = list[tuple[float, str, Value]](), list[str]()
    for scale in results.scales:
        means = {
            name: (rated.mean.value, scale.everyone[name].value)
            for name, rated in scale.systems.items()
            if name in scale.everyone and name not in scale.controls
        }
        known = {name: pair for name, pair in means.items() if not any(map(isnan, pair))}
        changes += [(abs(kept - every), name, scale.value) for name, (kept, every) in known.items()]
        by_kept = sorted(known, key=lambda name: known[name][0])
        if by_kept != sorted(known, key=lambda name: known[name][1]):
            reordered.append(scale.value.name)
    if changes:
        most, name, value = max(changes, key=itemgetter(0))
        order = "not change the ranking"
        if reordered:
            order = f"change the ranking on {join_names(reordered)}"
        yield (
            f"Keeping all listeners would {order}; the largest change would be {name} on "
            f"{value.name} ({number(most, value)})"
        )


# --- CSV table of screening ----------------------------------------------------------------------


def tables(results: Results) -> dict[str, TableRows]:
    """Return CSV tables by name."""
    return {"screening": record_rows(_check_columns(), map(_check_cells, results.screened))}
