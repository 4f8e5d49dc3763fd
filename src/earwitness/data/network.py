"""A word network to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class WordNetwork:
    """What people kept of an item, and the paths that outputs are closest to.

    Positions start at 1; an arc from 0 leads to a first word, one to the number of words and one
    more comes from a last word. ``arcs`` have how many people went along them; ``signature`` says
    how targets were found.
    """

    item: str
    words: tuple[str, ...]
    people: Mapping[str, tuple[int, ...]]
    arcs: Mapping[tuple[int, int], int]
    targets: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    signature: str = ""

    def name(self, node: int) -> str:
        """The word at a node; ``<s>`` and ``</s>`` stand at the ends."""
        if not node:
            return "<s>"
        return self.words[node - 1] if node <= len(self.words) else "</s>"
