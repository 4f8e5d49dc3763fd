"""What is known of the scales of ratings: their ends, and what is good."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from earwitness.data import Rating, Value
from earwitness.errors import UsageError
from earwitness.listening.kinds import KINDS
from earwitness.listening.rubrics import TOTAL, Rubric
from earwitness.listening.scale import Scale

FIVE = 5  # points of a scale that has Good and Poor
FIVE_POINTS = {1.0, 2.0, 3.0, 4.0, 5.0}
FEW = 0.1  # of all votes: so many may be slips
DOCS = {
    "SIG": "speech signal",
    "BAK": "background noise",
    "OVRL": "overall quality",
    "QUALITY": "overall quality",
    "DEGRADATION": "degradation",
    "COMPARISON": "how much better than the other",
    "BASIC": "basic audio quality",
    "IMPAIRMENT": "impairment",
    "SDG": "difference grade: object less hidden reference",
    "BETTER": "chosen more often than the other",
    "SAME": "share of right answers",
    "PREFERENCE": "preferred more often than the other",
}
DERIVED = {"SDG": Scale("SDG", 4, -4, 0.1), "SAME": Scale("SAME", 1, 0)}  # as ratings have them


def known_scales() -> dict[str, Scale]:
    """Scales of ratings of all kinds, by name."""
    return {scale.name: scale for kind in KINDS.values() for scale in kind.fixed} | DERIVED


@dataclass(frozen=True)
class Scales:
    """Scales by name: those said, those of kinds, else what the votes show."""

    said: Mapping[str, Scale]

    def of(self, name: str, ratings: Iterable[Rating]) -> tuple[Scale, str]:
        """A scale, and a note if its ends had to be guessed."""
        known = {**known_scales(), **self.said}
        if name in known:
            return known[name], ""
        votes = [one.value for one in ratings]
        values = set(votes)
        if values <= FIVE_POINTS:
            return Scale(name, 5, 1), f"{name} was taken for a scale from 1 to 5"
        low, high = min(values), max(values)
        told = (
            f"the ends of {name} are not known; votes lie between {low:g} and {high:g}"
            f"{_odd(votes)}; say --scale {name}=LOW:HIGH"
        )
        return Scale(name, high, low, (high - low) or 1.0, slider=True), told


def _odd(votes: Sequence[float]) -> str:
    """Which few votes are not on a scale from 1 to 5 that nearly all others are on."""
    odd = [vote for vote in votes if vote not in FIVE_POINTS]
    if not 0 < len(odd) <= FEW * len(votes):
        return ""
    shown = ", ".join(f"{vote:g}" for vote in sorted(set(odd))[:5])
    return f", all but {len(odd):,} of {len(votes):,} from 1 to 5 ({shown})"


def described(scale: Scale, rubric: Rubric | None = None) -> Value:
    """As other values are described in reports."""
    doc = DOCS.get(scale.name, "mean of votes")
    if rubric is not None:
        doc = judged(rubric).get(scale.name, doc)
    return Value(scale.name, "high", scale.low, scale.high, doc)


def judged(rubric: Rubric) -> dict[str, str]:
    """What dimensions of a rubric and its total are."""
    ends = {
        "score": "a score, {range}; high is good",
        "penalty": "a penalty, {range}: 0 is no fault, so high is good",
    }
    found = {one.name: ends[one.role].format(range=one.range) for one in rubric.dimensions}
    return found | {TOTAL: f"of each rater {rubric.total}; then the mean over raters"}


def has_good(scale: Scale) -> bool:
    """Whether 4 is Good and 2 is Poor on it."""
    return not scale.slider and (scale.low, scale.high, scale.step) == (1, FIVE, 1)


def said_scales(given: Sequence[str]) -> dict[str, Scale]:
    """Scales that were said, as ``NAME=LOW:HIGH`` or ``NAME=LOW:HIGH:STEP``.

    >>> said_scales(["MOS=1:5"])["MOS"].values
    [5.0, 4.0, 3.0, 2.0, 1.0]
    """
    return {scale.name: scale for scale in map(_said, given)}


def _said(text: str) -> Scale:
    name, _, rest = text.partition("=")
    try:
        low, high, *step = map(float, rest.split(":"))
        if not (name and low < high and len(step) <= 1 and all(one > 0 for one in step)):
            raise ValueError
    except ValueError:
        raise UsageError(f'scale must be like MOS=1:5 or MOS=0:100:0.5, got "{text}"') from None
    return Scale(name, high, low, step[0] if step else 1.0)
