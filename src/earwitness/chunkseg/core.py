"""Chunks of time as 0/1 sequences, as in chunkseg.core."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.float32]


def boundary_chunks(
    duration: float, boundaries: Iterable[float], chunk_size_sec: float
) -> tuple[int, set[int]]:
    """Return the number of complete chunks, and the chunks with a boundary.

    >>> boundary_chunks(20.0, [6.5, 7.0, 18.0, 19.0], 6.0)
    (3, {1, 2})
    """
    if duration <= 0:
        return 0, set()
    end = math.floor(duration / chunk_size_sec) * chunk_size_sec
    count = int(end / chunk_size_sec)
    return count, {
        min(int(time / chunk_size_sec), count - 1) for time in boundaries if 0 <= time <= end
    }


def build_target_sequence(
    duration: float, boundaries: Iterable[float], chunk_size_sec: float
) -> Flags:
    """Return one number per complete chunk: 1 with a boundary, else 0.

    Parameters
    ----------
    duration
        Duration in seconds; an incomplete chunk at the end is dropped.
    boundaries
        Boundaries in seconds; those after the last complete chunk are ignored.
    chunk_size_sec
        Length of a chunk in seconds.

    Returns
    -------
    numpy.ndarray
        Zeros and ones (float32).

    Examples
    --------
    >>> build_target_sequence(20.0, [6.5, 18.0], 6.0).tolist()
    [0.0, 1.0, 1.0]
    """
    count, chunks = boundary_chunks(duration, boundaries, chunk_size_sec)
    sequence = np.zeros(count, np.float32)
    if count:
        sequence[list(chunks)] = 1
    return sequence


def flags_array_to_str(x: NDArray[Any]) -> str:
    """Return zeros and ones as text.

    >>> flags_array_to_str(np.array([0.0, 1.0]))
    '01'
    """
    return "".join(str(int(flag)) for flag in x.tolist())


def flags_str_to_array(s: str) -> Flags:
    """Return a text of zeros and ones as numbers.

    >>> flags_str_to_array("01").tolist()
    [0.0, 1.0]
    """
    return np.array([float(flag) for flag in s], np.float32)


def boundary_flags_to_timestamps(
    boundary_flags: str, annotated_sentences: Sequence[Mapping[str, Any]]
) -> list[float]:
    """Return the starts of the sentences that are marked by 1.

    >>> boundary_flags_to_timestamps("01", [{"start": 0}, {"start": 7}])
    [7.0]
    """
    return [
        float(annotated_sentences[place]["start"])
        for place, flag in enumerate(boundary_flags)
        if flag == "1"
    ]
