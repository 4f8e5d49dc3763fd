"""Where systems stand within trials: even for every listener, and for every clip over a panel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from earwitness.listening.design.claim import Claim, told, verdict, within
from earwitness.listening.design.heard import Heard
from earwitness.listening.kinds import Kind

Ints = NDArray[np.int64]


def presented(heard: Heard, other: Heard, kind: Kind) -> Iterator[Claim]:
    """Places, and where there is an unknown one, which one that is."""
    for what, rows, number in (
        ("a listener", heard.listener, heard.shape[0]),
        ("a clip", _clips(heard), len(heard.items) * (int(heard.panels.max()) + 1)),
    ):
        found, chance = (_places(own, rows, number) for own in (heard, other))
        told_ = f"times a system stands at each place, {what}"
        yield Claim(told_, told(found), told(chance), verdict(_even(found, 1)))
        if kind.unknown:
            found, chance = (_unknown(own, rows, number) for own in (heard, other))
            told_ = f"times each of a pair is X, {what}"
            yield Claim(told_, told(found), told(chance), verdict(_even(found, 2)))


def _clips(heard: Heard) -> Ints:
    """A number for every clip and panel."""
    return heard.item * (int(heard.panels.max()) + 1) + heard.panels[heard.listener]


def _even(counts: Ints, most: int) -> bool:
    """Whether every row is, within so much."""
    return all(within(row, most) for row in counts)


def _places(heard: Heard, rows: Ints, number: int) -> Ints:
    """Among trials of one treatment, how often each system stands where: a row a treatment."""
    width, treatments = heard.stands.shape[1], heard.shape[1]
    cells = rows * treatments + heard.treatment
    places = np.broadcast_to(np.arange(width), heard.stands.shape)
    shape = (number * treatments, width, width)
    wide = np.repeat(cells[:, None], width, axis=1)
    counts = heard.count(wide.ravel(), heard.stands.ravel(), places.ravel(), shape=shape)
    return counts.reshape(len(counts), -1)[counts.any(axis=(1, 2))]


def _unknown(heard: Heard, rows: Ints, number: int) -> Ints:
    """How often each system of a treatment is the unknown one: a row a treatment."""
    width, treatments = heard.stands.shape[1], heard.shape[1]
    cells = rows * treatments + heard.treatment
    counts = heard.count(cells, heard.unknown, shape=(number * treatments, width))
    return counts[counts.any(axis=1)]
