"""The reference, then the clip: how much worse is it?"""

from __future__ import annotations

from dataclasses import dataclass, field

from earwitness.listening.kinds.base import PLAYS
from earwitness.listening.kinds.single import SingleKind
from earwitness.listening.scale import Scale


@dataclass(frozen=True)
class DCR(SingleKind):
    """Degradation category rating."""

    plays: int = field(default=1, metadata=PLAYS)

    name = "dcr"
    title = "Degradation category rating (P.800)"
    fixed = (Scale("DEGRADATION", 5, 1),)
    open_reference = True
    references = ("ITU-T P.800 (1996), annex D",)
