"""Screening rules for listeners: P.808, BS.1534, BS.1116, BT.500, playback, quality control."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, Protocol

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


class RuleFunction(Protocol):
    """Function that applies a rule."""

    def __call__(
        self, ratings: Sequence[Rating], limits: Mapping[str, float], roles: Roles
    ) -> RuleFindings: ...


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
    plays: Mapping[Who, PlaybackCounts],
    ratings: Sequence[Rating],
    limits: Mapping[str, float],
    roles: Roles,
) -> RuleFindings:
    """Judge the share of sounds that each listener did not play to the end."""
    del roles
    recorded = {who: counts for who, counts in plays.items() if counts.all}
    if not recorded:
        return RuleFindings((), ("not applied: playback was not recorded",))
    entries = [
        _judge_plays(who, scale, recorded[who], limits["share"])
        for scale, scale_ratings in by_scale(ratings).items()
        for who in by_listener(scale_ratings)
        if who in recorded
    ]
    missing = len({counts.listener for counts in ratings} - {*recorded})
    answers = sum(counts.unknown for counts in plays.values())
    notes = [f"{_count_text(missing, 'listener')} kept whose playback was not recorded"] * bool(
        missing
    )
    notes += [f"playback was not recorded for {_count_text(answers, 'answer')}"] * bool(answers)
    return RuleFindings(entries, notes)


def _judge_plays(who: Who, scale: str, counts: PlaybackCounts, share: float) -> ScreeningVerdict:
    marked = f", {counts.marked} of them reported as played" if counts.marked else ""
    figures = (
        f"{counts.unheard} of {counts.all} sounds not played to the end{marked} "
        f"(maximum share {share:.4g})"
    )
    return ScreeningVerdict(
        who, "unheard", scale, figures, not is_more_than(counts.unheard, counts.all, share)
    )


# --- Rule on device checks -----------------------------------------------------------------------


def judge_devices(
    devices: Mapping[Who, DeviceHits],
    ratings: Sequence[Rating],
    limits: Mapping[str, float],
    roles: Roles,
) -> RuleFindings:
    """Judge the share of right rounds in each check of a listener's device."""
    del roles
    checked = {who: hits for who, hits in devices.items() if hits}
    if not checked:
        return RuleFindings((), ("not applied: no device checks were recorded",))
    entries = [
        _judge_device(who, scale, checked[who], limits["hits"])
        for scale, scale_ratings in by_scale(ratings).items()
        for who in by_listener(scale_ratings)
        if who in checked
    ]
    missing = len({rating.listener for rating in ratings} - {*checked})
    note = f"{_count_text(missing, 'listener')} kept without device checks"
    return RuleFindings(entries, [note] * bool(missing))


def _judge_device(who: Who, scale: str, hits: DeviceHits, share: float) -> ScreeningVerdict:
    shown = ", ".join(f"{step} {right} of {rounds}" for step, (right, rounds) in hits.items())
    failed = any(is_more_than(rounds - right, rounds, 1 - share) for right, rounds in hits.values())
    figures = f"right rounds: {shown} (minimum share {share:.4g})"
    return ScreeningVerdict(who, DEVICE_RULE, scale, figures, not failed)


# --- Quality control rules -----------------------------------------------------------------------
# Listeners without such trials are kept, and counted in a note.


PLAY_TOLERANCE = 0.95  # share of the length of sounds below which an answer is too fast


def judge_checks(
    quality: QualityEvidence,
    role: str,
    ratings: Sequence[Rating],
    limits: Mapping[str, float],
    roles: Roles,
) -> RuleFindings:
    """Judge the share of wrong answers to gold or trapping clips of each listener."""
    del roles
    tolerance, answers = limits.get("tolerance", 0), quality.answers(role)
    entries = []
    for who in by_listener(ratings):
        if given := answers.get(who):
            wrong = sum(abs(one.value - one.expected) > tolerance + 1e-9 for one in given)
            within = f" by more than {tolerance:g}" * bool(tolerance)
            figures = (
                f"{wrong} of {_count_text(len(given), 'answer')} wrong{within} "
                f"(maximum share {limits['share']:.4g})"
            )
            kept = not is_more_than(wrong, len(given), limits["share"])
            entries.append(ScreeningVerdict(who, CHECK_RULES[role], "", figures, kept))
    what = {GOLD_ROLE: "gold clips", TRAP_ROLE: "trapping clips"}[role]
    return RuleFindings(entries, _unknown_notes(ratings, entries, f"answers to {what}"))


def judge_repeats(
    quality: QualityEvidence,
    ratings: Sequence[Rating],
    limits: Mapping[str, float],
    roles: Roles,
) -> RuleFindings:
    """Judge the share of repeated stimuli whose first two votes differ too much."""
    del roles
    votes = defaultdict[Who, list[float]](list)
    for repeat in quality.repeats:
        votes[repeat.listener].append(abs(repeat.values[1] - repeat.values[0]))
    entries = []
    for who in by_listener(ratings):
        if changes := votes.get(who):
            far = sum(change > limits["tolerance"] + 1e-9 for change in changes)
            figures = (
                f"{far} of {_count_text(len(changes), 'repeated vote')} changed by more than "
                f"{limits['tolerance']:g} (maximum share {limits['share']:.4g})"
            )
            kept = not is_more_than(far, len(changes), limits["share"])
            entries.append(ScreeningVerdict(who, "repeats", "", figures, kept))
    return RuleFindings(entries, _unknown_notes(ratings, entries, "repeated votes"))


