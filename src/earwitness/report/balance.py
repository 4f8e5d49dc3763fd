"""A design as a report: the plan, the minutes, how subsets lie, and what is kept."""

from __future__ import annotations

from earwitness.data import Design
from earwitness.listening.design.balance import claims, left_out, margins
from earwitness.listening.design.minutes import minutes
from earwitness.report.parts import Lines, Report, Section, Shares, Table

WHOLE = "whole"


def design_report(design: Design) -> Report:
    """All of it."""
    study = design.study
    about = (
        f"{study.listeners} listeners in {study.panels} panels, {len(study.systems)} systems, "
        f"{study.clips} of {len(study.material)} clips a listener, {study.sessions} sessions"
    )
    sections = [
        Section("Time", (_minutes(design),)),
        Section(
            "Properties", (_claims(design),), "Counted from the plans, beside a plain shuffle."
        ),
    ]
    if margins(design):
        sections.append(Section("Subsets", (*_shares(design), _margins(design))))
    if lines := _left_out(design):
        sections.append(Section("Left out", (Lines("strata that a subset lacks", lines),)))
    made = (f"study: {study.title}", f"seed: {study.seed}", f"digest: {study.digest or '–'}")
    return Report(f"Design of {study.title}", about, (), tuple(sections), made)


def _minutes(design: Design) -> Table:
    steps = minutes(design.study)
    rows = tuple((what, told, f"{value:.1f}") for what, told, value in steps)
    return Table("minutes of a listener", ("", "how", "minutes"), rows, names=2)


def _claims(design: Design) -> Table:
    rows = tuple(
        (claim.what, claim.found, claim.shuffled, "yes" if claim.kept else "NO")
        for claim in claims(design)
    )
    return Table("what the design keeps", ("", "here", "plain shuffle", "kept"), rows)


def _margins(design: Design) -> Table:
    header = ("", "", WHOLE, *(f"subset {n}" for n in range(1, len(design.subsets) + 1)))
    rows = tuple(
        (m.covariate, m.category, *(f"{value:.4g}" for value in (m.whole, *m.subsets)))
        for m in margins(design)
    )
    return Table("clips of each kind", header, rows, names=2)


def _shares(design: Design) -> list[Shares]:
    found = []
    for covariate in design.study.categories:
        own = [m for m in margins(design) if m.covariate == covariate]
        labels = [WHOLE, *(f"subset {n}" for n in range(1, len(design.subsets) + 1))]
        table = [{m.category: m.whole for m in own}]
        table += [{m.category: m.subsets[n] for m in own} for n in range(len(design.subsets))]
        found.append(Shares(covariate, tuple(zip(labels, table, strict=True))))
    return found


def _left_out(design: Design) -> tuple[str, ...]:
    return tuple(
        f"subset {number}: {', '.join(' '.join(stratum) for stratum in strata)}"
        for number, strata in enumerate(left_out(design), 1)
        if strata
    )
