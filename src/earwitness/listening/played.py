"""What was played to its end, out of what pages send along with answers.

Where sounds come one after the other, they are heard for every question; where one may switch
between them, for the page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from earwitness.data import Study, Trial
from earwitness.listening.kinds import block_kind
from earwitness.listening.wordings import wording

Part = tuple[str, int]  # a question, or none, and the number of a sound


class Played(NamedTuple):
    """Of all that a listener had to hear, how much was not heard to its end, of how much."""

    unheard: int
    all: int
    unknown: int = 0  # answers of which nobody knows


def ended(plays: Sequence[Any], *, switching: bool) -> Counter[Part]:
    """How often each sound was played to its end, for each question where that matters."""
    return Counter(
        ("" if switching else str(one.get("question")), one["sound"])
        for one in plays
        if isinstance(one, dict) and one.get("ended") is True and isinstance(one.get("sound"), int)
    )


def played(study: Study, trial: Trial, meta: Mapping[str, Any] | None) -> Played:
    """What was heard of a trial."""
    plays = None if meta is None else meta.get("plays")
    if not isinstance(plays, list):
        return Played(0, 0, 1)
    kind = block_kind(study.blocks[trial.block])
    words = wording(study.language, study.wordings)
    names = [""] if kind.switching else [ask.name for ask in kind.asks(trial)]
    sounds = range(len(kind.presented(trial, words, study.reference)))
    heard = ended(plays, switching=kind.switching)
    wanted = [(name, number) for name in names for number in sounds]
    return Played(sum(not heard[part] for part in wanted), len(wanted))
