"""The complete analysis: resolve repeated votes, screen listeners, analyse each scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import NamedTuple

from earwitness.analysis.agreement import (
    fit_subject_model,
    listener_figures,
    measure_agreement,
)
from earwitness.analysis.choices import compare_choices, fit_abilities
from earwitness.analysis.effects import estimate_effects
from earwitness.analysis.evidence import RepeatedVote
from earwitness.analysis.groups import check_groups, group_results
from earwitness.analysis.means import (
    check_equivalence,
    compare_by_mixed_model,
    compare_ranks,
    compare_systems,
    mean_estimates,
    rank_test_notes,
    system_means,
)
from earwitness.analysis.plan import ANCHOR_CUTOFFS_HZ, ITEM_INTERVALS, MIXED_MODEL
from earwitness.analysis.plane import ACROSS_SCALE, UP_SCALE, plane_results
from earwitness.analysis.prepare import (
    CodedRatings,
    code_ratings,
    find_duplicates,
    has_choices,
    measure_retests,
    resolve_repeats,
    share_alike,
    sorted_listeners,
    stimulus_means,
    stimulus_votes,
)
from earwitness.analysis.rating_set import RatingSet
from earwitness.analysis.results import (
    Results,
    ScaleResults,
    SystemMeans,
)
from earwitness.analysis.rubric import alternative_contrasts, rubric_results
from earwitness.analysis.screening import Screening, screen
from earwitness.analysis.settings import AnalysisSettings, describe_scale
from earwitness.core import Progress, Rating, no_progress
from earwitness.errors import UsageError, nearest
from earwitness.ratings.records import Groupings, Who
from earwitness.ratings.scales import BASIC_QUALITY_SCALE
from earwitness.stats.means import ITEM_ADJUSTED
from earwitness.stats.mixed_model import MixedModelFit, fit_mixed_model

# --- Results of one scale ------------------------------------------------------------------------


def _alone_note(ratings: Sequence[Rating]) -> list[str]:
    count = sum(rating.against is None for rating in ratings)
    return [f"{count:,} choices do not name the other system and are ignored"] if count else []


def _skipped_note(fitted: MixedModelFit | None) -> list[str]:
    reason = fitted.skipped if fitted else ""
    return [f"the mixed model was not fitted: {reason}"] if reason else []


def _unadjusted_note(means: Mapping[str, SystemMeans]) -> list[str]:
    is_missing = all(
        rated.mean.method == ITEM_ADJUSTED and isnan(rated.mean.value) for rated in means.values()
    )
    note = "means cannot be adjusted for items, because systems are not connected by common items"
    return [note] if is_missing and means else []


def _undivided_note(settings: AnalysisSettings) -> list[str]:
    names = ", ".join(settings.plan.by)
    return [f"choices are not analysed by {names}"] if names else []


def scale_results(
    coded_all: CodedRatings,
    left: Sequence[Who],
    ratings: Sequence[Rating],
    same: Mapping[Who, float],
    settings: AnalysisSettings,
    groups: Groupings,
    progress: Callable[[int], object],
) -> ScaleResults:
    """Return the results of one scale; ``ratings`` are those of kept listeners on all scales.

    ``progress`` is called with the number of steps of the mixed model.
    """
    kept = coded_all.without_listeners(left)
    scale, note = settings.named_scales.of(coded_all.scale, coded_all.ratings)
    plan = settings.plan
    rated = _rated_systems(coded_all.ratings)
    is_over_items = settings.is_over_items
    whole = ScaleResults(
        value=describe_scale(scale, settings.rubric),
        systems={},
        contrasts=(),
        everyone={},
        agreement=() if is_over_items else measure_agreement(kept, settings),
        listeners=() if is_over_items else listener_figures(coded_all, same),
        effects=()
        if is_over_items
        else estimate_effects(ratings, coded_all.scale, level=plan.level),
        stimuli=stimulus_means(kept) if is_over_items else stimulus_votes(kept),
        notes=(note,) if note else (),
        controls=tuple(name for name in settings.controls_of(scale.name) if name in rated),
    )
    if has_choices(coded_all.ratings):
        if scale.good == "low":
            raise UsageError(f"low_is_good: {scale.name} has choices between two systems")
        if is_over_items:
            raise UsageError(f"means: {scale.name} has choices between two systems")
        wide = plan.interval in ITEM_INTERVALS
        name, level, correction = coded_all.scale, plan.level, plan.correction
        return replace(
            whole,
            choices=compare_choices(
                ratings, name, level=level, correction=correction, other_items=wide
            ),
            abilities=fit_abilities(ratings, name, level=level, other_items=wide),
            notes=(*whole.notes, *_alone_note(coded_all.ratings), *_undivided_note(settings)),
        )
    friedman = compare_ranks(kept, settings)
    fitted = (
        fit_mixed_model(kept.votes, progress=progress) if MIXED_MODEL in settings.methods else None
    )
    means = system_means(kept, scale, settings, fitted)
    subjects = None if is_over_items else fit_subject_model(kept, settings)
    return replace(
        whole,
        systems=means,
        contrasts=compare_systems(kept, settings, fitted),
        friedman=friedman,
        modelled=compare_by_mixed_model(kept, settings, fitted),
        equivalences=check_equivalence(kept, settings, fitted),
        groups=tuple(group_results(kept, groups, settings)) if plan.by else (),
        components=dict(fitted.variances) if fitted else {},
        everyone=mean_estimates(coded_all, settings.mean_method, settings) if left else {},
        subjects=subjects,
        notes=(
            *whole.notes,
            *rank_test_notes(kept, settings, friedman),
            *_skipped_note(fitted),
            *_unadjusted_note(means),
            *([subjects.warning] if subjects and subjects.warning else []),
        ),
    )


# --- All results of ratings ----------------------------------------------------------------------


class ScreenedRatings(NamedTuple):
    """Ratings with one vote per listener and stimulus, and what screening found.

    ``kept`` are those of listeners who pass; of all listeners if ``all_fail``. ``settings`` have
    the usual anchors.
    """

    kept: Sequence[Rating]
    all_fail: bool
    counted: Sequence[Rating]
    doubled: tuple[RepeatedVote, ...]
    screening: Screening
    settings: AnalysisSettings


def screen_ratings(material: RatingSet, settings: AnalysisSettings) -> ScreenedRatings:
    """Resolve repeated votes, and apply the screening rules to all listeners."""
    settings = with_anchors(material.ratings, settings)
    counted, doubled = resolve_repeats(
        material.ratings, settings.doubled, reference=settings.reference
    )
    screening = screen(
        counted,
        settings.screening,
        reference=settings.reference,
        anchor=settings.anchor,
        plays=material.plays,
        devices=material.devices,
        low_is_good=settings.low_scales(counted),
        quality=replace(material.quality, repeats=doubled),
    )
    left = {*screening.left}
    kept = [rating for rating in counted if rating.listener not in left]
    return ScreenedRatings(kept or counted, not kept, counted, doubled, screening, settings)


STEPS_PER_SCALE = 20  # for progress: about as many as a mixed model takes


def analyse(
    material: RatingSet, settings: AnalysisSettings, *, progress: Progress = no_progress
) -> Results:
    """Analyse ratings.

    Parameters
    ----------
    material
        Ratings and what is known about them.
    settings
        Plan, screening rules and options of the analysis.
    progress
        Called with the number of steps done and the total; most are those of mixed models.

    Returns
    -------
    Results

    Raises
    ------
    UsageError
        If there are no ratings, or if the plan names unknown systems, scales or fields.
    """
    _check_ratings(material, settings)
    kept, all_fail, counted, doubled, screening, settings = screen_ratings(material, settings)
    left = () if all_fail else screening.left
    scales, same = [], share_alike(counted)
    names = _scale_names(counted, settings)
    for number, name in enumerate(names):

        def report_step(steps: int, number: int = number) -> None:
            done = number * STEPS_PER_SCALE + min(steps, STEPS_PER_SCALE - 1)
            progress(done, len(names) * STEPS_PER_SCALE, number)

        report_step(0)
        coded_scale = code_ratings(counted, name, material.systems, material.items)
        found = scale_results(coded_scale, left, kept, same, settings, material.groups, report_step)
        if settings.is_over_items:
            keys = dict.fromkeys(rating.key for rating in coded_scale.ratings)
            raters = {key: material.raters.get((key, name), 0) for key in keys}
            found = replace(found, raters=raters)
        scales.append(found)
    twice = find_duplicates(material.captions)
    comments = [comment for who, comment in material.comments if who not in set(left)]
    rubric, published = settings.rubric, material.published
    repeated = {repeat.key for repeat in doubled if settings.is_over_items}
    has_faults = twice.keys or repeated or material.blank_rows or material.formula_totals
    has_planes = {ACROSS_SCALE, UP_SCALE} <= {*names} and not settings.is_over_items
    return Results(
        title=material.title,
        signature=settings.signature,
        inputs=material.inputs,
        plan=settings.plan,
        scales=tuple(scales),
        listeners=len({rating.listener for rating in counted} - {""}),
        screened=screening.verdicts,
        left=left,
        doubled=doubled,
        retests=()
        if settings.is_over_items
        else measure_retests(doubled, level=settings.plan.level),
        rule=settings.doubled,
        rules=settings.screening,
        version=settings.version,
        notes=(
            *material.notes,
            *_unrated_note(material),
            *_repeat_note(doubled, settings.doubled),
            *screening.notes,
            *_nobody_note(screening.left, left),
            *_comment_note(len(material.comments) - len(comments)),
        ),
        controls=tuple(dict.fromkeys(name for scale in scales for name in scale.controls)),
        study=material.study,
        draws=settings.draws,
        simulated=material.simulated,
        changed=material.changed,
        failed=screening.left,
        people=_listener_groups(counted, material.groups),
        faults=(*material.faults, *twice.faults),
        rubric=rubric_results(rubric, kept, names, settings, published=published)
        if rubric
        else None,
        comments=tuple(sorted(comments, key=lambda comment: (comment.key, comment.text))),
        procedure=material.procedure,
        alternatives=tuple(
            alternative_contrasts(kept, names, twice.keys, repeated, material, settings)
            if has_faults
            else ()
        ),
        plane=plane_results(kept, scales, settings) if has_planes else None,
    )


def _check_ratings(material: RatingSet, settings: AnalysisSettings) -> None:
    """Raise UsageError for empty ratings and for unknown systems, fields or scales."""
    if not material.ratings:
        raise UsageError("no ratings to analyse")
    if settings.plan.by:
        check_groups(settings.plan.by, material.groups, material.ratings)
    scales = {rating.scale for rating in material.ratings}
    for name in settings.plan.margins:
        if name not in scales:
            raise UsageError(f'margin: no ratings on scale "{name}" — {nearest(name, scales)}')
    rated = _rated_systems(material.ratings)
    systems = {*material.systems, settings.reference, settings.anchor, *rated}
    for name in (name for pair in settings.plan.contrasts for name in pair):
        if name not in systems:
            raise UsageError(
                f'contrasts: unknown system "{name}" — {nearest(name, systems - {""})}'
            )


def with_anchors(ratings: Sequence[Rating], settings: AnalysisSettings) -> AnalysisSettings:
    """Return settings with the MUSHRA anchors by their default names, if none are set."""
    if settings.anchor or all(rating.scale != BASIC_QUALITY_SCALE.name for rating in ratings):
        return settings
    anchors = tuple(name for name in ANCHOR_CUTOFFS_HZ if name in _rated_systems(ratings))
    middle = list(ANCHOR_CUTOFFS_HZ)[-1]
    return replace(settings, anchors=anchors, anchor=middle if middle in anchors else "")


def _repeat_note(doubled: Sequence[RepeatedVote], rule: str) -> list[str]:
    if doubled and doubled[0].listener == "":
        count = len({repeat.key for repeat in doubled})
        return [f"{count:,} {'output has' if count == 1 else 'outputs have'} several rows"]
    noun = "stimulus was" if len(doubled) == 1 else "stimuli were"
    counts = {"mean": "the mean of the ratings"}.get(rule, f"the {rule} rating")
    note = f"{len(doubled):,} {noun} rated more than once by the same listener; {counts} is used"
    return [note] if doubled else []


def _rated_systems(ratings: Sequence[Rating]) -> set[str]:
    """Return the systems that were rated or compared with."""
    systems = {rating.key.system for rating in ratings}
    return systems | {rating.against.system for rating in ratings if rating.against}


def _unrated_note(material: RatingSet) -> list[str]:
    systems = _rated_systems(material.ratings)
    return [f"no ratings of {name}" for name in material.systems if name not in systems]


def _scale_names(ratings: Sequence[Rating], settings: AnalysisSettings) -> list[str]:
    """Return scales in the order of the plan, or in order of appearance."""
    names = list(dict.fromkeys(rating.scale for rating in ratings))
    for name in settings.plan.scales:
        if name not in names:
            raise UsageError(f'no ratings on scale "{name}" — {nearest(name, names)}')
    return list(settings.plan.scales) or names


def _nobody_note(failed: Sequence[Who], left: Sequence[Who]) -> list[str]:
    return ["all listeners failed screening, so all are kept"] if len(failed) > len(left) else []


def _comment_note(count: int) -> list[str]:
    noun = "comment" if count == 1 else "comments"
    return [f"{count:,} {noun} by excluded listeners are not shown"] if count else []


def _listener_groups(ratings: Sequence[Rating], groupings: Groupings) -> dict[Who, dict[str, str]]:
    """Return the groups of each listener, by field."""
    fields = {name: grouping for name, grouping in groupings.items() if grouping.of == "listener"}
    return {
        who: {
            name: grouping.groups[who]
            for name, grouping in fields.items()
            if who in grouping.groups
        }
        for who in sorted_listeners(ratings)
        if any(who in grouping.groups for grouping in fields.values())
    }
