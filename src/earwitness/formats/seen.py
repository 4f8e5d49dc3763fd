"""Which keys came before, in sixteen bytes a key."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
Ints = NDArray[np.int64]
SPREAD = np.uint64(0x9E3779B97F4A7C15)


def hash_names(names: list[str]) -> Hashes:
    """Eight bytes for each name, the same on every machine."""
    digests = b"".join([blake2b(name.encode(), digest_size=8).digest() for name in names])
    return np.frombuffer(digests, "<u8").astype(np.uint64)


def hash_keys(items: Hashes, systems: Hashes) -> Hashes:
    """Eight bytes for each pair of item and system."""
    return items ^ (systems * SPREAD)


class Seen:
    """Remembers hashes in sorted runs that are merged as they grow, like a deck that is riffled.

    Two names share a hash with a chance of 3 in 100 million among a million names.
    """

    def __init__(self) -> None:
        self._runs: list[tuple[Hashes, Ints]] = []

    def add(self, hashes: Hashes, lines: Ints) -> Ints:
        """For every hash the line where it was first seen, or 0 if it is new."""
        order = np.argsort(hashes, kind="stable")
        hashes, lines = hashes[order], lines[order]
        first = np.searchsorted(hashes, hashes)
        earlier = np.where(first < np.arange(len(hashes)), lines[first], 0)
        for run, numbers in self._runs:
            at = np.minimum(np.searchsorted(run, hashes), len(run) - 1)
            earlier = np.where(run[at] == hashes, numbers[at], earlier)
        self._keep(hashes[earlier == 0], lines[earlier == 0])
        answer = np.empty(len(earlier), np.int64)
        answer[order] = earlier
        return answer

    def _keep(self, hashes: Hashes, lines: Ints) -> None:
        while self._runs and len(self._runs[-1][0]) <= 2 * len(hashes):
            run, numbers = self._runs.pop()
            hashes, lines = np.append(run, hashes), np.append(numbers, lines)
            order = np.argsort(hashes, kind="stable")
            hashes, lines = hashes[order], lines[order]
        if len(hashes):
            self._runs.append((hashes, lines))
