"""The verb study analyse: settings from a study and options, results and their files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from earwitness.core import Answer, Input, Progress, Rating, StrPath, no_progress
from earwitness.errors import UsageError
from earwitness.io.atomic import AtomicFolder
from earwitness.report.html.page import render_html
from earwitness.report.latex import render_latex
from earwitness.studies.analysis.pipeline import analyse
from earwitness.studies.analysis.prepare import CodedRatings, code_ratings, resolve_repeats
from earwitness.studies.analysis.settings import AnalysisSettings, default_rule, parse_scales
from earwitness.studies.file.reader import read_study
from earwitness.studies.ratings.collect import (
    TableOptions,
    check_ratings,
    check_roles,
    form_groups,
    rating_set,
    read_rating_set,
    stored_rating_set,
    study_groups,
)
from earwitness.studies.report import results_report
from earwitness.studies.report.export import methods_paragraph, results_json, tables_csv
from earwitness.studies.results import Results
from earwitness.studies.rubric import read_rubric
from earwitness.studies.screening import screen
from earwitness.studies.study import NO_GROUPS, Rule, Study
from earwitness.studies.trials import block_kind
from earwitness.studies.trials.mushra import ANCHOR_CUTOFFS_HZ, Mushra
from earwitness.studies.trials.rubric import RubricKind
from earwitness.version import __version__

# --- Settings from study and options -------------------------------------------------------------


DEFAULT_GROUP_FIELDS = ("dataset", "jury")  # by which judged captions are divided
MIDDLE_ANCHOR = list(ANCHOR_CUTOFFS_HZ)[-1]  # the anchor that is to be heard as one


def settings_of(
    study: Study | None,
    *,
    interval: str = "",
    level: float = 0.0,
    correction: str = "",
    contrasts: Sequence[tuple[str, str]] = (),
    by: Sequence[str] = (),
    margins: Sequence[tuple[str, str]] = (),
    scales: Sequence[str] = (),
    screening: Sequence[str] | None = None,
    reference: str = "",
    anchor: str = "",
    **more: Any,
) -> AnalysisSettings:
    """How ratings are analysed: as a study plans it, but for what is said.

    ``scales`` says how far scales go, such as ``MOS=1:5``. ``screening`` names rules with their
    usual limits; ``reference`` and ``anchor`` are the hidden reference and the middle anchor that
    some of them need. ``by`` names fields of items or listeners (``none`` is no field), ``margins``
    are pairs of a scale and a number. ``more`` are fields of ``AnalysisSettings``: doubled, draws,
    seed, mixed, blank.
    """
    planned = _planned_settings(study)
    said: dict[str, Any] = {"interval": interval, "level": level, "correction": correction}
    said |= {"contrasts": tuple(contrasts), "by": tuple(by), "margins": _parse_margins(margins)}
    plan = replace(planned.plan, **{name: value for name, value in said.items() if value})
    plan = replace(plan, by=tuple(name for name in plan.by if name != NO_GROUPS))
    rules = planned.screening if screening is None else tuple(map(default_rule, screening))
    return replace(
        planned,
        plan=plan,
        screening=rules,
        scales=parse_scales(scales),
        reference=reference or planned.reference,
        anchor=anchor or planned.anchor,
        version=__version__,
        **more,
    )


def _parse_margins(said: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Margins by scale."""
    margins = {}
    for scale, text in said:
        try:
            margins[scale] = float(text)
        except ValueError:
            raise UsageError(f'margin must be like total=0.5, got "{scale}={text}"') from None
    return margins


def _planned_settings(study: Study | None) -> AnalysisSettings:
    """What a study plans, and which of its sounds are the hidden reference and an anchor."""
    if study is None:
        return AnalysisSettings()
    kinds = [block_kind(block) for block in study.blocks]
    anchors = [name for kind in kinds if isinstance(kind, Mushra) for name in kind.anchors]
    middle = MIDDLE_ANCHOR if MIDDLE_ANCHOR in anchors else (anchors[-1] if anchors else "")
    rubrics = [kind for kind in kinds if isinstance(kind, RubricKind)]
    return AnalysisSettings(
        replace(study.analysis, by=_group_fields(study, judged=bool(rubrics))),
        study.screening,
        reference=study.reference,
        anchor=middle,
        anchors=tuple(anchors),
        rubric=rubrics[0].judged if rubrics else None,
        blank=rubrics[0].blank if rubrics else "drop",
    )


def _group_fields(study: Study, *, judged: bool) -> tuple[str, ...]:
    """What a study says; where captions are judged, by dataset and jury if there are several."""
    if study.analysis.by or not judged:
        return study.analysis.by
    groupings = study_groups(study)
    usual = [name for name in DEFAULT_GROUP_FIELDS if name in groupings]
    return tuple(name for name in usual if len({*groupings[name].groups.values()}) > 1)


