"""Subject model of ITU-T P.910 and P.913, and observer rejection of ITU-R BT.500."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from earwitness.core import Estimate
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.votes import Codes, connected_panels

# --- Alternating projection ----------------------------------------------------------------------


MAX_ROUNDS = 1000
# the change of all qualities together at which rounds end, and what keeps weights finite
SUBJECT_MODEL_EPSILON = 1e-8


class ProjectionState(NamedTuple):
    """Where a round ends; ``rounds`` says how many there were."""

    qualities: Floats
    biases: Floats
    spread: Floats  # of what remains, by listener
    floored_spread: Floats  # the same, not below the floor
    rounds: int
    converged: bool


def inconsistency_floor(spread: Floats, counts: Codes) -> float:
    """How well others know a quality; where the median is 0, by the root of the mean square."""
    if not len(spread):
        return 0.0
    typical = float(np.median(spread)) or float(np.sqrt(np.mean(spread**2)))
    return typical / float(np.sqrt((counts * (counts - 1)).sum() / counts.sum()))


def run_first_round(votes: Floats, has_vote: Bools) -> ProjectionState:
    """All listeners weigh the same."""
    qualities = weighted_means(votes, has_vote, 1)
    biases = weighted_means(votes - qualities[:, None], has_vote, 0)
    spread = _residual_spread(votes, has_vote, qualities, biases)
    return ProjectionState(qualities, biases, spread, spread, 0, False)


def run_projection(
    votes: Floats, has_vote: Bools, state: ProjectionState, floor: float
) -> ProjectionState:
    """Rounds until qualities stay, or the last that is allowed."""
    for round_number in range(1, MAX_ROUNDS + 1):
        before = state.qualities
        spread = _residual_spread(votes, has_vote, before, state.biases)
        floored_spread = np.maximum(spread, floor)
        weight = has_vote * precision_weights(floored_spread)
        qualities = weighted_means(votes - state.biases, weight, 1)
        biases = weighted_means(votes - qualities[:, None], has_vote, 0)
        is_converged = float(np.linalg.norm(qualities - before)) < SUBJECT_MODEL_EPSILON
        state = ProjectionState(
            qualities, biases, spread, floored_spread, round_number, is_converged
        )
        if is_converged:
            break
    return state


def precision_weights(spread: Floats) -> Floats:
    """One over the square, as the recommendation has it: a hair above 0 stays finite."""
    return 1 / (spread**2 + SUBJECT_MODEL_EPSILON)


def weighted_means(values: Floats, weight: Floats | Bools, axis: int) -> Floats:
    """Weighted; 0 where nothing weighs."""
    total = weight.sum(axis=axis)
    sums = (values * weight).sum(axis=axis)
    averages: Floats = np.divide(sums, total, out=np.zeros(len(total)), where=total > 0)
    return averages


def _residual_spread(votes: Floats, has_vote: Bools, qualities: Floats, biases: Floats) -> Floats:
    residuals = votes - qualities[:, None] - biases
    return np.sqrt(
        weighted_means((residuals - weighted_means(residuals, has_vote, 0)) ** 2, has_vote, 0)
    )


def centre_biases(state: ProjectionState, has_vote: Bools, parts: Codes) -> tuple[Floats, Floats]:
    """Biases sum to 0 within a part; what they lose goes to the qualities of its stimuli."""
    qualities, biases = state.qualities.copy(), state.biases.copy()
    for part in range(parts.max(initial=-1) + 1):
        is_member = parts == part
        mean = biases[is_member].mean()
        biases[is_member] -= mean
        qualities[has_vote[:, is_member].any(axis=1)] += mean
    return qualities, biases


# --- Subject model -------------------------------------------------------------------------------
# The subject model of ITU-T P.910 (annex E) and P.913 (12.6). A vote is the quality of its
# stimulus, plus the bias of its listener, plus noise as large as that listener's inconsistency. In
# turn, qualities are means of votes less biases, weighted with one over the squared inconsistency;
# biases are mean differences from qualities; inconsistencies are the spread of what remains; until
# qualities stay as they are.
#
# **The floor.** With few listeners that ends badly: the better a listener fits, the more weight
# they get, and the better they fit, until one inconsistency is 0 and that listener's votes are the
# qualities. It takes no odd listener. Beside others whose weights sum to W, with differences from
# their mean that have the spread d, an inconsistency v that stays as it is solves v² − dv + 1/W =
# 0: v ≥ d/2 and d² ≥ 4/W, or there is none but 0. In a panel of five chance is enough for that. So
# an inconsistency below 1/√W, how well the others know the quality, is never a solution. That is
# taken to be the median inconsistency of the first round, in which all weigh the same, over the
# root of the mean number of other votes on a stimulus; the floor is one and a half times as high,
# since intervals cover better there. ``floored`` says who would have gone below.
#
# **Panels.** Listeners who share no stimulus, not even by way of others, cannot be compared: biases
# sum to 0 within each such part, and qualities of a part are relative to its own listeners. Who
# shares no stimulus with anybody has neither bias nor inconsistency.
#
# **Intervals.** The spread of what remains is too small, since qualities and biases were fitted to
# the same votes; intervals rest on the squares divided by what is left of the votes after that.
# That of a quality is normal, of a bias Student's, of an inconsistency by chi square.


# times how well the others know a quality: above every collapse, and it covers better
FLOOR_FACTOR = 1.5
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
        listeners = sum(not np.isnan(inconsistency.value) for inconsistency in self.inconsistencies)
        return (
            f"the inconsistency of {len(self.floored)} of {listeners} listeners went below "
            f"{self.floor:.3g} and was held there: the panel is too small to weigh them fully"
        )


def fit_subjects(table: Floats, *, share: float = FLOOR_FACTOR, level: float = 0.95) -> SubjectFit:
    """Fit a table with a row a stimulus and a column a listener.

    With ``share`` the floor is so many times the usual one; 0 is the plain algorithm, which may
    degenerate.
    """
    has_vote = ~np.isnan(table)
    votes = np.where(has_vote, table, 0.0)
    parts = connected_panels(has_vote)
    compared = (parts >= 0) & (np.bincount(parts[parts >= 0], minlength=1)[parts] > 1)
    first_state = run_first_round(votes, has_vote)
    floor = share * inconsistency_floor(first_state.spread[compared], has_vote.sum(axis=1))
    state = run_projection(votes, has_vote, first_state, floor)
    qualities, biases = centre_biases(state, has_vote, parts)
    floored = tuple(np.flatnonzero(compared & (state.spread < floor)).tolist())
    estimates = _subject_intervals(
        has_vote, state._replace(qualities=qualities, biases=biases), compared, level
    )
    spread = tuple(np.where(compared, state.floored_spread, np.nan).tolist())
    reached = state.rounds, state.converged
    return SubjectFit(*estimates, floor, floored, *reached, tuple(parts.tolist()), spread)


def _subject_intervals(
    has_vote: Bools, state: ProjectionState, compared: Bools, level: float
) -> tuple[Estimates, Estimates, Estimates]:
    df = _residual_df(has_vote, state, compared)
    votes = has_vote.sum(axis=0)
    unbiased_spread = np.sqrt(votes * state.floored_spread**2 / df)
    return (
        _quality_estimates(has_vote, state, unbiased_spread, level),
        _bias_estimates(
            votes, np.where(compared, state.biases, np.nan), unbiased_spread, df, level
        ),
        _inconsistency_estimates(votes, unbiased_spread, df, level),
    )


def _residual_df(has_vote: Bools, state: ProjectionState, compared: Bools) -> Floats:
    """What is left of a listener's votes after their share in qualities, and their bias."""
    weight = has_vote * precision_weights(state.floored_spread)
    share = weight / np.where(has_vote.any(axis=1), weight.sum(axis=1), 1)[:, None]
    df = np.where(
        compared, has_vote.sum(axis=0) * (1 - weighted_means(share, has_vote, 0)) - 1, np.nan
    )
    return np.where(df > 0, df, np.nan)


