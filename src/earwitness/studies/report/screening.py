"""Participants and screening: sections, headlines, methods sentences and CSV table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isnan

from earwitness.core import Estimate
from earwitness.report.numbers import cell, number, value_title
from earwitness.report.parts import Intervals, Lines, Section, Table
from earwitness.report.sentences import join_names
from earwitness.studies.report.csv_columns import TableContent, yes_or_no
from earwitness.studies.report.listeners import name_listeners
from earwitness.studies.report.wording import MAX_LISTED_NAMES, several
from earwitness.studies.results import Results, ScaleResults, ScreeningVerdict
from earwitness.studies.screening import SCREENS
from earwitness.studies.study import Rule

# --- Methods sentences on screening --------------------------------------------------------------


Limits = Mapping[str, float]


def screening_methods(results: Results) -> Iterator[str]:
    """Sentences of the paragraph."""
    yield f"{several(results.listeners, 'listener', 'listeners')} took part."
    rules = rules_told(results)
    if all_failed(results):
        yield failure_told(results)
    elif results.left:
        out = several(len(results.left), "was", "were")
        how = f" by {rules}" if rules else ""
        yield f"Of these, {out} left out{how}."
    elif rules:
        yield f"None was left out by {rules}."
    elif not results.rules:
        yield "No rule of screening was applied."
    if names := unapplied(results):
        yield f"{not_applied(names)}."


def all_failed(results: Results) -> bool:
    """Whether rules would leave out everybody, who then are all kept."""
    return bool(results.failed) and not results.left


def failure(results: Results) -> str:
    """That everybody failed."""
    names = [*dict.fromkeys(one.rule for one in results.screened if not one.kept)]
    who = several(len(results.failed), "listener", "listeners")
    what = join_names(names, MAX_LISTED_NAMES) if names else "screening"
    return f"all {who} failed {what}; all are kept"


def failure_told(results: Results) -> str:
    """The same as sentences, with the conditions."""
    told, rules = failure(results), rules_told(results)
    return f"{told[0].upper()}{told[1:]}." + f" Rules: {rules}." * bool(rules)


def unapplied(results: Results) -> list[str]:
    """Rules that were planned but found nothing to judge."""
    applied = {one.rule for one in results.screened}
    return [rule.name for rule in results.rules if rule.name not in applied]


def not_applied(names: list[str]) -> str:
    """That rules were not applied."""
    return f"{join_names(names, MAX_LISTED_NAMES)} could not be applied"


def rules_told(results: Results) -> str:
    """Rules that were applied, with their conditions."""
    applied = dict.fromkeys(one.rule for one in results.screened)
    known = {rule.name: rule for rule in results.rules}
    return "; ".join(_rule(known.get(name, Rule(name, {}))) for name in applied)


def _rule(rule: Rule) -> str:
    if rule.name not in RULE_CONDITIONS:
        limits = ", ".join(f"{name.replace('_', ' ')} {x:g}" for name, x in rule.limits.items())
        return f"{rule.name} ({limits})" if limits else rule.name
    limits_of = {**SCREENS[rule.name].limits, **rule.limits}
    return f"{rule.name} ({RULE_CONDITIONS[rule.name](limits_of)})"


def _p808(limits: Limits) -> str:
    return (
        f"variance of ratings below {limits['variance']:g}, or Pearson correlation with the mean "
        f"of the other listeners below {limits['correlation']:g}, on any scale"
    )


def _bs1534(limits: Limits) -> str:
    share = f"in more than {100 * limits['share']:g} %"
    return (
        f"hidden reference rated below {limits['reference_below']:g} {share} of the items, or the "
        f"middle anchor above {limits['anchor_above']:g} {share}"
    )


def _bs1116(limits: Limits) -> str:
    return (
        "difference grades not below 0 by a one-sided t test, that is with p above "
        f"{limits['level']:g}"
    )


def _bt500(limits: Limits) -> str:
    return (
        f"more than {100 * limits['outside']:g} % of the votes outside 2 standard deviations about "
        "the mean of the panel (√20 where votes are not normal), with less than "
        f"{100 * limits['one_side']:g} % more on one side than on the other"
    )


def _unheard(limits: Limits) -> str:
    return f"more than {100 * limits['share']:g} % of the sounds not played to their end"


RULE_CONDITIONS: dict[str, Callable[[Limits], str]] = {
    "p808": _p808,
    "bs1534": _bs1534,
    "bs1116": _bs1116,
    "bt500": _bt500,
    "unheard": _unheard,
}


# --- Sections on screening -----------------------------------------------------------------------


WITH_EXCLUDED_LABEL = "with those left out"


def screening_sections(results: Results) -> Iterator[Section]:
    """Rules and whom they leave out; means with and without; all that rules found."""
    if not results.screened and not results.left and not results.rules:
        return
    scales = [scale for scale in results.scales if scale.everyone and scale.systems]
    if any(not one.kept for one in results.screened):
        yield Section("Screening", (_why(results),), _told(results))
    else:
        yield Section("Screening", (Lines("", (_told(results),)),))
    if results.left and scales:
        yield Section("With and without those left out", tuple(map(_beside, scales)))
    if results.screened:
        every = _found(results.screened, _out(results))
        yield Section("Every check", (every,), place="pictures", folded=True)


def _told(results: Results) -> str:
    left, rules, names = len(results.left), rules_told(results), unapplied(results)
    by = f" by {rules}" if rules else ""
    told = []
    if all_failed(results):
        told.append(failure_told(results))
    elif left:
        told.append(f"{left:,} of {results.listeners:,} listeners left out{by}.")
    elif results.screened:
        told.append(f"Nobody left out{by}.")
    if names:
        told.append(f"{not_applied(names)}: see notes.")
    return " ".join(told)


def _out(results: Results) -> str:
    return "failed" if all_failed(results) else "left out"


def _why(results: Results) -> Table:
    """A row a listener and rule, with all that speaks against them."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in results.screened:
        if not one.kept:
            found.setdefault((str(one.listener), one.rule), []).append(_place(one) + one.figures)
    rows = tuple((*names, "; ".join(told)) for names, told in found.items())
    return Table(_out(results), ("listener", "rule", "found"), rows, names=3)


