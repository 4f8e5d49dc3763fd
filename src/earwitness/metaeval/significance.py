"""Permutation tests, Williams' test, and values expected by chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from earwitness.metaeval.coefficients import ScoreRatingSample, values
from earwitness.metaeval.levels import ScoreRatingGrid, StudyDraws, at, gaps, steady
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.significance import ratio
from earwitness.stats.votes import Codes

# --- Permutation tests between metrics -----------------------------------------------------------
# If two metrics were as good as each other, it would not matter which of them gave which score. So
# both are brought to mean 0 and standard deviation 1, their scores are swapped for some inputs
# (items) as a whole, for some systems as a whole, or (both) for some cells, each by itself, and the
# difference of the coefficient is taken again. What is swapped says to what the answer generalises:
# to other inputs, to other systems, to both.
#
# Only swaps of systems keep to the chance of a false alarm where metrics have errors by system (one
# likes what a system does, the other does not), as they mostly have: inputs and both take the
# systems for granted, mix the errors of a system away, and find differences between metrics that
# are equally good over systems far too often (of 8 systems in about 2 of 5 tests, of more systems
# more often). They answer whether metrics differ on these very systems.
#
# p = (k + 1) / (n + 1) for k of n swaps with a difference at least as large, so it is never 0.
# Where there are no more swaps of systems than are asked for, all of them are made, and p is the
# share of those (that of none among them). A swap without a value counts as at least as large.


SWAP_UNITS = ("inputs", "systems", "both")
WEIGHTS_IN_MEMORY = 4_000_000  # weights laid out at a time
DIFFERENCE_TOLERANCE = 1e-12  # differences closer than this are equal


def standardised(scores: Floats) -> Floats:
    """Every metric with mean 0 and standard deviation 1 over its known scores; constants are 0."""
    flat = scores.reshape(len(scores), -1)
    largest = np.nanmax(np.abs(flat), axis=1, initial=0, keepdims=True)
    flat = flat / np.where(largest > 0, largest, 1)
    known = ~np.isnan(flat)
    count = known.sum(axis=1, keepdims=True).astype(np.float64)
    mean = ratio(np.where(known, flat, 0).sum(axis=1, keepdims=True), count)
    apart = flat - mean
    sd = np.sqrt(ratio(np.where(known, apart**2, 0).sum(axis=1, keepdims=True), count))
    unit = np.where(sd > DIFFERENCE_TOLERANCE, sd, np.inf)
    return np.asarray((apart / unit).reshape(scores.shape))


def swapped(
    scores: Floats,
    people: Floats,
    pairs: Sequence[tuple[int, int]],
    level: str,
    name: str,
    what: str,
    *,
    permutations: int = 1000,
    seed: int = 0,
) -> Floats:
    """Two-sided p for every pair of metrics (their numbers); NaN where there is no difference.

    ``scores`` are metrics × systems × items, ``people`` systems × items. Cells that either metric
    has no score for are left out of both.
    """
    if what not in SWAP_UNITS:
        raise ValueError(f"what: one of {', '.join(SWAP_UNITS)}, got {what}")
    found = np.full(len(pairs), np.nan)
    both = standardised(scores)[np.array(pairs, np.int64).reshape(-1, 2)]
    for which, known in gaps(both.sum(axis=1)):
        asked = _Asked(both[which], known & ~np.isnan(people), people, name)
        found[which] = _compute_swap_p(asked, level, what, permutations, seed)
    return found


class _Asked(NamedTuple):
    """Pairs of metrics (pairs × 2 × systems × items) that are known for the same cells."""

    both: Floats
    known: Bools
    people: Floats
    name: str


def _compute_swap_p(asked: _Asked, level: str, what: str, permutations: int, seed: int) -> Floats:
    shape = asked.known.shape
    each = {"system": _by_system, "item": _by_item, "global": _pooled}[level]
    observed = _apart(each(asked, np.zeros((1, *shape), bool)))
    larger = np.zeros(len(asked.both))
    whole = what == "systems" and all_swaps(shape[0]) <= permutations
    for masks in _every_mask(shape[0]) if whole else _masks(shape, what, permutations, seed):
        larger += (~(_apart(each(asked, masks)) < observed - DIFFERENCE_TOLERANCE)).sum(axis=0)
    p = larger / all_swaps(shape[0]) if whole else (larger + 1) / (permutations + 1)
    return np.where(np.isnan(observed[0]), np.nan, p)


def all_swaps(systems: int) -> int:
    """How many swaps of systems there are; to swap the others instead makes no difference."""
    return 1 << max(0, systems - 1)


def least_p(systems: int, what: str, permutations: int) -> float:
    """The least p that a test can have."""
    if what == "systems" and all_swaps(systems) <= permutations:
        return 1 / all_swaps(systems)
    return 1 / (permutations + 1)


def _every_mask(systems: int) -> Iterator[Bools]:
    """All swaps of systems, that of none among them."""
    numbers = np.arange(all_swaps(systems))[:, None]
    yield (numbers >> np.arange(systems) & 1).astype(bool)[:, :, None]


def _apart(both: Floats) -> Floats:
    return np.asarray(np.abs(both[0] - both[1]))


def _masks(shape: tuple[int, int], what: str, permutations: int, seed: int) -> Iterator[Bools]:
    """Which cells are swapped: permutations × systems × items in blocks; 1 where all are alike."""
    rng = np.random.Generator(np.random.PCG64((seed, SWAP_UNITS.index(what))))
    rows = max(1, WEIGHTS_IN_MEMORY // max(1, 4 * shape[0] * shape[1]))
    size = {"inputs": (1, shape[1]), "systems": (shape[0], 1), "both": shape}[what]
    for start in range(0, permutations, rows):
        yield rng.random((min(rows, permutations - start), *size)) < 0.5


def _by_system(asked: _Asked, masks: Bools) -> Floats:
    """2 × permutations × pairs: coefficients of means of systems."""
    count = asked.known.sum(axis=1).astype(np.float64)
    kept = count > 0
    cells = np.where(asked.known, asked.both, 0)
    totals = cells.sum(axis=3)
    said = np.where(asked.known, asked.people, 0)
    people = steady(ratio(said.sum(axis=1), count), float(np.abs(said).max(initial=0)))[kept]
    largest = float(np.abs(cells).max(initial=0))
    if masks.shape[2] == 1:
        means = steady(totals / np.maximum(count, 1), largest)[None, ..., kept]
        turned = np.broadcast_to(masks[:, :, 0], (len(masks), len(kept)))  # one item turns them all
        return _chosen(means, people[None], turned[None, :, kept], asked.name)[:, 0]
    turned = masks.swapaxes(0, 1).astype(np.float64)
    found = []
    for own, total in zip(cells, totals, strict=True):
        moved = (turned @ (own[1] - own[0])[:, :, None])[..., 0].T
        sums = np.stack([total[0] + moved, total[1] - moved])
        means = steady(sums / np.maximum(count, 1), largest)
        rows = means[:, :, None, kept].reshape(-1, 1, len(people))
        alike = ScoreRatingSample(rows, np.broadcast_to(people, rows.shape), np.ones(rows.shape))
        found.append(values(alike, [asked.name])[0].reshape(2, -1))
    return np.stack(found, axis=2)


def _by_item(asked: _Asked, masks: Bools) -> Floats:
    """2 × permutations × pairs: means of items' coefficients."""
    scores = np.where(asked.known, asked.both, 0).transpose(3, 0, 1, 2)
    people, known = np.where(asked.known, asked.people, 0).T, asked.known.T
    if masks.shape[1] > 1:
        chosen = np.broadcast_to(masks.transpose(2, 0, 1), (len(known), *masks.shape[:2]))
        found = _chosen(scores, people, chosen, asked.name, known)
        defined = ~np.isnan(found)
        return ratio(np.where(defined, found, 0).sum(axis=1), defined.sum(axis=1) * 1.0)
    # Whole items are swapped, and with them their values.
    found = _chosen(
        scores, people, np.zeros((len(known), 1, known.shape[1]), bool), asked.name, known
    )
    defined = ~np.isnan(found)
    turned = np.stack([masks[:, 0], ~masks[:, 0]]).astype(np.float64)
    sums = (
        (1 - turned) @ part[0, :, 0] + turned @ part[1, :, 0]
        for part in (np.where(defined, found, 0), defined.astype(np.float64))
    )
    return ratio(*sums)


