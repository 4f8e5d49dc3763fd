"""Runs with a model: what it is really given."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from earwitness.chunkseg import evaluate_batch
from earwitness.chunkseg.titles import _choose_model
from earwitness.cli.main import group
from earwitness.core import Map
from earwitness.engines.local import in_process, processes
from earwitness.io import source
from earwitness.models import text_encoder
from earwitness.models.text_encoder import find_encoder
from earwitness.scoring.compare import compare
from earwitness.scoring.score import score
from helpers.samples import write_lines

TITLES = [f"{a} {b}" for a in ("rain", "music", "", "results") for b in ("today", "again", "")]
SYSTEMS = ("careful", "eager", "late")
ENGINES = {"one process": in_process, "two processes": processes(2)}


def titles(rng: random.Random) -> list[list[Any]]:
    return [[rng.choice(TITLES), 60.0 * n] for n in range(1, 5)]


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[Path, Path]:
    """Items of two annotators, outputs of three systems, in several blocks, titles repeated."""
    rng = random.Random(0)
    items = [f"item {n}" for n in range(10)]
    filler = {"note": "x" * 200}
    references = [
        {
            "item": item,
            "duration": 300,
            "references": [{"boundaries": [60, 120], "titles": titles(rng)} for _ in range(2)],
        }
        for item in items
    ]
    outputs = [
        {
            "item": item,
            "system": system,
            "output": {"boundaries": [60], "titles": titles(rng)},
            "meta": filler,
        }
        for system in SYSTEMS
        for item in items
    ]
    return write_lines(tmp_path / "o.jsonl", outputs), write_lines(tmp_path / "r.jsonl", references)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What the model is given, from a process that has encoded nothing yet."""
    seen: list[str] = []
    run = text_encoder.Encoder._run

    def counted(self: text_encoder.Encoder, batch: list[str]) -> object:
        seen.extend(batch)
        return run(self, batch)

    monkeypatch.setattr(text_encoder.Encoder, "_run", counted)
    monkeypatch.setattr(source, "READ_BLOCK_BYTES", 2000)
    text_encoder._shared_encoder.cache_clear()
    yield seen
    text_encoder._shared_encoder.cache_clear()


def texts_of(paths: tuple[Path, Path]) -> set[str]:
    """All titles that may be compared, and the titles of every side joined."""
    records = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    sides = [one["titles"] for r in records for one in r.get("references", [r.get("output")])]
    joined = {"\n".join(title for title, _ in side) for side in sides}
    return joined | {title for side in sides for title, _ in side}


@pytest.mark.parametrize(
    ("engine", "held"),
    [("one process", text_encoder.VECTOR_BYTES_IN_MEMORY), ("two processes", 50_000)],
)
def test_every_distinct_text_of_a_run_is_encoded_once(
    corpus: tuple[Path, Path],
    given: list[str],
    engine: str,
    held: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = score(*corpus, metrics=["title_bertscore", "collar"])
    want = sorted(given)
    assert len(want) == len(set(want))
    assert set(want) == texts_of(corpus)
    text_encoder._shared_encoder.cache_clear()
    given.clear()
    monkeypatch.setattr(text_encoder, "VECTOR_BYTES_IN_MEMORY", held)
    chosen: Map = ENGINES[engine]
    again = score(*corpus, metrics=["title_bertscore", "collar"], jobs=chosen)
    assert sorted(given) == want
    assert again == plain
    store = find_encoder("minilm")._store
    assert (store._file.name is not None) == (held == 50_000)
    compare(*corpus, metrics="title_bertscore", jobs=chosen, permutations=10)
    assert sorted(given) == want


def test_the_drop_in_encodes_every_distinct_title_once(given: list[str]) -> None:
    rng = random.Random(1)
    samples = [
        {
            "hypothesis": [60.0],
            "reference": [60.0],
            "duration": 300.0,
            "hyp_titles": [tuple(pair) for pair in titles(rng)],
            "reference_titles": [tuple(pair) for pair in titles(rng)],
        }
        for _ in range(8)
    ]
    _choose_model.cache_clear()
    with pytest.warns(UserWarning, match="VALUES DIFFER FROM CHUNKSEG'S"):
        evaluate_batch(samples, titles=True)
    assert len(given) == len(set(given)) > 8


def test_who_asks_for_processes_is_told_that_a_model_needs_one(corpus: tuple[Path, Path]) -> None:
    command = ["score", *map(str, corpus), "--metric", "title_bertscore", "--to", "json"]
    one, two = (CliRunner().invoke(group, [*command, "--jobs", n]) for n in "12")
    assert (
        "--jobs does not apply to title_bertscore: the model already uses all cores" in two.stderr
    )
    assert one.stderr == ""
    assert one.stdout == two.stdout
