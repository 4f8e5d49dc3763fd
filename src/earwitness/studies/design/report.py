"""Design report and files, for the commands study check and study design."""

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
from earwitness.studies.design.balance import check_balance
from earwitness.studies.design.plan import count_minutes, make_design
from earwitness.studies.design.subset_balance import (
    CLAIM_IMPOSSIBLE,
    CLAIM_MISSED,
    Claim,
    MissingStratum,
    missing_strata,
    subset_margins,
)
from earwitness.studies.file.listener_rows import playlist_rows
from earwitness.studies.file.reader import read_study
from earwitness.studies.screening import SCREENS
from earwitness.studies.study import Clip, Design, Study, StudyBlock
from earwitness.studies.trials import KINDS

# --- Report on a design --------------------------------------------------------------------------


WHOLE_LABEL = "all clips"


def design_report(design: Design) -> Report:
    """Return the report on a design: plan, time per listener and balance."""
    study, balance_claims = design.study, check_balance(design)
    about = (
        f"{study.listeners} listeners in {study.panels} panels, {len(study.systems)} systems, "
        f"{len(study.material)} clips, {sum(block.sessions for block in study.blocks)} sessions"
    )
    sections = [
        Section("Plan", (_plan_table(study),)),
        Section("Time", (_minutes_table(design),)),
        Section("Balance", (_claims_table(balance_claims),), _verdict_sentence(balance_claims)),
    ]
    for number in range(len(study.blocks)):
        sections += _subset_sections(design, number)
    provenance = (f"study: {study.title}", f"seed: {study.seed}", f"digest: {study.digest or '–'}")
    return Report(f"Design of {study.title}", about, (), tuple(sections), provenance)


def _plan_table(study: Study) -> Table:
    """Return the table of all steps of a study, in order."""
    rows = [
        *([("consent", "required")] if study.consent else []),
        *(
            [("form before listening", _count_text(len(study.before), "question"))]
            if study.before
            else []
        ),
        *([("instructions", "shown")] if study.instructions else []),
        *([("device checks", ", ".join(study.device))] if study.device else []),
        *([("practice", _practice_text(study))] if study.training else []),
        *([("anchors", _count_text(len(study.anchors), "sound"))] if study.anchors else []),
        *((f"block {n}", _block_text(block)) for n, block in enumerate(study.blocks, 1)),
        *(
            [("form after listening", _count_text(len(study.after), "question"))]
            if study.after
            else []
        ),
        (
            "screening",
            "; ".join(_rule_text(rule.name, rule.limits) for rule in study.screening) or "–",
        ),
        ("analysis", _analysis_text(study)),
    ]
    return Table("steps of the study", ("step", "details"), tuple(rows), names=2)


def _practice_text(study: Study) -> str:
    gold = {(answer.item, answer.system) for answer in study.gold}
    feedback = (
        f", with feedback (expected answers for {_count_text(len(gold), 'output')})"
        if study.feedback
        else ""
    )
    return f"{_count_text(study.training, 'trial')}{feedback}"


