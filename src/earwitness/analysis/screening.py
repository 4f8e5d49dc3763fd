"""Screening rules for listeners: P.808, BS.1534, BS.1116, BT.500, playback, quality control."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

import numpy as np

from earwitness.analysis.evidence import (
    GOLD_ROLE,
    MIN_HIT_SHARE,
    TRAP_ROLE,
    DeviceHits,
    PlaybackCounts,
    QualityEvidence,
    ScreeningEvidence,
)
from earwitness.analysis.plan import Rule
from earwitness.analysis.results import ScreeningVerdict
from earwitness.core import Key, Rating, count_text
from earwitness.ratings.records import Who
from earwitness.ratings.rubric import THUMBS_DIMENSIONS, TOTAL
from earwitness.ratings.scales import DIFFERENCE_GRADE, derived_scales, known_scales
from earwitness.report.numbers import MINUS
from earwitness.stats.arrays import Floats
from earwitness.stats.observers import is_more_than, reject_observers
from earwitness.stats.votes import leave_one_out_figures

# --- Judgments -----------------------------------------------------------------------------------


Limits = Mapping[str, float]
Judgments = Mapping[Who, tuple[str, bool]]  # figures, and whether the listener is kept
RatingSequence = Sequence[Rating]
RuleJudge = Callable[[RatingSequence, ScreeningEvidence, Limits], Judgments]
RuleNotes = Callable[[RatingSequence, ScreeningEvidence, Sequence[ScreeningVerdict]], Iterable[str]]


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


# --- Unplayed sounds and device checks -----------------------------------------------------------


def unheard(_ratings: RatingSequence, evidence: ScreeningEvidence, limits: Limits) -> Judgments:
    """Judge the share of sounds that each listener did not play to the end."""
    return {
        who: _judge_plays(counts, limits["share"])
        for who, counts in evidence.plays.items()
        if counts.all
    }


def _judge_plays(counts: PlaybackCounts, share: float) -> tuple[str, bool]:
    marked = f", {counts.marked} of them reported as played" if counts.marked else ""
    figures = (
        f"{counts.unheard} of {counts.all} sounds not played to the end{marked} "
        f"(maximum share {share:.4g})"
    )
    return figures, not is_more_than(counts.unheard, counts.all, share)


def _unknown_play_notes(
    _ratings: RatingSequence, evidence: ScreeningEvidence, _verdicts: Sequence[ScreeningVerdict]
) -> list[str]:
    answers = sum(counts.unknown for counts in evidence.plays.values())
    return [f"playback was not recorded for {count_text(answers, 'answer')}"] if answers else []


def device(_ratings: RatingSequence, evidence: ScreeningEvidence, limits: Limits) -> Judgments:
    """Judge the share of right rounds in each check of a listener's device."""
    return {
        who: _judge_device(hits, limits["hits"]) for who, hits in evidence.devices.items() if hits
    }


def _judge_device(hits: DeviceHits, share: float) -> tuple[str, bool]:
    shown = ", ".join(f"{step} {right} of {rounds}" for step, (right, rounds) in hits.items())
    failed = any(is_more_than(rounds - right, rounds, 1 - share) for right, rounds in hits.values())
    return f"right rounds: {shown} (minimum share {share:.4g})", not failed


# --- Quality control -----------------------------------------------------------------------------


PLAY_TOLERANCE = 0.95  # share of the length of sounds below which an answer is too fast


def known_answers(
    role: str, _ratings: RatingSequence, evidence: ScreeningEvidence, limits: Limits
) -> Judgments:
    """Judge the share of wrong answers to gold or trapping clips of each listener."""
    tolerance = limits.get("tolerance", 0)
    within = f"wrong{f' by more than {tolerance:g}' if tolerance else ''}"
    judged = {}
    for who, answers in evidence.quality.answers(role).items():
        far = [abs(answer.value - answer.expected) > tolerance + 1e-9 for answer in answers]
        judged[who] = _judge_share(far, "answer", within, limits)
    return judged


