"""The same outputs against fewer references: some of each item's, drawn again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from earwitness.api.collect import Hashes, Ints
from earwitness.api.family import Families, Floats
from earwitness.data import Cases
from earwitness.errors import UsageError
from earwitness.stats.few import few


@dataclass(frozen=True)
class Drawn:
    """Values of cases against so many references; which draw of these it was, from 1."""

    references: int
    draw: int
    values: Floats


@dataclass(frozen=True)
class Fewer:
    """How many references of an item count, how often they are drawn, and from which seed.

    ``most`` is how many an item has at most.
    """

    counts: tuple[int, ...] = ()
    repeats: int = 5
    seed: int = 0
    most: int = 1

    def among(self, have: Ints) -> Fewer:
        """The same, of items with so many references."""
        return replace(self, most=int(have.max(initial=1)))

    def values(self, families: Families, cases: Cases, hashes: Hashes) -> Iterator[Drawn]:
        """Cases measured once more with every draw; as many as there are, or more, are no draw."""
        have = cases.counts
        for count in self.counts:
            for draw in range(1, self.repeats + 1) if count < self.most else ():
                rows = few(have, hashes, count, self.seed, draw)
                own = cases.keep(rows, np.minimum(have, count))
                yield Drawn(count, draw, families.score(families.measure(own)))

    @property
    def signature(self) -> str:
        """With a bar before it; nothing if nothing is drawn."""
        counts = "+".join(map(str, self.counts))
        how = f"fewer(references={counts},repeats={self.repeats},seed={self.seed})"
        return f"|{how}" if self.counts else ""

    def notes(self, have: Ints) -> Iterator[str]:
        """What could not be drawn."""
        for count in self.counts:
            short = int((have < count).sum())
            if count > self.most:
                yield f"no item has {count} references: there are no scores with so many"
            elif short:
                items = "item has" if short == 1 else "items have"
                yield f"{short:,} {items} fewer than {count} references; all of these count"


def fewer_of(counts: Sequence[int] | int, repeats: int, seed: int, *, joined: bool) -> Fewer:
    """What is asked for, in order; refused if it cannot be drawn or has nowhere to go."""
    given = [counts] if isinstance(counts, int) else list(counts)
    for count in given:
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise UsageError(f"fewer references: a whole number from 1 on, got {count!r}")
    if given and not joined:
        raise UsageError("fewer references need a references file")
    return Fewer(tuple(sorted({*given})), repeats, seed)
