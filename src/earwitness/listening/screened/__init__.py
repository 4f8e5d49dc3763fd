"""Apply the declared rules of screening to ratings: who is left out, by which figure.

Every listener that a rule judges has an entry, kept or not, with the figure beside its limit. What
a rule cannot judge is said in a note, never passed over: silence would look like approval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from earwitness.data import Rating, Rule, Screened, Who
from earwitness.listening.kinds import KINDS
from earwitness.listening.played import Played
from earwitness.listening.screened.against import bs1116, bs1534
from earwitness.listening.screened.found import Apply, Roles
from earwitness.listening.screened.panel import bt500, p808
from earwitness.listening.screened.unheard import unheard
from earwitness.listening.screening import SCREENS


@dataclass(frozen=True)
class Screening:
    """What all rules found, and what they could not be applied to."""

    found: tuple[Screened, ...]
    notes: tuple[str, ...]

    @property
    def left(self) -> tuple[Who, ...]:
        """Listeners left out by any rule on any scale, in the order in which they were found."""
        return tuple(dict.fromkeys(one.listener for one in self.found if not one.kept))


def screen(
    ratings: Sequence[Rating],
    rules: Sequence[Rule],
    *,
    reference: str = "",
    anchor: str = "",
    plays: Mapping[Who, Played] = MappingProxyType({}),
) -> Screening:
    """Apply rules with their limits.

    ``reference`` and ``anchor`` are the systems that are the hidden reference and the middle anchor
    of MUSHRA, ``plays`` what listeners heard, where that was recorded. Each rule sees all
    listeners, also those that another one leaves out.
    """
    known = APPLY | {UNHEARD: partial(unheard, plays)}
    found: list[Screened] = []
    notes: list[str] = []
    for rule in rules:
        limits = {**SCREENS[rule.name].limits, **rule.limits}
        own = _concerned(ratings, rule.name)
        one = known[rule.name](own, limits, Roles(reference, anchor))
        found += one.entries
        notes += [f"{rule.name}: {note}" for note in one.notes]
    return Screening(tuple(found), tuple(notes))


def _concerned(ratings: Sequence[Rating], rule: str) -> list[Rating]:
    """Ratings on scales of the kinds that a rule is for; a scale that no kind has may be of any."""
    kinds = SCREENS[rule].kinds or tuple(KINDS)
    own = {scale for kind in kinds for scale in KINDS[kind]().results()}
    known = {scale for kind in KINDS.values() for scale in kind().results()}
    return [rating for rating in ratings if rating.scale in own or rating.scale not in known]


UNHEARD = "unheard"  # which also needs what was played
APPLY: dict[str, Apply] = {
    "p808": p808,
    "bs1534": bs1534,
    "bs1116": bs1116,
    "bt500": bt500,
}
