"""Which of several places that sound the same a part most likely comes from.

Blocks of a skim mostly lie on a grid of their own length, and are mostly heard in the order of
time. That does not make a part sure, but it is a better guess than chance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from earwitness.audio.chain import Choice
from earwitness.audio.rivals import Part
from earwitness.audio.runs import Run

NEAR = 0.005  # seconds from a grid
MOST = 0.7  # share of sure parts that must lie on it


def begin(part: Part, run: Run) -> int:
    """Where in the recording a part begins."""
    return run.place(part.last - 1 if run.turned else part.first)


def settled(parts: Sequence[Part], choices: Sequence[Choice], rate: int) -> list[Run]:
    """The place of every part; of those that are not sure, the best guess."""
    sure = [
        begin(part, one.run) if one.sure else None for part, one in zip(parts, choices, strict=True)
    ]
    lengths = {part.last - part.first for part in parts}
    phase = _phase([one for one in sure if one is not None], min(lengths), rate)
    runs = []
    for number, (part, one) in enumerate(zip(parts, choices, strict=True)):
        options = [one.run, *one.equal]
        if len(lengths) == 1 and phase is not None:
            near = [_on(begin(part, run), phase, min(lengths), rate) for run in options]
            options = _some(options, near)
        low = max((x for x in sure[:number] if x is not None), default=-np.inf)
        high = min((x for x in sure[number + 1 :] if x is not None), default=np.inf)
        options = _some(options, [low < begin(part, run) < high for run in options])
        runs.append(options[0])
    return runs


def _some(options: list[Run], fit: Sequence[bool]) -> list[Run]:
    """Those that fit, or all if none does."""
    kept = [run for run, fits in zip(options, fit, strict=True) if fits]
    return kept or options


def _on(place: int, phase: int, length: int, rate: int) -> bool:
    away = (place - phase) % length
    return min(away, length - away) <= NEAR * rate


def _phase(sure: Sequence[int], length: int, rate: int) -> int | None:
    """Where a grid begins on which most sure parts lie, if there is one; at 0 if none is sure."""
    if not sure:
        return 0
    fits = [sum(_on(other, one, length, rate) for other in sure) for one in sure]
    best = int(np.argmax(fits))
    return sure[best] % length if fits[best] >= MOST * len(sure) else None
