"""Screening rules for listeners: P.808, BS.1534, BS.1116, BT.500 and unheard sounds."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, Protocol

import numpy as np

from earwitness.core import Key, Rating
from earwitness.stats.arrays import Floats
from earwitness.stats.observers import is_more_than, reject_observers
from earwitness.stats.votes import leave_one_out_figures
from earwitness.studies.device import PlaybackCounts
from earwitness.studies.results import ScreeningVerdict, Who
from earwitness.studies.study import Rule
from earwitness.studies.trials import KINDS
from earwitness.studies.trials.mushra import DIFFERENCE_GRADE

# --- Rules and their default limits --------------------------------------------------------------


@dataclass(frozen=True)
class Screen:
    """A rule: what it leaves out, and its limits with their usual values."""

    name: str
    doc: str
    limits: Mapping[str, float]
    kinds: tuple[str, ...] = ()  # of trials that it is for; else any


SHARE_LIMITS = ("share", "correlation", "level", "outside", "one_side")  # limits that are at most 1
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


# --- Findings of a rule --------------------------------------------------------------------------


class Roles(NamedTuple):
    """Systems that are no systems: the hidden reference, and the middle anchor."""

    reference: str
    anchor: str


class RuleFindings(NamedTuple):
    """An entry a listener and scale that was judged, and notes on what was not."""

    entries: Sequence[ScreeningVerdict]
    notes: Sequence[str] = ()


class RuleFunction(Protocol):
    """A rule at work."""

    def __call__(
        self, ratings: Sequence[Rating], limits: Mapping[str, float], roles: Roles
    ) -> RuleFindings: ...


def by_scale(ratings: Iterable[Rating]) -> dict[str, list[Rating]]:
    """Ratings of each scale, in the order of scales."""
    groups = defaultdict[str, list[Rating]](list)
    for rating in ratings:
        groups[rating.scale].append(rating)
    return groups


def by_listener(ratings: Iterable[Rating]) -> dict[Who, list[Rating]]:
    """Ratings of each listener: numbers in their order, then names in theirs."""
    groups = defaultdict[Who, list[Rating]](list)
    for rating in ratings:
        groups[rating.listener].append(rating)
    return {who: groups[who] for who in sorted(groups, key=lambda who: (isinstance(who, str), who))}


def figure_text(value: float) -> str:
    """A figure as it stands in a reason."""
    return "undefined" if math.isnan(value) else f"{value:.3g}"


# --- Rule on unheard sounds ----------------------------------------------------------------------


def unheard(
    plays: Mapping[Who, PlaybackCounts],
    ratings: Sequence[Rating],
    limits: Mapping[str, float],
    roles: Roles,
) -> RuleFindings:
    """Share of the sounds that a listener did not hear to their end, beside its limit."""
    del roles
    recorded = {who: counts for who, counts in plays.items() if counts.all}
    if not recorded:
        return RuleFindings((), ("cannot be applied: plays were not recorded",))
    entries = [
        _judge_plays(who, scale, recorded[who], limits["share"])
        for scale, scale_ratings in by_scale(ratings).items()
        for who in by_listener(scale_ratings)
        if who in recorded
    ]
    missing = len({counts.listener for counts in ratings} - {*recorded})
    answers = sum(counts.unknown for counts in plays.values())
    notes = [f"{missing} kept whose plays were not recorded"] * bool(missing)
    notes += [f"plays of {answers} answers were not recorded"] * bool(answers)
    return RuleFindings(entries, notes)


def _judge_plays(who: Who, scale: str, counts: PlaybackCounts, share: float) -> ScreeningVerdict:
    figures = (
        f"{counts.unheard} of {counts.all} sounds not heard to their end (at most {share:.4g})"
    )
    return ScreeningVerdict(
        who, "unheard", scale, figures, not is_more_than(counts.unheard, counts.all, share)
    )


# --- Panel rules: P.808 and BT.500 ---------------------------------------------------------------


def p808(ratings: Sequence[Rating], limits: Mapping[str, float], roles: Roles) -> RuleFindings:
    """Variance of a listener's ratings, and their correlation with the mean of the others."""
    del roles
    entries = []
    for scale, scale_ratings in by_scale(ratings).items():
        table, listeners = _vote_table(scale_ratings)
        correlations = leave_one_out_figures(table).correlation.tolist()
        for n, who in enumerate(listeners):
            votes = table[~np.isnan(table[:, n]), n]
            variance = float(votes.var(ddof=1)) if len(votes) > 1 else float("nan")
            entries.append(_judge_variance(who, scale, variance, correlations[n], limits))
    return RuleFindings(entries, _unjudged_notes(entries))


