"""Screening rules for listeners: P.808, BS.1534, BS.1116, BT.500, playback, quality control."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from earwitness.analysis.evidence import (
    GOLD_ROLE,
    MIN_HIT_SHARE,
    TRAP_ROLE,
    DeviceHits,
    PlaybackCounts,
    QualityEvidence,
)
from earwitness.analysis.plan import Rule
from earwitness.analysis.results import ScreeningVerdict
from earwitness.core import Key, Rating
from earwitness.ratings.records import Who
from earwitness.ratings.rubric import THUMBS_DIMENSIONS, TOTAL
from earwitness.ratings.scales import DIFFERENCE_GRADE, derived_scales, known_scales, result_scales
from earwitness.report.numbers import MINUS
from earwitness.stats.arrays import Floats
from earwitness.stats.observers import is_more_than, reject_observers
from earwitness.stats.votes import leave_one_out_figures

# --- Rules and their default limits --------------------------------------------------------------


@dataclass(frozen=True)
class Screen:
    """A screening rule: whom it excludes, and its default limits."""

    name: str
    doc: str
    limits: Mapping[str, float]
    kinds: tuple[str, ...] = ()  # trial kinds it applies to; empty: all


# limits of at most 1
SHARE_LIMITS = ("share", "correlation", "level", "outside", "one_side", "hits")
SIGNED_LIMITS = ("max_srt",)  # limits that may be negative
SCREENS = {
    screen.name: screen
    for screen in (
        Screen(
            "p808",
            "listeners whose ratings hardly vary or correlate poorly with the rest of the panel",
            {"variance": 0.1, "correlation": 0.4},
            ("p835", "acr", "dcr", "ccr"),
        ),
        Screen(
            "bs1534",
            "listeners who too often rate the hidden reference low or the middle anchor high",
            {"reference_below": 90, "anchor_above": 90, "share": 0.15},
            ("mushra",),
        ),
        Screen(
            "bs1116",
            "listeners who do not distinguish object and hidden reference (one-sided t test)",
            {"level": 0.05},
            ("bs1116",),
        ),
        Screen(
            "bt500",
            "listeners whose ratings are too often outliers of the panel",
            {"outside": 0.05, "one_side": 0.3},
        ),
        Screen(
            "unheard",
            "listeners who did not play sounds to the end, or cannot have heard them",
            {"share": 0.0},
        ),
        Screen(
            "gold",
            "listeners who too often rate gold clips wrongly",
            {"tolerance": 1, "share": 0.2},
        ),
        Screen(
            "traps",
            "listeners who did not follow the instructions of trapping clips",
            {"share": 0.0},
        ),
        Screen(
            "repeats",
            "listeners who too often rate a repeated stimulus differently",
            {"tolerance": 1, "share": 0.25},
        ),
        Screen(
            "hasty",
            "listeners who answer faster than the sounds last, or than the minimum time",
            {"share": 0.1, "seconds": 0, "minutes": 0},
        ),
        Screen(
            "hearing",
            "listeners with a high speech reception threshold in the hearing test",
            {"max_srt": -5},
        ),
        Screen(
            "device",
            "listeners who failed a check of their device, such as that of headphones",
            {"hits": MIN_HIT_SHARE},
        ),
    )
}


# rules under one name; gold and traps are applied if the study has such clips
PRESETS = {"p808_complete": ("p808", "traps", "gold", "unheard")}


# --- Verdicts of a rule --------------------------------------------------------------------------


class Roles(NamedTuple):
    """Names of the hidden reference and of the middle anchor."""

    reference: str
    anchor: str


class RuleFindings(NamedTuple):
    """One verdict per listener and scale, and notes on what could not be judged."""

    entries: Sequence[ScreeningVerdict]
    notes: Sequence[str] = ()


Limits = Mapping[str, float]
RuleFunction = Callable[[Sequence[Rating], Limits], RuleFindings]  # applies a rule
Judgment = tuple[str, bool]  # figures, and whether the listener is kept


def by_scale(ratings: Iterable[Rating]) -> dict[str, list[Rating]]:
    """Return ratings by scale, in order of appearance."""
    groups = defaultdict[str, list[Rating]](list)
    for rating in ratings:
        groups[rating.scale].append(rating)
    return groups


def by_listener(ratings: Iterable[Rating]) -> dict[Who, list[Rating]]:
    """Return ratings by listener, sorted: numbers first, then names."""
    groups = defaultdict[Who, list[Rating]](list)
    for rating in ratings:
        groups[rating.listener].append(rating)
    return {who: groups[who] for who in sorted(groups, key=lambda who: (isinstance(who, str), who))}


def figure_text(value: float) -> str:
    """Return a figure formatted for a verdict."""
    return "undefined" if math.isnan(value) else f"{value:.3g}".replace("-", MINUS)


def _count_text(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


# --- Rule on unplayed sounds ---------------------------------------------------------------------


def unheard(
    plays: Mapping[Who, PlaybackCounts], ratings: Sequence[Rating], limits: Limits
) -> RuleFindings:
    """Judge the share of sounds that each listener did not play to the end."""
    recorded = {who: counts for who, counts in plays.items() if counts.all}
    if not recorded:
        return RuleFindings((), ("not applied: playback was not recorded",))
    judged = {who: _judge_plays(counts, limits["share"]) for who, counts in recorded.items()}
    notes = _missing_notes(ratings, judged, "whose playback was not recorded")
    answers = sum(counts.unknown for counts in plays.values())
    notes += [f"playback was not recorded for {_count_text(answers, 'answer')}"] * bool(answers)
    return RuleFindings(_verdicts_on_scales(UNHEARD_RULE, ratings, judged), notes)


def _judge_plays(counts: PlaybackCounts, share: float) -> Judgment:
    marked = f", {counts.marked} of them reported as played" if counts.marked else ""
    figures = (
        f"{counts.unheard} of {counts.all} sounds not played to the end{marked} "
        f"(maximum share {share:.4g})"
    )
    return figures, not is_more_than(counts.unheard, counts.all, share)


def _verdicts_on_scales(
    rule: str, ratings: Sequence[Rating], judged: Mapping[Who, Judgment]
) -> list[ScreeningVerdict]:
    """Return the same verdict on each scale that a listener rated."""
    return [
        ScreeningVerdict(who, rule, scale, *judged[who])
        for scale, scale_ratings in by_scale(ratings).items()
        for who in by_listener(scale_ratings)
        if who in judged
    ]


def _missing_notes(ratings: Sequence[Rating], judged: Iterable[Who], why: str) -> list[str]:
    """Return a note on the listeners who were not judged."""
    missing = len({rating.listener for rating in ratings} - {*judged})
    return [f"{_count_text(missing, 'listener')} kept {why}"] * bool(missing)


# --- Rule on device checks -----------------------------------------------------------------------


def judge_devices(
    devices: Mapping[Who, DeviceHits], ratings: Sequence[Rating], limits: Limits
) -> RuleFindings:
    """Judge the share of right rounds in each check of a listener's device."""
    judged = {who: _judge_device(hits, limits["hits"]) for who, hits in devices.items() if hits}
    if not judged:
        return RuleFindings((), ("not applied: no device checks were recorded",))
    notes = _missing_notes(ratings, judged, "without device checks")
    return RuleFindings(_verdicts_on_scales(DEVICE_RULE, ratings, judged), notes)


