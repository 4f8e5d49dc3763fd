"""How far the way from a recording to blocks is: sound is read, and then embedded."""

from __future__ import annotations

from dataclasses import dataclass

from earwitness.data import Progress

PASSES = 3  # of an embedder through all frames; who needs one more is told to be done before


def share(progress: Progress, before: int, own: int, rounds: int) -> Progress:
    """Some rounds of several that are equally long, told as so much of all of them."""

    def told(done: int, total: int | None, cases: int) -> None:
        every = None if total is None else rounds * total
        progress(own * done + before * (total or 0), every, cases)

    return told


@dataclass
class Passes:
    """Tells how far an embedder is that goes through the frames of all blocks a few times."""

    blocks: int
    progress: Progress
    done: int = 0

    def __call__(self, blocks: int) -> None:
        whole = PASSES * self.blocks
        self.done = min(whole, self.done + blocks)
        self.progress(self.done, whole, self.blocks)
