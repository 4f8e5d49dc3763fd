"""Letter probabilities as a CTC model would return them for letters at known frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LABELS = 28


def emit(
    tokens: Sequence[int],
    frames: Sequence[int],
    count: int,
    rng: np.random.Generator,
    error_rate: float = 0.0,
) -> NDArray[np.float32]:
    """Log-probabilities with a peak per letter and blanks between; some peaks are other letters."""
    logits = rng.normal(0, 1, (count, LABELS))
    logits[:, 0] += 8
    for token, frame in zip(tokens, frames, strict=True):
        wrong = rng.random() < error_rate
        peak = int(rng.integers(1, LABELS)) if wrong else token
        logits[frame, 0] -= 8
        logits[frame, peak] += 7
        logits[frame, token] += 3 * wrong  # a confused letter is still likely
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return logits.astype(np.float32)


def say(
    words: Sequence[Sequence[int]], rng: np.random.Generator, letter: int = 4, pause: int = 6
) -> tuple[list[int], list[int], list[int]]:
    """Letters in a row, their frames, and the first frame of each word."""
    tokens, frames, starts, frame = [], [], [], pause
    for word in words:
        starts.append(frame)
        for token in word:
            tokens.append(token)
            frames.append(frame)
            frame += int(rng.integers(2, letter + 1))
        frame += int(rng.integers(1, pause))
    return tokens, frames, starts
