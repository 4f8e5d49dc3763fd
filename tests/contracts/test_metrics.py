"""What every entry of METRICS promises, those of installed plug-ins among them."""

from __future__ import annotations

import random
from dataclasses import FrozenInstanceError, fields, replace
from functools import cache
from itertools import compress, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples.metric.offset import Offset

from earwitness.chapters.metrics import ChapterMeans
from earwitness.core import Case, Chapters, Item, Key, Summary
from earwitness.errors import UsageError
from earwitness.metric import CaseList, Metric, PairMetric, find
from earwitness.registry import METRICS, TASKS
from earwitness.skims.types import Pick, Skim
from helpers.random_days import made
from helpers.samples import columns, nasty

EVERY: dict[str, type[Metric]] = {**METRICS, "offset": Offset}  # and the example in CONTRIBUTING.md
every = pytest.mark.parametrize("kind", EVERY.values(), ids=EVERY)


SPOKEN = tuple(7.3 * n for n in range(25))  # when sentences begin
TIMED = METRICS.keys() - {"titles", "title_bertscore"}
WORDS = ["one", "two", "three", "don't", "[noise]", "running", "東京", "été"]


def cases(kind: type[Metric]) -> list[Case]:
    """Cases of the metric's task."""
    return list(cases_of(kind.task))


@cache
def cases_of(task: str) -> tuple[Case, ...]:
    """Cases of a task, made once."""
    if task == "summaries":
        rng = random.Random(5)
        return tuple(summary_case(rng, f"item {n}", 1) for n in range(40))
    if task == "skims":
        return tuple(skim_case(n, 1) for n in range(12))
    if task == "chapters":
        return tuple(chapter_cases())
    return tuple(sample_cases(task, random.Random(4), 1))


def sample_cases(task: str, rng: random.Random, references: int) -> list[Case]:
    """Cases of a task that a plug-in brings."""
    make = TASKS[task].sample_cases
    assert make is not None, "a task whose metrics are tested has sample_cases"
    return make(rng, references)


def skim_case(seed: int, days: int) -> Case:
    """A skim of a day that may have no blocks, by picks that may be none or lie anywhere."""
    rng = np.random.default_rng(seed)
    blocks = 0 if seed == 3 else 60
    known = tuple(made(seed + 100 * day, blocks, gaps=True) for day in range(days))
    starts = rng.uniform(0, 500, seed % 6).round(1).tolist()
    picks = tuple(Pick(start, rng.choice([4.0, 8.0, 20.0])) for start in starts)
    return Case(Key(f"item {seed}", "s"), Item(480.0), Skim(picks), known)


def summary_case(rng: random.Random, item: str, people: int) -> Case:
    """What was said, manual summaries of it, and an output that may be empty or wrong."""
    said = tuple(rng.choices(WORDS, k=rng.randint(1, 12)))

    def summary(least: int, *, wrong: float = 0.0) -> Summary:
        size = rng.randint(least, len(said))
        kept = sorted(rng.sample(range(1, len(said) + 1), size))
        kept = [0 if rng.random() < wrong else position for position in kept]
        words = tuple(said[position - 1] if position else "wrong" for position in kept)
        return Summary(" ".join(words), words, tuple(kept))

    people_ = tuple(summary(1) for _ in range(people))
    heard = tuple(number if number % 3 else 0 for number in range(1, len(said) + 1))
    whole = Item(9.0, words=said, recognized=heard)
    return Case(Key(item, "s"), whole, summary(0, wrong=0.2), people_)


def chapter_cases() -> list[Case]:
    rng = random.Random(4)
    plain = columns([nasty(rng, 6.0, rng.choice([1, 2, 30])) for _ in range(40)])
    return [_with_words(case, rng) for case in plain]


def _with_words(case: Case, rng: random.Random) -> Case:
    """The same case with titles and transcripts, or without some of them."""

    def titled(chapters: Chapters) -> Chapters:
        titles = tuple((" ".join(rng.choices(WORDS, k=3)), t) for t in chapters.boundaries)
        text = rng.choice([None, "", " ".join(rng.choices(WORDS, k=12))])
        starts = rng.choice([None, tuple(sorted(rng.uniform(0, 180) for _ in range(9)))])
        named = rng.choice([titles, titles, None])
        return replace(chapters, titles=named, text=text, sentences=starts)

    said = rng.choice([None, "", " ".join(rng.choices(WORDS, k=15))])
    return replace(
        case,
        item=replace(case.item, transcript=said, sentences=rng.choice([None, SPOKEN, SPOKEN])),
        output=titled(case.output),
        references=tuple(titled(one) for one in case.references),
    )