def judge_haste(
    quality: QualityEvidence,
    ratings: Sequence[Rating],
    limits: Mapping[str, float],
    roles: Roles,
) -> RuleFindings:
    """Judge the share of trials answered too fast, and the time of the whole test."""
    del roles
    entries = []
    for who in by_listener(ratings):
        times = quality.times.get(who)
        if times is None or not times.trials:
            continue
        fast = sum(
            one.seconds < max(limits["seconds"], PLAY_TOLERANCE * one.sound_seconds)
            for one in times.trials
        )
        count, share = len(times.trials), limits["share"]
        least = f" or {limits['seconds']:g} s" * bool(limits["seconds"])
        figures = (
            f"{fast} of {_count_text(count, 'trial')} answered faster than the sounds last{least} "
            f"(maximum share {share:.4g})"
        )
        if limits["minutes"]:
            figures += f", {times.minutes:.3g} min in all (minimum {limits['minutes']:g})"
        kept = not is_more_than(fast, count, share) and times.minutes >= limits["minutes"]
        entries.append(ScreeningVerdict(who, "hasty", "", figures, kept))
    return RuleFindings(entries, _unknown_notes(ratings, entries, "times of arrival"))


def judge_hearing(
    quality: QualityEvidence,
    ratings: Sequence[Rating],
    limits: Mapping[str, float],
    roles: Roles,
) -> RuleFindings:
    """Judge the speech reception threshold of each listener in the hearing test."""
    del roles
    entries = []
    for who in by_listener(ratings):
        if (srt := quality.thresholds.get(who)) is not None:
            limit = figure_text(limits["max_srt"])
            figures = f"threshold {figure_text(srt)} dB (maximum {limit})"
            entries.append(ScreeningVerdict(who, "hearing", "", figures, srt <= limits["max_srt"]))
    return RuleFindings(entries, _unknown_notes(ratings, entries, "hearing tests"))


def _unknown_notes(
    ratings: Sequence[Rating], entries: Sequence[ScreeningVerdict], what: str
) -> list[str]:
    """Return a note on listeners who could not be judged."""
    if not entries:
        return [f"not applied: no {what}"]
    missing = len({rating.listener for rating in ratings} - {one.listener for one in entries})
    return [f"{_count_text(missing, 'listener')} kept without {what}"] * bool(missing)


# --- Panel rules: P.808 and BT.500 ---------------------------------------------------------------


def p808(ratings: Sequence[Rating], limits: Mapping[str, float], roles: Roles) -> RuleFindings:
    """Judge the variance of ratings and their correlation with the mean of the others."""
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


def bt500(ratings: Sequence[Rating], limits: Mapping[str, float], roles: Roles) -> RuleFindings:
    """Judge the share of outlying votes, and how balanced they are above and below."""
    del roles
    entries = []
    for scale, scale_ratings in by_scale(ratings).items():
        table, listeners = _vote_table(scale_ratings)
        rejections = reject_observers(table, outside=limits["outside"], one_side=limits["one_side"])
        judged = zip(listeners, *(column.tolist() for column in rejections), strict=True)
        for who, votes, above, below, rejected in judged:
            side = abs(above - below) / (above + below) if above + below else float("nan")
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


def bs1534(ratings: Sequence[Rating], limits: Mapping[str, float], roles: Roles) -> RuleFindings:
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
    who: Who, scale: str, ratings: Sequence[Rating], limits: Mapping[str, float], roles: Roles
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


def bs1116(ratings: Sequence[Rating], limits: Mapping[str, float], roles: Roles) -> RuleFindings:
    """Judge by a one-sided t test whether difference grades are significantly below 0."""
    del roles
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
    notes = (
        [f"{_count_text(alone, 'listener')} kept with a single grade, which cannot be tested"]
        if alone
        else []
    )
    return RuleFindings(
        entries, notes if grades else [f"not applied: no ratings on {DIFFERENCE_GRADE}"]
    )


def _p_below_zero(grades: Sequence[float]) -> float:
    """Return p of the one-sided t test; for equal grades 0 if below zero, else 1."""
    from scipy.special import stdtr

    if len(grades) < 2:
        return float("nan")
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
RULE_FUNCTIONS: dict[str, RuleFunction] = {
    "p808": p808,
    "bs1534": bs1534,
    "bs1116": bs1116,
    "bt500": bt500,
}


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
    rules_by_name = RULE_FUNCTIONS | {UNHEARD_RULE: partial(unheard, plays)}
    rules_by_name |= _quality_functions(quality or QualityEvidence())
    rules_by_name |= {DEVICE_RULE: partial(judge_devices, devices)}
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
        findings = rules_by_name[rule.name](rule_ratings, limits, Roles(reference, anchor))
        verdicts += findings.entries
        notes += [f"{rule.name}: {note}" for note in findings.notes]
    return Screening(tuple(verdicts), tuple(notes))


def _quality_functions(quality: QualityEvidence) -> dict[str, RuleFunction]:
    checks = {rule: partial(judge_checks, quality, role) for role, rule in CHECK_RULES.items()}
    others: dict[str, RuleFunction] = {
        "repeats": partial(judge_repeats, quality),
        "hasty": partial(judge_haste, quality),
        "hearing": partial(judge_hearing, quality),
    }
    return {**checks, **others}


def _ratings_for_rule(ratings: Sequence[Rating], rule: str) -> list[Rating]:
    """Return ratings on scales of the trial kinds of a rule, and on scales of no known kind."""
    kinds = SCREENS[rule].kinds
    judged = {scale for kind in kinds for scale in result_scales(kind)}
    others = (
        {*known_scales(), *derived_scales(), *THUMBS_DIMENSIONS, TOTAL} - judged if kinds else ()
    )
    return [rating for rating in ratings if rating.scale not in others]
