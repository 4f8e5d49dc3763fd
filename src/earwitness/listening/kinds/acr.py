"""One clip, rated by itself on five categories."""

from __future__ import annotations

from dataclasses import dataclass, field

from earwitness.listening.kinds.base import PLAYS
from earwitness.listening.kinds.single import SingleKind
from earwitness.listening.scale import Scale


@dataclass(frozen=True)
class ACR(SingleKind):
    """Absolute category rating."""

    plays: int = field(default=1, metadata=PLAYS)

    name = "acr"
    title = "Absolute category rating (P.800, P.808)"
    fixed = (Scale("QUALITY", 5, 1),)
    references = ("ITU-T P.800 (1996)", "ITU-T P.808 (2021)")
