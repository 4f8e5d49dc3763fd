"""A whole design: subsets for panels, an order for every listener."""

from __future__ import annotations

from math import ceil

import numpy as np

from earwitness.data import Design, Plan, Study, Trial
from earwitness.listening.design.orders import listener_order
from earwitness.listening.design.subsets import equivalent_subsets
from earwitness.listening.kinds import KINDS


def design(study: Study) -> Design:
    """The same for the same study; one more listener moves no other."""
    chosen = equivalent_subsets(
        [clip.covariates for clip in study.material],
        number=study.panels,
        size=study.clips,
        categories=study.categories,
        numbers=study.numbers,
        seed=study.seed,
    )
    subsets = tuple(tuple(study.material[i].name for i in own) for own in chosen)
    plans = (_plan(study, number, subsets) for number in range(1, study.listeners + 1))
    return Design(study, subsets, tuple(plans))


def _plan(study: Study, listener: int, subsets: tuple[tuple[str, ...], ...]) -> Plan:
    """Listeners join panels in turn; every other one of a panel starts with the other order."""
    turn, panel = divmod(listener - 1, study.panels)
    orders = KINDS[study.kind].orders
    rng = np.random.default_rng([study.seed, 2, listener])
    sessions = listener_order(subsets[panel], study.systems, study.sessions, rng)
    half = ceil(study.sessions / 2)
    return Plan(
        listener,
        panel + 1,
        tuple(
            tuple(
                Trial(item, system, orders[(turn + (number >= half)) % len(orders)])
                for item, system in session
            )
            for number, session in enumerate(sessions)
        ),
    )
