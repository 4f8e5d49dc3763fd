"""Archives that are kept are those that would be made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from earwitness.api.skims import archived
from earwitness.api.skims.archived import kept_archive
from earwitness.models.cached import Cache
from earwitness.stats.skims.day import Day
from earwitness.summarizers.skims import Plan
from earwitness.summarizers.skims.archive import archive_of
from earwitness.summarizers.skims.hull import Archive

PLAN = Plan(picks=4, period=80.0)


@pytest.fixture
def day() -> Day:
    rng = np.random.default_rng(0)
    vectors, classes = rng.normal(size=(200, 6)), rng.uniform(size=(200, 5))
    starts = np.arange(200) * 8.0
    return Day.of(starts, 8.0, vectors.astype("f4"), classes.astype("f4"), 1600.0)


def test_a_kept_archive_is_the_one_that_was_made(tmp_path: Path, day: Day) -> None:
    made = kept_archive(day, PLAN, Cache(tmp_path))
    assert made == archive_of(day, PLAN)
    assert kept_archive(day, PLAN, Cache(tmp_path)) == made


def test_an_archive_is_made_once_for_the_same_numbers_only(
    tmp_path: Path, day: Day, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Day] = []

    def counted(day: Day, plan: Plan) -> Archive:
        calls.append(day)
        return archive_of(day, plan)

    monkeypatch.setattr(archived, "archive_of", counted)
    others = [
        replace(day, vectors=day.vectors + np.float32(1e-6) * (np.arange(6) == 0)),
        replace(day, classes=day.classes * np.float32(0.999)),
        replace(day, starts=day.starts + 1),
        replace(day, allowed=np.arange(200) > 0),
    ]
    for one in (day, day, *others, *others):
        kept_archive(one, PLAN, Cache(tmp_path))
    assert len(calls) == 5
    kept_archive(day, replace(PLAN, picks=5), Cache(tmp_path))
    assert len(calls) == 6
