"""One system, groups, medians, normalized ratings, partial correlation, soft pairwise accuracy."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from earwitness.core import Estimate
from earwitness.errors import UsageError
from earwitness.metaeval.agree import ScoreOptions
from earwitness.metaeval.coefficients import PARTIAL_COEFFICIENTS
from earwitness.metaeval.levels import (
    ScoreRatingGrid,
    StudyDraws,
    cell_means,
    evaluate_draws,
)
from earwitness.metaeval.pairwise_accuracy import (
    soft_accuracy_draws,
    soft_pairwise_accuracy,
)
from earwitness.metaeval.results import Concordance, Figure
from earwitness.output_formats import FORMS, render
from earwitness.stats.arrays import Floats
from earwitness.stats.votes import (
    NormalizedVotes,
    Votes,
    aggregate_votes,
    count_constant_raters,
    normalize_raters,
)
from earwitness.studies.agree import agree
from helpers.csv_results import read_results
from helpers.score_tables import QUICK, agreed, figure, people, rating_rows, score_rows

Rows = list[dict[str, Any]]


def noisy(votes: Floats, spread: float, seed: int) -> Floats:
    """A metric that knows the mean ratings, with errors."""
    means = np.nanmean(votes, axis=2)
    return np.asarray(means + np.random.default_rng(seed).normal(0, spread, means.shape))


def coded(votes: Floats) -> Votes:
    """Votes (systems × items × raters) as columns."""
    systems, items, raters = np.nonzero(~np.isnan(votes))
    return Votes(votes[systems, items, raters], systems, items, raters, votes.shape)


def without_system(rows: Rows) -> Rows:
    return [{name: cell for name, cell in row.items() if name != "system"} for row in rows]


# --- One system ----------------------------------------------------------------------------------


def captions(items: int = 30, raters: int = 6) -> tuple[Rows, Rows]:
    votes = np.random.default_rng(3).normal(0, 3, (1, items, 1)) + people(1, items, raters)
    scores = score_rows(m=noisy(votes, 2, 3), n=noisy(votes, 9, 4))
    return scores, rating_rows(votes)


def test_one_system_is_compared_across_items_without_messages_about_systems(
    tmp_path: Path,
) -> None:
    found = agreed(tmp_path, *captions())
    [scale] = found.scales
    assert [rank.figure for rank in scale.ranked] == [Figure("global", "kendall_b")]
    assert found.over == "items+raters"
    assert not any("system" in warning for warning in scale.warnings)
    own = figure(found, "m", "global", "kendall_b")
    assert own.n == 30
    assert own.low < own.value < own.high
    said = [note for note in found.notes if "system" in note]
    assert said == ["there is one system, so metrics are compared across outputs"]
    assert any(
        test.is_distinct for test in agreed(tmp_path, *captions(), permutations=200).scales[0].apart
    )
    text = " ".join(render(found, "text").split())
    assert "1 system, 30 items, 6 raters" in text
    assert "bootstrap over items and raters" in text
    assert "items permuted at random" in text
    assert "systems permuted" not in text
    assert "(one rater)" in text.split("Metrics are ranked")[0]
    assert all(render(found, form) for form in FORMS)


def test_one_system_with_few_raters_has_intervals_over_items(tmp_path: Path) -> None:
    found = agreed(tmp_path, *captions(raters=3))
    assert found.over == "items"
    assert figure(found, "m", "global", "kendall_b").method == "bootstrap over items"
    assert (
        "there are too few raters (3) to resample, so confidence intervals are over items and hold "
        "for these raters"
    ) in found.notes
    few = agreed(tmp_path, *captions(items=3, raters=3))
    assert [one for one in few.scales[0].warnings if "resample" in one] == [
        "Too few items (3) and raters (3) to resample, so there are no confidence intervals"
    ]


def test_agreement_among_raters_of_one_system_is_across_items(tmp_path: Path) -> None:
    votes = np.random.default_rng(3).normal(0, 3, (1, 20, 1)) + people(1, 20, 4)
    found = agreed(tmp_path, score_rows(m=noisy(votes, 2, 3)), rating_rows(votes))
    [ceiling] = [
        one for one in found.scales[0].ceilings if one.figure == Figure("global", "pearson")
    ]
    own = votes[0]
    wanted = [
        stats.pearsonr(own[:, r], np.delete(own, r, axis=1).mean(axis=1)).statistic
        for r in range(4)
    ]
    assert ceiling.rater.value == pytest.approx(np.mean(wanted))


def test_a_table_without_a_system_column_has_one_system(tmp_path: Path) -> None:
    scores, ratings = captions()
    wanted = agreed(tmp_path, scores, ratings)
    found = agreed(tmp_path, without_system(scores), without_system(ratings))
    assert list(found.scales[0].people) == ["system"]
    assert found.scales[0].metrics[0].figures == wanted.scales[0].metrics[0].figures
    in_memory = agree(without_system(scores), without_system(ratings), **QUICK)
    assert in_memory.scales[0].metrics[0].figures == wanted.scales[0].metrics[0].figures
    named = agreed(
        tmp_path, without_system(scores), without_system(ratings), constants={"system": "S0"}
    )
    assert list(named.scales[0].people) == ["S0"]
    mixed = agreed(tmp_path, scores, without_system(ratings), constants={"system": "S0"})
    assert mixed.scales[0].items == 30


def test_two_systems_are_compared_within_items_and_not_across_systems(tmp_path: Path) -> None:
    votes = people(2, 20, 5)
    found = agreed(
        tmp_path, score_rows(m=noisy(votes, 3, 3), n=noisy(votes, 9, 4)), rating_rows(votes)
    )
    [scale] = found.scales
    assert [rank.figure.level for rank in scale.ranked] == ["item"]
    assert not any(own.level == "system" for own in scale.metrics[0].figures)
    assert len([one for one in (*scale.warnings, *found.notes) if "system" in one]) == 1
    assert figure(found, "m", "item", "kendall_b").low < 1
    at_global = agreed(
        tmp_path, score_rows(m=noisy(votes, 3, 3)), rating_rows(votes), at=("global",)
    )
    assert [rank.figure.level for rank in at_global.scales[0].ranked] == ["global"]


def test_a_reversed_metric_of_one_system_is_pointed_out(tmp_path: Path) -> None:
    scores, ratings = captions()
    turned = [{**row, "m": -row["m"]} for row in scores]
    warned = agreed(tmp_path, turned, ratings).scales[0].warnings
    assert any("m runs counter to the ratings" in one for one in warned)
    found = agreed(tmp_path, turned, ratings, scoring=ScoreOptions(baselines=("m",)))
    assert found.scales[0].metrics[0].low_is_good  # a baseline is reversed


# --- Groups --------------------------------------------------------------------------------------


def dataset(item: str) -> str:
    return "farm" if int(item[1:]) % 2 else "street"


def grouped(votes: Floats) -> Rows:
    juries = {"r0": "a", "r1": "a", "r2": "b", "r3": "b", "r4": "b"}
    return [
        {**row, "dataset": dataset(row["item"]), "jury": juries[row["listener"]]}
        for row in rating_rows(votes)
    ]


def by_group(found: Concordance, field: str, metric: str) -> dict[str, dict[Figure, Estimate]]:
    return {
        one.group: dict(one.figures[metric]) for one in found.scales[0].groups if one.field == field
    }


def test_groups_have_the_agreement_of_their_items_or_raters_alone(tmp_path: Path) -> None:
    votes = people(6, 12, 5)
    scores = score_rows(m=noisy(votes, 5, 3), n=noisy(votes, 9, 4))
    found = agreed(tmp_path, scores, grouped(votes), by=["dataset", "jury"])
    for field, name in (
        ("dataset", "farm"),
        ("jury", "b"),
    ):
        rows = [row for row in grouped(votes) if row[field] == name]
        alone = agreed(tmp_path, scores, rows)
        for figure_key, estimate in by_group(found, field, "m")[name].items():
            wanted = alone.scales[0].metrics[0].figures[figure_key]
            assert estimate.value == pytest.approx(wanted.value)
            assert estimate.n == wanted.n
    street, farm = (one for one in found.scales[0].groups if one.field == "dataset")
    assert (street.group, farm.group) == ("street", "farm")
    assert (farm.systems, farm.items, farm.raters, farm.votes) == (6, 6, 5, 180)
    of_jury = by_group(found, "jury", "m")["a"][Figure("item", "kendall_b")]
    assert of_jury.method == "bootstrap over systems+items"  # two raters are too few
    assert of_jury.low < of_jury.value


def test_groups_are_in_every_form_with_a_column_for_the_group(tmp_path: Path) -> None:
    votes = people(6, 12, 5)
    scores = score_rows(m=noisy(votes, 5, 3), n=noisy(votes, 9, 4))
    found = agreed(tmp_path, scores, grouped(votes), by=["dataset"])
    rows = [row for row in read_results(render(found, "csv"))[1] if row["by_group"]]
    assert {(row["role"], row["by"], row["by_group"]) for row in rows} == {
        ("group", "dataset", "farm"),
        ("group", "dataset", "street"),
    }
    assert len(rows) == 2 * 2 * 2  # levels, metrics, groups
    kept = json.loads(render(found, "json"))["scales"][0]["groups"]
    assert kept[0]["figures"]["m"]["system kendall_b"]["n"] == 6
    assert "Agreement by dataset" in render(found, "html")
    assert "by=dataset" in found.signature
    text = render(found, "text")
    assert "Kendall's τ-b ↑ by dataset" in " ".join(text.split())
    assert "(systems, items, raters)" in text


def test_groups_of_items_may_be_a_column_of_the_scores(tmp_path: Path) -> None:
    votes = people(6, 12, 5)
    scores = score_rows(m=noisy(votes, 5, 3))
    wanted = agreed(tmp_path, scores, grouped(votes), by=["dataset"])
    with_column = [{**row, "dataset": dataset(row["item"])} for row in scores]
    found = agreed(tmp_path, with_column, rating_rows(votes), by="dataset")
    assert by_group(found, "dataset", "m") == by_group(wanted, "dataset", "m")
    numbers = [{**row, "year": 2000 + int(row["item"][1:]) % 2} for row in scores]
    found = agreed(tmp_path, numbers, rating_rows(votes), by=["year"])
    assert [one.metric for one in found.scales[0].metrics] == ["m"]  # a group is no metric
    torn = [{**row, "dataset": row["system"]} for row in scores]
    with pytest.raises(UsageError, match='by dataset: item i0 is in "S0" and in "S1"'):
        agreed(tmp_path, torn, rating_rows(votes), by=["dataset"])


def test_a_filter_keeps_items_or_raters_as_if_the_others_were_not_there(tmp_path: Path) -> None:
    votes = people(6, 12, 5)
    scores = [{**row, "snr": int(row["item"][1:])} for row in score_rows(m=noisy(votes, 5, 3))]
    found = agreed(tmp_path, scores, rating_rows(votes), where="snr>=4")
    kept = [row for row in rating_rows(votes) if int(row["item"][1:]) >= 4]
    plain = [{name: row[name] for name in row if name != "snr"} for row in scores]
    alone = agreed(tmp_path, plain, kept)
    assert repr(found.scales[0].metrics) == repr(alone.scales[0].metrics)  # NaN is not equal
    assert "|where(snr>=4)" in found.signature
    assert "snr>=4 holds for 8 of 12 rated items, which are kept" in found.notes
    juries = agreed(tmp_path, plain, grouped(votes), where=["jury=b", "dataset!=farm"])
    rows = [r for r in grouped(votes) if (r["jury"], r["dataset"]) == ("b", "street")]
    alone = agreed(tmp_path, plain, rows)
    assert repr(juries.scales[0].metrics) == repr(alone.scales[0].metrics)
    with pytest.raises(UsageError, match='no table has a column "snrr" — did you mean "snr"'):
        agreed(tmp_path, scores, rating_rows(votes), where="snrr>=4")
    with pytest.raises(UsageError, match="where: snr>=99 holds for 0 of 12 rated items"):
        agreed(tmp_path, scores, rating_rows(votes), where="snr>=99")


def test_unknown_and_too_many_groups_are_refused(tmp_path: Path) -> None:
    votes = people(3, 14, 2)
    scores = score_rows(m=noisy(votes, 5, 3))
    with pytest.raises(Exception, match="datset"):
        agreed(tmp_path, scores, grouped(votes), by=["datset"])
    each = [{**row, "clip": row["item"]} for row in rating_rows(votes)]
    with pytest.raises(UsageError, match='by: "clip" has 14 groups'):
        agreed(tmp_path, scores, each, by=["clip"])


# --- Median and normalized ratings ---------------------------------------------------------------


def test_the_median_of_votes_is_that_of_numpy_in_every_draw(tmp_path: Path) -> None:
    votes = np.rint(people(3, 5, 6) / 8)
    votes[0, 0, 2:], votes[1, 2] = np.nan, np.nan
    weights = np.random.default_rng(2).integers(0, 4, (20, 6)).astype(float)
    found = cell_means(aggregate_votes(coded(votes), "median"), weights)
    for draw, row in enumerate(weights.astype(int)):
        for system, item in np.ndindex(3, 5):
            own = np.repeat(votes[system, item], row)
            own = own[~np.isnan(own)]
            wanted = np.median(own) if len(own) else np.nan
            assert found[draw, system, item] == pytest.approx(wanted, nan_ok=True)
    whole = people(5, 9, 5)
    metric = noisy(whole, 5, 3)
    agreed_by = agreed(tmp_path, score_rows(m=metric), rating_rows(whole), aggregate="median")
    wanted = stats.kendalltau(metric.ravel(), np.median(whole, axis=2).ravel()).statistic
    assert figure(agreed_by, "m", "global", "kendall_b").value == pytest.approx(wanted)
    shown = agreed_by.scales[0].people["S1"]
    assert shown.value == pytest.approx(np.median(whole[1], axis=1).mean())
    assert "aggregate=median" in agreed_by.signature
    assert "median of the votes" in render(agreed_by, "text")
    assert {curve.what for curve in agreed_by.scales[0].curves} == {"items"}


def test_normalized_votes_have_the_mean_and_deviation_of_all_votes() -> None:
    votes = people(3, 5, 4) * np.array([1, 2, 0.5, 0])
    votes[0, 0, 1] = np.nan
    own = coded(votes)
    found = normalize_raters(own)
    for rater in range(4):
        part = found[own.listeners == rater]
        assert part.mean() == pytest.approx(own.values.mean())
        assert part.std() == pytest.approx(own.values.std() if rater < 3 else 0)
    assert count_constant_raters(own) == 1


def test_normalized_ratings_do_not_depend_on_how_a_rater_uses_the_scale(tmp_path: Path) -> None:
    votes = people(6, 7, 5)
    scores = score_rows(m=noisy(votes, 5, 3))
    stretched = votes * np.array([1, 0.2, 3, 1, 1]) + np.array([0, 50, -20, 9, 0])
    found, other = (
        agreed(tmp_path, scores, rating_rows(one), aggregate="normalized")
        for one in (votes, stretched)
    )
    for level in ("system", "item", "global"):
        one, two = (figure(result, "m", level, "pearson") for result in (found, other))
        assert [one.value, one.low] == pytest.approx([two.value, two.low])
    constant = votes.copy()
    constant[:, :, 2] = 3
    warned = agreed(tmp_path, scores, rating_rows(constant), aggregate="normalized")
    assert (
        "1 rater gave the same rating to all outputs, which normalized ratings count as the mean "
        "rating"
    ) in warned.scales[0].warnings


def test_draws_normalize_each_rater_by_the_drawn_outputs() -> None:
    votes = people(4, 6, 5)
    votes[1, 2, 3] = np.nan
    rng = np.random.default_rng(4)
    raters, items, systems = (rng.integers(0, 3, (8, n)) for n in (5, 6, 4))
    raters[:, 0] = items[:, 0] = systems[:, 0] = 1
    normalized = aggregate_votes(coded(votes), "normalized")
    assert isinstance(normalized, NormalizedVotes)
    found = normalized.resample(*(one.astype(float) for one in (raters, items, systems)))
    for draw in range(8):
        weights = systems[draw][:, None] * items[draw]
        scaled = np.full_like(votes, np.nan)
        for rater in range(5):
            known = ~np.isnan(votes[:, :, rater])
            drawn = np.repeat(votes[:, :, rater][known], weights[known])
            scaled[:, :, rater] = (votes[:, :, rater] - drawn.mean()) / (drawn.std() or np.inf)
        drawn_raters = np.repeat(scaled, raters[draw], axis=2)
        wanted = np.nanstd(votes) * np.nanmean(drawn_raters, axis=2) + np.nanmean(votes)
        assert found[draw] == pytest.approx(wanted)
    shifted = replace(normalized, values=normalized.values - 3)
    ones = np.ones((1, 5)), np.ones((1, 6)), np.ones((1, 4))
    assert shifted.resample(*ones) == pytest.approx(normalized.resample(*ones) - 3)
    assert normalized.resample(*ones)[0] == pytest.approx(cell_means(normalized)[0])


def test_choices_have_no_median(tmp_path: Path) -> None:
    rows = [
        {"item": f"i{i}", "system": a, "against": b, "listener": r, "scale": "P", "value": 1}
        for i in range(4)
        for a, b in combinations(("S0", "S1", "S2"), 2)
        for r in range(3)
    ]
    scores = score_rows(m=noisy(people(3, 4, 3), 3, 3))
    with pytest.raises(UsageError, match="aggregate: P has choices between two systems"):
        agreed(tmp_path, scores, rows, aggregate="median")


# --- Partial correlation -------------------------------------------------------------------------


def plain_partial(name: str, x: Floats, y: Floats, controls: list[Floats]) -> float:
    """Partial correlation by the recursive formula, from SciPy's coefficients."""
    correlate = {
        "partial_pearson": stats.pearsonr,
        "partial_spearman": stats.spearmanr,
        "partial_kendall": stats.kendalltau,
    }[name]
    if not controls:
        return float(correlate(x, y).statistic)
    *others, z = controls
    xy, xz, yz = (plain_partial(name, a, b, others) for a, b in ((x, y), (x, z), (y, z)))
    left = (1 - xz**2) * (1 - yz**2)
    return float((xy - xz * yz) / np.sqrt(left)) if left > 1e-12 else float("nan")


