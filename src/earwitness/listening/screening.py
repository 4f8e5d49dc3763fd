"""Rules by which listeners are left out, declared before anybody listens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Screen:
    """A rule: what it leaves out, and its limits with their usual values."""

    name: str
    doc: str
    limits: Mapping[str, float]
    kinds: tuple[str, ...] = ()  # of trials that it is for; else any


SHARES = ("share", "correlation", "level", "outside", "one_side")  # limits that are at most 1
SCREENS = {
    screen.name: screen
    for screen in (
        Screen(
            "p808",
            "a listener whose ratings hardly vary or do not go with those of the panel",
            {"variance": 0.1, "correlation": 0.4},
            ("p835", "acr", "dcr", "ccr"),
        ),
        Screen(
            "bs1534",
            "a listener who rates the hidden reference low, or the middle anchor high, too often",
            {"reference_below": 90, "anchor_above": 90, "share": 0.15},
            ("mushra",),
        ),
        Screen(
            "bs1116",
            "a listener who cannot tell the object from the hidden reference (one-sided t test)",
            {"level": 0.05},
            ("bs1116",),
        ),
        Screen(
            "bt500",
            "a listener whose ratings lie outside those of the panel too often",
            {"outside": 0.05, "one_side": 0.3},
        ),
        Screen(
            "unheard",
            "a session in which sounds were not played to their end",
            {"share": 0.0},
        ),
    )
}
