"""api.score: joins, splits, orders, limits."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from earwitness import __version__
from earwitness.chapters.metrics import Chunks, Collar
from earwitness.engines.local import processes
from earwitness.errors import InputError, UsageError, WorkerDied
from earwitness.io import source as source_module
from earwitness.output_formats import FORMS, render
from earwitness.scoring import assembly as assembly_module
from earwitness.scoring.results import Scores
from earwitness.scoring.score import score
from helpers.csv_results import read_results
from helpers.samples import Sample, corpus, write_lines


def named(samples: list[Sample]) -> list[Sample]:
    return [{"id": f"item {i}", **sample} for i, sample in enumerate(samples)]


def joined(samples: list[Sample], systems: Iterable[str]) -> tuple[list[Any], list[Any]]:
    """The same as two lists; the second system finds every other boundary."""
    references = [
        {
            "item": f"item {i}",
            "duration": s["duration"],
            "references": [{"boundaries": s["reference"]}],
        }
        for i, s in enumerate(samples)
    ]
    outputs = [
        {
            "item": f"item {i}",
            "system": system,
            "output": {"boundaries": s["hypothesis"][:: step + 1]},
        }
        for i, s in enumerate(samples)
        for step, system in enumerate(systems)
    ]
    return outputs, references


SAMPLES = corpus(40, 600.0, 2, 12)


def test_two_files_joined_by_item_give_what_one_file_gives() -> None:
    outputs, references = joined(SAMPLES, ["a", "b"])
    rng = random.Random(0)
    rng.shuffle(outputs)
    rng.shuffle(references)
    scores = score(outputs, references)
    assert list(scores.systems) == ["a", "b"]
    assert scores.systems["a"] == score(named(SAMPLES)).systems["outputs"]
    assert [i.name for i in scores.provenance.inputs] == ["outputs", "references"]


def test_the_order_of_lines_does_not_change_a_bit() -> None:
    samples = named(SAMPLES)
    mixed = random.Random(1).sample(samples, len(samples))
    assert score(mixed).systems == score(samples).systems


@pytest.mark.parametrize("limit", [10, 100_000], ids=["poisson", "multinomial"])
def test_any_split_of_the_work_gives_the_same_bits(
    limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_lines(tmp_path / "in.jsonl", named(corpus(300, 600.0, 2, 12)))
    monkeypatch.setattr(assembly_module, "MULTINOMIAL_UP_TO", limit)
    whole = score(path)
    method = whole.systems["in"]["pk"].method
    assert method == ("bootstrap-poisson" if limit == 10 else "bootstrap-multinomial")
    for size in (1000, 20_000):
        monkeypatch.setattr(source_module, "READ_BLOCK_BYTES", size)
        assert score(path) == whole
    assert score(path, jobs=2) == whole


def test_results_of_workers_come_in_order_and_errors_reach_the_caller(tmp_path: Path) -> None:
    samples = named(SAMPLES)
    samples[17]["duration"] = -1
    path = write_lines(tmp_path / "in.jsonl", samples)
    with pytest.raises(InputError, match=":18: duration: must not be negative"):
        score(path, jobs=2)
    with pytest.raises(UsageError, match="jobs must be 1 or more, got 0"):
        processes(0)


def test_the_seed_changes_intervals_and_nothing_else() -> None:
    one, two = (score(named(SAMPLES), seed=seed).systems["outputs"]["f1"] for seed in (0, 1))
    assert one.value == two.value
    assert (one.low, one.high) != (two.low, two.high)


def test_poisson_and_multinomial_intervals_are_about_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    samples = named(corpus(400, 600.0, 2, 12))
    plain = score(samples).systems["outputs"]
    monkeypatch.setattr(assembly_module, "MULTINOMIAL_UP_TO", 10)
    flat = score(samples).systems["outputs"]
    for name, estimate in plain.items():
        other = flat[name]
        assert other.value == pytest.approx(estimate.value, abs=1e-12)
        width = estimate.high - estimate.low
        assert other.low == pytest.approx(estimate.low, abs=0.25 * width)
        assert other.high == pytest.approx(estimate.high, abs=0.25 * width)


def test_estimates_are_means_and_ratios_of_the_samples() -> None:
    found = score(SAMPLES).systems["outputs"]
    alone = [score([sample]).systems["outputs"] for sample in SAMPLES]

    def mean(name: str) -> float:
        return float(np.mean([one[name].value for one in alone]))

    for name in ("precision", "pk", "ghd", "collar_f1", "f1_sample", "num_segments"):
        assert found[name].value == pytest.approx(mean(name), abs=1e-12)
    p, r = mean("precision"), mean("recall")
    assert found["f1"].value == pytest.approx(2 * p * r / (p + r), abs=1e-12)
    # f1_micro: twice the hits over all boundary chunks of both sides
    tp = sum(one["precision"].value * one["num_segments"].value for one in alone)
    chunks = sum(o["num_segments"].value + o["reference/num_segments"].value for o in alone)
    assert found["f1_micro"].value == pytest.approx(2 * tp / chunks, abs=1e-12)


def test_undefined_cases_are_counted_per_family() -> None:
    short: Sample = {"hypothesis": [], "reference": [], "duration": 3}
    found = score([*SAMPLES[:5], short, {**short, "duration": 0}]).systems["outputs"]
    assert (found["pk"].n, found["pk"].undefined) == (5, 2)
    assert (found["collar_f1"].n, found["collar_f1"].undefined) == (7, 0)
    assert found["pk"] == dataclasses.replace(
        score(SAMPLES[:5]).systems["outputs"]["pk"],
        undefined=2,
        low=found["pk"].low,
        high=found["pk"].high,
    )


def test_where_every_case_is_undefined_so_is_the_estimate() -> None:
    found = score([{"hypothesis": [], "reference": [], "duration": 3}] * 3).systems["outputs"]
    assert found["pk"].n == 0
    assert all(math.isnan(x) for x in (found["pk"].value, found["pk"].low, found["pk"].high))


def test_one_case_has_no_interval() -> None:
    found = score(SAMPLES[:1]).systems["outputs"]["accuracy"]
    assert found.n == 1
    assert not math.isnan(found.value)
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_signature_and_provenance_say_how_to_make_it_again() -> None:
    scores = score(SAMPLES, chunk_size=3.0, seed=5, draws=50, level=0.9)
    assert scores.signature == (
        f"earwitness={__version__}|chunks(against=mean,edge=0.0,chunk_size=3.0)|collar(against=mean,edge=0.0,collar=3.0,boundary_matching=greedy)"
        "|bootstrap-multinomial(draws=50,level=0.9,seed=5)|on_error=fail"
    )
    assert (scores.provenance.seed, scores.provenance.cases) == (5, 40)
    ready = score(SAMPLES, metrics=[Chunks(3.0), Collar()], seed=5, draws=50, level=0.9)
    assert ready == scores


def test_several_values_of_a_parameter_are_scored_side_by_side() -> None:
    many = score(SAMPLES, collar=[1, 3, 10], chunk_size=(3, 6)).systems["outputs"]
    assert len(many) == 2 * len(Chunks.values) + 3 * len(Collar.values)
    for collar in (1, 3, 10):
        alone = score(SAMPLES, collar=collar).systems["outputs"]
        assert many[f"collar_f1@{collar}.0"] == alone["collar_f1"]
    assert many["pk@3.0"] == score(SAMPLES, chunk_size=3).systems["outputs"]["pk"]
    curve = [many[f"collar_recall@{collar}.0"].value for collar in (1, 3, 10)]
    assert curve == sorted(curve)


def test_several_parameters_are_combined_and_named_by_what_differs() -> None:
    both = score(SAMPLES, metrics="collar", collar=[3, 30], boundary_matching=["greedy", "optimal"])
    assert len(both.families) == 4
    found = both.systems["outputs"]
    assert found["collar_f1@30.0,optimal"].value >= found["collar_f1@30.0,greedy"].value
    ready = score(SAMPLES, metrics=[Collar(3), Collar(30)], worst=1)
    assert ready.worst_by == "collar_f1@3.0"


def outputs_with(*changes: Callable[[list[Any], list[Any]], None]) -> tuple[list[Any], list[Any]]:
    outputs, references = joined(SAMPLES[:4], ["a", "b"])
    for change in changes:
        change(outputs, references)
    return outputs, references


def test_problems_of_a_join_are_all_named() -> None:
    def spoil(outputs: list[Any], references: list[Any]) -> None:
        outputs.append({"item": "nobody", "system": "a", "output": {"boundaries": []}})
        outputs.append(outputs[0])
        del outputs[3]  # item 1 of b
        references[3]["references"] = [{"boundaries": [], "annotator": "anna"}] * 2
        references.append(references[0])

    with pytest.raises(InputError) as caught:
        score(*outputs_with(spoil))
    assert [str(problem) for problem in caught.value.problems] == [
        'outputs:8: item: no reference for "nobody" — add one, or leave the item out',
        'outputs:9: item: "item 0" is also on line 1 — keep one',
        'outputs: no output of system "b" for item "item 1"'
        " — write an empty list if it found no chapters, or set --on-error skip or empty",
        'references:4: references[1].annotator: "anna" also made references[0] [item "item 3"]',
        'references:5: item: "item 0" is also on line 1 — keep one',
    ]


def test_a_missing_output_is_skipped_or_scored_as_empty() -> None:
    def spoil(outputs: list[Any], references: list[Any]) -> None:
        del references
        del outputs[3]
        outputs[0]["output"] = {"boundaries": ["x"]}

    outputs, references = outputs_with(spoil)
    skipped = score(outputs, references, on_error="skip")
    assert [(x.key.item, x.key.system) for x in skipped.skipped] == [
        ("item 0", "a"),
        ("item 1", "b"),
    ]
    assert {s: e["pk"].n for s, e in skipped.systems.items()} == {"a": 3, "b": 3}
    emptied = score(outputs, references, on_error="empty")
    assert [(x.key.item, x.key.system) for x in emptied.emptied] == [
        ("item 0", "a"),
        ("item 1", "b"),
    ]
    assert {s: e["pk"].n for s, e in emptied.systems.items()} == {"a": 4, "b": 4}
    outputs[0]["output"] = {"boundaries": []}
    outputs.append({"item": "item 1", "system": "b", "output": {"boundaries": []}})
    assert repr(score(outputs, references).systems) == repr(emptied.systems)  # NaN is not NaN


def test_a_system_with_nothing_good_is_listed_and_the_rest_is_scored() -> None:
    outputs, references = joined(SAMPLES[:2], ["a", "b"])
    for output in outputs:
        if output["system"] == "b":
            output["output"] = {}
    scores = score(outputs, references, on_error="skip")
    assert list(scores.systems) == ["a"]
    assert scores.notes == (
        'system "b" is not in the tables because all of its outputs were skipped',
    )
    assert [left.key.system for left in scores.skipped] == ["b", "b"]


def test_texts_that_nobody_scores_are_noted() -> None:
    outputs, references = joined(SAMPLES[:2], ["a"])
    references[0]["references"][0]["titles"] = [["a", 0]]
    references[1]["transcript"] = "a b c"
    outputs[1]["output"] = {"transcript": "# 0:01 x\na b", "preset": "markdown_ts"}
    assert score(outputs, references).notes == (
        "titles are available (1); use --metric titles to score them",
        "transcripts are available (1); use --metric wer to score them",
    )
    (note,) = score(outputs, references, metrics=["titles", "wer"]).notes
    assert note.startswith(
        "tm_rl_precision, tm_rl_recall, tm_rl_f1 are undefined for all outputs: no"
    )


def test_metrics_of_texts_that_nobody_gave_are_noted() -> None:
    outputs, references = joined(SAMPLES[:2], ["a"])
    references[1]["transcript"] = "a b c"
    assert score(outputs, references, metrics=["wer", "sentences"]).notes == (
        "sentences is undefined for all outputs: no item has sentences, subtitles or words with "
        "times",
        "wer is undefined for all outputs: no item has both a transcript and an output with text",
    )
    references[1]["transcript"] = "今日は雨が降ります"
    outputs[1]["output"] = {"transcript": "# 0:01 x\n今日は雨が", "preset": "markdown_ts"}
    [note] = score(outputs, references, metrics=["wer"]).notes
    assert note.startswith("transcripts in a script without spaces between words (1): wer counts")


def test_times_past_the_end_or_before_the_start_are_noted() -> None:
    odd = {"hypothesis": [300_000, -1], "reference": [300, 900_000], "duration": 1800}
    fine = {"hypothesis": [10], "reference": [10], "duration": 1800}
    assert score([fine, odd]).notes == (
        "Check the times: 1 boundary lies before 0",
        "Check the times: 2 boundaries lie past the duration",
    )


def test_systems_scored_on_different_items_are_noted() -> None:
    outputs, references = joined(SAMPLES[:4], ["a", "b"])
    assert score(outputs, references).notes == ()
    del outputs[3], outputs[4]  # one item of each system, not the same one
    notes = score(outputs, references, on_error="skip").notes
    assert notes == ("not all systems were scored on the same items — compare them with care",)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("o", "", "looks like an outputs file — give the references file"),
        ("r", "", "looks like a references file — give the outputs file"),
        ("r", "o", "outputs file — are the two files swapped"),
        (
            "s",
            "r",
            "has outputs and references, as in chunkseg — give only this file",
        ),
        (
            "o",
            "s",
            "has outputs and references, as in chunkseg — give only one file",
        ),
        ("o", "nothing", "references: contains no references"),
        ("r", "r", "looks like a references file — are the two files swapped"),
    ],
)
def test_a_file_in_the_wrong_place_is_recognised(first: str, second: str, message: str) -> None:
    outputs, references = joined(SAMPLES[:4], ["a", "b"])
    files: dict[str, Any] = {"o": outputs, "r": references, "s": SAMPLES, "nothing": [], "": None}
    with pytest.raises(InputError, match=message) as caught:
        score(files[first], files[second])
    assert caught.value.count == 1


def test_a_near_item_is_suggested() -> None:
    outputs, references = joined(SAMPLES[:2], ["alpha"])
    outputs[0]["item"] = "itme 0"
    with pytest.raises(InputError, match='no reference for "itme 0" — did you mean "item 0"'):
        score(outputs, references)


def test_results_are_rendered_in_every_form() -> None:
    scores = score(SAMPLES)
    assert all(scores.signature.split("|")[0] in render(scores, to) for to in FORMS)
    with pytest.raises(UsageError, match='unknown output format "jsn" — did you mean "json"'):
        render(scores, "jsn")


def test_standard_input_cannot_be_both_sides() -> None:
    with pytest.raises(UsageError, match="not for both"):
        score("-", "-")


def test_whole_numbers_and_floats_have_the_same_signature() -> None:
    assert score(SAMPLES, collar=5).signature == score(SAMPLES, collar=5.0).signature


def test_a_nan_in_a_record_is_called_by_its_name() -> None:
    with pytest.raises(InputError, match=r"hypothesis\[0\]: must be finite, got NaN"):
        score([{"hypothesis": [float("nan")], "reference": [], "duration": 60}])


def test_a_worker_that_dies_is_reported() -> None:
    with pytest.raises(
        WorkerDied, match="a worker process died — check that there is enough memory"
    ):
        list(processes(2)(_die, range(10)))


def _die(number: int) -> None:
    os._exit(number + 3)


def test_rows_of_samples_are_in_the_order_of_the_lines(tmp_path: Path) -> None:
    outputs, references = joined(SAMPLES, ["b", "a"])
    score(outputs, references, samples=tmp_path / "table.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "table.jsonl").read_text().splitlines()]
    assert [(r["item"], r["system"]) for r in rows] == [(o["item"], o["system"]) for o in outputs]


def test_the_worst_samples_come_worst_first() -> None:
    samples = named(SAMPLES)
    scores = score(samples, worst=3)
    every = sorted(samples, key=lambda s: (value(s, "boundary_similarity"), s["id"]))
    assert scores.worst_by == "boundary_similarity"
    assert [one.key.item for one in scores.worst] == [s["id"] for s in every[:3]]
    by_ghd = score(samples, worst=1, worst_by="ghd").worst[0]
    assert score(samples, worst_by="ghd") == score(samples, worst=5, worst_by="ghd")
    assert by_ghd.values["ghd"] == max(value(s, "ghd") for s in samples)


def value(sample: Sample, name: str) -> float:
    return score([sample]).systems["outputs"][name].value


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_the_table_of_samples_has_a_row_a_case(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"samples{ending}"
    short: Sample = {"id": "short", "hypothesis": [], "reference": [], "duration": 3}
    rows: list[Any]
    scores = score([*named(SAMPLES), short], samples=path)
    if ending == ".csv":
        facts, rows = read_results(path.read_text())
        assert facts.keys() == {"signature"}
        pk = {row["item"]: float(row["pk"] or "nan") for row in rows}
    else:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        values = {row["item"]: row["values"]["pk"] for row in rows}
        pk = {item: float("nan") if x is None else x for item, x in values.items()}
    assert len(rows) == 41
    assert math.isnan(pk.pop("short"))
    assert np.nanmean(list(pk.values())) == pytest.approx(scores.systems["outputs"]["pk"].value)


def test_nothing_is_written_unless_all_of_the_input_is_good(tmp_path: Path) -> None:
    path = tmp_path / "samples.csv"
    path.write_text("what was there before")
    with pytest.raises(InputError):
        score([*SAMPLES, {}], samples=path)
    assert path.read_text() == "what was there before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"draws": 0}, "draws must be 1 or more, got 0"),
        ({"level": 95}, "level must be between 0 and 1"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"on_error": "ignore"}, "on_error must be one of fail, skip, empty"),
        ({"worst": -1}, "worst must be 0 or more"),
        ({"worst": 0, "worst_by": "pk"}, "worst_by requires items to show"),
        ({"metric": "collar"}, 'no parameter|has a parameter "metric" — did you mean "metrics"'),
        ({"worst": 1, "worst_by": "pkk"}, 'unknown value "pkk" — did you mean "pk"'),
        ({"worst": 1, "worst_by": "num_segments"}, "no better direction"),
        ({"metrics": []}, "name at least one metric"),
        ({"metrics": ["chunks", "chunks"]}, "listed twice"),
        ({"collar": [3, 3.0]}, "listed twice"),
        ({"collar": [0.0, -0.0]}, "listed twice"),
        ({"metrics": ["chonks"]}, 'unknown metric "chonks" — did you mean "chunks"'),
        ({"wrst": 3}, 'no chosen metric has a parameter "wrst" — did you mean "worst"'),
        ({"metric": "pk"}, 'did you mean "metrics"'),
        ({"chunksize": 3}, 'no chosen metric has a parameter "chunksize" — did you mean "chunk_s'),
        ({"chunk_size": 0}, "chunk_size must be a finite number of at least 0.001, got 0"),
        ({"collar": "3"}, "collar must be a finite number of at least 0, got '3'"),
        ({"draws": 10.0}, "draws must be a whole number, got 10.0"),
        ({"system": ""}, "system must be printable text, got ''"),
        ({"samples": "table.txt"}, "use .csv or .jsonl"),
        ({"samples": "no/folder/table.csv"}, "the folder no/folder does not exist"),
    ],
)
def test_bad_arguments_are_refused_with_a_remedy(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        score(SAMPLES, **arguments)


def test_a_system_is_named_only_with_one_file() -> None:
    assert list(score(SAMPLES, system="mine").systems) == ["mine"]
    outputs, references = joined(SAMPLES, ["a"])
    with pytest.raises(UsageError, match="system can be set only if"):
        score(outputs, references, system="mine")


def test_progress_tells_bytes_and_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_lines(tmp_path / "in.jsonl", SAMPLES)
    monkeypatch.setattr(source_module, "READ_BLOCK_BYTES", 1000)
    told: list[tuple[int, int | None, int]] = []
    score(path, progress=lambda *now: told.append(now))
    size = path.stat().st_size
    assert len(told) > 3
    assert told[-1] == (size, size, 40)
    assert [cases for _, _, cases in told] == sorted(cases for _, _, cases in told)


def test_input_may_be_any_iterable() -> None:
    def stream() -> Iterator[Sample]:
        yield from SAMPLES

    assert score(stream()) == score(SAMPLES)


def test_the_result_is_frozen() -> None:
    scores = score(SAMPLES)
    assert isinstance(scores, Scores)
    with pytest.raises(dataclasses.FrozenInstanceError):
        scores.signature = ""  # type: ignore[misc]
