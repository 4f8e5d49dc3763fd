"""Report of participants and screening: sections, headlines, sentences and CSV table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isnan
from typing import Any

from earwitness.analysis.plan import Rule
from earwitness.analysis.report.listeners import name_listeners
from earwitness.analysis.report.wording import (
    LISTENER,
    MAX_LISTED_NAMES,
    UNKNOWN_RATERS_CLAUSE,
    count_text,
    raters_clause,
    yes_or_no,
)
from earwitness.analysis.results import Results, ScaleResults, ScreeningVerdict
from earwitness.analysis.screening import SCREENS
from earwitness.core import Estimate, group_values
from earwitness.report.columns import Column, Columns, TableRows, draw_rows, record_rows
from earwitness.report.numbers import number, value_title
from earwitness.report.parts import Intervals, Lines, Section, Table
from earwitness.report.sentences import join_names

# --- Methods sentences on screening --------------------------------------------------------------


def screening_methods(results: Results) -> Iterator[str]:
    """Yield the methods sentences on participants and screening."""
    if results.over_items:
        yield f"{raters_clause(results)}."
        yield f"Ratings of single raters were not available: {UNKNOWN_RATERS_CLAUSE}."
        return
    yield f"{count_text(results.listeners, 'listener', 'listeners')} took part."
    rules = applied_rules_text(results)
    if all_failed(results):
        yield failure_sentences(results)
    elif results.left:
        out = count_text(len(results.left), "was", "were")
        how = f" by {rules}" if rules else ""
        yield f"Of these, {out} excluded{how}."
    elif rules:
        yield f"No listener was excluded by {rules}."
    elif not results.rules:
        yield "No screening rule was applied."
    if names := unapplied_rules(results):
        yield f"{not_applied_clause(names)}."


def all_failed(results: Results) -> bool:
    """Return whether every listener failed screening, in which case all are kept."""
    return bool(results.failed) and not results.left


def failure_clause(results: Results) -> str:
    """Return the clause that every listener failed screening."""
    names = [*dict.fromkeys(verdict.rule for verdict in results.screened if not verdict.kept)]
    what = join_names(names, MAX_LISTED_NAMES) if names else "screening"
    if len(results.failed) == 1:
        return f"the only listener failed {what}, and is kept"
    who = count_text(len(results.failed), "listener", "listeners")
    return f"all {who} failed {what}, so all are kept"


def failure_sentences(results: Results) -> str:
    """Return the same as sentences, with the conditions of the rules."""
    clause, rules = failure_clause(results), applied_rules_text(results)
    return f"{clause[0].upper()}{clause[1:]}." + f" Rules: {rules}." * bool(rules)


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
    condition = screen.condition.format(**limits_of, **percent)
    for name, clause in screen.clauses.items():
        condition += clause.format(**limits_of) * bool(limits_of[name])
    return f"{rule.name} ({condition})"


# --- Sections on screening -----------------------------------------------------------------------


WITH_EXCLUDED_LABEL = "including excluded listeners"


def screening_sections(results: Results) -> Iterator[Section]:
    """Yield the sections on excluded listeners, means with and without them, and all checks."""
    if not results.screened and not results.left and not results.rules:
        return
    scales = [scale for scale in results.scales if scale.everyone and scale.systems]
    if any(not verdict.kept for verdict in results.screened):
        yield Section("Screening", (_failure_table(results),), _screening_note(results))
    else:
        yield Section("Screening", (Lines("", (_screening_note(results),)),))
    if results.left and scales:
        yield Section(
            "Means with and without excluded listeners",
            tuple(map(_with_excluded_intervals, scales)),
        )
    if results.screened:
        columns, rows = _check_columns(_failure_label(results)), map(_check_cells, results.screened)
        table = draw_rows("all screening checks", columns, rows, 4)
        yield Section("All screening checks", (table,), place="pictures", folded=True)


def _screening_note(results: Results) -> str:
    left, rules, names = len(results.left), applied_rules_text(results), unapplied_rules(results)
    by = f" by {rules}" if rules else ""
    sentences = []
    if all_failed(results):
        sentences.append(failure_sentences(results))
    elif left:
        verb = "was" if left == 1 else "were"
        sentences.append(f"{left:,} of {results.listeners:,} listeners {verb} excluded{by}.")
    elif results.screened:
        sentences.append(f"No listener was excluded{by}.")
    if names:
        sentences.append(f"{not_applied_clause(names)} (see notes).")
    return " ".join(sentences)


def _failure_label(results: Results) -> str:
    return "failed" if all_failed(results) else "excluded"


def _failure_table(results: Results) -> Table:
    """Return one row per listener and failed rule, with the figures."""
    failures = group_values(
        ((str(verdict.listener), verdict.rule), _verdict_place(verdict) + verdict.figures)
        for verdict in results.screened
        if not verdict.kept
    )
    rows = tuple((*names, "; ".join(texts)) for names, texts in failures.items())
    return Table(_failure_label(results), ("listener", "rule", "figures"), rows, names=3)


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


def _check_cells(one: ScreeningVerdict) -> tuple[Any, ...]:
    figures = one.figures, _verdict_place(one) + one.figures
    return one.listener, one.rule, one.scale, one.session or "", *figures, yes_or_no(one.kept)


def _with_excluded_intervals(scale: ScaleResults) -> Intervals:
    """Return the mean of each system without and with the excluded listeners."""
    rows = []
    for name, rated in scale.systems.items():
        rows.append((name, {name: rated.mean}))
        if name in scale.everyone:
            rows.append((WITH_EXCLUDED_LABEL, {WITH_EXCLUDED_LABEL: scale.everyone[name]}))
    title = f"{value_title(scale.value)}: without and with excluded listeners"
    return Intervals(title, scale.value, "", tuple(rows), _with_excluded_table(title, scale))


def _with_excluded_table(title: str, scale: ScaleResults) -> Table:
    rows = (
        (name, rated.mean, everyone, everyone.value - rated.mean.value)
        for name, rated in scale.systems.items()
        if (everyone := scale.everyone.get(name))
    )
    headings = ("system", "kept listeners", "all listeners", "change")
    return draw_rows(title, headings, rows, value=scale.value)


# --- Headlines on excluded listeners -------------------------------------------------------------


def screening_headlines(results: Results) -> Iterator[str]:
    """Yield which listeners were excluded, what that changes, and rules not applied."""
    if results.left:
        verb = "was" if len(results.left) == 1 else "were"
        count = f"{len(results.left):,} of {results.listeners:,}"
        excluded = name_listeners(results.left)
        yield f"{excluded[0].upper()}{excluded[1:]} {verb} excluded by screening ({count})"
        changes = [scale for scale in results.scales if scale.everyone and scale.systems]
        if changes:
            yield _change_sentence(changes)
    elif results.screened and not all_failed(results):
        yield f"None of {results.listeners:,} listeners was excluded by screening"
    if names := unapplied_rules(results):
        yield f"{not_applied_clause(names)} (see notes)"


def _change_sentence(scales: list[ScaleResults]) -> str:
    """Return how ranking and means would change if all listeners were kept."""
    kept = {s.value.name: _kept_means(s) for s in scales}
    everyone = {s.value.name: s.everyone for s in scales}
    other = [
        name
        for name, kept_means in kept.items()
        if _system_order(kept_means) != _system_order(everyone[name], kept_means)
    ]
    moved = [
        (abs(estimate.value - scale.everyone[name].value), name, scale)
        for scale in scales
        for name, estimate in kept[scale.value.name].items()
        if name in scale.everyone and not isnan(estimate.value - scale.everyone[name].value)
    ]
    if not moved:
        return "The effect of excluding listeners could not be computed"
    most, name, scale = max(moved, key=lambda move: move[0])
    order = f"change the ranking on {join_names(other)}" if other else "not change the ranking"
    return (
        f"Keeping all listeners would {order}; the largest change would be {name} on "
        f"{scale.value.name} ({number(most, scale.value)})"
    )


def _kept_means(scale: ScaleResults) -> dict[str, Estimate]:
    return {n: rated.mean for n, rated in scale.systems.items() if n not in scale.controls}


def _system_order(
    means: Mapping[str, Estimate], among: Mapping[str, Estimate] | None = None
) -> list[str]:
    names = [n for n in among or means if n in means and not isnan(means[n].value)]
    return sorted(names, key=lambda name: means[name].value)


# --- CSV table of screening ----------------------------------------------------------------------


def screening_tables(results: Results) -> dict[str, TableRows]:
    """Return CSV tables by name."""
    return {"screening": record_rows(_check_columns(), map(_check_cells, results.screened))}
