"""Skims of a method with several z, scored from files: the course from TC to SD."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earwitness.core import Estimate
from earwitness.errors import InputError
from earwitness.io import source
from earwitness.output_formats import render
from earwitness.scoring.compare import compare
from earwitness.scoring.results import Scores
from earwitness.scoring.score import score
from earwitness.skims.types import MeanTradeoffCurve
from helpers.csv_results import read_results
from helpers.random_days import made
from helpers.samples import corpus, many, write_lines
from skims.test_reader import write_blocks

ZS = (0.0, 0.25, 0.5, 1.0)
Line = dict[str, Any]


def line(item: str, method: str, z: Any, times: Sequence[float]) -> Line:
    meta = {"method": method, "z": z}
    return {
        "item": item,
        "system": f"{method}-z{z}",
        "output": {"times": list(times)},
        "meta": meta,
    }


def some(item: str, method: str, zs: Sequence[float] = ZS, seed: int = 0) -> list[Line]:
    """Six blocks at random for every z."""
    rng = np.random.default_rng([seed, *f"{item} {method}".encode()])
    picked = [sorted(rng.choice(100, 6, replace=False).tolist()) for _ in zs]
    return [
        line(item, method, z, [8.0 * n for n in own]) for z, own in zip(zs, picked, strict=True)
    ]


def recordings(folder: Path, items: Sequence[str]) -> Path:
    for item in items:
        write_blocks(folder / f"{item}.npz", made(sum(item.encode()), 100, drift=9.0))
    lines = [{"item": item, "blocks": f"{item}.npz"} for item in items]
    return write_lines(folder / "recordings.jsonl", lines)


def scored(folder: Path, lines: Sequence[Line], **options: Any) -> Scores:
    items = sorted({one["item"] for one in lines})
    outputs = write_lines(folder / "outputs.jsonl", lines)
    return score(outputs, recordings(folder, items), **{"period": 100.0, "draws": 50} | options)


def course(scores: Scores, method: str) -> MeanTradeoffCurve:
    curves: tuple[MeanTradeoffCurve, ...] = scores.part("courses").curves
    (found,) = [one for one in curves if one.method == method]
    return found


def plain_area(tc: Sequence[float], sd: Sequence[float]) -> float:
    """Strips below the points in the order of TC, and what lies left of the first."""
    points = sorted(zip(tc, sd, strict=True))
    strips = [(b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(points)]
    return points[0][0] * points[0][1] + math.fsum(strips)


def plain_spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """Pearson's correlation of ranks; equal numbers share the mean of theirs."""
    ranks = []
    for numbers in (one, other):
        ranks.append([fmean(r for r, y in enumerate(sorted(numbers)) if y == x) for x in numbers])
    means = [fmean(own) for own in ranks]
    apart = [[r - mean for r in own] for own, mean in zip(ranks, means, strict=True)]
    above = math.fsum(a * b for a, b in zip(*apart, strict=True))
    return above / math.sqrt(math.prod(math.fsum(a * a for a in own) for own in apart))


def cases(path: Path) -> dict[tuple[str, str], tuple[float, float]]:
    """TC and SD of every case in a table of samples."""
    _, rows = read_results(path.read_text())
    return {(row["item"], row["system"]): (float(row["tc"]), float(row["sd"])) for row in rows}


def test_a_course_is_the_mean_of_what_is_counted_by_hand(tmp_path: Path) -> None:
    items = [f"i{n}" for n in range(6)]
    lines = [one for item in items for method in ("ours", "theirs") for one in some(item, method)]
    table = tmp_path / "samples.csv"
    found = scored(tmp_path, lines, samples=table)
    assert [one.method for one in found.part("courses").curves] == ["ours", "theirs"]
    known = cases(table)
    for method in ("ours", "theirs"):
        own = course(found, method)
        rows = [[known[item, f"{method}-z{z}"] for z in ZS] for item in items]
        sides = [tuple(zip(*row, strict=True)) for row in rows]
        hand = {
            "area": [plain_area(*side) for side in sides],
            "tc_with_z": [plain_spearman(ZS, tc) for tc, _ in sides],
            "sd_with_z": [plain_spearman(ZS, sd) for _, sd in sides],
        }
        for name, each in hand.items():
            estimate = own.estimates[name]
            assert estimate.value == pytest.approx(fmean(each), abs=1e-12)
            assert min(each) <= estimate.low <= estimate.value <= estimate.high <= max(each)
            assert (estimate.n, estimate.undefined) == (6, 0)
            assert estimate.method == "bootstrap-multinomial"
        assert [point.z for point in own.points] == [*ZS]
        for point in own.points:  # there is one system for every z here
            system = found.systems[f"{method}-z{point.z}"]
            assert (point.tc, point.sd) == (system["tc"], system["sd"])


def test_one_item_has_numbers_but_no_interval(tmp_path: Path) -> None:
    own = course(scored(tmp_path, some("a", "ours")), "ours").estimates["area"]
    assert own.n == 1
    assert own.value > 0
    assert math.isnan(own.low)
    assert math.isnan(own.high)


