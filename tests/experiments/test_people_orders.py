"""Orders of people and their subsets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from earwitness.errors import UsageError
from earwitness.experiments.people_orders import (
    SavedBlocks,
    draw_orders,
    first_people,
    merge_subsets,
)


def test_random_orders_are_seeded_and_have_everybody_once() -> None:
    orders = draw_orders(7, 200, 3, exact=False)
    assert np.array_equal(np.sort(orders, axis=1), np.tile(np.arange(7), (200, 1)))
    assert np.array_equal(orders, draw_orders(7, 200, 3, exact=False))
    assert not np.array_equal(orders, draw_orders(7, 200, 4, exact=False))
    first = np.bincount(orders[:, 0], minlength=7)
    assert first.min() > 10  # 29 expected, with a standard deviation of 5


def test_subsets_are_the_first_people_of_every_order() -> None:
    orders = np.array([[2, 0, 1], [1, 2, 0]])
    found = first_people(orders, [], [1, 2, 3])
    chosen = [[np.flatnonzero(found.subsets[row]).tolist() for row in rows] for rows in found.rows]
    assert chosen == [[[2], [0, 2], [0, 1, 2]], [[1], [1, 2], [0, 1, 2]]]
    assert len(found.subsets) == 5  # that of all people is shared


def test_people_who_are_left_out_move_the_others_up() -> None:
    orders = np.array([[2, 0, 1], [1, 2, 0]])
    found = first_people(orders, [2], [1, 2, 3])
    chosen = [[np.flatnonzero(found.subsets[row]).tolist() for row in rows] for rows in found.rows]
    assert chosen == [[[0], [0, 1], [0, 1]], [[1], [0, 1], [0, 1]]]


def test_merged_subsets_are_the_same_as_before() -> None:
    orders = draw_orders(5, 6, 0, exact=False)
    parts = [first_people(orders, [], [1, 3, 5]), first_people(orders, [4], [1, 2, 4])]
    merged = merge_subsets(parts)
    assert merged[0].subsets is merged[1].subsets
    assert len(np.unique(merged[0].subsets, axis=0)) == len(merged[0].subsets)
    for before, after in zip(parts, merged, strict=True):
        assert np.array_equal(before.subsets[before.rows], after.subsets[after.rows])


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        SavedBlocks(file, "signature")
