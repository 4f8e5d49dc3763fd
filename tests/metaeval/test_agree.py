"""Scores beside ratings, from files to concordance."""

from __future__ import annotations

import html
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from earwitness.analysis.rating_set import TableOptions
from earwitness.core import Key, Score
from earwitness.errors import InputError, UsageError
from earwitness.io.tables import records_csv
from earwitness.metaeval.agree import ScoreOptions
from earwitness.metaeval.figures import ScaleComparison
from earwitness.metaeval.results import Concordance, Figure
from earwitness.metaeval.score_tables import output_lengths
from earwitness.output_formats import FORMS, render
from earwitness.report import apply_renderer
from earwitness.studies.agree import agree
from earwitness.studies.answers import answer_line
from earwitness.studies.file.reader import with_digest
from earwitness.studies.from_answers import rating_records, ratings_from_answers
from earwitness.studies.population import Population
from earwitness.studies.simulate import study_simulate
from helpers.csv_results import read_results
from helpers.samples import write_lines
from helpers.score_tables import QUICK, agreed, figure, people, rating_rows, score_rows, table
from helpers.study_files import udase

COEFFICIENTS = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall_b": stats.kendalltau,
}


def noisy(votes: Any, spread: float, seed: int) -> Any:
    """A metric that knows what people say, and errs."""
    means = np.nanmean(votes, axis=2)
    return means + np.random.default_rng(seed).normal(0, spread, means.shape)


def names(found: Concordance) -> list[str]:
    """Metrics of the first scale."""
    return [one.metric for one in found.scales[0].metrics]


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_without_ties_or_gaps_coefficients_are_those_of_scipy(
    tmp_path: Path, coefficient: str
) -> None:
    votes = people()
    metric = noisy(votes, 8, 3)
    found = agreed(tmp_path, score_rows(m=metric), rating_rows(votes))
    by_hand, correlate = votes.mean(axis=2), COEFFICIENTS[coefficient]
    systems = correlate(metric.mean(axis=1), by_hand.mean(axis=1)).statistic
    items = np.mean([correlate(metric[:, i], by_hand[:, i]).statistic for i in range(7)])
    cells = correlate(metric.ravel(), by_hand.ravel()).statistic
    wanted = {"system": (systems, 6), "item": (items, 7), "global": (cells, 42)}
    for level, (value, n) in wanted.items():
        own = figure(found, "m", level, coefficient)
        assert own.value == pytest.approx(value, abs=1e-12)
        assert (own.n, own.undefined) == (n, 0)


def test_outputs_are_joined_by_item_and_system_whatever_the_order(tmp_path: Path) -> None:
    votes = people()
    scores, ratings = score_rows(m=noisy(votes, 8, 3)), rating_rows(votes)
    found = agreed(tmp_path, scores, ratings)
    turned = agreed(tmp_path, scores[::-1], ratings[::-1])
    for level in ("system", "item", "global"):
        one, other = (figure(x, "m", level, "pearson").value for x in (found, turned))
        assert one == pytest.approx(other)
    assert found.scales[0].items == 7
    assert list(found.scales[0].people) == [f"S{n}" for n in range(6)]


def test_outputs_without_a_partner_are_counted_on_both_sides(tmp_path: Path) -> None:
    votes = people()
    scores, ratings = score_rows(m=noisy(votes, 8, 3)), rating_rows(votes)
    fewer = [one for one in scores if one["item"] != "i0"]
    less = [one for one in ratings if one["system"] != "S5"]
    [scale] = agreed(tmp_path, fewer, less).scales
    assert "5 of 35 rated outputs have no score" in scale.warnings
    assert '6 of 36 scored outputs have no rating, including all of "S5"' in scale.warnings
    assert (len(scale.people), scale.items) == (5, 6)


def test_nothing_in_common_is_refused_with_the_names_of_both_sides(tmp_path: Path) -> None:
    votes = people(systems=2, items=2)
    scores = score_rows(m=noisy(votes, 8, 3))
    for one in scores:
        one["system"] = one["system"].lower()
    with pytest.raises(UsageError) as told:
        agreed(tmp_path, scores, rating_rows(votes))
    assert "no output has both a score and a rating" in str(told.value)
    assert 'systems are named "S0", "S1" in ratings, "s0", "s1" in scores' in str(told.value)
    for one in scores:
        one["system"], one["item"] = one["system"].upper(), one["item"] + ".wav"
    with pytest.raises(UsageError, match=r'items are named "i0", "i1" in ratings, "i0\.wav"'):
        agreed(tmp_path, scores, rating_rows(votes))


