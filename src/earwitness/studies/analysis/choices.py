"""Paired choices (AB, ABX, preference): exact tests and Bradley-Terry abilities.

AB and preference ratings are 1 if the named system was chosen, −1 if the other was, and 0 for
neither; ABX ratings are 1 for a correct answer and 0 for an incorrect one. Votes of one listener
are not independent, so two tests are reported: an exact binomial test over all votes, which
generalizes to these listeners only, and a t test over per-listener shares, which generalizes to
other listeners. Ties are counted and excluded from both. ABX tests are one-sided, since
sensitivity cannot be negative; preference tests are two-sided.
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
Counts = tuple[int, int, int]  # choices of the first, the second, neither
ABX_SCALE = "SAME"
PREFERENCE_SCALES = ("BETTER", "PREFERENCE")
CHOICE_SCALES = (*PREFERENCE_SCALES, ABX_SCALE)
CHOICE_OUTCOMES = {-1.0, 0.0, 1.0}
SANDWICH_T = "sandwich_t"


def are_choices(ratings: Sequence[Rating]) -> bool:
    """Return whether ratings of a scale are choices between two systems.

    They are if they name another system and the scale is that of AB, ABX or preference trials, or
    if all values are 1, 0 or −1 and −1 occurs.
    """
    against = [rating.value for rating in ratings if rating.against]
    named = bool(ratings) and ratings[0].scale in CHOICE_SCALES
    return bool(against) and (named or {-1.0} < {*against} | {0.0} <= CHOICE_OUTCOMES)


def compare_choices(
    ratings: Iterable[Rating],
    scale: str,
    *,
    level: float,
    correct: Correct,
    model: str = DIFFERENCING,
) -> tuple[PairChoices, ...]:
    """Return choices per pair of systems; p of the exact tests is corrected across pairs."""
    is_abx = scale == ABX_SCALE
    counted = _count_choices([rating for rating in ratings if rating.scale == scale], is_abx)
    pair_choices = [
        _test_pair(pair, counted[pair], level, is_abx=is_abx, model=model)
        for pair in sorted(counted)
    ]
    corrected = correct([choice.p for choice in pair_choices])
    return tuple(
        replace(choice, corrected=p) for choice, p in zip(pair_choices, corrected, strict=True)
    )


def fit_abilities(
    ratings: Iterable[Rating], scale: str, *, level: float
) -> BradleyTerryAbilities | None:
    """Fit a Bradley–Terry model to all pairs of a scale; return None for ABX.

    Without ties there is no tie parameter. Systems without a finite ability are listed.
    """
    if scale == ABX_SCALE:
        return None
    votes = [
        (rating, _pair_of(rating)) for rating in ratings if rating.scale == scale and rating.against
    ]
    systems = sorted({system for _, pair in votes for system in pair})
    listeners = sorted({rating.listener for rating, _ in votes}, key=str)
    who = {listener: n for n, listener in enumerate(listeners)}
    number = {system: n for n, system in enumerate(systems)}
    rows = [
        (number[a], number[b], np.sign(rating.value), who[rating.listener])
        for rating, (a, b) in votes
    ]
    table = np.array(rows, np.int64).reshape(-1, 4)
    first, second, outcomes, who_codes = table.T
    fit = fit_bradley_terry(
        Choices(first, second, outcomes, who_codes, (len(systems), len(listeners)))
    )
    ties = None
    if (table[:, 2] == 0).any():
        ties = _ability_estimate(fit.ties, fit.ties_error, fit, level)
    estimates = {
        system: _ability_estimate(float(fit.abilities[n]), float(fit.errors[n]), fit, level)
        for n, system in enumerate(systems)
    }
    return BradleyTerryAbilities(
        estimates, ties, tuple(s for n, s in enumerate(systems) if not fit.core[n])
    )


def _ability_estimate(value: float, error: float, fit: BradleyTerryFit, level: float) -> Estimate:
    low, high, _ = t_interval(value, error, fit.listeners - 1, level)
    return Estimate(value, low, high, level, fit.listeners, 0, SANDWICH_T)


def _pair_of(rating: Rating) -> Pair:
    assert rating.against is not None
    return rating.key.system, rating.against.system


def _count_choices(ratings: Sequence[Rating], is_abx: bool) -> dict[Pair, dict[Who, Counts]]:
    """Count choices by pair and listener; both orders of a pair are merged."""
    named = {_pair_of(rating) for rating in ratings if rating.against}
    counts_of: dict[Pair, dict[Who, Counts]] = {}
    for rating in ratings:
        if rating.against is None:
            continue
        pair = _pair_of(rating)
        turned = pair[::-1] in named and pair > pair[::-1]
        value = (2 * rating.value - 1) if is_abx else (-rating.value if turned else rating.value)
        listener_counts = counts_of.setdefault(pair[::-1] if turned else pair, {})
        first, second, neither = listener_counts.get(rating.listener, (0, 0, 0))
        listener_counts[rating.listener] = (
            first + (value > 0),
            second + (value < 0),
            neither + (value == 0),
        )
    return counts_of


def _test_pair(
    pair: Pair, counts: Mapping[Who, Counts], level: float, *, is_abx: bool, model: str
) -> PairChoices:
    """Test one pair, without correction."""
    test = binomial_at_least if is_abx else binomial_two_sided
    wins, losses, ties = (sum(column) for column in zip(*counts.values(), strict=True))
    shares = np.array([a / (a + b) if a + b else math.nan for a, b, _ in counts.values()])
    over, p_over = mean_over_listeners(shares, level, expected=0.5, upper=is_abx)
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
        sensitivity_of_counts(wins, trials, level, model) if is_abx else None,
        {
            listener: (a, b, c, test(a, a + b))
            for listener, (a, b, c) in sorted(counts.items(), key=lambda entry: str(entry[0]))
        },
    )
