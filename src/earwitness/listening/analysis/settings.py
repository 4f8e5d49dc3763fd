"""How ratings are analysed: the plan, and what else numbers depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from earwitness.data import Analysis, Rule
from earwitness.errors import UsageError, nearest
from earwitness.listening.analysis.doubled import RULES
from earwitness.listening.planned import CORRECTIONS, INTERVALS
from earwitness.listening.rubrics import Blank, Rubric
from earwitness.listening.scale import Scale
from earwitness.listening.screening import SCREENS

MIXED = "mixed"


@dataclass(frozen=True)
class Settings:
    """A plan with rules of screening, scales that were said, and how chance is drawn.

    ``reference`` is the hidden reference, ``anchors`` are anchors and ``anchor`` is the middle one,
    where some system is one. Without ``mixed`` no mixed model is fitted, unless it is planned.
    Where ratings are by a ``rubric``, ``blank`` says what a blank is in totals.
    """

    plan: Analysis = field(default_factory=Analysis)
    screening: tuple[Rule, ...] = ()
    doubled: str = RULES[0]
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
        _one_of("interval", self.plan.interval, INTERVALS)
        _one_of("correction", self.plan.correction, CORRECTIONS)
        _one_of("rule for doubled votes", self.doubled, RULES)
        for rule in self.screening:
            _one_of("rule of screening", rule.name, tuple(SCREENS))
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
        others = [one for one in INTERVALS if one != first and (self.mixed or one != MIXED)]
        return (first, *others)

    @property
    def controls(self) -> tuple[str, ...]:
        """Sounds that are rated but do not compete: the hidden reference and anchors."""
        every = (self.reference, *self.anchors, self.anchor)
        return tuple(dict.fromkeys(name for name in every if name))

    @property
    def chosen(self) -> str:
        """How ratings are chosen: by which rules listeners are left out, and which vote counts."""
        rules = [f"{rule.name}({_limits(rule)})" for rule in self.screening]
        return f"screening={'+'.join(rules) or 'none'}|doubled={self.doubled}"

    @property
    def signature(self) -> str:
        """All that numbers depend on, beside the votes."""
        plan = self.plan
        pairs = "+".join(f"{a}:{b}" for a, b in plan.contrasts) or "all"
        said = [f"{one.name}={one.low:g}:{one.high:g}:{one.step:g}" for one in self.scales.values()]
        margins = [f"{name}={one:g}" for name, one in plan.margins.items()]
        more = {"by": plan.by, "margins": margins, "rubric": self._judged}
        controls = [f"controls={'+'.join(self.controls)}"] if self.controls else []
        parts = [
            f"earwitness={self.version}",
            f"ratings(interval={plan.interval},level={plan.level:g},correction={plan.correction},"
            f"contrasts={pairs})",
            *([f"scales={'+'.join(said)}"] if said else []),
            *controls,
            *(f"{name}={'+'.join(one)}" for name, one in more.items() if one),
            self.chosen,
            f"bootstrap(draws={self.draws},seed={self.seed})",
        ]
        return "|".join(parts)

    @property
    def _judged(self) -> list[str]:
        return [f"{self.rubric.name}(blank:{self.blank})"] if self.rubric else []


def _limits(rule: Rule) -> str:
    return ",".join(f"{name}={value:g}" for name, value in rule.limits.items())


def _one_of(what: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        raise UsageError(f'there is no {what} "{name}" — {nearest(name, known)}')


def rule_named(name: str) -> Rule:
    """A rule with its usual limits."""
    _one_of("rule of screening", name, tuple(SCREENS))
    return Rule(name, SCREENS[name].limits)
