"""Simulated listeners are what they are said to be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from earwitness.core import Rating
from earwitness.errors import UsageError
from earwitness.studies.file.reader import with_digest
from earwitness.studies.from_answers import ratings_from_answers
from earwitness.studies.population import Population, World
from earwitness.studies.simulate import study_simulate
from earwitness.studies.trials import KINDS
from helpers.study_files import udase

STUDY = with_digest(udase(listeners=16, panels=1, clips=20, sessions=2))


def ratings(population: Population, seed: int = 0, **more: object) -> list[Rating]:
    """All ratings of a simulated study."""
    found = study_simulate(replace(STUDY, **more), population, seed=seed)  # type: ignore[arg-type]
    return ratings_from_answers(found.design.study, dict(enumerate(found.answers, 1)), "simulated")


@pytest.mark.parametrize("fatigue", [0.0, 0.3])
def test_expected_means_are_those_that_many_listeners_give(fatigue: float) -> None:
    items, systems = [f"i{n}" for n in range(6)], ("A", "B")
    world = World(Population(fatigue=fatigue), systems, tuple(range(3000)), seed=5)
    [scale] = KINDS["acr"]().scales
    votes = {name: list[float]() for name in systems}
    for _, person, rng in world.people(items):
        for system in systems:
            now = [person.after(rng.integers(11) / 10) for _ in items]
            pairs = zip(now, items, strict=True)
            heard = [one.hears(item, system, scale.name, rng) for one, item in pairs]
            votes[system].append(float(np.mean([scale.at(one) for one in heard])))
    for system, found in votes.items():
        error = np.std(found) / np.sqrt(len(found))
        expected = world.expected(system, scale, items)
        assert np.mean(found) == pytest.approx(expected, abs=4 * error)
        assert error < 0.01


def test_the_same_seed_gives_the_same_study_and_another_one_another() -> None:
    assert ratings(Population(), 1) == ratings(Population(), 1) != ratings(Population(), 2)


def test_one_listener_more_moves_no_other() -> None:
    fewer, more = ratings(Population()), ratings(Population(), listeners=17)
    assert fewer == [one for one in more if one.listener != 17]
    assert any(one.listener == 17 for one in more)


def test_careless_listeners_are_as_many_as_said_and_do_not_hear_systems_apart() -> None:
    found = study_simulate(STUDY, Population(careless=3), seed=4)
    careless = {one["listener"] for one in found.people if one["careless"]}
    assert len(careless) == 3
    votes = ratings_from_answers(found.design.study, dict(enumerate(found.answers, 1)), "simulated")

    def spread(of_careless: bool) -> float:
        own = [one for one in votes if (one.listener in careless) is of_careless]
        means = [np.mean([r.value for r in own if r.key.system == s]) for s in STUDY.systems]
        return float(max(means) - min(means))

    assert spread(True) < 0.5 < 1.5 < spread(False)


def test_tired_listeners_hear_less_at_the_end_of_a_session() -> None:
    found = ratings(Population(fatigue=0.3))
    last = max(one.trial for one in found)
    early = np.mean([one.value for one in found if one.trial <= last // 4])
    late = np.mean([one.value for one in found if one.trial > last - last // 4])
    assert early - late > 0.5  # 0.3 of four points between the ends, three quarters of it here


def test_qualities_may_be_said_by_system_and_scale() -> None:
    given = {("C0", ""): 0.9, ("C0", "BAK"): 0.1}
    found = study_simulate(STUDY, Population(qualities=given))
    truth = {(one["system"], one["scale"]): one for one in found.truth}
    assert truth["C0", "SIG"]["quality"] == truth["C0", "OVRL"]["quality"] == 0.9
    assert truth["C0", "BAK"]["quality"] == 0.1
    assert truth["C0", "BAK"]["expected"] < 1.7 < 4.3 < truth["C0", "SIG"]["expected"]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"bias": -1.0}, "bias must be a number of at least 0"),
        ({"inconsistency": float("nan")}, "inconsistency must be a number"),
        ({"fatigue": 1.5}, "fatigue must be a number from -1 to 1"),
        ({"careless": 40}, "careless must be at most 16"),
        ({"qualities": {("C9", ""): 0.5}}, 'unknown system "C9"'),
    ],
)
def test_what_cannot_be_is_refused(more: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        study_simulate(STUDY, Population(**more))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_listeners_answer_every_kind(kind: str) -> None:
    study = udase(kind=kind, listeners=3, panels=1, clips=3, sessions=1, reference="ref")
    found = study_simulate(with_digest(study), Population())
    given = ratings_from_answers(found.design.study, dict(enumerate(found.answers, 1)), "simulated")
    assert {one.listener for one in given} == {1, 2, 3}
    assert {one["scale"] for one in found.truth} <= {scale.name for scale in KINDS[kind]().scales}
