"""Gold, trapping and repeated trials inside sessions, without a change of the other trials."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from earwitness.errors import UsageError
from earwitness.studies.design.balance import check_balance
from earwitness.studies.design.insertions import without_inserted
from earwitness.studies.design.plan import count_minutes, make_design
from earwitness.studies.design.subset_balance import CLAIM_MISSED
from earwitness.studies.study import CHECK_ROLES, CheckClip, QualityControl, Study
from helpers.study_files import udase

CLIPS = tuple(
    CheckClip(f"{role}{n}.wav", role, f"{role}{n}.wav", 3.0, {"OVRL": 3.0})
    for role in ("gold", "trap")
    for n in range(3)
)


def controlled(**more: float) -> Study:
    quality = QualityControl(CLIPS, **{"gold": 2, "traps": 1, "repeats": 0.1} | more)  # type: ignore[arg-type]
    return udase(listeners=12, quality=quality)


def test_the_other_trials_and_their_balance_stay_as_they_were() -> None:
    design, plain = make_design(controlled()), make_design(udase(listeners=12))
    assert [plan.sessions for plan in without_inserted(design).plans] == [
        plan.sessions for plan in plain.plans
    ]
    claims = check_balance(design)
    assert claims[: len(check_balance(plain))] == check_balance(plain)
    assert {claim.kept for claim in claims[len(check_balance(plain)) :]} == {"yes"}


def test_every_session_has_its_checks_and_repeats_inside() -> None:
    sessions = [session for plan in make_design(controlled()).plans for session in plan.sessions]
    for session in sessions:
        roles = Counter(trial.role for trial in session)
        assert roles == {"": 40, "gold": 2, "trap": 1, "repeat": 4}
        assert not session[0].role
        assert not session[-1].role
        for before, after in pairwise(session):
            assert not (before.role and after.role)
            assert before.item != after.item
        for place, trial in enumerate(session):
            if trial.role == "repeat":
                assert session.index(replace(trial, role="")) < place - 9
    used = Counter(trial.item for session in sessions for trial in session if trial.role == "gold")
    assert set(used.values()) == {32}
    parts = Counter(
        [trial.role for trial in session if trial.role in CHECK_ROLES].index("trap")
        for session in sessions
    )
    assert parts == {0: 16, 1: 16, 2: 16}


def test_a_listener_who_is_added_changes_no_other_plan() -> None:
    study = controlled()
    assert make_design(replace(study, listeners=16)).plans[:12] == make_design(study).plans


def test_the_report_tells_where_a_repeat_is_beside_its_clip() -> None:
    design = make_design(controlled())
    plan = design.plans[0]
    session = plan.sessions[0]
    broken = (session[0], replace(session[0], role="repeat"), *session[1:])
    plans = (replace(plan, sessions=(broken, *plan.sessions[1:])), *design.plans[1:])
    missed = [c.what for c in check_balance(replace(design, plans=plans)) if c.kept == CLAIM_MISSED]
    assert "repeats per session" in missed
    assert "repeats directly before or after the same clip" in missed


def test_inserted_trials_take_time() -> None:
    steps = {step.what: step for step in count_minutes(controlled())}
    assert steps["quality control"].how.startswith("28 gold, trapping and repeated trials × ")


def test_a_session_too_short_for_inserted_trials_is_refused() -> None:
    quality = QualityControl(CLIPS, gold=3, traps=3)
    study = udase(listeners=4, clips=4, sessions=4, quality=quality)
    with pytest.raises(UsageError, match="a session of 5 trials is too short for 6 trials of"):
        make_design(study)
