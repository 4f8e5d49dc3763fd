"""Subject model of ITU-T P.910 and P.913, and observer rejection of ITU-R BT.500."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from earwitness.core import Estimate
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.significance import build_estimates
from earwitness.stats.votes import Codes, VoteEntries, connected_panels, table_entries

# --- Alternating projection ----------------------------------------------------------------------


MAX_ROUNDS = 1000
# norm of the change of qualities at which iteration stops; also keeps weights finite
SUBJECT_MODEL_EPSILON = 1e-8


class ProjectionState(NamedTuple):
    """State after a round of the iteration."""

    qualities: Floats
    biases: Floats
    spread: Floats  # SD of residuals by listener
    floored_spread: Floats  # the same, at least the floor
    rounds: int
    converged: bool


def inconsistency_floor(spread: Floats, counts: Codes) -> float:
    """Return the typical standard error of a quality, from the median inconsistency.

    If the median is 0, the root mean square is used.
    """
    if not len(spread):
        return 0.0
    typical = float(np.median(spread)) or float(np.sqrt(np.mean(spread**2)))
    return typical / float(np.sqrt((counts * (counts - 1)).sum() / counts.sum()))


def run_round(votes: VoteEntries, weight: Floats, biases: Floats) -> tuple[Floats, Floats]:
    """Return qualities for given weights of votes and biases of listeners, and new biases."""
    unbiased = votes.values - biases[votes.columns]
    qualities = _ratio_or_0(votes.sum_rows(unbiased * weight), votes.sum_rows(weight))
    return qualities, _column_means(votes, votes.values - qualities[votes.rows])


def run_first_round(votes: VoteEntries) -> ProjectionState:
    """Run the first round, with equal weights for all listeners."""
    qualities, biases = run_round(votes, np.ones(len(votes.rows)), np.zeros(votes.shape[1]))
    spread = _residual_spread(votes, qualities, biases)
    return ProjectionState(qualities, biases, spread, spread, 0, False)


def run_projection(votes: VoteEntries, state: ProjectionState, floor: float) -> ProjectionState:
    """Iterate until qualities converge, or up to the maximum number of rounds."""
    for round_number in range(1, MAX_ROUNDS + 1):
        before = state.qualities
        spread = _residual_spread(votes, before, state.biases)
        floored_spread = np.maximum(spread, floor)
        weight = precision_weights(floored_spread)[votes.columns]
        updated = run_round(votes, weight, state.biases)
        is_converged = float(np.linalg.norm(updated[0] - before)) < SUBJECT_MODEL_EPSILON
        state = ProjectionState(*updated, spread, floored_spread, round_number, is_converged)
        if is_converged:
            break
    return state


def precision_weights(spread: Floats) -> Floats:
    """Return inverse squared spreads; the constant of the recommendation keeps them finite."""
    return 1 / (spread**2 + SUBJECT_MODEL_EPSILON)


def _column_means(votes: VoteEntries, values: Floats) -> Floats:
    """Return means of one value per vote by listener; 0 without a vote."""
    return _ratio_or_0(votes.sum_columns(values), votes.sum_columns(np.ones(len(values))))


def _ratio_or_0(sums: Floats, total: Floats) -> Floats:
    return np.divide(sums, total, out=np.zeros(len(total)), where=total > 0)


def _residual_spread(votes: VoteEntries, qualities: Floats, biases: Floats) -> Floats:
    residuals = votes.values - qualities[votes.rows] - biases[votes.columns]
    residuals -= _column_means(votes, residuals)[votes.columns]
    return np.sqrt(_column_means(votes, residuals**2))


def centre_biases(
    state: ProjectionState, votes: VoteEntries, parts: Codes
) -> tuple[Floats, Floats]:
    """Return qualities and biases with biases summing to 0 within each part."""
    qualities, biases = state.qualities.copy(), state.biases.copy()
    voted = parts >= 0
    means = np.bincount(parts[voted], biases[voted]) / np.bincount(parts[voted])
    biases[voted] -= means[parts[voted]]
    shift = np.zeros(len(qualities))
    shift[votes.rows] = means[parts[votes.columns]]  # all votes on a stimulus are of one part
    return qualities + shift, biases


# --- Subject model -------------------------------------------------------------------------------
# The subject model of ITU-T P.910 (annex E) and P.913 (12.6). A vote is the quality of its stimulus
# plus the bias of its listener plus noise with that listener's inconsistency as standard deviation.
# Iteratively, qualities are means of votes minus biases, weighted by the inverse squared
# inconsistency; biases are mean differences from qualities; inconsistencies are standard deviations
# of residuals; until qualities converge.
#
# **Floor.** With few listeners the iteration can degenerate: a listener who fits better gets more
# weight, and then fits even better, until one inconsistency is 0 and that listener's votes are the
# qualities. This does not require an unusual listener. Next to others whose weights sum to W, with
# differences from their mean of standard deviation d, a stable inconsistency v solves v² − dv + 1/W
# = 0: v ≥ d/2 and d² ≥ 4/W, or the only solution is 0. In a panel of five this happens by chance.
# An inconsistency below 1/√W, the standard error of a quality given the other listeners, is
# therefore never a solution. This standard error is estimated as the median inconsistency of the
# first round, in which all weights are equal, over the root of the mean number of other votes on a
# stimulus; the floor is one and a half times as high, since that improves the coverage of
# intervals. ``floored`` lists the listeners below the floor.
#
# **Panels.** Listeners who are not connected by common stimuli cannot be compared: biases sum to 0
# within each connected part, and qualities of a part are relative to its own listeners. A listener
# who shares no stimulus with anyone has neither bias nor inconsistency.
#
# **Intervals.** Inconsistencies are those of the recommendation, with the number of votes as the
# divisor. That is too small, since qualities and biases are fitted to the same votes; intervals
# therefore divide squares by the residual degrees of freedom. The interval of a quality is normal,
# that of a bias Student's t, that of an inconsistency chi-squared; in panels of a few listeners the
# latter may lie above the inconsistency, and is then extended down to it.


# times the standard error of a quality: prevents degeneration and improves coverage
FLOOR_FACTOR = 1.5
Estimates = tuple[Estimate, ...]


@dataclass(frozen=True)
class SubjectFit:
    """Estimates by stimulus and by listener; NaN without a vote.

    ``parts`` has the connected part of each listener, −1 without a vote. ``inconsistencies`` are
    those of the recommendation; their intervals correct the bias due to fitting.
    """

    qualities: Estimates
    biases: Estimates
    inconsistencies: Estimates
    floor: float
    floored: tuple[int, ...]
    rounds: int
    converged: bool
    parts: tuple[int, ...]

    @property
    def warning(self) -> str:
        """Warning if the plain algorithm would have degenerated, else an empty string."""
        if not self.floored:
            return ""
        listeners = sum(not np.isnan(inconsistency.value) for inconsistency in self.inconsistencies)
        return (
            f"the inconsistency of {len(self.floored)} of {listeners} listeners was raised to the "
            f"minimum of {self.floor:.2f}, because the panel is too small to weight them fully"
        )


def fit_subjects(table: Floats, *, share: float = FLOOR_FACTOR, level: float = 0.95) -> SubjectFit:
    """Fit the subject model.

    Parameters
    ----------
    table
        One row per stimulus and one column per listener; NaN without a vote.
    share
        Factor of the floor of inconsistencies; 0 is the plain algorithm, which may degenerate.
    level
        Confidence level.

    Returns
    -------
    SubjectFit
        Qualities, biases and inconsistencies with intervals.

    References
    ----------
    ITU-T P.910, annex E; ITU-T P.913, clause 12.6.
    """
    votes = table_entries(table)
    parts = connected_panels(votes)
    compared = (parts >= 0) & (np.bincount(parts[parts >= 0], minlength=1)[parts] > 1)
    first_state = run_first_round(votes)
    counts = np.bincount(votes.rows, minlength=len(table))
    floor = share * inconsistency_floor(first_state.spread[compared], counts)
    state = run_projection(votes, first_state, floor)
    qualities, biases = centre_biases(state, votes, parts)
    floored = tuple(np.flatnonzero(compared & (state.spread < floor)).tolist())
    estimates = _subject_intervals(
        votes, state._replace(qualities=qualities, biases=biases), compared, level
    )
    reached = state.rounds, state.converged
    return SubjectFit(*estimates, floor, floored, *reached, tuple(parts.tolist()))


def _subject_intervals(
    votes: VoteEntries, state: ProjectionState, compared: Bools, level: float
) -> tuple[Estimates, Estimates, Estimates]:
    """Return qualities, biases and inconsistencies; intervals of the last contain them."""
    from scipy.special import ndtri, stdtrit

    # the degrees of freedom left of each listener's votes after fitting
    precision = precision_weights(state.floored_spread)[votes.columns]
    share = precision / votes.sum_rows(precision)[votes.rows]
    df = np.where(compared, votes.sum_columns(1 - share) - 1, np.nan)
    df = np.where(df > 0, df, np.nan)
    counts = np.bincount(votes.columns, minlength=votes.shape[1])
    unbiased_spread = np.sqrt(counts * state.floored_spread**2 / df)
    finite_spread = np.where(unbiased_spread > 0, unbiased_spread, np.inf)
    weight = votes.sum_rows((1 / finite_spread**2)[votes.columns])
    error = np.divide(1, np.sqrt(weight), out=np.full(len(weight), np.nan), where=weight > 0)
    heard = np.bincount(votes.rows, minlength=votes.shape[0])
    qualities = np.where(heard > 0, state.qualities, np.nan)
    quality_width = error * ndtri((1 + level) / 2)
    biases = np.where(compared, state.biases, np.nan)
    bias_width = unbiased_spread / np.sqrt(np.maximum(counts, 1)) * stdtrit(df, (1 + level) / 2)
    inconsistencies = np.where(compared, state.floored_spread, np.nan)
    parts = (
        (qualities, (qualities - quality_width, qualities + quality_width), heard, "normal"),
        (biases, (biases - bias_width, biases + bias_width), counts, "t"),
        (
            inconsistencies,
            _inconsistency_ends(inconsistencies, unbiased_spread, df, level),
            counts,
            "chi2",
        ),
    )
    estimates = [
        tuple(build_estimates(value, ends, level, n, 0, f"alternating-projection-{name}"))
        for value, ends, n, name in parts
    ]
    return estimates[0], estimates[1], estimates[2]


def _inconsistency_ends(
    values: Floats, unbiased_spread: Floats, df: Floats, level: float
) -> tuple[Floats, Floats]:
    """Return both ends of chi-squared intervals that contain the values."""
    from scipy.special import chdtri

    with np.errstate(divide="ignore"):  # with hardly any degree of freedom there is no upper end
        low, high = (
            unbiased_spread * np.sqrt(df / chdtri(df, (1 - side * level) / 2)) for side in (1, -1)
        )
    return np.minimum(low, values), high


# --- Observer rejection (BT.500) -----------------------------------------------------------------
# ITU-R BT.500, 2.3.1 of annex 1. A vote is an outlier if it is at least 2 standard deviations from
# the mean of all votes on its stimulus, or √20 if these votes are not approximately normal: if
# their kurtosis β₂ is not between 2 and 4. An observer with P votes above, Q below and N votes in
# total is rejected if (P + Q) / N > 0.05 and |P − Q| / (P + Q) < 0.3. An observer who is always
# above or always below is biased, not careless.
#
# Comparisons avoid division and roots, so integer votes are judged exactly: for n votes with sum T,
# the deviation of a vote u is (nu − T) / n. If all votes on a stimulus are equal, there is no
# outlier. With standard deviations of n − 1, no vote among fewer than six can be 2 away, and none
# among fewer than 22 can be √20 away: the rule has no effect in small panels.


NORMAL_KURTOSIS = 2.0, 4.0  # range of kurtosis of approximately normal votes
SQUARED_LIMITS_SDS = 4.0, 20.0  # squared limits in SDs, for normal and for other votes


class Rejection(NamedTuple):
    """Number of votes, outliers above and below, and rejection by observer."""

    votes: Codes
    above: Codes
    below: Codes
    rejected: Bools


def reject_observers(table: Floats, *, outside: float = 0.05, one_side: float = 0.3) -> Rejection:
    """Apply the BT.500 rejection rule; one row per stimulus, NaN without a vote."""
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
    rejected = [
        is_more_than(high + low, count, outside)
        and not is_at_least(abs(high - low), high + low, one_side)
        for count, high, low in rows
    ]
    return Rejection(counts, above, below, np.array(rejected, np.bool_))


def is_more_than(part: int, whole: int, share: float) -> bool:
    """Return whether part / whole exceeds a share, computed exactly for its decimal value.

    >>> is_more_than(3, 20, 0.15), is_more_than(4, 20, 0.15)
    (False, True)
    """
    return part > whole * Fraction(str(share))


def is_at_least(part: int, whole: int, share: float) -> bool:
    """Return whether part / whole is at least a share, computed exactly for its decimal value.

    >>> is_at_least(3, 10, 0.3), is_at_least(2, 10, 0.3)
    (True, False)
    """
    return part >= whole * Fraction(str(share))
