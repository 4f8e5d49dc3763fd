"""The rule on what was played: it needs to know, and says where it does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from earwitness.data import Rating, Screened, Who
from earwitness.listening.played import Played
from earwitness.listening.screened.found import Found, Roles, by_listener, by_scale
from earwitness.stats.rejection import more_than


def unheard(
    plays: Mapping[Who, Played],
    ratings: Sequence[Rating],
    limits: Mapping[str, float],
    roles: Roles,
) -> Found:
    """Share of the sounds that a listener did not hear to their end, beside its limit."""
    del roles
    known = {who: one for who, one in plays.items() if one.all}
    if not known:
        return Found((), ("cannot be applied: plays were not recorded",))
    entries = [
        _heard(who, scale, known[who], limits["share"])
        for scale, own in by_scale(ratings).items()
        for who in by_listener(own)
        if who in known
    ]
    missing = len({one.listener for one in ratings} - {*known})
    answers = sum(one.unknown for one in plays.values())
    notes = [f"{missing} kept whose plays were not recorded"] * bool(missing)
    notes += [f"plays of {answers} answers were not recorded"] * bool(answers)
    return Found(entries, notes)


def _heard(who: Who, scale: str, one: Played, share: float) -> Screened:
    figures = f"{one.unheard} of {one.all} sounds not heard to their end (at most {share:.4g})"
    return Screened(who, "unheard", scale, figures, not more_than(one.unheard, one.all, share))