def test_scales_may_be_chosen_and_a_slip_is_told_the_nearest(tmp_path: Path) -> None:
    votes = people()
    ratings = [*rating_rows(votes, "CLARITY"), *rating_rows(100 - votes, "EFFORT")]
    scores = score_rows(m=noisy(votes, 2, 3))
    found = agreed(tmp_path, scores, ratings)
    assert [one.scale.name for one in found.scales] == ["CLARITY", "EFFORT"]
    good, bad = (one.metrics[0].figures[Figure("system", "pearson")].value for one in found.scales)
    assert good == pytest.approx(-bad)
    chosen = agreed(tmp_path, scores, ratings, scales=["EFFORT"])
    assert [one.scale.name for one in chosen.scales] == ["EFFORT"]
    with pytest.raises(UsageError, match='no ratings on scale "CLARTY" — did you mean'):
        agreed(tmp_path, scores, ratings, scales=["CLARTY"])


def test_low_scores_are_good_where_that_is_said_or_known(tmp_path: Path) -> None:
    votes = people()
    good = noisy(votes, 3, 3)
    found = agreed(tmp_path, score_rows(good=good, error=-good, pk=-2 * good), rating_rows(votes))
    # the last is one of the program's own, of which it is known
    values = {n: figure(found, n, "item", "kendall_b").value for n in names(found)}
    assert values["pk"] == pytest.approx(values["good"])
    assert values["error"] == pytest.approx(-values["good"])
    assert any(
        "use --low-is-good error if lower is better" in one for one in found.scales[0].warnings
    )
    turned = agreed(tmp_path, score_rows(error=-good), rating_rows(votes), low_is_good=("error",))
    own = figure(turned, "error", "item", "kendall_b")
    assert own.value == pytest.approx(values["good"])
    assert turned.scales[0].metrics[0].low_is_good
    means = turned.scales[0].metrics[0].systems
    assert means["S0"].value == pytest.approx(-good[0].mean())  # as the metric gives it
    with pytest.raises(UsageError, match='unknown metric "eror" — did you mean'):
        agreed(
            tmp_path,
            score_rows(error=-good),
            rating_rows(votes),
            low_is_good=("eror",),
        )


def test_baselines_are_named_and_lengths_are_one(tmp_path: Path) -> None:
    votes = people()
    scores = score_rows(m=noisy(votes, 3, 3), loud=noisy(votes, 30, 4), words=noisy(votes, 30, 5))
    rng = np.random.default_rng(2)
    outputs = write_lines(
        tmp_path / "outputs.jsonl",
        [
            {
                "item": one["item"],
                "system": one["system"],
                "output": {"positions": list(range(1, int(rng.integers(2, 20))))},
            }
            for one in scores
        ],
    )
    scoring = ScoreOptions(baselines=("loud",), outputs=str(outputs))
    found = agreed(tmp_path, scores, rating_rows(votes), scoring=scoring)
    roles = {one.metric: one.baseline for one in found.scales[0].metrics}
    assert roles == {"m": False, "loud": True, "words": True, "length": True}
    lengths = {one.key: one.value for one in output_lengths(str(outputs))[0]}
    kept = found.scales[0].metrics[3].systems["S2"]
    assert kept.value == np.mean([lengths[Key(f"i{n}", "S2")] for n in range(7)])
    assert "than the baseline" in render(found, "text")


@pytest.mark.parametrize(
    ("output", "length"),
    [
        ({"boundaries": [1.0, 2.0, 3.0]}, 3),
        ({"positions": [1, 4]}, 2),
        ({"words": [["it", 0, 1], ["rains", 1, 2]]}, 2),
        ({"text": "it rains  a lot"}, 4),
        ({"transcript": "# 0:00 - One"}, 4),
        ({"boundaries": [], "transcript": "a b"}, 0),
        ({"caption": ""}, 0),
    ],
)
def test_the_length_of_an_output_is_what_it_has_of_its_kind(
    output: dict[str, Any], length: int
) -> None:
    found, _ = output_lengths([{"item": "a", "system": "S", "output": output}])
    assert found == [Score(Key("a", "S"), "length", length)]