def plan_changes(study: Study | None, settings: AnalysisSettings) -> tuple[str, ...]:
    """Where an analysis differs from the plan of its study."""
    if study is None:
        return ()
    planned = _planned_settings(study)
    plan, actual = planned.plan, settings.plan
    both = {
        "interval": (plan.interval, actual.interval),
        "level": (f"{plan.level:g}", f"{actual.level:g}"),
        "correction": (plan.correction, actual.correction),
        "contrasts": (_pairs_text(plan.contrasts), _pairs_text(actual.contrasts)),
        "by": (_fields_text(plan.by), _fields_text(actual.by)),
        "blank": (planned.blank, settings.blank),
        "margins": (_margins_text(plan.margins), _margins_text(actual.margins)),
        "screening": (_rules_text(study.screening), _rules_text(settings.screening)),
    }
    return tuple(
        f"{name}: {planned} was planned, {done} was done"
        for name, (planned, done) in both.items()
        if planned != done
    )


def _pairs_text(contrasts: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{a} – {b}" for a, b in contrasts) or "all pairs"


def _fields_text(by: Sequence[str]) -> str:
    return ", ".join(name for name in by if name != NO_GROUPS) or "nothing"


def _margins_text(margins: Mapping[str, float]) -> str:
    return ", ".join(f"{name} ±{margin:g}" for name, margin in margins.items()) or "none"


def _rules_text(rules: Sequence[Rule]) -> str:
    return ", ".join(rule.name for rule in rules) or "none"


# --- Ratings to results and files ----------------------------------------------------------------


def study_analyse(
    ratings: StrPath | Sequence[StrPath],
    *,
    study: StrPath | Study | None = None,
    db: StrPath | None = None,
    reading: TableOptions = TableOptions(),  # noqa: B008
    progress: Progress = no_progress,
    **how: Any,
) -> Results:
    """All results of ratings: answers to a study, in files or in a store, or tables of ratings.

    ``db`` is the address of a store. ``how`` is what ``settings_of`` takes; what is said there
    goes before what the study plans.
    """
    plan = study if isinstance(study, Study) or study is None else read_study(Path(study))
    settings = settings_of(plan, **how)
    files = [ratings] if isinstance(ratings, str | PathLike) else list(ratings)
    if db is not None:
        material = stored_rating_set(plan, db, files, settings)
    else:
        check_ratings(files, study)
        material = read_rating_set([Path(file) for file in files], plan, reading, settings)
    check_roles(material, how)
    if material.rubric and settings.rubric is None:
        settings = replace(settings, rubric=read_rubric(material.rubric))
    changes = plan_changes(plan, settings)
    return analyse(replace(material, changed=changes), settings, progress=progress)


def study_results(
    study: Study,
    ratings: Sequence[Rating],
    inputs: tuple[Input, ...] = (),
    *,
    answers: Sequence[Answer] = (),
    simulated: bool = False,
    **how: Any,
) -> Results:
    """All results of ratings of a study that are there already.

    ``answers`` say what listeners wrote in forms, where results are divided by that.
    """
    settings = settings_of(study, **how)
    material = replace(rating_set(study, ratings, inputs), changed=plan_changes(study, settings))
    material = replace(material, groups={**material.groups, **form_groups(study, answers)})
    check_roles(material, how)
    return analyse(replace(material, simulated=simulated), settings)


def kept_ratings(files: Sequence[StrPath], study: Study, scale: str) -> CodedRatings:
    """Ratings of one scale, screened as the study plans it."""
    settings = settings_of(study)
    material = read_rating_set([Path(file) for file in files], study, TableOptions(), settings)
    counted, _ = resolve_repeats(material.ratings, settings.doubled, reference=settings.reference)
    rules, reference, anchor = settings.screening, settings.reference, settings.anchor
    screened = screen(counted, rules, reference=reference, anchor=anchor, plays=material.plays)
    out = {*screened.left}
    return code_ratings(
        [rating for rating in counted if rating.listener not in out], scale, study.systems
    )


def result_files(results: Results) -> dict[str, str]:
    """Everything that is written of results, by the name of its file: the report, JSON, LaTeX,
    the methods paragraph, and tables as CSV."""
    report = results_report(results)
    pages = {
        "report.html": render_html(report),
        "results.json": results_json(results),
        "tables.tex": render_latex(report),
    }
    return pages | {"methods.txt": methods_paragraph(results) + "\n"} | tables_csv(results)


def results_write(results: Results, folder: StrPath) -> list[str]:
    """Write all files of results into a new folder, whole or not at all; their names."""
    files = result_files(results)
    with AtomicFolder(Path(folder)) as place:
        for name, content in files.items():
            (place / name).write_text(content, encoding="utf-8", newline="")
    return list(files)
