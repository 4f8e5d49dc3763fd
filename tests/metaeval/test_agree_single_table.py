"""Agreement within one table that has both ratings and scores."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from earwitness.errors import InputError, UsageError
from earwitness.metaeval.results import Concordance
from earwitness.output_formats import render
from earwitness.stats.arrays import Floats
from earwitness.studies.agree import agree
from helpers.score_tables import QUICK, figure, people, rating_rows, score_rows, table

Row = dict[str, Any]


def metric_of(votes: Floats, seed: int) -> Floats:
    means = votes.mean(axis=2)
    return np.asarray(means + np.random.default_rng(seed).normal(0, 5, means.shape))


def vote_table(votes: Floats, **metrics: Floats) -> list[Row]:
    """A row per vote, with the scores of its output."""
    scores = {(row["item"], row["system"]): row for row in score_rows(**metrics)}
    return [
        {"filename": f"{row['item']}_sys{row['system']}.wav", "subject": row["listener"]}
        | {"MOS": round(row["value"], 3)}
        | {name: scores[row["item"], row["system"]][name] for name in metrics}
        for row in rating_rows(votes)
    ]


def mean_table(votes: Floats, **metrics: Floats) -> list[Row]:
    """A row per output, with its mean vote."""
    rows = score_rows(MOS=votes.mean(axis=2), **metrics)
    return [
        {"filename": f"{row.pop('item')}_{row['system']}.wav", "system": row.pop("system")} | row
        for row in rows
    ]


def agreed(rows: list[Row], **how: Any) -> Concordance:
    return agree(rows, **(QUICK | how))


def test_votes_and_metrics_of_one_table_agree_as_those_of_two() -> None:
    votes = np.round(people(), 3)
    first, second = metric_of(votes, 1), metric_of(votes, 2)
    found = agreed(vote_table(votes, utmos=first, nisqa=second))
    wanted = agree(score_rows(utmos=first, nisqa=second), rating_rows(votes, "MOS"), **QUICK)
    assert [scale.scale.name for scale in found.scales] == ["MOS"]
    for metric in ("utmos", "nisqa"):
        for level in ("system", "item", "global"):
            names = metric, level, "pearson"
            assert figure(found, *names) == figure(wanted, *names)
    assert (found.scales[0].raters, found.scales[0].items) == (5, 7)
    assert 'column "filename" is read with the pattern {item}_{system}.wav; use --pattern to ' in (
        " ".join(found.notes)
    )
    told = 'ratings are read from "MOS", metrics from "utmos", "nisqa"; use --scale and --metric'
    assert f"{told} to change this" in found.notes


def test_means_have_no_raters_and_intervals_over_systems_and_items() -> None:
    votes = people(systems=8, items=6)
    metric, means = metric_of(votes, 1), votes.mean(axis=2)
    found = agreed(mean_table(votes, utmos=metric))
    [scale] = found.scales
    assert (scale.raters, scale.items, scale.votes) == (0, 6, 48)
    assert (found.over, scale.ceilings) == ("systems+items", ())
    estimate = figure(found, "utmos", "system", "pearson")
    by_hand = stats.pearsonr(metric.mean(axis=1), means.mean(axis=1)).statistic
    assert estimate.value == pytest.approx(by_hand)
    assert estimate.low < estimate.value < estimate.high
    mean = scale.people["S0"]
    t = stats.ttest_1samp(means[0], 0).confidence_interval(0.95)
    assert (mean.value, mean.low, mean.high) == pytest.approx((means[0].mean(), t.low, t.high))
    assert not any("rater" in text for text in (*scale.warnings, *scale.notes))
    assert "(one rater)" not in render(found, "text")
    assert [note for note in found.notes if "listener" in note] == [
        "no column has listeners, so ratings are read as means over listeners, which intervals do "
        "not cover; use --column listener=NAME if a column has listeners"
    ]


def test_means_do_not_count_items_as_raters() -> None:
    """Resampled raters would widen intervals: those of a metric equal to the means have none."""
    votes = people(systems=8, items=6)
    found = agreed(mean_table(votes, copy=votes.mean(axis=2) * 2), draws=100)
    assert figure(found, "copy", "global", "pearson").value == pytest.approx(1)
    assert math.isnan(figure(found, "copy", "global", "kendall_b").low)


def test_few_systems_of_means_leave_items_to_resample() -> None:
    found = agreed(mean_table(people(systems=4), utmos=metric_of(people(systems=4), 1)))
    assert any("Too few systems (4) to resample" in text for text in found.scales[0].warnings)
    found = agreed(
        mean_table(people(systems=4), utmos=metric_of(people(systems=4), 1)), generalize="items"
    )
    assert found.over == "items"


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"generalize": "listeners"}, "generalize: means have no listeners"),
        ({"aggregate": "normalized"}, "aggregate: MOS has means, not votes — use mean"),
    ],
)
def test_what_needs_votes_is_refused_with_means(how: Row, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        agreed(mean_table(people(), utmos=metric_of(people(), 1)), **how)


def test_means_of_a_second_table_join_scores_of_the_first() -> None:
    votes = people()
    scores, means = score_rows(utmos=metric_of(votes, 1)), score_rows(MOS=votes.mean(axis=2))
    found = agree(scores, means, **QUICK)
    assert (found.scales[0].raters, found.over) == (0, "systems+items")


def test_a_table_as_people_have_it_is_read(tmp_path: Path) -> None:
    """Index, byte-order mark, semicolons, decimal commas, spreads, ids, percent and lengths."""
    votes = people()
    rows = [
        f"{n};{row['filename'].replace('_', '_model')};{row['MOS']:.2f};{0.5 + n % 3};"
        f"{row['UTMOS']:.3f};{row['WER']:.1f} %;{3000 + n % 5};{n % 4}".replace(".", ",").replace(
            ",wav", ".wav"
        )
        for n, row in enumerate(mean_table(votes, UTMOS=metric_of(votes, 1), WER=-votes[..., 0]))
    ]
    head = ";FileName;Mean_MOS;MOS_std;UTMOS;WER;duration_ms;speaker_id"
    path = tmp_path / "results.csv"
    path.write_text("\n".join([head, *rows]), encoding="utf-8-sig")
    found = agree(path, **QUICK)
    [scale] = found.scales
    assert scale.scale.name == "Mean_MOS"
    metrics = [(metric.metric, metric.low_is_good, metric.baseline) for metric in scale.metrics]
    assert [row[0] for row in metrics] == ["UTMOS", "WER", "duration_ms"]
    assert metrics[:2] == [("UTMOS", False, False), ("WER", True, False)]
    assert metrics[2][2]
    assert 'ignored columns: "MOS_std", "speaker_id"' in found.notes


def test_votes_are_told_from_other_columns_that_vary_between_listeners() -> None:
    votes = people()
    rows = [
        row | {"age": 20 + int(row["subject"][1:]), "seconds_to_answer": n % 7}
        for n, row in enumerate(vote_table(votes, utmos=metric_of(votes, 1)))
    ]
    found = agreed(rows)
    assert [scale.scale.name for scale in found.scales] == ["MOS"]
    assert 'ignored columns: "age", "seconds_to_answer"' in found.notes
    [metric] = found.scales[0].metrics
    assert metric.metric == "utmos"


def test_columns_that_may_be_either_are_refused_with_the_options_to_add() -> None:
    votes = people()
    rows = score_rows(a=votes.mean(axis=2), b=metric_of(votes, 1))
    with pytest.raises(InputError) as error:
        agreed(rows)
    assert 'no column is known to have ratings (columns of numbers: "a", "b")' in str(error.value)
    assert "name the column of ratings (--scale a or --scale b)" in str(error.value)
    assert [scale.scale.name for scale in agreed(rows, scales=["a"]).scales] == ["a"]
    rows = score_rows(MOS=votes.mean(axis=2), OVRL=metric_of(votes, 1))
    with pytest.raises(InputError, match='columns "MOS", "OVRL" may have ratings or metrics'):
        agreed(rows)
    found = agreed(rows, scales=["MOS"])
    assert [metric.metric for metric in found.scales[0].metrics] == ["OVRL"]
    found = agreed(rows, metrics=["OVRL"])
    assert [scale.scale.name for scale in found.scales] == ["MOS"]


def test_an_output_with_two_scores_is_refused_with_its_line() -> None:
    votes = people()
    rows = vote_table(votes, utmos=metric_of(votes, 1))
    rows[1]["utmos"] = 99.0
    with pytest.raises(InputError, match="2: utmos: item i0 of system sysS0 has the score 99 here"):
        agreed(rows, metrics=["utmos"])


def test_rows_of_one_output_without_listeners_are_refused() -> None:
    votes = people()
    rows = vote_table(votes, utmos=metric_of(votes, 1))
    unnamed = [{name: cell for name, cell in row.items() if name != "subject"} for row in rows]
    message = 'missing column, but lines 1 and 2 both rate item "i0", system "sysS0"'
    with pytest.raises(InputError, match=message):
        agreed(unnamed)


def test_further_scores_may_be_named(tmp_path: Path) -> None:
    votes = people()
    both = table(tmp_path / "both.csv", mean_table(votes, utmos=metric_of(votes, 1)))
    more = table(tmp_path / "more.csv", mean_table(votes, visqol=metric_of(votes, 2)))
    found = agree([both, more], metrics=["utmos", "visqol"], **QUICK)
    assert [metric.metric for metric in found.scales[0].metrics] == ["utmos", "visqol"]