def _quality_estimates(
    has_vote: Bools, state: ProjectionState, unbiased_spread: Floats, level: float
) -> Estimates:
    """The error of a weighted mean; of listeners who cannot be compared nothing is known."""
    from scipy.special import ndtri

    finite_spread = np.where(unbiased_spread > 0, unbiased_spread, np.inf)
    weight = (has_vote / finite_spread**2).sum(axis=1)
    error = np.divide(1, np.sqrt(weight), out=np.full(len(weight), np.nan), where=weight > 0)
    values = np.where(has_vote.any(axis=1), state.qualities, np.nan)
    half_width = error * ndtri((1 + level) / 2)
    name = "alternating-projection-normal"
    return _zip_estimates(
        values, values - half_width, values + half_width, has_vote.sum(axis=1), level, name
    )


def _bias_estimates(
    votes: Codes, values: Floats, unbiased_spread: Floats, df: Floats, level: float
) -> Estimates:
    from scipy.special import stdtrit

    half_width = unbiased_spread / np.sqrt(np.maximum(votes, 1)) * stdtrit(df, (1 + level) / 2)
    name = "alternating-projection-t"
    return _zip_estimates(values, values - half_width, values + half_width, votes, level, name)


def _inconsistency_estimates(
    votes: Codes, unbiased_spread: Floats, df: Floats, level: float
) -> Estimates:
    from scipy.special import chdtri

    low, high = (
        unbiased_spread * np.sqrt(df / chdtri(df, (1 - side * level) / 2)) for side in (1, -1)
    )
    return _zip_estimates(unbiased_spread, low, high, votes, level, "alternating-projection-chi2")