def test_lines_whose_length_cannot_be_told_are_refused_together(tmp_path: Path) -> None:
    path = tmp_path / "outputs.jsonl"
    good = json.dumps({"item": "a", "system": "S", "output": {"text": "it rains"}})
    path.write_text(
        f'{good}\n\n{{"item": "a", "system": "S"}}\nno JSON\n'
        '{"item": "b", "system": "S", "output": {}}\n'
    )
    with pytest.raises(InputError) as told:
        output_lengths(str(path))
    assert [one.line for one in told.value.problems] == [3, 4, 5]


def test_metrics_that_say_the_same_or_nothing_are_left_out_with_a_note(tmp_path: Path) -> None:
    votes = people()
    own = noisy(votes, 3, 3)
    rows = score_rows(m=own, twin=own, flat=np.ones_like(own), turned=-own)
    found = agreed(tmp_path, rows, rating_rows(votes))
    assert names(found) == ["m", "turned"]
    assert "twin is excluded: identical to m" in found.notes
    assert "flat is excluded: always 1" in found.notes
    with pytest.raises(UsageError, match="no metric found"):
        agreed(tmp_path, score_rows(flat=np.ones_like(own)), rating_rows(votes))


def test_one_metric_in_two_files_is_refused(tmp_path: Path) -> None:
    votes = people()
    rows = score_rows(m=noisy(votes, 3, 3))
    files = [table(tmp_path / f"{n}.csv", rows) for n in "ab"]
    ratings = table(tmp_path / "ratings.csv", rating_rows(votes))
    with pytest.raises(UsageError, match="metric m is in two files — keep one"):
        agree(files, ratings, **QUICK)


def test_an_undefined_score_is_left_out_of_its_metric_alone_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ScaleComparison, "at_level", lambda self, _: self)  # plain means
    votes = people()
    whole, gaps = noisy(votes, 3, 3), noisy(votes, 4, 4)
    gaps[0, :3] = np.nan
    gaps[4] = np.nan
    found = agreed(tmp_path, score_rows(whole=whole, gaps=gaps), rating_rows(votes))
    assert any(
        one.startswith("gaps is undefined for 10 of 42 rated outputs;")
        for one in found.scales[0].warnings
    )
    means = votes.mean(axis=2)
    there = ~np.isnan(gaps)
    rows = [s for s in range(6) if there[s].any()]
    wanted = stats.pearsonr(
        [gaps[s][there[s]].mean() for s in rows], [means[s][there[s]].mean() for s in rows]
    ).statistic
    own = figure(found, "gaps", "system", "pearson")
    assert own.value == pytest.approx(wanted)
    assert (own.n, own.undefined) == (5, 1)
    cells = figure(found, "gaps", "global", "spearman")
    assert cells.value == pytest.approx(stats.spearmanr(gaps[there], means[there]).statistic)
    assert (cells.n, cells.undefined) == (32, 10)
    assert figure(found, "whole", "global", "pearson").n == 42


def test_missing_votes_are_means_of_those_that_are_there(tmp_path: Path) -> None:
    votes = people()
    metric = noisy(votes, 8, 3)
    votes[:, :, 1:][np.random.default_rng(5).random((6, 7, 4)) < 0.4] = np.nan
    found = agreed(tmp_path, score_rows(m=metric), rating_rows(votes))
    wanted = stats.kendalltau(metric.ravel(), np.nanmean(votes, axis=2).ravel()).statistic
    assert figure(found, "m", "global", "kendall_b").value == pytest.approx(wanted)
    assert found.scales[0].votes == np.count_nonzero(~np.isnan(votes))


