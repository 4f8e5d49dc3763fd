"""Who was left out and why, and what the means are with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from earwitness.data import Results, ScaleResults, Screened
from earwitness.report.methods.screened import (
    all_failed,
    failure_told,
    not_applied,
    rules_told,
    unapplied,
)
from earwitness.report.numbers import cell, number, titled
from earwitness.report.parts import Intervals, Lines, Section, Table

WITH = "with those left out"


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


def _place(one: Screened) -> str:
    where = [one.scale] if one.scale else []
    where += [f"session {one.session}"] if one.session else []
    return f"{', '.join(where)}: " if where else ""


def _found(screened: Sequence[Screened], out: str) -> Table:
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
            rows.append((WITH, {WITH: scale.everyone[name]}))
    title = f"{titled(scale.value)}: without and with those left out"
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
