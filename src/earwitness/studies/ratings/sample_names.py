"""Patterns of sample names, which contain system, item and other parts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from earwitness.errors import UsageError, nearest

# In ``{system}/{item}.wav`` names are placeholders and ``*`` is any text; names contain no slash.
# If a sample matches in several ways, ``{item}`` takes the longest text and all others the
# shortest: ``{item}_{system}.wav`` is split at the last underscore, ``{system}_{item}.wav`` at the
# first. If systems are known, the system must be one of them, in any case if no other spelling is
# known; if several match, the item must be known too, and then the longest system name is used.


PATTERN_FIELDS = ("item", "system", "listener", "scale", "session")
MAX_SAMPLE_NAME_CHARACTERS = 1000
PATTERN_PLACEHOLDER = re.compile(r"(\{[^{}]*\}|\*)")


class Division(NamedTuple):
    """Parts of a sample name by placeholder (empty: no match), and whether it is ambiguous."""

    parts: dict[str, str]
    several: bool


@dataclass(frozen=True)
class Pattern:
    """Pattern of sample names.

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
            if name not in PATTERN_FIELDS:
                raise UsageError(
                    f'pattern: unknown placeholder "{{{name}}}" — {nearest(name, PATTERN_FIELDS)}'
                )
            if self.places.count(name) > 1:
                raise UsageError(f'pattern: "{{{name}}}" occurs twice — use it once')
        if not self.places:
            raise UsageError(
                f'pattern "{self.text}" has no placeholder — use at least one, such as {{item}}'
            )
        if re.search(r"[{}]", PATTERN_PLACEHOLDER.sub("", self.text)):
            raise UsageError(
                f'pattern "{self.text}" has an unmatched brace — write placeholders as {{item}}'
            )
        if "}{" in self.text:
            raise UsageError(
                f'pattern "{self.text}" has adjacent placeholders — put text between them'
            )

    @cached_property
    def places(self) -> list[str]:
        """Names of the placeholders."""
        return [
            placeholder[1:-1]
            for placeholder in PATTERN_PLACEHOLDER.findall(self.text)
            if placeholder != "*"
        ]

    def divide(self, sample: str) -> Division:
        """Split a sample name into its parts."""
        sample = sample.replace("\\", "/")
        if len(sample) > MAX_SAMPLE_NAME_CHARACTERS:
            return Division({}, False)
        return self._divide_by_system(sample) or self._divide_any(sample)

    def _divide_any(self, sample: str) -> Division:
        match, other_match = (
            self._usual_pattern.fullmatch(sample),
            self._other_pattern.fullmatch(sample),
        )
        if match is None or other_match is None:
            return Division({}, False)
        return Division(match.groupdict(), match.groupdict() != other_match.groupdict())

    def _divide_by_system(self, sample: str) -> Division | None:
        """Return the best division with a known system, or None."""
        ways, folded = self._ways(sample, exact=True), sample.casefold()
        if not ways and any(system.casefold() in folded for system in self.systems):
            ways = self._ways(sample, exact=False)
        ways = [way for way in ways if way.get("item") in self.items] or ways
        if not ways:
            return None
        best = max(ways, key=lambda way: len(way["system"]))
        return Division({name: best[name] for name in self.places}, len(ways) > 1)

    def _ways(self, sample: str, *, exact: bool) -> list[dict[str, str]]:
        """Return the divisions with a known system, written exactly so or in any case."""
        patterns = self._by_system if exact else self._by_folded_system
        return [
            {**match.groupdict(), "system": system}
            for system, pattern in patterns.items()
            if (not exact or system in sample) and (match := pattern.fullmatch(sample))
        ]

    @cached_property
    def _by_system(self) -> dict[str, re.Pattern[str]]:
        if "system" not in self.places:
            return {}
        return {
            system: self._compile(flipped=False, system=system) for system in sorted(self.systems)
        }

    @cached_property
    def _by_folded_system(self) -> dict[str, re.Pattern[str]]:
        return {
            system: re.compile(pattern.pattern, re.IGNORECASE)
            for system, pattern in self._by_system.items()
        }

    @cached_property
    def _usual_pattern(self) -> re.Pattern[str]:
        return self._compile(flipped=False)

    @cached_property
    def _other_pattern(self) -> re.Pattern[str]:
        return self._compile(flipped=True)

    def _compile(self, *, flipped: bool, system: str = "") -> re.Pattern[str]:
        pieces = PATTERN_PLACEHOLDER.split(self.text.replace("\\", "/"))
        return re.compile("".join(_piece_regex(piece, flipped, system) for piece in pieces))


def _piece_regex(piece: str, flipped: bool, system: str) -> str:
    if piece == "*":
        return ".*" if flipped else ".*?"
    if not piece.startswith("{"):
        return re.escape(piece)
    if system and piece == "{system}":
        return re.escape(system)
    most = (piece == "{item}") != flipped
    return f"(?P<{piece[1:-1]}>[^/]+{'' if most else '?'})"
