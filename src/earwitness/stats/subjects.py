"""The subject model of ITU-T P.910 (annex E) and P.913 (12.6), by alternating projection.

A vote is the quality of its stimulus, plus the bias of its listener, plus noise as large as that
listener's inconsistency. In turn, qualities are means of votes less biases, weighted with one over
the squared inconsistency; biases are mean differences from qualities; inconsistencies are the
spread of what remains; until qualities stay as they are.

**The floor.** With few listeners that ends badly: the better a listener fits, the more weight they
get, and the better they fit, until one inconsistency is 0 and that listener's votes are the
qualities. It takes no odd listener. Beside others whose weights sum to W, with differences from
their mean that have the spread d, an inconsistency v that stays as it is solves v² − dv + 1/W = 0:
v ≥ d/2 and d² ≥ 4/W, or there is none but 0. In a panel of five chance is enough for that. So an
inconsistency below 1/√W, how well the others know the quality, is never a solution. That is taken
to be the median inconsistency of the first round, in which all weigh the same, over the root of the
mean number of other votes on a stimulus; the floor is one and a half times as high, since intervals
cover better there. ``floored`` says who would have gone below.

**Panels.** Listeners who share no stimulus, not even by way of others, cannot be compared: biases
sum to 0 within each such part, and qualities of a part are relative to its own listeners. Who
shares no stimulus with anybody has neither bias nor inconsistency.

**Intervals.** The spread of what remains is too small, since qualities and biases were fitted to
the same votes; intervals rest on the squares divided by what is left of the votes after that. That
of a quality is normal, of a bias Student's, of an inconsistency by chi square.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from earwitness.data import Estimate
from earwitness.stats.exact import Bools, Floats
from earwitness.stats.projection import (
    State,
    centred,
    first_round,
    floor_of,
    means,
    projected,
    weights,
)
from earwitness.stats.votes import Codes, connected

FLOOR = 1.5  # times how well the others know a quality: above every collapse, and it covers better
Estimates = tuple[Estimate, ...]


@dataclass(frozen=True)
class SubjectFit:
    """Estimates by stimulus and by listener; NaN where there is no vote.

    ``parts`` numbers the listeners who can be compared, -1 for those without a vote. ``spread`` has
    inconsistencies as the recommendation computes them: they are too small, since qualities follow
    the votes; those with intervals allow for that.
    """

    qualities: Estimates
    biases: Estimates
    inconsistencies: Estimates
    floor: float
    floored: tuple[int, ...]
    rounds: int
    converged: bool
    parts: tuple[int, ...]
    spread: tuple[float, ...]

    @property
    def warning(self) -> str:
        """What to say where the plain algorithm would have degenerated; else nothing."""
        if not self.floored:
            return ""
        listeners = sum(not np.isnan(one.value) for one in self.inconsistencies)
        return (
            f"the inconsistency of {len(self.floored)} of {listeners} listeners went below "
            f"{self.floor:.3g} and was held there: the panel is too small to weigh them fully"
        )


def fit_subjects(table: Floats, *, share: float = FLOOR, level: float = 0.95) -> SubjectFit:
    """Fit a table with a row a stimulus and a column a listener.

    With ``share`` the floor is so many times the usual one; 0 is the plain algorithm, which may
    degenerate.
    """
    there = ~np.isnan(table)
    votes = np.where(there, table, 0.0)
    parts = connected(there)
    compared = (parts >= 0) & (np.bincount(parts[parts >= 0], minlength=1)[parts] > 1)
    first = first_round(votes, there)
    floor = share * floor_of(first.spread[compared], there.sum(axis=1))
    state = projected(votes, there, first, floor)
    qualities, biases = centred(state, there, parts)
    low = tuple(np.flatnonzero(compared & (state.spread < floor)).tolist())
    found = _intervals(there, state._replace(qualities=qualities, biases=biases), compared, level)
    spread = tuple(np.where(compared, state.held, np.nan).tolist())
    reached = state.rounds, state.converged
    return SubjectFit(*found, floor, low, *reached, tuple(parts.tolist()), spread)


def _intervals(
    there: Bools, state: State, compared: Bools, level: float
) -> tuple[Estimates, Estimates, Estimates]:
    free = _free(there, state, compared)
    votes = there.sum(axis=0)
    true = np.sqrt(votes * state.held**2 / free)
    return (
        _qualities(there, state, true, level),
        _biases(votes, np.where(compared, state.biases, np.nan), true, free, level),
        _inconsistencies(votes, true, free, level),
    )


def _free(there: Bools, state: State, compared: Bools) -> Floats:
    """What is left of a listener's votes after their share in qualities, and their bias."""
    weight = there * weights(state.held)
    share = weight / np.where(there.any(axis=1), weight.sum(axis=1), 1)[:, None]
    free = np.where(compared, there.sum(axis=0) * (1 - means(share, there, 0)) - 1, np.nan)
    return np.where(free > 0, free, np.nan)


def _qualities(there: Bools, state: State, true: Floats, level: float) -> Estimates:
    """The error of a weighted mean; of listeners who cannot be compared nothing is known."""
    from scipy.special import ndtri

    known = np.where(true > 0, true, np.inf)
    weight = (there / known**2).sum(axis=1)
    error = np.divide(1, np.sqrt(weight), out=np.full(len(weight), np.nan), where=weight > 0)
    values = np.where(there.any(axis=1), state.qualities, np.nan)
    reach = error * ndtri((1 + level) / 2)
    name = "alternating-projection-normal"
    return _estimates(values, values - reach, values + reach, there.sum(axis=1), level, name)


def _biases(votes: Codes, values: Floats, true: Floats, free: Floats, level: float) -> Estimates:
    from scipy.special import stdtrit

    reach = true / np.sqrt(np.maximum(votes, 1)) * stdtrit(free, (1 + level) / 2)
    name = "alternating-projection-t"
    return _estimates(values, values - reach, values + reach, votes, level, name)


def _inconsistencies(votes: Codes, true: Floats, free: Floats, level: float) -> Estimates:
    from scipy.special import chdtri

    low, high = (true * np.sqrt(free / chdtri(free, (1 - side * level) / 2)) for side in (1, -1))
    return _estimates(true, low, high, votes, level, "alternating-projection-chi2")


def _estimates(
    values: Floats, low: Floats, high: Floats, counts: Codes, level: float, method: str
) -> Estimates:
    rows = zip(values.tolist(), low.tolist(), high.tolist(), counts.tolist(), strict=True)
    return tuple(Estimate(v, a, b, level, n, 0, method) for v, a, b, n in rows)
