"""Selection: reviews, balance beside all combinations, and what is refused."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from earwitness.errors import InputError, UsageError
from earwitness.material.selection import (
    audio_select,
    equal_counts,
    select_clips,
    selection_report,
)
from earwitness.report.text import render_text
from earwitness.studies.design.subsets import Strata
from helpers.samples import many
from helpers.study_files import material


def write_table(folder: Path, count: int = 24) -> Path:
    rng = np.random.default_rng(1)
    rows = [
        f"c{n:02},4.5,{'S01' if n % 2 else 'S21'},{'FM'[n % 3 == 0]},{rng.normal(10, 4):.2f}"
        for n in range(count)
    ]
    path = folder / "clips.csv"
    path.write_text("\n".join(["name,seconds,session,sex,snr", *rows, ""]), encoding="utf-8")
    return path


def write_review(folder: Path, *lines: str) -> Path:
    path = folder / "review.csv"
    path.write_text("\n".join(["name,decision,reason", *lines, ""]), encoding="utf-8")
    return path


def test_dropped_clips_are_left_out_and_counted_by_reason(tmp_path: Path) -> None:
    table = write_table(tmp_path, 5)
    lines = ["c00,drop,cut word", "c01,keep,", 'c02,drop,"a, b"', "c03,drop,cut word", "c04,Keep,"]
    selected = audio_select(table, review=write_review(tmp_path, *lines))
    before = table.read_text(encoding="utf-8").splitlines()
    assert selected.text.splitlines() == [before[0], before[2], before[5]]
    assert selected.dropped == {"cut word": 2, "a, b": 1}
    assert "dropped: cut word" in render_text(selection_report(selected))


def test_clips_without_a_decision_are_kept_or_dropped_or_refused(tmp_path: Path) -> None:
    table, review = write_table(tmp_path, 4), write_review(tmp_path, "c00,keep,", "c01,drop,")
    with pytest.raises(UsageError, match='2 of 4 clips are not reviewed, such as "c02"'):
        audio_select(table, review=review)
    names = [
        [row[0] for row in audio_select(table, review=review, unreviewed=what).rows]
        for what in ("keep", "drop")
    ]
    assert names == [["c00", "c02", "c03"], ["c00"]]
    with pytest.raises(UsageError, match="no review is given"):
        audio_select(table)
    assert len(audio_select(table, unreviewed="keep").rows) == 4


def test_a_selection_is_balanced_stable_and_seeded(tmp_path: Path) -> None:
    table = write_table(tmp_path)
    options = {
        "unreviewed": "keep",
        "count": 12,
        "balance": ["session", "sex"],
        "numbers": ["snr"],
        "panels": 2,
    }
    selected = audio_select(table, **options)  # type: ignore[arg-type]
    names = [row[0] for row in selected.rows]
    assert names == sorted(names)
    assert len(names) == 12
    assert selected.selection is not None
    margins = {(m.covariate, m.category): (m.whole, *m.subsets) for m in selected.selection.margins}
    assert margins["session", "S01"] == (12, 6, 3, 3)
    assert margins["sex", "M"] == (8, 4, 2, 2)
    whole, chosen, *panels = margins["snr", "mean"]
    assert max(abs(one - whole) for one in (chosen, *panels)) < 0.5
    assert audio_select(table, **options).rows == selected.rows  # type: ignore[arg-type]
    other = audio_select(table, **options, seed=1)  # type: ignore[arg-type]
    assert other.rows != selected.rows


def plain_cost(strata: Strata, counts: tuple[int, ...]) -> float:
    return float(((strata.categories @ np.array(counts)) ** 2).sum())


def test_equal_shares_are_as_equal_as_any_choice() -> None:
    for seed in range(many(20, 500)):
        rng = np.random.default_rng(seed)
        clips = [{"a": str(rng.integers(2)), "b": str(rng.integers(3))} for _ in range(14)]
        strata = Strata.of(clips, ["a", "b"])
        counts = equal_counts(strata.categories, strata.sizes, 7)
        choices = product(*(range(size + 1) for size in strata.sizes))
        best = min(plain_cost(strata, one) for one in choices if sum(one) == 7)
        assert counts.sum() == 7
        assert (counts <= strata.sizes).all()
        assert plain_cost(strata, tuple(counts)) == pytest.approx(best)


def test_equal_shares_with_panels() -> None:
    clips = [{"sex": "F" if n < 20 else "M", "snr": float(n)} for n in range(30)]
    found = select_clips(
        clips, 16, balance=["sex"], numbers=["snr"], panels=2, shares="equal", seed=3
    )
    assert found.margins[0].subsets == (8, 4, 4)
    assert sorted(sum(found.panels, ())) == list(found.chosen)


def test_four_panels_of_the_udase_test_are_equivalent() -> None:
    clips = [clip.covariates for clip in material()]
    names = ["session", "location", "sex"]
    found = select_clips(clips, 128, balance=names, numbers=["snr"], panels=4)
    for margin in found.margins[:-1]:
        _, *panels = margin.subsets
        assert max(abs(one - 32 * margin.whole / 220) for one in panels) < 1
        assert max(panels) - min(panels) <= 1
    assert max(found.margins[-1].subsets) - min(found.margins[-1].subsets) < 0.05


def test_problems_of_a_review_are_listed(tmp_path: Path) -> None:
    table = write_table(tmp_path, 3)
    review = write_review(tmp_path, "c00,maybe,", "x9,keep,", "c01,keep,", "c01,drop,")
    with pytest.raises(InputError, match="3 problems; nothing was selected") as error:
        audio_select(table, review=review)
    assert [one.line for one in error.value.problems] == [2, 3, 5]
    review.write_text("name;decision\na;keep\n", encoding="utf-8")
    with pytest.raises(InputError, match="separate columns with commas"):
        audio_select(table, review=review)
    review.write_text("clip,verdict\na,b\n", encoding="utf-8")
    with pytest.raises(InputError, match="export it from the review page"):
        audio_select(table, review=review)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"balance": ["sex"]}, "set count"),
        ({"count": 30}, "use a smaller count"),
        ({"count": 10, "panels": 4}, "multiple of the number of panels"),
        ({"count": 4, "balance": ["sexx"]}, 'did you mean "sex"'),
        ({"count": 4, "numbers": ["sex"]}, "must have numbers"),
    ],
)
def test_wrong_options_are_refused(
    tmp_path: Path, options: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        audio_select(write_table(tmp_path), unreviewed="keep", **options)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="is a folder — give the clips"):
        audio_select(tmp_path, unreviewed="keep")
    with pytest.raises(UsageError, match="no clip is left"):
        audio_select(write_table(tmp_path, 1), review=write_review(tmp_path, "c00,drop,noise only"))
