"""Doubled votes: which of them counts, by rule."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.analysis.evidence import RepeatedVote
from earwitness.analysis.prepare import REPEAT_RULES, resolve_repeats
from earwitness.core import Key, Rating
from earwitness.errors import InputError, UsageError

KEY = Key("a", "C0")
VOTES = [
    Rating(KEY, "SIG", 1, 2, 5.0, trial=1),
    Rating(KEY, "BAK", 1, 1, 1.0, trial=1),
    Rating(KEY, "SIG", 1, 1, 2.0, trial=9),
    Rating(KEY, "SIG", 1, 1, 3.0, trial=4),
    Rating(KEY, "SIG", 2, 1, 4.0, trial=1),
]


@pytest.mark.parametrize(
    ("rule", "counted"),
    [
        ("first", 3.0),  # session 1, trial 4
        ("last", 5.0),  # session 2
        ("mean", (3.0 + 2.0 + 5.0) / 3),
    ],
)
def test_of_doubled_votes_the_rule_says_which_counts(rule: str, counted: float) -> None:
    kept, doubled = resolve_repeats(VOTES, rule)
    assert [(one.scale, one.listener, one.value) for one in kept] == [
        ("SIG", 1, counted),
        ("BAK", 1, 1.0),
        ("SIG", 2, 4.0),
    ]
    assert doubled == (RepeatedVote(KEY, "SIG", 1, (3.0, 2.0, 5.0), counted),)


def test_where_trials_are_not_known_votes_are_in_the_order_of_the_file() -> None:
    votes = [replace(one, session=0, trial=0) for one in VOTES]
    assert resolve_repeats(votes)[1][0].values == (5.0, 2.0, 3.0)
    some = [replace(VOTES[2], trial=0), VOTES[3]]
    assert resolve_repeats(some)[1][0].values == (2.0, 3.0)


def test_the_first_vote_counts_if_nothing_is_said() -> None:
    assert resolve_repeats(VOTES) == resolve_repeats(VOTES, "first")


def test_doubled_votes_may_be_refused_all_at_once() -> None:
    with pytest.raises(InputError) as error:
        resolve_repeats([*VOTES, *VOTES], "refuse", source="votes.csv")
    assert [str(one) for one in error.value.problems][1] == (
        "votes.csv: SIG: listener 1 rated C0 6 times: 3, 3, 2, 2, 5, 5"
        ' — choose which vote to use: first, last or mean [item "a"]'
    )
    assert error.value.count == 3
    assert resolve_repeats(VOTES[3:], "refuse") == (VOTES[3:], ())


def test_votes_against_another_system_are_other_votes() -> None:
    votes = [replace(VOTES[0], against=Key("a", other)) for other in ("C1", "C2")]
    assert resolve_repeats(votes) == (votes, ())


def test_an_unknown_rule_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match='did you mean "mean"'):
        resolve_repeats([], "means")


votes = st.lists(
    st.builds(
        Rating,
        st.builds(Key, st.sampled_from("ab"), st.sampled_from("CD")),
        st.just("SIG"),
        st.sampled_from([1, 2]),
        st.integers(0, 2),
        st.integers(1, 5).map(float),
        st.none(),
        st.just(0),
        st.integers(0, 3),
    )
)


@given(votes, st.sampled_from(REPEAT_RULES[:3]))
def test_every_cell_keeps_one_vote_that_lies_among_those_given(
    ratings: list[Rating], rule: str
) -> None:
    kept, doubled = resolve_repeats(ratings, rule)
    cells: dict[tuple[Key, int | str], list[float]] = {}
    for one in ratings:
        cells.setdefault((one.key, one.listener), []).append(one.value)
    assert [(one.key, one.listener) for one in kept] == list(cells)
    for one in kept:
        given = cells[one.key, one.listener]
        assert min(given) <= one.value <= max(given)
        assert rule == "mean" or one.value in given
    several = [sorted(values) for values in cells.values() if len(values) > 1]
    assert [sorted(one.values) for one in doubled] == several
    assert resolve_repeats(kept, rule) == (kept, ())