PLAIN = list(PARTIAL_COEFFICIENTS)


@pytest.mark.parametrize("count", [1, 2])
def test_partial_correlations_are_those_of_the_formula_at_every_level(count: int) -> None:
    rng = np.random.default_rng(7)
    ratings = np.rint(rng.normal(0, 3, (6, 8)))
    scores, controls = rng.normal(0, 1, (2, 6, 8)) + ratings / 4, rng.normal(0, 1, (count, 6, 8))
    controls += ratings / 6
    scores[1, 2, 3:5] = ratings[4, 1] = np.nan
    once = StudyDraws(np.ones((1, 6)), np.ones((1, 8)), ratings[None])
    for row, name in enumerate(PARTIAL_COEFFICIENTS.values()):
        found = {
            level: evaluate_draws(level, scores, once, PLAIN, controls=controls)[0][row, 0]
            for level in ("system", "item", "global")
        }
        for metric, own in enumerate(scores):
            known = ~np.isnan(own) & ~np.isnan(ratings)
            means = [
                np.array([one[s][known[s]].mean() for s in range(6)])
                for one in (own, ratings, *controls)
            ]
            wanted = plain_partial(name, means[0], means[1], means[2:])
            assert found["system"][metric] == pytest.approx(wanted)
            wanted = plain_partial(name, own[known], ratings[known], [z[known] for z in controls])
            assert found["global"][metric] == pytest.approx(wanted)
            items = [
                plain_partial(name, own[k, i], ratings[k, i], [z[k, i] for z in controls])
                for i in range(8)
                for k in [known[:, i]]
            ]
            assert found["item"][metric] == pytest.approx(np.nanmean(items))


