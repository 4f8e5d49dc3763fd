"""Command ``study analyse``: settings from a study and options, results and their files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any

from earwitness.analysis.pipeline import analyse, screen_ratings
from earwitness.analysis.plan import (
    ALL_SCALES,
    ANCHOR_CUTOFFS_HZ,
    NO_GROUPS,
    NOT_ADJUSTED,
    POPULATION_TEXTS,
    POPULATIONS,
    Analysis,
    Rule,
    interval_for,
)
from earwitness.analysis.rating_set import (
    MEANS_LAYOUT,
    TABLE_ARGUMENTS,
    RatingSet,
    TableOptions,
    check_roles,
    filter_ratings,
)
from earwitness.analysis.report import results_report
from earwitness.analysis.report.export import methods_paragraph, results_json, tables_csv
from earwitness.analysis.results import Results
from earwitness.analysis.screening import PRESETS, SCREENS
from earwitness.analysis.settings import (
    NO_RULES,
    AnalysisSettings,
    AnchorNames,
    default_rules,
    parse_anchors,
)
from earwitness.core import Answer, Input, Progress, Rating, StrPath, no_progress
from earwitness.errors import UsageError, nearest
from earwitness.io.atomic import AtomicFolder
from earwitness.io.source import RecordSource, TableInput, table_inputs
from earwitness.ratings.rubric import read_rubric
from earwitness.ratings.scales import Scale, canonical_scale, known_scales, parse_scales
from earwitness.report.html.page import render_html
from earwitness.report.latex import render_latex
from earwitness.stats.means import ITEM_T
from earwitness.studies.collect import (
    check_conditions,
    check_ratings,
    form_groups,
    rating_set,
    read_rating_set,
    split_conditions,
    stored_rating_set,
    study_groups,
    study_scales,
)
from earwitness.studies.file.reader import read_study
from earwitness.studies.from_answers import comments_from_answers
from earwitness.studies.quality import evidence_of_answers
from earwitness.studies.study import Study
from earwitness.studies.trials import study_kinds
from earwitness.task import parse_where
from earwitness.version import __version__

# --- Settings from study and options -------------------------------------------------------------


DEFAULT_GROUP_FIELDS = ("dataset", "jury")  # default groups of rated captions
MIDDLE_ANCHOR = list(ANCHOR_CUTOFFS_HZ)[-1]  # default middle anchor


PLANNED = {field.name for field in fields(Analysis)} - {"scales", "anchors"}


def settings_of(
    study: Study | None,
    *,
    generalize: str = "",
    scales: Annotated[Sequence[str], "NAME=LOW:HIGH"] = (),
    screening: Annotated[Sequence[str] | None, (*SCREENS, *PRESETS, NO_RULES)] = None,
    reference: Annotated[str, "NAME"] = "",
    anchors: Annotated[AnchorNames, "[SCALE=]NAME"] = (),
    low_is_good: Annotated[Sequence[str], "SCALE"] = (),
    means: bool = False,
    **more: Any,
) -> AnalysisSettings:
    """Return the settings of an analysis: those planned in a study, overridden by arguments.

    Parameters
    ----------
    study
        Study with the planned analysis, or None.
    generalize
        Population to which results generalize, as in ``AnalysisBlock``.
    scales
        Range of a scale, such as ``MOS=1:5``.
    screening
        Screening rules with their default limits, or none. By default those of the study.
    reference
        System that is the hidden reference. By default that of the study.
    anchors
        Systems that are anchors; ``SCALE=SYSTEM`` is one of a single scale. By default those of the
        study. The middle anchor, which a screening
        rule needs, is ``anchor70`` if it is an anchor of all scales, else the last of these.
    low_is_good
        Scales where lower is better, such as annoyance.
    means
        Whether values are means over raters, which are analysed over items.
    **more
        Fields of ``Analysis`` (contrasts as pairs or as ``A:B``), and of ``AnalysisSettings``:
        doubled, draws, seed, mixed, blank.

    Returns
    -------
    AnalysisSettings

    Raises
    ------
    UsageError
        If a value is invalid.
    """
    chosen = {name: value for name in PLANNED if (value := more.pop(name, None))}
    interval = chosen.pop("interval", "")
    if means:
        _check_means(
            study=study,
            interval=interval,
            generalize=generalize,
            screening=screening,
            adjust=chosen.get("adjust"),
        )
        interval = ITEM_T
    elif interval == ITEM_T:
        raise UsageError(f"interval: {ITEM_T} is for tables of means — use --layout means")
    if generalize:
        interval = _interval_for(generalize, interval)
    planned = _planned_settings(study)
    own = parse_scales(scales, study_scales(study))
    known = [*study_scales(study), *own, *known_scales()]
    by_scale = {canonical_scale(k, known): v for k, v in parse_anchors(anchors).items()}
    names = [low_is_good] if isinstance(low_is_good, str) else low_is_good
    chosen |= {"interval": interval} if interval else {}
    chosen |= {"anchors": {**planned.plan.anchors, **by_scale}} if by_scale else {}
    if "contrasts" in chosen:
        chosen["contrasts"] = tuple(map(_parse_contrast, chosen["contrasts"]))
    if "margins" in chosen:
        chosen["margins"] = {canonical_scale(k, known): v for k, v in chosen["margins"].items()}
    plan = replace(planned.plan, **chosen)
    plan = replace(plan, by=tuple(name for name in plan.by if name != NO_GROUPS))
    rules = planned.screening if screening is None else default_rules(screening)
    return replace(
        planned,
        plan=plan,
        screening=rules,
        scales=own,
        reference=reference or planned.reference,
        anchor=_middle_anchor(by_scale.get(ALL_SCALES, ())) or planned.anchor,
        version=__version__,
        low_is_good=tuple(dict.fromkeys(canonical_scale(name, known) for name in names)),
        **more,
    )


def _parse_contrast(pair: str | tuple[str, str]) -> tuple[str, str]:
    """Return a pair of systems, which may be written as ``A:B``."""
    a, b = pair.partition(":")[::2] if isinstance(pair, str) else pair
    if not a or not b:
        raise UsageError(f'contrasts: write SYSTEM:SYSTEM, got "{pair}"')
    return a, b


def _interval_for(population: str, interval: str) -> str:
    if population not in POPULATIONS:
        raise UsageError(f'unknown generalize "{population}" — {nearest(population, POPULATIONS)}')
    if interval and interval not in POPULATIONS[population]:
        raise UsageError(
            f"generalize: intervals of {interval} are not for {POPULATION_TEXTS[population]} — use "
            f"{' or '.join(POPULATIONS[population])}"
        )
    return interval_for(population, interval)


def _check_means(**said: object) -> None:
    """Raise UsageError for arguments that need the votes of listeners."""
    for name, value in said.items():
        if value and value != NOT_ADJUSTED:
            raise UsageError(f"means: a table of means has no listeners, so {name} cannot be set")


def _planned_settings(study: Study | None) -> AnalysisSettings:
    """Return the settings planned in a study, with its hidden reference and anchors."""
    if study is None:
        return AnalysisSettings()
    kinds = study_kinds(study)
    anchors = [name for kind in kinds for name in kind.anchor_systems]
    rubric, blank = next((k.rubric_totals() for k in kinds if k.captioned), (None, "drop"))
    return AnalysisSettings(
        plan=replace(study.analysis, by=_group_fields(study, judged=rubric is not None)),
        screening=study.screening,
        reference=study.reference,
        anchor=_middle_anchor(anchors or study.analysis.anchors.get(ALL_SCALES, ())),
        anchors=tuple(anchors),
        rubric=rubric,
        blank=blank,
    )


def _middle_anchor(anchors: Sequence[str]) -> str:
    """Return the middle one of the anchors, or an empty text if there are none."""
    return MIDDLE_ANCHOR if MIDDLE_ANCHOR in anchors else (anchors[-1] if anchors else "")


def _group_fields(study: Study, *, judged: bool) -> tuple[str, ...]:
    """Return the group fields of a study; for captions, dataset and jury by default."""
    if study.analysis.by or not judged:
        return study.analysis.by
    groupings = study_groups(study)
    usual = [name for name in DEFAULT_GROUP_FIELDS if name in groupings]
    return tuple(name for name in usual if len({*groupings[name].groups.values()}) > 1)


def plan_changes(study: Study | None, settings: AnalysisSettings) -> tuple[str, ...]:
    """Return the deviations of an analysis from the plan of its study."""
    if study is None:
        return ()
    planned = _planned_settings(study)
    plan, actual = planned.plan, settings.plan
    both = {
        "interval": (plan.interval, actual.interval),
        "level": (f"{plan.level:g}", f"{actual.level:g}"),
        "correction": (plan.correction, actual.correction),
        "test": (plan.test, actual.test),
        "adjust": (plan.adjust, actual.adjust),
        "anchors": (_anchors_text(planned), _anchors_text(settings)),
        "contrasts": (_pairs_text(plan.contrasts), _pairs_text(actual.contrasts)),
        "by": (_fields_text(plan.by), _fields_text(actual.by)),
        "blank": (planned.blank, settings.blank),
        "margins": (_margins_text(plan.margins), _margins_text(actual.margins)),
        "screening": (_rules_text(study.screening), _rules_text(settings.screening)),
    }
    return tuple(
        f"{name}: {planned} was planned, {done} was used"
        for name, (planned, done) in both.items()
        if planned != done
    )


def _pairs_text(contrasts: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{a} – {b}" for a, b in contrasts) or "all pairs"


def _anchors_text(settings: AnalysisSettings) -> str:
    """Return the anchors of all scales, and those of single scales with the scale."""
    named = [*settings.controls_of(ALL_SCALES)]
    named = [name for name in named if name != settings.reference]
    for scale, names in settings.plan.anchors.items():
        named += [f"{name} ({scale})" for name in names if scale != ALL_SCALES]
    return ", ".join(named) or "none"


def _fields_text(by: Sequence[str]) -> str:
    return ", ".join(name for name in by if name != NO_GROUPS) or "no groups"


def _margins_text(margins: Mapping[str, float]) -> str:
    return ", ".join(f"{name} ±{margin:g}" for name, margin in margins.items()) or "none"


def _rules_text(rules: Sequence[Rule]) -> str:
    return ", ".join(rule.name for rule in rules) or "none"


# --- Ratings to results and files ----------------------------------------------------------------


def study_analyse(
    ratings: TableInput | Sequence[TableInput] = (),
    *,
    study: StrPath | Study | None = None,
    db: StrPath | None = None,
    reading: TableOptions | None = None,
    where: Annotated[Sequence[str] | str, "CONDITION"] = (),
    progress: Progress = no_progress,
    **how: Any,
) -> Results:
    """Analyse ratings: answers to a study, in files or a database, or tables of ratings.

    Parameters
    ----------
    ratings
        One or more files of answers or tables of ratings, or records or data frames; empty if
        ``db`` is set. A table has the columns item, system, listener and scale with value, or one
        column per scale.
    study
        Study or path of a study file; required for answers.
    db
        Path or URL of the database with the answers.
    reading
        How tables are read. Its fields may also be passed as arguments: ``pattern``, ``columns``,
        ``constants``, ``layout``, ``rubric``, ``faults``.
    where
        Conditions on columns of tables or fields of items or listeners, such as
        ``experiment=quality``; only ratings for which all of them hold are used.
    progress
        Called with the number of steps done and the total.
    **how
        Settings that override the plan of the study, as in ``settings_of``: ``interval``,
        ``generalize``, ``level``, ``correction``, ``test``, ``adjust``, ``contrasts``, ``by``,
        ``margins``, ``scales``, ``screening``, ``reference``, ``anchors``, ``low_is_good``,
        ``doubled``, ``draws``, ``seed``, ``mixed`` and ``blank``.

    Returns
    -------
    Results
        Means, contrasts, agreement and screening of every scale.

    Raises
    ------
    InputError
        If a file has faults; all of them are listed.
    UsageError
        If an argument is invalid.

    Examples
    --------
    >>> votes = [
    ...     {"item": item, "system": system, "listener": who, "scale": "MOS", "value": vote}
    ...     for who in range(1, 7)
    ...     for item in "ab"
    ...     for system, vote in (("good", 4 + who % 2), ("poor", 1 + who % 3))
    ... ]
    >>> results = study_analyse(votes)
    >>> results.to_records("means")[0]["system"]
    'good'
    """
    reading = reading or TableOptions(**{n: how.pop(n) for n in TABLE_ARGUMENTS if n in how})
    if means := reading.layout == MEANS_LAYOUT:
        _check_means(study=study, db=db)
    plan = study if isinstance(study, Study) or study is None else read_study(Path(study))
    settings = settings_of(plan, means=means, **how)
    files = table_inputs(ratings, "ratings")
    keep = parse_where(where)
    if plan is None:
        check_conditions(keep, files)
    of_rows, of_groups = split_conditions(keep, files)
    reading = replace(reading, where=of_rows)
    if db is not None:
        material = stored_rating_set(plan, db, files, settings)
    else:
        check_ratings(files, study)
        material = read_rating_set(files, plan, reading, settings)
    chosen, _, notes = filter_ratings(material.ratings, material.groups, of_groups)
    material = replace(material, ratings=chosen, notes=(*material.notes, *notes))
    check_roles(material, how)
    if plan is None and material.has_means and not means:
        settings = settings_of(None, means=True, **how)
    if material.rubric and settings.rubric is None:
        settings = replace(settings, rubric=read_rubric(material.rubric))
    changes = plan_changes(plan, settings)
    settings = replace(settings, where=keep.signature)
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
    """Analyse ratings of a study that are already in memory.

    Parameters
    ----------
    study
        Study to which the ratings belong.
    ratings
        Ratings of all listeners.
    inputs
        Files of the ratings, for the report.
    answers
        Answers of listeners, needed for comments and to group results by questions of a form.
    simulated
        Whether listeners were simulated.
    **how
        Arguments of ``settings_of``; they override the plan of the study.

    Returns
    -------
    Results
    """
    settings = settings_of(study, **how)
    material = replace(rating_set(study, ratings, inputs), changed=plan_changes(study, settings))
    material = replace(
        material,
        groups={**material.groups, **form_groups(study, answers)},
        comments=tuple(comments_from_answers(answers)),
        quality=evidence_of_answers(study, answers),
    )
    check_roles(material, how)
    return analyse(replace(material, simulated=simulated), settings)


def kept_ratings(
    files: Sequence[Path | RecordSource],
    study: Study,
    reading: TableOptions,
    scales: Mapping[str, Scale],
) -> RatingSet:
    """Return the ratings of an earlier study that pass the screening planned in ``study``.

    Answers are those to ``study``; tables may have other systems, items, listeners and scales.
    ``scales`` have the ends of scales that differ from the usual ones.
    """
    planned = settings_of(study)
    settings = replace(planned, plan=replace(planned.plan, by=()), scales=dict(scales))
    material = read_rating_set(files, study, reading, settings, other_names=True)
    screened = screen_ratings(material, settings)
    dropped = sum(fault.kind in ("off scale", "positive penalty") for fault in material.faults)
    notes = [*material.notes, *screened.screening.notes]
    notes += [f"votes outside their scale treated as blanks: {dropped:,}"] if dropped else []
    all_fail = screened.all_fail and bool(material.ratings)
    notes += ["all listeners failed screening, so all are kept"] if all_fail else []
    return replace(material, ratings=screened.kept, notes=tuple(notes))


def result_files(results: Results, title: str = "") -> dict[str, str]:
    """Return the contents of all result files by name: HTML, JSON, LaTeX, methods and CSV."""
    report = results_report(results)
    report = replace(report, title=title or report.title)
    pages = {
        "report.html": render_html(report),
        "results.json": results_json(results),
        "tables.tex": render_latex(report),
    }
    return pages | {"methods.txt": methods_paragraph(results) + "\n"} | tables_csv(results)


def results_write(results: Results, folder: StrPath, *, title: str = "") -> list[str]:
    """Write all result files to a new folder.

    The folder is written completely or not at all.

    Parameters
    ----------
    results
        Results of an analysis.
    folder
        Path of the folder; it must not exist.
    title
        Title of the report, instead of the default one.

    Returns
    -------
    list of str
        Names of the files.
    """
    files = result_files(results, title)
    with AtomicFolder(Path(folder)) as place:
        for name, content in files.items():
            (place / name).write_text(content, encoding="utf-8", newline="")
    return list(files)
