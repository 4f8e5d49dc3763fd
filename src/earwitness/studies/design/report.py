"""Verbs study check and study design, and the report on a design."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path

from earwitness.errors import UsageError
from earwitness.io.atomic import AtomicFolder
from earwitness.report.html.page import render_html
from earwitness.report.parts import CategoryShares, Lines, Report, Section, Table
from earwitness.report.text import render_text
from earwitness.studies.design.balance import claims
from earwitness.studies.design.plan import design, minutes
from earwitness.studies.design.subset_balance import (
    CLAIM_IMPOSSIBLE,
    CLAIM_MISSED,
    Claim,
    MissingStratum,
    left_out,
    margins,
)
from earwitness.studies.file.listener_rows import rows_of
from earwitness.studies.file.reader import read_study
from earwitness.studies.screening import SCREENS
from earwitness.studies.study import Clip, Design, Study, StudyBlock
from earwitness.studies.trials import KINDS

# --- Report on a design --------------------------------------------------------------------------


WHOLE_LABEL = "whole"


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


def _block(block: StudyBlock) -> str:
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
    for mark, what in ((CLAIM_MISSED, "Not kept"), (CLAIM_IMPOSSIBLE, "Impossible here")):
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
    header = ("", "", WHOLE_LABEL, *_labels(design, number))
    rows = tuple(
        (m.covariate, m.category, *(f"{value:.4g}" for value in (m.whole, *m.subsets)))
        for m in margins(design, number)
    )
    return Table("clips of each kind", header, rows, names=2)


def _labels(design: Design, number: int) -> list[str]:
    return [f"subset {n}" for n in range(1, len(design.subsets[number]) + 1)]


def _shares(design: Design, number: int) -> list[CategoryShares]:
    found = []
    for covariate in design.study.categories:
        own = [m for m in margins(design, number) if m.covariate == covariate]
        labels = [WHOLE_LABEL, *_labels(design, number)]
        table = [{m.category: m.whole for m in own}]
        count = len(design.subsets[number])
        table += [{m.category: m.subsets[n] for m in own} for n in range(count)]
        found.append(CategoryShares(covariate, tuple(zip(labels, table, strict=True))))
    return found


def _left_out(design: Design, number: int) -> tuple[str, ...]:
    return tuple(
        f"subset {place}: {', '.join(map(_lacking, strata))}"
        for place, strata in enumerate(left_out(design, number), 1)
        if strata
    )


def _lacking(one: MissingStratum) -> str:
    return f"{' '.join(one.stratum)} ({_count(one.clips, 'clip')} in all)"


# --- Check, design and write a study -------------------------------------------------------------


Record = Mapping[str, object]


def study_design(study: str | PathLike[str] | Study) -> Design:
    """The design of a study, given as a file or ready made."""
    return design(study if isinstance(study, Study) else read_study(Path(study)))


def study_render(made: Design, to: str = "text", *, width: int = 100) -> str:
    """The plan, the minutes and the proof of balance, as ``text`` or ``html``."""
    if to not in ("text", "html"):
        raise UsageError(f'there is no form "{to}" — known: html, text')
    report = design_report(made)
    return render_html(report) if to == "html" else render_text(report, width)


def study_write(made: Design, folder: str | PathLike[str]) -> list[str]:
    """Write all files of a design into a new folder; their names are returned.

    A table of all clips, one of every subset, for every listener a table and a list of what is
    heard (subset, session, file, scale), and the report. The folder appears whole or not at all.
    """
    with AtomicFolder(Path(folder)) as place:
        files = _files(made)
        for name, content in files.items():
            path = place / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content, encoding="utf-8", newline="")
    return list(files)


def _files(made: Design) -> dict[str, str]:
    study = made.study
    known = {clip.name: clip for clip in study.material}
    tables = {"samples_all.csv": list(known)}
    for number, subsets in enumerate(made.subsets, 1):
        block = f"block_{number}/" * (len(made.subsets) > 1)
        tables |= {
            f"{block}samples_subset_{place}.csv": list(subset)
            for place, subset in enumerate(subsets, 1)
        }
    files = {name: records_csv([_row(known[one]) for one in own]) for name, own in tables.items()}
    for plan in made.plans:
        own = rows_of(study, plan)
        files[f"csv/subject_{plan.listener}.csv"] = records_csv(own)
        files[f"json/subject_{plan.listener}.json"] = _json(own)
    return files | {"balance.html": study_render(made, "html"), "balance.txt": study_render(made)}


def _row(clip: Clip) -> dict[str, object]:
    files = {f"file.{system}": path for system, path in clip.files.items()}
    return {"name": clip.name, "seconds": clip.seconds, **clip.covariates, **files}


def _json(records: Sequence[Record]) -> str:
    """A list, a line a record."""
    lines = ",\n".join(map(json.dumps, records))
    return f"[\n{lines}\n]\n"


def records_csv(records: Sequence[Record]) -> str:
    """Records as a table; a column each key that any of them has."""
    written = io.StringIO()
    columns = list(dict.fromkeys(chain.from_iterable(records)))
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([record.get(column, "") for column in columns] for record in records)
    return written.getvalue()
