"""Experiment on the number of people who made references: scores, correlations with judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import factorial, nan
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from earwitness.core import (
    Estimate,
    Jobs,
    Map,
    Progress,
    StrPath,
    Summary,
    count_text,
    group_values,
    no_progress,
)
from earwitness.engines.local import choose_map
from earwitness.errors import UsageError, nearest
from earwitness.experiments.curves import (
    DrawSettings,
    OrderTables,
    SummarizeValue,
    ValueSummary,
    ValueTask,
    score_orders,
)
from earwitness.experiments.people_orders import MAX_EXACT_PEOPLE, SavedBlocks, draw_orders
from earwitness.experiments.reader import (
    ExperimentData,
    Judgements,
    read_data,
    read_judgements,
)
from earwitness.experiments.results import (
    Annotator,
    Condition,
    CorrelationPoint,
    CurvePoint,
    Leveling,
    MisrecognizedShare,
    ReferencesExperiment,
    ValueTest,
)
from earwitness.io.source import TableInput
from earwitness.metaeval.coefficients import coefficient_names
from earwitness.metaeval.levels import ScoreRatingGrid, cell_means, evaluate_grid
from earwitness.metaeval.ranking import williams_p_values
from earwitness.metaeval.settings import MIN_SYSTEMS_FOR_SYSTEM_LEVEL
from earwitness.metaeval.significance import swap_metrics
from earwitness.metric_set import MetricChoice
from earwitness.report.sentences import join_names
from earwitness.scoring.score import Place
from earwitness.scoring.settings import check
from earwitness.stats.arrays import Floats, Ints
from earwitness.stats.significance import holm
from earwitness.summaries.text_metrics import misrecognized_shares
from earwitness.task import parse_where
from earwitness.version import __version__

SUMMARY_STEPS = 10  # the summary of a value takes about as long as the scores of ten items
MIN_PEOPLE_FOR_ISOLATION = 5
ROBUST_SD_FACTOR = 1.4826  # median absolute deviation to standard deviation, for a normal one
LEVEL_TOLERANCE_SHARE = 0.01  # of the range of a value
MIN_LEVEL_SHARE = 0.25  # share of sizes over which a value must stay within the tolerance


def references_experiment(
    outputs: Place,
    references: Place,
    judgements: TableInput | Sequence[TableInput] = (),
    *,
    metrics: MetricChoice | None = None,
    values: Sequence[str] | str | None = None,
    human: str = "",
    sizes: Sequence[int] | None = None,
    orders: int = 100,
    coefficients: Annotated[Sequence[str], coefficient_names("system")] = ("pearson",),
    isolated_rule: float = 3.0,
    leveling_tolerance: float | None = None,
    draws: int = 1000,
    permutations: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
    scale: str = "",
    jobs: Jobs = 1,
    progress: Progress = no_progress,
    cache: Annotated[StrPath | None, "FOLDER"] = None,
    simulated: str = "",
    where: Annotated[Sequence[str] | str, "CONDITION"] = (),
    **parameters: Any,
) -> ReferencesExperiment:
    """Measure how scores, and their correlation with ratings, depend on the number of annotators.

    The references of an item are made by several annotators. Outputs are scored with the references
    of the first 1, 2, 3 … annotators of many orders, which are the same for all items.

    Parameters
    ----------
    outputs, references
        Outputs of systems and references of annotators, as for ``score``. References without a name
        are those of ``reference 1``, ``reference 2`` and so on.
    judgements
        Tables of ratings with item, system and listener, as for ``agree``.
    metrics
        Metrics, as for ``score``. By default SumACCY and BLEU for summaries with a transcript, and
        the metrics of the task otherwise.
    values
        Values to report. By default SumACCY, BLEU and WSumACCY, or the main value of each metric.
    human
        Annotator whose references are also scored as a system, against those of the others, unless
        there are outputs of this name.
    sizes
        Numbers of annotators. By default all.
    orders
        Number of random orders of annotators. If there are no more orders, all are used.
    coefficients
        Coefficients of correlation over system means.
    isolated_rule
        Robust standard deviations below the median closeness to others from which on an annotator
        is isolated; 0 if nobody shall be.
    leveling_tolerance
        A value levels off if its mean stays this close to that with all annotators. By default
        1 % of the range of the value.
    draws
    permutations
        Number of permutations.
    level
        Confidence level of intervals.
    seed
    scale
        Rating scale, if the judgements have several.
    jobs
    progress
        Function that is called with the number of completed steps, of all steps, and again of
        completed steps.
    cache
        Folder for finished parts, so that an interrupted experiment can be resumed.
    simulated
        Description of the simulator, if the data are simulated.
    where
        Conditions on fields, such as ``accuracy>=0.9``, that items or outputs must fulfil.
    **parameters
        Parameters of the metrics and options of the task, as for ``score``.

    Returns
    -------
    ReferencesExperiment
        Curves, correlations, tests between values, and annotators.

    Raises
    ------
    InputError
        If a file cannot be read or has invalid lines.
    UsageError
        If an argument is invalid, or there are fewer than two annotators.

    Examples
    --------
    >>> words = ["it", "rains", "a", "lot", "here"]
    >>> people = {"A": [1, 2], "B": [2, 4], "C": [1, 2, 4]}
    >>> made = [{"annotator": name, "positions": kept} for name, kept in people.items()]
    >>> reference = {"item": "a", "words": words, "references": made}
    >>> output = {"item": "a", "system": "mine", "output": {"positions": [1, 2, 4]}}
    >>> result = references_experiment([output], [reference])
    >>> [round(p.mean, 3) for p in result.curves if p.value == "sumaccy" and p.system == "mine"]
    [0.667, 1.0, 1.0]
    """
    check(
        level=level,
        seed=seed,
        on_error="fail",
        draws=draws,
        orders=orders,
        permutations=permutations,
    )
    names = _check_coefficients(coefficients)
    conditions = parse_where(where)
    data = read_data(outputs, references, metrics, values, human, conditions, parameters)
    count = len(data.people)
    exact = count <= MAX_EXACT_PEOPLE and factorial(count) <= orders
    drawn = draw_orders(count, orders, seed, exact=exact)
    annotators = _find_isolated(data, isolated_rule)
    isolated = [number for number, person in enumerate(annotators) if person.isolated]
    sizes_by_isolation = {True: _check_sizes(sizes, count)}
    if isolated:
        left = count - len(isolated)
        sizes_by_isolation[False] = [*(k for k in sizes_by_isolation[True] if k < left), left]
    judged = read_judgements(judgements, data, scale)
    scored = (
        f"{data.signature},isolated={isolated_rule:g},orders={'all' if exact else orders},"
        f"sizes={'+'.join(str(size) for size in sizes_by_isolation[True])})|seed={seed}"
    )
    saved = None if cache is None else SavedBlocks(Path(cache), data.key(scored))
    engine = choose_map(1 if data.setup.metrics.alone else jobs)
    steps = len(data.tasks) + SUMMARY_STEPS * len(data.values) * len(sizes_by_isolation)
    tables = score_orders(
        data,
        drawn,
        isolated,
        sizes_by_isolation,
        engine,
        lambda done, _, cases: progress(done, steps, cases),
        saved,
    )
    worker = SummarizeValue(DrawSettings(draws, level, seed), judged, names, data.human_number)
    summaries = dict[tuple[bool, int], ValueSummary]()
    for key, summary in _summarize(data, tables, worker, engine):
        summaries[key] = summary
        done = len(data.tasks) + SUMMARY_STEPS * len(summaries)
        progress(done, steps, done)
    curves = tuple(_curve_points(data, tables, sizes_by_isolation, summaries, level))
    correlations = _correlation_points(data, names, sizes_by_isolation, summaries, level)
    return ReferencesExperiment(
        title="Number of people who made references",
        values=data.values,
        systems=data.systems,
        human=data.human,
        items=len(data.items),
        judges=0 if judged is None else judged.votes.size[2],
        scale=None if judged is None else judged.scale,
        people=tuple(sizes_by_isolation[True]),
        orders=len(drawn),
        exact=exact,
        coefficients=names,
        curves=curves,
        correlations=tuple(correlations),
        tests=tuple(_test_values(data, tables, worker, permutations)),
        annotators=tuple(annotators),
        rule=_describe_rule(data, isolated_rule),
        leveling=tuple(_find_leveling(data, curves, leveling_tolerance)),
        misrecognized=tuple(_find_misrecognized(data, draws, level, seed)),
        level=level,
        signature=f"{scored}{conditions.signature}|coefficients={'+'.join(names)}"
        f"|bootstrap(draws={draws},level={level:g})|permutation(n={permutations})",
        inputs=(*data.inputs, *(() if judged is None else judged.inputs)),
        version=__version__,
        simulated=simulated or data.simulated,
        notes=tuple(_notes(data, judged, annotators, drawn[:, : sizes_by_isolation[True][0]])),
        judged=None if judged is None else judged.means(data.systems),
        smallest_r=nan if judged is None else smallest_correlation(len(judged.systems), level),
    )


def _summarize(
    data: ExperimentData, tables: Mapping[bool, OrderTables], worker: SummarizeValue, map_: Map
) -> Iterator[tuple[tuple[bool, int], ValueSummary]]:
    """Yield the summary of every value with and without isolated people."""
    keys = [(isolation, number) for isolation in tables for number in range(len(data.values))]
    inputs = (
        ValueTask(tables[isolation].of_value(number), data.values[number].best == "low")
        for isolation, number in keys
    )
    yield from zip(keys, map_(worker, inputs), strict=True)


def _check_coefficients(names: Sequence[str] | str) -> tuple[str, ...]:
    known = coefficient_names("system")
    chosen = tuple(dict.fromkeys([names] if isinstance(names, str) else names))
    for name in chosen:
        if name not in known:
            raise UsageError(f'unknown coefficient "{name}" — {nearest(name, known)}')
    if not chosen:
        raise UsageError(f"name at least one coefficient — known: {', '.join(known)}")
    return chosen


def _check_sizes(sizes: Sequence[int] | None, people: int) -> list[int]:
    """Return the numbers of people in order, always with all of them."""
    for size in sizes or ():
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= people:
            raise UsageError(f"sizes must be whole numbers from 1 to {people}, got {size!r}")
    return sorted({*(sizes or range(1, people + 1)), people})


# --- Points of curves and correlations -----------------------------------------------------------


INTERVAL_METHODS = {
    "orders": "percentiles of orders",
    "systems": "bootstrap of systems",
    "items": "bootstrap of items",
    "judges": "bootstrap of judges",
    "both": "bootstrap of items and orders",
    "all": "bootstrap of systems, items, judges and orders",
}
Summaries = Mapping[tuple[bool, int], ValueSummary]  # with isolated people or not, and the value


def _curve_points(
    data: ExperimentData,
    tables: Mapping[bool, OrderTables],
    sizes: Mapping[bool, Sequence[int]],
    summaries: Summaries,
    level: float,
) -> Iterator[CurvePoint]:
    """Yield the points of all curves; that of a person ends with all other people."""
    for (isolated, number), summary in summaries.items():
        most_people = tables[isolated].most_people()
        for system, bands, most in zip(data.systems, summary.curves, most_people, strict=True):
            for place, size in enumerate(sizes[isolated]):
                mean, n = float(bands.mean[place]), int(bands.items[place])
                if size <= most:
                    counts = n, len(data.items) - n
                    intervals = _intervals(mean, bands.bands, place, level, counts)
                    yield CurvePoint(data.names[number], system, size, isolated, mean, intervals)


def _correlation_points(
    data: ExperimentData,
    names: Sequence[str],
    sizes: Mapping[bool, Sequence[int]],
    summaries: Summaries,
    level: float,
) -> Iterator[CorrelationPoint]:
    """Yield the points of all correlations."""
    for (isolated, number), summary in summaries.items():
        for human, correlation in summary.correlations.items():
            for row, name in enumerate(names):
                for column, size in enumerate(sizes[isolated]):
                    place, condition = (row, column), Condition(human, isolated)
                    mean = float(correlation.mean[place])
                    counts = correlation.systems, int(correlation.undefined[place])
                    intervals = _intervals(mean, correlation.intervals, place, level, counts)
                    value = data.names[number]
                    yield CorrelationPoint(value, name, size, condition, mean, intervals)


def _intervals(
    mean: float,
    intervals: Mapping[str, Sequence[Floats]],
    place: int | tuple[int, int],
    level: float,
    counts: tuple[int, int],
) -> dict[str, Estimate]:
    """Return a mean with its interval by source; counts are of defined and undefined numbers."""
    return {
        source: Estimate(
            mean,
            float(ends[0][place]),
            float(ends[1][place]),
            level,
            *counts,
            INTERVAL_METHODS[source],
        )
        for source, ends in intervals.items()
    }


# --- Tests, isolated people, leveling ------------------------------------------------------------


def _test_values(
    data: ExperimentData,
    tables: Mapping[bool, OrderTables],
    worker: SummarizeValue,
    permutations: int,
) -> Iterator[ValueTest]:
    """Yield the tests of all pairs of values, with all people of each condition."""
    pairs, level = list(combinations(range(len(data.values)), 2)), worker.settings.level
    signs = np.array([-1.0 if worker.is_negated(v.best == "low") else 1.0 for v in data.values])
    for isolated, table in tables.items():
        scores = table.with_all_people() * signs[:, None, None]
        for human, judged in worker.judged_by_human().items():
            if len(judged.systems) < MIN_SYSTEMS_FOR_SYSTEM_LEVEL or not pairs:
                continue
            grid = ScoreRatingGrid(
                scores[:, judged.systems][:, :, judged.items], cell_means(judged.votes)[0]
            )
            for name in worker.names:
                found = evaluate_grid(grid, "system", [name]).value[0]
                swapped = swap_metrics(
                    grid.scores,
                    grid.people,
                    pairs,
                    "system",
                    name,
                    "systems",
                    permutations=permutations,
                    seed=worker.settings.seed,
                )
                p, widths = swapped.p_values(), swapped.test(level, corrected=False).half_width
                williams = [nan] * len(pairs)
                if name == "pearson":
                    williams = list(williams_p_values(grid, pairs))
                tested = williams, p.tolist(), holm(p.tolist())
                condition, rest = Condition(human, isolated), (level, len(judged.systems), 0)
                for (a, b), width, *ps in zip(pairs, widths.tolist(), *tested, strict=True):
                    gain = float(found[a] - found[b])
                    method = "permutation of systems"
                    difference = Estimate(gain, gain - width, gain + width, *rest, method)
                    yield ValueTest(data.names[a], data.names[b], name, condition, difference, *ps)


def _find_isolated(data: ExperimentData, limit: float) -> list[Annotator]:
    """Return all people with their closeness to others, and whether they are isolated."""
    if limit < 0 or not np.isfinite(limit):
        raise UsageError(f"isolated_rule must be 0 or a positive number, got {limit}")
    references, value = data.references, data.values[0]
    rows = np.array([references.rows[item] for item in data.items], np.int64)
    cases, places = references.cases.take(rows).people()
    made = [name for row in rows.tolist() for name in references.annotators[row]]
    metric, column = next(
        (metric, place)
        for metric in data.setup.metrics.metrics
        for place, metric_value in enumerate(data.setup.metrics.named[metric.signature])
        if metric_value.name == value.name
    )
    scores = metric.score(metric.measure_many(cases))[:, column]
    pairs = zip(places.tolist(), scores.tolist(), strict=True)
    by_person = group_values((made[place], score) for place, score in pairs if score == score)
    closeness = np.array([np.mean(by_person.get(name, nan)) for name in data.people])
    deviations = (-1 if value.best == "low" else 1) * robust_deviations(closeness)
    return [
        Annotator(name, float(close), float(far), bool(limit and far < -limit))
        for name, close, far in zip(data.people, closeness, deviations, strict=True)
    ]


def robust_deviations(values: Floats) -> Floats:
    """Return distances from the median in robust standard deviations.

    They are undefined with fewer than five values, or if most values are equal. Of 25 people who
    differ only by chance, one or more are 3 below the median in about 12 % of groups.

    >>> robust_deviations(np.array([1.0, 2.0, 3.0, 4.0, -10.0])).round(2).tolist()
    [-0.67, 0.0, 0.67, 1.35, -8.09]
    """
    known = values[~np.isnan(values)]
    if len(known) < MIN_PEOPLE_FOR_ISOLATION:
        return np.full(values.shape, nan)
    median = np.median(known)
    spread = ROBUST_SD_FACTOR * np.median(np.abs(known - median))
    return np.asarray((values - median) / (spread if spread > 0 else nan))


def _describe_rule(data: ExperimentData, limit: float) -> str:
    """Return the rule for isolated people as a sentence."""
    if not limit:
        return "No rule for isolated people was applied."
    return (
        f"A person is isolated if their mean {data.names[0]} against all other people is more than "
        f"{limit:g} robust standard deviations ({ROBUST_SD_FACTOR} × median absolute deviation) "
        f"on the worse side of the median of all people; with fewer than "
        f"{MIN_PEOPLE_FOR_ISOLATION} people, nobody is."
    )


def _find_leveling(
    data: ExperimentData, curves: Sequence[CurvePoint], tolerance: float | None
) -> Iterator[Leveling]:
    """Yield from which number of people on each curve stays close to its last point."""
    for value in data.values:
        span = value.high - value.low
        limit = LEVEL_TOLERANCE_SHARE * (span if np.isfinite(span) else 1.0)
        limit = limit if tolerance is None else tolerance
        for system in data.systems:
            wanted = value.name, system, True
            curve = [
                curve for curve in curves if (curve.value, curve.system, curve.isolated) == wanted
            ]
            means = np.array([point.mean for point in curve])
            if not curve:
                continue
            far = np.flatnonzero(~(np.abs(means - means[-1]) <= limit))
            first = int(far[-1]) + 1 if len(far) else 0
            enough = max(2, MIN_LEVEL_SHARE * len(means))
            people = curve[first].people if len(means) - first >= enough else 0
            last = float(means[-1] - means[-2]) if len(means) > 1 else nan
            yield Leveling(value.name, system, people, last, limit)


def _find_misrecognized(
    data: ExperimentData, draws: int, level: float, seed: int
) -> Iterator[MisrecognizedShare]:
    """Yield the shares of misrecognized words of systems; none if outputs are no summaries."""
    cases = [case for task in data.tasks for case in task.cases]
    if all(isinstance(case.output, Summary) for case in cases):
        shares = misrecognized_shares(cases, draws=draws, level=level, seed=seed)
        # summaries of people have no system, or one with the name of the person
        own = ((name, pair) for name, pair in shares.items() if name not in ("", *data.own_people))
        yield from (MisrecognizedShare(name, *pair) for name, pair in own)


def smallest_correlation(systems: int, level: float) -> float:
    """Return the smallest |r| that differs significantly from 0; NaN below three systems.

    >>> round(smallest_correlation(10, 0.95), 3)
    0.632
    """
    from scipy.special import stdtrit

    if systems < MIN_SYSTEMS_FOR_SYSTEM_LEVEL:
        return nan
    t = float(stdtrit(systems - 2, (1 + level) / 2))
    return t / float(np.sqrt(systems - 2 + t * t))


# --- Notes ---------------------------------------------------------------------------------------


def _notes(
    data: ExperimentData,
    judged: Judgements | None,
    annotators: Sequence[Annotator],
    first: Ints,
) -> Iterator[str]:
    """Yield notes on inputs, people, and what intervals hold for.

    ``first`` are the first people of every order, as many as the smallest size.
    """
    yield from data.notes
    people = len(data.people)
    yield (
        f"bands over orders hold for studies with some of these {people} people, so they narrow as "
        "the number of people approaches all of them"
    )
    others = count_text(people - 1, "other person", "other people")
    for name in data.own_people:
        yield f'"{name}" is scored against {others}, also in correlations with all people'
    if not data.is_complete:
        yield (
            "some people did not make references of all items: with k people, an item is scored "
            f"with those of the first k who did, and left out if there are none (with "
            f"{first.shape[1]} of them, on average {data.count_without(first):.3g} of "
            f"{len(data.items)} items)"
        )
    if isolated := [person.name for person in annotators if person.isolated]:
        yield f"isolated: {join_names(isolated)}"
    if judged is None:
        return
    yield from judged.notes
    if len(judged.systems) < MIN_SYSTEMS_FOR_SYSTEM_LEVEL:
        yield (
            f"correlations are undefined: {count_text(len(judged.systems), 'judged system')}"
            f", at least {MIN_SYSTEMS_FOR_SYSTEM_LEVEL} required"
        )