def repeats(_ratings: RatingSequence, evidence: ScreeningEvidence, limits: Limits) -> Judgments:
    """Judge the share of repeated stimuli whose first two votes differ too much."""
    far = defaultdict[Who, list[bool]](list)
    for repeat in evidence.quality.repeats:
        change = abs(repeat.values[1] - repeat.values[0])
        far[repeat.listener].append(change > limits["tolerance"] + 1e-9)
    what = f"changed by more than {limits['tolerance']:g}"
    return {
        who: _judge_share(changes, "repeated vote", what, limits) for who, changes in far.items()
    }


def hasty(_ratings: RatingSequence, evidence: ScreeningEvidence, limits: Limits) -> Judgments:
    """Judge the share of trials answered too fast, and the time of the whole test."""
    least = f" or {limits['seconds']:g} s" if limits["seconds"] else ""
    judged = {}
    for who, times in evidence.quality.times.items():
        fast = [
            trial.seconds < max(limits["seconds"], PLAY_TOLERANCE * trial.sound_seconds)
            for trial in times.trials
        ]
        what = f"answered faster than the sounds last{least}"
        figures, kept = _judge_share(fast, "trial", what, limits)
        if limits["minutes"]:
            figures += f", {times.minutes:.3g} min in all (minimum {limits['minutes']:g})"
        if fast:
            judged[who] = figures, kept and times.minutes >= limits["minutes"]
    return judged


def hearing(_ratings: RatingSequence, evidence: ScreeningEvidence, limits: Limits) -> Judgments:
    """Judge the speech reception threshold of each listener in the hearing test."""
    most = limits["max_srt"]
    return {
        who: (f"threshold {figure_text(srt)} dB (maximum {figure_text(most)})", srt <= most)
        for who, srt in evidence.quality.thresholds.items()
    }


def _judge_share(failed: Sequence[bool], noun: str, what: str, limits: Limits) -> tuple[str, bool]:
    """Judge the share of failed trials or answers of a listener."""
    share = limits["share"]
    count = f"{sum(failed)} of {count_text(len(failed), noun)}"
    kept = not is_more_than(sum(failed), len(failed), share)
    return f"{count} {what} (maximum share {share:.4g})", kept


# --- Agreement with the panel: P.808 and BT.500 --------------------------------------------------


def p808(ratings: RatingSequence, _evidence: ScreeningEvidence, limits: Limits) -> Judgments:
    """Judge the variance of ratings and their correlation with the mean of the others.

    An undefined figure does not exclude a listener.
    """
    table, listeners = _vote_table(ratings)
    judged = {}
    correlations = leave_one_out_figures(table).correlation.tolist()
    for n, (who, correlation) in enumerate(zip(listeners, correlations, strict=True)):
        votes = table[~np.isnan(table[:, n]), n]
        variance = float(votes.var(ddof=1)) if len(votes) > 1 else math.nan
        figures = (
            f"variance {figure_text(variance)} (minimum {limits['variance']:g}), "
            f"correlation {figure_text(correlation)} (minimum {limits['correlation']:g})"
        )
        out = variance < limits["variance"] or correlation < limits["correlation"]
        judged[who] = figures, not out
    return judged


def _undefined_figure_notes(
    _ratings: RatingSequence, _evidence: ScreeningEvidence, verdicts: Sequence[ScreeningVerdict]
) -> list[str]:
    count = sum(verdict.kept and "undefined" in verdict.figures for verdict in verdicts)
    note = f"a figure is undefined in {count_text(count, 'check')}; these exclude no listener"
    return [note] if count else []


