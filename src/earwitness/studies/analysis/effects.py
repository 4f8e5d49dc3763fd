"""Effects of trial order, session, place on the page and order of scales on votes.

Each effect is a difference in points of the scale, with an interval and a p over listeners, after
what stimuli and listeners differ by. Where nothing is known of order (0 in the ratings), or the
design cannot tell an effect from the stimuli, it is not reported.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from earwitness.core import Rating
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.effects import fit_listener_means, fit_listener_slopes
from earwitness.stats.means import group_difference, mean_over_listeners
from earwitness.stats.votes import Codes
from earwitness.studies.results import Effect

# with fewer votes a stimulus than this, items and systems have means instead
MIN_VOTES_PER_STIMULUS = 3


@dataclass(frozen=True)
class TrialCodes:
    """Ratings of one scale as arrays."""

    values: Floats
    listeners: Codes
    means: tuple[Codes, ...]
    size: int


def effects(ratings: Iterable[Rating], scale: str, *, level: float) -> tuple[Effect, ...]:
    """All effects on one scale that are defined; ratings of other scales tell the order of scales.

    ``order`` is the change from the first to the last trial of a session, along a line; ``session``
    each session less the first; ``place`` the change from the first to the last sound of a trial,
    along a line; ``scales`` that of one scale being asked first rather than another.
    """
    everything = list(ratings)
    own = [one for one in everything if one.scale == scale]
    found = [*_order(own, level), *_session(own, level), *_place(own, level)]
    found += _scales(own, everything, level)
    return tuple(one for one in found if not math.isnan(one.difference.value))


def _order(ratings: Sequence[Rating], level: float) -> list[Effect]:
    known = [one for one in ratings if one.trial > 0]
    trials = np.array([one.trial for one in known], np.float64)
    if len(set(trials.tolist())) < 2:
        return []
    steps = (trials - trials.min()) / (trials.max() - trials.min())
    what = f"trial {trials.max():.0f} of a session less trial {trials.min():.0f}"
    return _slopes(known, steps[:, None], "order", [what], level)


def _session(ratings: Sequence[Rating], level: float) -> list[Effect]:
    known = [one for one in ratings if one.session > 0]
    sessions = sorted({one.session for one in known})
    if len(sessions) < 2:
        return []
    own = np.array([one.session for one in known])
    columns = (own[:, None] == np.array(sessions[1:])).astype(np.float64)
    what = [f"session {one} less session {sessions[0]}" for one in sessions[1:]]
    return _slopes(known, columns, "session", what, level)


def _place(ratings: Sequence[Rating], level: float) -> list[Effect]:
    places = np.array([one.place for one in ratings], np.float64)
    if len(set(places.tolist())) < 2:
        return []
    steps = (places - places.min()) / (places.max() - places.min())
    what = f"place {places.max() + 1:.0f} on the page less place {places.min() + 1:.0f}"
    return _slopes(ratings, steps[:, None], "place", [what], level)


def _scales(own: Sequence[Rating], everything: Sequence[Rating], level: float) -> list[Effect]:
    first = _asked_first(everything)
    known = [one for one in own if _trial(one) in first]
    asked = sorted({first[_trial(one)] for one in known}, reverse=True)
    if len(asked) != 2:
        return []
    what = f"{asked[0]} asked first less {asked[1]} asked first"
    column = np.array([first[_trial(one)] == asked[0] for one in known])
    found = _slopes(known, column[:, None].astype(np.float64), "scales", [what], level)
    if found[0].difference.n > 1:
        return found
    return [_between(known, column, what, level)]


def _slopes(
    ratings: Sequence[Rating], columns: Floats, name: str, what: list[str], level: float
) -> list[Effect]:
    """One effect a column, by t over listeners."""
    votes = coded(ratings)
    slopes = fit_listener_slopes(votes.values, votes.listeners, columns, votes.means, votes.size)
    found = []
    for n, said in enumerate(what):
        wider = float(slopes.widening[n])
        difference, p = mean_over_listeners(slopes.values[:, n], level, wider=wider)
        found.append(Effect(name, said, difference, p))
    return found


def _between(ratings: Sequence[Rating], column: Bools, what: str, level: float) -> Effect:
    """Listeners who had one order against those who had the other, where nobody had both."""
    votes = coded(ratings)
    means = fit_listener_means(votes.values, votes.listeners, votes.means, votes.size)
    share = np.bincount(votes.listeners, column) / np.bincount(votes.listeners)
    strata = comparable(votes.listeners, votes.means[0], votes.size)
    clear = (share == 0) | (share == 1)
    difference, p = group_difference(means[clear], share[clear] == 1, strata[clear], level)
    return Effect("scales", what, difference, p)


def coded(ratings: Sequence[Rating]) -> TrialCodes:
    """Arrays of ratings; stimuli with few votes give way to items and systems."""
    listeners = _numbers([str(one.listener) for one in ratings])
    systems = [(one.key.system, one.against.system if one.against else "") for one in ratings]
    items = [one.key.item for one in ratings]
    stimuli = _numbers(list(zip(items, systems, strict=True)))
    means: tuple[Codes, ...] = (stimuli,)
    if len(ratings) < MIN_VOTES_PER_STIMULUS * (int(stimuli.max()) + 1):
        means = _numbers(items), _numbers(systems)
    values = np.array([one.value for one in ratings], np.float64)
    return TrialCodes(values, listeners, means, int(listeners.max()) + 1)


def comparable(listeners: Codes, shared: Codes, size: int) -> Codes:
    """A number for all listeners who are tied together by what they share, directly or not."""
    found = np.arange(size)
    while True:
        least = np.full(int(shared.max()) + 1, size)
        np.minimum.at(least, shared, found[listeners])
        moved = found.copy()
        np.minimum.at(moved, listeners, least[shared])
        if (moved == found).all():
            return found
        found = moved


def _numbers(names: Sequence[object]) -> Codes:
    known = {name: n for n, name in enumerate(dict.fromkeys(names))}
    return np.array([known[name] for name in names], np.int64)


def _trial(rating: Rating) -> tuple[object, ...]:
    return rating.listener, rating.session, rating.trial, rating.key


def _asked_first(ratings: Iterable[Rating]) -> dict[tuple[object, ...], str]:
    """By trial, the scale that was asked first."""
    return {_trial(one): one.scale for one in ratings if one.asked == 1}
