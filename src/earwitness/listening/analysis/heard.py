"""Every stimulus with its votes."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from earwitness.data import Key, Stimulus
from earwitness.listening.analysis.coded import Coded


def stimuli(coded: Coded) -> tuple[Stimulus, ...]:
    """Item by item and system by system; votes in the order of listeners."""
    found = defaultdict[int, list[float]](list)
    order = np.lexsort((coded.votes.listeners, coded.votes.stimuli))
    numbers, values = coded.votes.stimuli[order].tolist(), coded.votes.values[order].tolist()
    for number, value in zip(numbers, values, strict=True):
        found[number].append(value)
    return tuple(_stimulus(coded, number, own) for number, own in found.items())


def _stimulus(coded: Coded, number: int, votes: list[float]) -> Stimulus:
    item, system = divmod(number, len(coded.systems))
    key = Key(coded.items[item], coded.systems[system])
    sd = float(np.std(votes, ddof=1)) if len(votes) > 1 else float("nan")
    return Stimulus(key, tuple(votes), float(np.mean(votes)), sd)
