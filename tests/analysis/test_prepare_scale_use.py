"""How listeners use scales, beside plain counts."""

from __future__ import annotations

import math
import random

from earwitness.analysis.prepare import longest_run, scale_use, share_alike, usual_share
from earwitness.core import Key, Rating
from helpers.samples import many


def vote(
    value: float, trial: int, scale: str = "SIG", session: int = 1, listener: int = 1
) -> Rating:
    key = Key(f"clip {trial}", f"system {trial % 2}")
    return Rating(key, scale, listener, session, value, trial=trial)


def plain_run(votes: list[Rating]) -> int:
    """Every stretch of trials, long ones too."""
    best = 0
    for session in {one.session for one in votes}:
        own = sorted((one.trial, one.value) for one in votes if one.session == session)
        values = [value for _, value in own]
        for start in range(len(values)):
            for end in range(start + 1, len(values) + 1):
                if len(set(values[start:end])) == 1:
                    best = max(best, end - start)
    return best


def test_runs_and_usual_values_are_those_of_plain_counts() -> None:
    rng = random.Random(1)
    for _ in range(many(100, 2000)):
        sessions = [
            (session, trial) for session in (1, 2) for trial in range(1, rng.randint(2, 12))
        ]
        votes = [vote(rng.randint(3, 5), trial, session=session) for session, trial in sessions]
        rng.shuffle(votes)
        values = [one.value for one in votes]
        found = scale_use(votes, "SIG")[1]
        assert found.run == plain_run(votes)
        assert found.usual == max(values.count(one) for one in (3, 4, 5)) / len(values)


def test_a_row_ends_with_the_session() -> None:
    votes = [vote(4, trial, session=session) for session in (1, 2) for trial in (1, 2, 3)]
    assert longest_run(votes) == 3


def test_a_row_is_in_order_of_trials_not_of_lines() -> None:
    assert longest_run([vote(4, 1), vote(4, 3), vote(4, 4), vote(2, 2)]) == 2


def test_without_order_or_votes_nothing_is_claimed() -> None:
    assert longest_run([vote(4, 0), vote(4, 0)]) == 0
    assert longest_run([]) == 0
    assert math.isnan(usual_share([]))
    assert scale_use([], "SIG") == {}


def test_trials_alike_on_all_scales_are_counted_where_there_are_several() -> None:
    votes = [vote(4, 1), vote(4, 1, "BAK"), vote(4, 1, "OVRL")]
    votes += [vote(4, 2), vote(4, 2, "BAK"), vote(3, 2, "OVRL")]
    votes += [vote(4, 3)]  # one scale says nothing
    votes += [vote(2, 1, listener=2), vote(2, 1, "BAK", listener=2)]
    assert share_alike(votes) == {1: 1 / 2, 2: 1.0}
