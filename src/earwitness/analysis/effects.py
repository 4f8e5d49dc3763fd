"""Effects of trial order, session, position on the page and order of scales on votes.

Each effect is a difference in scale points, with a confidence interval and p over listeners,
adjusted for stimuli and listeners. An effect is not reported if the order is unknown (0 in the
ratings) or if the design confounds it with the stimuli.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from earwitness.analysis.results import Effect
from earwitness.core import Rating
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.effects import fit_listener_means, fit_listener_slopes
from earwitness.stats.means import group_difference, mean_over_listeners
from earwitness.stats.votes import Codes

# with fewer votes per stimulus, means of items and of systems are used instead
MIN_VOTES_PER_STIMULUS = 3


@dataclass(frozen=True)
class TrialCodes:
    """Ratings of one scale as arrays."""

    values: Floats
    listeners: Codes
    means: tuple[Codes, ...]
    size: int


def estimate_effects(ratings: Iterable[Rating], scale: str, *, level: float) -> tuple[Effect, ...]:
    """Return all defined effects on one scale; other scales are used for the order of scales.

    ``order`` is the linear change from the first to the last trial of a session; ``session`` each
    session minus the first; ``place`` the linear change from the first to the last position in a
    trial; ``scales`` the effect of which of two scales is asked first.
    """
    everything = list(ratings)
    scale_ratings = [rating for rating in everything if rating.scale == scale]
    ordered = [rating for rating in scale_ratings if rating.trial > 0]
    trials, places = (
        [rating.trial for rating in ordered],
        [rating.place + 1 for rating in scale_ratings],
    )
    all_effects = [
        *_linear_effect(ordered, trials, "order", "trial {} minus trial {} of a session", level),
        *_session_effects(scale_ratings, level),
        *_linear_effect(
            scale_ratings, places, "place", "position {} minus position {} on the page", level
        ),
        *_scale_order_effect(scale_ratings, everything, level),
    ]
    return tuple(effect for effect in all_effects if not math.isnan(effect.difference.value))


def _linear_effect(
    ratings: Sequence[Rating], numbers: Sequence[int], name: str, what: str, level: float
) -> list[Effect]:
    """Return the change from the smallest to the largest number; none if all are equal."""
    if len({*numbers}) < 2:
        return []
    low, high = min(numbers), max(numbers)
    steps = (np.array(numbers, np.float64) - low) / (high - low)
    return _slope_effects(ratings, steps[:, None], name, [what.format(high, low)], level)


def _session_effects(ratings: Sequence[Rating], level: float) -> list[Effect]:
    ordered = [rating for rating in ratings if rating.session > 0]
    sessions = sorted({rating.session for rating in ordered})
    if len(sessions) < 2:
        return []
    session_of = np.array([rating.session for rating in ordered])
    columns = (session_of[:, None] == np.array(sessions[1:])).astype(np.float64)
    what = [f"session {session} minus session {sessions[0]}" for session in sessions[1:]]
    return _slope_effects(ordered, columns, "session", what, level)


def _scale_order_effect(
    scale_ratings: Sequence[Rating], everything: Sequence[Rating], level: float
) -> list[Effect]:
    first = _first_scales(everything)
    ordered = [rating for rating in scale_ratings if _trial_of(rating) in first]
    asked = sorted({first[_trial_of(rating)] for rating in ordered}, reverse=True)
    if len(asked) != 2:
        return []
    what = f"{asked[0]} asked first minus {asked[1]} asked first"
    column = np.array([first[_trial_of(rating)] == asked[0] for rating in ordered])
    slopes = _slope_effects(ordered, column[:, None].astype(np.float64), "scales", [what], level)
    if slopes[0].difference.n > 1:
        return slopes
    return [_between_listeners(ordered, column, what, level)]


def _slope_effects(
    ratings: Sequence[Rating], columns: Floats, name: str, what: list[str], level: float
) -> list[Effect]:
    """Return one effect per column, by t tests over listeners."""
    votes = code_trials(ratings)
    slopes = fit_listener_slopes(votes.values, votes.listeners, columns, votes.means, votes.size)
    slope_effects = []
    for n, label in enumerate(what):
        wider = float(slopes.widening[n])
        difference, p = mean_over_listeners(slopes.values[:, n], level, wider=wider)
        slope_effects.append(Effect(name, label, difference, p))
    return slope_effects


def _between_listeners(ratings: Sequence[Rating], column: Bools, what: str, level: float) -> Effect:
    """Compare listeners with one order to listeners with the other."""
    votes = code_trials(ratings)
    means = fit_listener_means(votes.values, votes.listeners, votes.means, votes.size)
    share = np.bincount(votes.listeners, column) / np.bincount(votes.listeners)
    strata = connected_strata(votes.listeners, votes.means[0], votes.size)
    clear = (share == 0) | (share == 1)
    difference, p = group_difference(means[clear], share[clear] == 1, strata[clear], level)
    return Effect("scales", what, difference, p)


def code_trials(ratings: Sequence[Rating]) -> TrialCodes:
    """Return ratings as arrays; with few votes per stimulus, by item and system instead."""
    listeners = number_names([str(rating.listener) for rating in ratings])
    systems = [
        (rating.key.system, rating.against.system if rating.against else "") for rating in ratings
    ]
    items = [rating.key.item for rating in ratings]
    stimuli = number_names(list(zip(items, systems, strict=True)))
    means: tuple[Codes, ...] = (stimuli,)
    if len(ratings) < MIN_VOTES_PER_STIMULUS * (int(stimuli.max()) + 1):
        means = number_names(items), number_names(systems)
    values = np.array([rating.value for rating in ratings], np.float64)
    return TrialCodes(values, listeners, means, int(listeners.max()) + 1)


def connected_strata(listeners: Codes, shared: Codes, size: int) -> Codes:
    """Return for each listener the number of its connected component of shared stimuli."""
    stratum = np.arange(size)
    while True:
        least = np.full(int(shared.max()) + 1, size)
        np.minimum.at(least, shared, stratum[listeners])
        moved = stratum.copy()
        np.minimum.at(moved, listeners, least[shared])
        if (moved == stratum).all():
            return stratum
        stratum = moved


def number_names(names: Sequence[object]) -> Codes:
    """Return the number of each name, in order of appearance."""
    number_of = {name: n for n, name in enumerate(dict.fromkeys(names))}
    return np.array([number_of[name] for name in names], np.int64)


def _trial_of(rating: Rating) -> tuple[object, ...]:
    return rating.listener, rating.session, rating.trial, rating.key


def _first_scales(ratings: Iterable[Rating]) -> dict[tuple[object, ...], str]:
    """Return the scale that was asked first, by trial."""
    return {_trial_of(rating): rating.scale for rating in ratings if rating.asked == 1}