@pytest.mark.parametrize(
    ("size", "told"),
    [
        ((6, 7, 1), "Too few raters to measure agreement among raters (1)"),
        ((3, 7, 5), "With only 3 systems,"),
        ((6, 1, 5), "With only 6 systems,"),
        ((2, 7, 1), "Too few raters to measure agreement among raters (1)"),
        ((1, 2, 3), "Too few items (2) and raters (3) to resample"),
        ((2, 1, 1), "Too few items (1) and raters (1) to resample"),
    ],
    ids=["one rater", "three systems", "one item", "two systems", "two outputs", "almost nothing"],
)
@pytest.mark.filterwarnings("error")
def test_tiny_inputs_have_results_and_warnings_in_every_form(
    tmp_path: Path, size: tuple[int, int, int], told: str
) -> None:
    votes = people(*size)
    rows = score_rows(m=noisy(votes, 3, 3), n=noisy(votes, 9, 4))
    found = agreed(tmp_path, rows, rating_rows(votes))
    assert any(told in one for one in found.scales[0].warnings)
    if size[0] > 2:
        own = figure(found, "m", "system", "kendall_b")
        assert math.isnan(own.low) == (size[0] < 6)
        assert not math.isnan(own.value)
    for form in FORMS:
        assert "nan" not in render(found, form).lower().replace("\n", " ").split()


@pytest.mark.filterwarnings("error")
def test_people_who_rate_all_alike_leave_everything_undefined(tmp_path: Path) -> None:
    votes = people()
    rows = score_rows(m=noisy(votes, 3, 3), n=noisy(votes, 9, 4))
    found = agreed(tmp_path, rows, rating_rows(np.full_like(votes, 3.0)))
    assert math.isnan(figure(found, "m", "item", "kendall_b").value)
    assert all(render(found, form) for form in FORMS)
    assert "No metric has a defined value" in render(found, "text")


def test_every_form_is_written_and_json_has_nulls(tmp_path: Path) -> None:
    votes = people(systems=4)
    rows = score_rows(m=noisy(votes, 3, 3), n=noisy(votes, 9, 4))
    found = agreed(tmp_path, rows, rating_rows(votes))
    texts = {form: render(found, form) for form in FORMS}
    assert all("m" in text and "Q" in text for text in texts.values())
    assert "<html" in texts["html"]
    kept = json.loads(texts["json"], parse_constant=_refuse)
    own = kept["scales"][0]["metrics"][0]["figures"]["system kendall_b"]
    assert own["low"] is None  # four systems are too few to resample
    assert own["value"] == pytest.approx(figure(found, "m", "system", "kendall_b").value)
    _, lines = read_results(texts["csv"])
    assert [*lines[0]][:5] == ["scale", "metric", "role", "at", "coefficient"]
    assert {"metric", "chance", "rater", "halves"} <= {line["role"] for line in lines}


def _refuse(constant: str) -> None:
    raise AssertionError(constant)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_intervals(
    tmp_path: Path,
) -> None:
    votes = people()
    rows = score_rows(m=noisy(votes, 3, 3), n=noisy(votes, 9, 4))
    one, again, other = (
        agreed(tmp_path, rows, rating_rows(votes), seed=seed) for seed in (4, 4, 5)
    )
    assert render(one, "json") == render(again, "json")
    first, second = (figure(x, "m", "item", "pearson") for x in (one, other))
    assert first.value == second.value
    assert (first.low, first.high) != (second.low, second.high)


def test_references_that_scores_rest_on_give_a_curve(tmp_path: Path) -> None:
    votes = people()
    rows = []
    for references, draws, spread in ((1, 3, 30), (2, 3, 12), (4, 1, 3)):
        for draw in range(draws):
            own = score_rows(m=noisy(votes, spread, 10 * references + draw))
            rows += [one | {"references": references, "draw": draw} for one in own]
    found = agreed(tmp_path, rows, rating_rows(votes))
    whole = stats.kendalltau(noisy(votes, 3, 40).mean(axis=1), votes.mean(axis=(1, 2))).statistic
    assert figure(found, "m", "system", "kendall_b").value == pytest.approx(whole)
    [curve] = [
        one
        for one in found.scales[0].curves
        if one.what == "references" and one.figure.level == "item"
    ]
    assert [count for count, _ in curve.points] == [1, 2, 4]
    values = [own["m"].value for _, own in curve.points]
    assert values == sorted(values)
    means, metric = votes.mean(axis=2), noisy(votes, 12, 21)
    draws_ = [
        np.mean([stats.kendalltau(m[:, i], means[:, i]).statistic for i in range(7)])
        for m in (noisy(votes, 12, 20), metric, noisy(votes, 12, 22))
    ]
    assert values[1] == pytest.approx(np.mean(draws_))


