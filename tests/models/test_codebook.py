"""The codebook beside a plain one that takes every patch on its own."""

from __future__ import annotations

import re

import numpy as np
import pytest

from earwitness.audio.logmel import ABSENT_BYTE, MEL_BANDS, Bytes, log_mel
from earwitness.models import codebook
from earwitness.models.base import BlockPlace, FrameBlocks, standardise
from earwitness.models.codebook import (
    Codebook,
    assign_nearest,
    draw_patches,
    fit_spherical_kmeans,
    learn_codes,
    unit_vectors,
)
from earwitness.models.embedders import LogMel
from earwitness.models.frames import FrameFile
from helpers.samples import many
from helpers.tones import RATE, sound

ROWS = 100  # of a block: 2 s


def day_of(frames: Bytes, rows: int = ROWS) -> FrameBlocks:
    """Blocks of frames in memory."""
    places = tuple(
        BlockPlace(i * rows / 50, "x", i * rows / 50) for i in range(len(frames) // rows)
    )
    return FrameBlocks(places, rows, {"x": FrameFile((frames,))})


@pytest.fixture(scope="module")
def frames() -> Bytes:
    """Two minutes and a half: more blocks than one portion has."""
    return log_mel(sound(150), RATE)


def plain_codes(block: Bytes, day: FrameBlocks, codebook: Codebook) -> tuple[np.ndarray, ...]:
    """Mean and most of every code over the patches of a block, in double precision."""
    rng = np.random.default_rng(codebook.seed)
    patches = draw_patches(day, rng).astype(np.float64)
    patches = patches - patches.mean(axis=1)[:, None]
    middle = patches.mean(axis=0)
    learnt = learn_codes(day, codebook.codes, np.random.default_rng(codebook.seed))
    half = len(learnt.projected_mean)
    way = np.concatenate(
        [learnt.half_projections[:, :half], learnt.half_projections[:, half:]]
    ).astype(np.float64)
    codes = []
    for first in range(0, len(block) - 15, 8):
        patch = block[first : first + 16].astype(np.float64)
        if (patch == ABSENT_BYTE).any():
            continue
        own = (patch - patch.mean()).ravel() - middle
        own = own @ way
        own = own / np.linalg.norm(own)
        codes.append([max(0.0, own @ one - 0.1) for one in learnt.directions.astype(np.float64)])
    return np.mean(codes, axis=0), np.max(codes, axis=0)


def test_codes_are_those_of_a_plain_loop(frames: Bytes) -> None:
    day, embedder = day_of(frames), Codebook(seed=3, codes=30)
    means, most = np.split(embedder.encode(day), 2, axis=1)
    for number in range(0, len(day), many(25, 1)):
        mean, top = plain_codes(frames[number * ROWS :][:ROWS], day, embedder)
        assert means[number] == pytest.approx(mean, abs=2e-4)
        assert most[number] == pytest.approx(top, abs=2e-4)


def test_dimensions_are_white(frames: Bytes) -> None:
    day = day_of(frames)
    learnt = learn_codes(day, 30, np.random.default_rng(0))
    white = np.concatenate([learnt.whiten(part) for part in day.portions()])
    white = white.reshape(-1, white.shape[2])
    # fewer patches than may be learnt from: it learnt from all of them
    assert white.mean(axis=0) == pytest.approx(0, abs=5e-3)
    assert np.cov(white.T) == pytest.approx(np.eye(white.shape[1]), abs=0.02)


def test_patches_are_drawn_without_repeats_from_all_over(
    frames: Bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = day_of(frames)
    everything = {one.tobytes() for one in draw_patches(day, np.random.default_rng(0))}
    monkeypatch.setattr(codebook, "TRAINING_PATCHES", 200)
    found = [one.tobytes() for one in draw_patches(day, np.random.default_rng(0))]
    assert len(found) == len(set(found)) == 200
    assert set(found) <= everything
    again = [one.tobytes() for one in draw_patches(day, np.random.default_rng(0))]
    other = [one.tobytes() for one in draw_patches(day, np.random.default_rng(1))]
    assert found == again
    assert found != other


def test_the_first_patch_that_is_drawn_is_the_first_of_the_day(frames: Bytes) -> None:
    patches = draw_patches(day_of(frames), np.random.default_rng(0))
    assert np.array_equal(patches[0].reshape(16, MEL_BANDS), frames[:16])
    assert np.array_equal(patches[1].reshape(16, MEL_BANDS), frames[8:24])
    assert np.array_equal(patches[11].reshape(16, MEL_BANDS), frames[100:116])


def test_absent_frames_do_not_count(frames: Bytes) -> None:
    holed = frames.copy()
    holed[40:60] = ABSENT_BYTE
    day, embedder = day_of(holed), Codebook(codes=30)
    means, most = np.split(embedder.encode(day), 2, axis=1)
    mean, top = plain_codes(holed[:ROWS], day, embedder)
    assert means[0] == pytest.approx(mean, abs=2e-4)
    assert most[0] == pytest.approx(top, abs=2e-4)


def test_vectors_are_standardised_and_classes_lie_between_0_and_1(frames: Bytes) -> None:
    found = Codebook(codes=30).embed(day_of(frames))
    assert found.vectors.shape == (75, 60)
    assert found.vectors.mean(axis=0) == pytest.approx(0, abs=1e-4)
    assert found.vectors[:, :30].std(axis=0) == pytest.approx(1, abs=1e-3)
    assert found.vectors[:, 30:].std(axis=0) == pytest.approx(0.5, abs=1e-3)
    assert found.classes is not None
    assert found.classes.min() >= 0
    assert found.classes.max() <= 1
    assert found.classes.shape == (75, len(found.class_names))
    assert re.fullmatch(r"like \d+ s", found.class_names[0])


def test_vectors_and_classes_do_not_depend_on_the_order_of_sums(frames: Bytes) -> None:
    # the order of bands changes neither distances nor angles, only rounding errors; processors
    # differ in these, too
    one, other = (Codebook().embed(day_of(own)) for own in (frames, frames[:, ::-1]))
    assert one.class_names == other.class_names
    assert one.vectors == pytest.approx(other.vectors, abs=1e-6)
    assert one.classes == pytest.approx(other.classes, abs=1e-7)


def test_scalar_products_and_sums_of_unit_vectors_are_exact() -> None:
    vectors = unit_vectors(np.random.default_rng(0).normal(size=(300, 60)))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)
    backwards = vectors[:, ::-1]
    assert np.array_equal(vectors @ vectors.T, backwards @ backwards.T)
    assert np.array_equal(vectors.sum(axis=0), vectors[::-1].sum(axis=0))


def test_blocks_that_sound_alike_are_near(frames: Bytes) -> None:
    # tones come back every 80 s: 0 to 8 s are as 80 to 88 s, and 16 to 24 s are another tone
    vectors = Codebook().embed(day_of(frames)).vectors
    same = np.linalg.norm(vectors[1] - vectors[41])
    other = np.linalg.norm(vectors[1] - vectors[9])
    assert same < 0.9 * other


def test_loudness_does_not_count(frames: Bytes) -> None:
    louder = np.where(frames > 0, frames + 12, 0).astype(np.uint8)
    assert (frames > 0).all()
    one, other = (Codebook(codes=30).embed(day_of(own)) for own in (frames, louder))
    assert one.vectors == pytest.approx(other.vectors, abs=0.02)


def test_short_recordings_have_fewer_codes(frames: Bytes) -> None:
    # 5 blocks of 11 patches: 55, of which each code should have 10
    assert Codebook().embed(day_of(frames[: 5 * ROWS])).vectors.shape == (5, 12)
    nothing = Codebook().embed(day_of(frames[:0]))
    assert nothing.vectors.shape == (0, 0)


def test_silence_has_finite_vectors() -> None:
    found = Codebook().embed(day_of(np.zeros((10 * ROWS, MEL_BANDS), np.uint8)))
    assert not found.vectors.any()
    assert len(found.vectors) == 10


def test_another_seed_has_another_signature() -> None:
    assert Codebook(seed=1).signature != Codebook(seed=2).signature
    assert Codebook(codes=100).signature != Codebook().signature


def test_centres_are_those_of_plain_k_means() -> None:
    rng = np.random.default_rng(0)
    places = unit_vectors(rng.normal(size=(8, 5)))
    spread = 0.05 * rng.normal(size=(500, 5))
    vectors = unit_vectors(places[rng.integers(0, 8, 500)] + spread)
    found = fit_spherical_kmeans(vectors, 8, np.random.default_rng(1))
    own, near = assign_nearest(vectors, found)
    for number, one in enumerate(found):
        mean = vectors[own == number].sum(axis=0)
        assert one == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)
    plain = (vectors @ found.T).max(axis=1)
    assert near == pytest.approx(plain, abs=1e-6)


def test_a_centre_that_nobody_is_near_to_moves_to_the_farthest_vector() -> None:
    vectors = np.array([[1.0, 0]] * 50 + [[0, 1]])
    for seed in range(5):
        found = fit_spherical_kmeans(vectors, 2, np.random.default_rng(seed))
        assert sorted(map(tuple, found.tolist())) == [(0, 1), (1, 0)]


def test_a_column_that_never_changes_is_0() -> None:
    found = np.array([[1, 2.5], [3, 2.5]], np.float32)
    standardise(found)
    assert found.tolist() == [[-1, 0], [1, 0]]


def test_log_mel_is_mean_and_spread_of_every_band_standardised(frames: Bytes) -> None:
    holed = frames.copy()
    holed[:30] = ABSENT_BYTE
    found = LogMel().embed(day_of(holed))
    decibels = holed.astype(np.float64) / 2 - 110
    blocks = [decibels[30:100], *(decibels[at : at + 100] for at in range(100, 7500, 100))]
    plain = np.array([[*block.mean(axis=0), *block.std(axis=0)] for block in blocks])
    plain = (plain - plain.mean(axis=0)) / plain.std(axis=0)
    assert found.vectors == pytest.approx(plain, abs=2e-3)
    assert found.classes is None
