"""Conversion of sample rates, piece by piece."""

from __future__ import annotations

import numpy as np
import pytest

from earwitness.audio.signal import resample, resample_pieces


@pytest.mark.parametrize(("rate", "wanted"), [(44_100, 16_000), (8_000, 16_000), (11_025, 8_000)])
def test_pieces_of_any_size_are_resampled_as_one(rate: int, wanted: int) -> None:
    rng = np.random.default_rng(rate)
    samples = rng.normal(size=30_001).astype(np.float32)
    edges = np.sort(rng.integers(0, len(samples), 40))
    pieces = resample_pieces(np.split(samples, edges), rate, wanted)
    np.testing.assert_array_equal(np.concatenate(list(pieces)), resample(samples, rate, wanted))


def test_no_pieces_give_no_samples() -> None:
    assert list(resample_pieces([], 44_100, 16_000)) == []