def test_items_with_fewer_than_three_z_are_undefined_and_counted(tmp_path: Path) -> None:
    lines = [*some("a", "ours"), *some("b", "ours", ZS[:2]), *some("b", "two", ZS[:2])]
    found = scored(tmp_path, lines, on_error="skip")
    (own,) = found.part("courses").curves  # a method that has nowhere three has no course
    alone = course(scored(tmp_path, some("a", "ours")), "ours")
    for name, estimate in own.estimates.items():
        assert (estimate.n, estimate.undefined) == (1, 1)
        assert estimate.value == alone.estimates[name].value
    assert not any("trade-off" in note for note in found.notes)
    assert "1 + 1 undefined" in render(found)


def test_a_skim_without_a_value_leaves_its_item_without_a_course(tmp_path: Path) -> None:
    lines = [*some("a", "ours"), *some("b", "ours")]
    lines[-1]["output"]["times"] = [900.0]  # where nothing was recorded
    references = recordings(tmp_path, "ab")
    day = made(0, 100, drift=9.0)
    write_blocks(tmp_path / "b.npz", day, starts=day.starts + 1000 * (np.arange(100) >= 99))
    outputs = write_lines(tmp_path / "outputs.jsonl", lines)
    found = score(outputs, references, period=100.0, draws=10)
    assert found.systems["ours-z1.0"]["tc"].undefined == 1
    for estimate in course(found, "ours").estimates.values():
        assert (estimate.n, estimate.undefined) == (1, 1)
    assert [point.tc.n for point in course(found, "ours").points] == [1, 1, 1, 1]


def exactly(scores: Scores) -> str:
    """Courses to compare; NaN is the same as NaN, and every digit counts."""
    assert scores.part("courses").curves
    return repr(scores.part("courses").curves)


