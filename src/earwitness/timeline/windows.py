"""Pk and WindowDiff from boundary events alone.

A window slides over the chunks. A boundary in chunk p is inside the windows p − w + 1 … p, so it
switches on at one window and off at another; between two switches nothing changes, and whole
stretches of windows are counted at once.

References: Beeferman, Berger and Lafferty (1999), Statistical models for text segmentation;
Pevzner and Hearst (2002), A critique and improvement of an evaluation metric for text segmentation.
"""

from __future__ import annotations

import numpy as np

from earwitness.timeline.grid import Events, Grid
from earwitness.timeline.ragged import Floats, Ints, row_sums


def window_size(grid: Grid, events: Events) -> Ints:
    """Half the mean reference segment, in chunks, rounded half to even, at least 2."""
    segments = events.n_reference + 1
    half = np.rint((grid.chunks + 1) / (2 * segments)).astype(np.int64)
    return np.maximum(half, 2)


def window_errors(grid: Grid, events: Events) -> tuple[Floats, Floats]:
    """Share of windows that Pk and WindowDiff count as wrong, per case.

    A case of a single chunk has no window: Pk is 0, WindowDiff 0 or 1 as the sides agree or not.
    """
    width = window_size(grid, events)
    windows = grid.chunks + 1 - width
    pk_sum, diff_sum = _wrong_windows(grid, events, width, windows)
    count = np.maximum(windows, 1)
    alike = events.both == np.maximum(events.n_output, events.n_reference)
    diff = np.where(windows > 0, diff_sum / count, ~alike)
    return pk_sum / count, diff


def _wrong_windows(grid: Grid, events: Events, width: Ints, windows: Ints) -> tuple[Ints, Ints]:
    sizes, kind = np.diff(events.offsets), grid.start.dtype
    low = np.repeat(grid.start, sizes)
    high = np.repeat((grid.start + windows).astype(kind), sizes)
    on = np.maximum(events.position - np.repeat((width - 1).astype(kind), sizes), low)
    off = np.minimum(events.position + 1, high)
    sides = events.in_output + 2 * events.in_reference.view(np.int8)
    switch = np.concatenate([on * 8 + sides, off * 8 + 4 + sides])
    switch.sort(kind="stable")
    step = 1 - ((switch >> 1) & 2)
    n_output = np.cumsum(np.where(switch & 1, step, 0), dtype=kind)
    n_reference = np.cumsum(np.where(switch & 2, step, 0), dtype=kind)
    place = switch >> 3
    stretch = np.zeros_like(place)
    np.subtract(place[1:], place[:-1], out=stretch[:-1])
    pk = np.where((n_output > 0) != (n_reference > 0), stretch, 0)
    diff = np.where(n_output != n_reference, stretch, 0)
    return row_sums(pk, 2 * events.offsets), row_sums(diff, 2 * events.offsets)
