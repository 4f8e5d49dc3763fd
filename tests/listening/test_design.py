"""Designs: what they promise, counted anew from the plans."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.data import Clip, Design, Study
from earwitness.errors import UsageError
from earwitness.listening.design import equivalent_subsets, listener_order
from earwitness.listening.design.balance import claims, left_out, margins
from earwitness.listening.design.minutes import clips_for, minutes
from earwitness.listening.design.plan import design

SESSIONS = ["S01"] * 112 + ["S21"] * 108
LOCATIONS = ["dining"] * 77 + ["living"] * 70 + ["kitchen"] * 73
SEXES = ["FM"] * 169 + ["F"] * 25 + ["M"] * 26


def material(seed: int = 1) -> tuple[Clip, ...]:
    """220 clips with the margins of the UDASE listening test."""
    rng = random.Random(seed)
    columns = [list(column) for column in (SESSIONS, LOCATIONS, SEXES)]
    for column in columns:
        rng.shuffle(column)
    return tuple(
        Clip(f"clip{n}", 4.5, {"session": a, "location": b, "sex": c, "snr": rng.gauss(5, 5)})
        for n, (a, b, c) in enumerate(zip(*columns, strict=True))
    )


def udase(**more: Any) -> Study:
    options: dict[str, Any] = {
        "title": "UDASE",
        "kind": "p835",
        "seed": 1,
        "systems": ("C0", "C1", "C2", "C3", "C4"),
        "material": material(),
        "panels": 4,
        "listeners": 32,
        "clips": 32,
        "sessions": 4,
        "rest_minutes": 5,
        "rating_seconds": 4,
        "categories": ("session", "location", "sex"),
        "numbers": ("snr",),
    }
    return Study(**(options | more))


@pytest.fixture(scope="module")
def made() -> Design:
    return design(udase())


def test_four_subsets_of_220_clips_are_alike(made: Design) -> None:
    found = {(m.covariate, m.category): m.subsets for m in margins(made)}
    assert found["session", "S01"] == found["session", "S21"] == (16,) * 4
    assert found["location", "dining"] == found["location", "kitchen"] == (11,) * 4
    assert found["location", "living"] == (10,) * 4
    assert all(24 <= n <= 25 for n in found["sex", "FM"])
    assert all(3 <= n <= 4 for n in (*found["sex", "F"], *found["sex", "M"]))
    means = found["snr", "mean"]
    assert max(means) - min(means) < 0.1
    names = [name for subset in made.subsets for name in subset]
    assert len(set(names)) == len(names) == 128


@pytest.mark.parametrize("seed", range(5))
def test_every_stratum_is_in_some_subset(seed: int) -> None:
    found = design(udase(material=material(seed), listeners=4))
    missing = [set(one) for one in left_out(found)]
    assert not set.intersection(*missing)


def test_votes_are_those_of_the_published_design(made: Design) -> None:
    votes: Counter[tuple[str, str, str]] = Counter()
    for plan in made.plans:
        for session in plan.sessions:
            for trial in session:
                votes.update((trial.item, trial.system, scale) for scale in trial.scales)
    assert set(votes.values()) == {8}
    assert Counter((system, scale) for _, system, scale in votes)["C3", "BAK"] * 8 == 1024


def test_the_weaknesses_of_the_published_design_are_gone(made: Design) -> None:
    for plan in made.plans:
        for session in plan.sessions:
            counts = Counter(trial.system for trial in session)
            assert set(counts.values()) == {8}
            for a, b in pairwise(session):
                assert a.item != b.item
                assert a.system != b.system
        behind = Counter((a.system, b.system) for s in plan.sessions for a, b in pairwise(s))
        assert len(behind) == 20
        assert max(behind.values()) - min(behind.values()) <= 2


def test_scale_orders_change_inside_each_panel(made: Design) -> None:
    starts: dict[int, list[str]] = {}
    for plan in made.plans:
        orders = [{trial.scales for trial in session} for session in plan.sessions]
        assert all(len(own) == 1 for own in orders)
        assert orders[0] == orders[1] != orders[2] == orders[3]
        assert all(trial.scales[-1] == "OVRL" for session in plan.sessions for trial in session)
        starts.setdefault(plan.panel, []).append(plan.sessions[0][0].scales[0])
    for own in starts.values():
        assert Counter(own) == {"SIG": 4, "BAK": 4}


def test_all_claims_of_the_report_hold_and_a_shuffle_is_worse(made: Design) -> None:
    assert all(claim.kept for claim in claims(made))
    shuffled = {claim.what: claim.shuffled for claim in claims(made)}
    assert shuffled["times a clip follows itself"] != "0"


def test_a_claim_that_does_not_hold_is_told(made: Design) -> None:
    first = made.plans[0]
    spoiled = (first.sessions[0][:1] * 2 + first.sessions[0][2:], *first.sessions[1:])
    bad = replace(made, plans=(replace(first, sessions=spoiled), *made.plans[1:]))
    kept = {claim.what: claim.kept for claim in claims(bad)}
    assert not kept["times a clip follows itself"]
    assert not kept["times a system follows itself"]
    assert not kept["votes of a clip, a system and a scale"]


def test_one_more_listener_moves_no_other() -> None:
    few, more = design(udase(listeners=5)), design(udase(listeners=6))
    assert more.plans[:5] == few.plans


def test_the_seed_decides() -> None:
    assert design(udase(listeners=4)) == design(udase(listeners=4))
    assert design(udase(listeners=4, seed=2)).subsets != design(udase(listeners=4)).subsets


def test_a_thousand_clips_and_a_hundred_listeners_can_be_planned() -> None:
    clips = [replace(clip, name=f"{n}-{clip.name}") for n in range(5) for clip in material(n)]
    found = design(
        udase(material=tuple(clips[:1000]), listeners=100, panels=10, clips=40, sessions=5)
    )
    assert all(claim.kept for claim in claims(found))


@given(
    clips=st.integers(1, 9),
    systems=st.integers(1, 6),
    sessions=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_every_order_has_every_trial_once_and_no_repeats_that_can_be_avoided(
    clips: int, systems: int, sessions: int, seed: int
) -> None:
    items = [f"i{n}" for n in range(clips)]
    names = [f"s{n}" for n in range(systems)]
    order = listener_order(items, names, sessions, np.random.default_rng(seed))
    assert len(order) == sessions
    trials = [trial for session in order for trial in session]
    assert sorted(trials) == sorted((item, name) for item in items for name in names)
    sizes = [len(session) for session in order]
    assert max(sizes) - min(sizes) <= 1
    for name in names:
        counts = [sum(system == name for _, system in session) for session in order]
        assert max(counts) - min(counts) <= 1
    if systems > 2:  # of two systems, one may be left over at the end of a session
        assert all(a[1] != b[1] for session in order for a, b in pairwise(session))
    if clips > 4 and systems > 1:
        assert all(a[0] != b[0] for session in order for a, b in pairwise(session))


@given(
    sizes=st.lists(st.integers(1, 12), min_size=1, max_size=6),
    number=st.integers(1, 4),
    seed=st.integers(0, 9),
)
def test_subsets_are_disjoint_and_close_to_their_share(
    sizes: list[int], number: int, seed: int
) -> None:
    clips: list[dict[str, str | float]] = [
        {"kind": f"k{n}", "x": float(i)} for n, size in enumerate(sizes) for i in range(size)
    ]
    size = len(clips) // number
    if not size:
        return
    subsets = equivalent_subsets(
        clips, number=number, size=size, categories=["kind"], numbers=["x"], seed=seed
    )
    every = [clip for subset in subsets for clip in subset]
    assert len(set(every)) == len(every)
    assert {len(subset) for subset in subsets} == {size}
    for n, own in enumerate(sizes):
        share = size * own / len(clips)
        for subset in subsets:
            count = sum(clips[i]["kind"] == f"k{n}" for i in subset)
            assert abs(count - share) < 2


def test_too_many_clips_are_refused() -> None:
    with pytest.raises(UsageError, match="4 subsets of 60 clips need 240, there are 220"):
        design(udase(clips=60))


def test_minutes_are_the_sum_of_their_steps_and_clips_fill_them() -> None:
    study = udase()
    steps = {what: value for what, _, value in minutes(study)}
    # 32 · 5 · 3 = 480 ratings: 480 · 4.5 s = 36 min, 480 · 4 s = 32 min, 3 rests of 5 min
    assert steps == pytest.approx({"hearing": 36, "rating": 32, "resting": 15, "in all": 83})
    most = clips_for(study, 80)
    assert minutes(replace(study, clips=most))[-1][2] <= 80
    assert minutes(replace(study, clips=most + 1))[-1][2] > 80
    assert clips_for(study, 1) == 0
