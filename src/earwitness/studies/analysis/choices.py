"""Paired choices (AB, ABX, preference): exact tests and Bradley-Terry abilities.

Ratings of AB and preference are 1 where the named system was chosen, −1 where the other, 0 where
neither; those of ABX are 1 where X was known and 0 where not. Votes of one listener are not
independent. So two tests stand beside each other: the exact one over all votes, which asks whether
*these listeners* do better than a coin, and one by t over the shares of listeners, which asks
whether *listeners like these* do. Ties are counted and left out of both. Tests of ABX are
one-sided, as nobody can hear less than nothing; those of preferences are two-sided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from earwitness.core import Estimate, Rating
from earwitness.stats.means import mean_over_listeners, t_interval
from earwitness.stats.paired_choices import (
    DIFFERENCING,
    BradleyTerryFit,
    Choices,
    fit_bradley_terry,
    sensitivity_of_counts,
)
from earwitness.stats.significance import binomial_at_least, binomial_share, binomial_two_sided
from earwitness.studies.results import BradleyTerryAbilities, PairChoices, Who

Correct = Callable[[Sequence[float]], list[float]]
Pair = tuple[str, str]
Counts = tuple[int, int, int]  # chosen the first, the second, neither
ABX_SCALE = "SAME"
PREFERENCE_SCALES = ("BETTER", "PREFERENCE")
CHOICE_SCALES = (*PREFERENCE_SCALES, ABX_SCALE)
CHOICE_OUTCOMES = {-1.0, 0.0, 1.0}
SANDWICH_T = "sandwich_t"


def are_choices(ratings: Sequence[Rating]) -> bool:
    """Whether ratings of a scale choose between two systems.

    Those of AB, ABX and preference trials do, and others against another system that are 1, 0 or −1
    and at times −1. What names no other system is rated by itself.
    """
    against = [one.value for one in ratings if one.against]
    named = bool(ratings) and ratings[0].scale in CHOICE_SCALES
    return bool(against) and (named or {-1.0} < {*against} | {0.0} <= CHOICE_OUTCOMES)


def choices(
    ratings: Iterable[Rating],
    scale: str,
    *,
    level: float,
    correct: Correct,
    model: str = DIFFERENCING,
) -> tuple[PairChoices, ...]:
    """One choice a pair of systems, by name; p of the exact tests is corrected over pairs."""
    known = scale == ABX_SCALE
    counted = _counted([one for one in ratings if one.scale == scale], known)
    found = [
        _choice(pair, counted[pair], level, known=known, model=model) for pair in sorted(counted)
    ]
    corrected = correct([one.p for one in found])
    return tuple(replace(one, corrected=p) for one, p in zip(found, corrected, strict=True))


def abilities(
    ratings: Iterable[Rating], scale: str, *, level: float
) -> BradleyTerryAbilities | None:
    """Bradley–Terry over all pairs of a scale on which systems are chosen; nothing for ABX.

    Without a single tie there is no tie factor. Abilities that are not finite are named.
    """
    if scale == ABX_SCALE:
        return None
    votes = [(one, _pair(one)) for one in ratings if one.scale == scale and one.against]
    systems = sorted({system for _, pair in votes for system in pair})
    listeners = sorted({one.listener for one, _ in votes}, key=str)
    who = {one: n for n, one in enumerate(listeners)}
    number = {one: n for n, one in enumerate(systems)}
    rows = [(number[a], number[b], np.sign(one.value), who[one.listener]) for one, (a, b) in votes]
    table = np.array(rows, np.int64).reshape(-1, 4)
    first, second, outcomes, own = table.T
    fit = fit_bradley_terry(Choices(first, second, outcomes, own, (len(systems), len(listeners))))
    ties = None
    if (table[:, 2] == 0).any():
        ties = _estimate(fit.ties, fit.ties_error, fit, level)
    found = {
        system: _estimate(float(fit.abilities[n]), float(fit.errors[n]), fit, level)
        for n, system in enumerate(systems)
    }
    return BradleyTerryAbilities(
        found, ties, tuple(s for n, s in enumerate(systems) if not fit.core[n])
    )


def _estimate(value: float, error: float, fit: BradleyTerryFit, level: float) -> Estimate:
    low, high, _ = t_interval(value, error, fit.listeners - 1, level)
    return Estimate(value, low, high, level, fit.listeners, 0, SANDWICH_T)


def _pair(rating: Rating) -> Pair:
    assert rating.against is not None
    return rating.key.system, rating.against.system


def _counted(ratings: Sequence[Rating], known: bool) -> dict[Pair, dict[Who, Counts]]:
    """By pair and listener; a pair that is named both ways is turned to one."""
    named = {_pair(one) for one in ratings if one.against}
    found: dict[Pair, dict[Who, Counts]] = {}
    for one in ratings:
        if one.against is None:
            continue
        pair = _pair(one)
        turned = pair[::-1] in named and pair > pair[::-1]
        value = (2 * one.value - 1) if known else (-one.value if turned else one.value)
        own = found.setdefault(pair[::-1] if turned else pair, {})
        first, second, neither = own.get(one.listener, (0, 0, 0))
        own[one.listener] = (first + (value > 0), second + (value < 0), neither + (value == 0))
    return found


def _choice(
    pair: Pair, counts: Mapping[Who, Counts], level: float, *, known: bool, model: str
) -> PairChoices:
    """One pair, not yet corrected."""
    test = binomial_at_least if known else binomial_two_sided
    wins, losses, ties = (sum(column) for column in zip(*counts.values(), strict=True))
    shares = np.array([a / (a + b) if a + b else math.nan for a, b, _ in counts.values()])
    over, p_over = mean_over_listeners(shares, level, expected=0.5, upper=known)
    trials = wins + losses
    return PairChoices(
        *pair,
        wins,
        losses,
        ties,
        binomial_share(wins, trials, level),
        test(wins, trials),
        math.nan,
        over,
        p_over,
        sensitivity_of_counts(wins, trials, level, model) if known else None,
        {
            listener: (a, b, c, test(a, a + b))
            for listener, (a, b, c) in sorted(counts.items(), key=lambda one: str(one[0]))
        },
    )
