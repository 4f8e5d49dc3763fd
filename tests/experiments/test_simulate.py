"""Simulated summaries, systems and judgements."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from examples.references import make

from earwitness.errors import UsageError
from earwitness.experiments.simulate import SimulatedReferences, simulate_references_study
from earwitness.scoring.score import people, score
from earwitness.studies.agree import agree


def values(study: SimulatedReferences, name: str = "sumaccy") -> dict[str, float]:
    found = score(
        list(study.outputs), list(study.references), metrics="sumaccy", draws=20, ceiling=False
    )
    return {system: own[name].value for system, own in found.systems.items()}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_systems_span_the_range_of_the_paper(seed: int) -> None:
    study = simulate_references_study(items=20, seed=seed)
    found = values(study)
    human = found.pop(study.human)
    ordered = [found[f"system-{number}"] for number in range(1, 10)]
    assert 0.62 <= max(ordered) <= 0.82
    assert 0.32 <= min(ordered) <= 0.52
    assert np.mean(ordered[:3]) > np.mean(ordered[3:6]) > np.mean(ordered[6:])
    assert human > max(ordered)


def test_the_sizes_are_those_of_the_arguments() -> None:
    study = simulate_references_study(items=3, words=20, people=6, systems=4, judges=5, isolated=1)
    assert len(study.references) == 3
    assert {len(line["references"]) for line in study.references} == {6}
    assert len(study.outputs) == 3 * (4 + 1)
    assert len(study.judgements) == 3 * (4 + 1) * 5
    assert {row["score"] for row in study.judgements} <= {1, 2, 3, 4, 5}
    assert study.isolated == ("person-6",)
    human = {row["item"]: row["output"] for row in study.outputs if row["system"] == study.human}
    for line in study.references:
        kept = {one["annotator"]: one["positions"] for one in line["references"]}
        assert human[line["item"]] == {"positions": kept[study.human]}
        shares = [len(positions) / len(line["words"]) for positions in kept.values()]
        assert np.mean(shares) == pytest.approx(0.4, abs=0.1)


def test_a_study_follows_from_its_seed() -> None:
    first, again, other = (
        simulate_references_study(items=2, people=3, systems=2, judges=2, seed=seed)
        for seed in (4, 4, 5)
    )
    assert first == again
    assert first.outputs != other.outputs
    assert "seed 4; 2 items, 3 people, 2 systems and 1 human, 2 judges" in first.description


def test_isolated_people_agree_less_with_the_others() -> None:
    study = simulate_references_study(items=10, people=8, systems=1, judges=1, isolated=2)
    found = people(list(study.references), metrics="kept", draws=20).people
    assert found is not None
    agreement = {name: own["kept_f1"].value for name, own in found.annotators.items()}
    isolated = [agreement.pop(name) for name in study.isolated]
    assert max(isolated) < min(agreement.values()) - 0.2


def test_people_keep_contiguous_words_and_systems_have_wrong_words() -> None:
    study = simulate_references_study(items=10, people=5, systems=2, judges=1)
    pairs = [
        second - first
        for line in study.references
        for one in line["references"]
        for first, second in zip(one["positions"], one["positions"][1:], strict=False)
    ]
    assert pairs.count(1) / len(pairs) > 0.6
    for line in study.references:
        said = {word for word, *_ in line["words"]}
        heard = {*line["recognized"]}
        for output in study.outputs:
            if output["item"] == line["item"] and "words" in output["output"]:
                assert {word for word, *_ in output["output"]["words"]} <= heard
        assert len(heard - said) < len(said)
    assert any({*line["recognized"]} - {w for w, *_ in line["words"]} for line in study.references)


def test_judges_prefer_better_systems(tmp_path: Path) -> None:
    study = simulate_references_study(items=8, people=6, systems=5, judges=6)
    make.main(tmp_path / "study", items=8, people=6, systems=5, judges=6)
    names = "outputs.jsonl", "references.jsonl", "judgements.csv"
    paths = [tmp_path / "study" / name for name in names]
    with paths[2].open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(study.judgements)
    lines = paths[1].read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0])["meta"]["simulated"] == study.description
    scores = score(paths[0], paths[1], metrics="sumaccy", draws=20, ceiling=False, samples=True)
    found = agree(scores, paths[2], metrics=["sumaccy"], draws=20, permutations=20)
    figures = {
        f"{key.level} {key.coefficient}": e.value
        for key, e in found.scales[0].metrics[0].figures.items()
    }
    assert figures["system pearson"] > 0.8


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"items": 0}, "items must be 1 or more, got 0"),
        ({"isolated": 25}, "isolated must be fewer than people"),
        ({"ratio": 1.0}, "ratio must be between 0 and 1"),
        ({"seed": -1}, "seed must be a whole number"),
    ],
)
def test_sizes_out_of_range_are_refused(sizes: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        simulate_references_study(**sizes)  # type: ignore[arg-type]
