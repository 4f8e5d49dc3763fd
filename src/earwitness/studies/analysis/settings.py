"""Settings of an analysis, and the scales that ratings are given on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from earwitness.core import Rating, Value
from earwitness.errors import UsageError, nearest
from earwitness.studies.analysis.prepare import REPEAT_RULES
from earwitness.studies.rubric import TOTAL, Rubric
from earwitness.studies.rubric_totals import Blank
from earwitness.studies.screening import SCREENS
from earwitness.studies.study import (
    ANALYSIS_CORRECTIONS,
    ANALYSIS_INTERVALS,
    MIXED_MODEL,
    Analysis,
    Rule,
    Scale,
)
from earwitness.studies.trials import KINDS

# --- Analysis settings ---------------------------------------------------------------------------


@dataclass(frozen=True)
class AnalysisSettings:
    """A plan with rules of screening, scales that were said, and how chance is drawn.

    ``reference`` is the hidden reference, ``anchors`` are anchors and ``anchor`` is the middle one,
    where some system is one. Without ``mixed`` no mixed model is fitted, unless it is planned.
    Where ratings are by a ``rubric``, ``blank`` says what a blank is in totals.
    """

    plan: Analysis = field(default_factory=Analysis)
    screening: tuple[Rule, ...] = ()
    doubled: str = REPEAT_RULES[0]
    scales: Mapping[str, Scale] = field(default_factory=dict)
    reference: str = ""
    anchor: str = ""
    anchors: tuple[str, ...] = ()
    draws: int = 2000
    seed: int = 0
    mixed: bool = True
    version: str = ""
    rubric: Rubric | None = None
    blank: Blank = "drop"

    def __post_init__(self) -> None:
        _check_name("interval", self.plan.interval, ANALYSIS_INTERVALS)
        _check_name("correction", self.plan.correction, ANALYSIS_CORRECTIONS)
        _check_name("rule for doubled votes", self.doubled, REPEAT_RULES)
        for rule in self.screening:
            _check_name("rule of screening", rule.name, tuple(SCREENS))
        for a, b in self.plan.contrasts:
            if a == b:
                raise UsageError(f"{a} is not compared with itself")
        if len({frozenset(pair) for pair in self.plan.contrasts}) < len(self.plan.contrasts):
            raise UsageError("a pair of systems is named twice")
        for scale, margin in self.plan.margins.items():
            if not 0 < margin < float("inf"):
                raise UsageError(f"margin of {scale} must be above 0, got {margin:g}")
        if not 0 < self.plan.level < 1:
            raise UsageError(f"level must lie between 0 and 1, got {self.plan.level:g}")
        if self.draws < 1:
            raise UsageError(f"draws must be 1 or more, got {self.draws}")

    @property
    def methods(self) -> tuple[str, ...]:
        """Intervals that are computed, the planned one first."""
        first = self.plan.interval
        others = [
            interval
            for interval in ANALYSIS_INTERVALS
            if interval != first and (self.mixed or interval != MIXED_MODEL)
        ]
        return (first, *others)

    @property
    def controls(self) -> tuple[str, ...]:
        """Sounds that are rated but do not compete: the hidden reference and anchors."""
        names = (self.reference, *self.anchors, self.anchor)
        return tuple(dict.fromkeys(name for name in names if name))

    @property
    def chosen(self) -> str:
        """How ratings are chosen: by which rules listeners are left out, and which vote counts."""
        rules = [f"{rule.name}({_limits_text(rule)})" for rule in self.screening]
        return f"screening={'+'.join(rules) or 'none'}|doubled={self.doubled}"

    @property
    def signature(self) -> str:
        """All that numbers depend on, beside the votes."""
        plan = self.plan
        pairs = "+".join(f"{a}:{b}" for a, b in plan.contrasts) or "all"
        said = [
            f"{scale.name}={scale.low:g}:{scale.high:g}:{scale.step:g}"
            for scale in self.scales.values()
        ]
        margins = [f"{name}={margin:g}" for name, margin in plan.margins.items()]
        more = {"by": plan.by, "margins": margins, "rubric": self._judged}
        controls = [f"controls={'+'.join(self.controls)}"] if self.controls else []
        parts = [
            f"earwitness={self.version}",
            f"ratings(interval={plan.interval},level={plan.level:g},correction={plan.correction},"
            f"contrasts={pairs})",
            *([f"scales={'+'.join(said)}"] if said else []),
            *controls,
            *(f"{name}={'+'.join(values)}" for name, values in more.items() if values),
            self.chosen,
            f"bootstrap(draws={self.draws},seed={self.seed})",
        ]
        return "|".join(parts)

    @property
    def _judged(self) -> list[str]:
        return [f"{self.rubric.name}(blank:{self.blank})"] if self.rubric else []


def _limits_text(rule: Rule) -> str:
    return ",".join(f"{name}={value:g}" for name, value in rule.limits.items())


def _check_name(what: str, name: str, names: tuple[str, ...]) -> None:
    if name not in names:
        raise UsageError(f'there is no {what} "{name}" — {nearest(name, names)}')


def default_rule(name: str) -> Rule:
    """A rule with its usual limits."""
    _check_name("rule of screening", name, tuple(SCREENS))
    return Rule(name, SCREENS[name].limits)


# --- Scales of ratings ---------------------------------------------------------------------------


GOOD_POOR_SCALE_POINTS = 5  # points of a scale that has Good and Poor
FIVE_POINT_VALUES = {1.0, 2.0, 3.0, 4.0, 5.0}
MAX_SLIP_SHARE = 0.1  # of all votes: so many may be slips
SCALE_DOCS = {
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
# as ratings have them
DERIVED_SCALES = {"SDG": Scale("SDG", 4, -4, 0.1), "SAME": Scale("SAME", 1, 0)}


def known_scales() -> dict[str, Scale]:
    """Scales of ratings of all kinds, by name."""
    return {scale.name: scale for kind in KINDS.values() for scale in kind.fixed} | DERIVED_SCALES


@dataclass(frozen=True)
class Scales:
    """Scales by name: those said, those of kinds, else what the votes show."""

    said: Mapping[str, Scale]

    def of(self, name: str, ratings: Iterable[Rating]) -> tuple[Scale, str]:
        """A scale, and a note if its ends had to be guessed."""
        scales = {**known_scales(), **self.said}
        if name in scales:
            return scales[name], ""
        votes = [rating.value for rating in ratings]
        values = set(votes)
        if values <= FIVE_POINT_VALUES:
            return Scale(name, 5, 1), f"{name} was taken for a scale from 1 to 5"
        low, high = min(values), max(values)
        note = (
            f"the ends of {name} are not known; votes lie between {low:g} and {high:g}"
            f"{_slips_text(votes)}; say --scale {name}=LOW:HIGH"
        )
        return Scale(name, high, low, (high - low) or 1.0, slider=True), note


def _slips_text(votes: Sequence[float]) -> str:
    """Which few votes are not on a scale from 1 to 5 that nearly all others are on."""
    odd = [vote for vote in votes if vote not in FIVE_POINT_VALUES]
    if not 0 < len(odd) <= MAX_SLIP_SHARE * len(votes):
        return ""
    shown = ", ".join(f"{vote:g}" for vote in sorted(set(odd))[:5])
    return f", all but {len(odd):,} of {len(votes):,} from 1 to 5 ({shown})"


def describe_scale(scale: Scale, rubric: Rubric | None = None) -> Value:
    """As other values are described in reports."""
    doc = SCALE_DOCS.get(scale.name, "mean of votes")
    if rubric is not None:
        doc = rubric_docs(rubric).get(scale.name, doc)
    return Value(scale.name, "high", scale.low, scale.high, doc)


def rubric_docs(rubric: Rubric) -> dict[str, str]:
    """What dimensions of a rubric and its total are."""
    ends = {
        "score": "a score, {range}; high is good",
        "penalty": "a penalty, {range}: 0 is no fault, so high is good",
    }
    docs = {
        dimension.name: ends[dimension.role].format(range=dimension.range)
        for dimension in rubric.dimensions
    }
    return docs | {TOTAL: f"of each rater {rubric.total}; then the mean over raters"}


def has_good_and_poor(scale: Scale) -> bool:
    """Whether 4 is Good and 2 is Poor on it."""
    return not scale.slider and (scale.low, scale.high, scale.step) == (
        1,
        GOOD_POOR_SCALE_POINTS,
        1,
    )


def parse_scales(texts: Sequence[str]) -> dict[str, Scale]:
    """Scales that were said, as ``NAME=LOW:HIGH`` or ``NAME=LOW:HIGH:STEP``.

    >>> parse_scales(["MOS=1:5"])["MOS"].values
    [5.0, 4.0, 3.0, 2.0, 1.0]
    """
    return {scale.name: scale for scale in map(_parse_scale, texts)}


def _parse_scale(text: str) -> Scale:
    name, _, ends = text.partition("=")
    try:
        low, high, *step = map(float, ends.split(":"))
        if not (name and low < high and len(step) <= 1 and all(value > 0 for value in step)):
            raise ValueError
    except ValueError:
        raise UsageError(f'scale must be like MOS=1:5 or MOS=0:100:0.5, got "{text}"') from None
    return Scale(name, high, low, step[0] if step else 1.0)
