"""The experiment on the number of people, compared with a plain version of it."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import permutations
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from earwitness.core import Case, Item, Key, Summary
from earwitness.errors import UsageError
from earwitness.experiments import curves
from earwitness.experiments.people_orders import ScoreSubsets
from earwitness.experiments.references import references_experiment, smallest_correlation
from earwitness.experiments.results import Condition, ReferencesExperiment
from earwitness.metaeval.significance import williams_test
from earwitness.summaries.metrics import SummarizationAccuracy
from earwitness.summaries.text_metrics import Bleu
from helpers.several_summaries import SummaryRecords, summary_records

QUICK: dict[str, Any] = {"draws": 20, "permutations": 50}
METRICS = (SummarizationAccuracy(), Bleu())
VALUES = ("sumaccy", "bleu", "wsumaccy")


def content(result: ReferencesExperiment | tuple[object, ...]) -> str:
    """All parts of a result as text, in which undefined numbers are equal."""
    return repr(asdict(result) if isinstance(result, ReferencesExperiment) else result)


def curve(result: ReferencesExperiment, value: str, system: str, **which: bool) -> list[float]:
    """Means by number of people."""
    isolated = which.get("isolated", True)
    wanted = (value, system, isolated)
    return [p.mean for p in result.curves if (p.value, p.system, p.isolated) == wanted]


def correlation(
    result: ReferencesExperiment, value: str, *, human: bool, isolated: bool = True
) -> list[float]:
    """Correlations by number of people."""
    wanted = (value, Condition(human, isolated))
    return [p.mean for p in result.correlations if (p.value, p.condition) == wanted]


# --- Plain version -------------------------------------------------------------------------------
# All values of an output with the references of given people, one at a time, by the definition.


def summary(words: list[str], positions: list[int]) -> Summary:
    """A summary of a transcript."""
    kept = tuple(words[position - 1] for position in positions)
    return Summary(" ".join(kept), kept, tuple(positions))


def item_values(
    records: SummaryRecords, item: str, system: str, people: Iterable[str]
) -> dict[str, float] | None:
    """Values of one output with the references of those people who did the item."""
    reference = next(one for one in records.references if one["item"] == item)
    made = {one["annotator"]: one["positions"] for one in reference["references"]}
    own = [one for one in records.outputs if (one["item"], one["system"]) == (item, system)]
    if own:
        positions = own[0]["output"]["positions"]
    elif system in made:
        positions = made[system]
    else:
        return None
    words = reference["words"]
    chosen = tuple(summary(words, made[name]) for name in people if name in made)
    if not chosen:
        return None
    case = Case(Key(item, system), Item(1.0, words=tuple(words)), summary(words, positions), chosen)
    return {name: value for metric in METRICS for name, value in metric.values_of(case).items()}


class PlainExperiment:
    """Means by order of people, of every system and number of people."""

    def __init__(self, records: SummaryRecords, systems: list[str]) -> None:
        self.records, self.systems = records, systems
        names = {p["annotator"] for one in records.references for p in one["references"]}
        self.orders = list(permutations(sorted(names)))
        self.cache: dict[tuple[str, frozenset[str]], dict[str, float]] = {}

    def means(self, system: str, people: frozenset[str]) -> dict[str, float]:
        """Means over items with the references of some people."""
        if (system, people) not in self.cache:
            rows = [
                values
                for one in self.records.references
                if (values := item_values(self.records, one["item"], system, sorted(people)))
            ]
            self.cache[system, people] = {
                value: fmean(row[value] for row in rows) for value in VALUES
            }
        return self.cache[system, people]

    def order_means(self, value: str, system: str, size: int) -> list[float]:
        """Means by order, for a number of people."""
        others = [[name for name in order if name != system] for order in self.orders]
        return [self.means(system, frozenset(order[:size]))[value] for order in others]

    def correlation(self, value: str, systems: list[str], size: int) -> float:
        """Mean of Pearson's r over orders."""
        ratings = [
            fmean(row["score"] for row in self.records.judgements if row["system"] == system)
            for system in systems
        ]
        table = np.array([self.order_means(value, system, size) for system in systems])
        varied = [column for column in table.T if np.ptp(column) > 0]
        return fmean(float(np.corrcoef(column, ratings)[0, 1]) for column in varied)


