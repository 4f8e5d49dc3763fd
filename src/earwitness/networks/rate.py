"""Edits per word of a path, and what steps cost so that better paths cost less than 0."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd

from earwitness.networks.costs import Costs
from earwitness.networks.network import Network
from earwitness.networks.summary import Summary, split


@dataclass(frozen=True)
class Rate:
    """So many edits of a path of so many words, for a summary and the longest path of a network.

    A path of E edits and L words is better if ``length · E − edits · L`` is below 0, and then
    ``|L − words| <= E`` says between which ``shortest`` and ``longest`` its words are.
    """

    edits: int
    length: int
    words: int
    longest: int

    @classmethod
    def least(cls, network: Network, summary: Summary, paths: Iterable[tuple[int, int]]) -> Rate:
        """The least of several, given by edits and words."""
        edits, length = min(paths, key=lambda path: Fraction(*path))
        return cls(edits, length, summary.words, network.longest)

    @property
    def shortest(self) -> int:
        """The fewest words of a path with this rate or a better one."""
        return max(1, -(-self.words * self.length // (self.length + self.edits)))

    @property
    def most(self) -> int:
        """The most edits of a path with this rate or a better one."""
        most = self.edits * self.longest // self.length
        if self.edits >= self.length:
            return most
        return min(most, self.edits * self.words // (self.length - self.edits))

    @cached_property
    def lowest(self) -> tuple[int, int]:
        """Edits and words without what divides both."""
        common = gcd(self.edits, self.length)
        return self.edits // common, self.length // common

    @cached_property
    def unit(self) -> int:
        """What the difference is multiplied by to leave room for words; 1 if it needs no room.

        It needs none where words follow from the difference, since too few numbers are possible.
        """
        spread = min(self.longest, self.words + self.most) - self.shortest
        return 1 if self.lowest[1] > spread else self.longest + 1

    @property
    def costs(self) -> Costs:
        """Of the difference, and of paths with the same the longest first."""
        edits, length = self.lowest
        per_edit, per_word = length * self.unit, edits * self.unit + (self.unit > 1)
        return Costs(-per_word, per_edit - per_word, per_edit)

    def better(self, least: int) -> Rate:
        """That of a path with the least cost, which is not above 0."""
        edits, length = self.lowest
        if self.unit > 1:
            difference, words = split(least, self.unit)
        else:
            difference = least
            words = (-least * pow(edits, -1, length) - self.shortest) % length + self.shortest
        return Rate((difference + edits * words) // length, words, self.words, self.longest)
