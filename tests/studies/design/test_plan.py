"""Designs: what they promise, counted anew from the plans."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.errors import UsageError
from earwitness.studies.design.balance import check_balance
from earwitness.studies.design.incomplete import systems_heard
from earwitness.studies.design.orders import listener_order
from earwitness.studies.design.plan import count_minutes, make_design, max_clips
from earwitness.studies.design.subset_balance import (
    CLAIM_IMPOSSIBLE,
    CLAIM_KEPT,
    CLAIM_MISSED,
    missing_strata,
    subset_margins,
)
from earwitness.studies.design.subsets import equivalent_subsets, standardize
from earwitness.studies.study import Design, StudyBlock, Trial
from earwitness.studies.trials import KINDS, block_kind
from helpers.samples import many
from helpers.study_files import SYSTEMS, material, udase


@pytest.fixture(scope="module")
def made() -> Design:
    return make_design(udase())


def test_four_subsets_of_220_clips_are_alike(made: Design) -> None:
    found = {(m.covariate, m.category): m.subsets for m in subset_margins(made)}
    assert found["session", "S01"] == found["session", "S21"] == (16,) * 4
    assert found["location", "dining"] == found["location", "kitchen"] == (11,) * 4
    assert found["location", "living"] == (10,) * 4
    assert all(24 <= n <= 25 for n in found["sex", "FM"])
    assert all(3 <= n <= 4 for n in (*found["sex", "F"], *found["sex", "M"]))
    means = found["snr", "mean"]
    assert max(means) - min(means) < 0.1
    names = [name for subset in made.subsets[0] for name in subset]
    assert len(set(names)) == len(names) == 128


@pytest.mark.parametrize("seed", range(5))
def test_every_stratum_is_in_some_subset(seed: int) -> None:
    found = make_design(udase(material=material(seed), listeners=4))
    missing = [{lacking.stratum for lacking in one} for one in missing_strata(found)]
    assert not set.intersection(*missing)


def test_votes_are_those_of_the_published_design(made: Design) -> None:
    votes: Counter[tuple[str, str, str]] = Counter()
    for plan in made.plans:
        for session in plan.sessions:
            for trial in session:
                votes.update((trial.item, trial.systems[0], scale) for scale in trial.scales)
    assert set(votes.values()) == {8}
    assert Counter((system, scale) for _, system, scale in votes)["C3", "BAK"] * 8 == 1024


def test_the_weaknesses_of_the_published_design_are_gone(made: Design) -> None:
    for plan in made.plans:
        for session in plan.sessions:
            counts = Counter(trial.systems for trial in session)
            assert set(counts.values()) == {8}
            for a, b in pairwise(session):
                assert a.item != b.item
                assert a.systems != b.systems
        behind = Counter((a.systems, b.systems) for s in plan.sessions for a, b in pairwise(s))
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
    assert all(claim.kept == CLAIM_KEPT for claim in check_balance(made))
    shuffled = {claim.what: claim.shuffled for claim in check_balance(made)}
    assert shuffled["times a clip directly follows itself, per listener"] != "0"


def test_a_claim_that_does_not_hold_is_told(made: Design) -> None:
    first = made.plans[0]
    spoiled = (first.sessions[0][:1] * 2 + first.sessions[0][2:], *first.sessions[1:])
    bad = replace(made, plans=(replace(first, sessions=spoiled), *made.plans[1:]))
    kept = {claim.what: claim.kept == CLAIM_KEPT for claim in check_balance(bad)}
    assert not kept["times a clip directly follows itself, per listener"]
    assert not kept["times a system directly follows itself, per listener"]
    assert not kept["votes per clip and system, on each scale"]


def test_one_more_listener_moves_no_other() -> None:
    few, more = make_design(udase(listeners=5)), make_design(udase(listeners=6))
    assert more.plans[:5] == few.plans


def test_the_seed_decides() -> None:
    assert make_design(udase(listeners=4)) == make_design(udase(listeners=4))
    assert (
        make_design(udase(listeners=4, seed=2)).subsets != make_design(udase(listeners=4)).subsets
    )


def test_a_thousand_clips_and_a_hundred_listeners_can_be_planned() -> None:
    clips = [replace(clip, name=f"{n}-{clip.name}") for n in range(5) for clip in material(n)]
    found = make_design(
        udase(material=tuple(clips[:1000]), listeners=100, panels=10, clips=40, sessions=5)
    )
    assert all(claim.kept == CLAIM_KEPT for claim in check_balance(found))


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
        clips, number=number, size=size, categories=["kind"], numbers=["x"], seed=[seed]
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
    with pytest.raises(UsageError, match="4 subsets of 60 clips need 240 clips, got 220"):
        make_design(udase(clips=60))


def test_minutes_are_the_sum_of_their_steps_and_clips_fill_them() -> None:
    study = udase()
    steps = {step.what: step.minutes for step in count_minutes(study)}
    # 32 · 5 · 3 = 480 ratings: 480 · 4.5 s = 36 min, 480 · 4 s = 32 min, 3 rests of 5 min
    assert steps == pytest.approx({"listening": 36, "rating": 32, "breaks": 15, "total": 83})
    most = max_clips(study, 80)
    assert count_minutes(udase(clips=most))[-1].minutes <= 80
    assert count_minutes(udase(clips=most + 1))[-1].minutes > 80
    assert max_clips(study, 1) == 0


def test_anchors_and_practice_take_their_minutes() -> None:
    anchors = tuple(replace(clip, name=f"a{clip.name}") for clip in material()[:48])
    study = udase(anchors=anchors, anchor_folder="ref", training=4)
    steps = {step.what: step.minutes for step in count_minutes(study)}
    # 48 · 3 · (4.5 s + 4 s) = 1,224 s; 4 trials · 3 · (4.5 s + 4 s) = 102 s
    assert steps["anchors"] == pytest.approx(20.4)
    assert steps["practice"] == pytest.approx(1.7)
    assert steps["total"] == pytest.approx(83 + 20.4 + 1.7)
    most = max_clips(study, 80)
    assert (
        count_minutes(replace(study, blocks=(replace(study.blocks[0], clips=most),)))[-1].minutes
        <= 80
    )


def test_everybody_hears_all_anchors_first_in_an_order_of_their_own() -> None:
    anchors = tuple(replace(clip, name=f"a{clip.name}") for clip in material()[:12])
    made = make_design(udase(anchors=anchors, anchor_folder="there/ref", listeners=8))
    orders = [tuple(trial.item for trial in plan.anchors) for plan in made.plans]
    assert all(sorted(order) == sorted(one.name for one in anchors) for order in orders)
    assert len(set(orders)) == len(orders)
    assert {trial.systems for plan in made.plans for trial in plan.anchors} == {("ref",)}
    assert all(plan.anchors[0].scales == plan.sessions[0][0].scales for plan in made.plans)
    assert made.study.file("aclip3", "ref") == "there/ref/aclip3.wav"


def test_practice_is_of_clips_that_are_not_heard_later() -> None:
    made = make_design(udase(training=6))
    for plan in made.plans:
        heard = {trial.item for session in plan.sessions for trial in session}
        assert len(plan.training) == 6
        assert not heard & {trial.item for trial in plan.training}


def test_blocks_follow_each_other_with_sessions_and_kinds_of_their_own() -> None:
    second = StudyBlock("ab", SYSTEMS[:3], clips=6, sessions=2, heard=3)
    made = make_design(udase(blocks=(*udase().blocks, second), listeners=8))
    for plan in made.plans:
        assert [session[0].block for session in plan.sessions] == [0, 0, 0, 0, 1, 1]
        assert {len(trial.systems) for trial in plan.sessions[4]} == {2}
    found = {claim.what: claim for claim in check_balance(made)}
    assert found["block 2: times each pair occurs, per session"].kept == CLAIM_KEPT
    # 24 places for 18 strata: of either sex alone there are 6 in 11 % of the clips
    off = found.pop("block 2: largest deviation from proportional categories (clips)")
    assert off.kept == CLAIM_IMPOSSIBLE
    assert all(claim.kept == CLAIM_KEPT for claim in found.values())


@pytest.mark.parametrize("kind", KINDS)
def test_designs_of_every_kind_keep_what_they_promise(kind: str) -> None:
    made = make_design(udase(kind=kind, clips=16, listeners=8, reference="ref"))
    assert [claim.what for claim in check_balance(made) if claim.kept != CLAIM_KEPT] == []
    for plan in made.plans:
        trials = [trial for session in plan.sessions for trial in session]
        assert {trial.item for trial in trials} == set(made.subsets[0][plan.panel - 1])
        assert len(set(map(_what, trials))) == len(trials)


def _what(trial: Trial) -> tuple[str, tuple[str, ...]]:
    return trial.item, trial.treatment


@given(
    kind=st.sampled_from(list(KINDS)),
    systems=st.integers(2, 5),
    clips=st.integers(1, 7),
    sessions=st.integers(1, 3),
    seed=st.integers(0, 999),
)
def test_trials_of_every_kind_are_complete_and_evenly_presented(
    kind: str, systems: int, clips: int, sessions: int, seed: int
) -> None:
    one = KINDS[kind]()
    names, items = SYSTEMS[:systems], [f"i{n}" for n in range(clips)]
    made = one.trials(items, names, sessions, np.random.default_rng(seed), "ref")
    trials = [trial for session in made for trial in session]
    wanted = {tuple(sorted(own)) for own in one.treatments(names, "ref")}
    assert sorted(map(_what, trials)) == sorted((item, own) for item in items for own in wanted)
    for own in wanted:
        for place in range(len(own)):
            at = Counter(trial.systems[place] for trial in trials if trial.treatment == own)
            assert max(at.values()) - min(at[name] for name in own) <= 2
    if kind == "abx":
        targets = Counter(trial.target for trial in trials)
        assert abs(targets[0] - targets[1]) <= 2 * len(wanted)


def test_what_cannot_be_avoided_is_told_apart_from_what_was_missed() -> None:
    one = make_design(udase(systems=SYSTEMS[:2], clips=1, sessions=1, listeners=4))
    kept = {claim.what: claim.kept for claim in check_balance(one)}
    assert kept["times a clip directly follows itself, per listener"] == CLAIM_IMPOSSIBLE
    assert kept["times a system directly follows itself, per listener"] == CLAIM_KEPT


def test_orders_of_scales_that_do_not_change_over_are_told(made: Design) -> None:
    plans = tuple(replace(plan, sessions=plan.sessions[:2] * 2) for plan in made.plans)
    found = {claim.what: claim for claim in check_balance(replace(made, plans=plans))}
    assert found["sessions with each order of scales, per listener"].observed == "0 to 4"
    assert found["sessions with each order of scales, per listener"].kept == CLAIM_MISSED


@pytest.mark.parametrize(
    ("sessions", "found", "kept"),
    [(1, "0 to 1", CLAIM_IMPOSSIBLE), (2, "1", CLAIM_KEPT), (3, "1 to 2", CLAIM_KEPT)],
)
def test_sessions_with_each_order_of_scales_are_told(sessions: int, found: str, kept: str) -> None:
    made = make_design(udase(sessions=sessions, listeners=8))
    told = {claim.what: claim for claim in check_balance(made)}
    assert told["sessions with each order of scales, per listener"].observed == found
    assert told["sessions with each order of scales, per listener"].kept == kept
    assert told["listeners per panel who start with each order of scales"].kept == CLAIM_KEPT


@pytest.mark.parametrize(("systems", "heard", "listeners"), [(7, 3, 7), (13, 4, 13), (6, 5, 6)])
def test_incomplete_blocks_are_balanced_where_such_designs_are_known(
    systems: int, heard: int, listeners: int
) -> None:
    names = [f"s{n}" for n in range(systems)]
    sets = [set(systems_heard(turn, names, heard)) for turn in range(listeners)]
    together = {sum({a, b} <= one for one in sets) for a in names for b in names if a < b}
    assert len(together) == 1
    assert {sum(name in one for one in sets) for name in names} == {heard}


@pytest.mark.parametrize("systems", range(2, many(9, 15)))
def test_incomplete_blocks_use_all_systems_alike_after_every_round(systems: int) -> None:
    names = [f"s{n}" for n in range(systems)]
    for heard in range(1, systems):
        for rounds in (1, 2, 3):
            sets = [systems_heard(turn, names, heard) for turn in range(rounds * systems)]
            assert {len(set(one)) for one in sets} == {heard}
            counts = Counter(name for one in sets for name in one)
            assert set(counts.values()) == {rounds * heard}


def test_a_design_of_more_systems_than_one_can_hear_says_how_even_it_is() -> None:
    names = tuple(f"s{n}" for n in range(7))
    made = make_design(udase(systems=names, heard=3, clips=12, listeners=28, sessions=2))
    found = {claim.what: claim for claim in check_balance(made)}
    assert found["listeners per panel who hear each system"].observed == "3"
    assert found["listeners per panel who hear each pair of systems"].observed == "1"
    assert found["listeners per panel who hear each pair of systems"].shuffled != "1"
    told = found.pop("listeners per panel and system who start with each order of scales")
    assert (told.observed, told.kept) == (
        "0 to 3",
        CLAIM_IMPOSSIBLE,
    )  # no two colours fit the Fano plane
    assert all(claim.kept == CLAIM_KEPT for claim in found.values())
    for plan in made.plans:
        heard = {trial.systems for session in plan.sessions for trial in session}
        assert len(heard) == 3


def test_kinds_of_a_block_take_its_parameters() -> None:
    block = StudyBlock("mushra", ("C0",), 4, parameters={"anchors": ["low"]})
    assert block_kind(block).treatments(["C0"], "ref") == [("C0", "ref", "low")]


def test_numbers_that_are_all_alike_make_no_difference() -> None:
    same = [{"snr": 2.7122449431800737}] * 3  # their mean is off by rounding
    assert not standardize(same, ["snr"]).any()
