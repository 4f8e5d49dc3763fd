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
from earwitness.metaeval.levels import ScoreRatingGrid, cell_means, evaluate_grid
from earwitness.registry import METRICS
from earwitness.stats.arrays import Floats
from earwitness.stats.paired_choices import Choices, fit_bradley_terry
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


def likely_cause(rated: Iterable[str], scored: Iterable[str]) -> Cause | None:
    """What most names of the one side that the other lacks differ by, if it is one of these."""
    ours, theirs = {*rated}, {*scored}
    ours, theirs = ours - theirs, theirs - ours
    causes = [
        Cause(what, tuple(_matching_pairs(ours, theirs, what)))
        for count in (1, 2)
        for what in combinations(CAUSES, count)
    ]
    best = max(causes, key=lambda cause: (len(cause.pairs), -len(cause.what)))
    return best if best.pairs else None


def _matching_pairs(
    ours: set[str], theirs: set[str], what: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    """Names that are the same but for what they may differ by; none that fits two others."""
    sides = [_names_by_stem(names, what) for names in (ours, theirs)]
    for stem in sorted({*sides[0]} & {*sides[1]}):
        rated, scored = sides[0][stem], sides[1][stem]
        if len(rated) == len(scored) == 1:
            yield rated[0], scored[0]


def _names_by_stem(names: set[str], differences: tuple[str, ...]) -> dict[str, list[str]]:
    names_by_stem: dict[str, list[str]] = {}
    for name in sorted(names):
        stem = name
        for difference in differences:
            stem = CAUSES[difference](stem)
        names_by_stem.setdefault(stem, []).append(name)
    return names_by_stem


def mismatch_hint(role: str, rated: Iterable[str], scored: Iterable[str]) -> str:
    """A sentence about items or systems that look the same but are not; empty if none do."""
    cause = likely_cause(rated, scored)
    if cause is None:
        return ""
    pairs = ", ".join(
        f'"{rated_name}" and "{scored_name}"'
        for rated_name, scored_name in cause.pairs[:SHOWN_EXAMPLES]
    )
    more = ", …" * (len(cause.pairs) > SHOWN_EXAMPLES)
    message = f"{role}s of ratings and scores differ only by {' and '.join(cause.what)}"
    return f"{message}: {pairs}{more} — {_mismatch_remedy(role, cause)}"


def _mismatch_remedy(role: str, cause: Cause) -> str:
    """Options that take away what names of one side have too much; else files must change."""
    if not {*cause.what} <= {"ending", "folder"}:
        return RENAME_REMEDY
    lengths = {len(rated) > len(scored) for rated, scored in cause.pairs}
    if len(lengths) > 1:
        return RENAME_REMEDY
    longer = [rated if lengths == {True} else scored for rated, scored in cause.pairs]
    patterns = {_name_pattern(role, name) for name in longer}
    shorter = [scored if lengths == {True} else rated for rated, scored in cause.pairs]
    if len(patterns) > 1 or any(_name_pattern(role, name) != f"{{{role}}}" for name in shorter):
        return RENAME_REMEDY
    score = "" if lengths == {True} else "score-"
    return f"say --{score}sample {role} --{score}pattern '{patterns.pop()}', or {RENAME_REMEDY}"


def _name_pattern(role: str, name: str) -> str:
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


def join_scores_and_ratings(
    scores: Sequence[Score],
    metrics: Sequence[MetricColumn],
    ratings: Sequence[Rating],
    scale: str,
    systems: Sequence[str] = (),
) -> ScoreRatingTable:
    """Scores and ratings of a scale with the same keys."""
    scale_ratings = [rating for rating in ratings if rating.scale == scale]
    paired = are_choices(scale_ratings) or _has_several_opponents(scale_ratings)
    rated = {
        key
        for rating in scale_ratings
        for key in (rating.key, rating.against if paired else None)
        if key
    }
    scored = {score.key for score in scores}
    shared = rated & scored
    if not shared:
        raise UsageError(
            f"{scale}: no output has both scores and ratings — {_mismatch_message(rated, scored)}"
        )
    kept = [
        rating
        for rating in scale_ratings
        if rating.key in shared and (not paired or rating.against in shared)
    ]
    names = _order_names([key.system for key in shared], systems)
    coded_ratings = code_ratings([replace(rating, against=None) for rating in kept], scale, names)
    items = tuple(sorted({key.item for key in shared})) if paired else coded_ratings.items
    system_names = tuple(names) if paired else coded_ratings.systems
    return ScoreRatingTable(
        scale,
        tuple(metrics),
        system_names,
        items,
        score_table(scores, metrics, system_names, items),
        coded_ratings.votes,
        tuple(kept),
        paired,
        _unmatched_notes(rated, scored, shared),
    )


def turn_baselines(table: ScoreRatingTable, people: Floats) -> ScoreRatingTable:
    """Baselines that go against people are turned round: they have no good end of their own."""
    correlations = evaluate_grid(
        ScoreRatingGrid(table.scores, people), "system", ["spearman"]
    ).value[0]
    turned = [
        metric.baseline and correlations[n] < 0 and not metric.low_is_good
        for n, metric in enumerate(table.metrics)
    ]
    signs = np.where(turned, -1.0, 1.0)[:, None, None]
    metrics = tuple(
        replace(metric, low_is_good=True) if is_turned else metric
        for metric, is_turned in zip(table.metrics, turned, strict=True)
    )
    return replace(table, metrics=metrics, scores=table.scores * signs)


def _has_several_opponents(ratings: Sequence[Rating]) -> bool:
    """Whether outputs are rated against different others."""
    return len({rating.against.system for rating in ratings if rating.against}) > 1


def _order_names(names: Sequence[str], preferred: Sequence[str]) -> list[str]:
    seen = {*names}
    return [*(name for name in preferred if name in seen), *sorted(seen - {*preferred})]


def score_table(
    scores: Sequence[Score],
    metrics: Sequence[MetricColumn],
    systems: Sequence[str],
    items: Sequence[str],
) -> Floats:
    """Metrics × systems × items, high scores good."""
    metric_index = {metric.name: n for n, metric in enumerate(metrics)}
    system_index = {name: n for n, name in enumerate(systems)}
    item_index = {name: n for n, name in enumerate(items)}
    table = np.full((len(metrics), len(systems), len(items)), np.nan)
    for score in scores:
        key = score.key
        if score.metric in metric_index and key.system in system_index and key.item in item_index:
            table[metric_index[score.metric], system_index[key.system], item_index[key.item]] = (
                score.value
            )
    signs = np.array([-1.0 if metric.low_is_good else 1.0 for metric in metrics])
    return np.asarray(table * signs[:, None, None])


def _mismatch_message(rated: set[Key], scored: set[Key]) -> str:
    """What both sides are called, where they have nothing in common."""
    for name in ("system", "item"):
        ours = {getattr(key, name) for key in rated}
        theirs = {getattr(key, name) for key in scored}
        if not ours & theirs:
            message = (
                f"{name}s are called {_example_names(ours)} in ratings, {_example_names(theirs)} "
                "in scores"
            )
            return "; ".join(part for part in (message, mismatch_hint(name, ours, theirs)) if part)
    return "items and systems are the same, but never together"


def _example_names(names: set[str]) -> str:
    shown = ", ".join(f'"{name}"' for name in sorted(names)[:SHOWN_NAMES])
    return f"{shown}, …" if len(names) > SHOWN_NAMES else shown


def _unmatched_notes(rated: set[Key], scored: set[Key], shared: set[Key]) -> tuple[str, ...]:
    notes = []
    for what, keys, lack in (("rated", rated, "score"), ("scored", scored, "rating")):
        unmatched = keys - shared
        if unmatched:
            systems = {key.system for key in unmatched} - {key.system for key in shared}
            whole = f", among them all of {_example_names(systems)}" if systems else ""
            notes.append(
                f"{len(unmatched):,} of {len(keys):,} {what} outputs have no {lack}{whole}"
            )
    for name in ("system", "item"):
        sides = ({getattr(key, name) for key in keys} for keys in (rated, scored))
        notes += [hint for hint in [mismatch_hint(name, *sides)] if hint]
    return tuple(notes)


# --- Metric columns ------------------------------------------------------------------------------


TRIVIAL_COLUMNS = ("length", "duration", "words")  # columns that are baselines
Column = dict[object, float]


def metric_columns(
    scores: Sequence[Score], low: Collection[str] = (), baselines: Collection[str] = ()
) -> tuple[list[MetricColumn], list[str]]:
    """Metrics, and what is said of columns that are left out."""
    columns = _scores_by_metric(scores)
    for name in (*low, *baselines):
        if name not in columns:
            raise UsageError(f'there is no metric "{name}" — {nearest(name, list(columns))}')
    redundant = dict(_redundant_columns(columns))
    metrics = [_metric_column(name, low, baselines) for name in columns if name not in redundant]
    return metrics, list(redundant.values())


def _scores_by_metric(scores: Sequence[Score]) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for score in scores:
        column = columns.setdefault(score.metric, {})
        if (score.key, score.draw) in column:
            raise UsageError(f"{score.metric} stands in two files — keep one")
        column[score.key, score.draw] = score.value
    return columns


def _redundant_columns(columns: dict[str, Column]) -> Iterator[tuple[str, str]]:
    """Columns that say nothing, or the same as an earlier one, but for rounding."""
    seen: dict[frozenset[tuple[object, str]], str] = {}
    for name, column in columns.items():
        rounded = frozenset((key, f"{value:.10g}") for key, value in column.items())
        if rounded in seen:
            yield name, f"{name} says the same as {seen[rounded]} of every output; left out"
        elif len({value for value in column.values() if not isnan(value)}) < 2:
            yield name, f"{name} says the same of all outputs; left out"
        seen.setdefault(rounded, name)


def _metric_column(name: str, low: Collection[str], baselines: Collection[str]) -> MetricColumn:
    """The program's own values say which end is good; what has no good end is a baseline."""
    builtin = _builtin_values().get(name.partition("@")[0].lower())
    best = "" if builtin is None else builtin.best
    is_baseline = name in baselines or name in TRIVIAL_COLUMNS or best == "none"
    return MetricColumn(name, name in low or best == "low", is_baseline)


def _builtin_values() -> dict[str, Value]:
    values = [value for kind in METRICS.values() for value in kind.values]
    return {value.name: value for value in values}


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

    def resample(self, raters: Floats, items: Floats) -> Floats:
        """Draws × systems × items, when raters and items count so often."""
        rater_and_item = np.array(self.listeners), np.array(self.items)
        times = (raters[:, rater_and_item[0]] * items[:, rater_and_item[1]]).astype(np.int64)
        abilities = np.stack([self._fitted(row) for row in times])
        return np.repeat(abilities[:, :, None], self.size[1], axis=2)

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
        abilities = fit_bradley_terry(votes).abilities
        if not np.isfinite(abilities).all():  # somebody always won, or always lost
            abilities = fit_bradley_terry(_add_half_votes(votes)).abilities
        return np.where(np.isfinite(abilities), abilities, np.nan)


def _add_half_votes(votes: Choices) -> Choices:
    """With half a vote each way for every pair that was compared, so that nobody always wins."""
    pairs = np.unique(np.stack([votes.first, votes.second]), axis=1)
    doubled = [np.concatenate([column, column]) for column in (votes.first, votes.second)]
    ones = np.ones(pairs.shape[1], np.int64)
    return Choices(
        np.concatenate([doubled[0], pairs[0], pairs[0]]),
        np.concatenate([doubled[1], pairs[1], pairs[1]]),
        np.concatenate([votes.outcomes, votes.outcomes, ones, -ones]),
        np.concatenate([votes.listeners, votes.listeners, 0 * ones, 0 * ones]),
        votes.size,
    )


def choice_abilities(table: ScoreRatingTable) -> ChoiceAbilities:
    """Choices as numbers."""
    system_index = {name: n for n, name in enumerate(table.systems)}
    item_index = {name: n for n, name in enumerate(table.items)}
    raters = dict.fromkeys(rating.listener for rating in table.ratings)
    rater_index = {rater: n for n, rater in enumerate(raters)}
    return ChoiceAbilities(
        tuple(system_index[rating.key.system] for rating in table.ratings),
        tuple(system_index[rating.against.system] for rating in table.ratings if rating.against),
        tuple(int(np.sign(rating.value)) for rating in table.ratings),
        tuple(item_index[rating.key.item] for rating in table.ratings),
        tuple(rater_index[rating.listener] for rating in table.ratings),
        (len(system_index), len(item_index), len(rater_index)),
    )


def votes_or_abilities(table: ScoreRatingTable) -> Votes | ChoiceAbilities:
    """Votes, or what stands for them."""
    return choice_abilities(table) if table.paired else table.votes


def mean_opinions(opinions: Votes | ChoiceAbilities) -> Floats:
    """Systems × items."""
    if isinstance(opinions, Votes):
        return np.asarray(cell_means(opinions)[0])
    _, items, raters = opinions.size
    return np.asarray(opinions.resample(np.ones((1, raters)), np.ones((1, items)))[0])