def test_pearson_given_a_column_is_the_correlation_of_residuals() -> None:
    rng = np.random.default_rng(8)
    x, y, z = rng.normal(0, 1, (3, 40))
    y, x = y + z, x + 2 * z
    residuals = [one - np.polyval(np.polyfit(z, one, 1), z) for one in (x, y)]
    once = StudyDraws(np.ones((1, 1)), np.ones((1, 40)), y[None, None])
    found = evaluate_draws("global", x[None, None], once, PLAIN, controls=z[None, None])[0][0, 0, 0]
    assert found == pytest.approx(stats.pearsonr(*residuals).statistic)


def test_partial_draws_count_units_as_often_as_they_are_drawn() -> None:
    rng = np.random.default_rng(9)
    ratings, scores = rng.normal(0, 1, (5, 7)), rng.normal(0, 1, (1, 5, 7))
    control = rng.normal(0, 1, (1, 5, 7)) + ratings / 2
    systems, items = rng.integers(0, 3, (6, 5)), rng.integers(0, 3, (6, 7))
    draws = StudyDraws(systems.astype(float), items.astype(float), ratings[None])
    for level in ("item", "global"):
        found = evaluate_draws(level, scores, draws, PLAIN, controls=control)[0][:, :, 0]
        for draw in range(6):
            picked = [
                np.repeat(np.repeat(one, systems[draw], axis=0), items[draw], axis=1)
                for one in (scores[0], ratings, control[0])
            ]
            if level == "global":
                values = [
                    plain_partial(name, picked[0].ravel(), picked[1].ravel(), [picked[2].ravel()])
                    for name in PARTIAL_COEFFICIENTS.values()
                ]
            elif (systems[draw] > 0).sum() < 4:
                assert np.isnan(found[:, draw]).all()
                continue
            else:
                by_item = [
                    [
                        plain_partial(name, picked[0][:, i], picked[1][:, i], [picked[2][:, i]])
                        for i in range(picked[0].shape[1])
                    ]
                    for name in PARTIAL_COEFFICIENTS.values()
                ]
                values = np.nanmean(by_item, axis=1).tolist()
            assert found[:, draw] == pytest.approx(np.array(values))