def choices(strengths: dict[str, float], items: int = 8, raters: int = 6) -> list[dict[str, Any]]:
    """Pairs of systems, each chosen as often as its strength says."""
    rng = np.random.default_rng(0)
    found = []
    systems = list(strengths)
    for n, one in enumerate(systems):
        for other in systems[n + 1 :]:
            chance = 1 / (1 + math.exp(strengths[other] - strengths[one]))
            for i in range(items):
                for r in range(raters):
                    value = 1 if rng.random() < chance else -1
                    found.append(
                        {
                            "item": f"i{i}",
                            "system": one,
                            "against": other,
                            "listener": f"r{r}",
                            "scale": "BETTER",
                            "value": value,
                        }
                    )
    return found


def test_choices_between_systems_rank_systems_alone(tmp_path: Path) -> None:
    strengths = {f"S{n}": 0.5 * n for n in range(6)}
    metric = np.arange(6)[:, None] + np.random.default_rng(3).normal(0, 0.1, (6, 8))
    found = agreed(tmp_path, score_rows(m=metric, turned=-metric), choices(strengths))
    [scale] = found.scales
    assert scale.paired
    assert {one.level for one in scale.metrics[0].figures} == {"system"}
    assert {one.figure.level for one in scale.ranked} == {"system"}
    abilities = [one.value for one in scale.people.values()]
    assert np.corrcoef(abilities, list(strengths.values()))[0, 1] > 0.9
    wanted = stats.spearmanr(metric.mean(axis=1), abilities).statistic
    assert figure(found, "m", "system", "spearman").value == pytest.approx(wanted)
    assert figure(found, "turned", "system", "spearman").value == pytest.approx(-wanted)
    assert not scale.ceilings
    assert all(render(found, form) for form in FORMS)


def simulated(**more: Any) -> Any:
    """A small P.835 study that was taken."""
    given: dict[str, Any] = {"listeners": 8, "panels": 1, "clips": 6, "sessions": 2}
    return study_simulate(with_digest(udase(**(given | more))), seed=1)


def ratings_in(found: Any) -> Any:
    """What follows from its answers."""
    return ratings_from_answers(found.design.study, dict(enumerate(found.answers, 1)), "simulated")


def scored(found: Any, path: Path) -> Path:
    """Scores of all outputs of the study."""
    keys = sorted({one.key for one in ratings_in(found)})
    rng = np.random.default_rng(0)
    rows = [
        {"item": key.item, "system": key.system, "m": int(key.system[1:]) + rng.normal(0, 0.5)}
        for key in keys
    ]
    return table(path, rows)


def test_answers_with_their_study_agree_as_the_table_of_their_ratings(tmp_path: Path) -> None:
    found = simulated()
    study = found.design.study
    answers, ratings = tmp_path / "answers.jsonl", tmp_path / "ratings.csv"
    answers.write_bytes(b"".join(map(answer_line, found.answers)))
    ratings.write_text(records_csv(rating_records(ratings_in(found))))
    scores = scored(found, tmp_path / "scores.csv")
    made = [
        agree(scores, answers, study=study, **QUICK),
        agree(scores, ratings, study=study, **QUICK),
    ]
    assert [one.scale.name for one in made[0].scales] == ["SIG", "BAK", "OVRL"]
    assert made[0].title == study.title
    texts = [render(replace(one, inputs=(), notes=()), "json") for one in made]
    assert texts[0] == texts[1]
    with pytest.raises(UsageError, match="name the study file"):
        agree(scores, answers, **QUICK)


