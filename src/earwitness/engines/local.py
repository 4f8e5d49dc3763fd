"""Work in this process, one item after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_process(function: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]:
    """Apply the function as results are asked for.

    >>> list(in_process(abs, [-1, 2]))
    [1, 2]
    """
    return map(function, items)
