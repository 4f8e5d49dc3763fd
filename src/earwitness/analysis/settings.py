"""Settings of an analysis, and scales of ratings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from earwitness.analysis.plan import (
    ALL_SCALES,
    ANALYSIS_ADJUSTMENTS,
    ANALYSIS_CORRECTIONS,
    ANALYSIS_INTERVALS,
    ANALYSIS_TESTS,
    FOR_ITEMS,
    LISTENER_INTERVALS,
    MIXED_MODEL,
    NOT_ADJUSTED,
    T_TEST,
    Analysis,
    Rule,
)
from earwitness.analysis.prepare import REPEAT_RULES
from earwitness.analysis.screening import PRESETS, SCREENS
from earwitness.core import Rating, Value
from earwitness.errors import UsageError, nearest
from earwitness.ratings.rubric import TOTAL, Rubric
from earwitness.ratings.rubric_totals import Blank
from earwitness.ratings.scales import Scale, Scales, known_scales
from earwitness.stats.means import ITEM_ADJUSTED, ITEM_T

# --- Analysis settings ---------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class AnalysisSettings:
    """Settings of an analysis.

    Parameters
    ----------
    plan
        Interval method, confidence level, test, correction, contrasts, groups, margins and anchors.
    screening
        Screening rules.
    doubled
        Vote that is used if a listener rated the same sample several times, or refuse.
    scales
        Scales set by the user, by name.
    reference, anchor, anchors
        Hidden reference, middle anchor, and anchors of the trial kind; ``plan`` has further ones.
    low_is_good
        Scales where lower is better, in addition to those declared so.
    draws
        Number of bootstrap samples.
    seed
        Random seed.
    mixed
        Whether to fit a mixed model in addition to the planned method.
    version
        Version of the program, for the signature.
    rubric
        Rubric of the ratings.
    blank
        Blank cells in totals of a rubric: drop the total of the rater, count a blank penalty as 0,
        or refuse the file.
    """

    plan: Analysis = field(default_factory=Analysis)
    screening: tuple[Rule, ...] = ()
    doubled: Annotated[str, REPEAT_RULES] = REPEAT_RULES[0]
    scales: Mapping[str, Scale] = field(default_factory=dict)
    reference: str = ""
    anchor: str = ""
    anchors: tuple[str, ...] = ()
    draws: int = 1000
    seed: int = 0
    mixed: bool = True
    version: str = ""
    rubric: Rubric | None = None
    blank: Blank = "drop"
    low_is_good: tuple[str, ...] = ()
    where: str = ""  # conditions on rows of tables, for the signature

    def __post_init__(self) -> None:
        if not self.is_over_items:
            _check_name("interval", self.plan.interval, ANALYSIS_INTERVALS)
        _check_name("correction", self.plan.correction, ANALYSIS_CORRECTIONS)
        _check_name("test", self.plan.test, ANALYSIS_TESTS)
        if self.plan.test != T_TEST and self.plan.interval not in (*LISTENER_INTERVALS, ITEM_T):
            raise UsageError(
                f"test {self.plan.test} compares listeners' mean differences, but interval "
                f"{self.plan.interval} does not — use {' or '.join(LISTENER_INTERVALS)}"
            )
        _check_name("adjustment", self.plan.adjust, ANALYSIS_ADJUSTMENTS)
        if self.plan.adjust == FOR_ITEMS and self.plan.interval == MIXED_MODEL:
            raise UsageError(
                "adjust: the mixed model already adjusts for items — use another interval"
            )
        _check_name("rule for repeated votes", self.doubled, REPEAT_RULES)
        for rule in self.screening:
            _check_name("screening rule", rule.name, tuple(SCREENS))
        for a, b in self.plan.contrasts:
            if a == b:
                raise UsageError(
                    f'contrasts: "{a}" is compared with itself — name two different systems'
                )
        if len({frozenset(pair) for pair in self.plan.contrasts}) < len(self.plan.contrasts):
            raise UsageError("contrasts: a pair of systems is listed twice — list each pair once")
        for scale, margin in self.plan.margins.items():
            if not 0 < margin < float("inf"):
                raise UsageError(
                    f"margin of {scale} must be a finite number above 0, got {margin:g}"
                )
        if not 0 < self.plan.level < 1:
            raise UsageError(f"level must be between 0 and 1, got {self.plan.level:g}")
        if self.draws < 1:
            raise UsageError(f"draws must be at least 1, got {self.draws}")

    @property
    def is_over_items(self) -> bool:
        """Whether values are means over raters, so that items are the units of inference."""
        return self.plan.interval == ITEM_T

    @property
    def methods(self) -> tuple[str, ...]:
        """Interval methods to compute, the planned one first; only this one for means."""
        first = self.plan.interval
        if self.is_over_items:
            return (first,)
        others = [
            interval
            for interval in ANALYSIS_INTERVALS
            if interval != first and (self.mixed or interval != MIXED_MODEL)
        ]
        return (first, *others)

    @property
    def mean_method(self) -> str:
        """Method of means and their intervals: the planned one, or adjusted for items."""
        return ITEM_ADJUSTED if self.plan.adjust == FOR_ITEMS else self.plan.interval

    @property
    def controls(self) -> tuple[str, ...]:
        """Systems that are rated but not ranked on any scale: the hidden reference and anchors."""
        return self.controls_of(ALL_SCALES)

    def controls_of(self, scale: str) -> tuple[str, ...]:
        """Return the systems that are not ranked on a scale, including its own anchors."""
        named = (*self.plan.anchors.get(ALL_SCALES, ()), *self.plan.anchors.get(scale, ()))
        names = (self.reference, *self.anchors, self.anchor, *named)
        return tuple(dict.fromkeys(name for name in names if name))

    @property
    def named_scales(self) -> Scales:
        """Scales of the rubric and of the user, and on which of them lower is better."""
        judged = self.rubric.scales if self.rubric else {}
        low = [name for name, scale in judged.items() if scale.good == "low"]
        return Scales({**judged, **self.scales}, (*self.low_is_good, *low))

    def low_scales(self, ratings: Iterable[Rating]) -> set[str]:
        """Return the scales of ratings where lower is better."""
        names, scales = {rating.scale for rating in ratings}, self.named_scales
        return {name for name in names if scales.good_end(name) == "low"}

    @property
    def chosen(self) -> str:
        """Selection of ratings: screening rules and rule for repeated votes."""
        rules = [f"{rule.name}({_limits_text(rule)})" for rule in self.screening]
        return f"screening={'+'.join(rules) or 'none'}|doubled={self.doubled}{self.where}"

    @property
    def signature(self) -> str:
        """All settings that the numbers depend on, in one line."""
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
            f"contrasts={pairs}{_test_text(plan)})",
            *([f"scales={'+'.join(said)}"] if said else []),
            *([f"low_is_good={'+'.join(self.low_is_good)}"] if self.low_is_good else []),
            *controls,
            *([f"anchors={own}"] if (own := scale_anchors_text(plan.anchors)) else []),
            *(f"{name}={'+'.join(values)}" for name, values in more.items() if values),
            self.chosen,
            f"bootstrap(draws={self.draws},seed={self.seed})",
        ]
        return "|".join(parts)

    @property
    def _judged(self) -> list[str]:
        return [f"{self.rubric.name}(blank:{self.blank})"] if self.rubric else []


def _test_text(plan: Analysis) -> str:
    test = "" if plan.test == T_TEST else f",test={plan.test}"
    return test if plan.adjust == NOT_ADJUSTED else f"{test},adjust={plan.adjust}"


def scale_anchors_text(anchors: Mapping[str, Sequence[str]]) -> str:
    """Return the anchors of single scales for a signature, such as ``BAK:noisy+SIG:clipped``."""
    pairs = [(scale, name) for scale, names in anchors.items() if scale for name in names]
    return "+".join(f"{scale}:{name}" for scale, name in pairs)


def _limits_text(rule: Rule) -> str:
    return ",".join(f"{name}={value:g}" for name, value in rule.limits.items())


def _check_name(what: str, name: str, names: tuple[str, ...]) -> None:
    if name not in names:
        raise UsageError(f'unknown {what} "{name}" — {nearest(name, names)}')


NO_RULES = "none"  # name for no screening rules


def default_rule(name: str) -> Rule:
    """Return a screening rule with its default limits."""
    _check_name("screening rule", name, (*SCREENS, *PRESETS))
    return Rule(name, SCREENS[name].limits)


def default_rules(names: Sequence[str]) -> tuple[Rule, ...]:
    """Return screening rules with their default limits; a preset stands for its rules.

    ``NO_RULES`` alone names none.
    """
    if NO_RULES in names:
        if {*names} != {NO_RULES}:
            raise UsageError("screening: none cannot be combined with rules — remove either")
        return ()
    rules = dict.fromkeys(rule for name in names for rule in PRESETS.get(name, (name,)))
    return tuple(map(default_rule, rules))


# --- Scales of ratings ---------------------------------------------------------------------------


GOOD_POOR_SCALE_POINTS = 5  # number of points of a scale with Good and Poor


def describe_scale(scale: Scale, rubric: Rubric | None = None) -> Value:
    """Return a scale as a value of reports."""
    doc = known_scales().get(scale.name, scale).doc or "rating"
    if rubric is not None:
        doc = rubric_docs(rubric).get(scale.name, doc)
    return Value(scale.name, scale.good, scale.low, scale.high, doc, "scale points")


def rubric_docs(rubric: Rubric) -> dict[str, str]:
    """Return descriptions of the dimensions and the total of a rubric."""
    ends = {
        "score": "score, {range}; {good}er is better",
        "penalty": "penalty, {range}; 0 is no fault, higher is better",
    }
    docs = {
        dimension.name: ends[dimension.role].format(range=dimension.range, good=dimension.good)
        for dimension in rubric.dimensions
    }
    return docs | {TOTAL: f"{rubric.total} per rater, then the mean over raters"}


def has_good_and_poor(scale: Scale) -> bool:
    """Return whether 4 is Good and 2 is Poor on a scale."""
    return not scale.slider and (scale.low, scale.high, scale.step) == (
        1,
        GOOD_POOR_SCALE_POINTS,
        1,
    )


AnchorNames = str | Sequence[str] | Mapping[str, str | Sequence[str]]


def parse_anchors(named: AnchorNames) -> dict[str, tuple[str, ...]]:
    """Return anchors by scale, those of all scales under ``ALL_SCALES``.

    Anchors are a name, several names, of which ``SCALE=SYSTEM`` is an anchor of one scale, or a
    mapping from scales to names.

    >>> parse_anchors(["low", "BAK=noisy"])
    {'': ('low',), 'BAK': ('noisy',)}
    """
    if isinstance(named, Mapping):
        lists = {str(scale): [x] if isinstance(x, str) else [*x] for scale, x in named.items()}
    else:
        lists = {}
        for text in [named] if isinstance(named, str) else named:
            scale, is_marked, system = text.partition("=")
            if is_marked and not (scale and system):
                raise UsageError(f'anchors: write SYSTEM or SCALE=SYSTEM, got "{text}"')
            lists.setdefault(scale if is_marked else ALL_SCALES, []).append(system or scale)
    return {
        scale: tuple(dict.fromkeys(name for name in names if name))
        for scale, names in lists.items()
        if any(names)
    }
