"""How far long work is, told part by part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from earwitness.data import Progress

Part = TypeVar("Part")


@dataclass
class Steps:
    """Parts that are done, of all that there may be."""

    progress: Progress
    total: int
    done: int = 0

    def after(self, part: Part) -> Part:
        """The part itself, once it is done and told."""
        self.reach(self.done + 1)
        return part

    def reach(self, done: int) -> None:
        """Tell that so many are done, also if some were not needed."""
        self.done = done
        self.progress(done, self.total, done)
