"""Scales of votes: their ends and better ends, those of every trial kind, and unknown ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from earwitness.core import Rating
from earwitness.errors import UsageError
from earwitness.plugins import TRIAL_GROUP, PluginTable

# --- Scales --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scale:
    """Allowed values of an answer, from ``high`` down to ``low``, as a slider or as labels.

    ``good`` is the better end of the scale: ``low`` for annoyance, effort or numbers of faults.
    """

    name: str
    high: float
    low: float
    step: float = 1.0
    slider: bool = False
    good: Literal["high", "low"] = "high"

    @cached_property
    def values(self) -> list[float]:
        """All values, best first."""
        steps = round((self.high - self.low) / self.step)
        descending = [round(self.high - n * self.step, 6) for n in range(steps + 1)]
        return descending if self.good == "high" else descending[::-1]

    def allows(self, value: Any) -> bool:
        """Return whether a value is allowed."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return any(abs(value - one) < 1e-6 for one in self.values)

    def at(self, heard: float) -> float:
        """Return the value for a perceived quality from 0 to 1."""
        return self.values[round((1 - heard) * (len(self.values) - 1))]


OTHER_SCALE_NAMES = {"ovr": "OVRL", "overall": "OVRL"}  # in lower case


def canonical_scale(name: str, names: Iterable[str]) -> str:
    """Return the one of these names that means the same scale, in any case, or the name itself.

    >>> canonical_scale("sig", ["SIG", "OVRL"]), canonical_scale("Ovr", ["SIG", "OVRL"])
    ('SIG', 'OVRL')
    """
    known = [*names]
    if name in known:
        return name
    folded = name.casefold()
    same = [other for other in known if other.casefold() == folded]
    other = OTHER_SCALE_NAMES.get(folded, name)
    return next(iter(same), other if other in known else name)


# --- Scales of trial kinds -----------------------------------------------------------------------


BASIC_QUALITY_SCALE = Scale("BASIC", 100, 0, slider=True)
IMPAIRMENT_SCALE = Scale("IMPAIRMENT", 5, 1, 0.1, slider=True)
KEPT_SCALE = Scale("KEPT", 1, 0, 0.001, slider=True)
SUMMARY_SCALE = Scale("READING", 5, 1)
PLANE_SCALES = tuple(Scale(name, 1, 0, 0.001, slider=True) for name in ("TC", "SD"))
KIND_SCALES: dict[str, tuple[Scale, ...]] = {  # on which listeners answer, by trial kind
    "p835": (Scale("SIG", 5, 1), Scale("BAK", 5, 1), Scale("OVRL", 5, 1)),
    "acr": (Scale("QUALITY", 5, 1),),
    "dcr": (Scale("DEGRADATION", 5, 1),),
    "ccr": (Scale("COMPARISON", 3, -3),),
    "mushra": (BASIC_QUALITY_SCALE,),
    "bs1116": (IMPAIRMENT_SCALE,),
    "ab": (Scale("BETTER", 1, -1, 2),),
    "abx": (Scale("SAME", 1, -1, 2),),
    "preference": (Scale("PREFERENCE", 1, -1),),
    "words": (KEPT_SCALE,),
    "reading": (SUMMARY_SCALE,),
    "plane": PLANE_SCALES,
}
PREFERENCE_SCALES, ABX_SCALE = ("BETTER", "PREFERENCE"), "SAME"
CHOICE_SCALES = (*PREFERENCE_SCALES, ABX_SCALE)
DIFFERENCE_GRADE = "SDG"
SCALE_DOCS = {
    "SIG": "speech signal",
    "BAK": "background noise",
    "OVRL": "overall quality",
    "QUALITY": "overall quality",
    "DEGRADATION": "degradation",
    "COMPARISON": "quality relative to the other system",
    "BASIC": "basic audio quality",
    "IMPAIRMENT": "impairment",
    "SDG": "difference grade: object minus hidden reference",
    "BETTER": "choice (1: this system, 0: neither, −1: the other system)",
    "SAME": "share of correct answers",
    "PREFERENCE": "preference (1: this system, 0: neither, −1: the other system)",
    "KEPT": "share of words kept",
    "READING": "quality of a summary",
}
# with the ends that ratings have
DERIVED_SCALES = {
    DIFFERENCE_GRADE: Scale(DIFFERENCE_GRADE, 4, -4, 0.1),
    ABX_SCALE: Scale(ABX_SCALE, 1, 0),
}
PLUGIN_KINDS: PluginTable[Any] = PluginTable(TRIAL_GROUP, {}, lambda *_: "")