def test_listeners_are_screened_as_is_said(tmp_path: Path) -> None:
    found = study_simulate(
        with_digest(udase(listeners=16, panels=1, clips=20, sessions=2)),
        Population(careless=3),
        seed=1,
    )
    careless = {one["listener"] for one in found.people if one["careless"]}
    every = ratings_in(found)
    scores = scored(found, tmp_path / "scores.csv")
    files = {
        name: table(
            tmp_path / f"{name}.csv", rating_records([r for r in every if r.listener not in out])
        )
        for name, out in (("all", set[int]()), ("kept", careless))
    }
    screened = agree(scores, files["all"], screening=["p808"], scales=["SIG"], **QUICK)
    kept = agree(scores, files["kept"], screening=[], scales=["SIG"], **QUICK)
    assert "screening excluded 3 raters" in screened.notes
    assert screened.scales[0].raters == 13
    both = [figure(one, "m", "global", "pearson").value for one in (screened, kept)]
    assert both[0] == both[1]
    nobody = agree(scores, files["all"], screening=[], scales=["SIG"], **QUICK)
    assert nobody.scales[0].raters == 16


def test_a_rule_that_leaves_nobody_keeps_everybody_and_says_so(tmp_path: Path) -> None:
    votes = np.full((6, 4, 5), 3.0)
    scores = score_rows(m=np.arange(24.0).reshape(6, 4), n=np.arange(24.0).reshape(6, 4) % 7)
    found = agreed(tmp_path, scores, rating_rows(votes, "OVRL"), screening=["p808"])
    assert found.scales[0].raters == 5
    assert "screening would exclude all raters, so all raters are kept" in found.notes
    heard = agreed(tmp_path, scores, rating_rows(votes, "OVRL"), screening=["unheard"])
    assert "unheard: not applied: playback was not recorded" in heard.notes


def test_names_of_samples_and_columns_may_be_called_otherwise(tmp_path: Path) -> None:
    votes = people()
    metric = noisy(votes, 3, 3)
    scores = [
        {"wav": f"{one['system']}/{one['item']}.wav", "m": one["m"]} for one in score_rows(m=metric)
    ]
    ratings = [
        {"clip": f"{one['item']}__{one['system']}", "who": one["listener"], "MOSS": one["value"]}
        for one in rating_rows(votes)
    ]
    found = agreed(
        tmp_path,
        scores,
        ratings,
        scoring=ScoreOptions(score_pattern="{system}/{item}.wav", score_columns={"sample": "wav"}),
        reading=TableOptions(
            pattern="{item}__{system}", columns={"sample": "clip", "listener": "who"}
        ),
    )
    plain = agreed(tmp_path, score_rows(m=metric), rating_rows(votes, "MOSS"))
    assert found.scales[0].metrics[0].figures == plain.scales[0].metrics[0].figures


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"coefficient": "kendal_b"}, 'unknown coefficient "kendal_b" — did you mean'),
        ({"generalize": "raters"}, 'unknown population "raters"'),
        ({"mapping": "square"}, 'unknown mapping "square"'),
        ({"at": ("systems",)}, 'unknown level "systems"'),
        ({"level": 95}, "level must be between 0 and 1"),
        ({"draws": 0}, "draws must be 1 or more"),
        ({"permutations": 0}, "permutations must be 1 or more"),
        ({"seed": -1}, "seed must be 0 or more"),
        ({"folds": 1}, "folds must be 2 or more"),
    ],
)
def test_what_is_unknown_is_refused(tmp_path: Path, how: dict[str, Any], told: str) -> None:
    votes = people(systems=2, items=2)
    with pytest.raises(UsageError, match=told):
        agreed(tmp_path, score_rows(m=noisy(votes, 3, 3)), rating_rows(votes), **how)


def test_a_scale_where_low_is_good_turns_what_agrees(tmp_path: Path) -> None:
    votes = people()
    metric = noisy(votes, 8, 3)
    usual = agreed(tmp_path, score_rows(m=metric), rating_rows(votes))
    turned = rating_rows(100 - votes)
    found = agreed(tmp_path, score_rows(m=metric), turned, low_is_good=["Q"])
    assert found.scales[0].scale.best == "low"
    for level in ("system", "item", "global"):
        wanted = figure(usual, "m", level, "pearson").value
        assert wanted > 0
        assert figure(found, "m", level, "pearson").value == pytest.approx(wanted)
    own, other = (one.scales[0].metrics[0] for one in (found, usual))
    assert not own.low_is_good
    assert own.systems == other.systems  # in the metric's own direction
    errors, wanted_errors = ([x.rmse.value for x in one.mapped] for one in (own, other))
    assert errors == pytest.approx(wanted_errors)
    assert any(
        "Lower ratings are better on Q" in x for x in apply_renderer(found, "paper_table").notes
    )
    assert "|low_is_good=Q" in found.signature
    assert "lower ratings are better on Q" in found.notes
    counter = agreed(tmp_path, score_rows(m=metric), turned)
    assert any("go with lower ratings" in note for note in counter.scales[0].warnings)
    assert not any("go with" in note for note in found.scales[0].warnings)