def _judge_device(hits: DeviceHits, share: float) -> Judgment:
    shown = ", ".join(f"{step} {right} of {rounds}" for step, (right, rounds) in hits.items())
    failed = any(is_more_than(rounds - right, rounds, 1 - share) for right, rounds in hits.values())
    return f"right rounds: {shown} (minimum share {share:.4g})", not failed


# --- Quality control rules -----------------------------------------------------------------------
# Listeners without such trials are kept, and counted in a note.


PLAY_TOLERANCE = 0.95  # share of the length of sounds below which an answer is too fast


def judge_checks(
    quality: QualityEvidence, role: str, ratings: Sequence[Rating], limits: Limits
) -> RuleFindings:
    """Judge the share of wrong answers to gold or trapping clips of each listener."""
    tolerance = limits.get("tolerance", 0)
    within = f"wrong{f' by more than {tolerance:g}' * bool(tolerance)}"
    judged = {}
    for who, answers in quality.answers(role).items():
        far = [abs(one.value - one.expected) > tolerance + 1e-9 for one in answers]
        judged[who] = _judge_share(far, "answer", within, limits)
    what = {GOLD_ROLE: "gold clips", TRAP_ROLE: "trapping clips"}[role]
    return _quality_findings(CHECK_RULES[role], ratings, judged, f"answers to {what}")


