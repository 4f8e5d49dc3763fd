"""Ratings to results: from answers to a study, or from plain tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from earwitness.api.gathered import form_groups
from earwitness.api.rated import Place, Reading, check_roles, material_of, named, stored_material
from earwitness.api.settings import changed, settings_of
from earwitness.api.sides import check_ratings
from earwitness.data import Answer, Input, Progress, Rating, Results, Study, no_progress
from earwitness.formats.study import read_study
from earwitness.formats.whole import WholeFolder
from earwitness.listening.analysis.coded import Coded, coded
from earwitness.listening.analysis.doubled import resolve
from earwitness.listening.analysis.whole import analyse
from earwitness.listening.rubrics import defined
from earwitness.listening.screened import screen
from earwitness.report import tables_csv, written
from earwitness.report.methods import methods

ALL_FORMS = {"report.html": "html", "results.json": "json", "tables.tex": "latex"}


def study_analyse(
    ratings: Place | Sequence[Place],
    *,
    study: Place | Study | None = None,
    db: Place | None = None,
    reading: Reading = Reading(),  # noqa: B008
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
        material = stored_material(plan, db, files, settings)
    else:
        check_ratings(files, study)
        material = material_of([Path(one) for one in files], plan, reading, settings)
    check_roles(material, how)
    if material.rubric and settings.rubric is None:
        settings = replace(settings, rubric=defined(material.rubric))
    told = changed(plan, settings)
    return analyse(replace(material, changed=told), settings, progress=progress)


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
    material = replace(named(study, ratings, inputs), changed=changed(study, settings))
    material = replace(material, groups={**material.groups, **form_groups(study, answers)})
    check_roles(material, how)
    return analyse(replace(material, simulated=simulated), settings)


def kept_ratings(files: Sequence[Place], study: Study, scale: str) -> Coded:
    """Ratings of one scale, screened as the study plans it."""
    settings = settings_of(study)
    material = material_of([Path(one) for one in files], study, Reading(), settings)
    counted, _ = resolve(material.ratings, settings.doubled, reference=settings.reference)
    rules, reference, anchor = settings.screening, settings.reference, settings.anchor
    found = screen(counted, rules, reference=reference, anchor=anchor, plays=material.plays)
    out = {*found.left}
    return coded([one for one in counted if one.listener not in out], scale, study.systems)


def result_files(results: Results) -> dict[str, str]:
    """Everything that is written of results, by the name of its file: the report, JSON, LaTeX,
    the methods paragraph, and tables as CSV."""
    pages = {name: written(results, form) for name, form in ALL_FORMS.items()}
    return pages | {"methods.txt": methods(results) + "\n"} | tables_csv(results)


def results_write(results: Results, folder: Place) -> list[str]:
    """Write all files of results into a new folder, whole or not at all; their names."""
    files = result_files(results)
    with WholeFolder(Path(folder)) as place:
        for name, content in files.items():
            (place / name).write_text(content, encoding="utf-8", newline="")
    return list(files)
