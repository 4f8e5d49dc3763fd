"""Long work takes these as arguments and never knows who implements them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Map(Protocol):
    """Apply a function to every item and give the results in the items' order."""

    def __call__(self, function: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]: ...


class Progress(Protocol):
    """Told how far the work is: bytes read of how many (None if unknown), and cases so far."""

    def __call__(self, done: int, total: int | None, cases: int, /) -> None: ...


def no_progress(done: int, total: int | None, cases: int, /) -> None:
    """Nobody is watching."""