def test_an_anchor_of_one_scale_is_compared_on_the_others(tmp_path: Path) -> None:
    votes = people()
    rows = [*rating_rows(votes, "Q"), *rating_rows(votes, "R")]
    found = agreed(tmp_path, score_rows(m=noisy(votes, 8, 3)), rows, anchors=["R=S0", "S1"])
    rated = {one.scale.name: set(one.people) for one in found.scales}
    assert rated["Q"] - rated["R"] == {"S0"}
    assert "S1" not in rated["Q"]
    assert "hidden references and anchors excluded: S1, S0 (R)" in found.notes


# --- Statements about messy tables ---------------------------------------------------------------


def cautions(found: Concordance) -> list[str]:
    """Lines below the name of the first scale on the terminal."""
    block = render(found, "text", width=300).partition("\nQ\n")[2].partition("\n\n")[0]
    return [line.strip() for line in block.splitlines()]


def test_outputs_that_do_not_exist_are_not_said_to_lack_votes(tmp_path: Path) -> None:
    votes = people()
    votes[np.add.outer(np.arange(6), np.arange(7)) % 2 == 0] = np.nan
    rows = score_rows(m=noisy(people(), 3, 3), n=noisy(people(), 9, 4))
    rated = {(one["system"], one["item"]) for one in rating_rows(votes)}
    exist = [one for one in rows if (one["system"], one["item"]) in rated]
    found = agreed(tmp_path, exist, rating_rows(votes)).scales[0]
    assert not any("no vote" in one or "no rating" in one for one in found.warnings)
    more = agreed(tmp_path, rows, rating_rows(votes)).scales[0]
    assert "21 of 42 scored outputs have no rating" in more.warnings


@pytest.mark.filterwarnings("error")
def test_reasons_of_undefined_coefficients_are_true(tmp_path: Path) -> None:
    votes = people()
    good = noisy(votes, 3, 3)
    by_item = np.broadcast_to(np.arange(7.0), good.shape)
    one = np.full_like(good, np.nan)
    one[0, 0] = 1
    rows = score_rows(good=good, by_item=by_item, one=one)
    rows = [{**row, "empty": "nan", "void": "nan"} for row in rows]
    found = agreed(tmp_path, rows, rating_rows(votes))
    assert "empty and void are excluded: undefined for all outputs" in found.notes
    assert "one is excluded: defined for only one output" in found.notes
    warnings = found.scales[0].warnings
    assert "by_item has no coefficient across systems: all systems have the same mean score" in (
        warnings
    )
    assert "by_item has no coefficient within items: in each item, all scores are tied" in warnings
    assert not any(x.startswith("good") for x in warnings)
    alike = agreed(tmp_path, score_rows(good=good, n=-good), rating_rows(0 * votes + 3)).scales[0]
    assert alike.warnings[0] == (
        "No metric has a coefficient at any level: all outputs have the same mean rating"
    )
    assert not any("good" in x or "tied" in x for x in (*alike.warnings, *alike.notes))


def test_metrics_undefined_for_all_rated_outputs_are_not_called_constant(tmp_path: Path) -> None:
    votes = people()
    votes[:, 3:] = np.nan
    later = noisy(people(), 3, 3)
    later[:, :3] = np.nan
    rows = score_rows(good=noisy(people(), 3, 4), later=later)
    found = agreed(tmp_path, rows, rating_rows(votes)).scales[0]
    said = [one for one in found.warnings if one.startswith("later")]
    assert said == ["later has no coefficient at any level: undefined for all rated outputs"]
    later[0, 0] = 7
    rows = score_rows(good=noisy(people(), 3, 4), later=later)
    found = agreed(tmp_path, rows, rating_rows(votes)).scales[0]
    assert f"{said[0]} but one" in found.warnings