def _count_text(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _block_text(block: StudyBlock) -> str:
    heard = f"{block.heard} of " if block.heard < len(block.systems) else ""
    return (
        f"{KINDS[block.kind].title}; {_count_text(block.clips, 'clip')}, {heard}"
        f"{_count_text(len(block.systems), 'system')}, {_count_text(block.sessions, 'session')}"
    )


def _rule_text(name: str, limits: object) -> str:
    limit_of = dict(limits) if isinstance(limits, dict) else {}
    limit_texts = ", ".join(f"{key} {value:g}" for key, value in limit_of.items())
    return f"{SCREENS[name].doc} ({name}: {limit_texts})"


def _analysis_text(study: Study) -> str:
    plan = study.analysis
    scales = ", ".join(plan.scales) or "all scales"
    contrasts = ", ".join(f"{a} – {b}" for a, b in plan.contrasts) or "all pairs of systems"
    return f"{scales}; {contrasts}; {plan.interval} at {plan.level:g}; {plan.correction}"


def _minutes_table(design: Design) -> Table:
    rows = tuple(
        (step.what, step.how, f"{step.minutes:.1f}") for step in count_minutes(design.study)
    )
    return Table("minutes per listener", ("step", "calculation", "minutes"), rows, names=2)


def _verdict_sentence(claims: Sequence[Claim]) -> str:
    """Return which properties are not met, and how they were counted."""
    sentences = [
        f"{what}: {'; '.join(missed)}."
        for mark, what in ((CLAIM_MISSED, "Not met"), (CLAIM_IMPOSSIBLE, "Not possible here"))
        if (missed := [claim.what for claim in claims if claim.kept == mark])
    ] or ["All properties are met."]
    counted = "Counted in the listeners' plans and, for comparison, in a random shuffle."
    return " ".join([*sentences, counted])


def _claims_table(claims: Sequence[Claim]) -> Table:
    rows = tuple((claim.what, claim.observed, claim.shuffled, claim.kept) for claim in claims)
    return Table("balance", ("property", "this design", "random shuffle", "met"), rows)


def _subset_sections(design: Design, number: int) -> list[Section]:
    where = f" of block {number + 1}" * (len(design.study.blocks) > 1)
    sections = []
    if subset_margins(design, number):
        table = _margins_table(design, number)
        sections.append(Section(f"Subsets{where}", (*_share_charts(design, number), table)))
    if lines := _left_out_lines(design, number):
        left_out_lines = Lines("strata missing from a subset", lines)
        sections.append(Section(f"Missing strata{where}", (left_out_lines,)))
    return sections


def _margins_table(design: Design, number: int) -> Table:
    header = ("covariate", "category", WHOLE_LABEL, *_subset_labels(design, number))
    rows = tuple(
        (m.covariate, m.category, *(f"{value:.4g}" for value in (m.whole, *m.subsets)))
        for m in subset_margins(design, number)
    )
    return Table("clips per category, and means", header, rows, names=2)


def _subset_labels(design: Design, number: int) -> list[str]:
    return [f"subset {n}" for n in range(1, len(design.subsets[number]) + 1)]


def _share_charts(design: Design, number: int) -> list[CategoryShares]:
    charts = []
    for covariate in design.study.categories:
        covariate_margins = [m for m in subset_margins(design, number) if m.covariate == covariate]
        labels = [WHOLE_LABEL, *_subset_labels(design, number)]
        table = [{m.category: m.whole for m in covariate_margins}]
        count = len(design.subsets[number])
        table += [{m.category: m.subsets[n] for m in covariate_margins} for n in range(count)]
        charts.append(CategoryShares(covariate, tuple(zip(labels, table, strict=True))))
    return charts


def _left_out_lines(design: Design, number: int) -> tuple[str, ...]:
    return tuple(
        f"subset {place}: {', '.join(map(_missing_text, strata))}"
        for place, strata in enumerate(missing_strata(design, number), 1)
        if strata
    )


def _missing_text(missing: MissingStratum) -> str:
    return f"{' '.join(missing.stratum)} ({_count_text(missing.clips, 'clip')} in total)"


# --- Check, design and write a study -------------------------------------------------------------


Record = Mapping[str, object]


def study_design(study: str | PathLike[str] | Study) -> Design:
    """Return the design of a study.

    Parameters
    ----------
    study
        Path of a study file, or a study.

    Returns
    -------
    Design
        Subsets of clips per panel and a plan per listener; the same for the same study.

    Raises
    ------
    InputError
        If the study file is invalid.
    """
    return make_design(study if isinstance(study, Study) else read_study(Path(study)))


def study_render(design: Design, to: str = "text", *, width: int = 100) -> str:
    """Return the report on a design: plan, time per listener and balance.

    Parameters
    ----------
    design
        A design.
    to
        Output format: ``text`` or ``html``.
    width
        Line width of the text.

    Raises
    ------
    UsageError
        If the format is unknown.
    """
    if to not in ("text", "html"):
        raise UsageError(f'unknown output format "{to}" — known: html, text')
    report = design_report(design)
    return render_html(report) if to == "html" else render_text(report, width)


def study_write(design: Design, folder: str | PathLike[str]) -> list[str]:
    """Write all files of a design into a new folder.

    The files are a table of all clips, a table per subset, a playlist per listener as CSV and JSON
    (subset, session, file, scale), and the report. If writing fails, no folder is created.

    Parameters
    ----------
    design
        A design.
    folder
        Path of the folder, which must not exist.

    Returns
    -------
    list of str
        Names of the files, relative to the folder.
    """
    with AtomicFolder(Path(folder)) as place:
        files = _design_files(design)
        for name, content in files.items():
            path = place / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content, encoding="utf-8", newline="")
    return list(files)


def _design_files(design: Design) -> dict[str, str]:
    study = design.study
    clip_of = {clip.name: clip for clip in study.material}
    tables = {"samples_all.csv": list(clip_of)}
    for number, subsets in enumerate(design.subsets, 1):
        block = f"block_{number}/" * (len(design.subsets) > 1)
        tables |= {
            f"{block}samples_subset_{place}.csv": list(subset)
            for place, subset in enumerate(subsets, 1)
        }
    files = {
        name: records_csv([_clip_row(clip_of[clip]) for clip in names])
        for name, names in tables.items()
    }
    for plan in design.plans:
        rows = playlist_rows(study, plan)
        files[f"csv/subject_{plan.listener}.csv"] = records_csv(rows)
        files[f"json/subject_{plan.listener}.json"] = _records_json(rows)
    return files | {
        "balance.html": study_render(design, "html"),
        "balance.txt": study_render(design),
    }


def _clip_row(clip: Clip) -> dict[str, object]:
    files = {f"file.{system}": path for system, path in clip.files.items()}
    return {"name": clip.name, "seconds": clip.seconds, **clip.covariates, **files}


def _records_json(records: Sequence[Record]) -> str:
    """Return a JSON list with one line per record."""
    lines = ",\n".join(map(json.dumps, records))
    return f"[\n{lines}\n]\n"


def records_csv(records: Sequence[Record]) -> str:
    """Return records as CSV, with one column per key of any record."""
    written = io.StringIO()
    columns = list(dict.fromkeys(chain.from_iterable(records)))
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([record.get(column, "") for column in columns] for record in records)
    return written.getvalue()
