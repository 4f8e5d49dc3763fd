"""Several votes of one listener on one stimulus and scale: which of them counts.

Sessions do not tell votes apart: a stimulus that comes again in a later session is rated again. By
default the first vote counts, as of two answers to a page the first does: it was given by somebody
who had not heard the stimulus before, and it is always a point of the scale. ``mean`` is for
studies that repeat stimuli on purpose, ``last`` for tables that keep what listeners changed their
minds about. A hidden reference of BS.1116 is rated once beside every object, as it must be: its
mean counts, and nothing is said to be doubled.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from earwitness.data import Rating
from earwitness.data.results import Doubled
from earwitness.errors import InputError, Problem, UsageError, nearest

FIRST, LAST, MEAN, REFUSE = "first", "last", "mean", "refuse"
RULES = (FIRST, LAST, MEAN, REFUSE)
IMPAIRMENT = "IMPAIRMENT"  # the scale on which a hidden reference is rated beside every object
Votes = Sequence[Rating]


def resolve(
    ratings: Votes, rule: str = FIRST, *, source: str = "ratings", reference: str = ""
) -> tuple[list[Rating], tuple[Doubled, ...]]:
    """Ratings that count, one for each listener, stimulus and scale; and those that came twice.

    Votes are in the order of sessions and trials where these are known, else as they stand.
    ``reference`` is the hidden reference.
    """
    if rule not in RULES:
        raise UsageError(f'no rule "{rule}" for doubled votes — {nearest(rule, RULES)}')
    cells = [_cell(one) for one in ratings]
    if len(set(cells)) == len(cells):
        return list(ratings), ()
    groups: dict[Hashable, list[Rating]] = {}
    for cell, one in zip(cells, ratings, strict=True):
        groups.setdefault(cell, []).append(one)
    several = {cell: _in_order(own) for cell, own in groups.items() if len(own) > 1}
    again = {cell: _mean(own) for cell, own in several.items() if _each_time(own[0], reference)}
    several = {cell: own for cell, own in several.items() if cell not in again}
    if rule == REFUSE and several:
        raise InputError([_problem(source, own) for own in several.values()], done="analysed")
    counts = {cell: COUNTED[rule](own) for cell, own in several.items()}
    one_each = {cell: own[0] for cell, own in groups.items()} | again | counts
    kept = list(one_each.values())
    return kept, tuple(_doubled(own, counts[cell]) for cell, own in several.items())


def _each_time(one: Rating, reference: str) -> bool:
    """Whether it is of the hidden reference of BS.1116, which is rated beside every object."""
    return one.scale == IMPAIRMENT and bool(reference) and one.key.system == reference


def _cell(one: Rating) -> Hashable:
    against = "" if one.against is None else one.against.system
    return one.key.item, one.key.system, one.scale, one.listener, against


def _in_order(votes: Votes) -> list[Rating]:
    trials = all(one.trial for one in votes)
    return sorted(votes, key=lambda one: (one.session, one.trial if trials else 0))


def _mean(votes: Votes) -> Rating:
    return replace(votes[0], value=sum(one.value for one in votes) / len(votes))


COUNTED: dict[str, Callable[[Votes], Rating]] = {
    FIRST: lambda votes: votes[0],
    LAST: lambda votes: votes[-1],
    MEAN: _mean,
}


def _doubled(votes: Votes, counted: Rating) -> Doubled:
    values = tuple(one.value for one in votes)
    return Doubled(counted.key, counted.scale, counted.listener, values, counted.value)


def _problem(source: str, votes: Votes) -> Problem:
    one, values = votes[0], ", ".join(f"{vote.value:g}" for vote in votes)
    against = f" against {one.against.system}" if one.against else ""
    told = f"listener {one.listener} rated {one.key.system}{against} {len(votes)} times: {values}"
    return Problem(source, 0, one.scale, told, "say which counts: first, last, mean", one.key.item)
