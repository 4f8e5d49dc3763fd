"""Scores joined with ratings by key, and hints when names do not match."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan

import numpy as np

from earwitness.core import Key, Rating, Score, Value
from earwitness.errors import UsageError, nearest
from earwitness.metaeval.levels import ScoreRatingGrid, people, value
from earwitness.registry import METRICS
from earwitness.stats.arrays import Floats
from earwitness.stats.paired_choices import Choices, fitted
from earwitness.stats.votes import Votes
from earwitness.studies.analysis.choices import are_choices
from earwitness.studies.analysis.prepare import code_ratings

# --- Names that do not match ---------------------------------------------------------------------
# Nothing is joined by guessing: two names that differ in anything are two names.


SHOWN_EXAMPLES = 2  # examples in a message
FILE_ENDING_PATTERN = re.compile(
    r"\.(wav|flac|mp3|ogg|opus|m4a|aac|aiff?|w64|raw|pcm|json|txt)$", re.IGNORECASE
)
RENAME_REMEDY = "write them alike in one of the files"


def _without_ending(name: str) -> str:
    return FILE_ENDING_PATTERN.sub("", name)


def _without_folder(name: str) -> str:
    return re.split(r"[/\\]", name)[-1]


def _without_zeros(name: str) -> str:
    return re.sub(r"(?<!\d)0+(?=\d)", "", name)


CAUSES: dict[str, Callable[[str], str]] = {
    "case": str.casefold,
    "ending": _without_ending,
    "folder": _without_folder,
    "zero padding": _without_zeros,
    "spaces": lambda name: "".join(name.split()),
}


@dataclass(frozen=True)
class Cause:
    """How names differ: by what alone, and which are the same but for that (rated, scored)."""

    what: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]


def likely(rated: Iterable[str], scored: Iterable[str]) -> Cause | None:
    """What most names of the one side that the other lacks differ by, if it is one of these."""
    ours, theirs = {*rated}, {*scored}
    ours, theirs = ours - theirs, theirs - ours
    found = [
        Cause(what, tuple(_pairs(ours, theirs, what)))
        for count in (1, 2)
        for what in combinations(CAUSES, count)
    ]
    best = max(found, key=lambda one: (len(one.pairs), -len(one.what)))
    return best if best.pairs else None


def _pairs(ours: set[str], theirs: set[str], what: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Names that are the same but for what they may differ by; none that fits two others."""
    sides = [_by_rest(names, what) for names in (ours, theirs)]
    for rest in sorted({*sides[0]} & {*sides[1]}):
        one, other = sides[0][rest], sides[1][rest]
        if len(one) == len(other) == 1:
            yield one[0], other[0]