def _judge_variance(
    who: Who, scale: str, variance: float, correlation: float, limits: Mapping[str, float]
) -> ScreeningVerdict:
    """An undefined figure leaves nobody out: that of a constant listener is their variance."""
    kept = not (variance < limits["variance"] or correlation < limits["correlation"])
    figures = (
        f"variance {figure_text(variance)} (at least {limits['variance']:g}), "
        f"correlation {figure_text(correlation)} (at least {limits['correlation']:g})"
    )
    return ScreeningVerdict(who, "p808", scale, figures, kept)


def _unjudged_notes(entries: Sequence[ScreeningVerdict]) -> list[str]:
    count = sum(one.kept and "undefined" in one.figures for one in entries)
    return [f"{count} kept with an undefined figure"] if count else []


def bt500(ratings: Sequence[Rating], limits: Mapping[str, float], roles: Roles) -> RuleFindings:
    """Votes outside those of the panel, and how one-sided they are."""
    del roles
    entries = []
    for scale, scale_ratings in by_scale(ratings).items():
        table, listeners = _vote_table(scale_ratings)
        rejections = reject_observers(table, outside=limits["outside"], one_side=limits["one_side"])
        judged = zip(listeners, *(column.tolist() for column in rejections), strict=True)
        for who, votes, above, below, rejected in judged:
            side = abs(above - below) / (above + below) if above + below else float("nan")
            figures = (
                f"{above} above and {below} below of {votes}: "
                f"{figure_text((above + below) / votes)} outside "
                f"(at most {limits['outside']:g}), one-sidedness {figure_text(side)} "
                f"(at least {limits['one_side']:g})"
            )
            entries.append(ScreeningVerdict(who, "bt500", scale, figures, not rejected))
    return RuleFindings(entries)


def _vote_table(ratings: Sequence[Rating]) -> tuple[Floats, list[Who]]:
    """A row a stimulus (or a pair of them), a column a listener; of doubled votes the last."""
    listeners = list(by_listener(ratings))
    column = {who: n for n, who in enumerate(listeners)}
    row: dict[tuple[Key, Key | None], int] = {}
    for rating in ratings:
        row.setdefault((rating.key, rating.against), len(row))
    table = np.full((len(row), len(column)), np.nan)
    for rating in ratings:
        table[row[rating.key, rating.against], column[rating.listener]] = rating.value
    return table, listeners


# --- Hidden reference and anchor rules -----------------------------------------------------------


def bs1534(ratings: Sequence[Rating], limits: Mapping[str, float], roles: Roles) -> RuleFindings:
    """Items in which the hidden reference was rated too low, or the middle anchor too high.

    Shares are compared as they are written: 3 of 20 items are 15 %, and not more.
    """
    entries: list[ScreeningVerdict] = []
    notes = []
    for scale, scale_ratings in by_scale(ratings).items():
        for name, system in zip(("hidden reference", "middle anchor"), roles, strict=True):
            if not any(rating.key.system == system for rating in scale_ratings):
                notes.append(f"no ratings of the {name} on {scale}: that half is not applied")
        entries += [
            _judge_controls(who, scale, listener_ratings, limits, roles)
            for who, listener_ratings in by_listener(scale_ratings).items()
        ]
    return RuleFindings(entries, notes)


