"""Krippendorff's alpha: published values, the peer, a plain twin, and what is undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest

from earwitness.stats import bootstrap
from earwitness.stats.agreement import MEASURES, Level, krippendorff_alpha, pairable_units
from earwitness.stats.arrays import Floats
from helpers.literature_tables import KRIPPENDORFF
from helpers.samples import many

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")


@pytest.mark.parametrize(
    ("measured", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_krippendorffs_example_has_its_published_values(measured: Level, value: float) -> None:
    found = krippendorff_alpha(KRIPPENDORFF, measured)
    assert round(found.value, 3) == value
    assert (found.n, found.undefined) == (11, 1)  # unit 12 has one vote
    assert found.low < found.value < found.high


def random_table(rng: np.random.Generator) -> Floats:
    """Some gaps; whole votes, or votes that hardly ever repeat."""
    shape = int(rng.integers(2, 15)), int(rng.integers(2, 8))
    quality = rng.normal(size=(shape[0], 1))
    table = 3 + quality + rng.normal(size=shape)
    if rng.random() < 0.7:
        table = np.rint(table)
    table[rng.random(shape) < rng.choice([0, 0.3])] = np.nan
    return table


def plain(table: Floats, measured: Level) -> float:
    """Over pairs of votes, as the definition has it."""
    units = [row[~np.isnan(row)].tolist() for row in table]
    units = [unit for unit in units if len(unit) > 1]
    votes = [vote for unit in units for vote in unit]

    def apart(a: float, b: float) -> float:
        low, high = sorted((a, b))
        if measured == "nominal":
            return float(a != b)
        if measured == "interval":
            return float((a - b) ** 2)
        between = sum(low <= vote <= high for vote in votes)
        return float((between - (votes.count(a) + votes.count(b)) / 2) ** 2)

    expected = sum(apart(a, b) for a in votes for b in votes)
    if not expected:
        return math.nan
    observed = sum(apart(a, b) / (len(unit) - 1) for unit in units for a in unit for b in unit)
    return 1 - observed / (expected / (len(votes) - 1))


@pytest.mark.parametrize("table", [0, 1_000_000])
@pytest.mark.parametrize("measured", LEVELS)
def test_values_are_those_of_the_plain_version(
    measured: Level, table: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("earwitness.stats.agreement.COUNTS_IN_MEMORY", table)
    rng = np.random.default_rng(2)
    for _ in range(many(30, 300)):
        votes = random_table(rng)
        found = krippendorff_alpha(votes, measured, draws=0).value
        assert found == pytest.approx(plain(votes, measured), abs=1e-10, nan_ok=True)


@pytest.mark.peer
@pytest.mark.parametrize("measured", LEVELS)
def test_values_are_those_of_the_krippendorff_package(measured: Level) -> None:
    import krippendorff

    rng, compared = np.random.default_rng(3), 0
    for _ in range(many(60, 2000)):
        table = random_table(rng)
        found = krippendorff_alpha(table, measured, draws=0).value
        if not math.isnan(found):
            peer = krippendorff.alpha(table.T, level_of_measurement=measured)
            assert found == pytest.approx(peer, abs=1e-10)
            compared += 1
    assert compared > many(50, 1700)


@pytest.mark.parametrize("table", [0, 1_000_000])
@pytest.mark.parametrize("measured", LEVELS)
def test_every_draw_is_the_alpha_of_the_drawn_table(
    measured: Level, table: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "earwitness.stats.agreement.COUNTS_IN_MEMORY", table
    )  # 0: as if values were too many
    (drawn,) = bootstrap.multinomial_weights(11, 40, 5)
    units = pairable_units(KRIPPENDORFF)
    own = KRIPPENDORFF[(~np.isnan(KRIPPENDORFF)).sum(axis=1) > 1]
    for row, found in zip(drawn, MEASURES[measured](units, drawn), strict=True):
        repeated = np.repeat(own, row.astype(int), axis=0)
        assert found == pytest.approx(plain(repeated, measured), abs=1e-10)


@pytest.mark.parametrize("measured", LEVELS)
@pytest.mark.parametrize(
    "table",
    [
        np.zeros((0, 0)),
        np.zeros((3, 1)),
        np.full((8, 4), 3.0),
        np.full((8, 4), 0.1),
        np.full((8, 4), np.nan),
    ],
)
def test_what_cannot_be_said_is_undefined(table: Floats, measured: Level) -> None:
    found = krippendorff_alpha(table, measured)
    assert math.isnan(found.value)
    assert math.isnan(found.low)


def test_few_units_have_no_interval() -> None:
    found = krippendorff_alpha(KRIPPENDORFF[:4], "interval")
    assert found.value == pytest.approx(plain(KRIPPENDORFF[:4], "interval"))
    assert math.isnan(found.low)


def test_a_large_number_added_changes_nothing() -> None:
    found = krippendorff_alpha(KRIPPENDORFF + 1e6, "interval")
    assert found.value == pytest.approx(
        krippendorff_alpha(KRIPPENDORFF, "interval").value, abs=1e-9
    )


def test_the_seed_decides_the_interval() -> None:
    first, again, other = (krippendorff_alpha(KRIPPENDORFF, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert (first.low, first.high) != (other.low, other.high)
