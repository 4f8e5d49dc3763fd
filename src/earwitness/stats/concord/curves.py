"""Concordance with fewer raters, or with fewer items, and with more.

So many raters (or items) are drawn with replacement, again and again; other things stay as they
are. A number beyond what there is says what could be expected of more like these.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from earwitness.stats.concord.levels import Drawn, at, people
from earwitness.stats.exact import Floats
from earwitness.stats.votes import Votes

HELD = 2_000_000  # numbers laid out at a time
WHAT = ("raters", "items")


def with_count(
    scores: Floats,
    votes: Votes | Floats,
    level: str,
    name: str,
    what: str,
    count: int,
    *,
    draws: int = 200,
    seed: int = 0,
) -> Floats:
    """Draws × metrics: a coefficient with so many raters or items."""
    if what not in WHAT or (what == "raters" and not isinstance(votes, Votes)):
        raise ValueError(f"what: raters (where votes are known) or items, got {what}")
    _, systems, items = scores.shape
    whole = votes.size[2] if what == "raters" and isinstance(votes, Votes) else items
    rng = np.random.Generator(np.random.PCG64((seed, WHAT.index(what), count)))
    weights = rng.multinomial(count, np.full(whole, 1 / whole), size=draws).astype(np.float64)
    fixed = people(votes) if isinstance(votes, Votes) else votes[None]
    rows = max(1, HELD // max(1, systems * items * (systems if level == "item" else 1)))
    found = [np.empty((0, len(scores)))]
    for start in range(0, draws, rows):
        own = weights[start : start + rows]
        ones = np.ones((len(own), systems))
        if what == "raters" and isinstance(votes, Votes):
            drawn = Drawn(ones, np.ones((len(own), items)), people(votes, own))
        else:
            drawn = Drawn(ones, own, fixed)
        found.append(at(level, scores, drawn, [name])[0][0])
    return np.concatenate(found)


def enough(counts: Sequence[int], means: Floats, halves: Floats, gain: float, spread: float) -> int:
    """The least count that is enough; 0 if none is.

    It is where twice as many would gain less than ``gain``, and half the range of draws is at most
    ``spread``. ``means`` and ``halves`` (half ranges) are those with each count. Between counts
    means are taken to change with the logarithm.

    >>> means, halves = np.array([0.5, 0.6, 0.63, 0.64]), np.array([0.3, 0.2, 0.1, 0.05])
    >>> enough([1, 2, 4, 8], means, halves, 0.02, 0.1)
    4
    >>> enough([1, 2, 4, 8], means, halves, 0.02, 0.08)
    0
    """
    at_counts = np.log2(np.asarray(counts, np.float64))
    for place, count in enumerate(counts):
        double = at_counts[place] + 1
        if double > at_counts[-1] + 1e-9:
            return 0
        gained = np.interp(double, at_counts, means) - means[place]
        if gained < gain and halves[place] <= spread:
            return count
    return 0
