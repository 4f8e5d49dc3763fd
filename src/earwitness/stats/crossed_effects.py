"""Likelihood of votes with crossed random effects of listeners and items, system by system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.votes import Codes, Votes

# A vote is the mean of its system plus random effects of listener, item, listener × system and item
# × system, plus a residual. The covariance of votes, in units of the residual variance, is
#
#     V = W + Z G Z',
#
# where W has the residual and all effects that belong to one system, so that it consists of one
# block per system, and Z has the others: listeners and items that occur with several systems. With
# B = [X Z], where X has one column per system, everything that the likelihood needs follows from
#
#     H = B'W⁻¹B and K = (diag(0, G⁻¹) + H)⁻¹:
#
# P = W⁻¹ − W⁻¹BKB'W⁻¹, and log |V| + log |X'V⁻¹X| = log |W| + log |K⁻¹| + log |G| (Henderson's
# mixed-model equations, with X as an effect of infinite variance). Within a system, a column of Z
# equals that of the listener or item itself, so H is a sum over systems of A = F'W⁻¹F, where F has
# one column per listener and per item of the system. Of A only the rows of the smaller side,
# listeners or items, are formed: levels of one side share no votes, so the rest is diagonal plus a
# product of low rank.
#
# No matrix has more rows than a system has listeners and items, or than there are systems,
# listeners and items of several systems. That is why traces of P are exact for tens of thousands of
# votes: a sparse factorization of all effects would be small as well, but traces need its inverse.


RESIDUAL = "residual"
MAIN_EFFECTS = {"listener": 0, "item": 1}  # and the part of a block whose columns they have
SYSTEM_EFFECTS = {"listener_system": 0, "item_system": 1}
SMALL_RELATIVE_VARIANCE = 1e-6  # below it, differences of nearly equal numbers are avoided


@dataclass(frozen=True)
class SystemBlock:
    """Votes on one system: the side (listeners or items) with fewer levels first, then the other.

    ``counts`` has the number of votes for each combination, ``sums`` the sum of votes by level.
    ``members`` has 1 if an effect of a level belongs to a component and to no other system.
    ``shared`` are the levels that occur with other systems, ``border`` are the columns of the
    system and of these levels in B.
    """

    counts: Floats
    sums: Floats
    members: Floats
    shared: Codes
    border: Codes

    @property
    def split(self) -> int:
        """Number of levels of the smaller side."""
        return len(self.counts)


@dataclass(frozen=True)
class CrossProducts:
    """Numbers and sums of votes of a model with the components ``names``.

    ``border`` has the component of each column of Z, ``yy`` the sum of squares of votes minus the
    plain means of their systems (``centre``).
    """

    names: tuple[str, ...]
    blocks: tuple[SystemBlock, ...]
    border: Codes
    yy: float
    votes: int
    centre: Floats

    @property
    def residual_df(self) -> int:
        """Number of votes minus number of systems."""
        return self.votes - len(self.blocks)


class LikelihoodPoint(NamedTuple):
    """Likelihood at given variances; all but ``loglik`` in units of the residual variance.

    ``traces`` has tr(P Vj P Vk), ``cubes`` y'P Vj P Vk P y and ``squares`` y'P Vj P y, with the
    residual last. ``shift`` is the difference between estimated and plain means, ``spread`` their
    covariance, and ``slopes`` its derivative by each variance.
    """

    loglik: float
    traces: Floats
    cubes: Floats
    squares: Floats
    slopes: Floats
    shift: Floats
    spread: Floats


def border_size(votes: Votes) -> int:
    """Return the number of systems and of listeners and items that occur with several systems."""
    return len(np.unique(votes.systems)) + sum(
        int(_is_shared(codes, votes.systems).sum()) for codes in (votes.listeners, votes.items)
    )


def _is_shared(codes: Codes, systems: Codes) -> Bools:
    """Return by number whether a listener or item occurs with several systems."""
    pairs = np.unique(codes * (systems.max() + 1) + systems) // (systems.max() + 1)
    return np.bincount(pairs, minlength=int(codes.max()) + 1) > 1


def cross_products(votes: Votes, names: tuple[str, ...]) -> CrossProducts:
    """Return the cross products of a model with the named components."""
    system = number_levels(votes.systems)
    sides = number_levels(votes.listeners), number_levels(votes.items)
    count = np.bincount(system).astype(np.float64)
    centre = np.bincount(system, votes.values) / count
    y = votes.values - centre[system]
    shared = [_is_shared(codes, system) for codes in sides]
    columns, border = [], list[int]()
    for name, side in MAIN_EFFECTS.items():
        in_border = shared[side] & (name in names)
        columns.append(np.where(in_border, np.cumsum(in_border) - 1 + len(count) + len(border), -1))
        border += [names.index(name)] * int(in_border.sum()) if name in names else []
    order = np.argsort(system, kind="stable")
    blocks = [
        _system_block(number, names, [codes[rows] for codes in sides], y[rows], (shared, columns))
        for number, rows in enumerate(np.split(order, np.cumsum(np.bincount(system))[:-1]))
    ]
    return CrossProducts(
        names, tuple(blocks), np.array(border, np.int64), float(y @ y), len(y), centre
    )


def _system_block(
    number: int,
    names: tuple[str, ...],
    sides: Sequence[Codes],
    y: Floats,
    levels: tuple[Sequence[Bools], Sequence[Codes]],
) -> SystemBlock:
    found = [np.unique(codes, return_inverse=True) for codes in sides]
    order = sorted((0, 1), key=lambda side: len(found[side][0]))  # the smaller side first
    (_, a), (_, b) = (found[side] for side in order)
    members, columns = [], []
    for side in order:
        numbers = found[side][0]
        is_alone = ~levels[0][side][numbers]
        of_side = {name: is_alone for name, main in MAIN_EFFECTS.items() if main == side}
        of_side |= {
            name: np.ones_like(is_alone) for name, part in SYSTEM_EFFECTS.items() if part == side
        }
        none = np.zeros_like(is_alone)
        members.append(np.array([of_side.get(name, none) for name in names]).T)
        columns.append(levels[1][side][numbers])
    column = np.concatenate(columns)
    shared = np.flatnonzero(column >= 0)
    shape = len(columns[0]), len(columns[1])
    return SystemBlock(
        np.bincount(a * shape[1] + b, minlength=shape[0] * shape[1])
        .reshape(shape)
        .astype(np.float64),
        np.concatenate([np.bincount(a, y), np.bincount(b, y)]),
        np.concatenate(members).astype(np.float64).reshape(sum(shape), len(names)),
        shared,
        np.append(number, column[shared]),
    )


def component_codes(votes: Votes, name: str) -> Codes:
    """Return the level of each vote, with gaps."""
    return {
        "listener": votes.listeners,
        "item": votes.items,
        "listener_system": votes.listeners * votes.size[0] + votes.systems,
        "item_system": votes.stimuli,
    }[name]


def number_levels(levels: Codes) -> Codes:
    """Return levels numbered from 0 without gaps."""
    return np.unique(levels, return_inverse=True)[1].reshape(-1)


class SolvedBlock(NamedTuple):
    """A = F'W⁻¹F of one system, as the rows of its smaller side, and what the other side adds.

    The rows and columns of the other side are ``diagonal`` − R'R, with the columns of ``root``.
    ``sums`` is F'W⁻¹y; ``explained`` is y'y − y'W⁻¹y.
    """

    rows: Floats
    diagonal: Floats
    root: Floats
    sums: Floats
    explained: float
    logdet: float

    def multiply(self, vectors: Floats) -> Floats:
        """Return A times columns."""
        split = len(self.rows)
        first, second = vectors[:split], vectors[split:]
        lower = self.rows[:, split:].T @ first + self.diagonal[:, None] * second
        lower -= self.root.T @ (self.root @ second)
        return np.concatenate([self.rows @ vectors, lower])

    def columns(self, which: Codes) -> Floats:
        """Return some columns of A, in ascending order."""
        split = len(self.rows)
        first, second = which[which < split], which[which >= split] - split
        chosen = np.empty((self.rows.shape[1], len(which)))
        chosen[:split] = self.rows[:, which]
        chosen[split:, : len(first)] = self.rows[first, split:].T
        lower = chosen[split:, len(first) :]
        np.matmul(-self.root.T, self.root[:, second], out=lower)
        lower[second, np.arange(len(second))] += self.diagonal[second]
        return chosen

    def diagonal_of_all(self) -> Floats:
        """Return the diagonal of A."""
        return np.append(np.diag(self.rows), self.diagonal - (self.root**2).sum(axis=0))


def _solve_block(block: SystemBlock, relative: Floats) -> SolvedBlock:
    """Eliminate the larger side, which is diagonal, then factorize what remains of the smaller."""
    from scipy.linalg import cholesky, solve_triangular

    split = block.split
    variance = block.members @ relative
    count = block.counts.sum(axis=0)
    scale = 1 + variance[split:] * count
    weighted = block.counts * (variance[split:] / scale)
    rows = np.column_stack([-weighted @ block.counts.T, block.counts / scale])
    rows[np.arange(split), np.arange(split)] += block.counts.sum(axis=1)
    root = np.sqrt(variance[:split])
    factor = cholesky(
        np.eye(split) + root[:, None] * rows[:, :split] * root, lower=True, check_finite=False
    )
    sums = np.concatenate(
        [block.sums[:split] - weighted @ block.sums[split:], block.sums[split:] / scale]
    )
    right = root[:, None] * np.column_stack([rows, sums[:split]])
    solved = solve_triangular(factor, right, lower=True, overwrite_b=True, check_finite=False)
    solved, by_sums = solved[:, :-1], solved[:, -1]
    explained = (variance[split:] * block.sums[split:]) @ sums[split:] + by_sums @ by_sums
    return SolvedBlock(
        rows - solved[:, :split].T @ solved,
        count / scale,
        np.ascontiguousarray(solved[:, split:]),
        sums - solved.T @ by_sums,
        float(explained),
        float(np.log(scale).sum() + 2 * np.log(np.diag(factor)).sum()),
    )


def _border_columns(block: SystemBlock, solved: SolvedBlock) -> Floats:
    """Return F'W⁻¹B of one system: the columns of the system and of its shared levels."""
    ones = np.zeros((len(block.sums), 1))
    ones[: block.split] = 1.0  # the columns of either side add up to that of the system
    return np.column_stack([solved.multiply(ones), solved.columns(block.shared)])