def _zip_estimates(
    values: Floats, low: Floats, high: Floats, counts: Codes, level: float, method: str
) -> Estimates:
    rows = zip(values.tolist(), low.tolist(), high.tolist(), counts.tolist(), strict=True)
    return tuple(Estimate(v, a, b, level, n, 0, method) for v, a, b, n in rows)


# --- Observer rejection (BT.500) -----------------------------------------------------------------
# ITU-R BT.500, 2.3.1 of annex 1. A vote lies outside where it is at least 2 standard deviations
# from the mean of all votes on its stimulus, or √20 where those votes are not about normal: where
# their kurtosis β₂ is not between 2 and 4. An observer is rejected with (P + Q) / N > 0.05 and |P −
# Q| / (P + Q) < 0.3, with P votes above, Q below, and N votes in all. Who is always above or always
# below is biased, not careless.
#
# Everything is compared without division or root, so whole votes are judged exactly: for n votes
# with sum T, the deviation of a vote u is (nu − T) / n. Where all votes on a stimulus are equal
# nobody is outside. With standard deviations of n − 1, no vote among fewer than six can be 2 away,
# nor one among fewer than 22 √20 away: the rule is blind in small panels.


NORMAL_KURTOSIS = 2.0, 4.0  # kurtosis of votes that are about normal
SQUARED_LIMITS_SDS = 4.0, 20.0  # standard deviations, squared, for those and for others


class Rejection(NamedTuple):
    """By observer: votes, those above and below, and whether the observer is rejected."""

    votes: Codes
    above: Codes
    below: Codes
    rejected: Bools


def reject_observers(table: Floats, *, outside: float = 0.05, one_side: float = 0.3) -> Rejection:
    """Judge a table with a row a stimulus and a column an observer; NaN where no vote is."""
    has_vote = ~np.isnan(table)
    votes = np.where(has_vote, table, 0.0)
    n = has_vote.sum(axis=1, keepdims=True)
    deviations = np.where(has_vote, n * votes - votes.sum(axis=1, keepdims=True), 0.0)
    squares = (deviations**2).sum(axis=1, keepdims=True)
    fourth = n * (deviations**4).sum(axis=1, keepdims=True)
    is_normal = (NORMAL_KURTOSIS[0] * squares**2 <= fourth) & (
        fourth <= NORMAL_KURTOSIS[1] * squares**2
    )
    limit = np.where(is_normal, *SQUARED_LIMITS_SDS)
    is_far = has_vote & (squares > 0) & (deviations**2 * (n - 1) >= limit * squares)
    above, below = (is_far & (deviations > 0)).sum(axis=0), (is_far & (deviations < 0)).sum(axis=0)
    counts = has_vote.sum(axis=0)
    rows = zip(counts.tolist(), above.tolist(), below.tolist(), strict=True)
    rejected = [_is_rejected(*counts_of_observer, outside, one_side) for counts_of_observer in rows]
    return Rejection(counts, above, below, np.array(rejected, np.bool_))


def _is_rejected(votes: int, above: int, below: int, outside: float, one_side: float) -> bool:
    far = above + below
    return is_more_than(far, votes, outside) and not is_at_least(abs(above - below), far, one_side)


def is_more_than(part: int, whole: int, share: float) -> bool:
    """Whether part of a whole is more than a share, as it is written.

    >>> is_more_than(3, 20, 0.15), is_more_than(4, 20, 0.15)
    (False, True)
    """
    return part > whole * Fraction(str(share))


def is_at_least(part: int, whole: int, share: float) -> bool:
    """Whether part of a whole is a share, as it is written, or more.

    >>> is_at_least(3, 10, 0.3), is_at_least(2, 10, 0.3)
    (True, False)
    """
    return part >= whole * Fraction(str(share))