def known_scales() -> dict[str, Scale]:
    """Return the scales of all trial kinds, by name, with the ends that ratings have."""
    kinds = (*KIND_SCALES.values(), *(kind.fixed for kind in PLUGIN_KINDS.values()))
    return {scale.name: scale for scales in kinds for scale in scales} | DERIVED_SCALES


def result_scales(kind: str) -> set[str]:
    """Return the scales of the ratings of a built-in trial kind."""
    names = {scale.name for scale in KIND_SCALES[kind]}
    return names | ({DIFFERENCE_GRADE} if IMPAIRMENT_SCALE.name in names else set())


def derived_scales() -> set[str]:
    """Return the scales of trial kinds that are computed from others."""
    return {DIFFERENCE_GRADE, *(name for kind in PLUGIN_KINDS.values() for name in kind.derived)}


# --- Scales of ratings ---------------------------------------------------------------------------


FIVE_POINT_VALUES = {1.0, 2.0, 3.0, 4.0, 5.0}
MAX_SLIP_SHARE = 0.1  # largest share of votes that may be slips


@dataclass(frozen=True)
class Scales:
    """Scales by name: set by the user, of a trial kind, or derived from the votes.

    ``low`` are scales where lower is better, in addition to those that say so.
    """

    said: Mapping[str, Scale]
    low: Collection[str] = ()

    def good_end(self, name: str) -> Literal["high", "low"]:
        """Return the better end of a scale."""
        scales = [scales[name] for scales in (known_scales(), self.said) if name in scales]
        is_low = name in self.low or any(scale.good == "low" for scale in scales)
        return "low" if is_low else "high"

    def of(self, name: str, ratings: Iterable[Rating]) -> tuple[Scale, str]:
        """Return a scale, and a note if its ends were guessed."""
        scale, note = self._find(name, ratings)
        return replace(scale, good=self.good_end(name)), note

    def _find(self, name: str, ratings: Iterable[Rating]) -> tuple[Scale, str]:
        scales = {**known_scales(), **self.said}
        if name in scales:
            return scales[name], ""
        given = list(ratings)
        votes = [rating.value for rating in given]
        noun = "means" if given[0].listener == "" else "votes"
        values = set(votes)
        if values <= FIVE_POINT_VALUES:
            return Scale(name, 5, 1), f"{name} is treated as a scale from 1 to 5"
        low, high = min(values), max(values)
        note = (
            f"the ends of scale {name} are unknown; {noun} range from {low:g} to {high:g}"
            f"{_slips_text(votes)}; set --scale {name}=LOW:HIGH"
        )
        return Scale(name, high, low, (high - low) or 1.0, slider=True), note


def find_slips(votes: Sequence[float]) -> list[float]:
    """Return the few votes that are not on a scale from 1 to 5, if nearly all others are."""
    odd = [vote for vote in votes if vote not in FIVE_POINT_VALUES]
    return odd if len(odd) <= MAX_SLIP_SHARE * len(votes) else []


def _slips_text(votes: Sequence[float]) -> str:
    """Return the votes that are not on a scale from 1 to 5, if there are few."""
    odd = find_slips(votes)
    if not odd:
        return ""
    shown = ", ".join(f"{vote:g}" for vote in sorted(set(odd))[:5])
    return f" ({len(votes) - len(odd):,} of {len(votes):,} are 1 to 5; the others are {shown})"


def parse_scales(texts: Sequence[str], names: Iterable[str] = ()) -> dict[str, Scale]:
    """Parse scales written as ``NAME=LOW:HIGH`` or ``NAME=LOW:HIGH:STEP``.

    Scales with one of the ``names`` or that of a trial kind, in any case, get this name.

    >>> parse_scales(["sig=1:5"])["SIG"].values
    [5.0, 4.0, 3.0, 2.0, 1.0]
    """
    known = [*names, *known_scales()]
    scales = [
        replace(scale, name=canonical_scale(scale.name, known))
        for scale in map(_parse_scale, texts)
    ]
    return {scale.name: scale for scale in scales}


def _parse_scale(text: str) -> Scale:
    name, _, ends = text.partition("=")
    try:
        low, high, *step = map(float, ends.split(":"))
        if not (name and low < high and len(step) <= 1 and all(value > 0 for value in step)):
            raise ValueError
    except ValueError:
        raise UsageError(
            f'scale: write NAME=LOW:HIGH or NAME=LOW:HIGH:STEP, such as MOS=1:5, got "{text}"'
        ) from None
    return Scale(name, high, low, step[0] if step else 1.0)