def _border_rows(block: SystemBlock, rows: Floats) -> Floats:
    """Return the rows of the system and of its shared levels, given those of all its levels."""
    return np.concatenate([rows[: block.split].sum(axis=0, keepdims=True), rows[block.shared]])


class SolvedBorder(NamedTuple):
    """The border solved: H, K, Q = I − HK, K times ``sums`` (B'W⁻¹y), and log |K⁻¹| + log |G|.

    Rows of Q are those of K times ``factor``, but for those of variances that are ``zero``.
    ``root`` has L⁻¹D, with K = D (LL')⁻¹ D, so that quadratic forms of K are sums of squares.
    """

    h: Floats
    k: Floats
    q: Floats
    factor: Floats
    zero: Codes
    root: Floats
    sums: Floats
    effects: Floats
    logdet: float


def _solve_border(
    model: CrossProducts, solved: Sequence[SolvedBlock], relative: Floats
) -> SolvedBorder:
    from scipy.linalg import cholesky, solve_triangular

    systems, size = len(model.blocks), len(model.blocks) + len(model.border)
    h, sums = np.zeros((size, size)), np.zeros(size)
    for block, part in zip(model.blocks, solved, strict=True):
        columns = _border_columns(block, part)
        h[np.ix_(block.border, block.border)] += _border_rows(block, columns)
        sums[block.border] += _border_rows(block, part.sums)
    # K = D (E + DHD)⁻¹ D, where D has the roots of variances and E is 1, but D is 1 and E is 0 for
    # systems: this is defined for variances of 0 as well.
    scale = np.append(np.ones(systems), np.sqrt(relative[model.border]))
    inner = scale[:, None] * h * scale
    inner[np.arange(systems, size), np.arange(systems, size)] += 1
    lower = cholesky(inner, lower=True, check_finite=False)
    root = solve_triangular(lower, np.diag(scale), lower=True, check_finite=False)
    k = root.T @ root
    # I − HK = D⁻¹ E (E + DHD)⁻¹ D, without the cancellation of I and HK where variances are large
    factor, zero = np.zeros(size), np.flatnonzero(scale == 0)
    np.divide(1, scale**2, out=factor, where=(scale > 0) & (np.arange(size) >= systems))
    q = factor[:, None] * k
    q[zero] = -h[zero] @ k
    q[zero, zero] += 1
    effects = root.T @ (root @ sums)
    logdet = float(2 * np.log(np.diag(lower)).sum())
    return SolvedBorder(h, k, q, factor, zero, root, sums, effects, logdet)