@settings(max_examples=many(5, 40), deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_of_lines_does_not_matter(tmp_path_factory: Any, random: Any) -> None:
    folder = tmp_path_factory.mktemp("lines")
    lines = [one for n in range(5) for method in "xy" for one in some(f"i{n}", method)]
    first = scored(folder, lines)
    random.shuffle(lines)
    assert exactly(scored(folder, lines)) == exactly(first)


def test_methods_are_told_from_names_of_systems_where_meta_has_none(tmp_path: Path) -> None:
    lines = [*some("a", "pareto"), *some("a", "night_owl")]
    named = scored(tmp_path, lines)
    for one in lines:
        del one["meta"]["method"]
    told = scored(tmp_path, lines)
    assert exactly(told) == exactly(named)
    for one, name in zip(lines, "stuvwxyz", strict=True):
        one["system"] = name
    found = scored(tmp_path, lines)
    assert not found.part("courses").curves
    assert (
        "no method has three values of z for an item, so there are no trade-off curves"
        " — name the method in meta" in found.notes
    )


@pytest.mark.parametrize("z", ["0.5", True, -0.1, 1.5, [0.5], 10**400])
def test_a_z_that_is_none_is_told_and_left_out_of_the_course(tmp_path: Path, z: Any) -> None:
    lines = some("a", "ours")
    bad = line("a", "ours", 0.75, [8.0, 80.0])
    bad["meta"]["z"] = z
    found = scored(tmp_path, [*lines, bad])
    told = "1 output has a z in meta that is not a number from 0 to 1: left out of trade-off curves"
    assert told in found.notes
    assert exactly(found) == exactly(scored(tmp_path, lines))
    assert found.systems["ours-z0.75"]["tc"].n == 1


def test_a_z_that_is_not_there_is_no_z(tmp_path: Path) -> None:
    lines = some("a", "ours")
    for meta in ({}, {"z": None}, {"method": "ours"}):
        other = line("a", "ours", 0.75, [8.0, 80.0]) | {"meta": meta}
        found = scored(tmp_path, [*lines, other])
        assert exactly(found) == exactly(scored(tmp_path, lines))
        assert not any("z" in note.split() for note in found.notes)


def test_a_z_that_is_not_json_is_refused_as_everywhere(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not strict JSON"):
        scored(tmp_path, some("a", "ours", (0.0, 0.5, math.nan)))


def test_a_z_that_comes_twice_leaves_its_item_undefined(tmp_path: Path) -> None:
    lines = [*some("a", "ours"), *some("b", "ours")]
    again = lines[0] | {"system": "ours again", "output": {"times": [8.0]}}
    found = scored(tmp_path, [*lines, again], on_error="skip")
    area = course(found, "ours").estimates["area"]
    assert (area.n, area.undefined) == (1, 1)
    assert area.value == course(scored(tmp_path, some("b", "ours")), "ours").estimates["area"].value
    assert (
        'method "ours" has a z twice for 1 item, which has no trade-off curve'
        " — use different method names in meta" in found.notes
    )


def test_a_method_without_one_defined_item_is_shown_as_undefined(tmp_path: Path) -> None:
    lines = some("a", "ours")
    again = lines[0] | {"system": "ours again"}
    found = scored(tmp_path, [*lines, again])
    own = course(found, "ours")
    assert own.points == ()
    for estimate in own.estimates.values():
        assert (estimate.n, estimate.undefined) == (0, 1)
        assert math.isnan(estimate.value)
    assert "0 + 1 undefined  – [–, –]" in render(found)
    assert "Trade-<wbr/>off between TC and SD" in render(found, "html")


def test_z_of_an_item_may_stand_in_different_blocks_of_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [one for z in ZS for n in range(5) for one in some(f"i{n}", "ours", (z,), int(9 * z))]
    whole = scored(tmp_path, lines)
    monkeypatch.setattr(source, "READ_BLOCK_BYTES", 1)
    assert sum(1 for _ in source.RecordSource(tmp_path / "outputs.jsonl").blocks()) > len(ZS)
    assert exactly(scored(tmp_path, lines)) == exactly(whole)


def test_a_line_that_is_left_out_is_in_no_course(tmp_path: Path) -> None:
    lines = some("a", "ours")
    repeated = lines[0] | {"output": {"times": [8.0]}}
    found = scored(tmp_path, [*lines, repeated], on_error="skip")
    assert exactly(found) == exactly(scored(tmp_path, lines))


def test_baselines_stand_beside_courses_and_have_none(tmp_path: Path) -> None:
    wanted = ["downsampling", "random", "calibration_tc", "calibration_sd"]
    found = scored(tmp_path, some("a", "ours"), baselines=wanted)
    assert [one.method for one in found.part("courses").curves] == ["ours"]
    assert found.systems["(calibration_tc)"]["tc"].value == 1
    assert found.systems["(calibration_sd)"]["sd"].value == 1
    assert {f"({name})" for name in wanted} < {*found.systems}


def test_every_metric_has_its_own_courses(tmp_path: Path) -> None:
    found = scored(tmp_path, some("a", "ours"), period=[100.0, 400.0])
    assert len(found.part("courses").curves) == 2
    for one, period in zip(found.part("courses").curves, (100.0, 400.0), strict=True):
        assert one.family == f"skims(embedder=codebook,block=8.0,period={period})"
        (alone,) = scored(tmp_path, some("a", "ours"), period=period).part("courses").curves
        assert repr(one.estimates) == repr(alone.estimates)
    assert render(found).count("trade-off between tc and sd, skims(") == 2


def record(estimate: Estimate) -> dict[str, Any]:
    known = {name: getattr(estimate, name) for name in ("value", "low", "high")}
    return {n: None if math.isnan(x) else x for n, x in known.items()}


def test_reports_of_all_kinds_have_the_numbers(tmp_path: Path) -> None:
    found = scored(tmp_path, [o for n in range(5) for m in "xy" for o in some(f"i{n}", m)])
    own = course(found, "x")
    area = own.estimates["area"]
    cell = f"{area.value:.3f} [{area.low:.3f}, {area.high:.3f}]"
    for form in ("text", "md", "latex"):
        assert cell in render(found, form, table="full").replace("\\", ""), form
    page = render(found, "html")
    assert page.count('class="scatter ') == 1  # one plane for both methods
    assert page.count("<polyline") == 2
    assert all(f">z = {z:g}</span>" in page or f"z = {z:g}:" in page for z in ZS)
    courses = json.loads(render(found, "json"))["courses"]
    assert [one["method"] for one in courses] == ["x", "y"]
    assert record(area).items() <= courses[0]["estimates"]["area"].items()
    assert [point["z"] for point in courses[0]["points"]] == [*ZS]
    assert record(own.points[0].sd).items() <= courses[0]["points"][0]["sd"].items()
    rows = read_results(render(found, "csv"))[1]
    (row,) = [r for r in rows if (r["field"], r["system"], r["name"]) == ("(z)", "x", "area")]
    assert float(row["value"]) == area.value
    assert row["group"] == own.family


def test_a_comparison_has_courses_too(tmp_path: Path) -> None:
    lines = [one for n in range(5) for one in some(f"i{n}", "ours")]
    scores = scored(tmp_path, lines)
    paths = tmp_path / "outputs.jsonl", tmp_path / "recordings.jsonl"
    found = compare(*paths, period=100.0, draws=50, permutations=20)
    assert exactly(found.scores) == exactly(scores)
    assert "Trade-<wbr/>off between TC and SD" in render(found, "html")


def test_other_tasks_have_no_courses_whatever_their_meta_says() -> None:
    samples = list(enumerate(corpus(3, 900.0, 2, 9)))
    references = [
        {"item": i, "duration": 900, "references": [{"boundaries": s["reference"]}]}
        for i, s in samples
    ]
    outputs = [
        {"item": i, "system": f"s-z{z}", "output": {"boundaries": [60.0]}, "meta": {"z": z}}
        for i, _ in samples
        for z in ZS
    ]
    found = score(outputs, references, draws=10)
    assert found.parts == ()
    assert not any("z" in note.split() for note in found.notes)
