"""Rules that hold a listener against a known sound: the hidden reference, or an anchor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from earwitness.data import Rating, Screened, Who
from earwitness.listening.kinds.bs1116 import DIFFERENCE
from earwitness.listening.screened.found import Found, Roles, by_listener, by_scale, told
from earwitness.stats.rejection import more_than


def bs1534(ratings: Sequence[Rating], limits: Mapping[str, float], roles: Roles) -> Found:
    """Items in which the hidden reference was rated too low, or the middle anchor too high.

    Shares are compared as they are written: 3 of 20 items are 15 %, and not more.
    """
    entries: list[Screened] = []
    notes = []
    for scale, own in by_scale(ratings).items():
        for name, system in zip(("hidden reference", "middle anchor"), roles, strict=True):
            if not any(rating.key.system == system for rating in own):
                notes.append(f"no ratings of the {name} on {scale}: that half is not applied")
        entries += [_known(who, scale, one, limits, roles) for who, one in by_listener(own).items()]
    return Found(entries, notes)


def _known(
    who: Who, scale: str, ratings: Sequence[Rating], limits: Mapping[str, float], roles: Roles
) -> Screened:
    low, high, share = limits["reference_below"], limits["anchor_above"], limits["share"]
    reference = [rating.value < low for rating in ratings if rating.key.system == roles.reference]
    anchor = [rating.value > high for rating in ratings if rating.key.system == roles.anchor]
    figures = (
        f"hidden reference below {low:g} in {sum(reference)} of {len(reference)} items, "
        f"middle anchor above {high:g} in {sum(anchor)} of {len(anchor)} (at most {share:.4g})"
    )
    missed = any(more_than(sum(one), len(one), share) for one in (reference, anchor))
    return Screened(who, "bs1534", scale, figures, not missed)


def bs1116(ratings: Sequence[Rating], limits: Mapping[str, float], roles: Roles) -> Found:
    """One-sided t test of a listener's difference grades: is the object below the reference?"""
    del roles
    entries = []
    grades = by_listener(rating for rating in ratings if rating.scale == DIFFERENCE)
    for who, own in grades.items():
        p = _p_below_zero([rating.value for rating in own])
        figures = f"p {told(p)} over {len(own)} grades (at most {limits['level']:g})"
        entries.append(Screened(who, "bs1116", DIFFERENCE, figures, not p > limits["level"]))
    alone = sum(len(own) < 2 for own in grades.values())
    notes = [f"{alone} kept with one grade, which cannot be tested"] if alone else []
    return Found(entries, notes if grades else [f"no ratings on {DIFFERENCE}: not applied"])


def _p_below_zero(grades: Sequence[float]) -> float:
    """That of Student's t; where all grades are equal, 0 below zero and 1 otherwise."""
    from scipy.special import stdtr

    if len(grades) < 2:
        return float("nan")
    values = np.array(grades)
    if np.ptp(values) == 0:
        return 0.0 if values[0] < 0 else 1.0
    t = values.mean() / (values.std(ddof=1) / np.sqrt(len(values)))
    return float(stdtr(len(values) - 1, t))
