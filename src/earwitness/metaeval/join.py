"""Scores joined with ratings by item and system, and hints when names do not match."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan

import numpy as np

from earwitness.analysis.prepare import code_ratings, has_choices
from earwitness.core import Key, Rating, Score, group_values, number_keys
from earwitness.errors import UsageError, nearest
from earwitness.metaeval.levels import ScoreRatingGrid, cell_means, evaluate_grid
from earwitness.registry import METRICS
from earwitness.report.sentences import join_names
from earwitness.stats.arrays import Floats, select_rows
from earwitness.stats.paired_choices import Choices, fit_bradley_terry
from earwitness.stats.votes import Codes, Votes, aggregate_votes

# --- Names that do not match ---------------------------------------------------------------------
# Names are never matched by guessing: two names that differ in anything are different names.


SHOWN_EXAMPLES = 2  # examples per message
FILE_ENDING_PATTERN = re.compile(
    r"\.(wav|flac|mp3|ogg|opus|m4a|aac|aiff?|w64|raw|pcm|json|txt)$", re.IGNORECASE
)
RENAME_REMEDY = "use the same names in both files"


CAUSES: dict[str, Callable[[str], str]] = {
    "case": str.casefold,
    "file ending": lambda name: FILE_ENDING_PATTERN.sub("", name),
    "folder": lambda name: re.split(r"[/\\]", name)[-1],
    "zero padding": lambda name: re.sub(r"(?<!\d)0+(?=\d)", "", name),
    "spaces": lambda name: "".join(name.split()),
}


@dataclass(frozen=True)
class Cause:
    """What names differ by, and the pairs of names (rated, scored) that differ by nothing else."""

    what: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]


def likely_cause(rated: Iterable[str], scored: Iterable[str]) -> Cause | None:
    """Return what most unmatched names differ by, if it is one of ``CAUSES``."""
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
    """Yield names that are equal except for ``what``; ambiguous names are skipped."""

    def stem(name: str) -> str:
        for difference in what:
            name = CAUSES[difference](name)
        return name

    sides = [group_values((stem(name), name) for name in sorted(names)) for names in (ours, theirs)]
    for shared in sorted({*sides[0]} & {*sides[1]}):
        rated, scored = sides[0][shared], sides[1][shared]
        if len(rated) == len(scored) == 1:
            yield rated[0], scored[0]


def mismatch_hint(role: str, rated: Iterable[str], scored: Iterable[str]) -> str:
    """Return a hint on items or systems whose names differ slightly, or an empty string."""
    cause = likely_cause(rated, scored)
    if cause is None:
        return ""
    pairs = ", ".join(
        f'"{rated_name}" and "{scored_name}"'
        for rated_name, scored_name in cause.pairs[:SHOWN_EXAMPLES]
    )
    more = ", …" if len(cause.pairs) > SHOWN_EXAMPLES else ""
    message = f"{role} names in ratings and scores differ only by {' and '.join(cause.what)}"
    return f"{message}: {pairs}{more} — {_mismatch_remedy(role, cause)}"


def _mismatch_remedy(role: str, cause: Cause) -> str:
    """Return the options that make the names equal, or the advice to rename."""
    if not {*cause.what} <= {"file ending", "folder"}:
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
    options = f"--{score}column sample={role} --{score}pattern '{patterns.pop()}'"
    return f"use {options}, or {RENAME_REMEDY}"


def _name_pattern(role: str, name: str) -> str:
    """Return the pattern of a name: folders as stars, and its file ending."""
    folders = len(re.findall(r"[/\\]", name))
    ending = FILE_ENDING_PATTERN.search(name)
    return "*/" * folders + f"{{{role}}}" + (ending.group() if ending else "")


# --- Scores joined with ratings ------------------------------------------------------------------


SHOWN_NAMES = 3  # names per message


@dataclass(frozen=True)
class MetricColumn:
    """Column of scores: its name, whether lower is better, and whether it is a baseline."""

    name: str
    low_is_good: bool = False
    baseline: bool = False


@dataclass(frozen=True)
class ScoreRatingTable:
    """Outputs that have both scores and ratings on one scale.

    ``scores`` has shape metrics × systems × items, with signs changed so that higher scores go with
    higher ratings if metric and people agree, and NaN for missing scores. If ``paired``, ratings
    are choices between two systems instead of votes on one. If ``low_is_good``, lower ratings
    are better.
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
    low_is_good: bool = False

    @property
    def has_means(self) -> bool:
        """Whether ratings are means, which have no raters."""
        return bool(self.ratings) and all(rating.listener == "" for rating in self.ratings)

    @property
    def size(self) -> tuple[int, int, int]:
        """Numbers of systems, items and raters; means have none."""
        systems, items, raters = self.votes.size
        return systems, items, 0 if self.has_means else raters

    def sign(self, metric: int) -> int:
        """Return −1 if the scores of a metric were negated, else 1."""
        return -1 if self.metrics[metric].low_is_good != self.low_is_good else 1