def _times_border(block: SystemBlock, part: SolvedBlock, y: Floats, matrix: Floats) -> Floats:
    """Return Y times a matrix; by the parts of A if its smaller side is much smaller."""
    if 3 * block.split > len(block.sums):
        return y @ matrix
    spread = np.zeros((len(block.sums), matrix.shape[1]))
    spread[block.shared] = matrix[1:]
    spread[: block.split] += matrix[0]
    return part.multiply(spread)


def evaluate_likelihood(model: CrossProducts, variances: Floats) -> LikelihoodPoint:
    """Evaluate the model at the variances of its components, with the residual last."""
    relative, systems = variances[:-1] / variances[-1], len(model.blocks)
    solved = [_solve_block(block, relative) for block in model.blocks]
    border = _solve_border(model, solved, relative)
    explained = sum(part.explained for part in solved) + ((border.root @ border.sums) ** 2).sum()
    loglik = -0.5 * (
        model.residual_df * np.log(2 * np.pi * variances[-1])
        + sum(part.logdet for part in solved)
        + border.logdet
        + (model.yy - explained) / variances[-1]
    )
    moments = _likelihood_moments(model, solved, border, relative, model.yy - explained)
    spread = border.k[:systems, :systems]
    return LikelihoodPoint(float(loglik), *moments, border.effects[:systems], spread)


