"""Outputs that come in batches have the scores of all of them at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from earwitness.errors import InputError, UsageError
from earwitness.scoring.accumulator import Accumulator
from earwitness.scoring.score import score

EXAMPLES = Path(__file__).parents[2] / "examples" / "chapters"


def lines(name: str) -> list[dict[str, Any]]:
    """Return the records of an example."""
    return [json.loads(line) for line in (EXAMPLES / name).read_text().splitlines()]


@pytest.mark.parametrize("references", ["references.jsonl", "annotators.jsonl"])
def test_batches_give_what_all_outputs_give_at_once(references: str) -> None:
    outputs, people = lines("outputs.jsonl"), lines(references)
    how: dict[str, Any] = {"metrics": ["collar", "chunks"], "by": "duration:0,1800"}
    wanted = score(outputs, people, **how, ceiling=False)
    meter = Accumulator(**how)
    for place in range(0, len(people), 5):
        batch = people[place : place + 5]
        items = {person["item"] for person in batch}
        meter.update([one for one in outputs if one["item"] in items], batch)
    found = meter.compute()
    assert found.systems == wanted.systems
    assert repr(found.slices) == repr(wanted.slices)  # NaN is not equal to itself
    assert found.signature == wanted.signature
    assert found.provenance.references == wanted.provenance.references
    assert found.provenance.cases == wanted.provenance.cases


def record(hypothesis: object) -> dict[str, Any]:
    """Return an output with its reference."""
    return {"hypothesis": hypothesis, "reference": [60, 200], "duration": 300}


def test_records_without_names_are_numbered_on() -> None:
    records = [record([10 * n]) for n in range(1, 9)]
    meter = Accumulator()
    for one in records:
        meter.update([one])
        meter.compute()
    assert meter.compute().systems == score(records).systems


def test_a_faulty_batch_changes_nothing() -> None:
    meter = Accumulator()
    with pytest.raises(UsageError, match="call update"):
        meter.compute()
    with pytest.raises(InputError):
        meter.update([record("x")])
    meter.update([record([60])])
    before = meter.compute()
    with pytest.raises(InputError):
        meter.update([record([61]), record("x")])
    with pytest.raises(UsageError, match='item "line 1" was added before'):
        meter.update([record([61]) | {"id": "line 1"}])
    assert repr(meter.compute().systems) == repr(before.systems)
    meter.reset()
    meter.update([record([200])])
    assert meter.compute().provenance.cases == 1


def test_invalid_outputs_may_be_counted_as_empty() -> None:
    meter = Accumulator(metrics="collar", on_error="empty")
    meter.update([record([60, 200])])
    meter.update([record("x")])
    found = meter.compute()
    assert found.systems["outputs"]["collar_f1"].value == 0.5
    assert [left.key.item for left in found.emptied] == ["line 2"]