def _by_rest(names: set[str], what: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in sorted(names):
        rest = name
        for one in what:
            rest = CAUSES[one](rest)
        found.setdefault(rest, []).append(name)
    return found


def hint(role: str, rated: Iterable[str], scored: Iterable[str]) -> str:
    """A sentence about items or systems that look the same but are not; empty if none do."""
    cause = likely(rated, scored)
    if cause is None:
        return ""
    pairs = ", ".join(f'"{one}" and "{other}"' for one, other in cause.pairs[:SHOWN_EXAMPLES])
    more = ", …" * (len(cause.pairs) > SHOWN_EXAMPLES)
    told = f"{role}s of ratings and scores differ only by {' and '.join(cause.what)}"
    return f"{told}: {pairs}{more} — {_remedy(role, cause)}"


def _remedy(role: str, cause: Cause) -> str:
    """Options that take away what names of one side have too much; else files must change."""
    if not {*cause.what} <= {"ending", "folder"}:
        return RENAME_REMEDY
    lengths = {len(one) > len(other) for one, other in cause.pairs}
    if len(lengths) > 1:
        return RENAME_REMEDY
    longer = [one if lengths == {True} else other for one, other in cause.pairs]
    patterns = {_pattern(role, name) for name in longer}
    shorter = [other if lengths == {True} else one for one, other in cause.pairs]
    if len(patterns) > 1 or any(_pattern(role, name) != f"{{{role}}}" for name in shorter):
        return RENAME_REMEDY
    score = "" if lengths == {True} else "score-"
    return f"say --{score}sample {role} --{score}pattern '{patterns.pop()}', or {RENAME_REMEDY}"


def _pattern(role: str, name: str) -> str:
    """How a name is made: folders as stars, its own ending."""
    folders = len(re.findall(r"[/\\]", name))
    ending = FILE_ENDING_PATTERN.search(name)
    return "*/" * folders + f"{{{role}}}" + (ending.group() if ending else "")


# --- Scores joined with ratings ------------------------------------------------------------------


SHOWN_NAMES = 3  # names in a message


@dataclass(frozen=True)
class MetricColumn:
    """A column of scores: what it is called, which end is good, whether it is a baseline."""

    name: str
    low_is_good: bool = False
    baseline: bool = False


@dataclass(frozen=True)
class ScoreRatingTable:
    """Outputs that have both scores and ratings, on one scale.

    ``scores`` are metrics × systems × items with high scores good, NaN where there is none;
    ``paired`` are ratings that choose between two systems, in place of votes on one.
    """

    scale: str
    metrics: tuple[MetricColumn, ...]
    systems: tuple[str, ...]
    items: tuple[str, ...]
    scores: Floats
    votes: Votes
    ratings: tuple[Rating, ...]
    paired: bool
    notes: tuple[str, ...] = ()


def joined(
    scores: Sequence[Score],
    metrics: Sequence[MetricColumn],
    ratings: Sequence[Rating],
    scale: str,
    systems: Sequence[str] = (),
) -> ScoreRatingTable:
    """Scores and ratings of a scale with the same keys."""
    own = [one for one in ratings if one.scale == scale]
    paired = are_choices(own) or _among_several(own)
    rated = {key for one in own for key in (one.key, one.against if paired else None) if key}
    scored = {one.key for one in scores}
    both = rated & scored
    if not both:
        raise UsageError(
            f"{scale}: no output has both scores and ratings — {_apart(rated, scored)}"
        )
    kept = [one for one in own if one.key in both and (not paired or one.against in both)]
    names = _in_order([key.system for key in both], systems)
    code = code_ratings([replace(one, against=None) for one in kept], scale, names)
    items = tuple(sorted({key.item for key in both})) if paired else code.items
    found = tuple(names) if paired else code.systems
    return ScoreRatingTable(
        scale,
        tuple(metrics),
        found,
        items,
        table_of(scores, metrics, found, items),
        code.votes,
        tuple(kept),
        paired,
        _notes(rated, scored, both),
    )


def with_turned(own: ScoreRatingTable, people: Floats) -> ScoreRatingTable:
    """Baselines that go against people are turned round: they have no good end of their own."""
    found = value(ScoreRatingGrid(own.scores, people), "system", ["spearman"]).value[0]
    turned = [
        one.baseline and found[n] < 0 and not one.low_is_good for n, one in enumerate(own.metrics)
    ]
    signs = np.where(turned, -1.0, 1.0)[:, None, None]
    metrics = tuple(
        replace(one, low_is_good=True) if turn else one
        for one, turn in zip(own.metrics, turned, strict=True)
    )
    return replace(own, metrics=metrics, scores=own.scores * signs)


def _among_several(ratings: Sequence[Rating]) -> bool:
    """Whether outputs are rated against different others."""
    return len({one.against.system for one in ratings if one.against}) > 1


def _in_order(names: Sequence[str], known: Sequence[str]) -> list[str]:
    seen = {*names}
    return [*(one for one in known if one in seen), *sorted(seen - {*known})]


def table_of(
    scores: Sequence[Score],
    metrics: Sequence[MetricColumn],
    systems: Sequence[str],
    items: Sequence[str],
) -> Floats:
    """Metrics × systems × items, high scores good."""
    number = {one.name: n for n, one in enumerate(metrics)}
    row = {name: n for n, name in enumerate(systems)}
    column = {name: n for n, name in enumerate(items)}
    found = np.full((len(metrics), len(systems), len(items)), np.nan)
    for one in scores:
        key = one.key
        if one.metric in number and key.system in row and key.item in column:
            found[number[one.metric], row[key.system], column[key.item]] = one.value
    turned = np.array([-1.0 if one.low_is_good else 1.0 for one in metrics])
    return np.asarray(found * turned[:, None, None])


def _apart(rated: set[Key], scored: set[Key]) -> str:
    """What both sides are called, where they have nothing in common."""
    for name in ("system", "item"):
        ours = {getattr(key, name) for key in rated}
        theirs = {getattr(key, name) for key in scored}
        if not ours & theirs:
            told = f"{name}s are called {_some(ours)} in ratings, {_some(theirs)} in scores"
            return "; ".join(part for part in (told, hint(name, ours, theirs)) if part)
    return "items and systems are the same, but never together"


def _some(names: set[str]) -> str:
    shown = ", ".join(f'"{name}"' for name in sorted(names)[:SHOWN_NAMES])
    return f"{shown}, …" if len(names) > SHOWN_NAMES else shown


def _notes(rated: set[Key], scored: set[Key], both: set[Key]) -> tuple[str, ...]:
    found = []
    for what, own, lack in (("rated", rated, "score"), ("scored", scored, "rating")):
        lost = own - both
        if lost:
            systems = {key.system for key in lost} - {key.system for key in both}
            whole = f", among them all of {_some(systems)}" if systems else ""
            found.append(f"{len(lost):,} of {len(own):,} {what} outputs have no {lack}{whole}")
    for name in ("system", "item"):
        sides = ({getattr(key, name) for key in own} for own in (rated, scored))
        found += [told for told in [hint(name, *sides)] if told]
    return tuple(found)


# --- Metric columns ------------------------------------------------------------------------------


TRIVIAL_COLUMNS = ("length", "duration", "words")  # columns that are baselines
Column = dict[object, float]


def metrics_of(
    scores: Sequence[Score], low: Collection[str] = (), baselines: Collection[str] = ()
) -> tuple[list[MetricColumn], list[str]]:
    """Metrics, and what is said of columns that are left out."""
    columns = _columns(scores)
    for name in (*low, *baselines):
        if name not in columns:
            raise UsageError(f'there is no metric "{name}" — {nearest(name, list(columns))}')
    out = dict(_left_out(columns))
    found = [_metric(name, low, baselines) for name in columns if name not in out]
    return found, list(out.values())


def _columns(scores: Sequence[Score]) -> dict[str, Column]:
    found: dict[str, Column] = {}
    for one in scores:
        own = found.setdefault(one.metric, {})
        if (one.key, one.draw) in own:
            raise UsageError(f"{one.metric} stands in two files — keep one")
        own[one.key, one.draw] = one.value
    return found


def _left_out(columns: dict[str, Column]) -> Iterator[tuple[str, str]]:
    """Columns that say nothing, or the same as an earlier one, but for rounding."""
    seen: dict[frozenset[tuple[object, str]], str] = {}
    for name, own in columns.items():
        said = frozenset((key, f"{x:.10g}") for key, x in own.items())
        if said in seen:
            yield name, f"{name} says the same as {seen[said]} of every output; left out"
        elif len({x for x in own.values() if not isnan(x)}) < 2:
            yield name, f"{name} says the same of all outputs; left out"
        seen.setdefault(said, name)


def _metric(name: str, low: Collection[str], baselines: Collection[str]) -> MetricColumn:
    """The program's own values say which end is good; what has no good end is a baseline."""
    known = _own_values().get(name.partition("@")[0].lower())
    best = "" if known is None else known.best
    trivial = name in baselines or name in TRIVIAL_COLUMNS or best == "none"
    return MetricColumn(name, name in low or best == "low", trivial)


def _own_values() -> dict[str, Value]:
    found = [value for kind in METRICS.values() for value in kind.values]
    return {one.name: one for one in found}


# --- Mean votes and abilities --------------------------------------------------------------------


@dataclass(frozen=True)
class ChoiceAbilities:
    """Choices between systems, from which abilities follow (Bradley–Terry); every item has these.

    Where some would not be finite, half a vote each way is added for every pair.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    outcomes: tuple[int, ...]
    items: tuple[int, ...]
    listeners: tuple[int, ...]
    size: tuple[int, int, int]

    @property
    def raters(self) -> int:
        return self.size[2]

    def drawn(self, raters: Floats, items: Floats) -> Floats:
        """Draws × systems × items, when raters and items count so often."""
        own = np.array(self.listeners), np.array(self.items)
        times = (raters[:, own[0]] * items[:, own[1]]).astype(np.int64)
        found = np.stack([self._fitted(row) for row in times])
        return np.repeat(found[:, :, None], self.size[1], axis=2)

    def _fitted(self, times: np.typing.NDArray[np.int64]) -> Floats:
        def repeated(column: Sequence[int]) -> np.typing.NDArray[np.int64]:
            return np.repeat(np.array(column, np.int64), times)

        votes = Choices(
            repeated(self.first),
            repeated(self.second),
            repeated(self.outcomes),
            repeated(self.listeners),
            (self.size[0], self.size[2]),
        )
        found = fitted(votes).abilities
        if not np.isfinite(found).all():  # somebody always won, or always lost
            found = fitted(_eased(votes)).abilities
        return np.where(np.isfinite(found), found, np.nan)


def _eased(votes: Choices) -> Choices:
    """With half a vote each way for every pair that was compared, so that nobody always wins."""
    pairs = np.unique(np.stack([votes.first, votes.second]), axis=1)
    whole = [np.concatenate([column, column]) for column in (votes.first, votes.second)]
    one = np.ones(pairs.shape[1], np.int64)
    return Choices(
        np.concatenate([whole[0], pairs[0], pairs[0]]),
        np.concatenate([whole[1], pairs[1], pairs[1]]),
        np.concatenate([votes.outcomes, votes.outcomes, one, -one]),
        np.concatenate([votes.listeners, votes.listeners, 0 * one, 0 * one]),
        votes.size,
    )


def abilities(joined: ScoreRatingTable) -> ChoiceAbilities:
    """Choices as numbers."""
    row = {name: n for n, name in enumerate(joined.systems)}
    column = {name: n for n, name in enumerate(joined.items)}
    who = {one: n for n, one in enumerate(dict.fromkeys(r.listener for r in joined.ratings))}
    other = [_other(one) for one in joined.ratings]
    return ChoiceAbilities(
        tuple(row[one.key.system] for one in joined.ratings),
        tuple(row[name] for name in other),
        tuple(int(np.sign(one.value)) for one in joined.ratings),
        tuple(column[one.key.item] for one in joined.ratings),
        tuple(who[one.listener] for one in joined.ratings),
        (len(row), len(column), len(who)),
    )


def _other(rating: Rating) -> str:
    assert rating.against is not None
    return rating.against.system


def voices(joined: ScoreRatingTable) -> Votes | ChoiceAbilities:
    """Votes, or what stands for them."""
    return abilities(joined) if joined.paired else joined.votes


def means(given: Votes | ChoiceAbilities) -> Floats:
    """Systems × items."""
    if isinstance(given, Votes):
        return np.asarray(people(given)[0])
    _, items, raters = given.size
    return np.asarray(given.drawn(np.ones((1, raters)), np.ones((1, items)))[0])
