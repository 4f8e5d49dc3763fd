"""The same clip three times: attend to the speech, to the background, to the whole.

The whole always comes last; speech and background are asked in both orders, balanced over listeners
and sessions. A clip is played once for each question, and must be heard to its end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from earwitness.listening.kinds.base import PLAYS
from earwitness.listening.kinds.single import SingleKind
from earwitness.listening.scale import Scale


@dataclass(frozen=True)
class P835(SingleKind):
    """P.835."""

    plays: int = field(default=1, metadata=PLAYS)

    name = "p835"
    title = "P.835: speech, background, whole"
    fixed = (Scale("SIG", 5, 1), Scale("BAK", 5, 1), Scale("OVRL", 5, 1))
    orders = (("SIG", "BAK", "OVRL"), ("BAK", "SIG", "OVRL"))
    references = ("ITU-T P.835 (2003), Systems that include noise suppression",)