def _pooled(asked: _Asked, masks: Bools) -> Floats:
    """2 × permutations × pairs: coefficients of all cells."""
    known = asked.known
    cells = np.broadcast_to(masks, (len(masks), *known.shape))[None, :, known]
    return _chosen(asked.both[None, :, :, known], asked.people[None, known], cells, asked.name)[
        :, 0
    ]


def _chosen(
    scores: Floats, people: Floats, masks: Bools, name: str, known: Bools | None = None
) -> Floats:
    """2 × groups × permutations × pairs: coefficients of both metrics where things are swapped.

    ``scores`` are groups × pairs × 2 × things. Scores of both metrics are things, and a swap says
    which of them weigh 1 and which nothing.
    """
    groups, rows, _, things = scores.shape
    first = np.concatenate([~masks, masks], axis=2)
    weights = np.concatenate([first, ~first], axis=1).astype(np.float64)
    if known is not None:
        weights *= np.tile(known, 2)[:, None]
    sample = ScoreRatingSample(
        scores.reshape(groups, rows, 2 * things), np.tile(people, 2)[:, None], weights
    )
    found = values(sample, [name])[0].reshape(groups, 2, -1, rows)
    return np.asarray(found.swapaxes(0, 1))


# --- Tests of dependent correlations -------------------------------------------------------------
# Two metrics on the same points share people, and often much of their error; so their correlations
# with people are not independent. Williams' t (in Steiger's form, n − 3 degrees of freedom) allows
# for that: it takes the two correlations with people and that of the metrics with one another.
#
# All p are two-sided, and all arguments may be arrays that broadcast. What is undefined has NaN:
# too few points, a correlation that is not between −1 and 1, three correlations that cannot hold
# together (they may come of different points). Where nothing could differ, as with two metrics that
# are the same, there is no statistic either, and p is 1 if they are alike.


