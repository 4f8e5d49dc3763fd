"""Paired choices (AB, ABX, preference): tests over listeners and Bradley-Terry abilities.

AB and preference ratings are 1 if the named system was chosen, −1 if the other was, and 0 for
neither; ABX ratings are 1 for a correct answer and 0 for an incorrect one. Choices of one listener
are not independent, so each listener has one value: the share of choices of the first system,
where neither counts as half. The deciding test is a t test of these shares against one half, which
generalizes to other listeners on these items. If results are to generalize to other items as well,
it is the two-way test of the choices, in which listeners and items are random. If all shares are
equal, it is the sign test of the listeners (or items, if there are fewer and they are random). With
one listener it is the exact binomial test of the choices without ties, which generalizes to nobody
else; with two there is none. ABX tests are one-sided, since sensitivity cannot be negative;
preference tests are two-sided.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from earwitness.analysis.means import MIN_LISTENERS_FOR_DIFFERENCE
from earwitness.analysis.plan import NO_CORRECTION
from earwitness.analysis.results import BradleyTerryAbilities, PairChoices
from earwitness.core import Estimate, Rating
from earwitness.ratings.records import Who
from earwitness.ratings.scales import scale_choices
from earwitness.stats.contrasts import two_way_contrasts
from earwitness.stats.means import mean_over_listeners, t_interval
from earwitness.stats.paired_choices import (
    DIFFERENCING,
    BradleyTerryFit,
    Choices,
    fit_bradley_terry,
    sensitivity_of_share,
)
from earwitness.stats.significance import (
    CORRECTIONS,
    agree_with_test,
    binomial_at_least,
    binomial_share,
    binomial_two_sided,
    simultaneous_level,
)
from earwitness.stats.votes import Votes

Pair = tuple[str, str]
Counts = tuple[int, int, int]  # choices of the first, the second, neither
SANDWICH_T = "sandwich_t"


def compare_choices(
    ratings: Iterable[Rating],
    scale: str,
    *,
    level: float,
    correction: str = NO_CORRECTION,
    model: str = DIFFERENCING,
    other_items: bool = False,
) -> tuple[PairChoices, ...]:
    """Return choices per pair of systems, the systems that were chosen more often first.

    p is corrected across pairs, and intervals of shares are simultaneous; for preferences they
    exclude one half if and only if p is significant. With ``other_items``, tests generalize to
    other items as well as to other listeners.
    """
    is_abx = scale_choices(scale) == "correct"
    choices_of = _choices_by_pair([rating for rating in ratings if rating.scale == scale], is_abx)
    pairs = sorted(choices_of) if is_abx else _ranked_pairs(choices_of)

    def test_pairs(level: float) -> list[PairChoices]:
        test = _PairTest(level, is_abx, model, other_items)
        return [test.choices(pair, choices_of[pair]) for pair in pairs]

    tested = test_pairs(level)
    corrected = CORRECTIONS[correction]([choice.p for choice in tested])
    wide = simultaneous_level(correction, level, corrected)
    found = [
        replace(choice, corrected=p)
        for choice, p in zip(tested if wide == level else test_pairs(wide), corrected, strict=True)
    ]
    if is_abx:
        return tuple(found)
    alpha = 1 - level
    return tuple(
        replace(choice, share=agree_with_test(choice.share, choice.corrected, alpha, null=0.5))
        for choice in found
    )


def fit_abilities(
    ratings: Iterable[Rating], scale: str, *, level: float, other_items: bool = False
) -> BradleyTerryAbilities | None:
    """Fit a Bradley–Terry model to all pairs of a scale; return None for ABX.

    Without ties there is no tie parameter. Systems without a finite ability are listed. Intervals
    generalize as the tests of ``compare_choices`` do.
    """
    if scale_choices(scale) == "correct":
        return None
    votes = [
        (rating, _pair_of(rating)) for rating in ratings if rating.scale == scale and rating.against
    ]
    systems = sorted({system for _, pair in votes for system in pair})
    listeners = sorted({rating.listener for rating, _ in votes}, key=str)
    who = {listener: n for n, listener in enumerate(listeners)}
    number = {system: n for n, system in enumerate(systems)}
    item_number = {item: n for n, item in enumerate({rating.key.item for rating, _ in votes})}
    rows = [
        (
            number[a],
            number[b],
            np.sign(rating.value),
            who[rating.listener],
            item_number[rating.key.item],
        )
        for rating, (a, b) in votes
    ]
    table = np.array(rows, np.int64).reshape(-1, 5)
    first, second, outcomes, who_codes, items = table.T
    size = len(systems), len(listeners)
    fit = fit_bradley_terry(
        Choices(first, second, outcomes, who_codes, size, items if other_items else None)
    )
    ties = None
    if (table[:, 2] == 0).any():
        ties = _ability_estimate(fit.ties, fit.ties_error, fit, level)
    estimates = {
        systems[n]: _ability_estimate(float(fit.abilities[n]), float(fit.errors[n]), fit, level)
        for n in np.argsort(-fit.abilities, kind="stable")
    }
    return BradleyTerryAbilities(
        estimates, ties, tuple(s for n, s in enumerate(systems) if not fit.core[n])
    )


def _ability_estimate(value: float, error: float, fit: BradleyTerryFit, level: float) -> Estimate:
    if fit.listeners < MIN_LISTENERS_FOR_DIFFERENCE:
        error = math.nan
    low, high, _ = t_interval(value, error, fit.freedom, level)
    return Estimate(value, low, high, level, fit.listeners, 0, SANDWICH_T)


def _pair_of(rating: Rating) -> Pair:
    assert rating.against is not None
    return rating.key.system, rating.against.system


Choice = tuple[Who, str, int]  # listener, item; 1 for the first system, −1 for the second, or 0


def _ranked_pairs(choices_of: dict[Pair, list[Choice]]) -> list[Pair]:
    """Turn pairs so that the system that was chosen more often is first, and sort them by rank."""
    shares: dict[str, list[float]] = {}
    for (a, b), choices in choices_of.items():
        net = sum(value for *_, value in choices) / len(choices)
        shares.setdefault(a, []).append(net)
        shares.setdefault(b, []).append(-net)
    ranked = sorted(shares, key=lambda name: (-fmean(shares[name]), name))
    place = {name: number for number, name in enumerate(ranked)}
    for a, b in list(choices_of):
        if place[a] > place[b]:
            choices_of[b, a] = [(who, item, -value) for who, item, value in choices_of.pop((a, b))]
    return sorted(choices_of, key=lambda pair: (place[pair[0]], place[pair[1]]))


def _choices_by_pair(ratings: Sequence[Rating], is_abx: bool) -> dict[Pair, list[Choice]]:
    """Return the choices by pair; both orders of a pair are merged."""
    named = {_pair_of(rating) for rating in ratings if rating.against}
    choices_of: dict[Pair, list[Choice]] = {}
    for rating in ratings:
        if rating.against is None:
            continue
        pair = _pair_of(rating)
        turned = pair[::-1] in named and pair > pair[::-1]
        value = (2 * rating.value - 1) if is_abx else (-rating.value if turned else rating.value)
        chosen = rating.listener, rating.key.item, int(np.sign(value))
        choices_of.setdefault(pair[::-1] if turned else pair, []).append(chosen)
    return choices_of


@dataclass(frozen=True)
class _PairTest:
    """Test of one pair, without correction."""

    level: float
    is_abx: bool
    model: str
    other_items: bool

    def choices(self, pair: Pair, choices: Sequence[Choice]) -> PairChoices:
        """Return the choices of a pair with their test."""
        exact = binomial_at_least if self.is_abx else binomial_two_sided
        counts = _count_choices(choices)
        wins, losses, ties = (sum(column) for column in zip(*counts.values(), strict=True))
        if len(counts) == 1:
            share, p = binomial_share(wins, wins + losses, self.level), exact(wins, wins + losses)
        else:
            share, p = self._shares_test(choices, counts)
        return PairChoices(
            *pair,
            wins,
            losses,
            ties,
            len({item for _, item, _ in choices}),
            share=share,
            p=p,
            corrected=math.nan,
            sensitivity=sensitivity_of_share(share, self.model) if self.is_abx else None,
            listeners={
                listener: (a, b, c, exact(a, a + b))
                for listener, (a, b, c) in sorted(counts.items(), key=lambda entry: str(entry[0]))
            },
        )

    def _shares_test(
        self, choices: Sequence[Choice], counts: Mapping[Who, Counts]
    ) -> tuple[Estimate, float]:
        """Return the mean share over listeners with its interval, and p of one half."""
        shares = np.array([(a + c / 2) / (a + b + c) for a, b, c in counts.values()])
        share, p = mean_over_listeners(shares, self.level, expected=0.5, upper=self.is_abx)
        units = len(counts)
        if self.other_items:
            votes = _cell_votes(choices)
            [(difference, p)] = two_way_contrasts(votes, [(0, 1)], level=self.level)
            units = min(votes.size[1:])
            ends = {name: getattr(difference, name) + 0.5 for name in ("value", "low", "high")}
            share = replace(difference, **ends)
            if self.is_abx:
                p = p / 2 if share.value > 0.5 else 1 - p / 2
        low, high = np.clip([share.low, share.high], 0, 1).tolist()
        share = replace(share, low=low, high=high)
        if min(units, len(counts)) < MIN_LISTENERS_FOR_DIFFERENCE:
            return replace(share, low=math.nan, high=math.nan), math.nan
        if math.isnan(p) and not np.ptp(shares):
            p = _sign_test(share.value, units, one_sided=self.is_abx)
        return share, p


def _sign_test(share: float, units: int, *, one_sided: bool) -> float:
    """Return p if all units have the same share: each side of one half is equally likely."""
    if one_sided:
        return 0.5**units if share > 0.5 else 1.0
    return 1.0 if share == 0.5 else 0.5 ** (units - 1)


def _count_choices(choices: Sequence[Choice]) -> dict[Who, Counts]:
    """Return the choices of the first system, of the second and of neither, by listener."""
    counts: dict[Who, Counts] = {}
    for listener, _, value in choices:
        first, second, neither = counts.get(listener, (0, 0, 0))
        counts[listener] = (first + (value > 0), second + (value < 0), neither + (value == 0))
    return counts


def _cell_votes(choices: Sequence[Choice]) -> Votes:
    """Return the mean choice of each listener and item, minus one half, beside votes of 0."""
    numbers: tuple[dict[Who, int], dict[str, int]] = ({}, {})
    listeners = np.array([numbers[0].setdefault(who, len(numbers[0])) for who, _, _ in choices])
    items = np.array([numbers[1].setdefault(item, len(numbers[1])) for _, item, _ in choices])
    cells, index = np.unique(listeners * len(numbers[1]) + items, return_inverse=True)
    values = np.bincount(index, [value / 2 for *_, value in choices]) / np.bincount(index)
    rows = np.divmod(cells, len(numbers[1]))
    return Votes(
        np.concatenate([values, np.zeros(len(cells))]),
        np.repeat([0, 1], len(cells)),
        np.tile(rows[1], 2),
        np.tile(rows[0], 2),
        (2, len(numbers[1]), len(numbers[0])),
    )