def _place(one: ScreeningVerdict) -> str:
    where = [one.scale] if one.scale else []
    where += [f"session {one.session}"] if one.session else []
    return f"{', '.join(where)}: " if where else ""


def _found(screened: Sequence[ScreeningVerdict], out: str) -> Table:
    rows = tuple(
        (str(s.listener), s.rule, _place(s) + s.figures, "kept" if s.kept else out)
        for s in screened
    )
    return Table("all that the rules found", ("listener", "rule", "found", ""), rows, names=4)


def _beside(scale: ScaleResults) -> Intervals:
    """Each system twice: without those left out, and with them."""
    rows = []
    for name, rated in scale.systems.items():
        rows.append((name, {name: rated.mean}))
        if name in scale.everyone:
            rows.append((WITH_EXCLUDED_LABEL, {WITH_EXCLUDED_LABEL: scale.everyone[name]}))
    title = f"{value_title(scale.value)}: without and with those left out"
    return Intervals(title, scale.value, "", tuple(rows), _table(title, scale))


def _table(title: str, scale: ScaleResults) -> Table:
    value = scale.value
    rows = tuple(
        (
            *(name, cell(rated.mean, value), cell(scale.everyone[name], value)),
            number(scale.everyone[name].value - rated.mean.value, value),
        )
        for name, rated in scale.systems.items()
        if name in scale.everyone
    )
    return Table(title, ("system", "without", "with", "change"), rows)


# --- Headlines on listeners left out -------------------------------------------------------------


def screening_headlines(results: Results) -> Iterator[str]:
    """Whom rules left out; that nobody was, if they were applied; which were not."""
    if results.left:
        verb = "was" if len(results.left) == 1 else "were"
        count = f"{len(results.left):,} of {results.listeners:,}"
        yield f"{name_listeners(results.left)} {verb} left out ({count})"
        changes = [scale for scale in results.scales if scale.everyone and scale.systems]
        if changes:
            yield _changed(changes, results.controls)
    elif results.screened and not all_failed(results):
        yield f"no listener of {results.listeners:,} was left out"
    if names := unapplied(results):
        yield f"{not_applied(names)}: see notes"


def _changed(scales: list[ScaleResults], controls: Sequence[str]) -> str:
    """Whether systems would stand in another order with all listeners, and how far means move."""
    kept = {s.value.name: _means_kept(s, controls) for s in scales}
    everyone = {s.value.name: s.everyone for s in scales}
    other = [name for name, own in kept.items() if _order(own) != _order(everyone[name], own)]
    moved = [
        (abs(estimate.value - scale.everyone[name].value), name, scale)
        for scale in scales
        for name, estimate in kept[scale.value.name].items()
        if name in scale.everyone and not isnan(estimate.value - scale.everyone[name].value)
    ]
    if not moved:
        return "what that changes is not known"
    most, name, scale = max(moved, key=lambda move: move[0])
    order = f"the order changes on {join_names(other)}" if other else "no system changes place"
    return (
        f"with all listeners {order}; the mean that moves most is that of {name} on "
        f"{scale.value.name}, by {number(most, scale.value)}"
    )


def _means_kept(scale: ScaleResults, controls: Sequence[str]) -> dict[str, Estimate]:
    return {name: rated.mean for name, rated in scale.systems.items() if name not in controls}


def _order(means: Mapping[str, Estimate], among: Mapping[str, Estimate] | None = None) -> list[str]:
    names = [n for n in among or means if n in means and not isnan(means[n].value)]
    return sorted(names, key=lambda name: means[name].value)


# --- CSV table of screening ----------------------------------------------------------------------


def screening_tables(results: Results) -> dict[str, TableContent]:
    """CSV tables by the name of their file."""
    rows = [
        [
            *(verdict.listener, verdict.rule, verdict.scale, verdict.session or ""),
            *(verdict.figures, yes_or_no(verdict.kept)),
        ]
        for verdict in results.screened
    ]
    header = ["listener", "rule", "scale", "session", "figures", "kept"]
    return {"screening.csv": (header, rows)}
