"""Ellipses of mean positions, and correlations within listeners, cover the truth: by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.ellipses import (
    Positions,
    correlate_within,
    listener_ellipses,
    two_way_ellipses,
)
from helpers.samples import many

RUNS = many(400, 4000)
MEANS = np.array([[0.3, 0.7], [0.6, 0.4]])
SPREADS = {"listener": 0.08, "item": 0.06, "vote": 0.1}
CORRELATION = -0.5  # of TC and SD, in all effects


def rated(design: str, listeners: int, items: int, rng: np.random.Generator) -> Bools:
    """Return which listener rated which item."""
    if design == "balanced":
        return np.ones((listeners, items), bool)
    if design == "disjoint":
        return np.equal(np.arange(listeners)[:, None] % 2, np.arange(items) % 2)
    shares = rng.random((listeners, items)) < 0.6
    shares[np.arange(listeners), rng.integers(0, items, listeners)] = True
    return shares


def draw_effects(name: str, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    root = np.linalg.cholesky([[1, CORRELATION], [CORRELATION, 1]])
    return np.asarray(SPREADS[name] * rng.normal(size=(*shape, 2)) @ root.T)


def draw_positions(
    design: str, listeners: int, items: int, rng: np.random.Generator
) -> tuple[Positions, Floats]:
    """Return positions of two systems, and their true means on these items."""
    which = rated(design, listeners, items, rng)
    people, places = np.nonzero(which)
    by_listener = draw_effects("listener", (listeners,), rng)
    by_item = draw_effects("item", (items, len(MEANS)), rng)
    rows = []
    for system, mean in enumerate(MEANS):
        noise = draw_effects("vote", (len(people),), rng)
        rows.append(mean + by_listener[people] + by_item[places, system] + noise)
    codes = (np.tile(codes, len(MEANS)) for codes in (places, people))
    systems = np.repeat(np.arange(len(MEANS)), len(people))
    truth = MEANS + by_item.mean(axis=0)
    return Positions(np.concatenate(rows), systems, *codes), truth


def covered(design: str, listeners: int, items: int) -> tuple[float, float]:
    """Return coverage on these items by listeners, and on all items by listeners and items."""
    rng = np.random.Generator(np.random.PCG64(listeners * items + len(design)))
    hits = []
    for _ in range(RUNS):
        positions, truth = draw_positions(design, listeners, items, rng)
        narrow = listener_ellipses(positions, 2)[0].contains(*truth[0])
        wide = two_way_ellipses(positions, 2)[0].contains(*MEANS[0])
        hits.append((narrow, wide))
    shares = np.mean(hits, axis=0)
    print(f"{design}, {listeners} × {items}: {shares[0]:.3f}, {shares[1]:.3f}")
    return float(shares[0]), float(shares[1])


SLACK = 3 * math.sqrt(0.05 * 0.95 / RUNS)


@pytest.mark.parametrize("listeners", [6, 12])
def test_ellipses_of_complete_designs_cover_95_percent(listeners: int) -> None:
    narrow, wide = covered("balanced", listeners, 4)
    assert narrow == pytest.approx(0.95, abs=SLACK)
    assert wide >= 0.95 - SLACK


@pytest.mark.parametrize("design", ["unbalanced", "disjoint"])
def test_ellipses_of_incomplete_designs_cover_at_least_95_percent(design: str) -> None:
    narrow, wide = covered(design, 12, 6)
    assert narrow >= 0.95 - SLACK
    assert wide >= 0.95 - SLACK


@pytest.mark.parametrize("design", ["balanced", "unbalanced", "disjoint"])
def test_correlations_within_listeners_cover_95_percent(design: str) -> None:
    """With two systems per page, item and system effects remain; so there are none here."""
    rng = np.random.Generator(np.random.PCG64(len(design)))
    hits = []
    for _ in range(RUNS):
        people, items = np.nonzero(rated(design, 10, 4, rng))
        people, items = np.repeat(people, 8), np.repeat(items, 8)
        severity = draw_effects("listener", (10,), rng)
        values = severity[people] + draw_effects("vote", (len(people),), rng)
        positions = Positions(values, np.zeros_like(people), items, people)
        found, _ = correlate_within(positions)
        hits.append(found.low <= CORRELATION <= found.high)
    print(f"{design}: {np.mean(hits):.3f}")
    assert np.mean(hits) == pytest.approx(0.95, abs=SLACK + 0.01)