@every
def test_the_table_is_keyed_by_name(kind: type[Metric]) -> None:
    assert EVERY[kind.name] is kind
    assert find(kind.name, EVERY) is kind


@every
def test_a_batch_measures_each_case_as_if_alone(kind: type[Metric]) -> None:
    metric, some = kind(), few(kind, cases(kind))
    alone = np.stack([metric.measure(case) for case in some])
    assert np.array_equal(metric.measure_many(some), alone)


def few(kind: type[Metric], found: list[Case]) -> list[Case]:
    """These cases, or the first of them for a metric that needs a network for each."""
    return found[:8] if "bertscore" in kind.name else found


def with_several(kind: type[Metric], rng: random.Random) -> list[Case]:
    """Cases with two to four references each."""
    if kind.task == "summaries":
        found = [summary_case(rng, f"item {n}", rng.randint(2, 4)) for n in range(40)]
        return few(kind, found)
    if kind.task == "skims":
        return [skim_case(n, rng.randint(2, 4)) for n in range(12)]
    if kind.task != "chapters":
        return sample_cases(kind.task, rng, 3)
    found = []
    for case in chapter_cases():
        more = [nasty(rng, 6.0, 30)["reference"] for _ in range(rng.randint(1, 3))]
        others = tuple(
            Chapters(tuple(times), tuple((rng.choice(WORDS), t) for t in times)) for times in more
        )
        found.append(replace(case, references=(*case.references, *others)))
    return few(kind, found)


PAIRS = {name: kind for name, kind in METRICS.items() if issubclass(kind, PairMetric)}
paired = pytest.mark.parametrize("kind", PAIRS.values(), ids=PAIRS)
tabled = pytest.mark.parametrize("kind", METRICS.values(), ids=METRICS)


@paired
def test_against_the_mean_is_the_mean_over_references(kind: Any) -> None:
    metric, some = kind(against="mean"), with_several(kind, random.Random(1))
    for case, row in zip(some, metric.measure_many(some), strict=True):
        each = np.stack(
            [metric.measure(replace(case, references=(one,))) for one in case.references]
        )
        if isinstance(metric, ChapterMeans):  # what is defined once weighs as much as always
            values = np.ma.masked_invalid(metric.score(each)).mean(axis=0).filled(np.nan)
            assert metric.score(row) == pytest.approx(values, rel=1e-12, abs=1e-12, nan_ok=True)
            assert set(row[len(metric.values) :]) <= {0, 1}
        else:
            assert row == pytest.approx(each.mean(axis=0), rel=1e-12, abs=1e-12)


@paired
def test_against_the_best_is_the_first_reference_with_the_best_headline(kind: Any) -> None:
    metric, some = kind(against="best"), with_several(kind, random.Random(2))
    column = [value.name for value in metric.values].index(metric.headline)
    sign = 1 if metric.values[column].best == "high" else -1
    for case, row in zip(some, metric.measure_many(some), strict=True):
        each = [metric.measure(replace(case, references=(one,))) for one in case.references]
        good = [sign * metric.score(one)[column] for one in each]
        for place, one in enumerate(case.references):
            if np.isnan(good[place]):
                assert kind.task not in ("summaries", "skims")
                sides = [case.output, one]
                if kind.task == "chapters":
                    sides = [[t for t in side.boundaries if t > 0] for side in sides]
                same = sides[0] == sides[1] and metric.name in TIMED
                good[place] = np.inf if same else -np.inf
        best = max(range(len(each)), key=lambda i: (good[i], -i))
        assert np.array_equal(row, each[best])


@tabled
@pytest.mark.parametrize("against", ["mean", "best"])
def test_views_of_several_references_are_those_of_the_plain_version(
    kind: Any, against: str
) -> None:
    given = {"against": against} if issubclass(kind, PairMetric) else {}
    metric, some = kind(**given), with_several(kind, random.Random(3))
    some[5] = replace(some[5], references=some[5].references[:1])
    plain = Metric.measure_views(metric, some)
    for got, want in zip(metric.measure_views(some), plain, strict=True):
        assert got == pytest.approx(want, rel=1e-12, abs=1e-12)
    assert len(plain.left_out) == len(some) - 1


