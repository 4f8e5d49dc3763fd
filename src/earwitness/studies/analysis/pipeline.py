"""The whole analysis: repeats resolved, listeners screened, every scale analyzed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from earwitness.core import Input, Key, Progress, Rating, no_progress
from earwitness.errors import UsageError, nearest
from earwitness.stats.mixed_model import fit_mixed_model
from earwitness.stats.significance import CORRECTIONS
from earwitness.studies.analysis.agreement import agreement, figures, subject_model
from earwitness.studies.analysis.choices import abilities, are_choices, choices
from earwitness.studies.analysis.effects import effects
from earwitness.studies.analysis.groups import check_groups, grouped
from earwitness.studies.analysis.means import compared, equivalent, mean_estimates, modelled, rated
from earwitness.studies.analysis.prepare import (
    CodedRatings,
    alike,
    coded,
    duplicates,
    resolve,
    retests,
    sorted_listeners,
    stimuli,
)
from earwitness.studies.analysis.rubric import rubric_results
from earwitness.studies.analysis.settings import AnalysisSettings, Scales, described
from earwitness.studies.device import PlaybackCounts
from earwitness.studies.results import (
    Groupings,
    RatingFault,
    RepeatedVote,
    Results,
    ScaleResults,
    Who,
)
from earwitness.studies.screening import screen
from earwitness.studies.study import MIXED_MODEL
from earwitness.studies.trials.mushra import ANCHOR_CUTOFFS_HZ, BASIC_QUALITY_SCALE

# --- Results of one scale ------------------------------------------------------------------------


def _alone(ratings: Sequence[Rating]) -> list[str]:
    count = sum(one.against is None for one in ratings)
    return [f"{count:,} choices do not say against which system; they do not count"] * bool(count)


def _undivided(settings: AnalysisSettings) -> list[str]:
    names = ", ".join(settings.plan.by)
    return [f"choices are not divided by {names}"] * bool(names)


def scale_results(
    every: CodedRatings,
    left: Sequence[Who],
    ratings: Sequence[Rating],
    same: Mapping[Who, float],
    settings: AnalysisSettings,
    groups: Groupings,
) -> ScaleResults:
    """Results of one scale; ``ratings`` are those of all scales that count."""
    kept = every.without(left)
    known = {**(settings.rubric.scales if settings.rubric else {}), **settings.scales}
    scale, told = Scales(known).of(every.scale, every.ratings)
    plan = settings.plan
    whole = ScaleResults(
        value=described(scale, settings.rubric),
        systems={},
        contrasts=(),
        everyone={},
        agreement=agreement(kept, settings),
        listeners=figures(every, same),
        effects=effects(ratings, every.scale, level=plan.level),
        stimuli=stimuli(kept),
        notes=(told,) if told else (),
    )
    if are_choices(every.ratings):
        correct = CORRECTIONS[plan.correction]
        return replace(
            whole,
            choices=choices(ratings, every.scale, level=plan.level, correct=correct),
            abilities=abilities(ratings, every.scale, level=plan.level),
            notes=(*whole.notes, *_alone(every.ratings), *_undivided(settings)),
        )
    fitted = fit_mixed_model(kept.votes) if MIXED_MODEL in settings.methods else None
    subjects = subject_model(kept, settings)
    return replace(
        whole,
        systems=rated(kept, scale, settings, fitted),
        contrasts=compared(kept, settings, fitted),
        modelled=modelled(kept, settings, fitted),
        equivalences=equivalent(kept, settings, fitted),
        groups=tuple(grouped(kept, groups, settings)),
        components=dict(fitted.variances) if fitted else {},
        everyone=mean_estimates(every, plan.interval, settings) if left else {},
        subjects=subjects,
        notes=(*whole.notes, *([subjects.warning] if subjects.warning else [])),
    )


# --- All results of ratings ----------------------------------------------------------------------


@dataclass(frozen=True)
class RatingSet:
    """Ratings, what they are called, in which order systems and items come, and their files.

    ``plays`` is what listeners heard, where that was recorded. ``groups`` are fields by which
    results may be divided, ``captions`` are the words that were judged, where they were, and
    ``faults`` is what was found when ratings were read; ``rubric`` names what a table is by.
    """

    ratings: Sequence[Rating]
    title: str = "Ratings"
    systems: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    inputs: tuple[Input, ...] = ()
    notes: tuple[str, ...] = ()
    study: str = ""
    simulated: bool = False
    changed: tuple[str, ...] = ()
    plays: Mapping[Who, PlaybackCounts] = field(default_factory=dict)
    groups: Groupings = field(default_factory=dict)
    captions: Mapping[Key, str] = field(default_factory=dict)
    faults: tuple[RatingFault, ...] = ()
    rubric: str = ""


def analyse(
    material: RatingSet, settings: AnalysisSettings, *, progress: Progress = no_progress
) -> Results:
    """Everything that follows from ratings."""
    _check(material, settings)
    settings = with_anchors(material.ratings, settings)
    counted, doubled = resolve(material.ratings, settings.doubled, reference=settings.reference)
    found = screen(
        counted,
        settings.screening,
        reference=settings.reference,
        anchor=settings.anchor,
        plays=material.plays,
    )
    left = found.left if len(found.left) < len({one.listener for one in counted}) else ()
    kept = [one for one in counted if one.listener not in set(left)]
    scales, same = [], alike(counted)
    names = _scales(counted, settings)
    for number, name in enumerate(names):
        progress(number, len(names), number)
        own = coded(counted, name, material.systems, material.items)
        scales.append(scale_results(own, left, kept, same, settings, material.groups))
    twice = duplicates(material.captions)
    return Results(
        title=material.title,
        signature=settings.signature,
        inputs=material.inputs,
        plan=settings.plan,
        scales=tuple(scales),
        listeners=len({one.listener for one in counted}),
        screened=found.found,
        left=left,
        doubled=doubled,
        retests=retests(doubled, level=settings.plan.level),
        rule=settings.doubled,
        rules=settings.screening,
        version=settings.version,
        notes=(
            *material.notes,
            *_unheard(material),
            *_twice(doubled, settings.doubled),
            *found.notes,
            *_nobody(found.left, left),
        ),
        controls=tuple(one for one in settings.controls if one in _heard(material.ratings)),
        study=material.study,
        simulated=material.simulated,
        changed=material.changed,
        failed=found.left,
        people=_people(counted, material.groups),
        faults=(*material.faults, *twice.faults),
        rubric=rubric_results(kept, names, twice.keys, material, settings),
    )


def _check(material: RatingSet, settings: AnalysisSettings) -> None:
    """There are ratings, planned pairs are pairs of systems, and fields and scales are known."""
    if not material.ratings:
        raise UsageError("there are no ratings")
    check_groups(settings.plan.by, material.groups, material.ratings)
    scales = {one.scale for one in material.ratings}
    for name in settings.plan.margins:
        if name not in scales:
            raise UsageError(f'margin: no rating is on scale "{name}" — {nearest(name, scales)}')
    known = {*material.systems, settings.reference, settings.anchor, *_heard(material.ratings)}
    for name in (name for pair in settings.plan.contrasts for name in pair):
        if name not in known:
            raise UsageError(f'there is no system "{name}" — {nearest(name, known - {""})}')


def with_anchors(ratings: Sequence[Rating], settings: AnalysisSettings) -> AnalysisSettings:
    """The anchors of MUSHRA by their usual names, if nothing is said."""
    if settings.anchor or all(one.scale != BASIC_QUALITY_SCALE.name for one in ratings):
        return settings
    found = tuple(name for name in ANCHOR_CUTOFFS_HZ if name in _heard(ratings))
    middle = list(ANCHOR_CUTOFFS_HZ)[-1]
    return replace(settings, anchors=found, anchor=middle if middle in found else "")


def _twice(doubled: Sequence[RepeatedVote], rule: str) -> list[str]:
    told = "stimulus was" if len(doubled) == 1 else "stimuli were"
    counts = {"mean": "their mean counts"}.get(rule, f"the {rule} counts")
    said = f"{len(doubled):,} {told} rated more than once by the same listener; {counts}"
    return [said] * bool(doubled)


def _heard(ratings: Sequence[Rating]) -> set[str]:
    """Systems that were rated, or rated against."""
    found = {one.key.system for one in ratings}
    return found | {one.against.system for one in ratings if one.against}


def _unheard(material: RatingSet) -> list[str]:
    found = _heard(material.ratings)
    return [f"nobody rated {name}" for name in material.systems if name not in found]


def _scales(ratings: Sequence[Rating], settings: AnalysisSettings) -> list[str]:
    """Scales in the order of the plan, or as they come."""
    known = list(dict.fromkeys(one.scale for one in ratings))
    for name in settings.plan.scales:
        if name not in known:
            raise UsageError(f'no rating is on scale "{name}" — {nearest(name, known)}')
    return list(settings.plan.scales) or known


def _nobody(found: Sequence[Who], left: Sequence[Who]) -> list[str]:
    return ["screening would leave nobody: all listeners are kept"] * (len(found) > len(left))


def _people(ratings: Sequence[Rating], known: Groupings) -> dict[Who, dict[str, str]]:
    """Groups of listeners, by field."""
    fields = {name: one for name, one in known.items() if one.of == "listener"}
    return {
        who: {name: one.groups[who] for name, one in fields.items() if who in one.groups}
        for who in sorted_listeners(ratings)
        if any(who in one.groups for one in fields.values())
    }
