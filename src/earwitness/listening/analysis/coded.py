"""Ratings of one scale as columns of numbers, with the names that the numbers stand for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from earwitness.data import Rating, Who
from earwitness.stats.votes import Codes, Votes

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Coded:
    """Votes on one scale; number n of systems, items and listeners is the n-th name.

    Where systems are rated against different others, a pair takes the place of a system.
    """

    scale: str
    ratings: tuple[Rating, ...]
    systems: tuple[str, ...]
    items: tuple[str, ...]
    listeners: tuple[Who, ...]
    votes: Votes

    def without(self, left: Sequence[Who]) -> Coded:
        """Without some listeners; all names keep their numbers."""
        if not left:
            return self
        out = set(left)
        return self.chosen([one.listener not in out for one in self.ratings])

    def chosen(self, which: Sequence[bool]) -> Coded:
        """Some of the ratings; all names keep their numbers."""
        ratings = tuple(one for one, kept in zip(self.ratings, which, strict=True) if kept)
        return replace(self, ratings=ratings, votes=self.votes.chosen(np.array(which, bool)))


def coded(
    ratings: Sequence[Rating], scale: str, systems: Sequence[str] = (), items: Sequence[str] = ()
) -> Coded:
    """Ratings of a scale; systems and items that are known come first, in their order."""
    own = tuple(one for one in ratings if one.scale == scale)
    named = compared(own)
    pairs = [pair_name(a, b) for a in systems for b in systems]
    known, first = _numbered([named(one) for one in own], [*systems, *pairs])
    pieces, second = _numbered([one.key.item for one in own], items)
    people, third = _numbered([one.listener for one in own], sorted_listeners(own))
    values = np.array([one.value for one in own], np.float64)
    size = len(known), len(pieces), len(people)
    votes = Votes(values, first, second, third, size)
    return Coded(scale, own, known, pieces, people, votes)


def compared(ratings: Sequence[Rating]) -> Callable[[Rating], str]:
    """What stands where systems stand: a system, or two if they are not all against one."""
    others = {one.against.system if one.against else "" for one in ratings}
    if len(others) <= 1:
        return lambda one: one.key.system
    return lambda one: pair_name(one.key.system, one.against.system if one.against else "")


def pair_name(system: str, against: str) -> str:
    """A system beside another.

    >>> pair_name("C1", "C0")
    'C1 / C0'
    """
    return f"{system} / {against}" if against else system


def sorted_listeners(ratings: Sequence[Rating]) -> list[Who]:
    """Numbers by size, then names by the alphabet."""
    return sorted({one.listener for one in ratings}, key=lambda one: (isinstance(one, str), one))


def _numbered(names: Sequence[Name], known: Sequence[Name]) -> tuple[tuple[Name, ...], Codes]:
    """Names without repeats, those known first if they occur at all, and the number of each."""
    seen = set(names)
    order = [name for name in dict.fromkeys(known) if name in seen]
    order += sorted(seen - set(order), key=lambda name: (str(type(name)), name))
    number = {name: n for n, name in enumerate(order)}
    return tuple(order), np.array([number[name] for name in names], np.int64)
