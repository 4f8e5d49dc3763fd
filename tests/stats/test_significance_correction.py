"""Corrections for several tests are those of the plain version and of statsmodels."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import paired as slow
from earwitness.analysis import plan
from earwitness.stats.significance import CORRECTIONS, bh, holm
from helpers.samples import many

CHANCES = st.lists(st.floats(0, 1), min_size=1, max_size=8)
WITH_GAPS = st.lists(st.one_of(st.floats(0, 1), st.just(math.nan)), max_size=8)


@given(CHANCES)
def test_holm_is_that_of_the_plain_version(p: list[float]) -> None:
    assert holm(p) == pytest.approx(slow.holm(p))


@pytest.fixture(scope="module")
def few_objects() -> Iterator[None]:
    """Quick collections of garbage, for what collects it on every call."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.peer
@pytest.mark.usefixtures("few_objects")
@pytest.mark.parametrize(("name", "theirs"), [("holm", "holm"), ("bh", "fdr_bh")])
@given(p=CHANCES)
@settings(max_examples=many(15, 200))
def test_corrections_are_those_of_statsmodels(name: str, theirs: str, p: list[float]) -> None:
    from statsmodels.stats.multitest import multipletests

    assert CORRECTIONS[name](p) == pytest.approx(multipletests(p, method=theirs)[1], abs=1e-12)


@pytest.mark.parametrize("name", CORRECTIONS)
@given(p=WITH_GAPS)
def test_what_is_undefined_stays_so_and_does_not_count(name: str, p: list[float]) -> None:
    correction = CORRECTIONS[name]
    found = correction(p)
    assert [math.isnan(one) for one in found] == [math.isnan(one) for one in p]
    defined = [one for one in p if not math.isnan(one)]
    assert [one for one in found if not math.isnan(one)] == correction(defined)


@given(CHANCES)
def test_corrections_keep_the_order_and_bh_is_never_stricter_than_holm(p: list[float]) -> None:
    for mine, loose, strict in zip(p, bh(p), holm(p), strict=True):
        assert mine <= loose * (1 + 1e-12)
        assert loose <= strict * (1 + 1e-12)
    for correction in CORRECTIONS.values():
        found = correction(p)
        assert [x for _, x in sorted(zip(p, found, strict=True))] == sorted(found)


def test_no_correction_leaves_all_as_it_is() -> None:
    assert CORRECTIONS["none"]([0.5, 0.01]) == [0.5, 0.01]


def test_a_plan_may_name_all_corrections_and_no_others() -> None:
    assert set(plan.ANALYSIS_CORRECTIONS) == set(CORRECTIONS)