def join_scores_and_ratings(
    scores: Sequence[Score],
    metrics: Sequence[MetricColumn],
    ratings: Sequence[Rating],
    scale: str,
    systems: Sequence[str] = (),
    *,
    low_is_good: bool = False,
) -> ScoreRatingTable:
    """Return the scores and the ratings of a scale that have the same item and system.

    ``low_is_good`` says that lower ratings are better.
    """
    scale_ratings = [rating for rating in ratings if rating.scale == scale]
    opponents = {rating.against.system for rating in scale_ratings if rating.against}
    paired = has_choices(scale_ratings) or len(opponents) > 1
    rated = {
        key
        for rating in scale_ratings
        for key in (rating.key, rating.against if paired else None)
        if key
    }
    scored = {*distinct_keys(scores)}
    shared = rated & scored
    if not shared:
        raise UsageError(
            f"{scale}: no output has both a score and a rating — {_mismatch_message(rated, scored)}"
        )
    kept = [
        rating
        for rating in scale_ratings
        if rating.key in shared and (not paired or rating.against in shared)
    ]
    rest = {key.system for key in shared}
    names = [*(name for name in systems if name in rest), *sorted(rest - {*systems})]
    alone = [replace(rating, against=None) if rating.against else rating for rating in kept]
    coded_ratings = code_ratings(alone, scale, names)
    votes = coded_ratings.votes
    if coded_ratings.unit == "item":  # means: one value per output, as of one rater
        listeners, size = np.zeros_like(votes.listeners), (*votes.size[:2], 1)
        votes = replace(votes, listeners=listeners, size=size)
    items = tuple(sorted({key.item for key in shared})) if paired else coded_ratings.items
    system_names = tuple(names) if paired else coded_ratings.systems
    return ScoreRatingTable(
        scale,
        tuple(metrics),
        system_names,
        items,
        score_table(scores, metrics, system_names, items, low_is_good=low_is_good),
        votes,
        tuple(kept),
        paired,
        _unmatched_notes(rated, scored, shared),
        low_is_good,
    )


def turn_baselines(table: ScoreRatingTable, people: Floats) -> ScoreRatingTable:
    """Reverse baselines that correlate negatively with ratings, since they have no better end.

    With fewer than three systems, the correlation is that of all outputs.
    """
    level = "system" if len(table.systems) > 2 or table.paired else "global"
    correlations = evaluate_grid(ScoreRatingGrid(table.scores, people), level, ["spearman"]).value[
        0
    ]
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


def score_table(
    scores: Sequence[Score],
    metrics: Sequence[MetricColumn],
    systems: Sequence[str],
    items: Sequence[str],
    *,
    low_is_good: bool = False,
) -> Floats:
    """Return scores as metrics × systems × items, with signs changed so that higher is better.

    If lower ratings are better (``low_is_good``), lower scores are better, too.
    """
    metric_index = {metric.name: n for n, metric in enumerate(metrics)}
    system_index = number_keys(systems)
    item_index = number_keys(items)
    table = np.full((len(metrics), len(systems), len(items)), np.nan)
    for score in scores:
        key = score.key
        if score.metric in metric_index and key.system in system_index and key.item in item_index:
            table[metric_index[score.metric], system_index[key.system], item_index[key.item]] = (
                score.value
            )
    signs = np.array([-1.0 if metric.low_is_good != low_is_good else 1.0 for metric in metrics])
    return np.asarray(table * signs[:, None, None])


def _mismatch_message(rated: set[Key], scored: set[Key]) -> str:
    """Return how systems or items are named on both sides if no name matches."""
    for role in ("system", "item"):
        ours, theirs = _names(role, rated, scored)
        if not ours & theirs:
            message = (
                f"{role}s are named {_example_names(ours)} in ratings, {_example_names(theirs)} "
                "in scores"
            )
            return "; ".join(filter(None, (message, mismatch_hint(role, ours, theirs))))
    return "items and systems match, but no combination of item and system does"


def _names(role: str, *sides: set[Key]) -> list[set[str]]:
    """Return the systems or items of each side."""
    return [{getattr(key, role) for key in keys} for keys in sides]


def _example_names(names: set[str]) -> str:
    shown = ", ".join(f'"{name}"' for name in sorted(names)[:SHOWN_NAMES])
    return f"{shown}, …" if len(names) > SHOWN_NAMES else shown


