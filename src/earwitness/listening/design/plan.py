"""A whole design: subsets for panels, an order for every listener."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

import numpy as np

from earwitness.data import Block, Design, Plan, Session, Study, Trial
from earwitness.listening.design.incomplete import heard_by
from earwitness.listening.design.subsets import equivalent_subsets
from earwitness.listening.kinds import Kind, block_kind

ORDERS, ANCHORS, TRAINING = 2, 4, 5  # streams of chance beside that of the subsets
Subsets = tuple[tuple[str, ...], ...]  # names of clips, by panel


def design(study: Study) -> Design:
    """The same for the same study; one more listener moves no other.

    Plans that were made elsewhere are taken as they are.
    """
    if study.plans:
        return Design(study, (_heard(study),), study.plans)
    subsets = tuple(_subsets(study, number, block) for number, block in enumerate(study.blocks))
    plans = (_plan(study, number, subsets) for number in range(1, study.listeners + 1))
    return Design(study, subsets, tuple(plans))


def _heard(study: Study) -> Subsets:
    found: dict[int, dict[str, None]] = {panel: {} for panel in range(1, study.panels + 1)}
    for plan in study.plans:
        found[plan.panel].update(dict.fromkeys(t.item for s in plan.sessions for t in s))
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


def _plan(study: Study, listener: int, subsets: tuple[Subsets, ...]) -> Plan:
    """Listeners join panels in turn; every other one of a panel starts with the other order."""
    turn, panel = divmod(listener - 1, study.panels)
    sessions = [
        session
        for number, block in enumerate(study.blocks)
        for session in _sessions(study, number, block, listener, turn, subsets[number][panel])
    ]
    first = sessions[0][0].scales
    heard = {name for own in subsets for name in own[panel]}
    return Plan(
        listener,
        panel + 1,
        tuple(sessions),
        _training(study, listener, turn, heard, first),
        _anchors(study, listener, first),
    )


def _sessions(
    study: Study, number: int, block: Block, listener: int, turn: int, items: tuple[str, ...]
) -> Iterator[Session]:
    """Sessions of a block: the first half with one order of scales, the second with the other."""
    kind = block_kind(block)
    rng = np.random.default_rng([study.seed, ORDERS, listener, number])
    systems = heard_by(turn, block.systems, block.heard)
    made = kind.trials(items, systems, block.sessions, rng, study.reference)
    half = ceil(block.sessions / 2)
    for index, session in enumerate(made):
        scales = _scales(kind, turn + (index >= half))
        yield tuple(replace(trial, block=number, scales=scales) for trial in session)


def _scales(kind: Kind, turn: int) -> tuple[str, ...]:
    return kind.scale_orders[turn % len(kind.scale_orders)]


def _anchors(study: Study, listener: int, scales: tuple[str, ...]) -> Session:
    """All anchors, in an order of the listener's own."""
    rng = np.random.default_rng([study.seed, ANCHORS, listener])
    order = rng.permutation(len(study.anchors))
    return tuple(
        Trial(study.anchors[i].name, (study.anchor_system,), scales) for i in order.tolist()
    )


def _training(
    study: Study, listener: int, turn: int, heard: set[str], scales: tuple[str, ...]
) -> Session:
    """Trials of the first block's kind, of clips that the listener does not hear later."""
    if not study.training:
        return ()
    block, rng = study.blocks[0], np.random.default_rng([study.seed, TRAINING, listener])
    others = [clip.name for clip in study.material if clip.name not in heard]
    items = [others[i] for i in rng.permutation(len(others))[: study.training]]
    systems = heard_by(turn, block.systems, block.heard)
    [made] = block_kind(block).trials(items, systems, 1, rng, study.reference)
    return tuple(replace(trial, scales=scales) for trial in made[: study.training])