def bt500(ratings: RatingSequence, _evidence: ScreeningEvidence, limits: Limits) -> Judgments:
    """Judge the share of outlying votes, and how balanced they are above and below."""
    table, listeners = _vote_table(ratings)
    rejections = reject_observers(table, outside=limits["outside"], one_side=limits["one_side"])
    judged = {}
    rows = zip(listeners, *(column.tolist() for column in rejections), strict=True)
    for who, votes, above, below, rejected in rows:
        side = abs(above - below) / (above + below) if above + below else math.nan
        figures = (
            f"{above} above and {below} below of {votes} votes: "
            f"share of outliers {figure_text((above + below) / votes)} "
            f"(maximum {limits['outside']:g}), imbalance {figure_text(side)} "
            f"(minimum {limits['one_side']:g})"
        )
        judged[who] = figures, not rejected
    return judged


def _vote_table(ratings: RatingSequence) -> tuple[Floats, list[Who]]:
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


# --- Hidden reference and anchor: BS.1534 and BS.1116 --------------------------------------------


def bs1534(ratings: RatingSequence, evidence: ScreeningEvidence, limits: Limits) -> Judgments:
    """Judge in how many items the hidden reference is rated low or the middle anchor high.

    Shares are compared exactly: 3 of 20 items is 15 %, not more.
    """
    low, high, share = limits["reference_below"], limits["anchor_above"], limits["share"]
    judged = {}
    for who, rated in by_listener(ratings).items():
        reference = [
            rating.value < low for rating in rated if rating.key.system == evidence.reference
        ]
        anchor = [rating.value > high for rating in rated if rating.key.system == evidence.anchor]
        figures = (
            f"hidden reference below {low:g} in {sum(reference)} of {len(reference)} items, "
            f"middle anchor above {high:g} in {sum(anchor)} of {len(anchor)} "
            f"(maximum share {share:.4g})"
        )
        missed = any(
            is_more_than(sum(failures), len(failures), share) for failures in (reference, anchor)
        )
        judged[who] = figures, not missed
    return judged


def _unrated_control_notes(
    ratings: RatingSequence, evidence: ScreeningEvidence, _verdicts: Sequence[ScreeningVerdict]
) -> Iterator[str]:
    controls = {"hidden reference": evidence.reference, "middle anchor": evidence.anchor}
    for scale, scale_ratings in by_scale(ratings).items():
        for name, system in controls.items():
            if not any(rating.key.system == system for rating in scale_ratings):
                yield f"no ratings of the {name} on {scale}: that condition is not applied"


def bs1116(ratings: RatingSequence, _evidence: ScreeningEvidence, limits: Limits) -> Judgments:
    """Judge by a one-sided t test whether difference grades are significantly below 0."""
    judged = {}
    for who, grades in _difference_grades(ratings).items():
        p = _p_below_zero(grades)
        figures = f"p {figure_text(p)} over {len(grades)} grades (maximum {limits['level']:g})"
        judged[who] = figures, not p > limits["level"]
    return judged


def _difference_grades(ratings: RatingSequence) -> dict[Who, list[float]]:
    grades = by_listener(rating for rating in ratings if rating.scale == DIFFERENCE_GRADE)
    return {who: [rating.value for rating in grade] for who, grade in grades.items()}


def _single_grade_notes(
    ratings: RatingSequence, _evidence: ScreeningEvidence, _verdicts: Sequence[ScreeningVerdict]
) -> list[str]:
    alone = sum(len(grades) < 2 for grades in _difference_grades(ratings).values())
    note = f"{count_text(alone, 'listener')} kept with a single grade, which cannot be tested"
    return [note] if alone else []


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


# --- Rules with their default limits -------------------------------------------------------------


@dataclass(frozen=True)
class Screen:
    """A screening rule: whom it excludes, its default limits, and how it judges listeners.

    Parameters
    ----------
    name, doc
        Name of the rule, and whom it excludes.
    condition
        When it excludes a listener, with its limits, also in percent.
    limits
        Default limits by name.
    judge
        Returns the judgments of listeners by ratings (of one scale, if ``per_scale``), evidence and
        limits. Listeners without evidence are kept.
    unapplied, missing
        Texts for notes: why it is not applied if no listener can be judged, and what those lack who
        are not judged while others are.
    notes
        Returns further notes on what could not be judged.
    per_scale
        Whether listeners are judged on each scale.
    for_all
        Whether it is for all scales, or only for those that name it and for unknown ones.
    high_is_good
        Whether it is not for scales where lower is better.
    clauses
        Additions to the condition, for limits that are not 0.
    """

    name: str
    doc: str
    condition: str
    limits: Limits
    judge: RuleJudge
    unapplied: str = ""
    missing: str = ""
    notes: RuleNotes = lambda *_: ()
    per_scale: bool = True
    for_all: bool = True
    high_is_good: bool = False
    clauses: Mapping[str, str] = field(default_factory=dict)


