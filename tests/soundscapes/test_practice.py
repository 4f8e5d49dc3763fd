"""Practice: seven skims whose places teach what TC and SD are."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pytest

from earwitness.soundscapes.practice import (
    BLOCK_SECONDS,
    PICKS_PER_SKIM,
    HourCourse,
    PracticeSkim,
    make_practice_skims,
)
from earwitness.soundscapes.scene import iterate_random_days
from earwitness.soundscapes.timetable import TIMETABLE_PRESETS
from earwitness.soundscapes.truth import total_variation
from earwitness.soundscapes.write import soundscape
from helpers.samples import many


@pytest.mark.parametrize("preset", TIMETABLE_PRESETS)
@pytest.mark.parametrize("seed", range(many(1, 5)))
def test_the_seven_are_where_they_should_be(preset: str, seed: int) -> None:
    scene = soundscape(preset, seed=seed)
    forms, diverse, steady, quiet, course, _, reordered = found = make_practice_skims(scene)
    for one in found:
        assert len(one.skim.picks) == PICKS_PER_SKIM
        assert len({pick.start for pick in one.skim.picks}) == PICKS_PER_SKIM
        assert all(0 <= pick.start <= scene.seconds - BLOCK_SECONDS for pick in one.skim.picks)
        assert one.skim.seconds == 63
        if one is not reordered:
            assert list(one.skim.picks) == sorted(one.skim.picks, key=lambda pick: pick.start)
    _expect_places(*found)
    assert steady.tc < quiet.tc < course.tc
    assert forms.tc < course.tc
    assert set(steady.heard) < set(diverse.heard)


def _expect_places(*found: PracticeSkim) -> None:
    forms, diverse, steady, _, course, balanced, reordered = found
    assert course.tc == max(one.tc for one in found)
    assert diverse.sd == max(one.sd for one in found)
    assert steady.sd == min(one.sd for one in found) < forms.sd < diverse.sd
    assert len(steady.heard) == 1
    assert diverse.tc < balanced.tc < course.tc
    assert course.sd < balanced.sd < diverse.sd
    assert reordered.sd == balanced.sd
    assert reordered.tc < balanced.tc - 0.05
    assert sorted(pick.start for pick in reordered.skim.picks) == [
        pick.start for pick in balanced.skim.picks
    ]


def test_any_day_has_seven_skims_and_its_course_has_the_highest_tc() -> None:
    for scene in iterate_random_days(many(2, 20), 5):
        found = make_practice_skims(scene)
        assert found[4].tc == max(one.tc for one in found)
        assert found[2].sd == min(one.sd for one in found)
        assert found[5].sd == found[6].sd
        assert found[6].tc < found[5].tc


def test_the_course_is_that_of_trying_all_parts_and_blocks() -> None:
    rng = np.random.default_rng(3)
    for _ in range(many(10, 100)):
        hours, blocks = rng.dirichlet(np.ones(3), 6), rng.dirichlet(np.ones(3), 12)
        hour_of = np.arange(12) // 2.0
        costs = total_variation(hours, blocks)
        tried = []
        for cut in combinations(range(1, 6), 2):
            edges = [0, *cut, 6]
            parts = list(pairwise(edges))
            for rows in product(*(range(2 * first, 2 * last) for first, last in parts)):
                cost = sum(costs[a:b, row].sum() for (a, b), row in zip(parts, rows, strict=True))
                tried.append((cost, list(rows)))
        assert HourCourse(hours, blocks, hour_of).best_rows(3) == min(tried)[1]