def _judge_controls(
    who: Who, scale: str, ratings: Sequence[Rating], limits: Mapping[str, float], roles: Roles
) -> ScreeningVerdict:
    low, high, share = limits["reference_below"], limits["anchor_above"], limits["share"]
    reference = [rating.value < low for rating in ratings if rating.key.system == roles.reference]
    anchor = [rating.value > high for rating in ratings if rating.key.system == roles.anchor]
    figures = (
        f"hidden reference below {low:g} in {sum(reference)} of {len(reference)} items, "
        f"middle anchor above {high:g} in {sum(anchor)} of {len(anchor)} (at most {share:.4g})"
    )
    missed = any(is_more_than(sum(one), len(one), share) for one in (reference, anchor))
    return ScreeningVerdict(who, "bs1534", scale, figures, not missed)


def bs1116(ratings: Sequence[Rating], limits: Mapping[str, float], roles: Roles) -> RuleFindings:
    """One-sided t test of a listener's difference grades: is the object below the reference?"""
    del roles
    entries = []
    grades = by_listener(rating for rating in ratings if rating.scale == DIFFERENCE_GRADE)
    for who, listener_grades in grades.items():
        p = _p_below_zero([rating.value for rating in listener_grades])
        figures = (
            f"p {figure_text(p)} over {len(listener_grades)} grades (at most {limits['level']:g})"
        )
        entries.append(
            ScreeningVerdict(who, "bs1116", DIFFERENCE_GRADE, figures, not p > limits["level"])
        )
    alone = sum(len(listener_grades) < 2 for listener_grades in grades.values())
    notes = [f"{alone} kept with one grade, which cannot be tested"] if alone else []
    return RuleFindings(
        entries, notes if grades else [f"no ratings on {DIFFERENCE_GRADE}: not applied"]
    )


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


# --- Applying the rules --------------------------------------------------------------------------
# Every listener that a rule judges has an entry, kept or not, with the figure beside its limit.
# What a rule cannot judge is said in a note, never passed over: silence would look like approval.


UNHEARD_RULE = "unheard"  # which also needs what was played
RULE_FUNCTIONS: dict[str, RuleFunction] = {
    "p808": p808,
    "bs1534": bs1534,
    "bs1116": bs1116,
    "bt500": bt500,
}


@dataclass(frozen=True)
class Screening:
    """What all rules found, and what they could not be applied to."""

    verdicts: tuple[ScreeningVerdict, ...]
    notes: tuple[str, ...]

    @property
    def left(self) -> tuple[Who, ...]:
        """Listeners left out by any rule on any scale, in the order in which they were found."""
        return tuple(
            dict.fromkeys(verdict.listener for verdict in self.verdicts if not verdict.kept)
        )


def screen(
    ratings: Sequence[Rating],
    rules: Sequence[Rule],
    *,
    reference: str = "",
    anchor: str = "",
    plays: Mapping[Who, PlaybackCounts] = MappingProxyType({}),
) -> Screening:
    """Apply rules with their limits.

    ``reference`` and ``anchor`` are the systems that are the hidden reference and the middle anchor
    of MUSHRA, ``plays`` what listeners heard, where that was recorded. Each rule sees all
    listeners, also those that another one leaves out.
    """
    rules_by_name = RULE_FUNCTIONS | {UNHEARD_RULE: partial(unheard, plays)}
    verdicts: list[ScreeningVerdict] = []
    notes: list[str] = []
    for rule in rules:
        limits = {**SCREENS[rule.name].limits, **rule.limits}
        rule_ratings = _ratings_for_rule(ratings, rule.name)
        findings = rules_by_name[rule.name](rule_ratings, limits, Roles(reference, anchor))
        verdicts += findings.entries
        notes += [f"{rule.name}: {note}" for note in findings.notes]
    return Screening(tuple(verdicts), tuple(notes))


def _ratings_for_rule(ratings: Sequence[Rating], rule: str) -> list[Rating]:
    """Ratings on scales of the kinds that a rule is for; a scale that no kind has may be of any."""
    kinds = SCREENS[rule].kinds or tuple(KINDS)
    rule_scales = {scale for kind in kinds for scale in KINDS[kind]().results()}
    kind_scales = {scale for kind in KINDS.values() for scale in kind().results()}
    return [
        rating
        for rating in ratings
        if rating.scale in rule_scales or rating.scale not in kind_scales
    ]