CHECK_RULES = {GOLD_ROLE: "gold", TRAP_ROLE: "traps"}  # rules on clips with known answers
DEVICE_RULE = "device"
# limits of at most 1
SHARE_LIMITS = ("share", "correlation", "level", "outside", "one_side", "hits")
SIGNED_LIMITS = ("max_srt",)  # limits that may be negative
SCREENS = {
    screen.name: screen
    for screen in (
        Screen(
            "p808",
            "listeners whose ratings hardly vary or correlate poorly with the rest of the panel",
            "variance of ratings below {variance:g}, or Pearson correlation with the mean of the "
            "other listeners below {correlation:g}, on any scale",
            {"variance": 0.1, "correlation": 0.4},
            p808,
            notes=_undefined_figure_notes,
            for_all=False,
        ),
        Screen(
            "bs1534",
            "listeners who too often rate the hidden reference low or the middle anchor high",
            "hidden reference rated below {reference_below:g} in more than {share_percent:g} % "
            "of the items, or the middle anchor above {anchor_above:g} in more than "
            "{share_percent:g} %",
            {"reference_below": 90, "anchor_above": 90, "share": 0.15},
            bs1534,
            notes=_unrated_control_notes,
            for_all=False,
            high_is_good=True,
        ),
        Screen(
            "bs1116",
            "listeners who do not distinguish object and hidden reference (one-sided t test)",
            "difference grades not significantly below 0 in a one-sided t test (p above {level:g})",
            {"level": 0.05},
            bs1116,
            unapplied=f"no ratings on {DIFFERENCE_GRADE}",
            notes=_single_grade_notes,
            for_all=False,
            high_is_good=True,
        ),
        Screen(
            "bt500",
            "listeners whose ratings are too often outliers of the panel",
            "more than {outside_percent:g} % of the votes more than 2 standard deviations from "
            "the mean of the panel (√20 where votes are not normally distributed), with an "
            "imbalance between above and below of less than {one_side_percent:g} %",
            {"outside": 0.05, "one_side": 0.3},
            bt500,
        ),
        Screen(
            "unheard",
            "listeners who did not play sounds to the end, or cannot have heard them",
            "more than {share_percent:g} % of the sounds not played to the end",
            {"share": 0.0},
            unheard,
            "playback was not recorded",
            "whose playback was not recorded",
            _unknown_play_notes,
        ),
        Screen(
            "gold",
            "listeners who too often rate gold clips wrongly",
            "more than {share_percent:g} % of the answers to gold clips wrong by more than "
            "{tolerance:g}",
            {"tolerance": 1, "share": 0.2},
            partial(known_answers, GOLD_ROLE),
            "no answers to gold clips",
            "without answers to gold clips",
            per_scale=False,
        ),
        Screen(
            "traps",
            "listeners who did not follow the instructions of trapping clips",
            "more than {share_percent:g} % of the answers to trapping clips wrong",
            {"share": 0.0},
            partial(known_answers, TRAP_ROLE),
            "no answers to trapping clips",
            "without answers to trapping clips",
            per_scale=False,
        ),
        Screen(
            "repeats",
            "listeners who too often rate a repeated stimulus differently",
            "more than {share_percent:g} % of the repeated votes changed by more than "
            "{tolerance:g}",
            {"tolerance": 1, "share": 0.25},
            repeats,
            "no repeated votes",
            "without repeated votes",
            per_scale=False,
        ),
        Screen(
            "hasty",
            "listeners who answer faster than the sounds last, or than the minimum time",
            "more than {share_percent:g} % of the trials answered faster than the sounds last",
            {"share": 0.1, "seconds": 0, "minutes": 0},
            hasty,
            "no times of arrival",
            "without times of arrival",
            per_scale=False,
            clauses={
                "seconds": " or {seconds:g} s",
                "minutes": ", or the whole test in less than {minutes:g} min",
            },
        ),
        Screen(
            "hearing",
            "listeners with a high speech reception threshold in the hearing test",
            "speech reception threshold above {max_srt:g} dB",
            {"max_srt": -5},
            hearing,
            "no hearing tests",
            "without hearing tests",
            per_scale=False,
        ),
        Screen(
            DEVICE_RULE,
            "listeners who failed a check of their device, such as that of headphones",
            "less than {hits_percent:g} % of the rounds right in a check of the device",
            {"hits": MIN_HIT_SHARE},
            device,
            "no device checks were recorded",
            "without device checks",
        ),
    )
}


