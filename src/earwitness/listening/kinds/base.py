"""What a kind of trial is made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """A question about a clip, and the words of its answers, the best first."""

    name: str
    question: str
    labels: tuple[str, ...]

    @property
    def values(self) -> range:
        """The numbers that the labels stand for, the best first."""
        return range(len(self.labels), 0, -1)


@dataclass(frozen=True)
class Kind:
    """How a clip is rated: on its scales, in one of several orders; each takes one hearing."""

    name: str
    title: str
    scales: tuple[Scale, ...]
    orders: tuple[tuple[str, ...], ...]
