"""A design as a report: the plan, the minutes, how subsets lie, and what is kept."""

from __future__ import annotations

from collections.abc import Sequence

from earwitness.data import Block, Design, Study
from earwitness.listening.design.balance import IMPOSSIBLE, MISSED, Claim, claims
from earwitness.listening.design.margins import Lacking, left_out, margins
from earwitness.listening.design.minutes import minutes
from earwitness.listening.kinds import KINDS
from earwitness.listening.screening import SCREENS
from earwitness.report.parts import Lines, Report, Section, Shares, Table

WHOLE = "whole"


def design_report(design: Design) -> Report:
    """All of it."""
    study, found = design.study, claims(design)
    about = (
        f"{study.listeners} listeners in {study.panels} panels, {len(study.systems)} systems, "
        f"{len(study.material)} clips, {sum(block.sessions for block in study.blocks)} sessions"
    )
    sections = [
        Section("Plan", (_plan(study),)),
        Section("Time", (_minutes(design),)),
        Section("Properties", (_claims(found),), _verdict(found)),
    ]
    for number in range(len(study.blocks)):
        sections += _subsets(design, number)
    made = (f"study: {study.title}", f"seed: {study.seed}", f"digest: {study.digest or '–'}")
    return Report(f"Design of {study.title}", about, (), tuple(sections), made)


def _plan(study: Study) -> Table:
    """What happens, in order."""
    rows = [
        *([("consent", "asked for")] if study.consent else []),
        *([("form before", _count(len(study.before), "question"))] if study.before else []),
        *([("instructions", "shown")] if study.instructions else []),
        *([("device", f"checked for {', '.join(study.device)}")] if study.device else []),
        *([("practice", _practice(study))] if study.training else []),
        *([("anchors", _count(len(study.anchors), "sound"))] if study.anchors else []),
        *((f"block {n}", _block(block)) for n, block in enumerate(study.blocks, 1)),
        *([("form after", _count(len(study.after), "question"))] if study.after else []),
        ("screening", "; ".join(_rule(rule.name, rule.limits) for rule in study.screening) or "–"),
        ("analysis", _analysis(study)),
    ]
    return Table("what happens", ("", "what"), tuple(rows), names=2)


def _practice(study: Study) -> str:
    gold = {(one.item, one.system) for one in study.gold}
    told = f", with feedback ({len(gold)} outputs have expected answers)" if study.feedback else ""
    return f"{_count(study.training, 'trial')}{told}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _block(block: Block) -> str:
    heard = f"{block.heard} of " if block.heard < len(block.systems) else ""
    return (
        f"{KINDS[block.kind].title}; {_count(block.clips, 'clip')}, {heard}"
        f"{_count(len(block.systems), 'system')}, {_count(block.sessions, 'session')}"
    )


def _rule(name: str, limits: object) -> str:
    given = dict(limits) if isinstance(limits, dict) else {}
    told = ", ".join(f"{key} {value:g}" for key, value in given.items())
    return f"{SCREENS[name].doc} ({name}: {told})"


def _analysis(study: Study) -> str:
    plan = study.analysis
    scales = ", ".join(plan.scales) or "all scales"
    contrasts = ", ".join(f"{a} – {b}" for a, b in plan.contrasts) or "all pairs of systems"
    return f"{scales}; {contrasts}; {plan.interval} at {plan.level:g}; {plan.correction}"


def _minutes(design: Design) -> Table:
    rows = tuple((step.what, step.how, f"{step.minutes:.1f}") for step in minutes(design.study))
    return Table("minutes of a listener", ("", "how", "minutes"), rows, names=2)


def _verdict(found: Sequence[Claim]) -> str:
    """What was counted, and in one sentence what could not be met."""
    told = "Counted from the plans, beside a plain shuffle of the same trials."
    for mark, what in ((MISSED, "Not kept"), (IMPOSSIBLE, "Impossible here")):
        if missed := [claim.what for claim in found if claim.kept == mark]:
            told += f" {what}: {'; '.join(missed)}."
    return told


def _claims(found: Sequence[Claim]) -> Table:
    rows = tuple((one.what, one.found, one.shuffled, one.kept) for one in found)
    return Table("what the design keeps", ("", "here", "plain shuffle", "kept"), rows)


def _subsets(design: Design, number: int) -> list[Section]:
    where = f" of block {number + 1}" * (len(design.study.blocks) > 1)
    found = []
    if margins(design, number):
        table = _margins(design, number)
        found.append(Section(f"Subsets{where}", (*_shares(design, number), table)))
    if lines := _left_out(design, number):
        told = Lines("strata that a subset lacks", lines)
        found.append(Section(f"Left out{where}", (told,)))
    return found


def _margins(design: Design, number: int) -> Table:
    header = ("", "", WHOLE, *_labels(design, number))
    rows = tuple(
        (m.covariate, m.category, *(f"{value:.4g}" for value in (m.whole, *m.subsets)))
        for m in margins(design, number)
    )
    return Table("clips of each kind", header, rows, names=2)


def _labels(design: Design, number: int) -> list[str]:
    return [f"subset {n}" for n in range(1, len(design.subsets[number]) + 1)]


def _shares(design: Design, number: int) -> list[Shares]:
    found = []
    for covariate in design.study.categories:
        own = [m for m in margins(design, number) if m.covariate == covariate]
        labels = [WHOLE, *_labels(design, number)]
        table = [{m.category: m.whole for m in own}]
        count = len(design.subsets[number])
        table += [{m.category: m.subsets[n] for m in own} for n in range(count)]
        found.append(Shares(covariate, tuple(zip(labels, table, strict=True))))
    return found


def _left_out(design: Design, number: int) -> tuple[str, ...]:
    return tuple(
        f"subset {place}: {', '.join(map(_lacking, strata))}"
        for place, strata in enumerate(left_out(design, number), 1)
        if strata
    )


def _lacking(one: Lacking) -> str:
    return f"{' '.join(one.stratum)} ({_count(one.clips, 'clip')} in all)"