def judge_repeats(
    quality: QualityEvidence, ratings: Sequence[Rating], limits: Limits
) -> RuleFindings:
    """Judge the share of repeated stimuli whose first two votes differ too much."""
    far = defaultdict[Who, list[bool]](list)
    for repeat in quality.repeats:
        change = abs(repeat.values[1] - repeat.values[0])
        far[repeat.listener].append(change > limits["tolerance"] + 1e-9)
    what = f"changed by more than {limits['tolerance']:g}"
    judged = {who: _judge_share(own, "repeated vote", what, limits) for who, own in far.items()}
    return _quality_findings("repeats", ratings, judged, "repeated votes")


def judge_haste(
    quality: QualityEvidence, ratings: Sequence[Rating], limits: Limits
) -> RuleFindings:
    """Judge the share of trials answered too fast, and the time of the whole test."""
    least = f" or {limits['seconds']:g} s" * bool(limits["seconds"])
    judged = {}
    for who, times in quality.times.items():
        fast = [
            one.seconds < max(limits["seconds"], PLAY_TOLERANCE * one.sound_seconds)
            for one in times.trials
        ]
        what = f"answered faster than the sounds last{least}"
        figures, kept = _judge_share(fast, "trial", what, limits)
        if limits["minutes"]:
            figures += f", {times.minutes:.3g} min in all (minimum {limits['minutes']:g})"
        if fast:
            judged[who] = figures, kept and times.minutes >= limits["minutes"]
    return _quality_findings("hasty", ratings, judged, "times of arrival")


def judge_hearing(
    quality: QualityEvidence, ratings: Sequence[Rating], limits: Limits
) -> RuleFindings:
    """Judge the speech reception threshold of each listener in the hearing test."""
    most = limits["max_srt"]
    judged = {
        who: (f"threshold {figure_text(srt)} dB (maximum {figure_text(most)})", srt <= most)
        for who, srt in quality.thresholds.items()
    }
    return _quality_findings("hearing", ratings, judged, "hearing tests")


def _judge_share(failed: Sequence[bool], noun: str, what: str, limits: Limits) -> Judgment:
    """Judge the share of failed trials or answers of a listener."""
    share = limits["share"]
    count = f"{sum(failed)} of {_count_text(len(failed), noun)}"
    kept = not is_more_than(sum(failed), len(failed), share)
    return f"{count} {what} (maximum share {share:.4g})", kept


def _quality_findings(
    rule: str, ratings: Sequence[Rating], judged: Mapping[Who, Judgment], what: str
) -> RuleFindings:
    """Return the verdicts in the order of listeners, and a note on those without evidence."""
    entries = [
        ScreeningVerdict(who, rule, "", *judged[who])
        for who in by_listener(ratings)
        if who in judged
    ]
    if not entries:
        return RuleFindings((), [f"not applied: no {what}"])
    return RuleFindings(entries, _missing_notes(ratings, judged, f"without {what}"))


# --- Panel rules: P.808 and BT.500 ---------------------------------------------------------------


def p808(ratings: Sequence[Rating], limits: Limits) -> RuleFindings:
    """Judge the variance of ratings and their correlation with the mean of the others."""
    entries = []
    for scale, scale_ratings in by_scale(ratings).items():
        table, listeners = _vote_table(scale_ratings)
        correlations = leave_one_out_figures(table).correlation.tolist()
        for n, who in enumerate(listeners):
            votes = table[~np.isnan(table[:, n]), n]
            variance = float(votes.var(ddof=1)) if len(votes) > 1 else math.nan
            entries.append(_judge_variance(who, scale, variance, correlations[n], limits))
    return RuleFindings(entries, _unjudged_notes(entries))


def _judge_variance(
    who: Who, scale: str, variance: float, correlation: float, limits: Limits
) -> ScreeningVerdict:
    """Judge variance and correlation; an undefined figure does not exclude a listener."""
    kept = not (variance < limits["variance"] or correlation < limits["correlation"])
    figures = (
        f"variance {figure_text(variance)} (minimum {limits['variance']:g}), "
        f"correlation {figure_text(correlation)} (minimum {limits['correlation']:g})"
    )
    return ScreeningVerdict(who, "p808", scale, figures, kept)