ROUNDING_TOLERANCE = 1e-12  # differences and determinants smaller than this are of rounding alone


class Difference(NamedTuple):
    """Statistics, above 0 where the first is the larger, and their two-sided p."""

    statistic: Floats
    p: Floats


def williams(first: ArrayLike, second: ArrayLike, between: ArrayLike, n: ArrayLike) -> Difference:
    """Williams' t for two correlations with people, and the one ``between`` the metrics.

    >>> [round(float(x), 4) for x in williams(0.3, 0.4, 0.5, 100)]
    [-1.0767, 0.2843]
    """
    from scipy.special import stdtr

    a, b, c, n = _floats(first, second, between, n)
    whole = _determinant(a, b, c)
    freedom = np.where(n > 3, n - 3, np.nan)
    varies = 2 * (n - 1) / freedom * whole + ((a + b) / 2) ** 2 * (1 - c) ** 3
    t = _over((a - b) * np.sqrt(np.maximum(0, (n - 1) * (1 + c))), varies)
    return Difference(t, _mask_undefined_p(2 * stdtr(freedom, -np.abs(t)), varies, a, b))


def _floats(*given: ArrayLike) -> list[Floats]:
    return list(np.broadcast_arrays(*(np.asarray(each, np.float64) for each in given)))


def _determinant(a: Floats, b: Floats, c: Floats) -> Floats:
    """Of the three correlations; NaN where they cannot hold together."""
    found = 1 - a * a - b * b - c * c + 2 * a * b * c
    possible = (found >= -ROUNDING_TOLERANCE) & (
        np.maximum(np.maximum(np.abs(a), np.abs(b)), np.abs(c)) <= 1
    )
    return np.where(possible, np.maximum(0, found), np.nan)


def _over(difference: Floats, varies: Floats) -> Floats:
    """The difference over its spread; NaN where nothing varies."""
    return ratio(difference, np.sqrt(np.where(varies > ROUNDING_TOLERANCE, varies, 0)))


def _mask_undefined_p(p: Floats, varies: Floats, first: Floats, second: Floats) -> Floats:
    """1 where nothing varies and both are alike."""
    still: Bools = (varies <= ROUNDING_TOLERANCE) & (np.abs(first - second) <= ROUNDING_TOLERANCE)
    return np.where(still, 1.0, p)


# --- Values expected by chance -------------------------------------------------------------------
# The systems of people are dealt anew: what people said of one system, on all items, is held
# against what the metric said of another. Whatever a metric favours, and however scores of a system
# hang together, it is then by chance alone that it agrees. (Noise that is new for every cell would
# not do over items: metrics that favour systems agree, or disagree, with people in all items at
# once.)
#
# Over all cells at once items are dealt anew, too: a metric that knows which items are hard agrees
# with people there, and knows something.
#
# All metrics take turns, so that the values are those of metrics like these.


NUMBERS_IN_MEMORY = 1_000_000  # numbers laid out at a time


def dealt(grid: ScoreRatingGrid, level: str, names: Sequence[str], draws: int, seed: int) -> Floats:
    """Coefficients × draws."""
    metrics, systems, items = grid.scores.shape
    rng = np.random.Generator(np.random.PCG64((seed, 9)))
    orders = np.argsort(rng.random((draws, systems)), axis=1, kind="stable")
    columns = np.argsort(rng.random((draws, items)), axis=1, kind="stable")
    rows = max(1, NUMBERS_IN_MEMORY // max(1, items * systems * systems))
    found = np.full((len(names), draws), np.nan)
    for metric in range(metrics):
        own = np.arange(metric, draws, metrics)
        for start in range(0, len(own), rows):
            some = own[start : start + rows]
            if level == "global":
                found[:, some] = _moved(grid, metric, (orders[some], columns[some]), names)
                continue
            weights = np.ones((len(some), systems)), np.ones((len(some), items))
            drawn = StudyDraws(*weights, grid.people[orders[some]])
            found[:, some] = at(level, grid.scores[metric, None], drawn, names)[0][:, :, 0]
    return found


def _moved(
    grid: ScoreRatingGrid, metric: int, orders: tuple[Codes, Codes], names: Sequence[str]
) -> Floats:
    """Coefficients × draws over all cells: scores are dealt anew, so people are sorted but once."""
    _, systems, items = grid.scores.shape
    scores = grid.scores[metric][orders[0][:, :, None], orders[1][:, None, :]]
    once = StudyDraws(np.ones((1, systems)), np.ones((1, items)), grid.people[None])
    return at("global", scores, once, names)[0][:, 0]
