"""Archives that are kept are those that would be made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from earwitness.models.cache import Cache
from earwitness.skims import make
from earwitness.skims.day import Day
from earwitness.skims.make import load_archive
from earwitness.skims.methods.pareto import SkimArchive, make_archive
from earwitness.skims.methods.plan import SkimPlan

PLAN = SkimPlan(picks=4, period=80.0)


@pytest.fixture
def day() -> Day:
    rng = np.random.default_rng(0)
    vectors, classes = rng.normal(size=(200, 6)), rng.uniform(size=(200, 5))
    starts = np.arange(200) * 8.0
    return Day.of(starts, 8.0, vectors.astype("f4"), classes.astype("f4"), 1600.0)


def test_a_kept_archive_is_the_one_that_was_made(tmp_path: Path, day: Day) -> None:
    made = load_archive(day, PLAN, Cache(tmp_path))
    assert made == make_archive(day, PLAN)
    assert load_archive(day, PLAN, Cache(tmp_path)) == made


def test_an_archive_is_made_once_for_the_same_numbers_only(
    tmp_path: Path, day: Day, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Day] = []

    def counted(day: Day, plan: SkimPlan) -> SkimArchive:
        calls.append(day)
        return make_archive(day, plan)

    monkeypatch.setattr(make, "make_archive", counted)
    others = [
        replace(day, vectors=day.vectors + np.float32(1e-6) * (np.arange(6) == 0)),
        replace(day, classes=day.classes * np.float32(0.999)),
        replace(day, starts=day.starts + 1),
        replace(day, allowed=np.arange(200) > 0),
    ]
    for one in (day, day, *others, *others):
        load_archive(one, PLAN, Cache(tmp_path))
    assert len(calls) == 5
    load_archive(day, replace(PLAN, picks=5), Cache(tmp_path))
    assert len(calls) == 6
