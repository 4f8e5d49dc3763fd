"""All results of ratings: doubled votes resolved, listeners screened, every scale analysed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from earwitness.data import (
    Doubled,
    Input,
    Key,
    Progress,
    Rating,
    RatingFault,
    Results,
    Who,
    no_progress,
)
from earwitness.data.grouped import Groupings
from earwitness.errors import UsageError, nearest
from earwitness.listening.analysis.coded import coded, sorted_listeners
from earwitness.listening.analysis.doubled import resolve
from earwitness.listening.analysis.duplicates import duplicates
from earwitness.listening.analysis.groups import check_groups
from earwitness.listening.analysis.retest import retests
from earwitness.listening.analysis.scaled import scale_results
from earwitness.listening.analysis.settings import Settings
from earwitness.listening.analysis.together import rubric_results
from earwitness.listening.analysis.use import alike
from earwitness.listening.kinds.mushra import BASIC, CUTOFFS
from earwitness.listening.played import Played
from earwitness.listening.screened import screen


@dataclass(frozen=True)
class Material:
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
    plays: Mapping[Who, Played] = field(default_factory=dict)
    groups: Groupings = field(default_factory=dict)
    captions: Mapping[Key, str] = field(default_factory=dict)
    faults: tuple[RatingFault, ...] = ()
    rubric: str = ""


def analyse(material: Material, settings: Settings, *, progress: Progress = no_progress) -> Results:
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


def _check(material: Material, settings: Settings) -> None:
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


def with_anchors(ratings: Sequence[Rating], settings: Settings) -> Settings:
    """The anchors of MUSHRA by their usual names, if nothing is said."""
    if settings.anchor or all(one.scale != BASIC.name for one in ratings):
        return settings
    found = tuple(name for name in CUTOFFS if name in _heard(ratings))
    middle = list(CUTOFFS)[-1]
    return replace(settings, anchors=found, anchor=middle if middle in found else "")


def _twice(doubled: Sequence[Doubled], rule: str) -> list[str]:
    told = "stimulus was" if len(doubled) == 1 else "stimuli were"
    counts = {"mean": "their mean counts"}.get(rule, f"the {rule} counts")
    said = f"{len(doubled):,} {told} rated more than once by the same listener; {counts}"
    return [said] * bool(doubled)


def _heard(ratings: Sequence[Rating]) -> set[str]:
    """Systems that were rated, or rated against."""
    found = {one.key.system for one in ratings}
    return found | {one.against.system for one in ratings if one.against}


def _unheard(material: Material) -> list[str]:
    found = _heard(material.ratings)
    return [f"nobody rated {name}" for name in material.systems if name not in found]


def _scales(ratings: Sequence[Rating], settings: Settings) -> list[str]:
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