@pytest.mark.parametrize(("people", "skipped"), [(4, 0.0), (4, 0.4), (5, 0.0)])
def test_all_orders_give_the_means_of_the_plain_version(people: int, skipped: float) -> None:
    human = "P1"
    records = summary_records(3, people, 3, human=human, skipped=skipped, seed=people, words=12)
    result = references_experiment(*records, human=human, orders=120, isolated_rule=0, **QUICK)
    assert result.exact
    assert (result.orders, result.human) == (len([*permutations(range(people))]), human)
    plain = PlainExperiment(records, [*result.systems])
    for value in VALUES:
        for system in result.systems:
            most = people - (system == human)
            wanted = [fmean(plain.order_means(value, system, k)) for k in range(1, most + 1)]
            assert curve(result, value, system) == pytest.approx(wanted, abs=1e-12)
    if skipped:
        return
    for value in VALUES:
        for with_human, systems in ((True, [*result.systems]), (False, ["S0", "S1", "S2"])):
            wanted = [plain.correlation(value, systems, k) for k in range(1, people + 1)]
            found = correlation(result, value, human=with_human)
            assert found == pytest.approx(wanted, abs=1e-12)


def test_bands_over_orders_are_percentiles_of_single_orders() -> None:
    records = summary_records()
    result = references_experiment(*records, level=0.8, **QUICK)
    plain = PlainExperiment(records, [*result.systems])
    for point in result.curves:
        means = plain.order_means(point.value, point.system, point.people)
        band = point.intervals["orders"]
        assert (band.low, band.high) == pytest.approx(np.percentile(means, [10, 90]), abs=1e-12)


def test_the_mean_over_random_orders_comes_close_to_that_over_all() -> None:
    records = summary_records(2, 5, 3)
    exact = references_experiment(*records, orders=120, **QUICK)
    random = references_experiment(*records, orders=119, seed=3, **QUICK)
    more = references_experiment(*records, orders=3000, seed=3, draws=20)
    assert (random.exact, random.orders, more.exact, more.orders) == (False, 119, True, 120)
    six = summary_records(2, 6, 3)
    many = references_experiment(*six, orders=719, **QUICK)
    every = references_experiment(*six, orders=720, **QUICK)
    assert (many.exact, every.orders) == (False, 720)
    for a, b in ((random, exact), (many, every)):
        differences = [x.mean - y.mean for x, y in zip(a.curves, b.curves, strict=True)]
        spread = max(y.intervals["orders"].high - y.intervals["orders"].low for y in b.curves)
        assert max(map(abs, differences)) < 1.5 * spread / a.orders**0.5
    assert [p.mean for p in more.curves] == [p.mean for p in exact.curves]


def test_items_that_nobody_of_the_first_people_did_are_counted() -> None:
    records = summary_records(4, 3)
    for place, one in enumerate(records.references):
        one["references"] = one["references"][: 1 if place < 2 else 3]
    result = references_experiment(*records, **QUICK)
    # With one of three people, two of four items have no reference unless it is the first person.
    wanted = "(with 1 of them, on average 1.33 of 4 items)"
    assert any(wanted in note for note in result.notes)
    complete = references_experiment(*summary_records(4, 3), **QUICK)
    assert not any("on average" in note for note in complete.notes)


# --- Systems and people --------------------------------------------------------------------------


def test_references_of_a_person_are_scored_as_a_system_against_the_others() -> None:
    records = summary_records(4, 4, 3, human="P2")
    outputs = [*records.outputs]
    for one in records.references:
        own = next(p for p in one["references"] if p["annotator"] == "P2")
        output = {"positions": own["positions"]}
        outputs.append({"item": one["item"], "system": "P2", "output": output})
    made = references_experiment(*records, human="P2", **QUICK)
    given = references_experiment(outputs, *records[1:], **QUICK)
    assert made.human == given.human == "P2"
    assert content(made.curves) == content(given.curves)
    assert content(made.correlations) == content(given.correlations)
    assert [p.people for p in made.curves if (p.value, p.system) == ("bleu", "P2")] == [1, 2, 3]
    assert [p.people for p in made.curves if (p.value, p.system) == ("bleu", "S0")] == [1, 2, 3, 4]


def test_the_other_people_are_counted_in_words() -> None:
    records = summary_records(4, 2, 3, human="P1")
    made = references_experiment(*records, human="P1", **QUICK)
    assert '"P1" is scored against 1 other person, also in correlations with all people' in (
        made.notes
    )


