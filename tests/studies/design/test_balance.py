"""Designs are as even as can be: who hears what, in which order, at which place; counted anew."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.studies.design.balance import check_balance
from earwitness.studies.design.incomplete import first_scale_order, systems_heard
from earwitness.studies.design.orders import can_avoid_repeats
from earwitness.studies.design.plan import make_design
from earwitness.studies.design.subset_balance import (
    CLAIM_IMPOSSIBLE,
    CLAIM_KEPT,
    CLAIM_MISSED,
    Claim,
)
from earwitness.studies.design.subsets import equivalent_subsets
from earwitness.studies.study import Clip, Design, Study
from helpers.samples import many
from helpers.study_files import udase


def small(**more: Any) -> Study:
    """A study of few clips without covariates."""
    systems, clips = more.pop("systems"), more.pop("clips")
    names = tuple("ABCDEFGHIJKLM"[:systems])
    found = tuple(Clip(f"c{n}", 3.0) for n in range(clips * more.get("panels", 1)))
    given = {"material": found, "categories": (), "numbers": (), "panels": 1, "reference": "ref"}
    return udase(**(given | {"systems": names, "clips": clips} | more))


def told(made: Design) -> dict[str, Claim]:
    return {claim.what: claim for claim in check_balance(made)}


def repeats(made: Design) -> int:
    """Counted anew: clips and treatments that follow themselves."""
    return sum(
        (a.item == b.item) + (a.treatment == b.treatment)
        for plan in made.plans
        for session in plan.sessions
        for a, b in pairwise(session)
    )


@pytest.mark.parametrize(
    ("systems", "clips", "sessions", "kind"),
    [(5, 2, 1, "acr"), (4, 2, 1, "acr"), (8, 2, 1, "ab"), (2, 3, 2, "acr"), (4, 3, 2, "acr")],
)
def test_nothing_follows_itself_where_two_or_three_clips_leave_a_way(
    systems: int, clips: int, sessions: int, kind: str
) -> None:
    made = make_design(
        small(systems=systems, clips=clips, sessions=sessions, kind=kind, listeners=many(4, 20))
    )
    assert repeats(made) == 0


@pytest.mark.parametrize(("systems", "clips"), [(2, 2), (1, 3), (3, 1)])
def test_repeats_that_no_order_avoids_cannot_be(systems: int, clips: int) -> None:
    made = make_design(small(systems=systems, clips=clips, sessions=1, kind="acr", listeners=4))
    kept = {
        told(made)[f"times a {what} directly follows itself, per listener"].kept
        for what in ("clip",)
    }
    kept |= {
        one.kept
        for one in check_balance(made)
        if one.what == "times a system directly follows itself, per listener"
    }
    assert kept == ({CLAIM_KEPT} if systems == 1 else kept & {CLAIM_IMPOSSIBLE, CLAIM_KEPT})
    assert (CLAIM_IMPOSSIBLE in kept) == (systems > 1)


@given(st.sets(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=6))
def test_whether_repeats_can_be_avoided_is_what_all_orders_say(
    session: set[tuple[int, int]],
) -> None:
    def clean(order: tuple[tuple[int, int], ...]) -> bool:
        return all(a[0] != b[0] and a[1] != b[1] for a, b in pairwise(order))

    assert can_avoid_repeats(frozenset(session)) == any(map(clean, permutations(session)))


@pytest.mark.parametrize(
    ("systems", "clips", "listeners", "apart"),
    [(4, 1, 24, 2), (5, 1, 20, 2), (4, 2, 24, 2), (5, 4, 32, 2), (3, 3, 12, 1)],
)
def test_successions_and_first_places_are_even_over_a_panel(
    systems: int, clips: int, listeners: int, apart: int
) -> None:
    study = small(systems=systems, clips=clips, sessions=1, kind="acr", listeners=listeners)
    made = make_design(study)
    pairs = Counter(
        (a.systems, b.systems)
        for plan in made.plans
        for session in plan.sessions
        for a, b in pairwise(session)
    )
    names = [(name,) for name in study.systems]
    counts = [pairs[a, b] for a in names for b in names if a != b]
    firsts = Counter(session[0].systems for plan in made.plans for session in plan.sessions)
    assert max(counts) - min(counts) <= apart
    assert max(firsts.values()) - min(firsts[name] for name in names) <= 1
    found = told(made)["times one system directly follows another, per panel"]
    assert found.observed == (
        f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else str(counts[0])
    )


@given(
    kind=st.sampled_from(["ab", "abx", "ccr", "bs1116", "mushra"]),
    systems=st.integers(2, 4),
    clips=st.integers(1, 9),
    listeners=st.integers(1, 9),
    seed=st.integers(0, 99),
)
def test_places_are_even_for_every_listener_and_for_every_clip(
    kind: str, systems: int, clips: int, listeners: int, seed: int
) -> None:
    study = small(
        systems=systems, clips=clips, sessions=1, kind=kind, listeners=listeners, seed=seed
    )
    made = make_design(study)
    trials = [(plan.listener, t) for plan in made.plans for s in plan.sessions for t in s]
    for clip in (False, True):
        counts: Counter[tuple[object, tuple[str, ...], str, int]] = Counter()
        unknown: Counter[tuple[object, tuple[str, ...], str]] = Counter()
        for listener, trial in trials:
            own: tuple[object, tuple[str, ...]]
            own = trial.item if clip else listener, trial.treatment
            counts.update((*own, one, place) for place, one in enumerate(trial.systems))
            unknown[*own, trial.systems[trial.target]] += 1
        for own in {(a, b) for a, b, _, _ in counts}:
            places = [counts[*own, one, place] for one in own[1] for place in range(len(own[1]))]
            assert max(places) - min(places) <= 1
            if kind == "abx":
                assert abs(unknown[*own, own[1][0]] - unknown[*own, own[1][1]]) <= 2
    assert {
        c.kept for c in check_balance(made) if " is in each position" in c.what or " is X" in c.what
    } == {CLAIM_KEPT}


def test_every_system_is_heard_although_panels_are_small() -> None:
    made = make_design(
        small(systems=4, clips=3, sessions=1, heard=2, listeners=8, panels=4, kind="acr")
    )
    found = told(made)
    assert found["votes per clip and system, on each scale"].observed == "1 (12 in total)"
    alone = make_design(
        small(systems=4, clips=3, sessions=1, heard=2, listeners=4, panels=4, kind="acr")
    )
    heard = Counter(t.systems for plan in alone.plans for s in plan.sessions for t in s)
    assert set(heard.values()) == {6}
    assert len(heard) == 4


def test_a_system_that_nobody_hears_is_named() -> None:
    made = make_design(small(systems=4, clips=3, sessions=1, heard=2, listeners=4, kind="acr"))
    bad = replace(made, plans=made.plans[:1] * 4)
    found = told(bad)["votes per clip and system, on each scale"]
    assert found.observed == "0 to 4 (0 to 12 in total); heard by no listener: C, D"
    assert found.kept == CLAIM_MISSED
    few = replace(made, plans=made.plans[:1])
    assert told(few)["votes per clip and system, on each scale"].kept == CLAIM_MISSED


@given(
    systems=st.integers(2, 9),
    heard=st.integers(1, 8),
    panels=st.integers(1, 6),
    turns=st.integers(1, 40),
)
def test_listeners_of_a_panel_start_with_either_order_equally_often(
    systems: int, heard: int, panels: int, turns: int
) -> None:
    heard, names = min(heard, systems), [f"s{n}" for n in range(systems)]
    starts = [first_scale_order(turn, systems, heard) for turn in range(turns)]
    assert abs(2 * sum(starts) - turns) <= 1
    for panel in range(panels):
        own = [systems_heard(turn, names, heard, panel) for turn in range(turns)]
        for name in names:
            with_it = [start for start, one in zip(starts, own, strict=True) if name in one]
            assert abs(2 * sum(with_it) - len(with_it)) <= 5


@pytest.mark.parametrize(("systems", "heard"), [(4, 2), (6, 2), (5, 2), (5, 3), (4, 3)])
def test_first_listeners_of_any_number_hear_systems_and_pairs_evenly(
    systems: int, heard: int
) -> None:
    names = [f"s{n}" for n in range(systems)]
    for turns in range(1, 4 * systems):
        sets = [set(systems_heard(turn, names, heard)) for turn in range(turns)]
        once = [sum(name in one for one in sets) for name in names]
        assert max(once) - min(once) <= 1 + ((systems, heard, turns) == (6, 2, 9))
        first = [set(systems_heard(0, names, heard, panel)) for panel in range(turns)]
        across = [sum(name in one for one in first) for name in names]
        assert max(across) - min(across) <= 1


def test_pairs_that_no_sets_make_even_cannot_be() -> None:
    """Of 5 systems by threes, two sets share a system, and three share a pair: 9 of 10 once."""
    made = make_design(small(systems=5, clips=5, sessions=1, heard=3, listeners=3, kind="acr"))
    found = told(made)["listeners per panel who hear each pair of systems"]
    assert (found.observed, found.kept) == ("0 to 2", CLAIM_IMPOSSIBLE)
    assert told(made)["listeners per panel who hear each system"].kept == CLAIM_KEPT


def test_numbers_are_as_close_as_the_best_of_many_shuffles() -> None:
    worse = 0
    for seed in range(many(20, 100)):
        rng = np.random.default_rng(seed)
        table = np.column_stack([rng.exponential(size=28), rng.normal(size=28)])
        clips = [{"x": float(x), "y": float(y)} for x, y in table]
        made = equivalent_subsets(clips, number=3, size=8, numbers=["x", "y"], seed=[seed])
        shuffled = (rng.permutation(28)[:24].reshape(3, 8) for _ in range(300))
        worse += _off(table, made) > min(_off(table, one.tolist()) for one in shuffled)
    assert worse == 0


def _off(table: np.ndarray[Any, np.dtype[np.float64]], subsets: list[list[int]]) -> float:
    """Squares by which means of subsets differ from those of the whole, in standard deviations."""
    means = np.array([table[own].mean(axis=0) for own in subsets])
    return float((((means - table.mean(axis=0)) / table.std(axis=0)) ** 2).sum())


@given(
    strata=st.lists(st.integers(1, 4), min_size=2, max_size=12),
    number=st.integers(1, 4),
    size=st.integers(1, 6),
)
def test_no_stratum_is_lost_where_there_is_room(strata: list[int], number: int, size: int) -> None:
    clips = [
        {"a": f"a{n % 3}", "b": f"b{n // 3}"}
        for n, many_ in enumerate(strata)
        for _ in range(many_)
    ]
    if number * size > len(clips):
        return
    found = equivalent_subsets(clips, number=number, size=size, categories=["a", "b"])
    has = {(clips[i]["a"], clips[i]["b"]) for own in found for i in own}
    assert len(has) == min(len(strata), number * size)
