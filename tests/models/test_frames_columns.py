"""Spectrograms of whole recordings beside a plain loop."""

from __future__ import annotations

import numpy as np
import pytest

from earwitness.audio.logmel import ABSENT_BYTE, MEL_BANDS
from earwitness.models import frames as frames_module
from earwitness.models.frames import FrameFile, make_spectrogram_columns
from earwitness.recordings.types import Recording, Stretch


@pytest.mark.parametrize("count", [1, 7, 50, 400])
def test_columns_are_the_loudest_and_the_mean_of_their_frames(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames_module, "PORTION_FRAMES", 64)
    rng = np.random.default_rng(0)
    frames = rng.integers(0, 254, (500, MEL_BANDS), np.uint8)
    frames[100:150] = ABSENT_BYTE
    stretches = (Stretch("x", 0.0, 0.0, 4.0), Stretch("x", 4.0, 6.0, 6.0))
    day = Recording("day", stretches, 12.0, 8000, 1)
    found = make_spectrogram_columns(day, {"x": FrameFile((frames,))}, count)
    own: list[list[np.ndarray]] = [[] for _ in range(count)]
    for number, frame in enumerate(frames):
        time = number / 50 if number < 200 else 6 + (number - 200) / 50
        if frame[0] != ABSENT_BYTE:
            own[int(time * count / 12)].append(frame)
    for column, held in enumerate(own):
        if held:
            assert np.array_equal(found.loudest[:, column], np.max(held, axis=0))
            assert found.mean[:, column] == pytest.approx(np.mean(held, axis=0), abs=0.51)
        else:
            assert (found.loudest[:, column] == ABSENT_BYTE).all()
            assert (found.mean[:, column] == ABSENT_BYTE).all()