def test_with_all_people_there_is_no_variation_over_orders() -> None:
    result = references_experiment(*summary_records(5), **QUICK)
    last = [point for point in result.curves if point.people == 4]
    assert len(last) == 9
    for point in last:
        orders, items, both = (point.intervals[source] for source in ("orders", "items", "both"))
        assert (orders.low, orders.high) == pytest.approx((point.mean, point.mean))
        assert (both.low, both.high) == pytest.approx((items.low, items.high))


def test_isolated_people_are_found_and_left_out() -> None:
    records = summary_records(8, 8, 6, human="P3", isolated=1, judges=5, words=14)
    result = references_experiment(*records, human="P3", orders=20, **QUICK)
    assert [person.name for person in result.annotators if person.isolated] == ["P0"]
    assert "more than 3 robust standard deviations" in result.rule
    sizes = {p.isolated: p.people for p in result.curves if p.system == "S0"}
    assert sizes == {True: 8, False: 7}
    without = [
        {**one, "references": [p for p in one["references"] if p["annotator"] != "P0"]}
        for one in records.references
    ]
    alone = references_experiment(
        records.outputs, without, records.judgements, human="P3", orders=20, **QUICK
    )
    for system in ("S0", "P3"):
        found = curve(result, "wsumaccy", system, isolated=False)
        assert found[-1] == curve(alone, "wsumaccy", system)[-1]
    conditions = {point.condition for point in result.correlations}
    assert conditions == {Condition(h, i) for h in (True, False) for i in (True, False)}
    assert {test.condition for test in result.tests} == conditions


def test_the_human_system_may_be_an_isolated_person() -> None:
    records = summary_records(8, 8, 3, human="P0", isolated=1, words=14)
    result = references_experiment(*records, human="P0", orders=20, **QUICK)
    assert [person.name for person in result.annotators if person.isolated] == ["P0"]
    ends = {(p.system, p.isolated): p.people for p in result.curves}
    assert [ends[name, True] for name in ("S0", "P0")] == [8, 7]
    assert [ends[name, False] for name in ("S0", "P0")] == [7, 7]
    for value in VALUES:  # the others are the same with and without the person
        both = [curve(result, value, "P0", isolated=isolated) for isolated in (True, False)]
        assert both[0] == both[1]


def test_few_people_or_no_rule_leave_nobody_isolated() -> None:
    few = references_experiment(*summary_records(6, 4, isolated=1), **QUICK)
    assert not any(person.isolated for person in few.annotators)
    records = summary_records(8, 8, 3, isolated=1, words=14)
    none = references_experiment(*records, orders=5, isolated_rule=0, **QUICK)
    assert not any(person.isolated for person in none.annotators)
    assert none.annotators[0].deviation < -3


def test_references_without_names_are_those_of_numbered_people() -> None:
    records = summary_records()
    unnamed = [
        {**one, "references": [{"positions": p["positions"]} for p in one["references"]]}
        for one in records.references
    ]
    result = references_experiment(records.outputs, unnamed, **QUICK)
    assert [person.name for person in result.annotators] == [f"reference {n}" for n in range(1, 5)]
    named = references_experiment(*records[:2], **QUICK)
    assert [p.mean for p in result.curves] == [p.mean for p in named.curves]
    assert (result.judges, result.scale, result.correlations, result.tests) == (0, None, (), ())


def test_items_are_filtered_by_their_fields() -> None:
    records = summary_records(5)
    few = references_experiment(*records, where="number<3", **QUICK)
    outputs = [one for one in records.outputs if one["item"] in ("item 0", "item 1", "item 2")]
    alone = references_experiment(outputs, records.references[:3], records.judgements, **QUICK)
    assert few.items == 3
    assert content(few.curves) == content(alone.curves)
    with pytest.raises(UsageError, match="number>9"):
        references_experiment(*records, where="number>9", **QUICK)


