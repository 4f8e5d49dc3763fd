"""Observers whose votes lie outside too often, and on both sides: ITU-R BT.500, 2.3.1 of annex 1.

A vote lies outside where it is at least 2 standard deviations from the mean of all votes on its
stimulus, or √20 where those votes are not about normal: where their kurtosis β₂ is not between 2
and 4. An observer is rejected with (P + Q) / N > 0.05 and |P − Q| / (P + Q) < 0.3, with P votes
above, Q below, and N votes in all. Who is always above or always below is biased, not careless.

Everything is compared without division or root, so whole votes are judged exactly: for n votes with
sum T, the deviation of a vote u is (nu − T) / n. Where all votes on a stimulus are equal nobody is
outside. With standard deviations of n − 1, no vote among fewer than six can be 2 away, nor one
among fewer than 22 √20 away: the rule is blind in small panels.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from earwitness.stats.exact import Bools, Floats
from earwitness.stats.votes import Codes

NORMAL = 2.0, 4.0  # kurtosis of votes that are about normal
SQUARED = 4.0, 20.0  # standard deviations, squared, for those and for others


class Rejection(NamedTuple):
    """By observer: votes, those above and below, and whether the observer is rejected."""

    votes: Codes
    above: Codes
    below: Codes
    rejected: Bools


def rejection(table: Floats, *, outside: float = 0.05, one_side: float = 0.3) -> Rejection:
    """Judge a table with a row a stimulus and a column an observer; NaN where no vote is."""
    there = ~np.isnan(table)
    votes = np.where(there, table, 0.0)
    n = there.sum(axis=1, keepdims=True)
    away = np.where(there, n * votes - votes.sum(axis=1, keepdims=True), 0.0)
    squares = (away**2).sum(axis=1, keepdims=True)
    fourth = n * (away**4).sum(axis=1, keepdims=True)
    normal = (NORMAL[0] * squares**2 <= fourth) & (fourth <= NORMAL[1] * squares**2)
    limit = np.where(normal, *SQUARED)
    far = there & (squares > 0) & (away**2 * (n - 1) >= limit * squares)
    above, below = (far & (away > 0)).sum(axis=0), (far & (away < 0)).sum(axis=0)
    counts = there.sum(axis=0)
    judged = zip(counts.tolist(), above.tolist(), below.tolist(), strict=True)
    rejected = [_rejected(*one, outside, one_side) for one in judged]
    return Rejection(counts, above, below, np.array(rejected, np.bool_))


def _rejected(votes: int, above: int, below: int, outside: float, one_side: float) -> bool:
    far = above + below
    return more_than(far, votes, outside) and not at_least(abs(above - below), far, one_side)


def more_than(part: int, whole: int, share: float) -> bool:
    """Whether part of a whole is more than a share, as it is written.

    >>> more_than(3, 20, 0.15), more_than(4, 20, 0.15)
    (False, True)
    """
    return part > whole * Fraction(str(share))


def at_least(part: int, whole: int, share: float) -> bool:
    """Whether part of a whole is a share, as it is written, or more.

    >>> at_least(3, 10, 0.3), at_least(2, 10, 0.3)
    (True, False)
    """
    return part >= whole * Fraction(str(share))
