"""Scores and ratings to concordance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import isnan

import numpy as np
import pytest
from scipy import stats

from earwitness.core import Estimate, Key, Rating, Score
from earwitness.errors import UsageError
from earwitness.metaeval.coefficients import CALIBRATED_COEFFICIENT, LEVELS
from earwitness.metaeval.join import MetricColumn, join_scores_and_ratings
from earwitness.metaeval.pipeline import ScoresAndRatings, analyse_agreement
from earwitness.metaeval.report import summary_sentences
from earwitness.metaeval.results import Figure, MetricFigures, ScaleConcordance
from earwitness.metaeval.settings import AgreementSettings
from earwitness.output_formats import render
from helpers.simulated_metrics import METRICS, both, choices

QUICK = AgreementSettings(at=LEVELS, draws=60, permutations=60, splits=10)


@pytest.fixture(scope="module")
def found() -> ScaleConcordance:
    return analyse_agreement(both(), QUICK).scales[0]


def _by_name(scale: ScaleConcordance) -> dict[str, MetricFigures]:
    return {one.metric: one for one in scale.metrics}


def test_the_close_metric_leads_and_noise_is_chance(found: ScaleConcordance) -> None:
    own = _by_name(found)
    for rank in found.ranked:
        assert rank.groups[0][0] == "close"
        assert sorted(name for group in rank.groups for name in group) == sorted(METRICS)
        assert abs(own["noise"].figures[rank.figure].value) < 0.6
        assert own["close"].figures[rank.figure].value > found.chance[rank.figure].high


def test_all_outputs_are_compared_only_on_request() -> None:
    settings = AgreementSettings(draws=20, permutations=20, splits=10)
    assert "levels=system+item," in settings.signature
    [scale] = analyse_agreement(both(), settings).scales
    assert {figure.level for figure in scale.metrics[0].figures} == {"system", "item"}


def test_very_many_outputs_have_fewer_draws_at_once_and_say_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("earwitness.metaeval.figures.MAX_GLOBAL_VALUES", 1)
    monkeypatch.setattr("earwitness.metaeval.figures.MIN_GLOBAL_DRAWS", 30)
    [scale] = analyse_agreement(both(), QUICK).scales
    methods = {figure.level: one.method for figure, one in scale.metrics[0].figures.items()}
    assert methods == {
        "system": "bootstrap over all",
        "item": "bootstrap over all",
        "global": "bootstrap over all, 30 draws",
    }


def test_figures_are_those_of_scipy_on_means(found: ScaleConcordance) -> None:
    given = both()
    systems, items = 8, 10
    scores = np.array([s.value for s in given.scores if s.metric == "fair"]).reshape(systems, items)
    votes = np.array([r.value for r in given.ratings]).reshape(systems, items, -1).mean(axis=2)
    own = _by_name(found)["fair"].figures
    mean, said = scores.mean(axis=1), votes.mean(axis=1)
    for name, ours in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall_b", stats.kendalltau),
    ):
        assert own[Figure("system", name)].value == pytest.approx(ours(mean, said)[0])
        each = [ours(scores[:, i], votes[:, i])[0] for i in range(items)]
        assert own[Figure("item", name)].value == pytest.approx(np.mean(each))
        pooled = ours(scores.ravel(), votes.ravel())[0]
        assert own[Figure("global", name)].value == pytest.approx(pooled)


def test_every_figure_says_on_how_many_it_rests_and_lies_in_its_interval(
    found: ScaleConcordance,
) -> None:
    counts = {"system": 8, "item": 10, "global": 80}
    for metric in found.metrics:
        for figure, one in metric.figures.items():
            assert one.n == counts[figure.level]
            assert one.undefined == 0
            assert one.low <= one.high
        assert [f.level for f in metric.figures if f.coefficient == CALIBRATED_COEFFICIENT] == [
            "item"
        ]


def test_the_same_seed_gives_the_same_and_another_gives_others() -> None:
    first, second = (analyse_agreement(both(), QUICK) for _ in range(2))
    assert repr(first) == repr(second)
    other = analyse_agreement(both(), replace(QUICK, seed=1))
    assert repr(other.scales[0].apart) != repr(first.scales[0].apart)


def test_low_scores_that_are_good_are_turned_round() -> None:
    given = both()
    turned = [replace(s, value=-s.value) if s.metric == "close" else s for s in given.scores]
    metrics = [MetricColumn("close", low_is_good=True), MetricColumn("fair"), MetricColumn("noise")]
    one = analyse_agreement(replace(given, scores=turned, metrics=metrics), QUICK).scales[0]
    plain = analyse_agreement(given, QUICK).scales[0]
    figure = Figure("system", "kendall_b")
    assert one.metrics[0].figures[figure] == plain.metrics[0].figures[figure]
    mean = plain.metrics[0].systems["S0"].value
    assert one.metrics[0].systems["S0"].value == pytest.approx(-mean)


def test_errors_are_of_scores_as_they_are_also_where_low_is_good() -> None:
    given = both()
    turned = [replace(s, value=5 - s.value) if s.metric == "close" else s for s in given.scores]
    metrics = [MetricColumn("close", low_is_good=True), MetricColumn("fair"), MetricColumn("noise")]
    low = replace(given, scores=turned, metrics=metrics)
    one = analyse_agreement(low, replace(QUICK, mapping="none")).scales[0].metrics[0]
    means = [(one.systems[name].value, said.value) for name, said in _said(low).items()]
    error = sum((score - people) ** 2 for score, people in means)
    assert one.mapped[0].rmse.value == pytest.approx((error / 7) ** 0.5)
    assert one.mapped[0].pearson.value > 0.9
    curve = analyse_agreement(low, QUICK).scales[0].metrics[0].mapped[0].curve
    assert curve[0][0] == pytest.approx(min(score for score, _ in means))
    assert curve[0][1] > curve[-1][1]
    wrong = replace(low, metrics=[MetricColumn("close"), *metrics[1:]])
    flat = analyse_agreement(wrong, QUICK).scales[0].metrics[0].mapped[0]
    assert flat.used == "flat"
    assert isnan(flat.pearson.value)


def _said(given: ScoresAndRatings) -> dict[str, Estimate]:
    return dict(analyse_agreement(given, QUICK).scales[0].people)


def test_a_metric_against_people_is_pointed_out() -> None:
    given = both()
    turned = [replace(s, value=-s.value) if s.metric == "close" else s for s in given.scores]
    warned = analyse_agreement(replace(given, scores=turned), QUICK).scales[0].warnings
    assert any(
        "close runs counter to the ratings" in one and "--low-is-good close" in one
        for one in warned
    )


def test_few_systems_are_warned_of_and_too_few_have_no_interval() -> None:
    few = analyse_agreement(both(systems=4), QUICK).scales[0]
    assert any("With only 4 systems," in one for one in few.warnings)
    assert any("use --generalize items" in one for one in few.warnings)
    assert all(isnan(one.low) for metric in few.metrics for one in metric.figures.values())
    items = analyse_agreement(both(systems=4), replace(QUICK, generalize="items")).scales[0]
    assert not isnan(items.metrics[0].figures[Figure("item", "pearson")].low)
    many = analyse_agreement(both(systems=10), QUICK).scales[0]
    assert not any("With only" in one for one in many.warnings)


def test_cells_without_a_score_are_counted_and_named() -> None:
    given = both()
    gone = [
        replace(s, value=float("nan")) if s.metric == "fair" and s.key.item == "item0" else s
        for s in given.scores
    ]
    one = analyse_agreement(replace(given, scores=gone), QUICK).scales[0]
    own = _by_name(one)["fair"]
    assert own.outputs == 72
    assert own.figures[Figure("item", "pearson")].n == 9
    assert own.figures[Figure("item", "pearson")].undefined == 1
    assert any(x.startswith("fair is undefined for 8 of 80 rated outputs;") for x in one.warnings)
    assert any(x.startswith("fair has a coefficient in only 9 of 10 items;") for x in one.notes)


def test_means_that_are_shown_are_those_that_coefficients_take() -> None:
    given = both()
    rng = np.random.default_rng(4)
    ratings = [r for r in given.ratings if rng.random() < 0.4 or r.listener == 0]
    gone = {("fair", "item0", "S1"), ("fair", "item3", "S1"), ("fair", "item5", "S6")}
    scores = [
        replace(s, value=float("nan")) if (s.metric, s.key.item, s.key.system) in gone else s
        for s in given.scores
    ]
    one = analyse_agreement(replace(given, scores=scores, ratings=ratings), QUICK).scales[0]
    for metric in one.metrics:
        beside = metric.people or one.people
        x = [own.value for own in metric.systems.values()]
        y = [beside[name].value for name in metric.systems]
        own = metric.figures[Figure("system", "pearson")].value
        assert own == pytest.approx(stats.pearsonr(x, y)[0])
    assert [bool(metric.people) for metric in one.metrics] == [False, True, False]


def test_choices_become_abilities_and_speak_of_systems_alone() -> None:
    one = analyse_agreement(choices(), QUICK).scales[0]
    assert one.paired
    assert {figure.level for metric in one.metrics for figure in metric.figures} == {"system"}
    own = _by_name(one)
    figure = Figure("system", "spearman")
    assert own["right"].figures[figure].value > 0.7
    assert own["wrong"].figures[figure].value == pytest.approx(-own["right"].figures[figure].value)
    assert one.ranked[0].groups[0][0] == "right"
    assert sum(e.value for e in one.people.values()) == pytest.approx(0, abs=1e-6)


def test_a_curve_passes_through_the_value_and_says_nothing_of_chance(
    found: ScaleConcordance,
) -> None:
    own = _by_name(found)
    kinds = [(one.what, one.figure.level) for one in found.curves]
    assert kinds == [(a, b) for b in ("system", "item") for a in ("raters", "items")]
    for curve in found.curves:
        assert [count for count, _ in curve.points][-2:] == [curve.have, 2 * curve.have]
        for name, one in curve.points[-2][1].items():
            assert one.value == own[name].figures[curve.figure].value
        assert "close" in curve.enough
        assert "noise" not in curve.enough


def test_of_few_raters_or_items_nothing_is_said_to_be_enough() -> None:
    few = analyse_agreement(both(items=4, raters=3), QUICK).scales[0]
    assert few.curves == ()


def test_scores_of_fewer_references_make_a_curve() -> None:
    given = both()
    full = [replace(s, references=4) for s in given.scores]
    rng = np.random.default_rng(3)
    fewer = [
        Score(s.key, s.metric, s.value + float(rng.normal(0, 1)), 1, draw)
        for s in given.scores
        for draw in (1, 2, 3)
    ]
    one = analyse_agreement(replace(given, scores=full, fewer=fewer), QUICK).scales[0]
    curve = next(c for c in one.curves if c.what == "references" and c.figure.level == "system")
    assert [count for count, _ in curve.points] == [1, 4]
    assert curve.points[1][1]["close"].value == pytest.approx(
        _by_name(one)["close"].figures[curve.figure].value
    )
    assert curve.points[0][1]["close"].value < curve.points[1][1]["close"].value


def test_what_is_only_rated_or_only_scored_is_counted() -> None:
    given = both()
    scores = [s for s in given.scores if s.key.system != "S7"]
    scores += [Score(Key("item0", "new"), name, 0.0) for name in METRICS]
    own = join_scores_and_ratings(scores, given.metrics, given.ratings, "OVRL")
    assert len(own.systems) == 7
    assert '10 of 80 rated outputs have no score, including all of "S7"' in own.notes
    assert '1 of 71 scored outputs have no rating, including all of "new"' in own.notes


def test_nothing_in_common_is_refused_with_names_of_both_sides() -> None:
    given = both()
    other = [replace(s, key=Key(f"{s.key.item}.wav", s.key.system)) for s in given.scores]
    with pytest.raises(UsageError, match=r'items are named "item0".* in ratings, "item0.wav"'):
        join_scores_and_ratings(other, given.metrics, given.ratings, "OVRL")


@pytest.mark.parametrize(
    "wrong",
    [
        {"coefficient": "kendal_b"},
        {"generalize": "people"},
        {"mapping": "square"},
        {"at": ("systems",)},
        {"draws": 0},
        {"level": 1.0},
        {"folds": 1},
        {"seed": -1},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        AgreementSettings(**wrong)  # type: ignore[arg-type]


def test_the_signature_says_all_that_numbers_depend_on() -> None:
    usual = AgreementSettings().signature
    for name, value in {
        "at": ("item",),
        "coefficient": "pearson",
        "ranking": ("item",),
        "generalize": "items",
        "mapping": "linear",
        "level": 0.9,
        "draws": 10,
        "permutations": 10,
        "splits": 10,
        "folds": 3,
        "gain": 0.1,
        "spread": 0.2,
        "seed": 5,
        "version": "x",
    }.items():
        assert replace(AgreementSettings(), **{name: value}).signature != usual, name  # type: ignore[arg-type]


def test_a_baseline_that_goes_against_people_is_turned_round() -> None:
    given = both()
    turned = [replace(s, value=-s.value) if s.metric == "close" else s for s in given.scores]
    metrics = [MetricColumn("close", baseline=True), MetricColumn("fair"), MetricColumn("noise")]
    one = analyse_agreement(replace(given, scores=turned, metrics=metrics), QUICK).scales[0]
    assert one.metrics[0].low_is_good
    assert one.ranked[0].order[0] == "close"
    assert "close" not in one.ranked[0].groups[0]  # a baseline is no candidate


def test_who_always_wins_stays_the_best() -> None:
    given = choices()
    best = [
        replace(r, value=1.0 if r.key.system == "S5" else r.value)
        for r in given.ratings
        if "S5" not in (r.against.system if r.against else "",)
    ]
    one = analyse_agreement(replace(given, ratings=best), QUICK).scales[0]
    values = {name: own.value for name, own in one.people.items()}
    assert max(values, key=lambda name: values[name]) == "S5"
    assert not any(isnan(value) for value in values.values())


def test_systems_rated_on_other_items_or_by_others_are_warned_of() -> None:
    given = both()

    def warned(kept: Callable[[Rating], bool]) -> str:
        ratings = [one for one in given.ratings if kept(one)]
        return " ".join(
            analyse_agreement(replace(given, ratings=ratings), QUICK).scales[0].warnings
        )

    items, people = "rated on different items", "Different raters rated different outputs"
    assert items not in warned(lambda one: bool(one.scale))
    assert people not in warned(lambda one: one.listener != 0 or one.key.item != "item1")
    assert items in warned(lambda one: (one.key.item, one.key.system) != ("item1", "S2"))
    other = warned(lambda one: one.listener != 0 or one.key.system != "S2")
    assert people in other
    assert items not in other


def test_a_study_that_can_tell_nothing_apart_says_so() -> None:
    few = analyse_agreement(both(systems=4), QUICK)
    [scale] = few.scales
    assert all(one.corrected >= 0.05 for one in scale.apart)
    assert all(isnan(one.difference.low) for one in scale.apart)
    assert all(len(rank.groups) == 1 for rank in scale.ranked)
    told = "4 systems are too few to show which metric is best in {} by OVRL for other systems: "
    for sentence, task in zip(
        summary_sentences(few), ["ranking systems", "ranking outputs within items"], strict=True
    ):
        assert sentence.startswith(told.format(task) + "at least 6 are needed")
        assert "significant" not in sentence
    for form in ("text", "html", "latex"):
        assert "generalize to" not in render(few, form)  # there are no intervals
        assert "generalizing to" not in render(few, form)


def test_a_test_on_these_systems_says_so_and_how_many_systems_a_claim_about_others_needs() -> None:
    few = analyse_agreement(both(systems=4), replace(QUICK, generalize="items"))
    assert {rank.test.unit for rank in few.scales[0].ranked} == {"items"}
    for sentence in summary_sentences(few):
        assert "by OVRL on these systems" in sentence
        assert sentence.endswith("a claim about other systems needs at least 6")
    many = analyse_agreement(both(), replace(QUICK, generalize="items"))
    assert not any("needs at least" in one for one in summary_sentences(many))
    strict = analyse_agreement(both(systems=7), replace(QUICK, level=0.99, permutations=400))
    assert "at least 8 are needed" in next(summary_sentences(strict))
    vague = analyse_agreement(both(), replace(QUICK, permutations=9))
    assert next(summary_sentences(vague)).startswith("9 permutations are too few to show which")


@pytest.mark.parametrize(
    ("coefficient", "level"),
    [("soft_pairwise_accuracy", "system"), ("acc_23_calibrated", "item")],
)
@pytest.mark.parametrize("population", ["systems", "items"])
def test_soft_accuracy_and_calibrated_ties_rank_and_test_metrics(
    coefficient: str, level: str, population: str
) -> None:
    settings = replace(QUICK, coefficient=coefficient, generalize=population, permutations=200)
    [scale] = analyse_agreement(both(), settings).scales
    [rank], figure = scale.ranked, Figure(level, coefficient)
    assert rank.figure == figure
    assert rank.order == ("close", "fair", "noise")
    own = _by_name(scale)
    plain = replace(settings, coefficient="kendall_b")
    reported = _by_name(analyse_agreement(both(), plain).scales[0])["fair"].figures[figure]
    assert own["fair"].figures[figure] == reported
    assert own["noise"].figures[figure].value <= scale.chance[figure].high
    assert scale.chance[figure].high < own["close"].figures[figure].value
    [worst] = [one for one in scale.apart if (one.a, one.b) == ("close", "noise")]
    assert worst.is_distinct
    assert worst.difference.low > 0
    assert rank.groups[0][0] == "close"
    assert "noise" not in rank.groups[0]


def test_coefficients_that_need_more_than_there_is_are_undefined_or_refused() -> None:
    one_item = replace(QUICK, coefficient="acc_23_calibrated", at=("item",))
    found = analyse_agreement(both(items=1), one_item)
    assert next(summary_sentences(found)).startswith("No metric has a defined value")
    with pytest.raises(UsageError, match="needs ratings of outputs"):
        analyse_agreement(choices(), replace(QUICK, coefficient="soft_pairwise_accuracy"))
    with pytest.raises(UsageError, match="not available at level item — use system"):
        replace(QUICK, coefficient="soft_pairwise_accuracy", at=("item",))


def test_of_very_many_metrics_the_first_of_every_group_is_tested_and_every_baseline() -> None:
    given = both(systems=10)
    spreads = np.linspace(0.1, 3, 14)
    truth = {s.key: s.value for s in given.scores if s.metric == "close"}
    rng = np.random.default_rng(1)
    names = [f"m{n:02}" for n in range(14)]
    scores = [
        Score(key, name, x + float(rng.normal(0, spread)))
        for name, spread in zip(names, spreads, strict=True)
        for key, x in truth.items()
    ]
    metrics = [MetricColumn(name, baseline=name == "m13") for name in names]
    settings = replace(QUICK, permutations=600, at=("system",))
    one = analyse_agreement(replace(given, scores=scores, metrics=metrics), settings).scales[0]
    tested = {(a.a, a.b) for a in one.apart}
    [rank] = one.ranked
    order = [name for group in rank.groups for name in group]
    for group in rank.groups:
        below = order[order.index(group[0]) + 1 :]
        assert {(group[0], name) for name in below} <= tested
    for name in names[:-1]:
        assert {(name, "m13"), ("m13", name)} & tested
    assert len(tested) < 14 * 13 / 2


def test_progress_is_told_part_by_part_and_ends_at_the_whole() -> None:
    for given in (both(), choices()):
        told: list[tuple[int, int | None]] = []
        analyse_agreement(given, QUICK, progress=lambda done, total, _: told.append((done, total)))  # noqa: B023
        done = [one for one, _ in told]
        assert len({total for _, total in told}) == 1
        assert done == sorted(done)
        assert (done[0], told[-1][0]) == (0, told[-1][1])
        assert len(told) >= 6