def _unmatched_notes(rated: set[Key], scored: set[Key], shared: set[Key]) -> tuple[str, ...]:
    """Return notes on names that differ slightly, and on outputs without a score or a rating."""
    hints = (mismatch_hint(role, *_names(role, rated, scored)) for role in ("system", "item"))
    notes = [*filter(None, hints)]
    for what, keys, lack in (("rated", rated, "score"), ("scored", scored, "rating")):
        unmatched = keys - shared
        if unmatched:
            systems = {key.system for key in unmatched} - {key.system for key in shared}
            whole = f", including all of {_example_names(systems)}" if systems else ""
            notes.append(
                f"{len(unmatched):,} of {len(keys):,} {what} outputs have no {lack}{whole}"
            )
    return tuple(notes)


# --- Metric columns ------------------------------------------------------------------------------


SHOWN_METRICS = 3  # metrics listed in a warning about several
SHOWN_EXCLUDED = 10  # excluded metrics listed in a note
LENGTH_COLUMN = re.compile(  # always a baseline
    r"((audio|clip|file)[_ ])?(length|duration|words|len|dur)([_ ](in[_ ])?(s|sec|seconds|ms))?"
)
ERROR_METRIC = re.compile(  # lower is better
    r"(.*[_\W])?(wer|cer|per|mer|der|mcd|lsd|fad|rmse|mse|mae)([_\W].*)?", re.IGNORECASE
)
Output = tuple[int, int]  # number of the output, and draw of references
Column = dict[Output, float]


def metric_columns(
    scores: Sequence[Score], low: Collection[str] = (), baselines: Collection[str] = ()
) -> tuple[list[MetricColumn], list[str]]:
    """Return the metrics, and notes on columns that are dropped."""
    columns = _scores_by_metric(scores)
    for name in (*low, *baselines):
        if name not in columns:
            raise UsageError(f'unknown metric "{name}" — {nearest(name, list(columns))}')
    redundant = group_values((reason, name) for name, reason in _redundant_columns(columns))
    dropped = {name for names in redundant.values() for name in names}
    ends = {value.name: value.best for kind in METRICS.values() for value in kind.values}
    metrics = []
    for name in columns:
        if name not in dropped:  # built-in metrics without a better end are baselines
            best = ends.get(name.partition("@")[0].lower(), "")
            is_error = best == "low" or bool(not best and ERROR_METRIC.fullmatch(name))
            is_length = bool(LENGTH_COLUMN.fullmatch(name.lower()))
            is_baseline = name in baselines or is_length or best == "none"
            metrics.append(MetricColumn(name, name in low or is_error, is_baseline))
    return metrics, [
        f"{join_names(names, SHOWN_EXCLUDED)} {verb_form(names, 'is', 'are')} excluded: {reason}"
        for reason, names in redundant.items()
    ]


def verb_form(names: Sequence[str], singular: str, plural: str) -> str:
    """Return the form of a verb whose subject are these names."""
    return singular if len(names) == 1 else plural


def undefined_phrase(counts: Mapping[str, int], total: str) -> str:
    """Return for how many outputs metrics are undefined; ``counts`` are by metric.

    >>> undefined_phrase({"bleu": 13, "rouge": 1}, "320 outputs")
    'bleu and rouge are undefined for 1 to 13 of 320 outputs'
    """
    low, high = min(counts.values()), max(counts.values())
    span = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    names = [*counts]
    verb = verb_form(names, "is", "are")
    return f"{join_names(names, SHOWN_METRICS)} {verb} undefined for {span} of {total}"


def check_controls(
    names: Sequence[str], metrics: Sequence[MetricColumn], notes: Sequence[str]
) -> None:
    """Raise UsageError for columns to control for that were dropped, with the reason."""
    for name in names:
        if name not in {metric.name for metric in metrics}:
            reason = next((note for note in notes if note.startswith(f"{name} is ")), "")
            raise UsageError(f"partial: {reason or f'{name} is not a column of scores'}")


def _scores_by_metric(scores: Sequence[Score]) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    keys = distinct_keys(scores)
    number_of = number_keys(dict.fromkeys(keys))
    number_of_id = {id(key): number_of[key] for key in keys}
    for score in scores:
        column = columns.setdefault(score.metric, {})
        output = number_of_id[id(score.key)], score.draw
        if output in column:
            raise UsageError(f"metric {score.metric} is in two files — keep one")
        column[output] = score.value
    return columns


def distinct_keys(scores: Sequence[Score]) -> list[Key]:
    """Return the keys of scores, each object once, since comparing keys takes long."""
    return list({id(score.key): score.key for score in scores}.values())