def test_a_metric_that_only_reflects_length_falls_to_zero(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    length = rng.integers(5, 60, (6, 40)).astype(float)
    votes = length[:, :, None] / 10 + rng.normal(0, 1, (6, 40, 5))
    scores = score_rows(m=length + rng.normal(0, 4, (6, 40)), length=length)
    found = agreed(tmp_path, scores, rating_rows(votes), partial=["length"])
    plain = figure(found, "m", "global", "pearson")
    given = figure(found, "m", "global", "partial_pearson")
    assert plain.value > 0.8
    assert abs(given.value) < 0.2
    assert given.low < given.value < given.high
    assert np.isnan(figure(found, "length", "global", "partial_pearson").value)
    text = " ".join(render(found, "text").split())
    assert "given length" in text
    assert "Agreement given length" in render(found, "html")
    assert "partial=length" in found.signature


def test_lengths_of_outputs_can_be_controlled_for_and_slips_are_refused(tmp_path: Path) -> None:
    votes = people(5, 9, 5)
    rows = score_rows(m=noisy(votes, 5, 3), n=noisy(votes, 5, 4))
    rng = np.random.default_rng(1)
    outputs = tmp_path / "outputs.jsonl"
    outputs.write_text(
        "".join(
            json.dumps(
                {
                    **{n: row[n] for n in ("item", "system")},
                    "output": {"text": "a " * int(rng.integers(1, 30))},
                }
            )
            + "\n"
            for row in rows
        )
    )
    scoring = ScoreOptions(metrics=("m",), outputs=str(outputs))
    found = agreed(tmp_path, rows, rating_rows(votes), scoring=scoring, partial="length")
    assert [one.metric for one in found.scales[0].metrics] == ["m", "length"]
    assert not np.isnan(figure(found, "m", "global", "partial_kendall").value)
    with pytest.raises(UsageError, match='"lenth"'):
        agreed(tmp_path, rows, rating_rows(votes), partial=["lenth"])
    same = [{**row, "size": 3} for row in rows]
    with pytest.raises(UsageError, match="partial: size is excluded: always 3"):
        agreed(tmp_path, same, rating_rows(votes), partial=["size"])


# --- Soft pairwise accuracy ----------------------------------------------------------------------


def plain_soft_accuracy(metric: Floats, ratings: Floats, signs: Floats) -> float:
    """Soft pairwise accuracy, pair by pair and permutation by permutation."""
    agreements = []
    for a, b in combinations(range(len(ratings)), 2):
        known = ~np.isnan(metric[a] + metric[b] + ratings[a] + ratings[b])
        if not known.any():
            continue
        p = []
        for own in (metric, ratings):
            differences = (own[a] - own[b])[known]
            observed = differences.sum()
            sums = [(row[known] * differences).sum() for row in signs]
            larger = sum(one > observed + 1e-9 for one in sums)
            equal = sum(abs(one - observed) <= 1e-9 for one in sums)
            p.append((larger + equal / 2) / len(sums))
        agreements.append(1 - abs(p[0] - p[1]))
    return float(np.mean(agreements))


@pytest.mark.parametrize("gaps", [False, True])
def test_soft_pairwise_accuracy_is_that_of_a_plain_loop(gaps: bool) -> None:
    rng = np.random.default_rng(6)
    ratings = np.rint(rng.normal(0, 1, (5, 12)) + np.arange(5)[:, None] / 3)
    scores = rng.normal(0, 1, (2, 5, 12)) + ratings / 3 + 1000
    scores[1] = np.rint(scores[1])
    if gaps:
        scores[0, 1, 3:7] = ratings[2, 9] = np.nan
    found = soft_pairwise_accuracy(ScoreRatingGrid(scores, ratings), permutations=60, seed=3)
    drawn = np.random.Generator(np.random.PCG64((3, 11))).integers(0, 2, (60, 12))
    signs = np.where(drawn, 1.0, -1.0)
    wanted = [plain_soft_accuracy(metric, ratings, signs) for metric in scores]
    assert found == pytest.approx(np.array(wanted))


def test_soft_pairwise_accuracy_of_the_ratings_is_one_and_of_their_opposite_near_zero() -> None:
    ratings = people(4, 30, 1)[:, :, 0]
    grid = ScoreRatingGrid(np.stack([ratings, -ratings, 0 * ratings + 1]), ratings)
    same, opposite, level = soft_pairwise_accuracy(grid, permutations=500, seed=0)
    assert same == 1
    assert opposite < 0.05
    assert level == pytest.approx(0.5, abs=0.05)  # p of equal systems is one half


def test_draws_of_soft_pairwise_accuracy_are_near_to_permutations_of_the_drawn_items() -> None:
    rng = np.random.default_rng(2)
    votes = people(5, 60, 3, seed=4) + rng.normal(0, 6, (5, 60, 1))
    ratings = votes.mean(axis=2)
    scores = np.stack([noisy(votes, 20, 3), noisy(votes, 40, 5)])
    systems, items = np.ones((4, 5)), rng.integers(0, 4, (4, 60)).astype(float)
    systems[1, 2] = 0
    found = soft_accuracy_draws(scores, StudyDraws(systems, items, ratings[None]))
    for draw in range(4):
        which = np.repeat(np.arange(60), items[draw].astype(int))
        kept = systems[draw] > 0
        grid = ScoreRatingGrid(scores[:, kept][:, :, which], ratings[kept][:, which])
        wanted = soft_pairwise_accuracy(grid, permutations=4000, seed=1)
        assert found[draw] == pytest.approx(wanted, abs=0.02)
    people_draws = np.repeat(ratings[None], 4, axis=0)
    same = soft_accuracy_draws(scores, StudyDraws(systems, items, people_draws))
    assert same == pytest.approx(found)


def test_soft_pairwise_accuracy_is_reported_at_the_system_level(tmp_path: Path) -> None:
    votes = people(7, 12, 6)
    found = agreed(tmp_path, score_rows(m=noisy(votes, 8, 3)), rating_rows(votes), draws=100)
    own = figure(found, "m", "system", "soft_pairwise_accuracy")
    assert own.low < own.value <= own.high
    assert own.n == 7
    assert "soft pairwise accuracy" in render(found, "html")