@tabled
@pytest.mark.parametrize("against", ["mean", "best"])
def test_subsets_of_references_are_measured_as_if_there_were_no_others(
    kind: Any, against: str
) -> None:
    given = {"against": against} if issubclass(kind, PairMetric) else {}
    metric = kind(**given)
    for case in with_several(kind, random.Random(8))[: 2 if "bertscore" in kind.name else 6]:
        other = case if kind.task == "skims" else replace(case, output=case.references[0])
        some, people = CaseList([case, other]), len(case.references)
        subsets = np.array([*product([False, True], repeat=people)][1:])
        found = metric.measure_subsets(some, subsets)
        alone = [
            replace(one, references=tuple(compress(case.references, subset)))
            for subset in subsets
            for one in some
        ]
        assert np.array_equal(found.reshape(len(alone), -1), metric.measure_many(alone))


@every
def test_an_empty_batch_gives_an_empty_table(kind: type[Metric]) -> None:
    metric = kind()
    wide = metric.measure_many(cases(kind)).shape[1]
    assert metric.measure_many([]).shape == (0, wide), "return a table of no rows"
    if kind.task == "chapters":
        assert metric.measure_many(columns([])).shape == (0, wide), "return a table of no rows"


@every
def test_statistics_are_finite_even_where_values_are_undefined(kind: type[Metric]) -> None:
    metric = kind()
    odd = columns([{"hypothesis": [1e300], "reference": [5], "duration": d} for d in (0, 1, 60)])
    if kind.task == "chapters":
        assert np.isfinite(metric.measure_many(odd)).all()
    assert np.isfinite(metric.measure_many(cases(kind))).all()
    assert np.isfinite(metric.measure_many(with_several(kind, random.Random(6)))).all()


@every
def test_score_works_over_the_last_axis_and_undefined_is_nan(kind: type[Metric]) -> None:
    metric = kind()
    rows = metric.measure_many(cases(kind))
    table = np.stack([rows, rows])
    assert metric.score(table).shape == (2, len(rows), len(metric.values))
    assert np.array_equal(metric.score(table)[1], metric.score(rows), equal_nan=True)
    assert np.isnan(metric.score(np.zeros(rows.shape[1]))).all()


@every
def test_a_corpus_value_lies_within_bounds(kind: type[Metric]) -> None:
    metric = kind()
    corpus = metric.score(metric.measure_many(cases(kind)).sum(axis=0))
    for value, number in zip(metric.values, corpus, strict=True):
        assert value.low <= number <= value.high, value.name


@every
def test_parameters_are_frozen_documented_and_in_the_signature(kind: type[Metric]) -> None:
    metric: Any = kind()
    for field in fields(kind):
        assert kind.help(field.name)
        assert f"{field.name}={getattr(metric, field.name)}" in metric.signature
        with pytest.raises(FrozenInstanceError):
            setattr(metric, field.name, 1.0)


@every
@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_bad_parameters_are_refused_by_name(kind: type[Metric], bad: float) -> None:
    for name in kind.parameters():
        with pytest.raises(
            UsageError, match=f"{name} must be (a finite number|one of|codebook, log-mel)"
        ):
            kind(**{name: bad})


@every
def test_the_family_says_what_its_empty_cells_are(kind: type[Metric]) -> None:
    assert {"both empty", "output empty", "reference empty"} <= kind.empty_cells.keys()
    assert kind.references
    assert kind.headline in [value.name for value in kind.values if value.best != "none"]
    assert kind.__doc__


def test_what_is_scored_by_default_is_in_the_table() -> None:
    for task in TASKS.values():
        for name in (*task.defaults, *task.people):
            assert METRICS[name].task == task.subject


def test_value_names_are_unique_among_all_metrics() -> None:
    names = [value.name for kind in METRICS.values() for value in kind.values]
    assert len(names) == len(set(names))


def test_an_unknown_metric_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match='unknown metric "chunk" — did you mean "chunks"'):
        find("chunk", METRICS)


def test_every_metric_and_value_is_documented(root: Path) -> None:
    for kind in METRICS.built_in.values():
        page = (root / "docs" / "metrics" / f"{kind.task}.md").read_text()
        assert f"## {kind.name}" in page
        for value in kind.values:
            assert f"`{value.name}`" in page
