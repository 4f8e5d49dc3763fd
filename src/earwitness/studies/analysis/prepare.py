"""Ratings as arrays, with repeated votes, duplicate captions, retests and scale use."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeVar

import numpy as np

from earwitness.core import Key, Rating
from earwitness.errors import InputError, Problem, UsageError, nearest
from earwitness.stats.arrays import Floats
from earwitness.stats.means import mean_over_listeners
from earwitness.stats.votes import Codes, Votes
from earwitness.studies.results import RatingFault, RepeatedVote, Retest, Stimulus, Who

# --- Ratings as arrays ---------------------------------------------------------------------------


Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class CodedRatings:
    """Votes on one scale; number n of systems, items and listeners is the n-th name.

    Where systems are rated against different others, a pair takes the place of a system.
    """

    scale: str
    ratings: tuple[Rating, ...]
    systems: tuple[str, ...]
    items: tuple[str, ...]
    listeners: tuple[Who, ...]
    votes: Votes

    def without(self, left: Sequence[Who]) -> CodedRatings:
        """Without some listeners; all names keep their numbers."""
        if not left:
            return self
        out = set(left)
        return self.chosen([one.listener not in out for one in self.ratings])

    def chosen(self, which: Sequence[bool]) -> CodedRatings:
        """Some of the ratings; all names keep their numbers."""
        ratings = tuple(one for one, kept in zip(self.ratings, which, strict=True) if kept)
        return replace(self, ratings=ratings, votes=self.votes.select(np.array(which, bool)))


def coded(
    ratings: Sequence[Rating], scale: str, systems: Sequence[str] = (), items: Sequence[str] = ()
) -> CodedRatings:
    """Ratings of a scale; systems and items that are known come first, in their order."""
    own = tuple(one for one in ratings if one.scale == scale)
    named = compared(own)
    pairs = [pair_name(a, b) for a in systems for b in systems]
    known, first = _numbered([named(one) for one in own], [*systems, *pairs])
    pieces, second = _numbered([one.key.item for one in own], items)
    people, third = _numbered([one.listener for one in own], sorted_listeners(own))
    values = np.array([one.value for one in own], np.float64)
    size = len(known), len(pieces), len(people)
    votes = Votes(values, first, second, third, size)
    return CodedRatings(scale, own, known, pieces, people, votes)


def compared(ratings: Sequence[Rating]) -> Callable[[Rating], str]:
    """What stands where systems stand: a system, or two if they are not all against one."""
    others = {one.against.system if one.against else "" for one in ratings}
    if len(others) <= 1:
        return lambda one: one.key.system
    return lambda one: pair_name(one.key.system, one.against.system if one.against else "")


def pair_name(system: str, against: str) -> str:
    """A system beside another.

    >>> pair_name("C1", "C0")
    'C1 / C0'
    """
    return f"{system} / {against}" if against else system


def sorted_listeners(ratings: Sequence[Rating]) -> list[Who]:
    """Numbers by size, then names by the alphabet."""
    return sorted({one.listener for one in ratings}, key=lambda one: (isinstance(one, str), one))


def _numbered(names: Sequence[Name], known: Sequence[Name]) -> tuple[tuple[Name, ...], Codes]:
    """Names without repeats, those known first if they occur at all, and the number of each."""
    seen = set(names)
    order = [name for name in dict.fromkeys(known) if name in seen]
    order += sorted(seen - set(order), key=lambda name: (str(type(name)), name))
    number = {name: n for n, name in enumerate(order)}
    return tuple(order), np.array([number[name] for name in names], np.int64)


# --- Repeated votes ------------------------------------------------------------------------------
# Sessions do not tell votes apart: a stimulus that comes again in a later session is rated again.
# By default the first vote counts, as of two answers to a page the first does: it was given by
# somebody who had not heard the stimulus before, and it is always a point of the scale. ``mean`` is
# for studies that repeat stimuli on purpose, ``last`` for tables that keep what listeners changed
# their minds about. A hidden reference of BS.1116 is rated once beside every object, as it must be:
# its mean counts, and nothing is said to be doubled.


FIRST_VOTE, LAST_VOTE, MEAN_VOTE, REFUSE_REPEATS = "first", "last", "mean", "refuse"
REPEAT_RULES = (FIRST_VOTE, LAST_VOTE, MEAN_VOTE, REFUSE_REPEATS)
# the scale on which a hidden reference is rated beside every object
IMPAIRMENT_SCALE_NAME = "IMPAIRMENT"
RatingSequence = Sequence[Rating]


def resolve(
    ratings: RatingSequence, rule: str = FIRST_VOTE, *, source: str = "ratings", reference: str = ""
) -> tuple[list[Rating], tuple[RepeatedVote, ...]]:
    """Ratings that count, one for each listener, stimulus and scale; and those that came twice.

    Votes are in the order of sessions and trials where these are known, else as they stand.
    ``reference`` is the hidden reference.
    """
    if rule not in REPEAT_RULES:
        raise UsageError(f'no rule "{rule}" for doubled votes — {nearest(rule, REPEAT_RULES)}')
    cells = [_cell(one) for one in ratings]
    if len(set(cells)) == len(cells):
        return list(ratings), ()
    groups: dict[Hashable, list[Rating]] = {}
    for cell, one in zip(cells, ratings, strict=True):
        groups.setdefault(cell, []).append(one)
    several = {cell: _in_order(own) for cell, own in groups.items() if len(own) > 1}
    again = {cell: _mean(own) for cell, own in several.items() if _each_time(own[0], reference)}
    several = {cell: own for cell, own in several.items() if cell not in again}
    if rule == REFUSE_REPEATS and several:
        raise InputError([_problem(source, own) for own in several.values()], done="analysed")
    counts = {cell: REPEAT_RULE_FUNCTIONS[rule](own) for cell, own in several.items()}
    one_each = {cell: own[0] for cell, own in groups.items()} | again | counts
    kept = list(one_each.values())
    return kept, tuple(_doubled(own, counts[cell]) for cell, own in several.items())


def _each_time(one: Rating, reference: str) -> bool:
    """Whether it is of the hidden reference of BS.1116, which is rated beside every object."""
    return one.scale == IMPAIRMENT_SCALE_NAME and bool(reference) and one.key.system == reference


def _cell(one: Rating) -> Hashable:
    against = "" if one.against is None else one.against.system
    return one.key.item, one.key.system, one.scale, one.listener, against


def _in_order(votes: RatingSequence) -> list[Rating]:
    trials = all(one.trial for one in votes)
    return sorted(votes, key=lambda one: (one.session, one.trial if trials else 0))


def _mean(votes: RatingSequence) -> Rating:
    return replace(votes[0], value=sum(one.value for one in votes) / len(votes))


REPEAT_RULE_FUNCTIONS: dict[str, Callable[[RatingSequence], Rating]] = {
    FIRST_VOTE: lambda votes: votes[0],
    LAST_VOTE: lambda votes: votes[-1],
    MEAN_VOTE: _mean,
}


def _doubled(votes: RatingSequence, counted: Rating) -> RepeatedVote:
    values = tuple(one.value for one in votes)
    return RepeatedVote(counted.key, counted.scale, counted.listener, values, counted.value)


def _problem(source: str, votes: RatingSequence) -> Problem:
    one, values = votes[0], ", ".join(f"{vote.value:g}" for vote in votes)
    against = f" against {one.against.system}" if one.against else ""
    told = f"listener {one.listener} rated {one.key.system}{against} {len(votes)} times: {values}"
    return Problem(source, 0, one.scale, told, "say which counts: first, last, mean", one.key.item)


# --- Duplicate captions --------------------------------------------------------------------------
# Which of them is wrong cannot be known, so all of them stay in the results, and results without
# them stand beside.


DUPLICATES_KEPT_NOTE = "kept; differences without such captions stand beside"
SHOWN_CAPTION_CHARACTERS = 60  # characters of a caption in a message


@dataclass(frozen=True)
class Duplicates:
    """What was found, and all captions that it is about."""

    faults: tuple[RatingFault, ...]
    keys: frozenset[Key]


def duplicates(captions: Mapping[Key, str]) -> Duplicates:
    """Captions of the same words, but for blanks and capitals."""
    found: dict[str, list[Key]] = {}
    for key, text in captions.items():
        if words := _words(text):
            found.setdefault(words, []).append(key)
    several = [keys for keys in found.values() if len(keys) > 1]
    faults = [_fault(key, keys, captions) for keys in several for key in keys]
    return Duplicates(tuple(faults), frozenset(key for keys in several for key in keys))


def _words(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _fault(key: Key, keys: Sequence[Key], captions: Mapping[Key, str]) -> RatingFault:
    others = [_place(other, key) for other in keys if other != key]
    text = " ".join(captions[key].split())
    shown = (
        text
        if len(text) <= SHOWN_CAPTION_CHARACTERS
        else f"{text[: SHOWN_CAPTION_CHARACTERS - 1]}…"
    )
    told = f"“{shown}” also stands under {', '.join(others)}"
    return RatingFault("duplicate", told, DUPLICATES_KEPT_NOTE, key.item, key.system)


def _place(other: Key, key: Key) -> str:
    return other.system if other.item == key.item else f"{other.item}, {other.system}"


# --- Retest reliability --------------------------------------------------------------------------


def retests(doubled: Sequence[RepeatedVote], *, level: float) -> tuple[Retest, ...]:
    """By scale, from the first two votes of everything that was rated more than once."""
    scales = dict.fromkeys(one.scale for one in doubled)
    return tuple(_retest([one for one in doubled if one.scale == name], level) for name in scales)


def _retest(doubled: Sequence[RepeatedVote], level: float) -> Retest:
    first, second = np.array([one.values[:2] for one in doubled], np.float64).T
    change = second - first
    return Retest(
        scale=doubled[0].scale,
        pairs=len(doubled),
        change=mean_over_listeners(_by_listener(doubled, change), level)[0],
        error=math.sqrt(float((change**2).mean()) / 2),
        same=float((change == 0).mean()),
        correlation=_correlation(first, second),
    )


def _by_listener(doubled: Sequence[RepeatedVote], change: Floats) -> Floats:
    """The mean change of every listener."""
    own: dict[object, list[float]] = {}
    for one, value in zip(doubled, change.tolist(), strict=True):
        own.setdefault(one.listener, []).append(value)
    return np.array([np.mean(values) for values in own.values()])


def _correlation(first: Floats, second: Floats) -> float:
    a, b = first - first.mean(), second - second.mean()
    size = math.sqrt(float((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else math.nan


# --- Stimuli with their votes --------------------------------------------------------------------


def stimuli(coded: CodedRatings) -> tuple[Stimulus, ...]:
    """Item by item and system by system; votes in the order of the panel's listeners.

    NaN stands where a listener of the panel gave none.
    """
    table, found = coded.votes.table(), []
    panels = [(own, table[:, own]) for own in coded.votes.panels()]
    for number in np.unique(coded.votes.stimuli).tolist():
        votes = next(own[number] for _, own in panels if not np.isnan(own[number]).all())
        found.append(_stimulus(coded, number, votes))
    return tuple(found)


def _stimulus(coded: CodedRatings, number: int, votes: Floats) -> Stimulus:
    item, system = divmod(number, len(coded.systems))
    key, given = Key(coded.items[item], coded.systems[system]), votes[~np.isnan(votes)]
    sd = float(given.std(ddof=1)) if len(given) > 1 else float("nan")
    return Stimulus(key, tuple(votes.tolist()), float(given.mean()), sd)


# --- Use of the scale ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScaleUse:
    """One listener on one scale: the share of the value given most, and the longest row of it.

    ``run`` counts equal votes that follow each other within a session, in order of trials; it is 0
    where the order is not known.
    """

    usual: float
    run: int


def use(ratings: Iterable[Rating], scale: str) -> dict[Who, ScaleUse]:
    """How each listener uses a scale."""
    own = defaultdict[Who, list[Rating]](list)
    for one in ratings:
        if one.scale == scale:
            own[one.listener].append(one)
    return {
        listener: ScaleUse(usual([one.value for one in votes]), longest_run(votes))
        for listener, votes in own.items()
    }


def usual(values: Sequence[float]) -> float:
    """The share of the value given most often.

    >>> usual([4, 4, 3, 4])
    0.75
    """
    return max(Counter(values).values()) / len(values) if values else math.nan


def longest_run(ratings: Iterable[Rating]) -> int:
    """The longest row of equal votes in a session, in order of trials and of places in them."""
    known = [one for one in ratings if one.trial > 0]
    in_order = sorted(known, key=lambda one: (one.session, one.trial, one.place))
    rows = groupby(in_order, key=lambda one: (one.session, one.value))
    return max((sum(1 for _ in row) for _, row in rows), default=0)


def alike(ratings: Iterable[Rating]) -> dict[Who, float]:
    """By listener, the share of trials with the same number on all scales, where there are several.

    For P.835; a trial is one stimulus in one session.
    """
    trials = defaultdict[tuple[object, ...], list[Rating]](list)
    for one in ratings:
        trials[one.listener, one.session, one.trial, one.key].append(one)
    equal = defaultdict[Who, list[bool]](list)
    for votes in trials.values():
        if len({one.scale for one in votes}) > 1:
            equal[votes[0].listener].append(len({one.value for one in votes}) == 1)
    return {listener: sum(own) / len(own) for listener, own in equal.items()}
