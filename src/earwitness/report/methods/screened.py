"""Who took part, and who was left out by which condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from earwitness.data import Results, Rule
from earwitness.listening.screening import SCREENS
from earwitness.report.methods.words import ALL, several
from earwitness.report.sentences import listed

Limits = Mapping[str, float]


def screening_told(results: Results) -> Iterator[str]:
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
    return f"all {who} failed {listed(names, ALL) if names else 'screening'}; all are kept"


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
    return f"{listed(names, ALL)} could not be applied"


def rules_told(results: Results) -> str:
    """Rules that were applied, with their conditions."""
    applied = dict.fromkeys(one.rule for one in results.screened)
    known = {rule.name: rule for rule in results.rules}
    return "; ".join(_rule(known.get(name, Rule(name, {}))) for name in applied)


def _rule(rule: Rule) -> str:
    if rule.name not in CONDITIONS:
        limits = ", ".join(f"{name.replace('_', ' ')} {x:g}" for name, x in rule.limits.items())
        return f"{rule.name} ({limits})" if limits else rule.name
    limits_of = {**SCREENS[rule.name].limits, **rule.limits}
    return f"{rule.name} ({CONDITIONS[rule.name](limits_of)})"


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


CONDITIONS: dict[str, Callable[[Limits], str]] = {
    "p808": _p808,
    "bs1534": _bs1534,
    "bs1116": _bs1116,
    "bt500": _bt500,
    "unheard": _unheard,
}
