"""What people say of systems and items: mean votes, or abilities where they chose between two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from earwitness.concordance.joined import Joined
from earwitness.data import Rating
from earwitness.stats.bradley_terry import fitted
from earwitness.stats.concord.levels import people
from earwitness.stats.exact import Floats
from earwitness.stats.separation import Choices
from earwitness.stats.votes import Votes


@dataclass(frozen=True)
class Abilities:
    """Choices between systems, from which abilities follow (Bradley–Terry); every item has these.

    Where some would not be finite, half a vote each way is added for every pair.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    outcomes: tuple[int, ...]
    items: tuple[int, ...]
    listeners: tuple[int, ...]
    size: tuple[int, int, int]

    @property
    def raters(self) -> int:
        return self.size[2]

    def drawn(self, raters: Floats, items: Floats) -> Floats:
        """Draws × systems × items, when raters and items count so often."""
        own = np.array(self.listeners), np.array(self.items)
        times = (raters[:, own[0]] * items[:, own[1]]).astype(np.int64)
        found = np.stack([self._fitted(row) for row in times])
        return np.repeat(found[:, :, None], self.size[1], axis=2)

    def _fitted(self, times: np.typing.NDArray[np.int64]) -> Floats:
        def repeated(column: Sequence[int]) -> np.typing.NDArray[np.int64]:
            return np.repeat(np.array(column, np.int64), times)

        votes = Choices(
            repeated(self.first),
            repeated(self.second),
            repeated(self.outcomes),
            repeated(self.listeners),
            (self.size[0], self.size[2]),
        )
        found = fitted(votes).abilities
        if not np.isfinite(found).all():  # somebody always won, or always lost
            found = fitted(_eased(votes)).abilities
        return np.where(np.isfinite(found), found, np.nan)


def _eased(votes: Choices) -> Choices:
    """With half a vote each way for every pair that was compared, so that nobody always wins."""
    pairs = np.unique(np.stack([votes.first, votes.second]), axis=1)
    whole = [np.concatenate([column, column]) for column in (votes.first, votes.second)]
    one = np.ones(pairs.shape[1], np.int64)
    return Choices(
        np.concatenate([whole[0], pairs[0], pairs[0]]),
        np.concatenate([whole[1], pairs[1], pairs[1]]),
        np.concatenate([votes.outcomes, votes.outcomes, one, -one]),
        np.concatenate([votes.listeners, votes.listeners, 0 * one, 0 * one]),
        votes.size,
    )


def abilities(joined: Joined) -> Abilities:
    """Choices as numbers."""
    row = {name: n for n, name in enumerate(joined.systems)}
    column = {name: n for n, name in enumerate(joined.items)}
    who = {one: n for n, one in enumerate(dict.fromkeys(r.listener for r in joined.ratings))}
    other = [_other(one) for one in joined.ratings]
    return Abilities(
        tuple(row[one.key.system] for one in joined.ratings),
        tuple(row[name] for name in other),
        tuple(int(np.sign(one.value)) for one in joined.ratings),
        tuple(column[one.key.item] for one in joined.ratings),
        tuple(who[one.listener] for one in joined.ratings),
        (len(row), len(column), len(who)),
    )


def _other(rating: Rating) -> str:
    assert rating.against is not None
    return rating.against.system


def voices(joined: Joined) -> Votes | Abilities:
    """Votes, or what stands for them."""
    return abilities(joined) if joined.paired else joined.votes


def means(given: Votes | Abilities) -> Floats:
    """Systems × items."""
    if isinstance(given, Votes):
        return np.asarray(people(given)[0])
    _, items, raters = given.size
    return np.asarray(given.drawn(np.ones((1, raters)), np.ones((1, items)))[0])
