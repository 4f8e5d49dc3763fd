"""Orders of scales: who starts with which, and how many sessions have each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from earwitness.data import Design
from earwitness.listening.design.claim import IMPOSSIBLE, MISSED, Claim, told, verdict, within
from earwitness.listening.design.heard import Heard
from earwitness.listening.design.shared import hearing
from earwitness.listening.kinds import block_kind

Ints = NDArray[np.int64]
MOST = 16  # listeners of whom all choices are tried


def asked(design: Design, number: int, heard: Heard) -> Iterator[Claim]:
    """Starts within panels, with each system where not all are heard, and changes of order."""
    block = design.study.blocks[number]
    first = _first_orders(heard, len(block_kind(block).scale_orders))
    starts = heard.by_panel(first)
    what = "listeners of a panel that start with each order of scales"
    yield Claim(what, told(starts), "–", verdict(all(within(own, 1) for own in starts)))
    if block.heard < len(block.systems):
        given = hearing(heard, block.systems).astype(np.int64)
        counts = heard.by_panel(given[:, :, None] * first[:, None, :])
        what = "listeners of a panel that start so and hear a system"
        yield Claim(what, told(counts), "–", _halved(counts, given, heard.panels))
    yield _sessions(heard, first.shape[1])


def _halved(counts: Ints, given: Ints, panels: Ints) -> str:
    """Whether every system's listeners are halved, within one; if not, whether they could be."""
    wrong = np.flatnonzero((np.ptp(counts, axis=-1) > 2).any(axis=1))
    if not len(wrong):
        return verdict(True)
    return MISSED if any(_could(given[panels == panel]) for panel in wrong) else IMPOSSIBLE


def _could(given: Ints) -> bool:
    """Whether some choice of starts would halve them: all are tried, unless they are many."""
    if len(given) > MOST:
        return True
    choices = 1 - 2 * (np.arange(2 ** len(given))[:, None] >> np.arange(len(given)) & 1)
    fair = choices[np.abs(choices.sum(axis=1)) <= 1]
    return bool((np.abs(fair @ given).max(axis=1) <= 2).any())


def _first_orders(heard: Heard, orders: int) -> Ints:
    """1 for the order that a listener starts with."""
    found = np.zeros((len(heard.panels), max(orders, int(heard.scales.max()) + 1)), np.int64)
    listeners, rows = np.unique(heard.listener, return_index=True)
    found[listeners, heard.scales[rows]] = 1
    return found


def _sessions(heard: Heard, orders: int) -> Claim:
    """Whether everybody changes over once, and how many sessions each order has."""
    found = list[list[int]]()
    changed = True
    for listener in range(len(heard.panels)):
        rows = heard.listener == listener
        sessions, scales = heard.session[rows], heard.scales[rows]
        own = [np.unique(scales[sessions == one]).tolist() for one in np.unique(sessions)]
        found.append([sum(order in one for one in own) for order in range(orders)])
        changed = changed and _changes_once(own)
    counts = np.array(found, np.int64)
    kept = verdict(changed and within(counts, 1))
    if counts.sum(axis=1).max() == 1:  # nobody can change over
        kept = IMPOSSIBLE
    return Claim("sessions with each order of scales, a listener", told(counts), "–", kept)


def _changes_once(own: list[list[int]]) -> bool:
    """One order in the first half of the sessions, another in the second."""
    half = (len(own) + 1) // 2
    first, second = ({tuple(one) for one in part} for part in (own[:half], own[half:]))
    return len(first) == len(second) == 1 and first != second and all(len(one) == 1 for one in own)
