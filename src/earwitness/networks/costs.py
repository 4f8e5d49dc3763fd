"""What steps beside a path cost, in whole numbers, several aims in one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Costs:
    """What a word of the path costs if it matches, if it does not, and a word too much.

    ``gains`` is what arcs take off by their counts, where they do; costs are then ``times`` as
    large.
    """

    match: int
    wrong: int
    extra: int
    gains: Mapping[int, int] | None = None
    times: int = 1

    @classmethod
    def fewest(cls, unit: int) -> Costs:
        """Of edits, and of paths with as few the longest first; none has ``unit`` words."""
        return cls(-1, unit - 1, unit)

    def path(self, edits: int, words: int) -> int:
        """Those of a path of so many words, without gains."""
        return edits * self.extra + words * self.match

    @property
    def most(self) -> int:
        """No step costs or gains more."""
        return max(abs(self.match), abs(self.wrong), abs(self.extra)) + self.gain

    @property
    def gain(self) -> int:
        """No arc takes off more."""
        return max(self.gains.values(), default=0) if self.gains else 0