def _likelihood_moments(
    model: CrossProducts,
    solved: Sequence[SolvedBlock],
    border: SolvedBorder,
    relative: Floats,
    ypy: float,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return traces, cubes, squares and slopes; those of the residual follow, since PVP = P.

    An effect is either a column of the border or one of a system. Sums over two effects of systems
    s and t use that their part of Z'PZ is A (if s = t) minus Y K Y', with Y = F'W⁻¹B of each: its
    squares add up to the trace of K Sj K Sk, where Sj is the sum of Y'Y over effects of j.
    """
    systems, size, count = len(model.blocks), len(border.h), len(model.names)
    members = np.zeros((size, count))
    members[systems + np.arange(len(model.border)), model.border] = 1
    q, factor = border.q, border.factor
    # Z'PZ of the border: QH, or from KH = I − Q' if no variance is close to 0
    is_close = len(border.zero) or factor.max(initial=0.0) > 1 / SMALL_RELATIVE_VARIANCE
    zpz = q @ border.h if is_close else factor[:, None] * (np.eye(size) - q.T)
    zpy = border.sums - border.h @ border.effects
    singles, squares = members.T @ np.diag(zpz), members.T @ zpy**2
    traces, cubes = members.T @ zpz**2 @ members, np.zeros((count, count))
    sway = -q[:, :systems]  # Z'V⁻¹X times the covariance of means
    slopes = np.array([sway.T @ (members[:, [j]] * sway) for j in range(count)])
    products, pulls = np.zeros((count, size, size)), np.zeros((size, count))
    for block, part in zip(model.blocks, solved, strict=True):
        place, inside = block.border, np.ix_(block.border, block.border)
        y = _border_columns(block, part)
        yk = _times_border(block, part, y, border.k[inside])
        singles += block.members.T @ (part.diagonal_of_all() - (yk * y).sum(axis=1))
        traces += _block_traces(block, part, y, yk)
        sway, is_member = y @ border.k[place, :systems], block.members > 0
        for j in np.flatnonzero(is_member.any(axis=0)).tolist():
            chosen, swayed = y[is_member[:, j]], sway[is_member[:, j]]
            products[j][inside] += chosen.T @ chosen
            slopes[j] += swayed.T @ swayed
        local = part.sums - y @ border.effects[place]
        squares += block.members.T @ local**2
        effects = block.members * local[:, None]
        effects[block.shared] += members[place[1:]] * zpy[place[1:], None]
        pulled = part.multiply(effects)
        cubes += effects.T @ pulled
        pulls[place] += _border_rows(block, pulled)
    rooted = border.root @ pulls
    cubes -= rooted.T @ rooted
    has_local = np.flatnonzero([block.any() for block in products])
    k_products = {j: border.k @ products[j] for j in has_local.tolist()}
    for j, first in k_products.items():
        q_product = factor[:, None] * first
        q_product[border.zero] = q[border.zero] @ products[j]
        beside = members.T @ (q_product * q).sum(axis=1)
        traces[:, j] += beside
        traces[j] += beside
        for k, second in k_products.items():
            traces[j, k] += (first * second.T).sum()
    squares = np.append(squares, ypy - relative @ squares)
    singles = np.append(singles, model.residual_df - relative @ singles)
    rest = border.k[:systems, :systems] - np.tensordot(relative, slopes, 1)
    return (
        _add_residual_border((traces + traces.T) / 2, relative, singles),
        _add_residual_border((cubes + cubes.T) / 2, relative, squares),
        squares,
        np.concatenate([slopes, rest[None]]),
    )


def _block_traces(block: SystemBlock, part: SolvedBlock, y: Floats, yk: Floats) -> Floats:
    """Return sums of squares of A − Y K Y', without those of Y K Y', by two components."""
    split = block.split
    small, large = block.members[:split], block.members[split:]
    squares = small.T @ (part.rows * (part.rows - 2 * (yk[:split] @ y.T)))
    mixed = squares[:, split:] @ large
    traces = squares[:, :split] @ small + mixed + mixed.T
    both = (part.root**2).sum(axis=0) + (yk[split:] * y[split:]).sum(axis=1)
    own = part.diagonal * (part.diagonal - 2 * both)
    traces += large.T @ (own[:, None] * large)
    rooted = {}
    for j in np.flatnonzero(large.any(axis=0)).tolist():
        chosen = large[:, j] > 0
        root = part.root[:, chosen]
        rooted[j] = root @ root.T, root @ yk[split:][chosen], root @ y[split:][chosen]
    for j, (gram, by_yk, _) in rooted.items():
        for k, (other, _, by_y) in rooted.items():
            traces[j, k] += (gram * other).sum() + 2 * (by_yk * by_y).sum()
    return np.asarray(traces)


def _add_residual_border(inner: Floats, ratios: Floats, sums: Floats) -> Floats:
    """Add a row and a column such that rows weighted by relative variances give the sums."""
    border = sums[:-1] - inner @ ratios
    corner = sums[-1] - ratios @ border
    return np.block([[inner, border[:, None]], [border, corner]])
