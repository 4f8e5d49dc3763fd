"""Every stimulus with its votes."""

from __future__ import annotations

import numpy as np

from earwitness.data import Key, Stimulus
from earwitness.listening.analysis.coded import Coded
from earwitness.stats.exact import Floats


def stimuli(coded: Coded) -> tuple[Stimulus, ...]:
    """Item by item and system by system; votes in the order of the panel's listeners.

    NaN stands where a listener of the panel gave none.
    """
    table, found = coded.votes.table(), []
    panels = [(own, table[:, own]) for own in coded.votes.panels()]
    for number in np.unique(coded.votes.stimuli).tolist():
        votes = next(own[number] for _, own in panels if not np.isnan(own[number]).all())
        found.append(_stimulus(coded, number, votes))
    return tuple(found)


def _stimulus(coded: Coded, number: int, votes: Floats) -> Stimulus:
    item, system = divmod(number, len(coded.systems))
    key, given = Key(coded.items[item], coded.systems[system]), votes[~np.isnan(votes)]
    sd = float(given.std(ddof=1)) if len(given) > 1 else float("nan")
    return Stimulus(key, tuple(votes.tolist()), float(given.mean()), sd)
