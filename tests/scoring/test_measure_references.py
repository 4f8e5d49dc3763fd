"""Scores against fewer references, drawn again and again."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from earwitness.cli.main import group
from earwitness.errors import UsageError
from earwitness.metaeval.score_tables import read_scores
from earwitness.scoring.measure import first_rows, order_people
from earwitness.scoring.score import score
from helpers.csv_results import read_results
from helpers.samples import many, write_lines

EXAMPLES = Path(__file__).parents[2] / "examples"
TASKS: dict[str, dict[str, Any]] = {
    "chapters": {"metrics": ["collar", "chunks"]},
    "summaries": {"metrics": ["sumaccy", "kept"], "baselines": "lead"},
}
PEOPLE = {"chapters": "annotators.jsonl", "summaries": "references.jsonl"}


def lines(path: Path) -> list[dict[str, Any]]:
    """Records of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def both(task: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Outputs and references of an example."""
    folder = EXAMPLES / task
    return lines(folder / "outputs.jsonl"), lines(folder / PEOPLE[task])


def table(path: Path, *data: Any, **options: Any) -> list[dict[str, Any]]:
    """Rows of the table of samples."""
    score(*data, samples=path, draws=1, **options)
    return lines(path)


def values(rows: list[dict[str, Any]], references: int, draw: int) -> dict[Any, dict[str, float]]:
    """Values of one draw by output."""
    return {
        (one["item"], one["system"]): one["values"]
        for one in rows
        if (one["references"], one["draw"]) == (references, draw)
    }


@pytest.mark.parametrize("against", ["mean", "best"])
def test_a_draw_of_one_of_two_references_is_a_score_against_one_of_them(
    tmp_path: Path, against: str
) -> None:
    people = [{"annotator": "A", "boundaries": [60]}, {"annotator": "B", "boundaries": [60, 120]}]
    outputs = [{"item": "a", "system": "S", "output": {"boundaries": [60]}}]
    references = [{"item": "a", "duration": 180, "references": people}]
    how = {"metrics": "collar", "against": against, "reference_counts": 1, "repeats": 20}
    rows = table(tmp_path / "s.jsonl", outputs, references, **how)
    assert len(rows) == 21
    found = {round(one["values"]["collar_f1"], 9) for one in rows if one["draw"]}
    assert found == {1.0, round(2 / 3, 9)}  # A: 1 of 1 and 1 of 1; B: 1 of 1 and 1 of 2
    assert [one["references"] for one in rows[:2]] == [2, 1]
    whole = 1.0 if against == "best" else (1 + 2 / 3) / 2
    assert rows[0]["values"]["collar_f1"] == pytest.approx(whole)


@pytest.mark.parametrize("task", TASKS)
def test_a_draw_is_a_score_against_some_of_the_references_as_if_there_were_no_others(
    tmp_path: Path, task: str
) -> None:
    outputs, people = both(task)
    how = TASKS[task]
    rows = table(tmp_path / "s.jsonl", outputs, people, reference_counts=[2], repeats=3, **how)
    for record in [one for one in people if len(one["references"]) > 2][:3]:
        own = [one for one in outputs if one["item"] == record["item"]]
        known = []
        for pair in combinations(record["references"], 2):
            alone = table(tmp_path / "p.jsonl", own, [{**record, "references": list(pair)}], **how)
            known.append({one["system"]: one["values"] for one in alone})
        for draw in (1, 2, 3):
            mine = {
                key[1]: found
                for key, found in values(rows, 2, draw).items()
                if key[0] == record["item"]
            }
            assert "(lead)" in mine or task == "chapters"
            mine.pop("(lead)", None)
            wanted = [_flat({n: one[n] for n in mine}) for one in known]
            assert any(_flat(mine) == pytest.approx(one, nan_ok=True) for one in wanted)


def _flat(found: dict[str, dict[str, float]]) -> dict[str, float]:
    return {
        f"{system} {name}": float("nan") if x is None else x
        for system, own in found.items()
        for name, x in own.items()
    }


@pytest.mark.parametrize("task", TASKS)
def test_items_with_no_more_references_than_asked_for_keep_their_scores(
    tmp_path: Path, task: str
) -> None:
    outputs, people = both(task)
    for n, record in enumerate(people):
        record["references"] = record["references"][: 1 + n % 3]
    few_ = {one["item"] for one in people if len(one["references"]) < 3}
    path = tmp_path / "s.jsonl"
    scores = score(
        outputs, people, samples=path, draws=1, reference_counts=(2, 3), repeats=2, **TASKS[task]
    )
    rows = lines(path)
    whole = values(rows, 3, 0)
    assert {one["references"] for one in rows} == {2, 3}
    for draw in (1, 2):
        drawn = values(rows, 2, draw)
        assert drawn.keys() == whole.keys()
        same = [key for key in whole if key[0] in few_]
        assert same
        assert [drawn[key] for key in same] == [whole[key] for key in same]
    ones = sum(len(one["references"]) == 1 for one in people)
    assert (
        f"{ones} items have fewer than 2 references; all of their references are used"
        in scores.notes
    )
    assert (
        f"{len(few_)} items have fewer than 3 references; all of their references are used"
        in scores.notes
    )


def test_without_the_option_the_table_is_as_it_was_and_with_it_the_same_numbers(
    tmp_path: Path,
) -> None:
    folder = EXAMPLES / "chapters"
    data = folder / "outputs.jsonl", folder / "annotators.jsonl"
    for ending in ("csv", "jsonl"):
        plain, more = tmp_path / f"plain.{ending}", tmp_path / f"more.{ending}"
        one = score(*data, samples=plain, draws=1)
        head = plain.read_text().splitlines()[ending == "csv"]
        assert "references" not in head.replace("reference/", "")
        other = score(*data, samples=more, draws=1, reference_counts=[1, 3], repeats=2)
        assert one.systems == other.systems
        assert one.signature == other.signature
        whole = [s for s in read_scores(more).scores if s.references == 3]
        assert {s.draw for s in whole} == {0}
        assert repr([(s.key, s.metric, s.value) for s in whole]) == repr(
            [(s.key, s.metric, s.value) for s in read_scores(plain).scores]
        )
        assert "|fewer(references=1+3,repeats=2,seed=0)" in more.read_text()
    _, rows = read_results((tmp_path / "more.csv").read_text())
    assert [*rows[0]][:4] == ["item", "system", "references", "draw"]


def test_the_same_seed_draws_the_same_whatever_the_order_of_lines(tmp_path: Path) -> None:
    outputs, people = both("summaries")
    how: dict[str, Any] = {"metrics": "sumaccy", "reference_counts": [1, 2], "repeats": 3}
    first, again = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    rows = table(first, outputs, people, **how)
    table(again, outputs, people, **how)
    assert first.read_bytes() == again.read_bytes()
    turned = table(again, outputs[::-1], people[::-1], **how)
    assert sorted(map(json.dumps, turned)) == sorted(map(json.dumps, rows))
    other = table(again, outputs, people, seed=1, **how)
    assert values(other, 5, 0) == values(rows, 5, 0)
    assert values(other, 1, 1) != values(rows, 1, 1)


def test_all_systems_meet_the_same_references_of_an_item(tmp_path: Path) -> None:
    _, people = both("summaries")
    outputs = [
        {"item": one["item"], "system": name, "output": {"positions": [1, 2]}}
        for name in ("A", "B")
        for one in people
    ]
    rows = table(tmp_path / "s.jsonl", outputs, people, metrics="sumaccy", reference_counts=[1, 2])
    for one in rows:
        if one["system"] == "A":
            twin = values(rows, one["references"], one["draw"])[one["item"], "B"]
            assert one["values"] == twin


def drawn_people(
    tmp_path: Path, people: dict[str, list[str]], fewer: list[int], repeats: int, *, named: bool
) -> dict[tuple[str, int, int], set[str]]:
    """Who is in a draw, by item, number of references and draw; items have these annotators."""
    # Each person has one boundary, and for each there is a system that has only this boundary: its
    # recall is above 0 if the person was drawn.
    spots = {name: [100.0 * (n + 1)] for n, name in enumerate("abcd")}
    references = [
        {
            "item": item,
            "duration": 1000,
            "references": [
                {"boundaries": spots[name], **({"annotator": name} if named else {})}
                for name in names
            ],
        }
        for item, names in people.items()
    ]
    outputs = [
        {"item": item, "system": f"like {name}", "output": {"boundaries": spots[name]}}
        for item in people
        for name in spots
    ]
    rows = table(
        tmp_path / "s.jsonl",
        outputs,
        references,
        metrics="collar",
        reference_counts=fewer,
        repeats=repeats,
    )
    found: dict[tuple[str, int, int], set[str]] = {}
    for row in rows:
        if row["draw"] and row["values"]["collar_recall"] > 0:
            place = row["item"], row["references"], row["draw"]
            found.setdefault(place, set()).add(row["system"].removeprefix("like "))
    return found


def test_a_draw_is_the_same_people_in_all_items_wherever_their_reference_stands(
    tmp_path: Path,
) -> None:
    people = {"x": ["a", "b", "c", "d"], "y": ["d", "c", "b", "a"], "z": ["c", "a", "d", "b"]}
    found = drawn_people(tmp_path, people, [1, 2, 3], 6, named=True)
    assert len(found) == 3 * 3 * 6
    for (_, references, draw), own in found.items():
        assert len(own) == references
        assert own == found["x", references, draw]
        if references > 1:  # a larger draw adds to the people of a smaller one
            assert own > found["x", references - 1, draw]


def test_items_without_a_person_take_the_next_one_of_the_same_order(tmp_path: Path) -> None:
    people = {"x": ["a", "b", "c", "d"], "y": ["b", "c", "d"], "z": ["d", "a"], "w": ["c"]}
    found = drawn_people(tmp_path, people, [1, 2, 3], 6, named=True)
    for draw in range(1, 7):
        sets = [found["x", count, draw] for count in (1, 2, 3)] + [{*"abcd"}]
        order = [next(iter(b - a)) for a, b in zip([set(), *sets], sets, strict=False)]
        for item, names in people.items():
            for count in (1, 2, 3):
                own = [name for name in order if name in names]
                assert found[item, count, draw] == {*own[:count]}


def test_references_without_names_are_identified_by_their_position(tmp_path: Path) -> None:
    people = {"x": ["a", "b", "c"], "y": ["b", "c", "a"]}
    found = drawn_people(tmp_path, people, [1], 3, named=False)
    after = {"a": "b", "b": "c", "c": "a"}
    for draw in (1, 2, 3):
        (first,), (second,) = found["x", 1, draw], found["y", 1, draw]
        assert second == after[first]


def test_draws_take_turns_so_that_all_people_are_drawn_equally_often(tmp_path: Path) -> None:
    people = {"x": ["a", "b", "c", "d"]}
    found = drawn_people(tmp_path, people, [1, 3], 8, named=True)
    for count in (1, 3):
        drawn = [name for draw in range(1, 9) for name in found["x", count, draw]]
        assert sorted(drawn) == sorted("abcd" * 2 * count)


def test_orders_are_even_also_with_fewer_draws_than_people() -> None:
    runs = many(2000, 20000)
    places = np.array(
        [[order_people(7, draw, 3, seed) for draw in (1, 2, 3)] for seed in range(runs)]
    )
    assert (np.sort(places, axis=2) == np.arange(7)).all()
    firsts = np.argmin(places, axis=2)
    assert (np.diff(np.sort(firsts, axis=1), axis=1) > 0).all()  # three different people
    share = np.bincount(firsts[:, 1], minlength=7) / runs
    assert np.abs(share - 1 / 7).max() < 5 * 0.35 / np.sqrt(runs)  # five standard errors


def test_short_runs_are_kept_whole() -> None:
    counts, places = np.array([1, 3, 5]), np.array([4, 2, 0, 1, 4, 0, 3, 1, 2])
    assert first_rows(counts, places, 3).tolist() == [0, 1, 2, 3, 5, 7, 8]
    assert first_rows(counts, places, 1).tolist() == [0, 2, 5]


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    data = both("chapters")
    path = tmp_path / "s.csv"
    for wrong in (0, [1, -2], [1.5], [True]):
        with pytest.raises(UsageError, match="a whole number of at least 1"):
            score(*data, samples=path, reference_counts=wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="repeats must be a whole number of at least 1"):
        score(*data, samples=path, reference_counts=1, repeats=0)
    with pytest.raises(UsageError, match="set samples"):
        score(*data, reference_counts=1)
    alone = [{"id": "a", "hypothesis": [61], "reference": [60], "duration": 180}]
    with pytest.raises(UsageError, match="requires a references file"):
        score(alone, samples=path, reference_counts=1)
    assert not path.exists()


def test_more_references_than_there_are_give_a_note_and_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    found = score(*both("chapters"), samples=path, reference_counts=[7], draws=1)
    assert "no item has 7 references, so there are no scores with 7" in found.notes
    assert {one.references for one in read_scores(path).scores} == {3}


def test_the_command_draws_and_several_processes_draw_the_same(tmp_path: Path) -> None:
    outputs = write_lines(tmp_path / "outputs.jsonl", both("chapters")[0])
    references = write_lines(tmp_path / "references.jsonl", both("chapters")[1])
    written = []
    for jobs in ("1", "2"):
        path = tmp_path / f"s{jobs}.csv"
        command = ["score", str(outputs), str(references), "--samples", str(path), "--draws", "5"]
        done = CliRunner().invoke(group, [*command, "--reference-counts", "1,2", "--jobs", jobs])
        assert done.exit_code == 0, done.output
        written.append(path.read_bytes())
    assert written[0] == written[1]
    assert {(s.references, s.draw) for s in read_scores(path).scores} == {
        (3, 0),
        *((count, draw) for count in (1, 2) for draw in range(1, 6)),
    }
    done = CliRunner().invoke(group, [*command, "--reference-counts", "1,x"])
    assert done.exit_code == 2
    assert "is not a whole number or a list" in done.output