def _redundant_columns(columns: dict[str, Column]) -> Iterator[tuple[str, str]]:
    """Yield columns that are undefined, constant or equal to an earlier one, with the reason.

    Columns are equal if they differ only by rounding.
    """
    seen: dict[tuple[int, Output, str], list[str]] = {}
    for name, column in columns.items():
        first = min(column)
        alike = seen.setdefault((len(column), first, f"{column[first]:.10g}"), [])
        same = next((other for other in alike if _is_equal(column, columns[other])), "")
        defined = [value for value in column.values() if not isnan(value)]
        if not defined:
            yield name, "undefined for all outputs"
        elif len(defined) == 1 < len(column):
            yield name, "defined for only one output"
        elif len(set(defined)) == 1:
            yield name, f"always {defined[0]:g}"
        elif same:
            yield name, f"identical to {same}"
        alike.append(name)


def _is_equal(column: Column, other: Column) -> bool:
    """Return whether two columns have the same outputs, with values equal except for rounding."""
    return column.keys() == other.keys() and all(
        f"{value:.10g}" == f"{other[output]:.10g}" for output, value in column.items()
    )


# --- Mean votes and abilities --------------------------------------------------------------------


@dataclass(frozen=True)
class ChoiceAbilities:
    """Choices between systems and the Bradley–Terry abilities that follow, equal for all items.

    If an ability would not be finite, half a vote in each direction is added for every pair.
    """

    choices: Choices
    items: Codes
    size: tuple[int, int, int]

    def resample(self, raters: Floats, items: Floats) -> Floats:
        """Return abilities as draws × systems × items, for given counts of raters and items."""
        times = (raters[:, self.choices.listeners] * items[:, self.items]).astype(np.int64)
        rows = np.arange(len(self.items))
        draws = (select_rows(self.choices, np.repeat(rows, counts)) for counts in times)
        abilities = np.stack([_finite_abilities(choices) for choices in draws])
        return np.repeat(abilities[:, :, None], self.size[1], axis=2)


def _finite_abilities(choices: Choices) -> Floats:
    abilities = fit_bradley_terry(choices).abilities
    if not np.isfinite(abilities).all():  # a system always won or always lost
        pairs = np.unique(np.stack([choices.first, choices.second]), axis=1)
        ones = np.ones(pairs.shape[1], np.int64)
        doubled = Choices(  # half a vote in each direction for every compared pair
            np.concatenate([choices.first, choices.first, pairs[0], pairs[0]]),
            np.concatenate([choices.second, choices.second, pairs[1], pairs[1]]),
            np.concatenate([choices.outcomes, choices.outcomes, ones, -ones]),
            np.concatenate([choices.listeners, choices.listeners, 0 * ones, 0 * ones]),
            choices.size,
        )
        abilities = fit_bradley_terry(doubled).abilities
    return np.where(np.isfinite(abilities), abilities, np.nan)


def choice_abilities(table: ScoreRatingTable) -> ChoiceAbilities:
    """Return choices as numbers."""
    system_index = number_keys(table.systems)
    item_index = number_keys(table.items)
    raters = dict.fromkeys(rating.listener for rating in table.ratings)
    rater_index = number_keys(raters)
    rows = [
        (
            system_index[rating.key.system],
            system_index[rating.against.system],
            int(np.sign(rating.value)),
            item_index[rating.key.item],
            rater_index[rating.listener],
        )
        for rating in table.ratings
        if rating.against
    ]
    first, second, outcomes, items, listeners = np.array(rows, np.int64).T
    size = len(system_index), len(item_index), len(rater_index)
    choices = Choices(first, second, outcomes, listeners, (size[0], size[2]))
    return ChoiceAbilities(choices, items, size)


def votes_or_abilities(table: ScoreRatingTable, aggregate: str = "mean") -> Votes | ChoiceAbilities:
    """Return votes with the ``aggregate`` that is the rating of an output, or choices."""
    if table.has_means and aggregate != "mean":
        raise UsageError(f"aggregate: {table.scale} has means, not votes — use mean")
    if table.paired and aggregate != "mean":
        raise UsageError(
            f"aggregate: {table.scale} has choices between two systems, which have no {aggregate}"
            f"{' value' if aggregate == 'normalized' else ''} — use mean"
        )
    return choice_abilities(table) if table.paired else aggregate_votes(table.votes, aggregate)


def mean_opinions(opinions: Votes | ChoiceAbilities) -> Floats:
    """Return mean votes or abilities as systems × items."""
    if isinstance(opinions, Votes):
        return np.asarray(cell_means(opinions)[0])
    _, items, raters = opinions.size
    return np.asarray(opinions.resample(np.ones((1, raters)), np.ones((1, items)))[0])