def _unjudged_notes(entries: Sequence[ScreeningVerdict]) -> list[str]:
    count = sum(one.kept and "undefined" in one.figures for one in entries)
    note = f"a figure is undefined in {_count_text(count, 'check')}; these exclude no listener"
    return [note] if count else []


def bt500(ratings: Sequence[Rating], limits: Limits) -> RuleFindings:
    """Judge the share of outlying votes, and how balanced they are above and below."""
    entries = []
    for scale, scale_ratings in by_scale(ratings).items():
        table, listeners = _vote_table(scale_ratings)
        rejections = reject_observers(table, outside=limits["outside"], one_side=limits["one_side"])
        judged = zip(listeners, *(column.tolist() for column in rejections), strict=True)
        for who, votes, above, below, rejected in judged:
            side = abs(above - below) / (above + below) if above + below else math.nan
            figures = (
                f"{above} above and {below} below of {votes} votes: "
                f"share of outliers {figure_text((above + below) / votes)} "
                f"(maximum {limits['outside']:g}), imbalance {figure_text(side)} "
                f"(minimum {limits['one_side']:g})"
            )
            entries.append(ScreeningVerdict(who, "bt500", scale, figures, not rejected))
    return RuleFindings(entries)


def _vote_table(ratings: Sequence[Rating]) -> tuple[Floats, list[Who]]:
    """Return votes with one row per stimulus (or pair) and one column per listener."""
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


def bs1534(roles: Roles, ratings: Sequence[Rating], limits: Limits) -> RuleFindings:
    """Judge in how many items the hidden reference is rated low or the middle anchor high.

    Shares are compared exactly: 3 of 20 items is 15 %, not more.
    """
    entries: list[ScreeningVerdict] = []
    notes = []
    for scale, scale_ratings in by_scale(ratings).items():
        for name, system in zip(("hidden reference", "middle anchor"), roles, strict=True):
            if not any(rating.key.system == system for rating in scale_ratings):
                notes.append(f"no ratings of the {name} on {scale}: that condition is not applied")
        entries += [
            _judge_controls(who, scale, listener_ratings, limits, roles)
            for who, listener_ratings in by_listener(scale_ratings).items()
        ]
    return RuleFindings(entries, notes)


def _judge_controls(
    who: Who, scale: str, ratings: Sequence[Rating], limits: Limits, roles: Roles
) -> ScreeningVerdict:
    low, high, share = limits["reference_below"], limits["anchor_above"], limits["share"]
    reference = [rating.value < low for rating in ratings if rating.key.system == roles.reference]
    anchor = [rating.value > high for rating in ratings if rating.key.system == roles.anchor]
    figures = (
        f"hidden reference below {low:g} in {sum(reference)} of {len(reference)} items, "
        f"middle anchor above {high:g} in {sum(anchor)} of {len(anchor)} "
        f"(maximum share {share:.4g})"
    )
    missed = any(is_more_than(sum(one), len(one), share) for one in (reference, anchor))
    return ScreeningVerdict(who, "bs1534", scale, figures, not missed)


def bs1116(ratings: Sequence[Rating], limits: Limits) -> RuleFindings:
    """Judge by a one-sided t test whether difference grades are significantly below 0."""
    entries = []
    grades = by_listener(rating for rating in ratings if rating.scale == DIFFERENCE_GRADE)
    for who, listener_grades in grades.items():
        p = _p_below_zero([rating.value for rating in listener_grades])
        figures = (
            f"p {figure_text(p)} over {len(listener_grades)} grades (maximum {limits['level']:g})"
        )
        entries.append(
            ScreeningVerdict(who, "bs1116", DIFFERENCE_GRADE, figures, not p > limits["level"])
        )
    alone = sum(len(listener_grades) < 2 for listener_grades in grades.values())
    note = f"{_count_text(alone, 'listener')} kept with a single grade, which cannot be tested"
    if not grades:
        return RuleFindings((), [f"not applied: no ratings on {DIFFERENCE_GRADE}"])
    return RuleFindings(entries, [note] * bool(alone))


