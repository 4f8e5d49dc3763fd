"""Scales of votes: their ends and better ends, those of trial kinds, and unknown ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from earwitness.core import Rating
from earwitness.errors import UsageError
from earwitness.plugins import TRIAL_GROUP, PluginTable

# --- Scales --------------------------------------------------------------------------------------


GoodEnd = Literal["high", "low", "none"]
ChoiceKind = Literal["", "preferred", "correct"]  # 1 or −1 by preference, or 1 if correct, else 0


@dataclass(frozen=True)
class Scale:
    """Allowed values of an answer, from ``high`` down to ``low``, as a slider or as labels.

    ``good`` is the better end of the scale: ``low`` for annoyance, effort or numbers of faults.
    The other fields describe ratings on it: ``doc`` in reports, ``choices`` if they are choices
    between two systems, ``rules`` are the screening rules that were made for them, and
    ``with_reference`` tells whether the hidden reference is rated in every trial.
    """

    name: str
    high: float
    low: float
    step: float = 1.0
    slider: bool = False
    good: GoodEnd = "high"
    doc: str = ""
    choices: ChoiceKind = ""
    rules: tuple[str, ...] = ()
    with_reference: bool = False

    @cached_property
    def values(self) -> list[float]:
        """All values, best first."""
        steps = round((self.high - self.low) / self.step)
        descending = [round(self.high - n * self.step, 6) for n in range(steps + 1)]
        return descending[::-1] if self.good == "low" else descending

    def allows(self, value: Any) -> bool:
        """Return whether a value is allowed."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        # a huge integer can be compared with a float, but not subtracted from one
        near = self.low - 1 < value < self.high + 1
        return near and any(abs(value - allowed) < 1e-6 for allowed in self.values)

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


DIFFERENCE_GRADE = "SDG"
PANEL_RULES = ("p808",)
SCALES = {  # of the built-in trial kinds, with the ends that ratings have
    scale.name: scale
    for scale in (
        Scale("SIG", 5, 1, doc="speech signal", rules=PANEL_RULES),
        Scale("BAK", 5, 1, doc="background noise", rules=PANEL_RULES),
        Scale("OVRL", 5, 1, doc="overall quality", rules=PANEL_RULES),
        Scale("QUALITY", 5, 1, doc="overall quality", rules=PANEL_RULES),
        Scale("DEGRADATION", 5, 1, doc="degradation", rules=PANEL_RULES),
        Scale("COMPARISON", 3, -3, doc="quality relative to the other system", rules=PANEL_RULES),
        Scale("BASIC", 100, 0, slider=True, doc="basic audio quality", rules=("bs1534",)),
        Scale(
            "IMPAIRMENT",
            5,
            1,
            0.1,
            slider=True,
            doc="impairment",
            rules=("bs1116",),
            with_reference=True,
        ),
        Scale(
            "BETTER",
            1,
            -1,
            2,
            doc="choice (1: this system, 0: neither, −1: the other system)",
            choices="preferred",
        ),
        Scale("SAME", 1, 0, doc="share of correct answers", choices="correct"),
        Scale(
            "PREFERENCE",
            1,
            -1,
            doc="preference (1: this system, 0: neither, −1: the other system)",
            choices="preferred",
        ),
        Scale("KEPT", 1, 0, 0.001, slider=True, good="none", doc="share of words kept"),
        Scale("READING", 5, 1, doc="quality of a summary"),
        Scale("TC", 1, 0, 0.001, slider=True),
        Scale("SD", 1, 0, 0.001, slider=True),
        Scale(
            DIFFERENCE_GRADE,
            4,
            -4,
            0.1,
            doc="difference grade: object minus hidden reference",
            rules=("bs1116",),
        ),
    )
}
BASIC_QUALITY_SCALE, IMPAIRMENT_SCALE = SCALES["BASIC"], SCALES["IMPAIRMENT"]
KEPT_SCALE, SUMMARY_SCALE = SCALES["KEPT"], SCALES["READING"]
PLANE_SCALES = SCALES["TC"], SCALES["SD"]
PLUGIN_KINDS: PluginTable[Any] = PluginTable(TRIAL_GROUP, {}, lambda *_: "")


def known_scales() -> dict[str, Scale]:
    """Return the scales of all trial kinds, by name, with the ends that ratings have."""
    added = {scale.name: scale for kind in PLUGIN_KINDS.values() for scale in kind.fixed}
    return {**SCALES, **added, **SCALES}


def scale_choices(name: str) -> ChoiceKind:
    """Return the kind of choices that the ratings of a scale are, if they are choices."""
    scale = known_scales().get(name)
    return scale.choices if scale else ""


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

    def good_end(self, name: str) -> GoodEnd:
        """Return the better end of a scale."""
        scales = [scales[name] for scales in (known_scales(), self.said) if name in scales]
        usual: GoodEnd = "low" if name in self.low else "high"
        return next((scale.good for scale in scales if scale.good != "high"), usual)

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
