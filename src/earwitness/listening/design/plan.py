"""A whole design: subsets for panels, an order for every listener."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np

from earwitness.data import Block, Design, Plan, Session, Study, Trial
from earwitness.listening.design.incomplete import first_order, heard_by
from earwitness.listening.design.pool import Pool
from earwitness.listening.design.subsets import equivalent_subsets
from earwitness.listening.design.together import together
from earwitness.listening.kinds import Kind, block_kind

ORDERS, ANCHORS, TRAINING, PANELS = 2, 4, 5, 7  # streams of chance beside that of the subsets
Subsets = tuple[tuple[str, ...], ...]  # names of clips, by panel


def design(study: Study) -> Design:
    """The same for the same study; one more listener moves no other.

    Plans that were made elsewhere are taken as they are.
    """
    if study.plans:
        heard = tuple(_heard(study, number) for number in range(len(study.blocks)))
        return Design(study, heard, study.plans)
    subsets = tuple(_subsets(study, number, block) for number, block in enumerate(study.blocks))
    panels = [_Panel.of(study, place, subsets) for place in range(study.panels)]
    plans = (
        panels[(listener - 1) % study.panels].plan(listener)
        for listener in range(1, study.listeners + 1)
    )
    return Design(study, subsets, tuple(plans))


def _heard(study: Study, number: int) -> Subsets:
    """The clips that panels hear in a block."""
    found: dict[int, dict[str, None]] = {panel: {} for panel in range(1, study.panels + 1)}
    for plan in study.plans:
        own = (t.item for s in plan.sessions for t in s if t.block == number)
        found[plan.panel].update(dict.fromkeys(own))
    return tuple(tuple(sorted(own)) for own in found.values())


def _subsets(study: Study, number: int, block: Block) -> Subsets:
    chosen = equivalent_subsets(
        [clip.covariates for clip in study.material],
        number=study.panels,
        size=block.clips,
        categories=study.categories,
        numbers=study.numbers,
        seed=(study.seed, number),
    )
    return tuple(tuple(study.material[i].name for i in own) for own in chosen)


@dataclass(frozen=True)
class _Panel:
    """A panel, its clips by block, and what its listeners heard so far by block, which grows."""

    study: Study
    place: int
    items: tuple[tuple[str, ...], ...]
    pools: tuple[Pool, ...]

    @classmethod
    def of(cls, study: Study, place: int, subsets: tuple[Subsets, ...]) -> _Panel:
        """A panel of whom nobody has listened."""
        pools = (Pool((study.seed, PANELS, place, n)) for n in range(len(subsets)))
        return cls(study, place, tuple(own[place] for own in subsets), tuple(pools))

    def plan(self, listener: int) -> Plan:
        """The plan of the next listener; listeners join panels in turn."""
        study, turn = self.study, (listener - 1) // self.study.panels
        sessions = [
            session
            for number in range(len(study.blocks))
            for session in self._sessions(number, listener, turn)
        ]
        first = sessions[0][0].scales
        training = self._training(listener, turn, first)
        anchors = _anchors(study, listener, first)
        return Plan(listener, self.place + 1, tuple(sessions), training, anchors)

    def _sessions(self, number: int, listener: int, turn: int) -> Iterator[Session]:
        """Sessions of a block: the first half with one order of scales, then the other."""
        study, block = self.study, self.study.blocks[number]
        kind = block_kind(block)
        made = kind.trials(
            self.items[number],
            self._systems(block, turn),
            block.sessions,
            np.random.default_rng([study.seed, ORDERS, listener, number]),
            study.reference,
            pool=self.pools[number],
            asked=self._asked(kind, block, turn),
            block=number,
        )
        known = {clip.name: str(clip.covariates.get(kind.within, "")) for clip in study.material}
        return map(tuple, together(made, known, turn) if kind.within else made)

    def _systems(self, block: Block, turn: int) -> tuple[str, ...]:
        return heard_by(turn, block.systems, block.heard, self.place)

    def _asked(self, kind: Kind, block: Block, turn: int) -> list[tuple[str, ...]]:
        """The order of scales of every session; listeners, and panels, take turns to start."""
        orders, number = kind.scale_orders, len(block.systems)
        start = sum(first_order(one, number, block.heard) for one in (turn, self.place))
        half = ceil(block.sessions / 2)
        return [orders[(start + (n >= half)) % len(orders)] for n in range(block.sessions)]

    def _training(self, listener: int, turn: int, scales: tuple[str, ...]) -> Session:
        """Trials of the first block's kind, of clips that the listener does not hear later."""
        study, heard = self.study, {name for own in self.items for name in own}
        if not study.training:
            return ()
        block, rng = study.blocks[0], np.random.default_rng([study.seed, TRAINING, listener])
        others = [clip.name for clip in study.material if clip.name not in heard]
        items = [others[i] for i in rng.permutation(len(others))[: study.training]]
        pool = Pool((study.seed, TRAINING, listener))
        systems = self._systems(block, turn)
        [made] = block_kind(block).trials(
            items, systems, 1, rng, study.reference, pool=pool, asked=[scales]
        )
        return tuple(made[: study.training])


def _anchors(study: Study, listener: int, scales: tuple[str, ...]) -> Session:
    """All anchors, in an order of the listener's own."""
    rng = np.random.default_rng([study.seed, ANCHORS, listener])
    order = rng.permutation(len(study.anchors))
    return tuple(
        Trial(study.anchors[i].name, (study.anchor_system,), scales) for i in order.tolist()
    )