# rules under one name; gold and traps are applied if the study has such clips
PRESETS = {"p808_complete": ("p808", "traps", "gold", "unheard")}


# --- Applying the rules --------------------------------------------------------------------------
# Every listener judged by a rule has a verdict, kept or not, with the figure and its limit.
# What a rule cannot judge is reported in a note: silence would look like approval.


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
    evidence = ScreeningEvidence(reference, anchor, plays, devices, quality or QualityEvidence())
    verdicts: list[ScreeningVerdict] = []
    notes: list[str] = []
    for rule in rules:
        rule_ratings = _ratings_for_rule(ratings, rule.name)
        low = {rating.scale for rating in rule_ratings} & {*low_is_good}
        if SCREENS[rule.name].high_is_good and low:
            rule_ratings = [rating for rating in rule_ratings if rating.scale not in low]
            notes += [
                f"{rule.name}: not applied to {scale}: lower is better there"
                for scale in sorted(low)
            ]
        own = list(_judge_listeners(rule_ratings, rule, evidence))
        verdicts += own
        notes += [f"{rule.name}: {note}" for note in _rule_notes(rule_ratings, rule, evidence, own)]
    return Screening(tuple(verdicts), tuple(notes))


def _ratings_for_rule(ratings: RatingSequence, rule: str) -> list[Rating]:
    """Return ratings on scales that name a rule, and on unknown scales, unless it is for all."""
    if SCREENS[rule].for_all:
        return list(ratings)
    known = known_scales()
    named = {name for name, scale in known.items() if rule in scale.rules}
    others = {*known, *derived_scales(), *THUMBS_DIMENSIONS, TOTAL} - named
    return [rating for rating in ratings if rating.scale not in others]


def _judge_listeners(
    ratings: RatingSequence, rule: Rule, evidence: ScreeningEvidence
) -> Iterator[ScreeningVerdict]:
    """Yield the verdicts of a rule by scale and listener."""
    definition = SCREENS[rule.name]
    groups = by_scale(ratings) if definition.per_scale else {"": ratings}
    for scale, group in groups.items():
        judged = definition.judge(group, evidence, {**definition.limits, **rule.limits})
        for who in by_listener(group):
            if who in judged:
                yield ScreeningVerdict(who, rule.name, scale, *judged[who])


def _rule_notes(
    ratings: RatingSequence,
    rule: Rule,
    evidence: ScreeningEvidence,
    verdicts: Sequence[ScreeningVerdict],
) -> Iterator[str]:
    """Yield what a rule could not judge."""
    definition = SCREENS[rule.name]
    if definition.unapplied and not verdicts:
        yield f"not applied: {definition.unapplied}"
        return
    missing = {rating.listener for rating in ratings} - {verdict.listener for verdict in verdicts}
    if definition.missing and missing:
        yield f"{count_text(len(missing), 'listener')} kept {definition.missing}"
    yield from definition.notes(ratings, evidence, verdicts)