def _p_below_zero(grades: Sequence[float]) -> float:
    """Return p of the one-sided t test; for equal grades 0 if below zero, else 1."""
    from scipy.special import stdtr

    if len(grades) < 2:
        return math.nan
    values = np.array(grades)
    if np.ptp(values) == 0:
        return 0.0 if values[0] < 0 else 1.0
    t = values.mean() / (values.std(ddof=1) / np.sqrt(len(values)))
    return float(stdtr(len(values) - 1, t))


# --- Applying the rules --------------------------------------------------------------------------
# Every listener judged by a rule has a verdict, kept or not, with the figure and its limit.
# What a rule cannot judge is reported in a note: silence would look like approval.


UNHEARD_RULE = "unheard"  # also needs playback records
CHECK_RULES = {GOLD_ROLE: "gold", TRAP_ROLE: "traps"}
# also need records of quality control
QUALITY_RULES = ("gold", "traps", "repeats", "hasty", "hearing")
DEVICE_RULE = "device"  # also needs results of device checks
HIGH_IS_GOOD_RULES = ("bs1534", "bs1116")  # the hidden reference is at the upper end of the scale


@dataclass(frozen=True)
class Screening:
    """Verdicts of all rules, and notes on what could not be judged."""

    verdicts: tuple[ScreeningVerdict, ...]
    notes: tuple[str, ...]

    @property
    def left(self) -> tuple[Who, ...]:
        """Listeners excluded by any rule on any scale, in order of verdicts."""
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
    devices: Mapping[Who, DeviceHits] = MappingProxyType({}),
    low_is_good: Collection[str] = (),
    quality: QualityEvidence | None = None,
) -> Screening:
    """Apply screening rules to ratings.

    Parameters
    ----------
    ratings
        Ratings of all listeners and scales.
    rules
        Rules with limits; limits that are not set have their defaults.
    reference, anchor
        Systems that are the hidden reference and the middle anchor of MUSHRA.
    plays
        Playback counts per listener, if recorded.
    devices
        Right rounds and all rounds of device checks per listener, if recorded.
    low_is_good
        Scales where lower is better, on which rules about the hidden reference are not applied.
    quality
        Answers to gold and trapping clips, repeated votes and times, if recorded.

    Returns
    -------
    Screening
        One verdict per rule, scale and listener. Each rule judges all listeners, including those
        excluded by another rule.
    """
    quality = quality or QualityEvidence()
    rules_by_name: dict[str, RuleFunction] = {
        "p808": p808,
        "bs1534": partial(bs1534, Roles(reference, anchor)),
        "bs1116": bs1116,
        "bt500": bt500,
        UNHEARD_RULE: partial(unheard, plays),
        DEVICE_RULE: partial(judge_devices, devices),
        "repeats": partial(judge_repeats, quality),
        "hasty": partial(judge_haste, quality),
        "hearing": partial(judge_hearing, quality),
        **{rule: partial(judge_checks, quality, role) for role, rule in CHECK_RULES.items()},
    }
    verdicts: list[ScreeningVerdict] = []
    notes: list[str] = []
    for rule in rules:
        limits = {**SCREENS[rule.name].limits, **rule.limits}
        rule_ratings = _ratings_for_rule(ratings, rule.name)
        if rule.name in HIGH_IS_GOOD_RULES:
            low = sorted({one.scale for one in rule_ratings if one.scale in low_is_good})
            notes += [
                f"{rule.name}: not applied to {scale}: lower is better there" for scale in low
            ]
            rule_ratings = [one for one in rule_ratings if one.scale not in low_is_good]
        findings = rules_by_name[rule.name](rule_ratings, limits)
        verdicts += findings.entries
        notes += [f"{rule.name}: {note}" for note in findings.notes]
    return Screening(tuple(verdicts), tuple(notes))


def _ratings_for_rule(ratings: Sequence[Rating], rule: str) -> list[Rating]:
    """Return ratings on scales of the trial kinds of a rule, and on scales of no known kind."""
    kinds = SCREENS[rule].kinds
    judged = {scale for kind in kinds for scale in result_scales(kind)}
    others = (
        {*known_scales(), *derived_scales(), *THUMBS_DIMENSIONS, TOTAL} - judged if kinds else ()
    )
    return [rating for rating in ratings if rating.scale not in others]
