"""Preparation of ratings: arrays, repeated votes, duplicate captions, retests, scale use."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeVar

import numpy as np

from earwitness.analysis.evidence import RepeatedVote
from earwitness.analysis.results import Retest, Stimulus
from earwitness.core import Key, Rating, group_values
from earwitness.errors import InputError, Problem, UsageError, nearest
from earwitness.ratings.records import RatingFault, Who
from earwitness.ratings.scales import known_scales, scale_choices
from earwitness.stats.arrays import Floats
from earwitness.stats.means import mean_over_listeners
from earwitness.stats.votes import Codes, Votes

# --- Ratings as arrays ---------------------------------------------------------------------------


CHOICE_OUTCOMES = {-1.0, 0.0, 1.0}
Name = TypeVar("Name", bound=Hashable)


def has_choices(ratings: Sequence[Rating]) -> bool:
    """Return whether ratings of a scale are choices between two systems.

    They are if they name another system and the scale is one of choices, or if all values are 1, 0
    or −1 and −1 occurs.
    """
    against = [rating.value for rating in ratings if rating.against]
    named = bool(ratings) and bool(scale_choices(ratings[0].scale))
    return bool(against) and (named or {-1.0} < {*against} | {0.0} <= CHOICE_OUTCOMES)


@dataclass(frozen=True)
class CodedRatings:
    """Votes on one scale as arrays; system, item and listener n is the n-th name.

    If systems are rated relative to different others, each pair is treated as a system. In tables
    of means, which have no listeners, items are in the place of listeners.
    """

    scale: str
    ratings: tuple[Rating, ...]
    systems: tuple[str, ...]
    items: tuple[str, ...]
    listeners: tuple[Who, ...]
    votes: Votes

    @property
    def unit(self) -> str:
        """Unit of inference: listener, or item for means over raters."""
        return "item" if self.ratings and self.ratings[0].listener == "" else "listener"

    def without_listeners(self, left: Sequence[Who]) -> CodedRatings:
        """Return the ratings without some listeners; all names keep their numbers."""
        if not left:
            return self
        out = set(left)
        return self.chosen([rating.listener not in out for rating in self.ratings])

    def chosen(self, which: Sequence[bool]) -> CodedRatings:
        """Return the selected ratings; all names keep their numbers."""
        ratings = tuple(rating for rating, kept in zip(self.ratings, which, strict=True) if kept)
        return replace(self, ratings=ratings, votes=self.votes.select(np.array(which, bool)))


def code_ratings(
    ratings: Sequence[Rating], scale: str, systems: Sequence[str] = (), items: Sequence[str] = ()
) -> CodedRatings:
    """Return the ratings of a scale as arrays; known systems and items come first."""
    scale_ratings = tuple(rating for rating in ratings if rating.scale == scale)
    named = rating_labeler(scale_ratings)
    pairs = [pair_name(a, b) for a in systems for b in systems]
    names, first = _number_names([named(rating) for rating in scale_ratings], [*systems, *pairs])
    pieces, second = _number_names([rating.key.item for rating in scale_ratings], items)
    people, third = _number_names(
        [rating.listener if rating.listener != "" else rating.key.item for rating in scale_ratings],
        sorted_listeners(scale_ratings),
    )
    values = np.array([rating.value for rating in scale_ratings], np.float64)
    size = len(names), len(pieces), len(people)
    votes = Votes(values, first, second, third, size)
    return CodedRatings(scale, scale_ratings, names, pieces, people, votes)


def rating_labeler(ratings: Sequence[Rating]) -> Callable[[Rating], str]:
    """Return a function that labels ratings by system, or by pair if the others differ."""
    others = {rating.against.system if rating.against else "" for rating in ratings}
    if len(others) <= 1:
        return lambda rating: rating.key.system
    return lambda rating: pair_name(
        rating.key.system, rating.against.system if rating.against else ""
    )


def pair_name(system: str, against: str) -> str:
    """Return the label of a system rated relative to another.

    >>> pair_name("C1", "C0")
    'C1 / C0'
    """
    return f"{system} / {against}" if against else system


def sorted_listeners(ratings: Sequence[Rating]) -> list[Who]:
    """Return listeners sorted: numbers first, then names."""
    return sorted(
        {rating.listener for rating in ratings},
        key=lambda listener: (isinstance(listener, str), listener),
    )


def _number_names(
    names: Sequence[Name], first_names: Sequence[Name]
) -> tuple[tuple[Name, ...], Codes]:
    """Return distinct names, ``first_names`` first, and the number of each name."""
    seen = set(names)
    order = [name for name in dict.fromkeys(first_names) if name in seen]
    order += sorted(seen - set(order), key=lambda name: (str(type(name)), name))
    number = {name: n for n, name in enumerate(order)}
    return tuple(order), np.array([number[name] for name in names], np.int64)


# --- Repeated votes ------------------------------------------------------------------------------
# A stimulus rated again in a later session is a repeat. By default the first vote is used: the
# listener had not heard the stimulus before, and the vote is always a point of the scale. ``mean``
# is for studies that repeat stimuli on purpose, ``last`` for tables that contain corrected votes.
# On some scales, such as that of BS.1116, the hidden reference is rated once with every object by
# design: its mean is used, and it is not reported as repeated.


FIRST_VOTE, LAST_VOTE, MEAN_VOTE, REFUSE_REPEATS = "first", "last", "mean", "refuse"
REPEAT_RULES = (FIRST_VOTE, LAST_VOTE, MEAN_VOTE, REFUSE_REPEATS)
RatingSequence = Sequence[Rating]


def resolve_repeats(
    ratings: RatingSequence, rule: str = FIRST_VOTE, *, source: str = "ratings", reference: str = ""
) -> tuple[list[Rating], tuple[RepeatedVote, ...]]:
    """Return one rating per listener, stimulus and scale, and the repeated votes.

    Votes are ordered by session and trial if known, else as in the input. ``reference`` is the
    hidden reference.
    """
    if rule not in REPEAT_RULES:
        raise UsageError(
            f'unknown rule "{rule}" for repeated votes — {nearest(rule, REPEAT_RULES)}'
        )
    cells = [_rating_cell(rating) for rating in ratings]
    if len(set(cells)) == len(cells):
        return list(ratings), ()
    groups = group_values(zip(cells, ratings, strict=True))
    several = {cell: _order_votes(votes) for cell, votes in groups.items() if len(votes) > 1}
    often = {name for name, scale in known_scales().items() if scale.with_reference}
    again = {
        cell: _mean_vote(votes)
        for cell, votes in several.items()
        if reference and votes[0].key.system == reference and votes[0].scale in often
    }
    several = {cell: votes for cell, votes in several.items() if cell not in again}
    if rule == REFUSE_REPEATS and several:
        raise InputError(
            [_repeat_problem(source, votes) for votes in several.values()], done="analysed"
        )
    counts = {cell: REPEAT_RULE_FUNCTIONS[rule](votes) for cell, votes in several.items()}
    one_each = {cell: votes[0] for cell, votes in groups.items()} | again | counts
    kept = list(one_each.values())
    return kept, tuple(_repeated_vote(votes, counts[cell]) for cell, votes in several.items())


def _rating_cell(rating: Rating) -> Hashable:
    against = "" if rating.against is None else rating.against.system
    return rating.key.item, rating.key.system, rating.scale, rating.listener, against


def _order_votes(votes: RatingSequence) -> list[Rating]:
    trials = all(rating.trial for rating in votes)
    return sorted(votes, key=lambda rating: (rating.session, rating.trial if trials else 0))


def _mean_vote(votes: RatingSequence) -> Rating:
    return replace(votes[0], value=sum(rating.value for rating in votes) / len(votes))


REPEAT_RULE_FUNCTIONS: dict[str, Callable[[RatingSequence], Rating]] = {
    FIRST_VOTE: lambda votes: votes[0],
    LAST_VOTE: lambda votes: votes[-1],
    MEAN_VOTE: _mean_vote,
}


def _repeated_vote(votes: RatingSequence, counted: Rating) -> RepeatedVote:
    values = tuple(rating.value for rating in votes)
    return RepeatedVote(counted.key, counted.scale, counted.listener, values, counted.value)


def _repeat_problem(source: str, votes: RatingSequence) -> Problem:
    vote, values = votes[0], ", ".join(f"{vote.value:g}" for vote in votes)
    against = f" against {vote.against.system}" if vote.against else ""
    what = f"{vote.key.system}{against}"
    message = f"listener {vote.listener} rated {what} {len(votes)} times: {values}"
    if vote.listener == "":
        message = f"{what} has {len(votes)} rows: {values}"
    return Problem(
        source,
        0,
        vote.scale,
        message,
        f"choose which {'vote' if vote.listener != '' else 'row'} to use: first, last or mean",
        vote.key.item,
    )


# --- Duplicate captions --------------------------------------------------------------------------
# It is unknown which of them is wrong, so all are kept, and results without them are reported too.


DUPLICATES_KEPT_NOTE = "kept; differences without such captions are also reported"
SHOWN_CAPTION_CHARACTERS = 60  # in messages


@dataclass(frozen=True)
class Duplicates:
    """Faults of duplicate captions, and the captions concerned."""

    faults: tuple[RatingFault, ...]
    keys: frozenset[Key]


def find_duplicates(captions: Mapping[Key, str]) -> Duplicates:
    """Find captions that are equal except for white space and case."""
    keys_of = group_values(
        (words, key) for key, text in captions.items() if (words := _normalize_words(text))
    )
    several = [keys for keys in keys_of.values() if len(keys) > 1]
    faults = [_duplicate_fault(key, keys, captions) for keys in several for key in keys]
    return Duplicates(tuple(faults), frozenset(key for keys in several for key in keys))


def _normalize_words(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _duplicate_fault(key: Key, keys: Sequence[Key], captions: Mapping[Key, str]) -> RatingFault:
    others = [_caption_place(other, key) for other in keys if other != key]
    text = " ".join(captions[key].split())
    shown = (
        text
        if len(text) <= SHOWN_CAPTION_CHARACTERS
        else f"{text[: SHOWN_CAPTION_CHARACTERS - 1]}…"
    )
    message = f"“{shown}” is also the caption of {', '.join(others)}"
    return RatingFault("duplicate", message, DUPLICATES_KEPT_NOTE, key.item, key.system)


def _caption_place(other: Key, key: Key) -> str:
    return other.system if other.item == key.item else f"{other.item}, {other.system}"


# --- Retest reliability --------------------------------------------------------------------------


def measure_retests(doubled: Sequence[RepeatedVote], *, level: float) -> tuple[Retest, ...]:
    """Return test–retest figures by scale, from the first two votes of each repeat."""
    scales = dict.fromkeys(repeat.scale for repeat in doubled)
    return tuple(
        _measure_retest([repeat for repeat in doubled if repeat.scale == name], level)
        for name in scales
    )


def _measure_retest(doubled: Sequence[RepeatedVote], level: float) -> Retest:
    first, second = np.array([repeat.values[:2] for repeat in doubled], np.float64).T
    change = second - first
    return Retest(
        scale=doubled[0].scale,
        pairs=len(doubled),
        change=mean_over_listeners(_mean_by_listener(doubled, change), level)[0],
        error=math.sqrt(float((change**2).mean()) / 2),
        same=float((change == 0).mean()),
        correlation=_correlation(first, second),
    )


def _mean_by_listener(doubled: Sequence[RepeatedVote], change: Floats) -> Floats:
    """Return the mean change of each listener."""
    changes_of = group_values(
        (repeat.listener, value) for repeat, value in zip(doubled, change.tolist(), strict=True)
    )
    return np.array([np.mean(values) for values in changes_of.values()])


def _correlation(first: Floats, second: Floats) -> float:
    a, b = first - first.mean(), second - second.mean()
    size = math.sqrt(float((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else math.nan


# --- Stimuli with their votes --------------------------------------------------------------------


def stimulus_means(coded: CodedRatings) -> tuple[Stimulus, ...]:
    """Return stimuli of a table of means, in its order."""
    return tuple(Stimulus(rating.key, (), rating.value, math.nan) for rating in coded.ratings)


MIN_FILLED_SHARE = 0.1  # panels with fewer votes than this share of their table list no gaps


def stimulus_votes(coded: CodedRatings) -> tuple[Stimulus, ...]:
    """Return stimuli by item and system, with votes in the order of the panel's listeners.

    A missing vote of a listener of the panel is NaN. If the panel has fewer than a tenth of the
    possible votes, missing votes are left out.
    """
    votes, panels = coded.votes, coded.votes.panels()
    panel_of, place_of = np.zeros((2, votes.size[2]), np.int64)
    for number, members in enumerate(panels):
        panel_of[members], place_of[members] = number, np.arange(len(members))
    order = np.lexsort((votes.listeners, votes.stimuli))
    numbers, starts = np.unique(votes.stimuli[order], return_index=True)
    rows = np.split(order, starts[1:])[: len(numbers)]
    owners = panel_of[votes.listeners[order[starts]]]
    sizes = np.array([len(members) for members in panels], np.int64)
    cells = np.bincount(owners, minlength=len(panels)) * sizes
    given = np.bincount(panel_of[votes.listeners], minlength=len(panels))
    has_gaps = given >= MIN_FILLED_SHARE * cells
    stimuli = []
    for number, owner, row in zip(numbers.tolist(), owners.tolist(), rows, strict=True):
        values = listed = votes.values[row]
        if has_gaps[owner]:
            listed = np.full(sizes[owner], np.nan)
            listed[place_of[votes.listeners[row]]] = values
        item, system = divmod(number, len(coded.systems))
        key = Key(coded.items[item], coded.systems[system])
        sd = float(values.std(ddof=1)) if len(values) > 1 else math.nan
        stimuli.append(Stimulus(key, tuple(listed.tolist()), float(values.mean()), sd))
    return tuple(stimuli)


# --- Use of the scale ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScaleUse:
    """Use of one scale by one listener: share of the most frequent value, and longest run.

    ``run`` is the largest number of equal votes in a row within a session; 0 if the order of trials
    is unknown.
    """

    usual: float
    run: int


def scale_use(ratings: Iterable[Rating], scale: str) -> dict[Who, ScaleUse]:
    """Return how each listener uses a scale."""
    votes_of = defaultdict[Who, list[Rating]](list)
    for rating in ratings:
        if rating.scale == scale:
            votes_of[rating.listener].append(rating)
    return {
        listener: ScaleUse(usual_share([rating.value for rating in votes]), longest_run(votes))
        for listener, votes in votes_of.items()
    }


def usual_share(values: Sequence[float]) -> float:
    """Return the share of the most frequent value.

    >>> usual_share([4, 4, 3, 4])
    0.75
    """
    return max(Counter(values).values()) / len(values) if values else math.nan


def longest_run(ratings: Iterable[Rating]) -> int:
    """Return the largest number of equal votes in a row, by trial and position."""
    ordered_ratings = [rating for rating in ratings if rating.trial > 0]
    in_order = sorted(
        ordered_ratings, key=lambda rating: (rating.session, rating.trial, rating.place)
    )
    rows = groupby(in_order, key=lambda rating: (rating.session, rating.value))
    return max((sum(1 for _ in row) for _, row in rows), default=0)


def share_alike(ratings: Iterable[Rating]) -> dict[Who, float]:
    """Return per listener the share of trials with the same vote on all scales (P.835).

    Only trials with several scales count; a trial is one stimulus in one session.
    """
    trials = defaultdict[tuple[object, ...], list[Rating]](list)
    for rating in ratings:
        trials[rating.listener, rating.session, rating.trial, rating.key].append(rating)
    equal = defaultdict[Who, list[bool]](list)
    for votes in trials.values():
        if len({rating.scale for rating in votes}) > 1:
            equal[votes[0].listener].append(len({rating.value for rating in votes}) == 1)
    return {
        listener: sum(same_values) / len(same_values) for listener, same_values in equal.items()
    }
