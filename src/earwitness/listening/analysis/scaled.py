"""All results of one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from earwitness.data import Rating, ScaleResults, Who
from earwitness.data.grouped import Groupings
from earwitness.listening.analysis.agreed import agreement, figures, subject_model
from earwitness.listening.analysis.choices import abilities, are_choices, choices
from earwitness.listening.analysis.coded import Coded
from earwitness.listening.analysis.effects import effects
from earwitness.listening.analysis.equivalent import equivalent
from earwitness.listening.analysis.groups import grouped
from earwitness.listening.analysis.heard import stimuli
from earwitness.listening.analysis.rated import compared, mean_estimates, modelled, rated
from earwitness.listening.analysis.scales import Scales, described
from earwitness.listening.analysis.settings import MIXED, Settings
from earwitness.stats.correction import CORRECTIONS
from earwitness.stats.mixed import fit


def _alone(ratings: Sequence[Rating]) -> list[str]:
    count = sum(one.against is None for one in ratings)
    return [f"{count:,} choices do not say against which system; they do not count"] * bool(count)


def _undivided(settings: Settings) -> list[str]:
    names = ", ".join(settings.plan.by)
    return [f"choices are not divided by {names}"] * bool(names)


def scale_results(
    every: Coded,
    left: Sequence[Who],
    ratings: Sequence[Rating],
    same: Mapping[Who, float],
    settings: Settings,
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
    fitted = fit(kept.votes) if MIXED in settings.methods else None
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
