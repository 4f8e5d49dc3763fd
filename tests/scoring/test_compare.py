"""api.compare and its command."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from earwitness.cli.main import main
from earwitness.errors import UsageError
from earwitness.output_formats import FORMS, render
from earwitness.report import apply_renderer
from earwitness.report.parts import Matrix
from earwitness.report.tables import part_tables
from earwitness.scoring import compare as compare_module
from earwitness.scoring.compare import compare
from earwitness.scoring.results import Comparison
from earwitness.scoring.score import score
from helpers.samples import Sample, corpus, write_lines

SAMPLES = corpus(30, 600.0, 4, 12)


def files(samples: list[Sample] = SAMPLES, **steps: int) -> tuple[list[Any], list[Any]]:
    """A system keeps every so-many-th boundary."""
    references = [
        {"item": i, "duration": s["duration"], "references": [{"boundaries": s["reference"]}]}
        for i, s in enumerate(samples)
    ]
    outputs = [
        {"item": i, "system": name, "output": {"boundaries": s["hypothesis"][::step]}}
        for i, s in enumerate(samples)
        for name, step in steps.items()
    ]
    return outputs, references


def contrast(comparison: Comparison, value: str, a: str, b: str) -> Any:
    return next(c for c in comparison.contrasts if (c.value, c.a, c.b) == (value, a, b))


def test_a_clear_difference_is_told_and_its_direction_is_right() -> None:
    found = compare(*files(a=1, b=3), values=["collar_recall", "pk"])
    recall, pk = found.contrasts
    assert recall.difference.value > 0
    assert recall.difference.low > 0
    assert recall.better == pk.better == "a"  # low is good for pk
    assert pk.difference.value < 0
    assert recall.p == recall.p_corrected < 0.001


def test_differences_are_those_of_the_scores() -> None:
    outputs, references = files(a=1, b=2, c=3)
    found = compare(outputs, references, values=["f1", "f1_micro", "collar_f1"])
    scores = score(outputs, references)
    assert found.scores == scores
    assert (found.items, len(found.contrasts)) == (30, 9)
    for c in found.contrasts:
        want = scores.systems[c.a][c.value].value - scores.systems[c.b][c.value].value
        assert c.difference.value == pytest.approx(want, abs=1e-12)
        assert c.difference.low <= c.difference.value <= c.difference.high


def test_equal_systems_cannot_be_told_apart() -> None:
    (found,) = compare(*files(a=1, b=1), metrics="collar").contrasts
    assert (found.difference.value, found.difference.low, found.difference.high) == (0, 0, 0)
    assert (found.p, found.p_corrected, found.better) == (1, 1, "")


def test_swapping_the_names_turns_the_signs() -> None:
    one = contrast(compare(*files(a=1, b=2), metrics="collar"), "collar_f1", "a", "b")
    two = contrast(compare(*files(a=2, b=1), metrics="collar"), "collar_f1", "a", "b")
    assert two.difference.value == pytest.approx(-one.difference.value, abs=1e-12)
    assert two.difference.low == pytest.approx(-one.difference.high, abs=1e-12)
    assert two.p == pytest.approx(one.p)


def test_holm_looks_at_all_pairs_of_one_value() -> None:
    found = compare(*files(a=1, b=1, c=2), metrics="collar").contrasts
    by_pair = {(c.a, c.b): c for c in found}
    assert by_pair["a", "c"].p_corrected == pytest.approx(3 * by_pair["a", "c"].p)
    assert by_pair["a", "b"].p_corrected == 1


def test_only_items_that_all_systems_answered_are_compared() -> None:
    outputs, references = files(a=1, b=2)
    short = [o for o in outputs if not (o["system"] == "b" and o["item"] < 10)]
    found = compare(short, references, on_error="skip", metrics="collar")
    assert found.items == 20
    late = [o for o in outputs if o["item"] >= 10]
    same = compare(late, references[10:], metrics="collar")
    assert found.contrasts == same.contrasts


def test_a_system_that_is_silent_on_hard_items_does_not_win_by_silence() -> None:
    brave = [[31.0] if i < 10 else [40.0] for i in range(20)]
    silent = [[32.0] if i < 10 else [] for i in range(20)]
    references = [
        {"item": i, "duration": 600, "references": [{"boundaries": [30]}]} for i in range(20)
    ]
    outputs = [
        {"item": i, "system": name, "output": {"boundaries": boundaries[i]}}
        for i in range(20)
        for name, boundaries in (("brave", brave), ("silent", silent))
    ]
    (found,) = compare(outputs, references, metrics="deviation").contrasts
    assert (found.better, found.difference.value) == ("brave", -1)  # 1 s off, not 2 s
    assert (found.difference.n, found.difference.undefined) == (10, 10)


def test_estimates_beside_the_matrix_are_those_of_the_common_items() -> None:
    outputs, references = files(a=1, b=2)
    short = [o for o in outputs if not (o["system"] == "b" and o["item"] < 10)]
    found = compare(short, references, on_error="skip", metrics="collar")
    late = score([o for o in outputs if o["item"] >= 10], references[10:])
    assert found.systems["a"]["collar_f1"] == late.systems["a"]["collar_f1"]
    assert found.scores.systems["a"]["collar_f1"].n == 30


def test_the_same_seed_gives_the_same_bytes_whoever_does_the_work(tmp_path: Path) -> None:
    outputs, references = files(a=1, b=2)
    paths = (
        write_lines(tmp_path / "o.jsonl", outputs),
        write_lines(tmp_path / "r.jsonl", references),
    )
    one = render(compare(*paths), "json")
    assert render(compare(*paths, jobs=2), "json") == one
    assert render(compare(*paths, seed=1), "json") != one


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": ["pkk"]}, 'unknown value "pkk" — did you mean "pk"'),
        ({"values": ["num_segments"]}, "no better direction"),
        ({"collar": []}, "collar must have at least one value"),
        ({"collar": None}, "collar must be a finite number"),
        ({"permutations": 0}, "permutations must be 1 or more"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare(*files(a=1, b=2), **arguments)


def test_a_value_named_twice_is_compared_once() -> None:
    found = compare(*files(a=1, b=2), values=["pk", "pk"])
    assert [c.value for c in found.contrasts] == ["pk"]
    assert compare(*files(a=1, b=2), values="pk").contrasts == found.contrasts


def test_too_many_items_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_module, "MAX_PAIRED_ITEMS", 20)
    with pytest.raises(UsageError, match="at most 20 per system"):
        compare(*files(a=1, b=2))


def test_one_system_alone_is_refused() -> None:
    with pytest.raises(UsageError, match="only one system, a — a comparison needs at least two"):
        compare(*files(a=1))


def test_systems_without_a_common_item_are_refused() -> None:
    outputs, references = files(a=1, b=2)
    apart = [o for o in outputs if (o["system"] == "a") == (o["item"] < 10)]
    with pytest.raises(UsageError, match="no item has outputs of all systems"):
        compare(apart, references, on_error="skip")


def test_undefined_differences_are_never_verdicts() -> None:
    short: Sample = {"hypothesis": [], "reference": [], "duration": 3}
    found = compare(*files([short, short], a=1, b=1), metrics="chunks").contrasts[0]
    assert math.isnan(found.difference.value)
    assert math.isnan(found.p)
    assert math.isnan(found.p_corrected)
    assert found.better == ""


@pytest.mark.parametrize("to", FORMS)
def test_every_medium_carries_the_signature(to: str) -> None:
    found = compare(*files(a=1, b=2))
    assert found.signature in render(found, to).replace("\\", "")


def test_csv_and_json_hold_the_same_numbers() -> None:
    found = compare(*files(a=1, b=2, c=3))
    rows = list(csv.DictReader(render(found, "csv").splitlines()[1:]))
    records = json.loads(render(found, "json"))["contrasts"]
    for row, record, c in zip(rows, records, found.contrasts, strict=True):
        assert (row["name"], row["a"], row["b"]) == (c.value, c.a, c.b)
        assert float(row["value"]) == record["difference"]["value"] == c.difference.value
        assert float(row["p_corrected"]) == record["p_corrected"] == c.p_corrected
        assert dataclasses.asdict(c.difference)["n"] == int(row["n"]) == 30


def test_the_command_prints_the_matrix(
    example: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    inputs = [str(example / "outputs.jsonl"), str(example / "references.jsonl")]
    main(["compare", *inputs, "--metric", "collar", "--value", "collar_recall"])
    shown = capsys.readouterr().out
    assert "collar_recall ↑: pairwise comparison" in shown
    main(["compare", *inputs, "-o", str(tmp_path / "c.json"), "--jobs", "1", "--level", "0.999"])
    assert json.loads((tmp_path / "c.json").read_text())["alpha"] == 0.001
    assert np.isfinite(json.loads((tmp_path / "c.json").read_text())["contrasts"][0]["p"])


def test_the_matrix_ranks_systems_and_has_the_best_first() -> None:
    outputs, references = files(bad=6, good=1, middle=2)
    report = apply_renderer(
        compare(outputs, references, metrics="collar", permutations=100), "report"
    )
    [matrix] = report.sections[1].parts
    assert isinstance(matrix, Matrix)
    means = [estimate.value for estimate in matrix.systems.values() if estimate]
    assert [*matrix.systems] == ["good", "middle", "bad"]
    assert means == sorted(means, reverse=True)


@pytest.mark.parametrize(
    ("items", "limit"),
    [
        (2, "with 3 pairs and 2 items, p = 1.0000 is the smallest possible; at least 7 items are"),
        (4, "with 3 pairs and 4 items, p = 0.3750 is the smallest possible; at least 7 items are"),
        (6, "with 3 pairs and 6 items, p = 0.0938 is the smallest possible; at least 7 items are"),
        (7, ""),
    ],
)
def test_too_few_items_for_any_significant_difference_are_said_first(
    items: int, limit: str
) -> None:
    comparison = compare(*files(SAMPLES[:items], good=1, middle=2, bad=6), metrics="collar")
    [line, *_] = render(comparison, width=400).splitlines()
    first = f"No difference between systems could be significant by collar_f1: {limit}"
    assert line.startswith(first) == bool(limit)
    assert not (limit and any(contrast.better for contrast in comparison.contrasts))


def test_differences_are_in_the_order_of_the_matrix() -> None:
    comparison = compare(*files(bad=6, good=1, middle=2), metrics="collar", permutations=100)
    [matrix] = apply_renderer(comparison, "report").sections[1].parts
    _, table = part_tables(matrix)
    assert [row[:2] for row in table.rows] == [
        ("good", "middle"),
        ("good", "bad"),
        ("middle", "bad"),
    ]
    assert not any(row[2].startswith("−") for row in table.rows)
    page = render(comparison, "html")
    results = page[page.index("Results</h2>") :]
    assert results.index(">good<") < results.index(">middle<") < results.index(">bad<")
