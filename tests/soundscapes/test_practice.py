"""Practice: seven skims whose places teach what TC and SD are."""

from __future__ import annotations

import re
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from earwitness.errors import UsageError
from earwitness.soundscapes.practice import (
    BLOCK_SECONDS,
    PICKS_PER_SKIM,
    REASONS,
    SOURCE_NAMES,
    HourCourse,
    PracticeSkim,
    make_practice_skims,
)
from earwitness.soundscapes.scene import Scene, make_scene
from earwitness.soundscapes.sources import SOURCES
from earwitness.soundscapes.timetable import (
    TIMETABLE_PRESETS,
    Timetable,
    TimetableRow,
    spread_over_hours,
)
from earwitness.soundscapes.truth import BACKGROUND_SOURCE, Truth, hour_spans, total_variation
from earwitness.soundscapes.write import soundscape
from helpers.random_scenes import make_random_day
from helpers.samples import many


@pytest.mark.parametrize("preset", TIMETABLE_PRESETS)
@pytest.mark.parametrize("seed", range(many(1, 5)))
def test_the_seven_of_a_preset_are_where_they_should_be(preset: str, seed: int) -> None:
    scene = soundscape(preset, seed=seed)
    found = make_practice_skims(scene)
    for one in found:
        assert len(one.skim.picks) == PICKS_PER_SKIM
        assert len({pick.start for pick in one.skim.picks}) == PICKS_PER_SKIM
        assert all(0 <= pick.start <= scene.seconds - BLOCK_SECONDS for pick in one.skim.picks)
        assert one.skim.seconds == 63
        if one is not found[-1]:
            assert list(one.skim.picks) == sorted(one.skim.picks, key=lambda pick: pick.start)
    _expect_places(scene, found)


@pytest.mark.parametrize("number", range(many(4, 20)))
def test_the_seven_of_a_random_day_are_where_they_should_be(number: int) -> None:
    scene = make_random_day(number, 11, hour=300)
    _expect_places(scene, make_practice_skims(scene))


def _expect_places(scene: Scene, found: tuple[PracticeSkim, ...]) -> None:
    """Places as the protocol explains them, measured with the truth anew."""
    truth = Truth(scene.events, scene.seconds)
    sd = [truth.sd(one.skim.picks) for one in found]
    tc = [truth.tc(one.skim.picks, scene.hour) for one in found]
    assert [one.sd for one in found] == pytest.approx(sd)
    assert [one.tc for one in found] == pytest.approx(tc)
    forms, diverse, steady, quiet, course, balanced, reordered = range(7)
    one_source = 1 / len(truth.sources)
    assert sd[steady] == pytest.approx(one_source)
    assert sd[quiet] == pytest.approx(2 * one_source)
    assert found[quiet].heard == (*found[steady].heard, "background")
    assert sd[steady] < sd[forms] < sd[diverse]
    assert sd[course] < sd[balanced] < sd[diverse]
    assert sd[balanced] == sd[reordered]
    assert tc[steady] < tc[diverse] < tc[forms] < tc[diverse] + 0.1
    assert tc[steady] < tc[quiet] < tc[course]
    assert tc[forms] < tc[course]
    assert max(tc[diverse], tc[reordered]) < tc[balanced] < tc[course] - 0.05
    assert tc[balanced] / tc[course] > sd[balanced] / sd[diverse]  # leans towards TC
    assert sorted(pick.start for pick in found[reordered].skim.picks) == [
        pick.start for pick in found[balanced].skim.picks
    ]


def test_a_day_that_cannot_have_the_seven_is_refused() -> None:
    everywhere = (1.0,) * 24
    always = Timetable("rain all day", (TimetableRow("rain", shares=everywhere),), hour=60.0)
    with pytest.raises(UsageError, match=r"no skim has SD between .* — use another seed"):
        make_practice_skims(make_scene(always))
    # no event is as long as a block, so no source sounds alone in one
    short = tuple(
        TimetableRow(name, events=spread_over_hours({f"{hour}-{hour + 4}": 2}), seconds=(5, 6))
        for hour, name in enumerate(("wind", "rain", "brook", "saw", "frogs", "bees", "machine"))
    )
    with pytest.raises(UsageError, match="no source sounds alone in 12 blocks of 8 s"):
        make_practice_skims(make_scene(Timetable("short events", short, hour=120.0)))


def test_reasons_are_true_of_the_day() -> None:
    scene = make_random_day(0, 5, hour=300)
    truth = Truth(scene.events, scene.seconds)
    hours = truth.presence(*hour_spans(scene.seconds, scene.hour))
    found = make_practice_skims(scene)
    (steady,) = found[2].heard
    column = truth.names.index(steady)
    dominated = int((hours.argmax(1) == column).sum())
    quieter = int((hours[:, -1] > hours[:, column]).sum())
    where = f"only {dominated} of 24 hours" if dominated else "no hour"
    assert f"{steady} is the most present source of {where}." in found[2].reason
    assert f"more present than {steady} in {quieter} of 24 hours" in found[3].reason
    count = len(truth.sources)
    for one in (found[0], found[1], found[5]):
        assert f"{len(one.heard)} of {count} sources" in one.reason
    first, *_, last = (int(pick.start // scene.hour) + 1 for pick in found[6].skim.picks)
    assert f"first block comes from hour {first}, the last one from hour {last}" in found[6].reason
    for pick in found[0].skim.picks:  # "Heard in every block: A, B or C."
        kinds = found[0].reason.removeprefix("Heard in every block: ").partition(". ")[0]
        assert set(truth.heard([pick])) & set(kinds.replace(" or ", ", ").split(", "))
    assert found[0].reason.endswith(" An hour of this short day lasts 300 s.")
    for one, other in zip(found, make_practice_skims(scene, "fr"), strict=True):
        assert one.skim == other.skim
        numbers = [sorted(re.findall(r"\d+", text.reason)) for text in (one, other)]
        assert numbers[0] == numbers[1]


def test_reasons_and_names_of_sources_exist_in_all_languages() -> None:
    for language, texts in REASONS.items():
        assert texts.keys() == REASONS["en"].keys()
        names = SOURCE_NAMES.get(language, {})
        assert language == "en" or names.keys() == {*SOURCES, BACKGROUND_SOURCE}


def test_the_course_is_that_of_trying_all_parts_and_blocks() -> None:
    rng = np.random.default_rng(3)
    for _ in range(many(10, 100)):
        hours, blocks = rng.dirichlet(np.ones(3), 6), rng.dirichlet(np.ones(3), 12)
        hour_of = np.arange(12) // 2.0
        costs = total_variation(hours, blocks)
        course = HourCourse(costs, hour_of)
        tried = []
        for cut in combinations(range(1, 6), 2):
            edges = [0, *cut, 6]
            parts = list(pairwise(edges))
            for rows in product(*(range(2 * first, 2 * last) for first, last in parts)):
                cost = sum(costs[a:b, row].sum() for (a, b), row in zip(parts, rows, strict=True))
                tried.append((cost, list(rows)))
        heard = np.zeros((12, 1), bool)
        assert course.plain_rows(course.parts(3), heard, 0.0) == min(tried)[1]
