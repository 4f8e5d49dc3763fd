"""Design report and files, for study check and study design."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from warnings import warn

from earwitness.analysis.screening import SCREENS
from earwitness.core import Jobs, Progress, StrPath, count_text, no_progress
from earwitness.errors import EarwitnessWarning, MissingExtra, UsageError
from earwitness.io.atomic import AtomicFolder
from earwitness.io.tables import records_csv
from earwitness.report.html.page import render_html
from earwitness.report.numbers import short_number
from earwitness.report.parts import CategoryShares, Lines, Report, Section, Table
from earwitness.report.text import render_text
from earwitness.studies.design.balance import check_balance
from earwitness.studies.design.plan import count_minutes, make_design, max_clips
from earwitness.studies.design.subset_balance import (
    CLAIM_IMPOSSIBLE,
    CLAIM_MISSED,
    Claim,
    missing_strata,
    subset_margins,
)
from earwitness.studies.file.audio_checks import audio_section, check_audio
from earwitness.studies.file.listener_rows import playlist_rows
from earwitness.studies.file.page_checks import check_pages, pages_section
from earwitness.studies.file.reader import read_study, with_digest
from earwitness.studies.file.recordings import recordings_section
from earwitness.studies.procedure import tries_text
from earwitness.studies.study import Design, Question, Study, StudyBlock
from earwitness.studies.trials import KINDS, block_kind

# --- Report on a design --------------------------------------------------------------------------


WHOLE_LABEL = "all clips"
TIME_COLUMNS = ("step", "calculation", "minutes")
CLAIM_COLUMNS = ("property", "this design", "random shuffle", "met")


def design_report(design: Design) -> Report:
    """Return the report on a design: plan, time per listener, balance, and checked audio files."""
    study, balance_claims = design.study, check_balance(design)
    about = (
        f"{study.listeners} listeners in {study.panels} panels, {len(study.systems)} systems, "
        f"{len(study.material)} clips, {sum(block.sessions for block in study.blocks)} sessions"
    )
    steps = tuple((step.what, step.how, f"{step.minutes:.1f}") for step in count_minutes(study))
    claims = tuple(
        (claim.what, claim.observed, claim.shuffled, claim.kept) for claim in balance_claims
    )
    sections = [
        Section("Plan", (_plan_table(study),)),
        Section("Time", (Table("minutes per listener", TIME_COLUMNS, steps, names=2),)),
        Section(
            "Balance", (Table("balance", CLAIM_COLUMNS, claims),), _verdict_sentence(balance_claims)
        ),
    ]
    for number in range(len(study.blocks)):
        sections += _subset_sections(design, number)
    if design.audio is not None:
        sections.append(audio_section(design.audio))
    if design.page_checks is not None and design.page_checks.recordings:
        sections.append(recordings_section(design.page_checks.recordings))
    if design.page_checks is not None and (section := pages_section(design.page_checks)):
        sections.append(section)
    provenance = (f"study: {study.title}", f"seed: {study.seed}", f"digest: {study.digest or '–'}")
    return Report(f"Design of {study.title}", about, (), tuple(sections), provenance)


def _plan_table(study: Study) -> Table:
    """Return the table of all steps of a study, in order."""
    limit = None if study.hearing is None else study.hearing.max_srt
    gate = "" if limit is None else f"; people above {short_number(limit)} dB may not take part"
    hearing = (
        study.hearing and f"{count_text(study.hearing.triplets, 'triplet')} of digits in noise"
    )
    required = f"; required: {', '.join(study.device_required)} ({tries_text(study)})"
    outputs = count_text(len({(answer.item, answer.system) for answer in study.gold}), "output")
    feedback = f", with feedback (expected answers for {outputs})" if study.feedback else ""
    practice = f"{count_text(study.training, 'trial')}{feedback}"
    quality, plan = study.quality, study.analysis
    checks = [f"{count_text(quality.gold, 'gold clip')} per session"] if quality.gold else []
    checks += [f"{count_text(quality.traps, 'trapping clip')} per session"] if quality.traps else []
    checks += [f"{100 * quality.repeats:g} % of trials repeated"] if quality.repeats else []
    scales = ", ".join(plan.scales) or "all scales"
    contrasts = ", ".join(f"{a} – {b}" for a, b in plan.contrasts) or "all pairs of systems"
    rules = list[str]()
    for rule in study.screening:
        limits = ", ".join(f"{key} {value:g}" for key, value in rule.limits.items())
        rules.append(f"{SCREENS[rule.name].doc} ({rule.name}: {limits})")
    rows = [
        ("consent", "required" if study.consent else ""),
        ("form before listening", _form_text(study.before)),
        ("instructions", "shown" if study.instructions else ""),
        ("device checks", ", ".join(study.device) + (required if study.device_required else "")),
        ("hearing test", f"{hearing}{gate}" if hearing else ""),
        ("practice", practice if study.training else ""),
        ("anchors", count_text(len(study.anchors), "sound") if study.anchors else ""),
        *((f"block {n}", _block_text(block)) for n, block in enumerate(study.blocks, 1)),
        ("quality control", ", ".join(checks)),
        ("form after listening", _form_text(study.after)),
        ("screening", "; ".join(rules) or "–"),
        (
            "analysis",
            f"{scales}; {contrasts}; {plan.interval} at {plan.level:g}; {plan.correction}",
        ),
    ]
    shown = tuple(row for row in rows if row[1])
    return Table("steps of the study", ("step", "details"), shown, names=2)


def _form_text(questions: Sequence[Question]) -> str:
    return count_text(len(questions), "question") if questions else ""


def _block_text(block: StudyBlock) -> str:
    heard = f"{block.heard} of " if block.heard < len(block.systems) else ""
    return (
        f"{KINDS[block.kind].title}; {count_text(block.clips, 'clip')}, {heard}"
        f"{count_text(len(block.systems), 'system')}, {count_text(block.sessions, 'session')}"
    )


def _verdict_sentence(claims: Sequence[Claim]) -> str:
    """Return which properties are not met, and how they were counted."""
    sentences = [
        f"{what}: {'; '.join(missed)}."
        for mark, what in ((CLAIM_MISSED, "Not met"), (CLAIM_IMPOSSIBLE, "Not possible here"))
        if (missed := [claim.what for claim in claims if claim.kept == mark])
    ] or ["All properties are met."]
    counted = "Counted in the listeners' plans and, for comparison, in a random shuffle."
    return " ".join([*sentences, counted])


def _subset_sections(design: Design, number: int) -> list[Section]:
    where = f" of block {number + 1}" if len(design.study.blocks) > 1 else ""
    sections = []
    if margins := subset_margins(design, number):
        labels = [f"subset {n}" for n in range(1, len(design.subsets[number]) + 1)]
        header = ("covariate", "category", WHOLE_LABEL, *labels)
        rows = tuple(
            (m.covariate, m.category, *(f"{value:.4g}" for value in (m.whole, *m.subsets)))
            for m in margins
        )
        charts = []
        for name in design.study.categories:
            own = [margin for margin in margins if margin.covariate == name]
            counts = zip(*((m.whole, *m.subsets) for m in own), strict=True)
            shares = [dict(zip((m.category for m in own), count, strict=True)) for count in counts]
            named = zip((WHOLE_LABEL, *labels), shares, strict=True)
            charts.append(CategoryShares(name, tuple(named)))
        table = Table("clips per category, and means", header, rows, names=2)
        sections.append(Section(f"Subsets{where}", (*charts, table)))
    lines = tuple(
        f"subset {place}: "
        + ", ".join(
            f"{' '.join(stratum.stratum)} ({count_text(stratum.clips, 'clip')} in total)"
            for stratum in strata
        )
        for place, strata in enumerate(missing_strata(design, number), 1)
        if strata
    )
    if lines:
        missing = Lines("strata missing from a subset", lines)
        sections.append(Section(f"Missing strata{where}", (missing,)))
    return sections


# --- Check, design and write a study -------------------------------------------------------------


def study_check(
    study: StrPath | Study,
    *,
    minutes: float | None = None,
    audio: bool = True,
    jobs: Jobs = 1,
    progress: Progress = no_progress,
) -> Design:
    """Check a study file and its audio files, and return the design with plan, time and balance.

    If the tables of clips or captions do not exist yet, the design uses examples.

    Parameters
    ----------
    study
        Path of a study file, or a study, whose audio files are not checked.
    minutes
        Minutes per listener, which set the number of clips of the first block.
    audio
        Whether to measure the audio files and compare their formats, lengths, loudness and content.
    jobs
        Number of worker processes, or a function that distributes work as ``map`` does. Less than
        50 MB of audio is measured in this process.
    progress
        Called with the number of audio files measured, and their total.

    Returns
    -------
    Design
        The design; ``render`` and notebooks show its report. Its ``audio.notes`` are what weakens
        the study.

    Raises
    ------
    InputError
        If the study file is invalid, or an audio file is missing, unreadable or silent; lists
        all problems.
    UsageError
        If the time is too short, or the study sets its clips by rows.

    Examples
    --------
    >>> design = study_check("study.yaml")
    >>> len(design.plans)
    2
    """
    design = make_design(read_plan(study, minutes, draft=True))
    if isinstance(study, Study):
        return design
    checked = None
    if audio:
        try:
            checked = check_audio(design.study, Path(study).parent, jobs=jobs, progress=progress)
        except MissingExtra as error:
            warn(f"audio files were not checked: {error}", EarwitnessWarning, 2)
    page_checks = check_pages(design, study, audio=checked is not None)
    return replace(design, audio=checked, page_checks=page_checks)


def study_design(
    study: StrPath | Study,
    output: StrPath | None = None,
    *,
    minutes: float | None = None,
) -> Design:
    """Return the design of a study, and write its files.

    Parameters
    ----------
    study
    output
        Folder to create with the playlist of each listener and the balance of the design. By
        default nothing is written.
    minutes
        Minutes per listener, which set the number of clips of the first block.

    Returns
    -------
    Design
        Subsets of clips per panel and a plan per listener; the same for the same study.

    Raises
    ------
    InputError
        If the study file is invalid.
    UsageError
        If the folder exists, or the time is too short.

    Examples
    --------
    >>> design = study_design("study.yaml")
    >>> design.to_records()[0]["scale"] in ("SIG", "BAK", "OVRL")
    True
    """
    design = make_design(read_plan(study, minutes))
    if output is not None:
        study_write(design, output)
    return design


def read_plan(
    study: StrPath | Study, minutes: float | None = None, *, draft: bool = False
) -> Study:
    """Return a study, with as many clips in the first block as fit into the time, if it is set."""
    if not isinstance(study, Study):
        study = read_study(Path(study), practice=minutes is None, draft=draft)
    return study if minutes is None else _fit_minutes(study, minutes)


def _fit_minutes(plan: Study, minutes: float) -> Study:
    first, *others = plan.blocks
    if not 0 < minutes < 1e6:
        raise UsageError(f"--minutes must be greater than 0, got {minutes:g}")
    if plan.plans:
        raise UsageError("--minutes cannot be used with rows, which set the clips — omit --minutes")
    reserved = 0  # for practice and other blocks
    if plan.training:
        trials = block_kind(first).load(first.heard).trials
        reserved = -(-plan.training // trials) + sum(block.clips for block in others)
    count = len(plan.material)
    available_clips = min(count // plan.panels, count - reserved)
    clips = min(fitting_clips := max_clips(plan, minutes), available_clips)
    if fitting_clips > available_clips:
        message = f"{fitting_clips} clips per listener would fit"
        warn(f"{message}, but only {available_clips} are available", EarwitnessWarning, 2)
    if clips < first.sessions:
        raise UsageError(f"{minutes:g} minutes are too short for {first.sessions} sessions")
    return with_digest(replace(plan, blocks=(replace(first, clips=clips), *others)))


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


def study_write(design: Design, folder: StrPath) -> list[str]:
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
    row_of: dict[str, dict[str, object]] = {}
    for clip in study.material:
        paths = {f"file.{system}": path for system, path in clip.files.items()}
        row_of[clip.name] = {"name": clip.name, "seconds": clip.seconds, **clip.covariates, **paths}
    tables = {"samples_all.csv": list(row_of)}
    for number, subsets in enumerate(design.subsets, 1):
        block = f"block_{number}/" if len(design.subsets) > 1 else ""
        tables |= {
            f"{block}samples_subset_{place}.csv": list(subset)
            for place, subset in enumerate(subsets, 1)
        }
    files = {name: records_csv([row_of[clip] for clip in names]) for name, names in tables.items()}
    for plan in design.plans:
        rows = playlist_rows(study, plan)
        files[f"csv/subject_{plan.listener}.csv"] = records_csv(rows)
        lines = ",\n".join(map(json.dumps, rows))  # one per record
        files[f"json/subject_{plan.listener}.json"] = f"[\n{lines}\n]\n"
    return files | {
        "balance.html": study_render(design, "html"),
        "balance.txt": study_render(design),
    }
