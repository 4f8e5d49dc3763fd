"""Names of samples, such as ``C1/clip-7.wav``, taken apart by a pattern.

``{system}/{item}.wav`` says what stands where; ``*`` is anything. No name has a slash in it. Where
a sample fits in several ways, ``{item}`` takes as much as it can and all others as little: in
``{item}_{system}.wav`` the last underscore divides, in ``{system}_{item}.wav`` the first one. With
known systems a sample is divided such that its system is one of them; if several are, such that its
item is known too, and then by the longest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from earwitness.errors import UsageError, nearest

PLACES = ("item", "system", "listener", "scale", "session")
LONGEST = 1000  # characters of a sample's name
PIECE = re.compile(r"(\{[^{}]*\}|\*)")


class Division(NamedTuple):
    """What stands at each place, and whether it might be otherwise; nothing if it does not fit."""

    parts: dict[str, str]
    several: bool


@dataclass(frozen=True)
class Pattern:
    """How samples are named.

    >>> Pattern("{item}_{system}.wav").divide("clip_7_C1.wav")
    Division(parts={'item': 'clip_7', 'system': 'C1'}, several=True)
    >>> Pattern("{item}_{system}.wav", frozenset(["C_1"])).divide("clip_7_C_1.wav")
    Division(parts={'item': 'clip_7', 'system': 'C_1'}, several=False)
    """

    text: str
    systems: frozenset[str] = frozenset()
    items: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name in self.places:
            if name not in PLACES:
                raise UsageError(f'pattern: no "{{{name}}}" — {nearest(name, PLACES)}')
            if self.places.count(name) > 1:
                raise UsageError(f'pattern: "{{{name}}}" comes twice')
        if not self.places:
            raise UsageError(f'pattern "{self.text}" has no place for anything, such as {{item}}')
        if re.search(r"[{}]", PIECE.sub("", self.text)):
            raise UsageError(f'pattern "{self.text}" has a brace that is not closed')
        if "}{" in self.text:
            raise UsageError(f'pattern "{self.text}" needs something between two names')

    @cached_property
    def places(self) -> list[str]:
        """What stands in a sample's name."""
        return [one[1:-1] for one in PIECE.findall(self.text) if one != "*"]

    def divide(self, sample: str) -> Division:
        """What stands at each place, if a sample fits."""
        sample = sample.replace("\\", "/")
        if len(sample) > LONGEST:
            return Division({}, False)
        return self._known(sample) or self._any(sample)

    def _any(self, sample: str) -> Division:
        found, other = self._usual.fullmatch(sample), self._other.fullmatch(sample)
        if found is None or other is None:
            return Division({}, False)
        return Division(found.groupdict(), found.groupdict() != other.groupdict())

    def _known(self, sample: str) -> Division | None:
        """The best division whose system is known, if there is one."""
        ways = [
            {**found.groupdict(), "system": system}
            for system, one in self._by_system.items()
            if system in sample and (found := one.fullmatch(sample))
        ]
        ways = [way for way in ways if way.get("item") in self.items] or ways
        if not ways:
            return None
        best = max(ways, key=lambda way: len(way["system"]))
        return Division({name: best[name] for name in self.places}, len(ways) > 1)

    @cached_property
    def _by_system(self) -> dict[str, re.Pattern[str]]:
        if "system" not in self.places:
            return {}
        return {one: self._compiled(flipped=False, system=one) for one in sorted(self.systems)}

    @cached_property
    def _usual(self) -> re.Pattern[str]:
        return self._compiled(flipped=False)

    @cached_property
    def _other(self) -> re.Pattern[str]:
        return self._compiled(flipped=True)

    def _compiled(self, *, flipped: bool, system: str = "") -> re.Pattern[str]:
        pieces = PIECE.split(self.text.replace("\\", "/"))
        return re.compile("".join(_piece(one, flipped, system) for one in pieces))


def _piece(piece: str, flipped: bool, system: str) -> str:
    if piece == "*":
        return ".*" if flipped else ".*?"
    if not piece.startswith("{"):
        return re.escape(piece)
    if system and piece == "{system}":
        return re.escape(system)
    most = (piece == "{item}") != flipped
    return f"(?P<{piece[1:-1]}>[^/]+{'' if most else '?'})"
