"""What a design keeps and what it misses, counted anew from the plans, beside a plain shuffle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from earwitness.data import Clip, Design, Plan, Study, Trial

Sessions = Sequence[Sequence[Trial]]
Range = tuple[int, int]


@dataclass(frozen=True)
class Claim:
    """A property of a design: what was counted, what the design has, what a plain shuffle has."""

    what: str
    found: str
    shuffled: str
    kept: bool


@dataclass(frozen=True)
class Margin:
    """How a covariate lies in the whole and in every subset: counts, or a mean."""

    covariate: str
    category: str
    whole: float
    subsets: tuple[float, ...]


def claims(design: Design) -> list[Claim]:
    """All properties."""
    own = [plan.sessions for plan in design.plans]
    plain = [_shuffled(design.study, plan) for plan in design.plans]

    def compared(
        what: str,
        count: Callable[[Sessions], Range],
        good: Callable[[int, int], bool],
    ) -> Claim:
        found, other = (_over([count(sessions) for sessions in each]) for each in (own, plain))
        return Claim(what, _text(found), _text(other), good(*found))

    systems = design.study.systems
    return [
        _votes(design),
        _disjoint(design),
        compared("times a system occurs in a session", _occurrences(systems), _close),
        compared("times a clip follows itself", lambda s: _repeats(s, "item"), _never),
        compared("times a system follows itself", lambda s: _repeats(s, "system"), _never),
        compared("times a system follows another, a listener", _successions(systems), _near),
        _orders(design),
    ]


def margins(design: Design) -> list[Margin]:
    """Every category of every covariate, and the mean of every number."""
    study = design.study
    known = {clip.name: clip for clip in study.material}
    groups = [[known[name] for name in subset] for subset in design.subsets]
    found = []
    for covariate in study.categories:
        values = sorted({str(clip.covariates[covariate]) for clip in study.material})
        for value in values:
            counts = [_count(own, covariate, value) for own in (study.material, *groups)]
            found.append(Margin(covariate, value, counts[0], tuple(counts[1:])))
    for covariate in study.numbers:
        means = [_mean(own, covariate) for own in (study.material, *groups)]
        found.append(Margin(covariate, "mean", means[0], tuple(means[1:])))
    return found


def left_out(design: Design) -> list[list[tuple[str, ...]]]:
    """For every subset the strata of the whole that it lacks."""
    study = design.study
    strata = {
        clip.name: tuple(str(clip.covariates[name]) for name in study.categories)
        for clip in study.material
    }
    every = set(strata.values())
    return [sorted(every - {strata[name] for name in subset}) for subset in design.subsets]


def _count(clips: Sequence[Clip], covariate: str, value: str) -> int:
    return sum(str(clip.covariates[covariate]) == value for clip in clips)


def _mean(clips: Sequence[Clip], covariate: str) -> float:
    return float(np.mean([float(clip.covariates[covariate]) for clip in clips]))


def _shuffled(study: Study, plan: Plan) -> list[list[Trial]]:
    """The same trials in any order, cut into sessions."""
    trials = [trial for session in plan.sessions for trial in session]
    rng = np.random.default_rng([study.seed, 3, plan.listener])
    order = [trials[i] for i in rng.permutation(len(trials))]
    ends = np.cumsum([0, *map(len, plan.sessions)]).tolist()
    return [order[a:b] for a, b in pairwise(ends)]


def _over(ranges: Sequence[Range]) -> Range:
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _text(found: Range) -> str:
    return f"{found[0]}" if found[0] == found[1] else f"{found[0]} to {found[1]}"


def _close(low: int, high: int) -> bool:
    return high - low <= 1


def _near(low: int, high: int) -> bool:
    return high - low <= 2


def _never(low: int, high: int) -> bool:
    return low == high == 0


def _occurrences(systems: Sequence[str]) -> Callable[[Sessions], Range]:
    def count(sessions: Sessions) -> Range:
        found = [
            sum(trial.system == system for trial in session)
            for session in sessions
            for system in systems
        ]
        return min(found), max(found)

    return count


def _repeats(sessions: Sessions, field: str) -> Range:
    count = sum(
        getattr(a, field) == getattr(b, field) for session in sessions for a, b in pairwise(session)
    )
    return count, count


def _successions(systems: Sequence[str]) -> Callable[[Sessions], Range]:
    def count(sessions: Sessions) -> Range:
        pairs = Counter((a.system, b.system) for session in sessions for a, b in pairwise(session))
        found = [pairs[a, b] for a in systems for b in systems if a != b]
        return (min(found), max(found)) if found else (0, 0)

    return count


def _votes(design: Design) -> Claim:
    """Every clip of a subset with every system is heard once by each listener of its panel."""
    votes: Counter[tuple[str, str]] = Counter()
    for plan in design.plans:
        votes.update((t.item, t.system) for session in plan.sessions for t in session)
    each = _over([(count, count) for count in votes.values()])
    totals = Counter[str]()
    for (_, system), count in votes.items():
        totals[system] += count
    every = _over([(count, count) for count in totals.values()])
    told = f"{_text(each)} ({_text(every)} a system)"
    return Claim("votes of a clip, a system and a scale", told, told, _close(*each))


def _disjoint(design: Design) -> Claim:
    names = Counter(name for subset in design.subsets for name in subset)
    twice = sum(count > 1 for count in names.values())
    return Claim("clips in two subsets", str(twice), "–", twice == 0)


def _orders(design: Design) -> Claim:
    """Whether half of each panel starts with each order of the scales, and all change over."""
    starts: dict[int, Counter[tuple[str, ...]]] = {}
    for plan in design.plans:
        starts.setdefault(plan.panel, Counter())[plan.sessions[0][0].scales] += 1
    orders = {order for own in starts.values() for order in own}
    found = _over([(own[o], own[o]) for own in starts.values() for o in orders])
    changed = all(
        len({trial.scales for trial in session}) == 1
        for plan in design.plans
        for session in plan.sessions
    )
    what = "listeners of a panel that start with each order of scales"
    return Claim(what, _text(found), "–", _close(*found) and changed)
