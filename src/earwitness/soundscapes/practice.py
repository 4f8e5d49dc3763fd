"""Seven skims of one day that teach what TC and SD are, each with the reason for its place.

They are chosen with the truth about the day: one source in many forms; many sources; wind only;
wind and quiet; the course of the day; something between the two; and the same in another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earwitness.data import Pick, Skim
from earwitness.soundscapes.bank import chance
from earwitness.soundscapes.course import Course
from earwitness.soundscapes.scene import Scene
from earwitness.soundscapes.truth import BACKGROUND, HEARD, Truth

Rows = list[int]
PICKS, BLOCK, OVERLAP = 12, 8.0, 3.0
BIRDS = ("birds", "chorus", "rooster", "owl", "cuckoo", "crow")
CLOSE = 0.02  # presence by which blocks may differ and still be as good
ORDERS = 200  # that are tried for the worst


@dataclass(frozen=True)
class Example:
    """A skim, what it is, its true TC and SD, what is heard in it, and why it is where it is."""

    title: str
    skim: Skim
    tc: float
    sd: float
    heard: tuple[str, ...]
    reason: str


class Blocks:
    """All blocks of a day and what is present in each."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.truth = scene, Truth(scene.events)
        self.starts = np.arange(0, scene.seconds - BLOCK + 1e-9, BLOCK)
        ends = self.starts + BLOCK
        self.presence = self.truth.presence(list(self.starts), list(ends))
        self.heard = self.truth.seconds(list(self.starts), list(ends)) >= HEARD
        self.names = (*self.truth.sources, BACKGROUND)
        hours = np.arange(0, scene.seconds - 1e-9, scene.hour)
        self.hours = self.truth.presence(list(hours), list(hours + scene.hour))
        self.course = Course(self.hours, self.presence, self.starts // scene.hour)

    def share(self, *names: str) -> NDArray[np.float64]:
        """How much of each block is these sources."""
        columns = [self.names.index(name) for name in names]
        return np.asarray(self.presence[:, columns].sum(1))

    def picks(self, rows: Sequence[int]) -> tuple[Pick, ...]:
        """The blocks in these rows."""
        return tuple(Pick(float(self.starts[row]), BLOCK) for row in rows)

    def tc(self, rows: Sequence[int]) -> float:
        """The true TC of the blocks in these rows, in their order."""
        return self.truth.tc(self.picks(rows), self.scene.seconds, self.scene.hour)


def examples(scene: Scene) -> tuple[Example, ...]:
    """The seven, in the order in which they are told."""
    blocks = Blocks(scene)
    main, steady = _main(blocks), _steady(blocks)
    balanced = blocks.course.balanced(blocks.heard, PICKS)
    told = [
        (f"{main[0]}, in many forms", _forms(blocks, main), _told_forms(main[0])),
        ("many sources", _diverse(blocks), DIVERSE),
        (f"{steady} only", _spread(blocks.share(steady), PICKS), _only(steady)),
        (f"{steady} and quiet", _and_quiet(blocks, steady), _quiet(steady)),
        ("the course of the day", blocks.course.best(PICKS), COURSE),
        ("something of both", balanced, BALANCED),
        ("the same, reordered", _reordered(blocks, balanced), REORDERED),
    ]
    return tuple(_example(blocks, title, rows, reason) for title, rows, reason in told)


def _example(blocks: Blocks, title: str, rows: Rows, reason: str) -> Example:
    picks = blocks.picks(rows)
    heard = blocks.truth.seconds([p.start for p in picks], [p.start + BLOCK for p in picks])
    kept = [n for n, seconds in zip(blocks.names, heard.sum(0), strict=False) if seconds >= HEARD]
    sd = blocks.truth.sd(picks)
    return Example(title, Skim(picks, OVERLAP), blocks.tc(rows), sd, tuple(kept), reason)


def _main(blocks: Blocks) -> list[str]:
    """What is one source to most people in many forms: birds, or else what is most present."""
    most = blocks.names[int(blocks.hours[:, :-1].sum(0).argmax())]
    return [name for name in BIRDS if name in blocks.names] or [most]


def _forms(blocks: Blocks, names: list[str]) -> Rows:
    """Some blocks of each form, and most of the first; nothing else in them, if that can be."""
    each = PICKS // (len(names) + 1)
    rows = {row for name in names[1:] for row in _spread(blocks.share(name), each)}
    score = blocks.share(names[0])
    score[list(rows)] = -1
    return sorted([*rows, *_spread(score, PICKS - len(rows))])


def _steady(blocks: Blocks) -> str:
    """Wind, or else what lasts and is least of the day."""
    lasting = [n for n in blocks.names[:-1] if blocks.scene.sources[n].lasts]
    by_share = sorted(lasting or blocks.names[:-1], key=lambda name: blocks.share(name).sum())
    enough = [name for name in by_share if (blocks.share(name) > 1 - CLOSE).sum() >= PICKS]
    return "wind" if "wind" in lasting else (enough or by_share[::-1])[0]


def _spread(score: NDArray[np.float64], count: int) -> Rows:
    """So many of the best blocks, evenly through the day, in its order."""
    best = np.flatnonzero(score >= score.max() - CLOSE)
    if len(best) < count:
        best = np.sort(np.argsort(-score, kind="stable")[:count])
    return [int(best[n]) for n in np.linspace(0, len(best) - 1, count).round().astype(int)]


def _diverse(blocks: Blocks) -> Rows:
    """Each the block that brings most sources that are not there yet; then the fullest."""
    left, rows = np.ones(blocks.heard.shape[1], bool), list[int]()
    for _ in range(min(PICKS, len(blocks.heard))):
        brings = (blocks.heard & left).sum(1) + 0.01 * blocks.heard.sum(1)
        brings[rows] = -1
        rows.append(int(brings.argmax()))
        left &= ~blocks.heard[rows[-1]]
    return sorted(rows)


def _and_quiet(blocks: Blocks, steady: str) -> Rows:
    half = PICKS // 2
    wind, quiet = blocks.share(steady), blocks.share(BACKGROUND)
    return sorted(_spread(wind, half) + _spread(quiet, PICKS - half))


def _reordered(blocks: Blocks, rows: Rows) -> Rows:
    """The worst of many orders."""
    rng = chance(blocks.scene.seed, "orders")
    orders = [rows[::-1], *([rows[n] for n in rng.permutation(len(rows))] for _ in range(ORDERS))]
    return min(orders, key=blocks.tc)


def _told_forms(main: str) -> str:
    return (
        f"It has {main} in many forms, which gives it some SD, but {main} are not all that sounds "
        f"in the day. Its TC is not very high: there are hours, such as many of the night, in "
        f"which {main} are not what is most present."
    )


def _only(steady: str) -> str:
    return (
        f"Only {steady} is heard, so SD is low. TC is low, too: {steady} is not what is most "
        "present in most hours."
    )


def _quiet(steady: str) -> str:
    return (
        f"{steady.capitalize()} and the quiet background. Some people hear a little more diversity "
        "in it, though quiet is no source and true SD stays as it was. TC is higher than with "
        f"{steady} only, since many hours are nearer to quiet."
    )


DIVERSE = (
    "SD is high: a wide range of the sources of the day is heard. TC is not: much of this is rare, "
    "and not what is most present in its hour."
)
COURSE = (
    "TC is high: what is most present is heard, hour after hour, in the order of the day. There is "
    "more from hours in which the day changes, and less from those that are alike."
)
BALANCED = (
    "Some of both: it follows the day, and in each part of it prefers a block with a source that "
    "was not heard yet."
)
REORDERED = (
    "SD is exactly that of the one before, since the blocks are the same. TC is lower, for they do "
    "not come in the order of the day."
)