def test_chapters_use_the_same_experiment() -> None:
    references = [
        {
            "item": f"v{n}",
            "duration": 100.0,
            "references": [
                {"annotator": name, "boundaries": [20.0 + n, 50.0 + place]}
                for place, name in enumerate("ABC")
            ],
        }
        for n in range(3)
    ]
    outputs = [
        {"item": f"v{n}", "system": f"s{s}", "output": {"boundaries": [20.0 + n + 4 * s]}}
        for n in range(3)
        for s in range(3)
    ]
    votes = [
        {
            "item": one["item"],
            "system": one["system"],
            "listener": 1,
            "score": 5 - int(str(one["system"])[1]),
        }
        for one in outputs
    ]
    result = references_experiment(
        outputs,
        references,
        votes,
        metrics=("collar", "chunks"),
        values=("collar_f1", "pk"),
        human="B",
        **QUICK,
    )
    assert [value.name for value in result.values] == ["collar_f1", "pk"]
    # Against each person alone: one of two boundaries found, so F1 is 2/3.
    assert curve(result, "collar_f1", "s0") == pytest.approx([2 / 3] * 3)
    lower = [p.mean for p in result.correlations if p.value == "pk" and not p.condition.human]
    assert min(lower) > 0  # lower is better for pk, higher for ratings


# --- Correlations and tests ----------------------------------------------------------------------


def test_fewer_than_three_systems_have_no_correlation_and_a_reason() -> None:
    result = references_experiment(*summary_records(systems=2), **QUICK)
    assert all(np.isnan(point.mean) for point in result.correlations)
    assert result.tests == ()
    assert np.isnan(result.smallest_r)
    assert any("2 judged systems, at least 3 required" in note for note in result.notes)


def test_rank_correlations_are_computed_on_request() -> None:
    records = summary_records(4, systems=5)
    result = references_experiment(
        *records, coefficients=("pearson", "spearman", "kendall_b"), **QUICK
    )
    by_name = {
        point.coefficient: point.mean
        for point in result.correlations
        if (point.value, point.people) == ("bleu", 4)
    }
    assert [*by_name] == ["pearson", "spearman", "kendall_b"]
    means = [curve(result, "bleu", system)[-1] for system in result.systems]
    assert result.judged is not None
    ratings = [result.judged[system] for system in result.systems]
    assert by_name["spearman"] == pytest.approx(float(spearmanr(means, ratings)[0]))
    assert by_name["kendall_b"] == pytest.approx(float(kendalltau(means, ratings)[0]))
    assert {test.coefficient for test in result.tests} == {*by_name}
    assert all(np.isnan(t.williams) == (t.coefficient != "pearson") for t in result.tests)


def test_tests_between_values_are_those_of_system_means_with_all_people() -> None:
    result = references_experiment(*summary_records(5, systems=6, seed=2), **QUICK)
    assert result.judged is not None
    ratings = [result.judged[system] for system in result.systems]
    means = {v: [curve(result, v, s)[-1] for s in result.systems] for v in VALUES}
    tests = {(test.first, test.second): test for test in result.tests}
    assert [*tests] == [("sumaccy", "bleu"), ("sumaccy", "wsumaccy"), ("bleu", "wsumaccy")]
    for (a, b), test in tests.items():
        first, second = (float(np.corrcoef(means[v], ratings)[0, 1]) for v in (a, b))
        between = float(np.corrcoef(means[a], means[b])[0, 1])
        assert test.difference.value == pytest.approx(first - second)
        assert test.williams == pytest.approx(float(williams_test(first, second, between, 6).p))
        assert 0 < test.permutation <= test.corrected <= 1


def test_the_smallest_significant_correlation_is_the_published_one() -> None:
    # Critical values of r for 10, 5 and 3 points: .632, .878, .997.
    found = [round(smallest_correlation(n, 0.95), 3) for n in (10, 5, 3)]
    assert found == [0.632, 0.878, 0.997]


@pytest.mark.parametrize("tolerance", [0.0, 0.05, 2.0])
def test_leveling_is_the_first_size_from_which_on_the_mean_stays_close(tolerance: float) -> None:
    records = summary_records(6, 8, 3)
    result = references_experiment(*records, orders=40, leveling_tolerance=tolerance, **QUICK)
    for one in result.leveling:
        means = curve(result, one.value, one.system)
        assert one.last_change == pytest.approx(means[-1] - means[-2])
        close = [abs(mean - means[-1]) <= tolerance for mean in means]
        first = next(size for size in range(8) if all(close[size:])) + 1
        assert one.people == (first if first <= 7 else 0)  # two of eight sizes are enough
    assert {one.people for one in result.leveling} == {1} or tolerance < 2


# --- Engines and resuming ------------------------------------------------------------------------


def pickled(function: Callable[[Any], Any], items: Iterable[Any], /) -> Iterator[Any]:
    """A map that sends everything as to another process."""
    worker = pickle.loads(pickle.dumps(function))
    return (pickle.loads(pickle.dumps(worker(pickle.loads(pickle.dumps(one))))) for one in items)