def test_ties_within_items_are_reported_with_the_side_that_ties(tmp_path: Path) -> None:
    votes = people()
    tied = noisy(votes, 3, 3)
    tied[:, 0] = 1
    votes[:, 1] = 50
    rows = score_rows(good=noisy(people(), 3, 4), tied=tied)
    (note,) = agreed(tmp_path, rows, rating_rows(votes)).scales[0].notes[:1]
    assert note == (
        "good and tied have a coefficient in only 5 to 6 of 7 items; in the others, all ratings "
        "are tied or all scores are tied"
    )
    other = agreed(tmp_path, rows, rating_rows(votes), coefficient="tau_23").scales[0]
    assert not any("coefficient in only" in x for x in other.notes)


def test_repeated_votes_are_counted_as_votes(tmp_path: Path) -> None:
    votes = people()
    ratings = rating_rows(votes)
    rows = score_rows(m=noisy(votes, 3, 3))
    found = agreed(tmp_path, rows, [*ratings, *ratings[:30], *ratings[:10]])
    assert (
        "70 votes are repeats of 30 ratings (same rater, output and scale); the first vote of "
        "each is used"
    ) in found.notes


@pytest.mark.filterwarnings("error")
def test_numbers_too_large_are_refused_and_large_ones_are_right(tmp_path: Path) -> None:
    votes = people()
    metric, other = noisy(votes, 8, 3), noisy(votes, 20, 4)
    plain = agreed(tmp_path, score_rows(m=metric, n=other), rating_rows(votes))
    for factor in (1e97, 1e-250):
        scores = score_rows(m=metric * factor, n=-other * factor)
        found = agreed(tmp_path, scores, rating_rows(votes * 1e97), low_is_good=["n"])
        for level in ("system", "item", "global"):
            for name in COEFFICIENTS:
                values = [figure(x, y, level, name).value for x in (plain, found) for y in "mn"]
                assert values[:2] == pytest.approx(values[2:], abs=1e-9)
        assert "inf" not in render(found, "csv")
    told = (
        r"scores\.csv:2: m: must be between −1e\+100 and 1e\+100, got \"1e\+308\" — use logarithms"
    )
    with pytest.raises(InputError, match=told):
        agreed(tmp_path, score_rows(m=np.full((6, 7), 1e308), n=other), rating_rows(votes))
    with pytest.raises(InputError, match=r"ratings\.csv:2: value: must be between .* — leave the"):
        agreed(tmp_path, score_rows(n=other), rating_rows(votes * 1e300))


def test_the_terminal_shows_five_lines_of_cautions_and_reports_show_all(tmp_path: Path) -> None:
    votes = people(raters=2)
    metrics = {f"m{n}": noisy(votes, 3 + n, n) * (-1) ** n for n in range(8)}
    for n, scores in enumerate(metrics.values()):
        scores[n % 6, : n % 3] = np.nan
    found = agreed(tmp_path, score_rows(**metrics), rating_rows(votes))
    *shown, last = cautions(found)
    assert len(shown) == 4
    assert shown[0].startswith("m1, m3, m5 and 1 more run counter to the ratings: higher scores,")
    assert shown[1].startswith(
        "m1, m2, m4 and 2 more are undefined for 1 to 2 of 42 rated outputs;"
    )
    scale = found.scales[0]
    every = [*scale.warnings, *scale.notes]
    assert last == f"… and {int(last.split()[2])} more notes (see -o report.html)"
    page = render(found, "html").replace("<wbr/>", "")
    assert all(html.escape(one) in page for one in every)
    record = json.loads(render(found, "json"))["scales"][0]
    assert [*record["warnings"], *record["notes"]] == every


def test_votes_off_the_scale_come_first(tmp_path: Path) -> None:
    votes = np.rint(people() / 20)
    votes[0, 0, 0] = 55
    found = agreed(tmp_path, score_rows(m=noisy(people(), 3, 3)), rating_rows(votes))
    assert cautions(found)[0].startswith("the ends of scale Q are unknown; votes range from")
    assert "the others are 55" in cautions(found)[0]
    assert cautions(found)[0] not in found.scales[0].notes
