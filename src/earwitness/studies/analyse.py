"""Command ``study analyse``: settings from a study and options, results and their files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from earwitness.analysis.pipeline import analyse, screen_ratings
from earwitness.analysis.plan import (
    ALL_SCALES,
    ANCHOR_CUTOFFS_HZ,
    NO_GROUPS,
    NOT_ADJUSTED,
    POPULATION_TEXTS,
    POPULATIONS,
    Rule,
    interval_for,
)
from earwitness.analysis.rating_set import TABLE_ARGUMENTS, RatingSet, TableOptions, check_roles
from earwitness.analysis.report import results_report
from earwitness.analysis.report.export import methods_paragraph, results_json, tables_csv
from earwitness.analysis.results import Results
from earwitness.analysis.settings import (
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
    check_ratings,
    form_groups,
    rating_set,
    read_rating_set,
    stored_rating_set,
    study_groups,
    study_scales,
)
from earwitness.studies.file.reader import read_study
from earwitness.studies.from_answers import comments_from_answers
from earwitness.studies.quality import evidence_of_answers
from earwitness.studies.study import Study
from earwitness.studies.trials import study_kinds
from earwitness.version import __version__

# --- Settings from study and options -------------------------------------------------------------


DEFAULT_GROUP_FIELDS = ("dataset", "jury")  # default groups of rated captions
MIDDLE_ANCHOR = list(ANCHOR_CUTOFFS_HZ)[-1]  # default middle anchor


def settings_of(
    study: Study | None,
    *,
    interval: str = "",
    generalize: str = "",
    level: float = 0.0,
    correction: str = "",
    test: str = "",
    adjust: str = "",
    contrasts: Sequence[tuple[str, str]] = (),
    by: Sequence[str] = (),
    margins: Sequence[tuple[str, str]] = (),
    scales: Sequence[str] = (),
    screening: Sequence[str] | None = None,
    reference: str = "",
    anchor: AnchorNames = (),
    low_is_good: Sequence[str] = (),
    means: bool = False,
    **more: Any,
) -> AnalysisSettings:
    """Return the settings of an analysis: those planned in a study, overridden by arguments.

    Parameters
    ----------
    study
        Study with the planned analysis, or None.
    interval, level, correction, test, contrasts
        Method of confidence intervals, confidence level, correction for multiple comparisons, test
        of pairs (``t`` or ``wilcoxon``), and pairs of systems to compare.
    generalize
        To whom results generalize: ``listeners`` for other listeners on these items, ``items`` for
        other items as well.
    adjust
        ``items`` for means of systems that are adjusted for the items they were rated on.
    by
        Fields of items or listeners by which to group results; ``none`` for no field.
    margins
        Pairs of a scale and its equivalence margin.
    scales
        Ends of scales, such as ``MOS=1:5``.
    screening
        Names of screening rules, with default limits; None for those of the study.
    reference
        Hidden reference.
    anchor
        Anchors: a name or several, ``SCALE=SYSTEM`` for an anchor of one scale, or a mapping from
        scales to names. The middle anchor, which a screening rule needs, is ``anchor70`` if it is
        one of the anchors of all scales, else the last of these.
    low_is_good
        Scales where lower is better.
    means
        Whether values are means over raters, which are analysed over items.
    **more
        Other fields of ``AnalysisSettings``: doubled, draws, seed, mixed, blank.

    Returns
    -------
    AnalysisSettings

    Raises
    ------
    UsageError
        If a value is invalid.
    """
    if means:
        _check_means(
            study=study,
            interval=interval,
            generalize=generalize,
            screening=screening,
            adjust=adjust,
        )
        interval = ITEM_T
    elif interval == ITEM_T:
        raise UsageError(f"interval: {ITEM_T} is for tables of means — use --means")
    if generalize:
        interval = _interval_for(generalize, interval)
    planned = _planned_settings(study)
    own = parse_scales(scales, study_scales(study))
    known = [*study_scales(study), *own, *known_scales()]
    anchors = {canonical_scale(k, known): v for k, v in parse_anchors(anchor).items()}
    names = [low_is_good] if isinstance(low_is_good, str) else low_is_good
    margins = [(canonical_scale(scale, known), margin) for scale, margin in margins]
    said: dict[str, Any] = {"interval": interval, "level": level, "correction": correction}
    said |= {"contrasts": tuple(contrasts), "by": tuple(by), "margins": _parse_margins(margins)}
    said |= {"adjust": adjust}
    said |= {"test": test, "anchors": {**planned.plan.anchors, **anchors} if anchors else {}}
    plan = replace(planned.plan, **{name: value for name, value in said.items() if value})
    plan = replace(plan, by=tuple(name for name in plan.by if name != NO_GROUPS))
    rules = planned.screening if screening is None else default_rules(screening)
    return replace(
        planned,
        plan=plan,
        screening=rules,
        scales=own,
        reference=reference or planned.reference,
        anchor=_middle_anchor(anchors.get(ALL_SCALES, ())) or planned.anchor,
        version=__version__,
        low_is_good=tuple(dict.fromkeys(canonical_scale(name, known) for name in names)),
        **more,
    )


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


def _parse_margins(said: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Return margins by scale."""
    margins = {}
    for scale, text in said:
        try:
            margins[scale] = float(text)
        except ValueError:
            raise UsageError(
                f'margin: write SCALE=NUMBER, such as total=0.5, got "{scale}={text}"'
            ) from None
    return margins


def _planned_settings(study: Study | None) -> AnalysisSettings:
    """Return the settings planned in a study, with its hidden reference and anchors."""
    if study is None:
        return AnalysisSettings()
    kinds = study_kinds(study)
    anchors = [name for kind in kinds for name in kind.anchor_systems]
    rubric, blank = next((k.rubric_totals() for k in kinds if k.captioned), (None, "drop"))
    return AnalysisSettings(
        replace(study.analysis, by=_group_fields(study, judged=rubric is not None)),
        study.screening,
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
    means: bool = False,
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
        How tables are read. Its fields may also be passed as arguments: ``pattern``, ``column``,
        ``columns``, ``constants``, ``rubric``, ``faults``.
    means
        Whether the tables have means over raters: one row per item and system, without listeners.
        Systems are then compared over items. The number of raters is the column ``raters`` or
        ``n``, or a constant, such as ``constants={"raters": 8}``.
    progress
        Called with the number of steps done and the total.
    **how
        Settings that override the plan of the study: ``interval``, ``generalize``, ``level``,
        ``correction``, ``test``, ``adjust``, ``contrasts``, ``by``, ``margins``, ``scales`` (as
        ``"MOS=1:5"``), ``screening``, ``reference``, ``anchor`` (a name, several, or a mapping from
        scales to names), ``low_is_good`` (scales where lower is better), ``doubled``, ``draws``,
        ``seed``, ``mixed`` and ``blank``.

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
    if means:
        _check_means(study=study, db=db)
    plan = study if isinstance(study, Study) or study is None else read_study(Path(study))
    settings = settings_of(plan, means=means, **how)
    files = table_inputs(ratings, "ratings")
    if db is not None:
        material = stored_rating_set(plan, db, files, settings)
    else:
        check_ratings(files, study)
        material = read_rating_set(files, plan, reading, settings)
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
    notes += [f"votes outside their scale treated as blanks: {dropped:,}"] * bool(dropped)
    all_fail = screened.all_fail and bool(material.ratings)
    notes += ["all listeners failed screening, so all are kept"] * all_fail
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