def test_the_work_can_be_sent_to_other_processes() -> None:
    records = summary_records(human="P1")
    here = references_experiment(*records, human="P1", **QUICK)
    there = references_experiment(*records, human="P1", jobs=pickled, **QUICK)
    assert content(there) == content(here)


def test_an_interrupted_experiment_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records, scored = summary_records(6), list[int]()
    plain = ScoreSubsets.__call__

    def counted(self: ScoreSubsets, task: Any) -> Any:
        scored.append(task.item)
        if len(scored) == 4:
            raise KeyboardInterrupt
        return plain(self, task)

    monkeypatch.setattr(ScoreSubsets, "__call__", counted)
    with pytest.raises(KeyboardInterrupt):
        references_experiment(*records, cache=tmp_path, **QUICK)
    steps = list[tuple[int, int | None]]()
    result = references_experiment(
        *records,
        cache=tmp_path,
        progress=lambda done, total, _: steps.append((done, total)),
        **QUICK,
    )
    assert scored == [0, 1, 2, 3, 3, 4, 5]
    assert steps[0] == (3, 36)  # 6 items, and 3 values that count as 10 items each
    assert steps[-1] == (36, 36)
    assert content(result) == content(references_experiment(*records, **QUICK))
    assert not [*tmp_path.rglob("*.part")]
    scored.clear()
    more: dict[str, Any] = {**QUICK, "draws": 40}  # does not change scores
    references_experiment(*records, cache=tmp_path, **more)
    assert scored == []


def test_saved_parts_of_another_experiment_are_not_used(tmp_path: Path) -> None:
    records = summary_records(people=6)
    first = references_experiment(*records, orders=5, cache=tmp_path, **QUICK)
    other = references_experiment(*records, orders=5, seed=1, cache=tmp_path, **QUICK)
    alone = references_experiment(*records, orders=5, seed=1, **QUICK)
    assert content(other) == content(alone)
    for path in tmp_path.rglob("*.npy"):
        path.write_bytes(b"damaged")
    again = references_experiment(*records, orders=5, cache=tmp_path, **QUICK)
    assert content(again) == content(first) != content(other)


# --- Errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"human": "P9"}, 'human: nobody is named "P9" — known: P0, P1, P2, P3'),
        ({"human": "S1"}, 'human: "S1" is not an annotator'),
        ({"sizes": [0]}, "sizes must be whole numbers from 1 to 4, got 0"),
        ({"sizes": [5]}, "sizes must be whole numbers from 1 to 4, got 5"),
        ({"coefficients": ["pearsen"]}, 'unknown coefficient "pearsen" — did you mean "pearson"'),
        ({"coefficients": []}, "name at least one coefficient"),
        ({"values": "sumacy"}, 'unknown value "sumacy" — did you mean "sumaccy"'),
        ({"scale": "MOS"}, 'no judgements on scale "MOS"'),
        ({"isolated_rule": -1.0}, "isolated_rule must be 0 or a positive number"),
        ({"orders": 0}, "orders must be 1 or more, got 0"),
    ],
)
def test_wrong_arguments_are_refused(given: Mapping[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        references_experiment(*summary_records(), **{**QUICK, **given})


def test_too_few_people_are_refused() -> None:
    records = summary_records(people=1)
    with pytest.raises(UsageError, match="at least two people are required"):
        references_experiment(*records, **QUICK)


def test_more_scores_than_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "MAX_SCORES", 404)
    # 15 subsets of 4 people, 3 values, 3 systems and 3 items.
    with pytest.raises(UsageError, match="405 scores of 15 groups of people do not fit"):
        references_experiment(*summary_records(), **QUICK)


def test_judgements_on_several_scales_need_a_choice() -> None:
    records = summary_records()
    both = [{**row, "clarity": 3} for row in records.judgements]
    with pytest.raises(UsageError, match="judgements are on several scales: score, clarity"):
        references_experiment(*records[:2], both, **QUICK)
    result = references_experiment(*records[:2], both, scale="score", **QUICK)
    assert result.scale is not None
    assert result.scale.name == "score"


def test_given_sizes_always_include_all_people() -> None:
    result = references_experiment(*summary_records(), sizes=[2], **QUICK)
    assert result.people == (2, 4)
    every = references_experiment(*summary_records(), **QUICK)
    assert curve(result, "bleu", "S1") == curve(every, "bleu", "S1")[1::2]
