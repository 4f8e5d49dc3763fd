"""Orders of anchors: no repeats, balanced over listeners, and told in the report."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.studies.design.anchors import (
    CONDITION_REPEAT_COST,
    AnchorSet,
    anchor_claims,
    order_anchors,
    split_anchor_name,
    swap_changes,
)
from earwitness.studies.design.plan import make_design
from earwitness.studies.design.report import study_render
from earwitness.studies.design.subset_balance import CLAIM_IMPOSSIBLE, CLAIM_KEPT, CLAIM_MISSED
from earwitness.studies.study import Clip, Design
from helpers.study_files import udase

TALKERS = ("f1", "f2", "m1", "m2")
UDASE_NAMES = [f"i{n:02}_{talker}" for n in range(1, 13) for talker in TALKERS]


def orders_of(names: list[str], listeners: int, seed: int = 1) -> list[list[str]]:
    anchors = AnchorSet.of(names)
    orders = [order_anchors(anchors, n, (seed,)) for n in range(1, listeners + 1)]
    return [[names[place] for place in order] for order in orders]


def count_repeats(order: list[str], side: int) -> int:
    return sum(split_anchor_name(a)[side] == split_anchor_name(b)[side] for a, b in pairwise(order))


def design_of(names: list[str], listeners: int = 4) -> Design:
    anchors = tuple(Clip(name, 4.0) for name in names)
    return make_design(
        udase(anchors=anchors, anchor_folder="ref", listeners=listeners, clips=4, sessions=1)
    )


@pytest.mark.parametrize("seed", range(5))
def test_32_listeners_hear_48_anchors_without_repeats_and_balanced(seed: int) -> None:
    orders = orders_of(UDASE_NAMES, 32, seed)
    assert len(set(map(tuple, orders))) == 32
    positions, quarters = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    behind = Counter[tuple[str, str]]()
    for order in orders:
        assert sorted(order) == UDASE_NAMES
        assert count_repeats(order, 0) == count_repeats(order, 1) == 0
        conditions = [split_anchor_name(name)[0] for name in order]
        positions.update(zip(conditions, range(48), strict=True))
        quarters.update((name, place // 12) for place, name in enumerate(order))
        behind.update(pairwise(conditions))
        assert all(len({*conditions[at : at + 12]}) == 12 for at in (0, 12, 24, 36))
    # 32 listeners, 12 conditions: 2.67 times in each of 48 positions
    assert {positions[f"i{n:02}", place] for n in range(1, 13) for place in range(48)} == {2, 3}
    # 8 times per quarter; 32 · 47 / 132 = 11.4 times after each other condition
    assert {quarters[name, part] for name in UDASE_NAMES for part in range(4)} <= {*range(4, 13)}
    assert len(behind) == 132
    assert min(behind.values()) >= 8


def test_the_order_of_files_does_not_matter_for_repeats() -> None:
    names = [UDASE_NAMES[place] for place in np.random.default_rng(0).permutation(48)]
    assert sum(count_repeats(order, side) for order in orders_of(names, 24) for side in (0, 1)) == 0


def test_the_order_depends_on_seed_and_listener_only() -> None:
    assert orders_of(UDASE_NAMES, 40)[:7] == orders_of(UDASE_NAMES, 7)
    assert orders_of(UDASE_NAMES, 7) != orders_of(UDASE_NAMES, 7, seed=2)


@given(
    anchors=st.sets(st.tuples(st.integers(1, 8), st.integers(1, 5)), min_size=1, max_size=30),
    others=st.integers(0, 4),
    listener=st.integers(1, 50),
)
def test_any_anchors_are_heard_once_without_repeats_that_can_be_avoided(
    anchors: set[tuple[int, int]], others: int, listener: int
) -> None:
    names = [f"i{n:02}_t{talker}" for n, talker in sorted(anchors)]
    names += [f"other{n}" for n in range(others)]
    order = [names[place] for place in order_anchors(AnchorSet.of(names), listener, (1,))]
    assert sorted(order) == sorted(names)
    most = max(Counter(split_anchor_name(name)[0] for name in names).values())
    if 2 * most <= len(names) + 1:
        assert count_repeats(order, 0) == 0


@pytest.mark.parametrize("conditions", [2, 5, 11, 12])
@pytest.mark.parametrize("talkers", [1, 2, 3, 4, 8])
def test_each_condition_is_about_equally_often_in_each_third(conditions: int, talkers: int) -> None:
    names = [f"i{n:02}_t{talker}" for n in range(conditions) for talker in range(talkers)]
    thirds = Counter[tuple[str, int]]()
    for order in orders_of(names, 48):
        thirds.update(
            (split_anchor_name(name)[0], place * 3 // len(names))
            for place, name in enumerate(order)
        )
    for condition in {split_anchor_name(name)[0] for name in names}:
        for part in range(3):
            places = sum(place * 3 // len(names) == part for place in range(len(names)))
            wanted = 48 * places / conditions
            assert abs(thirds[condition, part] - wanted) <= 0.15 * 48 * talkers / 3 + 1


def test_anchors_of_other_names_are_conditions_of_their_own() -> None:
    assert split_anchor_name("i01_f1_take2") == ("i01", "f1_take2")
    assert split_anchor_name("intro_f1") == ("intro_f1", "intro_f1")
    orders = orders_of([f"a{n}" for n in range(6)], 6)
    for place in range(6):  # a Williams square
        assert len({order[place] for order in orders}) == 6
    assert Counter(pair for order in orders for pair in pairwise(order)).most_common(1)[0][1] == 1


def test_the_report_counts_repeats_and_positions() -> None:
    found = {claim.what: claim for claim in anchor_claims(design_of(UDASE_NAMES, 12))}
    told = "listeners per anchor condition and position"
    assert (found[told].observed, found[told].kept) == ("1", CLAIM_KEPT)
    for what in ("condition", "talker"):
        claim = found[f"direct repeats of an anchor {what}, per listener"]
        assert (claim.observed, claim.kept) == ("0", CLAIM_KEPT)
        assert claim.shuffled != "0"
    assert told in study_render(design_of(UDASE_NAMES, 12))


def test_repeats_in_given_orders_are_told() -> None:
    design = design_of(UDASE_NAMES, 12)
    first, *others = design.plans
    plans = (replace(first, anchors=tuple(sorted(first.anchors, key=lambda t: t.item))), *others)
    kept = {claim.what: claim.kept for claim in anchor_claims(replace(design, plans=plans))}
    assert kept["direct repeats of an anchor condition, per listener"] == CLAIM_MISSED
    assert kept["listeners per anchor condition and position"] == CLAIM_MISSED


def test_repeats_that_cannot_be_avoided_are_told_apart() -> None:
    kept = {c.what: c.kept for c in anchor_claims(design_of(["i01_a", "i01_b", "i01_c", "i02_a"]))}
    told = "direct repeats of an anchor condition, per listener"
    assert kept[told] == CLAIM_IMPOSSIBLE
    names = ["i01_a", "i01_b", "i02_a", "i02_b"]  # talkers and conditions cannot both alternate
    kept = {claim.what: claim.kept for claim in anchor_claims(design_of(names))}
    assert kept[told] == CLAIM_KEPT
    assert kept[told.replace("condition", "talker")] == CLAIM_IMPOSSIBLE


def test_repeats_that_cannot_be_avoided_are_as_few_as_possible() -> None:
    names = [f"i01_t{n}" for n in range(97)] + [f"i{n:02}_t1" for n in range(2, 97)]
    orders = orders_of(names, 3)
    assert [count_repeats(order, 0) for order in orders] == [1, 1, 1]  # 97 anchors, 95 between
    assert len(set(map(tuple, orders))) == 3


@given(
    codes=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=9),
    circular=st.booleans(),
    data=st.data(),
)
def test_changes_by_swaps_are_those_of_the_whole_cost(
    codes: list[tuple[int, int]], circular: bool, data: st.DataObject
) -> None:
    conditions, talkers = zip(*codes, strict=True)
    anchors, size = AnchorSet(conditions, talkers), len(codes)
    order = data.draw(st.permutations(range(size)))
    place = data.draw(st.integers(0, size - 1))

    def cost(own: list[int]) -> int:
        repeats = anchors.count_repeats([own[-1], *own] if circular else own)
        return CONDITION_REPEAT_COST * repeats[0] + repeats[1]

    plain = []
    for other in range(size):
        own = list(order)
        own[place], own[other] = own[other], own[place]
        plain.append(cost(own) - cost(order))
    counted = (np.arange(size) > 0) | circular
    assert swap_changes(anchors, np.array(order), counted, place).tolist() == plain


def test_a_study_without_anchors_has_no_claims_on_them() -> None:
    assert list(anchor_claims(make_design(udase(listeners=4)))) == []
    assert np.all([not plan.anchors for plan in make_design(udase(listeners=4)).plans])
