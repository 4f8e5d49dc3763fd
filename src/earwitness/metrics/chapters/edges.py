"""What all chapter metrics share: which boundaries near the edges of a recording count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from earwitness.data import Case
from earwitness.metrics.base import Metric, at_least
from earwitness.timeline import ChapterCases

EDGE = {"help": "boundaries this close to start or end count on neither side, in seconds"}


@dataclass(frozen=True)
class ChapterMetric(Metric):
    """A family of chapter values; an edge of 0 leaves every boundary where its metric wants it."""

    edge: float = field(default=0.0, kw_only=True, metadata=EDGE)

    def __post_init__(self) -> None:
        object.__setattr__(self, "edge", at_least(0, "edge", self.edge))

    def columns(self, cases: Sequence[Case]) -> ChapterCases:
        """Cases as columns, without the boundaries at the edges."""
        return ChapterCases.of(cases).without_edges(self.edge)
